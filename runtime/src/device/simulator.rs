//! The simulator as a device: the machine of `interp`, with the properties of the architecture whose rules it counts by.

use std::{
    collections::BTreeSet,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use interp::{
    AddressKind, Check, Compiled, CompiledCounts, Counting, CountingError, LaunchConfig,
    LaunchFailure, LaunchReport, MachineConfig, Memory, Program, Repeats, Uncomputed,
    rules::{BankWidth, RuleSet, limits::Limits},
};
use ir::{FuncId, Module};

use super::split::{Split, SplitResult, Splitting};
use super::vary::{Variation, Varying};
use super::{Device, DeviceError, DeviceInfo, LaunchError};
use crate::error::CudaError;

/// The machine.
#[derive(Debug)]
pub struct Simulator {
    machine: MachineConfig,
    info: DeviceInfo,
    /// The machine's own limit; a run's limit may be lower.
    limit: Option<u64>,
    digest: Option<Digest>,
    /// Launches that are counted without computing their results, if requested.
    counting: Option<Counting>,
    /// A launch that is split, if requested.
    splitting: Option<Splitting>,
    /// Which launches are checked for repeated requests of the same bytes.
    repeats: Repeats,
    /// Whether any are.
    looks: bool,
    /// What launches change, in a further run of a program.
    varying: Option<Varying>,
    /// The kernels as compiled, if launches are also counted so.
    compiled: Option<Compiling>,
}

/// Kernels as compiled: how to make them, and for each module the kernels, or why they could not be made.
struct Compiling {
    compile: Compile,
    made: Vec<(Arc<Module>, Result<Compiled, String>)>,
}

/// Makes the kernels of a module as compiled.
pub type Compile = Box<dyn Fn(&Module) -> Result<Compiled, String> + Send>;

impl fmt::Debug for Compiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiling")
            .field("made", &self.made.len())
            .finish_non_exhaustive()
    }
}

impl Compiling {
    /// A module's kernels; makes them first, if this is its first launch.
    fn get(&mut self, module: &Arc<Module>) -> &Result<Compiled, String> {
        let known = |(known, _): &(Arc<Module>, _)| Arc::ptr_eq(known, module);
        let at = self.made.iter().position(known).unwrap_or_else(|| {
            let compiled = (self.compile)(module);
            self.made.push((module.clone(), compiled));
            self.made.len() - 1
        });
        &self.made[at].1
    }
}

/// Most bytes of device memory that are hashed after launches, for a digest.
const MAX_DIGESTED: u64 = 1 << 28;

/// Hashes of what kernels computed: the bytes that the host copied back, and the content of device memory after each launch.
#[derive(Debug, Default)]
struct Digest {
    copies: DefaultHasher,
    has_copies: bool,
    launches: DefaultHasher,
    /// Bytes that were read after launches.
    bytes: u64,
    aliased: BTreeSet<FuncId>,
}

impl Digest {
    /// Notes a kernel if two arguments of the launch point into one buffer.
    fn launches(&mut self, memory: &Memory, program: &Program, kernel: FuncId, args: &[u64]) {
        let params = program.module().function(kernel).params.iter().zip(args);
        let pointers = params.filter(|(param, _)| param.c_type.contains('*'));
        let mut buffers: Vec<u64> = pointers
            .filter_map(|(_, &address)| memory.bounds(address))
            .map(|(base, _)| base)
            .collect();
        buffers.sort_unstable();
        if buffers.windows(2).any(|pair| pair[0] == pair[1]) {
            self.aliased.insert(kernel);
        }
    }

    fn copied(&mut self, bytes: &[u8]) {
        self.has_copies = true;
        bytes.hash(&mut self.copies);
    }

    fn launched(&mut self, memory: &Memory) {
        for (address, bytes, _) in memory.leaks() {
            self.bytes = self.bytes.saturating_add(bytes);
            if self.bytes > MAX_DIGESTED {
                return;
            }
            if let Ok(bytes) = memory.read_bytes(address, bytes) {
                bytes.hash(&mut self.launches);
            }
            // A written byte and an unwritten one of the same value have different hashes.
            let (mut from, end) = (address, address + bytes);
            while let Some((first, unset)) = memory.first_unset(from, end - from) {
                (first, unset).hash(&mut self.launches);
                from = first + unset;
            }
        }
    }
}

impl Simulator {
    /// A machine with that configuration.
    pub fn new(machine: MachineConfig) -> Simulator {
        let info = device_info(&machine.rules);
        Simulator::with_info(machine, info)
    }

    /// The same machine with the properties of another device: a program that is compared with a GPU sees that GPU's properties.
    pub fn with_info(machine: MachineConfig, info: DeviceInfo) -> Simulator {
        let (limit, looks) = (machine.limit, machine.reuse);
        let counting = machine.count_only.then(Counting::default);
        Simulator {
            machine,
            info,
            limit,
            digest: None,
            counting,
            splitting: None,
            repeats: Repeats::default(),
            looks,
            varying: None,
            compiled: None,
        }
    }

