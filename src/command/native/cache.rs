//! The cache of built programs: `dslc run a.cu b.cpp` compiles once, and again only when a file that it read has changed.
//!
//! Each program has a folder in the user's cache. The folder's name is a hash of what the program was built from: the command line, the
//! working folder, and this dslc. Next to the program is a list of the files that the build read, with hashes of their contents. System
//! headers are not listed. If the cache cannot be written, every run compiles.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::command::nvcc;

/// Most programs in the cache: the least recently used one is removed first.
const MAX_PROGRAMS: usize = 24;

/// The name of the list of files.
const LIST: &str = "files";

/// The name of the program.
pub(super) const PROGRAM: &str = "program";

/// The folder of the cache.
fn folder() -> PathBuf {
    runtime::back_end::cache_folder().join("programs")
}

/// The folder of the program that this command line builds.
pub(super) fn place(words: &[std::ffi::OsString]) -> PathBuf {
    let mut hash = DefaultHasher::new();
    words.hash(&mut hash);
    env::current_dir().ok().hash(&mut hash);
    env::var_os("DSLC_CLANG").hash(&mut hash);
    // Another build of dslc makes other programs.
    for file in [env::current_exe().ok(), nvcc::library()]
        .into_iter()
        .flatten()
    {
        let facts = fs::metadata(&file).ok();
        let written = facts.as_ref().and_then(|facts| facts.modified().ok());
        (&file, facts.map(|facts| facts.len()), written).hash(&mut hash);
    }
    folder().join(format!("{:016x}", hash.finish()))
}

/// The program in that folder, if all listed files are unchanged.
pub(super) fn known(place: &Path) -> Option<PathBuf> {
    let list = fs::read_to_string(place.join(LIST)).ok()?;
    let is_same = |line: &str| {
        let (hash, path) = line.split_once(' ')?;
        (line_of(Path::new(path))? == line && !hash.is_empty()).then_some(())
    };
    list.lines().map(is_same).collect::<Option<Vec<()>>>()?;
    // Marks the program as recently used.
    let list = fs::File::options().append(true).open(place.join(LIST));
    let _ = list.and_then(|list| list.set_modified(SystemTime::now()));
    Some(place.join(PROGRAM)).filter(|program| program.is_file())
}

/// A file's line in the list.
fn line_of(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(format!(
        "{:016x} {}",
        ir::source::fingerprint(&bytes),
        path.display()
    ))
}

/// Keeps the program that was built in `built`. Its list is made from the compiler's dependency files in `dependencies`, and from
/// `sources`. Returns the program's new path.
pub(super) fn keep(
    built: &Path,
    dependencies: &Path,
    sources: &[PathBuf],
    place: &Path,
) -> PathBuf {
    let program = built.join(PROGRAM);
    let mut files: Vec<PathBuf> = sources.to_vec();
    for entry in fs::read_dir(dependencies).into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        // Files that dslc wrote itself are in temporary folders that no longer exist.
        files.extend(
            prerequisites(&text)
                .into_iter()
                .filter(|path| path.exists()),
        );
    }
    files.sort();
    files.dedup();
    let lines: Option<Vec<String>> = files.iter().map(|path| line_of(path)).collect();
    let Some(lines) = lines else {
        return program;
    };
    let moved = || -> std::io::Result<()> {
        fs::write(built.join(LIST), lines.join("\n"))?;
        let _ = fs::remove_dir_all(place);
        fs::rename(built, place)
    };
    match moved() {
        Ok(()) => {
            clean(place);
            place.join(PROGRAM)
        }
        // Another process is keeping the same program at the same time.
        Err(_) => program,
    }
}

/// The files after the colon of a makefile rule. A backslash escapes a blank, or joins two lines.
fn prerequisites(text: &str) -> Vec<PathBuf> {
    let mut all = vec![];
    let mut word = String::new();
    let behind = text.split_once(": ").map_or("", |(_, behind)| behind);
    let mut letters = behind.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(' ') => word.push(' '),
                Some('\n') | None => {}
                Some(other) => word.extend(['\\', other]),
            },
            '$' => {
                word.push('$');
                letters.next();
            }
            ' ' | '\n' if word.is_empty() => {}
            ' ' | '\n' => all.push(PathBuf::from(std::mem::take(&mut word))),
            other => word.push(other),
        }
    }
    all
}

/// Removes the least recently used programs.
fn clean(newest: &Path) {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    let used = |path: &Path| fs::metadata(path.join(LIST)).and_then(|facts| facts.modified());
    let mut programs: Vec<(SystemTime, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| path != newest)
        .filter_map(|path| Some((used(&path).ok()?, path)))
        .collect();
    programs.sort();
    let surplus = (programs.len() + 1).saturating_sub(MAX_PROGRAMS);
    for (_, path) in programs.into_iter().take(surplus) {
        let _ = fs::remove_dir_all(path);
    }
}

/// A new folder in the cache to build a program in; `None` if it cannot be made.
pub(super) fn build_folder() -> Option<tempfile::TempDir> {
    fs::create_dir_all(folder()).ok()?;
    tempfile::tempdir_in(folder()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prerequisites_are_read_as_make_reads_them() {
        let text = "a.o: a.cu my\\ header.h \\\n  sub/x.h \\\n  y$$.h\n";
        let read: Vec<String> = prerequisites(text)
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        assert_eq!(read, ["a.cu", "my header.h", "sub/x.h", "y$.h"]);
    }
}
