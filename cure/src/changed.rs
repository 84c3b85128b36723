//! Which kernels edits change: those whose code differs, including what they call and use.

use std::collections::{HashMap, HashSet};

use ir::{FunctionKind, Module, print};

/// A part of a module's text: its name there, its words without places, and what it is.
struct Part {
    key: String,
    words: String,
    /// The name of a kernel.
    kernel: Option<String>,
}

/// The names of the kernels that differ in the edited module, or exist only there.
pub(crate) fn kernels(old: &Module, new: &Module) -> Vec<String> {
    let old: HashMap<String, Part> = parts(old)
        .into_iter()
        .map(|part| (part.key.clone(), part))
        .collect();
    let new = parts(new);
    let mut changed: HashSet<&str> = new
        .iter()
        .filter(|part| {
            old.get(&part.key)
                .is_none_or(|known| known.words != part.words)
        })
        .map(|part| part.key.as_str())
        .collect();
    // A function that calls or uses something changed is changed, too.
    loop {
        let uses = |part: &&Part| {
            !changed.contains(part.key.as_str())
                && part.words.split(' ').any(|word| changed.contains(word))
        };
        let more: Vec<&str> = new
            .iter()
            .filter(uses)
            .map(|part| part.key.as_str())
            .collect();
        if more.is_empty() {
            break;
        }
        changed.extend(more);
    }
    let is_changed = |part: &&Part| changed.contains(part.key.as_str());
    let kernels = new.iter().filter(is_changed);
    kernels.filter_map(|part| part.kernel.clone()).collect()
}

/// Functions and variables.
fn parts(module: &Module) -> Vec<Part> {
    let text = print(module);
    let mut parts: Vec<Part> = vec![];
    for line in text.lines() {
        let words: Vec<&str> = line
            .split_whitespace()
            .filter(|word| !is_place(word))
            .collect();
        let is_head = |word: &&&str| word.starts_with("fn") || word.starts_with("global");
        match words.as_slice() {
            // A line within a function.
            _ if line.starts_with(' ') || line.starts_with('}') => {
                if let Some(part) = parts.last_mut() {
                    push(&mut part.words, &words);
                }
            }
            [kind, name, ..] if is_head(&name) && *kind != "loc" => {
                let mut part = Part {
                    key: (*name).to_string(),
                    words: String::new(),
                    kernel: None,
                };
                push(&mut part.words, &words);
                parts.push(part);
            }
            _ => {}
        }
    }
    for (index, function) in module.functions.iter().enumerate() {
        if function.kind == FunctionKind::Kernel
            && let Some(part) = parts
                .iter_mut()
                .find(|part| part.key == format!("fn{index}"))
        {
            part.kernel = Some(function.name.clone());
        }
    }
    parts
}

/// Appends words with one space after each; brackets and commas separate words, too.
fn push(text: &mut String, words: &[&str]) {
    for word in words.iter().flat_map(|word| word.split(['(', ')', ','])) {
        text.push_str(word);
        text.push(' ');
    }
}

/// Whether a word is a place of the source, `!12`.
fn is_place(word: &str) -> bool {
    let number = word.strip_prefix('!').unwrap_or_default();
    let number = number.trim_end_matches(['{', '}', ',']);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
