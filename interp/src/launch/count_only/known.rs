//! Collects what is known of other blocks while a representative runs: the limits within which they do the same, and
//! what prevents that.
//!
//! Integers of `w` bits move modulo 2^w. A 32-bit step is stored as the number between -2^31 and 2^31. As long as a
//! value stays within its range (which becomes a limit wherever the range matters), it moves by exactly that number.

use ir::{BinaryOp, CompareOp, LocId, UnaryOp};

use super::cell::Why;
use super::cover::{Limits, STILL, Step, lcm, stride_for};
use crate::isa::computing::Conversion;

/// More than any value can move.
const FAR: i128 = i128::MAX / 8;

/// The decision that is not known to come out the same in other blocks, or the event that ends the counting regardless
/// of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decides {
    /// A branch, a loop, an `assert`.
    Branch,
    /// The address of an access.
    Address,
    /// Which lanes take part in a `__syncwarp`, a numbered barrier or an exchange.
    Mask,
    /// Threads print.
    Prints,
    /// Threads launch kernels.
    Launches,
    /// Threads allocate or free memory on the heap.
    Heap,
    /// Threads call recursive functions.
    Calls,
    /// Lanes of a warp wait for each other.
    Parts,
    /// A block waits for others, or faults.
    Ends,
}

/// Why a launch is not counted from some of its blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Refusal {
    pub(super) what: Decides,
    pub(super) at: LocId,
    pub(super) why: Option<Why>,
}

/// What is known of the blocks that do the same as the representative.
#[derive(Debug)]
pub(super) struct AlikeBlocks {
    pub(super) grid: [u32; 3],
    pub(super) stride: [u64; 3],
    /// The stride for which more values would have moved by multiples of their divisor or alignment.
    pub(super) wanted: [u64; 3],
    pub(super) limits: Limits,
    pub(super) refusal: Option<Refusal>,
}

/// A number in a lane: its bits and how it moves.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub(super) bits: u64,
    pub(super) step: Step,
}

/// How bits are interpreted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) wide: bool,
    pub(super) signed: bool,
}

impl Reading {
    pub(super) fn of(self, bits: u64) -> i128 {
        match (self.wide, self.signed) {
            (false, false) => i128::from(bits as u32),
            (false, true) => i128::from(bits as u32 as i32),
            (true, false) => i128::from(bits),
            (true, true) => i128::from(bits as i64),
        }
    }

    /// The smallest and the largest number.
    fn range(self) -> (i128, i128) {
        match (self.wide, self.signed) {
            (false, false) => (0, u32::MAX.into()),
            (false, true) => (i32::MIN.into(), i32::MAX.into()),
            (true, false) => (0, u64::MAX.into()),
            (true, true) => (i64::MIN.into(), i64::MAX.into()),
        }
    }
}

/// A step of a 32-bit or 64-bit value.
pub(super) fn narrowed(step: Step, wide: bool) -> Step {
    match wide {
        true => step,
        false => step.map(|by| i64::from(by as i32)),
    }
}

pub(super) fn sum(a: Step, b: Step) -> Step {
    std::array::from_fn(|axis| a[axis].wrapping_add(b[axis]))
}

pub(super) fn difference(a: Step, b: Step) -> Step {
    std::array::from_fn(|axis| a[axis].wrapping_sub(b[axis]))
}

pub(super) fn times(step: Step, factor: i64) -> Step {
    step.map(|by| by.wrapping_mul(factor))
}

impl AlikeBlocks {
    /// Gives up counting from some of the blocks. Only the first reason is kept.
    pub(super) fn refuse(&mut self, what: Decides, at: LocId, why: Option<Why>) {
        self.refusal.get_or_insert(Refusal { what, at, why });
    }

    /// Whether there is nothing more to find out.
    pub(super) fn is_over(&self) -> bool {
        self.refusal.is_some() || self.wanted != self.stride
    }

    fn want(&mut self, stride: [u64; 3]) {
        self.wanted = std::array::from_fn(|axis| lcm(self.wanted[axis], stride[axis]));
    }

    /// Requires that values that move by `step` move by multiples of `modulus`.
    pub(super) fn align(&mut self, step: Step, modulus: u64) {
        let (wanted, cannot) = stride_for(self.grid, self.stride, step, modulus);
        for axis in (0..3).filter(|&axis| cannot[axis]) {
            let mut along = STILL;
            along[axis] = 1;
            self.limits.still(along);
        }
        self.want(wanted);
    }

    /// Whether they can, with this stride or another one.
    fn can_align(&mut self, step: Step, modulus: u64) -> bool {
        let (wanted, cannot) = stride_for(self.grid, self.stride, step, modulus);
        let can = cannot == [false; 3];
        if can {
            self.want(wanted);
        }
        can
    }

