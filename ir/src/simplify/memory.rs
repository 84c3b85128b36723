//! Pass: makes a host function read a place of memory only once while nothing may change it, and test a condition only once.
//!
//! Each subscript of a vector reads the vector's size and the address of its items; `while (text[i] && text[i] != ' ')` reads a byte twice.
//! A C++ compiler reads such a place once, and host code runs only for its results: its accesses are not counted. Kernels are unchanged,
//! because the simulator counts their loads and branches.
//!
//! After a load or a store, the contents of the place are known until a store that may overlap it, or a call. Other code cannot reach
//! variables whose address is not kept ([`Escaping`]): they are read before a loop that does not write them. The condition is known after an
//! `if` of which one side jumps elsewhere. `volatile` accesses stay.

use rustc_hash::FxHashMap;

use super::{Simplifier, remove_unused};
use crate::renumber::renumber;
use crate::{
    Access, Block, Const, Effect, FuncId, Function, FunctionKind, HostFn, Inst, InstKind, LocId,
    LocalId, MemType, Module, Node, Object, Operand, SlotId, Space, Type, ValueId,
};

/// The largest number of known loads: each store looks at all of them.
const MAX_KNOWN: usize = 64;

/// Removes repeated loads and conditions of every host function of a simplified module.
pub fn forward_loads(module: &mut Module) {
    let kept = Escaping::of(module);
    for function in &mut module.functions {
        if function.kind == FunctionKind::Host {
            while forward(function, &kept) {}
        }
    }
}

/// One round. Returns whether anything changed.
fn forward(function: &mut Function, kept: &Escaping) -> bool {
    let mut addresses = Addresses::of(function);
    for (root, callee, number) in std::mem::take(&mut addresses.given) {
        if kept.keeps(callee, number) {
            addresses.keep_root(root);
        }
    }
    let mut simplifier = Simplifier {
        aliases: vec![None; function.values.len()],
        memory: Some(Memory {
            addresses,
            sizes: function.locals.iter().map(|it| it.size_bytes).collect(),
            values: std::mem::take(&mut function.values),
            known: Vec::new(),
        }),
        ..Simplifier::default()
    };
    let body = std::mem::take(&mut function.body);
    function.body = simplifier.block(body);
    let memory = simplifier.memory.take().expect("it was there");
    function.values = memory.values;
    let removed = remove_unused(function);
    renumber(function);
    simplifier.changed || removed
}

/// By function: the parameters of host functions that other code may still reach after the function has returned.
struct Escaping(Vec<Vec<bool>>);

impl Escaping {
    /// A parameter is kept by its own function, or by a function that it is passed to.
    fn of(module: &Module) -> Escaping {
        let params = module
            .functions
            .iter()
            .map(|it| vec![false; it.params.len()]);
        let mut kept = Escaping(params.collect());
        let mut handed_on: FxHashMap<(FuncId, usize), Vec<(FuncId, usize)>> = FxHashMap::default();
        let mut new = Vec::new();
        for (index, function) in module.functions.iter().enumerate() {
            if function.kind != FunctionKind::Host {
                continue;
            }
            let addresses = Addresses::of(function);
            let number = |slot| function.params.iter().position(|it| it.slot == slot);
            let id = FuncId(index as u32);
            let own = addresses.kept_slots.iter().filter_map(|&slot| number(slot));
            new.extend(own.map(|number| (id, number)));
            for &(root, callee, at) in &addresses.given {
                if let Base::Param(slot) = root
                    && let Some(number) = number(slot)
                {
                    let from = handed_on.entry((callee, at)).or_default();
                    from.push((id, number));
                }
            }
        }
        while let Some((function, number)) = new.pop() {
            // A call with too many arguments keeps them all.
            let known = kept.0[function.index()].get_mut(number);
            if known.is_none_or(|known| !std::mem::replace(known, true)) {
                new.extend(handed_on.remove(&(function, number)).unwrap_or_default());
            }
        }
        kept
    }

