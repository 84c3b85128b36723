//! `dslc nvcc ARGS…`: a compiler driver with nvcc's command line.
//!
//! Host code goes to clang unchanged. Kernels are compiled here, and the object carries them as verified IR. The program is linked with
//! `libdslcrt`, which runs them.

mod args;
mod clang;
mod device;
mod found;
mod functors;
mod libraries;
mod link;
mod names;
mod spaced;
mod toolkit;
mod zeroed;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::{
    args::{Color, NvccArgs},
    failure::Failure,
    output,
};
use args::{Kind, Options, Stage};
pub(crate) use clang::{Clang, code_of, compiler, library, status};
pub(crate) use found::same as same_name;
pub(crate) use libraries::named as libraries_of;
pub(crate) use names::source_name;
pub(crate) use spaced::join as join_launches;

/// The answer to `--version`: the release whose command line and headers these are.
const VERSION: &str = "nvcc: NVIDIA (R) Cuda compiler driver\n\
    This is dslc, which compiles kernels for its simulator\n\
    Cuda compilation tools, release 12.4, V12.4.131\n";

pub(crate) fn run(args: &NvccArgs, color: Color) -> Result<u8, Failure> {
    build(&args.args, None, color)
}

/// Executes an nvcc command line. The host compiler lists the files that it reads in the folder `dependencies`.
pub(crate) fn build(
    words: &[OsString],
    dependencies: Option<&Path>,
    color: Color,
) -> Result<u8, Failure> {
    let words: Result<Vec<String>, _> = words
        .iter()
        .map(|word| word.clone().into_string())
        .collect();
    let words = words.map_err(|word| {
        Failure::new(format!(
            "the argument `{}` is not UTF-8 text",
            word.display()
        ))
    })?;
    let options = Options::parse(&words)?;
    if options.mode.says_version {
        output::out(VERSION.as_bytes());
        return Ok(0);
    }
    for remark in &options.remarks {
        output::err(&format!("dslc nvcc: {remark}\n"));
    }
    let clang = Clang::find(dependencies)?;
    if options.mode.is_verbose {
        output::err(&clang.steps(&options));
    }
    if options.mode.is_dry {
        return Ok(0);
    }
    let folder = tempfile::tempdir()?;
    let mut job = Job {
        options: &options,
        clang: &clang,
        folder: folder.path(),
        color,
    };
    match options.stage {
        Stage::Preprocess => job.preprocess(),
        Stage::Object => job.objects("o", Job::object),
        Stage::Kernels(file) => job.objects(file.ending(), |job, source, _, output| {
            device::kernels(job, source, output, file)
        }),
        Stage::Library => job.library(),
        Stage::DeviceLink => job.device_link(),
        Stage::Program => job.program(),
    }
}

/// One run of the compiler.
struct Job<'a> {
    options: &'a Options,
    clang: &'a Clang,
    /// The folder for intermediate files.
    folder: &'a Path,
    color: Color,
}

