//! Which files an `#include` may read: those below the program's own folder and below the folders of `-I`.
//!
//! Programs are untrusted: running one must not let it read other files of the machine. Each path is checked twice. The first check is by
//! its text, before any look-up, so that a program does not even learn which files exist elsewhere. The second is by the file system, which
//! resolves symbolic links.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    fs,
    path::{Component, Path, PathBuf},
};

use ir::source::{Included, Loader};

use crate::{
    failure::reason,
    files::{self, TEXT_BYTES, is_of_shell, normalized},
};

/// Reads files next to the including one, then in the `-I` folders.
pub(crate) struct Files {
    folders: Vec<PathBuf>,
    /// The program's folder and the `-I` folders, as the file system resolves them.
    roots: Vec<PathBuf>,
    /// The same folders as the user wrote them, too.
    spelled: Vec<PathBuf>,
    /// The files that were read, the program first.
    read: RefCell<Vec<PathBuf>>,
    /// The bytes that may still be read.
    left: Cell<u64>,
}

/// What a path leads to.
enum Place {
    Inside,
    /// Nothing exists there.
    Nothing,
    /// The path's text leads elsewhere. The file was not looked up.
    Outside(String),
    /// It may not be read, for this reason.
    Refused(String),
}

impl Files {
    /// The files of a program, with the folders of `-I`.
    pub(crate) fn new(program: &Path, folders: &[PathBuf]) -> Files {
        let own = (!is_of_shell(program)).then(|| folder_of(program).to_path_buf());
        let wanted: Vec<PathBuf> = own.into_iter().chain(folders.iter().cloned()).collect();
        let known = |folder: &PathBuf| fs::canonicalize(in_words(folder)).ok();
        let spelled = |folder: &PathBuf| std::path::absolute(in_words(folder)).ok();
        let roots: Vec<PathBuf> = wanted.iter().filter_map(known).collect();
        let as_written = wanted.iter().filter_map(spelled);
        let as_written = as_written.map(|folder| normalized(&folder));
        Files {
            folders: folders.to_vec(),
            spelled: as_written.chain(roots.iter().cloned()).collect(),
            roots,
            read: RefCell::default(),
            left: Cell::new(TEXT_BYTES),
        }
    }

    /// The text of the program itself, which may also come through a pipe. Bytes that are not UTF-8 become U+FFFD, which the lexer reports
    /// with its place.
    pub(crate) fn program(&self, path: &Path) -> Result<String, String> {
        self.text(path, true)
    }

    /// Whether the program may read a file, given as the file system resolves it.
    pub(crate) fn may_read(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// The files that were read, the program first.
    pub(crate) fn into_read(self) -> Vec<PathBuf> {
        self.read.into_inner()
    }

    fn text(&self, path: &Path, pipes: bool) -> Result<String, String> {
        let mut read = self.read.borrow_mut();
        // A repeated include costs nothing: the front end keeps the text.
        let is_known = read.iter().any(|known| known == path);
        let most = if is_known {
            TEXT_BYTES
        } else {
            self.left.get()
        };
        let bytes = files::read(path, pipes, most).map_err(|why| match most {
            TEXT_BYTES => why,
            _ => format!("{why}: a program may have 64 MiB, included files and all"),
        })?;
        if !is_known {
            self.left.set(most - bytes.len() as u64);
            read.push(path.to_path_buf());
        }
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Where `name`, relative to a folder, leads.
    fn place(&self, folder: &Path, name: &str) -> Place {
        let path = folder.join(name);
        let Ok(base) = fs::canonicalize(in_words(folder)) else {
            return Place::Nothing;
        };
        let meant = normalized(&base.join(name));
        if !self.spelled.iter().any(|root| meant.starts_with(root)) {
            let common = match Path::new(name).is_absolute() {
                true => folder_of(&meant).to_path_buf(),
                false => common(&base, folder_of(&meant)),
            };
            return Place::Outside(outside(&common));
        }
        let Ok(facts) = fs::metadata(&path) else {
            return Place::Nothing;
        };
        if facts.is_dir() {
            return Place::Nothing;
        }
        match fs::canonicalize(&path) {
            Ok(file) if self.roots.iter().any(|root| file.starts_with(root)) => Place::Inside,
            Ok(file) => Place::Refused(outside(folder_of(&file))),
            Err(error) => Place::Refused(reason(&error)),
        }
    }
}

impl Loader for Files {
    fn load(&self, name: &str, from: &str) -> Option<Result<Included, String>> {
        // A name in `<...>` is not looked for next to a file, and a pipe has no folder.
        let from =
            Some(Path::new(from)).filter(|from| *from != Path::new("") && !is_of_shell(from));
        let beside = from.map(|from| folder_of(from).to_path_buf());
        let mut refused = None;
        for (index, folder) in beside.iter().chain(&self.folders).enumerate() {
            match self.place(folder, name) {
                Place::Inside => {
                    let path = folder.join(name);
                    let full_name = path.display().to_string();
                    let text = self.text(&path, false);
                    return Some(text.map(|text| Included { full_name, text }));
                }
                // Relative to the other folders a path with `..` may lead anywhere; the first folder is the one that was meant.
                Place::Outside(why) if index == 0 => refused = Some(why),
                Place::Nothing | Place::Outside(_) => {}
                Place::Refused(why) => {
                    refused.get_or_insert(why);
                }
            }
        }
        refused.map(Err)
    }
}

fn outside(folder: &Path) -> String {
    let folder = from_here(folder);
    format!(
        "it is outside the program's folder; to allow it, add `-I {}`",
        folder.display()
    )
}

/// The folder of a file; empty for the working folder.
fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// The folder as a path: `.` for an empty one.
fn in_words(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

/// The deepest folder that contains both; the second one if that is the root.
fn common(one: &Path, other: &Path) -> PathBuf {
    let pairs = one.components().zip(other.components());
    let shared: PathBuf = pairs
        .take_while(|(a, b)| a == b)
        .map(|(part, _)| part)
        .collect();
    match shared.parent() {
        Some(_) => shared,
        None => other.to_path_buf(),
    }
}

/// An absolute path relative to the working folder, if that is shorter.
fn from_here(path: &Path) -> PathBuf {
    let Some(here) = std::env::current_dir().ok() else {
        return path.to_path_buf();
    };
    let same = here
        .components()
        .zip(path.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = here.components().skip(same).map(|_| Component::ParentDir);
    let down = path.components().skip(same);
    let relative: PathBuf = up.chain(down).collect();
    match relative.components().count() < path.components().count() {
        true => in_words(&relative).to_path_buf(),
        false => path.to_path_buf(),
    }
}

/// Most files of a program that are read.
const MOST_FILES: usize = 1000;

/// The texts of a program and of the included files next to it, with their names, whatever conditions they are under. Unreadable files are
/// reported when the program is compiled.
pub(crate) fn texts(path: &Path, include: &[PathBuf]) -> Vec<(String, String)> {
    let loader = Files::new(path, include);
    let Ok(text) = loader.program(path) else {
        return vec![];
    };
    let mut all = vec![(path.display().to_string(), text)];
    let mut known: HashSet<String> = HashSet::new();
    let mut at = 0;
    while at < all.len() && all.len() < MOST_FILES {
        let (from, text) = all[at].clone();
        for name in text.lines().filter_map(included) {
            if let Some(Ok(found)) = loader.load(name, &from)
                && known.insert(found.full_name.clone())
            {
                all.push((found.full_name, found.text));
            }
        }
        at += 1;
    }
    all
}

/// `#include "name"`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start();
    rest.strip_prefix('"')?.split('"').next()
}