    fn keeps(&self, function: FuncId, number: usize) -> bool {
        self.0[function.index()].get(number) != Some(&false)
    }
}

/// The base of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Base {
    Object(Object),
    /// The pointer in a parameter.
    Param(SlotId),
    Value(ValueId),
    Const(Const),
}

/// The place of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    base: Base,
    /// Index, whether it is unsigned, and bytes per index.
    index: Option<(Operand, bool, i64)>,
    offset_bytes: i64,
    /// The object that the base points into, as far as it is known.
    root: Base,
}

/// The addresses in a function.
struct Addresses {
    /// The place of each temporary.
    places: Vec<Option<Place>>,
    /// Parameters and variables whose address may be stored outside of temporaries.
    kept_slots: Vec<SlotId>,
    kept_locals: Vec<LocalId>,
    /// Addresses with this base that are arguments of a call: of this function, at this position.
    given: Vec<(Base, FuncId, usize)>,
}

impl Addresses {
    fn of(function: &Function) -> Addresses {
        let mut addresses = Addresses {
            places: vec![None; function.values.len()],
            kept_slots: Vec::new(),
            kept_locals: Vec::new(),
            given: Vec::new(),
        };
        let params: Vec<SlotId> = function.params.iter().map(|it| it.slot).collect();
        function
            .body
            .for_each_inst(&mut |inst| addresses.define(inst, &params));
        function.body.for_each_node(&mut |node| {
            match node {
                Node::Inst(inst) => addresses.note_kept(&inst.kind),
                Node::Return(Some(value)) => addresses.keep(*value),
                _ => {}
            };
        });
        addresses
    }

    fn define(&mut self, inst: &Inst, params: &[SlotId]) {
        let &[result] = inst.results.as_slice() else {
            return;
        };
        let begin = |base| Place {
            base,
            index: None,
            offset_bytes: 0,
            root: base,
        };
        let place = match inst.kind {
            InstKind::AddrOf(object) => begin(Base::Object(object)),
            InstKind::Get(slot) if params.contains(&slot) => Place {
                root: Base::Param(slot),
                ..begin(Base::Value(result))
            },
            InstKind::PtrAdd {
                base,
                index,
                unsigned,
                scale_bytes,
                offset_bytes,
            } => {
                let from = self.place(base);
                let index = (scale_bytes != 0).then_some((index, unsigned, scale_bytes));
                match (index, from.index) {
                    (None, _) | (_, None) => Place {
                        index: index.or(from.index),
                        offset_bytes: from.offset_bytes.wrapping_add(offset_bytes),
                        ..from
                    },
                    (Some(_), Some(_)) => Place {
                        index,
                        offset_bytes,
                        root: from.root,
                        ..begin(base.value().map_or(from.base, Base::Value))
                    },
                }
            }
            _ => return,
        };
        self.places[result.index()] = Some(place);
    }

    fn place(&self, pointer: Operand) -> Place {
        let base = match pointer {
            Operand::Const(value) => Base::Const(value),
            Operand::Value(value) => match self.places.get(value.index()) {
                Some(&Some(place)) => return place,
                _ => Base::Value(value),
            },
        };
        Place {
            base,
            index: None,
            offset_bytes: 0,
            root: base,
        }
    }

    /// The address may be kept anywhere.
    fn keep(&mut self, operand: Operand) {
        self.keep_root(self.place(operand).root);
    }

    fn keep_root(&mut self, root: Base) {
        match root {
            Base::Object(Object::Local(local)) => self.kept_locals.push(local),
            Base::Param(slot) => self.kept_slots.push(slot),
            Base::Object(_) | Base::Value(_) | Base::Const(_) => {}
        }
    }

