//! Balances the brackets before the grammar sees them.
//!
//! In: any tokens. Out: tokens in which every `(`, `[`, `{` and `<<<` is closed by its own kind, the errors, and the places that were
//! changed, so that messages of the grammar about the same statement can be suppressed. A missing bracket is inserted at the latest place
//! where it can be; an extra one is removed.
//!
//! If a closing bracket does not fit the innermost open one, these rules are tried in order. If its partner is open further out (and no `{`
//! is between): the brackets inside are unclosed. If the right one follows in the same statement: this one is extra. If something else is
//! open: it is mismatched. If nothing is open: it is extra. A `;` or a `{` that is not allowed inside the open `(` or `[` ends it.
//! `__global__` inside a function ends the function, and so does the beginning of another function's definition.

use std::borrow::Cow;

use super::{
    lookahead::{closes, opens},
    ty::is_specifier,
};
use crate::syntax::{
    message::{
        Message as _,
        parse::{BracketError, Role},
    },
    token::{Keyword, Punct, Token, TokenKind},
};
use ir::{diagnostic::Diagnostic, span::Span};

/// Tokens with balanced brackets.
pub(super) struct Balanced<'t> {
    pub(super) tokens: Cow<'t, [Token]>,
    /// Indices in `tokens` of inserted or changed tokens, or of the token after a removed one; ascending.
    pub(super) repairs: Vec<usize>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Balances `tokens`.
pub(super) fn balance(tokens: &[Token], end: Span) -> Balanced<'_> {
    if is_balanced(tokens) {
        return Balanced {
            tokens: Cow::Borrowed(tokens),
            repairs: Vec::new(),
            diagnostics: Vec::new(),
        };
    }
    let out = Vec::with_capacity(tokens.len() + 8);
    let mut balancer = Balancer {
        tokens,
        end,
        out,
        open: Vec::new(),
        repairs: Vec::new(),
        diagnostics: Vec::new(),
    };
    for at in 0..tokens.len() {
        balancer.take(at);
    }
    balancer.finish();
    let Balancer {
        out,
        repairs,
        diagnostics,
        ..
    } = balancer;
    Balanced {
        tokens: Cow::Owned(out),
        repairs,
        diagnostics,
    }
}

fn punct(token: &Token) -> Option<Punct> {
    match token.kind {
        TokenKind::Punct(punct) => Some(punct),
        _ => None,
    }
}

/// The usual case: nothing to repair, nothing copied.
fn is_balanced(tokens: &[Token]) -> bool {
    let mut open: Vec<(Punct, usize, bool)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(punct) if opens(punct) => {
                let in_list = open.last().is_some_and(|&(_, _, is_list)| is_list);
                open.push((punct, at, is_list(tokens, at, in_list)));
            }
            TokenKind::Punct(punct) if closes(punct) => match open.pop() {
                Some((opener, ..)) if partner(opener) == punct => {}
                _ => return false,
            },
            TokenKind::Punct(Punct::Semi) => match open.last() {
                None | Some((Punct::LBrace, _, false)) => {}
                Some(&(Punct::LParen, opener, _))
                    if is_for(tokens, opener) || is_if(tokens, opener) => {}
                Some(_) => return false,
            },
            TokenKind::Punct(Punct::Shl) if is_short_launch(tokens, at).is_some() => return false,
            _ => {}
        }
    }
    open.is_empty()
}

fn partner(opener: Punct) -> Punct {
    match opener {
        Punct::LParen => Punct::RParen,
        Punct::LBracket => Punct::RBracket,
        Punct::LaunchOpen => Punct::LaunchClose,
        _ => Punct::RBrace,
    }
}

/// Whether the bracket at `at` is the `{` of an initialiser, in which no `;` is allowed.
fn is_list(tokens: &[Token], at: usize, in_list: bool) -> bool {
    let before = at.checked_sub(1).and_then(|before| punct(&tokens[before]));
    punct(&tokens[at]) == Some(Punct::LBrace)
        && (before == Some(Punct::Eq)
            || (in_list && matches!(before, Some(Punct::LBrace | Punct::Comma))))
}

/// Whether the `(` at `at` is the header of a `for`.
fn is_for(tokens: &[Token], at: usize) -> bool {
    at > 0 && tokens[at - 1].kind == TokenKind::Keyword(Keyword::For)
}

/// Whether the `(` at `at` is that of an `if`, which may contain a declaration before the condition.
fn is_if(tokens: &[Token], at: usize) -> bool {
    at > 0 && tokens[at - 1].kind == TokenKind::Keyword(Keyword::If)
}

