//! Findings as messages for people: the same form as the front end's, with every access of the finding shown in its source.

use dsl::{
    diagnostic::{self, Diagnostic},
    ir::{
        LocId, Module,
        locate::{self, Extent},
    },
    source::SourceMap,
};
use interp::Severity;

use super::{Found, Side, lanes};

/// All findings that are not muted, one after the other.
pub(crate) fn all(
    found: &[Found],
    module: &Module,
    map: &SourceMap,
    color: bool,
    columns: usize,
) -> String {
    let mut text = String::new();
    for found in found.iter().filter(|found| !found.muted) {
        if !text.is_empty() {
            text.push('\n');
        }
        let message = diagnostic(found, module, map);
        text += &diagnostic::render::render(&[message], map, color, Some(columns));
        text += &lanes::draw(found, module);
    }
    text
}

/// How bad, in the front end's words.
pub(crate) fn severity(severity: Severity) -> diagnostic::Severity {
    match severity {
        Severity::Note => diagnostic::Severity::Note,
        Severity::Warning => diagnostic::Severity::Warning,
        Severity::Error => diagnostic::Severity::Error,
    }
}

fn diagnostic(found: &Found, module: &Module, map: &SourceMap) -> Diagnostic {
    let place = |loc: LocId| locate::span(loc, Extent::Name, module, map);
    let (first, rest) = match found.sides.split_first() {
        Some((first, rest)) => (Some(first), rest),
        None => (None, [].as_slice()),
    };
    let at = first.and_then(|side| place(side.loc)).unwrap_or_default();
    let mut message = Diagnostic::error(found.code, at, &found.message);
    message.severity = severity(found.severity);
    if let Some(first) = first {
        message = message.at(label(first));
    }
    for side in rest {
        message = match place(side.loc) {
            Some(span) => message.label(span, label(side)),
            None => message.note(label(side)),
        };
    }
    for (loc, text) in &found.others {
        message = match place(*loc) {
            Some(span) => message.label(span, text),
            None => message.note(text),
        };
    }
    for note in ways(found, module) {
        message = message.note(note);
    }
    if let Some(note) = times(found) {
        message = message.note(note);
    }
    match &found.advice {
        Some(advice) => message.help(advice),
        None => message,
    }
}

/// `write of 5 by thread (33, 0, 0) of block (0, 0, 0), lane 1 of warp 1`; empty on the host.
pub(crate) fn label(side: &Side) -> String {
    let Some((warp, lane)) = side.lane else {
        return String::new();
    };
    let ([bx, by, bz], [tx, ty, tz]) = (side.block, side.thread);
    let volatile = if side.volatile { "volatile " } else { "" };
    let value = side
        .value
        .as_ref()
        .map_or(String::new(), |value| format!(" of {value}"));
    let who = format!(
        "thread ({tx}, {ty}, {tz}) of block ({bx}, {by}, {bz}), lane {lane} of warp {warp}"
    );
    if side.op == "stop" {
        return who;
    }
    format!("{volatile}{}{value} by {who}", side.op)
}

/// The calls and macros by which the accesses came about.
fn ways(found: &Found, module: &Module) -> Vec<String> {
    let mut ways: Vec<String> = vec![];
    for side in &found.sides {
        let mut via = module.loc(side.loc).via;
        while let Some(id) = via {
            let loc = module.loc(id);
            let file = module
                .files
                .get(loc.file as usize)
                .map_or("", String::as_str);
            let way = format!("by way of {file}:{}:{}", loc.line, loc.column);
            if !ways.contains(&way) {
                ways.push(way);
            }
            via = loc.via;
        }
    }
    ways
}

/// How often, if more than once.
fn times(found: &Found) -> Option<String> {
    let kernel = found.kernel.as_deref().unwrap_or("the host");
    match (found.count, found.launches) {
        (0 | 1, 1) => None,
        (count, 1) => Some(format!("{count} times in this launch of `{kernel}`")),
        (count, launches) => Some(format!(
            "{count} times in {launches} launches of `{kernel}`"
        )),
    }
}
