//! Random modules with all instructions: LLVM accepts the back end's text, and NVIDIA's assembler accepts the PTX.

use std::{env, fs, path::PathBuf, process::Command};

use codegen_ptx::{Error, Options, Target, ptx};
use ir::symbol::kernel_symbol;
use ir::{Module, Object, infer_spaces, random};

/// The number of modules for LLVM, some of which are assembled too.
const MODULES: u64 = 300;
const ASSEMBLED: u64 = 60;

/// A module as generated, with generic pointers; for every other seed the spaces are inferred.
fn module(seed: u64) -> Module {
    let mut module = random::module(seed, random::Options { plain: false });
    // Of random initial addresses, PTX accepts those of variables that are already defined.
    for (index, global) in module.globals.iter_mut().enumerate() {
        global.relocations.retain(|(_, object, _)| match object {
            Object::Global(id) => id.index() < index,
            Object::Shared(_) | Object::Local(_) | Object::String(_) => true,
        });
        for (_, _, addend) in &mut global.relocations {
            *addend = addend.rem_euclid(64);
        }
    }
    if !seed.is_multiple_of(2) {
        infer_spaces(&mut module);
    }
    module
}

fn options(seed: u64) -> Options {
    let archs = ["sm_75", "sm_90", "sm_100", "sm_80"];
    Options {
        arch: Target::parse(archs[(seed / 2 % 4) as usize]).expect("a target"),
        opt_level: if seed.is_multiple_of(8) { 0 } else { 3 },
        lines: (!seed.is_multiple_of(3)).into(),
    }
}

#[test]
fn llvm_takes_random_modules() {
    for seed in 0..MODULES {
        let module = module(seed);
        let options = options(seed);
        let text = ptx(&module, &options).unwrap_or_else(|error| {
            panic!("seed {seed}: {error}\n{}", ir::print(&module));
        });
        for (id, _) in module.kernels() {
            assert!(
                text.contains(&kernel_symbol(&module, id)),
                "seed {seed}\n{text}"
            );
        }
    }
}

#[test]
fn older_targets_refuse_or_take_random_modules() {
    for seed in 0..40 {
        let options = Options {
            arch: Target::parse("sm_50").expect("a target"),
            ..options(seed)
        };
        match ptx(&module(seed), &options) {
            Ok(_) | Err(Error::Unsupported { .. }) => {}
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
}

/// NVIDIA's assembler: the one in PATH, or the one that `setup.sh` downloaded.
fn ptxas() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let fetched = root.join("target/ptxas/nvidia/cu13/bin");
    env::split_paths(&env::var_os("PATH")?)
        .chain([fetched])
        .map(|folder| folder.join("ptxas"))
        .find(|path| path.is_file())
}

#[test]
fn ptxas_takes_random_modules() {
    let Some(ptxas) = ptxas() else {
        #[expect(clippy::print_stderr, reason = "a test that did nothing has to say so")]
        {
            eprintln!("SKIPPED: no ptxas in PATH or target/ptxas; setup.sh fetches it");
        }
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for seed in 0..ASSEMBLED {
        let options = options(seed);
        let text = ptx(&module(seed), &options).expect("tested above");
        let input = folder.join(format!("random{seed}.ptx"));
        fs::write(&input, &text).expect("written");
        let output = Command::new(&ptxas)
            .args(["--gpu-name", &options.arch.to_string(), "--output-file"])
            .arg(input.with_extension("cubin"))
            .arg(&input)
            .output()
            .expect("ptxas starts");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {message}", input.display());
    }
}
