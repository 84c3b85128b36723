//! The generator: phases with barriers between them. In each phase an array is either written, each thread its own elements, or read.
//!
//! A phase is a block's or a warp's. In a warp's phase, threads read only what their own warp wrote, and between two such phases is
//! `__syncwarp` instead of `__syncthreads`. Counters are changed by atomics whose results are unused, with one operation for each counter.
//! Shared counters are read only in phases in which no thread changes them.

use std::fmt::Write;

use crate::choices::Choices;

/// A kernel and how to launch it.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) source: String,
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) block: [u32; 3],
}

/// Bytes per thread of the kernel's buffers: `out`, `in`, `counters`, `floats`, `records`. Each has 64 bytes more.
pub(super) const BUFFERS: [u64; 5] = [16, 4, 4, 4, 8];

/// The only operation on each counter.
const COUNTERS: [&str; 8] = [
    "atomicAdd",
    "atomicMax",
    "atomicMin",
    "atomicOr",
    "atomicXor",
    "atomicAnd",
    "atomicAdd",
    "atomicSub",
];

/// A shared array with an element for each thread.
#[derive(Clone)]
struct Array {
    name: String,
    /// Whether all threads read it in this phase; otherwise each writes its own element.
    is_read: bool,
}

struct Generator<'a, 'b> {
    choices: &'a mut Choices<'b>,
    out: String,
    depth: usize,
    threads: u32,
    arrays: Vec<Array>,
    /// Whether the block's part of `out` is read in this phase.
    out_is_read: bool,
    /// Whether shared counters are read in this phase.
    counters_are_read: bool,
    is_warp_phase: bool,
    budget: usize,
}

/// Makes a kernel from choices.
pub(super) fn kernel(choices: &mut Choices<'_>) -> Kernel {
    let block = choices.pick(&[
        [64, 1, 1],
        [32, 1, 1],
        [96, 1, 1],
        [128, 1, 1],
        [16, 4, 1],
        [8, 4, 2],
        [40, 1, 1],
        [1, 1, 1],
        [33, 3, 1],
        [256, 1, 1],
    ]);
    let threads = block.iter().product();
    let blocks = choices.pick(&[2, 1, 3, 5]);
    let mut generator = Generator {
        choices,
        out: String::new(),
        depth: 1,
        threads,
        arrays: Vec::new(),
        out_is_read: false,
        counters_are_read: false,
        is_warp_phase: false,
        budget: 90,
    };
    generator.write(block);
    Kernel {
        source: generator.out,
        blocks,
        threads,
        block,
    }
}

impl Generator<'_, '_> {
    fn line(&mut self, text: impl AsRef<str>) {
        let indent = "    ".repeat(self.depth);
        let _ = writeln!(self.out, "{indent}{}", text.as_ref());
    }

    fn whole_warps(&self) -> bool {
        self.threads.is_multiple_of(32)
    }

    fn write(&mut self, block: [u32; 3]) {
        let threads = self.threads;
        self.out += "struct record { int x; float y; };\n\
            __device__ int mix(int a, int b) { if (a & 1) return a * 3 + b; return b - (a >> 1); }\n\
            __device__ void swap_two(int &a, int &b) { int c = a; a = b; b = c; }\n\
            __global__ void k(int *out, const int *in, int *counters, float *floats, record *records, int n) {\n";
        self.line(format!("const unsigned T = {threads};"));
        let linear = match block {
            [_, 1, 1] => "threadIdx.x",
            [_, _, 1] => "threadIdx.y * blockDim.x + threadIdx.x",
            _ => "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x",
        };
        self.line(format!(
            "const unsigned t = {linear}, first = blockIdx.x * T, g = first + t;"
        ));
        for index in 0..1 + self.choices.below(3) {
            let ty = self
                .choices
                .pick(&["int", "unsigned char", "short", "long long", "int"]);
            self.line(format!("__shared__ {ty} s{index}[T];"));
            self.arrays.push(Array {
                name: format!("s{index}"),
                is_read: false,
            });
        }
        self.line("__shared__ int shared_counters[8];");
        self.line("int a = in[g], b = t, c = blockIdx.x + 1, l[4] = {1, 2, 3, 4};");
        self.line("float f = 0.5f * t;");
        for index in 0..self.arrays.len() {
            let name = self.arrays[index].name.clone();
            self.line(format!("{name}[t] = a + {index};"));
        }
        self.line("for (unsigned i = t; i < 8; i += T) shared_counters[i] = 0;");
        self.line("__syncthreads();");
        for _ in 0..12 {
            if self.choices.is_empty() || self.budget == 0 {
                break;
            }
            match self.choices.below(8) {
                6 => self.repeat(),
                7 => self.tree(),
                _ => self.phase(true),
            }
        }
        self.line(
            "out[4 * g] = a; out[4 * g + 1] = b; out[4 * g + 2] = c; out[4 * g + 3] = l[0] + l[3];",
        );
        self.line("floats[g] = f;");
        self.out += "}\n";
    }

