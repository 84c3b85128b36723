//! Keeps a thread's small arrays in registers, if after unrolling every access names a fixed element.
//!
//! A GPU does not put `float sum[8][8]` in a product of matrices into memory either. Its accesses remain accesses, and
//! each is counted. But each element is a varying register, so a load is another name for it, and the instruction that
//! computes a stored value writes the element directly.
//!
//! An array qualifies if its address is used only in loads and stores of elements of 4 or 8 bytes, each at a constant
//! offset within it, and each load comes after a store to the same element on every path. Then no check can find
//! anything in it.

use std::collections::{HashMap, HashSet};

use ir::{
    Access, Block, Const, Function, FunctionKind, Inst, InstKind, LabelId, LocalId, MemType, Node,
    Object, Operand, Space, Type, ValueId,
};

use super::unroll::{self, Wanted};

/// The most words of all such arrays of a kernel.
const MOST_WORDS: u64 = 256;

/// A kernel with loops unrolled.
pub(super) struct Unrolled {
    pub(super) function: Function,
    /// The arrays in registers. Accesses to them have constant offsets and no pointer.
    pub(super) arrays: Vec<LocalId>,
}

/// Unrolls loops with a barrier, and loops that index arrays which then fit in registers. `offsets` has the start of
/// each array in a thread's memory. `None` if there is nothing to unroll.
pub(super) fn unrolled(function: &Function, offsets: &[u64]) -> Option<Unrolled> {
    if function.kind != FunctionKind::Kernel || !function.routines.is_empty() {
        return None;
    }
    let candidates = candidates(function);
    let with = |barriers: bool| {
        let mut wanted = candidates.clone();
        loop {
            let arrays = &wanted;
            let mut unrolled = unroll::unroll(function, &Wanted { arrays, barriers })?;
            let settled = match wanted.is_empty() {
                true => HashSet::new(),
                false => settled(&unrolled, &wanted, offsets),
            };
            if settled == wanted {
                rewrite(&mut unrolled, &wanted);
                let mut arrays: Vec<_> = wanted.into_iter().collect();
                arrays.sort();
                return Some(Unrolled {
                    function: unrolled,
                    arrays,
                });
            }
            // Loops that index only the other arrays stay loops.
            wanted = settled;
        }
    };
    let barriers = unroll::has_loop_with_barrier(&function.body);
    let found = barriers.then(|| with(true)).flatten();
    // Unrolling for arrays may be what made it too large.
    found.or_else(|| (!candidates.is_empty()).then(|| with(false)).flatten())
}

/// The first word of the element that is accessed, for an array in registers. Such an access has its place in the array
/// instead of a pointer.
pub(super) fn element(access: &Access, ptr: &Operand) -> Option<(LocalId, u32)> {
    match (access.object, ptr) {
        (Some(Object::Local(local)), Operand::Const(offset)) => {
            Some((local, offset.bits as u32 / 4))
        }
        _ => None,
    }
}

/// A pointer into a thread's array.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    local: LocalId,
    /// The byte offset in the array, and the last index that was added, if known.
    offset: Option<i64>,
    index: Option<i64>,
}

/// The pointers into a thread's arrays among the temporaries.
pub(super) struct Pointers(HashMap<ValueId, Pointer>);

impl Pointers {
    pub(super) fn of(function: &Function) -> Pointers {
        let mut pointers = Pointers(HashMap::new());
        function.body.for_each_inst(&mut |inst| pointers.see(inst));
        pointers
    }

    /// The array that a temporary points into.
    pub(super) fn local(&self, id: ValueId) -> Option<LocalId> {
        self.0.get(&id).map(|pointer| pointer.local)
    }

    fn get(&self, operand: &Operand) -> Option<Pointer> {
        self.0.get(&operand.value()?).copied()
    }

    fn see(&mut self, inst: &Inst) {
        let Some(&result) = inst.results.first() else {
            return;
        };
        match &inst.kind {
            InstKind::AddrOf(Object::Local(local)) => {
                let pointer = Pointer {
                    local: *local,
                    offset: Some(0),
                    index: None,
                };
                self.0.insert(result, pointer);
            }
            InstKind::PtrAdd {
                base,
                index,
                unsigned,
                scale_bytes,
                offset_bytes,
            } => {
                let Some(base) = self.get(base) else { return };
                let index = index.constant().map(|constant| match constant.ty {
                    Type::I32 if !*unsigned => i64::from(constant.bits as i32),
                    _ => constant.bits as i64,
                });
                let added = index.and_then(|index| {
                    let bytes = index.checked_mul(*scale_bytes)?;
                    bytes.checked_add(*offset_bytes)
                });
                let offset = base.offset.zip(added);
                // A subscript that is constant in the source is part of the offset and has been checked.
                let pointer = Pointer {
                    local: base.local,
                    offset: offset.and_then(|(offset, added)| offset.checked_add(added)),
                    index,
                };
                self.0.insert(result, pointer);
            }
            _ => {}
        }
    }
}

