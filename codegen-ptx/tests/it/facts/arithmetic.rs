//! Arithmetic and conversions.

use super::*;

#[test]
fn coarse_functions_are_the_units_instructions() {
    let text = body(
        "float *f",
        "f[0] = __expf(f[1]); f[2] = __logf(f[3]); f[4] = __fdividef(f[5], f[6]); f[7] = rsqrtf(f[8]); f[9] = __sinf(f[10]);",
    );
    for name in ["ex2", "lg2", "rcp", "rsqrt", "sin"] {
        let instruction = format!("{name}.approx.ftz.f32");
        assert_eq!(count(&text, &instruction), 1, "{instruction} in\n{text}");
    }
    has_none(&text, &["div.", "sqrt.rn"]);
    let tangent = module("__global__ void k(float *f) { *f = __tanhf(*f); }");
    let text = ptx(&tangent, &options("sm_75", 3)).expect("it has the instruction");
    has(&text, &["tanh.approx.f32"]);
    let refused = ptx(&tangent, &options("sm_70", 3));
    assert!(
        matches!(&refused, Err(Error::Unsupported { .. })),
        "{refused:?}"
    );
}

#[test]
fn floats_round_once_and_are_not_contracted() {
    // With its own variable `a * b` is a product; within one expression the front end makes an fma.
    let text = body(
        "float *f",
        "float p = f[0] * f[1]; f[2] = p + f[3]; f[4] = f[5] * f[6] + f[7];",
    );
    has(&text, &["mul.rn.f32", "add.rn.f32", "fma.rn.f32"]);
    assert_eq!(count(&text, "fma.rn.f32"), 1, "{text}");
    let text = body(
        "float *f",
        "f[0] = f[1] / f[2]; f[3] = sqrtf(f[4]); f[5] = f[6] / 3.0f;",
    );
    has(&text, &["div.rn.f32", "sqrt.rn.f32"]);
    assert_eq!(count(&text, "div.rn.f32"), 2, "{text}");
    has_none(&text, &[".ftz", ".approx", ".full"]);
    let text = body(
        "double *f",
        "f[0] = f[1] / f[2]; f[3] = sqrt(f[4]); f[5] = f[6] + f[7];",
    );
    has(&text, &["div.rn.f64", "sqrt.rn.f64", "add.rn.f64"]);
}

#[test]
fn minimum_and_maximum_are_one_instruction() {
    let text = body(
        "float *f",
        "f[0] = fminf(f[1], f[2]); f[3] = fmaxf(f[4], f[5]);",
    );
    has(&text, &["min.f32", "max.f32"]);
    has_none(&text, &["setp", "selp"]);
}

#[test]
fn a_changed_sign_keeps_a_nan_where_its_bits_are_seen() {
    let stored = body("float *f", "f[0] = -f[1]; f[2] = fabsf(f[3]);");
    has(&stored, &["xor.b32", "and.b32"]);
    has_none(&stored, &["neg.f32", "abs.f32"]);
    // The same for floats that the source makes from bits.
    let made = body(
        "float *f",
        "f[0] = __int_as_float(__float_as_int(f[1]) & 0x7fffffff); f[2] = __int_as_float(__float_as_int(f[3]) ^ 0x80000000); f[4] = copysignf(f[5], f[6]);",
    );
    has_none(&made, &["neg.f32", "abs.f32", "copysign"]);
    let counted = body("float *f", "f[0] = -f[1] * f[2] + f[3];");
    has_none(&counted, &["xor.b32"]);
}

#[test]
fn conversions_truncate_and_saturate_as_hardware_does() {
    let text = body(
        "float *f, int *i, unsigned *u, long long *l",
        "i[0] = (int)f[0]; u[0] = (unsigned)f[1]; l[0] = (long long)f[2]; f[3] = (float)l[1]; f[4] = (float)u[1];",
    );
    has(
        &text,
        &[
            "cvt.rzi.s32.f32",
            "cvt.rzi.u32.f32",
            "cvt.rzi.s64.f32",
            "cvt.rn.f32.s64",
            "cvt.rn.f32.u32",
        ],
    );
}

