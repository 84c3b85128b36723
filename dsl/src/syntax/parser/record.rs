//! `struct`, `class`, `union` and `enum`, with their members. What is not supported of C++ is read and named, so that one
//! message is all it costs.

use chumsky::prelude::*;

use super::{
    decl,
    kit::{
        Ahead, At, P, ahead, at, closing, custom_clone, fail, list, name, path, punct,
        repeat_while, skip, special_name, when, whole,
    },
    path::path_ahead,
    primary::arguments,
    recover::{What, construct_end, recovered, statement_end},
    stmt,
};
use crate::{
    diagnostic::{Code, Diagnostic},
    span::{Span, Spanned},
    syntax::{
        ast::{
            Access, Base, Declaration, Declarator, DeclaratorPart, EnumSpecifier, Expr,
            InitDeclarator, Item, Member, Method, MethodKind, Name, RecordSpecifier, SpecifierWord,
            Specifiers, Template, TemplateArg, TypeName, TypeSpecifier,
        },
        token::{Keyword, Punct, TokenKind},
    },
};

/// `struct __align__(8) S : Base { float x, y; void f() { … } }`.
pub(super) fn record<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, RecordSpecifier> {
    let arguments = arguments(element.clone());
    let tag = tag("a name or `{`");
    let type_name = specifiers
        .clone()
        .then(decl::declarator(element.clone(), specifiers.clone()))
        .map_with(|(specifiers, declared), extra| TypeName {
            specifiers,
            declarator: declared.declarator,
            span: whole(extra),
        });
    let argument = super::path::argument(element.clone(), type_name.boxed());
    let bases = bases(argument.clone());
    let specialised = when(at(Punct::AngleOpen), super::path::arguments(argument)).boxed();
    let members = repeat_while(
        |look: Ahead<'_>| look.kind(0).is_some() && !look.is(0, Punct::RBrace),
        member(element, specifiers),
    )
    .map(|members| members.into_iter().flatten().collect::<Vec<Member>>())
    .delimited_by(punct(Punct::LBrace), punct(Punct::RBrace))
    .boxed();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let keyword = ahead(inp).keyword(0);
        inp.skip();
        let mut align = None;
        loop {
            let look = ahead(inp);
            match look.kind(0) {
                Some(TokenKind::Keyword(Keyword::Align)) => {}
                Some(TokenKind::Ident(text))
                    if &**text == "alignas" && look.is(1, Punct::LParen) => {}
                _ => break,
            }
            inp.skip();
            align = inp.parse(&arguments)?.pop().map(Box::new);
        }
        let name = inp.parse(&tag)?;
        let args = inp.parse(&specialised)?;
        if matches!(ahead(inp).kind(0), Some(TokenKind::Ident(word)) if &**word == "final")
            && matches!(ahead(inp).punct(1), Some(Punct::LBrace | Punct::Colon))
        {
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
    .boxed()
}

/// The name after `struct` or `enum`; it may be absent before a body.
fn tag<'t>(phrase: &'static str) -> P<'t, Option<Name>> {
    let name = name();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        if look.is_ident(0) || look.is_type_name(0) {
            return inp.parse(name).map(Some);
        }
        if look.is(0, Punct::LBrace) {
            Ok(None)
        } else {
            inp.parse(closing(Punct::LBrace, phrase)).map(|()| None)
        }
    })
    .boxed()
}

