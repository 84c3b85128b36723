//! Conversions.

use ir::{ConvertOp, Operand, Space, Type, ValueId};

use super::{super::kernel::Kernel, PURE, ty};

/// The form of a conversion.
enum Form {
    /// One LLVM instruction to a type: `sext … to i64`.
    Cast(&'static str),
    /// An intrinsic that is one PTX instruction: `cvt.rzi`, which truncates and saturates.
    Call(&'static str),
    /// Two instructions: to that width and back.
    Narrow(&'static str, &'static str),
    /// A change of a pointer's space.
    Space,
    /// The generic address of a pointer.
    Address,
    /// A half from the low 16 bits of a word.
    FromHalf,
    /// A half to the low 16 bits.
    ToHalf,
    /// A bfloat16 to the low 16 bits.
    ToBfloat,
}

fn form(op: ConvertOp) -> Form {
    match op {
        ConvertOp::Sext => Form::Cast("sext"),
        ConvertOp::Zext | ConvertOp::BoolToI32 => Form::Cast("zext"),
        ConvertOp::Trunc => Form::Cast("trunc"),
        ConvertOp::Sext8 => Form::Narrow("i8", "sext"),
        ConvertOp::Zext8 => Form::Narrow("i8", "zext"),
        ConvertOp::Sext16 => Form::Narrow("i16", "sext"),
        ConvertOp::Zext16 => Form::Narrow("i16", "zext"),
        ConvertOp::S32ToF32 | ConvertOp::S64ToF32 | ConvertOp::S32ToF64 | ConvertOp::S64ToF64 => {
            Form::Cast("sitofp")
        }
        ConvertOp::U32ToF32 | ConvertOp::U64ToF32 | ConvertOp::U32ToF64 | ConvertOp::U64ToF64 => {
            Form::Cast("uitofp")
        }
        ConvertOp::F32ToS32 => Form::Call("f2i.rz"),
        ConvertOp::F32ToU32 => Form::Call("f2ui.rz"),
        ConvertOp::F32ToS64 => Form::Call("f2ll.rz"),
        ConvertOp::F32ToU64 => Form::Call("f2ull.rz"),
        ConvertOp::F64ToS32 => Form::Call("d2i.rz"),
        ConvertOp::F64ToU32 => Form::Call("d2ui.rz"),
        ConvertOp::F64ToS64 => Form::Call("d2ll.rz"),
        ConvertOp::F64ToU64 => Form::Call("d2ull.rz"),
        ConvertOp::F32ToF64 => Form::Cast("fpext"),
        ConvertOp::F64ToF32 => Form::Cast("fptrunc"),
        ConvertOp::F32Bits | ConvertOp::BitsToF32 | ConvertOp::F64Bits | ConvertOp::BitsToF64 => {
            Form::Cast("bitcast")
        }
        ConvertOp::F16ToF32 => Form::FromHalf,
        ConvertOp::F32ToF16 => Form::ToHalf,
        ConvertOp::F32ToBf16 => Form::ToBfloat,
        ConvertOp::PtrToInt => Form::Address,
        ConvertOp::IntToPtr => Form::Cast("inttoptr"),
        ConvertOp::ToGeneric | ConvertOp::ToGlobal | ConvertOp::ToShared | ConvertOp::ToLocal => {
            Form::Space
        }
    }
}

impl Kernel<'_, '_> {
    pub(super) fn convert(&mut self, result: ValueId, op: ConvertOp, a: Operand) {
        let to = ty::value(op.to_type());
        let is_made_float = matches!(op, ConvertOp::BitsToF32 | ConvertOp::BitsToF64);
        if is_made_float && self.keeps_bits(result, a) {
            let (bits, width, class) = match op {
                ConvertOp::BitsToF64 => ("i64", 64, "l"),
                _ => ("i32", 32, "r"),
            };
            let a = self.typed(a);
            let opaque = self.fresh(format!(
                "call {bits} asm \"mov.b{width} $0, $1;\", \"={class},{class}\"({a}) {PURE}"
            ));
            return self.result(result, format!("bitcast {bits} {opaque} to {to}"));
        }
        match form(op) {
            Form::Cast(name) => {
                let text = format!("{name} {} to {to}", self.typed(a));
                self.result(result, text);
            }
            Form::Call(name) => {
                let text = format!("call {to} @llvm.nvvm.{name}({})", self.typed(a));
                self.result(result, text);
            }
            Form::Narrow(width, extend) => {
                let narrow = format!("trunc {} to {width}", self.typed(a));
                let narrow = self.fresh(narrow);
                self.result(result, format!("{extend} {width} {narrow} to {to}"));
            }
            // Assembly, because LLVM produces other NaNs.
            Form::FromHalf => {
                let half = format!("trunc {} to i16", self.typed(a));
                let half = self.fresh(half);
                let asm = "asm \"cvt.f32.f16 $0, $1;\", \"=f,h\"";
                self.result(result, format!("call float {asm}(i16 {half}) {PURE}"));
            }
            Form::ToHalf => {
                let asm = "asm \"cvt.rn.f16.f32 $0, $1;\", \"=h,f\"";
                let half = format!("call i16 {asm}({}) {PURE}", self.typed(a));
                let half = self.fresh(half);
                self.result(result, format!("zext i16 {half} to i32"));
            }
            Form::ToBfloat => self.bfloat_of(result, a),
            Form::Space => {
                let from = self.type_of(a);
                let a = self.typed(a);
                let text = match (from, op.to_type()) {
                    (Type::Ptr(from), Type::Ptr(to)) if !ty::same_space(from, to) => {
                        self.change_space(&a, from, to)
                    }
                    _ => format!("getelementptr i8, {a}, i64 0"),
                };
                self.result(result, text);
            }
            Form::Address => {
                let pointer = self.generic(a);
                self.result(result, format!("ptrtoint {pointer} to i64"));
            }
        }
    }

    /// Whether a float made from computed bits has to be hidden from LLVM, which would turn a bit operation on them into `neg.f32` or
    /// `abs.f32`; these may give another NaN.
    fn keeps_bits(&self, result: ValueId, bits: Operand) -> bool {
        let is_computed = match bits {
            Operand::Value(id) => !self.seen[id.index()].is_loaded,
            Operand::Const(_) => false,
        };
        is_computed && !self.seen[result.index()].as_number_only
    }

    /// An operand as a pointer of that space, with its type. Only a null pointer may have another space.
    pub(super) fn pointer(&mut self, operand: Operand, space: Space) -> String {
        match operand {
            Operand::Const(constant) => {
                let constant = ir::Const {
                    ty: Type::Ptr(space),
                    ..constant
                };
                format!("{} {}", ty::pointer(space), ty::constant(constant))
            }
            Operand::Value(_) => self.typed(operand),
        }
    }
}
