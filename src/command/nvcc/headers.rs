//! CUDA's headers, ours: written once into the user's cache, where the host compiler finds them.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use crate::failure::{Failure, reason};

macro_rules! headers {
    ($($name:literal)*) => {
        /// Those that are written by hand.
        const OWN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../native/include/", $name))),)*];
    };
}

headers! {
    "builtin_types.h" "common_functions.h" "crt/host_defines.h" "cuda.h" "cuda_device_runtime_api.h" "cuda_profiler_api.h" "cuda_runtime.h"
    "cuda_runtime_api.h" "device_atomic_functions.h" "device_functions.h" "device_launch_parameters.h" "driver_types.h"
    "dslc/bits.h" "dslc/device_overloads.h" "dslc/host_math.h" "host_defines.h" "math_constants.h" "math_functions.h"
    "sm_30_intrinsics.h" "sm_60_atomic_functions.h" "texture_types.h" "vector_functions.h" "vector_types.h"
}

/// The folder of the headers.
pub(super) fn install() -> Result<PathBuf, Failure> {
    let made = dsl::library::cpp::headers();
    let own = OWN.iter().map(|&(name, text)| (name, text));
    let all: Vec<(&str, &str)> = own
        .chain(
            made.iter()
                .map(|(name, text)| (name.as_str(), text.as_str())),
        )
        .collect();
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
fn write(folder: &Path, all: &[(&str, &str)]) -> std::io::Result<()> {
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
