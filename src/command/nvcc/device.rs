//! Compiles the device part of a source: the front end compiles the kernels, and they are put into the object that clang made of the host
//! part.

use std::{
    cell::RefCell,
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use ir::{
    Loc, Module,
    diagnostic::{Diagnostic, Severity},
    image::{Image, Unknown},
    locate::is_library,
    source::{Included, Loader, SourceFile, SourceMap},
    target::Target,
};
use object::Object;

use super::{
    Job,
    args::{KernelFile, Kind, Options},
    clang,
    found::found,
    functors,
    link::carry_sources,
    names,
    names::Wanted,
    spaced,
};
use crate::{
    args::SourceArgs,
    back_end,
    failure::{Failure, reason},
    output, source,
};

/// The default of `__CUDA_ARCH__`.
pub(super) const DEFAULT_ARCH: u32 = 90;

/// Reads a source's includes: next to the source first, then in the folders of `-I`.
pub(super) struct Reader<'a> {
    folders: &'a [PathBuf],
    pub(super) read: RefCell<Vec<(String, String)>>,
}

impl Loader for Reader<'_> {
    fn load(&self, name: &str, from: &str) -> Option<Result<Included, String>> {
        let beside = Path::new(from).parent().filter(|_| !from.is_empty());
        let folders = beside
            .into_iter()
            .chain(self.folders.iter().map(PathBuf::as_path));
        let path = folders
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())?;
        let full_name = path.display().to_string();
        Some(text_of(&path).map(|text| {
            self.read
                .borrow_mut()
                .push((full_name.clone(), text.clone()));
            Included { full_name, text }
        }))
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|why| reason(&why))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Compiles a CUDA source into an object.
pub(super) fn compile(job: &mut Job<'_>, source: &Path, object: &Path) -> Result<u8, Failure> {
    let text = text_of(source)
        .map_err(|why| Failure::new(format!("cannot read `{}`: {why}", source.display())))?;
    let reader = Reader {
        folders: &job.options.include,
        read: RefCell::default(),
    };
    let name = source.display().to_string();
    let managed = managed(&name, &text, job.options, &reader);
    let code = host_part(job, source, object, &managed, &[0; 16])?;
    if code != 0 {
        return Ok(code);
    }
    let wanted = fs::read(object)
        .map_err(Failure::from)
        .and_then(|bytes| Ok(names::kernels(&bytes)?))?;
    if job.options.is_relocatable {
        // The program's own variables are visible to all objects.
        let code = hide_variables(object, &[])?;
        if code != 0 {
            return Ok(code);
        }
        return carry_sources(job, &name, text, &reader, object);
    }
    if wanted.is_empty() && managed.is_empty() && !registers(object)? {
        // The source has no device code.
        return Ok(0);
    }
    let code = hide_variables(object, &managed)?;
    if code != 0 {
        return Ok(code);
    }
    let options = front_end(job.options, asked_for(&wanted));
    let mut image = compiled(job, &name, (name.clone(), text), &wanted, &options, &reader)?;
    image.notes.push(("source".to_string(), identity(&name)));
    note_variables(&mut image, &fs::read(object)?)?;
    if job
        .options
        .clang
        .compiling
        .iter()
        .any(|word| word.starts_with("-fsanitize"))
    {
        // A sanitizer knows the size of the room for the image: it has to be exactly the image's size.
        let code = host_part(job, source, object, &managed, &image.to_bytes())?;
        return match code {
            0 => hide_variables(object, &managed),
            code => Ok(code),
        };
    }
    put(job, object, &["--update-section", ".nv_fatbin"], &image)
}

