//! What an address that went wrong was computed from: which pointer of the kernel's, and which product or sum had no room.
//!
//! The slow path, once at most in a launch. The variables' registers still hold what they held at the access; everything else is
//! computed again from them, with the IR's own arithmetic and, beside it, as whole numbers of any size. A value that a load or
//! another lane gave is not known; then nothing is said.

use crate::isa::grid::Identity;
use std::collections::HashMap;

use dsl::ir::{
    BinaryOp, Block, ConvertOp, Function, Inst, InstKind, LocId, Node, Object, Operand, SlotId,
    Space, Type, UnaryOp, ValueId, eval,
};

use crate::fault::trap::{AccessOp, BadAccess, BadObject, BadPointer, Overflow, TrapKind};
use crate::isa::bytecode::{Class, Code, Place};
use crate::isa::registers::Registers;
use crate::memory::{AddressKind, Memory, layout};

/// The thread whose access went wrong.
#[derive(Clone, Copy)]
pub(crate) struct Thread<'a> {
    pub(crate) registers: &'a Registers,
    pub(crate) who: Identity<'a>,
}

/// Says of a bad access at `loc`, where its address can be computed again, which pointer it began with, and gives the overflow of
/// its index.
pub(crate) fn explain(
    kind: &mut TrapKind,
    loc: LocId,
    thread: Thread<'_>,
    (function, code, memory): (&Function, &Code, &Memory),
) -> Option<Overflow> {
    let access = kind.access()?;
    let places = Places::of(function);
    // Of several instructions at one place (a body that was unrolled) the one that gives this address.
    let value = places.accesses.iter().find_map(|(inst, at)| {
        let (op, ptr) = pointer(&inst.kind).filter(|_| inst.loc == loc)?;
        let mut evaluation = Evaluation {
            places: &places,
            function,
            code,
            thread,
            at,
            known: HashMap::new(),
        };
        let value = evaluation.operand(ptr).filter(|_| op == access.op)?;
        same_address(access, value.bits).then_some(value)
    })?;
    if let Some(slot) = value.root
        && let Some(better) = about(kind, slot, thread, (function, code, memory))
    {
        *kind = better;
    }
    value.overflow
}

fn pointer(kind: &InstKind) -> Option<(AccessOp, &Operand)> {
    match kind {
        InstKind::Load(_, ptr) => Some((AccessOp::Load, ptr)),
        InstKind::Store(_, ptr, _) => Some((AccessOp::Store, ptr)),
        InstKind::Atomic { ptr, .. } => Some((AccessOp::Atomic, ptr)),
        _ => None,
    }
}

/// The kernel's parameter that the pointer of an access comes from, by additions alone: its number.
pub(crate) fn parameter(function: &Function, loc: LocId, op: AccessOp) -> Option<usize> {
    let places = Places::of(function);
    let mut found = None;
    for (inst, _) in places.accesses.iter().filter(|(inst, _)| inst.loc == loc) {
        let Some((_, mut at)) = pointer(&inst.kind).filter(|(is, _)| *is == op) else {
            continue;
        };
        let slot = loop {
            let Operand::Value(id) = at else { return None };
            match &places.defs.get(id)?.0.kind {
                InstKind::PtrAdd { base, .. } => at = base,
                InstKind::Get(slot) => break *slot,
                _ => return None,
            }
        };
        let is_changed = places.sets.contains_key(&slot);
        let number = function.params.iter().position(|param| param.slot == slot);
        let number = number.filter(|_| !is_changed)?;
        // Instances of one place agree, or nothing is said.
        if found.is_some_and(|found| found != number) {
            return None;
        }
        found = Some(number);
    }
    found
}

/// Pointers to shared and local memory have 32 bits.
fn same_address(access: &BadAccess, bits: u64) -> bool {
    match access.space {
        Space::Shared | Space::Local => access.address as u32 == bits as u32,
        Space::Global | Space::Constant | Space::Generic => access.address == bits,
    }
}