/// The words per element of an access to an array in registers.
pub(super) fn words_each(access: &Access) -> u32 {
    access.ty.bytes() / 4
}

/// Whether registers can serve an access.
fn is_plain(access: &Access) -> bool {
    let ty = access.ty;
    matches!(
        ty,
        MemType::I32 | MemType::F32 | MemType::I64 | MemType::F64
    ) && access.space == Space::Local
        && !access.volatile
        && !access.partial
}

/// The arrays whose address is used only in accesses that registers can serve.
fn candidates(function: &Function) -> HashSet<LocalId> {
    let pointers = Pointers::of(function);
    let mut kept = HashSet::new();
    let mut words = 0;
    for (index, local) in function.locals.iter().enumerate() {
        words += local.size_bytes.div_ceil(4);
        if words <= MOST_WORDS && local.size_bytes % 4 == 0 {
            kept.insert(LocalId(index as u32));
        }
    }
    // By array: the words of its elements.
    let mut widths = HashMap::new();
    function.body.for_each_node(&mut |node| {
        let Node::Inst(inst) = node else {
            if let Some(pointer) = node.operand().and_then(|operand| pointers.get(operand)) {
                kept.remove(&pointer.local);
            }
            return;
        };
        let access = match &inst.kind {
            InstKind::Load(access, ptr) | InstKind::Store(access, ptr, _) if is_plain(access) => {
                if let Some(pointer) = pointers.get(ptr) {
                    let words = words_each(access);
                    if *widths.entry(pointer.local).or_insert(words) != words {
                        kept.remove(&pointer.local);
                    }
                }
                Some(ptr)
            }
            InstKind::PtrAdd { base, .. } => Some(base),
            _ => None,
        };
        for operand in inst.kind.operands() {
            if access.is_some_and(|ptr| std::ptr::eq(ptr, operand)) {
                continue;
            }
            if let Some(pointer) = pointers.get(operand) {
                kept.remove(&pointer.local);
            }
        }
    });
    kept
}

/// The arrays in which every access is to a known element that has been assigned by then.
fn settled(function: &Function, wanted: &HashSet<LocalId>, offsets: &[u64]) -> HashSet<LocalId> {
    let mut first_words = Vec::new();
    let mut words = 0;
    for local in &function.locals {
        first_words.push(words);
        words += local.size_bytes.div_ceil(4) as usize;
    }
    let mut walk = Settled {
        function,
        offsets,
        pointers: Pointers::of(function),
        kept: wanted.clone(),
        first_words,
        ways_out: HashMap::new(),
    };
    walk.block(&function.body, &mut Assigned(Some(vec![false; words])));
    walk.kept
}

/// The words that the current lanes have stored; `None` where no lane goes on.
#[derive(Clone)]
struct Assigned(Option<Vec<bool>>);

impl Assigned {
    /// Lanes from another path join.
    fn join(&mut self, other: Assigned) {
        match (&mut self.0, other.0) {
            (Some(own), Some(other)) => {
                own.iter_mut()
                    .zip(other)
                    .for_each(|(own, other)| *own &= other);
            }
            (own @ None, Some(other)) => *own = Some(other),
            (_, None) => {}
        }
    }

    fn words(&mut self, from: usize, count: usize) -> &mut [bool] {
        match &mut self.0 {
            Some(words) => &mut words[from..from + count],
            None => &mut [],
        }
    }
}

struct Settled<'a> {
    function: &'a Function,
    offsets: &'a [u64],
    pointers: Pointers,
    kept: HashSet<LocalId>,
    /// The start of each array's words among all.
    first_words: Vec<usize>,
    /// The state at the `break`s to a label, and at its `continue`s.
    ways_out: HashMap<(LabelId, bool), Assigned>,
}

