//! Everything found in a run, in one form for all outputs: refused launches, traps and the checks' findings, in the order of the launches.
//!
//! All occurrences of one cause at one pair of lines are one finding, with the counts added up. Each finding has a fingerprint, by which
//! [`Baseline`](baseline::Baseline) recognises it. It is made of what stays the same when lines are added elsewhere: the code, the kernel
//! and the source text of the accesses. Findings with the same text are numbered, so that their fingerprints differ.

pub mod baseline;
pub mod groups;
pub mod lanes;
pub mod render;
pub(crate) mod schedule;
pub mod table;

use ir::symbol::template_name;
use std::collections::HashMap;

use interp::{
    Finding, FindingAccess, FindingKind, FindingOp, InvalidLaunch, Severity, Trap, TrapKind,
    finding::{Advice, Barrier, Depends, Fact, MissingBarrier, Scheduled, WitnessLanes},
};
use ir::{LocId, Module, diagnostic::Code, locate::in_program, source};
use runtime::{
    device::DeviceFault,
    host::{Fault, HostFinding, Note, Outcome},
};

use super::fault;

/// A finding.
#[derive(Clone, Debug)]
pub struct Found {
    /// The kind of problem; `dslc explain` tells more.
    pub code: Code,
    /// As in the report's schema: `race`, `uninitialized` …
    pub kind: &'static str,
    /// Severity.
    pub severity: Severity,
    /// Where it was found, and how often.
    pub occurrences: Occurrences,
    /// The kernel's name; `None` on the host.
    pub kernel: Option<String>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// One thing to try.
    pub advice: Option<Advice>,
    /// The barrier that the advice proposes.
    pub barrier: Option<Barrier>,
    /// The missing barrier with its place, where that is all the advice.
    pub missing: Option<MissingBarrier>,
    /// The memory it is about.
    pub memory: FoundMemory,
    /// The accesses that cause it.
    pub sides: Vec<Side>,
    /// Other places to show, each with a text.
    pub others: Vec<(LocId, String)>,
    /// Which lanes made the accesses when it was first found.
    pub witness: Vec<WitnessLanes>,
    /// Recognises the finding in another run: see [`baseline`].
    pub fingerprint: String,
    /// Whether the baseline has it.
    pub muted: bool,
    /// How it was found.
    pub how: How,
    /// The schedule that shows it, if the usual order does not.
    pub schedule: Option<Scheduled>,
}

/// The memory that a finding is about.
#[derive(Clone, Debug, Default)]
pub struct FoundMemory {
    /// `shared`, `global` …
    pub space: Option<String>,
    /// The array or allocation, and the element.
    pub object: Option<(String, String)>,
}

/// How something was found.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// By an access that was skipped, after which the run went on.
    pub skipped: bool,
    /// Only when blocks and warps run in descending order.
    pub descending: bool,
    /// Only under the random schedule of this seed.
    pub scheduled: Option<u64>,
    /// How the result depends on the schedule, for a finding about that.
    pub depends: Option<Depends>,
}

/// How often something was found.
#[derive(Clone, Copy, Debug)]
pub struct Occurrences {
    /// The first launch it was found in.
    pub launch: Option<usize>,
    /// In how many launches.
    pub launches: usize,
    /// The last of them.
    last_launch: Option<usize>,
    /// How often in all.
    pub count: u64,
}

/// One access of a finding.
#[derive(Clone, Debug)]
pub struct Side {
    /// The operation.
    pub op: FindingOp,
    /// Its place.
    pub loc: LocId,
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in its block.
    pub thread: [u32; 3],
    /// The warp in its block and the lane in it; `None` on the host.
    pub lane: Option<(u32, u32)>,
    /// Width in bytes.
    pub bytes: u32,
    /// The value that was read or written, if known.
    pub value: Option<String>,
    /// Through a `volatile` type.
    pub volatile: bool,
}

