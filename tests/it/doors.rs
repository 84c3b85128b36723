//! Runs one faulty program in each possible way: the kinds of findings are always the same.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::Value;

use crate::support::dslc;

/// The `main` that launches a kernel of these programs: two buffers of 64 words, of which the second is initialised.
const MAIN: &str = "
int main()
{
    int *out, *in;
    cudaMalloc(&out, 256);
    cudaMalloc(&in, 256);
    cudaMemset(in, 0, 256);
    k<<<1, 64>>>(out, in);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(in);
    return 0;
}
";

/// A kernel, and the kinds of its faults.
const FAULTY: &[(&str, &str, &[&str])] = &[
    (
        "race",
        "__global__ void k(int *out, const int *in)\n{\n    __shared__ int s[64];\n    s[threadIdx.x] = in[threadIdx.x];\n    out[threadIdx.x] = s[63 - threadIdx.x];\n}\n",
        &["race"],
    ),
    (
        "bounds",
        "__global__ void k(int *out, const int *in)\n{\n    out[threadIdx.x] = in[threadIdx.x + 1];\n}\n",
        &["out_of_bounds"],
    ),
    (
        "unset",
        "__global__ void k(int *out, const int *in)\n{\n    __shared__ int s[65];\n    s[threadIdx.x] = in[threadIdx.x];\n    __syncthreads();\n    out[threadIdx.x] = s[threadIdx.x + 1];\n}\n",
        &["uninitialized"],
    ),
    (
        "barrier",
        "__global__ void k(int *out, const int *in)\n{\n    if (threadIdx.x < 32) __syncthreads();\n    out[threadIdx.x] = in[threadIdx.x];\n}\n",
        &["barrier_divergence"],
    ),
    (
        "wide",
        "__global__ void k(int *out, const int *in)\n{\n    if (threadIdx.x == 0) *(int2 *)(out + 1) = make_int2(in[0], 1);\n}\n",
        &["misaligned"],
    ),
    (
        "shared",
        "__global__ void k(int *out, const int *in)\n{\n    __shared__ int s[17000];\n    s[threadIdx.x] = in[threadIdx.x];\n    out[threadIdx.x] = s[threadIdx.x];\n}\n",
        &["invalid_launch"],
    ),
    (
        "clean",
        "__global__ void k(int *out, const int *in)\n{\n    out[threadIdx.x] = in[threadIdx.x];\n}\n",
        &[],
    ),
];

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("doors");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("made");
    for (name, kernel, _) in FAULTY {
        let text = format!("//~ exit 0\n{kernel}{MAIN}");
        fs::write(folder.join(format!("{name}.cu")), text).expect("written");
    }
    folder
}

/// The kinds of errors and warnings in a list of objects.
fn kinds(all: &Value, kind: &str, level: &str) -> BTreeSet<String> {
    let all = all.as_array().expect("a list").iter();
    let grave = all.filter(|one| matches!(one[level].as_str(), Some("error" | "warning")));
    let kinds = grave.filter_map(|one| one.pointer(kind)?.as_str().map(str::to_string));
    kinds.collect()
}

#[test]
fn each_door_shows_the_same() {
    let folder = folder();
    let mut spec = String::from("objective = \"launches\"\nprograms = [");
    for (name, _, wanted) in FAULTY {
        let path = folder.join(format!("{name}.cu"));
        let path = path.to_string_lossy();
        let wanted: BTreeSet<String> = wanted.iter().map(|kind| kind.to_string()).collect();
        let json = |words: &[&str]| -> Value {
            let ran = dslc(&[&["run", "--cures", "never"], words, &[&path]].concat());
            serde_json::from_str(&ran.stdout)
                .unwrap_or_else(|why| panic!("{path}: {why}: {}{}", ran.stdout, ran.stderr))
        };
        let report = json(&["--format", "json"]);
        assert_eq!(
            kinds(&report["findings"], "/kind", "severity"),
            wanted,
            "{name}: JSON"
        );
        let log = json(&["--format", "sarif"]);
        let results = &log["runs"][0]["results"];
        assert_eq!(
            kinds(results, "/properties/kind", "level"),
            wanted,
            "{name}: SARIF"
        );
        let ran = dslc(&["run", "--cures", "never", &path]);
        assert_eq!(
            ran.code,
            Some(u8::from(!wanted.is_empty()).into()),
            "{name}"
        );
        for kind in &wanted {
            assert!(ran.stdout.contains(kind.as_str()), "{name}: the screen");
        }
        let ran = dslc(&["test", &path]);
        let fails = ran.stdout.matches("unexpected error").count();
        assert_eq!(fails, wanted.len(), "{name}: test: {}", ran.stdout);
        for kind in &wanted {
            let words = format!("unexpected error {kind}");
            assert!(ran.stdout.contains(&words), "{name}: test: {}", ran.stdout);
        }
        spec += &format!("\"{name}.cu\", ");
    }
    spec += "]\n[measure]\nlaunches = \"launches\"\n";
    fs::write(folder.join("all.toml"), spec).expect("written");
    let spec = folder.join("all.toml");
    let ran = dslc(&["sweep", &spec.to_string_lossy()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let rows = fs::read_to_string(folder.join("all.results.jsonl")).expect("the results");
    for (row, (name, _, wanted)) in rows.lines().zip(FAULTY) {
        let row: Value = serde_json::from_str(row).expect("a row");
        assert_eq!(row["status"] == "ok", wanted.is_empty(), "{name}: {row}");
        let found = row["findings"].as_array().cloned().unwrap_or_default();
        let found: Vec<&str> = found.iter().filter_map(Value::as_str).collect();
        assert_eq!(found, *wanted, "{name}: sweep");
    }
}
