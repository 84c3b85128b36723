//! Lambdas: a class without a name whose members are what is captured and whose `operator()` is the code.
//!
//! Which variables are captured is found while the body is checked: a name that means a variable of a function around becomes a
//! member of the class. A variable captured by reference is a member that points to it.

use crate::sema::message::class::ClassError;
use std::sync::Arc;

use crate::sema::check::{
    Checked, Checker, FunctionEntry, FunctionFacts, Reported, VarEntry, VarFacts, all,
};
use crate::{
    diagnostic::Diagnostic,
    sema::{
        classify::pointer_to,
        layout,
        scope::{Callable, Entity},
        ty::{Field, QualTy, Record, RecordId, Ty},
        typed::{
            Function, FunctionId, FunctionSpace, Place, PlaceKind, Storage, Value, ValueKind, Var,
            VarId,
        },
    },
    span::Span,
    syntax::ast::{self, CaptureKind, SpecifierWord},
};

/// What a lambda captures, while its body is checked.
pub(crate) struct Captures {
    class: RecordId,
    default: Option<CaptureKind>,
    /// What the brackets name.
    named: Vec<(Arc<str>, CaptureKind)>,
    /// What the members are, in order.
    found: Vec<(Arc<str>, CaptureKind, Span)>,
}

/// What is known of a lambda whose code has been checked.
pub(crate) struct LambdaFacts {
    class: RecordId,
    found: Vec<(Arc<str>, CaptureKind, Span)>,
    /// What was wrong in it, until it is told.
    diagnostics: Vec<Diagnostic>,
}

