//! Floating literals, decimal and hexadecimal, rounded to nearest even once.

use crate::syntax::{message::lex::LiteralError, token::TokenKind};

/// `1.5`, `.5f`, `1e-3`.
pub(super) fn decimal(spelling: &str, text: &str) -> Result<TokenKind, LiteralError> {
    let (digits, single) = split_suffix(spelling, text, decimal_length(text))?;
    // Rust reads every decimal form of C; digits may be missing before or after the point in both.
    let value = match single {
        true => digits.parse::<f32>().map(f64::from),
        false => digits.parse::<f64>(),
    };
    let value = value.map_err(|_| LiteralError::NotANumber {
        spelling: spelling.into(),
    })?;
    finite(spelling, value, single)
}

/// The length of digits, point and exponent.
fn decimal_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1;
        length += digits(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let n_digits = digits((length + 1 + sign).min(bytes.len()));
        if n_digits > 0 {
            length += 1 + sign + n_digits;
        }
    }
    length
}

fn split_suffix<'a>(
    spelling: &str,
    text: &'a str,
    length: usize,
) -> Result<(&'a str, bool), LiteralError> {
    let (digits, suffix) = text.split_at(length);
    match suffix {
        "" => Ok((digits, false)),
        "f" | "F" => Ok((digits, true)),
        // On the device `long double` is `double`.
        "l" | "L" => Ok((digits, false)),
        _ if suffix.starts_with(['e', 'E']) => Err(LiteralError::NoExponentDigits {
            spelling: spelling.into(),
        }),
        _ if suffix.starts_with('.') => Err(LiteralError::SecondPoint {
            spelling: spelling.into(),
        }),
        _ => Err(LiteralError::FloatSuffix {
            suffix: suffix.into(),
        }),
    }
}

fn finite(spelling: &str, value: f64, single: bool) -> Result<TokenKind, LiteralError> {
    if value.is_finite() {
        return Ok(TokenKind::Float { value, single });
    }
    let ty = if single { "float" } else { "double" };
    Err(LiteralError::BeyondRange {
        spelling: spelling.into(),
        ty,
    })
}

/// `0x1.8p3`; `text` is what follows the prefix.
pub(super) fn hexadecimal(spelling: &str, text: &str) -> Result<TokenKind, LiteralError> {
    let mut mantissa: u64 = 0;
    let mut sticky = false;
    let mut exponent: i64 = 0;
    let mut n_digits = 0;
    let mut after_point = false;
    let mut length = 0;
    for byte in text.bytes() {
        match (byte as char).to_digit(16) {
            Some(digit) if mantissa >> 60 == 0 => {
                mantissa = mantissa << 4 | u64::from(digit);
                exponent -= if after_point { 4 } else { 0 };
            }
            Some(digit) => {
                sticky |= digit != 0;
                exponent += if after_point { 0 } else { 4 };
            }
            None if byte == b'.' && !after_point => {
                after_point = true;
                length += 1;
                continue;
            }
            None => break,
        }
        n_digits += 1;
        length += 1;
    }
    let spelled = || spelling.to_string();
    let no_exponent = || LiteralError::NoExponent {
        spelling: spelled(),
    };
    if n_digits == 0 {
        return Err(LiteralError::NoDigits {
            spelling: spelled(),
        });
    }
    let tail = text[length..]
        .strip_prefix(['p', 'P'])
        .ok_or_else(no_exponent)?;
    let sign = usize::from(tail.starts_with(['+', '-']));
    let n_exponent_digits = tail[sign..].bytes().take_while(u8::is_ascii_digit).count();
    if n_exponent_digits == 0 {
        return Err(LiteralError::NoExponentDigits {
            spelling: spelled(),
        });
    }
    let (power, _) = tail.split_at(sign + n_exponent_digits);
    // Beyond a million the value is zero or infinite, whatever the digits are.
    let limit = if tail.starts_with('-') {
        -1_000_000
    } else {
        1_000_000
    };
    exponent = exponent.saturating_add(
        power
            .parse::<i64>()
            .unwrap_or(limit)
            .clamp(-1_000_000, 1_000_000),
    );
    let (_, single) = split_suffix(spelling, tail, sign + n_exponent_digits)?;
    let value = match single {
        true => round(mantissa, sticky, exponent, 24, -149),
        false => round(mantissa, sticky, exponent, 53, -1074),
    };
    let value = if single {
        f64::from(value as f32)
    } else {
        value
    };
    finite(spelling, value, single)
}

/// `mantissa * 2^exponent` (a little more if `sticky`) with at most `precision` bits, the lowest at least `2^lowest`.
fn round(mantissa: u64, sticky: bool, exponent: i64, precision: i64, lowest: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    // One bit more than fits in 64, so that the bits that are cut off always count below half.
    let mut wide = u128::from(mantissa) << 2 | u128::from(sticky);
    let mut exponent = exponent - 2;
    let n_bits = 128 - i64::from(wide.leading_zeros());
    let cut = (n_bits - precision).max(lowest - exponent).max(0);
    if cut > 127 {
        return 0.0;
    }
    if cut > 0 {
        let rest = wide & ((1 << cut) - 1);
        let half = 1 << (cut - 1);
        wide >>= cut;
        exponent += cut;
        if rest > half || (rest == half && wide & 1 == 1) {
            wide += 1;
        }
    }
    // Now exact: scale in steps that stay in range.
    let mut value = wide as f64;
    while exponent > 0 && value.is_finite() {
        let step = exponent.min(1000);
        value *= 2f64.powi(step as i32);
        exponent -= step;
    }
    while exponent < 0 && value != 0.0 {
        let step = (-exponent).min(1000);
        value *= 2f64.powi(-step as i32);
        exponent += step;
    }
    value
}
