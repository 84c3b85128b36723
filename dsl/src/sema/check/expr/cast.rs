//! C++'s casts: what each of them may do, in terms of C's.

use crate::sema::check::{
    Body, Checked, Checker, Mode, Reported, Tables, access, bits, convert, expr,
    function::reference_part, reference, specifier,
};
use crate::sema::message::expr::ExprError;
use crate::{
    sema::{
        classify::Classify,
        ty::{QualTy, Ty},
        typed::{Place, PlaceKind, Value, ValueKind},
    },
    syntax::ast::{self, CastWord},
};
use ir::span::Span;

/// `static_cast<T>(e)` and its like.
pub(crate) fn named(
    cx: &mut Checker<'_>,
    word: CastWord,
    ty: &ast::TypeName,
    inner: &ast::Expr,
    span: Span,
) -> Result<Checked, Reported> {
    let (reference, parts) = reference_part(&ty.declarator.parts);
    let base = specifier::base_type_not_auto(cx, &ty.specifiers);
    let to = specifier::declared_type(cx, base, parts);
    if reference.is_some() {
        return reference_cast(cx, word, to, inner, span);
    }
    if word == CastWord::Dynamic {
        return Err(cx.unsupported("`dynamic_cast`", span));
    }
    let value = expr::value(cx, inner)?;
    let to = to?;
    let allowed = match word {
        CastWord::Static => static_ok(&value, &to.ty),
        CastWord::Reinterpret => reinterpret_ok(&value.ty, &to.ty),
        CastWord::Const => const_ok(&value.ty, &to.ty),
        CastWord::Dynamic => false,
    };
    if !allowed {
        let name = cast_name(word);
        let pointers = matches!((&value.ty, &to.ty), (Ty::Pointer(_), Ty::Pointer(_)));
        let numbers = to.ty.is_arithmetic() && value.ty.is_arithmetic();
        return Err(cx.error(
            span,
            ExprError::CastOf {
                name: name.to_string(),
                to: to.ty.clone(),
                from: value.ty.clone(),
                reinterprets: word == CastWord::Static && pointers,
                converts: word != CastWord::Static && numbers,
            },
        ));
    }
    Ok(Checked::Value(convert::cast(cx, value, &to.ty, span)?))
}

/// `static_cast<T &>(place)`, `reinterpret_cast<T &>(place)`: the place, under another type.
fn reference_cast(
    cx: &mut Checker<'_>,
    word: CastWord,
    to: Result<QualTy, Reported>,
    inner: &ast::Expr,
    span: Span,
) -> Result<Checked, Reported> {
    let value = expr::value(cx, inner)?;
    let to = &to?;
    let Some(place) = reference::place_of(&value).cloned() else {
        return Err(cx.unsupported("a cast of a value to a reference", span));
    };
    if bits::of_place(&place).is_some() {
        let text = cx.map.snippet(place.span).to_string();
        let parameter = None;
        return Err(cx.error(span, ExprError::BitFieldReference { text, parameter }));
    }
    let adds = (!place.ty.is_const || to.is_const) && (!place.ty.is_volatile || to.is_volatile);
    Ok(match word {
        CastWord::Static if place.ty.ty == to.ty && adds => Checked::Place(Place {
            ty: to.clone(),
            span,
            ..place
        }),
        // A cast to a base class, as in the CRTP pattern, or to a derived class. The base comes first in memory.
        CastWord::Static if adds && is_related(&cx.tables, &place.ty.ty, &to.ty) => {
            at_address(&mut cx.body, &cx.mode, place, to, span)
        }
        // `volatile T &` must not read a value that the compiler keeps in registers, so it goes through an address.
        CastWord::Reinterpret | CastWord::Const => {
            if word == CastWord::Const && place.ty.ty != to.ty {
                return Err(cx.unsupported("this `const_cast`", span));
            }
            at_address(&mut cx.body, &cx.mode, place, to, span)
        }
        CastWord::Static | CastWord::Dynamic => {
            return Err(cx.unsupported("this cast to a reference", span));
        }
    })
}

/// Whether one class is a base of the other.
fn is_related(tables: &Tables, from: &Ty, to: &Ty) -> bool {
    match (from, to) {
        (Ty::Record(from), Ty::Record(to)) => {
            tables.is_derived(*from, *to) || tables.is_derived(*to, *from)
        }
        _ => false,
    }
}

/// The memory at a place's address, as another type.
fn at_address(body: &mut Body, mode: &Mode, place: Place, to: &QualTy, span: Span) -> Checked {
    access::take_address(body, mode, &place);
    let pointer = Value {
        ty: crate::sema::classify::pointer_to(place.ty.clone()),
        kind: ValueKind::AddressOf(Box::new(place)),
        span,
    };
    let pointer = convert::to_type(pointer, &crate::sema::classify::pointer_to(to.clone()));
    Checked::Place(Place::new(
        PlaceKind::Deref(Box::new(pointer)),
        to.clone(),
        span,
    ))
}

fn cast_name(word: CastWord) -> &'static str {
    match word {
        CastWord::Static => "static_cast",
        CastWord::Reinterpret => "reinterpret_cast",
        CastWord::Const => "const_cast",
        CastWord::Dynamic => "dynamic_cast",
    }
}

/// Numbers to numbers, `void *` to and from pointers, implicit conversions, anything to `void`.
fn static_ok(value: &Value, to: &Ty) -> bool {
    match (&value.ty, to) {
        (_, Ty::Void | Ty::Record(_)) | (Ty::Record(_), _) => true,
        (from, to) if from.is_arithmetic() && to.is_arithmetic() => true,
        (Ty::Pointer(_), Ty::Bool) => true,
        (Ty::Pointer(from), Ty::Pointer(to)) => {
            let same = from.ty == to.ty || from.ty == Ty::Void || to.ty == Ty::Void;
            let related = matches!((&from.ty, &to.ty), (Ty::Record(_), Ty::Record(_)));
            (same || related) && (!from.is_const || to.is_const)
        }
        (from, Ty::Pointer(_)) if from.is_integral() => matches!(value.kind, ValueKind::Int(0)),
        _ => false,
    }
}

fn reinterpret_ok(from: &Ty, to: &Ty) -> bool {
    match (from, to) {
        (Ty::Pointer(from), Ty::Pointer(to)) => !from.is_const || to.is_const,
        (Ty::Pointer(_), to) => to.is_integral() && to.bits() == 64,
        (from, Ty::Pointer(_)) => from.is_integral(),
        (from, to) => from == to && from.is_integral(),
    }
}

fn const_ok(from: &Ty, to: &Ty) -> bool {
    match (from, to) {
        (Ty::Pointer(from), Ty::Pointer(to)) => from.ty == to.ty || const_ok(&from.ty, &to.ty),
        _ => from == to,
    }
}
