//! Runs the kept inputs of every target, and some that follow from a fixed seed: it takes seconds, and runs in every build.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests say what failed, and what was left out"
)]

use std::{fs, path::Path, thread};

use fuzz::{STACK_BYTES, mutate::Mutator, take_noticed};

/// Runs the kept inputs of a target, then `mutated` inputs of a mutator.
fn run(name: &str, mutated: usize) {
    let target = fuzz::find(name).expect("a target");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(name);
    let mut kept: Vec<_> = fs::read_dir(&folder)
        .map(|entries| {
            entries
                .map(|entry| entry.expect("an entry").path())
                .collect()
        })
        .unwrap_or_default();
    kept.sort();
    let work = move || {
        let mut mutator = Mutator::new(target, 1, Vec::new());
        let mut pool = Vec::new();
        for path in &kept {
            let input = fs::read(path).expect("an input");
            // Shown only where a test fails.
            println!("{}", path.display());
            (target.run)(&input);
            pool.push(input);
        }
        mutator.add(pool);
        for _ in 0..mutated {
            let input = mutator.input();
            println!("{}", input.escape_ascii());
            (target.run)(&input);
            mutator.learn(&input, &take_noticed());
        }
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    if let Err(panic) = thread.expect("a thread").join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn front() {
    run("front", 40);
}

#[test]
fn program() {
    run("program", 40);
}

#[test]
fn machine() {
    run("machine", 60);
}

#[cfg(feature = "ptx")]
#[test]
fn ptx() {
    run("ptx", 30);
}

#[test]
fn host() {
    run("host", 40);
}

#[test]
fn readers() {
    run("readers", 2_000);
}

#[test]
fn launch() {
    run("launch", 1_000);
}

#[test]
fn orders() {
    run("orders", 12);
}

#[test]
fn forms() {
    run("forms", 60);
}

#[test]
fn cpu() {
    if !fuzz::cpu::has_compiler() {
        eprintln!("SKIPPED: no C compiler (`cc`)");
        return;
    }
    run("cpu", 4);
}
