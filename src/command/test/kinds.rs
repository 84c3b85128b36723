//! The names of kinds of findings: the word of the report (`race`), a code (`R0201`) or its name, or a word of `dslc explain`.

use interp::FindingKind;
use ir::diagnostic::Code;
use report::findings::Found;

use super::super::explain::codes_of;

/// Whether a word names a kind.
pub(super) fn is_kind(word: &str) -> bool {
    FindingKind::ALL.iter().any(|kind| kind.name() == word)
        || code(word).is_some()
        || !codes_of(word).is_empty()
}

/// Whether a finding is of a kind.
pub(super) fn is_of(word: &str, found: &Found) -> bool {
    if FindingKind::ALL.iter().any(|kind| kind.name() == word) {
        return found.kind == word;
    }
    match code(word) {
        Some(code) => found.code == code,
        None => codes_of(word).contains(&found.code),
    }
}

/// Whether a word names the kind of a compiler message.
pub(super) fn is_message(word: &str, of: Code) -> bool {
    match code(word) {
        Some(code) => code == of,
        None => codes_of(word).contains(&of),
    }
}

/// The words of the report.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FindingKind::ALL.into_iter().map(FindingKind::name)
}

fn code(word: &str) -> Option<Code> {
    let is_it = |code: &&Code| code.number().eq_ignore_ascii_case(word) || code.slug() == word;
    Code::ALL.iter().find(is_it).copied()
}
