//! `--bless`: updates expectations to the results.
//!
//! All runs of a file decide together: the largest number for `<=`, the smallest for `>=`, and for `==` the number that all have.
//! Expectations without a number, kind or exit code stay: `clean` and `conflict-free` are what the author wants, not a result.

use std::ops::Range;

use super::{
    expect::{Expected, What},
    judge::{self, Bless},
};

/// The text with updated comments; the same text if there is nothing to bless. `seen`: what each run would change.
pub(super) fn blessed(source: &str, expected: &Expected, seen: &[Vec<Bless>]) -> String {
    let mut edits: Vec<(Range<usize>, String)> = vec![];
    for (at, one) in expected.all.iter().enumerate() {
        if one.is_common() {
            continue;
        }
        let text = &source[one.place.clone()];
        let values: Vec<f64> = all(seen).flat_map(|bless| numbers_of(bless, at)).collect();
        let codes: Vec<i32> = all(seen).filter_map(|bless| exit_of(bless, at)).collect();
        let is_missed = |run: &Vec<Bless>| run.contains(&Bless::Missed(at));
        let new = if !values.is_empty() {
            with_number(text, &values)
        } else if let Some(code) = codes
            .first()
            .filter(|code| codes.len() == seen.len() && codes.iter().all(|other| other == *code))
        {
            Some(format!("//~ exit {code}"))
        } else if matches!(one.what, What::Finding(_)) && seen.iter().all(is_missed) {
            Some(String::new())
        } else {
            None
        };
        edits.extend(new.map(|new| (one.place.clone(), new)));
    }
    let mut added: Vec<(u32, &str)> = vec![];
    for bless in all(seen) {
        if let Bless::Add(line, kind) = bless
            && !added.contains(&(*line, kind))
        {
            added.push((*line, kind));
        }
    }
    let mut text = source.to_string();
    edits.extend(added.iter().map(|(line, kind)| {
        let end = end_of(source, *line);
        (end..end, format!(" //~ {kind}"))
    }));
    edits.sort_by_key(|(place, _)| std::cmp::Reverse((place.start, place.end)));
    for (place, new) in edits {
        let mut place = place;
        if new.is_empty() {
            // A removed comment takes the blanks before it along, and also its line if that becomes empty.
            place.start = text[..place.start].trim_end_matches([' ', '\t']).len();
            let is_alone = place.start == 0 || text[..place.start].ends_with('\n');
            let has_end = text[place.end..].starts_with('\n');
            place.end += usize::from(is_alone && has_end);
        }
        text.replace_range(place, &new);
    }
    text
}

fn all(seen: &[Vec<Bless>]) -> impl Iterator<Item = &Bless> {
    seen.iter().flatten()
}

fn numbers_of(bless: &Bless, at: usize) -> Vec<f64> {
    match bless {
        Bless::Number(of, values) if *of == at => values.clone(),
        _ => vec![],
    }
}

fn exit_of(bless: &Bless, at: usize) -> Option<i32> {
    match bless {
        Bless::Exit(of, code) if *of == at => Some(*code),
        _ => None,
    }
}

/// A comment that ends with a comparison with a number, with a new number.
fn with_number(comment: &str, values: &[f64]) -> Option<String> {
    let digits = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let head = comment.trim_end_matches(digits);
    if head.len() == comment.len() {
        return None;
    }
    let operator = head.trim_end();
    let value = if operator.ends_with("<=") {
        values.iter().copied().reduce(f64::max)
    } else if operator.ends_with(">=") {
        values.iter().copied().reduce(f64::min)
    } else if operator.ends_with("==") {
        let first = values.first().copied();
        first.filter(|first| values.iter().all(|other| other == first))
    } else {
        None
    };
    Some(format!("{head}{}", judge::number(value?)))
}

/// Where a line ends, without its line break.
fn end_of(source: &str, line: u32) -> usize {
    let lines = source.split_inclusive('\n');
    let length: usize = lines.take(line as usize).map(str::len).sum();
    source[..length].trim_end_matches(['\n', '\r']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_say_what_was_seen() {
        let source =
            "//~ sectors x[i] <= 4\n//~ exit 0\na; //~ race\n//~^ race\nb;\nc; //~ clean\n";
        let expected = Expected::read(source);
        let seen = [
            vec![
                Bless::Number(0, vec![8.0]),
                Bless::Exit(1, 3),
                Bless::Missed(2),
                Bless::Missed(3),
                Bless::Add(5, "leak".to_string()),
            ],
            vec![
                Bless::Number(0, vec![16.0, 2.0]),
                Bless::Exit(1, 3),
                Bless::Missed(2),
                Bless::Missed(3),
            ],
        ];
        assert_eq!(
            blessed(source, &expected, &seen),
            "//~ sectors x[i] <= 16\n//~ exit 3\na;\nb; //~ leak\nc; //~ clean\n"
        );
    }

    #[test]
    fn what_runs_do_not_agree_on_stays() {
        let source = "//~ sectors x[i] == 4\n//~ exit 0\na; //~ race\n//~ require branches > 1\n";
        let expected = Expected::read(source);
        let seen = [
            vec![
                Bless::Number(0, vec![8.0, 9.0]),
                Bless::Exit(1, 3),
                Bless::Missed(2),
                Bless::Number(3, vec![0.0]),
            ],
            vec![],
        ];
        assert_eq!(blessed(source, &expected, &seen), source);
    }
}
