//! Functions that targets share: compiling a text, running a module, making every report of a run.

use std::sync::Arc;

use interp::{
    BothOrders, Checks, MachineConfig, MemoryLimits, Order, Program, StopFlag,
    rules::{Arch, RuleSet},
};
use ir::{
    FuncId, Module,
    diagnostic::{Diagnostic, Severity, render::render},
    parse, print,
    source::{Included, Loader, SourceFile, SourceMap},
    verify,
};
use report::{
    Input, Model, Tables,
    findings::{self, baseline::Baseline},
    html, json, nvprof, sarif, text,
};
use runtime::{
    Budget,
    buffer::NpyFile,
    device::simulator::Simulator,
    host::{HostOptions, Io, Note, Outcome, run_main},
};

use crate::notice;

/// A machine for small programs, without checks, that stops at the first fault.
pub(crate) fn machine(limit: u64) -> MachineConfig {
    MachineConfig {
        rules: RuleSet::for_arch(Arch::SM_90),
        jobs: 1,
        limit: Some(limit),
        checks: Checks::NONE,
        order: Order::Ascending,
        both_orders: BothOrders::Never,
        schedule: interp::Schedule::default(),
        schedules: (0, 1),
        memory: interp::MemoryOrder::Strong,
        keep_going: false,
        trace: false,
        count_only: false,
        reuse: true,
        stop: StopFlag::default(),
        progress: interp::Progress::default(),
    }
}

/// A text in which lines `//@ NAME` begin the files that it includes.
pub(crate) struct Files<'a> {
    /// Up to the first such line.
    pub(crate) main: &'a str,
    others: Vec<(&'a str, &'a str)>,
}

impl<'a> Files<'a> {
    pub(crate) fn split(text: &'a str) -> Files<'a> {
        let mut parts = text.split("\n//@ ");
        let main = parts.next().unwrap_or_default();
        let others = parts.map(|part| part.split_once('\n').unwrap_or((part, "")));
        Files {
            main,
            others: others.collect(),
        }
    }
}

impl Loader for Files<'_> {
    fn load(&self, name: &str, _from: &str) -> Option<Result<Included, String>> {
        let found = self.others.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| {
            Ok(Included {
                full_name: name.to_string(),
                text: text.to_string(),
            })
        })
    }
}

/// A map with the text in it, as the file `fuzz.k`.
pub(crate) fn map_of(text: &str) -> (SourceMap, ir::span::FileId) {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("fuzz.k", text));
    (map, file)
}

pub(crate) fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    let mut severities = diagnostics.iter().map(|diagnostic| diagnostic.severity);
    severities.any(|severity| severity == Severity::Error)
}

/// Renders messages in every way.
pub(crate) fn show(diagnostics: &[Diagnostic], map: &SourceMap) {
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty(), "a message without words");
        notice(diagnostic.code.number());
        notice(&diagnostic.message);
    }
    let shown = render(diagnostics, map, false, Some(80));
    assert_eq!(shown.is_empty(), diagnostics.is_empty(), "{diagnostics:?}");
    render(diagnostics, map, true, Some(20));
    serde_json::to_string(&sarif::of_check(diagnostics, map)).expect("SARIF");
    let known = Baseline::of_messages(diagnostics, map);
    let mut left = diagnostics.to_vec();
    known.mute_messages(&mut left, map);
    assert!(left.is_empty(), "its own baseline does not mute {left:?}");
}

/// Checks that a generated module is valid, and that its text reads back.
pub(crate) fn sound(module: &Module, who: &str) {
    verify::assert_verified(module, who);
    let printed = print(module);
    let again = parse(&printed);
    let again = again.unwrap_or_else(|error| panic!("{who}: {error}\n{printed}"));
    assert_eq!(print(&again), printed, "{who}");
}

/// A program's output, and the notes about it.
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Printed {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Io for Printed {
    fn stdout(&mut self, bytes: &[u8]) {
        self.stdout.extend(bytes);
    }

    fn stderr(&mut self, bytes: &[u8]) {
        self.stderr.extend(bytes);
    }

    fn note(&mut self, note: &Note) {
        notice(&note.text);
    }
}

/// Most memory of a program.
pub(crate) const MEMORY_BYTES: u64 = 256 << 20;

/// The budget that `--limit` and `--memory` give a run.
pub(crate) fn budget(instructions: u64) -> Budget {
    Budget {
        instructions: Some(instructions),
        memory: MemoryLimits {
            all_bytes: Some(MEMORY_BYTES),
            ..MemoryLimits::default()
        },
    }
}

/// Runs `main` with at most `machine.limit` instructions, as `--limit` does.
pub(crate) fn run(
    program: &Program,
    main: FuncId,
    machine: MachineConfig,
) -> Option<(Outcome, Printed)> {
    let options = HostOptions {
        args: vec!["7".to_string(), "-x".to_string()],
        limit: None,
        budget: Budget {
            instructions: machine.limit,
            ..budget(0)
        },
        keep_going: machine.keep_going,
        stop: StopFlag::default(),
    };
    let mut printed = Printed::default();
    let mut device = Simulator::new(machine);
    let outcome = run_main(program, main, &options, &mut device, &mut printed).ok()?;
    for fault in &outcome.faults {
        if let runtime::host::Fault::Trap { trap, .. } | runtime::host::Fault::Skipped(trap) = fault
        {
            notice(&trap.to_string());
        }
    }
    Some((outcome, printed))
}

/// Makes every report of a run.
pub(crate) fn reports(program: &Arc<Module>, map: &SourceMap, outcome: &Outcome, stdout: &[u8]) {
    let line = |loc| report::line(program, map, loc);
    let mut found = findings::all(outcome, program, &line);
    for found in &found {
        notice(found.kind);
        notice(&found.message);
    }
    for (color, columns) in [(false, 80), (true, 30)] {
        findings::render::all(&found, program, map, color, columns);
    }
    let known = Baseline::of(&found);
    let again = Baseline::parse(&known.text().expect("a baseline")).expect("it reads back");
    again.mute(&mut found);
    assert!(
        found.iter().all(|found| found.muted),
        "its own baseline does not mute a finding"
    );
    let input = Input {
        program: &program.name,
        map,
        module: program,
        rules: &RuleSet::for_arch(Arch::SM_90),
        outcome,
        gpu: None,
        findings: &found,
        kernel: None,
        tables: Tables::None,
    };
    let model = Model::new(&input);
    text::report(&model, text::Style::plain(80));
    let each = Input {
        tables: Tables::Each,
        ..input
    };
    let each = Model::new(&each);
    let style = text::Style {
        columns: 30,
        color: true,
    };
    text::report(&each, style);
    html::page(&each, stdout);
    serde_json::to_string(&json::report(&model, stdout)).expect("the report");
    serde_json::to_string(&sarif::of_run(&model, &[])).expect("SARIF");
    let metrics = interp::metrics::all_metrics().collect::<Vec<_>>();
    nvprof::table(model.input, &metrics);
}

/// Bytes as a file.
pub(crate) fn npy(bytes: &[u8]) -> NpyFile<'_> {
    NpyFile {
        reader: Box::new(bytes),
        bytes: bytes.len() as u64,
    }
}
