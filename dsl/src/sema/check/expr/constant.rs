//! Values that must be known before the program runs.
//!
//! Calls of `constexpr` functions in them are evaluated here and are then removed from the call graph: they may be calls of functions for
//! the other side.

use crate::sema::check::{Checker, FunctionEntry, Reported, Reporter, Tables, function_template};
use crate::sema::message::expr::{ExprError, Needed};
use crate::sema::{
    classify::Classify,
    const_eval::{Const, Constexpr, MAX_REPEATED_STEPS, Machine, NotConst, TOO_MANY_STEPS},
    typed::{FunctionId, Value},
};
use ir::{diagnostic::Code, span::Span};

/// The constant that a value must be. Removes its calls.
pub(crate) fn of(cx: &mut Checker<'_>, value: &Value) -> Result<Const, NotConst> {
    let constant = if_any(cx, value)?;
    forget_calls(cx, value.span);
    Ok(constant)
}

/// The constant that a value may be. Keeps its calls.
pub(crate) fn if_any(cx: &mut Checker<'_>, value: &Value) -> Result<Const, NotConst> {
    let mut steps = 0;
    loop {
        let functions = &cx.tables.functions;
        let constexpr = |id: FunctionId| {
            let FunctionEntry { typed, facts } = &functions[id];
            facts.is_constexpr.then_some(match facts.is_incomplete {
                true => Constexpr::Wrong,
                false => Constexpr::Function(typed),
            })
        };
        let mut machine = Machine::new(&constexpr);
        let result = machine.value(value);
        let Err(NotConst::NoBody(id, span)) = result else {
            return result;
        };
        // Each attempt starts again from the beginning.
        steps += machine.steps();
        if steps > MAX_REPEATED_STEPS {
            return Err(NotConst::Stopped(span, TOO_MANY_STEPS));
        }
        // The body is usually checked later, but its value is needed now.
        function_template::check_early(cx, id);
        if cx.tables.functions[id].typed.body.is_none() {
            return result;
        }
    }
}

/// The integer that a value is, if it is a constant.
pub(crate) fn integer(cx: &mut Checker<'_>, value: &Value) -> Result<u64, NotConst> {
    if !value.ty.is_integral() {
        return Err(NotConst::Variable(value.span));
    }
    match of(cx, value)? {
        Const::Int(bits) => Ok(bits),
        Const::Float(_) => Err(NotConst::Variable(value.span)),
    }
}

/// Reports that `what` has to be a constant, and why this value is not one.
pub(crate) fn report_not_constant(
    tables: &Tables,
    reporter: &mut Reporter,
    span: Span,
    what: Needed,
    why: NotConst,
) -> Reported {
    let (place, reason) = why.reason().unzip();
    let reason = reason.unwrap_or_default();
    reporter.error(
        tables,
        span,
        ExprError::NotConstant {
            what,
            place,
            reason,
        },
    )
}

/// Removes the calls in a constant, which has been replaced by its value.
fn forget_calls(cx: &mut Checker<'_>, span: Span) {
    let inside = |at: Span| at.file == span.file && at.start >= span.start && at.end <= span.end;
    let is_side = |code| matches!(code, Code::HostCallInDevice | Code::DeviceCallInHost);
    // Only the last messages, each place once: earlier ones are about other instances.
    let mut seen = Vec::new();
    while let Some(last) = cx.reporter.diagnostics.last()
        && is_side(last.code)
        && inside(last.primary.span)
        && !seen.contains(&last.primary.span)
    {
        seen.push(last.primary.span);
        cx.reporter.diagnostics.pop();
    }
    cx.reporter
        .deferred
        .retain(|old| !is_side(old.diagnostic.code) || !inside(old.diagnostic.primary.span));
    let Some(caller) = cx.body.id else { return };
    let facts = &mut cx.tables.functions[caller].facts;
    let Some(first) = facts.calls.iter().position(|(_, at)| inside(*at)) else {
        return;
    };
    facts.calls.retain(|(_, at)| !inside(*at));
    // The calls after the removed ones have moved.
    facts.n_followed = facts.n_followed.min(first);
}
