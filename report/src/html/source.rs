//! The program's text with the cost of each line's accesses: transactions of shared memory, sectors of global memory and words of constant
//! memory, over all launches.

use std::{collections::BTreeMap, fmt::Write};

use interp::Site;
use ir::{LocId, Module, Space, locate::is_virtual, source::SourceFile};

use super::{LeftOut, ShownSites, escape};
use crate::Model;

/// For very long programs: lines shown around each line with a count.
const AROUND: u32 = 20;
/// Most characters of a line.
const MAX_COLUMNS: usize = 1000;
/// Estimated bytes of a line besides its text.
const LINE_BYTES: usize = 110;

/// What a line costs.
#[derive(Default)]
struct Line {
    actual: u64,
    ideal: u64,
    excess: u64,
    /// Whether a part of the cost is not modelled.
    unknown: bool,
    /// How often warps diverged there.
    diverged: u64,
    /// The number of the group of its finding.
    finding: Option<usize>,
    /// The sites by their waste, with their cost in words.
    sites: Vec<(u64, (usize, usize), String)>,
}

/// A file that is shown.
struct File<'a> {
    source: &'a SourceFile,
    /// The prefix of the line's number in links to it.
    prefix: String,
    lines: BTreeMap<u32, Line>,
}

/// The user's files; those of the library are not shown.
pub(super) struct Files<'a> {
    module: &'a Module,
    files: Vec<File<'a>>,
}

impl<'a> Files<'a> {
    pub(super) fn new(model: &Model<'a>) -> Files<'a> {
        let input = model.input;
        let mut files: Vec<File<'a>> = vec![];
        for (_, source) in input.map.files() {
            if is_virtual(&source.name) || files.iter().any(|file| file.source.name == source.name)
            {
                continue;
            }
            let prefix = match files.len() {
                0 => String::new(),
                number => format!("f{number}-"),
            };
            files.push(File {
                source,
                prefix,
                lines: BTreeMap::new(),
            });
        }
        let mut all = Files {
            module: input.module,
            files,
        };
        all.count(model);
        all
    }

    fn count(&mut self, model: &Model<'_>) {
        for kept in model.input.kept() {
            let times = kept.times();
            for (index, site) in kept.report.sites.iter().enumerate() {
                if site.counts.requests == 0
                    || !matches!(site.space, Space::Shared | Space::Global | Space::Constant)
                {
                    continue;
                }
                if let Some(line) = self.line_of(model, site.loc) {
                    line.add(site, times, (kept.first, index));
                }
            }
            for branch in &kept.report.branches {
                if let Some(line) = self.line_of(model, branch.loc) {
                    line.diverged = branch
                        .divergent
                        .saturating_mul(times)
                        .saturating_add(line.diverged);
                }
            }
        }
        for (number, group) in model.groups.iter().enumerate() {
            for &at in &group.members {
                for side in &model.input.findings[at].sides {
                    if let Some(line) = self.line_of(model, side.loc) {
                        line.finding.get_or_insert(number);
                    }
                }
            }
        }
    }

    fn at(&self, file: u32) -> Option<usize> {
        let name = self.module.files.get(file as usize)?;
        self.files.iter().position(|file| file.source.name == *name)
    }

    fn line_of(&mut self, model: &Model<'_>, loc: LocId) -> Option<&mut Line> {
        let (file, line, _) = super::place(model, loc)?;
        let at = self.at(file)?;
        Some(self.files[at].lines.entry(line).or_default())
    }

    /// Estimated bytes of the texts in the page.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |file: &File<'_>| {
            file.source.text.len() * 11 / 10 + file.source.line_count() as usize * LINE_BYTES
        };
        self.files.iter().map(bytes).sum()
    }

    /// A link to a line: `a.k:40`.
    pub(super) fn link(&self, file: u32, line: u32) -> String {
        let name = self
            .module
            .files
            .get(file as usize)
            .map_or("", String::as_str);
        self.linked(file, line, &format!("{name}:{line}"))
    }

    /// The same without the name: `line 40`. The name is there if it is not the program's file.
    pub(super) fn line_link(&self, file: u32, line: u32) -> String {
        match self.at(file) {
            Some(0) => self.linked(file, line, &format!("line {line}")),
            _ => self.link(file, line),
        }
    }

    fn linked(&self, file: u32, line: u32, text: &str) -> String {
        match self.at(file) {
            Some(at) => format!(
                "<a href=\"#{}L{line}\">{}</a>",
                self.files[at].prefix,
                escape(text)
            ),
            None => escape(text),
        }
    }
}

