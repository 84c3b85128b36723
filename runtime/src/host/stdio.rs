//! `printf` and its relatives for host code.

use interp::{HostUse, printf, trap::AccessOp};
use ir::LocId;

use super::{Host, Stop};

impl Host<'_> {
    /// `fprintf(stream, args...)`; stream 2 is `stderr`.
    pub(super) fn fprintf(&mut self, stream: u64, args: &[u64], loc: LocId) -> Result<u64, Stop> {
        let text = self.format(args, loc)?;
        match stream {
            2 => self.io.stderr(&text),
            _ => self.io.stdout(&text),
        }
        Ok(text.len() as u64)
    }

    /// `snprintf(to, most, args...)`.
    pub(super) fn snprintf(
        &mut self,
        to: u64,
        most: u64,
        args: &[u64],
        loc: LocId,
    ) -> Result<u64, Stop> {
        let mut text = self.format(args, loc)?;
        let length = text.len() as u64;
        if most > 0 {
            text.truncate(most as usize - 1);
            text.push(0);
            self.store(to, &text, loc)?;
        }
        Ok(length)
    }

    pub(super) fn puts(&mut self, address: u64, loc: LocId) -> Result<u64, Stop> {
        self.looks_at_string(address, usize::MAX, HostUse::Printed, loc);
        let mut text = self.string(address, loc)?;
        text.push(b'\n');
        self.io.stdout(&text);
        Ok(text.len() as u64)
    }

    /// Formats `args[1..]` by the string at `args[0]`.
    fn format(&mut self, args: &[u64], loc: LocId) -> Result<Vec<u8>, Stop> {
        let text = self.string(args[0], loc)?;
        let memory = &self.memory;
        let (mut bad_string, mut strings) = (None, vec![(args[0], usize::MAX)]);
        let mut fetch = |address: u64, most: usize| match memory.c_string_within(address, most) {
            Ok(bytes) => {
                strings.push((address, most));
                Some(bytes.to_vec())
            }
            Err(fault) => {
                bad_string.get_or_insert(fault);
                None
            }
        };
        let formatted = printf::format(&text, &args[1..], &mut fetch);
        for &(address, most) in &strings {
            self.looks_at_string(address, most, HostUse::Printed, loc);
        }
        for &(address, _) in &strings {
            self.reach(address, 1, AccessOp::Load, loc)?;
        }
        match bad_string {
            // glibc prints "(null)" for a null pointer; anything else that is not a string would crash.
            Some(fault) if fault.address != 0 => Err(self.fault(fault, AccessOp::Load, loc)),
            _ => Ok(formatted),
        }
    }

    /// A NUL-terminated string of the program.
    pub(super) fn string(&self, address: u64, loc: LocId) -> Result<Vec<u8>, Stop> {
        self.reach(address, 1, AccessOp::Load, loc)?;
        match self.memory.c_string(address) {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(fault) => Err(self.fault(fault, AccessOp::Load, loc)),
        }
    }
}
