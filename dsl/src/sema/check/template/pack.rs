//! Parameter packs: `typename... Ts`, `Ts... rest`, and expansions into expressions, types and arguments for each of their elements.
//!
//! The name of a pack stands for all its elements. Inside an expansion `pattern...` it stands for one of them at a time: the pattern is
//! checked once for each, and `Scopes::at_element` selects the element. An expansion among arguments is first replaced by that many
//! expressions of the kind `Element`, so that all other code sees an ordinary list.

use crate::sema::message::template::TemplateError;
use std::{borrow::Cow, sync::Arc};

use crate::sema::check::{
    Checked, Checker, ParamFacts, Reported, Reporter, Tables, arguments, attempt, decl, expr,
    function, int, reference, specifier, template::Arg,
};
use crate::{
    sema::{
        classify::Classify,
        const_eval::{self, Const},
        scope::{Binding, Entity, TemplateId},
        ty::Ty,
        typed::{Value, ValueKind, VarId},
    },
    syntax::ast::{self, BinaryOp, Expr, ExprKind, TemplateArg, TemplateParamKind},
};
use ir::span::{Span, Spanned};

/// The declaration of each parameter: a pack's declaration belongs to any number of them.
pub(crate) fn declared<'p>(
    params: &[ParamFacts],
    written: &'p [ast::Param],
) -> Vec<&'p ast::Param> {
    let n_of_pack = params.iter().filter(|param| param.is_of_pack).count();
    written
        .iter()
        .flat_map(|param| {
            let n = if param.is_pack { n_of_pack } else { 1 };
            std::iter::repeat_n(param, n)
        })
        .collect()
}

/// The place of a template argument.
pub(crate) fn arg_span(arg: &TemplateArg) -> Span {
    match arg {
        TemplateArg::Type(ty) => ty.span,
        TemplateArg::Value(expr) => expr.span,
        TemplateArg::Expansion(inner) => arg_span(inner),
    }
}

/// The expansion's expression for one element.
fn one_of(pattern: &Arc<Expr>, element: usize) -> Expr {
    Expr::new(ExprKind::Element(pattern.clone(), element), pattern.span)
}

/// Runs `f` with the names of packs standing for one of their elements.
pub(crate) fn at_element<'a, R>(
    cx: &mut Checker<'a>,
    element: usize,
    f: impl FnOnce(&mut Checker<'a>) -> R,
) -> R {
    let outside = cx.scopes.at_element(Some(element));
    let result = f(cx);
    cx.scopes.leave_element(outside);
    result
}

/// The number of elements of the packs that `f` names; `None` if it names no pack.
pub(crate) fn count_elements<'a>(
    cx: &mut Checker<'a>,
    f: impl FnOnce(&mut Checker<'a>),
) -> Option<usize> {
    let n_deferred = cx.reporter.deferred.len();
    let outside = cx.scopes.at_element(Some(0));
    cx.mode.unevaluated += 1;
    attempt::tentatively(cx, f);
    cx.mode.unevaluated -= 1;
    let n = cx.scopes.n_elements();
    cx.scopes.leave_element(outside);
    cx.reporter.deferred.truncate(n_deferred);
    n
}

fn elements_of(cx: &mut Checker<'_>, pattern: &Expr) -> Option<usize> {
    count_elements(cx, |cx| {
        // Only to find the packs that it names.
        let _ = expr::check(cx, pattern);
    })
}

pub(crate) fn no_pack(tables: &Tables, reporter: &mut Reporter, span: Span) -> Reported {
    reporter.error(tables, span, TemplateError::NothingToExpand)
}

/// A list of expressions, with each expansion replaced by its elements.
pub(crate) fn expanded<'e>(cx: &mut Checker<'_>, args: &'e [Expr]) -> Cow<'e, [Expr]> {
    let is_expansion = |arg: &Expr| matches!(arg.kind, ExprKind::Expansion(_));
    if !args.iter().any(is_expansion) {
        return Cow::Borrowed(args);
    }
    let mut out = Vec::new();
    for arg in args {
        match &arg.kind {
            ExprKind::Expansion(pattern) => out.extend(elements(cx, pattern)),
            _ => out.push(arg.clone()),
        }
    }
    Cow::Owned(out)
}

