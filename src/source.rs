//! Reads the user's files and runs the front end over them.

pub(crate) mod clang;
mod include;
mod through;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ir::{
    Module,
    diagnostic::{self, Code, Diagnostic, Severity},
    source::{Loader, SourceFile, SourceMap},
    span::{FileId, Span},
};

use interp::{Program, Shortcuts, rules::RuleSet};

use crate::{
    args::{Color, KernelsBy, SourceArgs},
    failure::Failure,
    output,
};

pub(crate) use include::{Files, texts};
pub(crate) use through::{OfClang, is_asked};

/// The front end's result for a file.
pub(crate) struct Loaded {
    pub(crate) map: SourceMap,
    pub(crate) module: Option<Module>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// With `--kernels`: which kernels are understood.
    pub(crate) kernels: Vec<dsl::KernelVerdict>,
    /// With `--kernels`: included files that are missing.
    pub(crate) missing: Vec<Diagnostic>,
    /// The files that were read, the program first.
    pub(crate) read: Vec<PathBuf>,
    /// The kernels that clang compiles.
    pub(crate) clang: Option<OfClang>,
}

/// Reads and compiles the program.
pub(crate) fn load(args: &SourceArgs) -> Result<Loaded, Failure> {
    load_for(args, dsl::Options::default().cuda_arch)
}

/// The same with this value of `__CUDA_ARCH__`.
pub(crate) fn load_for(args: &SourceArgs, cuda_arch: u32) -> Result<Loaded, Failure> {
    let name = args.file.display().to_string();
    let (text, loader) = read_program(args)?;
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(name, text));
    if args
        .file
        .extension()
        .is_some_and(|extension| extension == "ptx")
    {
        return Ok(load_ptx(map, file, loader));
    }
    let options = options(args, cuda_arch)?;
    if args.kernels {
        let survey = dsl::survey(&mut map, file, &options, &loader);
        let mut loaded = Loaded {
            map,
            module: survey.module,
            diagnostics: survey.diagnostics,
            kernels: survey.kernels,
            missing: survey.missing,
            read: loader.into_read(),
            clang: None,
        };
        through::survey(&mut loaded, args, cuda_arch);
        return Ok(loaded);
    }
    let compiled = dsl::compile(&mut map, file, &options, &loader);
    let mut loaded = Loaded {
        map,
        module: compiled.module,
        diagnostics: compiled.diagnostics,
        kernels: Vec::new(),
        missing: Vec::new(),
        read: Vec::new(),
        clang: None,
    };
    if loaded.has_errors() || KernelsBy::wanted(args.kernels_by) == KernelsBy::Clang {
        through::program(&mut loaded, (args, cuda_arch), &options, &loader);
    }
    loaded.read = loader.into_read();
    Ok(loaded)
}

/// Reads PTX. Kernels that dslc cannot run are left out, and a message says why; if none is left, that is an error.
fn load_ptx(mut map: SourceMap, file: FileId, loader: Files) -> Loaded {
    let source = map.file(file);
    let message = |code, error: &ptx::Error, text: String| {
        let at = source.offset(error.line, error.column) as usize;
        Diagnostic::new(code, Span::new(file, at, at + 1), text)
    };
    let mut diagnostics = Vec::new();
    let module = match ptx::module(&source.text, &source.name) {
        Err(error) => {
            let text = error.message.clone();
            diagnostics.push(message(Code::Syntax, &error, text));
            None
        }
        Ok((module, made)) => {
            for (kernel, error) in &made.assumed {
                let text = format!(
                    "`{kernel}`: {}; where its lanes meet again is assumed",
                    error.message
                );
                let mut diagnostic = message(Code::Unsupported, error, text);
                diagnostic.severity = Severity::Warning;
                diagnostics.push(diagnostic);
            }
            for (kernel, error) in &made.unsupported {
                let text = format!(
                    "`{kernel}`: {}; a lane that executes this ends the run",
                    error.message
                );
                let mut diagnostic = message(Code::Unsupported, error, text);
                diagnostic.severity = Severity::Warning;
                diagnostics.push(diagnostic);
            }
            for (kernel, error) in &made.refused {
                let text = format!("the kernel `{kernel}` is left out: {}", error.message);
                let mut diagnostic = message(Code::Unsupported, error, text);
                if module.functions.is_empty() {
                    diagnostic.severity = Severity::Error;
                } else {
                    diagnostic.severity = Severity::Warning;
                }
                diagnostics.push(diagnostic);
            }
            // The text may be hostile, and the simulator relies on the IR's rules.
            ir::verify::assert_verified(&module, "reading PTX");
            Some(module)
        }
    };
    // The sources that the PTX was made from, where they are found: reports show their lines.
    for name in module.iter().flat_map(|module| module.files.iter().skip(1)) {
        if let Ok(text) = loader.program(Path::new(name)) {
            map.add(SourceFile::new(name.clone(), text));
        }
    }
    Loaded {
        map,
        module,
        diagnostics,
        kernels: Vec::new(),
        missing: Vec::new(),
        read: loader.into_read(),
        clang: None,
    }
}

