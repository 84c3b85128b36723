//! Programs and their preprocessed tokens, as text.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::syntax::token::{Keyword, TokenKind};
use ir::diagnostic::render;
use ir::source::{Included, NoFiles};

mod examples;
mod spans;

/// Files by name.
struct Files(HashMap<&'static str, &'static str>);

impl Loader for Files {
    fn load(&self, name: &str, _from: &str) -> Option<Result<Included, String>> {
        self.0.get(name).map(|text| {
            Ok(Included {
                full_name: name.to_string(),
                text: text.to_string(),
            })
        })
    }
}

fn run_with(text: &str, options: &Options, loader: &dyn Loader) -> (SourceMap, Tokenized) {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("t.k", text));
    let tokenized = tokenize(&mut map, file, options, loader);
    (map, tokenized)
}

fn run(text: &str) -> (SourceMap, Tokenized) {
    run_with(text, &Options::default(), &NoFiles)
}

/// A token as it would be written.
fn spell(token: &Token) -> String {
    match &token.kind {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => name.to_string(),
        TokenKind::Keyword(keyword) => keyword.text().to_string(),
        TokenKind::Int { value, .. } => value.to_string(),
        TokenKind::Float { value, single } => {
            format!("{value:?}{}", if *single { "f" } else { "" })
        }
        TokenKind::Char(value) => format!("'{value}'"),
        TokenKind::Str(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        TokenKind::Punct(punct) => punct.text().to_string(),
    }
}

fn spelled(tokens: &[Token]) -> String {
    tokens.iter().map(spell).collect::<Vec<_>>().join(" ")
}

/// The tokens of a program without errors.
fn clean(text: &str) -> String {
    let (map, tokenized) = run(text);
    assert!(
        tokenized.diagnostics.is_empty(),
        "{}",
        render::render(&tokenized.diagnostics, &map, false, None)
    );
    spelled(&tokenized.tokens)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(clean(text), expected);
}

/// The short form of every message.
fn messages(text: &str) -> Vec<String> {
    let (map, tokenized) = run(text);
    tokenized
        .diagnostics
        .iter()
        .map(|diagnostic| render::short(diagnostic, &map))
        .collect()
}

#[track_caller]
fn check_messages(text: &str, expected: &[&str]) {
    assert_eq!(messages(text), expected);
}

#[test]
fn objects_and_functions() {
    check(
        "#define N 32\n#define SQ(x) ((x)*(x))\nN SQ(a+1) SQ",
        "32 ( ( a + 1 ) * ( a + 1 ) ) SQ",
    );
    check("#define F() 7\nF() F ( )", "7 7");
    check("#define EMPTY\nEMPTY a EMPTY b EMPTY", "a b");
    check(
        "#define F(x, y) x - y\nF(\n (a,\n b),\nc) (F",
        "( a , b ) - c ( F",
    );
}

#[test]
fn standard_rescanning_example() {
    // C11 6.10.3.5, example 3.
    let text = r#"
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
(f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };
"#;
    insta::assert_snapshot!(clean(text).replace(" ; ", " ;\n"), @r#"
    f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ;
    f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ;
    int i [ ] = { 1 , 23 , 4 , 5 , } ;
    char c [ 2 ] [ 6 ] = { "hello" , "" } ;
    "#);
}

#[test]
fn standard_stringify_and_paste_example() {
    // C11 6.10.3.5, example 4.
    let text = r##"
#define str(s) # s
#define xstr(s) str(s)
#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", \
    x ## s, x ## t)
#define INCFILE(n) vers ## n
#define glue(a, b) a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW "hello"
#define LOW LOW ", world"
debug(1, 2);
fputs(str(strncmp("abc\0d", "abc", '\4') // this goes away
    == 0) str(: @\n), s);
xstr(INCFILE(2).h)
glue(HIGH, LOW);
xglue(HIGH, LOW)
"##;
    let (map, tokenized) = run(text);
    let short: Vec<_> = tokenized
        .diagnostics
        .iter()
        .map(|diagnostic| render::short(diagnostic, &map))
        .collect();
    insta::assert_snapshot!(format!("{}\n{}", spelled(&tokenized.tokens).replace(" ; ", " ;\n"), short.join("\n")), @r#"
    printf ( "x1= %d, x2= %s" , x1 , x2 ) ;
    fputs ( "strncmp(\"abc\\0d\", \"abc\", '\\4') == 0: @ n" , s ) ;
    "vers2.hhello" ;
    "hello, world"
    t.k:13:18: error[E0101]: these characters mean nothing here
    "#);
}

#[test]
fn standard_placemarkers_and_variadics() {
    // C11 6.10.3.3 and 6.10.3.5, examples 5 and 7.
    check(
        "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n#define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);",
        "char p [ ] = \"x ## y\" ;",
    );
    check(
        "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };",
        "int j [ ] = { 123 , 45 , 67 , 89 , 10 , 11 , 12 , } ;",
    );
    check(
        "#define debug(...) fprintf(stderr, __VA_ARGS__)\n#define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))\ndebug(\"Flag\"); debug(\"X = %d\\n\", x); report(x>y, \"x is %d but y is %d\", x, y);",
        "fprintf ( stderr , \"Flag\" ) ; fprintf ( stderr , \"X = %d\\n\" , x ) ; ( ( x > y ) ? puts ( \"x>y\" ) : printf ( \"x is %d but y is %d\" , x , y ) ) ;",
    );
}

#[test]
fn gnu_comma_and_va_opt() {
    check(
        "#define LOG(f, ...) printf(f, ##__VA_ARGS__)\nLOG(a) LOG(a, b, c)",
        "printf ( a ) printf ( a , b , c )",
    );
    check(
        "#define LOG(f, rest...) printf(f, ##rest)\nLOG(a) LOG(a, b)",
        "printf ( a ) printf ( a , b )",
    );
    check(
        "#define F(a, ...) f(a __VA_OPT__(, x ## a) __VA_ARGS__)\nF(1) F(2, 3)",
        "f ( 1 ) f ( 2 , x2 3 )",
    );
}

#[test]
fn recursion_ends() {
    check("#define a b\n#define b a\na b", "a b");
    check("#define f(x) x f\nf(1)(2)", "1 f ( 2 )");
    // C leaves this unspecified; gcc and nvcc do it like this.
    check("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2 * 9 * g");
    check(
        "#define NIL(xxx) xxx\n#define G_0(arg) NIL(G_1)(arg)\n#define G_1(arg) NIL(arg)\nG_0(42)",
        "42",
    );
    check("#define foo() bar\n#define bar() foo\nfoo()()()", "bar");
}

#[test]
fn nested_variadics() {
    let text = "#define EVAL(...) __VA_ARGS__\n#define DEFER(m) m EMPTY()\n#define EMPTY()\n#define MAP2(m, x, ...) m(x) __VA_ARGS__\n#define INC(x) x+1\nEVAL(MAP2(INC, 1, EVAL(MAP2(INC, 2, 3)))) DEFER(INC)(5) EVAL(DEFER(INC)(5))";
    check(text, "1 + 1 2 + 1 3 INC ( 5 ) 5 + 1");
}

#[test]
fn exponential_macros_are_stopped() {
    let mut text = String::from("#define A0 x x\n");
    for i in 1..40 {
        text.push_str(&format!("#define A{i} A{} A{}\n", i - 1, i - 1));
    }
    text.push_str("A39;");
    let (map, tokenized) = run(&text);
    assert!(tokenized.tokens.is_empty());
    let short: Vec<_> = tokenized
        .diagnostics
        .iter()
        .map(|diagnostic| render::short(diagnostic, &map))
        .collect();
    assert_eq!(short.len(), 1, "{short:?}");
    assert!(
        short[0].starts_with("t.k:41:1: error[E0211]: macro `A"),
        "{short:?}"
    );
}

#[test]
fn deep_arguments_are_stopped() {
    let text = format!(
        "#define F(x) x\n{}1{}",
        "F(".repeat(20_000),
        ")".repeat(20_000)
    );
    assert!(messages(&text)[0].contains("nested too deeply"));
    let text = format!("#define F(x) x\n{}1{}", "F(".repeat(100), ")".repeat(100));
    check(&text, "1");
}

#[test]
fn conditions() {
    for (condition, expected) in [
        ("1 + 2 * 3 == 7", true),
        ("-1 > 0u", true),
        ("-1 < 0", true),
        ("(2 || 1 / 0) && !(0 && 1 % 0)", true),
        ("defined X && defined(Y) && !defined Z", true),
        ("X == 5 ? 1 : 1 / 0", true),
        ("'a' == 97 && '\\n' == 10", true),
        ("UNKNOWN || false", false),
        (
            "0x7fffffffffffffff + 0 > 0 && ~0u == 0xffffffffffffffff",
            true,
        ),
        ("1 << 3 >> 1 == 4 && (7 & 3 ^ 1 | 8) == 10", true),
        ("SAME(3) == 3", true),
        ("HAS_X", true),
        ("__CUDA_ARCH__ >= 700 && __CUDACC__", true),
    ] {
        let text = format!(
            "#define X 5\n#define Y\n#define SAME(x) x\n#define HAS_X defined(X)\n#if {condition}\nyes\n#else\nno\n#endif\n"
        );
        assert_eq!(
            clean(&text),
            if expected { "yes" } else { "no" },
            "{condition}"
        );
    }
}

#[test]
fn branches() {
    check(
        "#if 0\na\n#elif 1\nb\n#elif 1/0\nc\n#else\nd\n#endif\ne",
        "b e",
    );
    check("#ifdef A\na\n#elifndef A\nb\n#endif", "b");
    check(
        "#ifndef A\n#if 0\n#else\nx\n#endif\n#else\n#if 1\ny\n#endif\n#endif",
        "x",
    );
    check("#if 0\n don't \"care ； /* ok */ `\n#bogus\n#endif\nx", "x");
    check("#define F(x) x\nF(\n#if 1\na\n#else\nb\n#endif\n)", "a");
    check(
        "void f() {\n#define TILE 8\n  int a = TILE;\n#undef TILE\n}",
        "void f ( ) { int a = 8 ; }",
    );
}

#[test]
fn wrong_directives() {
    check_messages(
        "#if 1\na",
        &["t.k:1:1: error[E0205]: this conditional is never closed"],
    );
    check_messages("#endif", &["t.k:1:2: error[E0205]: `#endif` without `#if`"]);
    check_messages(
        "#if 0\n#else\n#else\n#endif",
        &["t.k:3:2: error[E0205]: `#else` after `#else`"],
    );
    check_messages(
        "#if 1 / 0\n#endif",
        &["t.k:1:7: error[E0206]: this condition divides by zero"],
    );
    check_messages(
        "#if\n#endif",
        &["t.k:1:4: error[E0206]: a condition is missing here"],
    );
    check_messages(
        "#if (1\n#endif",
        &["t.k:1:7: error[E0206]: expected `)` in this condition"],
    );
    check_messages(
        "#if 1.5\n#endif",
        &["t.k:1:5: error[E0206]: a condition cannot contain a floating number"],
    );
    check_messages(
        "#defin X",
        &["t.k:1:2: error[E0201]: `#defin` is not a directive"],
    );
    check_messages(
        "#define F(x,x)",
        &["t.k:1:13: error[E0202]: parameter `x` is there twice"],
    );
    check_messages(
        "#define F(x) #y",
        &["t.k:1:14: error[E0202]: `#` has to stand before a parameter of the macro"],
    );
    check_messages(
        "#define F(x) ## x",
        &["t.k:1:14: error[E0202]: `##` needs a token on both sides"],
    );
    check_messages(
        "#error don't do ；this",
        &["t.k:1:1: error[E0207]: #error: don't do ；this"],
    );
    check_messages(
        "#warning slow",
        &["t.k:1:1: warning[W0202]: #warning: slow"],
    );
    check_messages(
        "#ifdef A && B\n#endif",
        &["t.k:1:10: warning[W0203]: `#ifdef` ends before this"],
    );
    check_messages(
        "#define A 1\n#define A 1\n#define A 2",
        &["t.k:3:9: warning[W0201]: macro `A` is defined again with another meaning"],
    );
    check_messages("#define M_PI 3\n#define NULL 0\nM_PI", &[]);
    let deep = format!("#if {}1\n#endif", "(".repeat(20_000));
    check_messages(
        &deep,
        &["t.k:1:205: error[E0206]: this condition is nested too deeply"],
    );
}

#[test]
fn wrong_uses() {
    check_messages(
        "#define F(a,b) a\nF(1)",
        &["t.k:2:1: error[E0208]: macro `F` takes 2 arguments and gets 1"],
    );
    check_messages(
        "#define F(a) a\nF(1, 2)",
        &["t.k:2:1: error[E0208]: macro `F` takes 1 argument and gets 2"],
    );
    check_messages(
        "#define F(a) a\nx F(1",
        &["t.k:2:3: error[E0209]: the arguments of macro `F` never end"],
    );
    check_messages(
        "#define F(a) . ## a\nF(x)",
        &["t.k:2:1: error[E0210]: `##` cannot join `.` and `x`"],
    );
}

#[test]
fn included_files() {
    let files = Files(HashMap::from([
        ("a.h", "#pragma once\n#include \"b.h\"\nint a;"),
        ("b.h", "#ifndef B\n#define B\nint b;\n#endif"),
        ("again.h", "#include \"again.h\"\n#include \"again.h\""),
        ("cuda.h", "own"),
    ]));
    let short = |text: &str| {
        let (map, tokenized) = run_with(text, &Options::default(), &files);
        let messages: Vec<_> = tokenized
            .diagnostics
            .iter()
            .map(|diagnostic| render::short(diagnostic, &map))
            .collect();
        (spelled(&tokenized.tokens), messages)
    };
    let none = Vec::<String>::new();
    assert_eq!(
        short("#include \"a.h\"\n#include \"b.h\"\n#include \"a.h\"\nend"),
        ("int b ; int a ; end".into(), none.clone())
    );
    assert_eq!(
        short("#include <cuda.h>\n#include \"cuda.h\"\n#include \"device_launch_parameters.h\"\nx"),
        ("own x".into(), none.clone())
    );
    assert_eq!(
        short("#define H \"b.h\"\n#include H\nx"),
        ("int b ; x".into(), none)
    );
    assert_eq!(
        short("\n#include \"no.h\"\nx").1,
        ["t.k:2:10: error[E0203]: there is no file `no.h`"]
    );
    assert_eq!(
        short("#include \"again.h\"").1,
        ["again.h:1:10: error[E0204]: `again.h` is included again and again"]
    );
}

#[test]
fn pragmas() {
    let text = "#define N 4\n#pragma unroll\nfor\n#pragma unroll 8\nfor\n#pragma unroll (N * 2)\nfor\n#pragma unroll K\nfor\n#pragma nv_diag ignore\n_Pragma(\"unroll 3\") for _Pragma(\"once\") x";
    check(
        text,
        "_Pragma for _Pragma 8 for _Pragma 8 for _Pragma for _Pragma 3 for x",
    );
    let (_, tokenized) = run("#pragma unroll 8");
    assert_eq!(
        tokenized.tokens[0].kind,
        TokenKind::Keyword(Keyword::Pragma)
    );
    assert!(matches!(
        tokenized.tokens[1].kind,
        TokenKind::Int { value: 8, .. }
    ));
}

#[test]
fn options_define() {
    let options = Options {
        defines: vec![
            ("A".into(), None),
            ("B".into(), Some("x + 1".into())),
            ("F(y)".into(), Some("y y".into())),
        ],
        cuda_arch: 0,
    };
    let (_, tokenized) = run_with(
        "A B F(2)\n#ifdef __CUDA_ARCH__\nno\n#endif",
        &options,
        &NoFiles,
    );
    assert_eq!(spelled(&tokenized.tokens), "1 x + 1 2 2");
}

#[test]
fn predefined_values() {
    check(
        "__LINE__\n__LINE__ __FILE__ __COUNTER__ __COUNTER__",
        "1 2 \"t.k\" 0 1",
    );
    check(
        "NULL INT_MIN INFINITY NAN",
        "nullptr ( - 2147483647 - 1 ) __dslc_infinity __dslc_nan",
    );
    check(
        "FLT_MAX FLT_MIN DBL_MAX",
        &format!(
            "{:?}f {:?}f {:?}",
            f64::from(f32::MAX),
            f64::from(f32::MIN_POSITIVE),
            f64::MAX
        ),
    );
    check("#define HERE __LINE__\n\nHERE", "3");
    // A macro that is undefined before it is used.
    check(
        "#undef NULL\nNULL\n#ifdef NULL\na\n#else\nb\n#endif",
        "NULL b",
    );
}

#[test]
fn attributes() {
    check(
        "__attribute__((noinline)) int f __attribute__((aligned(8))) __extension__ x",
        "int f __align__ ( 8 ) x",
    );
}

#[test]
fn many_parentheses() {
    let text = format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000));
    assert_eq!(run(&text).1.tokens.len(), 40_001);
}

#[test]
fn torture_as_gcc_does_it() {
    let squeeze = |text: &str| text.split_whitespace().collect::<String>();
    let ours = clean(include_str!("tests/torture.c"));
    assert_eq!(
        squeeze(&ours),
        squeeze(include_str!("tests/torture.expected"))
    );
}

/// The fragments that proptest builds programs from.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("#define F(x, ...) x ## __VA_ARGS__ #x F(x)\n".to_string()),
        Just("#define A F(A, B) A##B\n".to_string()),
        Just("\n#define B F\n".to_string()),
        Just("\n#if A B\n".to_string()),
        Just("\n#elif F(1)\n".to_string()),
        Just("\n#else\n#endif\n".to_string()),
        Just("\n#include \"a.h\"\n".to_string()),
        Just("\n#pragma unroll F(2)\n".to_string()),
        Just("\n#undef ".to_string()),
        Just("“".to_string()),
        Just("；".to_string()),
        Just("\\\r\n".to_string()),
        Just("typedef struct { template < class ".to_string()),
        "[AFB(),\"'#\\\\/*\n; 0x1.pe+]{0,12}",
        "\\PC{0,4}",
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn never_panics(fragments in prop::collection::vec(fragment(), 0..24)) {
        let text = fragments.concat();
        let files = Files(HashMap::from([("a.h", "A B( F(\n#if 0\n#define F 1\n#else")]));
        let (map, tokenized) = run_with(&text, &Options::default(), &files);
        for token in &tokenized.tokens {
            prop_assert!(token.span.start <= token.span.end);
            prop_assert!(map.file(token.span.file).text.get(token.span.start as usize..token.span.end as usize).is_some());
        }
        render::render(&tokenized.diagnostics, &map, true, Some(80));
    }
}

#[test]
fn every_prefix_of_a_program() {
    let text = include_str!("tests/program.k");
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        let (map, tokenized) = run(&text[..end]);
        render::render(&tokenized.diagnostics, &map, false, None);
    }
}
