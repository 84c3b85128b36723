//! Buffers described on the command line: `in=int[512]:iota`, `tile=float[32][33]`, `x=@input.npy`.
//!
//! A description is `NAME=TYPE[N][M]…` with a fill: `zero` (the default), `iota` (0, 1, 2 …), `VALUE` (every element), `rand` or
//! `rand(SEED)` (from a fixed generator: integers 0 to 99, floats from 0 to 1). `NAME=@FILE.npy` takes type and shape from the file. A
//! buffer is bytes with an element type; results are printed or written back as `.npy`.

use std::io::Read;

pub mod npy;

use npy::Header;

use crate::launch::{SpecError, is_name};

/// A scalar that a buffer can hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names are the types")]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    /// Size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// The scalar of a C type name.
    fn from_c_name(name: &str) -> Option<Scalar> {
        Some(match name {
            "char" | "signed char" | "int8_t" => Scalar::I8,
            "bool" | "unsigned char" | "uchar" | "uint8_t" => Scalar::U8,
            "short" | "int16_t" => Scalar::I16,
            "unsigned short" | "ushort" | "uint16_t" => Scalar::U16,
            "int" | "int32_t" => Scalar::I32,
            "unsigned" | "unsigned int" | "uint" | "uint32_t" => Scalar::U32,
            "long" | "long long" | "int64_t" => Scalar::I64,
            "unsigned long" | "unsigned long long" | "ulong" | "size_t" | "uint64_t" => Scalar::U64,
            "float" => Scalar::F32,
            "double" => Scalar::F64,
            _ => return None,
        })
    }

    /// The bytes of a number in this type, converted as C converts.
    pub fn encode(self, value: Number) -> Vec<u8> {
        match self {
            Scalar::I8 | Scalar::U8 => (value.as_int() as u8).to_le_bytes().to_vec(),
            Scalar::I16 | Scalar::U16 => (value.as_int() as u16).to_le_bytes().to_vec(),
            Scalar::I32 | Scalar::U32 => (value.as_int() as u32).to_le_bytes().to_vec(),
            Scalar::I64 | Scalar::U64 => (value.as_int() as u64).to_le_bytes().to_vec(),
            Scalar::F32 => (value.as_float() as f32).to_le_bytes().to_vec(),
            Scalar::F64 => value.as_float().to_le_bytes().to_vec(),
        }
    }

    /// An element as text. `bytes` has the size of this scalar.
    pub fn show(self, bytes: &[u8]) -> String {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match self {
            Scalar::I8 => (bits as i8).to_string(),
            Scalar::U8 => (bits as u8).to_string(),
            Scalar::I16 => (bits as i16).to_string(),
            Scalar::U16 => (bits as u16).to_string(),
            Scalar::I32 => (bits as i32).to_string(),
            Scalar::U32 => (bits as u32).to_string(),
            Scalar::I64 => (bits as i64).to_string(),
            Scalar::U64 => bits.to_string(),
            Scalar::F32 => f32::from_bits(bits as u32).to_string(),
            Scalar::F64 => f64::from_bits(bits).to_string(),
        }
    }
}

/// The number of a fill.
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    fn as_int(self) -> i128 {
        match self {
            Number::Int(value) => value,
            Number::Float(value) => value as i128,
        }
    }

    fn as_float(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}

/// The type of an element: a scalar, or one of CUDA's vectors (`float4`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Element {
    /// The type of each component.
    pub scalar: Scalar,
    /// The number of components: 1 to 4.
    pub components: usize,
}

impl Element {
    /// Size in bytes.
    pub fn bytes(self) -> usize {
        self.scalar.bytes() * self.components
    }

    /// The element type with that C name.
    pub fn from_c_name(name: &str) -> Option<Element> {
        let name = name.trim();
        if let Some(scalar) = Scalar::from_c_name(name) {
            return Some(Element {
                scalar,
                components: 1,
            });
        }
        let components = name
            .chars()
            .last()?
            .to_digit(10)
            .filter(|n| (1..=4).contains(n))? as usize;
        let scalar = match &name[..name.len() - 1] {
            "char" => Scalar::I8,
            "uchar" => Scalar::U8,
            "short" => Scalar::I16,
            "ushort" => Scalar::U16,
            "int" => Scalar::I32,
            "uint" => Scalar::U32,
            "longlong" | "long" => Scalar::I64,
            "ulonglong" | "ulong" => Scalar::U64,
            "float" => Scalar::F32,
            "double" => Scalar::F64,
            _ => return None,
        };
        Some(Element { scalar, components })
    }
}

