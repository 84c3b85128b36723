//! Declarators, initialisers and declarations: `const float *__restrict__ a, b[4] = {1, 2}, (*f)(int);`.
//!
//! A declarator is read inside out. `int *a[4]` declares an array of pointers, `int (*a)[4]` a pointer to an array: suffixes
//! bind tighter than stars, and parentheses turn that round.

use std::sync::Arc;

use chumsky::prelude::*;

use super::{
    depth::nested,
    expr::init_items,
    kit::{
        At, Ex, In, P, State, after, ahead, angles, at, before, brackets, custom_clone, either,
        fail, here, list, name, optional_name, parens, production, punct, repeat_while, since,
        skip, spanned, when, whole, word,
    },
    lookahead::{Ahead, begins_params, is_inner_declarator, template_arguments},
    path,
    primary::arguments,
    recover::{bracket_end, recovered},
    stmt, ty,
};
use crate::{
    span::{Span, Spanned},
    syntax::{
        ast::{
            Declaration, Declarator, DeclaratorPart, Expr, Init, InitDeclarator, Name, Param,
            SpecifierWord, Specifiers, TemplateArg,
        },
        message::parse::{Expected, SyntaxError},
        token::{Keyword, Punct, TokenKind},
    },
};

/// A declarator, and what the tree keeps elsewhere.
#[derive(Clone)]
pub(super) struct Declared {
    pub(super) declarator: Declarator,
    /// The parameters of the function it declares end in `...`.
    pub(super) variadic: bool,
}

/// What follows a name: `[4]`, `(int x, ...)`.
#[derive(Clone)]
struct Part {
    part: DeclaratorPart,
    variadic: bool,
}

/// `*const a[4]`, `(*f)(int)`, `*`, or nothing.
pub(super) fn declarator<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, Declared> {
    recursive(|declarator| {
        let declarator = nested(declarator).boxed();
        let inner = parens(declarator.clone());
        let type_name = ty::named(specifiers.clone(), declarator.clone());
        let args = angles(path::argument(element.clone(), type_name));
        let suffix = suffix(element, specifiers, declarator);
        let named = declared_name(args);
        // One function rather than a chain of parsers: it is what recurses, and so its frames are kept small.
        let pointers = repeat_while(begins_pointer, pointer()).boxed();
        production(move |inp| {
            let start = here(inp);
            let pointers = inp.parse(&pointers)?;
            let look = ahead(inp);
            let mut declared = if look.is(0, Punct::LParen) && is_inner_declarator(look) {
                inp.parse(&inner)?
            } else {
                inp.parse(&named)?
            };
            while begins_suffix(ahead(inp)) {
                let suffix = inp.parse(&suffix)?;
                declared.variadic |= declared.declarator.parts.is_empty() && suffix.variadic;
                declared.declarator.parts.push(suffix.part);
            }
            declared.declarator.parts.extend(pointers.into_iter().rev());
            declared.declarator.span = since(inp, start);
            Ok(declared)
        })
    })
    .boxed()
}

/// The declared name, if there is one, and the arguments after it.
fn declared_name<'t>(args: P<'t, Vec<TemplateArg>>) -> P<'t, Declared> {
    let args = when(at(Punct::AngleOpen), args).boxed();
    production(move |inp| {
        let look = ahead(inp);
        let named = if begins_function_name(look) {
            Some(function_name(inp, look)?)
        } else if look.is_name(0) {
            Some(inp.parse(name())?)
        } else {
            reserved(inp, look)?
        };
        let mut declarator = Declarator::new(named, Vec::new(), Span::default());
        if declarator.name.is_some() {
            declarator.args = inp.parse(&args)?;
        }
        Ok(Declared {
            declarator,
            variadic: false,
        })
    })
}

/// `A::f`, `~S`, `operator+`, `A::operator float`.
fn begins_function_name(look: Ahead<'_>) -> bool {
    look.is_word(0, Keyword::Operator)
        || (look.is(0, Punct::Tilde) && look.is_name(1))
        || (look.is_name(0) && look.is(template_arguments(look, 1).unwrap_or(1), Punct::ColonColon))
}

