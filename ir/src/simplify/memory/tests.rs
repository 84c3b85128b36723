//! Bodies of a host function in, bodies out. The target `forms` of `fuzz` tests that programs still do the same.

use crate::verify::assert_verified;
use crate::*;

/// `$0` is a pointer, `$1` and `$2` are `i32`; `keep` keeps its pointer, `look` does not.
#[track_caller]
fn check(body: &str, expected: &str) {
    let head = "module \"t\"\nstring string0 \"s\"\n";
    let functions = "
host fn1 @keep($0: ptr \"p\" \"int **\" pointee ptr) {
  %0 = get $0
  store.ptr.generic %0, %0
}
host fn2 @look($0: ptr \"p\" \"int *\" pointee i32) {
  %0 = get $0
  %1 = ptradd %0 + 4
  store.i32.generic %1, 3
}
";
    let read = |body: &str| {
        let text = format!(
            "{head}host fn0 @main($0: ptr \"p\" \"int *\" pointee i32) {{\n  local local0 \"v\" \"int\" [4] : 16 align 4 element 4\n  local local1 \"w\" \"int\" [4] : 16 align 4 element 4\n  slot $1 : i32 \"x\"\n  slot $2 : i32 \"y\"\n{body}\n}}\n{functions}"
        );
        parse(&text).unwrap_or_else(|e| panic!("{e}"))
    };
    let mut module = read(body);
    assert_verified(&module, "writing the test");
    forward_loads(&mut module);
    assert_verified(&module, "the pass");
    let expected = read(expected);
    assert_eq!(print(&module), print(&expected));
    forward_loads(&mut module);
    assert_eq!(print(&module), print(&expected), "again");
}

/// The body does not change.
#[track_caller]
fn check_same(body: &str) {
    check(body, body);
}

#[test]
fn a_place_is_read_once() {
    check(
        "%0 = get $0
         %1 = load.i32.generic %0
         set $1, %1
         %2 = load.i32.generic %0
         set $2, %2",
        "%0 = get $0
         %1 = load.i32.generic %0
         set $1, %1
         set $2, %1",
    );
}

#[test]
fn what_was_stored_is_not_read() {
    check(
        "%0 = get $0
         %1 = ptradd %0 + 8
         store.i32.generic %0, 1
         store.i32.generic %1, 2
         %2 = load.i32.generic %0
         %3 = load.i32.generic %1
         set $1, %2
         set $2, %3",
        "%0 = get $0
         %1 = ptradd %0 + 8
         store.i32.generic %0, 1
         store.i32.generic %1, 2
         set $1, 1
         set $2, 2",
    );
}

#[test]
fn a_part_of_a_value_is_read_again() {
    check_same(
        "%0 = get $0
         store.s8.generic %0, 511
         %1 = load.s8.generic %0
         set $1, %1",
    );
}

#[test]
fn volatile_places_are_read_again() {
    check_same(
        "%0 = get $0
         %1 = load.i32.generic.volatile %0
         set $1, %1
         %2 = load.i32.generic.volatile %0
         set $2, %2",
    );
}

#[test]
fn a_store_that_may_go_there_makes_a_place_unknown() {
    for (between, after) in [
        ("store.i32.generic %2, 7", "%4"),
        ("%4 = ptradd %0 + 2\nstore.s8.generic %4, 7", "%5"),
        ("call fn2(%0)", "%4"),
        ("%4 = host cudaDeviceSynchronize()\nset $1, %4", "%5"),
    ] {
        check_same(&format!(
            "%0 = get $0
             %1 = load.ptr.generic %0
             %2 = ptradd %1 + 4
             store.i32.generic %2, 9
             %3 = load.i32.generic %0
             {between}
             {after} = load.i32.generic %0
             set $1, %3
             set $2, {after}"
        ));
    }
}

