//! Walks over the IR: every operand of an instruction, every instruction of a block.
//!
//! The passes share these. The order is that of execution in the text. The operands of an instruction follow from its fields: the operands
//! in each type of field are defined here, and the lists are made where instructions are declared ([`inst`](super::inst)).

use super::{
    Access, AtomicOp, BarrierReduce, BinaryOp, Block, CompareOp, Const, ConvertOp, Exchange,
    ExchangeOp, FenceScope, FuncId, HostFn, Inst, Intrinsic, Launch, LocalId, Node, Object,
    Operand, RoutineId, SlotId, SpecialReg, StringId, Type, UnaryOp, ValueId,
};

impl Operand {
    /// The temporary, if it is one.
    pub fn value(self) -> Option<ValueId> {
        match self {
            Operand::Value(id) => Some(id),
            Operand::Const(_) => None,
        }
    }

    /// The constant, if it is one.
    pub fn constant(self) -> Option<Const> {
        match self {
            Operand::Value(_) => None,
            Operand::Const(constant) => Some(constant),
        }
    }
}

impl From<ValueId> for Operand {
    fn from(id: ValueId) -> Operand {
        Operand::Value(id)
    }
}

impl From<Const> for Operand {
    fn from(constant: Const) -> Operand {
        Operand::Const(constant)
    }
}

impl Const {
    /// The constant 0 of a type (null, false, +0).
    pub fn zero(ty: Type) -> Const {
        Const { ty, bits: 0 }
    }
}

/// The operands in a field of an instruction, in order: none by default.
pub(super) trait Operands {
    /// Adds them to a list.
    fn list<'a>(&'a self, _list: &mut Vec<&'a Operand>) {}
    /// Adds them to a list, to be replaced.
    fn list_mut<'a>(&'a mut self, _list: &mut Vec<&'a mut Operand>) {}
}

impl Operands for Operand {
    fn list<'a>(&'a self, list: &mut Vec<&'a Operand>) {
        list.push(self);
    }
    fn list_mut<'a>(&'a mut self, list: &mut Vec<&'a mut Operand>) {
        list.push(self);
    }
}

/// Implements this for lists of things that contain operands.
macro_rules! all_hold_operands {
    ($([$($of:tt)*] $list:ty;)*) => { $(
        impl<$($of)*> Operands for $list {
            fn list<'a>(&'a self, list: &mut Vec<&'a Operand>) {
                self.into_iter().for_each(|part| part.list(list));
            }
            fn list_mut<'a>(&'a mut self, list: &mut Vec<&'a mut Operand>) {
                self.into_iter().for_each(|part| part.list_mut(list));
            }
        }
    )* };
}

all_hold_operands! {
    [T: Operands] Vec<T>;
    [T: Operands] Option<T>;
    [T: Operands, const N: usize] [T; N];
}

impl<T: Operands> Operands for Box<T> {
    fn list<'a>(&'a self, list: &mut Vec<&'a Operand>) {
        self.as_ref().list(list);
    }
    fn list_mut<'a>(&'a mut self, list: &mut Vec<&'a mut Operand>) {
        self.as_mut().list_mut(list);
    }
}

/// Implements this for types that contain operands among other things: how to destructure them, and the parts with operands, in order.
macro_rules! some_hold_operands {
    ($($whole:ty: $($pattern:pat => [$($part:ident),*]),*;)*) => { $(
        impl Operands for $whole {
            fn list<'a>(&'a self, list: &mut Vec<&'a Operand>) {
                match self { $($pattern => { $($part.list(list);)* })* }
            }
            fn list_mut<'a>(&'a mut self, list: &mut Vec<&'a mut Operand>) {
                match self { $($pattern => { $($part.list_mut(list);)* })* }
            }
        }
    )* };
}

some_hold_operands! {
    (BarrierReduce, Operand): (_, predicate) => [predicate];
    Exchange: Exchange { op, value, mask } => [value, op, mask];
    ExchangeOp:
        ExchangeOp::Shuffle { mode: _, ty: _, lane, width } => [lane, width],
        ExchangeOp::Vote(_) | ExchangeOp::MatchAny(_) | ExchangeOp::MatchAll(_) | ExchangeOp::Reduce(_) => [];
    Launch:
        Launch { kernel: _, grid, block, shared_bytes, stream, cooperative: _, args } =>
            [grid, block, shared_bytes, stream, args];
}

macro_rules! hold_no_operands {
    ($($field:ty),*) => { $(impl Operands for $field {})* };
}

hold_no_operands! {
    bool, i64, Type, Access, Object, SlotId, LocalId, StringId, FuncId, RoutineId, HostFn, SpecialReg, Intrinsic,
    UnaryOp, BinaryOp, CompareOp, ConvertOp, AtomicOp, FenceScope
}

impl Node {
    /// The nested blocks, in order.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Node::Inst(_) | Node::Break(_) | Node::Continue(_) | Node::Return(_) => vec![],
            Node::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Node::Loop { body, step, .. } => vec![body, step],
            Node::Scope { body, .. } | Node::Routine { body, .. } => vec![body],
        }
    }

    /// The nested blocks, in order, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Node::Inst(_) | Node::Break(_) | Node::Continue(_) | Node::Return(_) => vec![],
            Node::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Node::Loop { body, step, .. } => vec![body, step],
            Node::Scope { body, .. } | Node::Routine { body, .. } => vec![body],
        }
    }

    /// The operand of the node itself: a condition, a returned value.
    pub fn operand(&self) -> Option<&Operand> {
        match self {
            Node::If { cond, .. } => Some(cond),
            Node::Return(operand) => operand.as_ref(),
            Node::Inst(_)
            | Node::Loop { .. }
            | Node::Scope { .. }
            | Node::Routine { .. }
            | Node::Break(_)
            | Node::Continue(_) => None,
        }
    }

    /// The operand of the node itself, to be replaced.
    pub fn operand_mut(&mut self) -> Option<&mut Operand> {
        match self {
            Node::If { cond, .. } => Some(cond),
            Node::Return(operand) => operand.as_mut(),
            Node::Inst(_)
            | Node::Loop { .. }
            | Node::Scope { .. }
            | Node::Routine { .. }
            | Node::Break(_)
            | Node::Continue(_) => None,
        }
    }
}

impl Block {
    /// Every node, outer before inner, in the order of the text.
    pub fn for_each_node<'a>(&'a self, visit: &mut impl FnMut(&'a Node)) {
        for node in &self.0 {
            visit(node);
            for block in node.blocks() {
                block.for_each_node(visit);
            }
        }
    }

    /// Every instruction, nested ones included, in the order of the text.
    pub fn for_each_inst<'a>(&'a self, visit: &mut impl FnMut(&'a Inst)) {
        self.for_each_node(&mut |node| {
            if let Node::Inst(inst) = node {
                visit(inst);
            }
        });
    }

    /// Every operand of instructions and nodes, to be replaced.
    pub fn for_each_operand_mut(&mut self, visit: &mut impl FnMut(&mut Operand)) {
        for node in &mut self.0 {
            if let Node::Inst(inst) = node {
                inst.kind.operands_mut().into_iter().for_each(&mut *visit);
            }
            if let Some(operand) = node.operand_mut() {
                visit(operand);
            }
            for block in node.blocks_mut() {
                block.for_each_operand_mut(visit);
            }
        }
    }
}