impl Side {
    /// A side of no particular thread.
    fn new(op: FindingOp, loc: LocId) -> Side {
        Side {
            op,
            loc,
            block: [0; 3],
            thread: [0; 3],
            lane: None,
            bytes: 0,
            value: None,
            volatile: false,
        }
    }
}

impl Found {
    /// A finding that occurred once and has no accesses yet.
    fn new(
        code: Code,
        kind: &'static str,
        severity: Severity,
        launch: Option<usize>,
        message: String,
    ) -> Found {
        Found {
            code,
            kind,
            severity,
            occurrences: Occurrences {
                launch,
                launches: 1,
                last_launch: launch,
                count: 1,
            },
            kernel: None,
            message,
            advice: None,
            barrier: None,
            missing: None,
            memory: FoundMemory::default(),
            sides: vec![],
            others: vec![],
            witness: vec![],
            fingerprint: String::new(),
            muted: false,
            how: How::default(),
            schedule: None,
        }
    }

    fn counted(self, launches: usize, count: u64) -> Found {
        let occurrences = Occurrences {
            launches,
            count,
            ..self.occurrences
        };
        Found {
            occurrences,
            ..self
        }
    }

    /// Whether the access is before its memory's first element.
    fn is_before(&self) -> bool {
        let object = self.memory.object.as_ref();
        self.code == Code::OutOfBounds && object.is_some_and(|(_, index)| index.starts_with("[-"))
    }

    /// Whether the finding makes the program wrong.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error && !self.muted
    }
}

/// Everything found in a run. `line` gives the source line of a place.
pub fn all(outcome: &Outcome, module: &Module, line: &dyn Fn(LocId) -> String) -> Vec<Found> {
    let mut all = Gathered {
        module,
        found: vec![],
    };
    let mut shown = 0;
    for fault in &outcome.faults {
        match fault {
            Fault::Invalid { kernel, loc, why } => {
                let name = &module.function(*kernel).name;
                all.add(of_refusal(name, *loc, why));
            }
            Fault::Device(fault) => all.add(of_device(fault, module)),
            Fault::Trap { launch, trap } => {
                if let Some(last) = *launch {
                    all.of_launches(outcome, shown..last + 1);
                    shown = shown.max(last + 1);
                }
                let report = launch.and_then(|index| outcome.launches.get(index));
                all.add(of_trap(trap, *launch, report, module));
            }
            Fault::Skipped(trap) => {
                let how = How {
                    skipped: true,
                    ..How::default()
                };
                all.add(Found {
                    how,
                    ..of_trap(trap, None, None, module)
                });
            }
        }
    }
    all.of_launches(outcome, shown..outcome.launches.len());
    for finding in &outcome.findings {
        all.add(of_host(finding, outcome));
    }
    for note in &outcome.notes {
        if let Some(fault) = &note.fault {
            all.add(of_call(note, fault));
        }
    }
    let mut found = all.found;
    drop_consequences(&mut found);
    // What a library function does is shown where the program calls it.
    for side in found.iter_mut().flat_map(|found| &mut found.sides) {
        side.loc = in_program(module, side.loc).unwrap_or(side.loc);
    }
    fingerprint(&mut found, module, line);
    found
}

/// Drops the consequences of a skipped store: reads of the memory that it would have written.
fn drop_consequences(found: &mut Vec<Found>) {
    let name = |found: &Found| {
        let (name, _) = found.memory.object.as_ref()?;
        Some(name.replace('`', ""))
    };
    let is_store = |found: &&Found| {
        let mut sides = found.sides.iter();
        found.how.skipped
            && sides.any(|side| matches!(side.op, FindingOp::Write | FindingOp::Atomic))
    };
    let skipped = found.iter().filter(is_store);
    let unwritten: Vec<String> = skipped.filter_map(name).collect();
    found.retain(|found| {
        let is_of = |name: String| unwritten.contains(&name);
        found.code != Code::UninitializedRead || !name(found).is_some_and(is_of)
    });
}

