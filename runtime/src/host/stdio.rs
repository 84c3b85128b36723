//! `printf` and its relatives for host code.

use dsl::ir::{HostFn, LocId, Type};
use interp::{HostUse, printf, trap::AccessOp};

use super::{Host, Stop};

impl Host<'_> {
    /// Answers an output call; `None` when `function` is none.
    pub(super) fn stdio(
        &mut self,
        function: HostFn,
        args: &[(Type, u64)],
        loc: LocId,
    ) -> Result<Option<u64>, Stop> {
        let bits = |i: usize| args[i].1;
        let written = |text: &[u8]| Ok(Some(text.len() as u64));
        match function {
            HostFn::Printf => {
                let text = self.format(args, 0, loc)?;
                self.io.stdout(&text);
                written(&text)
            }
            HostFn::Fprintf => {
                let text = self.format(args, 1, loc)?;
                if bits(0) == 2 {
                    self.io.stderr(&text)
                } else {
                    self.io.stdout(&text)
                }
                written(&text)
            }
            HostFn::Sprintf | HostFn::Snprintf => {
                let format = if function == HostFn::Sprintf { 1 } else { 2 };
                let text = self.format(args, format, loc)?;
                let room = if function == HostFn::Sprintf {
                    text.len() as u64 + 1
                } else {
                    bits(1)
                };
                if room > 0 {
                    let kept = text.len().min(room as usize - 1);
                    let mut bytes = text[..kept].to_vec();
                    bytes.push(0);
                    self.store(bits(0), &bytes, loc)?;
                }
                written(&text)
            }
            HostFn::Puts => {
                self.looks_at_string(bits(0), usize::MAX, HostUse::Printed, loc);
                let mut text = self.string(bits(0), loc)?;
                text.push(b'\n');
                self.io.stdout(&text);
                written(&text)
            }
            HostFn::Putchar => {
                self.io.stdout(&[bits(0) as u8]);
                Ok(Some(bits(0) & 0xff))
            }
            HostFn::Fflush => Ok(Some(0)),
            _ => Ok(None),
        }
    }

    /// Formats `args[format + 1..]` by the string at `args[format]`.
    fn format(&mut self, args: &[(Type, u64)], format: usize, loc: LocId) -> Result<Vec<u8>, Stop> {
        let text = self.string(args[format].1, loc)?;
        let values: Vec<u64> = args[format + 1..].iter().map(|&(_, bits)| bits).collect();
        let memory = &self.memory;
        let (mut bad_string, mut strings) = (None, vec![(args[format].1, usize::MAX)]);
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
        let formatted = printf::format(&text, &values, &mut fetch);
        for &(address, most) in &strings {
            self.looks_at_string(address, most, HostUse::Printed, loc);
        }
        for &(address, _) in &strings {
            self.reach(address, 1, AccessOp::Load, loc)?;
        }
        match bad_string {
            // glibc prints "(null)" for a null pointer; anything else that is no string would crash.
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
