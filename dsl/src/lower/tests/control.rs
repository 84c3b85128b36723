//! Branches, loops and `switch`.

use super::{body, insts, kernel};
use ir::InstKind;

/// The body of a kernel with these statements.
fn of(statements: &str) -> String {
    body(&format!(
        "__global__ void k(int *d, int n) {{ int t = threadIdx.x; {statements} }}"
    ))
}

fn count(text: &str, word: &str) -> usize {
    text.matches(word).count()
}

#[test]
fn cheap_sides_are_computed_without_a_branch() {
    let text = of("if (t < n && t > 0) d[t] = t < 5 ? 1 : n;");
    assert_eq!(count(&text, "if "), 1, "{text}");
    assert_eq!(
        (count(&text, "and.i1"), count(&text, "select")),
        (1, 1),
        "{text}"
    );
}

#[test]
fn a_side_that_reads_memory_is_behind_a_branch() {
    insta::assert_snapshot!(of("if (t < n && d[t] > 0) d[t] = t < 5 ? d[t + 1] : 0;"), @"
    %0 = special.tid.x
    %1 = get $1
    %2 = cmp.slt.i32 %0, %1
    set $2, %2
    if %2 {
      %3 = get $0
      %4 = ptradd %3, %0 * 4
      %5 = load.i32.global %4
      %6 = cmp.sgt.i32 %5, 0
      set $2, %6
    }
    %7 = get $2
    if %7 {
      %8 = cmp.slt.i32 %0, 5
      if %8 {
        %9 = get $0
        %10 = sadd.i32 %0, 1
        %11 = ptradd %9, %10 * 4
        %12 = load.i32.global %11
        set $3, %12
      } else {
        set $3, 0
      }
      %13 = get $3
      %14 = get $0
      %15 = ptradd %14, %0 * 4
      store.i32.global %15, %13
    }
    ");
}

#[test]
fn division_is_not_done_in_vain() {
    let text = of("d[t] = n != 0 && t / n > 1;");
    assert_eq!(count(&text, "if "), 1, "{text}");
}

#[test]
fn a_for_loop_tests_first_and_continues_at_its_step() {
    insta::assert_snapshot!(of("for (int i = 0; i < n; i++) { if (i == t) continue; if (i == 9) break; d[i] = 0; }"), @"
    %0 = special.tid.x
    set $2, 0
    loop L0 {
      %1 = get $2
      %2 = get $1
      %3 = cmp.slt.i32 %1, %2
      if %3 {
      } else {
        break L0
      }
      %4 = get $2
      %5 = cmp.eq.i32 %4, %0
      if %5 {
        continue L0
      }
      %6 = get $2
      %7 = cmp.eq.i32 %6, 9
      if %7 {
        break L0
      }
      %8 = get $0
      %9 = get $2
      %10 = ptradd %8, %9 * 4
      store.i32.global %10, 0
    } step {
      %11 = get $2
      %12 = sadd.i32 %11, 1
      set $2, %12
    }
    ");
}

#[test]
fn a_do_loop_tests_in_its_step() {
    insta::assert_snapshot!(of("do { if (n == t) continue; n -= 2; } while (n > 0);"), @"
    %0 = special.tid.x
    loop L0 {
      %1 = get $1
      %2 = cmp.eq.i32 %1, %0
      if %2 {
        continue L0
      }
      %3 = get $1
      %4 = ssub.i32 %3, 2
      set $1, %4
    } step {
      %5 = get $1
      %6 = cmp.sgt.i32 %5, 0
      if %6 {
      } else {
        break L0
      }
    }
    ");
}

#[test]
fn do_while_zero_is_no_loop() {
    let text = of("do { if (n == t) break; d[t] = 1; if (n == 2) continue; d[t] = 2; } while (0);");
    assert_eq!(
        (count(&text, "loop"), count(&text, "scope")),
        (0, 1),
        "{text}"
    );
    assert_eq!(count(&text, "break L0"), 2, "{text}");
}

#[test]
fn a_switch_without_falling_through_is_a_chain() {
    insta::assert_snapshot!(of("switch (n) { case 1: case 2: d[0] = 1; break; default: d[1] = 1; break; case 3: d[2] = 1; }"), @"
    %0 = special.tid.x
    %1 = get $1
    %2 = cmp.eq.i32 %1, 1
    %3 = cmp.eq.i32 %1, 2
    %4 = or.i1 %2, %3
    if %4 {
      %5 = get $0
      store.i32.global %5, 1
    } else {
      %6 = cmp.eq.i32 %1, 3
      if %6 {
        %7 = get $0
        %8 = ptradd %7 + 8
        store.i32.global %8, 1
      } else {
        %9 = get $0
        %10 = ptradd %9 + 4
        store.i32.global %10, 1
      }
    }
    ");
}

#[test]
fn a_switch_that_falls_through_remembers_it() {
    insta::assert_snapshot!(of("switch (n) { case 1: d[0] = 1; default: d[1] = 1; break; case 3: d[2] = 1; }"), @"
    %0 = special.tid.x
    %1 = get $1
    scope L0 {
      %2 = cmp.eq.i32 %1, 1
      %3 = cmp.eq.i32 %1, 3
      %4 = or.i1 %2, %3
      %5 = not.i1 %4
      set $2, false
      if %2 {
        set $2, true
        %6 = get $0
        store.i32.global %6, 1
      }
      %7 = get $2
      %8 = or.i1 %7, %5
      if %8 {
        %9 = get $0
        %10 = ptradd %9 + 4
        store.i32.global %10, 1
        break L0
      }
      if %3 {
        %11 = get $0
        %12 = ptradd %11 + 8
        store.i32.global %12, 1
      }
    }
    ");
}

#[test]
fn continue_in_a_switch_is_the_loops() {
    let text =
        of("for (;;) { switch (n) { case 0: continue; case 1: break; default: return; } n--; }");
    assert_eq!(count(&text, "continue L0"), 1, "{text}");
    assert_eq!(count(&text, "return"), 1, "{text}");
}

#[test]
fn a_constant_condition_decides_at_once() {
    let text =
        of("if (sizeof(int) == 4) d[t] = 1; else d[t] = 2; while (1) { d[t] = 3; if (t) break; }");
    assert_eq!(count(&text, "store"), 2, "{text}");
    assert_eq!(count(&text, "if "), 1, "{text}");
}

#[test]
fn barriers_stay_where_they_are() {
    let function = kernel(
        "__global__ void k(int *d) { d[0] = 1; __syncthreads(); d[1] = 2; __threadfence(); d[2] = __syncthreads_count(d[3] > 0); }",
    );
    let kinds: Vec<_> = insts(&function)
        .into_iter()
        .filter_map(|inst| match inst.kind {
            InstKind::Barrier(None) => Some("barrier"),
            InstKind::Barrier(Some(_)) => Some("count"),
            InstKind::Fence(_) => Some("fence"),
            InstKind::Store(..) => Some("store"),
            InstKind::Load(..) => Some("load"),
            _ => None,
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "store", "barrier", "store", "fence", "load", "count", "store"
        ]
    );
}

#[test]
fn a_long_chain_of_operators_does_not_deepen_the_stack() {
    for op in ["+", "&&", "||", "^", ","] {
        let chain = vec!["t"; 900].join(op);
        of(&format!("d[t] = ({chain});"));
    }
}

#[test]
fn the_deepest_programs_fit_a_stack_of_8_mb() {
    let assign = |expression: String| format!("d[t] = {expression};");
    let statements = [
        assign("n = ".repeat(900) + "1"),
        assign("t ? d[t] : ".repeat(300) + "1"),
        assign("-~".repeat(450) + "t"),
        assign("d[".repeat(190) + "t" + &"]".repeat(190)),
        assign("1.5 * t + 2 - ".repeat(220) + "1"),
        "if (t < n) { while (n--) ".repeat(60) + "d[t] = 1;" + &"}".repeat(60),
        "if (t == n) d[0] = 1; else ".repeat(150) + "d[1] = 1;",
    ];
    let run = move || {
        for statement in &statements {
            of(statement);
        }
    };
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(run);
    thread.unwrap().join().unwrap();
}
