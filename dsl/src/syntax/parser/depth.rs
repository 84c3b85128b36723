//! How deep a program may nest. Productions recurse, and so does every stage after the parser, so both the nesting of
//! brackets and statements and the length of operator chains are bounded, far above what people write.
//!
//! The deepest input fits a stack of 2 MB as this workspace is built for tests, of 8 MB without any optimisation. Of
//! several such errors in a file only the first is given.

use chumsky::prelude::*;

use super::{
    kit::{At, Ex, In, custom_clone, fail_with, here},
    recover::Failure,
};
use crate::syntax::message::parse::SyntaxError;

/// How many brackets, statements, initialiser lists and declarators may be open inside each other.
pub const MAX_NESTING: u32 = 200;

/// How many operators (calls, subscripts and commas included) one expression may have.
pub const MAX_OPERATORS: u32 = 1000;

/// `parser`, one level deeper.
pub(super) fn nested<'t, O: 't>(
    parser: impl Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't,
) -> impl Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't {
    custom_clone(move |inp| {
        if inp.state().depth >= MAX_NESTING {
            return too_deep(inp, SyntaxError::TooDeep { limit: MAX_NESTING });
        }
        inp.state().depth += 1;
        let result = inp.parse(&parser);
        inp.state().depth -= 1;
        result
    })
}

/// `parser` as an expression whose operators are counted from zero.
pub(super) fn counted<'t, O: 't>(
    parser: impl Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't,
) -> impl Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't {
    custom_clone(move |inp| {
        let outside = std::mem::take(&mut inp.state().operators);
        inp.state().expressions += 1;
        let result = inp.parse(&parser);
        inp.state().expressions -= 1;
        inp.state().operators = outside;
        result
    })
}

/// [`counted`] where no expression is open; inside one, operators add to its.
pub(super) fn counted_if_outermost<'t, O: 't>(
    parser: impl Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't,
) -> impl Parser<'t, In<'t>, O, Ex<'t>> + Clone + 't {
    let outermost = counted(parser.clone());
    custom_clone(move |inp| {
        if inp.state().expressions == 0 {
            inp.parse(&outermost)
        } else {
            inp.parse(&parser)
        }
    })
}

/// Counts the operator that comes next.
pub(super) fn count_operator(inp: &mut At<'_, '_>) -> Result<(), Failure> {
    inp.state().operators += 1;
    if inp.state().operators > MAX_OPERATORS {
        let limit = MAX_OPERATORS;
        return too_deep(inp, SyntaxError::TooLong { limit });
    }
    Ok(())
}

fn too_deep<O>(inp: &mut At<'_, '_>, error: SyntaxError) -> Result<O, Failure> {
    let at = here(inp);
    let span = inp.state().place(at);
    fail_with(inp, span, error)
}
