//! Expressions.

use std::sync::Arc;

use super::{Block, Init, InitItem, Name, Param, Path, SpecifierWord, TemplateArg, TypeName};
use crate::syntax::token::IntSuffix;
use ir::span::{Span, Spanned};

/// An expression and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The kind.
    pub kind: ExprKind,
    /// The whole.
    pub span: Span,
}

impl Expr {
    /// The expression at a place of the source.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }
}

/// The expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// `42u`.
    Int {
        /// Its value.
        value: u64,
        /// `u`.
        unsigned: bool,
        /// `l`, `ll`.
        suffix: IntSuffix,
        /// Written in base ten.
        decimal: bool,
    },
    /// `1.5f`.
    Float {
        /// Its value.
        value: f64,
        /// `f`.
        single: bool,
    },
    /// `'a'`.
    Char(i32),
    /// `"…"`.
    Str(Arc<[u8]>),
    /// `true`, `false`.
    Bool(bool),
    /// `nullptr`.
    Nullptr,
    /// A name.
    Name(Arc<str>),
    /// A name with template arguments.
    Path(Box<Path>),
    /// `-e`, `++e`, `*e`, `&e` …
    Unary(UnaryOp, Box<Expr>),
    /// `e++`, `e--`.
    Postfix(PostfixOp, Box<Expr>),
    /// `a + b`; the operator's own place is kept for messages.
    Binary(Spanned<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `a = b`, `a += b`.
    Assign(Spanned<Option<BinaryOp>>, Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a, b`.
    Comma(Box<Expr>, Box<Expr>),
    /// `f(a, b)`.
    Call(Box<Expr>, Vec<Expr>),
    /// `k<<<grid, block, shared, stream>>>(a, b)`.
    Launch {
        /// The kernel's name.
        callee: Box<Expr>,
        /// The expressions between `<<<` and `>>>`.
        config: Spanned<Vec<Expr>>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `a[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `e.name`.
    Member(Box<Expr>, Name),
    /// `e->name`.
    Arrow(Box<Expr>, Name),
    /// `e.f<T>`: a member with template arguments.
    Instance(Box<Expr>, Vec<TemplateArg>),
    /// `e...`: one expression for each element of the parameter packs in it.
    Expansion(Arc<Expr>),
    /// `(pattern + ...)` and its other forms.
    Fold(Box<Fold>),
    /// `asm("…" : "=r"(a) : "r"(b));`
    Asm(Box<Asm>),
    /// `sizeof...(pack)`.
    SizeofPack(Name),
    /// One element of an expansion: the expression, and the index in its packs. The checker makes these, not the parser.
    Element(Arc<Expr>, usize),
    /// `(T)e`.
    Cast(Box<TypeName>, Box<Expr>),
    /// `T(a, b)`: `dim3(32, 8)`, `float(x)`, `make_…` is a plain call.
    Construct(Box<TypeName>, Vec<Expr>),
    /// `T{a, b}`.
    Braced(Box<TypeName>, Vec<InitItem>),
    /// `static_cast<T>(e)` and similar.
    NamedCast(CastWord, Box<TypeName>, Box<Expr>),
    /// `this`.
    This,
    /// `[=](int i) { … }`.
    Lambda(Box<Lambda>),
    /// `alignof(T)`.
    Alignof(Box<TypeName>),
    /// `__is_trivially_copyable(T)`: whether objects of the type are no more than their bytes.
    IsTrivial(Box<TypeName>),
    /// `throw e`.
    Throw(Box<Expr>),
    /// `new T`.
    New(Box<New>),
    /// `delete p`, `delete[] p`.
    Delete {
        /// With `[]`.
        is_array: bool,
        /// The pointer that is deleted.
        pointer: Box<Expr>,
    },
    /// `sizeof(T)`.
    SizeofType(Box<TypeName>),
    /// `sizeof e`.
    SizeofExpr(Box<Expr>),
    /// `{ … }` where an expression is expected (an argument, `return {…}`).
    List(Vec<InitItem>),
    /// A construct that is parsed far enough to be named in an error ("a lambda").
    Unsupported(&'static str),
    /// Did not parse; an error has been reported.
    Error,
}

/// `new (place) T[n](args)`.
#[derive(Clone, PartialEq, Debug)]
pub struct New {
    /// The address in `new (place) T`.
    pub place: Option<Expr>,
    /// The type, with its pointers.
    pub ty: TypeName,
    /// The expressions in brackets after it.
    pub counts: Vec<Expr>,
    /// `(a, b)` or `{a, b}`.
    pub init: Option<Init>,
}

/// C++'s casts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each variant is the keyword of that name")]
pub enum CastWord {
    Static,
    Reinterpret,
    Const,
    Dynamic,
}

/// A lambda.
#[derive(Clone, PartialEq, Debug)]
pub struct Lambda {
    /// `[=]`, `[&]`: how a variable is captured that the list does not name.
    pub default: Option<CaptureKind>,
    /// The entries in the brackets.
    pub captures: Vec<Capture>,
    /// `__device__`, `__host__`.
    pub words: Vec<Spanned<SpecifierWord>>,
    /// The parameters; empty if there are no parentheses.
    pub params: Vec<Param>,
    /// `mutable`: captured values can be changed.
    pub is_mutable: bool,
    /// `-> T`.
    pub result: Option<Box<TypeName>>,
    /// The code.
    pub body: Block,
    /// From `[` to the end of the parameters.
    pub span: Span,
}

/// Inline PTX.
#[derive(Clone, PartialEq, Debug)]
pub struct Asm {
    /// The instructions.
    pub text: Arc<[u8]>,
    /// Each output's constraint and place.
    pub outputs: Vec<(Arc<[u8]>, Expr)>,
    /// Each input's constraint and value.
    pub inputs: Vec<(Arc<[u8]>, Expr)>,
}

/// A fold expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Fold {
    /// The operator between the elements; `None` for `,`.
    pub operator: Spanned<Option<BinaryOp>>,
    /// The expression that is repeated for each element of the packs in it.
    pub pattern: Arc<Expr>,
    /// The expression on the other side of the `...`, if there is one. The names in it tell which of the two has the packs.
    pub init: Option<Arc<Expr>>,
    /// Whether it is `(... + pattern)`, grouped from the left.
    pub is_left: bool,
}

/// How a lambda captures a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CaptureKind {
    /// A copy.
    Value,
    /// The variable itself.
    Reference,
}

/// One entry of a lambda's brackets.
#[derive(Clone, PartialEq, Debug)]
pub struct Capture {
    /// `&x` or `x`.
    pub kind: CaptureKind,
    /// The variable, the name that `init` is bound to, or `this`.
    pub name: Name,
    /// `x = e`.
    pub init: Option<Expr>,
}

/// Prefix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum UnaryOp {
    Plus,
    Neg,
    Not,
    BitNot,
    Deref,
    AddressOf,
    PreInc,
    PreDec,
}

/// Postfix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PostfixOp {
    Inc,
    Dec,
}

/// Infix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}
