//! Expressions: literals, names, and one line for each of the others.
//!
//! An expression is a place or a value; `value` reads the place. Left-leaning chains of operators (`a + b + … + z`) are walked in a loop,
//! because a program may have two thousand of them in a row.

use crate::sema::message::expr::ExprError;
use std::sync::Arc;

use super::{
    Body, Checked, Checker, GlobalEntry, Reported, Reporter, Side, Tables, allocate, assign, call,
    init, int, lambda, launch, method,
    overload::{self, Argument},
    pack,
    pointer_call::{self, function_constant, pointed_function},
    specifier, startup, template, temporary, this,
};
use crate::{
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
    syntax::{
        ast::{self, ExprKind, UnaryOp},
        token::IntSuffix,
    },
};
use ir::{SpecialReg, span::Span};

pub(crate) mod access;
mod as_value;
pub(crate) mod bits;
pub(crate) mod cast;
pub(crate) mod constant;
pub(crate) mod convert;
pub(crate) mod operator;
pub(crate) mod reference;
pub(crate) mod size_of_pointer;
pub(crate) mod unknown;

/// An expression's value; arrays become pointers, places are read.
pub(crate) fn value(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Value, Reported> {
    let checked = check(cx, expr)?;
    Ok(method::read_checked(cx, checked))
}

/// The values of expressions. Each is checked even if another is invalid.
pub(crate) fn values(cx: &mut Checker<'_>, exprs: &[ast::Expr]) -> Result<Vec<Value>, Reported> {
    super::all(exprs.iter().map(|expr| value(cx, expr)))
}

/// An expression as a place or a value. A table: one arm per kind of expression.
pub(crate) fn check(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Checked, Reported> {
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
        ExprKind::Name(name) => return self::name(cx, name, span),
        ExprKind::Path(path) => return template::path_expr(cx, path, span),
        ExprKind::Unary(UnaryOp::Deref, inner) => return access::deref(cx, inner, span),
        ExprKind::Unary(op, inner) => return operator::unary_expr(cx, *op, inner, span),
        ExprKind::Postfix(op, inner) => return operator::postfix_expr(cx, *op, inner, span),
        ExprKind::Binary(..) => return operator::binary_chain(cx, expr),
        ExprKind::Assign(op, left, right) => return assign::check(cx, op, left, right, span),
        ExprKind::Conditional(cond, yes, no) => assign::conditional(cx, cond, yes, no, span)?,
        ExprKind::Comma(..) => operator::comma_chain(cx, expr)?,
        ExprKind::Call(callee, args) => return call::check(cx, callee, args, span),
        ExprKind::Launch {
            callee,
            config,
            args,
        } => launch::check(cx, callee, config, args, span)?,
        ExprKind::Index(base, index) => return access::index(cx, base, index, span),
        ExprKind::Member(base, name) => return access::member(cx, base, name, span),
        ExprKind::Arrow(base, name) => return access::arrow(cx, base, name, span),
        ExprKind::Cast(ty, inner) => cast_expr(cx, ty, inner, span)?,
        ExprKind::Construct(ty, args) => construct_expr(cx, ty, args, span)?,
        ExprKind::Braced(ty, items) => braced_expr(cx, ty, items, span)?,
        ExprKind::NamedCast(word, ty, inner) => return cast::named(cx, *word, ty, inner, span),
        ExprKind::This => this::value(cx, span)?,
        ExprKind::Element(pattern, element) => {
            return pack::at_element(cx, *element, |cx| check(cx, pattern));
        }
        // The parser makes them statements, which `stmt` handles.
        ExprKind::Asm(_) => return Err(cx.unsupported("`asm` inside an expression", span)),
        ExprKind::Fold(fold) => return pack::fold(cx, fold, span),
        ExprKind::SizeofPack(name) => pack::sizeof(cx, name, span)?,
        ExprKind::Expansion(_) => {
            return Err(cx.unsupported("an expansion `...` here", span));
        }
        ExprKind::Instance(inner, _) => {
            let what = "a member template that is not called";
            return Err(cx.unsupported(what, inner.span));
        }
        ExprKind::Lambda(lambda) => lambda::check(cx, lambda, span)?,
        ExprKind::Alignof(ty) => alignof_type(cx, ty, span)?,
        ExprKind::IsTrivial(ty) => is_trivial_type(cx, ty, span)?,
        ExprKind::Throw(thrown) => startup::throw_expr(cx, thrown, span)?,
        ExprKind::New(new) => allocate::new_expr(cx, new, span)?,
        ExprKind::Delete { is_array, pointer } => {
            allocate::delete_expr(cx, *is_array, pointer, span)?
        }
        ExprKind::SizeofType(ty) => sizeof_type(cx, ty, span)?,
        ExprKind::SizeofExpr(inner) => sizeof_expr(cx, inner, span)?,
        ExprKind::List(_) => {
            return Err(cx.error(span, ExprError::BracesOutsideInitialiser));
        }
        ExprKind::Unsupported(construct) => {
            return Err(cx.unsupported(construct, span));
        }
        ExprKind::Error => return Err(cx.body.reported_before(span)),
    };
    Ok(Checked::Value(value))
}

/// The meaning of a name.
pub(crate) fn name(cx: &mut Checker<'_>, name: &Arc<str>, span: Span) -> Result<Checked, Reported> {
    if let Some(outer) = lambda::outer_name(cx, name, span)? {
        return Ok(outer);
    }
    let entity = cx.scopes.find(name).map(|binding| binding.entity.clone());
    if entity.is_none()
        && let Some(own) = own_name(&cx.body, name)
    {
        return Ok(Checked::Value(string_literal(&own, span)));
    }
    check_path_access(cx, name, span);
    self::entity(cx, name, entity, span)
}

/// `__func__`: the name of the function being checked.
fn own_name(body: &Body, name: &str) -> Option<Arc<[u8]>> {
    let is_own = body.id.is_some() && matches!(name, "__func__" | "__FUNCTION__");
    is_own.then(|| body.name.as_bytes().into())
}

/// Checks the access to a member that is named by its path.
pub(crate) fn check_path_access(cx: &mut Checker<'_>, name: &str, span: Span) {
    if let Some((class, last)) = cx.scopes.split_path(name) {
        let last = last.to_string();
        this::check_access(cx, class, &last, span);
    }
}

/// An entity as an expression.
pub(crate) fn entity(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    entity: Option<Entity>,
    span: Span,
) -> Result<Checked, Reported> {
    let checked = match entity {
        Some(Entity::Local(var)) => {
            let declared = cx.body.vars[var].typed.span;
            let ty = cx.body.vars[var].typed.ty.clone();
            if !ty.ty.is_understood() {
                return Err(cx.body.unknown(span, Some(declared)));
            }
            Checked::Place(Place::new(PlaceKind::Var(VarRef::Local(var)), ty, span))
        }
        Some(Entity::Global(global)) => {
            let ty = cx.tables.globals[global].typed.ty.clone();
            cx.body.known(&ty.ty, span)?;
            check_global_side(cx, global, span);
            Checked::Place(Place::new(PlaceKind::Var(VarRef::Global(global)), ty, span))
        }
        Some(Entity::Enumerator(id, value)) => {
            Checked::Value(int(value as u64, Ty::Enum(id), span))
        }
        Some(Entity::Functions(set)) => {
            Checked::Value(pointer_call::function_value(cx, name, &set, None, span)?)
        }
        Some(Entity::Captured(captured)) => lambda::generic::entity(cx, name, &captured, span)?,
        Some(Entity::Member(class)) => this::member_of_this(cx, class, name, span)?,
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
            return Err(cx.error(span, ExprError::TemplateAsValue { name }));
        }
        Some(Entity::Pack(_)) => {
            let name = name.to_string();
            return Err(cx.error(span, ExprError::UnexpandedPack { name }));
        }
        Some(Entity::Typedef(_) | Entity::Reference(_)) => {
            let name = name.to_string();
            return Err(cx.error(span, ExprError::TypeAsValue { name }));
        }
        Some(Entity::Error) => {
            let declared = cx.scopes.find(name).map(|binding| binding.span);
            return Err(cx.body.unknown(span, declared));
        }
        None => Checked::Value(builtin_name(cx, name, span)?),
    };
    Ok(checked)
}

