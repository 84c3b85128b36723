//! The control-flow graph of a function: blocks, dominators, loops.

use std::ops::Range;

use crate::tree::{Body, Instruction, Operand, RegId, Statement};

/// A block's number. Block 0 is the entry.
pub(crate) type BlockId = usize;

/// Statements without jumps, and how they end.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Block {
    /// Indices into [`Body::statements`].
    pub(crate) statements: Range<usize>,
    pub(crate) end: End,
    /// The statement that ends it, if one does.
    pub(crate) jump: Option<usize>,
    /// Whether lanes that come here end, and do nothing else. Each jump to it is a separate end: lanes do not meet here.
    pub(crate) is_exit: bool,
}

/// How a block ends.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum End {
    Goto(BlockId),
    /// To the first if the predicate holds, or if it does not and the jump is negated.
    Branch(RegId, bool, [BlockId; 2]),
    /// `brx.idx`: to the block of that number.
    Switch(RegId, Vec<BlockId>),
    /// `ret`, `exit`, or the end of the code.
    Return,
}

impl End {
    pub(crate) fn targets(&self) -> &[BlockId] {
        match self {
            End::Goto(target) => std::slice::from_ref(target),
            End::Branch(_, _, targets) => targets,
            End::Switch(_, targets) => targets,
            End::Return => &[],
        }
    }
}

/// Why a function has no graph: the statement, and a sentence.
pub(crate) type Fault = (usize, &'static str);

/// The blocks of a function.
pub(crate) fn blocks(body: &Body<'_>) -> Result<Vec<Block>, Fault> {
    let statements = &body.statements;
    // A block begins at each label and after each jump.
    let mut starts = vec![false; statements.len() + 1];
    starts[0] = true;
    for (index, statement) in statements.iter().enumerate() {
        match statement {
            Statement::Label(_) => starts[index] = true,
            Statement::Inst(inst) if ends_block(inst) => starts[index + 1] = true,
            _ => {}
        }
    }
    let mut number = Vec::with_capacity(starts.len());
    let mut count = 0;
    for &starts in &starts[..statements.len()] {
        count += usize::from(starts);
        number.push(count - 1);
    }
    // The end of the code, where no statement is.
    let count = count.max(1);
    let last = count;
    number.push(last);
    let mut labels = vec![last; body.labels as usize];
    for (index, statement) in statements.iter().enumerate() {
        if let Statement::Label(label) = statement {
            labels[*label as usize] = number[index];
        }
    }
    let mut blocks = Vec::with_capacity(count + 1);
    let mut from = 0;
    while from < statements.len() {
        let mut to = from + 1;
        while to < statements.len() && !starts[to] {
            to += 1;
        }
        let jump = match &statements[to - 1] {
            Statement::Inst(inst) if ends_block(inst) => Some(inst),
            _ => None,
        };
        let end = match jump {
            None => End::Goto(number[to]),
            Some(inst) => {
                end(body, inst, number[to], last, &labels).map_err(|why| (to - 1, why))?
            }
        };
        blocks.push(Block {
            statements: from..to - usize::from(jump.is_some()),
            end,
            jump: jump.map(|_| to - 1),
            is_exit: false,
        });
        from = to;
    }
    if blocks.is_empty() {
        blocks.push(Block {
            statements: 0..0,
            end: End::Return,
            jump: None,
            is_exit: true,
        });
    }
    // Lanes that `@p ret` ends go here, and those that reach the end of the code.
    blocks.push(Block {
        statements: statements.len()..statements.len(),
        end: End::Return,
        jump: None,
        is_exit: true,
    });
    for block in &mut blocks {
        let mut own = statements[block.statements.clone()].iter();
        let is_empty = own.all(|statement| !matches!(statement, Statement::Inst(_)));
        block.is_exit = is_empty && block.end == End::Return;
    }
    Ok(blocks)
}

fn ends_block(inst: &Instruction<'_>) -> bool {
    matches!(inst.opcode, "bra" | "brx" | "ret" | "exit")
}

fn end(
    body: &Body<'_>,
    inst: &Instruction<'_>,
    next: BlockId,
    last: BlockId,
    labels: &[BlockId],
) -> Result<End, &'static str> {
    let guarded = |target| match inst.guard {
        Some((guard, negated)) => End::Branch(guard, negated, [target, next]),
        None => End::Goto(target),
    };
    match (inst.opcode, &inst.operands[..]) {
        ("ret" | "exit", []) => Ok(match inst.guard {
            Some(_) => guarded(last),
            None => End::Return,
        }),
        ("bra", [Operand::Label(label)]) => Ok(guarded(labels[*label as usize])),
        ("brx", [Operand::Register(index), Operand::Label(list)]) if inst.guard.is_none() => {
            let is_list = |statement: &Statement<'_>| match statement {
                Statement::Targets(label, targets) if label == list => Some(targets.clone()),
                _ => None,
            };
            let targets = body.statements.iter().find_map(is_list);
            let targets = targets.ok_or("the label names no `.branchtargets`")?;
            let blocks = targets.iter().map(|&label| labels[label as usize]);
            Ok(End::Switch(*index, blocks.collect()))
        }
        _ => Err("this jump has a form that dslc does not know"),
    }
}

