//! Candidates: edits that may help.

use report::{Edit, SuggestionKind};

/// Edits that may help, with a description in one sentence.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) kind: SuggestionKind,
    pub(crate) text: String,
    pub(crate) edits: Vec<Edit>,
    /// Whether only a proof can show that it is right, because it depends on types that the text does not tell.
    pub(crate) needs_proof: bool,
}

impl Candidate {
    pub(crate) fn new(
        kind: SuggestionKind,
        text: impl Into<String>,
        edits: Vec<Edit>,
    ) -> Candidate {
        Candidate {
            kind,
            text: text.into(),
            edits,
            needs_proof: false,
        }
    }

    /// The same edits, accepted only with a proof.
    pub(crate) fn proved_only(self) -> Candidate {
        Candidate {
            needs_proof: true,
            ..self
        }
    }

    /// Both together; `None` if they share an edit or overlap.
    pub(crate) fn and(&self, other: &Candidate) -> Option<Candidate> {
        let place = |edit: &Edit| {
            (
                (edit.line, edit.column),
                (edit.end_line, edit.end_column),
                edit.file.clone(),
            )
        };
        let meets = |a: &Edit, b: &Edit| {
            let ((a_start, a_end, a_file), (b_start, b_end, b_file)) = (place(a), place(b));
            a_file == b_file && (a_start == b_start || a_start < b_end && b_start < a_end)
        };
        let mut pairs = self
            .edits
            .iter()
            .flat_map(|a| other.edits.iter().map(move |b| (a, b)));
        if pairs.any(|(a, b)| meets(a, b)) {
            return None;
        }
        let mut edits = self.edits.clone();
        edits.extend(other.edits.iter().cloned());
        Some(Candidate {
            kind: self.kind,
            text: format!("{}; {}", self.text, other.text),
            edits,
            needs_proof: self.needs_proof || other.needs_proof,
        })
    }
}
