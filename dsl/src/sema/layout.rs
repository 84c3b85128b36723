//! Sizes, alignments and offsets, as in C on x86-64 and in CUDA device code (the two agree).
//!
//! In: the members of a record. Out: their offsets, the record's size and alignment. A record whose members are not yet known is
//! "incomplete" and has neither; `size_of` then returns `None`.

use super::{
    classify::Classify,
    ty::{BitUnit, Bits, Field, QualTy, Record, Ty},
};
use crate::sema::ty::{RecordId, Records};

/// Size in bytes; `None` for incomplete types, functions and `void`.
pub(crate) fn size_of(ty: &Ty, records: &Records) -> Option<u64> {
    match ty {
        Ty::Bool => Some(1),
        Ty::Array(element, Some(n)) => size_of(&element.ty, records)?.checked_mul(*n),
        Ty::Record(id) => {
            let record = &records[*id];
            is_complete(record).then_some(record.size_bytes)
        }
        Ty::Void | Ty::Array(_, None) | Ty::Function(_) | Ty::Error => None,
        scalar => Some(u64::from(scalar.bits() / 8)),
    }
}

/// Alignment in bytes; 1 for types without one.
pub(crate) fn align_of(ty: &Ty, records: &Records) -> u64 {
    match ty {
        Ty::Array(element, _) => align_of(&element.ty, records),
        Ty::Record(id) => records[*id].align_bytes.max(1),
        other => size_of(other, records).unwrap_or(1).max(1),
    }
}

/// Incomplete records have alignment 0.
pub(crate) fn is_complete(record: &Record) -> bool {
    record.align_bytes != 0
}

/// How members are placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RecordKind {
    /// One after the other.
    Struct,
    /// One after the other; the first is a base class, which occupies no space if it is empty.
    Derived,
    /// All at the beginning.
    Union,
}

/// The space that a record occupies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub(crate) size_bytes: u64,
    pub(crate) align_bytes: u64,
    /// The end of its last member.
    pub(crate) used_bytes: u64,
}

/// Bits between a record's members: an unnamed bit-field.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Gap {
    /// The index of the member after it.
    pub(crate) before: usize,
    pub(crate) ty: Ty,
    /// If it is 0, the next bit-field begins at its type's alignment.
    pub(crate) width: u32,
}

/// Places the members and returns size and alignment. A bit-field goes to the next bit, unless it would then straddle two units of its
/// type: so in `char c; int b : 5;` it is in the second byte.
pub(crate) fn place_fields(
    fields: &mut [Field],
    gaps: &[Gap],
    kind: RecordKind,
    least_align: u64,
    records: &Records,
) -> Option<Extent> {
    // Free bits in the last byte of bit-fields are not counted.
    let mut size_bits = 0u64;
    let mut align = least_align.max(1);
    let mut run = 0u32;
    // Two subobjects of one empty class have different addresses, as in the C++ ABI of host compilers: the later member is moved.
    let mut taken: Vec<(RecordId, u64)> = vec![];
    for i in 0..=fields.len() {
        for gap in gaps.iter().filter(|gap| gap.before == i) {
            let unit_bits = size_of(&gap.ty, records)?.checked_mul(8)?;
            let begin = match kind {
                RecordKind::Union => 0,
                RecordKind::Struct | RecordKind::Derived => {
                    first_bit(size_bits, unit_bits, gap.width)?
                }
            };
            size_bits = size_bits.max(begin.checked_add(gap.width.into())?);
            run += u32::from(gap.width == 0);
        }
        let Some(field) = fields.get_mut(i) else {
            break;
        };
        let mut field_size = size_of(&field.ty.ty, records)?;
        let field_align = align_of(&field.ty.ty, records);
        align = align.max(field_align);
        if let Some(bits) = &mut field.bits {
            if kind == RecordKind::Union {
                run += 1;
            } else {
                bits.first = first_bit(size_bits, field_size.checked_mul(8)?, bits.width)?;
                field.offset_bytes = bits.first / 8;
            }
            bits.run = run;
            size_bits = size_bits.max(bits.first.checked_add(bits.width.into())?);
            continue;
        }
        run += 1;
        if let (0, RecordKind::Derived, Ty::Record(base)) = (i, kind, &field.ty.ty) {
            field_size = match is_empty(&field.ty.ty, records) {
                true => 0,
                false => records[*base].data_bytes,
            };
        }
        let mut offset = match kind {
            RecordKind::Union => 0,
            RecordKind::Struct | RecordKind::Derived => size_bits
                .div_ceil(8)
                .checked_next_multiple_of(field_align)?,
        };
        if kind != RecordKind::Union {
            let own = empty_parts(&field.ty.ty, records);
            let is_taken = |offset: u64| {
                let mut own = own.iter();
                own.any(|&(class, at)| taken.contains(&(class, offset + at)))
            };
            while is_taken(offset) {
                offset = offset.checked_add(field_align)?;
            }
            field.offset_bytes = offset;
            // Only an empty base can share its address with a member.
            if i == 0 && kind == RecordKind::Derived {
                taken = own;
            }
        }
        size_bits = size_bits.max(offset.checked_add(field_size)?.checked_mul(8)?);
    }
    let used_bytes = size_bits.div_ceil(8);
    // An empty struct has size 1 in C++.
    Some(Extent {
        size_bytes: used_bytes.max(1).checked_next_multiple_of(align)?,
        align_bytes: align,
        used_bytes,
    })
}