impl Settled<'_> {
    fn leave(&mut self, label: LabelId, continues: bool, assigned: &mut Assigned) {
        let here = Assigned(assigned.0.take());
        let ways_out = self.ways_out.entry((label, continues));
        ways_out.or_insert(Assigned(None)).join(here);
    }

    fn arrive(&mut self, label: LabelId, continues: bool, assigned: &mut Assigned) {
        if let Some(others) = self.ways_out.remove(&(label, continues)) {
            assigned.join(others);
        }
    }

    fn block(&mut self, block: &Block, assigned: &mut Assigned) {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => self.inst(inst, assigned),
                Node::If {
                    then, otherwise, ..
                } => {
                    let mut other_side = assigned.clone();
                    self.block(then, assigned);
                    self.block(otherwise, &mut other_side);
                    assigned.join(other_side);
                }
                Node::Loop {
                    label, body, step, ..
                } => {
                    self.block(body, assigned);
                    self.arrive(*label, true, assigned);
                    self.block(step, assigned);
                    assigned.0 = None;
                    self.arrive(*label, false, assigned);
                }
                Node::Scope { label, body, .. } => {
                    self.block(body, assigned);
                    self.arrive(*label, false, assigned);
                }
                Node::Routine { .. } => {}
                Node::Break(label) => self.leave(*label, false, assigned),
                Node::Continue(label) => self.leave(*label, true, assigned),
                Node::Return(_) => assigned.0 = None,
            }
        }
    }

    fn inst(&mut self, inst: &Inst, assigned: &mut Assigned) {
        if let InstKind::Lifetime(local, true) = inst.kind {
            let from = self.first_words[local.index()];
            let count = self.function.locals[local.index()].size_bytes.div_ceil(4);
            assigned.words(from, count as usize).fill(false);
        }
        let (access, ptr, stores) = match &inst.kind {
            InstKind::Load(access, ptr) => (access, ptr, false),
            InstKind::Store(access, ptr, _) => (access, ptr, true),
            _ => return,
        };
        let Some(pointer) = self.pointers.get(ptr) else {
            return;
        };
        // Other arrays may be accessed as other types, whose elements are not whole words.
        if !self.kept.contains(&pointer.local) {
            return;
        }
        let Some(word) = self.word(access, &pointer) else {
            self.kept.remove(&pointer.local);
            return;
        };
        let words = assigned.words(
            self.first_words[pointer.local.index()] + word,
            access.width_bytes() as usize / 4,
        );
        if stores {
            words.fill(true);
        } else if words.contains(&false) {
            self.kept.remove(&pointer.local);
        }
    }

    /// The first word of its array that an access is to, if it is known and in bounds.
    fn word(&self, access: &Access, pointer: &Pointer) -> Option<usize> {
        let offset = u64::try_from(pointer.offset?).ok()?;
        let width = u64::from(access.width_bytes());
        let local = pointer.local.index();
        let in_row = match (access.row_len, pointer.index) {
            (0, _) => true,
            (len, Some(index)) => (0..i64::from(len)).contains(&index),
            (_, None) => false,
        };
        let is_allowed = in_row
            && offset.checked_add(width)? <= self.function.locals[local].size_bytes
            && (self.offsets[local] + offset).is_multiple_of(width)
            && offset.is_multiple_of(4);
        is_allowed.then_some(offset as usize / 4)
    }
}

/// Makes accesses to the arrays name their place in it. The instructions that computed their pointers remain only to be
/// counted.
fn rewrite(function: &mut Function, arrays: &HashSet<LocalId>) {
    let pointers = Pointers::of(function);
    let mut body = std::mem::take(&mut function.body);
    rewrite_block(&mut body, &mut function.values, &pointers, arrays);
    function.body = body;
}

fn rewrite_block(
    block: &mut Block,
    values: &mut Vec<Type>,
    pointers: &Pointers,
    arrays: &HashSet<LocalId>,
) {
    for node in &mut block.0 {
        for block in node.blocks_mut() {
            rewrite_block(block, values, pointers, arrays);
        }
        let Node::Inst(inst) = node else { continue };
        match &mut inst.kind {
            InstKind::Load(access, ptr) | InstKind::Store(access, ptr, _) => {
                let pointer = pointers.get(ptr);
                if let Some(pointer) = pointer.filter(|pointer| arrays.contains(&pointer.local)) {
                    access.object = Some(Object::Local(pointer.local));
                    access.row_len = 0;
                    *ptr = Operand::Const(Const {
                        ty: Type::Ptr(Space::Local),
                        bits: pointer.offset.unwrap_or(0) as u64,
                    });
                }
            }
            InstKind::AddrOf(_) | InstKind::PtrAdd { .. } => {
                let local = inst.results.first().and_then(|id| pointers.local(*id));
                if local.is_some_and(|local| arrays.contains(&local)) {
                    *node = unroll::dead(values, inst.loc);
                }
            }
            _ => {}
        }
    }
}
