//! What lanes do together: barriers, fences, exchanges.

use ir::{
    BarrierReduce, BinaryOp, CompareOp, Const, ExchangeOp, FenceScope, Intrinsic, Operand as Value,
    ReduceOp, ShuffleMode, SpecialReg, Type, VoteOp,
};

use super::inst::{This, operands};
use super::{Fault, Lowerer};
use crate::tree::Operand;

impl<'t> Lowerer<'_, 't> {
    pub(super) fn barrier(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        if modifiers.take(".warp") {
            let [mask] = operands(all)?;
            modifiers.take(".sync");
            let mask = self.read(mask, Type::I32)?;
            self.builder.intrinsic(Intrinsic::SyncWarp, vec![mask]);
            return Ok(());
        }
        // `bar` is always aligned; `barrier` is if it says so.
        let text = modifiers.text();
        let aligned = modifiers.take(".aligned") || text.starts_with("bar.");
        modifiers.take(".cta");
        if modifiers.take(".red") {
            return self.barrier_reduce((all, modifiers, at));
        }
        let arrives = modifiers.take(".arrive");
        if !arrives && !modifiers.take(".sync") {
            return Err(modifiers.unknown());
        }
        let (number, count) = match all {
            [number] if !arrives => (number, None),
            [number, count] => (number, Some(count)),
            _ => return Err(modifiers.unknown()),
        };
        if matches!((number, count), (Operand::Int(0), None)) && aligned {
            self.builder.barrier();
            return Ok(());
        }
        let number = self.read(number, Type::I32)?;
        let count = match count {
            Some(count) => self.read(count, Type::I32)?,
            None => Const::i32(0).into(),
        };
        let intrinsic = match (aligned, arrives) {
            (true, false) => Intrinsic::BarSync,
            (true, true) => Intrinsic::BarArrive,
            (false, false) => Intrinsic::BarrierSync,
            (false, true) => Intrinsic::BarrierArrive,
        };
        self.builder.intrinsic(intrinsic, vec![number, count]);
        Ok(())
    }

    fn barrier_reduce(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, Operand::Int(0), predicate] = operands(all)? else {
            return Err(modifiers.unknown());
        };
        let reduce = modifiers.one_of(&[
            (".popc", BarrierReduce::Count),
            (".and", BarrierReduce::And),
            (".or", BarrierReduce::Or),
        ]);
        let reduce = reduce.ok_or_else(|| modifiers.unknown())?;
        let predicate = self.read(predicate, Type::I1)?;
        let value = self.builder.barrier_reduce(reduce, predicate);
        if reduce == BarrierReduce::Count {
            modifiers.take(".u32");
            return self.write(to, value, at);
        }
        modifiers.take(".pred");
        let value = self
            .builder
            .compare(CompareOp::Ne, value, Const::i32(0).into());
        self.write(to, value, at)
    }

    pub(super) fn fence(&mut self, (all, modifiers, _): This<'_, '_, 't>) -> Result<(), Fault> {
        let [] = operands(all)?;
        let weaker = modifiers.take(".acq_rel");
        modifiers.take(".sc");
        let scope = modifiers.one_of(&[
            (".cta", FenceScope::Block),
            (".gl", FenceScope::Device),
            (".gpu", FenceScope::Device),
            (".sys", FenceScope::System),
        ]);
        let scope = scope.ok_or_else(|| modifiers.unknown())?;
        match weaker {
            true => self.builder.acq_rel_fence(scope),
            false => self.builder.fence(scope),
        }
        Ok(())
    }

    /// `shfl.sync.down.b32 d, a, lane, clamp, mask`.
    pub(super) fn shuffle(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        modifiers.take(".sync");
        let mode = modifiers.one_of(&[
            (".idx", ShuffleMode::Idx),
            (".up", ShuffleMode::Up),
            (".down", ShuffleMode::Down),
            (".bfly", ShuffleMode::Xor),
        ]);
        let (Some(mode), true) = (mode, modifiers.take(".b32")) else {
            return Err(modifiers.unknown());
        };
        let [to, value, lane, clamp, mask] = operands(all)?;
        if let (Operand::Register(to), Operand::Register(value)) = (to, value) {
            self.registers.link(*to, *value);
        }
        let last = if mode == ShuffleMode::Up { 0 } else { 31 };
        let width = match clamp {
            Operand::Int(clamp) => match (clamp & 31, 32 - (clamp >> 8 & 31)) {
                (found, width) if found == last && width.is_power_of_two() => {
                    Const::i32(width as i32).into()
                }
                _ => return Err(modifiers.unknown()),
            },
            _ => self.shuffle_width(clamp, last as i32)?,
        };
        let value = self.read_bits(value, 32)?;
        let ty = self.builder.value_type(value);
        let ty = if ty == Type::F32 { ty } else { Type::I32 };
        let value = self.convert_to(value, ty)?;
        let lane = self.read(lane, Type::I32)?;
        let mask = self.read(mask, Type::I32)?;
        let op = ExchangeOp::Shuffle {
            mode,
            ty,
            lane,
            width,
        };
        let values = self.builder.exchange(op, value, Some(mask));
        self.write_bits(to, values[0], at)
    }

    /// The width of the parts of a warp. PTX's `c` has the bits of a lane that a shuffle keeps, and the last lane of a part, which must be
    /// that of CUDA's functions.
    fn shuffle_width(&mut self, clamp: &Operand<'t>, last: i32) -> Result<Value, Fault> {
        let clamp = self.read(clamp, Type::I32)?;
        let end = self
            .builder
            .binary(BinaryOp::And, clamp, Const::i32(31).into());
        let other = self
            .builder
            .compare(CompareOp::Ne, end, Const::i32(last).into());
        self.builder.open_if(other);
        self.builder.intrinsic(Intrinsic::Trap, Vec::new());
        self.builder.close();
        let kept = self
            .builder
            .binary(BinaryOp::LShr, clamp, Const::i32(8).into());
        let kept = self
            .builder
            .binary(BinaryOp::And, kept, Const::i32(31).into());
        Ok(self
            .builder
            .binary(BinaryOp::Sub, Const::i32(32).into(), kept))
    }

    pub(super) fn vote(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, predicate, mask] = operands(all)?;
        modifiers.take(".sync");
        let op = modifiers.one_of(&[
            (".all", VoteOp::All),
            (".any", VoteOp::Any),
            (".uni", VoteOp::Uni),
            (".ballot", VoteOp::Ballot),
        ]);
        let op = op.ok_or_else(|| modifiers.unknown())?;
        let known = if op == VoteOp::Ballot {
            ".b32"
        } else {
            ".pred"
        };
        if !modifiers.take(known) {
            return Err(modifiers.unknown());
        }
        let predicate = self.read(predicate, Type::I1)?;
        self.exchanged(ExchangeOp::Vote(op), predicate, mask, to, at)
    }

    pub(super) fn match_lanes(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
    ) -> Result<(), Fault> {
        let [to, value, mask] = operands(all)?;
        let any = modifiers.one_of(&[(".any", true), (".all", false)]);
        modifiers.take(".sync");
        let ty = super::read::integer_of(modifiers.ty()?.bits);
        let any = any.ok_or_else(|| modifiers.unknown())?;
        let value = self.read(value, ty)?;
        let op = match any {
            true => ExchangeOp::MatchAny(ty),
            false => ExchangeOp::MatchAll(ty),
        };
        self.exchanged(op, value, mask, to, at)
    }

    pub(super) fn redux(&mut self, (all, modifiers, at): This<'_, '_, 't>) -> Result<(), Fault> {
        let [to, value, mask] = operands(all)?;
        modifiers.take(".sync");
        let op = modifiers.one_of(&[
            (".add", [ReduceOp::Add; 2]),
            (".min", [ReduceOp::SMin, ReduceOp::UMin]),
            (".max", [ReduceOp::SMax, ReduceOp::UMax]),
            (".and", [ReduceOp::And; 2]),
            (".or", [ReduceOp::Or; 2]),
            (".xor", [ReduceOp::Xor; 2]),
        ]);
        let [signed, unsigned] = op.ok_or_else(|| modifiers.unknown())?;
        let ty = modifiers.ty()?;
        if ty.is_float() || ty.bits != 32 {
            return Err(modifiers.unknown());
        }
        let op = if ty.is_signed() { signed } else { unsigned };
        let value = self.read(value, Type::I32)?;
        self.exchanged(ExchangeOp::Reduce(op), value, mask, to, at)
    }

    fn exchanged(
        &mut self,
        op: ExchangeOp,
        value: Value,
        mask: &Operand<'t>,
        to: &Operand<'t>,
        at: usize,
    ) -> Result<(), Fault> {
        let mask = self.read(mask, Type::I32)?;
        let values = self.builder.exchange(op, value, Some(mask));
        match (to, &values[..]) {
            (Operand::Pair(first, second), &[a, b]) => {
                self.write_register(*first, a, at)?;
                self.write_register(*second, b, at)
            }
            (to, &[value, ..]) => self.write(to, value, at),
            _ => Err("an exchange has a result".to_string()),
        }
    }

    pub(super) fn active_mask(
        &mut self,
        (all, modifiers, at): This<'_, '_, 't>,
    ) -> Result<(), Fault> {
        let [to] = operands(all)?;
        modifiers.take(".b32");
        let value = self.builder.special(SpecialReg::ActiveMask);
        self.write(to, value, at)
    }
}
