//! The preprocessor: files and macros in, one stream of tokens out.
//!
//! [`tokenize`] is the whole way from text to what the parser sees. Files are cut into tokens once (`lexer`); this module
//! walks them, `directive` obeys the lines that start with `#`, `expand` replaces macros, `convert` gives the surviving
//! tokens their values and `classify` tells names of types from others. Nothing here fails: every problem is a diagnostic,
//! and what can be understood is passed on.
//!
//! Macros follow C's rescanning rules as gcc implements them: a macro is switched off while its own replacement is being
//! read, and a name met while it is off is painted and never expanded again. That terminates without hide sets. What it
//! does not bound is exponential growth; a budget of tokens does.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use self::condition::Conditional;
use self::macros::Macro;
use super::lexer::intern::{Interner, Sym};
use super::lexer::pp_token::PpToken;
use super::lexer::{self, Lexed};
use super::message::preprocess::DirectiveError;
use super::token::{Punct, Token};
use super::{classify, convert};
use ir::diagnostic::Diagnostic;
use ir::source::{Loader, SourceFile, SourceMap};
use ir::span::{FileId, Span};

mod condition;
mod directive;
mod expand;
mod include;
mod macros;
mod predefined;
mod report;
mod substitute;

/// How a program is preprocessed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Macros defined before the first line, with their text (`1` if there is none): `-D NAME`, `-D NAME=VALUE`.
    pub defines: Vec<(String, Option<String>)>,
    /// The value of `__CUDA_ARCH__`; 0 leaves it undefined.
    pub cuda_arch: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            defines: Vec::new(),
            cuda_arch: 900,
        }
    }
}

/// A program in tokens.
#[derive(Clone, PartialEq, Debug)]
pub struct Tokenized {
    /// The tokens, without one for the end.
    pub tokens: Vec<Token>,
    /// The empty place at the end of the file.
    pub end: Span,
    /// The headers of CUDA and of the C and C++ libraries that it includes: `cstdio`.
    pub headers: Vec<String>,
    /// Everything found wrong so far.
    pub diagnostics: Vec<Diagnostic>,
}

/// Turns the text of `file` into tokens, with everything it includes (added to `map`) and all macros expanded.
pub fn tokenize(
    map: &mut SourceMap,
    file: FileId,
    options: &Options,
    loader: &dyn Loader,
) -> Tokenized {
    let end = map.file(file).text.len();
    let end = Span::new(file, end, end);
    let mut preprocessor = Preprocessor::new(map, loader);
    preprocessor.predefine(options);
    preprocessor.open(file, None);
    preprocessor.run();
    let Preprocessor {
        names,
        out,
        mut diagnostics,
        files: Files { headers, .. },
        ..
    } = preprocessor;
    let includes_half = headers.iter().any(|name| include::has_half(name));
    let mut tokens = convert::convert(&out, &names, &mut diagnostics);
    classify::classify(&mut tokens, includes_half);
    Tokenized {
        tokens,
        end,
        headers,
        diagnostics,
    }
}

/// Tokens that macros may make in one program.
const TOKEN_BUDGET: u32 = 1 << 21;

struct Preprocessor<'a> {
    map: &'a mut SourceMap,
    loader: &'a dyn Loader,
    names: Interner,
    words: Words,
    macros: Macros,
    files: Files,
    /// Whether a macro's arguments are being collected: then files do not end silently.
    collecting: u32,
    /// Set when going on makes no sense.
    stopped: bool,
    out: Vec<PpToken>,
    diagnostics: Vec<Diagnostic>,
    folded: report::Folded,
}

/// The macros, and what bounds their expansion.
struct Macros {
    /// By name.
    known: Vec<Known>,
    /// The text of those that are there from the start.
    predefined_in: FileId,
    /// How many times each macro's replacement is being read right now, by name.
    active: Vec<u32>,
    /// How deep arguments are nested in arguments.
    depth: u32,
    /// Tokens that they may still make.
    budget: u32,
    /// The value of the next `__COUNTER__`.
    counter: u32,
}

/// What a name is.
#[derive(Clone, Default)]
enum Known {
    /// The name was not met yet: it may be one of those that are there from the start.
    #[default]
    New,
    NoMacro,
    Macro(Rc<Macro>),
}

/// The files of a program.
#[derive(Default)]
struct Files {
    /// Those being read: one, last, and those that include it.
    open: Vec<OpenFile>,
    /// Those cut before, by full name.
    lexed: HashMap<String, (FileId, Rc<Lexed>)>,
    /// Those with `#pragma once`.
    once: HashSet<FileId>,
    n_included: u32,
    /// The headers that are no files of the program's.
    headers: Vec<String>,
}

