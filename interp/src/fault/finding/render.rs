//! The sentences of findings.

mod remedy;

use ir::Space;

use crate::fault::index_text;

use super::{
    Advice, Depends, Ending, Fact, Finding, FindingAccess, FindingOp, MissingWrite, RACE, RaceKind,
    Use, is_description,
};

impl Finding {
    /// What happened, in one sentence.
    pub fn message(&self) -> String {
        match self.fact {
            Fact::Race {
                kind, out_of_scope, ..
            } => self.race(kind, out_of_scope),
            Fact::InvalidMask {
                mask,
                elsewhere,
                line,
            } => self.invalid_mask(mask, elsewhere, line),
            Fact::ReadOnlyWritten { is_ldg, line } => self.read_only_written(is_ldg, line),
            Fact::VariableEnded { line } => format!(
                "use after end of lifetime: line {line} {}s `{}`, a variable of a block or function that has ended, {}",
                self.accesses[0].op,
                self.variable(),
                self.by()
            ),
            Fact::Subscript {
                ref text,
                line,
                index,
                len,
                is_member,
            } => {
                let (which, of, what) = match is_member {
                    true => ("index", "array", "what follows the array"),
                    false => ("last index", "dimension", "an element of another row"),
                };
                format!(
                    "out of bounds: the {which} of `{text}` at line {line} is {index}, but that {of} has {len} elements: the access reaches {what}, {}",
                    self.by()
                )
            }
            Fact::Operand {
                is_shift,
                operands: (a, b),
                line,
            } => match is_shift {
                true => format!(
                    "shift out of range: {a} is shifted by {b} bits at line {line}, {}",
                    self.by()
                ),
                false => format!(
                    "division by zero: {a} is divided by 0 at line {line}, {}",
                    self.by()
                ),
            },
            Fact::Overflow {
                op,
                operands: (a, b),
                is_wide,
                line,
                ..
            } => {
                let sum = match op {
                    Some(op) if b < 0 => format!("{a} {op} ({b})"),
                    Some(op) => format!("{a} {op} {b}"),
                    None => format!("-({a})"),
                };
                let bits = if is_wide { 64 } else { 32 };
                format!(
                    "signed overflow: {sum} has more than {bits} bits at line {line}, {}",
                    self.by()
                )
            }
            Fact::Uninitialized {
                used,
                line,
                from,
                absent,
                ..
            } => self.uninitialized(used, line, from, absent),
            Fact::DivergentBarrier { lines } => self.divergent_barrier(lines),
            Fact::ResultDepends {
                ends, difference, ..
            } => self.depends(ends, difference),
            Fact::ScheduleDependent { ends, .. } => self.schedule_dependent(ends),
        }
    }

    fn invalid_mask(&self, mask: u32, elsewhere: u32, line: u32) -> String {
        let why = match (elsewhere.count_ones(), elsewhere.trailing_zeros()) {
            (0, _) => format!(
                "does not include its caller, lane {}",
                self.accesses[0].lane
            ),
            (1, first) => format!("includes lane {first}, which does not arrive"),
            (count, first) => {
                format!("includes {count} lanes from lane {first} on, which do not arrive")
            }
        };
        let who = thread(&self.accesses[0]);
        format!(
            "invalid mask: {mask:#010x} at line {line} {why}; {who} waits for lanes that never arrive"
        )
    }

    fn read_only_written(&self, is_ldg: bool, line: u32) -> String {
        let how = match is_ldg {
            true => "`__ldg`",
            false => "a `const … __restrict__` pointer",
        };
        format!(
            "{} is read through {how} at line {line}, which promises that nothing writes it while the kernel runs, but this launch \
             writes it: whether the load sees the new value is undefined",
            self.name()
        )
    }