/// The key of findings that are one (the gravest is kept): the same problem with the same memory at the same lines of one kernel. It may
/// occur in several launches, in several instances of a template, in each copy of an unrolled loop, and with its two sides exchanged.
#[derive(PartialEq)]
struct Cause<'a> {
    code: Code,
    /// Without template arguments.
    kernel: Option<&'a str>,
    space: Option<&'a str>,
    object: Option<&'a str>,
    /// In ascending order, each once.
    lines: Vec<(u32, u32)>,
    /// Before the memory's first element: an access past the end has another cause.
    is_before: bool,
}

impl<'a> Cause<'a> {
    fn of(found: &'a Found, module: &Module) -> Cause<'a> {
        let place = |side: &Side| {
            let loc = module.loc(in_program(module, side.loc).unwrap_or(side.loc));
            (loc.file, loc.line)
        };
        let mut lines: Vec<(u32, u32)> = found.sides.iter().map(place).collect();
        lines.sort_unstable();
        lines.dedup();
        let kernel = found.kernel.as_deref();
        Cause {
            // Threads that happen to write the same value are part of the race.
            code: match found.code {
                Code::SameValueRace => Code::DataRace,
                code => code,
            },
            kernel: kernel.map(template_name),
            space: found.memory.space.as_deref(),
            object: found.memory.object.as_ref().map(|(name, _)| name.as_str()),
            is_before: found.is_before(),
            lines,
        }
    }
}

/// Findings so far.
struct Gathered<'a> {
    module: &'a Module,
    found: Vec<Found>,
}

impl Gathered<'_> {
    fn add(&mut self, new: Found) {
        let cause = Cause::of(&new, self.module);
        // A finding without a line is never the same as another one.
        let has_line = cause.lines.iter().any(|&(_, line)| line != 0);
        let mut known = self.found.iter_mut();
        let module = self.module;
        match known.find(|known| has_line && Cause::of(known, module) == cause) {
            Some(known) => {
                let mut all = known.occurrences;
                all.count = all.count.saturating_add(new.occurrences.count);
                // The findings of a launch come one after the other.
                if all.last_launch != new.occurrences.last_launch {
                    all.launches = all.launches.saturating_add(new.occurrences.launches);
                    all.last_launch = new.occurrences.last_launch;
                }
                if new.severity > known.severity {
                    *known = new;
                }
                known.occurrences = all;
            }
            None => self.found.push(new),
        }
    }

    /// What the checks found and skipped in some launches: of launches that are alike, in the first.
    fn of_launches(&mut self, outcome: &Outcome, which: std::ops::Range<usize>) {
        let kept = outcome.launches.kept();
        for kept in kept.iter().filter(|kept| which.contains(&kept.first)) {
            for new in of_launch(&kept.report, kept.first, self.module) {
                let times = kept.times();
                let count = new.occurrences.count.saturating_mul(times);
                self.add(new.counted(usize::try_from(times).unwrap_or(usize::MAX), count));
            }
        }
    }
}

/// What was found in one launch.
fn of_launch(launch: &interp::LaunchReport, index: usize, module: &Module) -> Vec<Found> {
    let mut all = Vec::new();
    for skipped in &launch.skipped {
        let places = (skipped.before, skipped.behind);
        let found = Found {
            how: How {
                skipped: true,
                descending: skipped.descending,
                ..How::default()
            },
            advice: fault::help(&skipped.trap, Some(launch), places, module),
            ..of_trap(&skipped.trap, Some(index), Some(launch), module)
        };
        all.push(found.counted(1, skipped.accesses));
    }
    for finding in &launch.findings {
        all.push(Found {
            how: How {
                descending: finding.descending,
                scheduled: finding.scheduled,
                depends: match finding.fact {
                    Fact::ResultDepends { difference, .. } => Some(difference),
                    _ => None,
                },
                ..How::default()
            },
            ..of_finding(finding, index, (&launch.kernel_name, module))
        });
    }
    if let Some(trap) = &launch.order.trap_descending {
        let found = of_trap(trap, Some(index), Some(launch), module);
        // Devices start with the first blocks, though nothing guarantees it.
        let is_warning = matches!(trap.kind, TrapKind::Deadlock | TrapKind::Endless);
        all.push(Found {
            how: How {
                descending: true,
                ..How::default()
            },
            severity: if is_warning {
                Severity::Warning
            } else {
                found.severity
            },
            ..found
        });
    }
    if let Some((trap, schedule)) = &launch.order.trap_scheduled {
        all.push(Found {
            schedule: Some((**schedule).clone()),
            ..of_trap(trap, Some(index), Some(launch), module)
        });
    }
    all
}

