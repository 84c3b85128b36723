//! Declarations: what a declarator declares (a type's name, a function, a variable) and where that is allowed.
//!
//! Variables themselves are made in `variable`.

use crate::sema::message::decl::DeclError;
use std::sync::Arc;

use super::{Checked, Checker, Reported, constant, convert, expr, function::reference_part};
use crate::sema::message::expr::Needed;
use crate::{
    sema::{
        scope::Entity,
        ty::{QualTy, Ty},
        typed,
    },
    syntax::ast::{self, DeclaratorPart, SpecifierWord},
};
use ir::span::Span;

pub(crate) mod binding;
pub(crate) mod function;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod record;
pub(crate) mod specifier;
pub(crate) mod startup;
pub(crate) mod variable;

/// A callback for each variable of a declaration: takes its base type and the declarator.
type EachVariable<'f, C> = dyn FnMut(&mut C, Result<QualTy, Reported>, &ast::InitDeclarator) + 'f;

/// Binds a name in the innermost scope. A second meaning in the same scope is an error (a repeated typedef is not).
pub(crate) fn declare_name(cx: &mut Checker<'_>, name: &ast::Name, entity: Entity) {
    let in_prelude = cx.in_prelude(name.span);
    if let Some(old) = cx.scopes.find_here(&name.node, in_prelude) {
        let same = match (&old.entity, &entity) {
            (Entity::Typedef(old), Entity::Typedef(new)) => old == new,
            (Entity::Error, _) | (_, Entity::Error) => true,
            _ => false,
        };
        if !same {
            let diagnostic = cx.tables.diagnostic(
                name.span,
                DeclError::DeclaredTwice {
                    name: name.node.to_string(),
                    first: old.span,
                },
            );
            cx.reporter.report(diagnostic);
        }
    }
    cx.scopes
        .bind(name.node.clone(), entity, name.span, in_prelude);
}

/// A declaration at file scope.
pub(crate) fn file_declaration(cx: &mut Checker<'_>, declaration: &ast::Declaration) {
    each_declarator(cx, declaration, &mut |cx, base, declarator| {
        variable::global::file_variable(cx, declaration, base, declarator);
    });
}

/// A declaration in a block, as statements.
pub(crate) fn local_declaration(
    cx: &mut Checker<'_>,
    declaration: &ast::Declaration,
    out: &mut Vec<typed::Stmt>,
) {
    each_declarator(cx, declaration, &mut |cx, base, declarator| {
        variable::local_variable(cx, declaration, base, declarator, out);
    });
}

/// Handles typedefs and prototypes and calls `variable` for the rest.
fn each_declarator<'a>(
    cx: &mut Checker<'a>,
    declaration: &ast::Declaration,
    variable: &mut EachVariable<'_, Checker<'a>>,
) {
    let specifiers = &declaration.specifiers;
    let is_typedef = specifiers.word(SpecifierWord::Typedef).is_some();
    let base = specifier::base_type(cx, specifiers).transpose();
    for declarator in &declaration.declarators {
        let parts = &declarator.declarator.parts;
        let Some(name) = &declarator.declarator.name else {
            continue;
        };
        let Some(ty) = base.clone() else {
            let deduced = deduced(cx, declarator, specifiers.ty.span);
            let qualified = deduced.map(|deduced| QualTy {
                is_const: deduced.is_const
                    || specifiers.is_const
                    || specifiers.word(SpecifierWord::Constexpr).is_some(),
                is_volatile: deduced.is_volatile || specifiers.is_volatile,
                ty: deduced.ty,
            });
            variable(cx, qualified, declarator);
            continue;
        };
        if is_typedef {
            let entity = match specifier::declared_type(cx, ty, parts) {
                Ok(ty) => {
                    record::name_after_typedef(&mut cx.tables, &ty.ty, &name.node);
                    Entity::Typedef(ty)
                }
                Err(_) => Entity::Error,
            };
            declare_name(cx, name, entity);
        } else if let Some(DeclaratorPart::Function(params, span)) = parts.first() {
            local_prototype(cx, declaration, declarator, name, params, *span);
        } else {
            variable(cx, ty, declarator);
        }
    }
}

