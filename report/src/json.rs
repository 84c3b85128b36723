//! The JSON report, schema `dslc-report/1`. Keys are never renamed within the schema; new ones go to the end of their object.
//!
//! A count that the architecture's rules do not model is `null`, never 0.

use interp::{
    CompiledCounts, CountDepends, Counted, LaunchReport, Orders, Site,
    finding::{Advice, Late, Sight, WitnessLanes},
    metrics::{Metric, Unit},
    reuse::Reuse,
    rules::RuleSet,
};
use runtime::launches::IdenticalLaunches;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{
    Input, Model, Suggestion,
    architectures::{self, ArchRow},
    blocks::Blocks,
    code::Compiled as Likely,
    compiled::{ByPlace, Compiled},
    expr::Seen,
    findings::{Found, Side},
    measure::Measure,
    model::{HotSpot, Idle, idle},
    require::Judged,
};

/// The whole object.
#[derive(Serialize)]
pub struct Report<'a> {
    schema: &'static str,
    #[serde(flatten)]
    run: Run,
    launches: Launches<'a>,
    findings: Vec<Value>,
    stdout: String,
    /// The value that `main` returned or passed to `exit`.
    exit_code: i32,
    notes: Vec<String>,
    /// The number of findings that the baseline has; they are not among `findings`.
    muted_findings: usize,
    /// Why the program was not run: the front end's messages, as from `dslc check`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<Value>,
    /// The lines that waste, worst first, over all launches.
    hot_spots: &'a [HotSpot],
    /// Cures of hot spots and findings.
    suggestions: &'a [Suggestion],
    /// The other architectures of `--arch a,b`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    architectures: Vec<ArchRow>,
    /// The results of `--require`.
    #[serde(skip_serializing_if = "<[Judged]>::is_empty")]
    requirements: &'a [Judged],
    /// The metrics of `--metrics`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profiler_metrics: Vec<KernelMetrics>,
    /// With `--blocks`: which part of the last launch ran, for `dslc merge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<&'a Blocks>,
}

/// Metrics under their profilers' names, from the added counts of all launches of a kernel.
#[derive(Serialize)]
struct KernelMetrics {
    /// `null`: the row of all kernels.
    kernel: Option<String>,
    launches: u64,
    /// Efficiencies are fractions of 1. `null`: there was nothing to count, or the rules do not model it.
    values: Map<String, Value>,
}

/// What ran, and on which architecture.
#[derive(Serialize)]
struct Run {
    program: String,
    arch: String,
    /// The rule file, if the counts do not follow the architecture's own rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<&'static str>,
    bank_width: u32,
    device: String,
}

impl Run {
    fn new(program: &str, rules: &RuleSet, device: &str) -> Run {
        Run {
            program: program.to_string(),
            arch: rules.arch.to_string(),
            rules: rules.given_by.map(|by| by.trim_matches('`')),
            bank_width: rules.bank_width.bytes(),
            device: device.to_string(),
        }
    }
}

/// The launches. Each is built while it is written, because there may be very many.
struct Launches<'a>(Option<&'a Model<'a>>);

