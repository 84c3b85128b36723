//! C's library on host memory: `malloc`, `memcpy`, strings and conversions.

use interp::HostUse;
use interp::trap::AccessOp;
use ir::{HostFn, LocId};

use super::{Host, Stop};

impl Host<'_> {
    pub(super) fn malloc(&mut self, bytes: u64, loc: LocId) -> u64 {
        let address = self.heap(bytes, loc);
        self.name_allocation(HostFn::Malloc, address, loc);
        if self.unset.follows {
            self.memory.begin_unset(address);
        }
        address
    }

    pub(super) fn calloc(&mut self, count: u64, bytes: u64, loc: LocId) -> u64 {
        let address = self.heap(count.saturating_mul(bytes), loc);
        self.name_allocation(HostFn::Calloc, address, loc);
        address
    }

    pub(super) fn free_host(&mut self, address: u64, loc: LocId) -> Result<u64, Stop> {
        self.memory
            .free_host(address)
            .map_err(|fault| self.fault(fault, AccessOp::Store, loc))?;
        self.memory.note_freed(address, loc);
        Ok(0)
    }

    pub(super) fn memset(
        &mut self,
        to: u64,
        byte: u8,
        bytes: u64,
        loc: LocId,
    ) -> Result<u64, Stop> {
        self.note_host(to, bytes, true, loc);
        self.reach(to, bytes, AccessOp::Store, loc)?;
        let filled = self.memory.fill(to, byte, bytes);
        filled.map_err(|fault| self.fault(fault, AccessOp::Store, loc))?;
        self.set_by(HostFn::Memset.text(), to, None, bytes, loc);
        Ok(to)
    }

    /// `memcpy` and `memmove`.
    pub(super) fn memcpy(
        &mut self,
        function: HostFn,
        to: u64,
        from: u64,
        bytes: u64,
        loc: LocId,
    ) -> Result<u64, Stop> {
        self.note_host(from, bytes, false, loc);
        self.note_host(to, bytes, true, loc);
        self.host_copy(to, from, bytes, loc)?;
        self.set_by(function.text(), to, Some(from), bytes, loc);
        Ok(to)
    }

    pub(super) fn memcmp(&mut self, a: u64, b: u64, bytes: u64, loc: LocId) -> Result<u64, Stop> {
        for address in [a, b] {
            self.note_host(address, bytes, false, loc);
        }
        for address in [a, b] {
            self.looks_at(address, bytes, HostUse::Content(HostFn::Memcmp), loc);
        }
        let (a, b) = (self.bytes(a, bytes, loc)?, self.bytes(b, bytes, loc)?);
        Ok(order(a.cmp(b)))
    }

    /// A string whose content the call's result depends on.
    pub(super) fn text(
        &mut self,
        function: HostFn,
        address: u64,
        loc: LocId,
    ) -> Result<Vec<u8>, Stop> {
        self.looks_at_string(address, usize::MAX, HostUse::Content(function), loc);
        self.string(address, loc)
    }

    /// `strcmp` and `strncmp` of the two strings at `args`.
    pub(super) fn strncmp(
        &mut self,
        function: HostFn,
        args: &[u64],
        most: usize,
        loc: LocId,
    ) -> Result<u64, Stop> {
        for &address in &args[..2] {
            self.looks_at_string(address, most, HostUse::Content(function), loc);
        }
        let (mut a, mut b) = (self.string(args[0], loc)?, self.string(args[1], loc)?);
        a.truncate(most);
        b.truncate(most);
        Ok(order(a.cmp(&b)))
    }

    /// `atoi` and `atol`.
    pub(super) fn atol(&mut self, function: HostFn, text: u64, loc: LocId) -> Result<u64, Stop> {
        let value = parse_int(&self.text(function, text, loc)?);
        Ok(match function {
            HostFn::Atoi => value as i32 as u32 as u64,
            _ => value as u64,
        })
    }

    pub(super) fn atof(&mut self, text: u64, loc: LocId) -> Result<u64, Stop> {
        Ok(parse_float(&self.text(HostFn::Atof, text, loc)?).to_bits())
    }

    /// Heap memory; null, with a note, if there is not enough.
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

    pub(super) fn realloc(&mut self, old: u64, bytes: u64, loc: LocId) -> Result<u64, Stop> {
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
