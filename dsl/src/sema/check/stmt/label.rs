//! Labels and `goto`: only to a later label in the same block or one around it, which leaves the statements before the label.

use crate::sema::check::Checker;
use crate::sema::check::{cleanup, stmt};
use crate::sema::message::stmt::StmtError;
use crate::{
    sema::typed::{Stmt, StmtKind},
    syntax::ast::{self, Name},
};
use ir::{span::Span, suggest};

/// A label that has not been reached.
pub(crate) struct Label {
    name: Name,
    number: u32,
    /// The number of open blocks around it.
    depth: usize,
    /// The first `goto` to it, and the number of statements of its block before the statement that contains the `goto`.
    used: Option<(Span, usize)>,
    /// The number of statements before it in its block.
    n_before: usize,
}

/// The statements of a block, which may contain labels.
pub(crate) fn labelled(cx: &mut Checker<'_>, stmts: &[ast::Stmt], out: &mut Vec<Stmt>) {
    let (outer, start) = (cx.body.labels.ahead.len(), out.len());
    for stmt in stmts {
        if let ast::StmtKind::Label(name) = &stmt.kind {
            cx.body.labels.n_made += 1;
            cx.body.labels.ahead.push(Label {
                name: name.clone(),
                number: cx.body.labels.n_made,
                depth: cx.body.flow.cleanups.len(),
                used: None,
                n_before: start,
            });
        }
    }
    for stmt in stmts {
        let ast::StmtKind::Label(name) = &stmt.kind else {
            cx.body.labels.ahead[outer..]
                .iter_mut()
                .for_each(|label| label.n_before = out.len());
            stmt::check(cx, stmt, out);
            continue;
        };
        initialised_between(cx, outer, out);
        let label = cx.body.labels.ahead.remove(outer);
        cx.body.labels.passed.push(label.name.node.clone());
        if label.used.is_none() {
            continue;
        }
        let body = out.split_off(start);
        out.push(Stmt::new(
            StmtKind::Labelled {
                label: label.number,
                body,
            },
            name.span,
        ));
        for later in &mut cx.body.labels.ahead[outer..] {
            later.used = later.used.map(|(at, _)| (at, out.len() - 1));
        }
    }
}

/// Reports the variables that a `goto` to one of these labels would leave uninitialised.
fn initialised_between(cx: &mut Checker<'_>, outer: usize, out: &[Stmt]) {
    let used = cx.body.labels.ahead[outer..].iter();
    let used: Vec<_> = used.filter_map(|label| label.used).collect();
    for (at, from) in used {
        let skipped = out.get(from + 1..).unwrap_or_default();
        let skipped = skipped.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Declare(var, init) => {
                let var = &cx.body.vars[*var].typed;
                let begins = init.is_some() || cx.tables.has_destructor(&var.ty.ty);
                begins.then(|| (var.name.clone(), var.span))
            }
            _ => None,
        });
        if let Some((name, span)) = skipped {
            cx.error(
                at,
                StmtError::GotoOverInitialisation {
                    name: name.to_string(),
                    place: span,
                },
            );
        }
    }
}

pub(crate) fn goto(cx: &mut Checker<'_>, name: &Name, span: Span, out: &mut Vec<Stmt>) {
    let mut labels = cx.body.labels.ahead.iter_mut().rev();
    let Some(label) = labels.find(|label| label.name.node == name.node) else {
        let is_past = cx.body.labels.passed.contains(&name.node);
        let known = cx.body.labels.ahead.iter().map(|label| &*label.name.node);
        if let Some(near) = suggest::nearest(&name.node, known).filter(|_| !is_past) {
            let message = StmtError::NoSuchLabel {
                name: name.node.to_string(),
                near: near.to_string(),
            };
            cx.error(name.span, message);
            return;
        }
        let what =
            "`goto` to anything but a label further down, in the same block or one around it,";
        cx.unsupported(what, name.span);
        return;
    };
    label.used = label.used.or(Some((span, label.n_before)));
    let (number, depth) = (label.number, label.depth);
    cleanup::destroy_from(cx, depth, None, span, out);
    out.push(Stmt::new(StmtKind::Goto(number), span));
}