    fn note_kept(&mut self, kind: &InstKind) {
        match kind {
            InstKind::PtrAdd { .. } | InstKind::Compare(..) | InstKind::Load(..) => {}
            InstKind::Store(_, _, values) => values.iter().for_each(|&value| self.keep(value)),
            InstKind::Call(callee, args) => {
                for (number, &arg) in args.iter().enumerate() {
                    let root = self.place(arg).root;
                    self.given.push((root, *callee, number));
                }
            }
            // A parameter that is assigned another value does not count as a parameter any more.
            InstKind::Set(slot, value) => {
                self.kept_slots.push(*slot);
                self.keep(*value);
            }
            other => other.operands().into_iter().for_each(|it| self.keep(*it)),
        }
    }

    /// Whether a variable is only reached through its name.
    fn is_private(&self, root: Base) -> bool {
        matches!(root, Base::Object(Object::Local(local)) if !self.kept_locals.contains(&local))
    }

    /// Whether accesses of these places, with these numbers of bytes, may overlap.
    fn may_meet(&self, (a, a_bytes): (&Place, u32), (b, b_bytes): (&Place, u32)) -> bool {
        if a.base == b.base && a.index == b.index {
            let (a_from, b_from) = (i128::from(a.offset_bytes), i128::from(b.offset_bytes));
            return a_from < b_from + i128::from(b_bytes) && b_from < a_from + i128::from(a_bytes);
        }
        let are_objects = matches!((a.root, b.root), (Base::Object(_), Base::Object(_)));
        let is_alone = are_objects || self.is_private(a.root) || self.is_private(b.root);
        !is_alone || a.root == b.root
    }
}

/// The known contents of a place.
#[derive(Clone)]
struct StoredValue {
    access: Access,
    place: Place,
    value: Operand,
}

/// The known contents of memory at a place of the function.
pub(super) struct Memory {
    addresses: Addresses,
    /// Bytes of each variable.
    sizes: Vec<u64>,
    /// The type of each temporary, new ones included.
    values: Vec<Type>,
    known: Vec<StoredValue>,
}

/// The known contents, to be restored at the end of a block.
pub(super) struct Saved(Vec<StoredValue>);

/// Whether such a load may use known contents, or such a store makes them known.
fn is_plain(access: &Access) -> bool {
    access.count == 1 && !access.volatile && !access.partial
}

/// Whether loading such a value gives what was stored.
fn is_whole(ty: MemType) -> bool {
    matches!(
        ty,
        MemType::I32 | MemType::I64 | MemType::F32 | MemType::F64 | MemType::Ptr
    )
}

/// Calls that never return, so that their effects on memory do not matter.
pub(super) fn never_returns(kind: &InstKind) -> bool {
    matches!(
        kind,
        InstKind::HostCall(HostFn::AssertFail | HostFn::Abort | HostFn::Exit, _)
    )
}

impl Memory {
    pub(super) fn save(&self) -> Saved {
        Saved(self.known.clone())
    }

    pub(super) fn restore(&mut self, saved: Saved) {
        self.known = saved.0;
    }

    /// The result of a load, if it is known.
    pub(super) fn value(&self, kind: &InstKind) -> Option<Operand> {
        let InstKind::Load(access, pointer) = kind else {
            return None;
        };
        let place = self.addresses.place(*pointer);
        let mut known = self.known.iter();
        known
            .find(|known| known.access == *access && known.place == place)
            .map(|known| known.value)
    }

    /// Records the effects of an instruction.
    pub(super) fn done(&mut self, kind: &InstKind, result: Option<ValueId>) {
        self.forget(kind);
        match (kind, result) {
            (InstKind::Load(access, pointer), Some(result)) => {
                self.learn(access, *pointer, result.into());
            }
            (InstKind::Store(access, pointer, values), _) if is_whole(access.ty) => {
                self.learn(access, *pointer, values[0]);
            }
            _ => {}
        }
    }

    fn learn(&mut self, access: &Access, pointer: Operand, value: Operand) {
        if is_plain(access) && self.known.len() < MAX_KNOWN {
            self.known.push(StoredValue {
                access: *access,
                place: self.addresses.place(pointer),
                value,
            });
        }
    }

