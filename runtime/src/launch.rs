//! A launch written on the command line: `reduce<<<4, 128>>>(in, out, 512)`, in CUDA's own syntax.
//!
//! Grid and block are `N`, `(x, y)`, `(x, y, z)` or `dim3(x, y, z)`. Dynamic shared bytes and a stream (which is ignored) may follow.
//! Arguments are names of buffers, numbers (`512`, `-3`, `0x10`, `1.5f`) or `true`/`false`/`nullptr`. Whether they match the parameters is
//! checked against the kernel later.

use thiserror::Error;

/// A launch as written.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchSpec {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory.
    pub shared_bytes: u64,
    /// The arguments.
    pub args: Vec<ArgSpec>,
}

/// An argument as written.
#[derive(Clone, PartialEq, Debug)]
pub enum ArgSpec {
    /// The address of a buffer.
    Buffer(String),
    /// A whole number.
    Int(i128),
    /// A number with a point, an exponent or an `f`.
    Float(f64),
}

/// Why a launch or buffer on the command line is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what}: {why}")]
pub struct SpecError {
    /// The invalid text.
    pub what: String,
    /// What is wrong with it, in one phrase.
    pub why: String,
}

impl SpecError {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>) -> SpecError {
        SpecError {
            what: what.into(),
            why: why.into(),
        }
    }
}

impl LaunchSpec {
    /// Parses a launch.
    ///
    /// ```
    /// use runtime::launch::{ArgSpec, LaunchSpec};
    /// let launch = LaunchSpec::parse("scale<<<(2, 3), 32, 128>>>(x, 2.5f)").unwrap();
    /// assert_eq!((launch.grid, launch.block, launch.shared_bytes), ([2, 3, 1], [32, 1, 1], 128));
    /// assert_eq!(launch.args, [ArgSpec::Buffer("x".into()), ArgSpec::Float(2.5)]);
    /// ```
    pub fn parse(text: &str) -> Result<LaunchSpec, SpecError> {
        let wrong = |why: &str| SpecError::new(format!("--launch '{text}'"), why);
        let (kernel, rest) = text
            .split_once("<<<")
            .ok_or_else(|| wrong("expected KERNEL<<<GRID, BLOCK>>>(ARGS)"))?;
        let (config, rest) = rest
            .split_once(">>>")
            .ok_or_else(|| wrong("`<<<` is not closed by `>>>`"))?;
        let kernel = kernel.trim();
        let template = kernel.split_once('<').map_or(kernel, |(name, _)| name);
        if !is_name(template.trim_end()) || kernel.contains('<') != kernel.ends_with('>') {
            return Err(wrong("expected a kernel's name before `<<<`"));
        }
        let rest = rest.trim().trim_end_matches(';').trim_end();
        let args = rest
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        let args =
            args.ok_or_else(|| wrong("expected the arguments in parentheses after `>>>`"))?;
        let config = split_commas(config);
        if !(2..=4).contains(&config.len()) {
            return Err(wrong(
                "between `<<<` and `>>>` go grid, block and, if wanted, the bytes of dynamic shared memory",
            ));
        }
        let dim = |text: &str, which: &str| {
            parse_dim(text).ok_or_else(|| {
                wrong(&format!(
                    "the {which} `{}` is not N, (x, y) or (x, y, z)",
                    text.trim()
                ))
            })
        };
        let shared_bytes = match config.get(2) {
            None => 0,
            Some(text) => text
                .trim()
                .parse()
                .map_err(|_| wrong(&format!("`{}` is not a number of bytes", text.trim())))?,
        };
        let args = if args.trim().is_empty() {
            Vec::new()
        } else {
            split_commas(args)
        };
        let args = args.iter().map(|arg| {
            parse_arg(arg.trim()).ok_or_else(|| {
                wrong(&format!(
                    "`{}` is neither a number nor a buffer's name",
                    arg.trim()
                ))
            })
        });
        Ok(LaunchSpec {
            kernel: kernel.to_string(),
            grid: dim(config[0], "grid")?,
            block: dim(config[1], "block")?,
            shared_bytes,
            args: args.collect::<Result<_, _>>()?,
        })
    }
}