    fn divergent_barrier(&self, [waits, other]: [u32; 2]) -> String {
        let [a, b] = [0, 1].map(|index| thread(&self.accesses[index]));
        let what = match self.accesses[1].op {
            FindingOp::Barrier => format!("{b} waits at another barrier, at line {other}"),
            _ => format!("{b} has ended without reaching it"),
        };
        let block = index_text(self.accesses[0].block);
        format!("divergent barrier: {a} waits at line {waits} in block {block}, and {what}")
    }

    /// The element or word that ends differently.
    fn ending(&self, ends: [Ending; 2]) -> String {
        let Some(object) = &self.object else {
            return "memory".to_owned();
        };
        let name = &object.name;
        match ends[0].ty {
            Some(_) if object.index.is_empty() && is_description(name) => {
                format!("element 0 of {name}")
            }
            Some(_) if object.index.is_empty() => name.clone(),
            Some(_) => format!(
                "element {} of {name}",
                object.index.trim_matches(['[', ']'])
            ),
            None => format!("the word at byte {} of {name}", object.offset_bytes & !3),
        }
    }

    fn depends(&self, ends: [Ending; 2], difference: Depends) -> String {
        // Rounding differences occur only in floats.
        let [usual, other] = ends.map(|end| match (difference, end.ty) {
            (Depends::Rounding, None) => f32::from_bits(end.word).to_string(),
            _ => end.to_string(),
        });
        let what = match difference {
            Depends::Values => "the result depends on the schedule",
            Depends::Places => "where elements end up depends on the schedule",
            Depends::Rounding => "a sum's last digits depend on the schedule",
        };
        format!(
            "{what}: {} ends as {usual} in the usual order, and as {other} in another one",
            self.ending(ends)
        )
    }

    fn schedule_dependent(&self, ends: [Ending; 2]) -> String {
        let what = match self.accesses[0].op {
            FindingOp::Atomic => "what this atomic returns",
            _ => "what this load reads",
        };
        let [ascending, descending] = ends;
        format!(
            "the result depends on the order of blocks and warps: {} ends as {ascending} when the first ones run first, and as {descending} when \
             the last ones do; {what} depends on it",
            self.ending(ends)
        )
    }

