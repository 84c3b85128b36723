//! Types as written: specifiers in any order, `struct`/`union`/`enum` bodies (`record`), and types without a name.
//!
//! C allows the words of a type in any order (`long unsigned const int long`), so they are gathered first and combined into one
//! [`TypeSpecifier`] after the last one.

use chumsky::prelude::*;

use super::{
    decl,
    depth::{counted_if_outermost, nested},
    expr::assignment,
    kit::{
        At, P, Production, ahead, by_hand, fail, position, punct, rule, since, skip, take_word,
        whole,
    },
    lookahead::{Ahead, is_unknown_type, path_ahead, scoped_name, special_name},
    path,
    primary::arguments,
    record,
    recover::Failure,
};
use crate::syntax::{
    ast::{Declarator, Expr, Path, Signedness, SpecifierWord, Specifiers, TypeName, TypeSpecifier},
    message::parse::{Expected, Found, SyntaxError, TypeWords},
    token::{Keyword, Punct, TokenKind},
};
use ir::span::{Span, Spanned};

/// Whether a reserved word is part of the specifiers of a declaration.
pub(super) fn is_specifier(keyword: Keyword) -> bool {
    use Keyword::*;
    is_base(keyword)
        || specifier_word(keyword).is_some()
        || matches!(
            keyword,
            Struct
                | Class
                | Union
                | Enum
                | Const
                | Volatile
                | Restrict
                | Auto
                | LaunchBounds
                | Align
                | Typename
                | Decltype
        )
}

/// Whether a reserved word names an arithmetic type or part of one.
pub(super) fn is_base(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(
        keyword,
        Void | Bool | Char | Short | Int | Long | Float | Double | Signed | Unsigned
    )
}

pub(super) fn specifier_word(keyword: Keyword) -> Option<SpecifierWord> {
    Some(match keyword {
        Keyword::Typedef => SpecifierWord::Typedef,
        Keyword::Extern => SpecifierWord::Extern,
        Keyword::Static => SpecifierWord::Static,
        Keyword::Inline => SpecifierWord::Inline,
        Keyword::Register => SpecifierWord::Register,
        Keyword::Constexpr => SpecifierWord::Constexpr,
        Keyword::Global => SpecifierWord::Global,
        Keyword::Device => SpecifierWord::Device,
        Keyword::Host => SpecifierWord::Host,
        Keyword::Shared => SpecifierWord::Shared,
        Keyword::Constant => SpecifierWord::Constant,
        Keyword::Managed => SpecifierWord::Managed,
        Keyword::Forceinline => SpecifierWord::Forceinline,
        Keyword::Noinline => SpecifierWord::Noinline,
        Keyword::GridConstant => SpecifierWord::GridConstant,
        Keyword::Virtual => SpecifierWord::Virtual,
        _ => return None,
    })
}

/// `static const unsigned int`, `struct S { … }`, `__global__ void`.
pub(super) fn specifiers<'t>() -> P<'t, Specifiers> {
    rule(|rules| &rules.specifiers)
}

