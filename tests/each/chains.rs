//! Errors inside template instances and macro expansions, `tests/chains/*.k`: the message shows how the program got there, and fits on one
//! screen.

use libtest_mimic::Trial;

use crate::{each, stem, support::dslc};

/// Most lines of one message.
const SCREENFUL: usize = 40;

pub(crate) fn trials() -> Vec<Trial> {
    each("chains", "tests/chains", 5, |file, _| {
        let output = dslc(&["check", file]);
        assert_eq!(output.code, Some(1), "{file}");
        let printed = output.stderr;
        for message in printed.split("\n\n[") {
            let n_lines = message.lines().count();
            assert!(n_lines <= SCREENFUL, "{file}: {n_lines} lines\n{message}");
        }
        insta::with_settings!({ snapshot_path => "../snapshots/chains", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(stem(file), printed);
        });
        Ok(())
    })
}
