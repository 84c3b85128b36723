//! Kernels from Rust: compile a source, make buffers, launch, read back, look at the counts.
//!
//! ```
//! use runtime::session::{Arg, Session};
//! let mut session = Session::from_source(
//!     "__global__ void scale(float *x, float factor, int n)
//!      {
//!          int i = blockIdx.x * blockDim.x + threadIdx.x;
//!          if (i < n) x[i] *= factor;
//!      }",
//! )
//! .unwrap();
//! let x = session.buffer(&[1.0f32, 2.0, 3.0]).unwrap();
//! let report = session.launch("scale", [1, 1, 1], [32, 1, 1], 0, &[x.arg(), Arg::F32(2.5), Arg::I32(3)]).unwrap();
//! assert_eq!(session.read(&x).unwrap(), [2.5, 5.0, 7.5]);
//! assert_eq!(report.counts.global_load.sectors, 1);
//! ```

use std::{marker::PhantomData, sync::Arc};

use dsl::{
    diagnostic::render,
    ir::{FunctionKind, LocId, SpecialReg, Type},
    source::{Loader, NoFiles, SourceFile, SourceMap},
};
use interp::{
    LaunchConfig, LaunchReport, MachineConfig, Memory, Program,
    rules::{Arch, RuleSet},
};
use thiserror::Error;

use crate::device::{
    Device, DeviceError, LaunchError,
    gpu::{Gpu, GpuError, GpuOptions},
    simulator::Simulator,
};

/// What can go wrong between a source and a result.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The source does not compile: all messages, rendered without colour.
    #[error("{0}")]
    Compile(String),
    /// There is no kernel of that name.
    #[error("there is no kernel `{0}`")]
    NoKernel(String),
    /// An argument does not fit its parameter.
    #[error("argument {index} of `{kernel}` does not fit a `{wanted}`")]
    Argument {
        /// The kernel.
        kernel: String,
        /// From 1.
        index: usize,
        /// The parameter's type.
        wanted: String,
    },
    /// There is no GPU.
    #[error("{0}")]
    NoGpu(GpuError),
    /// The program cannot be brought to the device.
    #[error("{0}")]
    Load(String),
    /// No memory is left, a buffer is not there any more, or a kernel faulted on a GPU.
    #[error("{0}")]
    Device(DeviceError),
    /// The launch was refused, or a thread trapped.
    #[error("{0}")]
    Launch(LaunchError),
}

/// A plain number that kernels can hold in memory.
pub trait Element: Copy {
    /// Its little-endian bytes are appended.
    fn put(self, bytes: &mut Vec<u8>);
    /// Read back from exactly its size in bytes.
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($ty:ty)*) => { $(
        impl Element for $ty {
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn take(bytes: &[u8]) -> $ty {
                let mut own = [0; size_of::<$ty>()];
                own.copy_from_slice(bytes);
                <$ty>::from_le_bytes(own)
            }
        }
    )* };
}

elements! { i8 u8 i16 u16 i32 u32 i64 u64 f32 f64 }

/// Device memory that holds elements of one type.
#[derive(Debug)]
pub struct Buffer<T> {
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Buffer<T> {
    /// As an argument of a launch.
    pub fn arg(&self) -> Arg {
        Arg::Pointer(self.address)
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// An argument of a launch.
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(missing_docs, reason = "the names are the types")]
pub enum Arg {
    Bool(bool),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
    Pointer(u64),
}

impl Arg {
    /// Its type and bits in the machine.
    fn bits(self, wanted: Type) -> Option<u64> {
        match (self, wanted) {
            (Arg::Bool(value), Type::I1) => Some(value.into()),
            (Arg::I32(value), Type::I32) => Some(u64::from(value as u32)),
            (Arg::U32(value), Type::I32) => Some(value.into()),
            (Arg::I64(value), Type::I64) => Some(value as u64),
            (Arg::U64(value), Type::I64) => Some(value),
            (Arg::F32(value), Type::F32) => Some(value.to_bits().into()),
            (Arg::F64(value), Type::F64) => Some(value.to_bits()),
            (Arg::Pointer(address), Type::Ptr(_)) => Some(address),
            _ => None,
        }
    }
}

/// A program on a device, with its memory.
#[derive(Debug)]
pub struct Session<D: Device = Simulator> {
    program: Program,
    memory: Memory,
    device: D,
    printed: Vec<u8>,
}

impl Session {
    /// Compiles a source for the default architecture, sm_90.
    pub fn from_source(source: &str) -> Result<Session, SessionError> {
        Session::new("kernel.k", source, &NoFiles, RuleSet::for_arch(Arch::SM_90))
    }

    /// Compiles a source called `name`, which may include what `loader` knows, for an architecture's rules.
    pub fn new(
        name: &str,
        source: &str,
        loader: &dyn Loader,
        rules: RuleSet,
    ) -> Result<Session, SessionError> {
        let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
        let device = Simulator::new(MachineConfig {
            rules,
            jobs,
            limit: None,
            checks: interp::Checks::ALL,
            order: interp::Order::Ascending,
            trace: false,
        });
        Session::on(device, name, source, loader)
    }
}

impl Session<Gpu> {
    /// Compiles a source for this machine's GPU. Launches end when their result is read; what kernels print goes to standard output.
    /// After a kernel has faulted, CUDA serves this process no more: every further call is an error, a new session too.
    pub fn on_gpu(source: &str) -> Result<Session<Gpu>, SessionError> {
        let gpu = Gpu::open(GpuOptions::default()).map_err(SessionError::NoGpu)?;
        Session::on(gpu, "kernel.k", source, &NoFiles)
    }
}

impl<D: Device> Session<D> {
    /// Compiles a source called `name`, which may include what `loader` knows, for a device.
    pub fn on(
        mut device: D,
        name: &str,
        source: &str,
        loader: &dyn Loader,
    ) -> Result<Session<D>, SessionError> {
        let mut map = SourceMap::new();
        let file = map.add(SourceFile::new(name, source));
        let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), loader);
        let Some(module) = compiled.module else {
            return Err(SessionError::Compile(render::render(
                &compiled.diagnostics,
                &map,
                false,
                None,
            )));
        };
        let program = Program::new(Arc::new(module));
        let mut memory = Memory::new(&program);
        device
            .prepare(&program, &mut memory)
            .map_err(SessionError::Load)?;
        Ok(Session {
            program,
            memory,
            device,
            printed: Vec::new(),
        })
    }

