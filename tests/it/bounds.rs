//! Every program ends, and dslc's own memory stays bounded: instructions, memory, launches, output, CUDA's limits.

use std::{fs, time::Duration};

use serde_json::Value;

use crate::support::{dslc, file, flat, has, ran, root, survives};

const LIMIT: Duration = Duration::from_secs(60);

/// Runs a program with options before its path; returns the exit code, standard output and standard error.
fn run(name: &str, options: &[&str], source: &str) -> (i32, String, String) {
    let path = file(name, source);
    let args: Vec<&str> = ["run"]
        .iter()
        .chain(options)
        .copied()
        .chain([path.as_str()])
        .collect();
    let output = survives(name, &args, LIMIT);
    let code = output.code.expect("it ended by itself");
    (code, output.stdout, output.stderr)
}

const STRAIGHT: &str = "__global__ void k(int *p) { if (p) p[0] = 1; }
__global__ void nothing() {}
int main(int argc, char **argv) {
    k<<<1000000, 1>>>(0);
    nothing<<<1000000, 1>>>();
    return cudaDeviceSynchronize();
}
";

#[test]
fn the_limit_counts_kernels_without_a_loop() {
    let (code, out, error) = run("straight.k", &["--limit", "100", "--jobs", "1"], STRAIGHT);
    assert_eq!(code, 1, "{error}");
    has(&error, "R0202");
    has(&error, "more than 100 instructions");
    assert!(error.contains("straight.k:1:"), "the kernel: {error}");
    for jobs in ["2", "4"] {
        let again = run("straight.k", &["--limit", "100", "--jobs", jobs], STRAIGHT);
        assert_eq!(again, (code, out.clone(), error.clone()), "{jobs} jobs");
    }
    let (code, _, error) = run("straight.k", &["-q", "--limit", "100000000"], STRAIGHT);
    assert_eq!(code, 0, "{error}");
}

#[test]
fn the_limit_counts_warps_that_do_nothing() {
    let source = "__global__ void k() {}\nint main() { k<<<1000000, 1>>>(); return 0; }\n";
    let (code, _, error) = run("nothing.k", &["--limit", "100"], source);
    assert!(code == 1 && error.contains("R0202"), "{error}");
}

#[test]
fn the_limit_is_of_the_whole_run() {
    let launches = |n: &str| {
        format!(
            "__global__ void k(int *p) {{ for (int i = 0; i < 1000; i++) p[0] = i; }}
int main() {{ int *p; cudaMalloc(&p, 4); for (int i = 0; i < {n}; i++) k<<<1, 1>>>(p); cudaFree(p); return 0; }}\n"
        )
    };
    let options = ["-q", "--limit", "100000"];
    let (code, _, error) = run("few.k", &options, &launches("3"));
    assert_eq!(code, 0, "{error}");
    let (code, _, error) = run("many.k", &options, &launches("1000000"));
    assert!(
        code == 1 && error.contains("more than 100000 instructions"),
        "{error}"
    );
    let host = "int main() { for (;;) {} }\n";
    let (code, _, error) = run("host_alone.k", &options, host);
    assert!(
        code == 1 && error.contains("more than 100000 instructions"),
        "{error}"
    );
    // The host and its launches together exceed the limit, though neither does alone.
    let both = "__global__ void k(int *p) { p[0] = 1; }
int main() { int *p; cudaMalloc(&p, 4); for (int i = 0; i < 6000; i++) k<<<1, 1>>>(p); cudaFree(p); return 0; }\n";
    let (code, _, error) = run("both.k", &["-q", "--limit", "1000000"], both);
    assert_eq!(code, 0, "{error}");
    let (code, _, error) = run("both.k", &["-q", "--limit", "40000"], both);
    assert!(code == 1 && error.contains("R0202"), "{error}");
}

#[test]
fn memory_beyond_the_limit_is_refused_as_by_cuda_and_c() {
    let source = "int main() {
    char *p; int n = 0;
    while (cudaMalloc(&p, 1 << 20) == cudaSuccess) n++;
    printf(\"%d %s %d\\n\", n, cudaGetErrorName(cudaGetLastError()), malloc(1 << 20) == NULL);
    cudaFree(p);
    cudaDeviceReset();
    return 0;
}
";
    for memory in ["10M", "10485760", "10 MiB", "10240kb"] {
        let (code, out, error) = run("device.k", &["--memory", memory], source);
        assert!(
            code == 0 && out.starts_with("10 cudaErrorMemoryAllocation 1\n"),
            "{out}{error}"
        );
        has(
            &error,
            "device.k:3: note: out of memory: cannot allocate 1048576 bytes of device memory",
        );
        has(&error, "10485760 of 10485760 bytes are in use");
    }
    let output = dslc(&["run", "--memory", "much", "nothing.k"]);
    assert_eq!(output.code, Some(2));
}

