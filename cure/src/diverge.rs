//! Candidates for divergent branches: conditions that keep whole warps together, and choices without a branch.

use std::ops::Range;

use report::{Edit, SuggestionKind, model::HotSpot};

use crate::{
    candidate::Candidate,
    text::{Node, NodeKind, Text},
    tree::{self, Doubling},
};

/// Candidates for a divergent branch.
pub(crate) fn candidates(texts: &[Text<'_>], spot: &HotSpot) -> Vec<Candidate> {
    let text = texts.iter().find(|text| text.file.name == spot.file);
    let Some((text, at)) = text.and_then(|text| Some((text, text.at(spot.line, spot.column)?)))
    else {
        return vec![];
    };
    let chain = text.statements(at);
    // The place may be that of the condition or of the statement.
    let is_if = |node: &&Node| node.kind == NodeKind::If && text.word(node.first) == "if";
    let Some(branch) = chain.iter().rev().find(is_if) else {
        return vec![];
    };
    let Some(condition) = condition(text, *branch) else {
        return vec![];
    };
    let mut all = vec![];
    let around = chain.iter().rev().find(|node| node.kind == NodeKind::Loop);
    if let Some(loop_) = around.and_then(|node| tree::doubling(text, *node)) {
        all.extend(kept_threads(text, *branch, &condition, &loop_));
    }
    all.extend(without_branch(text, *branch, &condition));
    all.extend(by_warp(text, &condition));
    all
}

/// The words between an `if`'s brackets.
fn condition(text: &Text<'_>, branch: Node) -> Option<Range<usize>> {
    let open = branch.first + 1;
    (text.word(open) == "(").then_some(open + 1..text.close(open)?)
}

/// For `t % (2 * s) == 0` in a loop that doubles `s`: the first threads work instead, on the same elements, or with the loop reversed.
fn kept_threads(
    text: &Text<'_>,
    branch: Node,
    condition: &Range<usize>,
    loop_: &Doubling<'_>,
) -> Vec<Candidate> {
    let Some((test, thread)) = every_nth(text, condition, loop_.step) else {
        return vec![];
    };
    let step = loop_.step;
    let thread = text.between(thread);
    let mut turned = loop_.turned(text);
    turned.push(text.replace(test.clone(), format!("{thread} < {step}")));
    let line = text.line(branch.first);
    let halves = format!("{step} = {0} / 2; {step} > 0; {step} /= 2", loop_.limit);
    let mut all = vec![];
    // A longer condition is for numbers of elements that are not powers of two, of which halving would lose some.
    if test == *condition {
        let what = format!(
            "halve the distance instead, and let the first threads work: `for (int {halves}) if ({thread} < {step})` in lines {} and {line}",
            loop_.line
        );
        all.push(Candidate::new(SuggestionKind::Branch, what, turned));
    }
    // The same sums in the same order, by the first threads: for types where the order of a sum matters.
    let mut same: Vec<Edit> = (condition.start..branch.last)
        .filter(|at| !test.contains(at))
        .filter(|&at| text.word(at) == thread && text.word(at - 1) != ".")
        .map(|at| text.replace(at..at + 1, format!("(2 * {step} * {thread})")))
        .collect();
    if !same.is_empty() && !thread.contains('.') {
        same.push(text.replace(test, format!("2 * {step} * {thread} < {}", loop_.limit)));
        all.push(Candidate::new(
            SuggestionKind::Branch,
            format!(
                "let the first threads work, on the elements `2 * {step} * {thread}`: `if (2 * {step} * {thread} < {})` in line {line}",
                loop_.limit
            ),
            same,
        ));
    }
    all
}

/// For `t % (2 * s) == 0` or `(t & (2 * s - 1)) == 0` in a condition: the words of the test, and of the thread's number.
fn every_nth(
    text: &Text<'_>,
    condition: &Range<usize>,
    step: &str,
) -> Option<(Range<usize>, Range<usize>)> {
    let zero = (condition.start + 2..condition.end)
        .find(|&at| text.word(at) == "0" && text.word(at - 1) == "==")?;
    let sign = (condition.start + 1..zero).find(|&at| matches!(text.word(at), "%" | "&"))?;
    let is_name = |at: usize| {
        let word = text.word(at);
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    };
    let mut first = sign - 1;
    if text.word(first - 1) == "." {
        first -= 2;
    }
    if !is_name(first) || !is_name(sign - 1) {
        return None;
    }
    let modulus: Vec<&str> = (sign + 1..zero - 1).map(|at| text.word(at)).collect();
    let is_double = |words: &[&str]| matches!(words, ["2", "*", one] | [one, "*", "2"] | [one, "<<", "1"] if *one == step);
    let (has_bracket, is_it) = match (text.word(sign), &modulus[..]) {
        ("%", ["(", inner @ .., ")"]) => (false, is_double(inner)),
        ("&", ["(", inner @ .., "-", "1", ")", ")"]) => (true, is_double(inner)),
        _ => return None,
    };
    let start = if has_bracket {
        first.checked_sub(1)?
    } else {
        first
    };
    (is_it && start >= condition.start).then_some((start..zero + 1, first..sign))
}

/// `if (c) x = a; else x = b;` as `x = c ? a : b;`.
fn without_branch(text: &Text<'_>, branch: Node, condition: &Range<usize>) -> Option<Candidate> {
    let (first, next) = assignment(text, condition.end + 1)?;
    if text.word(next) != "else" {
        return None;
    }
    let (second, end) = assignment(text, next + 1)?;
    let same_target = text.between(first.target.clone()) == text.between(second.target.clone());
    if end != branch.last + 1 || !same_target || first.sign != second.sign {
        return None;
    }
    let (target, sign) = (text.between(first.target), first.sign);
    let (a, b) = (text.between(first.value), text.between(second.value));
    let condition = text.between(condition.clone());
    let new = format!("{target} {sign} {condition} ? {a} : {b};");
    let choice = Candidate::new(
        SuggestionKind::Branch,
        format!("choose between the values without a branch: `{new}`"),
        vec![text.replace(branch.first..branch.last + 1, new)],
    );
    // `?:` converts both values to one type first.
    Some(choice.proved_only())
}

/// `target = value`.
struct Assignment<'a> {
    target: Range<usize>,
    sign: &'a str,
    value: Range<usize>,
}

