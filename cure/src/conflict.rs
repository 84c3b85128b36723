//! Candidates for bank conflicts: other layouts of the array.
//!
//! The rows of two-dimensional arrays are widened by the number that costs least by the machine's rule, or their columns are permuted.
//! Where rows are computed (`s[y * 32 + x]`, and all dynamic arrays) the width of a row is increased everywhere, or each index is spread or
//! permuted.

use ir::symbol::template_name;
use std::ops::Range;

use interp::LaunchReport;
use ir::{LocId, SharedVar};
use report::{Edit, SuggestionKind, model::HotSpot};

use crate::{Base, candidate::Candidate, structs, text::Text, tree};

/// Words of a row of banks.
const BANKS: u64 = 32;

/// Most pads of a matrix that are tried.
const MAX_PADS: usize = 2;

/// A shared array and its place in the text.
pub(crate) struct Array<'a, 't> {
    pub(crate) var: &'a SharedVar,
    pub(crate) text: &'t Text<'a>,
    /// Its name in the declaration.
    pub(crate) name: usize,
    /// The name of its kernel, without template arguments.
    kernel: &'a str,
    /// The threads of a row of the kernel's blocks.
    block_x: u32,
    /// The places where its name has as many subscripts as the array has dimensions.
    pub(crate) uses: Vec<usize>,
}

/// Candidates for the conflicts of a hot spot, for each array it is about, the one that wastes most first.
pub(crate) fn candidates(base: Base<'_>, texts: &[Text<'_>], spot: &HotSpot) -> Vec<Candidate> {
    let find = |&(at, site): &(usize, usize)| {
        let launch = base.input.outcome.launches.get(at)?;
        let site = launch.sites.get(site)?;
        let var = report::shared_var(site, launch, base.input.module)?;
        let counts = &site.counts;
        Some((
            counts.transactions.saturating_sub(counts.ideal),
            launch,
            var,
        ))
    };
    let mut arrays: Vec<(u64, &LaunchReport, &SharedVar)> =
        spot.sites.iter().filter_map(find).collect();
    arrays.sort_by_key(|&(excess, ..)| std::cmp::Reverse(excess));
    let mut seen: Vec<LocId> = vec![];
    arrays.retain(|(_, _, var)| {
        let is_new = !seen.contains(&var.loc);
        seen.push(var.loc);
        is_new
    });
    let of_array = |(_, launch, var)| of_array(base, texts, spot, (launch, var));
    arrays.into_iter().flat_map(of_array).collect()
}

fn of_array<'a>(
    base: Base<'a>,
    texts: &[Text<'a>],
    spot: &HotSpot,
    (launch, var): (&'a LaunchReport, &'a SharedVar),
) -> Vec<Candidate> {
    let kernel = &launch.kernel_name;
    let kernel = template_name(kernel);
    let Some(array) = array(base, texts, var, (kernel, launch.block[0])) else {
        return vec![];
    };
    let structs = structs::candidates(texts, &array);
    if !structs.is_empty() {
        return structs;
    }
    match var.dims[..] {
        [_, _, ..] => matrix(base, &array, launch),
        _ => {
            let mut all: Vec<Candidate> = tree::candidates(array.text, spot);
            all.extend(vector(&array, texts));
            all
        }
    }
}

pub(crate) fn array<'a, 't>(
    base: Base<'a>,
    texts: &'t [Text<'a>],
    var: &'a SharedVar,
    (kernel, block_x): (&'a str, u32),
) -> Option<Array<'a, 't>> {
    let loc = base.input.module.loc(var.loc);
    let file = base.input.module.files.get(loc.file as usize)?;
    let text = texts.iter().find(|text| text.file.name == *file)?;
    let name = text.name_at(loc.line, loc.column, &var.name)?;
    let body = match text.function(name) {
        Some(function) => text.body(function),
        None => 0..text.len(),
    };
    let n_dims = var.dims.len();
    let is_use = |&at: &usize| {
        at != name && text.word(at) == var.name && text.subscripts(at).len() == n_dims
    };
    let uses = body.filter(is_use).collect();
    Some(Array {
        var,
        text,
        name,
        kernel,
        block_x,
        uses,
    })
}

