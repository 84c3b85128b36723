//! The usual arithmetic conversions, compared with C's rules by a table, and the values of constants.

use super::passes;
use crate::sema::typed::FunctionId;
use crate::sema::{
    ty::Ty,
    typed::{Init, StmtKind, ValueKind},
};

/// The type of an expression over variables `c uc s us i u l ul q uq f d b` of the obvious types.
fn type_of(expr: &str) -> Option<Ty> {
    let program = passes(&format!(
        "void t(bool b, char c, unsigned char uc, short s, unsigned short us, int i, unsigned u, long l, unsigned long ul,
                long long q, unsigned long long uq, float f, double d) {{ auto result = {expr}; result = result; }}"
    ));
    program.functions[FunctionId(0)]
        .vars
        .last()
        .map(|var| var.ty.ty.clone())
}

#[test]
fn operands_meet_in_cs_common_type() {
    // From the C++ standard, [expr.arith.conv] and [conv.prom]; LP64.
    let table = [
        ("c + c", Ty::Int),
        ("uc + uc", Ty::Int),
        ("us * us", Ty::Int),
        ("b + b", Ty::Int),
        ("'a'", Ty::Char),
        ("+c", Ty::Int),
        ("-us", Ty::Int),
        ("~uc", Ty::Int),
        ("i + u", Ty::UInt),
        ("c + u", Ty::UInt),
        ("u + l", Ty::Long),
        ("u * q", Ty::LongLong),
        ("l + ul", Ty::ULong),
        ("ul + q", Ty::ULongLong),
        ("l + q", Ty::LongLong),
        ("l + uq", Ty::ULongLong),
        ("i + f", Ty::Float),
        ("l + f", Ty::Float),
        ("f + d", Ty::Double),
        ("f * 1.0", Ty::Double),
        ("f * 1.0f", Ty::Float),
        ("u << l", Ty::UInt),
        ("c << l", Ty::Int),
        ("l >> c", Ty::Long),
        ("c < u", Ty::Bool),
        ("!d", Ty::Bool),
        ("i && d", Ty::Bool),
        ("b ? c : us", Ty::Int),
        ("b ? i : d", Ty::Double),
        ("b ? c : c", Ty::Char),
        ("(i, f)", Ty::Float),
        ("sizeof(i)", Ty::ULong),
        ("&i - &i", Ty::Long),
        ("c += d", Ty::Char),
        ("us++", Ty::UShort),
        ("2147483647", Ty::Int),
        ("2147483648", Ty::Long),
        ("0x80000000", Ty::UInt),
        ("0xffffffffffffffff", Ty::ULong),
        ("1u", Ty::UInt),
        ("1ll", Ty::LongLong),
        ("min(i, u)", Ty::UInt),
        ("max(f, f)", Ty::Float),
        ("fmax(f, d)", Ty::Double),
        ("sqrt(f)", Ty::Float),
        ("sqrt(i)", Ty::Double),
        ("abs(c)", Ty::Int),
        ("abs(f)", Ty::Float),
        ("pow(f, 2)", Ty::Double),
    ];
    for (expr, ty) in table {
        assert_eq!(type_of(expr), Some(ty), "{expr}");
    }
}

#[test]
fn constant_variables_have_their_values() {
    let table: [(&str, &str, u64); 10] = [
        ("int", "5 / 2 * 2", 4),
        ("int", "-7 / 2", (-3i64) as u64),
        ("unsigned", "-1", 0xffff_ffff),
        ("char", "200", (-56i64) as u64),
        ("int", "sizeof(float4) + sizeof(\"abc\")", 20),
        ("int", "1 ? 2 : 1 / 0", 2),
        ("bool", "0.5", 1),
        ("int", "3.99", 3),
        ("long", "1l << 40", 1 << 40),
        ("int", "'a' + 1", 98),
    ];
    for (ty, expr, bits) in table {
        let checked = super::check(&format!("const {ty} x = {expr}; {ty} f() {{ return x; }}"));
        let program = checked.program.unwrap_or_default();
        let body = program.functions[FunctionId(0)]
            .body
            .as_deref()
            .unwrap_or_default();
        let StmtKind::Return(Some(value)) = &body[0].kind else {
            panic!("{expr}")
        };
        assert_eq!(value.kind, ValueKind::Int(bits), "{expr}");
    }
}

#[test]
fn initialiser_lists_follow_cs_brace_elision() {
    let paths = |text: &str| -> String {
        let program = passes(text);
        let body = program.functions[FunctionId(0)]
            .body
            .as_deref()
            .unwrap_or_default();
        let Some(StmtKind::Declare(_, Some(Init::Parts { parts, .. }))) =
            body.last().map(|stmt| &stmt.kind)
        else {
            panic!("{text}")
        };
        let step = |step: &crate::sema::typed::Step| match step {
            crate::sema::typed::Step::Field(index) => format!(".{index}"),
            crate::sema::typed::Step::Element(index) => format!("[{index}]"),
        };
        let part = |(path, value): &(Vec<_>, crate::sema::typed::Value)| {
            let value = match value.kind {
                ValueKind::Int(bits) => bits.to_string(),
                _ => "?".to_string(),
            };
            format!("{}={value}", path.iter().map(step).collect::<String>())
        };
        parts.iter().map(part).collect::<Vec<_>>().join(" ")
    };
    let struct_ =
        "struct p { int x, y; }; struct q { struct p a; int b[2]; union { int u; float f; }; };";
    let table = [
        ("int a[2][2] = { 1, 2, 3 };", "[0][0]=1 [0][1]=2 [1][0]=3"),
        (
            "int a[2][2] = { { 1 }, { 2, 3 } };",
            "[0][0]=1 [1][0]=2 [1][1]=3",
        ),
        ("int a[] = { 1, [4] = 5, 6 };", "[0]=1 [4]=5 [5]=6"),
        (
            "struct q v = { 1, 2, 3, 4, 5 };",
            ".0.0=1 .0.1=2 .1[0]=3 .1[1]=4 .2.0=5",
        ),
        (
            "struct q v = { { 1, 2 }, { 3 }, { 4 } };",
            ".0.0=1 .0.1=2 .1[0]=3 .2.0=4",
        ),
        ("struct q v = { .b = { 1 }, .u = 2 };", ".1[0]=1 .2.0=2"),
        ("struct p z; struct q v = { z, 7 };", ".0=? .1[0]=7"),
        (
            "int4 v[2] = { 1, 2, 3, 4, 5 };",
            "[0].0=1 [0].1=2 [0].2=3 [0].3=4 [1].0=5",
        ),
        (
            "char s[2][3] = { \"a\", \"b\" };",
            "[0][0]=97 [0][1]=0 [0][2]=0 [1][0]=98 [1][1]=0 [1][2]=0",
        ),
    ];
    for (list, expected) in table {
        assert_eq!(
            paths(&format!("{struct_} void f() {{ {list} }}")),
            expected,
            "{list}"
        );
    }
    let program = passes(
        "void f() { int a[] = { 1, [4] = 5, 6 }; char s[] = \"abc\"; int n = sizeof(a) + sizeof s; }",
    );
    let sizes: Vec<_> = program.functions[FunctionId(0)]
        .vars
        .iter()
        .map(|var| var.ty.ty.clone())
        .collect();
    assert!(matches!(sizes[0], Ty::Array(_, Some(6))));
    assert!(matches!(sizes[1], Ty::Array(_, Some(4))));
}
