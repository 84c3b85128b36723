//! Converts names of C to names of Rust.

use ir::symbol::template_name;

/// Reserved words of Rust, in any edition.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Words that cannot even be raw identifiers.
const NEVER: &[&str] = &["self", "Self", "super", "crate", "_"];

/// A valid Rust name: keywords become raw identifiers or get an underscore, and each run of characters that are not letters or digits (in
/// `fill<float, 2>`, `ns::k`) becomes one underscore.
pub fn identifier(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.trim_start_matches(':').chars() {
        if c.is_alphanumeric() || c == '_' {
            out.push(c);
        } else if c == '*' {
            out.push_str("ptr");
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let had_tail = name.ends_with('_');
    if !had_tail && out.len() > 1 {
        out.truncate(out.trim_end_matches('_').len().max(1));
    }
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    if NEVER.contains(&out.as_str()) {
        out.push('_');
    } else if KEYWORDS.contains(&out.as_str()) {
        out.insert_str(0, "r#");
    }
    out
}

/// The Rust name of something that the source calls `written` and the front end `known`: `space__k` for a `k` in a namespace. Names in the
/// source that contain `::` are joined by one underscore.
pub(crate) fn qualified(known: &str, written: &str) -> String {
    let base = template_name(known);
    match base
        .strip_suffix(written)
        .and_then(|spaces| spaces.strip_suffix("__"))
    {
        Some(spaces) if !written.is_empty() => {
            let spaces = spaces.replace("__", "_");
            identifier(&format!("{spaces}_{written}{}", &known[base.len()..]))
        }
        _ => identifier(known),
    }
}

/// Makes names unique: the second use of a name becomes `name_2`.
#[derive(Debug, Default)]
pub(crate) struct Unique(Vec<String>);

impl Unique {
    /// Starts with these names taken.
    pub(crate) fn without(taken: &[&str]) -> Unique {
        Unique(taken.iter().map(|&name| name.to_string()).collect())
    }

    /// The name, or a similar one that is free.
    pub(crate) fn take(&mut self, name: &str) -> String {
        let mut wanted = name.to_string();
        let mut number = 2;
        while self.0.contains(&wanted) {
            wanted = format!("{}_{number}", name.trim_start_matches("r#"));
            number += 1;
        }
        self.0.push(wanted.clone());
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_rust_takes() {
        for (c, rust) in [
            ("saxpy", "saxpy"),
            ("fill<float, 2>", "fill_float_2"),
            ("ns::k", "ns_k"),
            ("match", "r#match"),
            ("self", "self_"),
            ("2d", "_2d"),
            ("copy<int *>", "copy_int_ptr"),
            ("tail_", "tail_"),
            ("größe", "größe"),
            ("", "__"),
        ] {
            assert_eq!(identifier(c), rust, "{c}");
        }
    }

    #[test]
    fn namespaces_are_joined_by_one_underscore() {
        assert_eq!(qualified("a__b__k<int, 3>", "k"), "a_b_k_int_3");
        assert_eq!(qualified("a::b::k<int, 3>", "k"), "a_b_k_int_3");
        assert_eq!(qualified("k__2", "k__2"), "k__2");
        assert_eq!(qualified("k", ""), "k");
    }

    #[test]
    fn the_second_of_a_name_has_a_number() {
        let mut names = Unique::without(&["load"]);
        assert_eq!(names.take("k"), "k");
        assert_eq!(names.take("k"), "k_2");
        assert_eq!(names.take("load"), "load_2");
    }
}
