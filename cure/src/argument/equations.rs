//! Linear equations between two threads' terms, and what follows from them: Gaussian elimination over fractions.

use std::collections::BTreeMap;

use super::term::Term;

/// Which thread a term belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Whose {
    First,
    Second,
    /// The same for both.
    Both,
}

/// A sum that is 0.
#[derive(Clone, Default, Debug)]
pub(super) struct Equation {
    pub(super) parts: BTreeMap<(Term, Whose), i64>,
    pub(super) constant: i64,
}

impl Equation {
    pub(super) fn factor(&self, term: Term, whose: Whose) -> i64 {
        self.parts.get(&(term, whose)).copied().unwrap_or(0)
    }
}

/// Factors by term.
type Parts = BTreeMap<(Term, Whose), Fraction>;
/// The term that only this row has, its parts, and its constant.
type Row = ((Term, Whose), Parts, Fraction);

/// Equations in solved form: each has a term that no other has.
pub(super) struct Solved {
    rows: Vec<Row>,
    /// Whether they contradict each other.
    pub(super) is_impossible: bool,
}

impl Solved {
    pub(super) fn of(equations: Vec<Equation>) -> Solved {
        let mut solved = Solved {
            rows: vec![],
            is_impossible: false,
        };
        for equation in equations {
            let parts = equation.parts.iter();
            let parts = parts.map(|(&at, &factor)| (at, Fraction::from(factor)));
            let (parts, constant) =
                solved.reduced(parts.collect(), Fraction::from(equation.constant));
            let Some((&pivot, &factor)) = parts.iter().next() else {
                solved.is_impossible |= !constant.is_zero();
                continue;
            };
            let parts: BTreeMap<_, _> = parts
                .into_iter()
                .map(|(at, own)| (at, own.over(factor)))
                .collect();
            let constant = constant.over(factor);
            for (_, other, rest) in &mut solved.rows {
                let times = other.get(&pivot).copied().unwrap_or(Fraction::ZERO);
                subtract(other, &parts, times);
                *rest = rest.less(constant.times(times));
            }
            solved.rows.push((pivot, parts, constant));
        }
        solved
    }

    /// The rest of a sum after elimination with the equations.
    fn reduced(&self, mut parts: Parts, mut constant: Fraction) -> (Parts, Fraction) {
        for (pivot, own, rest) in &self.rows {
            let times = parts.get(pivot).copied().unwrap_or(Fraction::ZERO);
            subtract(&mut parts, own, times);
            constant = constant.less(rest.times(times));
        }
        (parts, constant)
    }

    /// Whether a term has the same value in both threads.
    pub(super) fn makes_equal(&self, term: Term) -> bool {
        let one = Fraction::from(1);
        let difference = BTreeMap::from([
            ((term, Whose::First), one),
            ((term, Whose::Second), Fraction::from(-1)),
        ]);
        let (left, constant) = self.reduced(difference, Fraction::ZERO);
        left.is_empty() && constant.is_zero()
    }
}

fn subtract(from: &mut Parts, what: &Parts, times: Fraction) {
    if times.is_zero() {
        return;
    }
    for (&at, &factor) in what {
        let own = from.get(&at).copied().unwrap_or(Fraction::ZERO);
        let left = own.less(factor.times(times));
        match left.is_zero() {
            true => from.remove(&at),
            false => from.insert(at, left),
        };
    }
}

/// A fraction in lowest terms. Factors are sizes of elements and rows, so they are few and small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fraction(i128, i128);

impl Fraction {
    const ZERO: Fraction = Fraction(0, 1);

    fn new(above: i128, below: i128) -> Fraction {
        let (mut a, mut b) = (above.unsigned_abs(), below.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = (a.max(1) as i128) * below.signum();
        Fraction(above / common, below / common)
    }

    fn is_zero(self) -> bool {
        self.0 == 0
    }

    fn times(self, other: Fraction) -> Fraction {
        Fraction::new(
            self.0.saturating_mul(other.0),
            self.1.saturating_mul(other.1),
        )
    }

    fn over(self, other: Fraction) -> Fraction {
        Fraction::new(
            self.0.saturating_mul(other.1),
            self.1.saturating_mul(other.0),
        )
    }

    fn less(self, other: Fraction) -> Fraction {
        let above = self.0.saturating_mul(other.1) - other.0.saturating_mul(self.1);
        Fraction::new(above, self.1.saturating_mul(other.1))
    }
}

impl From<i64> for Fraction {
    fn from(n: i64) -> Fraction {
        Fraction(n.into(), 1)
    }
}
