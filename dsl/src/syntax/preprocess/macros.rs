//! Macros and the `#define` lines that they come from.
//!
//! A definition is cut into [`Piece`]s once, so that each use only follows them. An invalid definition is ignored: the name keeps its
//! meaning, and the error is at the definition.

use std::rc::Rc;

use super::{MacroState, Preprocessor};
use crate::syntax::lexer::intern::Sym;
use crate::syntax::lexer::pp_token::{PpKind, PpToken};
use crate::syntax::message::preprocess::{DirectiveError, MacroError};
use crate::syntax::token::Punct;
use ir::span::Span;

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: Sym,
    /// The name in its definition.
    pub(super) defined_at: Span,
    /// `None` for a macro without parentheses.
    pub(super) params: Option<Params>,
    /// The replacement as written.
    pub(super) body: Vec<PpToken>,
    /// The replacement in pieces; empty if `body` is enough (no parameters, no `##`).
    pub(super) pieces: Vec<Piece>,
    pub(super) origin: Origin,
}

/// The origin of a macro.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// A `#define` or `-D` of the user.
    User,
    /// Predefined; a user's definition replaces it silently.
    Predefined,
    /// Predefined, with a value that depends on the place.
    Place,
}

/// A macro's parameters.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Params {
    pub(super) names: Vec<Sym>,
    /// Whether the last one takes all remaining arguments.
    pub(super) variadic: bool,
}

/// A part of a replacement.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Piece {
    /// A token as it is.
    Token(PpToken),
    /// The argument. `PpToken` is the parameter's name in the replacement.
    Param(usize, PpToken),
    /// `#` and a parameter; the token is the `#`.
    Stringify(usize, PpToken),
    /// `##`.
    Paste(Span),
    /// `__VA_OPT__ ( … )`; the token is its name.
    VaOpt(Vec<Piece>, PpToken),
}

impl Macro {
    /// Whether the two definitions are the same in the sense of C.
    fn same_as(&self, other: &Macro) -> bool {
        self.params == other.params
            && self.body.len() == other.body.len()
            && self
                .body
                .iter()
                .zip(&other.body)
                .enumerate()
                .all(|(at, (a, b))| {
                    a.kind == b.kind && (at == 0 || a.has(PpToken::SPACE) == b.has(PpToken::SPACE))
                })
    }
}

