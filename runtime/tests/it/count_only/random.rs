//! Random kernels: indices that are sums of products, divided, masked and compared, around accesses of all widths.

/// A random number generator: xorshift.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    fn odd_size(&mut self) -> u64 {
        match self.below(4) {
            0 => 1 << self.below(10),
            1 => 32 * (1 + self.below(20)),
            2 => 3 + self.below(40),
            _ => 100 + self.below(1500),
        }
    }
}

/// A kernel's text and its launch.
pub(crate) struct Kernel {
    pub(crate) body: String,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) n: i32,
    pub(crate) m: i32,
}

pub(crate) fn kernel(random: &mut Random) -> Kernel {
    let dimensions = 1 + random.below(3);
    let size = |random: &mut Random, used: bool, most: u64| match used {
        true => 1 + random.below(most) as u32,
        false => 1,
    };
    let grid = [
        size(random, true, 60),
        size(random, dimensions > 1, 20),
        size(random, dimensions > 2, 5),
    ];
    let block = [
        [16, 32, 48, 64, 33, 8][random.below(6) as usize],
        [1, 2, 4, 3][random.below(if dimensions > 1 { 4 } else { 1 }) as usize],
        1,
    ];
    let mut body = String::from(
        "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;\n",
    );
    for _ in 0..1 + random.below(3) {
        statement(random, &mut body, 0);
    }
    Kernel {
        body,
        grid,
        block,
        n: random.odd_size() as i32,
        m: random.odd_size() as i32,
    }
}

fn statement(random: &mut Random, body: &mut String, depth: u32) {
    let pad = "    ".repeat(depth as usize + 1);
    match random.below(if depth < 2 { 6 } else { 2 }) {
        0 | 1 => access(random, body, &pad),
        2 | 3 => {
            let (a, b) = (sum(random, depth), sum(random, depth));
            let op = random.one(&["<", "<=", ">", ">=", "==", "!="]);
            *body += &format!("{pad}if ({a} {op} {b}) {{\n");
            statement(random, body, depth + 1);
            if random.below(2) == 0 {
                *body += &format!("{pad}}} else {{\n");
                statement(random, body, depth + 1);
            }
            *body += &format!("{pad}}}\n");
        }
        4 => {
            let k = format!("k{depth}");
            let rounds = match random.below(4) {
                0 => "min((int)blockIdx.x, 7)".to_owned(),
                1 => "1 + (x & 3)".to_owned(),
                _ => (1 + random.below(5)).to_string(),
            };
            *body += &format!("{pad}for (int {k} = 0; {k} < {rounds}; {k}++) {{\n");
            statement(random, body, depth + 1);
            *body += &format!("{pad}}}\n");
        }
        _ => {
            // A variable that changes.
            let value = sum(random, depth);
            let name = random.one(&["x", "y"]);
            *body += &format!("{pad}{name} = {value};\n");
            statement(random, body, depth + 1);
        }
    }
}

/// An access that a bound or a mask keeps inside its buffer.
fn access(random: &mut Random, body: &mut String, pad: &str) {
    let index = sum(random, 0);
    let kind = random.one(&[
        "float", "char", "short", "double", "float4", "int", "float2",
    ]);
    let (to, from) = match random.below(3) {
        0 => ("b", "a"),
        _ => ("a", "b"),
    };
    let (set, get) = (format!("(({kind} *){to})"), format!("(({kind} *){from})"));
    let other = sum(random, 0);
    match random.below(3) {
        0 => {
            *body += &format!("{pad}{set}[({index}) & 0xffff] = {get}[({other}) & 0x1ffff];\n");
        }
        1 => {
            *body += &format!(
                "{pad}{{ int t = {index}; if (t >= 0 && t < 100000) {set}[t] = {get}[t]; }}\n"
            );
        }
        _ => {
            *body += &format!(
                "{pad}{{ unsigned t = {index}, u = {other}; if (t < 60000u && u < 60000u) {set}[t] = {get}[u]; }}\n"
            );
        }
    }
}

fn sum(random: &mut Random, depth: u32) -> String {
    let terms = 1 + random.below(3);
    let terms: Vec<String> = (0..terms).map(|_| term(random, depth)).collect();
    terms.join(random.one(&[" + ", " + ", " - "]))
}

fn term(random: &mut Random, depth: u32) -> String {
    let base = match random.below(9) {
        0 | 1 => "x",
        2 => "y",
        3 => "z",
        4 => "(int)blockIdx.x",
        5 => "(int)threadIdx.x",
        6 => "(int)blockIdx.y",
        7 if depth > 0 => "x",
        _ => "n",
    };
    let size = random.odd_size();
    match random.below(10) {
        0 => format!("{base} * n"),
        1 => format!("{base} * {size}"),
        2 => format!("{base} / {size}"),
        3 => format!("{base} % {size}"),
        4 => format!("({base} & {})", (1u64 << random.below(8)) - 1),
        5 => format!("({base} >> {})", random.below(7)),
        6 => format!("({base} << {})", random.below(6)),
        7 => format!("min({base}, {size})"),
        8 => format!("({base} ^ {})", random.below(9)),
        _ => base.to_owned(),
    }
}
