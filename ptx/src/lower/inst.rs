//! The table of instructions: what each opcode becomes.

use ir::{BinaryOp, Intrinsic, Type, UnaryOp};

use super::modifiers::Modifiers;
use super::{Fault, Lowerer};
use crate::tree::{Instruction, Operand};

/// What an opcode becomes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Becomes {
    /// A sum or difference, of integers or floats.
    Sum(BinaryOp, BinaryOp),
    /// A sum or difference that begins with the carry.
    CarriedSum(BinaryOp),
    Mul,
    Mad,
    /// A product and a sum that begins with the carry.
    CarriedProduct,
    Fma,
    Div,
    Rem,
    /// Minimum or maximum: signed, unsigned, float.
    Least([BinaryOp; 3]),
    /// An operation on bits.
    Bits(BinaryOp),
    Not,
    ShiftLeft,
    ShiftRight,
    FunnelShift,
    Neg,
    Abs,
    /// An operation on the bits of one integer.
    Count(UnaryOp),
    /// An operation of the special function unit, or its exact form.
    Special(UnaryOp),
    Rcp,
    Sqrt,
    CopySign,
    Dot4,
    Dot2,
    Lop3,
    Prmt,
    FieldExtract,
    FieldInsert,
    Sad,
    SetPredicate,
    Select,
    Convert,
    Move,
    ToSpace,
    IsSpace,
    Load,
    Store,
    Atomic,
    Barrier,
    Fence,
    Shuffle,
    Vote,
    Match,
    Redux,
    ActiveMask,
    Call,
    Trap,
    Nanosleep,
    /// Has no effect in the simulator: hints for caches and debuggers.
    Nothing,
}

/// The rows. An opcode without a row is an error that names it.
const TABLE: &[(&str, Becomes)] = &[
    ("abs", Becomes::Abs),
    ("activemask", Becomes::ActiveMask),
    ("add", Becomes::Sum(BinaryOp::Add, BinaryOp::FAdd)),
    ("addc", Becomes::CarriedSum(BinaryOp::Add)),
    ("and", Becomes::Bits(BinaryOp::And)),
    ("atom", Becomes::Atomic),
    ("bar", Becomes::Barrier),
    ("barrier", Becomes::Barrier),
    ("bfe", Becomes::FieldExtract),
    ("bfi", Becomes::FieldInsert),
    ("brev", Becomes::Count(UnaryOp::Brev)),
    ("call", Becomes::Call),
    ("clz", Becomes::Count(UnaryOp::Clz)),
    ("copysign", Becomes::CopySign),
    ("cos", Becomes::Special(UnaryOp::CosApprox)),
    ("cvt", Becomes::Convert),
    ("cvta", Becomes::ToSpace),
    ("div", Becomes::Div),
    ("dp2a", Becomes::Dot2),
    ("dp4a", Becomes::Dot4),
    ("ex2", Becomes::Special(UnaryOp::Ex2Approx)),
    ("fence", Becomes::Fence),
    ("fma", Becomes::Fma),
    ("isspacep", Becomes::IsSpace),
    ("ld", Becomes::Load),
    ("lg2", Becomes::Special(UnaryOp::Lg2Approx)),
    ("lop3", Becomes::Lop3),
    ("mad", Becomes::Mad),
    ("madc", Becomes::CarriedProduct),
    ("match", Becomes::Match),
    (
        "max",
        Becomes::Least([BinaryOp::SMax, BinaryOp::UMax, BinaryOp::FMax]),
    ),
    ("membar", Becomes::Fence),
    (
        "min",
        Becomes::Least([BinaryOp::SMin, BinaryOp::UMin, BinaryOp::FMin]),
    ),
    ("mov", Becomes::Move),
    ("mul", Becomes::Mul),
    ("nanosleep", Becomes::Nanosleep),
    ("neg", Becomes::Neg),
    ("not", Becomes::Not),
    ("or", Becomes::Bits(BinaryOp::Or)),
    ("pmevent", Becomes::Nothing),
    ("popc", Becomes::Count(UnaryOp::Popc)),
    ("prefetch", Becomes::Nothing),
    ("prefetchu", Becomes::Nothing),
    ("prmt", Becomes::Prmt),
    ("rcp", Becomes::Rcp),
    ("red", Becomes::Atomic),
    ("redux", Becomes::Redux),
    ("rem", Becomes::Rem),
    ("rsqrt", Becomes::Special(UnaryOp::RsqrtApprox)),
    ("sad", Becomes::Sad),
    ("selp", Becomes::Select),
    ("setp", Becomes::SetPredicate),
    ("shf", Becomes::FunnelShift),
    ("shfl", Becomes::Shuffle),
    ("shl", Becomes::ShiftLeft),
    ("shr", Becomes::ShiftRight),
    ("sin", Becomes::Special(UnaryOp::SinApprox)),
    ("sqrt", Becomes::Sqrt),
    ("st", Becomes::Store),
    ("sub", Becomes::Sum(BinaryOp::Sub, BinaryOp::FSub)),
    ("subc", Becomes::CarriedSum(BinaryOp::Sub)),
    ("tanh", Becomes::Special(UnaryOp::TanhApprox)),
    ("trap", Becomes::Trap),
    ("vote", Becomes::Vote),
    ("xor", Becomes::Bits(BinaryOp::Xor)),
];

