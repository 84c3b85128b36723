//! Generates the kernels.

use ir::{
    Access, BinaryOp, Block, CompareOp, Const, Function, FunctionKind, Inst, InstKind, LabelId,
    Loc, LocId, LocalId, LocalVar, MemType, Module, Node, Object, Operand, Param, Slot, SlotId,
    Space, SpecialReg, Type, ValueId,
};

pub(super) const SLOTS: u32 = 5;
pub(super) const INPUTS: i32 = 16;
const P: Type = Type::Ptr(Space::Global);
pub(super) const WORD: Access = Access {
    ty: MemType::I32,
    count: 1,
    space: Space::Global,
    volatile: false,
    block_scope: false,
    read_only: false,
    partial: false,
    object: None,
    row_len: 0,
    is_member: false,
    align_bytes: 0,
    merged: false,
};

/// The arrays of a thread, and their elements.
pub(super) const ARRAYS: u32 = 2;
pub(super) const WORDS: u32 = 6;
const L: Type = Type::Ptr(Space::Local);
pub(super) const OWN_WORD: Access = Access {
    space: Space::Local,
    ..WORD
};
struct Generator {
    seed: u64,
    types: Vec<Type>,
    slots: Vec<Type>,
    labels: u32,
    /// Each instruction has a separate place.
    locs: u32,
    /// Values in scope.
    ints: Vec<Operand>,
    bools: Vec<Operand>,
    /// Slots that may be used.
    live: Vec<SlotId>,
    /// Variables of the fixed loops around.
    indices: Vec<Operand>,
    /// Enclosing labels: whether each is a loop, and may be continued here.
    around: Vec<(LabelId, bool)>,
    budget: u32,
    /// Some threads may be elsewhere: the number of enclosing divergent statements, and whether there was a jump.
    apart: u32,
    has_left: bool,
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn inst(&mut self, out: &mut Vec<Node>, kind: InstKind, ty: Option<Type>) -> Operand {
        let results: Vec<ValueId> = ty.map(|ty| self.value(ty)).into_iter().collect();
        let operand = results
            .first()
            .map_or(Operand::Const(Const::i32(0)), |&id| Operand::Value(id));
        self.locs += 1;
        out.push(Node::Inst(Inst {
            results,
            kind,
            loc: LocId(self.locs),
        }));
        operand
    }

    fn value(&mut self, ty: Type) -> ValueId {
        self.types.push(ty);
        ValueId(self.types.len() as u32 - 1)
    }

    fn int(&mut self) -> Operand {
        if self.ints.is_empty() || self.below(4) == 0 {
            return Operand::Const(Const::i32(self.below(7) as i32 - 2));
        }
        let recent = self.ints.len().min(6);
        let k = self.ints.len() - 1 - self.below(recent);
        self.ints[k]
    }

    fn bool(&mut self, out: &mut Vec<Node>) -> Operand {
        if !self.bools.is_empty() && self.below(3) == 0 {
            let k = self.below(self.bools.len());
            return self.bools[k];
        }
        let ops = [CompareOp::Slt, CompareOp::Eq, CompareOp::Ne, CompareOp::Ugt];
        let kind = InstKind::Compare(ops[self.below(4)], Type::I32, self.int(), self.int());
        let value = self.inst(out, kind, Some(Type::I1));
        self.bools.push(value);
        value
    }

    fn slot(&mut self) -> SlotId {
        let k = self.below(self.live.len());
        self.live[k]
    }

