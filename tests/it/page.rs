//! `--html`: the page is complete, equal for equal runs, of limited size, and contains only escaped text of the program. `browser` loads it
//! in Chromium.

mod browser;

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use super::support::{dslc, root};

/// Most bytes of a page, plus a little for its end.
const MAX_BYTES: usize = (8 << 20) + (256 << 10);

/// The picture in README, and the command that makes it.
const PICTURE: &str = "pictures/padding.svg";
const PICTURE_COMMAND: &[&str] = &[
    "banks",
    "tile[lane][0]",
    "tile[lane][0]",
    "--array",
    "float[32][32]",
    "--array",
    "float[32][33]",
    "--svg",
];

fn folder() -> PathBuf {
    let folder = root().join("target/tmp/page");
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn file(name: &str, contents: &str) -> String {
    let path = folder().join(name);
    fs::write(&path, contents).expect("the test's file");
    path.to_string_lossy().into_owned()
}

/// The page of a run.
fn page(name: &str, args: &[&str]) -> String {
    let path = folder().join(name);
    let target = path.to_string_lossy().into_owned();
    let mut all = vec!["run", "--html", &target];
    all.extend(args);
    let output = dslc(&all);
    let error = output.stderr;
    assert!(matches!(output.code, Some(0 | 1)), "{error}");
    fs::read_to_string(path).expect("the page")
}

/// The page without its style sheet and script, which are files in the repository.
fn body(page: &str) -> String {
    let mut page = page.to_string();
    for (start, end) in [("<style>\n", "</style>"), ("<script>\n", "</script>")] {
        let from = page.find(start).expect("it is there") + start.len();
        let to = from + page[from..].find(end).expect("it ends");
        page.replace_range(from..to, "…\n");
    }
    page
}

#[test]
fn a_small_page_is_as_it_was() {
    let page = page("small.html", &["tests/page/small.k"]);
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/page", description => "dslc run --html FILE tests/page/small.k", omit_expression => true }, {
        insta::assert_snapshot!("small", body(&page));
    });
}

#[test]
fn equal_runs_make_equal_pages() {
    for program in [
        "examples/transpose.k",
        "examples/histogram.k",
        "tests/page/small.k",
    ] {
        let one = page("one.html", &["--jobs", "1", program]);
        let two = page("two.html", &["--jobs", "2", program]);
        assert!(one == two, "{program}: the pages differ");
    }
}

#[test]
fn nothing_of_a_program_is_markup() {
    let program = "// </script><script>alert(1)</script>\n#include <stdio.h>\n__global__ void k(int *p) { p[threadIdx.x * 9] = 1; } // <img src=x onerror=alert(2)>\n\
        int main() {\n    int *p;\n    cudaMalloc(&p, 4096);\n    k<<<1, 32>>>(p);\n    cudaDeviceSynchronize();\n    cudaFree(p);\n\
        printf(\"<script>alert(3)</script> \\x01 & \\\"'\\n\");\n}\n";
    let name = file("x<script>alert(4)&\"'.k", program);
    let page = page("escaped.html", &[&name]);
    assert_eq!(page.matches("<script>").count(), 1, "our own");
    assert_eq!(page.matches("</script>").count(), 1, "our own");
    assert!(!page.contains("<img") && !page.contains('\u{1}'));
    for alert in 1..=3 {
        assert!(
            page.contains(&format!("alert({alert})")),
            "it is shown as text"
        );
    }
    assert!(page.contains("x&lt;script&gt;alert(4)&amp;&quot;&#39;.k</h1>"));
}

#[test]
fn without_javascript_all_is_there() {
    let page = page("plain.html", &["examples/transpose.k"]);
    let (before, script) = page.split_once("<script>").expect("our script");
    assert!(script.trim_end().ends_with("</html>"), "it comes last");
    for said in [
        ">3968</a>",
        ">4608<td",
        ">640<td",
        "id=L48>",
        "id=site-3-",
        "4096 shared transactions, 128 would do",
        "Cure, proved:",
        "<title>lane 31: byte 3968, bank 0, pass 32</title>",
    ] {
        assert!(before.contains(said), "{said}");
    }
    // The page loads nothing.
    for asks in ["http:", "https:", "src=", "@import", "url("] {
        let own = before.replace("http-equiv", "");
        let own = own.replace("http://www.w3.org", "");
        assert!(!own.contains(asks), "{asks}");
    }
}

#[test]
fn each_link_leads_somewhere() {
    for program in [
        "examples/transpose.k",
        "tests/page/small.k",
        "tests/screen/missing_barriers.k",
    ] {
        let page = page("links.html", &[program]);
        for link in page.split("href=\"#").skip(1) {
            let id = link.split('"').next().expect("it ends");
            let there = [
                format!(" id={id}>"),
                format!(" id={id} "),
                format!(" id=\"{id}\""),
            ];
            assert!(
                there.iter().any(|there| page.contains(there)),
                "{program}: #{id}"
            );
        }
    }
}

