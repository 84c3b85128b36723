//! Every diagnostic code, once: number, slug and the text of `dslc explain`.
//!
//! The list is one table of rows of the same shape. `E01xx` text and tokens, `E02xx` preprocessor, `E03xx` syntax,
//! `E04xx` names, `E05xx` types, `E06xx` memory spaces and shared memory, `E07xx` launches and host code,
//! `E08xx` not supported, `E09xx` limits; `W…` are warnings; `R…` are what the machine finds at run time.

macro_rules! codes {
    ($( $(#[doc = $doc:literal])* $name:ident = $number:literal, $slug:literal, $why:literal, bad: $bad:literal, good: $good:literal; )*) => {
        /// The kind of a message.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Code { $( $(#[doc = $doc])* $name, )* }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Code] = &[$(Code::$name),*];
            /// `E0301`.
            pub fn number(self) -> &'static str { match self { $(Code::$name => $number,)* } }
            /// The pattern's name: `missing-semicolon`.
            pub fn slug(self) -> &'static str { match self { $(Code::$name => $slug,)* } }
            /// Why it matters, in a few sentences.
            pub fn why(self) -> &'static str { match self { $(Code::$name => $why,)* } }
            /// A program that has it (may be empty).
            pub fn bad_example(self) -> &'static str { match self { $(Code::$name => $bad,)* } }
            /// The same without it (may be empty).
            pub fn good_example(self) -> &'static str { match self { $(Code::$name => $good,)* } }
        }
    };
}

codes! {
    /// A character that no token starts with.
    UnknownCharacter = "E0101", "unknown-character",
        "The text contains a character that means nothing in CUDA C. Code pasted from a web page or a document often has full-width punctuation (；（），) or curly quotes in place of the ASCII ones.",
        bad: "int a = 1；", good: "int a = 1;";
    /// A `;` is missing.
    MissingSemicolon = "E0301", "missing-semicolon",
        "A statement or declaration has to end in `;`. The place shown is the end of the line before, where it belongs.",
        bad: "int t = threadIdx.x\ns[t] = 0;", good: "int t = threadIdx.x;\ns[t] = 0;";
    /// Anything else that does not parse.
    Syntax = "E0300", "syntax",
        "The text does not follow the grammar here.",
        bad: "if (x { }", good: "if (x) { }";
}
