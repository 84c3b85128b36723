//! Checks that the run-time examples of `dslc explain` are right: the bad example has the finding, the good one has none.
//!
//! The examples are fragments, which are put into a program here: a fragment with launches or allocations into `main`, a function at file
//! scope, and any other one into a kernel with the names that the examples use.

use std::time::Duration;

use ir::diagnostic::Code;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::support::{dslc_within, file};

const KERNEL: &str = "__device__ int lock_word, count_word, found_word;
__global__ void kernel(int *x, int *in, int *out, int n)
{
    __shared__ int s[64];
    int *lock = &lock_word, *count = &count_word, *found = &found_word;
    int t = threadIdx.x, v = t, limit = 3;
    s[t] = x[t];
    __syncthreads();
    {
FRAGMENT
    }
    __syncthreads();
    if (s[t] + v + *lock + *count + *found + limit == -1)
        out[0] = 1;
}
int main()
{
    int *x, *in, *out;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(x, 1, 256 * sizeof(int));
    cudaMemset(in, 1, 64 * sizeof(int));
    cudaMemset(out, 1, 64 * sizeof(int));
    kernel<<<BLOCKS, 64>>>(x, in, out, COUNT);
    int first = 0;
    cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
    return first == -12345;
}
";

const HOST: &str = "__global__ void kernel(int *d) { d[threadIdx.x] = 1; }
__global__ void wait(volatile int *flag) { while (*flag == 0) { } }
int main()
{
    int h[32], *d, *flag;
    cudaMallocHost(&flag, sizeof(int));
    *flag = 0;
    for (int i = 0; i < 32; i++)
        h[i] = i;
    cudaMalloc(&d, 1024 * sizeof(int));
    {
FRAGMENT
    }
    cudaDeviceSynchronize();
    return 0;
}
";

const FUNCTION: &str = "FRAGMENT
int main() { return f(1); }
";

/// FIXME: codes whose bad example does not show the finding yet.
const NOT_YET: &[(Code, &str)] = &[
    (
        Code::InstructionLimit,
        "the example runs out of bounds first",
    ),
    (
        Code::ShiftOutOfRange,
        "nobody uses the shifted value, so nothing shifts",
    ),
];

/// The example as a program.
fn program(code: Code, example: &str) -> String {
    let host = ["<<<", "malloc", "printf", "char *s", "char s"];
    let frame = if example.starts_with("int f(") {
        FUNCTION
    } else if host.iter().any(|word| example.contains(word)) {
        HOST
    } else {
        KERNEL
    };
    // More threads than elements; a shift by the width.
    let (blocks, count) = match code {
        Code::OutOfBounds => ("2", "64"),
        Code::ShiftOutOfRange => ("1", "32"),
        _ => ("1", "64"),
    };
    let program = frame.replace("FRAGMENT", example);
    program.replace("BLOCKS", blocks).replace("COUNT", count)
}

pub(crate) fn trials() -> Vec<Trial> {
    let has_example =
        |code: &&Code| !(code.bad_example().is_empty() && code.good_example().is_empty());
    let codes = Code::ALL
        .iter()
        .filter(|code| code.number().starts_with('R'))
        .filter(has_example);
    let trials: Vec<Trial> = codes
        .map(|&code| {
            Trial::test(format!("explain::{}", code.number()), move || {
                judged(code).map_err(Failed::from)
            })
        })
        .collect();
    assert!(!trials.is_empty(), "no code has an example");
    trials
}

/// The bad example has the finding and the good one has none, unless the code is listed as one that does not show it yet.
fn judged(code: Code) -> Result<(), String> {
    let is_known = NOT_YET.iter().any(|(known, _)| *known == code);
    let mut wrong = vec![];
    for (which, example) in [
        ("wrong", code.bad_example()),
        ("right", code.good_example()),
    ] {
        if example.is_empty() {
            continue;
        }
        let path = file(
            &format!("{}_{which}.k", code.number()),
            program(code, example),
        );
        match (is_known, shown(code, which, &path)) {
            (_, Shown::Endless) => wrong.push(format!("{path}: did not end")),
            (true, Shown::Right) if which == "wrong" => {
                wrong.push(format!("{path}: is right now, strike it from the list"));
            }
            (false, Shown::Wrong(why)) => wrong.push(format!("{path}: {why}")),
            (_, Shown::Right) | (true, Shown::Wrong(_)) => {}
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// The result of running an example.
enum Shown {
    Right,
    Wrong(String),
    Endless,
}

/// Runs an example: only the bad one may have the finding, and the good one may have nothing but notes.
fn shown(code: Code, which: &str, path: &str) -> Shown {
    let args = ["run", "--format", "json", "--limit", "1000000", path];
    let Some(output) = dslc_within(&args, Duration::from_secs(20)) else {
        return Shown::Endless;
    };
    let report = serde_json::from_str::<Value>(&output.stdout).ok();
    let Some(report) = report.filter(|report| report["diagnostics"].is_null()) else {
        return Shown::Wrong(format!("no report\n{}", output.stderr));
    };
    let findings = report["findings"].as_array().expect("findings");
    let found: Vec<String> = findings
        .iter()
        .filter(|finding| which == "wrong" || finding["severity"] != "note")
        .map(|finding| format!("{} {}", finding["code"], finding["message"]))
        .collect();
    let has_code = findings
        .iter()
        .any(|finding| finding["code"] == code.number());
    if (which == "wrong") != has_code || which == "right" && !found.is_empty() {
        Shown::Wrong(format!("{found:?}"))
    } else {
        Shown::Right
    }
}
