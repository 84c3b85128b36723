//! Separate compilation: objects carry the sources of their device code, and the link compiles them all as one program.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dsl::survey::OwnName;
use ir::{
    image::Image,
    source::{Included, Loader, SourceFile, SourceMap},
};
use object::{Object, ObjectSection};

use super::{
    Job, clang,
    device::{Reader, asked_for, compiled, front_end, identity, note_variables, put},
    names,
    names::Wanted,
};
use crate::failure::Failure;

/// The section of an object that has its sources.
const SECTION: &str = ".dslc_device";

/// The section that marks the object of a device link.
const LINKED: &str = ".dslc_linked";

/// The name of the root file of a program of several sources.
const JOINED: &str = "<device code of all objects>";

/// The result of [`link`].
pub(super) enum Linked {
    /// There is nothing to link.
    Nothing,
    /// The object was written.
    Made,
    /// It failed, and the error was shown.
    Failed(u8),
}

/// Reads the sources that objects carry, as they were when the objects were compiled.
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

/// Puts its sources into an object of separate compilation: functions that a kernel calls may be in another object.
pub(super) fn carry_sources(
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
    note("source", identity(name));
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
    let mut objects = Vec::new();
    let mut variables = Image::default();
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
            objects.push((names::kernels(member)?, names::own_variables(&file)));
            note_variables(&mut variables, member)?;
        }
    }
    if images.is_empty() {
        return Ok(Linked::Nothing);
    }
    let (root, carried) = joined(&images);
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(JOINED, root.clone()));
    let mains: Vec<String> = images
        .iter()
        .flat_map(|image| image.notes("main"))
        .map(str::to_string)
        .collect();
    let mut options = front_end(job.options, Vec::new());
    let own = dsl::survey::own_names(&mut map, file, &options, &carried, &mains);
    let mut wanted: Vec<Wanted> = Vec::new();
    for (image, (kernels, own_variables)) in images.iter().zip(objects) {
        let is_its = |one: &&OwnName| image.notes("main").any(|main| main == one.source);
        let its: Vec<&OwnName> = own.iter().filter(is_its).collect();
        wanted.extend(
            kernels
                .into_iter()
                .map(|kernel| kernel.with_own_names(&its)),
        );
        let meant = own_variables.into_iter().filter_map(|(registered, name)| {
            let own = its.iter().find(|one| *one.name == *name)?;
            Some((
                "variable".to_string(),
                format!("{registered} {}", own.unique),
            ))
        });
        variables.notes.extend(meant);
    }
    (options.instances, options.own_names) = (asked_for(&wanted), own);
    let program = mains.first().map_or(JOINED, String::as_str);
    let text = (JOINED.to_string(), root);
    let mut image = compiled(job, program, text, &wanted, &options, &carried)?;
    // The objects register their `__managed__` variables under these names.
    let sources = images.iter().flat_map(|image| image.notes("source"));
    let sources = sources.map(|id| ("source".to_string(), id.to_string()));
    image.notes.extend(sources);
    image.notes.extend(variables.notes);
    let code = registration(job, &image, output)?;
    Ok(if code == 0 {
        Linked::Made
    } else {
        Linked::Failed(code)
    })
}

/// The text that includes the sources of all objects, and the files for it.
fn joined(images: &[Image]) -> (String, Carried) {
    let mut root = String::new();
    let mut carried = Carried {
        folders: Vec::new(),
        files: Vec::new(),
    };
    for image in images {
        let defines: Vec<&str> = image.notes("define").collect();
        for define in &defines {
            root += &format!("#define {define}\n");
        }
        for main in image.notes("main") {
            root += &format!("#include \"{main}\"\n");
            // A source's macros end with the source.
            for name in macros(image, main) {
                root += &format!("#undef {name}\n");
            }
        }
        for define in &defines {
            root += &format!("#undef {}\n", define.split(' ').next().unwrap_or_default());
        }
        carried
            .folders
            .extend(image.notes("include").map(PathBuf::from));
        carried.files.extend(image.files.iter().cloned());
    }
    (root, carried)
}

/// The macros that a source itself defines.
fn macros(image: &Image, main: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (_, text) in image.files.iter().filter(|(name, _)| name == main) {
        let words = dsl::syntax::words(&SourceFile::new(main, text.as_str()));
        let word = |at: usize| words.get(at).map(|word| &text[word.range.clone()]);
        for (at, first) in words.iter().enumerate() {
            if first.starts_line && word(at) == Some("#") && word(at + 1) == Some("define") {
                found.extend(word(at + 2).map(str::to_string));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The objects in an archive, or the object itself.
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

/// Makes an object that registers the kernels and variables of all objects before `main`: clang lists them in a separate section.
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
