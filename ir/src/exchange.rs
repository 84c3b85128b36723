//! Exchanges: the lanes of a warp send each other values. Shuffles, votes, matches, reductions.
//!
//! **Which lanes take part.** With a mask, the lanes in it; lanes that have ended (or that a last, partial warp never had) count as not in
//! it. Each lane has its own mask operand; lanes of one group have the same mask. Without a mask (the functions before CUDA 9), the lanes
//! that are active at the instruction take part. Below, *the group* is the set of lanes that take part together with the lane in question.
//!
//! **Errors.** A mask without the lane itself; lanes of one group with different masks; a mask with a lane that is alive but not active
//! here. CUDA leaves the first two undefined. In the third it waits until that lane executes the same operation, here or elsewhere, which
//! lockstep execution cannot do: the machine traps and reports it.
//!
//! **Undefined in CUDA and defined here.** A shuffle that reads a lane outside the group gets 0 (in PTX, whatever the hardware returns);
//! observers of the machine are notified.

use std::fmt;

use super::op::named;
use super::{Operand, Type};

/// An exchange: `%2 = shfl.down.f32 %0, %1, 32 sync -1`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Exchange {
    /// The operation.
    pub op: ExchangeOp,
    /// The lane's value.
    pub value: Operand,
    /// The lanes that take part, an `i32`; `None`: those that are active.
    pub mask: Option<Operand>,
}

/// The operation of an exchange.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExchangeOp {
    /// `shfl.idx.i32 value, lane, width`: the value of another lane. The result has the value's type.
    ///
    /// With `s = (32 - width) & 31` (the bits of a lane's number that select the part of the warp, for widths that are powers of two),
    /// `b = lane & 31` and the reader's own number `l`, the source is
    ///
    /// | mode | source | in range if |
    /// |---|---|---|
    /// | `idx` | `(l & s) \| (b & !s)` | `source <= last` |
    /// | `up` | `l - b` | `source >= l & s` (signed) |
    /// | `down` | `l + b` | `source <= last` |
    /// | `xor` | `l ^ b` | `source <= last` |
    ///
    /// where `last = (l & s) | (!s & 31)`. Out of range the source is the reader itself. That is PTX's `shfl` with
    /// `c = (32 - width) << 8 | (0 for up, else 31)`, which is what CUDA's functions pass, for any width.
    Shuffle {
        /// How the source is computed.
        mode: ShuffleMode,
        /// The type of the value: `i32` or `f32`.
        ty: Type,
        /// Source lane, distance or mask: `i32`.
        lane: Operand,
        /// Lanes per part: `i32`, 1 to 32.
        width: Operand,
    },
    /// `vote.ballot value`, where the value is an `i1`. `ballot` yields an `i32`, the others an `i1`.
    Vote(VoteOp),
    /// `match.any.i32 value`: the lanes of the group with the same value, as an `i32`. Values are `i32` or `i64`, compared by bits.
    MatchAny(Type),
    /// `%1, %2 = match.all.i32 value`: the group and true if all its values are the same, else 0 and false.
    MatchAll(Type),
    /// `reduce.add value`: over the group; `i32` to `i32`.
    Reduce(ReduceOp),
}

impl Exchange {
    /// The type of each lane's value.
    pub fn value_type(&self) -> Type {
        match self.op {
            ExchangeOp::Shuffle { ty, .. }
            | ExchangeOp::MatchAny(ty)
            | ExchangeOp::MatchAll(ty) => ty,
            ExchangeOp::Vote(_) => Type::I1,
            ExchangeOp::Reduce(_) => Type::I32,
        }
    }

    /// The types of the results.
    pub fn result_types(&self) -> Vec<Type> {
        match self.op {
            ExchangeOp::Shuffle { ty, .. } => vec![ty],
            ExchangeOp::Vote(VoteOp::Ballot) | ExchangeOp::MatchAny(_) | ExchangeOp::Reduce(_) => {
                vec![Type::I32]
            }
            ExchangeOp::Vote(VoteOp::All | VoteOp::Any | VoteOp::Uni) => vec![Type::I1],
            ExchangeOp::MatchAll(_) => vec![Type::I32, Type::I1],
        }
    }

    /// Whether the operation exists for its type of value.
    pub fn accepts(&self) -> bool {
        match self.op {
            ExchangeOp::Shuffle { ty, .. } => matches!(ty, Type::I32 | Type::F32),
            ExchangeOp::MatchAny(ty) | ExchangeOp::MatchAll(ty) => ty.is_int(),
            ExchangeOp::Vote(_) | ExchangeOp::Reduce(_) => true,
        }
    }

