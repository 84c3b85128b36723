//! `struct`, `union` and `enum`, with their members. What C++ adds to them (methods, access words, bit-fields' cousins)
//! is read and named, so that one message is all it costs.

use chumsky::prelude::*;

use super::{
    decl,
    kit::{
        Ahead, At, P, ahead, closing, custom_clone, list, name, punct, repeat_while, skip, when,
        whole, word,
    },
    primary::arguments,
    recover::{construct_end, recovered, statement_end},
    stmt,
};
use crate::{
    diagnostic::{Code, Diagnostic},
    span::Span,
    syntax::{
        ast::{
            Declaration, DeclaratorPart, EnumSpecifier, Expr, InitDeclarator, Name,
            RecordSpecifier, Specifiers,
        },
        token::{Keyword, Punct, TokenKind},
    },
};

/// `struct __align__(8) S { float x, y; }`.
pub(super) fn record<'t>(
    element: P<'t, Expr>,
    specifiers: P<'t, Specifiers>,
) -> P<'t, RecordSpecifier> {
    let is_union = custom_clone(|inp: &mut At<'t, '_>| {
        let is_union = ahead(inp).is_word(0, Keyword::Union);
        inp.skip();
        Ok(is_union)
    });
    let align = word(Keyword::Align)
        .ignore_then(arguments(element.clone()))
        .map(|mut args| args.pop().map(Box::new));
    let align = when(|look| look.is_word(0, Keyword::Align), align).map(Option::flatten);
    let members = repeat_while(
        |look: Ahead<'_>| look.kind(0).is_some() && !look.is(0, Punct::RBrace),
        member(element, specifiers),
    )
    .map(|members| members.into_iter().flatten().collect())
    .delimited_by(punct(Punct::LBrace), punct(Punct::RBrace));
    is_union
        .then(align)
        .then(tag("a name or `{`"))
        .then_ignore(bases("inheritance"))
        .then(when(|look| look.is(0, Punct::LBrace), members))
        .map(|(((is_union, align), name), members)| RecordSpecifier {
            is_union,
            name,
            members,
            align,
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

/// `: public Base` and `enum E : int`, which are C++.
fn bases<'t>(construct: &'static str) -> P<'t, ()> {
    custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        if look.is(0, Punct::Colon) {
            let mut n = 1;
            while look.kind(n).is_some()
                && !matches!(
                    look.punct(n),
                    Some(Punct::LBrace | Punct::Semi | Punct::RBrace)
                )
            {
                n += 1;
            }
            if look.is(n, Punct::LBrace) {
                unsupported(inp, look.at, look.at + n, construct);
                skip(inp, n);
            }
        }
        Ok(())
    })
    .boxed()
}

/// `float x, *y[4];`, or something of C++ that is reported and left out.
fn member<'t>(element: P<'t, Expr>, specifiers: P<'t, Specifiers>) -> P<'t, Option<Declaration>> {
    let declarator = decl::declarator(element.clone(), specifiers.clone());
    let width = punct(Punct::Colon).ignore_then(element);
    let width = when(
        |look| look.is(0, Punct::Colon),
        width.map_with(|_, extra| whole(extra)),
    );
    let declarator = declarator
        .map(|declared| declared.declarator)
        .then(width)
        .map_with(|(declarator, width), extra| {
            if let Some(span) = width {
                let diagnostic = Diagnostic::error(
                    Code::UnsupportedSyntax,
                    span,
                    "a bit-field is not supported",
                );
                extra
                    .state()
                    .diagnostics
                    .push(diagnostic.help("use a whole member, or shifts and masks"));
            }
            InitDeclarator {
                declarator,
                init: None,
                span: whole(extra),
            }
        });
    let declarators = decl::declarator_list(declarator);
    let data = specifiers
        .then(declarators)
        .then_ignore(stmt::semicolon())
        .map_with(|(specifiers, declarators), extra| {
            Some(Declaration {
                specifiers,
                declarators,
                span: whole(extra),
            })
        });
    let member = custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        if look.is(0, Punct::Semi) {
            inp.skip();
            return Ok(None);
        }
        if let Some((construct, n)) = foreign_member(look) {
            unsupported(inp, look.at, look.at + n, construct);
            skip(inp, n);
            return Ok(None);
        }
        inp.parse(&data)
            .map(|member: Option<Declaration>| member.filter(|member| is_data(inp, member)))
    });
    recovered(member, statement_end, |_| None).boxed()
}

