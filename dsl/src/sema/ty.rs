//! The types of the language, with C's layout on a 64-bit machine (`long` and pointers are 8 bytes).

use crate::arena::{Arena, ids};
use std::sync::Arc;

use ir::span::Span;

/// A type without qualifiers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ty {
    /// `void`.
    #[default]
    Void,
    /// `bool`.
    Bool,
    /// `char`, which is signed.
    Char,
    /// `signed char`.
    SChar,
    /// `unsigned char`.
    UChar,
    /// `short`.
    Short,
    /// `unsigned short`.
    UShort,
    /// `int`.
    Int,
    /// `unsigned int`.
    UInt,
    /// `long`, 8 bytes.
    Long,
    /// `unsigned long`, 8 bytes; `size_t`.
    ULong,
    /// `long long`.
    LongLong,
    /// `unsigned long long`.
    ULongLong,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `T *`.
    Pointer(Arc<QualTy>),
    /// `T [n]`; `None` for `[]`.
    Array(Arc<QualTy>, Option<u64>),
    /// A struct, union or vector type.
    Record(RecordId),
    /// An enumeration; an `int` in all arithmetic.
    Enum(EnumId),
    /// A function; only ever called, launched or named as an argument of a runtime call.
    Function(Arc<FunctionTy>),
    /// The type of a member, parameter or function whose declaration is invalid, which has been reported. No value has this type: each use
    /// of the declaration is an error at once.
    Error,
}

impl Ty {
    /// Whether the declaration with this type is valid.
    pub(crate) fn is_understood(&self) -> bool {
        !matches!(self, Ty::Error)
    }
}

/// A type with qualifiers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct QualTy {
    /// The type.
    pub ty: Ty,
    /// `const`.
    pub is_const: bool,
    /// `volatile`.
    pub is_volatile: bool,
}

impl From<Ty> for QualTy {
    fn from(ty: Ty) -> QualTy {
        QualTy {
            ty,
            is_const: false,
            is_volatile: false,
        }
    }
}

/// The type of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionTy {
    /// What it returns.
    pub result: Ty,
    /// Its parameters' types, arrays decayed; for a reference, the type that it refers to. Qualifiers only matter there.
    pub params: Vec<QualTy>,
    /// Which of the parameters are references.
    pub references: Vec<bool>,
}

ids! {
    /// A struct, union or vector type of the program.
    pub struct RecordId;
}

/// The records of a program.
pub type Records = Arena<RecordId, Record>;

/// An enumeration of the program: its index, and the type that its values are stored in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct EnumId(pub u32, pub Underlying);

impl EnumId {
    /// Its index among the enumerations.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The integer type that an enumeration's values are stored in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Underlying {
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
}

impl Underlying {
    /// The type.
    pub fn ty(self) -> &'static Ty {
        match self {
            Underlying::Char => &Ty::Char,
            Underlying::SChar => &Ty::SChar,
            Underlying::UChar => &Ty::UChar,
            Underlying::Short => &Ty::Short,
            Underlying::UShort => &Ty::UShort,
            Underlying::Int => &Ty::Int,
            Underlying::UInt => &Ty::UInt,
            Underlying::Long => &Ty::Long,
            Underlying::ULong => &Ty::ULong,
            Underlying::LongLong => &Ty::LongLong,
            Underlying::ULongLong => &Ty::ULongLong,
        }
    }

    /// The variant for this type, if there is one.
    pub fn of(ty: &Ty) -> Option<Underlying> {
        Some(match ty {
            Ty::Char => Underlying::Char,
            Ty::SChar => Underlying::SChar,
            Ty::UChar => Underlying::UChar,
            Ty::Short => Underlying::Short,
            Ty::UShort => Underlying::UShort,
            Ty::Int => Underlying::Int,
            Ty::UInt => Underlying::UInt,
            Ty::Long => Underlying::Long,
            Ty::ULong => Underlying::ULong,
            Ty::LongLong => Underlying::LongLong,
            Ty::ULongLong => Underlying::ULongLong,
            _ => return None,
        })
    }
}

/// A record's members and layout.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// `Point`, `float4`; `<unnamed struct>` if it has no name.
    pub name: String,
    /// Members overlap.
    pub is_union: bool,
    /// Whether it is one of CUDA's vector types of 1, 2, 3 or 4 components. A load or store of a whole one with 2 or 4 is a single access
    /// when its alignment equals its size.
    pub is_vector: bool,
    /// The members in order.
    pub fields: Vec<Field>,
    /// Size in bytes, padded to the alignment.
    pub size_bytes: u64,
    /// Where the members of a derived class may begin: the size, or less if the padding may be reused.
    pub data_bytes: u64,
    /// Alignment in bytes.
    pub align_bytes: u64,
    /// The units that contain its bit-fields, in order.
    pub units: Vec<BitUnit>,
    /// Where it is declared; `None` for built-in ones.
    pub span: Option<Span>,
}

/// The placeholder name of an unnamed struct, union or enumeration.
pub(crate) fn unnamed(word: &str) -> String {
    format!("<unnamed {word}>")
}

/// Whether the name is such a placeholder: no name of a program begins like this.
pub(crate) fn is_unnamed(name: &str) -> bool {
    name.starts_with("<unnamed ")
}

/// A member of a record.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// Its name; empty for an unnamed struct or union whose members are reached through the record.
    pub name: String,
    /// Its type.
    pub ty: QualTy,
    /// Where it starts; for a bit-field, the byte with its first bit.
    pub offset_bytes: u64,
    /// Its bits, if it is a bit-field.
    pub bits: Option<Bits>,
}

/// The bits of its record that a bit-field occupies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    /// The first bit, counted from the lowest bit of the record's first byte.
    pub first: u64,
    /// The number of bits.
    pub width: u32,
    /// Bit-fields with the same number are adjacent, without a separator in the sense of C++ between them: they share the record's units.
    pub run: u32,
}

/// Bytes that contain bit-fields, and that are read and written as one integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BitUnit {
    /// Where it starts.
    pub offset_bytes: u64,
    /// 1, 2, 4 or 8.
    pub bytes: u32,
    /// The `run` of its bit-fields.
    pub run: u32,
}
