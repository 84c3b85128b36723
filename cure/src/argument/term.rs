//! Values as terms: a temporary expressed by the thread, the arguments and the values from memory.
//!
//! A term has the same number wherever the same value is computed, in the program and in the edited one. That is how two functions are
//! compared. Sums of integers and addresses have a normal form, `Σ factor · term + constant`, so `4 * t + 4` and `(t + 1) * 4` are one
//! term. Sums are modulo 2^32 or 2^64, like the machine's. Only in the index of an access is a 32-bit sum taken for the mathematical
//! number: one that wraps leads out of the array, which is undefined.
//! wraps leads out of the array, which is undefined.

use std::collections::{HashMap, HashSet};

use ir::{BinaryOp, Const, ConvertOp, InstKind, Object, Operand, SlotId, SpecialReg, Type};

/// A term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Term(u32);

/// What a term stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shape {
    /// An integer or an address.
    Sum(Sum),
    /// A constant that is not an integer.
    Const(Const),
    /// A special register of the thread.
    Special(SpecialReg),
    /// An argument that is a pointer.
    Pointer(usize),
    /// Any other argument.
    Param(usize),
    /// The result of the `n`th instruction of a kind (a load, an atomic, a shuffle), and which of its results it is.
    Given(Kind, u32, u32),
    /// A variable at the `n`th merge of control flow.
    Met(u32, SlotId),
    /// A variable that was never set.
    Unset(SlotId),
    /// The address of an object's first byte.
    Address(Object),
    /// An operation on terms. Its own operands are blank.
    Op(InstKind, Vec<Term>),
}

/// Kinds of instructions with opaque results. Each kind is counted separately, so that edits which add one kind do not rename the others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    Load,
    Atomic,
    Exchange,
    Mask,
    Other,
}

/// `Σ factor · term + constant`, without factors of 0, by term.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Sum {
    pub(super) parts: Vec<(Term, i64)>,
    pub(super) constant: i64,
}

impl Sum {
    pub(super) fn constant(constant: i64) -> Sum {
        Sum {
            parts: vec![],
            constant,
        }
    }

    pub(super) fn add(&self, other: &Sum, times: i64) -> Sum {
        let mut parts = self.parts.clone();
        for &(term, factor) in &other.parts {
            let factor = factor.wrapping_mul(times);
            match parts.iter_mut().find(|(known, _)| *known == term) {
                Some((_, known)) => *known = known.wrapping_add(factor),
                None => parts.push((term, factor)),
            }
        }
        parts.retain(|&(_, factor)| factor != 0);
        parts.sort_unstable();
        Sum {
            parts,
            constant: self
                .constant
                .wrapping_add(other.constant.wrapping_mul(times)),
        }
    }

    /// The number, if the sum is one.
    pub(super) fn number(&self) -> Option<i64> {
        self.parts.is_empty().then_some(self.constant)
    }

    /// The sum divided by a number; `None` if the number does not divide all of it.
    pub(super) fn divided(&self, by: i64) -> Option<Sum> {
        let divides = |n: i64| n % by == 0;
        let is_whole =
            divides(self.constant) && self.parts.iter().all(|&(_, factor)| divides(factor));
        is_whole.then(|| Sum {
            parts: self.parts.iter().map(|&(term, n)| (term, n / by)).collect(),
            constant: self.constant / by,
        })
    }

    /// The factor of a term.
    pub(super) fn factor(&self, term: Term) -> i64 {
        let found = self.parts.iter().find(|(known, _)| *known == term);
        found.map_or(0, |&(_, factor)| factor)
    }
}

/// All terms of a comparison.
#[derive(Default)]
pub(super) struct Terms {
    shapes: Vec<Shape>,
    numbers: HashMap<Shape, Term>,
}

impl Terms {
    pub(super) fn shape(&self, term: Term) -> &Shape {
        &self.shapes[term.0 as usize]
    }

    /// The term of this shape, if there is one.
    pub(super) fn find(&self, shape: &Shape) -> Option<Term> {
        self.numbers.get(shape).copied()
    }

    pub(super) fn of(&mut self, shape: Shape) -> Term {
        // A sum of a single term is that term.
        if let Shape::Sum(Sum { parts, constant: 0 }) = &shape
            && let [(term, 1)] = parts[..]
        {
            return term;
        }
        if let Some(&known) = self.numbers.get(&shape) {
            return known;
        }
        let term = Term(self.shapes.len() as u32);
        self.shapes.push(shape.clone());
        self.numbers.insert(shape, term);
        term
    }

    pub(super) fn constant(&mut self, constant: Const) -> Term {
        let shape = match constant.ty {
            Type::I32 => Shape::Sum(Sum::constant(i64::from(constant.bits as u32 as i32))),
            Type::I64 | Type::Ptr(_) => Shape::Sum(Sum::constant(constant.bits as i64)),
            Type::I1 | Type::F32 | Type::F64 => Shape::Const(constant),
        };
        self.of(shape)
    }

    /// A term as a sum; any other term is a sum of itself.
    pub(super) fn sum(&self, term: Term) -> Sum {
        match self.shape(term) {
            Shape::Sum(sum) => sum.clone(),
            _ => Sum {
                parts: vec![(term, 1)],
                constant: 0,
            },
        }
    }

