//! Runs a kernel of PTX on the simulator.

use std::sync::Arc;

use interp::rules::{Arch, RuleSet};
use interp::{LaunchConfig, MachineConfig, Memory, Program, launch};
use ir::{FuncId, FunctionKind, LocId};

fn machine() -> MachineConfig {
    MachineConfig {
        rules: RuleSet::for_arch(Arch::SM_90),
        jobs: 1,
        limit: None,
        checks: interp::Checks::NONE,
        order: interp::Order::Ascending,
        both_orders: interp::BothOrders::Never,
        schedule: interp::Schedule::default(),
        schedules: (0, 1),
        memory: interp::MemoryOrder::Strong,
        keep_going: false,
        trace: false,
        count_only: false,
        reuse: false,
        stop: interp::StopFlag::default(),
        progress: interp::Progress::default(),
    }
}

/// A module that can run.
pub(crate) struct Runner {
    program: Program,
}

impl Runner {
    pub(crate) fn new(module: ir::Module) -> Runner {
        Runner {
            program: Program::new(Arc::new(module)),
        }
    }

    /// The words that a kernel leaves in its array `out`. Its arguments are `in`, unless that is empty, then `out`, then the others.
    pub(crate) fn run(
        &self,
        kernel: &str,
        threads: [u32; 2],
        (input, others): (&[u32], &[u64]),
        count: usize,
    ) -> Vec<u32> {
        let module = self.program.module();
        let kernel = module
            .find(kernel, FunctionKind::Kernel)
            .unwrap_or(FuncId(0));
        let mut memory = Memory::new(module);
        let mut args = Vec::new();
        if !input.is_empty() {
            let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
            let address = memory.malloc_device(bytes.len() as u64).expect("memory");
            memory.write_bytes(address, &bytes).expect("bytes");
            args.push(address);
        }
        let bytes = count as u64 * 4;
        let out = memory.malloc_device(bytes).expect("memory");
        args.push(out);
        args.extend(others);
        let config = LaunchConfig {
            grid: [threads[0], 1, 1],
            block: [threads[1], 1, 1],
            shared_bytes: 0,
            cooperative: false,
            depth: 0,
            loc: LocId(0),
        };
        launch(
            &self.program,
            kernel,
            &config,
            &args,
            &mut memory,
            &machine(),
            &mut |_| {},
        )
        .expect("the kernel ends");
        let words = memory.read_bytes(out, bytes).expect("bytes").chunks(4);
        words
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect()
    }
}
