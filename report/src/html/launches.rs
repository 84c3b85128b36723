//! The launches, equal ones once, with each access and its worst request.

use std::{collections::HashMap, fmt::Write};

use interp::{CompiledCounts, Counted, Site, stats::LaunchCounts};
use ir::Space;
use runtime::launches::IdenticalLaunches;

use super::{LeftOut, Request, ShownSites, drawn, escape, prose, source::Files, spots::sentence};
use crate::{
    Model, advice,
    compiled::ByPlace,
    text::{counted, dim},
};

/// The section within `room` bytes, and the sites it shows; empty without launches.
pub(super) fn section(
    model: &Model<'_>,
    files: &Files<'_>,
    room: usize,
    left_out: &mut LeftOut,
) -> (String, ShownSites) {
    let mut shown = ShownSites::new();
    let all: Vec<&IdenticalLaunches> = model.input.kept().collect();
    if all.is_empty() {
        return (String::new(), shown);
    }
    let mut text = String::from("<section id=launches>\n<h2>Launches</h2>\n");
    if all.iter().any(|kept| {
        !matches!(
            kept.report.order.counted,
            Counted::Run | Counted::Part { .. }
        )
    }) {
        let _ = writeln!(text, "<p>{}.</p>", counted::LEFT_OUT);
    }
    // Equal pictures are drawn once.
    let mut drawings: HashMap<String, (usize, usize)> = HashMap::new();
    let (mut lost, mut undrawn) = (0u64, 0u64);
    for (at, kept) in all.iter().enumerate() {
        // A later, smaller launch might fit, but a list with gaps would confuse.
        if text.len() > room {
            lost += all[at..].iter().map(|kept| kept.count).sum::<u64>();
            break;
        }
        header(&mut text, model, files, kept);
        for (index, site) in kept.report.sites.iter().enumerate() {
            let is_shown = matches!(site.space, Space::Shared | Space::Global | Space::Constant)
                && site.counts.requests > 0;
            if !is_shown || text.len() > room {
                continue;
            }
            let place = (kept.first, index);
            access(&mut text, model, files, (kept, site), place);
            shown.insert(place);
            if text.len() > room / 10 * 9 {
                undrawn += 1;
                text += "</section>\n";
                continue;
            }
            if let Some(request) = Request::of(site) {
                let picture = drawn(&request, model.input.rules);
                match drawings.get(&picture) {
                    Some((launch, site)) => {
                        let _ = write!(
                            text,
                            "<p class=dim>Its worst request is that of <a href=\"#site-{launch}-{site}\">launch {launch}, access {site}</a>.</p>"
                        );
                    }
                    None => {
                        let open = if wasted(site) > 0 { " open" } else { "" };
                        let _ = write!(
                            text,
                            "<details{open}><summary>its worst request</summary>{picture}</details>"
                        );
                        drawings.insert(picture, place);
                    }
                }
            }
            text += "</section>\n";
        }
        text += "</details>\n";
    }
    if lost > 0 {
        left_out.push(format!(
            "the last {lost} launches are left out: they would make the page too large"
        ));
    }
    if undrawn > 0 {
        left_out.push(format!(
            "{undrawn} accesses have no picture: it would make the page too large"
        ));
    }
    (text + "</section>\n", shown)
}

