//! Finds the Rust token at a place in the C text.

use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

/// A line and a column, from 1, as `rustc` counts them.
type Position = (usize, usize);

/// Where each token of a macro's body begins and ends.
pub(crate) struct Tokens {
    /// In the order of the source, no two overlapping.
    all: Vec<(Position, Position, Span)>,
}

impl Tokens {
    /// The tokens of a body, including its brackets.
    pub(crate) fn new(body: &Group) -> Tokens {
        let mut tokens = Tokens { all: Vec::new() };
        tokens.push(body.span_open());
        tokens.collect(body.stream());
        tokens.push(body.span_close());
        tokens
    }

    fn collect(&mut self, stream: TokenStream) {
        for token in stream {
            match token {
                TokenTree::Group(group) => {
                    let has_brackets = group.delimiter() != Delimiter::None;
                    if has_brackets {
                        self.push(group.span_open());
                    }
                    self.collect(group.stream());
                    if has_brackets {
                        self.push(group.span_close());
                    }
                }
                token => self.push(token.span()),
            }
        }
    }

    fn push(&mut self, span: Span) {
        let (start, end) = (span.start(), span.end());
        self.all.push((
            (start.line(), start.column()),
            (end.line(), end.column()),
            span,
        ));
    }

    /// The span of the first and of the last token that these positions touch. If there is none (the place of a missing `;` is after a
    /// token), the place after the token before.
    pub(crate) fn between(&self, start: Position, end: Position) -> (Span, Span) {
        let mut touched = self
            .all
            .iter()
            .filter(|(from, to, _)| *to > start && *from < end.max((start.0, start.1 + 1)));
        if start < end
            && let Some((_, _, first)) = touched.next()
        {
            let last = touched.next_back().map_or(*first, |(_, _, last)| *last);
            return (*first, last);
        }
        let before = self.all.iter().rev().find(|(_, to, _)| *to <= start);
        let at = self
            .all
            .iter()
            .find(|(from, to, _)| *from <= start && *to > start);
        let span = match (at, before) {
            (Some((_, _, at)), _) => *at,
            (None, Some((_, _, before))) => before.end(),
            (None, None) => Span::call_site(),
        };
        (span, span)
    }
}
