//! The macros that are there before the first line: those of the C headers and of nvcc, and those of `-D`.

use super::Options;
use super::Preprocessor;
use super::macros::{Macro, Origin};
use crate::source::{COMMAND_LINE, PREDEFINED};
use crate::span::{FileId, Span};
use crate::syntax::lexer;
use crate::syntax::lexer::pp_token::PpToken;

impl Preprocessor<'_> {
    /// Defines what is there from the start.
    pub(super) fn predefine(&mut self, options: &Options) {
        let mut text = include_str!("predefined.h").to_string();
        if options.cuda_arch != 0 {
            text.push_str(&format!("#define __CUDA_ARCH__ {}\n", options.cuda_arch));
        }
        let id = self.add_text(PREDEFINED, text);
        self.define_all(id, Origin::Predefined);
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
                // One definition, one line, whatever the shell let through.
                text.push_str(&line.replace(['\n', '\r', '\\'], " "));
                text.push('\n');
            }
            let id = self.add_text(COMMAND_LINE, text);
            self.define_all(id, Origin::User);
        }
    }

    /// Reads a text of nothing but `#define`s.
    fn define_all(&mut self, id: FileId, origin: Origin) {
        let lexed = lexer::lex(&self.map.file(id).text, id, &mut self.names);
        for line in lexed
            .tokens
            .chunk_by(|_, next| !next.has(PpToken::LINE_START))
        {
            if let [_, define, rest @ ..] = line {
                self.define(define.span, rest, origin);
            }
        }
    }
}
