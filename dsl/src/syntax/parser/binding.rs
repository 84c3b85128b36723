//! The declarator of a structured binding: `auto [a, b] = f();`.

use super::{
    decl::Declared,
    kit::{At, ahead, fail},
};
use crate::{
    span::Spanned,
    syntax::{
        ast::{Declarator, DeclaratorPart, Name},
        message::parse::Expected,
        token::{Punct, TokenKind},
    },
};

/// `[a, b]`, `&[a, b]`: a declarator named by its text, and the names in it.
pub(super) fn bindings(
    inp: &mut At<'_, '_>,
) -> Result<Option<(Declared, Vec<Name>)>, super::recover::Failure> {
    let look = ahead(inp);
    let n_pointers = usize::from(matches!(look.punct(0), Some(Punct::Amp | Punct::AmpAmp)));
    // An array's size has no comma in it.
    let is_list = look.is(n_pointers, Punct::LBracket)
        && matches!(look.kind(n_pointers + 1), Some(TokenKind::Ident(_)))
        && look.is(n_pointers + 2, Punct::Comma);
    if !is_list {
        return Ok(None);
    }
    let mut names = Vec::new();
    let mut n = n_pointers + 1;
    loop {
        let Some(TokenKind::Ident(name)) = look.kind(n) else {
            super::kit::skip(inp, n);
            return fail(inp, Expected::Name);
        };
        names.push(Spanned::new(name.clone(), inp.state().place(look.at + n)));
        n += 2;
        match look.punct(n - 1) {
            Some(Punct::Comma) => {}
            Some(Punct::RBracket) => break,
            _ => {
                super::kit::skip(inp, n - 1);
                return fail(inp, Expected::CommaOr(Punct::RBracket));
            }
        }
    }
    let reference = look.punct(0);
    let place = inp.state().place(look.at);
    let parts = match reference {
        Some(Punct::Amp) => vec![DeclaratorPart::Reference(place)],
        Some(Punct::AmpAmp) => vec![DeclaratorPart::RvalueReference(place)],
        _ => Vec::new(),
    };
    let span = inp.state().span(look.at + n_pointers, look.at + n);
    let texts: Vec<&str> = names.iter().map(|name| &*name.node).collect();
    let name = Spanned::new(format!("[{}]", texts.join(", ")).into(), span);
    super::kit::skip(inp, n);
    let declarator = Declarator::new(Some(name), parts, span);
    let declared = Declared {
        declarator,
        variadic: false,
    };
    Ok(Some((declared, names)))
}
