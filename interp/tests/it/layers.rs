//! Tests the crate's layers: which folder may use which. Readers and authors of code can rely on this table.

use std::{fs, path::Path};

/// A folder (or file) of `src`, and what it may use: only rows above its own. `coded`, `config`, `patience`, `printf`
/// and `progress` are plain data that all may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("fault", &[]),
    ("isa", &["fault"]),
    ("inspect", &["fault", "isa"]),
    ("memory", &["fault"]),
    ("rules", &["isa"]),
    ("count", &["isa", "rules"]),
    ("views", &["isa", "fault"]),
    (
        "observe",
        &["isa", "fault", "memory", "rules", "count", "views"],
    ),
    ("compile", &["isa", "fault", "memory"]),
    (
        "machine",
        &[
            "isa", "fault", "inspect", "memory", "rules", "count", "views", "observe",
        ],
    ),
    ("program", &["isa", "compile", "machine"]),
    ("race", &["isa", "fault", "memory", "observe", "machine"]),
    (
        "check",
        &[
            "isa", "fault", "inspect", "memory", "rules", "count", "observe", "machine", "race",
        ],
    ),
    (
        "launch",
        &[
            "isa", "fault", "memory", "rules", "count", "views", "observe", "machine", "program",
            "check",
        ],
    ),
];

const FOR_ALL: &[&str] = &[
    "coded", "config", "patience", "printf", "progress", "shortcut",
];

/// The code of a file before its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source file");
    let tests = text.find("#[cfg(test)]\nmod tests");
    text[..tests.unwrap_or(text.len())].to_string()
}

fn files(folder: &Path, out: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, out);
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            out.push(code(&path));
        }
    }
}

#[test]
fn folders_use_what_they_may() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (folder, may_use) in LAYERS {
        let mut texts = vec![code(&src.join(folder).with_extension("rs"))];
        files(&src.join(folder), &mut texts);
        for text in texts {
            let lines = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in lines {
                for (at, _) in line.match_indices("crate::") {
                    let name = line[at + 7..].split(|c: char| !c.is_alphanumeric() && c != '_');
                    let name = name.clone().next().unwrap_or_default();
                    let is_layer = LAYERS.iter().any(|(layer, _)| *layer == name);
                    let may = name == *folder || FOR_ALL.contains(&name) || may_use.contains(&name);
                    assert!(
                        !is_layer || may,
                        "`{folder}` uses `{name}`: {}",
                        line.trim()
                    );
                }
            }
        }
    }
}

#[test]
fn rows_use_only_rows_above() {
    for (row, (folder, may_use)) in LAYERS.iter().enumerate() {
        for used in *may_use {
            let is_above = LAYERS[..row].iter().any(|(above, _)| above == used);
            assert!(is_above, "`{folder}` is listed above `{used}`");
        }
    }
}
