//! Arithmetic. No operation is written in a form that has an undefined case in LLVM, except signed sums and products of the source, whose
//! overflow the simulator reports. No operation may be contracted or reordered.

use ir::{BinaryOp, Operand, SpecialReg, Type, UnaryOp, ValueId};

use super::{super::kernel::Kernel, PURE, plain_binary, ty};
use crate::{Error, emit::routine};

#[derive(Clone, Copy, PartialEq)]
enum Shift {
    Left,
    Logical,
    Arithmetic,
}

impl Kernel<'_, '_> {
    pub(super) fn unary(&mut self, result: ValueId, op: UnaryOp, ty: Type, a: Operand) {
        let name = match op {
            UnaryOp::Neg | UnaryOp::SNeg => {
                let name = match op {
                    UnaryOp::SNeg => "sub nsw",
                    _ => "sub",
                };
                let text = format!("{name} {} 0, {}", ty::value(ty), self.operand(a));
                return self.result(result, text);
            }
            UnaryOp::Not => {
                let text = format!("xor {}, -1", self.typed(a));
                return self.result(result, text);
            }
            UnaryOp::Clz => {
                let text = format!(
                    "call {0} @llvm.ctlz.{0}({0} {1}, i1 false)",
                    ty::value(ty),
                    self.operand(a)
                );
                return self.result(result, text);
            }
            UnaryOp::FNeg if self.seen[result.index()].as_number_only => {
                let text = format!("fneg {}", self.typed(a));
                return self.result(result, text);
            }
            UnaryOp::FNeg => return self.sign(result, ty, a, "xor", i64::MIN),
            UnaryOp::FAbs if self.seen[result.index()].as_number_only => "fabs",
            UnaryOp::FAbs => return self.sign(result, ty, a, "and", i64::MAX),
            UnaryOp::Popc => "ctpop",
            UnaryOp::Brev => "bitreverse",
            UnaryOp::FSqrt => "sqrt",
            UnaryOp::FFloor => "floor",
            UnaryOp::FCeil => "ceil",
            UnaryOp::FTrunc => "trunc",
            UnaryOp::FRint => "roundeven",
            UnaryOp::FRound => "round",
            UnaryOp::RcpApprox
            | UnaryOp::RsqrtApprox
            | UnaryOp::SqrtApprox
            | UnaryOp::Ex2Approx
            | UnaryOp::Lg2Approx
            | UnaryOp::SinApprox
            | UnaryOp::CosApprox
            | UnaryOp::TanhApprox => unreachable!("{op} is written below"),
        };
        self.intrinsic(result, name, ty, &[a]);
    }

    /// An instruction of the units for approximate functions; it has the operation's name.
    pub(super) fn approximate(
        &mut self,
        result: ValueId,
        op: UnaryOp,
        a: Operand,
    ) -> Result<(), Error> {
        let name = op.text().replace('_', ".");
        let name = match op == UnaryOp::TanhApprox {
            true => {
                self.needs(75, &format!("`{name}`"))?;
                format!("{name}.f32")
            }
            false => format!("{name}.ftz.f"),
        };
        let call = format!("call float @llvm.nvvm.{name}({})", self.typed(a));
        self.result(result, call);
        Ok(())
    }

    /// `a * b + c` of the halves in each word.
    pub(super) fn fma_halves(&mut self, result: ValueId, operands: [Operand; 3]) {
        let words = operands.map(|operand| self.typed(operand));
        if self.m.arch >= 53 {
            // Assembly, because LLVM produces other NaNs.
            let asm = "asm \"fma.rn.f16x2 $0, $1, $2, $3;\", \"=r,r,r,r\"";
            let words = words.join(", ");
            return self.result(result, format!("call i32 {asm}({words}) {PURE}"));
        }
        // In double precision the sum is practically exact.
        let mut halves = [0, 16].map(|shift| {
            let wide = words.each_ref().map(|word| {
                let shifted = self.fresh(format!("lshr {word}, {shift}"));
                let half = self.fresh(format!("trunc i32 {shifted} to i16"));
                let asm = "asm \"cvt.f64.f16 $0, $1;\", \"=d,h\"";
                format!(
                    "double {}",
                    self.fresh(format!("call double {asm}(i16 {half}) {PURE}"))
                )
            });
            let sum = self.fresh(format!("call double @llvm.fma.f64({})", wide.join(", ")));
            let asm = "asm \"cvt.rn.f16.f64 $0, $1;\", \"=h,d\"";
            let half = self.fresh(format!("call i16 {asm}(double {sum}) {PURE}"));
            self.fresh(format!("zext i16 {half} to i32"))
        });
        halves[1] = self.fresh(format!("shl i32 {}, 16", halves[1]));
        self.result(result, format!("or i32 {}, {}", halves[0], halves[1]));
    }

