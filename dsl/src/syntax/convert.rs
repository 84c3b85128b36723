//! Converts preprocessing tokens to the parser's: tells keywords from names, computes the values of literals, joins adjacent strings.
//!
//! Values and names are computed once for each spelling, so that a name used a thousand times costs one allocation. Two things that no
//! later stage needs are removed here: `_Pragma("unroll")` becomes the same as `#pragma unroll`, and attributes without a meaning here
//! disappear (`[[likely]]`; `__attribute__((aligned(n)))` becomes `__align__(n)`).

use std::sync::Arc;

use super::lexer::intern::{Interner, Sym};
use super::lexer::pp_token::{PpKind, PpToken};
use super::literal;
use super::message::{Message as _, lex::LiteralError, parse::SyntaxError};
use super::token::{IntSuffix, Keyword, Punct, Token, TokenKind};
use ir::diagnostic::Diagnostic;
use ir::span::Span;

/// Turns the preprocessor's output into the parser's input.
pub(crate) fn convert(
    tokens: &[PpToken],
    names: &Interner,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    let mut converter = Converter {
        names,
        known: vec![None; names.len()],
        out: Vec::with_capacity(tokens.len()),
        diagnostics,
    };
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        rest = match first.kind {
            PpKind::Name(sym) => match names.text(sym) {
                "_Pragma" => converter.pragma(first, after),
                "__attribute__" | "__attribute" => converter.attribute(first, after),
                "__extension__" => after,
                "__cluster_dims__" => converter.cluster_dims(first, after),
                _ => {
                    converter.name(sym, first.span);
                    after
                }
            },
            PpKind::Number(sym) => {
                converter.number(sym, first.span);
                after
            }
            PpKind::Char(sym) => {
                converter.character(sym, first.span);
                after
            }
            PpKind::Str(_) => converter.string(rest),
            PpKind::Punct(punct) => match converter
                .standard_attribute(rest)
                .or_else(|| converter.expanded_pragma(rest))
            {
                Some(after) => after,
                None => {
                    converter.push(TokenKind::Punct(punct), first.span);
                    after
                }
            },
            PpKind::Unroll(count) => {
                converter.unroll(count, first.span);
                after
            }
        };
    }
    converter.out
}

