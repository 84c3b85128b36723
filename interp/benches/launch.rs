//! Measures threads per second on one CPU thread: a block-wide sum, a transpose through shared memory, and a loop of
//! arithmetic; rounds per second of loops that do one thing (dispatch, a lane operation, or a load from shared memory
//! in some pattern); and operations per second of a host loop.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read files"
)]

use std::sync::Arc;

use interp::rules::{Arch, RuleSet};
use interp::{HostThread, LaunchConfig, MachineConfig, Memory, Program, StopFlag, launch};
use ir::{FuncId, LocId, parse::parse};

fn main() {
    divan::main();
}

const REDUCE: &str = "module \"reduce\"
kernel fn0 @reduce($0: ptr.global \"in\" \"int *\", $1: ptr.global \"out\" \"int *\") {
  shared shared0 \"s\" \"int\" [256] : 1024 align 4 element 4 at 0
  slot $2 : i32 \"d\"
  %0 = special.tid.x
  %1 = special.ctaid.x
  %2 = special.ntid.x
  %3 = mul.i32 %1, %2
  %4 = add.i32 %3, %0
  %5 = get $0
  %6 = ptradd %5, %4 * 4
  %7 = load.i32.global %6
  %8 = addr shared0
  %9 = ptradd %8, %0 * 4
  store.i32.shared %9, %7 of shared0
  barrier
  %10 = lshr.i32 %2, 1
  set $2, %10
  loop L0 {
    %11 = get $2
    %12 = cmp.sgt.i32 %11, 0
    if %12 {} else { break L0 }
    %13 = cmp.slt.i32 %0, %11
    if %13 {
      %14 = add.i32 %0, %11
      %15 = ptradd %8, %14 * 4
      %16 = load.i32.shared %15 of shared0
      %17 = ptradd %8, %0 * 4
      %18 = load.i32.shared %17 of shared0
      %19 = add.i32 %18, %16
      store.i32.shared %17, %19 of shared0
    }
    barrier
  } step {
    %20 = get $2
    %21 = lshr.i32 %20, 1
    set $2, %21
  }
  %22 = cmp.eq.i32 %0, 0
  if %22 {
    %23 = load.i32.shared %8 of shared0
    %24 = get $1
    %25 = ptradd %24, %1 * 4
    store.i32.global %25, %23
  }
}
";

fn run(text: &str, jobs: usize, elements: u64, grid: [u32; 3], block: [u32; 3]) {
    let program = Program::new(Arc::new(parse(text).expect("the text is IR")));
    let mut memory = Memory::new(program.module());
    let input = memory.malloc_device(elements * 4).expect("memory");
    let output = memory.malloc_device(elements * 4).expect("memory");
    let machine = MachineConfig {
        rules: RuleSet::for_arch(Arch::SM_90),
        jobs,
        limit: None,
        checks: interp::Checks::NONE,
        order: interp::Order::Ascending,
        both_orders: interp::BothOrders::Never,
        schedule: interp::Schedule::default(),
        schedules: (0, 1),
        memory: interp::MemoryOrder::Strong,
        keep_going: false,
        trace: false,
        count_only: false,
        reuse: true,
        stop: StopFlag::default(),
        progress: interp::Progress::default(),
    };
    let config = LaunchConfig {
        grid,
        block,
        shared_bytes: 0,
        cooperative: false,
        depth: 0,
        loc: LocId(0),
    };
    let args = [input, output, 1000];
    let count = program.module().function(FuncId(0)).params.len();
    let report = launch(
        &program,
        FuncId(0),
        &config,
        &args[..count],
        &mut memory,
        &machine,
        &mut |_| {},
    );
    divan::black_box(report.expect("it runs"));
}

#[divan::bench(args = [1, 2], sample_count = 10)]
fn reduce(bencher: divan::Bencher, jobs: usize) {
    let n = 1u32 << 20;
    bencher
        .counter(divan::counter::ItemsCount::new(n))
        .bench_local(|| run(REDUCE, jobs, n.into(), [n / 256, 1, 1], [256, 1, 1]));
}

