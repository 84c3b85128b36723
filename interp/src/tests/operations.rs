//! Compares every scalar operation with the IR's definition (`ir::eval`), with uniform and with varying values.

use super::Bench;
use ir::{BinaryOp, CompareOp, ConvertOp, Space, Type, UnaryOp, eval};

const I32: &[u64] = &[
    0,
    1,
    2,
    7,
    31,
    32,
    33,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0xffff_fff9,
    0x1234_5678,
    255,
    128,
    0x8000,
    0xffff,
];
const I64: &[u64] = &[
    0,
    1,
    2,
    63,
    64,
    65,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
    u64::MAX - 6,
    0x1234_5678_9abc_def0,
    1 << 53 | 1,
    0x8000_0080_0000_0001,
];

fn f32s() -> Vec<u64> {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        0.5,
        1e-40,
        3e9,
        -3e9,
        1e30,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        0.1,
        16_777_217.0,
    ];
    values
        .iter()
        .map(|value: &f32| u64::from(value.to_bits()))
        .collect()
}

fn f64s() -> Vec<u64> {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        0.5,
        5e-324,
        3e9,
        -3e9,
        1e30,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.1,
        -1e19,
    ];
    values.iter().map(|value: &f64| value.to_bits()).collect()
}

fn values(ty: Type) -> Vec<u64> {
    match ty {
        Type::I1 => vec![0, 1, 1, 0],
        Type::I32 => I32.to_vec(),
        Type::F32 => f32s(),
        Type::F64 => f64s(),
        Type::I64 | Type::Ptr(_) => I64.to_vec(),
    }
}

/// Loads the operands of each thread from `in`, computes, and stores 8 bytes of result; then again with operands that
/// all lanes share.
fn run(types: &[Type], result: Type, text: &str, inputs: &[Vec<u64>]) -> Vec<u64> {
    let n = inputs.len();
    let mut body = String::from("%0 = special.tid.x\n%1 = special.ctaid.x\n%2 = get $2\n");
    // The index is the thread if `uniform` is 0, otherwise the block.
    body += "%3 = cmp.eq.i32 %2, 0\n%4 = get $0\n%5 = get $1\n";
    let mut next = 6;
    let mut whole = body.clone();
    for (index, branch) in [("%0", "if %3 {\n"), ("%1", "} else {\n")] {
        whole += branch;
        let mut operands = Vec::new();
        for (k, ty) in types.iter().enumerate() {
            let memory = match ty {
                Type::I1 => "bool",
                Type::I32 => "i32",
                Type::I64 => "i64",
                Type::F32 => "f32",
                Type::F64 => "f64",
                Type::Ptr(_) => "ptr",
            };
            whole += &format!(
                "%{next} = ptradd %4, {index} * {} + {}\n",
                8 * types.len(),
                8 * k
            );
            whole += &format!("%{} = load.{memory}.global %{next}\n", next + 1);
            operands.push(format!("%{}", next + 1));
            next += 2;
        }
        let mut call = text.to_owned();
        for (k, operand) in operands.iter().enumerate() {
            call = call.replace(&format!("@{k}"), operand);
        }
        whole += &format!(
            "%{next} = {call}\n%{} = ptradd %5, {index} * 8 + 0\n",
            next + 1
        );
        let memory = match result {
            Type::I1 => "bool",
            Type::I32 => "i32",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::I64 | Type::Ptr(_) => {
                if matches!(result, Type::Ptr(_)) {
                    "ptr"
                } else {
                    "i64"
                }
            }
        };
        whole += &format!("store.{memory}.global %{}, %{next}\n", next + 1);
        next += 2;
    }
    whole += "}\n";
    let mut bench = Bench::kernel(
        "$0: ptr.global \"in\" \"void *\", $1: ptr.global \"out\" \"void *\", $2: i32 \"uniform\" \"int\"",
        &whole,
    );
    let bytes: Vec<u8> = inputs
        .iter()
        .flatten()
        .flat_map(|bits| bits.to_le_bytes())
        .collect();
    let input = bench.memory.malloc_device(bytes.len() as u64).unwrap();
    bench.memory.write_bytes(input, &bytes).unwrap();
    let mut results = Vec::new();
    for uniform in [0, 1] {
        let out = bench.memory.malloc_device(8 * n as u64).unwrap();
        let (grid, block) = if uniform == 0 {
            (1, n as u32)
        } else {
            (n as u32, 32)
        };
        bench.launch(grid, block, &[input, out, uniform]);
        let bytes = bench.memory.read_bytes(out, 8 * n as u64).unwrap();
        results.extend(
            bytes
                .chunks(8)
                .map(|word| u64::from_le_bytes(word.try_into().unwrap())),
        );
    }
    results
}

