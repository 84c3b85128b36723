//! Which bytes of a region hold a value somebody put there.

/// One bit per byte, kept only where it is neither all nor nothing.
#[derive(Clone, Debug, Default)]
pub(crate) enum Defined {
    /// No byte.
    #[default]
    Nothing,
    /// Every byte.
    All,
    /// By byte.
    Some(Vec<u64>),
}

impl Defined {
    /// Whether all of some bytes are.
    pub(crate) fn holds(&self, offset: u64, len: u64) -> bool {
        match self {
            Defined::Nothing => len == 0,
            Defined::All => true,
            Defined::Some(_) if len == 0 => true,
            Defined::Some(bits) => {
                let (first, last) = (offset, offset + len - 1);
                let (low, high) = ((first / 64) as usize, (last / 64) as usize);
                if high >= bits.len() {
                    return false;
                }
                let (from, to) = (u64::MAX << (first % 64), u64::MAX >> (63 - last % 64));
                if low == high {
                    return !bits[low] & from & to == 0;
                }
                !bits[low] & from == 0
                    && !bits[high] & to == 0
                    && bits[low + 1..high].iter().all(|&word| word == u64::MAX)
            }
        }
    }

    /// Bytes of a region of `size` are.
    pub(crate) fn define(&mut self, offset: u64, len: u64, size: u64) {
        if len == 0 || matches!(self, Defined::All) {
            return;
        }
        if offset == 0 && len >= size {
            *self = Defined::All;
            return;
        }
        let words = (size / 64 + 1) as usize;
        if matches!(self, Defined::Nothing) {
            *self = Defined::Some(vec![0; words]);
        }
        let Defined::Some(bits) = self else { return };
        let (first, last) = (offset, offset + len - 1);
        let (low, high) = ((first / 64) as usize, (last / 64) as usize);
        if high >= bits.len() {
            return;
        }
        let (from, to) = (u64::MAX << (first % 64), u64::MAX >> (63 - last % 64));
        if low == high {
            bits[low] |= from & to;
        } else {
            bits[low] |= from;
            bits[low + 1..high].fill(u64::MAX);
            bits[high] |= to;
        }
    }

    /// Bytes of a region of `size` are no longer.
    fn forget(&mut self, offset: u64, len: u64, size: u64) {
        if len == 0 || matches!(self, Defined::Nothing) {
            return;
        }
        if matches!(self, Defined::All) {
            *self = Defined::Some(vec![u64::MAX; (size / 64 + 1) as usize]);
        }
        let Defined::Some(bits) = self else { return };
        for at in offset..offset + len {
            if let Some(word) = bits.get_mut((at / 64) as usize) {
                *word &= !(1 << (at % 64));
            }
        }
    }

    /// Bytes are copied: what was never written stays so.
    pub(crate) fn copy(&mut self, to: u64, size: u64, other: &Defined, from: u64, len: u64) {
        match other {
            Defined::All => self.define(to, len, size),
            Defined::Nothing => self.forget(to, len, size),
            Defined::Some(_) if other.holds(from, len) => self.define(to, len, size),
            Defined::Some(_) => {
                for k in 0..len {
                    if other.holds(from + k, 1) {
                        self.define(to + k, 1, size);
                    } else {
                        self.forget(to + k, 1, size);
                    }
                }
            }
        }
    }

    /// Calls `then` with each range of bytes of a region of `size` that are, ascending: from and to.
    pub(crate) fn each_run(&self, size: u64, mut then: impl FnMut(u64, u64)) {
        let bits = match self {
            Defined::Nothing => return,
            Defined::All => return then(0, size),
            Defined::Some(bits) => bits,
        };
        let mut open = None;
        for (&word, first) in bits.iter().zip((0..).step_by(64)) {
            match (word, open) {
                (0, None) | (u64::MAX, Some(_)) => continue,
                _ => {}
            }
            for bit in 0..64 {
                match (word >> bit & 1, open) {
                    (1, None) => open = Some(first + bit),
                    (0, Some(from)) => {
                        then(from, first + bit);
                        open = None;
                    }
                    _ => {}
                }
            }
        }
        if let Some(from) = open {
            then(from, size);
        }
    }

    /// What either says.
    pub(crate) fn join(&mut self, other: &Defined) {
        match (&mut *self, other) {
            (Defined::All, _) | (_, Defined::Nothing) => {}
            (_, Defined::All) | (Defined::Nothing, _) => self.clone_from(other),
            (Defined::Some(ours), Defined::Some(theirs)) => {
                for (ours, theirs) in ours.iter_mut().zip(theirs) {
                    *ours |= theirs;
                }
            }
        }
    }
}
