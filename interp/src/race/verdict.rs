//! Classifies two accesses that happens-before does not order, with a table of rules over named facts.
//!
//! The first rule that applies gives the verdict. Each rule names the section of the CUDA C++ Programming Guide or of
//! the PTX ISA that it is based on, and a program in `tests` that shows it. A rule that is milder than PTX says so.

pub(crate) use crate::fault::finding::RaceKind;
use crate::fault::trap::AccessOp;

/// The result of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Nothing is wrong.
    Fine,
    /// Threads poll the place: none of its accesses of kind [`RaceKind::UnlessPolled`] is reported.
    Polled,
    /// It is reported.
    Race(RaceKind),
}

/// One of the two accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) op: AccessOp,
    pub(crate) volatile: bool,
    /// Whether it is an atomic only for the threads of its block.
    pub(crate) block_scope: bool,
    pub(crate) role: Role,
}

/// The role of an access in the program.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Role {
    /// Whether its thread waits here for others.
    pub(crate) polls: bool,
    /// Whether it is a `volatile` store of a constant, or a `volatile` load that decides a branch.
    pub(crate) flags: bool,
    /// Whether it is a load whose value is only used in a compare-and-swap, which tests it again.
    pub(crate) guesses: bool,
    /// Whether it is a compare-and-swap that takes a lock.
    pub(crate) locks: bool,
}

/// The smallest group that both threads belong to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Group {
    /// Two lanes of one store instruction, at the same place.
    Instruction,
    Warp,
    Block,
    Grid,
}

/// The facts that the verdict depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) earlier: Side,
    pub(crate) later: Side,
    pub(crate) group: Group,
    /// Whether the kernel has fences.
    pub(crate) fences: bool,
    /// Whether lanes of a warp may run separately: since sm_70.
    pub(crate) independent_lanes: bool,
    /// Whether the later thread, or one that happens before it, has read the place since the earlier store.
    pub(crate) has_seen: bool,
    /// Whether both lanes took part in an exchange between them.
    pub(crate) exchanged: bool,
    pub(crate) history: History,
}

/// Facts that are expensive to look up. They are needed unless [`Facts::is_settled`].
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct History {
    /// Whether the earlier atomic is the release that the later thread acquired.
    pub(crate) has_acquired: bool,
    /// Whether the later thread acquired it by taking a lock, without a fence afterwards.
    pub(crate) misses_fence: bool,
    /// Whether both store the same value.
    pub(crate) same_value: bool,
}

impl Side {
    /// Whether it is an atomic or `volatile` access, which PTX calls strong: other threads may see it at any time.
    fn is_strong(self) -> bool {
        self.op == AccessOp::Atomic || self.volatile
    }
}

impl Facts {
    fn any(&self, is: impl Fn(Side) -> bool) -> bool {
        is(self.earlier) || is(self.later)
    }

    fn both(&self, is: impl Fn(Side) -> bool) -> bool {
        is(self.earlier) && is(self.later)
    }

    fn atomics(&self) -> bool {
        self.both(|side| side.op == AccessOp::Atomic)
    }

    fn stores(&self) -> bool {
        self.both(|side| side.op == AccessOp::Store)
    }

    /// Whether one of two atomics is not atomic with respect to the other's thread.
    fn is_out_of_scope(&self) -> bool {
        self.atomics() && self.group == Group::Grid && self.any(|side| side.block_scope)
    }

    /// Whether both are strong, and each is in the other's scope.
    fn is_morally_strong(&self) -> bool {
        self.both(Side::is_strong) && self.group != Group::Instruction && !self.is_out_of_scope()
    }

    fn is_in_warp(&self) -> bool {
        self.group <= Group::Warp
    }

