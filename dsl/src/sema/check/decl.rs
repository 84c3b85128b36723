//! Declarations: what a declarator declares (a type's name, a function, a variable) and where it may stand.
//!
//! Variables themselves are made in `variable`.

use crate::sema::message::decl::DeclError;
use std::sync::Arc;

use super::{Checked, Checker, Reported, function::reference_part};
use crate::{
    sema::{
        scope::Entity,
        ty::{QualTy, Ty},
        typed,
    },
    span::Span,
    syntax::ast::{self, DeclaratorPart, SpecifierWord},
};

pub(crate) mod binding;
pub(crate) mod function;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod record;
pub(crate) mod specifier;
pub(crate) mod startup;
pub(crate) mod variable;

/// What is done with each variable of a declaration: its base type, and the declarator.
type EachVariable<'f, C> = dyn FnMut(&mut C, Result<QualTy, Reported>, &ast::InitDeclarator) + 'f;

impl Checker<'_> {
    /// Binds a name in the innermost scope. A second meaning in the same scope is an error (a repeated typedef is not).
    pub(crate) fn declare_name(&mut self, name: &ast::Name, entity: Entity) {
        let in_prelude = self.in_prelude(name.span);
        if let Some(old) = self.scopes.find_here(&name.node, in_prelude) {
            let same = match (&old.entity, &entity) {
                (Entity::Typedef(old), Entity::Typedef(new)) => old == new,
                (Entity::Error, _) | (_, Entity::Error) => true,
                _ => false,
            };
            if !same {
                let diagnostic = self.diagnostic(
                    name.span,
                    DeclError::DeclaredTwice {
                        name: name.node.to_string(),
                        first: old.span,
                    },
                );
                self.report(diagnostic);
            }
        }
        self.scopes
            .bind(name.node.clone(), entity, name.span, in_prelude);
    }

    /// A declaration at file scope.
    pub(crate) fn file_declaration(&mut self, declaration: &ast::Declaration) {
        self.each_declarator(declaration, &mut |checker, base, declarator| {
            checker.file_variable(declaration, base, declarator);
        });
    }

    /// A declaration in a block, as statements.
    pub(crate) fn local_declaration(
        &mut self,
        declaration: &ast::Declaration,
        out: &mut Vec<typed::Stmt>,
    ) {
        self.each_declarator(declaration, &mut |checker, base, declarator| {
            checker.local_variable(declaration, base, declarator, out);
        });
    }

    /// Deals with typedefs and prototypes and calls `variable` for the rest.
    pub(crate) fn each_declarator(
        &mut self,
        declaration: &ast::Declaration,
        variable: &mut EachVariable<'_, Self>,
    ) {
        let specifiers = &declaration.specifiers;
        let is_typedef = specifiers.word(SpecifierWord::Typedef).is_some();
        let base = self.base_type(specifiers).transpose();
        for declarator in &declaration.declarators {
            let parts = &declarator.declarator.parts;
            let Some(name) = &declarator.declarator.name else {
                continue;
            };
            let Some(ty) = base.clone() else {
                let deduced = self.deduced(declarator, specifiers.ty.span);
                let qualified = deduced.map(|deduced| QualTy {
                    is_const: deduced.is_const
                        || specifiers.is_const
                        || specifiers.word(SpecifierWord::Constexpr).is_some(),
                    is_volatile: deduced.is_volatile || specifiers.is_volatile,
                    ty: deduced.ty,
                });
                variable(self, qualified, declarator);
                continue;
            };
            if is_typedef {
                let entity = match self.declared_type(ty, parts) {
                    Ok(ty) => {
                        self.name_after_typedef(&ty.ty, &name.node);
                        Entity::Typedef(ty)
                    }
                    Err(_) => Entity::Error,
                };
                self.declare_name(name, entity);
            } else if let Some(DeclaratorPart::Function(params, span)) = parts.first() {
                self.local_prototype(declaration, declarator, name, params, *span);
            } else {
                variable(self, ty, declarator);
            }
        }
    }

    /// The type `auto` stands for, without what the declarator puts around it. Only a reference keeps qualifiers. If it is not understood,
    /// the initialiser has its messages.
    fn deduced(
        &mut self,
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
            // `auto x{e}`; with a `=` it is a list.
            Some(ast::Init::List(items)) => match &items.node[..] {
                [
                    ast::InitItem {
                        designator: None,
                        value: ast::Init::Expr(expr),
                    },
                ] if !self.is_copied_list(declarator) => Some(expr),
                _ => None,
            },
            _ => None,
        };
        let is_pointer = matches!(parts, [DeclaratorPart::Pointer { .. }]);
        let Some(expr) = expr.filter(|_| parts.is_empty() || is_pointer) else {
            let reported = self.unsupported("this form of `auto`", span);
            self.check_init_alone(declarator.init.as_ref());
            return Err(reported);
        };
        // Errors in the initialiser are reported when the variable is made, unless they leave it without a type.
        let n_diagnostics = self.reporter.diagnostics.len();
        self.mode.unevaluated += 1;
        let checked = self.expr(expr);
        self.mode.unevaluated -= 1;
        let ty: QualTy = match checked? {
            Checked::Place(place) if reference.is_some() && !is_pointer => place.ty,
            Checked::Place(place) => match &place.ty.ty {
                Ty::Array(element, _) => Ty::Pointer(Arc::new(element.as_ref().clone())).into(),
                other => other.clone().into(),
            },
            Checked::Value(value) => value.ty.into(),
        };
        self.reporter.diagnostics.truncate(n_diagnostics);
        match ty.ty {
            Ty::Pointer(pointee) if is_pointer => Ok(pointee.as_ref().clone()),
            other if is_pointer => {
                let message = DeclError::AutoNeedsPointer { ty: other };
                Err(self.error(expr.span, message))
            }
            _ => Ok(ty),
        }
    }

    /// The list stands after a `=`.
    fn is_copied_list(&self, declarator: &ast::InitDeclarator) -> bool {
        let text = self.map.snippet(declarator.span);
        let before = text.split('{').next().unwrap_or_default();
        before.contains('=')
    }

    /// `int f(int);` in a declaration: a prototype.
    fn local_prototype(
        &mut self,
        declaration: &ast::Declaration,
        declarator: &ast::InitDeclarator,
        name: &ast::Name,
        params: &[ast::Param],
        span: Span,
    ) {
        if params.is_empty() && self.body.id.is_some() {
            // `dim3 grid();` declares a function in C++ too, and never on purpose.
            self.error(
                declarator.span,
                DeclError::DeclaredAsFunction {
                    name: name.node.to_string(),
                    place: span,
                },
            );
            self.declare_name(name, Entity::Error);
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
        self.declare_function(&function);
    }
}
