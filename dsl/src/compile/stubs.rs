//! A program whose device code another compiler understands: the bodies of the device functions with errors are left out, and so the host
//! code compiles.

use std::{collections::HashMap, ops::Range};

use crate::{
    compile::{Compiled, Options, concepts, finish, has_errors, sort, typed},
    library, lower,
    sema::{
        ty::Ty,
        typed::{FunctionSpace, Program},
    },
    stack,
    syntax::{
        self,
        token::{Keyword, Punct, Token, TokenKind},
    },
};
use ir::{
    FuncId, FunctionKind, MemType, Module,
    diagnostic::{Code, Diagnostic, Severity},
    locate::is_library,
    source::{Loader, SourceMap},
    span::{FileId, Span},
};

/// Most times that a program is checked again with fewer bodies.
const MOST_ROUNDS: usize = 16;

/// A program with more errors is written in what the front end lacks as a whole.
const MOST_ERRORS: usize = 200;

/// A kernel without its body.
#[derive(Clone, PartialEq, Debug)]
pub struct Stub {
    /// Where it is in the module.
    pub id: FuncId,
    /// For each parameter its scalars, with their offsets. Each scalar is a parameter of the IR's kernel.
    pub params: Vec<Vec<(u64, MemType)>>,
    /// The error because of which the body is left out, if it is.
    pub why: Option<Diagnostic>,
}

/// Compiles the program that starts with `file` without the bodies of device functions that have errors, and of kernels that need them.
/// The first error that is elsewhere ends it: then there is no module. With `all`, no kernel has a body.
pub fn compile_without_bodies(
    map: &mut SourceMap,
    (file, all): (FileId, bool),
    options: &Options,
    loader: &dyn Loader,
) -> (Compiled, Vec<Stub>) {
    stack::whole(|| compiled(map, (file, all), options, loader))
}

fn compiled(
    map: &mut SourceMap,
    (file, all): (FileId, bool),
    options: &Options,
    loader: &dyn Loader,
) -> (Compiled, Vec<Stub>) {
    let preprocessing = syntax::Options {
        defines: options.defines.clone(),
        cuda_arch: options.cuda_arch,
    };
    let mut tokenized = syntax::tokenize(map, file, &preprocessing, loader);
    // clang has the header; what it declares is an error only where device code names it.
    tokenized.diagnostics.retain(|message| {
        let name = map.snippet(message.primary.span);
        let name = name.trim_matches(['<', '>', '"']);
        message.code != Code::IncludeNotFound || !library::cpp::is_header(name)
    });
    concepts::leave_out(&mut tokenized.tokens);
    let mut reasons: HashMap<String, Option<Diagnostic>> = HashMap::new();
    if all {
        let bodies = kernels(&tokenized.tokens, map);
        leave_out(&mut tokenized.tokens, bodies, &mut reasons);
    }
    for _ in 0..MOST_ROUNDS {
        let (program, checked) = typed(map, &tokenized, options);
        let mut diagnostics = tokenized.diagnostics.clone();
        diagnostics.extend(checked);
        let errors = || {
            diagnostics
                .iter()
                .filter(|message| message.severity == Severity::Error)
        };
        let bodies: Vec<(Body, Option<Diagnostic>)> = errors()
            .take(MOST_ERRORS + 1)
            .filter_map(|error| {
                let body = body_with(&tokenized.tokens, error.primary.span, map)?;
                Some((body, Some(error.clone())))
            })
            .collect();
        let all = bodies.len() == errors().count() && bodies.len() <= MOST_ERRORS;
        if all && bodies.is_empty() {
            let module = program
                .as_ref()
                .and_then(|program| finish(program, map, options, &mut diagnostics));
            let stubs = match (&program, &module) {
                (Some(program), Some(module)) => stubs(program, module, &reasons),
                _ => Vec::new(),
            };
            sort(&mut diagnostics, map);
            return (
                Compiled {
                    module,
                    diagnostics,
                },
                stubs,
            );
        }
        if !all {
            sort(&mut diagnostics, map);
            debug_assert!(has_errors(&diagnostics));
            return (
                Compiled {
                    module: None,
                    diagnostics,
                },
                Vec::new(),
            );
        }
        leave_out(&mut tokenized.tokens, bodies, &mut reasons);
    }
    (
        Compiled {
            module: None,
            diagnostics: reasons.into_values().flatten().collect(),
        },
        Vec::new(),
    )
}

/// The body of a device function.
struct Body {
    /// Its tokens, with the braces.
    tokens: Range<usize>,
    /// The kernel's name, if it is a kernel's.
    kernel: Option<String>,
}

/// The bodies of all kernels of the program, the library's not.
fn kernels(tokens: &[Token], map: &SourceMap) -> Vec<(Body, Option<Diagnostic>)> {
    let mut bodies = Vec::new();
    let mut at = 0;
    while let Some(next) = tokens[at..]
        .iter()
        .position(|token| token.kind == TokenKind::Keyword(Keyword::Global))
    {
        at += next + 1;
        let is_own = !is_library(&map.file(map.use_site(tokens[at - 1].span).file).name);
        let ends =
            |token: &Token| matches!(token.kind, TokenKind::Punct(Punct::Semi | Punct::LBrace));
        let Some(brace) = tokens[at..].iter().position(ends).map(|end| at + end) else {
            break;
        };
        if is_own
            && tokens[brace].kind == TokenKind::Punct(Punct::LBrace)
            && let Some(name) = name_of_kernel(&tokens[at..brace])
            && let Some(end) = closing(tokens, brace)
        {
            let body = Body {
                tokens: brace..end + 1,
                kernel: Some(name),
            };
            bodies.push((body, None));
            at = end;
        }
    }
    bodies
}