impl Line {
    fn add(&mut self, site: &Site, times: u64, place: (usize, usize)) {
        let counts = &site.counts;
        let (used, ideal) = match site.space {
            Space::Global => (counts.sectors, counts.ideal_sectors),
            _ => (counts.transactions, counts.ideal),
        };
        let (used, ideal) = (used.saturating_mul(times), ideal.saturating_mul(times));
        let excess = used.saturating_sub(ideal);
        self.actual = self.actual.saturating_add(used);
        self.ideal = self.ideal.saturating_add(ideal);
        self.excess = self.excess.saturating_add(excess);
        self.unknown |= counts.not_modelled();
        let cost = match counts.not_modelled() {
            true => "not modelled".to_string(),
            false => format!("{used}, ideal {ideal}"),
        };
        let label = format!("{} {} {}: {cost}", site.space, site.op, site.text);
        self.sites.push((excess, place, label));
    }

    /// The cells of its counts; `most` is the largest excess of any line.
    fn cells(&self, text: &mut String, shown: &ShownSites, most: u64) {
        let mut sites: Vec<_> = self.sites.iter().collect();
        sites.sort_by_key(|(excess, ..)| std::cmp::Reverse(*excess));
        let link = sites.iter().find(|(_, place, _)| shown.contains(place));
        let mut shown: Vec<&str> = vec![];
        for (_, _, sentence) in &sites {
            if !shown.contains(&sentence.as_str()) && shown.len() < 8 {
                shown.push(sentence);
            }
        }
        let plain = |count: u64| match (self.unknown, count) {
            (true, 0) => "?".to_string(),
            (true, count) => format!("{count} + ?"),
            (false, count) => count.to_string(),
        };
        // Only the first visible element has the tooltip.
        let excess = match link {
            Some((_, (launch, site), _)) => format!(
                "<a href=\"#site-{launch}-{site}\" title=\"{}\">{}</a>",
                escape(&shown.join("\n")),
                plain(self.excess)
            ),
            None => plain(self.excess),
        };
        let share = (self.excess as f64 / most as f64 * 100.0).round();
        let (zero, heat) = match self.excess {
            0 => (" z", String::new()),
            _ => ("", format!(" style=--s:{}%", share.max(2.0))),
        };
        let _ = write!(
            text,
            "<td class=\"c a\">{}<td class=\"c i\">{}<td class=\"c x{zero}\"{heat}>{excess}",
            plain(self.actual),
            plain(self.ideal)
        );
    }

    fn is_something(&self) -> bool {
        !self.sites.is_empty() || self.diverged > 0 || self.finding.is_some()
    }
}

/// The section; empty without a text.
pub(super) fn section(
    files: &Files<'_>,
    shown: &ShownSites,
    room: usize,
    left_out: &mut LeftOut,
) -> String {
    if files.files.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<section id=source>\n<h2>Source</h2>\n<p class=dim>What all launches cost, by line: transactions of shared memory and sectors of global \
         memory together. <b>Excess</b> is what is beyond the <b>ideal</b>, <b>actual</b> is both.</p>\n",
    );
    let is_long = files.bytes() > room;
    let most = files
        .files
        .iter()
        .flat_map(|file| file.lines.values())
        .map(|line| line.excess)
        .max();
    let most = most.unwrap_or(0).max(1);
    let mut lost = 0u64;
    for file in &files.files {
        let count = file.source.line_count();
        let _ = write!(
            text,
            "<div class=file><h3 id=\"{}file\">{}</h3><div class=scroll><table class=src>\n<thead><tr><th class=n>line<th class=\"c a\">actual<th class=\"c i\">ideal<th class=\"c x\">excess<th>{}</thead>\n<tbody>\n",
            file.prefix,
            escape(&file.source.name),
            if count == 1 {
                "1 line".to_string()
            } else {
                format!("{count} lines")
            }
        );
        let mut hidden = 0u64;
        let mut is_comment = false;
        for number in 1..=count {
            let line = file.lines.get(&number);
            let around = number.saturating_sub(AROUND)..=number.saturating_add(AROUND);
            let is_near = || {
                file.lines
                    .range(around)
                    .any(|(_, line)| line.is_something())
            };
            if text.len() > room || is_long && !is_near() {
                hidden += 1;
                // A comment may begin in lines that are left out.
                code(
                    &mut String::new(),
                    file.source.line(number),
                    &mut is_comment,
                );
                continue;
            }
            gap(&mut text, &mut hidden, &mut lost);
            row(&mut text, file, number, line, shown, most, &mut is_comment);
        }
        gap(&mut text, &mut hidden, &mut lost);
        text += "</tbody></table></div></div>\n";
    }
    if lost > 0 {
        left_out.push(format!("{lost} lines of the program's text are left out: they have no counts near them or would make the page too large"));
    }
    text + "</section>\n"
}

