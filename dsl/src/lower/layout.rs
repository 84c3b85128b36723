//! How a type is laid out in memory and in registers.
//!
//! A **leaf** is a scalar inside a type. A value in registers is the list of its leaves in memory order, so a `float4` is four operands. A
//! **piece** is what one access moves: a leaf, or 2 or 4 leaves of a vector type whose alignment is its size (`double4`: two pieces of 16
//! bytes). A union has no leaves; it moves as integers of its alignment.

use std::ops::Range;

use crate::sema::ty::{BitUnit, Field, QualTy, Record, RecordId, Records, Ty};
use ir::{MemType, Space, Type};

/// Records with more leaves than this stay in memory.
const MAX_SPLIT_LEAVES: u64 = 32;

/// The widest access.
const MAX_ACCESS_BYTES: u64 = 16;

/// One scalar of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Leaf {
    pub(super) offset_bytes: u64,
    pub(super) ty: MemType,
}

/// What one access moves: `count` leaves side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) offset_bytes: u64,
    pub(super) ty: MemType,
    pub(super) count: u8,
}

impl Piece {
    pub(super) fn bytes(self) -> u64 {
        u64::from(self.ty.bytes()) * u64::from(self.count)
    }
}

/// The memory type of a scalar; `None` for aggregates and `void`.
pub(super) fn mem_type(ty: &Ty) -> Option<MemType> {
    Some(match ty {
        Ty::Bool => MemType::Bool,
        Ty::Char | Ty::SChar => MemType::S8,
        Ty::UChar => MemType::U8,
        Ty::Short => MemType::S16,
        Ty::UShort => MemType::U16,
        Ty::Int | Ty::UInt => MemType::I32,
        Ty::Enum(id) => return mem_type(id.1.ty()),
        Ty::Long | Ty::ULong | Ty::LongLong | Ty::ULongLong => MemType::I64,
        Ty::Float => MemType::F32,
        Ty::Double => MemType::F64,
        Ty::Pointer(_) => MemType::Ptr,
        Ty::Void | Ty::Array(..) | Ty::Record(_) | Ty::Function(_) | Ty::Error => return None,
    })
}

/// The type of a scalar in registers. Sema passes only scalars.
pub(super) fn value_type(ty: &Ty) -> Type {
    mem_type(ty).map_or(Type::I32, MemType::value_type)
}

/// Whether values of the type are read as unsigned; pointers are.
pub(super) fn is_unsigned(ty: &Ty) -> bool {
    let ty = match ty {
        Ty::Enum(id) => id.1.ty(),
        ty => ty,
    };
    matches!(
        ty,
        Ty::Bool | Ty::UChar | Ty::UShort | Ty::UInt | Ty::ULong | Ty::ULongLong | Ty::Pointer(_)
    )
}

/// The type of all pointers before their spaces are inferred.
pub(super) const GENERIC: Type = Type::Ptr(Space::Generic);

/// Element type and dimensions, outermost first; `[]` counts as 0.
pub(super) fn array_dims(ty: &Ty) -> (&Ty, Vec<u64>) {
    let mut dims = vec![];
    let mut element = ty;
    while let Ty::Array(inner, n) = element {
        dims.push(n.unwrap_or(0));
        element = &inner.ty;
    }
    (element, dims)
}

/// Answers questions about types that need the program's records.
#[derive(Clone, Copy)]
pub(super) struct Layout<'p> {
    records: &'p Records,
}

impl<'p> Layout<'p> {
    pub(super) fn new(records: &'p Records) -> Layout<'p> {
        Layout { records }
    }

    pub(super) fn record(self, id: RecordId) -> &'p Record {
        &self.records[id]
    }

    /// Size in bytes; 0 for `void` and `[]`.
    pub(super) fn size(self, ty: &Ty) -> u64 {
        match ty {
            Ty::Array(element, n) => self.size(&element.ty).saturating_mul(n.unwrap_or(0)),
            Ty::Record(id) => self.record(*id).size_bytes,
            scalar => mem_type(scalar).map_or(0, |mem| u64::from(mem.bytes())),
        }
    }

    /// The distance between elements of the type; `void` counts as 1, as in GCC and nvcc.
    pub(super) fn stride(self, ty: &Ty) -> i64 {
        match ty {
            Ty::Void | Ty::Function(_) => 1,
            other => self.size(other) as i64,
        }
    }

