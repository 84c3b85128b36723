//! Instructions, by family: `arith`, `bfloat16`, `dot`, `convert`, `memory`, `collective`, `exchange`.

mod arith;
mod bfloat16;
mod collective;
mod convert;
mod dot;
mod exchange;
mod memory;

use ir::{BinaryOp, CompareOp, Inst, InstKind, Type, UnaryOp};

use super::{kernel::Kernel, ty};
use crate::Error;

pub(super) use dot::Dot;

/// Attributes of assembly that only computes. LLVM does not derive them: it does not count the rounds of a loop in which something may not
/// return, and does not unroll such a loop.
const PURE: &str = "nounwind willreturn memory(none)";

/// Whether the instruction uses its operands only as numbers, so that all NaNs are equivalent.
pub(super) fn reads_numbers(kind: &InstKind) -> bool {
    match kind {
        // Negation and the absolute value keep sign and payload. Integers have no NaN.
        InstKind::Unary(op, ty, _) => {
            !ty.is_float()
                || matches!(
                    op,
                    UnaryOp::FSqrt
                        | UnaryOp::FFloor
                        | UnaryOp::FCeil
                        | UnaryOp::FTrunc
                        | UnaryOp::FRint
                        | UnaryOp::FRound
                        | UnaryOp::RcpApprox
                        | UnaryOp::RsqrtApprox
                        | UnaryOp::SqrtApprox
                        | UnaryOp::Ex2Approx
                        | UnaryOp::Lg2Approx
                        | UnaryOp::SinApprox
                        | UnaryOp::CosApprox
                        | UnaryOp::TanhApprox
                )
        }
        InstKind::Binary(op, ty, ..) => {
            !ty.is_float()
                || matches!(
                    op,
                    BinaryOp::FAdd
                        | BinaryOp::FSub
                        | BinaryOp::FMul
                        | BinaryOp::FDiv
                        | BinaryOp::FRem
                        | BinaryOp::FMin
                        | BinaryOp::FMax
                )
        }
        InstKind::Fma(..) | InstKind::Compare(..) => true,
        // To an integer that is not the same bits, sign and payload of a NaN are lost. To the other float they are kept.
        InstKind::Convert(op, _) => {
            !op.from_type().is_float() || !op.to_type().is_float() && !op.keeps_bits()
        }
        _ => false,
    }
}

