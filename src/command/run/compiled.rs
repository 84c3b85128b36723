//! Compiles the program of a run, and shows what is wrong with it.

use std::path::Path;

use interp::{Program, rules::RuleSet};
use ir::{
    Module,
    diagnostic::{Code, Diagnostic, Severity},
    source::SourceMap,
};
use report::{findings::Found, json, sarif};
use runtime::{
    buffer::{BufferSource, BufferSpec},
    standalone::same_kernel,
};

use super::{super::check, show::print_json};
use crate::{
    args::{Color, Format, RunArgs, SourceArgs},
    failure::Failure,
    files::Claims,
    output,
    source::{Loaded, OfClang, cuda_arch, load_for, show as show_messages},
};

/// A program that can run.
pub(super) struct Compiled {
    pub(super) loaded: Loaded,
    pub(super) program: Program,
    /// Messages that the run may prove; those that it does not prove are shown afterwards.
    unsure: Vec<Diagnostic>,
    /// The only kernel that is reported.
    pub(super) kernel: Option<String>,
}

/// Compiles the program and shows its errors; `None` if it cannot run.
pub(super) fn compiled(
    loaded: Loaded,
    args: &RunArgs,
    rules: &RuleSet,
    color: Color,
) -> Result<Option<Compiled>, Failure> {
    // Messages that a run may prove are not shown before it.
    let (unsure, sure): (Vec<_>, Vec<_>) = loaded
        .diagnostics
        .iter()
        .cloned()
        .partition(|diagnostic| is_about_barriers(diagnostic) && !loaded.has_errors());
    show_messages(&sure, &loaded.map, color, Severity::Warning);
    if loaded.has_errors() {
        loaded.report_clang();
        if let Some(host) = clang_could(&loaded, args, rules) {
            output::err(&format!(
                "dslc: the kernels compile, but dslc does not understand the host code. clang does, as machine code that may do whatever you may:\n\n    \
                 {}\n\n`--host auto` does so by itself where it is needed\n",
                command_for_clang(&host)
            ));
        }
        match args.report.format {
            Format::Sarif => print_json(&sarif::of_check(&loaded.diagnostics, &loaded.map))?,
            Format::Json => print_json(&json::not_run(
                &args.source.file.display().to_string(),
                rules,
                check::messages(&loaded),
            ))?,
            Format::Text => {}
        }
        return Ok(None);
    }
    loaded.report_left_out();
    let shortcuts = args.checking.plain.unwrap_or_default();
    let program = loaded.program_with(shortcuts)?;
    claim(args, &loaded)?;
    let wanted = args.report.kernel.as_ref();
    let kernel = wanted.map(|wanted| kernel_of(wanted, program.module()));
    Ok(Some(Compiled {
        kernel: kernel.transpose()?,
        loaded,
        program,
        unsure,
    }))
}

/// Whether a program that does not compile here may run with clang as the compiler of its host code.
pub(super) fn clang_could(loaded: &Loaded, args: &RunArgs, rules: &RuleSet) -> Option<ByClang> {
    // A missing file of the program's own is missing for every compiler.
    let is_own_file = |diagnostic: &Diagnostic| {
        diagnostic.code == Code::IncludeNotFound
            && loaded.map.snippet(diagnostic.primary.span).starts_with('"')
    };
    let may = loaded.has_errors() && !loaded.diagnostics.iter().any(is_own_file);
    let host = may.then(|| host_alone(args, rules)).flatten()?;
    let may_know = loaded.diagnostics.iter().any(clang_may_know);
    (may_know || host.has_compiled).then_some(host)
}

/// How clang compiles a program's host code.
pub(super) struct ByClang {
    /// The standard of C++ that the kernels need.
    pub(super) standard: Option<String>,
    /// Whether it has compiled all of the program for its kernels, host code included.
    has_compiled: bool,
}

