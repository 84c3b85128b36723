//! Types of values and of memory, and the memory spaces.

use std::fmt;

/// The type of a value in a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A truth value: one bit per lane.
    I1,
    /// 32 bits; signedness is up to the operation.
    I32,
    /// 64 bits.
    I64,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// An address. The space is the known part of it: see [`Space`].
    Ptr(Space),
}

impl Type {
    /// `f32` or `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }

    /// `i32` or `i64`.
    pub fn is_int(self) -> bool {
        matches!(self, Type::I32 | Type::I64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::I1 => f.write_str("i1"),
            Type::I32 => f.write_str("i32"),
            Type::I64 => f.write_str("i64"),
            Type::F32 => f.write_str("f32"),
            Type::F64 => f.write_str("f64"),
            Type::Ptr(Space::Generic) => f.write_str("ptr"),
            Type::Ptr(space) => write!(f, "ptr.{space}"),
        }
    }
}

/// The known memory space of an address. Kernel parameters that are pointers are `global` if nothing else is ever assigned to them. If the
/// space cannot be inferred, it stays `generic`, and the address decides at run time. All pointers of host functions are `generic`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Space {
    /// Any.
    Generic,
    /// Device memory.
    Global,
    /// The block's shared memory.
    Shared,
    /// `__constant__`.
    Constant,
    /// The thread's local memory.
    Local,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Constant => "constant",
            Space::Local => "local",
        })
    }
}

/// The representation of a scalar in memory. Little-endian.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemType {
    /// `bool`: one byte, 0 or 1; any other byte reads as true. The value is `i1`.
    Bool,
    /// `signed char`: sign-extended to `i32` by a load, truncated by a store.
    S8,
    /// `unsigned char`: zero-extended.
    U8,
    /// `short`.
    S16,
    /// `unsigned short`.
    U16,
    /// `int`, `unsigned`.
    I32,
    /// `long long`.
    I64,
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// A pointer, 8 bytes, generic.
    Ptr,
}

impl MemType {
    /// Its size.
    pub fn bytes(self) -> u32 {
        match self {
            MemType::Bool | MemType::S8 | MemType::U8 => 1,
            MemType::S16 | MemType::U16 => 2,
            MemType::I32 | MemType::F32 => 4,
            MemType::I64 | MemType::F64 | MemType::Ptr => 8,
        }
    }

    /// The type of a value loaded or stored. (A pointer is loaded as a generic one.)
    pub fn value_type(self) -> Type {
        match self {
            MemType::Bool => Type::I1,
            MemType::S8 | MemType::U8 | MemType::S16 | MemType::U16 | MemType::I32 => Type::I32,
            MemType::I64 => Type::I64,
            MemType::F32 => Type::F32,
            MemType::F64 => Type::F64,
            MemType::Ptr => Type::Ptr(Space::Generic),
        }
    }
}

impl fmt::Display for MemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemType::Bool => "bool",
            MemType::S8 => "s8",
            MemType::U8 => "u8",
            MemType::S16 => "s16",
            MemType::U16 => "u16",
            MemType::I32 => "i32",
            MemType::I64 => "i64",
            MemType::F32 => "f32",
            MemType::F64 => "f64",
            MemType::Ptr => "ptr",
        })
    }
}
