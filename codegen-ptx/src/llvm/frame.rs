//! Rewrites addresses in a thread's stack frame, in PTX text.
//!
//! Such addresses have 32 bits, but LLVM takes a frame's address with 64 bits and truncates it: `cvt.u32.u64 %r1, %rd3`. ptxas does not
//! recognise that, and keeps all arrays of the frame in memory. If the address is the frame's name, `mov.b32 %r1, __local_depot0`, ptxas
//! keeps small arrays in registers, even those with an index that is only known at run time.

use std::{borrow::Cow, collections::HashMap};

/// The text with the frames' names instead of truncated addresses.
pub(super) fn named(ptx: &str) -> Cow<'_, str> {
    if !ptx.contains("__local_depot") {
        return ptx.into();
    }
    let functions = ptx.split_inclusive("\n}\n");
    functions
        .fold(String::with_capacity(ptx.len()), |text, one| {
            text + &function(one)
        })
        .into()
}

fn function(text: &str) -> Cow<'_, str> {
    let frame = text
        .lines()
        .find_map(|line| line.strip_prefix("\tmov.b64 \t%SPL, ")?.strip_suffix(';'));
    let Some(frame) = frame else {
        return text.into();
    };
    let addresses = addresses(text);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let cut = line
            .strip_prefix("\tcvt.u32.u64 \t")
            .and_then(|operands| operands.trim_end().strip_suffix(';')?.split_once(", "));
        match cut.and_then(|(short, long)| Some((short, addresses.get(long)?))) {
            Some((short, &offset)) => {
                out += &format!("\tmov.b32 \t{short}, {frame}+{offset};\n");
            }
            None => out += line,
        }
    }
    out.into()
}

/// Registers that contain only an address in the frame, with the offset.
fn addresses(text: &str) -> HashMap<&str, &str> {
    let mut addresses = HashMap::new();
    for line in text.lines() {
        let operands = line
            .strip_prefix("\tadd.u64 \t")
            .and_then(|operands| operands.strip_suffix(';')?.split_once(", %SPL, "));
        addresses.extend(operands);
    }
    let mut written: HashMap<&str, u32> = HashMap::new();
    for register in text.lines().flat_map(results) {
        *written.entry(register).or_default() += 1;
    }
    addresses.retain(|register, _| written.get(register) == Some(&1));
    addresses
}

/// The registers that an instruction may write: its first operand, which may be several registers in braces.
fn results(line: &str) -> impl Iterator<Item = &str> {
    let operands = line.split_once(" \t").map_or("", |(_, operands)| operands);
    let first = match operands.strip_prefix('{') {
        Some(several) => several.split('}').next(),
        None => operands.split([',', ';']).next(),
    };
    let registers = first.unwrap_or_default().split([',', '|', ' ']);
    registers.filter(|register| register.starts_with('%'))
}

#[cfg(test)]
mod tests {
    use super::named;

    const HEAD: &str = "{\n\tmov.b64 \t%SPL, __local_depot3;\n\tadd.u64 \t%rd3, %SPL, 16;\n";

    #[test]
    fn a_cut_address_is_the_frames_name() {
        let text = format!("{HEAD}\tcvt.u32.u64 \t%r1, %rd3;\n\tcvt.u32.u64 \t%r2, %rd4;\n}}\n");
        let wanted =
            format!("{HEAD}\tmov.b32 \t%r1, __local_depot3+16;\n\tcvt.u32.u64 \t%r2, %rd4;\n}}\n");
        assert_eq!(named(&text), wanted);
        // Registers of another function are different ones.
        let other = format!("{text}.func f()\n{{\n\tcvt.u32.u64 \t%r1, %rd3;\n}}\n");
        assert!(named(&other).ends_with("{\n\tcvt.u32.u64 \t%r1, %rd3;\n}\n"));
    }

    #[test]
    fn an_address_that_changes_is_left_alone() {
        for change in [
            "add.s64 \t%rd3, %rd3, 4;",
            "ld.global.v2.b64 \t{%rd5, %rd3}, [%rd1];",
        ] {
            let text = format!("{HEAD}\tcvt.u32.u64 \t%r1, %rd3;\n\t{change}\n}}\n");
            assert_eq!(named(&text), text);
        }
    }
}
