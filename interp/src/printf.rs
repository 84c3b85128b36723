//! C's `printf`, to the byte as glibc prints it: one implementation for kernels and for the host.
//!
//! In: a format and a source of arguments, which is asked for each one with what the conversion [`Want`]s. Out: bytes.
//! Flags `- + space # 0`, width, precision (both also `*`), lengths `hh h l ll z j t L`, conversions
//! `d i u o x X c s p f F e E g G a A %`. `%n` and unknown conversions are printed as they stand.

use std::io::Write;

/// What a conversion needs next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    /// 32 bits or less; the low bits count.
    Int,
    /// 64 bits.
    Long,
    /// The bits of a `double`.
    Double,
    /// An address, to print.
    Pointer,
    /// The bytes of the string the next argument points to.
    Text,
}

/// An argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// Its bits.
    Bits(u64),
    /// A string's bytes.
    Text(Vec<u8>),
    /// There is none: 0 is printed, as nothing better is defined.
    Missing,
}

#[derive(Clone, Copy, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    bits: u32,
}

/// Widths and precisions beyond this are cut: nobody reads a million blanks.
const LONGEST: u64 = 1 << 16;

/// Appends the text to `out`. An error of `next` (an unreadable string's address) ends it.
pub fn format<E>(
    text: &[u8],
    next: &mut dyn FnMut(Want) -> Result<Arg, E>,
    out: &mut Vec<u8>,
) -> Result<(), E> {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..at]);
        let start = &rest[at..];
        rest = &start[1..];
        let mut bits_of = |want| -> Result<u64, E> {
            Ok(match next(want)? {
                Arg::Bits(bits) => bits,
                Arg::Text(_) | Arg::Missing => 0,
            })
        };
        let mut spec = flags(&mut rest);
        spec.width = match star_or_number(&mut rest) {
            Count::Star => {
                let width = i64::from(bits_of(Want::Int)? as i32);
                spec.left |= width < 0;
                width.unsigned_abs().min(LONGEST) as usize
            }
            Count::Number(n) => n,
            Count::None => 0,
        };
        if rest.first() == Some(&b'.') {
            rest = &rest[1..];
            spec.precision = match star_or_number(&mut rest) {
                Count::Star => {
                    let precision = bits_of(Want::Int)? as i32;
                    (precision >= 0).then_some((precision as u64).min(LONGEST) as usize)
                }
                Count::Number(n) => Some(n),
                Count::None => Some(0),
            };
        }
        spec.bits = length(&mut rest);
        let Some((&conversion, after)) = rest.split_first() else {
            out.extend_from_slice(start);
            return Ok(());
        };
        rest = after;
        let want = if spec.bits == 64 {
            Want::Long
        } else {
            Want::Int
        };
        match conversion {
            b'%' => out.push(b'%'),
            b'd' | b'i' => {
                let bits = bits_of(want)?;
                signed(bits, spec, out);
            }
            b'u' | b'o' | b'x' | b'X' => {
                let bits = bits_of(want)?;
                unsigned(bits, conversion, spec, out);
            }
            b'c' => {
                let byte = bits_of(Want::Int)? as u8;
                pad(
                    &[],
                    &[byte],
                    Spec {
                        zero: false,
                        ..spec
                    },
                    out,
                );
            }
            b's' => {
                let text = match next(Want::Text)? {
                    Arg::Text(text) => text,
                    Arg::Bits(_) | Arg::Missing => b"(null)".to_vec(),
                };
                let shown = spec.precision.map_or(text.len(), |n| n.min(text.len()));
                pad(
                    &[],
                    &text[..shown],
                    Spec {
                        zero: false,
                        ..spec
                    },
                    out,
                );
            }
            b'p' => {
                let bits = bits_of(Want::Pointer)?;
                let spec = Spec {
                    zero: false,
                    ..spec
                };
                if bits == 0 {
                    pad(&[], b"(nil)", spec, out);
                } else {
                    pad(&[], format!("{bits:#x}").as_bytes(), spec, out);
                }
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let bits = bits_of(Want::Double)?;
                float(f64::from_bits(bits), conversion, spec, out);
            }
            _ => out.extend_from_slice(&start[..start.len() - rest.len()]),
        }
    }
    out.extend_from_slice(rest);
    Ok(())
}

