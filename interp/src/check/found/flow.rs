//! What the kernel's text says of two accesses: what encloses them, whether one feeds the other, and whether two threads can meet
//! in one round of a loop. For the words of a finding only: whatever is not known is no answer.

use crate::isa::grid::Identity;
use std::collections::{HashMap, HashSet};

use dsl::ir::{
    Block, Function, Inst, InstKind, LocId, Node, Object, Operand, SlotId, Type, Uniformity,
    ValueId, eval,
};

use crate::fault::trap::AccessOp;

/// Steps of one evaluation: no address takes more.
const FUEL: u32 = 4000;
/// A loop's variable is tried with these values, and with powers of two beyond.
const TRIED: u64 = 1024;

/// A statement around an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Around {
    /// A branch: its place and condition, and whether it is the first side.
    If(u32, LocId, Operand, bool),
    /// A loop.
    Loop(u32, LocId),
}

impl Around {
    pub(super) fn loc(self) -> LocId {
        match self {
            Around::If(_, loc, ..) | Around::Loop(_, loc) => loc,
        }
    }
}

/// An instruction and what is around it, outermost first.
struct Placed<'a> {
    inst: &'a Inst,
    path: Vec<Around>,
}

/// What a pointer begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Root {
    Object(Object),
    Slot(SlotId),
}

/// An instruction of a [`Flow`].
pub(super) type At = usize;

/// A kernel's instructions by what they give and set.
pub(super) struct Flow<'a> {
    function: &'a Function,
    uniformity: Uniformity,
    all: Vec<Placed<'a>>,
    defs: HashMap<ValueId, At>,
    sets: HashMap<SlotId, Vec<At>>,
    path: Vec<Around>,
    branches: u32,
}

/// Whether two threads can meet at one element in one round of the loop around both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meet {
    /// There are values of the loop's variable with which they do.
    InOneRound,
    /// Only in different ones.
    Later,
    /// The text does not say.
    Unknown,
}

/// Why there is no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unknown {
    /// It depends on a variable that a loop changes, the same one for all lanes.
    Variable(SlotId),
    /// On several of those.
    Moves,
    /// On memory, other lanes, or a variable of each lane's own that a loop changes.
    Data,
}

/// The pointer and the values of an access.
fn access(inst: &Inst) -> Option<(AccessOp, Operand, &[Operand])> {
    match &inst.kind {
        InstKind::Load(_, ptr) => Some((AccessOp::Load, *ptr, &[])),
        InstKind::Store(_, ptr, values) => Some((AccessOp::Store, *ptr, values)),
        InstKind::Atomic { ptr, value, .. } => {
            Some((AccessOp::Atomic, *ptr, std::slice::from_ref(value)))
        }
        _ => None,
    }
}

/// Calls `then` with what an instruction computes from; memory it reads is not followed.
fn each_operand(kind: &InstKind, then: impl FnMut(Operand)) {
    if kind.is_scalar_op() || matches!(kind, InstKind::PtrAdd { .. }) {
        kind.operands().into_iter().copied().for_each(then);
    }
}

