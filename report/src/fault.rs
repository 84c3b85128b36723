//! The names of traps: their codes, and one thing to try. Also notes, as lines for stderr.

mod endless;
mod place;

use interp::{
    AddressKind, InvalidLaunch, LaunchReport, MaskFault, StopReason, Trap, TrapKind,
    finding::{Advice, Fact},
    trap::{BadAccess, Overflow, WaitingState},
};
use ir::{InstKind, Intrinsic, LocId, Module, Space, Type, diagnostic::Code};
use runtime::{device::DeviceFault, error::CudaError, host::Note};

use place::Parting;

/// The code of a launch that is refused.
pub fn code_of_invalid() -> Code {
    Code::InvalidLaunch
}

/// The code of a trap.
pub fn code_of_trap(kind: &TrapKind) -> Code {
    match kind {
        TrapKind::OutOfBounds(_) => Code::OutOfBounds,
        TrapKind::Misaligned(_) => Code::Misaligned,
        TrapKind::NullPointer(_) | TrapKind::BadCall => Code::NullPointer,
        TrapKind::BadObject => Code::InvalidPointer,
        TrapKind::UseAfterFree(_) => Code::UseAfterFree,
        TrapKind::InvalidFree(fault) if fault.is_wrong_side_free() => Code::WrongSidePointer,
        TrapKind::InvalidFree(fault) => match fault.kind {
            AddressKind::Freed => Code::UseAfterFree,
            AddressKind::Null => Code::NullPointer,
            _ => Code::InvalidPointer,
        },
        TrapKind::HostPointerOnDevice(_) | TrapKind::DevicePointerOnHost(_) => {
            Code::WrongSidePointer
        }
        TrapKind::ReadOnly(_) | TrapKind::InvalidPointer(_) | TrapKind::BadString { .. } => {
            Code::InvalidPointer
        }
        TrapKind::Deadlock | TrapKind::Endless => Code::Deadlock,
        TrapKind::AwaitsHost => Code::AwaitsHost,
        TrapKind::Limit { .. } | TrapKind::RunLimit { .. } | TrapKind::PrintLimit { .. } => {
            Code::InstructionLimit
        }
        TrapKind::Stopped(_) => Code::Stopped,
        TrapKind::BarrierDivergence { .. } | TrapKind::InvalidBarrier { .. } => {
            Code::DivergentBarrier
        }
        TrapKind::InvalidMask { .. } => Code::InvalidMask,
        TrapKind::Assert { .. } | TrapKind::Explicit => Code::AssertionFailed,
        TrapKind::DivisionByZero => Code::DivisionByZero,
        TrapKind::Unsupported { .. } => Code::UnsupportedInstruction,
        TrapKind::StackOverflow | TrapKind::CallsTooDeep { .. } => Code::StackOverflow,
    }
}

/// The code of a fault on a GPU, from the driver's error.
pub fn code_of_device(error: CudaError) -> Code {
    match error {
        CudaError::MisalignedAddress => Code::Misaligned,
        CudaError::LaunchTimeout => Code::Deadlock,
        CudaError::IllegalAddress | CudaError::InvalidAddressSpace => Code::InvalidPointer,
        // `__trap()` is a launch failure, or an illegal instruction.
        CudaError::Assert | CudaError::LaunchFailure | CudaError::IllegalInstruction => {
            Code::AssertionFailed
        }
        other => {
            debug_assert!(!other.is_sticky(), "{other} ends a context");
            Code::AssertionFailed
        }
    }
}

/// The kind of a fault on a GPU, in the report's schema.
pub fn kind_of_device(error: CudaError) -> &'static str {
    match error {
        CudaError::MisalignedAddress => "misaligned",
        CudaError::LaunchTimeout => "deadlock",
        CudaError::IllegalAddress | CudaError::InvalidAddressSpace => "out_of_bounds",
        CudaError::Assert | CudaError::LaunchFailure | CudaError::IllegalInstruction => "assertion",
        other => {
            debug_assert!(!other.is_sticky(), "{other} ends a context");
            "assertion"
        }
    }
}

/// The sentence for a fault on a GPU.
pub fn device_message(fault: &DeviceFault, module: &Module) -> String {
    match fault.kernel {
        Some(kernel) => format!(
            "`{}` failed on the GPU: {fault}",
            module.function(kernel).name
        ),
        None => format!("the GPU failed: {fault}"),
    }
}

