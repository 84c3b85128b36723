//! Round trips, and errors for invalid text.

use proptest::prelude::*;

use crate::random::{self, Options, Random};
use crate::verify::assert_verified;
use crate::*;

fn round_trip(module: &Module) {
    let text = print(module);
    let back = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(back == *module, "{text}\nbecomes\n{}", print(&back));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_modules_survive(seed: u64) {
        let mut module = random::module(seed, Options { plain: false });
        round_trip(&module);
        infer_spaces(&mut module);
        assert_verified(&module, "infer_spaces");
        round_trip(&module);
        let once = module.clone();
        infer_spaces(&mut module);
        prop_assert!(module == once, "inference changes its own result");
    }

    /// Deleting, doubling or changing a piece of the text gives an error or another module, never a panic; and the verifier and the printer
    /// do not panic on the result.
    #[test]
    fn broken_text_is_no_panic(seed: u64) {
        let mut random = Random::new(seed);
        let text = print(&random::module(random.next(), Options { plain: false }));
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n', ',', '.']).collect();
        for _ in 0..1 + random.below(3) {
            let (from, to) = (random.below(words.len()), random.below(words.len()));
            match random.below(3) {
                0 => words[to] = words[from],
                1 => words.insert(to, words[from]),
                _ if words.len() > 1 => { words.remove(to); }
                _ => {}
            }
        }
        if let Ok(module) = parse(&words.concat()) {
            let _ = verify(&module);
            let again = print(&module);
            let _ = parse(&again);
        }
    }

    #[test]
    fn garbage_is_an_error(text: String) {
        prop_assert!(parse(&text).is_err());
        let text = format!("module \"x\"\n{text}\n!");
        prop_assert!(parse(&text).is_err());
    }

    #[test]
    fn every_constant_survives(bits: u64, short: u32) {
        for bits in [bits, short as u64, short as u64 & 1] {
            for ty in [Type::I1, Type::I32, Type::I64, Type::F32, Type::F64, Type::Ptr(Space::Shared)] {
                let mut b = Builder::new("f", FunctionKind::Host, LocId(0));
                b.set_result(Some(ty));
                b.return_value(Some(Const { ty, bits }.into()));
                let functions = vec![b.finish()];
                round_trip(&Module { functions, locs: vec![Loc::default()], ..Module::default() });
            }
        }
    }
}

#[test]
fn a_kernel_as_people_read_it() {
    let text = r#"module "transpose.k"
file 0 "transpose.k"
string string0 "%d\n"
global global0 constant "coef" "float [2]" : 8 align 4 element 4 = bytes(0000803f 00000040) !1

kernel fn0 @transpose($0: ptr.global "in" "const float *" pointee f32 const restrict, $1: i32 "n" "int") launch_bounds(256, 2) !2 {
  shared shared0 "S" "float" [32][33] : 4224 align 4 element 4 at 0 !3
  slot $2 : i32 "bx"
  %0 = special.tid.x !4
  set $2, %0 !4
  loop L0 unroll(4) !2 {
    %1 = get $2
    %2 = get $1
    %3 = cmp.sge.i32 %1, %2
    if %3 !2 {
      break L0
    } else {
      %4 = addr shared0
      %5 = ptradd %4, %1 * 132 + 4
      %6 = load.f32x2.shared.volatile %5 of shared0 !4
    }
  } step {
    %7 = get $2
    %8 = add.i32 %7, 1
    set $2, %8
  }
}

host fn1 @main() -> i32 !2 {
  launch fn0 <<<(1, 1, 1), (256, 1, 1), 0, 0>>> (ptr null, i32 7)
  return 0
}

loc !1 = 0:1:1
loc !2 = 0:2:1
loc !3 = 0:3:12
loc !4 = 0:4:9 "S[threadIdx.x]" via !3
"#;
    let text = text.replace("%6 = load.f32x2", "%6, %9 = load.f32x2");
    assert_eq!(print(&parse(&text).unwrap()), text);
}

#[track_caller]
fn error(text: &str, expected: &str) {
    let found = parse(text).expect_err("it should not parse");
    assert_eq!(found.to_string(), expected);
}

#[test]
fn errors_say_where_and_what() {
    error("", "1:1: expected `module`, found the end");
    error("module 5", "1:8: expected a string, found `5`");
    error("module \"x", "1:8: the string does not end on its line");
    error("module \"\\q\"", "1:9: there is no such escape");
    error(
        "module \"x\"\nkernel fn1 @k() {}",
        "2:8: expected `fn0`: they are numbered in order",
    );
    error(
        "module \"x\"\nkernel fn0 @k() {\n  %0 = ad.i32 1, 2\n}",
        "3:8: expected an instruction, found `ad.i32`",
    );
    error(
        "module \"x\"\nkernel fn0 @k() {\n  %0 = get.i32 $0\n}",
        "3:8: expected an instruction, found `get.i32`",
    );
    error(
        "module \"x\"\nkernel fn0 @k() {\n  %0 = add.i33 1, 2\n}",
        "3:8: expected an instruction with its type, found `add.i33`",
    );
    error(
        "module \"x\"\nkernel fn0 @k() {\n  %0 = add.i32 1, 2.5\n}",
        "3:19: expected a constant of type i32, found `2.5`",
    );
    error(
        "module \"x\"\nkernel fn0 @k() {\n  %0 = call fn0()\n}",
        "4:1: the type of %0 does not follow; write `%0: i32 = …`",
    );
    error(
        "module \"x\"\nkernel fn0 @k() {\n  printf string0, 5\n}",
        "3:19: expected a temporary, or a type and a constant",
    );
    error(
        "module \"x\"\nkernel fn0 @k() {",
        "2:18: expected a word, found the end",
    );
    error(
        "module \"x\"\nloc !3 = 0:0:0",
        "2:15: the places are not numbered in order",
    );
}

#[test]
fn deep_nesting_is_an_error() {
    let text = format!(
        "module \"x\"\nkernel fn0 @k() {{ {}",
        "if true { ".repeat(100_000)
    );
    assert!(parse(&text).unwrap_err().message.contains("nested"));
}

#[test]
fn odd_tables_survive() {
    let empty = Module::default();
    round_trip(&empty);
    let nowhere = Loc {
        file: 3,
        line: 4,
        column: 5,
        text: "x".into(),
        via: None,
    };
    round_trip(&Module {
        locs: vec![nowhere],
        ..Module::default()
    });
    let mut b = Builder::new("f", FunctionKind::Kernel, LocId(0));
    let passed = [Type::I32, Type::F32, Type::Ptr(Space::Generic)].map(|ty| b.slot("s", ty));
    let routine = b.routine(Routine {
        name: "walk \"it\"".into(),
        params: vec![passed[0]],
        results: vec![passed[1], passed[2]],
        loc: LocId(0),
    });
    b.open_routine(routine);
    let depth = b.get(passed[0]);
    b.call_routine(routine, vec![depth]);
    b.close();
    b.label();
    let slot = b.slot("s", Type::F32);
    b.get(slot);
    let mut function = b.finish();
    function.values.push(Type::Ptr(Space::Local));
    function.values.push(Type::I64);
    round_trip(&Module {
        functions: vec![function],
        locs: vec![Loc::default()],
        ..Module::default()
    });
}