    fn statement(&mut self, out: &mut Vec<Node>, depth: u32) -> bool {
        self.budget = self.budget.saturating_sub(1);
        let choice = if depth > 4 || self.budget == 0 {
            self.below(8)
        } else {
            self.below(18)
        };
        match choice {
            0 | 1 => {
                let slot = self.slot();
                let value = self.inst(out, InstKind::Get(slot), Some(Type::I32));
                self.ints.push(value);
            }
            2 | 3 => {
                let (slot, value) = (self.slot(), self.int());
                self.inst(out, InstKind::Set(slot, value), None);
            }
            4..=6 => {
                let ops = [
                    BinaryOp::Add,
                    BinaryOp::Sub,
                    BinaryOp::Mul,
                    BinaryOp::Xor,
                    BinaryOp::SRem,
                    BinaryOp::And,
                ];
                let kind = InstKind::Binary(ops[self.below(6)], Type::I32, self.int(), self.int());
                let value = self.inst(out, kind, Some(Type::I32));
                self.ints.push(value);
            }
            7 => {
                let kind = InstKind::Binary(
                    BinaryOp::And,
                    Type::I32,
                    self.int(),
                    Operand::Const(Const::i32(INPUTS - 1)),
                );
                let index = self.inst(out, kind, Some(Type::I32));
                let base = self.inst(out, InstKind::Get(SlotId(1)), Some(P));
                let kind = InstKind::PtrAdd {
                    base,
                    index,
                    unsigned: false,
                    scale_bytes: 4,
                    offset_bytes: 0,
                };
                let ptr = self.inst(out, kind, Some(P));
                let value = self.inst(out, InstKind::Load(WORD, ptr), Some(Type::I32));
                self.ints.push(value);
            }
            8..=10 => {
                let cond = self.bool(out);
                self.apart += 1;
                let (then, otherwise) = match self.below(3) {
                    0 => (self.block(depth), Block::default()),
                    1 => (Block::default(), self.block(depth)),
                    _ => (self.block(depth), self.block(depth)),
                };
                self.apart -= 1;
                let is_inst = |node: &Node| matches!(node, Node::Inst(_));
                let may_guard = otherwise.0.is_empty() && then.0.iter().all(is_inst);
                out.push(Node::If {
                    cond,
                    then,
                    otherwise,
                    is_guard: may_guard && self.below(2) == 0,
                    loc: LocId(0),
                });
            }
            11 => self.counted_loop(out, depth),
            12 => {
                let label = self.label();
                self.around.push((label, false));
                let body = self.block(depth);
                self.around.pop();
                out.push(Node::Scope {
                    label,
                    body,
                    loc: LocId(0),
                });
            }
            13 => return self.jump(out),
            14 | 15 => self.fixed_loop(out, depth),
            16 => {
                let ptr = self.element(out);
                let value = self.inst(out, InstKind::Load(OWN_WORD, ptr), Some(Type::I32));
                self.ints.push(value);
            }
            _ => {
                let (value, ptr) = (self.int(), self.element(out));
                self.inst(out, InstKind::Store(OWN_WORD, ptr, vec![value]), None);
            }
        }
        true
    }

    /// A pointer to an element of an array: by a constant, by the variable of an enclosing loop, or rarely by a value
    /// known only at run time.
    fn element(&mut self, out: &mut Vec<Node>) -> Operand {
        let array = LocalId(self.below(ARRAYS as usize) as u32);
        let base = self.inst(out, InstKind::AddrOf(Object::Local(array)), Some(L));
        let index = match self.below(40) {
            0 => {
                let (value, most) = (self.int(), Operand::Const(Const::i32(WORDS as i32 - 1)));
                let kind = InstKind::Binary(BinaryOp::UMin, Type::I32, value, most);
                self.inst(out, kind, Some(Type::I32))
            }
            1..25 if !self.indices.is_empty() => {
                let k = self.below(self.indices.len());
                self.indices[k]
            }
            _ => Operand::Const(Const::i32(self.below(WORDS as usize) as i32)),
        };
        let kind = InstKind::PtrAdd {
            base,
            index,
            unsigned: false,
            scale_bytes: 4,
            offset_bytes: 0,
        };
        self.inst(out, kind, Some(L))
    }

