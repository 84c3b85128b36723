//! Instructions and operands.

use super::cursor::Cursor;
use super::function::{Reader, ty};
use super::{Result, addend, at, object};
use crate::ir::{
    Access, AtomicOp, BarrierReduce, BinaryOp, CompareOp, Const, ConvertOp, Exchange, ExchangeOp,
    FenceScope, FuncId, HostFn, Inst, InstKind, Intrinsic, Launch, LocalId, MemType, Operand,
    ReduceOp, ShuffleMode, SlotId, Space, SpecialReg, StringId, Type, UnaryOp, ValueId, VoteOp,
};

impl Reader<'_> {
    /// `%1, %2: i32 = load.i32x2.global %0 !3`
    pub(super) fn inst(&mut self, cursor: &mut Cursor<'_>) -> Result<Inst> {
        let mut results = vec![];
        let mut written = vec![];
        while cursor.peek("%") {
            results.push(ValueId(cursor.id("%")?));
            written.push(if cursor.eat(":") {
                Some(ty(cursor)?)
            } else {
                None
            });
            if !cursor.eat(",") {
                cursor.expect("=")?;
                break;
            }
        }
        let kind = self.kind(cursor)?;
        let loc = at(cursor)?;
        let implied = self.module.result_types(&self.function, &kind);
        for (index, (&id, written)) in results.iter().zip(written).enumerate() {
            let implied = implied.as_ref().and_then(|types| types.get(index).copied());
            let Some(ty) = written.or(implied) else {
                return cursor.fail(&format!(
                    "the type of {id} does not follow; write `{id}: i32 = …`"
                ));
            };
            self.put_value(cursor, id, ty)?;
        }
        Ok(Inst { results, kind, loc })
    }

    fn kind(&mut self, cursor: &mut Cursor<'_>) -> Result<InstKind> {
        let word = cursor.word()?;
        let (name, suffix) = word.split_once('.').unwrap_or((word, ""));
        let kind = match name {
            "get" => InstKind::Get(SlotId(cursor.id("$")?)),
            "set" => {
                let slot = SlotId(cursor.id("$")?);
                cursor.expect(",")?;
                let ty = self.function.slots.get(slot.index()).map(|slot| slot.ty);
                InstKind::Set(slot, self.operand(cursor, ty)?)
            }
            "fma" => {
                let ty = suffix_type(cursor, suffix)?;
                let [a, b, c] = self.operands(cursor, [ty; 3])?;
                InstKind::Fma(ty, a, b, c)
            }
            "cmp" => {
                let (op, ty) = suffix.split_once('.').unwrap_or((suffix, ""));
                let op = named(cursor, CompareOp::from_text(op))?;
                let ty = suffix_type(cursor, ty)?;
                let [a, b] = self.operands(cursor, [ty; 2])?;
                InstKind::Compare(op, ty, a, b)
            }
            "select" => {
                let ty = suffix_type(cursor, suffix)?;
                let [cond, a, b] = self.operands(cursor, [Type::I1, ty, ty])?;
                InstKind::Select(ty, cond, a, b)
            }
            "cvt" => {
                let op = named(cursor, ConvertOp::from_text(suffix))?;
                InstKind::Convert(op, self.operand(cursor, Some(op.from_type()))?)
            }
            "special" => InstKind::Special(named(cursor, SpecialReg::from_text(suffix))?),
            "addr" if suffix.is_empty() => InstKind::AddrOf(object(cursor)?),
            "ptradd" if suffix.is_empty() => self.ptr_add(cursor)?,
            "load" | "store" => self.load_or_store(cursor, name == "load", suffix)?,
            "atomic" => self.atomic(cursor, suffix)?,
            "barrier" if suffix.is_empty() => InstKind::Barrier(None),
            "barrier" => {
                let reduce = named(cursor, BarrierReduce::from_text(suffix))?;
                InstKind::Barrier(Some((reduce, self.operand(cursor, Some(Type::I1))?)))
            }
            "shfl" | "vote" | "match" | "reduce" => self.exchange(cursor, name, suffix)?,
            "fence" => InstKind::Fence(named(cursor, FenceScope::from_text(suffix))?),
            "printf" if suffix.is_empty() => {
                let format = StringId(cursor.id("string")?);
                let mut args = vec![];
                while cursor.eat(",") {
                    args.push(self.operand(cursor, None)?);
                }
                InstKind::Printf(format, args)
            }
            "assert" if suffix.is_empty() => {
                let cond = self.operand(cursor, Some(Type::I1))?;
                cursor.expect(",")?;
                InstKind::Assert(cond, StringId(cursor.id("string")?))
            }
            "begin" if suffix.is_empty() => InstKind::Lifetime(LocalId(cursor.id("local")?), true),
            "end" if suffix.is_empty() => InstKind::Lifetime(LocalId(cursor.id("local")?), false),
            "call" if suffix.is_empty() => {
                let callee = FuncId(cursor.id("fn")?);
                InstKind::Call(callee, self.list(cursor, &[])?)
            }
            "host" if suffix.is_empty() => {
                let name = cursor.word()?;
                let host = named(cursor, HostFn::from_text(name))?;
                InstKind::HostCall(host, self.list(cursor, host.args())?)
            }
            "launch" if suffix.is_empty() => self.launch(cursor)?,
            name => match Intrinsic::from_text(name) {
                Some(intrinsic) if suffix.is_empty() => {
                    let mut args = vec![];
                    for (n, &ty) in intrinsic.operands().iter().enumerate() {
                        if n > 0 {
                            cursor.expect(",")?;
                        }
                        args.push(self.operand(cursor, Some(ty))?);
                    }
                    InstKind::Intrinsic(intrinsic, args)
                }
                _ => self.unary_or_binary(cursor, name, suffix)?,
            },
        };
        Ok(kind)
    }

    fn unary_or_binary(
        &mut self,
        cursor: &mut Cursor<'_>,
        name: &str,
        suffix: &str,
    ) -> Result<InstKind> {
        if let Some(op) = UnaryOp::from_text(name) {
            let ty = suffix_type(cursor, suffix)?;
            return Ok(InstKind::Unary(op, ty, self.operand(cursor, Some(ty))?));
        }
        let op = named(cursor, BinaryOp::from_text(name))?;
        let ty = suffix_type(cursor, suffix)?;
        let [a, b] = self.operands(cursor, [ty; 2])?;
        Ok(InstKind::Binary(op, ty, a, b))
    }

    /// `ptradd %0, zext %1 * 4 + 8`, `ptradd %0 + 8`
    fn ptr_add(&mut self, cursor: &mut Cursor<'_>) -> Result<InstKind> {
        let base = self.operand(cursor, Some(Type::Ptr(Space::Generic)))?;
        let mut unsigned = false;
        let mut index = Const::i32(0).into();
        let mut scale_bytes = 0;
        if cursor.eat(",") {
            unsigned = cursor.eat_word("zext");
            index = self.operand(cursor, Some(Type::I32))?;
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

    fn load_or_store(
        &mut self,
        cursor: &mut Cursor<'_>,
        load: bool,
        suffix: &str,
    ) -> Result<InstKind> {
        let mut access = access(cursor, suffix)?;
        let ptr = self.operand(cursor, Some(Type::Ptr(access.space)))?;
        let mut values = vec![];
        while !load && cursor.eat(",") {
            values.push(self.operand(cursor, Some(access.ty.value_type()))?);
        }
        if cursor.eat_word("of") {
            access.object = Some(object(cursor)?);
        }
        within(cursor, &mut access)?;
        Ok(if load {
            InstKind::Load(access, ptr)
        } else {
            InstKind::Store(access, ptr, values)
        })
    }

    /// `atomic.cas.i32.shared %0, %1 when %2 of shared0`
    fn atomic(&mut self, cursor: &mut Cursor<'_>, suffix: &str) -> Result<InstKind> {
        let (op, suffix) = suffix.split_once('.').unwrap_or((suffix, ""));
        let op = named(cursor, AtomicOp::from_text(op))?;
        let mut access = access(cursor, suffix)?;
        let ptr = self.operand(cursor, Some(Type::Ptr(access.space)))?;
        cursor.expect(",")?;
        let ty = access.ty.value_type();
        let value = self.operand(cursor, Some(ty))?;
        let compare = if cursor.eat_word("when") {
            Some(self.operand(cursor, Some(ty))?)
        } else {
            None
        };
        if cursor.eat_word("of") {
            access.object = Some(object(cursor)?);
        }
        within(cursor, &mut access)?;
        Ok(InstKind::Atomic {
            op,
            access,
            ptr,
            value,
            compare,
        })
    }

    /// `shfl.down.f32 %0, %1, 32 sync -1`
    fn exchange(&mut self, cursor: &mut Cursor<'_>, name: &str, suffix: &str) -> Result<InstKind> {
        let (mode, ty) = suffix.split_once('.').unwrap_or((suffix, ""));
        let zero = Operand::Const(Const::i32(0));
        let mut exchange = Exchange {
            op: match (name, mode) {
                ("shfl", mode) => ExchangeOp::Shuffle {
                    mode: named(cursor, ShuffleMode::from_text(mode))?,
                    ty: suffix_type(cursor, ty)?,
                    lane: zero,
                    width: zero,
                },
                ("match", "any") => ExchangeOp::MatchAny(suffix_type(cursor, ty)?),
                ("match", "all") => ExchangeOp::MatchAll(suffix_type(cursor, ty)?),
                ("vote", _) => ExchangeOp::Vote(named(cursor, VoteOp::from_text(suffix))?),
                ("reduce", _) => ExchangeOp::Reduce(named(cursor, ReduceOp::from_text(suffix))?),
                _ => return cursor.fail_word("an instruction"),
            },
            value: zero,
            mask: None,
        };
        exchange.value = self.operand(cursor, Some(exchange.value_type()))?;
        if let ExchangeOp::Shuffle { lane, width, .. } = &mut exchange.op {
            cursor.expect(",")?;
            [*lane, *width] = self.operands(cursor, [Type::I32; 2])?;
        }
        if cursor.eat_word("sync") {
            exchange.mask = Some(self.operand(cursor, Some(Type::I32))?);
        }
        Ok(InstKind::Exchange(Box::new(exchange)))
    }

    fn launch(&mut self, cursor: &mut Cursor<'_>) -> Result<InstKind> {
        let cooperative = cursor.eat_word("cooperative");
        let kernel = FuncId(cursor.id("fn")?);
        cursor.expect("<<<")?;
        cursor.expect("(")?;
        let grid = self.operands(cursor, [Type::I32; 3])?;
        cursor.expect(")")?;
        cursor.expect(",")?;
        cursor.expect("(")?;
        let block = self.operands(cursor, [Type::I32; 3])?;
        cursor.expect(")")?;
        cursor.expect(",")?;
        let [shared_bytes, stream] = self.operands(cursor, [Type::I64; 2])?;
        cursor.expect(">>>")?;
        let args = self.list(cursor, &[])?;
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

    /// `(%0, 1)`
    fn list(&mut self, cursor: &mut Cursor<'_>, expected: &[Type]) -> Result<Vec<Operand>> {
        let mut operands = vec![];
        cursor.expect("(")?;
        cursor.list(")", |cursor| {
            let ty = expected.get(operands.len()).copied();
            operands.push(self.operand(cursor, ty)?);
            Ok(())
        })?;
        Ok(operands)
    }

    /// A fixed number of operands between commas.
    fn operands<const N: usize>(
        &mut self,
        cursor: &mut Cursor<'_>,
        types: [Type; N],
    ) -> Result<[Operand; N]> {
        let mut operands = [Operand::Const(Const::i32(0)); N];
        for (index, ty) in types.into_iter().enumerate() {
            if index > 0 {
                cursor.expect(",")?;
            }
            operands[index] = self.operand(cursor, Some(ty))?;
        }
        Ok(operands)
    }

    /// `%3`, `i64 5`, or `5` of the expected type.
    pub(super) fn operand(
        &mut self,
        cursor: &mut Cursor<'_>,
        expected: Option<Type>,
    ) -> Result<Operand> {
        if cursor.peek("%") {
            return Ok(Operand::Value(ValueId(cursor.id("%")?)));
        }
        let ty = match (Type::from_text(cursor.peek_word()), expected) {
            (Some(_), _) => ty(cursor)?,
            (None, Some(ty)) => ty,
            (None, None) => return cursor.fail("expected a temporary, or a type and a constant"),
        };
        let literal = cursor.literal()?;
        match bits(ty, literal) {
            Some(bits) => Ok(Operand::Const(Const { ty, bits })),
            None => cursor.fail_word(&format!("a constant of type {ty}")),
        }
    }
}

/// The bits of a constant as the printer writes it.
fn bits(ty: Type, literal: &str) -> Option<u64> {
    if let Some(hex) = literal.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    match (ty, literal) {
        (Type::I1, "false") | (Type::Ptr(_), "null") => Some(0),
        (Type::I1, "true") => Some(1),
        (Type::I1 | Type::Ptr(_), _) => None,
        (Type::I32, literal) => literal.parse::<i32>().ok().map(|value| value as u32 as u64),
        (Type::I64, literal) => literal.parse::<i64>().ok().map(|value| value as u64),
        (Type::F32, literal) => literal
            .parse::<f32>()
            .ok()
            .map(|value| value.to_bits() as u64),
        (Type::F64, literal) => literal.parse::<f64>().ok().map(f64::to_bits),
    }
}

/// A name out of a table, which the last word should have held.
fn named<T>(cursor: &mut Cursor<'_>, found: Option<T>) -> Result<T> {
    match found {
        Some(found) => Ok(found),
        None => cursor.fail_word("an instruction"),
    }
}

/// The type at the end of the last word.
fn suffix_type(cursor: &mut Cursor<'_>, suffix: &str) -> Result<Type> {
    match Type::from_text(suffix) {
        Some(ty) => Ok(ty),
        None => cursor.fail_word("an instruction with its type"),
    }
}

/// ` within 33`, ` within member 4` or nothing.
fn within(cursor: &mut Cursor<'_>, access: &mut Access) -> Result<()> {
    if cursor.eat_word("within") {
        access.is_member = cursor.eat_word("member");
        access.row_len = cursor.number()?;
    }
    Ok(())
}

/// `f32x2.shared.volatile`
fn access(cursor: &mut Cursor<'_>, suffix: &str) -> Result<Access> {
    let mut parts = suffix.split('.');
    let shape = parts.next().unwrap_or_default();
    let (ty, count) = match shape.split_once('x') {
        Some((ty, count)) => (ty, count.parse().ok()),
        None => (shape, Some(1)),
    };
    let ty = MemType::from_text(ty);
    let space = parts.next().and_then(Space::from_text);
    let mut rest = parts.peekable();
    let mut has = |word| rest.next_if_eq(&word).is_some();
    let (volatile, block_scope, read_only) = (has("volatile"), has("block"), has("readonly"));
    match (ty, count, space, rest.next()) {
        (Some(ty), Some(count), Some(space), None) => Ok(Access {
            ty,
            count,
            space,
            volatile,
            block_scope,
            read_only,
            object: None,
            row_len: 0,
            is_member: false,
        }),
        _ => cursor.fail_word("an access like `load.f32x2.shared.volatile`"),
    }
}