/// Writes only the kernels of a source, for programs that load them with the driver's functions: either PTX with the image in its comments,
/// or the image itself. The host part is still compiled, because it determines the kernels' names.
pub(super) fn kernels(
    job: &mut Job<'_>,
    source: &Path,
    output: &Path,
    file: KernelFile,
) -> Result<u8, Failure> {
    let text = text_of(source)
        .map_err(|why| Failure::new(format!("cannot read `{}`: {why}", source.display())))?;
    let reader = Reader {
        folders: &job.options.include,
        read: RefCell::default(),
    };
    let object = job.folder.join("kernels.o");
    let code = host_part(job, source, &object, &[], &[0; 16])?;
    if code != 0 {
        return Ok(code);
    }
    let wanted = names::kernels(&fs::read(&object)?)?;
    let name = source.display().to_string();
    let options = front_end(job.options, asked_for(&wanted));
    let image = compiled(job, &name, (name.clone(), text), &wanted, &options, &reader)?;
    let bytes = match file {
        KernelFile::Ptx => ptx_file(&image).into_bytes(),
        KernelFile::Cubin | KernelFile::Fatbin => image.to_bytes(),
    };
    fs::write(output, bytes)
        .map_err(|why| Failure::new(format!("cannot write `{}`: {why}", output.display())))?;
    Ok(0)
}

/// An image as PTX, with the names that the host compiler gives kernels, and with the image in its comments.
fn ptx_file(image: &Image) -> String {
    let mut text = match image.ptx.first() {
        Some((_, ptx)) => ptx.clone(),
        None => {
            let why = image.notes("no-ptx").next().unwrap_or("it has no kernels");
            format!("// There is no PTX, so that only dslc's simulator runs it: {why}\n")
        }
    };
    if let Ok(module) = ir::parse(&image.ir) {
        let ids: Vec<_> = module.kernels().map(|(id, _)| id).collect();
        for kernel in &image.kernels {
            if let Some(id) = ids.get(kernel.index) {
                let symbol = ir::symbol::kernel_symbol(&module, *id);
                text = text.replace(
                    &format!(".entry {symbol}("),
                    &format!(".entry {}(", kernel.mangled),
                );
            }
        }
    }
    text + &image.to_comments()
}

/// Notes which variables the object's mangled names mean, for instances of templates.
pub(super) fn note_variables(image: &mut Image, object: &[u8]) -> Result<(), Failure> {
    let notes = names::variables(object)?.into_iter();
    let notes = notes.map(|(mangled, name)| ("variable".to_string(), format!("{mangled} {name}")));
    image.notes.extend(notes);
    Ok(())
}

/// Whether the object has room for an image, because it has kernels or device variables.
fn registers(object: &Path) -> Result<bool, Failure> {
    let bytes = fs::read(object)?;
    let file = object::File::parse(&*bytes)?;
    Ok(file.section_by_name(".nv_fatbin").is_some())
}

/// A hash that distinguishes a source from the program's other sources.
pub(super) fn identity(name: &str) -> String {
    let path = std::path::absolute(name).unwrap_or_else(|_| name.into());
    format!(
        "{:016x}",
        ir::source::fingerprint(path.as_os_str().as_encoded_bytes())
    )
}

/// The `__managed__` variables of a source. The host compiler treats them as host variables, and the runtime has to know their addresses.
fn managed(name: &str, text: &str, options: &Options, reader: &Reader<'_>) -> Vec<String> {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(name, text));
    let has_word = |text: &str| text.contains("__managed__");
    // Most programs have none; those are not parsed twice.
    let survey =
        |map: &mut SourceMap| dsl::survey(map, file, &front_end(options, Vec::new()), reader);
    if !has_word(text) && !text.contains("#include \"") {
        return Vec::new();
    }
    if !has_word(text) {
        let mut probe = map.clone();
        let _ = survey(&mut probe);
        if !probe
            .files()
            .any(|(_, file)| !is_library(&file.name) && has_word(&file.text))
        {
            return Vec::new();
        }
    }
    let found = survey(&mut map).module;
    let globals = found.map(|module| module.globals).unwrap_or_default();
    let managed = globals
        .into_iter()
        .filter(|global| global.space == ir::GlobalSpace::Managed);
    managed.map(|global| global.name).collect()
}

