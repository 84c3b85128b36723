//! From types in the syntax tree to types: specifiers, declarators and type names.
//!
//! `base_type` resolves the part before a declarator (and declares the structs and enums in it), `declared_type` wraps it in the
//! declarator's pointers and arrays. It also accepts an invalid base, since the declarator has its own errors to report.

use crate::sema::message::decl::DeclError;
use crate::sema::message::expr::{ExprError, Needed};
use crate::sema::path;
use std::sync::Arc;

use crate::sema::check::{
    Checked, Checker, Reported, Tables, all, attempt, constant, expr, forward,
    function::reference_part, pack, record, reference, template, unknown,
};
use crate::{
    sema::{
        classify::{Classify, pointer_to},
        const_eval::{Const, NotConst},
        scope::Entity,
        ty::{FunctionTy, QualTy, Ty},
    },
    syntax::ast::{self, DeclaratorPart, Signedness, SpecifierWord, TypeSpecifier},
};
use ir::{span::Span, suggest};

/// The type the specifiers name, with their qualifiers. `auto` gives `None`.
pub(crate) fn base_type(
    cx: &mut Checker<'_>,
    specifiers: &ast::Specifiers,
) -> Result<Option<QualTy>, Reported> {
    let span = specifiers.ty.span;
    let pick = |signedness: Signedness, signed: Ty, unsigned: Ty| match signedness {
        Signedness::Signed => signed,
        Signedness::Unsigned => unsigned,
    };
    let mut qualified: QualTy = match &specifiers.ty.node {
        TypeSpecifier::Void => Ty::Void.into(),
        TypeSpecifier::Bool => Ty::Bool.into(),
        TypeSpecifier::Char(None) => Ty::Char.into(),
        TypeSpecifier::Char(Some(sign)) => pick(*sign, Ty::SChar, Ty::UChar).into(),
        TypeSpecifier::Short(sign) => pick(*sign, Ty::Short, Ty::UShort).into(),
        TypeSpecifier::Int(sign) => pick(*sign, Ty::Int, Ty::UInt).into(),
        TypeSpecifier::Long(sign) => pick(*sign, Ty::Long, Ty::ULong).into(),
        TypeSpecifier::LongLong(sign) => pick(*sign, Ty::LongLong, Ty::ULongLong).into(),
        TypeSpecifier::Float => Ty::Float.into(),
        TypeSpecifier::Double => Ty::Double.into(),
        TypeSpecifier::Auto => return Ok(None),
        TypeSpecifier::Named(name) => named_type(cx, name, span)?,
        TypeSpecifier::Path(path) => template::path_type(cx, path)?,
        TypeSpecifier::Decltype(expr) => template::decltype(cx, expr)?,
        TypeSpecifier::Record(record) => record::check(cx, record, span)?.into(),
        TypeSpecifier::Enum(specifier) => record::enum_type(cx, specifier, span)?.into(),
    };
    qualified.is_const |=
        specifiers.is_const || specifiers.word(SpecifierWord::Constexpr).is_some();
    qualified.is_volatile |= specifiers.is_volatile;
    Ok(Some(push_into_elements(qualified)))
}

/// The same where `auto` is not allowed.
pub(crate) fn base_type_not_auto(
    cx: &mut Checker<'_>,
    specifiers: &ast::Specifiers,
) -> Result<QualTy, Reported> {
    base_type(cx, specifiers)?.ok_or_else(|| cx.unsupported("`auto` here", specifiers.ty.span))
}

pub(crate) fn named_type(
    cx: &mut Checker<'_>,
    name: &Arc<str>,
    span: Span,
) -> Result<QualTy, Reported> {
    match cx.scopes.find(name).map(|binding| &binding.entity) {
        Some(Entity::Typedef(ty)) => return Ok(ty.clone()),
        Some(Entity::Error) => return Err(cx.body.reported_before(span)),
        Some(Entity::Reference(_)) => {
            let what = "the use of a template parameter that stands for a reference";
            return Err(cx.unsupported(what, span));
        }
        Some(Entity::Pack(_)) => {
            let name = name.to_string();
            return Err(cx.error(span, DeclError::UnexpandedPack { name }));
        }
        _ => {}
    }
    if let Some((ty, _)) = cx.scopes.find_tag(name) {
        return Ok(ty.clone().into());
    }
    if let Some(Entity::Template(id)) = cx.scopes.find(name).map(|found| &found.entity) {
        let declared = cx.instances.template_span(*id);
        let name = name.to_string();
        return Err(cx.error(span, DeclError::TemplateNeedsArguments { name, declared }));
    }
    let name = name.strip_prefix("std::").map_or(name.clone(), Arc::from);
    let name = &name;
    type_of_name(&mut cx.tables, name).ok_or_else(|| unknown_type(cx, name, span))
}

