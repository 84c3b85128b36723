//! Reads and writes bytes by address. Each access must lie in one live object; otherwise it is a [`MemoryFault`].

use super::bytes::Bytes;
use super::layout::{self, area};
use super::{AddressKind, Defined, Memory, MemoryFault, Region};

impl Memory {
    /// The bytes of any object, to read.
    pub fn read_bytes(&self, address: u64, len: u64) -> Result<&[u8], MemoryFault> {
        match self.region(address) {
            Some(region) if !region.freed && address - region.base <= region.size => {
                let offset = (address - region.base) as usize;
                match region
                    .bytes
                    .slice()
                    .get(offset..offset.saturating_add(len as usize))
                {
                    Some(bytes) => Ok(bytes),
                    None => Err(self.fault(address, len, false)),
                }
            }
            _ if len == 0 => Ok(&[]),
            _ => Err(self.fault(address, len, false)),
        }
    }

    /// The bytes of an object, to write. String literals are read-only. Constant memory is not, for the host's runtime.
    pub fn bytes_mut(&mut self, address: u64, len: u64) -> Result<&mut [u8], MemoryFault> {
        self.read_bytes(address, len)?;
        if area(address) == area(layout::STRINGS) && !self.is_foreign(address) {
            return Err(self.fault(address, len, true));
        }
        if len == 0 {
            return Ok(&mut []);
        }
        let (_, index) = self.region_index(address).expect("read_bytes found it");
        let region = &mut self.area_mut(address).regions[index];
        let offset = (address - region.base) as usize;
        region.defined.define(offset as u64, len, region.size);
        Ok(&mut region.bytes.slice_mut()[offset..offset + len as usize])
    }

    /// Writes bytes.
    pub fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        self.bytes_mut(address, bytes.len() as u64)?
            .copy_from_slice(bytes);
        Ok(())
    }

    /// Copies between any two objects. The ranges may overlap. Uninitialised bytes stay uninitialised.
    pub fn copy(&mut self, to: u64, from: u64, len: u64) -> Result<(), MemoryFault> {
        self.read_bytes(from, len)?;
        self.note_read(from, len);
        let whole = |region: &Region| region.defined.holds(from - region.base, len);
        let partly = match self.region(from) {
            Some(source) if len > 0 && !whole(source) => self.region(to).map(|region| {
                let (mut source_defined, start) = (source.defined.clone(), from - source.base);
                if source.kind == AddressKind::Host && region.kind != AddressKind::Host {
                    source_defined.fill_members(start, len, source.size);
                }
                (region.defined.clone(), source_defined, start)
            }),
            _ => None,
        };
        self.bytes_mut(to, len)?;
        let copied = self.copy_bytes(to, from, len);
        let awaited = self.region(from).and_then(|region| region.not_computed);
        if let (Some((before, source, start)), Some((_, index))) = (partly, self.region_index(to)) {
            let region = &mut self.area_mut(to).regions[index];
            region.defined = before;
            let at = to - region.base;
            region.defined.copy(at, region.size, &source, start, len);
            region.not_computed = region.not_computed.or(awaited);
        }
        copied
    }

    /// Marks what a kernel wrote as defined.
    pub(crate) fn define(&mut self, base: u64, defined: &Defined) {
        if let Some((_, index)) = self.region_index(base) {
            let region = &mut self.area_mut(base).regions[index];
            if region.base == base {
                region.defined.join(defined);
                // What several workers wrote may now cover the whole region, so that later launches need not check it.
                region.defined.settle(region.size);
            }
        }
    }

    fn copy_bytes(&mut self, to: u64, from: u64, len: u64) -> Result<(), MemoryFault> {
        if len == 0 {
            return Ok(());
        }
        let (_, source) = self.region_index(from).expect("read_bytes found it");
        let region = &mut self.area_mut(from).regions[source];
        let start = (from - region.base) as usize;
        let range = start..start + len as usize;
        if to.wrapping_sub(region.base) < region.size {
            let at = (to - region.base) as usize;
            region.bytes.slice_mut().copy_within(range, at);
            return Ok(());
        }
        // The source's bytes are taken out of the table during the copy, so that the target can be borrowed.
        let bytes = std::mem::replace(&mut region.bytes, Bytes::new(0).expect("nothing"));
        let copied = self.write_bytes(to, &bytes.slice()[range]);
        self.area_mut(from).regions[source].bytes = bytes;
        copied
    }

    /// `memset`.
    pub fn fill(&mut self, address: u64, byte: u8, len: u64) -> Result<(), MemoryFault> {
        self.bytes_mut(address, len)?.fill(byte);
        Ok(())
    }

    /// The bytes of a NUL-terminated string, without the NUL.
    pub fn c_string(&self, address: u64) -> Result<&[u8], MemoryFault> {
        self.c_string_within(address, usize::MAX)
    }

    /// The same for a string of which at most `most` bytes are read. It need not end by then.
    pub fn c_string_within(&self, address: u64, most: usize) -> Result<&[u8], MemoryFault> {
        let Some(region) = self
            .region(address)
            .filter(|region| !region.freed && address < region.end())
        else {
            return Err(self.fault(address, 1, false));
        };
        let bytes = &region.bytes.slice()[(address - region.base) as usize..];
        let looked_at = &bytes[..bytes.len().min(most)];
        match looked_at.iter().position(|&byte| byte == 0) {
            Some(end) => Ok(&bytes[..end]),
            None if looked_at.len() == most => Ok(looked_at),
            None => Err(self.fault(region.end(), 1, false)),
        }
    }
}
