//! Commands, streams and exit codes.

use std::fs;

use crate::support::{dslc, dslc_wide, file, has};

const SCALE: &str = "__global__ void scale(const float *in, float *out, float factor, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        out[i] = factor * in[i];\n}\n";

#[test]
fn a_kernel_without_main_is_launched_from_the_command_line() {
    let program = file("scale.k", SCALE);
    let saved = file("scaled.npy", "");
    let save = format!("out={saved}");
    let args = [
        "run",
        &program,
        "--launch",
        "scale<<<2, 32>>>(in, out, 2.5f, 40)",
        "--buffer",
        "in=float[40]:iota",
    ];
    let more = [
        "--buffer",
        "out=float[40]",
        "--print",
        "out:4",
        "--save",
        &save,
        "--quiet",
    ];
    let output = dslc(&[&args[..], &more[..]].concat());
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "out = 0 2.5 5 7.5 … (36 more)\n"),
        "{}",
        output.stderr
    );
    let file = fs::read(saved).expect("the saved buffer");
    assert_eq!(&file[..6], b"\x93NUMPY");
    assert_eq!(
        f32::from_le_bytes(file[file.len() - 4..].try_into().expect("four bytes")),
        97.5
    );
}

#[test]
fn launches_that_do_not_fit_are_refused_in_one_sentence() {
    let program = file("refused.k", SCALE);
    let cases = [
        ("scale<<<1, 32>>>(in, out)", "takes 4 arguments, got 2"),
        ("scal<<<1, 32>>>(in, out, 1, 2)", "did you mean `scale`?"),
        ("scale<<<1, 32>>>(in, put, 1, 2)", "did you mean `out`?"),
        (
            "scale<<<1, 32>>>(3, out, 1, 2)",
            "expected the name of a buffer",
        ),
        (
            "scale<<<1, 32>>>(in, out, 1, 2.5)",
            "expected a whole number",
        ),
        ("scale<<<1, 32>>>(whole, out, 1, 2)", "the kernel wants"),
    ];
    for (launch, expected) in cases {
        let buffers = [
            "--buffer",
            "in=float[4]",
            "--buffer",
            "out=float[4]",
            "--buffer",
            "whole=int[4]",
        ];
        let output = dslc(&[&["run", &program, "--launch", launch][..], &buffers[..]].concat());
        assert_eq!(output.code, Some(2), "{launch}");
        let error = output.stderr;
        assert!(error.contains(expected), "{launch}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_header_that_is_not_included_is_a_warning() {
    let text_of = "#include <cstdlib>\nint main()\n{\n    printf(\"it runs\\n\");\n    return EXIT_SUCCESS;\n}\n";
    let output = dslc(&["run", "--quiet", &file("include.k", text_of)]);
    assert_eq!(output.code, Some(0));
    assert_eq!(output.stdout, "it runs\n");
    let warnings = output.stderr;
    has(
        &warnings,
        "[W0405] Warning: `printf` needs `#include <cstdio>`",
    );
    assert_eq!(warnings.matches("Warning").count(), 1, "{warnings}");
}

#[test]
fn another_compiler_is_named_where_it_may_know_more() {
    let host = |code: &str| format!("{SCALE}int main()\n{{\n    {code}\n}}\n");
    let hint = "\n    dslc run --host native ";
    // clang may know a name that dslc's libraries do not have.
    let unknown = file("unknown_host_call.k", host("return setpriority(0, 0, 5);"));
    let output = dslc(&["run", &unknown]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains(hint), "{}", output.stderr);
    // A typing error is wrong for every compiler.
    let slip = file("slip.k", host("return cudaDeviceSynchronise();"));
    let output = dslc(&["run", &slip]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(!output.stderr.contains(hint), "{}", output.stderr);
    assert!(
        output.stderr.contains("cudaDeviceSynchronize"),
        "{}",
        output.stderr
    );
}

#[test]
fn exit_codes_tell_whose_fault_it_is() {
    let bad = file("bad.k", "int main() { return undeclared; }\n");
    let three = file("three.k", "int main() { return 3; }\n");
    let huge = file(
        "huge.k",
        "__global__ void k() {}\nint main() { k<<<1, 2048>>>(); return 0; }\n",
    );
    let cases: &[(&[&str], i32)] = &[
        (&["check", "examples/reverse.k"], 0),
        (&["run", "examples/reverse.k"], 0),
        (&["check", &bad], 1),
        (&["run", &bad], 1),
        (&["run", &three], 1),
        (&["run", &huge], 1),
        (&["run", "no-such-file.k"], 2),
        (&["run", "examples"], 2),
        (&["run", "examples/reverse.k", "--arch", "sm_99"], 2),
        (&["run", "examples/reverse.k", "--bank-width", "8"], 2),
        (
            &[
                "run",
                "examples/reverse.k",
                "--metrics",
                "shared_load_transaction",
            ],
            2,
        ),
        (
            &["run", "examples/reverse.k", "--kernel", "staticRevers"],
            2,
        ),
        (&["run", "examples/reverse.k", "--no-such-option"], 2),
        (&["run", "examples/reverse.k", "--device", "gpu"], 2),
        (
            &["ptx", "examples/reverse.k"],
            if cfg!(feature = "ptx") { 0 } else { 2 },
        ),
        (&["verify", "examples/reverse.k"], 2),
        (&["explain", "E0301"], 0),
        (&["explain", "E9999"], 2),
        (&["doctor"], 0),
        (&[], 2),
    ];
    for (args, expected) in cases {
        let output = dslc(args);
        assert_eq!(
            output.code,
            Some(*expected),
            "dslc {args:?}: {}",
            output.stderr
        );
        assert!(
            *expected == 0 || !output.stderr.is_empty(),
            "dslc {args:?} says nothing"
        );
    }
}

#[test]
fn the_json_report_has_the_schema_s_keys_in_order() {
    let output = dslc(&["run", "--format", "json", "examples/reverse.k"]);
    let report = output.json();
    let keys = |value: &serde_json::Value| {
        value
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let top = [
        "schema",
        "program",
        "arch",
        "bank_width",
        "device",
        "launches",
        "findings",
        "stdout",
        "exit_code",
    ];
    assert_eq!(keys(&report)[..top.len()], top);
    let launch = [
        "index",
        "kernel",
        "line",
        "grid",
        "block",
        "shared_bytes",
        "metrics",
        "sites",
    ];
    assert_eq!(keys(&report["launches"][0])[..launch.len()], launch);
    let site = [
        "line",
        "column",
        "text",
        "space",
        "op",
        "width",
        "requests",
        "transactions",
        "ideal",
        "bank_conflicts",
        "max_degree",
        "sectors",
        "ideal_sectors",
    ];
    assert_eq!(keys(&report["launches"][0]["sites"][0])[..site.len()], site);
    assert_eq!(report["launches"][0]["metrics"]["shared_load_requests"], 2);
}

#[test]
fn metrics_print_as_nvprof_did() {
    let metrics = "shared_load_transactions_per_request,shared_store_transactions_per_request";
    let output = dslc(&[
        "run",
        "--metrics",
        metrics,
        "examples/tile_square.k",
        "--kernel",
        "row_col",
        "--arch",
        "sm_35",
    ]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    insta::with_settings!({ snapshot_path => "../snapshots/cli", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("metrics", output.stdout);
    });
}

#[test]
fn the_report_fits_narrow_and_wide_terminals() {
    for columns in [80, 200] {
        let args = ["run", "examples/tile_square.k", "--kernel", "row_col"];
        let report = dslc_wide(&args, columns).stdout;
        let widest = report.lines().map(|line| line.chars().count()).max();
        assert!(
            widest <= Some(columns as usize),
            "{widest:?} columns of {columns}\n{report}"
        );
        insta::with_settings!({ snapshot_path => "../snapshots/cli", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("report_{columns}_columns"), report);
        });
    }
}

#[test]
fn lines_of_other_files_are_told_apart() {
    let header = file(
        "first.h",
        "__device__ int first(const int *p) { return p[threadIdx.x]; }\n",
    );
    let program = file(
        "uses_header.k",
        "#include \"first.h\"\n__global__ void copy(const int *in, int *out) { out[threadIdx.x] = first(in); }\n",
    );
    let launch = "copy<<<1, 32>>>(in, out)";
    let buffers = ["--buffer", "in=int[32]:iota", "--buffer", "out=int[32]"];
    let args = ["run", &program, "--launches", "--launch", launch];
    let output = dslc(&[&args[..], &buffers].concat());
    let report = output.stdout;
    let lines: Vec<&str> = report.lines().map(str::trim).collect();
    let at = |start: &str| lines.iter().position(|line| line.starts_with(start));
    let (own, named, theirs) = (at("2  __global__"), at("in  "), at("1  __device__"));
    assert!(own.is_some() && own < named && named < theirs, "{report}");
    assert!(
        lines.iter().any(|line| *line == format!("in  {header}")),
        "{report}"
    );
}

#[test]
fn banks_are_drawn() {
    let output = dslc(&[
        "banks",
        "tile[threadIdx.x][threadIdx.y]",
        "--array",
        "float[32][33]",
        "--block",
        "32,8",
    ]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    has(&output.stdout, "worst 1-way");
    let output = dslc(&[
        "banks",
        "tile[threadIdx.x][threadIdx.y]",
        "--array",
        "float[32][32]",
        "--block",
        "32,8",
    ]);
    has(&output.stdout, "worst 32-way");
}

/// Inputs of users who know nvcc, a shell or old notes.
#[test]
fn dead_ends_say_how_to_go_on() {
    let program = "examples/vec_add.k";
    let output = dslc(&["run", program, "64"]);
    assert_eq!(output.code, Some(2));
    has(
        &output.stderr,
        "come after `--`: `dslc run examples/vec_add.k -- 64`",
    );
    let output = dslc(&["run", "-arch=volta", "-std=c++17", "-lineinfo", program]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    has(&output.stdout, "counted for sm_70");
    // The expressions in its help.
    for (expression, array) in [
        ("tile[threadIdx.x][threadIdx.y]", "tile[32][32]"),
        ("s[lane].x", "s[256]"),
        ("lane * 12", "byte lane * 12"),
    ] {
        let output = dslc(&["banks", expression, "--lanes", "16"]);
        assert_eq!(output.code, Some(0), "{expression}: {}", output.stderr);
        has(&output.stdout, array);
    }
    for word in ["transaction", "wavefront", "request", "shared", "bank"] {
        assert_eq!(dslc(&["explain", word]).code, Some(0), "{word}");
    }
    let output = crate::support::ran(
        std::process::Command::new("sh")
            .args([
                "-c",
                "exec \"$0\" run - < examples/vec_add.k",
                env!("CARGO_BIN_EXE_dslc"),
            ])
            .current_dir(crate::support::root()),
    );
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    has(&output.stdout, "── launches");
}
