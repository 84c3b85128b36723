//! Cases by hand; and every result is compared with a lockstep executor on random kernels.

use proptest::prelude::*;

use super::{Cause, Uniformity};
use crate::random::{self, Options, Random};
use crate::*;

/// `$0: i32 n` and `$1: i1 b` are parameters, `$2` to `$4` are `i32`.
fn analyse(body: &str) -> (Function, Uniformity) {
    let head = "module \"t\"\nkernel fn0 @k($0: i32 \"n\" \"int\", $1: i1 \"b\" \"bool\") {\n  shared shared0 \"s\" \"int\" [8] : 32 align 4 element 4 at 0\n  local local0 \"l\" \"int\" : 4 align 4 element 4\n  slot $2 : i32 \"x\"\n  slot $3 : i32 \"y\"\n  slot $4 : i32 \"z\"\n";
    let module = parse(&format!("{head}{body}\n}}\n")).unwrap_or_else(|error| panic!("{error}"));
    verify::assert_verified(&module, "writing the test");
    let function = module.functions.into_iter().next().unwrap();
    let uniformity = Uniformity::of(&function);
    (function, uniformity)
}

/// The varying temporaries, and the slots that a single cell per warp cannot hold.
#[track_caller]
fn check(body: &str, values: &[u32], slots: &[u32]) {
    let (function, uniformity) = analyse(body);
    let n_values = function.values.len() as u32;
    let varying: Vec<u32> = (0..n_values)
        .filter(|id| !uniformity.value(ValueId(*id)))
        .collect();
    assert_eq!(varying, values, "temporaries");
    let varying: Vec<u32> = (0..5).filter(|id| !uniformity.slot(SlotId(*id))).collect();
    assert_eq!(varying, slots, "slots");
}

#[test]
fn sources() {
    check(
        "%0 = special.tid.x
         %1 = special.ctaid.x
         %2 = get $0
         %3 = add.i32 %1, %2
         %4 = add.i32 %0, %3
         %5 = addr shared0
         %6 = load.i32.shared.volatile %5
         %7 = ptradd %5, %0 * 4
         %8 = load.i32.shared %7
         %9 = addr local0
         %10 = load.i32.local %9
         %11 = atomic.add.i32.shared %5, 1
         %12 = barrier.count true
         %13 = cvt.ptr.generic %9
         %14 = cvt.ptr.generic %5
         %15 = load.i32.generic %14",
        &[0, 4, 7, 8, 10, 11, 13, 15],
        &[],
    );
}

#[test]
fn a_slot_set_in_a_divergent_branch_varies_after_it() {
    check(
        "%0 = special.tid.x
         %1 = cmp.eq.i32 %0, 0
         set $2, 5
         if %1 {
           set $2, 6
           %2 = get $2
         }
         %3 = get $2",
        &[0, 1, 3],
        &[2],
    );
}

#[test]
fn a_slot_set_and_read_within_one_branch_is_uniform() {
    check(
        "%0 = special.tid.x
         %1 = cmp.eq.i32 %0, 0
         if %1 {
           set $2, 6
           %2 = get $2
         }",
        &[0, 1],
        &[],
    );
}

#[test]
fn the_other_branch_spoils_a_single_cell_but_not_the_value() {
    check(
        "%0 = special.tid.x
         %1 = cmp.eq.i32 %0, 0
         set $2, 5
         if %1 {
           set $2, 6
         } else {
           %2 = get $2
         }",
        &[0, 1],
        &[2],
    );
}

#[test]
fn a_uniform_branch_spoils_nothing() {
    check(
        "%0 = get $1
         set $2, 5
         if %0 {
           set $2, 6
         }
         %1 = get $2",
        &[],
        &[],
    );
}

#[test]
fn a_loop_left_at_different_rounds() {
    // Inside, all lanes are in the same round; outside, each lane has a separate last round.
    check(
        "%0 = special.tid.x
         set $2, 0
         set $3, 7
         loop L0 {
           %1 = get $2
           %2 = cmp.sge.i32 %1, %0
           if %2 { break L0 }
           %3 = get $2
         } step {
           %4 = get $2
           %5 = add.i32 %4, 1
           set $2, %5
         }
         %6 = get $2
         %7 = get $3",
        &[0, 2, 6],
        &[2],
    );
}

#[test]
fn a_loop_left_together() {
    check(
        "%0 = get $0
         set $2, 0
         loop L0 {
           %1 = get $2
           %2 = cmp.sge.i32 %1, %0
           if %2 { break L0 }
         } step {
           %3 = get $2
           %4 = add.i32 %3, 1
           set $2, %4
         }
         %5 = get $2",
        &[],
        &[],
    );
}

