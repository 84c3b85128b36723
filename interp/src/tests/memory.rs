//! Accesses: results, counts, traps.

use super::{Bench, OUT_N};
use ir::{FuncId, LocId};

use crate::config::{Checks, LaunchConfig};
use crate::fault::trap::{AccessOp, TrapKind};
use crate::launch::repeats::Repeats;

const VEC_ADD: &str = "
  %0 = special.ctaid.x
  %1 = special.ntid.x
  %2 = mul.i32 %0, %1
  %3 = special.tid.x
  %4 = add.i32 %2, %3
  %5 = get $3
  %6 = cmp.slt.i32 %4, %5
  if %6 {
    %7 = get $0
    %8 = ptradd %7, %4 * 4 + 0
    %9 = load.i32.global %8
    %10 = get $1
    %11 = ptradd %10, %4 * 4 + 0
    %12 = load.i32.global %11
    %13 = add.i32 %9, %12
    %14 = get $2
    %15 = ptradd %14, %4 * 4 + 0
    store.i32.global %15, %13
  }";
const VEC_ADD_PARAMS: &str = "$0: ptr.global \"a\" \"int *\", $1: ptr.global \"b\" \"int *\", $2: ptr.global \"c\" \"int *\", $3: i32 \"n\" \"int\"";

#[test]
fn vector_addition() {
    let mut bench = Bench::kernel(VEC_ADD_PARAMS, VEC_ADD);
    let a = bench.ints(&(0..1000).collect::<Vec<_>>());
    let b = bench.ints(&(0..1000).map(|i| 10 * i).collect::<Vec<_>>());
    let c = bench.ints(&[0; 1000]);
    let report = bench.launch(8, 128, &[a, b, c, 1000]);
    assert_eq!(
        bench.read(c, 1000),
        (0..1000).map(|i| 11 * i).collect::<Vec<_>>()
    );
    let (load, store) = (&report.counts.global_load, &report.counts.global_store);
    assert_eq!(
        (load.requests, load.sectors, load.ideal_sectors),
        (64, 250, 250)
    );
    assert_eq!(
        (store.requests, store.sectors, store.active_lanes),
        (32, 125, 1000)
    );
    assert_eq!(report.counts.divergent_branches, 1);
}

/// `s[t] = d[t]; __syncthreads(); d[t] = s[n - 1 - t]`
const REVERSE: &str = "
  shared shared0 \"s\" \"int\" [64] : 256 align 4 element 4 at 0
  %0 = special.tid.x
  %1 = get $0
  %2 = ptradd %1, %0 * 4 + 0
  %3 = load.i32.global %2
  %4 = addr shared0
  %5 = ptradd %4, %0 * 4 + 0
  store.i32.shared %5, %3 of shared0
  barrier
  %6 = get $1
  %7 = sub.i32 %6, %0
  %8 = ptradd %4, %7 * 4 - 4
  %9 = load.i32.shared %8 of shared0
  store.i32.global %2, %9";

#[test]
fn reverse_through_shared_memory() {
    let mut bench = Bench::kernel(OUT_N, REVERSE);
    let data = bench.ints(&(0..64).collect::<Vec<_>>());
    let report = bench.launch(1, 64, &[data, 64]);
    assert_eq!(bench.read(data, 64), (0..64).rev().collect::<Vec<_>>());
    let counts = &report.counts;
    assert_eq!(
        (
            counts.shared_load.transactions,
            counts.shared_store.transactions,
            counts.barriers
        ),
        (2, 2, 2)
    );
    assert_eq!(report.shared.fixed, 256);
}

#[test]
fn index_out_of_a_shared_array_names_the_array() {
    let mut bench = Bench::kernel(OUT_N, REVERSE);
    let data = bench.ints(&[0; 96]);
    let trap = bench.trap(1, 96, &[data, 96]);
    assert_eq!(trap.thread, [64, 0, 0]);
    assert_eq!(
        trap.message(),
        "store of `s[64]` is out of bounds: the array is `s[64]`"
    );
    let mut bench = Bench::kernel(OUT_N, REVERSE);
    let data = bench.ints(&[0; 96]);
    let trap = bench.trap(1, 64, &[data, 10]);
    assert_eq!(
        (trap.thread, trap.message().as_str()),
        (
            [10, 0, 0],
            "load of `s[-1]` is out of bounds: the array is `s[64]`"
        )
    );
}

/// `s[tid * stride] = tid`
fn stride(stride: u32, offset: u32) -> (u64, u64, u32) {
    let body = format!(
        "shared shared0 \"s\" \"int\" [2048] : 8192 align 4 element 4 at 0
         %0 = special.tid.x
         %1 = addr shared0
         %2 = mul.i32 %0, {stride}
         %3 = ptradd %1, %2 * 4 + {offset}
         store.i32.shared %3, %0 of shared0"
    );
    let counts = Bench::kernel("", &body)
        .launch(1, 32, &[])
        .counts
        .shared_store;
    (counts.requests, counts.transactions, counts.max_degree)
}

