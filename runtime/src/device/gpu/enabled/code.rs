//! A program's code on the GPU: its own PTX or the back end's, loaded, with its variables placed.

use std::{collections::HashMap, sync::Arc};

use interp::Memory;
use ir::{
    FuncId, GlobalSpace, Module,
    symbol::{global_symbol, kernel_symbol},
};

use super::{Gpu, Loaded};
use crate::device::Ptx;
use crate::device::gpu::driver::{self, Image, Kernel};
use crate::error::CudaError;

/// The buffer for printed text of kernels between two waits, for programs that print there; CUDA's default is 1 MiB.
const PRINTF_BYTES: usize = 32 << 20;

impl Gpu {
    /// The PTX to load: the newest of the program's own that this GPU supports, or the PTX back end's.
    fn code(&self, module: &Module, own: &[Ptx<'_>]) -> Result<String, String> {
        let (major, minor) = (self.info.major, self.info.minor);
        let runs = |ptx: &&Ptx<'_>| ptx.sm <= major * 10 + minor;
        match own.iter().filter(runs).max_by_key(|ptx| ptx.sm) {
            Some(ptx) => Ok(ptx.text.to_string()),
            None => match self.compile {
                Some(compile) => compile(module, &self.info, &self.options),
                None => Err(self.not_brought(!own.is_empty())),
            },
        }
    }

    fn not_brought(&self, has_other: bool) -> String {
        let (major, minor) = (self.info.major, self.info.minor);
        let what = if has_other {
            format!("its PTX is for newer GPUs than this one (sm_{major}{minor})")
        } else {
            "it contains no PTX".to_string()
        };
        format!(
            "the program cannot run on a GPU: {what}, and this build cannot make PTX (feature `ptx`, which needs LLVM)"
        )
    }

    pub(super) fn module_loaded(
        &mut self,
        module: &Arc<Module>,
        memory: &mut Memory,
        ptx: &[Ptx<'_>],
    ) -> Result<(), String> {
        let ptx = self.code(module, ptx)?;
        if ptx.contains("vprintf") {
            driver::set_printf_bytes(PRINTF_BYTES).map_err(|error| error.to_string())?;
        }
        let (image, kernels) = load(module, &ptx, self.options.lines, None)?;
        // A second image would have its own variables.
        let mut globals = module.globals.iter();
        let may_load_again = globals.all(|global| global.space == GlobalSpace::Host);
        self.loaded.push(Loaded {
            module: module.clone(),
            image,
            kernels,
            ptx: may_load_again.then_some(ptx),
            frugal: HashMap::new(),
        });
        for (index, global) in module.globals.iter().enumerate() {
            if global.space == GlobalSpace::Host {
                continue;
            }
            let symbol = global_symbol(module, index);
            let address = match driver::global(image, &symbol) {
                Ok((address, _)) => address,
                // No kernel uses it, so the back end left it out. The host may still copy to it and back.
                Err(CudaError::SymbolNotFound) => {
                    let mut init = global.init.clone().unwrap_or_default();
                    init.resize(global.size_bytes as usize, 0);
                    let room = global.size_bytes.max(1);
                    match global.space {
                        GlobalSpace::Managed => driver::malloc_managed(room),
                        _ => driver::malloc(room),
                    }
                    .and_then(|address| driver::upload(address, &init).map(|()| address))
                    .map_err(|error| format!("`{}`: {error}", global.name))?
                }
                Err(error) => return Err(format!("`{}`: {error}", global.name)),
            };
            // SAFETY: the image, and what was allocated instead, stay until this device is dropped; the program does not run after that.
            unsafe { memory.place_symbol(module, ir::GlobalId(index as u32), address) };
            self.managed_in_use += u64::from(global.space == GlobalSpace::Managed);
        }
        Ok(())
    }
}

impl Loaded {
    /// A kernel compiled so that a block of this many threads has enough registers, if it has too few with the driver's choice.
    pub(super) fn frugal_kernel(
        &mut self,
        kernel: FuncId,
        max_registers: u32,
        lines: bool,
    ) -> Option<Kernel> {
        let ptx = self.ptx.as_deref()?;
        if !self.frugal.contains_key(&max_registers) {
            let loaded = load(&self.module, ptx, lines, Some(max_registers)).ok()?;
            self.frugal.insert(max_registers, loaded);
        }
        self.frugal.get(&max_registers)?.1[kernel.index()]
    }
}

/// Loads PTX as the driver's code, and finds its kernels by function.
fn load(
    module: &Module,
    ptx: &str,
    lines: bool,
    max_registers: Option<u32>,
) -> Result<(Image, Vec<Option<Kernel>>), String> {
    let image = driver::load(ptx, lines, max_registers)
        .map_err(|(error, log)| format!("the driver rejects the program's PTX: {error}\n{log}"))?;
    let mut kernels = vec![None; module.functions.len()];
    for (id, _) in module.kernels() {
        let symbol = kernel_symbol(module, id);
        let kernel = driver::kernel(image, &symbol)
            .map_err(|error| format!("the driver has no kernel `{symbol}`: {error}"))?;
        kernels[id.index()] = Some(kernel);
    }
    Ok((image, kernels))
}
