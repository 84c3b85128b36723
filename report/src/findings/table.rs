//! The findings in short form: the same facts as the messages.

use interp::{Severity, finding::is_description};
use ir::Module;

use super::{Found, groups::Group};

/// `2 errors, 1 note, 3 known`: groups of one cause count once.
pub(crate) fn summary(groups: &[Group], found: &[Found], muted: usize) -> String {
    let counts = counts(groups, found, muted).into_iter();
    let parts: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    parts.join(", ")
}

/// The number of findings of each severity, and of known ones; zeros are left out.
pub(crate) fn counts(groups: &[Group], found: &[Found], muted: usize) -> Vec<(usize, String)> {
    let mut parts = vec![];
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let of = groups
            .iter()
            .filter(|group| group.lead(found).severity == severity);
        let count = of.count();
        if count > 0 {
            let end = if count == 1 { "" } else { "s" };
            parts.push((count, format!("{severity}{end}")));
        }
    }
    if muted > 0 {
        parts.push((muted, "known from the baseline".to_string()));
    }
    parts
}

/// `a.k:12:5`, `a.k:12:5, line 14`.
pub(crate) fn place(group: &Group, found: &[Found], module: &Module) -> String {
    let lines = group.lines(found, module);
    let sides = group.lead(found).sides.iter();
    let mut locs = sides.map(|side| module.loc(side.loc));
    let Some(first) = locs.find(|loc| loc.line > 0) else {
        return String::new();
    };
    let file = module.files.get(first.file as usize);
    let file = file.map_or("", String::as_str);
    let others: Vec<String> = lines
        .iter()
        .filter(|&&line| line != first.line)
        .map(u32::to_string)
        .collect();
    let more = match others.len() {
        0 => String::new(),
        1 => format!(", line {}", others[0]),
        _ => format!(", lines {}", others.join(", ")),
    };
    format!("{file}:{}:{}{more}", first.line, first.column)
}

/// `element 5`, for an index with brackets.
fn element(index: &str) -> String {
    let number = index
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match number {
        Some(number) if !number.contains(']') => format!("element {number}"),
        _ => index.to_string(),
    }
}

/// Memory, kernel and count.
pub(crate) fn about(group: &Group, found: &[Found]) -> String {
    let lead = group.lead(found);
    let mut parts = vec![];
    // The pointer through which memory was accessed says nothing of the memory.
    let space = lead
        .memory
        .space
        .as_ref()
        .filter(|space| *space != "generic");
    match (space, &lead.memory.object) {
        _ if group.objects(found).len() > 1 => {
            let space = space.map_or("", String::as_str);
            parts.push(
                format!("{space} {}", group.objects(found).join(", "))
                    .trim()
                    .to_string(),
            );
        }
        (Some(space), Some((name, index))) if is_description(name) && !index.is_empty() => {
            parts.push(format!("{space} {} of {name}", element(index)));
        }
        (Some(space), Some((name, index))) => parts.push(format!("{space} {name}{index}")),
        (Some(space), None) => parts.push(space.clone()),
        (None, Some((name, index))) if lead.memory.space.is_some() => {
            parts.push(match is_description(name) && !index.is_empty() {
                true => format!("{} of {name}", element(index)),
                false => format!("{name}{index}"),
            });
        }
        (None, _) => {}
    }
    if let Some(kernel) = &lead.kernel {
        parts.push(format!("in {kernel}"));
    }
    if group.count(found) > 1 {
        parts.push(format!("x{}", group.count(found)));
    }
    if group.members.len() > 1 {
        parts.push(format!("({} findings of one cause)", group.members.len()));
    }
    parts.join(" ")
}
