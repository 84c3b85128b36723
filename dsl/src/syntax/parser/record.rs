//! `struct`, `class`, `union` and `enum`, with their members. Unsupported C++ is read and named, so that it costs only one message.

use chumsky::{input::MapExtra, prelude::*};

use super::{
    decl,
    function::{Functions, function, special},
    kit::{
        At, Ex, In, P, Production, State, after, ahead, angles, at, before, block, by_hand, choose,
        closing, either, fail, flag_word, list, name, path_name, position, punct, read,
        repeat_while, since, skipped, spanned, take, when, whole, word,
    },
    lookahead::{Ahead, path_ahead, scoped_name},
    primary::arguments,
    recover::{Failure, construct_end, recovered, statement_end},
    stmt,
    template::static_assert,
};
use crate::syntax::{
    ast::{
        Access, Base, Declaration, Declarator, EnumSpecifier, Expr, Function, InitDeclarator, Item,
        Member, MethodKind, Name, RecordSpecifier, SpecifierWord, Specifiers, Template,
        TemplateArg, TypeSpecifier,
    },
    message::parse::{Expected, SyntaxError},
    token::{Keyword, Punct, TokenKind},
};
use ir::span::{Span, Spanned};

/// `struct __align__(8) S : Base { float x, y; void f() { … } }`.
pub(super) fn record<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, RecordSpecifier> {
    let keyword = read(Expected::Nothing, |next| Some((next.keyword(0)?, 1)));
    let align = skipped(|_| 1).ignore_then(arguments(element.clone()));
    let aligns = repeat_while(super::ty::begins_alignment, align);
    let type_name = super::ty::type_name_of(element.clone(), specifiers.clone());
    let argument = super::path::argument(element.clone(), type_name).boxed();
    let args = when(at(Punct::AngleOpen), angles(argument.clone())).boxed();
    let is_final = |next: Ahead<'_>| {
        next.is_text(0, "final") && matches!(next.punct(1), Some(Punct::LBrace | Punct::Colon))
    };
    let finality = skipped(move |next| usize::from(is_final(next)));
    let head = keyword
        .then(aligns)
        .then(tag())
        .then(args)
        .then_ignore(finality)
        .then(bases(argument))
        .map_with(|((((keyword, aligns), name), args), bases), extra| {
            let class = name
                .as_ref()
                .map_or_else(|| "".into(), |name| name.node.clone());
            extra.state().classes.push(class);
            RecordSpecifier {
                is_union: keyword == Keyword::Union,
                is_class: keyword == Keyword::Class,
                name,
                args,
                bases,
                members: None,
                align: aligns.into_iter().flatten().next_back().map(Box::new),
            }
        })
        .boxed();
    // The class is open from here on; if its members fail, recovery closes it.
    let members = when(
        at(Punct::LBrace),
        block(member(element, specifiers)).boxed(),
    );
    head.then(members)
        .map_with(|(record, members), extra| {
            extra.state().classes.pop();
            RecordSpecifier {
                members: members.map(|members| members.into_iter().flatten().collect()),
                ..record
            }
        })
        .boxed()
}

/// The name after `struct` or `enum`; it may be absent before a body.
fn tag<'t>() -> impl Production<'t, Option<Name>> {
    let unnamed = before(Punct::LBrace, Expected::NameOr(Punct::LBrace)).to(None);
    either(|next| next.is_name(0), name().map(Some), unnamed)
}

/// `: public Base, Other<T>`; the arguments are read by `argument`.
fn bases<'t>(argument: impl Production<'t, TemplateArg>) -> impl Production<'t, Vec<Base>> {
    let inheritance = word(Keyword::Virtual).map_with(|(), extra| {
        let construct = "virtual inheritance";
        let span = whole(extra);
        extra
            .state()
            .report(span, SyntaxError::Unsupported { construct });
        None
    });
    let access = read(Expected::Nothing, |next| {
        Some((access_word(next.keyword(0)?)?, 1))
    });
    let words = inheritance.or(access.map(Some)).repeated().collect();
    let templated = super::path::path(argument).map(|path| TypeSpecifier::Path(Box::new(path)));
    let plain = path_name(Expected::BaseClass).map(|name| TypeSpecifier::Named(name.node));
    let ty = either(|next| path_ahead(next).is_some(), templated, plain).map_with(spanned);
    let base = words
        .then_ignore(flag_word(Keyword::Typename))
        .then(ty)
        .map(|(words, ty): (Vec<Option<Access>>, _)| Base {
            access: words.into_iter().flatten().next_back(),
            ty,
        });
    // `struct S : 3` is not an unnamed bit-field: a bit-field's type cannot be a struct.
    after(Punct::Colon, list(base, Punct::LBrace, false)).map(Option::unwrap_or_default)
}

