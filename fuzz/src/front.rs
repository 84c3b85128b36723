//! Any text as a program, as a whole and with `--kernels`: the front end answers in time, its messages can be rendered, and accepted
//! programs give valid IR whose text can be read back.

use dsl::{embed, survey};

use crate::support::{Files, has_errors, map_of, show, sound};

/// Longer texts are truncated.
const MAX_BYTES: usize = 64 << 10;

/// See the module.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(&data[..data.len().min(MAX_BYTES)]);
    let files = Files::split(&text);
    let options = dsl::Options::default();

    let (mut map, file) = map_of(files.main);
    let compiled = dsl::compile(&mut map, file, &options, &files);
    show(&compiled.diagnostics, &map);
    match &compiled.module {
        Some(module) => sound(module, "the front end"),
        None => assert!(
            has_errors(&compiled.diagnostics),
            "refused without an error"
        ),
    }

    let (mut map, file) = map_of(files.main);
    let survey = survey(&mut map, file, &options, &files);
    show(&survey.diagnostics, &map);
    show(&survey.missing, &map);
    let reasons = survey
        .kernels
        .iter()
        .filter_map(|kernel| kernel.reason.clone());
    show(&reasons.collect::<Vec<_>>(), &map);
    if let Some(module) = &survey.module {
        sound(module, "the survey");
    }

    let (mut map, file) = map_of(files.main);
    let embedded = embed::kernels(&mut map, file, &options, &files);
    show(&embedded.diagnostics, &map);
    match &embedded.kernels {
        Some(kernels) => sound(&kernels.module, "the kernels for another language"),
        None => assert!(
            has_errors(&embedded.diagnostics),
            "refused without an error"
        ),
    }
}

/// Words for mutations.
pub const WORDS: &[&str] = &[
    "__global__ void k(int *p) { ",
    "__device__ ",
    "__host__ ",
    "__shared__ int s[32]; ",
    "extern __shared__ float d[]; ",
    "__constant__ ",
    "__managed__ ",
    "__syncthreads();",
    "__syncwarp();",
    "__launch_bounds__(128) ",
    "threadIdx.x",
    "blockIdx.y",
    "blockDim.x",
    "gridDim.z",
    "warpSize",
    "k<<<1, 32>>>(p);",
    "k<<<dim3(2, 2), 64, 128>>>",
    "atomicAdd(&p[0], 1)",
    "atomicCAS(p, 0, 1)",
    "__shfl_sync(0xffffffff, x, 1)",
    "__ballot_sync(-1, p)",
    "cudaMalloc(&p, 64);",
    "cudaMemcpy(p, q, 64, cudaMemcpyHostToDevice);",
    "printf(\"%d %s\\n\", 1, \"x\");",
    "assert(x);",
    "int ",
    "unsigned ",
    "long long ",
    "char ",
    "float ",
    "double ",
    "bool ",
    "void ",
    "size_t ",
    "auto ",
    "const ",
    "constexpr ",
    "static ",
    "volatile ",
    "inline ",
    "__restrict__ ",
    "template <typename T> ",
    "template <int N, typename... Ts> ",
    "typename ",
    "struct S { int a; float b[3]; };",
    "class C { public: C() {} ~C() {} int m() const { return 1; } };",
    "union U { int i; float f; };",
    "enum E { A, B = 5 };",
    "enum class F : char { X };",
    "namespace n { ",
    "using namespace std;",
    "using T = int;",
    "typedef int (*fn)(int);",
    "operator",
    "this->",
    "new int[4]",
    "delete[] p;",
    "[&](int x) { return x; }",
    "[=] ",
    "sizeof(int)",
    "static_cast<int>(",
    "reinterpret_cast<char *>(",
    "decltype(x) ",
    "if (",
    "else ",
    "for (int i = 0; i < 4; i++) ",
    "for (auto &x : v) ",
    "while (1) ",
    "do ",
    "switch (x) { case 1: default: }",
    "break;",
    "continue;",
    "return ",
    "goto ",
    "int main() { ",
    "} ",
    "{ ",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ">>",
    "<<",
    "<<<",
    ">>>",
    "->",
    "::",
    "...",
    "++",
    "--",
    "&&",
    "||",
    "%",
    "^",
    "~",
    "!",
    "?",
    ":",
    ";",
    ",",
    "=",
    "+=",
    "<<=",
    "#define F(x, ...) x ## y #x __VA_ARGS__\n",
    "#if defined(A) && 1 / 0\n",
    "#else\n",
    "#endif\n",
    "#include \"a.h\"\n",
    "#include <vector>\n",
    "#include <cooperative_groups.h>\n",
    "#include <cuda_fp16.h>\n",
    "#pragma unroll 4\n",
    "#undef F\n",
    "#error \"x\"\n",
    "#line 5\n",
    "__LINE__",
    "__FILE__",
    "\n//@ a.h\n",
    "/*",
    "*/",
    "//",
    "\\\n",
    "\"",
    "'a'",
    "'",
    "R\"(x)\"",
    "0x7fffffff",
    "2147483648",
    "18446744073709551615ull",
    "18446744073709551616",
    "0b101",
    "1e400",
    "1.5f",
    "0x1p-3",
    ".5",
    "1'000",
    "nullptr",
    "true",
    "asm volatile(\"mov.u32 %0, %1;\" : \"=r\"(x) : \"r\"(y));",
    "std::vector<int> v(4);",
    "std::cout << 1;",
    "__half2 h;",
    "float4 f4 = make_float4(1, 2, 3, 4);",
    "cooperative_groups::this_thread_block()",
    "x",
    "p",
    "T",
    "N",
];
