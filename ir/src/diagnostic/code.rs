//! Every diagnostic code, once: number, slug and the text of `dslc explain`.
//!
//! The list is one table of rows of the same shape. `E01xx` text and tokens, `E02xx` preprocessor, `E03xx` syntax,
//! `E04xx` names, `E05xx` types, `E06xx` memory spaces and shared memory, `E07xx` launches and host code,
//! `E08xx` not supported, `E09xx` limits; `W…` are warnings (`W10xx` about threads that diverge); `R…` are what the simulator finds at run time.

use super::Severity;

/// What a code is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// `E…`: the source is wrong.
    Error,
    /// `W…`: the source is suspect.
    Warning,
    /// `R…`: what a run found.
    Run,
}

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
            /// What it is about, by the first letter of the number.
            pub fn class(self) -> Class {
                match self.number().as_bytes()[0] {
                    b'E' => Class::Error,
                    b'W' => Class::Warning,
                    _ => Class::Run,
                }
            }
            /// How grave a message is, if it does not say so itself.
            pub fn severity(self) -> Severity {
                match self.class() {
                    Class::Error => Severity::Error,
                    Class::Warning | Class::Run => Severity::Warning,
                }
            }
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
        "The text contains a character that has no meaning in CUDA C outside comments and string literals.",
        bad: "int a = 1 ` 2;", good: "int a = 1 + 2;";
    /// Punctuation of another script in the place of the ASCII one.
    ConfusableCharacter = "E0102", "confusable-character",
        "Code copied from a web page, a document or a chat, or typed with a Chinese or Japanese input method, often has full-width punctuation (；（），), curly quotes or special spaces. C has only the ASCII ones, and nvcc rejects the others with a message about stray bytes. dslc reads them as the ASCII character they look like, so that it can check everything else. In comments and string literals any character is allowed.",
        bad: "int a = 1；", good: "int a = 1;";
    /// `/*` without `*/`.
    UnterminatedComment = "E0103", "unterminated-comment",
        "A comment that begins with `/*` ends at the next `*/`; comments do not nest. Without an end the comment includes the rest of the file.",
        bad: "int a; /* the index\nint b;", good: "int a; /* the index */\nint b;";
    /// A string or character literal that does not end on its line.
    UnterminatedLiteral = "E0104", "unterminated-literal",
        "A string or character literal ends at its closing quote, on the line where it began. Write a quote inside a string as `\\\"`.",
        bad: "printf(\"sum %d\\n, sum);", good: "printf(\"sum %d\\n\", sum);";
    /// A number that is spelled wrong.
    BadNumber = "E0105", "bad-number",
        "A token that starts with a digit must be a number: digits of its base, and a suffix of C (u, l, ll and their combinations for integers, f for floats). A float needs a point or an exponent: `1.0f`, not `1f`. A number that starts with `0` is octal.",
        bad: "float x = 1f;", good: "float x = 1.0f;";
    /// A number that no type can hold.
    NumberTooLarge = "E0106", "number-too-large",
        "An integer literal has at most 64 bits, and a floating literal must be within the range of its type.",
        bad: "float x = 1e40f;", good: "double x = 1e40;";
    /// A character literal with no character or several.
    BadCharacter = "E0107", "bad-character",
        "A character literal holds one character of one byte. Text, and characters beyond ASCII, go in a string literal.",
        bad: "char c = 'ab';", good: "const char *c = \"ab\";";
    /// An escape with a value that is missing or does not fit.
    BadEscape = "E0108", "bad-escape",
        "A numeric escape in a literal needs digits, and its value must fit in a char: `\\0` to `\\377`, `\\x00` to `\\xff`.",
        bad: "char c = '\\x123';", good: "char c = '\\x12';";
    /// `#` and a word that is no directive.
    UnknownDirective = "E0201", "unknown-directive",
        "A line that starts with `#` is for the preprocessor, which knows define, undef, include, if, ifdef, ifndef, elif, elifdef, elifndef, else, endif, error, warning, line and pragma.",
        bad: "#defin N 32", good: "#define N 32";
    /// A directive whose line does not have the form it needs.
    BadDirective = "E0202", "bad-directive",
        "The directive exists, but its line is malformed: a macro's name is missing, a parameter is not a name, `#` is not before a parameter, or `##` is at an end.",
        bad: "#define SQUARE(x, x) ((x) * (x))", good: "#define SQUARE(x) ((x) * (x))";
    /// An included file that is not there.
    IncludeNotFound = "E0203", "include-not-found",
        "`#include \"name\"` reads one of your files; dslc looks for it beside the file that includes it. You may include system and CUDA headers; dslc does not read them, because what they declare is built in.",
        bad: "#include \"tilez.h\"", good: "#include \"tiles.h\"";
    /// Files that include each other without end.
    IncludeDepth = "E0204", "include-depth",
        "Files include each other so deeply that they almost certainly form a circle. Put `#pragma once` at the top of each included file.",
        bad: "// a.h\n#include \"a.h\"", good: "// a.h\n#pragma once";
    /// `#else` or `#endif` without `#if`, or the reverse.
    UnbalancedConditional = "E0205", "unbalanced-conditional",
        "Every `#if`, `#ifdef` and `#ifndef` needs its own `#endif` in the same file, with at most one `#else` in between.",
        bad: "#ifdef FAST\nint a;", good: "#ifdef FAST\nint a;\n#endif";
    /// An `#if` whose condition has no value.
    BadCondition = "E0206", "bad-condition",
        "The condition of `#if` is an expression of integer constants, macros and `defined(NAME)`. Names that are not macros count as 0. The preprocessor does not know variables, types, sizeof, casts and floats.",
        bad: "#if sizeof(int) == 4\n#endif", good: "#if TILE == 32\n#endif";
    /// `#error`.
    ErrorDirective = "E0207", "error-directive",
        "The program itself stops the compilation with `#error`.",
        bad: "#error define TILE first", good: "";
    /// A macro used with too few or too many arguments.
    MacroArguments = "E0208", "macro-arguments",
        "A macro with parameters needs as many arguments as it has parameters. A comma inside (…) does not separate arguments, but one inside {…}, […] or <…> does: put parentheses around such an argument.",
        bad: "#define MIN(a, b) ((a) < (b) ? (a) : (b))\nint x = MIN(1);", good: "#define MIN(a, b) ((a) < (b) ? (a) : (b))\nint x = MIN(1, 2);";
    /// A macro's arguments that do not end.
    UnterminatedMacroCall = "E0209", "unterminated-macro-call",
        "The arguments of a macro end at the closing parenthesis. The file ended before it.",
        bad: "#define SQUARE(x) ((x) * (x))\nint y = SQUARE((2);", good: "#define SQUARE(x) ((x) * (x))\nint y = SQUARE(2);";
    /// `##` of two things that do not make one token.
    BadPaste = "E0210", "bad-paste",
        "`##` joins the token before it and the token after it into one, as in `a ## 1`. Together they must form a token; `.` and `x`, or `)` and `(`, do not.",
        bad: "#define FIELD(s, f) s ## . ## f\nint x = FIELD(p, x);", good: "#define FIELD(s, f) s.f\nint x = FIELD(p, x);";
    /// Macros that make more text than anyone wants.
    ExpansionTooLarge = "E0211", "expansion-too-large",
        "Macros that use each other several times grow exponentially: thirty lines can make a billion tokens. Expansion stops at two million tokens, and at 128 macro calls inside one another's arguments.",
        bad: "", good: "";
    /// A `;` is missing.
    MissingSemicolon = "E0301", "missing-semicolon",
        "A statement or declaration must end with `;`. The message points to the end of the line before, where it belongs.",
        bad: "int t = threadIdx.x\ns[t] = 0;", good: "int t = threadIdx.x;\ns[t] = 0;";
    /// Anything else that does not parse.
    Syntax = "E0300", "syntax",
        "The text does not follow the grammar here. The message names the unexpected token and what was expected. The cause is there or just before it.",
        bad: "int a = b + ;", good: "int a = b + c;";
    /// A bracket is never closed.
    UnclosedBracket = "E0302", "unclosed-bracket",
        "Every `(`, `[`, `{` and `<<<` needs its closing partner. The message shows where a closing bracket was expected and which bracket it belongs to. dslc continues as if it were there.",
        bad: "s[(t + 1] = 0;", good: "s[(t + 1)] = 0;";
    /// A bracket closes nothing.
    ExtraBracket = "E0303", "extra-bracket",
        "There is a closing bracket without an opening one. dslc continues as if it were not there.",
        bad: "if (t < 64) ] s[t] = 0;", good: "if (t < 64) s[t] = 0;";
    /// One kind of bracket is closed by another.
    MismatchedBracket = "E0304", "mismatched-bracket",
        "A bracket must be closed by its own kind: `(` by `)`, `[` by `]`, `{` by `}`.",
        bad: "s[t) = 0;", good: "s[t] = 0;";
    /// A launch has the wrong angle brackets.
    LaunchBrackets = "E0305", "launch-brackets",
        "Launch a kernel with three angle brackets on each side: `kernel<<<grid, block>>>(arguments)`. Two angle brackets are a shift operator.",
        bad: "scale<<4, 128>>(d, n);", good: "scale<<<4, 128>>>(d, n);";
    /// An `else` belongs to no `if`.
    ElseWithoutIf = "E0306", "else-without-if",
        "An `else` follows the one statement of its `if`. A second statement without braces, or a `;` after the condition or the closing brace, ends the `if` before the `else`.",
        bad: "if (t < n) a = 1; b = 2; else c = 3;", good: "if (t < n) { a = 1; b = 2; } else c = 3;";
    /// The words of a type do not go together.
    TypeWords = "E0307", "type-words",
        "A declaration has one type. Its words may come in any order (`long unsigned int`), but together they must form one type. Two types in a row usually mean that a `;` or a `,` is missing.",
        bad: "unsigned float x;", good: "float x;";
    /// A reserved word is used as a name.
    ReservedWord = "E0308", "reserved-word",
        "Reserved words of C, C++ and CUDA, such as `new`, `this` or `register`, cannot be names, even if the program does not use them otherwise.",
        bad: "int new = 0;", good: "int fresh = 0;";
    /// Too many brackets or operators inside each other.
    NestedTooDeeply = "E0309", "nested-too-deeply",
        "At most 200 brackets and statements may be open inside each other, and one expression may have at most 1000 operators. Code written by people stays far below. Generated code, or a macro that expands into itself, may exceed it.",
        bad: "", good: "";
    /// The header of a `for` is not three parts.
    ForHeader = "E0310", "for-header",
        "A `for` has a start, a condition and a step, with two `;` between them. Each part may be empty, but both `;` are required.",
        bad: "for (int i = 0, i < n, i++) s[i] = 0;", good: "for (int i = 0; i < n; i++) s[i] = 0;";
    /// A `do` has no `while`.
    DoWithoutWhile = "E0311", "do-without-while",
        "`do` begins a loop whose condition comes after the body: `do { … } while (condition);`. After `while (condition)` or `for (…)` there is no `do`.",
        bad: "while (i < n) do { i++; }", good: "while (i < n) { i++; }";
    /// A function has neither a body nor a `;`.
    MissingBody = "E0312", "missing-body",
        "After its parameters a function has a body in `{ }`, or a `;` if it is only declared here and defined elsewhere.",
        bad: "__global__ void fill(int *d)\n__global__ void use(int *d) { }", good: "__global__ void fill(int *d) { }\n__global__ void use(int *d) { }";
    /// A declaration has no type.
    MissingType = "E0313", "missing-type",
        "Every declaration names a type; C no longer assumes `int`. A kernel's type is `void`.",
        bad: "__global__ fill(int *d) { }", good: "__global__ void fill(int *d) { }";
    /// A memory space stands on a parameter.
    SpaceOnParameter = "E0314", "space-on-parameter",
        "`__shared__`, `__constant__` and `__device__` say in which memory a variable is. A parameter belongs to its thread; the argument decides what it points to.",
        bad: "__device__ int sum(__shared__ int *s);", good: "__device__ int sum(int *s);";
    /// A statement stands at file scope.
    StatementOutside = "E0315", "statement-outside",
        "At file scope there are only declarations and functions; statements belong in functions. Often an extra `}` has ended the function too early.",
        bad: "void f() { int a = 1; }\na = 2; }", good: "void f() { int a = 1;\na = 2; }";
    /// Syntax of C++ or C that dslc reads but does not support.
    UnsupportedSyntax = "E0320", "unsupported-syntax",
        "nvcc accepts this, dslc does not (yet). dslc reports it instead of giving it another meaning.",
        bad: "struct A { int a; };\nstruct S : A { using A::a; };", good: "struct S { int a; };";
    /// A name that nothing declares.
    UnknownName = "E0401", "unknown-name",
        "Declare every variable and function before you use it. Most unknown names are typing errors, or variables of a block that has ended.",
        bad: "__global__ void f(int *d) { d[threadIdx.x] = coutn; }", good: "__global__ void f(int *d, int count) { d[threadIdx.x] = count; }";
    /// One name, two declarations.
    Redefinition = "E0402", "redefinition",
        "A name means one thing in its block. The message shows both declarations.",
        bad: "void f() { int n = 1; int n = 2; }", good: "void f() { int n = 1; n = 2; }";
    /// A member that is not there.
    UnknownMember = "E0403", "unknown-member",
        "The type has no member of this name. `threadIdx`, `blockIdx`, `blockDim` and `gridDim` have `x`, `y` and `z`. Through a pointer, use `->` to reach a member.",
        bad: "__global__ void f(int *d) { d[threadIdx.w] = 0; }", good: "__global__ void f(int *d) { d[threadIdx.x] = 0; }";
    /// Declared, but further down.
    UsedBeforeDeclaration = "E0404", "used-before-declaration",
        "A file is read from top to bottom, so a name must be declared above its use. Move the declaration up, or put a prototype above the use.",
        bad: "__device__ int twice(int a) { return add(a, a); }\n__device__ int add(int a, int b) { return a + b; }", good: "__device__ int add(int a, int b);\n__device__ int twice(int a) { return add(a, a); }\n__device__ int add(int a, int b) { return a + b; }";
    /// Declared, but without a body.
    UndefinedFunction = "E0405", "undefined-function",
        "A function that is called must have a body in the program. dslc compiles one file (with what it includes) as the whole program.",
        bad: "int twice(int);\nint main() { return twice(0); }", good: "int twice(int a) { return 2 * a; }\nint main() { return twice(0); }";
    /// A type that nothing declares.
    UnknownType = "E0406", "unknown-type",
        "Declare every type before you use it, with `struct`, `enum` or `typedef`. C's and CUDA's own types need no declaration.",
        bad: "void f(enum color c) { }", good: "enum color { RED };\nvoid f(enum color c) { }";
    /// A type or function where a value is needed, or the other way round.
    WrongKindOfName = "E0407", "wrong-kind-of-name",
        "The name exists, but stands for another kind of thing: a function that is not called, a type used as a value, a variable that is called.",
        bad: "int twice(int a) { return 2 * a; }\nint f() { return twice; }", good: "int twice(int a) { return 2 * a; }\nint f() { return twice(1); }";
    /// Two declarations of a function do not agree.
    ConflictingDeclaration = "E0408", "conflicting-declaration",
        "A prototype and its definition must have the same parameters, the same result and the same qualifiers (`__global__`, `__device__`, `__host__`).",
        bad: "__device__ int f(int a);\nint f(int a) { return a; }", good: "__device__ int f(int a);\n__device__ int f(int a) { return a; }";
    /// A value of the wrong type.
    TypeMismatch = "E0501", "type-mismatch",
        "Numbers convert to each other, and any pointer converts to `void *`. Pointers to different types do not convert, nor do numbers and pointers: the program would read the bytes as something else.",
        bad: "void g(int *p);\nvoid f(float *q) { g(q); }\nvoid g(int *p) { }", good: "void g(float *p);\nvoid f(float *q) { g(q); }\nvoid g(float *p) { }";
    /// An operator cannot be applied to this type.
    BadOperand = "E0502", "bad-operand",
        "Operators work on numbers and pointers. Structs and vector types have no operators: combine their members one by one. `%`, shifts and bitwise operators need integers.",
        bad: "__device__ float2 f(float2 a, float2 b) { return a + b; }", good: "__device__ float2 f(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }";
    /// Too few or too many arguments.
    WrongArgumentCount = "E0503", "wrong-argument-count",
        "A call needs one argument for each parameter. The message shows the parameter without an argument, or the first extra argument.",
        bad: "void g(int *p, int n) { }\nvoid f(int *p) { g(p); }", good: "void g(int *p, int n) { }\nvoid f(int *p) { g(p, 4); }";
    /// What cannot be assigned to.
    NotAPlace = "E0504", "not-a-place",
        "Only variables, elements and members can be changed or have an address. Results of calls and operators, whole arrays and `const` objects cannot. `threadIdx`, `blockIdx`, `blockDim` and `gridDim` are values.",
        bad: "__global__ void f(const int *d) { d[0] = 1; }", good: "__global__ void f(int *d) { d[0] = 1; }";
    /// A type whose size is not known.
    IncompleteType = "E0505", "incomplete-type",
        "A variable needs memory, so its type must be complete: not `void`, not a struct that is only declared, not an array without a size.",
        bad: "struct node;\nvoid f() { struct node n; }", good: "struct node { int value; };\nvoid f() { struct node n; }";
    /// A constant is needed here.
    NotConstant = "E0506", "not-constant",
        "Array sizes, `case` labels, enumerators and initial values of global variables must be known when the program is compiled.",
        bad: "int f(int a, int b) { switch (a) { case b: return 1; } return 0; }", good: "int f(int a, int b) { if (a == b) return 1; return 0; }";
    /// An array cannot have this size.
    BadArraySize = "E0507", "bad-array-size",
        "The size of an array is a positive integer. Only the first dimension may be left open, and only if something else determines it.",
        bad: "void f() { int a[-1]; }", good: "void f() { int a[1]; }";
    /// A constant expression divides by zero.
    ConstantDivision = "E0508", "constant-division-by-zero",
        "The compiler needs the value of a constant expression, and this one has none.",
        bad: "void f() { int a[4 / 0]; }", good: "void f() { int a[4 / 2]; }";
    /// An initialiser that does not fit.
    BadInitialiser = "E0509", "bad-initialiser",
        "A list has at most as many values as the variable has elements or members. An array takes a list (or a string), a single variable takes one value.",
        bad: "void f() { int a[2] = { 1, 2, 3 }; }", good: "void f() { int a[3] = { 1, 2, 3 }; }";
    /// `break`, `continue` or `case` without its statement.
    MisplacedJump = "E0510", "misplaced-jump",
        "`break` leaves a loop or `switch`, `continue` starts a loop's next iteration; `case` and `default` belong to a `switch`.",
        bad: "void f(int a) { if (a) break; }", good: "void f(int a) { while (a) break; }";
    /// Two equal labels.
    DuplicateCase = "E0511", "duplicate-case",
        "Each value may have one `case` in a `switch`, and there may be one `default`.",
        bad: "void f(int a) { switch (a) { case 1: break; case 1: break; } }", good: "void f(int a) { switch (a) { case 1: break; case 2: break; } }";
    /// A value is returned where none should be, or the other way round.
    ReturnMismatch = "E0512", "return-mismatch",
        "A `void` function returns nothing, every other function returns a value.",
        bad: "__global__ void f(int *d) { return 1; }", good: "__global__ void f(int *d) { return; }";
    /// A cast that means nothing.
    BadCast = "E0513", "bad-cast",
        "Numbers can be cast to each other, pointers to each other, and pointers to 64-bit integers and back.",
        bad: "int f(float *p) { return (int)p; }", good: "long f(float *p) { return (long)p; }";
    /// A conversion drops `const` or `volatile`.
    DropsQualifier = "E0514", "drops-qualifier",
        "A pointer to `const` promises not to change the data that it points to. A conversion may add this promise, but not remove it.",
        bad: "void f(const int *p) { int *q = p; }", good: "void f(const int *p) { const int *q = p; }";
    /// A declaration that says something else than it looks like.
    BadDeclaration = "E0515", "bad-declaration",
        "`dim3 grid();` declares a function without parameters, not a variable.",
        bad: "void f() { dim3 grid(); }", good: "void f() { dim3 grid; }";
    /// A built-in function has no form for these types.
    NoOverload = "E0516", "no-overload",
        "Atomic functions exist for some types only: `atomicAdd` for `int`, `unsigned int`, `unsigned long long`, `float` and `double`, the bitwise ones for integers.",
        bad: "__global__ void f(short *s) { atomicAdd(s, 1); }", good: "__global__ void f(int *s) { atomicAdd(s, 1); }";
    /// The size of an array is known only at run time.
    VariableLength = "E0518", "variable-length-array",
        "An array's size is a constant: a number, a macro, an enumerator or a `const` variable with a constant value. CUDA has no arrays of variable length.",
        bad: "void f(int n) { int a[n]; }", good: "void f() { const int n = 64; int a[n]; }";
    /// Several overloads fit a call equally well.
    AmbiguousOverload = "E0520", "ambiguous-overload",
        "A call selects the function whose parameters fit its arguments best: the same type first, then promotions (`char` to `int`, `float` to `double`), then other conversions. Here no function is best for all arguments.",
        bad: "__device__ int f(int a, double b) { return 1; }\n__device__ int f(double a, int b) { return 2; }\n__global__ void k(int *d) { *d = f(1, 1); }", good: "__device__ int f(int a, double b) { return 1; }\n__device__ int f(double a, int b) { return 2; }\n__global__ void k(int *d) { *d = f(1, 1.0); }";
    /// No overload fits a call.
    NoMatchingFunction = "E0521", "no-matching-function",
        "Several functions have this name, but none takes these arguments: their number differs, or an argument does not convert to its parameter's type.",
        bad: "__device__ int f(int a) { return a; }\n__device__ int f(int a, int b) { return b; }\n__global__ void k(int *d) { *d = f(d); }", good: "__device__ int f(int a) { return a; }\n__device__ int f(int a, int b) { return b; }\n__global__ void k(int *d) { *d = f(*d); }";
    /// A template argument is wrong or missing.
    TemplateArgument = "E0522", "template-argument",
        "Each parameter of a template stands for a type or for a constant. Write its arguments in `<…>`, or let them follow from the types of a call's arguments. All others need a default.",
        bad: "template <typename T, int N> struct tile { T data[N]; };\ntile<float> t;", good: "template <typename T, int N> struct tile { T data[N]; };\ntile<float, 4> t;";
    /// Instances of templates need one another without end.
    TemplateDepth = "E0523", "template-depth",
        "A template that uses itself with other arguments must end: with `if constexpr`, or with a specialisation for the last case.",
        bad: "template <int N> __device__ int f() { return f<N + 1>(); }\n__global__ void k(int *d) { d[0] = f<0>(); }", good: "template <int N> __device__ int f() { if constexpr (N < 8) return f<N + 1>(); else return N; }\n__global__ void k(int *d) { d[0] = f<0>(); }";
    /// A `static_assert` does not hold.
    StaticAssert = "E0524", "static-assert",
        "The program itself stops the compilation with `static_assert`.",
        bad: "static_assert(sizeof(int) == 8, \"int has 8 bytes\");", good: "static_assert(sizeof(int) == 4, \"int has 4 bytes\");";
    /// Dynamic shared memory is declared as a pointer.
    ExternSharedPointer = "E0601", "extern-shared-pointer",
        "`extern __shared__` declares the block's dynamic shared memory itself, which is an array. A pointer would be a variable that holds an address.",
        bad: "__global__ void f() { extern __shared__ int *s; }", good: "__global__ void f() { extern __shared__ int s[]; }";
    /// A shared array without a size and without `extern`.
    SharedWithoutExtern = "E0602", "shared-without-extern",
        "A shared array with empty brackets is dynamic: its size is the third launch argument, and its declaration begins with `extern`. Without `extern` the array is static and needs a size.",
        bad: "__global__ void f() { __shared__ int s[]; }", good: "__global__ void f() { extern __shared__ int s[]; }";
    /// A shared variable has an initialiser.
    SharedInitialiser = "E0603", "shared-initialiser",
        "Shared memory belongs to all threads of a block and is uninitialised when the block starts. A thread must write it, and a barrier must follow before others read it.",
        bad: "__global__ void f() { __shared__ int n = 0; }", good: "__global__ void f() { __shared__ int n; if (threadIdx.x == 0) n = 0; __syncthreads(); }";
    /// Device code uses a variable of the host.
    HostVariableInDevice = "E0604", "host-variable-in-device",
        "An ordinary global variable is in the host's memory, which kernels cannot reach. Pass its value as an argument, or declare it `__device__` or `__constant__`. Both sides can use a `const` number with a constant value.",
        bad: "int n = 4;\n__global__ void f(int *d) { d[0] = n; }", good: "const int n = 4;\n__global__ void f(int *d) { d[0] = n; }";
    /// Host code uses a variable of the device.
    DeviceVariableInHost = "E0605", "device-variable-in-host",
        "`__device__` and `__constant__` variables are in the device's memory. The host copies to and from them with `cudaMemcpyToSymbol` and `cudaMemcpyFromSymbol`.",
        bad: "__device__ int n;\nint main() { return n; }", good: "__device__ int n;\nint main() { int a; cudaMemcpyFromSymbol(&a, n, sizeof(n)); return a; }";
    /// A kernel writes to constant memory.
    ConstantMemoryWrite = "E0606", "constant-memory-write",
        "`__constant__` memory is constant while a kernel runs. The host fills it before the launch with `cudaMemcpyToSymbol`.",
        bad: "__constant__ int n;\n__global__ void f() { n = 1; }", good: "__device__ int n;\n__global__ void f() { n = 1; }";
    /// Device code calls a host function.
    HostCallInDevice = "E0607", "host-call-in-device",
        "A function without `__device__` is compiled for the host only. `__host__ __device__` compiles it for both sides.",
        bad: "int twice(int a) { return 2 * a; }\n__global__ void f(int *d) { d[0] = twice(1); }", good: "__device__ int twice(int a) { return 2 * a; }\n__global__ void f(int *d) { d[0] = twice(1); }";
    /// Host code calls a device function.
    DeviceCallInHost = "E0608", "device-call-in-host",
        "A `__device__` function is compiled for the device only. `__host__ __device__` compiles it for both sides.",
        bad: "__device__ int twice(int a) { return 2 * a; }\nint main() { return twice(0); }", good: "__host__ __device__ int twice(int a) { return 2 * a; }\nint main() { return twice(0); }";
    /// Something that only threads of a kernel have.
    DeviceOnly = "E0609", "device-only",
        "`threadIdx` and similar names, barriers and atomics exist only in code that runs on the device.",
        bad: "int main() { __syncthreads(); }", good: "int main() { cudaDeviceSynchronize(); }";
    /// A memory-space word stands where it means nothing.
    MisplacedSpace = "E0610", "misplaced-space",
        "Declare `__device__` and `__constant__` variables at file scope, `__shared__` ones in device functions or at file scope; `__global__` is for functions.",
        bad: "void f() { __shared__ int s[4]; }", good: "__global__ void f() { __shared__ int s[4]; }";
    /// A reference to something that ends before it.
    DanglingReference = "E0519", "dangling-reference",
        "A function's own variables and the values it computes end when it returns. A reference to them would be invalid.",
        bad: "int &f() { int x = 1; return x; }", good: "int f() { int x = 1; return x; }";
    /// A member that may not be used here.
    NotAccessible = "E0525", "not-accessible",
        "Only the class and its friends can use members after `private:` (and all members of a `class` before the first such word). Derived classes can also use those after `protected:`. Nobody can call a function that is `= delete`.",
        bad: "class A { int x; };\nint f(A a) { return a.x; }", good: "class A { public: int x; };\nint f(A a) { return a.x; }";
    /// A member without an object.
    NoObject = "E0526", "no-object",
        "Data and functions of a class that are not `static` belong to an object: `object.member`. Only the class's own functions may omit the object.",
        bad: "struct A { int x; };\nint f() { return A::x; }", good: "struct A { static const int x = 1; };\nint f() { return A::x; }";
    /// A kernel returns something.
    KernelResult = "E0701", "kernel-result",
        "Many threads run a kernel, and it returns nothing. Write results through pointers.",
        bad: "__global__ int f() { return 1; }", good: "__global__ void f(int *r) { *r = 1; }";
    /// A kernel is called like a function.
    KernelWithoutLaunch = "E0702", "kernel-without-launch",
        "Launch a kernel with a number of blocks and of threads per block: `kernel<<<blocks, threads>>>(arguments)`.",
        bad: "__global__ void f(int *d) { }\nint main() { f(0); }", good: "__global__ void f(int *d) { }\nint main() { f<<<1, 32>>>(0); }";
    /// Something else than a kernel is launched.
    LaunchOfNonKernel = "E0703", "launch-of-non-kernel",
        "Only `__global__` functions are launched with `<<<…>>>`. Call other functions.",
        bad: "void f() { }\nint main() { f<<<1, 32>>>(); }", good: "__global__ void f() { }\nint main() { f<<<1, 32>>>(); }";
    /// A kernel launches through a pointer.
    LaunchInDevice = "E0704", "launch-in-device",
        "A kernel may launch another one by its name (dynamic parallelism), not through a pointer.",
        bad: "__global__ void g() { }\n__global__ void f(void (*p)()) { p<<<1, 32>>>(); }\nint main() { f<<<1, 1>>>(g); }", good: "__global__ void g() { }\n__global__ void f() { g<<<1, 32>>>(); }";
    /// The launch configuration is wrong.
    LaunchConfig = "E0705", "launch-config",
        "Between `<<<` and `>>>` write the number of blocks, the number of threads per block (both an integer or a `dim3`), the bytes of dynamic shared memory, and a stream. The last two are optional.",
        bad: "__global__ void f() { }\nint main() { f<<<1>>>(); }", good: "__global__ void f() { }\nint main() { f<<<1, 32>>>(); }";
    /// `main` does not look like `main`.
    BadMain = "E0706", "bad-main",
        "The host program starts at `int main()` or `int main(int argc, char **argv)`.",
        bad: "void main() { }", good: "int main() { }";
    /// A variable of the device should be named.
    BadSymbol = "E0707", "bad-symbol",
        "`cudaMemcpyToSymbol` and similar functions take the name of a `__device__` or `__constant__` variable. For memory from `cudaMalloc` use `cudaMemcpy`.",
        bad: "int main() { int a = 0, b = 0; cudaMemcpyToSymbol(a, &b, sizeof(b)); }", good: "__constant__ int a;\nint main() { int b = 0; cudaMemcpyToSymbol(a, &b, sizeof(b)); }";
    /// A kernel should be named.
    BadKernelArgument = "E0708", "bad-kernel-argument",
        "Calls that configure a kernel take the kernel's name.",
        bad: "void f() { }\nint main() { cudaFuncSetCacheConfig(f, cudaFuncCachePreferL1); }", good: "__global__ void f() { }\nint main() { cudaFuncSetCacheConfig(f, cudaFuncCachePreferL1); }";
    /// A kernel's parameter is a reference.
    KernelReference = "E0709", "kernel-reference",
        "A kernel runs in another memory than its caller, and a reference is the address of the argument. It is valid only for an object in managed memory. A constant reference may be given a temporary value, which never is there. Pass small objects by value, others through a pointer to device memory.",
        bad: "__global__ void f(const int &x, int *y) { *y = x; }", good: "__global__ void f(int x, int *y) { *y = x; }";
    /// A construct that is not supported yet.
    Unsupported = "E0801", "unsupported",
        "nvcc accepts this, dslc does not yet. dslc reports the first use instead of giving it another meaning.",
        bad: "struct S { int &r; };", good: "struct S { int *r; };";
    /// A function or type of CUDA that is not supported yet.
    UnsupportedBuiltin = "E0802", "unsupported-builtin",
        "CUDA has this, dslc does not yet. dslc reports the first use instead of giving it another meaning.",
        bad: "__global__ void f(float *d) { d[0] = curand_poisson(0); }", good: "__global__ void f(float *d) { d[0] = d[1]; }";
    /// A kernel that inlining makes too large.
    KernelTooLarge = "E0901", "kernel-too-large",
        "dslc inlines every call of a `__device__` function. Functions that call each other several times grow exponentially; a kernel may have a million intermediate values.",
        bad: "", good: "";
    /// A kernel with more thread-local memory than a thread has.
    TooMuchLocal = "E0902", "too-much-local-memory",
        "A thread has at most 512 KB of local memory on every architecture. It holds the arrays (and the variables whose addresses are taken) of the kernel and of all functions that are inlined in it. ptxas refuses more. Put large scratch arrays into global memory, with a part for each thread.",
        bad: "__global__ void f(int *x, int n) { int a[200000]; a[n] = 1; x[0] = a[n]; }", good: "__global__ void f(int *x, int n) { int a[64]; a[n] = 1; x[0] = a[n]; }";
    /// More `__constant__` variables than constant memory holds.
    TooMuchConstant = "E0903", "too-much-constant-memory",
        "The `__constant__` variables of a program share 64 KB on every architecture; ptxas refuses more. Put a large table into a `__device__` variable or into memory from `cudaMalloc`; loads through `const T *__restrict__` go through the read-only cache.",
        bad: "__constant__ float table[20000];\n__global__ void f(float *x) { x[0] = table[threadIdx.x]; }", good: "__device__ float table[20000];\n__global__ void f(float *x) { x[0] = table[threadIdx.x]; }";
    /// A kernel whose parameters take too many bytes.
    TooManyParameterBytes = "E0904", "too-many-parameter-bytes",
        "The parameters of a kernel are in constant memory: 32,764 bytes from sm_70 on (since CUDA 12.1), 4,096 before. Copy a large structure to device memory and pass a pointer to it.",
        bad: "struct Table { float values[10000]; };\n__global__ void f(float *x, Table table) { x[0] = table.values[threadIdx.x]; }", good: "struct Table { float values[10000]; };\n__global__ void f(float *x, const Table *table) { x[0] = table->values[threadIdx.x]; }";
    /// An initial value beyond what dslc keeps.
    InitialValueTooLarge = "E0905", "initial-value-too-large",
        "The initial bytes of a variable are part of the program, from its first byte to the last that is not 0. They may take 1 GB; zeros behind them cost nothing.",
        bad: "", good: "";
    /// A class that is moved by value and is very large.
    ValueTooLarge = "E0906", "value-too-large",
        "dslc moves a value of a class number by number, at most 1,048,576 of them. Pass a pointer to a larger one, or copy it with `memcpy`.",
        bad: "struct Image { float pixels[2000000]; };\nvoid f(Image *a, Image *b) { *a = *b; }\nint main() { f(0, 0); return 0; }", good: "#include <string.h>\nstruct Image { float pixels[2000000]; };\nvoid f(Image *a, Image *b) { memcpy(a, b, sizeof(Image)); }\nint main() { return 0; }";
    /// A bug of dslc.
    InternalError = "E0999", "internal-error",
        "dslc broke one of its own rules while it compiled a program without errors. This is a bug in dslc, not in the program. Please report it, with the program.",
        bad: "", good: "";
    /// Blanks between a backslash and the end of its line.
    BlankAfterBackslash = "W0101", "blank-after-backslash",
        "A backslash continues a line only if it is the line's last character. Blanks after it are probably a mistake; dslc continues the line, as gcc and nvcc do.",
        bad: "", good: "";
    /// A backslash before a letter that makes no escape.
    UnknownEscape = "W0102", "unknown-escape",
        "C has no escape with this letter, so the backslash means nothing. For a backslash write two; for a percent sign in a printf format write `%%`.",
        bad: "printf(\"50\\% done\");", good: "printf(\"50%% done\");";
    /// A macro defined again, differently.
    MacroRedefined = "W0201", "macro-redefined",
        "The program defines this macro again with another meaning, which holds from here on. If you intend that, `#undef` it first.",
        bad: "#define TILE 16\n#define TILE 32", good: "#define TILE 16\n#undef TILE\n#define TILE 32";
    /// `#warning`.
    WarningDirective = "W0202", "warning-directive",
        "The program itself warns with `#warning`.",
        bad: "#warning slow path", good: "";
    /// Something after a directive that takes nothing more.
    ExtraTokens = "W0203", "extra-tokens",
        "The directive ends before these tokens, and dslc ignores them. Put a name after `#endif` or `#else` into a comment; `#ifdef` takes one name, and `#if defined(A) && defined(B)` several.",
        bad: "#ifdef A && B\n#endif", good: "#if defined(A) && defined(B)\n#endif";
    /// A condition assigns.
    AssignmentInCondition = "W0401", "assignment-in-condition",
        "`=` assigns, `==` compares. An assignment as a condition is true if the assigned value is not 0.",
        bad: "void f(int a) { if (a = 1) { } }", good: "void f(int a) { if (a == 1) { } }";
    /// A comparison's result is not used.
    UnusedComparison = "W0402", "unused-comparison",
        "A comparison alone has no effect. Did you mean an assignment?",
        bad: "void f(int a) { a == 1; }", good: "void f(int a) { a = 1; }";
    /// A function may end without returning its value.
    MissingReturn = "W0403", "missing-return",
        "If control reaches the end of a function that returns a value, the caller gets an undefined value.",
        bad: "int f(int a) { if (a) return 1; }", good: "int f(int a) { if (a) return 1; return 0; }";
    /// A statement before the first label of a `switch`.
    UnreachableStatement = "W0404", "unreachable-statement",
        "A `switch` jumps to one of its labels, so statements before the first one never run.",
        bad: "void f(int a) { switch (a) { a = 1; case 0: break; } }", good: "void f(int a) { a = 1; switch (a) { case 0: break; } }";
    /// A name whose header is not included.
    MissingInclude = "W0405", "missing-include",
        "dslc knows CUDA's functions and those of the C and C++ libraries without their headers. nvcc includes `cuda_runtime.h` by itself, and with it the mathematical functions, `malloc` and `memcpy`; for `printf`, `assert` or `std::vector` the program must include the header. The table of names and headers comes from nvcc 13.0 with g++ 13.3. An older compiler may find a name through another header, which no standard promises.",
        bad: "#include <cstdlib>\nvoid f() { printf(\"hello\\n\"); }", good: "#include <cstdio>\nvoid f() { printf(\"hello\\n\"); }";
    /// A `void *` becomes another pointer without a cast.
    VoidPointerWithoutCast = "W0501", "void-pointer-without-cast",
        "C allows this, but nvcc compiles C++, which does not, and refuses the program. dslc continues as if the cast were there.",
        bad: "void f() { int *p = malloc(4); }", good: "void f() { int *p = (int *)malloc(4); }";
    /// A number becomes an enumeration without a cast.
    EnumWithoutCast = "W0502", "enum-without-cast",
        "C allows this, but nvcc compiles C++, which does not, and refuses the program. dslc continues as if the cast were there.",
        bad: "enum color { RED };\nvoid f() { enum color c = 0; }", good: "enum color { RED };\nvoid f() { enum color c = RED; }";
    /// A division by a constant zero.
    DividesByZero = "W0503", "divides-by-zero",
        "Integer division by zero has no result: it stops a host program and gives a meaningless number on the device.",
        bad: "int f(int a) { return a / 0; }", good: "int f(int a) { return a / 2; }";
    /// A constant index outside of its array.
    IndexOutOfBounds = "W0504", "index-out-of-bounds",
        "An array of n elements has the indices 0 to n - 1.",
        bad: "__global__ void f() { __shared__ int s[4]; s[4] = 0; }", good: "__global__ void f() { __shared__ int s[4]; s[3] = 0; }";
    /// A `printf` format and its arguments do not agree.
    FormatMismatch = "W0505", "format-mismatch",
        "Each conversion of the format takes one argument of its type; another type prints something meaningless.",
        bad: "void f(double x) { printf(\"%d\", x); }", good: "void f(double x) { printf(\"%f\", x); }";
    /// nvcc finds this call ambiguous.
    AmbiguousCall = "W0506", "ambiguous-call",
        "`min` and `max` take two integers or two floating-point numbers. For one of each, nvcc cannot choose; dslc converts the integer.",
        bad: "__device__ float f(float a, int b) { return max(a, b); }", good: "__device__ float f(float a, int b) { return max(a, (float)b); }";
    /// A shift by the width of its operand or more.
    ShiftCount = "W0507", "shift-count",
        "A shift count must be less than the width in bits: at most 31 for an `int`. Beyond that C leaves the result undefined; dslc gives 0 (or the sign), as the GPU does. For a 64-bit result begin with a 64-bit value.",
        bad: "long f() { return 1 << 40; }", good: "long f() { return 1l << 40; }";
    /// The size of a pointer is given for that of what it points to.
    SizeOfPointer = "W0508", "size-of-pointer",
        "`sizeof` of a pointer is 8 bytes, whatever it points to. Only for an array, in the function that declares it, is `sizeof` the size of all elements. A copy of 8 bytes leaves the rest as it was.",
        bad: "void f(float *d, float *h) { cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice); }", good: "void f(float *d, float *h, int n) { cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice); }";
    /// A size on a dynamic shared array.
    ExternSharedSize = "W0601", "extern-shared-size",
        "With `extern` the size of a shared array is the third launch argument; a size in the declaration is ignored.",
        bad: "__global__ void f() { extern __shared__ int s[64]; }", good: "__global__ void f() { extern __shared__ int s[]; }";
    /// One dynamic shared array with two alignments.
    SharedAlignment = "W0602", "shared-alignment",
        "All `extern __shared__` declarations of one name in a program mean one variable, which has one alignment. nvcc warns if two declarations give different ones.",
        bad: "__global__ void f() { extern __shared__ __align__(16) char s[]; }\n__global__ void g() { extern __shared__ __align__(8) char s[]; }", good: "__global__ void f() { extern __shared__ __align__(16) char s[]; }\n__global__ void g() { extern __shared__ __align__(16) char s[]; }";
    /// CUB's storage in each thread's own memory.
    PrivateTempStorage = "W0603", "private-temp-storage",
        "The threads of a block exchange their values through CUB's `TempStorage`, which has to be in shared memory. A variable without `__shared__`, also one that is initialised with what is in shared memory, is a copy for each thread, and the others do not see what is stored there.",
        bad: "#include <cub/cub.cuh>\n__global__ void f(int *x) {\n  using Reduce = cub::BlockReduce<int, 64>;\n  Reduce::TempStorage storage;\n  int sum = Reduce(storage).Sum(x[threadIdx.x]);\n  if (threadIdx.x == 0) x[0] = sum;\n}", good: "#include <cub/cub.cuh>\n__global__ void f(int *x) {\n  using Reduce = cub::BlockReduce<int, 64>;\n  __shared__ Reduce::TempStorage storage;\n  int sum = Reduce(storage).Sum(x[threadIdx.x]);\n  if (threadIdx.x == 0) x[0] = sum;\n}";
    /// A barrier in a branch, or jumped over.
    BarrierUnderCondition = "W1001", "barrier-under-condition",
        "`__syncthreads()` has to be reached by all threads of the block that have not returned. Under a condition that differs between threads, some are at the barrier while others pass it by: since sm_70 the block then hangs or meets at the wrong barrier, before that the barrier counted whole warps and the result was undefined. Conditions that are the same for the whole block (of `blockIdx`, of parameters, of a shared flag, of `__syncthreads_or`) are fine. Two barriers, one in each branch, are not one barrier.",
        bad: "__global__ void f(int *x) {\n  __shared__ int s[64];\n  int t = threadIdx.x;\n  if (t < 32) {\n    s[t] = x[t];\n    __syncthreads();\n    x[t] = s[31 - t];\n  }\n}", good: "__global__ void f(int *x) {\n  __shared__ int s[64];\n  int t = threadIdx.x;\n  if (t < 32) s[t] = x[t];\n  __syncthreads();\n  if (t < 32) x[t] = s[31 - t];\n}";
    /// A barrier in a loop of different numbers of rounds.
    BarrierInUnevenLoop = "W1002", "barrier-in-uneven-loop",
        "Each round of the loop needs all threads of the block at its barrier, and the number of rounds differs between threads: in the last rounds some are missing. A loop such as `for (i = threadIdx.x; i < n; i += blockDim.x)` is even only if `n` is a multiple of `blockDim.x`. Let the loop run over what is the same for all threads, and put the test of the thread's own index inside, around the accesses and not around the barrier.",
        bad: "__global__ void f(int *x, int n) {\n  __shared__ int s[64];\n  for (int i = threadIdx.x; i < n; i += blockDim.x) {\n    s[threadIdx.x] = x[i];\n    __syncthreads();\n    x[i] = s[0];\n    __syncthreads();\n  }\n}", good: "__global__ void f(int *x, int n) {\n  __shared__ int s[64];\n  for (int first = 0; first < n; first += blockDim.x) {\n    int i = first + threadIdx.x;\n    if (i < n) s[threadIdx.x] = x[i];\n    __syncthreads();\n    if (i < n) x[i] = s[0];\n    __syncthreads();\n  }\n}";
    /// A barrier after some threads have returned.
    BarrierAfterReturn = "W1003", "barrier-after-return",
        "Some threads have returned before the barrier. CUDA allows it: a barrier waits for the threads of the block that have not exited (sm_70 and later, by the programming guide; earlier devices counted a warp with exited threads as a whole). It is worth knowing because threads that have returned also load no tile, take part in no reduction, and are missed by a cooperative group or a vote.",
        bad: "__global__ void f(int *x, int n) {\n  __shared__ int s[64];\n  int i = threadIdx.x;\n  if (i >= n) return;\n  s[i] = x[i];\n  __syncthreads();\n  x[i] = s[0];\n}", good: "__global__ void f(int *x, int n) {\n  __shared__ int s[64];\n  int i = threadIdx.x;\n  if (i < n) s[i] = x[i];\n  __syncthreads();\n  if (i < n) x[i] = s[0];\n}";
    /// `__activemask()` as the mask of an exchange behind a branch.
    ActiveMaskAfterBranch = "W1004", "active-mask-after-branch",
        "`__activemask()` gives the lanes that run together at that moment, and no more. Since sm_70 lanes that a branch or a loop has parted need not have met again behind it, so that any of them may be missing, and then a shuffle reads a lane that is not there, or a sum lacks values. Name the lanes that take part: `0xffffffff`, or a mask that `__ballot_sync` gives before the branch. What is right for any set of lanes may use `__activemask()`: the first of them adds for all, and tells them the result.",
        bad: "__global__ void f(int *x) {\n  int v = x[threadIdx.x];\n  if (v % 2) v = v * 3 + 1;\n  unsigned m = __activemask();\n  x[threadIdx.x] = v + __shfl_xor_sync(m, v, 1);\n}", good: "__global__ void f(int *x) {\n  int v = x[threadIdx.x];\n  if (v % 2) v = v * 3 + 1;\n  x[threadIdx.x] = v + __shfl_xor_sync(0xffffffff, v, 1);\n}";
    /// An access outside of its memory or array.
    OutOfBounds = "R0101", "out-of-bounds",
        "A thread reads or writes outside its memory, or outside the array that it names. Hardware lets an overflow from one shared array into its neighbour pass silently, and reports a global one only if it leaves the page. dslc checks every access against its array and its allocation. The usual causes: the grid has more threads than there are elements (test `if (i < n)`), or an index is off by one.",
        bad: "int i = blockIdx.x * blockDim.x + threadIdx.x;\nout[i] = 2 * in[i];", good: "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) out[i] = 2 * in[i];";
    /// An address that is not a multiple of the access's width.
    Misaligned = "R0102", "misaligned",
        "An access of 2, 4, 8 or 16 bytes needs an address that is a multiple of its width. A cast to a wider type (`(float4 *)&x[1]`) may give an address that is not. Hardware then stops the kernel with `misaligned address`.",
        bad: "float4 v = *(float4 *)&x[threadIdx.x];", good: "float4 v = ((float4 *)x)[threadIdx.x];";
    /// An access at or near address 0.
    NullPointer = "R0103", "null-pointer",
        "The pointer was never set, or an allocation failed and the program ignored the error. Check what `cudaMalloc` or `malloc` returned.",
        bad: "int *d = NULL;\nkernel<<<1, 32>>>(d);", good: "int *d;\ncudaMalloc(&d, 32 * sizeof(int));\nkernel<<<1, 32>>>(d);";
    /// An access to freed memory.
    UseAfterFree = "R0104", "use-after-free",
        "`cudaFree` or `free` released the memory before this access.",
        bad: "cudaFree(d);\nkernel<<<1, 32>>>(d);", good: "kernel<<<1, 32>>>(d);\ncudaFree(d);";
    /// A host pointer on the device, or the reverse.
    WrongSidePointer = "R0105", "wrong-side-pointer",
        "Host and device have separate memories: a kernel cannot follow a pointer from `malloc`, and the host cannot follow one from `cudaMalloc`. Copy with `cudaMemcpy`, or use `cudaMallocManaged` for memory that both may touch.",
        bad: "int *h = (int *)malloc(128);\nkernel<<<1, 32>>>(h);", good: "int *d;\ncudaMalloc(&d, 128);\ncudaMemcpy(d, h, 128, cudaMemcpyHostToDevice);\nkernel<<<1, 32>>>(d);";
    /// A pointer that belongs to nothing, or to something that cannot be written.
    InvalidPointer = "R0106", "invalid-pointer",
        "The address belongs to no memory of the program, or to memory that may only be read (constants, string literals). The pointer was probably never initialised, or computed wrongly.",
        bad: "char *s = (char *)\"abc\";\ns[0] = 'x';", good: "char s[] = \"abc\";\ns[0] = 'x';";
    /// A read of something nobody wrote, whose value matters.
    UninitializedRead = "R0107", "uninitialized-read",
        "The program never wrote these bytes. Shared memory is not initialised, `cudaMalloc` does not clear memory, and a local variable without an initial value has none. dslc reports a value that matters: in a branch or an address, or when it is stored or printed. It does not report a copy from one place to another. Write the memory first; for device memory use `cudaMemset` or `cudaMemcpy`.",
        bad: "__shared__ int s[64];\nif (t < 32) s[t] = x[t];\n__syncthreads();\nout[t] = s[t];", good: "__shared__ int s[64];\ns[t] = t < 32 ? x[t] : 0;\n__syncthreads();\nout[t] = s[t];";
    /// An inner subscript beyond its dimension.
    RowOverflow = "R0108", "row-overflow",
        "The last subscript is beyond its dimension, but the element is still in the array: it belongs to another row. C leaves that undefined, and the hardware accesses the other row's element. A tool that only knows addresses cannot see it. To use one index for the whole array, take a pointer to its first element.",
        bad: "__shared__ int s[8][8];\ns[t / 8][t % 8] = x[t];\n__syncthreads();\nout[t] = t < 8 ? s[0][t + 1] : 0;", good: "__shared__ int s[8][8];\ns[t / 8][t % 8] = x[t];\n__syncthreads();\nint *all = &s[0][0];\nout[t] = t < 8 ? all[t + 1] : 0;";
    /// Memory that nobody gave back.
    MemoryLeak = "R0109", "memory-leak",
        "The program ended without freeing memory of `cudaMalloc`, `cudaMallocManaged`, `cudaMallocAsync` or `cudaMallocHost`. The driver frees it when the process ends, so nothing is wrong yet. A program that runs on, or does this repeatedly, runs out of device memory. Use `cudaFree`, `cudaFreeHost` for pinned memory, or `cudaDeviceReset` for everything. To hide this finding, leave `leak` out of `--checks`.",
        bad: "int f(int n) {\n  int *d;\n  cudaMalloc(&d, n * sizeof(int));\n  return cudaMemset(d, 0, n * sizeof(int));\n}", good: "int f(int n) {\n  int *d;\n  cudaMalloc(&d, n * sizeof(int));\n  cudaMemset(d, 0, n * sizeof(int));\n  return cudaFree(d);\n}";
    /// Nobody can advance.
    Deadlock = "R0201", "deadlock",
        "Every running thread waits for something that no thread will do: a barrier that others never reach, or a flag or lock that nothing will change. Or a thread is in a loop whose condition depends on nothing that still changes. A common case: a thread returns with a lock that others wait for. Before sm_70 the lanes of a warp run in lockstep: if they spin on a lock that another lane of the warp holds, the holder waits for them at the end of the loop. Do the work of the holder inside the loop there.",
        bad: "while (atomicCAS(lock, 0, 1) != 0);\n__threadfence();\nif (*count >= 8) return;\n*count += 1;\n__threadfence();\natomicExch(lock, 0);", good: "while (atomicCAS(lock, 0, 1) != 0);\n__threadfence();\nif (*count < 8) *count += 1;\n__threadfence();\natomicExch(lock, 0);";
    /// The limit on instructions was reached.
    InstructionLimit = "R0202", "instruction-limit",
        "The run executed more instructions than its limit allows, most likely in a loop that never ends. `--limit` counts the host program's instructions and the warp instructions of all launches together; without it a launch and the host program may take 20 billion each, and all together 1000 billion. If the program is only long, raise the limit.",
        bad: "for (unsigned i = 8; i >= 0; i--) s += x[i];", good: "for (int i = 8; i >= 0; i--) s += x[i];";
    /// A barrier that not all threads of a warp reach.
    DivergentBarrier = "R0203", "divergent-barrier",
        "All threads of a block must reach `__syncthreads()`. Here some lanes of a warp wait at the barrier and others run on elsewhere. On old GPUs the barrier then counts wrongly; on new ones the kernel hangs or the result is undefined: on an H200, lanes of one warp at two `__syncthreads()` opened both too early, or hung. Move the barrier out of the branch; threads that have returned do not count. Since sm_70 PTX has a barrier for threads that come apart, `barrier.sync`.",
        bad: "if (t < 16) { s[t] = t; __syncthreads(); }", good: "if (t < 16) s[t] = t;\n__syncthreads();";
    /// A mask that does not name exactly the lanes that are there.
    InvalidMask = "R0204", "invalid-mask",
        "The mask of a `…_sync` function must include the thread that calls it, and each thread in the mask must call the same function with the same mask (threads that have returned do not count). Otherwise CUDA's result is undefined, or the warp waits for threads that never arrive. Since sm_70 lanes wait there for the others that their mask names; before, they have to come together.",
        bad: "if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);", good: "if (t < 16) v += __shfl_down_sync(0x0000ffff, v, 8, 16);";
    /// Two threads, one byte, no order.
    DataRace = "R0205", "data-race",
        "Two threads access the same byte, at least one of them writes, and nothing orders the accesses: no barrier, no `__syncwarp`, no fence with an atomic or a flag. Which one comes first differs between runs and devices. Within a block put `__syncthreads()` between the two accesses; across blocks use atomics, or end the kernel and launch another one. `volatile` orders nothing: data that a flag or a lock guards needs a `__threadfence()` before the flag is set or the lock released, and one after the lock is taken.",
        bad: "s[t] = x[t];\nout[t] = s[63 - t];", good: "s[t] = x[t];\n__syncthreads();\nout[t] = s[63 - t];";
    /// Several threads write the same value to one byte.
    SameValueRace = "R0206", "same-value-race",
        "Several threads write the same value to the same place without order. The result is the same, whichever comes last, so this is a note and not an error; formally it is still a race. Let one thread write to make the intent clear.",
        bad: "if (x[t] > limit) *found = 1;", good: "if (x[t] > limit) atomicExch(found, 1);";
    /// Lanes of one warp ordered by lockstep alone.
    WarpSynchronousCode = "R0207", "warp-synchronous",
        "Lanes of one warp exchange data, and only the order of the instructions separates the accesses. Up to sm_60 a warp ran in lockstep, and with `volatile` (so that values are not kept in registers) such code was legal. Since sm_70 every lane has its own program counter: the lanes of a warp may be at different instructions, and the exchange is a race. Put `__syncwarp()` between the accesses, or use shuffles.",
        bad: "if (t < 16) { s[t] += s[t + 16]; s[t] += s[t + 8]; }", good: "if (t < 32) {\n  for (int k = 16; k > 0; k /= 2) {\n    int v = t < k ? s[t + k] : 0;\n    __syncwarp();\n    s[t] += v;\n    __syncwarp();\n  }\n}";
    /// A shuffle from a lane that is not there.
    AbsentLane = "R0208", "absent-lane",
        "A shuffle reads the value of a lane that does not take part: a lane that has ended, waits elsewhere, is not in the mask, or does not exist because the block is smaller than a warp. The value is undefined. That is harmless if nothing uses it, but here it decides a branch, is part of an address, or is stored or printed.",
        bad: "int v = x[t];\nif (t < 16) v = __shfl_down_sync(0x0000ffff, v, 8);\nout[t] = v;", good: "int v = x[t];\nif (t < 16) v = __shfl_down_sync(0x0000ffff, v, 8, 16);\nout[t] = v;";
    /// Another result in another order of blocks.
    ScheduleDependent = "R0209", "schedule-dependent",
        "The launch leaves other values in memory if its last blocks and warps run first. What an atomic returned, or a flag showed, depends on which came first, and nothing promises an order. That is fine for a list whose order does not matter. Otherwise (the first block to arrive does something special) let an index decide, or wait for the other threads.",
        bad: "if (atomicAdd(count, 1) == 0) out[0] = t;", good: "if (t == 0) out[0] = t;";
    /// Memory that is promised to be only read is written.
    ReadOnlyWritten = "R0210", "read-only-written",
        "`__ldg`, and a parameter that is a pointer to `const` with `__restrict__`, promise that nothing writes that memory while the kernel runs, because the load may go through a cache that does not see stores. This launch writes it, so the load may return an old value.",
        bad: "out[t] = __ldg(&x[t]);\nx[t] = 0;", good: "out[t] = x[t];\nx[t] = 0;";
    /// The run was ended from outside.
    Stopped = "R0211", "stopped",
        "Something outside stopped the program while it ran: `--timeout`, Ctrl-C or the signal SIGTERM. The message says where the program was, and the report covers what ran before. If it should have ended earlier, look for a loop there that ends too late.",
        bad: "", good: "";
    /// A kernel that waits for the host.
    AwaitsHost = "R0212", "awaits-host",
        "A thread waits in a loop for memory that the host can write while the kernel runs: pinned memory, or managed memory. That is legal, and the simulator runs such a launch when the host has gone on. Here the host waits for the kernel before it has changed that memory, so that neither goes on. With compiled host code (`--host native`, `dslc nvcc`) the host goes on only when a launch has ended, so this is said of each such kernel.",
        bad: "wait<<<1, 1>>>(flag);\ncudaDeviceSynchronize();\n*flag = 1;", good: "wait<<<1, 1>>>(flag);\n*flag = 1;\ncudaDeviceSynchronize();";
    /// A launch that CUDA would refuse.
    InvalidLaunch = "R0301", "invalid-launch",
        "The launch asks for more than the device allows, so the kernel does not run, and `cudaGetLastError()` returns an error that many programs never check. A block has at most 1024 threads and, unless `cudaFuncSetAttribute` raises it, 48 KB of shared memory.",
        bad: "kernel<<<1, 2048>>>(d);", good: "kernel<<<2, 1024>>>(d);";
    /// A failed `assert`, or `__trap()`.
    AssertionFailed = "R0401", "assertion-failed",
        "An `assert` of the program failed, or the program ended itself with `__trap()`.",
        bad: "assert(threadIdx.x < 16);", good: "";
    /// An integer division by zero.
    DivisionByZero = "R0402", "division-by-zero",
        "The program divides an integer by zero. That ends a host program. On the device the result is all ones (for `%`, the dividend), and the kernel continues with it.",
        bad: "int n = 0;\nprintf(\"%d\\n\", 1 / n);", good: "";
    /// An instruction that dslc cannot run.
    UnsupportedInstruction = "R0406", "unsupported-instruction",
        "A kernel that was read from PTX executes an instruction that dslc cannot run yet; the message names it. Lanes that do not reach it are not affected, so the rest of a kernel can be examined with arguments that avoid it.",
        bad: "", good: "";
    /// A shift by too many bits.
    ShiftOutOfRange = "R0404", "shift-out-of-range",
        "The shift count is negative, or not less than the width of the value. C leaves the result undefined; a GPU gives 0 (or the sign), a CPU something else.",
        bad: "int mask = (1 << n) - 1; // n is 32", good: "unsigned mask = n < 32 ? (1u << n) - 1 : ~0u;";
    /// Signed arithmetic overflows.
    SignedOverflow = "R0405", "signed-overflow",
        "A sum, difference or product of signed integers has more bits than its type. C leaves the result undefined: a compiler may assume that it does not happen, so that a loop ends later or another branch is taken than with a result that wraps. The simulator's result wraps. A result whose bits are mixed further, as in a hash, is a note. Compute in a wider type, or in an unsigned one if it is to wrap.",
        bad: "x[t] = n * 100000000; // n is 64", good: "x[t] = (int)(n * 100000000u);";
    /// Too many nested calls.
    StackOverflow = "R0403", "stack-overflow",
        "Calls nest too deeply, or local arrays are too large: the host's stack has 8 MB, the calls of a kernel's thread have 64 KB, or more if the program sets `cudaLimitStackSize`. Recursion needs a case in which it ends. Use `malloc` for large arrays.",
        bad: "int f(int n) { return f(n + 1); }", good: "";
}
