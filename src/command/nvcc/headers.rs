//! CUDA's headers, ours: written once into the user's cache, where the host compiler finds them.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use dsl::library::cpp::Header;

use crate::failure::{Failure, reason};

/// The folder of the headers.
pub(super) fn install() -> Result<PathBuf, Failure> {
    let all = dsl::library::cpp::headers();
    let mut hash = DefaultHasher::new();
    all.hash(&mut hash);
    let folder = cache().join(format!("include-{:016x}", hash.finish()));
    if folder.join("cuda_runtime.h").exists() {
        return Ok(folder);
    }
    let failed = |why: std::io::Error| {
        let place = folder.display();
        Failure::new(format!(
            "cannot write CUDA's headers to `{place}`: {}",
            reason(&why)
        ))
    };
    write(&folder, &all).map_err(failed)?;
    Ok(folder)
}

/// Writes them beside the place and moves them there: another process may do the same.
fn write(folder: &Path, all: &[Header]) -> std::io::Result<()> {
    let parent = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let made = tempfile::tempdir_in(parent)?;
    for (name, text) in all {
        let path = made.path().join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    let made = made.keep();
    match fs::rename(&made, folder) {
        Ok(()) => Ok(()),
        // Somebody else was first.
        Err(_) if folder.join("cuda_runtime.h").exists() => fs::remove_dir_all(made),
        Err(why) => Err(why),
    }
}

/// The user's cache.
pub(super) fn cache() -> PathBuf {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    named
        .or_else(home)
        .unwrap_or_else(env::temp_dir)
        .join("dslc")
}
