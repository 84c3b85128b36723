//! Names that CUDA has and this compiler does not support yet, by what they belong to.

/// Families of functions: what to call them, their names.
const FAMILIES: &[(&str, &[&str])] = &[
    ("math functions", &["truncl"]),
    (
        "address-space queries",
        &[
            "__cvta_generic_to_shared",
            "__cvta_generic_to_global",
            "__cvta_shared_to_generic",
        ],
    ),
    (
        "files and input",
        &[
            "fopen", "fclose", "fread", "fwrite", "fgets", "fputs", "scanf", "fscanf", "getchar",
        ],
    ),
    ("C library", &["perror"]),
    ("CUDA math library", &["__fma_rd", "__fma_ru", "__fma_rz"]),
    (
        "CUDA runtime",
        &[
            "cudaMallocArray",
            "cudaMemcpyToArray",
            "cudaHostRegister",
            "cudaHostUnregister",
            "cudaPointerGetAttributes",
        ],
    ),
];

/// Families that are recognised by how their names begin.
const PREFIXES: &[(&str, &str)] = &[
    ("tex1D", "textures"),
    ("tex2D", "textures"),
    ("tex3D", "textures"),
    ("texCubemap", "textures"),
    ("surf1D", "surfaces"),
    ("surf2D", "surfaces"),
    ("surf3D", "surfaces"),
    ("curand", "cuRAND"),
    ("cublas", "cuBLAS"),
    ("cufft", "cuFFT"),
    ("cudaGraph", "CUDA graphs"),
    ("cudaBindTexture", "textures"),
    ("cudaCreateTexture", "textures"),
    ("cudaDestroyTexture", "textures"),
    ("__nv_", "compiler intrinsics"),
    ("__nvvm_", "compiler intrinsics"),
    ("cudaEGL", "graphics interoperation"),
    ("cudaGL", "graphics interoperation"),
    ("cudaGraphics", "graphics interoperation"),
];

const TYPES: &[(&str, &str)] = &[
    ("texture", "textures"),
    ("surface", "surfaces"),
    ("cudaTextureObject_t", "textures"),
    ("cudaSurfaceObject_t", "surfaces"),
    ("cudaArray", "textures"),
    ("cudaArray_t", "textures"),
    ("cudaChannelFormatDesc", "textures"),
    ("curandStateMRG32k3a", "cuRAND's MRG32k3a"),
    ("curandStateMRG32k3a_t", "cuRAND's MRG32k3a"),
    ("curandStateSobol32_t", "cuRAND's Sobol generators"),
    ("curandStateSobol64_t", "cuRAND's Sobol generators"),
    ("curandStateMtgp32", "cuRAND's MTGP32"),
    ("curandStateMtgp32_t", "cuRAND's MTGP32"),
    ("curandGenerator_t", "cuRAND's host interface"),
    ("cublasHandle_t", "cuBLAS"),
    ("cufftHandle", "cuFFT"),
    ("cudaGraph_t", "CUDA graphs"),
    ("va_list", "functions with `...`"),
];

/// Every name with what it belongs to.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    FAMILIES
        .iter()
        .flat_map(|(what, names)| names.iter().map(move |name| (*name, *what)))
}

/// What a name belongs to by its beginning.
pub(crate) fn by_prefix(name: &str) -> Option<&'static str> {
    PREFIXES
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map(|(_, what)| *what)
}

/// What a type belongs to.
pub(crate) fn unsupported_type(name: &str) -> Option<&'static str> {
    TYPES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, what)| *what)
}
