//! Proves that a warp may add up before an atomic: one lane updates the word with what all lanes of the mask together would.
//!
//! The program's module and the edited one have to be the same except for one atomic whose old value is unused. In its place the active
//! lanes are counted, or their values reduced, and one of them executes the atomic. That is right if the word is the same for all lanes of
//! a block, the arithmetic is that of the atomic (32-bit integers, with its signedness), and the mask is that of the active lanes.

use ir::{
    AtomicOp, ExchangeOp, InstKind, MemType, Module, ReduceOp, SpecialReg, Type, UnaryOp, Varies,
};

use super::{
    skeleton::{Step, Touch, TouchKind, What, reads, row},
    term::{Kind, Shape, Term, Terms},
};

/// The sentence that proves that a warp may add up first; `None` if there is no proof.
pub(super) fn in_warp(old: &Module, new: &Module) -> Option<String> {
    if old.functions.len() != new.functions.len() {
        return None;
    }
    let mut is_any = false;
    for (a, b) in old.functions.iter().zip(&new.functions) {
        let mut terms = Terms::default();
        let (before, after) = (row(a, &mut terms)?, row(b, &mut terms)?);
        is_any |= of_function(&before, &after, &terms)?;
    }
    is_any.then(|| {
        "the word is the same for all lanes, nothing uses its old value, and sums and extremes of integers do not depend on their order".to_string()
    })
}

/// Whether an atomic is replaced; `None` if anything else differs.
fn of_function(before: &[Step], after: &[Step], terms: &Terms) -> Option<bool> {
    let mut rest = after;
    let mut is_any = false;
    let mut at = 0;
    while at < before.len() {
        let step = &before[at];
        if rest.first().is_some_and(|next| next.what == step.what) {
            rest = &rest[1..];
            at += 1;
            continue;
        }
        let What::Access(touch) = &step.what else {
            return None;
        };
        let used = touch.gives.is_some_and(|gives| {
            before.iter().any(|step| {
                step.terms()
                    .iter()
                    .any(|&term| contains(terms, term, gives))
            })
        });
        if used || !is_shared_word(terms, touch.pointer) {
            return None;
        }
        rest = replaced(touch, rest, &dimensions(before, terms), terms)?;
        is_any = true;
        at += 1;
    }
    rest.is_empty().then_some(is_any)
}

fn contains(terms: &Terms, term: Term, part: Term) -> bool {
    let wanted = terms.shape(part).clone();
    terms.any(term, &mut |shape| *shape == wanted)
}

/// The dimensions of the block that a kernel reads anywhere: the lane's number has to count them all.
fn dimensions(row: &[Step], terms: &Terms) -> Vec<SpecialReg> {
    let all = [SpecialReg::TidY, SpecialReg::TidZ];
    all.into_iter()
        .filter(|&register| reads(row, terms, register))
        .collect()
}

/// Whether an address is the same for all threads of a block.
fn is_shared_word(terms: &Terms, pointer: Term) -> bool {
    !terms.any(pointer, &mut |shape| match shape {
        Shape::Special(register) => !matches!(register.varies(), Varies::Block | Varies::Grid),
        Shape::Given(..) | Shape::Met(..) | Shape::Unset(_) => true,
        Shape::Sum(_)
        | Shape::Const(_)
        | Shape::Pointer(_)
        | Shape::Param(_)
        | Shape::Address(_)
        | Shape::Op(..) => false,
    })
}

/// Matches what replaces an atomic: `[reduction] if (lane leads) { atomic }`. Returns the steps after it.
fn replaced<'r>(
    old: &Touch,
    mut rest: &'r [Step],
    dimensions: &[SpecialReg],
    terms: &Terms,
) -> Option<&'r [Step]> {
    let TouchKind::Atomic(op) = old.kind else {
        return None;
    };
    let mut sum: Option<Term> = None;
    if let What::Other(InstKind::Exchange(exchange), operands) = &rest.first()?.what {
        let ExchangeOp::Reduce(reduce) = exchange.op else {
            return None;
        };
        let fits = matches!(
            (op, reduce),
            (AtomicOp::Add, ReduceOp::Add)
                | (AtomicOp::SMax, ReduceOp::SMax)
                | (AtomicOp::SMin, ReduceOp::SMin)
                | (AtomicOp::UMax, ReduceOp::UMax)
                | (AtomicOp::UMin, ReduceOp::UMin)
        );
        let is_active = operands.iter().any(|&one| is_mask(terms, one));
        let is_value = operands.iter().any(|&one| old.values.first() == Some(&one));
        if !fits || old.access.ty != MemType::I32 || !is_active || !is_value {
            return None;
        }
        sum = Some(terms.find(&Shape::Given(Kind::Exchange, exchanges(rest, terms)?, 0))?);
        rest = &rest[1..];
    }
    let [branch, access, other, end, behind @ ..] = rest else {
        return None;
    };
    let (What::If(condition), What::Access(new), What::Else, What::EndIf) =
        (&branch.what, &access.what, &other.what, &end.what)
    else {
        return None;
    };
    let is_same = (new.access, new.kind, new.pointer) == (old.access, old.kind, old.pointer);
    let given = *new.values.first()?;
    let is_right = match sum {
        Some(sum) => given == sum,
        // The value, once for each lane.
        None => op == AtomicOp::Add && is_count(terms, given, *old.values.first()?),
    };
    let leads = terms.any(*condition, &mut |shape| {
        matches!(shape, Shape::Given(Kind::Mask, ..))
    });
    let counts_all = dimensions
        .iter()
        .all(|&register| terms.any(*condition, &mut |shape| *shape == Shape::Special(register)));
    let is_one = new.values.len() == 1;
    (is_same && is_right && leads && counts_all && is_one).then_some(behind)
}

/// The number of the exchange whose result the replaced atomic uses.
fn exchanges(rest: &[Step], terms: &Terms) -> Option<u32> {
    let mut number = None;
    let access = rest.get(2)?;
    let What::Access(touch) = &access.what else {
        return None;
    };
    let value = *touch.values.first()?;
    terms.any(value, &mut |shape| {
        if let Shape::Given(Kind::Exchange, at, 0) = shape {
            number = Some(*at);
        }
        false
    });
    number
}

fn is_mask(terms: &Terms, term: Term) -> bool {
    matches!(terms.shape(term), Shape::Given(Kind::Mask, ..))
}

/// Whether a term is `number * __popc(active)`: a number for each active lane.
fn is_count(terms: &Terms, given: Term, each: Term) -> bool {
    let Some(each) = terms.sum(each).number() else {
        return false;
    };
    let sum = terms.index(given);
    let [(count, times)] = sum.parts[..] else {
        return false;
    };
    let is_popc = matches!(
        terms.shape(count),
        Shape::Op(InstKind::Unary(UnaryOp::Popc, Type::I32, _), operands) if is_mask(terms, operands[0])
    );
    is_popc && times == each && sum.constant == 0
}
