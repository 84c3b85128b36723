//! Nsight Compute: runs the program under `ncu` once, and reads its report as two tables.
//!
//! The first table has a row per launch with the counters of the hardware units ([`METRICS`]). The second, the source page, has a section
//! per launch with a row per machine instruction: how often it was executed, its opcode, its wavefronts and sectors. A second print of that
//! page sorts the same instructions by source line. Its CSV does not escape quotes in source text, so rows are parsed from their end.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::child::{self, Scratch};
use crate::{
    args::{SourceArgs, VerifyArgs},
    failure::Failure,
};

/// Most launches that are profiled: each needs a replay for every group of counters.
pub(super) const MAX_LAUNCHES: usize = 100;

/// Counters of a launch: shared wavefronts (load, store, atomic), global sectors (load, store, atomic with and without a result).
pub(super) const METRICS: [&str; 7] = [
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
];

/// The measurements of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measured {
    pub(super) kernel: String,
    /// In the order of [`METRICS`]; `None` where the GPU has no such counter.
    pub(super) counters: [Option<u64>; 7],
    /// The machine instructions that were executed or access memory.
    pub(super) instructions: Vec<Instruction>,
}

/// A machine instruction of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Instruction {
    /// Source file and line, where known.
    pub(super) place: Option<(String, u32)>,
    /// `LDS.64`, with its modifiers.
    pub(super) opcode: String,
    /// Executions by warps, including those without an active lane.
    pub(super) executed: u64,
    /// Executions by threads that took part.
    pub(super) threads: u64,
    /// `Shared`, `Global`, `Local` …; empty if it accesses no memory.
    pub(super) space: String,
    pub(super) wavefronts: u64,
    pub(super) sectors: u64,
}

/// Where `ncu` is.
pub(super) fn find() -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join("ncu"))
        .find(|path| path.is_file())
}

/// Runs the program under `ncu`. The inner error says why measuring failed.
pub(super) fn measure(
    ncu: &Path,
    source: &SourceArgs,
    args: &VerifyArgs,
    scratch: &Scratch,
) -> Result<Result<Vec<Measured>, String>, Failure> {
    let report = scratch.file("report");
    let (program, line) = child::command(source, args, &scratch.file("record-ncu"))?;
    let log = scratch.file("ncu.log");
    let timeout = Duration::from_secs(args.timeout.saturating_mul(10));
    let mut command = Command::new(ncu);
    command
        .args(["--clock-control", "none", "--cache-control", "none"])
        .args(["--section", "SourceCounters", "--metrics"])
        .arg(METRICS.join(","))
        .args(["--import-source", "yes", "-f", "-o"])
        .arg(&report)
        .arg("--launch-count")
        .arg(MAX_LAUNCHES.to_string())
        .arg("--log-file")
        .arg(&log)
        .arg(program)
        .args(line);
    child::wait(
        &mut command,
        &scratch.file("ncu.stdout"),
        &scratch.file("ncu.stderr"),
        timeout,
    )?;
    let report = report.with_extension("ncu-rep");
    if !report.exists() {
        let log = fs::read_to_string(&log).unwrap_or_default();
        let why = log.lines().find(|line| line.starts_with("==ERROR=="));
        let why = why.map_or("it wrote no report", |line| {
            line.trim_start_matches("==ERROR==").trim()
        });
        return Ok(Err(why.to_string()));
    }
    let page = |page: &str, source: Option<&str>| -> Result<String, Failure> {
        let out = scratch.file("page");
        let mut command = Command::new(ncu);
        command.arg("-i").arg(&report);
        command.args(["--csv", "--print-units", "base", "--page", page]);
        if let Some(source) = source {
            command.args(["--print-source", source]);
        }
        child::wait(&mut command, &out, &scratch.file("page.err"), timeout)?;
        Ok(String::from_utf8_lossy(&fs::read(&out)?).into_owned())
    };
    let launches = launches(&page("raw", None)?);
    let instructions = sections(&page("source", Some("sass"))?);
    let places = places(&page("source", Some("cuda,sass"))?);
    Ok(Ok(join(launches, instructions, &places)))
}

/// The cells of a row.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim_end_matches(',');
    let line = line.strip_prefix('"').unwrap_or(line);
    let line = line.strip_suffix('"').unwrap_or(line);
    line.split("\",\"").collect()
}

fn number(cell: &str) -> Option<u64> {
    let digits: String = cell.chars().filter(|&c| c != ',').collect();
    let value: f64 = digits.parse().ok()?;
    Some(value as u64)
}

/// The first table: kernel and counters of each launch.
fn launches(page: &str) -> Vec<Measured> {
    let mut rows = page.lines().filter(|line| line.starts_with('"'));
    let Some(header) = rows.next().map(cells) else {
        return Vec::new();
    };
    let column = |name: &str| header.iter().position(|cell| *cell == name);
    let kernel = column("Kernel Name");
    let counters = METRICS.map(column);
    // The row after the header contains the units.
    rows.skip(1)
        .map(|row| {
            let cells = cells(row);
            let cell = |column: Option<usize>| column.and_then(|column| cells.get(column).copied());
            Measured {
                kernel: cell(kernel).unwrap_or_default().to_string(),
                counters: counters.map(|column| cell(column).and_then(number)),
                instructions: Vec::new(),
            }
        })
        .collect()
}

