//! Names that mean nothing here: the nearest one that does, or the place further down that declares them.

use std::sync::Arc;

use crate::sema::check::Checker;
use crate::{
    diagnostic::{Code, Diagnostic},
    library,
    sema::{builtin, scope::Entity},
    span::Span,
    suggest,
};

/// So many unknown names are compared with all that are known; a file with more is not a program.
const MAX_GUESSES: u32 = 100;

impl Checker<'_> {
    /// Whether something else is declared in the scope that a qualified name speaks of.
    fn is_in_known_scope(&self, name: &str) -> bool {
        let Some((scope, _)) = name.rsplit_once("::") else {
            return false;
        };
        let in_scope = |other: &str| {
            let rest = other.strip_prefix(scope);
            scope != "std" && rest.is_some_and(|rest| rest.starts_with("::"))
        };
        self.scopes.names().any(|(other, _)| in_scope(other))
    }

    /// Reports an unknown variable or function, once per function.
    pub(crate) fn unknown_name(&mut self, name: &Arc<str>, span: Span, is_call: bool) {
        if !self.first_time(&format!("name {name}")) {
            return;
        }
        if let Some(&later) = self.tables.declared_later.get(name) {
            self.report(
                Diagnostic::error(
                    Code::UsedBeforeDeclaration,
                    span,
                    format!("`{name}` is used before it is declared"),
                )
                .label(later, "declared here")
                .help(format!(
                    "move `{name}` up, or put a prototype of it before this use"
                )),
            );
            return;
        }
        if name.contains("::")
            && self.scopes.split_path(name).is_none()
            && !self.is_in_known_scope(name)
        {
            return self.unsupported_path(name, span);
        }
        let what = if is_call { "function" } else { "variable" };
        let mut diagnostic = Diagnostic::error(
            Code::UnknownName,
            span,
            format!("there is no {what} `{name}`"),
        )
        .at("not declared here");
        self.reporter.n_guesses += 1;
        if self.reporter.n_guesses <= MAX_GUESSES {
            let mut candidates: Vec<&str> = builtin::names(is_call).collect();
            for (candidate, entity) in self.scopes.names() {
                let is_function = matches!(entity, Entity::Functions(_));
                if is_function == is_call || is_call {
                    candidates.push(candidate);
                }
            }
            if let Some(near) = suggest::nearest(name, candidates) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
        }
        self.report(diagnostic);
    }

    /// A qualified name that leads nowhere: something of C++'s library, or of a header that is not there.
    pub(crate) fn unsupported_path(&mut self, name: &str, span: Span) {
        let diagnostic = Diagnostic::error(
            Code::UnsupportedBuiltin,
            span,
            format!("`{name}` is not supported yet"),
        );
        self.report(or_near(diagnostic, name));
    }

    /// Reports a member that is not there.
    pub(crate) fn unknown_member(
        &mut self,
        of: &str,
        name: &str,
        span: Span,
        members: &[String],
        declared: Option<Span>,
    ) {
        let mut diagnostic = Diagnostic::error(
            Code::UnknownMember,
            span,
            format!("{of} has no member `{name}`"),
        );
        if let Some(declared) = declared {
            diagnostic = diagnostic.label(declared, "the type is declared here");
        }
        let help = match suggest::nearest(name, members.iter().map(String::as_str)) {
            Some(near) if name.len() > 1 => Some(format!("did you mean `{near}`?")),
            _ if members.is_empty() => None,
            _ if members.len() <= 6 => Some(format!("its members are {}", list(members))),
            _ => None,
        };
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
    }
}

/// `` `x`, `y` and `z` ``.
fn list(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// With the name of C++'s library that is meant, if one is near.
pub(crate) fn or_near(diagnostic: Diagnostic, name: &str) -> Diagnostic {
    let near = name
        .strip_prefix("std::")
        .and_then(|name| suggest::nearest(name, library::standard_names()));
    match near {
        Some(near) => diagnostic.help(format!("did you mean `std::{near}`?")),
        None => diagnostic,
    }
}
