//! Mutants: correct programs with one thing broken, generated in every run. A table shows how many of them the checks find. It is compared
//! with the recorded one (`tests/snapshots/mutants`). Missed mutants are listed, each with its change.
//!
//! A mutant is *found* if its run has a finding of severity error. The originals have none, which is asserted. (Some of them have warnings:
//! the old reductions whose last warp relies on `volatile` and lockstep.) A missed mutant is the *same program* (the IR is equal except for
//! places), or has the *same output*, or *another output*. In the last case it is wrong, but it need not break an ordering or a bound of
//! this execution (an index that stays in its array, a bound that is one element smaller), and only the program's own test can detect that.
//!
//! A mutant without a synchronisation is also judged by an [`oracle`]: has any pair of accesses lost its order? If so it has to be found,
//! if not it must not be found.

mod operators;
mod oracle;
#[allow(dead_code, reason = "shared by the test programs, each uses a part")]
#[path = "../support/support.rs"]
mod support;

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::support::{dslc_within, examples, header, labels, programs_in, relative, root};
use operators::{Mutant, OPERATORS, SYNCHRONISATIONS};
use oracle::{Rules, Trace};

/// Most mutants of one operator per program, spread over its sites; the small programs of `tests/findings/sound` get all.
const PER_PROGRAM: usize = 3;
const LIMIT: &str = "2000000";
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Runs with a longer trace are not given to the oracle.
const TRACE_BYTES: u64 = 32 << 20;

/// A correct program, and how to run it.
struct Original {
    path: PathBuf,
    source: String,
    options: Vec<String>,
    args: Vec<String>,
    all_sites: bool,
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
enum Run {
    Stillborn,
    Found(Vec<String>),
    Silent {
        output: String,
    },
    /// It exceeded the limit of instructions.
    TooLong,
    /// It exceeded the time limit.
    Endless,
}

fn originals() -> Vec<Original> {
    let sound = programs_in("tests/findings/sound");
    let others = examples().into_iter().chain(programs_in("tests/programs"));
    let all = sound
        .iter()
        .cloned()
        .map(|path| (path, true))
        .chain(others.map(|path| (path, false)));
    all.filter_map(|(path, all_sites)| {
        let source = fs::read_to_string(&path).expect("the program");
        if labels::not_yet(&source).is_some() {
            return None;
        }
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_string).collect();
        let options = owned(labels::options(&source));
        let args = header(&source, "args").join(" ");
        let args = owned(args.split_whitespace().collect());
        Some(Original {
            path,
            source,
            options,
            args,
            all_sites,
        })
    })
    .collect()
}

/// Runs a text in the way of the original.
fn run(original: &Original, path: &Path) -> Run {
    run_in(original, path, "ascending")
}

/// The same, with that order of blocks and warps.
fn run_in(original: &Original, path: &Path, order: &str) -> Run {
    let folder = original
        .path
        .parent()
        .expect("a folder")
        .to_string_lossy()
        .into_owned();
    let file = path.to_string_lossy().into_owned();
    let mut args = vec![
        "run", "--format", "json", "--jobs", "1", "--limit", LIMIT, "--order", order, "-I",
        &folder, &file,
    ];
    args.extend(original.options.iter().map(String::as_str));
    args.push("--");
    args.extend(original.args.iter().map(String::as_str));
    let Some(output) = dslc_within(&args, TIME_LIMIT) else {
        return Run::Endless;
    };
    let Ok(report) = serde_json::from_str::<Value>(&output.stdout) else {
        return Run::Stillborn;
    };
    if report["diagnostics"].is_array() {
        return Run::Stillborn;
    }
    let all = report["findings"].as_array().expect("findings");
    if all.iter().any(|finding| finding["code"] == "R0202") {
        return Run::TooLong;
    }
    let serious = all.iter().filter(|finding| finding["severity"] == "error");
    let mut kinds: Vec<String> = serious
        .map(|finding| finding["kind"].as_str().expect("a kind").to_string())
        .collect();
    kinds.sort();
    kinds.dedup();
    if kinds.is_empty() {
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = report["stdout"]
            .as_str()
            .expect("stdout")
            .replace(&name, "");
        Run::Silent {
            output: format!("{} {text}", report["exit_code"]),
        }
    } else {
        Run::Found(kinds)
    }
}

/// The unordered pairs of a run, by the checks' rules and by PTX's; `None` if its trace is too long.
fn unordered(original: &Original, path: &Path, trace: &Path) -> Option<[HashSet<oracle::Pair>; 2]> {
    let folder = original.path.parent().expect("a folder").to_string_lossy();
    let (file, to) = (path.to_string_lossy(), trace.to_string_lossy());
    let mut args = vec![
        "run", "-q", "--limit", LIMIT, "--trace", &to, "-I", &folder, &file,
    ];
    args.extend(original.options.iter().map(String::as_str));
    args.push("--");
    args.extend(original.args.iter().map(String::as_str));
    let ended = dslc_within(&args, TIME_LIMIT).is_some();
    let bytes = fs::metadata(trace).map_or(0, |file| file.len());
    let text = (ended && 0 < bytes && bytes < TRACE_BYTES).then(|| fs::read_to_string(trace));
    let _ = fs::remove_file(trace);
    let trace = Trace::read(&text?.expect("the trace"));
    Some([Rules::Checks, Rules::ReaderFences].map(|rules| trace.unordered(rules)))
}

