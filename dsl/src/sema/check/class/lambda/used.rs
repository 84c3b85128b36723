//! Collects the names that a lambda's code uses from outside: those that it uses without declaring them. Their meaning is not looked up, so
//! functions and types are among them.
//!
//! A generic lambda needs them before anything is known about its types: its object holds the captures, and is made before its first call.

use std::sync::Arc;

use crate::syntax::ast::{
    Block, Declaration, Declarator, DeclaratorPart, Expr, ExprKind, Init, InitItem, Lambda, Param,
    Specifiers, Stmt, StmtKind, TemplateArg, TypeName, TypeSpecifier,
};
use ir::span::Span;

/// Each name once, in the order of first use, with the place of that use.
pub(super) fn names(lambda: &Lambda) -> Vec<(Arc<str>, Span)> {
    let mut names = Names::default();
    names.code(lambda);
    names.used
}

#[derive(Default)]
struct Names {
    used: Vec<(Arc<str>, Span)>,
    /// The names that the enclosing blocks declare.
    declared: Vec<Arc<str>>,
}

impl Names {
    fn name(&mut self, name: &Arc<str>, span: Span) {
        let is_own = self.declared.contains(name);
        if !is_own && !self.used.iter().any(|(used, _)| used == name) {
            self.used.push((name.clone(), span));
        }
    }

    /// Runs `inside` in a new scope.
    fn scope(&mut self, inside: impl FnOnce(&mut Self)) {
        let outside = self.declared.len();
        inside(self);
        self.declared.truncate(outside);
    }

    /// A lambda's parameters and body.
    fn code(&mut self, lambda: &Lambda) {
        self.scope(|names| {
            for capture in &lambda.captures {
                if capture.init.is_some() {
                    names.declared.push(capture.name.node.clone());
                }
            }
            names.params(&lambda.params);
            if let Some(result) = &lambda.result {
                names.type_name(result);
            }
            names.block(&lambda.body);
        });
    }

    /// A nested lambda: its captures are uses here.
    fn inner(&mut self, lambda: &Lambda) {
        for capture in &lambda.captures {
            match &capture.init {
                Some(init) => self.expr(init),
                None => self.name(&capture.name.node, capture.name.span),
            }
        }
        self.code(lambda);
    }

    fn params(&mut self, params: &[Param]) {
        for param in params {
            self.specifiers(&param.specifiers);
            self.declarator(&param.declarator);
            if let Some(default) = &param.default {
                self.expr(default);
            }
        }
    }

