//! Why not all lanes of a warp, or threads of a block, reach a place: which statement around it makes them diverge.

use ir::{Block, Function, LabelId, LocId, Module, Node, Uniformity, locate::in_program};

/// What makes the threads diverge on their way to a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Parting {
    /// A loop that threads leave in different rounds.
    Loop(LocId),
    /// A branch around the place, or one before it whose threads do not return.
    Branch(LocId),
    /// Nothing that the kernel's text shows.
    Nothing,
}

/// What makes threads diverge on the way to an instruction; `None` if no function contains it.
pub(super) fn parting(at: LocId, module: &Module) -> Option<Parting> {
    let mut functions = module.functions.iter();
    functions.find_map(|function| Search::new(at, function).run())
}

/// Where the program calls the function that contains a place, if the threads diverge before the call.
pub(super) fn parted_call(at: LocId, module: &Module) -> Option<u32> {
    let Parting::Branch(branch) = parting(at, module)? else {
        return None;
    };
    let own = in_program(module, at)?;
    let call = module.loc(own).via?;
    let is_outside = module.loc(branch).via != Some(call);
    let line = module.loc(in_program(module, call)?).line;
    (is_outside && line > 0).then_some(line)
}

struct Search<'m> {
    at: LocId,
    function: &'m Function,
    uniformity: Uniformity,
    /// A branch before this instruction, on one side of which threads leave for good.
    left: Option<LocId>,
}

impl<'m> Search<'m> {
    fn new(at: LocId, function: &'m Function) -> Search<'m> {
        Search {
            at,
            function,
            uniformity: Uniformity::of(function),
            left: None,
        }
    }

    fn run(mut self) -> Option<Parting> {
        let body = &self.function.body;
        self.block(body, Parting::Nothing)
    }

    fn block(&mut self, block: &'m Block, around: Parting) -> Option<Parting> {
        for node in &block.0 {
            let found = match node {
                Node::Inst(inst) if inst.loc == self.at => Some(match (around, self.left) {
                    (Parting::Nothing, Some(branch)) => Parting::Branch(branch),
                    _ => around,
                }),
                Node::Inst(_) => None,
                Node::If {
                    cond,
                    then,
                    otherwise,
                    loc,
                    ..
                } => {
                    let parts = !self.uniformity.operand(*cond);
                    let inside = if parts { Parting::Branch(*loc) } else { around };
                    let found = self.block(then, inside);
                    let found = found.or_else(|| self.block(otherwise, inside));
                    if parts && (leaves(then, &mut vec![]) || leaves(otherwise, &mut vec![])) {
                        self.left.get_or_insert(*loc);
                    }
                    found
                }
                Node::Loop {
                    label,
                    body,
                    step,
                    loc,
                    ..
                } => {
                    let inside = match self.ends_apart(body, *label) {
                        true => Parting::Loop(*loc),
                        false => around,
                    };
                    let found = self.block(body, inside);
                    found.or_else(|| self.block(step, inside))
                }
                Node::Scope { body, .. } | Node::Routine { body, .. } => self.block(body, around),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Whether a branch at which threads diverge ends a loop for some of them.
    fn ends_apart(&self, block: &Block, label: LabelId) -> bool {
        let mut nodes = block.0.iter();
        nodes.any(|node| match node {
            Node::If {
                cond,
                then,
                otherwise,
                ..
            } => {
                let ends = |side: &Block| {
                    let mut nodes = side.0.iter();
                    nodes.any(|node| matches!(node, Node::Break(to) if *to == label))
                };
                !self.uniformity.operand(*cond) && (ends(then) || ends(otherwise))
                    || self.ends_apart(then, label)
                    || self.ends_apart(otherwise, label)
            }
            Node::Scope { body, .. } => self.ends_apart(body, label),
            _ => false,
        })
    }
}

/// Whether threads leave for good on a side of a branch: out of the kernel, or out of the enclosing blocks.
fn leaves(block: &Block, inner: &mut Vec<LabelId>) -> bool {
    let mut nodes = block.0.iter();
    nodes.any(|node| match node {
        Node::Return(_) => true,
        Node::Break(to) | Node::Continue(to) => !inner.contains(to),
        Node::If {
            then, otherwise, ..
        } => leaves(then, inner) || leaves(otherwise, inner),
        Node::Loop { label, body, .. } => {
            inner.push(*label);
            leaves(body, inner)
        }
        _ => false,
    })
}
