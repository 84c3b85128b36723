//! Templates, namespaces, `using` and `static_assert`, at file scope and (the last two) in functions.

use chumsky::prelude::*;

use super::{
    expr::element,
    kit::{
        Ahead, At, P, ahead, at, closing, custom_clone, fail, list, name, path, punct,
        repeat_while, skip, template_arguments, when,
    },
    recover::{Failure, What},
    stmt, ty,
};
use crate::{
    span::Spanned,
    syntax::{
        ast::{
            Declaration, Declarator, InitDeclarator, Item, Name, Namespace, SpecifierWord,
            StaticAssert, StmtKind, Template, TemplateKind, TemplateParam, TemplateParamKind,
            TypeName, Using,
        },
        token::{Keyword, Punct, TokenKind},
    },
};

/// Whether one of these begins here.
pub(super) fn begins(look: Ahead<'_>) -> bool {
    match look.keyword(0) {
        Some(Keyword::Template | Keyword::Namespace | Keyword::Using | Keyword::StaticAssert) => {
            true
        }
        Some(Keyword::Inline) => look.is_word(1, Keyword::Namespace),
        _ => false,
    }
}

/// An item that begins with `template`, `namespace`, `using` or `static_assert`.
pub(super) fn scoped_item<'t>(item: P<'t, Vec<Item>>) -> P<'t, Vec<Item>> {
    let template = template(item.clone());
    let namespace = namespace(item);
    let using = using();
    let assertion = static_assert();
    custom_clone(move |inp: &mut At<'t, '_>| match ahead(inp).keyword(0) {
        Some(Keyword::Template) => inp.parse(&template),
        Some(Keyword::Namespace | Keyword::Inline) => inp.parse(&namespace),
        Some(Keyword::Using) => inp.parse(&using).map(|using| {
            vec![match using {
                Parsed::Typedef(declaration) => Item::Declaration(*declaration),
                Parsed::Using(using) => Item::Using(using),
            }]
        }),
        _ => inp
            .parse(&assertion)
            .map(|assertion| vec![Item::StaticAssert(assertion)]),
    })
    .boxed()
}

/// A statement that begins with `using`, `static_assert` or `namespace x = y`.
pub(super) fn scoped_statement<'t>() -> P<'t, StmtKind> {
    let using = using();
    let assertion = static_assert();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        if look.is_word(0, Keyword::StaticAssert) {
            return inp.parse(&assertion).map(StmtKind::StaticAssert);
        }
        if look.is_word(0, Keyword::Namespace) {
            return alias_of_namespace(inp).map(StmtKind::Using);
        }
        Ok(match inp.parse(&using)? {
            Parsed::Typedef(declaration) => StmtKind::Declaration(*declaration),
            Parsed::Using(using) => StmtKind::Using(using),
        })
    })
    .boxed()
}

/// Whether [`scoped_statement`] reads what begins here.
pub(super) fn begins_statement(look: Ahead<'_>) -> bool {
    matches!(
        look.keyword(0),
        Some(Keyword::Using | Keyword::StaticAssert)
    ) || (look.is_word(0, Keyword::Namespace) && look.is(2, Punct::Eq))
}

/// `template <typename T, int N> item`.
fn template<'t>(item: P<'t, Vec<Item>>) -> P<'t, Vec<Item>> {
    let head = head();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let start = ahead(inp).at;
        let kind = inp.parse(&head)?;
        let stop = ahead(inp).at;
        let span = inp.state().span(start, stop);
        let mut items = inp.parse(&item)?;
        // What is not supported says so itself; `extern "C"` gives several, and cannot stand here.
        let Some(first) = items.pop().filter(|_| items.is_empty()) else {
            return Ok(items);
        };
        if matches!(first, Item::Unsupported { .. }) {
            return Ok(vec![first]);
        }
        let template = Template {
            kind,
            item: first,
            span,
        };
        Ok(vec![Item::Template(Box::new(template))])
    })
    .boxed()
}

