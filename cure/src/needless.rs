//! Candidates for unneeded barriers. A correct run without a barrier proves little, because another number of threads or rounds may need
//! it. So only barriers of which a run can tell something are left out: all barriers of a kernel whose threads take nothing from each
//! other; all barriers of a loop with more than one round; one of two consecutive barriers.

use std::collections::BTreeSet;

use ir::{Block, Inst, InstKind, Module, Node, symbol::template_name};
use report::{SuggestionKind, model::HotSpot};

use crate::{
    Run,
    candidate::Candidate,
    text::{self, FunctionText, NodeKind, Text},
};

/// Barriers that are left out together.
pub(crate) struct Group {
    /// The hot spots: indices into the given ones.
    pub(crate) spots: Vec<usize>,
    pub(crate) candidate: Candidate,
    /// Whether the kernels must meet no barrier afterwards.
    is_all: bool,
    /// The barriers' places: file, line, column.
    places: Vec<(String, u32, u32)>,
}

impl Group {
    /// The module without them; `None` if it does not contain them.
    pub(crate) fn without(&self, module: &Module) -> Option<Module> {
        let mut edited = module.clone();
        let mut removed = BTreeSet::new();
        for function in &mut edited.functions {
            remove(&mut function.body, &mut |inst| {
                let loc = module.loc(inst.loc);
                let file = module.files.get(loc.file as usize);
                let is_here = |(name, line, column): &(String, u32, u32)| {
                    (file, loc.line, loc.column) == (Some(name), *line, *column)
                };
                let at = self.places.iter().position(is_here);
                removed.extend(at);
                at.is_some()
            });
        }
        (removed.len() == self.places.len()).then_some(edited)
    }

    /// Whether a run met no barrier, if all were to be left out.
    pub(crate) fn is_whole(&self, run: &Run, kernels: &[String]) -> bool {
        !self.is_all || meets_none(run, kernels)
    }
}

/// Removes some of the barriers of a block.
fn remove(block: &mut Block, is_removed: &mut impl FnMut(&Inst) -> bool) {
    let is_barrier = |inst: &Inst| matches!(inst.kind, InstKind::Barrier(None));
    block
        .0
        .retain(|node| !matches!(node, Node::Inst(inst) if is_barrier(inst) && is_removed(inst)));
    for node in &mut block.0 {
        for inner in node.blocks_mut() {
            remove(inner, is_removed);
        }
    }
}

/// A barrier's place in the text.
struct Barrier<'t, 'a> {
    text: &'t Text<'a>,
    spot: usize,
    node: text::Node,
    function: FunctionText,
    /// The innermost loop around it, if a warp met it there more than once.
    loop_: Option<text::Node>,
    in_loop: bool,
    /// Whether the statement before it is a barrier, too.
    is_second: bool,
}

/// The groups of barriers that may be removed, the largest first.
pub(crate) fn groups(texts: &[Text<'_>], spots: &[HotSpot]) -> Vec<Group> {
    let barriers: Vec<Barrier<'_, '_>> = spots
        .iter()
        .enumerate()
        .filter_map(|(at, spot)| barrier(texts, at, spot))
        .collect();
    let mut all: Vec<Group> = vec![];
    let mut add = |of: &Barrier<'_, '_>, is_all: bool, is_in: &dyn Fn(&Barrier<'_, '_>) -> bool| {
        let is_here = |other: &&Barrier<'_, '_>| std::ptr::eq(other.text, of.text) && is_in(other);
        let members: Vec<&Barrier<'_, '_>> = barriers.iter().filter(is_here).collect();
        let group = group(&members, spots, is_all);
        if !all.iter().any(|known| known.spots == group.spots) {
            all.push(group);
        }
    };
    // A barrier in a loop with one round would have to stay.
    for one in &barriers {
        let has_unknown = barriers
            .iter()
            .any(|other| other.function == one.function && other.in_loop && other.loop_.is_none());
        if !has_unknown {
            add(one, true, &|other| other.function == one.function);
        }
    }
    for one in barriers.iter().filter(|one| one.loop_.is_some()) {
        add(one, false, &|other| other.loop_ == one.loop_);
    }
    for one in barriers.iter().filter(|one| one.is_second) {
        add(one, false, &|other| other.node == one.node);
    }
    all
}

fn barrier<'t, 'a>(texts: &'t [Text<'a>], at: usize, spot: &HotSpot) -> Option<Barrier<'t, 'a>> {
    let text = texts.iter().find(|text| text.file.name == spot.file)?;
    let word = text.name_at(spot.line, 1, "__syncthreads")?;
    let function = text.function(word)?;
    let chain = text.statements(word);
    let node = *chain.last()?;
    let is_call = |node: &text::Node| {
        node.kind == NodeKind::Plain
            && text.word(node.first) == "__syncthreads"
            && node.last == node.first + 3
    };
    // The body of a loop or branch remains a statement.
    let around = chain.len().checked_sub(2).map(|at| chain[at]);
    if !is_call(&node) || around.is_some_and(|around| around.kind != NodeKind::Block) {
        return None;
    }
    let siblings = match around {
        Some(block) => text.children(block),
        None => text.outermost(function),
    };
    let before = siblings.iter().rev().find(|other| other.last < node.first);
    let innermost = chain.iter().rev().find(|node| node.kind == NodeKind::Loop);
    Some(Barrier {
        text,
        spot: at,
        node,
        function,
        loop_: innermost.copied().filter(|_| spot.rounds > 1),
        in_loop: innermost.is_some(),
        is_second: before.is_some_and(is_call),
    })
}

