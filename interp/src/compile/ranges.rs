//! Proves that a launch's signed arithmetic does not overflow, so that it need not be checked at run time.
//!
//! This is an abstract interpretation. Each temporary and variable has a range, derived from the launch's arguments and
//! shape and from the comparisons in branches. Loops are followed to a fixed point; a bound that still changes in the
//! third round goes to the end of its type. Values from memory, other lanes or floating point may be any number of
//! their type. A function that takes long to analyse, or with an operation that may overflow, gets no proof.

use ir::{
    BinaryOp, Block, CompareOp, ConvertOp, Function, Inst, InstKind, LabelId, MemType, Node,
    Operand, SpecialReg, Type, UnaryOp, ValueId,
};

use crate::isa::grid::Shape;

/// The most instructions that are followed. A kernel of 100 instructions in two loops takes some thousands.
const FUEL: u32 = 100_000;

/// The numbers from `lo` to `hi`, signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    lo: i64,
    hi: i64,
}

impl Range {
    /// All numbers of a type.
    fn all(ty: Type) -> Range {
        match ty {
            Type::I1 => Range::new(0, 1),
            Type::I32 => Range::new(i64::from(i32::MIN), i64::from(i32::MAX)),
            Type::I64 | Type::F32 | Type::F64 | Type::Ptr(_) => Range::new(i64::MIN, i64::MAX),
        }
    }

    fn new(lo: i64, hi: i64) -> Range {
        Range { lo, hi }
    }

    fn of_bits(ty: Type, bits: u64) -> Range {
        let number = match ty {
            Type::I32 => i64::from(bits as i32),
            _ => bits as i64,
        };
        Range::new(number, number)
    }

    /// The range, if it lies within the type.
    fn exact(ty: Type, lo: i128, hi: i128) -> Option<Range> {
        let all = Range::all(ty);
        let is_in = i128::from(all.lo) <= lo && hi <= i128::from(all.hi);
        is_in.then(|| Range::new(lo as i64, hi as i64))
    }

    fn join(self, other: Range) -> Range {
        Range::new(self.lo.min(other.lo), self.hi.max(other.hi))
    }

    fn meet(self, other: Range) -> Range {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        // The range is empty, so this is unreachable, and any range will do.
        if lo > hi { self } else { Range::new(lo, hi) }
    }

    /// Moves bounds that grew to the next bound at which numbers stay in most loops, and then to the end of the type.
    fn widen(self, next: Range, ty: Type) -> Range {
        let all = Range::all(ty);
        let lo = match next.lo {
            lo if lo >= self.lo => self.lo,
            0.. => 0,
            _ => all.lo,
        };
        let hi = if next.hi <= self.hi { self.hi } else { all.hi };
        Range::new(lo, hi)
    }

    fn is_positive(self) -> bool {
        self.lo >= 0
    }
}

/// The state at a place.
#[derive(Clone, PartialEq, Debug)]
struct State {
    values: Vec<Range>,
    slots: Vec<Range>,
    /// By slot: the temporary with the same value.
    current: Vec<Option<ValueId>>,
}

impl State {
    fn join(&mut self, other: &State) {
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a = a.join(*b);
        }
        for (a, b) in self.slots.iter_mut().zip(&other.slots) {
            *a = a.join(*b);
        }
        for (a, b) in self.current.iter_mut().zip(&other.current) {
            if a != b {
                *a = None;
            }
        }
    }
}

/// Joins the state from another path.
fn join(into: &mut Option<State>, state: Option<State>) {
    match (into.as_mut(), state) {
        (Some(into), Some(state)) => into.join(&state),
        (None, state) => *into = state,
        (Some(_), None) => {}
    }
}

/// An operation overflows, or it is unknown whether it does.
struct Unknown;

/// The inputs of the analysis: launches with the same inputs have the same result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Given {
    grid: [u32; 3],
    block: [u32; 3],
    /// The bits of each integer argument, and 0 for others, about which nothing is known.
    numbers: Vec<u64>,
}

