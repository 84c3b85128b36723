//! The layout of a record whose members are known: their offsets, its size, and how much of that a derived class may reuse.

use super::alignment;
use crate::sema::check::{Checker, Tables, class::Pod};
use crate::sema::message::decl::DeclError;
use crate::{
    sema::{
        layout,
        ty::{Field, RecordId, Ty},
    },
    syntax::ast,
};
use ir::span::Span;

/// Longer records are copied as bytes, including padding (see `lower/bulk`).
const MOST_SINGLE_COPIES: u64 = 64;

/// Places a record's members.
pub(super) fn lay_out(
    cx: &mut Checker<'_>,
    id: RecordId,
    specifier: &ast::RecordSpecifier,
    (mut fields, gaps): (Vec<Field>, &[layout::Gap]),
    span: Span,
) {
    let align = specifier
        .align
        .as_ref()
        .map_or(1, |align| alignment(cx, align));
    let pod = class_pod(&cx.tables, id, &fields);
    if let Some(facts) = cx.tables.classes.get_mut(&id) {
        facts.pod = pod;
    }
    // Such a class has no members, and yet is not empty.
    if fields.is_empty() && gaps.iter().any(|gap| gap.width > 0) {
        cx.unsupported("a class with nothing but unnamed bit-fields", span);
    }
    let has_base = cx
        .tables
        .classes
        .get(&id)
        .is_some_and(|facts| facts.base.is_some());
    let kind = match (specifier.is_union, has_base) {
        (true, _) => layout::RecordKind::Union,
        (false, true) => layout::RecordKind::Derived,
        (false, false) => layout::RecordKind::Struct,
    };
    let unknown = fields.iter().find(|field| !field.ty.ty.is_understood());
    let has_unknown = unknown.is_some();
    if let Some(field) = unknown {
        let name = field.name.clone();
        let unknown = cx
            .tables
            .diagnostic(span, DeclError::MemberNotUnderstood { name });
        cx.tables.broken_records.entry(id).or_insert(unknown);
    }
    let placed = layout::place_fields(&mut fields, gaps, kind, align, &cx.tables.records);
    let units = placed.map(|extent| {
        let end = match pod {
            Pod::No => extent.used_bytes,
            Pod::Yes | Pod::Unclear => extent.size_bytes,
        };
        layout::bit_units(&fields, end, &cx.tables.records)
    });
    let record = &mut cx.tables.records[id];
    record.fields = fields;
    record.units = units.unwrap_or_default();
    match placed {
        Some(extent) => {
            record.size_bytes = extent.size_bytes;
            record.data_bytes = match pod == Pod::No {
                true => extent.used_bytes,
                false => extent.size_bytes,
            };
            record.align_bytes = extent.align_bytes;
        }
        None => {
            // A member's type is invalid, which was reported. The record stays usable, so that its uses are not reported as well.
            record.size_bytes = 1;
            record.data_bytes = 1;
            record.align_bytes = 1;
            if !has_unknown {
                cx.error(span, DeclError::TypeTooLarge);
            }
        }
    }
}

/// Whether a class is POD in C++, which depends on its members' classes.
fn class_pod(tables: &Tables, class: RecordId, fields: &[Field]) -> Pod {
    let of = |ty: &Ty| {
        let mut ty = ty;
        while let Ty::Array(element, _) = ty {
            ty = &element.ty;
        }
        match ty {
            Ty::Record(id) => tables.classes.get(id).map_or(Pod::Yes, |facts| facts.pod),
            _ => Pod::Yes,
        }
    };
    let own = tables
        .classes
        .get(&class)
        .map_or(Pod::Yes, |facts| facts.pod);
    let members = fields.iter().map(|field| of(&field.ty.ty));
    members.fold(own, Pod::max)
}

/// Reports a base class that ends in padding where compilers differ in whether the next member goes there, or where copying the base as
/// bytes would overwrite that member.
pub(super) fn check_base_padding(cx: &mut Checker<'_>, id: RecordId, fields: &[Field], span: Span) {
    let Some(base) = cx.tables.base(id) else {
        return;
    };
    let pod = cx
        .tables
        .classes
        .get(&base)
        .map_or(Pod::Yes, |facts| facts.pod);
    let is_long = layout::scalar_count(&Ty::Record(base), &cx.tables.records) > MOST_SINGLE_COPIES;
    let is_clear = match pod {
        Pod::Yes => true,
        Pod::Unclear => false,
        Pod::No => !is_long,
    };
    let record = cx.tables.record(base);
    let used = record.fields.iter().map(|field| match field.bits {
        Some(bits) => (bits.first + u64::from(bits.width)).div_ceil(8),
        None => field.offset_bytes + cx.tables.size_of(&field.ty.ty).unwrap_or(0),
    });
    let used = used.max().unwrap_or(0);
    let Some(next) = fields.get(1) else { return };
    let fits = used.next_multiple_of(cx.tables.align_of(&next.ty.ty)) < record.size_bytes;
    if fits && used > 0 && !is_clear {
        cx.unsupported("a member in the padding of a base class", span);
    }
}
