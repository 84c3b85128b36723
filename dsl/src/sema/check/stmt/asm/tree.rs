//! Builds pieces of the syntax tree as the parser would, all at the place of the `asm` statement.

use std::sync::Arc;

use crate::syntax::{
    ast::{self, Declarator, Expr, ExprKind, Init, InitDeclarator, TypeSpecifier},
    token::IntSuffix,
};
use ir::span::{Span, Spanned};

pub(super) fn name_expr(name: &str, span: Span) -> Expr {
    Expr::new(ExprKind::Name(name.into()), span)
}

pub(super) fn int_expr(value: u64, span: Span) -> Expr {
    let kind = ExprKind::Int {
        value,
        unsigned: false,
        suffix: IntSuffix::None,
        decimal: false,
    };
    Expr::new(kind, span)
}

pub(super) fn call_of(function: &str, arg: Expr) -> Expr {
    let span = arg.span;
    let callee = Box::new(name_expr(function, span));
    Expr::new(ExprKind::Call(callee, vec![arg]), span)
}

pub(super) fn assign(target: Expr, value: Expr) -> Expr {
    let span = value.span;
    let operator = Spanned::new(None, span);
    Expr::new(
        ExprKind::Assign(operator, Box::new(target), Box::new(value)),
        span,
    )
}

/// `(const char *)base + offset`.
pub(super) fn offset_address(base: Expr, offset: i64, span: Span) -> Expr {
    let bytes = cast_to_pointer(base, TypeSpecifier::Char(None));
    let offset = Box::new(int_expr(offset as u64, span));
    let plus = Spanned::new(ast::BinaryOp::Add, span);
    Expr::new(ExprKind::Binary(plus, Box::new(bytes), offset), span)
}

pub(super) fn cast_to_pointer(expr: Expr, to: TypeSpecifier) -> Expr {
    let span = expr.span;
    let pointer = ast::DeclaratorPart::Pointer {
        is_const: false,
        is_volatile: false,
        is_restrict: false,
    };
    let ty = ast::TypeName {
        specifiers: ast::Specifiers::new(to, span),
        declarator: Declarator::new(None, vec![pointer], span),
        span,
    };
    Expr::new(ExprKind::Cast(Box::new(ty), Box::new(expr)), span)
}

pub(super) fn expr_stmt(expr: Expr) -> ast::Stmt {
    let span = expr.span;
    ast::Stmt {
        kind: ast::StmtKind::Expr(expr),
        span,
    }
}

/// `if (p) { … }`.
pub(super) fn guarded(
    predicate: Expr,
    is_negated: bool,
    body: Vec<ast::Stmt>,
    span: Span,
) -> ast::Stmt {
    let cond = match is_negated {
        true => Expr::new(
            ExprKind::Unary(ast::UnaryOp::Not, Box::new(predicate)),
            span,
        ),
        false => predicate,
    };
    let body = ast::Stmt {
        kind: ast::StmtKind::Block(ast::Block { stmts: body, span }),
        span,
    };
    let kind = ast::StmtKind::If {
        arms: vec![(cond, body)],
        otherwise: None,
        is_constexpr: false,
    };
    ast::Stmt { kind, span }
}

pub(super) fn variable(name: &str, ty: TypeSpecifier, init: Option<Expr>, span: Span) -> ast::Stmt {
    let name = Spanned::new(Arc::from(name), span);
    let declarator = InitDeclarator {
        declarator: Declarator::new(Some(name), Vec::new(), span),
        init: init.map(Init::Expr),
        is_copy: true,
        width: None,
        bindings: Vec::new(),
        span,
    };
    let declaration = ast::Declaration {
        specifiers: ast::Specifiers::new(ty, span),
        declarators: vec![declarator],
        span,
    };
    ast::Stmt {
        kind: ast::StmtKind::Declaration(declaration),
        span,
    }
}
