//! All uses of LLVM: parsing a module, running the pipeline, printing PTX.

mod bit;
mod frame;
mod unroll;

use std::sync::Once;

use inkwell::{
    OptimizationLevel,
    context::Context,
    memory_buffer::MemoryBuffer,
    module::Module,
    passes::PassBuilderOptions,
    targets::{
        FileType, InitializationConfig, Target, TargetMachine, TargetMachineOptions, TargetTriple,
    },
};

use crate::{Error, Options};

/// The triple of 64-bit CUDA.
const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// PTX of a module in LLVM IR text.
pub(crate) fn ptx(text: &str, options: &Options) -> Result<String, Error> {
    let machine = machine(options)?;
    let context = Context::create();
    let module = optimize(&context, text, &machine, options)?;
    let buffer = machine
        .write_to_memory_buffer(&module, FileType::Assembly)
        .map_err(refused)?;
    let bytes = buffer.as_slice();
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    // LLVM writes this empty section for every module with lines.
    let text = String::from_utf8_lossy(bytes);
    let text = text.replace("\t.section\t.debug_macinfo\t{\t}\n", "");
    Ok(bit::in_place(&frame::named(&text)).into_owned())
}

/// A module in LLVM IR text after the pipeline.
pub(crate) fn optimized(text: &str, options: &Options) -> Result<String, Error> {
    let machine = machine(options)?;
    let context = Context::create();
    let module = optimize(&context, text, &machine, options)?;
    Ok(module.print_to_string().to_string())
}

fn refused(message: impl ToString) -> Error {
    Error::Llvm {
        message: message.to_string(),
    }
}

fn optimize<'ctx>(
    context: &'ctx Context,
    text: &str,
    machine: &TargetMachine,
    options: &Options,
) -> Result<Module<'ctx>, Error> {
    let module = read(context, text)?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    if cfg!(debug_assertions) {
        module.verify().map_err(refused)?;
    }
    let level = options.opt_level.min(3);
    let run = |module: &Module<'_>, passes: &str| {
        let settings = PassBuilderOptions::create();
        module
            .run_passes(passes, machine, settings)
            .map_err(refused)
    };
    run(&module, &format!("default<O{level}>"))?;
    if level < 2 {
        return Ok(module);
    }
    match unroll::marked(&module.print_to_string().to_string()) {
        Some(marked) => {
            let module = read(context, &marked)?;
            run(&module, unroll::PASSES)?;
            Ok(module)
        }
        None => Ok(module),
    }
}

fn read<'ctx>(context: &'ctx Context, text: &str) -> Result<Module<'ctx>, Error> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "kernels");
    context.create_module_from_ir(buffer).map_err(refused)
}

fn machine(options: &Options) -> Result<TargetMachine, Error> {
    start();
    let unusable = |message: String| Error::Target {
        target: options.arch.to_string(),
        message,
    };
    let triple = TargetTriple::create(TRIPLE);
    let target = Target::from_triple(&triple).map_err(|message| unusable(message.to_string()))?;
    let level = match options.opt_level {
        0 => OptimizationLevel::None,
        1 => OptimizationLevel::Less,
        2 => OptimizationLevel::Default,
        _ => OptimizationLevel::Aggressive,
    };
    let settings = TargetMachineOptions::new()
        .set_cpu(&options.arch.to_string())
        .set_features(&format!("+ptx{}", options.arch.ptx_version()))
        .set_level(level);
    target
        .create_target_machine_from_options(&triple, settings)
        .ok_or_else(|| unusable("no machine of that name".to_string()))
}

/// Sets up LLVM once per process: the NVPTX back end, and 32-bit pointers for shared, constant and local memory, which the hardware has.
/// Index arithmetic on such pointers needs no widening. Loop strength reduction is off: it would turn all addresses of a round into sums of
/// one register and changing offsets, and ptxas, which reduces strength itself, then does not move loads. Loops are fully unrolled up to
/// twice LLVM's default size, about as nvcc does; partial unrolling has LLVM's default.
fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        Target::initialize_nvptx(&InitializationConfig::default());
        let arguments = [
            c"dslc".as_ptr(),
            c"-nvptx-short-ptr".as_ptr(),
            c"-disable-lsr".as_ptr(),
            c"-unroll-threshold-aggressive=600".as_ptr(),
            c"-unroll-partial-threshold=75".as_ptr(),
        ];
        // SAFETY: the array contains as many NUL-terminated strings as the count says, and `Once` excludes other threads.
        unsafe {
            inkwell::llvm_sys::support::LLVMParseCommandLineOptions(
                arguments.len() as i32,
                arguments.as_ptr(),
                std::ptr::null(),
            );
        }
    });
}
