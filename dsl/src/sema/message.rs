//! Messages of the check: facts, and the words for them.
//!
//! Each part of the check has one enum, whose variants are the facts of a message. The text of every message is in the tables of this
//! folder and nowhere else. No code interprets the text of a message.

pub(crate) mod call;
pub(crate) mod class;
pub(crate) mod decl;
pub(crate) mod expr;
pub(crate) mod stmt;
pub(crate) mod template;

use std::sync::Arc;

use super::{
    check::Tables,
    ty::{QualTy, Ty},
    typed::FunctionSpace,
};
pub(crate) use crate::message::{Fact, Message, with_article};

impl Fact<Tables> for Ty {
    fn shown(&self, tables: &Tables) -> String {
        tables.show(&self.clone().into())
    }
}

impl Fact<Tables> for QualTy {
    fn shown(&self, tables: &Tables) -> String {
        tables.show(self)
    }
}

impl Fact<Tables> for str {
    fn shown(&self, tables: &Tables) -> String {
        tables.readable(self)
    }
}

impl Fact<Tables> for &str {
    fn shown(&self, tables: &Tables) -> String {
        tables.readable(self)
    }
}

impl Fact<Tables> for String {
    fn shown(&self, tables: &Tables) -> String {
        tables.readable(self)
    }
}

impl Fact<Tables> for Arc<str> {
    fn shown(&self, tables: &Tables) -> String {
        tables.readable(self)
    }
}

impl Fact<Tables> for FunctionSpace {
    fn shown(&self, _: &Tables) -> String {
        match self {
            FunctionSpace::Kernel => "a kernel (`__global__`)",
            FunctionSpace::Device => "a `__device__` function",
            FunctionSpace::Host => "a host function",
            FunctionSpace::HostDevice => "a `__host__ __device__` function",
        }
        .to_string()
    }
}

/// How many arguments there are: "1 was", "3 were".
pub(crate) struct Given(pub(crate) usize);

impl Fact<Tables> for Given {
    fn shown(&self, _: &Tables) -> String {
        match self.0 {
            0 => "none were".to_string(),
            1 => "1 was".to_string(),
            n => format!("{n} were"),
        }
    }
}

/// The messages of one part of the check. Their tables know the names of types and classes.
macro_rules! messages {
    ($($table:tt)*) => {
        $crate::message::messages! { $crate::sema::check::Tables; $($table)* }
    };
}
pub(crate) use messages;