impl Serialize for Launches<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let models = self.0.into_iter();
        serializer.collect_seq(models.flat_map(|model| {
            let each = model.input.launches();
            each.map(|(index, report)| launch(index, report, model))
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
    /// Accesses whose number depends on the schedule: line, usual count, least and most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counts_depend: Vec<CountRow>,
    /// If threads communicate: `both` or `one`, the orders of blocks and warps in which the launch ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<&'static str>,
    /// Milliseconds on a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ms: Option<f64>,
    /// With `--count-only`: the number of blocks it was counted from, or `null`, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<Option<CountedRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The file of `line`, if that is an included one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// How often its loads request the same bytes of global memory, all loads together.
    #[serde(skip_serializing_if = "Option::is_none")]
    reuse: Option<ReuseRow>,
    /// The compiler, if the launch was also counted as compiled; `null` if it could not be, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled_by: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled_because: Option<String>,
    /// `compiled`: the metrics and accesses are those of the compiled kernel. Else they are those of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_as: Option<&'static str>,
    /// Totals as compiled, by the names of `metrics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled_metrics: Option<Map<String, Value>>,
    /// Compiled accesses that belong to no access of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled_elsewhere: Option<Vec<ElsewhereRow>>,
    /// Whether memory ended as compiled as it did as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled_same_memory: Option<bool>,
    /// Blocks, warps and lanes that do nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<Idle>,
}

/// How often bytes of global memory are requested. The blocks are a sample, the same for every run of the launch.
#[derive(Serialize)]
struct ReuseRow {
    /// The sampled blocks. The next fields, up to `by_block`, are about these only.
    blocks: u64,
    bytes: u64,
    /// Different bytes of each block, summed.
    distinct_bytes: u64,
    sectors: u64,
    distinct_sectors: u64,
    /// How often a block requests each byte.
    by_block: f64,
    /// Of all blocks: requested bytes, and different bytes. `null`: the sample does not determine them.
    grid_bytes: u64,
    grid_distinct_bytes: Option<u64>,
    over_grid: Option<f64>,
    /// Whether the sample contains all blocks.
    exact: bool,
    /// Operations on loaded values near the access, for each byte that is requested there.
    #[serde(skip_serializing_if = "Option::is_none")]
    operations_per_byte: Option<f64>,
}

impl ReuseRow {
    fn of(reuse: Option<&Reuse>, asked: u64, operations_per_byte: Option<f64>) -> Option<ReuseRow> {
        let reuse = reuse?;
        let over = |distinct: u64| asked as f64 / distinct.max(1) as f64;
        Some(ReuseRow {
            blocks: reuse.blocks,
            bytes: reuse.bytes,
            distinct_bytes: reuse.distinct_bytes,
            sectors: reuse.sectors,
            distinct_sectors: reuse.distinct_sectors,
            by_block: reuse.by_block(),
            grid_bytes: asked,
            grid_distinct_bytes: reuse.grid_bytes,
            over_grid: reuse.grid_bytes.map(over),
            exact: reuse.is_exact,
            operations_per_byte,
        })
    }
}

/// The blocks that ran and represent all of them.
#[derive(Serialize)]
struct CountedRow {
    blocks_run: u64,
    blocks: u64,
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
    #[serde(flatten)]
    counts: CountsRow,
    degrees: Map<String, Value>,
    file: String,
    /// For global memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    reuse: Option<ReuseRow>,
    /// Why a compiled kernel is likely to make other accesses than this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_written: Option<String>,
    /// The same access as compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled: Option<Compiled>,
}

/// A compiled access that belongs to no access of the source.
#[derive(Serialize)]
struct ElsewhereRow {
    line: u32,
    space: String,
    op: String,
    width: u32,
    requests: u64,
    transactions: u64,
    sectors: u64,
}

impl ElsewhereRow {
    fn of(site: &Site) -> ElsewhereRow {
        ElsewhereRow {
            line: site.line,
            space: site.space.to_string(),
            op: site.op.to_string(),
            width: site.width_bytes,
            requests: site.counts.requests,
            transactions: site.counts.transactions,
            sectors: site.counts.sectors,
        }
    }
}

#[derive(Serialize)]
struct CountsRow {
    requests: u64,
    transactions: Option<u64>,
    ideal: Option<u64>,
    bank_conflicts: Option<u64>,
    max_degree: Option<u32>,
    sectors: Option<u64>,
    ideal_sectors: Option<u64>,
    bytes: u64,
    active_lanes: u64,
}

/// Builds the object.
pub fn report<'a>(model: &'a Model<'a>, stdout: &[u8]) -> Report<'a> {
    let input = model.input;
    let unlisted = input.outcome.launches.unlisted();
    let listed = (unlisted > 0).then(|| {
        let all = input.outcome.launches.len();
        format!("the first {} of {all} launches are listed", all - unlisted)
    });
    Report {
        schema: "dslc-report/1",
        run: Run::new(input.program, input.rules, input.gpu.unwrap_or("simulator")),
        launches: Launches(Some(model)),
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
        hot_spots: &model.hot_spots,
        suggestions: &model.suggestions,
        architectures: architectures::json(model),
        requirements: &model.requirements,
        profiler_metrics: profiler_metrics(model),
        blocks: model.blocks.as_deref(),
    }
}

/// The object of a program that does not compile.
pub fn not_run(program: &str, rules: &RuleSet, diagnostics: Vec<Value>) -> Report<'static> {
    Report {
        schema: "dslc-report/1",
        run: Run::new(program, rules, "simulator"),
        launches: Launches(None),
        findings: vec![],
        stdout: String::new(),
        exit_code: 1,
        notes: vec![],
        muted_findings: 0,
        diagnostics,
        hot_spots: &[],
        suggestions: &[],
        architectures: vec![],
        requirements: &[],
        profiler_metrics: vec![],
        blocks: None,
    }
}

/// A row for all kernels, then one for each kernel, in the order of their first launches.
fn profiler_metrics(model: &Model<'_>) -> Vec<KernelMetrics> {
    let input = model.input;
    if model.metrics.is_empty() || input.gpu.is_some() {
        return vec![];
    }
    let mut kernels: Vec<(Option<&str>, Vec<&IdenticalLaunches>)> =
        vec![(None, input.kept().collect())];
    for kept in input.kept() {
        let name = Some(kept.report.kernel_name.as_str());
        match kernels.iter_mut().find(|(kernel, _)| *kernel == name) {
            Some((_, launches)) => launches.push(kept),
            None => kernels.push((name, vec![kept])),
        }
    }
    let value = |metric: &&'static Metric, launches: &[&IdenticalLaunches]| {
        let seen = Measure::of(metric).over(launches, input.rules);
        let value = match seen {
            Seen::Number(count) if metric.unit == Unit::Count => json!(count as u64),
            Seen::Number(part) => json!(part),
            Seen::Nothing | Seen::NotModelled => Value::Null,
        };
        (metric.name.to_string(), value)
    };
    let row = |(kernel, launches): (Option<&str>, Vec<&IdenticalLaunches>)| KernelMetrics {
        kernel: kernel.map(str::to_string),
        launches: launches.iter().map(|kept| kept.times()).sum(),
        values: model
            .metrics
            .iter()
            .map(|metric| value(metric, &launches))
            .collect(),
    };
    kernels.into_iter().map(row).collect()
}

