//! Host functions: calls, memory, events, traps.

use dsl::ir::{FuncId, HostFn, Type};

use super::Bench;
use crate::{HostEvent, HostThread, Trap, TrapKind};

/// Runs function 0 to its end; calls of the runtime are answered with 7.
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