impl Kernel<'_, '_> {
    /// Writes one instruction. This is a table: one arm per instruction.
    pub(super) fn inst(&mut self, inst: &Inst) -> Result<(), Error> {
        match &inst.kind {
            InstKind::Get(slot) => {
                let ty = ty::value(self.f.slots[slot.index()].ty);
                self.result(inst.results[0], format!("load {ty}, ptr %s{}", slot.0));
            }
            InstKind::Set(slot, value) => {
                let value = self.typed(*value);
                self.line(format!("store {value}, ptr %s{}", slot.0));
            }
            InstKind::Unary(op, _, a) if op.is_approximate() => {
                self.approximate(inst.results[0], *op, *a)?;
            }
            InstKind::Unary(op, ty, a) => self.unary(inst.results[0], *op, *ty, *a),
            InstKind::Binary(op, ty, a, b) => self.binary(inst.results[0], *op, *ty, *a, *b),
            InstKind::FmaHalves(a, b, c) => self.fma_halves(inst.results[0], [*a, *b, *c]),
            InstKind::FmaBfloats(a, b, c) => self.fma_bfloats(inst.results[0], [*a, *b, *c]),
            InstKind::Fma(ty, a, b, c) => {
                let operands = [*a, *b, *c];
                self.intrinsic(inst.results[0], "fma", *ty, &operands);
            }
            InstKind::Compare(op, ty, a, b) => {
                let (name, ty) = (compare_name(*op), ty::value(*ty));
                let (a, b) = (self.operand(*a), self.operand(*b));
                self.result(inst.results[0], format!("{name} {ty} {a}, {b}"));
            }
            InstKind::Select(_, condition, a, b) => {
                let condition = self.operand(*condition);
                let (a, b) = (self.typed(*a), self.typed(*b));
                self.result(inst.results[0], format!("select i1 {condition}, {a}, {b}"));
            }
            InstKind::Convert(op, a) => self.convert(inst.results[0], *op, *a),
            InstKind::Special(register) => self.special(inst.results[0], *register),
            InstKind::AddrOf(object) => self.address_of(inst.results[0], *object)?,
            InstKind::PtrAdd {
                base,
                index,
                unsigned,
                scale_bytes,
                offset_bytes,
            } => {
                let parts = memory::Parts {
                    base: *base,
                    index: *index,
                    unsigned: *unsigned,
                    scale_bytes: *scale_bytes,
                    offset_bytes: *offset_bytes,
                };
                self.ptr_add(inst.results[0], parts);
            }
            InstKind::Load(access, ptr) => self.load(&inst.results, *access, *ptr),
            InstKind::Store(access, ptr, values) => self.store(*access, *ptr, values),
            InstKind::Atomic {
                op,
                access,
                ptr,
                value,
                compare,
            } => self.atomic(
                inst.results.first().copied(),
                *op,
                *access,
                *ptr,
                *value,
                *compare,
            ),
            InstKind::Barrier(None) => self.barrier(),
            InstKind::Barrier(Some((reduce, predicate))) => {
                self.barrier_reduce(inst.results[0], *reduce, *predicate);
            }
            InstKind::Exchange(exchange) => self.exchange(&inst.results, exchange)?,
            InstKind::Intrinsic(intrinsic, args) => {
                self.fixed_form(*intrinsic, args, inst.results.first().copied());
            }
            // A full fence is at least as strong.
            InstKind::Fence(scope) | InstKind::AcqRelFence(scope) => self.fence(*scope),
            InstKind::Printf(format, args) => {
                self.printf(inst.results.first().copied(), *format, args);
            }
            InstKind::Assert(condition, text) => self.assert(*condition, *text),
            InstKind::Unsupported(_) => {
                return Err(self
                    .m
                    .unsupported("an instruction of PTX that dslc cannot run", inst.loc));
            }
            // Only the simulator checks these; on a GPU they cost nothing.
            InstKind::Lifetime(..) => {}
            InstKind::Launch(_) => {
                return Err(self.m.unsupported("a launch from a kernel", inst.loc));
            }
            InstKind::CallRoutine(callee, args) => self.call_routine(inst, *callee, args),
            InstKind::Call(..) | InstKind::HostCall(..) => {
                return Err(self
                    .m
                    .unsupported("a call of the host's in a kernel", inst.loc));
            }
        }
        Ok(())
    }

    /// A call of `llvm.NAME.TYPE` whose operands and result have the same type.
    fn intrinsic(&mut self, result: ir::ValueId, name: &str, ty: Type, operands: &[ir::Operand]) {
        let operands: Vec<String> = operands
            .iter()
            .map(|operand| self.typed(*operand))
            .collect();
        let text = format!(
            "call {} @llvm.{name}.{}({})",
            ty::value(ty),
            ty::suffix(ty),
            operands.join(", ")
        );
        self.result(result, text);
    }
}

/// The LLVM instruction and its condition. `feq` and similar are false for NaN, `fne` is true.
fn compare_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "icmp eq",
        CompareOp::Ne => "icmp ne",
        CompareOp::Slt => "icmp slt",
        CompareOp::Sle => "icmp sle",
        CompareOp::Sgt => "icmp sgt",
        CompareOp::Sge => "icmp sge",
        CompareOp::Ult => "icmp ult",
        CompareOp::Ule => "icmp ule",
        CompareOp::Ugt => "icmp ugt",
        CompareOp::Uge => "icmp uge",
        CompareOp::FEq => "fcmp oeq",
        CompareOp::FNe => "fcmp une",
        CompareOp::FLt => "fcmp olt",
        CompareOp::FLe => "fcmp ole",
        CompareOp::FGt => "fcmp ogt",
        CompareOp::FGe => "fcmp oge",
    }
}

/// The LLVM instruction for a binary operation, if there is one. Only the source's signed arithmetic has undefined cases, which are
/// undefined in the source, too.
fn plain_binary(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::SAdd => "add nsw",
        BinaryOp::SSub => "sub nsw",
        BinaryOp::SMul => "mul nsw",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Xor => "xor",
        BinaryOp::FAdd => "fadd",
        BinaryOp::FSub => "fsub",
        BinaryOp::FMul => "fmul",
        BinaryOp::FDiv => "fdiv",
        _ => return None,
    })
}