#[test]
fn shifts_by_any_count_are_one_instruction() {
    let text = body(
        "unsigned *u, int *i, unsigned long long *l",
        "u[0] = u[1] << u[2]; u[3] = u[4] >> u[5]; l[0] = l[1] << u[6];",
    );
    has(&text, &["shl.b32", "shr.u32", "shl.b64"]);
    has_none(&text, &["setp", "selp", "min."]);
    let text = body("int *i", "i[0] = i[1] >> i[2];");
    has(&text, &["min.u32", "shr.s32"]);
}

#[test]
fn division_by_what_may_be_zero_is_guarded_and_by_a_constant_is_a_product() {
    let text = body("int *i", "i[0] = i[1] / i[2];");
    has(&text, &["div.s32", "selp.b32"]);
    let text = body("int *i", "i[0] = i[1] / 7; i[2] = i[3] % 8u;");
    has(&text, &["mul.hi.s32"]);
    has_none(&text, &["div.", "rem.", "selp"]);
}

#[test]
fn unsigned_sums_wrap_and_signed_ones_do_not() {
    let text = llvm_ir(
        &module(
            "__global__ void k(int *x, unsigned *y) { x[0] = x[1] + x[2] - -x[3] * 3; y[0] = y[1] + y[2]; }",
        ),
        &options("sm_90", 0),
    );
    let text = text.unwrap_or_else(|error| panic!("{error}"));
    for name in ["add nsw i32", "sub nsw i32 0", "mul nsw i32", "add i32"] {
        assert!(text.contains(name), "no `{name}` in\n{text}");
    }
}

#[test]
fn funnel_shifts_are_one_instruction() {
    let text = body(
        "unsigned *x, unsigned n",
        "x[0] = __funnelshift_l(x[1], x[2], n) + __funnelshift_r(x[3], x[4], 13);",
    );
    has(&text, &["shf.l.wrap.b32"]);
    has_none(&text, &["shl.b64", "shr.u64"]);
}