/// Reports a variable in the other side's memory.
fn check_global_side(cx: &mut Checker<'_>, id: GlobalVarId, span: Span) {
    let GlobalEntry {
        typed: global,
        facts,
    } = &cx.tables.globals[id];
    let name = &global.name;
    match global.space {
        GlobalSpace::Host if facts.constant.is_some() || facts.is_wrong => {}
        GlobalSpace::Host => {
            let (name, declared) = (name.clone(), global.span);
            let message = match global.ty.is_const {
                true => ExprError::HostConstantInDevice { name, declared },
                false => ExprError::HostVariableInDevice { name, declared },
            };
            let diagnostic = cx.tables.diagnostic(span, message);
            if cx.mode.device_init && cx.mode.unevaluated == 0 {
                cx.reporter.report(diagnostic);
                return;
            }
            cx.on_side(Side::Device, diagnostic);
        }
        GlobalSpace::Managed => {}
        GlobalSpace::Device | GlobalSpace::Constant if cx.mode.device_init => {}
        GlobalSpace::Device | GlobalSpace::Constant => {
            let diagnostic = cx.tables.diagnostic(
                span,
                ExprError::DeviceVariableInHost {
                    name: name.to_string(),
                    declared: global.span,
                },
            );
            cx.on_side(Side::Host, diagnostic);
        }
        GlobalSpace::Shared | GlobalSpace::SharedDynamic => {
            let diagnostic = cx.tables.diagnostic(
                span,
                ExprError::SharedVariableInHost {
                    name: name.to_string(),
                    declared: global.span,
                },
            );
            cx.on_side(Side::Host, diagnostic);
        }
    }
}

