//! Recognises numbers whose bits are mixed with others, as in a hash or a random number generator: there the bits
//! matter, not the number.

use ir::{BinaryOp, Function, Inst, InstKind, LocId, ValueId};

/// Whether a value that is computed at a place reaches an exclusive or, a shift, a mask or an unsigned remainder,
/// through sums, products and variables.
pub(super) fn is_mixed(function: &Function, loc: LocId) -> bool {
    let mut values = vec![false; function.values.len()];
    let mut slots = vec![false; function.slots.len()];
    let is_start = |inst: &Inst| match inst.kind {
        InstKind::Unary(op, ..) => op != op.wrapping(),
        InstKind::Binary(op, ..) => op != op.wrapping(),
        _ => false,
    };
    function.body.for_each_inst(&mut |inst| {
        if inst.loc == loc && is_start(inst) {
            inst.results.iter().for_each(|id| values[id.index()] = true);
        }
    });
    // In a loop, a variable may be read before the text sets it, so repeat until nothing is new.
    loop {
        let mut found = false;
        let mut has_news = false;
        function.body.for_each_inst(&mut |inst| {
            let feeds = |values: &[bool]| {
                let ids = inst.kind.operands().into_iter();
                ids.filter_map(|operand| operand.value())
                    .any(|id| values[id.index()])
            };
            match &inst.kind {
                InstKind::Get(slot) if slots[slot.index()] => {
                    has_news |= reach(&mut values, &inst.results);
                }
                InstKind::Set(slot, _) if feeds(&values) => {
                    has_news |= !std::mem::replace(&mut slots[slot.index()], true);
                }
                InstKind::Binary(op, ..) if feeds(&values) => {
                    found |= mixes(*op);
                    has_news |= reach(&mut values, &inst.results);
                }
                InstKind::Unary(..) | InstKind::Convert(..) if feeds(&values) => {
                    has_news |= reach(&mut values, &inst.results);
                }
                _ => {}
            }
        });
        if found || !has_news {
            return found;
        }
    }
}

fn reach(values: &mut [bool], results: &[ValueId]) -> bool {
    let mut is_new = false;
    for id in results {
        is_new |= !std::mem::replace(&mut values[id.index()], true);
    }
    is_new
}

fn mixes(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Xor | BinaryOp::Shl | BinaryOp::LShr | BinaryOp::And | BinaryOp::URem
    )
}