#[test]
fn a_divergent_continue_spoils_the_step_and_makes_breaks_after_it_divergent() {
    check(
        "%0 = special.tid.x
         %1 = get $1
         set $2, 0
         set $3, 0
         set $4, 0
         loop L0 {
           %2 = cmp.eq.i32 %0, 3
           set $4, 1
           if %2 { continue L0 }
           set $2, 1
           %3 = get $2
           if %1 { break L0 }
         } step {
           %4 = get $2
           %5 = get $3
         }
         %6 = get $4",
        &[0, 2, 4, 6],
        &[2, 4],
    );
}

#[test]
fn lanes_waiting_at_a_scopes_end_make_a_break_divergent() {
    check(
        "%0 = special.tid.x
         %1 = cmp.eq.i32 %0, 3
         set $2, 0
         loop L0 {
           scope L1 {
             if %1 { break L1 }
             break L0
           }
           %2 = get $2
           %3 = add.i32 %2, 1
           set $2, %3
           %4 = cmp.sgt.i32 %3, 5
           if %4 { break L0 }
         }
         %5 = get $2",
        &[0, 1, 5],
        &[2],
    );
}

#[test]
fn a_return_takes_lanes_away_for_good() {
    check(
        "%0 = special.tid.x
         %1 = cmp.sge.i32 %0, 3
         set $2, 0
         if %1 { return }
         set $2, 1
         %2 = get $2
         loop L0 {
           if %1 { return }
           break L0
         }
         %3 = get $2",
        &[0, 1],
        &[],
    );
}

#[test]
fn unset_variables_vary() {
    check("%0 = get $2", &[0], &[2]);
}

#[test]
fn varying_values_go_round_loops() {
    check(
        "set $2, 0
         set $3, 0
         set $4, 0
         loop L0 {
           %0 = get $3
           set $2, %0
           %1 = get $4
           set $3, %1
           %2 = special.tid.x
           set $4, %2
           break L0
         }",
        &[2],
        &[4],
    );
    check(
        "set $2, 0
         set $3, 0
         set $4, 0
         loop L0 {
           %0 = get $3
           set $2, %0
           %1 = get $4
           set $3, %1
           %2 = special.tid.x
           set $4, %2
         }",
        &[0, 1, 2],
        &[2, 3, 4],
    );
}

#[test]
fn reasons_lead_to_the_source() {
    let (_, uniformity) = analyse(
        "%0 = special.tid.x
         %1 = cmp.eq.i32 %0, 0
         set $2, 5
         if %1 { set $2, 6 }
         %2 = get $2
         %3 = add.i32 %2, 1
         %4 = special.ctaid.x",
    );
    let causes: Vec<Cause> = uniformity
        .why_varying(ValueId(3))
        .iter()
        .map(|r| r.cause)
        .collect();
    assert_eq!(
        causes,
        [
            Cause::Operand(ValueId(2)),
            Cause::Divergence(SlotId(2), ValueId(1)),
            Cause::Operand(ValueId(0)),
            Cause::Thread(SpecialReg::TidX),
        ]
    );
    assert!(uniformity.why_varying(ValueId(4)).is_empty());
}

#[test]
fn hosts_are_one_thread() {
    let text = "module \"t\"\nhost fn0 @h() {\n  slot $0 : i32 \"x\"\n  %0 = get $0\n}\n";
    let module = parse(text).unwrap();
    let uniformity = Uniformity::of(&module.functions[0]);
    assert!(uniformity.value(ValueId(0)) && uniformity.slot(SlotId(0)));
}

const LANES: usize = 6;
/// The most rounds of a loop; random ones may not end.
const MAX_ROUNDS: usize = 5;
type Lanes = [u64; LANES];

/// A warp in lockstep, with a mask of active lanes at each step; slots per lane and also in single cells.
struct Warp<'a> {
    function: &'a Function,
    uniformity: &'a Uniformity,
    values: Vec<Lanes>,
    slots: Vec<Lanes>,
    cells: Vec<u64>,
    broken: Vec<u32>,
    continued: Vec<u32>,
    /// The order of an `if`'s branches is not fixed.
    otherwise_first: bool,
    random: Random,
    claims: usize,
}

