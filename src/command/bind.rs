//! `dslc bind FILE -o t.rs`: writes the kernels as a Rust module, the one that `include_kernel!` would make.

use std::path::{Component, Path, PathBuf};

use bind::{Options, PtxText, Request, Source, Text, raw};
use ir::{
    diagnostic::Severity,
    source::{SourceMap, fingerprint},
    target::Target,
};

use crate::{
    args::{BindArgs, Color},
    back_end,
    failure::Failure,
    files::{self, Claims},
    output,
    source::{self, show},
};

/// The module's name when it goes to stdout.
const UNNAMED: &str = "kernels";

pub(crate) fn run(args: &BindArgs, color: Color) -> Result<u8, Failure> {
    let name = args.source.file.display().to_string();
    let (text, files) = source::read_program(&args.source)?;
    let mut options = Options {
        defines: source::defines(&args.source.defines)?,
        fmad: args.source.fmad,
        ..Options::default()
    };
    for kernel in &args.kernel {
        options.add("instances", kernel)?;
    }
    let request = Request {
        file_name: name.clone(),
        text: text.clone(),
        visibility: String::new(),
        module_name: module_name(args).to_string(),
        options,
    };
    let bound = bind::bind(request, &files);
    if let Some(path) = &args.output {
        let mut claims = Claims::default();
        claims.reads_program(&files.into_read());
        claims.writes(path, "-o")?;
    }
    show(&bound.diagnostics, &bound.map, color, Severity::Warning);
    let Some(kernels) = bound.kernels.as_ref().filter(|_| !bound.has_errors()) else {
        return Ok(1);
    };
    let ptx = args
        .ptx
        .iter()
        .map(|arch| ptx(arch, kernels.ir()))
        .collect::<Result<Vec<PtxText>, Failure>>()?;
    let mut sources = vec![Source { name, text }];
    sources.extend(bound.included.iter().cloned());
    let code = file(args, kernels, &bound.map, &sources, &ptx)?;
    match &args.output {
        Some(path) => files::write(path, code.as_bytes())
            .map_err(|why| Failure::new(format!("cannot write `{}`: {why}", path.display())))?,
        None => output::out(code.as_bytes()),
    }
    Ok(0)
}

fn module_name(args: &BindArgs) -> &str {
    let stem = args.output.as_deref().and_then(Path::file_stem);
    stem.and_then(|stem| stem.to_str()).unwrap_or(UNNAMED)
}

/// The file: the module, and a test that fails when its sources are newer.
fn file(
    args: &BindArgs,
    kernels: &bind::Kernels,
    map: &SourceMap,
    sources: &[Source],
    ptx: &[PtxText],
) -> Result<String, Failure> {
    let folder = args.output.as_deref().and_then(Path::parent);
    let mut texts = Vec::new();
    let mut current = String::new();
    for source in sources {
        let path = from_folder(&source.name, folder.unwrap_or(Path::new("")))?;
        texts.push(Text {
            name: source.name.clone(),
            start: (1, 1),
            expression: format!("include_str!({path:?})"),
        });
        current += &format!(
            "            ({:?}, include_bytes!({path:?}), {:#018x}),\n",
            source.name,
            fingerprint(source.text.as_bytes())
        );
    }
    let command = command(args);
    let items = kernels.items(map, &texts, ptx);
    Ok(format!(
        "// Made by `{command}`: change the kernels, not this file.

{items}
#[cfg(test)]
mod tests {{
    #[test]
    fn the_module_is_as_new_as_its_kernels() {{
        let sources: &[(&str, &[u8], u64)] = &[
{current}        ];
        ::dslc::embed::assert_current(sources, {command:?});
    }}
}}
"
    ))
}

/// The command that makes the file again.
fn command(args: &BindArgs) -> String {
    let mut words = vec![
        "dslc bind".to_string(),
        args.source.file.display().to_string(),
    ];
    words.extend(
        args.source
            .defines
            .iter()
            .map(|define| format!("-D {define}")),
    );
    words.extend(
        args.source
            .include
            .iter()
            .map(|folder| format!("-I {}", folder.display())),
    );
    if !args.source.fmad {
        words.push("--fmad false".to_string());
    }
    words.extend(
        args.kernel
            .iter()
            .map(|kernel| format!("--kernel '{kernel}'")),
    );
    if !args.ptx.is_empty() {
        words.push(format!("--ptx {}", args.ptx.join(",")));
    }
    words.extend(
        args.output
            .iter()
            .map(|output| format!("-o {}", output.display())),
    );
    words.join(" ")
}

/// The path of a file relative to a folder. Both are given relative to the working folder.
fn from_folder(file: &str, folder: &Path) -> Result<String, Failure> {
    let absolute = |path: &Path| -> Result<Vec<String>, Failure> {
        let path = std::path::absolute(path)?;
        let mut parts: Vec<String> = Vec::new();
        for part in path.components() {
            match part {
                Component::ParentDir => {
                    parts.pop();
                }
                Component::CurDir => {}
                part => parts.push(part.as_os_str().to_string_lossy().into_owned()),
            }
        }
        Ok(parts)
    };
    let folder = if folder.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        folder.to_path_buf()
    };
    let (file, folder) = (absolute(Path::new(file))?, absolute(&folder)?);
    let same = file.iter().zip(&folder).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folder.len() - same);
    let down = file[same..].iter().map(String::as_str);
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}

fn ptx(arch: &str, ir: &str) -> Result<PtxText, Failure> {
    let arch = Target::parse(arch)?;
    let module = ir::parse(ir)?;
    let options = back_end::Options {
        arch,
        opt_level: 3,
        lines: back_end::Lines::Source,
        llvm: false,
    };
    Ok(PtxText {
        sm: arch.number(),
        expression: raw(&back_end::compile(&module, options)?),
    })
}
