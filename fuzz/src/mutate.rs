//! New inputs from old ones, if no compiler instruments dslc: mutates bytes, tokens of a dictionary, lines, and pieces of other inputs.
//!
//! Inputs are kept by the places that they reach ([`crate::take_noticed`]): one that reaches a new place joins the pool from which the next
//! ones are made. Everything except what is kept follows from a seed and the initial inputs.

use std::collections::HashSet;

use crate::Target;

/// A small random number generator (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Accepts any seed.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| _ = random.word());
        random
    }

    /// 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// One of the numbers from 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.word() >> 11) % n.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Most inputs in the pool; further ones replace others.
const MAX_KEPT: usize = 4096;
/// Most bytes of an input.
const MAX_BYTES: usize = 64 << 10;
/// Most bytes of an input for a generator.
const MAX_CHOICES: usize = 4 << 10;

/// Makes inputs.
#[derive(Debug)]
pub struct Mutator {
    random: Random,
    is_text: bool,
    words: &'static [&'static str],
    pool: Vec<Vec<u8>>,
    seen: HashSet<u64>,
}

impl Mutator {
    /// Starts with these inputs.
    pub fn new(target: &Target, seed: u64, pool: Vec<Vec<u8>>) -> Mutator {
        Mutator {
            random: Random::new(seed),
            is_text: target.is_text,
            words: target.words,
            pool,
            seen: HashSet::new(),
        }
    }

    /// Adds inputs to mutate, wherever they led.
    pub fn add(&mut self, inputs: Vec<Vec<u8>>) {
        self.pool.extend(inputs);
    }

    /// Keeps an input that reached a new place.
    pub fn learn(&mut self, input: &[u8], noticed: &[u64]) {
        let before = self.seen.len();
        self.seen.extend(noticed);
        if self.seen.len() == before {
            return;
        }
        if self.pool.len() < MAX_KEPT {
            self.pool.push(input.to_vec());
        } else {
            let at = self.random.below(MAX_KEPT);
            self.pool[at] = input.to_vec();
        }
    }

    /// The number of places that inputs reached.
    pub fn places(&self) -> usize {
        self.seen.len()
    }

    /// The next input.
    pub fn input(&mut self) -> Vec<u8> {
        if self.pool.is_empty() || (!self.is_text && self.random.one_in(3)) {
            return self.fresh();
        }
        let at = self.random.below(self.pool.len());
        let mut input = self.pool[at].clone();
        for _ in 0..1 << self.random.below(5) {
            if self.is_text && !self.random.one_in(4) {
                self.change_text(&mut input);
            } else {
                self.change_bytes(&mut input);
            }
        }
        input.truncate(if self.is_text { MAX_BYTES } else { MAX_CHOICES });
        input
    }

    /// A new input.
    fn fresh(&mut self) -> Vec<u8> {
        if self.is_text {
            let count = 1 + self.random.below(60);
            let words = (0..count).map(|_| self.words[self.random.below(self.words.len())]);
            return words.collect::<String>().into_bytes();
        }
        let bits = 4 + self.random.below(9);
        let length = self.random.below(1 << bits);
        (0..length).map(|_| self.random.word() as u8).collect()
    }

    /// Any range, usually a short one.
    fn range(&mut self, length: usize) -> (usize, usize) {
        let start = self.random.below(length + 1);
        let bits = self.random.below(10);
        let end = length.min(start + self.random.below(1 << bits));
        (start, end)
    }

    fn other(&mut self) -> Vec<u8> {
        let at = self.random.below(self.pool.len());
        let other = &self.pool[at];
        let length = other.len();
        let (start, end) = self.range(length);
        self.pool[at][start..end].to_vec()
    }

    fn change_bytes(&mut self, input: &mut Vec<u8>) {
        let (start, end) = self.range(input.len());
        match self.random.below(8) {
            0 => _ = input.drain(start..end),
            1 => {
                let copy = input[start..end].to_vec();
                let at = self.random.below(input.len() + 1);
                input.splice(at..at, copy);
            }
            2 => {
                let other = self.other();
                input.splice(start..end, other);
            }
            3 => {
                let bits = self.random.below(6);
                let bytes: Vec<u8> = (0..1 << bits).map(|_| self.random.word() as u8).collect();
                input.splice(start..start, bytes);
            }
            4 if !self.words.is_empty() => {
                let word = self.words[self.random.below(self.words.len())];
                input.splice(start..start, word.bytes());
            }
            _ if input.is_empty() => input.push(self.random.word() as u8),
            5 => {
                let at = self.random.below(input.len());
                let odd = [0, 1, 0x7f, 0x80, 0xff, b'0', b'\n', b'"'];
                input[at] = odd[self.random.below(odd.len())];
            }
            6 => {
                let at = self.random.below(input.len());
                input[at] ^= 1 << self.random.below(8);
            }
            _ => {
                let at = self.random.below(input.len());
                input[at] = self.random.word() as u8;
            }
        }
    }

