//! The whole front end: text in, verified IR out.

mod concepts;
mod declarations;
mod stubs;

use crate::{
    library, lint, lower,
    sema::{self, typed},
    stack,
    survey::OwnName,
    syntax::{self, ast::Unit, preprocess::Tokenized},
};
use ir::{
    Module,
    diagnostic::{Diagnostic, Severity},
    forward_loads, simplify,
    source::{COMMAND_LINE, Loader, NoFiles, SourceFile, SourceMap},
    span::FileId,
    verify,
};

pub(crate) use declarations::{Parsed, parsed};
pub use stubs::{Stub, compile_without_bodies};

/// What the user can choose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Macros defined before the first line, with their text: `-D NAME`, `-D NAME=VALUE`.
    pub defines: Vec<(String, Option<String>)>,
    /// The value of `__CUDA_ARCH__`.
    pub cuda_arch: u32,
    /// Fuse `a * b + c` in device code, as nvcc does by default.
    pub fmad: bool,
    /// Instances of kernel templates to make, whatever the program instantiates: `k<float, 32>`.
    pub instances: Vec<String>,
    /// In a program of several sources: the names that mean different things in them.
    pub own_names: Vec<OwnName>,
    /// Warn of names whose header the program does not include: nvcc would refuse it.
    pub warn_includes: bool,
    /// Let host functions read memory once where nothing changes it ([`forward_loads`]).
    pub forward_loads: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            defines: Vec::new(),
            cuda_arch: 900,
            fmad: true,
            instances: Vec::new(),
            own_names: Vec::new(),
            warn_includes: false,
            forward_loads: true,
        }
    }
}

/// What the front end made of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    /// The program; absent if there was an error.
    pub module: Option<Module>,
    /// Everything found, in order of place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles the program that starts with `file`.
pub fn compile(
    map: &mut SourceMap,
    file: FileId,
    options: &Options,
    loader: &dyn Loader,
) -> Compiled {
    stack::whole(|| {
        let (program, mut diagnostics) = check(map, file, options, loader);
        let module = program.and_then(|program| finish(&program, map, options, &mut diagnostics));
        sort(&mut diagnostics, map);
        Compiled {
            module,
            diagnostics,
        }
    })
}

/// Lowers a typed program, if nothing is wrong so far.
pub(crate) fn finish(
    program: &typed::Program,
    map: &SourceMap,
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Module> {
    if has_errors(diagnostics) {
        return None;
    }
    let lowering = lower::Options {
        fmad: options.fmad,
        ..lower::Options::default()
    };
    let (mut module, more) = lower::lower(program, map, &lowering);
    diagnostics.extend(more);
    if has_errors(diagnostics) {
        return None;
    }
    simplify(&mut module);
    if options.forward_loads {
        forward_loads(&mut module);
    }
    if cfg!(debug_assertions) {
        verify::assert_verified(&module, "simplify");
    }
    diagnostics.extend(lint::lint(&module, map));
    (!has_errors(diagnostics)).then_some(module)
}

pub(crate) fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics
        .iter()
        .any(|message| message.severity == Severity::Error)
}

/// Sorts messages by their place.
pub(crate) fn sort(diagnostics: &mut [Diagnostic], map: &SourceMap) {
    diagnostics.sort_by_key(|message| {
        let place = map.use_site(message.primary.span);
        (place.file, place.start)
    });
}

/// The front end up to the typed tree.
pub(crate) fn check(
    map: &mut SourceMap,
    file: FileId,
    options: &Options,
    loader: &dyn Loader,
) -> (Option<typed::Program>, Vec<Diagnostic>) {
    let preprocessing = syntax::Options {
        defines: options.defines.clone(),
        cuda_arch: options.cuda_arch,
    };
    let tokenized = syntax::tokenize(map, file, &preprocessing, loader);
    let (program, checked) = typed(map, &tokenized, options);
    let includes = match options.warn_includes {
        true => library::missing(&tokenized, map),
        false => Vec::new(),
    };
    let mut diagnostics = tokenized.diagnostics;
    diagnostics.extend(checked);
    diagnostics.extend(includes);
    (program, diagnostics)
}

/// Parses a program and checks it together with CUDA's own declarations. Those come first, so that the program cannot break them.
fn typed(
    map: &mut SourceMap,
    tokenized: &Tokenized,
    options: &Options,
) -> (Option<typed::Program>, Vec<Diagnostic>) {
    let Parsed {
        unit,
        errors: mut diagnostics,
        declared,
    } = parsed(map, tokenized, &options.instances);
    let (instances, request_errors) = requests(map, &options.instances);
    diagnostics.extend(request_errors);
    let (program, errors) = sema::check(
        &[&declared.unit, &unit, &instances],
        map,
        sema::Options {
            prelude: declared.files.clone(),
            skip_host: false,
            survey: false,
        },
    );
    diagnostics.extend(errors);
    (program, diagnostics)
}

/// `template __global__ void k<float, 32>();` for each requested instance. The parameters are left out: the arguments determine the
/// instance.
pub(crate) fn requests(map: &mut SourceMap, instances: &[String]) -> (Unit, Vec<Diagnostic>) {
    if instances.is_empty() {
        return (Unit::default(), Vec::new());
    }
    let text: String = instances
        .iter()
        .map(|instance| format!("template __global__ void {instance}();\n"))
        .collect();
    let file = map.add(SourceFile::new(COMMAND_LINE, text));
    let tokenized = syntax::tokenize(map, file, &syntax::Options::default(), &NoFiles);
    let (parsed, broken) = syntax::parser::parse(&tokenized.tokens, tokenized.end);
    let mut diagnostics = tokenized.diagnostics;
    diagnostics.extend(broken);
    (parsed, diagnostics)
}
