//! The PTX back end of the command line: the program `dslc-ptx` next to this one. `src/bin/dslc-ptx.rs` says why it is a separate program.

use std::env::{self, consts::EXE_SUFFIX};

use interp::{Compiled, Shortcuts, rules::Arch};
use ir::Module;
use runtime::back_end::{self, BackEnd};
pub(crate) use runtime::back_end::{Lines, Options};

use crate::{failure::Failure, output};

/// The module as PTX, or as LLVM IR.
pub(crate) fn compile(module: &Module, options: Options) -> Result<String, Failure> {
    let made = program()?.make(&ir::print(module), &options, None);
    let made = made.map_err(Failure::new)?;
    output::err(&made.warnings);
    Ok(made.text)
}

/// Whether there is a back end that makes PTX for an architecture.
pub(crate) fn compiles_for(arch: Arch) -> bool {
    back_end::target(arch).is_some() && program().is_ok()
}

/// The module's kernels as compiled for an architecture at -O3, or one sentence.
pub(crate) fn compiled(
    module: &Module,
    arch: Arch,
    shortcuts: Shortcuts,
) -> Result<Compiled, String> {
    let program = program().map_err(|why| why.to_string())?;
    program.compiled(module, arch, shortcuts)
}

/// Its version; `None` if it is missing or does not start.
pub(crate) fn version() -> Option<String> {
    program().ok()?.version()
}

/// Where `dslc-ptx` is. A link to `dslc` may be anywhere; the file that the link leads to has `dslc-ptx` next to it.
fn program() -> Result<BackEnd, Failure> {
    let dslc = env::current_exe()?;
    let dslc = dslc.canonicalize().unwrap_or(dslc);
    let path = dslc.with_file_name(format!("dslc-ptx{EXE_SUFFIX}"));
    if path.is_file() {
        return Ok(BackEnd::at(path, Some(env!("DSLC_VERSION"))));
    }
    Err(Failure::new(format!(
        "PTX needs the program `dslc-ptx`, and it is not in the folder of dslc, {}: `cargo build --release` makes both, unless it was told \
         --no-default-features",
        dslc.parent().unwrap_or(&dslc).display()
    )))
}
