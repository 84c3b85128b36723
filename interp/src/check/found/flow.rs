//! Analyses the kernel's text around two accesses: what encloses them, whether one feeds the other, and whether two
//! threads can meet in one round of a loop. It only helps to word a finding, so if something is unknown, there is no
//! answer.

use crate::isa::grid::Identity;
use std::collections::HashSet;

use ir::{
    Function, Inst, InstKind, Intrinsic, LocId, Object, Operand, SlotId, SpecialReg, Type,
    Uniformity,
};

use crate::fault::trap::AccessOp;
use crate::inspect::evaluate::{Evaluation, Knows, Variable};
use crate::inspect::listing::{Around, At, Listing, access};

/// The most steps from an operand to its origin. No address needs more.
const FUEL: u32 = 4000;
/// A loop's variable is tried with the values below this, and with powers of two beyond.
const TRIED: u64 = 1024;

/// What a pointer starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Root {
    Object(Object),
    Slot(SlotId),
}

/// A kernel's instructions, and which of their results are uniform.
pub(super) struct Flow<'a> {
    listing: Listing<'a>,
    uniformity: Uniformity,
}

/// Whether two threads can access one element in one round of the loop around both accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meet {
    /// They do for some values of the loop's variable.
    InOneRound,
    /// Only in different rounds.
    Later,
    /// The text does not tell.
    Unknown,
}

/// Why a value is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unknown {
    /// It depends on a variable that a loop changes in the same way for all lanes.
    Variable(SlotId),
    /// On several of these.
    Moves,
    /// On memory, other lanes, or a variable that a loop changes in a different way in each lane.
    Data,
}

/// Calls `then` with the operands that an instruction computes from. Memory that it reads is not followed.
fn each_operand(kind: &InstKind, then: impl FnMut(Operand)) {
    if kind.is_scalar_op() || matches!(kind, InstKind::PtrAdd { .. }) {
        kind.operands().into_iter().copied().for_each(then);
    }
}

impl<'a> Flow<'a> {
    pub(super) fn of(function: &'a Function) -> Flow<'a> {
        Flow {
            listing: Listing::of(function),
            uniformity: Uniformity::of(function),
        }
    }

    /// The first access of that kind at a place.
    pub(super) fn access(&self, loc: LocId, op: AccessOp) -> Option<At> {
        let mut insts = self.listing.insts();
        let found = insts.find(|(_, inst)| {
            inst.loc == loc && access(&inst.kind).is_some_and(|(is, ..)| is == op)
        });
        found.map(|(at, _)| at)
    }

    pub(super) fn inst(&self, at: At) -> &'a Inst {
        self.listing.inst(at)
    }

    /// Whether there is such an instruction between two others.
    pub(super) fn any_between(&self, from: At, to: At, is: impl Fn(&Inst) -> bool) -> bool {
        (from.min(to)..from.max(to)).any(|at| is(self.inst(at)))
    }

    /// Whether there is such an instruction in the loop at a place.
    pub(super) fn any_in(&self, back: LocId, is: impl Fn(&Inst) -> bool) -> bool {
        let mut all = self.listing.insts();
        all.any(|(at, inst)| is(inst) && self.is_in(at, back))
    }

    /// Whether a numbered barrier accompanies an instruction within all statements around it: its thread waits at one
    /// before it, or reaches one after it.
    pub(super) fn comes_to_number(&self, at: At, before: bool) -> bool {
        let mut all = self.listing.insts();
        all.any(|(other, inst)| {
            let InstKind::Intrinsic(intrinsic, _) = inst.kind else {
                return false;
            };
            let is_it = match before {
                true => intrinsic == Intrinsic::BarSync && other < at,
                false => {
                    matches!(intrinsic, Intrinsic::BarSync | Intrinsic::BarArrive) && other > at
                }
            };
            is_it && self.path(other) == self.path(at)
        })
    }

    pub(super) fn is_in(&self, at: At, back: LocId) -> bool {
        let mut around = self.path(at).iter();
        around.any(|around| matches!(around, Around::Loop(_, loc) if *loc == back))
    }

