//! The part of an object file for the kernels of its source: the verified IR, the kernel of each mangled name, and the sources whose lines
//! reports show.
//!
//! The bytes begin with [`MAGIC`] and the length of the rest in eight bytes, least significant first. Then there are lines and counted
//! texts:
//!
//! ```text
//! dslc image 1
//! kernel _Z5scalePf 0 0:i64,8:f32 scale          mangled name, number among the kernels, each parameter's scalars, name
//! unknown _Z4shinePf reason                      a kernel that is not understood, and why
//! managed x
//! file 120 prog.cu                               bytes that follow, name
//! …
//! ir 4711
//! …
//! ptx 1234 90                                    bytes that follow, the least compute capability
//! …
//! ```

use std::fmt::{self, Write};

use crate::MemType;

/// The first bytes of an image.
pub const MAGIC: &[u8; 8] = b"dslcimg1";

const FIRST_LINE: &str = "dslc image 1";

/// A kernel of an image.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernel {
    /// Its name in the object.
    pub mangled: String,
    /// Its number among the module's kernels.
    pub index: usize,
    /// For each parameter its scalars: their offsets in the argument, and their types.
    pub params: Vec<Vec<(u64, MemType)>>,
    /// Its name in the source.
    pub name: String,
}

/// A kernel that is not understood.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unknown {
    /// Its name in the object.
    pub mangled: String,
    /// Why, in one line.
    pub reason: String,
}

/// The device part of one source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Image {
    /// Kernels that can be launched.
    pub kernels: Vec<Kernel>,
    /// Kernels that cannot be launched.
    pub unknown: Vec<Unknown>,
    /// Further facts by key: the architecture it was compiled for, how it was compiled.
    pub notes: Vec<(String, String)>,
    /// Names and texts of the sources.
    pub files: Vec<(String, String)>,
    /// The module as text.
    pub ir: String,
    /// The same for GPUs: PTX, by the least compute capability it runs on (90 is sm_90).
    pub ptx: Vec<(u32, String)>,
}

/// Bytes that are not an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadImage;

impl fmt::Display for BadImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the kernels in this program were compiled by another version of dslc: build it again",
        )
    }
}

impl std::error::Error for BadImage {}

impl Image {
    /// The image as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{FIRST_LINE}\n");
        for kernel in &self.kernels {
            let scalars = |param: &Vec<(u64, MemType)>| {
                let one = |(offset, ty): &(u64, MemType)| format!("{offset}:{ty}");
                let all: Vec<String> = param.iter().map(one).collect();
                all.join(",")
            };
            let params: Vec<String> = kernel.params.iter().map(scalars).collect();
            let _ = writeln!(
                text,
                "kernel {} {} ;{} {}",
                kernel.mangled,
                kernel.index,
                params.join(";"),
                one_line(&kernel.name)
            );
        }
        for unknown in &self.unknown {
            let reason = one_line(&unknown.reason);
            let _ = writeln!(text, "unknown {} {reason}", unknown.mangled);
        }
        for (key, value) in &self.notes {
            let _ = writeln!(text, "note {key} {}", one_line(value));
        }
        for (name, file) in &self.files {
            let _ = writeln!(text, "file {} {}\n{file}", file.len(), one_line(name));
        }
        let _ = writeln!(text, "ir {} -\n{}", self.ir.len(), self.ir);
        for (sm, ptx) in &self.ptx {
            let _ = writeln!(text, "ptx {} {sm}\n{ptx}", ptx.len());
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }

    /// The length of the image that begins with these 16 bytes.
    pub fn length(head: &[u8; 16]) -> Result<usize, BadImage> {
        let (magic, length) = head.split_at(8);
        let length = length.try_into().map_err(|_| BadImage)?;
        match magic == MAGIC {
            true => usize::try_from(u64::from_le_bytes(length)).map_err(|_| BadImage),
            false => Err(BadImage),
        }
    }

    /// Reads what [`Image::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Image, BadImage> {
        let head = bytes.first_chunk::<16>().ok_or(BadImage)?;
        let length = Image::length(head)?;
        let text = bytes[16..].get(..length).ok_or(BadImage)?;
        let mut rest = str::from_utf8(text).map_err(|_| BadImage)?;
        let mut image = Image::default();
        if line(&mut rest)? != FIRST_LINE {
            return Err(BadImage);
        }
        while !rest.is_empty() {
            let (key, words) = line(&mut rest)?.split_once(' ').ok_or(BadImage)?;
            match key {
                "kernel" => image.kernels.push(kernel(words)?),
                "unknown" => {
                    let (mangled, reason) = words.split_once(' ').ok_or(BadImage)?;
                    image.unknown.push(Unknown {
                        mangled: mangled.to_string(),
                        reason: reason.to_string(),
                    });
                }
                "note" => {
                    let (key, value) = words.split_once(' ').ok_or(BadImage)?;
                    image.notes.push((key.to_string(), value.to_string()));
                }
                "file" | "ir" | "ptx" => {
                    let (bytes, name) = words.split_once(' ').ok_or(BadImage)?;
                    let bytes: usize = bytes.parse().map_err(|_| BadImage)?;
                    let text = rest.get(..bytes).ok_or(BadImage)?.to_string();
                    rest = rest.get(bytes + 1..).ok_or(BadImage)?;
                    match key {
                        "ir" => image.ir = text,
                        "ptx" => image.ptx.push((name.parse().map_err(|_| BadImage)?, text)),
                        _ => image.files.push((name.to_string(), text)),
                    }
                }
                _ => return Err(BadImage),
            }
        }
        Ok(image)
    }
}