/// A built-in name, or an unknown one.
fn builtin_name(cx: &mut Checker<'_>, name: &Arc<str>, span: Span) -> Result<Value, Reported> {
    Ok(match builtin::find(name) {
        Some(Entry::Index(special, is_dim3)) => {
            require_device(cx, name, span);
            let members = special
                .iter()
                .map(|&reg| special_value(reg, span))
                .collect();
            let ty = match is_dim3 {
                true => cx.tables.dim3(),
                false => cx.tables.uint3(),
            };
            Value::new(ValueKind::Aggregate(members), ty, span)
        }
        Some(Entry::WarpSize) => {
            require_device(cx, name, span);
            int(32, Ty::Int, span)
        }
        Some(Entry::Stream(number)) => {
            let number = int(number, Ty::ULong, span);
            convert::to_type(number, &pointer_to(Ty::Void.into()))
        }
        Some(Entry::Constant(number)) => Value::new(ValueKind::Float(number), Ty::Float, span),
        Some(Entry::Unsupported(what)) => {
            return Err(unsupported_builtin(cx, name, what, span));
        }
        Some(entry) => {
            let object = match entry {
                Entry::Function(row) => as_value::function_object(cx, row, span),
                _ => None,
            };
            let name = name.to_string();
            return object
                .unwrap_or_else(|| Err(cx.error(span, ExprError::FunctionNotCalled { name })));
        }
        None => return Err(unknown::name(cx, name, span, false)),
    })
}

/// Reports device-only names in host code.
fn require_device(cx: &mut Checker<'_>, name: &str, span: Span) {
    let diagnostic = cx.tables.diagnostic(
        span,
        ExprError::DeviceNameInHost {
            name: name.to_string(),
        },
    );
    cx.on_side(Side::Host, diagnostic);
}

/// Reports a construct of CUDA that is known but not supported, once per name.
pub(crate) fn unsupported_builtin(
    cx: &mut Checker<'_>,
    name: &str,
    what: &'static str,
    span: Span,
) -> Reported {
    let key = format!("builtin {name}");
    let name = name.to_string();
    cx.once(key, span, ExprError::UnsupportedBuiltin { name, what })
}