struct Converter<'a> {
    names: &'a Interner,
    /// The token of each spelling, once known.
    known: Vec<Option<TokenKind>>,
    out: Vec<Token>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Converter<'_> {
    fn push(&mut self, kind: TokenKind, span: Span) {
        self.out.push(Token { kind, span });
    }

    fn name(&mut self, sym: Sym, span: Span) {
        let names = self.names;
        let kind =
            self.known[sym.0 as usize].get_or_insert_with(|| match keyword(names.text(sym)) {
                Some(keyword) => TokenKind::Keyword(keyword),
                None => TokenKind::Ident(names.shared(sym)),
            });
        let kind = kind.clone();
        self.push(kind, span);
    }

    fn number(&mut self, sym: Sym, span: Span) {
        if let Some(kind) = &self.known[sym.0 as usize] {
            let kind = kind.clone();
            return self.push(kind, span);
        }
        match literal::number(self.names.text(sym)) {
            Ok(kind) => {
                self.known[sym.0 as usize] = Some(kind.clone());
                self.push(kind, span);
            }
            Err(bad) => {
                // Without a number here the parser would report an error as well.
                self.report(bad, span);
                self.push(int(0), span);
            }
        }
    }

    fn character(&mut self, sym: Sym, span: Span) {
        let mut unknown = None;
        let value = literal::character(self.names.text(sym), &mut unknown).unwrap_or_else(|bad| {
            self.report(bad, span);
            0
        });
        self.unknown_escape(unknown, span);
        self.push(TokenKind::Char(value), span);
    }

    /// Takes all the strings that `tokens` starts with.
    fn string<'t>(&mut self, tokens: &'t [PpToken]) -> &'t [PpToken] {
        let mut bytes = Vec::new();
        let mut span = tokens[0].span;
        let mut rest = tokens;
        while let Some((
            PpToken {
                kind: PpKind::Str(sym),
                span: part,
                ..
            },
            after,
        )) = rest.split_first()
        {
            let mut unknown = None;
            if let Err(bad) = literal::string(self.names.text(*sym), &mut bytes, &mut unknown) {
                self.report(bad, *part);
            }
            self.unknown_escape(unknown, *part);
            span = span.to(*part);
            rest = after;
        }
        self.push(TokenKind::Str(Arc::from(bytes)), span);
        rest
    }

    fn unroll(&mut self, count: Option<u32>, span: Span) {
        self.push(TokenKind::Keyword(Keyword::Pragma), span);
        if let Some(count) = count {
            self.push(int(u64::from(count)), span);
        }
    }

    /// `_Pragma ( "…" )`: only `unroll` has a meaning.
    fn pragma<'t>(&mut self, first: &PpToken, after: &'t [PpToken]) -> &'t [PpToken] {
        let [
            open,
            PpToken {
                kind: PpKind::Str(sym),
                ..
            },
            close,
            rest @ ..,
        ] = after
        else {
            self.name_of(first);
            return after;
        };
        if !open.is(Punct::LParen) || !close.is(Punct::RParen) {
            self.name_of(first);
            return after;
        }
        let mut words = self
            .names
            .text(*sym)
            .trim_matches('"')
            .split([' ', '\t', '(', ')'])
            .filter(|word| !word.is_empty());
        if words.next() == Some("unroll") {
            self.unroll(
                words.next().and_then(|count| count.parse().ok()),
                first.span.to(close.span),
            );
        }
        rest
    }

    /// `#pragma unroll 4` in a macro: nvcc treats the text of a macro like any other line.
    fn expanded_pragma<'t>(&mut self, tokens: &'t [PpToken]) -> Option<&'t [PpToken]> {
        let is =
            |token: &PpToken, text| token.name().is_some_and(|sym| self.names.text(sym) == text);
        let [hash, pragma, unroll, rest @ ..] = tokens else {
            return None;
        };
        if !hash.is(Punct::Hash) || !is(pragma, "pragma") || !is(unroll, "unroll") {
            return None;
        }
        let number = |token: &PpToken| match token.kind {
            PpKind::Number(sym) => self.names.text(sym).parse().ok(),
            _ => None,
        };
        let (count, rest) = match rest {
            [open, count, close, rest @ ..]
                if open.is(Punct::LParen) && close.is(Punct::RParen) =>
            {
                (number(count), rest)
            }
            [count, after @ ..] if matches!(count.kind, PpKind::Number(_)) => {
                (number(count), after)
            }
            rest => (None, rest),
        };
        self.unroll(count, hash.span.to(unroll.span));
        Some(rest)
    }

    /// `__cluster_dims__(x, y, z)` is read, so that the kernel parses, and rejected.
    fn cluster_dims<'t>(&mut self, first: &PpToken, after: &'t [PpToken]) -> &'t [PpToken] {
        let construct = "a thread block cluster (`__cluster_dims__`)";
        let error = SyntaxError::Unsupported { construct };
        self.diagnostics.push(error.diagnostic(first.span, &()));
        let mut depth = 0usize;
        for (at, token) in after.iter().enumerate() {
            if token.is(Punct::LParen) {
                depth += 1;
            } else if token.is(Punct::RParen) {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 {
                return &after[at + usize::from(token.is(Punct::RParen))..];
            }
        }
        after
    }

    /// `__attribute__ (( … ))`.
    fn attribute<'t>(&mut self, first: &PpToken, after: &'t [PpToken]) -> &'t [PpToken] {
        const HARMLESS: [&str; 14] = [
            "unused",
            "used",
            "noinline",
            "always_inline",
            "noreturn",
            "const",
            "pure",
            "hot",
            "cold",
            "nothrow",
            "flatten",
            "deprecated",
            "warn_unused_result",
            "optimize",
        ];
        let Some((inner, rest)) = attribute_body(after) else {
            self.name_of(first);
            return after;
        };
        let [
            PpToken {
                kind: PpKind::Name(word),
                span,
                ..
            },
            arguments @ ..,
        ] = inner
        else {
            self.name_of(first);
            return after;
        };
        let word = self.names.text(*word).trim_matches('_');
        match word {
            "aligned" if !arguments.is_empty() => {
                self.push(TokenKind::Keyword(Keyword::Align), *span);
                for token in arguments {
                    match token.kind {
                        PpKind::Name(sym) => self.name(sym, token.span),
                        PpKind::Number(sym) => self.number(sym, token.span),
                        PpKind::Punct(punct) => self.push(TokenKind::Punct(punct), token.span),
                        PpKind::Char(_) | PpKind::Str(_) | PpKind::Unroll(_) => {}
                    }
                }
                rest
            }
            _ if HARMLESS.contains(&word) => rest,
            _ => {
                self.name_of(first);
                after
            }
        }
    }

    /// The tokens after `[[likely]]` or similar, which have no meaning here, if `tokens` starts with one.
    fn standard_attribute<'t>(&self, tokens: &'t [PpToken]) -> Option<&'t [PpToken]> {
        const HARMLESS: [&str; 10] = [
            "likely",
            "unlikely",
            "maybe_unused",
            "nodiscard",
            "noreturn",
            "fallthrough",
            "deprecated",
            "unused",
            "carries_dependency",
            "gnu",
        ];
        let [open, second, word, ..] = tokens else {
            return None;
        };
        if !open.is(Punct::LBracket) || !second.is(Punct::LBracket) {
            return None;
        }
        let word = self.names.text(word.name()?).trim_matches('_');
        if !HARMLESS.contains(&word) {
            return None;
        }
        let close = tokens.iter().position(|token| token.is(Punct::RBracket))?;
        let last = tokens.get(close + 1)?;
        last.is(Punct::RBracket).then(|| &tokens[close + 2..])
    }

    fn name_of(&mut self, token: &PpToken) {
        if let Some(sym) = token.name() {
            self.name(sym, token.span);
        }
    }

    fn report(&mut self, error: LiteralError, span: Span) {
        self.diagnostics.push(error.diagnostic(span, &()));
    }

    fn unknown_escape(&mut self, unknown: Option<char>, span: Span) {
        match unknown {
            Some('%') => self.report(LiteralError::EscapedPercent, span),
            Some(letter) => self.report(LiteralError::UnknownEscape { letter }, span),
            None => {}
        }
    }
}

