//! Ids: small integers whose `Display` is their text form.

use std::fmt;

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident $prefix:literal;)*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
        pub struct $name(pub u32);
        impl $name {
            /// The index into its table.
            pub fn index(self) -> usize { self.0 as usize }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, concat!($prefix, "{}"), self.0) }
        }
    )* };
}

ids! {
    /// A temporary of a function: `%3`.
    ValueId "%";
    /// A variable of a function: `$3`.
    SlotId "$";
    /// A loop or scope of a function: `L3`.
    LabelId "L";
    /// A shared variable of a kernel: `shared3`.
    SharedId "shared";
    /// A local variable of a function: `local3`.
    LocalId "local";
    /// A variable of the module: `global3`.
    GlobalId "global";
    /// A string literal of the module: `string3`.
    StringId "string";
    /// A function of the module: `fn3`.
    FuncId "fn";
    /// A routine of a kernel: `R3`.
    RoutineId "R";
    /// A place of the module: `!3`.
    LocId "!";
}

/// Something with an address: `shared0`, `local1`, `global2`, `string3`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Object {
    /// A variable in shared memory.
    Shared(SharedId),
    /// A variable of the thread (or of the host function's frame).
    Local(LocalId),
    /// A variable of the module.
    Global(GlobalId),
    /// A string literal.
    String(StringId),
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Object::Shared(id) => id.fmt(f),
            Object::Local(id) => id.fmt(f),
            Object::Global(id) => id.fmt(f),
            Object::String(id) => id.fmt(f),
        }
    }
}