    /// The same machine, which also counts each launch as compiled. The kernels of a module are compiled at its first
    /// launch.
    pub fn compiling(self, compile: Compile) -> Simulator {
        Simulator {
            compiled: Some(Compiling {
                compile,
                made: Vec::new(),
            }),
            ..self
        }
    }

    /// The same machine, on which launches have other sizes or data than the program gives them.
    pub fn varying(self, variation: Variation) -> Simulator {
        Simulator {
            varying: Some(Varying::new(variation)),
            ..self
        }
    }

    /// The same machine, on which one launch is split. The program ends with that launch.
    pub fn splitting(self, split: Split) -> Simulator {
        Simulator {
            splitting: Some(Splitting::new(split)),
            ..self
        }
    }

    /// The same machine for a compiled host, which nothing follows: everything that the host reads has to be computed.
    pub fn blind(self) -> Simulator {
        let counting = self.counting.map(|_| Counting::blind());
        Simulator { counting, ..self }
    }

    /// The same machine, which keeps a [`digest`](Simulator::digest).
    pub fn digesting(self) -> Simulator {
        Simulator {
            digest: Some(Digest::default()),
            ..self
        }
    }

    /// A hash of what its kernels computed, as far as the program uses it: of everything that the host copied from device memory, or if it
    /// copied nothing, of device memory after each launch. 0 without a digest.
    pub fn digest(&self) -> u64 {
        self.digest
            .as_ref()
            .map_or(0, |digest| match digest.has_copies {
                true => digest.copies.finish(),
                false => digest.launches.finish(),
            })
    }

    /// A hash of device memory after each launch. 0 without a digest.
    pub fn memory_digest(&self) -> u64 {
        let digest = self.digest.as_ref();
        digest.map_or(0, |digest| digest.launches.finish())
    }

    /// The kernels that were launched with two pointers into one buffer. Empty without a digest.
    pub fn aliased(&self) -> impl Iterator<Item = FuncId> {
        let digest = self.digest.iter();
        digest.flat_map(|digest| digest.aliased.iter().copied())
    }

    /// Whether a further run met something that it changes.
    pub fn has_varied(&self) -> bool {
        self.varying.as_ref().is_some_and(Varying::has_varied)
    }

    /// Notes that the program writes to an allocation: launches that were only counted would read or leave something else there.
    fn changes(&mut self, memory: &Memory, address: u64) {
        if let Some(varying) = &mut self.varying {
            varying.filled(memory, address);
        }
        if let Some(counting) = &mut self.counting {
            counting.changed(memory, address);
        }
    }

    /// Its present configuration.
    pub fn machine(&self) -> &MachineConfig {
        &self.machine
    }
}

impl Device for Simulator {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn finds_races(&self) -> bool {
        self.machine.checks.has(Check::Race)
    }

    fn finds_unset(&self) -> bool {
        self.machine.checks.has(Check::Uninit)
    }

    fn counts_only(&self) -> bool {
        self.counting.is_some()
    }

