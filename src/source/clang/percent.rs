//! `%` in inline PTX: nvcc takes `%laneid` as the register of that name, clang wants `%%laneid`.

use std::borrow::Cow;

use dsl::syntax;
use ir::source::SourceFile;

/// The text with such a `%` doubled. Lines keep their numbers.
pub(super) fn doubled(text: &str) -> Cow<'_, str> {
    if !text.contains("asm") || !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let words = syntax::words(&SourceFile::new("", text));
    let mut places = Vec::new();
    // The depth of brackets of the `asm(…)` that a word is in.
    let mut depth = 0usize;
    let mut starts = false;
    // Of this `asm(…)`: its places, and whether it has operands. Without any, `%` is itself.
    let (mut of_this, mut has_operands) = (Vec::new(), false);
    for word in &words {
        let of = &text[word.range.clone()];
        match of {
            "asm" | "__asm__" | "__asm" => starts = true,
            "(" if starts || depth > 0 => {
                starts = false;
                depth += 1;
            }
            ")" => {
                if depth == 1 && has_operands {
                    places.append(&mut of_this);
                }
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    of_this.clear();
                    has_operands = false;
                }
            }
            ":" | "::" if depth == 1 => has_operands = true,
            ";" => starts = false,
            _ if depth > 0 && of.contains('"') => {
                of_this.extend(singles(of).map(|at| word.range.start + at));
            }
            _ => {}
        }
    }
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + places.len());
    let mut from = 0;
    for at in places {
        out += &text[from..at];
        out.push('%');
        from = at;
    }
    Cow::Owned(out + &text[from..])
}

/// Where a `%` is that names a register: before a letter, and not doubled.
fn singles(string: &str) -> impl Iterator<Item = usize> {
    let bytes = string.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let here = at;
            at += 1;
            if bytes[here] != b'%' {
                continue;
            }
            match bytes.get(at) {
                Some(b'%') => at += 1,
                Some(next) if next.is_ascii_alphabetic() || *next == b'_' => return Some(here),
                _ => {}
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_registers_in_inline_ptx_are_doubled() {
        let text = r#"asm(".reg .pred %p;"); asm("mov.u32 %0, %laneid;" : "=r"(x)); printf("%d %laneid", 5 % n); asm volatile ("{ mov.u32 %%r, %tid.x; }" ::);"#;
        let to = r#"asm(".reg .pred %p;"); asm("mov.u32 %0, %%laneid;" : "=r"(x)); printf("%d %laneid", 5 % n); asm volatile ("{ mov.u32 %%r, %%tid.x; }" ::);"#;
        assert_eq!(doubled(text), to);
        assert!(matches!(doubled("int a = 5 % n;"), Cow::Borrowed(_)));
    }
}
