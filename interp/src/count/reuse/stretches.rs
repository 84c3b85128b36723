//! Represents sets of bytes as stretches.

/// The first byte, and the one after the last.
pub(super) type Stretch = (u64, u64);

/// Bytes of a sector.
const SECTOR_BYTES: u64 = 32;

/// Sorts and merges the stretches, so that they do not overlap.
pub(super) fn put_together(stretches: &mut Vec<Stretch>) {
    stretches.sort_unstable();
    let mut kept = 0;
    for at in 1..stretches.len() {
        let (start, end) = stretches[at];
        if start <= stretches[kept].1 {
            stretches[kept].1 = stretches[kept].1.max(end);
        } else {
            kept += 1;
            stretches[kept] = (start, end);
        }
    }
    stretches.truncate(kept + 1);
}

pub(super) fn bytes(stretches: &[Stretch]) -> u64 {
    stretches.iter().map(|(start, end)| end - start).sum()
}

pub(super) fn sectors(stretches: &[Stretch]) -> u64 {
    let (mut count, mut next) = (0, 0);
    for &(start, end) in stretches {
        let first = (start / SECTOR_BYTES).max(next);
        next = next.max(end.div_ceil(SECTOR_BYTES));
        count += next.saturating_sub(first);
    }
    count
}

/// The number of bytes in both.
pub(super) fn common(a: &[Stretch], b: &[Stretch]) -> u64 {
    let (mut i, mut k, mut sum) = (0, 0, 0);
    while i < a.len() && k < b.len() {
        let (start, end) = (a[i].0.max(b[k].0), a[i].1.min(b[k].1));
        sum += end.saturating_sub(start);
        match a[i].1 < b[k].1 {
            true => i += 1,
            false => k += 1,
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_counted_once_however_they_are_cut() {
        assert_eq!(
            sectors(&[(0, 4), (8, 12), (28, 36), (40, 41), (96, 160)]),
            4
        );
    }
}