/// The blocks that are reached, with their order, dominators and loops.
#[derive(Debug)]
pub(crate) struct Graph {
    /// The reached blocks in reverse postorder; the entry is first.
    pub(crate) order: Vec<BlockId>,
    /// By block: its place in `order`, or `UNREACHED`.
    pub(crate) position: Vec<usize>,
    /// By block: its immediate dominator; the entry's is itself.
    pub(crate) dominator: Vec<BlockId>,
    /// By block: its number in the dominator tree, and how many it dominates, itself included: they have the numbers from there on.
    dominated: Vec<(usize, usize)>,
    /// By block: how many jumps lead to it from blocks before it in the order.
    pub(crate) forward_edges: Vec<u32>,
    /// By block: whether it is the header of a loop.
    pub(crate) is_header: Vec<bool>,
    /// By block: the header of the innermost loop that it is in (a header's is itself).
    pub(crate) innermost: Vec<Option<BlockId>>,
    /// By header: that of the next outer loop.
    pub(crate) outer: Vec<Option<BlockId>>,
}

pub(crate) const UNREACHED: usize = usize::MAX;

impl Graph {
    /// `Err`: a jump into the middle of a loop; the block that it leads to.
    pub(crate) fn of(blocks: &[Block]) -> Result<Graph, BlockId> {
        let (order, position) = reverse_postorder(blocks);
        let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); blocks.len()];
        for &block in &order {
            for &target in blocks[block].end.targets() {
                before[target].push(block);
            }
        }
        let dominator = dominators(&order, &position, &before);
        let mut graph = Graph {
            forward_edges: vec![0; blocks.len()],
            is_header: vec![false; blocks.len()],
            innermost: vec![None; blocks.len()],
            outer: vec![None; blocks.len()],
            position,
            dominated: dominated(&order, &dominator),
            dominator,
            order,
        };
        for (target, sources) in before.iter().enumerate() {
            for &source in sources {
                if graph.position[source] < graph.position[target] {
                    graph.forward_edges[target] += 1;
                } else if graph.dominates(target, source) {
                    graph.is_header[target] = true;
                } else {
                    return Err(target);
                }
            }
        }
        graph.find_loops(&before);
        Ok(graph)
    }

    /// Whether every way to `b` leads through `a`.
    pub(crate) fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (from, count) = self.dominated[a];
        (from..from + count).contains(&self.dominated[b].0)
    }

    /// Headers from the innermost loop outwards: the last headers in the order claim their blocks first.
    fn find_loops(&mut self, before: &[Vec<BlockId>]) {
        for index in (0..self.order.len()).rev() {
            let header = self.order[index];
            if !self.is_header[header] {
                continue;
            }
            let back = before[header].iter().copied();
            let mut work: Vec<BlockId> = back
                .filter(|&source| self.position[source] >= index)
                .collect();
            self.innermost[header] = Some(header);
            while let Some(block) = work.pop() {
                // What an inner loop has belongs to that loop; the inner loop belongs to this one.
                let claimed = self.outermost_known(block);
                let enter = match claimed {
                    Some(inner) if inner == header => continue,
                    Some(inner) => {
                        self.outer[inner] = Some(header);
                        inner
                    }
                    None => {
                        self.innermost[block] = Some(header);
                        block
                    }
                };
                work.extend_from_slice(&before[enter]);
            }
        }
    }

    /// The outermost loop found so far that a block is in.
    fn outermost_known(&self, block: BlockId) -> Option<BlockId> {
        let mut at = self.innermost[block]?;
        while let Some(outer) = self.outer[at] {
            at = outer;
        }
        Some(at)
    }

    /// Whether a block is in the loop of a header.
    pub(crate) fn is_in(&self, block: BlockId, header: BlockId) -> bool {
        let mut at = self.innermost[block];
        while let Some(found) = at {
            if found == header {
                return true;
            }
            at = self.outer[found];
        }
        false
    }
}

