//! What the checks know of a launch before it begins.

use super::arithmetic;
use crate::config::{Check, Checks};
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Code, CounterSite, Op, Place};
use crate::isa::grid::Shape;
use crate::memory::Memory;
use crate::memory::defined::Defined;
use crate::memory::map::GlobalMap;
use crate::race::verdict::Role;
use crate::rules::Arch;

/// What the checks need to know about a launch.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) checks: Checks,
    pub(crate) arch: Arch,
    pub(crate) code: &'a Code,
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) map: &'a GlobalMap,
    /// By region: the kernel may write to it.
    pub(crate) written: Vec<bool>,
    /// There are fences, or synchronisations of some lanes: who has read what must be known exactly.
    pub(crate) exact: bool,
    /// There are fences.
    pub(crate) fences: bool,
    /// There are atomics of block scope.
    pub(crate) block_scopes: bool,
    /// By counter: what the access is used for.
    pub(crate) roles: Vec<Role>,
    /// By region: what was written before the launch, if that is not everything.
    pub(crate) defined: Vec<Option<&'a Defined>>,
    /// By region: it is to be known what the launch does to it.
    pub(crate) tracked: Vec<bool>,
    /// With the ways that save time. Tests do without to compare.
    pub(crate) quick: bool,
    /// By instruction: a division or shift that cannot go wrong, or is not asked for.
    pub(crate) safe: Vec<bool>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(
        checks: Checks,
        arch: Arch,
        code: &'a Code,
        shape: &'a Shape<'a>,
        (map, memory): (&'a GlobalMap, &'a Memory),
        mut written: Vec<bool>,
    ) -> Subject<'a> {
        let tracked = map.regions.iter().map(|region| memory.tracks(region.base));
        let tracked: Vec<bool> = tracked.collect();
        // What is only read is in no conflict, but has to be noted.
        for (written, tracked) in written.iter_mut().zip(&tracked) {
            *written |= tracked;
        }
        let defined = map.regions.iter().map(|region| {
            let found = memory.region(region.base)?;
            let known = found.base == region.base && region.size > 0;
            (known && !matches!(found.defined, Defined::All)).then_some(&found.defined)
        });
        let fences = code.insts.iter().any(|inst| inst.op == Op::Fence);
        let whole = |register: u32| {
            code.registers
                .s_init
                .iter()
                .any(|&(at, bits)| at == register && bits as u32 == u32::MAX)
        };
        let partial = code.insts.iter().any(|inst| match inst.op {
            Op::SyncWarp => !(inst.b == 1 && whole(inst.a)),
            Op::Shuffle | Op::Exchange => match code.exchanges[inst.a as usize].mask {
                None => false,
                Some(Place::S(register)) => !whole(register),
                Some(Place::V(_)) => true,
            },
            _ => false,
        });
        Subject {
            checks,
            arch,
            code,
            shape,
            map,
            written,
            tracked,
            exact: fences || partial,
            fences,
            block_scopes: code.counters.iter().any(|site| site.block_scope),
            defined: defined.collect(),
            #[cfg(not(test))]
            quick: true,
            #[cfg(test)]
            quick: !crate::tests::SLOWLY.get(),
            safe: arithmetic::safe(code, checks.has(Check::Arithmetic)),
            roles: code.counters.iter().map(|site| role(code, site)).collect(),
        }
    }

    /// Whether reads of shared memory that nobody writes may be noted later.
    pub(crate) fn may_defer_reads(&self) -> bool {
        !self.exact && self.quick
    }

    /// Whether memory needs a shadow.
    pub(crate) fn shadows(&self) -> bool {
        self.checks.has(Check::Race) || self.checks.has(Check::WarpSynchronous) || self.unset()
    }

    pub(crate) fn unset(&self) -> bool {
        self.checks.has(Check::Uninit)
    }
}

/// What an access is used for.
fn role(code: &Code, site: &CounterSite) -> Role {
    let polls = &code.effects.polls;
    Role {
        polls: polls.waits.contains(&site.loc),
        flags: match site.op {
            AccessOp::Load => polls.glances.contains(&site.loc),
            AccessOp::Store => polls.signs.contains(&site.loc),
            AccessOp::Atomic => false,
        },
        guesses: site.op == AccessOp::Load && code.effects.guesses.contains(&site.loc),
        locks: polls.takes.contains(&site.loc),
    }
}
