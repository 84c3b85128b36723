//! The report as a page: one self-contained file that loads nothing and is readable without JavaScript.
//!
//! First comes the content of the text report's first screen (findings by root cause, and hot spots, each with a picture of its worst
//! request before and after a proved cure), then the program's text with counts beside each line, then the launches with each access and
//! its picture. One function escapes everything (`escape`). The page has a limited size: where a program has too much to show, the page has
//! the most important parts and says what is left out. Equal runs make equal pages.

mod diff;
mod findings;
mod launches;
mod picture;
mod source;
mod spots;
pub mod sweep;
mod turns;

use std::{collections::HashSet, fmt::Write};

use interp::{
    rules::{RuleSet, bank::SharedOp, coalesce::GlobalOp},
    stats::LaunchCounts,
};
use ir::LocId;

pub use picture::{Request, svg};

use crate::{Model, findings::table, total::Total};
use source::Files;

/// Size limits of a page and of some of its parts, in bytes.
const MAX_BYTES: usize = 8 << 20;
const MAX_OF_SOURCES: usize = 4 << 20;
/// Limit of the program's output.
const MAX_OF_OUTPUT: usize = 64 << 10;
/// Output of up to this many lines is visible at once.
const SHORT_OUTPUT: usize = 12;

/// Sentences that say what a page leaves out because of its size.
type LeftOut = Vec<String>;

/// The sites that the page shows, by launch and index.
type ShownSites = HashSet<(usize, usize)>;

/// The page of a run, which printed `stdout`.
pub fn page(model: &Model<'_>, stdout: &[u8]) -> String {
    let input = model.input;
    let files = Files::new(model);
    let mut left_out = vec![];
    let findings = findings::section(model, &files, &mut left_out);
    let spots = spots::section(model, &files, &mut left_out);
    let room = MAX_BYTES
        .saturating_sub(findings.len() + spots.len() + stdout.len().min(MAX_OF_OUTPUT) * 2)
        .saturating_sub(files.bytes().min(MAX_OF_SOURCES) + (128 << 10));
    let (launches, shown) = launches::section(model, &files, room, &mut left_out);
    let sources = source::section(&files, &shown, MAX_OF_SOURCES, &mut left_out);
    let mut text = head(input.program);
    let nav = [
        ("findings", "Findings", &findings),
        ("hot-spots", "Hot spots", &spots),
        ("source", "Source", &sources),
        ("launches", "Launches", &launches),
    ];
    text += "<div class=bar><div><nav aria-label=Parts>";
    for (id, name, section) in nav {
        if !section.is_empty() {
            let _ = write!(text, "<a href=\"#{id}\">{name}</a>");
        }
    }
    text += "</nav>";
    if !sources.is_empty() {
        text += METRICS;
    }
    text += THEMES;
    text += "</div></div>\n<main>\n";
    summary(&mut text, model, &left_out);
    output(&mut text, stdout);
    for section in [findings, spots, sources, launches] {
        text += &section;
    }
    let rules = input.gpu.is_none().then_some(input.rules);
    footer(
        &mut text,
        rules.map(|rules| (rules, how_counted(model))),
        model.has_unmodelled_atomics(),
    );
    text
}