    /// Whether the place may be a flag, a lock or a counter. `volatile` shared memory in a kernel without fences is
    /// data.
    fn may_signal(&self) -> bool {
        let by_atomic = self.any(|side| side.op == AccessOp::Atomic);
        let by_volatile = match self.group {
            Group::Instruction | Group::Warp => false,
            Group::Block => self.fences,
            Group::Grid => true,
        };
        self.is_morally_strong() && (by_atomic || by_volatile)
    }

    /// Whether the place may be a flag between lanes of a warp.
    fn may_pass_on(&self) -> bool {
        let apart = self.independent_lanes && self.group == Group::Warp;
        self.is_morally_strong() && apart && self.fences
    }

    fn is_polled(&self) -> bool {
        self.is_morally_strong() && self.any(|side| side.role.polls)
    }

    /// Whether an exchange is enough: in lockstep, for strong accesses, and for a read before it, whose value has
    /// arrived by then.
    fn is_exchange_enough(&self) -> bool {
        let lockstep = !self.independent_lanes || self.both(Side::is_strong);
        let same = self.history.same_value;
        self.exchanged && (lockstep || same || self.earlier.op == AccessOp::Load)
    }

    /// Whether the verdict does not depend on the [`History`]. Threads that poll ask often.
    pub(crate) fn is_settled(&self) -> bool {
        self.atomics() && !self.is_out_of_scope() || self.is_polled()
    }
}

/// A row of the table.
#[cfg_attr(not(test), expect(dead_code, reason = "for people, and for the tests"))]
struct Rule {
    name: &'static str,
    applies: fn(&Facts) -> bool,
    verdict: Verdict,
    /// The source: a section, and what it says.
    source: &'static str,
    /// A program in `tests` that shows it; if empty, the unit test of the row shows it.
    example: &'static str,
}

/// Makes the table.
macro_rules! rules {
    ($($name:literal: $applies:expr => $verdict:expr, $source:literal, $example:literal;)*) => {
        &[$(Rule { name: $name, applies: $applies, verdict: $verdict, source: $source, example: $example }),*]
    };
}

