//! One small program for each feature of the language, `tests/features/*.k`. Its first line gives the level and the feature. The program
//! checks itself against its own host code, and ends with 0 if it is right. Each is valid CUDA: nvcc compiles them all (`host_utility.k`
//! with `--expt-relaxed-constexpr`), and on an H200 they end with 0, too (`bench/gpu/nvcc.sh`). They run in the simulator and are compiled
//! to PTX, which `ptxas` assembles if it is installed. `tests/features/README.md` is generated from their first lines: a feature is in the
//! table only if its test passes.

use std::{collections::BTreeMap, env, fmt::Write, fs, path::PathBuf};

use libtest_mimic::Trial;

use crate::{
    each, one,
    support::{dslc, programs_in, root},
};

/// A feature program: its path, its level and its feature.
struct Feature {
    path: PathBuf,
    level: String,
    what: String,
}

fn features() -> Vec<Feature> {
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
    programs_in("tests/features")
        .into_iter()
        .map(feature)
        .collect()
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each(
        "features",
        "tests/features",
        40,
        runs_and_finds_itself_right,
    );
    if cfg!(feature = "ptx") {
        all.extend(each("features::ptx", "tests/features", 40, becomes_ptx));
    }
    all.push(one("features::table", the_table_is_what_the_programs_say));
    all
}

fn runs_and_finds_itself_right(file: &str, _: &str) -> Result<(), String> {
    let output = dslc(&["run", "--quiet", file]);
    match output.code {
        Some(0) => Ok(()),
        code => Err(format!(
            "ended with {code:?}\n{}{}",
            output.stdout, output.stderr
        )),
    }
}

/// A program whose first line ends in `; no PTX: WHY` is refused, and the message gives the reason.
fn becomes_ptx(file: &str, source: &str) -> Result<(), String> {
    let output = dslc(&["ptx", "--arch", "sm_90", file]);
    let first = source.lines().next().unwrap_or_default();
    if let Some((_, why)) = first.split_once("; no PTX: ") {
        return match output.code != Some(0) && output.stderr.contains(why) {
            true => Ok(()),
            false => Err(format!("not refused with `{why}`\n{}", output.stderr)),
        };
    }
    if output.code == Some(0) && output.stdout.contains(".visible .entry") {
        return Ok(());
    }
    let code = output.code;
    Err(format!("ended with {code:?}\n{}", output.stderr))
}

/// `level 3` before `level 10`; a level without a number comes last.
fn order(level: &str) -> (u32, &str) {
    let number = level.strip_prefix("level ").and_then(|n| n.parse().ok());
    (number.unwrap_or(u32::MAX), level)
}

fn the_table_is_what_the_programs_say() -> Result<(), String> {
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
    match written == table {
        true => Ok(()),
        false => {
            Err("tests/features/README.md differs: run the tests with INSTA_UPDATE=always".into())
        }
    }
}
