//! Litmus tests of weak memory: `tests/litmus`. The header of each gives threads, an outcome, and whether the PTX memory model allows it
//! (`litmus/spec`). `litmus/model` has the model's axioms and checks that label. The program below the header is generated from it
//! (`litmus/text`). Under many schedules with weak memory, a forbidden outcome never appears, and an allowed one does, unless the header
//! says why not. `tests/litmus/README.md` is a table generated from the headers. Random programs (`litmus/random`) never have a forbidden
//! outcome.
//!
//! A person writes only the header. `INSTA_UPDATE=always` writes the rest of the file, and the table.

mod model;
mod random;
mod spec;
mod text;

use std::{collections::BTreeMap, env, fmt::Write, fs, sync::Arc};

use interp::{
    BothOrders, Checks, MachineConfig, MemoryOrder, Order, Program, Progress, Schedule, StopFlag,
    rules::{Arch, RuleSet},
};
use ir::{
    diagnostic::render::render,
    source::{NoFiles, SourceFile, SourceMap},
};
use libtest_mimic::Trial;
use runtime::{
    device::simulator::Simulator,
    host::{HostOptions, Io, Note, find_main, run_main},
};
use spec::{Litmus, Places};

use crate::{
    each, one,
    support::{programs_in, root},
};

/// The number of schedules for a program.
const SCHEDULES: u64 = 300;

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each("litmus", "tests/litmus", 80, |file, source| {
        let litmus = Litmus::parse(source)?;
        let written = text::program(&litmus);
        if written != source {
            write(file, &written)?;
        }
        match (model::allows(&litmus), litmus.is_allowed) {
            (true, false) => return Err("the model allows it".to_string()),
            (false, true) => return Err("the model forbids it".to_string()),
            (true, true) | (false, false) => {}
        }
        match (
            seen(file, source, &litmus)?,
            litmus.is_allowed,
            &litmus.not_shown,
        ) {
            (Some(seed), false, _) => Err(format!("seen under adversarial:{seed}")),
            (Some(_), true, Some(_)) => Err("is shown: remove `not shown`".to_string()),
            (None, true, None) => Err(format!("not seen under {SCHEDULES} schedules")),
            (Some(_), true, None) | (None, _, _) => Ok(()),
        }
    });
    all.push(one("litmus::table", the_table_is_what_the_programs_say));
    all.push(one("litmus::random", random::only_what_the_model_allows));
    all
}

/// The first schedule under which a program has its outcome.
fn seen(file: &str, source: &str, litmus: &Litmus) -> Result<Option<u64>, String> {
    let wanted = format!("{}: ", litmus.outcome_text());
    let mut seen = None;
    runs(file, source, SCHEDULES, &mut |seed, printed| {
        if printed.lines().any(|line| line.starts_with(&wanted)) {
            seen = Some(seed);
        }
        seen.is_none()
    })?;
    Ok(seen)
}

/// Runs a program under `schedules` schedules: `then` gets the seed and the output of each, and returns whether to continue.
fn runs(
    file: &str,
    source: &str,
    schedules: u64,
    then: &mut dyn FnMut(u64, &str) -> bool,
) -> Result<(), String> {
    let mut map = SourceMap::new();
    let id = map.add(SourceFile::new(file, source));
    let compiled = dsl::compile(&mut map, id, &dsl::Options::default(), &NoFiles);
    let errors = render(&compiled.diagnostics, &map, false, None);
    let module = compiled.module.ok_or(errors)?;
    let program = Program::new(Arc::new(module));
    let main = find_main(&program).ok_or("no main()")?;
    for k in 0..schedules {
        let random = k.wrapping_mul(0x9e37_79b9) % (1 << 24);
        let seed = random << 8 | (k % 4) << 6 | (3 + k % 3);
        let machine = MachineConfig {
            rules: RuleSet::for_arch(Arch::SM_90),
            jobs: 1,
            limit: Some(1 << 20),
            checks: Checks::NONE,
            order: Order::Ascending,
            both_orders: BothOrders::Never,
            schedule: Schedule::Adversarial(seed),
            schedules: (0, 1),
            memory: MemoryOrder::Weak,
            keep_going: false,
            trace: false,
            count_only: false,
            reuse: true,
            stop: StopFlag::default(),
            progress: Progress::default(),
        };
        let mut printed = Printed::default();
        let mut device = Simulator::new(machine);
        let outcome = run_main(
            &program,
            main,
            &HostOptions::default(),
            &mut device,
            &mut printed,
        )?;
        if outcome.exit_code != 0 || !outcome.faults.is_empty() {
            return Err(format!(
                "ended with {}: {:?}",
                outcome.exit_code, outcome.faults
            ));
        }
        if !then(seed, &printed.0) {
            break;
        }
    }
    Ok(())
}

/// A program's output.
#[derive(Default)]
struct Printed(String);

impl Io for Printed {
    fn stdout(&mut self, bytes: &[u8]) {
        self.0.push_str(&String::from_utf8_lossy(bytes));
    }

    fn stderr(&mut self, _: &[u8]) {}

    fn note(&mut self, _: &Note) {}
}

fn write(file: &str, text: &str) -> Result<(), String> {
    if env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        return fs::write(root().join(file), text).map_err(|why| why.to_string());
    }
    Err(format!(
        "{file} is not what its header says: run this test with INSTA_UPDATE=always"
    ))
}

fn the_table_is_what_the_programs_say() -> Result<(), String> {
    let mut families: BTreeMap<String, String> = BTreeMap::new();
    for path in programs_in("tests/litmus") {
        let source = fs::read_to_string(&path).map_err(|why| why.to_string())?;
        let litmus = Litmus::parse(&source)?;
        let label = if litmus.is_allowed {
            "allowed"
        } else {
            "forbidden"
        };
        let shown = match (litmus.is_allowed, &litmus.not_shown) {
            (true, None) => "shown".to_string(),
            (true, Some(why)) => format!("not shown: {why}"),
            (false, _) => "never".to_string(),
        };
        let places = match &litmus.places {
            Places::Lanes => "one warp".to_string(),
            Places::Blocks(blocks) => match blocks.iter().max() {
                Some(0) => "one block".to_string(),
                most => format!("{} blocks", most.map_or(1, |most| most + 1)),
            },
        };
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_string();
        let rows = families.entry(litmus.family().to_string()).or_default();
        let _ = writeln!(
            rows,
            "| [{}]({name}) | {places} | {} | {label} | {shown} |",
            litmus.title,
            litmus.outcome_text()
        );
    }
    let mut text = TABLE.to_string();
    for rows in families.values() {
        text.push_str(rows);
    }
    match fs::read_to_string(root().join("tests/litmus/README.md")) {
        Ok(known) if known == text => Ok(()),
        _ => write("tests/litmus/README.md", &text),
    }
}

const TABLE: &str = "# Litmus tests of weak memory

Written from the programs' headers by `cargo test --test each -- litmus`; [docs/weak-memory.md](../../docs/weak-memory.md) says how to read it.
*allowed* and *forbidden* are what the PTX memory model says of the outcome; the test checks them against the model's axioms. *shown* is an outcome
that `dslc run --memory weak` shows, *never* one that it does not show under any of the 300 schedules tried.

The labels were written before the machine, and 29 of the tests were kept aside until it was done. Of those, 28 were as labelled at the first run.

| test | where | outcome | by the model | here |
|---|---|---|---|---|
";