/// The same for the elements of a list in braces.
pub(crate) fn expanded_items<'e>(
    cx: &mut Checker<'_>,
    items: &'e [ast::InitItem],
) -> Cow<'e, [ast::InitItem]> {
    let pattern_of = |item: &ast::InitItem| match &item.value {
        ast::Init::Expr(Expr {
            kind: ExprKind::Expansion(pattern),
            ..
        }) => Some(pattern.clone()),
        _ => None,
    };
    if !items.iter().any(|item| pattern_of(item).is_some()) {
        return Cow::Borrowed(items);
    }
    let mut out = Vec::new();
    for item in items {
        match pattern_of(item) {
            Some(pattern) => {
                let elements = elements(cx, &pattern).into_iter();
                out.extend(elements.map(|element| ast::InitItem {
                    designator: None,
                    value: ast::Init::Expr(element),
                }));
            }
            None => out.push(item.clone()),
        }
    }
    Cow::Owned(out)
}

fn elements(cx: &mut Checker<'_>, pattern: &Arc<Expr>) -> Vec<Expr> {
    let Some(n) = elements_of(cx, pattern) else {
        no_pack(&cx.tables, &mut cx.reporter, pattern.span);
        return Vec::new();
    };
    (0..n).map(|element| one_of(pattern, element)).collect()
}

/// `(pattern + ...)` and its other forms.
pub(crate) fn fold(
    cx: &mut Checker<'_>,
    fold: &ast::Fold,
    span: Span,
) -> Result<Checked, Reported> {
    let first = elements_of(cx, &fold.pattern);
    let second = match (&first, &fold.init) {
        (None, Some(second)) => elements_of(cx, second).map(|n| (second, n)),
        _ => None,
    };
    let (pattern, n, init, is_left) = match (first, second) {
        (Some(n), _) => (&fold.pattern, n, fold.init.as_ref(), fold.is_left),
        (None, Some((second, n))) => (second, n, Some(&fold.pattern), true),
        (None, None) => {
            return Err(no_pack(&cx.tables, &mut cx.reporter, span));
        }
    };
    let mut operands: Vec<Expr> = (0..n).map(|element| one_of(pattern, element)).collect();
    match (init, is_left) {
        (Some(init), true) => operands.insert(0, init.as_ref().clone()),
        (Some(init), false) => operands.push(init.as_ref().clone()),
        (None, _) => {}
    }
    let join = |left: Expr, right: Expr| {
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = match fold.operator.node {
            Some(op) => ExprKind::Binary(Spanned::new(op, fold.operator.span), left, right),
            None => ExprKind::Comma(left, right),
        };
        Expr::new(kind, span)
    };
    let all = match is_left {
        true => operands.into_iter().reduce(join),
        false => operands
            .into_iter()
            .rev()
            .reduce(|right, left| join(left, right)),
    };
    let value = match (all, fold.operator.node) {
        (Some(all), _) => return expr::check(cx, &all),
        (None, Some(BinaryOp::And)) => int(1, Ty::Bool, span),
        (None, Some(BinaryOp::Or)) => int(0, Ty::Bool, span),
        (None, None) => Value::new(
            ValueKind::Convert(Box::new(int(0, Ty::Int, span))),
            Ty::Void,
            span,
        ),
        (None, Some(_)) => return Err(cx.error(span, TemplateError::EmptyFold)),
    };
    Ok(Checked::Value(value))
}

/// `sizeof...(pack)`.
pub(crate) fn sizeof(
    cx: &mut Checker<'_>,
    name: &ast::Name,
    span: Span,
) -> Result<Value, Reported> {
    match cx.scopes.find_pack(&name.node) {
        Some(elements) => Ok(int(elements.len() as u64, Ty::ULong, span)),
        None => Err(no_pack(&cx.tables, &mut cx.reporter, name.span)),
    }
}

