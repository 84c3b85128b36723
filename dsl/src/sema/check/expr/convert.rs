//! Conversions: C's implicit ones as C++ (and so nvcc) allows them, and casts.
//!
//! `convert` only builds the node; `implicit` decides whether an implicit conversion is allowed and reports if not; `cast` does the same
//! for explicit ones. Constants are converted at once, so that `-1` and `0.5f * 2` stay constants.

use crate::sema::message::expr::{Conversion, ExprError, Use};
use ir::source::SourceMap;
use std::sync::Arc;

use crate::sema::check::{
    Checker, Reported, Reporter, Tables, bits, expr, int, method,
    pointer_call::{known_function, pointed_function},
    temporary,
};
use crate::{
    sema::{
        classify::{Classify, common, promoted},
        const_eval::{self, Const},
        ty::{QualTy, Ty},
        typed::{Place, PlaceKind, Value, ValueKind},
    },
    syntax::ast,
};
use ir::{diagnostic::Code, span::Span};

/// The purpose of a conversion, which decides the words of the message.
pub(crate) enum Why<'w> {
    /// `T x = value`.
    Init(&'w str),
    /// `x = value`.
    Assign,
    /// The `n`th argument (from 1) of a function, and where the parameter is declared.
    Argument(usize, &'w str, Option<Span>),
    /// `return value` in this function.
    Return(&'w str),
    /// An operand of an operator.
    Operand,
}

impl Why<'_> {
    /// Where the parameter is declared.
    pub(crate) fn parameter(&self) -> Option<Span> {
        match self {
            Why::Argument(_, _, parameter) => *parameter,
            Why::Init(_) | Why::Assign | Why::Return(_) | Why::Operand => None,
        }
    }

    fn use_of(&self, to: &Ty) -> Use {
        match *self {
            Why::Init(name) => Use::Initial(name.to_string()),
            Why::Assign => Use::Assignment,
            Why::Argument(n, function, _) => Use::Argument(n, function.to_string()),
            Why::Return(function) => Use::Return(function.to_string()),
            Why::Operand => Use::Conversion(to.clone()),
        }
    }
}

/// The value in another type; both types are scalar, or they are equal.
pub(crate) fn to_type(value: Value, to: &Ty) -> Value {
    if value.ty == *to {
        return value;
    }
    let span = value.span;
    let constant = match &value.kind {
        ValueKind::Int(bits) if to.is_arithmetic() => Some(Const::Int(*bits)),
        ValueKind::Float(number) if to.is_arithmetic() => Some(Const::Float(*number)),
        _ => None,
    };
    let kind = match constant {
        Some(constant) => const_eval::convert(constant, &value.ty, to).kind(),
        // A number that was converted to a pointer (a stream, `stdout`) and is needed as a number again.
        None => match value.kind {
            ValueKind::Convert(inner) if *to == Ty::ULong && inner.ty == Ty::ULong => inner.kind,
            ValueKind::Null if to.is_integral() => ValueKind::Int(0),
            _ => ValueKind::Convert(Box::new(value)),
        },
    };
    Value::new(kind, to.clone(), span)
}

/// After the integer promotions.
pub(crate) fn promote(value: Value) -> Value {
    let value = bits::promoted_value(value);
    let to = promoted(&value.ty);
    to_type(value, &to)
}

/// Both operands in their common type.
pub(crate) fn usual(left: Value, right: Value) -> (Value, Value, Ty) {
    let (left, right) = (bits::promoted_value(left), bits::promoted_value(right));
    let ty = common(&left.ty, &right.ty);
    let left = to_type(left, &ty);
    let right = to_type(right, &ty);
    (left, right, ty)
}

/// A scalar as a truth value.
pub(crate) fn truth_value(cx: &mut Checker<'_>, value: Value) -> Result<Value, Reported> {
    if let Some(id) = cx.tables.conversion_function(&value.ty, &Ty::Bool, true) {
        let value = temporary::call_conversion(cx, id, value)?;
        return truth_value(cx, value);
    }
    let value = method::as_number(cx, value)?;
    if !value.ty.is_scalar() || cx.tables.is_scoped(&value.ty) {
        return Err(cx.error(
            value.span,
            ExprError::ConditionType {
                ty: value.ty.clone(),
            },
        ));
    }
    Ok(match value.kind {
        ValueKind::Null => int(0, Ty::Bool, value.span),
        _ => to_type(value, &Ty::Bool),
    })
}

/// An expression's value, converted as [`implicit`] does.
pub(crate) fn implicit_value(
    cx: &mut Checker<'_>,
    expr: &ast::Expr,
    to: &Ty,
    why: &Why<'_>,
) -> Result<Value, Reported> {
    let value = expr::value(cx, expr)?;
    implicit(cx, value, to, why)
}

/// Converts implicitly; reports what C++ does not allow.
pub(crate) fn implicit(
    cx: &mut Checker<'_>,
    value: Value,
    to: &Ty,
    why: &Why<'_>,
) -> Result<Value, Reported> {
    if value.ty == *to {
        return temporary::copied(cx, value);
    }
    cx.body.known(to, value.span)?;
    if cx.tables.is_scoped(&value.ty) || cx.tables.is_scoped(to) {
        return Err(mismatch(cx, &value, to, why));
    }
    if matches!(value.ty, Ty::Record(_)) || matches!(to, Ty::Record(_)) {
        return implicit_class(cx, value, to, why);
    }
    match to {
        Ty::Enum(_) if value.ty.is_integral() => {
            warn_enum(&cx.tables, &mut cx.reporter, &value, to);
            Ok(to_type(value, to))
        }
        _ if value.ty.is_arithmetic() && to.is_arithmetic() && !matches!(to, Ty::Enum(_)) => {
            Ok(to_type(value, to))
        }
        Ty::Bool if matches!(value.ty, Ty::Pointer(_)) => truth_value(cx, value),
        Ty::Pointer(pointee) => implicit_pointer(cx, value, to, &pointee.clone(), why),
        Ty::Record(_) => implicit_record(cx, value, to, why),
        _ => Err(mismatch(cx, &value, to, why)),
    }
}

/// A conversion from or to a class: to its base, or by a function of one of the classes.
fn implicit_class(
    cx: &mut Checker<'_>,
    value: Value,
    to: &Ty,
    why: &Why<'_>,
) -> Result<Value, Reported> {
    if let (Ty::Record(from), Ty::Record(class)) = (&value.ty, to)
        && cx.tables.is_derived(*from, *class)
    {
        let class = *class;
        let value = method::as_base(cx, value, class);
        return temporary::copied(cx, value);
    }
    if let Ty::Record(class) = to
        && cx
            .tables
            .converting_constructor(&value, *class, false)
            .is_some()
    {
        let (class, span) = (*class, value.span);
        let args = vec![crate::sema::check::overload::Argument::Value(value)];
        return temporary::construct(cx, class, args, span);
    }
    if let Some(id) = cx.tables.conversion_function(&value.ty, to, false) {
        let value = temporary::call_conversion(cx, id, value)?;
        return implicit(cx, value, to, why);
    }
    match to {
        Ty::Record(_) => implicit_record(cx, value, to, why),
        _ => Err(mismatch(cx, &value, to, why)),
    }
}

fn warn_enum(tables: &Tables, reporter: &mut Reporter, value: &Value, to: &Ty) {
    let ty = to.clone();
    reporter.error(tables, value.span, ExprError::EnumWithoutCast { ty });
}

fn implicit_pointer(
    cx: &mut Checker<'_>,
    value: Value,
    to: &Ty,
    pointee: &QualTy,
    why: &Why<'_>,
) -> Result<Value, Reported> {
    let span = value.span;
    let is_zero = matches!(value.kind, ValueKind::Int(0) | ValueKind::Null)
        && !matches!(value.ty, Ty::Bool | Ty::Enum(_));
    if is_zero && (value.ty.is_integral() || matches!(value.kind, ValueKind::Null)) {
        return Ok(Value::new(ValueKind::Null, to.clone(), span));
    }
    let Ty::Pointer(from) = value.ty.clone() else {
        return Err(mismatch(cx, &value, to, why));
    };
    let drops_const = from.is_const && !pointee.is_const;
    let drops_volatile = from.is_volatile && !pointee.is_volatile;
    let is_literal = matches!(value.kind, ValueKind::Str(_)) && pointee.ty == Ty::Char;
    if bare_elements(&from.ty) == bare_elements(&pointee.ty) || pointee.ty == Ty::Void || is_literal
    {
        if !is_literal && (drops_const || drops_volatile) {
            return Err(drops_qualifier(cx, &value, to, why, drops_const));
        }
        return Ok(to_type(value, to));
    }
    if from.ty == Ty::Void {
        if drops_const {
            return Err(drops_qualifier(cx, &value, to, why, true));
        }
        cx.error(span, ExprError::VoidPointerWithoutCast { ty: to.clone() });
        return Ok(to_type(value, to));
    }
    if adds_const_below(&from, pointee) {
        return Ok(to_type(value, to));
    }
    // The base is at the beginning of the object.
    if let (Ty::Record(derived), Ty::Record(base)) = (&from.ty, &pointee.ty)
        && cx.tables.is_derived(*derived, *base)
    {
        if drops_const {
            return Err(drops_qualifier(cx, &value, to, why, true));
        }
        return Ok(to_type(value, to));
    }
    Err(mismatch(cx, &value, to, why))
}

fn drops_qualifier(
    cx: &mut Checker<'_>,
    value: &Value,
    to: &Ty,
    why: &Why<'_>,
    drops_const: bool,
) -> Reported {
    let (use_of, parameter) = (why.use_of(to), why.parameter());
    let (from, to) = (value.ty.clone(), to.clone());
    let message = match drops_const {
        true => ExprError::DropsConst {
            use_of,
            from,
            to,
            parameter,
        },
        false => ExprError::DropsVolatile {
            use_of,
            from,
            to,
            parameter,
        },
    };
    cx.error(value.span, message)
}

fn implicit_record(
    cx: &mut Checker<'_>,
    value: Value,
    to: &Ty,
    why: &Why<'_>,
) -> Result<Value, Reported> {
    if cx.tables.is_vector(to, "dim3") {
        if value.ty.is_arithmetic() {
            let x = to_type(value, &Ty::UInt);
            let span = x.span;
            return Ok(dim3_of(&mut cx.tables, vec![x], span));
        }
        if cx.tables.is_vector(&value.ty, "uint3") {
            return Ok(retyped(value, to));
        }
    }
    if cx.tables.is_vector(to, "uint3") && cx.tables.is_vector(&value.ty, "dim3") {
        return Ok(retyped(value, to));
    }
    Err(mismatch(cx, &value, to, why))
}

/// `dim3` of up to three `unsigned`s; missing ones are 1.
pub(crate) fn dim3_of(tables: &mut Tables, mut sizes: Vec<Value>, span: Span) -> Value {
    while sizes.len() < 3 {
        sizes.push(int(1, Ty::UInt, span));
    }
    let ty = tables.dim3();
    Value::new(ValueKind::Aggregate(sizes), ty, span)
}

fn mismatch(cx: &mut Checker<'_>, value: &Value, to: &Ty, why: &Why<'_>) -> Reported {
    if value.ty == Ty::Void {
        return cx.error(value.span, ExprError::NoValue);
    }
    if known_function(value).is_some() && pointed_function(to).is_none() {
        let text = cx.map.snippet(value.span).to_string();
        // The function's side does not matter in this case.
        cx.reporter.diagnostics.retain(|diagnostic| {
            diagnostic.code != Code::DeviceCallInHost || diagnostic.primary.span != value.span
        });
        return cx.error(value.span, ExprError::FunctionNotCalled { name: text });
    }
    let cure = conversion_meant(cx.map, value, to);
    let (from, to) = (value.ty.clone(), to.clone());
    let message = match *why {
        Why::Init(name) => ExprError::InitialType {
            name: name.to_string(),
            from,
            to,
            cure,
        },
        Why::Assign => ExprError::AssignedType { from, to, cure },
        Why::Argument(n, function, parameter) => ExprError::ArgumentType {
            n,
            function: function.to_string(),
            from,
            to,
            parameter,
            cure,
        },
        Why::Return(function) => ExprError::ReturnedType {
            function: function.to_string(),
            from,
            to,
            cure,
        },
        Why::Operand => ExprError::OperandType { from, to, cure },
    };
    cx.error(value.span, message)
}

fn conversion_meant(map: &SourceMap, value: &Value, to: &Ty) -> Option<Conversion> {
    let text = || map.snippet(value.span).to_string();
    match (&value.ty, to) {
        (from, Ty::Pointer(pointee))
            if *from == pointee.ty && matches!(value.kind, ValueKind::Load(_)) =>
        {
            Some(Conversion::Address(text()))
        }
        (Ty::Pointer(pointee), to) if pointee.ty == *to => Some(Conversion::Pointee(text())),
        (Ty::Pointer(_), Ty::Pointer(_)) => Some(Conversion::Cast(to.clone())),
        _ => None,
    }
}

/// `(T)value`.
pub(crate) fn cast(
    cx: &mut Checker<'_>,
    value: Value,
    to: &Ty,
    span: Span,
) -> Result<Value, Reported> {
    if let Ty::Record(class) = to
        && value.ty != *to
        && cx
            .tables
            .converting_constructor(&value, *class, true)
            .is_some()
    {
        let args = vec![crate::sema::check::overload::Argument::Value(value)];
        return temporary::construct(cx, *class, args, span);
    }
    if matches!(value.ty, Ty::Record(_))
        && let Some(id) = cx.tables.conversion_function(&value.ty, to, true)
    {
        let value = temporary::call_conversion(cx, id, value)?;
        return cast(cx, value, to, span);
    }
    let is_ok = match (&value.ty, to) {
        (_, Ty::Void) => true,
        (from, to) if from == to => true,
        (from, to) if from.is_arithmetic() && to.is_arithmetic() => true,
        (Ty::Pointer(_), Ty::Pointer(_) | Ty::Bool) => true,
        (from, Ty::Pointer(_)) if from.is_integral() => true,
        (Ty::Pointer(_), to) if to.is_integral() && to.bits() == 64 => true,
        (_, Ty::Record(_)) => {
            let value = implicit(cx, value, to, &Why::Operand)?;
            return Ok(Value { span, ..value });
        }
        _ => false,
    };
    if !is_ok {
        return Err(cx.error(
            span,
            ExprError::Cast {
                from: value.ty.clone(),
                to: to.clone(),
                cuts_pointer: matches!(value.ty, Ty::Pointer(_)) && to.is_integral(),
            },
        ));
    }
    if value.ty == *to {
        return Ok(Value { span, ..value });
    }
    let mut value = match (&value.kind, to) {
        (ValueKind::Int(0) | ValueKind::Null, Ty::Pointer(_)) => {
            Value::new(ValueKind::Null, to.clone(), span)
        }
        _ if *to == Ty::Void => Value::new(ValueKind::Convert(Box::new(value)), Ty::Void, span),
        (_, Ty::Pointer(_)) if value.ty.is_integral() => {
            let wide = to_type(value, &Ty::ULong);
            to_type(wide, to)
        }
        _ => to_type(value, to),
    };
    value.span = span;
    Ok(value)
}

/// The promotions of arguments without a parameter: `printf("%f", x)`.
pub(crate) fn promote_variadic(
    tables: &Tables,
    reporter: &mut Reporter,
    value: Value,
) -> Result<Value, Reported> {
    let value = bits::promoted_value(value);
    let to = match &value.ty {
        Ty::Float => Ty::Double,
        ty if ty.is_integral() => promoted(ty),
        Ty::Pointer(_) | Ty::Double => return Ok(value),
        _ => {
            return Err(reporter.error(
                tables,
                value.span,
                ExprError::NotPrintable {
                    ty: value.ty.clone(),
                },
            ));
        }
    };
    Ok(to_type(value, &to))
}

/// Whether the types are equal, except for added qualifiers.
pub(crate) fn same_pointee(from: &QualTy, to: &QualTy) -> bool {
    bare_elements(&from.ty) == bare_elements(&to.ty) || adds_const_below(from, to)
}

/// `T **` to `const T *const *`: C++ allows it when every level in between is `const`.
fn adds_const_below(from: &QualTy, to: &QualTy) -> bool {
    let (Ty::Pointer(from_inner), Ty::Pointer(to_inner)) = (&from.ty, &to.ty) else {
        return false;
    };
    let keeps = (!from.is_const || to.is_const)
        && (!from.is_volatile || to.is_volatile)
        && (!from_inner.is_const || to_inner.is_const)
        && (!from_inner.is_volatile || to_inner.is_volatile);
    keeps && to.is_const && (from_inner.ty == to_inner.ty || adds_const_below(from_inner, to_inner))
}

/// An array's type without the qualifiers of its elements, which count as the array's: `int (*)[4]` becomes `const int (*)[4]` as `int *`
/// becomes `const int *`. Other types are unchanged.
pub(crate) fn bare_elements(ty: &Ty) -> Ty {
    match ty {
        Ty::Array(element, n) => Ty::Array(Arc::new(bare_elements(&element.ty).into()), *n),
        _ => ty.clone(),
    }
}

/// `dim3` and `uint3` have the same members.
fn retyped(value: Value, to: &Ty) -> Value {
    let span = value.span;
    let kind = match value.kind {
        ValueKind::Aggregate(members) => ValueKind::Aggregate(members),
        kind => {
            let place = match kind {
                ValueKind::Load(place) => *place,
                kind => Place {
                    ty: value.ty.clone().into(),
                    span,
                    kind: PlaceKind::Temporary(Box::new(Value { kind, ..value })),
                },
            };
            let member = |index| {
                Value::load(
                    Place::new(
                        PlaceKind::Field(Box::new(place.clone()), index),
                        Ty::UInt.into(),
                        span,
                    ),
                    span,
                )
            };
            ValueKind::Aggregate((0..3).map(member).collect())
        }
    };
    Value::new(kind, to.clone(), span)
}