#[test]
fn the_language_s_own_memory_ends_in_bad_alloc() {
    for (name, body, line) in [
        ("doubled.k", "std::string s = \"x\";\nfor (;;) s += s;", 4),
        (
            "pushed.k",
            "std::vector<double> v;\nfor (;;) v.push_back(1);",
            4,
        ),
        ("new.k", "int *p;\nfor (;;) p = new int[100000];", 4),
        ("small.k", "char *p;\nfor (;;) p = new char;", 4),
    ] {
        let source = format!("#include <string>\n#include <vector>\nint main() {{ {body} }}\n");
        let (code, _, error) = run(name, &["--memory", "16M"], &source);
        assert_eq!(code, 1, "{error}");
        has(&error, "'std::bad_alloc'");
        has(&error, &format!("{name}:{line}: note: "));
        has(&error, "exit code 134");
    }
}

#[test]
fn variables_that_have_no_room_are_named() {
    for (name, source) in [
        (
            "huge.k",
            "struct S { char c[1000000000000]; };\nS g;\nint main() { return g.c[5]; }\n",
        ),
        (
            "large.k",
            "int few[10];\nint many[1000000];\nint main() { return many[5]; }\n",
        ),
    ] {
        let (code, _, error) = run(name, &["--memory", "1M"], source);
        assert_eq!(code, 2, "{error}");
        has(&error, &format!("{name}:2"));
        has(&error, "--memory allows 1048576");
    }
}

#[test]
fn buffers_that_have_no_room_are_named() {
    let kernel = file("buffer.k", "__global__ void k(int *a) { a[0] = 1; }\n");
    for (memory, size) in [("1G", "16000000000"), ("1M", "262145")] {
        let buffer = format!("a=int[{size}]");
        let args = [
            "run",
            "--memory",
            memory,
            &kernel,
            "--buffer",
            &buffer,
            "--launch",
            "k<<<1, 1>>>(a)",
        ];
        let output = survives("buffer.k", &args, LIMIT);
        assert_eq!(output.code, Some(2));
        let error = output.stderr;
        has(&error, "--memory allows");
    }
}

#[test]
fn arrays_too_large_for_the_stack() {
    for (name, body) in [
        ("plain.k", "int a[1000000000]; a[5] = 1; return a[5];"),
        ("zeroed.k", "int a[1000000000] = {}; return a[5];"),
        (
            "struct.k",
            "struct S { char c[1000000000000]; }; S s = {}; S t = s; return t.c[7];",
        ),
    ] {
        let (code, _, error) = run(name, &[], &format!("int main() {{ {body} }}\n"));
        assert!(code == 1 && error.contains("R0403"), "{name}: {error}");
    }
}

