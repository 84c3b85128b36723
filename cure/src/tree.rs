//! Trees whose stride grows: `for (s = 1; s < n; s *= 2)` with the index `2 * s * t`. The other way round, threads side by side take elements
//! side by side.

use report::{SuggestionKind, model::HotSpot};

use crate::{
    candidate::Candidate,
    text::{NodeKind, Text},
};

/// The loop around a hot spot, the other way round, if it is such a tree.
pub(crate) fn candidates(text: &Text<'_>, spot: &HotSpot) -> Vec<Candidate> {
    reversed(text, spot).into_iter().collect()
}

fn reversed(text: &Text<'_>, spot: &HotSpot) -> Option<Candidate> {
    let at = text.at(spot.line, spot.column)?;
    let chain = text.statements(at);
    let node = chain
        .iter()
        .rev()
        .find(|node| node.kind == NodeKind::Loop)?;
    let open = node.first + 1;
    let close = text.close(open)?;
    // `for (int s = 1; s < n; s *= 2)`.
    let mut ends = (open..close).filter(|&at| text.word(at) == ";");
    let (first, second) = (ends.next()?, ends.next()?);
    let is = |at: usize, word: &str| text.word(at) == word;
    let s = text.word(first.checked_sub(3)?);
    let starts = is(first - 1, "1") && is(first - 2, "=");
    let runs = is(first + 1, s) && is(first + 2, "<");
    let doubles = match (text.word(second + 2), text.word(second + 3)) {
        ("*=", "2") | ("<<=", "1") => is(second + 1, s) && second + 4 == close,
        _ => false,
    };
    if !(is(node.first, "for") && starts && runs && doubles) {
        return None;
    }
    let limit = text.between(first + 3..second);
    // `at = 2 * s * t` is the thread's number then.
    let index = (close..node.last).find_map(|at| {
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
    let limit = match limit
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    {
        true => limit.to_string(),
        false => format!("({limit})"),
    };
    let edits = vec![
        text.replace(first - 1..first, format!("{limit} / 2")),
        text.replace(first + 2..second, "> 0"),
        text.replace(second + 2..close, "/= 2"),
        text.replace(name + 2..name + 7, thread),
        text.replace(condition + 2..end, s),
    ];
    Some(Candidate::new(
        SuggestionKind::Index,
        format!(
            "turn the loop round, line {}: begin with the largest distance and halve it, so that neighbouring threads take neighbouring \
             elements: `{s} = {limit} / 2; {s} > 0; {s} /= 2`",
            text.line(node.first)
        ),
        edits,
    ))
}
