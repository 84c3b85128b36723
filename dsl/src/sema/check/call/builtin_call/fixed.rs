//! Functions with a fixed signature: what their types mean, and the arguments of a call.

use super::Called;
use crate::sema::{
    builtin::{ParamType, Signature, TypeWord},
    check::{
        Checker, Reported, all,
        call::{self, count},
        convert::{self, Why},
        expr, host_call, int,
    },
    classify::{constant, pointer_to},
    message::{Given, call::CallError},
    scope::Scopes,
    ty::{QualTy, Ty},
    typed::Value,
};
use crate::syntax::ast;

/// The arguments of a fixed signature, converted; reports a wrong number.
pub(crate) fn fixed_args(
    cx: &mut Checker<'_>,
    signature: &Signature,
    called: &Called<'_>,
) -> Result<Vec<Value>, Reported> {
    let least = signature
        .params
        .iter()
        .filter(|param| param.default.is_none())
        .count();
    let most = signature.params.len();
    let n = called.args.len();
    if n < least || (n > most && !signature.variadic) {
        return Err(wrong_count(cx, called, least, most, signature.variadic));
    }
    let mut values = Vec::new();
    for (i, param) in signature.params.iter().enumerate() {
        let value = match (called.args.get(i), param.default) {
            (Some(arg), _) => fixed_arg(cx, &param.ty, arg, i, called),
            (None, Some(default)) => {
                let ty = match word_type(&cx.scopes, &param.ty) {
                    Ty::Pointer(_) => Ty::ULong,
                    ty => ty,
                };
                Ok(int(default, ty, called.span))
            }
            (None, None) => Err(cx.body.reported_before(called.span)),
        };
        values.push(value);
    }
    for arg in called.args.iter().skip(most) {
        let value = expr::value(cx, arg);
        values.push(
            value.and_then(|value| convert::promote_variadic(&cx.tables, &mut cx.reporter, value)),
        );
    }
    all(values)
}

pub(crate) fn wrong_count(
    cx: &mut Checker<'_>,
    called: &Called<'_>,
    least: usize,
    most: usize,
    variadic: bool,
) -> Reported {
    let expected = match (variadic, least == most) {
        (true, _) => format!("at least {}", count(least)),
        (false, true) => count(most),
        (false, false) => format!("{least} to {most} arguments"),
    };
    let reported = cx.error(
        called.name_span,
        CallError::BuiltinArgumentCount {
            name: called.name.to_string(),
            expected: expected.to_string(),
            given: Given(called.args.len()),
            lacks_kind: called.name == "cudaMemcpy" && called.args.len() == 3,
        },
    );
    call::check_args_alone(cx, called.args);
    reported
}

fn fixed_arg(
    cx: &mut Checker<'_>,
    ty: &ParamType,
    arg: &ast::Expr,
    index: usize,
    called: &Called<'_>,
) -> Result<Value, Reported> {
    match ty {
        ParamType::Symbol => host_call::symbol(cx, arg, called),
        ParamType::Kernel => host_call::kernel_arg(cx, arg, called),
        ParamType::AnyPointerPointer => host_call::pointer_pointer(cx, arg, index, called),
        ParamType::Plain { .. } => {
            let to = word_type(&cx.scopes, ty);
            convert::implicit_value(cx, arg, &to, &Why::Argument(index + 1, called.name, None))
        }
    }
}

/// A signature's type.
pub(crate) fn word_type(scopes: &Scopes, ty: &ParamType) -> Ty {
    let ParamType::Plain {
        base,
        is_const,
        stars,
    } = ty
    else {
        return pointer_to(Ty::Void.into());
    };
    let mut result = match base {
        TypeWord::Void => Ty::Void,
        TypeWord::Bool => Ty::Bool,
        TypeWord::Char => Ty::Char,
        TypeWord::Int => Ty::Int,
        TypeWord::UInt => Ty::UInt,
        TypeWord::Long => Ty::Long,
        TypeWord::ULong => Ty::ULong,
        TypeWord::LongLong => Ty::LongLong,
        TypeWord::ULongLong => Ty::ULongLong,
        TypeWord::Float => Ty::Float,
        TypeWord::Double => Ty::Double,
        TypeWord::Named(name) => prelude_type(scopes, name),
    };
    for star in 0..*stars {
        let pointee = if star == 0 && *is_const {
            constant(result)
        } else {
            QualTy::from(result)
        };
        result = pointer_to(pointee);
    }
    result
}

/// A type of the prelude; if the prelude was not read, the number that it stands for.
pub(crate) fn prelude_type(scopes: &Scopes, name: &str) -> Ty {
    use crate::sema::scope::Entity;
    match scopes.find(name).map(|binding| &binding.entity) {
        Some(Entity::Typedef(ty)) => ty.ty.clone(),
        _ => match scopes.find_tag(name) {
            Some((ty, _)) => ty.clone(),
            None if matches!(name, "cudaEvent_t" | "cudaStream_t") => Ty::ULong,
            None => Ty::Int,
        },
    }
}
