//! Variables, parameters, initial values.

use super::Result;
use super::cursor::Cursor;
use super::value::{self, Number};
use crate::lexer::Token;
use crate::tree::{Initial, Kind, ScalarType, StateSpace, Variable};

/// The most elements of an initialiser.
const MAX_INITIAL: usize = 1 << 26;

/// A state space by its directive.
pub(crate) fn space(text: &str) -> Option<StateSpace> {
    Some(match text {
        ".global" => StateSpace::Global,
        ".shared" | ".shared::cta" => StateSpace::Shared,
        ".const" => StateSpace::Const,
        ".local" => StateSpace::Local,
        ".param" => StateSpace::Param,
        _ => return None,
    })
}

impl ScalarType {
    /// The type of a directive or modifier, as in `.b32`.
    pub fn of(text: &str) -> Option<ScalarType> {
        let (kind, bits) = match text {
            ".pred" => (Kind::Predicate, 1),
            ".b8" => (Kind::Bits, 8),
            ".b16" => (Kind::Bits, 16),
            ".b32" => (Kind::Bits, 32),
            ".b64" => (Kind::Bits, 64),
            ".b128" => (Kind::Bits, 128),
            ".u8" => (Kind::Unsigned, 8),
            ".u16" => (Kind::Unsigned, 16),
            ".u32" => (Kind::Unsigned, 32),
            ".u64" => (Kind::Unsigned, 64),
            ".s8" => (Kind::Signed, 8),
            ".s16" => (Kind::Signed, 16),
            ".s32" => (Kind::Signed, 32),
            ".s64" => (Kind::Signed, 64),
            ".f16" | ".bf16" => (Kind::Float, 16),
            ".f32" => (Kind::Float, 32),
            ".f64" => (Kind::Float, 64),
            _ => return None,
        };
        Some(ScalarType { kind, bits })
    }
}

/// `(.param .b64 a, .param .b32 b)`; empty if there is no `(`.
pub(super) fn params<'t>(cursor: &mut Cursor<'t>) -> Result<Vec<Variable<'t>>> {
    let mut params = Vec::new();
    if !cursor.eat(Token::LParen) || cursor.eat(Token::RParen) {
        return Ok(params);
    }
    loop {
        let at = cursor.at();
        let is_register = match cursor.next_text() {
            ".param" => false,
            ".reg" => true,
            _ => return cursor.expected("`.param`"),
        };
        if is_register {
            return cursor.fail("parameters in registers are not supported");
        }
        let (ty, align_bytes, is_pointer) = element(cursor)?;
        let (name, size_bytes) = declarator(cursor, ty)?;
        params.push(Variable {
            name,
            space: StateSpace::Param,
            ty,
            size_bytes,
            align_bytes,
            is_extern: false,
            is_pointer,
            init: Vec::new(),
            at,
        });
        if cursor.eat(Token::RParen) {
            return Ok(params);
        }
        cursor.expect(Token::Comma, "`,` or `)`")?;
    }
}

/// `.shared .align 4 .b8 tile[4096], other[4];`; `None` if no variable begins here.
pub(super) fn declaration<'t>(
    cursor: &mut Cursor<'t>,
    is_extern: bool,
) -> Result<Option<Vec<Variable<'t>>>> {
    let Some(space) = space(cursor.peek_text()) else {
        return Ok(None);
    };
    cursor.next();
    let (ty, align_bytes, is_pointer) = element(cursor)?;
    let mut variables = Vec::new();
    loop {
        let at = cursor.at();
        let (name, size_bytes) = declarator(cursor, ty)?;
        let init = match cursor.eat(Token::Equal) {
            true => initial(cursor, ty)?,
            false => Vec::new(),
        };
        // `.b8 text[] = {…}`: as many as there are.
        let size_bytes = match (size_bytes, init.len()) {
            (None, 1..) => Some(init.len() as u64 * ty.bytes()),
            (size, _) => size,
        };
        variables.push(Variable {
            name,
            space,
            ty,
            size_bytes,
            align_bytes,
            is_extern,
            is_pointer,
            init,
            at,
        });
        if cursor.eat(Token::Semi) {
            return Ok(Some(variables));
        }
        cursor.expect(Token::Comma, "`,` or `;`")?;
    }
}

