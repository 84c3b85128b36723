//! Messages of `syntax/preprocess`: errors in directives, conditions and macros.

use std::sync::Arc;

use super::{Message as _, lex::LiteralError, messages};
use crate::{
    message::Fact,
    syntax::lexer::{
        intern::{Interner, Sym},
        pp_token::PpToken,
    },
};
use ir::span::Span;

impl Fact<Interner> for &str {
    fn shown(&self, _: &Interner) -> String {
        self.to_string()
    }
}

impl Fact<Interner> for String {
    fn shown(&self, _: &Interner) -> String {
        self.clone()
    }
}

impl Fact<Interner> for Arc<str> {
    fn shown(&self, _: &Interner) -> String {
        self.to_string()
    }
}

impl Fact<Interner> for Sym {
    fn shown(&self, names: &Interner) -> String {
        names.text(*self).to_string()
    }
}

impl Fact<Interner> for PpToken {
    fn shown(&self, names: &Interner) -> String {
        self.text(names).to_string()
    }
}

/// The error in a literal, in the words of its table.
impl Fact<Interner> for LiteralError {
    fn shown(&self, _: &Interner) -> String {
        self.clone().diagnostic(Span::default(), &()).message
    }
}

/// The text of `#error` or `#warning`, if it has one.
pub(crate) struct Text(pub(crate) String);

impl Fact<Interner> for Text {
    fn shown(&self, _: &Interner) -> String {
        match self.0.is_empty() {
            true => String::new(),
            false => format!(": {}", self.0),
        }
    }
}

/// The number of arguments that a macro takes.
pub(crate) struct Wanted {
    pub(crate) n: usize,
    pub(crate) or_more: bool,
}

impl Fact<Interner> for Wanted {
    fn shown(&self, _: &Interner) -> String {
        let least = if self.or_more { "at least " } else { "" };
        let plural = if self.n == 1 { "" } else { "s" };
        format!("{least}{} argument{plural}", self.n)
    }
}

messages! {
    Interner;
    /// Lines that start with `#`, and the files that they include.
    DirectiveError {
        Unknown { name: PpToken, near: Option<&'static str> } => UnknownDirective
            "`#{name}` is not a directive",
            help "did you mean `#{near}`?" if near;
        NeedsName { directive: Arc<str> } => BadDirective
            "`#{directive}` needs a name";
        TooLong { directive: Arc<str> } => ExtraTokens
            "`#{directive}` ends before this",
            at "ignored";
        WithoutIf { directive: Arc<str> } => UnbalancedConditional
            "`#{directive}` without `#if`";
        AfterElse { directive: Arc<str>, else_at: Span, opened_at: Span } => UnbalancedConditional
            "`#{directive}` after `#else`",
            label else_at "the `#else`",
            label opened_at "of this conditional";
        NeverClosed => UnbalancedConditional
            "this conditional is never closed",
            at "opened here",
            help "add `#endif`";
        Error { text: Text } => ErrorDirective
            "#error{text}";
        Warning { text: Text } => WarningDirective
            "#warning{text}";
        IncludeNeedsFile { is_unquoted: bool } => BadDirective
            "`#include` needs a file: `\"name\"` or `<name>`",
            help "put the name in double quotes" if is_unquoted;
        NoFile { name: String } => IncludeNotFound
            "there is no file `{name}`",
            help "name its folder with `-I`";
        NoFileBeside { name: String, from: String } => IncludeNotFound
            "there is no file `{name}`",
            help "put it beside `{from}`, or name its folder with `-I`";
        CannotRead { name: String, reason: String } => IncludeNotFound
            "cannot read `{name}`: {reason}";
        Circle { name: String, open: usize } => IncludeDepth
            "`{name}` is included again and again",
            at "{open} files are open here",
            help "put `#pragma once` at the top of each included file";
        TooManyFiles { name: String, open: usize } => IncludeDepth
            "too many files include one another, at `{name}`",
            at "{open} files are open here",
            help "put `#pragma once` at the top of each included file";
    }
}

messages! {
    Interner;
    /// Conditions of `#if` and `#elif`.
    ConditionError {
        Missing => BadCondition
            "a condition is missing here";
        NoOperator { before: PpToken } => BadCondition
            "expected an operator before `{before}` in a condition";
        NoValue { before: PpToken } => BadCondition
            "expected a value before `{before}` in this condition";
        NoOperand => BadCondition
            "this condition needs another operand";
        NoColon => BadCondition
            "expected `:` in this condition";
        NoParenthesis => BadCondition
            "expected `)` in this condition";
        DefinedWithoutName => BadCondition
            "`defined` needs a name";
        DefinedParentheses => BadCondition
            "`defined` needs one name in its parentheses";
        TooDeep => BadCondition
            "this condition is nested too deeply";
        DividesByZero => BadCondition
            "this condition divides by zero";
        Float => BadCondition
            "a condition cannot contain a floating number";
        String => BadCondition
            "a condition cannot contain a string";
        Literal { error: LiteralError } => BadCondition
            "{error}";
        Sizeof => BadCondition
            "`sizeof` is not known to the preprocessor";
        NotAMacro { name: Sym } => BadCondition
            "`{name}` is not a macro, so it cannot be used like one in a condition";
    }
}

messages! {
    Interner;
    /// Macros: their definitions and their uses.
    MacroError {
        NameExpected => BadDirective
            "a macro's name has to be a name";
        Reserved { name: Sym } => BadDirective
            "`{name}` cannot be a macro";
        ParametersNotClosed => BadDirective
            "these parameters have no closing parenthesis";
        ParameterTwice { name: Sym } => BadDirective
            "parameter `{name}` is there twice";
        ParameterExpected => BadDirective
            "a macro's parameter has to be a name or `...`";
        RestNotLast => BadDirective
            "`...` has to be the last parameter";
        SeparatorExpected => BadDirective
            "expected `,` or `)` after a macro's parameter";
        VaOptParentheses => BadDirective
            "`__VA_OPT__` needs parentheses after it";
        VaOptNested => BadDirective
            "`__VA_OPT__` cannot contain another one";
        StringifiesNothing => BadDirective
            "`#` has to stand before a parameter of the macro";
        PastesNothing => BadDirective
            "`##` needs a token on both sides";
        Redefined { name: Sym, first: Span } => MacroRedefined
            "macro `{name}` is defined again with another meaning",
            at "this one counts from here on",
            label first "defined first here",
            help "if this is meant, put `#undef {name}` before it";
        CallNeverEnds { name: Sym, defined: Span } => UnterminatedMacroCall
            "the arguments of macro `{name}` never end",
            at "used here",
            label defined "defined here",
            help "add the missing `)`";
        ArgumentCount { name: Sym, wanted: Wanted, given: usize, defined: Span, is_more: bool } => MacroArguments
            "macro `{name}` takes {wanted} and gets {given}",
            label defined "defined here",
            help "if an argument contains a comma, put parentheses around it" if is_more;
        BadPaste { left: PpToken, right: PpToken, name: Sym } => BadPaste
            "`##` cannot join `{left}` and `{right}`",
            at "together they are no token",
            help "leave out the `##` in the definition of `{name}`";
        TooDeep { name: Sym } => ExpansionTooLarge
            "macro calls are nested too deeply in one another's arguments, at `{name}`",
            at "this use started it",
            note "nothing after this place was looked at";
        TooMuch { name: Sym } => ExpansionTooLarge
            "macro `{name}` expands to too much: the program's macros make over two million tokens",
            at "this use started it",
            note "nothing after this place was looked at";
    }
}
