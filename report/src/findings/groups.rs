//! Groups findings by root cause: findings that one edit would cure are one group.
//!
//! A missing barrier causes as many findings as there are pairs of lines that it does not order. Such findings are one group if they are in
//! one kernel and share an array or a source line. Examples: a reduction without barriers reads what the loading line and the adding line
//! write; a tiled product without its second barrier races in both of its tiles at the line of the product. A barrier that not all threads
//! reach orders nothing, so the races of its kernel belong to its group. Findings of another kind are one group if they have the same kind
//! and kernel and share a line, or the memory and the cure: one index out of bounds may leave both arrays of its statement.

use interp::{Severity, finding::Barrier};
use ir::symbol::template_name;
use ir::{Module, diagnostic::Code};

use super::Found;

/// Limit of calls and macros that are followed for a finding.
const MAX_WAYS: usize = 64;
/// Lines of one inlined function, or of one macro, are at most this far apart.
const NEAR_LINES: u32 = 8;
/// Most cures that a group shows, besides barriers.
const MAX_CURES: usize = 3;

/// Findings of one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Indices into the run's findings: the lead first, then the others in their order.
    pub members: Vec<usize>,
    /// What would cure it, each once.
    pub cures: Vec<String>,
}

impl Group {
    /// The finding that represents the group.
    pub fn lead<'f>(&self, found: &'f [Found]) -> &'f Found {
        &found[self.members[0]]
    }

    /// How often the findings' accesses conflicted, in total.
    pub fn count(&self, found: &[Found]) -> u64 {
        let counts = self.members.iter().map(|&at| found[at].occurrences.count);
        counts.fold(0, u64::saturating_add)
    }

    /// The lines of all accesses, each once, the lead's first.
    pub fn lines(&self, found: &[Found], module: &Module) -> Vec<u32> {
        let mut lines = vec![];
        let sides = self.members.iter().flat_map(|&at| &found[at].sides);
        for side in sides {
            let line = module.loc(side.loc).line;
            if line > 0 && !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The names of the memory it is about, each once.
    pub fn objects<'f>(&self, found: &'f [Found]) -> Vec<&'f str> {
        let mut names = vec![];
        for &at in &self.members {
            let name = found[at]
                .memory
                .object
                .as_ref()
                .map(|(name, _)| name.as_str());
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names
    }
}

/// The groups of the findings that are not in the baseline: the gravest first, else in the order of their first findings.
pub fn groups(found: &[Found], module: &Module) -> Vec<Group> {
    let mut sets: Vec<Vec<usize>> = vec![];
    for (at, new) in found.iter().enumerate().filter(|(_, new)| !new.muted) {
        // The finding may be what two groups have in common.
        let (joined, separate): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| {
            let mut known = set.iter().map(|&known| &found[known]);
            known.any(|known| is_one_cause(known, new, module))
        });
        sets = separate;
        let mut members: Vec<usize> = joined.into_iter().flatten().chain([at]).collect();
        members.sort_unstable();
        sets.push(members);
    }
    sets.sort_by_key(|set| set[0]);
    let mut groups: Vec<Group> = sets.into_iter().map(|set| group(set, found)).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.lead(found).severity));
    groups
}

fn group(mut members: Vec<usize>, found: &[Found]) -> Group {
    // A finding that depends on a warp's lockstep is the weaker half of a race between warps.
    let rank = |&at: &usize| {
        let found = &found[at];
        let kind = match found.code {
            Code::DivergentBarrier => 0,
            Code::WarpSynchronousCode => 2,
            _ => 1,
        };
        (std::cmp::Reverse(found.severity), kind)
    };
    if let Some(lead) = members.iter().copied().min_by_key(rank) {
        members.retain(|&at| at != lead);
        members.insert(0, lead);
    }
    let lead = &found[members[0]];
    let mut cures: Vec<&Found> = vec![];
    for &at in &members {
        // Races after a divergent barrier are gone once all threads reach it.
        let is_lead =
            at == members[0] || wants_barrier(lead) && lead.code != Code::DivergentBarrier;
        let found = &found[at];
        if is_lead
            && found.advice.is_some()
            && !cures.iter().any(|cure| cure.advice == found.advice)
        {
            cures.push(found);
        }
    }
    // A barrier of the block also orders the lanes of a warp.
    if cures
        .iter()
        .any(|cure| cure.barrier == Some(Barrier::Block))
    {
        cures.retain(|cure| cure.barrier != Some(Barrier::Warp));
    }
    let mut texts = vec![];
    let mut places: Vec<(Barrier, Places)> = vec![];
    for cure in cures {
        let missing = cure.missing.as_ref();
        match missing.and_then(|missing| Some((missing.barrier, missing.between()?))) {
            Some((barrier, between)) => {
                match places.iter_mut().find(|(known, _)| *known == barrier) {
                    Some((_, known)) => known.push(between),
                    None => {
                        // Reserves the place of the first barrier.
                        texts.push(String::new());
                        places.push((barrier, vec![between]));
                    }
                }
            }
            // All barriers are needed; of guesses, a few are enough.
            None if cure.missing.is_none() && texts.len() >= MAX_CURES => {}
            None => texts.extend(cure.advice.as_ref().map(|advice| advice.text().to_string())),
        }
    }
    let mut of_places = places
        .iter()
        .map(|(barrier, places)| all_places(*barrier, places));
    for text in texts.iter_mut().filter(|text| text.is_empty()) {
        *text = of_places.next().unwrap_or_default();
    }
    Group {
        members,
        cures: texts,
    }
}