    /// Forgets the places that an instruction may change.
    fn forget(&mut self, kind: &InstKind) {
        let mut known = std::mem::take(&mut self.known);
        known.retain(|it| !self.may_change(kind, &it.place, it.access.width_bytes()));
        self.known = known;
    }

    /// Forgets the places that any instruction of these blocks may change.
    pub(super) fn forget_all(&mut self, blocks: &[&Block]) {
        for block in blocks {
            block.for_each_inst(&mut |inst| self.forget(&inst.kind));
        }
    }

    /// Whether an instruction may change this many bytes of a place.
    fn may_change(&self, kind: &InstKind, known: &Place, bytes: u32) -> bool {
        let is_private = self.addresses.is_private(known.root);
        match kind {
            InstKind::Store(access, pointer, _) => {
                let place = self.addresses.place(*pointer);
                self.addresses
                    .may_meet((&place, access.width_bytes()), (known, bytes))
            }
            InstKind::Load(..) => false,
            InstKind::Call(_, args) => {
                let is_given = |&arg: &Operand| self.addresses.place(arg).root == known.root;
                !is_private || args.iter().any(is_given)
            }
            InstKind::HostCall(..) if never_returns(kind) => false,
            InstKind::Launch(_) | InstKind::HostCall(..) => !is_private,
            other => !matches!(other.effect(), Effect::Pure | Effect::Variable),
        }
    }

    /// Loads in a loop that give the same value in each round, of variables that no other code reaches: they move before the loop. Such a
    /// load has no other effect, since it is inside its variable.
    pub(super) fn before_loop(&mut self, blocks: &[&Block]) -> Vec<Node> {
        let mut wanted: Vec<(Access, LocalId, Place, LocId)> = Vec::new();
        for block in blocks {
            block.for_each_inst(&mut |inst| {
                let InstKind::Load(access, pointer) = &inst.kind else {
                    return;
                };
                let place = self.addresses.place(*pointer);
                let Base::Object(Object::Local(local)) = place.base else {
                    return;
                };
                let end = i128::from(place.offset_bytes) + i128::from(access.width_bytes());
                let is_inside = place.offset_bytes >= 0
                    && place.index.is_none()
                    && end <= i128::from(self.sizes[local.index()]);
                let is_same = |other: (&Access, &Place)| other == (access, &place);
                if is_plain(access)
                    && is_inside
                    && self.addresses.is_private(place.root)
                    && !self.known.iter().any(|it| is_same((&it.access, &it.place)))
                    && !wanted.iter().any(|it| is_same((&it.0, &it.2)))
                {
                    wanted.push((*access, local, place, inst.loc));
                }
            });
        }
        for block in blocks {
            block.for_each_inst(&mut |inst| {
                wanted.retain(|(access, _, place, _)| {
                    !self.may_change(&inst.kind, place, access.width_bytes())
                });
            });
        }
        wanted.truncate(MAX_KNOWN - self.known.len());
        let mut nodes = Vec::new();
        for (access, local, place, loc) in wanted {
            let object = self.inst(
                InstKind::AddrOf(Object::Local(local)),
                Type::Ptr(Space::Generic),
                loc,
            );
            let at = InstKind::PtrAdd {
                base: object.results[0].into(),
                index: Const::i32(0).into(),
                unsigned: false,
                scale_bytes: 0,
                offset_bytes: place.offset_bytes,
            };
            let at = self.inst(at, Type::Ptr(Space::Generic), loc);
            let load = InstKind::Load(access, at.results[0].into());
            let load = self.inst(load, access.value_type(), loc);
            self.known.push(StoredValue {
                access,
                place,
                value: load.results[0].into(),
            });
            nodes.extend([object, at, load].map(Node::Inst));
        }
        nodes
    }

    /// An instruction with a new temporary as its result.
    fn inst(&mut self, kind: InstKind, ty: Type, loc: LocId) -> Inst {
        let result = ValueId(self.values.len() as u32);
        self.values.push(ty);
        Inst {
            results: vec![result],
            kind,
            loc,
        }
    }
}

#[cfg(test)]
mod tests;