impl Given {
    pub(crate) fn of(function: &Function, shape: &Shape<'_>) -> Given {
        let params = function.params.iter().zip(shape.args);
        let numbers = params.map(|(param, &bits)| {
            let is_int = function.slots[param.slot.index()].ty.is_int();
            if is_int { bits } else { 0 }
        });
        Given {
            grid: shape.grid,
            block: shape.block,
            numbers: numbers.collect(),
        }
    }
}

struct Ranges<'a> {
    function: &'a Function,
    given: &'a Given,
    /// By temporary: the comparison it results from.
    compares: Vec<Option<(CompareOp, Operand, Operand)>>,
    /// By label: the states that reach its end, and a loop's step.
    breaks: Vec<Option<State>>,
    continues: Vec<Option<State>>,
    /// How many loops are still being followed to a fixed point.
    settling: u32,
    fuel: u32,
}

/// Whether no signed arithmetic of a kernel can overflow in this launch.
pub(crate) fn stay(function: &Function, given: &Given) -> bool {
    let mut ranges = Ranges {
        function,
        given,
        compares: vec![None; function.values.len()],
        breaks: vec![None; function.labels as usize],
        continues: vec![None; function.labels as usize],
        settling: 0,
        fuel: FUEL,
    };
    let mut slots: Vec<Range> = function
        .slots
        .iter()
        .map(|slot| Range::all(slot.ty))
        .collect();
    for (param, &bits) in function.params.iter().zip(&given.numbers) {
        let slot = param.slot.index();
        if function.slots[slot].ty.is_int() {
            slots[slot] = Range::of_bits(function.slots[slot].ty, bits);
        }
    }
    let state = State {
        values: function.values.iter().map(|&ty| Range::all(ty)).collect(),
        current: vec![None; slots.len()],
        slots,
    };
    ranges.block(&function.body, Some(state)).is_ok()
}

