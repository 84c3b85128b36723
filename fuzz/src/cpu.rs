//! C functions that compute: they have to print the same on the machine (in a kernel of one thread, and in the host program) as after a C
//! compiler has compiled them for the CPU.
//!
//! An input becomes as many functions as its bytes allow, so that the C compiler starts once for all of them. If `cc` cannot be started,
//! nothing is tested, see [`has_compiler`].

mod function;

use std::{
    fs,
    path::PathBuf,
    process::{self, Command, Stdio},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use interp::{Checks, MachineConfig, Program, Severity};
use ir::source::NoFiles;
use runtime::host::find_main;

use crate::{
    choices::Choices,
    support::{has_errors, machine, map_of, run},
};

/// Most functions of an input.
const MAX_FUNCTIONS: usize = 24;

/// Whether this machine can compile C.
pub fn has_compiler() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut command = Command::new("cc");
        let quiet = command
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    })
}

/// See the module.
pub fn target(data: &[u8]) {
    if !has_compiler() {
        return;
    }
    let mut choices = Choices::new(data);
    let mut functions = Vec::new();
    while functions.len() < MAX_FUNCTIONS && (functions.is_empty() || !choices.is_empty()) {
        functions.push(function::function(&mut choices, functions.len()));
    }
    let expected = on_cpu(&functions);
    let found = on_machine(&functions);
    // One line per function and run.
    let expected: Vec<&str> = expected.lines().collect();
    let found: Vec<&str> = found.lines().collect();
    assert_eq!(expected.len(), functions.len(), "{expected:?}");
    assert_eq!(found.len(), 2 * functions.len(), "{found:?}");
    for (index, function) in functions.iter().enumerate() {
        for (who, found) in ["kernel", "host"].into_iter().zip(&found[2 * index..]) {
            assert!(
                *found == expected[index],
                "the {who} computes\n{found}\ninstead of\n{}\n{}{function}",
                expected[index],
                function::SHARED
            );
        }
    }
}

/// The functions' output on the machine: each runs in a kernel and on the host.
fn on_machine(functions: &[String]) -> String {
    let mut source = format!(
        "#define FN __host__ __device__ static\n{}",
        function::SHARED
    );
    let mut main = String::new();
    for (index, function) in functions.iter().enumerate() {
        source += function;
        source +=
            &format!("__global__ void k{index}(unsigned long long *out) {{ f{index}(out); }}\n");
        main += &format!(
            "    clear(out);\n    k{index}<<<1, 1>>>(out);\n    cudaDeviceSynchronize();\n    show(out);\n    clear(host);\n    f{index}(host);\n    show(host);\n"
        );
    }
    source += "int main() {\n    unsigned long long *out, host[RESULTS] = {0};\n    cudaMallocManaged(&out, sizeof host);\n";
    source += &main;
    source += "    return 0;\n}\n";
    let (mut map, file) = map_of(&source);
    // The C compiler has the option not to fuse either.
    let options = dsl::Options {
        fmad: false,
        ..dsl::Options::default()
    };
    let compiled = dsl::compile(&mut map, file, &options, &NoFiles);
    assert!(
        !has_errors(&compiled.diagnostics),
        "{source}\n{:#?}",
        compiled.diagnostics
    );
    let program = Program::new(Arc::new(compiled.module.expect("no error")));
    let main = find_main(&program).expect("main");
    let machine = MachineConfig {
        checks: Checks::ALL,
        ..machine(50_000_000)
    };
    let (outcome, printed) = run(&program, main, machine).expect("it can be brought there");
    assert!(outcome.faults.is_empty(), "{source}\n{:#?}", outcome.faults);
    for report in outcome.launches.iter() {
        for finding in &report.findings {
            assert!(
                finding.severity < Severity::Warning,
                "{finding:#?}\n{source}"
            );
        }
    }
    String::from_utf8(printed.stdout).expect("numbers")
}

/// Their output on the CPU.
fn on_cpu(functions: &[String]) -> String {
    let mut source = format!(
        "#include <stdio.h>\n#include <stdbool.h>\n#define FN static\n{}",
        function::SHARED
    );
    let mut main = String::from("int main(void) {\n    unsigned long long out[RESULTS] = {0};\n");
    for (index, function) in functions.iter().enumerate() {
        source += function;
        main += &format!("    clear(out);\n    f{index}(out);\n    show(out);\n");
    }
    source += &main;
    source += "    return 0;\n}\n";
    let files = Files::new();
    fs::write(files.path("c"), &source).expect("the source is written");
    let compiled = Command::new("cc")
        .args([
            "-O1",
            "-w",
            "-std=gnu11",
            "-fwrapv",
            "-ffp-contract=off",
            // Otherwise GCC turns 0.0 - (double)i into -(double)i, which is -0.0 for 0.
            "-frounding-math",
            "-fno-strict-aliasing",
            "-o",
        ])
        .args([files.path("exe"), files.path("c")])
        .output()
        .expect("cc starts");
    let message = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "no C: {message}\n{source}");
    let output = Command::new(files.path("exe")).output().expect("it starts");
    assert!(output.status.success(), "{}\n{source}", output.status);
    String::from_utf8(output.stdout).expect("numbers")
}

/// Files with a unique name, removed at the end.
struct Files(String);

impl Files {
    fn new() -> Files {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Files(format!("dslc-fuzz-{}-{number}", process::id()))
    }

    fn path(&self, extension: &str) -> PathBuf {
        std::env::temp_dir().join(format!("{}.{extension}", self.0))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for extension in ["c", "exe"] {
            let _ = fs::remove_file(self.path(extension));
        }
    }
}