/// A dimension or factor increased by `by`: `32` becomes `33`, `TILE` becomes `TILE + 1`.
pub(crate) fn larger(words: &str, by: u64) -> String {
    // `N + 1` becomes `N + 2`.
    if let Some((before, last)) = words.rsplit_once('+')
        && let Ok(number) = last.trim().parse::<u64>()
        && !is_sum(before)
    {
        return format!("{before}+ {}", number + by);
    }
    match words.parse::<u64>() {
        Ok(number) => (number + by).to_string(),
        Err(_) if is_sum(words) => format!("({words}) + {by}"),
        Err(_) => format!("{words} + {by}"),
    }
}

/// Whether it contains an operator with lower precedence than `+`.
fn is_sum(words: &str) -> bool {
    words.contains(['<', '>', '&', '|', '^', '?', ',', '='])
}

/// In brackets, unless it is one word.
pub(crate) fn single(words: &str) -> String {
    if words
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    {
        words.to_string()
    } else {
        format!("({words})")
    }
}

fn matrix(base: Base<'_>, array: &Array<'_, '_>, launch: &LaunchReport) -> Vec<Candidate> {
    let (text, var) = (array.text, array.var);
    let Some(last) = text
        .subscripts(array.name)
        .pop()
        .filter(|last| !last.is_empty())
    else {
        return vec![];
    };
    let columns = text.between(last.clone());
    let line = text.line(array.name);
    let outer = text.between(array.name..last.start - 1);
    let pad = |pad: u64| {
        let wider = larger(columns, pad);
        Candidate::new(
            SuggestionKind::Pad,
            format!("make the rows wider: `{outer}[{wider}]` in line {line}"),
            vec![text.replace(last.clone(), wider)],
        )
    };
    let pads = report::pads(var, launch, base.input);
    let mut all: Vec<Candidate> = pads.into_iter().take(MAX_PADS).map(pad).collect();
    let n_columns = var.dims.last().copied().unwrap_or(0);
    let edits: Vec<Edit> = array
        .uses
        .iter()
        .filter_map(|&at| {
            let subscripts = text.subscripts(at);
            let [.., row, column] = &subscripts[..] else {
                return None;
            };
            let row = single(text.between(row.clone()));
            let row = match var.dims[var.dims.len() - 2] > n_columns {
                true => format!("{row} % {n_columns}"),
                false => row,
            };
            let swizzled = format!("{} ^ {row}", single(text.between(column.clone())));
            Some(text.replace(column.clone(), swizzled))
        })
        .collect();
    if n_columns.is_power_of_two() && !edits.is_empty() {
        let name = &var.name;
        let row = match var.dims[var.dims.len() - 2] > n_columns {
            true => format!("(row % {n_columns})"),
            false => "row".to_string(),
        };
        all.push(Candidate::new(
            SuggestionKind::Swizzle,
            format!("store each row's columns in another order: `{name}[row][column ^ {row}]` wherever it is accessed"),
            edits,
        ));
    }
    all
}

