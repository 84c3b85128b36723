//! Determines which values are the same in all lanes of a warp, and in which statements lanes diverge.
//!
//! The analysis assumes a warp in lockstep: a load through one address runs once for all lanes and gives all of them
//! the same value, whatever other warps do. A slot is uniform if every value it is set to is uniform, and if no lane
//! can miss an assignment: seen from the slot's home, no assignment is in a statement in which lanes diverge. The
//! *home* is the innermost block with all accesses, if the first of them is an assignment directly in that block;
//! otherwise it is the function's body. (From that assignment on, the active lanes of the home can only become fewer,
//! so a lane that reads has seen all assignments.)
//!
//! The parameters and results of routines vary, and so do the results of calls. Everything else starts as uniform and
//! is demoted until nothing changes.

use ir::{Block, Effect, Function, InstKind, LabelId, Node, Operand, SlotId, Space, Varies};

/// The result.
#[derive(Debug, Default)]
pub(super) struct Uniformity {
    /// Per value: may differ between lanes.
    pub(super) values: Vec<bool>,
    /// Per slot: may differ between lanes.
    pub(super) slots: Vec<bool>,
    /// Per label: whether lanes leave or continue it at different times.
    pub(super) labels: Vec<bool>,
    /// Per slot: the number, in the order of the text, of the assignment that begins its life in its home.
    pub(super) first_set: Vec<Option<u32>>,
}

#[derive(Clone, Copy)]
enum Around {
    If { parts: bool },
    Label(LabelId),
}

#[derive(Clone, Default)]
struct Home {
    path: Option<Vec<u32>>,
    first: Option<(Vec<u32>, Option<u32>)>,
}

struct Analysis<'a> {
    function: &'a Function,
    row_warps: bool,
    result: Uniformity,
    home_depth: Vec<usize>,
    around: Vec<Around>,
    changed: bool,
}

/// Analyses a kernel. `row_warps`: `tid.y` and `tid.z` are the same in all lanes of a warp.
pub(super) fn analyse(function: &Function, row_warps: bool) -> Uniformity {
    let mut homes = vec![Home::default(); function.slots.len()];
    Homes {
        homes: &mut homes,
        path: Vec::new(),
        next_block: 0,
        next_set: 0,
    }
    .block(&function.body);
    // Each lane passes separate parameters and results.
    let mut passed = vec![false; homes.len()];
    for routine in &function.routines {
        for slot in routine.params.iter().chain(&routine.results) {
            passed[slot.index()] = true;
        }
    }
    let mut first_set = vec![None; homes.len()];
    let mut home_depth = vec![0; homes.len()];
    for (slot, home) in homes.iter().enumerate() {
        if let (Some(path), Some((first, Some(set)))) = (&home.path, &home.first)
            && path == first
            && !passed[slot]
            && !function
                .params
                .iter()
                .any(|param| param.slot.index() == slot)
        {
            first_set[slot] = Some(*set);
            home_depth[slot] = path.len();
        }
    }
    let mut analysis = Analysis {
        function,
        row_warps,
        result: Uniformity {
            values: vec![false; function.values.len()],
            slots: passed,
            labels: vec![false; function.labels as usize],
            first_set,
        },
        home_depth,
        around: Vec::new(),
        changed: true,
    };
    while analysis.changed {
        analysis.changed = false;
        analysis.block(&function.body);
    }
    analysis.result
}

/// Finds the homes of slots. A path is the list of nested blocks by number, without the function's body.
struct Homes<'a> {
    homes: &'a mut [Home],
    path: Vec<u32>,
    next_block: u32,
    next_set: u32,
}

impl Homes<'_> {
    fn block(&mut self, block: &Block) {
        for node in &block.0 {
            if let Node::Inst(inst) = node {
                match &inst.kind {
                    InstKind::Get(slot) => self.access(*slot, None),
                    InstKind::Set(slot, _) => {
                        self.access(*slot, Some(self.next_set));
                        self.next_set += 1;
                    }
                    _ => {}
                }
            }
            for inner in node.blocks() {
                self.path.push(self.next_block);
                self.next_block += 1;
                self.block(inner);
                self.path.pop();
            }
        }
    }

    fn access(&mut self, slot: SlotId, set: Option<u32>) {
        let home = &mut self.homes[slot.index()];
        match &mut home.path {
            None => home.path = Some(self.path.clone()),
            Some(path) => {
                let common = path
                    .iter()
                    .zip(&self.path)
                    .take_while(|(a, b)| a == b)
                    .count();
                path.truncate(common);
            }
        }
        home.first.get_or_insert_with(|| (self.path.clone(), set));
    }
}

