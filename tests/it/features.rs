//! One small program a feature of the language, `tests/features/*.k`. Its first line says the level and the feature; it checks itself
//! against its own host code and is right if it ends with 0. Each is valid CUDA (nvcc compiles them all, `host_utility.k` with
//! `--expt-relaxed-constexpr`, and on an H200 they end with 0, too: `bench/gpu/nvcc.sh`). They run in the simulator
//! and are compiled to PTX, which `ptxas` assembles where it is installed. `tests/features/README.md` is written from their first
//! lines: a feature is in the table only if its test passes.

use std::{collections::BTreeMap, env, fmt::Write, fs, path::PathBuf};

use crate::support::{dslc, relative, root, text};

/// A feature program: its path, its level and what it shows.
struct Feature {
    path: PathBuf,
    level: String,
    what: String,
}

fn features() -> Vec<Feature> {
    let entries = fs::read_dir(root().join("tests/features")).expect("the folder");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "k"))
        .collect();
    paths.sort();
    let feature = |path: PathBuf| {
        let source = fs::read_to_string(&path).expect("the program");
        let first = source.lines().next().unwrap_or_default();
        let (level, what) = first
            .strip_prefix("// ")
            .and_then(|line| line.split_once(": "))
            .unwrap_or_else(|| {
                panic!("{}: the first line is not `// LEVEL: WHAT`", path.display())
            });
        Feature {
            level: level.to_string(),
            what: what.to_string(),
            path,
        }
    };
    paths.into_iter().map(feature).collect()
}

/// Runs `check` on every feature, and fails with all that is wrong at once.
fn each(check: impl Fn(&str) -> Result<(), String>) {
    let features = features();
    assert!(features.len() >= 40, "only {} features", features.len());
    let failures: Vec<String> = features
        .iter()
        .filter_map(|feature| {
            let file = relative(&feature.path);
            check(&file).err().map(|why| format!("{file}: {why}"))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} failed\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

#[test]
fn every_feature_runs_and_finds_itself_right() {
    each(|file| {
        let output = dslc(&["run", "--quiet", file]);
        match output.status.code() {
            Some(0) => Ok(()),
            code => Err(format!(
                "ended with {code:?}\n{}{}",
                text(&output.stdout),
                text(&output.stderr)
            )),
        }
    });
}

#[cfg(feature = "ptx")]
#[test]
fn every_feature_becomes_ptx() {
    each(|file| {
        let output = dslc(&["ptx", "--arch", "sm_90", file]);
        let ptx = text(&output.stdout);
        if output.status.success() && ptx.contains(".visible .entry") {
            Ok(())
        } else {
            Err(format!(
                "ended with {:?}\n{}",
                output.status.code(),
                text(&output.stderr)
            ))
        }
    });
}

/// `level 3` before `level 10`, what has no number last.
fn order(level: &str) -> (u32, &str) {
    let number = level.strip_prefix("level ").and_then(|n| n.parse().ok());
    (number.unwrap_or(u32::MAX), level)
}

#[test]
fn the_table_of_features_is_what_the_tests_say() {
    let mut levels: BTreeMap<(u32, String), Vec<(String, String)>> = BTreeMap::new();
    for feature in features() {
        let (number, level) = order(&feature.level);
        let name = feature
            .path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        levels
            .entry((number, level.to_string()))
            .or_default()
            .push((feature.what, name));
    }
    let mut table = String::from(
        "# What works\n\nMade from the programs in this folder by their test: each runs in the simulator and becomes PTX.\n\n| level | feature | program |\n|---|---|---|\n",
    );
    for ((_, level), features) in &levels {
        for (what, name) in features {
            writeln!(table, "| {level} | {what} | [{name}]({name}) |").expect("a string takes all");
        }
    }
    let path = root().join("tests/features/README.md");
    if env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        fs::write(&path, &table).expect("the table is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == table,
        "tests/features/README.md is not what the programs say: run the tests with INSTA_UPDATE=always"
    );
}
