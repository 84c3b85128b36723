//! One broken module per rule, and the verifier's messages about it.

use proptest::prelude::*;

use crate::random::{self, Options, Random};
use crate::{
    Block, Const, HostFn, Inst, InstKind, LocId, Module, Node, Type, ValueId, infer_spaces, parse,
    verify,
};

fn violations(module: &Module) -> Vec<String> {
    let violations = verify(module).err().unwrap_or_default();
    violations.iter().map(ToString::to_string).collect()
}

const TABLES: &str = r#"module "t"
string string0 "x"
global global0 constant "c" "float" : 4 align 4 element 4 = zero
global global1 host "h" "int" : 4 align 4 element 4 = bytes(00000000)
host fn0 @callee($0: i32 "n" "int") -> f64 {
  return 0.0
}
"#;

/// Checks one kernel whose body is given.
#[track_caller]
fn kernel(body: &str, expected: &[&str]) {
    function("kernel", "", body, expected);
}

#[track_caller]
fn host(body: &str, expected: &[&str]) {
    function("host", "", body, expected);
}

#[track_caller]
fn function(kind: &str, tables: &str, body: &str, expected: &[&str]) {
    let text = format!(
        "{TABLES}{kind} fn1 @k($0: i32 \"n\" \"int\", $1: i1 \"b\" \"bool\", $2: f32 \"x\" \"float\") {{\n{tables}\n{body}\n}}\n"
    );
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let found = violations(&module);
    let expected: Vec<String> = expected.iter().map(|line| format!("fn1: {line}")).collect();
    assert_eq!(found, expected, "\n{}", found.join("\n"));
}

#[test]
fn a_good_kernel() {
    kernel(
        "%0 = get $0
         %1 = cmp.slt.i32 %0, 4
         loop L0 unroll(4) {
           if %1 { break L0 } else { continue L0 }
         } step {
           set $0, 3
         }
         scope L1 { break L1 }
         barrier
         %2 = special.tid.x
         %3 = printf string0, %2, f64 1.5
         assert %1, string0
         return",
        &[],
    );
}

#[test]
fn operands_have_the_operations_type() {
    kernel(
        "%0 = get $0
         %1 = fadd.f32 %0, i32 1",
        &[
            "`%1 = fadd.f32 %0, i32 1`: %0 is i32, not f32",
            "`%1 = fadd.f32 %0, i32 1`: a constant is i32, not f32",
        ],
    );
    kernel(
        "%0 = add.f32 1.0, 2.0
         %1 = cmp.slt.i1 true, false
         %2 = neg.i1 true",
        &[
            "`%0 = add.f32 1.0, 2.0`: the operation does not exist for the type",
            "`%1 = cmp.slt.i1 true, false`: the operation does not exist for the type",
            "`%2 = neg.i1 true`: the operation does not exist for the type",
        ],
    );
    kernel(
        "%0 = cvt.i64.i32.sext i64 1",
        &["`%0 = cvt.i64.i32.sext i64 1`: the conversion does not take i64"],
    );
    kernel(
        "set $0, i64 1",
        &["`set $0, i64 1`: a constant is i64, not i32"],
    );
}

#[test]
fn results_have_the_instructions_types() {
    kernel(
        "%0: i64 = get $0",
        &["`%0: i64 = get $0`: the result %0 is i64, not i32"],
    );
    kernel("get $0", &["`get $0`: 0 results instead of 1"]);
    kernel(
        "%0: i32 = barrier",
        &["`%0: i32 = barrier`: 1 results instead of 0"],
    );
    kernel(
        "%0 = load.f32x2.global null",
        &["`%0 = load.f32x2.global null`: 1 results instead of 2"],
    );
}

#[test]
fn constants_fit() {
    kernel(
        "set $1, 0x2",
        &["`set $1, 0x2`: a constant has bits its type does not have"],
    );
    kernel(
        "set $0, 0x100000000",
        &["`set $0, 0x100000000`: a constant has bits its type does not have"],
    );
}

#[test]
fn temporaries_are_assigned_once_and_before_their_uses() {
    kernel(
        "%0 = get $0\n%0 = get $0",
        &["`%0 = get $0`: %0 is assigned twice"],
    );
    kernel(
        "set $0, %0\n%0 = get $0",
        &["`set $0, %0`: %0 is not visible here"],
    );
    kernel(
        "if true { %0 = get $0 } else { set $0, %0 }\nset $0, %0",
        &[
            "`set $0, %0`: %0 is not visible here",
            "`set $0, %0`: %0 is not visible here",
        ],
    );
    kernel(
        "loop L0 { %0 = get $0 } step { set $0, %0 }",
        &["`set $0, %0`: %0 is not visible here"],
    );
    kernel(
        "set $0, %9",
        &["`set $0, %9`: %9 is not one of the function's temporaries"],
    );
}