#[test]
fn nobody_else_writes_a_variable_whose_address_is_not_kept() {
    check(
        "%0 = get $0
         %1 = addr local0
         %2 = addr local1
         store.i32.generic %1, 5
         store.i32.generic %0, 6
         store.i32.generic %2, 7
         call fn2(%2)
         %3 = load.i32.generic %1
         set $1, %3",
        "%0 = get $0
         %1 = addr local0
         %2 = addr local1
         store.i32.generic %1, 5
         store.i32.generic %0, 6
         store.i32.generic %2, 7
         call fn2(%2)
         set $1, 5",
    );
    // Passed to a function that writes it.
    check_same(
        "%0 = addr local0
         store.i32.generic %0, 5
         call fn2(%0)
         %1 = load.i32.generic %0
         set $1, %1",
    );
    // Passed to a function that keeps it.
    check_same(
        "%0 = get $0
         %1 = addr local0
         call fn1(%1)
         store.i32.generic %1, 5
         store.i32.generic %0, 6
         %2 = load.i32.generic %1
         set $1, %2",
    );
}

#[test]
fn what_a_loop_does_not_write_is_read_before_it() {
    check(
        "%0 = get $0
         %1 = addr local0
         loop L0 {
           %2 = ptradd %1 + 8
           %3 = load.i32.generic %2
           %4 = get $1
           %5 = cmp.slt.i32 %4, %3
           if %5 {
             break L0
           }
           store.i32.generic %0, 1
         } step {
           set $1, 4
         }",
        "%0 = get $0
         %1 = addr local0
         %2 = ptradd %1 + 8
         %3 = load.i32.generic %2
         loop L0 {
           %4 = get $1
           %5 = cmp.slt.i32 %4, %3
           if %5 {
             break L0
           }
           store.i32.generic %0, 1
         } step {
           set $1, 4
         }",
    );
    // It is written in a later round.
    check_same(
        "%0 = addr local0
         loop L0 {
           %1 = load.i32.generic %0
           %2 = get $1
           %3 = cmp.slt.i32 %2, %1
           if %3 {
             break L0
           }
         } step {
           store.i32.generic %0, 1
         }",
    );
    check_same(
        "%0 = get $0
         %1 = load.i32.generic %0
         set $1, %1
         loop L0 {
           %2 = load.i32.generic %0
           %3 = cmp.slt.i32 %2, 3
           if %3 {
             break L0
           }
         } step {
           store.i32.generic %0, 1
         }
         %4 = load.i32.generic %0
         set $2, %4",
    );
    // Other code may write it.
    check_same(
        "%0 = get $0
         loop L0 {
           %1 = load.i32.generic %0
           %2 = cmp.slt.i32 %1, 3
           if %2 {
             break L0
           }
         } step {
           set $1, 3
         }",
    );
}

#[test]
fn a_condition_is_asked_once() {
    check(
        "%0 = get $1
         %1 = cmp.slt.i32 %0, 3
         loop L0 {
           if %1 {
           } else {
             break L0
           }
           if %1 {
             set $1, 4
           } else {
             %2 = addr string0
             host __dslc_assert_fail(%2, 3)
           }
           if %1 {
             set $1, 5
           }
         } step {
         }
         if %1 {
           set $2, 5
         }",
        "%0 = get $1
         %1 = cmp.slt.i32 %0, 3
         loop L0 {
           if %1 {
           } else {
             break L0
           }
           set $1, 4
           set $1, 5
         } step {
         }
         if %1 {
           set $2, 5
         }",
    );
}

#[test]
fn a_failed_assertion_does_not_come_back() {
    check(
        "%0 = get $1
         %1 = cmp.slt.i32 %0, 3
         %2 = get $0
         %3 = load.i32.generic %2
         if %1 {
         } else {
           %4 = addr string0
           host __dslc_assert_fail(%4, 3)
         }
         %5 = load.i32.generic %2
         if %1 {
           set $1, %5
         }
         set $2, %3",
        "%0 = get $1
         %1 = cmp.slt.i32 %0, 3
         %2 = get $0
         %3 = load.i32.generic %2
         if %1 {
         } else {
           %4 = addr string0
           host __dslc_assert_fail(%4, 3)
         }
         set $1, %3
         set $2, %3",
    );
}
