//! Every program with a launch of at least three blocks: the launch in three uneven parts, put together, equals that of one run, in each
//! count, each finding, and each word of the report.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::{
    each,
    support::{Ran, dslc, root},
};

/// Why the parts of a launch are not equal to one run.
enum Why {
    /// dslc reports it with this text.
    Said(&'static str),
    /// Each block races with several blocks of another part at one byte, and the shadow cell has only the last one: the finding is there,
    /// but counted less often.
    Detail,
    /// A finding is caused after the launch.
    Later,
}

const ATOMIC: Why = Why::Said("the result of this atomic is used");
const VOLATILE: Why = Why::Said("`volatile` memory is read");
const WAITS: Why = Why::Said("these blocks wait for blocks that are not in");
const COOPERATIVE: Why = Why::Said("a cooperative launch cannot be split");

const EXCEPTIONS: &[(&str, Why)] = &[
    ("examples/last_block.k", ATOMIC),
    ("tests/features/10_cuda_atomic.k", ATOMIC),
    ("tests/features/10_grid_group.k", COOPERATIVE),
    ("tests/programs/cooperative_groups.k", COOPERATIVE),
    ("tests/programs/last_block.k", ATOMIC),
    ("tests/findings/sound/glance_at_a_flag.k", VOLATILE),
    ("tests/findings/sound/grid_barrier.k", WAITS),
    ("tests/findings/sound/grid_barrier_volatile.k", WAITS),
    ("tests/findings/sound/last_block.k", ATOMIC),
    ("tests/findings/sound/last_block_sums.k", ATOMIC),
    ("tests/findings/sound/last_block_volatile.k", ATOMIC),
    ("tests/findings/sound/look_back.k", WAITS),
    ("tests/findings/sound/look_back_atomics.k", WAITS),
    ("tests/findings/sound/work_queue.k", ATOMIC),
    (
        "tests/findings/faults/buffer_refilled_too_early.k",
        Why::Later,
    ),
    ("tests/findings/faults/first_block_wins.k", ATOMIC),
    ("tests/findings/faults/game_of_life.k", Why::Detail),
    ("tests/findings/faults/last_block_no_fence.k", ATOMIC),
    ("tests/findings/faults/managed_no_sync.k", Why::Later),
    (
        "tests/findings/faults/managed_variable_no_sync.k",
        Why::Later,
    ),
    ("tests/findings/faults/two_streams_no_event.k", Why::Later),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each("split::examples", "examples", 20, split);
    all.extend(each("split::features", "tests/features", 60, split));
    all.extend(each("split::programs", "tests/programs", 20, split));
    all.extend(each("split::sound", "tests/findings/sound", 20, split));
    all.extend(each("split::faults", "tests/findings/faults", 20, split));
    all
}

/// The number of programs whose launch ran in parts, whatever the result.
static SPLIT: AtomicUsize = AtomicUsize::new(0);

/// Checks that enough programs have three blocks; the tests of the others have nothing to do.
pub(crate) fn assert_enough() {
    let split = SPLIT.load(Ordering::Relaxed);
    assert!(split >= 100, "only {split} programs were split");
}

/// The options for the parts: no cures, and one order.
const OPTIONS: [&str; 4] = ["--cures", "never", "--order", "ascending"];

fn run(file: &str, options: &[&str]) -> Ran {
    dslc(&[&["run"], options, &OPTIONS, &[file]].concat())
}

fn split(file: &str, _: &str) -> Result<(), String> {
    let whole = run(file, &["--format", "json"]);
    let Ok(whole) = serde_json::from_str::<Value>(&whole.stdout) else {
        return Ok(());
    };
    let blocks = |launch: &Value| {
        let grid = launch["grid"].as_array().into_iter().flatten();
        grid.filter_map(Value::as_u64).product::<u64>()
    };
    let launches = whole["launches"].as_array().expect("launches");
    let Some(at) = launches.iter().position(|launch| blocks(launch) >= 3) else {
        return Ok(());
    };
    SPLIT.fetch_add(1, Ordering::Relaxed);
    let all = blocks(&launches[at]);
    let folder = root().join("target/tmp/split").join(file);
    fs::create_dir_all(&folder).expect("a folder for the test");
    let mut said = String::new();
    let mut part = |from: u64, to: u64| {
        let range = format!("{at}:{from}..{to}");
        let part = run(file, &["--format", "json", "--blocks", &range]);
        said += &part.stderr;
        let path = folder.join(format!("{from}-{to}.json"));
        fs::write(&path, part.stdout).expect("written");
        path.to_string_lossy().into_owned()
    };
    let middle = 1 + (all - 1).div_ceil(3);
    let parts = [part(0, 1), part(1, middle), part(middle, all)];
    let merge = |parts: &[String], options: &[&str]| {
        let files: Vec<&str> = parts.iter().map(String::as_str).collect();
        dslc(&[&["merge"], options, &files].concat())
    };
    let merged = merge(&parts, &["--format", "json"]);
    let why = EXCEPTIONS.iter().find(|(name, _)| *name == file);
    let why = why.map(|(_, why)| why);
    if let Some(Why::Said(why)) = why {
        said += &merged.stderr;
        let is_said = said.contains(why);
        return is_said.then_some(()).ok_or(format!(
            "`{why}` is not said:
{said}"
        ));
    }
    let text = merged.stdout;
    let merged: Value = serde_json::from_str(&text).map_err(|_| said + &merged.stderr)?;
    same(
        "launches",
        &launches[..=at],
        &merged["launches"].as_array().expect("launches")[..],
    )?;
    let until = |report: &Value| -> Vec<Value> {
        let findings = report["findings"].as_array().expect("findings").iter();
        let of_launch =
            |finding: &&Value| finding["launch"].as_u64().is_some_and(|n| n <= at as u64);
        findings.filter(of_launch).cloned().collect()
    };
    let (expected, found) = (until(&whole), until(&merged));
    match why {
        Some(Why::Later) => same("findings", &expected[..found.len()], &found)?,
        Some(Why::Detail) => same("findings", &outlines(&expected), &outlines(&found))?,
        _ => same("findings", &expected, &found)?,
    }
    if why.is_some() || at + 1 < launches.len() {
        return Ok(());
    }
    same(
        "hot spots",
        &[whole["hot_spots"].clone()],
        &[merged["hot_spots"].clone()],
    )?;
    // The report as text, which follows the program's output.
    let report = |ran: Ran| {
        let begins = ran.stdout.find("── ").unwrap_or(ran.stdout.len());
        ran.stdout[begins..].to_string()
    };
    let is_clean = until(&whole).len() == whole["findings"].as_array().map_or(0, Vec::len);
    let (expected, found) = (
        report(run(file, &["--launches=all"])),
        report(merge(&parts, &["--launches=all"])),
    );
    match is_clean && expected != found {
        true => Err(format!("the reports differ:\n{expected}\n{found}")),
        false => Ok(()),
    }
}

/// The kind and the place of findings.
fn outlines(findings: &[Value]) -> Vec<Value> {
    let outline = |finding: &Value| {
        let accesses = finding["accesses"].as_array().into_iter().flatten();
        let places = accesses.map(|access| [access["op"].clone(), access["line"].clone()]);
        let places: Vec<_> = places.collect();
        serde_json::json!([finding["code"], finding["severity"], places])
    };
    findings.iter().map(outline).collect()
}

/// Whether both are the same, byte for byte.
fn same(what: &str, expected: &[Value], found: &[Value]) -> Result<(), String> {
    for (expected, found) in expected.iter().zip(found) {
        let texts = [expected, found].map(|value| format!("{value:#}"));
        if texts[0] != texts[1] {
            let mut lines = texts[0].lines().zip(texts[1].lines());
            let differs = lines.find(|(a, b)| a != b);
            return Err(format!(
                "{what} differ: {differs:?}\n{}\n{}",
                texts[0], texts[1]
            ));
        }
    }
    match expected.len() == found.len() {
        true => Ok(()),
        false => Err(format!(
            "{} {what}, but {} of the parts",
            expected.len(),
            found.len()
        )),
    }
}
