//! Determines how long each temporary lives, which pointer additions are fused into the accesses that use them, and
//! which `get`s need no copy.
//!
//! Positions number the nodes in the order of the text, including the ends of loops. A temporary that is used in a loop
//! outside of which it was made lives to the end of that loop. A `get` is only another name for its slot if the slot is
//! not set before the temporary's last use.

use std::collections::{HashMap, HashSet};

use ir::{BinaryOp, Block, Const, Function, Inst, InstKind, LocalId, Node, Operand, Type, ValueId};

use super::array;
use super::uniformity::Uniformity;
use crate::isa::bytecode::Class;

/// What is known of each temporary.
#[derive(Debug, Default)]
pub(super) struct Lifetimes {
    /// The position after which its register is free.
    pub(super) last_use: Vec<u32>,
    /// How many operands name it.
    pub(super) uses: Vec<u32>,
    /// How many instructions read it in the end, including those that compute a pointer which was fused into them.
    pub(super) reads: Vec<u32>,
    /// A `ptradd` that is computed by its accesses.
    pub(super) fused: Vec<bool>,
    /// A fused `ptradd` of a uniform index to another `ptradd` (named here) of a varying index to a uniform base. The
    /// uniform index is added first, in a scalar register, so that the accesses have the form scalar base plus index.
    pub(super) swapped: Vec<Option<ValueId>>,
    /// A uniform `ptradd` to a 32-bit pointer that is used only by accesses, directly or as the base of what they
    /// compute. They add its index, too.
    pub(super) steps: Vec<bool>,
    /// A sum of a varying and a uniform index that is used only by accesses, which add the uniform one themselves: the
    /// two operands.
    pub(super) sums: Vec<Option<(Operand, Operand)>>,
    /// For such a sum: whether the uniform index is a constant and part of the address's offset.
    pub(super) shifts: Vec<bool>,
    /// Positions at which each slot is set.
    pub(super) sets: Vec<Vec<u32>>,
    /// A `get` that is its slot's register, or a load that is an element's register.
    pub(super) alias: Vec<bool>,
    /// A uniform value that a 32-lane operation reads. It is spread where it is made.
    pub(super) spread: Vec<bool>,
    /// Temporaries whose registers are free after the position.
    pub(super) ends: Vec<Vec<ValueId>>,
}

struct Use {
    pos: u32,
    /// The number of loops around it.
    depth: usize,
    loops: Vec<u32>,
    role: Role,
}

/// The role of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// An access's pointer.
    Pointer,
    /// The uniform base of a pointer that is computed by accesses.
    Base,
    /// The varying index of such a pointer with a uniform base.
    Index,
    /// The same for a 32-bit pointer whose accesses do not check the index separately. An addition to it may be done on
    /// the pointer instead.
    ShortIndex,
    Other,
    /// No role any more.
    Forgotten,
}

struct Walk<'a> {
    pos: u32,
    loops: Vec<u32>,
    loop_ends: Vec<u32>,
    defs: Vec<Option<(&'a Inst, u32, usize)>>,
    uses: Vec<Vec<Use>>,
    /// How many of them, in the order of the text, come from the walk. Lent ones follow.
    own: Vec<usize>,
    sets: Vec<Vec<u32>>,
    /// Positions at which elements of arrays in registers are stored, and whether the store has several elements.
    stores: HashMap<(LocalId, u32), Vec<(u32, bool)>>,
    /// Pointers whose last index is checked at the access. The index must live until then.
    rows: HashSet<ValueId>,
}

