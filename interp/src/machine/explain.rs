//! Explains how an invalid address was computed: from which kernel pointer, and which product or sum overflowed.
//!
//! This is a slow path that runs at most once in a launch. The variables' registers still hold their values from the
//! access. Everything else is recomputed from them, with the IR's arithmetic and, in parallel, as unbounded integers. A
//! value that came from a load or from another lane is unknown, and then there is no explanation.

use crate::isa::grid::Identity;

use ir::{
    BinaryOp, ConvertOp, Function, Inst, InstKind, LocId, Object, SlotId, Space, Type, UnaryOp,
};

use crate::fault::trap::{AccessOp, BadAccess, BadObject, BadPointer, Overflow, TrapKind};
use crate::inspect::evaluate::{Evaluation, Knows, Variable};
use crate::inspect::listing::{self, At, Listing};
use crate::isa::bytecode::{Class, Code, Place, S_FRAME};
use crate::isa::registers::Registers;
use crate::memory::{AddressKind, Memory, layout};

/// The thread with the invalid access.
#[derive(Clone, Copy)]
pub(crate) struct Thread<'a> {
    pub(crate) registers: &'a Registers,
    pub(crate) who: Identity<'a>,
}

/// For an invalid access at `loc`, if its address can be recomputed: names the pointer that it is based on, and returns
/// the overflow of its index.
pub(crate) fn explain(
    kind: &mut TrapKind,
    loc: LocId,
    thread: Thread<'_>,
    (function, code, memory): (&Function, &Code, &Memory),
) -> Option<Overflow> {
    let access = kind.access()?;
    let listing = Listing::of(function);
    // Several instructions can come from one place (an unrolled body). Takes the one that gives this address.
    let value = listing.insts().find_map(|(at, inst)| {
        let (op, ptr, _) = listing::access(&inst.kind).filter(|_| inst.loc == loc)?;
        let knows = AtFault {
            listing: &listing,
            code,
            thread,
            access: at,
        };
        let mut evaluation = Evaluation::new(&listing, thread.who, knows);
        let value = evaluation.operand(ptr).ok().filter(|_| op == access.op)?;
        same_address(access, value.bits).then_some(value)
    })?;
    if let Some(slot) = value.root
        && let Some(better) = about(kind, slot, thread, (function, code, memory))
    {
        *kind = better;
    }
    value.overflow
}

