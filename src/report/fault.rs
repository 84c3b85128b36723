//! A fault at run time as a diagnostic: the same form as the front end's messages, at the line of the access.

use dsl::{
    diagnostic::{Code, Diagnostic, render},
    ir::{
        LocId, Module,
        locate::{self, Extent},
    },
};
use interp::{Trap, TrapKind};
use runtime::{
    device::DeviceFault,
    error::CudaError,
    host::{Fault, Note},
};

use super::Input;
use crate::output;

/// The code of a launch that is refused.
pub(crate) fn code_of_invalid() -> Code {
    Code::InvalidLaunch
}

/// The code of a trap.
pub(crate) fn code_of_trap(kind: &TrapKind) -> Code {
    match kind {
        TrapKind::OutOfBounds(_) => Code::OutOfBounds,
        TrapKind::Misaligned(_) => Code::Misaligned,
        TrapKind::NullPointer(_) => Code::NullPointer,
        TrapKind::UseAfterFree(_) => Code::UseAfterFree,
        TrapKind::HostPointerOnDevice(_) | TrapKind::DevicePointerOnHost(_) => {
            Code::WrongSidePointer
        }
        TrapKind::ReadOnly(_) | TrapKind::InvalidPointer(_) | TrapKind::BadString { .. } => {
            Code::InvalidPointer
        }
        TrapKind::Deadlock => Code::Deadlock,
        TrapKind::Limit { .. } => Code::InstructionLimit,
        TrapKind::BarrierDivergence { .. } => Code::DivergentBarrier,
        TrapKind::InvalidMask { .. } => Code::InvalidMask,
        TrapKind::Assert { .. } | TrapKind::Explicit => Code::AssertionFailed,
        TrapKind::DivisionByZero => Code::DivisionByZero,
        TrapKind::StackOverflow => Code::StackOverflow,
    }
}

/// The code of a fault on a GPU: what the driver's error says of it.
pub(crate) fn code_of_device(error: CudaError) -> Code {
    match error {
        CudaError::MisalignedAddress => Code::Misaligned,
        CudaError::Assert => Code::AssertionFailed,
        CudaError::LaunchTimeout => Code::Deadlock,
        CudaError::IllegalAddress => Code::InvalidPointer,
        _ => Code::AssertionFailed,
    }
}

/// The sentence for a fault on a GPU.
pub(crate) fn device_message(fault: &DeviceFault, module: &Module) -> String {
    match fault.kernel {
        Some(kernel) => format!("`{}` failed on the GPU: {fault}", module.function(kernel).name),
        None => format!("the GPU failed: {fault}"),
    }
}

/// All faults as text for stderr.
pub(crate) fn render_all(input: &Input<'_>, color: bool) -> String {
    let all = input.outcome.faults.iter().map(|fault| match fault {
        Fault::Invalid { kernel, loc, why } => {
            let name = &input.module.function(*kernel).name;
            place(
                code_of_invalid(),
                *loc,
                format!("`{name}` cannot be launched: {why}"),
                input,
            )
        }
        Fault::Trap { trap, .. } => diagnostic(trap, input),
        Fault::Device(fault) => place(
            code_of_device(fault.error),
            fault.loc,
            device_message(fault, input.module),
            input,
        )
        .help("without `--device gpu`, the simulator names the line and the thread"),
    });
    let all: Vec<Diagnostic> = all.collect();
    if all.is_empty() {
        String::new()
    } else {
        render::render(&all, input.map, color, Some(output::columns()))
    }
}

/// All faults as sentences, for other programs.
pub(crate) fn sentences(input: &Input<'_>) -> Vec<String> {
    let all = input.outcome.faults.iter().map(|fault| match fault {
        Fault::Invalid { kernel, why, .. } => format!(
            "`{}` cannot be launched: {why}",
            input.module.function(*kernel).name
        ),
        Fault::Trap { trap, .. } => trap.message(),
        Fault::Device(fault) => device_message(fault, input.module),
    });
    all.collect()
}

fn place(code: Code, loc: LocId, message: String, input: &Input<'_>) -> Diagnostic {
    let at = locate::span(loc, Extent::Character, input.module, input.map).unwrap_or_default();
    Diagnostic::error(code, at, message)
}

fn diagnostic(trap: &Trap, input: &Input<'_>) -> Diagnostic {
    let mut diagnostic = place(code_of_trap(&trap.kind), trap.loc, trap.message(), input);
    if !trap.on_host {
        let [bx, by, bz] = trap.block;
        let [tx, ty, tz] = trap.thread;
        diagnostic = diagnostic.at(format!(
            "block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})"
        ));
    }
    if let Some(help) = help(&trap.kind) {
        diagnostic = diagnostic.help(help);
    }
    for (loc, text) in trap.notes() {
        diagnostic = match locate::span(loc, Extent::Name, input.module, input.map) {
            Some(span) => diagnostic.label(span, text),
            None => diagnostic.note(text),
        };
    }
    let mut via = input.module.loc(trap.loc).via;
    while let Some(id) = via {
        let loc = input.module.loc(id);
        let file = input
            .module
            .files
            .get(loc.file as usize)
            .map_or("", String::as_str);
        diagnostic = diagnostic.note(format!("by way of {file}:{}:{}", loc.line, loc.column));
        via = loc.via;
    }
    diagnostic
}

/// One thing to try, where the kind of fault alone suggests it.
fn help(kind: &TrapKind) -> Option<&'static str> {
    Some(match kind {
        TrapKind::HostPointerOnDevice(_) => {
            "allocate it with cudaMalloc and copy with cudaMemcpy, or use cudaMallocManaged"
        }
        TrapKind::DevicePointerOnHost(_) => "copy it to the host with cudaMemcpy first",
        TrapKind::BarrierDivergence { .. } => {
            "move the barrier to where all threads of the block come by"
        }
        TrapKind::InvalidMask { .. } => {
            "name exactly the threads that get there: `__ballot_sync` before the branch, or move it out of the branch"
        }
        TrapKind::Limit { .. } => "if it is meant to run so long, raise --limit",
        TrapKind::NullPointer(_) => "was it ever allocated? check what the allocation returned",
        _ => return None,
    })
}

/// A note as a line for stderr.
pub(crate) fn note(note: &Note, module: &Module) -> String {
    let loc = module.loc(note.loc);
    let file = module
        .files
        .get(loc.file as usize)
        .map_or("", String::as_str);
    let kind = if note.is_error { "error" } else { "note" };
    if loc.line == 0 {
        format!("{kind}: {}\n", note.text)
    } else {
        format!("{file}:{}: {kind}: {}\n", loc.line, note.text)
    }
}