/// The source page sorted by address: per launch its kernel, and addresses with instructions.
fn sections(page: &str) -> Vec<(String, Vec<(String, Instruction)>)> {
    let mut sections: Vec<(String, Vec<(String, Instruction)>)> = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    for line in page.lines() {
        let cells = cells(line);
        match cells.as_slice() {
            ["Kernel Name", name, ..] => sections.push(((*name).to_string(), Vec::new())),
            ["Address", ..] => columns = cells,
            [address, ..] if address.starts_with("0x") && cells.len() >= columns.len() => {
                let Some((_, rows)) = sections.last_mut() else {
                    continue;
                };
                let extra = cells.len() - columns.len();
                let cell = |name: &str| {
                    let column = columns.iter().position(|column| *column == name);
                    column.and_then(|column| cells.get(column + extra).copied())
                };
                let count = |name: &str| cell(name).and_then(number).unwrap_or(0);
                rows.push((
                    (*address).to_string(),
                    Instruction {
                        place: None,
                        opcode: opcode(cells[1]),
                        executed: count("Instructions Executed"),
                        threads: count("Predicated-On Thread Instructions Executed"),
                        space: cell("Address Space")
                            .filter(|space| *space != "-")
                            .unwrap_or_default()
                            .to_string(),
                        wavefronts: count("L1 Wavefronts Shared"),
                        sectors: count("L2 Theoretical Sectors Global"),
                    },
                ));
            }
            _ => {}
        }
    }
    sections
}

/// The opcode of a machine instruction: `@P0 LDS.64 R2, [R4]` has `LDS.64`.
fn opcode(text: &str) -> String {
    let word = text.split_whitespace().find(|word| !word.starts_with('@'));
    word.unwrap_or_default().to_string()
}

/// The source page sorted by line: the place of each address, by kernel. An address may be under several lines (of an inlined function and
/// its caller); the first is used.
fn places(page: &str) -> BTreeMap<(String, String), (String, u32)> {
    let mut places = BTreeMap::new();
    let (mut file, mut kernel, mut line_number) = (String::new(), String::new(), 0);
    let mut columns = 0;
    for line in page.lines() {
        let cells = cells(line);
        match cells.as_slice() {
            ["File Path" | "File Name", path, ..] => file = (*path).to_string(),
            ["Function Name" | "Kernel Name", name, ..] => kernel = (*name).to_string(),
            ["Line No", ..] => columns = cells.len(),
            [number, ..] if cells.len() >= columns && columns > 4 => {
                if let Ok(number) = number.parse() {
                    line_number = number;
                }
                // The line and its text come first, then the address; everything after the text is free of quotes.
                let address = cells[cells.len() - columns + 2];
                if address.starts_with("0x") {
                    places
                        .entry((kernel.clone(), address.to_string()))
                        .or_insert_with(|| (file.clone(), line_number));
                }
            }
            _ => {}
        }
    }
    places
}

/// Joins the tables, launch by launch.
fn join(
    mut launches: Vec<Measured>,
    sections: Vec<(String, Vec<(String, Instruction)>)>,
    places: &BTreeMap<(String, String), (String, u32)>,
) -> Vec<Measured> {
    for (launch, (kernel, rows)) in launches.iter_mut().zip(sections) {
        for (address, mut instruction) in rows {
            if instruction.executed == 0 {
                continue;
            }
            instruction.place = places.get(&(kernel.clone(), address)).cloned();
            launch.instructions.push(instruction);
        }
    }
    launches
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of ncu 2025.3 for a kernel on an H200, without most columns.
    const RAW: &str = r#"==PROF== Connected
"ID","Kernel Name","l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
"","","","sector"
"0","jitk","1,208","64"
"#;
    const SASS: &str = r#""Kernel Name","jitk",
"Address","Source","Instructions Executed","Predicated-On Thread Instructions Executed","Address Space","L1 Wavefronts Shared","L2 Theoretical Sectors Global"
"0x70","      LDG.E R5, desc[UR6][R2.64]","16","512","Global","0","64"
"0x80"," @!P0 LDS.64 R2, [R4]","16","256","Shared","32","0"
"0x90","      BRA 0x90","0","0","-","0","0"
"#;
    const LINES: &str = r#""File Path","/w/jit.cu"
"Function Name","jitk"
"Line No","Source","Address","Source","Instructions Executed","Address Space"
"1","extern "C" __global__ void jitk(float *x)","-","-","16","-"
"5","tile[t] = f("a","b");","-","-","16","-"
"","","0x70","      LDG.E R5, desc[UR6][R2.64]","16","Global"
"","","...","","-","-"
"9","sum += tile[0];","-","-","16","-"
"","","0x80"," @!P0 LDS.64 R2, [R4]","16","Shared"
"#;

    #[test]
    fn the_tables_of_a_report_are_read_and_joined() {
        let measured = join(launches(RAW), sections(SASS), &places(LINES));
        assert_eq!(measured.len(), 1);
        assert_eq!(measured[0].kernel, "jitk");
        assert_eq!(measured[0].counters[0], Some(1208));
        assert_eq!(measured[0].counters[3], Some(64));
        assert_eq!(measured[0].counters[1], None);
        let [load, shared] = measured[0].instructions.as_slice() else {
            panic!("{:?}", measured[0].instructions);
        };
        assert_eq!(load.place, Some(("/w/jit.cu".to_string(), 5)));
        assert_eq!((load.opcode.as_str(), load.sectors), ("LDG.E", 64));
        assert_eq!(shared.place, Some(("/w/jit.cu".to_string(), 9)));
        assert_eq!(
            (shared.opcode.as_str(), shared.wavefronts, shared.threads),
            ("LDS.64", 32, 256)
        );
    }
}