/// The types that exist without a declaration.
fn type_of_name(tables: &mut Tables, name: &str) -> Option<QualTy> {
    let ty = match name {
        "size_t" | "uint64_t" | "uintptr_t" | "ulong" | "uintmax_t" => Ty::ULong,
        "ssize_t" | "ptrdiff_t" | "int64_t" | "intptr_t" | "clock_t" | "time_t" | "intmax_t" => {
            Ty::Long
        }
        "int8_t" => Ty::SChar,
        "uint8_t" | "uchar" => Ty::UChar,
        "int16_t" => Ty::Short,
        "uint16_t" | "ushort" => Ty::UShort,
        "int32_t" => Ty::Int,
        "uint32_t" | "uint" => Ty::UInt,
        "float_t" => Ty::Float,
        "double_t" => Ty::Double,
        // Only used through a pointer, as in `stdout` and `stderr`.
        "FILE" => Ty::Void,
        _ => Ty::Record(tables.vector(name)?),
    };
    Some(ty.into())
}

fn unknown_type(cx: &mut Checker<'_>, name: &str, span: Span) -> Reported {
    if let Some(what) = crate::sema::builtin::unsupported_type(name) {
        let message = DeclError::UnsupportedType {
            name: name.to_string(),
            what,
        };
        return cx.once(name.to_string(), span, message);
    }
    let key = (None, format!("type {name}"));
    if !cx.reporter.reported_once.insert(key) {
        return cx.body.reported_before(span);
    }
    if path::is_qualified(name) && cx.scopes.split_path(name).is_none() {
        return unknown::unsupported_path(&cx.tables, &mut cx.reporter, name, span);
    }
    let written = cx.map.snippet(span);
    if written.starts_with("std::") {
        return unknown::unsupported_path(
            &cx.tables,
            &mut cx.reporter,
            &format!("std::{name}"),
            span,
        );
    }
    let typedefs = cx.scopes.names().filter_map(|(name, entity)| match entity {
        Entity::Typedef(_) => Some(name),
        _ => None,
    });
    let known = [
        "size_t",
        "float4",
        "float2",
        "int4",
        "int2",
        "dim3",
        "uint32_t",
        "int32_t",
        "uint8_t",
        // A misspelled specifier is read as a type.
        "__global__",
        "__device__",
        "__host__",
        "__shared__",
        "__constant__",
        "volatile",
        "unsigned",
        "static",
    ];
    let near = suggest::nearest(name, typedefs.chain(cx.scopes.tags()).chain(known));
    let near = near.map(str::to_string);
    if let Some((class, _)) = cx.scopes.split_path(name)
        && attempt::is_enable_if(&cx.instances, &cx.options, class)
    {
        cx.reporter.attempts.disabled.insert(span);
    }
    let name = name.to_string();
    cx.error(span, DeclError::NoSuchType { name, near })
}

/// Wraps `base` in a declarator's parts.
pub(crate) fn declared_type(
    cx: &mut Checker<'_>,
    base: Result<QualTy, Reported>,
    parts: &[DeclaratorPart],
) -> Result<QualTy, Reported> {
    let mut ty = base;
    for (i, part) in parts.iter().enumerate().rev() {
        ty = match part {
            DeclaratorPart::Pointer {
                is_const,
                is_volatile,
                ..
            } => ty.map(|ty| QualTy {
                ty: pointer_to(ty),
                is_const: *is_const,
                is_volatile: *is_volatile,
            }),
            DeclaratorPart::Reference(span) | DeclaratorPart::RvalueReference(span) => {
                Err(reference::misplaced_reference(cx, &parts[..i], *span))
            }
            DeclaratorPart::Array(size, span) => array_type(cx, ty, size.as_deref(), *span, i == 0),
            DeclaratorPart::Function(params, _) => function_type(cx, ty, params),
        };
    }
    ty
}

fn function_type(
    cx: &mut Checker<'_>,
    result: Result<QualTy, Reported>,
    params: &[ast::Param],
) -> Result<QualTy, Reported> {
    let mut types = Vec::new();
    for param in params {
        if !param.is_pack {
            types.push(type_in_function_type(cx, param));
            continue;
        }
        let n = pack::count_elements(cx, |cx| drop(param_type(cx, param)));
        let Some(n) = n else {
            return Err(pack::no_pack(&cx.tables, &mut cx.reporter, param.span));
        };
        for element in 0..n {
            types.push(pack::at_element(cx, element, |cx| {
                type_in_function_type(cx, param)
            }));
        }
    }
    let (params, references) = all(types)?.into_iter().unzip();
    Ok(Ty::Function(Arc::new(FunctionTy {
        result: result?.ty,
        params,
        references,
    }))
    .into())
}

/// A parameter in a function's type: its type, and whether it is a reference.
fn type_in_function_type(
    cx: &mut Checker<'_>,
    param: &ast::Param,
) -> Result<(QualTy, bool), Reported> {
    let reference = forward::param_reference(&cx.scopes, param);
    let refused = match reference {
        Some((span, true)) => Err(cx.unsupported("a pointer to a function with `&&`", span)),
        Some((_, false)) | None => Ok(()),
    };
    let ty = param_type(cx, param)?;
    refused?;
    Ok(match reference {
        Some(_) => (ty, true),
        None => (ty.ty.into(), false),
    })
}

