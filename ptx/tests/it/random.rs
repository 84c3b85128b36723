//! Random jumps: the machine's lanes end as a thread alone does that follows the jumps.

use std::fmt::Write;

use crate::machine::Runner;

/// How a block ends.
#[derive(Clone, Copy)]
enum End {
    Goto(usize),
    /// By a bit of the thread's number: to the first if it is set.
    Branch(u32, usize, usize),
    Done,
}

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Rounds after which a thread goes to the end.
const FUEL: u32 = 60;
const THREADS: u32 = 64;

fn graph(random: &mut Random) -> Vec<End> {
    let count = 2 + random.below(10) as usize;
    let target = |random: &mut Random, from: usize| match random.below(4) {
        // Mostly forwards, so that many graphs have no jump into a loop.
        0 => random.below(from as u64 + 1) as usize,
        _ => (from + 1 + random.below(3) as usize).min(count - 1),
    };
    (0..count)
        .map(|block| match random.below(8) {
            0 => End::Done,
            1 | 2 => End::Goto(target(random, block)),
            _ => {
                let bit = random.below(7) as u32;
                End::Branch(bit, target(random, block), target(random, block))
            }
        })
        .collect()
}

/// What a block does to a thread's number.
fn step(number: u32, block: usize) -> u32 {
    number.wrapping_mul(31).wrapping_add(block as u32 + 7)
}

fn text(graph: &[End]) -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<8>;\n\
         .reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r4, %tid.x;\nmov.u32 %r1, %r4;\n",
    );
    let _ = writeln!(text, "mov.u32 %r2, {FUEL};");
    for (block, end) in graph.iter().enumerate() {
        let _ = writeln!(
            text,
            "L{block}:\nmul.lo.u32 %r1, %r1, 31;\nadd.u32 %r1, %r1, {};\nsub.u32 %r2, %r2, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra DONE;",
            block + 7
        );
        let _ = match end {
            End::Goto(to) => writeln!(text, "bra L{to};"),
            End::Branch(bit, first, second) => writeln!(
                text,
                "shr.u32 %r3, %r1, {bit};\nand.b32 %r3, %r3, 1;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra L{first};\nbra L{second};"
            ),
            End::Done => writeln!(text, "bra DONE;"),
        };
    }
    text + "DONE:\nmul.wide.u32 %rd2, %r4, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nret;\n}\n"
}

/// One thread alone.
fn alone(graph: &[End], thread: u32) -> u32 {
    let (mut number, mut fuel, mut block) = (thread, FUEL, 0);
    loop {
        number = step(number, block);
        fuel -= 1;
        block = match graph[block] {
            _ if fuel == 0 => return number,
            End::Done => return number,
            End::Goto(to) => to,
            End::Branch(bit, first, second) => match number >> bit & 1 {
                0 => second,
                _ => first,
            },
        };
    }
}

#[test]
fn lanes_follow_the_jumps() {
    let (mut structured, mut others) = (0, 0);
    for seed in 1..=600 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let graph = graph(&mut random);
        let text = text(&graph);
        let (module, made) = ptx::module(&text, "random.ptx").expect("PTX");
        assert_eq!(made.refused, [], "{text}");
        match made.assumed.first() {
            Some((_, why)) => {
                assert_eq!(why.message, "a jump leads into the middle of a loop");
                others += 1;
            }
            None => structured += 1,
        }
        ir::verify::assert_verified(&module, "reading PTX");
        let expected: Vec<u32> = (0..THREADS).map(|thread| alone(&graph, thread)).collect();
        let lanes = Runner::new(module).run("k", [1, THREADS], (&[], &[]), THREADS as usize);
        assert_eq!(lanes, expected, "seed {seed}\n{text}");
    }
    assert!(structured > 200 && others > 20, "{structured}, {others}");
}
