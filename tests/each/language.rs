//! The examples in the documentation. In `docs/language.md`, each block ```` ```cuda ```` compiles without messages. Each block
//! with ```` ```cuda error: CODE ```` has an error with that code. In `docs/test.md`, `dslc test` passes each block ```` ```cuda ````,
//! and fails each ```` ```cuda fails ````.

use std::{fs, path::PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::support::{dslc, root};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![];
    for (n, info, source) in blocks("docs/language.md") {
        let code = info.strip_prefix(" error: ").map(str::to_string);
        trials.push(Trial::test(format!("language::line_{n}"), move || {
            compiles(n, &source, code.as_deref()).map_err(Failed::from)
        }));
    }
    assert!(trials.len() >= 12, "only {} examples", trials.len());
    let tested = blocks("docs/test.md");
    assert!(tested.len() >= 5, "only {} examples", tested.len());
    trials.extend(tested.into_iter().map(|(n, info, source)| {
        Trial::test(format!("test_page::line_{n}"), move || {
            passes(n, &source, info != " fails").map_err(Failed::from)
        })
    }));
    trials
}

/// The examples of a page: the line, the text after ```` ```cuda ````, and the program.
fn blocks(page: &str) -> Vec<(usize, String, String)> {
    let page = fs::read_to_string(root().join(page)).expect("the page");
    let mut blocks = vec![];
    let mut lines = page.lines().zip(1..);
    while let Some((line, n)) = lines.next() {
        let Some(info) = line.strip_prefix("```cuda") else {
            continue;
        };
        let block: Vec<&str> = lines
            .by_ref()
            .map(|(line, _)| line)
            .take_while(|line| *line != "```")
            .collect();
        blocks.push((n, info.to_string(), block.join("\n") + "\n"));
    }
    blocks
}

fn passes(n: usize, source: &str, expected: bool) -> Result<(), String> {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("test_page_{n}.cu"));
    fs::write(&file, source).expect("written");
    let output = dslc(&["test", &file.to_string_lossy()]);
    match output.code == Some(i32::from(!expected)) {
        true => Ok(()),
        false => Err(output.stdout + &output.stderr),
    }
}

fn compiles(n: usize, source: &str, code: Option<&str>) -> Result<(), String> {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("language_{n}.k"));
    fs::write(&file, source).expect("written");
    let output = dslc(&["check", &file.to_string_lossy()]);
    let printed = output.stderr;
    let codes: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split(']').next())
        .collect();
    match codes == code.into_iter().collect::<Vec<_>>() {
        true => Ok(()),
        false => Err(printed),
    }
}
