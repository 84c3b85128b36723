//! Expressions: a text and its type, made from the generator's choices. Evaluating one has no side effects and is defined for every input.

use super::{Bool, Double, Expr, Float, Generator, Int, Llong, Schar, TYPES, Ty, Uint, Ullong};

impl Generator<'_, '_> {
    /// Any expression, without side effects.
    pub(super) fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let kind = self.choices.below(16);
        match kind {
            0 | 1 => self.leaf(),
            2..=10 => {
                let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
                self.binary(kind, a, b)
            }
            11 => {
                let a = self.expr(depth - 1);
                self.unary(a)
            }
            12 => {
                let (condition, a, b) = (
                    self.expr(depth - 1),
                    self.expr(depth - 1),
                    self.expr(depth - 1),
                );
                let ty = a.1.with(b.1);
                (format!("({} ? {} : {})", condition.0, a.0, b.0), ty)
            }
            13 | 14 => {
                let (a, ty) = (self.expr(depth - 1), self.choices.pick(TYPES));
                (self.converted(a, ty), ty)
            }
            _ => self.call(depth),
        }
    }

    /// The kinds 2 to 10 of [`Generator::expr`].
    fn binary(&mut self, kind: usize, a: Expr, b: Expr) -> Expr {
        let (a, b, ops, ty): (_, _, &[&str], _) = match kind {
            2..=5 => {
                let ty = a.1.with(b.1);
                (a, b, &["+", "-", "*"], ty)
            }
            6 => {
                let b = self.divisor(b);
                let ty = a.1.with(b.1);
                let op = if ty.is_float() || self.choices.one_in(2) {
                    "/"
                } else {
                    "%"
                };
                return (format!("({} {op} {})", a.0, b.0), ty);
            }
            7 | 8 => {
                let (a, b) = (self.integer(a), self.integer(b));
                let ty = a.1.with(b.1);
                (a, b, &["&", "|", "^"], ty)
            }
            9 => {
                let (a, b) = (self.integer(a), self.integer(b));
                let ty = a.1.promoted();
                (a, self.distance(b, ty), &["<<", ">>"], ty)
            }
            // In C++ a comparison is a `bool`, which only `sizeof` could tell.
            _ => (a, b, &["<", "<=", ">", ">=", "==", "!=", "&&", "||"], Int),
        };
        let op = self.choices.pick(ops);
        (format!("({} {op} {})", a.0, b.0), ty)
    }

    fn unary(&mut self, a: Expr) -> Expr {
        match self.choices.below(4) {
            0 => (format!("(-{})", a.0), a.1.promoted()),
            1 => (format!("(+{})", a.0), a.1.promoted()),
            2 => (format!("(!{})", a.0), Int),
            _ => {
                let a = self.integer(a);
                (format!("(~{})", a.0), a.1.promoted())
            }
        }
    }

    /// A call of a function of [`SHARED`](super::SHARED).
    fn call(&mut self, depth: usize) -> Expr {
        let a = self.expr(depth - 1);
        match self.choices.below(3) {
            0 => (format!("half_of({})", a.0), Double),
            1 => {
                let value = self.converted(a, Uint);
                (format!("first_set({value})"), Int)
            }
            _ => {
                let b = self.expr(depth - 1);
                let (value, b) = (self.converted(a, Int), self.converted(b, Float));
                (format!("blend({b}, 0.25f, {value})"), Float)
            }
        }
    }

    fn leaf(&mut self) -> Expr {
        match self.choices.below(4) {
            0 => self.constant(),
            1 if !self.read_only.is_empty() => {
                let at = self.choices.below(self.read_only.len());
                self.read_only[at].clone()
            }
            _ => self.place(),
        }
    }

    pub(super) fn constant(&mut self) -> Expr {
        let constants = [
            ("1", Int),
            ("0", Int),
            ("(-1)", Int),
            ("7", Int),
            ("2147483647", Int),
            ("(-2147483647 - 1)", Int),
            ("2147483648", Llong),
            ("0xffffffff", Uint),
            ("0x80000000", Uint),
            ("4294967296", Llong),
            ("3u", Uint),
            ("4294967295u", Uint),
            ("9223372036854775807ll", Llong),
            ("(-9223372036854775807ll - 1)", Llong),
            ("0xffffffffffffffff", Ullong),
            ("18446744073709551615ull", Ullong),
            ("0x7fffffffffffffff", Llong),
            ("017", Int),
            ("'a'", Int),
            ("'\\xff'", Int),
            ("100000", Int),
            ("(sizeof(int) * 3)", Ullong),
            ("1.5", Double),
            ("0.1", Double),
            ("0.1f", Float),
            ("(-0.0f)", Float),
            ("3.0e38f", Float),
            ("1e-45f", Float),
            ("16777217.0", Double),
            ("1e300", Double),
            ("5e-324", Double),
            ("0x1.8p3", Double),
            ("9007199254740993.0", Double),
        ];
        match self.choices.below(3) {
            2 => {
                let value = self.choices.word() as i32 >> (self.choices.byte() % 32);
                (
                    format!("({value})").replace("(-2147483648)", "(-2147483647 - 1)"),
                    Int,
                )
            }
            _ => {
                let (text, ty) = self.choices.pick(&constants);
                (text.to_string(), ty)
            }
        }
    }

    /// The value converted to an integer type.
    pub(super) fn integer(&mut self, value: Expr) -> Expr {
        if !value.1.is_float() {
            return value;
        }
        let ty = self.choices.pick(&[Int, Uint, Llong, Ullong]);
        (self.converted(value, ty), ty)
    }

    /// The value converted to a type, by a cast or by a function that checks whether it fits.
    pub(super) fn converted(&mut self, (text, from): Expr, to: Ty) -> String {
        if !from.is_float() || to.is_float() || to == Bool {
            return format!("(({}){text})", to.name());
        }
        let exact = from == Float && self.choices.one_in(2);
        match to {
            Int if exact => format!("int_of_float({text})"),
            Uint if exact => format!("uint_of_float({text})"),
            Llong if exact => format!("llong_of_float({text})"),
            Ullong if exact => format!("ullong_of_float({text})"),
            Schar => format!("schar_of({text})"),
            other => format!("{}_of({text})", other.name()),
        }
    }

    /// The value unchanged, if assigning it converts it; a floating-point number has to fit.
    pub(super) fn implicit(&mut self, value: Expr, to: Ty) -> String {
        if value.1.is_float() && !to.is_float() {
            self.converted(value, to)
        } else {
            value.0
        }
    }

    /// A value other than 0 and -1, in its promoted type.
    pub(super) fn divisor(&mut self, (text, ty): Expr) -> Expr {
        if ty.is_float() {
            return (text, ty);
        }
        let ty = ty.promoted();
        if self.choices.one_in(2) {
            (format!("(({text} & 15) + 1)"), ty)
        } else {
            (format!("(-({text} & 15) - 2)"), ty)
        }
    }

    /// A distance by which a value of that type may be shifted.
    pub(super) fn distance(&mut self, (text, ty): Expr, of: Ty) -> Expr {
        let most = if matches!(of, Llong | Ullong) { 63 } else { 31 };
        (format!("({text} & {most})"), ty)
    }
}
