//! Errors inside instances of templates and expansions of macros, `tests/chains/*.k`: the message shows how the program got there,
//! within a screenful.

use std::fs;

use crate::support::{dslc, relative, root, text};

/// How many lines one message may take.
const SCREENFUL: usize = 40;

#[test]
fn errors_say_which_instance_and_which_expansion_they_are_in() {
    let entries = fs::read_dir(root().join("tests/chains")).expect("the folder");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert_eq!(paths.len(), 5);
    for path in paths {
        let file = relative(&path);
        let output = dslc(&["check", &file]);
        assert_eq!(output.status.code(), Some(1), "{file}");
        let said = text(&output.stderr);
        for message in said.split("\n\n[") {
            let n_lines = message.lines().count();
            assert!(n_lines <= SCREENFUL, "{file}: {n_lines} lines\n{message}");
        }
        let name = path.file_stem().expect("a name").to_string_lossy();
        insta::with_settings!({ snapshot_path => "../snapshots/chains", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(&*name, said);
        });
    }
}