/// The line before an image in the comments of PTX.
const BLOCK_BEGINS: &str = "// dslc image, for its simulator:";
const BLOCK_ENDS: &str = "// end of the dslc image";
const LINE: &str = "//= ";

/// Six bits a letter, as in base 64.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Image {
    /// The image as comments of PTX, so that a loader of the text finds it.
    pub fn to_comments(&self) -> String {
        /// Bytes of a line: a multiple of three, so that lines end with whole letters.
        const BYTES: usize = 84;
        let mut text = format!("{BLOCK_BEGINS}\n");
        for line in self.to_bytes().chunks(BYTES) {
            text += LINE;
            for three in line.chunks(3) {
                let mut bytes = [0; 4];
                bytes[1..=three.len()].copy_from_slice(three);
                let word = u32::from_be_bytes(bytes);
                for place in 0..=three.len() as u32 {
                    let letter = word >> (18 - 6 * place) & 63;
                    text.push(char::from(LETTERS[letter as usize]));
                }
            }
            text.push('\n');
        }
        text + BLOCK_ENDS + "\n"
    }

    /// The image in the comments of PTX; `None` if there is none.
    pub fn in_ptx(text: &str) -> Option<Result<Image, BadImage>> {
        let (_, block) = text.split_once(BLOCK_BEGINS)?;
        let (block, _) = block.split_once(BLOCK_ENDS)?;
        let mut bytes = Vec::new();
        for line in block.lines().filter_map(|line| line.strip_prefix(LINE)) {
            for four in line.trim_end().as_bytes().chunks(4) {
                let mut word = 0;
                for (place, letter) in four.iter().enumerate() {
                    let Some(bits) = LETTERS.iter().position(|known| known == letter) else {
                        return Some(Err(BadImage));
                    };
                    word |= (bits as u32) << (18 - 6 * place);
                }
                bytes.extend_from_slice(&word.to_be_bytes()[1..four.len()]);
            }
        }
        Some(Image::from_bytes(&bytes))
    }

    /// The values of all notes with this key.
    pub fn notes<'i>(&'i self, key: &'i str) -> impl Iterator<Item = &'i str> {
        let of_key = self.notes.iter().filter(move |(known, _)| known == key);
        of_key.map(|(_, value)| value.as_str())
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn line<'t>(rest: &mut &'t str) -> Result<&'t str, BadImage> {
    let (line, behind) = rest.split_once('\n').ok_or(BadImage)?;
    *rest = behind;
    Ok(line)
}

fn kernel(words: &str) -> Result<Kernel, BadImage> {
    let mut words = words.splitn(4, ' ');
    let mut word = || words.next().ok_or(BadImage);
    let (mangled, index, params, name) = (word()?, word()?, word()?, word()?);
    let scalar = |text: &str| {
        let (offset, ty) = text.split_once(':').ok_or(BadImage)?;
        let offset = offset.parse().map_err(|_| BadImage)?;
        Ok((offset, MemType::from_text(ty).ok_or(BadImage)?))
    };
    let scalars = |text: &str| {
        let all = text.split(',').filter(|text| !text.is_empty());
        all.map(scalar).collect::<Result<_, BadImage>>()
    };
    // A list of n parameters has n semicolons, so that one empty parameter differs from no parameters.
    let params = params.split(';').skip(1).filter(|_| params != ";");
    Ok(Kernel {
        mangled: mangled.to_string(),
        index: index.parse().map_err(|_| BadImage)?,
        params: params.map(scalars).collect::<Result<_, BadImage>>()?,
        name: name.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_comes_back_as_it_was() {
        let kernel = |name: &str, params: Vec<Vec<(u64, MemType)>>| Kernel {
            mangled: format!("_Z{}", name.len()),
            index: 3,
            params,
            name: name.to_string(),
        };
        let image = Image {
            kernels: vec![
                kernel("scale<float, 32>", vec![vec![(0, MemType::I64)], vec![]]),
                kernel("none", vec![]),
                kernel("p", vec![vec![(0, MemType::F32), (8, MemType::F64)]]),
            ],
            unknown: vec![Unknown {
                mangled: "_Z4shine".to_string(),
                reason: "textures are not supported yet".to_string(),
            }],
            notes: vec![
                ("arch".to_string(), "80".to_string()),
                ("define".to_string(), "N=4 5".to_string()),
            ],
            files: vec![
                ("a b.cu".to_string(), "one\ntwo\n".to_string()),
                ("empty".to_string(), String::new()),
            ],
            ir: "module \"x\"\n".to_string(),
            ptx: vec![(80, ".version 8.0\n".to_string())],
        };
        let mut bytes = image.to_bytes();
        bytes.extend(b"what lies behind it");
        assert_eq!(Image::from_bytes(&bytes), Ok(image));
    }

    #[test]
    fn ptx_carries_an_image() {
        for length in 0..4 {
            let image = Image {
                ir: "x".repeat(100 + length),
                files: vec![("ä.cu".to_string(), "// ü\n".to_string())],
                ..Image::default()
            };
            let text = format!(".version 8.0\n{}.target sm_90\n", image.to_comments());
            assert_eq!(Image::in_ptx(&text), Some(Ok(image)));
        }
        assert_eq!(Image::in_ptx(".version 8.0\n"), None);
    }

    #[test]
    fn what_is_no_image_is_refused() {
        assert_eq!(Image::from_bytes(b"hello"), Err(BadImage));
        let mut bytes = Image::default().to_bytes();
        bytes.truncate(20);
        assert_eq!(Image::from_bytes(&bytes), Err(BadImage));
        let mut bytes = Image::default().to_bytes();
        bytes[16] = b'x';
        assert_eq!(Image::from_bytes(&bytes), Err(BadImage));
    }
}
