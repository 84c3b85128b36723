//! Finds the kernel in the front end's program that a mangled name of the object refers to.

use dsl::{
    Survey,
    lower::{parameters, written},
    sema::{
        ty::Ty,
        typed::{Function, FunctionId, FunctionSpace},
    },
};
use ir::symbol::template_name;
use ir::{
    diagnostic::{Code, Diagnostic, Severity},
    image::Kernel,
    source::SourceMap,
    span::Span,
};

use super::names::{LambdaName, Wanted};

/// The kernel with that name, or the reason why it was not found.
pub(super) fn found(
    wanted: &Wanted,
    all: &[Wanted],
    options: &dsl::Options,
    survey: &Survey,
    map: &SourceMap,
) -> Result<Kernel, Box<Diagnostic>> {
    let kernels: Vec<(FunctionId, &Function)> = (0..)
        .map(FunctionId)
        .zip(&survey.program.functions)
        .filter(|(_, function)| function.space == FunctionSpace::Kernel && function.body.is_some())
        .collect();
    let asked = |id: FunctionId| {
        let mut requested = survey.program.requested.iter();
        let (span, _) = requested.find(|(_, function)| *function == id)?;
        let line = map.file(span.file).line_column(span.start).0 as usize;
        options.instances.get(line - 1)
    };
    let fits = |(id, function): &(FunctionId, &Function)| match wanted.is_instance() {
        true => asked(*id) == Some(&wanted.name) || same(&function.name, &wanted.name),
        false => same(&function.name, &wanted.name),
    };
    if wanted.of_lambda() {
        return of_lambda(wanted, all, &kernels, survey)
            .map(|index| kernel_at(index, wanted, &kernels, survey))
            .ok_or_else(|| missing(wanted, survey, map));
    }
    let mut candidates: Vec<usize> = (0..kernels.len())
        .filter(|&at| fits(&kernels[at]))
        .collect();
    if candidates.len() > 1 && !wanted.is_instance() {
        let params = |at: usize| {
            let function = kernels[at].1;
            let vars = function.params.iter().map(|&id| &function.vars[id].ty);
            let types: Vec<String> = vars.map(|ty| written(&survey.program, ty)).collect();
            letters(&types.join(","))
        };
        let meant = letters(&wanted.params);
        candidates.retain(|&at| params(at) == meant);
    }
    let &[index] = candidates.as_slice() else {
        return Err(missing(wanted, survey, map));
    };
    if survey.module.is_none() {
        return Err(missing(wanted, survey, map));
    }
    Ok(kernel_at(index, wanted, &kernels, survey))
}

/// A kernel of the program, by its number among the kernels.
fn kernel_at(
    index: usize,
    wanted: &Wanted,
    kernels: &[(FunctionId, &Function)],
    survey: &Survey,
) -> Kernel {
    let function = kernels[index].1;
    Kernel {
        mangled: wanted.mangled.clone(),
        index,
        params: parameters(&survey.program, function),
        name: function.name.clone(),
    }
}