#[test]
fn strides_conflict_as_measured() {
    assert_eq!(stride(1, 0), (1, 1, 1));
    assert_eq!(stride(2, 0), (1, 2, 2));
    assert_eq!(stride(32, 0), (1, 32, 32));
    assert_eq!(stride(33, 4), (1, 1, 1));
}

#[test]
fn out_of_bounds_of_an_allocation_says_which_element() {
    let mut bench = Bench::kernel(VEC_ADD_PARAMS, VEC_ADD);
    let (a, b, c) = (
        bench.ints(&[0; 64]),
        bench.ints(&[0; 60]),
        bench.ints(&[0; 64]),
    );
    bench.memory.set_name(b, "`d_b`");
    let trap = bench.trap(1, 64, &[a, b, c, 64]);
    assert_eq!(trap.thread, [60, 0, 0]);
    let end =
        "load out of bounds of global memory: element 60 of `b`, `d_b` (60 elements of 4 bytes)";
    assert_eq!(trap.message(), end);
}

#[test]
fn bad_pointers_are_told_apart() {
    let mut bench = Bench::kernel(VEC_ADD_PARAMS, VEC_ADD);
    let good = bench.ints(&[0; 64]);
    let freed = bench.ints(&[0; 64]);
    bench.memory.free_device(freed).unwrap();
    let host = bench.memory.malloc_host(256).unwrap();
    let kind = |bench: &mut Bench, args: [u64; 3]| {
        bench.trap(1, 32, &[args[0], args[1], args[2], 64]).kind
    };
    assert!(matches!(
        kind(&mut bench, [0, good, good]),
        TrapKind::NullPointer(_)
    ));
    assert!(matches!(
        kind(&mut bench, [freed, good, good]),
        TrapKind::UseAfterFree(_)
    ));
    assert!(matches!(
        kind(&mut bench, [host, good, good]),
        TrapKind::HostPointerOnDevice(_)
    ));
    assert!(matches!(
        kind(&mut bench, [good + 2, good, good]),
        TrapKind::Misaligned(_)
    ));
    assert!(matches!(
        kind(&mut bench, [0x1234_5678_9abc, good, good]),
        TrapKind::InvalidPointer(_)
    ));
}

#[test]
fn the_lowest_lane_wins_a_store_and_atomics_go_up() {
    let body = "%0 = special.tid.x
         %1 = get $0
         store.i32.global %1, %0
         %2 = ptradd %1, 0 * 0 + 4
         %3 = atomic.exch.i32.global %2, %0
         %4 = ptradd %1, %0 * 4 + 8
         store.i32.global %4, %3";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[-1; 34]);
    bench.launch(1, 32, &[out, 0]);
    let expected: Vec<i32> = [0, 31].into_iter().chain(-1..31).collect();
    assert_eq!(bench.read(out, 34), expected);
}

#[test]
fn generic_pointers_go_where_their_address_says() {
    let body = "shared shared0 \"s\" \"int\" [32] : 128 align 4 element 4 at 0
         local local0 \"l\" \"int\" [4] : 16 align 4 element 4
         slot $2 : ptr \"p\"
         %0 = special.tid.x
         %1 = addr shared0
         %2 = ptradd %1, %0 * 4 + 0
         %3 = cvt.ptr.generic %2
         %4 = addr local0
         %5 = ptradd %4, 0 * 0 + 4
         %6 = cvt.ptr.generic %5
         %7 = get $0
         %8 = cvt.ptr.generic %7
         %9 = ptradd %8, %0 * 4 + 0
         %10 = urem.i32 %0, 3
         set $2, %9
         %11 = cmp.eq.i32 %10, 1
         if %11 { set $2, %3 }
         %12 = cmp.eq.i32 %10, 2
         if %12 { set $2, %6 }
         %13 = get $2
         store.i32.generic %13, %0
         %14 = load.i32.generic %13
         %15 = ptradd %7, %0 * 4 + 0
         store.i32.global %15, %14";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[-1; 32]);
    let report = bench.launch(1, 32, &[out, 0]);
    assert_eq!(bench.read(out, 32), (0..32).collect::<Vec<_>>());
    assert_eq!(report.counts.shared_store.active_lanes, 11);
    assert_eq!(report.counts.global_store.active_lanes, 11 + 32);
    let local = report
        .sites
        .iter()
        .filter(|site| site.space == ir::Space::Local)
        .map(|site| site.counts.active_lanes);
    assert_eq!(local.sum::<u64>(), 20);
    assert!(report.sites.iter().all(|site| site.op != AccessOp::Atomic));
}

#[test]
fn small_types_are_cut_and_extended() {
    let body = "%0 = get $0
         store.s8.global %0, 200
         %1 = load.s8.global %0
         %2 = ptradd %0, 0 * 0 + 4
         store.i32.global %2, %1
         %3 = load.u8.global %0
         %4 = ptradd %0, 0 * 0 + 8
         store.i32.global %4, %3
         store.s16.global %0, 65535
         %5 = load.s16.global %0
         %6 = ptradd %0, 0 * 0 + 12
         store.i32.global %6, %5
         %7 = load.bool.global %0
         %8 = cvt.i32.i1 %7
         %9 = ptradd %0, 0 * 0 + 16
         store.i32.global %9, %8";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[0; 5]);
    bench.launch(1, 1, &[out, 0]);
    assert_eq!(bench.read(out, 5)[1..], [-56, 200, -1, 1]);
}

