//! A folder that looks like CUDA's toolkit: headers for the host compiler, and the other files that build systems look for. It is written
//! once into the user's cache.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use dsl::library::cpp::Header;

use super::libraries;
use crate::failure::{Failure, reason};

/// The folder: `include`, `bin/nvcc`, `lib64`.
pub(super) fn install(library: Option<&Path>) -> Result<PathBuf, Failure> {
    let mut all = dsl::library::cpp::headers();
    for (header, more) in libraries::CONTINUED {
        if let Some((_, text)) = all.iter_mut().find(|(name, _)| name == header) {
            text.push_str(more);
        }
    }
    all.extend(libraries::headers());
    let links = Links {
        sources: libraries::SOURCES,
        program: env::current_exe().ok(),
        library: library.map(|folder| folder.join("libdslcrt.so")),
    };
    let mut hash = DefaultHasher::new();
    (&all, &links).hash(&mut hash);
    let folder = runtime::back_end::cache_folder().join(format!("toolkit-{:016x}", hash.finish()));
    if folder.join(LAST).exists() {
        return Ok(folder);
    }
    let failed = |why: std::io::Error| {
        let place = folder.display();
        Failure::new(format!(
            "cannot write CUDA's headers to `{place}`: {}",
            reason(&why)
        ))
    };
    write(&folder, &all, &links).map_err(failed)?;
    Ok(folder)
}

/// The file that is written last: if it exists, all others do.
const LAST: &str = "include/cuda_runtime.h";

/// What the folder links to, and what is compiled for it.
#[derive(Hash)]
struct Links {
    sources: &'static [libraries::Source],
    program: Option<PathBuf>,
    library: Option<PathBuf>,
}

/// Writes the files to a temporary folder next to the final one, and renames it: another process may do the same.
fn write(folder: &Path, all: &[Header], links: &Links) -> std::io::Result<()> {
    let parent = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let made = tempfile::tempdir_in(parent)?;
    for (name, text) in all {
        let path = made.path().join("include").join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    let link = |to: &Option<PathBuf>, name: &str| match to {
        #[cfg(unix)]
        Some(to) => std::os::unix::fs::symlink(to, made.path().join(name)),
        // Symbolic links need a privilege on that system.
        #[cfg(not(unix))]
        Some(to) => fs::copy(to, made.path().join(name)).map(drop),
        None => Ok(()),
    };
    for folder in ["bin", "lib64", "nvvm/libdevice"] {
        fs::create_dir_all(made.path().join(folder))?;
    }
    link(&links.program, "bin/nvcc")?;
    for name in [
        "libdslcrt.so",
        "libcudart.so",
        "libcudart_static.a",
        "libcudadevrt.a",
    ] {
        if name.ends_with(".a") {
            // Programs that link with it are linked with the library itself.
            fs::write(made.path().join("lib64").join(name), "!<arch>\n")?;
        } else {
            link(&links.library, &format!("lib64/{name}"))?;
        }
    }
    libraries::announce(made.path())?;
    // The file by which CMake recognises a toolkit.
    fs::write(made.path().join("nvvm/libdevice/libdevice.10.bc"), "")?;
    fs::write(
        made.path().join("version.json"),
        "{\"cuda\": {\"name\": \"CUDA SDK\", \"version\": \"12.4.131\"}}\n",
    )?;
    let made = made.keep();
    match fs::rename(&made, folder) {
        Ok(()) => Ok(()),
        // Another process was first.
        Err(_) if folder.join(LAST).exists() => fs::remove_dir_all(made),
        Err(why) => Err(why),
    }
}
