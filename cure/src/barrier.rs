//! Candidates for missing barriers: where one could be inserted.

use report::SuggestionKind;

use crate::{
    candidate::Candidate,
    text::{Node, NodeKind, Text},
};

/// Most places that are tried for one group of findings.
const MAX_PLACES: usize = 12;

/// Where a barrier could order accesses: between them first, then at the end or the beginning of a loop around both, then elsewhere next to
/// each of them. Places that only some threads reach come last.
pub(crate) fn candidates(
    text: &Text<'_>,
    accesses: &[usize],
    kind: SuggestionKind,
    barrier: &str,
) -> Vec<Candidate> {
    let chains: Vec<Vec<Node>> = accesses.iter().map(|&at| text.statements(at)).collect();
    let mut places = vec![];
    for (index, a) in chains.iter().enumerate() {
        for b in &chains[index + 1..] {
            between(text, a, b, &mut places);
        }
    }
    for chain in &chains {
        around(text, chain, &mut places);
    }
    let mut all: Vec<(bool, Candidate)> = vec![];
    for place in places {
        let candidate = place.candidate(text, kind, barrier);
        if !all.iter().any(|(_, known)| known.edits == candidate.edits) {
            all.push((place.in_branch, candidate));
        }
    }
    all.sort_by_key(|&(in_branch, _)| in_branch);
    let all = all.into_iter().map(|(_, candidate)| candidate);
    all.take(MAX_PLACES).collect()
}

/// A place for a barrier.
#[derive(Clone, Copy)]
struct Place {
    node: Node,
    side: Side,
    /// Whether only some threads may reach it.
    in_branch: bool,
    /// What follows the barrier there.
    next: Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    Behind,
    /// Inside new braces, together with the statement: the body of a loop without braces.
    With,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Unknown,
    Statement(Node),
    /// Before the next round of the loop on that line.
    Loop(u32),
}

impl Place {
    fn candidate(self, text: &Text<'_>, kind: SuggestionKind, barrier: &str) -> Candidate {
        let node = self.node;
        let edits = match self.side {
            Side::Before => vec![text.line_before(node.first, barrier)],
            Side::Behind => vec![text.line_behind(node.first, node.last, barrier)],
            Side::With => vec![
                text.before(node.first, "{ "),
                text.behind(node.last, format!(" {barrier} }}")),
            ],
        };
        let side = match self.side {
            Side::Before => "before",
            Side::Behind | Side::With => "after",
        };
        let call = barrier.trim_end_matches(';');
        let line = text.line(node.last);
        let place = match self.next {
            Next::Statement(next) if text.line(next.first) == line => {
                format!(
                    "between {} and {} in line {line}",
                    quoted(text, node),
                    quoted(text, next)
                )
            }
            Next::Loop(head) if head == line => {
                format!(
                    "behind {} in line {line}, at the end of the loop's body",
                    quoted(text, node)
                )
            }
            Next::Statement(next) => {
                format!("{side} {}, before {}", named(text, node), named(text, next))
            }
            Next::Loop(head) => format!(
                "{side} {}, before the loop comes back to line {head}",
                named(text, node)
            ),
            Next::Unknown => format!("{side} {}", named(text, node)),
        };
        Candidate::new(kind, format!("put `{call}` {place}"), edits)
    }
}

/// A statement that shares its line with another one: its text, or the beginning of a long one.
fn quoted(text: &Text<'_>, node: Node) -> String {
    const MOST: usize = 32;
    let whole = text.between(node.first..node.last + 1);
    match whole.char_indices().nth(MOST) {
        Some((end, _)) => format!("`{}…`", whole[..end].trim_end()),
        None => format!("`{whole}`"),
    }
}

/// `line 8`, `the `if` of line 7`, `the loop of lines 7 to 12`.
fn named(text: &Text<'_>, node: Node) -> String {
    let (first, last) = (text.line(node.first), text.line(node.last));
    match (node.kind, text.word(node.first)) {
        (NodeKind::If, word) => format!("the `{word}` of line {first}"),
        (NodeKind::Loop, _) if first == last => format!("the loop of line {first}"),
        (NodeKind::Loop, _) => format!("the loop of lines {first} to {last}"),
        _ => format!("line {last}"),
    }
}

/// Whether a branch is among the nodes of a chain from one node on.
fn in_branch(chain: &[Node]) -> bool {
    chain.iter().any(|node| node.kind == NodeKind::If)
}

/// Two statements of one block, or a loop around both.
fn between(text: &Text<'_>, a: &[Node], b: &[Node], places: &mut Vec<Place>) {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let in_branch = in_branch(&a[..common]);
    if let (Some(a), Some(b)) = (a.get(common), b.get(common)) {
        let (first, second) = if a.first < b.first { (a, b) } else { (b, a) };
        places.push(Place {
            node: *first,
            side: Side::Behind,
            in_branch,
            next: Next::Statement(*second),
        });
        places.push(Place {
            node: *second,
            side: Side::Before,
            in_branch,
            next: Next::Unknown,
        });
    }
    loops(text, &a[..common], places);
}

/// At the end and the beginning of the loops of a chain, the innermost first.
fn loops(text: &Text<'_>, chain: &[Node], places: &mut Vec<Place>) {
    for (at, node) in chain.iter().enumerate().rev() {
        let (Some(body), NodeKind::Loop) = (chain.get(at + 1), node.kind) else {
            continue;
        };
        let in_branch = in_branch(&chain[..at]);
        let again = Next::Loop(text.line(node.first));
        let place = |node, side, next| Place {
            node,
            side,
            in_branch,
            next,
        };
        if body.kind != NodeKind::Block {
            places.push(place(*body, Side::With, again));
            continue;
        }
        let children = text.children(*body);
        if let (Some(&first), Some(&last)) = (children.first(), children.last()) {
            places.push(place(last, Side::Behind, again));
            places.push(place(first, Side::Before, Next::Unknown));
        }
    }
}

/// Before and after each enclosing statement of an access that is in a block, and at the ends of the loops around it.
fn around(text: &Text<'_>, chain: &[Node], places: &mut Vec<Place>) {
    loops(text, chain, places);
    for (at, node) in chain.iter().enumerate() {
        let in_block = at == 0 || chain[at - 1].kind == NodeKind::Block;
        if !in_block || node.kind == NodeKind::Block {
            continue;
        }
        let in_branch = in_branch(&chain[..at]);
        for side in [Side::Behind, Side::Before] {
            places.push(Place {
                node: *node,
                side,
                in_branch,
                next: Next::Unknown,
            });
        }
    }
}
