//! `dslc sweep` and `dslc merge`: which configurations run, which are known already, the output for results, and the messages for an
//! invalid specification.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::support::{Ran, command, dslc, has, ran, root};

const TILE: &str = "#include \"shape.h\"
__global__ void turn(float *out, const float *in)
{
    __shared__ float tile[TILE][TILE + PAD];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * TILE + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main(int argc, char **argv)
{
    float *a, *b;
    cudaMalloc(&a, TILE * TILE * 4);
    cudaMalloc(&b, TILE * TILE * 4);
    cudaMemset(a, 0, TILE * TILE * 4);
    for (int i = 0; i < TIMES * (argc - 1); i++)
        turn<<<1, dim3(TILE, TILE)>>>(b, a);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    return 0;
}
";

const SPEC: &str = "programs = \"tile.cu\"
arch = [\"sm_35\", \"sm_90\"]
args = [\"once\", \"and twice\"]
where = [\"TILE + PAD <= 33\"]
require = [\"findings == 0\"]
objective = \"transactions / launches\"
pareto = [\"transactions / launches\", \"shared\"]
[macros]
TILE = { from = 8, to = 32, times = 2 }
PAD = [0, 1, 2]
[measure]
transactions = \"shared_load_transactions + shared_store_transactions\"
shared = \"shared_bytes\"
launches = \"launches\"
findings = \"findings\"
";

/// 2 architectures, 2 lines of arguments, 3 sizes with 3, 3 and 2 paddings.
const COUNT: usize = 32;

/// A folder with the program and a specification; returns the specification's path.
fn folder(name: &str, spec: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("made");
    for (file, text) in [
        ("tile.cu", TILE),
        ("shape.h", "#define TIMES 1\n"),
        ("s.toml", spec),
    ] {
        fs::write(folder.join(file), text).expect("written");
    }
    folder.join("s.toml")
}

fn sweep(spec: &Path, options: &[&str]) -> Ran {
    let spec = spec.to_string_lossy();
    dslc(&[&["sweep", &spec], options].concat())
}

fn results(spec: &Path) -> String {
    fs::read_to_string(spec.with_file_name("s.results.jsonl")).expect("results")
}

fn rows(text: &str) -> Vec<Value> {
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>().expect("rows")
}

#[test]
fn the_best_and_the_pareto_set_are_shown() {
    let spec = folder("sweep_best", SPEC);
    let output = sweep(&spec, &["--top", "2"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let lines: Vec<Vec<&str>> = output
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        lines[0].join(" "),
        "the best 2 by transactions / launches, least first"
    );
    // A tile of 8 rows of 8: two warps store, two load; on sm_35 its columns do not conflict.
    assert_eq!(lines[2][..5], ["sm_35", "8", "0", "once", "4"]);
    assert_eq!(lines[3][..5], ["sm_35", "8", "0", "and", "twice"]);
    has(
        &output.stdout,
        "the Pareto set of transactions / launches, shared: 2\n",
    );
    has(
        &output.stderr,
        &format!("{COUNT} configurations: {COUNT} run now, 0 known before"),
    );
    let rows = rows(&results(&spec));
    assert_eq!(rows.len(), COUNT);
    let at = |row: &Value| {
        row["at"]["TILE"] == 32 && row["at"]["PAD"] == 1 && row["at"]["args"] == "and twice"
    };
    let padded: Vec<&Value> = rows.iter().filter(|row| at(row)).collect();
    assert_eq!(padded.len(), 2);
    assert_eq!(padded[1]["measured"]["transactions"], 128);
    assert_eq!(padded[1]["measured"]["shared"], 32 * 33 * 4);
}

#[test]
fn what_is_known_is_not_run_again() {
    let spec = folder("sweep_again", SPEC);
    sweep(&spec, &[]);
    let whole = results(&spec);
    // An interrupted run: half of the lines, and half a line.
    let path = spec.with_file_name("s.results.jsonl");
    fs::write(&path, &whole[..whole.len() / 2]).expect("written");
    let output = sweep(&spec, &[]);
    let known = whole[..whole.len() / 2].matches('\n').count();
    has(
        &output.stderr,
        &format!("{} run now, {known} known before", COUNT - known),
    );
    assert_eq!(results(&spec), whole);
    // With another value only the new configurations run; with another header all run.
    fs::write(&spec, SPEC.replace("[0, 1, 2]", "[0, 1, 2, 3]")).expect("written");
    has(
        &sweep(&spec, &[]).stderr,
        &format!("8 run now, {COUNT} known before"),
    );
    fs::write(spec.with_file_name("shape.h"), "#define TIMES 2\n").expect("written");
    has(&sweep(&spec, &[]).stderr, "40 run now, 0 known before");
}

#[test]
fn parts_together_are_the_same_as_one_run() {
    let spec = folder("sweep_parts", SPEC);
    let mut parts = vec![];
    for part in ["1/3", "2/3", "3/3"] {
        let file = spec.with_file_name(format!("{}.jsonl", part.replace('/', "-")));
        let file = file.to_string_lossy().into_owned();
        let output = sweep(&spec, &["--shard", part, "--results", &file]);
        assert_eq!(output.code, Some(0), "{}", output.stderr);
        parts.push(file);
    }
    sweep(&spec, &["--jobs", "1"]);
    let files: Vec<&str> = parts.iter().rev().map(String::as_str).collect();
    let output = dslc(&[&["merge", files[0]], &files[..]].concat());
    assert_eq!((output.code, output.stdout), (Some(0), results(&spec)));
    has(&output.stderr, &format!("{COUNT} results of 4 files"));
}

#[test]
fn merge_refuses_results_that_differ() {
    let spec = folder("sweep_differ", SPEC);
    sweep(&spec, &[]);
    let other = spec.with_file_name("other.jsonl");
    fs::write(
        &other,
        results(&spec).replacen("\"launches\":1", "\"launches\":7", 1),
    )
    .expect("written");
    let path = spec.with_file_name("s.results.jsonl");
    let output = dslc(&["merge", &path.to_string_lossy(), &other.to_string_lossy()]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""));
    has(&output.stderr, "two results of the configuration");
}

#[test]
fn what_does_not_end_well_is_a_row() {
    let text = "programs = \"ends.cu\"\ntimeout = 0.3\nmemory = \"1M\"\nobjective = \"launches\"\n\
                macros.MODE = { from = 0, to = 5 }\nmeasure.launches = \"launches\"\n";
    let spec = folder("sweep_ends", text);
    let program = "#if MODE == 1\n#error \"one\"\n#endif\n__global__ void k(int *x)\n{\n    x[MODE == 2 ? -1 : 0] = 1;\n}\nint main()\n{\n    \
                   int *x;\n    while (MODE == 3) ;\n    cudaMalloc(&x, MODE == 4 ? 1 << 24 : 4);\n    k<<<1, MODE == 5 ? 2000 : 1>>>(x);\n    cudaDeviceSynchronize();\n    \
                   if (MODE == 4) return 1;\n    cudaFree(x);\n    return 0;\n}\n";
    fs::write(spec.with_file_name("ends.cu"), program).expect("written");
    let output = sweep(&spec, &[]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let rows = rows(&results(&spec));
    let ends: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["status"].as_str())
        .collect();
    assert_eq!(
        ends,
        ["ok", "compile", "finding", "timeout", "memory", "trap"]
    );
    assert_eq!(
        rows[1]["error"],
        "ends.cu:2:1: error[E0207]: #error: \"one\""
    );
    assert_eq!(rows[2]["findings"], Value::from(vec!["out_of_bounds"]));
    has(
        &output.stdout,
        "MODE=3 ended with `timeout`: the --timeout of 0.3 s has expired",
    );
    // They count as known, too, except with --retry.
    has(&sweep(&spec, &[]).stderr, "0 run now, 6 known");
    has(&sweep(&spec, &["--retry"]).stderr, "5 run now, 1 known");
}

#[test]
fn kernels_without_main_are_launched_in_shapes() {
    let text = "programs = \"add.cu\"\nlaunch = [\"add<{T}><<<{ceil(N / BLOCK)}, {BLOCK}>>>(x, {N})\"]\nbuffers = [\"x={T}[{N}]:iota\"]\n\
                objective = \"-occupancy\"\n[values]\nN = 100\nBLOCK = [32, 256, 2048]\nT = [\"float\", \"double\"]\n[measure]\noccupancy = \"occupancy\"\n\
                sectors = \"sectors(store x[i])\"\n";
    let spec = folder("sweep_launch", text);
    let program = "template <typename T> __global__ void add(T *x, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) x[i] = x[i] + 1;\n}\n";
    fs::write(spec.with_file_name("add.cu"), program).expect("written");
    let output = sweep(&spec, &[]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    let rows = rows(&results(&spec));
    let sectors: Vec<Option<u64>> = rows
        .iter()
        .map(|row| row["measured"]["sectors"].as_u64())
        .collect();
    assert_eq!(
        sectors,
        [Some(13), Some(25), Some(13), Some(25), None, None]
    );
    has(
        &output.stdout,
        "BLOCK=2048 T=double ended with `trap`: line 1: `add<double>` cannot be launched",
    );
}

#[test]
fn the_page_has_plots_and_the_table() {
    let spec = folder("sweep_page", SPEC);
    let page = spec.with_file_name("page.html");
    sweep(&spec, &["--html", &page.to_string_lossy()]);
    let page = fs::read_to_string(page).expect("the page");
    // The Pareto set, and a strip for each of the four axes.
    assert_eq!(page.matches("<svg").count(), 5);
    assert_eq!(page.matches("<tr").count(), COUNT + 1);
    for asks in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(asks), "the page asks for something: {asks}");
    }
}

#[test]
fn a_wrong_specification_is_told_its_place() {
    let cases = [
        ("TILE + PAD", "TILF + PAD", "did you mean `TILE`?"),
        (
            "shared_bytes",
            "shared_byts",
            "did you mean `shared_bytes`?",
        ),
        ("objective", "objektive", "unknown field `objektive`"),
        ("\"shared\"]", "\"shard\"]", "there is no measure `shard`"),
        (
            "[0, 1, 2]",
            "{ from = 0, too = 2 }",
            "expected a value, a list of values, or a range",
        ),
        (
            "[0, 1, 2]",
            "{ from = 0, to = 2, times = 2 }",
            "`PAD`: a range has a `step`",
        ),
        ("[0, 1, 2]", "[]", "`PAD` has no value"),
        (
            "[macros]",
            "[macros]\nTYPO = [1, 2]",
            "`TYPO` of [macros]: no program of the sweep reads it",
        ),
        ("\"once\"", "\"{ONE\"", "a brace without its partner"),
        (
            "TILE + PAD <= 33",
            "TILE > 64",
            "`where` allows no configuration",
        ),
        ("tile.cu", "tail.cu", "there is no such file"),
    ];
    for (old, new, why) in cases {
        let spec = folder("sweep_wrong", &SPEC.replacen(old, new, 1));
        let output = sweep(&spec, &[]);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (Some(2), ""),
            "{new}"
        );
        has(&output.stderr, why);
    }
}

#[test]
fn no_file_of_the_sweep_is_written_over() {
    let spec = folder("sweep_over", SPEC);
    for (option, file) in [
        ("--html", "s.toml"),
        ("--results", "tile.cu"),
        ("--html", "s.results.jsonl"),
    ] {
        let path = spec.with_file_name(file);
        let output = sweep(&spec, &[option, &path.to_string_lossy()]);
        assert_eq!(output.code, Some(2), "{option} {file}");
        has(&output.stderr, "name another file");
    }
    assert_eq!(fs::read_to_string(&spec).expect("the specification"), SPEC);
}

/// The specifications in the documentation, with programs under the names it uses.
#[test]
fn the_examples_of_the_page_run() {
    let page = fs::read_to_string(root().join("docs/sweep.md")).expect("the page");
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).collect();
    assert!(blocks.len() >= 2, "only {} examples", blocks.len());
    for block in blocks {
        let (text, rest) = block.split_once("```").expect("an end");
        let spec = folder("sweep_page_example", text);
        for file in ["transpose.cu", "reduce.cu"] {
            let from = root().join("bench/sweep").join(file);
            let text = fs::read_to_string(from).expect("the program");
            let text = text.replace("SWAP", "0").replace("argv[2]", "\"0\"");
            fs::write(spec.with_file_name(file), text).expect("written");
        }
        let scale = "template <typename T> __global__ void scale(T *x, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
                     if (i < n) x[i] = x[i] * 2;\n}\n";
        fs::write(spec.with_file_name("scale.cu"), scale).expect("written");
        let output = sweep(&spec, &["--top", "3"]);
        assert_eq!(
            output.code,
            Some(0),
            "{text}\n{}{}",
            output.stdout,
            output.stderr
        );
        assert!(!output.stdout.contains("ended with"), "{}", output.stdout);
        // The table on the page is the one that is printed.
        let table = rest
            .split_once("```text\n")
            .and_then(|(_, table)| table.split_once("```"));
        if let Some((table, _)) = table.filter(|_| text.contains("tile.toml")) {
            assert!(output.stdout.starts_with(table), "{}", output.stdout);
        }
    }
}

#[test]
fn an_engine_needs_python_with_the_module() {
    let spec = folder("sweep-engine", SPEC);
    let spec = spec.to_string_lossy();
    let with = |python: &str| {
        let words = ["sweep", &*spec, "--engine", "ray"];
        ran(command(&words).env("DSLC_PYTHON", python))
    };
    let none = with("/nothing/python3");
    assert_eq!(none.code, Some(2));
    has(
        &none.stderr,
        "`/nothing/python3` cannot be started: there is no such file",
    );
    // One that has no module.
    let without = with("false");
    assert_eq!(without.code, Some(2));
    has(
        &without.stderr,
        "--engine needs the module `dslc` of `false`",
    );
    let both = dslc(&["sweep", &*spec, "--engine", "ray", "--shard", "1/2"]);
    assert_eq!(both.code, Some(2));
}
