//! Bodies in, bodies out. Parameters: `$0: ptr "p"`, `$1: i32 "n"`; slots `$2` and `$3` are pointers.

use crate::verify::assert_verified;
use crate::{Module, infer_spaces, parse, print};

const HEAD: &str = r#"module "t"
string string0 "%p"
global global0 constant "coef" "float" : 4 align 4 element 4 = zero
global global1 device "total" "float" : 4 align 4 element 4 = zero
kernel fn0 @k($0: ptr "p" "float *" pointee f32, $1: i32 "n" "int") {
  shared shared0 "s" "float" [8] : 32 align 4 element 4 at 0
  local local0 "a" "float" [8] : 32 align 4 element 4
  slot $2 : ptr "q"
  slot $3 : ptr "r"
"#;

fn infer(body: &str) -> Module {
    let mut module =
        parse(&format!("{HEAD}{body}\n}}\n")).unwrap_or_else(|error| panic!("{error}"));
    infer_spaces(&mut module);
    assert_verified(&module, "infer_spaces");
    let once = module.clone();
    infer_spaces(&mut module);
    assert_eq!(
        print(&module),
        print(&once),
        "running it again changes something"
    );
    module
}

/// The kernel's code after the pass, and the types of its slots.
#[track_caller]
fn check(body: &str, slots: [&str; 3], expected: &str) {
    let module = infer(body);
    let kernel = &module.functions[0];
    let found = [0, 2, 3].map(|slot| kernel.slots[slot].ty.to_string());
    let text = print(&module);
    let lines = text
        .lines()
        .skip_while(|line| !line.contains("kernel"))
        .skip(1);
    let is_table = |line: &&str| {
        ["shared", "local", "slot"]
            .iter()
            .any(|word| line.trim_start().starts_with(word))
    };
    let code: Vec<&str> = lines
        .skip_while(is_table)
        .take_while(|line| *line != "}")
        .map(str::trim)
        .collect();
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(code, expected, "\n{}", code.join("\n"));
    assert_eq!(found, slots);
}

#[test]
fn parameters_are_global() {
    check(
        "%0: ptr = get $0
         %1: ptr = ptradd %0 + 4
         %2 = load.f32.generic %1
         store.f32.generic %1, %2",
        ["ptr.global", "ptr.global", "ptr.global"],
        "%0 = get $0
         %1 = ptradd %0 + 4
         %2 = load.f32.global %1
         store.f32.global %1, %2",
    );
}

#[test]
fn objects_give_their_space() {
    check(
        "%0: ptr = addr shared0
         %1: ptr = addr local0
         %2: ptr = addr global0
         %3: ptr = addr global1
         %4 = load.f32.generic %0 of shared0
         %5 = load.f32.generic %1 of local0
         %6 = load.f32.generic %2 of global0
         %7 = load.f32.generic %3 of global1
         set $2, %0
         set $3, %1",
        ["ptr.global", "ptr.shared", "ptr.local"],
        "%0 = addr shared0
         %1 = addr local0
         %2 = addr global0
         %3 = addr global1
         %4 = load.f32.shared %0 of shared0
         %5 = load.f32.local %1 of local0
         %6 = load.f32.constant %2 of global0
         %7 = load.f32.global %3 of global1
         set $2, %0
         set $3, %1",
    );
}

#[test]
fn a_slot_of_two_spaces_is_generic() {
    check(
        "%0: ptr = addr shared0
         set $2, %0
         %1: ptr = get $0
         set $2, %1
         %2: ptr = get $2
         %3 = load.f32.generic %2",
        ["ptr.global", "ptr", "ptr.global"],
        "%0 = addr shared0
         %1 = cvt.ptr.generic %0
         set $2, %1
         %2 = get $0
         %3 = cvt.ptr.generic %2
         set $2, %3
         %4 = get $2
         %5 = load.f32.generic %4",
    );
}

#[test]
fn a_parameter_that_is_assigned_shared_memory_is_generic() {
    check(
        "%0: ptr = addr shared0
         set $0, %0
         %1: ptr = get $0
         %2 = load.f32.generic %1",
        ["ptr", "ptr.global", "ptr.global"],
        "%0 = addr shared0
         %1 = cvt.ptr.generic %0
         set $0, %1
         %2 = get $0
         %3 = load.f32.generic %2",
    );
}

#[test]
fn the_space_goes_round_a_loop() {
    // `q` gets its space after the loop that uses it, in the order of the text.
    check(
        "loop L0 {
           %0: ptr = get $2
           set $3, %0
           %1: ptr = get $3
           %2: ptr = ptradd %1 + 4
           set $2, %2
           break L0
         }
         %3: ptr = addr shared0
         set $2, %3",
        ["ptr.global", "ptr.shared", "ptr.shared"],
        "loop L0 {
           %0 = get $2
           set $3, %0
           %1 = get $3
           %2 = ptradd %1 + 4
           set $2, %2
           break L0
         }
         %3 = addr shared0
         set $2, %3",
    );
}

#[test]
fn null_keeps_global() {
    check(
        "set $2, null
         %0: ptr = get $0
         set $2, %0
         %1: ptr = get $2
         %2 = cmp.ne.ptr %1, null",
        ["ptr.global", "ptr.global", "ptr.global"],
        "set $2, null
         %0 = get $0
         set $2, %0
         %1 = get $2
         %2 = cmp.ne.ptr.global %1, null",
    );
}

