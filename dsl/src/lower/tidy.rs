//! Removes jumps to where control goes anyway, then scopes that nothing leaves any more.
//!
//! A `return` at the end of an inlined function becomes `break L` at the end of `scope L`; a `break` that ends a `switch` and a `continue`
//! that ends a loop's body are similar. Labels are renumbered in the order of the text.

use ir::{Block, Function, LabelId, Node};

/// Tidies a whole function.
pub(super) fn tidy(function: &mut Function) {
    tidy_block(&mut function.body);
    let mut numbers = vec![None; function.labels as usize];
    let mut n_labels = 0;
    renumber(&mut function.body, &mut numbers, &mut n_labels);
    function.labels = n_labels;
}

fn tidy_block(block: &mut Block) {
    let nodes = std::mem::take(&mut block.0);
    for mut node in nodes {
        for inner in node.blocks_mut() {
            tidy_block(inner);
        }
        match &mut node {
            Node::Scope { label, body, .. } => {
                drop_last(body, &Node::Break(*label));
                // No instruction may follow a jump in a block.
                if leaves(body, *label) || ends_in_jump(body) {
                    block.0.push(node);
                } else {
                    block.0.append(&mut body.0);
                }
            }
            Node::Loop { label, body, .. } => {
                drop_last(body, &Node::Continue(*label));
                block.0.push(node);
            }
            Node::Inst(_)
            | Node::If { .. }
            | Node::Routine { .. }
            | Node::Break(_)
            | Node::Continue(_)
            | Node::Return(_) => block.0.push(node),
        }
    }
}

/// Removes `jump` where it is the last thing that happens in the block.
fn drop_last(block: &mut Block, jump: &Node) {
    if block.0.last() == Some(jump) {
        block.0.pop();
        return;
    }
    match block.0.last_mut() {
        Some(Node::If {
            then, otherwise, ..
        }) => {
            drop_last(then, jump);
            drop_last(otherwise, jump);
        }
        Some(Node::Scope { body, .. }) => drop_last(body, jump),
        _ => {}
    }
}

/// Whether a `break` in the block leaves the scope.
fn leaves(block: &Block, scope: LabelId) -> bool {
    block.0.iter().any(|node| match node {
        Node::Break(label) => *label == scope,
        Node::If {
            then, otherwise, ..
        } => leaves(then, scope) || leaves(otherwise, scope),
        Node::Loop { body, step, .. } => leaves(body, scope) || leaves(step, scope),
        Node::Scope { body, .. } | Node::Routine { body, .. } => leaves(body, scope),
        Node::Inst(_) | Node::Continue(_) | Node::Return(_) => false,
    })
}

fn ends_in_jump(block: &Block) -> bool {
    matches!(
        block.0.last(),
        Some(Node::Break(_) | Node::Continue(_) | Node::Return(_))
    )
}

fn renumber(block: &mut Block, numbers: &mut [Option<LabelId>], n_labels: &mut u32) {
    for node in &mut block.0 {
        if let Node::Loop { label, .. } | Node::Scope { label, .. } = node {
            numbers[label.index()] = Some(LabelId(*n_labels));
            *n_labels += 1;
        }
        if let Node::Loop { label, .. }
        | Node::Scope { label, .. }
        | Node::Break(label)
        | Node::Continue(label) = node
            && let Some(number) = numbers[label.index()]
        {
            *label = number;
        }
        for inner in node.blocks_mut() {
            renumber(inner, numbers, n_labels);
        }
    }
}
