//! Overload resolution: which of several functions with one name a call means.
//!
//! A name stands for a set of [`Callable`]s. Each argument is ranked against each candidate's parameter ([`Rank`]: C++'s exact, promotion,
//! conversion, user-defined). A candidate is better than another if it is no worse for any argument and better for one. The call means the
//! candidate that is better than all others; if there is none, the call is ambiguous and all the best are shown. CUDA's own functions
//! (`max`, `abs`, `sqrt` …) take part besides the program's.

use crate::sema::check::{
    Checker, ParamFacts, Reported, Reporter, Tables, all, arguments, attempt, builtin_call, class,
    convert::{self, Why},
    exchange, expr, function, function_template, init, reference, template,
};
use crate::sema::message::call::{CallError, GivenTypes, with_candidates};
use crate::{
    sema::{
        builtin::{self, Atomic, Entry, Overload, Param, ParamType, Sides, Signature},
        classify::pointer_to,
        layout,
        scope::{Callable, Entity},
        ty::Ty,
        typed::{FunctionId, Value},
    },
    syntax::ast::{self, ExprKind},
};
use ir::{diagnostic::Diagnostic, span::Span};

/// How well an argument fits a parameter; the first is best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rank {
    /// The same type, or an array as a pointer to its elements.
    Exact,
    /// A pointer that gains `const` or `volatile`.
    Qualified,
    /// A pointer that gains both `const` and `volatile`.
    QualifiedTwice,
    /// `char` to `int`, `float` to `double`, an enumeration to `int`.
    Promotion,
    /// Between numbers, a pointer to `void *`, 0 to a pointer.
    Conversion,
    /// A pointer to `bool`: the last of the standard conversions.
    ToBool,
    /// Through a constructor or a conversion function, or from a list in braces.
    User,
    /// What C allows and C++ does not: dslc warns and converts.
    Lax,
}

/// An argument of a call, evaluated as far as possible without knowing the parameter.
#[derive(Clone, Debug)]
pub(crate) enum Argument<'e> {
    /// A value; that of a place is a load of it.
    Value(Value),
    /// `{ … }`: has a meaning only for a known parameter.
    List(&'e [ast::InitItem], Span),
    /// An invalid argument. The function may still be found, and the other arguments checked against it.
    Wrong(Reported),
}

impl Argument<'_> {
    /// `Err` if any of these is invalid.
    pub(crate) fn all_fine(args: &[Argument<'_>]) -> Result<(), Reported> {
        let wrong = args.iter().find_map(|arg| match arg {
            Argument::Wrong(reported) => Some(*reported),
            Argument::Value(_) | Argument::List(..) => None,
        });
        wrong.map_or(Ok(()), Err)
    }
}

/// The result of ranking the candidates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Best {
    /// The index of the best.
    One(usize),
    /// The indices of those that no other is better than.
    Several(Vec<usize>),
    /// None fits.
    None,
}

/// The candidate that is better than all others. Each is given by the ranks of its arguments (`None` if it does not fit) and by a number
/// that decides between equal ranks: the larger wins.
pub(crate) fn best(candidates: &[(Option<Vec<Rank>>, u32)]) -> Best {
    let better = |a: usize, b: usize| {
        let (Some(x), Some(y)) = (&candidates[a].0, &candidates[b].0) else {
            return candidates[a].0.is_some();
        };
        let mut pairs = x.iter().zip(y);
        if pairs.any(|(x, y)| x > y) {
            return false;
        }
        let mut pairs = x.iter().zip(y);
        pairs.any(|(x, y)| x < y) || candidates[a].1 > candidates[b].1
    };
    let fits = || (0..candidates.len()).filter(|&i| candidates[i].0.is_some());
    // The winner beats whatever it meets, so one pass finds the only one that can win.
    let Some(first) = fits().next() else {
        return Best::None;
    };
    let winner = fits().fold(
        first,
        |winner, i| {
            if better(i, winner) { i } else { winner }
        },
    );
    if fits().all(|i| i == winner || better(winner, i)) {
        return Best::One(winner);
    }
    let beaten = |i: usize| fits().any(|other| other != i && better(other, i));
    Best::Several(fits().filter(|&i| !beaten(i)).collect())
}

