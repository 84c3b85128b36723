//! The front end of dslc: CUDA-like source text in, verified IR out.
//!
//! Stages, in order: [`source`] holds the text, `syntax` turns it into tokens (lexer, preprocessor) and a tree (parser),
//! `sema` types it, `lower` makes [`ir`]. Every stage returns what it has together with every [`diagnostic`] it found.
//! This crate prints nothing, reads no files (the caller hands in an [`source::Loader`]) and knows no warp and no LLVM.

pub mod compile;
pub mod diagnostic;
pub mod ir;
pub mod lint;
pub mod lower;
pub mod sema;
pub mod source;
pub mod span;
pub mod suggest;
pub mod survey;
pub mod syntax;
pub use compile::{Compiled, Options, compile};
pub use survey::{KernelVerdict, Survey, survey};
