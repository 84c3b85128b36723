//! Fuzz targets: each is a function of bytes that panics if dslc breaks a promise.
//!
//! Any bytes are valid input. A target decides what they mean: a text, or the choices of a generator ([`choices::Choices`]). The bytes
//! alone never make a target fail; a panic is a bug in dslc (or in the target). The targets are run by libFuzzer (`fuzz_targets`), by the
//! program `night`, which needs only a stable compiler and mutates inputs itself ([`mutate`]), and by the test of the kept corpus.

pub mod choices;
pub mod cpu;
pub mod forms;
pub mod front;
pub mod host;
pub mod launch;
pub mod machine;
pub mod mutate;
pub mod orders;
pub mod program;
#[cfg(feature = "ptx")]
pub mod ptx;
pub mod readers;
mod support;

use std::{cell::RefCell, hash::Hasher};

use rustc_hash::FxHasher;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: the module's, the corpus folder's and the libFuzzer program's.
    pub name: &'static str,
    /// Panics on a bug.
    pub run: fn(&[u8]),
    /// Whether inputs are texts, which are also mutated by tokens and lines.
    pub is_text: bool,
    /// Words for mutations.
    pub words: &'static [&'static str],
    /// The CPU time in seconds that an input may take.
    pub seconds: f64,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "front",
        run: front::target,
        is_text: true,
        words: front::WORDS,
        seconds: 2.0,
    },
    Target {
        name: "program",
        run: program::target,
        is_text: true,
        words: front::WORDS,
        seconds: 10.0,
    },
    choosing("machine", machine::target),
    #[cfg(feature = "ptx")]
    choosing("ptx", ptx::target),
    choosing("host", host::target),
    Target {
        name: "readers",
        run: readers::target,
        is_text: true,
        words: readers::WORDS,
        seconds: 2.0,
    },
    Target {
        name: "launch",
        run: launch::target,
        is_text: true,
        words: launch::WORDS,
        seconds: 5.0,
    },
    choosing("orders", orders::target),
    choosing("cpu", cpu::target),
    choosing("forms", forms::target),
];

/// A target whose bytes are the choices of a generator.
const fn choosing(name: &'static str, run: fn(&[u8])) -> Target {
    Target {
        name,
        run,
        is_text: false,
        words: &[],
        seconds: 5.0,
    }
}

/// The target with that name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// The stack size of dslc's own command: the parser's limits on nesting are set for less.
pub const STACK_BYTES: usize = 256 << 20;

thread_local! {
    static NOTICED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Notes that an input reached a place: an input that reaches a new one is worth mutating. Only the words before quoted text count, without
/// numbers.
pub(crate) fn notice(what: &str) {
    let mut hasher = FxHasher::default();
    let words = what.bytes().take_while(|byte| !b"`'\":".contains(byte));
    let words = words.filter(|byte| !byte.is_ascii_digit() && *byte != b'-');
    words.take(60).for_each(|byte| hasher.write_u8(byte));
    NOTICED.with_borrow_mut(|noticed| noticed.push(hasher.finish()));
}

/// The places that inputs reached since the last call, as hashes.
pub fn take_noticed() -> Vec<u64> {
    NOTICED.take()
}
