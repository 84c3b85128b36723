//! The device part of a source: its kernels are compiled by the front end, and put into the object that clang made of the host's part.

use std::{
    cell::RefCell,
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use dsl::{
    Survey,
    diagnostic::{Diagnostic, Severity},
    image::{Image, Kernel, Unknown},
    ir::{Loc, Module, locate::is_library},
    lower::{scalars, written},
    sema::typed::{Function, FunctionId, FunctionSpace},
    source::{Included, Loader, SourceFile, SourceMap},
};
use object::{Object, ObjectSection};

use super::{
    Job,
    args::{Kind, Options},
    clang, names,
    names::Wanted,
};
use crate::{
    failure::{Failure, reason},
    output, source,
};

/// The section in which an object of separate compilation carries its sources.
const SECTION: &str = ".dslc_device";

/// The section that marks the object of a device link.
const LINKED: &str = ".dslc_linked";

/// The root of a program of several sources.
const JOINED: &str = "<device code of all objects>";

/// `__CUDA_ARCH__` when nothing says it.
const DEFAULT_ARCH: u32 = 90;

/// What [`link`] did.
pub(super) enum Linked {
    /// There is nothing to link.
    Nothing,
    /// The object was written.
    Made,
    /// It failed, and said why.
    Failed(u8),
}

/// Reads what a source includes: beside it, then in the folders of `-I`.
struct Reader<'a> {
    folders: &'a [PathBuf],
    read: RefCell<Vec<(String, String)>>,
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

/// Gives what objects carry, as it was found when they were compiled.
struct Carried {
    folders: Vec<PathBuf>,
    files: Vec<(String, String)>,
}

impl Loader for Carried {
    fn load(&self, name: &str, from: &str) -> Option<Result<Included, String>> {
        let beside = Path::new(from).parent().map(Path::to_path_buf);
        let folders = beside.into_iter().chain(self.folders.iter().cloned());
        let mut paths = folders.map(|folder| folder.join(name).display().to_string());
        let found = paths.find_map(|path| self.files.iter().find(|(known, _)| *known == path));
        found.map(|(full_name, text)| {
            Ok(Included {
                full_name: full_name.clone(),
                text: text.clone(),
            })
        })
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
    let code = host_part(job, source, object, &managed)?;
    if code != 0 {
        return Ok(code);
    }
    let wanted = fs::read(object)
        .map_err(Failure::from)
        .and_then(|bytes| Ok(names::kernels(&bytes)?))?;
    if job.options.is_relocatable {
        return carry_sources(job, &name, text, &reader, object);
    }
    if wanted.is_empty() && managed.is_empty() && !registers(object)? {
        // Nothing here runs on a device.
        return Ok(0);
    }
    let mut image = compiled(job, (name.clone(), text), &wanted, &reader)?;
    image.notes.push(("source".to_string(), identity(&name)));
    put(job, object, &["--update-section", ".nv_fatbin"], &image)
}

/// Whether the object has room for an image: kernels or variables of the device.
fn registers(object: &Path) -> Result<bool, Failure> {
    let bytes = fs::read(object)?;
    let file = object::File::parse(&*bytes)?;
    Ok(file.section_by_name(".nv_fatbin").is_some())
}

/// What tells a source from the others of a program.
fn identity(name: &str) -> String {
    let path = std::path::absolute(name).unwrap_or_else(|_| name.into());
    format!(
        "{:016x}",
        dsl::source::fingerprint(path.as_os_str().as_encoded_bytes())
    )
}

/// The `__managed__` variables of a source: the host's compiler takes them for variables of the host, and the runtime has to know where
/// they are.
fn managed(name: &str, text: &str, options: &Options, reader: &Reader<'_>) -> Vec<String> {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(name, text));
    let has_word = |text: &str| text.contains("__managed__");
    // Most programs have none: they are not read twice.
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
        .filter(|global| global.space == dsl::ir::GlobalSpace::Managed);
    managed.map(|global| global.name).collect()
}

/// Has clang compile the host's part, with room for the kernels.
fn host_part(
    job: &Job<'_>,
    source: &Path,
    object: &Path,
    managed: &[String],
) -> Result<u8, Failure> {
    let room = job.folder.join("room");
    fs::write(&room, [0; 16])?;
    let mut command = job.clang.host(job.options, Kind::Cuda);
    let is_relocatable = job.options.is_relocatable;
    if !is_relocatable {
        command
            .args(["-Xclang", "-fcuda-include-gpubinary", "-Xclang"])
            .arg(&room);
    }
    if managed.is_empty() {
        command.arg("-c").arg(source);
    } else {
        let text = text_of(source).map_err(Failure::new)?;
        let mut text = format!("#line 1 \"{}\"\n{}\n", source.display(), of_host(&text));
        text += "namespace { struct __dslc_managed { __dslc_managed() {\n";
        for name in managed {
            let id = identity(&source.display().to_string());
            text += &format!("__dslcRegisterManaged(\"{id}\", \"{name}\", (void *)&::{name});\n");
        }
        text += "} } __dslc_managed_variables; }\n";
        let copy = job.folder.join("managed.cu");
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

/// `__device__ __managed__` variables are the host's: the first word goes.
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
            // Lines and columns stay.
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

fn front_end(options: &Options, instances: Vec<String>) -> dsl::Options {
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

/// The kernels that the host's part launches.
fn compiled(
    job: &Job<'_>,
    (name, text): (String, String),
    wanted: &[Wanted],
    loader: &dyn Loader,
) -> Result<Image, Failure> {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(name, text));
    // What a lambda makes is found where the host's code launches it: no request can name it.
    let instances = wanted
        .iter()
        .filter(|wanted| wanted.is_instance() && !wanted.of_lambda());
    let instances: Vec<String> = instances.map(|wanted| wanted.name.clone()).collect();
    let options = front_end(job.options, instances);
    let survey = dsl::survey(&mut map, file, &options, loader);
    let mut image = Image::default();
    let mut said = Vec::new();
    for one in wanted {
        match found(one, wanted, &options, &survey, &map) {
            Ok(kernel) => image.kernels.push(kernel),
            Err(why) => {
                image.unknown.push(Unknown {
                    mangled: one.mangled.clone(),
                    reason: why.message.clone(),
                });
                if !said.contains(&why) {
                    said.push(why);
                }
            }
        }
    }
    tell(job, &said, &image, &map);
    if let Some(arch) = job.options.arch {
        image.notes.push(("arch".to_string(), arch.to_string()));
    }
    let mut module = survey.module.unwrap_or_default();
    let own = map.files().filter(|(_, file)| !is_library(&file.name));
    let own: HashSet<(String, String)> = own
        .map(|(_, file)| (file.name.clone(), file.text.to_string()))
        .collect();
    image.files = own.into_iter().collect();
    image.files.sort();
    add_launches(&mut module, &image.files);
    image.ir = dsl::ir::print(&module);
    Ok(image)
}

/// Says which kernels are not understood: warnings, since what is not launched does no harm.
fn tell(job: &Job<'_>, said: &[Diagnostic], image: &Image, map: &SourceMap) {
    if said.is_empty() {
        return;
    }
    let warnings: Vec<Diagnostic> = said.iter().cloned().map(Diagnostic::as_warning).collect();
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

/// The launches of the host's code get places in the module, so that reports name their lines.
fn add_launches(module: &mut Module, files: &[(String, String)]) {
    for (name, text) in files {
        let known = module.files.iter().position(|file| file == name);
        let mut number = known;
        for (line, words) in text.lines().enumerate() {
            let Some(column) = words.find("<<<") else {
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

/// The kernel of that name, or why there is none.
fn found(
    wanted: &Wanted,
    all: &[Wanted],
    options: &dsl::Options,
    survey: &Survey,
    map: &SourceMap,
) -> Result<Kernel, Diagnostic> {
    let kernels: Vec<(FunctionId, &Function)> = (0..)
        .map(FunctionId)
        .zip(&survey.program.functions)
        .filter(|(_, function)| function.space == FunctionSpace::Kernel && function.body.is_some())
        .collect();
    let asked = |id: FunctionId| {
        let mut requested = survey.program.requested.iter();
        let (span, _) = requested.find(|(_, function)| *function == id)?;
        let line = map.file(span.file).line_column(span.start).0 as usize;
        options.instances.get(line - 1)
    };
    let fits = |(id, function): &(FunctionId, &Function)| match wanted.is_instance() {
        true => asked(*id) == Some(&wanted.name) || same(&function.name, &wanted.name),
        false => same(&function.name, &wanted.name),
    };
    if wanted.of_lambda() {
        return of_lambda(wanted, all, &kernels, survey)
            .map(|index| kernel_at(index, wanted, &kernels, survey))
            .ok_or_else(|| missing(wanted, survey, map));
    }
    let mut candidates: Vec<usize> = (0..kernels.len())
        .filter(|&at| fits(&kernels[at]))
        .collect();
    if candidates.len() > 1 && !wanted.is_instance() {
        let params = |at: usize| {
            let function = kernels[at].1;
            let vars = function.params.iter().map(|&id| &function.vars[id].ty);
            let types: Vec<String> = vars.map(|ty| written(&survey.program, ty)).collect();
            letters(&types.join(","))
        };
        let meant = letters(&wanted.params);
        candidates.retain(|&at| params(at) == meant);
    }
    let &[index] = candidates.as_slice() else {
        return Err(missing(wanted, survey, map));
    };
    if survey.module.is_none() {
        return Err(missing(wanted, survey, map));
    }
    Ok(kernel_at(index, wanted, &kernels, survey))
}

/// A kernel of the program, by its number among the kernels.
fn kernel_at(
    index: usize,
    wanted: &Wanted,
    kernels: &[(FunctionId, &Function)],
    survey: &Survey,
) -> Kernel {
    let function = kernels[index].1;
    let params = function.params.iter().map(|&id| &function.vars[id].ty.ty);
    Kernel {
        mangled: wanted.mangled.clone(),
        index,
        params: params.map(|ty| scalars(&survey.program, ty)).collect(),
        name: function.name.clone(),
    }
}

/// The instance of a kernel template that a lambda makes. Both compilers number a function's lambdas in the order of the source; where
/// they may differ (lambdas of several functions or parameters), there is none.
fn of_lambda(
    wanted: &Wanted,
    all: &[Wanted],
    kernels: &[(FunctionId, &Function)],
    survey: &Survey,
) -> Option<usize> {
    survey.module.as_ref()?;
    let template = wanted.template();
    let mut same: Vec<&Wanted> = all
        .iter()
        .filter(|one| one.of_lambda() && one.template() == template)
        .collect();
    let (place, _) = wanted.lambda()?;
    if same
        .iter()
        .any(|one| one.lambda().is_none_or(|(other, _)| other != place))
    {
        return None;
    }
    same.sort_by_key(|one| one.lambda().map(|(_, number)| number));
    let made: Vec<usize> = (0..kernels.len())
        .filter(|&at| {
            let name = &kernels[at].1.name;
            name.split('<').next() == Some(template) && name.contains("lambda")
        })
        .collect();
    let at = same.iter().position(|one| one.mangled == wanted.mangled)?;
    (made.len() == same.len()).then(|| made[at])
}

/// Why a kernel that the host launches is not there.
fn missing(wanted: &Wanted, survey: &Survey, map: &SourceMap) -> Diagnostic {
    let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_string();
    let template = last(wanted.template());
    let verdicts = survey
        .kernels
        .iter()
        .filter(|verdict| verdict.name == template);
    let mut reasons = verdicts
        .clone()
        .filter_map(|verdict| verdict.reason.clone());
    let errors = survey
        .diagnostics
        .iter()
        .filter(|message| message.severity == Severity::Error);
    let lambda = wanted.name.contains("lambda");
    let place = verdicts.map(|verdict| verdict.span).next();
    reasons
        .next()
        .or_else(|| errors.cloned().next())
        .unwrap_or_else(|| {
            let why = match lambda {
                true => "a lambda as template argument is not supported here",
                false => "there is no such kernel",
            };
            let (file, _) = map.files().next().expect("the source is a file");
            let span = place.unwrap_or(dsl::span::Span::new(file, 0, 0));
            let message = format!("`{}`: {why}", wanted.name);
            Diagnostic::error(dsl::diagnostic::Code::Unsupported, span, message)
        })
}

/// Whether a name of the program is that one.
fn same(known: &str, wanted: &str) -> bool {
    // Overloads have their parameters in their names.
    let known = match known.split_once('(') {
        Some((name, _)) if !name.contains('<') => name,
        _ => known,
    };
    letters(known) == letters(wanted)
}

/// A type's or name's letters in one order: `const float *` and `float const*` are one.
fn letters(text: &str) -> String {
    let types = text.split(',').map(|ty| {
        let is_const = ty.contains("const");
        let rest: String = ty
            .replace("const", "")
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect();
        if is_const {
            format!("{rest}const")
        } else {
            rest
        }
    });
    types.collect::<Vec<String>>().join(",")
}

/// Puts the image into an object.
fn put(job: &Job<'_>, object: &Path, how: &[&str], image: &Image) -> Result<u8, Failure> {
    let file = job.folder.join("image");
    fs::write(&file, image.to_bytes())?;
    let mut command = Command::new(objcopy()?);
    let Some((option, section)) = how.split_first() else {
        return Ok(0);
    };
    let section = section.first().copied().unwrap_or(SECTION);
    command
        .arg(option)
        .arg(format!("{section}={}", file.display()))
        .arg(object);
    clang::status(&mut command)
}

fn objcopy() -> Result<PathBuf, Failure> {
    let names = ["objcopy", "llvm-objcopy", "llvm-objcopy-22"];
    let found = names.iter().find_map(|name| clang::in_path(name));
    found.ok_or_else(|| {
        Failure::new("there is no objcopy to put kernels into objects: install binutils")
    })
}

/// An object of separate compilation carries its sources: what a kernel calls may be in another one.
fn carry_sources(
    job: &Job<'_>,
    name: &str,
    text: String,
    reader: &Reader<'_>,
    object: &Path,
) -> Result<u8, Failure> {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(name, text.clone()));
    let _ = dsl::survey(&mut map, file, &front_end(job.options, Vec::new()), reader);
    let mut image = Image::default();
    let mut files = vec![(name.to_string(), text)];
    files.extend(reader.read.borrow().iter().cloned());
    files.sort();
    files.dedup();
    image.files = files;
    let mut note = |key: &str, value: String| image.notes.push((key.to_string(), value));
    note("main", name.to_string());
    for folder in &job.options.include {
        note("include", folder.display().to_string());
    }
    for (name, value) in &job.options.defines {
        note(
            "define",
            format!("{name} {}", value.as_deref().unwrap_or("1")),
        );
    }
    if let Some(arch) = job.options.arch {
        note("arch", arch.to_string());
    }
    put(job, object, &["--add-section", SECTION], &image)
}

/// Links the device code of objects of separate compilation.
pub(super) fn link(
    job: &mut Job<'_>,
    inputs: &[PathBuf],
    output: &Path,
) -> Result<Linked, Failure> {
    let mut images = Vec::new();
    let mut wanted: Vec<Wanted> = Vec::new();
    for input in inputs {
        let Ok(bytes) = fs::read(input) else {
            continue;
        };
        for member in members(&bytes) {
            let Ok(file) = object::File::parse(member) else {
                continue;
            };
            if file.section_by_name(LINKED).is_some() {
                return Ok(Linked::Nothing);
            }
            let Some(section) = file.section_by_name(SECTION) else {
                continue;
            };
            images.push(Image::from_bytes(section.data()?).map_err(Failure::from)?);
            wanted.extend(names::kernels(member)?);
        }
    }
    if images.is_empty() {
        return Ok(Linked::Nothing);
    }
    let mut root = String::new();
    let mut carried = Carried {
        folders: Vec::new(),
        files: Vec::new(),
    };
    for image in &images {
        let defines: Vec<&str> = image.notes("define").collect();
        for define in &defines {
            root += &format!("#define {define}\n");
        }
        for main in image.notes("main") {
            root += &format!("#include \"{main}\"\n");
        }
        for define in &defines {
            root += &format!("#undef {}\n", define.split(' ').next().unwrap_or_default());
        }
        carried
            .folders
            .extend(image.notes("include").map(PathBuf::from));
        carried.files.extend(image.files.iter().cloned());
    }
    let image = compiled(job, (JOINED.to_string(), root), &wanted, &carried)?;
    let code = registration(job, &image, output)?;
    Ok(if code == 0 {
        Linked::Made
    } else {
        Linked::Failed(code)
    })
}

/// The objects of an archive, or the object itself.
fn members(bytes: &[u8]) -> Vec<&[u8]> {
    match object::read::archive::ArchiveFile::parse(bytes) {
        Ok(archive) => {
            let members = archive.members().filter_map(Result::ok);
            members
                .filter_map(|member| member.data(bytes).ok())
                .collect()
        }
        Err(_) => vec![bytes],
    }
}

/// An object that registers kernels and variables of all objects before `main`: clang lists them in a section of their own.
fn registration(job: &Job<'_>, image: &Image, output: &Path) -> Result<u8, Failure> {
    let data = job.folder.join("linked");
    fs::write(&data, image.to_bytes())?;
    let text = include_str!("register.c").replace("@IMAGE@", &data.display().to_string());
    let source = job.folder.join("register.c");
    fs::write(&source, text)?;
    let mut command = job.clang.plain();
    command
        .args(["-x", "c", "-fPIC", "-c"])
        .arg(source)
        .arg("-o")
        .arg(output);
    clang::status(&mut command)
}