    /// Whether the address of an access depends on a variable that the loop at a place changes.
    pub(super) fn changes_in(&self, at: At, back: LocId) -> bool {
        let Some((_, ptr, _)) = access(&self.inst(at).kind) else {
            return false;
        };
        let mut behind = self.behind(vec![ptr]).into_iter();
        behind.any(|at| {
            let InstKind::Get(slot) = self.inst(at).kind else {
                return false;
            };
            let mut sets = self.listing.sets(slot).iter();
            sets.any(|&set| self.is_in(set, back))
        })
    }

    /// Whether an operand is computed from a variable.
    pub(super) fn follows(&self, operand: Operand, slot: SlotId) -> bool {
        let mut behind = self.behind(vec![operand]).into_iter();
        behind.any(|at| matches!(self.inst(at).kind, InstKind::Get(of) if of == slot))
    }

    /// Whether a load at that place belongs to a store that keeps some of the bits: a bit-field.
    pub(super) fn reads_in_part(&self, loc: LocId) -> bool {
        let mut all = self.listing.insts();
        all.any(|(_, inst)| {
            inst.loc == loc && matches!(inst.kind, InstKind::Load(access, _) if access.partial)
        })
    }

    /// The statements around an instruction, outermost first.
    pub(super) fn path(&self, at: At) -> &[Around] {
        self.listing.path(at)
    }

    /// How many of the statements around two instructions are the same.
    pub(super) fn shared(&self, a: At, b: At) -> usize {
        let same = self.path(a).iter().zip(self.path(b));
        same.take_while(|(a, b)| a == b).count()
    }

    /// The innermost loop around both.
    pub(super) fn common_loop(&self, a: At, b: At) -> Option<LocId> {
        let around = self.path(a)[..self.shared(a, b)].iter().rev();
        around.copied().find_map(|around| match around {
            Around::Loop(_, loc) => Some(loc),
            Around::If(..) => None,
        })
    }