    /// Requires that the number stays within the range of its bits.
    pub(super) fn keep_range(&mut self, a: Number, reading: Reading) {
        let (value, (least, most)) = (reading.of(a.bits), reading.range());
        self.limits.within(a.step, least - value, most - value);
    }

    /// How the result of a unary operation moves; `None` if that is unknown.
    pub(super) fn unary(op: UnaryOp, wide: bool, a: Number) -> Option<Step> {
        match op {
            // `!a` is `-a - 1`.
            UnaryOp::Neg | UnaryOp::SNeg | UnaryOp::Not => Some(narrowed(times(a.step, -1), wide)),
            _ => (a.step == STILL).then_some(STILL),
        }
    }

    /// How the result of a conversion moves; `None` if that is unknown.
    pub(super) fn convert(&mut self, op: Conversion, a: Number) -> Option<Step> {
        use Conversion::{
            IsConstant, IsGlobal, IsLocal, IsShared, NarrowLocal, NarrowShared, Sext, Sext8,
            Sext16, Trunc, WidenLocal, WidenShared, Zext, Zext8, Zext16,
        };
        if a.step == STILL {
            return Some(STILL);
        }
        let short = |signed| Reading {
            wide: false,
            signed,
        };
        let low = |known: &mut AlikeBlocks, bits: u32| known.low_bits(a, 1 << bits, short(false));
        // The sign is the highest bit, so it must not change either.
        let signed = |known: &mut AlikeBlocks, bits: u32| {
            let rest = low(known, bits - 1);
            (low(known, bits) == rest).then_some(rest)
        };
        match op {
            Sext | Zext => {
                self.keep_range(a, short(op == Sext));
                Some(a.step)
            }
            Trunc | NarrowShared | NarrowLocal => Some(narrowed(a.step, false)),
            Zext8 => Some(low(self, 8)),
            Zext16 => Some(low(self, 16)),
            Sext8 => signed(self, 8),
            Sext16 => signed(self, 16),
            WidenShared | WidenLocal | IsShared | IsLocal | IsConstant | IsGlobal => {
                self.limits.still(a.step);
                Some(STILL)
            }
            _ => None,
        }
    }

