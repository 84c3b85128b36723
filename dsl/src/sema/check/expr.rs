//! Expressions: literals, names, and one line for each of the others.
//!
//! An expression is a place or a value; `value` reads the place. Left-leaning chains of operators (`a + b + … + z`) are
//! walked with a loop, because a program may have two thousand of them in a row.

use crate::sema::{message::expr::ExprError, path};
use std::sync::Arc;

use super::{
    Checked, Checker, GlobalEntry, Reported, Side, int,
    overload::Argument,
    pointer_call::{function_constant, pointed_function},
};
use crate::{
    ir::SpecialReg,
    sema::{
        builtin::{self, Entry},
        classify::{Classify, constant, pointer_to},
        const_eval::Const,
        scope::Entity,
        ty::{QualTy, Ty},
        typed::{
            Builtin, FunctionId, GlobalSpace, GlobalVarId, Place, PlaceKind, Value, ValueKind,
            VarRef,
        },
    },
    span::Span,
    syntax::{
        ast::{self, ExprKind, UnaryOp},
        token::IntSuffix,
    },
};

pub(crate) mod access;
pub(crate) mod cast;
pub(crate) mod constant;
pub(crate) mod convert;
pub(crate) mod operator;
pub(crate) mod reference;
pub(crate) mod size_of_pointer;
pub(crate) mod unknown;

