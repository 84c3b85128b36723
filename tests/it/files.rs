//! Which files are read, and how much of each; which files are written, and that no input is overwritten.
#![cfg(target_os = "linux")]

use std::{
    fs::{self, File},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::support::{Ran, dslc, dslc_within, has, ran, root};

const LIMIT: Duration = Duration::from_secs(20);
const SCALE: &str =
    "__global__ void scale(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }\n";
const LAUNCH: [&str; 6] = [
    "--launch",
    "scale<<<1, 4>>>(in, out)",
    "--buffer",
    "in=int[4]:iota",
    "--buffer",
    "out=int[4]",
];

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = root().join("target/tmp/files").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn file(folder: &Path, name: &str, contents: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, contents).expect("the test's file");
    path.to_string_lossy().into_owned()
}

fn within(args: &[&str]) -> Ran {
    dslc_within(args, LIMIT).unwrap_or_else(|| panic!("{args:?} does not end"))
}

/// dslc fails with a reason in one line.
fn refused(args: &[&str], why: &str) {
    let output = within(args);
    let error = output.stderr;
    assert_eq!(output.code, Some(2), "{args:?}: {error}");
    assert!(error.contains(why), "{args:?}: {error}");
    assert_eq!(error.lines().count(), 1, "{args:?}: {error}");
}

fn fifo(folder: &Path) -> String {
    let path = folder.join("fifo");
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    path.to_string_lossy().into_owned()
}

fn sparse(folder: &Path, name: &str, bytes: u64) -> String {
    let path = folder.join(name);
    let file = File::create(&path).expect("a file");
    file.set_len(bytes).expect("a large file");
    path.to_string_lossy().into_owned()
}

#[test]
fn what_never_ends_is_not_read() {
    let folder = folder("endless");
    let program = file(&folder, "scale.k", SCALE);
    let pipe = fifo(&folder);
    let huge = sparse(&folder, "huge.k", 100 << 30);
    let folder_text = folder.to_string_lossy().into_owned();
    for (path, why) in [
        ("/dev/zero", "it is a device, not a file"),
        ("/dev/urandom", "it is a device, not a file"),
        (&pipe, "it is a named pipe, not a file"),
        (&folder_text, "it is a folder, not a file"),
        (&huge, "it is larger than 64 MiB"),
    ] {
        refused(&["run", path], why);
        refused(&["check", path], why);
        refused(&["run", &program, "--baseline", path], why);
        refused(&["check", &program, "--baseline", path], why);
        if path != huge {
            let buffer = format!("in=@{path}");
            let launch = ["--launch", "scale<<<1, 4>>>(in, in)"];
            let args = [&["run", &program, "--buffer", &buffer], &launch[..]].concat();
            refused(&args, why);
        }
    }
    let buffer = format!("in=@{huge}");
    refused(
        &["run", &program, "--buffer", &buffer, "--launch", LAUNCH[1]],
        "not a .npy file",
    );
}

#[test]
fn an_npy_file_is_read_as_far_as_its_header_says() {
    let folder = folder("npy");
    let program = file(&folder, "scale.k", SCALE);
    let path = folder.join("in.npy").to_string_lossy().into_owned();
    let save = format!("in={path}");
    let made = dslc(&[&["run", &program, "--save", &save], &LAUNCH[..]].concat());
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    // A hundred GiB follow that the header does not mention.
    let file = File::options().write(true).open(&path).expect("the file");
    file.set_len(100 << 30).expect("a large file");
    let buffer = format!("in=@{path}");
    let args = ["--launch", LAUNCH[1], "--print", "out", "-q"];
    let run = [
        &["run", &program, "--buffer", &buffer, "--buffer", LAUNCH[5]],
        &args[..],
    ];
    let output = within(&run.concat());
    assert_eq!(output.stdout, "out = 0 1 2 3\n", "{}", output.stderr);
    // The file contains only a part of the data that its header announces.
    file.set_len(130).expect("a short file");
    let output = within(&run.concat());
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("shorter than its header says"));
}

