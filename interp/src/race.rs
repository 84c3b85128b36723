//! Races by happens-before.

pub(crate) mod verdict;