/// Runs clang for the host part, with room for the kernels.
fn host_part(
    job: &Job<'_>,
    source: &Path,
    object: &Path,
    managed: &[String],
    bytes: &[u8],
) -> Result<u8, Failure> {
    let room = job.folder.join("room");
    fs::write(&room, bytes)?;
    let mut command = job.clang.host(job.options, Kind::Cuda);
    let is_relocatable = job.options.is_relocatable;
    if !is_relocatable {
        command
            .args(["-Xclang", "-fcuda-include-gpubinary", "-Xclang"])
            .arg(&room);
    }
    let written = text_of(source).map_err(Failure::new)?;
    let text = spaced::join(&written);
    let uses_thrust = text.contains("<thrust/");
    if managed.is_empty() && !uses_thrust && text == written {
        command.arg("-c").arg(source);
    } else {
        let mut text = of_host(&text);
        if uses_thrust {
            text = functors::for_both(&text);
        }
        text = format!("#line 1 \"{}\"\n{text}\n", source.display());
        if !managed.is_empty() {
            // An array of unknown length has no size here; the source that defines it has.
            text += "namespace { template <typename T, unsigned long N = sizeof(T)> unsigned long __dslc_bytes(T &) { return N; }\n\
                     inline unsigned long __dslc_bytes(...) { return 0; }\n\
                     struct __dslc_managed { __dslc_managed() {\n";
            for name in managed {
                let id = identity(&source.display().to_string());
                text += &format!(
                    "__dslcRegisterManaged(\"{id}\", \"{name}\", (void *)&::{name}, __dslc_bytes(::{name}));\n"
                );
            }
            text += "} } __dslc_managed_variables; }\n";
        }
        let copy = job.folder.join("copy.cu");
        fs::write(&copy, text)?;
        if let Some(folder) = source.parent() {
            command
                .arg("-iquote")
                .arg(match folder.as_os_str().is_empty() {
                    true => Path::new("."),
                    false => folder,
                });
        }
        command.arg("-c").arg(copy);
    }
    command.arg("-o").arg(object);
    clang::status(&mut command)
}

/// `__device__ __managed__` variables belong to the host: removes the first word.
fn of_host(text: &str) -> String {
    const WORDS: [&str; 2] = ["__device__", "__managed__"];
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = WORDS.iter().filter_map(|word| rest.find(word)).min() {
        let (before, behind) = rest.split_at(at);
        out += before;
        let [device, managed] = WORDS;
        let first = if behind.starts_with(device) {
            device
        } else {
            managed
        };
        let second = if first == device { managed } else { device };
        let after = &behind[first.len()..];
        let space = after.len() - after.trim_start().len();
        if space > 0 && after[space..].starts_with(second) {
            // Lines and columns do not change.
            out += &" ".repeat(first.len());
            out += &after[..space];
            out += &" ".repeat(second.len());
            rest = &after[space + second.len()..];
        } else {
            out += first;
            rest = after;
        }
    }
    out + rest
}

pub(super) fn front_end(options: &Options, instances: Vec<String>) -> dsl::Options {
    let mut defines = options.defines.clone();
    let known = ["__CUDACC__", "__NVCC__"].map(|name| (name.to_string(), Some("1".to_string())));
    defines.extend(known);
    dsl::Options {
        defines,
        cuda_arch: 10 * options.arch.unwrap_or(DEFAULT_ARCH),
        fmad: options.contracts,
        instances,
        ..dsl::Options::default()
    }
}

/// The instances of templates that the host part launches. An instance for a lambda is found where the host code launches it: no request
/// can name it.
pub(super) fn asked_for(wanted: &[Wanted]) -> Vec<String> {
    let instances = wanted
        .iter()
        .filter(|wanted| wanted.is_instance() && !wanted.of_lambda());
    instances.map(|wanted| wanted.name.clone()).collect()
}

