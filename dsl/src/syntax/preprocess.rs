//! The preprocessor: files and macros in, one stream of tokens out.
//!
//! [`tokenize`] is the whole path from text to the parser's input. Files are cut into tokens once (`lexer`); this module walks them,
//! `directive` executes the lines that start with `#`, `expand` replaces macros, `convert` computes the values of the remaining tokens, and
//! `classify` tells names of types from others. Nothing here fails: every problem is a diagnostic, and the rest is passed on.
//!
//! Macros follow C's rescanning rules as gcc implements them: a macro is disabled while its own replacement is being read, and a name met
//! meanwhile is painted and never expanded again. That terminates without hide sets. It does not prevent exponential growth; a budget of
//! tokens does.

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

/// The largest number of tokens that macros may make in one program.
const TOKEN_BUDGET: u32 = 1 << 21;

struct Preprocessor<'a> {
    map: &'a mut SourceMap,
    loader: &'a dyn Loader,
    names: Interner,
    words: Words,
    macros: Macros,
    files: Files,
    /// Whether a macro's arguments are being collected: then the end of a file is an error.
    collecting: u32,
    /// Set if continuing makes no sense.
    stopped: bool,
    out: Vec<PpToken>,
    diagnostics: Vec<Diagnostic>,
    folded: report::Folded,
}

/// The macros, and the limits on their expansion.
struct Macros {
    /// By name.
    known: Vec<MacroState>,
    /// The text of the predefined ones.
    predefined_in: FileId,
    /// By name, how many times the macro's replacement is being read right now.
    active: Vec<u32>,
    /// How deep arguments are nested in arguments.
    depth: u32,
    /// How many more tokens they may make.
    budget: u32,
    /// The value of the next `__COUNTER__`.
    counter: u32,
}

/// What is known about a name.
#[derive(Clone, Default)]
enum MacroState {
    /// The name is new: it may be that of a predefined macro.
    #[default]
    New,
    NoMacro,
    Macro(Rc<Macro>),
}

/// The files of a program.
#[derive(Default)]
struct Files {
    /// The files being read: the current one is last, after those that include it.
    open: Vec<OpenFile>,
    /// The files that have been cut into tokens, by full name.
    lexed: HashMap<String, (FileId, Rc<Lexed>)>,
    /// The files with `#pragma once`.
    once: HashSet<FileId>,
    n_included: u32,
    /// The included headers that are not files of the program.
    headers: Vec<String>,
}

/// A file and the position in it.
struct OpenFile {
    id: FileId,
    lexed: Rc<Lexed>,
    /// The next token.
    at: usize,
    /// The next lexical error to report or drop.
    next_error: usize,
    conditionals: Vec<Conditional>,
}

/// Names with a meaning for the preprocessor.
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
            // Without the rest of the program, the parser would only report its end.
            self.out.clear();
        }
        self.finish_reports();
    }

    /// The next token of the files, after executing the directives before it.
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
        if matches!(self.known(name), MacroState::New) {
            let made = self.predefined(name);
            *self.known(name) =
                made.map_or(MacroState::NoMacro, |made| MacroState::Macro(Rc::new(made)));
        }
        match self.known(name) {
            MacroState::Macro(found) => Some(found),
            MacroState::New | MacroState::NoMacro => None,
        }
    }

    /// What is known about a name.
    fn known(&mut self, name: Sym) -> &mut MacroState {
        let at = name.0 as usize;
        if self.macros.known.len() <= at {
            let count = self.names.len();
            self.macros.known.resize(count, MacroState::New);
        }
        &mut self.macros.known[at]
    }

    /// Adds a text that is not the user's file.
    fn add_text(&mut self, name: &str, text: String) -> FileId {
        self.map.add(SourceFile::new(name, text))
    }
}

#[cfg(test)]
mod tests;