fn flags(rest: &mut &[u8]) -> Spec {
    let mut spec = Spec {
        bits: 32,
        ..Spec::default()
    };
    while let Some((&flag, after)) = rest.split_first() {
        match flag {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        *rest = after;
    }
    spec
}

enum Count {
    None,
    Star,
    Number(usize),
}

fn star_or_number(rest: &mut &[u8]) -> Count {
    if rest.first() == Some(&b'*') {
        *rest = &rest[1..];
        return Count::Star;
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return Count::None;
    }
    let value = rest[..digits].iter().fold(0u64, |n, &digit| {
        (n * 10 + u64::from(digit - b'0')).min(LONGEST)
    });
    *rest = &rest[digits..];
    Count::Number(value as usize)
}

/// How many bits of an integer count.
fn length(rest: &mut &[u8]) -> u32 {
    let (bytes, bits) = match **rest {
        [b'h', b'h', ..] => (2, 8),
        [b'h', ..] => (1, 16),
        [b'l', b'l', ..] => (2, 64),
        [b'l' | b'z' | b'j' | b't' | b'L' | b'q', ..] => (1, 64),
        _ => (0, 32),
    };
    *rest = &rest[bytes..];
    bits
}

/// Prefix (a sign, `0x`) and body, with zeros between or blanks around.
fn pad(prefix: &[u8], body: &[u8], spec: Spec, out: &mut Vec<u8>) {
    let missing = spec.width.saturating_sub(prefix.len() + body.len());
    let fill = |out: &mut Vec<u8>, byte| out.extend(std::iter::repeat_n(byte, missing));
    if !spec.left && !spec.zero {
        fill(out, b' ');
    }
    out.extend_from_slice(prefix);
    if !spec.left && spec.zero {
        fill(out, b'0');
    }
    out.extend_from_slice(body);
    if spec.left {
        fill(out, b' ');
    }
}

fn sign(negative: bool, spec: Spec) -> &'static [u8] {
    match (negative, spec.plus, spec.space) {
        (true, ..) => b"-",
        (false, true, _) => b"+",
        (false, false, true) => b" ",
        (false, false, false) => b"",
    }
}

/// Digits with at least `precision` of them; none for the value 0 with precision 0.
fn digits(text: String, spec: Spec) -> Vec<u8> {
    let text = if spec.precision == Some(0) && text == "0" {
        String::new()
    } else {
        text
    };
    let missing = spec.precision.unwrap_or(0).saturating_sub(text.len());
    let mut digits = vec![b'0'; missing];
    digits.extend_from_slice(text.as_bytes());
    digits
}

fn signed(bits: u64, spec: Spec, out: &mut Vec<u8>) {
    let shift = 64 - spec.bits;
    let value = ((bits << shift) as i64) >> shift;
    let body = digits(value.unsigned_abs().to_string(), spec);
    pad(
        sign(value < 0, spec),
        &body,
        Spec {
            zero: spec.zero && spec.precision.is_none(),
            ..spec
        },
        out,
    );
}

