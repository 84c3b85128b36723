//! Structured bindings: `auto [a, b] = pair;`, `auto &[x, y] = point;`.
//!
//! The object gets a variable named by the bindings' text. Each name is a reference to a part of it, or, where the object is one of its
//! own that nothing else can name, a variable with that part's value: a scalar then needs no memory.

use crate::sema::check::{Checker, Reported, expr::with_qualifiers};
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

impl Checker<'_> {
    pub(crate) fn structured_binding(
        &mut self,
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
            self.unsupported(what, span);
            return self.bind_nothing(declarator);
        }
        let object = ast::InitDeclarator {
            bindings: Vec::new(),
            ..declarator.clone()
        };
        self.local_variable(declaration, base, &object, out);
        let Some(Entity::Local(id)) = self.scopes.find(&whole.node).map(|found| &found.entity)
        else {
            return self.bind_nothing(declarator);
        };
        let var = &self.body.vars[*id].typed;
        let (ty, is_reference) = (var.ty.clone(), var.is_reference);
        let Some(parts) = self.parts_to_bind(&ty, whole, declarator.bindings.len()) else {
            return self.bind_nothing(declarator);
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
                width: None,
                bindings: Vec::new(),
                span: name.span,
            };
            self.local_variable(declaration, Ok(part), &one, out);
        }
    }

    /// The members or elements of an object, which are to be as many as there are names.
    fn parts_to_bind(&mut self, ty: &QualTy, whole: &ast::Name, n_names: usize) -> Option<Parts> {
        let object = || Box::new(Expr::new(ExprKind::Name(whole.node.clone()), whole.span));
        let parts: Option<Parts> = match &ty.ty {
            Ty::Array(element, Some(n)) => {
                let parts = (0..(*n).min(n_names as u64 + 1)).map(|at| {
                    let at = Box::new(index(at, whole));
                    (ExprKind::Index(object(), at), with_qualifiers(element, ty))
                });
                Some(parts.collect())
            }
            Ty::Record(id) if !self.tables.record(*id).is_union => {
                // A base class or an anonymous union.
                if self
                    .tables
                    .record(*id)
                    .fields
                    .iter()
                    .any(|field| field.name.is_empty())
                {
                    self.unsupported(
                        "a structured binding of a class with a base class",
                        whole.span,
                    );
                    return None;
                }
                let fields = &self.tables.record(*id).fields;
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
                n_members: self.n_parts(&ty.ty),
            },
            Some(_) => return parts,
        };
        self.error(whole.span, message);
        None
    }

    fn n_parts(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Array(_, n) => n.unwrap_or(0),
            Ty::Record(id) => self.tables.record(*id).fields.len() as u64,
            _ => 0,
        }
    }

    /// The names are there, and uses of them are no further errors.
    fn bind_nothing(&mut self, declarator: &ast::InitDeclarator) {
        for name in &declarator.bindings {
            self.declare_name(name, Entity::Error);
        }
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