/// The rules, in order.
const RULES: &[Rule] = rules! {
    "atomics in scope": |f| f.atomics() && !f.is_out_of_scope() => Verdict::Fine,
        "Guide, Atomic Functions: no other thread comes between an atomic's read and its write.",
        "findings/sound/block_scope_atomics.k";
    "polled flag": Facts::is_polled => Verdict::Polled,
        "PTX, Data races: two morally strong accesses are none, whatever their order; waiting for a change is what a flag is for.",
        "findings/sound/grid_barrier_volatile.k";
    "lockstep before Volta": |f| f.is_morally_strong() && f.is_in_warp() && !f.independent_lanes => Verdict::Fine,
        "Guide, Independent Thread Scheduling: before it, all lanes of a warp shared one program counter.",
        "findings/sound/warp_reduce_old_gpu.k";
    "no plain store": |f| f.may_signal() && !f.any(|side| side.op == AccessOp::Store) => Verdict::Fine,
        "PTX, Data races: an atomic and a strong load are morally strong.",
        "";
    "flag looked at once": |f| f.may_signal() && !f.stores() && f.both(|side| side.role.flags) => Verdict::Fine,
        "PTX, Data races: the load of a flag may come before or after the store; the branch allows for both.",
        "findings/sound/glance_at_a_flag.k";
    "store after it was seen": |f| (f.may_signal() || f.may_pass_on()) && f.stores() && f.has_seen => Verdict::Fine,
        "PTX, Coherence: a store that comes after a load of an earlier one's value comes after that one.",
        "findings/faults/ring_of_slots.k";
    "guess of a compare-and-swap": |f| f.any(|side| side.op == AccessOp::Atomic) && f.any(|side| side.role.guesses) => Verdict::Fine,
        "Guide, Atomic Functions: the usual loop begins with a plain load. PTX calls it a race; the compare-and-swap tests the value again.",
        "programs/spin_lock.k";
    "atomic that was acquired": |f| f.earlier.op == AccessOp::Atomic && !f.is_out_of_scope() && f.history.has_acquired => Verdict::Fine,
        "Guide, Memory Fence Functions: the last block resets the counter that all have incremented after their fences.",
        "findings/sound/last_block_volatile.k";
    "flag set to one value": |f| f.may_signal() && f.history.same_value => Verdict::Fine,
        "PTX, Data races: morally strong stores are none, and here no order of them leaves another value.",
        "findings/sound/same_value_blocks.k";
    "exchange between them": Facts::is_exchange_enough => Verdict::Fine,
        "Guide, Warp Shuffle Functions: they promise no memory order. Milder than that: lockstep before Volta, strong accesses, reads.",
        "findings/sound/exchange_with_syncwarp.k";
    "nothing but an exchange": |f| f.exchanged => Verdict::Race(RaceKind::OnlyExchange),
        "Guide, Warp Shuffle Functions: these intrinsics do not imply a memory barrier. They do not guarantee any memory ordering.",
        "findings/faults/shuffle_is_no_fence.k";
    "same value": |f| f.history.same_value => Verdict::Race(RaceKind::SameValue),
        "PTX, Data races: plain stores without order are a race even then; the result is the same, so it is a note.",
        "findings/faults/global_sum.k";
    "lanes of one store": |f| f.group == Group::Instruction => Verdict::Race(RaceKind::OneInstruction),
        "Guide, SIMT Architecture: if lanes store to one place in one instruction, which of them is last is undefined.",
        "findings/faults/max_without_atomic.k";
    "lock without fence": |f| f.history.misses_fence => Verdict::Race(RaceKind::LockWithoutFence),
        "PTX, Release and Acquire Patterns: who takes a lock needs a fence after the atomic.",
        "findings/faults/lock_without_acquire_fence.k";
    "strong, maybe polled": |f| f.may_signal() && !f.stores() => Verdict::Race(RaceKind::UnlessPolled),
        "Guide, volatile qualifier: it promises neither order nor atomicity. A flag that is polled needs no order.",
        "findings/faults/atomic_and_volatile_store.k";
    "volatile lockstep": |f| f.is_in_warp() && f.both(|side| side.volatile) => Verdict::Race(RaceKind::LockstepVolatile),
        "Guide, Independent Thread Scheduling: such code needs `__syncwarp()` since compute capability 7.0.",
        "findings/faults/warp_reduce_volatile.k";
    "plain lockstep": Facts::is_in_warp => Verdict::Race(RaceKind::LockstepPlain),
        "Guide, Synchronization Functions: `__syncwarp()` orders memory among its lanes; lockstep never did for plain accesses.",
        "findings/faults/histogram_plain.k";
    "race": |_| true => Verdict::Race(RaceKind::Unordered),
        "PTX, Data races: conflicting accesses without causality order, not morally strong, are a race.",
        "findings/faults/broadcast_no_barrier.k";
};

/// The first rule that applies. The last one always does.
fn rule(facts: &Facts) -> &'static Rule {
    let mut rules = RULES.iter();
    rules
        .find(|rule| (rule.applies)(facts))
        .unwrap_or(&RULES[RULES.len() - 1])
}

