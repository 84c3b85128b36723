//! Translates the report of one module's launch to the numbering of several joined modules: see [`ir::join`].

use ir::join::Shift;

use super::report::{Counted, InFull, LaunchReport, SkippedAccess};
use crate::fault::{
    finding::{Fact, Finding, MissingWrite, Scheduled},
    trap::{BadObject, Trap, TrapKind},
};

impl LaunchReport {
    /// Translates everything. Its children and its trace stay unchanged, because the caller runs the single module.
    pub fn shift(&mut self, by: &Shift) {
        if by.is_none() {
            return;
        }
        by.function(&mut self.kernel);
        if self.statement.line > 0 {
            by.file(&mut self.statement.file);
        }
        for site in &mut self.sites {
            by.loc(&mut site.loc);
            by.file(&mut site.file);
        }
        for branch in &mut self.branches {
            by.loc(&mut branch.loc);
            by.file(&mut branch.file);
        }
        for barrier in &mut self.barriers {
            by.file(&mut barrier.file);
        }
        for finding in &mut self.findings {
            of_finding(finding, by);
        }
        for SkippedAccess { trap, .. } in &mut self.skipped {
            trap.shift(by);
        }
        if let Some((trap, schedule)) = &mut self.order.trap_scheduled {
            trap.shift(by);
            of_schedule(schedule, by);
        }
        if let Counted::InFull(why) = &mut self.order.counted
            && let InFull::Decides { at, because, .. } = &mut **why
        {
            by.loc(at);
            because.iter_mut().for_each(|(_, loc)| by.loc(loc));
        }
        for count in &mut self.order.counts {
            by.loc(&mut count.loc);
        }
        if let Some(trap) = &mut self.order.trap_descending {
            trap.shift(by);
        }
    }
}

impl Trap {
    /// Translates its places.
    pub fn shift(&mut self, by: &Shift) {
        by.loc(&mut self.loc);
        for waiting in &mut self.others {
            by.loc(&mut waiting.loc);
        }
        if let Some(overflow) = &mut self.overflow {
            by.loc(&mut overflow.loc);
        }
        let freed = object(&mut self.kind).and_then(|object| object.freed_at.as_mut());
        freed.into_iter().for_each(|loc| by.loc(loc));
    }
}

fn of_finding(finding: &mut Finding, by: &Shift) {
    for access in &mut finding.accesses {
        by.loc(&mut access.loc);
    }
    if let Fact::Uninitialized { missing, .. } = &mut finding.fact
        && let Some(MissingWrite::PartWritten { setter, .. }) = missing
    {
        by.loc(&mut setter.loc);
    }
    if let Fact::ResultDepends { schedule, .. } = &mut finding.fact {
        of_schedule(schedule, by);
    }
}

fn of_schedule(schedule: &mut Scheduled, by: &Shift) {
    for turn in &mut schedule.turns {
        by.loc(&mut turn.at);
    }
    for late in &mut schedule.lates {
        by.loc(&mut late.access.at);
        by.loc(&mut late.missed.at);
        if let Some(after) = &mut late.after {
            by.loc(after);
        }
        if let Some(despite) = &mut late.despite {
            by.loc(&mut despite.read.at);
            by.loc(&mut despite.stored_at);
        }
    }
}

/// The object that a trap refers to.
fn object(kind: &mut TrapKind) -> Option<&mut BadObject> {
    match kind {
        TrapKind::OutOfBounds(access)
        | TrapKind::Misaligned(access)
        | TrapKind::NullPointer(access)
        | TrapKind::UseAfterFree(access)
        | TrapKind::HostPointerOnDevice(access)
        | TrapKind::DevicePointerOnHost(access)
        | TrapKind::ReadOnly(access)
        | TrapKind::InvalidPointer(access) => access.object.as_mut(),
        TrapKind::InvalidFree(fault) => fault.object.as_mut(),
        TrapKind::Deadlock
        | TrapKind::AwaitsHost
        | TrapKind::BarrierDivergence { .. }
        | TrapKind::InvalidBarrier { .. }
        | TrapKind::InvalidMask { .. }
        | TrapKind::Limit { .. }
        | TrapKind::Stopped(_)
        | TrapKind::RunLimit { .. }
        | TrapKind::PrintLimit { .. }
        | TrapKind::Endless
        | TrapKind::Assert { .. }
        | TrapKind::Explicit
        | TrapKind::Unsupported { .. }
        | TrapKind::BadCall
        | TrapKind::BadObject
        | TrapKind::DivisionByZero
        | TrapKind::StackOverflow
        | TrapKind::CallsTooDeep { .. }
        | TrapKind::BadString { .. } => None,
    }
}
