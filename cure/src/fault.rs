//! Candidates for findings other than missing barriers: common omissions.

use ir::{LocId, diagnostic::Code};
use report::{Edit, SuggestionKind, findings::Found};

use crate::{
    Base, barrier,
    candidate::Candidate,
    conflict::single,
    publish, rows,
    size::Sizes,
    text::{Node, NodeKind, Text},
};

/// Most accesses of a group of findings that are looked at.
const MAX_ACCESSES: usize = 16;
/// Most guards and bounds that are tried.
const MAX_GUARDS: usize = 8;

/// Candidates for the findings of one group.
pub(crate) fn candidates(base: Base<'_>, texts: &[Text<'_>], members: &[usize]) -> Vec<Candidate> {
    let found: Vec<&Found> = members.iter().map(|&at| &base.input.findings[at]).collect();
    let Some((text, accesses)) = accesses(base, texts, &found) else {
        return vec![];
    };
    let has = |codes: &[Code]| found.iter().any(|found| codes.contains(&found.code));
    let in_space = |space: &str| {
        let mut all = found.iter();
        all.any(|found| found.memory.space.as_deref() == Some(space))
    };
    let mut all = vec![];
    if has(&[Code::DivergentBarrier]) {
        all.extend(moved_barriers(text, &accesses));
    }
    if has(&[Code::UninitializedRead]) && in_space("local") {
        all.extend(shared_instead(text, &found, &accesses));
    }
    if has(&[Code::UninitializedRead]) && in_space("shared") {
        all.extend(set_first(base, text, &found));
    }
    if has(&[Code::Misaligned]) && in_space("shared") {
        all.extend(rows::aligned(base, texts, &found));
    }
    if has(&[Code::OutOfBounds]) && in_space("shared") {
        all.extend(rows::more_room(base, texts, &found));
    }
    if has(&[Code::OutOfBounds, Code::RowOverflow]) {
        all.extend(bounds(text, &accesses));
        let kernel = found.iter().find_map(|found| found.kernel.as_deref());
        all.extend(guards(texts, text, &accesses, kernel));
    }
    if has(&[Code::DataRace]) && in_space("shared") {
        all.extend(other_buffer(text, &accesses));
    }
    if has(&[Code::WarpSynchronousCode]) && !has(&[Code::DataRace]) {
        all.extend(in_warp(text, &accesses));
    }
    let is_unordered = has(&[Code::DataRace, Code::SameValueRace]);
    if is_unordered && in_space("global") {
        all.extend(publish::candidates(base, texts, text, &accesses));
    }
    if is_unordered || has(&[Code::UninitializedRead]) && in_space("shared") {
        let kind = SuggestionKind::Barrier;
        all.extend(barrier::candidates(
            text,
            &accesses,
            kind,
            "__syncthreads();",
        ));
    }
    all
}

/// The words of the findings' accesses, in the file of the first one.
fn accesses<'a, 't>(
    base: Base<'a>,
    texts: &'t [Text<'a>],
    found: &[&Found],
) -> Option<(&'t Text<'a>, Vec<usize>)> {
    let module = base.input.module;
    let place = |loc: LocId| {
        let loc = module.loc(loc);
        let name = module.files.get(loc.file as usize)?;
        let text = texts.iter().find(|text| text.file.name == *name)?;
        let at = text.at(loc.line, loc.column).filter(|_| loc.line > 0)?;
        Some((text, at))
    };
    let sides = found.iter().flat_map(|found| &found.sides);
    let mut places = sides.filter_map(|side| place(side.loc));
    let (text, first) = places.next()?;
    let mut all = vec![first];
    for (other, at) in places {
        if other.file.name == text.file.name && !all.contains(&at) {
            all.push(at);
        }
    }
    all.truncate(MAX_ACCESSES);
    Some((text, all))
}

