//! Cures atomics of a whole warp on one word: the warp adds up first, and one lane updates the word.

use std::ops::Range;

use report::{SuggestionKind, model::HotSpot};

use crate::{
    Base,
    candidate::Candidate,
    text::{NodeKind, Text},
};

/// Candidates for atomics that wait for each other, if the text shows that the word is the same for all lanes.
pub(crate) fn candidates(base: Base<'_>, texts: &[Text<'_>], spot: &HotSpot) -> Vec<Candidate> {
    let text = texts.iter().find(|text| text.file.name == spot.file);
    let found = text.and_then(|text| Some((text, Call::find(text, spot)?)));
    let Some((text, call)) = found else {
        return vec![];
    };
    let lane = lane(text, call.statement.start);
    let (name, target) = (call.name, text.between(call.target.clone()));
    let value = text.between(call.value.clone());
    let is_number = call.value.len() == 1 && value.starts_with(|c: char| c.is_ascii_digit());
    let leads = format!("if ({lane} == __ffs(active) - 1)");
    let reduce = match name {
        "atomicAdd" => "__reduce_add_sync",
        "atomicMax" => "__reduce_max_sync",
        _ => "__reduce_min_sync",
    };
    let join = match name {
        "atomicAdd" => "add up",
        "atomicMax" => "find the greatest",
        _ => "find the least",
    };
    let mut all = vec![];
    let mut add = |what: &str, new: String| {
        let edits = vec![text.replace(call.statement.clone(), format!("{{ {new} }}"))];
        let what = format!("{join} in the warp first, {what}, and let one lane update: `{new}`");
        all.push(Candidate::new(SuggestionKind::Aggregate, what, edits));
    };
    if is_number && name == "atomicAdd" {
        let times = match value {
            "1" | "1u" | "1U" => String::new(),
            _ => format!("{value} * "),
        };
        add(
            "with `__popc`",
            format!(
                "unsigned active = __activemask(); {leads} {name}({target}, {times}__popc(active));"
            ),
        );
    }
    // Older architectures do not have that instruction.
    if base.input.rules.arch.number() >= 80 {
        add(
            &format!("with `{reduce}` (sm_80 and later)"),
            format!(
                "unsigned active = __activemask(); auto all = {reduce}(active, {value}); {leads} {name}({target}, all);"
            ),
        );
    }
    // It needs all lanes of the warp, for other numbers of elements, too.
    if name == "atomicAdd" && comes_by_whole(text, call.statement.start) {
        add(
            "with `__shfl_down_sync`",
            format!(
                "auto all = {value}; for (int d = 16; d > 0; d /= 2) all += __shfl_down_sync(0xffffffffu, all, d); if ({lane} == 0) \
                 {name}({target}, all);"
            ),
        );
    }
    all
}

/// `atomicAdd(target, value);` as a statement.
struct Call<'a> {
    name: &'a str,
    statement: Range<usize>,
    target: Range<usize>,
    value: Range<usize>,
}

impl<'a> Call<'a> {
    fn find(text: &Text<'a>, spot: &HotSpot) -> Option<Call<'a>> {
        let on_line = text.at(spot.line, 1)?;
        let first = (on_line..text.len())
            .take_while(|&at| text.line(at) == spot.line)
            .find(|&at| matches!(text.word(at), "atomicAdd" | "atomicMax" | "atomicMin"))?;
        let node = text.statements(first).last().copied()?;
        let close = text.close(first + 1)?;
        // The old value is unused.
        if node.kind != NodeKind::Plain || node.first != first || close + 1 != node.last {
            return None;
        }
        let mut comma = first + 2;
        while text.word(comma) != "," {
            comma = match text.word(comma) {
                "(" | "[" | "{" => text.close(comma)? + 1,
                _ => comma + 1,
            };
            if comma >= close {
                return None;
            }
        }
        let call = Call {
            name: text.word(first),
            statement: first..node.last + 1,
            target: first + 2..comma,
            value: comma + 1..close,
        };
        let free = ["active", "all"];
        let is_free = !call
            .statement
            .clone()
            .any(|at| free.contains(&text.word(at)));
        (is_free && call.is_uniform(text)).then_some(call)
    }

    /// Whether the target's text names only values that are the same for all threads of a block: unmodified parameters and global
    /// variables, shared variables, numbers, and the block's index.
    fn is_uniform(&self, text: &Text<'_>) -> bool {
        let Some(function) = text.function(self.target.start) else {
            return false;
        };
        let body = text.body(function);
        let params = function.params..body.start;
        let is_kernel = (function.params.saturating_sub(20)..function.params)
            .rev()
            .take_while(|&at| !matches!(text.word(at), ";" | "}"))
            .any(|at| text.word(at) == "__global__");
        let is_changed = |name: &str| {
            body.clone().any(|at| {
                let next = text.word(at + 1);
                text.word(at) == name
                    && (matches!(next, "=" | "++" | "--" | "+=" | "-=")
                        || matches!(text.word(at - 1), "++" | "--"))
            })
        };
        let is_shared = |name: &str| {
            body.clone().any(|at| {
                let before = text.word(at.saturating_sub(1));
                text.word(at) == name
                    && (at.saturating_sub(4)..at).any(|at| text.word(at) == "__shared__")
                    && !matches!(before, "=" | ";" | "}")
            })
        };
        let is_global = |name: &str| {
            (0..text.len()).any(|at| {
                text.word(at) == "__device__"
                    && (at + 1..at + 4).any(|at| text.word(at) == name)
                    && !matches!(text.word(at + 3), "(")
            })
        };
        let is_same = |at: usize| {
            let word = text.word(at);
            let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if !is_name {
                return matches!(word, "&" | "[" | "]" | "+" | "(" | ")" | ".")
                    || word.starts_with(|c: char| c.is_ascii_digit());
            }
            let is_member = text.word(at - 1) == "." && text.word(at - 2) == "blockIdx";
            let is_param = params.clone().any(|at| text.word(at) == word);
            word == "blockIdx"
                || is_member
                || (is_param || is_global(word)) && !is_changed(word)
                || is_shared(word)
        };
        is_kernel && self.target.clone().all(is_same)
    }
}

/// Whether all threads reach a statement, as far as the text shows: it is in no branch or loop, and no thread returns before it.
fn comes_by_whole(text: &Text<'_>, at: usize) -> bool {
    let Some(function) = text.function(at) else {
        return false;
    };
    let mut before = text.body(function).start..at;
    text.statements(at).len() == 1 && !before.any(|at| text.word(at) == "return")
}

/// The lane's number, computed from the dimensions that the kernel's text uses.
fn lane(text: &Text<'_>, at: usize) -> &'static str {
    let body = text.function(at).map(|function| text.body(function));
    let uses = |member: &str| {
        body.clone().is_some_and(|mut body| {
            body.any(|at| text.word(at) == "threadIdx" && text.word(at + 2) == member)
        })
    };
    match (uses("y"), uses("z")) {
        (false, false) => "threadIdx.x % 32",
        (true, false) => "(threadIdx.x + threadIdx.y * blockDim.x) % 32",
        _ => "(threadIdx.x + (threadIdx.y + threadIdx.z * blockDim.y) * blockDim.x) % 32",
    }
}
