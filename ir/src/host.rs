//! The runtime calls of host functions: one row per call.
//!
//! Arguments and results are scalars and generic pointers. `size_t` is `i64`, enums and `int` are `i32`. Calls that return `cudaError_t`
//! return an `i32`. The prelude handles struct-typed arguments (`cudaDeviceProp *`): it is written in the language itself and uses
//! `__dslc_…` calls, so that no layout is defined twice.

use std::fmt;

use super::{Space, Type};

/// Pointer of a host function.
const P: Type = Type::Ptr(Space::Generic);
const I: Type = Type::I32;
const L: Type = Type::I64;
const F: Type = Type::F32;
const D: Type = Type::F64;

macro_rules! host_functions {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal ($($arg:expr),*) $(, $variadic:ident)? $(=> $result:expr)?;)*) => {
        /// A call that the runtime implements.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum HostFn { $($(#[doc = $doc])* $name,)* }
        impl HostFn {
            /// All of them.
            pub const ALL: &[HostFn] = &[$(HostFn::$name,)*];
            /// The function's name in C.
            pub fn text(self) -> &'static str { match self { $(HostFn::$name => $text,)* } }
            /// The one with that name.
            pub fn from_text(text: &str) -> Option<HostFn> { match text { $($text => Some(HostFn::$name),)* _ => None } }
            /// Types of the fixed arguments.
            pub fn args(self) -> &'static [Type] { match self { $(HostFn::$name => &[$($arg),*],)* } }
            /// Any number of further arguments (C's promotions applied: `i32`, `i64`, `f64`, pointers).
            pub fn is_variadic(self) -> bool { match self { $(HostFn::$name => false $(|| stringify!($variadic) == "variadic")?,)* } }
            /// Type of the result.
            pub fn result(self) -> Option<Type> { match self { $(HostFn::$name => { let result: &[Type] = &[$($result)?]; result.first().copied() })* } }
        }
        impl HostFn {
            /// Whether it is one of CUDA's copies.
            pub fn is_copy(self) -> bool {
                matches!(
                    self,
                    HostFn::CudaMemcpy | HostFn::CudaMemcpyAsync | HostFn::CudaMemcpyToSymbol | HostFn::CudaMemcpyFromSymbol
                )
            }
        }
        impl fmt::Display for HostFn {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.text()) }
        }
    };
}

