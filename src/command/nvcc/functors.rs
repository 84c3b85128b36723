//! Makes device-only function objects callable on the host, in sources that use Thrust: its algorithms run on the host.
//!
//! Only callable objects are changed: `operator()` and lambdas. The compiler generates their code only where they are called.

/// The word to replace.
const DEVICE: &str = "__device__";

/// Its replacement.
const BOTH: &str = "__device__ __host__";

/// The source with `__device__ … operator()` and `[…] __device__ (…)` changed to both sides.
pub(super) fn for_both(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(DEVICE) {
        let (before, behind) = rest.split_at(at);
        let behind = &behind[DEVICE.len()..];
        out += before;
        let is_object = is_lambda(&out, behind) || is_operator(behind);
        let is_host = out.trim_end().ends_with("__host__") || head(behind).contains("__host__");
        out += if is_object && !is_host { BOTH } else { DEVICE };
        rest = behind;
    }
    out + rest
}

/// The text before the parameters, or all of it up to a body or the end.
fn head(behind: &str) -> &str {
    behind.split(['(', '{', ';']).next().unwrap_or(behind)
}

fn is_lambda(before: &str, behind: &str) -> bool {
    before.trim_end().ends_with(']') && behind.trim_start().starts_with(['(', '{'])
}

fn is_operator(behind: &str) -> bool {
    let head = head(behind);
    head.trim_end().ends_with("operator")
        && behind[head.len()..]
            .trim_start_matches('(')
            .trim_start()
            .starts_with(')')
}

#[cfg(test)]
mod tests {
    use super::for_both;

    #[test]
    fn objects_are_for_both_sides() {
        let text = "struct F { __device__ int operator()(int x) const { return x; } };\n\
            auto f = [=] __device__ (int x) { return x; };";
        assert_eq!(
            for_both(text),
            text.replace("__device__", "__device__ __host__")
        );
    }

    #[test]
    fn other_words_stay() {
        for text in [
            "__device__ int f(int x);",
            "__device__ int table[4] __attribute__((aligned(16)));",
            "__host__ __device__ int operator()(int x);",
            "__device__ __host__ int operator()(int x);",
            "__device__ V operator+(V a, V b);",
        ] {
            assert_eq!(for_both(text), text);
        }
    }
}