fn function_name(inp: &mut At<'_, '_>, look: Ahead<'_>) -> Result<Name, super::recover::Failure> {
    let mut text = String::new();
    let mut n = 0;
    // The arguments in `Tile<T>::f` are the template's own parameters.
    while let Some(name) = look.name(n) {
        let end = template_arguments(look, n + 1).unwrap_or(n + 1);
        if !look.is(end, Punct::ColonColon) {
            break;
        }
        text.push_str(name);
        text.push_str("::");
        n = end + 1;
    }
    match look.kind(n) {
        Some(TokenKind::Ident(name) | TokenKind::TypeName(name)) => {
            text.push_str(name);
            n += 1;
        }
        Some(TokenKind::Punct(Punct::Tilde)) => {
            text.push('~');
            if let Some(name) = look.name(n + 1) {
                text.push_str(name);
            }
            n += 2;
        }
        Some(TokenKind::Keyword(Keyword::Operator)) => {
            let Some((operator, m)) = operator_name(look.past(n + 1)) else {
                skip(inp, n + 1);
                return fail(inp, Expected::Operator);
            };
            text.push_str("operator");
            text.push_str(&operator);
            n += 1 + m;
        }
        _ => {
            skip(inp, n);
            return fail(inp, Expected::Name);
        }
    }
    skip(inp, n);
    let span = inp.state().span(look.at, look.at + n);
    Ok(Spanned::new(text.into(), span))
}

/// What stands after `operator`: the operator's text and how many tokens it is. For a conversion the type is read elsewhere.
fn operator_name(look: Ahead<'_>) -> Option<(String, usize)> {
    match look.punct(0) {
        Some(Punct::LParen) if look.is(1, Punct::RParen) => Some(("()".into(), 2)),
        Some(Punct::LBracket) if look.is(1, Punct::RBracket) => Some(("[]".into(), 2)),
        Some(Punct::LParen | Punct::LBracket | Punct::Semi | Punct::RParen) => None,
        Some(punct) => Some((punct.text().to_string(), 1)),
        None => {
            let word = match look.keyword(0) {
                Some(Keyword::New) => " new",
                Some(Keyword::Delete) => " delete",
                _ => return Some((" conversion".into(), 0)),
            };
            match look.punct(1) == Some(Punct::LBracket) && look.is(2, Punct::RBracket) {
                true => Some((format!("{word}[]"), 3)),
                false => Some((word.into(), 1)),
            }
        }
    }
}

/// A reserved word where a name could be is a slip; anything else means that there is no name.
fn reserved(
    inp: &mut At<'_, '_>,
    look: Ahead<'_>,
) -> Result<Option<Name>, super::recover::Failure> {
    match look.keyword(0) {
        Some(Keyword::Pragma) | None => Ok(None),
        Some(_)
            if matches!(
                look.punct(1),
                Some(Punct::Eq | Punct::Semi | Punct::Comma | Punct::LBracket | Punct::RParen)
            ) =>
        {
            fail(inp, Expected::Name)
        }
        Some(_) => Ok(None),
    }
}

fn begins_pointer(look: Ahead<'_>) -> bool {
    matches!(
        look.punct(0),
        Some(Punct::Star | Punct::Amp | Punct::AmpAmp)
    )
}

/// `**const`, as the parts of a declarator.
pub(super) fn pointers<'t>() -> P<'t, Vec<DeclaratorPart>> {
    repeat_while(begins_pointer, pointer())
        .map(|pointers| pointers.into_iter().rev().collect())
        .boxed()
}

/// `*const __restrict__`, `&`.
fn pointer<'t>() -> P<'t, DeclaratorPart> {
    production(|inp| {
        let look = ahead(inp);
        inp.skip();
        let place = inp.state().place(look.at);
        match look.punct(0) {
            Some(Punct::Amp) => return Ok(DeclaratorPart::Reference(place)),
            Some(Punct::AmpAmp) => return Ok(DeclaratorPart::RvalueReference(place)),
            _ => {}
        }
        let (mut is_const, mut is_volatile, mut is_restrict) = (false, false, false);
        loop {
            match ahead(inp).keyword(0) {
                Some(Keyword::Const) => is_const = true,
                Some(Keyword::Volatile) => is_volatile = true,
                Some(Keyword::Restrict) => is_restrict = true,
                _ => {
                    return Ok(DeclaratorPart::Pointer {
                        is_const,
                        is_volatile,
                        is_restrict,
                    });
                }
            }
            inp.skip();
        }
    })
}

