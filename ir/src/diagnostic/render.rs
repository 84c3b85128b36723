//! Renders diagnostics as text: the only user of ariadne.
//!
//! ariadne panics on places outside its text, and it counts lines in another way. So it never sees the user's text. For each message,
//! `excerpt` makes a text of the lines to show: control characters are made visible, and long lines are cut. It maps any span to a place in
//! that text. A message about a macro's expansion is shown where the macro is used, with the definition as a second place. Predefined
//! macros have no place to show.

use ariadne::{Cache, Color, Config, IndexType, Label, Report, ReportKind, Source};

use self::excerpt::{Excerpts, Place};
use super::{Diagnostic, Severity};
use crate::source::{PREDEFINED, SourceMap};
use crate::span::{FileId, Span};

mod excerpt;
mod fit;

/// More messages than this are only counted: no user reads them before the first ones are fixed.
const MAX_SHOWN: usize = 1000;

/// How many levels of macros inside macros are shown.
const MACRO_LEVELS: usize = 4;

/// Columns before a note's text: the margin of line numbers, and `Note 10: `.
const MARGIN: usize = 16;

/// Columns before a message: `[E0301] Error: `. The lines below begin there.
const TITLE: usize = 15;

/// The full text of all messages, one after the other. Source lines are cut at about `width` columns, notes are wrapped there.
pub fn render(
    diagnostics: &[Diagnostic],
    map: &SourceMap,
    color: bool,
    width: Option<usize>,
) -> String {
    let mut out = String::new();
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        if at == MAX_SHOWN {
            out += &format!("\nAnd {} more messages.\n", diagnostics.len() - at);
            break;
        }
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&render_one(diagnostic, map, color, width));
    }
    out
}

