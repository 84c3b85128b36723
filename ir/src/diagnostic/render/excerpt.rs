//! The lines of a program that one message shows, in a form that can be drawn.
//!
//! Line numbers stay true, because the lines in between exist but are empty. A line that is too long is cut to a window around the first
//! place in it.

use std::collections::BTreeMap;
use std::ops::Range;

use ariadne::Source;

use crate::source::{SourceFile, SourceMap};
use crate::span::{FileId, Span};

/// A range of characters in an excerpt.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Place {
    pub(super) file: FileId,
    pub(super) range: Range<usize>,
}

/// Excerpts of all files that a message shows.
pub(super) struct Excerpts<'a> {
    map: &'a SourceMap,
    files: BTreeMap<FileId, Excerpt>,
}

struct Excerpt {
    source: Source<String>,
    /// For each line shown, by number from 1: how many characters were cut off its start.
    cut: BTreeMap<u32, usize>,
}

/// Replaces the part of a line that was cut off.
const CUT: char = '…';

impl<'a> Excerpts<'a> {
    /// The lines that these spans start on.
    pub(super) fn new(
        map: &'a SourceMap,
        width: Option<usize>,
        spans: impl Iterator<Item = Span>,
    ) -> Excerpts<'a> {
        let width = width.unwrap_or(160).max(72) - 12;
        let mut lines: BTreeMap<FileId, BTreeMap<u32, u32>> = BTreeMap::new();
        for span in spans {
            if let Some(file) = file(map, span.file) {
                let (line, column) = file.line_column(start(file, span));
                let first = lines
                    .entry(span.file)
                    .or_default()
                    .entry(line)
                    .or_insert(column);
                *first = column.min(*first);
            }
        }
        let files = lines
            .into_iter()
            .filter_map(|(id, lines)| Some((id, Excerpt::new(file(map, id)?, &lines, width))))
            .collect();
        Excerpts { map, files }
    }

    /// The line that a span starts on.
    pub(super) fn line(&self, span: Span) -> Option<u32> {
        let file = file(self.map, span.file)?;
        Some(file.line_column(start(file, span)).0)
    }

    /// Where a span is in its excerpt: on one line, and never empty.
    pub(super) fn place(&self, span: Span) -> Option<Place> {
        let excerpt = self.files.get(&span.file)?;
        let file = file(self.map, span.file)?;
        let (first, last) = (start(file, span), end(file, span));
        let (line, column) = file.line_column(first);
        let (end_line, end_column) = file.line_column(last);
        let shown = excerpt.source.line(line as usize - 1)?;
        // The last character of a shown line is its line end, which an empty place may point to.
        let limit = shown.len().saturating_sub(1);
        let cut = *excerpt.cut.get(&line)?;
        let position = |column: u32| (column as usize - 1).saturating_sub(cut).min(limit);
        let start = position(column);
        let end = if end_line > line {
            limit
        } else {
            position(end_column)
        };
        let end = end.max(start + 1);
        Some(Place {
            file: span.file,
            range: shown.offset() + start..shown.offset() + end,
        })
    }

    /// Corrects the column in the heading, if the line was cut before it.
    pub(super) fn true_column(&self, span: Span, place: &Place, text: String) -> String {
        let Some(file) = file(self.map, span.file) else {
            return text;
        };
        let (line, column) = file.line_column(start(file, span));
        let Some(excerpt) = self.files.get(&span.file) else {
            return text;
        };
        if excerpt.cut.get(&line).is_none_or(|&cut| cut == 0) {
            return text;
        }
        let shown = excerpt
            .source
            .line(line as usize - 1)
            .map_or(0, |shown| shown.offset());
        let name = visible(&file.name);
        let wrong = format!(
            "{name}:{line}:{} ",
            place.range.start - shown.min(place.range.start) + 1
        );
        text.replace(&wrong, &format!("{name}:{line}:{column} "))
    }

    pub(super) fn source(&self, id: FileId) -> Option<&Source<String>> {
        Some(&self.files.get(&id)?.source)
    }

    pub(super) fn name(&self, id: FileId) -> String {
        file(self.map, id).map_or_else(|| "<unknown>".into(), |file| visible(&file.name))
    }
}

impl Excerpt {
    /// `lines` has the first column of interest of each line to show.
    fn new(file: &SourceFile, lines: &BTreeMap<u32, u32>, width: usize) -> Excerpt {
        let mut text = String::new();
        let mut cut = BTreeMap::new();
        let mut next = 1;
        for (&line, &column) in lines {
            for _ in next..line {
                text.push('\n');
            }
            next = line + 1;
            cut.insert(
                line,
                show(file.line(line), column as usize - 1, width, &mut text),
            );
            text.push('\n');
        }
        Excerpt {
            source: Source::from(text),
            cut,
        }
    }
}

/// Appends a line, or a window of it that contains `column`, and returns how many characters are missing before the window.
fn show(line: &str, column: usize, width: usize, out: &mut String) -> usize {
    // Lines that are much too long are not even counted in full.
    let length = line.chars().take(4 * width).count();
    if length <= width {
        out.extend(line.chars().map(visible_char));
        return 0;
    }
    // A quarter of the window is before the column: labels extend to its right.
    let skipped = column.saturating_sub(width / 4);
    if skipped > 0 {
        out.push(CUT);
    }
    let mut rest = line.chars().skip(skipped).map(visible_char);
    out.extend(rest.by_ref().take(width));
    if rest.next().is_some() {
        out.push(CUT);
    }
    // The mark replaces one character.
    skipped.saturating_sub(1)
}

fn file(map: &SourceMap, id: FileId) -> Option<&SourceFile> {
    map.files().nth(id.0 as usize).map(|(_, file)| file)
}

/// The start of a span, clamped to the text and to a character boundary. At the end of the text, after the last thing in it.
pub(super) fn start(file: &SourceFile, span: Span) -> u32 {
    let text = &file.text;
    if span.start as usize >= text.len() {
        return text.trim_end().len() as u32;
    }
    (0..=span.start as usize)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0) as u32
}

fn end(file: &SourceFile, span: Span) -> u32 {
    let text = &file.text;
    let end = (span.end as usize).min(text.len());
    let end = (end..=text.len())
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(text.len());
    (end as u32).max(start(file, span))
}

/// A text without control characters for a terminal.
pub(super) fn visible(text: &str) -> String {
    text.chars()
        .map(|character| {
            if character == '\n' {
                character
            } else {
                visible_char(character)
            }
        })
        .collect()
}

fn visible_char(character: char) -> char {
    match character {
        '\t' => '\t',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        // Other controls, line separators, and marks that change the direction of text.
        '\u{80}'..='\u{9f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{200b}'..='\u{200f}'
        | '\u{feff}' => '\u{fffd}',
        _ => character,
    }
}
