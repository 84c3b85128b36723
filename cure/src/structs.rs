//! Candidates for arrays of structs in shared memory: a struct of arrays instead.

use report::{Edit, SuggestionKind};

use crate::{candidate::Candidate, conflict::Array, text::Text};

/// `s[i].x` becomes `s.x[i]`, or the struct gets another member, if the program's text defines the struct.
pub(crate) fn candidates(texts: &[Text<'_>], array: &Array<'_, '_>) -> Vec<Candidate> {
    let name = array.var.c_type.trim_start_matches("struct ").trim();
    let Some((home, open)) = texts
        .iter()
        .find_map(|text| Some((text, definition(text, name)?)))
    else {
        return vec![];
    };
    let Some(close) = home.close(open) else {
        return vec![];
    };
    let mut all = vec![];
    all.extend(struct_of_arrays(array, home, open, close));
    let line = home.line(close);
    let member = match home.line(open) == line {
        true => home.before(close, "int unused; "),
        false => home.line_before(close, "    int unused;"),
    };
    all.push(Candidate::new(
        SuggestionKind::Layout,
        format!("give `{name}` an odd number of words: one member more in line {line}"),
        vec![member],
    ));
    all
}

/// The brace after `struct NAME`.
fn definition(text: &Text<'_>, name: &str) -> Option<usize> {
    let is_definition = |&at: &usize| {
        text.word(at) == "{"
            && (at >= 2 && text.word(at - 1) == name && text.word(at - 2) == "struct"
                || text.word(at.saturating_sub(1)) == "struct"
                    && text
                        .close(at)
                        .is_some_and(|close| text.word(close + 1) == name))
    };
    (0..text.len()).find(is_definition)
}

fn struct_of_arrays(
    array: &Array<'_, '_>,
    home: &Text<'_>,
    open: usize,
    close: usize,
) -> Option<Candidate> {
    let (text, var) = (array.text, array.var);
    let size = text.subscripts(array.name);
    let [size] = &size[..] else { return None };
    let n = text.between(size.clone());
    let mut members = String::new();
    for at in open + 1..close {
        match home.word(at) {
            "(" | "[" | "{" | "=" | ":" => return None,
            word @ ("," | ";") => {
                members += &format!("[{n}]{word}");
            }
            word => {
                if !members.is_empty() {
                    members.push(' ');
                }
                members += word;
            }
        }
    }
    // In `__shared__ Body bodies[N];` the type is the word between.
    let node = text.statements(array.name).last().copied()?;
    let shared = (node.first..array.name).find(|&at| text.word(at) == "__shared__")?;
    if shared + 1 >= array.name || size.end + 2 != node.last + 1 {
        return None;
    }
    let name = &var.name;
    let mut edits: Vec<Edit> = vec![text.replace(
        shared + 1..node.last + 1,
        format!("struct {{ {members} }} {name};"),
    )];
    for &at in &array.uses {
        let index = text.subscripts(at).pop()?;
        let dot = index.end + 1;
        if text.word(dot) != "." {
            return None;
        }
        let member = text.word(dot + 1);
        let index_text = text.between(index.clone());
        edits.push(text.replace(at..dot + 2, format!("{name}.{member}[{index_text}]")));
    }
    Some(Candidate::new(
        SuggestionKind::Layout,
        format!(
            "keep each member in a separate array (struct of arrays): `{name}.member[i]` for `{name}[i].member`"
        ),
        edits,
    ))
}
