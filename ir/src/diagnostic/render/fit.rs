//! Fits ariadne's output: wraps labels at the terminal's width, and sets colours once for a run of characters.

/// The fewest columns for a label's text, however narrow the terminal is.
const LEAST_ROOM: usize = 20;

/// With fewer columns beside its arrow, a label continues below it with this many, if the bars of other labels permit.
const ENOUGH_ROOM: usize = 40;

/// The lines of a message, none longer than `width` if that is possible.
pub(super) fn fitted(text: &str, width: Option<usize>) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !leads_nowhere(line)) {
        let line = line.trim_end();
        match width.and_then(|width| broken_label(line, width)) {
            Some(lines) => out += &lines,
            None => {
                out += line;
                out.push('\n');
            }
        }
    }
    joined_colours(&out)
}

/// A piece of text: an escape sequence or a character.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            '\u{1b}' => rest.find('m').map_or(rest.len(), |at| at + 1),
            first => first.len_utf8(),
        };
        let piece;
        (piece, rest) = rest.split_at(length);
        Some(piece)
    })
}

fn is_escape(piece: &str) -> bool {
    piece.starts_with('\u{1b}')
}

/// The text without `ESC[0m` between two runs of one colour.
fn joined_colours(text: &str) -> String {
    const RESET: &str = "\u{1b}[0m";
    if !text.contains(RESET) {
        return text.to_string();
    }
    let mut out = String::with_capacity(text.len());
    let mut all = pieces(text).peekable();
    let mut color = "";
    while let Some(piece) = all.next() {
        if piece == RESET && !color.is_empty() && all.peek() == Some(&color) {
            all.next();
            continue;
        }
        match piece {
            RESET => color = "",
            _ if is_escape(piece) => color = piece,
            _ => {}
        }
        out += piece;
    }
    out
}

/// A label that is too long for its line, as several lines; the bars of other labels continue beside it.
fn broken_label(line: &str, width: usize) -> Option<String> {
    if !line.contains('╰') {
        return None;
    }
    let is_shown = |piece: &&str| !is_escape(piece);
    if pieces(line).filter(is_shown).count() <= width {
        return None;
    }
    let (arrow, message) = arrow_and_message(line)?;
    let columns_of = |text: &str| pieces(text).filter(is_shown).count();
    let room = width.saturating_sub(columns_of(arrow)).max(LEAST_ROOM);
    let mut beside: String = pieces(arrow)
        .map(|piece| match piece {
            "│" | "┼" => "│",
            _ if is_escape(piece) => piece,
            _ => " ",
        })
        .collect();
    if room < ENOUGH_ROOM {
        let behind = beside.split_off(beside.rfind('│').map_or(0, |at| at + '│'.len_utf8()));
        // A bar's colour ends after it.
        beside.extend(pieces(&behind).filter(|piece| is_escape(piece)));
        let bars = columns_of(&beside);
        let indent = width.saturating_sub(ENOUGH_ROOM).max(bars + 2);
        beside.extend(std::iter::repeat_n(' ', indent - bars));
    }
    let below = width.saturating_sub(columns_of(&beside)).max(LEAST_ROOM);
    let lines = broken(message, room, below);
    Some(format!("{arrow}{}\n", lines.join(&format!("\n{beside}"))))
}

/// Wraps a line at spaces: `first` is the width of the first line, `below` that of the others.
pub(super) fn broken(text: &str, first: usize, below: usize) -> Vec<String> {
    let (mut lines, mut line, mut columns) = (vec![], String::new(), 0);
    for word in text.split(' ') {
        let more = word.chars().count();
        let room = if lines.is_empty() { first } else { below };
        if columns > 0 && columns + 1 + more > room {
            lines.push(std::mem::take(&mut line));
            columns = 0;
        } else if !line.is_empty() || columns > 0 {
            line.push(' ');
            columns += 1;
        }
        line += word;
        columns += more;
    }
    lines.push(line);
    lines
}

/// Splits a line after the arrow, `╰─── `, that points to its text.
fn arrow_and_message(line: &str) -> Option<(&str, &str)> {
    let (mut at, mut is_arrow) = (0, false);
    for piece in pieces(line) {
        match piece {
            "╰" => is_arrow = true,
            "─" | "┼" | "┴" | "┬" | "╯" => {}
            " " if is_arrow => return Some(line.split_at(at + 1)),
            _ if is_escape(piece) => {}
            _ => is_arrow = false,
        }
        at += piece.len();
    }
    None
}

/// Whether a line is the arrow of a label without a message: ariadne underlines nothing without one.
fn leads_nowhere(line: &str) -> bool {
    let mut arrow = false;
    for piece in pieces(line).filter(|piece| !is_escape(piece)) {
        match piece {
            "╰" => arrow = true,
            " " | "│" | "─" => {}
            _ => return false,
        }
    }
    arrow && line.contains('│')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_go_on_below() {
        let line = "   │    │  ╰──┼── a label of many words";
        assert_eq!(fitted(line, Some(50)), format!("{line}\n"));
        let long = "   │  │  ╰── a label of so many words that they need three lines of text below each other, and two more";
        assert_eq!(
            fitted(long, Some(53)),
            "   │  │  ╰── a label of so many words that they need\n   │  │      three lines of text below each other,\n   │  │      and two more\n"
        );
        // Little room: the text continues further left.
        assert_eq!(
            fitted(line, Some(36)),
            "   │    │  ╰──┼── a label of many\n   │    │     │  words\n"
        );
        assert_eq!(fitted(line, Some(80)), format!("{line}\n"));
        assert_eq!(fitted(line, None), format!("{line}\n"));
    }

    #[test]
    fn the_colour_of_a_bar_ends_behind_it() {
        let line = "   \u{1b}[31m│\u{1b}[0m            ╰── a label of many words";
        assert_eq!(
            fitted(line, Some(30)),
            "   \u{1b}[31m│\u{1b}[0m            ╰── a label of many\n   \u{1b}[31m│\u{1b}[0m  words\n"
        );
    }

    #[test]
    fn a_colour_is_set_once() {
        let text = "\u{1b}[31ma\u{1b}[0m\u{1b}[31mb\u{1b}[0m\u{1b}[32mc\u{1b}[0m\n";
        assert_eq!(
            fitted(text, None),
            "\u{1b}[31mab\u{1b}[0m\u{1b}[32mc\u{1b}[0m\n"
        );
    }
}
