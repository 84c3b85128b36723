//! Compares each CPU's form with words that are moved and computed one by one. Features that this CPU lacks are not
//! tested.

use super::{Feed, Loaded, Portable, Vectors, sum_words};
use crate::count::pattern::Shape;
use crate::isa::bytecode::Inst;
use crate::isa::op::Op;
use crate::isa::registers::{Registers, View};
use crate::isa::rounds::Row;
use crate::machine::ops::element::WordLayout;

/// Pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 33
    }

    fn below(&mut self, end: u64) -> u32 {
        (self.next() % end) as u32
    }
}

/// Words at a step, or anywhere, the last of which ends before `end` words.
fn places(chance: &mut Chance, end: u32) -> [u32; 32] {
    let step = [0, 1, 2, 3, 7][chance.below(5) as usize].min((end - 1) / 31);
    match chance.below(2) {
        0 => std::array::from_fn(|l| 4 * step * l as u32),
        _ => std::array::from_fn(|_| 4 * chance.below(end.into())),
    }
}

fn memory() -> [u32; 64] {
    std::array::from_fn(|n| 0x0101_0000 * n as u32 + n as u32)
}

fn holds<V: Vectors>() {
    let mut chance = Chance(7);
    let memory = memory();
    let bytes = |at: u32| memory[(at / 4) as usize];
    for _ in 0..2000 {
        let mask = chance.next() as u32;
        let lanes: [u32; 32] = std::array::from_fn(|l| 0_u32.wrapping_sub(mask >> l & 1));
        assert_eq!(V::mask_of(&lanes), mask);

        let deltas: [u32; 32] = places(&mut chance, 40);
        let first = chance.next() as u32;
        let mut values = deltas.map(|delta| first.wrapping_add(delta.wrapping_sub(deltas[0])));
        let deltas = deltas.map(|delta| delta.wrapping_sub(deltas[0]));
        let wide = values.map(|value| value as i32 as i64 as u64);
        let wide: [u64; 32] =
            std::array::from_fn(|l| wide[0].wrapping_add_signed((deltas[l] as i32).into()));
        assert!(V::alike(&values, &deltas) && V::alike64(&wide, &deltas));
        let odd = 1 + chance.below(31) as usize;
        values[odd] ^= 1 << chance.below(32);
        assert!(!V::alike(&values, &deltas));

        let (add, limit) = (chance.next() as u32, 1 + chance.below(1 << 31));
        let mut below: [u32; 32] =
            std::array::from_fn(|_| chance.below(limit.into()).wrapping_sub(add));
        assert!(V::all_below(&below, add, limit));
        below[odd] = (limit + chance.below(2) * chance.below(1 << 31)).wrapping_sub(add);
        assert!(!V::all_below(&below, add, limit));
        let mut wide = wide;
        wide[odd] ^= 1 << chance.below(64);
        assert!(!V::alike64(&wide, &deltas));

        let (low, more) = (chance.below(8), 4 * chance.below(8));
        let at = places(&mut chance, 24);
        let from = memory[low as usize..].as_ptr();
        let mut out = [0; 32];
        // SAFETY: 24 words of 64, from the 8th at the latest.
        unsafe { V::collect(from.cast(), &at, &mut out) };
        assert_eq!(out, at.map(|at| bytes(4 * low + at)));
        // SAFETY: 32 words of 64, from the 8th at the latest; the last one is the 24th and 7 more.
        unsafe { V::pick(from.cast(), &at, more, &mut out) };
        assert_eq!(out, at.map(|at| bytes(4 * low + at + more)));
        for lanes in [1, 2, 4, 8, 16] {
            // SAFETY: 16 words of 64, from the 8th at the latest.
            unsafe { V::first_lanes(from.cast(), lanes, &mut out) };
            for l in 0..lanes {
                assert_eq!(out[l as usize], bytes(4 * (low + l)));
            }
        }

        let count = 1 + chance.below(4);
        let at = places(&mut chance, 64 - count + 1);
        let shift = 4 * chance.below(9);
        let (at, more) = (
            at.map(|at| at.wrapping_add(shift)),
            0_u32.wrapping_sub(shift),
        );
        let mut registers = Registers::new(8, 1);
        let names: Vec<u32> = (0..count).collect();
        for half in 0..2 {
            // SAFETY: 64 words, and all places are among them.
            unsafe {
                V::pick_rows(
                    memory.as_ptr().cast(),
                    &at,
                    more,
                    registers.view(),
                    &names,
                    half,
                )
            };
        }
        for k in 0..count {
            assert_eq!(
                registers.v[k as usize].0,
                at.map(|at| bytes(at - shift + 4 * k))
            );
        }
    }
}

/// Sums with NaN, infinities and denormal numbers.
fn fuses<V: Vectors>() {
    let mut chance = Chance(11);
    let special = [
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0xffff_ffff,
        0,
        0x8000_0000,
        1,
    ];
    for _ in 0..500 {
        let mut word = || match chance.below(4) {
            0 => special[chance.below(7) as usize],
            _ => (chance.next() << 16 ^ chance.next()) as u32,
        };
        let rows: [[u32; 32]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| word()));
        let of = |fuse: fn(View, &Inst)| {
            let mut registers = Registers::new(8, 1);
            for (unit, row) in registers.v.iter_mut().zip(rows) {
                unit.0 = row;
            }
            let inst = Inst {
                op: Op::VFmaInto32,
                weight: 0,
                d: 2,
                a: 0,
                b: 1,
                c: 0,
            };
            fuse(registers.view(), &inst);
            registers.v[2].0
        };
        assert_eq!(of(V::fma_into32), of(Portable::fma_into32));
    }
}

