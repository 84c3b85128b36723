//! The cache of PTX: a program that has not changed is compiled once.
//!
//! A file's name is a hash of what the PTX was made from: the IR, the options, and the back end. If the cache cannot be written, every run
//! compiles.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ir::source::fingerprint;

/// Most texts in the cache: the least recently used ones are removed.
const MAX_TEXTS: usize = 256;
/// A longer text is not kept.
const MAX_BYTES: usize = 1 << 20;

/// The end of a text that is whole.
const END: &str = "// end\n";

/// Where a text is in the cache.
pub(super) struct Place(PathBuf);

impl Place {
    /// The place of the PTX that a back end makes from this IR with these options.
    pub(super) fn of(program: &Path, options: &str, ir: &str) -> Place {
        let mut hash = DefaultHasher::new();
        (env!("CARGO_PKG_VERSION"), options, ir).hash(&mut hash);
        let facts = fs::metadata(program).ok();
        let written = facts.as_ref().and_then(|facts| facts.modified().ok());
        (program, facts.map(|facts| facts.len()), written).hash(&mut hash);
        let name = format!(
            "{:016x}{:016x}.ptx",
            hash.finish(),
            fingerprint(ir.as_bytes())
        );
        Place(super::cache_folder().join("ptx").join(name))
    }

    /// The text, if it is there.
    pub(super) fn read(&self) -> Option<String> {
        let mut text = fs::read_to_string(&self.0).ok()?;
        text.truncate(text.strip_suffix(END)?.len());
        // Marks it as recently used.
        let file = fs::File::options().append(true).open(&self.0);
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        Some(text)
    }

    /// Keeps a text.
    pub(super) fn write(&self, text: &str) {
        if text.len() <= MAX_BYTES {
            // What is not kept is compiled again.
            let _ = self.try_write(text);
        }
    }

    fn try_write(&self, text: &str) -> Option<()> {
        let folder = self.0.parent()?;
        fs::create_dir_all(folder).ok()?;
        let mut file = tempfile::NamedTempFile::new_in(folder).ok()?;
        file.write_all(text.as_bytes()).ok()?;
        file.write_all(END.as_bytes()).ok()?;
        file.persist(&self.0).ok()?;
        clean(folder);
        Some(())
    }
}

/// Removes the least recently used texts.
fn clean(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let used = |path: &Path| fs::metadata(path).and_then(|facts| facts.modified());
    let mut texts: Vec<(SystemTime, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter_map(|path| Some((used(&path).ok()?, path)))
        .collect();
    let Some(surplus) = texts.len().checked_sub(MAX_TEXTS) else {
        return;
    };
    texts.sort();
    for (_, path) in texts.into_iter().take(surplus) {
        let _ = fs::remove_file(path);
    }
}