impl Preprocessor<'_> {
    /// `#define` with the rest of its line.
    pub(super) fn define(&mut self, directive: Span, line: &[PpToken], origin: Origin) {
        if let Some(made) = self.definition(directive, line, origin) {
            self.install(made);
        }
    }

    /// Defines a macro, with a warning if it changes one of the user's.
    pub(super) fn install(&mut self, made: Macro) {
        if let Some(old) = self.macro_named(made.name)
            && old.origin == Origin::User
            && !old.same_as(&made)
        {
            let redefined = MacroError::Redefined {
                name: made.name,
                first: old.defined_at,
            };
            self.report(made.defined_at, redefined);
        }
        let name = made.name;
        *self.known(name) = MacroState::Macro(Rc::new(made));
    }

    pub(super) fn definition(
        &mut self,
        directive: Span,
        line: &[PpToken],
        origin: Origin,
    ) -> Option<Macro> {
        let Some((name_token, rest)) = line.split_first() else {
            let needed = "define".into();
            self.report(
                directive.after(),
                DirectiveError::NeedsName { directive: needed },
            );
            return None;
        };
        let Some(name) = name_token.name() else {
            self.report(name_token.span, MacroError::NameExpected);
            return None;
        };
        if name == self.words.defined || name == self.words.va_args {
            self.report(name_token.span, MacroError::Reserved { name });
            return None;
        }
        let (params, body) = match rest.first() {
            Some(open) if open.is(Punct::LParen) && !open.has(PpToken::SPACE) => {
                let (params, body) = self.parameters(open.span, &rest[1..])?;
                (Some(params), body)
            }
            _ => (None, rest),
        };
        let pieces = self.pieces(params.as_ref(), body)?;
        let plain = pieces.iter().all(|piece| matches!(piece, Piece::Token(_)));
        Some(Macro {
            name,
            defined_at: name_token.span,
            params,
            body: body.to_vec(),
            pieces: if plain { Vec::new() } else { pieces },
            origin,
        })
    }

    /// The parameters after `(`, and the tokens after `)`.
    fn parameters<'t>(
        &mut self,
        open: Span,
        mut rest: &'t [PpToken],
    ) -> Option<(Params, &'t [PpToken])> {
        let mut params = Params {
            names: Vec::new(),
            variadic: false,
        };
        if let Some((close, after)) = rest.split_first()
            && close.is(Punct::RParen)
        {
            return Some((params, after));
        }
        loop {
            let Some((token, after)) = rest.split_first() else {
                self.report(open, MacroError::ParametersNotClosed);
                return None;
            };
            rest = after;
            match token.kind {
                PpKind::Name(name) if params.names.contains(&name) => {
                    self.report(token.span, MacroError::ParameterTwice { name });
                    return None;
                }
                PpKind::Name(name) => {
                    params.names.push(name);
                    // GNU's named rest: `args...`.
                    if let Some((dots, after)) = rest.split_first()
                        && dots.is(Punct::Ellipsis)
                    {
                        params.variadic = true;
                        rest = after;
                    }
                }
                PpKind::Punct(Punct::Ellipsis) => {
                    params.names.push(self.words.va_args);
                    params.variadic = true;
                }
                PpKind::Number(_)
                | PpKind::Char(_)
                | PpKind::Str(_)
                | PpKind::Punct(_)
                | PpKind::Unroll(_) => {
                    self.report(token.span, MacroError::ParameterExpected);
                    return None;
                }
            }
            let Some((separator, after)) = rest.split_first() else {
                continue;
            };
            rest = after;
            match separator.kind {
                PpKind::Punct(Punct::RParen) => return Some((params, rest)),
                PpKind::Punct(Punct::Comma) if !params.variadic => {}
                _ if params.variadic => {
                    self.report(separator.span, MacroError::RestNotLast);
                    return None;
                }
                _ => {
                    self.report(separator.span, MacroError::SeparatorExpected);
                    return None;
                }
            }
        }
    }

    fn pieces(&mut self, params: Option<&Params>, body: &[PpToken]) -> Option<Vec<Piece>> {
        let mut pieces = Vec::with_capacity(body.len());
        let param = |name: Sym| {
            params.and_then(|params| params.names.iter().position(|&param| param == name))
        };
        let mut at = 0;
        while let Some(&token) = body.get(at) {
            at += 1;
            let piece = match token.kind {
                PpKind::Name(name)
                    if params.is_some_and(|params| params.variadic)
                        && name == self.words.va_opt =>
                {
                    let Some(length) = parenthesised(&body[at..]) else {
                        self.report(token.span, MacroError::VaOptParentheses);
                        return None;
                    };
                    let inner = &body[at + 1..at + length - 1];
                    if inner
                        .iter()
                        .any(|token| token.name() == Some(self.words.va_opt))
                    {
                        self.report(token.span, MacroError::VaOptNested);
                        return None;
                    }
                    let inner = self.pieces(params, inner)?;
                    at += length;
                    Piece::VaOpt(inner, token)
                }
                PpKind::Name(name) => match param(name) {
                    Some(index) => Piece::Param(index, token),
                    None => Piece::Token(token),
                },
                PpKind::Punct(Punct::Hash) if params.is_some() => {
                    let Some(index) = body.get(at).and_then(PpToken::name).and_then(param) else {
                        self.report(token.span, MacroError::StringifiesNothing);
                        return None;
                    };
                    at += 1;
                    Piece::Stringify(index, token)
                }
                PpKind::Punct(Punct::HashHash) => {
                    if pieces.is_empty() || at == body.len() {
                        self.report(token.span, MacroError::PastesNothing);
                        return None;
                    }
                    Piece::Paste(token.span)
                }
                PpKind::Number(_)
                | PpKind::Char(_)
                | PpKind::Str(_)
                | PpKind::Punct(_)
                | PpKind::Unroll(_) => Piece::Token(token),
            };
            pieces.push(piece);
        }
        Some(pieces)
    }
}

/// The length of the parenthesised group that `tokens` starts with, parentheses included.
fn parenthesised(tokens: &[PpToken]) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, token) in tokens.iter().enumerate() {
        if token.is(Punct::LParen) {
            depth += 1;
        } else if token.is(Punct::RParen) {
            depth = depth.checked_sub(1)?;
        }
        if depth == 0 {
            return (at > 0).then_some(at + 1);
        }
    }
    None
}