/// The production that [`specifiers`] refers to.
pub(super) fn specifiers_rule<'t>() -> P<'t, Specifiers> {
    let specifiers = nested(specifiers()).boxed();
    // Operators of a type inside an expression count towards that expression; elsewhere each expression in the type has its own count.
    let element = counted_if_outermost(nested(assignment())).boxed();
    let record = record::record(element.clone(), specifiers.clone());
    let type_name = type_name(element.clone());
    let argument = nested(path::argument(element.clone(), type_name));
    let templated = path::path(argument);
    let operand = element.clone();
    let enumeration = record::enumeration(element.clone(), specifiers);
    let arguments = arguments(element);
    by_hand(move |inp| {
        let start = position(inp);
        let mut gathered = Gathered::default();
        loop {
            let next = ahead(inp);
            if gathered.has_body()
                && next.is_after_body()
                && !matches!(next.keyword(0), Some(Keyword::Const | Keyword::Volatile))
            {
                return gathered.finish(inp, start);
            }
            match next.kind(0) {
                Some(TokenKind::Keyword(Keyword::Struct | Keyword::Union | Keyword::Class)) => {
                    let record = inp.parse(&record)?;
                    gathered.name(inp, next.at, TypeSpecifier::Record(record));
                }
                Some(TokenKind::Keyword(Keyword::Enum)) => {
                    let enumeration = inp.parse(&enumeration)?;
                    gathered.name(inp, next.at, TypeSpecifier::Enum(enumeration));
                }
                Some(TokenKind::Keyword(Keyword::LaunchBounds)) => {
                    inp.skip();
                    let bounds = inp.parse(&arguments)?;
                    let span = inp.state().span(next.at, next.at + next.after_brackets(1));
                    gathered.launch_bounds = Some(Spanned::new(bounds, span));
                }
                _ if begins_alignment(next) => {
                    inp.skip();
                    gathered.align = inp.parse(&arguments)?.pop().map(Box::new);
                }
                Some(TokenKind::Keyword(Keyword::Decltype)) if next.is(1, Punct::LParen) => {
                    skip(inp, 2);
                    let expr = inp.parse(&operand)?;
                    inp.parse(punct(Punct::RParen))?;
                    gathered.name(inp, next.at, TypeSpecifier::Decltype(Box::new(expr)));
                }
                Some(&TokenKind::Keyword(keyword)) if is_specifier(keyword) => {
                    gathered.word(inp, next, keyword)
                }
                Some(TokenKind::Ident(text))
                    if !inp.state().classes.is_empty() && member_word(text).is_some() =>
                {
                    inp.skip();
                    let span = inp.state().place(next.at);
                    let word = member_word(text).unwrap_or(SpecifierWord::Explicit);
                    gathered.words.push(Spanned::new(word, span));
                }
                Some(TokenKind::Ident(_) | TokenKind::TypeName(_))
                    if !gathered.has_type()
                        && special_name(next, &inp.state().classes).is_some() =>
                {
                    return gathered.finish(inp, start);
                }
                _ if next.begins_path(0) && gathered.takes_name(next) => {
                    let ty = if path_ahead(next).is_some() {
                        TypeSpecifier::Path(Box::new(inp.parse(&templated)?))
                    } else {
                        let (text, n, _) = scoped_name(next).unwrap_or(("".into(), 1, false));
                        skip(inp, n);
                        TypeSpecifier::Named(text)
                    };
                    gathered.name(inp, next.at, ty);
                }
                _ => return gathered.finish(inp, start),
            }
        }
    })
    .boxed()
}

/// `__align__`, `alignas(`.
pub(super) fn begins_alignment(next: Ahead<'_>) -> bool {
    next.is_word(0, Keyword::Align) || (next.is_text(0, "alignas") && next.is(1, Punct::LParen))
}

/// Words that are only special for members, and ordinary names elsewhere.
fn member_word(text: &str) -> Option<SpecifierWord> {
    Some(match text {
        "explicit" => SpecifierWord::Explicit,
        "mutable" => SpecifierWord::Mutable,
        _ => return None,
    })
}

/// The words of a type as they come.
#[derive(Default)]
struct Gathered {
    base: Vec<Keyword>,
    named: Option<Spanned<TypeSpecifier>>,
    base_span: Option<Span>,
    is_const: bool,
    is_volatile: bool,
    /// Whether `typename` precedes the name of the type.
    is_typename: bool,
    words: Vec<Spanned<SpecifierWord>>,
    launch_bounds: Option<Spanned<Vec<Expr>>>,
    align: Option<Box<Expr>>,
}

