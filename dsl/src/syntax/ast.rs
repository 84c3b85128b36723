//! The tree as parsed: names unresolved, types as written, every node with its place.

use std::sync::Arc;

use ir::span::{Span, Spanned};

mod expr;
mod stmt;

pub use expr::{
    Asm, BinaryOp, Capture, CaptureKind, CastWord, Expr, ExprKind, Fold, Lambda, New, PostfixOp,
    UnaryOp,
};
pub use stmt::{Block, Stmt, StmtKind, Unroll};

/// A name and its place.
pub type Name = Spanned<Arc<str>>;

/// One translation unit.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Unit {
    /// Functions, variables and types in source order.
    pub items: Vec<Item>,
}

/// An item at file scope.
#[expect(
    clippy::large_enum_variant,
    reason = "most items are functions, and none is moved often"
)]
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// A function definition or prototype.
    Function(Function),
    /// Variables, typedefs, or a struct/union/enum alone (then without declarators).
    Declaration(Declaration),
    /// `template <typename T> …`.
    Template(Box<Template>),
    /// `namespace a { … }`.
    Namespace(Namespace),
    /// `using …;`, `namespace a = b;`.
    Using(Using),
    /// `static_assert(…);`
    StaticAssert(StaticAssert),
    /// A C++ construct that is parsed far enough to be named in an error.
    Unsupported {
        /// The construct in words: "a template".
        construct: &'static str,
        /// Its first token.
        span: Span,
        /// The name that it declares, if that is clear: its uses are no further errors.
        name: Option<Name>,
    },
}

/// `template <typename T, int N = 4> item`.
#[derive(Clone, PartialEq, Debug)]
pub struct Template {
    /// The kind of template declaration.
    pub kind: TemplateKind,
    /// The function, class, variable or alias; a nested `Template` for a member template's definition.
    pub item: Item,
    /// From `template` to the end of the parameters.
    pub span: Span,
}

/// The part after `template`.
#[derive(Clone, PartialEq, Debug)]
pub enum TemplateKind {
    /// `<typename T>`: a template; with arguments at its name, a partial specialisation.
    Generic(Vec<TemplateParam>),
    /// `<>`: an explicit specialisation.
    Specialisation,
    /// Nothing: an explicit instantiation.
    Instantiation,
}

/// A template parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct TemplateParam {
    /// Its name; often omitted if only the default matters.
    pub name: Option<Name>,
    /// What it stands for.
    pub kind: TemplateParamKind,
    /// `typename... Ts`.
    pub is_pack: bool,
    /// The whole.
    pub span: Span,
}

/// What a template parameter stands for.
#[derive(Clone, PartialEq, Debug)]
pub enum TemplateParamKind {
    /// `typename T = float`.
    Type(Option<TypeName>),
    /// `int N = 4`.
    Value {
        /// `int`.
        ty: TypeName,
        /// `4`.
        default: Option<Expr>,
    },
    /// `template <typename> class C`.
    Template,
}

/// A name that contains template arguments: `f<float>`, `Tile<T, 4>::Row`. Names with `::` but without arguments are plain names.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// The parts between the `::`, outermost first; an empty name before a leading `::`.
    pub segments: Vec<Segment>,
    /// The whole.
    pub span: Span,
}

/// One part of a [`Path`].
#[derive(Clone, PartialEq, Debug)]
pub struct Segment {
    /// Its name.
    pub name: Name,
    /// `<…>`.
    pub args: Option<Vec<TemplateArg>>,
}

/// A template argument.
#[expect(
    clippy::large_enum_variant,
    reason = "most arguments are types, and none is moved often"
)]
#[derive(Clone, PartialEq, Debug)]
pub enum TemplateArg {
    /// A type.
    Type(TypeName),
    /// A value, or a name that the parser cannot classify.
    Value(Expr),
    /// `Ts...`: one argument for each element of the packs in it.
    Expansion(Box<TemplateArg>),
}

/// `namespace a { … }`.
#[derive(Clone, PartialEq, Debug)]
pub struct Namespace {
    /// `a`, `a::b`; absent for an unnamed one.
    pub name: Option<Name>,
    /// `inline`: its names also belong to the surrounding namespace.
    pub is_inline: bool,
    /// Its items.
    pub items: Vec<Item>,
    /// From the word to the name.
    pub span: Span,
}