/// The first bit of a bit-field that comes after `after` bits and whose type has `unit_bits`.
fn first_bit(after: u64, unit_bits: u64, width: u32) -> Option<u64> {
    let fits = width > 0 && after % unit_bits + u64::from(width) <= unit_bits;
    match fits {
        true => Some(after),
        false => after.checked_next_multiple_of(unit_bits),
    }
}

/// The units of a record's bit-fields: integers of their types where they overlap nothing else, else of fewer bytes. `end_bytes` is the end
/// of the record, without the bytes that a derived class may use. In `struct { char c; int a : 5; int b : 20; }` the units are the bytes 1,
/// 2 to 3 and 4 to 7.
pub(crate) fn bit_units(fields: &[Field], end_bytes: u64, records: &Records) -> Vec<BitUnit> {
    let mut units: Vec<BitUnit> = vec![];
    for (i, field) in fields.iter().enumerate() {
        let Some(Bits { run, first, .. }) = field.bits else {
            continue;
        };
        if units.last().is_some_and(|unit| unit.run == run) {
            continue;
        }
        let of_run = |field: &&Field| field.bits.is_some_and(|bits| bits.run == run);
        let all: Vec<&Field> = fields[i..].iter().take_while(of_run).collect();
        let next = fields.get(i + all.len()).map(|field| field.offset_bytes);
        // The members of a union all have the same offset.
        let limit = next.filter(|next| *next > first / 8).unwrap_or(end_bytes);
        let ends = all
            .iter()
            .filter_map(|field| field.bits)
            .map(|bits| (bits.first + u64::from(bits.width)).div_ceil(8));
        let end = ends.max().unwrap_or(0);
        let mut offset = first / 8;
        while offset < end {
            // The widest type of the bit-fields within 8 bytes.
            let is_near = |field: &&&Field| {
                let bits = field.bits;
                bits.is_some_and(|Bits { first, width, .. }| {
                    first < (offset + 8) * 8 && first + u64::from(width) > offset * 8
                })
            };
            let near = all.iter().filter(is_near);
            let widest = near.filter_map(|field| size_of(&field.ty.ty, records));
            let widest = widest.max().unwrap_or(1);
            let fits = |bytes: &u32| {
                let bytes = u64::from(*bytes);
                bytes <= widest && offset % bytes == 0 && offset + bytes <= limit
            };
            let bytes = [8, 4, 2].into_iter().find(fits).unwrap_or(1);
            units.push(BitUnit {
                offset_bytes: offset,
                bytes,
                run,
            });
            offset += u64::from(bytes);
        }
    }
    units
}

/// The number of scalars in a type.
pub(crate) fn scalar_count(ty: &Ty, records: &Records) -> u64 {
    match ty {
        Ty::Array(element, n) => scalar_count(&element.ty, records).saturating_mul(n.unwrap_or(0)),
        Ty::Record(id) => {
            let fields = records[*id].fields.iter();
            let counts = fields.map(|field| scalar_count(&field.ty.ty, records));
            counts.fold(0, u64::saturating_add)
        }
        _ => 1,
    }
}

