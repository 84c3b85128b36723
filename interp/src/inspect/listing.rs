//! The instructions of a function in the order of the text, with the statements around each, the instruction that
//! computes each value, and those that set each variable.

use std::collections::HashMap;

use ir::{Block, Function, Inst, InstKind, LocId, Node, Operand, SlotId, Type, ValueId};

use crate::fault::trap::AccessOp;

/// A statement around an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Around {
    /// A branch: its place and condition, and whether it is the first side.
    If(u32, LocId, Operand, bool),
    /// A loop.
    Loop(u32, LocId),
}

impl Around {
    pub(crate) fn loc(self) -> LocId {
        match self {
            Around::If(_, loc, ..) | Around::Loop(_, loc) => loc,
        }
    }

    fn as_loop(self) -> Option<u32> {
        match self {
            Around::If(..) => None,
            Around::Loop(id, _) => Some(id),
        }
    }
}

/// An instruction of a [`Listing`]: later ones have higher numbers.
pub(crate) type At = usize;

/// The instructions of a function.
pub(crate) struct Listing<'a> {
    pub(crate) function: &'a Function,
    /// The instructions, each with the number of its path.
    all: Vec<(&'a Inst, u32)>,
    /// The statements around the instructions of a block, outermost first.
    paths: Vec<Vec<Around>>,
    defs: HashMap<ValueId, At>,
    sets: HashMap<SlotId, Vec<At>>,
    /// By loop: the first instruction after it.
    loop_ends: HashMap<u32, At>,
    /// The number of statements so far, which gives the next one its number.
    statements: u32,
}

/// The kind of an access, its pointer, and the values it stores.
pub(crate) fn access(kind: &InstKind) -> Option<(AccessOp, Operand, &[Operand])> {
    match kind {
        InstKind::Load(_, ptr) => Some((AccessOp::Load, *ptr, &[])),
        InstKind::Store(_, ptr, values) => Some((AccessOp::Store, *ptr, values)),
        InstKind::Atomic { ptr, value, .. } => {
            Some((AccessOp::Atomic, *ptr, std::slice::from_ref(value)))
        }
        _ => None,
    }
}

impl<'a> Listing<'a> {
    pub(crate) fn of(function: &'a Function) -> Listing<'a> {
        let mut listing = Listing {
            function,
            all: Vec::new(),
            paths: vec![Vec::new()],
            defs: HashMap::new(),
            sets: HashMap::new(),
            loop_ends: HashMap::new(),
            statements: 0,
        };
        listing.block(&function.body, 0);
        listing
    }

    fn block(&mut self, block: &'a Block, path: u32) {
        for node in &block.0 {
            self.statements += 1;
            let id = self.statements;
            match node {
                Node::Inst(inst) => self.list(inst, path),
                Node::If {
                    cond,
                    then,
                    otherwise,
                    loc,
                    ..
                } => {
                    for (side, is_then) in [(then, true), (otherwise, false)] {
                        let inside = self.within(path, Around::If(id, *loc, *cond, is_then));
                        self.block(side, inside);
                    }
                }
                Node::Loop {
                    body, step, loc, ..
                } => {
                    let inside = self.within(path, Around::Loop(id, *loc));
                    self.block(body, inside);
                    self.block(step, inside);
                    self.loop_ends.insert(id, self.all.len());
                }
                Node::Scope { body, .. } | Node::Routine { body, .. } => self.block(body, path),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }

    fn list(&mut self, inst: &'a Inst, path: u32) {
        let at = self.all.len();
        for &result in &inst.results {
            self.defs.insert(result, at);
        }
        if let InstKind::Set(slot, _) = inst.kind {
            self.sets.entry(slot).or_default().push(at);
        }
        self.all.push((inst, path));
    }

    fn within(&mut self, path: u32, around: Around) -> u32 {
        let mut inside = self.paths[path as usize].clone();
        inside.push(around);
        self.paths.push(inside);
        self.paths.len() as u32 - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn inst(&self, at: At) -> &'a Inst {
        self.all[at].0
    }

    /// All instructions in order.
    pub(crate) fn insts(&self) -> impl Iterator<Item = (At, &'a Inst)> + '_ {
        self.all.iter().map(|(inst, _)| *inst).enumerate()
    }

    /// The statements around an instruction, outermost first.
    pub(crate) fn path(&self, at: At) -> &[Around] {
        &self.paths[self.all[at].1 as usize]
    }

    /// The instruction that computes a value.
    pub(crate) fn def(&self, id: ValueId) -> Option<At> {
        self.defs.get(&id).copied()
    }

    pub(crate) fn type_of(&self, operand: Operand) -> Type {
        match operand {
            Operand::Value(id) => self.function.values[id.index()],
            Operand::Const(constant) => constant.ty,
        }
    }

    /// The instructions that set a variable.
    pub(crate) fn sets(&self, slot: SlotId) -> &[At] {
        self.sets.get(&slot).map_or(&[][..], Vec::as_slice)
    }

    /// The value that a variable is set to, if it is set in one place only.
    pub(crate) fn set_once(&self, slot: SlotId) -> Option<Operand> {
        let &[set] = self.sets(slot) else { return None };
        match self.inst(set).kind {
            InstKind::Set(_, value) => Some(value),
            _ => None,
        }
    }

    /// The parameter number of a variable, if it is a parameter.
    pub(crate) fn parameter(&self, slot: SlotId) -> Option<usize> {
        let mut params = self.function.params.iter();
        params.position(|param| param.slot == slot)
    }

    /// Whether a variable that was read at one instruction still has the same value at a later one: it is not set
    /// between them, nor later in a loop that is around only the later one.
    pub(crate) fn still(&self, slot: SlotId, from: At, to: At) -> bool {
        let loops = |at: At| self.path(at).iter().filter_map(|around| around.as_loop());
        let mut around = loops(to);
        if loops(from).any(|from| around.next() != Some(from)) {
            return false;
        }
        let end = match around.next() {
            Some(inner) => self.loop_ends[&inner],
            None => to,
        };
        !self.sets(slot).iter().any(|set| (from..end).contains(set))
    }
}
