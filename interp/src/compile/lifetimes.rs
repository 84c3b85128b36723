//! How long each temporary lives, which pointer additions melt into the accesses that use them, and which `get`s need no copy.
//!
//! Positions number the nodes in the order of the text, the ends of loops too. A temporary used in a loop it was not made
//! in lives to the end of that loop. A `get` is only another name for its slot if the slot is not set before the
//! temporary's last use.

use dsl::ir::{Block, Const, Function, Inst, InstKind, Node, Operand, Type, ValueId};

use super::uniformity::Uniformity;

/// What is known of each temporary.
#[derive(Debug, Default)]
pub(super) struct Lifetimes {
    /// Position after which its register is free.
    pub(super) last_use: Vec<u32>,
    /// How many operands name it.
    pub(super) uses: Vec<u32>,
    /// A `ptradd` computed by its accesses.
    pub(super) fused: Vec<bool>,
    /// A fused `ptradd` of a uniform index to another `ptradd` (named here) of a varying index to a uniform base: the uniform
    /// index is added first, in a scalar register, so that the accesses are of the form scalar base plus index.
    pub(super) swapped: Vec<Option<ValueId>>,
    /// A `get` that is its slot's register.
    pub(super) alias: Vec<bool>,
    /// A uniform value that a 32-lane operation reads: it is spread where it is made.
    pub(super) spread: Vec<bool>,
    /// Temporaries whose registers are free after the position.
    pub(super) ends: Vec<Vec<ValueId>>,
}

struct Use {
    pos: u32,
    /// Number of loops around it.
    depth: usize,
    loops: Vec<u32>,
    pointer: bool,
}

struct Walk<'a> {
    pos: u32,
    loops: Vec<u32>,
    loop_ends: Vec<u32>,
    defs: Vec<Option<(&'a Inst, u32, usize)>>,
    uses: Vec<Vec<Use>>,
    sets: Vec<Vec<u32>>,
    uniformity: &'a Uniformity,
    spread: Vec<bool>,
}

/// Analyses a function.
pub(super) fn analyse(function: &Function, uniformity: &Uniformity) -> Lifetimes {
    let n = function.values.len();
    let mut walk = Walk {
        pos: 0,
        loops: Vec::new(),
        loop_ends: Vec::new(),
        defs: vec![None; n],
        uses: (0..n).map(|_| Vec::new()).collect(),
        sets: vec![Vec::new(); function.slots.len()],
        uniformity,
        spread: vec![false; n],
    };
    walk.block(&function.body);
    let mut result = Lifetimes {
        last_use: vec![0; n],
        uses: walk.uses.iter().map(|uses| uses.len() as u32).collect(),
        fused: vec![false; n],
        swapped: vec![None; n],
        alias: vec![false; n],
        spread: Vec::new(),
        ends: vec![Vec::new(); walk.pos as usize + 1],
    };
    // Fused additions first, from the last to the first: they lend their uses to their operands.
    for v in (0..n).rev() {
        let Some((inst, ..)) = walk.defs[v] else {
            continue;
        };
        let InstKind::PtrAdd { base, index, .. } = &inst.kind else {
            continue;
        };
        if walk.uses[v].is_empty() || !walk.uses[v].iter().all(|u| u.pointer) {
            // Nothing reads it if what did has been swapped.
            result.fused[v] = walk.uses[v].is_empty() && result.uses[v] > 0;
            continue;
        }
        let mut terms = vec![base, index];
        if !fuses(function, uniformity, base, index) {
            let Some((inner, base, varying)) = swaps(&walk.defs, uniformity, function, base, index)
            else {
                continue;
            };
            result.swapped[v] = Some(inner);
            let pos = walk.defs[v].expect("it has one").1;
            walk.uses[inner.index()].retain(|u| u.pos != pos);
            terms = vec![base, index, varying];
        }
        result.fused[v] = true;
        for operand in terms {
            if let Operand::Value(id) = operand {
                let lent: Vec<Use> = walk.uses[v]
                    .iter()
                    .map(|u| Use {
                        loops: u.loops.clone(),
                        ..*u
                    })
                    .collect();
                walk.uses[id.index()].extend(lent.into_iter().map(|u| Use {
                    pointer: false,
                    ..u
                }));
            }
        }
    }
    for v in 0..n {
        let Some((inst, def, depth)) = walk.defs[v] else {
            continue;
        };
        let last = walk.uses[v].iter().map(|u| {
            if u.depth > depth {
                walk.loop_ends[u.loops[depth] as usize]
            } else {
                u.pos
            }
        });
        let last = last.max().unwrap_or(def);
        result.last_use[v] = last;
        result.ends[last as usize].push(ValueId(v as u32));
        if let InstKind::Get(slot) = inst.kind {
            result.alias[v] = !walk.sets[slot.index()]
                .iter()
                .any(|&set| set > def && set < last);
        }
    }
    result.spread = walk.spread;
    result
}