// The table is searched by halves.
const _: () = {
    let mut row = 1;
    while row < TABLE.len() {
        assert!(comes_first(TABLE[row - 1].0, TABLE[row].0));
        row += 1;
    }
};

/// Whether a name is before another in the order of their letters.
const fn comes_first(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

/// The row of an opcode.
pub(crate) fn row(opcode: &str) -> Option<Becomes> {
    let index = TABLE.binary_search_by_key(&opcode, |(name, _)| name).ok()?;
    Some(TABLE[index].1)
}

impl<'t> Lowerer<'_, 't> {
    /// An instruction that is no jump.
    pub(super) fn inst(&mut self, inst: &Instruction<'t>, statement: usize) -> Result<(), Fault> {
        let mut modifiers = Modifiers::of(inst)?;
        let Some(becomes) = row(inst.opcode) else {
            return Err(modifiers.unknown());
        };
        let this = (&inst.operands[..], &mut modifiers, statement);
        match becomes {
            Becomes::Sum(int, _) if this.1.has(".cc") => self.carried_sum(this, (int, false)),
            Becomes::Sum(int, float) => self.sum(this, int, float),
            Becomes::CarriedSum(op) => self.carried_sum(this, (op, true)),
            Becomes::Mad if this.1.has(".cc") => self.carried_product(this, false),
            Becomes::CarriedProduct => self.carried_product(this, true),
            Becomes::Mul => self.mul(this),
            Becomes::Mad => self.mad(this),
            Becomes::Fma => self.fma(this),
            Becomes::Div => self.div(this),
            Becomes::Rem => self.rem(this),
            Becomes::Least(ops) => self.least(this, ops),
            Becomes::Bits(op) => self.bits(this, op),
            Becomes::Not => self.not(this),
            Becomes::ShiftLeft => self.shift(this, true),
            Becomes::ShiftRight => self.shift(this, false),
            Becomes::FunnelShift => self.funnel_shift(this),
            Becomes::Neg => self.neg(this),
            Becomes::Abs => self.abs(this),
            Becomes::Count(op) => self.count(this, op),
            Becomes::Special(op) => self.special_function(this, op),
            Becomes::Rcp => self.rcp(this),
            Becomes::Sqrt => self.sqrt(this),
            Becomes::CopySign => self.copy_sign(this),
            Becomes::Dot4 => self.dot(this, true),
            Becomes::Dot2 => self.dot(this, false),
            Becomes::Lop3 => self.lop3(this),
            Becomes::Prmt => self.prmt(this),
            Becomes::FieldExtract => self.field_extract(this),
            Becomes::FieldInsert => self.field_insert(this),
            Becomes::Sad => self.sad(this),
            Becomes::SetPredicate => self.set_predicate(this),
            Becomes::Select => self.select(this),
            Becomes::Convert => self.convert(this),
            Becomes::Move => self.mov(this),
            Becomes::ToSpace => self.change_space(this),
            Becomes::IsSpace => self.is_space(this),
            Becomes::Load => self.load(this),
            Becomes::Store => self.store(this),
            Becomes::Atomic => self.atomic(this),
            Becomes::Barrier => self.barrier(this),
            Becomes::Fence => self.fence(this),
            Becomes::Shuffle => self.shuffle(this),
            Becomes::Vote => self.vote(this),
            Becomes::Match => self.match_lanes(this),
            Becomes::Redux => self.redux(this),
            Becomes::ActiveMask => self.active_mask(this),
            Becomes::Call => self.call(this),
            Becomes::Trap => {
                self.builder.intrinsic(Intrinsic::Trap, Vec::new());
                Ok(())
            }
            Becomes::Nanosleep => {
                let [time] = operands(this.0)?;
                this.1.take(".u32");
                let time = self.read(time, Type::I32)?;
                self.builder.intrinsic(Intrinsic::Nanosleep, vec![time]);
                Ok(())
            }
            Becomes::Nothing => return Ok(()),
        }?;
        modifiers.end()
    }
}

/// An instruction: its operands, its modifiers, its statement.
pub(super) type This<'a, 'i, 't> = (&'a [Operand<'t>], &'a mut Modifiers<'i, 't>, usize);

/// Exactly this many operands.
pub(super) fn operands<'a, 't, const N: usize>(
    all: &'a [Operand<'t>],
) -> Result<[&'a Operand<'t>; N], Fault> {
    let found: Vec<&Operand<'t>> = all.iter().collect();
    found
        .try_into()
        .map_err(|found: Vec<_>| format!("{} operands, and {N} are expected", found.len()))
}
