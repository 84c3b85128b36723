//! Marks small innermost loops for unrolling.
//!
//! The input is a module in LLVM IR text after the pipeline, which has unrolled the loops that it wanted to. LLVM does not unroll a loop
//! whose number of rounds needs a division, as in `for (i = thread; i < n; i += threads)`. Then each round waits for its load before the
//! next load begins. This module gives a count to a loop of one block without a hint, and LLVM makes the division.

use std::fmt::Write;

/// Rounds per unrolled round. With four loads in flight, a sum over memory is as fast as with more.
const COUNT: u32 = 4;
/// Most instructions of an unrolled loop: four times as many need more registers.
const MOST_INSTRUCTIONS: usize = 25;

/// The passes to run afterwards. One round of combining is enough, whatever it leaves.
pub(super) const PASSES: &str = "function(loop-simplify,lcssa,loop-unroll<O3>,instcombine<no-verify-fixpoint>,early-cse,simplifycfg)";

/// The text with such loops marked; `None` if it has none.
pub(super) fn marked(text: &str) -> Option<String> {
    let mut marks = String::new();
    let mut next = text
        .lines()
        .filter_map(metadata_number)
        .max()
        .map_or(0, |most| most + 1);
    let mut out = String::with_capacity(text.len());
    let (mut label, mut instructions) = ("", 0);
    for line in text.lines() {
        out.push_str(line);
        if let Some(name) = block_label(line) {
            (label, instructions) = (name, 0);
        } else if line.starts_with("  ") {
            instructions += 1;
            if instructions <= MOST_INSTRUCTIONS && jumps_back(line, label) {
                let (mark, count) = (next, next + 1);
                next += 2;
                let _ = write!(out, ", !llvm.loop !{mark}");
                let _ = writeln!(marks, "!{mark} = distinct !{{!{mark}, !{count}}}");
                let _ = writeln!(
                    marks,
                    "!{count} = !{{!\"llvm.loop.unroll.count\", i32 {COUNT}}}"
                );
            }
        }
        out.push('\n');
    }
    (!marks.is_empty()).then(|| out + &marks)
}

/// `7` of `!7 = …`.
fn metadata_number(line: &str) -> Option<u32> {
    let (number, _) = line.strip_prefix('!')?.split_once(" = ")?;
    number.parse().ok()
}

/// `b6` of `b6:      ; preds = …`.
fn block_label(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(':')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '$');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Whether the line is a branch to the block that it ends, for a loop without a hint.
fn jumps_back(line: &str, label: &str) -> bool {
    let Some(branch) = line.strip_prefix("  br i1 ") else {
        return false;
    };
    let mut targets = branch
        .split(", ")
        .filter_map(|part| part.strip_prefix("label %"));
    !line.contains("!llvm.loop") && targets.any(|target| target == label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_of_one_block_is_marked_once() {
        let text = "b6:   ; preds = %b6, %entry\n  %x = add i32 %y, 1\n  br i1 %c, label %b6, label %b3, !dbg !10\n\nb3:\n  ret void\n!10 = !{}\n";
        let marked = marked(text).unwrap();
        assert!(marked.contains("label %b3, !dbg !10, !llvm.loop !11\n"));
        assert!(marked.ends_with(
            "!11 = distinct !{!11, !12}\n!12 = !{!\"llvm.loop.unroll.count\", i32 4}\n"
        ));
        assert_eq!(super::marked(&marked), None);
    }
}