/// The type `auto` stands for, without the declarator's parts. Only a reference keeps qualifiers. If it is invalid, the errors are those of
/// the initialiser.
fn deduced(
    cx: &mut Checker<'_>,
    declarator: &ast::InitDeclarator,
    span: Span,
) -> Result<QualTy, Reported> {
    let (reference, parts) = reference_part(&declarator.declarator.parts);
    let expr = match &declarator.init {
        Some(ast::Init::Expr(expr)) => Some(expr),
        Some(ast::Init::Construct(args)) => match &args.node[..] {
            [expr] => Some(expr),
            _ => None,
        },
        // `auto x{e}`; after a `=` it is a list.
        Some(ast::Init::List(items)) => match &items.node[..] {
            [
                ast::InitItem {
                    designator: None,
                    value: ast::Init::Expr(expr),
                },
            ] if !declarator.is_copy => Some(expr),
            _ => None,
        },
        _ => None,
    };
    let is_pointer = matches!(parts, [DeclaratorPart::Pointer { .. }]);
    let Some(expr) = expr.filter(|_| parts.is_empty() || is_pointer) else {
        let reported = cx.unsupported("this form of `auto`", span);
        variable::check_init_alone(cx, declarator.init.as_ref());
        return Err(reported);
    };
    // Errors in the initialiser are reported when the variable is made, unless the type cannot be deduced because of them.
    let n_diagnostics = cx.reporter.diagnostics.len();
    cx.mode.unevaluated += 1;
    let checked = expr::check(cx, expr);
    cx.mode.unevaluated -= 1;
    let ty: QualTy = match checked? {
        Checked::Place(place) if reference.is_some() && !is_pointer => place.ty,
        Checked::Place(place) => match &place.ty.ty {
            Ty::Array(element, _) => Ty::Pointer(Arc::new(element.as_ref().clone())).into(),
            other => other.clone().into(),
        },
        Checked::Value(value) => value.ty.into(),
    };
    cx.reporter.diagnostics.truncate(n_diagnostics);
    match ty.ty {
        Ty::Pointer(pointee) if is_pointer => Ok(pointee.as_ref().clone()),
        other if is_pointer => {
            let message = DeclError::AutoNeedsPointer { ty: other };
            Err(cx.error(expr.span, message))
        }
        _ => Ok(ty),
    }
}

/// `int f(int);` in a declaration: a prototype.
fn local_prototype(
    cx: &mut Checker<'_>,
    declaration: &ast::Declaration,
    declarator: &ast::InitDeclarator,
    name: &ast::Name,
    params: &[ast::Param],
    span: Span,
) {
    if params.is_empty() && cx.body.id.is_some() {
        // `dim3 grid();` declares a function in C++ too, but that is never intended.
        cx.error(
            declarator.span,
            DeclError::DeclaredAsFunction {
                name: name.node.to_string(),
                place: span,
            },
        );
        declare_name(cx, name, Entity::Error);
        return;
    }
    let mut specifiers = declaration.specifiers.clone();
    specifiers
        .words
        .retain(|word| word.node != SpecifierWord::Extern);
    let function = ast::Function {
        specifiers,
        declarator: ast::Declarator {
            parts: declarator.declarator.parts[1..].to_vec(),
            ..declarator.declarator.clone()
        },
        name: name.clone(),
        params: params.to_vec(),
        variadic: false,
        body: None,
        method: ast::Method::default(),
        span: declarator.span,
    };
    function::declare(cx, &function);
}

/// `static_assert(condition, "message");`
pub(crate) fn static_assert(cx: &mut Checker<'_>, assertion: &ast::StaticAssert) {
    let value = expr::value(cx, &assertion.condition);
    let Ok(value) = value.and_then(|value| convert::truth_value(cx, value)) else {
        return;
    };
    let text = cx.map.snippet(assertion.condition.span).to_string();
    match constant::integer(cx, &value) {
        Ok(0) => {
            let message = match &assertion.message {
                Some(bytes) if !bytes.is_empty() => DeclError::StaticAssertion {
                    text: String::from_utf8_lossy(bytes).into_owned(),
                },
                _ => DeclError::StaticAssertionFails { condition: text },
            };
            cx.error(assertion.condition.span, message);
        }
        Ok(_) => {}
        Err(why) => {
            let needed = Needed::Of("the condition of `static_assert`");
            constant::report_not_constant(
                &cx.tables,
                &mut cx.reporter,
                assertion.condition.span,
                needed,
                why,
            );
        }
    }
}