/// What a call of an overloaded name means.
pub(crate) enum Resolved {
    /// This function.
    Function(FunctionId),
    /// CUDA's own function of this name.
    Builtin,
}

/// The arguments of a call, each evaluated once.
pub(crate) fn arguments<'e>(cx: &mut Checker<'_>, args: &'e [ast::Expr]) -> Vec<Argument<'e>> {
    args.iter()
        .map(|arg| match &arg.kind {
            ExprKind::List(items) => Argument::List(items, arg.span),
            _ => expr::value(cx, arg).map_or_else(Argument::Wrong, Argument::Value),
        })
        .collect()
}

/// The function that a call of `name` means, among `ids` and CUDA's own functions of this name.
pub(crate) fn resolve(
    cx: &mut Checker<'_>,
    name: &str,
    ids: &[FunctionId],
    args: &[Argument<'_>],
    at: Span,
) -> Result<Resolved, Reported> {
    let builtins = builtin_overloads(cx, name, args.len());
    if let ([id], true) = (ids, builtins.is_empty()) {
        return Ok(Resolved::Function(*id));
    }
    Argument::all_fine(args)?;
    // A candidate with invalid parameters takes part only if no other fits exactly.
    let is_exact = |id: &&FunctionId| {
        let ranks = cx.tables.ranks(**id, args);
        ranks.is_some_and(|ranks| ranks.iter().all(|rank| *rank == Rank::Exact))
    };
    let understood: Vec<FunctionId> = ids
        .iter()
        .filter(|id| cx.tables.is_understood(**id))
        .copied()
        .collect();
    let ids = match understood.iter().any(|id| is_exact(&id)) {
        true => &understood[..],
        false => ids,
    };
    let mut candidates: Vec<(Option<Vec<Rank>>, u32)> = ids
        .iter()
        .map(|&id| (cx.tables.ranks(id, args), cx.instances.specificity(id)))
        .collect();
    candidates.extend(builtins.iter().map(|types| {
        let rank = |(arg, ty): (&Argument<'_>, &Ty)| match arg {
            Argument::Value(value) => cx.tables.rank_type(value, &ty.clone().into()),
            Argument::List(..) | Argument::Wrong(_) => None,
        };
        (args.iter().zip(types).map(rank).collect(), 500)
    }));
    match best(&candidates) {
        Best::One(i) => Ok(ids
            .get(i)
            .map_or(Resolved::Builtin, |id| Resolved::Function(*id))),
        // CUDA's own overloads are resolved by `builtin_call`.
        Best::Several(several) if several.iter().all(|&i| i >= ids.len()) => Ok(Resolved::Builtin),
        Best::Several(several) => {
            let several: Vec<FunctionId> = several
                .iter()
                .filter_map(|&i| ids.get(i).copied())
                .collect();
            let (name, call) = (name.to_string(), given_types(args));
            let message = match several.len() {
                1 => CallError::AmbiguousWithBuiltin { name, call },
                _ => CallError::Ambiguous { name, call },
            };
            let diagnostic =
                list_candidates(&cx.tables, cx.tables.diagnostic(at, message), &several);
            Err(cx.reporter.report(diagnostic))
        }
        Best::None => {
            let (name, call) = (name.to_string(), given_types(args));
            let message = match ids.len() {
                1 => CallError::NeitherFits { name, call },
                n => CallError::NoneFits { n, name, call },
            };
            let diagnostic = list_candidates(&cx.tables, cx.tables.diagnostic(at, message), ids);
            Err(cx.reporter.report(diagnostic))
        }
    }
}

/// The functions that a call of a name can mean, including instances of templates. `None` if there are none, which has been reported.
pub(crate) fn candidates(
    cx: &mut Checker<'_>,
    name: &str,
    set: &[Callable],
    explicit: Option<&[ast::TemplateArg]>,
    args: &[Argument<'_>],
    at: Span,
) -> Result<Vec<FunctionId>, Reported> {
    let mut ids = match explicit {
        None => functions_of(cx, set),
        Some(_) => Vec::new(),
    };
    if !set
        .iter()
        .any(|callable| matches!(callable, Callable::Template(_)))
    {
        if explicit.is_some() {
            let name = name.to_string();
            return Err(cx.error(at, CallError::NoTemplate { name }));
        }
        return Ok(ids);
    }
    Argument::all_fine(args)?;
    let n_diagnostics = cx.reporter.diagnostics.len();
    let mut misfits = Vec::new();
    ids.extend(template::instances_giving(
        cx,
        set,
        explicit,
        args,
        None,
        at,
        &mut misfits,
    ));
    let fits = ids.iter().any(|&id| cx.tables.ranks(id, args).is_some());
    let has_builtin = !builtin_overloads(cx, name, args.len()).is_empty();
    if fits || (explicit.is_none() && has_builtin) {
        return Ok(ids);
    }
    if cx.reporter.diagnostics.len() == n_diagnostics
        && !function_template::is_endless(&cx.reporter, name)
    {
        let (shown, call) = (name.to_string(), given_types(args));
        let message = match set.len() {
            1 => CallError::TemplateDoesNotFit { name: shown, call },
            n => CallError::NoneFits {
                n,
                name: shown,
                call,
            },
        };
        let diagnostic = attempt::with_misfits(
            &cx.tables,
            &cx.instances,
            cx.tables.diagnostic(at, message),
            name,
            misfits,
        );
        return Err(cx
            .reporter
            .report(list_candidates(&cx.tables, diagnostic, &ids)));
    }
    Err(cx.body.reported_before(at))
}

/// Shows the candidates.
fn list_candidates(tables: &Tables, diagnostic: Diagnostic, ids: &[FunctionId]) -> Diagnostic {
    let candidates = ids.iter().map(|&id| {
        let declared = tables.functions[id].facts.declared;
        (declared, tables.signature(id))
    });
    with_candidates(diagnostic, candidates)
}

/// The parameters of CUDA's own functions of this name that can take `n` arguments.
fn builtin_overloads(cx: &Checker<'_>, name: &str, n: usize) -> Vec<Vec<Ty>> {
    const REALS: [Ty; 2] = [Ty::Float, Ty::Double];
    const INTEGERS: [Ty; 6] = [
        Ty::Int,
        Ty::UInt,
        Ty::Long,
        Ty::ULong,
        Ty::LongLong,
        Ty::ULongLong,
    ];
    let numbers = || INTEGERS.into_iter().chain(REALS);
    let each = |types: &mut dyn Iterator<Item = Ty>| types.map(|ty| vec![ty; n]).collect();
    if builtin::is_math(name) {
        return match library_params(cx, name) == n {
            true => each(&mut REALS.into_iter()),
            false => Vec::new(),
        };
    }
    match builtin::find(name) {
        Some(Entry::Function(row)) if row.sides != Sides::Host => {
            let params = Signature::parse(row.signature).params;
            let least = params.iter().take_while(|param| param.default.is_none());
            let is_plain = |param: &Param| matches!(param.ty, ParamType::Plain { .. });
            match (least.count()..=params.len()).contains(&n) && params.iter().all(is_plain) {
                true => {
                    let types = params
                        .iter()
                        .map(|param| builtin_call::word_type(&cx.scopes, &param.ty));
                    vec![types.take(n).collect()]
                }
                false => Vec::new(),
            }
        }
        Some(Entry::Overloaded(overload)) => match (overload, n) {
            (Overload::Min | Overload::Max, 2) | (Overload::Abs, 1) => each(&mut numbers()),
            (Overload::Real1(_) | Overload::Library1(..), 1)
            | (Overload::Real2(_) | Overload::Library2(..), 2)
            | (Overload::Fma, 3)
            | (Overload::IsNan | Overload::IsInf | Overload::IsFinite | Overload::SignBit, 1) => {
                each(&mut REALS.into_iter())
            }
            (Overload::MakeVector(name), _) => match layout::vector_type(name) {
                Some((component, count, _)) if count as usize == n => {
                    vec![vec![component; n]]
                }
                _ => Vec::new(),
            },
            (Overload::Atomic(Atomic::Cas, _), 3) | (Overload::Atomic(..), 2) => numbers()
                .map(|ty| {
                    let pointer = pointer_to(ty.clone().into());
                    std::iter::once(pointer).chain(vec![ty; n - 1]).collect()
                })
                .collect(),
            (Overload::Shuffle(_, has_mask), _) => {
                let mask = usize::from(has_mask);
                match n.checked_sub(mask) {
                    Some(rest @ 2..=3) => numbers()
                        .map(|ty| {
                            let mask = vec![Ty::UInt; mask];
                            let lane = vec![Ty::Int; rest - 1];
                            mask.into_iter().chain([ty]).chain(lane).collect()
                        })
                        .collect(),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// How many parameters a function of the mathematics library has.
fn library_params(cx: &Checker<'_>, name: &str) -> usize {
    let takes = |index: usize| match cx.items[index] {
        ast::Item::Function(function) => function.params.len(),
        _ => 0,
    };
    match cx.scopes.find_in_prelude(name).map(|own| &own.entity) {
        Some(Entity::Functions(set)) => match set.first() {
            Some(Callable::Unused(index)) => takes(*index),
            Some(Callable::Function(id)) => cx.tables.functions[*id].facts.params.len(),
            Some(Callable::Template(_)) | None => 0,
        },
        _ => 0,
    }
}

/// Converts the arguments to their parameters' types, and adds the defaults of omitted ones. There are not too many.
pub(crate) fn bind_arguments(
    cx: &mut Checker<'_>,
    id: FunctionId,
    args: Vec<Argument<'_>>,
    span: Span,
) -> Result<Vec<Value>, Reported> {
    let params = cx.tables.functions[id].facts.params.clone();
    let name = cx.tables.functions[id].typed.name.clone();
    let mut args = args.into_iter();
    let mut out = Vec::with_capacity(params.len());
    for (i, param) in params.iter().enumerate() {
        let value = match args.next() {
            Some(Argument::Value(value)) => Ok(value),
            Some(Argument::List(items, span)) => init::list_value(cx, &param.ty.ty, items, span),
            Some(Argument::Wrong(reported)) => Err(reported),
            None => default_argument(cx, id, param, span),
        };
        let why = Why::Argument(i + 1, &name, Some(param.span));
        out.push(value.and_then(|value| bind_argument(cx, value, param, &why)));
    }
    all(out)
}

fn bind_argument(
    cx: &mut Checker<'_>,
    value: Value,
    param: &ParamFacts,
    why: &Why<'_>,
) -> Result<Value, Reported> {
    if param.is_this {
        return reference::bind_object(cx, value, &param.ty, why);
    }
    if param.is_reference {
        return reference::bind(cx, value, &param.ty, why);
    }
    if param.is_rvalue && reference::place_of(&value).is_some() {
        return Err(cx.unsupported("a variable as the argument for `&&`", value.span));
    }
    convert::implicit(cx, value, &param.ty.ty, why)
}

/// A parameter's default, in the scope of its function.
fn default_argument(
    cx: &mut Checker<'_>,
    id: FunctionId,
    param: &ParamFacts,
    span: Span,
) -> Result<Value, Reported> {
    let Some(default) = &param.default else {
        return Err(cx.body.reported_before(span));
    };
    let class = cx.tables.functions[id].facts.class;
    let value = |cx: &mut Checker<'_>| {
        let depth = class::enter_scopes(&cx.tables, &mut cx.scopes, class);
        let value = match &default.kind {
            ExprKind::List(items) => init::list_value(cx, &param.ty.ty, items, default.span),
            _ => expr::value(cx, default),
        };
        for _ in 0..depth {
            cx.scopes.leave();
        }
        value
    };
    if let Some((template, bound)) = function_template::bindings_of(&cx.tables, &cx.instances, id) {
        return arguments::bound(cx, template, &bound, value);
    }
    let hidden = cx.scopes.only_file();
    let value = value(cx);
    cx.scopes.show(hidden);
    value
}

/// The functions in this set; declares those of the prelude.
pub(crate) fn functions_of(cx: &mut Checker<'_>, set: &[Callable]) -> Vec<FunctionId> {
    set.iter()
        .filter_map(|callable| match callable {
            Callable::Function(id) => Some(*id),
            Callable::Unused(index) => function::use_prelude(cx, *index),
            Callable::Template(_) => None,
        })
        .collect()
}

/// The prelude's function of this name.
pub(crate) fn prelude_function(cx: &mut Checker<'_>, name: &str) -> Option<FunctionId> {
    let set = exchange::prelude_functions(&cx.scopes, name)?;
    functions_of(cx, &set).first().copied()
}

/// Reports an overloaded name in a context that does not say which function it means.
pub(crate) fn which_overload(
    tables: &Tables,
    reporter: &mut Reporter,
    name: &str,
    ids: &[FunctionId],
    at: Span,
) -> Reported {
    let diagnostic = tables.diagnostic(
        at,
        CallError::AmbiguousAddress {
            name: name.to_string(),
        },
    );
    reporter.report(list_candidates(tables, diagnostic, ids))
}

/// Adds the parameters' types to the names of kernels that share a name, so that reports can tell them apart.
pub(crate) fn name_overloaded_kernels(tables: &mut Tables) {
    use crate::sema::typed::FunctionSpace;
    let mut counts = std::collections::HashMap::new();
    let is_kernel = |id: &FunctionId| tables.functions[*id].typed.space == FunctionSpace::Kernel;
    let kernels: Vec<FunctionId> = tables.functions.ids().filter(is_kernel).collect();
    for &id in &kernels {
        let name = tables.functions[id].typed.name.clone();
        *counts.entry(name).or_insert(0) += 1;
    }
    for id in kernels {
        if counts[&tables.functions[id].typed.name] > 1 {
            tables.functions[id].typed.name = tables.signature(id).replace(" *", "*");
        }
    }
}

/// The types of a call's arguments, for a message.
fn given_types(args: &[Argument<'_>]) -> GivenTypes {
    let types = args.iter().map(|arg| match arg {
        Argument::Value(value) => Some(value.ty.clone()),
        Argument::List(..) | Argument::Wrong(_) => None,
    });
    GivenTypes(types.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_candidate_is_no_worse_anywhere() {
        use Rank::*;
        let fit = |ranks: &[Rank]| (Some(ranks.to_vec()), 0);
        assert_eq!(best(&[fit(&[Conversion]), fit(&[Exact])]), Best::One(1));
        assert_eq!(
            best(&[fit(&[Exact, Conversion]), fit(&[Conversion, Exact])]),
            Best::Several(vec![0, 1])
        );
        // A third that is better than both decides, in any position.
        let all = [
            fit(&[Exact, Conversion]),
            fit(&[Conversion, Exact]),
            fit(&[Exact, Exact]),
        ];
        assert_eq!(best(&all), Best::One(2));
        assert_eq!(best(&[(None, 9), (None, 0)]), Best::None);
        // With equal ranks, the program's function wins over the built-in one.
        assert_eq!(best(&[fit(&[Exact]), (Some(vec![Exact]), 1)]), Best::One(1));
    }
}
