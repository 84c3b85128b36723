//! Counts of the source's accesses, and of the compiled kernels.
#![cfg(feature = "ptx")]

use std::{fs, path::Path};

use serde_json::Value;

use crate::support::{command, dslc, file, has, ran};

/// Wider alignment takes a compiled kernel beyond the limit of shared memory: the program's launch is the written one.
#[test]
fn a_launch_that_is_only_valid_as_written_runs() {
    let source = "__global__ void k(char *out) {\n    __shared__ char a[1], b[16], c[1], d[49120];\n    int t = threadIdx.x;\n    if (t == 0) a[0] = 1, \
        c[0] = 2;\n    b[t] = t; d[t * 1000] = t;\n    __syncthreads();\n    out[t] = a[0] + b[15 - t] + c[0] + d[(15 - t) * 1000];\n}\n";
    let program = file("shared.k", source);
    let launch = [
        "--launch",
        "k<<<1, 16>>>(out)",
        "--buffer",
        "out=char[16]",
        "--print",
        "out:3",
    ];
    let options = ["run", &program, "--counts", "both", "--launches"];
    let output = dslc(&[&options[..], &launch[..]].concat());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    has(&output.stdout, "out = 33 31 29");
    has(
        &output.stdout,
        "not counted as compiled: as compiled it fails",
    );
}

#[test]
fn compiled_accesses_have_the_report_s_lines() {
    let args = [
        "run",
        "examples/matmul.k",
        "--counts",
        "both",
        "--cures",
        "never",
    ];
    let output = dslc(&[&args[..], &["--launches"]].concat());
    has(&output.stdout, "16-byte loads");
    has(&output.stdout, "as compiled by dslc -O3");
    let output = dslc(&[&args[..], &["--device", "gpu"]].concat());
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    has(&output.stderr, "--counts needs the simulator");
}

/// A loop whose four loads the compiler makes into one.
const ROWS: &str = "__global__ void rows(const float *in, float *out) {
    __shared__ float tile[32 * 4];
    int t = threadIdx.x;
    for (int i = 0; i < 4; i++) tile[i * 32 + t] = in[i * 32 + t];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += tile[t * 4 + i];
    out[t] = sum;
}
";
const LAUNCH: [&str; 7] = [
    "--launch",
    "rows<<<1, 32>>>(in, out)",
    "--buffer",
    "in=float[128]:iota",
    "--buffer",
    "out=float[32]",
    "--cures=never",
];

/// The report of a run with these options.
fn report(program: &str, options: &[&str]) -> Value {
    dslc(&[&["run", program, "--format", "json"], &LAUNCH[..], options].concat()).json()
}

#[test]
fn compiled_counts_are_beside_the_written_ones_or_in_their_place() {
    let program = file("rows.k", ROWS);
    let [written, both, compiled] =
        ["written", "both", "compiled"].map(|counts| report(&program, &["--counts", counts]));
    let [written, both, compiled] =
        [&written, &both, &compiled].map(|report| &report["launches"][0]);
    let loads = |metrics: &Value| metrics["shared_load_requests"].clone();
    assert_eq!(loads(&written["metrics"]), 4);
    assert_eq!(written.get("compiled_by"), None);
    assert_eq!(both["metrics"], written["metrics"]);
    assert_eq!(loads(&both["compiled_metrics"]), 1);
    assert_eq!(both["compiled_by"], "dslc");
    assert_eq!(both.get("counted_as"), None);
    for (name, count) in both["compiled_metrics"].as_object().expect("metrics") {
        assert_eq!(compiled["metrics"][name], *count, "{name}");
    }
    assert_eq!(compiled["counted_as"], "compiled");
    let sites = compiled["sites"].as_array().expect("accesses").iter();
    let wide: Vec<&Value> = sites.filter(|site| site["width"] == 16).collect();
    assert_eq!(wide.len(), 1);
    assert_eq!(
        (&wide[0]["line"], &wide[0]["requests"]),
        (&7.into(), &1.into())
    );
}

