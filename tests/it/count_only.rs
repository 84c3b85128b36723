//! `--count-only`: launches are counted from some of their blocks, and values that they did not compute are never used as results.

use serde_json::json;

use crate::support::{Ran, dslc, file, has};

/// Runs a program under `--count-only`.
fn count(name: &str, options: &[&str], source: &str) -> Ran {
    let path = file(name, source);
    let args = ["run", "--count-only"].iter().chain(options);
    dslc(&args.copied().chain([path.as_str()]).collect::<Vec<&str>>())
}

/// A kernel that qualifies, one that does not, and a `main` that uses them.
fn program(main: &str) -> String {
    format!(
        "#include <cstdio>
__global__ void twice(int *a, int n) {{ int t = blockIdx.x * blockDim.x + threadIdx.x; if (t < n) a[t] = 2 * a[t] + 1; }}
__global__ void odd(int *a, int *odds, int n) {{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n && a[t] % 2) atomicAdd(odds, 1);
}}
int main() {{
    const int n = 1000;
    int *a, *odds, h[n], count = 0;
    cudaMalloc(&a, sizeof h);
    cudaMalloc(&odds, sizeof(int));
    cudaMemset(odds, 0, sizeof(int));
    for (int k = 0; k < n; k++) h[k] = 2 * k;
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
{main}
}}
"
    )
}

#[test]
fn a_launch_is_counted_from_some_of_its_blocks() {
    let source = program("twice<<<8, 128>>>(a, n); twice<<<8, 128>>>(a, n); return 0;");
    let ran = count("counted.cu", &["--format", "json"], &source);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let launches = ran.json()["launches"].clone();
    assert_eq!(
        launches[0]["counted"],
        json!({ "blocks_run": 2, "blocks": 8 })
    );
    assert_eq!(launches[0].get("reason"), None);
    let path = file("counted.cu", &source);
    let full = dslc(&["run", "--format", "json", &path]).json()["launches"].clone();
    for launch in 0..2 {
        assert_eq!(launches[launch]["metrics"], full[launch]["metrics"]);
        assert_eq!(launches[launch]["sites"], full[launch]["sites"]);
    }
    let text = count("counted.cu", &[], &source).stdout;
    has(&text, "launch 0 `twice`: counted from 2 of 8 blocks");
    has(
        &text,
        "--count-only: what counted launches compute was left out",
    );
}

#[test]
fn the_page_says_how_launches_were_counted() {
    let source = program(
        "twice<<<8, 128>>>(a, n); cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice); odd<<<8, 128>>>(a, odds, n); return 0;",
    );
    let page = file("counted.html", "");
    let ran = count("paged.cu", &["--html", &page], &source);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = std::fs::read_to_string(&page).unwrap();
    has(&text, "<p>counted from 2 of 8 blocks</p>");
    has(
        &text,
        "<p>ran in full: a branch depends (line 5) on what is read from memory</p>",
    );
    has(&text, "what counted launches compute was left out");
    let path = file("paged.cu", &source);
    dslc(&["run", "--html", &page, &path]);
    let full = std::fs::read_to_string(&page).unwrap();
    assert!(!full.contains("was left out") && !full.contains("ran in full"));
}

