//! Exchanges between the lanes of a warp: shuffles, votes, matches, reductions.

use ir::{Exchange, ExchangeOp, Operand, ReduceOp, ShuffleMode, Type, ValueId, VoteOp};

use super::{super::kernel::Kernel, ty};
use crate::{Error, emit::routine};

impl Kernel<'_, '_> {
    pub(super) fn exchange(
        &mut self,
        results: &[ValueId],
        exchange: &Exchange,
    ) -> Result<(), Error> {
        // The functions without a mask mean the active lanes.
        let mask = match exchange.mask {
            Some(mask) => self.operand(mask),
            None => self.fresh("call i32 @llvm.nvvm.activemask()"),
        };
        let value = exchange.value;
        match &exchange.op {
            ExchangeOp::Shuffle {
                mode,
                ty,
                lane,
                width,
            } => self.shuffle(results[0], &mask, (*mode, *ty), value, *lane, *width),
            ExchangeOp::Vote(op) => {
                let ty = match op {
                    VoteOp::All | VoteOp::Any | VoteOp::Uni => "i1",
                    VoteOp::Ballot => "i32",
                };
                let value = self.typed(value);
                self.result(
                    results[0],
                    format!("call {ty} @llvm.nvvm.vote.{op}.sync(i32 {mask}, {value})"),
                );
            }
            ExchangeOp::MatchAny(ty) => {
                self.needs(70, "a match of lanes")?;
                let value = self.typed(value);
                self.result(
                    results[0],
                    format!(
                        "call i32 @llvm.nvvm.match.any.sync.{}(i32 {mask}, {value})",
                        ty::value(*ty)
                    ),
                );
            }
            ExchangeOp::MatchAll(ty) => {
                self.needs(70, "a match of lanes")?;
                let value = self.typed(value);
                let pair = self.fresh(format!(
                    "call {{ i32, i1 }} @llvm.nvvm.match.all.sync.{}p(i32 {mask}, {value})",
                    ty::value(*ty)
                ));
                for (index, result) in results.iter().enumerate() {
                    self.result(
                        *result,
                        format!("extractvalue {{ i32, i1 }} {pair}, {index}"),
                    );
                }
            }
            ExchangeOp::Reduce(op) => self.reduce(results[0], *op, &mask, value),
        }
        Ok(())
    }

    /// PTX's `shfl`, with the clamp and the segment mask in one operand, as CUDA's functions pass them.
    fn shuffle(
        &mut self,
        result: ValueId,
        mask: &str,
        (mode, ty): (ShuffleMode, Type),
        value: Operand,
        lane: Operand,
        width: Operand,
    ) {
        let (name, clamp) = match mode {
            ShuffleMode::Idx => ("idx", 31),
            ShuffleMode::Up => ("up", 0),
            ShuffleMode::Down => ("down", 31),
            ShuffleMode::Xor => ("bfly", 31),
        };
        let control = match width {
            Operand::Const(width) => {
                let parts = 32u32.wrapping_sub(width.bits as u32) & 31;
                (parts << 8 | clamp).to_string()
            }
            Operand::Value(_) => {
                let width = self.operand(width);
                let parts = self.fresh(format!("sub i32 32, {width}"));
                let parts = self.fresh(format!("and i32 {parts}, 31"));
                let parts = self.fresh(format!("shl i32 {parts}, 8"));
                self.fresh(format!("or i32 {parts}, {clamp}"))
            }
        };
        let typed = self.typed(value);
        let is_float = ty == Type::F32;
        let bits = if is_float {
            let bits = self.fresh(format!("bitcast {typed} to i32"));
            format!("i32 {bits}")
        } else {
            typed
        };
        let lane = self.operand(lane);
        let call = format!(
            "call i32 @llvm.nvvm.shfl.sync.{name}.i32(i32 {mask}, {bits}, i32 {lane}, i32 {control})"
        );
        if is_float {
            let given = self.fresh(call);
            self.result(result, format!("bitcast i32 {given} to float"));
        } else {
            self.result(result, call);
        }
    }

    /// `redux`, or a loop over the lanes before sm_80.
    fn reduce(&mut self, result: ValueId, op: ReduceOp, mask: &str, value: Operand) {
        let value = self.operand(value);
        if self.m.arch >= 80 {
            let name = match op {
                ReduceOp::Add => "add",
                ReduceOp::SMin => "min",
                ReduceOp::SMax => "max",
                ReduceOp::UMin => "umin",
                ReduceOp::UMax => "umax",
                ReduceOp::And => "and",
                ReduceOp::Or => "or",
                ReduceOp::Xor => "xor",
            };
            return self.result(
                result,
                format!("call i32 @llvm.nvvm.redux.sync.{name}(i32 {value}, i32 {mask})"),
            );
        }
        let key = routine::reduction(op);
        self.m.declare(key);
        self.result(result, format!("call i32 @{key}(i32 {value}, i32 {mask})"));
    }

    /// Returns an error for targets before `arch`.
    pub(super) fn needs(&self, arch: u32, what: &str) -> Result<(), Error> {
        if self.m.arch < arch {
            let what = format!(
                "{what}, which needs sm_{arch} (this is for sm_{}),",
                self.m.arch
            );
            return Err(self.m.unsupported(what, self.at));
        }
        Ok(())
    }
}