/// Reads a place. Arrays become pointers, constants their value.
pub(crate) fn load(cx: &mut Checker<'_>, place: Place) -> Value {
    let span = place.span;
    if let Ty::Array(element, _) = &place.ty.ty {
        let pointee = with_qualifiers(element, &place.ty);
        access::take_address(&mut cx.body, &cx.mode, &place);
        return Value::new(ValueKind::Decay(Box::new(place)), pointer_to(pointee), span);
    }
    if let Some(constant) = constant_of(&cx.tables, &cx.body, &place) {
        return Value::new(constant.kind(), place.ty.ty, span);
    }
    access::check_bounds(cx, &place);
    Value::load(place, span)
}

fn constant_of(tables: &Tables, body: &Body, place: &Place) -> Option<Const> {
    let facts = match &place.kind {
        PlaceKind::Var(VarRef::Local(var)) => &body.vars[*var].facts,
        PlaceKind::Var(VarRef::Global(global)) => &tables.globals[*global].facts,
        _ => return None,
    };
    facts.constant
}

fn cast_expr(
    cx: &mut Checker<'_>,
    ty: &ast::TypeName,
    inner: &ast::Expr,
    span: Span,
) -> Result<Value, Reported> {
    let to = specifier::type_name(cx, ty);
    let value = value(cx, inner);
    convert::cast(cx, value?, &to?.ty, span)
}

fn braced_expr(
    cx: &mut Checker<'_>,
    ty: &ast::TypeName,
    items: &[ast::InitItem],
    span: Span,
) -> Result<Value, Reported> {
    let ty = specifier::type_name(cx, ty)?.ty;
    init::list_value(cx, &ty, items, span)
}

fn construct_expr(
    cx: &mut Checker<'_>,
    ty: &ast::TypeName,
    args: &[ast::Expr],
    span: Span,
) -> Result<Value, Reported> {
    match specifier::type_name(cx, ty) {
        Ok(to) => construct(cx, &to.ty, args, span),
        Err(reported) => {
            let args = pack::expanded(cx, args);
            call::check_args_alone(cx, &args);
            Err(reported)
        }
    }
}

/// `T(a, b)`.
pub(crate) fn construct(
    cx: &mut Checker<'_>,
    to: &Ty,
    args: &[ast::Expr],
    span: Span,
) -> Result<Value, Reported> {
    let args = pack::expanded(cx, args);
    let args = &args[..];
    if cx.tables.is_vector(to, "dim3") && args.len() != 1 {
        return construct_dim3(cx, args, span);
    }
    if let Ty::Record(class) = to
        && (cx.tables.has_constructors(to)
            || (args.is_empty() && cx.tables.classes.contains_key(class)))
    {
        let values = overload::arguments(cx, args);
        match &values[..] {
            [Argument::Value(value)] if value.ty == *to => {
                let value = value.clone();
                return Ok(Value {
                    span,
                    ..temporary::copied(cx, value)?
                });
            }
            [Argument::Wrong(reported)] => return Err(*reported),
            _ => {}
        }
        // An object of another class may have a conversion to this one.
        if let [Argument::Value(value)] = &values[..]
            && cx
                .tables
                .converting_constructor(value, *class, true)
                .is_none()
            && let Some(id) = cx.tables.conversion_function(&value.ty, to, true)
        {
            let value = value.clone();
            return temporary::call_conversion(cx, id, value);
        }
        return temporary::construct(cx, *class, values, span);
    }
    match args {
        [] if to.is_scalar() => {
            let zero = int(0, Ty::Int, span);
            convert::cast(cx, zero, to, span)
        }
        [arg] => {
            let value = value(cx, arg)?;
            cx.body.known(to, span)?;
            convert::cast(cx, value, to, span)
        }
        _ => {
            for arg in args {
                // Only for the argument's own messages; the error below is about how many there are.
                let _ = value(cx, arg);
            }
            cx.body.known(to, span)?;
            let message = ExprError::NoConstructor {
                ty: to.clone(),
                n_args: args.len(),
                is_vector: matches!(to, Ty::Record(id) if cx.tables.record(*id).is_vector),
            };
            Err(cx.error(span, message))
        }
    }
}