/// The value of `__CUDA_ARCH__` for a simulated architecture.
pub(crate) fn cuda_arch(rules: &RuleSet) -> u32 {
    rules.arch.number() * 10
}

fn options(args: &SourceArgs, cuda_arch: u32) -> Result<dsl::Options, Failure> {
    Ok(dsl::Options {
        defines: defines(&args.defines)?,
        fmad: args.fmad,
        cuda_arch,
        instances: args.instances.clone(),
        own_names: Vec::new(),
        warn_includes: true,
        ..dsl::Options::default()
    })
}

/// Compiles texts that are already in memory; `None` if they have errors.
pub(crate) fn compile(
    args: &SourceArgs,
    cuda_arch: u32,
    map: &mut SourceMap,
    file: FileId,
    loader: &dyn Loader,
) -> Result<Option<Module>, Failure> {
    let options = options(args, cuda_arch)?;
    let (module, diagnostics) = if args.kernels {
        let survey = dsl::survey(map, file, &options, loader);
        (survey.module, survey.diagnostics)
    } else {
        let compiled = dsl::compile(map, file, &options, loader);
        (compiled.module, compiled.diagnostics)
    };
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    Ok(module.filter(|_| !diagnostics.iter().any(is_error)))
}

/// The program's text, and the reader of its includes.
pub(crate) fn read_program(args: &SourceArgs) -> Result<(String, Files), Failure> {
    let files = Files::new(&args.file, &args.include);
    let text = files
        .program(&args.file)
        .map_err(|why| Failure::new(format!("cannot read `{}`: {why}", args.file.display())))?;
    Ok((text, files))
}

pub(crate) fn defines(defines: &[String]) -> Result<Vec<(String, Option<String>)>, Failure> {
    let split = |define: &String| {
        let (name, value) = match define.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (define.as_str(), None),
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name {
            Ok((name.to_string(), value))
        } else {
            Err(Failure::new(format!(
                "-D {define}: `{name}` is not a macro name"
            )))
        }
    };
    defines.iter().map(split).collect()
}

/// Prints the messages of at least this severity to stderr.
pub(crate) fn show(diagnostics: &[Diagnostic], map: &SourceMap, color: Color, least: Severity) {
    let shown = diagnostics.iter().filter(|d| d.severity >= least);
    let shown: Vec<Diagnostic> = shown.cloned().collect();
    if !shown.is_empty() {
        output::err(&diagnostic::render::render(
            &shown,
            map,
            output::use_color(color),
            Some(output::message_columns()),
        ));
    }
}

impl Loaded {
    /// Prints the messages of at least this severity to stderr. Returns whether any message is an error.
    pub(crate) fn report(&self, color: Color, least: Severity) -> bool {
        show(&self.diagnostics, &self.map, color, least);
        self.has_errors()
    }

    /// Says on stderr what clang compiled, and what it did not understand.
    pub(crate) fn report_clang(&self) {
        for line in self.clang.iter().flat_map(OfClang::lines) {
            output::err(&format!("note: {line}\n"));
        }
    }

    /// Says on stderr which kernels are left out because they are not understood.
    pub(crate) fn report_left_out(&self) {
        self.report_clang();
        for missing in &self.missing {
            output::err(&format!("note: {}\n", missing.message));
        }
        for verdict in &self.kernels {
            if let Some(reason) = &verdict.reason {
                let span = self.map.use_site(reason.primary.span);
                let line = self.map.file(span.file).line_column(span.start).0;
                output::err(&format!(
                    "note: the kernel `{}` is left out; line {line}: {}\n",
                    verdict.name, reason.message
                ));
            }
        }
    }

    /// The program of a file without errors.
    pub(crate) fn program(&self) -> Result<Program, Failure> {
        self.program_with(Shortcuts::ALL)
    }

    /// The same, run with these shortcuts.
    pub(crate) fn program_with(&self, shortcuts: Shortcuts) -> Result<Program, Failure> {
        let module = self.module.clone();
        let module = module.ok_or_else(|| Failure::new("the front end made no program"))?;
        Ok(Program::with(Arc::new(module), shortcuts))
    }

    /// Whether there is an error among the messages.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}
