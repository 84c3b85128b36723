//! Addresses, loads, stores and atomics.

use ir::{Access, AtomicOp, MemType, Object, Operand, Type, ValueId};

use super::{super::kernel::Kernel, ty};
use ir::symbol::global_symbol;

use crate::{Error, emit::global::DYNAMIC_SHARED};

/// The operands of an [`InstKind::PtrAdd`](ir::InstKind::PtrAdd).
pub(super) struct Parts {
    pub(super) base: Operand,
    pub(super) index: Operand,
    pub(super) unsigned: bool,
    pub(super) scale_bytes: i64,
    pub(super) offset_bytes: i64,
}

impl Kernel<'_, '_> {
    pub(super) fn address_of(&mut self, result: ValueId, object: Object) -> Result<(), Error> {
        let space = match self.m.module.object_space(object) {
            Some(space) => space,
            None => return Err(self.m.unsupported("a host variable in a kernel", self.at)),
        };
        let address = match object {
            Object::Shared(id) if self.f.shared[id.index()].dynamic => {
                format!("ptr addrspace(3) @{DYNAMIC_SHARED}")
            }
            Object::Shared(id) => {
                let symbol = self.m.shared_symbol(self.id, self.f, id);
                format!("ptr addrspace(3) @{symbol}")
            }
            Object::Local(id) => format!("ptr %l{}", id.0),
            Object::Global(id) => {
                let symbol = global_symbol(self.m.module, id.index());
                format!("{} @{symbol}", ty::pointer(space))
            }
            Object::String(id) => format!("ptr {}", self.m.string_address(id)),
        };
        // Without inferred spaces, an address is generic from the start.
        let given = self.f.values[result.index()];
        let text = match given {
            Type::Ptr(given) if !ty::same_space(given, space) => {
                self.change_space(&address, space, given)
            }
            _ => format!("getelementptr i8, {address}, i32 0"),
        };
        self.result(result, text);
        Ok(())
    }

    /// Base + index * scale + offset. 64-bit pointers extend an `i32` index, 32-bit pointers use it unchanged. The instruction makes no
    /// promise about overflow or bounds.
    pub(super) fn ptr_add(&mut self, result: ValueId, parts: Parts) {
        let base = self.typed_base(parts.base);
        let offset = parts.offset_bytes;
        if let Operand::Const(index) = parts.index {
            let index = match index.ty {
                Type::I32 if parts.unsigned => index.bits as u32 as i64,
                Type::I32 => index.bits as i32 as i64,
                _ => index.bits as i64,
            };
            let bytes = index.wrapping_mul(parts.scale_bytes).wrapping_add(offset);
            return self.result(result, format!("getelementptr i8, {base}, i64 {bytes}"));
        }
        let mut index = self.typed(parts.index);
        if self.type_of(parts.index) == Type::I32 && parts.unsigned {
            index = format!("i64 {}", self.fresh(format!("zext {index} to i64")));
        }
        let element = match u64::try_from(parts.scale_bytes) {
            Ok(scale) => format!("[{scale} x i8]"),
            Err(_) => {
                if self.type_of(parts.index) == Type::I32 && !parts.unsigned {
                    index = format!("i64 {}", self.fresh(format!("sext {index} to i64")));
                }
                let scaled = self.fresh(format!("mul {index}, {}", parts.scale_bytes));
                index = format!("i64 {scaled}");
                "i8".to_string()
            }
        };
        let text = format!("getelementptr {element}, {base}, {index}");
        if offset == 0 {
            return self.result(result, text);
        }
        let indexed = self.fresh(text);
        let pointer = ty::value(self.type_of(parts.base));
        self.result(
            result,
            format!("getelementptr i8, {pointer} {indexed}, i64 {offset}"),
        );
    }

    /// Converts a value from its form in memory to the value's type.
    fn widen_loaded(&mut self, result: ValueId, ty: MemType, raw: &str) {
        let text = match ty {
            MemType::Bool => format!("icmp ne i8 {raw}, 0"),
            MemType::S8 => format!("sext i8 {raw} to i32"),
            MemType::U8 => format!("zext i8 {raw} to i32"),
            MemType::S16 => format!("sext i16 {raw} to i32"),
            MemType::U16 => format!("zext i16 {raw} to i32"),
            MemType::I32 | MemType::I64 | MemType::F32 | MemType::F64 | MemType::Ptr => {
                unreachable!("{ty} is loaded as it is")
            }
        };
        self.result(result, text);
    }

    /// Converts a value to its form in memory.
    fn narrowed(&mut self, ty: MemType, value: Operand) -> String {
        let typed = self.typed(value);
        match ty {
            MemType::Bool => self.fresh(format!("zext {typed} to i8")),
            MemType::S8 | MemType::U8 => self.fresh(format!("trunc {typed} to i8")),
            MemType::S16 | MemType::U16 => self.fresh(format!("trunc {typed} to i16")),
            MemType::I32 | MemType::I64 | MemType::F32 | MemType::F64 => self.operand(value),
            MemType::Ptr => {
                let generic = self.generic(value);
                generic.trim_start_matches("ptr ").to_string()
            }
        }
    }