/// Requirements, tests and sweeps judge the accesses that they are told to.
#[test]
fn what_is_required_holds_for_the_counts_that_are_asked_for() {
    let program = file("rows.k", ROWS);
    let code = |counts: &str| {
        let require = [
            "--counts",
            counts,
            "--require",
            "transactions(tile[t * 4 + i]) <= 8",
        ];
        dslc(&[&["run", &program], &LAUNCH[..], &require[..]].concat()).code
    };
    // Each of the four loads is a conflict of four ways as written; one of 16 bytes has none.
    assert_eq!((code("written"), code("compiled")), (Some(1), Some(0)));
    let test = |options: &str| {
        let text = format!(
            "//~ options {options} --launch 'rows<<<1, 32>>>(in, out)' --buffer in=float[128] --buffer out=float[32]\n//~ transactions tile[t * 4 + i] \
             <= 8\n{ROWS}"
        );
        dslc(&["test", &file("rows_test.k", text)]).code
    };
    assert_eq!(
        (test("--counts written"), test("--counts compiled")),
        (Some(1), Some(0))
    );
}

/// The PTX of a program that was compiled before is read again. A text that was cut is compiled again.
#[test]
fn a_program_is_compiled_once() {
    let program = file("once.k", ROWS);
    let cache = Path::new(&program).with_extension("cache");
    let _ = fs::remove_dir_all(&cache);
    let run = || {
        let mut command = command(&[&["run", &program], &LAUNCH[..]].concat());
        // Nothing is said: both are counted.
        command
            .env_remove("DSLC_COUNTS")
            .env("XDG_CACHE_HOME", &cache);
        let output = ran(&mut command);
        assert_eq!(output.code, Some(0), "{}", output.stderr);
        has(&output.stdout, "as compiled");
        output.stdout
    };
    let texts = || -> Vec<_> {
        let all = fs::read_dir(cache.join("dslc/ptx")).expect("the cache");
        all.map(|text| text.expect("a text").path()).collect()
    };
    let first = run();
    let [text] = &texts()[..] else {
        panic!("one text, not {:?}", texts());
    };
    let whole = fs::read(text).expect("the text");
    // Another text in its place is what the next run shows.
    let other = String::from_utf8_lossy(&whole).replace("ld.shared.v4", "ld.volatile.shared.v4");
    fs::write(text, other).expect("the text");
    assert_eq!(run(), first);
    fs::write(text, &whole[..whole.len() / 2]).expect("the text");
    assert_eq!(run(), first);
    assert_eq!(
        fs::read(text).expect("the text"),
        whole,
        "it is compiled again"
    );
}

#[test]
fn the_variable_for_counts_has_three_values() {
    let mut command = command(&["run", "examples/saxpy.k"]);
    let output = ran(command.env("DSLC_COUNTS", "none"));
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    has(&output.stderr, "it may be written, compiled or both");
}

/// What two programs cost is compared as compiled, too: the compiler makes one access of four, whether the source does or not.
#[test]
fn programs_are_compared_as_compiled() {
    let main = "int main() {\n    float *in, *out;\n    cudaMalloc(&in, 512); cudaMalloc(&out, 128);\n    cudaMemset(in, 0, 512);\n    \
                rows<<<1, 32>>>(in, out);\n    cudaFree(in); cudaFree(out);\n    return 0;\n}\n";
    let one_by_one = file("one_by_one.k", format!("{ROWS}{main}"));
    let wide = ROWS.replace(
        "for (int i = 0; i < 4; i++) sum += tile[t * 4 + i];",
        "float4 all = *(float4 *)&tile[t * 4]; sum = all.x + all.y + all.z + all.w;",
    );
    let wide = file("wide.k", format!("{wide}{main}"));
    let compare = |counts: &str| {
        let output = dslc(&[
            "compare",
            &wide,
            &one_by_one,
            "--counts",
            counts,
            "--fail-on-regression",
        ]);
        (output.code, output.stdout)
    };
    assert_eq!(compare("written").0, Some(1));
    let (code, text) = compare("both");
    assert_eq!(code, Some(0), "{text}");
    has(&text, "as compiled");
}