    /// An index as the mathematical number: conversions to 64 bits are left out.
    pub(super) fn index(&self, term: Term) -> Sum {
        match self.shape(term) {
            Shape::Op(InstKind::Convert(ConvertOp::Sext | ConvertOp::Zext, _), inner) => {
                self.index(inner[0])
            }
            Shape::Sum(sum) => {
                let mut all = Sum::constant(sum.constant);
                for &(part, factor) in &sum.parts {
                    all = all.add(&self.index(part), factor);
                }
                all
            }
            _ => self.sum(term),
        }
    }

    /// The result of an operation.
    pub(super) fn op(&mut self, kind: &InstKind, operands: Vec<Term>) -> Term {
        if let Some(sum) = self.linear(kind, &operands) {
            return self.of(Shape::Sum(sum));
        }
        if let InstKind::Binary(BinaryOp::Xor, ..) = kind {
            let number = |at: usize| self.sum(operands[at]).number();
            match (number(0), number(1)) {
                (Some(0), _) => return operands[1],
                (_, Some(0)) => return operands[0],
                _ => {}
            }
        }
        let mut blank = kind.clone();
        for operand in blank.operands_mut() {
            *operand = Operand::Const(Const::i32(0));
        }
        self.of(Shape::Op(blank, operands))
    }

    /// Sums, differences, and products with numbers.
    fn linear(&self, kind: &InstKind, operands: &[Term]) -> Option<Sum> {
        let sum = |at: usize| self.sum(operands[at]);
        let wrapped = |ty: Type, mut sum: Sum| {
            if ty == Type::I32 {
                let narrow = |n: i64| i64::from(n as i32);
                sum.constant = narrow(sum.constant);
                sum.parts
                    .iter_mut()
                    .for_each(|part| part.1 = narrow(part.1));
                sum.parts.retain(|&(_, factor)| factor != 0);
            }
            sum
        };
        match *kind {
            InstKind::Binary(BinaryOp::Add | BinaryOp::SAdd, ty, ..) => {
                Some(wrapped(ty, sum(0).add(&sum(1), 1)))
            }
            InstKind::Binary(BinaryOp::Sub | BinaryOp::SSub, ty, ..) => {
                Some(wrapped(ty, sum(0).add(&sum(1), -1)))
            }
            InstKind::Binary(BinaryOp::Mul | BinaryOp::SMul, ty, ..) => {
                let (a, b) = (sum(0), sum(1));
                let product = match (a.number(), b.number()) {
                    (_, Some(times)) => Sum::default().add(&a, times),
                    (Some(times), None) => Sum::default().add(&b, times),
                    (None, None) => return None,
                };
                Some(wrapped(ty, product))
            }
            InstKind::Binary(BinaryOp::Shl, ty, ..) => {
                let by = sum(1).number().filter(|by| (0..31).contains(by))?;
                Some(wrapped(ty, Sum::default().add(&sum(0), 1 << by)))
            }
            InstKind::PtrAdd {
                scale_bytes,
                offset_bytes,
                ..
            } => {
                let base = sum(0).add(&self.index(operands[1]), scale_bytes);
                Some(base.add(&Sum::constant(offset_bytes), 1))
            }
            _ => None,
        }
    }

    /// Whether an object's address occurs in a term.
    pub(super) fn mentions(&self, term: Term, object: Object) -> bool {
        self.any(term, &mut |shape| *shape == Shape::Address(object))
    }

    /// Whether some part of a term satisfies `is`.
    pub(super) fn any(&self, term: Term, is: &mut dyn FnMut(&Shape) -> bool) -> bool {
        let mut seen = HashSet::from([term]);
        let mut left = vec![term];
        while let Some(term) = left.pop() {
            let shape = self.shape(term);
            if is(shape) {
                return true;
            }
            let inner: Vec<Term> = match shape {
                Shape::Sum(sum) => sum.parts.iter().map(|&(part, _)| part).collect(),
                Shape::Op(_, operands) => operands.clone(),
                Shape::Const(_)
                | Shape::Special(_)
                | Shape::Pointer(_)
                | Shape::Param(_)
                | Shape::Given(..)
                | Shape::Met(..)
                | Shape::Unset(_)
                | Shape::Address(_) => vec![],
            };
            left.extend(inner.into_iter().filter(|&term| seen.insert(term)));
        }
        false
    }

    /// An address as the object it points into and the byte offset; `None` if the object is unknown.
    pub(super) fn place(&self, pointer: Term) -> Option<(Term, Sum)> {
        let mut sum = self.sum(pointer);
        let is_base = |&(term, factor): &(Term, i64)| {
            let shape = self.shape(term);
            factor == 1 && matches!(shape, Shape::Address(_) | Shape::Pointer(_))
        };
        let mut bases = sum.parts.iter().filter(|part| is_base(part));
        let (base, _) = *bases.next()?;
        let is_only = bases.next().is_none();
        sum.parts.retain(|&(term, _)| term != base);
        is_only.then_some((base, sum))
    }
}
