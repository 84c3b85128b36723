//! `malloc`, `memcpy`, strings and conversions: C's library on host memory.

use dsl::ir::{HostFn, LocId};
use interp::HostUse;
use interp::trap::AccessOp;

use super::{Host, Stop};

impl Host<'_> {
    /// Answers a call of C's memory and string functions; `None` when `function` is none.
    pub(super) fn c_memory(
        &mut self,
        function: HostFn,
        args: &[u64],
        loc: LocId,
    ) -> Result<Option<u64>, Stop> {
        let strings = match function {
            HostFn::Strcmp | HostFn::Strncmp => &args[..2],
            HostFn::Strlen | HostFn::Atoi | HostFn::Atol | HostFn::Atof => &args[..1],
            HostFn::Strcpy => &args[1..2],
            _ => &[],
        };
        for &address in strings {
            let most = match function {
                HostFn::Strncmp => usize::try_from(args[2]).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            self.looks_at_string(address, most, HostUse::Content(function), loc);
        }
        let answer = match function {
            HostFn::Malloc => {
                let address = self.heap(args[0], loc);
                self.name_allocation(function, address, loc);
                if self.unset.follows {
                    self.memory.begin_unset(address);
                }
                address
            }
            HostFn::Calloc => {
                let address = self.heap(args[0].saturating_mul(args[1]), loc);
                self.name_allocation(function, address, loc);
                address
            }
            HostFn::Realloc => self.realloc(args[0], args[1], loc)?,
            HostFn::Free => {
                self.memory
                    .free_host(args[0])
                    .map_err(|fault| self.fault(fault, AccessOp::Store, loc))?;
                self.memory.note_freed(args[0], loc);
                0
            }
            HostFn::Memset => {
                self.note_host(args[0], args[2], true, loc);
                self.reach(args[0], args[2], AccessOp::Store, loc)?;
                let filled = self.memory.fill(args[0], args[1] as u8, args[2]);
                filled.map_err(|fault| self.fault(fault, AccessOp::Store, loc))?;
                self.set_by("memset", args[0], None, args[2], loc);
                args[0]
            }
            HostFn::Memcpy | HostFn::Memmove => {
                self.note_host(args[1], args[2], false, loc);
                self.note_host(args[0], args[2], true, loc);
                self.host_copy(args[0], args[1], args[2], loc)?;
                self.set_by(function.text(), args[0], Some(args[1]), args[2], loc);
                args[0]
            }
            HostFn::Memcmp => {
                self.note_host(args[0], args[2], false, loc);
                self.note_host(args[1], args[2], false, loc);
                self.looks_at(args[0], args[2], HostUse::Content(function), loc);
                self.looks_at(args[1], args[2], HostUse::Content(function), loc);
                let (a, b) = (
                    self.bytes(args[0], args[2], loc)?,
                    self.bytes(args[1], args[2], loc)?,
                );
                order(a.cmp(b))
            }
            HostFn::Strlen => self.string(args[0], loc)?.len() as u64,
            HostFn::Strcmp => order(self.string(args[0], loc)?.cmp(&self.string(args[1], loc)?)),
            HostFn::Strncmp => {
                let cut = |mut text: Vec<u8>| {
                    text.truncate(args[2] as usize);
                    text
                };
                order(cut(self.string(args[0], loc)?).cmp(&cut(self.string(args[1], loc)?)))
            }
            HostFn::Strcpy => {
                let mut text = self.string(args[1], loc)?;
                text.push(0);
                self.store(args[0], &text, loc)?;
                args[0]
            }
            HostFn::Atoi => parse_int(&self.string(args[0], loc)?) as i32 as u32 as u64,
            HostFn::Atol => parse_int(&self.string(args[0], loc)?) as u64,
            HostFn::Atof => parse_float(&self.string(args[0], loc)?).to_bits(),
            _ => return Ok(None),
        };
        Ok(Some(answer))
    }

    /// Memory of the heap; null, with a remark, where there is not so much.
    fn heap(&mut self, bytes: u64, loc: LocId) -> u64 {
        let Ok(address) = self.memory.malloc_host(bytes) else {
            self.say_shortage(loc, bytes, "host memory", true);
            return 0;
        };
        address
    }

    fn bytes(&self, address: u64, len: u64, loc: LocId) -> Result<&[u8], Stop> {
        self.reach(address, len, AccessOp::Load, loc)?;
        self.memory
            .read_bytes(address, len)
            .map_err(|fault| self.fault(fault, AccessOp::Load, loc))
    }

    /// A copy by the host itself, which cannot reach device memory.
    fn host_copy(&mut self, to: u64, from: u64, len: u64, loc: LocId) -> Result<(), Stop> {
        self.bytes(from, len, loc)?;
        self.reach(to, len, AccessOp::Store, loc)?;
        self.memory
            .copy(to, from, len)
            .map_err(|fault| self.fault(fault, AccessOp::Store, loc))
    }

    fn realloc(&mut self, old: u64, bytes: u64, loc: LocId) -> Result<u64, Stop> {
        let new = self.heap(bytes, loc);
        if new == 0 {
            return Ok(0);
        }
        self.name_allocation(HostFn::Realloc, new, loc);
        if self.unset.follows {
            self.memory.begin_unset(new);
        }
        if old != 0 {
            let kept = self.memory.allocation_bytes(old).unwrap_or(0).min(bytes);
            self.host_copy(new, old, kept, loc)?;
            self.memory
                .free_host(old)
                .map_err(|fault| self.fault(fault, AccessOp::Store, loc))?;
        }
        Ok(new)
    }
}

/// -1, 0 or 1 as an `int`.
fn order(order: std::cmp::Ordering) -> u64 {
    u64::from(order as i32 as u32)
}

/// C's `strtol` in base ten: leading blanks, a sign, digits; what follows is ignored; saturates.
fn parse_int(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let value = digits.fold(0i128, |value, byte| {
        (value * 10 + i128::from(byte - b'0')).min(i64::MAX as i128 + 1)
    });
    let value = if negative { -value } else { value };
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// C's `strtod` without hexadecimal: the longest prefix that is a number.
fn parse_float(text: &[u8]) -> f64 {
    let text = String::from_utf8_lossy(text.trim_ascii_start());
    let prefixes = (1..=text.len())
        .rev()
        .filter(|&end| text.is_char_boundary(end));
    prefixes
        .filter_map(|end| text[..end].parse().ok())
        .next()
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        assert_eq!(parse_int(b"  -42abc"), -42);
        assert_eq!(parse_int(b"x"), 0);
        assert_eq!(parse_int(b"99999999999999999999"), i64::MAX);
        assert_eq!(parse_int(b"-99999999999999999999"), i64::MIN);
        assert_eq!(parse_float(b" 1.5e3xyz"), 1500.0);
        assert_eq!(parse_float(b"-.25"), -0.25);
        assert_eq!(parse_float(b"abc"), 0.0);
    }
}