/// `using` in its forms; `using X = T;` is a typedef.
#[derive(Clone, PartialEq, Debug)]
pub enum Using {
    /// `using namespace a::b;`
    Namespace(Name),
    /// `using a::b;`
    Name(Name),
    /// `namespace x = a::b;`
    NamespaceAlias(Name, Name),
}

/// `static_assert(condition, "message");`
#[derive(Clone, PartialEq, Debug)]
pub struct StaticAssert {
    /// Must be true.
    pub condition: Expr,
    /// The message if it is false.
    pub message: Option<Arc<[u8]>>,
    /// The whole.
    pub span: Span,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// `__global__ static void` …
    pub specifiers: Specifiers,
    /// Pointers around the return type, outermost last, as in `int *f()`.
    pub declarator: Declarator,
    /// The name.
    pub name: Name,
    /// The parameters; empty for `(void)`.
    pub params: Vec<Param>,
    /// `…` at the end of the parameters.
    pub variadic: bool,
    /// The body, absent in a prototype.
    pub body: Option<Block>,
    /// The parts that only members of classes have.
    pub method: Method,
    /// From the first specifier to the closing parenthesis of the parameters.
    pub span: Span,
}

/// The parts that only a member function has.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Method {
    /// The kind of function, from its name.
    pub kind: MethodKind,
    /// `const` after the parameters.
    pub is_const: bool,
    /// `volatile` after the parameters.
    pub is_volatile: bool,
    /// `override` after the parameters.
    pub is_override: bool,
    /// `final` after the parameters.
    pub is_final: bool,
    /// `: x(1), y{2}` of a constructor.
    pub inits: Vec<MemberInit>,
    /// `= default`, `= delete`, `= 0`.
    pub special: Option<Spanned<Special>>,
}

/// Kinds of functions, as told by their names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MethodKind {
    /// An ordinary function, or an operator: its name is `operator+`.
    #[default]
    Plain,
    /// `S(…)`.
    Constructor,
    /// `~S()`.
    Destructor,
    /// `operator float()`.
    Conversion,
}

/// A function that the compiler writes, that is deleted, or that derived classes define.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each variant is the keyword of that name")]
pub enum Special {
    Default,
    Delete,
    Pure,
}

/// The initialiser of a member or a base class in a constructor.
#[derive(Clone, PartialEq, Debug)]
pub struct MemberInit {
    /// The member or base.
    pub name: Name,
    /// `(a, b)` or `{ a, b }`.
    pub init: Init,
}

/// A parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// `const float *__restrict__ a`.
    pub specifiers: Specifiers,
    /// The declarator; its name may be absent.
    pub declarator: Declarator,
    /// `= e`: its value if a call omits it.
    pub default: Option<Arc<Expr>>,
    /// `Ts... rest`: one parameter for each element of the pack.
    pub is_pack: bool,
    /// The whole.
    pub span: Span,
}

/// The part before a declarator.
#[derive(Clone, PartialEq, Debug)]
pub struct Specifiers {
    /// The type named.
    pub ty: Spanned<TypeSpecifier>,
    /// `const`.
    pub is_const: bool,
    /// `volatile`.
    pub is_volatile: bool,
    /// `typedef`, `extern`, `static`, `inline`, `register`, `constexpr`, and CUDA's `__global__ __device__ __host__ __shared__ __constant__
    /// __managed__ __forceinline__ __noinline__`, each with its place, in source order.
    pub words: Vec<Spanned<SpecifierWord>>,
    /// `__launch_bounds__(threads, blocks)`.
    pub launch_bounds: Option<Spanned<Vec<Expr>>>,
    /// `__align__(n)` or `alignas(n)`.
    pub align: Option<Box<Expr>>,
    /// All of it.
    pub span: Span,
}

impl Specifiers {
    /// Specifiers that are only a type.
    pub(crate) fn new(ty: TypeSpecifier, span: Span) -> Specifiers {
        Specifiers {
            ty: Spanned::new(ty, span),
            is_const: false,
            is_volatile: false,
            words: Vec::new(),
            launch_bounds: None,
            align: None,
            span,
        }
    }

