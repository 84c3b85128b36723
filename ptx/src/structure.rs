//! From jumps to structured statements.
//!
//! The method is Ramsey's ("Beyond Relooper", 2022): each block's code is followed by the blocks that it immediately dominates. One that
//! several jumps lead to comes after a scope, and a jump to it leaves that scope. On one point this differs: what follows a loop is always
//! after the loop, even if only one jump leads there. Lanes that leave a loop wait at its end for the others; if what follows were part of
//! the loop, each lane would run it apart, with the barriers in it.
//!
//! A block that post-dominates a branch is reached by several jumps, or leads on from a loop. So it comes after the statement of the branch,
//! and lanes meet there.

use crate::graph::{Block, BlockId, End, Graph};

/// A structured statement.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Piece {
    /// The statements of a block, without its jump.
    Code(BlockId),
    /// By the predicate at the end of a block.
    If {
        block: BlockId,
        then: Vec<Piece>,
        otherwise: Vec<Piece>,
    },
    /// By the number at the end of a block.
    Switch {
        block: BlockId,
        arms: Vec<Vec<Piece>>,
    },
    /// Repeats until it is left. Falling out of its end begins the next round.
    Loop {
        header: BlockId,
        body: Vec<Piece>,
    },
    /// Left by a jump to the block that follows it.
    Scope {
        follower: BlockId,
        body: Vec<Piece>,
    },
    /// Leaves the scope with this follower.
    Leave(BlockId),
    /// Leaves the loop with this header.
    LeaveLoop(BlockId),
    /// Begins the next round of the loop with this header.
    Continue(BlockId),
    Return,
    /// Blocks whose jumps have no structure, in an order in which most jumps lead on: a loop around all of them, each for the lanes whose number it
    /// is. Lanes with one number run a block together.
    Dispatch(Vec<BlockId>),
}

/// The deepest nesting of statements.
const MAX_DEPTH: usize = 500;

/// Why a function has no structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unstructured {
    /// A jump leads to this block, in the middle of a loop.
    IntoLoop(BlockId),
    /// More than `MAX_DEPTH` statements in one another.
    TooDeep,
}

/// The statements of a function.
pub(crate) fn structure(blocks: &[Block]) -> Result<Vec<Piece>, Unstructured> {
    let graph = Graph::of(blocks).map_err(Unstructured::IntoLoop)?;
    let followers = Followers::of(blocks, &graph);
    let mut structurer = Structurer {
        blocks,
        graph: &graph,
        followers: &followers,
        open: Vec::new(),
        depth: 0,
    };
    let mut pieces = Vec::new();
    structurer.tree(0, Next::End, &mut pieces)?;
    Ok(pieces)
}

/// The blocks that come after a statement, by the block with which the statement begins, in the order of the graph.
struct Followers {
    /// After the code of a block: in its loop, if it is a header.
    inside: Vec<Vec<BlockId>>,
    /// After the loop of a header.
    after_loop: Vec<Vec<BlockId>>,
}

impl Followers {
    fn of(blocks: &[Block], graph: &Graph) -> Followers {
        let count = graph.position.len();
        let mut followers = Followers {
            inside: vec![Vec::new(); count],
            after_loop: vec![Vec::new(); count],
        };
        for &block in &graph.order[1..] {
            if blocks[block].is_exit {
                continue;
            }
            let dominator = graph.dominator[block];
            // The outermost loop that is left on the way to it.
            let mut left = None;
            let mut at = graph.innermost[dominator];
            while let Some(header) = at {
                if graph.is_in(block, header) {
                    break;
                }
                left = Some(header);
                at = graph.outer[header];
            }
            match left {
                Some(header) => followers.after_loop[header].push(block),
                None if graph.forward_edges[block] > 1 => followers.inside[dominator].push(block),
                None => {}
            }
        }
        followers
    }
}

/// What runs next if lanes fall out of the end of the statements at hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    Block(BlockId),
    Round(BlockId),
    End,
}

/// An open statement that a jump can leave or repeat.
struct Open {
    /// The follower of a scope, or the header of a loop.
    block: BlockId,
    is_loop: bool,
    /// What follows a loop.
    next: Next,
    is_used: bool,
}

struct Structurer<'a> {
    blocks: &'a [Block],
    graph: &'a Graph,
    followers: &'a Followers,
    /// Innermost last.
    open: Vec<Open>,
    depth: usize,
}

type Result_ = Result<(), Unstructured>;

