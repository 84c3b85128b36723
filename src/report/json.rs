//! The JSON report, schema `dslc-report/1`. Keys are never renamed within the schema; new ones go to the end of their object.
//!
//! A count that the architecture's rules do not model is `null`, never 0.

use interp::{LaunchReport, Site};
use runtime::{error::CudaError, host::Fault};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Input, fault};

/// The whole object.
#[derive(Serialize)]
pub(crate) struct Report {
    schema: &'static str,
    program: String,
    arch: String,
    bank_width: u32,
    device: String,
    launches: Vec<Launch>,
    findings: Vec<Finding>,
    stdout: String,
    /// What `main` returned or gave to `exit`.
    exit_code: i32,
    notes: Vec<String>,
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
    /// Milliseconds on a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ms: Option<f64>,
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
    code: String,
    kind: &'static str,
    severity: &'static str,
    launch: Option<usize>,
    message: String,
    space: Option<String>,
    accesses: Vec<Access>,
}

#[derive(Serialize)]
struct Access {
    op: String,
    line: u32,
    column: u32,
    block: [u32; 3],
    thread: [u32; 3],
}

/// Builds the object.
pub(crate) fn report(input: &Input<'_>, stdout: &[u8]) -> Report {
    Report {
        schema: "dslc-report/1",
        program: input.program.to_string(),
        arch: input.rules.arch.to_string(),
        bank_width: input.rules.bank_width.bytes(),
        device: input.gpu.unwrap_or("simulator").to_string(),
        launches: input
            .launches()
            .map(|(index, report)| launch(index, report, input))
            .collect(),
        findings: findings(input),
        stdout: String::from_utf8_lossy(stdout).into_owned(),
        exit_code: input.outcome.exit_code,
        notes: input
            .outcome
            .notes
            .iter()
            .map(|note| note.text.clone())
            .collect(),
    }
}

fn launch(index: usize, report: &LaunchReport, input: &Input<'_>) -> Launch {
    let metrics = report
        .counts
        .totals()
        .into_iter()
        // A GPU counts nothing.
        .map(|(name, value)| (name.to_string(), json!(value.filter(|_| input.gpu.is_none()))));
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
        time_ms: input.outcome.times_ms.get(index).copied().flatten(),
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
        ideal: known.then_some(if shared {
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

fn findings(input: &Input<'_>) -> Vec<Finding> {
    let faults = input.outcome.faults.iter().map(|fault| match fault {
        Fault::Invalid { kernel, loc, why } => {
            let loc = input.module.loc(*loc);
            Finding {
                code: fault::code_of_invalid().number().to_string(),
                kind: "invalid_launch",
                severity: "error",
                launch: None,
                message: format!(
                    "`{}` cannot be launched: {why}",
                    input.module.function(*kernel).name
                ),
                space: None,
                accesses: vec![Access {
                    op: "launch".into(),
                    line: loc.line,
                    column: loc.column,
                    block: [0; 3],
                    thread: [0; 3],
                }],
            }
        }
        Fault::Device(fault) => {
            let loc = input.module.loc(fault.loc);
            Finding {
                code: fault::code_of_device(fault.error).number().to_string(),
                kind: match fault.error {
                    CudaError::MisalignedAddress => "misaligned",
                    CudaError::LaunchTimeout => "deadlock",
                    CudaError::IllegalAddress => "out_of_bounds",
                    _ => "assertion",
                },
                severity: "error",
                launch: fault.launch,
                message: fault::device_message(fault, input.module),
                space: None,
                accesses: vec![Access {
                    op: "launch".into(),
                    line: loc.line,
                    column: loc.column,
                    block: [0; 3],
                    thread: [0; 3],
                }],
            }
        }
        Fault::Trap { launch, trap } => {
            let loc = input.module.loc(trap.loc);
            let access = trap.kind.access();
            Finding {
                code: fault::code_of_trap(&trap.kind).number().to_string(),
                kind: trap.kind.name(),
                severity: "error",
                launch: *launch,
                message: trap.message(),
                space: access.map(|access| access.space.to_string()),
                accesses: vec![Access {
                    op: access.map_or_else(|| "stop".to_string(), |access| access.op.to_string()),
                    line: loc.line,
                    column: loc.column,
                    block: trap.block,
                    thread: trap.thread,
                }],
            }
        }
    });
    faults.collect()
}
