//! Decides which kernels of a CUDA file are understood, whatever else is in it.
//!
//! Kernels are found in the tokens, so that a kernel that does not parse is listed, too. A kernel is understood if no message is inside it
//! or a function that it calls, and if everything in it has a type. Host code is read for the instances of templates that it launches; its
//! errors do not matter here.

use std::{collections::HashSet, ops::Range};

use crate::arena::Arena;
use crate::{
    compile::{Options, Parsed, parsed, requests},
    lower::{self, walk_typed},
    message::Message as _,
    sema::{
        self, Surveyed, SurveyedUnit, Unknown,
        ty::Ty,
        typed::{FunctionId, FunctionSpace, Program},
    },
    stack,
    syntax::{
        self,
        token::{Keyword, Punct, Token, TokenKind},
    },
};
use ir::{
    Module,
    diagnostic::{Code, Diagnostic, Severity},
    simplify::simplify,
    source::{COMMAND_LINE, Loader, SourceMap},
    span::{FileId, Span},
};

mod broken;
mod lost;
mod message;
mod sources;

use broken::Broken;
use lost::Lost;
use message::SurveyError;
pub use sources::{OwnName, own_names};

/// The facts about one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelVerdict {
    /// Its name as written.
    pub name: String,
    /// The name in its definition.
    pub span: Span,
    /// Why it is not understood: the first reason.
    pub reason: Option<Diagnostic>,
    /// The template arguments that it was tried with, if nothing in the file instantiates it.
    pub with: Option<String>,
    /// Whether it, or a function that it is known to call, declares `__shared__` memory.
    pub uses_shared: bool,
}

/// A surveyed file.
#[derive(Clone, PartialEq, Debug)]
pub struct Survey {
    /// Every kernel with a body, in order of place.
    pub kernels: Vec<KernelVerdict>,
    /// The extent of each of them, from `__global__` to the end of its body.
    pub extents: Vec<Span>,
    /// Errors about included files that do not exist.
    pub missing: Vec<Diagnostic>,
    /// The kernels that are understood, without host code.
    pub module: Option<Module>,
    /// The program that the module was made from: functions without a body are not in the module.
    pub program: Program,
    /// Errors in the instances that were requested, and in the lowered kernels.
    pub diagnostics: Vec<Diagnostic>,
}

/// Finds the kernels of the file and decides for each whether it is understood.
pub fn survey(map: &mut SourceMap, file: FileId, options: &Options, loader: &dyn Loader) -> Survey {
    stack::whole(|| surveyed(map, file, options, loader))
}

/// Parses and checks the whole file, decides about each kernel by the errors in it, and lowers those that are understood.
fn surveyed(map: &mut SourceMap, file: FileId, options: &Options, loader: &dyn Loader) -> Survey {
    let preprocessing = syntax::Options {
        defines: options.defines.clone(),
        cuda_arch: options.cuda_arch,
    };
    let mut tokenized = syntax::tokenize(map, file, &preprocessing, loader);
    sources::rename(&mut tokenized.tokens, map, &options.own_names);
    let Parsed {
        unit,
        errors: syntax_errors,
        declared,
    } = parsed(map, &tokenized, &options.instances);
    let found = kernels(&tokenized.tokens);
    let (wanted, request_errors) = requests(map, &options.instances);
    let checking = sema::Options {
        prelude: declared.files.clone(),
        skip_host: false,
        survey: true,
    };
    let SurveyedUnit {
        mut program,
        diagnostics: type_errors,
        functions,
        broken_records,
    } = sema::survey(&[&declared.unit, &unit, &wanted], map, checking);
    let broken = Broken::new(
        broken_records,
        &program,
        &tokenized.tokens,
        &syntax_errors,
        map,
    );
    let lost = lost::lost(&tokenized.tokens, &syntax_errors, map);
    let (missing, mut errors) = missing_files(tokenized.diagnostics, map);
    errors.extend(syntax_errors);
    let (asked, type_errors): (Vec<Diagnostic>, Vec<Diagnostic>) = type_errors
        .into_iter()
        .chain(request_errors)
        .partition(|message| {
            map.file(map.use_site(message.primary.span).file).name == COMMAND_LINE
        });
    errors.extend(type_errors);
    errors.retain(|message| message.severity == Severity::Error);
    let is_shared = |token: &&Token| token.kind == TokenKind::Keyword(Keyword::Shared);
    let shared = tokenized.tokens.iter().filter(is_shared);
    let shared: Vec<Span> = shared.map(|token| token.span).collect();
    let known = Stages {
        program: &program,
        functions: &functions,
        broken: &broken,
        lost: &lost,
        errors: &errors,
    };
    let verdicts: Vec<(KernelVerdict, Vec<FunctionId>)> = found
        .iter()
        .map(|kernel| verdict(kernel, map, &known, &shared))
        .collect();
    drop_bodies(&mut program, &verdicts);
    let lowering = lower::Options {
        fmad: options.fmad,
        all_globals: true,
    };
    let (mut module, lowering_errors) = lower::lower(&program, map, &lowering);
    let is_bad = lowering_errors
        .iter()
        .any(|message| message.severity == Severity::Error);
    let mut diagnostics = asked;
    diagnostics.extend(lowering_errors);
    if !is_bad {
        simplify(&mut module);
    }
    Survey {
        kernels: verdicts.into_iter().map(|(verdict, _)| verdict).collect(),
        extents: found.iter().map(|kernel| kernel.extent).collect(),
        missing,
        module: (!is_bad).then_some(module),
        program,
        diagnostics,
    }
}

