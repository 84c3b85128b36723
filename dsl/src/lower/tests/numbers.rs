//! Contraction, conversions, the width of operations.

use super::{Options, body, body_of, compile, compile_with};
use ir::FunctionKind;

/// What a `float` expression of a, b, c, d becomes, without the parameters' `get`s.
fn of(expression: &str) -> String {
    of_statement(&format!("*out = {expression};"))
}

fn of_statement(statement: &str) -> String {
    let text = format!(
        "__global__ void k(float *out, float a, float b, float c, float d) {{ {statement} }}"
    );
    ops(&body(&text))
}

fn ops(body: &str) -> String {
    let op = |line: &str| {
        let (_, op) = line.trim().split_once(" = ")?;
        let op = op.split(' ').next()?;
        (!matches!(op, "get" | "load.f32.global")).then(|| op.to_string())
    };
    body.lines().filter_map(op).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_product_and_a_sum_fuse() {
    assert_eq!(of("a * b + c"), "fma.f32");
    assert_eq!(of("c + a * b"), "fma.f32");
    assert_eq!(of("a * b - c"), "fneg.f32 fma.f32");
    assert_eq!(of("c - a * b"), "fneg.f32 fma.f32");
    assert_eq!(of("-(a * b) + c"), "fneg.f32 fma.f32");
    assert_eq!(of_statement("*out += a * b;"), "fma.f32");
    assert_eq!(of_statement("*out -= a * b;"), "fneg.f32 fma.f32");
}

#[test]
fn of_two_products_the_left_one_fuses() {
    assert_eq!(of("a * b + c * d"), "fmul.f32 fma.f32");
    let body = body(
        "__global__ void k(float *o, float a, float b, float c, float d) { *o = a * b + c * d; }",
    );
    assert!(body.contains("%4 = fmul.f32 %2, %3"), "{body}");
    assert!(body.contains("fma.f32 %0, %1, %4"), "{body}");
    assert_eq!(of("a * b + c * d + a * d"), "fmul.f32 fma.f32 fma.f32");
}

#[test]
fn what_is_rounded_in_between_does_not_fuse() {
    assert_eq!(
        of_statement("float p = a * b; *out = p + c;"),
        "fmul.f32 fadd.f32"
    );
    assert_eq!(of("__fadd_rn(a * b, c)"), "fmul.f32 fadd.f32");
    assert_eq!(of("__fmul_rn(a, b) + c"), "fmul.f32 fadd.f32");
    assert_eq!(
        of("(double)(a * b) + c"),
        "fmul.f32 cvt.f64.f32 cvt.f64.f32 fadd.f64 cvt.f32.f64"
    );
    assert_eq!(of("a * b * c"), "fmul.f32 fmul.f32");
}

#[test]
fn nothing_fuses_on_the_host_or_when_switched_off() {
    let text = "__global__ void k(float *o, float a) { *o = a * a + a; } int main(void) { float a = 1; a++; a = a * a + a; return a; }";
    let host = body_of(&compile(text), FunctionKind::Host);
    assert!(!host.contains("fma"), "{host}");
    let options = Options {
        fmad: false,
        ..Options::default()
    };
    let kernel = body_of(&compile_with(text, &options), FunctionKind::Kernel);
    assert!(!kernel.contains("fma"), "{kernel}");
}

/// What a conversion of parameter `x` of one type to another becomes.
fn conversion(from: &str, to: &str) -> String {
    ops(&body(&format!(
        "__global__ void k({to} *out, {from} x) {{ {to} y = ({to})x; out[y == 0] = y; }}"
    )))
    .split(' ')
    .take_while(|op| op.starts_with("cvt"))
    .collect::<Vec<_>>()
    .join(" ")
}

#[test]
fn conversions_are_exact() {
    assert_eq!(conversion("int", "long long"), "cvt.i64.i32.sext");
    assert_eq!(conversion("unsigned", "long long"), "cvt.i64.i32.zext");
    assert_eq!(
        conversion("unsigned char", "unsigned long long"),
        "cvt.i64.i32.zext"
    );
    assert_eq!(
        conversion("long long", "short"),
        "cvt.i32.i64.trunc cvt.i32.sext16"
    );
    assert_eq!(conversion("int", "unsigned char"), "cvt.i32.zext8");
    assert_eq!(conversion("short", "unsigned char"), "cvt.i32.zext8");
    assert_eq!(conversion("float", "unsigned"), "cvt.u32.f32");
    assert_eq!(
        conversion("float", "signed char"),
        "cvt.s32.f32 cvt.i32.sext8"
    );
    assert_eq!(conversion("unsigned long long", "double"), "cvt.f64.u64");
    assert_eq!(conversion("unsigned short", "float"), "cvt.f32.s32");
    assert_eq!(conversion("bool", "float"), "cvt.i32.i1 cvt.f32.s32");
}

#[test]
fn signedness_chooses_the_operation() {
    let text = "__global__ void k(int *o, int i, unsigned u, long long l, int *p, int *q) {
        o[0] = i / 3; o[1] = u / 3; o[2] = i % 3; o[3] = u >> 2; o[4] = i >> 2; o[5] = i < 0; o[6] = u < 7; o[7] = l << i; o[8] = p < q; o[9] = p - q; }";
    let body = body(text);
    for op in [
        "sdiv.i32",
        "udiv.i32",
        "srem.i32",
        "lshr.i32",
        "ashr.i32",
        "cmp.slt.i32",
        "cmp.ult.i32",
        "shl.i64",
        "cmp.ult.ptr.global",
        "ashr.i64",
    ] {
        assert_eq!(body.matches(op).count(), 1, "{op}: {body}");
    }
}

