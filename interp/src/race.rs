//! Races by happens-before, in the way of FastTrack: a shadow cell keeps an epoch of the last write and of the readers since.
//!
//! [`access`] leads an access to its cells in [`shadow`], which compare its [`epoch`] with theirs for 32 lanes at once. What that
//! does not clear, [`judge`] holds against happens-before ([`order`]) lane by lane, and [`verdict`] says what is wrong with two
//! accesses that nothing orders. [`report`] gathers them by source accesses. [`deferred`] puts off reads that the next barrier makes past.

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
