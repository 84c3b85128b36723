//! Reads tokens with macros replaced.
//!
//! An [`Input`] is a stack: at the bottom the files (or one list of tokens), above it the replacements being read. A macro is disabled
//! while its replacement is on the stack. If a replacement is used up and its last token was the name of a macro with parameters, the
//! arguments are taken from below, as C requires: `#define f(x) x` and `f(f)(1)` is `1`.

use std::rc::Rc;

use super::Preprocessor;
use super::macros::{Macro, Origin, Params};
use crate::syntax::lexer::intern::Sym;
use crate::syntax::lexer::pp_token::{PpKind, PpToken};
use crate::syntax::message::preprocess::{MacroError, Wanted};
use crate::syntax::token::Punct;
use ir::source::Expansion;
use ir::span::{ExpansionId, Span};

/// How deep macro calls may be nested in one another's arguments.
const DEPTH_LIMIT: u32 = 128;

/// The source of tokens.
pub(super) struct Input {
    frames: Vec<Frame>,
    base: Base,
}

enum Base {
    Files,
    List(Vec<PpToken>, usize),
}

/// A replacement being read.
struct Frame {
    /// The macro that is disabled meanwhile.
    name: Sym,
    tokens: Replacement,
    at: usize,
}

enum Replacement {
    /// The macro's body as written; each token gets the expansion as it is read.
    Body(Rc<Macro>, ExpansionId, u8),
    Made(Vec<PpToken>),
}

impl Input {
    /// The open files.
    pub(super) fn files() -> Input {
        Input {
            frames: Vec::new(),
            base: Base::Files,
        }
    }

    /// A list of tokens.
    pub(super) fn list(tokens: Vec<PpToken>) -> Input {
        Input {
            frames: Vec::new(),
            base: Base::List(tokens, 0),
        }
    }
}

impl Frame {
    fn peek(&self) -> Option<PpToken> {
        match &self.tokens {
            Replacement::Made(tokens) => tokens.get(self.at).copied(),
            Replacement::Body(made, expansion, flags) => {
                let mut token = *made.body.get(self.at)?;
                token.span.expansion = *expansion;
                Some(if self.at == 0 {
                    token.spaced_like(*flags)
                } else {
                    token
                })
            }
        }
    }
}

