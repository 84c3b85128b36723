//! Detects races by happens-before, as FastTrack does: a shadow cell holds an epoch of the last write and of the reads
//! since then.
//!
//! [`access`] maps an access to its cells in [`shadow`], which compare its [`epoch`] with theirs for 32 lanes at once.
//! If that is not conclusive, [`judge`] checks happens-before ([`order`]) lane by lane, and [`verdict`] says what is
//! wrong with two unordered accesses. [`report`] collects races by source accesses. [`deferred`] delays the recording
//! of reads until a barrier may make it unnecessary.

pub(crate) mod access;
pub(crate) mod deferred;
pub(crate) mod detector;
pub(crate) mod epoch;
mod judge;
pub(crate) mod order;
mod repeats;
pub(crate) mod report;
pub(crate) mod shadow;
pub(crate) mod subject;
pub(crate) mod touches;
pub(crate) mod verdict;