#[track_caller]
fn compare(
    types: &[Type],
    result: Type,
    text: &str,
    inputs: &[Vec<u64>],
    oracle: impl Fn(&[u64]) -> u64,
) {
    let results = run(types, result, text, inputs);
    for (k, &found) in results.iter().enumerate() {
        let input = &inputs[k % inputs.len()];
        let expected = oracle(input);
        let how = if k < inputs.len() {
            "varying"
        } else {
            "uniform"
        };
        assert!(
            eval::same(result, found, expected),
            "{how} {text} of {input:x?}: {found:#x}, not {expected:#x}"
        );
    }
}

fn pairs(ty: Type) -> Vec<Vec<u64>> {
    let values = values(ty);
    values
        .iter()
        .flat_map(|&a| values.iter().map(move |&b| vec![a, b]))
        .collect()
}

const TYPES: [Type; 5] = [Type::I1, Type::I32, Type::I64, Type::F32, Type::F64];

#[test]
fn unary_operations() {
    for &op in UnaryOp::ALL {
        for ty in TYPES.into_iter().filter(|&ty| op.accepts(ty)) {
            let inputs: Vec<Vec<u64>> = values(ty).into_iter().map(|a| vec![a]).collect();
            compare(&[ty], ty, &format!("{op}.{ty} @0"), &inputs, |x| {
                eval::unary(op, ty, x[0])
            });
        }
    }
}

#[test]
fn binary_operations() {
    for &op in BinaryOp::ALL {
        for ty in TYPES.into_iter().filter(|&ty| op.accepts(ty)) {
            compare(
                &[ty, ty],
                ty,
                &format!("{op}.{ty} @0, @1"),
                &pairs(ty),
                |x| eval::binary(op, ty, x[0], x[1]),
            );
        }
    }
}

#[test]
fn comparisons() {
    let pointer = Type::Ptr(Space::Generic);
    for &op in CompareOp::ALL {
        for ty in TYPES
            .into_iter()
            .chain([pointer])
            .filter(|&ty| op.accepts(ty))
        {
            compare(
                &[ty, ty],
                Type::I1,
                &format!("cmp.{op}.{ty} @0, @1"),
                &pairs(ty),
                |x| u64::from(eval::compare(op, ty, x[0], x[1])),
            );
        }
    }
}

#[test]
fn conversions() {
    for &op in ConvertOp::ALL {
        let windows = matches!(
            op,
            ConvertOp::ToGlobal | ConvertOp::ToShared | ConvertOp::ToLocal | ConvertOp::ToGeneric
        );
        if windows {
            continue;
        }
        let inputs: Vec<Vec<u64>> = values(op.from_type())
            .into_iter()
            .map(|a| vec![a])
            .collect();
        compare(
            &[op.from_type()],
            op.to_type(),
            &format!("cvt.{op} @0"),
            &inputs,
            |x| eval::convert(op, x[0]),
        );
    }
}

#[test]
fn fused_multiply_add_and_select() {
    for ty in [Type::F32, Type::F64] {
        let values = values(ty);
        let inputs: Vec<Vec<u64>> = (0..256)
            .map(|k| vec![values[k % 16], values[k / 16], values[(k * 7 + 3) % 16]])
            .collect();
        compare(
            &[ty, ty, ty],
            ty,
            &format!("fma.{ty} @0, @1, @2"),
            &inputs,
            |x| eval::fma(ty, x[0], x[1], x[2]),
        );
    }
    for ty in TYPES {
        let values = values(ty);
        let inputs: Vec<Vec<u64>> = (0..32)
            .map(|k| {
                vec![
                    k & 1,
                    values[k as usize % values.len()],
                    values[(k as usize + 1) % values.len()],
                ]
            })
            .collect();
        compare(
            &[Type::I1, ty, ty],
            ty,
            &format!("select.{ty} @0, @1, @2"),
            &inputs,
            |x| if x[0] != 0 { x[1] } else { x[2] },
        );
    }
}
