//! Programs that were built before: `dslc run a.cu b.cpp` compiles once, and again only when a file that it read has changed.
//!
//! A program lies in a folder of the user's cache whose name is a hash of what it was built from: the command line, the working folder,
//! and this dslc. Beside it stands a list of the files that the build read, with hashes of what they said. Headers of the system are not
//! listed. Where the cache cannot be written, every run compiles.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::command::nvcc;

/// How many programs are kept: the one that was used longest ago goes first.
const MAX_PROGRAMS: usize = 24;

/// The name of the list of files.
const LIST: &str = "files";

/// The name of the program.
pub(super) const PROGRAM: &str = "program";

/// Where the programs lie.
fn folder() -> PathBuf {
    nvcc::cache().join("programs")
}

/// The folder of the program that these words build.
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

/// The program in that folder, if all files still say what they said when it was built.
pub(super) fn known(place: &Path) -> Option<PathBuf> {
    let list = fs::read_to_string(place.join(LIST)).ok()?;
    let is_same = |line: &str| {
        let (hash, path) = line.split_once(' ')?;
        (line_of(Path::new(path))? == line && !hash.is_empty()).then_some(())
    };
    list.lines().map(is_same).collect::<Option<Vec<()>>>()?;
    // So that the cleaning knows that it is used.
    let list = fs::File::options().append(true).open(place.join(LIST));
    let _ = list.and_then(|list| list.set_modified(SystemTime::now()));
    Some(place.join(PROGRAM)).filter(|program| program.is_file())
}

/// A file's line of the list.
fn line_of(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(format!(
        "{:016x} {}",
        ir::source::fingerprint(&bytes),
        path.display()
    ))
}

/// Keeps the program that was built in `built`: its list is made of what the compiler wrote into `dependencies`, and of `sources`.
/// Gives where the program is now.
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
        // What dslc wrote itself lies in folders that are gone.
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
        // Another process keeps the same program at this moment.
        Err(_) => program,
    }
}

/// The files that a rule of a makefile names behind its colon: a backslash keeps a blank, or joins two lines.
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

/// Removes the programs that were used longest ago.
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