#[test]
fn jumps_lead_to_enclosing_statements() {
    kernel(
        "break L0",
        &["`break L0`: the label is not that of an enclosing statement"],
    );
    kernel(
        "scope L0 { }\nbreak L0",
        &["`break L0`: the label is not that of an enclosing statement"],
    );
    kernel(
        "scope L0 { continue L0 }",
        &["`continue L0`: it leads to a scope"],
    );
    kernel(
        "loop L0 { } step { continue L0 }",
        &["`continue L0`: it leads to the step that it is in"],
    );
    kernel(
        "loop L0 { scope L1 { continue L0 } } step { break L0 }",
        &[],
    );
    kernel(
        "scope L0 { }\nscope L0 { }",
        &["`scope L0 {`: the label names two statements"],
    );
    function(
        "kernel",
        "labels 1",
        "scope L1 { }",
        &["`scope L1 {`: the label is not one of the function's"],
    );
}

#[test]
fn returns_match_the_result() {
    kernel(
        "return i32 1",
        &["`return i32 1`: it returns a value from a function without a result"],
    );
    let text = "module \"t\"\nhost fn0 @f() -> i32 {\n  return\n}\nhost fn1 @g() -> i32 {\n  return f32 1.0\n}\n";
    let found = violations(&parse(text).unwrap());
    assert_eq!(
        found,
        [
            "fn0: `return`: it returns nothing from a function with a result",
            "fn1: `return f32 1.0`: a constant is f32, not i32"
        ]
    );
}

#[test]
fn memory_accesses() {
    kernel(
        "%0, %1, %2 = load.f32x3.global null",
        &["`%0, %1, %2 = load.f32x3.global null`: the components are not 1, 2 or 4"],
    );
    kernel(
        "%0, %1, %2, %3 = load.f64x4.global null",
        &["`%0, %1, %2, %3 = load.f64x4.global null`: the access is wider than 16 bytes"],
    );
    kernel(
        "%0 = load.f32.global.partial null",
        &["`%0 = load.f32.global.partial null`: a partial load that is no integer"],
    );
    kernel(
        "%0 = load.f32.global.align4 null",
        &["`%0 = load.f32.global.align4 null`: the alignment is no power of two above the width"],
    );
    kernel(
        "store.i32.global.partial null, 1",
        &["`store.i32.global.partial null, 1`: only a load is partial"],
    );
    kernel(
        "%0 = load.f32.shared ptr.global null",
        &["`%0 = load.f32.shared ptr.global null`: a constant is ptr.global, not ptr.shared"],
    );
    kernel(
        "store.f32.constant null, 1.0",
        &["`store.f32.constant null, 1.0`: it writes to constant memory"],
    );
    kernel(
        "store.f32x2.global null, 1.0",
        &["`store.f32x2.global null, 1.0`: not one value per component"],
    );
    kernel(
        "%0 = load.f32.global null of global0",
        &["`%0 = load.f32.global null of global0`: the object is in another space than the access"],
    );
    kernel("%0 = load.f32.generic null of global0", &[]);
}

#[test]
fn atomics() {
    kernel(
        "%0 = atomic.and.f32.global null, 1.0
         %1 = atomic.cas.i32.global null, 1
         %2 = atomic.add.i32.global null, 1 when 2
         %3 = atomic.cas.i32.global null, 1 when 2",
        &[
            "`%0 = atomic.and.f32.global null, 1.0`: the operation does not exist for the type",
            "`%1 = atomic.cas.i32.global null, 1`: cas, and only cas, compares",
            "`%2 = atomic.add.i32.global null, 1 when 2`: cas, and only cas, compares",
        ],
    );
}

#[test]
fn named_things_exist() {
    kernel(
        "%0: i32 = get $9
         set $9, i32 0
         %1 = addr shared0
         %2 = addr local0
         %3: ptr = addr global9
         %4 = addr string9
         assert true, string9",
        &[
            "`%0: i32 = get $9`: there is no such slot",
            "`set $9, i32 0`: there is no such slot",
            "`%1 = addr shared0`: there is no such shared variable",
            "`%2 = addr local0`: there is no such local variable",
            "`%3: ptr = addr global9`: there is no such global",
            "`%4 = addr string9`: there is no such string",
            "`assert true, string9`: there is no such string",
        ],
    );
    kernel(
        "%0: ptr = addr global1",
        &["`%0: ptr = addr global1`: a kernel names a host variable"],
    );
    kernel(
        "%0: ptr = addr global0",
        &["`%0: ptr = addr global0`: the result %0 is ptr, not ptr.constant"],
    );
    kernel("barrier !5", &["`barrier !5`: its place does not exist"]);
}

