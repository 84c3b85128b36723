//! Numbers.

use super::Result;
use super::cursor::Cursor;
use crate::lexer::Token;

/// A number as it is written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    /// As 64 bits.
    Int(u64),
    /// The bits of a `float`.
    Single(u32),
    /// The bits of a `double`.
    Double(u64),
}

/// Whether a number begins here.
pub(super) fn begins(cursor: &Cursor<'_>) -> bool {
    let is_number = |token| {
        matches!(
            token,
            Some(Token::Int | Token::Single | Token::Double | Token::Decimal)
        )
    };
    match cursor.peek() {
        Some(Token::Minus | Token::Tilde | Token::Plus) => is_number(cursor.peek_at(1)),
        token => is_number(token),
    }
}

/// `7`, `-7`, `~7`, `0f3f800000`, `1.5`, `2 + 3`
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Number> {
    let first = one(cursor)?;
    let Number::Int(mut sum) = first else {
        return Ok(first);
    };
    loop {
        let negative = match cursor.peek() {
            Some(Token::Plus) => false,
            Some(Token::Minus) => true,
            _ => return Ok(Number::Int(sum)),
        };
        cursor.next();
        let Number::Int(next) = one(cursor)? else {
            return cursor.fail("a sum of whole numbers ends in another number");
        };
        sum = match negative {
            true => sum.wrapping_sub(next),
            false => sum.wrapping_add(next),
        };
    }
}

fn one(cursor: &mut Cursor<'_>) -> Result<Number> {
    let sign = match cursor.peek() {
        Some(token @ (Token::Minus | Token::Tilde)) => {
            cursor.next();
            Some(token)
        }
        Some(Token::Plus) => {
            cursor.next();
            None
        }
        _ => None,
    };
    let number = unsigned(cursor)?;
    Ok(match (sign, number) {
        (None, number) => number,
        (Some(Token::Tilde), Number::Int(value)) => Number::Int(!value),
        (Some(Token::Tilde), _) => return cursor.fail("`~` is for whole numbers"),
        (Some(_), Number::Int(value)) => Number::Int(value.wrapping_neg()),
        (Some(_), Number::Single(bits)) => Number::Single(bits ^ 1 << 31),
        (Some(_), Number::Double(bits)) => Number::Double(bits ^ 1 << 63),
    })
}

fn unsigned(cursor: &mut Cursor<'_>) -> Result<Number> {
    let text = cursor.peek_text();
    let number = match cursor.peek() {
        Some(Token::Int) => return Ok(Number::Int(cursor.int()?)),
        Some(Token::Single) => match (u32::from_str_radix(&text[2..], 16), text.len()) {
            (Ok(bits), 10) => Number::Single(bits),
            _ => return cursor.fail("`0f` is followed by 8 hex digits"),
        },
        Some(Token::Double) => match (u64::from_str_radix(&text[2..], 16), text.len()) {
            (Ok(bits), 18) => Number::Double(bits),
            _ => return cursor.fail("`0d` is followed by 16 hex digits"),
        },
        Some(Token::Decimal) => match text.parse::<f64>() {
            Ok(value) => Number::Double(value.to_bits()),
            Err(_) => return cursor.expected("a number"),
        },
        _ => return cursor.expected("a number"),
    };
    cursor.next();
    Ok(number)
}
