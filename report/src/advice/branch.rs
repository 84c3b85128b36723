//! Branches: why the lanes of a warp diverge.

use interp::Branch;

use super::Advice;

/// Of a branch whose lanes part; `source` is its line, `next` the one after it.
pub(crate) fn of_branch(branch: &Branch, source: &str, next: &str) -> Advice {
    let (times, lanes) = (branch.divergent.max(1), branch.fewer_lanes);
    let begins = source.trim_start_matches('}').trim_start();
    if lanes == times && begins.starts_with("if") {
        return Advice::new(
            "one lane of a warp takes another branch, and the others wait for it",
            "spread what the one thread does over the threads: each takes its own part, neighbours neighbouring elements; a sum or a maximum is a \
             parallel reduction (a tree in shared memory, or `__shfl_down_sync`)",
        );
    }
    let fact = format!(
        "lanes of a warp take both branches, on average {:.1} of them the rarer one: the warp runs both sides, one after the other",
        lanes as f64 / times as f64
    );
    let is_loop = ["for", "while", "do"]
        .iter()
        .any(|word| begins.starts_with(word))
        || source.contains("break;")
        || next.starts_with("break;");
    let thought = if is_loop {
        "the lanes need different numbers of rounds: give the lanes of a warp work of like length (sort it, or let a whole warp share one \
         row)"
    } else if is_tree(source) {
        "a reduction that keeps every n-th thread: let the first threads work and halve the distance instead, `for (d = blockDim.x / 2; d > 0; \
         d /= 2) if (t < d) s[t] += s[t + d];`"
    } else if source.contains('<') && source.starts_with("if") {
        "let whole warps take one branch; in the last rounds of a reduction one warp works, and needs no branch with `__shfl_down_sync`"
    } else {
        "let whole warps go one way: decide by `threadIdx.x / 32` where any thread can do either work, sort the data by the condition, or \
         compute both sides without a branch"
    };
    Advice::new(fact, thought)
}

/// Whether a condition keeps every n-th thread, n being a variable: `t % (2 * d) == 0`.
fn is_tree(source: &str) -> bool {
    let modulus = source.split_once('%').map(|(_, behind)| behind);
    modulus.is_some_and(|behind| {
        let end = behind
            .find("==")
            .or(behind.find("!="))
            .unwrap_or(behind.len());
        behind[..end].contains(|c: char| c.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::is_tree;

    #[test]
    fn a_tree_keeps_every_nth_thread() {
        assert!(is_tree("if (t % (2 * d) == 0) {"));
        assert!(!is_tree("if (threadIdx.x % 2 == 0) {"));
        assert!(!is_tree("if (t < d) {"));
    }
}
