//! Joins launch brackets that an editor has spaced: nvcc accepts `k << <1, 64 >> > (x)` for `k<<<1, 64>>>(x)`, clang does not.

use std::{borrow::Cow, ops::Range};

use dsl::syntax;
use ir::source::SourceFile;

/// The source with each such bracket joined. All other text keeps its place.
pub(crate) fn join(text: &str) -> Cow<'_, str> {
    // Most sources have no such bracket, and are not split into words.
    if !text.contains("<< <") && !text.contains("< <<") {
        return Cow::Borrowed(text);
    }
    let words = syntax::words(&SourceFile::new("", text));
    let words: Vec<Range<usize>> = words.into_iter().map(|word| word.range).collect();
    let mut out = text.to_string();
    for at in 0..words.len() {
        if !is_pair(text, &words, at, "<<", "<") {
            continue;
        }
        let Some(closing) = closing(text, &words, at + 2) else {
            continue;
        };
        put(&mut out, &words[at], &words[at + 1], "<<<");
        if text[words[closing].clone()] != *">>>" {
            put(&mut out, &words[closing], &words[closing + 1], ">>>");
        }
    }
    Cow::Owned(out)
}

/// Writes a bracket over the two words that it consists of; other words keep their place.
fn put(out: &mut String, first: &Range<usize>, second: &Range<usize>, whole: &str) {
    let between = out[first.end..second.start].to_string();
    out.replace_range(first.start..second.end, &format!("{whole}{between}"));
}

/// The word that closes the launch configuration that begins at `start`.
fn closing(text: &str, words: &[Range<usize>], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in start..words.len() {
        match &text[words[at].clone()] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            ";" => return None,
            ">>>" if depth == 0 => return Some(at),
            _ if depth == 0 && is_pair(text, words, at, ">>", ">") => {
                let next = words.get(at + 2)?;
                if text[next.clone()] == *"(" {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether two words form a launch bracket, in either order.
fn is_pair(text: &str, words: &[Range<usize>], at: usize, long: &str, short: &str) -> bool {
    let Some([first, second]) = words.get(at..at + 2) else {
        return false;
    };
    let pair = (&text[first.clone()], &text[second.clone()]);
    pair == (long, short) || pair == (short, long)
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn brackets_are_joined() {
        assert_eq!(
            join("k << <grid, f(a > b) >> > (x); j < <<1, 2 > >>(y);"),
            "k <<< grid, f(a > b) >>>  (x); j <<< 1, 2 >>> (y);"
        );
        assert_eq!(join("k << <1, 2>>>(x);\n"), "k <<< 1, 2>>>(x);\n");
        assert_eq!(join("k << <\n1, 2 >>\n> (x);"), "k <<< \n1, 2 >>>\n (x);");
    }

    #[test]
    fn other_text_stays() {
        for text in [
            "k<<<1, 2>>>(x); A<B<C<int> > >(y);",
            "// k << <1, 2 >> >(x)\nputs(\"<< <1>> >(\");",
            "a << < b; c >> > (d);",
        ] {
            assert_eq!(join(text), text);
        }
    }
}
