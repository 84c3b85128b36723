//! Built-in functions that are not called: `reduce(fmaxf, a, b)`.
//!
//! A built-in function has no code that a pointer could refer to. It becomes an object that is called like it, as if the program had
//! written `[](float a, float b) { return fmaxf(a, b); }`.

use std::sync::Arc;

use crate::{
    sema::{
        builtin::{Param, ParamType, Row, Signature, TypeWord},
        check::{Checker, Reported, lambda},
        typed::Value,
    },
    syntax::ast::{
        Block, Declarator, Expr, ExprKind, Lambda, Param as AstParam, Signedness, Specifiers, Stmt,
        StmtKind, TypeSpecifier,
    },
};
use ir::span::{Span, Spanned};

/// The object; `None` if the function takes or returns more than numbers.
pub(crate) fn function_object(
    cx: &mut Checker<'_>,
    row: &Row,
    span: Span,
) -> Option<Result<Value, Reported>> {
    let signature = Signature::parse(row.signature);
    number(&signature.result)?;
    let types = signature.params.iter().map(taken);
    let types: Vec<TypeSpecifier> = types.collect::<Option<_>>()?;
    let named = |at: usize| Arc::<str>::from(format!("__argument_{at}"));
    let params = types.into_iter().enumerate().map(|(at, ty)| AstParam {
        specifiers: Specifiers::new(ty, span),
        declarator: Declarator::new(Some(Spanned::new(named(at), span)), Vec::new(), span),
        default: None,
        is_pack: false,
        span,
    });
    let params: Vec<AstParam> = params.collect();
    let name = |text: Arc<str>| Expr::new(ExprKind::Name(text), span);
    let arguments = (0..params.len()).map(|at| name(named(at))).collect();
    let callee = Box::new(name(row.name.into()));
    let call = Expr::new(ExprKind::Call(callee, arguments), span);
    let body = Stmt {
        kind: StmtKind::Return(Some(call)),
        span,
    };
    let lambda = Lambda {
        default: None,
        captures: Vec::new(),
        words: Vec::new(),
        params,
        is_mutable: false,
        result: None,
        body: Block {
            stmts: vec![body],
            span,
        },
        span,
    };
    Some(lambda::check(cx, &lambda, span))
}

fn taken(param: &Param) -> Option<TypeSpecifier> {
    number(&param.ty).filter(|_| param.default.is_none())
}

fn number(ty: &ParamType) -> Option<TypeSpecifier> {
    let ParamType::Plain { base, stars: 0, .. } = ty else {
        return None;
    };
    Some(match base {
        TypeWord::Int => TypeSpecifier::Int(Signedness::Signed),
        TypeWord::UInt => TypeSpecifier::Int(Signedness::Unsigned),
        TypeWord::LongLong => TypeSpecifier::LongLong(Signedness::Signed),
        TypeWord::ULongLong => TypeSpecifier::LongLong(Signedness::Unsigned),
        TypeWord::Float => TypeSpecifier::Float,
        TypeWord::Double => TypeSpecifier::Double,
        TypeWord::Void
        | TypeWord::Bool
        | TypeWord::Char
        | TypeWord::Long
        | TypeWord::ULong
        | TypeWord::Named(_) => return None,
    })
}
