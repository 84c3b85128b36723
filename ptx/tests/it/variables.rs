//! Variables of a PTX text: zeros, values, and addresses of one another.

use crate::machine::Runner;

const TEXT: &str = "
.version 8.0
.target sm_90
.address_size 64
.global .align 8 .u64 table[2] = {generic(values)+4, 0};
.global .u32 counter;
.const .align 4 .f32 factors[3] = {0f3F800000, 0f40000000, 2.5};
.global .align 4 .u32 values[4] = {10, 20, 30, 40};
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<8>; .reg .f32 %f<3>; .reg .b64 %rd<9>; .reg .pred %p;
    .shared .align 4 .b8 seen[4];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    // The second word of `values`, through an address in memory.
    ld.global.u64 %rd2, [table];
    ld.u32 %r2, [%rd2];
    // Old values 0 and 1, in the order of the lanes.
    atom.global.add.u32 %r3, [counter], 1;
    mul.wide.u32 %rd3, %r1, 4;
    mov.u64 %rd4, factors;
    add.u64 %rd5, %rd4, %rd3;
    ld.const.f32 %f1, [%rd5+4];
    cvt.rzi.u32.f32 %r4, %f1;
    mad.lo.u32 %r5, %r2, 1000, %r3;
    mad.lo.u32 %r6, %r4, 100, %r5;
    cvta.to.global.u64 %rd6, %rd1;
    add.u64 %rd7, %rd6, %rd3;
    st.global.u32 [%rd7], %r6;
    ret;
}
";

#[test]
fn variables_have_their_initial_values() {
    let (module, made) = ptx::module(TEXT, "variables.ptx").expect("PTX");
    assert_eq!(made.refused, []);
    ir::verify::assert_verified(&module, "reading PTX");
    let words = Runner::new(module).run("k", [1, 2], (&[], &[]), 2);
    // 20 * 1000 + the old value + 100 * the factor, which is 2, then 2.5.
    assert_eq!(words, [20_200, 20_201]);
}
