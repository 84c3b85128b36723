//! Transactions per request of the tutorials' tile patterns on four rule sets, written here as the design gives them.

use crate::support::report;

/// The architecture and the bank width of each rule set.
const RULES: [(&str, &str); 4] = [
    ("sm_20", "4"),
    ("sm_35", "4"),
    ("sm_35", "8"),
    ("sm_90", "4"),
];

/// A kernel of an example and its store and load transactions per request under each rule set.
type Row = (&'static str, &'static str, [(f64, f64); 4]);

const ROWS: &[Row] = &[
    (
        "tile_square",
        "row_row",
        [(1., 1.), (1., 1.), (1., 1.), (1., 1.)],
    ),
    (
        "tile_square",
        "col_col",
        [(32., 32.), (16., 16.), (16., 16.), (32., 32.)],
    ),
    (
        "tile_square",
        "row_col",
        [(1., 32.), (1., 16.), (1., 16.), (1., 32.)],
    ),
    (
        "tile_square",
        "row_col_dynamic",
        [(1., 32.), (1., 16.), (1., 16.), (1., 32.)],
    ),
    (
        "tile_square",
        "row_col_padded",
        [(1., 1.), (1., 1.), (1., 1.5), (1., 1.)],
    ),
    (
        "tile_square",
        "row_col_dynamic_padded",
        [(1., 1.), (1., 1.), (1., 1.5), (1., 1.)],
    ),
    (
        "tile_rect",
        "row_row",
        [(1., 1.), (1., 1.), (1., 1.), (1., 1.)],
    ),
    (
        "tile_rect",
        "col_col",
        [(16., 16.), (8., 8.), (8., 8.), (16., 16.)],
    ),
    (
        "tile_rect",
        "row_col",
        [(1., 16.), (1., 8.), (1., 8.), (1., 16.)],
    ),
    (
        "tile_rect",
        "row_col_pad1",
        [(1., 2.), (1., 2.), (1., 2.), (1., 2.)],
    ),
    (
        "tile_rect",
        "row_col_pad2",
        [(1., 1.), (1., 1.), (1., 1.), (1., 1.)],
    ),
];

#[test]
fn tiles_cost_what_the_design_says_on_every_generation() {
    let mut wrong = Vec::new();
    for (at, (arch, width)) in RULES.iter().enumerate() {
        for program in ["tile_square", "tile_rect"] {
            let report = report(&[
                "--no-checks",
                "--arch",
                arch,
                "--bank-width",
                width,
                &format!("examples/{program}.k"),
            ]);
            for (_, kernel, expected) in ROWS.iter().filter(|row| row.0 == program) {
                let launches = report["launches"].as_array().expect("launches");
                let launch = launches.iter().find(|launch| launch["kernel"] == *kernel);
                let launch = launch.unwrap_or_else(|| panic!("{program}.k launches no {kernel}"));
                let per_request = |op: &str| {
                    let count = |what: &str| {
                        launch["metrics"][format!("shared_{op}_{what}")]
                            .as_f64()
                            .expect("a count")
                    };
                    count("transactions") / count("requests")
                };
                let found = (per_request("store"), per_request("load"));
                if found != expected[at] {
                    wrong.push(format!(
                        "{kernel} on {arch}, banks of {width}: {found:?}, expected {:?}",
                        expected[at]
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