/// One line: `file:line:column: error[E0301]: message`.
pub fn short(diagnostic: &Diagnostic, map: &SourceMap) -> String {
    let severity = word(diagnostic.severity);
    let code = diagnostic.code.number();
    let message = excerpt::visible(&diagnostic.message);
    let place = places(diagnostic.primary.span, map).remove(0).0;
    match map.files().nth(place.file.0 as usize) {
        Some((_, file)) => {
            let (line, column) = file.line_column(excerpt::start(file, place));
            format!(
                "{}:{line}:{column}: {severity}[{code}]: {message}",
                file.name
            )
        }
        None => format!("{severity}[{code}]: {message}"),
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// The places to show for a span: first the place in the user's text, then the definitions that it came through, outermost first, each with
/// the macro's name.
fn places(span: Span, map: &SourceMap) -> Vec<(Span, Option<&str>)> {
    let mut chain = vec![(span, None)];
    let mut at = span;
    while let Some(expansion) = map.expansion(at.expansion) {
        if let Some((_, name)) = chain.last_mut() {
            *name = Some(&*expansion.name);
        }
        at = expansion.used_at;
        chain.push((at, None));
    }
    chain.reverse();
    let root = chain[0].0;
    let inside = |place: &Span| {
        place.file == root.file && place.start >= root.start && place.end <= root.end
    };
    // A macro's argument is spelled at the use: the narrowest such place is the relevant one.
    let narrowest = chain
        .iter()
        .map(|(place, _)| *place)
        .rfind(inside)
        .unwrap_or(root);
    let mut places = vec![(narrowest, None)];
    places.extend(
        chain
            .into_iter()
            .skip(1)
            .filter(|(place, name)| !inside(place) && name.is_some()),
    );
    places.dedup_by_key(|(place, _)| (place.file, place.start, place.end));
    places.truncate(1 + MACRO_LEVELS);
    places
}

/// One place of a message in the excerpt.
struct Marked {
    span: Span,
    message: String,
    is_primary: bool,
}

/// The places that a message shows: its primary one with the macros that it comes from, then its labels.
fn marked(diagnostic: &Diagnostic, map: &SourceMap) -> Vec<Marked> {
    let primary_places = places(diagnostic.primary.span, map).into_iter();
    let mut marked: Vec<Marked> = primary_places
        .enumerate()
        .map(|(at, (span, name))| Marked {
            span,
            message: match name {
                _ if at == 0 => diagnostic.primary.message.clone(),
                Some(name) => format!("in the definition of macro `{name}`"),
                None => String::new(),
            },
            is_primary: at == 0,
        })
        .collect();
    marked.extend(diagnostic.labels.iter().map(|label| Marked {
        span: places(label.span, map).remove(0).0,
        message: label.message.clone(),
        is_primary: false,
    }));
    marked
}

/// The marks as ariadne's labels. ariadne starts a new section when lines go backwards, so the primary's file comes first, and each file
/// from top to bottom.
fn labels(
    marked: Vec<Marked>,
    excerpts: &Excerpts<'_>,
    primary: FileId,
    color: Option<Color>,
) -> Vec<Label<Place>> {
    let mut placed: Vec<_> = marked
        .into_iter()
        .filter_map(|mark| Some((excerpts.place(mark.span)?, excerpts.line(mark.span)?, mark)))
        .collect();
    placed.sort_by_key(|(place, line, _)| (place.file != primary, place.file, *line));
    let mut order = 0;
    let mut previous = None;
    let mut labels = vec![];
    for (place, line, mark) in placed {
        let section = (place.file, line);
        if previous
            .replace(section)
            .is_some_and(|previous| previous != section)
        {
            order += 1;
        }
        let label = Label::new(place)
            .with_message(excerpt::visible(&mark.message))
            .with_order(order);
        labels.push(match color {
            Some(own) => label.with_color(if mark.is_primary { own } else { Color::Blue }),
            None => label,
        });
    }
    labels
}

fn render_one(
    diagnostic: &Diagnostic,
    map: &SourceMap,
    color: bool,
    width: Option<usize>,
) -> String {
    let mut marked = marked(diagnostic, map);
    let primary = marked[0].span;
    marked.retain(|mark| mark.is_primary || !is_predefined(mark.span.file, map));
    let mut excerpts = Excerpts::new(map, width, marked.iter().map(|mark| mark.span));
    let place = excerpts.place(primary).unwrap_or_default();
    let (kind, own_color) = match diagnostic.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
        Severity::Note => (ReportKind::Advice, Color::Cyan),
    };
    let config = Config::new()
        .with_color(color)
        .with_index_type(IndexType::Char)
        .with_cross_gap(false)
        .with_tab_width(4);
    let title = wrapped(&excerpt::visible(&diagnostic.message), width, TITLE);
    let mut report = Report::build(kind, place.clone())
        .with_config(config)
        .with_code(diagnostic.code.number())
        .with_message(title.replace('\n', &format!("\n{:TITLE$}", "")))
        .with_labels(labels(
            marked,
            &excerpts,
            primary.file,
            color.then_some(own_color),
        ));
    for note in &diagnostic.notes {
        report.add_note(wrapped(&excerpt::visible(note), width, MARGIN));
    }
    if let Some(help) = &diagnostic.help {
        report.add_help(wrapped(&excerpt::visible(help), width, MARGIN));
    }
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = report.finish().write(&mut excerpts, &mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let text = excerpts.true_column(primary, &place, text);
    let text = text.replacen("Advice:", "Note:", 1);
    fit::fitted(&text, width)
}

/// A text with lines wrapped at spaces, to fit beside a margin of this many columns.
fn wrapped(text: &str, width: Option<usize>, margin: usize) -> String {
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(margin).max(20));
    let lines = text.lines().flat_map(|line| fit::broken(line, room, room));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_predefined(file: FileId, map: &SourceMap) -> bool {
    map.files()
        .nth(file.0 as usize)
        .is_none_or(|(_, file)| file.name == PREDEFINED)
}

impl ariadne::Span for Place {
    type SourceId = FileId;

    fn source(&self) -> &FileId {
        &self.file
    }

    fn start(&self) -> usize {
        self.range.start
    }

    fn end(&self) -> usize {
        self.range.end
    }
}

impl Cache<FileId> for &mut Excerpts<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<String>, impl std::fmt::Debug> {
        self.source(*id).ok_or("no such file")
    }

    fn display<'a>(&self, id: &'a FileId) -> Option<impl std::fmt::Display + 'a> {
        Some(self.name(*id))
    }
}