#[test]
fn included_files_of_the_user_are_shown() {
    let page = page("included.html", &["tests/page/small.k"]);
    assert!(page.contains("One element of a row") && page.contains("id=f1-L2>"));
    assert!(
        !page.contains("&lt;cuda runtime&gt;"),
        "the library's are not"
    );
}

#[test]
fn a_long_program_with_many_launches_has_a_page() {
    let mut program = String::from(
        "__global__ void k(int *p, int n) {\n    __shared__ int s[2048];\n    s[threadIdx.x * 8 % 2048] = n;\n    for (int i = 0; i < n; i++) p[threadIdx.x * n] = s[threadIdx.x];\n}\n",
    );
    for line in 0..20_000 {
        let _ = writeln!(program, "// line {line} <of> very many");
    }
    program += "int main() {\n    int *p;\n    cudaMalloc(&p, 32 * 301 * 4);\n    for (int i = 1; i <= 300; i++) k<<<1, 32>>>(p, i);\n    cudaDeviceSynchronize();\n    cudaFree(p);\n}\n";
    let program = file("long.k", &program);
    let page = page("long.html", &["--no-checks", "--cures", "never", &program]);
    assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
    assert!(page.contains("line 19999 &lt;of&gt;") && page.contains("id=launch-299>"));
    assert!(!page.contains("left out"), "there is room for it");
}

#[test]
fn what_is_too_much_is_left_out_and_said() {
    let mut program = String::from("__global__ void k(int *p) { p[threadIdx.x * 8] = 1; }\n");
    for line in 0..20_000 {
        let _ = writeln!(program, "// {line} {}", "many words ".repeat(30));
    }
    program += "int main() {\n    int *p;\n    cudaMalloc(&p, 4096);\n    k<<<1, 32>>>(p);\n    cudaFree(p);\n}\n";
    let program = file("larger.k", &program);
    let page = page("larger.html", &["--cures", "never", &program]);
    assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
    assert!(page.contains("lines of the program&#39;s text are left out"));
    assert!(
        page.contains("<tr id=L1>") && page.contains("… ") && page.contains("lines are left out\n")
    );
}

#[test]
fn a_page_is_written_whole_or_not_at_all() {
    let refused = |args: &[&str], why: &str| {
        let output = dslc(args);
        let error = output.stderr;
        assert_eq!(output.code, Some(2), "{args:?}: {error}");
        assert_eq!(error.matches(why).count(), 1, "{args:?}: {error}");
    };
    let program = file("own.k", "int main() { return 0; }\n");
    refused(
        &["run", &program, "--html", &program],
        "is the program itself",
    );
    refused(
        &["run", &program, "--html", "/no/such/folder/a.html"],
        "there is no such folder",
    );
    refused(
        &[
            "run",
            "examples/reverse.k",
            "--device",
            "gpu",
            "--html",
            "a.html",
        ],
        "--html needs the simulator",
    );
    refused(
        &["banks", "s[lane]", "--html", "a.x", "--svg", "a.x"],
        "written by --html already",
    );
    if Path::new("/dev/full").exists() {
        refused(
            &["run", "examples/reverse.k", "--html", "/dev/full"],
            "cannot write `/dev/full`: no space left on device",
        );
        refused(
            &["banks", "s[lane]", "--svg", "/dev/full"],
            "cannot write `/dev/full`: no space left on device",
        );
    }
    // A program that does not compile leaves an existing page.
    let old = file("old.html", "old");
    let broken = file("broken.k", "int main() { return nothing; }\n");
    assert_eq!(dslc(&["run", &broken, "--html", &old]).code, Some(1));
    assert_eq!(fs::read_to_string(old).expect("it is there"), "old");
}

#[test]
fn the_picture_in_readme_is_what_its_command_makes() {
    let made = folder().join("padding.svg").to_string_lossy().into_owned();
    let args = [PICTURE_COMMAND, &[&made]].concat();
    let output = dslc(&args);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let made = fs::read_to_string(made).expect("the picture");
    let kept = fs::read_to_string(root().join(PICTURE)).expect("the picture");
    assert!(
        made == kept,
        "{PICTURE} is not what `dslc {} {PICTURE}` makes",
        PICTURE_COMMAND.join(" ")
    );
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let command = format!(
        "dslc banks 'tile[lane][0]' 'tile[lane][0]' --array 'float[32][32]' --array 'float[32][33]' --svg {PICTURE}"
    );
    assert!(readme.contains(&command) && readme.contains(&format!("]({PICTURE})")));
}
