//! Tests the promises of SECURITY.md, sentence by sentence: what a program that dslc runs can access.
#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::support::{Ran, dslc_within, file, flat, has, ran, root};

const LIMIT: Duration = Duration::from_secs(20);

/// A folder with `project/main.k`, which includes the given file, and `secret.h` next to the project.
struct Place(PathBuf);

impl Place {
    fn new(name: &str, include: &str) -> Place {
        let folder = root().join("target/tmp/sandbox").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("project/part")).expect("a folder for the test");
        let place = Place(folder);
        place.write("secret.h", "int secret_word;\n");
        place.write(
            "project/main.k",
            &format!("#include {include}\nint main() {{ return 0; }}\n"),
        );
        place
    }

    fn write(&self, name: &str, contents: &str) {
        fs::write(self.0.join(name), contents).expect("the test's file");
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// Runs `dslc run` in the project's folder.
    fn run(&self, args: &[&str]) -> Ran {
        self.run_in("project", &[&["run"], args].concat())
    }

    fn run_in(&self, folder: &str, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dslc"));
        command.args(args).current_dir(self.0.join(folder));
        ran(command.stdin(Stdio::null()))
    }

    /// The program may not include that file, and learns nothing about it.
    fn refuses(&self, args: &[&str], why: &str) {
        let output = self.run(args);
        let error = output.stderr;
        assert_eq!(output.code, Some(1), "{args:?}: {error}");
        assert!(flat(&error).contains(why), "{args:?}: {error}");
        assert!(!error.contains("secret_word"), "{error}");
        assert_eq!(error.matches("Error:").count(), 1, "{error}");
    }

    fn accepts(&self, args: &[&str]) {
        let output = self.run(args);
        let error = output.stderr;
        assert_eq!(output.code, Some(0), "{args:?}: {error}");
    }
}

/// Runs a program's source.
fn run(name: &str, source: &str, args: &[&str]) -> Ran {
    let path = file(name, source);
    dslc_within(&[&["run", "-q", &path], args].concat(), LIMIT).expect("it ends")
}

const OUTSIDE: &str = "it is outside the program's folder";

#[test]
fn files_are_included_below_the_program_s_folder() {
    let place = Place::new("below", "\"part/own.h\"");
    place.write("project/part/own.h", "#include \"../more.h\"\n");
    place.write("project/more.h", "int more;\n");
    place.accepts(&["main.k"]);
    place.accepts(&[&place.path("project/main.k")]);
    place.accepts(&["../project/main.k"]);
}

#[test]
fn files_are_not_included_from_outside() {
    for include in [
        "\"../secret.h\"",
        "\"part/../../secret.h\"",
        "\"../project/../secret.h\"",
    ] {
        let place = Place::new("parent", include);
        place.refuses(&["main.k"], OUTSIDE);
        place.refuses(&["main.k"], "add `-I ..`");
        place.refuses(&["main.k", "-I", "part"], OUTSIDE);
        place.accepts(&["main.k", "-I", ".."]);
        // A missing file gives the same message: a program cannot find out which files exist.
        fs::remove_file(place.path("secret.h")).expect("the file");
        place.refuses(&["main.k"], OUTSIDE);
        place.refuses(&["main.k", "-I", ".."], "there is no file");
    }
    for (include, file) in [("/etc/passwd", true), ("/etc/no-such-file", false)] {
        let place = Place::new("absolute", &format!("\"{include}\""));
        assert_eq!(Path::new(include).exists(), file);
        place.refuses(&["main.k"], OUTSIDE);
        place.refuses(&["main.k", "-I", "/usr"], OUTSIDE);
        let place = Place::new("angles", &format!("<../../../../..{include}.h>"));
        place.refuses(&["main.k", "-I", "part"], OUTSIDE);
    }
    let place = Place::new("own_absolute", "\"placeholder\"");
    place.write("project/own.h", "int own;\n");
    let include = format!(
        "#include \"{}\"\nint main() {{}}\n",
        place.path("project/own.h")
    );
    place.write("project/main.k", &include);
    place.accepts(&["main.k"]);
}