fn construct_dim3(cx: &mut Checker<'_>, args: &[ast::Expr], span: Span) -> Result<Value, Reported> {
    if args.len() > 3 {
        return Err(cx.error(span, ExprError::Dim3Arguments { n_args: args.len() }));
    }
    let mut sizes = Vec::new();
    for (i, arg) in args.iter().enumerate() {
        let why = convert::Why::Argument(i + 1, "dim3", None);
        sizes.push(convert::implicit_value(cx, arg, &Ty::UInt, &why));
    }
    let sizes = sizes.into_iter().collect::<Result<_, _>>()?;
    Ok(convert::dim3_of(&mut cx.tables, sizes, span))
}

fn sizeof_type(cx: &mut Checker<'_>, ty: &ast::TypeName, span: Span) -> Result<Value, Reported> {
    let ty = specifier::type_name(cx, ty)?.ty;
    sizeof(&cx.tables, &mut cx.reporter, &ty, span)
}

fn sizeof_expr(cx: &mut Checker<'_>, inner: &ast::Expr, span: Span) -> Result<Value, Reported> {
    if matches!(inner.kind, ExprKind::Member(..) | ExprKind::Arrow(..)) {
        cx.mode.unevaluated += 1;
        let checked = check(cx, inner);
        cx.mode.unevaluated -= 1;
        if let Checked::Place(place) = checked?
            && bits::of_place(&place).is_some()
        {
            let text = cx.map.snippet(inner.span).to_string();
            return Err(cx.error(span, ExprError::BitFieldSize { text }));
        }
    }
    let ty = match type_of_path(cx, inner)? {
        Some(ty) => ty,
        None => specifier::type_of_unevaluated(cx, inner)?,
    };
    sizeof(&cx.tables, &mut cx.reporter, &ty, span)
}

/// The type that a path names where the parser expects a variable: it knows which members of the program's classes are types, but not which
/// of the library's are.
fn type_of_path(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Option<Ty>, Reported> {
    let name = match &expr.kind {
        ExprKind::Name(name) if name.contains("::") => name.clone(),
        ExprKind::Path(path) => match template::path_name(cx, path)? {
            (name, None) => name,
            (_, Some(_)) => return Ok(None),
        },
        _ => return Ok(None),
    };
    let is_type = match cx.scopes.find(&name).map(|found| &found.entity) {
        Some(entity) => matches!(entity, Entity::Typedef(_)),
        None => cx.scopes.find_tag(&name).is_some(),
    };
    match is_type {
        true => Ok(Some(specifier::named_type(cx, &name, expr.span)?.ty)),
        false => Ok(None),
    }
}

fn alignof_type(cx: &mut Checker<'_>, ty: &ast::TypeName, span: Span) -> Result<Value, Reported> {
    let ty = specifier::type_name(cx, ty)?.ty;
    sizeof(&cx.tables, &mut cx.reporter, &ty, span)?;
    Ok(int(cx.tables.align_of(&ty), Ty::ULong, span))
}

/// `__is_trivially_copyable(T)`.
fn is_trivial_type(
    cx: &mut Checker<'_>,
    ty: &ast::TypeName,
    span: Span,
) -> Result<Value, Reported> {
    let ty = specifier::type_name(cx, ty)?.ty;
    let is_trivial = allocate::is_trivial(&cx.tables, &cx.scopes, &ty);
    Ok(int(u64::from(is_trivial), Ty::Bool, span))
}

pub(crate) fn sizeof(
    tables: &Tables,
    reporter: &mut Reporter,
    ty: &Ty,
    span: Span,
) -> Result<Value, Reported> {
    match tables.size_of(ty) {
        Some(bytes) => Ok(int(bytes, Ty::ULong, span)),
        None => {
            let is_array = matches!(ty, Ty::Array(..));
            let ty = ty.clone();
            Err(reporter.error(tables, span, ExprError::SizeUnknown { ty, is_array }))
        }
    }
}

/// One component of `threadIdx` and similar.
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