/// What to do about a launch that was refused.
pub fn help_refused(why: &InvalidLaunch, kernel: &str) -> Option<String> {
    Some(match why {
        InvalidLaunch::TooMuchShared { bytes, most, .. } if bytes > most => {
            format!("use less: a block of this architecture has at most {most} bytes")
        }
        InvalidLaunch::TooMuchStaticShared { bytes, .. } => format!(
            "make the largest array dynamic: `extern __shared__ T name[];`, its bytes as the third value of `<<<…>>>`, and before the launch \
             `cudaFuncSetAttribute({kernel}, cudaFuncAttributeMaxDynamicSharedMemorySize, {bytes})`"
        ),
        InvalidLaunch::TooMuchShared {
            bytes,
            dynamic,
            limit,
            ..
        } => {
            let declared = match bytes - dynamic {
                0 => String::new(),
                fixed => format!(", of which the kernel's own take {fixed}"),
            };
            format!(
                "unless the program asks for more, a block has at most {limit} bytes{declared}: call \
                 `cudaFuncSetAttribute({kernel}, cudaFuncAttributeMaxDynamicSharedMemorySize, {dynamic})` before the launch"
            )
        }
        InvalidLaunch::ZeroDimension { what: "grid", axis } => format!(
            "`n / block` is 0 where there are fewer elements than threads in a block: round up, `(n + block - 1) / block` blocks in {axis}, and \
             launch nothing where there are no elements"
        ),
        InvalidLaunch::DimensionTooLarge {
            what: "block",
            axis,
            limit,
            ..
        } => {
            format!(
                "make the blocks smaller, at most {limit} threads in {axis}, and launch more of them"
            )
        }
        InvalidLaunch::TooManyThreads { limit, .. } => {
            format!(
                "make the blocks smaller, at most {limit} threads in all dimensions together, and launch more of them"
            )
        }
        InvalidLaunch::LaunchBounds { threads, .. } => {
            format!(
                "make the blocks smaller and launch more of them, or declare `{kernel}` with `__launch_bounds__({threads})`"
            )
        }
        InvalidLaunch::DimensionTooLarge {
            what: "grid",
            axis: 'y' | 'z',
            ..
        } => {
            "let x count what there is most of: a grid may have 2147483647 blocks in x".to_string()
        }
        InvalidLaunch::CooperativeTooLarge { limit, .. } => format!(
            "launch at most {limit} blocks, and let each take several pieces: `for (i = blockIdx.x; i < pieces; i += gridDim.x)`"
        ),
        _ => return None,
    })
}

/// One thing to try, where the kind of fault alone suggests it. `reach`: how many bytes before and after its address similar accesses went.
pub fn help(
    trap: &Trap,
    report: Option<&LaunchReport>,
    reach: (i64, i64),
    module: &Module,
) -> Option<Advice> {
    let text = match &trap.kind {
        TrapKind::Limit { .. } | TrapKind::RunLimit { .. } | TrapKind::Stopped(_)
            if let Some(advice) = of_floats(trap, module) =>
        {
            return Some(advice);
        }
        TrapKind::OutOfBounds(access) => {
            let source = &module.loc(trap.loc).text;
            // A pitch does not explain an index that overflows its type.
            let pitch = || match trap.overflow {
                Some(_) => None,
                None => of_pitch(access, source),
            };
            let index = || of_index(access, trap.overflow.as_deref(), report, reach);
            return of_dynamic_shared(access, report, reach.1)
                .or_else(pitch)
                .or_else(index);
        }
        TrapKind::ReadOnly(access) => return of_constant(access, trap.on_host),
        TrapKind::HostPointerOnDevice(_) => {
            "allocate it with cudaMalloc and copy with cudaMemcpy, or use cudaMallocManaged"
        }
        TrapKind::DevicePointerOnHost(_) => "copy it to the host with cudaMemcpy first",
        TrapKind::BarrierDivergence { .. } => return Some(of_barrier(trap.loc, module)),
        TrapKind::InvalidBarrier { .. } => {
            "use barriers 0 to 15, and let all threads of one name the same number of threads, a multiple of 32"
        }
        TrapKind::InvalidMask { fault, .. } => return Some(of_mask(trap.loc, *fault, module)),
        TrapKind::AwaitsHost => {
            "set what the kernel waits for before the call that waits for the kernel; on a device this program hangs, too, unless another \
             thread of the host sets it"
        }
        TrapKind::Deadlock => return of_numbered(trap),
        TrapKind::Endless => "let the loop change what its condition tests",
        TrapKind::Limit { .. } | TrapKind::RunLimit { .. } => {
            "if it should run this long, raise --limit"
        }
        TrapKind::Stopped(StopReason::TimeOver(_)) => "if it should run this long, raise --timeout",
        TrapKind::UseAfterFree(_) => "free memory after its last use",
        TrapKind::BadObject => {
            "make the object on the side that calls it: with `new` or a declaration in a kernel, not by copying an object of the host"
        }
        TrapKind::BadCall => {
            "set the pointer before the kernel runs: set a `__device__` pointer in a kernel or with cudaMemcpyToSymbol, \
             never with the host's `&f`"
        }
        TrapKind::NullPointer(_) if allocates(report, module) => {
            "was it ever allocated? `malloc` and `new` return a null pointer once the kernels' heap is full: test for it, and make the heap \
             larger than its 8 MB with `cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes)` before the first launch"
        }
        TrapKind::NullPointer(_) => "was it ever allocated? check what the allocation returned",
        TrapKind::Misaligned(access) => {
            return of_rows(access).or_else(|| of_vector(access, trap.block == [0; 3]));
        }
        _ => return None,
    };
    Some(text.into())
}