    /// Whether these threads may diverge at a branch.
    pub(super) fn parts<'i>(
        &self,
        around: Around,
        mut threads: impl Iterator<Item = Identity<'i>>,
    ) -> bool {
        let Around::If(_, _, cond, _) = around else {
            return false;
        };
        if self.uniformity.operand(cond) {
            return false;
        }
        let holds = |who: Identity<'_>| {
            let mut evaluation = self.evaluation(who, None);
            evaluation.operand(cond).ok()
        };
        let first = threads.next().and_then(holds);
        first.is_none() || threads.any(|who| holds(who) != first)
    }

    /// Whether at most one of these threads reaches an instruction, as far as the branches tell.
    pub(super) fn is_for_one<'i>(
        &self,
        at: At,
        threads: impl Iterator<Item = Identity<'i>>,
    ) -> bool {
        let comes = |who: &Identity<'i>| {
            self.path(at).iter().all(|around| {
                let Around::If(_, _, cond, side) = *around else {
                    return true;
                };
                let mut evaluation = self.evaluation(*who, None);
                let holds = evaluation.operand(cond).ok();
                holds.is_none_or(|holds| (holds != 0) == side)
            })
        };
        threads.filter(comes).nth(1).is_none()
    }

    /// The last atomic or `volatile` store before an instruction to one of the places that were read, if both are under
    /// the same conditions.
    pub(super) fn announced_before(&self, before: At, seen: &[Root]) -> Option<At> {
        let writes = |at: At| !matches!(self.inst(at).kind, InstKind::Load(..));
        let is_alike = |at: At| self.path(at).len() == self.path(before).len();
        (0..before).rev().find(|&at| {
            writes(at)
                && self.is_sign(at)
                && is_alike(at)
                && self.root(at).is_some_and(|root| seen.contains(&root))
        })
    }

    /// Whether the address of an access is the same in all lanes.
    pub(super) fn is_uniform(&self, at: At) -> bool {
        access(&self.inst(at).kind).is_some_and(|(_, ptr, _)| self.uniformity.operand(ptr))
    }

    /// All instructions that these operands depend on, through variables and the conditions under which these are set.
    pub(super) fn behind(&self, start: Vec<Operand>) -> HashSet<At> {
        let (mut seen, mut left) = (HashSet::new(), start);
        while let Some(operand) = left.pop() {
            let Some(at) = operand.value().and_then(|id| self.listing.def(id)) else {
                continue;
            };
            if !seen.insert(at) {
                continue;
            }
            let kind = &self.inst(at).kind;
            each_operand(kind, |operand| left.push(operand));
            if let InstKind::Get(slot) = kind {
                for &set in self.listing.sets(*slot) {
                    if let InstKind::Set(_, value) = self.inst(set).kind {
                        left.push(value);
                    }
                    left.extend(self.conditions(set));
                }
            }
        }
        seen
    }

    pub(super) fn conditions(&self, at: At) -> impl Iterator<Item = Operand> + '_ {
        let around = self.path(at).iter();
        around.filter_map(|around| match around {
            Around::If(_, _, cond, _) => Some(*cond),
            Around::Loop(..) => None,
        })
    }

    /// The loads that decide what a store writes, or whether it does.
    pub(super) fn feeds(&self, store: At) -> Vec<At> {
        let values = access(&self.inst(store).kind).map_or(&[][..], |(_, _, values)| values);
        let start = values.iter().copied().chain(self.conditions(store));
        let behind = self.behind(start.collect()).into_iter();
        let loads = behind.filter(|&at| matches!(self.inst(at).kind, InstKind::Load(..)));
        let mut loads: Vec<At> = loads.collect();
        loads.sort_unstable();
        loads
    }

    /// Whether the address of an access depends on the thread index.
    pub(super) fn goes_by_thread(&self, at: At) -> bool {
        let Some((_, ptr, _)) = access(&self.inst(at).kind) else {
            return false;
        };
        let behind = self.behind(vec![ptr]).into_iter();
        behind.map(|at| &self.inst(at).kind).any(|kind| {
            matches!(
                kind,
                InstKind::Special(SpecialReg::TidX | SpecialReg::TidY | SpecialReg::TidZ)
            )
        })
    }

    /// The bytes of its object that an access goes to, if they are always the same.
    pub(super) fn bytes_of(&self, at: At) -> Option<(u64, u64)> {
        let (_, mut ptr, _) = access(&self.inst(at).kind)?;
        let mut from = 0i64;
        for _ in 0..FUEL {
            match self.made_by(ptr)? {
                InstKind::PtrAdd {
                    base,
                    index: Operand::Const(index),
                    scale_bytes,
                    offset_bytes,
                    ..
                } => {
                    from += (index.bits as i64).wrapping_mul(*scale_bytes) + offset_bytes;
                    ptr = *base;
                }
                InstKind::Convert(_, inner) => ptr = *inner,
                InstKind::AddrOf(_) => {
                    let from = u64::try_from(from).ok()?;
                    return Some((from, from + self.width(at)));
                }
                _ => return None,
            }
        }
        None
    }

    /// All instructions, in order.
    pub(super) fn insts(&self) -> impl Iterator<Item = (At, &'a Inst)> + '_ {
        self.listing.insts()
    }

    /// The instruction that computes an operand.
    pub(super) fn def_of(&self, operand: Operand) -> Option<At> {
        self.listing.def(operand.value()?)
    }

    /// Whether the address of an access depends on the contents of memory.
    pub(super) fn goes_by_data(&self, at: At) -> bool {
        let Some((_, ptr, _)) = access(&self.inst(at).kind) else {
            return false;
        };
        let behind = self.behind(vec![ptr]).into_iter();
        behind.map(|at| &self.inst(at).kind).any(|kind| {
            matches!(
                kind,
                InstKind::Load(..) | InstKind::Atomic { .. } | InstKind::Exchange(_)
            )
        })
    }

    /// The flags, locks and counters that decide whether an access is reached: the places that their loads and atomics
    /// read, including those before it at which a thread waits.
    pub(super) fn decided_by(&self, at: At, waits: impl Fn(LocId) -> bool) -> Vec<Root> {
        let mut seen: HashSet<At> = HashSet::new();
        let mut start: Vec<Operand> = self.conditions(at).collect();
        // If a shared variable decides, follow the stores that set it.
        while !start.is_empty() {
            let mut next = Vec::new();
            for found in self.behind(std::mem::take(&mut start)) {
                if !seen.insert(found) {
                    continue;
                }
                let InstKind::Load(load, _) = &self.inst(found).kind else {
                    continue;
                };
                for (store, inst) in self.listing.insts() {
                    if let InstKind::Store(stored, _, values) = &inst.kind
                        && load.object.is_some()
                        && load.object == stored.object
                    {
                        next.extend(values.iter().copied().chain(self.conditions(store)));
                    }
                }
            }
            start = next;
        }
        seen.extend((0..at).filter(|&before| waits(self.inst(before).loc)));
        let signs = seen.into_iter().filter(|&at| self.is_sign(at));
        signs.filter_map(|at| self.root(at)).collect()
    }

    /// The first atomic or `volatile` store after an instruction to one of the places that were read.
    pub(super) fn announced(&self, after: At, seen: &[Root]) -> Option<At> {
        let loads = |at: At| matches!(self.inst(at).kind, InstKind::Load(..));
        let mut later = after + 1..self.listing.len();
        later.find(|&at| {
            !loads(at) && self.is_sign(at) && self.root(at).is_some_and(|root| seen.contains(&root))
        })
    }

    /// Whether it is an atomic or `volatile` access.
    fn is_sign(&self, at: At) -> bool {
        match &self.inst(at).kind {
            InstKind::Load(access, _) | InstKind::Store(access, ..) => access.volatile,
            InstKind::Atomic { .. } => true,
            _ => false,
        }
    }

    /// What the pointer of an access starts from.
    pub(super) fn root(&self, at: At) -> Option<Root> {
        let (_, mut ptr, _) = access(&self.inst(at).kind)?;
        for _ in 0..FUEL {
            match self.made_by(ptr)? {
                InstKind::PtrAdd { base: from, .. } | InstKind::Convert(_, from) => ptr = *from,
                InstKind::AddrOf(object) => return Some(Root::Object(*object)),
                InstKind::Get(slot) => return Some(Root::Slot(*slot)),
                _ => return None,
            }
        }
        None
    }

    /// The instruction that computes an operand, through variables that are set once; for other variables, the one that
    /// reads them.
    pub(super) fn made_by(&self, operand: Operand) -> Option<&'a InstKind> {
        let mut operand = operand;
        for _ in 0..FUEL {
            let kind = &self.inst(self.listing.def(operand.value()?)?).kind;
            match kind {
                InstKind::Get(slot) => match self.listing.set_once(*slot) {
                    Some(value) => operand = value,
                    None => return Some(kind),
                },
                _ => return Some(kind),
            }
        }
        None
    }

    /// An evaluation of what a thread computes from its indices and its arguments alone.
    fn evaluation<'s>(
        &'s self,
        who: Identity<'s>,
        guess: Option<(SlotId, u64)>,
    ) -> Evaluation<'s, ByArguments<'s>> {
        let args = who.shape.args;
        Evaluation::new(
            &self.listing,
            who,
            ByArguments {
                flow: self,
                args,
                guess,
            },
        )
    }

    /// Whether two threads can access one element in one round of the loop around both accesses.
    pub(super) fn meet(&self, a: (At, Identity<'_>), b: (At, Identity<'_>)) -> Meet {
        let shared = &self.path(a.0)[..self.shared(a.0, b.0)];
        let inner = shared
            .iter()
            .rposition(|around| matches!(around, Around::Loop(..)));
        let from = inner.map_or(0, |at| at + 1);
        let mut tried: Option<SlotId> = None;
        let mut guess = 0;
        loop {
            match self.meet_with(a, b, from, tried.map(|slot| (slot, guess))) {
                Ok(true) => return Meet::InOneRound,
                Err(Unknown::Variable(slot)) if tried.is_none() => {
                    tried = Some(slot);
                    continue;
                }
                Err(Unknown::Data) => return Meet::Unknown,
                Err(Unknown::Moves | Unknown::Variable(_)) => return Meet::Later,
                Ok(false) => {}
            }
            if tried.is_none() || guess > 1 << 24 {
                return Meet::Later;
            }
            guess = match guess {
                0..TRIED => guess + 1,
                _ => guess * 2,
            };
        }
    }

    fn meet_with(
        &self,
        a: (At, Identity<'_>),
        b: (At, Identity<'_>),
        from: usize,
        guess: Option<(SlotId, u64)>,
    ) -> Result<bool, Unknown> {
        let mut spans = [(0u64, 0u64); 2];
        for (span, (at, who)) in spans.iter_mut().zip([a, b]) {
            let mut evaluation = self.evaluation(who, guess);
            for around in &self.path(at)[from..] {
                if let Around::If(_, _, cond, side) = around {
                    match evaluation.operand(*cond) {
                        Ok(bits) if (bits != 0) != *side => return Ok(false),
                        Ok(_) | Err(Unknown::Data) => {}
                        Err(unknown) => return Err(unknown),
                    }
                }
            }
            let (_, ptr, _) = access(&self.inst(at).kind).ok_or(Unknown::Data)?;
            *span = (evaluation.operand(ptr)?, self.width(at));
        }
        let [(a, a_width), (b, b_width)] = spans;
        Ok(a < b + b_width && b < a + a_width)
    }

    fn width(&self, at: At) -> u64 {
        match &self.inst(at).kind {
            InstKind::Load(access, _)
            | InstKind::Store(access, ..)
            | InstKind::Atomic { access, .. } => access.width_bytes().into(),
            _ => 0,
        }
    }
}

/// What is known of every thread of a launch: the arguments.
struct ByArguments<'a> {
    flow: &'a Flow<'a>,
    args: &'a [u64],
    /// A variable that loops change, and its assumed value.
    guess: Option<(SlotId, u64)>,
}

