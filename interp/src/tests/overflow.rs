//! Signed overflow: which operands are reported, and which launches are seen to have none.

use super::Bench;
use crate::{Check, Checks};
use dsl::ir::{BinaryOp, Type, UnaryOp, eval};

const I32: [i64; 16] = [
    0,
    1,
    -1,
    2,
    46340,
    46341,
    -46341,
    65536,
    -65536,
    32768,
    0x3fff_ffff,
    0x4000_0000,
    i32::MAX as i64 - 1,
    i32::MAX as i64,
    i32::MIN as i64 + 1,
    i32::MIN as i64,
];
const I64: [i64; 16] = [
    0,
    1,
    -1,
    2,
    1 << 31,
    -(1 << 31),
    (1 << 31) - 1,
    1 << 32,
    3_037_000_499,
    3_037_000_500,
    -3_037_000_500,
    1 << 62,
    i64::MAX - 1,
    i64::MAX,
    i64::MIN + 1,
    i64::MIN,
];

/// How many lanes are reported when each of 32 has one operand of its own, and `a` is one for all.
fn reported(text: &str, ty: Type, a: i64, lanes: &[i64], uniform: bool) -> u64 {
    let size = if ty == Type::I64 { 8 } else { 4 };
    let a_index = if uniform { "0" } else { "%0" };
    let mut bench = Bench::new(&format!(
        "kernel fn0 @k($0: ptr.global \"a\" \"int *\" pointee {ty}, $1: ptr.global \"b\" \"int *\" pointee {ty}) {{\n\
         %0 = special.tid.x\n%1 = get $0\n%2 = ptradd %1, {a_index} * {size}\n%3 = load.{ty}.global %2\n\
         %4 = get $1\n%5 = ptradd %4, {a_index} * {size}\n%6 = load.{ty}.global %5\n%7 = {text} !1\nstore.{ty}.global %5, %7\n}}\n\
         file 0 \"t\"\nloc !1 = 0:1:1\n"
    ));
    bench.machine.checks = Checks::NONE.with(Check::Arithmetic);
    let mut array = |values: Vec<i64>| {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes()[..size].to_vec())
            .collect();
        let address = bench.memory.malloc_device(bytes.len() as u64).unwrap();
        bench.memory.write_bytes(address, &bytes).unwrap();
        address
    };
    let first = array(vec![a; lanes.len()]);
    let second = array(lanes.to_vec());
    let report = bench.launch(1, lanes.len() as u32, &[first, second]);
    report.findings.iter().map(|finding| finding.count).sum()
}

#[test]
fn what_overflows_is_reported_and_nothing_else() {
    for (ty, values) in [(Type::I32, I32), (Type::I64, I64)] {
        let bits = |value: i64| match ty {
            Type::I32 => u64::from(value as u32),
            _ => value as u64,
        };
        for op in [BinaryOp::SAdd, BinaryOp::SSub, BinaryOp::SMul] {
            let text = format!("{op}.{ty} %3, %6");
            for a in values {
                let wrong = |b: &&i64| eval::overflows(op, ty, bits(a), bits(**b));
                let wanted = values.iter().filter(wrong).count() as u64;
                assert_eq!(reported(&text, ty, a, &values, false), wanted, "{a} {text}");
                let first = u64::from(eval::overflows(op, ty, bits(a), bits(values[0]))) * 16;
                assert_eq!(reported(&text, ty, a, &values, true), first, "{a} {text}");
            }
        }
        let op = UnaryOp::SNeg;
        let text = format!("{op}.{ty} %6");
        assert_eq!(reported(&text, ty, 0, &values, false), 1, "{text}");
    }
}

/// Whether a kernel `for (int i = FROM; i < n; i += STEP) … i * n` needs a look in a launch with this `n`.
fn needs_a_look(from: &str, step: &str, n: i32) -> bool {
    let bench = Bench::kernel(
        "$0: ptr.global \"out\" \"int *\" pointee i32, $1: i32 \"n\" \"int\"",
        &format!(
            "slot $2 : i32 \"i\"\n%0 = special.tid.x\nset $2, {from}\nloop L0 {{\n%1 = get $2\n%2 = get $1\n%3 = cmp.slt.i32 %1, %2\n\
             if %3 {{\n}} else {{\nbreak L0\n}}\n%4 = get $0\n%5 = smul.i32 %1, %2\n%6 = ptradd %4, %5 * 4\nstore.i32.global %6, 1\n}} \
             step {{\n%7 = get $2\n%8 = get $1\n%9 = sadd.i32 %7, {step}\nset $2, %9\n}}"
        ),
    );
    let args = [0, u64::from(n as u32)];
    let shape = crate::isa::grid::Shape {
        grid: [4, 1, 1],
        block: [64, 1, 1],
        shared_bytes: 0,
        cooperative: false,
        multiprocessors: 1,
        args: &args,
    };
    let kernel = dsl::ir::FuncId(0);
    let code = bench.program.code_for(kernel, &shape, true);
    !std::ptr::eq(code, bench.program.code(kernel))
}

#[test]
fn loops_over_indices_need_no_look() {
    assert!(!needs_a_look("0", "1", 46340));
    assert!(needs_a_look("0", "1", 46342));
    assert!(!needs_a_look("%0", "1", 1000));
    assert!(!needs_a_look("0", "%8", 1000));
    // The step may go beyond the end of the type.
    assert!(needs_a_look("0", "2147483647", 1000));
    assert!(needs_a_look("-2147483648", "1", 1000));
}
