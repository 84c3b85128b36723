//! Calls of names that the program does not declare: mathematical functions, the library's, built-in ones.

use super::super::{Checked, Checker, Reported, expr, overload::Argument, unknown};
use super::{
    associated, call_builtin, exchange, forward, no_call, note_call, overload, overloaded,
};
use crate::{
    sema::{
        builtin,
        scope::Callable,
        ty::Ty,
        typed::{Value, ValueKind},
    },
    syntax::ast::{self, ExprKind},
};
use ir::span::Span;
use std::sync::Arc;

/// A call of an undeclared name: a built-in function, or an error.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    explicit: Option<&[ast::TemplateArg]>,
    callee: &ast::Expr,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    if explicit.is_none()
        && builtin::find(name).is_none()
        && let Some((name, set)) = associated::associated_functions(cx, name, args)
    {
        return overloaded(cx, &name, &set, None, callee.span, args, span);
    }
    if &**name == "typeid" {
        return Err(cx.unsupported("`typeid`", callee.span));
    }
    if let (None, "nan" | "nanf", [tag]) = (explicit, &**name, args)
        && let ExprKind::Str(tag) = &tag.kind
    {
        return Ok(Checked::Value(not_a_number(name, tag, span)));
    }
    match explicit {
        Some([to]) if &**name == "forward" && args.len() == 1 => {
            forward::check(cx, to, &args[0], span)
        }
        None if &**name == "move" && args.len() == 1 => {
            let value = expr::value(cx, &args[0])?;
            forward::moved(cx, value, "std::move", span).map(Checked::Value)
        }
        // `std::max<float>(a, b)`: both arguments are converted first.
        Some([ast::TemplateArg::Type(ty)]) if matches!(&**name, "min" | "max") => {
            let cast = |arg: &ast::Expr| {
                ast::Expr::new(
                    ExprKind::Cast(Box::new(ty.clone()), Box::new(arg.clone())),
                    arg.span,
                )
            };
            let args: Vec<ast::Expr> = args.iter().map(cast).collect();
            call_builtin(cx, name, callee.span, &args, span)
        }
        Some(_) if builtin::find(name).is_some() => Err(cx.unsupported(
            "a call of a library function with template arguments",
            callee.span,
        )),
        _ if builtin::find(name).is_none() && cx.map.snippet(callee.span).starts_with("std::") => {
            let reported = match cx.first_time(&format!("name std::{name}")) {
                true => unknown::unsupported_path(
                    &cx.tables,
                    &mut cx.reporter,
                    &format!("std::{name}"),
                    callee.span,
                ),
                false => cx.body.reported_before(callee.span),
            };
            no_call(cx, args, reported)
        }
        _ => call_builtin(cx, name, callee.span, args, span),
    }
}

/// `nan("")`, `nanf("1")`: the number in the text is stored in the mantissa. A text that is not a number counts as empty.
fn not_a_number(name: &str, tag: &[u8], span: Span) -> Value {
    let tag = String::from_utf8_lossy(tag);
    let number = match tag.strip_prefix("0x").or(tag.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None if tag.len() > 1 && tag.starts_with('0') => u64::from_str_radix(&tag, 8),
        None => tag.parse(),
    };
    let number = number.unwrap_or(0);
    let (value, ty) = match name {
        "nanf" => {
            let bits = 0x7fc0_0000 | (number as u32 & 0x3f_ffff);
            (f64::from(f32::from_bits(bits)), Ty::Float)
        }
        _ => {
            let bits = 0x7ff8_0000_0000_0000 | (number & 0x7_ffff_ffff_ffff);
            (f64::from_bits(bits), Ty::Double)
        }
    };
    Value::new(ValueKind::Float(value), ty, span)
}

/// A function of `math_double.k` and similar files. Host code calls C's library if that has the function. A call of a `double` function
/// means its `float` version if all `double` parameters would get a `float`.
pub(crate) fn math(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    name_span: Span,
    args: &[ast::Expr],
    span: Span,
) -> Result<Checked, Reported> {
    if !cx.body.may_be_device() && builtin::is_host(name) {
        return call_builtin(cx, name, name_span, args, span);
    }
    // Where C's library differs from CUDA's, host code uses a separate form.
    let own: Option<Arc<str>> = (!cx.body.may_be_device())
        .then(|| format!("__dslc_host_{name}").into())
        .filter(|name: &Arc<str>| exchange::prelude_functions(&cx.scopes, name).is_some());
    let name = own.as_ref().unwrap_or(name);
    let Some(mut id) = overload::prelude_function(cx, name) else {
        return Err(cx.body.reported_before(name_span));
    };
    let float = match own.is_some() {
        true => Some(format!("{name}f").into()),
        false => builtin::float_version(name),
    };
    let params = &cx.tables.functions[id].facts.params;
    let is_list = |arg: &ast::Expr| matches!(arg.kind, ExprKind::List(_));
    let (Some(float), false) = (
        float,
        params.len() != args.len() || args.iter().any(is_list),
    ) else {
        let set = [Callable::Function(id)];
        return overloaded(cx, name, &set, None, name_span, args, span);
    };
    let is_double: Vec<bool> = params
        .iter()
        .map(|param| param.ty.ty == Ty::Double)
        .collect();
    let values = overload::arguments(cx, args);
    let mut reals = values.iter().zip(is_double).filter(|(_, is)| *is);
    let is_float =
        |arg: &Argument<'_>| matches!(arg, Argument::Value(value) if value.ty == Ty::Float);
    if reals.all(|(arg, _)| is_float(arg))
        && let Some(float) = overload::prelude_function(cx, &float)
    {
        id = float;
    }
    note_call(cx, id, name_span);
    let ty = cx.tables.functions[id].typed.result.clone();
    let args = overload::bind_arguments(cx, id, values, span)?;
    Ok(Checked::Value(Value::new(
        ValueKind::Call(id, args),
        ty,
        span,
    )))
}
