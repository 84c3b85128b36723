//! The front end of dslc: CUDA-like source text in, verified IR out.
//!
//! Stages, in order: [`source`] holds the text, `syntax` turns it into tokens (lexer, preprocessor) and a tree (parser),
//! `sema` types it, `lower` makes [`ir`]. Every stage returns what it has together with every [`diagnostic`] it found.
//! Without the feature `front` only what a compiled program needs is here: IR, places, diagnostics.
//! This crate prints nothing, reads no files (the caller hands in an [`source::Loader`]) and knows no warp and no LLVM.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests read files"
    )
)]

#[cfg(feature = "front")]
pub mod arena;
#[cfg(feature = "front")]
pub mod compile;
pub mod diagnostic;
#[cfg(feature = "front")]
pub mod embed;
pub mod image;
pub mod ir;
#[cfg(feature = "front")]
pub mod library;
#[cfg(feature = "front")]
pub mod lint;
#[cfg(feature = "front")]
pub mod lower;
#[cfg(feature = "front")]
pub mod sema;
pub mod source;
pub mod span;
#[cfg(feature = "front")]
mod stack;
pub mod suggest;
#[cfg(feature = "front")]
pub mod survey;
#[cfg(feature = "front")]
pub mod syntax;
pub mod target;
#[cfg(feature = "front")]
pub use compile::{Compiled, Options, compile};
#[cfg(feature = "front")]
pub use survey::{KernelVerdict, Survey, survey};
