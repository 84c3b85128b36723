//! Declarators, initialisers and declarations: `const float *__restrict__ a, b[4] = {1, 2}, (*f)(int);`.
//!
//! A declarator is read inside out. `int *a[4]` declares an array of pointers, `int (*a)[4]` a pointer to an array: suffixes bind tighter
//! than stars, and parentheses reverse that.

use std::sync::Arc;

use chumsky::prelude::*;

use super::{
    binding::{self, bindings},
    depth::nested,
    expr::init_items,
    kit::{
        P, Production, State, after, ahead, angles, at, before, brackets, by_hand, choose, either,
        expecting, flag, list, name, optional_name, parens, position, punct, read, repeat_while,
        since, spanned, then_if, unexpected, when, whole, word,
    },
    lookahead::{Ahead, begins_params, is_inner_declarator, qualified_text, template_arguments},
    path,
    primary::arguments,
    recover::{bracket_end, recovered},
    stmt, ty,
};
use crate::syntax::{
    ast::{
        Declaration, Declarator, DeclaratorPart, Expr, Init, InitDeclarator, Name, Param,
        SpecifierWord, Specifiers, TemplateArg,
    },
    message::parse::{Expected, SyntaxError},
    token::{Keyword, Punct, TokenKind},
};
use ir::span::{Span, Spanned};

/// A declarator, with the facts that the tree stores elsewhere.
#[derive(Clone)]
pub(super) struct Declared {
    pub(super) declarator: Declarator,
    /// Whether the parameters of the function that it declares end in `...`.
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
        let inner = parens(declarator.clone()).boxed();
        let type_name = ty::named(specifiers.clone(), declarator.clone());
        let args = angles(path::argument(element.clone(), type_name));
        let suffix = suffix(element, specifiers, declarator);
        let named = declared_name(args);
        let pointers = repeat_while(begins_pointer, pointer()).boxed();
        // By hand rather than a chain: this recurses, and the frames of a chain overflow a small stack.
        by_hand(move |inp| {
            let start = position(inp);
            let pointers = inp.parse(&pointers)?;
            let next = ahead(inp);
            let mut declared = if next.is(0, Punct::LParen) && is_inner_declarator(next) {
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
        .boxed()
    })
    .boxed()
}

/// The declared name, if there is one, and the arguments after it.
fn declared_name<'t>(args: impl Production<'t, Vec<TemplateArg>>) -> P<'t, Declared> {
    let named = choose!(|next| next.kind(0);
        _ if begins_function_name(next) => function: function_name().map(Some),
        _ if next.is_name(0) => plain: name().map(Some),
        _ if is_reserved(next) => reserved: unexpected(Expected::Name),
        _ => none: empty().to(None),
    );
    let has_args =
        |name: &Option<Name>, next: Ahead<'_>| name.is_some() && next.is(0, Punct::AngleOpen);
    then_if(named, has_args, args)
        .map(|(name, args)| Declared {
            declarator: Declarator {
                args,
                ..Declarator::new(name, Vec::new(), Span::default())
            },
            variadic: false,
        })
        .boxed()
}

/// `A::f`, `~S`, `operator+`, `A::operator float`.
fn begins_function_name(next: Ahead<'_>) -> bool {
    next.is_word(0, Keyword::Operator)
        || (next.is(0, Punct::Tilde) && next.is_name(1))
        || (next.is_name(0) && next.is(template_arguments(next, 1).unwrap_or(1), Punct::ColonColon))
}

fn function_name<'t>() -> impl Production<'t, Name> {
    // The arguments in `Tile<T>::f` are the template's own parameters.
    let scopes = read(Expected::Nothing, |next| {
        let mut n = 0;
        while next.is_name(n) {
            let end = template_arguments(next, n + 1).unwrap_or(n + 1);
            if !next.is(end, Punct::ColonColon) {
                break;
            }
            n = end + 1;
        }
        Some((qualified_text(next, n), n))
    });
    let operator = read(Expected::Operator, operator_name);
    let last = choose!(|next| next.kind(0);
        Some(TokenKind::Punct(Punct::Tilde)) => destructor:
            punct(Punct::Tilde).ignore_then(name()).map(|name| format!("~{}", name.node)),
        Some(TokenKind::Keyword(Keyword::Operator)) => operator:
            word(Keyword::Operator).ignore_then(operator).map(|text| format!("operator{text}")),
        _ => plain: name().map(|name| name.node.to_string()),
    );
    scopes
        .then(last)
        .map(|(scopes, last)| format!("{scopes}{last}").into())
        .map_with(spanned)
}

