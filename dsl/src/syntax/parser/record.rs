//! `struct`, `class`, `union` and `enum`, with their members. What is not supported of C++ is read and named, so that one
//! message is all it costs.

use chumsky::prelude::*;

use super::{
    decl,
    function::{Functions, function, special},
    kit::{
        At, P, after, ahead, angles, at, before, block, closing, custom_clone, either, fail, here,
        list, name, production, punct, since, skip, take, take_word, when,
    },
    lookahead::{Ahead, path_ahead, scoped_name},
    primary::arguments,
    recover::{Failure, construct_end, recovered, statement_end},
    stmt,
};
use crate::{
    span::{Span, Spanned},
    syntax::{
        ast::{
            Access, Base, Declaration, Declarator, EnumSpecifier, Expr, Function, InitDeclarator,
            Item, Member, MethodKind, Name, RecordSpecifier, SpecifierWord, Specifiers, Template,
            TemplateArg, TypeSpecifier,
        },
        message::parse::{Expected, SyntaxError},
        token::{Keyword, Punct, TokenKind},
    },
};

/// `struct __align__(8) S : Base { float x, y; void f() { … } }`.
pub(super) fn record<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, RecordSpecifier> {
    let arguments = arguments(element.clone());
    let tag = tag();
    let type_name = super::ty::type_name_of(element.clone(), specifiers.clone());
    let argument = super::path::argument(element.clone(), type_name);
    let bases = bases(argument.clone());
    let specialised = when(at(Punct::AngleOpen), angles(argument)).boxed();
    let members = block(member(element, specifiers))
        .map(|members| members.into_iter().flatten().collect::<Vec<Member>>())
        .boxed();
    production(move |inp| {
        let keyword = ahead(inp).keyword(0);
        inp.skip();
        let mut align = None;
        while super::ty::begins_alignment(ahead(inp)) {
            inp.skip();
            align = inp.parse(&arguments)?.pop().map(Box::new);
        }
        let name = inp.parse(&tag)?;
        let args = inp.parse(&specialised)?;
        let look = ahead(inp);
        if look.is_text(0, "final") && matches!(look.punct(1), Some(Punct::LBrace | Punct::Colon)) {
            inp.skip();
        }
        let bases = inp.parse(&bases)?;
        let mut all = None;
        if ahead(inp).is(0, Punct::LBrace) {
            let class = name
                .as_ref()
                .map_or_else(|| "".into(), |name| name.node.clone());
            inp.state().classes.push(class);
            let n_open = inp.state().classes.len();
            let parsed = inp.parse(&members);
            inp.state().classes.truncate(n_open - 1);
            all = Some(parsed?);
        }
        Ok(RecordSpecifier {
            is_union: keyword == Some(Keyword::Union),
            is_class: keyword == Some(Keyword::Class),
            name,
            args,
            bases,
            members: all,
            align,
        })
    })
}

/// The name after `struct` or `enum`; it may be absent before a body.
fn tag<'t>() -> P<'t, Option<Name>> {
    let unnamed = before(Punct::LBrace, Expected::NameOr(Punct::LBrace)).to(None);
    either(|look| look.is_name(0), name().map(Some), unnamed).boxed()
}

/// `: public Base, Other<T>`; the arguments are read by `argument`.
fn bases<'t>(argument: P<'t, TemplateArg>) -> P<'t, Vec<Base>> {
    let templated = super::path::path(argument);
    production(move |inp| {
        let mut bases = Vec::new();
        // A bit-field of a struct without a body, `struct S : 3`, does not exist.
        if !ahead(inp).is(0, Punct::Colon) {
            return Ok(bases);
        }
        loop {
            inp.skip();
            let mut access = None;
            loop {
                let look = ahead(inp);
                match look.keyword(0) {
                    Some(Keyword::Virtual) => {
                        unsupported(inp, look.at, look.at + 1, "virtual inheritance")
                    }
                    Some(keyword) if access_word(keyword).is_some() => {
                        access = access_word(keyword);
                    }
                    _ => break,
                }
                inp.skip();
            }
            take_word(inp, Keyword::Typename);
            let look = ahead(inp);
            let node = if path_ahead(look).is_some() {
                TypeSpecifier::Path(Box::new(inp.parse(&templated)?))
            } else {
                let Some((text, n, _)) = scoped_name(look) else {
                    return fail(inp, Expected::BaseClass);
                };
                skip(inp, n);
                TypeSpecifier::Named(text)
            };
            let ty = Spanned::new(node, since(inp, look.at));
            bases.push(Base { access, ty });
            if !ahead(inp).is(0, Punct::Comma) {
                return Ok(bases);
            }
        }
    })
}

