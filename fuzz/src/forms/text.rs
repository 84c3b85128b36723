//! The generator: a C program whose loops have the shapes that the fused form joins: addresses with sums and products, steps and
//! comparisons, loads that are compared, added or updated in place, values that a loop does not change, and small functions.
//!
//! Which NaN an operation gives is not part of its meaning (`ir::eval`), so no NaN is printed.

use std::fmt::Write;

use crate::choices::Choices;

const HEAD: &str = "
#include <stdio.h>
#include <stdlib.h>
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef long long llong;
struct cell { float x, y; int n; double d; short s; uchar b; bool t; llong l; };
int gi[400];
double gd[400];
int total;
static int twice(int x) { return x * 2; }
static int capital(int c) { return c >= 40 && c <= 60 ? c - 7 : c; }
static int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
static bool same(const char *a, const char *b) { while (*a && *a == *b) { a++; b++; } return *a == *b; }
static float dot(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }
static int count(const int *p, int n, int x) { int c = 0; for (int i = 0; i < n; i++) { if (p[i] == x) return i; c += p[i] > x; } return c; }
static int choose(int x, int y) { if (x > y) return x - y; if (x == y) { total++; return 1; } return y; }
static int deep(int n) { return n < 1 ? 0 : n + deep(n - 1); }
static double shown(double x) { return x != x ? 0 : x; }
static void put(double *p, int at, double x) { p[at] = x; }
struct list { int size; int *items; float mean; };
static int grow(list *it, int by) { it->size = it->size + by & 1023; it->mean += 0.5f; return it->size; }
static int *inside(list *it) { return &it->size; }
static void push(list *it, int n) { if (n > 0) { it->size = it->size + n & 255; push(it, n - 1); } }
static int look(const list *it) { return it->size > 3 ? it->items[2] : it->size; }
int main(int argc, char **argv) {
    int n = argc + 2, m = n + 1, k = 3, w;
    unsigned u = argc * 7;
    llong l = argc, q = 5, v = 0;
    float f = 1.5f, g = argc;
    double d = 0.25, e = argc * 0.5;
    char c = 5;
    bool t = argc > 2;
";

/// An array: its name, its element type, and its definition.
struct Array {
    name: &'static str,
    is_float: bool,
    made: &'static str,
}

const fn array(name: &'static str, is_float: bool, made: &'static str) -> Array {
    Array {
        name,
        is_float,
        made,
    }
}

/// Indices from -8 to 391; from 0 for arrays on the stack.
const ARRAYS: &[Array] = &[
    array("pi", false, "int *pi = (int *)malloc(1600) + 8;"),
    array("pf", true, "float *pf = (float *)malloc(1600) + 8;"),
    array("pd", true, "double *pd = (double *)malloc(3200) + 8;"),
    array("pc", false, "char *pc = (char *)malloc(400) + 8;"),
    array("ps", false, "short *ps = (short *)malloc(800) + 8;"),
    array("pu", false, "ushort *pu = (ushort *)malloc(800) + 8;"),
    array("pb", false, "uchar *pb = (uchar *)malloc(400) + 8;"),
    array("pl", false, "llong *pl = (llong *)malloc(3200) + 8;"),
    array("ai", false, "int ai[400];"),
    array("ad", true, "double ad[400];"),
    array("ab", false, "uchar ab[400];"),
    array("pt", false, "bool pt[400];"),
];

/// Other places to read and write.
const OTHERS: &[(&str, bool)] = &[
    ("gi[#]", false),
    ("gd[#]", true),
    ("aa[$][^]", false),
    ("pp[^].x", true),
    ("pp[^].y", true),
    ("pp[^].n", false),
    ("pp[^].d", true),
    ("pp[^].s", false),
    ("pp[^].b", false),
    ("pp[^].t", false),
    ("pp[^].l", false),
    ("r->x", true),
    ("r->n", false),
    ("total", false),
    ("own.size", false),
    ("own.items[^]", false),
    ("own.mean", true),
    ("other.size", false),
    ("other.items[$]", false),
    ("*within", false),
    ("((uchar *)pi)[^]", false),
];

/// `$`: a loop variable; `^`: a small index; `#`: any index.
const INDEXES: &[&str] = &[
    "$",
    "$ * n + $",
    "$ + 1",
    "$ - 1",
    "($ + 1) * n + $",
    "($ - 1) * m + $",
    "$ * m + $ + 1",
    "n * k + $",
    "$ * 6 + $",
    "l + $",
    "$ + q",
    "(llong)$ * n + $",
    "u % 40",
    "$ & 15",
    "(size_t)$",
    "39 - $",
    "k",
    "n + m",
    "l",
    "w & 31",
    "pi[$] & 7",
    "pb[$] % 40u",
    "$ * 6 + u % 5",
    "$ + v",
    "v + w",
    "v * n + w",
    "v",
];

const SMALL: &[&str] = &["$ & 3", "k", "n & 1", "k + 1", "$ % 6", "1", "$"];

const INTS: &[&str] = &[
    "n",
    "m",
    "k",
    "u",
    "l",
    "q",
    "c",
    "w",
    "t",
    "$",
    "7",
    "-1",
    "1664525u",
    "1000000007LL",
];
const FLOATS: &[&str] = &["f", "g", "d", "e", "0.5f", "0.2", "1e30f", "n", "$"];
const VARIABLES: &[(&str, bool)] = &[
    ("u", false),
    ("v", false),
    ("c", false),
    ("t", false),
    ("w", false),
    ("f", true),
    ("g", true),
    ("d", true),
    ("e", true),
    ("total", false),
];
const COMPARISONS: &[&str] = &["<", "<=", ">", ">=", "==", "!="];

struct Generator<'a, 'b> {
    choices: &'a mut Choices<'b>,
    out: String,
    depth: usize,
    /// The variables of the enclosing loops.
    loops: Vec<String>,
    names: usize,
    budget: usize,
}

/// The program.
pub(super) fn program(choices: &mut Choices<'_>) -> String {
    let mut generator = Generator {
        choices,
        out: HEAD.to_string(),
        depth: 1,
        loops: Vec::new(),
        names: 0,
        budget: 30,
    };
    generator.write();
    generator.out
}

impl Generator<'_, '_> {
    fn line(&mut self, text: impl AsRef<str>) {
        let indent = "    ".repeat(self.depth);
        let _ = writeln!(self.out, "{indent}{}", text.as_ref());
    }

    fn write(&mut self) {
        for array in ARRAYS {
            self.line(array.made);
        }
        self.line("int aa[44][6];");
        self.line("cell *pp = (cell *)malloc(44 * sizeof(cell)), *r = pp + 1;");
        // One that no pointer leads to, and one that a pointer leads into.
        self.line("list own = {4, pi, 1}, other = {5, ai, 2};");
        self.line("int *within = inside(&other);");
        self.line("char *words[3] = {(char *)\"warp\", (char *)\"lane\", (char *)\"warps\"};");
        // An array that is not initialised; usually none.
        let left_out = self.choices.below(3 * ARRAYS.len());
        for (number, array) in ARRAYS.iter().enumerate() {
            let to = if number == left_out + 1 { 17 } else { 392 };
            let name = array.name;
            let from = if name.starts_with('p') && name != "pt" {
                -8
            } else {
                0
            };
            self.line(format!(
                "for (int i = {from}; i < {to}; i++) {name}[i] = (i * {}) % 23;",
                number + 3
            ));
        }
        self.line("for (int i = 0; i < 44; i++) for (int j = 0; j < 6; j++) aa[i][j] = i - j;");
        self.line("for (int i = 0; i < 44; i++) { cell v = {i * 0.5f, 2, i, 0.25, (short)i, 7, false, 9}; pp[i] = v; }");
        if !self.choices.one_in(6) {
            self.line("w = 4;");
        }
        for _ in 0..2 + self.choices.below(6) {
            if self.budget == 0 {
                break;
            }
            self.repeat(0);
        }
        let show = "printf(\"%d %u %lld %d %g %g %g %g\\n\", n, u, v, c, shown(f), shown(g), shown(d), shown(e));";
        self.line(show);
        self.line("double sum = 0; unsigned hash = 0;");
        for array in ARRAYS {
            let (name, text) = (array.name, array.is_float);
            let add = if text { "sum +=" } else { "hash = hash * 31 +" };
            self.line(format!("for (int i = 0; i < 300; i++) {add} {name}[i];"));
        }
        self.line("for (int i = 0; i < 40; i++) { sum += gd[i]; hash = hash * 31 + gi[i]; }");
        self.line(
            "for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) hash = hash * 31 + aa[i][j];",
        );
        self.line("for (int i = 0; i < 6; i++) { sum += pp[i].x + pp[i].y + pp[i].d; hash = hash * 31 + pp[i].n + pp[i].s + pp[i].b + pp[i].t + pp[i].l; }");
        self.line("printf(\"%g %u %d\\n\", shown(sum), hash, total);");
        self.line("printf(\"%d %d %g\\n\", own.size, other.size, shown(own.mean));");
        self.line("puts(\"end\");");
        self.line("return 0;");
        self.out += "}\n";
    }

    /// The text with its placeholders filled.
    fn fill(&mut self, text: &str) -> String {
        let mut filled = String::new();
        for letter in text.chars() {
            match letter {
                '$' => match self.loops.len() {
                    0 => filled.push('k'),
                    count => {
                        // Usually the innermost one.
                        let back = self.choices.pick(&[0, 0, 0, 1, 1, 2]).min(count - 1);
                        filled += &self.loops[count - 1 - back];
                    }
                },
                '^' => {
                    let index = self.choices.pick(SMALL);
                    filled += &self.fill(index);
                }
                '#' => {
                    let index = self.choices.pick(INDEXES);
                    filled += &self.fill(index);
                }
                other => filled.push(other),
            }
        }
        filled
    }

    /// An element or a member, and whether it is a floating-point number.
    fn element(&mut self) -> (String, bool) {
        if self.choices.below(3) == 2 {
            let (text, is_float) = self.choices.pick(OTHERS);
            return (self.fill(text), is_float);
        }
        let array = &ARRAYS[self.choices.below(ARRAYS.len())];
        (self.fill(&format!("{}[#]", array.name)), array.is_float)
    }

    fn place(&mut self) -> (String, bool) {
        match self.choices.below(3) {
            0 => {
                let (name, is_float) = self.choices.pick(VARIABLES);
                (name.to_string(), is_float)
            }
            _ => self.element(),
        }
    }

    /// An integer.
    fn int(&mut self, depth: usize) -> String {
        match self.choices.below(if depth == 0 { 3 } else { 12 }) {
            0 | 1 => {
                let text = self.choices.pick(INTS);
                self.fill(text)
            }
            2 => match self.element() {
                (text, true) => format!("(int){text}"),
                (text, false) => text,
            },
            3..=6 => {
                let op = self.choices.pick(&["+", "-", "*", "&", "|", "^", "+", "*"]);
                format!("({} {op} {})", self.int(depth - 1), self.int(depth - 1))
            }
            7 => {
                let op = self.choices.pick(&["/", "%"]);
                let by = self
                    .choices
                    .pick(&["7", "n", "3u", "q", "k", "5", "m", "w"]);
                format!("({} {op} {by})", self.int(depth - 1))
            }
            8 => {
                let op = self.choices.pick(&["<<", ">>"]);
                format!("({} {op} {})", self.int(depth - 1), self.choices.below(9))
            }
            9 => format!(
                "({} ? {} : {})",
                self.condition(depth - 1),
                self.int(depth - 1),
                self.int(depth - 1)
            ),
            // A side effect inside an expression, whose other parts may hold the earlier value.
            10 if self.choices.one_in(3) => self
                .choices
                .pick(&[
                    "v++",
                    "--w",
                    "(v = k + 1)",
                    "(u += 3)",
                    "(w = v & 7)",
                    "(w -= 1)",
                ])
                .to_string(),
            10 => {
                let call = self.choices.pick(&[
                    "twice(@)",
                    "capital(@)",
                    "choose(@, $)",
                    "deep(@ & 7)",
                    "count(pi, n, @)",
                    "length(words[k & 1])",
                    "same(words[0], words[2])",
                    "grow(&own, @)",
                    "look(&other)",
                ]);
                let value = self.int(depth - 1);
                self.fill(call).replace('@', &value)
            }
            _ => format!("(int)({})", self.float(depth - 1)),
        }
    }

    /// A floating-point number.
    fn float(&mut self, depth: usize) -> String {
        match self.choices.below(if depth == 0 { 3 } else { 9 }) {
            0 => {
                let text = self.choices.pick(FLOATS);
                self.fill(text)
            }
            1 | 2 => self.element().0,
            3..=6 => {
                let op = self.choices.pick(&["+", "-", "*", "+", "*", "/"]);
                format!("({} {op} {})", self.float(depth - 1), self.float(depth - 1))
            }
            7 => "dot(pf, pf + 3, n)".to_string(),
            _ => format!("(-{})", self.float(depth - 1)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let op = self.choices.pick(COMPARISONS);
        match self.choices.below(8) {
            0..=2 => format!("{} {op} {}", self.element().0, self.int(0)),
            3 => format!("{} {op} {}", self.int(depth), self.int(depth)),
            4 => format!("{} {op} {}", self.float(depth), self.float(depth)),
            5 => self.element().0,
            6 if depth > 0 => {
                let joined = self.choices.pick(&["&&", "||"]);
                let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
                format!("({left} {joined} {right})")
            }
            _ => format!("!({} {op} {})", self.int(0), self.int(0)),
        }
    }

    fn statement(&mut self, nesting: usize) {
        self.budget = self.budget.saturating_sub(1);
        match self.choices.below(if nesting < 3 && self.budget > 0 {
            12
        } else {
            7
        }) {
            0 | 1 => {
                let (place, is_float) = self.place();
                let value = if is_float { self.float(2) } else { self.int(2) };
                self.line(format!("{place} = {value};"));
            }
            2..=4 => {
                let (place, is_float) = self.place();
                let op = self.choices.pick(&["+=", "-=", "+=", "*="]);
                let value = if is_float { self.float(2) } else { self.int(1) };
                self.line(format!("{place} {op} {value};"));
            }
            5 => {
                let (place, is_float) = self.place();
                let op = self.choices.pick(&["++", "--"]);
                match is_float || place == "t" || place.ends_with(".t") || place.contains("pt[") {
                    true => self.line(format!("{place} = {};", self.loops.len())),
                    false => self.line(format!("{place}{op};")),
                }
            }
            6 => {
                let text = self.choices.pick(&[
                    "put(pd, #, f);",
                    "pp[^] = pp[^];",
                    "r = pp + ($ & 3);",
                    "f += pf[#] * pf[#];",
                    "d = d + pd[#] * gd[#];",
                    "e -= ad[#];",
                    "t = pi[#] < pi[#];",
                    "ai[pb[#]]++;",
                    "pl[$] = (pl[$] + pl[$ - 1]) & 0xffff;",
                    "u = u * 1664525u + 1013904223u;",
                    "n = m - 1;",
                    "v = $ - 1;",
                    "grow(&own, $);",
                    "grow(&other, 1);",
                    "push(&own, 2);",
                    "push(&other, $ & 1);",
                    "own.items = other.items;",
                    "total = own.size + *within;",
                ]);
                let text = self.fill(text);
                self.line(text);
            }
            7 | 8 => {
                let condition = self.condition(1);
                self.line(format!("if ({condition}) {{"));
                self.block(nesting);
                if self.choices.one_in(3) {
                    self.line("} else {");
                    self.block(nesting);
                }
                self.line("}");
            }
            9 => {
                let condition = self.condition(1);
                match self.loops.is_empty() {
                    true => {}
                    false => {
                        let jump = self.choices.pick(&["break;", "continue;"]);
                        self.line(format!("if ({condition}) {jump}"));
                    }
                }
            }
            _ => self.repeat(nesting),
        }
    }

    fn block(&mut self, nesting: usize) {
        self.depth += 1;
        for _ in 0..1 + self.choices.below(3) {
            self.statement(nesting + 1);
        }
        self.depth -= 1;
    }

    /// A loop of one of many kinds. All have a counter, so that they end.
    fn repeat(&mut self, nesting: usize) {
        self.names += 1;
        let name = format!("i{}", self.names);
        let ends: &[&str] = match nesting {
            0 => &["n", "m", "6", "17", "39", "n * m", "40"],
            _ => &["n", "m", "5", "k + 1", "6"],
        };
        let end = self.choices.pick(ends);
        let loops = [
            format!("for (int {name} = 0; {name} < {end}; {name}++) {{"),
            format!("for (int {name} = 1; {name} < {end}; {name}++) {{"),
            format!("for (unsigned {name} = 0; {name} < {end}; {name} += 2) {{"),
            format!("for (llong {name} = 1; {name} <= {end}; {name}++) {{"),
            format!("for (size_t {name} = 0; {name} != {end}; {name}++) {{"),
            format!("for (int {name} = {end}; {name} > 0; {name}--) {{"),
            format!("for (int {name} = 0; {name} < {end}; {name} += argc) {{"),
            format!("int {name} = 0; while ({name}++ < {end} && pi[{name}] != 22) {{"),
            format!("int {name} = 0; for (char *s = pc; *s && {name} < {end}; s++, {name}++) {{"),
            format!("int {name} = -1; while (++{name} < {end}) {{"),
            format!("int {name} = 0; for (float x = 0.5f; x < {end}; x += 1.25f, {name}++) {{"),
        ];
        let which = self.choices.below(loops.len());
        self.line("{");
        self.line(&loops[which]);
        self.loops.push(name);
        self.block(nesting);
        self.loops.pop();
        self.line("}");
        self.line("}");
    }
}