/// A line with its comments marked. `is_comment`: whether the line begins in a comment; on return, whether the next one does.
fn code(text: &mut String, line: &str, is_comment: &mut bool) {
    let mut rest = line;
    while !rest.is_empty() {
        if *is_comment {
            let end = rest.find("*/").map(|at| at + 2);
            *is_comment = end.is_none();
            let (comment, behind) = rest.split_at(end.unwrap_or(rest.len()));
            let _ = write!(text, "<i>{}</i>", escape(comment));
            rest = behind;
            continue;
        }
        let (before, comment) = rest.split_at(comment_start(rest).unwrap_or(rest.len()));
        *text += &escape(before);
        rest = comment;
        if comment.starts_with("//") {
            let _ = write!(text, "<i>{}</i>", escape(comment));
            return;
        }
        if let Some(body) = comment.strip_prefix("/*") {
            *text += "<i>/*</i>";
            (rest, *is_comment) = (body, true);
        }
    }
}

/// Where a comment begins, outside of strings and characters.
fn comment_start(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut quote = None;
    let mut at = 0;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if open == byte => quote = None,
            (None, byte @ (b'"' | b'\'')) => quote = Some(byte),
            (None, b'/') if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

fn gap(text: &mut String, hidden: &mut u64, lost: &mut u64) {
    if *hidden > 0 {
        let _ = writeln!(
            text,
            "<tr class=gap><td><td class=\"c a\"><td class=\"c i\"><td class=\"c x\"><td>… {hidden} lines are left out"
        );
        *lost += *hidden;
        *hidden = 0;
    }
}

fn row(
    text: &mut String,
    file: &File<'_>,
    number: u32,
    line: Option<&Line>,
    shown: &ShownSites,
    most: u64,
    is_comment: &mut bool,
) {
    let id = format!("{}L{number}", file.prefix);
    let _ = write!(
        text,
        "<tr id={id}><td class=n><a href=\"#{id}\">{number}</a>"
    );
    match line.filter(|line| !line.sites.is_empty()) {
        Some(line) => line.cells(text, shown, most),
        None => *text += "<td class=\"c a\"><td class=\"c i\"><td class=\"c x\">",
    }
    let source = file.source.line(number);
    let cut: String = source.chars().take(MAX_COLUMNS).collect();
    let more = if cut.len() < source.len() { "…" } else { "" };
    *text += "<td>";
    code(text, &cut, is_comment);
    *text += more;
    if let Some(line) = line {
        if line.diverged > 0 {
            let _ = write!(
                text,
                "<span class=p>warps diverge {} time{}</span>",
                line.diverged,
                if line.diverged == 1 { "" } else { "s" }
            );
        }
        if let Some(finding) = line.finding {
            let _ = write!(
                text,
                "<a class=\"p f\" href=\"#finding-{finding}\">finding</a>"
            );
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::code;

    fn marked(lines: &[&str]) -> Vec<String> {
        let mut is_comment = false;
        let marked = |line: &&str| {
            let mut text = String::new();
            code(&mut text, line, &mut is_comment);
            text
        };
        lines.iter().map(marked).collect()
    }

    #[test]
    fn comments_are_marked() {
        assert_eq!(marked(&["a; // b"]), ["a; <i>// b</i>"]);
        assert_eq!(
            marked(&["\"// a\" '\"' /* b"]),
            ["&quot;// a&quot; &#39;&quot;&#39; <i>/*</i><i> b</i>"]
        );
        assert_eq!(
            marked(&["/* a", "b */ c /", "d"]),
            ["<i>/*</i><i> a</i>", "<i>b */</i> c /", "d"]
        );
        assert_eq!(
            marked(&["\"\\\" // a\"; // b"]),
            ["&quot;\\&quot; // a&quot;; <i>// b</i>"]
        );
    }
}