/// C++ members and how many tokens they take.
fn foreign_member(look: Ahead<'_>) -> Option<(&'static str, usize)> {
    use Keyword::*;
    match look.kind(0)? {
        TokenKind::Keyword(Public | Private | Protected) => Some(("an access word", 2)),
        TokenKind::Keyword(Template) => Some(("a template", construct_end(look))),
        TokenKind::Keyword(Friend | Virtual | Using | Operator) => {
            Some(("a C++ member", construct_end(look)))
        }
        TokenKind::Punct(Punct::Tilde) => Some(("a destructor", construct_end(look))),
        _ => method_extent(look).map(|n| ("a member function", n)),
    }
}

/// The tokens of a member function or constructor, if that is what is ahead: a name and a parameter list before the `;`.
fn method_extent(look: Ahead<'_>) -> Option<usize> {
    let mut n = 0;
    loop {
        match look.kind(n)? {
            TokenKind::Ident(_) | TokenKind::TypeName(_)
                if look.is(n + 1, Punct::LParen) && !look.is(n + 2, Punct::Star) =>
            {
                return Some(statement_end(look, n + 1));
            }
            TokenKind::Keyword(Keyword::Operator) => return Some(statement_end(look, n + 1)),
            TokenKind::Keyword(Keyword::Align | Keyword::LaunchBounds) => {
                n = look.after_brackets(n + 1)
            }
            TokenKind::Keyword(Keyword::Struct | Keyword::Union | Keyword::Enum) => return None,
            TokenKind::Ident(_)
            | TokenKind::TypeName(_)
            | TokenKind::Keyword(_)
            | TokenKind::Punct(Punct::Star | Punct::Amp) => n += 1,
            _ => return None,
        }
    }
}

/// Reports a member that is neither data nor anything [`foreign_member`] knew.
fn is_data(inp: &mut At<'_, '_>, member: &Declaration) -> bool {
    let is_function = |declarator: &InitDeclarator| {
        matches!(
            declarator.declarator.parts.first(),
            Some(DeclaratorPart::Function(..))
        )
    };
    let Some(function) = member
        .declarators
        .iter()
        .find(|declarator| is_function(declarator))
    else {
        return true;
    };
    let diagnostic = Diagnostic::error(
        Code::UnsupportedSyntax,
        function.span,
        "a member function is not supported",
    );
    inp.state().diagnostics.push(diagnostic);
    false
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

/// `enum E { A, B = 2 }`.
pub(super) fn enumeration<'t>(element: P<'t, Expr>) -> P<'t, EnumSpecifier> {
    let class = custom_clone(|inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        if matches!(look.keyword(0), Some(Keyword::Class | Keyword::Struct)) {
            unsupported(inp, look.at, look.at + 1, "a scoped enum");
            inp.skip();
        }
        Ok(())
    });
    let value = when(
        |look| look.is(0, Punct::Eq),
        punct(Punct::Eq).ignore_then(element),
    );
    let enumerators = list(name().then(value), Punct::RBrace, true)
        .delimited_by(punct(Punct::LBrace), closing(Punct::RBrace, "`,` or `}`"));
    word(Keyword::Enum)
        .ignore_then(class)
        .ignore_then(tag("a name or `{`"))
        .then_ignore(bases("an enum's underlying type"))
        .then(when(|look| look.is(0, Punct::LBrace), enumerators))
        .map(|(name, enumerators)| EnumSpecifier { name, enumerators })
        .boxed()
}
