//! Messages as data: facts, and the words for them.
//!
//! Each part of the front end has one enum, whose variants are the facts of a message, and one table with the words of all its messages. No
//! code interprets the text of a message.

use std::fmt;

use ir::{diagnostic::Diagnostic, span::Span};

/// A message. `span` is the place it is about; `names` knows the names of its facts.
pub(crate) trait Message<N> {
    /// The message in words.
    fn diagnostic(self, span: Span, names: &N) -> Diagnostic;
}

/// A fact that a message contains, as it is shown.
pub(crate) trait Fact<N> {
    fn shown(&self, names: &N) -> String;
}

impl Fact<()> for str {
    fn shown(&self, (): &()) -> String {
        self.to_string()
    }
}

impl Fact<()> for String {
    fn shown(&self, (): &()) -> String {
        self.clone()
    }
}

impl<N> Fact<N> for Span {
    fn shown(&self, _: &N) -> String {
        String::new()
    }
}

impl<N> Fact<N> for bool {
    fn shown(&self, _: &N) -> String {
        String::new()
    }
}

impl<N, T: Fact<N>> Fact<N> for Option<T> {
    fn shown(&self, names: &N) -> String {
        self.as_ref()
            .map_or_else(String::new, |fact| fact.shown(names))
    }
}

macro_rules! numbers {
    ($($number:ty)*) => { $(
        impl<N> Fact<N> for $number {
            fn shown(&self, _: &N) -> String {
                self.to_string()
            }
        }
    )* };
}
numbers! { char i64 u32 u64 usize }

/// A fact in words. `{ty}` is the words alone, `{ty:#}` puts them in backquotes after their article: "a `float`", "an `int`".
pub(crate) struct Shown(pub(crate) String);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            true => f.write_str(&with_article(&self.0)),
            false => f.pad(&self.0),
        }
    }
}

/// A name of the program in backquotes, after its article.
pub(crate) fn with_article(name: &str) -> String {
    let is_vowel = name.starts_with(['a', 'e', 'i', 'o']) || name.starts_with("unsigned");
    let article = if is_vowel { "an" } else { "a" };
    format!("{article} `{name}`")
}

/// Whether an optional part of a message is included.
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

/// The place of a label.
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

/// Declares the messages of one part: what knows the names of its facts (`()` if they need none), then facts, code, text, and further parts
/// with their places.
///
/// ```text
/// Variant { fact: Type, … } => Code "text with {fact}", at "…", label place "…", note "…", help "…";
/// ```
///
/// A part may end in `if flag`: it is included if that fact is true, or if the optional fact is present.
macro_rules! messages {
    ($names:ty; $(#[$doc:meta])* $area:ident { $(
        $name:ident $({ $($fact:ident: $ty:ty),* $(,)? })? => $code:ident $text:literal
            $(, $part:ident $($place:ident)? $words:literal $(if $flag:ident)?)*;
    )* }) => {
        $(#[$doc])*
        pub(crate) enum $area { $( $name $({ $($fact: $ty),* })?, )* }

        impl $crate::message::Message<$names> for $area {
            fn diagnostic(
                self,
                span: ir::span::Span,
                names: &$names,
            ) -> ir::diagnostic::Diagnostic {
                #[allow(unused_imports, reason = "an area may have texts without facts only")]
                use $crate::message::{Fact, Flag, Place};
                match self { $(
                    Self::$name $({ $($fact),* })? => {
                        let (text, words) = {
                            $($(
                                #[allow(unused_variables, reason = "a fact may be a place only")]
                                let $fact = $crate::message::Shown($fact.shown(names));
                            )*)?
                            (format!($text), [$(format!($words)),*])
                        };
                        let code = ir::diagnostic::Code::$code;
                        let diagnostic = ir::diagnostic::Diagnostic::new(code, span, text);
                        let words: Vec<String> = words.into();
                        #[allow(unused_mut, unused_variables, reason = "a message may have no parts")]
                        let mut words = words.into_iter();
                        $(
                            let sentence = words.next().unwrap_or_default();
                            let diagnostic = match true $(&& $flag.holds())? {
                                true => $crate::message::messages!(@$part diagnostic, sentence $(, $place)?),
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
