//! Reads the user's files and runs the front end over them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dsl::{
    diagnostic::{self, Diagnostic, Severity},
    ir::Module,
    source::{Included, Loader, SourceFile, SourceMap},
};

use crate::{
    args::{Color, SourceArgs},
    failure::Failure,
    output,
};

/// What the front end made of a file.
pub(crate) struct Loaded {
    pub(crate) map: SourceMap,
    pub(crate) module: Option<Module>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// With `--kernels`: what is understood.
    pub(crate) kernels: Vec<dsl::KernelVerdict>,
    /// With `--kernels`: included files that are not there.
    pub(crate) missing: Vec<Diagnostic>,
}

/// Reads and compiles.
pub(crate) fn load(args: &SourceArgs) -> Result<Loaded, Failure> {
    load_for(args, dsl::Options::default().cuda_arch)
}

/// Reads and compiles with that value of `__CUDA_ARCH__`.
pub(crate) fn load_for(args: &SourceArgs, cuda_arch: u32) -> Result<Loaded, Failure> {
    let name = args.file.display().to_string();
    let text = read_program(&args.file)?;
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(name, text));
    let options = dsl::Options {
        defines: defines(&args.defines)?,
        fmad: args.fmad,
        cuda_arch,
        instances: args.instances.clone(),
    };
    let loader = Files {
        folders: args.include.clone(),
    };
    if args.kernels {
        let survey = dsl::survey(&mut map, file, &options, &loader);
        return Ok(Loaded {
            map,
            module: survey.module,
            diagnostics: survey.diagnostics,
            kernels: survey.kernels,
            missing: survey.missing,
        });
    }
    let compiled = dsl::compile(&mut map, file, &options, &loader);
    Ok(Loaded {
        map,
        module: compiled.module,
        diagnostics: compiled.diagnostics,
        kernels: Vec::new(),
        missing: Vec::new(),
    })
}

/// The program's text.
pub(crate) fn read_program(path: &Path) -> Result<String, Failure> {
    read(path).map_err(|why| Failure::new(format!("cannot read `{}`: {why}", path.display())))
}

/// The text of a file. Bytes that are no UTF-8 become U+FFFD, which the lexer reports with its place.
fn read(path: &Path) -> Result<String, String> {
    if path.is_dir() {
        return Err("it is a folder".to_string());
    }
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => error.to_string(),
    })?;
    if bytes.len() > u32::MAX as usize / 2 {
        return Err("it is larger than 2 GiB".to_string());
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
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
                "-D {define}: `{name}` is no macro name"
            )))
        }
    };
    defines.iter().map(split).collect()
}

/// Files beside the including one, then in the `-I` folders.
pub(crate) struct Files {
    pub(crate) folders: Vec<PathBuf>,
}

impl Loader for Files {
    fn load(&self, name: &str, from: &str) -> Option<Result<Included, String>> {
        let beside = Path::new(from).parent().map(|folder| folder.join(name));
        let others = self.folders.iter().map(|folder| folder.join(name));
        let path = beside
            .into_iter()
            .chain(others)
            .find(|path| path.is_file())?;
        let full_name = path.display().to_string();
        Some(read(&path).map(|text| Included { full_name, text }))
    }
}

/// Prints the messages that are at least this bad to stderr.
pub(crate) fn show(diagnostics: &[Diagnostic], map: &SourceMap, color: Color, least: Severity) {
    let shown = diagnostics.iter().filter(|d| d.severity >= least);
    let shown: Vec<Diagnostic> = shown.cloned().collect();
    if !shown.is_empty() {
        output::err(&diagnostic::render::render(
            &shown,
            map,
            output::use_color(color),
            Some(output::columns()),
        ));
    }
}

impl Loaded {
    /// Prints the messages that are at least this bad to stderr. True if there is an error among all.
    pub(crate) fn report(&self, color: Color, least: Severity) -> bool {
        show(&self.diagnostics, &self.map, color, least);
        self.has_errors()
    }

    /// Says on stderr which kernels are left out because they are not understood.
    pub(crate) fn report_left_out(&self) {
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

    /// Whether there is an error among the messages.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}