impl Ranges<'_> {
    fn block(&mut self, block: &Block, mut state: Option<State>) -> Result<Option<State>, Unknown> {
        for node in &block.0 {
            let Some(here) = state else { return Ok(None) };
            state = self.node(node, here)?;
        }
        Ok(state)
    }

    fn node(&mut self, node: &Node, mut state: State) -> Result<Option<State>, Unknown> {
        match node {
            Node::Inst(inst) => {
                self.fuel = self.fuel.checked_sub(1).ok_or(Unknown)?;
                self.inst(inst, &mut state)?;
            }
            Node::If {
                cond,
                then,
                otherwise,
                ..
            } => {
                // Copying the state costs as much as this many instructions.
                self.fuel = self
                    .fuel
                    .checked_sub(state.values.len() as u32 / 8)
                    .ok_or(Unknown)?;
                let mut other = state.clone();
                self.assume(cond, true, &mut state);
                self.assume(cond, false, &mut other);
                let mut after = self.block(then, Some(state))?;
                join(&mut after, self.block(otherwise, Some(other))?);
                return Ok(after);
            }
            Node::Loop {
                label, body, step, ..
            } => return self.follow(*label, body, step, state),
            Node::Scope { label, body, .. } => {
                self.breaks[label.index()] = None;
                let mut after = self.block(body, Some(state))?;
                join(&mut after, self.breaks[label.index()].take());
                return Ok(after);
            }
            Node::Routine { body, .. } => {
                let mut any = state.clone();
                self.forget(&mut any);
                self.block(body, Some(any))?;
            }
            Node::Break(label) => {
                join(&mut self.breaks[label.index()], Some(state));
                return Ok(None);
            }
            Node::Continue(label) => {
                join(&mut self.continues[label.index()], Some(state));
                return Ok(None);
            }
            Node::Return(_) => return Ok(None),
        }
        Ok(Some(state))
    }

    fn forget(&self, state: &mut State) {
        for (range, slot) in state.slots.iter_mut().zip(&self.function.slots) {
            *range = Range::all(slot.ty);
        }
        state.current.fill(None);
    }

    /// Follows a loop to the fixed point of its head. Overflow counts only after that.
    fn follow(
        &mut self,
        label: LabelId,
        body: &Block,
        step: &Block,
        mut head: State,
    ) -> Result<Option<State>, Unknown> {
        let mut round = 0;
        self.settling += 1;
        loop {
            self.breaks[label.index()] = None;
            self.continues[label.index()] = None;
            let mut back = self.block(body, Some(head.clone()))?;
            join(&mut back, self.continues[label.index()].take());
            let back = self.block(step, back)?;
            let mut next = head.clone();
            if let Some(back) = &back {
                next.join(back);
            }
            // Temporaries are computed anew in each round.
            next.values.clone_from(&head.values);
            if next == head {
                break;
            }
            round += 1;
            if round > 2 {
                for (index, slot) in self.function.slots.iter().enumerate() {
                    next.slots[index] = head.slots[index].widen(next.slots[index], slot.ty);
                }
            }
            head = next;
        }
        self.settling -= 1;
        if self.settling == 0 {
            // One more round with the fixed point: now every operation must stay in range.
            self.breaks[label.index()] = None;
            self.continues[label.index()] = None;
            let mut back = self.block(body, Some(head))?;
            join(&mut back, self.continues[label.index()].take());
            self.block(step, back)?;
        }
        Ok(self.breaks[label.index()].take())
    }

    /// Assumes that the condition holds, or that it does not.
    fn assume(&self, cond: &Operand, holds: bool, state: &mut State) {
        let compared = cond.value().and_then(|id| self.compares[id.index()]);
        let Some((op, a, b)) = compared else { return };
        let (x, y) = (self.range(a, state), self.range(b, state));
        // Nothing is known about floating point.
        let Some(op) = (if holds { Some(op) } else { op.opposite() }) else {
            return;
        };
        let is_unsigned = matches!(
            op,
            CompareOp::Ult | CompareOp::Ule | CompareOp::Ugt | CompareOp::Uge
        );
        if is_unsigned && !(x.is_positive() && y.is_positive()) {
            // An unsigned number below a non-negative one is not negative either.
            if matches!(op, CompareOp::Ult | CompareOp::Ule) && y.is_positive() {
                let hi = y.hi - i64::from(op == CompareOp::Ult);
                self.refine(a, Range::new(0, hi.max(0)), state);
            }
            return;
        }
        let (min, max) = (i64::MIN, i64::MAX);
        let (for_a, for_b) = match op {
            CompareOp::Eq => (y, x),
            CompareOp::Slt | CompareOp::Ult => (
                Range::new(min, y.hi.saturating_sub(1)),
                Range::new(x.lo.saturating_add(1), max),
            ),
            CompareOp::Sle | CompareOp::Ule => (Range::new(min, y.hi), Range::new(x.lo, max)),
            CompareOp::Sgt | CompareOp::Ugt => (
                Range::new(y.lo.saturating_add(1), max),
                Range::new(min, x.hi.saturating_sub(1)),
            ),
            CompareOp::Sge | CompareOp::Uge => (Range::new(y.lo, max), Range::new(min, x.hi)),
            _ => return,
        };
        self.refine(a, for_a, state);
        self.refine(b, for_b, state);
    }

    /// Narrows the range of a temporary, and of the variable with the same value.
    fn refine(&self, operand: Operand, range: Range, state: &mut State) {
        let Some(id) = operand.value() else { return };
        let known = state.values[id.index()].meet(range);
        state.values[id.index()] = known;
        for (slot, current) in state.current.iter().enumerate() {
            if *current == Some(id) {
                state.slots[slot] = known;
            }
        }
    }

    fn range(&self, operand: Operand, state: &State) -> Range {
        match operand {
            Operand::Value(id) => state.values[id.index()],
            Operand::Const(constant) => Range::of_bits(constant.ty, constant.bits),
        }
    }

    fn inst(&mut self, inst: &Inst, state: &mut State) -> Result<(), Unknown> {
        if let InstKind::Set(slot, value) = &inst.kind {
            state.slots[slot.index()] = self.range(*value, state);
            state.current[slot.index()] = value.value();
            return Ok(());
        }
        for &id in &inst.results {
            state.values[id.index()] = Range::all(self.function.values[id.index()]);
        }
        let &[result] = inst.results.as_slice() else {
            if let InstKind::Load(access, _) = &inst.kind {
                for &id in &inst.results {
                    state.values[id.index()] = loaded(access.ty);
                }
            }
            return Ok(());
        };
        let ty = self.function.values[result.index()];
        let range = |operand: &Operand| self.range(*operand, state);
        let found = match &inst.kind {
            InstKind::Get(slot) => {
                state.current[slot.index()] = Some(result);
                state.slots[slot.index()]
            }
            InstKind::Unary(op, _, a) => self.unary(*op, ty, range(a))?,
            InstKind::Binary(op, _, a, b) => self.binary(*op, ty, range(a), range(b))?,
            InstKind::Compare(op, _, a, b) => {
                self.compares[result.index()] = Some((*op, *a, *b));
                Range::all(ty)
            }
            InstKind::Select(_, _, a, b) => range(a).join(range(b)),
            InstKind::Convert(op, a) => converted(*op, ty, range(a)),
            InstKind::Special(register) => self.special(*register, ty),
            InstKind::Load(access, _) => loaded(access.ty),
            _ => Range::all(ty),
        };
        state.values[result.index()] = found;
        Ok(())
    }

    /// The range of an operation that must not overflow.
    fn signed(&self, ty: Type, exact: Option<Range>) -> Result<Range, Unknown> {
        match exact {
            Some(range) => Ok(range),
            // The range in the first rounds may be wider than in the last.
            None if self.settling > 0 => Ok(Range::all(ty)),
            None => Err(Unknown),
        }
    }

    fn unary(&self, op: UnaryOp, ty: Type, a: Range) -> Result<Range, Unknown> {
        let minus = || Range::exact(ty, -i128::from(a.hi), -i128::from(a.lo));
        Ok(match op {
            UnaryOp::SNeg => self.signed(ty, minus())?,
            UnaryOp::Neg => minus().unwrap_or(Range::all(ty)),
            UnaryOp::Not if ty.is_int() => Range::new(!a.hi, !a.lo),
            UnaryOp::Popc | UnaryOp::Clz => Range::new(0, 64),
            _ => Range::all(ty),
        })
    }

    fn binary(&self, op: BinaryOp, ty: Type, a: Range, b: Range) -> Result<Range, Unknown> {
        let (al, ah, bl, bh) = (
            i128::from(a.lo),
            i128::from(a.hi),
            i128::from(b.lo),
            i128::from(b.hi),
        );
        let both_positive = a.is_positive() && b.is_positive();
        let any = Range::all(ty);
        let exact = match op.wrapping() {
            BinaryOp::Add => Range::exact(ty, al + bl, ah + bh),
            BinaryOp::Sub => Range::exact(ty, al - bh, ah - bl),
            BinaryOp::Mul => {
                let corners = [al * bl, al * bh, ah * bl, ah * bh];
                let lo = corners.iter().copied().fold(corners[0], i128::min);
                let hi = corners.iter().copied().fold(corners[0], i128::max);
                Range::exact(ty, lo, hi)
            }
            BinaryOp::Shl if b.lo == b.hi && (0..32).contains(&b.lo) => {
                Range::exact(ty, al << b.lo, ah << b.lo)
            }
            _ => None,
        };
        if op != op.wrapping() {
            return self.signed(ty, exact);
        }
        Ok(match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => exact.unwrap_or(any),
            BinaryOp::And if both_positive => Range::new(0, a.hi.min(b.hi)),
            BinaryOp::And if ty.is_int() && a.is_positive() => Range::new(0, a.hi),
            BinaryOp::And if ty.is_int() && b.is_positive() => Range::new(0, b.hi),
            BinaryOp::Or | BinaryOp::Xor if ty.is_int() && both_positive => {
                let bits = 64 - (a.hi | b.hi).leading_zeros();
                Range::new(0, (1i128 << bits).wrapping_sub(1) as i64)
            }
            BinaryOp::UDiv | BinaryOp::SDiv if a.is_positive() && b.lo > 0 => {
                Range::new(a.lo / b.hi, a.hi / b.lo)
            }
            BinaryOp::URem | BinaryOp::SRem if a.is_positive() && b.lo > 0 => {
                Range::new(0, a.hi.min(b.hi - 1))
            }
            BinaryOp::LShr | BinaryOp::AShr if a.is_positive() => Range::new(0, a.hi),
            BinaryOp::AShr => Range::new(a.lo.min(0), a.hi.max(0)),
            BinaryOp::SMin => Range::new(a.lo.min(b.lo), a.hi.min(b.hi)),
            BinaryOp::SMax => Range::new(a.lo.max(b.lo), a.hi.max(b.hi)),
            BinaryOp::UMin if both_positive => Range::new(a.lo.min(b.lo), a.hi.min(b.hi)),
            BinaryOp::UMax if both_positive => Range::new(a.lo.max(b.lo), a.hi.max(b.hi)),
            _ => any,
        })
    }

    fn special(&self, register: SpecialReg, ty: Type) -> Range {
        let below = |count: u32| Range::new(0, i64::from(count) - 1);
        let is = |count: u32| Range::new(i64::from(count), i64::from(count));
        let (grid, block) = (self.given.grid, self.given.block);
        match register {
            SpecialReg::TidX => below(block[0]),
            SpecialReg::TidY => below(block[1]),
            SpecialReg::TidZ => below(block[2]),
            SpecialReg::CtaidX => below(grid[0]),
            SpecialReg::CtaidY => below(grid[1]),
            SpecialReg::CtaidZ => below(grid[2]),
            SpecialReg::NtidX => is(block[0]),
            SpecialReg::NtidY => is(block[1]),
            SpecialReg::NtidZ => is(block[2]),
            SpecialReg::NctaidX => is(grid[0]),
            SpecialReg::NctaidY => is(grid[1]),
            SpecialReg::NctaidZ => is(grid[2]),
            _ => Range::all(ty),
        }
    }
}

/// The range of a load of this type.
fn loaded(ty: MemType) -> Range {
    match ty {
        MemType::S8 => Range::new(-128, 127),
        MemType::U8 => Range::new(0, 255),
        MemType::S16 => Range::new(-32768, 32767),
        MemType::U16 => Range::new(0, 65535),
        ty => Range::all(ty.value_type()),
    }
}

fn converted(op: ConvertOp, ty: Type, a: Range) -> Range {
    let any = Range::all(ty);
    let within = |range: Range| match range.lo <= a.lo && a.hi <= range.hi {
        true => a,
        false => range,
    };
    match op {
        ConvertOp::Sext => a,
        ConvertOp::Zext if a.is_positive() => a,
        ConvertOp::Zext => Range::new(0, i64::from(u32::MAX)),
        ConvertOp::Trunc => within(any),
        ConvertOp::Sext8 => within(Range::new(-128, 127)),
        ConvertOp::Zext8 => within(Range::new(0, 255)),
        ConvertOp::Sext16 => within(Range::new(-32768, 32767)),
        ConvertOp::Zext16 => within(Range::new(0, 65535)),
        ConvertOp::BoolToI32 => Range::new(0, 1),
        _ => any,
    }
}