fn vector(array: &Array<'_, '_>, texts: &[Text<'_>]) -> Vec<Candidate> {
    let (text, name) = (array.text, &array.var.name);
    let indices: Vec<Range<usize>> = array
        .uses
        .iter()
        .filter_map(|&at| text.subscripts(at).pop())
        .collect();
    // An index with side effects must not be written twice.
    let changes = |index: &Range<usize>| {
        let mut words = index.clone().map(|at| text.word(at));
        words.any(|word| matches!(word, "++" | "--" | "=" | "+=" | "-="))
    };
    if indices.is_empty() || indices.iter().any(changes) {
        return vec![];
    }
    let each = |to: &dyn Fn(&str) -> String| -> Vec<Edit> {
        let all = indices.iter();
        all.map(|index| text.replace(index.clone(), to(text.between(index.clone()))))
            .collect()
    };
    let mut all = vec![];
    all.extend((1..=MAX_PADS as u64).filter_map(|pad| pitch(array, texts, &indices, pad)));
    if let Some(room) = room(array, texts, &|bytes| {
        format!("{bytes} + {bytes} / {BANKS}")
    }) {
        let mut edits = each(&|index| {
            let index = single(index);
            format!("{index} + {index} / {BANKS}")
        });
        edits.extend(room);
        all.push(Candidate::new(
            SuggestionKind::Spread,
            format!("pad `{name}`: leave an element unused after every {BANKS}, with the index `i + i / {BANKS}` wherever it is accessed, and room for them"),
            edits,
        ));
    }
    all.push(Candidate::new(
        SuggestionKind::Swizzle,
        format!("store the elements of `{name}` in another order: index `i ^ i / {BANKS} % {BANKS}` wherever it is accessed"),
        each(&|index| {
            let index = single(index);
            format!("{index} ^ {index} / {BANKS} % {BANKS}")
        }),
    ));
    all
}

/// The edits that give an array more room: in its size, or in the third argument of the launches if it is dynamic.
fn room(
    array: &Array<'_, '_>,
    texts: &[Text<'_>],
    more: &dyn Fn(&str) -> String,
) -> Option<Vec<Edit>> {
    if !array.var.dynamic {
        let text = array.text;
        let size = text
            .subscripts(array.name)
            .pop()
            .filter(|size| !size.is_empty())?;
        let words = text.between(size.clone());
        let new = match words.parse::<u64>() {
            Ok(number) => (number + number / BANKS).to_string(),
            Err(_) => more(&single(words)),
        };
        return Some(vec![text.replace(size, new)]);
    }
    let mut edits = vec![];
    for text in texts {
        for words in third_arguments(text, array.kernel) {
            edits.push(text.replace(words.clone(), more(&single(text.between(words)))));
        }
    }
    (!edits.is_empty()).then_some(edits)
}

/// Most words of a kernel's template arguments before `<<<`.
const MAX_TEMPLATE_WORDS: usize = 16;

/// The third arguments of a kernel's launches in a file.
pub(crate) fn third_arguments(text: &Text<'_>, kernel: &str) -> Vec<Range<usize>> {
    let mut all = vec![];
    let mut at = 0;
    while at < text.len() {
        if text.word(at) != "<<<" || !launches(text, at, kernel) {
            at += 1;
            continue;
        }
        let mut starts = vec![at + 1];
        let mut next = at + 1;
        while next < text.len() && text.word(next) != ">>>" && text.word(next) != ";" {
            match text.word(next) {
                "(" | "[" | "{" => next = text.close(next).unwrap_or(next),
                "," => starts.push(next + 1),
                _ => {}
            }
            next += 1;
        }
        starts.push(next + 1);
        if let [_, _, third, end, ..] = starts[..]
            && third < end - 1
        {
            all.push(third..end - 1);
        }
        at = next;
    }
    all
}

/// Whether the kernel's name is before `<<<`.
pub(crate) fn launches(text: &Text<'_>, arrows: usize, kernel: &str) -> bool {
    let ends = |word: &str| matches!(word, ";" | "{" | "}");
    let mut before = (arrows.saturating_sub(MAX_TEMPLATE_WORDS)..arrows).rev();
    let name = before.find(|&at| text.word(at) == kernel || ends(text.word(at)));
    name.is_some_and(|at| text.word(at) == kernel)
}

/// An index, and its expression: the index itself, or the initial value of the variable that it is.
struct Index {
    words: Range<usize>,
    value: Range<usize>,
}

fn index(text: &Text<'_>, words: &Range<usize>) -> Index {
    let value = match words.len() {
        1 => text.initial_value(words.start),
        _ => None,
    };
    Index {
        words: words.clone(),
        value: value.unwrap_or(words.clone()),
    }
}

/// The factors of an index: for `y * W`, `(y + 1) * W`, `W * y`, the words next to the stars.
fn factors(text: &Text<'_>, value: &Range<usize>) -> Vec<Range<usize>> {
    let stars = value.clone().filter(|&at| text.word(at) == "*");
    let beside = stars.flat_map(|star| {
        [
            factor_before(text, star, value.start),
            factor_behind(text, star, value.end),
        ]
    });
    beside.flatten().collect()
}

/// The factor of each index that is the width of a row: the one that all indices have, or else the one after the only star of each.
fn widths(text: &Text<'_>, indices: &[Index]) -> Option<Vec<Range<usize>>> {
    let all: Vec<Vec<Range<usize>>> = indices
        .iter()
        .map(|index| factors(text, &index.value))
        .collect();
    let same = |width: &Range<usize>, own: &[Range<usize>]| -> Vec<Range<usize>> {
        let width = text.between(width.clone());
        let own = own
            .iter()
            .filter(|own| text.between((*own).clone()) == width);
        own.cloned().collect()
    };
    let common = all.first()?.iter().find_map(|width| {
        let each = all.iter().map(|own| match &same(width, own)[..] {
            [one] => Some(one.clone()),
            _ => None,
        });
        each.collect::<Option<Vec<_>>>()
    });
    let behind = || {
        let each = all.iter().map(|own| match &own[..] {
            [_, behind] => Some(behind.clone()),
            _ => None,
        });
        each.collect()
    };
    common.or_else(behind)
}

/// Computed rows: increases their width in all indices, and makes room for them.
fn pitch(
    array: &Array<'_, '_>,
    texts: &[Text<'_>],
    indices: &[Range<usize>],
    pad: u64,
) -> Option<Candidate> {
    let text = array.text;
    let indices: Vec<Index> = indices.iter().map(|words| index(text, words)).collect();
    let widths = widths(text, &indices)?;
    let mut edits = vec![];
    for (index, width) in indices.iter().zip(&widths) {
        let new = wider(text.between(width.clone()), pad);
        let value = text.spliced(&index.value, width, &new);
        edits.push(text.replace(index.words.clone(), value));
    }
    let width = text.between(widths.first()?.clone()).to_string();
    let more = |size: &str, width: &str| match pad {
        1 => format!("{size} + {size} / {width}"),
        pad => format!("{size} + {pad} * {size} / {width}"),
    };
    if array.var.dynamic {
        let all = texts.iter().flat_map(|text| {
            let arguments = third_arguments(text, array.kernel).into_iter();
            arguments.map(move |words| (text, words))
        });
        for (text, words) in all {
            let bytes = single(text.between(words.clone()));
            // A width that a kernel computes from its block is unknown where it is launched.
            let by = match width.contains("blockDim") {
                true => array.block_x.to_string(),
                false => single(&width),
            };
            edits.push(text.replace(words, more(&bytes, &by)));
        }
    } else {
        let size = text.subscripts(array.name).pop();
        let size = size.filter(|size| !size.is_empty())?;
        let words = text.between(size.clone());
        let new = match (words.parse::<u64>(), width.parse::<u64>()) {
            (Ok(number), Ok(width)) if width > 0 => (number + pad * number / width).to_string(),
            _ => more(&single(words), &single(&width)),
        };
        edits.push(text.replace(size, new));
    }
    Some(Candidate::new(
        SuggestionKind::Pad,
        format!(
            "make the rows of `{}` wider: `{}` for `{width}` in its indices, and room for them",
            array.var.name,
            larger(&width, pad)
        ),
        edits,
    ))
}

/// A factor increased by `by`.
fn wider(width: &str, by: u64) -> String {
    match width.parse::<u64>() {
        Ok(number) => (number + by).to_string(),
        Err(_) => format!(
            "({} + {by})",
            width.trim_start_matches('(').trim_end_matches(')')
        ),
    }
}

/// The one word, or the words in brackets, before a star.
fn factor_before(text: &Text<'_>, star: usize, start: usize) -> Option<Range<usize>> {
    let last = star.checked_sub(1).filter(|&last| last >= start)?;
    if text.word(last) != ")" {
        // `blockDim.x`.
        let first = if last >= start + 2 && text.word(last - 1) == "." {
            last - 2
        } else {
            last
        };
        return Some(first..star);
    }
    let open = (start..last)
        .rev()
        .find(|&at| text.word(at) == "(" && text.close(at) == Some(last))?;
    Some(open..star)
}

/// The one word, or the words in brackets, after a star.
fn factor_behind(text: &Text<'_>, star: usize, end: usize) -> Option<Range<usize>> {
    let first = star + 1;
    if first >= end {
        return None;
    }
    if text.word(first) == "(" {
        return Some(first..text.close(first)? + 1);
    }
    let last = if first + 2 < end && text.word(first + 1) == "." {
        first + 2
    } else {
        first
    };
    Some(first..last + 1)
}
