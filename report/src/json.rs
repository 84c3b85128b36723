//! The JSON report, schema `dslc-report/1`. Keys are never renamed within the schema; new ones go to the end of their object.
//!
//! A count that the architecture's rules do not model is `null`, never 0.

use interp::{LaunchReport, Orders, Site, rules::RuleSet};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{
    Input, Model, Suggestion,
    architectures::{self, ArchRow},
    findings::{Found, Side},
    model::HotSpot,
};

/// The whole object.
#[derive(Serialize)]
pub struct Report<'a> {
    schema: &'static str,
    program: String,
    arch: String,
    /// The file of rules that counted, if they are not the architecture's.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<&'static str>,
    bank_width: u32,
    device: String,
    launches: Launches<'a>,
    findings: Vec<Finding>,
    stdout: String,
    /// What `main` returned or gave to `exit`.
    exit_code: i32,
    notes: Vec<String>,
    /// Findings that the baseline has, and that are not among `findings`.
    muted_findings: usize,
    /// Why the program was not run: the front end's messages, as in `dslc check`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<Value>,
    /// What wastes, worst first, over all launches.
    hot_spots: Vec<HotSpotRow<'a>>,
    /// Cures of hot spots and findings.
    suggestions: &'a [Suggestion],
    /// The other architectures of `--arch a,b`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    architectures: Vec<ArchRow>,
}

/// A line that wastes.
#[derive(Serialize)]
struct HotSpotRow<'a> {
    waste: &'static str,
    file: &'a str,
    line: u32,
    column: u32,
    text: &'a str,
    /// Beyond the ideal, in the units of `waste`.
    excess: u64,
    used: u64,
    ideal: u64,
    /// Of all of that kind.
    share: f64,
    /// Requests by the ways they were served in, of those in more than one.
    ways: Map<String, Value>,
    accesses: Vec<HotAccessRow<'a>>,
    kernels: &'a [String],
    launches: u64,
    fact: &'a str,
    /// A thought: not proved.
    advice: Option<&'a str>,
}

#[derive(Serialize)]
struct HotAccessRow<'a> {
    op: String,
    column: u32,
    text: &'a str,
    requests: u64,
    used: u64,
    ideal: u64,
}

/// The launches one by one: each is made as it is written, for there may be very many.
struct Launches<'a>(Option<&'a Input<'a>>);

impl Serialize for Launches<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let inputs = self.0.into_iter();
        serializer.collect_seq(inputs.flat_map(|input| {
            let each = input.launches();
            each.map(|(index, report)| launch(index, report, input))
        }))
    }
}

