//! `--count-only`: handles results of launches that were only counted, when the program needs them.
//!
//! Compiled code cannot be followed, so it never gets a number that was not computed. A copy to the host runs the launches that should have
//! computed the copied bytes. If that takes too long or is no longer possible, the process ends there, with its report.
//! were to compute what it copies. If that takes too long, or cannot be done any more, the process ends there, with its report.

use interp::{NotComputed, Uncomputed};
use runtime::host::sentence;

use crate::{exit::end_counted, launch::print, state::State};

impl State {
    /// Called before the host gets these bytes of the device.
    pub(crate) fn compute(&mut self, address: u64, bytes: u64) {
        self.show_managed();
        if let Err(why) = self.try_compute(address, bytes) {
            self.end_uncomputed("copies", &why);
        }
    }

    /// Called before bytes are copied on the device. Bytes that were not computed stay so in the copy.
    pub(crate) fn compute_if_quick(&mut self, address: u64, bytes: u64) {
        let _ = self.try_compute(address, bytes);
    }

    fn try_compute(&mut self, address: u64, bytes: u64) -> Result<(), Uncomputed> {
        let Some(index) = self.current() else {
            return Ok(());
        };
        let State {
            device,
            memory,
            modules,
            ..
        } = self;
        match modules[index].loaded_mut() {
            Some(loaded) if device.counts_only() => {
                device.compute(&loaded.program, memory, (address, bytes), &mut print)
            }
            _ => Ok(()),
        }
    }

    /// Called before memory gets another module's variables: runs launches of this module now, if that does not take long.
    pub(crate) fn settle(&mut self, index: usize) {
        let State {
            device,
            memory,
            modules,
            ..
        } = self;
        if let Some(loaded) = modules[index].loaded_mut() {
            device.settle(&loaded.program, memory, &mut print);
        }
    }

    /// Called before the host may read managed and pinned memory.
    pub(crate) fn show_managed(&mut self) {
        if let Some(why) = self.device.unseen(&self.memory) {
            self.end_uncomputed("may read", &why);
        }
    }

    fn end_uncomputed(&mut self, does: &str, why: &Uncomputed) -> ! {
        let sentence = format!(
            "the program ends here: it {does} {why}. The launches before are counted; to run them, leave out --count-only"
        );
        end_counted(self, &sentence)
    }

    /// Ends the process because a launch can neither be counted nor run.
    pub(crate) fn end_not_computed(&mut self, module: usize, why: &NotComputed) -> ! {
        let is_alone = self.modules.len() == 1;
        let module = self.loaded(module).program.module().clone();
        let line = |loc| match module.loc(loc).line {
            0 => String::new(),
            line => format!("line {line}"),
        };
        let needed = match line(why.needed_at) {
            at if is_alone && !at.is_empty() => format!("the launch at {at}"),
            _ => "an earlier launch".to_owned(),
        };
        end_counted(self, &sentence(why, &needed, line))
    }
}