#[test]
fn narrow_arithmetic_is_done_in_int_and_cut() {
    let text =
        "__global__ void k(int *o, char c, unsigned short s) { c += 100; s++; o[0] = c * s; }";
    insta::assert_snapshot!(body(text), @"
    %0 = get $1
    %1 = sadd.i32 %0, 100
    %2 = cvt.i32.sext8 %1
    set $1, %2
    %3 = get $2
    %4 = sadd.i32 %3, 1
    %5 = cvt.i32.zext16 %4
    set $2, %5
    %6 = get $1
    %7 = get $2
    %8 = smul.i32 %6, %7
    %9 = get $0
    store.i32.global %9, %8
    ");
}

/// Calls such as `double pow(double x, double y)`: reals are `x`, integers `n`, results go to `p`.
fn math_calls() -> Vec<String> {
    let math = crate::library::parts().filter(|(name, _)| name.starts_with("<cuda math"));
    let lines = math.flat_map(|(_, text)| text.lines());
    let heads = lines.filter(|line| line.contains("__device__ ") && !line.contains(" __dslc_"));
    heads
        .filter_map(|head| {
            let (head, rest) = head.split_once('(')?;
            let name = head.rsplit(' ').next()?;
            let args: Vec<String> = rest
                .split_once(')')?
                .0
                .split(", ")
                .map(
                    |param| match (param.split(' ').next(), param.split_once('*')) {
                        (_, Some((ty, _))) => format!("({ty}*)p"),
                        (Some("int" | "long"), None) => "n".to_string(),
                        (ty, None) => format!("({})x", ty.unwrap_or_default()),
                    },
                )
                .collect();
            let result = if head.contains(" void ") { "" } else { "*d = " };
            Some(format!("{result}{name}({})", args.join(", ")))
        })
        .collect()
}

#[test]
fn mathematics_does_not_depend_on_contraction() {
    let calls = math_calls();
    assert!(calls.len() > 100, "{calls:?}");
    let depends = |call: &String| {
        let text = format!("__global__ void k(double *d, double x, int n, void *p) {{ {call}; }}");
        let with = |fmad| {
            compile_with(
                &text,
                &Options {
                    fmad,
                    ..Options::default()
                },
            )
        };
        with(true) != with(false)
    };
    let found: Vec<_> = calls.into_iter().filter(depends).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn mathematics_goes_by_its_arguments() {
    let of = |call: &str| {
        body(&format!(
            "__global__ void k(float *out, double *d, float a, int n) {{ out[0] = {call}; }}"
        ))
    };
    assert_eq!(of("exp(a)"), of("expf(a)"));
    assert_eq!(of("pow(a, a)"), of("powf(a, a)"));
    assert_eq!(of("ldexp(a, n)"), of("ldexpf(a, n)"));
    assert_eq!(of("exp(n)"), of("exp((double)n)"));
    assert_eq!(of("pow(a, n)"), of("pow((double)a, (double)n)"));
}
