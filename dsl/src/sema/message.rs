//! What the check has to say: facts, and the words for them.
//!
//! Each part of the check has one enum, whose variants are the facts that a message is made of. The text of every message
//! stands in the tables of this folder and nowhere else. Nothing looks into a text for what it means.

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
use crate::{diagnostic::Diagnostic, span::Span};

/// A message of the check. `span` is the place it is about.
pub(crate) trait Message {
    /// The message in words; the tables know what types and classes are called.
    fn diagnostic(self, span: Span, tables: &Tables) -> Diagnostic;
}

/// A fact that a message contains, as it is shown.
pub(crate) trait Fact {
    fn shown(&self, tables: &Tables) -> String;
}

impl Fact for Ty {
    fn shown(&self, tables: &Tables) -> String {
        tables.show(&self.clone().into())
    }
}

impl Fact for QualTy {
    fn shown(&self, tables: &Tables) -> String {
        tables.show(self)
    }
}

impl Fact for str {
    fn shown(&self, tables: &Tables) -> String {
        tables.readable(self)
    }
}

impl Fact for &str {
    fn shown(&self, tables: &Tables) -> String {
        tables.readable(self)
    }
}

impl Fact for String {
    fn shown(&self, tables: &Tables) -> String {
        tables.readable(self)
    }
}

impl Fact for Arc<str> {
    fn shown(&self, tables: &Tables) -> String {
        tables.readable(self)
    }
}

impl Fact for Span {
    fn shown(&self, _: &Tables) -> String {
        String::new()
    }
}

impl Fact for bool {
    fn shown(&self, _: &Tables) -> String {
        String::new()
    }
}

impl<T: Fact> Fact for Option<T> {
    fn shown(&self, tables: &Tables) -> String {
        self.as_ref()
            .map_or_else(String::new, |fact| fact.shown(tables))
    }
}

impl Fact for FunctionSpace {
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

macro_rules! numbers {
    ($($number:ty)*) => { $(
        impl Fact for $number {
            fn shown(&self, _: &Tables) -> String {
                self.to_string()
            }
        }
    )* };
}
numbers! { char i64 u32 u64 usize }

/// How many arguments are given: "1 was", "3 were".
pub(crate) struct Given(pub(crate) usize);

impl Fact for Given {
    fn shown(&self, _: &Tables) -> String {
        match self.0 {
            0 => "none were".to_string(),
            1 => "1 was".to_string(),
            n => format!("{n} were"),
        }
    }
}

/// Whether a part of a message is said.
pub(crate) trait Flag {
    fn holds(&self) -> bool;
}

impl Flag for bool {
    fn holds(&self) -> bool {
        *self
    }
}

impl<T> Flag for Option<T> {
    fn holds(&self) -> bool {
        self.is_some()
    }
}

/// The place that a label is put at.
pub(crate) trait Place {
    fn place(&self) -> Option<Span>;
}

impl Place for Span {
    fn place(&self) -> Option<Span> {
        Some(*self)
    }
}

impl Place for Option<Span> {
    fn place(&self) -> Option<Span> {
        *self
    }
}

/// Declares the messages of one part: facts, code, text, and what else is said where.
///
/// ```text
/// Variant { fact: Type, … } => Code "text with {fact}", at "…", label place "…", note "…", help "…";
/// ```
///
/// A part may end in `if flag`: it is said if that fact is true, or if the optional fact is there.
macro_rules! messages {
    ($(#[$doc:meta])* $area:ident { $(
        $name:ident $({ $($fact:ident: $ty:ty),* $(,)? })? => $code:ident $text:literal
            $(, $part:ident $($place:ident)? $words:literal $(if $flag:ident)?)*;
    )* }) => {
        $(#[$doc])*
        pub(crate) enum $area { $( $name $({ $($fact: $ty),* })?, )* }

        impl $crate::sema::message::Message for $area {
            fn diagnostic(
                self,
                span: $crate::span::Span,
                tables: &$crate::sema::check::Tables,
            ) -> $crate::diagnostic::Diagnostic {
                #[allow(unused_imports, reason = "an area may have texts without facts only")]
                use $crate::sema::message::{Fact, Flag, Place};
                match self { $(
                    Self::$name $({ $($fact),* })? => {
                        let (text, words) = {
                            $($(
                                #[allow(unused_variables, reason = "a fact may be a place only")]
                                let $fact = $fact.shown(tables);
                            )*)?
                            (format!($text), [$(format!($words)),*])
                        };
                        let code = $crate::diagnostic::Code::$code;
                        let diagnostic = $crate::diagnostic::Diagnostic::new(code, span, text);
                        let words: Vec<String> = words.into();
                        #[allow(unused_mut, unused_variables, reason = "a message may have no parts")]
                        let mut words = words.into_iter();
                        $(
                            let said = words.next().unwrap_or_default();
                            let diagnostic = match true $(&& $flag.holds())? {
                                true => messages!(@$part diagnostic, said $(, $place)?),
                                false => diagnostic,
                            };
                        )*
                        diagnostic
                    }
                )* }
            }
        }
    };
    (@at $diagnostic:ident, $text:ident) => { $diagnostic.at($text) };
    (@note $diagnostic:ident, $text:ident) => { $diagnostic.note($text) };
    (@help $diagnostic:ident, $text:ident) => { $diagnostic.help($text) };
    (@label $diagnostic:ident, $text:ident, $place:ident) => {
        match $place.place() {
            Some(place) => $diagnostic.label(place, $text),
            None => $diagnostic,
        }
    };
}
pub(crate) use messages;
