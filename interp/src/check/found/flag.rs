//! Recognises flags that do not order anything: they are accessed by ordinary loads and stores, or their fence has only
//! block scope.

use ir::{FenceScope, InstKind, LocId};

use super::advice::Conflict;
use super::flow::Flow;
use crate::fault::finding::remedy::Remedy;
use crate::inspect::listing::{Around, At};
use crate::observe::Scene;

impl Scene<'_> {
    /// A loop that waits for a flag with an ordinary load, and the ordinary store that sets the flag.
    pub(super) fn plain_flag(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Remedy> {
        let (first, then) = (self.at(flow, conflict.a)?, self.at(flow, conflict.b)?);
        let all = [first, then];
        flow.insts().find_map(|(wait, inst)| {
            let back = flow.spins_at(wait)?;
            let root = flow.root(wait)?;
            let is_set = |&(at, inst): &(At, &ir::Inst)| {
                let InstKind::Store(access, ..) = &inst.kind else {
                    return false;
                };
                !access.volatile && flow.root(at) == Some(root)
            };
            let (set, _) = flow.insts().find(is_set)?;
            let is_about = all.contains(&wait) && all.contains(&set)
                || all.iter().any(|&at| at <= set && !flow.is_in(at, back))
                    && all.iter().any(|&at| at > wait);
            is_about.then(|| Remedy::PlainFlag {
                sign: self.module.loc(inst.loc).text.clone(),
                lines: (self.line(flow.inst(set).loc), self.line(inst.loc)),
            })
        })
    }

    /// A fence of block scope between an access and the flag that announces it to another block.
    pub(super) fn narrow_fence(&self, flow: &Flow<'_>, conflict: &Conflict<'_>) -> Option<Remedy> {
        let (first, then) = (self.at(flow, conflict.a)?, self.at(flow, conflict.b)?);
        let seen = flow.decided_by(then, |loc: LocId| {
            self.code.effects.polls.waits.contains(&loc)
        });
        let sign = flow.announced(first, &seen)?;
        let has = |is_narrow: bool| {
            flow.any_between(first, sign, |inst| {
                matches!(inst.kind, InstKind::Fence(scope) if (scope == FenceScope::Block) == is_narrow)
            })
        };
        (has(true) && !has(false)).then(|| Remedy::WiderFence {
            lines: (
                self.line(flow.inst(first).loc),
                self.line(flow.inst(sign).loc),
            ),
        })
    }
}

impl Flow<'_> {
    /// The loop that does nothing but poll an ordinary load, if this is one.
    fn spins_at(&self, at: At) -> Option<LocId> {
        let InstKind::Load(access, _) = &self.inst(at).kind else {
            return None;
        };
        let back = match self.path(at).last()? {
            Around::Loop(_, back) => *back,
            Around::If(..) => return None,
        };
        let does_more = |inst: &ir::Inst| {
            let looks = matches!(
                inst.kind,
                InstKind::Load(..)
                    | InstKind::Get(_)
                    | InstKind::PtrAdd { .. }
                    | InstKind::AddrOf(_)
            );
            !looks && !inst.kind.is_scalar_op()
        };
        (!access.volatile && !self.any_in(back, does_more)).then_some(back)
    }
}