/// Compiles the kernels that the host part launches; reports name them as kernels of `program`.
pub(super) fn compiled(
    job: &Job<'_>,
    program: &str,
    (name, text): (String, String),
    wanted: &[Wanted],
    options: &dsl::Options,
    loader: &dyn Loader,
) -> Result<Image, Failure> {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(name, text));
    let survey = dsl::survey(&mut map, file, options, loader);
    let mut image = Image::default();
    let mut reasons = Vec::new();
    for one in wanted {
        match found(one, wanted, options, &survey, &map) {
            Ok(kernel) => image.kernels.push(kernel),
            Err(why) => {
                image.unknown.push(Unknown {
                    mangled: one.mangled.clone(),
                    reason: why.message.clone(),
                });
                if !reasons.contains(&why) {
                    reasons.push(why);
                }
            }
        }
    }
    let mut module = survey.module.unwrap_or_default();
    through_clang(program, job.options, options, &mut module, &mut image);
    reasons.retain(|_| !image.unknown.is_empty());
    warn_not_understood(job, &reasons, &image, &map);
    if let Some(arch) = job.options.arch {
        image.notes.push(("arch".to_string(), arch.to_string()));
    }
    module.name = program.to_string();
    let own = map.files().filter(|(_, file)| !is_library(&file.name));
    let own: HashSet<(String, String)> = own
        .map(|(_, file)| (file.name.clone(), file.text.to_string()))
        .collect();
    image.files = own.into_iter().collect();
    image.files.sort();
    add_calls(&mut module, &image.files);
    image.ir = ir::print(&module);
    add_ptx(&mut image, &module, job.options);
    Ok(image)
}

/// Has clang compile the kernels that are not understood.
fn through_clang(
    program: &str,
    nvcc: &Options,
    options: &dsl::Options,
    module: &mut Module,
    image: &mut Image,
) {
    let define = |(name, value): &(String, Option<String>)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.clone(),
    };
    let args = SourceArgs {
        file: PathBuf::from(program),
        defines: nvcc.defines.iter().map(define).collect(),
        include: nvcc.include.clone(),
        fmad: options.fmad,
        ..SourceArgs::default()
    };
    if image.unknown.is_empty() || !source::is_asked(&args) {
        return;
    }
    let made = match source::clang::ptx(&args, options.cuda_arch / 10, &[]) {
        Ok(made) => made,
        Err(why) => {
            output::err(&format!("dslc nvcc: clang makes no PTX: {why}\n"));
            return;
        }
    };
    let joined = |entry: &str| match image.unknown.iter().any(|one| one.mangled == entry) {
        true => ptx::Joined::Added,
        false => ptx::Joined::LeftOut,
    };
    let before = module.clone();
    let kernels = match source::clang::join(&made, module, &joined) {
        Ok(kernels) if ir::verify(module).is_ok() => kernels,
        _ => {
            *module = before;
            return;
        }
    };
    let mut of_clang = source::OfClang::of(&made);
    of_clang.add(&kernels);
    for kernel in &kernels.all {
        if source::clang::has_left_out(&kernels, &kernel.entry) {
            continue;
        }
        image.unknown.retain(|one| one.mangled != kernel.entry);
        let name = module.function(kernel.id).name.clone();
        let index = module.kernels().position(|(id, _)| id == kernel.id);
        of_clang.kernels.push(name.clone());
        image.kernels.push(ir::image::Kernel {
            mangled: kernel.entry.clone(),
            index: index.unwrap_or_default(),
            params: kernel.params.clone(),
            name,
        });
    }
    for line in of_clang.lines() {
        output::err(&format!("dslc nvcc: {line}\n"));
    }
}