#[test]
fn a_program_and_a_baseline_may_come_through_a_pipe() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dslc"));
    command.args(["run", "/dev/stdin"]).current_dir(root());
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    command.stdin(reader).stdout(Stdio::piped());
    let child = command.spawn().expect("dslc starts");
    std::io::Write::write_all(&mut writer, b"int main() { return 3; }\n").expect("a pipe");
    drop((writer, command));
    let output: Ran = child.wait_with_output().expect("dslc ends").into();
    assert_eq!(output.code, Some(1));

    let mut command = Command::new("bash");
    let line = format!(
        "{0} check examples/reverse.k --baseline <(echo '{{\"schema\": \"dslc-baseline/1\", \"findings\": []}}')",
        env!("CARGO_BIN_EXE_dslc")
    );
    let output = ran(command.args(["-c", &line]).current_dir(root()));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let line = format!("{} run /dev/stdin < /dev/zero", env!("CARGO_BIN_EXE_dslc"));
    let output = ran(Command::new("bash").args(["-c", &line]));
    assert_eq!(output.code, Some(2));
}

#[test]
fn no_input_is_written_over() {
    let folder = folder("inputs");
    let header = file(&folder, "part.h", SCALE);
    let program = file(&folder, "scale.k", "#include \"part.h\"\n");
    let link = folder.join("link.h").to_string_lossy().into_owned();
    symlink(&header, &link).expect("a link");
    let hard = folder.join("hard.h").to_string_lossy().into_owned();
    fs::hard_link(&header, &hard).expect("a link");
    let spelled = folder.join("../inputs/./scale.k");
    let spelled = spelled.to_string_lossy().into_owned();
    let npy = folder.join("in.npy").to_string_lossy().into_owned();
    let save = format!("in={npy}");
    let made = dslc(&[&["run", &program, "--save", &save], &LAUNCH[..]].concat());
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let baseline = folder.join("known.json").to_string_lossy().into_owned();
    let run = [&["run", &program], &LAUNCH[..]].concat();
    let made = dslc(&[&run, &["--write-baseline", &baseline][..]].concat());
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let before: Vec<_> = [&header, &program, &npy, &baseline]
        .map(|path| fs::read(path).expect("a file"))
        .into();

    let from_file = format!("in=@{npy}");
    let from_file = [
        "run", &program, "--launch", LAUNCH[1], "--buffer", LAUNCH[5],
    ]
    .into_iter()
    .chain(["--buffer", &from_file]);
    let from_file: Vec<&str> = from_file.collect();
    let the_program = "is the program itself";
    let included = "is a file that the program includes";
    for (path, why) in [
        (&program, the_program),
        (&spelled, the_program),
        (&header, included),
        (&link, included),
        (&hard, included),
    ] {
        let save = format!("out={path}");
        refused(&[&run, &["--save", &save][..]].concat(), why);
        refused(&[&run, &["--write-baseline", path][..]].concat(), why);
        refused(&[&run, &["--trace", path][..]].concat(), why);
        refused(&["check", &program, "--write-baseline", path], why);
        refused(&["bind", &program, "-o", path], why);
        if cfg!(feature = "ptx") {
            refused(&["ptx", &program, "-o", path], why);
        }
    }
    let save = format!("out={npy}");
    refused(
        &[&from_file, &["--save", &save][..]].concat(),
        "is the file of a buffer",
    );
    let save = format!("out={baseline}");
    refused(
        &[&run, &["--baseline", &baseline, "--save", &save][..]].concat(),
        "is the baseline to read",
    );
    let twice = folder.join("twice").to_string_lossy().into_owned();
    let (one, other) = (format!("in={twice}"), format!("out={twice}"));
    refused(
        &[&run, &["--save", &one, "--save", &other][..]].concat(),
        "is written by --save in already",
    );
    assert!(!Path::new(&twice).exists(), "nothing ran");
    let after: Vec<_> = [&header, &program, &npy, &baseline]
        .map(|path| fs::read(path).expect("a file"))
        .into();
    assert!(before == after, "an input was changed");
}

#[test]
fn a_baseline_may_be_brought_up_to_date() {
    let folder = folder("update");
    let program = file(
        &folder,
        "race.k",
        "__global__ void race(int *p) { p[0] = threadIdx.x; }\n",
    );
    let baseline = file(
        &folder,
        "known.json",
        "{\"schema\": \"dslc-baseline/1\", \"findings\": []}",
    );
    let run = [
        "run",
        &program,
        "--launch",
        "race<<<1, 32>>>(p)",
        "--buffer",
        "p=int[1]",
        "--baseline",
        &baseline,
        "--write-baseline",
        &baseline,
    ];
    assert_eq!(dslc(&run).code, Some(1), "nothing was known");
    assert_eq!(dslc(&run).code, Some(0), "now it is");
    let unused = file(
        &folder,
        "bad.k",
        "int main() { int x = 1 / 0; return y; }\n",
    );
    let known = file(
        &folder,
        "messages.json",
        "{\"schema\": \"dslc-baseline/1\", \"findings\": []}",
    );
    let check = [
        "check",
        &unused,
        "--baseline",
        &known,
        "--write-baseline",
        &known,
    ];
    assert_eq!(dslc(&check).code, Some(1), "nothing was known");
    assert_eq!(dslc(&check).code, Some(0), "now it is");
}