/// The same trap as one of the pointer it began with: out of bounds of what that points to, whatever else may be at the address.
fn about(
    kind: &TrapKind,
    slot: SlotId,
    thread: Thread<'_>,
    (function, code, memory): (&Function, &Code, &Memory),
) -> Option<TrapKind> {
    function.params.iter().find(|param| param.slot == slot)?;
    let name = function.slots[slot.index()].name.clone();
    let start = register(code.registers.slots[slot.index()], Class::W64, thread);
    let mut access = kind.access()?.clone();
    if matches!(kind, TrapKind::NullPointer(_)) && start == 0 {
        access.object = Some(BadObject {
            name: "no memory".to_owned(),
            offset_bytes: access.address as i64,
            element_bytes: u64::from(access.width_bytes),
            dims: Vec::new(),
            size_bytes: 0,
            declared: false,
            pointer: Some(Box::new(BadPointer {
                name,
                offset_bytes: 0,
            })),
            freed_at: None,
        });
        return Some(TrapKind::NullPointer(Box::new(access)));
    }
    let region = memory.region(start)?;
    let object = BadObject {
        element_bytes: u64::from(access.width_bytes),
        pointer: Some(Box::new(BadPointer {
            name,
            offset_bytes: start - region.base,
        })),
        ..region.describe(access.address)
    };
    let inside = (region.base..region.end()).contains(&access.address);
    let of_device = matches!(region.kind, AddressKind::Device | AddressKind::Managed);
    let strays = !inside && of_device && !region.freed;
    access.object = Some(object);
    let access = Box::new(access);
    match kind {
        TrapKind::OutOfBounds(old) if old.object.as_ref().is_none_or(|o| !o.declared) => {
            Some(TrapKind::OutOfBounds(access))
        }
        TrapKind::UseAfterFree(_) if inside => Some(TrapKind::UseAfterFree(access)),
        TrapKind::InvalidPointer(_)
        | TrapKind::UseAfterFree(_)
        | TrapKind::HostPointerOnDevice(_)
        | TrapKind::NullPointer(_)
            if strays =>
        {
            Some(TrapKind::OutOfBounds(access))
        }
        _ => None,
    }
}

fn register(place: Place, class: Class, thread: Thread<'_>) -> u64 {
    let lane = thread.who.lane as usize;
    match (place, class) {
        (Place::S(at), Class::Mask) => thread.registers.s[at as usize] >> lane & 1,
        (Place::S(at), _) => thread.registers.s[at as usize],
        (Place::V(at), Class::W64) => thread.registers.lane64(at, lane),
        (Place::V(at), _) => u64::from(thread.registers.v[at as usize].0[lane]),
    }
}