impl Job<'_> {
    fn preprocess(&mut self) -> Result<u8, Failure> {
        for input in &self.options.inputs {
            let mut command = self.clang.host(self.options, input.kind);
            command.arg("-E").arg(&input.path);
            if let Some(output) = &self.options.output {
                command.arg("-o").arg(output);
            }
            let code = status(&mut command)?;
            if code != 0 {
                return Ok(code);
            }
        }
        Ok(0)
    }

    /// `-c` and similar stages: a file with this ending for each source.
    fn objects(
        &mut self,
        ending: &str,
        mut make: impl FnMut(&mut Self, &Path, Kind, &Path) -> Result<u8, Failure>,
    ) -> Result<u8, Failure> {
        let sources: Vec<_> = self
            .options
            .inputs
            .iter()
            .filter(|input| input.kind.is_source())
            .collect();
        if self.options.output.is_some() && sources.len() > 1 {
            return Err(Failure::new(
                "-o names one file, but this command writes several",
            ));
        }
        for input in sources {
            let object = match &self.options.output {
                Some(output) => output.clone(),
                None => {
                    let name = Path::new(input.path.file_name().unwrap_or_default());
                    self.options.folder.join(name.with_extension(ending))
                }
            };
            let code = make(self, &input.path, input.kind, &object)?;
            if code != 0 {
                return Ok(code);
            }
        }
        Ok(0)
    }

    /// Compiles one source.
    fn object(&mut self, source: &Path, kind: Kind, object: &Path) -> Result<u8, Failure> {
        self.clang.prepare(source)?;
        self.clang.lay_over(None);
        let overlay = zeroed::overlay(self.clang, self.options, (source, kind), self.folder);
        self.clang.lay_over(overlay);
        match kind {
            Kind::Cuda => device::compile(self, source, object),
            _ => {
                let mut command = self.clang.host(self.options, kind);
                command.arg("-c").arg(source).arg("-o").arg(object);
                status(&mut command)
            }
        }
    }

    /// The inputs of a library or program: the objects of the sources, and the objects given on the command line.
    fn linked(&mut self) -> Result<Result<Vec<PathBuf>, u8>, Failure> {
        let mut linked = Vec::new();
        for (number, input) in self.options.inputs.iter().enumerate() {
            if !input.kind.is_source() {
                linked.push(input.path.clone());
                continue;
            }
            let object = self.folder.join(format!("{number}.o"));
            let code = self.object(&input.path, input.kind, &object)?;
            if code != 0 {
                return Ok(Err(code));
            }
            linked.push(object);
        }
        Ok(Ok(linked))
    }

    fn library(&mut self) -> Result<u8, Failure> {
        let linked = match self.linked()? {
            Ok(linked) => linked,
            Err(code) => return Ok(code),
        };
        let output = self.options.output.clone().unwrap_or_else(|| "a.a".into());
        let _ = std::fs::remove_file(&output);
        status(
            std::process::Command::new("ar")
                .arg("rcs")
                .arg(output)
                .args(linked),
        )
    }

    /// `-dlink`: makes an object that registers the kernels of several objects.
    fn device_link(&mut self) -> Result<u8, Failure> {
        let objects: Vec<PathBuf> = self
            .options
            .inputs
            .iter()
            .map(|input| input.path.clone())
            .collect();
        let output = self
            .options
            .output
            .clone()
            .unwrap_or_else(|| "a_dlink.o".into());
        match link::link(self, &objects, &output)? {
            link::Linked::Failed(code) => Ok(code),
            link::Linked::Made => Ok(0),
            link::Linked::Nothing => {
                // Build files expect the object even if there is nothing to link.
                let mut command = self.clang.plain();
                command
                    .args(["-x", "c", "-c", "/dev/null", "-o"])
                    .arg(output);
                status(&mut command)
            }
        }
    }

    fn program(&mut self) -> Result<u8, Failure> {
        if self.options.inputs.is_empty() {
            return Err(Failure::new(
                "nvcc: no input files; `dslc nvcc prog.cu -o prog` builds a program",
            ));
        }
        let mut linked = match self.linked()? {
            Ok(linked) => linked,
            Err(code) => return Ok(code),
        };
        let registration = self.folder.join("dlink.o");
        match link::link(self, &linked, &registration)? {
            link::Linked::Failed(code) => return Ok(code),
            link::Linked::Made => linked.push(registration),
            link::Linked::Nothing => {}
        }
        let output = self
            .options
            .output
            .clone()
            .unwrap_or_else(|| "a.out".into());
        let mut command = self.clang.link(self.options)?;
        command.args(linked).arg("-o").arg(&output);
        let code = self.clang.finish_link(self.options, command)?;
        if code != 0 || !self.options.mode.runs {
            return Ok(code);
        }
        let program = match output.components().count() {
            1 => Path::new(".").join(&output),
            _ => output,
        };
        status(std::process::Command::new(program).stdin(Stdio::inherit()))
    }
}