impl Gathered {
    /// Takes the reserved word ahead.
    fn word(&mut self, inp: &mut At<'_, '_>, next: Ahead<'_>, keyword: Keyword) {
        inp.skip();
        let span = inp.state().place(next.at);
        match keyword {
            Keyword::Const => self.is_const = true,
            Keyword::Volatile => self.is_volatile = true,
            Keyword::Restrict => {}
            Keyword::Auto => self.name(inp, next.at, TypeSpecifier::Auto),
            Keyword::Typename => self.is_typename = true,
            _ => match specifier_word(keyword) {
                Some(word) => self.words.push(Spanned::new(word, span)),
                None => {
                    self.base.push(keyword);
                    self.base_span = Some(self.base_span.map_or(span, |first| first.to(span)));
                    if self.named.is_some() {
                        two_types(inp, span);
                    }
                }
            },
        }
    }

    /// Takes a type that is a name, from token `start` on.
    fn name(&mut self, inp: &mut At<'_, '_>, start: usize, ty: TypeSpecifier) {
        let span = since(inp, start);
        if self.has_type() {
            two_types(inp, span);
        }
        self.named = Some(Spanned::new(ty, span));
    }

    /// Whether the type is a `struct`, `union` or `enum` with its members.
    fn has_body(&self) -> bool {
        match self.named.as_ref().map(|named| &named.node) {
            Some(TypeSpecifier::Record(record)) => record.members.is_some(),
            Some(TypeSpecifier::Enum(enumeration)) => enumeration.enumerators.is_some(),
            _ => false,
        }
    }

    fn has_type(&self) -> bool {
        self.named.is_some() || !self.base.is_empty()
    }

    /// Whether the name ahead is the type: there is no type yet, and it does not read as the declared name.
    fn takes_name(&self, next: Ahead<'_>) -> bool {
        if self.has_type() {
            return false;
        }
        match next.kind(0) {
            // `T A::f()`: `A::f` is the declared name.
            Some(TokenKind::TypeName(_)) => true,
            _ => {
                self.is_typename
                    || path_ahead(next).is_some_and(|(_, is_type)| is_type)
                    || scoped_name(next).is_some_and(|(_, n, is_type)| n > 1 && is_type)
                    || is_unknown_type(next)
                    || (next.is_ident(0)
                        && matches!(next.punct(1), Some(Punct::Comma | Punct::RParen)))
            }
        }
    }

    fn finish(self, inp: &mut At<'_, '_>, start: usize) -> Result<Specifiers, Failure> {
        let at = position(inp);
        let next = ahead(inp);
        let is_special = !self.has_type() && special_name(next, &inp.state().classes).is_some();
        if at == start && !is_special {
            return fail(inp, Expected::Type);
        }
        let span = inp.state().span(start, at);
        let ty = match (self.named, self.base_span) {
            (Some(named), _) => named,
            (None, Some(span)) => Spanned::new(combine(inp, &self.base, span), span),
            (None, None) if is_special => Spanned::new(TypeSpecifier::Void, inp.state().place(at)),
            (None, None) => {
                let place = inp.state().place(at);
                let found = Found(inp.state().token(at).cloned());
                let error = SyntaxError::MissingType {
                    found,
                    begins: span,
                };
                inp.state().report(place, error);
                Spanned::new(TypeSpecifier::Int(Signedness::Signed), span)
            }
        };
        let Gathered {
            is_const,
            is_volatile,
            words,
            launch_bounds,
            align,
            ..
        } = self;
        Ok(Specifiers {
            ty,
            is_const,
            is_volatile,
            words,
            launch_bounds,
            align,
            span,
        })
    }
}

fn two_types(inp: &mut At<'_, '_>, span: Span) {
    inp.state().report(span, SyntaxError::SecondType);
}

