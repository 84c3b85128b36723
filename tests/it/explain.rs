//! What `dslc explain` shows of run-time findings is true: the wrong example has the finding, the right one has none.
//!
//! The examples are fragments; here they are put into a program: a fragment that launches or allocates into `main`, a function to file
//! scope, any other one into a kernel with the names that the examples use.

use std::fs;

use dsl::diagnostic::Code;
use serde_json::Value;

use crate::support::{dslc_within, root};

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
    cudaDeviceSynchronize();
    return 0;
}
";

const HOST: &str = "__global__ void kernel(int *d) { d[threadIdx.x] = 1; }
int main()
{
    int h[32], *d;
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

/// FIXME: codes whose wrong example does not show what it should yet.
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

#[test]
fn examples_of_findings_are_true() {
    let folder = root().join("target/tmp/explain");
    fs::create_dir_all(&folder).expect("a folder for the test");
    let mut wrong = vec![];
    let codes = Code::ALL
        .iter()
        .filter(|code| code.number().starts_with('R'));
    for &code in codes {
        for (which, example) in [
            ("wrong", code.bad_example()),
            ("right", code.good_example()),
        ] {
            if example.is_empty() {
                continue;
            }
            let path = folder.join(format!("{}_{which}.k", code.number()));
            fs::write(&path, program(code, example)).expect("the program");
            let path = path.to_string_lossy().into_owned();
            let args = ["run", "--format", "json", "--limit", "1000000", &path];
            let Some(output) = dslc_within(&args, std::time::Duration::from_secs(20)) else {
                wrong.push(format!("{path}: did not end"));
                continue;
            };
            let report = serde_json::from_str::<Value>(&output.stdout).ok();
            let Some(report) = report.filter(|report| report["diagnostics"].is_null()) else {
                if !NOT_YET.iter().any(|(known, _)| *known == code) {
                    wrong.push(format!("{path}: no report\n{}", output.stderr));
                }
                continue;
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
            let is_wrong = (which == "wrong") != has_code || which == "right" && !found.is_empty();
            if NOT_YET.iter().any(|(known, _)| *known == code) {
                if which == "wrong" && !is_wrong {
                    wrong.push(format!("{path}: is right now, strike it from the list"));
                }
            } else if is_wrong {
                wrong.push(format!("{path}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
