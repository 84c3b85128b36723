//! Building blocks of every production: the parser's types, its state, and committed combinators.
//!
//! "Committed" means that the next tokens decide whether a part is there. If they do, a failure inside it is an error and not a reason to
//! try something else. chumsky's `or`, `choice`, `repeated` and `or_not` have no such cut: they rewind, hide the error, and cannot take
//! back the diagnostics that a production has already reported. They are only used for parts of one token. For longer parts there are
//! [`either`], [`repeat_while`], [`when`], [`list`] and the table `choose!`.
//!
//! A production that reports something does so in `map_with`. chumsky does not run that if the result is discarded at once, as by `to` and
//! `ignored`; the combinators here always run it.

use std::sync::Arc;

use chumsky::{input::InputRef, input::MapExtra, inspector::Inspector, prelude::*};

use super::{
    lookahead::{Ahead, scoped_name},
    recover::{Failure, What},
};
use crate::syntax::{
    ast::{Block, Expr, ExprKind, Name, Specifiers, Stmt, StmtKind},
    message::{
        Message as _,
        parse::{Expected, SyntaxError},
    },
    token::{Keyword, Punct, Token, TokenKind},
};
use ir::{
    diagnostic::{Code, Diagnostic},
    span::{Span, Spanned},
};

/// The input: positions are indices of tokens.
pub(super) type In<'t> = &'t [Token];
/// chumsky's extra types.
pub(super) type Ex<'t> = extra::Full<Failure, State<'t>, ()>;
/// The position of a custom parser.
pub(super) type At<'t, 'p> = InputRef<'t, 'p, In<'t>, Ex<'t>>;
/// A part of the grammar.
pub(super) trait Production<'t, O>: Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't {}
impl<'t, O, T: Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't> Production<'t, O> for T {}
/// A production, its type erased.
pub(super) type P<'t, O> = Boxed<'t, 't, In<'t>, O, Ex<'t>>;

/// State shared by the productions while they run.
pub(super) struct State<'t> {
    tokens: &'t [Token],
    /// Indices of tokens that `brackets` inserted or changed, ascending.
    repairs: &'t [usize],
    end: Span,
    /// The diagnostics so far.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// How many productions are open inside each other.
    pub(super) depth: u32,
    /// Operators in the expression being read.
    pub(super) operators: u32,
    /// Codes of errors that are reported once per file, and have been.
    pub(super) said_once: Vec<Code>,
    /// How many expressions whose operators are counted are open inside each other.
    pub(super) expressions: u32,
    /// The productions that others refer to while they run.
    pub(super) rules: Rules<'t>,
    /// The classes that are open here.
    pub(super) classes: Vec<Arc<str>>,
}

/// The productions that the grammar recurses through, each built once for a file. Every other production refers to them through [`State`]
/// when it runs. A production that contained them would contain itself, and a copy in each place that names an expression or a type would
/// mean thousands of small parsers to build and to drop, which took longer than parsing a small file.
#[derive(Clone)]
pub(super) struct Rules<'t> {
    pub(super) assignment: P<'t, Expr>,
    pub(super) operand: P<'t, super::expr::Piece>,
    pub(super) specifiers: P<'t, Specifiers>,
    pub(super) body: P<'t, Block>,
}

