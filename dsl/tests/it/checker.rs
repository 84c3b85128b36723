//! Enforces that the check's rules are functions that take what they need, and not methods of one struct that has everything.

use std::{fs, path::Path};

/// How many files may have an `impl Checker`: those that keep its state. See the head of `sema/check.rs`.
const MAX_DEPTH: usize = 6;

fn files_with_methods(folder: &Path, out: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_with_methods(&path, out);
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file");
        let has_methods = |line: &str| line.starts_with("impl") && line.contains(" Checker<");
        if text.lines().any(has_methods) {
            out.push(path.display().to_string());
        }
    }
}

#[test]
fn few_files_have_methods_of_the_checker() {
    let sema = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sema");
    let mut files = Vec::new();
    files_with_methods(&sema, &mut files);
    assert!(!files.is_empty(), "the check moved: say here where it is");
    assert!(
        files.len() <= MAX_DEPTH,
        "methods of `Checker` in {} files; make those that need less functions: {files:#?}",
        files.len()
    );
}
