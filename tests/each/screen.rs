//! The first screen: each program of `tests/screen` has one waste or fault. The first 24 lines at 80 columns of all that `dslc run` prints
//! name the line with `//~ here`, and contain each part, separated by `|`, of the header's `//~ cure: …`. For some programs there is a
//! snapshot of the whole screen.

use std::process::Command;

use libtest_mimic::Trial;
use unicode_width::UnicodeWidthStr;

use crate::{
    each, stem,
    support::{dslc, dslc_wide, ran, root},
};

const LINES: usize = 24;

/// Programs with a snapshot of the screen.
const KEPT: &[&str] = &[
    "column_major",
    "missing_barriers",
    "tree_reduction",
    "out_of_bounds",
    "two_wastes",
];

pub(crate) fn trials() -> Vec<Trial> {
    let folder = "tests/screen";
    let mut all = each("screen::first", folder, 1, first);
    all.extend(each("screen::width", folder, 1, width));
    all
}

/// The first lines for a reader of both streams.
fn screen(path: &str) -> String {
    let program = env!("CARGO_BIN_EXE_dslc");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec \"$0\" run \"$1\" 2>&1", program, path])
        .current_dir(root())
        .env("DSLC_COUNTS", "written")
        .env_remove("COLUMNS");
    let all = ran(&mut shell).stdout;
    let first: Vec<&str> = all.lines().take(LINES).collect();
    first.join("\n")
}

/// The first screen names the line and the cure.
fn first(path: &str, source: &str) -> Result<(), String> {
    let line = source.lines().position(|line| line.contains("//~ here"));
    let line = line.expect("a label") + 1;
    let cure = source
        .lines()
        .find_map(|line| line.strip_prefix("//~ cure: "));
    let cure = cure.expect("a cure");
    let screen = screen(path);
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let place = [
        format!("{path}:{line}:"),
        format!("line {line} "),
        format!("line {line},"),
    ];
    let names = |part: &str| words.contains(part);
    assert!(
        place.iter().any(|place| names(place)) && cure.split('|').all(|part| names(part.trim())),
        "line {line}, {cure}\n{screen}"
    );
    if KEPT.contains(&stem(path)) {
        let shown = dslc(&["run", path]).stdout;
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/screen", description => format!("dslc run {path}"), omit_expression => true }, {
            insta::assert_snapshot!(stem(path), shown);
        });
    }
    Ok(())
}

/// No line is wider than the terminal.
fn width(path: &str, _: &str) -> Result<(), String> {
    for columns in [60, 80, 120] {
        for more in [&[][..], &["--launches"]] {
            let args = [&["run", path][..], more].concat();
            let shown = dslc_wide(&args, columns).stdout;
            for line in shown.lines() {
                assert!(
                    line.width() <= columns as usize,
                    "{columns} columns: {line}"
                );
            }
        }
    }
    Ok(())
}
