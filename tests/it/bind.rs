//! `dslc bind`: kernels as a Rust module.

use std::{fs, process::Command};

use crate::support::{dslc, has, ran, root};

#[test]
fn the_module_in_the_repository_is_what_the_command_writes() {
    let folder = root().join("dslc/tests/bound");
    let output = ran(Command::new(env!("CARGO_BIN_EXE_dslc"))
        .current_dir(&folder)
        .args(["bind", "../kernels/particles.k"]));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let path = folder.join("particles.rs");
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        fs::write(&path, &output.stdout).expect("the module can be written");
    }
    let kept = fs::read_to_string(&path).expect("the module");
    assert_eq!(output.stdout, kept, "INSTA_UPDATE=always writes it");
}

#[test]
fn a_mistake_in_a_kernel_is_told_and_nothing_is_written() {
    let output = dslc(&["bind", "dslc/tests/mistakes/kernels/two.k"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.is_empty());
    let stderr = output.stderr;
    has(&stderr, "undeclared");
    has(&stderr, "nothing");
}

#[test]
fn instances_have_the_names_that_were_asked_for() {
    let bind = |kernel: &str| {
        let output = dslc(&[
            "bind",
            "tests/features/3_template_kernel.k",
            "--kernel",
            kernel,
        ]);
        (output.code, output.stderr)
    };
    let (code, stderr) = bind("nothing<float>");
    assert_eq!(code, Some(1), "{stderr}");
    let (code, stderr) = bind("nothing");
    assert_eq!(code, Some(2), "{stderr}");
    has(&stderr, "name<float, 2>");
}

#[test]
fn ir_becomes_ptx() {
    if cfg!(not(feature = "ptx")) {
        return;
    }
    let folder = std::env::temp_dir().join(format!("dslc-ir-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("k.ir");
    let ir = dslc(&["ir", "examples/vec_add.k"]);
    fs::write(&path, &ir.stdout).expect("the IR can be written");
    let of_ir = dslc(&["ptx", path.to_str().expect("a path"), "--arch", "sm_80"]);
    let of_source = dslc(&["ptx", "examples/vec_add.k", "--arch", "sm_80"]);
    assert_eq!(of_ir.code, Some(0), "{}", of_ir.stderr);
    let instructions = |text: String| text.lines().filter(|line| line.contains(';')).count();
    assert_eq!(instructions(of_ir.stdout), instructions(of_source.stdout));
    fs::write(&path, "kernel").expect("it can be written");
    let broken = dslc(&["ptx", path.to_str().expect("a path")]);
    assert_eq!(broken.code, Some(2), "{}", broken.stderr);
    fs::remove_dir_all(&folder).expect("the folder was made");
}