/// The initial content of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub enum Fill {
    /// Zeros.
    Zero,
    /// 0, 1, 2 …
    Iota,
    /// One value.
    Value(Number),
    /// Numbers from a fixed generator.
    Rand(u64),
}

/// The description of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct BufferSpec {
    /// Its name in launches.
    pub name: String,
    /// The source of its content.
    pub source: BufferSource,
}

/// The source of a buffer's content.
#[derive(Clone, PartialEq, Debug)]
pub enum BufferSource {
    /// Type, dimensions and fill.
    Made {
        /// The type of each element.
        element: Element,
        /// The dimensions, outermost first.
        shape: Vec<u64>,
        /// The initial content.
        fill: Fill,
    },
    /// A `.npy` file.
    File(String),
}

/// A buffer's contents on the host.
#[derive(Clone, PartialEq, Debug)]
pub struct HostBuffer {
    /// The type of each element.
    pub element: Element,
    /// The dimensions, outermost first.
    pub shape: Vec<u64>,
    /// The content, little-endian.
    pub bytes: Vec<u8>,
}

impl BufferSpec {
    /// Parses a description.
    ///
    /// ```
    /// use runtime::buffer::{BufferSource, BufferSpec, Fill};
    /// let spec = BufferSpec::parse("tile=float[32][33]:iota").unwrap();
    /// let BufferSource::Made { shape, fill, .. } = spec.source else { panic!() };
    /// assert_eq!((shape, fill), (vec![32, 33], Fill::Iota));
    /// ```
    pub fn parse(text: &str) -> Result<BufferSpec, SpecError> {
        let wrong = |why: &str| SpecError::new(format!("--buffer '{text}'"), why);
        let (name, rest) = text
            .split_once('=')
            .ok_or_else(|| wrong("expected NAME=TYPE[N]:FILL or NAME=@FILE.npy"))?;
        let name = name.trim();
        if !is_name(name) {
            return Err(wrong("expected a name before `=`"));
        }
        let rest = rest.trim();
        if let Some(path) = rest.strip_prefix('@') {
            return Ok(BufferSpec {
                name: name.to_string(),
                source: BufferSource::File(path.to_string()),
            });
        }
        let (ty, fill) = rest.split_once(':').unwrap_or((rest, "zero"));
        let (element_name, dims) = ty.split_at(
            ty.find('[')
                .ok_or_else(|| wrong("expected a size in brackets after the type: int[512]"))?,
        );
        let element = Element::from_c_name(element_name).ok_or_else(|| {
            wrong(&format!(
                "`{}` is not an element type (int, float, double, unsigned char, float4 …)",
                element_name.trim()
            ))
        })?;
        let shape = parse_shape(dims).ok_or_else(|| {
            wrong(&format!(
                "`{}` is not a shape: write [N] or [N][M]",
                dims.trim()
            ))
        })?;
        let elements = shape
            .iter()
            .try_fold(1u64, |product, &n| product.checked_mul(n));
        if elements
            .and_then(|n| n.checked_mul(element.bytes() as u64))
            .is_none_or(|bytes| bytes > 1 << 36)
        {
            return Err(wrong("it is larger than 64 GiB"));
        }
        let fill = parse_fill(fill.trim()).ok_or_else(|| {
            wrong(&format!(
                "`{}` is not a fill: use zero, iota, rand, rand(SEED) or a number",
                fill.trim()
            ))
        })?;
        Ok(BufferSpec {
            name: name.to_string(),
            source: BufferSource::Made {
                element,
                shape,
                fill,
            },
        })
    }
}

fn parse_shape(text: &str) -> Option<Vec<u64>> {
    let mut shape = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (dims, after) = rest.strip_prefix('[')?.split_once(']')?;
        for dim in dims.split(',') {
            shape.push(dim.trim().parse().ok()?);
        }
        rest = after.trim_start();
    }
    Some(shape)
}

fn parse_fill(text: &str) -> Option<Fill> {
    match text {
        "zero" | "0" => return Some(Fill::Zero),
        "iota" => return Some(Fill::Iota),
        "rand" => return Some(Fill::Rand(1)),
        _ => {}
    }
    if let Some(seed) = text
        .strip_prefix("rand(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return seed.trim().parse().ok().map(Fill::Rand);
    }
    let number = text.strip_prefix("const:").unwrap_or(text);
    if let Ok(value) = number.parse() {
        return Some(Fill::Value(Number::Int(value)));
    }
    number
        .trim_end_matches(['f', 'F'])
        .parse()
        .ok()
        .map(|value| Fill::Value(Number::Float(value)))
}

