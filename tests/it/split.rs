//! `dslc run --blocks` and `dslc merge` of such parts: the merged result, and the messages if merging is impossible. That each program's
//! parts equal one run is tested in `tests/each/split.rs`.

use std::{fs, path::PathBuf};

use serde_json::Value;

use crate::support::{Ran, dslc, has};

/// A launch with six blocks of a kernel that gets 600 numbers, all 0.
fn program(kernel: &str) -> String {
    format!(
        "{kernel}
int main()
{{
    int *out;
    cudaMalloc(&out, 600 * 4);
    cudaMemset(out, 0, 600 * 4);
    k<<<6, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    return 0;
}}
"
    )
}

const DISJOINT: &str = "__global__ void k(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}";

/// Each block reads and writes the last element of the one before.
const HALO: &str = "__global__ void k(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
    if (threadIdx.x == 0 && i > 0)
        out[i - 1] += 1;
}";

/// A folder with a program.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, kernel: &str) -> Folder {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join("split")
            .join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("made");
        fs::write(folder.join("p.cu"), program(kernel)).expect("written");
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    fn run(&self, options: &[&str]) -> Ran {
        let file = self.path("p.cu");
        let usual = ["--cures", "never", "--order", "ascending"];
        dslc(&[&["run"], &usual[..], options, &[&file]].concat())
    }

    /// Writes a part; returns its file.
    fn part(&self, range: &str, options: &[&str]) -> String {
        let ran = self.run(&[&["--blocks", range, "--format", "json"], options].concat());
        let path = self.path(&format!("{range}.json"));
        fs::write(&path, &ran.stdout).expect("written");
        path
    }

    fn merged(&self, ranges: &[&str], options: &[&str]) -> Ran {
        let parts: Vec<String> = ranges.iter().map(|range| self.part(range, &[])).collect();
        merge(&parts, options)
    }
}

fn merge(parts: &[String], options: &[&str]) -> Ran {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    dslc(&[&["merge"], options, &parts].concat())
}

/// The findings of a report, and its launches.
fn told(ran: &Ran) -> [Value; 2] {
    let report = ran.json();
    ["findings", "launches"].map(|key| report[key].clone())
}

#[test]
fn a_race_of_two_parts_is_that_of_one_run() {
    let folder = Folder::new("halo", HALO);
    let whole = told(&folder.run(&["--format", "json"]));
    assert_eq!(whole[0][0]["kind"], "race");
    // No part has two blocks, so all conflicts are between parts.
    let ranges = ["0..1", "1..2", "2..3", "3..4", "4..5", "5..6"];
    for range in ranges {
        let alone = folder.run(&["--blocks", range, "--format", "json"]).json();
        assert_eq!(alone["findings"], Value::Array(vec![]), "{range}");
    }
    let merged = folder.merged(&ranges, &["--format", "json"]);
    assert_eq!((merged.code, told(&merged)), (Some(1), whole.clone()));
    has(&merged.stderr, "a part reads at line 6");
    let merged = folder.merged(&["0..3", "3..6"], &["--format", "json"]);
    assert_eq!(told(&merged), whole);
}

#[test]
fn a_sum_of_all_blocks_has_its_first_race() {
    let sum = "__global__ void k(int *out) { *out += blockIdx.x; }";
    let folder = Folder::new("sum", sum);
    let whole = told(&folder.run(&["--format", "json"]));
    let merged = folder.merged(&["0..1", "1..3", "3..6"], &["--format", "json"]);
    assert_eq!(told(&merged), whole);
}

#[test]
fn what_atomics_and_locks_order_is_no_race() {
    let atomic = "__global__ void k(int *out) { atomicAdd(out, 1); }";
    let folder = Folder::new("atomic", atomic);
    let merged = folder.merged(&["0..2", "2..6"], &["--format", "json"]);
    assert_eq!(
        (merged.code, &told(&merged)[0]),
        (Some(0), &Value::Array(vec![]))
    );
    let lock = "__global__ void k(int *out)
{
    if (threadIdx.x > 0)
        return;
    while (atomicCAS(out, 0, 1) != 0)
        ;
    __threadfence();
    out[1] += 1;
    __threadfence();
    atomicExch(out, 0);
}";
    let folder = Folder::new("lock", lock);
    let merged = folder.merged(&["0..2", "2..6"], &["--format", "json"]);
    assert_eq!(
        (merged.code, &told(&merged)[0]),
        (Some(0), &Value::Array(vec![]))
    );
    has(&merged.stderr, "the result of this atomic is used");
}

