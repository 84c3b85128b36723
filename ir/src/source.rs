//! The texts of a program, and the macro expansions of its tokens.

use std::sync::Arc;

use crate::span::{ExpansionId, FileId, Span};

/// The file name in messages about options of the command line, or of another caller.
pub const COMMAND_LINE: &str = "<command line>";

/// The name of the text with the predefined macros. No user can look there, so messages only show their uses.
pub const PREDEFINED: &str = "<predefined>";

/// A number that changes if a text changes: 64-bit FNV-1a, the same for every version of dslc, with the same line ends on all systems.
///
/// ```
/// use ir::source::fingerprint;
/// assert_eq!(fingerprint(b""), 0xcbf2_9ce4_8422_2325);
/// assert_eq!(fingerprint(b"foobar"), 0x8594_4171_f739_67e8);
/// assert_eq!(fingerprint(b"a\r\n"), fingerprint(b"a\n"));
/// ```
pub fn fingerprint(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let bytes = bytes.iter().filter(|&&byte| byte != b'\r');
    bytes.fold(0xcbf2_9ce4_8422_2325, step)
}

/// One text with a name and an index of its lines.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name shown in messages, as the user gave it.
    pub name: String,
    /// The text.
    pub text: String,
    line_starts: Vec<u32>,
    /// Whether each byte is a character, as in most texts: then columns need no counting.
    is_ascii: bool,
}

impl SourceFile {
    /// Indexes the lines of `text`. `\n`, `\r\n` and a lone `\r` each end a line.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceFile {
        let text = text.into();
        let bytes = text.as_bytes();
        let mut line_starts = vec![0];
        for (i, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || (byte == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
                line_starts.push(i as u32 + 1);
            }
        }
        SourceFile {
            name: name.into(),
            is_ascii: text.is_ascii(),
            text,
            line_starts,
        }
    }

    /// Line and column, both from 1, of a byte offset. Columns count characters, not bytes.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let before = &self.text.as_bytes()[start..offset as usize];
        let column = match self.is_ascii {
            true => before.len(),
            false => before.iter().filter(|&&byte| byte & 0xc0 != 0x80).count(),
        };
        (line as u32 + 1, column as u32 + 1)
    }

    /// The byte offset of a line and column, both from 1: the inverse of [`SourceFile::line_column`], clamped to the line.
    pub fn offset(&self, line: u32, column: u32) -> u32 {
        let text = self.line(line);
        let start = self
            .line_starts
            .get((line as usize).saturating_sub(1))
            .copied()
            .unwrap_or(0);
        let before = (column as usize).saturating_sub(1);
        let bytes = match self.is_ascii {
            true => before.min(text.len()),
            false => text
                .char_indices()
                .nth(before)
                .map_or(text.len(), |(at, _)| at),
        };
        start + bytes as u32
    }

    /// The text of a line (from 1), without its line end.
    pub fn line(&self, line: u32) -> &str {
        let index = (line as usize).saturating_sub(1);
        let Some(&start) = self.line_starts.get(index) else {
            return "";
        };
        let end = self
            .line_starts
            .get(index + 1)
            .map_or(self.text.len(), |&end| end as usize);
        self.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// How many lines the text has (a final line end does not start another).
    pub fn line_count(&self) -> u32 {
        let n = self.line_starts.len() as u32;
        if self.text.is_empty() || self.line_starts[n as usize - 1] as usize == self.text.len() {
            (n - 1).max(1)
        } else {
            n
        }
    }
}

/// One use of a macro.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// The macro's name.
    pub name: Arc<str>,
    /// Where it was used (may itself come from an expansion). For `F(x)` the whole call.
    pub used_at: Span,
    /// The name in its `#define`.
    pub defined_at: Span,
}

/// The number of files and expansions of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    files: usize,
    expansions: usize,
}

/// The part of a map after a mark.
pub struct Appended {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
}

/// All files and expansions of one program.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    /// Records a macro use.
    pub fn add_expansion(&mut self, expansion: Expansion) -> ExpansionId {
        self.expansions.push(expansion);
        ExpansionId(self.expansions.len() as u32)
    }

    /// A mark at the current end.
    pub fn mark(&self) -> Mark {
        Mark {
            files: self.files.len(),
            expansions: self.expansions.len(),
        }
    }

    /// Everything that was added after the mark.
    pub fn since(&self, mark: Mark) -> Appended {
        Appended {
            files: self.files[mark.files..].to_vec(),
            expansions: self.expansions[mark.expansions..].to_vec(),
        }
    }

    /// Removes everything that was added after the mark.
    pub fn back_to(&mut self, mark: Mark) {
        self.files.truncate(mark.files);
        self.expansions.truncate(mark.expansions);
    }

    /// Adds a part again. The map must be as long as at the part's mark.
    pub fn append(&mut self, more: &Appended) {
        self.files.extend_from_slice(&more.files);
        self.expansions.extend_from_slice(&more.expansions);
    }

    /// The file of an id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, file)| (FileId(i as u32), file))
    }

    /// The macro use a span came through, if any.
    pub fn expansion(&self, id: ExpansionId) -> Option<&Expansion> {
        self.expansions.get((id.0 as usize).checked_sub(1)?)
    }

    /// The place in a file where the user wrote it: for a token of a macro, the outermost use of that macro.
    pub fn use_site(&self, mut span: Span) -> Span {
        while let Some(expansion) = self.expansion(span.expansion) {
            span = expansion.used_at;
        }
        span
    }

    /// The bytes of a span, as spelled.
    pub fn snippet(&self, span: Span) -> &str {
        self.file(span.file)
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }
}

/// An included file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Included {
    /// The name to show in messages; a file is known by it.
    pub full_name: String,
    /// Its text.
    pub text: String,
}

/// Provides the text of an `#include "name"` to the preprocessor. The command line reads files, a browser page uses a table, tests use a
/// map.
pub trait Loader {
    /// `name` as included from the file called `from`; `None` if there is no such file, `Err` with a reason if it cannot be read.
    fn load(&self, name: &str, from: &str) -> Option<Result<Included, String>>;
}

/// A [`Loader`] that knows no files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _name: &str, _from: &str) -> Option<Result<Included, String>> {
        None
    }
}
