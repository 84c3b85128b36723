//! Candidates for scattered accesses to global memory: another assignment of elements to threads.

use std::ops::Range;

use report::{Edit, SuggestionKind, model::HotSpot};

use crate::{candidate::Candidate, text::Text};

/// Candidates for the scattered accesses of a hot spot: exchanged numbering of the threads.
pub(crate) fn candidates(texts: &[Text<'_>], spot: &HotSpot) -> Vec<Candidate> {
    let Some(text) = texts.iter().find(|text| text.file.name == spot.file) else {
        return vec![];
    };
    let Some(at) = text.at(spot.line, spot.column) else {
        return vec![];
    };
    let Some(function) = text.function(at) else {
        return vec![];
    };
    let body = text.body(function);
    let exchange = |names: &[&str]| exchanged(text, body.clone(), names);
    let mut all = vec![];
    for (names, what) in [
        (&["threadIdx"][..], "`threadIdx.x` and `threadIdx.y`"),
        (
            &["threadIdx", "blockIdx", "blockDim", "gridDim"],
            "`.x` and `.y` of `threadIdx`, `blockIdx`, `blockDim` and `gridDim`",
        ),
    ] {
        if let Some(edits) = exchange(names) {
            all.push(Candidate::new(
                SuggestionKind::Index,
                format!("exchange {what} in the kernel, so that the lanes of a warp take neighbouring elements"),
                edits,
            ));
        }
    }
    all
}

/// `x` and `y` of some variables exchanged; `None` if only one of them is used.
fn exchanged(text: &Text<'_>, body: Range<usize>, names: &[&str]) -> Option<Vec<Edit>> {
    let members = body.filter(|&at| {
        names.contains(&text.word(at))
            && text.word(at + 1) == "."
            && matches!(text.word(at + 2), "x" | "y")
    });
    let members: Vec<usize> = members.map(|at| at + 2).collect();
    let has = |name: &str| members.iter().any(|&at| text.word(at) == name);
    let other = |at: usize| if text.word(at) == "x" { "y" } else { "x" };
    let edits = members
        .iter()
        .map(|&at| text.replace(at..at + 1, other(at)));
    (has("x") && has("y")).then(|| edits.collect())
}
