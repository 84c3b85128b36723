//! Builds one function: appends instructions with their types computed, opens and closes the structured statements.
//!
//! Operations on constants are folded as [`eval`](super::eval) defines them: pure scalar operations, but never a division by zero (a
//! finding on the device, a trap on the host). Code after a `break`, `continue` or `return` of the same block is dropped, and its values
//! are replaced by zeros that nothing uses. Instructions get the place that was last passed to [`Builder::set_loc`].
//!
//! A kernel's pointers are all `generic` at first; `infer_spaces` finds their spaces afterwards. Misuse (an operand of a wrong type, an
//! `else` without an `if`) is a bug of the caller and panics; checks that cost time are in debug builds only.

mod control;
mod inst;

use super::{
    Block, Function, FunctionKind, LabelId, LocId, LocalId, LocalVar, MemType, Node, Operand,
    Param, Routine, RoutineId, SharedId, SharedVar, Slot, SlotId, Type,
};

/// A function under construction.
#[derive(Debug)]
pub struct Builder {
    function: Function,
    loc: LocId,
    /// Innermost last; the first is the function's body.
    open: Vec<Open>,
    /// Routines that have been closed.
    routines: Vec<(RoutineId, Block)>,
}

/// A block that is being filled, and the statement that it will be part of.
#[derive(Debug)]
struct Open {
    nodes: Vec<Node>,
    /// Whether no lane reaches this point any more: then appended code is dropped.
    dead: bool,
    what: What,
}

#[derive(Debug)]
enum What {
    Body,
    Then {
        cond: Operand,
        is_guard: bool,
        loc: LocId,
    },
    Else {
        cond: Operand,
        loc: LocId,
        then: Block,
        then_dead: bool,
    },
    LoopBody {
        label: LabelId,
        unroll: Option<u32>,
        loc: LocId,
    },
    LoopStep {
        label: LabelId,
        unroll: Option<u32>,
        loc: LocId,
        body: Block,
    },
    Scope {
        label: LabelId,
        loc: LocId,
    },
    Routine(RoutineId),
}

/// The tables: variables, temporaries, labels.
impl Builder {
    /// An empty function defined at `loc`.
    pub fn new(name: impl Into<String>, kind: FunctionKind, loc: LocId) -> Builder {
        let function = Function {
            name: name.into(),
            kind,
            params: vec![],
            result: None,
            slots: vec![],
            values: vec![],
            shared: vec![],
            locals: vec![],
            routines: vec![],
            labels: 0,
            launch_bounds: None,
            compiled_by: None,
            body: Block::default(),
            loc,
        };
        let body = Open {
            nodes: vec![],
            dead: false,
            what: What::Body,
        };
        Builder {
            function,
            loc,
            open: vec![body],
            routines: vec![],
        }
    }

    /// The number of open blocks, including the function's body.
    pub fn nesting(&self) -> usize {
        self.open.len()
    }

    /// What the function returns (host functions).
    pub fn set_result(&mut self, result: Option<Type>) {
        self.function.result = result;
    }

    /// Says which compiler's PTX it is made of.
    pub fn set_compiled_by(&mut self, compiler: &str) {
        self.function.compiled_by = Some(compiler.to_string());
    }

    /// `__launch_bounds__`.
    pub fn set_launch_bounds(&mut self, max_threads: u32, min_blocks: Option<u32>) {
        self.function.launch_bounds = Some((max_threads, min_blocks));
    }

    /// Sets the place of the instructions that follow. Returns the previous one.
    pub fn set_loc(&mut self, loc: LocId) -> LocId {
        std::mem::replace(&mut self.loc, loc)
    }

    /// The current place of instructions.
    pub fn loc(&self) -> LocId {
        self.loc
    }

    /// The function as far as built; its body is filled in by [`Builder::finish`].
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// A new variable.
    pub fn slot(&mut self, name: impl Into<String>, ty: Type) -> SlotId {
        let id = SlotId(self.function.slots.len() as u32);
        let name = name.into();
        self.function.slots.push(Slot { name, ty });
        id
    }

