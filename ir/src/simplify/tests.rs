//! Bodies in, bodies out; and random kernels set the same variables to the same values before and after.

use proptest::prelude::*;

use crate::random::{self, Options};
use crate::verify::assert_verified;
use crate::*;

/// `$0: i32 n` is a parameter, `$1` and `$2` are `i32`.
#[track_caller]
fn check(body: &str, expected: &str) {
    check_pass(simplify, body, expected);
}

#[track_caller]
fn check_pass(pass: fn(&mut Module), body: &str, expected: &str) {
    let head = "module \"t\"\nkernel fn0 @k($0: i32 \"n\" \"int\") {\n  shared shared0 \"s\" \"int\" [8] : 32 align 4 element 4 at 0\n  slot $1 : i32 \"x\"\n  slot $2 : i32 \"y\"\n";
    let read = |body: &str| parse(&format!("{head}{body}\n}}\n")).unwrap_or_else(|e| panic!("{e}"));
    let mut module = read(body);
    assert_verified(&module, "writing the test");
    pass(&mut module);
    assert_verified(&module, "the pass");
    let mut expected = read(expected);
    expected.functions[0].labels = module.functions[0].labels;
    assert_eq!(print(&module), print(&expected));
}

#[test]
fn constants_fold_and_unused_results_go() {
    check(
        "%0 = add.i32 1, 2
         %1 = mul.i32 %0, 5
         %2 = special.tid.x
         %3 = sdiv.i32 1, 0
         set $1, %1",
        "%0 = sdiv.i32 1, 0
         set $1, 15",
    );
}

#[test]
fn known_variables_are_not_read_again() {
    check(
        "%0 = get $0
         %1 = get $0
         %2 = add.i32 %0, %1
         set $1, %2
         %3 = get $1
         set $2, %3",
        "%0 = get $0
         %1 = add.i32 %0, %0
         set $1, %1
         set $2, %1",
    );
}

#[test]
fn a_variable_set_in_a_branch_or_loop_is_unknown_after_it() {
    check(
        "set $1, 5
         %0 = get $0
         %1 = cmp.eq.i32 %0, 1
         if %1 {
           set $1, 6
           %2 = get $1
           set $2, %2
         }
         %3 = get $1
         loop L0 {
           %4 = get $1
           %5 = add.i32 %4, 1
           set $1, %5
           break L0
         }
         %6 = get $1
         %7 = add.i32 %3, %6
         set $2, %7",
        "set $1, 5
         %0 = get $0
         %1 = cmp.eq.i32 %0, 1
         if %1 {
           set $1, 6
           set $2, 6
         }
         %2 = get $1
         loop L0 {
           %3 = get $1
           %4 = add.i32 %3, 1
           set $1, %4
           break L0
         }
         %5 = get $1
         %6 = add.i32 %2, %5
         set $2, %6",
    );
}

#[test]
fn the_same_operation_is_done_once_where_its_result_is_visible() {
    check(
        "%0 = special.tid.x
         %1 = special.tid.x
         %2 = addr shared0
         %3 = ptradd %2, %0 * 4
         %4 = ptradd %2, %1 * 4
         %5 = load.i32.shared %3
         %6 = load.i32.shared %4
         %7 = cmp.slt.i32 %5, %6
         if %7 {
           %8 = add.i32 %5, %6
           set $1, %8
         } else {
           %9 = add.i32 %5, %6
           set $2, %9
         }",
        "%0 = special.tid.x
         %1 = addr shared0
         %2 = ptradd %1, %0 * 4
         %3 = load.i32.shared %2
         %4 = load.i32.shared %2
         %5 = cmp.slt.i32 %3, %4
         if %5 {
           %6 = add.i32 %3, %4
           set $1, %6
         } else {
           %7 = add.i32 %3, %4
           set $2, %7
         }",
    );
}

#[test]
fn memory_accesses_and_clocks_stay() {
    check(
        "%0 = addr shared0
         %1 = load.i32.shared %0
         %2 = load.i32.shared.volatile %0
         %3 = atomic.add.i32.shared %0, 1
         %4 = special.clock
         %5 = special.clock
         %6 = sub.i32 %5, %4
         set $1, %6",
        "%0 = addr shared0
         %1 = load.i32.shared %0
         %2 = load.i32.shared.volatile %0
         %3 = atomic.add.i32.shared %0, 1
         %4 = special.clock
         %5 = special.clock
         %6 = sub.i32 %5, %4
         set $1, %6",
    );
}

#[test]
fn an_if_on_a_constant_is_its_branch() {
    check(
        "loop L0 {
           set $1, 1
           %0 = get $1
           %1 = cmp.eq.i32 %0, 1
           if %1 {
             %2 = get $0
             set $2, %2
             break L0
           } else {
             set $0, 3
           }
           set $2, 9
         }
         %3 = get $0
         set $1, %3",
        "loop L0 {
           set $1, 1
           %0 = get $0
           set $2, %0
           break L0
         }
         %1 = get $0
         set $1, %1",
    );
}