/// `: public Base, Other<T>`; the arguments are read by `argument`.
fn bases<'t>(argument: P<'t, TemplateArg>) -> P<'t, Vec<Base>> {
    let templated = super::path::path(argument);
    custom_clone(move |inp: &mut At<'t, '_>| {
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
            if ahead(inp).is_word(0, Keyword::Typename) {
                inp.skip();
            }
            let look = ahead(inp);
            let node = if path_ahead(look).is_some() {
                TypeSpecifier::Path(Box::new(inp.parse(&templated)?))
            } else {
                let Some((text, n, _)) = path(look) else {
                    return fail(inp, What::Phrase("the name of a base class"));
                };
                skip(inp, n);
                TypeSpecifier::Named(text)
            };
            let stop = ahead(inp).at;
            let ty = Spanned::new(node, inp.state().span(look.at, stop));
            bases.push(Base { access, ty });
            if !ahead(inp).is(0, Punct::Comma) {
                return Ok(bases);
            }
        }
    })
    .boxed()
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
    let member = custom_clone(move |inp: &mut At<'t, '_>| {
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
                if let Some((text, m, _)) = path(ahead(inp).past(n))
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
            let stop = ahead(inp).at;
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
    custom_clone(move |inp: &mut At<'t, '_>| {
        let start = ahead(inp).at;
        inp.skip();
        let name = inp.parse(name())?;
        inp.skip();
        let (mut specifiers, parts) = inp.parse(&ty)?;
        let stop = ahead(inp).at;
        let span = inp.state().span(start, stop);
        specifiers
            .words
            .push(Spanned::new(SpecifierWord::Typedef, name.span));
        let declarator = Declarator {
            span: name.span,
            name: Some(name),
            args: None,
            parts,
        };
        Ok(Member::Declaration(Declaration {
            specifiers,
            declarators: vec![InitDeclarator {
                bindings: Vec::new(),
                declarator,
                init: None,
                width: None,
                span,
            }],
            span,
        }))
    })
    .boxed()
}

/// Data with its first value or its width, or a function with its body.
fn plain_member<'t>(element: P<'t, Expr>, specifiers: P<'t, Specifiers>) -> P<'t, Option<Member>> {
    let declarator = decl::init_declarator(element.clone(), specifiers.clone());
    let width = punct(Punct::Colon).ignore_then(element.clone()).boxed();
    let tail = decl::method_tail(element.clone());
    let result = super::ty::type_name(element);
    let conversion = super::item::conversion_of(specifiers.clone());
    let semicolon = stmt::semicolon();
    let body = stmt::body();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let start = ahead(inp).at;
        let mut parsed = inp.parse(&specifiers)?;
        let kind = {
            let look = ahead(inp);
            let is_first = matches!(parsed.ty.node, TypeSpecifier::Void);
            special_name(look, &inp.state().classes).filter(|_| is_first)
        };
        let (function, variadic) = if kind == Some(MethodKind::Conversion) {
            let mut function = inp.parse(&conversion)?;
            super::item::take_conversion(&mut function, &mut parsed);
            (Some(function), false)
        } else if ahead(inp).is(0, Punct::Semi)
            || (ahead(inp).at > start && ahead(inp).is_after_body())
        {
            inp.parse(&semicolon)?;
            let stop = ahead(inp).at;
            let span = inp.state().span(start, stop);
            return Ok(Some(Member::Declaration(Declaration {
                specifiers: parsed,
                declarators: Vec::new(),
                span,
            })));
        } else {
            let (mut first, variadic) = if ahead(inp).is(0, Punct::Colon) {
                // `int : 3;` is padding.
                let at = ahead(inp).at;
                let span = inp.state().place(at);
                let declarator = Declarator {
                    name: None,
                    args: None,
                    parts: Vec::new(),
                    span,
                };
                (
                    InitDeclarator {
                        bindings: Vec::new(),
                        declarator,
                        init: None,
                        width: None,
                        span,
                    },
                    false,
                )
            } else {
                inp.parse(&declarator)?
            };
            let is_function = matches!(
                first.declarator.parts.first(),
                Some(DeclaratorPart::Function(..))
            );
            if is_function {
                let stop = ahead(inp).at;
                let span = inp.state().span(start, stop);
                let words = parsed.clone();
                let method = Method::default();
                (
                    Some(super::item::function(
                        words,
                        first.declarator,
                        variadic,
                        None,
                        method,
                        span,
                    )),
                    variadic,
                )
            } else {
                let mut declarators = Vec::new();
                loop {
                    if ahead(inp).is(0, Punct::Colon) {
                        first.width = Some(Box::new(inp.parse(&width)?));
                        if ahead(inp).is(0, Punct::Eq) {
                            return fail(inp, What::Punct(Punct::Semi));
                        }
                    }
                    declarators.push(first);
                    if !ahead(inp).is(0, Punct::Comma) {
                        break;
                    }
                    inp.skip();
                    first = inp.parse(&declarator)?.0;
                }
                inp.parse(&semicolon)?;
                let stop = ahead(inp).at;
                let span = inp.state().span(start, stop);
                return Ok(Some(Member::Declaration(Declaration {
                    specifiers: parsed,
                    declarators,
                    span,
                })));
            }
        };
        let Some(mut function) = function else {
            return Ok(None);
        };
        function.specifiers = parsed;
        function.variadic = variadic;
        function.method = inp.parse(&tail)?;
        function.method.kind = kind.unwrap_or_default();
        let (specifiers, parts) = (&mut function.specifiers, &mut function.declarator.parts);
        super::item::trailing_result(inp, &result, specifiers, parts)?;
        if ahead(inp).is(0, Punct::LBrace) {
            let outside = std::mem::take(&mut inp.state().classes);
            let parsed = inp.parse(&body);
            inp.state().classes = outside;
            function.body = Some(parsed?);
        } else {
            inp.parse(&semicolon)?;
        }
        Ok(Some(Member::Function(function)))
    })
    .boxed()
}

/// C++ members that are not read, and how many tokens they take.
fn foreign_member(look: Ahead<'_>) -> Option<(&'static str, usize)> {
    use Keyword::*;
    match look.kind(0)? {
        TokenKind::Keyword(Template) => Some(("a member template", construct_end(look))),
        TokenKind::Keyword(Virtual) => Some(("a virtual function", construct_end(look))),
        TokenKind::Keyword(Using) => Some(("`using` in a class", construct_end(look))),
        TokenKind::Keyword(_) => {
            // `__device__ virtual void f()`.
            let mut n = 1;
            while matches!(look.keyword(n), Some(Device | Host | Inline | Forceinline)) {
                n += 1;
            }
            look.is_word(n, Virtual)
                .then(|| ("a virtual function", construct_end(look)))
        }
        _ => None,
    }
}

fn unsupported(inp: &mut At<'_, '_>, start: usize, stop: usize, construct: &str) {
    let stop = stop.min(start + 8);
    let span: Span = inp.state().span(start, stop);
    inp.state().diagnostics.push(Diagnostic::error(
        Code::UnsupportedSyntax,
        span,
        format!("{construct} is not supported"),
    ));
}

/// `enum E { A, B = 2 }`, `enum class E : unsigned char { A }`.
pub(super) fn enumeration<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, EnumSpecifier> {
    let value = when(
        |look| look.is(0, Punct::Eq),
        punct(Punct::Eq).ignore_then(element),
    );
    let enumerators = list(name().then(value), Punct::RBrace, true)
        .delimited_by(punct(Punct::LBrace), closing(Punct::RBrace, "`,` or `}`"))
        .boxed();
    let tag = tag("a name or `{`");
    custom_clone(move |inp: &mut At<'t, '_>| {
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
    .boxed()
}
