//! The generator: a C function without undefined behaviour, if integers wrap.
//!
//! Divisors are not zero (nor -1), shifts are in range, indices are inside their arrays, and loops end. A floating-point number becomes an
//! integer through a function that checks whether it fits. The bits of NaNs do not matter here: all NaNs are made equal before they are
//! printed.

mod expr;

use std::fmt::Write;

use crate::choices::Choices;

/// The text that all functions use, in both languages.
pub(super) const SHARED: &str = "
#define RESULTS 24
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef long long llong;
typedef unsigned long long ullong;
#define FITS(name, type, from, low, high) FN type name(from x) { return x > low && x < high ? (type)x : (type)7; }
FITS(schar_of, signed char, double, -129.0, 128.0)
FITS(uchar_of, uchar, double, -1.0, 256.0)
FITS(short_of, short, double, -32769.0, 32768.0)
FITS(ushort_of, ushort, double, -1.0, 65536.0)
FITS(int_of, int, double, -2147483649.0, 2147483648.0)
FITS(uint_of, uint, double, -1.0, 4294967296.0)
FITS(llong_of, llong, double, -9223372036854775808.0, 9223372036854775808.0)
FITS(ullong_of, ullong, double, -1.0, 18446744073709551616.0)
FITS(int_of_float, int, float, -2147483648.0f, 2147483648.0f)
FITS(uint_of_float, uint, float, -1.0f, 4294967296.0f)
FITS(llong_of_float, llong, float, -9223372036854775808.0f, 9223372036854775808.0f)
FITS(ullong_of_float, ullong, float, -1.0f, 18446744073709551616.0f)
FN ullong float_bits(float x) { union { float f; uint u; } v; v.f = x; return x != x ? 1 : v.u; }
FN ullong double_bits(double x) { union { double f; ullong u; } v; v.f = x; return x != x ? 1 : v.u; }
struct inner { short a; uchar b[3]; };
struct outer { signed char c; double d; struct inner in; uint w; float f; llong l; };
FN struct inner make_inner(int a, uint b) { struct inner v = {(short)a, {(uchar)b, (uchar)(b >> 8), 3}}; return v; }
FN int sum_inner(struct inner v) { return v.a + v.b[0] - v.b[1] * v.b[2]; }
FN int first_set(uint x) { int n = 0; while (x && !(x & 1)) { x >>= 1; n++; } return n; }
FN double half_of(double x) { return x / 2; }
FN float blend(float a, float b, int which) { switch (which & 3) { case 0: return a; case 1: return b; case 2: a = a + b; default: return a - 1; } }
FN void bump(uint *p, ushort by) { *p = *p * 1664525u + by; }
static void clear(unsigned long long *out) { for (int i = 0; i < RESULTS; i++) out[i] = 0; }
static void show(unsigned long long *out) { for (int i = 0; i < RESULTS; i++) printf(\"%llx \", out[i]); printf(\"\\n\"); }
";

/// An arithmetic type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Int,
    Uint,
    Llong,
    Ullong,
    Schar,
    Uchar,
    Short,
    Ushort,
    Bool,
    Float,
    Double,
}

use Ty::{Bool, Double, Float, Int, Llong, Schar, Short, Uchar, Uint, Ullong, Ushort};

const TYPES: &[Ty] = &[
    Int, Uint, Llong, Ullong, Schar, Uchar, Short, Ushort, Bool, Float, Double,
];

impl Ty {
    fn name(self) -> &'static str {
        match self {
            Int => "int",
            Uint => "uint",
            Llong => "llong",
            Ullong => "ullong",
            Schar => "signed char",
            Uchar => "uchar",
            Short => "short",
            Ushort => "ushort",
            Bool => "bool",
            Float => "float",
            Double => "double",
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Float | Double)
    }

    /// C's integer promotion.
    fn promoted(self) -> Ty {
        match self {
            Schar | Uchar | Short | Ushort | Bool => Int,
            other => other,
        }
    }

    /// C's usual arithmetic conversions.
    fn with(self, other: Ty) -> Ty {
        let order = [Double, Float, Ullong, Llong, Uint];
        let (a, b) = (self.promoted(), other.promoted());
        order
            .into_iter()
            .find(|&ty| a == ty || b == ty)
            .unwrap_or(Int)
    }
}

/// An expression and its type.
type Expr = (String, Ty);

struct Generator<'a, 'b> {
    choices: &'a mut Choices<'b>,
    out: String,
    depth: usize,
    /// Places that may be read and written.
    places: Vec<Expr>,
    /// Places that may only be read.
    read_only: Vec<Expr>,
    names: usize,
    budget: usize,
}