impl Analysis<'_> {
    fn varies(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Value(id) => self.result.values[id.index()],
            Operand::Const(_) => false,
        }
    }

    fn demote_label(&mut self, label: LabelId) {
        let parted = self
            .around
            .iter()
            .rev()
            .take_while(|around| !matches!(around, Around::Label(l) if *l == label));
        let parted = parted.into_iter().any(|&around| self.parts(around));
        if parted && !self.result.labels[label.index()] {
            self.result.labels[label.index()] = true;
            self.changed = true;
        }
    }

    fn parts(&self, around: Around) -> bool {
        match around {
            Around::If { parts } => parts,
            Around::Label(label) => self.result.labels[label.index()],
        }
    }

    fn nested(&mut self, around: Around, block: &Block) {
        self.around.push(around);
        self.block(block);
        self.around.pop();
    }

    fn block(&mut self, block: &Block) {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => self.inst(inst),
                Node::If {
                    cond,
                    then,
                    otherwise,
                    ..
                } => {
                    let parts = self.varies(cond);
                    self.nested(Around::If { parts }, then);
                    self.nested(Around::If { parts }, otherwise);
                }
                Node::Loop {
                    label, body, step, ..
                } => {
                    self.nested(Around::Label(*label), body);
                    self.nested(Around::Label(*label), step);
                }
                Node::Scope { label, body, .. } => self.nested(Around::Label(*label), body),
                Node::Routine { body, .. } => self.nested(Around::If { parts: false }, body),
                Node::Break(label) | Node::Continue(label) => self.demote_label(*label),
                Node::Return(_) => {}
            }
        }
    }

    fn inst(&mut self, inst: &ir::Inst) {
        let any_operand = || {
            inst.kind
                .operands()
                .into_iter()
                .any(|operand| self.varies(operand))
        };
        let varies = match &inst.kind {
            InstKind::Set(slot, value) => {
                let index = slot.index();
                let depth = self.home_depth[index].min(self.around.len());
                let missed = self.around[depth..]
                    .iter()
                    .any(|&around| self.parts(around));
                if (missed || self.varies(value)) && !self.result.slots[index] {
                    self.result.slots[index] = true;
                    self.changed = true;
                }
                return;
            }
            InstKind::Get(slot) => self.result.slots[slot.index()],
            InstKind::Special(register) => match register.varies() {
                Varies::Lane => true,
                Varies::Row => !self.row_warps,
                Varies::Block | Varies::Grid | Varies::Time | Varies::Place => false,
            },
            InstKind::AddrOf(_) | InstKind::Barrier(_) => false,
            InstKind::Exchange(exchange) => {
                !exchange.agrees()
                    || inst
                        .kind
                        .operands()
                        .into_iter()
                        .any(|operand| exchange.decides(*operand) && self.varies(operand))
            }
            InstKind::Load(access, ptr) => {
                matches!(access.space, Space::Local | Space::Generic) || self.varies(ptr)
            }
            InstKind::Atomic { .. } | InstKind::CallRoutine(..) => true,
            other => match other.effect() {
                Effect::Pure => any_operand(),
                Effect::Lanes | Effect::Act => true,
                // A host function has one thread. A kernel's calls are handled above.
                Effect::Call => false,
                // Instructions with a result are handled above. A new one may give each lane a different result.
                Effect::Variable | Effect::Memory | Effect::Order => true,
            },
        };
        debug_assert_eq!(self.function.values.len(), self.result.values.len());
        for result in &inst.results {
            if varies && !self.result.values[result.index()] {
                self.result.values[result.index()] = true;
                self.changed = true;
            }
        }
    }
}
