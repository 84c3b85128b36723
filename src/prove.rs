//! Runs the program with other texts, sizes and data, to look for cures.

use std::sync::Arc;

use cure::{Further, Run, Runner};
use interp::{BothOrders, Check, MachineConfig, Program, Schedule, Shortcuts, finding::Depends};
use ir::{
    Module,
    source::{Included, Loader, SourceFile, SourceMap},
};
use report::{
    Model, Suggestion,
    findings::{self, Found},
};
use runtime::{
    device::simulator::Simulator,
    host::{Io, Note, Outcome},
};

use crate::{
    args::{Cures, SourceArgs},
    back_end,
    execute::{self, What},
    failure::Failure,
    source::{self, Files},
};

/// Most warp instructions of a run after which cures are looked for without a request: a small part of a second for each cure.
const FEW_INSTRUCTIONS: u64 = 1_000_000;

/// Most bytes that a program may print for its cures to be proved: outputs are compared byte for byte.
pub(crate) const MAX_COMPARED: usize = 1 << 20;

/// A run with edits may take this many times the instructions of the first run, plus a constant.
const MAX_TIMES: u64 = 8;
const SOME_MORE: u64 = 1_000_000;

/// The limit of a search without a request: about a second. A compilation counts as a number of instructions.
const SEARCH_INSTRUCTIONS: u64 = 16_000_000;
const COMPILATION: u64 = 100_000;
/// The limit of a search on request: this many times the run, plus a constant.
const SEARCH_TIMES: u64 = 200;
/// A round of clocks over all blocks takes as long as this many instructions for each pair of blocks.
const PAIRS_OF_BLOCKS: u64 = 16;

/// How the first run was made.
#[derive(Clone)]
pub(crate) struct Prover<'a> {
    pub(crate) source: &'a SourceArgs,
    pub(crate) module: &'a Arc<Module>,
    pub(crate) map: &'a SourceMap,
    pub(crate) machine: MachineConfig,
    pub(crate) what: What<'a>,
    /// The instructions that further runs may still take; `None`: unlimited.
    pub(crate) left: Option<u64>,
    /// Whether runs are counted as compiled, too.
    pub(crate) compiled: bool,
}

/// Whether to look for cures after a run.
pub(crate) fn is_wanted(wanted: Cures, outcome: &Outcome) -> bool {
    match wanted {
        Cures::Always => true,
        Cures::Never => false,
        Cures::Auto => instructions(outcome) <= FEW_INSTRUCTIONS,
    }
}

fn instructions(outcome: &Outcome) -> u64 {
    let kept = outcome.launches.kept().iter();
    let all = kept.map(|kept| {
        let times = kept.times();
        kept.report.counts.warp_instructions.saturating_mul(times)
    });
    all.fold(0, u64::saturating_add)
}

/// The cures of a run, which printed `stdout`. The first run's instructions limit those of each other run, and of all together.
pub(crate) fn cures(
    model: &Model<'_>,
    stdout: &[u8],
    wanted: Cures,
    mut prover: Prover<'_>,
) -> Vec<Suggestion> {
    let own = instructions(model.input.outcome);
    let most = own.saturating_mul(MAX_TIMES).saturating_add(SOME_MORE);
    // No cure is for memory that is read again, so this need not be counted.
    prover.machine.reuse = false;
    prover.machine.limit = Some(prover.machine.limit.map_or(most, |limit| limit.min(most)));
    prover.left = Some(match wanted {
        Cures::Always => SEARCH_INSTRUCTIONS.saturating_add(own.saturating_mul(SEARCH_TIMES)),
        Cures::Auto | Cures::Never => SEARCH_INSTRUCTIONS,
    });
    let cures = cure::cures(model, stdout, &mut prover);
    cures
        .into_iter()
        .map(|cure| weighed(model, cure, &prover))
        .collect()
}

/// A cure with what it saves as compiled. One that saves nothing there is an idea.
fn weighed(model: &Model<'_>, mut cure: Suggestion, prover: &Prover<'_>) -> Suggestion {
    let Some(measure) = cure.before.filter(|_| cure.verified) else {
        return cure;
    };
    let cost = |outcome: &Outcome| {
        let launch = outcome.launches.iter().nth(cure.launch)?;
        report::as_compiled(launch, &measure)
    };
    let Some(before) = cost(model.input.outcome) else {
        return cure;
    };
    let mut prover = Prover {
        compiled: true,
        left: None,
        ..prover.clone()
    };
    let texts = cure::edited(prover.map, &cure.edits);
    let run = texts.and_then(|texts| prover.run(&texts));
    let Some(after) = run.and_then(|run| cost(&run.outcome)) else {
        return cure;
    };
    if after >= before {
        let objection =
            format!("the compiler saves that itself: of {before}, {after} remain as compiled");
        return cure::as_idea(cure, objection);
    }
    cure.compiled = Some((before, after));
    cure
}

/// Drops findings that elements end up in other places under a schedule, if the program prints the same under it: a list in another order
/// that is sorted or added up afterwards.
pub(crate) fn leave_out_like(
    found: &mut Vec<Found>,
    (stdout, code): (&[u8], i32),
    prover: &Prover<'_>,
) {
    found.retain(|found| {
        let (Some(Depends::Places), Some(schedule)) = (found.how.depends, &found.schedule) else {
            return true;
        };
        let mut again = prover.clone();
        again.machine.schedule = Schedule::Adversarial(schedule.seed);
        again.machine.schedules.0 = 0;
        again.machine.both_orders = BothOrders::Never;
        let ran = again.run(&[]);
        ran.is_none_or(|ran| ran.stdout != stdout || ran.outcome.exit_code != code)
    });
}

