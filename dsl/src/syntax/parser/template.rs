//! Templates, namespaces, `using` and `static_assert`, at file scope and (the last two) in functions.

use chumsky::prelude::*;

use super::{
    cxx, decl,
    expr::element,
    kit::{
        At, P, after, ahead, angles, before, block, choose, either, fail, here, name,
        optional_name, production, punct, since, skip, take, take_word, word,
    },
    lookahead::{Ahead, scoped_name, template_arguments},
    recover::Failure,
    stmt, ty,
};
use crate::{
    span::Spanned,
    syntax::{
        ast::{
            Declaration, Item, Name, Namespace, StaticAssert, StmtKind, Template, TemplateKind,
            TemplateParam, TemplateParamKind, TypeName, Using,
        },
        message::parse::Expected,
        token::{Keyword, Punct},
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
    let using = using().map(|using| match using {
        Parsed::Typedef(declaration) => Item::Declaration(*declaration),
        Parsed::Using(using) => Item::Using(using),
    });
    choose!(|look| look.keyword(0);
        Some(Keyword::Template) => template: template(item.clone()),
        Some(Keyword::Namespace | Keyword::Inline) => namespace: namespace(item),
        Some(Keyword::Using) => using: using.map(|item| vec![item]),
        _ => assertion: static_assert().map(|assertion| vec![Item::StaticAssert(assertion)]),
    )
}

/// A statement that begins with `using`, `static_assert` or `namespace x = y`.
pub(super) fn scoped_statement<'t>() -> P<'t, StmtKind> {
    let using = using().map(|using| match using {
        Parsed::Typedef(declaration) => StmtKind::Declaration(*declaration),
        Parsed::Using(using) => StmtKind::Using(using),
    });
    let alias = production(alias_of_namespace);
    choose!(|look| look.keyword(0);
        Some(Keyword::StaticAssert) => assertion: static_assert().map(StmtKind::StaticAssert),
        Some(Keyword::Namespace) => alias: alias.map(StmtKind::Using),
        _ => using: using,
    )
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
    production(move |inp| {
        let start = here(inp);
        let kind = inp.parse(&head)?;
        let span = since(inp, start);
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
}

/// `template <…>`.
pub(super) fn head<'t>() -> P<'t, TemplateKind> {
    let params = angles(param()).map(TemplateKind::Generic);
    let word = word(Keyword::Template);
    choose!(|look| look.punct(1);
        Some(Punct::AngleOpen) if look.is(2, Punct::AngleClose) => nothing:
            word.then(punct(Punct::AngleOpen)).then(punct(Punct::AngleClose)).to(TemplateKind::Specialisation),
        Some(Punct::AngleOpen) => params: word.ignore_then(params),
        _ => instantiation: word.to(TemplateKind::Instantiation),
    )
}

/// `typename T = float`, `int N = 4`, `template <typename> class C`.
fn param<'t>() -> P<'t, TemplateParam> {
    let element = element();
    let type_name = ty::type_name(element.clone());
    let default_type = after(Punct::Eq, type_name.clone());
    let default_value = after(Punct::Eq, element);
    let optional_name = optional_name();
    production(move |inp| {
        let look = ahead(inp);
        let is_pack;
        let param_name: Option<Name>;
        let kind = match look.keyword(0) {
            Some(Keyword::Typename | Keyword::Class) if !is_dependent(look) => {
                inp.skip();
                is_pack = take(inp, Punct::Ellipsis);
                param_name = inp.parse(&optional_name)?;
                TemplateParamKind::Type(inp.parse(&default_type)?)
            }
            Some(Keyword::Template) => {
                let n = template_arguments(look, 1).unwrap_or(1);
                skip(inp, n + 1);
                is_pack = take(inp, Punct::Ellipsis);
                param_name = inp.parse(&optional_name)?;
                inp.parse(&default_type)?;
                TemplateParamKind::Template
            }
            _ => {
                let mut ty: TypeName = inp.parse(&type_name)?;
                is_pack = take(inp, Punct::Ellipsis);
                param_name = match is_pack {
                    true => inp.parse(&optional_name)?,
                    false => ty.declarator.name.take(),
                };
                let default = inp.parse(&default_value)?;
                TemplateParamKind::Value { ty, default }
            }
        };
        Ok(TemplateParam {
            name: param_name,
            kind,
            is_pack,
            span: since(inp, look.at),
        })
    })
}

/// `typename T::type N`, which is a value; `typename T` is a type.
fn is_dependent(look: Ahead<'_>) -> bool {
    look.is_word(0, Keyword::Typename)
        && (look.is(2, Punct::ColonColon) || template_arguments(look, 2).is_some())
}

/// `namespace a::b { … }`, `namespace { … }`, `namespace x = a::b;`.
fn namespace<'t>(item: P<'t, Vec<Item>>) -> P<'t, Vec<Item>> {
    let items = before(Punct::LBrace, Expected::NameOr(Punct::LBrace)).ignore_then(block(item));
    let block = production(move |inp| {
        let start = here(inp);
        let is_inline = take_word(inp, Keyword::Inline);
        inp.skip();
        let name = scope_name(inp);
        let span = since(inp, start);
        Ok(Item::Namespace(Namespace {
            name,
            is_inline,
            items: inp.parse(&items)?.into_iter().flatten().collect(),
            span,
        }))
    });
    let alias = production(alias_of_namespace).map(Item::Using);
    either(|look| look.is(2, Punct::Eq), alias, block)
        .map(|item| vec![item])
        .boxed()
}

/// `a::b`, if there is a name.
fn scope_name(inp: &mut At<'_, '_>) -> Option<Name> {
    let look = ahead(inp);
    let (text, n, _) = scoped_name(look)?;
    skip(inp, n);
    Some(Spanned::new(text, since(inp, look.at)))
}

/// `a::b;`
fn scope_end(inp: &mut At<'_, '_>) -> Result<Name, Failure> {
    let Some(name) = scope_name(inp) else {
        return fail(inp, Expected::Name);
    };
    inp.parse(stmt::semicolon())?;
    Ok(name)
}

/// `namespace x = a::b;`
fn alias_of_namespace(inp: &mut At<'_, '_>) -> Result<Using, Failure> {
    inp.skip();
    let alias = inp.parse(name())?;
    inp.skip();
    Ok(Using::NamespaceAlias(alias, scope_end(inp)?))
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
    production(move |inp| {
        let start = here(inp);
        inp.skip();
        if take_word(inp, Keyword::Namespace) {
            return Ok(Parsed::Using(Using::Namespace(scope_end(inp)?)));
        }
        if !ahead(inp).is(1, Punct::Eq) {
            take_word(inp, Keyword::Typename);
            return Ok(Parsed::Using(Using::Name(scope_end(inp)?)));
        }
        let alias = inp.parse(name())?;
        inp.skip();
        let ty: TypeName = inp.parse(&type_name)?;
        inp.parse(&semicolon)?;
        let span = since(inp, start);
        let declaration = decl::typedef(alias, ty.specifiers, ty.declarator, span);
        Ok(Parsed::Typedef(Box::new(declaration)))
    })
}

/// `static_assert(condition, "message");`
pub(super) fn static_assert<'t>() -> P<'t, StaticAssert> {
    let condition = element();
    let semicolon = stmt::semicolon();
    production(move |inp| {
        let start = here(inp);
        inp.skip();
        inp.parse(punct(Punct::LParen))?;
        let condition = inp.parse(&condition)?;
        let message = match take(inp, Punct::Comma) {
            true => Some(cxx::string(inp)?),
            false => None,
        };
        inp.parse(punct(Punct::RParen))?;
        let span = since(inp, start);
        inp.parse(&semicolon)?;
        Ok(StaticAssert {
            condition,
            message,
            span,
        })
    })
}