    /// Changes a sign by an integer operation. `neg.f32` and `abs.f32` may give another NaN, and LLVM would make them from plain bit
    /// operations.
    fn sign(&mut self, result: ValueId, ty: Type, a: Operand, name: &str, mask: i64) {
        let (bits, value) = (ty::bits(ty), ty::value(ty));
        let (width, class, mask) = match ty {
            Type::F64 => (64, "l", mask),
            // The high half of the mask.
            _ => (32, "r", mask >> 32),
        };
        let a = self.typed(a);
        let a = self.fresh(format!("bitcast {a} to {bits}"));
        let changed = self.fresh(format!(
            "call {bits} asm \"{name}.b{width} $0, $1, {mask};\", \"={class},{class}\"({bits} {a}) {PURE}"
        ));
        self.result(result, format!("bitcast {bits} {changed} to {value}"));
    }

    pub(super) fn binary(
        &mut self,
        result: ValueId,
        op: BinaryOp,
        ty: Type,
        a: Operand,
        b: Operand,
    ) {
        if self.writes_dot(result, op, a, b) {
            return;
        }
        if let Some(name) = plain_binary(op) {
            let text = format!("{name} {}, {}", self.typed(a), self.operand(b));
            return self.result(result, text);
        }
        let name = match op {
            BinaryOp::SMin => "smin",
            BinaryOp::SMax => "smax",
            BinaryOp::UMin => "umin",
            BinaryOp::UMax => "umax",
            BinaryOp::FMin => "minimumnum",
            BinaryOp::FMax => "maximumnum",
            BinaryOp::SMulHi => return self.mul_high(result, ty, a, b, "sext"),
            BinaryOp::UMulHi => return self.mul_high(result, ty, a, b, "zext"),
            BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem => {
                return self.divide(result, op, ty, a, b);
            }
            BinaryOp::Shl => return self.shift(result, Shift::Left, ty, a, b),
            BinaryOp::LShr => return self.shift(result, Shift::Logical, ty, a, b),
            BinaryOp::AShr => return self.shift(result, Shift::Arithmetic, ty, a, b),
            BinaryOp::FRem => {
                let symbol = routine::remainder(ty);
                self.m.declare(symbol);
                let (a, b) = (self.typed(a), self.typed(b));
                let ty = ty::value(ty);
                return self.result(result, format!("call {ty} @{symbol}({a}, {b})"));
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::SAdd
            | BinaryOp::SSub
            | BinaryOp::SMul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::SDot4
            | BinaryOp::UDot4
            | BinaryOp::SDot2Lo
            | BinaryOp::SDot2Hi
            | BinaryOp::UDot2Lo
            | BinaryOp::UDot2Hi
            | BinaryOp::FAdd
            | BinaryOp::FSub
            | BinaryOp::FMul
            | BinaryOp::FDiv => unreachable!("{op} is written above"),
        };
        self.intrinsic(result, name, ty, &[a, b]);
    }

    /// The high half of a product, computed with twice the width.
    fn mul_high(&mut self, result: ValueId, ty: Type, a: Operand, b: Operand, extend: &str) {
        let (narrow, wide, width) = match ty {
            Type::I64 => ("i64", "i128", 64),
            _ => ("i32", "i64", 32),
        };
        let (a, b) = (self.operand(a), self.operand(b));
        let a = self.fresh(format!("{extend} {narrow} {a} to {wide}"));
        let b = self.fresh(format!("{extend} {narrow} {b} to {wide}"));
        let product = self.fresh(format!("mul {wide} {a}, {b}"));
        let high = self.fresh(format!("lshr {wide} {product}, {width}"));
        self.result(result, format!("trunc {wide} {high} to {narrow}"));
    }

    /// Division and remainder. LLVM's are undefined for a divisor of 0, and for the least value divided by -1: such divisors are replaced
    /// by 1, and the result is chosen afterwards. A constant divisor needs none of that.
    fn divide(&mut self, result: ValueId, op: BinaryOp, ty: Type, a: Operand, b: Operand) {
        let name = op.text();
        let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
        let quotient = matches!(op, BinaryOp::SDiv | BinaryOp::UDiv);
        let text_ty = ty::value(ty);
        let a = self.operand(a);
        let minus_one = match ty {
            Type::I32 => u32::MAX as u64,
            _ => u64::MAX,
        };
        if let Operand::Const(divisor) = b {
            let text = match (divisor.bits, quotient) {
                (0, true) => format!("or {text_ty} {a}, -1"),
                (0, false) => format!("or {text_ty} {a}, 0"),
                (bits, true) if signed && bits == minus_one => format!("sub {text_ty} 0, {a}"),
                (bits, false) if signed && bits == minus_one => format!("and {text_ty} {a}, 0"),
                _ => format!("{name} {text_ty} {a}, {}", self.operand(b)),
            };
            return self.result(result, text);
        }
        let b = self.operand(b);
        let is_zero = self.fresh(format!("icmp eq {text_ty} {b}, 0"));
        let unsafe_divisor = if signed {
            let next = self.fresh(format!("add {text_ty} {b}, 1"));
            self.fresh(format!("icmp ult {text_ty} {next}, 2"))
        } else {
            is_zero.clone()
        };
        let safe = self.fresh(format!(
            "select i1 {unsafe_divisor}, {text_ty} 1, {text_ty} {b}"
        ));
        let mut given = self.fresh(format!("{name} {text_ty} {a}, {safe}"));
        if !quotient {
            // The remainder of a division by -1 is 0, and so is that of a division by 1.
            return self.result(
                result,
                format!("select i1 {is_zero}, {text_ty} {a}, {text_ty} {given}"),
            );
        }
        if signed {
            let negative = self.fresh(format!("sub {text_ty} 0, {a}"));
            let by_minus_one = self.fresh(format!("icmp eq {text_ty} {b}, -1"));
            given = self.fresh(format!(
                "select i1 {by_minus_one}, {text_ty} {negative}, {text_ty} {given}"
            ));
        }
        self.result(
            result,
            format!("select i1 {is_zero}, {text_ty} -1, {text_ty} {given}"),
        );
    }

    /// A shift with any count. The hardware's shifts clamp the count; LLVM recognises them in this form.
    fn shift(&mut self, result: ValueId, shift: Shift, ty: Type, a: Operand, b: Operand) {
        let name = match shift {
            Shift::Left => "shl",
            Shift::Logical => "lshr",
            Shift::Arithmetic => "ashr",
        };
        let text_ty = ty::value(ty);
        let width: u64 = if ty == Type::I64 { 64 } else { 32 };
        let a = self.operand(a);
        if let Operand::Const(count) = b {
            let count = count.bits & 0xffff_ffff;
            let text = match shift {
                _ if count < width => format!("{name} {text_ty} {a}, {count}"),
                Shift::Arithmetic => format!("ashr {text_ty} {a}, {}", width - 1),
                Shift::Left | Shift::Logical => format!("and {text_ty} {a}, 0"),
            };
            return self.result(result, text);
        }
        let mut count = self.operand(b);
        if self.type_of(b) == Type::I64 {
            // Only the low 32 bits matter.
            count = self.fresh(format!("trunc i64 {count} to i32"));
        }
        let wide = |kernel: &mut Self, count: String| match ty {
            Type::I64 => kernel.fresh(format!("zext i32 {count} to i64")),
            _ => count,
        };
        if shift == Shift::Arithmetic {
            let most = width - 1;
            let clamped = self.fresh(format!("call i32 @llvm.umin.i32(i32 {count}, i32 {most})"));
            let clamped = wide(self, clamped);
            return self.result(result, format!("ashr {text_ty} {a}, {clamped}"));
        }
        let in_range = self.fresh(format!("icmp ult i32 {count}, {width}"));
        let count = wide(self, count);
        let shifted = self.fresh(format!("{name} {text_ty} {a}, {count}"));
        self.result(
            result,
            format!("select i1 {in_range}, {text_ty} {shifted}, {text_ty} 0"),
        );
    }

    pub(super) fn special(&mut self, result: ValueId, register: SpecialReg) {
        let name = match register {
            SpecialReg::ActiveMask => "activemask".to_string(),
            SpecialReg::CooperativeGrid => return self.is_cooperative(result),
            register => format!("read.ptx.sreg.{register}"),
        };
        let ty = ty::value(register.ty());
        self.result(result, format!("call {ty} @llvm.nvvm.{name}()"));
    }

    /// For a cooperative launch, the driver puts the address of the grid's workspace into two environment registers.
    fn is_cooperative(&mut self, result: ValueId) {
        let mut part = |number: u32| {
            self.fresh(format!(
                "call i32 @llvm.nvvm.read.ptx.sreg.envreg{number}()"
            ))
        };
        let (low, high) = (part(2), part(1));
        let either = self.fresh(format!("or i32 {low}, {high}"));
        let is = self.fresh(format!("icmp ne i32 {either}, 0"));
        self.result(result, format!("zext i1 {is} to i32"));
    }
}
