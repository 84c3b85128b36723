//! Translates IR to LLVM IR text: this is the module's frame. Kernels are in `kernel`, instructions in `inst`, variables in `global`, lines
//! in `debug`.

mod call;
mod counted;
mod debug;
mod global;
mod inst;
mod kernel;
mod routine;
mod ty;

use std::{collections::BTreeSet, fmt::Write};

use ir::{LocId, Module, StringId};

use crate::{Error, Options};

/// The text of the whole module.
pub(crate) fn module(module: &Module, options: &Options) -> Result<String, Error> {
    let mut emitter = Emitter {
        module,
        arch: options.arch.number(),
        lines: debug::Lines::new(module, options.lines),
        declarations: BTreeSet::new(),
        strings: BTreeSet::new(),
        texts: Vec::new(),
        has_dynamic_shared: false,
        shared: String::new(),
        attributes: Vec::new(),
        body: String::new(),
        metadata: String::new(),
        next_metadata: 0,
    };
    global::check(&emitter)?;
    for (id, function) in module.kernels() {
        kernel::emit(&mut emitter, id, function)?;
    }
    Ok(emitter.finish())
}

/// The text written so far.
struct Emitter<'m> {
    module: &'m Module,
    /// 90 for `sm_90`.
    arch: u32,
    /// Line information, if requested.
    lines: Option<debug::Lines>,
    /// `declare` lines of intrinsics and of the driver's functions.
    declarations: BTreeSet<&'static str>,
    /// Strings that kernels or variables point to.
    strings: BTreeSet<StringId>,
    /// Strings that are not in the program: names of files and kernels.
    texts: Vec<String>,
    has_dynamic_shared: bool,
    /// Shared variables of all kernels.
    shared: String,
    /// Attribute groups; kernels with equal bounds share one.
    attributes: Vec<String>,
    /// Kernels.
    body: String,
    /// Numbered metadata.
    metadata: String,
    next_metadata: u32,
}

impl Emitter<'_> {
    /// Adds the function of this `declare` line, if it is missing.
    fn declare(&mut self, line: &'static str) {
        self.declarations.insert(line);
    }

    /// A new metadata node. Its number is known only now, so `text` gets it as argument.
    fn metadata(&mut self, text: impl FnOnce(u32) -> String) -> u32 {
        let id = self.next_metadata;
        self.next_metadata += 1;
        let _ = writeln!(self.metadata, "!{id} = {}", text(id));
        id
    }

    /// The number of the attribute group with this text.
    fn attribute_group(&mut self, text: String) -> usize {
        if let Some(known) = self.attributes.iter().position(|group| *group == text) {
            return known;
        }
        self.attributes.push(text);
        self.attributes.len() - 1
    }

    fn unsupported(&self, what: impl Into<String>, loc: LocId) -> Error {
        let loc = self.module.loc(loc);
        let file = self.module.files.get(loc.file as usize);
        Error::Unsupported {
            what: what.into(),
            file: file.cloned().unwrap_or_default(),
            line: loc.line,
        }
    }

    fn finish(mut self) -> String {
        let globals = global::emit(&mut self);
        let debug = debug::finish(&mut self);
        let mut out = String::with_capacity(self.body.len() + self.metadata.len() + 4096);
        let _ = writeln!(
            out,
            "source_filename = {}",
            ty::quoted(self.module.name.as_bytes())
        );
        out.push_str(&globals);
        out.push_str(&self.shared);
        if self.has_dynamic_shared {
            let _ = writeln!(
                out,
                "@{} = external addrspace(3) global [0 x i8], align 16",
                global::DYNAMIC_SHARED
            );
        }
        out.push_str(&self.body);
        for line in &self.declarations {
            let routine = routine::definition(line);
            let line = routine.unwrap_or_else(|| line.to_string());
            let _ = writeln!(out, "{line}");
        }
        for (number, text) in self.attributes.iter().enumerate() {
            let _ = writeln!(out, "attributes #{number} = {{ {text} }}");
        }
        out.push_str(&debug);
        out.push_str(&self.metadata);
        out
    }
}