/// A `.npy` file to read.
pub struct NpyFile<'a> {
    /// At the beginning of the file.
    pub reader: Box<dyn Read + 'a>,
    /// The size of the file.
    pub bytes: u64,
}

impl HostBuffer {
    /// Makes the content of a buffer.
    pub fn make(element: Element, shape: &[u64], fill: &Fill) -> HostBuffer {
        let scalars = shape.iter().product::<u64>() as usize * element.components;
        let mut bytes = Vec::with_capacity(scalars * element.scalar.bytes());
        let mut state = match fill {
            Fill::Rand(seed) => *seed,
            _ => 0,
        };
        for i in 0..scalars {
            let value = match fill {
                Fill::Zero => Number::Int(0),
                Fill::Iota => Number::Int(i as i128),
                Fill::Value(value) => *value,
                Fill::Rand(_) => {
                    let bits = splitmix64(&mut state);
                    match element.scalar {
                        Scalar::F32 | Scalar::F64 => {
                            Number::Float((bits >> 40) as f64 / (1u64 << 24) as f64)
                        }
                        _ => Number::Int((bits >> 32) as i128 % 100),
                    }
                }
            };
            bytes.extend(element.scalar.encode(value));
        }
        HostBuffer {
            element,
            shape: shape.to_vec(),
            bytes,
        }
    }

    /// Reads a `.npy` file: only as much as its header announces, and only if that is at most `most` bytes.
    pub fn from_npy(name: &str, file: NpyFile<'_>, most: u64) -> Result<HostBuffer, SpecError> {
        let wrong = |why: String| SpecError::new(name.to_string(), why);
        let NpyFile {
            mut reader,
            bytes: file_bytes,
        } = file;
        let header = Header::read(&mut reader).map_err(wrong)?;
        let descr = header.descr.as_str();
        // Byte order, kind, bytes.
        let kind = descr.trim_start_matches(['<', '>', '|', '=']);
        let scalar = match kind {
            "i1" => Scalar::I8,
            "u1" | "b1" => Scalar::U8,
            "i2" => Scalar::I16,
            "u2" => Scalar::U16,
            "i4" => Scalar::I32,
            "u4" => Scalar::U32,
            "i8" => Scalar::I64,
            "u8" => Scalar::U64,
            "f4" => Scalar::F32,
            "f8" => Scalar::F64,
            _ => return Err(wrong(format!("elements of type {descr} are not supported"))),
        };
        if header.is_fortran && header.shape.len() > 1 {
            return Err(wrong(
                "it is in Fortran order: save it with numpy.ascontiguousarray".to_string(),
            ));
        }
        let shape = header.shape;
        // numpy writes the data in the byte order that the type gives.
        if header.descr.starts_with('>') && scalar.bytes() > 1 {
            return Err(wrong(
                "it is big-endian: save it with .astype('<…')".to_string(),
            ));
        }
        let length = shape
            .iter()
            .try_fold(scalar.bytes() as u64, |bytes, &dim| bytes.checked_mul(dim))
            .filter(|&length| length <= file_bytes)
            .ok_or_else(|| wrong("it is shorter than its header says".to_string()))?;
        if length > most {
            return Err(wrong(format!(
                "it holds {length} bytes; a buffer from a file may have at most {most}"
            )));
        }
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(length as usize)
            .map_err(|_| wrong(format!("not enough memory for its {length} bytes")))?;
        let read = reader.take(length).read_to_end(&mut bytes);
        let read = read.map_err(|error| wrong(error.to_string()))?;
        if (read as u64) < length {
            return Err(wrong("it is shorter than its header says".to_string()));
        }
        Ok(HostBuffer {
            element: Element {
                scalar,
                components: 1,
            },
            shape,
            bytes,
        })
    }

    /// The bytes of a `.npy` file. Vectors get one more dimension.
    pub fn to_npy(&self) -> Vec<u8> {
        let code = match self.element.scalar {
            Scalar::I8 => "|i1",
            Scalar::U8 => "|u1",
            Scalar::I16 => "<i2",
            Scalar::U16 => "<u2",
            Scalar::I32 => "<i4",
            Scalar::U32 => "<u4",
            Scalar::I64 => "<i8",
            Scalar::U64 => "<u8",
            Scalar::F32 => "<f4",
            Scalar::F64 => "<f8",
        };
        let mut shape = self.shape.clone();
        if self.element.components > 1 {
            shape.push(self.element.components as u64);
        }
        let header = Header {
            descr: code.to_string(),
            is_fortran: false,
            shape,
        };
        let mut file = header.to_bytes();
        file.extend(&self.bytes);
        file
    }