/// A barrier in a branch, moved after the branch.
fn moved_barriers(text: &Text<'_>, accesses: &[usize]) -> Vec<Candidate> {
    let mut all = vec![];
    for &at in accesses {
        let chain = text.statements(at);
        let Some(own) = chain.last().filter(|node| node.kind == NodeKind::Plain) else {
            continue;
        };
        let barrier = text.between(own.first..own.last + 1);
        let in_block = chain
            .iter()
            .rev()
            .nth(1)
            .is_some_and(|node| node.kind == NodeKind::Block);
        let taken_out = match in_block {
            true => text.without(*own),
            false => text.replace(own.first..own.last + 1, ";"),
        };
        for branch in chain.iter().filter(|node| node.kind == NodeKind::If) {
            all.push(Candidate::new(
                SuggestionKind::Barrier,
                format!(
                    "end the branch before the barrier: move `{barrier}` of line {} after line {}, which every thread reaches",
                    text.line(own.first),
                    text.line(branch.last)
                ),
                vec![
                    taken_out.clone(),
                    text.line_behind(branch.first, branch.last, barrier),
                ],
            ));
        }
        // For code after the barrier that depends on code before it.
        all.extend(split_branch(text, &chain, *own));
    }
    all
}

/// A branch around a barrier, ended before the barrier and started again after it.
fn split_branch(text: &Text<'_>, chain: &[Node], barrier: Node) -> Option<Candidate> {
    let [.., branch, block, last] = chain else {
        return None;
    };
    let ends_with_block = branch.last == block.last && block.kind == NodeKind::Block;
    let is_if = branch.kind == NodeKind::If && text.word(branch.first) == "if";
    if *last != barrier || !is_if || !ends_with_block {
        return None;
    }
    let open = branch.first + 1;
    let condition = text.between(open..text.close(open)? + 1);
    let (call, line) = (
        text.between(barrier.first..barrier.last + 1),
        text.line(barrier.first),
    );
    let lines = format!("}}\n{call}\nif {condition} {{");
    Some(Candidate::new(
        SuggestionKind::Barrier,
        format!(
            "move the barrier of line {line} out of the branch: end the `if` of line {} before it, and begin it again after it",
            text.line(branch.first)
        ),
        vec![text.instead(barrier, branch.first, &lines)],
    ))
}

/// A local array that should be shared.
fn shared_instead(text: &Text<'_>, found: &[&Found], accesses: &[usize]) -> Vec<Candidate> {
    let mut all = vec![];
    for name in found
        .iter()
        .filter_map(|found| found.memory.object.as_ref())
    {
        let Some(function) = accesses.first().and_then(|&at| text.function(at)) else {
            continue;
        };
        let declaration = text.body(function).find(|&at| {
            text.word(at) == name.0 && text.word(at + 1) == "[" && is_declared(text, at)
        });
        let Some(declaration) = declaration else {
            continue;
        };
        let Some(&node) = text.statements(declaration).last() else {
            continue;
        };
        all.push(Candidate::new(
            SuggestionKind::Shared,
            format!(
                "declare `{}` as `__shared__` in line {}: now each thread has its own array",
                name.0,
                text.line(declaration)
            ),
            vec![text.before(node.first, "__shared__ ")],
        ));
    }
    all
}

/// Whether a type is before a name.
fn is_declared(text: &Text<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| text.word(before));
    before.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && before != "return"
}

/// Whether the function updates a variable, named at a word, from its old value: `s[i] += x`, `atomicAdd(&s[i], x)`.
fn is_added_to(text: &Text<'_>, at: usize) -> bool {
    const CHANGES: [&str; 10] = ["+=", "-=", "*=", "/=", "|=", "&=", "^=", "++", "--", "%="];
    let Some(function) = text.function(at) else {
        return false;
    };
    let name = text.word(at);
    let mut uses = text.body(function).filter(|&at| text.word(at) == name);
    uses.any(|at| {
        let behind = text.subscripts(at).last().map_or(at, |last| last.end) + 1;
        let before = at.wrapping_sub(1);
        let of_address = before.wrapping_sub(usize::from(text.word(before) == "&"));
        let called = of_address.wrapping_sub(1);
        CHANGES.contains(&text.word(behind))
            || matches!(text.word(before), "++" | "--")
            || text.word(of_address) == "(" && text.word(called).starts_with("atomic")
    })
}

