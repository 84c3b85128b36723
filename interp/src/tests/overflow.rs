//! Tests signed overflow: the operands that are reported, and the launches that are proved to have none.

use super::Bench;
use crate::{Check, Checks};
use ir::{BinaryOp, Type, UnaryOp, eval};

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

/// How many lanes are reported if each of 32 has a separate operand, and all share `a`.
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

/// Divisors and shift counts: invalid ones are reported in active lanes only.
#[test]
fn wrong_operands_are_reported_where_lanes_are_active() {
    let divisions = ["sdiv", "udiv", "srem", "urem"];
    for op in divisions.into_iter().chain(["shl", "lshr", "ashr"]) {
        for ty in [Type::I32, Type::I64] {
            let (size, bits) = if ty == Type::I64 { (8, 64) } else { (4, 32) };
            let is_wrong = |b: i64| match divisions.contains(&op) {
                true => b == 0,
                false => !(0..bits).contains(&b),
            };
            for (mask, value) in [(0, 0), (5, 4), (31, 7), (1, 0)] {
                let mut bench = Bench::new(&format!(
                    "kernel fn0 @k($0: ptr.global \"b\" \"int *\" pointee {ty}) {{\n%0 = special.tid.x\n%1 = get $0\n\
                     %2 = ptradd %1, %0 * {size}\n%3 = load.{ty}.global %2\n%4 = and.i32 %0, {mask}\n%5 = cmp.eq.i32 %4, {value}\n\
                     if %5 {{\n%6 = {op}.{ty} %3, %3 !1\nstore.{ty}.global %2, %6\n}}\n}}\nfile 0 \"t\"\nloc !1 = 0:1:1\n"
                ));
                bench.machine.checks = Checks::NONE.with(Check::Arithmetic);
                let operands: Vec<i64> = (0..48)
                    .map(|k| [0, 1, bits - 1, bits, -1, 7, 1 << 20][k * k % 23 % 7])
                    .collect();
                let bytes: Vec<u8> = operands
                    .iter()
                    .flat_map(|b| b.to_le_bytes()[..size].to_vec())
                    .collect();
                let array = bench.memory.malloc_device(bytes.len() as u64).unwrap();
                bench.memory.write_bytes(array, &bytes).unwrap();
                let report = bench.launch(1, operands.len() as u32, &[array]);
                let found: u64 = report.findings.iter().map(|finding| finding.count).sum();
                let wanted = (0..operands.len())
                    .filter(|lane| lane & mask == value && is_wrong(operands[*lane]));
                assert_eq!(found, wanted.count() as u64, "{op} {ty} {mask} {value}");
            }
        }
    }
}

/// Whether a kernel `for (int i = FROM; i < n; i += STEP) … i * n` has to be checked at run time in a launch with this
/// `n`.
fn needs_a_look(from: &str, step: &str, n: i32) -> bool {
    looks(&looping(from, step), n)
}

/// The kernel of [`needs_a_look`].
fn looping(from: &str, step: &str) -> Bench {
    Bench::kernel(
        "$0: ptr.global \"out\" \"int *\" pointee i32, $1: i32 \"n\" \"int\"",
        &format!(
            "slot $2 : i32 \"i\"\n%0 = special.tid.x\nset $2, {from}\nloop L0 {{\n%1 = get $2\n%2 = get $1\n%3 = cmp.slt.i32 %1, %2\n\
             if %3 {{\n}} else {{\nbreak L0\n}}\n%4 = get $0\n%5 = smul.i32 %1, %2\n%6 = ptradd %4, %5 * 4\nstore.i32.global %6, 1\n}} \
             step {{\n%7 = get $2\n%8 = get $1\n%9 = sadd.i32 %7, {step}\nset $2, %9\n}}"
        ),
    )
}

fn looks(bench: &Bench, n: i32) -> bool {
    let args = [0, u64::from(n as u32)];
    let shape = crate::isa::grid::Shape {
        grid: [4, 1, 1],
        block: [64, 1, 1],
        shared_bytes: 0,
        cooperative: false,
        multiprocessors: 1,
        args: &args,
    };
    let kernel = ir::FuncId(0);
    let code = bench.program.code_for(kernel, &shape, true);
    !std::ptr::eq(code, bench.program.code(kernel))
}

#[test]
fn loops_over_indices_need_no_look() {
    assert!(!needs_a_look("0", "1", 46340));
    assert!(needs_a_look("0", "1", 46342));
    assert!(!needs_a_look("%0", "1", 1000));
    assert!(!needs_a_look("0", "%8", 1000));
    // The step may exceed the end of the type.
    assert!(needs_a_look("0", "2147483647", 1000));
    assert!(needs_a_look("-2147483648", "1", 1000));
}

/// The result for one launch is not used for a different one.
#[test]
fn launches_of_one_kernel_are_told_apart() {
    let bench = looping("0", "1");
    for _ in 0..3 {
        for n in (46_280..46_400).step_by(2) {
            assert_eq!(looks(&bench, n), n > 46_341, "{n}");
        }
        assert!(!looks(&bench, 46_340) && looks(&bench, 46_342));
    }
    for n in [46_340, 46_342, 46_340] {
        assert_eq!(looks(&bench, n), n > 46_341, "{n}");
    }
}
