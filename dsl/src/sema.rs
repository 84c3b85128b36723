//! Tree to typed tree: names resolved, C's conversions made explicit, layouts computed.
//!
//! In: one [`ast::Unit`], the prelude's items first. Out: a [`typed::Program`] if nothing is wrong, and every message. The types
//! are in `ty`, the result in `typed`; `check` holds the rules by construct, `builtin` the table of what needs no declaration.
//! Nothing here knows how code is run: the lowering decides what a typed node costs.

use crate::{
    diagnostic::Diagnostic,
    source::SourceMap,
    span::FileId,
    syntax::{
        ast,
        token::{Token, TokenKind},
    },
};

mod builtin;
mod check;
mod classify;
mod const_eval;
mod layout;
mod scope;
mod show;
pub mod ty;
pub mod typed;

#[cfg(test)]
mod tests;

pub use classify::Classify;

/// The declarations that every program starts with, in the language itself. To be parsed before the program.
pub const PRELUDE: &str = include_str!("sema/prelude.k");

/// The name the prelude has in messages.
pub const PRELUDE_NAME: &str = "<cuda runtime>";

/// CUDA's mathematical functions, in the language itself: for programs that [mention one](mentions_math), after the prelude.
pub const MATH: [(&str, &str); 3] = [
    ("<cuda math, double>", include_str!("sema/math_double.k")),
    ("<cuda math, angles>", include_str!("sema/math_angle.k")),
    ("<cuda math, float>", include_str!("sema/math_float.k")),
];

/// The files that are ours: what a program may use without declaring it.
pub fn is_own(file: &str) -> bool {
    file == PRELUDE_NAME || MATH.iter().any(|(name, _)| *name == file)
}

/// True if a program has a function of [`MATH`] among its names.
pub fn mentions_math(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match &token.kind {
        TokenKind::Ident(name) => builtin::is_math(name),
        _ => false,
    })
}

/// How a unit is checked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The files of the prelude: their names are hidden by the program's, their functions are kept only if used.
    pub prelude: Vec<FileId>,
    /// Host functions are declared, but their bodies are not looked at.
    pub skip_host: bool,
}

/// Types a unit. There is a program exactly if no message is an error.
pub fn check(
    unit: &ast::Unit,
    map: &SourceMap,
    options: Options,
) -> (Option<typed::Program>, Vec<Diagnostic>) {
    let mut checker = check::Checker::new(unit, map, options);
    checker.unit();
    checker.finish()
}
