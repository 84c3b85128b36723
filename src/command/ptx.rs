//! `dslc ptx FILE`: the kernels as PTX or LLVM IR.

use std::path::PathBuf;

use ir::{Module, diagnostic::Severity, target::Target};

use crate::{
    args::{Color, Emit, PtxArgs, SourceArgs},
    back_end::{self, Options},
    failure::Failure,
    files::{self, Claims},
    output, progress,
    source::{load_for, read_program},
};

/// The target of this machine's first GPU, if there is a driver to ask.
fn gpu_here() -> Option<Target> {
    let gpus = runtime::device::gpu::list().ok()?;
    let first = gpus.first()?;
    Target::for_device(first.major, first.minor)
}

/// A program on its way to PTX.
enum Program {
    /// dslc's own.
    Ir(Module),
    /// What clang made of its kernels.
    Ptx(String),
}

/// The program as IR or PTX, and the files it was read from; `None` if it has errors, which were shown. A file whose name ends in `.ir` already
/// contains IR, as `dslc ir` prints it.
fn module(
    source: &SourceArgs,
    arch: Target,
    color: Color,
) -> Result<Option<(Program, Vec<PathBuf>)>, Failure> {
    if source.file.extension().is_some_and(|end| end == "ir") {
        let (text, files) = read_program(source)?;
        let wrong = |why: String| Failure::new(format!("{}:{why}", source.file.display()));
        let module = ir::parse(&text).map_err(|error| wrong(error.to_string()))?;
        ir::verify(&module).map_err(|violations| {
            let first = violations.first().map(ToString::to_string);
            wrong(format!(" {}", first.unwrap_or_default()))
        })?;
        return Ok(Some((Program::Ir(module), files.into_read())));
    }
    let line = progress::busy("compiling");
    let loaded = load_for(source, arch.number() * 10);
    drop(line);
    let loaded = loaded?;
    let failed = loaded.report(color, Severity::Warning);
    loaded.report_left_out();
    let Some(module) = loaded.module.filter(|_| !failed) else {
        return Ok(None);
    };
    let Some(clang) = loaded.clang.filter(|clang| !clang.kernels.is_empty()) else {
        return Ok(Some((Program::Ir(module), loaded.read)));
    };
    let mut kernels = module.kernels();
    match kernels.find(|(_, kernel)| kernel.compiled_by.is_none()) {
        None => Ok(Some((Program::Ptx(clang.ptx), loaded.read))),
        Some((_, kernel)) => Err(Failure::new(format!(
            "{} compiles `{}`, and dslc `{}`: `--kernels-by clang` makes one PTX of both",
            clang.by, clang.kernels[0], kernel.name
        ))),
    }
}

/// The default target, and a remark about it: `run` counts for another architecture.
fn assumed() -> (Target, String) {
    let (arch, why) = match gpu_here() {
        Some(arch) => (arch, "the GPU of this machine"),
        None => (Target::default(), "which runs on every later GPU"),
    };
    let note = format!(
        "note: compiled for {arch}, {why}; use --arch for another one (`dslc run` counts for sm_90)\n"
    );
    (arch, note)
}

pub(crate) fn run(args: &PtxArgs, color: Color) -> Result<u8, Failure> {
    let (arch, note) = match &args.source.arch {
        Some(name) => (Target::parse(name)?, String::new()),
        None => assumed(),
    };
    let mut source = args.source.clone();
    for kernel in &args.kernel {
        source.instantiate(kernel);
    }
    let Some((module, read)) = module(&source, arch, color)? else {
        return Ok(1);
    };
    if let Some(path) = &args.output {
        let mut claims = Claims::default();
        claims.reads_program(&read);
        claims.writes(path, "-o")?;
    }
    let options = Options {
        arch,
        opt_level: args.level,
        lines: (!args.no_lines).into(),
        llvm: args.emit == Emit::Llvm,
    };
    let text = match module {
        Program::Ir(module) => back_end::compile(&module, options)?,
        Program::Ptx(_) if options.llvm => {
            return Err(Failure::new(
                "clang's kernels are PTX: --emit llvm needs dslc's front end",
            ));
        }
        Program::Ptx(text) => text,
    };
    match &args.output {
        Some(path) => files::write(path, text.as_bytes())
            .map_err(|why| Failure::new(format!("cannot write `{}`: {why}", path.display())))?,
        None => output::out(text.as_bytes()),
    }
    output::err(&note);
    Ok(0)
}