    /// A loop with a known number of rounds, all of which are indices of elements.
    fn fixed_loop(&mut self, out: &mut Vec<Node>, depth: u32) {
        let first = self.below(3) as i32;
        let (label, counter) = self.begin_fixed(out, first);
        let (ints, bools) = (self.ints.len(), self.bools.len());
        let (mut body, i) = self.fixed_head(label, counter);
        self.ints.push(i);
        self.indices.push(i);
        // Most have no other exit.
        let leaves = self.below(8) == 0;
        let around = std::mem::take(&mut self.around);
        if leaves {
            self.around = around.clone();
            self.around.push((label, true));
        }
        self.apart += u32::from(leaves);
        body.extend(self.block(depth).0);
        self.apart -= u32::from(leaves);
        if self.apart == 0 && !self.has_left && self.below(3) == 0 {
            self.inst(&mut body, InstKind::Barrier(None), None);
        }
        self.around = around;
        self.indices.pop();
        self.ints.truncate(ints);
        self.bools.truncate(bools);
        self.end_fixed(out, label, counter, body);
    }

    fn begin_fixed(&mut self, out: &mut Vec<Node>, first: i32) -> (LabelId, SlotId) {
        self.slots.push(Type::I32);
        let counter = SlotId(self.slots.len() as u32 - 1);
        let first = Operand::Const(Const::i32(first));
        self.inst(out, InstKind::Set(counter, first), None);
        (self.label(), counter)
    }

    /// The start of its body, and the variable's value.
    fn fixed_head(&mut self, label: LabelId, counter: SlotId) -> (Vec<Node>, Operand) {
        let mut body = Vec::new();
        let i = self.inst(&mut body, InstKind::Get(counter), Some(Type::I32));
        let end = Operand::Const(Const::i32(WORDS as i32));
        let kind = InstKind::Compare(CompareOp::Slt, Type::I32, i, end);
        let cond = self.inst(&mut body, kind, Some(Type::I1));
        body.push(Node::If {
            cond,
            then: Block::default(),
            otherwise: Block(vec![Node::Break(label)]),
            is_guard: false,
            loc: LocId(0),
        });
        (body, i)
    }

    fn end_fixed(&mut self, out: &mut Vec<Node>, label: LabelId, counter: SlotId, body: Vec<Node>) {
        let mut step = Vec::new();
        let i = self.inst(&mut step, InstKind::Get(counter), Some(Type::I32));
        let by = Operand::Const(Const::i32(1 + self.below(2) as i32));
        let kind = InstKind::Binary(BinaryOp::Add, Type::I32, i, by);
        let next = self.inst(&mut step, kind, Some(Type::I32));
        self.inst(&mut step, InstKind::Set(counter, next), None);
        out.push(Node::Loop {
            label,
            body: Block(body),
            step: Block(step),
            unroll: None,
            loc: LocId(0),
        });
    }

    /// Usually gives each element of an array a value.
    fn fill(&mut self, out: &mut Vec<Node>, array: LocalId) {
        for word in 0..WORDS {
            if self.below(40) == 0 {
                continue;
            }
            let base = self.inst(out, InstKind::AddrOf(Object::Local(array)), Some(L));
            let kind = InstKind::PtrAdd {
                base,
                index: Operand::Const(Const::i32(word as i32)),
                unsigned: false,
                scale_bytes: 4,
                offset_bytes: 0,
            };
            let (ptr, value) = (self.inst(out, kind, Some(L)), self.int());
            self.inst(out, InstKind::Store(OWN_WORD, ptr, vec![value]), None);
        }
    }

    fn label(&mut self) -> LabelId {
        self.labels += 1;
        LabelId(self.labels - 1)
    }

    /// A jump ends its block, as the result `false` says.
    fn jump(&mut self, out: &mut Vec<Node>) -> bool {
        self.has_left = true;
        if self.around.is_empty() {
            if self.below(4) == 0 {
                out.push(Node::Return(None));
                return false;
            }
            return true;
        }
        let k = self.below(self.around.len());
        let (label, continuable) = self.around[k];
        let node = match self.below(8) {
            0 => Node::Return(None),
            1..=3 if continuable => Node::Continue(label),
            _ => Node::Break(label),
        };
        out.push(node);
        false
    }