/// Whether the kernel of a launch allocates memory.
fn allocates(report: Option<&LaunchReport>, module: &Module) -> bool {
    let mut found = false;
    if let Some(report) = report {
        let body = &module.function(report.kernel).body;
        body.for_each_inst(&mut |inst| {
            found |= matches!(inst.kind, InstKind::Intrinsic(Intrinsic::HeapMalloc, _))
        });
    }
    found
}

/// What to do about a barrier that not all threads of the block reach.
pub(crate) fn of_barrier(at: LocId, module: &Module) -> Advice {
    match place::parted_call(at, module) {
        Some(line) => format!(
            "let every thread of the block make the call of line {line}, which leads to this barrier: take the call out of the branch, and \
             give threads that have nothing to do a value that changes nothing"
        )
        .into(),
        None => match place::parting(at, module) {
            Some(Parting::Loop(back)) => format!(
                "threads leave the loop of line {} in different rounds: let all threads of the block make the same number of rounds, and put \
                 what only some of them do under an `if` without a barrier in it",
                module.loc(back).line
            )
            .into(),
            _ => "move the barrier to a point that every thread in the block reaches".into(),
        },
    }
}

/// What to do about a numbered barrier that too few threads reach.
fn of_numbered(trap: &Trap) -> Option<Advice> {
    let (barrier, come, wanted) = trap.others.iter().find_map(|waiting| match waiting.state {
        WaitingState::AtNumbered {
            barrier,
            come,
            wanted,
        } => Some((barrier, come, wanted)),
        _ => None,
    })?;
    Some(
        format!(
            "barrier {barrier} waits for {wanted} threads, {come} come: let its number be that of the threads that reach it, or let the \
             others reach it"
        )
        .into(),
    )
}

/// What to do about a mask that names other lanes than those that arrive.
fn of_mask(at: LocId, fault: MaskFault, module: &Module) -> Advice {
    match (place::parting(at, module), fault) {
        (Some(Parting::Nothing), MaskFault::OmitsCaller) => {
            "no branch is around this call, so that all lanes of the warp reach it: name them all, `0xffffffff`".into()
        }
        (Some(Parting::Loop(back)), _) => {
            let line = module.loc(back).line;
            format!(
                "lanes leave the loop of line {line} in different rounds: compute the mask in each round, with `__ballot_sync` of the lanes that \
                 are still there, before the others leave (`mask = __ballot_sync(mask, i < n); if (i >= n) break;`)"
            )
            .into()
        }
        _ => "include exactly the threads that reach it: compute the mask with `__ballot_sync` before the branch, or move the call out of the branch"
            .into(),
    }
}