    /// What to do, in one sentence.
    pub fn advice(&self) -> Option<Advice> {
        let advice = match &self.fact {
            Fact::Race { remedy, .. } => return Some(remedy.advice()),
            Fact::InvalidMask { elsewhere: 0, .. } => {
                "name every lane that reaches the call, also the one that makes it: `0xffffffff` where all do"
            }
            Fact::InvalidMask { .. } => {
                "move the call to a point that every lane of the mask reaches, or mask only the lanes that reach it: compute the mask with \
                 `__ballot_sync` before the branch"
            }
            Fact::ReadOnlyWritten { is_ldg: true, .. } => {
                "read it with a plain load, or write to other memory"
            }
            Fact::ReadOnlyWritten { .. } => "remove `__restrict__`, or pass two different buffers",
            Fact::VariableEnded { .. } => {
                let fact = format!(
                    "a pointer to `{}` is invalid once its block has ended",
                    self.variable()
                );
                let rest = ": declare the variable in an outer block, or return its value";
                return Some(Advice::with_lasting(fact, rest));
            }
            Fact::Subscript { len, is_member, .. } => {
                let why = match is_member {
                    true => ": beyond them lies the next member",
                    false => "; to treat the array as one row, use a pointer to its first element",
                };
                let fact = format!("valid indices are 0 to {}", len - 1);
                return Some(Advice::with_lasting(fact, why));
            }
            Fact::Operand { is_shift: true, .. } => {
                "the count must be at least 0 and less than the width in bits; test it first"
            }
            Fact::Operand { .. } => {
                "test the divisor first: on the device, the program continues with a meaningless value"
            }
            Fact::Overflow { is_mixed: true, .. } => {
                "compute in an unsigned type, whose overflow is defined: a compiler may assume that signed arithmetic does not overflow, and \
                 give other bits than these"
            }
            Fact::Overflow { is_wide: false, .. } => {
                "compute in `long long`, or in `unsigned` if it is meant to wrap: a compiler may assume that signed arithmetic does not overflow"
            }
            Fact::Overflow { .. } => {
                "compute in `unsigned long long` if it is meant to wrap: a compiler may assume that signed arithmetic does not overflow"
            }
            Fact::Uninitialized {
                absent, missing, ..
            } => return Some(self.how_to_set(*absent, missing.as_ref()).into()),
            Fact::DivergentBarrier { .. } => match self.accesses[1].op {
                FindingOp::Barrier => {
                    "let all threads of the block reach the same barrier: move it out of the branch"
                }
                _ => "move the barrier to a point that every thread in the block reaches",
            },
            Fact::ResultDepends { schedule, .. }
                if schedule.lates.iter().any(|late| late.after.is_some())
                    && schedule.lates.iter().all(|late| late.despite.is_none()) =>
            {
                "the accesses of a thread to different words are done in any order, unless fences order them: put a `__threadfence()` between \
                 what has to be done first and what others see of it"
            }
            Fact::ResultDepends { schedule, .. }
                if schedule
                    .lates
                    .iter()
                    .any(|late| late.op == FindingOp::Atomic && late.after.is_none()) =>
            {
                "an atomic is one access only for threads that its scope reaches, and only beside other atomics: use the one without `_block`, and \
                 atomics for all accesses to that word"
            }
            Fact::ResultDepends { schedule, .. } if !schedule.lates.is_empty() => {
                "other threads see stores late and in any order, unless fences order them: put a `__threadfence()` between the store of the \
                 data and that of the flag, and another between the load of the flag and that of the data"
            }
            Fact::ResultDepends {
                difference: Depends::Values,
                ..
            } => {
                "other threads may come between two accesses of a thread: make them one atomic operation, hold a lock around both, or let an \
                 index decide instead of who comes first"
            }
            Fact::ResultDepends {
                difference: Depends::Rounding,
                ..
            } => "if the digits matter, add in a fixed order: a tree over indices",
            Fact::ResultDepends { .. } | Fact::ScheduleDependent { .. } => {
                "if the order of a list does not matter, ignore this; otherwise let an index decide, not which thread arrives first"
            }
        };
        Some(advice.into())
    }

    fn race(&self, kind: RaceKind, out_of_scope: bool) -> String {
        let [a, b] = [&self.accesses[0], &self.accesses[1]];
        let name = self.name();
        let (who, and) = (thread(a), thread(b));
        let blocks = match a.block == b.block {
            true => format!("in block {}", index_text(a.block)),
            false => format!(
                "in blocks {} and {}",
                index_text(a.block),
                index_text(b.block)
            ),
        };
        let what = format!("{who} {} and {and} {} {name} {blocks}", did(a), did(b));
        match kind {
            RaceKind::Unordered | RaceKind::UnlessPolled | RaceKind::LockWithoutFence => {
                let why = if out_of_scope {
                    "an atomic of block scope is not atomic for other blocks"
                } else if kind == RaceKind::LockWithoutFence {
                    "no fence follows where the lock between them is taken"
                } else if a.volatile && b.volatile {
                    "nothing orders them: `volatile` does not"
                } else {
                    "nothing orders them"
                };
                format!("{RACE}{what}, and {why}")
            }
            RaceKind::OneInstruction => {
                format!("{RACE}{who} and {and} write different values to {name} at once, {blocks}")
            }
            RaceKind::SameValue => format!(
                "{who} and {and} write the same value to {name} {blocks}, and nothing orders them"
            ),
            RaceKind::OnlyExchange => format!(
                "race within a warp: {what}; the shuffle or vote between them orders no memory"
            ),
            RaceKind::LockstepVolatile | RaceKind::LockstepPlain => {
                format!("race within a warp: {what}; since sm_70 nothing orders them")
            }
        }
    }