impl Checker<'_> {
    /// An expression's value; arrays become pointers, places are read.
    pub(crate) fn value(&mut self, expr: &ast::Expr) -> Result<Value, Reported> {
        let checked = self.expr(expr)?;
        Ok(self.read_checked(checked))
    }

    /// The values of expressions, each of which is checked whatever is wrong with another.
    pub(crate) fn values(&mut self, exprs: &[ast::Expr]) -> Result<Vec<Value>, Reported> {
        super::all(exprs.iter().map(|expr| self.value(expr)))
    }

    /// An expression as a place or a value.
    pub(crate) fn expr(&mut self, expr: &ast::Expr) -> Result<Checked, Reported> {
        let span = expr.span;
        let value = match &expr.kind {
            ExprKind::Int {
                value,
                unsigned,
                suffix,
                decimal,
            } => int_literal(*value, *unsigned, *suffix, *decimal, span),
            ExprKind::Float { value, single } => float_literal(*value, *single, span),
            ExprKind::Char(code) => int(Ty::Char.wrap(i64::from(*code) as u64), Ty::Char, span),
            ExprKind::Str(bytes) => string_literal(bytes, span),
            ExprKind::Bool(truth) => int(u64::from(*truth), Ty::Bool, span),
            ExprKind::Nullptr => Value::new(ValueKind::Null, pointer_to(Ty::Void.into()), span),
            ExprKind::Name(name) => return self.name(name, span),
            ExprKind::Path(path) => return self.path_expr(path, span),
            ExprKind::Unary(UnaryOp::Deref, inner) => return self.deref(inner, span),
            ExprKind::Unary(op, inner) => return self.unary_expr(*op, inner, span),
            ExprKind::Postfix(op, inner) => return self.postfix_expr(*op, inner, span),
            ExprKind::Binary(..) => return self.binary_chain(expr),
            ExprKind::Assign(op, left, right) => return self.assign_expr(op, left, right, span),
            ExprKind::Conditional(cond, yes, no) => self.conditional(cond, yes, no, span)?,
            ExprKind::Comma(..) => self.comma_chain(expr)?,
            ExprKind::Call(callee, args) => return self.call(callee, args, span),
            ExprKind::Launch {
                callee,
                config,
                args,
            } => self.launch(callee, config, args, span)?,
            ExprKind::Index(base, index) => return self.index(base, index, span),
            ExprKind::Member(base, name) => return self.member(base, name, span),
            ExprKind::Arrow(base, name) => return self.arrow(base, name, span),
            ExprKind::Cast(ty, inner) => self.cast_expr(ty, inner, span)?,
            ExprKind::Construct(ty, args) => self.construct_expr(ty, args, span)?,
            ExprKind::Braced(ty, items) => {
                let ty = self.type_name(ty)?.ty;
                self.list_value(&ty, items, span)?
            }
            ExprKind::NamedCast(word, ty, inner) => return self.named_cast(*word, ty, inner, span),
            ExprKind::This => self.this_value(span)?,
            ExprKind::Element(pattern, element) => {
                return self.at_element(*element, |checker| checker.expr(pattern));
            }
            // The parser makes statements of them, which `stmt` has taken.
            ExprKind::Asm(_) => return Err(self.unsupported("`asm` inside an expression", span)),
            ExprKind::Fold(fold) => return self.fold(fold, span),
            ExprKind::SizeofPack(name) => self.sizeof_pack(name, span)?,
            ExprKind::Expansion(_) => {
                return Err(self.unsupported("an expansion `...` here", span));
            }
            ExprKind::Instance(inner, _) => {
                let what = "a member template that is not called";
                return Err(self.unsupported(what, inner.span));
            }
            ExprKind::Lambda(lambda) => self.lambda(lambda, span)?,
            ExprKind::Alignof(ty) => {
                let ty = self.type_name(ty)?.ty;
                self.sizeof(&ty, span)?;
                int(self.tables.align_of(&ty), Ty::ULong, span)
            }
            ExprKind::IsTrivial(ty) => {
                let ty = self.type_name(ty)?.ty;
                int(u64::from(self.is_trivial(&ty)), Ty::Bool, span)
            }
            ExprKind::Throw(thrown) => self.throw_expr(thrown, span)?,
            ExprKind::New(new) => self.new_expr(new, span)?,
            ExprKind::Delete { is_array, pointer } => self.delete_expr(*is_array, pointer, span)?,
            ExprKind::SizeofType(ty) => self.sizeof_type(ty, span)?,
            ExprKind::SizeofExpr(inner) => {
                let ty = self.type_of_unevaluated(inner)?;
                self.sizeof(&ty, span)?
            }
            ExprKind::List(_) => {
                return Err(self.error(span, ExprError::BracesOutsideInitialiser));
            }
            ExprKind::Unsupported(construct) => {
                return Err(self.unsupported(construct, span));
            }
            ExprKind::Error => return Err(self.reported_before(span)),
        };
        Ok(Checked::Value(value))
    }

    /// What a name stands for.
    pub(crate) fn name(&mut self, name: &Arc<str>, span: Span) -> Result<Checked, Reported> {
        if let Some(outer) = self.outer_name(name, span)? {
            return Ok(outer);
        }
        let entity = self.scopes.find(name).map(|binding| binding.entity.clone());
        if entity.is_none()
            && let Some(own) = self.own_name(name)
        {
            return Ok(Checked::Value(string_literal(&own, span)));
        }
        self.check_path_access(name, span);
        self.entity(name, entity, span)
    }

    /// `__func__`: the name of the function being checked, without its scopes and its template arguments.
    fn own_name(&self, name: &str) -> Option<Arc<[u8]>> {
        if !matches!(name, "__func__" | "__FUNCTION__") {
            return None;
        }
        let function = &self.tables.functions[self.body.id?].typed.name;
        let plain = function.split(['<', '(']).next().unwrap_or(function);
        Some(path::last(plain).as_bytes().into())
    }

    /// A member named by its path is one that the code here may use.
    pub(crate) fn check_path_access(&mut self, name: &str, span: Span) {
        if let Some((class, last)) = self.scopes.split_path(name) {
            let last = last.to_string();
            self.check_access(class, &last, span);
        }
    }

    /// What an entity is in an expression.
    pub(crate) fn entity(
        &mut self,
        name: &Arc<str>,
        entity: Option<Entity>,
        span: Span,
    ) -> Result<Checked, Reported> {
        let checked = match entity {
            Some(Entity::Local(var)) => {
                let ty = self.body.vars[var].typed.ty.clone();
                self.known(&ty.ty, span)?;
                Checked::Place(Place::new(PlaceKind::Var(VarRef::Local(var)), ty, span))
            }
            Some(Entity::Global(global)) => {
                let ty = self.tables.globals[global].typed.ty.clone();
                self.known(&ty.ty, span)?;
                self.check_global_side(global, span);
                Checked::Place(Place::new(PlaceKind::Var(VarRef::Global(global)), ty, span))
            }
            Some(Entity::Enumerator(id, value)) => {
                Checked::Value(int(value as u64, Ty::Enum(id), span))
            }
            Some(Entity::Functions(set)) => {
                Checked::Value(self.function_value(name, &set, None, span)?)
            }
            Some(Entity::Member(class)) => self.member_of_this(class, name, span)?,
            Some(Entity::Constant(ty, bits)) => Checked::Value(match pointed_function(&ty) {
                Some(function) => function_constant(
                    FunctionId((bits as u32).saturating_sub(1)),
                    function.clone(),
                    span,
                ),
                None => int(bits, ty, span),
            }),
            Some(Entity::Template(_)) => {
                let name = name.to_string();
                return Err(self.error(span, ExprError::TemplateAsValue { name }));
            }
            Some(Entity::Pack(_)) => {
                let name = name.to_string();
                return Err(self.error(span, ExprError::UnexpandedPack { name }));
            }
            Some(Entity::Typedef(_) | Entity::Reference(_)) => {
                let name = name.to_string();
                return Err(self.error(span, ExprError::TypeAsValue { name }));
            }
            Some(Entity::Error) => return Err(self.reported_before(span)),
            None => Checked::Value(self.builtin_name(name, span)?),
        };
        Ok(checked)
    }

    /// Reports a variable of the other side's memory.
    fn check_global_side(&mut self, id: GlobalVarId, span: Span) {
        let GlobalEntry {
            typed: global,
            facts,
        } = &self.tables.globals[id];
        let name = &global.name;
        match global.space {
            GlobalSpace::Host if facts.constant.is_some() || facts.is_wrong => {}
            GlobalSpace::Host => {
                let (name, declared) = (name.clone(), global.span);
                let message = match global.ty.is_const {
                    true => ExprError::HostConstantInDevice { name, declared },
                    false => ExprError::HostVariableInDevice { name, declared },
                };
                let diagnostic = self.diagnostic(span, message);
                if self.mode.device_init && self.mode.unevaluated == 0 {
                    self.report(diagnostic);
                    return;
                }
                self.on_side(Side::Device, diagnostic);
            }
            GlobalSpace::Managed => {}
            GlobalSpace::Device | GlobalSpace::Constant if self.mode.device_init => {}
            GlobalSpace::Device | GlobalSpace::Constant => {
                let diagnostic = self.diagnostic(
                    span,
                    ExprError::DeviceVariableInHost {
                        name: name.to_string(),
                        declared: global.span,
                    },
                );
                self.on_side(Side::Host, diagnostic);
            }
            GlobalSpace::Shared | GlobalSpace::SharedDynamic => {
                let diagnostic = self.diagnostic(
                    span,
                    ExprError::SharedVariableInHost {
                        name: name.to_string(),
                        declared: global.span,
                    },
                );
                self.on_side(Side::Host, diagnostic);
            }
        }
    }

    /// A name that is built in, or unknown.
    fn builtin_name(&mut self, name: &Arc<str>, span: Span) -> Result<Value, Reported> {
        Ok(match builtin::find(name) {
            Some(Entry::Index(special, is_dim3)) => {
                self.require_device(name, span);
                let members = special
                    .iter()
                    .map(|&reg| special_value(reg, span))
                    .collect();
                let ty = match is_dim3 {
                    true => self.tables.dim3(),
                    false => self.tables.uint3(),
                };
                Value::new(ValueKind::Aggregate(members), ty, span)
            }
            Some(Entry::WarpSize) => {
                self.require_device(name, span);
                int(32, Ty::Int, span)
            }
            Some(Entry::Stream(number)) => {
                let number = int(number, Ty::ULong, span);
                self.convert(number, &pointer_to(Ty::Void.into()))
            }
            Some(Entry::Constant(number)) => Value::new(ValueKind::Float(number), Ty::Float, span),
            Some(Entry::Unsupported(what)) => {
                return Err(self.unsupported_builtin(name, what, span));
            }
            Some(_) => {
                let name = name.to_string();
                return Err(self.error(span, ExprError::FunctionNotCalled { name }));
            }
            None => return Err(self.unknown_name(name, span, false)),
        })
    }

    /// Reports device-only names in host code.
    pub(crate) fn require_device(&mut self, name: &str, span: Span) {
        let diagnostic = self.diagnostic(
            span,
            ExprError::DeviceNameInHost {
                name: name.to_string(),
            },
        );
        self.on_side(Side::Host, diagnostic);
    }

    /// Names a construct of CUDA that is known but not supported, once per name.
    pub(crate) fn unsupported_builtin(
        &mut self,
        name: &str,
        what: &'static str,
        span: Span,
    ) -> Reported {
        let key = format!("builtin {name}");
        let name = name.to_string();
        self.once(key, span, ExprError::UnsupportedBuiltin { name, what })
    }

    /// Reads a place. Arrays become pointers, constants their value.
    pub(crate) fn load(&mut self, place: Place) -> Value {
        let span = place.span;
        if let Ty::Array(element, _) = &place.ty.ty {
            let pointee = with_qualifiers(element, &place.ty);
            self.take_address(&place);
            return Value::new(ValueKind::Decay(Box::new(place)), pointer_to(pointee), span);
        }
        if let Some(constant) = self.constant_of(&place) {
            return Value::new(constant.kind(), place.ty.ty, span);
        }
        self.check_bounds(&place);
        Value::load(place, span)
    }

    fn constant_of(&self, place: &Place) -> Option<Const> {
        let facts = match &place.kind {
            PlaceKind::Var(VarRef::Local(var)) => &self.body.vars[*var].facts,
            PlaceKind::Var(VarRef::Global(global)) => &self.tables.globals[*global].facts,
            _ => return None,
        };
        facts.constant
    }

    fn cast_expr(
        &mut self,
        ty: &ast::TypeName,
        inner: &ast::Expr,
        span: Span,
    ) -> Result<Value, Reported> {
        let to = self.type_name(ty);
        let value = self.value(inner);
        self.cast(value?, &to?.ty, span)
    }

    fn construct_expr(
        &mut self,
        ty: &ast::TypeName,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Value, Reported> {
        match self.type_name(ty) {
            Ok(to) => self.construct(&to.ty, args, span),
            Err(reported) => {
                let args = self.expanded(args);
                self.check_args_alone(&args);
                Err(reported)
            }
        }
    }

    /// `T(a, b)`.
    pub(crate) fn construct(
        &mut self,
        to: &Ty,
        args: &[ast::Expr],
        span: Span,
    ) -> Result<Value, Reported> {
        let args = self.expanded(args);
        let args = &args[..];
        if self.tables.is_vector(to, "dim3") && args.len() != 1 {
            return self.construct_dim3(args, span);
        }
        if let Ty::Record(class) = to
            && (self.tables.has_constructors(to)
                || (args.is_empty() && self.tables.classes.contains_key(class)))
        {
            let values = self.arguments(args);
            match &values[..] {
                [Argument::Value(value)] if value.ty == *to => {
                    let value = value.clone();
                    return Ok(Value {
                        span,
                        ..self.copied(value)?
                    });
                }
                [Argument::Wrong(reported)] => return Err(*reported),
                _ => {}
            }
            // An object of another class may know how to become one of this.
            if let [Argument::Value(value)] = &values[..]
                && self
                    .tables
                    .converting_constructor(value, *class, true)
                    .is_none()
                && let Some(id) = self.tables.conversion_function(&value.ty, to, true)
            {
                let value = value.clone();
                return self.call_conversion(id, value);
            }
            return self.construct_temporary(*class, values, span);
        }
        match args {
            [] if to.is_scalar() => {
                let zero = int(0, Ty::Int, span);
                self.cast(zero, to, span)
            }
            [arg] => {
                let value = self.value(arg)?;
                self.known(to, span)?;
                self.cast(value, to, span)
            }
            _ => {
                for arg in args {
                    // It has its own messages; this one is about how many there are.
                    let _ = self.value(arg);
                }
                self.known(to, span)?;
                let message = ExprError::NoConstructor {
                    ty: to.clone(),
                    n_args: args.len(),
                    is_vector: matches!(to, Ty::Record(id) if self.tables.record(*id).is_vector),
                };
                Err(self.error(span, message))
            }
        }
    }

    fn construct_dim3(&mut self, args: &[ast::Expr], span: Span) -> Result<Value, Reported> {
        if args.len() > 3 {
            return Err(self.error(span, ExprError::Dim3Arguments { n_args: args.len() }));
        }
        let mut sizes = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let why = convert::Why::Argument(i + 1, "dim3", None);
            sizes.push(self.implicit_value(arg, &Ty::UInt, &why));
        }
        let sizes = sizes.into_iter().collect::<Result<_, _>>()?;
        Ok(self.dim3_of(sizes, span))
    }

    fn sizeof_type(&mut self, ty: &ast::TypeName, span: Span) -> Result<Value, Reported> {
        let ty = self.type_name(ty)?.ty;
        self.sizeof(&ty, span)
    }

    pub(crate) fn sizeof(&mut self, ty: &Ty, span: Span) -> Result<Value, Reported> {
        match self.tables.size_of(ty) {
            Some(bytes) => Ok(int(bytes, Ty::ULong, span)),
            None => {
                let is_array = matches!(ty, Ty::Array(..));
                let ty = ty.clone();
                Err(self.error(span, ExprError::SizeUnknown { ty, is_array }))
            }
        }
    }
}