/// What to do about a loop that ends when two floats are equal.
fn of_floats(trap: &Trap, module: &Module) -> Option<Advice> {
    let bits = match endless::compares_floats(module, trap.loc)? {
        Type::F64 => "__double_as_longlong",
        _ => "__float_as_int",
    };
    Some(Advice::with_lasting(
        "the loop goes on until two floats are equal, and a NaN is equal to nothing".to_string(),
        &format!(": compare their bits, `{bits}(a) != {bits}(b)`"),
    ))
}

/// What to do about an index computed from a pitch: a pitch counts bytes, an index elements.
fn of_pitch(access: &BadAccess, source: &str) -> Option<Advice> {
    let object = access.object.as_ref().filter(|object| !object.declared)?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = source.split(|c| !is_name(c));
    let pitch = words.find(|word| word.to_lowercase().contains("pitch"))?;
    let (width, name) = (access.width_bytes, object.source_name());
    let name = name.trim_matches('`');
    (width > 1 && access.space != Space::Shared).then(|| {
        Advice::with_lasting(
            format!("`{pitch}` counts elements of {width} bytes here"),
            &format!(
                ", but a pitch of `cudaMallocPitch` counts bytes: go to the row in bytes, `((T *)((char *){name} + row * {pitch}))[column]`"
            ),
        )
    })
}

/// What to do about a store to constant memory.
fn of_constant(access: &BadAccess, on_host: bool) -> Option<Advice> {
    if on_host {
        return None;
    }
    let object = access.object.as_ref()?;
    let name = object.name.trim_matches('`');
    let is_named = object.name.starts_with('`');
    is_named.then(|| {
        Advice::with_lasting(
            "constant memory does not change while a kernel runs".to_string(),
            &format!(
                ": let the kernel write to other memory, and copy that to `{name}` behind the launch, with `cudaMemcpyToSymbol`"
            ),
        )
    })
}

/// What to do about an access whose address is not a multiple of its width.
fn of_vector(access: &BadAccess, is_first_block: bool) -> Option<Advice> {
    let width = u64::from(access.width_bytes);
    let beyond = access.address.checked_rem(width)?;
    Some(Advice::with_lasting(
        format!("an access of {width} bytes needs an address that is a multiple of {width}"),
        // If the first block's accesses are aligned, the pointer is not the cause.
        &match is_first_block || access.space == Space::Shared {
            true => format!(
                "; this one is {beyond} bytes beyond one: align the data that the pointer points to (add padding before it), or read \
                 smaller elements"
            ),
            false => format!(
                "; this one is {beyond} bytes beyond one: let each row begin at a multiple of {width} bytes (make the distance between rows \
                 a multiple of that), or read smaller elements"
            ),
        },
    ))
}

/// What to do about a wide access to an array whose rows are not a multiple of its width.
fn of_rows(access: &BadAccess) -> Option<Advice> {
    let object = access
        .object
        .as_ref()
        .filter(|object| object.declared && object.dims.len() > 1)?;
    let columns = *object.dims.last()?;
    let (row, width) = (
        columns * object.element_bytes,
        u64::from(access.width_bytes),
    );
    (width > 0 && !row.is_multiple_of(width)).then(|| {
        let fact = format!(
            "a row of `{}` has {row} bytes, so that not every row begins at a multiple of {width}",
            object.name
        );
        Advice::with_lasting(
            fact,
            &format!(": make its rows a multiple of {width} bytes"),
        )
    })
}

/// What to do about an index beyond the dynamic shared memory, whose size the launch gives.
fn of_dynamic_shared(
    access: &BadAccess,
    report: Option<&LaunchReport>,
    behind: i64,
) -> Option<Advice> {
    let (object, report) = (access.object.as_ref()?, report?);
    if access.space != Space::Shared {
        return None;
    }
    // A pointer to all of the block's shared memory, whose last part is dynamic.
    if !object.declared && report.shared.dynamic > 0 && object.offset_bytes >= 0 {
        let last = object
            .offset_bytes
            .saturating_add(i64::from(access.width_bytes))
            .saturating_add(behind.max(0));
        let needed = last.saturating_sub_unsigned(report.shared.fixed);
        let given = report.shared.dynamic;
        let place = match report.statement.line {
            0 => String::new(),
            line => format!(" on line {line}"),
        };
        return Some(Advice::with_lasting(
            format!(
                "the launch{place} gives {given} bytes of dynamic shared memory, and this access needs {needed}"
            ),
            ": give as many as the kernel uses, in bytes, as its third argument",
        ));
    }
    // A shared array that is declared without a size.
    if !object.declared || object.size_bytes != 0 {
        return None;
    }
    let (bytes, line, kernel) = (
        report.shared.dynamic,
        report.statement.line,
        &report.kernel_name,
    );
    let element = object.element_bytes;
    if line == 0 {
        // The launch is not in the source: it comes from the command line or from a Rust program.
        return Some(Advice::with_lasting(
            format!("the launch gives {bytes} bytes of dynamic shared memory"),
            &format!(": give as many as the kernel uses, {element} for each element"),
        ));
    }
    Some(Advice::with_lasting(
        format!("the launch on line {line} gives {bytes} bytes of dynamic shared memory"),
        &format!(
            ": give as many as the kernel uses, in bytes, as its third argument, as in `{kernel}<<<grid, block, n * {element}>>>`"
        ),
    ))
}