/// The oracle's verdict on a mutant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Order {
    /// Two accesses have lost their order, or have lost `volatile` and are unordered.
    Lost,
    /// They have lost it only under the rule that the reader needs a fence, too.
    LostByPtx,
    Kept,
    Unknown,
}

impl Order {
    fn of(
        original: &Option<[HashSet<oracle::Pair>; 2]>,
        mutant: &Option<[HashSet<oracle::Pair>; 2]>,
    ) -> Order {
        let (Some(before), Some(after)) = (original, mutant) else {
            return Order::Unknown;
        };
        let lost = |rules: usize| !after[rules].is_subset(&before[rules]);
        match (lost(0), lost(1)) {
            (true, _) => Order::Lost,
            (false, true) => Order::LostByPtx,
            (false, false) => Order::Kept,
        }
    }
}

/// The kernels of a program's IR.
fn kernels(ir: &str) -> String {
    let parts = ir.split("\n\n");
    parts.filter(|part| part.starts_with("kernel ")).collect()
}

/// The IR without places.
fn ir(path: &Path, original: &Original) -> String {
    let folder = original
        .path
        .parent()
        .expect("a folder")
        .to_string_lossy()
        .into_owned();
    let file = path.to_string_lossy().into_owned();
    let args = [&["ir", "-I", &folder, &file][..]].concat();
    let Some(output) = dslc_within(&args, TIME_LIMIT) else {
        return String::new();
    };
    let text = output.stdout;
    let without = |line: &str| line.split(" !").next().unwrap_or("").to_string();
    let skipped = |line: &&str| {
        !["file ", "module ", "loc "]
            .iter()
            .any(|word| line.starts_with(word))
    };
    text.lines()
        .filter(skipped)
        .map(|line| without(line) + "\n")
        .collect()
}

/// Does `work` for every index, on all cores.
fn in_parallel<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(vec![]);
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    let result = work(at);
                    done.lock().expect("no panic").push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no panic");
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The mutants of a program that run.
fn chosen(original: &Original) -> Vec<Mutant> {
    let all = operators::mutants(&original.source);
    let mut chosen = vec![];
    for operator in OPERATORS {
        let of_it: Vec<&Mutant> = all
            .iter()
            .filter(|mutant| mutant.operator == *operator)
            .collect();
        let wanted = if original.all_sites {
            of_it.len()
        } else {
            PER_PROGRAM.min(of_it.len())
        };
        chosen.extend((0..wanted).map(|n| of_it[n * of_it.len() / wanted].clone()));
    }
    chosen
}

/// The counts of one operator.
#[derive(Default)]
struct Row {
    made: usize,
    found: usize,
    same_program: usize,
    same_output: usize,
    other_turned: usize,
    other_output: usize,
    endless: usize,
    kinds: BTreeMap<String, usize>,
}