/// The verdict on two unordered accesses.
pub(crate) fn verdict(facts: &Facts) -> Verdict {
    rule(facts).verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Side = Side {
        op: AccessOp::Load,
        volatile: false,
        block_scope: false,
        role: Role {
            polls: false,
            flags: false,
            guesses: false,
            locks: false,
        },
    };
    const STORE: Side = Side {
        op: AccessOp::Store,
        ..LOAD
    };
    const ATOMIC: Side = Side {
        op: AccessOp::Atomic,
        ..LOAD
    };

    fn volatile(side: Side) -> Side {
        Side {
            volatile: true,
            ..side
        }
    }

    fn used(side: Side, role: Role) -> Side {
        Side { role, ..side }
    }

    fn pair(earlier: Side, later: Side, group: Group) -> Facts {
        Facts {
            earlier,
            later,
            group,
            fences: true,
            independent_lanes: true,
            has_seen: false,
            exchanged: false,
            history: History::default(),
        }
    }

    #[track_caller]
    fn holds(name: &str, verdict: Verdict, facts: Facts) {
        let rule = rule(&facts);
        assert_eq!((rule.name, rule.verdict), (name, verdict), "{facts:?}");
    }

    #[test]
    fn atomics_in_scope() {
        let block = Side {
            block_scope: true,
            ..ATOMIC
        };
        holds(
            "atomics in scope",
            Verdict::Fine,
            pair(ATOMIC, ATOMIC, Group::Grid),
        );
        holds(
            "atomics in scope",
            Verdict::Fine,
            pair(block, ATOMIC, Group::Block),
        );
        holds(
            "race",
            Verdict::Race(RaceKind::Unordered),
            pair(block, ATOMIC, Group::Grid),
        );
    }

    #[test]
    fn polled_flag() {
        let polls = used(
            volatile(LOAD),
            Role {
                polls: true,
                ..Role::default()
            },
        );
        let facts = pair(volatile(STORE), polls, Group::Block);
        assert!(facts.is_settled());
        holds("polled flag", Verdict::Polled, facts);
        // The store to a flag must be `volatile`, too.
        holds(
            "race",
            Verdict::Race(RaceKind::Unordered),
            pair(STORE, polls, Group::Block),
        );
    }

    #[test]
    fn lockstep_before_volta() {
        let new = pair(volatile(STORE), volatile(LOAD), Group::Warp);
        let old = Facts {
            independent_lanes: false,
            ..new
        };
        holds("lockstep before Volta", Verdict::Fine, old);
        holds(
            "volatile lockstep",
            Verdict::Race(RaceKind::LockstepVolatile),
            new,
        );
    }

    #[test]
    fn no_plain_store() {
        holds(
            "no plain store",
            Verdict::Fine,
            pair(ATOMIC, volatile(LOAD), Group::Grid),
        );
        holds(
            "race",
            Verdict::Race(RaceKind::Unordered),
            pair(ATOMIC, LOAD, Group::Grid),
        );
    }

    #[test]
    fn flag_looked_at_once() {
        let flags = Role {
            flags: true,
            ..Role::default()
        };
        let (set, seen) = (used(volatile(STORE), flags), used(volatile(LOAD), flags));
        holds(
            "flag looked at once",
            Verdict::Fine,
            pair(set, seen, Group::Grid),
        );
        // Shared memory in a kernel without fences is data.
        let data = Facts {
            fences: false,
            ..pair(set, seen, Group::Block)
        };
        holds("race", Verdict::Race(RaceKind::Unordered), data);
    }

    #[test]
    fn store_after_it_was_seen() {
        let blind = pair(volatile(STORE), volatile(STORE), Group::Grid);
        let seeing = Facts {
            has_seen: true,
            ..blind
        };
        holds("store after it was seen", Verdict::Fine, seeing);
        holds("race", Verdict::Race(RaceKind::Unordered), blind);
        // Lanes of a warp pass a flag on, if they may run separately and the kernel has fences.
        let lanes = Facts {
            has_seen: true,
            ..pair(volatile(STORE), volatile(STORE), Group::Warp)
        };
        holds("store after it was seen", Verdict::Fine, lanes);
    }

    #[test]
    fn guess_of_a_compare_and_swap() {
        let guess = used(
            LOAD,
            Role {
                guesses: true,
                ..Role::default()
            },
        );
        holds(
            "guess of a compare-and-swap",
            Verdict::Fine,
            pair(ATOMIC, guess, Group::Grid),
        );
        holds(
            "race",
            Verdict::Race(RaceKind::Unordered),
            pair(STORE, guess, Group::Grid),
        );
    }

    /// The same pair with another history.
    fn with(facts: Facts, history: History) -> Facts {
        Facts { history, ..facts }
    }

    #[test]
    fn atomic_that_was_acquired() {
        let acquired = History {
            has_acquired: true,
            ..History::default()
        };
        let reset = pair(ATOMIC, STORE, Group::Grid);
        holds(
            "atomic that was acquired",
            Verdict::Fine,
            with(reset, acquired),
        );
        holds("race", Verdict::Race(RaceKind::Unordered), reset);
    }

    const SAME: History = History {
        has_acquired: false,
        misses_fence: false,
        same_value: true,
    };

    #[test]
    fn flag_set_to_one_value() {
        let facts = pair(volatile(STORE), volatile(STORE), Group::Grid);
        holds("flag set to one value", Verdict::Fine, with(facts, SAME));
    }

    #[test]
    fn same_value() {
        let facts = with(pair(STORE, STORE, Group::Instruction), SAME);
        holds("same value", Verdict::Race(RaceKind::SameValue), facts);
    }

    #[test]
    fn lanes_of_one_store() {
        let facts = pair(STORE, STORE, Group::Instruction);
        holds(
            "lanes of one store",
            Verdict::Race(RaceKind::OneInstruction),
            facts,
        );
    }

    #[test]
    fn lock_without_fence() {
        let misses = History {
            misses_fence: true,
            ..History::default()
        };
        let facts = with(pair(STORE, LOAD, Group::Grid), misses);
        holds(
            "lock without fence",
            Verdict::Race(RaceKind::LockWithoutFence),
            facts,
        );
    }

    #[test]
    fn strong_maybe_polled() {
        let unless = Verdict::Race(RaceKind::UnlessPolled);
        let facts = pair(volatile(STORE), volatile(LOAD), Group::Grid);
        holds("strong, maybe polled", unless, facts);
        holds(
            "strong, maybe polled",
            unless,
            pair(ATOMIC, volatile(STORE), Group::Warp),
        );
    }

    #[test]
    fn lockstep() {
        let both = pair(volatile(STORE), volatile(STORE), Group::Warp);
        holds(
            "volatile lockstep",
            Verdict::Race(RaceKind::LockstepVolatile),
            both,
        );
        let one = pair(volatile(STORE), LOAD, Group::Warp);
        holds(
            "plain lockstep",
            Verdict::Race(RaceKind::LockstepPlain),
            one,
        );
    }

    #[test]
    fn exchange() {
        let exchanged = |earlier, later| Facts {
            exchanged: true,
            ..pair(earlier, later, Group::Warp)
        };
        let only = Verdict::Race(RaceKind::OnlyExchange);
        holds("nothing but an exchange", only, exchanged(STORE, LOAD));
        holds("nothing but an exchange", only, exchanged(ATOMIC, LOAD));
        let enough = "exchange between them";
        holds(enough, Verdict::Fine, exchanged(LOAD, STORE));
        let strong = exchanged(volatile(STORE), volatile(LOAD));
        holds(enough, Verdict::Fine, strong);
        let old = Facts {
            independent_lanes: false,
            ..exchanged(STORE, LOAD)
        };
        holds(enough, Verdict::Fine, old);
        holds(enough, Verdict::Fine, with(exchanged(STORE, STORE), SAME));
    }

    #[test]
    fn races() {
        holds(
            "race",
            Verdict::Race(RaceKind::Unordered),
            pair(STORE, LOAD, Group::Block),
        );
    }

    /// Each rule has a source, and an existing program.
    #[test]
    fn rules_name_their_evidence() {
        let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
        for rule in RULES {
            assert!(
                rule.source.contains(", ") && rule.source.contains(": "),
                "{}",
                rule.name
            );
            assert!(tests.join(rule.example).exists(), "{}", rule.name);
        }
    }
}
