//! Messages of `syntax/parser`: errors in brackets and in the grammar.

use std::sync::Arc;

use super::{messages, token};
use crate::{
    message::Fact,
    syntax::token::{Keyword, Punct, TokenKind},
};
use ir::span::Span;

/// What the grammar expected in place of the token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    /// Not mentioned: another parser reports it.
    Nothing,
    Punct(Punct),
    Word(Keyword),
    Name,
    /// The list continues or ends.
    CommaOr(Punct),
    NameOr(Punct),
    Type,
    Expression,
    Statement,
    Operator,
    String,
    BaseClass,
    EmptyParentheses,
    CastType(Punct),
    CastOperand,
    ConditionalColon,
    KernelArguments,
    LambdaBody,
    NewType,
}

impl Fact<()> for Expected {
    fn shown(&self, (): &()) -> String {
        let phrase = match self {
            Expected::Punct(punct) => return format!("`{}`", punct.shown(&())),
            Expected::Word(keyword) => return format!("`{}`", keyword.text()),
            Expected::CommaOr(punct) => return format!("`,` or `{}`", punct.shown(&())),
            Expected::NameOr(punct) => return format!("a name or `{}`", punct.shown(&())),
            Expected::CastType(punct) => return format!("the `{}` of the cast", punct.shown(&())),
            Expected::Nothing => "something else",
            Expected::Name => "a name",
            Expected::Type => "a type",
            Expected::Expression => "an expression",
            Expected::Statement => "a statement",
            Expected::Operator => "an operator",
            Expected::String => "a string",
            Expected::BaseClass => "the name of a base class",
            Expected::EmptyParentheses => "`()`",
            Expected::CastOperand => "the operand in `( )`",
            Expected::ConditionalColon => "the `:` of `? :`",
            Expected::KernelArguments => "the kernel's arguments in `( )`",
            Expected::LambdaBody => "the `{` of the lambda's body",
            Expected::NewType => "the type to make, without parentheses",
        };
        phrase.to_string()
    }
}

/// The token that was read last, if there is one: " after the number".
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct After(pub(crate) Option<TokenKind>);

impl Fact<()> for After {
    fn shown(&self, (): &()) -> String {
        match &self.0 {
            Some(kind) => format!(" after {}", token(kind, "the")),
            None => String::new(),
        }
    }
}

/// The unexpected token: "a number", "the end of the file".
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Found(pub(crate) Option<TokenKind>);

impl Fact<()> for Found {
    fn shown(&self, (): &()) -> String {
        match &self.0 {
            Some(kind) => token(kind, "a"),
            None => "the end of the file".to_string(),
        }
    }
}

/// What an unclosed bracket is for: " to close `f(`".
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Named(Arc<str>, Punct),
    Word(Keyword),
    Unknown,
}

impl Fact<()> for Role {
    fn shown(&self, (): &()) -> String {
        match self {
            Role::Named(name, punct) => format!(" to close `{name}{}`", punct.text()),
            Role::Word(keyword) => format!(" to close `{} (`", keyword.text()),
            Role::Unknown => String::new(),
        }
    }
}

/// Errors in the header of a `for`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeaderSlip {
    ThirdSemicolon,
    NoSemicolonBeforeParenthesis,
    NoSemicolon,
}

impl Fact<()> for HeaderSlip {
    fn shown(&self, (): &()) -> String {
        match self {
            HeaderSlip::ThirdSemicolon => "a third `;`",
            HeaderSlip::NoSemicolonBeforeParenthesis => "a `;` is missing before this `)`",
            HeaderSlip::NoSemicolon => "a `;` is missing before this",
        }
        .to_string()
    }
}

/// The words of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TypeWords(pub(crate) Vec<Keyword>);

impl Fact<()> for TypeWords {
    fn shown(&self, (): &()) -> String {
        let words: Vec<&str> = self.0.iter().map(|word| word.text()).collect();
        words.join(" ")
    }
}