/// The messages about included files that do not exist, one for each file, and all other messages.
fn missing_files(messages: Vec<Diagnostic>, map: &SourceMap) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let (mut missing, others): (Vec<Diagnostic>, Vec<Diagnostic>) = messages
        .into_iter()
        .partition(|message| message.code == Code::IncludeNotFound);
    let mut named = HashSet::new();
    missing.retain(|message| {
        let name = map.snippet(message.primary.span).trim_matches('"');
        named.insert(name.to_string())
    });
    (missing, others)
}

/// Removes the bodies of host functions and of the kernels that are not understood, so that they are not lowered.
fn drop_bodies(program: &mut Program, verdicts: &[(KernelVerdict, Vec<FunctionId>)]) {
    let understood = verdicts
        .iter()
        .filter(|(verdict, _)| verdict.reason.is_none());
    let keep: HashSet<FunctionId> = understood
        .flat_map(|(_, instances)| instances)
        .copied()
        .collect();
    for id in program.functions.ids() {
        let function = &mut program.functions[id];
        let is_kernel = function.space == FunctionSpace::Kernel;
        if (is_kernel && !keep.contains(&id)) || function.space == FunctionSpace::Host {
            function.body = None;
        }
    }
}

/// The results of the front end's stages for the file.
struct Stages<'p> {
    program: &'p Program,
    functions: &'p Arena<FunctionId, Surveyed>,
    broken: &'p Broken,
    /// Functions that do not parse.
    lost: &'p [Lost],
    /// Every error.
    errors: &'p [Diagnostic],
}

/// A kernel in the tokens.
pub(crate) struct Found {
    pub(crate) name: String,
    span: Span,
    /// From `__global__` to the end of the body.
    extent: Span,
    /// The tokens of the body, with the braces.
    pub(crate) body: Range<usize>,
}

/// The kernels that are defined in the tokens, in order.
pub(crate) fn kernels(tokens: &[Token]) -> Vec<Found> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].kind == TokenKind::Keyword(Keyword::Global)
            && let Some((found, end)) = kernel(tokens, at)
        {
            out.extend(found);
            at = end;
        } else {
            at += 1;
        }
    }
    out
}

/// The kernel that begins at `at`, unless it is a prototype, and the index after it.
fn kernel(tokens: &[Token], at: usize) -> Option<(Option<Found>, usize)> {
    let is = |n: usize, punct: Punct| {
        tokens.get(n).map(|token| &token.kind) == Some(&TokenKind::Punct(punct))
    };
    let after = |open: usize| {
        let mut depth = 0usize;
        for (n, token) in tokens.iter().enumerate().skip(open) {
            match token.kind {
                TokenKind::Punct(Punct::LParen | Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RParen | Punct::RBrace) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return n + 1;
                    }
                }
                _ => {}
            }
        }
        tokens.len()
    };
    let mut n = at + 1;
    loop {
        match &tokens.get(n)?.kind {
            TokenKind::Keyword(Keyword::LaunchBounds | Keyword::Align) => n = after(n + 1),
            TokenKind::Ident(name) | TokenKind::TypeName(name) if is(n + 1, Punct::LParen) => {
                let mut end = after(n + 1);
                // `__cluster_dims__(2, 1, 1)`: the name comes later.
                if let Some(TokenKind::Ident(next) | TokenKind::TypeName(next)) =
                    tokens.get(end).map(|token| &token.kind)
                    && &**next != "requires"
                {
                    n = end;
                    continue;
                }
                while end < tokens.len() && !is(end, Punct::LBrace) {
                    if is(end, Punct::Semi) || end > n + 4096 {
                        return Some((None, end));
                    }
                    end += 1;
                }
                let open = end;
                let end = after(open);
                let found = Found {
                    body: open..end,
                    name: name.to_string(),
                    span: tokens[n].span,
                    extent: tokens[at]
                        .span
                        .to(tokens[end.saturating_sub(1).max(at)].span),
                };
                return Some((Some(found), end));
            }
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace) => return None,
            _ => n += 1,
        }
    }
}

