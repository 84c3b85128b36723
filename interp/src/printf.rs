//! C's `printf` formats, as glibc prints them: for `printf` in kernels and in the host program.
//!
//! The input is a format, one 64-bit word per argument (integers as they are, floats as the bits of a `double`, strings
//! as addresses), and a function that fetches strings. The output is bytes. Supported are the flags `-+ #0`, width,
//! precision, `*`, the lengths `hh h l ll z j t L`, and the conversions `d i u o x X c s p f F e E g G a A %`. A format
//! that is undefined in C (an unknown conversion, or too few arguments) is printed unchanged, so that nothing is lost
//! and nothing panics.
//!
//! ```
//! let text = interp::printf::format(b"%5.2f|%-4d|%08x|%s", &[1.625f64.to_bits(), 7, 0xbeef, 1], &mut |_, _| Some(b"ok".to_vec()));
//! assert_eq!(text, b" 1.62|7   |0000beef|ok");
//! ```

/// Wider fields are cut to this width, because no program needs them.
const MAX_COLUMNS: usize = 1 << 16;
/// No `f64` has more digits that are not zero, before or after its point. Rust formats up to `u16::MAX` of them.
const MAX_DIGITS: usize = 1100;

/// A conversion between `%` and its letter.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    bytes: u32,
}