/// `template <…>`.
pub(super) fn head<'t>() -> P<'t, TemplateKind> {
    let params = list(param(), Punct::AngleClose, false)
        .delimited_by(
            punct(Punct::AngleOpen),
            closing(Punct::AngleClose, "`,` or `>`"),
        )
        .boxed();
    custom_clone(move |inp: &mut At<'t, '_>| {
        inp.skip();
        let look = ahead(inp);
        if !look.is(0, Punct::AngleOpen) {
            return Ok(TemplateKind::Instantiation);
        }
        if look.is(1, Punct::AngleClose) {
            skip(inp, 2);
            return Ok(TemplateKind::Specialisation);
        }
        inp.parse(&params).map(TemplateKind::Generic)
    })
    .boxed()
}

/// `typename T = float`, `int N = 4`, `template <typename> class C`.
fn param<'t>() -> P<'t, TemplateParam> {
    let element = element();
    let type_name = ty::type_name(element.clone());
    let default_type = when(
        at(Punct::Eq),
        punct(Punct::Eq).ignore_then(type_name.clone()),
    );
    let default_value = when(at(Punct::Eq), punct(Punct::Eq).ignore_then(element));
    custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        let is_pack;
        let param_name: Option<Name>;
        let kind = match look.keyword(0) {
            Some(Keyword::Typename | Keyword::Class) if !is_dependent(look) => {
                inp.skip();
                is_pack = ellipsis(inp);
                param_name = optional_name(inp)?;
                TemplateParamKind::Type(inp.parse(&default_type)?)
            }
            Some(Keyword::Template) => {
                let n = template_arguments(look, 1).unwrap_or(1);
                skip(inp, n + 1);
                is_pack = ellipsis(inp);
                param_name = optional_name(inp)?;
                inp.parse(&default_type)?;
                TemplateParamKind::Template
            }
            _ => {
                let mut ty: TypeName = inp.parse(&type_name)?;
                is_pack = ellipsis(inp);
                if is_pack {
                    param_name = optional_name(inp)?;
                } else {
                    param_name = ty.declarator.name.take();
                }
                let default = inp.parse(&default_value)?;
                TemplateParamKind::Value { ty, default }
            }
        };
        let stop = ahead(inp).at;
        Ok(TemplateParam {
            name: param_name,
            kind,
            is_pack,
            span: inp.state().span(look.at, stop),
        })
    })
    .boxed()
}

/// `typename T::type N`, which is a value; `typename T` is a type.
fn is_dependent(look: Ahead<'_>) -> bool {
    look.is_word(0, Keyword::Typename)
        && (look.is(2, Punct::ColonColon) || template_arguments(look, 2).is_some())
}

fn ellipsis(inp: &mut At<'_, '_>) -> bool {
    let is_pack = ahead(inp).is(0, Punct::Ellipsis);
    if is_pack {
        inp.skip();
    }
    is_pack
}

fn optional_name(inp: &mut At<'_, '_>) -> Result<Option<Name>, Failure> {
    let look = ahead(inp);
    if look.is_ident(0) || look.is_type_name(0) {
        inp.parse(name()).map(Some)
    } else {
        Ok(None)
    }
}

/// `namespace a::b { … }`, `namespace { … }`, `namespace x = a::b;`.
fn namespace<'t>(item: P<'t, Vec<Item>>) -> P<'t, Vec<Item>> {
    let items = repeat_while(
        |look: Ahead<'_>| look.kind(0).is_some() && !look.is(0, Punct::RBrace),
        item,
    )
    .map(|items| items.into_iter().flatten().collect::<Vec<Item>>())
    .delimited_by(
        closing(Punct::LBrace, "a name or `{`"),
        punct(Punct::RBrace),
    )
    .boxed();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        if look.is(2, Punct::Eq) {
            return alias_of_namespace(inp).map(|using| vec![Item::Using(using)]);
        }
        let is_inline = look.is_word(0, Keyword::Inline);
        skip(inp, 1 + usize::from(is_inline));
        let name = scope_name(inp);
        let stop = ahead(inp).at;
        let span = inp.state().span(look.at, stop);
        let items = inp.parse(&items)?;
        Ok(vec![Item::Namespace(Namespace {
            name,
            is_inline,
            items,
            span,
        })])
    })
    .boxed()
}