fn group(members: &[&Barrier<'_, '_>], spots: &[HotSpot], is_all: bool) -> Group {
    let lines: Vec<String> = members
        .iter()
        .map(|one| spots[one.spot].line.to_string())
        .collect();
    let what = match lines.as_slice() {
        [line] => format!("remove the barrier of line {line}"),
        [first @ .., last] => format!(
            "remove the barriers of lines {} and {last}",
            first.join(", ")
        ),
        [] => String::new(),
    };
    let edits = members.iter().map(|one| one.text.without(one.node));
    let place = |one: &&Barrier<'_, '_>| {
        let (line, column) = one.text.place(one.node.first);
        (one.text.file.name.clone(), line, column)
    };
    Group {
        places: members.iter().map(place).collect(),
        spots: members.iter().map(|one| one.spot).collect(),
        candidate: Candidate::new(SuggestionKind::NoBarrier, what, edits.collect()),
        is_all,
    }
}

/// Whether no launch of these kernels meets a barrier.
fn meets_none(run: &Run, kernels: &[String]) -> bool {
    let name = |name: &str| template_name(name).to_string();
    run.outcome
        .launches
        .kept()
        .iter()
        .filter(|kept| kernels.contains(&name(&kept.report.kernel_name)))
        .all(|kept| kept.report.counts.barriers == 0)
}

#[cfg(test)]
mod tests {
    use ir::source::{NoFiles, SourceFile, SourceMap};

    use super::*;

    #[test]
    fn barriers_go_from_the_ir_by_their_places() {
        let text = "__global__ void k(int *p, int n)\n{\n    for (int i = 0; i < n; i++) {\n        p[i] = i;\n        \
                    __syncthreads(); __syncthreads();\n    }\n    __syncthreads();\n}\n";
        let mut map = SourceMap::new();
        let file = map.add(SourceFile::new("k.k", text));
        let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
        let module = compiled.module.expect("a program");
        let left = |places: &[(u32, u32)]| {
            let place = |&(line, column): &(u32, u32)| ("k.k".to_string(), line, column);
            let group = Group {
                spots: vec![],
                candidate: Candidate::new(SuggestionKind::NoBarrier, "", vec![]),
                is_all: false,
                places: places.iter().map(place).collect(),
            };
            let edited = group.without(&module)?;
            Some(edited.to_string().matches("barrier !").count())
        };
        assert_eq!(left(&[]), Some(3));
        assert_eq!(left(&[(5, 26)]), Some(2));
        assert_eq!(left(&[(5, 9), (5, 26)]), Some(1));
        assert_eq!(left(&[(5, 9), (5, 26), (7, 5)]), Some(0));
        // A barrier that is not in the IR: the text has more than the IR.
        assert_eq!(left(&[(6, 5)]), None);
        assert_eq!(left(&[(7, 5), (6, 5)]), None);
    }
}