/// The tokens between the double parentheses that `tokens` starts with, and those after.
fn attribute_body(tokens: &[PpToken]) -> Option<(&[PpToken], &[PpToken])> {
    let [open, inner_open, ..] = tokens else {
        return None;
    };
    if !open.is(Punct::LParen) || !inner_open.is(Punct::LParen) {
        return None;
    }
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            PpKind::Punct(Punct::LParen) => depth += 1,
            PpKind::Punct(Punct::RParen) => depth -= 1,
            PpKind::Name(_)
            | PpKind::Number(_)
            | PpKind::Char(_)
            | PpKind::Str(_)
            | PpKind::Punct(_)
            | PpKind::Unroll(_) => {}
        }
        if depth == 0 {
            return tokens[at - 1]
                .is(Punct::RParen)
                .then(|| (&tokens[2..at - 1], &tokens[at + 1..]));
        }
    }
    None
}

fn int(value: u64) -> TokenKind {
    TokenKind::Int {
        value,
        unsigned: false,
        suffix: IntSuffix::None,
        decimal: true,
    }
}

/// The reserved word with this spelling, or an alternative spelling of it.
fn keyword(text: &str) -> Option<Keyword> {
    let keyword = match text {
        // Not a word of the language: `Keyword::Pragma` is `#pragma unroll`, which has no spelling.
        "_Pragma" => return None,
        "restrict" | "__restrict" => Keyword::Restrict,
        "__inline" | "__inline__" => Keyword::Inline,
        "__volatile" | "__volatile__" => Keyword::Volatile,
        "__const" | "__const__" => Keyword::Const,
        "__signed" | "__signed__" => Keyword::Signed,
        "__asm" | "__asm__" => Keyword::Asm,
        "_Bool" => Keyword::Bool,
        "alignas" | "_Alignas" => Keyword::Align,
        "_Alignof" | "__alignof" | "__alignof__" => Keyword::Alignof,
        "_Static_assert" => Keyword::StaticAssert,
        "__decltype" | "__typeof__" | "typeof" => Keyword::Decltype,
        _ => return Keyword::from_text(text),
    };
    Some(keyword)
}
