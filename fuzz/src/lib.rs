//! Fuzz targets: each a function of bytes that panics if dslc breaks a promise.
//!
//! In: any bytes. What they stand for is the target's business: a text, or choices that a generator makes ([`choices::Choices`]). A target
//! never fails on bytes alone; a panic is a bug in dslc (or in the target). Who calls them: libFuzzer (`fuzz_targets`), the program `night` on a
//! stable compiler, which mutates inputs by itself ([`mutate`]), and the test that runs the kept corpus.

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

/// One of the functions.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: the module's, the corpus folder's and the libFuzzer program's.
    pub name: &'static str,
    /// Panics on a bug.
    pub run: fn(&[u8]),
    /// Inputs are texts: they are mutated by tokens and lines, too.
    pub is_text: bool,
    /// Words that inputs are made of.
    pub words: &'static [&'static str],
    /// Seconds of the CPU that an input may take.
    pub seconds: f64,
}

/// All of them.
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

/// A target whose bytes are a generator's choices.
const fn choosing(name: &'static str, run: fn(&[u8])) -> Target {
    Target {
        name,
        run,
        is_text: false,
        words: &[],
        seconds: 5.0,
    }
}

/// The target of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// What dslc's own command gives its work: the parser's limits on nesting are set for less.
pub const STACK_BYTES: usize = 256 << 20;

thread_local! {
    static NOTICED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Says that an input led here: one that leads somewhere new is worth mutating. The words up to what is quoted count, numbers do not.
pub(crate) fn notice(what: &str) {
    let mut hasher = FxHasher::default();
    let words = what.bytes().take_while(|byte| !b"`'\":".contains(byte));
    let words = words.filter(|byte| !byte.is_ascii_digit() && *byte != b'-');
    words.take(60).for_each(|byte| hasher.write_u8(byte));
    NOTICED.with_borrow_mut(|noticed| noticed.push(hasher.finish()));
}

/// Where inputs led since the last call, as hashes.
pub fn take_noticed() -> Vec<u64> {
    NOTICED.take()
}