impl Warp<'_> {
    fn operand(&self, operand: Operand, lane: usize) -> u64 {
        match operand {
            Operand::Value(id) => self.values[id.index()][lane],
            Operand::Const(constant) => constant.bits,
        }
    }

    /// Returns the lanes that reach the end.
    fn block(&mut self, block: &Block, mut mask: u32) -> u32 {
        for node in &block.0 {
            if mask == 0 {
                break;
            }
            mask = self.node(node, mask);
        }
        mask
    }

    fn node(&mut self, node: &Node, mask: u32) -> u32 {
        match node {
            Node::Inst(inst) => {
                self.inst(inst, mask);
                mask
            }
            Node::If {
                cond,
                then,
                otherwise,
                ..
            } => {
                let taken = lanes(mask).filter(|&lane| self.operand(*cond, lane) != 0);
                let taken = taken.fold(0, |taken, lane| taken | 1 << lane);
                if self.otherwise_first {
                    let end = self.block(otherwise, mask & !taken);
                    end | self.block(then, taken)
                } else {
                    let end = self.block(then, taken);
                    end | self.block(otherwise, mask & !taken)
                }
            }
            Node::Loop {
                label, body, step, ..
            } => {
                let mut live = mask;
                let mut rounds = 0;
                while live != 0 {
                    rounds += 1;
                    if rounds > MAX_ROUNDS {
                        break; // As if they returned.
                    }
                    let end = self.block(body, live);
                    let end = end | std::mem::take(&mut self.continued[label.index()]);
                    live = self.block(step, end);
                }
                std::mem::take(&mut self.broken[label.index()])
            }
            Node::Routine { .. } => mask,
            Node::Scope { label, body, .. } => {
                let end = self.block(body, mask);
                end | std::mem::take(&mut self.broken[label.index()])
            }
            Node::Break(label) => {
                self.broken[label.index()] |= mask;
                0
            }
            Node::Continue(label) => {
                self.continued[label.index()] |= mask;
                0
            }
            Node::Return(_) => 0,
        }
    }

    fn inst(&mut self, inst: &Inst, mask: u32) {
        if let InstKind::Set(slot, value) = inst.kind {
            for lane in lanes(mask) {
                self.slots[slot.index()][lane] = self.operand(value, lane);
            }
            // One lane sets the cell: any, since all would set the same value.
            let lane = self.random.pick(&lanes(mask).collect::<Vec<_>>());
            self.cells[slot.index()] = self.operand(value, lane);
            return;
        }
        let id = inst.results[0];
        for lane in lanes(mask) {
            self.values[id.index()][lane] = self.compute(&inst.kind, lane);
        }
        let results = self.values[id.index()];
        let first = results[mask.trailing_zeros() as usize];
        if self.uniformity.value(id) {
            self.claims += 1;
            assert!(
                lanes(mask).all(|lane| results[lane] == first),
                "{id} is not uniform"
            );
        }
        if let InstKind::Get(slot) = inst.kind
            && self.uniformity.slot(slot)
        {
            let cell = self.cells[slot.index()];
            assert!(
                lanes(mask).all(|lane| results[lane] == cell),
                "{slot} is not one cell"
            );
        }
    }

    fn compute(&mut self, kind: &InstKind, lane: usize) -> u64 {
        match kind {
            InstKind::Get(slot) => self.slots[slot.index()][lane],
            InstKind::Unary(op, ty, a) => eval::unary(*op, *ty, self.operand(*a, lane)),
            InstKind::Binary(op, ty, a, b) => {
                eval::binary(*op, *ty, self.operand(*a, lane), self.operand(*b, lane))
            }
            InstKind::Compare(op, ty, a, b) => {
                eval::compare(*op, *ty, self.operand(*a, lane), self.operand(*b, lane)) as u64
            }
            InstKind::Select(_, cond, a, b) => match self.operand(*cond, lane) {
                0 => self.operand(*b, lane),
                _ => self.operand(*a, lane),
            },
            InstKind::Special(SpecialReg::TidX | SpecialReg::LaneId) => lane as u64,
            InstKind::Special(register) if register.is_time() => self.random.next() & 0xff,
            InstKind::Special(_) => 2,
            kind => panic!("not a plain kernel: {kind:?}"),
        }
    }
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask & (1 << lane) != 0)
}

/// Runs a plain random kernel and returns how often a uniform temporary was computed.
fn run(seed: u64) -> usize {
    let mut random = Random::new(seed);
    let module = random::module(random.next(), Options { plain: true });
    verify::assert_verified(&module, "generating it");
    let function = &module.functions[0];
    let uniformity = Uniformity::of(function);
    let bits = |ty: Type, bits: u64| if ty == Type::I1 { bits & 1 } else { bits & 7 };
    let any = |random: &mut Random, ty| bits(ty, random.next());
    let mut slots: Vec<Lanes> = vec![];
    for slot in &function.slots {
        slots.push(std::array::from_fn(|_| any(&mut random, slot.ty)));
    }
    for param in &function.params {
        let slot = &mut slots[param.slot.index()];
        *slot = [slot[0]; LANES];
    }
    let mut warp = Warp {
        function,
        uniformity: &uniformity,
        values: vec![[0; LANES]; function.values.len()],
        cells: slots.iter().map(|lanes| lanes[0]).collect(),
        slots,
        broken: vec![0; function.labels as usize],
        continued: vec![0; function.labels as usize],
        otherwise_first: random.chance(2),
        random,
        claims: 0,
    };
    warp.block(&warp.function.body, (1 << LANES) - 1);
    warp.claims
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn claims_hold_when_run(seed: u64) {
        run(seed);
    }
}

#[test]
fn the_random_kernels_make_claims() {
    let claims: usize = (0..200).map(run).sum();
    assert!(claims > 1000, "only {claims}");
}