/// Reads a function `f<number>` from choices.
pub(super) fn function(choices: &mut Choices<'_>, number: usize) -> String {
    let mut generator = Generator {
        choices,
        out: String::new(),
        depth: 1,
        places: Vec::new(),
        read_only: Vec::new(),
        names: 0,
        budget: 24,
    };
    generator.write(number);
    generator.out
}

impl Generator<'_, '_> {
    fn line(&mut self, text: impl AsRef<str>) {
        let indent = "    ".repeat(self.depth);
        let _ = writeln!(self.out, "{indent}{}", text.as_ref());
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn write(&mut self, number: usize) {
        let _ = writeln!(self.out, "FN void f{number}(ullong *out) {{");
        for _ in 0..3 + self.choices.below(5) {
            self.variable();
        }
        self.array();
        if self.choices.one_in(2) {
            self.structure();
        }
        let results = self.places.clone();
        for _ in 0..3 + self.choices.below(8) {
            if self.budget == 0 {
                break;
            }
            self.statement(0);
        }
        for (index, (place, ty)) in results.iter().take(24).enumerate() {
            let value = match ty {
                Float => format!("float_bits({place})"),
                Double => format!("double_bits({place})"),
                _ => format!("(ullong){place}"),
            };
            self.line(format!("out[{index}] = {value};"));
        }
        self.out += "}\n";
    }

    fn variable(&mut self) {
        let (name, ty) = (self.name('v'), self.choices.pick(TYPES));
        let value = self.constant();
        let value = self.converted(value, ty);
        self.line(format!("{} {name} = {value};", ty.name()));
        self.places.push((name, ty));
    }

    fn array(&mut self) {
        let (name, ty) = (self.name('a'), self.choices.pick(TYPES));
        let values: Vec<String> = (0..4)
            .map(|_| {
                let value = self.constant();
                self.converted(value, ty)
            })
            .collect();
        self.line(format!(
            "{} {name}[4] = {{{}}};",
            ty.name(),
            values.join(", ")
        ));
        for index in 0..4 {
            self.places.push((format!("{name}[{index}]"), ty));
        }
        let pointer = self.name('p');
        let at = self.choices.below(3);
        self.line(format!("{} *{pointer} = {name} + {at};", ty.name()));
        self.places.push((format!("(*{pointer})"), ty));
    }

    fn structure(&mut self) {
        let name = self.name('s');
        self.line(format!(
            "struct outer {name} = {{1, 2.5, {{3, {{4, 5}}}}, 6u, 7.5f, 8}};"
        ));
        let members = [
            ("c", Schar),
            ("d", Double),
            ("in.a", Short),
            ("in.b[1]", Uchar),
            ("w", Uint),
            ("f", Float),
            ("l", Llong),
        ];
        for (member, ty) in members {
            self.places.push((format!("{name}.{member}"), ty));
        }
        let copy = self.name('s');
        match self.choices.below(3) {
            0 => self.line(format!("struct outer {copy} = {name}; {copy}.w += 1;")),
            1 => self.line(format!(
                "struct outer *{copy}p = &{name}, {copy} = *{copy}p;"
            )),
            _ => {
                let value = self.expr(1);
                let value = self.converted(value, Int);
                self.line(format!(
                    "struct outer {copy} = {name}; {copy}.in = make_inner({value}, {name}.w);"
                ));
            }
        }
        self.places.push((format!("{copy}.in.b[0]"), Uchar));
        self.read_only.push((format!("sum_inner({copy}.in)"), Int));
    }

    fn place(&mut self) -> Expr {
        let at = self.choices.below(self.places.len());
        self.places[at].clone()
    }

    fn statement(&mut self, nesting: usize) {
        self.budget = self.budget.saturating_sub(1);
        match self.choices.below(if nesting < 2 { 13 } else { 7 }) {
            0..=2 => {
                let (place, ty) = self.place();
                let value = self.expr(3);
                let value = self.implicit(value, ty);
                self.line(format!("{place} = {value};"));
            }
            3 => self.compound(),
            4 => {
                let (place, _) = self.place();
                let op = self.choices.pick(&["++", "--"]);
                let is_bool = self
                    .places
                    .iter()
                    .any(|(name, ty)| *name == place && *ty == Bool);
                if is_bool {
                    return self.line(format!("{place} = !{place};"));
                }
                let text = if self.choices.one_in(2) {
                    format!("{op}{place};")
                } else {
                    format!("{place}{op};")
                };
                self.line(text);
            }
            5 => self.through_pointer(),
            6 => {
                let name = self.name('t');
                let value = self.expr(2);
                let ty = value.1;
                self.line(format!("const {} {name} = {};", ty.name(), value.0));
                let (place, place_ty) = self.place();
                let value = self.implicit((name, ty), place_ty);
                self.line(format!("{place} = {value};"));
            }
            7 | 8 => {
                let condition = self.expr(2).0;
                self.line(format!("if ({condition}) {{"));
                self.block(nesting);
                if self.choices.one_in(2) {
                    self.line("} else {");
                    self.block(nesting);
                }
                self.line("}");
            }
            9 | 10 => self.repeat(nesting),
            11 => self.switch(nesting),
            _ => {
                self.line("{");
                let known = self.places.len();
                self.depth += 1;
                self.variable();
                self.statement(nesting + 1);
                self.depth -= 1;
                self.places.truncate(known);
                self.line("}");
            }
        }
    }

    fn block(&mut self, nesting: usize) {
        self.depth += 1;
        for _ in 0..1 + self.choices.below(3) {
            self.statement(nesting + 1);
        }
        self.depth -= 1;
    }

    fn compound(&mut self) {
        let (place, ty) = self.place();
        let value = self.expr(2);
        let (op, value) = match self.choices.below(7) {
            0 => ("+=", value),
            1 => ("-=", value),
            2 => ("*=", value),
            3 if !ty.is_float() && !value.1.is_float() => ("%=", self.divisor(value)),
            4 if !ty.is_float() && !value.1.is_float() => {
                let op = self.choices.pick(&["<<=", ">>="]);
                (op, self.distance(value, ty.promoted()))
            }
            5 if !ty.is_float() && !value.1.is_float() => {
                (self.choices.pick(&["^=", "|=", "&="]), value)
            }
            _ => ("/=", self.divisor(value)),
        };
        if !ty.is_float() && value.1.is_float() {
            // The sum is a floating-point number, which has to fit.
            let sum = (
                format!("({place} {} ({}))", &op[..1], value.0),
                ty.with(value.1),
            );
            let value = self.converted(sum, ty);
            return self.line(format!("{place} = {value};"));
        }
        self.line(format!("{place} {op} {};", value.0));
    }

    fn through_pointer(&mut self) {
        let mut words = self.places.iter().filter(|(_, ty)| *ty == Uint);
        let Some((place, _)) = words.next_back().cloned() else {
            return self.compound();
        };
        let value = self.expr(2);
        let value = self.converted(value, Ushort);
        self.line(format!("bump(&{place}, {value});"));
    }

    fn repeat(&mut self, nesting: usize) {
        let name = self.name('i');
        let (ty, count) = (
            self.choices.pick(&[Int, Uint, Uchar, Llong]),
            1 + self.choices.below(6),
        );
        let loops = [
            format!(
                "for ({} {name} = 0; {name} < {count}; {name}++) {{",
                ty.name()
            ),
            format!(
                "for ({} {name} = {count}; {name} > 0; {name} -= 1) {{",
                ty.name()
            ),
            format!("{} {name} = 0; while ({name}++ < {count}) {{", ty.name()),
            format!("{} {name} = {count}; do {{", ty.name()),
        ];
        let which = self.choices.below(loops.len());
        self.line("{");
        self.line(&loops[which]);
        let known = self.read_only.len();
        self.read_only.push((name.clone(), ty));
        self.block(nesting);
        if self.choices.one_in(4) {
            let condition = self.expr(1).0;
            let jump = self.choices.pick(&["break;", "continue;"]);
            // `continue` would skip the counter of a `do` loop, so its condition counts.
            self.depth += 1;
            self.line(format!("if ({condition}) {jump}"));
            self.statement(nesting + 1);
            self.depth -= 1;
        }
        self.read_only.truncate(known);
        self.line(if which == 3 {
            format!("}} while (--{name} > 0);")
        } else {
            "}".to_string()
        });
        self.line("}");
    }

    fn switch(&mut self, nesting: usize) {
        let value = self.expr(2);
        let value = self.integer(value);
        self.line(format!("switch (({}) & 7) {{", value.0));
        for case in 0..1 + self.choices.below(4) {
            self.line(format!("case {}: {{", 2 * case));
            self.block(nesting);
            self.line("}");
            if !self.choices.one_in(3) {
                self.line("    break;");
            }
        }
        if self.choices.one_in(2) {
            self.line("default: {");
            self.block(nesting);
            self.line("}");
        }
        self.line("}");
    }
}
