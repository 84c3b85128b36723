//! Finds the local variable of a function that is constructed in place of its result (NRVO).
//!
//! C++ lets a compiler construct a local variable in the place of the result, so that `return` copies nothing, and leaves it to the
//! compiler when. Programs can observe this in classes with a copy constructor, so it is done where g++ (up to 13, nvcc's host compiler)
//! does it: every `return` names the same variable, which is declared in the function's outermost block. A parameter is never the result.

use std::sync::Arc;

use crate::syntax::ast::{Block, Expr, ExprKind, Stmt, StmtKind};

/// The name of that variable.
pub(crate) fn named_result(body: &Block) -> Option<Arc<str>> {
    let mut seen = Seen::default();
    body.stmts.iter().for_each(|stmt| seen.returns(stmt));
    let name = seen.name.filter(|_| !seen.differs)?;
    let outermost = body
        .stmts
        .iter()
        .filter(|stmt| declares(stmt, name))
        .count();
    let mut all = 0;
    body.stmts
        .iter()
        .for_each(|stmt| each(stmt, &mut |stmt| all += usize::from(declares(stmt, name))));
    (outermost == 1 && all == 1).then(|| name.clone())
}

/// What the `return`s seen so far name.
#[derive(Default)]
struct Seen<'a> {
    name: Option<&'a Arc<str>>,
    /// Whether they name different variables, or return something else.
    differs: bool,
}

impl<'a> Seen<'a> {
    fn returns(&mut self, stmt: &'a Stmt) {
        each(stmt, &mut |stmt| {
            if let StmtKind::Return(value) = &stmt.kind {
                let name = value.as_ref().and_then(name_of);
                self.differs |=
                    name.is_none() || self.name.is_some_and(|known| Some(known) != name);
                self.name = self.name.or(name);
            }
        });
    }
}

fn name_of(expr: &Expr) -> Option<&Arc<str>> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}

/// Whether the statement itself declares a variable of this name.
fn declares(stmt: &Stmt, name: &Arc<str>) -> bool {
    let declaration = match &stmt.kind {
        StmtKind::Declaration(declaration) => declaration,
        StmtKind::RangeFor { declaration, .. } => declaration,
        _ => return false,
    };
    let declared = declaration.declarators.iter();
    declared
        .filter_map(|one| one.declarator.name.as_ref())
        .any(|declared| declared.node == *name)
}

/// Calls `then` with a statement and all statements in it, but not those in lambdas.
fn each<'a>(stmt: &'a Stmt, then: &mut impl FnMut(&'a Stmt)) {
    then(stmt);
    match &stmt.kind {
        StmtKind::Block(block) => block.stmts.iter().for_each(|stmt| each(stmt, then)),
        StmtKind::If {
            arms, otherwise, ..
        } => {
            arms.iter().for_each(|(_, body)| each(body, then));
            if let Some(otherwise) = otherwise {
                each(otherwise, then);
            }
        }
        StmtKind::For { init, body, .. } => {
            each(init, then);
            each(body, then);
        }
        StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. }
        | StmtKind::RangeFor { body, .. }
        | StmtKind::Switch { body, .. } => each(body, then),
        _ => {}
    }
}