fn transpose(pitch: u32) -> String {
    format!(
        "module \"transpose\"
kernel fn0 @transpose($0: ptr.global \"in\" \"int *\", $1: ptr.global \"out\" \"int *\", $2: i32 \"n\" \"int\") {{
  shared shared0 \"s\" \"int\" [32][{pitch}] : {bytes} align 4 element 4 at 0
  %0 = special.tid.x
  %1 = special.tid.y
  %2 = special.ctaid.x
  %3 = special.ctaid.y
  %4 = mul.i32 %2, 32
  %5 = add.i32 %4, %0
  %6 = mul.i32 %3, 32
  %7 = add.i32 %6, %1
  %8 = mul.i32 %7, 1024
  %9 = add.i32 %8, %5
  %10 = get $0
  %11 = ptradd %10, %9 * 4
  %12 = load.i32.global %11
  %13 = addr shared0
  %14 = ptradd %13, %1 * {row}
  %15 = ptradd %14, %0 * 4
  store.i32.shared %15, %12 of shared0
  barrier
  %16 = ptradd %13, %0 * {row}
  %17 = ptradd %16, %1 * 4
  %18 = load.i32.shared %17 of shared0
  %19 = add.i32 %6, %0
  %20 = add.i32 %4, %1
  %21 = mul.i32 %20, 1024
  %22 = add.i32 %21, %19
  %23 = get $1
  %24 = ptradd %23, %22 * 4
  store.i32.global %24, %18
}}
",
        bytes = 32 * pitch * 4,
        row = pitch * 4
    )
}

#[divan::bench(args = [32, 33], sample_count = 10)]
fn transpose_tile(bencher: divan::Bencher, pitch: u32) {
    let text = transpose(pitch);
    bencher
        .counter(divan::counter::ItemsCount::new(1u32 << 20))
        .bench_local(|| run(&text, 1, 1 << 20, [32, 32, 1], [32, 32, 1]));
}

const MANDEL: &str = "module \"mandel\"
kernel fn0 @mandel($0: ptr.global \"in\" \"int *\", $1: ptr.global \"out\" \"int *\", $2: i32 \"most\" \"int\") {
  slot $3 : f32 \"x\"
  slot $4 : f32 \"y\"
  slot $5 : i32 \"i\"
  %0 = special.tid.x
  %1 = special.ctaid.x
  %2 = cvt.f32.s32 %0
  %3 = cvt.f32.s32 %1
  %4 = fma.f32 %2, 0.01, -1.5
  %5 = fma.f32 %3, 0.01, -1.0
  set $3, 0.0
  set $4, 0.0
  set $5, 0
  loop L0 {
    %6 = get $5
    %7 = get $2
    %8 = cmp.slt.i32 %6, %7
    if %8 {} else { break L0 }
    %9 = get $3
    %10 = get $4
    %11 = fmul.f32 %9, %9
    %12 = fmul.f32 %10, %10
    %13 = fadd.f32 %11, %12
    %14 = cmp.fgt.f32 %13, 4.0
    if %14 { break L0 }
    %15 = fsub.f32 %11, %12
    %16 = fadd.f32 %15, %4
    %17 = fadd.f32 %9, %9
    %18 = fma.f32 %17, %10, %5
    set $3, %16
    set $4, %18
  } step {
    %19 = get $5
    %20 = add.i32 %19, 1
    set $5, %20
  }
  %21 = get $1
  %22 = special.ntid.x
  %23 = mul.i32 %1, %22
  %24 = add.i32 %23, %0
  %25 = ptradd %21, %24 * 4
  %26 = get $5
  store.i32.global %25, %26
}
";

#[divan::bench(sample_count = 5)]
fn mandel(bencher: divan::Bencher) {
    bencher.bench_local(|| run(MANDEL, 1, 256 * 256, [256, 1, 1], [256, 1, 1]));
}

