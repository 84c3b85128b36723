//! Functions of CUDA that the library writes in terms of others: what the program calls is what messages name.

/// Rows that are a pitch apart.
pub(super) const PITCH: &str = "cudaMallocPitch";

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