host_functions! {
    /// Where to put the pointer, bytes.
    CudaMalloc = "cudaMalloc"(P, L) => I;
    /// Where to put the pointer, bytes, stream.
    CudaMallocAsync = "cudaMallocAsync"(P, L, L) => I;
    /// Memory both sides may touch: where to put the pointer, bytes.
    CudaMallocManaged = "cudaMallocManaged"(P, L) => I;
    /// Pinned host memory: where to put the pointer, bytes.
    CudaMallocHost = "cudaMallocHost"(P, L) => I;
    /// Device memory.
    CudaFree = "cudaFree"(P) => I;
    /// Device memory, stream.
    CudaFreeAsync = "cudaFreeAsync"(P, L) => I;
    /// Pinned host memory.
    CudaFreeHost = "cudaFreeHost"(P) => I;
    /// Destination, source, bytes, kind.
    CudaMemcpy = "cudaMemcpy"(P, P, L, I) => I;
    /// Destination, source, bytes, kind, stream.
    CudaMemcpyAsync = "cudaMemcpyAsync"(P, P, L, I, L) => I;
    /// Destination, value, bytes.
    CudaMemset = "cudaMemset"(P, I, L) => I;
    /// Destination, value, bytes, stream.
    CudaMemsetAsync = "cudaMemsetAsync"(P, I, L, L) => I;
    /// Address of the symbol (an `addr` of a constant or device variable), source, bytes, offset, kind.
    CudaMemcpyToSymbol = "cudaMemcpyToSymbol"(P, P, L, L, I) => I;
    /// Destination, address of the symbol, bytes, offset, kind.
    CudaMemcpyFromSymbol = "cudaMemcpyFromSymbol"(P, P, L, L, I) => I;
    /// Where to put the address, address of the symbol.
    CudaGetSymbolAddress = "cudaGetSymbolAddress"(P, P) => I;
    /// Waits; returns errors of launches.
    CudaDeviceSynchronize = "cudaDeviceSynchronize"() => I;
    /// Frees everything.
    CudaDeviceReset = "cudaDeviceReset"() => I;
    /// Returns the last error and clears it (sticky ones stay).
    CudaGetLastError = "cudaGetLastError"() => I;
    /// Returns the last error.
    CudaPeekAtLastError = "cudaPeekAtLastError"() => I;
    /// CUDA's sentence for an error.
    CudaGetErrorString = "cudaGetErrorString"(I) => P;
    /// CUDA's name for an error.
    CudaGetErrorName = "cudaGetErrorName"(I) => P;
    /// Where to put the count.
    CudaGetDeviceCount = "cudaGetDeviceCount"(P) => I;
    /// Where to put the number.
    CudaGetDevice = "cudaGetDevice"(P) => I;
    /// The number.
    CudaSetDevice = "cudaSetDevice"(I) => I;
    /// Where to put free and total bytes.
    CudaMemGetInfo = "cudaMemGetInfo"(P, P) => I;
    /// A property of the device by an index that the prelude knows (also for `cudaDeviceGetAttribute`).
    DeviceProperty = "__dslc_device_property"(I) => L;
    /// Copies the device's name: destination, most bytes.
    DeviceName = "__dslc_device_name"(P, L);
    /// Bytes of the heap that kernels allocate from.
    SetHeap = "__dslc_set_heap"(L) => I;
    /// Bytes of the buffer in which a device keeps what kernels print.
    SetPrintf = "__dslc_set_printf"(L) => I;
    /// Bytes of local memory that the calls of a kernel's thread may take.
    SetStack = "__dslc_set_stack"(L) => I;
    /// Sets the last error and returns it.
    SetError = "__dslc_set_error"(I) => I;
    /// Kernel (its function's index as a constant), attribute, value.
    CudaFuncSetAttribute = "cudaFuncSetAttribute"(I, I, I) => I;
    /// Where to put the number of blocks per multiprocessor, kernel, threads per block, bytes of dynamic shared memory.
    OccupancyBlocks = "cudaOccupancyMaxActiveBlocksPerMultiprocessor"(P, I, I, L) => I;
    /// Where to put the least number of blocks that fill the device, where to put threads per block, kernel, bytes of dynamic shared
    /// memory, most threads per block (0: any number).
    OccupancyBlockSize = "cudaOccupancyMaxPotentialBlockSize"(P, P, I, L, I) => I;
    /// A property of a kernel: which (0 bytes of static shared memory, 1 most threads of a block, 2 most bytes of dynamic shared memory),
    /// kernel.
    KernelFact = "__dslc_kernel_fact"(I, I) => L;
    /// Kernel, cache preference.
    CudaFuncSetCacheConfig = "cudaFuncSetCacheConfig"(I, I) => I;
    /// Kernel, shared-memory bank size.
    CudaFuncSetSharedMemConfig = "cudaFuncSetSharedMemConfig"(I, I) => I;
    /// Cache preference.
    CudaDeviceSetCacheConfig = "cudaDeviceSetCacheConfig"(I) => I;
    /// Where to put it.
    CudaDeviceGetCacheConfig = "cudaDeviceGetCacheConfig"(P) => I;
    /// Shared-memory bank size.
    CudaDeviceSetSharedMemConfig = "cudaDeviceSetSharedMemConfig"(I) => I;
    /// Where to put it.
    CudaDeviceGetSharedMemConfig = "cudaDeviceGetSharedMemConfig"(P) => I;
    /// Where to put the event, flags.
    CudaEventCreate = "cudaEventCreate"(P, I) => I;
    /// Event, stream.
    CudaEventRecord = "cudaEventRecord"(L, L) => I;
    /// Event.
    CudaEventSynchronize = "cudaEventSynchronize"(L) => I;
    /// Where to put milliseconds (a `float`), first event, second event.
    CudaEventElapsedTime = "cudaEventElapsedTime"(P, L, L) => I;
    /// Event.
    CudaEventDestroy = "cudaEventDestroy"(L) => I;
    /// Where to put the stream.
    CudaStreamCreate = "cudaStreamCreate"(P) => I;
    /// Where to put the stream, flags.
    CudaStreamCreateWithFlags = "cudaStreamCreateWithFlags"(P, I) => I;
    /// Stream, event, flags.
    CudaStreamWaitEvent = "cudaStreamWaitEvent"(L, L, I) => I;
    /// Stream.
    CudaStreamSynchronize = "cudaStreamSynchronize"(L) => I;
    /// Stream.
    CudaStreamDestroy = "cudaStreamDestroy"(L) => I;
    /// Bytes.
    Malloc = "malloc"(L) => P;
    /// Count, bytes each.
    Calloc = "calloc"(L, L) => P;
    /// Old pointer, bytes.
    Realloc = "realloc"(P, L) => P;
    /// Host memory.
    Free = "free"(P);
    /// Destination, byte, count; returns the destination.
    Memset = "memset"(P, I, L) => P;
    /// Destination, source, count.
    Memcpy = "memcpy"(P, P, L) => P;
    /// Destination, source, count; may overlap.
    Memmove = "memmove"(P, P, L) => P;
    /// Two regions, count.
    Memcmp = "memcmp"(P, P, L) => I;
    /// A string.
    Strlen = "strlen"(P) => L;
    /// Two strings.
    Strcmp = "strcmp"(P, P) => I;
    /// Two strings, most bytes.
    Strncmp = "strncmp"(P, P, L) => I;
    /// Destination, source.
    Strcpy = "strcpy"(P, P) => P;
    /// Format, arguments.
    Printf = "printf"(P), variadic => I;
    /// Stream (1 `stdout`, 2 `stderr`), format, arguments.
    Fprintf = "fprintf"(L, P), variadic => I;
    /// Destination, format, arguments.
    Sprintf = "sprintf"(P, P), variadic => I;
    /// Destination, size, format, arguments.
    Snprintf = "snprintf"(P, L, P), variadic => I;
    /// A string and a line end.
    Puts = "puts"(P) => I;
    /// A character.
    Putchar = "putchar"(I) => I;
    /// Stream.
    Fflush = "fflush"(L) => I;
    /// A number from 0 to `RAND_MAX` = 2147483647: glibc's sequence, so that programs print what they print on Linux.
    Rand = "rand"() => I;
    /// Seed.
    Srand = "srand"(I);
    /// Status.
    Exit = "exit"(I);
    /// Ends the program.
    Abort = "abort"();
    /// A failed host `assert`: the condition's text, line.
    AssertFail = "__dslc_assert_fail"(P, I);
    /// A string.
    Atoi = "atoi"(P) => I;
    /// A string.
    Atol = "atol"(P) => L;
    /// A string.
    Atof = "atof"(P) => D;
    /// Where to put it too, or null; seconds. A fixed value in the simulator.
    Time = "time"(P) => L;
    /// Microseconds. A fixed value in the simulator.
    Clock = "clock"() => L;
    /// `CLOCK_REALTIME` or another clock; nanoseconds. A fixed value in the simulator.
    ClockNs = "__dslc_clock_ns"(I) => L;
    /// Square root and similar functions have IR instructions; from here on it is C's library on the host.
    Exp = "exp"(D) => D;
    /// Natural logarithm.
    Log = "log"(D) => D;
    /// Base 2.
    Log2 = "log2"(D) => D;
    /// Base 10.
    Log10 = "log10"(D) => D;
    /// Base, exponent.
    Pow = "pow"(D, D) => D;
    /// Radians.
    Sin = "sin"(D) => D;
    /// Radians.
    Cos = "cos"(D) => D;
    /// Radians.
    Tan = "tan"(D) => D;
    /// Arc tangent.
    Atan = "atan"(D) => D;
    /// y, x.
    Atan2 = "atan2"(D, D) => D;
    /// Hyperbolic tangent.
    Tanh = "tanh"(D) => D;
    /// Single precision.
    Expf = "expf"(F) => F;
    /// Single precision.
    Logf = "logf"(F) => F;
    /// Single precision.
    Powf = "powf"(F, F) => F;
    /// Single precision.
    Sinf = "sinf"(F) => F;
    /// Single precision.
    Cosf = "cosf"(F) => F;
    /// Single precision.
    Tanhf = "tanhf"(F) => F;
}

