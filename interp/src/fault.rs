//! What can be wrong, as data: traps, findings, why a run was stopped. May use `isa`.

pub(crate) mod address;
pub mod finding;
pub(crate) mod setter;
pub mod stop;
pub mod trap;

/// A thread's or a block's index in few words: `5` and not `(5, 0, 0)`, `(5, 1)` and not `(5, 1, 0)`. Its place in JSON has all three.
pub fn index_text([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (0, 0) => x.to_string(),
        (_, 0) => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    }
}
