//! Lowers one function of the IR: a kernel with everything it calls inlined, or a host function.
//!
//! A [`Frame`] is one activation of a source function; inlining pushes another. Each variable of a frame has a [`Home`]: slots (one per
//! leaf), memory, or just the operands it was declared with if it is never written after that. All activations of an inlined function in a
//! kernel share the memory of its variables, as they would share a stack frame; each activation has new slots.

use std::{
    collections::{BTreeSet, HashMap},
    rc::Rc,
    sync::Arc,
};

use crate::arena::Arena;
use crate::sema::{
    ty::{QualTy, Ty},
    typed::{
        self, FunctionId, FunctionSpace, Global, GlobalSpace, GlobalVarId, Place, Storage, Value,
        ValueKind, Var, VarId,
    },
};
use ir::{
    Builder, Const, Function, FunctionKind, LabelId, LocId, LocalId, LocalVar, Object, Operand,
    SharedId, SharedVar, SlotId, ValueId, span::Span,
};

use super::{
    Lowerer,
    facts::Facts,
    layout::{self, GENERIC},
    lifetimes,
    place::{Address, Location, Row},
    routine::Routines,
    stmt::Jump,
    text::Texts,
    tidy::tidy,
};

/// Where a variable is.
#[derive(Clone, Debug)]
pub(super) enum Home {
    /// One slot per leaf.
    Slots(Vec<SlotId>),
    /// Never written after its declaration: these are its leaves.
    Fixed(Vec<Operand>),
    /// In memory.
    Memory(Object),
    /// A reference, with the location of the place that it names.
    Place(Location),
}

/// What `return` does.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    /// Ends the lane.
    Kernel,
    /// Returns from a host function; a record is stored through the pointer in the slot.
    Host(Option<SlotId>),
    /// Leaves the scope with the leaves of the result in slots.
    Scope(LabelId, Vec<SlotId>),
    /// The result: the `return` is the last statement.
    Tail(Vec<Operand>),
    /// The same for a function that returns a reference.
    TailPlace(Option<Location>),
}

/// Where `break` and `continue` go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) on_break: LabelId,
    /// `None` in a `switch`: the enclosing loop's.
    pub(super) on_continue: Option<Jump>,
}

/// One activation of a source function.
pub(super) struct Frame<'p> {
    pub(super) id: FunctionId,
    pub(super) function: &'p typed::Function,
    pub(super) facts: Rc<Facts>,
    /// Variables that need memory because of references to them.
    in_memory: Rc<BTreeSet<VarId>>,
    pub(super) homes: Arena<VarId, Option<Home>>,
    /// The call that was inlined.
    pub(super) via: Option<LocId>,
    pub(super) exit: Exit,
    pub(super) targets: Vec<Target>,
    /// Labels that follow, with the scopes that end there.
    pub(super) labels: Vec<(u32, LabelId)>,
}

/// A shared or local variable, in whichever activation it is named.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ObjectKey {
    Var(FunctionId, VarId),
    Global(GlobalVarId),
}

/// Lowers one function of the IR.
pub(super) struct FunctionLowerer<'a, 'p> {
    pub(super) m: &'a mut Lowerer<'p>,
    pub(super) b: Builder,
    pub(super) frame: Frame<'p>,
    /// Kernel code: contraction, inlining.
    pub(super) is_device: bool,
    /// Whether inlining would make the kernel too large; reported once.
    pub(super) is_too_large: bool,
    /// Number of calls inlined so far.
    pub(super) inlined: u32,
    /// Number of blocks and inlined functions around the current place.
    pub(super) depth: u32,
    /// Whether loads are through `__ldg`.
    pub(super) reads_only: bool,
    shared: HashMap<ObjectKey, SharedId>,
    pub(super) locals: HashMap<ObjectKey, LocalId>,
    /// Pointers whose last index is a subscript of an array that is part of a larger object.
    pub(super) rows: HashMap<ValueId, Row>,
    /// What pointers into aligned records are aligned to.
    pub(super) aligns: HashMap<ValueId, u64>,
    /// Only used in a kernel.
    pub(super) routines: Routines,
}

/// Lowers a kernel or host function.
pub(super) fn lower_function(m: &mut Lowerer<'_>, id: FunctionId) -> Function {
    let function = m.function(id);
    let is_device = function.space == FunctionSpace::Kernel;
    let kind = if is_device {
        FunctionKind::Kernel
    } else {
        FunctionKind::Host
    };
    let loc = m.locs.plain(function.span, None);
    let mut lowerer = FunctionLowerer {
        b: Builder::new(function.name.clone(), kind, loc),
        frame: Frame::new(m, id, is_device, None, Exit::Kernel),
        m,
        is_device,
        is_too_large: false,
        inlined: 0,
        depth: 0,
        reads_only: false,
        shared: HashMap::new(),
        locals: HashMap::new(),
        rows: HashMap::new(),
        aligns: HashMap::new(),
        routines: Routines::default(),
    };
    lowerer.signature();
    lowerer.stmts(function.body.as_deref().unwrap_or_default());
    lowerer.end();
    lowerer.lower_routines();
    let mut function = lowerer.b.finish();
    lifetimes::strip(&mut function);
    tidy(&mut function);
    function
}