/// The number of the kernel parameter from which the pointer of an access comes by additions alone.
pub(crate) fn parameter(function: &Function, loc: LocId, op: AccessOp) -> Option<usize> {
    let listing = Listing::of(function);
    let mut found = None;
    for (_, inst) in listing.insts().filter(|(_, inst)| inst.loc == loc) {
        let Some((_, mut from, _)) = listing::access(&inst.kind).filter(|(is, ..)| *is == op)
        else {
            continue;
        };
        let slot = loop {
            match &listing.inst(listing.def(from.value()?)?).kind {
                InstKind::PtrAdd { base, .. } => from = *base,
                InstKind::Get(slot) => break *slot,
                _ => return None,
            }
        };
        let number = listing.parameter(slot);
        let number = number.filter(|_| listing.sets(slot).is_empty())?;
        // All instructions from the place must agree; otherwise there is no answer.
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

/// The same trap, described as out of bounds of what the base pointer points to, whatever else may be at the address.
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

/// A value of the faulting thread.
#[derive(Clone, Copy)]
struct Value {
    bits: u64,
    /// Its value if integers were unbounded.
    whole: i128,
    /// The first intermediate result that does not fit an `int`, as an unbounded integer; the next field is the same
    /// for `unsigned`.
    past_signed: Option<(LocId, i128)>,
    past_unsigned: Option<(LocId, i128)>,
    /// The overflow that matters: its result was extended to 64 bits or divided.
    overflow: Option<Overflow>,
    /// The variable that the pointer comes from.
    root: Option<SlotId>,
}

impl Value {
    /// A value without history.
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

    /// A 32-bit sum or product of values that have been recomputed.
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

    /// An `unsigned` that is converted to `int` directly, without a sum before.
    fn taken_as(mut self, unsigned: bool, loc: LocId) -> Value {
        let is_too_large = self.whole > i128::from(i32::MAX) && self.whole <= i128::from(u32::MAX);
        if !unsigned && is_too_large && self.past_signed.is_none() {
            self.past_signed = Some((loc, self.whole));
        }
        self
    }

    /// The overflow if the 32 bits are taken as an `int`, or as an `unsigned`.
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

/// What is known at the invalid access: the registers of its thread.
struct AtFault<'a> {
    listing: &'a Listing<'a>,
    code: &'a Code,
    thread: Thread<'a>,
    access: At,
}

impl AtFault<'_> {
    /// Whether a variable is a parameter of an unsigned type. The registers do not tell.
    fn is_unsigned(&self, slot: SlotId) -> bool {
        let mut params = self.listing.function.params.iter();
        let param = params.find(|param| param.slot == slot);
        param.is_some_and(|param| {
            let name = param.c_type.trim_start_matches("const ");
            name.starts_with("unsigned") || name.starts_with("uint")
        })
    }
}

impl Knows for AtFault<'_> {
    type Value = Value;
    type Unknown = ();
    const DATA: () = ();

    fn bits(value: Value) -> u64 {
        value.bits
    }

    fn given(&self, ty: Type, bits: u64) -> Value {
        Value::of(ty, bits)
    }

    fn variable(&self, slot: SlotId, at: At, ty: Type) -> Result<Variable<Value>, ()> {
        let place = self.code.registers.slots[slot.index()];
        let bits = register(place, Class::of(ty), self.thread);
        let mut value = Value {
            root: Some(slot),
            ..Value::of(ty, bits)
        };
        if ty == Type::I32 && self.is_unsigned(slot) {
            value.whole = i128::from(bits as u32);
        }
        let holds = self.listing.still(slot, at, self.access);
        holds.then_some(Variable::Holds(value)).ok_or(())
    }

    fn address(&self, object: Object) -> Option<u64> {
        let memory = &self.code.memory;
        Some(match object {
            Object::Shared(id) => {
                let var = &self.listing.function.shared[id.index()];
                u64::from(layout::SHARED_BASE) + memory.shared_offset(var)
            }
            Object::Local(id) => {
                let offset = memory.local_offsets[id.index()] as u32;
                let shift = self.thread.registers.s[S_FRAME as usize] as u32;
                u64::from(layout::LOCAL_BASE + offset.wrapping_add(shift))
            }
            Object::Global(_) | Object::String(_) => {
                let mut symbols = self.code.registers.s_symbols.iter();
                let (at, _) = symbols.find(|(_, symbol)| *symbol == object)?;
                self.thread.registers.s[*at as usize]
            }
        })
    }

    fn made(&self, inst: &Inst, ty: Type, bits: u64, operands: &[Value]) -> Value {
        let value = Value::of(ty, bits);
        match (&inst.kind, operands) {
            (InstKind::Unary(UnaryOp::Neg | UnaryOp::SNeg, Type::I32, _), &[a]) => {
                value.counted(-a.whole, inst.loc, [a; 2])
            }
            (InstKind::Binary(op, of, ..), &[a, b]) => binary((*op, *of), bits, [a, b], inst.loc),
            (InstKind::Convert(ConvertOp::Sext, _), &[a]) => {
                extended(value, a.taken_as(false, inst.loc), false)
            }
            (InstKind::Convert(ConvertOp::Zext, _), &[a]) => extended(value, a, true),
            (InstKind::Convert(ConvertOp::Trunc, _), &[a]) => {
                value.counted(a.whole, inst.loc, [a; 2])
            }
            (
                InstKind::PtrAdd {
                    index: by,
                    unsigned,
                    ..
                },
                &[base, index],
            ) => {
                let lost = match self.listing.type_of(*by) {
                    Type::I32 => index.taken_as(*unsigned, inst.loc).lost(*unsigned),
                    _ => index.overflow,
                };
                Value {
                    root: base.root,
                    overflow: base.overflow.or(lost),
                    ..value
                }
            }
            _ => value,
        }
    }
}

/// A binary operation.
fn binary((op, ty): (BinaryOp, Type), bits: u64, [a, b]: [Value; 2], loc: LocId) -> Value {
    let value = Value {
        overflow: a.overflow.or(b.overflow),
        ..Value::of(ty, bits)
    };
    let whole = match op.wrapping() {
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
        // A value that overflowed to below 0 has a remainder below 0.
        (BinaryOp::SRem, Type::I32, _) if value.whole < 0 => Value {
            overflow: a.lost(false),
            ..value
        },
        // Masks and other remainders discard the overflow on purpose.
        _ => value,
    }
}

/// Extends 32 bits to 64. What did not fit is lost now.
fn extended(value: Value, from: Value, unsigned: bool) -> Value {
    Value {
        overflow: from.lost(unsigned),
        ..value
    }
}
