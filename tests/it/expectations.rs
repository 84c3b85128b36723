//! `dslc test`: the output for tests that pass and fail, and what `--bless` and `--junit` write. The expectations are described in
//! `docs/test.md`, whose examples are tests, too.

use std::{fs, path::PathBuf};

use crate::support::{dslc, has};

const HEAD: &str = "__global__ void k(int *x)\n{\n    __shared__ int s[32][32];\n";
const MAIN: &str = "}\nint main()\n{\n    int *x;\n    cudaMalloc(&x, 4096);\n    k<<<1, 32>>>(x);\n    cudaDeviceSynchronize();\n    cudaFree(x);\n    return 3;\n}\n";

/// A folder with these programs; its path.
fn folder(name: &str, programs: &[(&str, String)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    for (file, text) in programs {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    folder
}

/// A store to a column, with these comments on its line and at the top.
fn program(above: &str, line: &str) -> String {
    format!(
        "{above}{HEAD}    s[threadIdx.x][0] = 1; {line}\n    x[threadIdx.x] = s[threadIdx.x][0];\n{MAIN}"
    )
}

#[test]
fn a_list_tells_what_passed_failed_and_expected_nothing() {
    let folder = folder(
        "expectations_list",
        &[
            (
                "a.cu",
                program(
                    "//~ exit 3\n//~ arch sm_35 sm_90\n",
                    "//~ transactions <= 32",
                ),
            ),
            ("below/b.k", program("//~ exit 3\n", "//~ conflict-free")),
            ("c.cu", program("", "")),
            ("d.txt", program("//~ exit 1\n", "")),
            (".hidden/e.cu", program("//~ exit 1\n", "")),
        ],
    );
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", folder.join("f.cu")).expect("linked");
    let path = folder.to_string_lossy();
    let output = dslc(&["test", &path]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(1), ""));
    let lines: Vec<String> = output
        .stdout
        .replace(&*path, "")
        .lines()
        .map(str::to_string)
        .collect();
    let (counts, expected) = ("1 launch, 3 accesses", "2 expectations");
    assert_eq!(
        lines[..4],
        [
            format!("test /a.cu sm_35 ... ok ({expected}, {counts})"),
            format!("test /a.cu sm_90 ... ok ({expected}, {counts})"),
            format!("test /below/b.k ... FAILED ({expected}, {counts})"),
            "test /c.cu ... no expectations".to_string(),
        ]
    );
    has(
        &output.stdout,
        "b.k:5: expected `conflict-free`: store of `s[threadIdx.x][0]`: 32 transactions, 1 without conflicts\n",
    );
    // Hidden files are skipped, and so are links to other folders.
    has(
        &output.stdout,
        "FAILED. 2 passed; 1 failed; 1 without expectations",
    );
    let output = dslc(&["test", &path, "--filter", "sm_90"]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    has(&output.stdout, "ok. 1 passed; 0 failed; 0 without");
    let output = dslc(&["test", &path, "--filter", "nothing"]);
    assert_eq!(output.code, Some(1));
    has(&output.stdout, "there was nothing to test");
}

#[test]
fn what_looked_at_nothing_and_what_means_nothing_fails() {
    let cases = [
        (
            "//~ clean\n//~ exit 3\n",
            "//~ sectors nowhere[i] <= 3",
            "it looked at nothing: no launch executed the access of `sectors(nowhere[i])`",
        ),
        (
            "//~ exit 3\n",
            "//~ conflictfree",
            "there is no expectation `conflictfree`: did you mean `conflict-free`?",
        ),
        (
            "//~ exit 3\n//~ options --html x.html\n",
            "",
            "a test has no --html",
        ),
        (
            "//~ exit 3\n//~ options --no-such\n",
            "",
            "unexpected argument '--no-such' found",
        ),
        ("//~ exit 3\n", "//~ race", "no `race` was found"),
        (
            "//~ exit 3\n//~ options -I /etc\n",
            "",
            "`/etc` is neither below the test's folder",
        ),
        (
            "//~ exit 3\n//~ options --rules /etc/passwd\n",
            "",
            "`/etc/passwd` is neither below",
        ),
        (
            "//~ exit 3\n//~ options --buffer x=@/etc/passwd --launch k<<<1,32>>>(x)\n",
            "",
            "`/etc/passwd` is neither below",
        ),
        ("//~ prints hello\n", "", "it printed nothing"),
        ("//~ clean\n", "", "it ended with exit code 3"),
    ];
    for (at, (above, line, why)) in cases.into_iter().enumerate() {
        let file = format!("{at}.cu");
        let folder = folder(
            &format!("expectations_{at}"),
            &[(&file, program(above, line))],
        );
        let output = dslc(&["test", &folder.to_string_lossy()]);
        assert_eq!(output.code, Some(1), "{above}{line}");
        has(&output.stdout, why);
    }
    let output = dslc(&["test", "no/such/folder"]);
    assert_eq!(output.code, Some(2));
}

#[test]
fn a_program_without_end_and_one_that_does_not_compile_are_failures() {
    let folder = folder(
        "expectations_ends",
        &[
            ("a.cu", "//~ clean\nint main() { while (1); }\n".to_string()),
            ("b.cu", "//~ clean\nint main() { return x; }\n".to_string()),
        ],
    );
    // Comments cannot ask for more.
    let long = "//~ clean\n//~ options --timeout 500\nint main() { while (1); }\n";
    fs::write(folder.join("c.cu"), long).expect("written");
    let output = dslc(&["test", &folder.to_string_lossy(), "--timeout", "0.2"]);
    assert_eq!(output.code, Some(1));
    has(&output.stdout, "a.cu: the --timeout of 0.2 s has expired");
    has(&output.stdout, "c.cu: the --timeout of 0.2 s has expired");
    has(
        &output.stdout,
        "b.cu:2: error[E0401]: there is no variable `x`",
    );
}

#[test]
fn bless_writes_what_was_seen() {
    let old = program("//~ exit 0\n", "//~ transactions <= 8 //~ race");
    let folder = folder("expectations_bless", &[("a.cu", old)]);
    let path = folder.to_string_lossy();
    let output = dslc(&["test", &path, "--bless"]);
    assert_eq!(output.code, Some(0));
    has(&output.stdout, "test result: ok. 1 passed; 0 failed");
    has(
        &output.stdout,
        "-    s[threadIdx.x][0] = 1; //~ transactions <= 8 //~ race\n+    s[threadIdx.x][0] = 1; //~ transactions <= 32\n",
    );
    let text = fs::read_to_string(folder.join("a.cu")).expect("the program");
    assert_eq!(text, program("//~ exit 3\n", "//~ transactions <= 32"));
    assert_eq!(dslc(&["test", &path]).code, Some(0));
}

#[test]
fn junit_has_each_test() {
    let folder = folder(
        "expectations_junit",
        &[
            (
                "a.cu",
                program("//~ exit 3\n", "//~ sectors x[\"<&\"] <= 1"),
            ),
            ("b.cu", program("//~ exit 3\n", "")),
            ("c.cu", program("", "")),
        ],
    );
    let file = folder.join("junit.xml");
    dslc(&[
        "test",
        &folder.to_string_lossy(),
        "--junit",
        &file.to_string_lossy(),
    ]);
    let xml = fs::read_to_string(file).expect("the results");
    has(&xml, "<testsuites tests=\"3\" failures=\"1\" skipped=\"1\"");
    has(&xml, "sectors x[&quot;&lt;&amp;&quot;] &lt;= 1");
    has(&xml, "<skipped message=\"no expectations\"/>");
    assert_eq!(xml.matches("<testcase ").count(), 3);
}

#[test]
fn what_no_comment_expects_is_told_with_its_kind_once() {
    let read = program("//~ exit 3\n", "").replace("s[threadIdx.x][0];", "s[0][threadIdx.x];");
    let folder = folder("expectations_unexpected", &[("a.cu", read)]);
    let output = dslc(&["test", &folder.to_string_lossy()]);
    assert_eq!(output.code, Some(1));
    has(
        &output.stdout,
        "a.cu:6: unexpected error uninitialized: `s[0][1]` has no value when line 6 reads it",
    );
}

#[test]
fn hand_ins_share_expectations_macros_and_options() {
    let racy = "__global__ void k(int *x)\n{\n    __shared__ int s[N];\n    s[threadIdx.x] = 1;\n    x[threadIdx.x] = s[N - 1 - threadIdx.x];\n}\n";
    let own = "#include \"student.cu\"\nint main()\n{\n    int *x;\n    cudaMalloc(&x, 4 * N);\n    k<<<1, N>>>(x);\n    cudaDeviceSynchronize();\n    cudaFree(x);\n}\n";
    let folder = folder(
        "expectations_hand_ins",
        &[
            ("one/wrapper.cu", own.to_string()),
            ("one/student.cu", racy.to_string()),
            (
                "expect.txt",
                "# all of them\n\nclean\n//~ conflict-free\n".to_string(),
            ),
        ],
    );
    let (wrapper, expect) = (folder.join("one/wrapper.cu"), folder.join("expect.txt"));
    let (wrapper, expect) = (wrapper.to_string_lossy(), expect.to_string_lossy());
    let common = ["test", &wrapper, "--expect", &expect];
    // One warp runs in lockstep; two race.
    let output = dslc(&[&common[..], &["-D", "N=64"]].concat());
    assert_eq!(output.code, Some(1));
    has(&output.stdout, "(2 expectations, 1 launch, 3 accesses)");
    // The fault is reported where it is, not in the program that includes that file.
    let place = wrapper.replace("wrapper", "student");
    has(
        &output.stdout,
        &format!("{place}:5: unexpected error race: "),
    );
    let options = ["-D", "N=32", "--options", "--sync-warps '"];
    let output = dslc(&[&common[..], &options].concat());
    assert_eq!(output.code, Some(2));
    has(
        &output.stderr,
        "--options `--sync-warps '`: a quotation mark is not closed",
    );
    let output = dslc(&[&common[..], &["-DN=64", "--options", "--no-checks"]].concat());
    has(&output.stdout, "test result: ok. 1 passed");
    fs::write(folder.join("expect.txt"), "claen\n").expect("written");
    let output = dslc(&common);
    assert_eq!(output.code, Some(2));
    has(
        &output.stderr,
        "expect.txt:1: there is no expectation `claen`: did you mean `clean`?",
    );
}