impl Structurer<'_> {
    /// Whether lanes leave the end of the statements.
    fn falls_through(pieces: &[Piece]) -> bool {
        match pieces.last() {
            None | Some(Piece::Code(_) | Piece::Scope { .. } | Piece::Switch { .. }) => true,
            // Its only exits are jumps out of it; what follows may be one.
            Some(Piece::Loop { .. }) => true,
            Some(Piece::If {
                then, otherwise, ..
            }) => Self::falls_through(then) || Self::falls_through(otherwise),
            Some(
                Piece::Leave(_)
                | Piece::LeaveLoop(_)
                | Piece::Continue(_)
                | Piece::Return
                | Piece::Dispatch(_),
            ) => false,
        }
    }

    /// How surely lanes end in these statements: `None` if they may fall out of their end.
    fn away(pieces: &[Piece]) -> Option<u32> {
        match pieces {
            [Piece::Return] => Some(2),
            [.., Piece::Return] => Some(1),
            pieces => (!Self::falls_through(pieces)).then_some(0),
        }
    }

    /// A block and all that it dominates.
    fn tree(&mut self, block: BlockId, next: Next, out: &mut Vec<Piece>) -> Result_ {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unstructured::TooDeep);
        }
        if self.graph.is_header[block] {
            let after = &self.followers.after_loop[block];
            self.followed(after, next, out, &mut |this, next, out| {
                this.open.push(Open {
                    block,
                    is_loop: true,
                    next,
                    is_used: false,
                });
                let mut body = Vec::new();
                this.block(block, Next::Round(block), &mut body)?;
                this.open.pop();
                out.push(Piece::Loop {
                    header: block,
                    body,
                });
                Ok(())
            })?;
        } else {
            self.block(block, next, out)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// A block's code, its jump, and the blocks that follow in the same loop.
    fn block(&mut self, block: BlockId, next: Next, out: &mut Vec<Piece>) -> Result_ {
        let inside = &self.followers.inside[block];
        self.followed(inside, next, out, &mut |this, next, out| {
            if !this.blocks[block].statements.is_empty() {
                out.push(Piece::Code(block));
            }
            this.end(block, next, out)
        })
    }

    /// A statement and its followers. The last is outermost: earlier ones may jump to later ones.
    fn followed(
        &mut self,
        followers: &[BlockId],
        next: Next,
        out: &mut Vec<Piece>,
        statement: &mut dyn FnMut(&mut Self, Next, &mut Vec<Piece>) -> Result_,
    ) -> Result_ {
        let Some((&last, earlier)) = followers.split_last() else {
            return statement(self, next, out);
        };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unstructured::TooDeep);
        }
        self.open.push(Open {
            block: last,
            is_loop: false,
            next: Next::End,
            is_used: false,
        });
        let mut body = Vec::new();
        self.followed(earlier, Next::Block(last), &mut body, statement)?;
        let scope = self.open.pop();
        if scope.is_some_and(|scope| scope.is_used) {
            out.push(Piece::Scope {
                follower: last,
                body,
            });
        } else {
            out.append(&mut body);
        }
        self.depth -= 1;
        self.tree(last, next, out)
    }

    fn end(&mut self, block: BlockId, next: Next, out: &mut Vec<Piece>) -> Result_ {
        let blocks = self.blocks;
        match &blocks[block].end {
            End::Return => {
                out.push(Piece::Return);
                Ok(())
            }
            End::Goto(target) => self.jump(block, *target, next, out),
            End::Branch(_, _, [first, second]) if first == second => {
                self.jump(block, *first, next, out)
            }
            End::Branch(_, _, [first, second]) => {
                let (mut then, mut otherwise) = (Vec::new(), Vec::new());
                self.jump(block, *first, next, &mut then)?;
                self.jump(block, *second, next, &mut otherwise)?;
                // `if (c) return; rest` rather than `if (c) return; else rest`. Of two arms that both lead away, the one that ends its
                // lanes is first, so that they do not wait for the others: at a barrier of the rest they are gone.
                let mut rest = Vec::new();
                match (Self::away(&then), Self::away(&otherwise)) {
                    (None, None) => {}
                    (first, second) if second > first => std::mem::swap(&mut rest, &mut then),
                    _ => std::mem::swap(&mut rest, &mut otherwise),
                }
                out.push(Piece::If {
                    block,
                    then,
                    otherwise,
                });
                out.append(&mut rest);
                Ok(())
            }
            End::Switch(_, targets) => {
                let mut arms = Vec::new();
                for (index, target) in targets.iter().enumerate() {
                    let mut arm = Vec::new();
                    // A block that several numbers lead to is a follower, so its code is not repeated.
                    debug_assert!(
                        !targets[..index].contains(target) || self.graph.forward_edges[*target] > 1
                    );
                    self.jump(block, *target, next, &mut arm)?;
                    arms.push(arm);
                }
                out.push(Piece::Switch { block, arms });
                Ok(())
            }
        }
    }

    /// A jump: to a loop's beginning, to a follower, or the target's code itself.
    fn jump(
        &mut self,
        source: BlockId,
        target: BlockId,
        next: Next,
        out: &mut Vec<Piece>,
    ) -> Result_ {
        if self.graph.position[target] <= self.graph.position[source] {
            if next != Next::Round(target) {
                out.push(Piece::Continue(target));
            }
            return Ok(());
        }
        if self.blocks[target].is_exit {
            out.push(Piece::Return);
            return Ok(());
        }
        if next == Next::Block(target) {
            return Ok(());
        }
        let mut places = (0..self.open.len()).rev();
        let follows = |open: &Open| match open.is_loop {
            true => open.next == Next::Block(target),
            false => open.block == target,
        };
        match places.find(|&place| follows(&self.open[place])) {
            None => self.tree(target, next, out),
            Some(place) => {
                let open = &mut self.open[place];
                open.is_used = true;
                out.push(match open.is_loop {
                    true => Piece::LeaveLoop(open.block),
                    false => Piece::Leave(target),
                });
                Ok(())
            }
        }
    }
}
