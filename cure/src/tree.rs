//! Candidates for tree reductions whose stride grows: `for (s = 1; s < n; s *= 2)`. Reversed, neighbouring threads access neighbouring
//! elements.

use report::{Edit, SuggestionKind, model::HotSpot};

use crate::{
    candidate::Candidate,
    text::{Node, NodeKind, Text},
};

/// The loop around a hot spot, reversed, if it is such a tree with the index `2 * s * t`.
pub(crate) fn candidates(text: &Text<'_>, spot: &HotSpot) -> Vec<Candidate> {
    reversed(text, spot).into_iter().collect()
}

/// A loop that doubles its variable from 1 up to a limit.
pub(crate) struct Doubling<'a> {
    /// The variable.
    pub(crate) step: &'a str,
    /// The limit, in brackets unless it is a name.
    pub(crate) limit: String,
    /// The line where it begins.
    pub(crate) line: u32,
    /// The word `1`, the sign `<`, and the brackets' end.
    one: usize,
    less: usize,
    second: usize,
    close: usize,
}

/// `for (int s = 1; s < n; s *= 2)`.
pub(crate) fn doubling<'a>(text: &Text<'a>, node: Node) -> Option<Doubling<'a>> {
    let open = node.first + 1;
    let close = text.close(open)?;
    let mut ends = (open..close).filter(|&at| text.word(at) == ";");
    let (first, second) = (ends.next()?, ends.next()?);
    let is = |at: usize, word: &str| text.word(at) == word;
    let step = text.word(first.checked_sub(3)?);
    let starts = is(first - 1, "1") && is(first - 2, "=");
    let runs = is(first + 1, step) && is(first + 2, "<");
    let doubles = match (text.word(second + 2), text.word(second + 3)) {
        ("*=", "2") | ("<<=", "1") => is(second + 1, step) && second + 4 == close,
        ("=", _) => {
            let product: Vec<&str> = (second + 3..close).map(|at| text.word(at)).collect();
            is(second + 1, step)
                && matches!(product[..], ["2", "*", one] | [one, "*", "2"] | [one, "<<", "1"] if one == step)
        }
        _ => false,
    };
    if !(is(node.first, "for") && starts && runs && doubles) {
        return None;
    }
    let limit = text.between(first + 3..second);
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    Some(Doubling {
        step,
        limit: match limit.chars().all(is_name) {
            true => limit.to_string(),
            false => format!("({limit})"),
        },
        line: text.line(node.first),
        one: first - 1,
        less: first + 2,
        second,
        close,
    })
}

impl Doubling<'_> {
    /// The edits that make it halve the variable down to 1.
    pub(crate) fn turned(&self, text: &Text<'_>) -> Vec<Edit> {
        vec![
            text.replace(self.one..self.one + 1, format!("{} / 2", self.limit)),
            text.replace(self.less..self.second, "> 0"),
            text.replace(self.second + 1..self.close, format!("{} /= 2", self.step)),
        ]
    }
}

fn reversed(text: &Text<'_>, spot: &HotSpot) -> Option<Candidate> {
    let at = text.at(spot.line, spot.column)?;
    let chain = text.statements(at);
    let node = chain
        .iter()
        .rev()
        .find(|node| node.kind == NodeKind::Loop)?;
    let loop_ = doubling(text, *node)?;
    let (s, limit) = (loop_.step, &loop_.limit);
    let is = |at: usize, word: &str| text.word(at) == word;
    // With these edits `at = 2 * s * t` becomes the thread's number.
    let index = (loop_.close..node.last).find_map(|at| {
        let product = (at + 2..at + 7).map(|at| text.word(at)).collect::<Vec<_>>();
        let thread = match product[..] {
            ["2", "*", step, "*", thread] | [step, "*", "2", "*", thread] if step == s => thread,
            ["2", "*", thread, "*", step] if step == s => thread,
            _ => return None,
        };
        (is(at + 1, "=") && is(at + 7, ";")).then_some((at, thread))
    });
    let (name, thread) = index?;
    // `if (at < n)`.
    let condition = (name + 7..node.last).find(|&at| {
        is(at, text.word(name)) && is(at + 1, "<") && is(at - 1, "(") && text.word(at - 2) == "if"
    })?;
    let end = text.close(condition - 1)?;
    // A longer condition is for numbers of elements of which halving would lose some.
    if (condition..end).any(|at| text.word(at) == "&&") {
        return None;
    }
    let mut edits = loop_.turned(text);
    edits.extend([
        text.replace(name + 2..name + 7, thread),
        text.replace(condition + 2..end, s),
    ]);
    Some(Candidate::new(
        SuggestionKind::Index,
        format!(
            "reverse the rounds of the loop of line {}: begin with the largest distance and halve it, so that neighbouring threads take neighbouring \
             elements: `{s} = {limit} / 2; {s} > 0; {s} /= 2`",
            loop_.line
        ),
        edits,
    ))
}
