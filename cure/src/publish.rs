//! Candidates for communication between blocks through global memory: fences before the word that announces data, and `volatile` for that
//! word.

use ir::diagnostic::Code;
use report::{SuggestionKind, findings::Found};

use crate::{
    Base,
    candidate::Candidate,
    text::{FunctionText, NodeKind, Text},
};

/// Candidates for a race between blocks.
pub(crate) fn candidates(
    base: Base<'_>,
    texts: &[Text<'_>],
    text: &Text<'_>,
    accesses: &[usize],
) -> Vec<Candidate> {
    let mut all = fences(text, accesses);
    let function = accesses.first().and_then(|&at| text.function(at));
    // A thread that waits for a word also waits for the data it announces, so that word comes first.
    let mut names: Vec<(bool, &str)> = vec![];
    let is_race = |found: &&Found| {
        matches!(found.code, Code::DataRace | Code::SameValueRace)
            && found.memory.space.as_deref() == Some("global")
    };
    for found in base.input.findings.iter().filter(is_race) {
        let Some((name, _)) = &found.memory.object else {
            continue;
        };
        let in_test = found.sides.iter().any(|side| {
            let loc = base.input.module.loc(side.loc);
            let at = text.at(loc.line, loc.column);
            let chain = at.map(|at| text.statements(at)).unwrap_or_default();
            chain.last().is_some_and(|node| node.kind == NodeKind::Loop)
        });
        match names.iter_mut().find(|(_, known)| known == name) {
            Some((known, _)) => *known |= in_test,
            None => names.push((in_test, name)),
        }
    }
    names.sort_by_key(|&(in_test, _)| !in_test);
    for (_, name) in names {
        let local = function.and_then(|function| volatile_parameter(text, function, name));
        let global = || texts.iter().find_map(|text| volatile_variable(text, name));
        all.extend(local.or_else(global));
    }
    all
}

/// `__threadfence();` after an access: a thread that sees later writes also sees the earlier ones.
fn fences(text: &Text<'_>, accesses: &[usize]) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = vec![];
    for &at in accesses {
        let chain = text.statements(at);
        let Some(&node) = chain.last().filter(|node| node.kind == NodeKind::Plain) else {
            continue;
        };
        let is_body = chain.len() >= 2 && chain[chain.len() - 2].kind != NodeKind::Block;
        let fence = "__threadfence();";
        let edits = match is_body {
            true => vec![
                text.before(node.first, "{ "),
                text.behind(node.last, format!(" {fence} }}")),
            ],
            false => vec![text.line_behind(node.first, node.last, fence)],
        };
        let candidate = Candidate::new(
            SuggestionKind::Fence,
            format!(
                "put `__threadfence()` after line {}: a thread that sees the announcement then sees these writes, too",
                text.line(node.last)
            ),
            edits,
        );
        if !all.iter().any(|known| known.edits == candidate.edits) {
            all.push(candidate);
        }
    }
    all
}

/// The parameter with that name as a pointer to `volatile`.
fn volatile_parameter(text: &Text<'_>, function: FunctionText, name: &str) -> Option<Candidate> {
    let params = function.params..text.body(function).start;
    let at = params
        .clone()
        .find(|&at| text.word(at) == name && text.word(at - 1) == "*")?;
    let first = (params.start..at)
        .rev()
        .find(|&at| matches!(text.word(at), "," | "("))?
        + 1;
    let is_volatile = (first..at).any(|at| matches!(text.word(at), "volatile" | "const"));
    (!is_volatile).then(|| volatile(text, first, name))
}

/// The global variable with that name, declared as `volatile`.
fn volatile_variable(text: &Text<'_>, name: &str) -> Option<Candidate> {
    let at = (0..text.len()).find(|&at| {
        text.word(at) == "__device__"
            && (at + 1..text.len())
                .take_while(|&at| !matches!(text.word(at), ";" | "(" | "{" | "volatile"))
                .any(|at| text.word(at) == name)
    })?;
    Some(volatile(text, at + 1, name))
}

fn volatile(text: &Text<'_>, at: usize, name: &str) -> Candidate {
    Candidate::new(
        SuggestionKind::Volatile,
        format!(
            "declare `{name}` as `volatile` in line {}: each access then goes to memory, where other threads see it",
            text.line(at)
        ),
        vec![text.before(at, "volatile ")],
    )
}