/// Whether an access can compute `base + index * scale` itself.
fn fuses(function: &Function, uniformity: &Uniformity, base: &Operand, index: &Operand) -> bool {
    let _ = base;
    match index {
        Operand::Const(_) => true,
        Operand::Value(id) => {
            uniformity.values[id.index()] && function.values[id.index()] == Type::I32
        }
    }
}

/// If `base + index` is `(uniform + varying) + uniform`: the inner sum, its base and its index.
fn swaps<'a>(
    defs: &[Option<(&'a Inst, u32, usize)>],
    uniformity: &Uniformity,
    function: &Function,
    base: &Operand,
    index: &Operand,
) -> Option<(ValueId, &'a Operand, &'a Operand)> {
    let uniform = |operand: &Operand| match operand {
        Operand::Value(id) => !uniformity.values[id.index()],
        Operand::Const(_) => true,
    };
    let (Operand::Value(inner), true) = (base, uniform(index)) else {
        return None;
    };
    match &defs[inner.index()]?.0.kind {
        InstKind::PtrAdd {
            base,
            index: varying @ Operand::Value(id),
            ..
        } if uniform(base) && !uniform(varying) && function.values[id.index()] == Type::I32 => {
            Some((*inner, base, varying))
        }
        _ => None,
    }
}

impl<'a> Walk<'a> {
    fn operand(&mut self, operand: &Operand, pointer: bool) {
        if let Operand::Value(id) = operand {
            let (pos, depth, loops) = (self.pos, self.loops.len(), self.loops.clone());
            self.uses[id.index()].push(Use {
                pos,
                depth,
                loops,
                pointer,
            });
        }
    }

    fn block(&mut self, block: &'a Block) {
        for node in &block.0 {
            self.pos += 1;
            if let Some(operand) = node.operand() {
                self.operand(operand, false);
            }
            match node {
                Node::Inst(inst) => self.inst(inst),
                Node::If {
                    then, otherwise, ..
                } => {
                    self.block(then);
                    self.block(otherwise);
                }
                Node::Loop { body, step, .. } => {
                    self.loops.push(self.loop_ends.len() as u32);
                    self.loop_ends.push(0);
                    self.block(body);
                    self.block(step);
                    self.pos += 1;
                    let id = self.loops.pop().expect("pushed");
                    self.loop_ends[id as usize] = self.pos;
                }
                Node::Scope { body, .. } => self.block(body),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }

    fn inst(&mut self, inst: &'a Inst) {
        let pointer = match &inst.kind {
            InstKind::Load(_, ptr) | InstKind::Store(_, ptr, _) | InstKind::Atomic { ptr, .. } => {
                Some(ptr)
            }
            _ => None,
        };
        for operand in inst.kind.operands() {
            self.operand(
                operand,
                pointer.is_some_and(|ptr| std::ptr::eq(ptr, operand)),
            );
        }
        if let InstKind::Set(slot, _) = inst.kind {
            self.sets[slot.index()].push(self.pos);
        }
        let varying = inst
            .results
            .iter()
            .any(|id| self.uniformity.values[id.index()]);
        let lane_op = matches!(
            inst.kind,
            InstKind::Unary(..)
                | InstKind::Binary(..)
                | InstKind::Fma(..)
                | InstKind::Compare(..)
                | InstKind::Select(..)
                | InstKind::Convert(..)
        );
        if varying && lane_op {
            for operand in inst.kind.operands() {
                if let Operand::Value(id) = operand {
                    self.spread[id.index()] |= !self.uniformity.values[id.index()];
                }
            }
        }
        for result in &inst.results {
            self.defs[result.index()] = Some((inst, self.pos, self.loops.len()));
        }
    }
}

/// The constant behind an operand.
pub(super) fn constant(operand: &Operand) -> Option<Const> {
    match operand {
        Operand::Const(constant) => Some(*constant),
        Operand::Value(_) => None,
    }
}
