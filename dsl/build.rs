//! Writes the table of the functions that the library's files define. To read it from their texts would take every run of a program a fifth of
//! its start.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it reads the library's files"
)]

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

#[path = "src/library/defined.rs"]
mod defined;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=library");
    println!("cargo:rerun-if-changed=src/library/defined.rs");
    let mut functions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let entries = fs::read_dir("library")?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let file = path.file_stem().unwrap_or_default().to_string_lossy();
        if file == "prelude" {
            continue;
        }
        for name in defined::defined(&fs::read_to_string(&path)?) {
            let files = functions.entry(name.to_owned()).or_default();
            if files.last().is_none_or(|last| *last != file) {
                files.push(file.clone().into_owned());
            }
        }
    }
    // Sorted as `str`s are compared.
    let table = functions
        .iter()
        .map(|(name, files)| format!("({name:?}, &{files:?}),\n"))
        .collect::<String>();
    let out = env::var("OUT_DIR")?;
    fs::write(
        Path::new(&out).join("functions.rs"),
        format!("&[\n{table}]\n"),
    )?;
    Ok(())
}