/// Warns about kernels that are not understood. This is not an error, because the program may never launch them.
fn warn_not_understood(job: &Job<'_>, reasons: &[Box<Diagnostic>], image: &Image, map: &SourceMap) {
    if reasons.is_empty() {
        return;
    }
    let warnings: Vec<Diagnostic> = reasons
        .iter()
        .map(|why| why.as_ref().clone().as_warning())
        .collect();
    source::show(&warnings, map, job.color, Severity::Warning);
    let names: Vec<&str> = image
        .unknown
        .iter()
        .map(|one| one.mangled.as_str())
        .collect();
    output::err(&format!(
        "dslc nvcc: not understood, so that launching it ends the program: {}\n",
        names.join(", ")
    ));
}

/// Adds the code for GPUs, if this build can make it. A program without it runs only on the simulator, and gives the reason when asked to
/// run on a GPU.
fn add_ptx(image: &mut Image, module: &Module, options: &Options) {
    if image.kernels.is_empty() {
        return;
    }
    let sm = options.arch.unwrap_or(DEFAULT_ARCH);
    match ptx(module, sm) {
        Ok(text) => image.ptx.push((sm, text)),
        Err(why) => image.notes.push(("no-ptx".to_string(), why)),
    }
}

fn ptx(module: &Module, sm: u32) -> Result<String, String> {
    let options = back_end::Options {
        arch: Target::parse(&format!("sm_{sm}")).map_err(|why| why.to_string())?,
        opt_level: 3,
        lines: back_end::Lines::None,
        llvm: false,
    };
    back_end::compile(module, options).map_err(|why| why.to_string())
}

/// The beginnings of statements that a report may mention: launches, and calls that pass their line on (`cuda_runtime.h`).
const CALLS: [&str; 5] = [
    "<<<",
    "cudaMemcpy",
    "cudaMemset",
    "cudaFreeAsync",
    "cudaMallocAsync",
];

/// Gives the launches and calls of the host code places in the module, so that reports name their lines.
fn add_calls(module: &mut Module, files: &[(String, String)]) {
    for (name, text) in files {
        let known = module.files.iter().position(|file| file == name);
        let mut number = known;
        for (line, words) in text.lines().enumerate() {
            let Some(column) = CALLS.iter().find_map(|call| words.find(call)) else {
                continue;
            };
            let file = *number.get_or_insert_with(|| {
                module.files.push(name.clone());
                module.files.len() - 1
            });
            module.locs.push(Loc {
                file: file as u32,
                line: line as u32 + 1,
                column: column as u32 + 1,
                ..Loc::default()
            });
        }
    }
}

/// Puts the image into an object.
pub(super) fn put(
    job: &Job<'_>,
    object: &Path,
    how: &[&str],
    image: &Image,
) -> Result<u8, Failure> {
    let file = job.folder.join("image");
    fs::write(&file, image.to_bytes())?;
    let mut command = Command::new(objcopy()?);
    let Some((option, section)) = how.split_first() else {
        return Ok(0);
    };
    let section = section.first().copied().unwrap_or_default();
    command
        .arg(option)
        .arg(format!("{section}={}", file.display()))
        .arg(object);
    clang::status(&mut command)
}

/// In nvcc's whole-program mode each object has its own device variables: a header may define one for several sources. With separate
/// compilation this holds only for the library's variables.
fn hide_variables(object: &Path, managed: &[String]) -> Result<u8, Failure> {
    let visible = names::visible_variables(&fs::read(object)?, managed)?;
    if visible.is_empty() {
        return Ok(0);
    }
    let mut command = Command::new(objcopy()?);
    let names = visible.iter();
    command
        .args(names.map(|name| format!("--localize-symbol={name}")))
        .arg(object);
    clang::status(&mut command)
}

fn objcopy() -> Result<PathBuf, Failure> {
    let names = ["objcopy", "llvm-objcopy", "llvm-objcopy-22"];
    let found = names.iter().find_map(|name| clang::in_path(name));
    found.ok_or_else(|| {
        Failure::new("objcopy not found: it puts the kernels into objects; install binutils")
    })
}