/// `.align 4 .v2 .b32`, `.u64 .ptr .global .align 1`: element, alignment, whether it is a pointer.
fn element(cursor: &mut Cursor<'_>) -> Result<(ScalarType, u64, bool)> {
    let (mut ty, mut align, mut lanes, mut is_pointer) = (None, None, 1, false);
    loop {
        let text = cursor.peek_text();
        match text {
            ".align" => {
                cursor.next();
                let bytes = cursor.int()?;
                if !bytes.is_power_of_two() || bytes > 1 << 20 {
                    return cursor.fail("an alignment is a power of two up to 1 MiB");
                }
                // After `.ptr` it is that of the memory.
                if !is_pointer {
                    align = Some(bytes);
                }
                continue;
            }
            ".ptr" => is_pointer = true,
            ".v2" => lanes = 2,
            ".v4" => lanes = 4,
            ".attribute" => {
                cursor.next();
                while !cursor.eat(Token::RParen) {
                    if cursor.at_end() {
                        return cursor.expected("`)`");
                    }
                    cursor.next();
                }
                continue;
            }
            _ => match (ScalarType::of(text), space(text)) {
                (Some(found), _) if ty.is_none() => ty = Some(found),
                (None, Some(_)) if is_pointer => {}
                _ => break,
            },
        }
        cursor.next();
    }
    let Some(ScalarType { kind, bits }) = ty else {
        return cursor.expected("a type");
    };
    let ty = ScalarType {
        kind,
        bits: bits * lanes,
    };
    Ok((
        ty,
        align.unwrap_or(ty.bytes().next_power_of_two()),
        is_pointer,
    ))
}

/// `name`, `name[4][8]`: the size is `None` for `name[]`.
fn declarator<'t>(cursor: &mut Cursor<'t>, ty: ScalarType) -> Result<(&'t str, Option<u64>)> {
    let name = cursor.name()?;
    let mut size = Some(ty.bytes());
    while cursor.eat(Token::LBracket) {
        if cursor.eat(Token::RBracket) {
            size = None;
            continue;
        }
        let count = cursor.int()?;
        size = match size.map(|size| size.checked_mul(count)) {
            Some(Some(size)) if size < 1 << 40 => Some(size),
            Some(_) => return cursor.fail("the variable is larger than 1 TiB"),
            None => None,
        };
        cursor.expect(Token::RBracket, "`]`")?;
    }
    Ok((name, size))
}

/// `{1, 2}`, `7`, `generic(name)+8`; braces within braces are flat.
fn initial<'t>(cursor: &mut Cursor<'t>, ty: ScalarType) -> Result<Vec<Initial<'t>>> {
    let (mut values, mut depth) = (Vec::new(), 0);
    loop {
        while cursor.eat(Token::LBrace) {
            depth += 1;
        }
        if cursor.peek() != Some(Token::RBrace) {
            values.push(initial_value(cursor, ty)?);
        }
        while depth > 0 && cursor.eat(Token::RBrace) {
            depth -= 1;
        }
        if depth == 0 {
            return Ok(values);
        }
        cursor.expect(Token::Comma, "`,` or `}`")?;
        if values.len() > MAX_INITIAL {
            return cursor.fail("the initial value has too many elements");
        }
    }
}

fn initial_value<'t>(cursor: &mut Cursor<'t>, ty: ScalarType) -> Result<Initial<'t>> {
    if value::begins(cursor) {
        return Ok(Initial::Number(match value::number(cursor)? {
            Number::Int(bits) => bits,
            // `2.5` is written for each width alike.
            Number::Double(bits) if ty.bits == 32 => {
                u64::from((f64::from_bits(bits) as f32).to_bits())
            }
            Number::Double(bits) => bits,
            Number::Single(bits) if ty.bits == 64 => f64::from(f32::from_bits(bits)).to_bits(),
            Number::Single(bits) => bits.into(),
        }));
    }
    let mut name = cursor.name()?;
    if name == "generic" && cursor.eat(Token::LParen) {
        name = cursor.name()?;
        cursor.expect(Token::RParen, "`)`")?;
    }
    Ok(Initial::Address(name, offset(cursor)?))
}

/// `+8`, `-8`, `+-8`; 0 if there is none.
pub(super) fn offset(cursor: &mut Cursor<'_>) -> Result<i64> {
    match cursor.peek() {
        Some(Token::Plus) => {
            cursor.next();
        }
        Some(Token::Minus) => {}
        _ => return Ok(0),
    }
    match value::number(cursor)? {
        Number::Int(bits) => Ok(bits as i64),
        _ => cursor.fail("an offset is a whole number"),
    }
}
