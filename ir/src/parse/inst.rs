//! Reads instructions and operands.

use super::cursor::Cursor;
use super::function::{Reader, ty};
use super::{Result, at};
use crate::{Const, Inst, InstKind, Operand, Type, ValueId};

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
        let kind = InstKind::read(&self.function, cursor)?;
        let loc = at(cursor)?;
        let implied = kind.result_types(self.module, &self.function);
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
}

/// `(%0, 1)`
pub(crate) fn operand_list(cursor: &mut Cursor<'_>, expected: &[Type]) -> Result<Vec<Operand>> {
    let mut operands = vec![];
    cursor.expect("(")?;
    cursor.list(")", |cursor| {
        let ty = expected.get(operands.len()).copied();
        operands.push(operand(cursor, ty)?);
        Ok(())
    })?;
    Ok(operands)
}

/// A fixed number of operands between commas.
pub(crate) fn operands<const N: usize>(
    cursor: &mut Cursor<'_>,
    types: [Type; N],
) -> Result<[Operand; N]> {
    let mut operands = [Operand::Const(Const::i32(0)); N];
    for (index, ty) in types.into_iter().enumerate() {
        if index > 0 {
            cursor.expect(",")?;
        }
        operands[index] = operand(cursor, Some(ty))?;
    }
    Ok(operands)
}

/// `%3`, `i64 5`, or `5` of the expected type.
pub(crate) fn operand(cursor: &mut Cursor<'_>, expected: Option<Type>) -> Result<Operand> {
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

/// The bits of a constant, from the printer's form.
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
