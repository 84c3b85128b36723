//! Generates tables of the library: its files with the facts from their first lines, the names of types, and the functions that the files
//! define. Reading all that from the texts would take a quarter of a program's start-up time on every run.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it reads the library's files"
)]

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

use self::{
    file::{File, TypeName},
    head::ORDER,
};

#[path = "../src/library/defined.rs"]
mod defined;
#[path = "../src/library/file.rs"]
mod file;
mod head;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=library");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=src/library/defined.rs");
    println!("cargo:rerun-if-changed=src/library/file.rs");
    let mut files = Vec::new();
    let mut types: Table<TypeName> = Table::new();
    let mut functions: Table<&str> = Table::new();
    for &name in ORDER {
        let text = fs::read_to_string(format!("library/{name}.k"))?.leak();
        let (file, named) = head::read(name, text);
        for (name, why) in named {
            types.entry(name).or_default().push(why);
        }
        for name in defined::defined(text) {
            let files = functions.entry(name).or_default();
            if files.last() != Some(&file.name) {
                files.push(file.name);
            }
        }
        files.push(file);
    }
    let mut names: Table<usize> = Table::new();
    let mut standard: Table<usize> = Table::new();
    for (at, file) in files.iter().enumerate() {
        // If one file extends the namespace of another, only names from its own `names:` line select it, not the namespace.
        let goes_on =
            |other: &File| file.needs.contains(&other.name) && other.namespace == file.namespace;
        let namespace = file.namespace.filter(|_| !files.iter().any(goes_on));
        for name in file.names.iter().chain(&namespace) {
            names.entry(name).or_default().push(at);
        }
        for name in file.std {
            standard.entry(name).or_default().push(at);
        }
    }
    write("files.rs", files.iter().map(written))?;
    write_table("types.rs", &types, |why| format!("TypeName::{why:?}"))?;
    write_table("names.rs", &names, usize::to_string)?;
    write_table("standard_names.rs", &standard, usize::to_string)?;
    write_table("functions.rs", &functions, |name| format!("{name:?}"))?;
    let text = fs::read_to_string("library/headers.txt")?;
    let headers = head::headers(&text);
    write(
        "headers.rs",
        headers.known.iter().map(|name| format!("{name:?},\n")),
    )?;
    write(
        "header_rows.rs",
        headers.rows.iter().map(|row| format!("&{row:?},\n")),
    )?;
    let row_of = |(name, row): &(&str, usize)| format!("({name:?}, {row}),\n");
    write("headers_of.rs", headers.row_of.iter().map(row_of))
}

/// Sorted by name, in the order in which `str`s compare.
type Table<T> = BTreeMap<&'static str, Vec<T>>;

/// A file as a Rust expression.
fn written(file: &File) -> String {
    let File {
        name,
        title,
        text: _,
        needs,
        names,
        keywords,
        classes,
        namespace,
        std,
        of_host,
        by_function,
    } = file;
    format!(
        "File {{ name: {name:?}, title: {title:?}, text: include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/library/{name}.k\")), \
         needs: &{needs:?}, names: &{names:?}, keywords: &{keywords:?}, classes: &{classes:?}, namespace: {namespace:?}, std: &{std:?}, of_host: {of_host}, \
         by_function: {by_function} }},\n"
    )
}

fn write_table<T>(
    name: &str,
    table: &Table<T>,
    written: impl Fn(&T) -> String,
) -> Result<(), Box<dyn Error>> {
    let row = |(name, values): (&&str, &Vec<T>)| {
        let values: Vec<String> = values.iter().map(&written).collect();
        format!("({name:?}, &[{}]),\n", values.join(", "))
    };
    write(name, table.iter().map(row))
}

/// Writes an array of these elements.
fn write(name: &str, elements: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let path = Path::new(&env::var("OUT_DIR")?).join(name);
    let elements: String = elements.collect();
    Ok(fs::write(path, format!("&[\n{elements}]\n"))?)
}
