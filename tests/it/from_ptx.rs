//! Programs of PTX on the command line.

use serde_json::Value;

use crate::support::{dslc, file, has};

const AXPY: &str = "ptx/tests/texts/axpy.ptx";
const LAUNCH: [&str; 6] = [
    "--launch",
    "axpy<<<4, 256>>>(x, y, 2.0f, 1000)",
    "--buffer",
    "x=float[1000]:iota",
    "--buffer",
    "y=float[1000]:1",
];

#[test]
fn a_kernel_of_ptx_runs_and_is_counted_by_its_lines() {
    let output = dslc(
        &[
            &["run", AXPY, "--print", "y:4", "--format", "json"],
            &LAUNCH[..],
        ]
        .concat(),
    );
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(report["stdout"], "y = 1 3 5 7 … (996 more)\n");
    let sites = report["launches"][0]["sites"].as_array().expect("accesses");
    let texts: Vec<&Value> = sites.iter().map(|site| &site["text"]).collect();
    assert_eq!(
        texts,
        [
            "ld.global.f32 %f2, [%rd6]",
            "ld.global.f32 %f3, [%rd7]",
            "st.global.f32 [%rd7], %f4"
        ]
    );
    // 1000 floats are 125 sectors.
    assert!(sites.iter().all(|site| site["sectors"] == 125), "{sites:?}");
    assert_eq!(sites[0]["line"], 15);
}

#[test]
fn an_access_of_ptx_beyond_a_buffer_names_the_buffer() {
    let mut launch = LAUNCH;
    launch[3] = "x=float[990]:iota";
    let output = dslc(&[&["run", AXPY], &launch[..]].concat());
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    has(
        &output.stderr,
        "load out of bounds of global memory: element 990 of `x`",
    );
    has(&output.stderr, "axpy.ptx:15:3");
}

/// An instruction that dslc cannot run is an error when a lane executes it, and only then. A predicate is no branch.
#[test]
fn ptx_that_is_not_known_is_an_error_with_its_place() {
    let head =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n";
    let unknown = file(
        "unknown.ptx",
        format!(
            "{head}    .reg .pred %p;\n    .reg .b32 %r<3>;\n    ld.param.u32 %r1, [n];\n    mov.u32 %r2, %tid.x;\n    setp.lt.u32 %p, %r2, \
             %r1;\n    @%p wgmma.fence.sync.aligned;\n    ret;\n}}\n"
        ),
    );
    let json = ["--format", "json", "--launch"];
    let output = dslc(&[&["run", &unknown], &json[..], &["k<<<1, 32>>>(0)"]].concat());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    has(
        &output.stderr,
        "`k`: dslc does not know `wgmma.fence.sync.aligned` yet; a lane",
    );
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(report["launches"][0]["metrics"]["branches"], 0);
    let output = dslc(&["run", &unknown, "--launch", "k<<<1, 32>>>(3)"]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    has(&output.stderr, "[R0406] Error: unsupported instruction");
    has(&output.stderr, "unknown.ptx:11:5");
    let broken = file("broken.ptx", format!("{head}    mov.u32 %r1, 3;\n}}\n"));
    let output = dslc(&["check", &broken]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    has(&output.stderr, "no register `%r1` is declared here");
    has(&output.stderr, "broken.ptx:6:13");
}