    pub(super) fn align(self, ty: &Ty) -> u64 {
        match ty {
            Ty::Array(element, _) => self.align(&element.ty),
            Ty::Record(id) => self.record(*id).align_bytes.max(1),
            scalar => mem_type(scalar).map_or(1, |mem| u64::from(mem.bytes())),
        }
    }

    /// The number of leaves.
    pub(super) fn leaf_count(self, ty: &Ty) -> u64 {
        match ty {
            Ty::Array(element, n) => self.leaf_count(&element.ty).saturating_mul(n.unwrap_or(0)),
            Ty::Record(id) => {
                let record = self.record(*id);
                if record.is_union {
                    return record.size_bytes / union_unit(record);
                }
                let counts = members(record).into_iter().map(|member| match member {
                    Member::Field(field) => self.leaf_count(&field.ty.ty),
                    Member::Unit(_) => 1,
                });
                counts.fold(0, u64::saturating_add)
            }
            scalar => u64::from(mem_type(scalar).is_some()),
        }
    }

    /// All leaves in memory order.
    pub(super) fn leaves(self, ty: &Ty) -> Vec<Leaf> {
        let pieces = self.pieces(ty);
        let leaves = pieces.iter().flat_map(|piece| {
            (0..u64::from(piece.count)).map(|i| Leaf {
                offset_bytes: piece.offset_bytes + i * u64::from(piece.ty.bytes()),
                ty: piece.ty,
            })
        });
        leaves.collect()
    }

    /// The accesses that move a whole value, in memory order.
    pub(super) fn pieces(self, ty: &Ty) -> Vec<Piece> {
        let mut pieces = vec![];
        self.add_pieces(ty, 0, &mut pieces);
        pieces
    }

    fn add_pieces(self, ty: &Ty, offset_bytes: u64, pieces: &mut Vec<Piece>) {
        match ty {
            Ty::Array(element, n) => {
                let size = self.size(&element.ty);
                for i in 0..n.unwrap_or(0) {
                    self.add_pieces(&element.ty, offset_bytes + i * size, pieces);
                }
            }
            Ty::Record(id) => self.add_record_pieces(self.record(*id), offset_bytes, pieces),
            scalar => pieces.extend(mem_type(scalar).map(|ty| Piece {
                offset_bytes,
                ty,
                count: 1,
            })),
        }
    }

    fn add_record_pieces(self, record: &Record, offset_bytes: u64, pieces: &mut Vec<Piece>) {
        let mut run = |unit: MemType, per_access: u64, total: u64| {
            for first in (0..total).step_by(per_access as usize) {
                pieces.push(Piece {
                    offset_bytes: offset_bytes + first * u64::from(unit.bytes()),
                    ty: unit,
                    count: per_access as u8,
                });
            }
        };
        if record.is_union {
            let unit = union_unit(record);
            run(integer_of(unit), 1, record.size_bytes / unit);
        } else if let Some((component, per_access)) = self.vector_access(record) {
            run(component, per_access, record.fields.len() as u64);
        } else {
            for member in members(record) {
                match member {
                    Member::Field(field) => {
                        self.add_pieces(&field.ty.ty, offset_bytes + field.offset_bytes, pieces);
                    }
                    Member::Unit(unit) => pieces.push(Piece {
                        offset_bytes: offset_bytes + unit.offset_bytes,
                        ty: integer_of(unit.bytes.into()),
                        count: 1,
                    }),
                }
            }
        }
    }

    /// For a vector type that moves in wide accesses: its component, and how many of them one access moves.
    fn vector_access(self, record: &Record) -> Option<(MemType, u64)> {
        let n = record.fields.len() as u64;
        let component = self.only_scalar(&record.fields.first()?.ty.ty)?;
        let width = record.size_bytes.min(MAX_ACCESS_BYTES);
        let is_wide = record.is_vector && matches!(n, 2 | 4) && record.align_bytes >= width;
        is_wide.then(|| {
            (
                component,
                n.min(MAX_ACCESS_BYTES / u64::from(component.bytes())),
            )
        })
    }