    /// Elements as text, the first `limit` of them.
    pub fn show(&self, limit: usize) -> String {
        let size = self.element.scalar.bytes();
        let elements = self.bytes.chunks_exact(self.element.bytes().max(1));
        let count = elements.len();
        let shown: Vec<String> = elements
            .take(limit)
            .map(|element| {
                let parts: Vec<String> = element
                    .chunks_exact(size)
                    .map(|scalar| self.element.scalar.show(scalar))
                    .collect();
                if parts.len() == 1 {
                    parts[0].clone()
                } else {
                    format!("({})", parts.join(", "))
                }
            })
            .collect();
        let rest = if count > limit {
            format!(" … ({} more)", count - limit)
        } else {
            String::new()
        };
        shown.join(" ") + &rest
    }
}

/// Steele, Lea and Flood's SplitMix64.
fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> HostBuffer {
        match BufferSpec::parse(text).unwrap().source {
            BufferSource::Made {
                element,
                shape,
                fill,
            } => HostBuffer::make(element, &shape, &fill),
            BufferSource::File(_) => panic!("a file"),
        }
    }

    #[test]
    fn fills() {
        assert_eq!(made("a=int[4]:iota").show(9), "0 1 2 3");
        assert_eq!(made("a=float[2][2]:1.5").show(9), "1.5 1.5 1.5 1.5");
        assert_eq!(made("a=unsigned char[3]:-1").show(9), "255 255 255");
        assert_eq!(made("a=float2[2]:iota").show(1), "(0, 1) … (1 more)");
        assert_eq!(made("a=double[3]").show(9), "0 0 0");
        assert_eq!(made("a=int[8]:rand"), made("a=int[8]:rand(1)"));
    }

    fn from_npy(file: &[u8], most: u64) -> Result<HostBuffer, SpecError> {
        let file = NpyFile {
            reader: Box::new(file),
            bytes: file.len() as u64,
        };
        HostBuffer::from_npy("a.npy", file, most)
    }

    #[test]
    fn npy_round_trip() {
        for text in [
            "a=int[3]:iota",
            "a=float[2][3]:rand",
            "a=double[5]:0.25",
            "a=short[4]:-7",
        ] {
            let buffer = made(text);
            assert_eq!(from_npy(&buffer.to_npy(), 1 << 20).unwrap(), buffer);
        }
        let vectors = made("a=float4[2]:iota").to_npy();
        assert_eq!(from_npy(&vectors, 32).unwrap().shape, [2, 4]);
    }

    #[test]
    fn npy_files_that_are_none() {
        let why = |file: &[u8], most| from_npy(file, most).unwrap_err().why;
        assert!(why(b"hello", 99).starts_with("not a .npy file"));
        let whole = made("a=int[4]:iota").to_npy();
        assert_eq!(
            why(&whole, 15),
            "it holds 16 bytes; a buffer from a file may have at most 15"
        );
        let short = "it is shorter than its header says";
        assert_eq!(why(&whole[..whole.len() - 1], 99), short);
        // The header keeps its length: blanks at its end leave room.
        let (from, to) = (b"(4,), }".as_slice(), b"(1152921504606846976,), }");
        let at = whole.windows(from.len()).position(|part| part == from);
        let at = at.expect("the shape");
        let mut large = whole.clone();
        let blanks = at + from.len()..at + to.len();
        assert!(large[blanks.clone()].iter().all(|&byte| byte == b' '));
        large[at..blanks.end].copy_from_slice(to);
        assert_eq!(why(&large, u64::MAX), short);
        for shape in [vec![1 << 32, 1 << 32], vec![u64::MAX, 2]] {
            let large = HostBuffer {
                shape,
                ..made("a=int[4]:iota")
            };
            assert_eq!(why(&large.to_npy(), u64::MAX), short);
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let why = |text: &str| BufferSpec::parse(text).unwrap_err().why;
        assert_eq!(why("x"), "expected NAME=TYPE[N]:FILL or NAME=@FILE.npy");
        assert_eq!(
            why("x=int"),
            "expected a size in brackets after the type: int[512]"
        );
        assert!(why("x=string[4]").starts_with("`string` is not an element type"));
        assert_eq!(
            why("x=int[four]"),
            "`[four]` is not a shape: write [N] or [N][M]"
        );
        assert!(why("x=int[4]:lots").starts_with("`lots` is not a fill"));
        assert_eq!(why("x=int[99999999999999]"), "it is larger than 64 GiB");
    }
}