/// One component of `threadIdx` and its like.
pub(crate) fn special_value(reg: SpecialReg, span: Span) -> Value {
    Value::new(
        ValueKind::Builtin(Builtin::Special(reg), Vec::new()),
        Ty::UInt,
        span,
    )
}

/// A part's type with the qualifiers of the whole.
pub(crate) fn with_qualifiers(part: &QualTy, whole: &QualTy) -> QualTy {
    QualTy {
        ty: part.ty.clone(),
        is_const: part.is_const || whole.is_const,
        is_volatile: part.is_volatile || whole.is_volatile,
    }
}

/// The first type of C's list that holds the value.
fn int_literal(value: u64, unsigned: bool, suffix: IntSuffix, decimal: bool, span: Span) -> Value {
    let (signed, not_signed) = match suffix {
        IntSuffix::LongLong => (Ty::LongLong, Ty::ULongLong),
        IntSuffix::Long | IntSuffix::None => (Ty::Long, Ty::ULong),
    };
    let narrow = suffix == IntSuffix::None;
    let ty = if narrow && !unsigned && value <= i32::MAX as u64 {
        Ty::Int
    } else if narrow && (unsigned || !decimal) && value <= u64::from(u32::MAX) {
        Ty::UInt
    } else if !unsigned && value <= i64::MAX as u64 {
        signed
    } else {
        not_signed
    };
    int(value, ty, span)
}

fn float_literal(value: f64, single: bool, span: Span) -> Value {
    let (value, ty) = if single {
        (f64::from(value as f32), Ty::Float)
    } else {
        (value, Ty::Double)
    };
    Value::new(ValueKind::Float(value), ty, span)
}

fn string_literal(bytes: &Arc<[u8]>, span: Span) -> Value {
    Value::new(
        ValueKind::Str(bytes.clone()),
        pointer_to(constant(Ty::Char)),
        span,
    )
}
