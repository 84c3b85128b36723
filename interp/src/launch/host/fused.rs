//! The loop that runs the second form of host functions ([`isa::host`](crate::isa::host)). It handles the common case:
//! no register holds an uninitialised value, and every access is valid and hits its cache entry. The first form handles
//! everything else and reports errors.

mod scalar;

use ir::{FuncId, bfloat16, half};

use super::HostThread;
use super::cache::Cached;
use super::run::{PAUSE, Stop};
use crate::fault::trap::TrapKind;
use crate::isa::bytecode::{Class, Code, Inst, PtrScale};
use crate::isa::host::{
    HostInst, HostOp, NO_ENTRY, S_STACK, SITE_BYTES, host_accesses, host_jumps,
};
use crate::isa::op::{Op, lane_arms, lane_ops};
use crate::isa::registers::View;
use crate::machine::ops::{convert, float, int, lanes};
use crate::memory::Memory;
use crate::program::Program;

/// Why [`dispatch`] stopped, before it executed the current instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    /// The first form executes it.
    Plain,
    /// An access misses its cache entry.
    Miss,
    Call,
    Return,
}

/// The state of [`dispatch`], kept when it returns.
struct State {
    /// The current instruction.
    at: *const HostInst,
    executed: u64,
    /// On a miss: the site of the access, and the value from its registers.
    site: u32,
    part: u64,
}

impl HostThread {
    /// Runs on from the innermost call until the first form has to take over.
    pub(super) fn fused(&mut self, program: &Program, memory: &mut Memory, limit: u64) -> Stop {
        let pause = limit.min(self.executed.saturating_add(PAUSE));
        loop {
            let frame = self.frames.last().expect("running");
            let (function, stack, window) = (frame.function, frame.stack, frame.registers);
            let (host, code) = (program.host_code(function), program.code(function));
            let entry = host.entries[frame.pc];
            if entry == NO_ENTRY {
                return Stop::Turn;
            }
            let mut state = State {
                at: &raw const host.insts[entry as usize],
                executed: self.executed,
                site: 0,
                part: 0,
            };
            let r = self.registers.view().window(window);
            let sites = self.caches.sites(function, host, stack);
            if self.shadow.on && self.executed >= self.settles_at {
                self.settles_at = self.executed + PAUSE;
                self.caches.settle(memory, function, host);
            }
            let asleep = self.shadow.is_asleep();
            let exit = loop {
                let exit = dispatch(&mut state, r, sites, &code.scales, (pause, asleep));
                let follows = self.shadow.on;
                if exit == Exit::Miss
                    && self.caches.fill(
                        (program, memory),
                        function,
                        (state.site, state.part),
                        (stack, follows),
                    )
                {
                    continue;
                }
                break exit;
            };
            self.executed = state.executed;
            if let Some(stop) =
                self.leave_fused(exit, (program, memory), (function, state.at), limit)
            {
                return stop;
            }
            if self.executed > pause {
                return Stop::Turn;
            }
        }
    }

    /// Handles the instruction that [`dispatch`] stopped at. Returns why the loop cannot continue, if so.
    fn leave_fused(
        &mut self,
        exit: Exit,
        (program, memory): (&Program, &mut Memory),
        (function, at): (FuncId, *const HostInst),
        limit: u64,
    ) -> Option<Stop> {
        let (host, code) = (program.host_code(function), program.code(function));
        // SAFETY: both are pointers to the function's instructions.
        let index = unsafe { at.offset_from(host.insts.as_ptr()) } as usize;
        let (inst, origin) = (host.insts[index], host.origins[index]);
        let frame = self.frames.last_mut().expect("running");
        let window = frame.registers;
        match exit {
            Exit::Plain | Exit::Miss => {
                frame.pc = origin.pc as usize;
                self.executed += u64::from(origin.weight);
                let r = self.registers.view().window(window);
                let (first, count) = origin.again;
                for &pc in &host.again[first as usize..(first + count) as usize] {
                    again(r, code, pc as usize);
                }
                Some(Stop::Turn)
            }
            Exit::Call => {
                frame.pc = origin.pc as usize + 1;
                self.executed += u64::from(inst.weight);
                if self.executed > limit {
                    let instructions = limit;
                    return Some(Stop::Trap(TrapKind::Limit { instructions }));
                }
                let call = self.call(program, memory, code, inst.x as usize);
                call.err().map(Stop::Trap)
            }
            Exit::Return => {
                frame.pc = origin.pc as usize + 1;
                self.executed += u64::from(inst.weight);
                let r = self.registers.view().window(window);
                let value = (inst.b == 1).then(|| r.s(inst.a.into()));
                if self.frames.len() == 1 {
                    return Some(Stop::Return(value));
                }
                self.leave(program, value, code.locs[origin.pc as usize]);
                None
            }
        }
    }
}