/// What to do about an index that is out of bounds.
fn of_index(
    access: &BadAccess,
    overflow: Option<&Overflow>,
    report: Option<&LaunchReport>,
    (before, behind): (i64, i64),
) -> Option<Advice> {
    let object = access.object.as_ref()?;
    // Memory that only has a size is treated as an array of the accessed type, as in the message.
    let element = object.element_bytes.max(access.width_bytes.into());
    let element = i64::try_from(element.max(1)).ok()?;
    let (offset, size) = object.from_pointer();
    let count = i64::try_from(size).ok()? / element;
    let index = offset.div_euclid(element);
    if count == 0 {
        let is_shared = access.space == Space::Shared && !object.declared;
        return is_shared.then(|| {
            "shared memory lasts as long as its block: a pointer to it is invalid in other blocks and later launches: keep the data in global \
             memory"
                .into()
        });
    }
    let valid = match object.dims.as_slice() {
        [] | [_] => format!("valid indices are 0 to {}", count - 1),
        _ => format!("the array has {count} elements"),
    };
    let likely = if overflow.is_some_and(|overflow| !overflow.unsigned) {
        "compute it with 64 bits: make one operand `size_t` or `long long`".to_string()
    } else if let Some(wrapped) = report.filter(|_| index < 0).and_then(wrapped_int) {
        format!(
            "{wrapped}, which does not fit in `int`: compute the index with 64 bits, `long long`"
        )
    } else if index < 0 {
        "the first threads have no element before theirs: test for that".to_string()
    } else if index.saturating_add(behind / element) >= 1 << 30 {
        "so large an index is often an unsigned number that went below 0 (`n - 1` of an unsigned 0 is 4294967295, and of an unsigned `i`, \
         `i >= 0` always holds): test before subtracting, or count with `int`"
            .to_string()
    } else if behind >= element {
        let highest = index + behind / element;
        let is_flat =
            report.is_none_or(|report| report.block[1..] == [1, 1] && report.grid[1..] == [1, 1]);
        let exchanged = if is_flat {
            ""
        } else {
            ", are width and height exchanged"
        };
        format!(
            "the index goes up to {highest}, as if there were {} elements: is the size of another buffer used here{exchanged}, or does a \
             test as `if (i < n)` not stop the threads that are too many?",
            highest + 1
        )
    } else if index == count && before == 0 {
        "this is one too far: is a bound `<=` where it should be `<`, or has the last thread no element after its own?"
            .to_string()
    } else {
        format!("let only those threads come here whose index is below {count}, as in `if (i < n)`")
    };
    Some(Advice::with_lasting(valid, &format!("; {likely}")))
}

/// Signed arithmetic of a launch that overflowed the greatest `int` and became negative.
fn wrapped_int(report: &LaunchReport) -> Option<String> {
    report
        .findings
        .iter()
        .find_map(|finding| match finding.fact {
            Fact::Overflow {
                op: Some(op),
                operands: (a, b),
                is_wide: false,
                is_mixed: false,
                line,
            } => {
                let whole = match op {
                    '+' => i128::from(a) + i128::from(b),
                    '-' => i128::from(a) - i128::from(b),
                    _ => i128::from(a) * i128::from(b),
                };
                (whole > i128::from(i32::MAX)).then(|| format!("line {line} computes {whole}"))
            }
            _ => None,
        })
}

/// A note as a line for stderr.
pub fn note(note: &Note, module: &Module) -> String {
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
