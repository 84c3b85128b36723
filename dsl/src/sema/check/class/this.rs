//! Members inside their class: access to them, `this`, and the path from a class to its base.

use super::super::{Checked, Checker, Reported, access};
use crate::sema::message::class::ClassError;
use crate::sema::path;
use crate::{
    sema::{
        classify::pointer_to,
        ty::{RecordId, Ty},
        typed::{Place, PlaceKind, Value, ValueKind},
    },
    syntax::ast::{self, Access},
};
use ir::span::Span;

/// Reports the use of a member that is not accessible here.
pub(crate) fn check_access(cx: &mut Checker<'_>, class: RecordId, name: &str, span: Span) {
    let Some((owner, _)) = cx.scopes.find_in_class(class, name) else {
        return check_own_access(cx, class, name, span);
    };
    check_own_access(cx, owner, name, span);
}

/// The same for a name of exactly this class, such as its constructors'.
pub(crate) fn check_own_access(cx: &mut Checker<'_>, owner: RecordId, name: &str, span: Span) {
    let Some(access) = cx
        .tables
        .classes
        .get(&owner)
        .and_then(|facts| facts.access.get(name))
        .copied()
    else {
        return;
    };
    let mut class_here = cx.body.class.or(cx.open_classes.last().map(|open| open.id));
    while let Some(class) = class_here {
        let is_derived = || cx.tables.is_derived(class, owner);
        let facts = cx.tables.classes.get(&owner);
        let mut friends = facts.into_iter().flat_map(|facts| &facts.friend_classes);
        let is_friend = friends.any(|friend| **friend == *cx.tables.record(class).name);
        if class == owner || is_friend || (access == Access::Protected && is_derived()) {
            return;
        }
        let around_lambda = || cx.tables.generic_lambdas.get(&class).copied().flatten();
        let outer = cx.tables.classes.get(&class).and_then(|facts| facts.outer);
        class_here = outer.or_else(around_lambda);
    }
    let is_friend = cx
        .body
        .id
        .zip(cx.tables.classes.get(&owner))
        .is_some_and(|(id, facts)| facts.friends.contains(&id));
    if is_friend {
        return;
    }
    let word = match access {
        Access::Protected => "protected",
        Access::Private | Access::Public => "private",
    };
    let record = cx.tables.record(owner);
    let (class, declared) = (record.name.clone(), record.span);
    let shown = name.strip_prefix("operator").unwrap_or(name);
    cx.error(
        span,
        ClassError::NotAccessible {
            shown: shown.to_string(),
            word,
            class,
            declared,
        },
    );
}

/// `this` as a value: a pointer.
pub(crate) fn value(cx: &mut Checker<'_>, span: Span) -> Result<Value, Reported> {
    let Some(place) = cx.body.this_place(span) else {
        return Err(no_this(cx, "`this`", span));
    };
    access::take_address(&mut cx.body, &cx.mode, &place);
    Ok(Value {
        ty: pointer_to(place.ty.clone()),
        kind: ValueKind::AddressOf(Box::new(place)),
        span,
    })
}

pub(crate) fn no_this(cx: &mut Checker<'_>, what: &str, span: Span) -> Reported {
    if cx.body.lambda.is_some() {
        return cx.unsupported("`this` and members of a class in a lambda", span);
    }
    cx.error(
        span,
        ClassError::NoObject {
            what: what.to_string(),
        },
    )
}

/// A member by its name alone, in a function of the class.
pub(crate) fn member_of_this(
    cx: &mut Checker<'_>,
    class: RecordId,
    name: &str,
    span: Span,
) -> Result<Checked, Reported> {
    let last = path::last(name);
    let Some(this) = cx.body.this_place(span) else {
        if cx.mode.unevaluated > 0 {
            // `sizeof(S::member)` does not need an object.
            let mut path = Vec::new();
            if cx.tables.find_field(class, last, &mut path) {
                let ty = Ty::Record(class);
                let none = Value::new(ValueKind::Aggregate(Vec::new()), ty.clone(), span);
                let kind = PlaceKind::Temporary(Box::new(none));
                let mut place = Place::new(kind, ty.into(), span);
                for index in path {
                    place = cx.tables.field_place(place, index, span);
                }
                return Ok(Checked::Place(place));
            }
        }
        return Err(no_this(cx, &format!("`{last}`"), span));
    };
    let this = match this.ty.ty {
        Ty::Record(id) if cx.tables.is_derived(id, class) => cx.tables.base_place(this, class),
        _ => this,
    };
    let name = ast::Name::new(last.into(), span);
    access::field(cx, this, &name, span)
}
