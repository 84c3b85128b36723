//! Stopping a run from outside with Ctrl-C, SIGTERM and `--timeout`: the report has what ran so far, and the exit code says which it was.
#![cfg(target_os = "linux")]

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use crate::support::{Ran, dslc_within, file, has, root};

const LIMIT: Duration = Duration::from_secs(20);

/// One launch that ends, then hours of work on the device; with `host`, hours of work on the host.
const LONG: &str = "#include <stdio.h>
__global__ void quick(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void slow(int *p, unsigned n)
{
    unsigned s = 0;
    // One line, so that it does not matter in which part of a round the time is over.
    for (unsigned i = 0; i < n; i++) s = s * 3 + i;
    p[blockIdx.x] = s;
}
int main(int argc, char **argv)
{
    int *p;
    cudaMalloc(&p, 4096);
    quick<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    printf(\"first\\n\");
    unsigned long long s = 0;
    if (argc > 1)
        for (unsigned long long i = 0; i < 1000000000000ull; i++)
            s = s * 3 + i;
    slow<<<64, 32>>>(p, 4000000000u);
    cudaDeviceSynchronize();
    printf(\"never %d\\n\", s == 1);
    cudaFree(p);
    return 0;
}
";

/// Runs `dslc`, and sends it these signals after the program's first line.
fn signalled(args: &[&str], signals: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dslc"));
    command.args(args).current_dir(root());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("dslc starts");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut first = String::new();
    out.read_line(&mut first).expect("the program prints");
    assert_eq!(first, "first\n");
    for signal in signals {
        // By then, the program is in its long work.
        std::thread::sleep(Duration::from_millis(100));
        let killed = Command::new("kill")
            .args([signal, child.id().to_string().as_str()])
            .stderr(Stdio::null())
            .status();
        assert!(killed.is_ok());
    }
    let start = Instant::now();
    let mut stdout = first.into_bytes();
    out.read_to_end(&mut stdout).expect("the report");
    let output = child.wait_with_output().expect("dslc ends");
    assert!(start.elapsed() < LIMIT, "took {:?}", start.elapsed());
    Output { stdout, ..output }
}

/// The report has the launch that ended, and the running launch as the place.
fn has_both(output: &Ran, sentence: &str) {
    let (report, error) = (&output.stdout, &output.stderr);
    has(report, "quick<<<1, 32>>>");
    let quick = report.lines().find(|line| line.contains("quick<<<"));
    let sectors = quick.and_then(|row| row.split_whitespace().last());
    assert_eq!(sectors, Some("4"), "its counts are there: {report}");
    assert!(!report.contains("never"), "{report}");
    has(error, "R0211");
    has(error, sentence);
    let (_, findings) = report.split_once("── findings: 1 error").expect("one");
    let (findings, lines) = findings.split_once("── launches").expect("a table");
    assert!(lines.contains("slow<<<64, 32>>>"), "{report}");
    let words: Vec<&str> = findings.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains(".k:7:") && words.contains("in slow"),
        "{report}"
    );
}

#[test]
fn a_signal_ends_a_launch_and_what_ran_is_reported() {
    let program = file("long.k", LONG);
    for jobs in ["1", "3"] {
        let args = ["run", "--jobs", jobs, &program];
        for (signal, code, sentence) in [
            ("-INT", 130, "interrupted by Ctrl-C"),
            ("-TERM", 143, "ended by SIGTERM"),
        ] {
            let output = Ran::from(signalled(&args, &[signal]));
            assert_eq!(output.code, Some(code), "{}", output.stderr);
            has_both(&output, sentence);
        }
    }
}

#[test]
fn a_signal_ends_the_host_too() {
    let program = file("long_host.k", LONG);
    let output = Ran::from(signalled(&["run", &program, "--", "host"], &["-INT"]));
    assert_eq!(output.code, Some(130), "{}", output.stderr);
    let report = output.stdout;
    has(&report, "quick<<<1, 32>>>");
    assert!(!report.contains("slow<<<"), "{report}");
}

#[test]
fn a_second_signal_ends_at_once() {
    use std::os::unix::process::ExitStatusExt;
    let program = file("twice.k", LONG);
    let output = signalled(&["run", &program], &["-INT", "-INT"]);
    // Ended by the second signal, or by itself before that arrived.
    let (code, signal) = (output.status.code(), output.status.signal());
    assert!(code == Some(130) || signal == Some(2), "{}", output.status);
}

#[test]
fn a_time_that_is_over_is_a_finding_where_the_program_is() {
    let program = file("timeout.k", LONG);
    for jobs in ["1", "3"] {
        let args = ["run", "--timeout", "0.5", "--jobs", jobs, &program];
        let output = dslc_within(&args, LIMIT).expect("it ends");
        assert_eq!(output.code, Some(1));
        has_both(&output, "the --timeout of 0.5 s has expired");
    }
    let args = ["run", "--timeout", "0.5", "--format", "json", &program];
    let output = dslc_within(&args, LIMIT).expect("it ends");
    assert_eq!(output.code, Some(1));
    let report = output.json();
    assert_eq!(report["launches"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["findings"][0]["kind"], "timeout");
    assert_eq!(report["findings"][0]["accesses"][0]["line"], 7);
    let args = ["run", "--timeout", "0.5", &program, "--", "host"];
    let output = dslc_within(&args, LIMIT).expect("it ends");
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("--timeout of 0.5 s has expired"));
}

#[test]
fn a_time_that_is_over_is_no_known_finding_and_files_are_written() {
    let program = file(
        "alone.k",
        "__global__ void slow(unsigned *p)\n{\n    unsigned s = 0;\n    for (unsigned i = 0; i < 4000000000u; i++)\n        s = s * 3 + i;\n    *p = s;\n}\n",
    );
    let folder = root().join("target/tmp/stopping");
    let (baseline, saved) = (folder.join("known.json"), folder.join("p.npy"));
    let _ = (fs::remove_file(&baseline), fs::remove_file(&saved));
    let args = [
        "run",
        "--timeout",
        "0.3",
        &program,
        "--launch",
        "slow<<<1, 1>>>(p)",
        "--buffer",
        "p=unsigned[1]",
        "--save",
        &format!("p={}", saved.display()),
        "--write-baseline",
        &baseline.to_string_lossy(),
    ];
    let output = dslc_within(&args, LIMIT).expect("it ends");
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(saved.is_file());
    let known = fs::read_to_string(&baseline).expect("the baseline");
    assert!(!known.contains("R0211"), "{known}");
}

#[test]
fn a_time_that_suffices_changes_nothing() {
    let plain = dslc_within(&["run", "examples/reverse.k"], LIMIT).expect("it ends");
    let args = ["run", "--timeout", "100", "examples/reverse.k"];
    let timed = dslc_within(&args, LIMIT).expect("it ends");
    assert_eq!(timed.code, Some(0));
    assert_eq!(plain.stdout, timed.stdout);
}

#[test]
fn a_time_that_is_over_before_the_program_runs_is_said() {
    let args = ["run", "--timeout", "0.00001", "examples/transpose.k"];
    let output = dslc_within(&args, LIMIT).expect("it ends");
    assert_eq!(output.code, Some(1));
    let error = output.stderr;
    has(&error, "expired before the program ran");
    for wrong in ["0", "nan", "inf", "soon", "1e300"] {
        let output = dslc_within(&["run", "--timeout", wrong, "x.k"], LIMIT).expect("it ends");
        assert_eq!(output.code, Some(2), "{wrong}");
        let error = output.stderr;
        has(&error, "expected a number of seconds");
    }
}

/// dslc waits for a reader of a named pipe, but not longer than the command may take.
#[test]
fn a_named_pipe_that_nothing_reads_is_given_up() {
    let pipe = root().join("target/tmp/unread.pipe");
    let _ = fs::remove_file(&pipe);
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let path = pipe.to_string_lossy().into_owned();
    let why = "no process reads this named pipe";
    for option in ["--html", "--write-baseline"] {
        let args = ["run", "--timeout", "1", option, &path, "examples/reverse.k"];
        let output = dslc_within(&args, LIMIT).expect("it ends");
        assert_eq!(output.code, Some(2), "{option}");
        has(&output.stderr, why);
        has(&output.stdout, "── launches");
    }
    // A signal ends the wait, too.
    let program = file(
        "piped.k",
        "#include <stdio.h>\nint main() { printf(\"first\\n\"); return 0; }\n",
    );
    let output = signalled(&["run", "--html", &path, &program], &["-TERM"]);
    assert_eq!(output.status.code(), Some(2));
    has(&String::from_utf8_lossy(&output.stderr), why);
}

/// A reader gets the whole report.
#[test]
fn a_named_pipe_that_is_read_gets_the_report() {
    let pipe = root().join("target/tmp/read.pipe");
    let _ = fs::remove_file(&pipe);
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let path = pipe.to_string_lossy().into_owned();
    let reader = std::thread::spawn(move || fs::read_to_string(&pipe));
    let output = dslc_within(&["run", "--html", &path, "examples/reverse.k"], LIMIT);
    assert_eq!(output.expect("it ends").code, Some(0));
    let page = reader.join().expect("it reads").expect("a page");
    assert!(page.trim_end().ends_with("</html>"), "{} bytes", page.len());
}

/// `timeout` sends its signal twice: to the process, and to its group.
#[test]
fn two_signals_at_once_are_one() {
    let program = file("at_once.k", LONG);
    let mut command = Command::new(env!("CARGO_BIN_EXE_dslc"));
    command.args(["run", &program]).current_dir(root());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("dslc starts");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut first = String::new();
    out.read_line(&mut first).expect("the program prints");
    std::thread::sleep(Duration::from_millis(100));
    let id = child.id();
    let twice = format!("kill -TERM {id}; kill -TERM {id}");
    assert!(Command::new("sh").args(["-c", &twice]).status().is_ok());
    let mut report = String::new();
    out.read_to_string(&mut report).expect("the report");
    let output = child.wait_with_output().expect("dslc ends");
    assert_eq!(output.status.code(), Some(143));
    has(&report, "quick<<<1, 32>>>");
}
