//! Further runs: the program with other sizes and data, with and without the edits.
//!
//! One run says little about others: other index data may need a barrier, a tree may lose elements at 200 threads, an array may have room
//! only for the usual block. So the effect of an edit in the program's own run has to be the same in these. A further run counts only if
//! the unedited program is right in it: many kernels are for one block size, and the edits are not to blame if they fail with 224 threads.

use std::collections::{BTreeSet, HashMap};

use interp::{Severity, TrapKind};
use ir::{
    Function, FunctionKind, HostFn, InstKind, Module, Object, Operand, diagnostic::Code,
    symbol::template_name,
};
use report::{SuggestionKind, findings::Found, model::Waste};
use runtime::{
    device::vary::{self, BlockChange, DataChange, ScalarChange, Variation},
    host::Fault,
};

use crate::{
    Base, Run, Runner,
    candidate::Candidate,
    changed,
    effect::{self, Key},
};

/// Most kernels that are run instead of a launched one.
const MAX_KERNELS: usize = 4;
/// Most numbers that a kernel compares with.
const MAX_KNOWN: usize = 4;
/// The largest of them: a larger number is a size.
const MOST_KNOWN: i64 = 100;
/// Most parameters of a kernel that get other values.
const MAX_SCALARS: usize = 4;
/// Most arguments of the program that get other values.
const MAX_ARGUMENTS: usize = 3;

/// Arguments for a program that was given none: sizes that are not powers of two, a warp and one more, small and large numbers.
const NUMBERS: [u32; 6] = [200, 1, 33, 16, 96, 1000];

/// What a further run changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Further {
    /// The arguments of `main`.
    Arguments(Vec<String>),
    /// Launches.
    Launches(Variation),
}

/// The name of a further run in a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Label {
    Arguments(String),
    Threads(String),
    Scalar(String, String),
    Data(&'static str),
    Kernel(String),
}

/// A further run: its changes, in the order in which they are tried. If the first is not right, it is tried without scaling of dynamic
/// shared memory.
#[derive(Clone, Debug)]
struct Trial {
    ways: Vec<Further>,
    label: Label,
}

/// The further runs of a program. Those without edits are kept.
#[derive(Default)]
pub(crate) struct Trials {
    /// The runs that are worth comparing: the program itself is right in them.
    plain: HashMap<Further, Option<Plain>>,
}

/// A further run without edits.
struct Plain {
    run: Run,
    /// Whether all findings of its kernels are also in the first run.
    is_clean: bool,
}

/// The aim of the edits.
#[derive(Clone, Copy)]
pub(crate) enum Aim<'a> {
    /// Less waste of a kind, with the same results.
    Waste(Waste),
    /// Removal of these findings.
    Findings(&'a [usize]),
}

/// The result of further runs.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    labels: Vec<Label>,
    /// The first run in which the edits were wrong.
    failed: Option<Label>,
    /// The first run in which the edits cost more.
    dearer: Option<Label>,
    /// Kernels that ran with the edits in the compared runs.
    kernels: BTreeSet<String>,
}

impl Verdict {
    /// The number of runs in which the edits were right.
    pub(crate) fn runs(&self) -> usize {
        self.labels.len()
    }

    /// Whether they were wrong in no run.
    pub(crate) fn is_right(&self) -> bool {
        self.failed.is_none()
    }

    /// A kernel that the edits change and that no compared run executed.
    pub(crate) fn not_run(&self, base: Base<'_>, edited: &Module) -> Option<String> {
        let kept = base.input.outcome.launches.kept().iter();
        let launched: Vec<&str> = kept.map(|kept| kept.report.kernel_name.as_str()).collect();
        let mut changed = changed::kernels(base.input.module, edited).into_iter();
        changed.find(|name| !launched.contains(&name.as_str()) && !self.kernels.contains(name))
    }

    /// `the same in 4 further runs: …`.
    pub(crate) fn because(&self) -> String {
        let runs = match self.runs() {
            1 => "a further run".to_string(),
            n => format!("{n} further runs"),
        };
        format!("the same in {runs}: {}", listed(&self.labels))
    }

