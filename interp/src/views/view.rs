//! A view: the time of the oldest value of each word that may still be read.
//!
//! Threads that have synchronised have seen mostly the same, so a view has a part that may be shared with others, and
//! later changes.

use std::collections::HashMap;
use std::rc::Rc;

/// What a thread had seen at some time. It is shared and never changes.
pub(crate) type Seen = Rc<HashMap<u32, u64>>;

#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    shared: Seen,
    own: HashMap<u32, u64>,
}

impl View {
    /// The time of a word.
    pub(crate) fn of(&self, word: u32) -> u64 {
        let of = |part: &HashMap<u32, u64>| part.get(&word).copied().unwrap_or(0);
        of(&self.shared).max(of(&self.own))
    }

    pub(crate) fn see(&mut self, word: u32, time: u64) {
        if time > self.of(word) {
            self.own.insert(word, time);
        }
    }

    /// All of it, in a form that can be shared.
    pub(crate) fn seen(&mut self) -> Seen {
        if !self.own.is_empty() {
            let all = Rc::make_mut(&mut self.shared);
            for (word, time) in self.own.drain() {
                let known = all.entry(word).or_default();
                *known = time.max(*known);
            }
        }
        self.shared.clone()
    }

    pub(crate) fn join_seen(&mut self, other: &Seen) {
        if Rc::ptr_eq(&self.shared, other) {
            return;
        }
        if self.shared.is_empty() && self.own.is_empty() {
            self.shared = other.clone();
            return;
        }
        for (&word, &time) in other.iter() {
            self.see(word, time);
        }
    }

    pub(crate) fn join(&mut self, other: &View) {
        self.join_seen(&other.shared);
        for (&word, &time) in &other.own {
            self.see(word, time);
        }
    }
}
