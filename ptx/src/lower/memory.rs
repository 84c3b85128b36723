//! Loads, stores and atomics.

use ir::{Access, AtomicOp, FenceScope, MemType, Operand as Value, SlotId, Type};

use super::inst::{This, operands};
use super::modifiers::Modifiers;
use super::{Fault, Lowerer};
use crate::tree::{Base, Operand, ScalarType, StateSpace};

/// Hints: they change no value, and no count that dslc makes.
const HINTS: &[&str] = &[
    ".ca",
    ".cg",
    ".cs",
    ".lu",
    ".cv",
    ".wb",
    ".wt",
    ".L1::evict_normal",
    ".L1::evict_unchanged",
    ".L1::evict_first",
    ".L1::evict_last",
    ".L1::no_allocate",
    ".L2::evict_first",
    ".L2::evict_last",
    ".L2::evict_normal",
    ".L2::64B",
    ".L2::128B",
    ".L2::256B",
    ".weak",
];

/// The order of an access.
#[derive(Clone, Copy, Default)]
struct Ordering {
    /// The scope of a fence before it, and of one after it.
    before: Option<FenceScope>,
    after: Option<FenceScope>,
    /// `volatile`, or at least `relaxed`.
    volatile: bool,
    /// Its scope is the block.
    block: bool,
}

const SCOPES: &[(&str, FenceScope)] = &[
    (".cta", FenceScope::Block),
    (".cluster", FenceScope::Device),
    (".gpu", FenceScope::Device),
    (".sys", FenceScope::System),
];