fn access_word(keyword: Keyword) -> Option<Access> {
    Some(match keyword {
        Keyword::Public => Access::Public,
        Keyword::Protected => Access::Protected,
        Keyword::Private => Access::Private,
        _ => return None,
    })
}

/// Data, a function, `public:`, a friend; or something that is reported and omitted.
fn member<'t>(element: P<'t, Expr>, specifiers: P<'t, Specifiers>) -> P<'t, Option<Member>> {
    let plain = plain_member(element, specifiers.clone()).boxed();
    let access = read(Expected::Nothing, |next| {
        Some((access_word(next.keyword(0)?)?, 2))
    });
    let foreign = read(Expected::Nothing, foreign_member)
        .map_with(unsupported)
        .map(|()| None);
    let member = choose!(|next| next.keyword(words_before_friend(next));
        None if next.is(0, Punct::Semi) => nothing: punct(Punct::Semi).to(None),
        Some(Keyword::Friend) => friend: friend(plain.clone()),
        Some(word) if next.is(1, Punct::Colon) && access_word(word).is_some() =>
            access: access.map(|access| Some(Member::Access(access))),
        Some(Keyword::Using) if next.is(2, Punct::Eq) => alias: alias(specifiers).map(Some),
        Some(Keyword::StaticAssert) => assertion:
            static_assert().map(|assertion| Some(Member::StaticAssert(assertion))),
        Some(Keyword::Template) if next.is(1, Punct::AngleOpen) => template: template(plain.clone()),
        _ if foreign_member(next).is_some() => foreign: foreign,
        _ => plain: plain,
    );
    recovered(member, statement_end, |_| None).boxed()
}

/// `friend class A;`, or a function that is defined or declared here.
fn friend<'t>(plain: P<'t, Option<Member>>) -> impl Production<'t, Option<Member>> {
    let words = read(Expected::Nothing, |next| {
        let word = |n| next.keyword(n).and_then(super::ty::specifier_word);
        let n = words_before_friend(next);
        let words: Vec<SpecifierWord> = (0..n).filter_map(word).collect();
        Some((words, n))
    });
    let words = words.map_with(|words, extra| {
        let at = extra.span().start;
        let place = |(n, word)| Spanned::new(word, extra.state().place(at + n));
        words.into_iter().enumerate().map(place).collect::<Vec<_>>()
    });
    let class = word(Keyword::Class).or(word(Keyword::Struct)).or_not();
    let class = class
        .ignore_then(path_name(Expected::Name))
        .then_ignore(punct(Punct::Semi))
        .map(|name| Some(Member::FriendClass(name)));
    let function = plain.map(|member| match member {
        Some(Member::Function(function)) => Some(Member::FriendFunction(function)),
        other => other,
    });
    words
        .then_ignore(word(Keyword::Friend))
        .then(either(names_friend_class, class, function))
        .map(|(words, mut member)| {
            if let Some(Member::FriendFunction(function)) = &mut member {
                function.specifiers.words.extend(words);
            }
            member
        })
}

/// `class A;`, `A;`.
fn names_friend_class(next: Ahead<'_>) -> bool {
    let is_class = matches!(next.keyword(0), Some(Keyword::Class | Keyword::Struct));
    let n = usize::from(is_class);
    scoped_name(next.past(n)).is_some_and(|(_, m, _)| next.is(n + m, Punct::Semi))
}

/// `template <typename T> void f() { … }`.
fn template<'t>(plain: P<'t, Option<Member>>) -> impl Production<'t, Option<Member>> {
    let head = super::template::head().map_with(|kind, extra| {
        let tokens: SimpleSpan = extra.span();
        (kind, whole(extra), tokens)
    });
    head.then(plain)
        .map_with(|((kind, span, tokens), member), extra| match member {
            Some(Member::Function(function)) => {
                let item = Item::Function(function);
                Some(Member::Template(Box::new(Template { kind, item, span })))
            }
            Some(_) | None => {
                let construct = "a member template that is no function";
                let span = shown(extra.state(), tokens);
                extra
                    .state()
                    .report(span, SyntaxError::Unsupported { construct });
                None
            }
        })
}