fn of_finding(finding: &Finding, launch: usize, (kernel, module): (&str, &Module)) -> Found {
    let side = |access: &FindingAccess| Side {
        op: access.op,
        loc: access.loc,
        block: access.block,
        thread: access.thread,
        // It does not belong to one thread.
        lane: (finding.kind != FindingKind::ScheduleDependent)
            .then_some((access.warp, access.lane)),
        bytes: access.bytes,
        value: access.value.map(|value| value.to_string()),
        volatile: access.volatile,
    };
    let object = finding.object.as_ref();
    let found = Found {
        kernel: Some(kernel.to_string()),
        advice: match (&finding.fact, &finding.accesses[..]) {
            (Fact::DivergentBarrier { .. }, [waits, other]) if other.op != FindingOp::Barrier => {
                Some(fault::of_barrier(waits.loc, module))
            }
            _ => finding.advice(),
        },
        barrier: finding.proposes(),
        missing: finding.missing(),
        memory: FoundMemory {
            space: finding.space.map(|space| space.to_string()),
            object: object.map(|object| (object.name.clone(), object.index.clone())),
        },
        sides: finding.accesses.iter().map(side).collect(),
        witness: finding.witness.clone(),
        schedule: match &finding.fact {
            Fact::ResultDepends { schedule, .. } => Some((**schedule).clone()),
            _ => None,
        },
        ..Found::new(
            finding.code,
            finding.kind.name(),
            finding.severity,
            Some(launch),
            finding.message(),
        )
    };
    found.counted(1, finding.count)
}

/// What was found on the host, alone or together with a launch.
fn of_host(finding: &HostFinding, outcome: &Outcome) -> Found {
    let sides = finding.sides.iter();
    let kernel = finding.launch.and_then(|index| outcome.launches.get(index));
    // Each occurrence is in another launch.
    let launches = match finding.launch {
        Some(_) => usize::try_from(finding.count).unwrap_or(usize::MAX),
        None => 1,
    };
    let found = Found {
        kernel: kernel.map(|launch| launch.kernel_name.clone()),
        advice: finding.advice.clone().map(Advice::from),
        memory: FoundMemory {
            space: None,
            object: finding.object.clone(),
        },
        sides: sides.map(|side| Side::new(side.op, side.loc)).collect(),
        others: finding.others.clone(),
        ..Found::new(
            finding.code,
            finding.kind.name(),
            finding.severity,
            finding.launch,
            finding.message.clone(),
        )
    };
    found.counted(launches, finding.count)
}

/// A call of the runtime with memory that does not exist.
fn of_call(note: &Note, fault: &TrapKind) -> Found {
    let object = fault.access().and_then(|access| access.object.as_ref());
    let freed = match fault {
        TrapKind::InvalidFree(fault) => fault.object.as_ref(),
        _ => object,
    };
    let freed_at = freed.and_then(|object| object.freed_at);
    Found {
        advice: note.advice.clone().map(Advice::from),
        memory: FoundMemory {
            space: None,
            object: object.map(|object| (object.name.replace('`', ""), String::new())),
        },
        sides: vec![Side::new(FindingOp::Call, note.loc)],
        others: freed_at
            .map(|loc| (loc, "freed here".to_string()))
            .into_iter()
            .collect(),
        ..Found::new(
            fault::code_of_trap(fault),
            fault.name(),
            Severity::Error,
            None,
            note.text.clone(),
        )
    }
}

