//! Structured bindings: `auto [a, b] = pair;`, `auto &[x, y] = point;`.
//!
//! The object gets a variable named by the bindings' text. Each name is a reference to a part of it. If nothing else can name the object,
//! each name is instead a variable with that part's value: a scalar then needs no memory.

use crate::sema::check::{Checker, Reported, Tables, decl, expr::with_qualifiers, variable};
use crate::sema::message::decl::DeclError;
use crate::{
    sema::{
        classify::Classify,
        scope::Entity,
        ty::{QualTy, Ty},
        typed::Stmt,
    },
    syntax::{
        ast::{self, DeclaratorPart, Expr, ExprKind, TypeSpecifier},
        token::IntSuffix,
    },
};

/// The parts that names are bound to: the expression of each and its type.
type Parts = Vec<(ExprKind, QualTy)>;

/// `auto [a, b] = value;`
pub(crate) fn check(
    cx: &mut Checker<'_>,
    declaration: &ast::Declaration,
    base: Result<QualTy, Reported>,
    declarator: &ast::InitDeclarator,
    out: &mut Vec<Stmt>,
) {
    let Some(whole) = &declarator.declarator.name else {
        return;
    };
    let is_auto = matches!(declaration.specifiers.ty.node, TypeSpecifier::Auto);
    let refused = match (is_auto, declaration.specifiers.words.first()) {
        (false, _) => Some(("a structured binding without `auto`", whole.span)),
        (true, Some(word)) => Some(("this word before a structured binding", word.span)),
        (true, None) => None,
    };
    if let Some((what, span)) = refused {
        cx.unsupported(what, span);
        return bind_nothing(cx, declarator);
    }
    let object = ast::InitDeclarator {
        bindings: Vec::new(),
        ..declarator.clone()
    };
    variable::local_variable(cx, declaration, base, &object, out);
    let Some(Entity::Local(id)) = cx.scopes.find(&whole.node).map(|found| &found.entity) else {
        return bind_nothing(cx, declarator);
    };
    let var = &cx.body.vars[*id].typed;
    let (ty, is_reference) = (var.ty.clone(), var.is_reference);
    let Some(parts) = parts_to_bind(cx, &ty, whole, declarator.bindings.len()) else {
        return bind_nothing(cx, declarator);
    };
    for (name, (kind, part)) in declarator.bindings.iter().zip(parts) {
        let is_value = !is_reference && part.ty.is_scalar();
        let parts = match is_value {
            true => Vec::new(),
            false => vec![DeclaratorPart::Reference(name.span)],
        };
        let init = Expr::new(kind, name.span);
        let one = ast::InitDeclarator {
            declarator: ast::Declarator {
                name: Some(name.clone()),
                args: None,
                parts,
                span: name.span,
            },
            init: Some(ast::Init::Expr(init)),
            is_copy: true,
            width: None,
            bindings: Vec::new(),
            span: name.span,
        };
        variable::local_variable(cx, declaration, Ok(part), &one, out);
    }
}

/// The members or elements of an object; their number must be that of the names.
fn parts_to_bind(
    cx: &mut Checker<'_>,
    ty: &QualTy,
    whole: &ast::Name,
    n_names: usize,
) -> Option<Parts> {
    let object = || Box::new(Expr::new(ExprKind::Name(whole.node.clone()), whole.span));
    let parts: Option<Parts> = match &ty.ty {
        Ty::Array(element, Some(n)) => {
            let parts = (0..(*n).min(n_names as u64 + 1)).map(|at| {
                let at = Box::new(index(at, whole));
                (ExprKind::Index(object(), at), with_qualifiers(element, ty))
            });
            Some(parts.collect())
        }
        Ty::Record(id) if !cx.tables.record(*id).is_union => {
            // A base class or an anonymous union.
            if cx
                .tables
                .record(*id)
                .fields
                .iter()
                .any(|field| field.name.is_empty())
            {
                cx.unsupported(
                    "a structured binding of a class with a base class",
                    whole.span,
                );
                return None;
            }
            let fields = &cx.tables.record(*id).fields;
            if !ty.is_const && fields.iter().any(|field| field.bits.is_some()) {
                let what = "a structured binding of bit-fields that are not `const`";
                cx.unsupported(what, whole.span);
                return None;
            }
            let fields = &cx.tables.record(*id).fields;
            let parts = fields.iter().map(|field| {
                let name = ast::Name::new(field.name.as_str().into(), whole.span);
                (
                    ExprKind::Member(object(), name),
                    with_qualifiers(&field.ty, ty),
                )
            });
            Some(parts.collect())
        }
        _ => None,
    };
    let message = match &parts {
        None => DeclError::NothingToBind { ty: ty.ty.clone() },
        Some(parts) if parts.len() != n_names => DeclError::BindingCount {
            n_names,
            ty: ty.ty.clone(),
            n_members: n_parts(&cx.tables, &ty.ty),
        },
        Some(_) => return parts,
    };
    cx.error(whole.span, message);
    None
}

fn n_parts(tables: &Tables, ty: &Ty) -> u64 {
    match ty {
        Ty::Array(_, n) => n.unwrap_or(0),
        Ty::Record(id) => tables.record(*id).fields.len() as u64,
        _ => 0,
    }
}

/// Binds the names, so that their uses are no further errors.
fn bind_nothing(cx: &mut Checker<'_>, declarator: &ast::InitDeclarator) {
    for name in &declarator.bindings {
        decl::declare_name(cx, name, Entity::Error);
    }
}

fn index(at: u64, whole: &ast::Name) -> Expr {
    Expr::new(
        ExprKind::Int {
            value: at,
            unsigned: false,
            suffix: IntSuffix::None,
            decimal: true,
        },
        whole.span,
    )
}