    /// A new parameter and its slot. Name and type are the slot's; a struct's members get one parameter each.
    pub fn param(
        &mut self,
        name: impl Into<String>,
        ty: Type,
        c_type: impl Into<String>,
        pointee: Option<MemType>,
        is_const: bool,
        is_restrict: bool,
    ) -> SlotId {
        let slot = self.slot(name, ty);
        self.function.params.push(Param {
            slot,
            c_type: c_type.into(),
            pointee,
            is_const,
            is_restrict,
        });
        slot
    }

    /// A new variable in the thread's memory.
    pub fn local(&mut self, local: LocalVar) -> LocalId {
        self.function.locals.push(local);
        LocalId(self.function.locals.len() as u32 - 1)
    }

    /// A new variable in shared memory. `offset_bytes` is computed by [`Builder::finish`].
    pub fn shared(&mut self, shared: SharedVar) -> SharedId {
        self.function.shared.push(shared);
        SharedId(self.function.shared.len() as u32 - 1)
    }

    /// A new routine. Its code comes between [`Builder::open_routine`] and [`Builder::close`].
    pub fn routine(&mut self, routine: Routine) -> RoutineId {
        self.function.routines.push(routine);
        RoutineId(self.function.routines.len() as u32 - 1)
    }

    /// A new label, for [`Builder::open_loop_at`] and [`Builder::open_scope_at`].
    pub fn label(&mut self) -> LabelId {
        self.function.labels += 1;
        LabelId(self.function.labels - 1)
    }

    /// The type of an operand.
    pub fn value_type(&self, operand: Operand) -> Type {
        match operand {
            Operand::Value(id) => self.function.values[id.index()],
            Operand::Const(constant) => constant.ty,
        }
    }

    /// The type of a variable.
    pub fn slot_type(&self, slot: SlotId) -> Type {
        self.function.slots[slot.index()].ty
    }

    /// Whether no lane can reach the place where the next instruction would go.
    pub fn is_dead(&self) -> bool {
        self.innermost().dead
    }

    /// The function. Every block must be closed.
    pub fn finish(mut self) -> Function {
        let body = self.open.pop().expect("the body is open");
        assert!(
            self.open.is_empty() && matches!(body.what, What::Body),
            "a block is still open"
        );
        self.routines.sort_by_key(|(id, _)| *id);
        let routines = self.routines.into_iter();
        let routines = routines.map(|(id, body)| Node::Routine { id, body });
        self.function.body = Block(routines.chain(body.nodes).collect());
        layout_shared(&mut self.function.shared);
        self.function
    }

    fn innermost(&self) -> &Open {
        self.open.last().expect("the body is open")
    }

    fn push_node(&mut self, node: Node) {
        let block = self.open.last_mut().expect("the body is open");
        if !block.dead {
            block.nodes.push(node);
        }
    }

    fn end_block(&mut self, node: Node) {
        self.push_node(node);
        self.open.last_mut().expect("the body is open").dead = true;
    }

    /// Opens a block; it is dead if the enclosing one is.
    fn open(&mut self, what: What) {
        let dead = self.innermost().dead && !matches!(what, What::Routine(_));
        self.open.push(Open {
            nodes: vec![],
            dead,
            what,
        });
    }

    fn pop(&mut self) -> Open {
        assert!(self.open.len() > 1, "no block is open");
        self.open.pop().expect("the body is open")
    }
}

/// Gives shared variables their offsets: static ones in order, each aligned; dynamic ones after them, aligned to 16.
pub fn layout_shared(shared: &mut [SharedVar]) {
    let mut end: u64 = 0;
    for var in shared.iter_mut().filter(|var| !var.dynamic) {
        var.offset_bytes = end.next_multiple_of(var.align_bytes.max(1));
        end = var.offset_bytes + var.size_bytes;
    }
    for var in shared.iter_mut().filter(|var| var.dynamic) {
        var.offset_bytes = end.next_multiple_of(16);
    }
}

#[cfg(test)]
mod tests;
