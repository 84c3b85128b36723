//! Compiles the engine's loop for each level: three kinds of CPU, and two variants that pause.

use super::{Runner, run};
use crate::isa::bytecode::{Code, Inst};
use crate::isa::registers::View;
use crate::isa::rounds::{FEW_LOADS, MOST_LOADS};
use crate::machine::level::Level;
use crate::machine::ops::fault::Done;
use crate::machine::ops::rounds::{self, Edge};
use crate::machine::ops::{global, shared};
use crate::machine::replay::run::Replayer;
use crate::machine::replay::{self, List};
use crate::machine::warp::Warp;
use crate::machine::{Machine, Stop, idle, vectors};
use crate::observe::Observer;
use crate::shortcut::{Shortcut, Shortcuts};

/// The functions of one level.
pub(crate) struct Engine<O> {
    pub(crate) run: Runner<O>,
    pub(crate) replay: Replayer<O>,
}

/// The fastest engine that this CPU can run.
pub(crate) fn engine<O: Observer>(shortcuts: Shortcuts) -> Engine<O> {
    #[cfg(target_arch = "x86_64")]
    if const { O::IS_QUICK } && shortcuts.has(Shortcut::Vectors) {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2")
        {
            return Engine {
                // SAFETY: the CPU has the features.
                run: |machine, warps, place| unsafe { run_avx512(machine, warps, place) },
                replay: Avx512Level::replay,
            };
        }
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2")
        {
            return Engine {
                // SAFETY: the CPU has the features.
                run: |machine, warps, place| unsafe { run_avx2(machine, warps, place) },
                replay: Avx2Level::replay,
            };
        }
    }
    Engine {
        run: run_portable,
        replay: PortableLevel::replay,
    }
}

/// The engine that pauses: see [`Pass::points`](crate::machine::Pass::points).
pub(crate) fn pausing<O: Observer>() -> Runner<O> {
    run_pausing
}

/// The engine that pauses and has weak memory.
pub(crate) fn weak<O: Observer>() -> Runner<O> {
    run_weak
}

/// A level: the loop and the slow paths, compiled with the level's CPU features.
macro_rules! level {
    ($level:ident $vectors:path, $run:ident $(#[$features:meta])? { $($more:tt)* }) => {
        struct $level;

        $(#[$features])?
        fn $run<O: Observer>(machine: &mut Machine<'_, O>, warps: &mut [Warp], place: &mut usize) -> Stop {
            run::<$level, O>(machine, warps, place)
        }

        impl Level for $level {
            type Vectors = $vectors;
            level! { @access $(#[$features])? shared shared::shared::<STORES, $level, O> }
            level! { @access $(#[$features])? rest_shared shared::rest_shared::<STORES, $level, O> }
            level! { @access $(#[$features])? slow_shared shared::any_shared::<STORES, O> }
            level! { @access $(#[$features])? global global::global::<STORES, $level, O> }
            level! { @access $(#[$features])? rest_global global::rest_global::<STORES, $level, O> }
            level! { @access $(#[$features])? slow_global global::any_global::<STORES, O> }
            fn idle(code: &Code, r: View, row: u32, mask: u32) -> (u32, bool) {
                #[inline(never)]
                $(#[$features])?
                fn rounds(code: &Code, r: View, row: u32, mask: u32) -> (u32, bool) {
                    idle::rounds::<$vectors>(code, r, row, mask)
                }
                #[allow(unused_unsafe, reason = "the portable level has no features")]
                // SAFETY: as for an access.
                unsafe { rounds(code, r, row, mask) }
            }
            fn replay<O: Observer>(machine: &mut Machine<'_, O>, list: &mut List, shared: &mut [u8], index: u64) -> bool {
                #[inline(never)]
                $(#[$features])?
                fn blocks<O: Observer>(machine: &mut Machine<'_, O>, list: &mut List, shared: &mut [u8], index: u64) -> bool {
                    replay::run::run::<$level, O>(machine, list, shared, index)
                }
                #[allow(unused_unsafe, reason = "the portable level has no features")]
                // SAFETY: as for an access.
                unsafe { blocks(machine, list, shared, index) }
            }
            level! { @rounds $(#[$features])? rounds rounds::run::<$level, O, FEW_LOADS> }
            level! { @rounds $(#[$features])? many_rounds rounds::run::<$level, O, MOST_LOADS> }
            $($more)*
        }
    };
    (@rounds $(#[$features:meta])? $name:ident $body:expr) => {
        fn $name<O: Observer>(machine: &mut Machine<'_, O>, r: View, mask: u32, edge: &Edge<'_>, most: u64) -> u32 {
            #[inline(never)]
            $(#[$features])?
            fn rounds<O: Observer>(machine: &mut Machine<'_, O>, r: View, mask: u32, edge: &Edge<'_>, most: u64) -> u32 {
                $body(machine, r, mask, edge, most)
            }
            #[allow(unused_unsafe, reason = "the portable level has no features")]
            // SAFETY: as for an access.
            unsafe { rounds(machine, r, mask, edge, most) }
        }
    };
    (@access $(#[$features:meta])? $name:ident $body:expr) => {
        fn $name<const STORES: bool, O: Observer>(machine: &mut Machine<'_, O>, r: View, mask: u32, i: &Inst) -> Done {
            #[inline(never)]
            $(#[$features])?
            fn access<const STORES: bool, O: Observer>(machine: &mut Machine<'_, O>, r: View, mask: u32, i: &Inst) -> Done {
                $body(machine, r, mask, i)
            }
            #[allow(unused_unsafe, reason = "the portable level has no features")]
            // SAFETY: only this level's loop calls this, and `engine` chose the level for a CPU that has its features.
            unsafe { access::<STORES, O>(machine, r, mask, i) }
        }
    };
}

level! { PortableLevel vectors::Portable, run_portable {} }
level! { PausingLevel vectors::Portable, run_pausing { const PAUSES: bool = true; } }
level! { WeakLevel vectors::Portable, run_weak { const PAUSES: bool = true; const WEAK: bool = true; } }

#[cfg(target_arch = "x86_64")]
level! { Avx2Level vectors::Avx2, run_avx2 #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")] {} }
#[cfg(target_arch = "x86_64")]
level! {
    Avx512Level vectors::Avx512, run_avx512
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi1,bmi2,lzcnt,popcnt")] {}
}
