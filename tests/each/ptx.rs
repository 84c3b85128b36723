//! PTX: the text for some examples, and that NVIDIA's assembler accepts the PTX of every example and program for four generations.

use std::{env, fs, path::PathBuf, process::Command};

use libtest_mimic::Trial;

use crate::{
    each, stem,
    support::{SHOWN, dslc, header, ran, root},
};

/// The architectures for which PTX is assembled.
const ARCHITECTURES: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_100"];

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each("ptx", "examples", 20, text_of);
    for folder in ["examples", "tests/programs"] {
        let what = format!("assembles::{folder}");
        match ptxas() {
            Some(ptxas) => all.extend(each(&what, folder, 20, move |file, source| {
                assembles(&ptxas, file, source)
            })),
            // setup.sh downloads it.
            None => all.push(
                Trial::test(format!("{what} (no ptxas in PATH or target/ptxas)"), || {
                    Ok(())
                })
                .with_ignored_flag(true),
            ),
        }
    }
    all
}

fn ptx(args: &[&str]) -> String {
    let mut all = vec!["ptx"];
    all.extend(args);
    let output = dslc(&all);
    let error = output.stderr;
    assert_eq!(output.code, Some(0), "{args:?}\n{error}");
    output.stdout
}

fn text_of(file: &str, _: &str) -> Result<(), String> {
    let made = ptx(&["--arch", "sm_90", "--no-lines", file]);
    if SHOWN.contains(&stem(file)) {
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/ptx", description => format!("dslc ptx --arch sm_90 --no-lines {file}"), omit_expression => true }, {
            insta::assert_snapshot!(format!("{}.sm_90", stem(file)), made);
        });
    }
    Ok(())
}

/// NVIDIA's assembler: the one in PATH, or the one that `setup.sh` downloaded.
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

fn assembles(ptxas: &PathBuf, file: &str, source: &str) -> Result<(), String> {
    if !header(source, "not yet").is_empty() {
        return Ok(());
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("assembled");
    fs::create_dir_all(&folder).expect("a folder");
    for arch in ARCHITECTURES {
        let text_of_ptx = ptx(&["--arch", arch, file]);
        // A program with only host code has nothing to assemble.
        if !text_of_ptx.contains(".entry") {
            continue;
        }
        let input = folder.join(format!("{}.{arch}.ptx", stem(file)));
        fs::write(&input, &text_of_ptx).expect("written");
        let output = ran(Command::new(ptxas)
            .args(["--gpu-name", arch, "--opt-level", "1"])
            .args(["--generate-line-info", "--output-file"])
            .arg(input.with_extension("cubin"))
            .arg(&input));
        if output.code != Some(0) {
            return Err(format!("{arch}: {}", output.stderr));
        }
    }
    Ok(())
}
