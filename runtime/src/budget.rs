//! Limits what a run may use in total, so that a program without an end is stopped.

use interp::{Counted, LaunchFailure, LaunchReport, Memory, MemoryLimits, Program, TrapKind};
use ir::GlobalId;

use crate::device::{Device, LaunchError};

/// The limits of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    /// Instructions of the host program and warp instructions of all launches together. `None`: unlimited.
    pub instructions: Option<u64>,
    /// What may be allocated at one time.
    pub memory: MemoryLimits,
}

impl Budget {
    /// Checks the program's variables against the limit, with an error in words, and leaves the rest of the limit to `memory`.
    pub(crate) fn bound(&self, program: &Program, memory: &mut Memory) -> Result<(), String> {
        memory.bound(self.memory);
        let module = program.module();
        let sizes = module.globals.iter().map(|global| global.size_bytes);
        let sum = sizes.fold(0, u64::saturating_add);
        let largest = module.globals.iter().max_by_key(|global| global.size_bytes);
        let missing = module.globals.iter().enumerate().any(|(index, global)| {
            let address = memory.symbol_address(GlobalId(index as u32));
            memory.allocation_bytes(address) != Some(global.size_bytes)
        });
        let limit = self.memory.all_bytes;
        let Some(largest) = largest.filter(|_| missing || limit.is_some_and(|most| sum > most))
        else {
            return Ok(());
        };
        let place = module.loc(largest.loc);
        let file = module.files.get(place.file as usize);
        let why = match limit {
            Some(most) if sum > most => format!("--memory allows {most}"),
            _ => "this machine does not have enough memory for them".to_owned(),
        };
        Err(format!(
            "the program's variables take {sum} bytes, and {why}; the largest is `{}` with {} bytes ({}:{})",
            largest.name,
            largest.size_bytes,
            file.map_or("", String::as_str),
            place.line
        ))
    }

    /// Why an allocation is refused, as the end of a sentence; empty if only the machine knows.
    pub(crate) fn shortage(&self, memory: &Memory, on_heap: bool) -> String {
        let (all, heap) = memory.charged_bytes();
        match self.memory {
            MemoryLimits {
                all_bytes: Some(most),
                ..
            } => format!(": {all} of {most} bytes are in use (--memory)"),
            MemoryLimits {
                heap_bytes: Some(most),
                ..
            } if on_heap => format!(
                ": {heap} of {most} bytes are in use, half of this machine's memory (--memory allows more)"
            ),
            _ => String::new(),
        }
    }
}

/// The used part of a [`Budget`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) budget: Budget,
    /// Warp instructions of the launches so far.
    warps: u64,
}

impl Spent {
    pub(crate) fn new(budget: Budget) -> Spent {
        Spent { budget, warps: 0 }
    }

    /// The limit of the host program's instructions: its own limit, or less if the launches leave less.
    pub(crate) fn for_host(&self, own: Option<u64>) -> Option<u64> {
        let left = self
            .budget
            .instructions
            .map(|all| all.saturating_sub(self.warps));
        match (own, left) {
            (Some(own), Some(left)) => Some(own.min(left)),
            (own, left) => own.or(left),
        }
    }

    /// Tells the device how much a launch may use, after the host has executed `host` instructions.
    pub(crate) fn bound(&self, device: &mut dyn Device, host: u64) {
        if let Some(left) = self.for_host(None) {
            device.bound_launch(left.saturating_sub(host));
        }
    }

    /// Adds the use of a launch. Returns whether that was all that was left: then the run is over, and the trap says so.
    pub(crate) fn count(
        &mut self,
        result: &mut Result<LaunchReport, LaunchError>,
        host: u64,
    ) -> bool {
        let left = self.for_host(None).map(|left| left.saturating_sub(host));
        let report = match result {
            Ok(report) => &*report,
            Err(LaunchError::Failed(LaunchFailure::Trap { report, .. })) => report,
            Err(_) => return false,
        };
        let took = match report.order.counted {
            // A launch that was only counted used what some of its blocks did.
            Counted::From {
                warp_instructions, ..
            } => warp_instructions,
            // The end of each warp counts, too.
            Counted::Run | Counted::InFull(_) | Counted::Part { .. } => report
                .counts
                .warp_instructions
                .saturating_add(report.counts.warps),
        };
        self.warps = self.warps.saturating_add(took);
        match (result, self.budget.instructions) {
            (Err(LaunchError::Failed(LaunchFailure::Trap { trap, .. })), Some(all))
                if Some(&trap.kind) == left.map(limit).as_ref() =>
            {
                trap.kind = TrapKind::RunLimit { instructions: all };
                true
            }
            _ => false,
        }
    }

    /// The kind of trap for a limit that the host program reached: the run's, if that was the smaller one.
    pub(crate) fn of_host(&self, kind: TrapKind) -> TrapKind {
        match self.budget.instructions {
            Some(all) if Some(&kind) == self.for_host(None).map(limit).as_ref() => {
                TrapKind::RunLimit { instructions: all }
            }
            _ => kind,
        }
    }
}

fn limit(instructions: u64) -> TrapKind {
    TrapKind::Limit { instructions }
}