/// Pairs of lines between which a barrier belongs.
type Places = Vec<(u32, u32)>;

/// A barrier at all places where it is missing, except those that another barrier covers.
fn all_places(barrier: Barrier, places: &[(u32, u32)]) -> String {
    let serves = |&(after, before): &(u32, u32), other: &(u32, u32)| {
        (after, before) != *other && other.0 <= after && before <= other.1
    };
    let needed = places
        .iter()
        .filter(|place| !places.iter().any(|other| serves(other, place)));
    let mut needed: Vec<(u32, u32)> = needed.copied().collect();
    needed.sort_unstable();
    let between: Vec<String> = needed
        .iter()
        .map(|(after, before)| format!("line {after} and line {before}"))
        .collect();
    let places = match between.as_slice() {
        [all @ .., last] if !all.is_empty() => {
            format!("{}, and between {last}", all.join(", between "))
        }
        all => all.concat(),
    };
    format!("put `{}` between {places}", barrier.name())
}

fn is_one_cause(a: &Found, b: &Found, module: &Module) -> bool {
    // All leaks at the end have one cause.
    let is_leak = |found: &Found| found.code == Code::MemoryLeak;
    if is_leak(a) || is_leak(b) {
        return is_leak(a) && is_leak(b);
    }
    // A random number generator overflows in each of its lines and wherever a kernel uses it, in a function or a macro.
    let overflows = |found: &Found| found.code == Code::SignedOverflow;
    if overflows(a) && overflows(b) && a.severity == b.severity && shares_way(a, b, module) {
        return true;
    }
    if kernel(a) != kernel(b) {
        return false;
    }
    let (memory, line) = (shares_memory(a, b), shares_line(a, b, module));
    if wants_barrier(a) && wants_barrier(b) {
        let is_barrier = |found: &Found| found.code == Code::DivergentBarrier;
        return memory || line || is_barrier(a) || is_barrier(b);
    }
    // An access may leave one array in several ways.
    let memory = memory && a.advice == b.advice;
    // An access before an array and one after its end each need their own test.
    let line = line && a.kernel.is_some() && a.is_before() == b.is_before();
    a.code == b.code && a.severity == b.severity && (memory || line)
}

/// Without template arguments.
fn kernel(found: &Found) -> Option<&str> {
    found.kernel.as_deref().map(template_name)
}

/// Whether a further barrier, or one that all threads reach, may cure it.
fn wants_barrier(found: &Found) -> bool {
    let shared = found.memory.space.as_deref() == Some("shared");
    match found.code {
        Code::DivergentBarrier => true,
        Code::DataRace | Code::WarpSynchronousCode | Code::UninitializedRead => {
            shared && found.severity > Severity::Note
        }
        _ => false,
    }
}

fn shares_memory(a: &Found, b: &Found) -> bool {
    let name = |found: &Found| found.memory.object.as_ref().map(|(name, _)| name.clone());
    a.memory.space == b.memory.space && name(a).is_some() && name(a) == name(b)
}

/// Whether two findings are at one line, or come through one: a call's, or that of a macro's definition. Nearby lines that both come
/// through others are taken to be in one function.
fn shares_way(a: &Found, b: &Found, module: &Module) -> bool {
    let inlined = |found: &Found| {
        let loc = module.loc(found.sides.first()?.loc);
        loc.via.map(|_| (loc.file, loc.line))
    };
    if let (Some(a), Some(b)) = (inlined(a), inlined(b))
        && a.0 == b.0
        && a.1.abs_diff(b.1) <= NEAR_LINES
    {
        return true;
    }
    let ways = |found: &Found| -> Vec<(u32, u32)> {
        let mut ways = Vec::new();
        for side in &found.sides {
            let mut next = Some(side.loc);
            while let Some(loc) = next.map(|loc| module.loc(loc)) {
                ways.push((loc.file, loc.line));
                next = loc.via.filter(|_| ways.len() < MAX_WAYS);
            }
        }
        ways.retain(|(_, line)| *line > 0);
        ways
    };
    let of_b = ways(b);
    ways(a).iter().any(|way| of_b.contains(way))
}

fn shares_line(a: &Found, b: &Found, module: &Module) -> bool {
    // For memory that was never written, the read is what counts: the value may be used in other places, too.
    let is_unset = |found: &Found| found.code == Code::UninitializedRead;
    let place = |found: &Found| -> Vec<(u32, u32)> {
        let most = if is_unset(found) { 1 } else { usize::MAX };
        let sides = found.sides.iter().take(most);
        let locs = sides.map(|side| module.loc(side.loc));
        locs.filter(|loc| loc.line > 0)
            .map(|loc| (loc.file, loc.line))
            .collect()
    };
    let of_b = place(b);
    place(a).iter().any(|place| of_b.contains(place))
}