macro_rules! device_properties {
    ($($(#[doc = $doc:literal])* $name:ident = $index:literal $text:literal,)*) => {
        /// Properties for [`HostFn::DeviceProperty`], by index. The prelude's `__dslc_property_…` enumerators are these.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum DeviceProp { $($(#[doc = $doc])* $name = $index,)* }
        impl DeviceProp {
            /// All of them, in order.
            pub const ALL: &[DeviceProp] = &[$(DeviceProp::$name,)*];
            /// The member of `cudaDeviceProp` it fills.
            pub fn text(self) -> &'static str { match self { $(DeviceProp::$name => $text,)* } }
            /// The one with that index.
            pub fn from_index(index: i32) -> Option<DeviceProp> {
                DeviceProp::ALL.get(usize::try_from(index).ok()?).copied()
            }
        }
    };
}

device_properties! {
    /// Compute capability, before the dot.
    Major = 0 "major",
    /// Compute capability, after the dot.
    Minor = 1 "minor",
    /// Bytes.
    TotalGlobalMem = 2 "totalGlobalMem",
    /// Bytes by default.
    SharedMemPerBlock = 3 "sharedMemPerBlock",
    /// Bytes after `cudaFuncSetAttribute`.
    SharedMemPerBlockOptin = 4 "sharedMemPerBlockOptin",
    /// Bytes.
    SharedMemPerMultiprocessor = 5 "sharedMemPerMultiprocessor",
    /// 32-bit registers.
    RegsPerBlock = 6 "regsPerBlock",
    /// 32-bit registers.
    RegsPerMultiprocessor = 7 "regsPerMultiprocessor",
    /// 32.
    WarpSize = 8 "warpSize",
    /// Bytes.
    MemPitch = 9 "memPitch",
    /// 1024.
    MaxThreadsPerBlock = 10 "maxThreadsPerBlock",
    /// Of a block.
    MaxThreadsDimX = 11 "maxThreadsDim[0]",
    /// Of a block.
    MaxThreadsDimY = 12 "maxThreadsDim[1]",
    /// Of a block.
    MaxThreadsDimZ = 13 "maxThreadsDim[2]",
    /// Of a grid.
    MaxGridSizeX = 14 "maxGridSize[0]",
    /// Of a grid.
    MaxGridSizeY = 15 "maxGridSize[1]",
    /// Of a grid.
    MaxGridSizeZ = 16 "maxGridSize[2]",
    /// kHz.
    ClockRate = 17 "clockRate",
    /// Bytes.
    TotalConstMem = 18 "totalConstMem",
    /// How many.
    MultiProcessorCount = 19 "multiProcessorCount",
    /// Resident ones.
    MaxThreadsPerMultiProcessor = 20 "maxThreadsPerMultiProcessor",
    /// Resident ones.
    MaxBlocksPerMultiProcessor = 21 "maxBlocksPerMultiProcessor",
    /// kHz.
    MemoryClockRate = 22 "memoryClockRate",
    /// Bits.
    MemoryBusWidth = 23 "memoryBusWidth",
    /// Bytes.
    L2CacheSize = 24 "l2CacheSize",
    /// 0 or 1.
    ConcurrentKernels = 25 "concurrentKernels",
    /// How many.
    AsyncEngineCount = 26 "asyncEngineCount",
    /// 0 or 1.
    UnifiedAddressing = 27 "unifiedAddressing",
    /// 0 or 1.
    ManagedMemory = 28 "managedMemory",
    /// 0 or 1.
    EccEnabled = 29 "ECCEnabled",
    /// Bytes.
    ReservedSharedMemPerBlock = 30 "reservedSharedMemPerBlock",
}
