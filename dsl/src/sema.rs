//! Tree to typed tree: names resolved, C's conversions made explicit, layouts computed.

pub mod ty;
pub mod typed;