impl<'p> Frame<'p> {
    pub(super) fn new(
        m: &mut Lowerer<'p>,
        id: FunctionId,
        is_device: bool,
        via: Option<LocId>,
        exit: Exit,
    ) -> Frame<'p> {
        let function = m.function(id);
        Frame {
            id,
            function,
            facts: m.facts(id),
            in_memory: m.in_memory(id, is_device),
            homes: function.vars.iter().map(|_| None).collect(),
            via,
            exit,
            targets: vec![],
            labels: vec![],
        }
    }

    pub(super) fn var(&self, id: VarId) -> &'p Var {
        &self.function.vars[id]
    }
}

impl<'a, 'p> FunctionLowerer<'a, 'p> {
    /// A function used to fold constants in, and discarded afterwards. Sema leaves no names of variables in constants.
    pub(super) fn scratch(m: &'a mut Lowerer<'p>) -> FunctionLowerer<'a, 'p> {
        static NO_FUNCTION: typed::Function = typed::Function {
            name: String::new(),
            space: FunctionSpace::Host,
            result: Ty::Void,
            returns_reference: false,
            params: vec![],
            vars: Arena::new(),
            launch_bounds: None,
            on_host: None,
            body: None,
            span: Span {
                file: ir::span::FileId(0),
                start: 0,
                end: 0,
                expansion: ir::span::ExpansionId::NONE,
            },
        };
        let frame = Frame {
            id: FunctionId(u32::MAX),
            function: &NO_FUNCTION,
            facts: Rc::new(Facts::default()),
            in_memory: Rc::default(),
            homes: Arena::new(),
            via: None,
            exit: Exit::Kernel,
            targets: vec![],
            labels: vec![],
        };
        FunctionLowerer {
            m,
            b: Builder::new("", FunctionKind::Host, LocId(0)),
            frame,
            is_device: false,
            is_too_large: false,
            inlined: 0,
            depth: 0,
            reads_only: false,
            shared: HashMap::new(),
            locals: HashMap::new(),
            rows: HashMap::new(),
            aligns: HashMap::new(),
            routines: Routines::default(),
        }
    }

    /// Sets the place of the instructions that follow.
    pub(super) fn at(&mut self, span: Span) {
        let loc = self.m.locs.plain(span, self.frame.via);
        self.b.set_loc(loc);
    }

    /// Sets the place of the accesses that follow to the place with this source.
    pub(super) fn at_access(&mut self, span: Span) {
        let loc = self.m.locs.access(span, self.frame.via);
        self.b.set_loc(loc);
    }

    /// Sets the place of the accesses that follow to this place.
    pub(super) fn at_place(&mut self, place: &Place) {
        let texts = Texts {
            map: self.m.locs.map,
            layout: self.m.layout,
        };
        match texts.scattered(place) {
            None => self.at_access(place.span),
            Some(text) => {
                let loc = self.m.locs.named(place.span, self.frame.via, &text);
                self.b.set_loc(loc);
            }
        }
    }

    fn signature(&mut self) {
        let function = self.frame.function;
        if let Some((max_threads, min_blocks)) = function.launch_bounds {
            self.b.set_launch_bounds(max_threads, min_blocks);
        }
        if !self.is_device {
            self.frame.exit = Exit::Host(self.result_pointer(&function.result));
        }
        let params: Vec<(VarId, Vec<SlotId>)> = function
            .params
            .iter()
            .map(|&id| (id, self.param(function.var(id))))
            .collect();
        for (id, slots) in params {
            let var = function.var(id);
            self.at_access(var.span);
            if var.is_reference {
                let leaves: Vec<Operand> = slots.into_iter().map(|slot| self.b.get(slot)).collect();
                let pointer = leaves
                    .first()
                    .copied()
                    .unwrap_or(Const::zero(GENERIC).into());
                let place = Location::Memory(Address::at(pointer));
                self.frame.homes[id] = Some(Home::Place(place));
            } else if self.lives_in_slots(id) {
                self.frame.homes[id] = Some(Home::Slots(slots));
            } else {
                let leaves = slots.into_iter().map(|slot| self.b.get(slot)).collect();
                self.store_var(id, leaves);
            }
        }
    }