/// Repeats an instruction that was fused into another. It only computes, and its operands are unchanged.
fn again(r: View, code: &Code, pc: usize) {
    let i = &code.insts[pc];
    match i.op {
        Op::SPtrS => lanes::s_ptr(r, i, &code.scales, |x| i64::from(x as i32)),
        Op::SPtrU => lanes::s_ptr(r, i, &code.scales, |x| i64::from(x as u32)),
        Op::SPtrL => lanes::s_ptr(r, i, &code.scales, |x| x as i64),
        Op::HostLocal => r.set_s(i.d, r.s(S_STACK).wrapping_add(i.a.into())),
        Op::SAdd32 => lanes::s_binary32(r, i, int::add32),
        Op::SSub32 => lanes::s_binary32(r, i, int::sub32),
        Op::SAdd64 => lanes::s_binary64(r, i, int::add64),
        Op::SSub64 => lanes::s_binary64(r, i, int::sub64),
        Op::SMul32 => lanes::s_binary32(r, i, int::mul32),
        Op::SMul64 => lanes::s_binary64(r, i, int::mul64),
        Op::SFMul32 => lanes::s_binary32(r, i, float::fmul32),
        Op::SFMul64 => lanes::s_binary64(r, i, float::fmul64),
        op => unreachable!("{op:?} does not melt"),
    }
}

/// The value from an access's registers: base and index.
#[allow(clippy::inline_always, reason = "it must vanish into the loop's arms")]
#[inline(always)]
fn part(r: View, i: &HostInst, extend: impl Fn(u64) -> u64) -> u64 {
    let scale = i64::from(i.c as i16) as u64;
    let index = extend(scalar::get(r, i.b)).wrapping_mul(scale);
    scalar::get(r, i.a).wrapping_add(index)
}

/// The same with a 32-bit index that counts elements.
#[allow(clippy::inline_always, reason = "it must vanish into the loop's arms")]
#[inline(always)]
fn part_of_element<T>(r: View, i: &HostInst) -> u64 {
    let bytes = scalar::signed(scalar::get(r, i.b)).wrapping_mul(size_of::<T>() as u64);
    scalar::get(r, i.a).wrapping_add(bytes)
}

/// The same with an index that is a 32-bit sum.
#[allow(clippy::inline_always, reason = "it must vanish into the loop's arms")]
#[inline(always)]
fn part_of_sum<T>(r: View, i: &HostInst) -> u64 {
    let index = int::add32(scalar::get(r, i.b) as u32, scalar::get(r, i.c) as u32);
    let bytes = scalar::signed(index.into()).wrapping_mul(size_of::<T>() as u64);
    scalar::get(r, i.a).wrapping_add(bytes)
}

/// The same with an index that is a 64-bit sum.
#[allow(clippy::inline_always, reason = "it must vanish into the loop's arms")]
#[inline(always)]
fn part_of_long_sum<T>(r: View, i: &HostInst) -> u64 {
    let index = int::add64(scalar::get(r, i.b), scalar::get(r, i.c));
    let bytes = index.wrapping_mul(size_of::<T>() as u64);
    scalar::get(r, i.a).wrapping_add(bytes)
}

/// The same with an index that is a product plus a sum.
#[allow(clippy::inline_always, reason = "it must vanish into the loop's arms")]
#[inline(always)]
fn part_of_product<T>(r: View, i: &HostInst) -> u64 {
    let product = int::mul32(scalar::get(r, i.b) as u32, scalar::get(r, i.c) as u32);
    let index = int::add32(product, scalar::get(r, i.weight) as u32);
    let bytes = scalar::signed(index.into()).wrapping_mul(size_of::<T>() as u64);
    scalar::get(r, i.a).wrapping_add(bytes)
}

impl Cached {
    /// The offset of an access of `N` bytes in the object, if it is in bounds and aligned.
    #[allow(clippy::inline_always, reason = "it must vanish into the loop's arms")]
    #[inline(always)]
    fn place<const N: u32>(&self, part: u64) -> Option<u64> {
        let at = part.wrapping_sub(self.base);
        // Low bits that are not 0 in a misaligned offset move to the top.
        (at.rotate_right(N.trailing_zeros()) < self.limit).then_some(at)
    }