fn begins_suffix(look: Ahead<'_>) -> bool {
    match look.punct(0) {
        Some(Punct::LBracket) => true,
        Some(Punct::LParen) => begins_params(look),
        _ => false,
    }
}

fn suffix<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
    declarator: P<'t, Declared>,
) -> P<'t, Part> {
    let size = when(|look| !look.is(0, Punct::RBracket), element.clone());
    let array = brackets(size)
        .map_with(|size, extra| Part {
            part: DeclaratorPart::Array(size.map(Box::new), whole(extra)),
            variadic: false,
        })
        .boxed();
    let params = params(element, specifiers, declarator)
        .map_with(|(params, variadic), extra| Part {
            part: DeclaratorPart::Function(params, whole(extra)),
            variadic,
        })
        .boxed();
    either(at(Punct::LBracket), array, params).boxed()
}

/// The parameters of a function that has no declarator.
pub(super) fn parameters<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, DeclaratorPart> {
    let declarator = declarator(element.clone(), specifiers.clone());
    params(element, specifiers, declarator)
        .map_with(|(params, _), extra| DeclaratorPart::Function(params, whole(extra)))
        .boxed()
}

/// `(const float *a, int n, ...)`; `(void)` is none.
fn params<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
    declarator: P<'t, Declared>,
) -> P<'t, (Vec<Param>, bool)> {
    let param = param(element, specifiers, declarator).map(Some);
    let ellipsis = punct(Punct::Ellipsis).to(None);
    let entry = either(at(Punct::Ellipsis), ellipsis, param);
    let entries = list(entry, Punct::RParen, false)
        .then_ignore(before(Punct::RParen, Expected::CommaOr(Punct::RParen)));
    let entries = recovered(entries, bracket_end, |_| Vec::new());
    let nothing = when(
        |look| look.is_word(0, Keyword::Void) && look.is(1, Punct::RParen),
        word(Keyword::Void),
    );
    parens(nothing.ignore_then(entries))
        .map(|entries| {
            let variadic = matches!(entries.last(), Some(None));
            (entries.into_iter().flatten().collect(), variadic)
        })
        .boxed()
}

/// `__restrict__ float *a`.
fn param<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
    declarator: P<'t, Declared>,
) -> P<'t, Param> {
    let default = after(Punct::Eq, element.map(Arc::new));
    // `Ts... rest`, `const Ts &...rest`: the dots are taken out of the declarator before it is read.
    let pack = pointers()
        .then_ignore(punct(Punct::Ellipsis))
        .then(optional_name());
    let declared = custom_clone(move |inp| {
        if dots_ahead(ahead(inp)) {
            let start = here(inp);
            let (parts, name) = inp.parse(&pack)?;
            return Ok((Declarator::new(name, parts, since(inp, start)), true));
        }
        Ok((inp.parse(&declarator)?.declarator, false))
    });
    specifiers
        .then(declared)
        .then(default)
        .map_with(|((specifiers, (declarator, is_pack)), default), extra| {
            reject_spaces(&specifiers, extra.state());
            Param {
                specifiers,
                declarator,
                default,
                is_pack,
                span: whole(extra),
            }
        })
        .boxed()
}

/// Pointers and references, then dots.
fn dots_ahead(look: Ahead<'_>) -> bool {
    let mut n = 0;
    while matches!(
        look.punct(n),
        Some(Punct::Star | Punct::Amp | Punct::AmpAmp)
    ) || matches!(
        look.keyword(n),
        Some(Keyword::Const | Keyword::Restrict | Keyword::Volatile)
    ) {
        n += 1;
    }
    look.is(n, Punct::Ellipsis)
}

