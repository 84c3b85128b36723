//! Names with template arguments: `f<float, 4>`, `Tile<T>::Row`. `angles` has marked which `<` these are.

use chumsky::prelude::*;

use super::{
    kit::{P, ahead, angles, at, fail, here, production, take, take_word, when},
    lookahead::is_type_argument,
};
use crate::{
    span::Spanned,
    syntax::{
        ast::{Expr, Path, Segment, TemplateArg, TypeName},
        message::parse::Expected,
        token::{Keyword, Punct},
    },
};

/// A path; its arguments are read by `argument`.
pub(super) fn path<'t>(argument: P<'t, TemplateArg>) -> P<'t, Path> {
    let arguments = when(at(Punct::AngleOpen), angles(argument)).boxed();
    production(move |inp| {
        let start = here(inp);
        let mut segments = Vec::new();
        loop {
            let look = ahead(inp);
            if look.is(0, Punct::ColonColon) {
                if segments.is_empty() {
                    let name = Spanned::new("".into(), inp.state().place(look.at));
                    segments.push(Segment { name, args: None });
                }
                inp.skip();
            }
            take_word(inp, Keyword::Template);
            let look = ahead(inp);
            let Some(text) = look.name(0) else {
                return fail(inp, Expected::Name);
            };
            let name = Spanned::new(text.clone(), inp.state().place(look.at));
            inp.skip();
            let args = inp.parse(&arguments)?;
            segments.push(Segment { name, args });
            let look = ahead(inp);
            let goes_on = look.is(0, Punct::ColonColon)
                && (look.is_name(1) || look.is_word(1, Keyword::Template));
            if !goes_on {
                let span = inp.state().span(start, look.at);
                return Ok(Path { segments, span });
            }
        }
    })
}

/// A template argument.
pub(super) fn argument<'t>(element: P<'t, Expr>, type_name: P<'t, TypeName>) -> P<'t, TemplateArg> {
    let element = element.map(TemplateArg::Value).boxed();
    let type_name = type_name.map(TemplateArg::Type).boxed();
    production(move |inp| {
        let argument = match is_type_argument(ahead(inp)) {
            true => inp.parse(&type_name)?,
            false => inp.parse(&element)?,
        };
        if take(inp, Punct::Ellipsis) {
            return Ok(TemplateArg::Expansion(Box::new(argument)));
        }
        Ok(argument)
    })
}
