//! PTX: the text for every example, and that NVIDIA's assembler takes the PTX of every program for four generations.

use std::{env, fs, path::PathBuf, process::Command, sync::Mutex, thread};

use crate::support::{SHOWN, dslc, examples, relative, root, text};

/// What is assembled.
const ARCHITECTURES: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_100"];

fn ptx(args: &[&str]) -> String {
    let mut all = vec!["ptx"];
    all.extend(args);
    let output = dslc(&all);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}\n{error}");
    text(&output.stdout)
}

#[test]
fn texts_of_the_examples() {
    for path in examples() {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let file = relative(&path);
        let made = ptx(&["--arch", "sm_90", "--no-lines", &file]);
        if SHOWN.contains(&&*name) {
            insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/ptx", description => format!("dslc ptx --arch sm_90 --no-lines {file}"), omit_expression => true }, {
                insta::assert_snapshot!(format!("{name}.sm_90"), made);
            });
        }
    }
}

#[test]
fn the_same_source_gives_the_same_text() {
    let args = ["--arch", "sm_90", "examples/transpose.k"];
    assert_eq!(ptx(&args), ptx(&args));
}

/// The programs under `tests/programs` that the front end takes.
fn programs() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("tests/programs")).expect("the folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_program = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "k")
            && !fs::read_to_string(path)
                .expect("UTF-8")
                .contains("//~ not yet:")
    };
    paths.filter(is_program).collect()
}

/// NVIDIA's assembler: the one in PATH, else the one that `setup.sh` fetched.
fn ptxas() -> Option<PathBuf> {
    let folders = env::split_paths(&env::var_os("PATH")?).collect::<Vec<_>>();
    let fetched =
        ["cu13", "cuda_nvcc"].map(|part| root().join("target/ptxas/nvidia").join(part).join("bin"));
    folders
        .into_iter()
        .chain(fetched)
        .map(|folder| folder.join("ptxas"))
        .find(|path| path.is_file())
}

#[test]
fn every_program_assembles() {
    let Some(ptxas) = ptxas() else {
        #[expect(clippy::print_stderr, reason = "a test that did nothing has to say so")]
        {
            eprintln!("SKIPPED: no ptxas in PATH or target/ptxas; setup.sh fetches it");
        }
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("assembled");
    fs::create_dir_all(&folder).expect("a folder");
    let jobs: Vec<(PathBuf, &str)> = examples()
        .into_iter()
        .chain(programs())
        .flat_map(|path| ARCHITECTURES.map(|arch| (path.clone(), arch)))
        .collect();
    let next = Mutex::new(jobs.iter());
    let failures = Mutex::new(Vec::new());
    let work = || loop {
        let Some((path, arch)) = next.lock().expect("no panic").next() else {
            return;
        };
        let file = relative(path);
        let source = ptx(&["--arch", arch, &file]);
        let name = format!(
            "{}.{arch}",
            path.file_stem().expect("a name").to_string_lossy()
        );
        let input = folder.join(format!("{name}.ptx"));
        fs::write(&input, &source).expect("written");
        // Nothing to assemble in programs of the host alone.
        if !source.contains(".entry") {
            continue;
        }
        let output = Command::new(&ptxas)
            .args(["--gpu-name", arch, "--opt-level", "1"])
            .args(["--generate-line-info", "--output-file"])
            .arg(folder.join(format!("{name}.cubin")))
            .arg(&input)
            .output()
            .expect("ptxas starts");
        if !output.status.success() {
            let message = format!("{name}: {}", text(&output.stderr));
            failures.lock().expect("no panic").push(message);
        }
    };
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn options_of_the_command() {
    let file = "examples/saxpy.k";
    let default = ptx(&["--arch", "sm_75", file]);
    assert!(default.contains(".target sm_75"), "{default}");
    // For the GPU here, if there is one.
    assert!(ptx(&[file]).contains(".target sm_"));
    assert!(default.contains(".loc\t1 "), "{default}");
    let llvm = ptx(&["--emit", "llvm", "-O0", file]);
    assert!(
        llvm.contains("define ptx_kernel void @") && llvm.contains("alloca"),
        "{llvm}"
    );
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("saxpy.ptx");
    let silent = ptx(&["--arch", "sm_75", "-o", path.to_str().expect("UTF-8"), file]);
    assert_eq!(silent, "");
    assert_eq!(fs::read_to_string(path).expect("written"), default);
}

#[test]
fn unknown_architectures_are_refused_with_the_list() {
    let output = dslc(&["ptx", "--arch", "sm_42", "examples/saxpy.k"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(
        error.contains("unknown GPU architecture `sm_42`"),
        "{error}"
    );
    assert!(
        error.contains("sm_50, sm_52") && error.contains("sm_121"),
        "{error}"
    );
}

#[test]
fn a_program_with_errors_gives_none() {
    let output = dslc(&["ptx", "tests/wrong/missing_semicolon.k"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    assert!(!output.stderr.is_empty());
}