/// For shared memory that is added to without being initialised: all threads set it to 0, then a barrier.
fn set_first(base: Base<'_>, text: &Text<'_>, found: &[&Found]) -> Vec<Candidate> {
    let mut all = vec![];
    for found in found {
        let Some((name, _)) = &found.memory.object else {
            continue;
        };
        let kernels = base.input.module.kernels();
        let mut vars = kernels.flat_map(|(_, kernel)| &kernel.shared);
        let Some(var) = vars.find(|var| var.name == *name && !var.dynamic) else {
            continue;
        };
        let loc = base.input.module.loc(var.loc);
        let Some(at) = text.name_at(loc.line, loc.column, name) else {
            continue;
        };
        let Some(&node) = text.statements(at).last() else {
            continue;
        };
        // If no thread writes the element, its value is missing, and 0 would be wrong.
        if !is_added_to(text, at) {
            continue;
        }
        // The size as written: in another instance of a template or macro it may be another one.
        let sizes = text.subscripts(at);
        let sizes: Vec<String> = sizes
            .into_iter()
            .map(|size| single(text.between(size)))
            .collect();
        let n = sizes.join(" * ");
        let (first, what) = match var.dims.len() {
            0 => (format!("if (threadIdx.x == 0) {name} = 0;"), name.clone()),
            1 => (
                format!("for (int i = threadIdx.x; i < {n}; i += blockDim.x) {name}[i] = 0;"),
                format!("{name}[i]"),
            ),
            n_dims => {
                let first = format!("&{name}{}", "[0]".repeat(n_dims));
                (
                    format!(
                        "for (int i = threadIdx.x; i < {n}; i += blockDim.x) ({first})[i] = 0;"
                    ),
                    name.clone(),
                )
            }
        };
        let lines = format!("{first}\n__syncthreads();");
        all.push(Candidate::new(
            SuggestionKind::Other,
            format!(
                "set `{what}` to 0 first, then `__syncthreads()`: after line {}",
                text.line(node.last)
            ),
            vec![text.line_behind(node.first, node.last, &lines)],
        ));
    }
    all
}

/// A `<=` that should be `<`.
fn bounds(text: &Text<'_>, accesses: &[usize]) -> Vec<Candidate> {
    let Some(function) = accesses.first().and_then(|&at| text.function(at)) else {
        return vec![];
    };
    let all = text.body(function).filter(|&at| text.word(at) == "<=");
    let change = |at: usize| {
        Candidate::new(
            SuggestionKind::Bound,
            format!("change `<=` to `<` in line {}", text.line(at)),
            vec![text.replace(at..at + 1, "<")],
        )
    };
    all.take(MAX_GUARDS).map(change).collect()
}

/// A variable with a thread's number: its name, and the first and last words of its declaration.
type Number = (usize, (usize, usize));

