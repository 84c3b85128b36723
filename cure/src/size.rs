//! The numbers of elements of a program's buffers, as the source writes them.
//!
//! A guard that compares a thread's number with a parameter is right only if the parameter is the number of elements: `width` may be equal
//! to the number of rows just in this run. So the factors of each allocation's size are compared with the argument for the parameter.

use std::ops::Range;

use ir::symbol::template_name;

use crate::{conflict::launches, text::Text};

/// How often a variable is replaced by its initial value.
const MAX_STEPS: usize = 3;

/// The sizes of buffers: each is the factors of a product, sorted, without `sizeof`.
pub(crate) struct Sizes(Vec<Vec<String>>);

impl Sizes {
    /// The sizes of all allocations and host arrays. `None` if the program has none, because its launches are given elsewhere.
    pub(crate) fn of(texts: &[Text<'_>]) -> Option<Sizes> {
        let mut all = vec![];
        for text in texts {
            for at in 0..text.len() {
                let argument = match text.word(at) {
                    "cudaMalloc" | "cudaMallocManaged" | "cudaMallocHost" | "cudaHostAlloc" => 1,
                    "malloc" => 0,
                    _ => continue,
                };
                let arguments = arguments(text, at + 1);
                if let Some(size) = arguments.get(argument) {
                    all.push(factors(text, size.clone(), MAX_STEPS));
                }
            }
        }
        all.sort();
        all.dedup();
        (!all.is_empty()).then_some(Sizes(all))
    }

    /// Whether some buffer has as many elements as the product of these parameters' arguments, in a launch of a kernel.
    pub(crate) fn has(&self, texts: &[Text<'_>], kernel: &str, params: &[usize]) -> bool {
        let kernel = template_name(kernel);
        let is_size = |text: &Text<'_>, arguments: &[Range<usize>]| {
            let mut product = vec![];
            for &param in params {
                let Some(argument) = arguments.get(param) else {
                    return false;
                };
                let mut steps = vec![];
                for steps_left in 0..=MAX_STEPS {
                    steps.push(factors(text, argument.clone(), steps_left));
                }
                product.push(steps);
            }
            // Each argument may be written as in the allocation, or as its initial value.
            (0..=MAX_STEPS).any(|step| {
                let mut all: Vec<String> = product
                    .iter()
                    .flat_map(|steps| steps[step].clone())
                    .collect();
                all.sort();
                self.0.contains(&all)
            })
        };
        texts.iter().any(|text| {
            let mut arrows = (0..text.len()).filter(|&at| text.word(at) == "<<<");
            arrows.any(|at| {
                let close = (at..text.len()).find(|&at| text.word(at) == ">>>");
                let open = close
                    .filter(|_| launches(text, at, kernel))
                    .map(|at| at + 1);
                open.is_some_and(|open| is_size(text, &arguments(text, open)))
            })
        })
    }
}

/// The arguments inside brackets.
fn arguments(text: &Text<'_>, open: usize) -> Vec<Range<usize>> {
    let Some(close) = text.close(open).filter(|_| text.word(open) == "(") else {
        return vec![];
    };
    split(text, open + 1..close, ",")
}

/// Words between separators outside of brackets.
fn split(text: &Text<'_>, words: Range<usize>, separator: &str) -> Vec<Range<usize>> {
    let mut all = vec![];
    let (mut start, mut at) = (words.start, words.start);
    while at < words.end {
        match text.word(at) {
            "(" | "[" | "{" => at = text.close(at).unwrap_or(at),
            word if word == separator => {
                all.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if start < words.end {
        all.push(start..words.end);
    }
    all
}

/// The factors of a size. A variable is replaced by its initial value, up to `steps` times; `sizeof h` of an array is its dimensions.
fn factors(text: &Text<'_>, words: Range<usize>, steps: usize) -> Vec<String> {
    let mut all = vec![];
    for factor in split(text, words, "*") {
        let factor = without_cast(text, factor);
        let first = text.word(factor.start);
        if first == "sizeof" {
            all.extend(dimensions(text, factor, steps));
        } else if first == "(" && text.close(factor.start) == Some(factor.end - 1) {
            all.extend(factors(text, factor.start + 1..factor.end - 1, steps));
        } else if factor.len() == 1
            && steps > 0
            && let Some(value) = text.initial_value(factor.start)
            && is_expanded(text, &value)
        {
            all.extend(factors(text, value, steps - 1));
        } else {
            all.push(text.between(factor).to_string());
        }
    }
    all.sort();
    // `n * 4` is `n * sizeof(int)`.
    if all.len() > 1 {
        all.retain(|factor| !matches!(&**factor, "1" | "2" | "4" | "8" | "16"));
    }
    all
}

/// Whether a variable's value says more than its name: a product or another name. Numbers may be equal by chance.
fn is_expanded(text: &Text<'_>, value: &Range<usize>) -> bool {
    let is_name = |at: usize| text.word(at).starts_with(|c: char| c.is_ascii_alphabetic());
    match value.len() {
        1 => is_name(value.start),
        _ => split(text, value.clone(), "*").len() > 1,
    }
}

/// `(size_t)n` is `n`.
fn without_cast(text: &Text<'_>, factor: Range<usize>) -> Range<usize> {
    let is_cast = text.word(factor.start) == "("
        && text.close(factor.start) == Some(factor.start + 2)
        && factor.len() > 3;
    match is_cast {
        true => factor.start + 3..factor.end,
        false => factor,
    }
}

/// The dimensions of the array that `sizeof h` or `sizeof(h)` names; empty for a type.
fn dimensions(text: &Text<'_>, factor: Range<usize>, steps: usize) -> Vec<String> {
    let mut names = factor.clone().skip(1).filter(|&at| text.word(at) != "(");
    let Some(name) = names.next() else {
        return vec![];
    };
    let word = text.word(name);
    // The declaration is before the use.
    let declaration = (0..factor.start).rev().find(|&at| {
        let before = at.checked_sub(1).map_or("", |at| text.word(at));
        text.word(at) == word
            && text.word(at + 1) == "["
            && (before == "," || before.starts_with(|c: char| c.is_ascii_alphabetic()))
    });
    let subscripts = declaration.map(|at| text.subscripts(at));
    let subscripts = subscripts.unwrap_or_default().into_iter();
    subscripts
        .flat_map(|size| factors(text, size, steps))
        .collect()
}