#[test]
fn files_are_written_whole_and_stay_what_they_are() {
    let folder = folder("whole");
    let program = file(&folder, "scale.k", SCALE);
    let target = file(&folder, "kernels.rs", "old");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("permissions");
    let link = folder.join("link.rs");
    symlink("kernels.rs", &link).expect("a link");
    let new = folder.join("new.rs");
    for output in [&link, &new] {
        let args = ["bind", &program, "-o", &output.to_string_lossy()];
        let output = dslc(&args);
        assert_eq!(output.code, Some(0), "{}", output.stderr);
    }
    assert!(fs::read_link(&link).is_ok(), "the link is still one");
    let written = fs::read_to_string(&target).expect("the file behind the link");
    has(&written, "Made by `dslc bind");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(Path::new(&target)), 0o640);
    // The mask decides, as for any new file: its owner can read and write it, and it is not executable.
    assert!(mode(&new) & 0o600 == 0o600 && mode(&new) & 0o111 == 0);

    // Anything but a regular file is written in place.
    let to_null = dslc(&["bind", &program, "-o", "/dev/null"]);
    assert_eq!(to_null.code, Some(0), "{}", to_null.stderr);
    let to_stdout = dslc(&["bind", &program, "-o", "/dev/stdout"]);
    assert!(to_stdout.stdout.contains("Made by `dslc bind"));
    let full = dslc(&["bind", &program, "-o", "/dev/full"]);
    assert_eq!(full.code, Some(2));
    let error = full.stderr;
    has(&error, "`/dev/full`: no space left");

    // A failed write leaves no file.
    refused(
        &["bind", &program, "-o", "target/no/such/folder.rs"],
        "there is no such folder",
    );
    refused(
        &["bind", &program, "-o", &folder.to_string_lossy()],
        "it is a folder",
    );
    let left: Vec<_> = fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| name.to_string_lossy().starts_with(".dslc"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn many_jobs_are_no_more_work() {
    let program = "examples/reverse.k";
    let few = dslc(&["run", "--jobs", "1", program]);
    let many = within(&["run", "--jobs", "100000", program]);
    assert_eq!(few.stdout, many.stdout);
}

/// A name may contain control characters of a terminal. Texts omit them; machine-readable reports keep them.
#[test]
fn names_that_a_terminal_would_obey() {
    let folder = folder("names");
    let name = "we\u{1b}]0;title\u{7}\u{1b}[2Jird\nname.cu";
    let broken = "__global__ void scale(int *out) { out[threadIdx.x + 4] = 1; }\n";
    let path = file(&folder, name, broken);
    let missing = folder.join(format!("no{name}"));
    let missing = missing.to_string_lossy().into_owned();
    let launch = ["--launch", "scale<<<1, 4>>>(out)", "--buffer", "out=int[4]"];
    let with = |words: &[&'static str], path: &str, more: &[&'static str]| -> Vec<String> {
        let all = words
            .iter()
            .copied()
            .chain([path])
            .chain(more.iter().copied());
        all.map(str::to_string).collect()
    };
    for args in [
        with(&["check"], &path, &[]),
        with(&["check", "--kernels"], &path, &[]),
        with(&["run"], &path, &launch),
        with(&["run", "--launches"], &path, &launch),
        with(&["test"], &path, &[]),
        with(&["run"], &missing, &[]),
        with(&["check"], &missing, &[]),
        with(&["sweep"], &missing, &[]),
        with(&["fix"], &missing, &[]),
        with(&["test"], &missing, &[]),
        with(&["explain"], &missing, &[]),
        with(&["compare", "Cargo.toml"], &missing, &[]),
        with(&["run", "examples/reverse.k", "--baseline"], &missing, &[]),
        with(
            &["run", "examples/reverse.k", "--html"],
            &format!("{missing}/x"),
            &[],
        ),
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = within(&args);
        for text in [&output.stdout, &output.stderr] {
            let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!text.contains(obeyed), "{args:?}: {text:?}");
        }
        let all = output.stdout + &output.stderr;
        assert!(
            all.contains("we?]0;title??[2Jird") || !all.contains("title"),
            "{args:?}: {all}"
        );
    }
    let args = with(&["run", "--format", "json"], &path, &launch);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(within(&args).json()["program"], path.as_str());
}
