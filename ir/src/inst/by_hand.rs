//! Writes and reads the instructions whose text has an irregular form.
//!
//! `name` and `suffix` are the instruction's word before and after its first dot.

use std::fmt::Write;

use crate::parse::{Cursor, Result, addend, operand, operand_list, operands};
use crate::print::{Addend, List, of, put};
use crate::{
    BarrierReduce, Const, Exchange, ExchangeOp, FuncId, HostFn, InstKind, Launch, LocalId, Operand,
    RoutineId, Space, Type,
};

use super::text::suffixes;

/// `ptradd %0, zext %1 * 4 + 8`; without an index `ptradd %0 + 8`.
pub(super) mod ptr_add {
    use super::*;

    pub(crate) fn write(
        out: &mut String,
        base: &Operand,
        index: &Operand,
        unsigned: &bool,
        scale_bytes: &i64,
        offset_bytes: &i64,
    ) {
        put!(out, "ptradd {}", of(&Type::Ptr(Space::Generic), base));
        let no_index = *index == Operand::Const(Const::i32(0)) && !unsigned && *scale_bytes == 0;
        if no_index {
            put!(out, " {}", Addend(*offset_bytes).always());
            return;
        }
        let zext = if *unsigned { "zext " } else { "" };
        let index = of(&Type::I32, index);
        put!(
            out,
            ", {zext}{index} * {scale_bytes}{}",
            Addend(*offset_bytes)
        );
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>, _: &str, suffix: &str) -> Result<InstKind> {
        suffixes::<0>(cursor, suffix)?;
        let base = operand(cursor, Some(Type::Ptr(Space::Generic)))?;
        let mut unsigned = false;
        let mut index = Const::i32(0).into();
        let mut scale_bytes = 0;
        if cursor.eat(",") {
            unsigned = cursor.eat_word("zext");
            index = operand(cursor, Some(Type::I32))?;
            cursor.expect("*")?;
            let literal = cursor.literal()?;
            scale_bytes = match literal.parse() {
                Ok(scale_bytes) => scale_bytes,
                Err(_) => return cursor.fail_word("a number"),
            };
        }
        let offset_bytes = addend(cursor)?;
        Ok(InstKind::PtrAdd {
            base,
            index,
            unsigned,
            scale_bytes,
            offset_bytes,
        })
    }
}

/// `shfl.down.f32 %0, %1, 32 sync -1`; without a mask nothing after the operands.
pub(super) mod exchange {
    use super::*;

    pub(crate) fn write(out: &mut String, exchange: &Exchange) {
        let value = of(&exchange.value_type(), &exchange.value);
        match &exchange.op {
            ExchangeOp::Shuffle {
                mode,
                ty,
                lane,
                width,
            } => {
                let (lane, width) = (of(&Type::I32, lane), of(&Type::I32, width));
                put!(out, "shfl.{mode}.{ty} {value}, {lane}, {width}");
            }
            ExchangeOp::Vote(op) => put!(out, "vote.{op} {value}"),
            ExchangeOp::MatchAny(ty) => put!(out, "match.any.{ty} {value}"),
            ExchangeOp::MatchAll(ty) => put!(out, "match.all.{ty} {value}"),
            ExchangeOp::Reduce(op) => put!(out, "reduce.{op} {value}"),
        }
        if let Some(mask) = &exchange.mask {
            put!(out, " sync {}", of(&Type::I32, mask));
        }
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>, name: &str, suffix: &str) -> Result<InstKind> {
        let zero = Operand::Const(Const::i32(0));
        let op = match name {
            "vote" => ExchangeOp::Vote(suffixes::<1>(cursor, suffix)?.word(cursor)?),
            "reduce" => ExchangeOp::Reduce(suffixes::<1>(cursor, suffix)?.word(cursor)?),
            _ => {
                let mut words = suffixes::<2>(cursor, suffix)?;
                match name {
                    "shfl" => ExchangeOp::Shuffle {
                        mode: words.word(cursor)?,
                        ty: words.word(cursor)?,
                        lane: zero,
                        width: zero,
                    },
                    _ => match words.text() {
                        "any" => ExchangeOp::MatchAny(words.word(cursor)?),
                        "all" => ExchangeOp::MatchAll(words.word(cursor)?),
                        _ => return cursor.fail_word("an instruction"),
                    },
                }
            }
        };
        let mut exchange = Exchange {
            op,
            value: zero,
            mask: None,
        };
        exchange.value = operand(cursor, Some(exchange.value_type()))?;
        if let ExchangeOp::Shuffle { lane, width, .. } = &mut exchange.op {
            cursor.expect(",")?;
            [*lane, *width] = operands(cursor, [Type::I32; 2])?;
        }
        if cursor.eat_word("sync") {
            exchange.mask = Some(operand(cursor, Some(Type::I32))?);
        }
        Ok(InstKind::Exchange(Box::new(exchange)))
    }
}

