//! Unknown names: suggests the nearest known one, or the place that declares the name later.

use crate::sema::message::expr::ExprError;
use crate::sema::path;
use crate::sema::scope::Scopes;
use std::sync::Arc;

use crate::sema::check::{Checker, Reported, Reporter, Tables};
use crate::{
    library,
    sema::{builtin, scope::Entity},
};
use ir::{span::Span, suggest};

/// The most unknown names for which a near one is searched; a file with more is not a program.
const MAX_GUESSES: u32 = 100;

/// Whether something else is declared in the scope of a qualified name.
fn is_in_known_scope(scopes: &Scopes, name: &str) -> bool {
    let Some((scope, _)) = path::split(name) else {
        return false;
    };
    scope != "std"
        && scopes
            .names()
            .any(|(other, _)| path::is_inside(other, scope))
}

/// Reports an unknown variable or function, once per function.
pub(crate) fn name(cx: &mut Checker<'_>, name: &Arc<str>, span: Span, is_call: bool) -> Reported {
    if !cx.first_time(&format!("name {name}")) {
        return cx.body.reported_before(span);
    }
    if let Some(&later) = cx.tables.declared_later.get(name) {
        let name = name.to_string();
        return cx.error(span, ExprError::UsedBeforeDeclaration { name, later });
    }
    if path::is_qualified(name)
        && cx.scopes.split_path(name).is_none()
        && !is_in_known_scope(&cx.scopes, name)
    {
        return unsupported_path(&cx.tables, &mut cx.reporter, name, span);
    }
    let what = if is_call { "function" } else { "variable" };
    let mut near = None;
    cx.reporter.n_guesses += 1;
    if cx.reporter.n_guesses <= MAX_GUESSES {
        let mut candidates: Vec<&str> = builtin::names(is_call).collect();
        for (candidate, entity) in cx.scopes.names() {
            let is_function = matches!(entity, Entity::Functions(_));
            if is_function == is_call || is_call {
                candidates.push(candidate);
            }
        }
        if is_call {
            for candidate in library::prelude_names() {
                candidates.push(candidate);
            }
        }
        near = suggest::nearest(name, candidates).map(str::to_string);
    }
    let name = name.to_string();
    cx.error(span, ExprError::UnknownName { what, name, near })
}

/// A qualified name that is not found: something of C++'s library, or of a header that is missing.
pub(crate) fn unsupported_path(
    tables: &Tables,
    reporter: &mut Reporter,
    name: &str,
    span: Span,
) -> Reported {
    let message = ExprError::UnsupportedName {
        name: name.to_string(),
        near: standard_near(name),
    };
    reporter.error(tables, span, message)
}

/// Reports an unknown member.
pub(crate) fn member(
    tables: &Tables,
    reporter: &mut Reporter,
    of: &str,
    name: &str,
    span: Span,
    members: &[String],
    declared: Option<Span>,
) -> Reported {
    let near = suggest::nearest(name, members.iter().map(String::as_str));
    let near = near.filter(|_| name.len() > 1).map(str::to_string);
    let shows_all = near.is_none() && (1..=6).contains(&members.len());
    reporter.error(
        tables,
        span,
        ExprError::UnknownMember {
            of: of.to_string(),
            name: name.to_string(),
            declared,
            near,
            members: shows_all.then(|| list(members)),
        },
    )
}

/// `` `x`, `y` and `z` ``.
fn list(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// The nearest name of C++'s library, if there is one.
pub(crate) fn standard_near(name: &str) -> Option<String> {
    let name = name.strip_prefix("std::")?;
    suggest::nearest(name, library::standard_names()).map(str::to_string)
}
