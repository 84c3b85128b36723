//! Types, constants and strings in LLVM's spelling.

use std::fmt::Write;

use ir::{Const, MemType, Space, Type};

/// The number of an address space. Local pointers are generic in LLVM, whose stack is generic; it infers the space itself.
fn space_number(space: Space) -> u32 {
    match space {
        Space::Generic | Space::Local => 0,
        Space::Global => 1,
        Space::Shared => 3,
        Space::Constant => 4,
    }
}

/// A pointer type.
pub(super) fn pointer(space: Space) -> &'static str {
    match space {
        Space::Generic | Space::Local => "ptr",
        Space::Global => "ptr addrspace(1)",
        Space::Shared => "ptr addrspace(3)",
        Space::Constant => "ptr addrspace(4)",
    }
}

/// The type of a value.
pub(super) fn value(ty: Type) -> &'static str {
    match ty {
        Type::I1 => "i1",
        Type::I32 => "i32",
        Type::I64 => "i64",
        Type::F32 => "float",
        Type::F64 => "double",
        Type::Ptr(space) => pointer(space),
    }
}

/// The type of a parameter: a truth value is passed as a byte.
pub(super) fn param(ty: Type) -> &'static str {
    match ty {
        Type::I1 => "i8",
        Type::I32 | Type::I64 | Type::F32 | Type::F64 | Type::Ptr(_) => value(ty),
    }
}

/// The type of a scalar in memory.
pub(super) fn memory(ty: MemType) -> &'static str {
    match ty {
        MemType::Bool | MemType::S8 | MemType::U8 => "i8",
        MemType::S16 | MemType::U16 => "i16",
        MemType::I32 => "i32",
        MemType::I64 => "i64",
        MemType::F32 => "float",
        MemType::F64 => "double",
        MemType::Ptr => "ptr",
    }
}

/// Whether two spaces are the same in LLVM.
pub(super) fn same_space(a: Space, b: Space) -> bool {
    space_number(a) == space_number(b)
}

/// The integer type of a float's bits.
pub(super) fn bits(ty: Type) -> &'static str {
    match ty {
        Type::F64 | Type::I64 => "i64",
        Type::I1 | Type::I32 | Type::F32 | Type::Ptr(_) => "i32",
    }
}

/// The suffix of an intrinsic's name.
pub(super) fn suffix(ty: Type) -> &'static str {
    match ty {
        Type::I1 => "i1",
        Type::I32 => "i32",
        Type::I64 => "i64",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::Ptr(_) => "p0",
    }
}

/// A constant, without its type.
pub(super) fn constant(constant: Const) -> String {
    let bits = constant.bits;
    match constant.ty {
        Type::I1 => (bits & 1 != 0).to_string(),
        Type::I32 => (bits as i32).to_string(),
        Type::I64 => (bits as i64).to_string(),
        Type::F32 => format!("0x{:016X}", widened(bits as u32)),
        Type::F64 => format!("0x{bits:016X}"),
        Type::Ptr(space) if bits == 0 && space_number(space) <= 1 => "null".to_string(),
        Type::Ptr(space) => format!("inttoptr (i64 {} to {})", bits as i64, pointer(space)),
    }
}

/// LLVM writes an `f32` as the bits of the equal `f64`; a NaN keeps its payload.
fn widened(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        let sign = (bits as u64 >> 31) << 63;
        return sign | 0x7ff0_0000_0000_0000 | ((bits as u64 & 0x007f_ffff) << 29);
    }
    (value as f64).to_bits()
}

/// Bytes in double quotes, as LLVM's parser reads them.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for &byte in bytes {
        if byte.is_ascii_graphic() && byte != b'"' && byte != b'\\' || byte == b' ' {
            out.push(byte as char);
        } else {
            let _ = write!(out, "\\{byte:02X}");
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_keep_their_bits() {
        assert_eq!(constant(Const::i32(-1)), "-1");
        assert_eq!(constant(Const::f32(1.5)), "0x3FF8000000000000");
        let nan = Const {
            ty: Type::F32,
            bits: 0xff80_0001,
        };
        assert_eq!(constant(nan), "0xFFF0000020000000");
        assert_eq!(constant(Const::null(Space::Global)), "null");
        assert_eq!(quoted(b"a\"\n\\"), "\"a\\22\\0A\\5C\"");
    }
}
