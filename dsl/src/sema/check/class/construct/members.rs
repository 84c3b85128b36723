//! What a constructor does before its own code: initialises its base, then its members.

use super::Stmt;
use crate::sema::check::Checker;
use crate::sema::check::{access, cleanup, construct, virtuals};
use crate::sema::message::class::ClassError;
use crate::sema::path;
use crate::sema::scope::Scopes;
use crate::{
    sema::{
        scope::Entity,
        ty::{RecordId, Ty},
        typed::Place,
    },
    syntax::ast::MemberInit,
};
use ir::span::Span;

/// Initialises the base, then the members in the order of their declaration.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    class: RecordId,
    inits: &[MemberInit],
    span: Span,
    out: &mut Vec<Stmt>,
) {
    let Some(this) = cx.body.this_place(span) else {
        return;
    };
    if let [only] = inits
        && *only.name.node == *plain_name(cx, class)
    {
        let args = construct::init_arguments(cx, &this.ty.ty, &only.init);
        construct::into(cx, this, args, only.name.span, out);
        return;
    }
    let fields = cx.tables.record(class).fields.clone();
    let base = cx.tables.classes.get(&class).and_then(|facts| facts.base);
    let defaults = cx
        .tables
        .classes
        .get(&class)
        .map(|facts| facts.defaults.clone());
    let defaults = defaults.unwrap_or_default();
    let mut used = vec![false; inits.len()];
    let has_own_mark = virtuals::has_own_mark(&cx.tables, class);
    for (index, field) in (0u32..).zip(&fields) {
        let place = cx.tables.field_place(this.clone(), index, span);
        let is_base = index == 0 && base.is_some();
        if virtuals::is_mark(&cx.tables, class, index) {
            virtuals::set_mark(&cx.tables, this.clone(), class, span, out);
            continue;
        }
        let name = match (&field.ty.ty, is_base) {
            (Ty::Record(id), true) => plain_name(cx, *id).to_string(),
            _ => field.name.clone(),
        };
        let found = inits.iter().position(|init| {
            let last = path::last(&init.name.node);
            (last == name && !name.is_empty())
                || (is_base && is_alias(&cx.scopes, &init.name.node, &field.ty.ty))
        });
        if let Some(found) = found {
            if std::mem::replace(&mut used[found], true) {
                continue;
            }
            construct::member_init(cx, place, &inits[found].init, inits[found].name.span, out);
        } else if let Some(default) = defaults.get(&index) {
            construct::member_init(cx, place, &default.clone(), span, out);
        } else {
            construct::begin_object(cx, place, &name, span, out);
        }
        cleanup::end_temporaries(cx, span, out);
        if is_base && !has_own_mark {
            virtuals::set_mark(&cx.tables, this.clone(), class, span, out);
        }
    }
    let unused = inits.iter().zip(used).filter(|(_, used)| !used);
    for (init, _) in unused {
        other_init(cx, class, &this, init, out);
    }
}

/// An entry that names no direct member: a member of an unnamed union, or an error.
fn other_init(
    cx: &mut Checker<'_>,
    class: RecordId,
    this: &Place,
    init: &MemberInit,
    out: &mut Vec<Stmt>,
) {
    let fields = &cx.tables.record(class).fields;
    let is_twice = fields.iter().any(|field| *field.name == *init.name.node);
    let mut path = Vec::new();
    if !is_twice && cx.tables.find_field(class, &init.name.node, &mut path) && path.len() > 1 {
        let mut place = this.clone();
        for index in path {
            place = cx.tables.field_place(place, index, init.name.span);
        }
        construct::member_init(cx, place, &init.init, init.name.span, out);
        return;
    }
    // The member may be missing because of an error in the class, which has been reported.
    if !is_twice && access::broken(&cx.tables, class).is_some() {
        return;
    }
    let name = init.name.node.to_string();
    let message = match is_twice {
        true => ClassError::InitialisedTwice { name },
        false => ClassError::NoMemberToInitialise {
            class: cx.tables.record(class).name.clone(),
            name,
        },
    };
    cx.error(init.name.span, message);
}

/// Whether the name stands for this type here.
fn is_alias(scopes: &Scopes, name: &str, ty: &Ty) -> bool {
    let found = scopes.find(name);
    matches!(found.map(|found| &found.entity), Some(Entity::Typedef(other)) if other.ty == *ty)
}

/// The name of a class as in a constructor's entry: without its scopes and arguments.
fn plain_name<'c>(cx: &'c Checker<'_>, class: RecordId) -> &'c str {
    path::last(match cx.instances.classes.get(&class) {
        Some(instance) => &cx.instances.templates[instance.template].name,
        None => cx.tables.record(class).name.as_str(),
    })
}
