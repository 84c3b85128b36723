//! Descriptions on the command line: `--launch`, `--buffer`, `--print`, `--save`. Every text gets an answer, and accepted launches run to
//! an end.
//!
//! Each line of the input is one option: `L`, `B`, `P` or `S` and its text.

use std::{
    io::Cursor,
    sync::{Arc, OnceLock},
};

use interp::{Checks, MachineConfig, Program};
use runtime::{
    buffer::{BufferSource, BufferSpec, Element, Fill, HostBuffer, NpyFile},
    device::simulator::Simulator,
    standalone::Plan,
};

use crate::{
    notice,
    support::{Printed, budget, machine, map_of, npy},
};

/// Larger buffers are accepted, but not made, because they take as much memory as they say.
const MAX_BYTES: u64 = 1 << 20;

const KERNELS: &str = "
__global__ void scale(float *x, float f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= f;
}
template <typename T, int N> __global__ void fill(T *x, T value) { x[threadIdx.x % N] = value; }
template __global__ void fill<double, 4>(double *, double);
struct P { int a; double b; unsigned char c; };
__global__ void many(bool b, char c, short s, unsigned u, long long l, double d, P p, float4 *v, void *any, const unsigned char **pp) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = c + s + u + l + p.a + b;
    if (any) ((int *)any)[0] = tile[threadIdx.x] + (int)d;
    if (v) v[0].w = 1;
}
__global__ void none() {}
";

fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let (mut map, file) = map_of(KERNELS);
        let loader = ir::source::NoFiles;
        let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &loader);
        let module = compiled.module;
        Program::new(Arc::new(
            module.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics)),
        ))
    })
}

/// See the module.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(&data[..data.len().min(4 << 10)]);
    let mut options: [Vec<String>; 4] = Default::default();
    for line in text.lines() {
        let mut letters = line.chars();
        let which = match letters.next() {
            Some('L') => 0,
            Some('B') => 1,
            Some('P') => 2,
            Some('S') => 3,
            _ => continue,
        };
        options[which].push(letters.as_str().to_string());
    }
    let [launches, buffers, print, save] = &mut options;
    buffers.retain(|text| match BufferSpec::parse(text) {
        Ok(spec) => is_small(&spec),
        Err(error) => {
            notice(&error.why);
            true
        }
    });
    let open = |path: &str| {
        let file = match path {
            "missing" | "" => return Err("there is no such file".to_string()),
            "vectors.npy" => {
                let element = Element::from_c_name("float4").expect("a type");
                HostBuffer::make(element, &[3], &Fill::Iota).to_npy()
            }
            path => path.as_bytes().to_vec(),
        };
        Ok(NpyFile {
            bytes: file.len() as u64,
            reader: Box::new(Cursor::new(file)),
        })
    };
    let program = program();
    let plan = Plan::resolve(
        program,
        budget(5_000),
        launches,
        buffers,
        print,
        save,
        &open,
    );
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => {
            assert!(!error.what.is_empty() && !error.why.is_empty());
            return notice(&error.why);
        }
    };
    let machine = MachineConfig {
        checks: Checks::ALL,
        keep_going: data.len().is_multiple_of(2),
        ..machine(5_000)
    };
    let run = plan.run(
        program,
        &mut Simulator::new(machine),
        &mut Printed::default(),
    );
    match run {
        Ok(run) => {
            assert_eq!(run.printed.len(), print.len());
            for (path, file) in &run.saved {
                HostBuffer::from_npy(path, npy(file), u64::MAX).expect("what is saved reads back");
            }
        }
        Err(error) => notice(&error.why),
    }
}

fn is_small(spec: &BufferSpec) -> bool {
    match &spec.source {
        BufferSource::Made { element, shape, .. } => {
            shape.iter().product::<u64>() * (element.bytes() as u64) <= MAX_BYTES
        }
        BufferSource::File(_) => true,
    }
}

/// Words for mutations.
pub const WORDS: &[&str] = &[
    "\nL",
    "\nB",
    "\nP",
    "\nS",
    "\nLscale<<<1, 32>>>(x, 2.5f, 32)",
    "\nLfill<double, 4><<<1, 32>>>(d, 1e3)",
    "\nLmany<<<(2, 2), dim3(8, 4, 1), 4096>>>(true, -1, 0x7f, 3u, 5L, 1e3, 1, 2, 3, v, a, nullptr)",
    "\nLnone<<<1, 1>>>()",
    "\nBx=float[32]:iota",
    "\nBd=double[2][2]:rand(7)",
    "\nBv=float4[3]",
    "\nBa=unsigned char[16]:-1",
    "\nBf=@vectors.npy",
    "\nBf=@missing",
    "\nPx",
    "\nPx:4",
    "\nSx=out.npy",
    "<<<",
    ">>>",
    "dim3(",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "=",
    "@",
    ";",
    "0",
    "1",
    "-1",
    "--1",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "170141183460469231731687303715884105727",
    "-170141183460469231731687303715884105728",
    "0x",
    "0x-1",
    "0xffffffffffffffffffffffffffffffff",
    "1e400",
    "nan",
    "inf",
    "infinity",
    "1.5f",
    "iota",
    "zero",
    "rand",
    "const:3",
    "int",
    "long long",
    "uchar4",
    "float0",
    "ulong4",
    "é",
    "\u{a0}",
];
