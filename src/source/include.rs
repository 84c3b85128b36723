//! What an `#include` may read: files below the program's own folder and below the folders of `-I`.
//!
//! A program comes from anybody; that it is run must not mean that it reads what else lies on the machine. Where a path leads is
//! decided twice: by its text before anything is looked up, so that a program does not even learn which files there are elsewhere, and
//! by the file system's own answer, which knows symbolic links.

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

/// Files beside the including one, then in the `-I` folders.
pub(crate) struct Files {
    folders: Vec<PathBuf>,
    /// The program's folder and those, as the file system knows them.
    roots: Vec<PathBuf>,
    /// The same and as the user wrote them.
    spelled: Vec<PathBuf>,
    /// What was read, the program first.
    read: RefCell<Vec<PathBuf>>,
    /// How many bytes may still be read.
    left: Cell<u64>,
}

/// Where a path leads.
enum Place {
    Inside,
    /// There is nothing.
    Nothing,
    /// By its text, elsewhere. What is there was not looked up.
    Outside(String),
    /// It may not be read, and why.
    Refused(String),
}

impl Files {
    /// For a program and the folders of `-I`.
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

    /// The text of the program itself, which may also come through a pipe. Bytes that are no UTF-8 become U+FFFD, which the lexer reports
    /// with its place.
    pub(crate) fn program(&self, path: &Path) -> Result<String, String> {
        self.text(path, true)
    }

    /// What was read, the program first.
    pub(crate) fn into_read(self) -> Vec<PathBuf> {
        self.read.into_inner()
    }

    fn text(&self, path: &Path, pipes: bool) -> Result<String, String> {
        let mut read = self.read.borrow_mut();
        // What is included again costs nothing: the front end keeps it.
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

    /// Where `name` leads from a folder.
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
        // What stands in `<...>` is not looked for beside a file; a pipe has no folder.
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
                // Seen from the other folders a path with `..` leads anywhere; the first one is what was meant.
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

/// The folder that a file is in, empty for here.
fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// An empty path is here.
fn in_words(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

/// The folder that has both; the second one if that is the root of everything.
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

/// An absolute path as seen from here, if that is shorter.
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

/// Files of a program that are looked at.
const MOST_FILES: usize = 1000;

/// The texts of a program and of the files beside it that it includes, with their names, whatever conditions they are under. What cannot be
/// read is told when the program is compiled.
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
