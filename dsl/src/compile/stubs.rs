//! A program whose device code another compiler understands: the bodies of the device functions with errors are left out, and so the host
//! code compiles.

use std::{collections::HashSet, ops::Range};

use crate::{
    compile::{Compiled, Options, concepts, finish, sort, typed},
    library, lower,
    sema::typed::{FunctionSpace, Program},
    stack,
    survey::{self, Found},
    syntax::{
        self,
        token::{Keyword, Punct, Token, TokenKind},
    },
};
use ir::{
    FuncId, MemType, Module,
    diagnostic::{Code, Diagnostic, Severity},
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
    let mut names = HashSet::new();
    if all {
        let own = survey::kernels(&tokenized.tokens).into_iter();
        let bodies = own.map(|kernel| Body {
            tokens: kernel.body,
            kernel: Some(kernel.name),
        });
        leave_out(&mut tokenized.tokens, bodies.collect(), &mut names);
    }
    let mut diagnostics = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let (program, checked) = typed(map, &tokenized, options);
        diagnostics = tokenized.diagnostics.clone();
        diagnostics.extend(checked);
        let is_error = |message: &&Diagnostic| message.severity == Severity::Error;
        let errors: Vec<Span> = diagnostics
            .iter()
            .filter(is_error)
            .map(|error| error.primary.span)
            .collect();
        if errors.is_empty() {
            let module = program
                .as_ref()
                .and_then(|program| finish(program, map, options, &mut diagnostics));
            let stubs = match (&program, &module) {
                (Some(program), Some(module)) => stubs(program, module, &names),
                _ => Vec::new(),
            };
            sort(&mut diagnostics, map);
            let compiled = Compiled {
                module,
                diagnostics,
            };
            return (compiled, stubs);
        }
        let kernels = survey::kernels(&tokenized.tokens);
        let with = |&span: &Span| body_with(&tokenized.tokens, &kernels, span, map);
        let bodies: Option<Vec<Body>> = match errors.len() <= MOST_ERRORS {
            true => errors.iter().map(with).collect(),
            false => None,
        };
        match bodies {
            Some(bodies) => leave_out(&mut tokenized.tokens, bodies, &mut names),
            None => break,
        }
    }
    sort(&mut diagnostics, map);
    let compiled = Compiled {
        module: None,
        diagnostics,
    };
    (compiled, Vec::new())
}

/// The body of a device function.
struct Body {
    /// Its tokens, with the braces.
    tokens: Range<usize>,
    /// The kernel's name, if it is a kernel's.
    kernel: Option<String>,
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
fn body_with(tokens: &[Token], kernels: &[Found], span: Span, map: &SourceMap) -> Option<Body> {
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
        let kernel = kernels.iter().find(|kernel| kernel.body.start == brace);
        Some(Body {
            tokens: brace..closing(tokens, brace)? + 1,
            kernel: kernel.map(|kernel| kernel.name.clone()),
        })
    })
}

/// Leaves out bodies: a kernel keeps its braces, another function becomes a declaration. Adds the kernels' names.
fn leave_out(tokens: &mut Vec<Token>, mut bodies: Vec<Body>, kernels: &mut HashSet<String>) {
    // From the end, so that what is before keeps its place.
    bodies.sort_by_key(|body| std::cmp::Reverse(body.tokens.start));
    bodies.dedup_by_key(|body| body.tokens.start);
    for Body {
        tokens: body,
        kernel,
    } in bodies
    {
        let Range { start, end } = body;
        if let Some(kernel) = kernel {
            kernels.insert(kernel);
            tokens.drain(start + 1..end - 1);
        } else {
            tokens.drain(start + 1..end);
            tokens[start].kind = TokenKind::Punct(Punct::Semi);
        }
    }
}

/// The module's kernels with these names.
fn stubs(program: &Program, module: &Module, names: &HashSet<String>) -> Vec<Stub> {
    let kernels = program
        .functions
        .iter()
        .filter(|function| function.space == FunctionSpace::Kernel && function.body.is_some());
    kernels
        .zip(module.kernels())
        .filter(|(function, _)| {
            let name = function.name.split(['<', '(']).next().unwrap_or_default();
            names.contains(name.rsplit("::").next().unwrap_or(name))
        })
        .map(|(function, (id, _))| Stub {
            id,
            params: lower::parameters(program, function),
        })
        .collect()
}