    /// The objection to the edits.
    pub(crate) fn objection(&self) -> Option<String> {
        let label = self.failed.clone()?;
        Some(format!("the results differ with {}", listed(&[label])))
    }

    /// The warning that another run costs more.
    pub(crate) fn warning(&self) -> Option<String> {
        let label = self.dearer.clone()?;
        Some(format!("it costs more with {}", listed(&[label])))
    }
}

/// Labels in words, grouped by kind.
fn listed(labels: &[Label]) -> String {
    let (mut arguments, mut threads, mut data, mut kernels) = (vec![], vec![], vec![], vec![]);
    let mut scalars: Vec<(&str, Vec<String>)> = vec![];
    for label in labels {
        match label {
            Label::Arguments(text) => arguments.push(format!("`{text}`")),
            Label::Threads(text) => threads.push(text.clone()),
            Label::Data(what) => data.push((*what).to_string()),
            Label::Kernel(name) => kernels.push(format!("`{name}`")),
            Label::Scalar(name, what) => {
                match scalars.iter_mut().find(|(known, _)| known == name) {
                    Some((_, all)) => all.push(what.clone()),
                    None => scalars.push((name, vec![what.clone()])),
                }
            }
        }
    }
    let mut all = vec![];
    match arguments.len() {
        0 => {}
        1 => all.push(format!("the argument {}", and(&arguments))),
        _ => all.push(format!("the arguments {}", and(&arguments))),
    }
    if !threads.is_empty() {
        all.push(format!("blocks of {} threads", and(&threads)));
    }
    let scalars = scalars.iter();
    all.extend(scalars.map(|(name, what)| format!("`{name}` {}", and(what))));
    if !data.is_empty() {
        all.push(format!("data {}", and(&data)));
    }
    if !kernels.is_empty() {
        all.push(format!(
            "{} in the place of the launched kernel",
            and(&kernels)
        ));
    }
    all.join("; ")
}

fn and(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl Trials {
    /// Makes further runs of the program with edits, whose usual run is `run`.
    pub(crate) fn of(
        &mut self,
        base: Base<'_>,
        runner: &mut dyn Runner,
        (candidate, run): (&Candidate, &Run),
        kernels: &[String],
        aim: Aim<'_>,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        for trial in trials((base, run), runner, kernels, (aim, candidate.kind)) {
            let Some(further) = self.way(base, runner, &trial, aim) else {
                continue;
            };
            let Some(edited) = runner.run_further(&run.module, &run.map, &further) else {
                if runner.has_more() {
                    verdict.failed = Some(trial.label);
                }
                return verdict;
            };
            let plain = self.plain.get(&further).and_then(Option::as_ref);
            let Some(plain) = plain else { continue };
            match is_right(base, plain, (candidate, &edited), (aim, &further)) {
                Some(true) => {}
                Some(false) => {
                    verdict.failed = Some(trial.label);
                    return verdict;
                }
                None => continue,
            }
            if let Aim::Waste(waste) = aim
                && effect::total(&edited, waste) > effect::total(&plain.run, waste)
            {
                verdict.dearer.get_or_insert(trial.label.clone());
            }
            let kept = edited.outcome.launches.kept().iter();
            let names = kept.map(|kept| kept.report.kernel_name.clone());
            verdict.kernels.extend(names);
            verdict.labels.push(trial.label);
        }
        verdict
    }

    /// The variant of a trial in which the program itself is right; it runs once.
    fn way(
        &mut self,
        base: Base<'_>,
        runner: &mut dyn Runner,
        trial: &Trial,
        aim: Aim<'_>,
    ) -> Option<Further> {
        for way in &trial.ways {
            if !self.plain.contains_key(way) {
                let ran = plain(base, runner, way);
                if ran.is_none() && !runner.has_more() {
                    return None;
                }
                self.plain.insert(way.clone(), ran);
            }
            let plain = self.plain.get(way).and_then(Option::as_ref);
            let fits = |plain: &Plain| plain.is_clean || matches!(aim, Aim::Findings(_));
            if plain.is_some_and(fits) {
                return Some(way.clone());
            }
        }
        None
    }
}