/// The formatted text. `fetch` gives the bytes of the string at an address, up to a number of them; `None` if there is
/// no string (then `(null)` is printed).
pub fn format(
    format: &[u8],
    args: &[u64],
    fetch: &mut dyn FnMut(u64, usize) -> Option<Vec<u8>>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len() + 16);
    let mut args = args.iter().copied();
    let mut rest = format;
    while let Some(percent) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..percent]);
        rest = &rest[percent..];
        let Some((spec, letter, length)) = Spec::read(&rest[1..], &mut args) else {
            // There is no conversion letter.
            break;
        };
        let conversion = &rest[..1 + length];
        rest = &rest[1 + length..];
        if letter == b'%' {
            out.push(b'%');
        } else if !b"diuoxXcspfFeEgGaA".contains(&letter) {
            out.extend_from_slice(conversion);
        } else {
            match args.next() {
                Some(bits) => spec.convert(letter, bits, fetch, &mut out),
                None => out.extend_from_slice(conversion),
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

impl Spec {
    /// Parses the text after a `%`. Returns the conversion, its letter, and the number of bytes.
    fn read(text: &[u8], args: &mut impl Iterator<Item = u64>) -> Option<(Spec, u8, usize)> {
        let mut spec = Spec {
            bytes: 4,
            ..Spec::default()
        };
        let mut at = 0;
        loop {
            match text.get(at)? {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize| {
            let mut value = 0usize;
            while let Some(digit) = text.get(*at).filter(|byte| byte.is_ascii_digit()) {
                value = (value * 10 + usize::from(digit - b'0')).min(MAX_COLUMNS);
                *at += 1;
            }
            value
        };
        if text.get(at) == Some(&b'*') {
            at += 1;
            let width = args.next().unwrap_or(0) as i32;
            spec.left |= width < 0;
            spec.width = (width.unsigned_abs() as usize).min(MAX_COLUMNS);
        } else {
            spec.width = number(&mut at);
        }
        if text.get(at) == Some(&b'.') {
            at += 1;
            if text.get(at) == Some(&b'*') {
                at += 1;
                let precision = args.next().unwrap_or(0) as i32;
                // A negative precision counts as omitted.
                spec.precision = usize::try_from(precision)
                    .ok()
                    .map(|precision| precision.min(MAX_COLUMNS));
            } else {
                spec.precision = Some(number(&mut at));
            }
        }
        loop {
            match text.get(at)? {
                b'h' => spec.bytes = if spec.bytes == 2 { 1 } else { 2 },
                b'l' | b'z' | b'j' | b't' => spec.bytes = 8,
                b'L' => {}
                &letter => return Some((spec, letter, at + 1)),
            }
            at += 1;
        }
    }

    fn convert(
        &self,
        letter: u8,
        bits: u64,
        fetch: &mut dyn FnMut(u64, usize) -> Option<Vec<u8>>,
        out: &mut Vec<u8>,
    ) {
        match letter {
            b'd' | b'i' => {
                let shift = 64 - 8 * self.bytes;
                let value = ((bits << shift) as i64) >> shift;
                self.integer(value < 0, value.unsigned_abs().to_string(), "", true, out);
            }
            b'u' => self.integer(false, self.unsigned(bits).to_string(), "", false, out),
            b'o' => {
                let mut digits = format!("{:o}", self.unsigned(bits));
                if self.alternate && !digits.starts_with('0') {
                    digits.insert(0, '0');
                }
                self.integer(false, digits, "", false, out);
            }
            b'x' | b'X' => {
                let value = self.unsigned(bits);
                let prefix = if self.alternate && value != 0 {
                    "0x"
                } else {
                    ""
                };
                let digits = format!("{value:x}");
                let start = out.len();
                self.integer(false, digits, prefix, false, out);
                if letter == b'X' {
                    out[start..].make_ascii_uppercase();
                }
            }
            b'p' => {
                if bits == 0 {
                    self.pad("", "(nil)", false, out);
                } else {
                    self.integer(false, format!("{bits:x}"), "0x", false, out);
                }
            }
            b'c' => self.pad_bytes(&[bits as u8], out),
            b's' => {
                let most = self.precision.unwrap_or(usize::MAX);
                let mut text = if bits == 0 { None } else { fetch(bits, most) }
                    .unwrap_or_else(|| b"(null)".to_vec());
                text.truncate(most);
                self.pad_bytes(&text, out);
            }
            _ => {
                let start = out.len();
                self.float(letter.to_ascii_lowercase(), f64::from_bits(bits), out);
                if letter.is_ascii_uppercase() {
                    out[start..].make_ascii_uppercase();
                }
            }
        }
    }

    fn unsigned(&self, bits: u64) -> u64 {
        let shift = 64 - 8 * self.bytes;
        (bits << shift) >> shift
    }

    fn sign(&self, negative: bool, signed: bool) -> &'static str {
        match (negative, signed) {
            (true, _) => "-",
            (false, true) if self.plus => "+",
            (false, true) if self.space => " ",
            _ => "",
        }
    }

    fn integer(
        &self,
        negative: bool,
        mut digits: String,
        prefix: &str,
        signed: bool,
        out: &mut Vec<u8>,
    ) {
        if let Some(precision) = self.precision {
            if precision == 0 && digits == "0" {
                digits.clear();
            }
            digits.insert_str(0, &"0".repeat(precision.saturating_sub(digits.len())));
        }
        let head = format!("{}{prefix}", self.sign(negative, signed));
        self.pad(&head, &digits, self.zero && self.precision.is_none(), out);
    }

    /// Head (sign, `0x`) and body, padded with spaces outside or zeros between.
    fn pad(&self, head: &str, body: &str, zeros: bool, out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(head.len() + body.len());
        if !self.left && !zeros {
            out.extend(std::iter::repeat_n(b' ', missing));
        }
        out.extend_from_slice(head.as_bytes());
        if !self.left && zeros {
            out.extend(std::iter::repeat_n(b'0', missing));
        }
        out.extend_from_slice(body.as_bytes());
        if self.left {
            out.extend(std::iter::repeat_n(b' ', missing));
        }
    }

    fn pad_bytes(&self, text: &[u8], out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(text.len());
        if !self.left {
            out.extend(std::iter::repeat_n(b' ', missing));
        }
        out.extend_from_slice(text);
        if self.left {
            out.extend(std::iter::repeat_n(b' ', missing));
        }
    }

    fn float(&self, letter: u8, value: f64, out: &mut Vec<u8>) {
        let head = self.sign(value.is_sign_negative(), true);
        let magnitude = value.abs();
        if !magnitude.is_finite() {
            return self.pad(
                head,
                if magnitude.is_nan() { "nan" } else { "inf" },
                false,
                out,
            );
        }
        let precision = self.precision.unwrap_or(6);
        let (prefix, body) = match letter {
            b'f' => ("", self.fixed(magnitude, precision)),
            b'e' => ("", self.exponent(magnitude, precision)),
            b'g' => ("", self.general(magnitude, precision.max(1))),
            _ => ("0x", self.hexadecimal(magnitude)),
        };
        self.pad(&format!("{head}{prefix}"), &body, self.zero, out);
    }

    fn fixed(&self, value: f64, precision: usize) -> String {
        let digits = precision.min(MAX_DIGITS);
        let mut text = format!("{value:.digits$}") + &"0".repeat(precision - digits);
        if self.alternate && precision == 0 {
            text.push('.');
        }
        text
    }

    fn exponent(&self, value: f64, precision: usize) -> String {
        let digits = precision.min(MAX_DIGITS);
        let text = format!("{value:.digits$e}");
        let zeros = "0".repeat(precision - digits);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let point = if self.alternate && precision == 0 {
            "."
        } else {
            ""
        };
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}{zeros}{point}e{sign}{:02}", exponent.abs())
    }

    /// `%g`: the shorter of the two with `precision` significant digits, without trailing zeros unless `#`.
    fn general(&self, value: f64, precision: usize) -> String {
        let rounded = format!("{value:.*e}", (precision - 1).min(MAX_DIGITS));
        let exponent: i32 = rounded
            .split_once('e')
            .and_then(|(_, exponent)| exponent.parse().ok())
            .unwrap_or(0);
        if exponent < -4 || exponent >= precision as i32 {
            let text = self.exponent(value, precision - 1);
            let (mantissa, tail) = text.split_once('e').unwrap_or((&text, "+00"));
            return format!("{}e{tail}", self.trim(mantissa));
        }
        let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
        self.trim(&self.fixed(value, decimals)).to_string()
    }

    fn trim<'a>(&self, digits: &'a str) -> &'a str {
        if self.alternate || !digits.contains('.') {
            return digits;
        }
        digits.trim_end_matches('0').trim_end_matches('.')
    }

    /// `%a` after its `0x`: one digit before the point, as glibc normalises.
    fn hexadecimal(&self, value: f64) -> String {
        let bits = value.to_bits();
        let (mut fraction, field) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
        let mut lead = u64::from(field != 0);
        let exponent = if value == 0.0 { 0 } else { field.max(1) - 1023 };
        let mut digits = 13;
        if let Some(precision) = self.precision.filter(|&precision| precision < 13) {
            // Round to nearest, ties to even, on the 4-bit digits kept.
            let drop = 4 * (13 - precision) as u32;
            let whole = (lead << 52) | fraction;
            let (half, kept) = (1u64 << (drop - 1), whole >> drop);
            let rest = whole & ((1 << drop) - 1);
            let up = rest > half || (rest == half && kept & 1 == 1);
            let rounded = (kept + u64::from(up)) << drop;
            (lead, fraction) = (rounded >> 52, rounded & ((1 << 52) - 1));
            digits = precision;
        }
        let mut text = format!("{fraction:013x}")[..digits].to_string();
        if self.precision.is_none() {
            text.truncate(text.trim_end_matches('0').len());
        }
        while self
            .precision
            .is_some_and(|precision| text.len() < precision)
        {
            text.push('0');
        }
        let point = if text.is_empty() && !self.alternate {
            ""
        } else {
            "."
        };
        format!("{lead}{point}{text}p{exponent:+}")
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_COLUMNS, format};

    fn print(text: &str, args: &[u64]) -> String {
        let mut fetch = |address, _| (address == 1).then(|| b"text".to_vec());
        String::from_utf8(format(text.as_bytes(), args, &mut fetch)).unwrap()
    }

    /// The expected texts are those of glibc 2.36.
    #[test]
    fn integers_print_as_in_c() {
        let cases: &[(&str, u64, &str)] = &[
            ("%d", -5i32 as u32 as u64, "-5"),
            ("%5d|", 42, "   42|"),
            ("%-5d|", 42, "42   |"),
            ("%05d", -42i32 as u32 as u64, "-0042"),
            ("%+d", 42, "+42"),
            ("% d", 42, " 42"),
            ("%.3d", 7, "007"),
            ("%8.3d|", 7, "     007|"),
            ("%08.3d|", 7, "     007|"),
            ("%.0d|", 0, "|"),
            ("%u", u32::MAX.into(), "4294967295"),
            ("%lld", -1i64 as u64, "-1"),
            ("%llu", u64::MAX, "18446744073709551615"),
            ("%zu", 1 << 40, "1099511627776"),
            ("%hhd", 200, "-56"),
            ("%hd", 40000, "-25536"),
            ("%hu", 70000, "4464"),
            ("%x", 255, "ff"),
            ("%#X", 255, "0XFF"),
            ("%#x", 0, "0"),
            ("%#06x", 255, "0x00ff"),
            ("%#o", 8, "010"),
            ("%o", 8, "10"),
            ("%c", 65, "A"),
            ("%3c|", 65, "  A|"),
            ("%p", 0xabc, "0xabc"),
            ("%p", 0, "(nil)"),
            ("%s", 1, "text"),
            ("%6s|", 1, "  text|"),
            ("%-6s|", 1, "text  |"),
            ("%.2s", 1, "te"),
            ("%s", 0, "(null)"),
        ];
        for &(text, bits, expected) in cases {
            assert_eq!(print(text, &[bits]), expected, "{text}");
        }
    }

    #[test]
    fn floats_print_as_in_c() {
        let cases: &[(&str, f64, &str)] = &[
            ("%f", 1.5, "1.500000"),
            ("%.2f", 2.675, "2.67"),
            ("%.0f", 0.5, "0"),
            ("%.0f", 1.5, "2"),
            ("%.0f", 2.5, "2"),
            ("%.1f", 0.25, "0.2"),
            ("%8.3f|", -9.87654, "  -9.877|"),
            ("%08.3f", -9.87654, "-009.877"),
            ("%+.1f", 1.0, "+1.0"),
            ("%#.0f", 3.0, "3."),
            ("%e", 12345.678, "1.234568e+04"),
            ("%.0e", 15000.0, "2e+04"),
            ("%E", 1e-10, "1.000000E-10"),
            ("%e", 0.0, "0.000000e+00"),
            ("%e", 1e100, "1.000000e+100"),
            ("%g", 100000.0, "100000"),
            ("%g", 1000000.0, "1e+06"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", 1.5, "1.5"),
            ("%g", 0.0, "0"),
            ("%#g", 1.5, "1.50000"),
            ("%.3g", 1234.5, "1.23e+03"),
            ("%.10g", 0.1, "0.1"),
            ("%G", 1e-7, "1E-07"),
            ("%a", 1.0, "0x1p+0"),
            ("%a", 0.1, "0x1.999999999999ap-4"),
            ("%.2a", 0.1, "0x1.9ap-4"),
            ("%f", f64::INFINITY, "inf"),
            ("%5.1F|", f64::NEG_INFINITY, " -INF|"),
            ("%05f|", f64::NAN, "  nan|"),
            ("%f", 1e22, "10000000000000000000000.000000"),
            ("%.20f", 0.1, "0.10000000000000000555"),
        ];
        for &(text, value, expected) in cases {
            assert_eq!(
                print(text, &[value.to_bits()]),
                expected,
                "{text} of {value}"
            );
        }
    }

    #[test]
    fn widths_come_from_arguments() {
        assert_eq!(
            print("%*d|%-*d|%.*f", &[5, 1, 4, 2, 2, 1.0f64.to_bits()]),
            "    1|2   |1.00"
        );
        assert_eq!(print("%*d|", &[-4i32 as u32 as u64, 3]), "3   |");
        assert_eq!(print("%.*d", &[-1i32 as u32 as u64, 3]), "3");
        // More digits than a number has, and than Rust's formatting supports.
        for (text, bytes) in [("%.*f", 2), ("%.*e", 6), ("%#.*g", 1), ("%.*a", 7)] {
            let printed = print(text, &[u32::MAX as u64 >> 1, 1.25f64.to_bits()]);
            assert_eq!(printed.len(), MAX_COLUMNS + bytes, "{text}");
            assert!(printed.contains("000000000"), "{text}");
        }
    }

    #[test]
    fn nothing_is_lost_in_a_bad_format() {
        assert_eq!(print("100%", &[]), "100%");
        assert_eq!(print("%d and %d", &[1]), "1 and %d");
        assert_eq!(print("%y%%", &[1]), "%y%");
        assert_eq!(print("%ll", &[1]), "%ll");
        assert_eq!(print("%999999999999d", &[1]).len(), 1 << 16);
    }
}
