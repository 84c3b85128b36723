//! Hands out registers and takes them back. Varying registers come in runs of one or two units.

/// The free registers of one file.
#[derive(Debug, Default)]
pub(super) struct Pool {
    next: u32,
    free_one: Vec<u32>,
    free_two: Vec<u32>,
}

impl Pool {
    pub(super) fn new(first: u32) -> Pool {
        Pool {
            next: first,
            ..Pool::default()
        }
    }

    /// The same free registers; new ones from that number on.
    pub(super) fn going_on_at(self, next: u32) -> Pool {
        Pool { next, ..self }
    }

    /// A register of `units` units.
    pub(super) fn take(&mut self, units: u32) -> u32 {
        let free = if units == 2 {
            &mut self.free_two
        } else {
            &mut self.free_one
        };
        if let Some(register) = free.pop() {
            return register;
        }
        self.reserve(units)
    }

    /// A register that was never used and never will be for anything else: for what is set before the code runs.
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

    /// How many units there are in all.
    pub(super) fn len(&self) -> u32 {
        self.next
    }
}