/// The error in a kernel, and its functions: several if it is a template.
fn verdict(
    kernel: &Found,
    map: &SourceMap,
    known: &Stages<'_>,
    shared: &[Span],
) -> (KernelVerdict, Vec<FunctionId>) {
    let (program, functions, errors) = (known.program, known.functions, known.errors);
    let site = |span: Span| {
        let span = map.use_site(span);
        (span.file, span.start, span.end)
    };
    let inside = |span: Span, extent: Span| {
        let (inner, outer) = (site(span), site(extent));
        inner.0 == outer.0 && inner.1 >= outer.1 && inner.1 <= outer.2
    };
    let is_instance = |id: &FunctionId| {
        let function = &program.functions[*id];
        let is_kernel = function.space == FunctionSpace::Kernel && function.body.is_some();
        is_kernel && site(functions[*id].name) == site(kernel.span)
    };
    let instances: Vec<FunctionId> = functions.ids().filter(is_instance).collect();
    let mut extents = vec![kernel.extent];
    let mut seen = instances.clone();
    let mut next = 0;
    while let Some(id) = seen.get(next).copied() {
        next += 1;
        let surveyed = &functions[id];
        extents.extend(surveyed.extent);
        for (callee, _) in &surveyed.calls {
            if !seen.contains(callee) {
                seen.push(*callee);
            }
        }
    }
    // The checker reports a missing body only at the first call in the file.
    let undefined = seen
        .iter()
        .flat_map(|&id| &functions[id].calls)
        .find(|(callee, _)| functions[*callee].is_undefined);
    let mut reason = errors
        .iter()
        .find(|error| {
            extents
                .iter()
                .any(|extent| inside(error.primary.span, *extent))
        })
        .cloned();
    if let (None, Some((callee, span))) = (&reason, undefined) {
        let name = program.functions[*callee].name.to_string();
        reason = Some(SurveyError::NoBody { name }.diagnostic(*span, &()));
    }
    if reason.is_none() {
        reason = seen.iter().find_map(|id| untyped(*id, map, known));
    }
    if reason.is_none() {
        let is_named = |lost: &&Lost| {
            let mut uses = lost.uses.iter();
            uses.any(|&span| extents.iter().any(|&extent| inside(span, extent)))
        };
        reason = known
            .lost
            .iter()
            .find(is_named)
            .map(|lost| lost.why.clone());
    }
    if reason.is_none() && instances.is_empty() {
        // An invalid declaration around the kernel, such as a class or a namespace that does not parse.
        let near = errors
            .iter()
            .find(|error| site(error.primary.span).0 == site(kernel.span).0);
        let error = SurveyError::NotChecked {
            name: kernel.name.clone(),
            near: near.map(|near| near.message.clone()),
        };
        reason = Some(error.diagnostic(kernel.span, &()));
    }
    let with = instances
        .iter()
        .find_map(|&index| functions[index].with.clone());
    let verdict = KernelVerdict {
        name: kernel.name.clone(),
        span: kernel.span,
        reason,
        with,
        uses_shared: shared
            .iter()
            .any(|&span| extents.iter().any(|&extent| inside(span, extent))),
    };
    (verdict, instances)
}

/// The first part of a function that has no type because its declaration is invalid.
fn untyped(id: FunctionId, map: &SourceMap, known: &Stages<'_>) -> Option<Diagnostic> {
    let Stages {
        program,
        functions,
        broken,
        ..
    } = known;
    let function = &program.functions[id];
    let mut reason = None;
    let mut seen = HashSet::new();
    let mut is_broken = |ty: &Ty| {
        let why = broken.why(ty, program, &mut seen);
        reason = reason.take().or(why);
        reason.is_some()
    };
    let is_broken_var = function.vars.iter().any(|var| is_broken(&var.ty.ty));
    if !is_broken_var && let Some(body) = function.body.as_deref() {
        walk_typed(body, &mut is_broken);
    }
    if reason.is_some() {
        return reason;
    }
    if functions[id].has_wrong_type {
        let (at, declared) = (function.span, Some(function.span));
        return Some(depends(Unknown { at, declared }, map, known));
    }
    function.body.as_ref()?;
    let unknown = functions[id].first_unknown?;
    Some(depends(unknown, map, known))
}

/// The error in the declaration that a place depends on, and the place; only the place if the declaration is not known.
fn depends(unknown: Unknown, map: &SourceMap, known: &Stages<'_>) -> Diagnostic {
    let text = map.snippet(unknown.at).to_string();
    let root = unknown
        .declared
        .and_then(|declared| root_of(declared, map, known.errors));
    match root {
        Some(root) => {
            let place = map.use_site(unknown.at);
            let line = map.file(place.file).line_column(place.start).0;
            let mut root = root.clone();
            root.notes
                .push(format!("`{text}` in line {line} depends on this"));
            root
        }
        None => SurveyError::NotUnderstood { text }.diagnostic(unknown.at, &()),
    }
}

/// The error in the declaration of a name: the nearest one without the end of a declaration between it and the name.
fn root_of<'e>(
    declared: Span,
    map: &SourceMap,
    errors: &'e [Diagnostic],
) -> Option<&'e Diagnostic> {
    let declared = map.use_site(declared);
    let distance = |error: &Diagnostic| {
        let place = map.use_site(error.primary.span);
        let (from, to) = (
            declared.start.min(place.start) as usize,
            declared.start.max(place.start) as usize,
        );
        let between = map.file(place.file).text.get(from..to)?;
        let is_same = place.file == declared.file && !between.contains([';', '{', '}']);
        is_same.then_some(to - from)
    };
    let near = errors
        .iter()
        .filter_map(|error| Some((distance(error)?, error)));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, error)| error)
}