/// Where everything stands in the text of a function.
#[derive(Default)]
struct Places<'a> {
    pos: u32,
    /// By temporary: what makes it.
    defs: HashMap<ValueId, (&'a Inst, At)>,
    sets: HashMap<SlotId, Vec<u32>>,
    accesses: Vec<(&'a Inst, At)>,
    /// The loops around the place in hand.
    loops: Vec<u32>,
    /// By loop: where it ends.
    loop_ends: Vec<u32>,
}

/// A place: its position, and the loops around it.
#[derive(Clone)]
struct At {
    pos: u32,
    loops: Vec<u32>,
}

impl<'a> Places<'a> {
    fn of(function: &'a Function) -> Places<'a> {
        let mut places = Places::default();
        places.block(&function.body);
        places
    }

    fn block(&mut self, block: &'a Block) {
        for node in &block.0 {
            self.pos += 1;
            match node {
                Node::Inst(inst) => self.inst(inst),
                Node::If {
                    then, otherwise, ..
                } => {
                    self.block(then);
                    self.block(otherwise);
                }
                Node::Loop { body, step, .. } => {
                    let id = self.loop_ends.len();
                    self.loop_ends.push(0);
                    self.loops.push(id as u32);
                    self.block(body);
                    self.block(step);
                    self.loops.pop();
                    self.loop_ends[id] = self.pos;
                }
                Node::Scope { body, .. } => self.block(body),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }

    fn inst(&mut self, inst: &'a Inst) {
        let at = || At {
            pos: self.pos,
            loops: self.loops.clone(),
        };
        if pointer(&inst.kind).is_some() {
            self.accesses.push((inst, at()));
        }
        for result in &inst.results {
            self.defs.insert(*result, (inst, at()));
        }
        if let InstKind::Set(slot, _) = inst.kind {
            self.sets.entry(slot).or_default().push(self.pos);
        }
    }

    /// Whether a variable that was read at `from` still holds that at `to`: it is not set between them, nor later in a loop that is
    /// around `to` alone.
    fn still(&self, slot: SlotId, from: &At, to: &At) -> bool {
        let end = match to.loops.get(from.loops.len()) {
            Some(&inner) => self.loop_ends[inner as usize],
            None => to.pos,
        };
        let sets = self.sets.get(&slot).map_or(&[][..], Vec::as_slice);
        to.loops.starts_with(&from.loops) && !sets.iter().any(|set| (from.pos..=end).contains(set))
    }
}

/// A value of the thread.
#[derive(Clone, Copy)]
struct Value {
    bits: u64,
    /// What it would be if numbers had no size.
    whole: i128,
    /// The first result on the way that an `int` cannot hold, as a whole number, and the same of an `unsigned`.
    past_signed: Option<(LocId, i128)>,
    past_unsigned: Option<(LocId, i128)>,
    /// The one that counts: what came of it was extended to 64 bits, or divided.
    overflow: Option<Overflow>,
    /// The variable that the pointer comes from.
    root: Option<SlotId>,
}

impl Value {
    /// A value that is taken as it is.
    fn of(ty: Type, bits: u64) -> Value {
        let whole = match ty {
            Type::I32 => i128::from(bits as u32 as i32),
            Type::I64 => i128::from(bits as i64),
            Type::I1 | Type::F32 | Type::F64 | Type::Ptr(_) => i128::from(bits),
        };
        Value {
            bits,
            whole,
            past_signed: None,
            past_unsigned: None,
            overflow: None,
            root: None,
        }
    }

    /// A sum or product of 32 bits, from values that have been looked at.
    fn counted(self, whole: i128, loc: LocId, parts: [Value; 2]) -> Value {
        let past = |part: fn(Value) -> Option<(LocId, i128)>, low: i128, high: i128| {
            let own = (!(low..=high).contains(&whole)).then_some((loc, whole));
            own.and(parts.into_iter().find_map(part).or(own))
        };
        Value {
            whole,
            past_signed: past(|v| v.past_signed, i32::MIN.into(), i32::MAX.into()),
            past_unsigned: past(|v| v.past_unsigned, 0, u32::MAX.into()),
            ..self
        }
    }

    /// What was lost if the 32 bits are taken for an `int`, or for an `unsigned`.
    fn lost(self, unsigned: bool) -> Option<Overflow> {
        let past = match unsigned {
            true => self.past_unsigned,
            false => self.past_signed,
        };
        let lost = past.map(|(loc, whole)| Overflow {
            loc,
            whole,
            unsigned,
            became: match unsigned {
                true => i64::from(whole as u32),
                false => i64::from(whole as i32),
            },
        });
        self.overflow.or(lost)
    }
}

struct Evaluation<'a> {
    places: &'a Places<'a>,
    function: &'a Function,
    code: &'a Code,
    thread: Thread<'a>,
    at: &'a At,
    known: HashMap<ValueId, Option<Value>>,
}

impl Evaluation<'_> {
    fn operand(&mut self, operand: &Operand) -> Option<Value> {
        let id = match operand {
            Operand::Const(constant) => return Some(Value::of(constant.ty, constant.bits)),
            Operand::Value(id) => *id,
        };
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let places = self.places;
        let value = places
            .defs
            .get(&id)
            .and_then(|(inst, at)| self.inst(inst, at, self.function.values[id.index()]));
        self.known.insert(id, value);
        value
    }

    fn inst(&mut self, inst: &Inst, at: &At, ty: Type) -> Option<Value> {
        match &inst.kind {
            InstKind::Get(slot) => {
                let place = self.code.registers.slots[slot.index()];
                let bits = register(place, Class::of(ty), self.thread);
                self.places.still(*slot, at, self.at).then_some(Value {
                    root: Some(*slot),
                    ..Value::of(ty, bits)
                })
            }
            InstKind::Special(special) => Some(Value::of(
                ty,
                u64::from(self.thread.who.register(*special)?),
            )),
            InstKind::AddrOf(object) => {
                let bits = match object {
                    Object::Shared(id) => {
                        let var = &self.function.shared[id.index()];
                        u64::from(layout::SHARED_BASE) + self.code.memory.shared_offset(var)
                    }
                    Object::Local(id) => {
                        u64::from(layout::LOCAL_BASE) + self.code.memory.local_offsets[id.index()]
                    }
                    Object::Global(_) | Object::String(_) => {
                        let mut symbols = self.code.registers.s_symbols.iter();
                        let (at, _) = symbols.find(|(_, symbol)| symbol == object)?;
                        self.thread.registers.s[*at as usize]
                    }
                };
                Some(Value::of(ty, bits))
            }
            InstKind::Unary(op, of, a) => {
                let a = self.operand(a)?;
                let value = Value::of(ty, eval::unary(*op, *of, a.bits));
                Some(match (op, of) {
                    (UnaryOp::Neg, Type::I32) => value.counted(-a.whole, inst.loc, [a; 2]),
                    _ => value,
                })
            }
            InstKind::Binary(op, of, a, b) => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                Some(self.binary((*op, *of), a, b, inst.loc))
            }
            InstKind::Compare(op, of, a, b) => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                let holds = eval::compare(*op, *of, a.bits, b.bits);
                Some(Value::of(ty, u64::from(holds)))
            }
            InstKind::Select(_, condition, a, b) => {
                let chosen = if self.operand(condition)?.bits != 0 {
                    a
                } else {
                    b
                };
                self.operand(chosen)
            }
            InstKind::Convert(op, a) => {
                let a = self.operand(a)?;
                let value = Value::of(ty, eval::convert(*op, a.bits));
                Some(match op {
                    ConvertOp::Sext => extended(value, a, false),
                    ConvertOp::Zext => extended(value, a, true),
                    ConvertOp::Trunc => value.counted(a.whole, inst.loc, [a; 2]),
                    _ => value,
                })
            }
            InstKind::PtrAdd {
                base,
                index,
                unsigned,
                scale_bytes,
                offset_bytes,
            } => {
                let short = match index {
                    Operand::Value(id) => self.function.values[id.index()] == Type::I32,
                    Operand::Const(constant) => constant.ty == Type::I32,
                };
                let (base, index) = (self.operand(base)?, self.operand(index)?);
                let steps = match (short, unsigned) {
                    (true, true) => i64::from(index.bits as u32),
                    (true, false) => i64::from(index.bits as u32 as i32),
                    (false, _) => index.bits as i64,
                };
                let bytes = steps.wrapping_mul(*scale_bytes).wrapping_add(*offset_bytes);
                let lost = match short {
                    true => index.lost(*unsigned),
                    false => index.overflow,
                };
                Some(Value {
                    root: base.root,
                    overflow: base.overflow.or(lost),
                    ..Value::of(ty, base.bits.wrapping_add_signed(bytes))
                })
            }
            _ => None,
        }
    }

    fn binary(&self, (op, ty): (BinaryOp, Type), a: Value, b: Value, loc: LocId) -> Value {
        let value = Value {
            overflow: a.overflow.or(b.overflow),
            ..Value::of(ty, eval::binary(op, ty, a.bits, b.bits))
        };
        let whole = match op {
            BinaryOp::Add => a.whole.checked_add(b.whole),
            BinaryOp::Sub => a.whole.checked_sub(b.whole),
            BinaryOp::Mul => a.whole.checked_mul(b.whole),
            BinaryOp::Shl => (0..32).contains(&b.whole).then(|| a.whole << b.whole),
            _ => None,
        };
        match (op, ty, whole) {
            (_, Type::I32, Some(whole)) => value.counted(whole, loc, [a, b]),
            (_, Type::I64, Some(whole)) => Value { whole, ..value },
            (BinaryOp::SDiv | BinaryOp::AShr, Type::I32, _) => Value {
                overflow: a.lost(false).or(b.lost(false)),
                ..value
            },
            // What overflowed to below 0 has a remainder below 0.
            (BinaryOp::SRem, Type::I32, _) if value.whole < 0 => Value {
                overflow: a.lost(false),
                ..value
            },
            // Masks and other remainders throw away on purpose what does not fit.
            _ => value,
        }
    }
}

/// 32 bits as 64: what did not fit into them is lost now.
fn extended(value: Value, from: Value, unsigned: bool) -> Value {
    Value {
        overflow: from.lost(unsigned),
        ..value
    }
}
