//! Texts that are no PTX, or nearly: a message with its place, never a panic, and what is read is valid IR.

use std::fs;
use std::path::Path;

/// The message for a body of a kernel.
fn message(body: &str) -> String {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n{body}\n}}\n"
    );
    match ptx::module(&text, "x.ptx") {
        Ok((_, made)) => {
            let all = made.refused.iter().chain(&made.assumed);
            let mut all = all.chain(&made.unsupported);
            all.next()
                .map_or("none".to_string(), |(_, why)| why.to_string())
        }
        Err(why) => why.to_string(),
    }
}

#[test]
fn messages_name_the_place() {
    let cases = [
        ("ret;", "none"),
        (
            "frob.u32 %r1, %r2;",
            "9:1: dslc does not know `frob.u32` yet",
        ),
        (
            "add.u32 %r1, %r2, %r9;",
            "9:19: no register `%r9` is declared here",
        ),
        (
            "add.sat.s32 %r1, %r2, %r3;",
            "9:1: dslc does not know `add.sat.s32` yet",
        ),
        (
            "add.u32 %r1, %r2;",
            "9:1: `add.u32`: 2 operands, and 3 are expected",
        ),
        ("bra NOWHERE;", "9:5: no label `NOWHERE` in this function"),
        ("A: bra A;\nA: ret;", "10:1: two labels are named `A`"),
        (
            "mov.u32 %r1, 0f3f;",
            "9:14: `0f` is followed by 8 hex digits",
        ),
        (
            "mov.u32 %r1, %r2",
            "10:1: `}` is where `,` or `;` is expected",
        ),
        (
            "ld.global.u32 %r1, [x+4];",
            "9:1: `ld.global.u32`: `x` is no variable that dslc knows",
        ),
        (
            "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra B;\nA:\nadd.s32 %r1, %r1, 1;\nB:\nsetp.lt.s32 %p2, %r1, 9;\n@%p2 bra A;\nret;",
            "12:1: a jump leads into the middle of a loop",
        ),
        ("call far, (%r1);", "9:1: a call of `far`"),
        (
            "mov.u32 %r1, %warpid;",
            "9:1: `mov.u32`: dslc does not know `%warpid` yet",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(message(body), expected, "{body}");
    }
    let whole = |text: &str| ptx::module(text, "x.ptx").expect_err("no PTX").to_string();
    assert_eq!(
        whole(""),
        "1:1: PTX begins with `.version`, and this text has none"
    );
    assert_eq!(whole(".version 8.0\n#"), "2:1: no token of PTX begins here");
    assert_eq!(
        whole(".version 8.0\n.address_size 32"),
        "2:15: only addresses of 64 bits are supported"
    );
    assert_eq!(whole("/* "), "1:1: no token of PTX begins here");
}

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn changed_texts_give_messages_or_valid_ir() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for entry in fs::read_dir(folder).expect("the texts") {
        let text = fs::read_to_string(entry.expect("a text").path()).expect("a text");
        let lines: Vec<&str> = text.lines().collect();
        for _ in 0..150 {
            let mut changed = lines.clone();
            for _ in 0..1 + random.below(4) {
                let (a, b) = (random.below(changed.len()), random.below(changed.len()));
                match random.below(4) {
                    0 => changed.swap(a, b),
                    1 => drop(changed.remove(a)),
                    2 => changed[a] = changed[b],
                    _ => {
                        let line = changed[a];
                        let mut at = random.below(line.len() + 1);
                        while !line.is_char_boundary(at) {
                            at -= 1;
                        }
                        changed[a] = &line[..at];
                    }
                }
            }
            let text = changed.join("\n");
            if let Ok((module, _)) = ptx::module(&text, "x.ptx")
                && let Err(violations) = ir::verify(&module)
            {
                panic!("{}\n{text}", violations[0]);
            }
        }
    }
}
