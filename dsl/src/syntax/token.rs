//! The parser's input: the tokens after preprocessing.

use std::{fmt, sync::Arc};

use ir::span::Span;

/// A token and where it is spelled.
#[derive(Clone, PartialEq, Debug)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// Its place; `span.expansion` is the macro that it came from.
    pub span: Span,
}

/// The suffix of an integer literal, without its `u`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IntSuffix {
    /// None: `int` if the value fits, else `long`.
    None,
    /// `l`.
    Long,
    /// `ll`.
    LongLong,
}

/// The kinds of token. Keywords of C, C++ and CUDA are [`TokenKind::Keyword`]; everything else spelled like a name is
/// [`TokenKind::Ident`], or [`TokenKind::TypeName`] when the program (or CUDA) declares it as a type anywhere: C's grammar
/// needs to know that before it can tell `(a) * b` from a cast.
#[derive(Clone, PartialEq, Debug)]
pub enum TokenKind {
    /// A name.
    Ident(Arc<str>),
    /// A name that is a type.
    TypeName(Arc<str>),
    /// A reserved word.
    Keyword(Keyword),
    /// `42`, `0xffu`, `1ll`.
    Int {
        /// Its value.
        value: u64,
        /// `u`.
        unsigned: bool,
        /// `l`, `ll`.
        suffix: IntSuffix,
        /// Whether it is decimal. Hex, octal and binary literals may become unsigned if they do not fit a signed type.
        decimal: bool,
    },
    /// `1.0`, `1e-3f`, `0x1.8p3`.
    Float {
        /// Its value (already rounded to single precision if `single`).
        value: f64,
        /// `f`.
        single: bool,
    },
    /// `'a'`: its value as an `int`.
    Char(i32),
    /// `"…"` with escapes resolved and neighbours joined, without a final NUL.
    Str(Arc<[u8]>),
    /// An operator or bracket.
    Punct(Punct),
}

macro_rules! words {
    ($(#[$meta:meta])* $enum:ident { $($name:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[expect(missing_docs, reason = "each variant is the text beside it")]
        pub enum $enum { $($name,)* }
        impl $enum {
            /// All of them.
            pub const ALL: &[$enum] = &[$($enum::$name,)*];
            /// The spelling in a program.
            pub fn text(self) -> &'static str { match self { $($enum::$name => $text,)* } }
            /// The one with this spelling.
            pub fn from_text(text: &str) -> Option<$enum> { match text { $($text => Some($enum::$name),)* _ => None } }
        }
    };
}

words! {
    /// Reserved words.
    Keyword {
        Void = "void", Bool = "bool", Char = "char", Short = "short", Int = "int", Long = "long", Float = "float", Double = "double",
        Signed = "signed", Unsigned = "unsigned", Struct = "struct", Union = "union", Enum = "enum", Class = "class",
        Typedef = "typedef", Extern = "extern", Static = "static", Const = "const", Volatile = "volatile", Inline = "inline",
        Restrict = "__restrict__", Auto = "auto", Register = "register", Constexpr = "constexpr",
        If = "if", Else = "else", For = "for", While = "while", Do = "do", Switch = "switch", Case = "case", Default = "default",
        Break = "break", Continue = "continue", Return = "return", Goto = "goto", Sizeof = "sizeof", Alignof = "alignof", IsTrivial = "__is_trivially_copyable",
        True = "true", False = "false", Nullptr = "nullptr",
        Global = "__global__", Device = "__device__", Host = "__host__", Shared = "__shared__", Constant = "__constant__",
        Managed = "__managed__", Forceinline = "__forceinline__", Noinline = "__noinline__", LaunchBounds = "__launch_bounds__",
        Align = "__align__", GridConstant = "__grid_constant__", Asm = "asm",
        Template = "template", Typename = "typename", Using = "using", Namespace = "namespace", Operator = "operator",
        New = "new", Delete = "delete", This = "this", Public = "public", Private = "private", Protected = "protected",
        StaticCast = "static_cast", ReinterpretCast = "reinterpret_cast", ConstCast = "const_cast", DynamicCast = "dynamic_cast",
        Decltype = "decltype", Friend = "friend", Virtual = "virtual", Try = "try", Catch = "catch", Throw = "throw",
        StaticAssert = "static_assert", Pragma = "_Pragma",
    }
}

words! {
    /// Operators and brackets. The lexer makes one token each of `<<<` and `>>>`. `AngleOpen` and `AngleClose` are the `<` and `>` around
    /// template arguments; the parser distinguishes them from comparisons.
    Punct {
        LParen = "(", RParen = ")", LBracket = "[", RBracket = "]", LBrace = "{", RBrace = "}",
        Semi = ";", Comma = ",", Dot = ".", Arrow = "->", Question = "?", Colon = ":", ColonColon = "::", Ellipsis = "...",
        Plus = "+", Minus = "-", Star = "*", Slash = "/", Percent = "%", PlusPlus = "++", MinusMinus = "--",
        Amp = "&", Pipe = "|", Caret = "^", Tilde = "~", Bang = "!", AmpAmp = "&&", PipePipe = "||",
        Shl = "<<", Shr = ">>", LaunchOpen = "<<<", LaunchClose = ">>>",
        Lt = "<", Gt = ">", Le = "<=", Ge = ">=", EqEq = "==", Ne = "!=",
        Eq = "=", PlusEq = "+=", MinusEq = "-=", StarEq = "*=", SlashEq = "/=", PercentEq = "%=",
        AmpEq = "&=", PipeEq = "|=", CaretEq = "^=", ShlEq = "<<=", ShrEq = ">>=",
        At = "@", Hash = "#", HashHash = "##",
        AngleOpen = "template <", AngleClose = "template >",
    }
}

impl fmt::Display for TokenKind {
    /// The name in messages: `` `;` ``, `` `while` ``, `name`, `number`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Ident(name) | TokenKind::TypeName(name) => write!(f, "`{name}`"),
            TokenKind::Keyword(keyword) => write!(f, "`{}`", keyword.text()),
            TokenKind::Int { .. } | TokenKind::Float { .. } => f.write_str("number"),
            TokenKind::Char(_) => f.write_str("character"),
            TokenKind::Str(_) => f.write_str("string"),
            TokenKind::Punct(Punct::AngleOpen) => f.write_str("`<`"),
            TokenKind::Punct(Punct::AngleClose) => f.write_str("`>`"),
            TokenKind::Punct(punct) => write!(f, "`{}`", punct.text()),
        }
    }
}
