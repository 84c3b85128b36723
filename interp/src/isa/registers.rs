//! The register files of a warp, and the only unchecked way to access them.
//!
//! Invariant: every register number in a [`Code`](crate::isa::bytecode::Code) is below the file sizes that it declares
//! (64-bit varying registers with both units), and no instruction reads a varying register that it writes. The compiler
//! allocates registers from pools whose high-water marks are those sizes. Debug builds check each access.

#![allow(
    clippy::inline_always,
    reason = "register access must vanish into the loops over lanes"
)]

/// One unit of a varying register: 32 lanes of 32 bits.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Unit(pub(crate) [u32; 32]);

/// Both files of one warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    pub(crate) v: Vec<Unit>,
    pub(crate) s: Vec<u64>,
}

impl Registers {
    pub(crate) fn new(v_units: u32, s_count: u32) -> Registers {
        Registers {
            v: vec![Unit([0; 32]); v_units as usize],
            s: vec![0; s_count as usize],
        }
    }

    /// The files as pointers, for the engine. Valid until the files are dropped or resized, which the engine does not do.
    #[inline(always)]
    pub(crate) fn view(&mut self) -> View {
        View {
            v: self.v.as_mut_ptr(),
            s: self.s.as_mut_ptr(),
            #[cfg(debug_assertions)]
            sizes: (self.v.len(), self.s.len()),
        }
    }

    /// A lane's value of a 64-bit varying register.
    pub(crate) fn lane64(&self, register: u32, lane: usize) -> u64 {
        let unit = &self.v[register as usize + lane / 16].0;
        let mut bytes = [0; 8];
        let (low, high) = bytes.split_at_mut(4);
        low.copy_from_slice(&unit[lane % 16 * 2].to_ne_bytes());
        high.copy_from_slice(&unit[lane % 16 * 2 + 1].to_ne_bytes());
        u64::from_ne_bytes(bytes)
    }

    pub(crate) fn splat32(&mut self, register: u32, bits: u32) {
        self.v[register as usize] = Unit([bits; 32]);
    }

    pub(crate) fn splat64(&mut self, register: u32, bits: u64) {
        let view = self.view();
        *view.v64_mut(register) = [bits; 32];
    }
}

/// Pointers into a warp's files. See the module for the invariant that makes its methods sound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    v: *mut Unit,
    s: *mut u64,
    #[cfg(debug_assertions)]
    sizes: (usize, usize),
}

impl View {
    /// The scalar registers from `first` on: the window of a host call.
    pub(crate) fn window(self, first: usize) -> View {
        self.check(0, first);
        View {
            // SAFETY: `first` is in the file or its end.
            s: unsafe { self.s.add(first) },
            #[cfg(debug_assertions)]
            sizes: (self.sizes.0, self.sizes.1 - first),
            ..self
        }
    }

    #[inline(always)]
    fn check(&self, _v: usize, _s: usize) {
        #[cfg(debug_assertions)]
        assert!(
            _v <= self.sizes.0 && _s <= self.sizes.1,
            "register out of its file"
        );
    }

    #[inline(always)]
    pub(crate) fn s(&self, register: u32) -> u64 {
        self.check(0, register as usize + 1);
        // SAFETY: in the file (module invariant).
        unsafe { *self.s.add(register as usize) }
    }

    #[inline(always)]
    pub(crate) fn set_s(&self, register: u32, bits: u64) {
        self.check(0, register as usize + 1);
        // SAFETY: in the file; no reference into the scalar file exists.
        unsafe { *self.s.add(register as usize) = bits }
    }

    /// A mask register.
    #[inline(always)]
    pub(crate) fn mask(&self, register: u32) -> u32 {
        self.s(register) as u32
    }

    #[inline(always)]
    pub(crate) fn v32<'a>(&self, register: u32) -> &'a [u32; 32] {
        self.check(register as usize + 1, 0);
        // SAFETY: in the file; the instruction does not write this register (module invariant).
        unsafe { &(*self.v.add(register as usize)).0 }
    }

    #[inline(always)]
    pub(crate) fn v32_mut<'a>(&self, register: u32) -> &'a mut [u32; 32] {
        self.check(register as usize + 1, 0);
        // SAFETY: in the file; no other reference to this register is alive (module invariant).
        unsafe { &mut (*self.v.add(register as usize)).0 }
    }

    #[inline(always)]
    pub(crate) fn v64<'a>(&self, register: u32) -> &'a [u64; 32] {
        self.check(register as usize + 2, 0);
        // SAFETY: as `v32`; two units are 256 bytes aligned to 64.
        unsafe { &*self.v.add(register as usize).cast::<[u64; 32]>() }
    }

    #[inline(always)]
    pub(crate) fn v64_mut<'a>(&self, register: u32) -> &'a mut [u64; 32] {
        self.check(register as usize + 2, 0);
        // SAFETY: as `v32_mut`.
        unsafe { &mut *self.v.add(register as usize).cast::<[u64; 32]>() }
    }
}
