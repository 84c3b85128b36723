//! Device, managed and pinned memory that a program does not free before its end: one finding for each allocating call.

use interp::{FindingKind, FindingOp, Severity};
use ir::{LocId, diagnostic::Code};

use super::{Host, HostFinding, HostSide};

/// The memory of one call that was never freed.
struct Leak {
    call: &'static str,
    loc: LocId,
    variable: Option<String>,
    count: u64,
    bytes: u64,
    is_pinned: bool,
}

impl Host<'_> {
    /// Reports memory that was never freed, after the program has ended by itself.
    pub(super) fn report_leaks(&mut self) {
        // A program that ends because of a fault frees nothing.
        let failed = self.state.pending.is_some() || self.state.sticky.is_some();
        if failed || !self.device.finds_leaks() {
            return;
        }
        let mut leaks: Vec<Leak> = Vec::new();
        for (address, bytes, allocation) in self.memory.leaks() {
            let Some(allocation) = allocation else {
                continue;
            };
            let place = (allocation.call, allocation.loc);
            match leaks.iter_mut().find(|leak| (leak.call, leak.loc) == place) {
                Some(leak) => {
                    leak.count += 1;
                    leak.bytes += bytes;
                    if leak.variable != allocation.variable {
                        leak.variable = None;
                    }
                }
                None => leaks.push(Leak {
                    call: allocation.call,
                    loc: allocation.loc,
                    variable: allocation.variable.clone(),
                    count: 1,
                    bytes,
                    is_pinned: self.state.pinned.contains(&address),
                }),
            }
        }
        leaks.sort_by_key(|leak| leak.loc);
        let findings = leaks.into_iter().map(|leak| self.leak(leak));
        let heap = self.memory.heap_leaks().into_iter();
        let heap = heap.map(|leak| self.heap_leak(leak));
        let findings: Vec<HostFinding> = findings.chain(heap).collect();
        self.outcome.findings.extend(findings);
    }

    fn leak(&self, leak: Leak) -> HostFinding {
        let Leak { call, bytes, .. } = leak;
        let line = self.program.module().loc(leak.loc).line;
        let what = match (leak.count, &leak.variable) {
            (1, Some(variable)) => {
                format!("`{variable}`, {bytes} bytes of {call} at line {line}, is never freed")
            }
            (1, None) => format!("{bytes} bytes of {call} at line {line} are never freed"),
            (count, variable) => {
                let of = match variable {
                    Some(variable) => format!(" (`{variable}`)"),
                    None => String::new(),
                };
                format!(
                    "{count} allocations of {call} at line {line}{of} are never freed, {bytes} bytes in all"
                )
            }
        };
        let free = if leak.is_pinned {
            "cudaFreeHost"
        } else {
            "cudaFree"
        };
        HostFinding {
            code: Code::MemoryLeak,
            kind: FindingKind::Leak,
            severity: Severity::Note,
            launch: None,
            message: format!("leak: {what}"),
            advice: Some(format!(
                "call `{free}` after its last use: a program that runs on fills the device's memory"
            )),
            object: leak.variable.map(|variable| (variable, String::new())),
            sides: vec![HostSide {
                op: FindingOp::Call,
                loc: leak.loc,
            }],
            others: Vec::new(),
            count: leak.count,
        }
    }

    /// Memory that kernels allocated on the device's heap and no kernel freed.
    fn heap_leak(&self, (loc, count, bytes): (LocId, u64, u64)) -> HostFinding {
        let line = self.program.module().loc(loc).line;
        let what = match count {
            1 => format!(
                "{bytes} bytes that a kernel takes from the device's heap at line {line} are never freed"
            ),
            _ => format!(
                "{count} blocks that kernels take from the device's heap at line {line} are never freed, {bytes} bytes in all"
            ),
        };
        HostFinding {
            code: Code::MemoryLeak,
            kind: FindingKind::Leak,
            severity: Severity::Note,
            launch: None,
            message: format!("leak: {what}"),
            advice: Some(
                "give it back in a kernel, with `free` or `delete` as it was made: the heap outlives the kernel that takes from it"
                    .to_owned(),
            ),
            object: None,
            sides: vec![HostSide {
                op: FindingOp::Call,
                loc,
            }],
            others: Vec::new(),
            count,
        }
    }

    /// `cudaDeviceReset` frees everything.
    pub(super) fn free_all(&mut self, loc: LocId) {
        if !self.device.is_simulator() {
            return;
        }
        let addresses: Vec<u64> = self.memory.leaks().map(|(address, ..)| address).collect();
        for address in addresses {
            let result = self.device.free(&mut self.memory, address);
            if self.device_result(result, "cudaDeviceReset", loc).is_ok() {
                self.memory.note_freed(address, loc);
            }
        }
        self.state.managed.clear();
        self.state.pinned.clear();
    }
}
