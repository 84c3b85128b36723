//! dslc.
fn main() {}