#[test]
fn constant_indices_go_into_the_offset() {
    check(
        "%0 = addr shared0
         %1 = ptradd %0, 3 * 4 + 4
         %2 = ptradd %0 + 16
         %3 = ptradd %0, i64 0 * 4
         store.i32.shared %1, 1
         store.i32.shared %2, 2
         store.i32.shared %3, 3",
        "%0 = addr shared0
         %1 = ptradd %0 + 16
         store.i32.shared %1, 1
         store.i32.shared %1, 2
         store.i32.shared %0, 3",
    );
}

/// One lane of a plain kernel: what it sets, in order.
struct Lane<'a> {
    function: &'a Function,
    lane: u64,
    values: Vec<u64>,
    slots: Vec<u64>,
    clock: u64,
    sets: Vec<(SlotId, u64)>,
    rounds: usize,
}

/// Why control left a block before its end.
enum Jump {
    Break(LabelId),
    Continue(LabelId),
    Return,
}

impl Lane<'_> {
    fn operand(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Value(id) => self.values[id.index()],
            Operand::Const(constant) => constant.bits,
        }
    }

    fn block(&mut self, block: &Block) -> Result<(), Jump> {
        block.0.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), Jump> {
        match node {
            Node::Inst(inst) => self.inst(inst),
            Node::If {
                cond,
                then,
                otherwise,
                ..
            } => match self.operand(*cond) {
                0 => self.block(otherwise)?,
                _ => self.block(then)?,
            },
            Node::Loop {
                label, body, step, ..
            } => loop {
                let end = match self.block(body) {
                    Ok(()) => self.block(step),
                    Err(Jump::Continue(to)) if to == *label => self.block(step),
                    Err(jump) => Err(jump),
                };
                match end {
                    Ok(()) if self.rounds > 20 => return Err(Jump::Return),
                    Ok(()) => self.rounds += 1,
                    Err(Jump::Break(to)) if to == *label => break,
                    Err(jump) => return Err(jump),
                }
            },
            Node::Routine { .. } => {}
            Node::Scope { label, body, .. } => match self.block(body) {
                Err(Jump::Break(to)) if to == *label => {}
                end => end?,
            },
            Node::Break(label) => return Err(Jump::Break(*label)),
            Node::Continue(label) => return Err(Jump::Continue(*label)),
            Node::Return(_) => return Err(Jump::Return),
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst) {
        let result = match &inst.kind {
            InstKind::Set(slot, value) => {
                self.slots[slot.index()] = self.operand(*value);
                self.sets.push((*slot, self.operand(*value)));
                return;
            }
            InstKind::Get(slot) => self.slots[slot.index()],
            InstKind::Unary(op, ty, a) => eval::unary(*op, *ty, self.operand(*a)),
            InstKind::Binary(op, ty, a, b) => {
                eval::binary(*op, *ty, self.operand(*a), self.operand(*b))
            }
            InstKind::Compare(op, ty, a, b) => {
                eval::compare(*op, *ty, self.operand(*a), self.operand(*b)) as u64
            }
            InstKind::Select(_, cond, a, b) => {
                self.operand(if self.operand(*cond) != 0 { *a } else { *b })
            }
            InstKind::Special(SpecialReg::TidX | SpecialReg::LaneId) => self.lane,
            InstKind::Special(register) if register.is_time() => self.clock,
            InstKind::Special(_) => 2,
            kind => panic!("not a plain kernel: {kind:?}"),
        };
        self.values[inst.results[0].index()] = result;
    }
}

fn sets(function: &Function, lane: u64) -> Vec<(SlotId, u64)> {
    run(function, lane).sets
}

fn run(function: &Function, lane: u64) -> Lane<'_> {
    let slots = function.slots.iter().enumerate();
    let mut lane = Lane {
        function,
        lane,
        values: vec![0; function.values.len()],
        slots: slots
            .map(|(index, slot)| {
                if slot.ty == Type::I1 {
                    index as u64 % 2
                } else {
                    3 + index as u64
                }
            })
            .collect(),
        clock: 77,
        sets: vec![],
        rounds: 0,
    };
    let _ = lane.block(&lane.function.body);
    lane
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_kernels_set_the_same(seed: u64) {
        let mut module = random::module(seed, Options { plain: true });
        let before: Vec<_> = (0..4).map(|lane| sets(&module.functions[0], lane)).collect();
        simplify(&mut module);
        assert_verified(&module, "simplify");
        let after: Vec<_> = (0..4).map(|lane| sets(&module.functions[0], lane)).collect();
        prop_assert_eq!(before, after, "{}", module);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_module_stays_verified_and_keeps_its_accesses(seed: u64) {
        let mut module = random::module(seed, Options { plain: false });
        infer_spaces(&mut module);
        let accesses = |module: &Module| {
            let mut accesses = 0;
            for function in &module.functions {
                function.body.for_each_inst(&mut |inst| match inst.kind {
                    InstKind::Load(..) | InstKind::Store(..) | InstKind::Atomic { .. } => accesses += 1,
                    _ => {}
                });
            }
            accesses
        };
        let before = accesses(&module);
        simplify(&mut module);
        assert_verified(&module, "simplify");
        // Fewer only if an `if` on a constant was removed, or code after a jump.
        prop_assert!(accesses(&module) <= before);
        let once = module.clone();
        simplify(&mut module);
        prop_assert!(module == once, "it simplifies its own result");
    }
}