/// Analyses a function. `checked`: sums whose overflow is reported are computed separately.
pub(super) fn analyse(function: &Function, uniformity: &Uniformity, checked: bool) -> Lifetimes {
    let n = function.values.len();
    let mut walk = Walk {
        pos: 0,
        loops: Vec::new(),
        loop_ends: Vec::new(),
        defs: vec![None; n],
        uses: (0..n).map(|_| Vec::new()).collect(),
        own: Vec::new(),
        sets: vec![Vec::new(); function.slots.len()],
        stores: HashMap::new(),
        rows: HashSet::new(),
    };
    walk.block(&function.body);
    walk.own = walk.uses.iter().map(Vec::len).collect();
    let mut result = Lifetimes {
        last_use: vec![0; n],
        uses: walk.uses.iter().map(|uses| uses.len() as u32).collect(),
        reads: vec![0; n],
        fused: vec![false; n],
        swapped: vec![None; n],
        steps: vec![false; n],
        sums: vec![None; n],
        shifts: vec![false; n],
        sets: walk.sets.clone(),
        alias: vec![false; n],
        spread: vec![false; n],
        ends: vec![Vec::new(); walk.pos as usize + 1],
    };
    fuse(function, uniformity, checked, &mut walk, &mut result);
    spread(uniformity, &walk, &mut result);
    for v in 0..n {
        result.reads[v] = walk.live_uses(v).count() as u32;
    }
    for v in 0..n {
        let Some((inst, def, depth)) = walk.defs[v] else {
            continue;
        };
        let last = walk.live_uses(v).map(|u| {
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
        if let InstKind::Load(access, ptr) = &inst.kind
            && let Some((local, first)) = array::element(access, ptr)
        {
            let component = inst.results.iter().position(|id| id.index() == v);
            let element = first + component.unwrap_or(0) as u32 * array::words_each(access);
            let element = (local, element);
            // A store of several elements might read this one after it has written it.
            let changes = |&(store, several): &(u32, bool)| {
                store > def && (store < last || several && store == last)
            };
            let stores = walk.stores.get(&element);
            result.alias[v] = !stores.is_some_and(|stores| stores.iter().any(changes));
        }
    }
    result
}

/// Finds the pointer additions that accesses compute themselves. It goes from the last to the first, because the uses
/// of a fused addition count as uses of its operands.
fn fuse(
    function: &Function,
    uniformity: &Uniformity,
    checked: bool,
    walk: &mut Walk<'_>,
    result: &mut Lifetimes,
) {
    let uniform = |operand: &Operand| match operand {
        Operand::Value(id) => !uniformity.values[id.index()],
        Operand::Const(_) => true,
    };
    for v in (0..function.values.len()).rev() {
        let Some((inst, pos, _)) = walk.defs[v] else {
            continue;
        };
        let only_for = |walk: &Walk<'_>, roles: &[Role]| {
            let mut uses = walk.live_uses(v).peekable();
            uses.peek().is_some() && uses.all(|u| roles.contains(&u.role))
        };
        match &inst.kind {
            InstKind::Binary(op, Type::I32, a, b)
                if (*op == BinaryOp::Add || *op == BinaryOp::SAdd && !checked)
                    && !uniform(&Operand::Value(ValueId(v as u32))) =>
            {
                let (varying, other) = if uniform(b) { (a, b) } else { (b, a) };
                if uniform(other) && only_for(walk, &[Role::Index, Role::ShortIndex]) {
                    let shifts = constant(other).is_some() && only_for(walk, &[Role::ShortIndex]);
                    result.sums[v] = Some((*varying, *other));
                    result.shifts[v] = shifts;
                    walk.forget(varying, pos);
                    walk.forget(other, pos);
                    let role = if shifts {
                        Role::ShortIndex
                    } else {
                        Role::Other
                    };
                    walk.lend(v, varying, role);
                    walk.lend(v, other, Role::Other);
                }
            }
            InstKind::PtrAdd { base, index, .. } => {
                let narrow = Class::of(function.values[v]) == Class::W32;
                if narrow && uniform(base) && uniform(index) && is_short(function, index) {
                    if only_for(walk, &[Role::Pointer, Role::Base]) {
                        result.steps[v] = true;
                        walk.lend(v, base, Role::Other);
                        walk.lend(v, index, Role::Other);
                    } else {
                        walk.keep(v, index);
                    }
                    continue;
                }
                if !only_for(walk, &[Role::Pointer]) {
                    // An addition without uses is dead: since a swap its uses read another value.
                    result.fused[v] = walk.live_uses(v).next().is_none() && result.uses[v] > 0;
                    walk.keep(v, index);
                    continue;
                }
                if fuses(function, uniformity, index) {
                    let is_short = narrow && !walk.rows.contains(&ValueId(v as u32));
                    let (first, second) = match uniform(base) {
                        true if is_short => (Role::Base, Role::ShortIndex),
                        true => (Role::Base, Role::Index),
                        false => (Role::Other, Role::Other),
                    };
                    walk.forget(base, pos);
                    walk.forget(index, pos);
                    walk.lend(v, base, first);
                    walk.lend(v, index, second);
                } else if let Some((inner, base, varying)) =
                    swaps(&walk.defs, uniformity, function, base, index)
                {
                    result.swapped[v] = Some(inner);
                    walk.forget(&Operand::Value(inner), pos);
                    walk.lend(v, base, Role::Other);
                    walk.lend(v, index, Role::Other);
                    walk.lend(v, varying, Role::Index);
                } else {
                    walk.keep(v, index);
                    continue;
                }
                result.fused[v] = true;
            }
            _ => {}
        }
    }
}

/// Whether an index has 32 bits.
fn is_short(function: &Function, index: &Operand) -> bool {
    match index {
        Operand::Value(id) => function.values[id.index()] == Type::I32,
        Operand::Const(_) => true,
    }
}

/// Finds the uniform values that 32-lane operations read. Comparisons take scalars.
fn spread(uniformity: &Uniformity, walk: &Walk<'_>, result: &mut Lifetimes) {
    for (v, def) in walk.defs.iter().enumerate() {
        let Some((inst, ..)) = def else { continue };
        let compares = matches!(inst.kind, InstKind::Compare(..));
        if inst.kind.is_scalar_op() && !compares && uniformity.values[v] && result.sums[v].is_none()
        {
            for operand in inst.kind.operands() {
                if let Operand::Value(id) = operand {
                    result.spread[id.index()] |= !uniformity.values[id.index()];
                }
            }
        }
    }
}

/// Whether an access can compute `base + index * scale` itself.
fn fuses(function: &Function, uniformity: &Uniformity, index: &Operand) -> bool {
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
    /// A node at the position no longer reads an operand.
    fn forget(&mut self, operand: &Operand, pos: u32) {
        if let Operand::Value(id) = operand {
            // One variable may be read at a hundred thousand places, so uses are found by binary search and not moved.
            let own = &mut self.uses[id.index()][..self.own[id.index()]];
            let first = own.partition_point(|u| u.pos < pos);
            let at_pos = own[first..].iter_mut().take_while(|u| u.pos == pos);
            at_pos.for_each(|u| u.role = Role::Forgotten);
        }
    }

    /// The uses that still have a role.
    fn live_uses(&self, v: usize) -> impl Iterator<Item = &Use> {
        let uses = self.uses[v].iter();
        uses.filter(|u| u.role != Role::Forgotten)
    }

    /// Makes uses of `v` also uses of the operand.
    fn lend(&mut self, v: usize, operand: &Operand, role: Role) {
        if let Operand::Value(id) = operand {
            let lent: Vec<Use> = self
                .live_uses(v)
                .map(|u| Use {
                    loops: u.loops.clone(),
                    role,
                    ..*u
                })
                .collect();
            self.uses[id.index()].extend(lent);
        }
    }

    /// Keeps the index of a pointer addition alive as long as the pointer, if accesses check it.
    fn keep(&mut self, v: usize, index: &Operand) {
        if self.rows.contains(&ValueId(v as u32)) {
            self.lend(v, index, Role::Other);
        }
    }

    fn operand(&mut self, operand: &Operand, pointer: bool) {
        if let Operand::Value(id) = operand {
            let (pos, depth, loops) = (self.pos, self.loops.len(), self.loops.clone());
            self.uses[id.index()].push(Use {
                pos,
                depth,
                loops,
                role: if pointer { Role::Pointer } else { Role::Other },
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
                Node::Scope { body, .. } | Node::Routine { body, .. } => self.block(body),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }

    fn inst(&mut self, inst: &'a Inst) {
        let access = inst.kind.access();
        if let Some((access, Operand::Value(id))) = access
            && access.row_len != 0
        {
            self.rows.insert(*id);
        }
        for operand in inst.kind.operands() {
            let is_pointer = access.is_some_and(|(_, ptr)| std::ptr::eq(ptr, operand));
            self.operand(operand, is_pointer);
        }
        if let InstKind::Set(slot, _) = inst.kind {
            self.sets[slot.index()].push(self.pos);
        }
        if let InstKind::Store(access, ptr, _) = &inst.kind
            && let Some((local, first)) = array::element(access, ptr)
        {
            let words = array::words_each(access);
            for element in (first..first + u32::from(access.count) * words).step_by(words as usize)
            {
                let stores = self.stores.entry((local, element)).or_default();
                stores.push((self.pos, access.count > 1));
            }
        }
        for result in &inst.results {
            self.defs[result.index()] = Some((inst, self.pos, self.loops.len()));
        }
    }
}

/// The constant that an operand is.
pub(super) fn constant(operand: &Operand) -> Option<Const> {
    match operand {
        Operand::Const(constant) => Some(*constant),
        Operand::Value(_) => None,
    }
}
