//! Kernels that have no races by construction: results depend neither on the order of blocks and warps nor on jobs, and there are no
//! findings.

mod kernel;

use std::sync::Arc;

use interp::{
    BothOrders, Checks, LaunchConfig, LaunchReport, MachineConfig, Memory, Order, Program,
    Severity, launch,
    rules::{Arch, RuleSet},
};
use ir::diagnostic::Code;
use ir::source::NoFiles;

use crate::{
    choices::Choices,
    notice,
    support::{has_errors, machine, map_of},
};

/// See the module.
pub fn target(data: &[u8]) {
    let mut choices = Choices::new(data);
    let arch = choices.pick(&["sm_90", "sm_70", "sm_80", "sm_60", "sm_35"]);
    let kernel = kernel::kernel(&mut choices);
    let source = &kernel.source;
    let (mut map, file) = map_of(source);
    let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
    for diagnostic in &compiled.diagnostics {
        notice(&diagnostic.message);
    }
    assert!(
        !has_errors(&compiled.diagnostics),
        "{source}\n{:#?}",
        compiled.diagnostics
    );
    let program = Program::new(Arc::new(compiled.module.expect("no error")));
    let arch: Arch = arch.parse().expect("an architecture");
    let base = MachineConfig {
        rules: RuleSet::for_arch(arch),
        ..machine(10_000_000)
    };
    let run = |how: &str, machine: MachineConfig| {
        let (report, bytes) = run(&program, &kernel, &machine)
            .unwrap_or_else(|why| panic!("{how} it fails: {why}\n{source}"));
        for finding in &report.findings {
            // The numbers are random, and sums of them may overflow.
            let overflows = finding.code == Code::SignedOverflow;
            assert!(
                overflows || finding.severity < Severity::Warning,
                "{how}: {finding:#?}\n{source}"
            );
        }
        (report, bytes)
    };
    let checked = MachineConfig {
        checks: Checks::ALL,
        ..base.clone()
    };
    let (report, bytes) = run("with checks", checked.clone());
    for (how, machine) in other_ways(base, checked) {
        let ascending = machine.order == Order::Ascending;
        let (other_report, other) = run(how, machine);
        let differs = bytes.iter().zip(&other).position(|(a, b)| a != b);
        assert!(
            differs.is_none(),
            "{how} byte {} differs\n{source}",
            differs.unwrap_or_default()
        );
        assert!(
            !ascending
                || (&other_report.counts, &other_report.sites) == (&report.counts, &report.sites),
            "{how} other counts\n{source}"
        );
    }
}

/// Other ways to run a kernel, which must give the same result.
fn other_ways(base: MachineConfig, checked: MachineConfig) -> [(&'static str, MachineConfig); 5] {
    let descending = MachineConfig {
        order: Order::Descending,
        ..checked.clone()
    };
    let both_orders = MachineConfig {
        both_orders: BothOrders::Always,
        ..checked.clone()
    };
    let three_jobs = MachineConfig {
        jobs: 3,
        ..base.clone()
    };
    let three_jobs_checked = MachineConfig { jobs: 3, ..checked };
    [
        ("without checks", base),
        ("in descending order", descending),
        ("in both orders", both_orders),
        ("with three jobs", three_jobs),
        ("with three jobs and checks", three_jobs_checked),
    ]
}

/// Returns the content of all memory afterwards.
fn run(
    program: &Program,
    kernel: &kernel::Kernel,
    machine: &MachineConfig,
) -> Result<(LaunchReport, Vec<u8>), String> {
    let mut memory = Memory::new(program.module());
    let mut args = Vec::new();
    let elements = u64::from(kernel.blocks * kernel.threads);
    let sizes = kernel::BUFFERS.map(|per_thread| per_thread * elements + 64);
    for bytes in sizes {
        let address = memory
            .malloc_device(bytes)
            .map_err(|error| error.to_string())?;
        let contents: Vec<u8> = (0..bytes).map(|at| ((at * 37) >> 3) as u8).collect();
        memory
            .write_bytes(address, &contents)
            .map_err(|fault| fault.to_string())?;
        args.push(address);
    }
    args.push(elements);
    let config = LaunchConfig {
        grid: [kernel.blocks, 1, 1],
        block: kernel.block,
        shared_bytes: 0,
        cooperative: false,
        depth: 0,
        loc: ir::LocId::default(),
    };
    let (id, _) = program.module().kernels().next().expect("the kernel");
    let report = launch(
        program,
        id,
        &config,
        &args,
        &mut memory,
        machine,
        &mut |_| {},
    )
    .map_err(|failure| failure.to_string())?;
    let mut bytes = Vec::new();
    for (&address, size) in args.iter().zip(sizes) {
        bytes.extend(
            memory
                .read_bytes(address, size)
                .map_err(|fault| fault.to_string())?,
        );
    }
    Ok((report, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::Random;

    /// The kernels' threads do communicate: most kernels are wrong without their barriers.
    #[test]
    fn barriers_matter() {
        let mut random = Random::new(3);
        let wrong = (0..20).filter(|_| {
            let bytes: Vec<u8> = (0..400).map(|_| random.word() as u8).collect();
            let mut kernel = kernel::kernel(&mut Choices::new(&bytes));
            kernel.source = kernel.source.replace("__syncthreads();", ";");
            let (mut map, file) = map_of(&kernel.source);
            let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
            let program = Program::new(Arc::new(compiled.module.expect("no error")));
            let machine = MachineConfig {
                checks: Checks::ALL,
                ..machine(10_000_000)
            };
            let (report, _) = run(&program, &kernel, &machine).expect("it runs");
            !report.findings.is_empty()
        });
        assert!(wrong.count() >= 10);
    }
}