#[test]
fn a_folder_is_named_as_the_user_would_type_it() {
    let place = Place::new("named", "\"../common/x.h\"");
    fs::create_dir(place.0.join("common")).expect("a folder");
    place.write("common/x.h", "int x;\n");
    place.refuses(&["main.k"], "add `-I ..`");
    place.accepts(&["main.k", "-I", ".."]);
    place.accepts(&["main.k", "-I", "../common"]);
    let output = place.run_in(".", &["run", "project/main.k"]);
    assert!(output.stderr.contains("add `-I .`"));
    let output = place.run_in(".", &["run", "project/main.k", "-I", "."]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
}

#[test]
fn links_do_not_lead_outside() {
    let place = Place::new("links", "\"link.h\"");
    symlink("../secret.h", place.0.join("project/link.h")).expect("a link");
    place.refuses(&["main.k"], OUTSIDE);
    place.accepts(&["main.k", "-I", ".."]);
    let place = Place::new("folder_links", "\"out/secret.h\"");
    symlink("..", place.0.join("project/out")).expect("a link");
    place.refuses(&["main.k"], OUTSIDE);
    // A link to one of the user's own files may be read like the file.
    let place = Place::new("own_links", "\"link.h\"");
    place.write("project/part/own.h", "int own;\n");
    symlink("part/own.h", place.0.join("project/link.h")).expect("a link");
    place.accepts(&["main.k"]);
}

#[test]
fn devices_and_pipes_are_not_included() {
    let place = Place::new("devices", "\"device.h\"");
    symlink("/dev/zero", place.0.join("project/device.h")).expect("a link");
    place.refuses(&["main.k"], "outside the program's folder");
    place.refuses(&["main.k", "-I", "/dev"], "it is a device, not a file");
    let place = Place::new("pipes", "\"pipe.h\"");
    let made = Command::new("mkfifo")
        .arg(place.0.join("project/pipe.h"))
        .status();
    assert!(made.expect("mkfifo").success());
    place.refuses(&["main.k"], "it is a named pipe, not a file");
    let place = Place::new("huge", "\"huge.h\"");
    let huge = fs::File::create(place.0.join("project/huge.h")).expect("a file");
    huge.set_len(10 << 30).expect("a large file");
    place.refuses(&["main.k"], "it is larger than");
    let place = Place::new("stdin", "\"fd/3\"");
    let line = format!("{} run /dev/stdin < main.k", env!("CARGO_BIN_EXE_dslc"));
    let project = place.0.join("project");
    let output = ran(Command::new("sh").args(["-c", &line]).current_dir(project));
    assert_eq!(output.code, Some(1), "{}", output.stderr);
}

#[test]
fn there_is_no_file_process_network_or_input() {
    let calls = [
        "fopen(\"x\", \"r\")",
        "freopen(\"x\", \"w\", stdout)",
        "open(\"x\", 0)",
        "remove(\"x\")",
        "mmap(0, 1, 1, 1, 1, 0)",
        "getchar()",
        "scanf(\"%d\", &x)",
        "fgets(buffer, 9, stdin)",
        "system(\"true\")",
        "popen(\"true\", \"r\")",
        "fork()",
        "execl(\"true\", \"true\")",
        "kill(1, 9)",
        "socket(1, 1, 0)",
        "dlopen(\"x\", 1)",
        "syscall(1)",
        "std::ifstream(\"x\")",
        "std::ofstream(\"x\")",
        "std::cin >> x",
        "asm(\"syscall\")",
        "cuModuleLoad(0, \"x\")",
    ];
    for (number, call) in calls.iter().enumerate() {
        let source = format!(
            "#include <stdio.h>\n#include <stdlib.h>\n#include <iostream>\n#include <fstream>\nint main()\n{{\n    int x = 0; char buffer[9];\n    {call};\n    return x + buffer[0] - buffer[0];\n}}\n"
        );
        let output = run(&format!("call_{number}.k"), &source, &[]);
        let error = output.stderr;
        assert_eq!(output.code, Some(1), "{call}: {error}");
        assert!(error.contains("[E"), "{call} is not refused: {error}");
    }
}

const LOOKS: &str = "#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <random>
#include <chrono>
__global__ void look(long long *t) { t[0] = clock64(); t[1] = clock(); }
int main(int argc, char **argv)
{
    long long *t;
    cudaMallocManaged(&t, 16);
    look<<<1, 1>>>(t);
    cudaDeviceSynchronize();
    std::random_device device;
    size_t left, all;
    cudaMemGetInfo(&left, &all);
    long long now = std::chrono::system_clock::now().time_since_epoch().count();
    const char *names[] = {\"PATH\", \"HOME\", \"USER\", \"SECRET\"};
    for (int i = 0; i < 4; i++)
        printf(\"%s\\n\", getenv(names[i]) ? getenv(names[i]) : \"not set\");
    printf(\"%ld %ld %lld %d %u %lld %lld %zu %p %d\\n\", (long)time(NULL), (long)clock(), now, rand(), device(), t[0], t[1],
           all - left, (void *)t, argc);
    for (int i = 1; i < argc; i++)
        printf(\"%s\\n\", argv[i]);
    cudaFree(t);
    return 0;
}
";

#[test]
fn neither_the_environment_nor_the_clock_is_seen() {
    let one = run("looks.k", LOOKS, &["--", "an argument"]);
    assert_eq!(one.code, Some(0), "{}", one.stderr);
    let seen = one.stdout;
    assert_eq!(seen.matches("not set\n").count(), 4, "{seen}");
    has(&seen, "\n1700000000 0 0 ");
    assert!(seen.ends_with(" 2\nan argument\n"), "{seen}");
    // Another user, folder, time, and number of CPUs: the output is the same.
    std::thread::sleep(Duration::from_millis(20));
    let path = root().join("target/tmp/sandbox/looks.k");
    let mut other = Command::new(env!("CARGO_BIN_EXE_dslc"));
    other.args(["run", "-q", "--jobs", "3"]).arg(path);
    other.args(["--", "an argument"]).current_dir("/");
    other.env("SECRET", "word").env("HOME", "/elsewhere");
    assert_eq!(ran(&mut other).stdout, seen);
}

#[test]
fn addresses_that_are_not_the_program_s_end_it() {
    let kernel = |body: &str| {
        format!(
            "__global__ void k(long long at) {{ {body} }}\nint main() {{ k<<<1, 1>>>(0x7f0000001000ll); return cudaDeviceSynchronize(); }}\n"
        )
    };
    for (name, source) in [
        ("host_read.k", "int main() { return *(int *)0x400000; }\n".to_string()),
        ("host_write.k", "int main() { *(int *)0x7fff00000000 = 1; return 0; }\n".to_string()),
        ("host_free.k", "#include <stdlib.h>\nint main() { free((void *)0x1234567); return 0; }\n".to_string()),
        ("host_copy.k", "#include <string.h>\nint main() { char x[8]; memcpy(x, (void *)0x400000, 8); return x[0]; }\n".to_string()),
        ("host_string.k", "#include <stdio.h>\nint main() { printf(\"%s\", (char *)0x400000); return 0; }\n".to_string()),
        ("device_read.k", kernel("if (*(int *)at) __trap();")),
        ("device_write.k", kernel("*(int *)at = 1;")),
        ("device_atomic.k", kernel("atomicAdd((int *)at, 1);")),
    ] {
        let output = run(name, &source, &[]);
        let error = output.stderr;
        assert_eq!(output.code, Some(1), "{name}: {error}");
        assert!(error.contains("[R01"), "{name}: {error}");
    }
}

#[test]
fn time_is_bounded_before_and_while_a_program_runs() {
    let endless = "int main() { unsigned s = 0; for (;;) s = s * 3 + 1; return s; }\n";
    let output = run("endless.k", endless, &["--timeout", "0.3"]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let output = run("endless.k", endless, &["--limit", "100000"]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let prints = "#include <stdio.h>\nint main() { for (;;) printf(\"on and on\\n\"); }\n";
    let output = run(
        "prints.k",
        prints,
        &["--timeout", "0.3", "--format", "json"],
    );
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    output.json();
}

#[test]
fn the_promise_is_written_down() {
    let promise = fs::read_to_string(root().join("SECURITY.md")).expect("SECURITY.md");
    for option in [
        "--limit",
        "--timeout",
        "--memory",
        "--jobs 1",
        "-I",
        "--device gpu",
        "verify",
    ] {
        assert!(promise.contains(option), "{option}");
    }
}