/// The assembler adds up lanes that add 1 at equal addresses. `tests/h200/examples.csv` has what nvcc's kernel costs on an H200.
#[test]
fn additions_of_one_are_counted_as_the_assembler_makes_them() {
    let args = [
        "run",
        "examples/histogram.k",
        "--format",
        "json",
        "--cures=never",
    ];
    let report = dslc(&[&args[..], &["--counts", "both"]].concat()).json();
    let shared = &report["launches"][1];
    assert_eq!(shared["kernel"], "count_shared");
    assert_eq!(shared["metrics"]["shared_atomic_transactions"], 1143);
    assert_eq!(
        shared["compiled_metrics"]["shared_atomic_transactions"],
        254
    );
}

/// Lanes that add to one counter: the assembler sums them up, so a cure that does it by hand saves nothing.
#[test]
fn a_cure_that_saves_nothing_as_compiled_is_an_idea() {
    let cures = |counts: &str| {
        let args = ["run", "tests/cures/count_in_warp.k", "--format", "json"];
        let report = dslc(&[&args[..], &["--cures=always", "--counts", counts]].concat()).json();
        let all = report["suggestions"].as_array().expect("cures").iter();
        let aggregate = all.filter(|cure| cure["kind"] == "aggregate");
        aggregate.filter(|cure| cure["verified"] == true).count()
    };
    assert_eq!((cures("written"), cures("both")), (1, 0));
}

/// A launch that cannot be counted as compiled has no such counts: that is said, and the run fails if it asked for them.
#[test]
fn what_cannot_be_counted_as_compiled_fails_where_it_is_asked_for() {
    let source = "__global__ void child(int *p) { p[threadIdx.x] = 1; }\n__global__ void k(int *p) { if (threadIdx.x == 0) child<<<1, 32>>>(p); }\n";
    let program = file("launches.k", source);
    let launch = ["--launch", "k<<<1, 32>>>(p)", "--buffer", "p=int[32]"];
    let run = |counts: &str| dslc(&[&["run", &program, "--counts", counts], &launch[..]].concat());
    let both = run("both");
    assert_eq!(both.code, Some(0), "{}", both.stderr);
    has(&both.stdout, "launch 0 is not counted as");
    let compiled = run("compiled");
    assert_eq!(compiled.code, Some(1), "{}", compiled.stdout);
    has(&compiled.stderr, "launch 0 of `k` is not counted as");
}

/// Two stores of a struct become one, which is told at both; what conflicts as written is no advice then.
#[test]
fn a_merged_access_names_the_place_that_it_is_at() {
    let source = "struct __align__(8) Pair { float m, s; };\n__global__ void k(Pair *out, float x)\n{\n    __shared__ Pair part[64];\n    int t = \
                  threadIdx.x;\n    part[t].s = x * t;\n    part[t].m = x;\n    __syncthreads();\n    out[t] = part[63 - t];\n}\n";
    let program = file("pairs.k", source);
    let launch = [
        "--launch",
        "k<<<1, 64>>>(out, 2.0f)",
        "--buffer",
        "out=float[128]",
    ];
    let args = [
        "run",
        &program,
        "--counts",
        "both",
        "--launches",
        "--cures=never",
    ];
    let text = dslc(&[&args[..], &launch[..]].concat()).stdout;
    has(
        &text,
        "compiled: part of the access to `part[t].m` in line 7",
    );
    has(&text, "compiled: 2 requests, 4 transactions: 8-byte stores");
    assert!(!text.contains("an array of structs"), "{text}");
}