/// A parameter's type: arrays are pointers.
pub(crate) fn param_type(cx: &mut Checker<'_>, param: &ast::Param) -> Result<QualTy, Reported> {
    if let Some(ty) = forward::collapsed(&cx.scopes, param) {
        return Ok(ty);
    }
    let base = base_type_not_auto(cx, &param.specifiers);
    let (reference, parts) = reference_part(&param.declarator.parts);
    let ty = declared_type(cx, base, parts)?;
    Ok(match &ty.ty {
        Ty::Array(..) if reference.is_some() => ty,
        Ty::Array(element, _) => pointer_to(element.as_ref().clone()).into(),
        Ty::Function(_) => pointer_to(ty).into(),
        _ => ty,
    })
}

fn array_type(
    cx: &mut Checker<'_>,
    element: Result<QualTy, Reported>,
    size: Option<&ast::Expr>,
    span: Span,
    is_outermost: bool,
) -> Result<QualTy, Reported> {
    let count = match size {
        Some(size) => Some(array_size(cx, size)?),
        None if is_outermost => None,
        None => return Err(cx.error(span, DeclError::OpenInnerDimension)),
    };
    let element = element?;
    if matches!(element.ty, Ty::Void | Ty::Function(_)) {
        return Err(cx.error(span, DeclError::ArrayOf { ty: element.ty }));
    }
    if cx.tables.size_of(&element.ty).is_none() && count.is_some() {
        return Err(cx.error(span, DeclError::ArrayOfIncomplete { ty: element.ty }));
    }
    let (is_const, is_volatile) = (element.is_const, element.is_volatile);
    let ty = Ty::Array(Arc::new(element), count);
    if count.is_some() && cx.tables.size_of(&ty).is_none_or(|bytes| bytes > 1 << 40) {
        return Err(cx.error(span, DeclError::ArrayTooLarge));
    }
    Ok(QualTy {
        ty,
        is_const,
        is_volatile,
    })
}

fn array_size(cx: &mut Checker<'_>, size: &ast::Expr) -> Result<u64, Reported> {
    let value = expr::value(cx, size)?;
    if !value.ty.is_integral() {
        let ty = value.ty.clone();
        return Err(cx.error(size.span, DeclError::ArraySizeType { ty }));
    }
    let signed = value.ty.is_signed();
    let message = match constant::of(cx, &value) {
        Ok(Const::Int(bits)) if signed && (bits as i64) < 0 => {
            DeclError::ArraySizeNegative { value: bits as i64 }
        }
        Ok(Const::Int(0)) => DeclError::ArraySizeZero,
        Ok(Const::Int(bits)) => return Ok(bits),
        Ok(Const::Float(_)) | Err(NotConst::Error) => {
            return Err(cx.body.reported_before(size.span));
        }
        Err(NotConst::DivisionByZero(span)) => {
            let what = "the size of this array";
            let message = ExprError::ConstantDivision { what };
            return Err(cx.reporter.constant_division(&cx.tables, span, message));
        }
        Err(why @ (NotConst::Stopped(..) | NotConst::NoBody(..))) => {
            return Err(constant::report_not_constant(
                &cx.tables,
                &mut cx.reporter,
                size.span,
                Needed::ArraySize,
                why,
            ));
        }
        Err(NotConst::Variable(place)) => match cx.body.may_be_device() {
            true => DeclError::VariableLengthInDevice { place },
            false => DeclError::VariableLength { place },
        },
    };
    Err(cx.error(size.span, message))
}

/// The type in a cast or `sizeof`.
pub(crate) fn type_name(cx: &mut Checker<'_>, name: &ast::TypeName) -> Result<QualTy, Reported> {
    let base = base_type_not_auto(cx, &name.specifiers);
    declared_type(cx, base, &name.declarator.parts)
}

/// The type of `sizeof`'s and `_Alignof`'s operand if it is an expression.
pub(crate) fn type_of_unevaluated(cx: &mut Checker<'_>, expr: &ast::Expr) -> Result<Ty, Reported> {
    cx.mode.unevaluated += 1;
    let checked = expr::check(cx, expr);
    cx.mode.unevaluated -= 1;
    let ty = match (&expr.kind, checked?) {
        // A literal is an array here; elsewhere it is only used as a pointer.
        (ast::ExprKind::Str(bytes), _) => {
            Ty::Array(Arc::new(Ty::Char.into()), Some(bytes.len() as u64 + 1))
        }
        (_, Checked::Place(place)) => place.ty.ty,
        (_, Checked::Value(value)) => value.ty,
    };
    cx.body.known(&ty, expr.span)?;
    Ok(ty)
}

/// Qualifiers on an array type belong to its elements too: `typedef int row[4]; const row r;`.
fn push_into_elements(ty: QualTy) -> QualTy {
    match &ty.ty {
        Ty::Array(element, n) if ty.is_const || ty.is_volatile => {
            let element = push_into_elements(QualTy {
                ty: element.ty.clone(),
                is_const: element.is_const || ty.is_const,
                is_volatile: element.is_volatile || ty.is_volatile,
            });
            QualTy {
                ty: Ty::Array(Arc::new(element), *n),
                ..ty
            }
        }
        _ => ty,
    }
}