fn header(text: &mut String, model: &Model<'_>, files: &Files<'_>, kept: &IdenticalLaunches) {
    let launch = &kept.report;
    let times = match (kept.count, kept.is_sum) {
        (1, _) => String::new(),
        (count, false) => format!("<span class=dim>×{count} alike</span>"),
        (count, true) => format!("<span class=dim>sum of {count}</span>"),
    };
    let sum = |parts: [(u64, u64, bool); 3], unit: &str| {
        let known = parts.iter().all(|part| part.2);
        let used: u64 = parts.iter().map(|part| part.0).sum();
        let ideal: u64 = parts.iter().map(|part| part.1).sum();
        match (known, used) {
            (false, _) => format!("<span class=num>{unit} not modelled</span>"),
            (true, 0) => String::new(),
            (true, used) => format!("<span class=num>{unit} {used}, ideal {ideal}</span>"),
        }
    };
    let sums = |counts: &LaunchCounts| {
        let shared = [
            &counts.shared_load,
            &counts.shared_store,
            &counts.shared_atomic,
        ]
        .map(|part| (part.transactions, part.ideal, !part.not_modelled()));
        let global = [
            &counts.global_load,
            &counts.global_store,
            &counts.global_atomic,
        ]
        .map(|part| (part.sectors, part.ideal_sectors, !part.not_modelled()));
        sum(shared, "shared") + &sum(global, "sectors")
    };
    let written = sums(&launch.counts);
    let compiled = ByPlace::of(launch).map(|compiled| sums(compiled.counts));
    let _ = writeln!(
        text,
        "<details class=launch id=launch-{0}><summary><span class=dim>{0}</span><code>{1}&lt;&lt;&lt;{2}, {3}&gt;&gt;&gt;</code>{times}{written}</summary>",
        kept.first,
        escape(&launch.kernel_name),
        dim(launch.grid),
        dim(launch.block)
    );
    if let Some(compiled) = compiled.filter(|compiled| *compiled != written) {
        let _ = writeln!(text, "<p>As compiled: {compiled}</p>");
    }
    if let Some(CompiledCounts::Not(why)) = &launch.compiled {
        let _ = writeln!(text, "<p>Not counted as compiled: {}</p>", escape(why));
    }
    let bytes = launch.shared.fixed + launch.shared.dynamic;
    let mut details = vec![];
    if launch.statement.line > 0 {
        details.push(format!(
            "launched in {}",
            files.line_link(launch.statement.file, launch.statement.line)
        ));
    }
    if bytes > 0 {
        details.push(format!("{bytes} bytes of shared memory"));
    }
    if !details.is_empty() {
        let _ = writeln!(text, "<p class=dim>{}</p>", details.join(", "));
    }
    if let Some(how) = counted::sentence(launch, model) {
        let _ = writeln!(text, "<p>{}</p>", escape(&how));
    }
}

fn wasted(site: &Site) -> u64 {
    let (used, ideal) = cost(site);
    used.saturating_sub(ideal)
}

fn cost(site: &Site) -> (u64, u64) {
    let counts = &site.counts;
    match site.space {
        Space::Global => (counts.sectors, counts.ideal_sectors),
        _ => (counts.transactions, counts.ideal),
    }
}

fn access(
    text: &mut String,
    model: &Model<'_>,
    files: &Files<'_>,
    (kept, site): (&IdenticalLaunches, &Site),
    (launch, index): (usize, usize),
) {
    let place = super::place(model, site.loc);
    let link = place.map_or_else(
        || format!("line {}", site.line),
        |(file, line, _)| files.line_link(file, line),
    );
    let counts = &site.counts;
    let (used, ideal) = cost(site);
    let unit = match site.space {
        Space::Global => "sectors",
        Space::Constant => "words",
        _ => "transactions",
    };
    let cost = match counts.not_modelled() {
        true => format!("{unit} not modelled"),
        false => format!("{used} {unit}, ideal {ideal}"),
    };
    let worst = match (site.space, counts.max_degree) {
        (Space::Shared, degree) if degree > 1 => format!(", worst {degree}-way"),
        _ => String::new(),
    };
    let requests = counts.requests;
    let _ = write!(
        text,
        "<section class=site id=site-{launch}-{index}><h3><code>{}</code></h3><p class=\"dim num\">{} {}, {} byte{}, {link}: {requests} request{}, {cost}{worst}</p>",
        escape(&site.text),
        site.space,
        site.op,
        site.width_bytes,
        if site.width_bytes == 1 { "" } else { "s" },
        if requests == 1 { "" } else { "s" },
    );
    let compiled = ByPlace::of(&kept.report);
    let is_cured = compiled.as_ref().is_some_and(|all| all.is_cured(site));
    let advice = advice::of_site(site, &kept.report, model.input);
    if let Some(advice) = advice.filter(|_| !is_cured) {
        let _ = write!(text, "<p>{}</p>", prose(&advice.fact));
    }
    if let Some(remark) = compiled.and_then(|compiled| compiled.remark(site)) {
        let _ = write!(text, "<p>{}</p>", prose(&sentence(&remark)));
    }
}
