//! Brace elision: which member or element each item of a list initialises, with and without inner braces, and what the rest becomes.

use super::{
    Filling, Items, dim3_list, fill_bytes, is_character, item_span, list_value, scalar_list,
    string_bytes,
};
use crate::sema::check::{
    Checker, Reported, Tables, construct,
    convert::{self, Why},
    expr, record, unknown,
};
use crate::sema::message::class::ClassError;
use crate::sema::message::decl::DeclError;
use crate::{
    sema::{classify::Classify, ty::Ty, typed::Step},
    syntax::ast::{self, Designator, ExprKind, InitItem},
};
use ir::span::Span;
use std::sync::Arc;

/// Fills an aggregate from the items in its braces; returns one more than the last position that was filled.
pub(super) fn fill_braced(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &[InitItem],
    span: Span,
    filling: &mut Filling<'_>,
) -> u64 {
    if !items.is_empty() && cx.tables.is_polymorphic(ty) {
        let ty = ty.clone();
        filling.wrong = Some(cx.error(span, ClassError::NotAList { ty }));
        return 0;
    }
    let mut items = Items::new(items);
    items.value = filling.first.take();
    let mut position = 0u64;
    let mut end = 0u64;
    let mut filled = Vec::new();
    while let Some(item) = items.peek() {
        let mut depth = 0;
        if let Some(designator) = &item.designator {
            match designated(cx, ty, designator, span) {
                Ok(path) => {
                    let Some((last, before)) = path.split_last() else {
                        break;
                    };
                    filling.path.extend_from_slice(before);
                    depth = before.len();
                    position = match last {
                        Step::Field(index) => u64::from(*index),
                        Step::Element(index) => *index,
                    };
                }
                Err(reported) => {
                    filling.wrong = Some(reported);
                    items.advance();
                    continue;
                }
            }
        }
        let owner = type_at(&cx.tables, ty, &filling.path[filling.path.len() - depth..]);
        let member = owner.and_then(|owner| member_at(&cx.tables, &owner, position));
        let Some((step, member)) = member else {
            let name = filling.name.to_string();
            let message = DeclError::TooManyValues { name };
            filling.wrong = Some(cx.error(item_span(item, span), message));
            break;
        };
        filling.path.push(step);
        fill_member(cx, &member, &mut items, span, filling);
        let keep = filling.path.len() - 1 - depth;
        filled.extend(filling.path.get(keep).copied());
        filling.path.truncate(keep);
        position += 1;
        end = end.max(position);
    }
    fill_defaults(cx, ty, &filled, span, filling);
    end
}

/// Members that a list leaves out and that have a value in their class.
fn fill_defaults(
    cx: &mut Checker<'_>,
    ty: &Ty,
    filled: &[Step],
    span: Span,
    filling: &mut Filling<'_>,
) {
    use crate::sema::check::construct::Beginning;
    if let Ty::Array(element, n) = ty
        && n.is_some_and(|n| filled.len() as u64 != n)
        && construct::beginning(cx, &element.ty.clone(), span) != Beginning::Nothing
    {
        let what = "a list that leaves out objects with constructors";
        filling.wrong = Some(cx.unsupported(what, span));
        return;
    }
    let Ty::Record(class) = ty else { return };
    let fields = cx.tables.record(*class).fields.clone();
    for (index, field) in (0u32..).zip(&fields) {
        let is_left_out = !filled.contains(&Step::Field(index))
            && !cx.tables.record(*class).is_union
            && cx
                .tables
                .classes
                .get(class)
                .is_none_or(|facts| !facts.defaults.contains_key(&index));
        if is_left_out && construct::beginning(cx, &field.ty.ty, span) != Beginning::Nothing {
            let what = "a list that leaves out objects with constructors";
            filling.wrong = Some(cx.unsupported(what, span));
            return;
        }
    }
    let Some(facts) = cx.tables.classes.get(class) else {
        return;
    };
    let mut defaults: Vec<(u32, Arc<ast::Init>)> = facts
        .defaults
        .iter()
        .map(|(index, init)| (*index, init.clone()))
        .collect();
    defaults.sort_by_key(|(index, _)| *index);
    for (index, init) in defaults {
        if filled.contains(&Step::Field(index)) {
            continue;
        }
        // An invalid class may have lost members.
        let Some(field) = cx.tables.record(*class).fields.get(index as usize) else {
            continue;
        };
        let member = field.ty.ty.clone();
        let value = match &*init {
            ast::Init::Expr(expr) => {
                convert::implicit_value(cx, expr, &member, &Why::Init(filling.name))
            }
            ast::Init::List(items) if !matches!(member, Ty::Array(..)) => {
                list_value(cx, &member, &items.node, items.span)
            }
            ast::Init::List(_) | ast::Init::Construct(_) => {
                Err(cx.unsupported("a list that leaves out this member", span))
            }
        };
        filling.path.push(Step::Field(index));
        filling.fill(value);
        filling.path.pop();
    }
}

