//! The header of a `.npy` file: a line of Python with three keys, `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
//!
//! The parser reads only what NumPy writes for arrays of numbers. Nested brackets, which Python allows, are an error, so the time is linear
//! in the length of the header.

use std::io::Read;

/// Longer headers are those of structured types.
const MAX_BYTES: usize = 1 << 16;

/// The content of the header.
#[derive(PartialEq, Eq, Debug)]
pub struct Header {
    /// The type of an element: `<f4`.
    pub descr: String,
    /// Whether the first index varies fastest.
    pub is_fortran: bool,
    /// The dimensions, outermost first.
    pub shape: Vec<u64>,
}

impl Header {
    /// Reads the header, up to the beginning of the data. The error says why this is not a `.npy` file.
    pub fn read(reader: &mut dyn Read) -> Result<Header, String> {
        let none = |why: &str| format!("not a .npy file: {why}");
        let mut start = [0; 8];
        let read = reader.read_exact(&mut start);
        read.map_err(|error| none(&error.to_string()))?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(none("it does not start with the magic bytes"));
        }
        // Version 1 has two bytes for the length, later versions have four.
        let length_bytes = match start[6] {
            1 => 2,
            2 | 3 => 4,
            other => return Err(none(&format!("version {other} is unknown"))),
        };
        let mut length = [0; 4];
        let read = reader.read_exact(&mut length[..length_bytes]);
        read.map_err(|error| none(&error.to_string()))?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_BYTES {
            return Err(none(&format!("its header is {length} bytes long")));
        }
        let mut text = vec![0; length];
        let read = reader.read_exact(&mut text);
        read.map_err(|error| none(&error.to_string()))?;
        let text = str::from_utf8(&text).map_err(|_| none("its header is not text"))?;
        Parser { rest: text }.header().map_err(|why| match why {
            Wrong::Structured => "structured .npy types are not supported".to_string(),
            Wrong::Expected(what) => none(&format!("its header has no {what}")),
            Wrong::UnknownKey(key) => none(&format!(
                "its header has the unknown key `{key}`; the keys are descr, fortran_order and shape"
            )),
        })
    }
}

impl Header {
    /// The file up to the beginning of the data: magic bytes, version 1.0, the header's length, the header, filled with spaces to a multiple
    /// of 64 bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let shape: String = self.shape.iter().map(|n| format!("{n}, ")).collect();
        let order = if self.is_fortran { "True" } else { "False" };
        let mut text = format!(
            "{{'descr': '{}', 'fortran_order': {order}, 'shape': ({}), }}",
            self.descr,
            shape.trim_end()
        );
        while !(10 + text.len() + 1).is_multiple_of(64) {
            text.push(' ');
        }
        text.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((text.len() as u16).to_le_bytes());
        file.extend(text.as_bytes());
        file
    }
}

enum Wrong {
    Structured,
    /// The header lacks this text.
    Expected(&'static str),
    /// A key other than the three.
    UnknownKey(String),
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn header(&mut self) -> Result<Header, Wrong> {
        let (mut descr, mut is_fortran, mut shape) = (None, None, None);
        self.expect('{', "`{`")?;
        while !self.take('}') {
            let key = self.string().ok_or(Wrong::Expected("key in quotes"))?;
            self.expect(':', "`:` after a key")?;
            match key {
                "descr" => descr = Some(self.descr()?),
                "fortran_order" => is_fortran = Some(self.boolean()?),
                "shape" => shape = Some(self.shape()?),
                _ => return Err(Wrong::UnknownKey(key.to_string())),
            }
            if !self.take(',') {
                self.expect('}', "`}`")?;
                break;
            }
        }
        Ok(Header {
            descr: descr.ok_or(Wrong::Expected("`descr`"))?,
            is_fortran: is_fortran.ok_or(Wrong::Expected("`fortran_order`"))?,
            shape: shape.ok_or(Wrong::Expected("`shape`"))?,
        })
    }

    fn take(&mut self, letter: char) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(letter);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn expect(&mut self, letter: char, what: &'static str) -> Result<(), Wrong> {
        if self.take(letter) {
            Ok(())
        } else {
            Err(Wrong::Expected(what))
        }
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = ['\'', '"'].into_iter().find(|&quote| self.take(quote))?;
        let (text, rest) = self.rest.split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    fn descr(&mut self) -> Result<String, Wrong> {
        if self.rest.trim_start().starts_with(['[', '(']) {
            return Err(Wrong::Structured);
        }
        let text = self.string().ok_or(Wrong::Expected("type in quotes"))?;
        Ok(text.to_string())
    }

    fn boolean(&mut self) -> Result<bool, Wrong> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(Wrong::Expected("`True` or `False` after `fortran_order`"))
    }

    fn shape(&mut self) -> Result<Vec<u64>, Wrong> {
        const WHAT: &str = "shape of numbers in parentheses";
        let mut shape = Vec::new();
        self.expect('(', WHAT)?;
        while !self.take(')') {
            self.rest = self.rest.trim_start();
            let end = self.rest.find(|c: char| !c.is_ascii_digit());
            let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            shape.push(digits.parse().map_err(|_| Wrong::Expected(WHAT))?);
            // Python 2 wrote `3L`.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.take(',') {
                self.expect(')', WHAT)?;
                break;
            }
        }
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str) -> Result<Header, String> {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.bytes());
        Header::read(&mut &file[..])
    }

    #[test]
    fn reads_what_numpy_writes() {
        let header = |descr: &str, is_fortran, shape: &[u64]| {
            Ok(Header {
                descr: descr.to_string(),
                is_fortran,
                shape: shape.to_vec(),
            })
        };
        let cases = [
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
                header("<f4", false, &[2, 3]),
            ),
            (
                "{'descr': '|b1', 'fortran_order': True, 'shape': (7,), }\n",
                header("|b1", true, &[7]),
            ),
            (
                "{'shape': (), 'fortran_order': False, \"descr\": \">i8\"}",
                header(">i8", false, &[]),
            ),
            (
                "{'descr': '<i4', 'fortran_order': False, 'shape': (3L, 4L)}",
                header("<i4", false, &[3, 4]),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn says_what_is_missing() {
        let why = |text: &str| read(text).unwrap_err();
        let structured = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}";
        assert_eq!(why(structured), "structured .npy types are not supported");
        assert_eq!(
            why("{'descr': '<f4'}"),
            "not a .npy file: its header has no `fortran_order`"
        );
        assert_eq!(
            why("{'descr': '<f4', 'units': 'm'}"),
            "not a .npy file: its header has the unknown key `units`; the keys are descr, fortran_order and shape"
        );
        let brackets = "[".repeat(60_000);
        assert_eq!(why(&brackets), "not a .npy file: its header has no `{`");
        let nested = format!("{{'shape': {}", "(".repeat(60_000));
        assert_eq!(
            why(&nested),
            "not a .npy file: its header has no shape of numbers in parentheses"
        );
        assert_eq!(
            why("{'shape': (18446744073709551616,)}"),
            "not a .npy file: its header has no shape of numbers in parentheses"
        );
        let mut short = &b"\x93NUMPY\x01\x00\x10\x00{"[..];
        assert!(Header::read(&mut short).is_err());
        assert!(
            Header::read(&mut &b"\x93NUMPY\x09\x00"[..])
                .unwrap_err()
                .contains("version 9")
        );
    }
}
