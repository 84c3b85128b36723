//! Every call of a host program, and the function that answers it.
//!
//! The table has no wildcard: a call that is added to `ir/host.rs` does not compile until it has an answer here.

use interp::TrapKind;
use ir::{FuncId, HostFn, LocId};

use super::{Host, Stop, rand};
use crate::error::CudaError;

impl Host<'_> {
    /// The bits of a call's result, if it has one. A table: one arm per call.
    pub(super) fn call(
        &mut self,
        function: HostFn,
        args: &[u64],
        loc: LocId,
    ) -> Result<Option<u64>, Stop> {
        let double = |index: usize| f64::from_bits(args[index]);
        let single = |index: usize| f32::from_bits(args[index] as u32);
        let answer = match function {
            // The process.
            HostFn::Exit => return Err(Stop::Exit(args[0] as i32 & 0xff)),
            HostFn::Abort => return Err(Stop::Exit(134)),
            HostFn::AssertFail => {
                let condition = String::from_utf8_lossy(&self.string(args[0], loc)?).into_owned();
                return Err(self.trap(TrapKind::Assert { condition }, loc));
            }
            HostFn::Time => self.time(args[0], loc)?,
            HostFn::Clock => self.clock(loc),
            HostFn::ClockNs => self.clock_ns(args[0] as i32, loc),
            HostFn::Rand => self.rand.next() as u64,
            HostFn::Srand => {
                self.rand = rand::Rand::new(args[0] as u32);
                0
            }

            // C's mathematics, as far as no IR instruction exists for it.
            HostFn::Exp => double(0).exp().to_bits(),
            HostFn::Log => double(0).ln().to_bits(),
            HostFn::Log2 => double(0).log2().to_bits(),
            HostFn::Log10 => double(0).log10().to_bits(),
            HostFn::Pow => double(0).powf(double(1)).to_bits(),
            HostFn::Sin => double(0).sin().to_bits(),
            HostFn::Cos => double(0).cos().to_bits(),
            HostFn::Tan => double(0).tan().to_bits(),
            HostFn::Atan => double(0).atan().to_bits(),
            HostFn::Atan2 => double(0).atan2(double(1)).to_bits(),
            HostFn::Tanh => double(0).tanh().to_bits(),
            HostFn::Expf => single(0).exp().to_bits().into(),
            HostFn::Logf => single(0).ln().to_bits().into(),
            HostFn::Powf => single(0).powf(single(1)).to_bits().into(),
            HostFn::Sinf => single(0).sin().to_bits().into(),
            HostFn::Cosf => single(0).cos().to_bits().into(),
            HostFn::Tanhf => single(0).tanh().to_bits().into(),

            // Output.
            HostFn::Printf => self.fprintf(1, args, loc)?,
            HostFn::Fprintf => self.fprintf(args[0], &args[1..], loc)?,
            HostFn::Sprintf => self.snprintf(args[0], u64::MAX, &args[1..], loc)?,
            HostFn::Snprintf => self.snprintf(args[0], args[1], &args[2..], loc)?,
            HostFn::Puts => self.puts(args[0], loc)?,
            HostFn::Putchar => {
                self.io.stdout(&[args[0] as u8]);
                args[0] & 0xff
            }
            HostFn::Fflush => 0,

            // C's memory, strings and conversions.
            HostFn::Malloc => self.malloc(args[0], loc),
            HostFn::Calloc => self.calloc(args[0], args[1], loc),
            HostFn::Realloc => self.realloc(args[0], args[1], loc)?,
            HostFn::Free => self.free_host(args[0], loc)?,
            HostFn::Memset => self.memset(args[0], args[1] as u8, args[2], loc)?,
            HostFn::Memcpy | HostFn::Memmove => {
                self.memcpy(function, args[0], args[1], args[2], loc)?
            }
            HostFn::Memcmp => self.memcmp(args[0], args[1], args[2], loc)?,
            HostFn::Strlen => self.text(function, args[0], loc)?.len() as u64,
            HostFn::Strcmp => self.strncmp(function, args, usize::MAX, loc)?,
            HostFn::Strncmp => self.strncmp(function, args, args[2] as usize, loc)?,
            HostFn::Strcpy => {
                let mut text = self.text(function, args[1], loc)?;
                text.push(0);
                self.store(args[0], &text, loc)?;
                args[0]
            }
            HostFn::Atoi | HostFn::Atol => self.atol(function, args[0], loc)?,
            HostFn::Atof => self.atof(args[0], loc)?,

            // CUDA calls about errors, the device or a kernel: they neither wait nor fail.
            HostFn::CudaGetLastError => self.take_last_error(),
            HostFn::CudaPeekAtLastError => self.state.last.code() as u64,
            HostFn::CudaGetErrorString => {
                let error = CudaError::from_code(args[0] as i32);
                self.text_address(error.map_or("unrecognized error code", CudaError::text))
            }
            HostFn::CudaGetErrorName => {
                let error = CudaError::from_code(args[0] as i32);
                self.text_address(error.map_or("cudaErrorUnknown", CudaError::name))
            }
            HostFn::DeviceProperty => self.property(args[0]),
            HostFn::KernelFact => self.kernel_fact(args[0], FuncId(args[1] as u32)),
            HostFn::DeviceName => {
                let mut name = self.device.info().name.clone().into_bytes();
                name.truncate((args[1] as usize).saturating_sub(1));
                name.push(0);
                self.store(args[0], &name, loc)?;
                0
            }

            // CUDA calls that return an error.
            HostFn::CudaMalloc
            | HostFn::CudaMallocAsync
            | HostFn::CudaMallocManaged
            | HostFn::CudaMallocHost => self.cuda(|host| host.allocate(function, args, loc))?,
            HostFn::CudaFree | HostFn::CudaFreeHost => self.cuda(|host| {
                host.free(function, args[0], loc)?;
                host.state.unseen_prints = None;
                host.order.wait_for_all();
                Ok(())
            })?,
            HostFn::CudaFreeAsync => self.cuda(|host| {
                host.check_stream(args[1], loc)?;
                host.freed_in_stream(args[0], args[1], loc);
                host.free(function, args[0], loc)
            })?,
            HostFn::CudaMemcpy | HostFn::CudaMemcpyAsync => self.cuda(|host| {
                match args.get(4) {
                    Some(&stream) => host.check_stream(stream, loc)?,
                    None => host.state.unseen_prints = None,
                }
                host.copy(function, args, loc)
            })?,
            HostFn::CudaMemset | HostFn::CudaMemsetAsync => self.cuda(|host| {
                if let Some(&stream) = args.get(3) {
                    host.check_stream(stream, loc)?;
                }
                host.fill(function, args, loc)
            })?,
            HostFn::CudaMemcpyToSymbol => self.cuda(|host| {
                host.state.unseen_prints = None;
                let symbol = args[0].wrapping_add(args[3]);
                host.symbol_copy(function, (symbol, args[1]), args[2], loc)
            })?,
            HostFn::CudaMemcpyFromSymbol => self.cuda(|host| {
                let symbol = args[1].wrapping_add(args[3]);
                host.state.unseen_prints = None;
                host.symbol_copy(function, (args[0], symbol), args[2], loc)?;
                host.arrived("cudaMemcpyFromSymbol", args[0], args[2], loc);
                Ok(())
            })?,
            HostFn::CudaGetSymbolAddress => {
                self.cuda(|host| Ok(host.store(args[0], &args[1].to_le_bytes(), loc)?))?
            }
            HostFn::CudaGetDeviceCount => {
                self.cuda(|host| Ok(host.store(args[0], &1u32.to_le_bytes(), loc)?))?
            }
            HostFn::CudaGetDevice => {
                self.cuda(|host| Ok(host.store(args[0], &0u32.to_le_bytes(), loc)?))?
            }
            HostFn::CudaSetDevice => self.cuda(|_| match args[0] {
                0 => Ok(()),
                _ => Err(CudaError::InvalidDevice.into()),
            })?,
            HostFn::CudaMemGetInfo => self.cuda(|host| host.memory_info(args, loc))?,
            HostFn::SetHeap => self.cuda(|host| {
                match host.device.set_heap(&mut host.memory, args[0]) {
                    true => Ok(()),
                    false => Err(CudaError::InvalidValue.into()),
                }
            })?,
            HostFn::SetPrintf => self.cuda(|host| {
                host.state.printf_bytes = args[0];
                Ok(())
            })?,
            HostFn::SetStack => self.cuda(|host| {
                match host.device.set_stack(&mut host.memory, args[0]) {
                    true => Ok(()),
                    false => Err(CudaError::InvalidValue.into()),
                }
            })?,
            HostFn::SetError => self.cuda(|_| match CudaError::from_code(args[0] as i32) {
                None | Some(CudaError::Success) => Ok(()),
                Some(error) => Err(error.into()),
            })?,
            HostFn::CudaFuncSetAttribute => self.cuda(|host| host.function_attribute(args))?,
            HostFn::OccupancyBlocks => self.cuda(|host| host.active_blocks(args, loc))?,
            HostFn::OccupancyBlockSize => self.cuda(|host| host.best_block_size(args, loc))?,
            HostFn::CudaFuncSetCacheConfig => self.cuda(|host| {
                let text = "cudaFuncSetCacheConfig has no effect in the simulator: no count depends on how memory is divided between L1 cache and shared memory";
                host.say_once(loc, text);
                Ok(())
            })?,
            HostFn::CudaFuncSetSharedMemConfig => self.cuda(|host| {
                let text = "cudaFuncSetSharedMemConfig has no effect in the simulator: use cudaDeviceSetSharedMemConfig or --bank-width";
                host.say_once(loc, text);
                Ok(())
            })?,
            HostFn::CudaDeviceSetCacheConfig => self.cuda(|host| {
                host.state.cache_config = args[0] as u32;
                Ok(())
            })?,
            HostFn::CudaDeviceGetCacheConfig => self.cuda(|host| {
                let config = host.state.cache_config.to_le_bytes();
                Ok(host.store(args[0], &config, loc)?)
            })?,
            HostFn::CudaDeviceSetSharedMemConfig => {
                self.cuda(|host| host.set_bank_width(args[0], loc))?
            }
            HostFn::CudaDeviceGetSharedMemConfig => {
                self.cuda(|host| host.get_bank_width(args[0], loc))?
            }
            HostFn::CudaEventCreate => {
                self.cuda(|host| host.create_event(args[0], args[1], loc))?
            }
            HostFn::CudaEventRecord => {
                self.cuda(|host| host.record_event(args[0], args[1], loc))?
            }
            HostFn::CudaEventSynchronize => self.cuda(|host| {
                host.check_event(args[0])?;
                host.synchronize(function, loc)?;
                host.order.wait_for_event(args[0]);
                Ok(())
            })?,
            HostFn::CudaEventElapsedTime => self.cuda(|host| host.elapsed_time(args, loc))?,
            HostFn::CudaEventDestroy => self.cuda(|host| host.destroy_event(args[0]))?,
            HostFn::CudaStreamCreate => self.cuda(|host| host.create_stream(args[0], 0, loc))?,
            HostFn::CudaStreamCreateWithFlags => {
                self.cuda(|host| host.create_stream(args[0], args[1], loc))?
            }
            HostFn::CudaStreamWaitEvent => self.cuda(|host| {
                host.check_stream(args[0], loc)?;
                host.order.let_wait(args[0], args[1]);
                Ok(())
            })?,
            HostFn::CudaStreamSynchronize => self.cuda(|host| {
                host.check_stream(args[0], loc)?;
                host.synchronize(function, loc)?;
                host.order.wait_for_stream(args[0]);
                Ok(())
            })?,
            HostFn::CudaStreamDestroy => self.cuda(|host| host.destroy_stream(args[0], loc))?,
            HostFn::CudaDeviceSynchronize => self.cuda(|host| {
                host.synchronize(function, loc)?;
                host.order.wait_for_all();
                Ok(())
            })?,
            HostFn::CudaDeviceReset => self.cuda(|host| {
                host.synchronize(function, loc)?;
                host.free_all(loc);
                host.order.wait_for_all();
                Ok(())
            })?,
        };
        Ok(function.result().map(|_| answer))
    }
}
