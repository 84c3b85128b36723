//! Candidates for constant memory whose lanes read different words: global memory serves neighbouring words at once.

use report::{SuggestionKind, model::HotSpot};

use crate::{candidate::Candidate, text::Text};

/// `__device__` for `__constant__` where the arrays of a hot spot are declared.
pub(crate) fn candidates(texts: &[Text<'_>], spot: &HotSpot) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = vec![];
    for access in &spot.accesses {
        let end = access.text.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &access.text[..end.unwrap_or(access.text.len())];
        let Some((text, at)) = texts
            .iter()
            .find_map(|text| Some((text, declaration(text, name)?)))
        else {
            continue;
        };
        let candidate = Candidate::new(
            SuggestionKind::Memory,
            format!(
                "keep `{name}` in global memory, whose cache serves neighbouring words at once: `__device__` for `__constant__` in line {}",
                text.line(at)
            ),
            vec![text.replace(at..at + 1, "__device__")],
        );
        if !all.iter().any(|known| known.edits == candidate.edits) {
            all.push(candidate);
        }
    }
    all
}

/// The word `__constant__` of a variable's declaration.
fn declaration(text: &Text<'_>, name: &str) -> Option<usize> {
    (0..text.len()).find(|&at| {
        text.word(at) == "__constant__"
            && (at + 1..text.len())
                .take_while(|&at| !matches!(text.word(at), ";" | "=" | "{" | "["))
                .any(|at| text.word(at) == name)
    })
}