    /// A scalar, or the only scalar of a record (as of a `half`).
    fn only_scalar(self, ty: &Ty) -> Option<MemType> {
        match ty {
            Ty::Record(id) => match self.record(*id).fields.as_slice() {
                [field] => self.only_scalar(&field.ty.ty),
                _ => None,
            },
            ty => mem_type(ty),
        }
    }

    /// Which leaves of a record (not a union) belong to a field. For a bit-field, all units that contain it and its neighbours.
    pub(super) fn field_leaves(self, record: &Record, field: u32) -> Range<usize> {
        let field = &record.fields[field as usize];
        let mut leaves = 0..0;
        for member in members(record) {
            let count = match member {
                Member::Field(other) => self.leaf_count(&other.ty.ty) as usize,
                Member::Unit(_) => 1,
            };
            let is_own = match (member, field.bits) {
                (Member::Field(other), _) => std::ptr::eq(other, field),
                (Member::Unit(unit), Some(bits)) => unit.run == bits.run,
                (Member::Unit(_), None) => false,
            };
            if is_own {
                leaves.end += count;
            } else if leaves.is_empty() {
                leaves = leaves.end + count..leaves.end + count;
            } else {
                break;
            }
        }
        leaves
    }

    /// Whether a variable of the type can live in slots: a scalar, or a small record without arrays and unions.
    pub(super) fn splits(self, ty: &Ty) -> bool {
        match ty {
            Ty::Record(id) => {
                let fields = &self.record(*id).fields;
                !self.record(*id).is_union
                    && self.leaf_count(ty) <= MAX_SPLIT_LEAVES
                    && fields.iter().all(|field| self.splits(&field.ty.ty))
            }
            scalar => mem_type(scalar).is_some(),
        }
    }

    /// Names and types of a parameter's leaves: `p.x` is a `float`. Pieces of unions are named by their offset.
    pub(super) fn named_leaves(self, name: &str, ty: &QualTy) -> Vec<(String, QualTy)> {
        match &ty.ty {
            Ty::Array(element, n) => (0..n.unwrap_or(0))
                .flat_map(|i| self.named_leaves(&format!("{name}[{i}]"), element))
                .collect(),
            Ty::Record(id) if self.record(*id).is_union => self
                .leaves(&ty.ty)
                .into_iter()
                .map(|leaf| {
                    let ty = if leaf.ty == MemType::I64 {
                        Ty::ULongLong
                    } else {
                        Ty::UInt
                    };
                    (format!("{name}@{}", leaf.offset_bytes), ty.into())
                })
                .collect(),
            Ty::Record(id) => members(self.record(*id))
                .into_iter()
                .flat_map(|member| match member {
                    Member::Field(field) => {
                        let dot = if field.name.is_empty() { "" } else { "." };
                        self.named_leaves(&format!("{name}{dot}{}", field.name), &field.ty)
                    }
                    Member::Unit(unit) => {
                        let ty = match unit.bytes {
                            1 => Ty::UChar,
                            2 => Ty::UShort,
                            8 => Ty::ULongLong,
                            _ => Ty::UInt,
                        };
                        vec![(format!("{name}@{}", unit.offset_bytes), ty.into())]
                    }
                })
                .collect(),
            scalar if mem_type(scalar).is_some() => vec![(name.to_string(), ty.clone())],
            _ => vec![],
        }
    }

    /// The type as a C programmer writes it: `const float *`, `int [4]`.
    pub(super) fn c_type(self, ty: &QualTy) -> String {
        let qualifiers = [(ty.is_const, "const"), (ty.is_volatile, "volatile")];
        let mut words: Vec<String> = qualifiers
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, word)| word.to_string())
            .collect();
        match &ty.ty {
            Ty::Pointer(pointee) => {
                let pointee = match &pointee.ty {
                    Ty::Array(..) => format!("{} (*)", self.c_type(pointee)),
                    Ty::Pointer(_) => format!("{}*", self.c_type(pointee)),
                    _ => format!("{} *", self.c_type(pointee)),
                };
                words.insert(0, pointee);
            }
            array @ Ty::Array(element, _) => {
                let (_, dims) = array_dims(array);
                let mut inner = element.as_ref();
                while let Ty::Array(next, _) = &inner.ty {
                    inner = next.as_ref();
                }
                let dims: String = dims.iter().map(|n| format!("[{n}]")).collect();
                words.push(format!("{} {dims}", self.c_type(inner)));
            }
            Ty::Record(id) => words.push(self.record(*id).name.clone()),
            scalar => words.push(scalar_name(scalar).to_string()),
        }
        words.join(" ")
    }
}