fn unsigned(bits: u64, conversion: u8, spec: Spec, out: &mut Vec<u8>) {
    let shift = 64 - spec.bits;
    let value = (bits << shift) >> shift;
    let text = match conversion {
        b'o' => format!("{value:o}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        _ => value.to_string(),
    };
    let mut body = digits(text, spec);
    let prefix: &[u8] = match conversion {
        b'x' if spec.alternate && value != 0 => b"0x",
        b'X' if spec.alternate && value != 0 => b"0X",
        _ => b"",
    };
    if conversion == b'o' && spec.alternate && body.first() != Some(&b'0') {
        body.insert(0, b'0');
    }
    pad(
        prefix,
        &body,
        Spec {
            zero: spec.zero && spec.precision.is_none(),
            ..spec
        },
        out,
    );
}

fn float(value: f64, conversion: u8, spec: Spec, out: &mut Vec<u8>) {
    let upper = conversion.is_ascii_uppercase();
    let sign = sign(value.is_sign_negative(), spec);
    if !value.is_finite() {
        let body = match (value.is_nan(), upper) {
            (true, false) => b"nan",
            (true, true) => b"NAN",
            (false, false) => b"inf",
            (false, true) => b"INF",
        };
        return pad(
            sign,
            body,
            Spec {
                zero: false,
                ..spec
            },
            out,
        );
    }
    let value = value.abs();
    let mut prefix = sign.to_vec();
    let mut body = match conversion.to_ascii_lowercase() {
        b'f' => fixed(value, spec.precision.unwrap_or(6), spec.alternate),
        b'e' => exponential(value, spec.precision.unwrap_or(6), spec.alternate),
        b'g' => general(value, spec),
        _ => {
            prefix.extend_from_slice(b"0x");
            hexadecimal(value, spec)
        }
    };
    if upper {
        body.make_ascii_uppercase();
        prefix.make_ascii_uppercase();
    }
    pad(&prefix, body.as_bytes(), spec, out);
}

/// Rust rounds the exact decimal value half to even, as glibc does.
fn fixed(value: f64, precision: usize, point: bool) -> String {
    let mut text = format!("{value:.precision$}");
    if point && precision == 0 {
        text.push('.');
    }
    text
}

fn exponential(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if point && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.abs())
}