impl<'a> Flow<'a> {
    pub(super) fn of(function: &'a Function) -> Flow<'a> {
        let mut flow = Flow {
            function,
            uniformity: Uniformity::of(function),
            all: Vec::new(),
            defs: HashMap::new(),
            sets: HashMap::new(),
            path: Vec::new(),
            branches: 0,
        };
        flow.block(&function.body);
        flow
    }

    fn block(&mut self, block: &'a Block) {
        for node in &block.0 {
            self.branches += 1;
            let id = self.branches;
            match node {
                Node::Inst(inst) => {
                    let at = self.all.len();
                    for &result in &inst.results {
                        self.defs.insert(result, at);
                    }
                    if let InstKind::Set(slot, _) = inst.kind {
                        self.sets.entry(slot).or_default().push(at);
                    }
                    let path = self.path.clone();
                    self.all.push(Placed { inst, path });
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                    loc,
                } => {
                    for (side, is_then) in [(then, true), (otherwise, false)] {
                        self.path.push(Around::If(id, *loc, *cond, is_then));
                        self.block(side);
                        self.path.pop();
                    }
                }
                Node::Loop {
                    body, step, loc, ..
                } => {
                    self.path.push(Around::Loop(id, *loc));
                    self.block(body);
                    self.block(step);
                    self.path.pop();
                }
                Node::Scope { body, .. } => self.block(body),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }

    /// The first access of that kind at a place.
    pub(super) fn access(&self, loc: LocId, op: AccessOp) -> Option<At> {
        let is = |placed: &Placed<'_>| {
            placed.inst.loc == loc && access(placed.inst).is_some_and(|(is, ..)| is == op)
        };
        self.all.iter().position(is)
    }

    pub(super) fn inst(&self, at: At) -> &'a Inst {
        self.all[at].inst
    }

    /// Whether there is such an instruction from one to another.
    pub(super) fn any_between(&self, from: At, to: At, is: impl Fn(&Inst) -> bool) -> bool {
        self.all[from.min(to)..from.max(to)]
            .iter()
            .any(|placed| is(placed.inst))
    }

    /// What is around an instruction, outermost first.
    pub(super) fn path(&self, at: At) -> &[Around] {
        &self.all[at].path
    }

    /// How many statements around two instructions are the same.
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

    /// Whether these threads may go different ways at a branch.
    pub(super) fn parts(
        &self,
        around: Around,
        mut threads: impl Iterator<Item = Identity<'a>>,
    ) -> bool {
        let Around::If(_, _, cond, _) = around else {
            return false;
        };
        if self.uniformity.operand(cond) {
            return false;
        }
        let holds = |who: Identity<'_>| {
            let mut evaluation = Evaluation {
                flow: self,
                who,
                guess: None,
                fuel: FUEL,
            };
            evaluation.operand(cond).ok()
        };
        let first = threads.next().and_then(holds);
        first.is_none() || threads.any(|who| holds(who) != first)
    }

