//! The mutation operators: each changes one place in a program's device code, in the text.
//!
//! Comments, strings and preprocessor lines are not changed. A mutant that does not compile is discarded by the caller.

/// All operators, in the order of the table.
pub(super) const OPERATORS: &[&str] = &[
    "drop a barrier",
    "drop a fence",
    "drop a __syncwarp",
    "drop a volatile",
    "barrier in a branch",
    "index plus one",
    "bound one more",
    "bound one less",
    "bound turned round",
    "shared array smaller",
];

/// The operators that remove a synchronisation.
pub(super) const SYNCHRONISATIONS: &[&str] = &[
    "drop a barrier",
    "drop a fence",
    "drop a __syncwarp",
    "drop a volatile",
];

/// A program with one change.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    pub(super) operator: &'static str,
    /// The line of the change.
    pub(super) line: usize,
    pub(super) source: String,
}

/// All mutants, by operator, then in the order of the text.
pub(super) fn mutants(source: &str) -> Vec<Mutant> {
    let masked = mask(source);
    let device = device_code(&masked);
    let mut made = vec![];
    let mut change = |operator: &'static str, start: usize, end: usize, text: &str| {
        made.push(Mutant {
            operator,
            line: source[..start].lines().count() + usize::from(source[..start].ends_with('\n')),
            source: format!("{}{text}{}", &source[..start], &source[end..]),
        });
    };
    for (start, end) in calls(&masked, "__syncthreads", &device) {
        if masked[start..end].ends_with("__syncthreads()") {
            change("drop a barrier", start, end, "(void)0");
            change(
                "barrier in a branch",
                start,
                end,
                "if (threadIdx.x % 2 == 0) __syncthreads()",
            );
        }
    }
    for (start, end) in calls(&masked, "__threadfence", &device) {
        change("drop a fence", start, end, "(void)0");
    }
    for (start, end) in calls(&masked, "__syncwarp", &device) {
        change("drop a __syncwarp", start, end, "(void)0");
    }
    for (start, _) in masked.match_indices("volatile") {
        change("drop a volatile", start, start + "volatile".len(), "");
    }
    for &(from, to) in &device {
        for (start, end) in subscripts(&masked, from, to) {
            let inner = &source[start + 1..end];
            match declares(&masked, from, start) {
                None => change(
                    "index plus one",
                    start,
                    end + 1,
                    &format!("[({inner}) + 1]"),
                ),
                Some(true) if !inner.trim().is_empty() => {
                    change(
                        "shared array smaller",
                        start,
                        end + 1,
                        &format!("[({inner}) - 1]"),
                    );
                }
                Some(_) => {}
            }
        }
        for at in from..to {
            if let Some(text) = comparison(masked.as_bytes(), at) {
                change("bound one more", at, at + 1, text);
                let (less, turned) = match text {
                    "<=" => ("+ 1 <", ">"),
                    _ => ("- 1 >", "<"),
                };
                change("bound one less", at, at + 1, less);
                change("bound turned round", at, at + 1, turned);
            }
        }
    }
    made
}

/// The same bytes, with spaces instead of comments, strings and preprocessor lines.
fn mask(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut masked = bytes.to_vec();
    let mut at = 0;
    let mut line_begins = true;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let until = |what: &[u8]| {
            let found = rest[1..]
                .windows(what.len())
                .position(|window| window == what);
            found.map_or(rest.len(), |found| found + 1 + what.len())
        };
        let length = match rest {
            [b'/', b'/', ..] => until(b"\n") - 1,
            [b'/', b'*', ..] => until(b"*/"),
            [b'#', ..] if line_begins => until(b"\n") - 1,
            [quote @ (b'"' | b'\''), ..] => {
                let mut end = 1;
                while end < rest.len() && rest[end] != *quote {
                    end += 1 + usize::from(rest[end] == b'\\');
                }
                (end + 1).min(rest.len())
            }
            _ => 0,
        };
        for byte in masked.iter_mut().skip(at).take(length) {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        if length == 0 {
            line_begins = bytes[at] == b'\n' || line_begins && bytes[at].is_ascii_whitespace();
        }
        at += length.max(1);
    }
    String::from_utf8_lossy(&masked).into_owned()
}

/// The bodies of kernels and device functions.
fn device_code(masked: &str) -> Vec<(usize, usize)> {
    let mut bodies: Vec<(usize, usize)> = vec![];
    for word in ["__global__", "__device__"] {
        for (start, _) in masked.match_indices(word) {
            let Some(open) = masked[start..].find(['{', ';', '=']).map(|at| start + at) else {
                continue;
            };
            if !masked[open..].starts_with('{') {
                continue;
            }
            let mut depth = 0usize;
            let closing = |(_, c): &(usize, char)| {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                depth == 0
            };
            let close = masked[open..]
                .char_indices()
                .find(closing)
                .map_or(masked.len(), |(at, _)| open + at);
            if !bodies.contains(&(open, close)) {
                bodies.push((open, close));
            }
        }
    }
    bodies.sort_unstable();
    bodies
}

/// Statements that call a function whose name begins with `name`, without the semicolon.
fn calls(masked: &str, name: &str, device: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut found = vec![];
    for (start, _) in masked.match_indices(name) {
        let inside = device.iter().any(|&(from, to)| (from..to).contains(&start));
        let before = masked[..start].trim_end();
        let begins = before.ends_with(['{', '}', ';', ')']) || before.ends_with("else");
        let end = masked[start..].find(';').map(|at| start + at);
        if let (true, true, Some(end)) = (inside, begins, end) {
            found.push((start, end));
        }
    }
    found
}

/// The places of `[` and `]` for each subscript.
fn subscripts(masked: &str, from: usize, to: usize) -> Vec<(usize, usize)> {
    let bytes = masked.as_bytes();
    let mut open = vec![];
    let mut found = vec![];
    for (at, byte) in bytes.iter().enumerate().take(to).skip(from) {
        match byte {
            b'[' => open.push(at),
            b']' => found.extend(open.pop().map(|start| (start, at))),
            _ => {}
        }
    }
    found.sort_unstable();
    found
}

/// Whether the subscript at `at` belongs to a declaration; the inner value says whether that declares a shared array.
fn declares(masked: &str, from: usize, at: usize) -> Option<bool> {
    let begin = masked[from..at]
        .rfind([';', '{', '}'])
        .map_or(from, |found| from + found + 1);
    let statement = masked[begin..at].trim_start();
    let words = [
        "int", "unsigned", "float", "double", "char", "short", "long", "bool", "const", "volatile",
        "struct", "static",
    ];
    let first: String = statement
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    if statement.starts_with("__shared__") || statement.starts_with("extern") {
        return Some(true);
    }
    let is_type =
        words.contains(&first.as_str()) || first.chars().next().is_some_and(char::is_uppercase);
    (is_type && !statement.contains('=') && !statement.contains('(')).then_some(false)
}

/// The comparison at `at`, with its bound moved by one.
fn comparison(bytes: &[u8], at: usize) -> Option<&'static str> {
    let (before, after) = (bytes.get(at.wrapping_sub(1))?, bytes.get(at + 1)?);
    match bytes[at] {
        b'<' if !b"<".contains(before) && !b"<=".contains(after) => Some("<="),
        b'>' if !b"->".contains(before) && !b">=".contains(after) => Some(">="),
        _ => None,
    }
}
