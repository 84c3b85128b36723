//! Templates, namespaces, `using` and `static_assert`, at file scope and (the last two) in functions.

use chumsky::prelude::*;

use super::{
    cxx, decl,
    expr::element,
    kit::{
        P, Production, after, angles, before, block, choose, either, flag, flag_word, name,
        optional_name, parens, path_name, punct, skipped, spanned, when, whole, word,
    },
    lookahead::{Ahead, template_arguments},
    stmt, ty,
};
use crate::syntax::{
    ast::{
        Declaration, Item, Name, Namespace, StaticAssert, StmtKind, Template, TemplateKind,
        TemplateParam, TemplateParamKind, Using,
    },
    message::parse::Expected,
    token::{Keyword, Punct},
};

/// Whether one of these begins here.
pub(super) fn begins(next: Ahead<'_>) -> bool {
    match next.keyword(0) {
        Some(Keyword::Template | Keyword::Namespace | Keyword::Using | Keyword::StaticAssert) => {
            true
        }
        Some(Keyword::Inline) => next.is_word(1, Keyword::Namespace),
        _ => false,
    }
}

/// An item that begins with `template`, `namespace`, `using` or `static_assert`.
pub(super) fn scoped_item<'t>(item: P<'t, Vec<Item>>) -> impl Production<'t, Vec<Item>> {
    let using = using().map(|using| match using {
        Parsed::Typedef(declaration) => Item::Declaration(*declaration),
        Parsed::Using(using) => Item::Using(using),
    });
    choose!(|next| next.keyword(0);
        Some(Keyword::Template) => template: template(item.clone()),
        Some(Keyword::Namespace | Keyword::Inline) => namespace: namespace(item),
        Some(Keyword::Using) => using: using.map(|item| vec![item]),
        _ => assertion: static_assert().map(|assertion| vec![Item::StaticAssert(assertion)]),
    )
}

/// A statement that begins with `using`, `static_assert` or `namespace x = y`.
pub(super) fn scoped_statement<'t>() -> impl Production<'t, StmtKind> {
    let using = using().map(|using| match using {
        Parsed::Typedef(declaration) => StmtKind::Declaration(*declaration),
        Parsed::Using(using) => StmtKind::Using(using),
    });
    choose!(|next| next.keyword(0);
        Some(Keyword::StaticAssert) => assertion: static_assert().map(StmtKind::StaticAssert),
        Some(Keyword::Namespace) => alias: alias_of_namespace().map(StmtKind::Using),
        _ => using: using,
    )
}

/// Whether [`scoped_statement`] reads what begins here.
pub(super) fn begins_statement(next: Ahead<'_>) -> bool {
    matches!(
        next.keyword(0),
        Some(Keyword::Using | Keyword::StaticAssert)
    ) || (next.is_word(0, Keyword::Namespace) && next.is(2, Punct::Eq))
}

/// `template <typename T, int N> item`.
fn template<'t>(item: P<'t, Vec<Item>>) -> impl Production<'t, Vec<Item>> {
    head()
        .map_with(spanned)
        .then(item)
        .map(|(kind, mut items)| {
            // Unsupported items report themselves; `extern "C"` yields several, and is not allowed here.
            let Some(first) = items.pop().filter(|_| items.is_empty()) else {
                return items;
            };
            if matches!(first, Item::Unsupported { .. }) {
                return vec![first];
            }
            let template = Template {
                kind: kind.node,
                item: first,
                span: kind.span,
            };
            vec![Item::Template(Box::new(template))]
        })
}

/// `template <…>`.
pub(super) fn head<'t>() -> impl Production<'t, TemplateKind> {
    let params = angles(param()).map(TemplateKind::Generic);
    let word = word(Keyword::Template);
    choose!(|next| next.punct(1);
        Some(Punct::AngleOpen) if next.is(2, Punct::AngleClose) => nothing:
            word.then(punct(Punct::AngleOpen)).then(punct(Punct::AngleClose)).to(TemplateKind::Specialisation),
        Some(Punct::AngleOpen) => params: word.ignore_then(params),
        _ => instantiation: word.to(TemplateKind::Instantiation),
    )
}

