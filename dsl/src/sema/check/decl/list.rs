//! Lists as values whose members are lists themselves, or are named: `(Pair){.a = 1}`, `f({{1, 2}, 3})`.

use crate::sema::check::{
    Checker, Reported, Tables, cleanup,
    construct::{self, assign_value, comma, local},
    init, int,
    method::place_value,
    temporary,
};
use crate::{
    sema::{
        ty::{QualTy, Ty},
        typed::{Init, Place, PlaceKind, Step, Value},
    },
    syntax::ast::InitItem,
};
use ir::span::Span;

/// A variable that the list initialises member by member, after zeros for the members that it leaves out.
pub(crate) fn in_variable(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &[InitItem],
    span: Span,
) -> Result<Value, Reported> {
    if cx.body.space.is_none() {
        return Err(cx.unsupported("this kind of list as a value", span));
    }
    let mut whole = QualTy::from(ty.clone());
    let parts = match init::init_list(cx, &mut whole, items, span, "the list")? {
        Init::Parts { parts, .. } => parts,
        Init::Value(value) => return Ok(value),
        Init::Bytes(_) => return Err(cx.unsupported("this kind of list as a value", span)),
    };
    let var = temporary::variable(&cx.tables, &mut cx.body, ty.clone(), "list", span);
    let place = local(var, whole, span);
    let mut out = Vec::new();
    construct::zero(cx, place.clone(), span, &mut out);
    let zeros = cleanup::as_values(cx, out, span);
    let sets = parts.into_iter().map(|(path, value)| {
        let member = part(&cx.tables, place.clone(), &path, span);
        assign_value(member, value, span)
    });
    let sets: Vec<Value> = zeros.into_iter().chain(sets).collect();
    let sets = sets.into_iter().rev();
    Ok(sets.fold(place_value(place), |then, set| comma(set, then)))
}

/// The part at the end of the path.
fn part(tables: &Tables, place: Place, path: &[Step], span: Span) -> Place {
    path.iter().fold(place, |place, step| match *step {
        Step::Field(index) => tables.field_place(place, index, span),
        Step::Element(index) => {
            let Ty::Array(element, _) = &place.ty.ty else {
                return place;
            };
            let element = element.as_ref().clone();
            let index = int(index, Ty::ULong, span);
            let kind = PlaceKind::ArrayIndex(Box::new(place), Box::new(index));
            Place::new(kind, element, span)
        }
    })
}