#[test]
fn sides() {
    kernel(
        "%0: f64 = call fn0(i32 1)",
        &["`%0: f64 = call fn0(i32 1)`: it is in a kernel"],
    );
    host("barrier", &["`barrier`: it is outside of a kernel"]);
    host(
        "%0 = special.tid.x",
        &["`%0 = special.tid.x`: it is outside of a kernel"],
    );
}

#[test]
fn calls() {
    host("%0: f64 = call fn0(i32 1)\ncall fn0(i32 2)", &[]);
    host(
        "%0: f64 = call fn0()",
        &["`%0: f64 = call fn0()`: not one argument per parameter"],
    );
    host(
        "call fn0(f32 1.0)",
        &["`call fn0(f32 1.0)`: a constant is f32, not i32"],
    );
    host("call fn7()", &["`call fn7()`: there is no such function"]);
    host(
        "%0 = host printf(null, i32 1, f64 2.0, ptr null)\nhost free(null)",
        &[],
    );
    host(
        "host free()",
        &["`host free()`: not one argument per parameter"],
    );
    host(
        "host printf(null, f32 1.0)",
        &["`host printf(null, f32 1.0)`: an argument of `...` is f32"],
    );
    host(
        "launch fn0 <<<(1, 1, 1), (1, 1, 1), 0, 0>>> (i32 1)",
        &["`launch fn0 <<<(1, 1, 1), (1, 1, 1), 0, 0>>> (i32 1)`: a host function is launched"],
    );
}

#[test]
fn launches_pass_generic_pointers() {
    let text = r#"module "t"
kernel fn0 @k($0: ptr.global "p" "int *" pointee i32, $1: i32 "n" "int") {
}
host fn1 @main() {
  launch fn0 <<<(1, 1, 1), (1, 1, 1), 0, 0>>> (ptr null, i32 1)
  launch fn0 <<<(1, 1, 1), (1, 1, 1), 0, 0>>> (ptr null, f32 1.0)
  launch fn0 <<<(1, 1, 1), (1, 1, 1), 0, 0>>> (ptr null)
}
"#;
    let found = violations(&parse(text).unwrap());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].ends_with("a constant is f32, not i32"),
        "{}",
        found[0]
    );
    assert!(
        found[1].ends_with("not one argument per parameter"),
        "{}",
        found[1]
    );
}

#[test]
fn tables_are_consistent() {
    let text = r#"module "t"
global global0 device "a" "int" : 8 align 3 element 0 = bytes(00000000 00000000 00) reloc(1: string5 + 0, 0: shared0 + 0) !9
kernel fn0 @k($0: i32 "n" "int", $0: i32 "n" "int") -> i32 {
  shared shared0 "s" "float" [4] : 16 align 4 element 4 at 0
  shared shared1 "t" "float" [4] : 12 align 6 element 4 at 4
  shared shared2 dynamic "d" "float" [0] : 4 align 4 element 4 at 0
  local local0 "a" "int" [4] : 4 align 4 element 4
}
host fn1 @h() {
  slot $0 : ptr.shared "p"
}
host fn2 @h() {
}
loc !1 = 0:1:1 via !2
loc !2 = 0:1:1 via !1
"#;
    let found = violations(&parse(text).unwrap());
    let expected = [
        "`loc !1`: there is no such file",
        "`loc !1`: `via` leads in a circle",
        "`loc !2`: there is no such file",
        "`loc !2`: `via` leads in a circle",
        "`global0 a`: its place does not exist",
        "`global0 a`: the alignment is not a power of two",
        "`global0 a`: the element has no size",
        "`global0 a`: there are more initial bytes than bytes",
        "`global0 a`: a relocation lies outside",
        "`global0 a`: a relocation to no string",
        "`global0 a`: a relocation to a function's variable",
        "fn0: `@k`: two parameters share a slot",
        "fn0: `@k`: a kernel has a result",
        "fn0: `shared1 t`: the alignment is not a power of two",
        "fn0: `shared1 t`: it is not at the offset the layout gives",
        "fn0: `shared1 t`: the size is not that of its dimensions",
        "fn0: `shared2 d`: it is not at the offset the layout gives",
        "fn0: `shared2 d`: it is dynamic and has a size",
        "fn0: `local0 a`: the size is not that of its dimensions",
        "fn1: `@h`: a host function has a pointer that is not generic",
        "fn2: `@h`: another function has this name",
    ];
    assert_eq!(found, expected, "\n{}", found.join("\n"));
}