impl<'t> Lowerer<'_, 't> {
    fn ordering(&mut self, modifiers: &mut Modifiers<'_, 't>) -> Ordering {
        let word = modifiers.one_of(&[
            (".volatile", (true, false, false)),
            (".relaxed", (true, false, false)),
            (".acquire", (true, false, true)),
            (".release", (true, true, false)),
            (".acq_rel", (true, true, true)),
        ]);
        let scope = modifiers.one_of(SCOPES);
        let (volatile, before, after) = word.unwrap_or_default();
        let fence = scope.unwrap_or(FenceScope::Device);
        Ordering {
            before: before.then_some(fence),
            after: after.then_some(fence),
            volatile,
            block: scope == Some(FenceScope::Block),
        }
    }

    pub(super) fn load(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, Operand::Address(base, offset)] = operands(all)? else {
            return Err(modifiers.unknown());
        };
        let mut space = modifiers.take_if(crate::parse::space);
        if space == Some(StateSpace::Param) && matches!(base, Base::Register(_)) {
            // An entry's parameter whose address is taken is a copy in local memory.
            space = None;
        }
        if space == Some(StateSpace::Param) {
            return self.load_param(to, (*base, *offset), modifiers, at);
        }
        let order = self.ordering(modifiers);
        let read_only = modifiers.take(".nc");
        while modifiers
            .take_if(|modifier| HINTS.contains(&modifier).then_some(()))
            .is_some()
        {}
        let count = lanes(modifiers);
        let ty = modifiers.ty()?;
        let targets = parts(to, count)?;
        let mem = self.memory_type(&targets, ty)?;
        let (pointer, space) = self.address(*base, *offset, space)?;
        let access = Access {
            volatile: order.volatile,
            read_only,
            ..access(mem, count, space)
        };
        let values = self.builder.load(access, pointer);
        if let Some(scope) = order.after {
            self.builder.acq_rel_fence(scope);
        }
        for (target, value) in targets.into_iter().zip(values) {
            self.write_loaded(target, value, ty, at)?;
        }
        Ok(())
    }

    pub(super) fn store(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [Operand::Address(base, offset), from] = operands(all)? else {
            return Err(modifiers.unknown());
        };
        let space = modifiers.take_if(crate::parse::space);
        let order = self.ordering(modifiers);
        while modifiers
            .take_if(|modifier| HINTS.contains(&modifier).then_some(()))
            .is_some()
        {}
        let count = lanes(modifiers);
        let ty = modifiers.ty()?;
        let sources = parts(from, count)?;
        if space == Some(StateSpace::Param) {
            return self.store_argument((*base, *offset), &sources, ty);
        }
        let mem = self.memory_type(&sources, ty)?;
        let mut values = Vec::with_capacity(sources.len());
        for source in sources {
            values.push(self.stored(source, ty, mem)?);
        }
        let (pointer, space) = self.address(*base, *offset, space)?;
        if let Some(scope) = order.before {
            self.builder.acq_rel_fence(scope);
        }
        let access = Access {
            volatile: order.volatile,
            ..access(mem, count, space)
        };
        self.builder.store(access, pointer, values);
        let _ = at;
        Ok(())
    }

    /// `atom`, and `red`, which gives no result.
    pub(super) fn atomic(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let mut order = self.ordering(modifiers);
        let space = modifiers.take_if(crate::parse::space);
        while modifiers
            .take_if(|modifier| HINTS.contains(&modifier).then_some(()))
            .is_some()
        {}
        let Some(op) = modifiers.one_of(ATOMICS) else {
            return Err(modifiers.unknown());
        };
        let ty = modifiers.ty()?;
        let (to, address, from) = match all {
            [address @ Operand::Address(..), from @ ..] => (None, address, from),
            [to, address, from @ ..] => (Some(to), address, from),
            _ => return Err(modifiers.unknown()),
        };
        let Operand::Address(base, offset) = address else {
            return Err(modifiers.unknown());
        };
        let mem = match (ty.is_float(), ty.bits) {
            (true, 32) => MemType::F32,
            (true, 64) => MemType::F64,
            (false, 16) => MemType::U16,
            (false, 32) => MemType::I32,
            (false, 64) => MemType::I64,
            _ => return Err(modifiers.unknown()),
        };
        let op = match (op, ty.is_signed()) {
            (Atomic::Exact(op), _) => op,
            (Atomic::Min, true) => AtomicOp::SMin,
            (Atomic::Min, false) => AtomicOp::UMin,
            (Atomic::Max, true) => AtomicOp::SMax,
            (Atomic::Max, false) => AtomicOp::UMax,
        };
        if !op.accepts(mem) {
            return Err(modifiers.unknown());
        }
        let (compare, value) = match (op, from) {
            (AtomicOp::Cas, [compare, value]) => (Some(compare), value),
            (AtomicOp::Cas, _) => return Err(modifiers.unknown()),
            (_, [value]) => (None, value),
            _ => return Err(modifiers.unknown()),
        };
        let value = self.read(value, mem.value_type())?;
        let compare = match compare {
            Some(compare) => Some(self.read(compare, mem.value_type())?),
            None => None,
        };
        let (pointer, space) = self.address(*base, *offset, space)?;
        // Atomics are relaxed without a word.
        order.volatile = false;
        if let Some(scope) = order.before {
            self.builder.acq_rel_fence(scope);
        }
        let access = Access {
            block_scope: order.block,
            ..access(mem, 1, space)
        };
        let old = self.builder.atomic(op, access, pointer, value, compare);
        if let Some(scope) = order.after {
            self.builder.acq_rel_fence(scope);
        }
        match to {
            Some(to) => self.write(to, old, at),
            None => Ok(()),
        }
    }

    /// The type in memory. If the instruction does not say whether it is a float, the registers do.
    fn memory_type(
        &mut self,
        registers: &[&Operand<'t>],
        ty: ScalarType,
    ) -> Result<MemType, Fault> {
        let known = registers.iter().find_map(|operand| match operand {
            Operand::Register(id) => Some(self.registers.ty(*id)),
            _ => None,
        });
        Ok(match (ty.bits, ty.is_float(), known) {
            (8, _, _) if ty.is_signed() => MemType::S8,
            (8, _, _) => MemType::U8,
            (16, _, _) if ty.is_signed() => MemType::S16,
            (16, _, _) => MemType::U16,
            (32, true, _) | (32, _, Some(Type::F32)) => MemType::F32,
            (32, ..) => MemType::I32,
            (64, true, _) | (64, _, Some(Type::F64)) => MemType::F64,
            (64, _, Some(Type::Ptr(_))) => MemType::Ptr,
            (64, ..) => MemType::I64,
            (bits, ..) => return Err(format!("an access of {bits} bits per element")),
        })
    }

    /// Whether an operand is a register with more bits than a type.
    fn is_wider(&self, operand: &Operand<'t>, ty: ScalarType) -> bool {
        matches!(operand, Operand::Register(id) if self.registers.bits(*id) > ty.bits)
    }

    fn write_loaded(
        &mut self,
        to: &Operand<'t>,
        value: Value,
        ty: ScalarType,
        at: usize,
    ) -> Result<(), Fault> {
        match ty.bits {
            8 | 16 => self.write_int(to, value, ty, at),
            _ if ty.is_float() => self.write(to, value, at),
            _ => match self.is_wider(to, ty) {
                true => self.write_int(to, value, ty, at),
                false => self.write_bits(to, value, at),
            },
        }
    }

    fn stored(&mut self, from: &Operand<'t>, ty: ScalarType, mem: MemType) -> Result<Value, Fault> {
        if ty.is_float() && ty.bits > 16 {
            return self.read(from, mem.value_type());
        }
        let narrow = matches!(from, Operand::Register(id) if self.registers.bits(*id) > ty.bits);
        if narrow || ty.bits < 32 {
            return self.read_int(from, ty);
        }
        let value = self.read_bits(from, ty.bits)?;
        self.convert_to(value, mem.value_type())
    }

    /// `ld.param`: an entry's parameter, or what a call has returned.
    fn load_param(
        &mut self,
        to: &Operand<'t>,
        (base, offset): (Base<'t>, i64),
        modifiers: &mut Modifiers<'_, 't>,
        at: usize,
    ) -> Result<(), Fault> {
        let Base::Symbol(name) = base else {
            return Err("a parameter is read by its address".to_string());
        };
        let count = lanes(modifiers);
        let ty = modifiers.ty()?;
        let targets = parts(to, count)?;
        for (index, target) in targets.into_iter().enumerate() {
            let offset = offset + index as i64 * ty.bytes() as i64;
            self.load_part(target, (name, offset), ty, at)?;
        }
        Ok(())
    }

    fn load_part(
        &mut self,
        to: &Operand<'t>,
        part: (&'t str, i64),
        ty: ScalarType,
        at: usize,
    ) -> Result<(), Fault> {
        if let Some(&value) = self.arguments.get(&part) {
            return match self.is_wider(to, ty) {
                true => self.write_int(to, value, ty, at),
                false => self.write_bits(to, value, at),
            };
        }
        let known = self.params.get(&part).copied();
        let is_whole = |_: &SlotId| match self.types.get(&part) {
            Some(mem) => u64::from(mem.bytes()) == ty.bytes(),
            None => true,
        };
        let Some(slot) = known.filter(is_whole) else {
            return self.load_bytes(to, part, ty, at);
        };
        if let Operand::Register(id) = to {
            self.registers.note_part(part, *id);
        }
        let value = self.builder.get(slot);
        match self.builder.value_type(value) {
            Type::I1 => {
                let value = self.builder.convert(ir::ConvertOp::BoolToI32, value);
                self.write_int(to, value, ty, at)
            }
            // A pointer's register may hold an address.
            Type::I32 if ty.bits < 32 || self.is_wider(to, ty) => self.write_int(to, value, ty, at),
            _ => self.write_bits(to, value, at),
        }
    }

    /// Bytes of a parameter that are several of its parts, or some bytes of one.
    fn load_bytes(
        &mut self,
        to: &Operand<'t>,
        (name, from): (&'t str, i64),
        ty: ScalarType,
        at: usize,
    ) -> Result<(), Fault> {
        if ty.bits > 64 {
            return Err("a parameter of 128 bits".to_string());
        }
        let end = from + ty.bytes() as i64;
        let mut parts: Vec<(i64, i64, SlotId)> = self
            .params
            .iter()
            .filter_map(|(&(of, offset), &slot)| {
                let bytes = i64::from(self.types.get(&(of, offset))?.bytes());
                let overlaps = of == name && offset < end && offset + bytes > from;
                overlaps.then_some((offset, bytes, slot))
            })
            .collect();
        parts.sort_by_key(|(offset, ..)| *offset);
        let mut bits: Option<Value> = None;
        for (offset, bytes, slot) in parts {
            let value = self.builder.get(slot);
            let value = match self.builder.value_type(value) {
                Type::I1 => self.builder.convert(ir::ConvertOp::BoolToI32, value),
                _ => value,
            };
            let value = match self.builder.value_type(value) {
                Type::F32 => self.convert_to(value, Type::I32)?,
                _ => value,
            };
            let mut value = match self.builder.value_type(value) {
                Type::I32 => self.builder.convert(ir::ConvertOp::Zext, value),
                _ => self.convert_to(value, Type::I64)?,
            };
            if bytes < 8 {
                let mask = ir::Const::i64((1 << (8 * bytes)) - 1).into();
                value = self.builder.binary(ir::BinaryOp::And, value, mask);
            }
            let by = ir::Const::i64(8 * (offset - from).abs()).into();
            let op = match offset < from {
                true => ir::BinaryOp::LShr,
                false => ir::BinaryOp::Shl,
            };
            let value = match offset == from {
                true => value,
                false => self.builder.binary(op, value, by),
            };
            bits = Some(match bits {
                Some(others) => self.builder.binary(ir::BinaryOp::Or, others, value),
                None => value,
            });
        }
        let bits = bits.ok_or_else(|| format!("`{name}+{from}` is no part of a parameter"))?;
        match ty.bits {
            64 => self.write_bits(to, bits, at),
            _ => {
                let low = self.builder.convert(ir::ConvertOp::Trunc, bits);
                match ty.bits < 32 || self.is_wider(to, ty) {
                    true => self.write_int(to, low, ty, at),
                    false => self.write_bits(to, low, at),
                }
            }
        }
    }

    /// `st.param`: an argument of the next call.
    fn store_argument(
        &mut self,
        (base, offset): (Base<'t>, i64),
        sources: &[&Operand<'t>],
        ty: ScalarType,
    ) -> Result<(), Fault> {
        let Base::Symbol(name) = base else {
            return Err("an argument is written by its address".to_string());
        };
        for (index, source) in sources.iter().enumerate() {
            if let Operand::Register(id) = source {
                self.argument_registers.insert(name, *id);
            }
            let value = self.read_bits(source, ty.bits)?;
            let at = offset + index as i64 * ty.bytes() as i64;
            match self.results.get(&(name, at)) {
                Some(&slot) => {
                    let value = self.convert_to(value, self.builder.slot_type(slot))?;
                    self.builder.set(slot, value);
                }
                None => {
                    self.arguments.insert((name, at), value);
                }
            }
        }
        Ok(())
    }
}

/// An operation by its word; minimum and maximum depend on the type.
#[derive(Clone, Copy)]
enum Atomic {
    Exact(AtomicOp),
    Min,
    Max,
}

const ATOMICS: &[(&str, Atomic)] = &[
    (".add", Atomic::Exact(AtomicOp::Add)),
    (".and", Atomic::Exact(AtomicOp::And)),
    (".or", Atomic::Exact(AtomicOp::Or)),
    (".xor", Atomic::Exact(AtomicOp::Xor)),
    (".exch", Atomic::Exact(AtomicOp::Exch)),
    (".cas", Atomic::Exact(AtomicOp::Cas)),
    (".inc", Atomic::Exact(AtomicOp::Inc)),
    (".dec", Atomic::Exact(AtomicOp::Dec)),
    (".min", Atomic::Min),
    (".max", Atomic::Max),
];

/// `.v2`, `.v4`: how many elements an access has.
fn lanes(modifiers: &mut Modifiers<'_, '_>) -> u8 {
    modifiers.one_of(&[(".v2", 2), (".v4", 4)]).unwrap_or(1)
}

/// An operand's elements.
fn parts<'a, 't>(operand: &'a Operand<'t>, count: u8) -> Result<Vec<&'a Operand<'t>>, Fault> {
    match operand {
        Operand::Vector(parts) if parts.len() == usize::from(count) => Ok(parts.iter().collect()),
        Operand::Vector(_) => Err("the vector has another length than the access".to_string()),
        one if count == 1 => Ok(vec![one]),
        _ => Err("the access needs a vector".to_string()),
    }
}

pub(super) fn access(ty: MemType, count: u8, space: ir::Space) -> Access {
    Access {
        ty,
        count,
        space,
        volatile: false,
        block_scope: false,
        read_only: false,
        partial: false,
        object: None,
        row_len: 0,
        is_member: false,
        align_bytes: 0,
        merged: false,
    }
}