    /// A loop that leaves after a few rounds at the latest, because of its counter.
    fn counted_loop(&mut self, out: &mut Vec<Node>, depth: u32) {
        let label = self.label();
        self.slots.push(Type::I32);
        let counter = SlotId(self.slots.len() as u32 - 1);
        let zero = Operand::Const(Const::i32(0));
        self.inst(out, InstKind::Set(counter, zero), None);
        let (ints, bools, live) = (self.ints.len(), self.bools.len(), self.live.len());
        let mut body = Vec::new();
        let i = self.inst(&mut body, InstKind::Get(counter), Some(Type::I32));
        let most = if self.below(2) == 0 {
            Operand::Const(Const::i32(4))
        } else {
            self.int()
        };
        let kind = InstKind::Binary(
            BinaryOp::UMin,
            Type::I32,
            most,
            Operand::Const(Const::i32(5)),
        );
        let most = self.inst(&mut body, kind, Some(Type::I32));
        let cond = self.inst(
            &mut body,
            InstKind::Compare(CompareOp::Sge, Type::I32, i, most),
            Some(Type::I1),
        );
        body.push(Node::If {
            cond,
            then: Block(vec![Node::Break(label)]),
            otherwise: Block::default(),
            is_guard: false,
            loc: LocId(0),
        });
        let kind = InstKind::Binary(BinaryOp::Add, Type::I32, i, Operand::Const(Const::i32(1)));
        let next = self.inst(&mut body, kind, Some(Type::I32));
        let in_step = self.below(2) == 0;
        if !in_step {
            self.inst(&mut body, InstKind::Set(counter, next), None);
        }
        self.ints.push(i);
        self.around.push((label, true));
        self.apart += 1;
        body.extend(self.block(depth).0);
        self.apart -= 1;
        self.around.pop();
        self.ints.truncate(ints);
        self.bools.truncate(bools);
        let mut step = Vec::new();
        if in_step {
            let i = self.inst(&mut step, InstKind::Get(counter), Some(Type::I32));
            let kind = InstKind::Binary(BinaryOp::Add, Type::I32, i, Operand::Const(Const::i32(1)));
            let next = self.inst(&mut step, kind, Some(Type::I32));
            self.inst(&mut step, InstKind::Set(counter, next), None);
        }
        self.live.truncate(live);
        if self.below(2) == 0 {
            // The counter's value after the loop matters, too.
            self.live.push(counter);
        }
        let body = Block(body);
        out.push(Node::Loop {
            label,
            body,
            step: Block(step),
            unroll: None,
            loc: LocId(0),
        });
    }

    fn block(&mut self, depth: u32) -> Block {
        let (ints, bools, live) = (self.ints.len(), self.bools.len(), self.live.len());
        let mut out = Vec::new();
        if self.below(2) == 0 {
            // A variable of this block.
            self.slots.push(Type::I32);
            let slot = SlotId(self.slots.len() as u32 - 1);
            let value = self.int();
            self.inst(&mut out, InstKind::Set(slot, value), None);
            self.live.push(slot);
        }
        for _ in 0..1 + self.below(6) {
            if !self.statement(&mut out, depth + 1) {
                break;
            }
        }
        self.ints.truncate(ints);
        self.bools.truncate(bools);
        self.live.truncate(live);
        Block(out)
    }
}

