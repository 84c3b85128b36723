//! Spellings of numbers, characters and strings to their values.
//!
//! Everything here is pure: text in, value or [`BadLiteral`] out. Integers are 64-bit with suffixes as written (which type
//! they get is the checker's business); floats are rounded once, to the precision that the suffix asks for.

use super::token::{IntSuffix, TokenKind};
use crate::diagnostic::Code;

mod float;
mod text;

pub(crate) use text::{character, string};

/// Why a literal has no value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BadLiteral {
    /// Which kind of problem.
    pub(crate) code: Code,
    /// What is wrong, in one phrase.
    pub(crate) message: String,
    /// What to write instead.
    pub(crate) help: Option<String>,
}

impl BadLiteral {
    fn number(message: impl Into<String>) -> BadLiteral {
        BadLiteral {
            code: Code::BadNumber,
            message: message.into(),
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> BadLiteral {
        self.help = Some(help.into());
        self
    }
}

/// The value of a number.
pub(crate) fn number(spelling: &str) -> Result<TokenKind, BadLiteral> {
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

fn integer(spelling: &str, text: &str, radix: u32) -> Result<TokenKind, BadLiteral> {
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
        return Err(BadLiteral::number(format!(
            "`{spelling}` has no digits after its prefix"
        )));
    }
    if let Some(bad) = digits.chars().find(|c| c.to_digit(radix).is_none()) {
        let message = if radix == 8 {
            format!("`{bad}` is not an octal digit, and a number that starts with `0` is octal")
        } else {
            format!("`{bad}` is not a binary digit")
        };
        return Err(BadLiteral::number(message));
    }
    let (unsigned, suffix) = integer_suffix(suffix)
        .ok_or_else(|| bad_integer_suffix(spelling, digits, suffix, radix))?;
    let value = u64::from_str_radix(digits, radix).map_err(|_| BadLiteral {
        code: Code::NumberTooLarge,
        message: format!("`{spelling}` does not fit in 64 bits"),
        help: None,
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

fn bad_integer_suffix(spelling: &str, digits: &str, suffix: &str, radix: u32) -> BadLiteral {
    let bad = BadLiteral::number(format!("`{suffix}` is not a suffix of an integer"));
    match suffix {
        "f" | "F" if radix == 10 => bad.help(format!("a float needs a point: write `{digits}.0{suffix}`")),
        _ if suffix.starts_with('+') || suffix.starts_with('-') || spelling.contains(['+', '-']) => {
            bad.help("put a blank before the sign: C reads letters, digits and `e+` as one number")
        }
        _ if suffix.starts_with(|c: char| c.is_alphabetic() || c == '_') && !suffix.starts_with(['u', 'U', 'l', 'L']) => {
            bad.help("a name cannot start with a digit; if two things are meant, put a blank or an operator between them")
        }
        _ => bad.help("the suffixes are u, l, ll, ul and ull"),
    }
}

#[cfg(test)]
mod tests;