    /// Phases in a loop whose number of rounds is the same for all threads of a block.
    fn repeat(&mut self) {
        let count = self
            .choices
            .pick(&["3", "2", "(int)blockIdx.x + 1", "n % 4"]);
        self.line(format!("for (int r = 0; r < {count}; r++) {{"));
        self.depth += 1;
        for _ in 0..1 + self.choices.below(3) {
            self.phase(false);
        }
        self.depth -= 1;
        self.line("}");
    }

    /// A barrier, new roles for all arrays, statements, a barrier.
    ///
    /// Every phase begins and ends with the barrier that its level needs; only a barrier between two phases of a warp is `__syncwarp`.
    fn phase(&mut self, may_be_warps: bool) {
        if may_be_warps && self.whole_warps() && self.choices.one_in(4) {
            self.line("// of each warp");
            self.is_warp_phase = true;
            for _ in 0..1 + self.choices.below(3) {
                self.roles();
                for _ in 0..1 + self.choices.below(4) {
                    self.statement(0);
                }
                self.line("__syncwarp();");
            }
            self.is_warp_phase = false;
            self.line("__syncthreads();");
            return;
        }
        self.roles();
        for _ in 0..1 + self.choices.below(4) {
            self.statement(0);
        }
        match self.choices.below(6) {
            5 => {
                let condition = self.condition();
                let which = self.choices.pick(&["count", "and", "or"]);
                self.line(format!("a += __syncthreads_{which}({condition});"));
            }
            _ => self.line("__syncthreads();"),
        }
    }

    fn roles(&mut self) {
        for index in 0..self.arrays.len() {
            self.arrays[index].is_read = self.choices.one_in(2);
        }
        self.out_is_read = self.choices.one_in(3);
        self.counters_are_read = !self.is_warp_phase && self.choices.one_in(3);
    }

    /// A sum over the block, in an array that all threads have written.
    fn tree(&mut self) {
        if !self.threads.is_power_of_two() {
            return self.phase(true);
        }
        let name = self.arrays[0].name.clone();
        let condition = if self.choices.one_in(2) {
            "t < h"
        } else {
            "t % (T / h) == 0"
        };
        let (to, from) = match condition {
            "t < h" => ("t", "t + h"),
            // `T / h` doubles: neighbours at half that distance.
            _ => ("t", "t + T / h / 2"),
        };
        self.line("for (unsigned h = T / 2; h > 0; h /= 2) {");
        self.line(format!(
            "    if ({condition}) {name}[{to}] += {name}[{from}];"
        ));
        self.line("    __syncthreads();");
        self.line("}");
        self.line(format!("a += {name}[0];"));
        self.line("__syncthreads();");
    }

    fn statement(&mut self, nesting: usize) {
        self.budget = self.budget.saturating_sub(1);
        let choice = self.choices.below(if nesting == 0 { 16 } else { 13 });
        match choice {
            0 | 1 => {
                let (to, value) = (self.choices.pick(&["a", "b", "c"]), self.value(2));
                self.line(format!("{to} = {value};"));
            }
            2..=4 => self.shared(),
            5 => self.global(),
            6 => {
                let (at, value) = (self.choices.below(8), self.value(1));
                self.line(format!("{}(&counters[{at}], {value});", COUNTERS[at]));
            }
            7 => self.shared_counter(),
            8 => {
                let (index, value) = (self.value(1), self.value(1));
                self.line(format!("l[(unsigned)({index}) % 4] = {value};"));
            }
            9 => {
                let value = self.value(1);
                self.line(format!("f = f * 0.5f + (float)({value} & 255);"));
            }
            10 => {
                let text = self.choices.pick(&[
                    "swap_two(a, b);",
                    "records[g].x = a;",
                    "records[g].y = f;",
                    "a += records[g].x;",
                    "floats[g] += f;",
                ]);
                self.line(text);
            }
            11 if nesting < 3 => {
                let condition = self.condition();
                self.line(format!("if ({condition}) {{"));
                self.nested(nesting);
                if self.choices.one_in(2) {
                    self.line("} else {");
                    self.nested(nesting);
                }
                self.line("}");
            }
            12 if nesting < 2 => {
                let count = self.value(1);
                self.line(format!("for (int i = 0, e = ({count}) & 3; i < e; i++) {{"));
                self.nested(nesting);
                self.line("}");
            }
            13.. if self.whole_warps() => self.exchange(),
            _ => self.line("b++;"),
        }
    }

