//! Instructions of fixed form: operands of given types, at most one result. Text, typing, verification and the facts for every analysis
//! come from one row each.
//!
//! A row has the word in the IR's text, the operands' types, the result's type if there is one, the effect, and the functions that may
//! contain it. The meaning is defined where it is executed: `interp/src/compile/inst.rs` and `codegen-ptx/src/emit/inst/collective.rs`
//! match on all of them.

use super::{Effect, Space, Stands, Type, op::named};
use std::fmt;

macro_rules! intrinsics {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal ($($operand:expr),*) $(-> $result:expr)?, $effect:ident, $stands:ident;)*) => {
        named! {
            /// An instruction of fixed form.
            Intrinsic { $($(#[doc = $doc])* $name = $text,)* }
        }

        impl Intrinsic {
            /// The operands' types.
            pub fn operands(self) -> &'static [Type] {
                match self { $(Intrinsic::$name => &[$($operand),*],)* }
            }
            /// The result's type.
            pub fn result(self) -> Option<Type> {
                match self { $(Intrinsic::$name => None$(.or(Some($result)))?,)* }
            }
            /// Its effect.
            pub fn effect(self) -> Effect {
                match self { $(Intrinsic::$name => Effect::$effect,)* }
            }
            /// The functions that may contain it.
            pub fn stands(self) -> Stands {
                match self { $(Intrinsic::$name => Stands::$stands,)* }
            }
        }
    };
}

intrinsics! {
    /// `__syncwarp(mask)`.
    SyncWarp = "syncwarp" (Type::I32), Order, Kernel;
    /// PTX's `bar.sync a, b`: waits at barrier `a` of the block for `b` threads, or for all if `b` is 0. Whole warps arrive.
    BarSync = "barsync" (Type::I32, Type::I32), Order, Kernel;
    /// PTX's `bar.arrive a, b`: counts as one of the threads that barrier `a` waits for, and continues.
    BarArrive = "bararrive" (Type::I32, Type::I32), Order, Kernel;
    /// PTX's `barrier.sync a, b`: like `bar.sync`, but each lane arrives separately.
    BarrierSync = "barriersync" (Type::I32, Type::I32), Order, Kernel;
    /// PTX's `barrier.arrive a, b`.
    BarrierArrive = "barrierarrive" (Type::I32, Type::I32), Order, Kernel;
    /// `__nanosleep(t)`: the lane waits for about this many nanoseconds. Has no other effect.
    Nanosleep = "nanosleep" (Type::I32), Act, Kernel;
    /// `__trap()`.
    Trap = "trap" (), Act, Kernel;
    /// A call through a pointer that does not point to a function.
    BadCall = "badcall" (), Act, Anywhere;
    /// A call of a virtual function of an object with an unknown mark.
    BadObject = "badobject" (), Act, Anywhere;
    /// `malloc(n)`: memory from the device's heap, or null.
    HeapMalloc = "heapmalloc" (Type::I64) -> Type::Ptr(Space::Generic), Act, Kernel;
    /// `free(p)` of such memory.
    HeapFree = "heapfree" (Type::Ptr(Space::Generic)), Act, Kernel;
    /// `__isShared(p)`: 1 if a generic pointer is in the window of shared memory, else 0. The others are similar.
    IsShared = "isshared" (Type::Ptr(Space::Generic)) -> Type::I32, Pure, Kernel;
    /// `__isLocal(p)`.
    IsLocal = "islocal" (Type::Ptr(Space::Generic)) -> Type::I32, Pure, Kernel;
    /// `__isConstant(p)`.
    IsConstant = "isconstant" (Type::Ptr(Space::Generic)) -> Type::I32, Pure, Kernel;
    /// `__isGlobal(p)`.
    IsGlobal = "isglobal" (Type::Ptr(Space::Generic)) -> Type::I32, Pure, Kernel;
}
