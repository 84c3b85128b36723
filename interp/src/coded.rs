//! Serialises plain data to bytes and back: what one process collected about a launch, for another process with the
//! same program.
//!
//! Numbers take as many bytes as they need, with seven bits in each. Maps are written in the order of their keys, so
//! that equal data give equal bytes. The reader does not trust its input: invalid data give `None`. Whether the numbers
//! are meaningful is up to the caller to check.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use ir::{LocId, Space};

/// Data that can be serialised.
pub(crate) trait Coded: Sized {
    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads it from the front; `None` if the data is invalid.
    fn get(from: &mut &[u8]) -> Option<Self>;
}

/// A struct with its fields, or an enum of variants without fields.
macro_rules! coded {
    (struct $name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::coded::Coded for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::coded::Coded::put(&self.$field, out);)*
            }

            fn get(from: &mut &[u8]) -> Option<$name> {
                Some($name { $($field: $crate::coded::Coded::get(from)?),* })
            }
        }
    };
    (enum $name:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::coded::Coded for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(*self as u8);
            }

            fn get(from: &mut &[u8]) -> Option<$name> {
                let number = u8::get(from)?;
                [$($name::$variant),*].into_iter().find(|known| *known as u8 == number)
            }
        }
    };
}
pub(crate) use coded;

impl Coded for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn get(from: &mut &[u8]) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = u8::get(from)?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

impl Coded for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn get(from: &mut &[u8]) -> Option<u8> {
        let (first, rest) = from.split_first()?;
        *from = rest;
        Some(*first)
    }
}

/// Implements it for numbers that are written as other numbers.
macro_rules! through {
    ($($ty:ty: $put:expr, $get:expr;)*) => {
        $(impl Coded for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                let put: fn(&$ty) -> u64 = $put;
                put(self).put(out);
            }

            fn get(from: &mut &[u8]) -> Option<$ty> {
                let get: fn(u64) -> Option<$ty> = $get;
                get(u64::get(from)?)
            }
        })*
    };
}

through! {
    u32: |&number| number.into(), |number| number.try_into().ok();
    usize: |&number| number as u64, |number| number.try_into().ok();
    bool: |&is| is.into(), |number| Some(number == 1);
    // Small numbers of either sign are short.
    i64: |&number| (number << 1 ^ number >> 63) as u64, |bits| Some((bits >> 1) as i64 ^ -((bits & 1) as i64));
    LocId: |loc| loc.0.into(), |number| number.try_into().ok().map(LocId);
    Space: |space| space_number(*space), |number| SPACES.get(usize::try_from(number).ok()?).copied();
}

const SPACES: [Space; 5] = [
    Space::Generic,
    Space::Global,
    Space::Shared,
    Space::Constant,
    Space::Local,
];

fn space_number(space: Space) -> u64 {
    let known = SPACES.iter().position(|known| *known == space);
    known.map_or(u64::MAX, |number| number as u64)
}

impl Coded for i128 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn get(from: &mut &[u8]) -> Option<i128> {
        let (bytes, rest) = from.split_first_chunk()?;
        *from = rest;
        Some(i128::from_le_bytes(*bytes))
    }
}

impl Coded for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        out.extend(self.bytes());
    }

    fn get(from: &mut &[u8]) -> Option<String> {
        let len = usize::get(from)?;
        let (bytes, rest) = from.split_at_checked(len)?;
        let text = std::str::from_utf8(bytes).ok()?.to_owned();
        *from = rest;
        Some(text)
    }
}

impl<T: Coded> Coded for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(held) = self {
            held.put(out);
        }
    }

    fn get(from: &mut &[u8]) -> Option<Option<T>> {
        Some(match bool::get(from)? {
            true => Some(T::get(from)?),
            false => None,
        })
    }
}

impl<T: Coded> Coded for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put(self, out);
    }

    fn get(from: &mut &[u8]) -> Option<Box<T>> {
        T::get(from).map(Box::new)
    }
}

impl<T: Coded> Coded for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|item| item.put(out));
    }

    fn get(from: &mut &[u8]) -> Option<Vec<T>> {
        // Every item takes at least a byte, so an invalid length cannot cause a huge allocation.
        let len = usize::get(from).filter(|&len| len <= from.len())?;
        (0..len).map(|_| T::get(from)).collect()
    }
}

impl<T: Coded, const N: usize> Coded for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(out));
    }

    fn get(from: &mut &[u8]) -> Option<[T; N]> {
        let items: Option<Vec<T>> = (0..N).map(|_| T::get(from)).collect();
        items?.try_into().ok()
    }
}

impl<A: Coded, B: Coded> Coded for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(from: &mut &[u8]) -> Option<(A, B)> {
        Some((A::get(from)?, B::get(from)?))
    }
}

impl<A: Coded, B: Coded, C: Coded> Coded for (A, B, C) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
        self.2.put(out);
    }

    fn get(from: &mut &[u8]) -> Option<(A, B, C)> {
        Some((A::get(from)?, B::get(from)?, C::get(from)?))
    }
}

impl<K: Coded + Ord, V: Coded> Coded for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn get(from: &mut &[u8]) -> Option<BTreeMap<K, V>> {
        Some(Vec::get(from)?.into_iter().collect())
    }
}

impl<K: Coded + Ord + Hash, V: Coded> Coded for HashMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        let sorted: BTreeMap<&K, &V> = self.iter().collect();
        sorted.len().put(out);
        for (key, value) in sorted {
            key.put(out);
            value.put(out);
        }
    }

    fn get(from: &mut &[u8]) -> Option<HashMap<K, V>> {
        Some(Vec::get(from)?.into_iter().collect())
    }
}

impl<K: Coded + Ord> Coded for BTreeSet<K> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|key| key.put(out));
    }

    fn get(from: &mut &[u8]) -> Option<BTreeSet<K>> {
        Some(Vec::get(from)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comes_back<T: Coded + PartialEq + std::fmt::Debug>(data: T) {
        let mut bytes = Vec::new();
        data.put(&mut bytes);
        assert_eq!(T::get(&mut &bytes[..]).as_ref(), Some(&data));
        for end in 0..bytes.len() {
            // A truncated encoding is invalid, and does not panic.
            assert_eq!(T::get(&mut &bytes[..end]), None, "{data:?}");
        }
    }

    #[test]
    fn data_come_back() {
        for number in [0, 127, 128, 1 << 35, u64::MAX] {
            comes_back(number);
            comes_back(number as i64);
            comes_back((number as u32, -(number as i128), number % 2 == 0));
        }
        comes_back(vec![Some("text".to_owned()), None]);
        comes_back(BTreeMap::from([(1u32, [2u64; 3]), (7, [0; 3])]));
        comes_back(HashMap::from([((1u32, 2u32), Box::new(3u64))]));
        SPACES.into_iter().for_each(comes_back);
    }

    #[test]
    fn what_is_no_data_is_none() {
        assert_eq!(u64::get(&mut &[0xff; 11][..]), None);
        assert_eq!(u32::get(&mut &[0xff, 0xff, 0xff, 0xff, 0x7f][..]), None);
        // More items than bytes.
        assert_eq!(Vec::<u64>::get(&mut &[100, 1, 2][..]), None);
        assert_eq!(String::get(&mut &[2, 0xc3, 0x28][..]), None);
    }
}