/// The number of mutations.
const MUTATIONS: usize = 8;

/// Breaks one rule at a random place; `false` if the module has no suitable place.
fn mutate(module: &mut Module, which: usize, random: &mut Random) -> bool {
    let n_locs = module.locs.len() as u32;
    let function = &mut module.functions[0];
    let (n_slots, n_values) = (function.slots.len() as u32, function.values.len() as u32);
    let mut places = vec![];
    collect(&mut function.body, &mut places);
    let mut insts: Vec<&mut Inst> = places
        .into_iter()
        .filter(|inst| match which {
            0 => !inst.kind.operands().is_empty(),
            1 => inst
                .kind
                .operands()
                .iter()
                .any(|operand| operand.value().is_some()),
            2 | 3 => !inst.results.is_empty(),
            4 => matches!(inst.kind, InstKind::Get(_) | InstKind::Set(..)),
            6 => matches!(inst.kind, InstKind::Load(..) | InstKind::Store(..)),
            _ => true,
        })
        .collect();
    if insts.is_empty() {
        return false;
    }
    let at = random.below(insts.len());
    let inst = &mut *insts[at];
    match which {
        // A constant with bits that an `i1` does not have: invalid as an `i1` and as anything else.
        0 => {
            let mut operands = inst.kind.operands_mut();
            let at = random.below(operands.len());
            *operands[at] = Const {
                ty: Type::I1,
                bits: 2,
            }
            .into();
        }
        1 => {
            let operands = inst.kind.operands_mut();
            let value = operands
                .into_iter()
                .find(|operand| operand.value().is_some());
            *value.expect("there is one") = ValueId(n_values).into();
        }
        2 => inst.results[0] = ValueId(n_values),
        3 => inst.results.push(inst.results[0]),
        4 => match &mut inst.kind {
            InstKind::Get(slot) | InstKind::Set(slot, _) => slot.0 = n_slots,
            _ => unreachable!("filtered"),
        },
        5 => inst.loc = LocId(n_locs),
        6 => match &mut inst.kind {
            InstKind::Load(access, _) | InstKind::Store(access, ..) => access.count = 3,
            _ => unreachable!("filtered"),
        },
        _ => inst.kind = InstKind::HostCall(HostFn::Rand, vec![]),
    }
    true
}

fn collect<'a>(block: &'a mut Block, insts: &mut Vec<&'a mut Inst>) {
    for node in &mut block.0 {
        match node {
            Node::Inst(inst) => insts.push(inst),
            node => {
                for block in node.blocks_mut() {
                    collect(block, insts);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_mutation_is_found(seed: u64) {
        let mut random = Random::new(seed);
        let mut module = random::module(random.next(), Options { plain: false });
        infer_spaces(&mut module);
        prop_assert_eq!(violations(&module), Vec::<String>::new());
        for which in 0..MUTATIONS {
            let mut broken = module.clone();
            if mutate(&mut broken, which, &mut random) {
                prop_assert!(verify(&broken).is_err(), "mutation {which}:\n{broken}");
            }
        }
    }
}

const ROUTINE: &str = "routine R0 \"walk\" ($3) -> ($4)
    slot $3 : i32 \"depth\"
    slot $4 : f32 \"sum\"
    slot $5 : i32 \"own\"
    local local0 \"a\" \"int\" [4] : 16 align 4 element 4";

#[test]
fn routines_stand_first_and_share_nothing() {
    function(
        "kernel",
        ROUTINE,
        "code R0 {
           %0 = get $3
           %1 = call R0(%0)
           set $4, %1
           set $5, 1
         }
         %2 = get $0
         %3 = call R0(%2)",
        &[],
    );
    function(
        "kernel",
        ROUTINE,
        "code R0 {
           return
         }
         set $5, 1
         %0 = call R0(f32 1.0)
         %1: i32 = call R1()",
        &[
            "`@k`: a lane ends in a routine",
            "`%0 = call R0(f32 1.0)`: a constant is f32, not i32",
            "`%1: i32 = call R1()`: there is no such routine",
        ],
    );
    function(
        "kernel",
        ROUTINE,
        "code R0 {
           set $5, 1
           %0 = addr local0
         }
         set $5, 1
         scope L0 {
           code R0 {
           }
         }",
        &[
            "`@k`: a routine is inside of other code",
            "`@k`: a variable of a routine is named elsewhere",
        ],
    );
    function(
        "host",
        "routine R0 \"walk\" ($0) -> ($0)",
        "",
        &[
            "`@k`: a host function has routines",
            "`routine R0 walk`: two of its parameters and results share a slot",
            "`@k`: its code does not begin with its routines",
        ],
    );
}