    /// Device memory with these elements in it.
    pub fn buffer<T: Element>(&mut self, elements: &[T]) -> Result<Buffer<T>, SessionError> {
        let mut bytes = Vec::with_capacity(size_of_val(elements));
        elements.iter().for_each(|element| element.put(&mut bytes));
        let size = (bytes.len() as u64).max(1);
        let address = self
            .device
            .malloc(&mut self.memory, size, false)
            .map_err(SessionError::Device)?;
        self.device
            .write(&mut self.memory, address, &bytes)
            .map_err(SessionError::Device)?;
        Ok(Buffer {
            address,
            len: elements.len(),
            element: PhantomData,
        })
    }

    /// What a buffer holds now.
    pub fn read<T: Element>(&mut self, buffer: &Buffer<T>) -> Result<Vec<T>, SessionError> {
        let size = (buffer.len * size_of::<T>()) as u64;
        let bytes = self.device.read(&self.memory, buffer.address, size);
        Ok(bytes
            .map_err(SessionError::Device)?
            .chunks_exact(size_of::<T>())
            .map(T::take)
            .collect())
    }

    /// Runs a kernel to its end and tells what it cost. A parameter that is a struct takes one argument per scalar.
    pub fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u64,
        args: &[Arg],
    ) -> Result<LaunchReport, SessionError> {
        let module = self.program.module().clone();
        let id = module
            .find(kernel, FunctionKind::Kernel)
            .ok_or_else(|| SessionError::NoKernel(kernel.to_string()))?;
        let function = module.function(id);
        let mut bits = Vec::with_capacity(args.len());
        for (index, (arg, param)) in args.iter().zip(&function.params).enumerate() {
            let fits = arg.bits(function.slots[param.slot.index()].ty);
            bits.push(fits.ok_or_else(|| SessionError::Argument {
                kernel: kernel.to_string(),
                index: index + 1,
                wanted: param.c_type.clone(),
            })?);
        }
        bits.extend(std::iter::repeat_n(
            0,
            args.len().saturating_sub(bits.len()),
        ));
        let config = LaunchConfig {
            grid,
            block,
            shared_bytes,
            cooperative: function.reads(SpecialReg::CooperativeGrid),
            loc: LocId::default(),
        };
        let printed = &mut self.printed;
        let mut out = |text: &[u8]| printed.extend_from_slice(text);
        let result = self.device.launch(
            &self.program,
            &mut self.memory,
            id,
            &config,
            &bits,
            &mut out,
        );
        result.map_err(SessionError::Launch)
    }

    /// Waits for all launches; gives the milliseconds of each, where the device has a clock.
    pub fn finish(&mut self) -> Result<Vec<Option<f64>>, SessionError> {
        self.device.finish().map_err(SessionError::Device)
    }

    /// What kernels have printed since the last call.
    pub fn take_printed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.printed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "__global__ void fill(int *x, int value) { x[threadIdx.x] = value; }";

    #[test]
    fn errors_come_back_as_values() {
        assert!(
            matches!(Session::from_source("int x = ;"), Err(SessionError::Compile(text)) if text.contains("E0300"))
        );
        let mut session = Session::from_source(KERNEL).unwrap();
        let x = session.buffer(&[0i32; 8]).unwrap();
        let launch = |session: &mut Session, name: &str, threads: u32, args: &[Arg]| {
            session
                .launch(name, [1, 1, 1], [threads, 1, 1], 0, args)
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            launch(&mut session, "fil", 8, &[]),
            Err("there is no kernel `fil`".into())
        );
        let float = launch(&mut session, "fill", 8, &[x.arg(), Arg::F32(1.0)]);
        assert_eq!(
            float,
            Err("argument 2 of `fill` does not fit a `int`".into())
        );
        assert_eq!(
            launch(&mut session, "fill", 8, &[x.arg()]),
            Err("1 arguments for 2 parameters".into())
        );
        assert!(
            launch(&mut session, "fill", 9, &[x.arg(), Arg::I32(7)])
                .unwrap_err()
                .contains("element 8")
        );
        assert_eq!(
            launch(&mut session, "fill", 8, &[x.arg(), Arg::I32(7)]),
            Ok(())
        );
        assert_eq!(session.read(&x).unwrap(), [7; 8]);
    }
}