    /// Whether at most one of these threads gets to an instruction, as far as its branches tell.
    pub(super) fn is_for_one(&self, at: At, threads: impl Iterator<Item = Identity<'a>>) -> bool {
        let comes = |who: &Identity<'a>| {
            self.path(at).iter().all(|around| {
                let Around::If(_, _, cond, side) = *around else {
                    return true;
                };
                let mut evaluation = Evaluation {
                    flow: self,
                    who: *who,
                    guess: None,
                    fuel: FUEL,
                };
                let holds = evaluation.operand(cond).ok();
                holds.is_none_or(|holds| (holds != 0) == side)
            })
        };
        threads.filter(comes).nth(1).is_none()
    }

    /// The last atomic or `volatile` store before an instruction that goes where one of those was read, if the two are under the same
    /// conditions.
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

    /// Whether the address of an access is one for all lanes.
    pub(super) fn is_uniform(&self, at: At) -> bool {
        access(self.inst(at)).is_some_and(|(_, ptr, _)| self.uniformity.operand(ptr))
    }

    /// All instructions that these operands are computed by, through variables, and what decides whether those are set.
    fn behind(&self, start: Vec<Operand>) -> HashSet<At> {
        let (mut seen, mut left) = (HashSet::new(), start);
        while let Some(operand) = left.pop() {
            let Some(&at) = operand.value().and_then(|id| self.defs.get(&id)) else {
                continue;
            };
            if !seen.insert(at) {
                continue;
            }
            let kind = &self.inst(at).kind;
            each_operand(kind, |operand| left.push(operand));
            if let InstKind::Get(slot) = kind {
                for &set in self.sets.get(slot).map_or(&[][..], Vec::as_slice) {
                    if let InstKind::Set(_, value) = self.inst(set).kind {
                        left.push(value);
                    }
                    left.extend(self.conditions(set));
                }
            }
        }
        seen
    }

    fn conditions(&self, at: At) -> impl Iterator<Item = Operand> + '_ {
        let around = self.path(at).iter();
        around.filter_map(|around| match around {
            Around::If(_, _, cond, _) => Some(*cond),
            Around::Loop(..) => None,
        })
    }

    /// The loads that decide what a store writes or whether it does.
    pub(super) fn feeds(&self, store: At) -> Vec<At> {
        let values = access(self.inst(store)).map_or(&[][..], |(_, _, values)| values);
        let start = values.iter().copied().chain(self.conditions(store));
        let behind = self.behind(start.collect()).into_iter();
        let loads = behind.filter(|&at| matches!(self.inst(at).kind, InstKind::Load(..)));
        let mut loads: Vec<At> = loads.collect();
        loads.sort_unstable();
        loads
    }

    /// Whether where an access goes depends on what is in memory.
    pub(super) fn goes_by_data(&self, at: At) -> bool {
        let Some((_, ptr, _)) = access(self.inst(at)) else {
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

    /// The flags, locks and counters that decide whether an access is come to: what the loads and atomics of theirs read, with those
    /// before it at which a thread waits.
    pub(super) fn decided_by(&self, at: At, waits: impl Fn(LocId) -> bool) -> Vec<Root> {
        let mut seen: HashSet<At> = HashSet::new();
        let mut start: Vec<Operand> = self.conditions(at).collect();
        // What is decided through a shared variable is decided by who set that.
        while !start.is_empty() {
            let mut next = Vec::new();
            for found in self.behind(std::mem::take(&mut start)) {
                if !seen.insert(found) {
                    continue;
                }
                let InstKind::Load(load, _) = &self.inst(found).kind else {
                    continue;
                };
                for (store, placed) in self.all.iter().enumerate() {
                    if let InstKind::Store(stored, _, values) = &placed.inst.kind
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

    /// The first atomic or `volatile` store after an instruction that goes where one of those was read.
    pub(super) fn announced(&self, after: At, seen: &[Root]) -> Option<At> {
        let loads = |at: At| matches!(self.inst(at).kind, InstKind::Load(..));
        let mut later = after + 1..self.all.len();
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

    /// What the pointer of an access begins with.
    fn root(&self, at: At) -> Option<Root> {
        let (_, mut ptr, _) = access(self.inst(at))?;
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

    /// What makes an operand, through variables that are set once; of others, what reads them.
    pub(super) fn made_by(&self, operand: Operand) -> Option<&'a InstKind> {
        let mut operand = operand;
        for _ in 0..FUEL {
            let kind = &self.inst(*self.defs.get(&operand.value()?)?).kind;
            match kind {
                InstKind::Get(slot) => match self.sets.get(slot).map(Vec::as_slice) {
                    Some(&[set]) => match self.inst(set).kind {
                        InstKind::Set(_, value) => operand = value,
                        _ => return None,
                    },
                    _ => return Some(kind),
                },
                _ => return Some(kind),
            }
        }
        None
    }

    /// Whether two threads can meet at one element in one round of the loop around both accesses.
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
            let mut evaluation = Evaluation {
                flow: self,
                who,
                guess,
                fuel: FUEL,
            };
            for around in &self.path(at)[from..] {
                if let Around::If(_, _, cond, side) = around {
                    match evaluation.operand(*cond) {
                        Ok(bits) if (bits != 0) != *side => return Ok(false),
                        Ok(_) | Err(Unknown::Data) => {}
                        Err(unknown) => return Err(unknown),
                    }
                }
            }
            let (_, ptr, _) = access(self.inst(at)).ok_or(Unknown::Data)?;
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

/// What a thread computes, from its place in the launch and its arguments alone.
struct Evaluation<'a> {
    flow: &'a Flow<'a>,
    who: Identity<'a>,
    /// A variable that loops change, and what it is taken to be.
    guess: Option<(SlotId, u64)>,
    fuel: u32,
}

impl Evaluation<'_> {
    fn operand(&mut self, operand: Operand) -> Result<u64, Unknown> {
        let id = match operand {
            Operand::Const(constant) => return Ok(constant.bits),
            Operand::Value(id) => id,
        };
        self.fuel = self.fuel.checked_sub(1).ok_or(Unknown::Data)?;
        let at = *self.flow.defs.get(&id).ok_or(Unknown::Data)?;
        match &self.flow.inst(at).kind {
            InstKind::Get(slot) => self.slot(*slot),
            InstKind::Special(special) => {
                let bits = self.who.register(*special).ok_or(Unknown::Data)?;
                Ok(bits.into())
            }
            // Objects are told apart by numbers of their own, far from each other.
            InstKind::AddrOf(object) => Ok(match object {
                Object::Shared(id) => {
                    let var = &self.flow.function.shared[id.index()];
                    (1 << 48) + (u64::from(var.dynamic) << 40) + var.offset_bytes
                }
                Object::Local(id) => (2 << 48) + ((id.index() as u64) << 32),
                Object::Global(id) => (3 << 48) + ((id.index() as u64) << 40),
                Object::String(_) => return Err(Unknown::Data),
            }),
            InstKind::Unary(op, ty, a) => Ok(eval::unary(*op, *ty, self.operand(*a)?)),
            InstKind::Binary(op, ty, a, b) => {
                let (a, b) = (self.operand(*a)?, self.operand(*b)?);
                Ok(eval::binary(*op, *ty, a, b))
            }
            InstKind::Compare(op, ty, a, b) => {
                let (a, b) = (self.operand(*a)?, self.operand(*b)?);
                Ok(eval::compare(*op, *ty, a, b).into())
            }
            InstKind::Select(_, condition, a, b) => {
                let chosen = if self.operand(*condition)? != 0 { a } else { b };
                self.operand(*chosen)
            }
            InstKind::Convert(op, a) => Ok(eval::convert(*op, self.operand(*a)?)),
            InstKind::PtrAdd {
                base,
                index,
                unsigned,
                scale_bytes,
                offset_bytes,
            } => {
                let short = match index {
                    Operand::Value(id) => self.flow.function.values[id.index()] == Type::I32,
                    Operand::Const(constant) => constant.ty == Type::I32,
                };
                let (base, index) = (self.operand(*base)?, self.operand(*index)?);
                let steps = match (short, unsigned) {
                    (true, true) => i64::from(index as u32),
                    (true, false) => i64::from(index as u32 as i32),
                    (false, _) => index as i64,
                };
                let bytes = steps.wrapping_mul(*scale_bytes).wrapping_add(*offset_bytes);
                Ok(base.wrapping_add_signed(bytes))
            }
            _ => Err(Unknown::Data),
        }
    }

    fn slot(&mut self, slot: SlotId) -> Result<u64, Unknown> {
        let params = &self.flow.function.params;
        let sets = self.flow.sets.get(&slot).map_or(&[][..], Vec::as_slice);
        let argument = params.iter().position(|param| param.slot == slot);
        match (argument, sets) {
            (Some(number), []) => self
                .who
                .shape
                .args
                .get(number)
                .copied()
                .ok_or(Unknown::Data),
            (None, [set]) => match self.flow.inst(*set).kind {
                InstKind::Set(_, value) => self.operand(value),
                _ => Err(Unknown::Data),
            },
            (None, []) => Err(Unknown::Data),
            _ => match self.guess {
                Some((guessed, value)) if guessed == slot => Ok(value),
                _ if !self.flow.uniformity.slot(slot) => Err(Unknown::Data),
                None => Err(Unknown::Variable(slot)),
                Some(_) => Err(Unknown::Moves),
            },
        }
    }
}