    /// The place of a word, if it is there.
    pub fn word(&self, word: SpecifierWord) -> Option<Span> {
        self.words
            .iter()
            .find(|spanned| spanned.node == word)
            .map(|spanned| spanned.span)
    }
}

/// Storage and CUDA words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each variant is the keyword of that name")]
pub enum SpecifierWord {
    Typedef,
    Extern,
    Static,
    Inline,
    Register,
    Constexpr,
    Global,
    Device,
    Host,
    Shared,
    Constant,
    Managed,
    Forceinline,
    Noinline,
    GridConstant,
    Explicit,
    Mutable,
    Virtual,
}

/// A type by its name.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeSpecifier {
    /// `void`.
    Void,
    /// `bool`.
    Bool,
    /// `char`, `signed char`, `unsigned char`: `None` is plain.
    Char(Option<Signedness>),
    /// `short`.
    Short(Signedness),
    /// `int`, `unsigned`.
    Int(Signedness),
    /// `long` (8 bytes).
    Long(Signedness),
    /// `long long`.
    LongLong(Signedness),
    /// `float`.
    Float,
    /// `double`, and `long double` on the host, which is not supported.
    Double,
    /// `auto`.
    Auto,
    /// A typedef name, a CUDA type (`float4`, `dim3`, `size_t`, `cudaError_t`) or a struct's name used as in C++.
    Named(Arc<str>),
    /// A name with template arguments.
    Path(Box<Path>),
    /// `decltype(e)`.
    Decltype(Box<Expr>),
    /// `struct`/`union`, with or without a body.
    Record(RecordSpecifier),
    /// `enum`, with or without a body.
    Enum(EnumSpecifier),
}

/// Signed or not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Signedness {
    Signed,
    Unsigned,
}

/// `struct name { … }`.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordSpecifier {
    /// Members overlap.
    pub is_union: bool,
    /// Whether it is a `class`: members are private until an access specifier changes that.
    pub is_class: bool,
    /// The tag.
    pub name: Option<Name>,
    /// The template arguments after the tag, of a specialisation: `struct Tile<float>`.
    pub args: Option<Vec<TemplateArg>>,
    /// Its base classes.
    pub bases: Vec<Base>,
    /// The members, if there is a body.
    pub members: Option<Vec<Member>>,
    /// `__align__(n)` after `struct`.
    pub align: Option<Box<Expr>>,
}

/// `: public Base`.
#[derive(Clone, PartialEq, Debug)]
pub struct Base {
    /// As written; if absent, `private` for a `class` and `public` for a `struct`.
    pub access: Option<Access>,
    /// The class: [`TypeSpecifier::Named`], or with template arguments [`TypeSpecifier::Path`].
    pub ty: Spanned<TypeSpecifier>,
}

/// Access to a member.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each variant is the keyword of that name")]
pub enum Access {
    Public,
    Protected,
    Private,
}

/// An item in a struct.
#[derive(Clone, PartialEq, Debug)]
pub enum Member {
    /// Data, static or not, and types.
    Declaration(Declaration),
    /// A member function.
    Function(Function),
    /// `template <typename T> void f(T x);`.
    Template(Box<Template>),
    /// `public:`.
    Access(Access),
    /// `friend` and a function, with or without its body.
    FriendFunction(Function),
    /// `friend class S;`
    FriendClass(Name),
    /// `static_assert(…);`
    StaticAssert(StaticAssert),
}

/// `enum name { … }`.
#[derive(Clone, PartialEq, Debug)]
pub struct EnumSpecifier {
    /// `enum class`: its enumerators are named through it, and it does not count as a number.
    pub is_scoped: bool,
    /// `: int`.
    pub underlying: Option<Box<Specifiers>>,
    /// The tag.
    pub name: Option<Name>,
    /// The enumerators, if there is a body.
    pub enumerators: Option<Vec<(Name, Option<Expr>)>>,
}

/// `specifiers declarator = init, declarator = init;`
#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    /// Shared by all declarators.
    pub specifiers: Specifiers,
    /// Empty for `struct S { … };`.
    pub declarators: Vec<InitDeclarator>,
    /// The whole, with its `;`.
    pub span: Span,
}

