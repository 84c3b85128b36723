//! Host functions: calls, memory, events, traps.

use ir::{FuncId, HostFn, Type};

use super::Bench;
use crate::{HostEvent, HostThread, Trap, TrapKind};

/// Runs function 0 to its end. Calls of the runtime return 7.
fn run(text: &str, args: &[u64]) -> Result<(Option<u64>, Vec<HostEvent>), Trap> {
    let mut bench = Bench::new(text);
    let mut thread = HostThread::new(&bench.program, FuncId(0), args);
    let (mut answer, mut events) = (None, Vec::new());
    loop {
        match thread.resume(
            &bench.program,
            &mut bench.memory,
            answer.take(),
            Some(10_000_000),
        )? {
            HostEvent::Done(value) => return Ok((value, events)),
            event => events.push(event),
        }
        answer = Some(7);
    }
}

#[test]
fn recursion_and_results() {
    let text = "host fn0 @fib($0: i32 \"n\" \"int\") -> i32 {
  %0 = get $0
  %1 = cmp.slt.i32 %0, 2
  if %1 { return %0
  }
  %2 = sub.i32 %0, 1
  %3: i32 = call fn0(%2)
  %4 = sub.i32 %0, 2
  %5: i32 = call fn0(%4)
  %6 = add.i32 %3, %5
  return %6
}
";
    assert_eq!(run(text, &[20]).unwrap().0, Some(6765));
}

#[test]
fn endless_recursion_overflows_the_stack() {
    let text = "host fn0 @f() {\n  call fn0()\n}\n";
    let trap = run(text, &[]).unwrap_err();
    assert_eq!((trap.kind, trap.on_host), (TrapKind::StackOverflow, true));
}

#[test]
fn loops_over_local_arrays() {
    let body = |n: u32| {
        format!(
            "host fn0 @f() -> i32 {{
  local local0 \"a\" \"int\" [10] : 40 align 4 element 4
  slot $0 : i32 \"i\"
  slot $1 : i32 \"sum\"
  set $0, 0
  set $1, 0
  loop L0 {{
    %0 = get $0
    %1 = cmp.slt.i32 %0, {n}
    if %1 {{}} else {{ break L0 }}
    %2 = addr local0
    %3 = ptradd %2, %0 * 4
    store.i32.generic %3, %0 of local0
    %4 = load.i32.generic %3 of local0
    %5 = get $1
    %6 = add.i32 %5, %4
    set $1, %6
  }} step {{
    %7 = get $0
    %8 = add.i32 %7, 1
    set $0, %8
  }}
  %9 = get $1
  return %9
}}
"
        )
    };
    assert_eq!(run(&body(10), &[]).unwrap().0, Some(45));
    assert_eq!(
        run(&body(11), &[]).unwrap_err().message(),
        "store of `a[10]` is out of bounds: the array is `a[10]`"
    );
}

/// Addresses with differences, products and sums, an update in memory, and a jump on a loaded value: each is one
/// instruction of the second form. The first form reports the first one that leaves the array.
#[test]
fn loops_whose_addresses_melt_into_accesses() {
    let text = "host fn0 @f($0: i32 \"n\" \"int\") -> i32 {
  local local0 \"a\" \"int\" [12] : 48 align 4 element 4
  slot $1 : i32 \"i\"
  slot $2 : i32 \"sum\"
  set $1, 0
  set $2, 0
  loop L0 {
    %0 = get $1
    %1 = cmp.slt.i32 %0, 12
    if %1 {} else { break L0 }
    %2 = addr local0
    %3 = ptradd %2, %0 * 4
    store.i32.generic %3, %0 of local0
  } step {
    %4 = get $1
    %5 = add.i32 %4, 1
    set $1, %5
  }
  set $1, 1
  loop L1 {
    %6 = get $1
    %7 = get $0
    %8 = cmp.slt.i32 %6, %7
    if %8 {} else { break L1 }
    %9 = addr local0
    %10 = sub.i32 %6, 1
    %11 = ptradd %9, %10 * 4
    %12 = load.i32.generic %11 of local0
    %13 = addr local0
    %14 = mul.i32 %6, 2
    %15 = add.i32 %14, 1
    %16 = ptradd %13, %15 * 4
    %17 = load.i32.generic %16 of local0
    %18 = addr local0
    %19 = ptradd %18, %6 * 4
    %20 = load.i32.generic %19 of local0
    %21 = add.i32 %20, %17
    store.i32.generic %19, %21 of local0
    %22 = addr local0
    %23 = ptradd %22, %6 * 4
    %24 = load.i32.generic %23 of local0
    %25 = cmp.sgt.i32 %24, %12
    if %25 {
      %26 = get $2
      %27 = add.i32 %26, %12
      set $2, %27
    }
  } step {
    %28 = get $1
    %29 = add.i32 %28, 1
    set $1, %29
  }
  %30 = get $2
  return %30
}
";
    for n in 0..6u64 {
        let mut a: Vec<i32> = (0..12).collect();
        let mut sum = 0;
        for i in 1..n as usize {
            let before = a[i - 1];
            a[i] += a[2 * i + 1];
            if a[i] > before {
                sum += before;
            }
        }
        assert_eq!(run(text, &[n]).unwrap().0, Some(sum as u64), "n = {n}");
    }
    assert_eq!(
        run(text, &[7]).unwrap_err().message(),
        "load of `a[13]` is out of bounds: the array is `a[12]`"
    );
}

#[test]
fn calls_of_the_runtime_and_launches_are_events() {
    let text = "string string0 \"%d\"
host fn0 @main() -> i32 {
  %0 = addr string0
  %1 = host printf(%0, i32 42)
  launch fn1 <<<(%1, 1, 1), (64, 2, 1), 16, 0>>> (i32 5)
  return %1
}
kernel fn1 @k($0: i32 \"n\" \"int\") {
}
";
    let (value, events) = run(text, &[]).unwrap();
    assert_eq!(value, Some(7));
    assert!(
        matches!(&events[0], HostEvent::Call { func: HostFn::Printf, args, .. } if args[1] == (Type::I32, 42))
    );
    let HostEvent::Launch {
        kernel,
        grid,
        block,
        shared_bytes,
        args,
        ..
    } = &events[1]
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        (kernel.0, *grid, *block, *shared_bytes, args.as_slice()),
        (1, [7, 1, 1], [64, 2, 1], 16, &[5u64][..])
    );
}

#[test]
fn division_by_zero_traps_on_the_host() {
    let text = "host fn0 @f($0: i32 \"n\" \"int\") -> i32 {\n  %0 = get $0\n  %1 = sdiv.i32 5, %0\n  return %1\n}\n";
    assert_eq!(run(text, &[2]).unwrap().0, Some(2));
    assert_eq!(run(text, &[0]).unwrap_err().kind, TrapKind::DivisionByZero);
}
