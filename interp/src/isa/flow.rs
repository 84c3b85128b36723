//! The kinds of registers that a computing instruction reads and writes.

use crate::isa::op::{Op, lane_ops};

/// The kinds of registers read and written: varying (V) or scalar (S).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    V1,
    V2,
    S1,
    S2,
    /// Two varying registers to a mask.
    Compare,
    /// A varying and a scalar register to a mask.
    CompareScalar,
    /// An instruction outside of the table.
    Other,
}

macro_rules! flows {
    ({ $op:ident }
     unary32 { $(($u32:ident, $u32t:ident, $u32v:ident, $u32s:ident, $u32f:path))* }
     unary64 { $(($u64:ident, $u64t:ident, $u64v:ident, $u64s:ident, $u64f:path))* }
     binary32 { $(($b32:ident, $b32t:ident, $b32v:ident, $b32s:ident, $b32f:path))* }
     binary64 { $(($b64:ident, $b64t:ident, $b64v:ident, $b64s:ident, $b64f:path))* }
     compare32 { $(($c32:ident, $c32t:ident, $c32v:ident, $c32b:ident, $c32s:ident, $c32f:path))* }
     compare64 { $(($c64:ident, $c64t:ident, $c64v:ident, $c64b:ident, $c64s:ident, $c64f:path))* }
     convert32to32 { $(($x:ident, $xv:ident, $xs:ident, $xf:path))* }
     convert32to64 { $(($w:ident, $wv:ident, $ws:ident, $wf:path))* }
     convert64to32 { $(($n:ident, $nv:ident, $ns:ident, $nf:path))* }
     convert64to64 { $(($l:ident, $lv:ident, $ls:ident, $lf:path))* }) => {
        match $op {
            $(Op::$u32v => (Flow::V1, [false; 2]), Op::$u32s => (Flow::S1, [false; 2]),)*
            $(Op::$u64v => (Flow::V1, [true; 2]), Op::$u64s => (Flow::S1, [true; 2]),)*
            $(Op::$b32v => (Flow::V2, [false; 2]), Op::$b32s => (Flow::S2, [false; 2]),)*
            $(Op::$b64v => (Flow::V2, [true; 2]), Op::$b64s => (Flow::S2, [true; 2]),)*
            $(Op::$c32v => (Flow::Compare, [false; 2]), Op::$c32b => (Flow::CompareScalar, [false; 2]),
              Op::$c32s => (Flow::S2, [false; 2]),)*
            $(Op::$c64v => (Flow::Compare, [true, false]), Op::$c64b => (Flow::CompareScalar, [true, false]),
              Op::$c64s => (Flow::S2, [true, false]),)*
            $(Op::$xv => (Flow::V1, [false; 2]), Op::$xs => (Flow::S1, [false; 2]),)*
            $(Op::$wv => (Flow::V1, [false, true]), Op::$ws => (Flow::S1, [false, true]),)*
            $(Op::$nv => (Flow::V1, [true, false]), Op::$ns => (Flow::S1, [true, false]),)*
            $(Op::$lv => (Flow::V1, [true; 2]), Op::$ls => (Flow::S1, [true; 2]),)*
            _ => (Flow::Other, [false; 2]),
        }
    };
}

/// For a computing instruction.
pub(crate) fn flow(op: Op) -> Flow {
    flow_and_widths(op).0
}

/// The same, and whether the operands and the result have 64 bits.
pub(crate) fn flow_and_widths(op: Op) -> (Flow, [bool; 2]) {
    lane_ops! { flows! { op } }
}