/// Where a load's lanes read, in one of the common layouts.
fn feed<'a>(chance: &mut Chance, memory: &[u32], bytes: &'a mut [u32; 32], count: u32) -> Feed<'a> {
    use Shape::{Halves, Pair, Row, Run, Splat};
    let shape = [Splat, Run, Halves, Pair, Row][chance.below(5) as usize];
    let apart = 4 * [0, 16, 40][chance.below(3) as usize];
    *bytes = std::array::from_fn(|lane| match (shape, lane as u32) {
        (Run, lane) => 4 * lane,
        (Halves, lane) => lane / 16 * apart + lane % 16 * 4,
        (Pair, lane) => lane / 16 * apart,
        (Row, _) => 4 * chance.below(32),
        _ => 0,
    });
    let lowest = *bytes.iter().min().expect("lanes");
    bytes.iter_mut().for_each(|at| *at -= lowest);
    let extent = bytes.iter().max().expect("lanes") + 4;
    let stride = 4 * [0, 1, 1, 3, 16][chance.below(5) as usize];
    let (way, size) = (stride * (count - 1), 4 * memory.len() as u32);
    // Often at the very end.
    let last = size - extent - way;
    let lowest = last - (4 * chance.below(20)).min(last);
    let backwards = chance.below(3) == 0;
    Feed {
        layout: WordLayout {
            shape,
            bytes,
            half_lows: [0; 2],
            memory: std::ptr::slice_from_raw_parts(memory.as_ptr().cast(), size as usize),
        },
        lowest: (lowest + if backwards { way } else { 0 }) as usize,
        stride_bytes: if backwards {
            -(stride as isize)
        } else {
            stride as isize
        },
    }
}

fn sums<V: Vectors>() {
    let mut chance = Chance(11);
    let memory: Vec<u32> = (0..400u32)
        .map(|at| match at {
            77 => f32::INFINITY.to_bits(),
            78 => f32::NAN.to_bits() | 1,
            _ => (at as f32 * 0.3 - 40.0).to_bits(),
        })
        .collect();
    for _ in 0..2000 {
        let count = 1 + chance.below(9);
        let (mut one, mut other) = ([0; 32], [0; 32]);
        let one = feed(&mut chance, &memory, &mut one, count);
        let other = feed(&mut chance, &memory, &mut other, count);
        let mut sum: [u32; 32] = std::array::from_fn(|lane| (lane as f32).to_bits());
        let mut expected = sum;
        // SAFETY: all words lie in `memory`.
        unsafe {
            V::sum_rounds(&mut sum, &one, &other, count);
            sum_words::<Portable>(&mut expected, &one, &other, count);
        }
        let shapes = (one.layout.shape, other.layout.shape);
        assert_eq!(sum, expected, "{shapes:?}");
    }
}

fn rows<V: Vectors>() {
    let mut chance = Chance(17);
    for _ in 0..200 {
        let (words, rounds) = (1 + chance.below(20), 1 + chance.below(6));
        let count = 1 + chance.below(21);
        let mut word = || match chance.below(400) {
            0 => f32::INFINITY.to_bits(),
            1 => f32::NAN.to_bits() | 1,
            _ => (chance.below(1000) as f32 * 0.3 - 40.0).to_bits(),
        };
        let mut loaded = Registers::new(words * rounds, 0);
        loaded
            .v
            .iter_mut()
            .for_each(|unit| unit.0.fill_with(&mut word));
        let mut registers = Registers::new(count, 0);
        registers
            .v
            .iter_mut()
            .for_each(|unit| unit.0.fill_with(&mut word));
        let row = Row {
            factor: chance.below(words.into()),
            sums: (0..count)
                .map(|sum| (sum, chance.below(words.into())))
                .collect(),
        };
        let mut of = |sum: fn(View, &Row, &Loaded)| {
            let mut registers = registers.clone();
            let r = loaded.view();
            sum(registers.view(), &row, &Loaded { r, words, rounds });
            registers.v.iter().map(|unit| unit.0).collect::<Vec<_>>()
        };
        assert_eq!(of(V::sum_row), of(Portable::sum_row));
    }
}

fn fours<V: Vectors>() {
    let mut chance = Chance(23);
    let memory: Vec<u32> = (0..500).collect();
    for _ in 0..200 {
        let bytes = std::array::from_fn(|_| 4 * chance.below(490));
        let all: [_; 2] = [V::collect_fours, Portable::collect_fours].map(
            |collect: unsafe fn(*const u8, &[u32; 32], View, &[u32; 4])| {
                let mut registers = Registers::new(5, 0);
                // SAFETY: all words lie in `memory`.
                unsafe {
                    collect(
                        memory.as_ptr().cast(),
                        &bytes,
                        registers.view(),
                        &[3, 0, 4, 1],
                    )
                };
                registers.v.iter().map(|unit| unit.0).collect::<Vec<_>>()
            },
        );
        assert_eq!(all[0], all[1]);
        assert_eq!(all[0][4][7], bytes[7] / 4 + 2);
    }
}

#[test]
fn any_cpu() {
    holds::<Portable>();
}

#[test]
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn avx2() {
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn test() {
        holds::<super::Avx2>();
        fuses::<super::Avx2>();
        sums::<super::Avx2>();
        rows::<super::Avx2>();
        fours::<super::Avx2>();
    }
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi2")
    {
        // SAFETY: the CPU has the features.
        unsafe { test() };
    }
}

#[test]
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn avx512() {
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn test() {
        holds::<super::Avx512>();
        fuses::<super::Avx512>();
        sums::<super::Avx512>();
        rows::<super::Avx512>();
    }
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
    {
        // SAFETY: the CPU has the features.
        unsafe { test() };
    }
}
