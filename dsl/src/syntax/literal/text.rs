//! Character and string literals: escapes to bytes.

use crate::syntax::message::lex::LiteralError;

/// The value of a character literal, quotes included, as C's `int`: the byte as a `signed char`. An escape that C does not know means its
/// letter; the first such letter is stored in `unknown`.
pub(crate) fn character(spelling: &str, unknown: &mut Option<char>) -> Result<i32, LiteralError> {
    let inner = spelling
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .unwrap_or(spelling);
    let mut bytes = Vec::new();
    unescape(inner, &mut bytes, unknown)?;
    match bytes[..] {
        [byte] => Ok(i32::from(byte as i8)),
        [] => Err(LiteralError::EmptyCharacter),
        _ if inner.chars().count() == 1 => Err(LiteralError::WideCharacter {
            character: inner.into(),
            bytes: bytes.len(),
        }),
        _ => Err(LiteralError::SeveralCharacters {
            spelling: spelling.into(),
        }),
    }
}

/// Appends the bytes of a string literal, quotes included, without a final NUL. `unknown` as for [`character`].
pub(crate) fn string(
    spelling: &str,
    bytes: &mut Vec<u8>,
    unknown: &mut Option<char>,
) -> Result<(), LiteralError> {
    let inner = spelling
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(spelling);
    unescape(inner, bytes, unknown)
}

fn unescape(
    text: &str,
    bytes: &mut Vec<u8>,
    unknown: &mut Option<char>,
) -> Result<(), LiteralError> {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], bytes, unknown)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(())
}

/// Appends the value of the escape after a backslash and returns the text after it.
fn escape<'a>(
    text: &'a str,
    bytes: &mut Vec<u8>,
    unknown: &mut Option<char>,
) -> Result<&'a str, LiteralError> {
    let Some(first) = text.chars().next() else {
        return Err(LiteralError::EscapesNothing);
    };
    let rest = &text[first.len_utf8()..];
    let byte = match first {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'v' => 11,
        'f' => 12,
        'e' => 27,
        '\\' | '\'' | '"' | '?' => first as u8,
        '0'..='7' => {
            let n_digits = text
                .bytes()
                .take(3)
                .take_while(|byte| (b'0'..=b'7').contains(byte))
                .count();
            let value = u32::from_str_radix(&text[..n_digits], 8).unwrap_or(u32::MAX);
            let byte = u8::try_from(value).map_err(|_| too_large(&text[..n_digits]))?;
            bytes.push(byte);
            return Ok(&text[n_digits..]);
        }
        'x' => {
            let n_digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
            let digits = &rest[..n_digits];
            if digits.is_empty() {
                return Err(LiteralError::NoHexDigits);
            }
            let byte =
                u8::from_str_radix(digits, 16).map_err(|_| too_large(&text[..1 + n_digits]))?;
            bytes.push(byte);
            return Ok(&rest[n_digits..]);
        }
        'u' | 'U' => {
            let n_digits = if first == 'u' { 4 } else { 8 };
            let character = rest
                .get(..n_digits)
                .filter(|digits| !digits.starts_with('+'))
                .and_then(|digits| u32::from_str_radix(digits, 16).ok())
                .and_then(char::from_u32);
            let Some(character) = character else {
                return Err(LiteralError::NoSuchCharacter {
                    letter: first,
                    digits: n_digits,
                });
            };
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(&rest[n_digits..]);
        }
        _ => {
            unknown.get_or_insert(first);
            bytes.extend_from_slice(first.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(rest);
        }
    };
    bytes.push(byte);
    Ok(rest)
}

fn too_large(escape: &str) -> LiteralError {
    LiteralError::EscapeTooLarge {
        escape: escape.into(),
    }
}