/// One declared name.
#[derive(Clone, PartialEq, Debug)]
pub struct InitDeclarator {
    /// The name, and the type around it.
    pub declarator: Declarator,
    /// `= e`, `= { … }`, `(a, b)`.
    pub init: Option<Init>,
    /// Whether the initialiser follows a `=`.
    pub is_copy: bool,
    /// `: 3` of a bit-field.
    pub width: Option<Box<Expr>>,
    /// `[a, b]` of a structured binding, whose declarator is named by its text; empty for anything else.
    pub bindings: Vec<Name>,
    /// The whole.
    pub span: Span,
}

impl InitDeclarator {
    /// A declarator without initialiser.
    pub(crate) fn new(declarator: Declarator, span: Span) -> InitDeclarator {
        InitDeclarator {
            declarator,
            init: None,
            is_copy: false,
            width: None,
            bindings: Vec::new(),
            span,
        }
    }
}

/// An initialiser.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// `= e`.
    Expr(Expr),
    /// `= { a, { b, c }, .x = d }`.
    List(Spanned<Vec<InitItem>>),
    /// `dim3 b(32, 8)`.
    Construct(Spanned<Vec<Expr>>),
}

impl Init {
    /// The only expression in it, in whichever brackets.
    pub fn single(&self) -> Option<&Expr> {
        match self {
            Init::Expr(expr) => Some(expr),
            Init::Construct(args) => match &args.node[..] {
                [expr] => Some(expr),
                _ => None,
            },
            Init::List(items) => match &items.node[..] {
                [
                    InitItem {
                        designator: None,
                        value: Init::Expr(expr),
                    },
                ] => Some(expr),
                _ => None,
            },
        }
    }
}

/// One element of an initialiser list.
#[derive(Clone, PartialEq, Debug)]
pub struct InitItem {
    /// `.name =` or `[index] =`.
    pub designator: Option<Designator>,
    /// The value.
    pub value: Init,
}

/// The target of an element of an initialiser list.
#[derive(Clone, PartialEq, Debug)]
pub enum Designator {
    /// `.name`.
    Member(Name),
    /// `[index]`.
    Index(Expr),
}

/// A declarator: the name and the parts around it.
#[derive(Clone, PartialEq, Debug)]
pub struct Declarator {
    /// The name, absent in casts and unnamed parameters.
    pub name: Option<Name>,
    /// The template arguments after the name, of a specialisation: `f<float>`.
    pub args: Option<Vec<TemplateArg>>,
    /// How the type is built around the specifier's type, read from the name outwards: `int *a[4]` is `[Array(4), Pointer]`, `int (*a)[4]`
    /// is `[Pointer, Array(4)]`.
    pub parts: Vec<DeclaratorPart>,
    /// The whole.
    pub span: Span,
}

impl Declarator {
    /// A declarator without template arguments.
    pub(crate) fn new(name: Option<Name>, parts: Vec<DeclaratorPart>, span: Span) -> Declarator {
        Declarator {
            name,
            args: None,
            parts,
            span,
        }
    }

    /// Whether it declares a function.
    pub(crate) fn is_function(&self) -> bool {
        matches!(self.parts.first(), Some(DeclaratorPart::Function(..)))
    }
}

/// One step from a name outwards.
#[derive(Clone, PartialEq, Debug)]
pub enum DeclaratorPart {
    /// `*const volatile __restrict__`.
    Pointer {
        /// `const` after the star.
        is_const: bool,
        /// `volatile` after the star.
        is_volatile: bool,
        /// `__restrict__`.
        is_restrict: bool,
    },
    /// `&`.
    Reference(Span),
    /// `&&`.
    RvalueReference(Span),
    /// `[n]` or `[]`.
    Array(Option<Box<Expr>>, Span),
    /// `(params)`: a function or, after a pointer, a function pointer.
    Function(Vec<Param>, Span),
}

/// A type in a cast or `sizeof`.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeName {
    /// The base.
    pub specifiers: Specifiers,
    /// The parts around the absent name.
    pub declarator: Declarator,
    /// The whole.
    pub span: Span,
}