    fn compute(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        bytes: (u64, u64),
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Uncomputed> {
        match &mut self.counting {
            Some(counting) => counting.compute(program, memory, &self.machine, bytes, out),
            None => Ok(()),
        }
    }

    fn settle(&mut self, program: &Program, memory: &mut Memory, out: &mut dyn FnMut(&[u8])) {
        if let Some(counting) = &mut self.counting {
            counting.settle(program, memory, &self.machine, out);
        }
    }

    fn unseen(&self, memory: &Memory) -> Option<Uncomputed> {
        self.counting.as_ref()?.unseen(memory)
    }

    fn finds_leaks(&self) -> bool {
        self.machine.checks.has(Check::Leak)
    }

    fn malloc(
        &mut self,
        memory: &mut Memory,
        bytes: u64,
        managed: bool,
    ) -> Result<u64, DeviceError> {
        let in_use = memory.device_bytes_in_use();
        if bytes > self.info.global_bytes.saturating_sub(in_use) {
            return Err(DeviceError::Cuda(CudaError::MemoryAllocation));
        }
        let address = if managed {
            memory.managed(bytes)
        } else {
            memory.malloc_device(bytes)
        };
        address.map_err(|_| DeviceError::Cuda(CudaError::MemoryAllocation))
    }

    fn free(&mut self, memory: &mut Memory, address: u64) -> Result<(), DeviceError> {
        if let Some(counting) = &mut self.counting {
            counting.freed(address);
        }
        Ok(memory.free_device(address)?)
    }

    fn copy(
        &mut self,
        memory: &mut Memory,
        to: u64,
        from: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        self.changes(memory, to);
        memory.copy(to, from, bytes)?;
        let is_host = |address| memory.kind_of(address) == AddressKind::Host;
        if let Some(digest) = &mut self.digest
            && is_host(to)
            && !is_host(from)
        {
            digest.copied(memory.read_bytes(to, bytes)?);
        }
        Ok(())
    }

    fn fill(
        &mut self,
        memory: &mut Memory,
        address: u64,
        byte: u8,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        if let Some(varying) = &mut self.varying {
            varying.cleared(memory, address);
        }
        if let Some(counting) = &mut self.counting {
            counting.changed(memory, address);
        }
        Ok(memory.fill(address, byte, bytes)?)
    }

    fn read(&mut self, memory: &Memory, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let bytes = memory.read_bytes(address, bytes)?;
        if let Some(digest) = &mut self.digest {
            digest.copied(bytes);
        }
        Ok(bytes.to_vec())
    }

    fn write(
        &mut self,
        memory: &mut Memory,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.changes(memory, address);
        Ok(memory.write_bytes(address, bytes)?)
    }

    fn launch(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        kernel: FuncId,
        config: &LaunchConfig,
        args: &[u64],
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<LaunchReport, LaunchError> {
        let varied = self
            .varying
            .as_mut()
            .map(|varying| varying.launch(program, memory, (kernel, config, args)));
        let (kernel, config, args) = match &varied {
            Some((kernel, config, args)) => (*kernel, config, &args[..]),
            None => (kernel, config, args),
        };
        if let Some(digest) = &mut self.digest {
            digest.launches(memory, program, kernel, args);
        }
        self.machine.reuse = self.looks && self.repeats.looks(kernel, config);
        let machine = &self.machine;
        if let Some(splitting) = &mut self.splitting
            && splitting.is_next()
        {
            let launch = (kernel, config, args);
            let result = splitting.launch(program, launch, memory, machine, out);
            return result.map_err(LaunchError::Failed);
        }
        let mut report = match &mut self.counting {
            None => {
                let compiled = self.compiled.as_mut();
                let compiled = compiled.map(|compiling| compiling.get(program.module()));
                let launch = (program, kernel, config, args);
                launch_as(compiled, launch, memory, machine, out).map_err(LaunchError::Failed)?
            }
            Some(counting) => counting
                .launch(program, (kernel, config, args), memory, machine, out)
                .map_err(|error| match error {
                    CountingError::Failed(failure) => LaunchError::Failed(failure),
                    CountingError::NotComputed(why) => LaunchError::NotComputed(Box::new(why)),
                })?,
        };
        if self.looks {
            self.repeats.complete(kernel, config, &mut report);
        }
        if let Some(digest) = &mut self.digest {
            digest.launched(memory);
        }
        Ok(report)
    }

    fn bound_launch(&mut self, instructions: u64) {
        self.machine.limit = Some(self.limit.map_or(instructions, |own| own.min(instructions)));
    }

    fn is_over(&self) -> bool {
        self.splitting.as_ref().is_some_and(Splitting::is_over)
    }

    fn take_split(&mut self) -> Option<SplitResult> {
        self.splitting.as_mut().and_then(Splitting::take)
    }

    fn set_jobs(&mut self, jobs: usize) {
        self.machine.jobs = jobs;
    }

    fn set_bank_width(&mut self, width: BankWidth) -> bool {
        // User-defined rules fix the bank width.
        if self.machine.rules.given_by.is_some() {
            return width == self.machine.rules.bank_width;
        }
        match RuleSet::new(self.machine.rules.arch, width) {
            Ok(rules) => {
                self.machine.rules = rules;
                true
            }
            Err(_) => false,
        }
    }

    fn bank_width(&self) -> BankWidth {
        self.machine.rules.bank_width
    }

    fn bytes_in_use(&self, memory: &Memory) -> u64 {
        memory.device_bytes_in_use()
    }
}

/// Runs a launch, and counts it as compiled if there are compiled kernels.
fn launch_as(
    compiled: Option<&Result<Compiled, String>>,
    (program, kernel, config, args): (&Program, FuncId, &LaunchConfig, &[u64]),
    memory: &mut Memory,
    machine: &MachineConfig,
    out: &mut dyn FnMut(&[u8]),
) -> Result<LaunchReport, LaunchFailure> {
    let compiled = match compiled {
        Some(Ok(compiled)) => {
            let launch = (kernel, config, args);
            return interp::launch_both((program, compiled), launch, memory, machine, out);
        }
        Some(Err(why)) => Some(CompiledCounts::Not(why.clone())),
        None => None,
    };
    let report = interp::launch(program, kernel, config, args, memory, machine, out)?;
    // A kernel of PTX is counted as it is.
    Ok(LaunchReport {
        compiled: report.compiled.clone().or(compiled),
        ..report
    })
}

/// The properties of an architecture: the limits in its rules, on a device that was sold with it.
fn device_info(rules: &RuleSet) -> DeviceInfo {
    let limits = Limits::of(rules.arch);
    let (major, minor) = rules.arch.compute_capability();
    DeviceInfo {
        name: format!("{} (simulated by dslc)", limits.device),
        major,
        minor,
        global_bytes: limits.global_bytes,
        constant_bytes: limits.constant_bytes.into(),
        block: limits.block,
        multiprocessors: limits.multiprocessors,
        residency: limits.residency,
        registers_per_multiprocessor: limits.registers_per_multiprocessor,
        grid_limit: limits.max_grid,
        clock_khz: limits.clock_khz,
        memory_clock_khz: limits.clock_khz,
        memory_bus_bits: 384,
        l2_bytes: limits.l2_bytes.into(),
    }
}