    /// How the result of a binary operation on two numbers moves; `None` if that is unknown.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        wide: bool,
        a: Number,
        b: Number,
    ) -> Option<Step> {
        if a.step == STILL && b.step == STILL {
            return Some(STILL);
        }
        let signed = Reading { wide, signed: true };
        let unsigned = Reading {
            wide,
            signed: false,
        };
        let step = match op.wrapping() {
            BinaryOp::Add => sum(a.step, b.step),
            BinaryOp::Sub => difference(a.step, b.step),
            BinaryOp::Mul if b.step == STILL => times(a.step, signed.of(b.bits) as i64),
            BinaryOp::Mul if a.step == STILL => times(b.step, signed.of(a.bits) as i64),
            BinaryOp::Shl if b.step == STILL => {
                let bits = if wide { 64 } else { 32 };
                match b.bits as u32 {
                    by if by < bits => times(a.step, 1i64.wrapping_shl(by)),
                    _ => STILL,
                }
            }
            BinaryOp::And if b.step == STILL => self.masked(wide, a, unsigned.of(b.bits) as u64)?,
            BinaryOp::And if a.step == STILL => self.masked(wide, b, unsigned.of(a.bits) as u64)?,
            BinaryOp::Or | BinaryOp::Xor if b.step == STILL => {
                self.below(a.step, unsigned.of(b.bits) as u64)?
            }
            BinaryOp::Or | BinaryOp::Xor if a.step == STILL => {
                self.below(b.step, unsigned.of(a.bits) as u64)?
            }
            BinaryOp::LShr if b.step == STILL => {
                let by = (b.bits as u32).min(64);
                self.divide(a, 1i128 << by, unsigned, false)?.0
            }
            BinaryOp::AShr if b.step == STILL => {
                let by = (b.bits as u32).min(if wide { 63 } else { 31 });
                self.divide(a, 1i128 << by, signed, false)?.0
            }
            BinaryOp::UDiv if b.step == STILL => {
                self.divide(a, unsigned.of(b.bits), unsigned, true)?.0
            }
            BinaryOp::URem if b.step == STILL => {
                self.divide(a, unsigned.of(b.bits), unsigned, true)?.1
            }
            BinaryOp::SDiv if b.step == STILL => self.divide(a, signed.of(b.bits), signed, true)?.0,
            BinaryOp::SRem if b.step == STILL => self.divide(a, signed.of(b.bits), signed, true)?.1,
            BinaryOp::SMin | BinaryOp::SMax | BinaryOp::UMin | BinaryOp::UMax => {
                let (compare, least) = match op {
                    BinaryOp::SMin => (CompareOp::Sle, true),
                    BinaryOp::UMin => (CompareOp::Ule, true),
                    BinaryOp::SMax => (CompareOp::Sle, false),
                    _ => (CompareOp::Ule, false),
                };
                let first_is_less = self.compare(compare, wide, a, b)?;
                if first_is_less == least {
                    a.step
                } else {
                    b.step
                }
            }
            _ => return None,
        };
        Some(narrowed(step, wide))
    }

    /// How `a & bits` moves.
    fn masked(&mut self, wide: bool, a: Number, bits: u64) -> Option<Step> {
        let all = if wide { u64::MAX } else { u32::MAX.into() };
        let cleared = !bits & all;
        let unsigned = Reading {
            wide,
            signed: false,
        };
        let whole = |low: u64| 1i128 << low.count_ones();
        if bits & bits.wrapping_add(1) == 0 {
            // The low bits are the remainder of a division.
            return Some(self.low_bits(a, whole(bits), unsigned));
        }
        if cleared & cleared.wrapping_add(1) == 0 {
            let low = self.low_bits(a, whole(cleared), unsigned);
            return Some(difference(a.step, low));
        }
        None
    }

    /// How the remainder of a division by a power of two moves. It does not matter whether the value leaves the range
    /// of its bits.
    pub(super) fn low_bits(&mut self, a: Number, by: i128, reading: Reading) -> Step {
        self.rest(a.step, reading.of(a.bits), by, false).0
    }

    /// How `a | bits` and `a ^ bits` move: `a` may move only above the highest of these bits.
    fn below(&mut self, step: Step, bits: u64) -> Option<Step> {
        let places = 64 - bits.leading_zeros();
        match places {
            0 => Some(step),
            1..=62 if self.can_align(step, 1 << places) => Some(step),
            _ => None,
        }
    }

    /// How the quotient and the remainder of a division by `by` move. Without `truncates` the quotient is rounded down.
    fn divide(
        &mut self,
        a: Number,
        by: i128,
        reading: Reading,
        truncates: bool,
    ) -> Option<(Step, Step)> {
        if by <= 0 {
            return None;
        }
        self.keep_range(a, reading);
        let value = reading.of(a.bits);
        let rounds_up = truncates && value < 0;
        // Division that rounds towards zero differs on the two sides of zero.
        match rounds_up {
            true => self.limits.within(a.step, -FAR, -value),
            false if truncates => self.limits.within(a.step, -value, FAR),
            false => {}
        }
        let (rest, quotient) = self.rest(a.step, value, by, rounds_up);
        Some((quotient, rest))
    }

    /// Splits a step into multiples of `by` and a remainder that is as small as possible. As long as the remainder of
    /// the value stays a valid remainder, the quotient moves by the multiples. Returns how both move, the remainder
    /// first.
    fn rest(&mut self, step: Step, value: i128, by: i128, rounds_up: bool) -> (Step, Step) {
        if let Ok(modulus) = u64::try_from(by) {
            // Best is no remainder at all.
            self.can_align(step, modulus);
        }
        let (mut rest, mut quotient) = (STILL, STILL);
        for axis in 0..3 {
            let along = i128::from(step[axis]);
            let mut left = along.rem_euclid(by);
            if 2 * left > by {
                left -= by;
            }
            rest[axis] = left as i64;
            quotient[axis] = ((along - left) / by) as i64;
        }
        match rounds_up {
            true => self.limits.within(rest, 1 - by - value % by, -(value % by)),
            false => {
                let of_value = value.rem_euclid(by);
                self.limits.within(rest, -of_value, by - 1 - of_value);
            }
        }
        (rest, quotient)
    }

    /// The result of a comparison, here and in all blocks within the limits; `None` if it is unknown.
    pub(super) fn compare(
        &mut self,
        op: CompareOp,
        wide: bool,
        a: Number,
        b: Number,
    ) -> Option<bool> {
        let signed = !matches!(
            op,
            CompareOp::Ult | CompareOp::Ule | CompareOp::Ugt | CompareOp::Uge
        );
        let reading = Reading { wide, signed };
        let apart = reading.of(a.bits) - reading.of(b.bits);
        let holds = match op {
            CompareOp::Eq => apart == 0,
            CompareOp::Ne => apart != 0,
            CompareOp::Slt | CompareOp::Ult => apart < 0,
            CompareOp::Sle | CompareOp::Ule => apart <= 0,
            CompareOp::Sgt | CompareOp::Ugt => apart > 0,
            CompareOp::Sge | CompareOp::Uge => apart >= 0,
            _ => return (a.step == STILL && b.step == STILL).then_some(false),
        };
        if a.step == STILL && b.step == STILL {
            return Some(holds);
        }
        let mut step = STILL;
        for (axis, by) in step.iter_mut().enumerate() {
            *by = a.step[axis].checked_sub(b.step[axis])?;
        }
        self.keep_range(a, reading);
        self.keep_range(b, reading);
        let (low, high) = match op {
            CompareOp::Eq | CompareOp::Ne if apart == 0 => (0, 0),
            CompareOp::Eq | CompareOp::Ne if apart > 0 => (1 - apart, FAR),
            CompareOp::Eq | CompareOp::Ne => (-FAR, -1 - apart),
            CompareOp::Slt | CompareOp::Ult | CompareOp::Sge | CompareOp::Uge if apart < 0 => {
                (-FAR, -1 - apart)
            }
            CompareOp::Slt | CompareOp::Ult | CompareOp::Sge | CompareOp::Uge => (-apart, FAR),
            _ if apart <= 0 => (-FAR, -apart),
            _ => (1 - apart, FAR),
        };
        self.limits.within(step, low, high);
        Some(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> AlikeBlocks {
        AlikeBlocks {
            grid: [1000, 1, 1],
            stride: [1; 3],
            wanted: [1; 3],
            limits: Limits::default(),
            refusal: None,
        }
    }

    fn at(value: i64, step: i64) -> Number {
        Number {
            bits: value as u64,
            step: [step, 0, 0],
        }
    }

    /// Compares how far `op` is said to move with the operation itself.
    fn holds(op: BinaryOp, a: (i64, i64), b: i64) {
        let compute = |a: i64| -> i64 {
            let (a, b) = (a as i32, b as i32);
            i64::from(match op {
                BinaryOp::UDiv => (a as u32 / b as u32) as i32,
                BinaryOp::URem => (a as u32 % b as u32) as i32,
                BinaryOp::SDiv => a / b,
                BinaryOp::SRem => a % b,
                BinaryOp::And => a & b,
                BinaryOp::Or => a | b,
                BinaryOp::LShr => (a as u32 >> b) as i32,
                BinaryOp::AShr => a >> b,
                BinaryOp::Mul => a.wrapping_mul(b),
                BinaryOp::SMin => a.min(b),
                _ => a.max(b),
            })
        };
        let mut stride = 1;
        let (known, step) = loop {
            let mut next = known();
            next.stride = [stride as u64, 1, 1];
            next.wanted = next.stride;
            let step = next.binary(op, false, at(a.0, a.1 * stride), at(b, 0));
            if next.wanted == next.stride {
                break (next, step);
            }
            stride = next.wanted[0] as i64;
        };
        let Some(step) = step else { return };
        let reach = known.limits.reach([100, 0, 0])[0] as i64;
        for k in 0..=reach {
            let there = compute((a.0 as i32).wrapping_add((a.1 * stride * k) as i32) as i64);
            let said = (compute(a.0) as i32).wrapping_add((step[0] * k) as i32);
            assert_eq!(
                there as i32, said,
                "{op:?} {a:?} {b}: {k} strides of {stride}"
            );
        }
    }

    #[test]
    fn results_move_as_they_are_said_to() {
        let values = [
            0,
            1,
            5,
            31,
            255,
            256,
            1000,
            -1,
            -7,
            -256,
            i64::from(i32::MAX) - 300,
        ];
        let ops = [
            BinaryOp::UDiv,
            BinaryOp::URem,
            BinaryOp::SDiv,
            BinaryOp::SRem,
            BinaryOp::And,
            BinaryOp::Or,
            BinaryOp::Mul,
            BinaryOp::SMin,
            BinaryOp::SMax,
        ];
        for value in values {
            for step in [1, 4, 96, 128, 256, -3, -64] {
                for op in ops {
                    for b in [1, 2, 7, 8, 31, 100, 255, 256, 1920, -8] {
                        holds(op, (value, step), b);
                    }
                }
                for by in [0, 1, 3, 5, 31] {
                    holds(BinaryOp::LShr, (value, step), by);
                    holds(BinaryOp::AShr, (value, step), by);
                }
            }
        }
    }

    #[test]
    fn a_comparison_limits_how_far_it_holds() {
        let mut known = known();
        // `i < 1000`, i = 256 * block + 3.
        assert_eq!(
            known.compare(CompareOp::Slt, false, at(3, 256), at(1000, 0)),
            Some(true)
        );
        assert_eq!(known.limits.reach([100, 0, 0]), [3, 0, 0]);
    }
}