/// A parameter has no memory space of its own.
fn reject_spaces(specifiers: &Specifiers, state: &mut State<'_>) {
    for (word, space) in [
        (SpecifierWord::Shared, Keyword::Shared),
        (SpecifierWord::Constant, Keyword::Constant),
        (SpecifierWord::Global, Keyword::Global),
        (SpecifierWord::Device, Keyword::Device),
    ] {
        if let Some(span) = specifiers.word(word) {
            state.report(span, SyntaxError::SpaceOnParameter { space });
        }
    }
}

/// `= e`, `= { … }`, `(a, b)`.
pub(super) fn init<'t>(element: P<'t, Expr>) -> P<'t, Init> {
    let list = init_items(element.clone())
        .map_with(spanned)
        .map(Init::List);
    let construct = arguments(element.clone())
        .map_with(spanned)
        .map(Init::Construct);
    let value = element.map(Init::Expr);
    let assigned =
        when(at(Punct::Eq), punct(Punct::Eq)).ignore_then(either(at(Punct::LBrace), list, value));
    either(at(Punct::LParen), construct, assigned).boxed()
}

/// A declarator and its initialiser.
pub(super) fn init_declarator<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, (InitDeclarator, bool)> {
    let begins_init = |look: Ahead<'_>| {
        matches!(
            look.punct(0),
            Some(Punct::Eq | Punct::LParen | Punct::LBrace)
        )
    };
    let declarator = declarator(element.clone(), specifiers);
    let init = when(begins_init, init(element)).boxed();
    production(move |inp| {
        let start = here(inp);
        let (declared, bindings) = match super::binding::bindings(inp)? {
            Some(found) => found,
            None => (inp.parse(&declarator)?, Vec::new()),
        };
        let Declared {
            declarator,
            variadic,
        } = declared;
        if declarator.name.is_none() {
            return fail(inp, Expected::Name);
        }
        // The `{` after a function's parameters is its body.
        let init = match declarator.is_function() {
            true => None,
            false => inp.parse(&init)?,
        };
        let span = since(inp, start);
        let declared = InitDeclarator {
            init,
            bindings,
            ..InitDeclarator::new(declarator, span)
        };
        Ok((declared, variadic))
    })
}

/// `unsigned tid = threadIdx.x, n`, without its end.
fn declarators<'t>() -> P<'t, Declaration> {
    let specifiers = ty::specifiers();
    let declarator = init_declarator(super::expr::element(), specifiers.clone())
        .map(|(declarator, _)| declarator);
    specifiers
        .then(declarator_list(declarator))
        .map_with(|(specifiers, declarators), extra| Declaration {
            specifiers,
            declarators,
            span: whole(extra),
        })
        .boxed()
}

/// `a, *b`; nothing where a type stands alone.
pub(super) fn declarator_list<'t, O: 't>(
    declarator: impl Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't,
) -> impl Parser<'t, In<'t>, Vec<O>, Ex<'t>> + Clone + 't {
    let some = list(declarator, Punct::Semi, false);
    when(|look| !look.is_after_body(), some).map(Option::unwrap_or_default)
}

/// `using name = type;` is `typedef type name;`.
pub(super) fn typedef(
    name: Name,
    mut specifiers: Specifiers,
    mut declarator: Declarator,
    span: Span,
) -> Declaration {
    let word = Spanned::new(SpecifierWord::Typedef, name.span);
    specifiers.words.push(word);
    declarator.name = Some(name);
    Declaration {
        specifiers,
        declarators: vec![InitDeclarator::new(declarator, span)],
        span,
    }
}

/// `unsigned tid = threadIdx.x, n;`
pub(super) fn declaration<'t>() -> P<'t, Declaration> {
    declarators()
        .then_ignore(stmt::semicolon())
        .map_with(|declaration, extra| Declaration {
            span: whole(extra),
            ..declaration
        })
        .boxed()
}

/// The declaration of a `for`, whose `;` is the header's.
pub(super) fn for_declaration<'t>() -> P<'t, Declaration> {
    declarators()
}