impl Runner for Prover<'_> {
    fn module(&self) -> Arc<Module> {
        self.module.clone()
    }

    fn run(&mut self, texts: &[(String, String)]) -> Option<Run> {
        if texts.is_empty() {
            return self.ran(self.module.clone(), self.map.clone(), None);
        }
        if self.what.stop.asked().is_some() || !self.has_more() {
            return None;
        }
        self.spend(COMPILATION);
        let files = Files::new(&self.source.file, &self.source.include);
        let loader = Edited {
            files: &files,
            map: self.map,
            texts,
        };
        let name = self.source.file.display().to_string();
        let cuda_arch = source::cuda_arch(&self.machine.rules);
        let text = loader.text(&name)?;
        let mut map = SourceMap::new();
        let file = map.add(SourceFile::new(name, text));
        let module = source::compile(self.source, cuda_arch, &mut map, file, &loader).ok()??;
        self.ran(Arc::new(module), map, None)
    }

    fn run_module(&mut self, module: Module) -> Option<Run> {
        self.ran(Arc::new(module), self.map.clone(), None)
    }

    fn run_further(
        &mut self,
        module: &Arc<Module>,
        map: &SourceMap,
        further: &Further,
    ) -> Option<Run> {
        self.ran(module.clone(), map.clone(), Some(further))
    }

    fn has_more(&self) -> bool {
        self.left != Some(0)
    }

    fn affords(&self, times: u64) -> bool {
        let pairs = times.saturating_mul(times).saturating_mul(PAIRS_OF_BLOCKS);
        self.left.is_none_or(|left| pairs <= left)
    }

    fn arguments(&self) -> Option<Vec<String>> {
        let program = self.what.program;
        program.launch.is_empty().then(|| program.args.clone())
    }

    fn finds_races(&self) -> bool {
        self.machine.checks.has(Check::Race)
    }
}

impl Prover<'_> {
    fn spend(&mut self, instructions: u64) {
        self.left = self.left.map(|left| left.saturating_sub(instructions));
    }

    /// Runs the unchanged program. An error if it cannot be run, or prints too much to compare runs.
    pub(crate) fn first_run(&mut self) -> Result<Run, Failure> {
        let too_much =
            "it prints more than 1 MB, so that runs with and without a cure cannot be compared";
        let ran = self.try_ran(self.module.clone(), self.map.clone(), None)?;
        ran.ok_or_else(|| Failure::new(too_much))
    }

    fn ran(
        &mut self,
        module: Arc<Module>,
        map: SourceMap,
        further: Option<&Further>,
    ) -> Option<Run> {
        if self.what.stop.asked().is_some() || !self.has_more() {
            return None;
        }
        self.try_ran(module, map, further).ok()?
    }

    fn try_ran(
        &mut self,
        module: Arc<Module>,
        map: SourceMap,
        further: Option<&Further>,
    ) -> Result<Option<Run>, Failure> {
        let program = Program::new(module);
        let mut device = Simulator::new(self.machine.clone()).digesting();
        if self.compiled {
            let arch = self.machine.rules.arch;
            let compile = move |module: &Module| back_end::compiled(module, arch, Shortcuts::ALL);
            device = device.compiling(Box::new(compile));
        }
        let mut args = self.what.program.clone();
        match further {
            Some(Further::Launches(variation)) => device = device.varying(variation.clone()),
            Some(Further::Arguments(other)) => args.args.clone_from(other),
            None => {}
        }
        let what = What {
            program: &args,
            ..self.what
        };
        let mut io = Capture {
            stdout: vec![],
            is_too_much: false,
        };
        let ran = execute::execute(&what, &program, &mut device, &mut io)?;
        self.spend(instructions(&ran.outcome).saturating_add(COMPILATION / 8));
        if io.is_too_much || ran.unsaved.is_some() {
            return Ok(None);
        }
        let module = program.module();
        let line = |loc| report::line(module, &map, loc);
        let found = findings::all(&ran.outcome, module, &line);
        let name = |kernel| module.function(kernel).name.clone();
        Ok(Some(Run {
            module: module.clone(),
            findings: found,
            map,
            outcome: ran.outcome,
            stdout: io.stdout,
            digest: device.digest(),
            memory_digest: device.memory_digest(),
            aliased: device.aliased().map(name).collect(),
            has_varied: device.has_varied() || matches!(further, Some(Further::Arguments(_))),
        }))
    }
}

/// The files of the first run, some of them with other texts.
struct Edited<'a> {
    files: &'a Files,
    map: &'a SourceMap,
    texts: &'a [(String, String)],
}

impl Edited<'_> {
    fn text(&self, name: &str) -> Option<String> {
        if let Some((_, text)) = self.texts.iter().find(|(known, _)| known == name) {
            return Some(text.clone());
        }
        let (_, file) = self.map.files().find(|(_, file)| file.name == name)?;
        Some(file.text.clone())
    }
}

impl Loader for Edited<'_> {
    fn load(&self, name: &str, from: &str) -> Option<Result<Included, String>> {
        let found = self.files.load(name, from)?;
        Some(found.map(|mut included| {
            if let Some(text) = self.text(&included.full_name) {
                included.text = text;
            }
            included
        }))
    }
}

/// Keeps the program's output.
struct Capture {
    stdout: Vec<u8>,
    is_too_much: bool,
}

impl Io for Capture {
    fn stdout(&mut self, bytes: &[u8]) {
        if self.stdout.len() + bytes.len() > MAX_COMPARED {
            self.is_too_much = true;
        } else {
            self.stdout.extend_from_slice(bytes);
        }
    }

    fn stderr(&mut self, _: &[u8]) {}

    fn note(&mut self, _: &Note) {}
}
