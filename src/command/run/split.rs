//! `--blocks`: runs only some blocks of a launch. `dslc merge` of such reports makes the same run, with the launch put together from them.

use interp::part::{Compared, PartError};
use ir::{FunctionKind, InstKind, LocId, Module, source::fingerprint};
use report::blocks::{Blocks, Key};
use runtime::{
    device::{
        Device,
        simulator::Simulator,
        split::{Split, SplitResult, SplitWork},
    },
    host::{Io, Note, Outcome},
};

use crate::{
    args::{BlockRange, ProgramArgs, RunArgs},
    execute::Streams,
    failure::Failure,
    files,
    source::Loaded,
};

/// Whether a launch of the run is split.
pub(super) fn is_wanted(args: &RunArgs) -> bool {
    args.blocks.is_some()
}

/// Refuses options that do not work with a part of a launch.
pub(super) fn refuse(args: &RunArgs) -> Result<(), Failure> {
    if !is_wanted(args) {
        return Ok(());
    }
    let several = args.source.arch.as_deref();
    let why = if args.is_on_gpu() || super::native::is_wanted(args) {
        "it needs the simulator, and host code that dslc runs itself: remove --device gpu, --host native and other files"
    } else if several.is_some_and(|archs| archs == "all" || archs.contains(',')) {
        "it counts for one architecture"
    } else if args.checking.asks_for_compiled() {
        "it counts accesses as written: remove --counts"
    } else if args.wanted_schedules() > 0 || args.checking.schedule.is_some() {
        "blocks that run apart have no common schedule: remove --schedule, --schedules and --memory weak"
    } else if args.wanted_order() == interp::Order::Descending {
        "parts run in ascending order"
    } else {
        return Ok(());
    };
    Err(Failure::new(format!("--blocks: {why}")))
}

/// The simulator, with the launch to split.
pub(super) fn device(
    args: &RunArgs,
    simulator: Simulator,
    module: &Module,
) -> Result<Simulator, Failure> {
    let Some(range) = args.blocks else {
        return Ok(simulator);
    };
    let launch = match range.launch {
        Some(launch) => launch,
        None => only_launch(&args.program, module, range)?,
    };
    let work = match args.parts.is_empty() {
        true => SplitWork::Part(range.from..range.to),
        false => {
            let parts = args.parts.iter().map(Blocks::part).collect::<Option<_>>();
            SplitWork::Merge(parts.ok_or_else(|| Failure::new("a part is not as dslc wrote it"))?)
        }
    };
    Ok(simulator.splitting(Split { launch, work }))
}

/// The default launch to split; an error if the program has several.
fn only_launch(args: &ProgramArgs, module: &Module, range: BlockRange) -> Result<usize, Failure> {
    let names = match args.launch.is_empty() {
        true => statements(module),
        false => args.launch.clone(),
    };
    if names.len() < 2 {
        return Ok(0);
    }
    let listed: Vec<String> = names.iter().map(|name| format!("  {name}")).collect();
    Err(Failure::new(format!(
        "--blocks: the program has {} launches, and has to run up to the one that is split: `--blocks N:{}..{}` names it by its number \
         in the report, from 0\n{}",
        names.len(),
        range.from,
        range.to,
        listed.join("\n")
    )))
}

/// The launch statements of the host program.
fn statements(module: &Module) -> Vec<String> {
    let mut all: Vec<(u32, String)> = Vec::new();
    let hosts = module.functions.iter();
    for function in hosts.filter(|function| function.kind == FunctionKind::Host) {
        function.body.for_each_inst(&mut |inst| {
            if let InstKind::Launch(launch) = &inst.kind {
                let line = module.loc(inst.loc).line;
                let kernel = &module.function(launch.kernel).name;
                all.push((line, format!("line {line}: {kernel}")));
            }
        });
    }
    all.sort();
    all.into_iter().map(|(_, name)| name).collect()
}

