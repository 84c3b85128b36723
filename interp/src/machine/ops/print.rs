//! Operations that involve the host: `printf`, `assert` and launches in kernels.

use ir::{FuncId, Module, StringId, Type};

use super::fault::Done;
use super::local::local_index;
use crate::config::{ChildLaunch, LaunchConfig};
use crate::fault::trap::TrapKind;
use crate::isa::bytecode::{Class, Inst, Place};
use crate::isa::mask::LaneMask;
use crate::isa::registers::View;
use crate::machine::{Fault, Machine};
use crate::memory::layout::{self, LOCAL_BASE, SHARED_BASE};
use crate::observe::Observer;
use crate::printf::format;

fn value(r: View, ty: Type, place: Place, lane: usize) -> u64 {
    match (place, Class::of(ty)) {
        (Place::S(register), Class::Mask) => u64::from(r.mask(register) >> lane & 1),
        (Place::S(register), Class::W32 | Class::W64) => r.s(register),
        (Place::V(register), Class::W64) => r.v64(register)[lane],
        (Place::V(register), Class::Mask | Class::W32) => u64::from(r.v32(register)[lane]),
    }
}

/// The text at an address, up to `most` bytes. It may be in the lane's local memory, in the block's shared memory or
/// elsewhere.
fn string<O: Observer>(
    machine: &Machine<'_, O>,
    local: &[u8],
    lane: usize,
    address: u64,
    most: usize,
) -> Option<Vec<u8>> {
    // The bytes of a window from the string's first byte to the window's last.
    let text = |base: u32, size: usize, byte: &dyn Fn(usize) -> u8| {
        let start = (address as u32).checked_sub(base)? as usize;
        let bytes = (start..size).map(byte).take(most);
        let text: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
        let ends = text.len() == most || start.saturating_add(text.len()) < size;
        ends.then_some(text)
    };
    if layout::is_in(layout::LOCAL, address) {
        let byte = |at| local[local_index(at as u32, lane)];
        return text(LOCAL_BASE, local.len() / 32, &byte);
    }
    if layout::is_in(layout::SHARED, address) {
        let byte = |at: usize| machine.shared[at];
        return text(SHARED_BASE, machine.shared.len(), &byte);
    }
    let found = machine.memory.c_string_within(address, most);
    found.ok().map(<[u8]>::to_vec)
}

/// Appends each active lane's text to the block's printed text. As in CUDA, the result is the number of arguments.
#[inline(never)]
pub(crate) fn print<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
    local: &[u8],
) -> Done {
    let row = &machine.code.prints[i.a as usize];
    let text = machine.module.strings[StringId(row.format).index()].clone();
    for lane in LaneMask(mask) {
        let args: Vec<u64> = row
            .args
            .iter()
            .map(|&(ty, place)| value(r, ty, place, lane))
            .collect();
        // As in glibc, a null pointer is printed without text. Any other address without a text is a fault of the
        // program.
        let mut bad = None;
        let mut fetch = |address, most| {
            let found = string(machine, local, lane, address, most);
            if found.is_none() && address != 0 {
                bad = bad.or(Some(address));
            }
            found
        };
        let printed = format(&text, &args, &mut fetch);
        if let Some(address) = bad {
            let kind = TrapKind::BadString { address };
            return Err(Box::new(Fault {
                kind,
                lane: lane as u32,
            }));
        }
        machine.record.printed.extend_from_slice(&printed);
        machine.record.printf_calls += 1;
    }
    *r.v32_mut(i.d) = [row.args.len() as u32; 32];
    Ok(())
}

/// Records what each active lane launches. It runs when this launch has ended, and sees the memory that this one
/// leaves.
#[inline(never)]
pub(crate) fn launch<O: Observer>(machine: &mut Machine<'_, O>, r: View, mask: u32, i: &Inst) {
    let row = &machine.code.launches[i.a as usize];
    for lane in LaneMask(mask) {
        let of = |&(ty, place): &(Type, Place)| value(r, ty, place, lane);
        let values: Vec<u64> = row.args.iter().map(of).collect();
        let size = |axis: usize| values[axis] as u32;
        machine.record.launched.push(ChildLaunch {
            kernel: FuncId(row.kernel),
            config: LaunchConfig {
                grid: [size(0), size(1), size(2)],
                block: [size(3), size(4), size(5)],
                shared_bytes: values[6],
                cooperative: false,
                depth: 0,
                loc: row.loc,
            },
            args: values[7..].to_vec(),
        });
    }
}

/// Faults for the lowest active lane whose condition is false.
#[inline(never)]
pub(crate) fn assert<O: Observer>(
    machine: &mut Machine<'_, O>,
    r: View,
    mask: u32,
    i: &Inst,
) -> Done {
    let failed = mask & !r.mask(i.a);
    if failed == 0 {
        return Ok(());
    }
    let condition = String::from_utf8_lossy(&machine.module.strings[i.b as usize]).into_owned();
    Err(Box::new(Fault {
        kind: TrapKind::Assert { condition },
        lane: failed.trailing_zeros(),
    }))
}

/// The purpose of a trap instruction.
pub(crate) fn trap_kind(module: &Module, i: &Inst) -> TrapKind {
    match i.a {
        0 => TrapKind::Explicit,
        1 => TrapKind::BadCall,
        2 => TrapKind::BadObject,
        _ => TrapKind::Unsupported {
            instruction: String::from_utf8_lossy(&module.strings[i.b as usize]).into_owned(),
        },
    }
}

/// `__trap()`, calls through invalid function pointers, and instructions that dslc cannot run.
#[inline(never)]
pub(crate) fn trap(module: &Module, mask: u32, i: &Inst) -> Done {
    Err(Box::new(Fault {
        kind: trap_kind(module, i),
        lane: mask.trailing_zeros(),
    }))
}
