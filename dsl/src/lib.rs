//! The front end of dslc: CUDA-like source text in, verified IR out.
//!
//! Stages, in order: `syntax` turns the text into tokens (lexer, preprocessor) and a tree (parser), `sema` types it, `lower` makes [`ir`].
//! Every stage returns its result together with every [`ir::diagnostic`] it found. This crate prints nothing and reads no files: the caller
//! supplies an [`ir::source::Loader`].

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests read files"
    )
)]

pub mod arena;
pub mod compile;
pub mod embed;
pub mod library;
pub mod lint;
pub mod lower;
mod message;
pub mod sema;
mod stack;
pub mod survey;
pub mod syntax;
pub use compile::{Compiled, Options, Stub, compile, compile_without_bodies};
pub use survey::{KernelVerdict, Survey, survey};
