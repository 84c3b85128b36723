//! Messages of `sema/check/stmt`.
use crate::sema::{message::messages, ty::Ty};
use ir::span::Span;

messages! {
    /// Statements.
    StmtError {
        UnusedComparison => UnusedComparison
            "the result of this comparison is not used",
            help "write `=` to assign";
        JumpOutside { around: &'static str, word: &'static str } => MisplacedJump
            "there is no {around} around this `{word}`";
        NothingReturned { name: String, ty: Ty, declared: Span } => ReturnMismatch
            "`{name}` returns `{ty}`, but this returns nothing",
            label declared "declared here";
        ValueReturned { name: String, declared: Span } => ReturnMismatch
            "`{name}` returns `void`, but this returns a value",
            label declared "declared `void` here";
        UnsupportedPtx { name: String } => Unsupported
            "inline PTX with `{name}` in this form is not supported yet";
        UnsupportedInstruction { name: String } => Unsupported
            "the PTX instruction `{name}` is not supported yet";
        GotoOverInitialisation { name: String, place: Span } => MisplacedJump
            "this `goto` jumps over the initialisation of `{name}`",
            label place "this would be skipped",
            help "declare it before the `goto`, or put what uses it into a block";
        SecondDefault { first: Span } => DuplicateCase
            "this `switch` has two `default` labels",
            label first "first one";
        CaseOverReference { name: String, declared: Span } => MisplacedJump
            "this label jumps past the declaration of the reference `{name}`",
            label declared "declared here",
            help "put the statements of the section before in braces";
        UnreachableInSwitch => UnreachableStatement
            "this statement is never reached",
            help "a `switch` jumps to one of its labels; put the statement before the `switch`";
        SwitchType { ty: Ty } => BadOperand
            "a `switch` needs an integer, not {ty:#}";
        CaseType { ty: Ty } => NotConstant
            "a `case` needs an integer, not {ty:#}";
        CaseNotConstant { place: Span } => NotConstant
            "a `case` needs a constant",
            label place "known only when the program runs",
            help "use `if … else if …` to compare with variables";
        DuplicateCase { value: i64, first: Span } => DuplicateCase
            "this `switch` has two `case {value}` labels",
            label first "first one";
        LabelOutsideSwitch => MisplacedJump
            "there is no `switch` around this label";
        AssignmentInCondition { name: String } => AssignmentInCondition
            "this condition assigns to `{name}`",
            help "write `==` to compare, or put the assignment on a separate line";
        NoSuchLabel { name: String, near: String } => UnknownName
            "there is no label `{name}`",
            help "did you mean `{near}`?";
        ItemsOfTwoTypes { first: Ty, other: Ty } => TypeMismatch
            "the items of this list are of two types, `{first}` and `{other}`";
    }
}
