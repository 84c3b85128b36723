//! Explains where a program cannot continue under `--count-only`: it would use results of launches that were only counted.

use interp::{HostUnset, HostUse, NotComputed};
use ir::LocId;

use super::Host;

/// Why a program ends at a launch that can neither be counted nor run. `needed` is the launch whose results it needs, `place` names places.
pub fn sentence(why: &NotComputed, needed: &str, place: impl Fn(LocId) -> String) -> String {
    let cause = match &why.why {
        Some(why) => format!("is not counted ({})", why.text(place)),
        None => "decides by what it reads".to_owned(),
    };
    format!(
        "the program ends here: the launch of `{}` {cause}, and needs what {needed} was to compute, which --count-only left out; {}. \
         The launches before are counted",
        why.kernel,
        why.changed.text()
    )
}

impl Host<'_> {
    /// Reports that `main` is about to use a result that was not computed.
    pub(super) fn say_halted(&mut self, unset: &HostUnset) {
        let launch = unset.source.awaits().unwrap_or_default();
        let text = format!(
            "the program ends here: a result of the launch at line {} {}, and --count-only did not compute it. The launches before \
             are counted; to run them, leave out --count-only",
            self.line_of(launch),
            self.describe_use(unset)
        );
        self.say(unset.used, text, false);
    }

    /// Reports that a launch can neither be counted nor run.
    pub(super) fn say_not_computed(&mut self, why: &NotComputed) {
        let needed = format!("the launch at line {}", self.line_of(why.needed_at));
        let text = sentence(why, &needed, |loc| self.place_of(loc));
        self.say(why.at, text, false);
    }

    /// `line 7`, `steps.h:7` of an included file.
    fn place_of(&self, loc: LocId) -> String {
        let module = self.program.module();
        let at = module.loc(loc);
        match (at.line, module.files.get(at.file as usize)) {
            (0, _) => String::new(),
            (line, Some(file)) if *file != module.name => format!("{file}:{line}"),
            (line, _) => format!("line {line}"),
        }
    }

    /// Reports that printed results were not computed.
    pub(super) fn say_printed(&mut self, found: &[HostUnset]) {
        let printed = found
            .iter()
            .find(|unset| unset.what == HostUse::Printed && unset.source.awaits().is_some());
        if let Some(unset) = printed {
            let launch = unset.source.awaits().unwrap_or_default();
            let text = format!(
                "the program prints results of the launch at line {}, which --count-only did not compute: these numbers mean nothing",
                self.line_of(launch)
            );
            let at: LocId = unset.used;
            self.say(at, text, false);
        }
    }
}