    pub(super) fn load(&mut self, results: &[ValueId], access: Access, ptr: Operand) {
        let pointer = self.pointer(ptr, access.space);
        let volatile = if access.volatile { "volatile " } else { "" };
        let element = ty::memory(access.ty);
        let align = access.width_bytes().max(access.align_bytes);
        let narrow = is_narrow(access.ty);
        if let [result] = results {
            let text = format!("load {volatile}{element}, {pointer}, align {align}");
            if narrow {
                let raw = self.fresh(text);
                self.widen_loaded(*result, access.ty, &raw);
            } else {
                self.result(*result, text);
            }
            return;
        }
        let vector = format!("<{} x {element}>", access.count);
        let all = self.fresh(format!("load {volatile}{vector}, {pointer}, align {align}"));
        for (index, result) in results.iter().enumerate() {
            let text = format!("extractelement {vector} {all}, i32 {index}");
            if narrow {
                let raw = self.fresh(text);
                self.widen_loaded(*result, access.ty, &raw);
            } else {
                self.result(*result, text);
            }
        }
    }

    pub(super) fn store(&mut self, access: Access, ptr: Operand, values: &[Operand]) {
        let pointer = self.pointer(ptr, access.space);
        let volatile = if access.volatile { "volatile " } else { "" };
        let element = ty::memory(access.ty);
        let align = access.width_bytes().max(access.align_bytes);
        if let [value] = values {
            let value = self.narrowed(access.ty, *value);
            return self.line(format!(
                "store {volatile}{element} {value}, {pointer}, align {align}"
            ));
        }
        let vector = format!("<{} x {element}>", access.count);
        let mut all = "poison".to_string();
        for (index, value) in values.iter().enumerate() {
            let value = self.narrowed(access.ty, *value);
            all = self.fresh(format!(
                "insertelement {vector} {all}, {element} {value}, i32 {index}"
            ));
        }
        self.line(format!(
            "store {volatile}{vector} {all}, {pointer}, align {align}"
        ));
    }

    /// An atomic, relaxed and with device scope: CUDA's `atomicAdd` and similar.
    pub(super) fn atomic(
        &mut self,
        result: Option<ValueId>,
        op: AtomicOp,
        access: Access,
        ptr: Operand,
        value: Operand,
        compare: Option<Operand>,
    ) {
        let order = if access.block_scope {
            "syncscope(\"block\") monotonic"
        } else {
            "syncscope(\"device\") monotonic"
        };
        let pointer = self.pointer(ptr, access.space);
        let width = access.width_bytes();
        let element = ty::memory(access.ty);
        let is_float = matches!(access.ty, MemType::F32 | MemType::F64);
        let name = match op {
            AtomicOp::Add if is_float => "fadd",
            AtomicOp::Add => "add",
            AtomicOp::Sub => "sub",
            AtomicOp::SMin => "min",
            AtomicOp::SMax => "max",
            AtomicOp::UMin => "umin",
            AtomicOp::UMax => "umax",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Inc => "uinc_wrap",
            AtomicOp::Dec => "udec_wrap",
            AtomicOp::Exch | AtomicOp::Store => "xchg",
            AtomicOp::Cas => {
                let compare = compare.map_or("0".to_string(), |compare| self.operand(compare));
                let value = self.operand(value);
                let is_narrow = is_narrow(access.ty);
                let mut cut = |operand: String| match is_narrow {
                    true => self.fresh(format!("trunc i32 {operand} to {element}")),
                    false => operand,
                };
                let (compare, value) = (cut(compare), cut(value));
                let pair = self.fresh(format!(
                    "cmpxchg {pointer}, {element} {compare}, {element} {value} {order} monotonic, align {width}"
                ));
                if let Some(result) = result {
                    let text = format!("extractvalue {{ {element}, i1 }} {pair}, 0");
                    if is_narrow {
                        let old = self.fresh(text);
                        self.result(result, format!("zext {element} {old} to i32"));
                    } else {
                        self.result(result, text);
                    }
                }
                return;
            }
        };
        let mut value = self.typed(value);
        let exchanges = matches!(op, AtomicOp::Exch | AtomicOp::Store);
        let exchanged_bits = (exchanges && is_float).then(|| {
            let bits = ty::bits(access.ty.value_type());
            value = format!(
                "{bits} {}",
                self.fresh(format!("bitcast {value} to {bits}"))
            );
            bits
        });
        let old = self.fresh(format!(
            "atomicrmw {name} {pointer}, {value} {order}, align {width}"
        ));
        if let Some(result) = result {
            let text = match exchanged_bits {
                Some(bits) => format!("bitcast {bits} {old} to {element}"),
                None => format!("bitcast {element} {old} to {element}"),
            };
            self.result(result, text);
        }
    }
}

/// Whether values of the type are wider than their form in memory.
fn is_narrow(ty: MemType) -> bool {
    match ty {
        MemType::Bool | MemType::S8 | MemType::U8 | MemType::S16 | MemType::U16 => true,
        MemType::I32 | MemType::I64 | MemType::F32 | MemType::F64 | MemType::Ptr => false,
    }
}