/// The part after `operator`: the operator's text and its number of tokens. The type of a conversion is read elsewhere.
fn operator_name(next: Ahead<'_>) -> Option<(String, usize)> {
    match next.punct(0) {
        Some(Punct::LParen) if next.is(1, Punct::RParen) => Some(("()".into(), 2)),
        Some(Punct::LBracket) if next.is(1, Punct::RBracket) => Some(("[]".into(), 2)),
        Some(Punct::LParen | Punct::LBracket | Punct::Semi | Punct::RParen) => None,
        Some(punct) => Some((punct.text().to_string(), 1)),
        None => {
            let word = match next.keyword(0) {
                Some(Keyword::New) => " new",
                Some(Keyword::Delete) => " delete",
                _ => return Some((" conversion".into(), 0)),
            };
            match next.punct(1) == Some(Punct::LBracket) && next.is(2, Punct::RBracket) {
                true => Some((format!("{word}[]"), 3)),
                false => Some((word.into(), 1)),
            }
        }
    }
}

/// Reports a reserved word in place of a name; anything else means that there is no name.
fn is_reserved(next: Ahead<'_>) -> bool {
    let is_word = next.keyword(0).is_some_and(|word| word != Keyword::Pragma);
    is_word
        && matches!(
            next.punct(1),
            Some(Punct::Eq | Punct::Semi | Punct::Comma | Punct::LBracket | Punct::RParen)
        )
}

fn begins_pointer(next: Ahead<'_>) -> bool {
    matches!(
        next.punct(0),
        Some(Punct::Star | Punct::Amp | Punct::AmpAmp)
    )
}

/// `**const`, as the parts of a declarator.
pub(super) fn pointers<'t>() -> impl Production<'t, Vec<DeclaratorPart>> {
    repeat_while(begins_pointer, pointer()).map(|mut pointers| {
        pointers.reverse();
        pointers
    })
}

/// `*const __restrict__`, `&`.
fn pointer<'t>() -> impl Production<'t, DeclaratorPart> {
    use Keyword::{Const, Restrict, Volatile};
    let qualifier = read(Expected::Nothing, |next| {
        let word = next.keyword(0)?;
        matches!(word, Const | Volatile | Restrict).then_some((word, 1))
    });
    let star = punct(Punct::Star)
        .ignore_then(qualifier.repeated().collect())
        .map(|words: Vec<Keyword>| DeclaratorPart::Pointer {
            is_const: words.contains(&Const),
            is_volatile: words.contains(&Volatile),
            is_restrict: words.contains(&Restrict),
        });
    either(at(Punct::Star), star, reference())
}

/// `&`, `&&`.
pub(super) fn reference<'t>() -> impl Production<'t, DeclaratorPart> {
    let is_rvalue = read(Expected::Nothing, |next| match next.punct(0)? {
        Punct::Amp => Some((false, 1)),
        Punct::AmpAmp => Some((true, 1)),
        _ => None,
    });
    is_rvalue.map_with(|is_rvalue, extra| match is_rvalue {
        true => DeclaratorPart::RvalueReference(whole(extra)),
        false => DeclaratorPart::Reference(whole(extra)),
    })
}

fn begins_suffix(next: Ahead<'_>) -> bool {
    match next.punct(0) {
        Some(Punct::LBracket) => true,
        Some(Punct::LParen) => begins_params(next),
        _ => false,
    }
}

fn suffix<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
    declarator: P<'t, Declared>,
) -> P<'t, Part> {
    let size = when(|next| !next.is(0, Punct::RBracket), element.clone());
    let array = brackets(size).map_with(|size, extra| Part {
        part: DeclaratorPart::Array(size.map(Box::new), whole(extra)),
        variadic: false,
    });
    let params =
        params(element, specifiers, declarator).map_with(|(params, variadic), extra| Part {
            part: DeclaratorPart::Function(params, whole(extra)),
            variadic,
        });
    either(at(Punct::LBracket), array, params).boxed()
}

