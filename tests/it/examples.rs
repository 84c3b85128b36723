//! Every example: its own checks pass, its report and its IR are those that were read and accepted.

use crate::support::{SHOWN, dslc, examples, relative, text};

/// Examples whose report is kept for the older rule sets too.
const TILES: &[&str] = &["tile_square", "tile_rect", "transpose16", "strides"];

fn run(args: &[&str]) -> String {
    let output = dslc(args);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}\n{error}");
    text(&output.stdout)
}

#[test]
fn reports() {
    for path in examples() {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let file = relative(&path);
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/report", description => format!("dslc run --launches {file}"), omit_expression => true }, {
            insta::assert_snapshot!(format!("{name}.sm_90"), run(&["run", "--no-checks", "--launches", &file]));
        });
    }
}

#[test]
fn reports_of_older_generations() {
    for name in TILES {
        let file = format!("examples/{name}.k");
        for (arch, width) in [("sm_20", "4"), ("sm_35", "4"), ("sm_35", "8")] {
            let suffix = if arch == "sm_35" {
                format!("{arch}.{width}-byte")
            } else {
                arch.to_string()
            };
            insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/report", description => format!("dslc run --launches --arch {arch} --bank-width {width} {file}"), omit_expression => true }, {
                insta::assert_snapshot!(format!("{name}.{suffix}"), run(&["run", "--no-checks", "--launches", "--arch", arch, "--bank-width", width, &file]));
            });
        }
    }
}

#[test]
fn intermediate_representation() {
    for path in examples() {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let file = relative(&path);
        let printed = run(&["ir", &file]);
        let module = dsl::ir::parse::parse(&printed)
            .unwrap_or_else(|error| panic!("{file}: the printed IR does not read back: {error}"));
        assert_eq!(
            dsl::ir::print::print(&module),
            printed,
            "{file}: IR, printed, read and printed again"
        );
        if SHOWN.contains(&&*name) {
            insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/ir", description => format!("dslc ir {file}"), omit_expression => true }, {
                insta::assert_snapshot!(name, printed);
            });
        }
    }
}