fn access_word(keyword: Keyword) -> Option<Access> {
    Some(match keyword {
        Keyword::Public => Access::Public,
        Keyword::Protected => Access::Protected,
        Keyword::Private => Access::Private,
        _ => return None,
    })
}

/// Data, a function, `public:`, a friend; or something that is reported and left out.
fn member<'t>(element: P<'t, Expr>, specifiers: P<'t, Specifiers>) -> P<'t, Option<Member>> {
    let plain = plain_member(element, specifiers.clone());
    let alias = alias(specifiers);
    let head = super::template::head();
    let assertion = super::template::static_assert();
    let member = custom_clone(move |inp| {
        let words = words_before_friend(inp);
        let look = ahead(inp);
        match look.kind(0) {
            Some(TokenKind::Punct(Punct::Semi)) => {
                inp.skip();
                return Ok(None);
            }
            Some(&TokenKind::Keyword(keyword))
                if look.is(1, Punct::Colon) && access_word(keyword).is_some() =>
            {
                skip(inp, 2);
                return Ok(access_word(keyword).map(Member::Access));
            }
            Some(TokenKind::Keyword(Keyword::Friend)) => {
                inp.skip();
                let class = matches!(
                    ahead(inp).keyword(0),
                    Some(Keyword::Class | Keyword::Struct)
                );
                let n = usize::from(class);
                if let Some((text, m, _)) = scoped_name(ahead(inp).past(n))
                    && ahead(inp).is(n + m, Punct::Semi)
                {
                    let at = ahead(inp).at + n;
                    skip(inp, n + m + 1);
                    let span = inp.state().span(at, at + m);
                    return Ok(Some(Member::FriendClass(Spanned::new(text, span))));
                }
                return Ok(match inp.parse(&plain)? {
                    Some(Member::Function(mut function)) => {
                        function.specifiers.words.extend(words);
                        Some(Member::FriendFunction(function))
                    }
                    other => other,
                });
            }
            Some(TokenKind::Keyword(Keyword::Using)) if look.is(2, Punct::Eq) => {
                return inp.parse(&alias).map(Some);
            }
            Some(TokenKind::Keyword(Keyword::StaticAssert)) => {
                return Ok(Some(Member::StaticAssert(inp.parse(&assertion)?)));
            }
            _ => {}
        }
        if look.is_word(0, Keyword::Template) && look.is(1, Punct::AngleOpen) {
            let kind = inp.parse(&head)?;
            let stop = here(inp);
            let span = inp.state().span(look.at, stop);
            return match inp.parse(&plain)? {
                Some(Member::Function(function)) => {
                    let item = Item::Function(function);
                    Ok(Some(Member::Template(Box::new(Template {
                        kind,
                        item,
                        span,
                    }))))
                }
                _ => {
                    unsupported(inp, look.at, stop, "a member template that is no function");
                    Ok(None)
                }
            };
        }
        if let Some((construct, n)) = foreign_member(look) {
            unsupported(inp, look.at, look.at + n, construct);
            skip(inp, n);
            return Ok(None);
        }
        inp.parse(&plain)
    });
    recovered(member, statement_end, |_| None).boxed()
}

/// Takes the words before `friend`, as in `__host__ __device__ friend`, if it is there.
fn words_before_friend(inp: &mut At<'_, '_>) -> Vec<Spanned<SpecifierWord>> {
    let look = ahead(inp);
    let word = |n: usize| look.keyword(n).and_then(super::ty::specifier_word);
    let n = (0..).take_while(|&n| word(n).is_some()).count();
    if !look.is_word(n, Keyword::Friend) {
        return Vec::new();
    }
    let words = (0..n).filter_map(|at| {
        let span = inp.state().place(look.at + at);
        Some(Spanned::new(word(at)?, span))
    });
    let words = words.collect();
    skip(inp, n);
    words
}

/// `using T = int;` is `typedef int T;`.
fn alias<'t>(specifiers: P<'t, Specifiers>) -> P<'t, Member> {
    let ty = specifiers
        .then(decl::pointers())
        .then_ignore(stmt::semicolon())
        .boxed();
    production(move |inp| {
        let start = here(inp);
        inp.skip();
        let name = inp.parse(name())?;
        inp.skip();
        let (specifiers, parts) = inp.parse(&ty)?;
        let declarator = Declarator::new(None, parts, name.span);
        let span = since(inp, start);
        let declaration = decl::typedef(name, specifiers, declarator, span);
        Ok(Member::Declaration(declaration))
    })
}