impl Knows for ByArguments<'_> {
    type Value = u64;
    type Unknown = Unknown;
    const DATA: Unknown = Unknown::Data;

    fn bits(value: u64) -> u64 {
        value
    }

    fn given(&self, _: Type, bits: u64) -> u64 {
        bits
    }

    fn variable(&self, slot: SlotId, _: At, _: Type) -> Result<Variable<u64>, Unknown> {
        let listing = &self.flow.listing;
        let argument = listing.parameter(slot);
        match (argument, listing.sets(slot)) {
            (Some(number), []) => {
                let argument = self.args.get(number).copied();
                argument.map(Variable::Holds).ok_or(Unknown::Data)
            }
            (None, []) => Err(Unknown::Data),
            (None, [_]) => {
                let value = listing.set_once(slot);
                value.map(Variable::Is).ok_or(Unknown::Data)
            }
            _ => match self.guess {
                Some((guessed, value)) if guessed == slot => Ok(Variable::Holds(value)),
                _ if !self.flow.uniformity.slot(slot) => Err(Unknown::Data),
                None => Err(Unknown::Variable(slot)),
                Some(_) => Err(Unknown::Moves),
            },
        }
    }

    /// Objects get distinct addresses that are far from each other.
    fn address(&self, object: Object) -> Option<u64> {
        match object {
            Object::Shared(id) => {
                let var = &self.flow.listing.function.shared[id.index()];
                Some((1 << 48) + (u64::from(var.dynamic) << 40) + var.offset_bytes)
            }
            Object::Local(id) => Some((2 << 48) + ((id.index() as u64) << 32)),
            Object::Global(id) => Some((3 << 48) + ((id.index() as u64) << 40)),
            Object::String(_) => None,
        }
    }
}