    fn block(&mut self, block: &Block) {
        self.scope(|names| block.stmts.iter().for_each(|stmt| names.stmt(stmt)));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) | StmtKind::Case(expr) | StmtKind::Return(Some(expr)) => {
                self.expr(expr);
            }
            StmtKind::Declaration(declaration) => self.declaration(declaration),
            StmtKind::StaticAssert(assert) => self.expr(&assert.condition),
            StmtKind::Block(block) => self.block(block),
            StmtKind::If {
                arms, otherwise, ..
            } => {
                for (cond, body) in arms {
                    self.expr(cond);
                    self.scope(|names| names.stmt(body));
                }
                if let Some(otherwise) = otherwise {
                    self.scope(|names| names.stmt(otherwise));
                }
            }
            StmtKind::While { cond, body, .. }
            | StmtKind::DoWhile { body, cond, .. }
            | StmtKind::Switch { value: cond, body } => {
                self.expr(cond);
                self.scope(|names| names.stmt(body));
            }
            StmtKind::For {
                init,
                cond,
                step,
                body,
                ..
            } => self.scope(|names| {
                names.stmt(init);
                cond.iter().chain(step).for_each(|expr| names.expr(expr));
                names.scope(|names| names.stmt(body));
            }),
            StmtKind::RangeFor {
                declaration,
                range,
                body,
                ..
            } => {
                self.expr(range);
                self.scope(|names| {
                    names.declaration(declaration);
                    names.stmt(body);
                });
            }
            StmtKind::Empty
            | StmtKind::Using(_)
            | StmtKind::Default
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Label(_)
            | StmtKind::Return(None)
            | StmtKind::Error => {}
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.specifiers(&declaration.specifiers);
        for one in &declaration.declarators {
            self.declarator(&one.declarator);
            for binding in &one.bindings {
                self.declared.push(binding.node.clone());
            }
            if let Some(init) = &one.init {
                self.init(init);
            }
        }
    }

    fn declarator(&mut self, declarator: &Declarator) {
        if let Some(name) = &declarator.name {
            self.declared.push(name.node.clone());
        }
        for part in &declarator.parts {
            match part {
                DeclaratorPart::Array(Some(size), _) => self.expr(size),
                DeclaratorPart::Function(params, _) => self.scope(|names| names.params(params)),
                DeclaratorPart::Array(None, _)
                | DeclaratorPart::Pointer { .. }
                | DeclaratorPart::Reference(_)
                | DeclaratorPart::RvalueReference(_) => {}
            }
        }
        self.template_args(declarator.args.as_deref().unwrap_or_default());
    }

    fn specifiers(&mut self, specifiers: &Specifiers) {
        match &specifiers.ty.node {
            TypeSpecifier::Decltype(expr) => self.expr(expr),
            TypeSpecifier::Path(path) => {
                for segment in &path.segments {
                    self.template_args(segment.args.as_deref().unwrap_or_default());
                }
            }
            TypeSpecifier::Enum(specifier) => {
                for (name, value) in specifier.enumerators.iter().flatten() {
                    value.iter().for_each(|value| self.expr(value));
                    self.declared.push(name.node.clone());
                }
            }
            // The functions of a local class cannot use captures.
            TypeSpecifier::Record(_)
            | TypeSpecifier::Void
            | TypeSpecifier::Bool
            | TypeSpecifier::Char(_)
            | TypeSpecifier::Short(_)
            | TypeSpecifier::Int(_)
            | TypeSpecifier::Long(_)
            | TypeSpecifier::LongLong(_)
            | TypeSpecifier::Float
            | TypeSpecifier::Double
            | TypeSpecifier::Auto
            | TypeSpecifier::Named(_) => {}
        }
    }

    fn type_name(&mut self, ty: &TypeName) {
        self.specifiers(&ty.specifiers);
        self.scope(|names| names.declarator(&ty.declarator));
    }

    fn template_args(&mut self, args: &[TemplateArg]) {
        for arg in args {
            match arg {
                TemplateArg::Type(ty) => self.type_name(ty),
                TemplateArg::Value(expr) => self.expr(expr),
                TemplateArg::Expansion(pattern) => {
                    self.template_args(std::slice::from_ref(pattern));
                }
            }
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Expr(expr) => self.expr(expr),
            Init::List(items) => self.items(&items.node),
            Init::Construct(args) => self.exprs(&args.node),
        }
    }

    fn items(&mut self, items: &[InitItem]) {
        for item in items {
            if let Some(crate::syntax::ast::Designator::Index(index)) = &item.designator {
                self.expr(index);
            }
            self.init(&item.value);
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::SizeofPack(name) => self.name(&name.node, name.span),
            ExprKind::Path(path) => {
                for segment in &path.segments {
                    self.template_args(segment.args.as_deref().unwrap_or_default());
                }
            }
            ExprKind::Unary(_, one)
            | ExprKind::Postfix(_, one)
            | ExprKind::Member(one, _)
            | ExprKind::Arrow(one, _)
            | ExprKind::Throw(one)
            | ExprKind::SizeofExpr(one)
            | ExprKind::Delete { pointer: one, .. } => self.expr(one),
            ExprKind::Binary(_, left, right)
            | ExprKind::Assign(_, left, right)
            | ExprKind::Comma(left, right)
            | ExprKind::Index(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(cond, yes, no) => {
                self.expr(cond);
                self.expr(yes);
                self.expr(no);
            }
            ExprKind::Call(callee, args) => {
                self.expr(callee);
                self.exprs(args);
            }
            ExprKind::Launch {
                callee,
                config,
                args,
            } => {
                self.expr(callee);
                self.exprs(&config.node);
                self.exprs(args);
            }
            ExprKind::Instance(one, args) => {
                self.expr(one);
                self.template_args(args);
            }
            ExprKind::Expansion(one) | ExprKind::Element(one, _) => self.expr(one),
            ExprKind::Fold(fold) => {
                self.expr(&fold.pattern);
                fold.init.iter().for_each(|init| self.expr(init));
            }
            ExprKind::Asm(asm) => {
                let operands = asm.outputs.iter().chain(&asm.inputs);
                operands.for_each(|(_, operand)| self.expr(operand));
            }
            ExprKind::Cast(ty, one) | ExprKind::NamedCast(_, ty, one) => {
                self.type_name(ty);
                self.expr(one);
            }
            ExprKind::Construct(ty, args) => {
                self.type_name(ty);
                self.exprs(args);
            }
            ExprKind::Braced(ty, items) => {
                self.type_name(ty);
                self.items(items);
            }
            ExprKind::Lambda(lambda) => self.inner(lambda),
            ExprKind::New(new) => {
                new.place.iter().for_each(|place| self.expr(place));
                self.type_name(&new.ty);
                self.exprs(&new.counts);
                new.init.iter().for_each(|init| self.init(init));
            }
            ExprKind::Alignof(ty) | ExprKind::IsTrivial(ty) | ExprKind::SizeofType(ty) => {
                self.type_name(ty);
            }
            ExprKind::List(items) => self.items(items),
            ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Char(_)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::Nullptr
            | ExprKind::This
            | ExprKind::Unsupported(_)
            | ExprKind::Error => {}
        }
    }
}
