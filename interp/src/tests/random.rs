//! Compares the machine with a naive executor on random structured kernels. The executor runs one thread after the
//! other over the tree.
//!
//! Threads do not communicate, so the two must agree on everything stored. Slots are assigned before they are read.
//! Some are assigned at the start of the function, and some at the start of a nested block and used only in it, where
//! the compiler keeps uniform variables in divergent code. Most kernels have arrays that fixed loops index, which
//! become registers. A kernel whose arrays stay in memory must report the same. Some of these loops have a barrier, and
//! are unrolled because of it.

pub(super) mod generator;
mod thread;

use crate::Shortcut;
use crate::tests::plainly;
use std::sync::Arc;

use ir::{FuncId, Inst, InstKind, LocId, Module, print::print, verify::assert_verified};

use super::machine;
use crate::compile::{Form, compile};
use crate::isa::{bytecode, op::Op};
use crate::{LaunchConfig, LaunchReport, Memory, launch};
use generator::{ARRAYS, INPUTS, SLOTS, WORDS, module};
use thread::{Thread, input};

/// Blocks of 40 threads, which are a whole warp and a partial one. Returns their memory and the report.
pub(super) fn run(module: &Arc<Module>, blocks: u32) -> (Vec<i32>, LaunchReport) {
    let words = (blocks * 40 * SLOTS) as usize;
    let program = super::program(Arc::clone(module));
    let mut memory = Memory::new(program.module());
    let out = memory.malloc_device(words as u64 * 4).unwrap();
    let unwritten: Vec<u8> = (0..words).flat_map(|_| (-77i32).to_le_bytes()).collect();
    memory.write_bytes(out, &unwritten).unwrap();
    let inputs = memory.malloc_device(INPUTS as u64 * 4).unwrap();
    let bytes: Vec<u8> = (0..INPUTS).flat_map(|k| input(k).to_le_bytes()).collect();
    memory.write_bytes(inputs, &bytes).unwrap();
    let config = LaunchConfig {
        grid: [blocks, 1, 1],
        block: [40, 1, 1],
        shared_bytes: 0,
        cooperative: false,
        depth: 0,
        loc: LocId(0),
    };
    let report = launch(
        &program,
        FuncId(0),
        &config,
        &[out, inputs],
        &mut memory,
        &machine(),
        &mut |_| {},
    )
    .unwrap();
    let bytes = memory.read_bytes(out, unwritten.len() as u64).unwrap();
    let words = bytes.chunks(4);
    let found = words.map(|word| i32::from_le_bytes(word.try_into().unwrap()));
    (found.collect(), report)
}

/// Checks that single threads, the machine, and the machine with arrays in memory agree. Returns whether an array was
/// in registers, and whether a loop was unrolled because of its barrier.
fn check(seed: u64) -> (bool, bool) {
    let module = module(seed);
    assert_verified(&module, "the generator");
    let function = &module.functions[0];
    let mut expected = vec![None; 80 * SLOTS as usize];
    for (ctaid, tid) in (0..2).flat_map(|ctaid| (0..40).map(move |tid| (ctaid, tid))) {
        let (values, slots) = (
            vec![0; function.values.len()],
            vec![0; function.slots.len()],
        );
        let mut thread = Thread {
            tid,
            ctaid,
            values,
            slots,
            own: vec![0; (ARRAYS * WORDS) as usize],
            out: expected,
        };
        thread.block(&function.body);
        expected = thread.out;
    }
    let expected: Vec<i32> = expected
        .into_iter()
        .map(|value| value.unwrap_or(-77))
        .collect();
    let text = print(&module);
    let module = Arc::new(module);
    let (found, report) = run(&module, 2);
    plainly(Shortcut::Arrays, true);
    let (_, in_memory) = run(&module, 2);
    plainly(Shortcut::Arrays, false);
    assert_eq!(
        report, in_memory,
        "seed {seed}: with arrays in memory\n{text}"
    );
    if found != expected {
        let at = found
            .iter()
            .zip(&expected)
            .position(|(a, b)| a != b)
            .unwrap();
        let (thread, slot) = (at / SLOTS as usize, at % SLOTS as usize + 2);
        panic!(
            "seed {seed}: thread {thread}, slot {slot}: {} instead of {}\n{text}",
            found[at], expected[at]
        );
    }
    let code = compile(&module, FuncId(0), Form::default());
    let mut barriers = 0;
    let count =
        &mut |inst: &Inst| barriers += usize::from(matches!(inst.kind, InstKind::Barrier(_)));
    module.functions[0].body.for_each_inst(count);
    let is_barrier = |inst: &&bytecode::Inst| inst.op == Op::Barrier;
    (
        code.insts.iter().any(|inst| inst.op == Op::Tally),
        code.insts.iter().filter(is_barrier).count() > barriers,
    )
}

#[test]
fn random_kernels_do_what_each_thread_alone_would() {
    let (mut in_registers, mut unrolled) = (0, 0);
    for seed in 0..3000 {
        let (registers, barriers) = check(seed);
        in_registers += usize::from(registers);
        unrolled += usize::from(barriers);
    }
    // Otherwise the test no longer tests anything.
    assert!(
        in_registers > 1000,
        "{in_registers} had arrays in registers"
    );
    assert!(unrolled > 200, "{unrolled} had loops with barriers");
}
