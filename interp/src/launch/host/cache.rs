//! Caches where accesses went last, with one entry for each access in the source. An entry has the bounds and bytes of
//! the object, so that the next access there needs no lookup in the tables of memory.
//!
//! An entry is valid until something may have changed memory without updating it: a runtime call, or an allocation that is
//! no longer tracked byte by byte. Then all entries are dropped ([`Caches::forget`]). Entries for variables on the
//! stack are valid for one position of their function's frame ([`Caches::renew`]).

use ir::FuncId;

use crate::fault::trap::AccessOp;
use crate::isa::host::{HostCode, SITE_BYTES};
use crate::memory::{AddressKind, Memory};
use crate::program::Program;

/// Cache entry of an access. The value from the access's registers, less `base`, is its offset in the object.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Cached {
    pub(super) base: u64,
    /// The number of valid positions, in units of the access's width; 0 for an empty entry.
    pub(super) limit: u64,
    /// The object's bytes.
    pub(super) bytes: *mut u8,
    /// One bit for each byte of the allocation: whether it was written. Null if all were, or if uninitialised values
    /// are not tracked.
    pub(super) words: *mut u64,
    /// The offset of the object in the allocation.
    pub(super) start: u64,
    /// The object's address and size in bytes.
    object: (u64, u64),
    /// Whether the entry is in the list of filled ones.
    is_noted: bool,
}

const _: () = assert!(size_of::<Cached>() == SITE_BYTES as usize);

const UNKNOWN: Cached = Cached {
    base: 0,
    limit: 0,
    bytes: std::ptr::null_mut(),
    words: std::ptr::null_mut(),
    start: 0,
    object: (0, 0),
    is_noted: false,
};

/// What a thread caches of a function.
#[derive(Debug)]
struct FunctionCache {
    sites: Box<[Cached]>,
    /// The frame position for which the entries of stack variables are valid.
    stack: u64,
    /// Some of these entries are valid only for the running call: they rely on what it has written.
    relies_on_call: bool,
    /// The initial values of its registers.
    registers: Vec<u64>,
}

/// The part of an allocation's description that accesses need.
#[derive(Clone, Copy, Debug)]
struct Object {
    base: u64,
    end: u64,
    bytes: *mut u8,
    words: *mut u64,
    writable: bool,
}

/// How many allocations are cached for accesses that alternate between them.
const RECENT: usize = 8;

/// Larger variables are not checked for being initialised completely.
const MAX_SETTLED_BYTES: u64 = 1 << 16;

/// What a thread caches of the functions that it has run.
#[derive(Debug, Default)]
pub(super) struct Caches {
    functions: Vec<Option<FunctionCache>>,
    /// The entries that are not empty.
    filled: Vec<(u32, u32)>,
    /// The allocations of the last accesses, at any place.
    recent: Vec<Object>,
    /// Which of them is replaced next.
    oldest: usize,
}

// SAFETY: the pointers lead into the memory that the thread was resumed with, and are used only while it is borrowed.
// Pointers that remain are dropped when the thread is resumed.
unsafe impl Send for Caches {}
// SAFETY: as above; a shared reference gives no access to them.
unsafe impl Sync for Caches {}

impl Caches {
    /// Empties all entries.
    pub(super) fn forget(&mut self) {
        self.recent.clear();
        for (function, site) in self.filled.drain(..) {
            if let Some(known) = &mut self.functions[function as usize] {
                known.sites[site as usize] = UNKNOWN;
            }
        }
    }

    /// The initial values of a function's registers.
    pub(super) fn registers(
        &mut self,
        program: &Program,
        memory: &Memory,
        function: FuncId,
    ) -> &[u64] {
        if self.functions.len() <= function.index() {
            self.functions.resize_with(function.index() + 1, || None);
        }
        let known = self.functions[function.index()].get_or_insert_with(|| {
            let (code, host) = (program.code(function), program.host_code(function));
            let count = code.registers.s_count as usize + host.constants.len();
            let mut registers = vec![0; count];
            for &(register, bits) in code.registers.s_init.iter().chain(&host.constants) {
                registers[register as usize] = bits;
            }
            for &(register, object) in &code.registers.s_symbols {
                registers[register as usize] = match object {
                    ir::Object::Global(id) => memory.symbol_address(id),
                    ir::Object::String(id) => memory.string_address(id),
                    ir::Object::Shared(_) | ir::Object::Local(_) => 0,
                };
            }
            FunctionCache {
                sites: vec![UNKNOWN; host.sites.len()].into(),
                stack: u64::MAX,
                relies_on_call: false,
                registers,
            }
        });
        &known.registers
    }

    /// The cache entries of a function whose frame begins there on the stack, one for each of its sites.
    pub(super) fn sites(&mut self, function: FuncId, host: &HostCode, stack: u64) -> *mut Cached {
        let Some(known) = self.functions[function.index()].as_mut() else {
            return std::ptr::null_mut();
        };
        if host.has_locals && known.stack != stack {
            known.stack = stack;
            known.relies_on_call = false;
            for (site, cached) in host.sites.iter().zip(&mut known.sites) {
                if site.is_local {
                    cached.limit = 0;
                }
            }
        }
        known.sites.as_mut_ptr()
    }