/// A file and how far it is read.
struct OpenFile {
    id: FileId,
    lexed: Rc<Lexed>,
    /// The next token.
    at: usize,
    /// The next lexical error to report or drop.
    next_error: usize,
    conditionals: Vec<Conditional>,
}

/// Names that the preprocessor asks for.
struct Words {
    defined: Sym,
    va_args: Sym,
    va_opt: Sym,
    line: Sym,
    file: Sym,
    counter: Sym,
    zero: Sym,
    one: Sym,
}

impl<'a> Preprocessor<'a> {
    fn new(map: &'a mut SourceMap, loader: &'a dyn Loader) -> Preprocessor<'a> {
        let mut names = Interner::default();
        let words = Words {
            defined: names.intern("defined"),
            va_args: names.intern("__VA_ARGS__"),
            va_opt: names.intern("__VA_OPT__"),
            line: names.intern("__LINE__"),
            file: names.intern("__FILE__"),
            counter: names.intern("__COUNTER__"),
            zero: names.intern("0"),
            one: names.intern("1"),
        };
        Preprocessor {
            map,
            loader,
            names,
            words,
            macros: Macros {
                known: Vec::new(),
                predefined_in: FileId::default(),
                active: Vec::new(),
                depth: 0,
                budget: TOKEN_BUDGET,
                counter: 0,
            },
            files: Files::default(),
            collecting: 0,
            stopped: false,
            out: Vec::new(),
            diagnostics: Vec::new(),
            folded: report::Folded::default(),
        }
    }

    /// Starts reading a file.
    fn open(&mut self, id: FileId, lexed: Option<Rc<Lexed>>) -> Rc<Lexed> {
        let lexed = lexed
            .unwrap_or_else(|| Rc::new(lexer::lex(&self.map.file(id).text, id, &mut self.names)));
        self.files.open.push(OpenFile {
            id,
            lexed: lexed.clone(),
            at: 0,
            next_error: 0,
            conditionals: Vec::new(),
        });
        lexed
    }

    /// Reads all open files to their ends.
    fn run(&mut self) {
        let mut input = expand::Input::files();
        while let Some(token) = self.next_expanded(&mut input) {
            self.out.push(token);
        }
        if self.stopped {
            // Half a program would only make the parser complain about its end.
            self.out.clear();
        }
        self.finish_reports();
    }

    /// The next token of the files, after obeying the directives before it.
    fn file_token(&mut self) -> Option<PpToken> {
        loop {
            if self.stopped {
                return None;
            }
            let open = self.files.open.last_mut()?;
            match open.lexed.tokens.get(open.at).copied() {
                None if self.collecting > 0 => return None,
                None => self.close(),
                Some(token) if token.has(PpToken::LINE_START) && token.is(Punct::Hash) => {
                    self.directive()
                }
                Some(token) => {
                    open.at += 1;
                    if open.next_error < open.lexed.errors.len() {
                        self.report_errors_before(token.span.end);
                    }
                    return Some(token);
                }
            }
        }
    }

    /// Ends the file being read.
    fn close(&mut self) {
        self.report_errors_before(u32::MAX);
        let Some(open) = self.files.open.pop() else {
            return;
        };
        for conditional in open.conditionals {
            self.report(conditional.opened_at, DirectiveError::NeverClosed);
        }
    }

    /// The macro of this name, if there is one.
    fn macro_named(&mut self, name: Sym) -> Option<&Rc<Macro>> {
        if matches!(self.known(name), Known::New) {
            let made = self.predefined(name);
            *self.known(name) = made.map_or(Known::NoMacro, |made| Known::Macro(Rc::new(made)));
        }
        match self.known(name) {
            Known::Macro(found) => Some(found),
            Known::New | Known::NoMacro => None,
        }
    }

    /// What is known of a name.
    fn known(&mut self, name: Sym) -> &mut Known {
        let at = name.0 as usize;
        if self.macros.known.len() <= at {
            let count = self.names.len();
            self.macros.known.resize(count, Known::New);
        }
        &mut self.macros.known[at]
    }

    /// Adds a text that is no file of the user's.
    fn add_text(&mut self, name: &str, text: String) -> FileId {
        self.map.add(SourceFile::new(name, text))
    }
}

#[cfg(test)]
mod tests;