/// A page of requests that no program made: each has a title and its cost in words.
pub fn requests(titled: &[(String, Request<'_>, String)], rules: &RuleSet) -> String {
    let mut text = head("banks");
    let _ = write!(
        text,
        "<div class=bar><div><nav></nav>{THEMES}</div></div>\n<main>\n<h1>Banks</h1>\n"
    );
    for (title, request, cost) in titled {
        let _ = writeln!(
            text,
            "<section class=card><header><h3><code>{}</code></h3><span class={}>{}</span></header>{}</section>",
            escape(title),
            if request.waste > 0 {
                "amount"
            } else {
                "\"amount ok\""
            },
            escape(cost),
            drawn(request, rules)
        );
    }
    footer(&mut text, Some((rules, String::new())), false);
    text
}

const METRICS: &str = "<fieldset class=pick><input type=radio name=metric id=excess data-column=x checked><label for=excess>excess</label>\
    <input type=radio name=metric id=actual data-column=a><label for=actual>actual</label>\
    <input type=radio name=metric id=ideal data-column=i><label for=ideal>ideal</label></fieldset>\
    <span class=\"hint dim\"><kbd>n</kbd> <kbd>p</kbd> next, previous hot line</span>";

const THEMES: &str = "<fieldset class=pick aria-label=Colours><input type=radio name=theme id=auto checked><label for=auto>auto</label>\
    <input type=radio name=theme id=light><label for=light>light</label>\
    <input type=radio name=theme id=dark><label for=dark>dark</label></fieldset>";

fn head(title: &str) -> String {
    // The page loads nothing, and neither can anything that might slip in from a program.
    let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
    format!(
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta http-equiv=Content-Security-Policy content=\"{policy}\">\n\
         <meta name=viewport content=\"width=device-width,initial-scale=1\">\n<meta name=generator content=dslc>\n<link rel=icon href=\"data:,\">\n\
         <title>{} – dslc</title>\n<style>\n{}{}\n</style>\n</head>\n<body>\n",
        escape(title),
        include_str!("html/page.css"),
        picture::pass_colors("52%")
    )
}

/// Which accesses were counted, as a sentence.
fn how_counted(model: &Model<'_>) -> String {
    match crate::text::compiler(model) {
        None => spots::sentence(crate::text::AS_WRITTEN),
        Some((compiler, true)) => format!(
            "The accesses are counted as compiled by {compiler} at -O3; the assembler may merge or drop some more."
        ),
        Some((compiler, false)) => format!(
            "The accesses are counted as written, and as compiled by {compiler} at -O3 where that differs; the assembler may merge or drop some more."
        ),
    }
}

/// The end of the page: where its counts come from, if it has any.
fn footer(text: &mut String, rules: Option<(&RuleSet, String)>, has_unmodelled_atomics: bool) {
    *text += "<footer>";
    if let Some((rules, how)) = rules {
        let _ = write!(
            text,
            "<p>Counted for {}{}. Shared memory: {}. Global memory (sectors of 32 bytes): {}. {}</p>",
            escape(&rules.title()),
            banks(rules),
            escape(&rules.shared.provenance(SharedOp::Load, 4).to_string()),
            escape(&rules.global.provenance(GlobalOp::Load).to_string()),
            escape(&how)
        );
        if has_unmodelled_atomics {
            let why = rules.shared.atomics_not_modelled().to_string();
            let _ = write!(text, "<p>Some shared atomics: {}.</p>", escape(&why));
        }
    }
    let _ = write!(
        text,
        "<p>Made by dslc.</p></footer>\n</main>\n<script>\n{}</script>\n</body>\n</html>\n",
        include_str!("html/page.js")
    );
}

fn banks(rules: &RuleSet) -> &'static str {
    match rules.bank_width.bytes() {
        8 if rules.given_by.is_none() => ", banks of 8 bytes",
        _ => "",
    }
}

/// What ran, and how it ended.
fn summary(text: &mut String, model: &Model<'_>, left_out: &LeftOut) {
    let input = model.input;
    let how = match input.gpu {
        Some(gpu) => format!("ran on {gpu}, which counts nothing"),
        None => format!(
            "simulated for {}{}",
            escape(&input.rules.title()),
            banks(input.rules)
        ),
    };
    let only = input
        .kernel
        .map(|kernel| format!(", launches of {} only", escape(kernel)));
    let _ = write!(
        text,
        "<h1>{}</h1>\n<p class=dim>{}{}</p>\n<ul class=facts>",
        escape(input.program),
        escape(&how),
        only.unwrap_or_default()
    );
    for (number, what) in facts(model) {
        let _ = write!(
            text,
            "<li><b>{}</b><span>{}</span></li>",
            escape(&number),
            escape(&what)
        );
    }
    text.push_str("</ul>\n");
    let notes = input.outcome.notes.iter();
    let plain = notes.filter(|note| note.fault.is_none());
    let unlisted = input.outcome.launches.unlisted();
    let unlisted = (unlisted > 0).then(|| format!("{unlisted} launches are not listed one by one"));
    let notes = plain
        .map(|note| note.text.as_str())
        .chain(unlisted.as_deref())
        .chain(left_out.iter().map(String::as_str));
    for note in notes.take(20) {
        let _ = writeln!(
            text,
            "<p class=dim>Note: {}.</p>",
            prose(note.trim_end_matches('.'))
        );
    }
}

/// The numbers at the head of the page, and what they count.
fn facts(model: &Model<'_>) -> Vec<(String, String)> {
    let input = model.input;
    let launches = input.outcome.launches.len();
    let what = if launches == 1 { "launch" } else { "launches" };
    let mut facts = vec![(launches.to_string(), what.to_string())];
    facts.extend(costs(model, Total::shared, "shared transactions"));
    facts.extend(costs(model, Total::global, "global sectors"));
    let muted = input.findings.iter().filter(|found| found.muted).count();
    let found = table::counts(&model.groups, input.findings, muted);
    facts.push(match &found[..] {
        [] => ("0".to_string(), "findings".to_string()),
        [(count, what), others @ ..] => {
            let others = others
                .iter()
                .map(|(count, what)| format!(", {count} {what}"));
            (
                count.to_string(),
                what.clone() + &others.collect::<String>(),
            )
        }
    });
    facts.push((input.outcome.exit_code.to_string(), "exit code".to_string()));
    facts
}

/// The cost of all launches in one kind of memory.
fn costs(
    model: &Model<'_>,
    total: fn(&LaunchCounts) -> Total,
    what: &str,
) -> Option<(String, String)> {
    let (mut used, mut ideal, mut is_known) = (0u64, 0u64, true);
    for kept in model.input.kept() {
        let total = total(&kept.report.counts);
        used = total.used.saturating_mul(kept.times()).saturating_add(used);
        ideal = total
            .ideal
            .saturating_mul(kept.times())
            .saturating_add(ideal);
        is_known &= total.is_known;
    }
    let shown = match is_known {
        true => used.to_string(),
        false => "?".to_string(),
    };
    (used > 0 || !is_known).then(|| (shown, format!("{what}, ideal {ideal}")))
}

/// What the program printed.
fn output(text: &mut String, stdout: &[u8]) {
    if stdout.is_empty() {
        return;
    }
    let shown = &stdout[..stdout.len().min(MAX_OF_OUTPUT)];
    let shown = String::from_utf8_lossy(shown);
    let lines = shown.lines().count();
    let open = if lines <= SHORT_OUTPUT { " open" } else { "" };
    let cut = match stdout.len() > MAX_OF_OUTPUT {
        true => format!(", the first {} KiB", MAX_OF_OUTPUT >> 10),
        false => String::new(),
    };
    let _ = write!(
        text,
        "<details{open}><summary>what the program printed ({lines} line{}{cut})</summary><pre class=out>\n{}</pre></details>\n",
        if lines == 1 { "" } else { "s" },
        escape(&shown)
    );
}

/// A request's pictures, with a sentence.
fn drawn(request: &Request<'_>, rules: &RuleSet) -> String {
    let mut text = format!(
        "<p class=dim>{}</p>",
        escape(&picture::sentence(request, rules))
    );
    let drawings = picture::drawings(request, rules);
    if !drawings.is_empty() {
        text += "<div class=pics>";
        drawings
            .iter()
            .for_each(|drawing| text += &drawing.element());
        text += "</div>";
    }
    text
}

/// Text as text, also in the value of an attribute: characters with a meaning in HTML are escaped, characters that no page may contain are
/// replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\r' => {}
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            // Characters that change the direction of text could show a program that is not the one that ran.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A sentence: the text between backquotes is code.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // An unpaired backquote is text.
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        match at % 2 {
            0 => out += &escape(part),
            _ => {
                let _ = write!(out, "<code>{}</code>", escape(part));
            }
        }
    }
    out
}

/// The place by file number of the module and line.
fn place(model: &Model<'_>, loc: LocId) -> Option<(u32, u32, u32)> {
    let module = model.input.module;
    let loc = module.loc(ir::locate::in_program(module, loc)?);
    (loc.line > 0).then_some((loc.file, loc.line, loc.column))
}