/// How many words precede `friend`, as in `__host__ __device__ friend`, if there is one.
fn words_before_friend(next: Ahead<'_>) -> usize {
    let is_word = |n: &usize| {
        next.keyword(*n)
            .and_then(super::ty::specifier_word)
            .is_some()
    };
    let n = (0..).take_while(is_word).count();
    match next.is_word(n, Keyword::Friend) {
        true => n,
        false => 0,
    }
}

/// `using T = int;` is `typedef int T;`.
fn alias<'t>(specifiers: P<'t, Specifiers>) -> impl Production<'t, Member> {
    word(Keyword::Using)
        .ignore_then(name())
        .then_ignore(punct(Punct::Eq))
        .then(specifiers.then(decl::pointers()))
        .then_ignore(stmt::semicolon())
        .map_with(|(name, (specifiers, parts)), extra| {
            let declarator = Declarator::new(None, parts, name.span);
            let declaration = decl::typedef(name, specifiers, declarator, whole(extra));
            Member::Declaration(declaration)
        })
}

/// Data with its initial value or its width, or a function with its body.
fn plain_member<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> impl Production<'t, Option<Member>> {
    let declarator = decl::init_declarator(element.clone(), specifiers.clone());
    let width = after(Punct::Colon, element.clone()).boxed();
    let functions = Functions::new(element, specifiers.clone());
    let semicolon = stmt::semicolon();
    // By hand: only the declarator shows whether it is a function.
    by_hand(move |inp| {
        let start = position(inp);
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
            ahead(inp).is(0, Punct::Semi) || (position(inp) > start && ahead(inp).is_after_body());
        let mut goes_on = !stands_alone;
        while goes_on {
            let (mut declared, variadic) =
                if ahead(inp).is(0, Punct::Colon) && declarators.is_empty() {
                    // `int : 3;` is padding.
                    let at = position(inp);
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
    function.body = inp.parse(&functions.body)?;
    if function.body.is_none() {
        inp.parse(stmt::semicolon())?;
    }
    Ok(Some(Member::Function(function)))
}

/// Unsupported members of C++, and how many tokens they take.
fn foreign_member(next: Ahead<'_>) -> Option<(&'static str, usize)> {
    use Keyword::*;
    let construct = match next.keyword(0)? {
        Template => "a member template",
        Using => "`using` in a class",
        _ => return None,
    };
    Some((construct, construct_end(next)))
}

/// Reports the construct that was just read; its first tokens are shown.
fn unsupported<'t>(construct: &'static str, extra: &mut MapExtra<'t, '_, In<'t>, Ex<'t>>) {
    let tokens: SimpleSpan = extra.span();
    let span = shown(extra.state(), tokens);
    extra
        .state()
        .report(span, SyntaxError::Unsupported { construct });
}

fn shown(state: &State<'_>, tokens: SimpleSpan) -> Span {
    state.span(tokens.start, tokens.end.min(tokens.start + 8))
}

/// `enum E { A, B = 2 }`, `enum class E : unsigned char { A }`.
pub(super) fn enumeration<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, EnumSpecifier> {
    let is_scoped = word(Keyword::Class)
        .or(word(Keyword::Struct))
        .or_not()
        .map(|word| word.is_some());
    let name = either(at(Punct::Colon), empty().to(None), tag());
    // In a struct, `enum E : 3` is a bit-field.
    let begins_underlying = |next: Ahead<'_>| {
        next.is(0, Punct::Colon) && !matches!(next.kind(1), Some(TokenKind::Int { .. }))
    };
    let underlying = when(
        begins_underlying,
        punct(Punct::Colon).ignore_then(specifiers.map(Box::new)),
    );
    let close = closing(Punct::RBrace, Expected::CommaOr(Punct::RBrace));
    let enumerator = self::name().then(after(Punct::Eq, element));
    let enumerators =
        list(enumerator, Punct::RBrace, true).delimited_by(punct(Punct::LBrace), close);
    word(Keyword::Enum)
        .ignore_then(is_scoped)
        .then(name)
        .then(underlying)
        .then(when(at(Punct::LBrace), enumerators))
        .map(
            |(((is_scoped, name), underlying), enumerators)| EnumSpecifier {
                is_scoped,
                underlying,
                name,
                enumerators,
            },
        )
        .boxed()
}
