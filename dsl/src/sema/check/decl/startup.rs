//! What runs before `main`'s first statement and what ends the program from anywhere: constructors of objects at file scope, `throw`.

use crate::sema::check::{Checker, Reported, construct::comma, convert::Why, overload::Argument};
use crate::{
    ir::HostFn,
    sema::{
        classify::{constant, pointer_to},
        ty::{QualTy, Ty},
        typed::{
            FunctionSpace, GlobalSpace, GlobalVarId, Place, PlaceKind, Stmt, Value, ValueKind,
            VarRef,
        },
    },
    span::Span,
    syntax::ast,
};

/// An object at file scope that begins when `main` does.
pub(crate) struct AtStart {
    object: GlobalVarId,
    init: Option<ast::Init>,
    name: ast::Name,
}

/// What runs before `main`.
#[derive(Default)]
pub(crate) struct Startup {
    /// Objects at file scope whose constructors run when `main` begins.
    pub(crate) at_start: Vec<AtStart>,
    pub(crate) main_is_checked: bool,
}

impl Checker<'_> {
    /// Whether the object can begin with `main`: it is the host's, and nobody sees that it never ends.
    pub(crate) fn begins_at_start(&self, ty: &Ty, space: GlobalSpace, at_file: bool) -> bool {
        let is_of_library = match ty {
            Ty::Record(id) => self
                .tables
                .record(*id)
                .span
                .is_some_and(|span| self.is_own(span)),
            _ => false,
        };
        at_file
            && space == GlobalSpace::Host
            && !self.startup.main_is_checked
            && matches!(ty, Ty::Record(_))
            && (is_of_library || !self.tables.has_destructor(ty))
    }

    pub(crate) fn begin_at_start(
        &mut self,
        object: GlobalVarId,
        init: Option<&ast::Init>,
        name: &ast::Name,
    ) {
        self.startup.at_start.push(AtStart {
            object,
            init: init.cloned(),
            name: name.clone(),
        });
    }

    /// The beginnings of the objects at file scope, in their order.
    pub(crate) fn start(&mut self, out: &mut Vec<Stmt>) {
        self.startup.main_is_checked = true;
        for AtStart { object, init, name } in std::mem::take(&mut self.startup.at_start) {
            let ty = QualTy {
                is_const: false,
                ..self.tables.globals[object].typed.ty.clone()
            };
            let place = Place::new(
                PlaceKind::Var(VarRef::Global(object)),
                ty.clone(),
                name.span,
            );
            match &init {
                None => self.begin_object(place, &name.node, name.span, out),
                Some(ast::Init::Expr(expr)) => {
                    let value = self.implicit_value(expr, &ty.ty, &Why::Init(&name.node));
                    if let Some(value) = self.body_part(value) {
                        let args = vec![Argument::Value(value)];
                        self.construct_into(place, args, name.span, out);
                    }
                }
                Some(init) => {
                    let args = self.init_arguments(&ty.ty, init);
                    self.construct_into(place, args, name.span, out);
                }
            }
            self.end_temporaries(name.span, out);
        }
    }

    /// `throw e`: nothing catches, so the program ends, with the words of g++'s library.
    pub(crate) fn throw_expr(&mut self, thrown: &ast::Expr, span: Span) -> Result<Value, Reported> {
        if self.body.space != Some(FunctionSpace::Host) {
            return Err(self.unsupported("`throw` in device code", span));
        }
        let value = self.value(thrown)?;
        let text = self.show(&value.ty);
        let is_of_library = match &value.ty {
            Ty::Record(id) => self
                .tables
                .record(*id)
                .span
                .is_some_and(|span| self.is_own(span)),
            _ => false,
        };
        let text = match is_of_library && !text.starts_with("std::") {
            true => format!("std::{text}"),
            false => text,
        };
        let string = pointer_to(constant(Ty::Char));
        let name = Value::new(ValueKind::Str(text.as_bytes().into()), string.clone(), span);
        let has_what = match &value.ty {
            Ty::Record(id) => self.scopes.find_in_class(*id, "what"),
            _ => None,
        };
        let what = match has_what.map(|(owner, binding)| (owner, binding.entity.clone())) {
            Some((owner, crate::sema::scope::Entity::Functions(set))) => {
                let ids = self.functions_of(&set);
                let object = self.as_base(value, owner);
                let called =
                    self.call_member(Some(object), &ids, "what", span, Vec::new(), span)?;
                self.read_checked(called)
            }
            _ => {
                let value = self.discarded(value);
                let none = Value::new(ValueKind::Null, string.clone(), span);
                comma(value, none)
            }
        };
        let what = self.implicit(what, &string, &Why::Operand)?;
        let said = self.library_call("__dslc_throw", None, vec![name, what], span)?;
        let abort = Value::new(ValueKind::Host(HostFn::Abort, Vec::new()), Ty::Void, span);
        Ok(comma(said, abort))
    }
}
