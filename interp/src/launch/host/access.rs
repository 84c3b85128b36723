//! Accesses of host functions: finds and checks the bytes of an access, and performs it.

use ir::{LocId, MemType, Object, Space, eval};

use crate::fault::trap::{AccessOp, BadAccess, BadObject, TrapKind};
use crate::isa::bytecode::{Class, Code, MemSite, Subscript};
use crate::isa::registers::View;
use crate::machine::ops::element::{read, write};
use crate::memory::traffic::HostAccess;
use crate::memory::{AddressKind, Memory};
use crate::program::Program;

/// The memory region of the last access: most accesses hit the same one again.
#[derive(Clone, Copy)]
pub(super) struct LastRegion {
    base: u64,
    size: u64,
    bytes: *mut u8,
    /// One bit for each byte: whether it was written. Null if all were, or if uninitialised values are not tracked.
    words: *mut u64,
}

pub(super) const NOWHERE: LastRegion = LastRegion {
    base: u64::MAX,
    size: 0,
    bytes: std::ptr::null_mut(),
    words: std::ptr::null_mut(),
};

impl LastRegion {
    /// For an aligned access of a power of two up to 32 bytes: which of its bytes are uninitialised. A store marks them
    /// as written.
    #[inline]
    fn unset(&self, offset: u64, width: u64, op: AccessOp) -> u32 {
        if self.words.is_null() {
            return 0;
        }
        let mask = ((1u64 << width) - 1) << (offset % 64);
        // SAFETY: there is a bit for each byte of the region, and the access lies in one word: regions begin at multiples of 16.
        let word = unsafe { &mut *self.words.add((offset / 64) as usize) };
        let missing = !*word & mask;
        if missing == 0 {
            return 0;
        }
        if op != AccessOp::Load {
            *word |= mask;
        }
        match op {
            AccessOp::Store => 0,
            AccessOp::Load | AccessOp::Atomic => (missing >> (offset % 64)) as u32,
        }
    }
}

/// The context of an access: the running call.
#[derive(Clone, Copy)]
pub(super) struct CallContext<'a> {
    pub(super) program: &'a Program,
    pub(super) code: &'a Code,
    /// In a library function, the call that entered the library.
    pub(super) outside: Option<LocId>,
    /// The address of the frame's variables.
    pub(super) stack: u64,
    /// Whether uninitialised bytes are tracked.
    pub(super) follows: bool,
}

impl CallContext<'_> {
    /// Performs the access of the instruction before `pc`: calls `work` with its bytes. Returns a bit for each byte
    /// that it reads uninitialised.
    #[inline]
    pub(super) fn access(
        self,
        memory: &mut Memory,
        last_region: &mut LastRegion,
        site: &MemSite,
        (r, base, pc): (View, u64, usize),
        work: fn(View, &MemSite, *mut u8),
    ) -> Result<u32, TrapKind> {
        self.within(site, r, pc)?;
        let address = base.wrapping_add_signed(site.address.offset);
        let (pointer, unset) = self.locate(memory, last_region, site, address, pc)?;
        work(r, site, pointer);
        Ok(unset)
    }

    /// Checks the subscript of an array that is part of an object.
    #[inline]
    fn within(self, site: &MemSite, r: View, pc: usize) -> Result<(), TrapKind> {
        let Some(Subscript {
            uniform: Some(register),
            len,
            is_long,
            ..
        }) = site.subscript
        else {
            return Ok(());
        };
        let bits = r.s(register);
        let index = if is_long {
            bits as i64
        } else {
            i64::from(bits as u32 as i32)
        };
        if (0..i64::from(len)).contains(&index) {
            return Ok(());
        }
        let element_bytes = u64::from(site.width_bytes);
        let text = &self.program.module().loc(self.code.locs[pc - 1]).text;
        let name = text.rfind('[').map_or(text.as_str(), |end| &text[..end]);
        let object = BadObject {
            name: name.to_owned(),
            offset_bytes: index.wrapping_mul(element_bytes as i64),
            element_bytes,
            dims: vec![len.into()],
            size_bytes: u64::from(len) * element_bytes,
            declared: true,
            pointer: None,
            freed_at: None,
        };
        Err(TrapKind::OutOfBounds(Box::new(BadAccess {
            op: site.op,
            space: Space::Generic,
            address: 0,
            width_bytes: site.width_bytes,
            object: Some(object),
        })))
    }

    /// The bytes of an access, checked, and a bit for each byte that it reads uninitialised.
    #[inline]
    fn locate(
        self,
        memory: &mut Memory,
        last_region: &mut LastRegion,
        site: &MemSite,
        address: u64,
        pc: usize,
    ) -> Result<(*mut u8, u32), TrapKind> {
        let width = u64::from(site.width_bytes);
        if let Some((start, size)) = self.declared(memory, site) {
            let offset = address.wrapping_sub(start);
            if offset > size || size - offset < width {
                let object = declared_object(self.program, self.code, site, offset as i64, size);
                return Err(TrapKind::OutOfBounds(bad(site, address, object)));
            }
        }
        let offset = address.wrapping_sub(last_region.base);
        if offset < last_region.size
            && last_region.size - offset >= width
            && address & (width - 1) == 0
        {
            let unset = last_region.unset(offset, width, site.op);
            return Ok((last_region.bytes.wrapping_add(offset as usize), unset));
        }
        self.look_up(memory, last_region, site, address, pc)
    }

    /// For an access to a declared array, its address and size in bytes.
    #[inline]
    fn declared(self, memory: &Memory, site: &MemSite) -> Option<(u64, u64)> {
        match site.access.object? {
            Object::Local(id) => Some((
                self.stack + self.code.memory.local_offsets[id.index()],
                site.bounds.map_or(0, |(_, size)| size),
            )),
            Object::Global(id) => Some((
                memory.symbol_address(id),
                self.program.module().globals[id.index()].size_bytes,
            )),
            Object::Shared(_) | Object::String(_) => None,
        }
    }

    /// The slow path of `locate`: the access is to another region than the last one.
    fn look_up(
        self,
        memory: &mut Memory,
        last_region: &mut LastRegion,
        site: &MemSite,
        address: u64,
        pc: usize,
    ) -> Result<(*mut u8, u32), TrapKind> {
        let width = u64::from(site.width_bytes);
        let writes = site.op != AccessOp::Load;
        let before = writes && self.follows && !memory.is_set(address, width);
        let bytes = if writes {
            memory.bytes_mut(address, width).map(|bytes| bytes.as_ptr())
        } else {
            memory.read_bytes(address, width).map(<[u8]>::as_ptr)
        };
        bytes.map_err(|fault| fault.trap(site.op))?;
        let kind = memory.kind_of(address);
        if matches!(kind, AddressKind::Device | AddressKind::Constant) {
            return Err(TrapKind::DevicePointerOnHost(bad(site, address, None)));
        }
        if address & (width - 1) != 0 {
            return Err(TrapKind::Misaligned(bad(site, address, None)));
        }
        let words = match self.follows {
            true => memory.words_of(address),
            false => std::ptr::null_mut(),
        };
        let region = memory.region(address).expect("it was read");
        let found = LastRegion {
            base: region.base,
            size: region.size,
            bytes: region.bytes.pointer(),
            words,
        };
        let noted = kind == AddressKind::Managed && memory.watches_host();
        if noted {
            memory.note_host(HostAccess {
                span: (address, address + width),
                writes,
                looks: site.access.volatile || site.op == AccessOp::Atomic,
                loc: self.outside.unwrap_or(self.code.locs[pc - 1]),
            });
        }
        // A later store must not hit a cached string literal, and accesses that have to be noted must come through
        // here.
        if kind != AddressKind::String && !noted {
            *last_region = found;
        }
        let offset = address - found.base;
        let unset = match (site.op, before) {
            // `is_set` was asked before `bytes_mut` marked the bytes as written.
            (AccessOp::Atomic, true) => ((1u64 << width) - 1) as u32,
            (op, _) => found.unset(offset, width, op),
        };
        Ok((found.bytes.wrapping_add(offset as usize), unset))
    }
}

