//! Names as small numbers: each spelling is stored once, compared by id, and handed out as a shared string.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// A spelling.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Sym(pub(crate) u32);

/// The spellings so far.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    ids: HashMap<Arc<str>, Sym, BuildHasherDefault<ShortHasher>>,
    texts: Vec<Arc<str>>,
}

impl Interner {
    /// The id of a spelling, new or known.
    pub(crate) fn intern(&mut self, text: &str) -> Sym {
        if let Some(&sym) = self.ids.get(text) {
            return sym;
        }
        let sym = Sym(self.texts.len() as u32);
        let text: Arc<str> = Arc::from(text);
        self.texts.push(text.clone());
        self.ids.insert(text, sym);
        sym
    }

    /// The spelling of an id.
    pub(crate) fn text(&self, sym: Sym) -> &str {
        &self.texts[sym.0 as usize]
    }

    /// The spelling as a string that outlives the interner.
    pub(crate) fn shared(&self, sym: Sym) -> Arc<str> {
        self.texts[sym.0 as usize].clone()
    }

    /// One more than the largest id.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }
}

/// A hash for short strings, eight bytes a step (the "Fx" mix). The keys come from the user's own program, so collisions harm only its
/// author, and the table is dropped with the run.
#[derive(Default)]
pub(crate) struct ShortHasher(u64);

impl ShortHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for ShortHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(u64::from(word));
    }

    fn finish(&self) -> u64 {
        // The table takes its index from the low bits, which a multiplication mixes least.
        self.0 ^ (self.0 >> 32)
    }
}