#[test]
fn half_arithmetic_is_the_hardwares() {
    let source = module(
        "#include <cuda_fp16.h>
         __global__ void k(const half2 *x, half2 *y, float *z) {
             y[0] = __hfma2(x[0], x[1], x[2]);
             y[1] = x[3] + x[4];
             y[2] = x[5] * x[6];
             z[0] = __half2float(x[7].y);
             y[3].x = __float2half(z[1]);
         }",
    );
    let text = ptx(&source, &options("sm_53", 3)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(count(&text, "fma.rn.f16x2"), 3, "{text}");
    has(&text, &["cvt.f32.f16", "cvt.rn.f16.f32", "ld.global.b32"]);
    has_none(&text, &["f64", "add.f32", "mul.f32"]);
    let text = ptx(&source, &options("sm_50", 3)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(count(&text, "fma.rn.f64"), 6, "{text}");
    has_none(&text, &["f16x2"]);
}

#[test]
fn bfloat16_arithmetic_is_the_hardwares_from_sm_80_on() {
    let source = module(
        "#include <cuda_bf16.h>
         __global__ void k(const nv_bfloat162 *x, nv_bfloat162 *y, float *z) {
             y[0] = __hfma2(x[0], x[1], x[2]);
             y[1] = x[3] + x[4];
             y[2] = x[5] * x[6];
             z[0] = __bfloat162float(x[7].y);
             y[3].x = __float2bfloat16(z[1]);
         }",
    );
    let text = ptx(&source, &options("sm_80", 3)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(count(&text, "fma.rn.bf16x2"), 3, "{text}");
    has(&text, &["cvt.rn.bf16.f32", "ld.global.b32"]);
    has_none(&text, &["f64", "add.f32", "mul.f32"]);
    let text = ptx(&source, &options("sm_75", 3)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(count(&text, "cvt.rn.f32.f64"), 6, "{text}");
    has_none(&text, &["bf16"]);
}

#[test]
fn sums_of_products_of_bytes_are_one_instruction() {
    let source = module(
        "__global__ void k(int *x, unsigned *y, char4 *z) {
             x[0] = __dp4a(x[1], x[2], x[3]); x[4] = __dp2a_lo(x[5], x[6], x[7]); x[8] = __dp2a_hi(x[9], x[10], x[11]);
             y[0] = __dp4a(y[1], y[2], y[3]); y[4] = __dp2a_lo(y[5], y[6], y[7]); y[8] = __dp2a_hi(y[9], y[10], y[11]);
             x[12] = __dp4a(z[0], z[1], x[13]);
         }",
    );
    let text = ptx(&source, &options("sm_61", 3)).unwrap_or_else(|error| panic!("{error}"));
    for (instruction, times) in [
        ("dp4a.s32.s32", 2),
        ("dp2a.lo.s32.s32", 1),
        ("dp2a.hi.s32.s32", 1),
        ("dp4a.u32.u32", 1),
        ("dp2a.lo.u32.u32", 1),
        ("dp2a.hi.u32.u32", 1),
    ] {
        assert_eq!(count(&text, instruction), times, "{instruction} in\n{text}");
    }
    has_none(&text, &["add.s32", "mul.lo", "mad.lo", "prmt", "shl"]);
    let text = ptx(&source, &options("sm_60", 3)).unwrap_or_else(|error| panic!("{error}"));
    has_none(&text, &["dp4a", "dp2a"]);
    has(&text, &["mad.lo.s32"]);
}

#[test]
fn a_bit_is_tested_where_it_is() {
    let text = body(
        "int *x, int a, int b",
        "x[0] = (a & 16) != 0 && a > b ? a : b;",
    );
    has(&text, &["and.b32", ", 16;"]);
    has_none(&text, &["shr.u32"]);
}

/// A kernel for each function of the mathematical library with only `float`, `int` and `long` numbers. The kernel calls the function and
/// has its name.
fn kernels_of_float_functions() -> Vec<(String, String)> {
    let math = dsl::library::parts().filter(|(name, _)| name.starts_with("<cuda math"));
    let heads = math
        .flat_map(|(_, text)| text.lines())
        .filter(|line| line.contains("__device__ ") && line.contains("float"));
    heads
        .filter_map(|head| {
            let (before, rest) = head.split_once("__device__ ")?.1.split_once('(')?;
            let (ty, name) = before.rsplit_once(' ')?;
            let parameters = rest.split_once(')')?.0;
            let names: Vec<&str> = parameters
                .split(", ")
                .map(|parameter| parameter.rsplit([' ', '*']).next().unwrap_or_default())
                .collect();
            let call = format!("{name}({})", names.join(", "));
            let body = if ty == "void" {
                call
            } else {
                format!("*out = {call}")
            };
            let kernel =
                format!("__global__ void k_{name}({ty} *out, {parameters}) {{ {body}; }}\n");
            let is_single = !head.split_once(')')?.0.contains("double");
            (is_single && !name.starts_with("__dslc_")).then(|| (name.to_string(), kernel))
        })
        .collect()
}

#[test]
fn float_functions_compute_in_float() {
    let kernels = kernels_of_float_functions();
    assert!(kernels.len() > 70, "{kernels:?}");
    let source: String = kernels.iter().map(|(_, kernel)| &**kernel).collect();
    let text = whole(&source);
    let parts = text.split(".visible .entry ").skip(1);
    let in_double: Vec<&str> = parts
        .filter(|part| part.contains(".f64"))
        .filter_map(|part| part.split('(').next())
        .collect();
    assert_eq!(in_double, [""; 0]);
}