messages! {
    ();
    /// Brackets.
    BracketError {
        LaunchShifts { close: Span } => LaunchBrackets
            "a kernel is launched with `<<<` and `>>>`, not `<<` and `>>`",
            at "write `<<<`",
            label close "and `>>>`";
        LaunchEnd { opened: Span } => LaunchBrackets
            "a launch is closed by `>>>`, not `>>`",
            at "write `>>>`",
            label opened "the launch is opened here";
        Extra { bracket: Punct } => ExtraBracket
            "this `{bracket}` closes nothing",
            help "remove it";
        Mismatched { open: Punct, close: Punct, right: Punct, opened: Span } => MismatchedBracket
            "`{open}` is closed by `{close}`",
            at "`{right}` belongs here",
            label opened "opened here";
        Unclosed { open: Punct, close: Punct, role: Role, opened: Span } => UnclosedBracket
            "missing `{close}`{role}",
            at "it belongs here at the latest",
            label opened "this `{open}` is never closed";
        UnclosedAtEnd {
            open: Punct, close: Punct, role: Role, opened: Span,
            second: Option<Punct>, second_at: Option<Span>, third: Option<Punct>, third_at: Option<Span>,
        } => UnclosedBracket
            "missing `{close}`{role}",
            at "the file ends here",
            label opened "this `{open}` is never closed",
            label second_at "nor is this `{second}`",
            label third_at "nor is this `{third}`";
    }
}

messages! {
    ();
    /// Code that the grammar cannot read, or that is not supported.
    #[derive(Clone, Debug)]
    SyntaxError {
        Unexpected { expected: Expected, after: After, found: Found } => Syntax
            "expected {expected}{after}, found {found}";
        ReservedWord { word: Keyword } => ReservedWord
            "`{word}` is a reserved word and cannot be a name";
        MissingSemicolon { after: After } => MissingSemicolon
            "missing `;`{after}";
        MissingType { found: Found, begins: Span } => MissingType
            "expected a type before {found}",
            label begins "the declaration begins here";
        MissingResultType { name: Arc<str> } => MissingType
            "expected a type before `{name}`",
            help "write what it returns: `int {name}(…)`, `void {name}(…)`";
        MissingBody { name: Arc<str> } => MissingBody
            "`{name}` has neither a body nor a `;`",
            help "write `{{ … }}` for its body, or `;` if it is defined elsewhere";
        SecondType => TypeWords
            "a declaration has one type, and this is a second one",
            help "is a `;` or `,` missing before it?";
        NotAType { words: TypeWords } => TypeWords
            "`{words}` is not a type";
        LongDouble => UnsupportedSyntax
            "`long double` is not supported",
            help "GPUs have no such type: use `double`";
        Unsupported { construct: &'static str } => UnsupportedSyntax
            "{construct} is not supported";
        SpaceOnParameter { space: Keyword } => SpaceOnParameter
            "`{space}` cannot stand on a parameter",
            help "pass a pointer; declare shared memory inside the kernel";
        StatementOutside => StatementOutside
            "a statement cannot stand outside a function",
            help "is a `}}` too many before it?";
        ElseWithoutIf { ends_statement: bool } => ElseWithoutIf
            "`else` without `if`",
            help "an `if` takes one statement: put several in `{{ }}`, and no `;` after the condition or the `}}`" if ends_statement;
        DoWithoutWhile { follows_header: bool } => DoWithoutWhile
            "`do` without `while (…);` after its body",
            help "after `while (…)` or `for (…)` the body follows directly: remove `do`" if follows_header;
        ForHeader { slip: HeaderSlip } => ForHeader
            "a `for` has three parts with two `;` between them",
            at "{slip}",
            help "write `for (start; condition; step)`; each part may be empty";
        TooDeep { limit: u32 } => NestedTooDeeply
            "nested too deeply",
            at "more than {limit} brackets or statements are open here",
            help "split it: name a part with a variable, or move it to a function";
        TooLong { limit: u32 } => NestedTooDeeply
            "this expression is too long",
            at "the expression has more than {limit} operators",
            help "split it: name a part with a variable, or move it to a function";
    }
}
