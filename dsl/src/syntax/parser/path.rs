//! Names with template arguments: `f<float, 4>`, `Tile<T>::Row`. `angles` has marked their `<`.

use chumsky::prelude::*;

use super::{
    kit::{
        P, Production, angles, at, either, flag, flag_word, name, punct, repeat_while, when, whole,
    },
    lookahead::{Ahead, is_type_argument},
};
use crate::syntax::{
    ast::{Expr, Path, Segment, TemplateArg, TypeName},
    token::{Keyword, Punct},
};
use ir::span::Spanned;

/// A path; its arguments are read by `argument`.
pub(super) fn path<'t>(argument: impl Production<'t, TemplateArg>) -> P<'t, Path> {
    let args = when(at(Punct::AngleOpen), angles(argument));
    let segment = flag_word(Keyword::Template)
        .ignore_then(name())
        .then(args)
        .map(|(name, args)| Segment { name, args })
        .boxed();
    // The global namespace has no name.
    let global = punct(Punct::ColonColon).map_with(|(), extra| Segment {
        name: Spanned::new("".into(), whole(extra)),
        args: None,
    });
    let goes_on = |next: Ahead<'_>| {
        next.is(0, Punct::ColonColon) && (next.is_name(1) || next.is_word(1, Keyword::Template))
    };
    let more = repeat_while(
        goes_on,
        punct(Punct::ColonColon).ignore_then(segment.clone()),
    );
    when(at(Punct::ColonColon), global)
        .then(segment)
        .then(more)
        .map_with(|((global, first), more), extra| Path {
            segments: global.into_iter().chain([first]).chain(more).collect(),
            span: whole(extra),
        })
        .boxed()
}

/// A template argument.
pub(super) fn argument<'t>(
    element: impl Production<'t, Expr>,
    type_name: impl Production<'t, TypeName>,
) -> impl Production<'t, TemplateArg> {
    let ty = type_name.map(TemplateArg::Type);
    let value = element.map(TemplateArg::Value);
    either(is_type_argument, ty, value)
        .then(flag(Punct::Ellipsis))
        .map(|(argument, is_expansion)| match is_expansion {
            true => TemplateArg::Expansion(Box::new(argument)),
            false => argument,
        })
}
