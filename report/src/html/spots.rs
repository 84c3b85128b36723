//! The hot spots, worst first: the waste, the cure, and the worst request before and after it.

use std::fmt::Write;

use interp::Site;

use super::{LeftOut, Request, diff::diff, drawn, escape, prose, source::Files};
use crate::{
    Model, Suggestion,
    model::HotSpot,
    text::screen::{amount, ways},
};

/// Most hot spots on the page, and most accesses of one.
const MAX_SPOTS: usize = 60;
const MAX_ACCESSES: usize = 6;

/// The section: a sentence if nothing wastes, empty if nothing was counted.
pub(super) fn section(model: &Model<'_>, files: &Files<'_>, left_out: &mut LeftOut) -> String {
    if model.hot_spots.is_empty() {
        return match model.launches.is_empty() || model.input.gpu.is_some() {
            true => String::new(),
            false => "<section id=hot-spots>\n<h2>Hot spots</h2>\n<p>None: no access whose cost is modelled wastes enough to list.</p></section>\n".to_string(),
        };
    }
    let mut text = String::from("<section id=hot-spots>\n<h2>Hot spots, worst first</h2>\n");
    for (at, spot) in model.hot_spots.iter().take(MAX_SPOTS).enumerate() {
        card(&mut text, model, files, spot, at + 1);
    }
    if model.hot_spots.len() > MAX_SPOTS {
        let more = model.hot_spots.len() - MAX_SPOTS;
        left_out.push(format!(
            "the worst {MAX_SPOTS} hot spots are shown, {more} are left out"
        ));
    }
    text + "</section>\n"
}

/// A hot spot: its line, its accesses, what happens there, and the proved cures or what may help.
fn card(text: &mut String, model: &Model<'_>, files: &Files<'_>, spot: &HotSpot, number: usize) {
    let input = model.input;
    let file = input
        .module
        .files
        .iter()
        .position(|name| *name == spot.file);
    let link = match file {
        Some(file) => files.link(file as u32, spot.line),
        None => escape(&format!("{}:{}", spot.file, spot.line)),
    };
    let _ = write!(
        text,
        "<article class=card id=spot-{number}><header><h3>{number}. {link}</h3><span class=dim>{}</span><span class=amount>{}</span></header>\n\
         <code class=line>{}</code>",
        escape(&spot.kernels.join(", ")),
        escape(&amount(spot)),
        escape(&spot.source)
    );
    if spot.accesses.len() > 1 {
        *text += "<ul>";
        for access in spot.accesses.iter().take(MAX_ACCESSES) {
            let _ = write!(
                text,
                "<li class=num>{} <code>{}</code>: {} where {} would do</li>",
                access.op,
                escape(&access.text),
                access.used,
                access.ideal
            );
        }
        *text += "</ul>";
    }
    if !spot.ways.is_empty() {
        let _ = write!(text, "<p class=\"dim num\">{}</p>", escape(&ways(spot)));
    }
    let _ = write!(text, "<p>{}</p>", prose(&sentence(&spot.fact)));
    let cures = model.cures(spot);
    let proved = cures.iter().find(|cure| cure.verified);
    match proved {
        Some(_) => {
            let proved = cures.iter().filter(|cure| cure.verified);
            proved.for_each(|cure| proof(text, model, cure));
        }
        None => {
            let thought = cures
                .first()
                .map(|cure| cure.text.clone())
                .or_else(|| spot.thought.as_ref().map(ToString::to_string));
            if let Some(thought) = thought {
                let _ = write!(text, "<p class=try><b>Try:</b> {}</p>", prose(&thought));
            }
        }
    }
    let own = proved.and_then(|cure| site(model, (cure.launch, cure.site?)));
    let before = own.or_else(|| worst(model, spot));
    let after = proved.and_then(|cure| cure.after_site.as_deref());
    if let Some(before) = before.and_then(Request::of) {
        let after = after.and_then(Request::of);
        let title = if after.is_some() {
            "Now"
        } else {
            "The worst request"
        };
        let _ = write!(
            text,
            "<div class=step><b>{title}</b>{}</div>",
            drawn(&before, input.rules)
        );
        if let Some(after) = after {
            let _ = write!(
                text,
                "<div class=step><b>With the cure</b>{}</div>",
                drawn(&after, input.rules)
            );
        }
    }
    *text += "</article>\n";
}

fn proof(text: &mut String, model: &Model<'_>, cure: &Suggestion) {
    let _ = write!(
        text,
        "<p class=try><b>Cure, {}:</b> {}</p><p class=dim>{}</p>",
        cure.holds.word(),
        prose(&cure.sentence()),
        prose(&sentence(&cure.because))
    );
    *text += &diff(&cure.edits, model.input.map);
}

fn site<'a>(model: &Model<'a>, (launch, site): (usize, usize)) -> Option<&'a Site> {
    model.input.outcome.launches.get(launch)?.sites.get(site)
}

/// The site of a hot spot whose worst request wastes most.
fn worst<'a>(model: &Model<'a>, spot: &HotSpot) -> Option<&'a Site> {
    let sites = spot.sites.iter().filter_map(|&place| site(model, place));
    let waste = |site: &&Site| site.witness.as_ref().map(|witness| witness.waste);
    // Of equals, the first.
    sites.rev().max_by_key(waste)
}

/// A text as a sentence.
pub(super) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => format!(
            "{}{}.",
            first.to_uppercase(),
            chars.as_str().trim_end_matches('.')
        ),
        None => String::new(),
    }
}
