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
        "The text does not follow the grammar here. The message names the token that does not fit and what could stand in its place; the cause is there or just before it.",
        bad: "int a = b + ;", good: "int a = b + c;";
    /// A bracket is never closed.
    UnclosedBracket = "E0302", "unclosed-bracket",
        "Every `(`, `[`, `{` and `<<<` needs its closing partner. The message shows where the closing bracket was missed and which bracket it belongs to. dslc goes on as if it stood there.",
        bad: "s[(t + 1] = 0;", good: "s[(t + 1)] = 0;";
    /// A bracket closes nothing.
    ExtraBracket = "E0303", "extra-bracket",
        "There is a closing bracket without an opening one. dslc goes on as if it were not there.",
        bad: "if (t < 64) ] s[t] = 0;", good: "if (t < 64) s[t] = 0;";
    /// One kind of bracket is closed by another.
    MismatchedBracket = "E0304", "mismatched-bracket",
        "A bracket has to be closed by its own kind: `(` by `)`, `[` by `]`, `{` by `}`.",
        bad: "s[t) = 0;", good: "s[t] = 0;";
    /// A launch has the wrong angle brackets.
    LaunchBrackets = "E0305", "launch-brackets",
        "A kernel is launched with three angle brackets on each side: `kernel<<<grid, block>>>(arguments)`. Two of them are shift operators.",
        bad: "scale<<4, 128>>(d, n);", good: "scale<<<4, 128>>>(d, n);";
    /// An `else` belongs to no `if`.
    ElseWithoutIf = "E0306", "else-without-if",
        "An `else` follows the one statement of its `if`. A second statement without braces, or a `;` after the condition or the closing brace, ends the `if` before the `else` comes.",
        bad: "if (t < n) a = 1; b = 2; else c = 3;", good: "if (t < n) { a = 1; b = 2; } else c = 3;";
    /// The words of a type do not go together.
    TypeWords = "E0307", "type-words",
        "A declaration has one type. Its words may come in any order (`long unsigned int`), but they have to make one type together; two types in a row mostly mean that a `;` or a `,` is missing.",
        bad: "unsigned float x;", good: "float x;";
    /// A reserved word is used as a name.
    ReservedWord = "E0308", "reserved-word",
        "Words of C, C++ and CUDA cannot be names, also those that the program does not use otherwise, such as `new`, `this` or `register`.",
        bad: "int new = 0;", good: "int fresh = 0;";
    /// Too many brackets or operators inside each other.
    NestedTooDeeply = "E0309", "nested-too-deeply",
        "At most 200 brackets and statements may be open inside each other, and one expression may have at most 1000 operators. Code written by people stays far below; a macro that expands into itself, or generated code, may not.",
        bad: "", good: "";
    /// The header of a `for` is not three parts.
    ForHeader = "E0310", "for-header",
        "A `for` has a start, a condition and a step, with two `;` between them. Each may be empty, the `;` may not be missing.",
        bad: "for (int i = 0, i < n, i++) s[i] = 0;", good: "for (int i = 0; i < n; i++) s[i] = 0;";
    /// A `do` has no `while`.
    DoWithoutWhile = "E0311", "do-without-while",
        "`do` begins a loop whose condition stands after the body: `do { … } while (condition);`. After `while (condition)` or `for (…)` there is no `do`.",
        bad: "while (i < n) do { i++; }", good: "while (i < n) { i++; }";
    /// A function has neither a body nor a `;`.
    MissingBody = "E0312", "missing-body",
        "After its parameters a function has a body in `{ }`, or a `;` if it is only announced and defined elsewhere.",
        bad: "__global__ void fill(int *d)\n__global__ void use(int *d) { }", good: "__global__ void fill(int *d) { }\n__global__ void use(int *d) { }";
    /// A declaration has no type.
    MissingType = "E0313", "missing-type",
        "Every declaration names a type; C no longer assumes `int`. A kernel's type is `void`.",
        bad: "__global__ fill(int *d) { }", good: "__global__ void fill(int *d) { }";
    /// A memory space stands on a parameter.
    SpaceOnParameter = "E0314", "space-on-parameter",
        "`__shared__`, `__constant__` and `__device__` say where a variable lives. A parameter lives with its thread; what it points to is known from the argument.",
        bad: "__device__ int sum(__shared__ int *s);", good: "__device__ int sum(int *s);";
    /// A statement stands at file scope.
    StatementOutside = "E0315", "statement-outside",
        "At file scope there are declarations and functions; statements run inside functions. Often a `}` too many has ended the function before.",
        bad: "void f() { int a = 1; }\na = 2; }", good: "void f() { int a = 1;\na = 2; }";
    /// Syntax of C++ or C that dslc reads but does not support.
    UnsupportedSyntax = "E0320", "unsupported-syntax",
        "nvcc accepts this, dslc does not (yet). It is reported where it stands and never given another meaning.",
        bad: "struct Flags { unsigned a : 3; };", good: "struct Flags { unsigned a; };";
}
