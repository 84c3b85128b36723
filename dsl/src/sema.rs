//! Types the tree: resolves names, makes C's conversions explicit, computes layouts.
//!
//! In: [`ast::Unit`]s, the prelude's first. Out: a [`typed::Program`] if there is no error, and every message. The types are in `ty`, the
//! result in `typed`. `check` holds the rules by construct, `builtin` the table of what needs no declaration. Nothing here depends on how
//! code is run: the lowering decides what a typed node costs.

use crate::syntax::ast;
use ir::{
    diagnostic::Diagnostic,
    source::SourceMap,
    span::{FileId, Span},
};

pub(crate) mod builtin;
pub(crate) mod check;
pub(crate) use check::host_assert;
mod classify;
mod const_eval;
mod layout;
mod message;
pub(crate) mod path;
mod scope;
mod show;
pub mod ty;
pub mod typed;

#[cfg(test)]
mod tests;

pub(crate) use builtin::declarations as builtin_declarations;
pub use classify::Classify;

/// The name the prelude has in messages.
pub const PRELUDE_NAME: &str = "<cuda runtime>";

/// How a program is checked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The files of the prelude: the program may redeclare their names, and their functions are kept only if used.
    pub prelude: Vec<FileId>,
    /// Host functions are declared, but their bodies are not checked.
    pub skip_host: bool,
    /// Every function gets all its messages, and kernel templates that nothing uses are tried.
    pub survey: bool,
}

impl Options {
    /// A place in the prelude.
    fn is_own(&self, span: Span) -> bool {
        self.prelude.contains(&span.file)
    }
}

pub use check::Unknown;
pub use check::survey::{Surveyed, SurveyedUnit};

/// Types a program's units as far as possible: its functions, every message, and the facts about each function.
pub fn survey(units: &[&ast::Unit], map: &SourceMap, options: Options) -> SurveyedUnit {
    let kept = check::TreeList::default();
    let mut checker = check::Checker::new(units, map, &kept, options);
    checker.program();
    checker.survey()
}

/// Types a program's units. There is a program exactly if no message is an error.
pub fn check(
    units: &[&ast::Unit],
    map: &SourceMap,
    options: Options,
) -> (Option<typed::Program>, Vec<Diagnostic>) {
    let kept = check::TreeList::default();
    let mut checker = check::Checker::new(units, map, &kept, options);
    checker.program();
    checker.finish()
}