    /// On the host a record is returned through a pointer that the caller passes first.
    fn result_pointer(&mut self, result: &Ty) -> Option<SlotId> {
        if layout::mem_type(result).is_some() {
            self.b.set_result(Some(layout::value_type(result)));
            return None;
        }
        matches!(result, Ty::Record(_)).then(|| {
            let c_type = self.m.layout.c_type(&result.clone().into()) + " *";
            self.b.param("result", GENERIC, c_type, None, false, false)
        })
    }

    fn param(&mut self, var: &Var) -> Vec<SlotId> {
        let leaves = if var.is_reference {
            vec![(
                var.name.clone(),
                Ty::Pointer(Arc::new(var.ty.clone())).into(),
            )]
        } else {
            self.m.layout.named_leaves(&var.name, &var.ty)
        };
        let leaves = leaves.into_iter().map(|(name, ty): (String, QualTy)| {
            let pointee = match &ty.ty {
                Ty::Pointer(pointee) => Some(pointee.as_ref()),
                _ => None,
            };
            let mem = pointee.and_then(|pointee| layout::mem_type(&pointee.ty));
            let is_const = pointee.is_some_and(|pointee| pointee.is_const);
            let c_type = self.m.layout.c_type(&ty);
            let ty = layout::value_type(&ty.ty);
            let is_restrict = pointee.is_some() && var.is_restrict;
            self.b.param(name, ty, c_type, mem, is_const, is_restrict)
        });
        leaves.collect()
    }

    /// Lowers reaching the closing brace.
    fn end(&mut self) {
        if self.b.is_dead() {
            return;
        }
        let result = &self.frame.function.result;
        match layout::mem_type(result) {
            Some(mem) if !self.is_device => {
                let zero = Const::zero(mem.value_type()).into();
                self.b.return_value(Some(zero));
            }
            _ => {}
        }
    }

    /// Whether a variable needs no memory.
    pub(super) fn lives_in_slots(&self, id: VarId) -> bool {
        let var = self.frame.var(id);
        let needs_memory = var.address_taken || self.frame.in_memory.contains(&id);
        var.storage == Storage::Auto && !needs_memory && self.m.layout.splits(&var.ty.ty)
    }

    /// The home of a variable; slots and memory are made on first use.
    pub(super) fn home(&mut self, id: VarId) -> Home {
        if let Some(home) = &self.frame.homes[id] {
            return home.clone();
        }
        let var = self.frame.var(id);
        if var.is_reference {
            self.m.internal(var.span, "a reference that is not bound");
        }
        let home = if self.lives_in_slots(id) {
            Home::Slots(self.slots_of(&var.name, &var.ty))
        } else {
            Home::Memory(self.object_of(id, var))
        };
        self.frame.homes[id] = Some(home.clone());
        // A temporary has no declaration: it begins at its first use and ends with the function.
        let ends = !matches!(self.frame.exit, Exit::Kernel | Exit::Host(_));
        if ends && !self.frame.facts.is_declared(id) && !self.frame.function.params.contains(&id) {
            self.begins(id);
        }
        home
    }

    /// Gives a variable that is declared with a value its home and the value.
    pub(super) fn define_var(&mut self, id: VarId, leaves: Vec<Operand>) {
        if self.lives_in_slots(id) && self.frame.facts.is_fixed(id) {
            self.frame.homes[id] = Some(Home::Fixed(leaves));
        } else {
            self.store_var(id, leaves);
        }
    }

    fn store_var(&mut self, id: VarId, leaves: Vec<Operand>) {
        match self.home(id) {
            Home::Slots(slots) => self.set_all(&slots, &leaves),
            Home::Memory(object) => {
                let var = self.frame.var(id);
                self.store_object(object, &var.ty, &leaves);
            }
            Home::Fixed(_) | Home::Place(_) => {}
        }
    }

    /// Declares a reference with the address that it is bound to.
    pub(super) fn bind_reference(&mut self, id: VarId, value: &Value) {
        let place = self.referred(value);
        self.name_place(id, place);
    }

    /// The location of the place that a reference is bound to; computed once, here.
    pub(super) fn referred(&mut self, value: &Value) -> Location {
        let ValueKind::AddressOf(place) = &value.kind else {
            let pointer = self.value(value);
            return Location::Memory(Address::at(pointer));
        };
        match self.locate(place) {
            Location::Memory(address) => Location::Memory(self.closed(address, place.span)),
            found @ (Location::Slots(_) | Location::Values(_)) => found,
        }
    }