/// `a::b`, if there is a name.
fn scope_name(inp: &mut At<'_, '_>) -> Option<Name> {
    let look = ahead(inp);
    let (text, n, _) = path(look)?;
    skip(inp, n);
    Some(Spanned::new(text, inp.state().span(look.at, look.at + n)))
}

/// `namespace x = a::b;`
fn alias_of_namespace(inp: &mut At<'_, '_>) -> Result<Using, Failure> {
    inp.skip();
    let alias = inp.parse(name())?;
    inp.skip();
    let Some(of) = scope_name(inp) else {
        return fail(inp, What::Name);
    };
    inp.parse(stmt::semicolon())?;
    Ok(Using::NamespaceAlias(alias, of))
}

/// What `using` gives.
#[derive(Clone)]
enum Parsed {
    Typedef(Box<Declaration>),
    Using(Using),
}

/// `using X = T;`, `using namespace a;`, `using a::b;`.
fn using<'t>() -> P<'t, Parsed> {
    let type_name = ty::type_name(element());
    let semicolon = stmt::semicolon();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let start = ahead(inp).at;
        inp.skip();
        let look = ahead(inp);
        if look.is_word(0, Keyword::Namespace) {
            inp.skip();
            let Some(name) = scope_name(inp) else {
                return fail(inp, What::Name);
            };
            inp.parse(&semicolon)?;
            return Ok(Parsed::Using(Using::Namespace(name)));
        }
        if !look.is(1, Punct::Eq) {
            if look.is_word(0, Keyword::Typename) {
                inp.skip();
            }
            let Some(name) = scope_name(inp) else {
                return fail(inp, What::Name);
            };
            inp.parse(&semicolon)?;
            return Ok(Parsed::Using(Using::Name(name)));
        }
        let alias = inp.parse(name())?;
        inp.skip();
        let mut ty: TypeName = inp.parse(&type_name)?;
        inp.parse(&semicolon)?;
        let stop = ahead(inp).at;
        let span = inp.state().span(start, stop);
        ty.specifiers
            .words
            .push(Spanned::new(SpecifierWord::Typedef, alias.span));
        let declarator = Declarator {
            name: Some(alias),
            ..ty.declarator
        };
        Ok(Parsed::Typedef(Box::new(Declaration {
            specifiers: ty.specifiers,
            declarators: vec![InitDeclarator {
                bindings: Vec::new(),
                declarator,
                init: None,
                width: None,
                span,
            }],
            span,
        })))
    })
    .boxed()
}

/// `static_assert(condition, "message");`
pub(super) fn static_assert<'t>() -> P<'t, StaticAssert> {
    let condition = element();
    let semicolon = stmt::semicolon();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let start = ahead(inp).at;
        inp.skip();
        inp.parse(closing(Punct::LParen, "`(`"))?;
        let condition = inp.parse(&condition)?;
        let mut message = None;
        if ahead(inp).is(0, Punct::Comma) {
            inp.skip();
            let Some(TokenKind::Str(bytes)) = ahead(inp).kind(0) else {
                return fail(inp, What::Phrase("a string"));
            };
            message = Some(bytes.clone());
            inp.skip();
        }
        inp.parse(closing(Punct::RParen, "`)`"))?;
        let stop = ahead(inp).at;
        let span = inp.state().span(start, stop);
        inp.parse(&semicolon)?;
        Ok(StaticAssert {
            condition,
            message,
            span,
        })
    })
    .boxed()
}