    fn nested(&mut self, nesting: usize) {
        self.depth += 1;
        for _ in 0..1 + self.choices.below(3) {
            self.statement(nesting + 1);
        }
        self.depth -= 1;
    }

    /// An index that the thread may read in a block's array.
    fn index(&mut self) -> String {
        let value = self.value(1);
        let near = self
            .choices
            .pick(&["", "t + 1", "T - 1 - t", "t ^ 1", "0", "t * 2"]);
        let value = if near.is_empty() {
            value
        } else {
            near.to_string()
        };
        if self.is_warp_phase {
            format!("(t & ~31u) + ((unsigned)({value}) & 31)")
        } else {
            format!("(unsigned)({value}) % T")
        }
    }

    fn shared(&mut self) {
        let at = self.choices.below(self.arrays.len());
        let array = self.arrays[at].clone();
        let name = &array.name;
        if array.is_read {
            let index = self.index();
            self.line(format!("a += {name}[{index}];"));
            return;
        }
        let value = self.value(2);
        let op = self.choices.pick(&["=", "+=", "^="]);
        if self.choices.one_in(4) {
            self.line(format!("b -= {name}[t];"));
        }
        self.line(format!("{name}[t] {op} {value};"));
    }

    /// The block's part of `out`.
    fn global(&mut self) {
        let part = self.choices.below(4);
        // A thread's elements are adjacent, or a block apart.
        if self.out_is_read {
            let index = self.index();
            self.line(format!("c ^= out[4 * (first + {index}) + {part}];"));
            return;
        }
        let value = self.value(1);
        match self.choices.below(3) {
            0 => self.line(format!("out[4 * g + {part}] = {value};")),
            1 => self.line(format!("((int4 *)out)[g] = make_int4(a, b, c, {value});")),
            _ => self.line(format!(
                "((unsigned char *)out)[16 * g + {part}] = {value};"
            )),
        }
    }

    fn shared_counter(&mut self) {
        let at = self.choices.below(8);
        if self.counters_are_read {
            return self.line(format!("b += shared_counters[{at}];"));
        }
        if self.is_warp_phase {
            return self.line("b--;");
        }
        let value = self.value(1);
        self.line(format!(
            "{}(&shared_counters[{at}], {value});",
            COUNTERS[at]
        ));
    }

    /// Exchanges while all lanes of all warps are active.
    fn exchange(&mut self) {
        let value = self.value(1);
        let lane = self.choices.pick(&["1", "16", "31", "0", "5"]);
        let text = match self.choices.below(7) {
            0 => format!("a += __shfl_xor_sync(0xffffffffu, {value}, {lane});"),
            1 => format!("a += __shfl_down_sync(0xffffffffu, {value}, {lane});"),
            2 => format!("b = __shfl_sync(0xffffffffu, {value}, {lane}, 8);"),
            3 => format!("c ^= __ballot_sync(0xffffffffu, {value} > 3);"),
            4 => format!("b += __any_sync(0xffffffffu, {value} == a);"),
            5 => format!("c ^= __match_any_sync(0xffffffffu, {value} & 3);"),
            _ => format!("f += __shfl_up_sync(0xffffffffu, f, {lane});"),
        };
        self.line(text);
    }

    fn condition(&mut self) -> String {
        let value = self.value(1);
        match self.choices.below(5) {
            0 => "t & 1".to_string(),
            1 => format!("t < {}", self.choices.pick(&["7", "T / 2", "32", "1"])),
            2 => "blockIdx.x == 1".to_string(),
            3 => format!("({value}) % 3 == 0"),
            _ => format!("{value} > b"),
        }
    }

    fn value(&mut self, depth: usize) -> String {
        if depth == 0 || self.choices.one_in(3) {
            let simple = [
                "a",
                "b",
                "c",
                "(int)t",
                "1",
                "n",
                "7",
                "(int)blockIdx.x",
                "-3",
                "0x55",
                "(int)threadIdx.x",
                "(int)f % 100",
                "l[2]",
            ];
            return match self.choices.below(simple.len() + 1) {
                0 => "a".to_string(),
                n if n == simple.len() => {
                    format!(
                        "in[(unsigned)({}) % n]",
                        self.choices.pick(&["a", "b + g", "t * 7", "c"])
                    )
                }
                n => simple[n].to_string(),
            };
        }
        let (x, y) = (self.value(depth - 1), self.value(depth - 1));
        match self.choices.below(8) {
            6 => format!("mix({x}, {y})"),
            7 => format!("({x} < {y} ? {x} : {y})"),
            n => format!("({x} {} {y})", ["+", "-", "*", "^", "&", "|"][n]),
        }
    }
}