/// The production that `rule` selects at run time.
pub(super) fn rule<'t, O: 't>(rule: for<'a> fn(&'a Rules<'t>) -> &'a P<'t, O>) -> P<'t, O> {
    let picked = by_hand(move |inp| {
        let parser = rule(&inp.state().rules).clone();
        inp.parse(parser)
    });
    picked.boxed()
}

impl<'t> State<'t> {
    pub(super) fn new(
        tokens: &'t [Token],
        repairs: &'t [usize],
        end: Span,
        rules: Rules<'t>,
    ) -> State<'t> {
        State {
            tokens,
            repairs,
            end,
            diagnostics: Vec::new(),
            depth: 0,
            operators: 0,
            said_once: Vec::new(),
            expressions: 0,
            rules,
            classes: Vec::new(),
        }
    }

    /// The source text from token `start` up to token `stop` (exclusive).
    pub(super) fn span(&self, start: usize, stop: usize) -> Span {
        match (
            self.tokens.get(start),
            self.tokens.get(stop.wrapping_sub(1)),
        ) {
            (Some(first), Some(last)) if start < stop => first.span.to(last.span),
            _ => self.before(start),
        }
    }

    /// The empty place just after the token before `at`.
    pub(super) fn before(&self, at: usize) -> Span {
        match at
            .checked_sub(1)
            .and_then(|previous| self.tokens.get(previous))
        {
            Some(previous) => previous.span.after(),
            None => self.tokens.first().map_or(self.end, |first| first.span),
        }
    }

    /// The place of token `at`, or the end of the text.
    pub(super) fn place(&self, at: usize) -> Span {
        self.tokens.get(at).map_or(self.end, |token| token.span)
    }

    /// Token `at`.
    pub(super) fn token(&self, at: usize) -> Option<&'t TokenKind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    /// The token before `at`.
    pub(super) fn token_before(&self, at: usize) -> Option<&'t TokenKind> {
        at.checked_sub(1).and_then(|before| self.token(before))
    }

    /// Whether one of these tokens is `return`.
    pub(super) fn has_return(&self, tokens: std::ops::Range<usize>) -> bool {
        let tokens = self.tokens.get(tokens).unwrap_or_default();
        let is_return = |kind: &TokenKind| *kind == TokenKind::Keyword(Keyword::Return);
        tokens.iter().any(|token| is_return(&token.kind))
    }

    /// Reports an error at `span`; parsing continues.
    pub(super) fn report(&mut self, span: Span, error: SyntaxError) {
        self.diagnostics.push(error.diagnostic(span, &()));
    }

    /// Whether a bracket was repaired in `start..stop`: its error has been reported, so errors that follow from it are not.
    pub(super) fn repaired(&self, start: usize, stop: usize) -> bool {
        let first = self.repairs.partition_point(|&index| index < start);
        self.repairs.get(first).is_some_and(|&index| index < stop)
    }
}

impl<'t> Inspector<'t, In<'t>> for State<'t> {
    type Checkpoint = ();
    fn on_token(&mut self, _: &Token) {}
    fn on_save<'parse>(&self, _: &chumsky::input::Cursor<'t, 'parse, In<'t>>) {}
    fn on_rewind<'parse>(&mut self, _: &chumsky::input::Checkpoint<'t, 'parse, In<'t>, ()>) {}
}

/// The tokens ahead.
pub(super) fn ahead<'t>(inp: &mut At<'t, '_>) -> Ahead<'t> {
    Ahead {
        at: position(inp),
        tokens: inp.state().tokens,
    }
}

/// The index of the next token.
pub(super) fn position(inp: &At<'_, '_>) -> usize {
    *inp.cursor().inner()
}

/// The source text from token `start` up to the next.
pub(super) fn since(inp: &mut At<'_, '_>, start: usize) -> Span {
    let stop = position(inp);
    inp.state().span(start, stop)
}

/// Takes `punct` if it is next.
pub(super) fn take(inp: &mut At<'_, '_>, punct: Punct) -> bool {
    let is_next = ahead(inp).is(0, punct);
    skip(inp, usize::from(is_next));
    is_next
}

/// Takes the reserved word `keyword` if it is next.
pub(super) fn take_word(inp: &mut At<'_, '_>, keyword: Keyword) -> bool {
    let is_next = ahead(inp).is_word(0, keyword);
    skip(inp, usize::from(is_next));
    is_next
}

/// Takes `n` tokens.
pub(super) fn skip(inp: &mut At<'_, '_>, n: usize) {
    for _ in 0..n {
        inp.skip();
    }
}