/// The blocks that are reached, in reverse postorder.
pub(crate) fn order(blocks: &[Block]) -> Vec<BlockId> {
    reverse_postorder(blocks).0
}

/// Depth first, without recursion: hostile code has long chains.
fn reverse_postorder(blocks: &[Block]) -> (Vec<BlockId>, Vec<usize>) {
    let mut order = Vec::with_capacity(blocks.len());
    let mut seen = vec![false; blocks.len()];
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, next)) = stack.last_mut() {
        let targets = blocks[*block].end.targets();
        // The last target first, so that the first comes first in the order.
        let target = targets
            .len()
            .checked_sub(*next + 1)
            .map(|index| targets[index]);
        *next += 1;
        match target {
            Some(target) if !seen[target] => {
                seen[target] = true;
                stack.push((target, 0));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    let mut position = vec![UNREACHED; blocks.len()];
    for (index, &block) in order.iter().enumerate() {
        position[block] = index;
    }
    (order, position)
}

/// Cooper, Harvey and Kennedy's algorithm ("A Simple, Fast Dominance Algorithm", 2001).
fn dominators(order: &[BlockId], position: &[usize], before: &[Vec<BlockId>]) -> Vec<BlockId> {
    const UNKNOWN: BlockId = usize::MAX;
    let mut dominator = vec![UNKNOWN; before.len()];
    let entry = order[0];
    dominator[entry] = entry;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order[1..] {
            let mut found = UNKNOWN;
            for &source in &before[block] {
                if dominator[source] == UNKNOWN {
                    continue;
                }
                found = match found {
                    UNKNOWN => source,
                    mut other => {
                        let mut source = source;
                        while source != other {
                            while position[source] > position[other] {
                                source = dominator[source];
                            }
                            while position[other] > position[source] {
                                other = dominator[other];
                            }
                        }
                        source
                    }
                };
            }
            if dominator[block] != found {
                dominator[block] = found;
                changed = true;
            }
        }
    }
    dominator
}

/// See [`Graph::dominated`].
fn dominated(order: &[BlockId], dominator: &[BlockId]) -> Vec<(usize, usize)> {
    let mut numbers = vec![(usize::MAX, 1); dominator.len()];
    for &block in order[1..].iter().rev() {
        numbers[dominator[block]].1 += numbers[block].1;
    }
    // By block: the number of the next child.
    let mut next = vec![1; dominator.len()];
    numbers[order[0]].0 = 0;
    for &block in &order[1..] {
        let parent = dominator[block];
        numbers[block].0 = next[parent];
        next[block] = next[parent] + 1;
        next[parent] += numbers[block].1;
    }
    numbers
}
