//! Which kernel of the front end's program stands behind a mangled name of the object.

use dsl::{
    Survey,
    diagnostic::{Code, Diagnostic, Severity},
    image::Kernel,
    lower::{scalars, written},
    sema::typed::{Function, FunctionId, FunctionSpace},
    source::SourceMap,
    span::Span,
};

use super::names::Wanted;

/// The kernel of that name, or why there is none.
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
    let params = function.params.iter().map(|&id| &function.vars[id].ty.ty);
    Kernel {
        mangled: wanted.mangled.clone(),
        index,
        params: params.map(|ty| scalars(&survey.program, ty)).collect(),
        name: function.name.clone(),
    }
}

/// The instance of a kernel template that a lambda makes. Both compilers number a function's lambdas in the order of the source; where
/// they may differ (lambdas of several functions or parameters), there is none.
fn of_lambda(
    wanted: &Wanted,
    all: &[Wanted],
    kernels: &[(FunctionId, &Function)],
    survey: &Survey,
) -> Option<usize> {
    survey.module.as_ref()?;
    let template = wanted.template();
    let mut same: Vec<&Wanted> = all
        .iter()
        .filter(|one| one.of_lambda() && one.template() == template)
        .collect();
    let (place, _) = wanted.lambda()?;
    if same
        .iter()
        .any(|one| one.lambda().is_none_or(|(other, _)| other != place))
    {
        return None;
    }
    same.sort_by_key(|one| one.lambda().map(|(_, number)| number));
    let made: Vec<usize> = (0..kernels.len())
        .filter(|&at| {
            let name = &kernels[at].1.name;
            name.split('<').next() == Some(template) && name.contains("lambda")
        })
        .collect();
    let at = same.iter().position(|one| one.mangled == wanted.mangled)?;
    (made.len() == same.len()).then(|| made[at])
}

/// Why a kernel that the host launches is not there.
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
    let lambda = wanted.name.contains("lambda");
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

/// Whether a name of the program is that one.
fn same(known: &str, wanted: &str) -> bool {
    // Overloads have their parameters in their names.
    let known = match known.split_once('(') {
        Some((name, _)) if !name.contains('<') => name,
        _ => known,
    };
    letters(known) == letters(wanted)
}

/// A type's or name's letters in one order: `const float *` and `float const*` are one.
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