    /// A call of a function begins, with uninitialised variables.
    pub(super) fn begin_call(&mut self, function: FuncId) {
        if let Some(Some(known)) = self.functions.get_mut(function.index())
            && known.relies_on_call
        {
            known.stack = u64::MAX;
        }
    }

    /// Finds allocations and variables that are now initialised completely, so that accesses need not check their
    /// bytes. `function` is the running one.
    pub(super) fn settle(&mut self, memory: &mut Memory, function: FuncId, host: &HostCode) {
        let mut is_new = false;
        for object in self.recent.iter().filter(|it| !it.words.is_null()) {
            is_new |= memory.settle_often_read(object.base);
        }
        if is_new {
            self.forget();
        }
        let Some(Some(known)) = self.functions.get_mut(function.index()) else {
            return;
        };
        for (site, cached) in host.sites.iter().zip(&mut known.sites) {
            let (address, bytes) = cached.object;
            let asks = cached.limit > 0 && !cached.words.is_null();
            if site.is_local && asks && bytes <= MAX_SETTLED_BYTES && memory.is_set(address, bytes)
            {
                cached.words = std::ptr::null_mut();
                known.relies_on_call = true;
            }
        }
    }

    /// Fills the entry of an access whose registers give `part`. Returns `false` if the access cannot be cached; the
    /// first form then performs it.
    pub(super) fn fill(
        &mut self,
        (program, memory): (&Program, &mut Memory),
        function: FuncId,
        (number, part): (u32, u64),
        (stack, follows): (u64, bool),
    ) -> bool {
        let (code, host) = (program.code(function), program.host_code(function));
        let known = host.sites[number as usize];
        let site = &code.sites[known.row as usize];
        let frame = memory.stack_base() + stack;
        let local = known.local.map_or(0, |at| frame + u64::from(at));
        let added = local.wrapping_add_signed(known.offset);
        let address = part.wrapping_add(added);
        let width = u64::from(site.width_bytes);
        let writes = site.op != AccessOp::Load;
        let holds = |object: &&Object| {
            object.base <= address && address < object.end && object.end - address >= width
        };
        let recent = self.recent.iter().find(holds).copied();
        let found = recent.or_else(|| self.look_up(memory, (address, width), follows));
        let Some(object) = found.filter(|object| object.writable || !writes) else {
            return false;
        };
        let (mut start, mut end) = (object.base, object.end);
        let declared = match site.access.object {
            Some(ir::Object::Local(id)) => Some((
                frame + code.memory.local_offsets[id.index()],
                site.bounds.map_or(0, |(_, size)| size),
            )),
            Some(ir::Object::Global(id)) => Some((
                memory.symbol_address(id),
                program.module().globals[id.index()].size_bytes,
            )),
            Some(ir::Object::Shared(_) | ir::Object::String(_)) | None => None,
        };
        if let Some((from, size)) = declared {
            (start, end) = (start.max(from), end.min(from.saturating_add(size)));
        }
        if start % width != 0 || address < start || address + width > end {
            return false;
        }
        let offset = start - object.base;
        let cached = Cached {
            base: start.wrapping_sub(added),
            limit: (end - start) / width,
            bytes: object.bytes.wrapping_add(offset as usize),
            words: object.words,
            start: offset,
            object: (start, end - start),
            is_noted: true,
        };
        let Some(function_known) = &mut self.functions[function.index()] else {
            return false;
        };
        let entry = &mut function_known.sites[number as usize];
        if !entry.is_noted {
            self.filled.push((function.0, number));
        }
        *entry = cached;
        true
    }

    /// The allocation that contains these bytes, if accesses to it need not be noted.
    fn look_up(
        &mut self,
        memory: &mut Memory,
        (address, width): (u64, u64),
        follows: bool,
    ) -> Option<Object> {
        memory.read_bytes(address, width).ok()?;
        let kind = memory.kind_of(address);
        match kind {
            AddressKind::Managed if memory.watches_host() => return None,
            AddressKind::Host | AddressKind::Managed | AddressKind::String => {}
            AddressKind::Null
            | AddressKind::Device
            | AddressKind::Constant
            | AddressKind::Shared
            | AddressKind::Local
            | AddressKind::Freed
            | AddressKind::Unknown => return None,
        }
        if follows && memory.settle_often_read(address) {
            self.forget();
        }
        let words = match follows {
            true => memory.words_of(address),
            false => std::ptr::null_mut(),
        };
        let region = memory.region(address)?;
        let object = Object {
            base: region.base,
            end: region.end(),
            bytes: region.bytes.pointer(),
            words,
            writable: kind != AddressKind::String,
        };
        if self.recent.len() < RECENT {
            self.recent.push(object);
        } else {
            self.recent[self.oldest] = object;
            self.oldest = (self.oldest + 1) % RECENT;
        }
        Some(object)
    }
}