fn launch(index: usize, report: &LaunchReport, model: &Model<'_>) -> Launch {
    let input = model.input;
    let compiled = ByPlace::of(report);
    let words = ("constant_words", Some(Input::constant_words(report)));
    let metrics = report
        .counts
        .totals()
        .into_iter()
        .chain(std::iter::once(words))
        // On a GPU nothing is counted.
        .map(|(name, value)| {
            (
                name.to_string(),
                json!(value.filter(|_| input.gpu.is_none())),
            )
        });
    Launch {
        index,
        kernel: report.kernel_name.clone(),
        line: report.statement.line,
        grid: report.grid,
        block: report.block,
        shared_bytes: SharedBytes {
            fixed: report.shared.fixed,
            dynamic: report.shared.dynamic,
        },
        metrics: metrics.collect(),
        sites: report
            .sites
            .iter()
            .map(|site| site_row(site, report, model, compiled.as_ref()))
            .collect(),
        counts_depend: report
            .order
            .counts
            .iter()
            .map(|count| CountRow::of(count, input))
            .collect(),
        orders: match report.order.ran {
            Orders::Same => None,
            Orders::One => Some("one"),
            Orders::Both => Some("both"),
        },
        time_ms: input.outcome.times_ms.get(index).copied().flatten(),
        counted: match report.order.counted {
            Counted::Run => None,
            Counted::From { blocks, .. } => Some(Some(CountedRow {
                blocks_run: blocks,
                blocks: report.grid.iter().map(|&n| u64::from(n)).product(),
            })),
            Counted::Part { from, to } => Some(Some(CountedRow {
                blocks_run: to - from,
                blocks: report.grid.iter().map(|&n| u64::from(n)).product(),
            })),
            Counted::InFull(_) => Some(None),
        },
        reason: match &report.order.counted {
            Counted::InFull(why) => Some(why.text(|loc| input.place(loc))),
            Counted::Run | Counted::From { .. } | Counted::Part { .. } => None,
        },
        file: input.included(report),
        reuse: ReuseRow::of(report.reuse.as_ref(), report.counts.global_load.bytes, None),
        compiled_by: report.compiled.as_ref().map(|compiled| match compiled {
            CompiledCounts::Not(_) => None,
            CompiledCounts::Counted { by, .. } | CompiledCounts::Instead { by, .. } => {
                Some(by.clone())
            }
        }),
        counted_as: match &report.compiled {
            Some(CompiledCounts::Instead { .. }) => Some("compiled"),
            _ => None,
        },
        compiled_because: match &report.compiled {
            Some(CompiledCounts::Not(why)) => Some(why.clone()),
            _ => None,
        },
        compiled_metrics: compiled.as_ref().map(|compiled| {
            let totals = compiled.counts.totals().into_iter();
            totals
                .map(|(name, value)| (name.to_string(), json!(value)))
                .collect()
        }),
        compiled_elsewhere: compiled
            .as_ref()
            .map(|compiled| compiled.unattributed().map(ElsewhereRow::of).collect()),
        compiled_same_memory: match &report.compiled {
            Some(
                CompiledCounts::Counted { same_memory, .. }
                | CompiledCounts::Instead { same_memory, .. },
            ) => Some(*same_memory),
            _ => None,
        },
        idle: input.gpu.is_none().then(|| {
            let is_whole = idle::is_whole(report, index, input.outcome);
            Idle::of((report, is_whole), &model.codes)
        }),
    }
}