fn scalar_name(ty: &Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::Char => "char",
        Ty::SChar => "signed char",
        Ty::UChar => "unsigned char",
        Ty::Short => "short",
        Ty::UShort => "unsigned short",
        Ty::Int => "int",
        Ty::Enum(id) => scalar_name(id.1.ty()),
        Ty::UInt => "unsigned int",
        Ty::Long => "long",
        Ty::ULong => "unsigned long",
        Ty::LongLong => "long long",
        Ty::ULongLong => "unsigned long long",
        Ty::Float => "float",
        Ty::Double => "double",
        Ty::Void | Ty::Pointer(_) | Ty::Array(..) | Ty::Record(_) | Ty::Function(_) | Ty::Error => {
            "void"
        }
    }
}

/// The size of the integers that a union moves as.
fn union_unit(record: &Record) -> u64 {
    record.align_bytes.clamp(1, 8)
}

/// The parts of a record, in order: its bit-fields are only visible as their units.
#[derive(Clone, Copy)]
enum Member<'r> {
    Field(&'r Field),
    Unit(&'r BitUnit),
}

fn members(record: &Record) -> Vec<Member<'_>> {
    let mut members = vec![];
    let mut last_run = None;
    for field in &record.fields {
        match field.bits {
            None => members.push(Member::Field(field)),
            Some(bits) if last_run == Some(bits.run) => {}
            Some(bits) => {
                last_run = Some(bits.run);
                let units = record.units.iter().filter(|unit| unit.run == bits.run);
                members.extend(units.map(Member::Unit));
            }
        }
    }
    members
}

pub(super) fn integer_of(bytes: u64) -> MemType {
    match bytes {
        1 => MemType::U8,
        2 => MemType::U16,
        4 => MemType::I32,
        _ => MemType::I64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(component: Ty, n: u64, align_bytes: u64) -> Record {
        let bytes = u64::from(mem_type(&component).unwrap().bytes());
        let fields = (0..n).map(|i| Field {
            name: ["x", "y", "z", "w"][i as usize].into(),
            ty: component.clone().into(),
            offset_bytes: i * bytes,
            bits: None,
        });
        Record {
            name: "v".into(),
            is_union: false,
            is_vector: true,
            fields: fields.collect(),
            size_bytes: n * bytes,
            data_bytes: n * bytes,
            align_bytes,
            units: Vec::new(),
            span: None,
        }
    }

    /// Offset, width in bytes and components of each access.
    fn accesses(record: Record) -> Vec<(u64, u64, u8)> {
        let records = [record];
        let pieces = Layout::new(&records.into_iter().collect()).pieces(&Ty::Record(RecordId(0)));
        pieces
            .iter()
            .map(|piece| (piece.offset_bytes, piece.bytes(), piece.count))
            .collect()
    }

    #[test]
    fn a_vector_aligned_to_its_size_is_one_access() {
        assert_eq!(accesses(vector(Ty::Float, 4, 16)), [(0, 16, 4)]);
        assert_eq!(accesses(vector(Ty::UChar, 4, 4)), [(0, 4, 4)]);
        assert_eq!(accesses(vector(Ty::Double, 2, 16)), [(0, 16, 2)]);
    }

    #[test]
    fn thirty_two_bytes_are_two_accesses() {
        assert_eq!(
            accesses(vector(Ty::Double, 4, 16)),
            [(0, 16, 2), (16, 16, 2)]
        );
    }

    #[test]
    fn three_components_move_one_by_one() {
        assert_eq!(
            accesses(vector(Ty::Float, 3, 4)),
            [(0, 4, 1), (4, 4, 1), (8, 4, 1)]
        );
    }

    #[test]
    fn a_union_moves_as_integers() {
        let union = Record {
            is_union: true,
            is_vector: false,
            size_bytes: 16,
            ..vector(Ty::Double, 2, 8)
        };
        assert_eq!(accesses(union), [(0, 8, 1), (8, 8, 1)]);
    }
}
