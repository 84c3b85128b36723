//! From spellings of numbers, characters and strings to their values.
//!
//! All functions are pure: text in, value or [`LiteralError`] out. Integers are 64-bit with suffixes as written (the checker decides their
//! type); floats are rounded once, to the precision of their suffix.

use super::message::lex::LiteralError;
use super::token::{IntSuffix, TokenKind};

mod float;
mod text;

pub(crate) use text::{character, string};

/// The value of a number.
pub(crate) fn number(spelling: &str) -> Result<TokenKind, LiteralError> {
    let digits: String;
    let text = match spelling.contains('\'') {
        true => {
            digits = spelling.replace('\'', "");
            &digits
        }
        false => spelling,
    };
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return match hex.contains(['.', 'p', 'P']) {
            true => float::hexadecimal(spelling, hex),
            false => integer(spelling, hex, 16),
        };
    }
    if let Some(binary) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")) {
        return integer(spelling, binary, 2);
    }
    if text.contains(['.', 'e', 'E']) {
        return float::decimal(spelling, text);
    }
    match text.strip_prefix('0') {
        Some(octal) if octal.starts_with(|c: char| c.is_ascii_digit()) => {
            integer(spelling, octal, 8)
        }
        _ => integer(spelling, text, 10),
    }
}

fn integer(spelling: &str, text: &str, radix: u32) -> Result<TokenKind, LiteralError> {
    let is_digit = |c: char| {
        if radix == 16 {
            c.is_ascii_hexdigit()
        } else {
            c.is_ascii_digit()
        }
    };
    let n_digits = text.chars().take_while(|&c| is_digit(c)).count();
    let (digits, suffix) = text.split_at(n_digits);
    if digits.is_empty() {
        return Err(LiteralError::NoDigits {
            spelling: spelling.into(),
        });
    }
    if let Some(digit) = digits.chars().find(|c| c.to_digit(radix).is_none()) {
        return Err(match radix {
            8 => LiteralError::OctalDigit { digit },
            _ => LiteralError::BinaryDigit { digit },
        });
    }
    let (unsigned, suffix) = integer_suffix(suffix)
        .ok_or_else(|| bad_integer_suffix(spelling, digits, suffix, radix))?;
    let value = u64::from_str_radix(digits, radix).map_err(|_| LiteralError::BeyondBits {
        spelling: spelling.into(),
    })?;
    Ok(TokenKind::Int {
        value,
        unsigned,
        suffix,
        decimal: radix == 10,
    })
}

/// `u`, `l`, `ll`, `ul`, `lu`, … in any case, but both letters of `ll` alike.
fn integer_suffix(suffix: &str) -> Option<(bool, IntSuffix)> {
    let long = suffix
        .trim_start_matches(['u', 'U'])
        .trim_end_matches(['u', 'U']);
    let unsigned = match suffix.len() - long.len() {
        0 => false,
        1 => true,
        _ => return None,
    };
    match long {
        "" => Some((unsigned, IntSuffix::None)),
        "l" | "L" => Some((unsigned, IntSuffix::Long)),
        "ll" | "LL" => Some((unsigned, IntSuffix::LongLong)),
        _ => None,
    }
}

fn bad_integer_suffix(spelling: &str, digits: &str, suffix: &str, radix: u32) -> LiteralError {
    let begins_name = suffix.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let has_sign = spelling.contains(['+', '-']);
    let (suffix, digits) = (suffix.to_string(), digits.to_string());
    match &*suffix {
        "f" | "F" if radix == 10 => LiteralError::FloatWithoutPoint { suffix, digits },
        _ if has_sign => LiteralError::SignInNumber { suffix },
        _ if begins_name && !suffix.starts_with(['u', 'U', 'l', 'L']) => {
            LiteralError::NameInNumber { suffix }
        }
        _ => LiteralError::IntegerSuffix { suffix },
    }
}

#[cfg(test)]
mod tests;
