//! Functions of CUDA that the library writes in terms of others: what the program calls is what messages name.

use ir::{LocId, Module};

/// Rows that are a pitch apart.
pub(super) const PITCH: &str = "cudaMallocPitch";

/// The same for a place that was inlined: by the function of the library that the program calls there.
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

/// What a function of the library is to the program, where messages would else name another call.
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