    fn change_text(&mut self, input: &mut Vec<u8>) {
        if self.random.one_in(4) {
            return self.change_lines(input);
        }
        let tokens = tokens(input);
        if tokens.is_empty() {
            return self.change_bytes(input);
        }
        let at = self.random.below(tokens.len());
        let (start, end) = tokens[at];
        match self.random.below(7) {
            0 => {
                let last = tokens[(at + self.random.below(6)).min(tokens.len() - 1)].1;
                input.drain(start..last);
            }
            1 | 2 if !self.words.is_empty() => {
                let word = self.words[self.random.below(self.words.len())];
                let to = if self.random.one_in(2) { start } else { end };
                input.splice(start..to, word.bytes());
            }
            3 => {
                let (from, to) = tokens[self.random.below(tokens.len())];
                let copy = input[from..to].to_vec();
                input.splice(start..end, copy);
            }
            4 => {
                let copy = [b" ", &input[start..end]].concat();
                input.splice(end..end, copy);
            }
            5 => {
                let at = self.random.below(self.pool.len());
                let other = self::tokens(&self.pool[at]);
                if !other.is_empty() {
                    let first = self.random.below(other.len());
                    let last = (first + self.random.below(8)).min(other.len() - 1);
                    let piece = self.pool[at][other[first].0..other[last].1].to_vec();
                    input.splice(start..end, piece);
                }
            }
            _ => {
                let numbers = [
                    "0",
                    "1",
                    "-1",
                    "2147483647",
                    "4294967296",
                    "0x8000",
                    "1e38f",
                    "65",
                ];
                let number = numbers[self.random.below(numbers.len())];
                input.splice(start..end, number.bytes());
            }
        }
    }

    fn change_lines(&mut self, input: &mut Vec<u8>) {
        let lines: Vec<&[u8]> = input.split_inclusive(|&byte| byte == b'\n').collect();
        if lines.is_empty() {
            return;
        }
        let (start, mut lines) = (self.random.below(lines.len()), lines);
        let end = (start + 1 + self.random.below(8)).min(lines.len());
        let at = self.random.below(self.pool.len());
        let other: Vec<&[u8]> = self.pool[at]
            .split_inclusive(|&byte| byte == b'\n')
            .collect();
        match self.random.below(4) {
            0 => _ = lines.drain(start..end),
            1 => {
                let copy = lines[start..end].to_vec();
                let to = self.random.below(lines.len());
                lines.splice(to..to, copy);
            }
            2 if !other.is_empty() => {
                let first = self.random.below(other.len());
                let last = (first + 1 + self.random.below(12)).min(other.len());
                lines.splice(start..start, other[first..last].iter().copied());
            }
            _ => {
                let to = self.random.below(lines.len());
                lines.swap(start, to);
            }
        }
        *input = lines.concat();
    }
}

/// The places of names, numbers and signs.
fn tokens(text: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let start = at;
        at += 1;
        if text[start].is_ascii_whitespace() {
            continue;
        }
        if is_word(text[start]) {
            at += text[at..].iter().take_while(|&&byte| is_word(byte)).count();
        }
        tokens.push((start, at));
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_follow_from_the_seed() {
        let target = crate::find("front").expect("a target");
        let pool = vec![b"int main() {\n    return 0;\n}\n".to_vec()];
        let inputs = |seed| {
            let mut mutator = Mutator::new(target, seed, pool.clone());
            (0..50).map(|_| mutator.input()).collect::<Vec<_>>()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(2));
        assert!(inputs(3).iter().any(|input| input != &pool[0]));
    }

    #[test]
    fn tokens_are_words_and_signs() {
        assert_eq!(
            tokens(b"a1 += 2;"),
            [(0, 2), (3, 4), (4, 5), (6, 7), (7, 8)]
        );
    }
}
