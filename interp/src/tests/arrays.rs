//! Tests arrays of 8-byte elements in registers: they must give the same as in memory.

use super::{Bench, OUT_N};
use crate::Shortcut;
use crate::isa::op::Op;
use crate::tests::plainly;
use ir::FuncId;

/// The memory and the report of a kernel, with its arrays in registers and in memory.
fn both(body: &str) -> [(Vec<i32>, String); 2] {
    [false, true].map(|in_memory| {
        plainly(Shortcut::Arrays, in_memory);
        let mut bench = Bench::kernel(OUT_N, body);
        let code = bench.program.code(FuncId(0));
        let in_registers = code.insts.iter().any(|inst| inst.op == Op::Tally);
        assert_eq!(in_registers, !in_memory);
        let out = bench.ints(&[0; 128]);
        let report = bench.launch(1, 32, &[out, 7]);
        plainly(Shortcut::Arrays, false);
        (bench.read(out, 128), format!("{report:#?}"))
    })
}

/// Arrays of `double`, of `long long` and of pairs, indexed by loops. Some lanes write an element of each.
#[test]
fn elements_of_eight_bytes_are_what_they_are_in_memory() {
    let [in_registers, in_memory] = both(
        "local local0 \"d\" \"double\" [4] : 32 align 8 element 8
         local local1 \"l\" \"long long\" [2] : 16 align 8 element 8
         slot $2 : i32 \"i\"
         slot $3 : f64 \"sum\"
         %0 = special.tid.x
         %1 = cvt.f64.s32 %0
         %2 = addr local0
         store.f64x2.local %2, 0.5, %1
         %3 = ptradd %2, 1 * 16
         store.f64x2.local %3, %1, 2.5
         %4 = addr local1
         %5 = cvt.i64.i32.sext %0
         store.i64.local %4, %5
         %6 = ptradd %4, 1 * 8
         %7 = mul.i64 %5, %5
         store.i64.local %6, %7
         set $2, 0
         loop L0 {
           %8 = get $2
           %9 = cmp.slt.i32 %8, 4
           if %9 {
           } else {
             break L0
           }
           %10 = ptradd %2, %8 * 8
           %11 = load.f64.local %10
           %12 = fma.f64 %11, %1, %11
           store.f64.local %10, %12
         } step {
           %13 = get $2
           %14 = add.i32 %13, 1
           set $2, %14
         }
         %15 = cmp.slt.i32 %0, 9
         if %15 {
           %16 = ptradd %2, 1 * 8
           %17 = load.f64.local %2
           store.f64.local %16, %17
           store.f64.local %2, 8.0
           store.i64.local %6, 77
         }
         %18, %19 = load.f64x2.local %2
         %20, %21 = load.f64x2.local %3
         %22 = fadd.f64 %18, %19
         %23 = fmul.f64 %20, %21
         %24 = fadd.f64 %22, %23
         %25 = load.i64.local %4
         %26 = load.i64.local %6
         %27 = add.i64 %25, %26
         %28 = get $0
         %29 = ptradd %28, %0 * 16
         store.f64.global %29, %24
         %30 = ptradd %29, 1 * 8
         store.i64.global %30, %27",
    );
    assert_eq!(in_registers, in_memory);
    let long = |lane: usize| in_registers.0[4 * lane + 2];
    assert_eq!([long(3), long(9)], [3 + 77, 9 + 81]);
}

/// A single word of an element is not a register, so an array with such accesses stays in memory.
#[test]
fn halves_of_elements_are_in_memory() {
    let body = "local local0 \"l\" \"long long\" [2] : 16 align 8 element 8
         %0 = special.tid.x
         %1 = addr local0
         %2 = cvt.i64.i32.sext %0
         %3 = mul.i64 %2, 4294967297
         store.i64.local %1, %3
         %4 = ptradd %1, 1 * 4
         %5 = load.i32.local %4
         %6 = get $0
         %7 = ptradd %6, %0 * 4
         store.i32.global %7, %5";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[-1; 32]);
    bench.launch(1, 32, &[out, 0]);
    assert_eq!(bench.read(out, 32), (0..32).collect::<Vec<_>>());
}