/// Data with its first value or its width, or a function with its body.
fn plain_member<'t>(element: P<'t, Expr>, specifiers: P<'t, Specifiers>) -> P<'t, Option<Member>> {
    let declarator = decl::init_declarator(element.clone(), specifiers.clone());
    let width = after(Punct::Colon, element.clone()).boxed();
    let functions = Functions::new(element, specifiers.clone());
    let semicolon = stmt::semicolon();
    production(move |inp| {
        let start = here(inp);
        let mut words = inp.parse(&specifiers)?;
        let kind = special(inp, &words);
        if kind == Some(MethodKind::Conversion) {
            let mut function = functions.conversion(inp, words)?;
            let parts = &mut function.declarator.parts;
            functions.trailing_result(inp, &mut function.specifiers, parts)?;
            return finish(inp, &functions, function);
        }
        let mut declarators = Vec::new();
        let stands_alone =
            ahead(inp).is(0, Punct::Semi) || (here(inp) > start && ahead(inp).is_after_body());
        let mut goes_on = !stands_alone;
        while goes_on {
            let (mut declared, variadic) =
                if ahead(inp).is(0, Punct::Colon) && declarators.is_empty() {
                    // `int : 3;` is padding.
                    let at = here(inp);
                    let span = inp.state().place(at);
                    let declarator = Declarator::new(None, Vec::new(), span);
                    (InitDeclarator::new(declarator, span), false)
                } else {
                    inp.parse(&declarator)?
                };
            if declarators.is_empty() && declared.declarator.is_function() {
                let span = since(inp, start);
                let parts = &mut declared.declarator.parts;
                let method = functions.tail(inp, kind, &mut words, parts)?;
                let function = function(words, declared.declarator, variadic, method, span);
                return finish(inp, &functions, function);
            }
            declared.width = inp.parse(&width)?.map(Box::new);
            if declared.width.is_some() && ahead(inp).is(0, Punct::Eq) {
                return fail(inp, Expected::Punct(Punct::Semi));
            }
            declarators.push(declared);
            goes_on = take(inp, Punct::Comma);
        }
        inp.parse(&semicolon)?;
        Ok(Some(Member::Declaration(Declaration {
            specifiers: words,
            declarators,
            span: since(inp, start),
        })))
    })
}

/// `function` with its body or its `;`.
fn finish<'t>(
    inp: &mut At<'t, '_>,
    functions: &Functions<'t>,
    mut function: Function,
) -> Result<Option<Member>, Failure> {
    function.body = functions.body(inp)?;
    if function.body.is_none() {
        inp.parse(stmt::semicolon())?;
    }
    Ok(Some(Member::Function(function)))
}

/// C++ members that are not read, and how many tokens they take.
fn foreign_member(look: Ahead<'_>) -> Option<(&'static str, usize)> {
    use Keyword::*;
    // `__device__ virtual void f()`.
    let begins_virtual = || {
        let is_other =
            |&n: &usize| !matches!(look.keyword(n), Some(Device | Host | Inline | Forceinline));
        (1..)
            .find(is_other)
            .is_some_and(|n| look.is_word(n, Virtual))
    };
    let construct = match look.keyword(0)? {
        Template => "a member template",
        Using => "`using` in a class",
        Virtual => "a virtual function",
        _ if begins_virtual() => "a virtual function",
        _ => return None,
    };
    Some((construct, construct_end(look)))
}

fn unsupported(inp: &mut At<'_, '_>, start: usize, stop: usize, construct: &'static str) {
    let stop = stop.min(start + 8);
    let span: Span = inp.state().span(start, stop);
    inp.state()
        .report(span, SyntaxError::Unsupported { construct });
}

/// `enum E { A, B = 2 }`, `enum class E : unsigned char { A }`.
pub(super) fn enumeration<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, EnumSpecifier> {
    let value = after(Punct::Eq, element);
    let enumerators = list(name().then(value), Punct::RBrace, true)
        .delimited_by(
            punct(Punct::LBrace),
            closing(Punct::RBrace, Expected::CommaOr(Punct::RBrace)),
        )
        .boxed();
    let tag = tag();
    production(move |inp| {
        inp.skip();
        let is_scoped = matches!(
            ahead(inp).keyword(0),
            Some(Keyword::Class | Keyword::Struct)
        );
        if is_scoped {
            inp.skip();
        }
        let name = match ahead(inp).is(0, Punct::Colon) {
            true => None,
            false => inp.parse(&tag)?,
        };
        let mut underlying = None;
        let look = ahead(inp);
        // In a struct, `enum E : 3` is a bit-field.
        if look.is(0, Punct::Colon) && !matches!(look.kind(1), Some(TokenKind::Int { .. })) {
            inp.skip();
            underlying = Some(Box::new(inp.parse(&specifiers)?));
        }
        let mut all = None;
        if ahead(inp).is(0, Punct::LBrace) {
            all = Some(inp.parse(&enumerators)?);
        }
        Ok(EnumSpecifier {
            is_scoped,
            underlying,
            name,
            enumerators: all,
        })
    })
}
