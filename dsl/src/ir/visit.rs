//! Walking over the IR: every operand of an instruction, every instruction of a block.
//!
//! The passes share these, so that a new instruction is listed once. Order is the order of execution in the text.

use super::{
    Block, Const, Exchange, ExchangeOp, Inst, InstKind, Launch, Node, Operand, Type, ValueId,
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

/// The operands of an instruction in order: one list, for shared and for mutable references.
macro_rules! operand_list {
    ($kind:expr, $iter:ident, $unbox:ident) => {
        match $kind {
            InstKind::Get(_)
            | InstKind::Special(_)
            | InstKind::AddrOf(_)
            | InstKind::Barrier(None)
            | InstKind::Fence(_)
            | InstKind::Lifetime(..) => vec![],
            InstKind::Set(_, a)
            | InstKind::Unary(_, _, a)
            | InstKind::Convert(_, a)
            | InstKind::Load(_, a)
            | InstKind::Barrier(Some((_, a)))
            | InstKind::Assert(a, _) => vec![a],
            InstKind::Binary(_, _, a, b) | InstKind::Compare(_, _, a, b) => vec![a, b],
            InstKind::Fma(_, a, b, c) | InstKind::Select(_, a, b, c) => vec![a, b, c],
            InstKind::PtrAdd { base, index, .. } => vec![base, index],
            InstKind::Exchange(exchange) => {
                let Exchange { op, value, mask } = exchange.$unbox();
                let mut operands = vec![value];
                match op {
                    ExchangeOp::Shuffle { lane, width, .. } => operands.extend([lane, width]),
                    ExchangeOp::Vote(_)
                    | ExchangeOp::MatchAny(_)
                    | ExchangeOp::MatchAll(_)
                    | ExchangeOp::Reduce(_) => {}
                }
                operands.extend(mask);
                operands
            }
            InstKind::Store(_, ptr, values) => [ptr].into_iter().chain(values.$iter()).collect(),
            InstKind::Atomic {
                ptr,
                value,
                compare,
                ..
            } => [ptr, value].into_iter().chain(compare.$iter()).collect(),
            InstKind::Printf(_, args)
            | InstKind::Intrinsic(_, args)
            | InstKind::Call(_, args)
            | InstKind::HostCall(_, args) => args.$iter().collect(),
            InstKind::Launch(launch) => {
                let Launch {
                    kernel: _,
                    grid,
                    block,
                    shared_bytes,
                    stream,
                    cooperative: _,
                    args,
                } = launch.$unbox();
                let shape = grid.$iter().chain(block.$iter());
                shape
                    .chain([shared_bytes, stream])
                    .chain(args.$iter())
                    .collect()
            }
        }
    };
}

impl InstKind {
    /// Every operand, in order.
    pub fn operands(&self) -> Vec<&Operand> {
        operand_list!(self, iter, as_ref)
    }

    /// Every operand, in order, to be replaced.
    pub fn operands_mut(&mut self) -> Vec<&mut Operand> {
        operand_list!(self, iter_mut, as_mut)
    }
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
            Node::Scope { body, .. } => vec![body],
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
            Node::Scope { body, .. } => vec![body],
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
