//! Describes errors as data: traps, findings, and why a run was stopped. It uses no other layer of the crate.

pub(crate) mod address;
pub mod finding;
pub(crate) mod setter;
pub mod stop;
pub mod trap;

/// The short form of a thread's or block's index: `5` instead of `(5, 0, 0)`, `(5, 1)` instead of `(5, 1, 0)`. JSON has
/// all three numbers.
pub fn index_text([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (0, 0) => x.to_string(),
        (_, 0) => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    }
}