    /// Whether all lanes get the same result as long as the operands that [`decide`](Exchange::decides) are the same for all.
    ///
    /// Lanes with the same mask are one group, and a vote, a reduction and `match.all` have one result for the group. So has a shuffle if
    /// all lanes read the same lane, in the group or not.
    pub fn agrees(&self) -> bool {
        match &self.op {
            ExchangeOp::Vote(_) | ExchangeOp::MatchAll(_) | ExchangeOp::Reduce(_) => true,
            ExchangeOp::Shuffle { mode, width, .. } => {
                let whole = width.constant().is_some_and(|width| width.bits == 32);
                whole && *mode == ShuffleMode::Idx
            }
            ExchangeOp::MatchAny(_) => false,
        }
    }

    /// Whether a difference in this operand between lanes may make the results differ: the mask, and the lane that is read.
    pub fn decides(&self, operand: Operand) -> bool {
        let lane = match self.op {
            ExchangeOp::Shuffle { lane, .. } => Some(lane),
            ExchangeOp::Vote(_)
            | ExchangeOp::MatchAny(_)
            | ExchangeOp::MatchAll(_)
            | ExchangeOp::Reduce(_) => None,
        };
        self.mask == Some(operand) || lane == Some(operand)
    }
}

impl ShuffleMode {
    /// The lane that lane `reader` reads: see [`ExchangeOp::Shuffle`].
    pub fn source(self, reader: u32, lane: u32, width: u32) -> u32 {
        let part = 32u32.wrapping_sub(width) & 31;
        let b = lane & 31;
        let last = (reader & part) | (!part & 31);
        let (source, in_range) = match self {
            ShuffleMode::Idx => {
                let source = (reader & part) | (b & !part);
                (source, source <= last)
            }
            ShuffleMode::Up => (reader.wrapping_sub(b), reader >= b + (reader & part)),
            ShuffleMode::Down => (reader + b, reader + b <= last),
            ShuffleMode::Xor => (reader ^ b, reader ^ b <= last),
        };
        if in_range { source } else { reader }
    }
}

impl ReduceOp {
    /// Two lanes' values, reduced.
    pub fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            ReduceOp::Add => a.wrapping_add(b),
            ReduceOp::SMin => (a as i32).min(b as i32) as u32,
            ReduceOp::SMax => (a as i32).max(b as i32) as u32,
            ReduceOp::UMin => a.min(b),
            ReduceOp::UMax => a.max(b),
            ReduceOp::And => a & b,
            ReduceOp::Or => a | b,
            ReduceOp::Xor => a ^ b,
        }
    }
}

named! {
    /// How a shuffle computes its source: see [`ExchangeOp::Shuffle`].
    ShuffleMode {
        /// That lane of the part.
        Idx = "idx",
        /// This many lanes below.
        Up = "up",
        /// This many lanes above.
        Down = "down",
        /// The lane's number with these bits flipped.
        Xor = "xor",
    }

    /// What a vote computes from the group's truth values.
    VoteOp {
        /// Whether all are true.
        All = "all",
        /// Whether one is true.
        Any = "any",
        /// Whether all are the same.
        Uni = "uni",
        /// The lanes whose values are true, as a mask.
        Ballot = "ballot",
    }

    /// How a reduction combines two values.
    ReduceOp {
        /// Wrapping sum.
        Add = "add",
        /// Signed minimum.
        SMin = "smin",
        /// Signed maximum.
        SMax = "smax",
        /// Unsigned minimum.
        UMin = "umin",
        /// Unsigned maximum.
        UMax = "umax",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PTX's definition of `shfl`, with `c` as CUDA's functions pass it.
    fn ptx(mode: ShuffleMode, lane: i32, b: i32, width: i32) -> i32 {
        let clamp = if mode == ShuffleMode::Up { 0 } else { 31 };
        let c = (32 - width) << 8 | clamp;
        let (bval, cval, mask) = (b & 31, c & 31, c >> 8 & 31);
        let max_lane = (lane & mask) | (cval & !mask);
        let min_lane = lane & mask;
        let (j, p) = match mode {
            ShuffleMode::Up => (lane - bval, lane - bval >= max_lane),
            ShuffleMode::Down => (lane + bval, lane + bval <= max_lane),
            ShuffleMode::Xor => (lane ^ bval, lane ^ bval <= max_lane),
            ShuffleMode::Idx => {
                let j = min_lane | (bval & !mask);
                (j, j <= max_lane)
            }
        };
        if p { j } else { lane }
    }

    #[test]
    fn sources_are_ptx_s() {
        for &mode in ShuffleMode::ALL {
            for width in 1..=32 {
                for lane in 0..32 {
                    for b in -33..70 {
                        let source = mode.source(lane as u32, b as u32, width as u32);
                        assert_eq!(
                            source as i32,
                            ptx(mode, lane, b, width),
                            "{mode} {lane} {b} {width}"
                        );
                        assert!(source < 32);
                    }
                }
            }
        }
    }
}