#[test]
fn ranges_have_to_be_all_blocks_once() {
    let folder = Folder::new("ranges", DISJOINT);
    let merged = folder.merged(&["0..2", "3..5"], &[]);
    assert_eq!(merged.code, Some(1));
    has(
        &merged.stderr,
        "blocks 2..3 are in no part; blocks 5..6 are in no part",
    );
    let merged = folder.merged(&["0..3", "2..6"], &[]);
    assert_eq!(merged.code, Some(1));
    has(&merged.stderr, "blocks 2..3 are in `");
    let beyond = folder.run(&["--blocks", "4..7"]);
    assert_eq!(beyond.code, Some(2));
    has(&beyond.stderr, "the grid has 6 blocks: 0..6");
    let later = folder.run(&["--blocks", "1:0..6"]);
    assert_eq!(later.code, Some(2));
    has(&later.stderr, "there is no launch 1: the program made 1");
}

#[test]
fn of_several_launches_one_is_named() {
    let args = ["run", "--blocks", "0..1", "examples/transpose.k"];
    let ran = dslc(&args);
    assert_eq!(ran.code, Some(2));
    has(&ran.stderr, "line 104: transpose_tile");
}

#[test]
fn blocks_that_wait_for_each_other_are_not_split() {
    let chain = "__global__ void k(int *out)
{
    volatile int *flag = out;
    if (threadIdx.x == 0) {
        while (flag[blockIdx.x] != (int)blockIdx.x)
            ;
        flag[blockIdx.x + 1] = blockIdx.x + 1;
    }
}";
    let folder = Folder::new("chain", chain);
    assert_eq!(folder.run(&["--blocks", "0..3"]).code, Some(0));
    let waits = folder.run(&["--blocks", "3..6"]);
    assert_eq!(waits.code, Some(1));
    has(
        &waits.stderr,
        "these blocks wait for blocks that are not in 3..6",
    );
    has(&waits.stderr, "while (flag[blockIdx.x]");
    let merged = folder.merged(&["0..3", "3..6"], &[]);
    assert_eq!(merged.code, Some(2));
    has(&merged.stderr, "is no part of a launch");
}

#[test]
fn parts_are_of_one_program_as_it_is() {
    let folder = Folder::new("changed", DISJOINT);
    let first = folder.part("0..3", &[]);
    let other = merge(
        &[first.clone(), folder.part("3..6", &["--checks", "race"])],
        &[],
    );
    assert_eq!(other.code, Some(1));
    has(&other.stderr, "one was run with other options");
    let last = folder.part("3..6", &[]);
    fs::write(folder.path("p.cu"), program(HALO)).expect("written");
    let changed = merge(&[first.clone(), last.clone()], &[]);
    assert_eq!(changed.code, Some(2));
    has(&changed.stderr, "another program text");
    let text = fs::read_to_string(&last).expect("a part");
    fs::write(&last, text.replace("\"from\": 3", "\"from\": 2")).expect("written");
    let damaged = merge(&[first, last], &[]);
    has(&damaged.stderr, "is not as dslc wrote it");
}

#[test]
fn a_merged_report_takes_a_reports_options() {
    let folder = Folder::new("options", DISJOINT);
    let page = folder.path("page.html");
    let require = "global_store_sectors == 48";
    let options = ["--launches", "--html", &page, "--require", require];
    let merged = folder.merged(&["0..1", "1..6"], &options);
    assert_eq!(merged.code, Some(0), "{}", merged.stderr);
    has(&merged.stdout, "out[blockIdx.x * blockDim.x + threadIdx.x]");
    assert!(fs::read_to_string(page).expect("a page").contains("<html"));
    let require = ["--require", "global_store_sectors == 47"];
    assert_eq!(folder.merged(&["0..1", "1..6"], &require).code, Some(1));
}
