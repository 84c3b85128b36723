//! Text layout: widths as terminals count them, line breaks and cuts, and colour, one escape for each run of text.

use std::mem;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a run of text is painted if colours are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// An error.
    Red,
    /// A warning, or waste.
    Yellow,
    /// A note.
    Blue,
    /// Advice.
    Green,
    /// A title.
    Bold,
    /// Secondary text.
    Dim,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Paint::Red => "1;31",
            Paint::Yellow => "1;33",
            Paint::Blue => "34",
            Paint::Green => "32",
            Paint::Bold => "1",
            Paint::Dim => "2",
        }
    }
}

/// Width and colour of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of a line.
    pub columns: usize,
    /// Whether to use colours.
    pub color: bool,
}

impl Style {
    /// Without colour.
    pub fn plain(columns: usize) -> Style {
        Style {
            columns,
            color: false,
        }
    }

    /// The text in that paint.
    pub fn paint(self, paint: Paint, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", paint.code())
        } else {
            text.to_string()
        }
    }

    /// `── title ───────`, on one line.
    pub(crate) fn rule(self, title: &str) -> String {
        let wide = self.columns.min(120);
        let title = cut(title, wide.saturating_sub(3));
        let rest = wide.saturating_sub(title.width() + 4);
        if rest == 0 {
            return format!("── {}\n", self.paint(Paint::Bold, &title));
        }
        format!(
            "── {} {}\n",
            self.paint(Paint::Bold, &title),
            self.paint(Paint::Dim, &"─".repeat(rest))
        )
    }

    /// The text in lines of which the first begins with `first`, the others with as many spaces; each line in that paint.
    pub fn paragraph(self, first: &str, text: &str, paint: Option<Paint>) -> String {
        let indent = first.width();
        let mut out = String::new();
        for (at, line) in wrap(text, self.columns.saturating_sub(indent))
            .iter()
            .enumerate()
        {
            let line = match paint {
                Some(paint) => self.paint(paint, line),
                None => line.clone(),
            };
            match at {
                0 => out += &format!("{first}{line}\n"),
                _ => out += &format!("{:indent$}{line}\n", ""),
            }
        }
        out
    }
}

/// The text at most `columns` wide; an ellipsis is its last character if it was cut.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_string();
    }
    let (mut cut, mut wide) = (String::new(), 0);
    for c in text.chars() {
        wide += c.width().unwrap_or(0);
        if wide >= columns {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

/// The text, padded with spaces to that width.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{:1$}", "", columns.saturating_sub(text.width()))
}

/// Breaks lines at spaces; a word that is longer than a line is broken at the end of the line.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(20);
    let mut lines = Vec::new();
    let (mut line, mut wide) = (String::new(), 0);
    for word in text.split(' ') {
        let width = word.width();
        if !line.is_empty() && wide + 1 + width > columns {
            lines.push(mem::take(&mut line));
            wide = 0;
        } else if !line.is_empty() {
            line.push(' ');
            wide += 1;
        }
        if width <= columns {
            line += word;
            wide += width;
            continue;
        }
        for c in word.chars() {
            let width = c.width().unwrap_or(0);
            if wide + width > columns {
                lines.push(mem::take(&mut line));
                wide = 0;
            }
            line.push(c);
            wide += width;
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("漢字", 4), "漢字");
        assert_eq!(pad("漢", 4), "漢  ");
    }

    #[test]
    fn lines_are_no_wider_than_asked_for() {
        let text = "a few words and-one-that-is-much-longer-than-any-line-may-be here";
        assert!(wrap(text, 20).iter().all(|line| line.width() <= 20));
        assert_eq!(
            wrap(text, 20).concat().replace(' ', ""),
            text.replace(' ', "")
        );
    }

    #[test]
    fn a_run_of_text_has_one_escape() {
        let style = Style {
            columns: 80,
            color: true,
        };
        assert_eq!(style.paint(Paint::Red, "a b"), "\x1b[1;31ma b\x1b[0m");
        assert_eq!(Style::plain(80).paint(Paint::Red, "a b"), "a b");
    }
}
