//! Every example: its own checks pass, and its report and IR equal the reviewed snapshots.

use libtest_mimic::Trial;

use crate::{
    each, stem,
    support::{SHOWN, dslc},
};

/// Examples with a snapshot of the report for the older rule sets, too.
const TILES: &[&str] = &["tile_square", "tile_rect", "transpose16", "strides"];

fn run(args: &[&str]) -> String {
    let output = dslc(args);
    let error = output.stderr;
    assert_eq!(output.code, Some(0), "{args:?}\n{error}");
    output.stdout
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each("examples", "examples", 20, report);
    all.extend(each(
        "examples::ir",
        "examples",
        20,
        intermediate_representation,
    ));
    all
}

/// The report, also for the older rule sets if their costs differ.
fn report(file: &str, _: &str) -> Result<(), String> {
    let name = stem(file);
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/report", description => format!("dslc run --launches {file}"), omit_expression => true }, {
        insta::assert_snapshot!(format!("{name}.sm_90"), run(&["run", "--no-checks", "--launches", file]));
    });
    if !TILES.contains(&name) {
        return Ok(());
    }
    for (arch, width) in [("sm_20", "4"), ("sm_35", "4"), ("sm_35", "8")] {
        let suffix = match arch {
            "sm_35" => format!("{arch}.{width}-byte"),
            _ => arch.to_string(),
        };
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/report", description => format!("dslc run --launches --arch {arch} --bank-width {width} {file}"), omit_expression => true }, {
            insta::assert_snapshot!(format!("{name}.{suffix}"), run(&["run", "--no-checks", "--launches", "--arch", arch, "--bank-width", width, file]));
        });
    }
    Ok(())
}

/// The printed IR reads back equal; for some examples there is a snapshot of it.
fn intermediate_representation(file: &str, _: &str) -> Result<(), String> {
    let printed = run(&["ir", file]);
    let module = ir::parse::parse(&printed)
        .map_err(|error| format!("the printed IR does not read back: {error}"))?;
    assert_eq!(
        ir::print::print(&module),
        printed,
        "{file}: IR, printed, read and printed again"
    );
    if SHOWN.contains(&stem(file)) {
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/ir", description => format!("dslc ir {file}"), omit_expression => true }, {
            insta::assert_snapshot!(stem(file), printed);
        });
    }
    Ok(())
}
