//! The declarator of a structured binding: `auto [a, b] = f();`.

use chumsky::prelude::*;

use super::{
    decl::{Declared, reference},
    kit::{Production, closing, name, punct, spanned},
    lookahead::Ahead,
};
use crate::syntax::{
    ast::{Declarator, Name},
    message::parse::Expected,
    token::Punct,
};
use ir::span::Spanned;

/// Whether a structured binding begins here: an array's size contains no comma.
pub(super) fn begins(next: Ahead<'_>) -> bool {
    let n = usize::from(matches!(next.punct(0), Some(Punct::Amp | Punct::AmpAmp)));
    next.is(n, Punct::LBracket) && next.is_ident(n + 1) && next.is(n + 2, Punct::Comma)
}

/// `[a, b]`, `&[a, b]`: a declarator named by its text, and the names in it.
pub(super) fn bindings<'t>() -> impl Production<'t, (Declared, Vec<Name>)> {
    let close = closing(Punct::RBracket, Expected::CommaOr(Punct::RBracket));
    let names = name()
        .separated_by(punct(Punct::Comma))
        .at_least(1)
        .collect::<Vec<Name>>()
        .delimited_by(punct(Punct::LBracket), close)
        .map_with(spanned);
    reference().or_not().then(names).map(|(reference, names)| {
        let texts: Vec<&str> = names.node.iter().map(|name| &*name.node).collect();
        let text = format!("[{}]", texts.join(", "));
        let name = Spanned::new(text.into(), names.span);
        let parts = reference.into_iter().collect();
        let declared = Declared {
            declarator: Declarator::new(Some(name), parts, names.span),
            variadic: false,
        };
        (declared, names.node)
    })
}