/// `typename T = float`, `int N = 4`, `template <typename> class C`.
fn param<'t>() -> impl Production<'t, TemplateParam> {
    let element = element();
    let type_name = ty::type_name(element.clone());
    let default_type = after(Punct::Eq, type_name.clone()).boxed();
    let default_value = after(Punct::Eq, element);
    let named = || flag(Punct::Ellipsis).then(optional_name());
    let ty = word(Keyword::Typename)
        .or(word(Keyword::Class))
        .ignore_then(named())
        .then(default_type.clone())
        .map(|((is_pack, name), default)| (name, TemplateParamKind::Type(default), is_pack));
    let template = skipped(|next| 1 + template_arguments(next, 1).unwrap_or(1))
        .ignore_then(named())
        .then_ignore(default_type)
        .map(|(is_pack, name)| (name, TemplateParamKind::Template, is_pack));
    let pack_name = after(Punct::Ellipsis, optional_name());
    let value =
        type_name
            .then(pack_name)
            .then(default_value)
            .map(|((mut ty, pack_name), default)| {
                let is_pack = pack_name.is_some();
                let name = pack_name.unwrap_or_else(|| ty.declarator.name.take());
                (name, TemplateParamKind::Value { ty, default }, is_pack)
            });
    choose!(|next| next.keyword(0);
        Some(Keyword::Typename | Keyword::Class) if !is_dependent(next) => ty: ty,
        Some(Keyword::Template) => template: template,
        _ => value: value,
    )
    .map_with(|(name, kind, is_pack), extra| TemplateParam {
        name,
        kind,
        is_pack,
        span: whole(extra),
    })
}

/// `typename T::type N`, which is a value; `typename T` is a type.
fn is_dependent(next: Ahead<'_>) -> bool {
    next.is_word(0, Keyword::Typename)
        && (next.is(2, Punct::ColonColon) || template_arguments(next, 2).is_some())
}

/// `namespace a::b { … }`, `namespace { … }`, `namespace x = a::b;`.
fn namespace<'t>(item: P<'t, Vec<Item>>) -> impl Production<'t, Vec<Item>> {
    let name = when(|next| next.begins_path(0), path_name(Expected::Name));
    let head = flag_word(Keyword::Inline)
        .then_ignore(word(Keyword::Namespace))
        .then(name)
        .map_with(spanned);
    let block = head
        .then_ignore(before(Punct::LBrace, Expected::NameOr(Punct::LBrace)))
        .then(block(item))
        .map(|(head, items)| {
            let (is_inline, name) = head.node;
            Item::Namespace(Namespace {
                name,
                is_inline,
                items: items.into_iter().flatten().collect(),
                span: head.span,
            })
        });
    let alias = alias_of_namespace().map(Item::Using);
    either(|next| next.is(2, Punct::Eq), alias, block).map(|item| vec![item])
}

/// `a::b;`
fn scope_end<'t>() -> impl Production<'t, Name> {
    path_name(Expected::Name).then_ignore(stmt::semicolon())
}

/// `namespace x = a::b;`
fn alias_of_namespace<'t>() -> impl Production<'t, Using> {
    word(Keyword::Namespace)
        .ignore_then(name())
        .then_ignore(punct(Punct::Eq))
        .then(scope_end())
        .map(|(alias, name)| Using::NamespaceAlias(alias, name))
}

/// The results of `using`.
#[derive(Clone)]
enum Parsed {
    Typedef(Box<Declaration>),
    Using(Using),
}

/// `using X = T;`, `using namespace a;`, `using a::b;`.
fn using<'t>() -> impl Production<'t, Parsed> {
    let namespace = word(Keyword::Using)
        .ignore_then(word(Keyword::Namespace))
        .ignore_then(scope_end())
        .map(|name| Parsed::Using(Using::Namespace(name)));
    let alias = word(Keyword::Using)
        .ignore_then(name())
        .then_ignore(punct(Punct::Eq))
        .then(ty::type_name(element()))
        .then_ignore(stmt::semicolon())
        .map_with(|(alias, ty), extra| {
            let span = whole(extra);
            let declaration = decl::typedef(alias, ty.specifiers, ty.declarator, span);
            Parsed::Typedef(Box::new(declaration))
        });
    let named = word(Keyword::Using)
        .ignore_then(flag_word(Keyword::Typename))
        .ignore_then(scope_end())
        .map(|name| Parsed::Using(Using::Name(name)));
    choose!(|next| next.keyword(1);
        Some(Keyword::Namespace) => namespace: namespace,
        _ if next.is(2, Punct::Eq) => alias: alias,
        _ => named: named,
    )
}

/// `static_assert(condition, "message");`
pub(super) fn static_assert<'t>() -> impl Production<'t, StaticAssert> {
    let message = after(Punct::Comma, cxx::string());
    word(Keyword::StaticAssert)
        .ignore_then(parens(element().then(message)))
        .map_with(spanned)
        .then_ignore(stmt::semicolon())
        .map(|asserted| {
            let (condition, message) = asserted.node;
            StaticAssert {
                condition,
                message,
                span: asserted.span,
            }
        })
}
