//! Candidates for shared arrays whose row width or size does not fit the accesses.

use ir::SharedVar;
use ir::symbol::template_name;
use report::{SuggestionKind, findings::Found};

use crate::{
    Base,
    candidate::Candidate,
    conflict::{larger, launches, single, third_arguments},
    text::Text,
};

/// Rows are widened by at most this many elements, so that wide accesses are aligned in each.
const MAX_ELEMENTS: u64 = 3;
/// Dynamic shared memory is enlarged by at most this factor.
const MAX_TIMES: u64 = 4;

/// For rows whose wide accesses are misaligned: slightly wider rows.
pub(crate) fn aligned(base: Base<'_>, texts: &[Text<'_>], found: &[&Found]) -> Vec<Candidate> {
    let mut all = vec![];
    for var in vars(base, found) {
        let loc = base.input.module.loc(var.loc);
        let file = base.input.module.files.get(loc.file as usize);
        let Some(text) = texts.iter().find(|text| Some(&text.file.name) == file) else {
            continue;
        };
        let Some(name) = text.name_at(loc.line, loc.column, &var.name) else {
            continue;
        };
        let Some(last) = text.subscripts(name).pop().filter(|last| !last.is_empty()) else {
            continue;
        };
        let outer = text.between(name..last.start - 1);
        for by in 1..=MAX_ELEMENTS {
            let wider = larger(text.between(last.clone()), by);
            all.push(Candidate::new(
                SuggestionKind::Pad,
                format!(
                    "make the rows a multiple of the access's width: `{outer}[{wider}]` in line {}",
                    text.line(name)
                ),
                vec![text.replace(last.clone(), wider)],
            ));
        }
    }
    all
}

/// The shared matrices that findings name, or those of their kernel if an address has no name.
fn vars<'a>(base: Base<'a>, found: &[&Found]) -> Vec<&'a SharedVar> {
    let is_named = |var: &SharedVar| {
        let mut objects = found
            .iter()
            .filter_map(|found| found.memory.object.as_ref());
        objects.any(|(name, _)| *name == var.name)
    };
    let is_of = |name: &str| {
        let mut kernels = found.iter().filter_map(|found| found.kernel.as_deref());
        kernels.any(|kernel| kernel == name)
    };
    let kernels = base.input.module.kernels();
    let mut all: Vec<&SharedVar> = kernels
        .filter(|(_, kernel)| is_of(&kernel.name))
        .flat_map(|(_, kernel)| &kernel.shared)
        .filter(|var| var.dims.len() > 1)
        .collect();
    all.dedup_by_key(|var| var.loc);
    if all.iter().any(|var| is_named(var)) {
        all.retain(|var| is_named(var));
    }
    all
}

/// For dynamic shared memory of which the launch gives too little, or none.
pub(crate) fn more_room(base: Base<'_>, texts: &[Text<'_>], found: &[&Found]) -> Vec<Candidate> {
    let kernel = found.iter().find_map(|found| found.kernel.as_deref());
    let Some(kernel) = kernel.map(template_name) else {
        return vec![];
    };
    let functions = base.input.module.kernels();
    let mut shared = functions
        .filter(|(_, function)| template_name(&function.name) == kernel)
        .flat_map(|(_, function)| &function.shared);
    let Some(var) = shared.find(|var| var.dynamic) else {
        return vec![];
    };
    let mut all = vec![];
    for text in texts {
        let arguments = third_arguments(text, kernel);
        // The argument is a number of elements where bytes are needed.
        let has_size =
            |words: &std::ops::Range<usize>| words.clone().any(|at| text.word(at) == "sizeof");
        if let Some(first) = arguments
            .first()
            .filter(|_| !arguments.iter().any(has_size))
        {
            let bytes = |words: &std::ops::Range<usize>| {
                format!(
                    "{} * sizeof({})",
                    single(text.between(words.clone())),
                    var.c_type
                )
            };
            let edit = |words: &std::ops::Range<usize>| text.replace(words.clone(), bytes(words));
            all.push(Candidate::new(
                SuggestionKind::Other,
                format!(
                    "the third argument of the launch in line {} counts bytes: `{}`",
                    text.line(first.start),
                    bytes(first)
                ),
                arguments.iter().map(edit).collect(),
            ));
        }
        for times in 2..=MAX_TIMES {
            let edit = |words: &std::ops::Range<usize>| {
                let bytes = single(text.between(words.clone()));
                text.replace(words.clone(), format!("{times} * {bytes}"))
            };
            if !arguments.is_empty() {
                let line = text.line(arguments[0].start);
                all.push(Candidate::new(
                    SuggestionKind::Other,
                    format!(
                        "give {times} times as much dynamic shared memory, the third argument of the launch in line {line}"
                    ),
                    arguments.iter().map(edit).collect(),
                ));
            }
        }
        if arguments.is_empty() {
            all.extend(given(text, kernel, var));
        }
    }
    all
}

/// For a launch without a third argument: an element for each thread, or several.
fn given(text: &Text<'_>, kernel: &str, var: &SharedVar) -> Vec<Candidate> {
    let arrows = |&at: &usize| text.word(at) == "<<<" && launches(text, at, kernel);
    let Some(open) = (0..text.len()).find(arrows) else {
        return vec![];
    };
    let close = (open..text.len()).find(|&at| text.word(at) == ">>>");
    let comma = close.and_then(|close| {
        let mut depth = 0;
        (open + 1..close).find(|&at| {
            match text.word(at) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            depth == 0 && text.word(at) == ","
        })
    });
    let (Some(close), Some(comma)) = (close, comma) else {
        return vec![];
    };
    let threads = single(text.between(comma + 1..close));
    let element = &var.c_type;
    let one = |times: u64| {
        let bytes = match times {
            1 => format!("{threads} * sizeof({element})"),
            times => format!("{times} * {threads} * sizeof({element})"),
        };
        Candidate::new(
            SuggestionKind::Other,
            format!(
                "give the launch in line {} its dynamic shared memory, `{bytes}`, as its third argument",
                text.line(open)
            ),
            vec![text.behind(close - 1, format!(", {bytes}"))],
        )
    };
    (1..=MAX_TIMES).map(one).collect()
}
