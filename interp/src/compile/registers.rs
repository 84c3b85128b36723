//! The register allocator: hands out registers and takes them back. Varying registers come in runs of one or two units.

use crate::isa::bytecode::{S_FREE, V_FREE};

/// The free registers of a function or routine.
pub(super) struct Allocator {
    pub(super) scalars: Pool,
    /// Units of varying registers.
    pub(super) units: Pool,
}

impl Allocator {
    /// All registers except those that every kernel reserves.
    pub(super) fn new() -> Allocator {
        Allocator {
            scalars: Pool::new(S_FREE),
            units: Pool::new(V_FREE),
        }
    }

    /// The same for a host function, whose second form repeats instructions.
    pub(super) fn of_host() -> Allocator {
        let mut allocator = Allocator::new();
        allocator.scalars.slack = 12;
        allocator
    }

    /// An allocator without any register that this one has handed out, for a routine.
    pub(super) fn behind(&self) -> Allocator {
        Allocator {
            scalars: Pool::new(self.scalars.len()),
            units: Pool::new(self.units.len()),
        }
    }

    /// The same free registers. New ones come after those of the routine.
    pub(super) fn going_on_behind(self, routine: &Allocator) -> Allocator {
        Allocator {
            scalars: self.scalars.going_on_at(routine.scalars.len()),
            units: self.units.going_on_at(routine.units.len()),
        }
    }
}

/// The free registers of one file.
#[derive(Debug, Default)]
pub(super) struct Pool {
    next: u32,
    free_one: Vec<u32>,
    free_two: Vec<u32>,
    /// How many free registers stay unused; of more, the one that has been free longest is next. A value can then be
    /// recomputed later into the same register, because nothing else has been put there.
    slack: usize,
}

impl Pool {
    fn new(first: u32) -> Pool {
        Pool {
            next: first,
            ..Pool::default()
        }
    }

    /// The same free registers. New ones start at that number.
    fn going_on_at(self, next: u32) -> Pool {
        Pool { next, ..self }
    }

    /// A register of `units` units.
    pub(super) fn take(&mut self, units: u32) -> u32 {
        let free = if units == 2 {
            &mut self.free_two
        } else {
            &mut self.free_one
        };
        if self.slack > 0 && units == 1 {
            if free.len() > self.slack {
                return free.remove(0);
            }
        } else if let Some(register) = free.pop() {
            return register;
        }
        self.reserve(units)
    }

    /// A register that is never used for anything else, for values that are set before the code runs.
    pub(super) fn reserve(&mut self, units: u32) -> u32 {
        let register = self.next;
        self.next += units;
        register
    }

    /// Takes a register back.
    pub(super) fn give(&mut self, register: u32, units: u32) {
        if units == 2 {
            self.free_two.push(register)
        } else {
            self.free_one.push(register)
        }
    }

    /// The registers from `first` on that are in use.
    pub(super) fn taken(&self, first: u32) -> Vec<u32> {
        let free = |register: &u32| self.free_one.contains(register);
        (first..self.next).filter(|at| !free(at)).collect()
    }

    /// The total number of units.
    pub(super) fn len(&self) -> u32 {
        self.next
    }
}
