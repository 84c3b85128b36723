//! The properties of a launch that the race check needs before it begins.

use super::verdict::{Facts, Group, History, Role, Side, Verdict, verdict};
use crate::config::{Check, Checks};
use crate::fault::trap::AccessOp;
use crate::isa::bytecode::{Code, CounterSite, Place};
use crate::isa::grid::Shape;
use crate::isa::op::Op;
use crate::memory::map::GlobalMap;
use crate::shortcut::Shortcut;

/// The launch, and properties of its code.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) checks: Checks,
    pub(crate) code: &'a Code,
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) map: &'a GlobalMap,
    /// By region: whether the kernel may write it.
    pub(crate) written: Vec<bool>,
    /// Whether there are fences, or synchronisations of some lanes: the readers must then be known exactly.
    pub(super) exact: bool,
    /// Whether there are fences.
    pub(crate) fences: bool,
    /// Whether there are atomics of block scope.
    pub(crate) block_scopes: bool,
    /// Whether lanes of a warp may run separately: since sm_70.
    pub(super) independent_lanes: bool,
    /// By counter: the role of the access.
    pub(super) roles: Vec<Role>,
    /// Whether only some blocks run, and what they touch is compared with what others do.
    pub(crate) is_part: bool,
    /// Whether the fast paths are used. Tests turn them off to compare.
    pub(crate) quick: bool,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(
        checks: Checks,
        independent_lanes: bool,
        code: &'a Code,
        shape: &'a Shape<'a>,
        map: &'a GlobalMap,
        written: Vec<bool>,
    ) -> Subject<'a> {
        let fences = code.insts.iter().any(|inst| inst.op == Op::Fence);
        let whole = |register: u32| {
            code.registers
                .s_init
                .iter()
                .any(|&(at, bits)| at == register && bits as u32 == u32::MAX)
        };
        let partial = code.insts.iter().any(|inst| match inst.op {
            Op::NumberedBarrier => true,
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
            code,
            shape,
            map,
            written,
            exact: fences || partial,
            fences,
            block_scopes: code.counters.iter().any(|site| site.block_scope),
            independent_lanes,
            roles: code.counters.iter().map(|site| role(code, site)).collect(),
            is_part: false,
            quick: code.shortcuts.has(Shortcut::Races),
        }
    }

    /// Whether recording reads of unwritten shared memory may be deferred.
    pub(super) fn may_defer_reads(&self) -> bool {
        !self.exact && self.quick
    }

    /// Whether two accesses, given by their counters, can be a race of two unordered blocks.
    pub(crate) fn may_race(&self, earlier: u32, later: u32) -> bool {
        let side = |counter: u32| {
            let site = &self.code.counters[counter as usize];
            let mut sites = self.code.sites.iter().rev();
            let access = sites.find(|site| site.counter <= counter);
            Side {
                op: site.op,
                volatile: access.is_some_and(|site| site.access.volatile),
                block_scope: site.block_scope,
                role: self.roles[counter as usize],
            }
        };
        let facts = Facts {
            earlier: side(earlier),
            later: side(later),
            group: Group::Grid,
            fences: self.fences,
            independent_lanes: self.independent_lanes,
            has_seen: false,
            exchanged: false,
            history: History::default(),
        };
        matches!(verdict(&facts), Verdict::Race(_))
    }

    /// Whether the check has to know which bytes were written.
    pub(crate) fn unset(&self) -> bool {
        self.checks.has(Check::Uninit)
    }

    /// Whether memory needs a shadow.
    pub(crate) fn shadows(&self) -> bool {
        self.checks.has(Check::Race) || self.checks.has(Check::WarpSynchronous) || self.unset()
    }
}

/// The role of an access.
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
