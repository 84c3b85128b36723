//! Rewrites tests of one bit, in PTX text.
//!
//! LLVM moves the bit to the lowest place before it tests it, `shr`, `and … 1`, `setp.ne`, and ptxas leaves it there. Without the shift,
//! ptxas needs only one instruction for all three.

use std::{borrow::Cow, collections::HashMap};

/// The text in which bits are tested in place.
pub(super) fn in_place(ptx: &str) -> Cow<'_, str> {
    if !ptx.contains("\tshr.u") {
        return ptx.into();
    }
    let functions = ptx.split_inclusive("\n}\n");
    let join = |text: String, one| text + &function(one);
    functions
        .fold(String::with_capacity(ptx.len()), join)
        .into()
}

fn function(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut uses = None;
    let mut changed: HashMap<usize, Option<String>> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(test) = Test::at(&lines, at, line) else {
            continue;
        };
        let uses = uses.get_or_insert_with(|| registers(text));
        // One use is its definition, the other is the next instruction.
        if uses[test.shifted] == 2 && uses[test.bit] == 2 {
            changed.insert(at, None);
            changed.insert(test.and_line, Some(test.masked()));
        }
    }
    if changed.is_empty() {
        return text.into();
    }
    let keep = |(at, line): (usize, &&str)| match changed.remove(&at) {
        Some(other) => other.unwrap_or_default(),
        None => line.to_string(),
    };
    lines.iter().enumerate().map(keep).collect()
}

/// `shr.u32 shifted, word, place; and.b32 bit, shifted, 1; setp.ne.b32 …, bit, 0;`
struct Test<'a> {
    width: u32,
    word: &'a str,
    place: u32,
    shifted: &'a str,
    bit: &'a str,
    and_line: usize,
}

impl<'a> Test<'a> {
    fn at(lines: &[&'a str], at: usize, line: &'a str) -> Option<Test<'a>> {
        let (width, [shifted, word, place]) = match operands(line, "shr.u32") {
            Some(operands) => (32, operands),
            None => (16, operands(line, "shr.u16")?),
        };
        let mut next = (at + 1..lines.len()).filter(|&at| !lines[at].starts_with("\t.loc"));
        let and_line = next.next()?;
        let [bit, masked, one] = operands(lines[and_line], &format!("and.b{width}"))?;
        let [_, tested, zero] = operands(lines[next.next()?], &format!("setp.ne.b{width}"))?;
        let place: u32 = place.parse().ok()?;
        let is_test = masked == shifted && one == "1" && tested == bit && zero == "0";
        (is_test && place < width && word != shifted).then_some(Test {
            width,
            word,
            place,
            shifted,
            bit,
            and_line,
        })
    }

    fn masked(&self) -> String {
        let Test {
            width, word, bit, ..
        } = self;
        // Constants are signed.
        let mask = match self.place + 1 == *width {
            true => -1 << self.place,
            false => 1i64 << self.place,
        };
        format!("\tand.b{width} \t{bit}, {word}, {mask};\n")
    }
}

/// The three operands of an instruction with that name.
fn operands<'a>(line: &'a str, name: &str) -> Option<[&'a str; 3]> {
    let operands = line.strip_prefix('\t')?.strip_prefix(name)?;
    let operands = operands.strip_prefix(" \t")?.trim_end().strip_suffix(';')?;
    let operands: Vec<&str> = operands.split(", ").collect();
    operands.try_into().ok()
}

/// How often each register occurs in a function.
fn registers(text: &str) -> HashMap<&str, u32> {
    let mut count = HashMap::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '%')) {
        if word.starts_with('%') {
            *count.entry(word).or_default() += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::in_place;

    const SHIFT: &str = "\tshr.u32 \t%r2, %r1, 4;\n";
    const TEST: &str = "\tsetp.ne.b32 \t%p1, %r3, 0;\n}\n";

    #[test]
    fn a_bit_is_tested_where_it_is() {
        let text = format!("{{\n{SHIFT}\t.loc\t1 2 3\n\tand.b32 \t%r3, %r2, 1;\n{TEST}");
        let wanted = format!("{{\n\t.loc\t1 2 3\n\tand.b32 \t%r3, %r1, 16;\n{TEST}");
        assert_eq!(in_place(&text), wanted);
    }

    #[test]
    fn others_need_the_shifted_word() {
        for rest in [
            format!("\tand.b32 \t%r3, %r2, 3;\n{TEST}"),
            format!("\tand.b32 \t%r3, %r2, 1;\n\tadd.s32 \t%r4, %r3, %r1;\n{TEST}"),
            format!(
                "\tand.b32 \t%r3, %r2, 1;\n{}\tadd.s32 \t%r4, %r2, 1;\n}}\n",
                TEST.trim_end_matches("}\n")
            ),
            format!(
                "\tand.b32 \t%r3, %r2, 1;\n{}\tadd.s32 \t%r4, %r3, 1;\n}}\n",
                TEST.trim_end_matches("}\n")
            ),
        ] {
            let text = format!("{{\n{SHIFT}{rest}");
            assert_eq!(in_place(&text), text);
        }
    }
}
