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
        "The text contains a character that means nothing in CUDA C outside comments and string literals.",
        bad: "int a = 1 ` 2;", good: "int a = 1 + 2;";
    /// Punctuation of another script in the place of the ASCII one.
    ConfusableCharacter = "E0102", "confusable-character",
        "Code copied from a web page, a document or a chat, or typed with a Chinese or Japanese input method switched on, often has full-width punctuation (；（），), curly quotes or special spaces where C knows only the ASCII ones. nvcc rejects them with a message about stray bytes. They are read here as the ASCII character they look like, so that everything else can still be checked. In comments and string literals any character is fine.",
        bad: "int a = 1；", good: "int a = 1;";
    /// `/*` without `*/`.
    UnterminatedComment = "E0103", "unterminated-comment",
        "A comment that begins with `/*` ends at the next `*/`; comments do not nest. Without an end it swallows the rest of the file.",
        bad: "int a; /* the index\nint b;", good: "int a; /* the index */\nint b;";
    /// A string or character literal that does not end on its line.
    UnterminatedLiteral = "E0104", "unterminated-literal",
        "A string or character literal ends at its closing quote, on the line where it began. A quote inside a string is written `\\\"`.",
        bad: "printf(\"sum %d\\n, sum);", good: "printf(\"sum %d\\n\", sum);";
    /// A number that is spelled wrong.
    BadNumber = "E0105", "bad-number",
        "A token that starts with a digit has to be a number: digits of its base, and a suffix that C knows (u, l, ll and their combinations for integers, f for floats). A float needs a point or an exponent: `1.0f`, not `1f`. A number that starts with `0` is octal.",
        bad: "float x = 1f;", good: "float x = 1.0f;";
    /// A number that no type can hold.
    NumberTooLarge = "E0106", "number-too-large",
        "An integer literal has at most 64 bits, and a floating literal has to be within the range of its type.",
        bad: "float x = 1e40f;", good: "double x = 1e40;";
    /// A character literal with no character or several.
    BadCharacter = "E0107", "bad-character",
        "A character literal holds one character of one byte. Text, and characters beyond ASCII, go in a string literal.",
        bad: "char c = 'ab';", good: "const char *c = \"ab\";";
    /// An escape with a value that is missing or does not fit.
    BadEscape = "E0108", "bad-escape",
        "A numeric escape in a literal needs digits, and its value has to fit in a char: `\\0` to `\\377`, `\\x00` to `\\xff`.",
        bad: "char c = '\\x123';", good: "char c = '\\x12';";
    /// `#` and a word that is no directive.
    UnknownDirective = "E0201", "unknown-directive",
        "A line that starts with `#` is for the preprocessor, which knows define, undef, include, if, ifdef, ifndef, elif, elifdef, elifndef, else, endif, error, warning, line and pragma.",
        bad: "#defin N 32", good: "#define N 32";
    /// A directive whose line does not have the form it needs.
    BadDirective = "E0202", "bad-directive",
        "The directive is known but its line is not as it has to be: a macro's name is missing, parameters are not names, `#` stands before something that is no parameter, `##` stands at an end.",
        bad: "#define SQUARE(x, x) ((x) * (x))", good: "#define SQUARE(x) ((x) * (x))";
    /// An included file that is not there.
    IncludeNotFound = "E0203", "include-not-found",
        "`#include \"name\"` reads a file of your own, looked for beside the file that includes it. System and CUDA headers are not needed: what they declare is built in, and including them is allowed and does nothing.",
        bad: "#include \"tilez.h\"", good: "#include \"tiles.h\"";
    /// Files that include each other without end.
    IncludeDepth = "E0204", "include-depth",
        "Files include each other so deeply that it is almost certainly a circle. Put `#pragma once` at the top of each included file.",
        bad: "// a.h\n#include \"a.h\"", good: "// a.h\n#pragma once";
    /// `#else` or `#endif` without `#if`, or the reverse.
    UnbalancedConditional = "E0205", "unbalanced-conditional",
        "Every `#if`, `#ifdef` and `#ifndef` needs its own `#endif` in the same file, and at most one `#else` between.",
        bad: "#ifdef FAST\nint a;", good: "#ifdef FAST\nint a;\n#endif";
    /// An `#if` whose condition has no value.
    BadCondition = "E0206", "bad-condition",
        "The condition of `#if` is an expression of integer constants, macros and `defined(NAME)`. Names that are no macros count as 0; variables, types, sizeof, casts and floats are not known to the preprocessor.",
        bad: "#if sizeof(int) == 4\n#endif", good: "#if TILE == 32\n#endif";
    /// `#error`.
    ErrorDirective = "E0207", "error-directive",
        "The program itself says with `#error` that it cannot be compiled this way.",
        bad: "#error define TILE first", good: "";
    /// A macro used with too few or too many arguments.
    MacroArguments = "E0208", "macro-arguments",
        "A macro with parameters needs as many arguments as it has parameters. A comma inside (…) does not separate arguments, but one inside {…}, […] or <…> does: put parentheses around such an argument.",
        bad: "#define MIN(a, b) ((a) < (b) ? (a) : (b))\nint x = MIN(1);", good: "#define MIN(a, b) ((a) < (b) ? (a) : (b))\nint x = MIN(1, 2);";
    /// A macro's arguments that do not end.
    UnterminatedMacroCall = "E0209", "unterminated-macro-call",
        "The arguments of a macro end at the parenthesis that closes the one after its name, and the file ended first.",
        bad: "#define SQUARE(x) ((x) * (x))\nint y = SQUARE((2);", good: "#define SQUARE(x) ((x) * (x))\nint y = SQUARE(2);";
    /// `##` of two things that do not make one token.
    BadPaste = "E0210", "bad-paste",
        "`##` joins the token before it and the token after it into one, as in `a ## 1`. The two together have to be a token: `.` and `x`, or `)` and `(`, are not.",
        bad: "#define FIELD(s, f) s ## . ## f\nint x = FIELD(p, x);", good: "#define FIELD(s, f) s.f\nint x = FIELD(p, x);";
    /// Macros that make more text than anyone wants.
    ExpansionTooLarge = "E0211", "expansion-too-large",
        "Macros that use each other several times each grow exponentially: thirty lines can make a billion tokens. Expansion stops at two million tokens, and at 128 macro calls inside one another's arguments.",
        bad: "", good: "";
    /// A `;` is missing.
    MissingSemicolon = "E0301", "missing-semicolon",
        "A statement or declaration has to end in `;`. The place shown is the end of the line before, where it belongs.",
        bad: "int t = threadIdx.x\ns[t] = 0;", good: "int t = threadIdx.x;\ns[t] = 0;";
    /// Anything else that does not parse.
    Syntax = "E0300", "syntax",
        "The text does not follow the grammar here.",
        bad: "if (x { }", good: "if (x) { }";
    /// Blanks between a backslash and the end of its line.
    BlankAfterBackslash = "W0101", "blank-after-backslash",
        "A backslash continues a line only if it is the line's last character. Blanks after it are probably not meant, and the line is continued as gcc and nvcc do.",
        bad: "", good: "";
    /// A backslash before a letter that makes no escape.
    UnknownEscape = "W0102", "unknown-escape",
        "A backslash before a letter that C knows no escape for means that letter alone. For a backslash write two; for a percent sign in a printf format write `%%`.",
        bad: "printf(\"50\\% done\");", good: "printf(\"50%% done\");";
    /// A macro defined again, differently.
    MacroRedefined = "W0201", "macro-redefined",
        "A macro is defined a second time with another meaning, and from here on has that. If this is meant, `#undef` it first.",
        bad: "#define TILE 16\n#define TILE 32", good: "#define TILE 16\n#undef TILE\n#define TILE 32";
    /// `#warning`.
    WarningDirective = "W0202", "warning-directive",
        "The program itself warns with `#warning`.",
        bad: "#warning slow path", good: "";
    /// Something after a directive that takes nothing more.
    ExtraTokens = "W0203", "extra-tokens",
        "The directive ends before these tokens, which are ignored. A name after `#endif` or `#else` belongs in a comment; `#ifdef` takes one name, and `#if defined(A) && defined(B)` several.",
        bad: "#ifdef A && B\n#endif", good: "#if defined(A) && defined(B)\n#endif";
}