    /// Whether all of the `N` bytes were written.
    ///
    /// # Safety
    /// They must be in the object.
    #[allow(clippy::inline_always, reason = "it must vanish into the loop's arms")]
    #[inline(always)]
    unsafe fn is_set<const N: u32>(&self, at: u64) -> bool {
        let at = at + self.start;
        // SAFETY: there is a bit for each byte of the allocation.
        let word = unsafe { *self.words.add((at / 64) as usize) };
        !(word >> (at % 64)) & ((1 << N) - 1) == 0
    }

    /// Marks `N` bytes as written.
    ///
    /// # Safety
    /// They must be in the object.
    #[allow(clippy::inline_always, reason = "it must vanish into the loop's arms")]
    #[inline(always)]
    unsafe fn set<const N: u32>(&self, at: u64) {
        let at = at + self.start;
        // SAFETY: there is a bit for each byte of the allocation.
        let word = unsafe { &mut *self.words.add((at / 64) as usize) };
        *word |= ((1 << N) - 1) << (at % 64);
    }
}

/// Does something, then an empty statement that differs in each arm. Compilers merge arms that end alike and jump there
/// from each, and jumps are half of this loop's work.
macro_rules! apart {
    ($op:expr, $does:expr) => {{
        $does;
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        // SAFETY: it is an assembly comment.
        unsafe {
            std::arch::asm!("/* {} */", const $op as u16, options(nomem, nostack, preserves_flags));
        }
    }};
}