/// The parameters of a function that has no declarator.
pub(super) fn parameters<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> impl Production<'t, DeclaratorPart> {
    let declarator = declarator(element.clone(), specifiers.clone());
    params(element, specifiers, declarator)
        .map_with(|(params, _), extra| DeclaratorPart::Function(params, whole(extra)))
}

/// `(const float *a, int n, ...)`; `(void)` has no parameters.
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
        |next| next.is_word(0, Keyword::Void) && next.is(1, Punct::RParen),
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
    // `Ts... rest`, `const Ts &...rest`: the dots are removed from the declarator before it is read.
    let pack = pointers()
        .then_ignore(punct(Punct::Ellipsis))
        .then(optional_name())
        .map_with(|(parts, name), extra| (Declarator::new(name, parts, whole(extra)), true));
    let plain = declarator.map(|declared| (declared.declarator, false));
    specifiers
        .then(either(dots_ahead, pack, plain))
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
fn dots_ahead(next: Ahead<'_>) -> bool {
    let mut n = 0;
    while matches!(
        next.punct(n),
        Some(Punct::Star | Punct::Amp | Punct::AmpAmp)
    ) || matches!(
        next.keyword(n),
        Some(Keyword::Const | Keyword::Restrict | Keyword::Volatile)
    ) {
        n += 1;
    }
    next.is(n, Punct::Ellipsis)
}

/// Reports memory spaces of a parameter, which cannot have one.
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

/// `= e`, `= { … }`, `(a, b)`, and whether there is a `=`.
pub(super) fn init<'t>(element: P<'t, Expr>) -> P<'t, (Init, bool)> {
    let list = init_items(element.clone())
        .map_with(spanned)
        .map(Init::List);
    let construct = arguments(element.clone())
        .map_with(spanned)
        .map(Init::Construct);
    let value = element.map(Init::Expr);
    let assigned = flag(Punct::Eq)
        .then(either(at(Punct::LBrace), list, value))
        .map(|(is_copy, init)| (init, is_copy));
    let construct = construct.map(|init| (init, false));
    either(at(Punct::LParen), construct, assigned).boxed()
}

/// A declarator and its initialiser.
pub(super) fn init_declarator<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, (InitDeclarator, bool)> {
    // The `{` after a function's parameters is its body.
    let has_init = |(declared, _): &(Declared, Vec<Name>), next: Ahead<'_>| {
        let begins = matches!(
            next.punct(0),
            Some(Punct::Eq | Punct::LParen | Punct::LBrace)
        );
        begins && !declared.declarator.is_function()
    };
    let init = init(element.clone());
    let plain = declarator(element, specifiers).map(|declared| (declared, Vec::new()));
    let named = expecting(
        either(binding::begins, bindings(), plain),
        |(declared, _)| declared.declarator.name.is_some(),
        Expected::Name,
    );
    then_if(named, has_init, init)
        .map_with(|((declared, bindings), init), extra| {
            let (init, is_copy) = init.unzip();
            let declarator = InitDeclarator {
                init,
                is_copy: is_copy.unwrap_or(false),
                bindings,
                ..InitDeclarator::new(declared.declarator, whole(extra))
            };
            (declarator, declared.variadic)
        })
        .boxed()
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

/// `a, *b`; empty if a type is alone.
fn declarator_list<'t, O: 't>(declarator: impl Production<'t, O>) -> impl Production<'t, Vec<O>> {
    let some = list(declarator, Punct::Semi, false);
    when(|next| !next.is_after_body(), some).map(Option::unwrap_or_default)
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
pub(super) fn declaration<'t>() -> impl Production<'t, Declaration> {
    declarators()
        .then_ignore(stmt::semicolon())
        .map_with(|declaration, extra| Declaration {
            span: whole(extra),
            ..declaration
        })
}

/// The declaration of a `for`, whose `;` belongs to the header.
pub(super) fn for_declaration<'t>() -> P<'t, Declaration> {
    declarators()
}
