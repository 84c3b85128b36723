//! Decides whether the device code of several sources has to be compiled as one.
//!
//! nvcc compiles each source separately: a `__device__` variable of a header is a different variable in each source. Only with `-rdc=true`
//! may a kernel call a function of another source, use its variables, or launch a kernel. `dslc run` finds out which of the two a program
//! needs.

use dsl::syntax;
use ir::{Function, InstKind, locate::is_library, source::SourceFile};

use crate::{
    args::{RunArgs, SourceArgs},
    source,
};

/// Keywords of memory that may be defined in another source.
const MEMORY: [&str; 3] = ["__device__", "__constant__", "__managed__"];

/// Whether a source needs device code of another one.
pub(super) fn is_needed(args: &RunArgs) -> bool {
    super::files(args).any(|file| {
        let end = file.extension().and_then(|end| end.to_str());
        let is_device = end.is_none_or(|end| matches!(end, "cu" | "k"));
        let source = SourceArgs {
            file: file.clone(),
            ..args.source.clone()
        };
        is_device && needs_others(&source)
    })
}

/// Whether kernels of a source launch kernels, use names that are declared elsewhere, or share a variable.
fn needs_others(source: &SourceArgs) -> bool {
    let source = SourceArgs {
        kernels: true,
        ..source.clone()
    };
    // Unreadable sources are reported when they are compiled.
    let Ok(loaded) = source::load(&source) else {
        return false;
    };
    let mut files = loaded.map.files();
    let shares = files.any(|(_, file)| !is_library(&file.name) && declares_outside(&file.text));
    let module = loaded.module.as_ref();
    shares
        || loaded.kernels.iter().any(|kernel| kernel.reason.is_some())
        || module.is_some_and(|module| module.kernels().any(|(_, kernel)| launches(kernel)))
}

/// Whether kernels of the program's only file launch kernels.
pub(super) fn kernels_launch(args: &RunArgs) -> bool {
    let source = SourceArgs {
        kernels: true,
        ..args.source.clone()
    };
    let module = source::load(&source).ok().and_then(|loaded| loaded.module);
    module.is_some_and(|module| module.kernels().any(|(_, kernel)| launches(kernel)))
}

fn launches(function: &Function) -> bool {
    let mut found = false;
    function
        .body
        .for_each_inst(&mut |inst| found |= matches!(inst.kind, InstKind::Launch(_)));
    found
}

/// `extern __device__ int total;`, in any order of the words before the type.
fn declares_outside(text: &str) -> bool {
    if !text.contains("extern") {
        return false;
    }
    let words = syntax::words(&SourceFile::new("", text));
    let word = |at: usize| words.get(at).map(|word| &text[word.range.clone()]);
    let mut externs = (0..words.len()).filter(|&at| word(at) == Some("extern"));
    externs.any(|at| {
        let is_memory = |at| word(at).is_some_and(|word| MEMORY.contains(&word));
        let before = at.checked_sub(1).is_some_and(is_memory);
        before || is_memory(at + 1) || word(at + 1) == Some("const") && is_memory(at + 2)
    })
}

#[cfg(test)]
mod tests {
    use super::declares_outside;

    #[test]
    fn memory_of_another_source_is_declared_so() {
        assert!(declares_outside("extern __device__ int total;"));
        assert!(declares_outside("__constant__ extern float table[4];"));
        assert!(declares_outside("extern const __constant__ int one;"));
        assert!(!declares_outside(
            "extern __shared__ int s[]; __device__ int own;"
        ));
        assert!(!declares_outside("extern \"C\" __global__ void k();"));
        assert!(!declares_outside("// extern __device__ int total;"));
    }
}