/// The brace that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let close = tokens[open..].iter().position(|token| {
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => depth += 1,
            TokenKind::Punct(Punct::RBrace) => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    Some(open + close)
}

/// The body of the device function that contains a place; `None` if there is none, or if the host may call the function.
fn body_with(tokens: &[Token], span: Span, map: &SourceMap) -> Option<Body> {
    let place = map.use_site(span);
    let is_at = |token: &Token| {
        let site = map.use_site(token.span);
        site.file == place.file
            && site.start <= place.start
            && place.start < site.end.max(site.start + 1)
    };
    let at = tokens.iter().position(is_at)?;
    // The braces around it, the outermost first.
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens[..at].iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => open.push(index),
            TokenKind::Punct(Punct::RBrace) => {
                open.pop();
            }
            _ => {}
        }
    }
    open.into_iter().find_map(|brace| {
        let is_end = |token: &Token| {
            matches!(
                token.kind,
                TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace)
            )
        };
        let start = tokens[..brace]
            .iter()
            .rposition(is_end)
            .map_or(0, |end| end + 1);
        let head = &tokens[start..brace];
        let has = |keyword: Keyword| {
            head.iter()
                .any(|token| token.kind == TokenKind::Keyword(keyword))
        };
        if !has(Keyword::Global) && (!has(Keyword::Device) || has(Keyword::Host)) {
            return None;
        }
        let is_bracket = |token: &Token| token.kind == TokenKind::Punct(Punct::LParen);
        head.iter().position(is_bracket)?;
        let kernel = has(Keyword::Global).then(|| name_of_kernel(head)).flatten();
        Some(Body {
            tokens: brace..closing(tokens, brace)? + 1,
            kernel,
        })
    })
}

/// The name before the brackets of the parameters: the last name that is followed by a bracket at the outermost level.
fn name_of_kernel(head: &[Token]) -> Option<String> {
    let mut depth = 0usize;
    let mut found = None;
    for pair in head.windows(2) {
        match &pair[0].kind {
            TokenKind::Punct(Punct::LParen) => depth += 1,
            TokenKind::Punct(Punct::RParen) => depth = depth.saturating_sub(1),
            TokenKind::Ident(name) | TokenKind::TypeName(name)
                if depth == 0 && pair[1].kind == TokenKind::Punct(Punct::LParen) =>
            {
                found = Some(name.to_string());
            }
            _ => {}
        }
    }
    found
}

/// Leaves out bodies: a kernel keeps its braces, another function becomes a declaration.
fn leave_out(
    tokens: &mut Vec<Token>,
    bodies: Vec<(Body, Option<Diagnostic>)>,
    reasons: &mut HashMap<String, Option<Diagnostic>>,
) {
    let mut bodies: Vec<Body> = bodies
        .into_iter()
        .map(|(body, why)| {
            if let Some(kernel) = &body.kernel {
                reasons.entry(kernel.clone()).or_insert(why);
            }
            body
        })
        .collect();
    // From the end, so that what is before keeps its place.
    bodies.sort_by_key(|body| std::cmp::Reverse(body.tokens.start));
    bodies.dedup_by_key(|body| body.tokens.start);
    for body in bodies {
        let Range { start, end } = body.tokens;
        if body.kernel.is_some() {
            tokens.drain(start + 1..end - 1);
        } else {
            tokens.drain(start + 1..end);
            tokens[start].kind = TokenKind::Punct(Punct::Semi);
        }
    }
}

/// The module's kernels whose bodies were left out.
fn stubs(
    program: &Program,
    module: &Module,
    reasons: &HashMap<String, Option<Diagnostic>>,
) -> Vec<Stub> {
    let kernels = program
        .functions
        .iter()
        .filter(|function| function.space == FunctionSpace::Kernel && function.body.is_some());
    let ids = (0..)
        .map(FuncId)
        .zip(&module.functions)
        .filter(|(_, function)| function.kind == FunctionKind::Kernel)
        .map(|(id, _)| id);
    kernels
        .zip(ids)
        .filter_map(|(function, id)| {
            let name = function.name.split(['<', '(']).next().unwrap_or_default();
            let name = name.rsplit("::").next().unwrap_or(name);
            let why = reasons.get(name)?.clone();
            let params = function.params.iter().map(|&id| &function.vars[id]);
            let params = params.map(|param| match param.is_reference {
                true => {
                    lower::scalars(program, &Ty::Pointer(std::sync::Arc::new(param.ty.clone())))
                }
                false => lower::scalars(program, &param.ty.ty),
            });
            Some(Stub {
                id,
                params: params.collect(),
                why,
            })
        })
        .collect()
}