fn of_refusal(kernel: &str, loc: LocId, why: &InvalidLaunch) -> Found {
    Found {
        kernel: Some(kernel.to_string()),
        advice: fault::help_refused(why, kernel).map(Advice::from),
        sides: vec![Side::new(FindingOp::Launch, loc)],
        ..Found::new(
            fault::code_of_invalid(),
            "invalid_launch",
            Severity::Error,
            None,
            format!("`{kernel}` cannot be launched: {why}"),
        )
    }
}

/// A fault on a GPU, of which only the launch is known.
fn of_device(fault: &DeviceFault, module: &Module) -> Found {
    Found {
        kernel: fault.kernel.map(|id| module.function(id).name.clone()),
        advice: Some(match fault.or_up_to {
            None => "without `--device gpu`, the simulator names the line and the thread".into(),
            Some(_) => "`--launches` counts launches on the GPU, and so tells which it is; without `--device gpu`, the simulator names the \
                        line and the thread"
                .into(),
        }),
        sides: vec![Side::new(FindingOp::Launch, fault.loc)],
        ..Found::new(
            fault::code_of_device(fault.error),
            fault::kind_of_device(fault.error),
            Severity::Error,
            fault.launch,
            fault::device_message(fault, module),
        )
    }
}

fn of_trap(
    trap: &Trap,
    launch: Option<usize>,
    report: Option<&interp::LaunchReport>,
    module: &Module,
) -> Found {
    let access = trap.kind.access();
    let lane = report.filter(|_| !trap.on_host).map(|report| {
        let ([x, y, z], [nx, ny, _]) = (trap.thread, report.block);
        let thread = x + nx * (y + ny * z);
        (thread / 32, thread % 32)
    });
    let object = access.and_then(|access| access.object.as_ref());
    let op = access.map_or(FindingOp::Stop, |access| FindingOp::from(access.op));
    Found {
        kernel: report.map(|report| report.kernel_name.clone()),
        advice: fault::help(trap, report, (0, 0), module),
        memory: FoundMemory {
            space: access.map(|access| access.space.to_string()),
            object: access.zip(object).map(|(access, object)| {
                let name = object.source_name().replace('`', "");
                (name, object.index_of(access.width_bytes))
            }),
        },
        sides: vec![Side {
            block: trap.block,
            thread: trap.thread,
            lane,
            bytes: access.map_or(0, |access| access.width_bytes),
            ..Side::new(op, trap.loc)
        }],
        others: trap
            .notes()
            .into_iter()
            .map(|(loc, text)| (in_program(module, loc).unwrap_or(loc), text))
            .collect(),
        ..Found::new(
            fault::code_of_trap(&trap.kind),
            trap.kind.name(),
            Severity::Error,
            launch,
            trap.message(),
        )
    }
}

/// Gives each finding its fingerprint.
fn fingerprint(all: &mut [Found], module: &Module, line: &dyn Fn(LocId) -> String) {
    let texts = all.iter().map(|found| {
        let mut text = format!(
            "{}\n{}\n",
            found.code.number(),
            found.kernel.as_deref().unwrap_or("")
        );
        for side in &found.sides {
            let access = &module.loc(side.loc).text;
            let source = if access.is_empty() {
                line(side.loc)
            } else {
                access.clone()
            };
            let words: Vec<&str> = source.split_whitespace().collect();
            text += &format!("{}\n{}\n", side.op, words.join(" "));
        }
        text
    });
    let fingerprints = numbered(texts);
    for (found, fingerprint) in all.iter_mut().zip(fingerprints) {
        found.fingerprint = fingerprint;
    }
}

/// Hashes of texts; equal texts are numbered.
fn numbered(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: HashMap<u64, u32> = HashMap::new();
    let number = |text: String| {
        let hash = source::fingerprint(text.as_bytes());
        let times = seen.entry(hash).or_insert(0);
        *times += 1;
        format!("{hash:016x}:{times}")
    };
    texts.map(number).collect()
}
