//! PTX as input: text to IR.

mod assembler;
mod graph;
mod lexer;
mod lower;
mod parse;
mod structure;
pub mod tree;

pub use lower::{Joined, Kernel, Kernels, compiled, join, module};
pub use parse::parse;

use std::fmt;

/// Whether a text is PTX: it begins with `.version`, after comments.
pub fn is_ptx(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        rest = match (rest.strip_prefix("//"), rest.strip_prefix("/*")) {
            (Some(line), _) => line.split_once('\n').map_or("", |(_, after)| after),
            (_, Some(block)) => block.split_once("*/").map_or("", |(_, after)| after),
            _ => return rest.starts_with(".version"),
        }
        .trim_start();
    }
}

/// Why a text is not PTX that dslc reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// One sentence.
    pub message: String,
}

impl Error {
    /// An error at a byte of a text.
    pub(crate) fn at(text: &str, at: usize, message: &str) -> Error {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &text[..at];
        let line = before.bytes().filter(|&byte| byte == b'\n').count();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Error {
            line: line as u32 + 1,
            column: before[start..].chars().count() as u32 + 1,
            message: message.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Error {}