/// `barrier`, `barrier.count %0`.
pub(super) mod barrier {
    use super::*;

    pub(crate) fn write(out: &mut String, reduce: &Option<(BarrierReduce, Operand)>) {
        out.push_str("barrier");
        if let Some((reduce, predicate)) = reduce {
            put!(out, ".{reduce} {}", of(&Type::I1, predicate));
        }
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>, _: &str, suffix: &str) -> Result<InstKind> {
        if suffix.is_empty() {
            return Ok(InstKind::Barrier(None));
        }
        let reduce = suffixes::<1>(cursor, suffix)?.word(cursor)?;
        let predicate = operand(cursor, Some(Type::I1))?;
        Ok(InstKind::Barrier(Some((reduce, predicate))))
    }
}

/// `begin local3`, `end local3`.
pub(super) mod lifetime {
    use super::*;

    pub(crate) fn write(out: &mut String, local: &LocalId, begins: &bool) {
        put!(out, "{} {local}", if *begins { "begin" } else { "end" });
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>, name: &str, suffix: &str) -> Result<InstKind> {
        suffixes::<0>(cursor, suffix)?;
        let local = LocalId(cursor.id("local")?);
        Ok(InstKind::Lifetime(local, name == "begin"))
    }
}

/// `call fn2(%1, %2)`. Its reader also reads [`call_routine`].
pub(super) mod call {
    use super::*;

    pub(crate) fn write(out: &mut String, callee: &FuncId, args: &[Operand]) {
        put!(out, "call {callee}({})", List(args, &[]));
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>, _: &str, suffix: &str) -> Result<InstKind> {
        if cursor.peek("R") {
            return call_routine::read(cursor, "", suffix);
        }
        suffixes::<0>(cursor, suffix)?;
        let callee = FuncId(cursor.id("fn")?);
        Ok(InstKind::Call(callee, operand_list(cursor, &[])?))
    }
}

/// `call R0(%1, %2)`.
pub(super) mod call_routine {
    use super::*;

    pub(crate) fn write(out: &mut String, callee: &RoutineId, args: &[Operand]) {
        put!(out, "call {callee}({})", List(args, &[]));
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>, _: &str, suffix: &str) -> Result<InstKind> {
        suffixes::<0>(cursor, suffix)?;
        let callee = RoutineId(cursor.id("R")?);
        Ok(InstKind::CallRoutine(callee, operand_list(cursor, &[])?))
    }
}

/// `host cudaMalloc(%1, %2)`.
pub(super) mod host_call {
    use super::*;

    pub(crate) fn write(out: &mut String, host: &HostFn, args: &[Operand]) {
        put!(out, "host {host}({})", List(args, host.args()));
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>, _: &str, suffix: &str) -> Result<InstKind> {
        suffixes::<0>(cursor, suffix)?;
        let Some(host) = HostFn::from_text(cursor.word()?) else {
            return cursor.fail_word("an instruction");
        };
        let args = operand_list(cursor, host.args())?;
        Ok(InstKind::HostCall(host, args))
    }
}

/// `launch cooperative fn1 <<<(1, 1, 1), (%0, 1, 1), 0, 0>>> (%1, %2)`.
pub(super) mod launch {
    use super::*;

    pub(crate) fn write(out: &mut String, launch: &Launch) {
        let Launch {
            kernel,
            grid,
            block,
            shared_bytes,
            stream,
            cooperative,
            args,
        } = launch;
        let (grid, block) = (List(grid, &[Type::I32; 3]), List(block, &[Type::I32; 3]));
        let (shared_bytes, stream) = (of(&Type::I64, shared_bytes), of(&Type::I64, stream));
        let cooperative = if *cooperative { "cooperative " } else { "" };
        put!(out, "launch {cooperative}{kernel} <<<({grid}), ({block})");
        put!(out, ", {shared_bytes}, {stream}>>> ({})", List(args, &[]));
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>, _: &str, suffix: &str) -> Result<InstKind> {
        suffixes::<0>(cursor, suffix)?;
        let cooperative = cursor.eat_word("cooperative");
        let kernel = FuncId(cursor.id("fn")?);
        cursor.expect("<<<")?;
        cursor.expect("(")?;
        let grid = operands(cursor, [Type::I32; 3])?;
        cursor.expect(")")?;
        cursor.expect(",")?;
        cursor.expect("(")?;
        let block = operands(cursor, [Type::I32; 3])?;
        cursor.expect(")")?;
        cursor.expect(",")?;
        let [shared_bytes, stream] = operands(cursor, [Type::I64; 2])?;
        cursor.expect(">>>")?;
        let args = operand_list(cursor, &[])?;
        let launch = Launch {
            kernel,
            grid,
            block,
            shared_bytes,
            stream,
            cooperative,
            args,
        };
        Ok(InstKind::Launch(Box::new(launch)))
    }
}