/// Shows the result of the split; `Err` if the launch cannot be split so.
pub(super) fn ended(
    args: &RunArgs,
    device: &mut dyn Device,
    (outcome, io): (&mut Outcome, &mut Streams),
    (loaded, module): (&Loaded, &Module),
) -> Result<Option<Box<Blocks>>, Failure> {
    if !is_wanted(args) {
        return Ok(None);
    }
    let last = outcome.launches.len().saturating_sub(1);
    let report = outcome.launches.get(last);
    let line = report.map_or(0, |launch| launch.statement.line);
    let name = match line {
        0 => format!("launch {last}"),
        _ => format!("launch {last} (line {line})"),
    };
    let mut notes = Vec::new();
    let mut say = |text: String| notes.push(Note::new(LocId::default(), text, false));
    let mut blocks = None;
    match device.take_split() {
        None if outcome.stopped().is_some() => {}
        None => {
            let (wanted, made) = (
                args.blocks.and_then(|range| range.launch),
                outcome.launches.len(),
            );
            return Err(Failure::new(format!(
                "--blocks: there is no launch {}: the program made {made}",
                wanted.unwrap_or(0)
            )));
        }
        Some(SplitResult::Failed(PartError::Failed(_))) => {
            say(format!(
                "the program ended with {name}, which has no part to merge: it failed"
            ));
        }
        Some(SplitResult::Failed(PartError::Waits(_))) => {
            let range = args
                .blocks
                .map(|range| format!("{}..{}", range.from, range.to));
            notes.push(Note::new(
                LocId::default(),
                format!(
                    "these blocks wait for blocks that are not in {}, or for each other: the launch cannot be split so",
                    range.unwrap_or_default()
                ),
                true,
            ));
        }
        Some(SplitResult::Failed(error)) => return Err(Failure::new(format!("--blocks: {error}"))),
        Some(SplitResult::Part(part)) => {
            say(format!(
                "the program ended with {name}, of which blocks {}..{} ran: `dslc merge` puts the parts' JSON reports together",
                part.blocks.start, part.blocks.end
            ));
            if let Some(hears) = part.hears {
                say(heard(hears, module, "what this part does"));
            }
            let key = key(args, loaded)?;
            let command = args.command.clone();
            blocks = Some(Box::new(Blocks::new(&part, last, key, command, module)));
        }
        Some(SplitResult::Merged(compared)) => {
            say(format!(
                "the program ended with {name}, which ran in {} parts",
                args.parts.len()
            ));
            compare(&compared, module).into_iter().for_each(say);
        }
    }
    for note in notes {
        io.note(&note);
        outcome.notes.push(note);
    }
    Ok(blocks)
}

/// A note that blocks of other parts may influence this access.
fn heard((loc, op): (LocId, interp::trap::AccessOp), module: &Module, what: &str) -> String {
    let at = module.loc(loc);
    let heard = match op {
        interp::trap::AccessOp::Atomic => "the result of this atomic is used",
        _ => "`volatile` memory is read",
    };
    format!(
        "line {}, `{}`: {heard}; {what} may depend on the blocks of other parts",
        at.line, at.text
    )
}

/// Notes about parts that share something.
fn compare(compared: &Compared, module: &Module) -> Vec<String> {
    let at = |loc: LocId| {
        let at = module.loc(loc);
        format!("line {} (`{}`)", at.line, at.text)
    };
    let mut all = Vec::new();
    if !compared.looked {
        all.push("races between the parts were not looked for".to_string());
    }
    if let Some((read, write)) = compared.reads {
        all.push(format!(
            "a part reads at {} what another one writes at {}: its counts and findings may be others than in one run",
            at(read),
            at(write)
        ));
    }
    if let Some(hears) = compared.hears {
        all.push(heard(hears, module, "the counts of the parts"));
    }
    for (a, b) in &compared.undecided {
        all.push(format!(
            "parts touch the same bytes at {} and {}; whether that is a race could not be decided",
            at(*a),
            at(*b)
        ));
    }
    if compared.is_cut {
        all.push(format!(
            "{} blocks of the parts that touch the same bytes ran again to find races; there are more, whose races are not counted",
            compared.again
        ));
    }
    all
}

/// Identifies the launch that parts belong to.
pub(crate) fn key(args: &RunArgs, loaded: &Loaded) -> Result<Key, Failure> {
    let hash = |text: &str| {
        let other = format!("{}\n{text}", text.len());
        let (a, b) = (fingerprint(text.as_bytes()), fingerprint(other.as_bytes()));
        format!("{a:016x}{b:016x}")
    };
    let files = loaded.map.files();
    let texts: Vec<String> = files
        .map(|(_, file)| format!("{}\n{}", file.name, file.text))
        .collect();
    let program = ProgramArgs {
        jobs: 0,
        timeout: None,
        ..args.program.clone()
    };
    let rules = match &args.rules.rules {
        Some(path) => files::read(path, true, MAX_RULES)
            .map_err(|why| Failure::new(format!("cannot read `{}`: {why}", path.display())))?,
        None => Vec::new(),
    };
    let options = format!(
        "{:?} {:?} {:?} {:?} {}",
        args.source,
        program,
        args.rules,
        args.checking,
        String::from_utf8_lossy(&rules)
    );
    Ok(Key {
        version: env!("DSLC_VERSION").to_string(),
        program: hash(&texts.join("\n")),
        options: hash(&options),
    })
}

/// Size limit of a file of rules.
const MAX_RULES: u64 = 1 << 20;

/// Checks that parts were made with the present program and options.
pub(super) fn check(args: &RunArgs, loaded: &Loaded) -> Result<(), Failure> {
    let Some(part) = args.parts.first() else {
        return Ok(());
    };
    match part.key.difference(&key(args, loaded)?) {
        None => Ok(()),
        Some(what) => Err(Failure::new(format!(
            "the parts were run with {what} than what is here now"
        ))),
    }
}