/// The one assignment that a statement consists of, and the word after the statement.
fn assignment<'a>(text: &Text<'a>, at: usize) -> Option<(Assignment<'a>, usize)> {
    let is_block = text.word(at) == "{";
    let start = if is_block { at + 1 } else { at };
    let end = (start..text.len()).find(|&at| matches!(text.word(at), ";" | "{" | "}"))?;
    if text.word(end) != ";" || is_block && text.word(end + 1) != "}" {
        return None;
    }
    let signs = ["=", "+=", "-=", "*=", "/=", "|=", "&=", "^="];
    let sign = (start..end).find(|&at| signs.contains(&text.word(at)))?;
    let declares = matches!(text.word(start), "if" | "for" | "while" | "return" | "do");
    let one = Assignment {
        target: start..sign,
        sign: text.word(sign),
        value: sign + 1..end,
    };
    let behind = end + 1 + usize::from(is_block);
    (!declares && sign > start && sign + 1 < end).then_some((one, behind))
}

/// `threadIdx.x % 2` decides by lane, `threadIdx.x / 32 % 2` by warp. This is right only where it does not matter which thread does what.
fn by_warp(text: &Text<'_>, condition: &Range<usize>) -> Option<Candidate> {
    let at = condition.clone().find(|&at| {
        let words: Vec<&str> = (at..at + 4).map(|at| text.word(at)).collect();
        matches!(words[..], ["threadIdx", ".", "x", "%" | "&"])
    })?;
    let new = format!("(threadIdx.x / 32) {}", text.word(at + 3));
    Some(Candidate::new(
        SuggestionKind::Branch,
        format!(
            "decide by warp: `{new} {}` for `threadIdx.x {} {}`",
            text.word(at + 4),
            text.word(at + 3),
            text.word(at + 4)
        ),
        vec![text.replace(at..at + 4, new)],
    ))
}