fn counts_row(site: &Site) -> CountsRow {
    let counts = &site.counts;
    let known = !counts.not_modelled();
    let shared = site.space == ir::Space::Shared;
    CountsRow {
        requests: counts.requests,
        transactions: known.then_some(counts.transactions),
        ideal: known.then_some(if shared || site.space == ir::Space::Constant {
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
    }
}

fn site_row(
    site: &Site,
    launch: &LaunchReport,
    model: &Model<'_>,
    compiled: Option<&ByPlace<'_>>,
) -> SiteRow {
    let input = model.input;
    let facts = model.codes.facts(launch.kernel, site);
    let density = facts.and_then(|facts| facts.operations_per_byte);
    let likely = facts.and_then(|facts| facts.compiled);
    let degrees = site
        .counts
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
        counts: counts_row(site),
        degrees: degrees
            .map(|(degree, &n)| (degree.to_string(), json!(n)))
            .collect(),
        file: input
            .module
            .files
            .get(site.file as usize)
            .cloned()
            .unwrap_or_default(),
        reuse: ReuseRow::of(site.reuse.as_ref(), site.counts.bytes, density),
        as_written: likely.map(Likely::reason),
        compiled: compiled.map(|compiled| compiled.site(site)),
    }
}

fn findings(model: &Model<'_>) -> Vec<Value> {
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

/// Findings with the same `group` have one cause.
fn finding(found: &Found, group: usize, input: &Input<'_>) -> Value {
    let (array, index) = found.memory.object.clone().unzip();
    let mut row = json!({
        "code": found.code.number(),
        "kind": found.kind,
        "severity": found.severity.name(),
        "launch": found.occurrences.launch,
        "message": found.message,
        "space": found.memory.space,
        "accesses": found.sides.iter().map(|side| access(side, input)).collect::<Vec<_>>(),
        "kernel": found.kernel,
        "array": array,
        "index": index,
        "advice": found.advice.as_ref().map(Advice::text),
        // How often the accesses conflicted, in all launches together.
        "count": found.occurrences.count,
        "launches": found.occurrences.launches,
    });
    if found.how.skipped {
        row["skipped"] = true.into();
    }
    if found.how.descending {
        row["descending"] = true.into();
    }
    if let Some(seed) = found.how.scheduled {
        row["only_under"] = interp::Schedule::Adversarial(seed).to_string().into();
    }
    if let Some(schedule) = &found.schedule {
        row["schedule"] = json!({
            "name": interp::Schedule::Adversarial(schedule.seed).to_string(),
            "tried": schedule.tried,
            "memory": if schedule.is_weak { "weak" } else { "strong" },
            "turns": schedule.turns.iter().map(|turn| json!({
                "block": turn.block,
                "warp": turn.warp,
                "lanes": format!("{:#010x}", turn.lanes),
                "end": turn.end.name(),
                "line": input.module.loc(turn.at).line,
                "text": input.module.loc(turn.at).text,
            })).collect::<Vec<_>>(),
            "late": schedule.lates.iter().map(|late| self::late(late, input)).collect::<Vec<_>>(),
        });
    }
    // The lanes of one warp that made one of the accesses when it was first found.
    let lanes = |row: &WitnessLanes| {
        json!({
            "access": row.access,
            "block": row.block,
            "warp": row.warp,
            // One bit per lane.
            "lanes": format!("{:#010x}", row.lanes),
        })
    };
    row["witness"] = found.witness.iter().map(lanes).collect();
    row["fingerprint"] = found.fingerprint.clone().into();
    row["group"] = group.into();
    row
}

/// An access whose number depends on the schedule.
#[derive(Serialize)]
struct CountRow {
    line: u32,
    text: String,
    op: &'static str,
    usual: u64,
    least: u64,
    most: u64,
}

impl CountRow {
    fn of(count: &CountDepends, input: &Input<'_>) -> CountRow {
        let loc = input.module.loc(count.loc);
        CountRow {
            line: loc.line,
            text: loc.text.clone(),
            op: interp::FindingOp::from(count.op).name(),
            usual: count.usual,
            least: count.least,
            most: count.most,
        }
    }
}

/// An access that was late.
fn late(late: &Late, input: &Input<'_>) -> Value {
    let sight = |sight: &Sight| {
        json!({
            "line": input.module.loc(sight.at).line,
            "memory": sight.name,
            "value": sight.value,
        })
    };
    json!({
        // The index in `turns` of the turn in which it happens.
        "turn": late.turn,
        "op": late.op.name(),
        // The later line that ran before it.
        "after": late.after.map(|after| input.module.loc(after).line),
        "block": late.who.0,
        "thread": late.who.1,
        "access": sight(&late.access),
        "missed": sight(&late.missed),
        // What its thread had read before, of values that the other thread stored later.
        "despite": late.despite.as_ref().map(|despite| sight(&despite.read)),
    })
}

fn access(side: &Side, input: &Input<'_>) -> Value {
    let loc = input.module.loc(side.loc);
    let file = input.module.files.get(loc.file as usize);
    let (warp, lane) = side.lane.unzip();
    json!({
        "op": side.op.name(),
        "line": loc.line,
        "column": loc.column,
        "block": side.block,
        "thread": side.thread,
        "file": file.filter(|_| loc.line > 0).map_or("", String::as_str),
        "text": loc.text,
        "warp": warp,
        "lane": lane,
        "bytes": side.bytes,
        "value": side.value,
        "volatile": side.volatile,
    })
}