/// The program without edits in a further run, if the run is worth comparing.
fn plain(base: Base<'_>, runner: &mut dyn Runner, way: &Further) -> Option<Plain> {
    let input = base.input;
    let module = runner.module();
    let run = runner.run_further(&module, input.map, way)?;
    let is_stopped = run.outcome.stopped().is_some();
    let known = effect::keys(input.findings, (input.module, input.map), &[]);
    let errors: Vec<Found> = run
        .findings
        .iter()
        .filter(|one| one.is_error())
        .cloned()
        .collect();
    let is_known = effect::keys(&errors, (&run.module, &run.map), &[])
        .iter()
        .all(|key| known.contains(key));
    let is_other = run.has_varied;
    (is_other && !is_stopped && is_known && !run.outcome.launches.is_empty()).then_some(Plain {
        is_clean: errors.is_empty(),
        run,
    })
}

/// Whether a run with edits is right compared with one without; `None` if the run does not tell.
fn is_right(
    base: Base<'_>,
    plain: &Plain,
    (candidate, edited): (&Candidate, &Run),
    (aim, further): (Aim<'_>, &Further),
) -> Option<bool> {
    // A long run time tells nothing.
    let is_limit = |fault: &Fault| matches!(fault, Fault::Trap { trap, .. } if matches!(trap.kind, TrapKind::Limit { .. }));
    if edited.outcome.faults.iter().any(is_limit) {
        return None;
    }
    let edits = &candidate.edits;
    let input = base.input;
    let mut known = effect::keys(input.findings, (input.module, input.map), edits);
    let usual = known.clone();
    known.extend(effect::keys(
        &plain.run.findings,
        (&plain.run.module, &plain.run.map),
        edits,
    ));
    let grave: Vec<Found> = edited
        .findings
        .iter()
        .filter(|one| one.severity > Severity::Note)
        .cloned()
        .collect();
    let new = effect::keys(&grave, (&edited.module, &edited.map), &[]);
    if edited.outcome.stopped().is_some() {
        return Some(false);
    }
    // If the program itself is wrong, its kernel may not be meant for such sizes at all.
    let is_resized = matches!(
        further,
        Further::Launches(Variation::Block { .. } | Variation::Scalar { .. })
    );
    let is_ambiguous = |found: &Found| {
        is_resized
            && !plain.is_clean
            && matches!(found.code, Code::UninitializedRead | Code::OutOfBounds)
    };
    let members = match aim {
        Aim::Waste(_) => &[],
        Aim::Findings(members) => members,
    };
    let is_wrong = |key: &Key| !known.contains(key) || members.iter().any(|&at| usual[at] == *key);
    let mut wrong = grave.iter().zip(&new).filter(|(_, key)| is_wrong(key));
    if wrong.clone().next().is_some() {
        return (!wrong.all(|(found, _)| is_ambiguous(found))).then_some(false);
    }
    let is_same = plain.run.stdout == edited.stdout
        && plain.run.outcome.exit_code == edited.outcome.exit_code
        && plain.run.digest == edited.digest;
    // Results that were wrong may change; all others have to stay.
    Some(match aim {
        Aim::Waste(_) => is_same,
        Aim::Findings(_) => is_same || !plain.run.findings.is_empty(),
    })
}

/// The trials, in the order of what users change most.
fn trials(
    (base, run): (Base<'_>, &Run),
    runner: &dyn Runner,
    kernels: &[String],
    of: (Aim<'_>, SuggestionKind),
) -> Vec<Trial> {
    let mut all = others(base, run);
    all.extend(arguments(base.input.module, runner));
    all.extend(blocks(base, run, kernels));
    let data = [
        (DataChange::Permuted, "in another order"),
        (DataChange::Equal, "all equal"),
        (DataChange::Extreme, "least and greatest in turn"),
        (DataChange::Large, "large"),
    ];
    all.extend(data.map(|(change, label)| Trial {
        ways: vec![Further::Launches(Variation::Data(change))],
        label: Label::Data(label),
    }));
    all.extend(scalars(base, kernels, of));
    all
}

/// For kernels that the edits change and that the program launches only in other runs: each runs instead of one that it launches in this
/// run.
fn others(base: Base<'_>, run: &Run) -> Vec<Trial> {
    let module = base.input.module;
    let kept = base.input.outcome.launches.kept().iter();
    let launched: Vec<&interp::LaunchReport> = kept.map(|kept| &kept.report).collect();
    let is_launched = |name: &String| launched.iter().any(|report| report.kernel_name == *name);
    let changed = changed::kernels(module, &run.module);
    let trial = |name: String| {
        let other = module.function(module.find(&name, FunctionKind::Kernel)?);
        // An instance of the same template is the most similar one.
        let is_near = |report: &&&interp::LaunchReport| {
            template_name(&report.kernel_name) == template_name(&name)
        };
        let fits = |report: &&&interp::LaunchReport| {
            vary::takes_the_same(module.function(report.kernel), other)
        };
        let near = launched.iter().filter(is_near).find(fits);
        let like = near.or_else(|| launched.iter().find(fits))?;
        Some(Trial {
            ways: vec![Further::Launches(Variation::Kernel {
                launched: like.kernel_name.clone(),
                other: name.clone(),
            })],
            label: Label::Kernel(name),
        })
    };
    let changed = changed.into_iter().filter(|name| !is_launched(name));
    changed.filter_map(trial).take(MAX_KERNELS).collect()
}

/// Other arguments of the program: numbers near the given ones, or some numbers if none were given, and words that the program looks for.
fn arguments(module: &Module, runner: &dyn Runner) -> Vec<Trial> {
    let main = module
        .find("main", FunctionKind::Host)
        .map(|id| module.function(id));
    let (Some(main), Some(given)) = (
        main.filter(|main| main.params.len() > 1),
        runner.arguments(),
    ) else {
        return vec![];
    };
    let mut all: Vec<Vec<String>> = vec![];
    if given.is_empty() {
        all.extend(NUMBERS.map(|number| vec![number.to_string()]));
        let words = words(module, main);
        all.extend(words.into_iter().map(|word| vec![word]));
    }
    let integers = given.iter().enumerate().filter_map(|(at, text)| {
        let number: i64 = text.parse().ok()?;
        Some((at, number))
    });
    for (at, number) in integers.take(MAX_ARGUMENTS) {
        for other in [number - 1, number + 1, number - number / 4 - 1, 1] {
            let mut args = given.to_vec();
            args[at] = other.to_string();
            if args != given && !all.contains(&args) {
                all.push(args);
            }
        }
    }
    let trial = |args: Vec<String>| Trial {
        label: Label::Arguments(args.join(" ")),
        ways: vec![Further::Arguments(args)],
    };
    all.into_iter().map(trial).collect()
}

/// The texts that the program compares others with.
fn words(module: &Module, main: &Function) -> Vec<String> {
    let mut strings = HashMap::new();
    let mut all = vec![];
    main.body.for_each_inst(&mut |inst| match &inst.kind {
        InstKind::AddrOf(Object::String(id)) => {
            strings.extend(inst.results.first().map(|&result| (result, *id)));
        }
        InstKind::HostCall(HostFn::Strcmp | HostFn::Strncmp, args) => {
            for arg in args {
                if let Operand::Value(value) = arg
                    && let Some(id) = strings.get(value)
                    && let Some(bytes) = module.strings.get(id.index())
                    && let Ok(text) = std::str::from_utf8(bytes)
                    && !all.contains(&text.to_string())
                {
                    all.push(text.to_string());
                }
            }
        }
        _ => {}
    });
    all.truncate(MAX_ARGUMENTS);
    all
}

/// The launches of some kernels, by their names without template arguments.
fn launches<'a>(
    base: Base<'a>,
    kernels: &'a [String],
) -> impl Iterator<Item = &'a interp::LaunchReport> {
    let kept = base.input.outcome.launches.kept().iter();
    kept.map(|kept| &kept.report).filter(move |report| {
        let name = template_name(&report.kernel_name);
        kernels.iter().any(|kernel| template_name(kernel) == name)
    })
}

/// Trials with other blocks.
fn blocks(base: Base<'_>, edited: &Run, kernels: &[String]) -> Vec<Trial> {
    let mut names: Vec<String> = vec![];
    for report in launches(base, kernels) {
        if !names.contains(&report.kernel_name) {
            names.push(report.kernel_name.clone());
        }
    }
    let Some(first) = launches(base, kernels).next() else {
        return vec![];
    };
    let edited = edited.outcome.launches.kept().iter();
    let uses_dynamic = launches(base, kernels)
        .chain(edited.map(|kept| &kept.report))
        .any(|report| report.shared.dynamic > 0);
    let changes = [
        BlockChange::Ragged,
        BlockChange::WarpLess,
        BlockChange::WarpMore,
    ];
    let trial = |change: BlockChange| {
        let block = change.of(first.block)?;
        let way = |scales_shared| {
            Further::Launches(Variation::Block {
                kernels: names.clone(),
                change,
                scales_shared,
            })
        };
        let mut ways = vec![way(uses_dynamic)];
        if uses_dynamic {
            ways.push(way(false));
        }
        Some(Trial {
            ways,
            label: Label::Threads(dimensions(block)),
        })
    };
    changes.into_iter().filter_map(trial).collect()
}

/// `200`, `13 x 16`.
fn dimensions(block: [u32; 3]) -> String {
    let n = block.iter().rposition(|&n| n > 1).map_or(1, |at| at + 1);
    let words: Vec<String> = block[..n].iter().map(u32::to_string).collect();
    words.join(" x ")
}

/// Numbers that a kernel compares with, and slightly larger ones, with which a loop's counter passes them. They are for parameters that
/// choose what the kernel does, or how many rounds it makes.
fn known(function: &Function) -> Vec<i64> {
    let mut all = vec![];
    function.body.for_each_inst(&mut |inst| {
        if let InstKind::Compare(_, ty, a, b) = &inst.kind
            && ty.is_int()
        {
            for operand in [a, b] {
                if let Operand::Const(number) = operand
                    && let Ok(number) = i64::try_from(number.bits)
                    && (2..=MOST_KNOWN).contains(&number)
                    && !all.contains(&number)
                {
                    all.push(number);
                }
            }
        }
    });
    all.truncate(MAX_KNOWN);
    all.into_iter()
        .flat_map(|number| [number, number + 2])
        .collect()
}

/// Other integer arguments of kernels. Where there are faults already, one more element is beyond the memory, which does not speak against
/// the edits; and testing a number that was too large has another effect where it was not.
fn scalars(
    base: Base<'_>,
    kernels: &[String],
    (aim, kind): (Aim<'_>, SuggestionKind),
) -> Vec<Trial> {
    if matches!(kind, SuggestionKind::Guard | SuggestionKind::Bound) {
        return vec![];
    }
    let module = base.input.module;
    let mut all = vec![];
    let mut seen: Vec<&str> = vec![];
    for report in launches(base, kernels) {
        if seen.contains(&report.kernel_name.as_str()) {
            continue;
        }
        seen.push(&report.kernel_name);
        let function = module.function(report.kernel);
        let params = (0..function.params.len()).filter(|&at| vary::scalar(function, at).is_some());
        let known = known(function);
        for param in params.take(MAX_SCALARS) {
            let name = &function.slots[function.params[param].slot.index()].name;
            let changes = [
                (ScalarChange::Less, "one less"),
                (ScalarChange::More, "one more"),
                (ScalarChange::Zero, "0"),
                (ScalarChange::One, "1"),
            ];
            let may_grow = matches!(aim, Aim::Waste(_));
            let changes = changes
                .into_iter()
                .filter(|(change, _)| may_grow || *change != ScalarChange::More)
                .map(|(change, what)| (change, what.to_string()));
            let to = |&number: &i64| (ScalarChange::To(number), number.to_string());
            let changes = changes.chain(known.iter().filter(|_| may_grow).map(to));
            all.extend(changes.map(|(change, what)| Trial {
                ways: vec![Further::Launches(Variation::Scalar {
                    kernel: report.kernel_name.clone(),
                    param,
                    change,
                })],
                label: Label::Scalar(name.clone(), what),
            }));
        }
    }
    all
}
