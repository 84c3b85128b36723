//! Bit-fields in expressions: they have no address, and their integer promotion depends on how many bits they have.

use super::convert;
use crate::sema::{
    classify::{Classify, promoted},
    ty::Ty,
    typed::{BitField, Place, PlaceKind, Value, ValueKind},
};

/// The bit-field that a place is.
pub(crate) fn of_place(place: &Place) -> Option<BitField> {
    match place.kind {
        PlaceKind::BitField(_, field) => Some(field),
        PlaceKind::Var(_)
        | PlaceKind::Deref(_)
        | PlaceKind::ReadOnly(_)
        | PlaceKind::PointerIndex(..)
        | PlaceKind::ArrayIndex(..)
        | PlaceKind::Field(..)
        | PlaceKind::Temporary(_) => None,
    }
}

/// The bit-field that a value was read from, or was just stored in.
pub(crate) fn of_value(value: &Value) -> Option<BitField> {
    match &value.kind {
        ValueKind::Load(place)
        | ValueKind::Assign(place, _)
        | ValueKind::CompoundAssign { place, .. }
        | ValueKind::IncDec {
            place,
            prefix: true,
            ..
        } => of_place(place),
        _ => None,
    }
}

/// The type of a place's value after the integer promotions: a bit-field becomes an `int` if that holds all its values, even if its
/// declared type is `unsigned` or `long`. One of an enumeration type is like any other value of that type.
pub(crate) fn promoted_place(place: &Place) -> Ty {
    of_place(place).map_or_else(
        || promoted(&place.ty.ty),
        |field| promoted_type(&place.ty.ty, field),
    )
}

fn promoted_type(ty: &Ty, field: BitField) -> Ty {
    match ty {
        Ty::Enum(_) => promoted(ty),
        _ if field.width < 32 || field.width == 32 && ty.is_signed() => Ty::Int,
        _ if field.width == 32 => Ty::UInt,
        _ => promoted(ty),
    }
}

/// Promotes a bit-field's value; returns other values unchanged.
pub(crate) fn promoted_value(value: Value) -> Value {
    match of_value(&value) {
        Some(field) if value.ty.is_integral() => {
            let to = promoted_type(&value.ty, field);
            convert::to_type(value, &to)
        }
        _ => value,
    }
}
