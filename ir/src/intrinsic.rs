//! Instructions of fixed form: operands of given types, at most one result. One row each, from which text, typing, verification
//! and what every analysis has to know come.
//!
//! A row says the word in the IR's text, the operands' types, the result's type if there is one, the effect, and where the
//! instruction may stand. What it does is said where it is executed: `interp/src/compile/inst.rs` and
//! `codegen-ptx/src/emit/inst/collective.rs` match on all of them.

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
            /// What it does.
            pub fn effect(self) -> Effect {
                match self { $(Intrinsic::$name => Effect::$effect,)* }
            }
            /// Where it may stand.
            pub fn stands(self) -> Stands {
                match self { $(Intrinsic::$name => Stands::$stands,)* }
            }
        }
    };
}

intrinsics! {
    /// `__syncwarp(mask)`.
    SyncWarp = "syncwarp" (Type::I32), Order, Kernel;
    /// PTX's `bar.sync a, b`: waits at barrier `a` of the block for `b` threads, or for all if `b` is 0. Whole warps come together.
    BarSync = "barsync" (Type::I32, Type::I32), Order, Kernel;
    /// PTX's `bar.arrive a, b`: is one of the threads that barrier `a` waits for, and goes on.
    BarArrive = "bararrive" (Type::I32, Type::I32), Order, Kernel;
    /// PTX's `barrier.sync a, b`: as `bar.sync`, and each lane comes when it comes.
    BarrierSync = "barriersync" (Type::I32, Type::I32), Order, Kernel;
    /// PTX's `barrier.arrive a, b`.
    BarrierArrive = "barrierarrive" (Type::I32, Type::I32), Order, Kernel;
    /// `__nanosleep(t)`: the lane waits for about so many nanoseconds. Changes nothing.
    Nanosleep = "nanosleep" (Type::I32), Act, Kernel;
    /// `__trap()`.
    Trap = "trap" (), Act, Kernel;
    /// A call through a pointer that is not a function's.
    BadCall = "badcall" (), Act, Anywhere;
    /// A call of a virtual function of an object with no mark that is known.
    BadObject = "badobject" (), Act, Anywhere;
    /// `malloc(n)`: memory of the device's heap, or null.
    HeapMalloc = "heapmalloc" (Type::I64) -> Type::Ptr(Space::Generic), Act, Kernel;
    /// `free(p)` of such memory.
    HeapFree = "heapfree" (Type::Ptr(Space::Generic)), Act, Kernel;
    /// `__isShared(p)`: 1 if a generic pointer is in the window of shared memory, else 0; so the others.
    IsShared = "isshared" (Type::Ptr(Space::Generic)) -> Type::I32, Pure, Kernel;
    /// `__isLocal(p)`.
    IsLocal = "islocal" (Type::Ptr(Space::Generic)) -> Type::I32, Pure, Kernel;
    /// `__isConstant(p)`.
    IsConstant = "isconstant" (Type::Ptr(Space::Generic)) -> Type::I32, Pure, Kernel;
    /// `__isGlobal(p)`.
    IsGlobal = "isglobal" (Type::Ptr(Space::Generic)) -> Type::I32, Pure, Kernel;
}