/// Template arguments, with expansions replaced by their elements; `None` if an expansion is invalid, which has been reported.
pub(crate) fn expanded_template_args<'e>(
    cx: &mut Checker<'_>,
    args: &'e [TemplateArg],
) -> Result<Vec<(&'e TemplateArg, Option<usize>)>, Reported> {
    let mut out = Vec::new();
    for arg in args {
        let TemplateArg::Expansion(pattern) = arg else {
            out.push((arg, None));
            continue;
        };
        let n = count_elements(cx, |cx| match &**pattern {
            // Only to find the packs that they name.
            TemplateArg::Type(ty) => drop(specifier::type_name(cx, ty)),
            TemplateArg::Value(expr) => drop(expr::check(cx, expr)),
            TemplateArg::Expansion(_) => {}
        });
        let Some(n) = n else {
            return Err(no_pack(&cx.tables, &mut cx.reporter, arg_span(pattern)));
        };
        out.extend((0..n).map(|element| (&**pattern, Some(element))));
    }
    Ok(out)
}

pub(crate) fn explicit_element(
    cx: &mut Checker<'_>,
    param: &ast::TemplateParam,
    arg: &TemplateArg,
    element: Option<usize>,
) -> Result<Arg, Reported> {
    match element {
        Some(element) => at_element(cx, element, |cx| arguments::explicit_arg(cx, param, arg)),
        None => arguments::explicit_arg(cx, param, arg),
    }
}

/// A pack's arguments, each converted to the parameter's type.
pub(crate) fn complete(
    cx: &mut Checker<'_>,
    id: TemplateId,
    bound: &[(Arc<str>, Entity)],
    param: &ast::TemplateParam,
    items: Vec<Arg>,
) -> Option<Arg> {
    let mut out = Vec::new();
    for item in items {
        out.push(match (&param.kind, item) {
            (TemplateParamKind::Type(_), item @ (Arg::Type(_) | Arg::Reference(_)))
            | (TemplateParamKind::Template, item @ Arg::Template(_)) => item,
            (TemplateParamKind::Value { ty, .. }, item @ Arg::Value(..))
                if matches!(ty.specifiers.ty.node, ast::TypeSpecifier::Auto) =>
            {
                item
            }
            (TemplateParamKind::Value { ty, .. }, Arg::Value(from, bits)) => {
                let to = arguments::bound(cx, id, bound, |cx| specifier::type_name(cx, ty));
                let to = to.ok()?.ty;
                match const_eval::convert(Const::Int(bits), &from, &to) {
                    Const::Int(bits) if to.is_integral() => Arg::Value(to, bits),
                    _ if from == to => Arg::Value(to, bits),
                    _ => return None,
                }
            }
            _ => return None,
        });
    }
    Some(Arg::Pack(out))
}

/// The parameters of a function, those of a pack one by one.
pub(crate) fn params(cx: &mut Checker<'_>, written: &[ast::Param]) -> Vec<ParamFacts> {
    let names_params = std::mem::take(&mut cx.instances.names_params);
    let mut out = Vec::new();
    for param in written {
        if !param.is_pack {
            let param = function::param(cx, param);
            if names_params {
                name_param(cx, &param);
            }
            out.push(param);
            continue;
        }
        let n = count_elements(cx, |cx| drop(specifier::param_type(cx, param)));
        let Some(n) = n else {
            no_pack(&cx.tables, &mut cx.reporter, param.span);
            continue;
        };
        for element in 0..n {
            out.push(at_element(cx, element, |cx| function::param(cx, param)));
        }
    }
    out
}

/// Binds a parameter's name in a function that is only declared, for use in later types.
fn name_param(cx: &mut Checker<'_>, param: &ParamFacts) {
    let Some(name) = &param.name else { return };
    let var = reference::variable(&cx.tables, &mut cx.body, name, param.ty.clone(), param.span);
    cx.body.vars[var].typed.is_reference = param.is_reference || param.is_rvalue;
    let entity = Entity::Local(var);
    cx.scopes.bind(name.clone(), entity, param.span, false);
}

/// The name of the pack among a function's parameters, whose variables are `vars`.
pub(crate) fn declare(
    cx: &mut Checker<'_>,
    written: &[ast::Param],
    params: &[ParamFacts],
    vars: &[VarId],
) {
    let Some(name) = written
        .iter()
        .find(|param| param.is_pack)
        .and_then(|param| param.declarator.name.as_ref())
    else {
        return;
    };
    let elements = params.iter().zip(vars);
    let elements = elements.filter(|(param, _)| param.is_of_pack);
    let elements = elements.map(|(param, var)| Binding {
        entity: Entity::Local(*var),
        span: param.span,
    });
    let elements = elements.collect();
    decl::declare_name(cx, name, Entity::Pack(elements));
}
