//! Findings by root cause, with the lanes of their accesses.

use std::fmt::Write;

use interp::{FindingOp, Severity, finding::WitnessLanes, index_text};

use super::{LeftOut, diff::diff, escape, prose, source::Files, spots::sentence, turns};
use crate::{
    Model,
    findings::{Found, groups::Group, table},
};

/// Most groups, most findings of a group, and most rows of lanes on the page.
const MAX_GROUPS: usize = 100;
const MAX_MEMBERS: usize = 30;
const MAX_ROWS: usize = 8;

/// The section; empty without findings.
pub(super) fn section(model: &Model<'_>, files: &Files<'_>, left_out: &mut LeftOut) -> String {
    if model.groups.is_empty() {
        return String::new();
    }
    let mut text = String::from("<section id=findings>\n<h2>Findings</h2>\n");
    for (number, group) in model.groups.iter().take(MAX_GROUPS).enumerate() {
        card(&mut text, model, files, group, number);
    }
    if model.groups.len() > MAX_GROUPS {
        let more = model.groups.len() - MAX_GROUPS;
        left_out.push(format!(
            "the {MAX_GROUPS} most severe findings are shown, {more} are left out"
        ));
    }
    text + "</section>\n"
}

fn card(text: &mut String, model: &Model<'_>, files: &Files<'_>, group: &Group, number: usize) {
    let found = model.input.findings;
    let lead = group.lead(found);
    let severity = lead.severity.name();
    let _ = writeln!(
        text,
        "<article class=card id=finding-{number}><header><span class=\"chip {severity}\">{severity}</span><h3>{} {}</h3><span class=dim>{}</span></header>",
        lead.code.number(),
        escape(&lead.kind.replace('_', " ")),
        escape(&table::about(group, found)),
    );
    let _ = write!(text, "<p>{}</p>", prose(&lead.message));
    lines(text, model, files, group);
    lanes(text, model, files, lead);
    if let Some(schedule) = &lead.schedule {
        *text += &turns::drawn(schedule, model.input.module);
    }
    let proved = model.cures_of_findings(group);
    for cure in &proved {
        let _ = write!(
            text,
            "<p class=try><b>Cure, {}:</b> {}</p><p class=dim>{}</p>",
            cure.holds.word(),
            prose(&cure.text),
            prose(&sentence(&cure.because))
        );
        *text += &diff(&cure.edits, model.input.map);
    }
    if proved.is_empty() && lead.severity > Severity::Note {
        for cure in &group.cures {
            let _ = write!(text, "<p class=try><b>Try:</b> {}</p>", prose(cure));
        }
    }
    let others = &group.members[1..];
    if !others.is_empty() {
        let _ = write!(
            text,
            "<details><summary>{} more of this cause</summary><ul>",
            others.len()
        );
        for &at in others.iter().take(MAX_MEMBERS) {
            let one = &found[at];
            let place = one
                .sides
                .iter()
                .find_map(|side| super::place(model, side.loc));
            let link = place.map(|(file, line, _)| files.link(file, line));
            let _ = write!(
                text,
                "<li>{} {}</li>",
                link.unwrap_or_default(),
                prose(&one.message)
            );
        }
        if others.len() > MAX_MEMBERS {
            let _ = write!(text, "<li>… and {} more</li>", others.len() - MAX_MEMBERS);
        }
        *text += "</ul></details>";
    }
    *text += "</article>\n";
}

/// The source lines of the accesses of the group's lead.
fn lines(text: &mut String, model: &Model<'_>, files: &Files<'_>, group: &Group) {
    let lead = group.lead(model.input.findings);
    let mut places: Vec<(u32, u32)> = vec![];
    for side in &lead.sides {
        if let Some((file, line, _)) = super::place(model, side.loc)
            && !places.contains(&(file, line))
        {
            places.push((file, line));
        }
    }
    for (file, line) in places.into_iter().take(4) {
        let source = model.input.line(file, line);
        let _ = write!(
            text,
            "<code class=line>{}  {}</code>",
            files.link(file, line),
            escape(source)
        );
    }
}

/// The lanes of the accesses, one row below another.
fn lanes(text: &mut String, model: &Model<'_>, files: &Files<'_>, found: &Found) {
    // For an access that no check watched, its single thread.
    let single = |(at, side): (usize, &crate::findings::Side)| {
        let (warp, lane) = side.lane?;
        Some(WitnessLanes {
            access: at,
            block: side.block,
            warp,
            lanes: 1 << (lane % 32),
        })
    };
    let rows: Vec<WitnessLanes> = match found.witness.is_empty() {
        true => found.sides.iter().enumerate().filter_map(single).collect(),
        false => found.witness.clone(),
    };
    if rows.is_empty() {
        return;
    }
    *text += "<div class=scroll><table class=lanes>";
    for row in rows.iter().take(MAX_ROWS) {
        let side = found.sides.get(row.access);
        let op = side.map(|side| side.op);
        let place = side.and_then(|side| super::place(model, side.loc));
        let link = place.map(|(file, line, _)| files.line_link(file, line));
        let value = side.and_then(|side| side.value.as_ref());
        let value = value.map(|value| format!(", value {}", escape(value)));
        let _ = write!(
            text,
            "<tr><td>{}<td>{}<td class=dim>warp {} of block {}{}{}",
            op.map_or("", FindingOp::name),
            strip(row.lanes, op),
            row.warp,
            index_text(row.block),
            link.map(|link| format!(", {link}")).unwrap_or_default(),
            value.unwrap_or_default()
        );
    }
    *text += "</table></div>";
    if rows.len() > MAX_ROWS {
        let _ = write!(
            text,
            "<p class=dim>… and {} more rows</p>",
            rows.len() - MAX_ROWS
        );
    }
}

/// 32 lanes, the active ones filled.
fn strip(lanes: u32, op: Option<FindingOp>) -> String {
    let (mut on, mut off) = (String::new(), String::new());
    for lane in 0..32 {
        let path = if lanes >> lane & 1 == 1 {
            &mut on
        } else {
            &mut off
        };
        let _ = write!(path, "M{} 1h9v12h-9z", lane * 10 + lane / 8 * 2);
    }
    let class = match op {
        Some(FindingOp::Read) => "read",
        Some(FindingOp::Write) => "write",
        _ => "other",
    };
    let count = lanes.count_ones();
    let numbers: Vec<String> = (0..32)
        .filter(|lane| lanes >> lane & 1 == 1)
        .map(|lane: u32| lane.to_string())
        .collect();
    let label = match count {
        32 => "all lanes".to_string(),
        _ => format!("lanes {}", numbers.join(" ")),
    };
    format!(
        "<svg viewBox=\"0 0 327 14\" role=\"img\" aria-label=\"{label}\"><title>{label}</title><path class=\"off\" d=\"{off}\" /><path class=\"{class}\" d=\"{on}\" /></svg>"
    )
}