/// A test that stops surplus threads: it compares a thread's number with a parameter. In a kernel without barriers such threads return; in
/// others the statement is only for the remaining threads.
fn guards(
    texts: &[Text<'_>],
    text: &Text<'_>,
    accesses: &[usize],
    kernel: Option<&str>,
) -> Vec<Candidate> {
    let Some(&access) = accesses.first() else {
        return vec![];
    };
    let Some(function) = text.function(access) else {
        return vec![];
    };
    let body = text.body(function);
    let has_barrier = body.clone().any(|at| text.word(at).starts_with("__sync"));
    let chain = text.statements(access);
    let Some(&own) = chain.last() else {
        return vec![];
    };
    let limits = parameters(text, function.params);
    let sizes = Sizes::of(texts);
    let is_size = |limits: &[usize]| {
        let positions: Vec<usize> = limits
            .iter()
            .map(|&limit| position(text, function.params, limit))
            .collect();
        match (&sizes, kernel) {
            (Some(sizes), Some(kernel)) => sizes.has(texts, kernel, &positions),
            _ => true,
        }
    };
    let mut all = vec![];
    let numbers = thread_numbers(text, body, own.first);
    // Variables that the statement names come first.
    let named = |name: &str| (own.first..own.last).any(|at| text.word(at) == name);
    let (near, far): (Vec<_>, Vec<_>) = numbers
        .into_iter()
        .partition(|&(name, _)| named(text.word(name)));
    let numbers: Vec<_> = near.into_iter().chain(far).collect();
    let one = |tests: &[(Number, usize)]| {
        let words = |join: &str, compare: &str| {
            let each = tests.iter().map(|&((name, _), limit)| {
                format!("{} {compare} {}", text.word(name), text.word(limit))
            });
            each.collect::<Vec<_>>().join(join)
        };
        if has_barrier {
            let test = format!("if ({})", words(" && ", "<"));
            let line = text.line(own.first);
            return Candidate::new(
                SuggestionKind::Guard,
                format!("guard line {line} with `{test}`"),
                vec![text.before(own.first, format!("{test} "))],
            );
        }
        let test = format!("if ({}) return;", words(" || ", ">="));
        let last = tests.iter().map(|&((_, declaration), _)| declaration);
        let (first, last) = last.max_by_key(|&(_, last)| last).unwrap_or_default();
        let line = text.line(last);
        Candidate::new(
            SuggestionKind::Guard,
            format!("let the surplus threads return: `{test}` after line {line}"),
            vec![text.line_behind(first, last, &test)],
        )
    };
    for &number in &numbers {
        let limits = limits.iter().filter(|&&limit| is_size(&[limit]));
        all.extend(limits.map(|&limit| one(&[(number, limit)])));
    }
    all.truncate(MAX_GUARDS);
    // A column and a row, each with its own limit.
    for (index, &a) in numbers.iter().enumerate() {
        for &b in &numbers[index + 1..] {
            let pairs = limits
                .iter()
                .flat_map(|&x| limits.iter().map(move |&y| (x, y)));
            let pairs = pairs.filter(|&(x, y)| x != y && is_size(&[x, y]));
            all.extend(pairs.map(|(x, y)| one(&[(a, x), (b, y)])));
        }
    }
    all.truncate(2 * MAX_GUARDS);
    all
}

/// The index of a parameter in a function's brackets.
fn position(text: &Text<'_>, open: usize, name: usize) -> usize {
    let mut before = 0;
    let mut at = open + 1;
    while at < name {
        match text.word(at) {
            "(" | "[" => at = text.close(at).unwrap_or(at),
            "," => before += 1,
            _ => {}
        }
        at += 1;
    }
    before
}

/// The names of the integer parameters.
fn parameters(text: &Text<'_>, open: usize) -> Vec<usize> {
    let Some(close) = text.close(open) else {
        return vec![];
    };
    let is_integer = |word: &str| matches!(word, "int" | "unsigned" | "size_t" | "long" | "short");
    let names = open + 1..close;
    let is_name = |&at: &usize| {
        matches!(text.word(at + 1), "," | ")") && at > open + 1 && {
            let before = text.word(at - 1);
            is_integer(before)
        }
    };
    names.filter(is_name).collect()
}

/// Variables that are declared before a word and computed from the thread's index: the name, and the first and last words of the
/// declaration.
fn thread_numbers(text: &Text<'_>, body: std::ops::Range<usize>, end: usize) -> Vec<Number> {
    let mut all = vec![];
    for at in body.start..end.min(body.end) {
        let is_set = text.word(at + 1) == "=" && is_declared(text, at);
        if !is_set {
            continue;
        }
        let Some(last) = (at..body.end).find(|&last| text.word(last) == ";") else {
            continue;
        };
        let mut words = (at..last).map(|at| text.word(at));
        if words.any(|word| matches!(word, "threadIdx" | "blockIdx"))
            && let Some(node) = text.statements(at).last()
        {
            all.push((at, (node.first, node.last)));
        }
    }
    all
}

/// For double buffers: reads the buffer that is not being written. The first subscript is a variable that the function toggles.
fn other_buffer(text: &Text<'_>, accesses: &[usize]) -> Vec<Candidate> {
    let mut all = vec![];
    for &at in accesses {
        let Some(function) = text.function(at) else {
            continue;
        };
        let subscripts = text.subscripts(at);
        let Some(first) = subscripts.first().filter(|first| first.len() == 1) else {
            continue;
        };
        let behind = subscripts.last().map_or(at, |last| last.end + 1);
        let name = text.word(first.start);
        let turned = text.body(function).any(|at| {
            let word = |ahead: usize| text.word(at + ahead);
            word(0) == name
                && match word(1) {
                    "^=" => word(2) == "1",
                    "=" => {
                        (word(2), word(3), word(4)) == ("1", "-", name)
                            || (word(2), word(3)) == ("!", name)
                            || (word(2), word(3), word(4)) == (name, "^", "1")
                    }
                    _ => false,
                }
        });
        if subscripts.len() > 1 && text.word(behind) == "=" && turned {
            let array = text.word(at);
            all.push(Candidate::new(
                SuggestionKind::Index,
                format!(
                    "write into the other buffer in line {}: `{array}[{name} ^ 1]`",
                    text.line(at)
                ),
                vec![text.replace(first.clone(), format!("{name} ^ 1"))],
            ));
        }
    }
    all
}

/// For lanes of one warp that only lockstep orders: a barrier of the warp after each statement, or also between its reads and its write.
fn in_warp(text: &Text<'_>, accesses: &[usize]) -> Vec<Candidate> {
    let (kind, barrier) = (SuggestionKind::SyncWarp, "__syncwarp();");
    let mut nodes: Vec<Node> = accesses
        .iter()
        .filter_map(|&at| text.statements(at).last().copied())
        .filter(|node| node.kind == NodeKind::Plain)
        .collect();
    nodes.sort_by_key(|node| node.first);
    nodes.dedup();
    let mut all = vec![];
    let lines = |nodes: &[Node]| {
        let lines: Vec<String> = (nodes.iter())
            .map(|node| text.line(node.first).to_string())
            .collect();
        lines.join(", ")
    };
    // Outside of loops nothing comes after the last statement.
    let but_last = &nodes[..nodes.len().saturating_sub(1)];
    for nodes in [but_last, &nodes] {
        if !nodes.is_empty() {
            let edits = nodes.iter();
            let edits = edits.map(|node| text.line_behind(node.first, node.last, barrier));
            all.push(Candidate::new(
                kind,
                format!("put `__syncwarp()` after line {}", lines(nodes)),
                edits.collect(),
            ));
        }
    }
    let lines = lines(&nodes);
    let split = nodes.iter().map(|node| split(text, *node));
    if let Some(edits) = split.collect::<Option<Vec<_>>>() {
        all.push(Candidate::new(
            kind,
            format!("read into a variable, `__syncwarp()`, then write, then `__syncwarp()` again: line {lines}"),
            edits,
        ));
    }
    all.extend(barrier::candidates(text, accesses, kind, barrier));
    let kind = SuggestionKind::Barrier;
    all.extend(barrier::candidates(
        text,
        accesses,
        kind,
        "__syncthreads();",
    ));
    all
}

/// `a[i] += a[j];` with a barrier of the warp between the read and the write, and after it.
fn split(text: &Text<'_>, node: Node) -> Option<Edit> {
    let words = node.first..node.last;
    let operator = words.clone().find(|&at| {
        let word = text.word(at);
        word.ends_with('=') && !matches!(word, "==" | "!=" | "<=" | ">=")
    })?;
    let (place, value) = (
        text.between(node.first..operator),
        text.between(operator + 1..node.last),
    );
    let operator = text.word(operator);
    Some(text.replace(
        node.first..node.last + 1,
        format!("{{ auto read = {value}; __syncwarp(); {place} {operator} read; __syncwarp(); }}"),
    ))
}
