//! The CUDA program of a litmus test. Each lane is a thread of a separate test, with its own words of memory, so a launch runs 32 tests
//! (fewer if the threads are lanes of one warp). Without arguments it runs one launch of one group; `RUNS` makes it run that many launches
//! of many groups, for hardware.

use std::fmt::Write;

use super::spec::{Litmus, Mode, Places, Scope, Statement, Value, is_memory};

pub(super) fn program(litmus: &Litmus) -> String {
    let mut text = litmus.header.clone();
    let uses_atomics = litmus.threads.iter().flatten().any(|statement| {
        let mode = match statement {
            Statement::Load(_, mode, _) | Statement::Store(_, mode, _) => *mode,
            _ => Mode::Plain,
        };
        !matches!(mode, Mode::Plain | Mode::Volatile)
    });
    text.push_str("#include <stdio.h>\n#include <stdlib.h>\n");
    if uses_atomics {
        text.push_str("#include <cuda/atomic>\n");
    }
    let places = litmus.memory();
    let (blocks, warps) = shape(litmus);
    let each = match litmus.places {
        Places::Blocks(_) => 32,
        Places::Lanes => 32 / litmus.threads.len(),
    };
    let observed: Vec<char> = litmus.outcome.iter().map(|(name, _)| *name).collect();
    text.push_str("\n__global__ void litmus(int *memory, int *seen, int n) {\n");
    let test = match (&litmus.places, blocks) {
        (Places::Lanes, _) => format!(
            "blockIdx.x * {each} + threadIdx.x / {}",
            litmus.threads.len()
        ),
        (Places::Blocks(_), 1) => "blockIdx.x * 32 + threadIdx.x % 32".to_string(),
        (Places::Blocks(_), _) => format!("blockIdx.x / {blocks} * 32 + threadIdx.x % 32"),
    };
    line(&mut text, 1, &format!("int test = {test};"));
    for (k, name) in places.iter().enumerate() {
        match litmus.in_shared {
            true => {
                line(&mut text, 1, &format!("__shared__ int words_{name}[32];"));
                line(
                    &mut text,
                    1,
                    &format!("int *{name} = &words_{name}[threadIdx.x % 32];"),
                );
                line(&mut text, 1, &format!("if (threadIdx.x < 32) *{name} = 0;"));
            }
            false if k == 0 => line(&mut text, 1, &format!("int *{name} = memory + test;")),
            false => line(
                &mut text,
                1,
                &format!("int *{name} = memory + {k} * n + test;"),
            ),
        }
    }
    if litmus.in_shared {
        line(&mut text, 1, "__syncthreads();");
    }
    for (number, thread) in litmus.threads.iter().enumerate() {
        let head = match number {
            0 => format!("if ({}) {{", condition(litmus, number, (blocks, warps))),
            _ => format!(
                "}} else if ({}) {{",
                condition(litmus, number, (blocks, warps))
            ),
        };
        line(&mut text, 1, &head);
        for statement in thread {
            line(&mut text, 2, &words(*statement, &observed));
        }
        for (k, name) in observed.iter().enumerate() {
            let gives = |statement: &Statement| match *statement {
                Statement::Load(to, ..) | Statement::Add(to, ..) => to == *name,
                _ => false,
            };
            if thread.iter().any(gives) {
                line(&mut text, 2, &format!("seen[{k} * n + test] = {name};"));
            }
        }
    }
    line(&mut text, 1, "}");
    text.push_str("}\n\n");
    host(&mut text, litmus, (blocks, warps, each));
    text
}

fn line(text: &mut String, depth: usize, words: &str) {
    let _ = writeln!(text, "{}{words}", "    ".repeat(depth));
}

/// The number of blocks for a group of tests, and of warps in a block.
fn shape(litmus: &Litmus) -> (usize, usize) {
    let Places::Blocks(blocks) = &litmus.places else {
        return (1, 1);
    };
    let count = blocks.iter().max().map_or(1, |most| most + 1);
    let warps = |block: usize| blocks.iter().filter(|&&b| b == block).count();
    (count, (0..count).map(warps).max().unwrap_or(1))
}

/// The condition that a thread of the device is this thread of the test.
fn condition(litmus: &Litmus, thread: usize, (blocks, warps): (usize, usize)) -> String {
    let Places::Blocks(places) = &litmus.places else {
        return format!("threadIdx.x % {} == {thread}", litmus.threads.len());
    };
    let block = places[thread];
    let warp = places[..thread].iter().filter(|&&b| b == block).count();
    let of_block = format!("blockIdx.x % {blocks} == {block}");
    let of_warp = format!("threadIdx.x / 32 == {warp}");
    match (blocks, warps) {
        (_, 1) => of_block,
        (1, _) => of_warp,
        _ => format!("{of_block} && {of_warp}"),
    }
}

