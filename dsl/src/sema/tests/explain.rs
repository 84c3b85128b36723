//! Checks what `dslc explain` shows.

use super::check;
use ir::diagnostic::Code;

/// Codes of this stage. Missing includes are found from the tokens (`library::headers`).
fn is_ours(code: Code) -> bool {
    code != Code::MissingInclude
        && ["E04", "E05", "E06", "E07", "E08", "W04", "W05", "W06"]
            .iter()
            .any(|family| code.number().starts_with(family))
}

#[test]
fn each_bad_example_has_its_code_and_each_good_one_none() {
    for &code in Code::ALL.iter().filter(|code| is_ours(**code)) {
        let bad = check(code.bad_example());
        let found: Vec<_> = bad
            .diagnostics
            .iter()
            .map(|diagnostic| diagnostic.code)
            .collect();
        assert_eq!(found, [code], "{}: {}", code.number(), bad.lines());
        let good = check(code.good_example());
        assert_eq!(good.lines(), "", "{}", code.number());
    }
}
