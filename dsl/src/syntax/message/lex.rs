//! Messages of `syntax/lexer` and `syntax/literal`: errors in characters and literals.

use super::messages;
use crate::{message::Fact, syntax::lexer::confusable};
use ir::diagnostic::Code;

/// A character that looks like ASCII.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lookalike(pub(crate) char);

impl Fact<()> for Lookalike {
    fn shown(&self, (): &()) -> String {
        confusable::describe(self.0)
    }
}

messages! {
    ();
    /// Errors in a stretch of text.
    #[derive(Clone, PartialEq, Eq, Debug)]
    LexProblem {
        // A character, or a run of them, without a meaning.
        Unknown => UnknownCharacter
            "these characters mean nothing here",
            at "not part of the language",
            help "text that is not program goes in a comment (`// …`) or a string";
        LoneBackslash => UnknownCharacter
            "these characters mean nothing here",
            at "not part of the language",
            help "a backslash continues a line only as the last character of the line";
        Confusable { found: Lookalike, ascii: &'static str } => ConfusableCharacter
            "{found} in the program text",
            at "read as `{ascii}`",
            help "write `{ascii}`";
        ConfusableBlank { found: Lookalike } => ConfusableCharacter
            "{found} in the program text",
            at "read as a blank",
            help "delete it, or write an ASCII space";
        UnterminatedComment => UnterminatedComment
            "this comment never ends",
            at "begins here",
            help "add `*/` where it should end";
        UnterminatedString => UnterminatedLiteral
            "this string does not end on its line",
            at "begins here",
            help "add `\"` where it should end";
        UnterminatedChar => UnterminatedLiteral
            "this character literal does not end on its line",
            at "begins here",
            help "add `'` after the character";
        BlankAfterBackslash => BlankAfterBackslash
            "blanks between this backslash and the end of the line",
            at "read as a continued line",
            help "delete the blanks";
    }
}

/// The note that `n` more messages of this code are not shown.
pub(crate) fn not_shown(code: Code, n: u32) -> String {
    let (one, several) = match code {
        Code::ConfusableCharacter => ("character like these", "characters like these"),
        Code::UnknownCharacter => (
            "place with unknown characters",
            "places with unknown characters",
        ),
        _ => ("place like these", "places like these"),
    };
    let what = if n == 1 { one } else { several };
    format!("{n} more {what} not shown")
}

messages! {
    ();
    /// Why a literal has no value, or not the value that it seems to have.
    #[derive(Clone, PartialEq, Eq, Debug)]
    LiteralError {
        NoDigits { spelling: String } => BadNumber
            "`{spelling}` has no digits after its prefix";
        OctalDigit { digit: char } => BadNumber
            "`{digit}` is not an octal digit, and a number that starts with `0` is octal";
        BinaryDigit { digit: char } => BadNumber
            "`{digit}` is not a binary digit";
        BeyondBits { spelling: String } => NumberTooLarge
            "`{spelling}` does not fit in 64 bits";
        IntegerSuffix { suffix: String } => BadNumber
            "`{suffix}` is not a suffix of an integer",
            help "the suffixes are u, l, ll, ul and ull";
        FloatWithoutPoint { suffix: String, digits: String } => BadNumber
            "`{suffix}` is not a suffix of an integer",
            help "a float needs a point: write `{digits}.0{suffix}`";
        SignInNumber { suffix: String } => BadNumber
            "`{suffix}` is not a suffix of an integer",
            help "put a blank before the sign: C reads letters, digits and `e+` as one number";
        NameInNumber { suffix: String } => BadNumber
            "`{suffix}` is not a suffix of an integer",
            help "a name cannot start with a digit; if two things are meant, put a blank or an operator between them";
        NotANumber { spelling: String } => BadNumber
            "`{spelling}` is not a number";
        NoExponentDigits { spelling: String } => BadNumber
            "the exponent of `{spelling}` has no digits";
        SecondPoint { spelling: String } => BadNumber
            "`{spelling}` has more than one point";
        FloatSuffix { suffix: String } => BadNumber
            "`{suffix}` is not a suffix of a floating number",
            help "the suffixes are f (float) and none (double)";
        NoExponent { spelling: String } => BadNumber
            "`{spelling}` needs an exponent",
            help "a hexadecimal float ends in `p` and a power of two, as in `0x1.8p3`";
        BeyondRange { spelling: String, ty: &'static str } => NumberTooLarge
            "`{spelling}` is larger than any {ty}",
            help "for infinity write `INFINITY`";
        EmptyCharacter => BadCharacter
            "a character literal needs a character",
            help r"for the NUL character write '\0'";
        WideCharacter { character: String, bytes: usize } => BadCharacter
            "`{character}` does not fit in a char: it takes {bytes} bytes in UTF-8";
        SeveralCharacters { spelling: String } => BadCharacter
            "{spelling} holds more than one character",
            help "text goes in double quotes: \"…\"";
        EscapesNothing => BadEscape
            "a backslash at the end of a literal escapes nothing";
        EscapeTooLarge { escape: String } => BadEscape
            "`\\{escape}` is larger than a char";
        NoHexDigits => BadEscape
            r"`\x` needs hexadecimal digits";
        NoSuchCharacter { letter: char, digits: usize } => BadEscape
            "`\\{letter}` needs {digits} hexadecimal digits that name a character";
        UnknownEscape { letter: char } => UnknownEscape
            "`\\{letter}` is not an escape, and means `{letter}`",
            help r"for a backslash write `\\`, for the letter alone `{letter}`";
        EscapedPercent => UnknownEscape
            r"`\%` is not an escape, and means `%`",
            help "for a percent sign in a format write `%%`";
    }
}
