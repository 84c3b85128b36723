//! `--kernels`: handles the kernels of a CUDA file one by one, if its host code is not understood.

use std::{fs, path::PathBuf};

use crate::support::{dslc, has};

/// A separate folder with a file, and the file's path.
struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, files: &[(&str, &str)]) -> Folder {
        let folder =
            std::env::temp_dir().join(format!("dslc-kernels-{name}-{}", std::process::id()));
        for (file, source) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
            fs::write(path, source).expect("the file can be written");
        }
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Two valid kernels, an invalid one, and host code that dslc does not understand.
const FILE: &str = r#"
#include "project.h"
#include "project.h"
#include <project/config.h>
#include <vector>
#include <thrust/sort.h>

template <typename T, int N>
__global__ void scale(T *out, const T *in, T by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) out[i] = in[i] * by;
}

__global__ void odd(Unknown *p) { p->x = 1; }

__global__ void add(int *out, const int *in) { out[threadIdx.x] += in[threadIdx.x]; }

std::map<int, std::vector<Thing>> &things(auto &&...all)
{
    co_await thrust::sort(all...);
    return *new std::map<int, std::vector<Thing>>{};
}
"#;

/// The class is invalid because of its second base; there is no further message that it has no member `b`.
const BOTH: &str = "struct A { int a; };
struct B { int b; };
struct Both : A, B { int c; };
__device__ int sum(Both *p) { return p->b + p->c; }
__global__ void k(Both *p, int *d) { d[0] = sum(p); }
";

#[test]
fn a_kernel_is_not_understood_for_what_is_wrong_with_a_declaration() {
    let folder = Folder::with("both", &[("file.cu", BOTH)]);
    let output = dslc(&["check", "--kernels", &folder.path("file.cu")]);
    has(
        &output.stdout,
        "no   k:5  line 3: more than one base class is not supported yet\n",
    );
}

#[test]
fn each_kernel_is_said_to_be_understood_or_why_not() {
    let folder = Folder::with("each", &[("file.cu", FILE)]);
    let output = dslc(&["check", "--kernels", &folder.path("file.cu")]);
    assert_eq!(output.code, Some(1));
    let printed = output.stdout;
    assert_eq!(printed.matches("`project.h`").count(), 1, "{printed}");
    assert_eq!(
        printed.matches("`project/config.h`").count(),
        1,
        "{printed}"
    );
    has(&printed, "ok   scale:9 (tried with <float, 32>)\n");
    has(
        &printed,
        "no   odd:15  line 15: there is no type `Unknown`\n",
    );
    has(&printed, "ok   add:17\n");
    assert!(
        printed.ends_with("2 of 3 kernels understood\n"),
        "{printed}"
    );

    let output = dslc(&[
        "check",
        "--kernels",
        "--format",
        "json",
        &folder.path("file.cu"),
    ]);
    assert_eq!(output.code, Some(1));
    let report = output.json();
    assert_eq!(
        report["missing"].as_array().map(Vec::len),
        Some(2),
        "{report}"
    );
    let ok: Vec<bool> = report["kernels"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|kernel| kernel["ok"].as_bool().expect("a truth value"))
        .collect();
    assert_eq!(ok, [true, false, true]);
}

#[test]
fn headers_in_folders_of_the_command_line_are_read() {
    let header = "struct Unknown { int x; };\n";
    let files = [
        ("src/file.cu", FILE),
        ("include/project.h", header),
        ("include/project/config.h", "\n"),
    ];
    let folder = Folder::with("include", &files);
    // A file that is included twice without a guard is a separate error.
    let output = dslc(&[
        "check",
        "--kernels",
        "-I",
        &folder.path("include"),
        &folder.path("src/file.cu"),
    ]);
    let printed = output.stdout;
    assert!(!printed.contains("there is no file"), "{printed}");
    has(&printed, "ok   odd:15\n");
    assert_eq!(output.code, Some(0), "{printed}");
}