    /// Makes a reference the name of a place.
    pub(super) fn name_place(&mut self, id: VarId, place: Location) {
        let var = self.frame.var(id);
        let needs_memory = var.address_taken || self.frame.in_memory.contains(&id);
        let place = match place {
            Location::Values(leaves) if needs_memory => {
                Location::Memory(self.spilled(leaves, &var.ty, var.span))
            }
            // The object of a member function that changes it: a value needs a variable.
            Location::Values(leaves) if !var.ty.is_const => {
                if self.m.layout.splits(&var.ty.ty) {
                    let slots = self.slots_of(&var.name, &var.ty);
                    self.set_all(&slots, &leaves);
                    Location::Slots(slots)
                } else {
                    Location::Memory(self.spilled(leaves, &var.ty, var.span))
                }
            }
            place => place,
        };
        self.frame.homes[id] = Some(Home::Place(place));
    }

    /// New slots for the leaves of a type.
    pub(super) fn slots_of(&mut self, name: &str, ty: &QualTy) -> Vec<SlotId> {
        let leaves = self.m.layout.named_leaves(name, ty);
        let leaves = leaves.into_iter();
        leaves
            .map(|(name, ty)| self.b.slot(name, layout::value_type(&ty.ty)))
            .collect()
    }

    pub(super) fn set_all(&mut self, slots: &[SlotId], leaves: &[Operand]) {
        for (&slot, &leaf) in slots.iter().zip(leaves) {
            self.b.set(slot, leaf);
        }
    }

    pub(super) fn get_all(&mut self, slots: &[SlotId]) -> Vec<Operand> {
        slots.iter().map(|&slot| self.b.get(slot)).collect()
    }

    fn object_of(&mut self, id: VarId, var: &Var) -> Object {
        let key = ObjectKey::Var(self.frame.id, id);
        match var.storage {
            Storage::Auto => self.local_of(key, var),
            Storage::Shared | Storage::SharedDynamic => {
                let dynamic = var.storage == Storage::SharedDynamic;
                self.shared_of(key, &var.name, &var.ty, var.align_bytes, dynamic, var.span)
            }
        }
    }

    fn local_of(&mut self, key: ObjectKey, var: &Var) -> Object {
        if let Some(&id) = self.locals.get(&key) {
            return Object::Local(id);
        }
        let id = self.local_var(&var.name, &var.ty, var.align_bytes, var.span);
        self.locals.insert(key, id);
        Object::Local(id)
    }

    fn local_var(&mut self, name: &str, ty: &QualTy, align_bytes: u64, span: Span) -> LocalId {
        let layout = self.m.layout;
        let (element, dims) = layout::array_dims(&ty.ty);
        let loc = self.m.locs.plain(span, self.frame.via);
        self.b.local(LocalVar {
            name: name.to_string(),
            c_type: layout.c_type(&element.clone().into()),
            element_bytes: layout.size(element),
            dims,
            size_bytes: layout.size(&ty.ty),
            align_bytes: align_bytes.max(layout.align(&ty.ty)),
            loc,
        })
    }

    /// Memory for a value that needs an address and has none.
    pub(super) fn temporary(&mut self, ty: &Ty, span: Span) -> Object {
        let ty = QualTy::from(ty.clone());
        Object::Local(self.local_var("temporary", &ty, 1, span))
    }

    fn shared_of(
        &mut self,
        key: ObjectKey,
        name: &str,
        ty: &QualTy,
        align_bytes: u64,
        dynamic: bool,
        span: Span,
    ) -> Object {
        if let Some(&id) = self.shared.get(&key) {
            return Object::Shared(id);
        }
        let layout = self.m.layout;
        let (element, dims) = layout::array_dims(&ty.ty);
        let loc = self.m.locs.plain(span, None);
        let id = self.b.shared(SharedVar {
            name: name.to_string(),
            c_type: layout.c_type(&element.clone().into()),
            element_bytes: layout.size(element),
            dims,
            size_bytes: if dynamic { 0 } else { layout.size(&ty.ty) },
            align_bytes: align_bytes.max(layout.align(&ty.ty)),
            dynamic,
            offset_bytes: 0,
            loc,
        });
        self.shared.insert(key, id);
        Object::Shared(id)
    }

    /// The object of a variable that outlives functions.
    pub(super) fn global_object(&mut self, id: GlobalVarId) -> Object {
        let global: &'p Global = &self.m.program.globals[id];
        let dynamic = global.space == GlobalSpace::SharedDynamic;
        if dynamic || global.space == GlobalSpace::Shared {
            let key = ObjectKey::Global(id);
            let (name, ty) = (&global.name, &global.ty);
            return self.shared_of(key, name, ty, global.align_bytes, dynamic, global.span);
        }
        match self.m.global(id) {
            Some(id) => Object::Global(id),
            None => {
                self.m
                    .internal(global.span, "a variable that no reachable function names");
                Object::Global(Default::default())
            }
        }
    }
}

impl typed::Function {
    fn var(&self, id: VarId) -> &Var {
        &self.vars[id]
    }
}
