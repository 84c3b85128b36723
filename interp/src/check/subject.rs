//! What the checks know of a launch before it begins.

use super::arithmetic;
use crate::config::{Check, Checks};
use crate::isa::bytecode::Code;
use crate::isa::grid::Shape;
use crate::memory::Memory;
use crate::memory::defined::Defined;
use crate::memory::map::GlobalMap;
use crate::race::subject::Subject as RaceSubject;
use crate::rules::Arch;

/// What the checks need to know about a launch.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) races: RaceSubject<'a>,
    /// By region: what was written before the launch, if not everything was.
    pub(super) defined: Vec<Option<&'a Defined>>,
    /// By region: whether the effects of the launch on it are tracked.
    pub(super) tracked: Vec<bool>,
    /// By region: whether it is tracked and never written by the kernel, so that only the bytes read have to be
    /// recorded.
    pub(super) only_read: Vec<bool>,
    /// By instruction: a division or shift that is always valid, or is not checked.
    pub(super) safe: Vec<bool>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(
        checks: Checks,
        arch: Arch,
        code: &'a Code,
        shape: &'a Shape<'a>,
        (map, memory): (&'a GlobalMap, &'a Memory),
        mut written: Vec<bool>,
    ) -> Subject<'a> {
        let tracked = map.regions.iter().map(|region| memory.tracks(region.base));
        let tracked: Vec<bool> = tracked.collect();
        let both = tracked.iter().zip(&written);
        let only_read: Vec<bool> = both
            .map(|(tracked, written)| *tracked && !written)
            .collect();
        // A region that is only read has no conflicts, but its reads have to be recorded.
        for (written, tracked) in written.iter_mut().zip(&tracked) {
            *written |= tracked;
        }
        let defined = map.regions.iter().map(|region| {
            let found = memory.region(region.base)?;
            let known = found.base == region.base && region.size > 0;
            (known && !matches!(found.defined, Defined::All)).then_some(&found.defined)
        });
        let races = RaceSubject::new(
            checks,
            arch.has_independent_lanes(),
            code,
            shape,
            map,
            written,
        );
        Subject {
            tracked,
            only_read: match races.quick {
                true => only_read,
                false => vec![false; only_read.len()],
            },
            races,
            defined: defined.collect(),
            safe: arithmetic::safe(code, checks.has(Check::Arithmetic)),
        }
    }

    /// The same for a part of a launch: its reads are compared with what other parts do.
    pub(crate) fn of_part(mut self) -> Subject<'a> {
        self.races.is_part = true;
        self.only_read.fill(false);
        self
    }

    /// Whether uninitialised values are tracked.
    pub(super) fn unset(&self) -> bool {
        self.races.unset()
    }
}