fn general(value: f64, spec: Spec) -> String {
    let precision = spec.precision.unwrap_or(6).max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let exponent: i64 = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let strip = |text: &str| {
        if spec.alternate || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || exponent >= precision as i64 {
        let text = exponential(value, precision - 1, spec.alternate);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{exponent}", strip(mantissa));
    }
    strip(&fixed(
        value,
        (precision as i64 - 1 - exponent) as usize,
        spec.alternate,
    ))
}

fn hexadecimal(value: f64, spec: Spec) -> String {
    const FRACTION_BITS: u32 = 52;
    let bits = value.to_bits();
    let (mut exponent, fraction) = (
        (bits >> FRACTION_BITS) as i64 - 1023,
        bits & ((1 << FRACTION_BITS) - 1),
    );
    let mut mantissa = fraction | 1 << FRACTION_BITS;
    if exponent == -1023 {
        mantissa = fraction;
        exponent = if fraction == 0 { 0 } else { -1022 };
    }
    let shown = spec.precision.unwrap_or(13);
    if shown < 13 {
        // Round half to even at the last digit shown.
        let cut = 4 * (13 - shown as u32);
        let (half, low) = (1u64 << (cut - 1), mantissa & ((1 << cut) - 1));
        mantissa >>= cut;
        mantissa += u64::from(low > half || low == half && mantissa & 1 == 1);
        mantissa <<= cut;
    }
    let lead = mantissa >> FRACTION_BITS;
    let mut digits = format!("{:013x}", mantissa & ((1 << FRACTION_BITS) - 1));
    match spec.precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(n) if n <= 13 => digits.truncate(n),
        Some(n) => digits.extend(std::iter::repeat_n('0', n - 13)),
    }
    let mut text = Vec::new();
    let point = if digits.is_empty() && !spec.alternate {
        ""
    } else {
        "."
    };
    // Writing to a vector cannot fail.
    let _ = write!(text, "{lead:x}{point}{digits}p{exponent:+}");
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Arg, Want, format};

    fn print(text: &str, args: &[Arg]) -> String {
        let mut out = Vec::new();
        let mut args = args.iter().cloned();
        let mut next = |_: Want| Ok::<Arg, ()>(args.next().unwrap_or(Arg::Missing));
        format(text.as_bytes(), &mut next, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn int(text: &str, value: i64) -> String {
        print(text, &[Arg::Bits(value as u64)])
    }

    fn float(text: &str, value: f64) -> String {
        print(text, &[Arg::Bits(value.to_bits())])
    }

    /// Every expectation was printed by glibc.
    #[test]
    fn integers_as_glibc_prints_them() {
        assert_eq!(int("%d", -5), "-5");
        assert_eq!(
            int("[%5d|%-5d|%05d|%+d|% d]", 42),
            "[   42|0    |00000|+0| 0]"
        );
        assert_eq!(int("%05d", -42), "-0042");
        assert_eq!(int("%.3d", 7), "007");
        assert_eq!(int("%8.3d", -7), "    -007");
        assert_eq!(int("%08.3d", 7), "     007");
        assert_eq!(int("%.0d", 0), "");
        assert_eq!(int("%hhd", 200), "-56");
        assert_eq!(int("%hu", -1), "65535");
        assert_eq!(int("%u", -1), "4294967295");
        assert_eq!(int("%lu", -1), "18446744073709551615");
        assert_eq!(int("%lld", i64::MIN), "-9223372036854775808");
        assert_eq!(int("%#x", 255), "0xff");
        assert_eq!(int("%#010X", 255), "0X000000FF");
        assert_eq!(int("%#o", 8), "010");
        assert_eq!(int("%x", 0), "0");
        assert_eq!(int("%c%%", 65), "A%");
        assert_eq!(int("%p", 0x7ffc_1234), "0x7ffc1234");
        assert_eq!(int("%10p|", 0), "     (nil)|");
        assert_eq!(print("%*d|%-*d", &[4, 7, 3, 1].map(Arg::Bits)), "   7|1  ");
    }

    #[test]
    fn floats_as_glibc_prints_them() {
        assert_eq!(float("%f", 3.5), "3.500000");
        assert_eq!(float("%.0f", 2.5), "2");
        assert_eq!(float("%#.0f", 2.5), "2.");
        assert_eq!(float("%.2f", 0.125), "0.12");
        assert_eq!(float("%08.2f", -1.5), "-0001.50");
        assert_eq!(float("%e", 12345.678), "1.234568e+04");
        assert_eq!(float("%.0e", 1e100), "1e+100");
        assert_eq!(float("%e", 0.0), "0.000000e+00");
        assert_eq!(float("%g", 100000.0), "100000");
        assert_eq!(float("%g", 1e6), "1e+06");
        assert_eq!(float("%g", 0.0001), "0.0001");
        assert_eq!(float("%g", 0.00001), "1e-05");
        assert_eq!(float("%#g", 1.0), "1.00000");
        assert_eq!(float("%.3g", 1234.0), "1.23e+03");
        assert_eq!(float("%g", 0.0), "0");
        assert_eq!(float("%a", 1.0), "0x1p+0");
        assert_eq!(float("%a", 0.1), "0x1.999999999999ap-4");
        assert_eq!(float("%.2a", 1.999), "0x2.00p+0");
        assert_eq!(float("%a", 5e-324), "0x0.0000000000001p-1022");
        assert_eq!(float("%f", f64::INFINITY), "inf");
        assert_eq!(float("%05F", f64::NEG_INFINITY), " -INF");
        assert_eq!(float("%f", f64::NAN), "nan");
    }

    #[test]
    fn strings_and_what_is_no_conversion() {
        let text = || Arg::Text(b"hello".to_vec());
        assert_eq!(print("[%s|%7s]", &[text(), text()]), "[hello|  hello]");
        assert_eq!(print("[%-7s|%.2s]", &[text(), text()]), "[hello  |he]");
        assert_eq!(print("100%", &[]), "100%");
        assert_eq!(print("%y %d", &[Arg::Bits(1)]), "%y 1");
    }
}