    fn uninitialized(&self, used: Use, line: u32, from: u32, absent: Option<u32>) -> String {
        let is_shared_atomic =
            self.space == Some(Space::Shared) && self.accesses[0].op == FindingOp::Atomic;
        let what = match used {
            Use::Branch => format!("decides a branch at line {line}"),
            Use::Address => format!("is part of an address at line {line}"),
            Use::Stored if is_shared_atomic => {
                format!("is the initial value of the atomic at line {line}")
            }
            Use::Stored => format!("is stored to global memory at line {line}"),
            Use::Printed => format!("is printed at line {line}"),
            Use::Argument => format!("is an argument of the call at line {line}"),
        };
        let who = by(&self.accesses[1]);
        match absent {
            None => format!(
                "uninitialized: {} has no value when line {from} reads it; what it holds {what}, {who}",
                self.name()
            ),
            Some(lane) => format!(
                "undefined: lane {lane} reads a value at line {from} from a lane that does not take part; the value {what}, {who}"
            ),
        }
    }

    fn how_to_set(&self, absent: Option<u32>, missing: Option<&MissingWrite>) -> String {
        let part = match missing {
            Some(MissingWrite::CopiedUnset { call, line, from }) => {
                return format!(
                    "the {call} at line {line} copied bytes of {from} that nothing had written: write them first"
                );
            }
            Some(MissingWrite::PartWritten { setter, size, line }) => {
                setter.part_written(*size, *line)
            }
            Some(MissingWrite::OwnArray) => Some(format!(
                "each thread has its own {0}, and writes only elements of its index: if the threads of the block are to share it, declare it \
                 `__shared__`",
                self.variable_in_quotes()
            )),
            Some(MissingWrite::NoMember { byte }) => Some(format!(
                "no store to a member of {0} goes to its byte {byte}, and padding has no value: use the members one by one, or clear all of {0} \
                 first with `memset`",
                self.variable_in_quotes()
            )),
            Some(MissingWrite::NoThread { threads }) => Some(format!(
                "a block of {threads} threads has no thread in the last lanes of its last warp: launch a multiple of 32 threads, or use the value \
                 only where the lane that is read has a thread"
            )),
            Some(MissingWrite::NotNamed) => Some(
                "no branch is around the shuffle: let its mask name all lanes that are read, or use the value only where its lane takes part"
                    .to_owned(),
            ),
            Some(MissingWrite::OwnCopy { variable }) => Some(format!(
                "`{variable}` is a copy that each thread has for itself, and the threads of the block have to share it: make it a reference \
                 (`auto &{variable}`)"
            )),
            None => None,
        };
        if let Some(part) = part {
            return part;
        }
        let otherwise = match self.space {
            None if absent.is_some() => {
                "let every lane that is read take part: move the shuffle out of the branch and let its mask name them all, or use the value \
                 only where its lane takes part"
            }
            None => return format!("initialise {} where it is declared", self.name()),
            Some(Space::Shared) => {
                "write it before the barrier at which the reader waits: shared memory is not initialised"
            }
            Some(Space::Local) => {
                return format!("initialise `{}` where it is declared", self.variable());
            }
            Some(_) => {
                "write it first, with cudaMemset, with cudaMemcpy or in a kernel: cudaMalloc does not clear memory"
            }
        };
        otherwise.to_owned()
    }

    /// The memory, in a sentence.
    fn name(&self) -> String {
        self.object
            .as_ref()
            .map(super::FindingObject::described)
            .unwrap_or_default()
    }

    fn variable_in_quotes(&self) -> String {
        format!("`{}`", self.variable())
    }

    fn variable(&self) -> &str {
        self.object.as_ref().map_or("", |object| &object.name)
    }

    fn by(&self) -> String {
        by(&self.accesses[0])
    }
}

fn did(access: &FindingAccess) -> &'static str {
    match access.op {
        FindingOp::Read => "reads",
        FindingOp::Atomic => "updates atomically",
        _ => "writes",
    }
}

fn by(access: &FindingAccess) -> String {
    format!(
        "by {} of block {}",
        thread(access),
        index_text(access.block)
    )
}

fn thread(access: &FindingAccess) -> String {
    format!("thread {}", index_text(access.thread))
}