/// `k(out, in)`: every thread stores its slots to its part of `out`.
pub(in crate::tests) fn module(seed: u64) -> Module {
    let mut generator = Generator {
        seed,
        types: Vec::new(),
        slots: vec![P, P],
        labels: 0,
        locs: 0,
        ints: Vec::new(),
        bools: Vec::new(),
        live: Vec::new(),
        indices: Vec::new(),
        around: Vec::new(),
        budget: 60,
        apart: 0,
        has_left: false,
    };
    let g = &mut generator;
    let mut body = Vec::new();
    for register in [SpecialReg::TidX, SpecialReg::CtaidX, SpecialReg::LaneId] {
        let value = g.inst(&mut body, InstKind::Special(register), Some(Type::I32));
        g.ints.push(value);
    }
    for k in 0..SLOTS {
        g.slots.push(Type::I32);
        let value = if k == 0 {
            g.ints[0]
        } else {
            Operand::Const(Const::i32(k as i32))
        };
        g.inst(&mut body, InstKind::Set(SlotId(2 + k), value), None);
        g.live.push(SlotId(2 + k));
    }
    for array in 0..ARRAYS {
        g.fill(&mut body, LocalId(array));
    }
    let outer = g.label();
    g.around.push((outer, false));
    let inner = g.block(0);
    let mut inner = inner.0;
    for _ in 0..6 {
        if !matches!(
            inner.last(),
            Some(Node::Break(_) | Node::Return(_) | Node::Continue(_))
        ) {
            g.statement(&mut inner, 0);
        }
    }
    g.around.pop();
    body.push(Node::Scope {
        label: outer,
        body: Block(inner),
        loc: LocId(0),
    });
    // Only values from before the scope are visible here.
    let (tid, ctaid) = (g_value(0), g_value(1));
    let kind = InstKind::Binary(
        BinaryOp::Mul,
        Type::I32,
        ctaid,
        Operand::Const(Const::i32(40)),
    );
    let first = g.inst(&mut body, kind, Some(Type::I32));
    let thread = g.inst(
        &mut body,
        InstKind::Binary(BinaryOp::Add, Type::I32, first, tid),
        Some(Type::I32),
    );
    for k in 0..SLOTS {
        let base = g.inst(&mut body, InstKind::Get(SlotId(0)), Some(P));
        let kind = InstKind::PtrAdd {
            base,
            index: thread,
            unsigned: false,
            scale_bytes: 4 * i64::from(SLOTS),
            offset_bytes: 4 * i64::from(k),
        };
        let ptr = g.inst(&mut body, kind, Some(P));
        let value = g.inst(&mut body, InstKind::Get(SlotId(2 + k)), Some(Type::I32));
        g.inst(&mut body, InstKind::Store(WORD, ptr, vec![value]), None);
    }
    let param = |slot| Param {
        slot,
        c_type: "int *".to_owned(),
        pointee: Some(MemType::I32),
        is_const: false,
        is_restrict: false,
    };
    let function = Function {
        name: "k".to_owned(),
        kind: FunctionKind::Kernel,
        params: vec![param(SlotId(0)), param(SlotId(1))],
        result: None,
        slots: generator
            .slots
            .iter()
            .map(|&ty| Slot {
                name: "v".to_owned(),
                ty,
            })
            .collect(),
        values: generator.types,
        shared: Vec::new(),
        locals: (0..ARRAYS)
            .map(|_| LocalVar {
                name: "own".to_owned(),
                c_type: "int".to_owned(),
                element_bytes: 4,
                dims: vec![u64::from(WORDS)],
                size_bytes: u64::from(WORDS) * 4,
                align_bytes: 4,
                loc: LocId(0),
            })
            .collect(),
        routines: Vec::new(),
        labels: generator.labels,
        launch_bounds: None,
        compiled_by: None,
        body: Block(body),
        loc: LocId(0),
    };
    Module {
        name: "random".to_owned(),
        files: vec!["random".to_owned()],
        locs: (0..=generator.locs)
            .map(|line| Loc {
                line,
                ..Loc::default()
            })
            .collect(),
        functions: vec![function],
        ..Module::default()
    }
}

fn g_value(k: u32) -> Operand {
    Operand::Value(ValueId(k))
}