/// Initial values are stored up to the last byte that is not 0.
#[test]
fn large_variables_that_begin_with_something() {
    let source = "char text[4000000000] = \"ab\";\nint table[100000000] = { 1, 2, 3 };
int main() { printf(\"%s %d %d %d\\n\", text, text[3999999999], table[2], table[99999999]); return 0; }\n";
    let (code, out, error) = run("prefix.k", &["-q", "--memory", "8G"], source);
    assert!(code == 0 && out == "ab 0 3 0\n", "{out}{error}");
}

#[test]
fn cudas_limits_are_refused_with_their_numbers() {
    for (name, source, code, says) in [
        (
            "local.k",
            "__device__ int f(int n) { int a[70000]; a[n] = n; return a[n / 2]; }
__global__ void k(int *x) { int b[70000]; b[x[0]] = 1; x[1] = f(x[2]) + b[x[3]]; }
int main() { return 0; }\n",
            "E0902",
            "560000 bytes of local memory for each thread; the limit is 524288",
        ),
        (
            "constant.k",
            "__constant__ int a[10000];\n__constant__ int b[7000];
__global__ void k(int *x) { x[0] = a[x[1]] + b[x[1]]; }\nint main() { return 0; }\n",
            "E0903",
            "take 68000 bytes; the limit is 65536",
        ),
        (
            "parameters.k",
            "struct S { int a[8191]; };
__global__ void k(int *x, S s) { x[0] = s.a[x[1]]; }\nint main() { return 0; }\n",
            "E0904",
            "take 32772 bytes; the limit is 32764",
        ),
    ] {
        let (exit, _, error) = run(name, &[], source);
        assert!(exit == 1 && error.contains(code), "{name}: {error}");
        assert!(flat(&error).contains(says), "{name}: {error}");
    }
    // Just within the limit.
    let source = "struct S { int a[1000]; };
__constant__ int c[16384];
__global__ void k(int *x, S s) { int a[130000]; a[x[0]] = s.a[x[1]]; x[0] = a[x[0]] + c[x[2]]; }
int main() { int *p; cudaMalloc(&p, 12); cudaMemset(p, 0, 12); S s = {}; k<<<1, 1>>>(p, s); int e = cudaDeviceSynchronize(); cudaFree(p); return e; }\n";
    let (exit, _, error) = run("within.k", &["-q"], source);
    assert_eq!(exit, 0, "{error}");
}

/// The peak of a run's memory in KB.
#[cfg(target_os = "linux")]
fn peak_kb(options: &[&str], path: &str) -> u64 {
    use std::process::{Command, Stdio};
    let mut command = Command::new(env!("CARGO_BIN_EXE_dslc"));
    command
        .arg("run")
        .args(options)
        .arg(path)
        .current_dir(root());
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.spawn().expect("dslc starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("dslc can be waited for").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        peak = peak.max(number.and_then(|number| number.parse().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    peak
}

#[test]
#[cfg(target_os = "linux")]
fn launches_keep_no_memory() {
    let source = "__global__ void k(int *p) { p[threadIdx.x] += 1; }
__global__ void other(int *p) { p[threadIdx.x] = 1; }
int main() { int *p; cudaMalloc(&p, 128); cudaMemset(p, 0, 128); for (;;) { k<<<1, 32>>>(p); other<<<1, 32>>>(p); } }\n";
    let path = file("for_ever.k", source);
    let few = peak_kb(&["--limit", "100000"], &path);
    let many = peak_kb(&["--limit", "2000000"], &path);
    // Some 80,000 launches more: 4.3 KB each would be 340 MB.
    assert!(many < few + 30_000, "{few} KB and {many} KB");
}

#[test]
fn launches_are_listed_one_by_one_and_folded_alike() {
    let source = "__global__ void k(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }
int main() { int *p; cudaMalloc(&p, 64); for (int i = 0; i < 12; i++) k<<<1, 1>>>(p, i % 3 + 1); cudaFree(p); return 0; }\n";
    let (_, out, error) = run("three.k", &["--format", "json"], source);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let launches = report["launches"].as_array().expect("launches");
    let stores: Vec<u64> = launches
        .iter()
        .filter_map(|launch| launch["metrics"]["global_store_requests"].as_u64())
        .collect();
    assert_eq!(stores, [1, 2, 3].repeat(4), "{error}");
    let indices = launches
        .iter()
        .filter_map(|launch| launch["index"].as_u64());
    assert!(indices.eq(0..12));
    let (_, out, _) = run("three.k", &["--launches"], source);
    has(&out, "sum of 12");
    // 4 * (1 + 2 + 3) requests.
    let row = out
        .lines()
        .find(|line| line.contains("global store"))
        .expect("the store");
    assert!(row.split_whitespace().any(|word| word == "24"), "{row}");
    let (_, out, _) = run("three.k", &["--launches", "all"], source);
    assert_eq!(out.matches("── k<<<1, 1>>>").count(), 12, "{out}");
}

#[test]
fn the_report_lists_so_many_launches() {
    let source = "__global__ void k() {}
int main() { for (int i = 0; i < 100010; i++) k<<<1, 1>>>(); return 0; }\n";
    let (code, out, _) = run("hundred_thousand.k", &["--format", "json"], source);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (code, report["launches"].as_array().map(Vec::len)),
        (0, Some(100_000))
    );
    let notes = report["notes"].to_string();
    has(&notes, "the first 100000 of 100010 launches are listed");
    let (_, out, _) = run("hundred_thousand.k", &["--launches"], source);
    has(&out, "x100010 alike");
}

#[test]
fn messages_without_end() {
    let refused = "__global__ void k() {}\nint main() { for (;;) k<<<1, 2000>>>(); }\n";
    let (code, out, error) = run(
        "refused.k",
        &["--limit", "100000", "--format", "json"],
        refused,
    );
    let report: Value = serde_json::from_str(&out).expect("JSON");
    // They have one cause and one line; the other finding is the limit.
    let findings = report["findings"].as_array().expect("findings");
    assert!(code == 1 && findings.len() == 2, "{findings:?}");
    let count = findings[0]["count"].as_u64().unwrap_or(0);
    assert!((1000..1010).contains(&count), "{count} launches");
    has(&error, "only the first 1000 refused launches");
    let failing = "int main() { int *p; for (;;) cudaMalloc(&p, 1ull << 60); }\n";
    let (code, _, error) = run("failing.k", &["--limit", "100000"], failing);
    assert!(
        code == 1 && error.contains("only the first 1000 such messages"),
        "{error}"
    );
    assert!(error.lines().count() < 1100);
}

#[test]
fn output_without_end() {
    let host = "int main() { for (;;) printf(\"%01000d\\n\", 1); }\n";
    let (code, out, error) = run(
        "host_print.k",
        &["--limit", "400000", "--format", "json"],
        host,
    );
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let kept = report["stdout"].as_str().map_or(0, str::len);
    assert_eq!((code, kept), (1, 64 << 20), "{error}");
    has(&error, "are left out");
    let kernel =
        "__global__ void k() { for (int i = 0; i < 1000000; i++) printf(\"%0500d\\n\", i); }
int main() { k<<<4, 256>>>(); return cudaDeviceSynchronize(); }\n";
    let (code, _, error) = run("kernel_print.k", &["-q"], kernel);
    assert!(
        code == 1 && error.contains("a block prints more than"),
        "{error}"
    );
}

#[test]
fn streams_and_events_without_end() {
    let forgotten = "int main() { cudaEvent_t e; int n = 0; while (cudaEventCreate(&e) == cudaSuccess) n++; printf(\"%d\\n\", n); return 0; }\n";
    let (code, out, error) = run("events.k", &["-q"], forgotten);
    assert!(code == 0 && out == "65536\n", "{out}{error}");
    let destroyed = "__global__ void k(int *p) { p[0] = 1; }
int main() {
    int *p; cudaMalloc(&p, 4);
    for (int i = 0; i < 70000; i++) {
        cudaStream_t s; if (cudaStreamCreate(&s)) return 1;
        cudaEvent_t e; if (cudaEventCreate(&e)) return 2;
        if (i % 1000 == 0) k<<<1, 1, 0, s>>>(p);
        cudaEventRecord(e, s); cudaStreamSynchronize(s); cudaEventDestroy(e); cudaStreamDestroy(s);
    }
    cudaFree(p); printf(\"done\\n\"); return 0;
}\n";
    let (code, out, error) = run("streams.k", &["-q"], destroyed);
    assert!(code == 0 && out == "done\n", "{out}{error}");
}

/// A process that is out of memory ends with a message, too.
#[test]
#[cfg(unix)]
fn little_address_space() {
    use std::process::Command;
    let path = file("little.k", "int main() { return 0; }\n");
    for kb in ["30000", "100000", "280000", "300000", "400000"] {
        let shell = format!("ulimit -v {kb} && exec \"$0\" run \"$1\"");
        let mut command = Command::new("sh");
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_dslc"), &path]);
        let output = ran(&mut command);
        let error = output.stderr;
        // Below what the system's loader or the executable's file needs, dslc itself has not started yet.
        let file = fs::metadata(env!("CARGO_BIN_EXE_dslc")).expect("the program");
        let loader = output.code == Some(127)
            || error.contains("loading shared libraries")
            || kb.parse::<u64>().expect("a number") * 1024 < file.len();
        assert!(
            loader || matches!(output.code, Some(0 | 2)),
            "{kb} KB: {:?} {error}",
            output.code
        );
        assert!(
            loader || output.code == Some(0) || !error.is_empty(),
            "{kb} KB: no message"
        );
        assert!(!error.contains("internal error"), "{kb} KB: {error}");
    }
}

/// An access before the first element and one after the last on the same line are two findings, and the indices for an array without a name
/// count elements.
#[test]
fn both_ends_of_an_array_are_told() {
    let output = dslc(&["run", "tests/findings/faults/both_ends.k"]);
    let table = output.stdout;
    for part in ["in[-1] in stencil", "in[96] in stencil"] {
        assert!(table.contains(part), "{part}:\n{table}");
    }
    let of_buckets = |line: &&str| line.contains("in insert");
    let line = table.lines().find(of_buckets).expect("the finding");
    let mut words = line
        .split_whitespace()
        .skip_while(|word| *word != "element");
    let number = words.nth(1).and_then(|word| word.parse::<i64>().ok());
    let said = format!("element {} ", number.expect("a number"));
    assert!(output.stderr.contains(&said), "{said}:\n{}", output.stderr);
}
