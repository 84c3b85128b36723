//! Limits the total number of template instances of a program.
//!
//! A limit on depth alone is not enough: twenty levels that need two others each make a million instances. At the limit no more instances
//! are made, so that the open ones end quickly. One error reports the limit; later messages, which would only be about missing instances,
//! are dropped.

use super::super::Checker;
use super::{Instances, shortened};
use crate::sema::message::template::TemplateError;
use crate::sema::scope::TemplateId;
use ir::span::Span;

/// The most instances of functions, classes and variables together.
const MAX_INSTANCES: u32 = 1 << 16;

/// An alias is read again at each use, and costs less than an instance: this many count as one.
const ALIASES_PER_INSTANCE: u32 = 16;

/// The most bytes of the names of all instances: names of instances of instances may double with each level.
const MAX_NAME_BYTES: usize = 1 << 25;

/// The number of instances so far, and where the limit was exceeded.
#[derive(Default)]
pub(crate) struct Limit {
    /// Aliases read; an instance counts as [`ALIASES_PER_INSTANCE`].
    units: u32,
    name_bytes: usize,
    exceeded: Option<Box<Exceeded>>,
}

/// The first instance above the limit.
struct Exceeded {
    span: Span,
    message: TemplateError,
    /// The number of messages before it.
    before: usize,
}

impl Limit {
    pub(crate) fn is_exceeded(&self) -> bool {
        self.exceeded.is_some()
    }
}

/// Counts an instance that is about to be made at `span`; `false` if there are too many.
pub(crate) fn takes_instance(
    cx: &mut Checker<'_>,
    id: TemplateId,
    shown: &str,
    span: Span,
) -> bool {
    takes(cx, id, (ALIASES_PER_INSTANCE, shown), span)
}

/// Counts an alias that is about to be read at `span`; `false` if there are too many.
pub(crate) fn takes_alias(cx: &mut Checker<'_>, id: TemplateId, span: Span) -> bool {
    takes(cx, id, (1, ""), span)
}

fn takes(cx: &mut Checker<'_>, id: TemplateId, (units, shown): (u32, &str), span: Span) -> bool {
    let before = cx.reporter.diagnostics.len();
    let Instances {
        limit, templates, ..
    } = &mut cx.instances;
    if limit.is_exceeded() {
        return false;
    }
    limit.units += units;
    limit.name_bytes += shown.len();
    let (name, declared) = (templates[id].name.to_string(), templates[id].span);
    let message = if limit.units > MAX_INSTANCES * ALIASES_PER_INSTANCE {
        TemplateError::TooManyInstances {
            most: MAX_INSTANCES,
            name,
            declared,
        }
    } else if limit.name_bytes > MAX_NAME_BYTES {
        TemplateError::LongInstanceNames {
            last: shortened(shown),
            declared,
        }
    } else {
        return true;
    };
    limit.exceeded = Some(Box::new(Exceeded {
        span,
        message,
        before,
    }));
    false
}

/// Reports that there were too many instances, and removes the messages that follow from it; returns whether there were.
pub(crate) fn report(cx: &mut Checker<'_>) -> bool {
    let Some(exceeded) = cx.instances.limit.exceeded.take() else {
        return false;
    };
    cx.reporter.diagnostics.truncate(exceeded.before);
    cx.error(exceeded.span, exceeded.message);
    true
}
