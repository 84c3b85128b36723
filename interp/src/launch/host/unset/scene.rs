//! The running call, and the source variables that its names come from.

use ir::LocId;
use ir::locate::in_program;

use super::super::call::Frame;
use crate::memory::Memory;
use crate::memory::unset::Local;
use crate::program::Program;

/// The running call.
#[derive(Clone, Copy)]
pub(in crate::launch::host) struct Scene<'a> {
    pub(in crate::launch::host) program: &'a Program,
    pub(in crate::launch::host) frames: &'a [Frame],
    /// The place in the innermost call.
    pub(in crate::launch::host) loc: LocId,
}

impl<'a> Scene<'a> {
    /// The place, or the call that entered the library.
    pub(super) fn shown(&self) -> LocId {
        let module = self.program.module();
        let callers = self.frames.iter().rev().skip(1);
        let callers =
            callers.map(|frame| self.program.code(frame.function).locs[frame.pc.saturating_sub(1)]);
        std::iter::once(self.loc)
            .chain(callers)
            .find_map(|loc| in_program(module, loc))
            .unwrap_or(self.loc)
    }

    /// The variable on the stack that contains an address.
    pub(in crate::launch::host) fn local(
        &self,
        memory: &Memory,
        address: u64,
    ) -> Option<Local<'a>> {
        let base = memory.stack_base();
        let offset = address.checked_sub(base)?;
        let mut frames = self.frames.iter().rev();
        let frame = frames.find(|frame| frame.stack <= offset)?;
        let code = self.program.code(frame.function);
        let locals = &self.program.module().function(frame.function).locals;
        let mut placed = locals.iter().zip(&code.memory.local_offsets);
        placed.find_map(|(var, &at)| {
            let start = frame.stack + at;
            let holds = (start..start + var.size_bytes).contains(&offset);
            holds.then(|| Local {
                name: &var.name,
                start: base + start,
                size_bytes: var.size_bytes,
                element_bytes: var.element_bytes,
            })
        })
    }

    /// The pointer variable at an address, as source text.
    pub(in crate::launch::host) fn pointer_at(
        &self,
        memory: &Memory,
        address: u64,
    ) -> Option<String> {
        if let Some(local) = self.local(memory, address) {
            let index = (address - local.start) / 8;
            return match (local.size_bytes, local.element_bytes) {
                (8, _) => Some(local.name.to_owned()),
                (_, 8) => Some(format!("{}[{index}]", local.name)),
                _ => None,
            };
        }
        let globals = &self.program.module().globals;
        let at = |index: &usize| memory.symbol_address(ir::GlobalId(*index as u32)) == address;
        let index = (0..globals.len()).find(at)?;
        (globals[index].size_bytes == 8).then(|| globals[index].name.clone())
    }
}