/// The source text of what was just parsed.
pub(super) fn whole<'t>(extra: &mut MapExtra<'t, '_, In<'t>, Ex<'t>>) -> Span {
    let range: SimpleSpan = extra.span();
    extra.state().span(range.start, range.end)
}

/// What was just parsed, with its place; for `map_with`.
pub(super) fn spanned<'t, T>(node: T, extra: &mut MapExtra<'t, '_, In<'t>, Ex<'t>>) -> Spanned<T> {
    Spanned::new(node, whole(extra))
}

/// The expression that was just parsed; for `map_with`.
pub(super) fn expr_node<'t>(kind: ExprKind, extra: &mut MapExtra<'t, '_, In<'t>, Ex<'t>>) -> Expr {
    let span = whole(extra);
    Expr { kind, span }
}

/// The statement that was just parsed; for `map_with`.
pub(super) fn stmt_node<'t>(kind: StmtKind, extra: &mut MapExtra<'t, '_, In<'t>, Ex<'t>>) -> Stmt {
    let span = whole(extra);
    Stmt { kind, span }
}

/// A failure here: another token was expected. Tokens that were expected later on and omitted do not count any more.
pub(super) fn fail<'t, O: 't>(inp: &mut At<'t, '_>, expected: Expected) -> Result<O, Failure> {
    inp.parse(unexpected(expected))
}

/// A failure here with a specific message.
pub(super) fn fail_with<'t, O: 't>(
    inp: &mut At<'t, '_>,
    span: Span,
    error: SyntaxError,
) -> Result<O, Failure> {
    let what = What::Said(Box::new(error), span);
    let at = position(inp);
    inp.parse(custom(move |_: &mut At<'t, '_>| {
        let what = what.clone();
        Err(Failure { at, what })
    }))
}

// Single tokens.

/// Whether `punct` is next: a predicate for [`when`], [`either`] and [`repeat_while`].
pub(super) fn at<'t>(punct: Punct) -> impl Fn(Ahead<'t>) -> bool + Copy + 't {
    move |next| next.is(0, punct)
}

/// Whether the reserved word `keyword` is next.
pub(super) fn at_word<'t>(keyword: Keyword) -> impl Fn(Ahead<'t>) -> bool + Copy + 't {
    move |next| next.is_word(0, keyword)
}

/// The result of `reads` for the tokens ahead, which also says how many of them it takes.
pub(super) fn read<'t, O: 't>(
    expected: Expected,
    reads: impl Fn(Ahead<'t>) -> Option<(O, usize)> + Copy + 't,
) -> impl Production<'t, O> + Copy {
    custom(move |inp: &mut At<'t, '_>| match reads(ahead(inp)) {
        Some((out, n)) => {
            skip(inp, n);
            Ok(out)
        }
        None => Err(Failure::expected(position(inp), expected)),
    })
}

/// As many tokens as `measure` says.
pub(super) fn skipped<'t>(
    measure: impl Fn(Ahead<'t>) -> usize + Copy + 't,
) -> impl Production<'t, ()> + Copy {
    read(Expected::Nothing, move |next| Some(((), measure(next))))
}

/// Always fails: another token is expected here.
pub(super) fn unexpected<'t, O: 't>(expected: Expected) -> impl Production<'t, O> + Copy {
    read(expected, |_| None)
}

/// The operator or bracket `punct`.
pub(super) fn punct<'t>(punct: Punct) -> impl Production<'t, ()> + Copy {
    closing(punct, Expected::Punct(punct))
}

/// `punct`, called `expected` in the message if it is missing.
pub(super) fn closing<'t>(punct: Punct, expected: Expected) -> impl Production<'t, ()> + Copy {
    read(expected, move |next| next.is(0, punct).then_some(((), 1)))
}