fn words(statement: Statement, observed: &[char]) -> String {
    match statement {
        Statement::Fence(Scope::Block) => "__threadfence_block();".to_string(),
        Statement::Fence(Scope::Device) => "__threadfence();".to_string(),
        Statement::Fence(Scope::System) => "__threadfence_system();".to_string(),
        Statement::Barrier => "__syncthreads();".to_string(),
        Statement::SyncWarp => "__syncwarp();".to_string(),
        Statement::Add(to, scope, at, by) => {
            let function = match scope {
                Scope::Block => "atomicAdd_block",
                Scope::Device => "atomicAdd",
                Scope::System => "atomicAdd_system",
            };
            match observed.contains(&to) {
                true => format!("int {to} = {function}({at}, {by});"),
                false => format!("{function}({at}, {by});"),
            }
        }
        Statement::Load(to, mode, at) => match mode {
            Mode::Plain => format!("int {to} = *{at};"),
            Mode::Volatile => format!("int {to} = *(volatile int *){at};"),
            Mode::Relaxed(_) | Mode::Ordered(_) | Mode::SeqCst(_) => {
                let (scope, order) = atomic(mode, "acquire");
                format!(
                    "int {to} = cuda::atomic_ref<int, cuda::thread_scope_{scope}>(*{at}).load(cuda::memory_order_{order});"
                )
            }
        },
        Statement::Store(at, mode, value) => {
            let value = match value {
                Value::Number(number) => number.to_string(),
                Value::Variable(name) => name.to_string(),
            };
            match mode {
                Mode::Plain => format!("*{at} = {value};"),
                Mode::Volatile => format!("*(volatile int *){at} = {value};"),
                Mode::Relaxed(_) | Mode::Ordered(_) | Mode::SeqCst(_) => {
                    let (scope, order) = atomic(mode, "release");
                    format!(
                        "cuda::atomic_ref<int, cuda::thread_scope_{scope}>(*{at}).store({value}, cuda::memory_order_{order});"
                    )
                }
            }
        }
    }
}

fn atomic(mode: Mode, ordered: &'static str) -> (Scope, &'static str) {
    match mode {
        Mode::Relaxed(scope) => (scope, "relaxed"),
        Mode::Ordered(scope) => (scope, ordered),
        Mode::SeqCst(scope) => (scope, "seq_cst"),
        Mode::Plain | Mode::Volatile => (Scope::System, "relaxed"),
    }
}

fn host(text: &mut String, litmus: &Litmus, (blocks, warps, each): (usize, usize, usize)) {
    let (places, outcome) = (litmus.memory(), &litmus.outcome);
    let format: Vec<String> = outcome
        .iter()
        .map(|(name, _)| format!("{name}=%d"))
        .collect();
    let kinds = 1 << (2 * outcome.len());
    line(text, 0, "int main(int argc, char **argv) {");
    line(text, 1, "int runs = argc > 1 ? atoi(argv[1]) : 1;");
    line(
        text,
        1,
        &format!("int groups = argc > 1 ? 1024 : 1, n = groups * {each};"),
    );
    line(text, 1, "int *memory, *seen;");
    line(
        text,
        1,
        &format!("cudaMalloc(&memory, {} * n * sizeof(int));", places.len()),
    );
    line(
        text,
        1,
        &format!("cudaMalloc(&seen, {} * n * sizeof(int));", outcome.len()),
    );
    line(
        text,
        1,
        &format!(
            "int *ends = (int *)malloc({} * n * sizeof(int));",
            places.len()
        ),
    );
    line(
        text,
        1,
        &format!(
            "int *saw = (int *)malloc({} * n * sizeof(int));",
            outcome.len()
        ),
    );
    line(text, 1, &format!("static int count[{kinds}];"));
    line(text, 1, "for (int run = 0; run < runs; run++) {");
    line(
        text,
        2,
        &format!("cudaMemset(memory, 0, {} * n * sizeof(int));", places.len()),
    );
    line(
        text,
        2,
        &format!("cudaMemset(seen, 0, {} * n * sizeof(int));", outcome.len()),
    );
    line(
        text,
        2,
        &format!(
            "litmus<<<groups * {blocks}, {}>>>(memory, seen, n);",
            32 * warps
        ),
    );
    let copy = |to, from, words| {
        format!("cudaMemcpy({to}, {from}, {words} * n * sizeof(int), cudaMemcpyDeviceToHost);")
    };
    line(text, 2, &copy("ends", "memory", places.len()));
    line(text, 2, &copy("saw", "seen", outcome.len()));
    line(text, 2, "for (int i = 0; i < n; i++) {");
    line(text, 3, "int kind = 0;");
    for (k, (name, _)) in outcome.iter().enumerate() {
        let place = places
            .iter()
            .position(|place| place == name)
            .filter(|_| is_memory(*name));
        let value = match place {
            Some(place) => format!("ends[{place} * n + i]"),
            None => format!("saw[{k} * n + i]"),
        };
        line(text, 3, &format!("kind = 4 * kind + {value};"));
    }
    line(text, 3, "count[kind]++;");
    line(text, 2, "}");
    line(text, 1, "}");
    let values = (0..outcome.len()).map(|k| format!("kind >> {} & 3", 2 * (outcome.len() - 1 - k)));
    line(
        text,
        1,
        &format!("for (int kind = 0; kind < {kinds}; kind++) {{"),
    );
    line(
        text,
        2,
        &format!(
            "if (count[kind]) printf(\"{}: %d\\n\", {}, count[kind]);",
            format.join(" "),
            values.collect::<Vec<_>>().join(", ")
        ),
    );
    line(text, 1, "}");
    for end in [
        "free(ends);",
        "free(saw);",
        "cudaFree(memory);",
        "cudaFree(seen);",
        "return 0;",
    ] {
        line(text, 1, end);
    }
    line(text, 0, "}");
}
