//! Names of CUDA functions that the library implements with other calls: messages name the function that the program calls.

use ir::{LocId, Module};

/// Rows at the distance of a pitch.
pub(super) const PITCH: &str = "cudaMallocPitch";

/// The name for an inlined place: the library function that the program calls there.
pub(super) fn of_inlined(module: &Module, loc: LocId) -> Option<&'static str> {
    module.loc(loc).via?;
    let places = std::iter::successors(Some(loc), |&place| module.loc(place).via);
    let function_at = |place: LocId| {
        let at = module.loc(place);
        let mut around = None;
        for function in &module.functions {
            let begins = module.loc(function.loc);
            let is_before = begins.file == at.file && begins.line <= at.line;
            if is_before && around.is_none_or(|(line, _)| line < begins.line) {
                around = Some((begins.line, function.name.as_str()));
            }
        }
        around.and_then(|(_, name)| of_library(name))
    };
    places.filter_map(function_at).last()
}

/// The name that the program uses for a library function, if messages would otherwise name another call.
pub(super) fn of_library(name: &str) -> Option<&'static str> {
    Some(match name {
        "cudaMemcpy2D" => "cudaMemcpy2D",
        "cudaMemcpy2DAsync" => "cudaMemcpy2DAsync",
        "cudaMemcpy3D" => "cudaMemcpy3D",
        "cudaMemcpy3DAsync" => "cudaMemcpy3DAsync",
        "__dslc_to_symbol" => "cudaMemcpyToSymbolAsync",
        "__dslc_from_symbol" => "cudaMemcpyFromSymbolAsync",
        "__dslc_malloc_pitch" => PITCH,
        _ => return None,
    })
}
