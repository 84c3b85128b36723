//! Decides whether two accesses conflict: compares their places, and uses what the branches around them say of their threads.

use ir::{BinaryOp, CompareOp, InstKind, Object, Space, SpecialReg, Varies};

use super::super::{
    equations::{Equation, Solved, Whose},
    skeleton::{Touch, What},
    term::{Shape, Sum, Term, Terms},
};
use super::{Kernel, Proof};

impl Kernel<'_> {
    /// Whether two accesses by different threads of a block never touch the same bytes, or both only read.
    pub(super) fn never_meet(&mut self, a: usize, b: usize, proof: &mut Proof) -> bool {
        let (What::Access(first), What::Access(second)) = (&self.row[a].what, &self.row[b].what)
        else {
            return true;
        };
        if !first.writes() && !second.writes() {
            return true;
        }
        let spaces = (first.access.space, second.access.space);
        match spaces {
            (Space::Local, _) | (_, Space::Local) => return true,
            (Space::Generic, _) | (_, Space::Generic) => return false,
            (x, y) if x != y => return true,
            _ => {}
        }
        let (first, second) = (first.clone(), second.clone());
        let places = (
            self.terms.place(first.pointer),
            self.terms.place(second.pointer),
        );
        let (Some((base, was)), Some((other, is))) = places else {
            return false;
        };
        if base != other {
            proof.needs_buffers |= spaces.0 == Space::Global;
            return self.are_apart(&first, &second);
        }
        if first.access.width_bytes() != second.access.width_bytes() {
            return false;
        }
        let (was, is) = (self.bytes(&was), self.bytes(&is));
        let width = i64::from(first.access.width_bytes());
        let Some(equations) = self.equations((&first, &was), (&second, &is), width) else {
            return false;
        };
        self.means_one_thread(equations, (a, b))
    }

    /// Whether different objects do not overlap.
    fn are_apart(&self, a: &Touch, b: &Touch) -> bool {
        let shared = |touch: &Touch| match touch.object() {
            Some(Object::Shared(id)) => Some(&self.function.shared[id.index()]),
            _ => None,
        };
        match a.access.space {
            Space::Shared => match (shared(a), shared(b)) {
                (Some(a), Some(b)) => !(a.dynamic && b.dynamic),
                _ => false,
            },
            _ => true,
        }
    }

    /// A sum of bytes as the numbers its terms mean. A counted loop variable is its initial value and a multiple of the block's width.
    fn bytes(&self, sum: &Sum) -> Sum {
        let mut all = Sum::constant(sum.constant);
        for &(term, factor) in &sum.parts {
            all = all.add(&self.terms.index(term), factor);
        }
        let mut counted = Sum::constant(all.constant);
        for &(term, factor) in &all.parts {
            let own = Sum {
                parts: vec![(term, 1)],
                constant: 0,
            };
            counted = counted.add(&own, factor);
            if let Some(begin) = self.strides.get(&term) {
                counted = counted.add(begin, factor);
            }
        }
        counted
    }

    /// The equations that follow from equal places: sums of both threads' terms that are 0.
    fn equations(
        &self,
        (a, was): (&Touch, &Sum),
        (b, is): (&Touch, &Sum),
        width: i64,
    ) -> Option<Vec<Equation>> {
        // With elements of one width, places overlap only if they are equal.
        let aligned = |sum: &Sum| sum.parts.iter().all(|&(_, factor)| factor % width == 0);
        let apart = (was.constant - is.constant) % width == 0;
        if !aligned(was) || !aligned(is) || !apart {
            return None;
        }
        if let Some(row) = self.row_bytes(a, b) {
            let of_rows = |sum: &Sum| {
                let mut rows = Sum::constant(sum.constant);
                let mut columns = Sum::default();
                for &(term, factor) in &sum.parts {
                    match factor % row {
                        0 => rows.parts.push((term, factor)),
                        _ => columns.parts.push((term, factor)),
                    }
                }
                (rows, columns)
            };
            let same = was.constant == is.constant && was.constant.rem_euclid(row) == 0;
            let small = |sum: &Sum| {
                sum.parts
                    .iter()
                    .all(|&(_, factor)| (0..row).contains(&factor))
            };
            let ((rows, columns), (other_rows, other_columns)) = (of_rows(was), of_rows(is));
            if same && small(&columns) && small(&other_columns) {
                return Some(vec![
                    self.equation(&rows, &other_rows)?,
                    self.equation(&columns, &other_columns)?,
                ]);
            }
            return None;
        }
        Some(vec![self.equation(was, is)?])
    }

    /// The bytes of a row, if both accesses are checked to stay within theirs.
    fn row_bytes(&self, a: &Touch, b: &Touch) -> Option<i64> {
        let Some(Object::Shared(id)) = a.object().filter(|_| a.object() == b.object()) else {
            return None;
        };
        let var = &self.function.shared[id.index()];
        let columns = *var.dims.last()?;
        let is_row = |touch: &Touch| u64::from(touch.access.row_len) == columns;
        (var.dims.len() > 1 && is_row(a) && is_row(b))
            .then_some((columns * var.element_bytes) as i64)
    }

    /// `was` of one thread minus `is` of another one; `None` if a term is neither a thread's index nor the same for the block.
    fn equation(&self, was: &Sum, is: &Sum) -> Option<Equation> {
        let mut equation = Equation {
            constant: was.constant - is.constant,
            ..Equation::default()
        };
        for (sum, whose, sign) in [(was, Whose::First, 1), (is, Whose::Second, -1)] {
            for &(term, factor) in &sum.parts {
                let whose = match self.varies(term)? {
                    true => whose,
                    false => Whose::Both,
                };
                *equation.parts.entry((term, whose)).or_default() += sign * factor;
            }
        }
        equation.parts.retain(|_, factor| *factor != 0);
        Some(equation)
    }

    /// Whether a term differs between threads; `None` if that is unknown.
    fn varies(&self, term: Term) -> Option<bool> {
        if self.strides.contains_key(&term) || self.is_row_of_threads(term) {
            return Some(true);
        }
        match self.terms.shape(term) {
            Shape::Special(register) => match register.varies() {
                Varies::Block | Varies::Grid => Some(false),
                Varies::Lane | Varies::Row => Some(true),
                Varies::Time | Varies::Place => None,
            },
            Shape::Param(_) => Some(false),
            Shape::Op(_, operands) => operands
                .iter()
                .all(|&operand| self.varies(operand) == Some(false))
                .then_some(false),
            Shape::Sum(sum) => sum
                .parts
                .iter()
                .all(|&(part, _)| self.varies(part) == Some(false))
                .then_some(false),
            Shape::Const(_) => Some(false),
            Shape::Pointer(_)
            | Shape::Given(..)
            | Shape::Met(..)
            | Shape::Unset(_)
            | Shape::Address(_) => None,
        }
    }

    /// `threadIdx.y * blockDim.x`.
    fn is_row_of_threads(&self, term: Term) -> bool {
        is_product(self.terms, term, SpecialReg::TidY, SpecialReg::NtidX)
    }

    /// Whether equations, together with what the branches around two steps say, imply one thread.
    fn means_one_thread(&self, mut equations: Vec<Equation>, (a, b): (usize, usize)) -> bool {
        if self.reads.is_empty() {
            return false;
        }
        if let [one] = &equations[..]
            && self.is_number_of_thread(one)
        {
            return true;
        }
        for (at, whose) in [(a, Whose::First), (b, Whose::Second)] {
            equations.extend(self.guards(at, whose));
        }
        let Some(special) = self
            .reads
            .iter()
            .map(|&register| self.special(register))
            .collect::<Option<Vec<Term>>>()
        else {
            return false;
        };
        let solved = Solved::of(equations);
        solved.is_impossible || special.iter().all(|&term| solved.makes_equal(term))
    }

    fn special(&self, register: SpecialReg) -> Option<Term> {
        self.terms.find(&Shape::Special(register))
    }

    /// `factor * (number - number')`, where the number is the thread's in its block, or has it as remainder modulo the block's width.
    fn is_number_of_thread(&self, equation: &Equation) -> bool {
        let Some(x) = self.special(SpecialReg::TidX) else {
            return false;
        };
        let factor = equation.factor(x, Whose::First);
        let mut has_rows = false;
        let mut has_strides = false;
        for (&(term, whose), &own) in &equation.parts {
            let sign = match whose {
                Whose::First => 1,
                Whose::Second => -1,
                Whose::Both => return false,
            };
            has_rows |= self.is_row_of_threads(term);
            has_strides |= self.strides.contains_key(&term);
            let is_known =
                term == x || self.is_row_of_threads(term) || self.strides.contains_key(&term);
            if !is_known || own != sign * factor {
                return false;
            }
        }
        let both = equation.factor(x, Whose::Second) == -factor;
        let dimensions = match has_rows {
            true => &[SpecialReg::TidX, SpecialReg::TidY][..],
            false => &[SpecialReg::TidX],
        };
        let rows_are_both = !has_rows || !has_strides;
        equation.constant == 0
            && factor != 0
            && both
            && rows_are_both
            && self.reads.iter().all(|read| dimensions.contains(read))
    }

    /// The equalities that the branches around a step establish for its thread.
    fn guards(&self, at: usize, whose: Whose) -> Vec<Equation> {
        let mut around: Vec<(Term, bool)> = vec![];
        for step in &self.row[..at] {
            match step.what {
                What::If(condition) => around.push((condition, true)),
                What::Else => {
                    if let Some(last) = around.last_mut() {
                        last.1 = false;
                    }
                }
                What::EndIf => {
                    around.pop();
                }
                _ => {}
            }
        }
        let one = |&(condition, holds): &(Term, bool)| {
            let Shape::Op(InstKind::Compare(op, ..), operands) = self.terms.shape(condition) else {
                return None;
            };
            let says = matches!((op, holds), (CompareOp::Eq, true) | (CompareOp::Ne, false));
            let sums = (self.terms.index(operands[0]), self.terms.index(operands[1]));
            let difference = sums.0.add(&sums.1, -1);
            let mut equation = Equation {
                constant: difference.constant,
                ..Equation::default()
            };
            for (term, factor) in difference.parts {
                let whose = match self.varies(term)? {
                    true => whose,
                    false => Whose::Both,
                };
                equation.parts.insert((term, whose), factor);
            }
            says.then_some(equation)
        };
        around.iter().filter_map(one).collect()
    }
}

/// Whether a term is the product of two registers.
fn is_product(terms: &Terms, term: Term, a: SpecialReg, b: SpecialReg) -> bool {
    let Shape::Op(InstKind::Binary(BinaryOp::Mul | BinaryOp::SMul, ..), operands) =
        terms.shape(term)
    else {
        return false;
    };
    let is = |at: usize, register| *terms.shape(operands[at]) == Shape::Special(register);
    is(0, a) && is(1, b) || is(0, b) && is(1, a)
}
