//! Generates a Rust module from kernels; `kernel!`, `include_kernel!` and `dslc bind` share this generator.
//!
//! In: a [`Request`], the C text with its place and the options. Out: [`Bound`], the text of a Rust module with one typed method per
//! kernel, or the front end's messages. The module contains the verified IR as text, so that the program that uses it needs no front end.
//! Nothing here prints; files are read through the caller's [`Loader`].

mod generate;
mod names;
mod options;
mod types;

use ir::{
    diagnostic::{Diagnostic, Severity},
    source::{Included, Loader, SourceFile, SourceMap},
};
use std::cell::RefCell;

pub use generate::{PtxText, Text, raw};
pub use names::identifier;
pub use options::{Instance, Options, OptionsError};

/// A request for a module.
#[derive(Clone, Debug)]
pub struct Request {
    /// The source's name in messages and reports.
    pub file_name: String,
    /// Its text. In a Rust file, everything before the kernels is blank, so that lines and columns are those of the file.
    pub text: String,
    /// Attributes and visibility, as Rust: `pub`, `#[allow(dead_code)] pub(crate)`.
    pub visibility: String,
    /// The module's name.
    pub module_name: String,
    /// The options.
    pub options: Options,
}

/// A source, as in the generated code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its name in messages and reports.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The result of a request.
#[derive(Debug)]
pub struct Bound {
    /// The kernels; absent if there was an error.
    pub kernels: Option<Kernels>,
    /// All messages about them.
    pub diagnostics: Vec<Diagnostic>,
    /// The sources, for the messages.
    pub map: SourceMap,
    /// The files that were included, in order.
    pub included: Vec<Source>,
}

/// Kernels that can be bound to Rust.
#[derive(Debug)]
pub struct Kernels {
    request: Request,
    kernels: dsl::embed::Kernels,
    /// The IR as text.
    ir: String,
}

impl Bound {
    /// Whether a message is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|message| message.severity == Severity::Error)
    }
}

/// A loader that records which files were opened.
struct Remembering<'a> {
    inner: &'a dyn Loader,
    opened: RefCell<Vec<Source>>,
}

impl Loader for Remembering<'_> {
    fn load(&self, name: &str, from: &str) -> Option<Result<Included, String>> {
        let loaded = self.inner.load(name, from);
        if let Some(Ok(included)) = &loaded {
            let mut opened = self.opened.borrow_mut();
            if opened
                .iter()
                .all(|source| source.name != included.full_name)
            {
                opened.push(Source {
                    name: included.full_name.clone(),
                    text: included.text.clone(),
                });
            }
        }
        loaded
    }
}

/// Compiles the kernels of a request.
pub fn bind(request: Request, loader: &dyn Loader) -> Bound {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(&request.file_name, &request.text));
    let options = request.options.front_end();
    let loader = Remembering {
        inner: loader,
        opened: RefCell::default(),
    };
    let embedded = dsl::embed::kernels(&mut map, file, &options, &loader);
    let kernels = embedded.kernels.map(|kernels| Kernels {
        ir: ir::print(&kernels.module),
        request,
        kernels,
    });
    Bound {
        kernels,
        diagnostics: embedded.diagnostics,
        map,
        included: loader.opened.into_inner(),
    }
}