#[test]
fn vector_accesses_move_all_components() {
    let body = "%0 = special.tid.x
         %1 = get $0
         %2 = ptradd %1, %0 * 16 + 0
         %3, %4, %5, %6 = load.i32x4.global %2
         store.i32x4.global %2, %6, %5, %4, %3";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&(0..256).collect::<Vec<_>>());
    let report = bench.launch(1, 64, &[out, 0]);
    let expected: Vec<i32> = (0..256).map(|i| i / 4 * 4 + 3 - i % 4).collect();
    assert_eq!(bench.read(out, 256), expected);
    assert_eq!(report.counts.global_load.sectors, 32);
}

#[test]
fn printf_prints_lanes_in_order() {
    let text = "string string0 \"%d:%s %5.2f\\n\"
string string1 \"abc\"
kernel fn0 @k() {
  %0 = special.tid.x
  %1 = cmp.ult.i32 %0, 2
  if %1 {
    %2 = addr string1
    %3 = printf string0, %0, %2, f64 1.5
  }
}
";
    let mut bench = Bench::new(text);
    bench.launch(2, 3, &[]);
    assert_eq!(bench.printed, "0:abc  1.50\n1:abc  1.50\n".repeat(2));
}

/// A constant in an index can be added to the address instead. If the index is a subscript, their sum is checked.
#[test]
fn a_subscript_has_its_constant_in_it() {
    let body = "shared shared0 \"s\" \"int\" [4][32] : 512 align 4 element 4 at 0
         %0 = special.tid.x
         %1 = addr shared0
         %2 = add.i32 %0, 3
         %3 = ptradd %1, %2 * 4
         store.i32.shared %3, 7 of shared0 within 32";
    let mut bench = Bench::kernel(OUT_N, body);
    bench.machine.checks = Checks::ALL;
    let report = bench.launch(1, 32, &[0, 0]);
    let lanes = report.findings.iter().map(|finding| finding.count);
    assert_eq!(lanes.sum::<u64>(), 3, "{:#?}", report.findings);
}

/// An index of global memory is extended from 32 bits, so a constant in it cannot be added after that.
#[test]
fn a_constant_takes_an_index_past_the_end_of_32_bits() {
    let body = "%0 = special.tid.x
         %1 = get $0
         %2 = ptradd %1, -2147483600 * 4
         %3 = mul.i32 %0, 3
         %4 = add.i32 %3, 2147483600
         %5 = ptradd %2, %4 * 4
         store.i32.global %5, %0";
    let mut bench = Bench::kernel(OUT_N, body);
    let out = bench.ints(&[-1; 96]);
    bench.launch(1, 16, &[out, 0]);
    assert_eq!(bench.read(out, 96)[45], 15);
    // Lane 16 reaches 2^31.
    assert_eq!(bench.trap(1, 32, &[out, 0]).thread, [16, 0, 0]);
}

#[test]
fn of_like_launches_some_are_looked_at() {
    // Each thread loads `a[tid % n]`: the smaller `n`, the more threads share an element.
    let body = "
  %0 = special.tid.x
  %1 = get $1
  %2 = srem.i32 %0, %1
  %3 = get $0
  %4 = ptradd %3, %2 * 4 + 0
  %5 = load.i32.global %4
  store.i32.global %3, %5";
    let params = "$0: ptr.global \"a\" \"int *\", $1: i32 \"n\" \"int\"";
    let mut bench = Bench::kernel(params, body);
    let a = bench.ints(&[0; 64]);
    let mut repeats = Repeats::default();
    let mut loaded = |n: u64, grid: u32| {
        let config = LaunchConfig {
            grid: [grid, 1, 1],
            block: [64, 1, 1],
            shared_bytes: 0,
            cooperative: false,
            depth: 0,
            loc: LocId(0),
        };
        bench.machine.reuse = repeats.looks(FuncId(0), &config);
        let mut report = bench.launch(grid, 64, &[a, n]);
        assert_eq!(report.reuse.is_some(), bench.machine.reuse);
        repeats.complete(FuncId(0), &config, &mut report);
        let reuse = report.reuse.expect("loads");
        let site = report.sites[0].reuse.expect("loads");
        assert_eq!(site, reuse);
        (reuse.distinct_bytes, reuse.is_exact)
    };
    // The first, second, third and fifth launches are sampled. The fourth takes over the result of the third.
    let found = [64, 32, 16, 8, 4].map(|n| loaded(n, 1));
    assert_eq!(
        found,
        [(256, true), (128, true), (64, true), (64, true), (16, true)]
    );
    // Launches of another size are a separate kind, and all launches of many blocks are sampled.
    assert_eq!(loaded(64, 2), (512, true));
    let many = [64, 32, 16, 8, 4].map(|n| loaded(n, 256).0);
    assert_eq!(many.map(|bytes| bytes * 16 / many[0]), [16, 8, 4, 2, 1]);
}
