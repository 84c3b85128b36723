//! How deep a program may nest. Productions recurse, and so does every stage after the parser, so both the nesting of
//! brackets and statements and the length of operator chains are bounded, far above what people write.

use chumsky::prelude::*;

use super::{
    kit::{At, Ex, In, ahead, custom_clone, fail},
    recover::{Failure, What},
};
use crate::diagnostic::{Code, Diagnostic};

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
            return too_deep(inp, "nested too deeply", "more than 200 brackets or statements are open here");
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
        let result = inp.parse(&parser);
        inp.state().operators = outside;
        result
    })
}

/// Counts the operator that comes next.
pub(super) fn count_operator(inp: &mut At<'_, '_>) -> Result<(), Failure> {
    inp.state().operators += 1;
    if inp.state().operators > MAX_OPERATORS {
        return too_deep(inp, "this expression is too long", "the 1001st operator of the expression");
    }
    Ok(())
}

fn too_deep<O>(inp: &mut At<'_, '_>, message: &str, label: &str) -> Result<O, Failure> {
    let at = ahead(inp).at;
    let span = inp.state().place(at);
    let diagnostic = Diagnostic::error(Code::NestedTooDeeply, span, message).at(label);
    fail(inp, What::Said(Box::new(diagnostic.help("split it: name a part with a variable, or move it to a function"))))
}
