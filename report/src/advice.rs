//! Describes what a warp does at a place that wastes, and what may help.
//!
//! A fact is computed from one witness, the site's first request of the highest cost. A thought is advice in words: its saving is not
//! counted, so it promises nothing. Cures with numbers are [`Suggestion`](crate::Suggestion)s.

mod branch;
mod code;
mod global;
mod shared;
mod written;

use std::fmt;

use interp::{LaunchReport, Site, mask::LaneMask, report::Witness, trap::AccessOp};
use ir::{Module, SharedVar, Space};
use serde::{Serialize, Serializer};

use super::Input;
use code::Joined;

pub(crate) use branch::of_branch;

/// Advice on one access or branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    /// What happens.
    pub(crate) fact: String,
    /// What may help.
    pub(crate) thought: Option<Thought>,
}

/// What may help: the best proposal, then alternatives, with the words that join the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thought {
    best: String,
    other: String,
}

impl Thought {
    fn with_other(best: &str, other: impl Into<String>) -> Thought {
        Thought {
            best: best.to_string(),
            other: other.into(),
        }
    }

    /// The best proposal.
    pub fn best(&self) -> &str {
        &self.best
    }
}

impl<T: Into<String>> From<T> for Thought {
    fn from(best: T) -> Thought {
        Thought {
            best: best.into(),
            other: String::new(),
        }
    }
}

impl fmt::Display for Thought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.best, self.other)
    }
}

impl Serialize for Thought {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Advice {
    pub(crate) fn new(fact: impl Into<String>, thought: impl Into<Thought>) -> Advice {
        Advice {
            fact: fact.into(),
            thought: Some(thought.into()),
        }
    }
}

/// Advice on a site that wastes more than one transaction or sector; `None` if there is nothing to say.
pub(crate) fn of_site(site: &Site, launch: &LaunchReport, input: &Input<'_>) -> Option<Advice> {
    let counts = &site.counts;
    match site.space {
        Space::Shared if counts.transactions > counts.ideal + 1 => {
            shared::advice(site, site.witness.as_deref()?, launch, input)
        }
        Space::Global if counts.sectors > counts.ideal_sectors + 1 => {
            global::advice(site, site.witness.as_deref()?, launch, input)
        }
        Space::Constant if counts.transactions > counts.ideal + 1 => Some(constant(site)),
        _ => None,
    }
}

/// The shared array that a site's worst request accesses.
pub fn shared_var<'m>(
    site: &Site,
    launch: &LaunchReport,
    module: &'m Module,
) -> Option<&'m SharedVar> {
    if site.space != Space::Shared {
        return None;
    }
    shared::var_of(site.witness.as_deref()?, launch, module)
}

/// The numbers of elements by which the rows of a shared array may be widened, judged by the worst request of each access to it in a
/// launch. Only pads that lower the cost, the best first.
pub fn pads(var: &SharedVar, launch: &LaunchReport, input: &Input<'_>) -> Vec<u64> {
    match var.dims[..] {
        [.., _, columns] if !var.dynamic => shared::pads(var, columns.max(1), launch, input),
        _ => vec![],
    }
}

fn constant(site: &Site) -> Advice {
    Advice::new(
        format!(
            "the lanes of a warp read up to {} different words of constant memory, which are served one after another (a rule of the \
             programming guide, not measured)",
            site.counts.max_degree
        ),
        "constant memory is for words that all lanes read at once: keep this table in global memory (`const T *__restrict__`) or copy it \
         to shared memory",
    )
}

/// For lanes that each need the value before their own.
const TICKETS: &str = "let one lane update for all lanes of the warp that want the address, and give each of them the old value (`__shfl_sync`) \
     with what those before it add";

/// For lanes that each look for a free place.
const CLAIMS: &str = "only one thread gets a place: read it first (`volatile`), and swap only where it may still be free";

/// The loop of a reduction whose active threads stay side by side, for any number of threads.
fn halving(name: &str, joined: Joined) -> String {
    let step = match joined {
        Joined::Sum => format!("{name}[t] += {name}[t + h]"),
        Joined::Other => format!("{name}[t] = f({name}[t], {name}[t + h])"),
    };
    format!(
        "`for (int n = blockDim.x, h; n > 1; n = h) {{ h = (n + 1) / 2; if (t < n / 2) {step}; __syncthreads(); }}`"
    )
}

/// How a block copies structs so that neighbouring threads access neighbouring words.
const WORD_BY_WORD: &str = "word by word, neighbouring threads neighbouring words: `((int *)to)[i] = ((const int *)from)[i]`, `i` from \
     `threadIdx.x` in steps of `blockDim.x`";

fn verb(op: AccessOp) -> &'static str {
    match op {
        AccessOp::Load => "read",
        AccessOp::Store => "write",
        AccessOp::Atomic => "update",
    }
}

/// `lanes 0-31`, `every 4th lane from 0 to 28`.
fn lanes(mask: LaneMask) -> String {
    let all: Vec<usize> = mask.lanes().collect();
    match all.as_slice() {
        [] => "no lanes".to_string(),
        [one] => format!("lane {one}"),
        [first, .., last] if last - first + 1 == all.len() => format!("lanes {first}-{last}"),
        [first, second, .., last]
            if all
                .windows(2)
                .all(|pair| pair[1] - pair[0] == second - first) =>
        {
            format!(
                "every {} lane from {first} to {last}",
                ordinal(second - first)
            )
        }
        _ => format!("{} lanes", all.len()),
    }
}

fn ordinal(n: usize) -> String {
    match n {
        2 => "second".to_string(),
        3 => "third".to_string(),
        _ => format!("{n}th"),
    }
}

/// The number of different values among the lanes.
fn distinct<T: Ord>(mask: LaneMask, of: impl Fn(usize) -> T) -> usize {
    let mut all: Vec<T> = mask.lanes().map(of).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// The distance that most pairs of neighbouring lanes have, and whether all pairs have it (in blocks that are 16 threads wide, one pair
/// differs). Negative where addresses fall.
fn step(mask: LaneMask, witness: &Witness) -> Option<(i64, bool)> {
    let lanes: Vec<usize> = mask.lanes().collect();
    let steps: Vec<i64> = lanes
        .windows(2)
        .map(|pair| {
            let distance =
                witness.addresses[pair[1]].wrapping_sub(witness.addresses[pair[0]]) as i64;
            distance / (pair[1] - pair[0]) as i64
        })
        .collect();
    let having = |step: i64| steps.iter().filter(|&&other| other == step).count();
    let usual = steps.iter().copied().max_by_key(|&step| having(step))?;
    let is_usual = 4 * having(usual) >= 3 * steps.len();
    is_usual.then_some((usual, having(usual) == steps.len()))
}
