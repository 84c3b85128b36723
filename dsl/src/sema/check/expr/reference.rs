//! References: other names for places.
//!
//! A reference is bound to the address of a place; nothing says yet whether that place has one (the lowering decides: a variable
//! whose references are all followed stays in registers). A reference to `const` can also be bound to a value, which then lives
//! as long as the reference does.

use crate::sema::check::{Checker, Reported, convert::Why, function::reference_part};
use crate::sema::message::expr::ExprError;
use crate::{
    sema::{
        classify::pointer_to,
        scope::Entity,
        ty::{QualTy, Ty},
        typed::{Init, Place, PlaceKind, Stmt, StmtKind, Storage, Value, ValueKind, Var},
    },
    span::Span,
    syntax::ast::{self, DeclaratorPart, SpecifierWord},
};

impl Checker<'_> {
    /// The place a value was read from, if it is one that can be named again.
    pub(crate) fn place_of(value: &Value) -> Option<&Place> {
        match &value.kind {
            ValueKind::Load(place) | ValueKind::Decay(place)
                if !crate::sema::check::access::is_temporary(place) =>
            {
                Some(place)
            }
            _ => None,
        }
    }

    /// `c ? a : b` of two places is a place: the one behind the address that the condition chooses.
    pub(crate) fn as_place_value(&mut self, value: Value) -> Value {
        let ValueKind::Conditional(cond, yes, no) = &value.kind else {
            return value;
        };
        let (Some(a), Some(b)) = (Self::place_of(yes), Self::place_of(no)) else {
            return value;
        };
        if a.ty.ty != b.ty.ty || matches!(a.ty.ty, Ty::Array(..)) {
            return value;
        }
        let (a, b, span) = (a.clone(), b.clone(), value.span);
        let ty = QualTy {
            ty: a.ty.ty.clone(),
            is_const: a.ty.is_const || b.ty.is_const,
            is_volatile: a.ty.is_volatile || b.ty.is_volatile,
        };
        self.take_address(&a);
        self.take_address(&b);
        let chosen = Value::new(
            ValueKind::Conditional(
                cond.clone(),
                Box::new(address(a, &ty, span)),
                Box::new(address(b, &ty, span)),
            ),
            pointer_to(ty.clone()),
            span,
        );
        crate::sema::check::method::place_value(Place::new(
            PlaceKind::Deref(Box::new(chosen)),
            ty,
            span,
        ))
    }

    /// The address of what a reference to `ty` is bound to.
    pub(crate) fn bind(
        &mut self,
        value: Value,
        ty: &QualTy,
        why: &Why<'_>,
    ) -> Result<Value, Reported> {
        let value = match ty.is_const {
            true => value,
            false => self.as_place_value(value),
        };
        self.known(&ty.ty, value.span)?;
        let span = value.span;
        if let Some(place) = Self::place_of(&value) {
            let is_base = match (&place.ty.ty, &ty.ty) {
                (Ty::Record(from), Ty::Record(to)) => self.tables.is_derived(*from, *to),
                _ => false,
            };
            if is_base || same_object(&place.ty.ty, &ty.ty) {
                let mut place = place.clone();
                if let Ty::Record(base) = ty.ty {
                    place = self.tables.base_place(place, base);
                }
                return self.bind_place(place, ty, why);
            }
        }
        if !ty.is_const || ty.is_volatile || matches!(ty.ty, Ty::Array(..)) {
            return Err(self.not_bindable(&value, ty, why));
        }
        let value = self.implicit(value, &ty.ty, why)?;
        Ok(self.address_of_value(value, ty, span))
    }

    /// The address of the object of a member function: a place, or a value that is kept while the function runs.
    pub(crate) fn bind_object(
        &mut self,
        value: Value,
        ty: &QualTy,
        why: &Why<'_>,
    ) -> Result<Value, Reported> {
        if Self::place_of(&value).is_some() || value.ty != ty.ty {
            return self.bind(value, ty, why);
        }
        let span = value.span;
        Ok(self.address_of_value(value, ty, span))
    }

    /// The address of a value that a reference keeps.
    fn address_of_value(&mut self, value: Value, ty: &QualTy, span: Span) -> Value {
        let place = match self.is_unowned(&value) {
            true => self.temporary_place(value),
            false => Place::new(PlaceKind::Temporary(Box::new(value)), ty.clone(), span),
        };
        address(place, ty, span)
    }

    fn bind_place(&mut self, place: Place, ty: &QualTy, why: &Why<'_>) -> Result<Value, Reported> {
        let span = place.span;
        let lost = if place.ty.is_const && !ty.is_const {
            Some("const")
        } else if place.ty.is_volatile && !ty.is_volatile {
            Some("volatile")
        } else {
            None
        };
        if let Some(word) = lost {
            let text = self.map.snippet(span).to_string();
            let message = ExprError::ReferenceDropsQualifier {
                text,
                word,
                parameter: why.parameter(),
            };
            return Err(self.error(span, message));
        }
        self.check_bounds(&place);
        Ok(address(place, ty, span))
    }

    fn not_bindable(&mut self, value: &Value, ty: &QualTy, why: &Why<'_>) -> Reported {
        let span = value.span;
        let text = self.map.snippet(span).to_string();
        let (wanted, parameter) = (ty.clone(), why.parameter());
        let not_array = !matches!(ty.ty, Ty::Array(..));
        let found = Self::place_of(value).map(|place| place.ty.clone());
        let message = if found.is_some() || !not_array {
            ExprError::ReferenceToOtherType {
                wanted,
                text,
                found: found.unwrap_or_else(|| value.ty.clone().into()),
                parameter,
                not_array,
            }
        } else {
            ExprError::ReferenceToValue {
                wanted,
                text,
                parameter,
                not_array,
            }
        };
        self.error(span, message)
    }

    /// What `return` gives in a function that returns a reference.
    pub(crate) fn bind_result(
        &mut self,
        value: Value,
        ty: &QualTy,
        name: &str,
    ) -> Result<Value, Reported> {
        let value = self.as_place_value(value);
        let span = value.span;
        let found = Self::place_of(&value).filter(|place| same_object(&place.ty.ty, &ty.ty));
        let Some(place) = found.cloned() else {
            let text = self.map.snippet(span).to_string();
            return Err(self.error(
                span,
                ExprError::ReturnsTemporary {
                    name: name.to_string(),
                    text: text.to_string(),
                },
            ));
        };
        if let Some(crate::sema::typed::VarRef::Local(var)) =
            crate::sema::check::access::root(&place)
        {
            let var = &self.body.vars[var].typed;
            if !var.is_reference && var.storage == Storage::Auto {
                let (text, declared) = (var.name.clone(), var.span);
                return Err(self.error(
                    span,
                    ExprError::ReturnsLocal {
                        name: name.to_string(),
                        text: text.to_string(),
                        declared,
                    },
                ));
            }
        }
        self.bind_place(place, ty, &Why::Return(name))
    }

    /// `int &x = a[i];`, `const auto &x = …`.
    pub(crate) fn local_reference(
        &mut self,
        declaration: &ast::Declaration,
        base: Result<QualTy, Reported>,
        declarator: &ast::InitDeclarator,
        (span, is_rvalue): (Span, bool),
        out: &mut Vec<Stmt>,
    ) {
        let Some(name) = &declarator.declarator.name else {
            return;
        };
        for word in [
            SpecifierWord::Static,
            SpecifierWord::Extern,
            SpecifierWord::Shared,
            SpecifierWord::Constant,
            SpecifierWord::Device,
        ] {
            if let Some(place) = declaration.specifiers.word(word) {
                return self.refuse_reference(
                    "a reference that outlives its function",
                    declarator,
                    place,
                );
            }
        }
        let (_, parts) = reference_part(&declarator.declarator.parts);
        let is_auto = matches!(declaration.specifiers.ty.node, ast::TypeSpecifier::Auto);
        // What `auto` is deduced from has its messages.
        let is_checked = is_auto && base.is_err();
        let ty = self.declared_type(base, parts);
        if is_checked {
            return self.declare_name(name, Entity::Error);
        }
        let init = declarator.init.as_ref().and_then(ast::Init::single);
        let value = init.map(|expr| self.value(expr));
        let Some(value) = value else {
            self.error(
                name.span,
                ExprError::ReferenceWithoutInitialiser {
                    name: name.node.to_string(),
                },
            );
            self.declare_name(name, Entity::Error);
            return;
        };
        let (Ok(value), Ok(mut ty)) = (value, ty) else {
            return self.declare_name(name, Entity::Error);
        };
        if is_rvalue {
            // `auto &&x = place` is an ordinary reference; a value bound to `T &&` is a variable of its own.
            if !(is_auto && Self::place_of(&value).is_some()) {
                if Self::place_of(&value).is_some() {
                    return self.refuse_reference(
                        "an rvalue reference to a variable",
                        declarator,
                        span,
                    );
                }
                ty.is_const = true;
            }
        }
        let n_temporaries = self.body.flow.temporaries.len();
        let is_unowned = self.is_unowned(&value);
        let bound = self.bind(value, &ty, &Why::Init(&name.node));
        // The object lives as long as the reference does.
        if self.body.flow.temporaries.len() > n_temporaries
            && (is_unowned || self.tables.has_destructor(&ty.ty))
            && let Some(var) = self.body.flow.temporaries.pop()
            && let Some(block) = self.body.flow.cleanups.last_mut()
        {
            block.push(var);
        }
        let Ok(bound) = bound else {
            return self.declare_name(name, Entity::Error);
        };
        let id = self.reference_variable(&name.node, ty, name.span);
        self.declare_name(name, Entity::Local(id));
        out.push(Stmt::new(
            StmtKind::Declare(id, Some(Init::Value(bound))),
            declarator.span,
        ));
    }

    /// A new reference of the function being checked; to be declared with the address it is bound to.
    pub(crate) fn reference_variable(
        &mut self,
        name: &str,
        ty: QualTy,
        span: Span,
    ) -> crate::sema::typed::VarId {
        self.add_var(Var {
            name: name.to_string(),
            align_bytes: self.tables.align_of(&ty.ty),
            ty,
            storage: Storage::Auto,
            address_taken: false,
            is_reference: true,
            is_restrict: false,
            span,
        })
    }

    /// Names a form of reference that is not supported; uses of the name are no further errors.
    pub(crate) fn refuse_reference(
        &mut self,
        what: &str,
        declarator: &ast::InitDeclarator,
        span: Span,
    ) {
        self.unsupported(what, span);
        if let Some(name) = &declarator.declarator.name {
            self.declare_name(name, Entity::Error);
        }
    }

    /// `&` where a declarator cannot have one, below the parts before it.
    pub(crate) fn misplaced_reference(
        &mut self,
        around: &[DeclaratorPart],
        span: Span,
    ) -> Reported {
        let what = match around.last() {
            Some(DeclaratorPart::Pointer { .. }) => "there are no pointers to references",
            Some(DeclaratorPart::Array(..)) => "there are no arrays of references",
            Some(DeclaratorPart::Reference(_) | DeclaratorPart::RvalueReference(_)) => {
                "there are no references to references"
            }
            Some(DeclaratorPart::Function(..)) | None => {
                return self.unsupported("a reference here", span);
            }
        };
        self.error(span, ExprError::ReferenceMisplaced { what })
    }
}

/// A reference to `to` can name an object of type `from`: the types are equal but for qualifiers of elements.
pub(crate) fn same_object(from: &Ty, to: &Ty) -> bool {
    crate::sema::check::convert::bare_elements(from)
        == crate::sema::check::convert::bare_elements(to)
}

fn address(place: Place, ty: &QualTy, span: Span) -> Value {
    Value::new(
        ValueKind::AddressOf(Box::new(place)),
        pointer_to(ty.clone()),
        span,
    )
}