impl Checker<'_> {
    /// `[=](int i) { … }`: its value is an object with what it captures. Its code is checked once, however often the expression
    /// is looked at.
    pub(crate) fn lambda(&mut self, lambda: &ast::Lambda, span: Span) -> Result<Value, Reported> {
        if self.body.id.is_none() {
            return Err(self.unsupported("a lambda outside of a function", span));
        }
        let key = (self.body.id, span);
        if !self.tables.lambdas.contains_key(&key) {
            let facts = self.checked_lambda(lambda)?;
            self.tables.lambdas.insert(key, facts);
        }
        let Some(facts) = self.tables.lambdas.get_mut(&key) else {
            return Err(self.reported_before(span));
        };
        let (class, found) = (facts.class, facts.found.clone());
        let mut members = Vec::new();
        if self.mode.unevaluated == 0 {
            let diagnostics = std::mem::take(&mut facts.diagnostics);
            self.reporter.diagnostics.extend(diagnostics);
            for capture in &lambda.captures {
                if let Some(init) = &capture.init {
                    let value = self.value(init);
                    members.push(value.and_then(|value| self.copied(value)));
                }
            }
            for (name, kind, at) in found {
                members.push(self.captured(&name, kind, at));
            }
        }
        let kind = ValueKind::Aggregate(all(members)?);
        Ok(Value::new(kind, Ty::Record(class), span))
    }

    /// The variables that a lambda names in its brackets; those with a value of their own become members at once.
    fn named_captures(
        &mut self,
        class: RecordId,
        lambda: &ast::Lambda,
    ) -> Result<Vec<(Arc<str>, CaptureKind)>, Reported> {
        let mut named = Vec::new();
        for capture in &lambda.captures {
            if &*capture.name.node == "this" {
                let what = "`this` and members of a class in a lambda";
                return Err(self.unsupported(what, capture.name.span));
            }
            match &capture.init {
                None => named.push((capture.name.node.clone(), capture.kind)),
                Some(init) if capture.kind == CaptureKind::Value => {
                    self.mode.unevaluated += 1;
                    let value = self.value(init);
                    self.mode.unevaluated -= 1;
                    self.add_member(class, &capture.name.node, value?.ty.into());
                }
                Some(_) => {
                    let what = "a capture by reference with a value";
                    return Err(self.unsupported(what, capture.name.span));
                }
            }
        }
        Ok(named)
    }

    /// The parameters of a lambda's function as variables of its body.
    fn lambda_params(&mut self, id: FunctionId, lambda: &ast::Lambda, ids: &mut Vec<VarId>) {
        let params = self.tables.functions[id].facts.params.clone();
        for (param, declared) in params[1..].iter().zip(&lambda.params) {
            let var = self.add_var(Var {
                name: param.name.as_deref().unwrap_or("").to_string(),
                align_bytes: self.tables.align_of(&param.ty.ty),
                ty: param.ty.clone(),
                storage: Storage::Auto,
                address_taken: false,
                is_reference: param.is_reference,
                is_restrict: false,
                span: param.span,
            });
            self.body.vars[var].facts = VarFacts::default();
            ids.push(var);
            if let Some(name) = &declared.declarator.name {
                self.declare_name(name, Entity::Local(var));
            }
        }
    }

    fn checked_lambda(&mut self, lambda: &ast::Lambda) -> Result<LambdaFacts, Reported> {
        let class = self.lambda_class(lambda.span);
        let named = self.named_captures(class, lambda)?;
        let n_diagnostics = self.reporter.diagnostics.len();
        let unevaluated = std::mem::take(&mut self.mode.unevaluated);
        let id = self.lambda_function(class, lambda);
        let floor = self.begin_body(id);
        self.body.lambda = Some(Captures {
            class,
            default: lambda.default,
            named,
            found: Vec::new(),
        });
        self.body.deduces = lambda.result.is_none();
        self.body.named_result = crate::sema::check::named_result::named_result(&lambda.body);
        self.body.class = self.outer_bodies.last().and_then(|outer| outer.class);
        self.scopes.enter();
        let mut ids = self.hidden_param(id);
        for capture in &lambda.captures {
            if capture.init.is_some() {
                let name = capture.name.clone();
                self.scopes
                    .bind(name.node, Entity::Member(class), name.span, false);
            }
        }
        self.lambda_params(id, lambda, &mut ids);
        let mut body = Vec::new();
        self.cleanups_enter();
        self.note_params(&ids);
        self.labelled(&lambda.body.stmts, &mut body);
        self.cleanups_leave(&mut body, lambda.body.span);
        self.scopes.leave();
        let found = self.body.lambda.take().map(|captures| captures.found);
        self.end_body(id, floor, ids, body);
        self.mode.unevaluated = unevaluated;
        self.finish_class(class);
        Ok(LambdaFacts {
            class,
            found: found.unwrap_or_default(),
            diagnostics: self.reporter.diagnostics.split_off(n_diagnostics),
        })
    }

    fn lambda_class(&mut self, span: Span) -> RecordId {
        let class = self.tables.records.push(Record {
            name: "lambda".to_string(),
            is_union: false,
            is_vector: false,
            fields: Vec::new(),
            size_bytes: 1,
            align_bytes: 1,
            span: Some(span),
        });
        self.tables
            .classes
            .insert(class, crate::sema::check::class::ClassFacts::default());
        class
    }

    fn add_member(&mut self, class: RecordId, name: &str, ty: QualTy) {
        self.tables.records[class].fields.push(Field {
            name: name.to_string(),
            ty,
            offset_bytes: 0,
        });
    }

    fn finish_class(&mut self, class: RecordId) {
        let mut fields = std::mem::take(&mut self.tables.records[class].fields);
        let placed = layout::place_fields(
            &mut fields,
            layout::RecordKind::Struct,
            1,
            &self.tables.records,
        );
        let record = &mut self.tables.records[class];
        record.fields = fields;
        (record.size_bytes, record.align_bytes) = placed.unwrap_or((1, 1));
    }

    fn lambda_function(&mut self, class: RecordId, lambda: &ast::Lambda) -> FunctionId {
        let has = |word| lambda.words.iter().any(|spanned| spanned.node == word);
        let space = match (has(SpecifierWord::Device), has(SpecifierWord::Host)) {
            (true, true) => FunctionSpace::HostDevice,
            (true, false) => FunctionSpace::Device,
            (false, _) => match self.body.space {
                Some(FunctionSpace::Kernel | FunctionSpace::Device) => FunctionSpace::Device,
                Some(FunctionSpace::HostDevice) => FunctionSpace::HostDevice,
                Some(FunctionSpace::Host) | None => FunctionSpace::Host,
            },
        };
        let (result, returns_reference) = match &lambda.result {
            None => (Ty::Void, false),
            Some(ty) => {
                let (reference, parts) =
                    crate::sema::check::function::reference_part(&ty.declarator.parts);
                let base = self.base_type_not_auto(&ty.specifiers);
                let ty = self.declared_type(base, parts);
                crate::sema::check::function::returned_type(ty, reference.is_some())
            }
        };
        let mut params = vec![Self::this_param(class, !lambda.is_mutable, lambda.span)];
        params.extend(lambda.params.iter().map(|param| self.param(param)));
        let typed = Function {
            name: "lambda".to_string(),
            space,
            result,
            returns_reference,
            span: lambda.span,
            ..Function::default()
        };
        let facts = FunctionFacts {
            params,
            declared: lambda.span,
            class: Some(class),
            has_this: true,
            is_defined: true,
            ..FunctionFacts::default()
        };
        let id = self.tables.functions.push(FunctionEntry { typed, facts });
        self.scopes.enter();
        self.scopes
            .add_method("operator()".into(), Callable::Function(id), lambda.span);
        self.scopes.close_class(class, None);
        id
    }

    /// A captured variable where the lambda is made.
    fn captured(
        &mut self,
        name: &Arc<str>,
        kind: CaptureKind,
        span: Span,
    ) -> Result<Value, Reported> {
        let place = match self.name(name, span)? {
            Checked::Place(place) => place,
            Checked::Value(value) => return Ok(value),
        };
        if kind == CaptureKind::Reference {
            self.take_address(&place);
            return Ok(Value {
                ty: pointer_to(place.ty.clone()),
                kind: ValueKind::AddressOf(Box::new(place)),
                span,
            });
        }
        let value = crate::sema::check::method::place_value(place);
        self.copied(value)
    }

    /// The member of a lambda's class that holds a captured variable, made when first used: its index.
    fn capture(
        &mut self,
        class: RecordId,
        name: &Arc<str>,
        kind: CaptureKind,
        ty: &QualTy,
        span: Span,
    ) -> usize {
        let found = self.body.lambda.as_ref().map(|captures| &captures.found);
        let n_found = found.map_or(0, Vec::len);
        let known = found.and_then(|found| found.iter().position(|(found, ..)| found == name));
        let n_fields = self.tables.record(class).fields.len();
        if let Some(index) = known {
            return n_fields - n_found + index;
        }
        let member = match kind {
            CaptureKind::Value => QualTy {
                is_const: ty.is_const,
                ..ty.ty.clone().into()
            },
            CaptureKind::Reference => pointer_to(ty.clone()).into(),
        };
        self.add_member(class, name, member);
        if let Some(captures) = &mut self.body.lambda {
            captures.found.push((name.clone(), kind, span));
        }
        n_fields
    }

    /// A name that means a variable of a function around: in a lambda, what it captures.
    pub(crate) fn outer_name(
        &mut self,
        name: &Arc<str>,
        span: Span,
    ) -> Result<Option<Checked>, Reported> {
        let Some((depth, var)) = self.scopes.find_outer(name) else {
            return Ok(None);
        };
        let mut around = self.outer_bodies.iter().rev();
        let Some(owner) = around.find(|body| body.id.is_some() && body.floor <= depth) else {
            return Ok(None);
        };
        let (ty, is_constant, storage, declared) = {
            let VarEntry { typed, facts } = &owner.vars[var];
            (typed.ty.clone(), facts.constant, typed.storage, typed.span)
        };
        self.known(&ty.ty, span)?;
        // A constant is used by its value and not captured.
        if let Some(constant) = is_constant {
            let value = Value::new(constant.kind(), ty.ty, span);
            return Ok(Some(Checked::Value(value)));
        }
        let Some(captures) = &self.body.lambda else {
            return Err(self.error(
                span,
                ClassError::OuterVariable {
                    name: name.to_string(),
                    declared,
                },
            ));
        };
        let (class, default) = (captures.class, captures.default);
        let known = captures.found.iter().find(|(found, ..)| found == name);
        let named = captures.named.iter().find(|(named, _)| named == name);
        let kind = match (known, named, default) {
            (Some((_, kind, _)), ..) => *kind,
            (None, Some((_, kind)), _) => *kind,
            (None, None, Some(kind)) => kind,
            (None, None, None) => {
                return Err(self.error(
                    span,
                    ClassError::NotCaptured {
                        name: name.to_string(),
                        declared,
                    },
                ));
            }
        };
        if storage != Storage::Auto && kind == CaptureKind::Value {
            return Err(self.unsupported("a copy of a shared variable in a lambda", span));
        }
        let index = self.capture(class, name, kind, &ty, span);
        let Some(this) = self.this_place(span) else {
            return Err(self.reported_before(span));
        };
        let member = self.tables.field_place(this, index as u32, span);
        if kind == CaptureKind::Value {
            return Ok(Some(Checked::Place(member)));
        }
        let pointer = Value::load(member, span);
        let kind = PlaceKind::Deref(Box::new(pointer));
        Ok(Some(Checked::Place(Place::new(kind, ty, span))))
    }
}