/// The instance of a kernel template whose arguments are lambdas. Both compilers number the lambdas of a function that have the same
/// parameters in source order. So of those that kernels are launched with, the first by number is the first by place. `None` where
/// overloads of one name may be confused.
fn of_lambda(
    wanted: &Wanted,
    all: &[Wanted],
    kernels: &[(FunctionId, &Function)],
    survey: &Survey,
) -> Option<usize> {
    survey.module.as_ref()?;
    let made: Vec<(usize, Vec<Lambda>)> = (0..kernels.len())
        .map(|at| (at, lambdas_of(kernels[at].1, survey)))
        .filter(|(_, lambdas)| !lambdas.is_empty())
        .collect();
    let place = |name: &LambdaName| {
        let alike = |other: &LambdaName| {
            other.function == name.function && letters(&other.params) == letters(&name.params)
        };
        let same: Vec<LambdaName> = all.iter().flat_map(Wanted::lambdas).filter(alike).collect();
        // Overloads of one name number their lambdas separately, and it is unknown here which is which.
        if same.iter().any(|other| other.scope != name.scope) {
            return None;
        }
        let mut numbers: Vec<u32> = same.iter().map(|one| one.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut places: Vec<Span> = made
            .iter()
            .flat_map(|(_, lambdas)| lambdas)
            .filter(|lambda| {
                lambda.function == name.function && lambda.params == letters(&name.params)
            })
            .map(|lambda| lambda.span)
            .collect();
        places.sort_unstable_by_key(|span| (span.file, span.start));
        places.dedup();
        let at = numbers.iter().position(|number| *number == name.number)?;
        (numbers.len() == places.len()).then(|| places[at])
    };
    let places: Option<Vec<Span>> = wanted.lambdas().iter().map(place).collect();
    let places = places?;
    let fits = |(at, lambdas): &&(usize, Vec<Lambda>)| {
        template_name(&kernels[*at].1.name) == wanted.template()
            && lambdas
                .iter()
                .map(|lambda| lambda.span)
                .eq(places.iter().copied())
    };
    match made.iter().filter(fits).collect::<Vec<_>>()[..] {
        [(at, _)] => Some(*at),
        _ => None,
    }
}

/// A lambda that a kernel takes as argument.
struct Lambda {
    span: Span,
    /// The function that contains it.
    function: String,
    /// The types of its parameters.
    params: String,
}

fn lambdas_of(kernel: &Function, survey: &Survey) -> Vec<Lambda> {
    let program = &survey.program;
    let params = kernel.params.iter().map(|&id| &kernel.vars[id].ty.ty);
    let lambdas = params.filter_map(|ty| {
        let Ty::Record(class) = ty else { return None };
        let plain = program.lambdas.iter().find(|(of, _)| of == class);
        if let Some((_, id)) = plain {
            let code = &program.functions[*id];
            let vars = code.params.iter().skip(1).map(|&id| &code.vars[id].ty);
            let types: Vec<String> = vars.map(|ty| written(program, ty)).collect();
            return Some((code.span, types.join(",")));
        }
        let generic = program
            .generic_lambdas
            .iter()
            .find(|of| of.class == *class)?;
        Some((generic.span, generic.params.clone()))
    });
    lambdas
        .map(|(span, params)| {
            // It is in the last function that begins before it.
            let before = program.functions.entries().filter(|(id, function)| {
                let is_lambda = program.lambdas.iter().any(|(_, of)| of == id)
                    || program
                        .generic_lambdas
                        .iter()
                        .any(|of| of.span == function.span);
                !is_lambda && function.span.file == span.file && function.span.start < span.start
            });
            let function = before.max_by_key(|(_, function)| function.span.start);
            let name = function.map_or("", |(_, function)| function.name.as_str());
            let name = name.split(['(', '<']).next().unwrap_or(name);
            Lambda {
                span,
                function: name.to_string(),
                params: letters(&params),
            }
        })
        .collect()
}

/// Why the program has no such kernel as the host launches.
fn missing(wanted: &Wanted, survey: &Survey, map: &SourceMap) -> Box<Diagnostic> {
    let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_string();
    let template = last(wanted.template());
    let verdicts = survey
        .kernels
        .iter()
        .filter(|verdict| verdict.name == template);
    let mut reasons = verdicts
        .clone()
        .filter_map(|verdict| verdict.reason.clone());
    let mut errors = survey
        .diagnostics
        .iter()
        .filter(|message| message.severity == Severity::Error);
    let lambda = wanted.of_lambda();
    let place = verdicts.map(|verdict| verdict.span).next();
    let why = reasons
        .next()
        .or_else(|| errors.next().cloned())
        .unwrap_or_else(|| {
            let why = match lambda {
                true => "a lambda as template argument is not supported here",
                false => "there is no such kernel",
            };
            let (file, _) = map.files().next().expect("the source is a file");
            let span = place.unwrap_or(Span::new(file, 0, 0));
            let message = format!("`{}`: {why}", wanted.name);
            Diagnostic::error(Code::Unsupported, span, message)
        });
    Box::new(why)
}

/// Whether a name in the program is the wanted one.
pub(crate) fn same(known: &str, wanted: &str) -> bool {
    // The names of overloads include their parameters.
    let known = match known.split_once('(') {
        Some((name, _)) if !name.contains('<') => name,
        _ => known,
    };
    letters(known) == letters(wanted)
}

/// The letters of a type or name in sorted order: `const float *` and `float const*` are the same.
fn letters(text: &str) -> String {
    let types = text.split(',').map(|ty| {
        let is_const = ty.contains("const");
        let rest: String = ty
            .replace("const", "")
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect();
        if is_const {
            format!("{rest}const")
        } else {
            rest
        }
    });
    types.collect::<Vec<String>>().join(",")
}
