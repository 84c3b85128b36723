//! The examples of `docs/language.md`: each block ```` ```cuda ```` compiles without a word, each ```` ```cuda error: CODE ```` is told that code.

use std::{fs, path::PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::support::{dslc, root};

pub(crate) fn trials() -> Vec<Trial> {
    let page = fs::read_to_string(root().join("docs/language.md")).expect("the page");
    let mut trials = vec![];
    let mut lines = page.lines().zip(1..);
    while let Some((line, n)) = lines.next() {
        let Some(info) = line.strip_prefix("```cuda") else {
            continue;
        };
        let code = info.strip_prefix(" error: ").map(str::to_string);
        let block: Vec<&str> = lines
            .by_ref()
            .map(|(line, _)| line)
            .take_while(|line| *line != "```")
            .collect();
        let source = block.join("\n") + "\n";
        trials.push(Trial::test(format!("language::line_{n}"), move || {
            compiles(n, &source, code.as_deref()).map_err(Failed::from)
        }));
    }
    assert!(trials.len() >= 12, "only {} examples", trials.len());
    trials
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