#[test]
fn an_instance_is_made_that_the_command_line_names() {
    let folder = Folder::with("instance", &[("file.cu", FILE)]);
    let file = folder.path("file.cu");
    let check = |kernel: &str| dslc(&["check", "--kernels", "--kernel", kernel, &file]);
    let output = check("scale<int, 40>");
    assert_eq!(output.code, Some(0));
    assert!(
        output
            .stdout
            .ends_with("ok   scale:9\n1 of 1 kernels understood\n")
    );
    let output = check("scale<Unknown, 40>");
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("there is no type `Unknown`"));
    assert_eq!(check("nobody").code, Some(2));

    let launch = "scale<int,40><<<2, 32>>>(out, in, 3)";
    let buffers = [
        "--buffer",
        "in=int[40]:iota",
        "--buffer",
        "out=int[40]",
        "--print",
        "out:4",
    ];
    let mut args = vec!["run", "--quiet", "--kernels", "--launch", launch];
    args.extend(buffers);
    args.push(&file);
    let output = dslc(&args);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(
        output.stdout.starts_with("out = 0 3 6 9"),
        "{}",
        output.stdout
    );
    let left_out = "note: the kernel `odd` is left out; line 15: there is no type `Unknown`";
    assert!(output.stderr.contains(left_out), "{}", output.stderr);
}

#[test]
fn the_understood_kernels_run_without_the_host_code() {
    let folder = Folder::with("run", &[("file.cu", FILE)]);
    let launch = "add<<<1, 4>>>(out, in)";
    let output = dslc(&[
        "run",
        "--quiet",
        "--kernels",
        &folder.path("file.cu"),
        "--launch",
        launch,
        "--buffer",
        "in=int[4]:iota",
        "--buffer",
        "out=int[4]:iota",
        "--print",
        "out:4",
    ]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(
        output.stdout.starts_with("out = 0 2 4 6"),
        "{}",
        output.stdout
    );
    let output = dslc(&[
        "run",
        "--kernels",
        &folder.path("file.cu"),
        "--launch",
        "odd<<<1, 4>>>(out)",
        "--buffer",
        "out=int[4]",
    ]);
    assert_eq!(output.code, Some(2));
}

#[cfg(feature = "ptx")]
#[test]
fn the_understood_kernels_become_ptx() {
    let folder = Folder::with("ptx", &[("file.cu", FILE)]);
    let file = folder.path("file.cu");
    let output = dslc(&[
        "ptx",
        "--arch",
        "sm_90",
        "--kernels",
        "--kernel",
        "scale<double, 7>",
        &file,
    ]);
    let ptx = output.stdout;
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    // The requested instance is the only one of its template.
    assert_eq!(ptx.matches(".visible .entry").count(), 2, "{ptx}");
    assert!(output.stderr.contains("the kernel `odd` is left out"));
}

/// Members that are not understood make the rest of the class's layout unknown.
#[test]
fn a_kernel_that_touches_a_class_of_unknown_layout_is_not_understood() {
    let source = "struct A { virtual int f(); }; struct B { virtual int g(); }; struct Both : A, B { int c; };\n\
        struct In { Both both; int x; };\n\
        struct V { int a; virtual int f(); };\n\
        struct Fine { int a; Both *both; };\n\
        __global__ void in(In *p) { p[threadIdx.x].x = 1; }\n\
        __global__ void v(V *p) { p[1].a = 1; }\n\
        __global__ void fine(Fine *p) { p[1].a = 1; }\n";
    let folder = Folder::with("layout", &[("file.cu", source)]);
    let output = dslc(&["check", "--kernels", &folder.path("file.cu")]);
    let printed = output.stdout;
    let expected = "no   in:5  line 1: more than one base class is not supported yet\n\
        ok   v:6\n\
        ok   fine:7\n2 of 3 kernels understood\n";
    assert_eq!(printed, expected);
}