/// Fills one member or element from the next item, or from the next few if its braces are left out.
fn fill_member(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &mut Items<'_>,
    span: Span,
    filling: &mut Filling<'_>,
) {
    let Some(item) = items.peek() else { return };
    match &item.value {
        ast::Init::List(list) if cx.tables.has_constructors(ty) || cx.tables.is_polymorphic(ty) => {
            let value = list_value(cx, ty, &list.node, list.span);
            filling.fill(value);
            items.advance();
        }
        ast::Init::List(list) => {
            if ty.is_scalar() {
                let value = scalar_list(cx, ty, &list.node, list.span, filling.name);
                filling.fill(value);
            } else if cx.tables.is_vector(ty, "dim3") {
                let value = dim3_list(cx, &list.node, list.span);
                filling.fill(value);
            } else {
                fill_braced(cx, ty, &list.node, list.span, filling);
            }
            items.advance();
        }
        ast::Init::Construct(_) => items.advance(),
        ast::Init::Expr(expr) => {
            if let (Ty::Array(element, size), ExprKind::Str(bytes)) = (ty, &expr.kind)
                && is_character(&element.ty)
            {
                match string_bytes(
                    &cx.tables,
                    &mut cx.reporter,
                    bytes,
                    *size,
                    expr.span,
                    filling.name,
                ) {
                    Ok((bytes, _)) => fill_bytes(&bytes, &element.ty, expr.span, filling),
                    Err(reported) => filling.wrong = Some(reported),
                }
                return items.advance();
            }
            let value = match items.value.take() {
                Some(value) => value,
                None => expr::value(cx, expr),
            };
            let is_whole = match (ty, &value) {
                (Ty::Array(..), _) => false,
                (Ty::Record(_), Ok(value)) => {
                    value.ty == *ty
                        || cx.tables.is_vector(ty, "dim3")
                        || cx.tables.has_constructors(ty)
                        || cx.tables.is_polymorphic(ty)
                        || cx
                            .tables
                            .conversion_function(&value.ty, ty, false)
                            .is_some()
                }
                _ => true,
            };
            if is_whole {
                let why = Why::Init(filling.name);
                filling.fill(value.and_then(|value| convert::implicit(cx, value, ty, &why)));
                return items.advance();
            }
            items.value = Some(value);
            fill_unbraced(cx, ty, items, span, filling);
        }
    }
}

/// Fills an aggregate whose braces are left out: takes as many items as it has members.
fn fill_unbraced(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &mut Items<'_>,
    span: Span,
    filling: &mut Filling<'_>,
) {
    let mut position = 0;
    let first = items.next;
    while let Some(item) = items.peek() {
        let is_designated = item.designator.is_some() && items.next > first;
        let Some((step, member)) = member_at(&cx.tables, ty, position) else {
            return;
        };
        if is_designated {
            return;
        }
        filling.path.push(step);
        fill_member(cx, &member, items, span, filling);
        filling.path.pop();
        position += 1;
    }
}

/// The member or element at a position. In a union only the first one is initialised.
fn member_at(tables: &Tables, ty: &Ty, position: u64) -> Option<(Step, Ty)> {
    match ty {
        Ty::Array(element, size) => (size.is_none_or(|size| position < size))
            .then(|| (Step::Element(position), element.ty.clone())),
        Ty::Record(id) => {
            let record = tables.record(*id);
            let field = record.fields.get(usize::try_from(position).ok()?)?;
            Some((Step::Field(position as u32), field.ty.ty.clone()))
        }
        _ => None,
    }
}

fn type_at(tables: &Tables, ty: &Ty, path: &[Step]) -> Option<Ty> {
    let mut ty = ty.clone();
    for step in path {
        let position = match step {
            Step::Field(index) => u64::from(*index),
            Step::Element(index) => *index,
        };
        match member_at(tables, &ty, position) {
            Some((_, member)) => ty = member,
            None => return None,
        }
    }
    Some(ty)
}

fn designated(
    cx: &mut Checker<'_>,
    ty: &Ty,
    designator: &Designator,
    span: Span,
) -> Result<Vec<Step>, Reported> {
    match (designator, ty) {
        (Designator::Member(name), Ty::Record(id)) => {
            let mut path = Vec::new();
            if cx.tables.find_field(*id, &name.node, &mut path) {
                return Ok(path.into_iter().map(Step::Field).collect());
            }
            let record = cx.tables.record(*id);
            let members: Vec<_> = record
                .fields
                .iter()
                .map(|field| field.name.clone())
                .collect();
            let (of, declared) = (format!("`{}`", record.name), record.span);
            Err(unknown::member(
                &cx.tables,
                &mut cx.reporter,
                &of,
                &name.node,
                name.span,
                &members,
                declared,
            ))
        }
        (Designator::Index(index), Ty::Array(_, size)) => {
            let n = record::constant_int(cx, index, "the index in an initialiser")?;
            match u64::try_from(n) {
                Ok(n) if size.is_none_or(|size| n < size) => Ok(vec![Step::Element(n)]),
                _ => Err(cx.error(index.span, DeclError::IndexOutside { n })),
            }
        }
        (Designator::Member(name), _) => {
            let at = name.span;
            let name = name.node.to_string();
            Err(cx.error(at, DeclError::DesignatorOfNonStruct { name }))
        }
        (Designator::Index(_), _) => Err(cx.error(span, DeclError::IndexDesignatorOfNonArray)),
    }
}