/// Fails unless `punct` is next. It consumes nothing: another production reads the bracket.
pub(super) fn before<'t>(punct: Punct, expected: Expected) -> impl Production<'t, ()> + Copy {
    read(expected, move |next| next.is(0, punct).then_some(((), 0)))
}

/// The reserved word `keyword`.
pub(super) fn word<'t>(keyword: Keyword) -> impl Production<'t, ()> + Copy {
    read(Expected::Word(keyword), move |next| {
        next.is_word(0, keyword).then_some(((), 1))
    })
}

/// Consumes `punct` if it is next, and returns whether it was.
pub(super) fn flag<'t>(punct: Punct) -> impl Production<'t, bool> + Copy {
    read(Expected::Nothing, move |next| {
        let is_next = next.is(0, punct);
        Some((is_next, usize::from(is_next)))
    })
}

/// Consumes the reserved word `keyword` if it is next, and returns whether it was.
pub(super) fn flag_word<'t>(keyword: Keyword) -> impl Production<'t, bool> + Copy {
    read(Expected::Nothing, move |next| {
        let is_next = next.is_word(0, keyword);
        Some((is_next, usize::from(is_next)))
    })
}

/// A name. It may also be that of a type, because a type is not allowed where this is called.
pub(super) fn name<'t>() -> impl Production<'t, Name> + Copy {
    let text = read(Expected::Name, |next| Some((next.name(0)?.clone(), 1)));
    text.map_with(spanned)
}

/// A name with its scopes, `a::b`.
pub(super) fn path_name<'t>(expected: Expected) -> impl Production<'t, Name> + Copy {
    let text = read(expected, |next| {
        scoped_name(next).map(|(text, n, _)| (text, n))
    });
    text.map_with(spanned)
}

/// [`name`], if one is next.
pub(super) fn optional_name<'t>() -> impl Production<'t, Option<Name>> {
    when(|next| next.is_name(0), name())
}

// Parts of a production, each committed to by the tokens ahead.

/// `parser` for as long as the tokens ahead begin one.
pub(super) fn repeat_while<'t, O: 't>(
    begins: impl Fn(Ahead<'t>) -> bool + Clone + 't,
    parser: impl Production<'t, O>,
) -> impl Production<'t, Vec<O>> {
    by_hand(move |inp| {
        let mut out = Vec::new();
        while begins(ahead(inp)) {
            out.push(inp.parse(&parser)?);
        }
        Ok(out)
    })
}

/// `parser` if the tokens ahead begin one.
pub(super) fn when<'t, O: 't>(
    begins: impl Fn(Ahead<'t>) -> bool + Clone + 't,
    parser: impl Production<'t, O>,
) -> impl Production<'t, Option<O>> {
    by_hand(move |inp| match begins(ahead(inp)) {
        true => inp.parse(&parser).map(Some),
        false => Ok(None),
    })
}

/// `parser` if the tokens ahead begin one, `otherwise` if not.
pub(super) fn either<'t, O: 't>(
    begins: impl Fn(Ahead<'t>) -> bool + Clone + 't,
    parser: impl Production<'t, O>,
    otherwise: impl Production<'t, O>,
) -> impl Production<'t, O> {
    by_hand(move |inp| match begins(ahead(inp)) {
        true => inp.parse(&parser),
        false => inp.parse(&otherwise),
    })
}

/// The production that the next tokens select: a table of their patterns, each with its name and its production.
macro_rules! choose {
    (
        |$next:ident| $key:expr;
        $($pattern:pat $(if $guard:expr)? => $name:ident: $parser:expr,)+
    ) => {{
        let ($($name,)+) = ($(chumsky::Parser::boxed($parser),)+);
        $crate::syntax::parser::kit::by_hand(move |inp| {
            let $next = $crate::syntax::parser::kit::ahead(inp);
            match $key {
                $($pattern $(if $guard)? => inp.parse(&$name),)+
            }
        })
    }};
}
pub(super) use choose;

