//! The code that the machine runs, as plain data: bytecode, masks, registers, and the shape of a launch.

pub(crate) mod bytecode;
pub(crate) mod computing;
pub(crate) mod effects;
pub(crate) mod family;
pub(crate) mod fields;
pub(crate) mod grid;
pub(crate) mod host;
pub(crate) mod idle;
pub mod mask;
pub(crate) mod op;
pub(crate) mod operands;
pub(crate) mod registers;
pub(crate) mod rounds;