impl Preprocessor<'_> {
    /// A whole list with its macros replaced.
    pub(super) fn expand_list(&mut self, tokens: Vec<PpToken>) -> Vec<PpToken> {
        if tokens.iter().all(|token| {
            token
                .name()
                .is_none_or(|name| self.macro_named(name).is_none())
        }) {
            return tokens;
        }
        let mut input = Input::list(tokens);
        let mut out = Vec::new();
        while let Some(token) = self.next_expanded(&mut input) {
            out.push(token);
        }
        // A macro that stopped everything may have left others disabled.
        while self.pop_frame(&mut input) {}
        out
    }

    /// The next token after macro replacement.
    pub(super) fn next_expanded(&mut self, input: &mut Input) -> Option<PpToken> {
        loop {
            let mut token = self.next_plain(input)?;
            let Some(name) = token.name() else {
                return Some(token);
            };
            if token.has(PpToken::PAINTED) {
                return Some(token);
            }
            let Some(found) = self.macro_named(name).cloned() else {
                return Some(token);
            };
            if self
                .macros
                .active
                .get(name.0 as usize)
                .is_some_and(|&n| n > 0)
            {
                token.flags |= PpToken::PAINTED;
                return Some(token);
            }
            if found.origin == Origin::Place {
                return Some(self.place(name, token));
            }
            match &found.params {
                None => self.enter(input, &found, token, token.span, &[]),
                Some(params) => {
                    if !self.call_follows(input) {
                        return Some(token);
                    }
                    self.call(input, &found, params, token);
                }
            }
        }
    }

    /// The next token without macro replacement.
    fn next_plain(&mut self, input: &mut Input) -> Option<PpToken> {
        if self.stopped {
            return None;
        }
        while let Some(frame) = input.frames.last_mut() {
            if let Some(token) = frame.peek() {
                frame.at += 1;
                return Some(token);
            }
            self.pop_frame(input);
        }
        match &mut input.base {
            Base::Files => self.file_token(),
            Base::List(tokens, at) => {
                let token = tokens.get(*at).copied()?;
                *at += 1;
                Some(token)
            }
        }
    }

    fn pop_frame(&mut self, input: &mut Input) -> bool {
        let Some(frame) = input.frames.pop() else {
            return false;
        };
        self.macros.active[frame.name.0 as usize] -= 1;
        true
    }

    /// Whether the next token is `(`.
    fn call_follows(&mut self, input: &mut Input) -> bool {
        while let Some(frame) = input.frames.last() {
            if let Some(token) = frame.peek() {
                return token.is(Punct::LParen);
            }
            self.pop_frame(input);
        }
        let next = match &input.base {
            Base::Files => self
                .files
                .open
                .last()
                .and_then(|open| open.lexed.tokens.get(open.at)),
            Base::List(tokens, at) => tokens.get(*at),
        };
        next.is_some_and(|token| token.is(Punct::LParen))
    }

    /// The use of a macro with arguments: `(` is next.
    fn call(&mut self, input: &mut Input, found: &Rc<Macro>, params: &Params, name: PpToken) {
        self.collecting += 1;
        let collected = self.arguments(input, params);
        self.collecting -= 1;
        if self.stopped {
            return;
        }
        let Some((mut arguments, close)) = collected else {
            let (name_of, defined) = (found.name, found.defined_at);
            return self.report(
                name.span,
                MacroError::CallNeverEnds {
                    name: name_of,
                    defined,
                },
            );
        };
        let n_params = params.names.len();
        if n_params == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if params.variadic && arguments.len() + 1 == n_params {
            arguments.push(Vec::new());
        }
        let call = name.span.to(close);
        if arguments.len() != n_params {
            self.wrong_arguments(found, params, arguments.len(), call);
            input.push_made(
                self,
                found.name,
                vec![PpToken {
                    kind: PpKind::Number(self.words.zero),
                    ..name
                }],
            );
            return;
        }
        self.enter(input, found, name, call, &arguments);
    }

    fn wrong_arguments(&mut self, found: &Macro, params: &Params, n_arguments: usize, call: Span) {
        let n_params = params.names.len();
        let wanted = Wanted {
            n: n_params - usize::from(params.variadic),
            or_more: params.variadic,
        };
        self.report(
            call,
            MacroError::ArgumentCount {
                name: found.name,
                wanted,
                given: n_arguments,
                defined: found.defined_at,
                is_more: n_arguments > n_params,
            },
        );
    }

    /// The arguments from `(` to `)`, and the place of `)`. `None` if there is no `)`.
    fn arguments(
        &mut self,
        input: &mut Input,
        params: &Params,
    ) -> Option<(Vec<Vec<PpToken>>, Span)> {
        self.next_plain(input)?;
        let mut arguments = Vec::new();
        let mut argument = Vec::new();
        let mut depth = 0_u32;
        loop {
            let mut token = self.next_plain(input)?;
            match token.kind {
                PpKind::Punct(Punct::LParen) => depth += 1,
                PpKind::Punct(Punct::RParen) if depth == 0 => {
                    arguments.push(argument);
                    return Some((arguments, token.span));
                }
                PpKind::Punct(Punct::RParen) => depth -= 1,
                PpKind::Punct(Punct::Comma) if depth == 0 => {
                    let rest = params.variadic && arguments.len() + 1 >= params.names.len();
                    if !rest {
                        arguments.push(std::mem::take(&mut argument));
                        continue;
                    }
                }
                // A macro that is disabled here stays disabled for this token, wherever the argument is used.
                PpKind::Name(name)
                    if self
                        .macros
                        .active
                        .get(name.0 as usize)
                        .is_some_and(|&n| n > 0) =>
                {
                    token.flags |= PpToken::PAINTED;
                }
                PpKind::Name(_)
                | PpKind::Number(_)
                | PpKind::Char(_)
                | PpKind::Str(_)
                | PpKind::Punct(_)
                | PpKind::Unroll(_) => {}
            }
            token.flags &= !PpToken::LINE_START;
            argument.push(token);
        }
    }

    /// Puts a macro's replacement on the stack. `used_at` is the whole use, `name` its first token.
    fn enter(
        &mut self,
        input: &mut Input,
        found: &Rc<Macro>,
        name: PpToken,
        used_at: Span,
        arguments: &[Vec<PpToken>],
    ) {
        let expansion = self.expansion(found, used_at);
        if found.pieces.is_empty() {
            self.spend(found.body.len(), found.name, used_at);
            let tokens = Replacement::Body(found.clone(), expansion, name.flags);
            input.push(
                self,
                Frame {
                    name: found.name,
                    tokens,
                    at: 0,
                },
            );
            return;
        }
        if self.macros.depth >= DEPTH_LIMIT {
            return self.stop(MacroError::TooDeep { name: found.name }, used_at);
        }
        self.macros.depth += 1;
        let mut made = self.substitute(found, expansion, used_at, arguments);
        self.macros.depth -= 1;
        self.spend(made.len(), found.name, used_at);
        if let Some(first) = made.first_mut() {
            *first = first.spaced_like(name.flags);
        }
        input.push_made(self, found.name, made);
    }

    /// Records a use of a macro.
    pub(super) fn expansion(&mut self, found: &Macro, used_at: Span) -> ExpansionId {
        let name = self.names.shared(found.name);
        self.spend(1, found.name, used_at);
        self.map.add_expansion(Expansion {
            name,
            used_at,
            defined_at: found.defined_at,
        })
    }

    /// Counts the tokens that macros make, and stops when there are too many.
    pub(super) fn spend(&mut self, n_tokens: usize, name: Sym, used_at: Span) {
        let n_tokens = u32::try_from(n_tokens).unwrap_or(u32::MAX);
        match self.macros.budget.checked_sub(n_tokens) {
            Some(rest) => self.macros.budget = rest,
            None => self.stop(MacroError::TooMuch { name }, used_at),
        }
    }

    fn stop(&mut self, error: MacroError, used_at: Span) {
        if !self.stopped {
            self.stopped = true;
            let place = Span {
                expansion: ExpansionId::NONE,
                ..self.map.use_site(used_at)
            };
            self.report(place, error);
        }
    }

    /// `__LINE__`, `__FILE__`, `__COUNTER__`.
    fn place(&mut self, name: Sym, token: PpToken) -> PpToken {
        let site = self.map.use_site(token.span);
        let file = self.map.file(site.file);
        let kind = if name == self.words.line {
            PpKind::Number(
                self.names
                    .intern(&file.line_column(site.start).0.to_string()),
            )
        } else if name == self.words.file {
            let text = format!(
                "\"{}\"",
                file.name.replace('\\', "\\\\").replace('"', "\\\"")
            );
            PpKind::Str(self.names.intern(&text))
        } else {
            let value = self.macros.counter.to_string();
            self.macros.counter += 1;
            PpKind::Number(self.names.intern(&value))
        };
        PpToken { kind, ..token }
    }
}

impl Input {
    fn push_made(&mut self, preprocessor: &mut Preprocessor<'_>, name: Sym, tokens: Vec<PpToken>) {
        self.push(
            preprocessor,
            Frame {
                name,
                tokens: Replacement::Made(tokens),
                at: 0,
            },
        );
    }

    fn push(&mut self, preprocessor: &mut Preprocessor<'_>, frame: Frame) {
        let at = frame.name.0 as usize;
        if preprocessor.macros.active.len() <= at {
            preprocessor.macros.active.resize(at + 1, 0);
        }
        preprocessor.macros.active[at] += 1;
        self.frames.push(frame);
    }
}