fn bad(site: &MemSite, address: u64, object: Option<BadObject>) -> Box<BadAccess> {
    Box::new(BadAccess {
        op: site.op,
        space: Space::Generic,
        address,
        width_bytes: site.width_bytes,
        object,
    })
}

fn declared_object(
    program: &Program,
    code: &Code,
    site: &MemSite,
    offset_bytes: i64,
    size_bytes: u64,
) -> Option<BadObject> {
    let (name, element_bytes, dims) = match site.access.object? {
        Object::Local(id) => {
            let function = program
                .module()
                .functions
                .iter()
                .zip(program.codes())
                .find(|(_, other)| std::ptr::eq(*other, code))?
                .0;
            let var = &function.locals[id.index()];
            (var.name.clone(), var.element_bytes, var.dims.clone())
        }
        Object::Global(id) => {
            let var = &program.module().globals[id.index()];
            let elements = var.size_bytes / var.element_bytes.max(1);
            let dims = Vec::from_iter((elements > 1).then_some(elements));
            (var.name.clone(), var.element_bytes, dims)
        }
        Object::Shared(_) | Object::String(_) => return None,
    };
    Some(BadObject {
        name,
        offset_bytes,
        element_bytes,
        dims,
        size_bytes,
        declared: true,
        pointer: None,
        freed_at: None,
    })
}

/// Converts between the bits of a register and those in memory: an `i1` is a mask in a register.
fn to_register(ty: MemType, bits: u64) -> u64 {
    Class::of(ty.value_type()).to_register(bits)
}

fn to_memory(ty: MemType, bits: u64) -> u64 {
    if ty == MemType::Bool { bits & 1 } else { bits }
}

pub(super) fn load(r: View, site: &MemSite, pointer: *mut u8) {
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        // SAFETY: `locate` found the whole width inside of a region.
        let bits = unsafe { read(ty, pointer.add(k * ty.bytes() as usize)) };
        r.set_s(register, to_register(ty, bits));
    }
}

pub(super) fn store(r: View, site: &MemSite, pointer: *mut u8) {
    let ty = site.access.ty;
    for (k, &register) in site.values[..site.access.count as usize].iter().enumerate() {
        // SAFETY: `locate` found the whole width inside of a region that may be written.
        unsafe {
            write(
                ty,
                pointer.add(k * ty.bytes() as usize),
                to_memory(ty, r.s(register)),
            )
        };
    }
}

pub(super) fn atomic(r: View, site: &MemSite, pointer: *mut u8) {
    let ty = site.access.ty;
    let Some((op, compare)) = site.atomic else {
        return;
    };
    // SAFETY: `locate` found the whole width inside of a region that may be written.
    let old = unsafe { read(ty, pointer) };
    let new = eval::atomic(op, ty.value_type(), old, r.s(site.values[0]), r.s(compare));
    // SAFETY: as above.
    unsafe { write(ty, pointer, new) };
    r.set_s(site.result, old);
}