/// The given arms, then those from the tables.
macro_rules! arms {
    ({ { loads { $(($l:ident, $le:ident, $ls:ident, $lu:ident, $ll:ident, $la:ident, $lq:ident, $lm:ident, $lt:ty, $lw:ty))* }
         stores { $(($s:ident, $se:ident, $ss:ident, $su:ident, $sl:ident, $sa:ident, $sq:ident, $sm:ident, $st:ty))* }
         tests { $(($tl:ident, $tc:ident, $tt:ty, $tw:ty, $tf:path, $test:ident, $teste:ident))* }
         float_tests { $(($ftl:ident, $ftc:ident, $ftt:ty, $ftf:path, $ftest:ident, $fteste:ident, $ftunless:ident, $ftunlesse:ident))* }
         updates { $(($up:ident, $ut:ty, $uf:path, $update:ident, $updates:ident))* }
         feeds { $(($fl:ident, $fk:ident, $fdt:ty, $fdf:expr, $db:ident, $de:ident, $ds:ident, $du:ident, $dl:ident, $da:ident, $dq:ident, $dm:ident))* } }
       $i:ident, $r:ident, $jump:ident, $back:ident, $step:ident, $load:ident, $store:ident, $test_of:ident, $update_of:ident, $feed:ident, { $($arms:tt)* } }
     scalar { $(($op:ident, $on:ident, $lane:expr))* }
     ints { $(($int:ident, $it:ty, $if:path, $iif:ident, $iback:ident, $istep:ident, $iother:ident, $imirror:ident))* }
     floats { $(($float:ident, $ft:ty, $ff:path, $fif:ident, $funless:ident, $fback:ident, $fbackunless:ident, $fmirror:ident))* }) => {
        match $i.op {
            $($arms)*
            $(HostOp::$l => apart!(HostOp::$l, $load!($lt, $lw, scalar::get($r, $i.a))),
              HostOp::$le => apart!(HostOp::$le, $load!($lt, $lw, part_of_element::<$lt>($r, $i))),
              HostOp::$ls => apart!(HostOp::$ls, $load!($lt, $lw, part($r, $i, scalar::signed))),
              HostOp::$lu => apart!(HostOp::$lu, $load!($lt, $lw, part($r, $i, scalar::unsigned))),
              HostOp::$ll => apart!(HostOp::$ll, $load!($lt, $lw, part($r, $i, scalar::long))),
              HostOp::$la => apart!(HostOp::$la, $load!($lt, $lw, part_of_sum::<$lt>($r, $i))),
              HostOp::$lq => apart!(HostOp::$lq, $load!($lt, $lw, part_of_long_sum::<$lt>($r, $i))),
              HostOp::$lm => apart!(HostOp::$lm, $load!($lt, $lw, part_of_product::<$lt>($r, $i))),)*
            $(HostOp::$s => apart!(HostOp::$s, $store!($st, scalar::get($r, $i.a))),
              HostOp::$se => apart!(HostOp::$se, $store!($st, part_of_element::<$st>($r, $i))),
              HostOp::$ss => apart!(HostOp::$ss, $store!($st, part($r, $i, scalar::signed))),
              HostOp::$su => apart!(HostOp::$su, $store!($st, part($r, $i, scalar::unsigned))),
              HostOp::$sl => apart!(HostOp::$sl, $store!($st, part($r, $i, scalar::long))),
              HostOp::$sa => apart!(HostOp::$sa, $store!($st, part_of_sum::<$st>($r, $i))),
              HostOp::$sq => apart!(HostOp::$sq, $store!($st, part_of_long_sum::<$st>($r, $i))),
              HostOp::$sm => apart!(HostOp::$sm, $store!($st, part_of_product::<$st>($r, $i))),)*
            $(HostOp::$test => apart!(HostOp::$test, $test_of!($tt, $tw, $tf, scalar::get($r, $i.a))),
              HostOp::$teste => apart!(HostOp::$teste, $test_of!($tt, $tw, $tf, part_of_element::<$tt>($r, $i))),)*
            $(HostOp::$ftest => apart!(HostOp::$ftest, $test_of!($ftt, $ftt, $ftf, scalar::get($r, $i.a))),
              HostOp::$fteste => apart!(HostOp::$fteste, $test_of!($ftt, $ftt, $ftf, part_of_element::<$ftt>($r, $i))),
              HostOp::$ftunless => apart!(HostOp::$ftunless, $test_of!($ftt, $ftt, |a, b| !$ftf(a, b), scalar::get($r, $i.a))),
              HostOp::$ftunlesse => apart!(HostOp::$ftunlesse, $test_of!($ftt, $ftt, |a, b| !$ftf(a, b), part_of_element::<$ftt>($r, $i))),)*
            $(HostOp::$update => apart!(HostOp::$update, {
                let value = $update_of!($ut, $uf, scalar::get($r, $i.a));
                scalar::set($r, $i.c, value.into());
              }),
              HostOp::$updates => apart!(HostOp::$updates, { $update_of!($ut, $uf, part($r, $i, scalar::signed)); }),)*
            $(HostOp::$db => apart!(HostOp::$db, $feed!($fdt, $fdf, scalar::get($r, $i.a))),
              HostOp::$de => apart!(HostOp::$de, $feed!($fdt, $fdf, part_of_element::<$fdt>($r, $i))),
              HostOp::$ds => apart!(HostOp::$ds, $feed!($fdt, $fdf, part($r, $i, scalar::signed))),
              HostOp::$du => apart!(HostOp::$du, $feed!($fdt, $fdf, part($r, $i, scalar::unsigned))),
              HostOp::$dl => apart!(HostOp::$dl, $feed!($fdt, $fdf, part($r, $i, scalar::long))),
              HostOp::$da => apart!(HostOp::$da, $feed!($fdt, $fdf, part_of_sum::<$fdt>($r, $i))),
              HostOp::$dq => apart!(HostOp::$dq, $feed!($fdt, $fdf, part_of_long_sum::<$fdt>($r, $i))),
              HostOp::$dm => apart!(HostOp::$dm, $feed!($fdt, $fdf, part_of_product::<$fdt>($r, $i))),)*
            $(HostOp::$iif => apart!(HostOp::$iif, $jump!(holds!($r, $i, $it, $if))),
              HostOp::$iback => apart!(HostOp::$iback, $back!(holds!($r, $i, $it, $if))),
              HostOp::$istep => apart!(HostOp::$istep, $step!($it, $if)),)*
            $(HostOp::$fif => apart!(HostOp::$fif, $jump!(holds!($r, $i, $ft, $ff))),
              HostOp::$funless => apart!(HostOp::$funless, $jump!(!holds!($r, $i, $ft, $ff))),
              HostOp::$fback => apart!(HostOp::$fback, $back!(holds!($r, $i, $ft, $ff))),
              HostOp::$fbackunless => apart!(HostOp::$fbackunless, $back!(!holds!($r, $i, $ft, $ff))),)*
            $(HostOp::$op => apart!(HostOp::$op, lanes::$on($r, &$i.wide(), $lane)),)*
        }
    };
}

macro_rules! holds {
    ($r:ident, $i:ident, $ty:ty, $f:path) => {
        $f(scalar::get($r, $i.a) as $ty, scalar::get($r, $i.b) as $ty)
    };
}