#[test]
fn what_is_broken_is_found() {
    let folder = root().join("target/tmp/mutants");
    fs::create_dir_all(&folder).expect("a folder for the mutants");
    let mut originals = originals();
    let runs = in_parallel(originals.len(), |at| {
        run(&originals[at], &originals[at].path)
    });
    // Long programs are left out, because each mutant would take as long.
    let mut short = runs.iter().map(|run| *run != Run::TooLong);
    originals.retain(|_| short.next() == Some(true));
    let sound: Vec<Run> = runs
        .into_iter()
        .filter(|run| *run != Run::TooLong)
        .collect();
    for (original, run) in originals.iter().zip(&sound) {
        assert!(
            matches!(run, Run::Silent { .. }),
            "false alarm on {}: {run:?}",
            relative(&original.path)
        );
    }
    let mut work: Vec<(usize, Mutant)> = vec![];
    for (at, original) in originals.iter().enumerate() {
        work.extend(chosen(original).into_iter().map(|mutant| (at, mutant)));
    }
    let orders = in_parallel(originals.len(), |at| {
        let is_judged = |mutant: &Mutant| SYNCHRONISATIONS.contains(&mutant.operator);
        let original = &originals[at];
        let mutants = work
            .iter()
            .filter(|(of, mutant)| *of == at && is_judged(mutant));
        if mutants.count() == 0 {
            return None;
        }
        unordered(
            original,
            &original.path,
            &folder.join(format!("{at}.original.trace")),
        )
    });
    let path = |at: usize| folder.join(format!("{at}.k"));
    let outcomes = in_parallel(work.len(), |at| {
        let (of, mutant) = &work[at];
        fs::write(path(at), &mutant.source).expect("the mutant");
        let outcome = run(&originals[*of], &path(at));
        let same = matches!(outcome, Run::Silent { .. })
            && ir(&path(at), &originals[*of]) == ir(&originals[*of].path, &originals[*of]);
        // A missing order shows if blocks and warps run in reverse.
        let turned = outcome == sound[*of]
            && !same
            && run_in(&originals[*of], &path(at), "descending")
                != run_in(&originals[*of], &originals[*of].path, "descending");
        // The oracle sees only kernels, so it does not judge changes of the host part.
        let judged = SYNCHRONISATIONS.contains(&mutant.operator)
            && kernels(&ir(&path(at), &originals[*of]))
                != kernels(&ir(&originals[*of].path, &originals[*of]));
        // The program may print its name, argv[0], so the mutant has the original's.
        let order = judged.then(|| {
            let trace = folder.join(format!("{at}.trace"));
            Order::of(&orders[*of], &unordered(&originals[*of], &path(at), &trace))
        });
        let _ = fs::remove_file(path(at));
        (outcome, same, turned, order)
    });
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let (mut missed, mut alarms) = (String::new(), String::new());
    let mut judged: BTreeMap<(&str, Order), [usize; 2]> = BTreeMap::new();
    for ((of, mutant), (outcome, same, turned, order)) in work.iter().zip(&outcomes) {
        let row = rows.entry(mutant.operator).or_default();
        if *outcome != Run::Stillborn {
            row.made += 1;
        }
        let name = relative(&originals[*of].path);
        let mut miss = |what: &str| {
            let order = match order {
                None => "",
                Some(Order::Lost) => ", an order is lost",
                Some(Order::LostByPtx) => ", an order is lost by PTX's rules",
                Some(Order::Kept) => ", no order is lost",
                Some(Order::Unknown) => ", too long to say what is lost",
            };
            missed += &format!("{} {name}:{} {what}{order}\n", mutant.operator, mutant.line);
        };
        if let Some(order) = order
            && *outcome != Run::Stillborn
        {
            let counts = judged.entry((mutant.operator, *order)).or_default();
            counts[0] += 1;
            counts[1] += usize::from(matches!(outcome, Run::Found(_)));
            if *order == Order::Kept && matches!(outcome, Run::Found(_)) {
                alarms += &format!("{} {name}:{} {outcome:?}\n", mutant.operator, mutant.line);
            }
        }
        match outcome {
            Run::Stillborn => {}
            Run::Found(kinds) => {
                row.found += 1;
                for kind in kinds {
                    *row.kinds.entry(kind.clone()).or_default() += 1;
                }
            }
            Run::Endless | Run::TooLong => {
                row.endless += 1;
                miss("did not end");
            }
            Run::Silent { .. } if *same => row.same_program += 1,
            Run::Silent { .. } if *turned => {
                row.other_turned += 1;
                miss("other output when blocks and warps run in descending order");
            }
            Run::Silent { .. } if *outcome == sound[*of] => {
                row.same_output += 1;
                miss("same output");
            }
            Run::Silent { .. } => {
                row.other_output += 1;
                miss("other output");
            }
        }
    }
    fs::write(folder.join("missed.txt"), &missed).expect("the list");
    let mut table = format!("{} originals, 0 false alarms\n\n", originals.len());
    table += &format!(
        "{:<22} {:>7} {:>6} {:>13} {:>12} {:>13} {:>13} {:>8}  as\n",
        "operator",
        "mutants",
        "found",
        "same program",
        "same output",
        "by order only",
        "other output",
        "endless"
    );
    for operator in OPERATORS {
        let row = rows.remove(operator).unwrap_or_default();
        let kinds: Vec<String> = row
            .kinds
            .iter()
            .map(|(kind, n)| format!("{kind} {n}"))
            .collect();
        table += &format!(
            "{operator:<22} {:>7} {:>6} {:>13} {:>12} {:>13} {:>13} {:>8}  {}\n",
            row.made,
            row.found,
            row.same_program,
            row.same_output,
            row.other_turned,
            row.other_output,
            row.endless,
            kinds.join(", ")
        );
    }
    table += &format!(
        "\n{:<22} {:>18} {:>18} {:>18} {:>8}\n",
        "by the oracle: found", "of order lost", "of lost by PTX", "of none lost", "unknown"
    );
    for operator in SYNCHRONISATIONS {
        let mut of = |order: Order| {
            let [made, found] = judged.remove(&(*operator, order)).unwrap_or_default();
            format!("{found} of {made}")
        };
        table += &format!(
            "{operator:<22} {:>18} {:>18} {:>18} {:>8}\n",
            of(Order::Lost),
            of(Order::LostByPtx),
            of(Order::Kept),
            of(Order::Unknown)
        );
    }
    fs::write(folder.join("alarms.txt"), &alarms).expect("the list");
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "../snapshots/mutants", omit_expression => true }, {
        insta::assert_snapshot!("table", table);
        insta::assert_snapshot!("missed", missed);
    });
}