#[test]
fn a_branch_that_repeats_another_takes_its_results() {
    check_pass(
        merge_branches,
        "%0 = get $0
         %1 = cmp.eq.i32 %0, 7
         %2 = addr shared0
         set $1, 5
         if %1 {
           %3 = mul.i32 %0, 3
           set $1, %3
         }
         %4 = get $1
         store.i32.shared %2, %4
         set $2, 5
         if %1 {
           %5 = mul.i32 %0, 3
           set $2, %5
         }
         %6 = get $2
         store.i32.shared %2, %6",
        "%0 = get $0
         %1 = cmp.eq.i32 %0, 7
         %2 = addr shared0
         set $1, 5
         if %1 {
           %3 = mul.i32 %0, 3
           set $1, %3
         }
         %4 = get $1
         store.i32.shared %2, %4
         set $2, 5
         set $2, %4
         store.i32.shared %2, %4",
    );
}

/// They differ in the variables' previous values, in a value, in an operation, or in effects.
#[test]
fn branches_that_differ_stay() {
    for (before, second) in [
        ("set $2, 6", "mul.i32 %0, 3"),
        ("set $2, 5", "mul.i32 %0, 4"),
        ("set $2, 5", "add.i32 %0, 3"),
        ("set $2, 5", "load.i32.shared %2"),
    ] {
        let body = format!(
            "%0 = get $0
             %1 = cmp.eq.i32 %0, 7
             %2 = addr shared0
             set $1, 5
             if %1 {{
               %3 = mul.i32 %0, 3
               set $1, %3
             }}
             %4 = get $1
             store.i32.shared %2, %4
             {before}
             if %1 {{
               %5 = {second}
               set $2, %5
             }}
             %6 = get $2
             store.i32.shared %2, %6"
        );
        check_pass(merge_branches, &body, &body);
    }
}

#[test]
fn a_branch_within_another_is_not_repeated_after_it() {
    let body = "%0 = get $0
         %1 = cmp.eq.i32 %0, 7
         %2 = cmp.slt.i32 %0, 9
         %3 = addr shared0
         if %2 {
           set $1, 5
           if %1 {
             set $1, 6
           }
           %4 = get $1
           store.i32.shared %3, %4
         }
         set $2, 5
         if %1 {
           set $2, 6
         }
         %5 = get $2
         store.i32.shared %3, %5";
    check_pass(merge_branches, body, body);
}

fn rename(block: &mut Block, n_values: u32, labels: u32) {
    for node in &mut block.0 {
        match node {
            Node::Inst(inst) => inst.results.iter_mut().for_each(|id| id.0 += n_values),
            Node::Loop { label, .. }
            | Node::Scope { label, .. }
            | Node::Break(label)
            | Node::Continue(label) => label.0 += labels,
            _ => {}
        }
        for block in node.blocks_mut() {
            rename(block, n_values, labels);
        }
    }
}

/// The body twice, and every variable read at the end.
fn twice(function: &mut Function) {
    let n_values = function.values.len() as u32;
    let mut again = function.body.clone();
    again.for_each_operand_mut(&mut |operand| {
        if let Operand::Value(id) = operand {
            id.0 += n_values;
        }
    });
    rename(&mut again, n_values, function.labels);
    function.labels *= 2;
    function.values.extend(function.values.clone());
    function.body.0.extend(again.0);
    for (index, slot) in function.slots.iter().enumerate() {
        let (slot_id, result) = (SlotId(index as u32), ValueId(function.values.len() as u32));
        function.values.push(slot.ty);
        for (results, kind) in [
            (vec![result], InstKind::Get(slot_id)),
            (vec![], InstKind::Set(slot_id, result.into())),
        ] {
            let loc = function.loc;
            function
                .body
                .0
                .push(Node::Inst(Inst { results, kind, loc }));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merged_branches_leave_variables_the_same(seed: u64) {
        let mut module = random::module(seed, Options { plain: true });
        twice(&mut module.functions[0]);
        simplify(&mut module);
        let before: Vec<_> = (0..4).map(|lane| run(&module.functions[0], lane).slots).collect();
        merge_branches(&mut module);
        assert_verified(&module, "merge_branches");
        let after: Vec<_> = (0..4).map(|lane| run(&module.functions[0], lane).slots).collect();
        prop_assert_eq!(before, after, "{}", module);
    }
}

#[test]
fn random_kernels_have_branches_to_merge() {
    let branches = |module: &Module| {
        let mut branches = 0;
        let count = &mut |node: &Node| branches += usize::from(matches!(node, Node::If { .. }));
        module.functions[0].body.for_each_node(count);
        branches
    };
    let (mut before, mut after) = (0, 0);
    for seed in 0..200 {
        let mut module = random::module(seed, Options { plain: true });
        twice(&mut module.functions[0]);
        simplify(&mut module);
        before += branches(&module);
        merge_branches(&mut module);
        after += branches(&module);
    }
    assert!(after < before, "{after} of {before}");
}