/// This command line, with clang for the host code.
fn command_for_clang(host: &ByClang) -> String {
    let mut words: Vec<String> = std::env::args().collect();
    let mut at = 0;
    while at < words.len() && words[at] != "--" {
        let ends = match words[at].as_str() {
            "--host" => at + 2,
            word if word.starts_with("--host=") => at + 1,
            _ => at,
        };
        words.drain(at..ends.min(words.len()));
        at += usize::from(ends == at);
    }
    words[0] = "dslc".to_string();
    let run = words.iter().position(|word| word == "run").unwrap_or(0);
    words.splice(run + 1..run + 1, ["--host", "native"].map(String::from));
    if let Some(standard) = &host.standard {
        words.splice(run + 3..run + 3, ["--std".to_string(), standard.clone()]);
    }
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// How clang compiles the program, if all its errors are in its host code.
fn host_alone(args: &RunArgs, rules: &RuleSet) -> Option<ByClang> {
    let kernels = SourceArgs {
        kernels: true,
        ..args.source.clone()
    };
    let loaded = load_for(&kernels, cuda_arch(rules)).ok()?;
    let mut understood = loaded.kernels.iter().map(|kernel| kernel.reason.is_none());
    let is_host_alone = !loaded.kernels.is_empty() && understood.all(|is| is);
    let has_compiled = |clang: &OfClang| clang.left_out.is_empty();
    is_host_alone.then(|| ByClang {
        has_compiled: loaded.clang.as_ref().is_some_and(has_compiled),
        standard: args
            .source
            .std
            .is_none()
            .then(|| loaded.clang.and_then(|clang| clang.standard))
            .flatten(),
    })
}

impl Compiled {
    /// The front end's messages, without those that the run has proved: a finding says more.
    pub(super) fn said(&self, found: &[Found]) -> Vec<Diagnostic> {
        let (module, map) = (self.program.module(), &self.loaded.map);
        let all = self.loaded.diagnostics.iter();
        all.filter(|&diagnostic| {
            !is_about_barriers(diagnostic) || !is_proved(diagnostic, found, module, map)
        })
        .cloned()
        .collect()
    }

    /// Shows the messages that the run might have proved but did not.
    pub(super) fn show_unproved(&self, found: &[Found], color: Color) {
        let (module, map) = (self.program.module(), &self.loaded.map);
        let unsure = self.unsure.iter();
        let unproved: Vec<Diagnostic> = unsure
            .filter(|diagnostic| !is_proved(diagnostic, found, module, map))
            .cloned()
            .collect();
        show_messages(&unproved, map, color, Severity::Warning);
    }
}

/// Whether an error may be a limit of this front end rather than of the program: a host compiler may know the name, or the form.
fn clang_may_know(diagnostic: &Diagnostic) -> bool {
    match diagnostic.code {
        Code::Unsupported
        | Code::UnsupportedBuiltin
        | Code::UnsupportedSyntax
        | Code::VariableLength
        | Code::IncludeNotFound
        | Code::Syntax => true,
        // A name similar to a known one is a typing error.
        Code::UnknownName | Code::UnknownType | Code::UnknownMember | Code::UndefinedFunction => {
            diagnostic.help.is_none()
        }
        _ => false,
    }
}

/// Whether a message warns of a barrier that some threads may not reach.
fn is_about_barriers(diagnostic: &Diagnostic) -> bool {
    matches!(
        diagnostic.code,
        Code::BarrierUnderCondition | Code::BarrierInUnevenLoop | Code::BarrierAfterReturn
    )
}

/// Whether the run has a finding on the line that a message warned of.
fn is_proved(diagnostic: &Diagnostic, found: &[Found], module: &Module, map: &SourceMap) -> bool {
    let span = map.use_site(diagnostic.primary.span);
    let file = map.file(span.file);
    let line = file.line_column(span.start).0;
    let mut sides = found
        .iter()
        .filter(|found| found.code == Code::DivergentBarrier)
        .flat_map(|found| &found.sides);
    sides.any(|side| {
        let loc = module.loc(side.loc);
        loc.line == line && module.files.get(loc.file as usize) == Some(&file.name)
    })
}

/// Checks that the run writes no file that it reads, and no file twice. A baseline may be both: it is read before anything runs.
fn claim(args: &RunArgs, loaded: &Loaded) -> Result<(), Failure> {
    let mut claims = Claims::default();
    claims.reads_program(&loaded.read);
    for text in &args.program.buffer {
        // An invalid specification is reported when the buffer is made.
        if let Ok(spec) = BufferSpec::parse(text)
            && let BufferSource::File(path) = spec.source
        {
            claims.reads(Path::new(&path), "the file of a buffer");
        }
    }
    if let Some(path) = &args.known.write_baseline {
        claims.writes(path, "--write-baseline")?;
    }
    if let Some(path) = &args.known.baseline {
        claims.reads(path, "the baseline to read");
    }
    if let Some(path) = &args.report.html {
        claims.writes(path, "--html")?;
    }
    let saved = args.save.iter().filter_map(|text| text.split_once('='));
    for (name, path) in saved {
        claims.writes(Path::new(path), &format!("--save {name}"))?;
    }
    for (path, option) in [
        (&args.observer.trace, "--trace"),
        (&args.observer.record, "--record"),
    ] {
        if let Some(path) = path {
            claims.writes(path, option)?;
        }
    }
    Ok(())
}

/// The full name of the kernel that `--kernel` asks for.
fn kernel_of(wanted: &str, module: &Module) -> Result<String, Failure> {
    let mut kernels = module.kernels();
    let found = kernels.find(|(_, function)| same_kernel(&function.name, wanted));
    let name = found.map(|(_, function)| function.name.clone());
    name.ok_or_else(|| {
        let why = no_such_kernel(wanted, module);
        Failure::new(format!("--kernel {wanted}: {why}"))
    })
}

fn no_such_kernel(wanted: &str, module: &Module) -> String {
    let names: Vec<&str> = module
        .kernels()
        .map(|(_, function)| function.name.as_str())
        .collect();
    match ir::suggest::nearest(wanted, names.iter().copied()) {
        Some(nearest) => format!("there is no such kernel; did you mean `{nearest}`?"),
        None if names.is_empty() => "the program has no kernels".to_string(),
        None if names.len() == 1 => {
            format!("there is no such kernel; the only one is `{}`", names[0])
        }
        None => format!("there is no such kernel; there are {}", names.join(", ")),
    }
}
