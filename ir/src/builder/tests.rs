//! Tests of the builder's decisions: folding, dropping, laying out.

use super::Builder;
use crate::*;

fn kernel() -> Builder {
    Builder::new("k", FunctionKind::Kernel, LocId(0))
}

#[test]
fn constants_fold_but_not_a_division_by_zero() {
    let mut b = kernel();
    let seven: Operand = Const::i32(7).into();
    let zero: Operand = Const::i32(0).into();
    assert_eq!(b.binary(BinaryOp::Add, seven, seven), Const::i32(14).into());
    assert_eq!(
        b.compare(CompareOp::Slt, zero, seven),
        Const::bool(true).into()
    );
    assert_eq!(
        b.convert(ConvertOp::S32ToF64, seven),
        Const::f64(7.0).into()
    );
    assert!(b.binary(BinaryOp::SDiv, seven, zero).value().is_some());
    assert_eq!(b.finish().body.0.len(), 1);
}

#[test]
fn code_after_a_jump_is_dropped() {
    let mut b = kernel();
    let cond = b.slot("c", Type::I1);
    let c = b.get(cond);
    let label = b.open_loop(None);
    b.open_if(c);
    b.break_to(label);
    b.set(cond, c);
    assert!(b.is_dead());
    b.open_else();
    b.continue_to(label);
    b.close();
    assert!(b.is_dead());
    b.open_step();
    assert!(!b.is_dead());
    b.set(cond, c);
    b.close();
    let function = b.finish();
    let Node::Loop { body, step, .. } = &function.body.0[1] else {
        panic!("{:?}", function.body);
    };
    assert_eq!((body.0.len(), step.0.len()), (1, 1));
    let Node::If { then, .. } = &body.0[0] else {
        panic!("{body:?}");
    };
    assert_eq!(then.0, [Node::Break(label)]);
}

#[test]
fn a_constant_index_goes_into_the_offset() {
    let mut b = kernel();
    let p = b.param(
        "p",
        Type::Ptr(Space::Generic),
        "int *",
        Some(MemType::I32),
        false,
        false,
    );
    let p = b.get(p);
    assert_eq!(b.ptr_add(p, Const::i32(0).into(), false, 4, 0), p);
    b.ptr_add(p, Const::i32(-2).into(), false, 4, 1);
    let function = b.finish();
    let Node::Inst(inst) = &function.body.0[1] else {
        panic!()
    };
    assert!(matches!(
        inst.kind,
        InstKind::PtrAdd {
            scale_bytes: 0,
            offset_bytes: -7,
            ..
        }
    ));
}

#[test]
fn shared_variables_are_laid_out_in_order_with_dynamic_ones_last() {
    let mut b = kernel();
    let var = |size_bytes, align_bytes, dynamic| SharedVar {
        name: "s".into(),
        c_type: "char".into(),
        element_bytes: 1,
        dims: vec![size_bytes],
        size_bytes,
        align_bytes,
        dynamic,
        offset_bytes: 0,
        loc: LocId(0),
    };
    b.shared(var(0, 1, true));
    b.shared(var(3, 1, false));
    b.shared(var(8, 8, false));
    let function = b.finish();
    let offsets: Vec<u64> = function.shared.iter().map(|var| var.offset_bytes).collect();
    assert_eq!(offsets, [16, 0, 8]);
}