/// One type from its words, in any order.
fn combine(inp: &mut At<'_, '_>, words: &[Keyword], span: Span) -> TypeSpecifier {
    let count = |keyword| words.iter().filter(|&&word| word == keyword).count();
    let (signed, unsigned) = (count(Keyword::Signed), count(Keyword::Unsigned));
    let (long, int, short) = (
        count(Keyword::Long),
        count(Keyword::Int),
        count(Keyword::Short),
    );
    let signedness = if unsigned > 0 {
        Signedness::Unsigned
    } else {
        Signedness::Signed
    };
    let other: Vec<Keyword> = words
        .iter()
        .copied()
        .filter(|&word| !is_modifier(word))
        .collect();
    let ty = match other[..] {
        [] if short > 0 => TypeSpecifier::Short(signedness),
        [] if long > 1 => TypeSpecifier::LongLong(signedness),
        [] if long == 1 => TypeSpecifier::Long(signedness),
        [] => TypeSpecifier::Int(signedness),
        [Keyword::Char, ..] => TypeSpecifier::Char((signed + unsigned > 0).then_some(signedness)),
        [Keyword::Void, ..] => TypeSpecifier::Void,
        [Keyword::Bool, ..] => TypeSpecifier::Bool,
        [Keyword::Float, ..] => TypeSpecifier::Float,
        _ => TypeSpecifier::Double,
    };
    let modified = match other[..] {
        [] => short * long > 0 || short > 1 || long > 2 || int > 1,
        [Keyword::Char] => short + long + int > 0,
        [Keyword::Double] => short + int + signed + unsigned > 0 || long > 1,
        _ => words.len() > 1,
    };
    if modified || signed + unsigned > 1 {
        let words = TypeWords(words.to_vec());
        inp.state().report(span, SyntaxError::NotAType { words });
    } else if long == 1 && ty == TypeSpecifier::Double {
        inp.state().report(span, SyntaxError::LongDouble);
    }
    ty
}

fn is_modifier(word: Keyword) -> bool {
    matches!(
        word,
        Keyword::Signed | Keyword::Unsigned | Keyword::Short | Keyword::Long | Keyword::Int
    )
}

/// A type in a cast or `sizeof`: `const float *`, `int (*)[4]`.
pub(super) fn type_name<'t>(assign: P<'t, Expr>) -> P<'t, TypeName> {
    type_name_of(assign, specifiers())
}

/// [`type_name`], its specifiers read by `specifiers`.
pub(super) fn type_name_of<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, TypeName> {
    named(specifiers.clone(), decl::declarator(element, specifiers))
}

/// Specifiers and a declarator.
pub(super) fn named<'t>(
    specifiers: P<'t, Specifiers>,
    declarator: P<'t, decl::Declared>,
) -> P<'t, TypeName> {
    specifiers
        .then(declarator)
        .map_with(|(specifiers, declared), extra| TypeName {
            specifiers,
            declarator: declared.declarator,
            span: whole(extra),
        })
        .boxed()
}

/// The type in `T(x)`: a name or the words of an arithmetic type.
pub(super) fn simple_type<'t>(templated: P<'t, Path>) -> impl Production<'t, TypeName> {
    by_hand(move |inp| {
        let start = position(inp);
        let is_typename = take_word(inp, Keyword::Typename);
        let next = ahead(inp);
        let mut gathered = Gathered::default();
        if path_ahead(next).is_some() {
            let path = inp.parse(&templated)?;
            gathered.name(inp, next.at, TypeSpecifier::Path(Box::new(path)));
        } else if let Some((text, n, is_type)) = scoped_name(next)
            && (is_type || is_typename)
        {
            skip(inp, n);
            gathered.name(inp, next.at, TypeSpecifier::Named(text));
        }
        while let Some(keyword) = ahead(inp).keyword(0).filter(|&keyword| is_base(keyword)) {
            let next = ahead(inp);
            gathered.word(inp, next, keyword);
        }
        let specifiers = gathered.finish(inp, start)?;
        let span = specifiers.span;
        Ok(TypeName {
            specifiers,
            declarator: Declarator::new(None, Vec::new(), span.after()),
            span,
        })
    })
}

/// The type in `operator const float *()`.
pub(super) fn conversion_type<'t>(specifiers: P<'t, Specifiers>) -> impl Production<'t, TypeName> {
    let pointers = decl::pointers();
    specifiers
        .then(pointers)
        .map_with(|(specifiers, parts), extra| {
            let span = whole(extra);
            TypeName {
                specifiers,
                declarator: Declarator::new(None, parts, span),
                span,
            }
        })
}
