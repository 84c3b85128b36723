//! Notes about the host, `tests/remarks/*.k`: exactly those that the program lists with `//~ LINE: TEXT`.

use libtest_mimic::Trial;

use crate::{each, support::dslc};

pub(crate) fn trials() -> Vec<Trial> {
    each("remarks", "tests/remarks", 6, remarks)
}

fn remarks(path: &str, source: &str) -> Result<(), String> {
    let mut expected: Vec<String> = source
        .lines()
        .filter_map(|line| line.split_once("//~ "))
        .map(|(_, remark)| format!("{path}:{remark}"))
        .collect();
    let output = dslc(&["run", path]);
    let said = |line: &&str| line.starts_with(path) && !line.contains("note[");
    for line in output.stderr.lines().filter(said) {
        match expected.iter().position(|remark| line.starts_with(remark)) {
            Some(at) => drop(expected.remove(at)),
            None => return Err(format!("not expected: {line}")),
        }
    }
    match expected.is_empty() {
        true => Ok(()),
        false => Err(format!("not said: {expected:#?}\n{}", output.stderr)),
    }
}