macro_rules! dispatch_arms {
    ({ $($rest:tt)* } $($accesses:tt)*) => {
        lane_ops! { lane_arms! { host_jumps! { arms! { { $($accesses)* } $($rest)* } } } }
    };
}

/// Runs instructions until one has to be left to the caller. A table with one arm per operation. No arm calls a
/// function, so the loop's variables stay in CPU registers.
#[inline(never)]
fn dispatch(
    state: &mut State,
    r: View,
    sites: *mut Cached,
    scales: &[PtrScale],
    (pause, asleep): (u64, bool),
) -> Exit {
    let (mut next, mut executed) = (state.at, state.executed);
    loop {
        // SAFETY: jumps stay within the function's instructions, and the last of these never falls through
        // (`isa::host`).
        let i = unsafe { &*next };
        // SAFETY: as above.
        next = unsafe { next.add(1) };
        macro_rules! exit {
            ($exit:expr) => {{
                state.at = i;
                state.executed = executed;
                return $exit;
            }};
        }
        macro_rules! go {
            () => {
                // SAFETY: as above.
                next = unsafe { next.offset(i.x as i32 as isize) }
            };
        }
        macro_rules! jump {
            ($holds:expr) => {{
                executed += u64::from(i.weight);
                if $holds {
                    go!();
                }
            }};
        }
        macro_rules! back {
            ($holds:expr) => {{
                let sum = executed + u64::from(i.weight);
                if sum > pause {
                    exit!(Exit::Plain);
                }
                executed = sum;
                if $holds {
                    go!();
                }
            }};
        }
        macro_rules! back_add {
            ($ty:ty) => {{
                let sum = executed + u64::from(i.weight);
                if sum > pause {
                    exit!(Exit::Plain);
                }
                executed = sum;
                let value = (scalar::get(r, i.a) as $ty).wrapping_add(scalar::get(r, i.c) as $ty);
                scalar::set(r, i.d, value as u64);
                go!();
            }};
        }
        macro_rules! step {
            ($ty:ty, $f:path) => {{
                let sum = executed + u64::from(i.weight);
                if sum > pause {
                    exit!(Exit::Plain);
                }
                executed = sum;
                let value = (scalar::get(r, i.a) as $ty).wrapping_add(scalar::get(r, i.c) as $ty);
                scalar::set(r, i.d, value as u64);
                if $f(value, scalar::get(r, i.b) as $ty) {
                    go!();
                }
            }};
        }
        macro_rules! place {
            ($ty:ty, $part:expr) => {
                place!($ty, $part, i.x)
            };
            ($ty:ty, $part:expr, $number:expr) => {{
                let part = $part;
                // SAFETY: the site of every access is one of the function's.
                let site = unsafe { &*sites.byte_add($number as usize) };
                match site.place::<{ size_of::<$ty>() as u32 }>(part) {
                    Some(at) => (site, at),
                    None => {
                        (state.site, state.part) = ($number / SITE_BYTES, part);
                        exit!(Exit::Miss);
                    }
                }
            }};
        }
        macro_rules! load {
            ($ty:ty, $to:ty, $part:expr) => {
                load_as!($ty, $part, |value| value as $to as u64)
            };
        }
        macro_rules! load_as {
            ($ty:ty, $part:expr, |$value:ident| $bits:expr) => {{
                let (site, at) = place!($ty, $part);
                // SAFETY: `place` found it in the object.
                if !site.words.is_null()
                    && !unsafe { site.is_set::<{ size_of::<$ty>() as u32 }>(at) }
                {
                    exit!(Exit::Plain);
                }
                // SAFETY: as above.
                let $value = unsafe { site.bytes.add(at as usize).cast::<$ty>().read_unaligned() };
                scalar::set(r, i.d, $bits);
            }};
        }
        macro_rules! store {
            ($ty:ty, $part:expr) => {
                store!($ty, $part, scalar::get(r, i.d) as $ty)
            };
            ($ty:ty, $part:expr, $value:expr) => {{
                let (site, at) = place!($ty, $part);
                if !site.words.is_null() {
                    // SAFETY: `place` found it in the object.
                    unsafe { site.set::<{ size_of::<$ty>() as u32 }>(at) };
                }
                // SAFETY: as above, and what may not be written is not among the objects.
                unsafe {
                    site.bytes
                        .add(at as usize)
                        .cast::<$ty>()
                        .write_unaligned($value)
                };
            }};
        }
        macro_rules! read {
            ($ty:ty, $part:expr, $number:expr) => {{
                let (site, at) = place!($ty, $part, $number);
                // SAFETY: `place` found it in the object.
                if !site.words.is_null()
                    && !unsafe { site.is_set::<{ size_of::<$ty>() as u32 }>(at) }
                {
                    exit!(Exit::Plain);
                }
                // SAFETY: as above.
                unsafe { site.bytes.add(at as usize).cast::<$ty>() }
            }};
        }
        macro_rules! test {
            ($ty:ty, $to:ty, $f:expr, $part:expr) => {{
                let from = read!($ty, $part, u32::from(i.x as u16) * SITE_BYTES);
                // SAFETY: it is in an object.
                let value = unsafe { from.read_unaligned() } as $to;
                scalar::set(r, i.d, value.into());
                executed += u64::from(i.weight);
                if ($f)(value, scalar::get(r, i.c) as $to) {
                    // SAFETY: as for all jumps.
                    next = unsafe { next.offset((i.x as i32 >> 16) as isize) };
                }
            }};
        }
        macro_rules! update {
            ($ty:ty, $f:path, $part:expr) => {{
                let at = read!($ty, $part, i.x);
                // SAFETY: it is in an object that may be written.
                unsafe {
                    let value = $f(at.read_unaligned(), scalar::get(r, i.d) as $ty);
                    at.write_unaligned(value);
                    value
                }
            }};
        }
        macro_rules! feed {
            ($ty:ty, $f:expr, $part:expr) => {{
                let from = read!($ty, $part, u32::from(i.x as u16) * SITE_BYTES);
                // SAFETY: it is in an object.
                let value = unsafe { from.read_unaligned() };
                let other = scalar::get(r, (i.x >> 16) as u16) as $ty;
                let result = ($f)(value, other, scalar::get(r, i.d) as $ty);
                scalar::set(r, i.d, result.into());
            }};
        }
        macro_rules! pointer {
            ($extend:path) => {{
                let inst = Inst { c: i.x, ..i.wide() };
                lanes::s_ptr(r, &inst, scales, |index| $extend(index) as i64);
            }};
        }
        host_accesses! { dispatch_arms! { i, r, jump, back, step, load, store, test, update, feed, {
            HostOp::Plain => exit!(Exit::Plain),
            HostOp::Call => exit!(Exit::Call),
            HostOp::Return => exit!(Exit::Return),
            HostOp::Asleep => if asleep { exit!(Exit::Plain) },
            HostOp::NonZero => if scalar::get(r, i.b) == 0 { exit!(Exit::Plain) },
            HostOp::Within32 => if scalar::get(r, i.a) as u32 >= i.x { exit!(Exit::Plain) },
            HostOp::Within64 => if scalar::get(r, i.a) >= u64::from(i.x) { exit!(Exit::Plain) },
            HostOp::MulAdd32 => lanes::s_fma32(r, &i.wide(), |a, b, c| int::add32(int::mul32(a, b), c)),
            HostOp::MulAdd64 => lanes::s_fma64(r, &i.wide(), |a, b, c| int::add64(int::mul64(a, b), c)),
            HostOp::FMulAdd32 => lanes::s_fma32(r, &i.wide(), float::mul_and_add32),
            HostOp::FMulAdd64 => lanes::s_fma64(r, &i.wide(), |a, b, c| float::fadd64(float::fmul64(a, b), c)),
            HostOp::FAddMul64 => lanes::s_fma64(r, &i.wide(), |a, b, c| float::fadd64(c, float::fmul64(a, b))),
            HostOp::PtrS => pointer!(scalar::signed),
            HostOp::PtrU => pointer!(scalar::unsigned),
            HostOp::PtrL => pointer!(scalar::long),
            HostOp::Local => scalar::set(r, i.d, scalar::get(r, S_STACK as u16) + u64::from(i.x)),
            HostOp::Jump => jump!(true),
            HostOp::IfNot => jump!(scalar::get(r, i.a) == 0),
            HostOp::If => jump!(scalar::get(r, i.a) != 0),
            HostOp::Tick => executed += u64::from(i.weight),
            HostOp::Back => back!(true),
            HostOp::BackAdd32 => back_add!(u32),
            HostOp::BackAdd64 => back_add!(u64),
            HostOp::LoadBool => load_as!(u8, scalar::get(r, i.a), |value| Class::Mask.to_register((value != 0).into())),
            HostOp::StoreBool => store!(u8, scalar::get(r, i.a), scalar::get(r, i.d) as u8 & 1),
        } } }
    }
}