/// Letters, digits and `_`, not starting with a digit.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Splits at commas outside parentheses.
fn split_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn parse_dim(text: &str) -> Option<[u32; 3]> {
    let text = text.trim();
    let text = text.strip_prefix("dim3").map_or(text, str::trim_start);
    let parts = match text.strip_prefix('(') {
        Some(inner) => split_commas(inner.strip_suffix(')')?),
        None => vec![text],
    };
    let mut dims = [1; 3];
    if parts.len() > 3 {
        return None;
    }
    for (dim, part) in dims.iter_mut().zip(parts) {
        *dim = part.trim().parse().ok()?;
    }
    Some(dims)
}

/// A number with C's prefixes and suffixes, or a name.
fn parse_arg(text: &str) -> Option<ArgSpec> {
    match text {
        "true" => return Some(ArgSpec::Int(1)),
        "false" | "nullptr" | "NULL" => return Some(ArgSpec::Int(0)),
        _ if is_name(text) => return Some(ArgSpec::Buffer(text.to_string())),
        _ => {}
    }
    let (negative, digits) = text
        .strip_prefix('-')
        .map_or((false, text), |digits| (true, digits));
    // Only one sign is allowed; Rust's number parsers would accept another one.
    let is_signed = |digits: &str| digits.starts_with(['+', '-']);
    if is_signed(digits) {
        return None;
    }
    let signed = |value: i128| ArgSpec::Int(if negative { -value } else { value });
    if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        return i128::from_str_radix(hex.trim_end_matches(['u', 'U', 'l', 'L']), 16)
            .ok()
            .filter(|_| !is_signed(hex))
            .map(signed);
    }
    if let Ok(value) = digits
        .trim_end_matches(['u', 'U', 'l', 'L'])
        .parse::<i128>()
    {
        return Some(signed(value));
    }
    let value: f64 = digits.trim_end_matches(['f', 'F']).parse().ok()?;
    Some(ArgSpec::Float(if negative { -value } else { value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        LaunchSpec::parse(text).unwrap_err().why
    }

    #[test]
    fn reads_grids_of_every_form() {
        for (text, grid) in [
            ("4", [4, 1, 1]),
            ("(4, 2)", [4, 2, 1]),
            ("dim3(4,2,3)", [4, 2, 3]),
            (" dim3 (7) ", [7, 1, 1]),
        ] {
            assert_eq!(
                LaunchSpec::parse(&format!("k<<<{text}, 32>>>()"))
                    .unwrap()
                    .grid,
                grid
            );
        }
    }

    #[test]
    fn reads_numbers_as_c_does() {
        let launch = LaunchSpec::parse("k<<<1,1>>>(-3, 0x10u, 1e3, -2.5f, true, out)").unwrap();
        use ArgSpec::{Buffer, Float, Int};
        assert_eq!(
            launch.args,
            [
                Int(-3),
                Int(16),
                Float(1000.0),
                Float(-2.5),
                Int(1),
                Buffer("out".into())
            ]
        );
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(why("k(1)"), "expected KERNEL<<<GRID, BLOCK>>>(ARGS)");
        assert_eq!(why("k<<<1,2"), "`<<<` is not closed by `>>>`");
        assert_eq!(
            why("k<<<1,2>>>"),
            "expected the arguments in parentheses after `>>>`"
        );
        assert_eq!(why("<<<1,2>>>()"), "expected a kernel's name before `<<<`");
        assert_eq!(
            why("k<<<1,two>>>()"),
            "the block `two` is not N, (x, y) or (x, y, z)"
        );
        assert_eq!(
            why("k<<<1,2>>>(1+1)"),
            "`1+1` is neither a number nor a buffer's name"
        );
        assert!(why("k<<<1>>>()").starts_with("between"));
        for twice in ["--1", "0x-1", "--170141183460469231731687303715884105728"] {
            let expected = format!("`{twice}` is neither a number nor a buffer's name");
            assert_eq!(why(&format!("k<<<1,2>>>({twice})")), expected);
        }
    }
}