#[test]
fn a_branch_of_main_by_a_result_ends_the_program() {
    let source = program(
        "twice<<<8, 128>>>(a, n); cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) if (h[k] != 4 * k + 1) { printf(\"wrong\\n\"); return 1; }
    printf(\"right\\n\"); twice<<<8, 128>>>(a, n); return 0;",
    );
    let ran = count("branch.cu", &[], &source);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    has(
        &ran.stderr,
        "the program ends here: a result of the launch at line 15 decides a branch at line 16",
    );
    has(&ran.stdout, "launch 0 `twice`: counted from 2 of 8 blocks");
    assert!(!ran.stderr.contains("prints"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("right") && !ran.stdout.contains("wrong"));
}

/// A launch of many threads with `steps` steps each, and a loop over its results.
fn many(steps: u32) -> String {
    format!(
        "#include <cstdio>
#include <cstdlib>
__global__ void fill(int *a, int n) {{
    int t = blockIdx.x * blockDim.x + threadIdx.x, v = t;
    for (int k = 0; k < {steps}; k++) v += k;
    if (t < n) a[t] = v;
}}
int main() {{
    const int n = 300000;
    int *a, *h = (int *)malloc(n * sizeof(int)), wrong = 0;
    cudaMalloc(&a, n * sizeof(int));
    fill<<<(n + 255) / 256, 256>>>(a, n);
    cudaMemcpy(h, a, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) if (h[k] != k + {steps} * ({steps} - 1) / 2) wrong++;
    printf(\"%d wrong\\n\", wrong);
    free(h);
}}
"
    )
}

#[test]
fn a_large_result_that_is_quickly_computed_is_there() {
    let source = many(3);
    let ran = count("many.cu", &["--format", "json"], &source);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let json = ran.json();
    assert_eq!(json["stdout"], json!("0 wrong\n"));
    assert_eq!(json["launches"][0]["counted"]["blocks"], json!(1172));
    let path = file("many.cu", &source);
    let full = dslc(&["run", "--format", "json", "--no-checks", &path]).json();
    assert_eq!(json["launches"][0]["sites"], full["launches"][0]["sites"]);
}

#[test]
fn a_large_result_that_takes_long_is_followed() {
    let ran = count("long.cu", &[], &many(2000));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    has(
        &ran.stderr,
        "a result of the launch at line 12 decides a branch at line 14",
    );
    assert!(!ran.stdout.contains("wrong"), "{}", ran.stdout);
}

#[test]
fn what_follows_from_a_result_is_followed() {
    let source = program(
        "twice<<<8, 128>>>(a, n); cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    long sum = 0; for (int k = 0; k < n; k++) sum += h[k];
    return sum > 5;",
    );
    let ran = count("sum.cu", &[], &source);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    has(&ran.stderr, "a result of the launch at line 15");
}

#[test]
fn a_result_may_be_printed() {
    let source = program(
        "twice<<<8, 128>>>(a, n); cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    printf(\"%d\\n\", h[7]); return 0;",
    );
    let ran = count("printed.cu", &[], &source);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    has(
        &ran.stderr,
        "prints results of the launch at line 15, which --count-only did not compute",
    );
}

#[test]
fn a_launch_that_needs_results_has_them() {
    let source = program(
        "twice<<<8, 128>>>(a, n); twice<<<8, 128>>>(a, n); odd<<<8, 128>>>(a, odds, n);
    cudaMemcpy(&count, odds, sizeof count, cudaMemcpyDeviceToHost);
    cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    printf(\"%d odd, %d\\n\", count, h[3]); return h[3] != 4 * 6 + 3;",
    );
    let ran = count("needed.cu", &[], &source);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    has(&ran.stdout, "1000 odd, 27\n");
    has(&ran.stdout, "launch 2 `odd`: ran in full: a branch depends");
}

#[test]
fn a_launch_whose_input_was_overwritten_cannot_run_later() {
    let source = program(
        "twice<<<8, 128>>>(a, n); cudaMemset(a, 0, 8); odd<<<8, 128>>>(a, odds, n); return 3;",
    );
    let ran = count("overwritten.cu", &[], &source);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    has(
        &ran.stderr,
        "the launch of `odd` is not counted (a branch depends (line 5) on what is read from memory)",
    );
    has(&ran.stderr, "the program has written to its memory since");
}

#[test]
fn results_that_were_copied_are_no_input() {
    let source = program(
        "int *b; cudaMalloc(&b, sizeof h); twice<<<8, 128>>>(a, n);
    cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost); cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice);
    odd<<<8, 128>>>(b, odds, n); return 3;",
    );
    let ran = count("copied.cu", &[], &source);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    has(&ran.stderr, "the program has copied that elsewhere since");
}

#[test]
fn a_result_that_is_overwritten_whole_is_forgotten() {
    let source = program(
        "twice<<<8, 128>>>(a, n); cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice); odd<<<8, 128>>>(a, odds, n);
    cudaMemcpy(&count, odds, sizeof count, cudaMemcpyDeviceToHost); return count;",
    );
    let ran = count("whole.cu", &[], &source);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}