/// The subobjects of a class that are empty classes, itself included, with their offsets.
fn empty_parts(ty: &Ty, records: &Records) -> Vec<(RecordId, u64)> {
    let mut found = vec![];
    let mut open = vec![(ty, 0u64)];
    while let Some((ty, at)) = open.pop() {
        match ty {
            Ty::Array(element, _) => open.push((&element.ty, at)),
            Ty::Record(id) => {
                if is_empty(ty, records) {
                    found.push((*id, at));
                }
                let fields = records[*id].fields.iter();
                open.extend(fields.map(|field| (&field.ty.ty, at + field.offset_bytes)));
            }
            _ => {}
        }
    }
    found
}

/// A class without data.
pub(crate) fn is_empty(ty: &Ty, records: &Records) -> bool {
    match ty {
        Ty::Record(id) => records[*id]
            .fields
            .iter()
            .all(|field| field.name.is_empty() && is_empty(&field.ty.ty, records)),
        _ => false,
    }
}

/// CUDA's vector types: component type, number of components and alignment of `float4`, `uchar2`, `dim3` …
pub(crate) fn vector_type(name: &str) -> Option<(Ty, u32, u64)> {
    if name == "dim3" {
        return Some((Ty::UInt, 3, 4));
    }
    let (base, digit) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let count = match digit {
        "1" => 1,
        "2" => 2,
        "3" => 3,
        "4" => 4,
        _ => return None,
    };
    let component = match base {
        "char" => Ty::SChar,
        "uchar" => Ty::UChar,
        "short" => Ty::Short,
        "ushort" => Ty::UShort,
        "int" => Ty::Int,
        "uint" => Ty::UInt,
        "long" => Ty::Long,
        "ulong" => Ty::ULong,
        "longlong" => Ty::LongLong,
        "ulonglong" => Ty::ULongLong,
        "float" => Ty::Float,
        "double" => Ty::Double,
        _ => return None,
    };
    let bytes = u64::from(component.bits() / 8);
    // Three components keep the component's alignment; 32-byte vectors are aligned to 16.
    let align = if count == 3 {
        bytes
    } else {
        (bytes * u64::from(count)).min(16)
    };
    Some((component, count, align))
}

/// The record of a vector type.
pub(crate) fn vector_record(name: &str) -> Option<Record> {
    let (component, count, align_bytes) = vector_type(name)?;
    Some(record_of(name, &component, count, align_bytes))
}

/// The record of `dim3` and `uint3`: three `unsigned` numbers.
pub(crate) fn index_record(name: &str) -> Record {
    record_of(name, &Ty::UInt, 3, 4)
}

fn record_of(name: &str, component: &Ty, count: u32, align_bytes: u64) -> Record {
    let bytes = u64::from(component.bits() / 8);
    let fields = ["x", "y", "z", "w"][..count as usize]
        .iter()
        .enumerate()
        .map(|(i, axis)| Field {
            name: (*axis).to_string(),
            ty: QualTy::from(component.clone()),
            offset_bytes: i as u64 * bytes,
            bits: None,
        })
        .collect();
    Record {
        name: name.to_string(),
        is_union: false,
        is_vector: name != "dim3",
        fields,
        size_bytes: (bytes * u64::from(count)).next_multiple_of(align_bytes),
        data_bytes: (bytes * u64::from(count)).next_multiple_of(align_bytes),
        align_bytes,
        units: Vec::new(),
        span: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_types_have_cudas_sizes_and_alignments() {
        // Size and alignment from CUDA's programming guide, table of built-in vector types.
        for (name, size, align) in [
            ("char1", 1, 1),
            ("uchar3", 3, 1),
            ("char4", 4, 4),
            ("short2", 4, 4),
            ("ushort3", 6, 2),
            ("short4", 8, 8),
            ("int2", 8, 8),
            ("int3", 12, 4),
            ("uint4", 16, 16),
            ("long2", 16, 16),
            ("longlong3", 24, 8),
            ("longlong4", 32, 16),
            ("float2", 8, 8),
            ("float3", 12, 4),
            ("float4", 16, 16),
            ("double1", 8, 8),
            ("double2", 16, 16),
            ("double3", 24, 8),
            ("double4", 32, 16),
            ("dim3", 12, 4),
        ] {
            let record = vector_record(name).unwrap();
            assert_eq!(
                (record.size_bytes, record.align_bytes),
                (size, align),
                "{name}"
            );
        }
        assert!(vector_record("float5").is_none());
        assert!(vector_record("é").is_none());
    }
}
