//! Statements.

use super::{Declaration, Expr, Name, StaticAssert, Using};
use ir::span::Span;

/// `{ … }`.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// In order.
    pub stmts: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// The kind.
    pub kind: StmtKind,
    /// The whole.
    pub span: Span,
}

/// The statements.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// `e;`
    Expr(Expr),
    /// Variables, typedefs or types.
    Declaration(Declaration),
    /// `using …;`
    Using(Using),
    /// `static_assert(…);`
    StaticAssert(StaticAssert),
    /// `{ … }`
    Block(Block),
    /// `if … else if … else …`, flattened so that a long chain is not deep: at least one arm.
    If {
        /// Condition and body of each `if`.
        arms: Vec<(Expr, Stmt)>,
        /// The final `else`.
        otherwise: Option<Box<Stmt>>,
        /// `if constexpr`: then there is one arm, and the branch that is not taken is not checked in a template.
        is_constexpr: bool,
    },
    /// `while (cond) body`
    While {
        /// The condition.
        cond: Expr,
        /// The body.
        body: Box<Stmt>,
        /// `#pragma unroll` before it.
        unroll: Option<Unroll>,
    },
    /// `do body while (cond);`
    DoWhile {
        /// The body.
        body: Box<Stmt>,
        /// The condition.
        cond: Expr,
        /// `#pragma unroll` before it.
        unroll: Option<Unroll>,
    },
    /// `for (init; cond; step) body`
    For {
        /// A declaration or expression statement, or empty.
        init: Box<Stmt>,
        /// The condition; absent is true.
        cond: Option<Expr>,
        /// The step.
        step: Option<Expr>,
        /// The body.
        body: Box<Stmt>,
        /// `#pragma unroll` before it.
        unroll: Option<Unroll>,
    },
    /// `for (T x : range) body`
    RangeFor {
        /// `T x`, without a value.
        declaration: Box<Declaration>,
        /// The range.
        range: Expr,
        /// The body.
        body: Box<Stmt>,
        /// `#pragma unroll` before it.
        unroll: Option<Unroll>,
    },
    /// `switch (value) body`
    Switch {
        /// The value.
        value: Expr,
        /// Usually a block holding `Case` and `Default` statements.
        body: Box<Stmt>,
    },
    /// `case value:` (the statement after it is the next in the block)
    Case(Expr),
    /// `default:`
    Default,
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `goto name;`
    Goto(Name),
    /// `name:` (the statement after it is the next in the block)
    Label(Name),
    /// `return e;`
    Return(Option<Expr>),
    /// A statement that did not parse; an error has been reported.
    Error,
}

/// `#pragma unroll`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unroll {
    /// Without a count.
    Full,
    /// `#pragma unroll n`; 1 forbids unrolling.
    Count(u32),
}