#[derive(Serialize)]
struct Launch {
    index: usize,
    kernel: String,
    line: u32,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: SharedBytes,
    metrics: Map<String, Value>,
    sites: Vec<SiteRow>,
    /// `both` or `one`, where its threads communicate: in which orders of blocks and warps it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<&'static str>,
    /// Milliseconds on a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ms: Option<f64>,
    /// The file of `line`, where that is an included one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

#[derive(Serialize)]
struct SharedBytes {
    #[serde(rename = "static")]
    fixed: u64,
    dynamic: u64,
}

#[derive(Serialize)]
struct SiteRow {
    line: u32,
    column: u32,
    text: String,
    space: String,
    op: String,
    width: u32,
    requests: u64,
    transactions: Option<u64>,
    ideal: Option<u64>,
    bank_conflicts: Option<u64>,
    max_degree: Option<u32>,
    sectors: Option<u64>,
    ideal_sectors: Option<u64>,
    bytes: u64,
    active_lanes: u64,
    degrees: Map<String, Value>,
    file: String,
}

#[derive(Serialize)]
struct Finding {
    code: &'static str,
    kind: &'static str,
    severity: &'static str,
    launch: Option<usize>,
    message: String,
    space: Option<String>,
    accesses: Vec<Access>,
    kernel: Option<String>,
    /// The array or allocation, and the element in it.
    array: Option<String>,
    index: Option<String>,
    advice: Option<String>,
    /// How often the accesses met, in all launches together.
    count: u64,
    /// In how many launches.
    launches: usize,
    /// An access that was skipped: the run went on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    skipped: bool,
    /// It shows only when the last blocks and warps come first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    descending: bool,
    witness: Vec<Lanes>,
    fingerprint: String,
    /// Findings with the same number have one cause.
    group: usize,
}

#[derive(Serialize)]
struct Access {
    op: String,
    line: u32,
    column: u32,
    block: [u32; 3],
    thread: [u32; 3],
    file: String,
    text: String,
    warp: Option<u32>,
    lane: Option<u32>,
    bytes: u32,
    value: Option<String>,
    volatile: bool,
}

/// Lanes of one warp that did one of the accesses when it was first found.
#[derive(Serialize)]
struct Lanes {
    access: usize,
    block: [u32; 3],
    warp: u32,
    /// One bit per lane.
    lanes: String,
}

/// Builds the object.
pub fn report<'a>(model: &'a Model<'a>, stdout: &[u8]) -> Report<'a> {
    let input = model.input;
    let unlisted = input.outcome.launches.unlisted();
    let listed = (unlisted > 0).then(|| {
        let all = input.outcome.launches.len();
        format!("of {all} launches the first {} are listed", all - unlisted)
    });
    Report {
        schema: "dslc-report/1",
        program: input.program.to_string(),
        arch: input.rules.arch.to_string(),
        rules: input.rules.given_by.map(|by| by.trim_matches('`')),
        bank_width: input.rules.bank_width.bytes(),
        device: input.gpu.unwrap_or("simulator").to_string(),
        launches: Launches(Some(input)),
        findings: findings(model),
        stdout: String::from_utf8_lossy(stdout).into_owned(),
        exit_code: input.outcome.exit_code,
        notes: input
            .outcome
            .notes
            .iter()
            .map(|note| note.text.clone())
            .chain(listed)
            .collect(),
        muted_findings: input.findings.iter().filter(|found| found.muted).count(),
        diagnostics: vec![],
        hot_spots: model.hot_spots.iter().map(hot_spot).collect(),
        suggestions: &model.suggestions,
        architectures: architectures::json(model),
    }
}

/// The object of a program that does not compile.
pub fn not_run(program: &str, rules: &RuleSet, diagnostics: Vec<Value>) -> Report<'static> {
    Report {
        schema: "dslc-report/1",
        program: program.to_string(),
        arch: rules.arch.to_string(),
        rules: rules.given_by.map(|by| by.trim_matches('`')),
        bank_width: rules.bank_width.bytes(),
        device: "simulator".to_string(),
        launches: Launches(None),
        findings: vec![],
        stdout: String::new(),
        exit_code: 1,
        notes: vec![],
        muted_findings: 0,
        diagnostics,
        hot_spots: vec![],
        suggestions: &[],
        architectures: vec![],
    }
}

fn hot_spot(spot: &HotSpot) -> HotSpotRow<'_> {
    let ways = spot.ways.iter();
    let accesses = spot.accesses.iter().map(|access| HotAccessRow {
        op: access.op.to_string(),
        column: access.column,
        text: &access.text,
        requests: access.requests,
        used: access.used,
        ideal: access.ideal,
    });
    HotSpotRow {
        waste: spot.waste.name(),
        file: &spot.file,
        line: spot.line,
        column: spot.column,
        text: &spot.source,
        excess: spot.excess,
        used: spot.used,
        ideal: spot.ideal,
        share: spot.share,
        ways: ways
            .map(|&(ways, count)| (ways.to_string(), json!(count)))
            .collect(),
        accesses: accesses.collect(),
        kernels: &spot.kernels,
        launches: spot.launches,
        fact: &spot.fact,
        advice: spot.thought.as_deref(),
    }
}

