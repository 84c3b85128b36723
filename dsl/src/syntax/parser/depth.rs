//! Limits how deep a program may nest. Productions recurse, and so does every later stage. So both the nesting of brackets and statements
//! and the length of operator chains are limited, far above what people write.
//!
//! The deepest input fits a stack of 2 MB as this workspace is built for tests, and of 8 MB without any optimisation. Only the first of
//! several such errors in a file is reported.

use super::{
    kit::{At, Production, State, by_hand, fail_with, position, scoped},
    recover::Failure,
};
use crate::syntax::message::parse::SyntaxError;

/// How many brackets, statements, initialiser lists and declarators may be open inside each other.
pub const MAX_NESTING: u32 = 200;

/// How many operators (calls, subscripts and commas included) one expression may have.
pub const MAX_OPERATORS: u32 = 1000;

/// `parser`, one level deeper.
pub(super) fn nested<'t, O: 't>(parser: impl Production<'t, O>) -> impl Production<'t, O> {
    by_hand(move |inp| {
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
pub(super) fn counted<'t, O: 't>(parser: impl Production<'t, O>) -> impl Production<'t, O> {
    let enter = |state: &mut State<'t>| {
        state.expressions += 1;
        std::mem::take(&mut state.operators)
    };
    let leave = |state: &mut State<'t>, outside| {
        state.expressions -= 1;
        state.operators = outside;
    };
    scoped(enter, leave, parser)
}

/// [`counted`] if no expression is open; inside one, operators count towards it.
pub(super) fn counted_if_outermost<'t, O: 't>(
    parser: impl Production<'t, O>,
) -> impl Production<'t, O> {
    let outermost = counted(parser.clone());
    by_hand(move |inp| match inp.state().expressions {
        0 => inp.parse(&outermost),
        _ => inp.parse(&parser),
    })
}

/// Counts the next operator, without consuming it.
pub(super) fn operator<'t>() -> impl Production<'t, ()> {
    by_hand(|inp| {
        inp.state().operators += 1;
        match inp.state().operators > MAX_OPERATORS {
            true => too_deep(
                inp,
                SyntaxError::TooLong {
                    limit: MAX_OPERATORS,
                },
            ),
            false => Ok(()),
        }
    })
}

fn too_deep<'t, O: 't>(inp: &mut At<'t, '_>, error: SyntaxError) -> Result<O, Failure> {
    let at = position(inp);
    let span = inp.state().place(at);
    fail_with(inp, span, error)
}
