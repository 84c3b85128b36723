//! Mistakes in kernels and in their use are errors of `rustc` at their place. Each file in `mistakes` is compiled alone, in both editions.
//! A line with `//~ COLUMN TEXT` has an error that begins there and contains the text (several are separated by `;`); there are no others.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use serde_json::Value;

/// An error: line, column, text.
type Place = (u64, u64, String);

/// The library that these tests were linked with: the newest of its name beside them.
fn library() -> (PathBuf, PathBuf) {
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test.parent().expect("it is in a folder").to_path_buf();
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libdslc-") && name.ends_with(".rlib")
    };
    let age = |path: &PathBuf| {
        let changed = fs::metadata(path).and_then(|data| data.modified());
        changed.unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let entries = fs::read_dir(&folder).expect("the folder of the tests");
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let newest = paths.filter(named).max_by_key(age);
    (newest.expect("the library is there"), folder)
}

/// The errors of `rustc` for a file.
fn errors(case: &Path, edition: &str) -> Vec<Place> {
    let (library, folder) = library();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"))
        .args([
            "--edition",
            edition,
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "-o",
        ])
        .arg(
            Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("dslc-mistake-{}.rmeta", std::process::id())),
        )
        .args(["--error-format", "json", "-L"])
        .arg(format!("dependency={}", folder.display()))
        .arg("--extern")
        .arg(format!("dslc={}", library.display()))
        .arg(case)
        .output()
        .expect("rustc starts");
    let text = String::from_utf8_lossy(&output.stderr);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let place = |message: Value| {
        let span = message["spans"]
            .as_array()?
            .iter()
            .find(|span| span["is_primary"] == true)?;
        (message["level"] == "error").then(|| {
            let number = |name: &str| span[name].as_u64().unwrap_or(0);
            let text = format!(
                "{} {}",
                message["code"]["code"].as_str().unwrap_or(""),
                message["message"].as_str().unwrap_or("")
            );
            (number("line_start"), number("column_start"), text)
        })
    };
    messages.filter_map(place).collect()
}

/// The errors that the file declares.
fn wanted(text: &str) -> Vec<Place> {
    let mut places = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let marks = text.split_once("//~").map_or("", |(_, marks)| marks);
        for mark in marks
            .split(';')
            .map(str::trim)
            .filter(|mark| !mark.is_empty())
        {
            let (column, text) = mark.split_once(' ').expect("`//~ COLUMN TEXT`");
            let column = column.parse().expect("a column");
            places.push((line, column, text.trim().to_string()));
        }
    }
    places
}

#[test]
fn mistakes_are_errors_in_their_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let mut cases: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the cases")
        .map(|entry| entry.expect("a case").path())
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect();
    cases.sort();
    assert!(cases.len() >= 10, "{}", cases.len());
    let mut wrong = String::new();
    for case in &cases {
        let text = fs::read_to_string(case).expect("the case");
        let wanted = wanted(&text);
        for edition in ["2021", "2024"] {
            let found = errors(case, edition);
            let same = |(want, have): (&Place, &Place)| {
                (want.0, want.1) == (have.0, have.1) && have.2.contains(&want.2)
            };
            if wanted.len() != found.len() || !wanted.iter().zip(&found).all(same) {
                wrong += &format!(
                    "{} ({edition}):\n  wanted {wanted:?}\n  found  {found:?}\n",
                    case.display()
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
