//! The macros that are defined before the first line: those of the C headers and of nvcc, and those of `-D`.
//!
//! A program uses few of the former, so each is read when its name is met. Reading all of them took a tenth of a small program's run.

use std::ops::Range;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::Options;
use super::Preprocessor;
use super::macros::{Macro, Origin};
use crate::syntax::lexer;
use crate::syntax::lexer::intern::Sym;
use crate::syntax::lexer::pp_token::PpToken;
use ir::source::{COMMAND_LINE, PREDEFINED};
use ir::span::{FileId, Span};

/// One `#define` a line.
const TEXT: &str = include_str!("predefined.h");

/// The range of a macro's line in [`TEXT`].
fn line_of(name: &str) -> Option<Range<usize>> {
    static LINES: OnceLock<FxHashMap<&str, Range<usize>>> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let mut start = 0;
        let line = |text: &'static str| {
            let range = start..start + text.len();
            start = range.end;
            let rest = text.strip_prefix("#define ")?;
            let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
            let end = rest.find(|c| !is_name(c))?;
            Some((&rest[..end], range))
        };
        TEXT.split_inclusive('\n').filter_map(line).collect()
    });
    lines.get(name).cloned()
}

impl Preprocessor<'_> {
    /// Defines the predefined macros.
    pub(super) fn predefine(&mut self, options: &Options) {
        let mut text = TEXT.to_string();
        if options.cuda_arch != 0 {
            text.push_str(&format!("#define __CUDA_ARCH__ {}\n", options.cuda_arch));
        }
        let range = TEXT.len()..text.len();
        let id = self.add_text(PREDEFINED, text);
        self.macros.predefined_in = id;
        self.define_all(id, range, Origin::Predefined);
        for name in [self.words.line, self.words.file, self.words.counter] {
            let defined_at = Span::new(id, 0, 0);
            self.install(Macro {
                name,
                defined_at,
                params: None,
                body: Vec::new(),
                pieces: Vec::new(),
                origin: Origin::Place,
            });
        }
        if !options.defines.is_empty() {
            let mut text = String::new();
            for (name, value) in &options.defines {
                let line = format!("#define {name} {}", value.as_deref().unwrap_or("1"));
                // One definition is one line, whatever the shell passed.
                text.push_str(&line.replace(['\n', '\r', '\\'], " "));
                text.push('\n');
            }
            let range = 0..text.len();
            let id = self.add_text(COMMAND_LINE, text);
            self.define_all(id, range, Origin::User);
        }
    }

    /// The predefined macro of that name.
    pub(super) fn predefined(&mut self, name: Sym) -> Option<Macro> {
        let range = line_of(self.names.text(name))?;
        let line = self.cut(self.macros.predefined_in, range);
        match &*line {
            [_, define, rest @ ..] => self.definition(define.span, rest, Origin::Predefined),
            _ => None,
        }
    }

    /// Reads a text of nothing but `#define`s.
    fn define_all(&mut self, id: FileId, range: Range<usize>, origin: Origin) {
        let tokens = self.cut(id, range);
        for line in tokens.chunk_by(|_, next| !next.has(PpToken::LINE_START)) {
            if let [_, define, rest @ ..] = line {
                self.define(define.span, rest, origin);
            }
        }
    }

    /// Some lines of a file as tokens.
    fn cut(&mut self, id: FileId, range: Range<usize>) -> Vec<PpToken> {
        let text = &self.map.file(id).text[range.clone()];
        let mut tokens = lexer::lex(text, id, &mut self.names).tokens;
        for token in &mut tokens {
            token.span.start += range.start as u32;
            token.span.end += range.start as u32;
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_by_its_name() {
        let mut count = 0;
        for line in TEXT.lines() {
            let name = line.split([' ', '(']).nth(1).expect("a name");
            let found = line_of(name).map(|range| &TEXT[range]);
            assert_eq!(found, Some(&*format!("{line}\n")), "{name}");
            count += 1;
        }
        assert!(count > 100, "{count}");
    }
}