fn launch(index: usize, report: &LaunchReport, input: &Input<'_>) -> Launch {
    let words = ("constant_words", Some(Input::constant_words(report)));
    let metrics = report
        .counts
        .totals()
        .into_iter()
        .chain(std::iter::once(words))
        // A GPU counts nothing.
        .map(|(name, value)| {
            (
                name.to_string(),
                json!(value.filter(|_| input.gpu.is_none())),
            )
        });
    Launch {
        index,
        kernel: report.kernel_name.clone(),
        line: report.line,
        grid: report.grid,
        block: report.block,
        shared_bytes: SharedBytes {
            fixed: report.shared_static_bytes,
            dynamic: report.shared_dynamic_bytes,
        },
        metrics: metrics.collect(),
        sites: report
            .sites
            .iter()
            .map(|site| site_row(site, input))
            .collect(),
        orders: match report.orders {
            Orders::Same => None,
            Orders::One => Some("one"),
            Orders::Both => Some("both"),
        },
        time_ms: input.outcome.times_ms.get(index).copied().flatten(),
        file: input.included(report),
    }
}

fn site_row(site: &Site, input: &Input<'_>) -> SiteRow {
    let counts = &site.counts;
    let known = !counts.not_modelled();
    let shared = site.space == dsl::ir::Space::Shared;
    let degrees = counts
        .degree_histogram
        .iter()
        .enumerate()
        .filter(|&(_, &n)| n > 0);
    SiteRow {
        line: site.line,
        column: site.column,
        text: site.text.clone(),
        space: site.space.to_string(),
        op: site.op.to_string(),
        width: site.width_bytes,
        requests: counts.requests,
        transactions: known.then_some(counts.transactions),
        ideal: known.then_some(if shared || site.space == dsl::ir::Space::Constant {
            counts.ideal
        } else {
            counts.ideal_sectors
        }),
        bank_conflicts: known.then_some(if shared { counts.bank_conflicts() } else { 0 }),
        max_degree: known.then_some(counts.max_degree),
        sectors: known.then_some(counts.sectors),
        ideal_sectors: known.then_some(counts.ideal_sectors),
        bytes: counts.bytes,
        active_lanes: counts.active_lanes,
        degrees: degrees
            .map(|(degree, &n)| (degree.to_string(), json!(n)))
            .collect(),
        file: input
            .module
            .files
            .get(site.file as usize)
            .cloned()
            .unwrap_or_default(),
    }
}

fn findings(model: &Model<'_>) -> Vec<Finding> {
    let input = model.input;
    let all = input.findings.iter().enumerate();
    let shown = all.filter(|(_, found)| !found.muted);
    let group = |at: usize| {
        let mut groups = model.groups.iter();
        groups.position(|group| group.members.contains(&at))
    };
    shown
        .map(|(at, found)| finding(found, group(at).unwrap_or_default(), input))
        .collect()
}

fn finding(found: &Found, group: usize, input: &Input<'_>) -> Finding {
    let witness = found.witness.iter().map(|row| Lanes {
        access: row.access,
        block: row.block,
        warp: row.warp,
        lanes: format!("{:#010x}", row.lanes),
    });
    Finding {
        code: found.code.number(),
        kind: found.kind,
        severity: found.severity.name(),
        launch: found.launch,
        message: found.message.clone(),
        space: found.space.clone(),
        accesses: found.sides.iter().map(|side| access(side, input)).collect(),
        kernel: found.kernel.clone(),
        array: found.object.as_ref().map(|(name, _)| name.clone()),
        index: found.object.as_ref().map(|(_, index)| index.clone()),
        advice: found.advice.clone(),
        count: found.count,
        launches: found.launches,
        skipped: found.skipped,
        descending: found.descending,
        witness: witness.collect(),
        fingerprint: found.fingerprint.clone(),
        group,
    }
}

fn access(side: &Side, input: &Input<'_>) -> Access {
    let loc = input.module.loc(side.loc);
    let file = input.module.files.get(loc.file as usize);
    Access {
        op: side.op.clone(),
        line: loc.line,
        column: loc.column,
        block: side.block,
        thread: side.thread,
        file: file.filter(|_| loc.line > 0).cloned().unwrap_or_default(),
        text: loc.text.clone(),
        warp: side.lane.map(|(warp, _)| warp),
        lane: side.lane.map(|(_, lane)| lane),
        bytes: side.bytes,
        value: side.value.clone(),
        volatile: side.volatile,
    }
}
