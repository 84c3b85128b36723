//! Compiles kernels for programs in another language: the device code of a source, with the types that its host would use.
//!
//! In: the source, as for [`compile`](crate::compile::compile()). Out: a module of kernels alone, and the typed program, which describes
//! their parameters, structs and variables. Host code in the source is only read for the instances of templates that it launches. Errors in
//! it do not matter, because it does not run.

use crate::{
    compile::{self, Options},
    sema::typed::{Function, FunctionId, FunctionSpace, Program},
    stack,
    survey::survey,
};
use ir::{
    FuncId, Module,
    diagnostic::{Code, Diagnostic, Severity},
    source::{Loader, SourceMap},
    span::FileId,
};

/// The kernels of a source.
#[derive(Clone, PartialEq, Debug)]
pub struct Embedded {
    /// The kernels and their types; absent if there was an error.
    pub kernels: Option<Kernels>,
    /// Everything found in device code, in order of place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Kernels, verified, without any host code.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernels {
    /// Their IR.
    pub module: Module,
    /// Their types.
    pub program: Program,
}

impl Kernels {
    /// Each kernel of the module with its declaration.
    pub fn iter(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        let declared = self.declared().map(|(_, function)| function);
        self.module.kernels().map(|(id, _)| id).zip(declared)
    }

    /// Kernels with a body: the lowering takes them in this order.
    fn declared(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        let all = (0..).map(FunctionId).zip(&self.program.functions);
        all.filter(|(_, function)| {
            function.space == FunctionSpace::Kernel && function.body.is_some()
        })
    }

    /// Which of [`Options::instances`] a kernel is, by its number among [`Kernels::iter`].
    pub fn request(&self, kernel: usize, map: &SourceMap) -> Option<usize> {
        let (id, _) = self.declared().nth(kernel)?;
        let mut asked = self.program.requested.iter();
        let (span, _) = asked.find(|(_, function)| *function == id)?;
        // One line each.
        let line = map.file(span.file).line_column(span.start).0;
        Some(line as usize - 1)
    }
}

/// Compiles the kernels of the program that starts with `file`.
pub fn kernels(
    map: &mut SourceMap,
    file: FileId,
    options: &Options,
    loader: &dyn Loader,
) -> Embedded {
    stack::whole(|| embedded(map, file, options, loader))
}

fn embedded(map: &mut SourceMap, file: FileId, options: &Options, loader: &dyn Loader) -> Embedded {
    let mut own = map.clone();
    let (program, mut diagnostics) = compile::check(&mut own, file, options, loader);
    if let Some(mut program) = program {
        *map = own;
        for function in &mut program.functions {
            if function.space == FunctionSpace::Host {
                function.body = None;
            }
        }
        let module = compile::finish(&program, map, options, &mut diagnostics);
        compile::sort(&mut diagnostics, map);
        let kernels = module.map(|module| Kernels { module, program });
        return Embedded {
            kernels,
            diagnostics,
        };
    }
    compile::sort(&mut diagnostics, &own);
    // Maybe only the host code is invalid.
    let surveyed = survey(map, file, options, loader);
    let is_understood = surveyed
        .kernels
        .iter()
        .all(|verdict| verdict.reason.is_none());
    let has_errors = compile::has_errors(&surveyed.diagnostics);
    match surveyed.module {
        Some(module) if is_understood && !has_errors && !surveyed.kernels.is_empty() => Embedded {
            kernels: Some(Kernels {
                module,
                program: surveyed.program,
            }),
            diagnostics: surveyed.diagnostics,
        },
        _ => {
            let reasons = surveyed.kernels.iter().filter_map(|one| one.reason.clone());
            *map = own;
            Embedded {
                kernels: None,
                diagnostics: in_device_code(diagnostics, reasons.collect(), &surveyed.extents, map),
            }
        }
    }
}

/// The messages about kernels and what they need; all messages if there is no such message.
fn in_device_code(
    all: Vec<Diagnostic>,
    reasons: Vec<Diagnostic>,
    kernels: &[ir::span::Span],
    map: &SourceMap,
) -> Vec<Diagnostic> {
    let site = |span| {
        let place = map.use_site(span);
        (place.file, place.start, place.end)
    };
    let is_about_kernels = |message: &&Diagnostic| {
        let at = site(message.primary.span);
        let inside = |&extent: &ir::span::Span| {
            let extent = site(extent);
            at.0 == extent.0 && at.1 >= extent.1 && at.1 <= extent.2
        };
        kernels.iter().any(inside) || reasons.iter().any(|reason| site(reason.primary.span) == at)
    };
    let is_error = |message: &Diagnostic| message.severity == Severity::Error;
    // A kernel may need what the missing file would have declared.
    let is_missing = |message: &&Diagnostic| message.code == Code::IncludeNotFound;
    let wanted = |message: &&Diagnostic| is_about_kernels(message) || is_missing(message);
    let about: Vec<Diagnostic> = all.iter().filter(wanted).cloned().collect();
    if about.iter().any(is_error) {
        about
    } else if reasons.is_empty() {
        all
    } else {
        reasons
    }
}