const HOST: &str = "module \"host\"
host fn0 @f($0: i32 \"n\" \"int\") -> i32 {
  slot $1 : i32 \"i\"
  slot $2 : i32 \"sum\"
  set $1, 0
  set $2, 0
  loop L0 {
    %0 = get $1
    %1 = get $0
    %2 = cmp.slt.i32 %0, %1
    if %2 {} else { break L0 }
    %3 = mul.i32 %0, 3
    %4 = xor.i32 %3, 5
    %5 = get $2
    %6 = add.i32 %5, %4
    set $2, %6
  } step {
    %7 = get $1
    %8 = add.i32 %7, 1
    set $1, %8
  }
  %9 = get $2
  return %9
}
";

#[divan::bench(sample_count = 5)]
fn host_loop(bencher: divan::Bencher) {
    let rounds = 1_000_000u32;
    let program = Program::new(Arc::new(parse(HOST).expect("the text is IR")));
    // Seven instructions per round.
    bencher
        .counter(divan::counter::ItemsCount::new(7 * rounds))
        .bench_local(|| {
            let mut memory = Memory::new(program.module());
            let mut thread = HostThread::new(&program, FuncId(0), &[rounds.into()]);
            divan::black_box(
                thread
                    .resume(&program, &mut memory, None, None)
                    .expect("it runs"),
            );
        });
}

/// A loop of one warp around a single operation. `index` computes %3 from %2, the lane's number; `body` makes %8.
fn one_thing(index: &str, body: &str) -> String {
    format!(
        "module \"loop\"
kernel fn0 @k($0: ptr.global \"in\" \"int *\", $1: ptr.global \"out\" \"int *\", $2: i32 \"most\" \"int\") {{
  shared shared0 \"s\" \"int\" [1024] : 4096 align 4 element 4 at 0
  slot $3 : i32 \"i\"
  slot $4 : i32 \"sum\"
  %0 = special.tid.x
  %1 = addr shared0
  %2 = and.i32 %0, 31
  %3 = {index}
  %4 = and.i32 %3, 1023
  set $3, 0
  set $4, 0
  loop L0 {{
    %5 = get $3
    %6 = get $2
    %7 = cmp.slt.i32 %5, %6
    if %7 {{}} else {{ break L0 }}
    {body}
  }} step {{
    %20 = get $3
    %21 = add.i32 %20, 1
    set $3, %21
  }}
  %22 = get $1
  %23 = ptradd %22, %0 * 4
  %24 = get $4
  store.i32.global %23, %24
}}
"
    )
}

/// 64 warps of 1000 rounds.
fn rounds(bencher: divan::Bencher, text: &str) {
    bencher
        .counter(divan::counter::ItemsCount::new(64_000u32))
        .bench_local(|| run(text, 1, 256, [64, 1, 1], [32, 1, 1]));
}

/// Three instructions per round: the comparison with its jump, the sum, and the back edge.
#[divan::bench(sample_count = 20)]
fn dispatch(bencher: divan::Bencher) {
    rounds(bencher, &one_thing("mul.i32 %2, 1", ""));
}

/// Adds one operation on 32 lanes.
#[divan::bench(sample_count = 20)]
fn lane_operation(bencher: divan::Bencher) {
    let body = "%8 = mul.i32 %4, 3\n    set $4, %8";
    rounds(bencher, &one_thing("mul.i32 %2, 1", body));
}

/// Adds a load from shared memory and an addition.
#[divan::bench(args = ["broadcast", "contiguous", "two_words", "reversed", "column_32", "random"], sample_count = 20)]
fn shared_load(bencher: divan::Bencher, pattern: &str) {
    let index = match pattern {
        "broadcast" => "and.i32 %2, 0",
        "contiguous" => "mul.i32 %2, 1",
        "two_words" => "and.i32 %2, 16",
        "reversed" => "xor.i32 %2, 31",
        "column_32" => "mul.i32 %2, 32",
        _ => "mul.i32 %2, 1640531527",
    };
    let body = "%8 = ptradd %1, %4 * 4
    %9 = load.i32.shared %8 of shared0
    %10 = get $4
    %11 = add.i32 %10, %9
    set $4, %11";
    rounds(bencher, &one_thing(index, body));
}
