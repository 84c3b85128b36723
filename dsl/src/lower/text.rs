//! Composes the text of an access whose source is not one contiguous range.
//!
//! In `#define FOLD(array, half) array[t] += array[t + half]` the name is spelled at the macro's use and the rest in its definition, so the
//! span of `array[t]` is that of the name alone. Two accesses of one line would then have the same name and be counted as one. This module
//! composes the text from its parts: `part[t]`, `part[t + 64]`.

use crate::sema::{
    ty::Ty,
    typed::{Arith, BitField, Place, PlaceKind, Value, ValueKind},
};
use ir::{
    source::SourceMap,
    span::{ExpansionId, Span},
};

use super::layout::Layout;

/// What texts are composed from.
#[derive(Clone, Copy)]
pub(super) struct Texts<'p> {
    pub(super) map: &'p SourceMap,
    pub(super) layout: Layout<'p>,
}

impl Texts<'_> {
    /// The text of a place that is not contiguous; `None` if its span covers it.
    pub(super) fn scattered(self, place: &Place) -> Option<String> {
        match &place.kind {
            PlaceKind::Var(_)
            | PlaceKind::Temporary(_)
            | PlaceKind::Deref(_)
            | PlaceKind::ReadOnly(_) => None,
            PlaceKind::ArrayIndex(array, index) => is_part(place.span, array.span)
                .then(|| format!("{}[{}]", self.place(array), self.value(index))),
            PlaceKind::PointerIndex(pointer, index) => is_part(place.span, pointer.span)
                .then(|| format!("{}[{}]", self.value(pointer), self.value(index))),
            // A member of an unnamed member has the span of the whole, too.
            PlaceKind::Field(whole, field)
            | PlaceKind::BitField(whole, BitField { index: field, .. }) => {
                let is_scattered = place.span.expansion != ExpansionId::NONE;
                (is_scattered && is_part(place.span, whole.span))
                    .then(|| self.member(whole, *field))
            }
        }
    }

    fn place(self, place: &Place) -> String {
        let scattered = self.scattered(place);
        scattered.unwrap_or_else(|| self.spelled(place.span))
    }

    fn member(self, whole: &Place, field: u32) -> String {
        let name = match &whole.ty.ty {
            Ty::Record(id) => self.layout.record(*id).fields.get(field as usize),
            _ => None,
        };
        let name = name.map_or("?", |field| field.name.as_str());
        match &whole.kind {
            PlaceKind::Deref(pointer) => format!("{}->{name}", self.value(pointer)),
            _ => format!("{}.{name}", self.place(whole)),
        }
    }

    fn value(self, value: &Value) -> String {
        match &value.kind {
            ValueKind::Convert(inner) if inner.span == value.span => self.value(inner),
            ValueKind::Load(place) | ValueKind::Decay(place) => self.place(place),
            ValueKind::Binary(op, a, b) if is_part(value.span, a.span) => {
                format!("{} {} {}", self.value(a), symbol(*op), self.value(b))
            }
            ValueKind::PointerAdd(a, b) if is_part(value.span, a.span) => {
                format!("{} + {}", self.value(a), self.value(b))
            }
            _ => self.spelled(value.span),
        }
    }

    fn spelled(self, span: Span) -> String {
        self.map.snippet(span).to_string()
    }
}

/// Whether the whole begins with the part and its span goes no further: the rest is spelled elsewhere.
fn is_part(whole: Span, first: Span) -> bool {
    whole == first
}

fn symbol(op: Arith) -> &'static str {
    match op {
        Arith::Add => "+",
        Arith::Sub => "-",
        Arith::Mul => "*",
        Arith::Div => "/",
        Arith::Rem => "%",
        Arith::And => "&",
        Arith::Or => "|",
        Arith::Xor => "^",
        Arith::Shl => "<<",
        Arith::Shr => ">>",
    }
}