#[test]
fn null_is_no_shared_address() {
    check(
        "set $2, null
         %0: ptr = addr shared0
         set $2, %0
         set $3, %0
         %1: ptr = get $3
         %2 = cmp.eq.ptr %1, null",
        ["ptr.global", "ptr", "ptr.shared"],
        "set $2, null
         %0 = addr shared0
         %1 = cvt.ptr.generic %0
         set $2, %1
         set $3, %0
         %2 = get $3
         %3 = cvt.ptr.generic %2
         %4 = cmp.eq.ptr %3, null",
    );
}

#[test]
fn a_variable_that_is_only_null_does_not_spoil_a_global_one() {
    check(
        "set $2, null
         %0: ptr = get $2
         set $3, %0
         %1: ptr = get $0
         set $3, %1",
        ["ptr.global", "ptr.global", "ptr.global"],
        "set $2, null
         %0 = get $2
         set $3, %0
         %1 = get $0
         set $3, %1",
    );
}

#[test]
fn pointers_in_memory_are_generic() {
    check(
        "%0: ptr = get $0
         %1 = load.ptr.generic %0
         %2 = load.f32.generic %1
         %3: ptr = addr shared0
         store.ptr.generic %0, %3",
        ["ptr.global", "ptr.global", "ptr.global"],
        "%0 = get $0
         %1 = load.ptr.global %0
         %2 = load.f32.generic %1
         %3 = addr shared0
         %4 = cvt.ptr.generic %3
         store.ptr.global %0, %4",
    );
}

#[test]
fn integers_made_pointers_are_generic() {
    check(
        "%0: ptr = get $0
         %1 = cvt.i64.ptr %0
         %2 = cvt.ptr.i64 %1
         set $2, %2",
        ["ptr.global", "ptr", "ptr.global"],
        "%0 = get $0
         %1 = cvt.i64.ptr %0
         %2 = cvt.ptr.i64 %1
         set $2, %2",
    );
}

#[test]
fn a_select_joins() {
    check(
        "%0: ptr = get $0
         %1: ptr = addr shared0
         %2 = select.ptr true, %0, %1
         %3 = select.ptr true, %0, null
         %4 = load.f32.generic %2
         %5 = load.f32.generic %3",
        ["ptr.global", "ptr.global", "ptr.global"],
        "%0 = get $0
         %1 = addr shared0
         %2 = cvt.ptr.generic %0
         %3 = cvt.ptr.generic %1
         %4 = select.ptr true, %2, %3
         %5 = select.ptr.global true, %0, null
         %6 = load.f32.generic %4
         %7 = load.f32.global %5",
    );
}

#[test]
fn comparisons_need_one_space() {
    check(
        "%0: ptr = get $0
         %1: ptr = addr shared0
         %2 = cmp.ult.ptr %0, %1
         %3 = cmp.eq.ptr %1, %1",
        ["ptr.global", "ptr.global", "ptr.global"],
        "%0 = get $0
         %1 = addr shared0
         %2 = cvt.ptr.generic %0
         %3 = cvt.ptr.generic %1
         %4 = cmp.ult.ptr %2, %3
         %5 = cmp.eq.ptr.shared %1, %1",
    );
}

#[test]
fn strings_and_printf_are_generic() {
    check(
        "%0 = addr string0
         %1: ptr = get $0
         %2 = printf string0, %0, %1, i32 5, ptr null",
        ["ptr.global", "ptr.global", "ptr.global"],
        "%0 = addr string0
         %1 = get $0
         %2 = cvt.ptr.generic %1
         %3 = printf string0, %0, %2, i32 5, ptr null",
    );
}

#[test]
fn needless_conversions_go() {
    check(
        "%0: ptr = addr shared0
         %1 = cvt.ptr.generic %0
         %2 = cvt.ptr.shared %1
         %3 = load.f32.shared %2
         %4: ptr = get $0
         %5 = cvt.ptr.shared %4
         %6 = load.f32.shared %5",
        ["ptr.global", "ptr.global", "ptr.global"],
        "%0 = addr shared0
         %1 = load.f32.shared %0
         %2 = get $0
         %3 = cvt.ptr.generic %2
         %4 = cvt.ptr.shared %3
         %5 = load.f32.shared %4",
    );
}

#[test]
fn a_write_to_constant_memory_is_left_to_the_device() {
    check(
        "%0: ptr = addr global0
         store.f32.generic %0, 1.0 of global0
         %1 = atomic.add.f32.generic %0, 1.0 of global0",
        ["ptr.global", "ptr.global", "ptr.global"],
        "%0 = addr global0
         %1 = cvt.ptr.generic %0
         store.f32.generic %1, 1.0 of global0
         %2 = cvt.ptr.generic %0
         %3 = atomic.add.f32.generic %2, 1.0 of global0",
    );
}

#[test]
fn conditions_and_dead_numbers_survive() {
    check(
        "%7: ptr = addr shared0
         %3 = load.bool.generic %7
         if %3 {
           %9: ptr = ptradd %7 + 1
           %2 = load.bool.generic %9
         } else {
           store.bool.generic %7, %3
         }",
        ["ptr.global", "ptr.global", "ptr.global"],
        "%0 = addr shared0
         %1 = load.bool.shared %0
         if %1 {
           %2 = ptradd %0 + 1
           %3 = load.bool.shared %2
         } else {
           store.bool.shared %0, %1
         }",
    );
}

#[test]
fn host_functions_stay_generic() {
    let text = r#"module "t"
global global0 device "x" "int" : 4 align 4 element 4 = zero
host fn0 @main($7: ptr "p" "int *" pointee i32) -> i32 {
  slot $0 : i32 "unused"
  %4 = addr global0
  %5 = load.i32.generic %4
  return 0
}
"#;
    let mut module = parse(text).unwrap();
    let before = module.clone();
    infer_spaces(&mut module);
    assert_eq!(module, before);
}
