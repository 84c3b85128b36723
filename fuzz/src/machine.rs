//! Random modules on the machine: results and counts are the same with and without checks, with any number of jobs, and in every
//! repetition.
//!
//! Kernels of `ir::random` use wild pointers, so most of their accesses are reported and skipped. The output, the memory after the launches
//! and the errors are compared.

use std::sync::Arc;

use interp::{
    BothOrders, Checks, InvalidLaunch, LaunchConfig, LaunchFailure, LaunchReport, MachineConfig,
    Memory, Program, launch,
};
use ir::{
    FuncId, Type, infer_spaces,
    random::{self, Options},
    simplify, verify,
};

use crate::{choices::Choices, notice, support};

/// The observable results of a launch.
#[derive(PartialEq, Debug)]
struct Seen {
    result: Result<LaunchReport, LaunchFailure>,
    printed: Vec<u8>,
    buffers: Vec<Vec<u8>>,
}

const BUFFERS: usize = 3;
const BUFFER_BYTES: u64 = 4096;

/// See the module.
pub fn target(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut module = random::module(
        choices.word(),
        Options {
            plain: choices.one_in(3),
        },
    );
    infer_spaces(&mut module);
    if choices.one_in(2) {
        simplify(&mut module);
    }
    verify::assert_verified(&module, "the generator");
    let program = Program::new(Arc::new(module));
    let config = LaunchConfig {
        grid: [choices.pick(&[1, 2, 3, 7]), choices.pick(&[1, 1, 1, 2]), 1],
        block: [
            choices.pick(&[32, 1, 31, 33, 64, 96, 40]),
            choices.pick(&[1, 1, 1, 2]),
            choices.pick(&[1, 1, 1, 3]),
        ],
        shared_bytes: choices.pick(&[0, 256, 4]),
        cooperative: choices.one_in(8),
        depth: 0,
        loc: ir::LocId::default(),
    };
    let machine = MachineConfig {
        keep_going: choices.one_in(2),
        ..support::machine(choices.pick(&[20_000, 500, 3_000]))
    };
    let (args, seed) = (choices.clone(), choices.word());
    let run = |checks, jobs, both_orders| {
        let machine = MachineConfig {
            checks,
            jobs,
            both_orders,
            ..machine.clone()
        };
        run(&program, &config, &machine, (args.clone(), seed))
    };
    let plain = run(Checks::NONE, 1, BothOrders::Never);
    match &plain.result {
        Ok(report) => report
            .skipped
            .iter()
            .for_each(|skipped| notice(&skipped.trap.to_string())),
        Err(failure) => notice(&failure.to_string()),
    }
    same(&plain, &run(Checks::NONE, 1, BothOrders::Never), "again");
    let checked = run(Checks::ALL, 1, BothOrders::Never);
    same(&plain, &without_findings(&checked), "with checks");
    // A run in both orders leaves the memory of the first one.
    let both = run(Checks::ALL, 1, BothOrders::Always);
    same(&plain, &without_findings(&both), "in both orders");
    for (checks, one_job) in [(Checks::NONE, &plain), (Checks::ALL, &checked)] {
        let mut two_jobs = run(checks, 2, BothOrders::Never);
        match &two_jobs.result {
            Err(LaunchFailure::Invalid(InvalidLaunch::LeftAllocation)) => continue,
            // Memory that the kernel only writes may have results of later blocks.
            Err(LaunchFailure::Trap { .. }) => two_jobs.buffers.clone_from(&one_job.buffers),
            Err(LaunchFailure::Invalid(_)) | Ok(_) => {}
        }
        same(one_job, &two_jobs, "with two jobs");
    }
}

fn run(
    program: &Program,
    config: &LaunchConfig,
    machine: &MachineConfig,
    (mut choices, seed): (Choices<'_>, u64),
) -> Seen {
    let mut memory = Memory::new(program.module());
    let kernel = FuncId(0);
    let function = program.module().function(kernel);
    let addresses: [u64; BUFFERS] = std::array::from_fn(|index| {
        let address = memory.malloc_device(BUFFER_BYTES).expect("4 KiB");
        let bytes: Vec<u8> = (0..BUFFER_BYTES)
            .map(|at| (seed.rotate_left((at % 64) as u32) as usize + index) as u8)
            .collect();
        // The last one stays uninitialised.
        if index + 1 < BUFFERS {
            memory.write_bytes(address, &bytes).expect("its own size");
        }
        address
    });
    let args: Vec<u64> = function
        .params
        .iter()
        .map(|param| match function.slots[param.slot.index()].ty {
            Type::I1 => u64::from(choices.one_in(2)),
            Type::I32 => choices.pick(&[3, 0, 1, 9, 100, u32::MAX.into()]),
            Type::Ptr(_) => match choices.below(8) {
                0 => 0,
                1 => choices.word(),
                n => addresses[n % BUFFERS] + choices.pick(&[0, 4, 64, BUFFER_BYTES - 4]),
            },
            Type::F32 => u64::from(choices.word() as u32),
            Type::I64 | Type::F64 => choices.word(),
        })
        .collect();
    let mut printed = Vec::new();
    let mut out = |bytes: &[u8]| printed.extend_from_slice(bytes);
    let result = launch(
        program,
        kernel,
        config,
        &args,
        &mut memory,
        machine,
        &mut out,
    );
    let read = |&address: &u64| memory.read_bytes(address, BUFFER_BYTES).map(<[u8]>::to_vec);
    Seen {
        result,
        printed,
        buffers: addresses
            .iter()
            .map(|address| read(address).expect("the buffer"))
            .collect(),
    }
}

/// The result without what checks add.
fn without_findings(seen: &Seen) -> Seen {
    let plain = |report: &LaunchReport| LaunchReport {
        findings: Vec::new(),
        order: Default::default(),
        children: vec![],
        skipped: report
            .skipped
            .iter()
            .filter(|skipped| !skipped.descending)
            .cloned()
            .collect(),
        ..report.clone()
    };
    Seen {
        result: match &seen.result {
            Ok(report) => Ok(plain(report)),
            Err(LaunchFailure::Trap { trap, report }) => Err(LaunchFailure::Trap {
                trap: trap.clone(),
                report: Box::new(plain(report)),
            }),
            Err(other) => Err(other.clone()),
        },
        printed: seen.printed.clone(),
        buffers: seen.buffers.clone(),
    }
}

fn same(one: &Seen, other: &Seen, how: &str) {
    assert_eq!(
        String::from_utf8_lossy(&other.printed),
        String::from_utf8_lossy(&one.printed),
        "other output {how}"
    );
    assert!(
        other.result == one.result,
        "another report {how}:\n{:#?}\ninstead of\n{:#?}",
        other.result,
        one.result
    );
    assert!(other.buffers == one.buffers, "other results {how}");
}