/// `parser`; unless its result `is_right`, another token is expected after it.
pub(super) fn expecting<'t, O: 't>(
    parser: impl Production<'t, O>,
    is_right: fn(&O) -> bool,
    expected: Expected,
) -> impl Production<'t, O> {
    by_hand(move |inp| {
        let out = inp.parse(&parser)?;
        match is_right(&out) {
            true => Ok(out),
            false => fail(inp, expected),
        }
    })
}

/// `parser`, and `rest` if the result of `parser` requires it.
pub(super) fn then_if<'t, O: 't, R: 't>(
    parser: impl Production<'t, O>,
    wants: fn(&O, Ahead<'t>) -> bool,
    rest: impl Production<'t, R>,
) -> impl Production<'t, (O, Option<R>)> {
    by_hand(move |inp| {
        let out = inp.parse(&parser)?;
        let rest = match wants(&out, ahead(inp)) {
            true => Some(inp.parse(&rest)?),
            false => None,
        };
        Ok((out, rest))
    })
}

/// `parser` with a part of the state saved: `enter` returns what `leave` restores.
pub(super) fn scoped<'t, O: 't, S: 't>(
    enter: fn(&mut State<'t>) -> S,
    leave: fn(&mut State<'t>, S),
    parser: impl Production<'t, O>,
) -> impl Production<'t, O> {
    by_hand(move |inp| {
        let outside = enter(inp.state());
        let result = inp.parse(&parser);
        leave(inp.state(), outside);
        result
    })
}

/// A production written as a function: chumsky's `custom` with the types filled in.
pub(super) fn by_hand<'t, O: 't>(
    function: impl Fn(&mut At<'t, '_>) -> Result<O, Failure> + Clone + 't,
) -> impl Production<'t, O> {
    custom(function)
}

// Combinations of these.

/// `punct parser` if `punct` is next.
pub(super) fn after<'t, O: 't>(
    punct: Punct,
    parser: impl Production<'t, O>,
) -> impl Production<'t, Option<O>> {
    when(at(punct), self::punct(punct).ignore_then(parser))
}

/// `item, item, …` up to (not including) the bracket `close`; a comma before it is allowed if `trailing`.
pub(super) fn list<'t, O: 't>(
    item: impl Production<'t, O>,
    close: Punct,
    trailing: bool,
) -> impl Production<'t, Vec<O>> {
    by_hand(move |inp| {
        let mut out = Vec::new();
        if ahead(inp).is(0, close) {
            return Ok(out);
        }
        loop {
            out.push(inp.parse(&item)?);
            if !take(inp, Punct::Comma) || (trailing && ahead(inp).is(0, close)) {
                return Ok(out);
            }
        }
    })
}

/// `< item, item >`, template arguments or parameters.
pub(super) fn angles<'t, O: 't>(item: impl Production<'t, O>) -> impl Production<'t, Vec<O>> {
    let close = closing(Punct::AngleClose, Expected::CommaOr(Punct::AngleClose));
    list(item, Punct::AngleClose, false).delimited_by(punct(Punct::AngleOpen), close)
}

/// `( parser )`.
pub(super) fn parens<'t, O: 't>(parser: impl Production<'t, O>) -> impl Production<'t, O> {
    parser.delimited_by(punct(Punct::LParen), punct(Punct::RParen))
}

/// `[ parser ]`.
pub(super) fn brackets<'t, O: 't>(parser: impl Production<'t, O>) -> impl Production<'t, O> {
    parser.delimited_by(punct(Punct::LBracket), punct(Punct::RBracket))
}

/// `{ item item … }`.
pub(super) fn block<'t, O: 't>(item: impl Production<'t, O>) -> impl Production<'t, Vec<O>> {
    let is_inside = |next: Ahead<'_>| next.kind(0).is_some() && !next.is(0, Punct::RBrace);
    repeat_while(is_inside, item).delimited_by(punct(Punct::LBrace), punct(Punct::RBrace))
}