/// `static float *name(…) {`: the definition of a function.
fn begins_function(tokens: &[Token]) -> bool {
    let words = tokens.iter().take_while(|token| match &token.kind {
        TokenKind::Keyword(keyword) => is_specifier(*keyword),
        TokenKind::TypeName(_) | TokenKind::Ident(_) | TokenKind::Punct(Punct::Star) => true,
        _ => false,
    });
    let n = words.count();
    let is_named = n >= 2 && matches!(tokens[n - 1].kind, TokenKind::Ident(_));
    if !is_named || tokens.get(n).and_then(punct) != Some(Punct::LParen) {
        return false;
    }
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(n) {
        match punct(token) {
            Some(Punct::LParen) => depth += 1,
            Some(Punct::RParen) if depth == 1 => {
                return tokens.get(at + 1).and_then(punct) == Some(Punct::LBrace);
            }
            Some(Punct::RParen) => depth -= 1,
            Some(Punct::Semi | Punct::LBrace | Punct::RBrace) => return false,
            _ => {}
        }
    }
    false
}

/// `name << a, b >> (` at the start of a statement is a launch with missing brackets: returns the index of its `>>` or `>>>`.
fn is_short_launch(tokens: &[Token], at: usize) -> Option<usize> {
    let starts = match at.checked_sub(2) {
        Some(before) => matches!(
            punct(&tokens[before]),
            Some(Punct::Semi | Punct::LBrace | Punct::RBrace | Punct::RParen)
        ),
        None => true,
    };
    if !starts || at == 0 || !matches!(tokens[at - 1].kind, TokenKind::Ident(_)) {
        return None;
    }
    let mut depth = 0usize;
    for (offset, token) in tokens[at + 1..].iter().enumerate() {
        match punct(token) {
            Some(Punct::Semi | Punct::LBrace | Punct::RBrace) => return None,
            Some(Punct::Shr | Punct::LaunchClose) if depth == 0 => {
                let close = at + 1 + offset;
                let arguments = tokens.get(close + 1).and_then(punct) == Some(Punct::LParen);
                return arguments.then_some(close);
            }
            Some(Punct::LParen | Punct::LBracket) => depth += 1,
            Some(Punct::RParen | Punct::RBracket) => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// An open bracket.
struct Open {
    punct: Punct,
    span: Span,
    /// Its index in the input.
    at: usize,
    /// Whether kernels may be inside: `namespace x {`, `extern "C" {`.
    is_scope: bool,
    /// Whether it is the `{` of an initialiser.
    is_list: bool,
    /// The number of `;` so far, for the header of a `for`.
    semicolons: u8,
    /// The index of the `>>` that closes a launch with missing brackets.
    closed_by: Option<usize>,
}

struct Balancer<'t> {
    tokens: &'t [Token],
    end: Span,
    out: Vec<Token>,
    open: Vec<Open>,
    repairs: Vec<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl Balancer<'_> {
    fn take(&mut self, at: usize) {
        let token = &self.tokens[at];
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => self.brace(at),
            TokenKind::Punct(punct) if opens(punct) => self.opener(at, punct, None),
            TokenKind::Punct(Punct::RBrace) => self.closing_brace(at),
            TokenKind::Punct(punct) if closes(punct) => self.close_with(at, punct),
            TokenKind::Punct(Punct::Semi) => self.semicolon(at),
            TokenKind::Punct(Punct::Shl) => self.shift_left(at),
            TokenKind::Punct(Punct::Shr) => self.shift_right(at),
            TokenKind::Keyword(Keyword::Global) => self.kernel(at),
            TokenKind::Keyword(keyword)
                if is_specifier(keyword)
                    && self.ends_statement(at)
                    && begins_function(&self.tokens[at..]) =>
            {
                self.kernel(at)
            }
            _ => self.out.push(token.clone()),
        }
    }

    fn opener(&mut self, at: usize, punct: Punct, closed_by: Option<usize>) {
        let token = Token {
            kind: TokenKind::Punct(punct),
            span: self.tokens[at].span,
        };
        let is_list = is_list(
            self.tokens,
            at,
            self.open.last().is_some_and(|open| open.is_list),
        );
        self.open.push(Open {
            punct,
            span: token.span,
            at,
            is_scope: self.is_scope(at),
            is_list,
            semicolons: 0,
            closed_by,
        });
        self.out.push(token);
    }

    fn is_scope(&self, at: usize) -> bool {
        let kind = |n: usize| at.checked_sub(n).map(|before| &self.tokens[before].kind);
        matches!(
            kind(1),
            Some(TokenKind::Str(_) | TokenKind::Keyword(Keyword::Namespace))
        ) || matches!(kind(2), Some(TokenKind::Keyword(Keyword::Namespace)))
    }

    /// A `{` inside `(`: a lambda or a list, or the `)` is missing.
    fn brace(&mut self, at: usize) {
        let before = at.checked_sub(1).map(|before| &self.tokens[before]);
        while let Some(open) = self.open.last() {
            let list = before.and_then(punct).is_some_and(|punct| {
                matches!(
                    punct,
                    Punct::Comma
                        | Punct::Eq
                        | Punct::LParen
                        | Punct::LBrace
                        | Punct::Colon
                        | Punct::RBracket
                        | Punct::LBracket
                )
            });
            let header = open.at > 0 && is_control(&self.tokens[open.at - 1].kind);
            let after_operand = matches!(
                before.map(|token| &token.kind),
                Some(TokenKind::Ident(_) | TokenKind::Int { .. } | TokenKind::Float { .. })
            );
            let closes_header =
                header && (after_operand || before.and_then(punct).is_some_and(ends_operand));
            if open.punct == Punct::LBrace || list || !(after_operand || closes_header) {
                break;
            }
            self.insert_closer();
        }
        self.opener(at, Punct::LBrace, None);
    }

    fn closing_brace(&mut self, at: usize) {
        if !self.open.iter().any(|open| open.punct == Punct::LBrace) {
            return self.extra(at);
        }
        while self
            .open
            .last()
            .is_some_and(|open| open.punct != Punct::LBrace)
        {
            self.insert_closer();
        }
        self.open.pop();
        self.out.push(self.tokens[at].clone());
    }

    fn close_with(&mut self, at: usize, punct: Punct) {
        let reachable = self
            .open
            .iter()
            .rev()
            .take_while(|open| open.punct != Punct::LBrace);
        let partner_at = reachable
            .clone()
            .position(|open| partner(open.punct) == punct);
        let reachable = reachable.count();
        match partner_at {
            Some(0) => {
                self.open.pop();
                self.out.push(self.tokens[at].clone());
            }
            Some(inside) if !self.right_one_follows(at) => {
                for _ in 0..inside {
                    self.insert_closer();
                }
                self.open.pop();
                self.out.push(self.tokens[at].clone());
            }
            None if reachable > 0 && !self.right_one_follows(at) => self.mismatched(at),
            _ => self.extra(at),
        }
    }

    /// Whether the innermost open bracket is closed later in the statement, so that the closer at `at` is extra.
    fn right_one_follows(&self, at: usize) -> bool {
        let Some(open) = self.open.last() else {
            return false;
        };
        let wanted = partner(open.punct);
        let mut depth = 0usize;
        for token in &self.tokens[at + 1..] {
            match punct(token) {
                Some(Punct::Semi | Punct::LBrace | Punct::RBrace) => return false,
                Some(punct) if punct == wanted && depth == 0 => return true,
                Some(punct) if punct == wanted => depth -= 1,
                Some(punct) if punct == open.punct => depth += 1,
                _ => {}
            }
        }
        false
    }

    fn semicolon(&mut self, at: usize) {
        while let Some(open) = self.open.last_mut() {
            if open.punct == Punct::LBrace && !open.is_list {
                break;
            }
            if open.punct == Punct::LParen && is_for(self.tokens, open.at) && open.semicolons < 3 {
                open.semicolons += 1;
                break;
            }
            self.insert_closer();
        }
        self.out.push(self.tokens[at].clone());
    }

    /// `k<<1, 64>>(x)`.
    fn shift_left(&mut self, at: usize) {
        let Some(close) = is_short_launch(self.tokens, at) else {
            return self.out.push(self.tokens[at].clone());
        };
        let closed = self.tokens[close].span;
        self.report(
            self.tokens[at].span,
            BracketError::LaunchShifts { close: closed },
        );
        self.opener(at, Punct::LaunchOpen, Some(close));
    }

    /// The `>>` of `k<<<1, 64>>(x)`, unless it is a shift.
    fn shift_right(&mut self, at: usize) {
        let arguments = self.tokens.get(at + 1).and_then(punct) == Some(Punct::LParen);
        let Some(open) = self
            .open
            .last()
            .filter(|open| open.punct == Punct::LaunchOpen)
        else {
            return self.out.push(self.tokens[at].clone());
        };
        let short = open.closed_by == Some(at);
        if !short && (!arguments || self.right_one_follows(at)) {
            return self.out.push(self.tokens[at].clone());
        }
        if !short {
            let opened = open.span;
            self.report(self.tokens[at].span, BracketError::LaunchEnd { opened });
        }
        self.open.pop();
        self.out.push(Token {
            kind: TokenKind::Punct(Punct::LaunchClose),
            span: self.tokens[at].span,
        });
    }

    /// Whether a new statement begins at `at`, other than a member of a struct.
    fn ends_statement(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| punct(&self.tokens[at]));
        let in_record = self.open.last().is_some_and(|open| {
            let words = &self.tokens[open.at.saturating_sub(2)..open.at];
            words.iter().any(|token| {
                matches!(
                    token.kind,
                    TokenKind::Keyword(Keyword::Struct | Keyword::Union | Keyword::Class)
                )
            })
        });
        matches!(before, Some(Punct::Semi | Punct::RBrace)) && !in_record
    }

    /// A kernel cannot begin inside a function, so the brackets that are open here lack their closers.
    fn kernel(&mut self, at: usize) {
        // A parameter list or template head may contain the word by mistake; only braces are closed for it.
        if self
            .open
            .iter()
            .all(|open| open.is_scope || open.punct == Punct::LBrace)
        {
            while self.open.last().is_some_and(|open| !open.is_scope) {
                self.insert_closer();
            }
        }
        self.out.push(self.tokens[at].clone());
    }

    fn extra(&mut self, at: usize) {
        let token = &self.tokens[at];
        self.repairs.push(self.out.len());
        if let Some(bracket) = punct(token) {
            self.report(token.span, BracketError::Extra { bracket });
        }
    }

    /// `s[t)`: the right bracket replaces it.
    fn mismatched(&mut self, at: usize) {
        let Some(open) = self.open.pop() else { return };
        let (token, right) = (&self.tokens[at], partner(open.punct));
        if let Some(close) = punct(token) {
            self.report(
                token.span,
                BracketError::Mismatched {
                    open: open.punct,
                    close,
                    right,
                    opened: open.span,
                },
            );
        }
        self.repairs.push(self.out.len());
        self.out.push(Token {
            kind: TokenKind::Punct(right),
            span: token.span,
        });
    }

    /// Closes the innermost open bracket here, and reports that it was not closed.
    fn insert_closer(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let right = partner(open.punct);
        let span = self.out.last().map_or(self.end, |token| token.span.after());
        self.report(
            span,
            BracketError::Unclosed {
                open: open.punct,
                close: right,
                role: self.role(&open),
                opened: open.span,
            },
        );
        self.repairs.push(self.out.len());
        self.out.push(Token {
            kind: TokenKind::Punct(right),
            span,
        });
    }

    /// The purpose of the bracket.
    fn role(&self, open: &Open) -> Role {
        let before = open
            .at
            .checked_sub(1)
            .map(|before| &self.tokens[before].kind);
        match (open.punct, before) {
            (Punct::LParen | Punct::LBracket | Punct::LaunchOpen, Some(TokenKind::Ident(name))) => {
                Role::Named(name.clone(), open.punct)
            }
            (Punct::LParen, Some(&TokenKind::Keyword(keyword))) => Role::Word(keyword),
            _ => Role::Unknown,
        }
    }

    /// At the end of the file one message covers all open brackets.
    fn finish(&mut self) {
        let Some(innermost) = self.open.pop() else {
            return;
        };
        let role = self.role(&innermost);
        self.close(&innermost);
        let mut others = Vec::new();
        while let Some(open) = self.open.pop() {
            others.push((open.punct, open.span));
            self.close(&open);
        }
        let (second, third) = (others.first(), others.get(1));
        self.report(
            self.end,
            BracketError::UnclosedAtEnd {
                open: innermost.punct,
                close: partner(innermost.punct),
                role,
                opened: innermost.span,
                second: second.map(|other| other.0),
                second_at: second.map(|other| other.1),
                third: third.map(|other| other.0),
                third_at: third.map(|other| other.1),
            },
        );
    }

    fn report(&mut self, span: Span, error: BracketError) {
        self.diagnostics.push(error.diagnostic(span, &()));
    }

    fn close(&mut self, open: &Open) {
        let span = self.out.last().map_or(self.end, |token| token.span.after());
        self.repairs.push(self.out.len());
        self.out.push(Token {
            kind: TokenKind::Punct(partner(open.punct)),
            span,
        });
    }
}

fn is_control(kind: &TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Keyword(Keyword::If | Keyword::While | Keyword::For | Keyword::Switch)
    )
}

fn ends_operand(punct: Punct) -> bool {
    matches!(
        punct,
        Punct::RParen | Punct::RBracket | Punct::PlusPlus | Punct::MinusMinus
    )
}
