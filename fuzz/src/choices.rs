//! Choices of a generator, read from an input's bytes.
//!
//! Any bytes are choices. After the last byte, every choice is the first alternative. So generators put the alternative that ends something
//! first, and a shorter input is a smaller program.

/// The remaining choices.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// The choices of an input.
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices { bytes }
    }

    /// Whether no choices remain.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes are left.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => 0,
        }
    }

    /// Eight bytes.
    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// One of the numbers from 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        if n <= 1 {
            return 0;
        }
        let mut value = self.byte() as usize;
        if n > 256 {
            value |= (self.byte() as usize) << 8;
        }
        value % n
    }

    /// Whether an event with probability `1 / n` happens.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_are_choices_and_then_come_zeros() {
        let mut choices = Choices::new(&[7, 3]);
        assert_eq!(choices.below(5), 2);
        assert!(choices.one_in(4));
        assert!(choices.is_empty() && !choices.one_in(2));
        assert_eq!((choices.word(), choices.pick(&[5, 6])), (0, 5));
    }
}
