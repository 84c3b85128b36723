//! The sentences of remedies for a race.

use std::fmt;

use crate::fault::finding::{
    Advice,
    remedy::{Barrier, BarrierPlace, Edge, Fence, LostUpdate, MissingBarrier, Remedy, SameHalf},
};

impl Remedy {
    /// The advice in one sentence. A table with one arm per remedy.
    pub(super) fn advice(&self) -> Advice {
        match self {
            Remedy::Atomic(update) => Advice::with_lasting(update.reads_and_writes(), &update.cure()),
            Remedy::Fence {
                fence,
                sign,
                lines,
                is_lock,
            } => {
                let taken = match is_lock {
                    true => format!("put `{}` after the loop that takes the lock, and another", fence.name()),
                    false => format!("put `{}`", fence.name()),
                };
                let without = if *is_lock { "without them" } else { "without it" };
                let what = match sign.is_empty() {
                    true => "the other thread".to_owned(),
                    false => format!("whoever sees `{sign}` change"),
                };
                let place = match lines {
                    (from, to) if from == to => format!("on line {to}, before the flag is set"),
                    (from, to) => format!("between line {from} and line {to}"),
                };
                Advice::with_lasting(
                    format!("{taken} {place}"),
                    &format!(": {without}, {what} may not see the earlier writes yet"),
                )
            }
            Remedy::EarlyFlag {
                fence,
                sign,
                lines: (early, late),
            } => Advice::with_lasting(
                format!(
                    "line {early} changes `{sign}` before line {late} writes what it announces"
                ),
                &format!(": write first, then `{}`, then change `{sign}`", fence.name()),
            ),
            Remedy::WiderFence { lines: (from, to) } => Advice::with_lasting(
                match from == to {
                    true => format!("the fence on line {to} holds for the threads of one block"),
                    false => format!("the fence between line {from} and line {to} holds for the threads of one block"),
                },
                ": the other thread is of another block, so use `__threadfence()`",
            ),
            Remedy::PlainFlag {
                sign,
                lines: (set, wait),
            } => {
                let places = match set == wait {
                    true => format!("line {set} sets and reads"),
                    false => format!("line {set} sets and line {wait} reads"),
                };
                Advice::with_lasting(
                    format!("{places} the flag `{sign}` by ordinary accesses, which order nothing and may be made once for all rounds"),
                    ": declare it `volatile`, or set it with `atomicExch` and read it with `atomicAdd` of 0; `__threadfence()` goes before it is \
                     set and behind the loop that waits for it",
                )
            }
            Remedy::IndexOmits { line, what } => Advice::with_lasting(
                format!("the index of line {line} leaves out `{what}`, so that threads with different ones take the same element"),
                ": let the index contain it, or launch only one of them",
            ),
            Remedy::StrideOfBlock { line } => Advice::with_lasting(
                format!("line {line} goes on by the threads of one block, into elements that another block takes"),
                ": go on by those of all blocks, `blockDim.x * gridDim.x`",
            ),
            Remedy::SameBytes([a, b]) => Advice::with_lasting(
                format!("`{a}` and `{b}` are the same bytes here"),
                ": check where each array begins and how long it is, in bytes and in elements",
            ),
            Remedy::WiderAtomic => Advice::with_lasting(
                "an atomic whose name ends in `_block` is atomic only within its block".to_owned(),
                ": across blocks, use the one without `_block`",
            ),
            Remedy::FenceBehindLock(fence) => Advice::with_lasting(
                format!("put `{}` after the loop that takes the lock", fence.name()),
                ": without it, the data that the lock guards may be read before the lock is held",
            ),
            Remedy::SameHalf(half) => half.advice(),
            Remedy::SharedBits([a, b]) => Advice::with_lasting(
                format!("`{a}` and `{b}` are bit-fields that share bytes, which a store reads and writes"),
                ": make each of them a member without a width, or let one thread set both",
            ),
            Remedy::FenceIsNoBarrier { lines } => Advice::with_lasting(
                "a fence waits for no other thread: it only orders what its own thread does".to_owned(),
                &format!(": {}", end_the_kernel(*lines)),
            ),
            Remedy::OtherSide {
                branch,
                lines,
                barrier,
                in_loops,
            } => other_side(*branch, *lines, *barrier, *in_loops),
            // The remaining arms are guesses.
            Remedy::OneWriter { line, at_once } => {
                let how = if *at_once { " (`if (threadIdx.x == 0)`)" } else { "" };
                format!(
                    "let one thread write at line {line}{how}, give each thread a separate element, or use an atomic"
                )
                .into()
            }
            Remedy::SayWhatIsMeant => {
                "if that is intended, it does no harm; to make it explicit, let one thread write, or use an atomic".into()
            }
            Remedy::Barrier(missing) => missing.to_string().into(),
            Remedy::BarrierOrFence(missing) => format!("{missing}; or, {IF_FLAG}").into(),
            Remedy::CheckFenceOrBarrier(missing) => {
                format!("{}; or {missing}", check(Fence::Block)).into()
            }
            Remedy::OtherLanesMeet { lines: (low, high) } => format!(
                "the synchronisation between line {low} and line {high} does not include these two lanes: let the mask or the tile contain both"
            )
            .into(),
            Remedy::FenceIfFlag => IF_FLAG.into(),
            Remedy::CheckFence => {
                format!("blocks run in any order: {}", check(Fence::Device)).into()
            }
            Remedy::SeparateBlocks => {
                "blocks run in any order, and no barrier waits for another block: use atomics, give each block separate elements, \
                 write the results to a second array, or end the kernel between the two and launch another"
                    .into()
            }
        }
    }
}

/// Ending the kernel is the only barrier between blocks, unless the launch is cooperative.
fn end_the_kernel((low, high): (u32, u32)) -> String {
    let place = match low == high {
        true => format!("in line {low}, between the two accesses,"),
        false => format!("between line {low} and line {high}"),
    };
    format!(
        "end the kernel {place} and launch another for the rest, or launch it cooperatively and put `grid.sync()` there"
    )
}

/// A barrier on one side of a branch waits for threads on the other.
fn other_side(
    branch: u32,
    (earlier, later): (u32, u32),
    barrier: Barrier,
    in_loops: bool,
) -> Advice {
    let name = barrier.name();
    let fact = format!(
        "line {earlier} and line {later} are on different sides of the `if` of line {branch}"
    );
    let cure = match (in_loops, barrier) {
        (true, Barrier::Block) => format!(
            ", which go round at the same time: use a numbered barrier for each part of the array, at which line {earlier} arrives behind it \
             (`bar.arrive`) and line {later} waits before it (`bar.sync`); where parts are used again, a second one the other way"
        ),
        _ => format!(
            ", and no barrier fits between them: end the `if` after one side, put `{name}` behind it, and begin another `if` for the \
             other side"
        ),
    };
    Advice::with_lasting(fact, &cure)
}

impl SameHalf {
    fn advice(&self) -> Advice {
        let SameHalf {
            buffer,
            parts,
            index,
            lines: (writes, reads),
        } = self;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let index = match index.chars().all(is_name) {
            true => index.clone(),
            false => format!("({index})"),
        };
        let (part, other) = match parts {
            2 => ("half", format!("{buffer}[{index} ^ 1]")),
            n => ("part", format!("{buffer}[({index} + 1) % {n}]")),
        };
        Advice::with_lasting(
            format!(
                "line {writes} writes the {part} of `{buffer}` that line {reads} reads in the same round"
            ),
            &format!(": write the other one, `{other}`"),
        )
    }
}

const IF_FLAG: &str =
    "if a lock or a flag orders the two, put `__threadfence()` before it is set or released";

fn check(fence: Fence) -> String {
    format!(
        "make sure that `{}` is between the first access and the atomic or `volatile` store that announces it, and that the \
         other thread waits for that store",
        fence.name()
    )
}

impl LostUpdate {
    fn reads_and_writes(&self) -> String {
        match self.lines {
            (load, store) if load == store => format!("line {store} reads, changes and writes"),
            (load, store) => {
                format!("line {load} reads and line {store} writes a value computed from it")
            }
        }
    }

    fn cure(&self) -> String {
        let cure = match (self.atomic, self.place.strip_prefix('*')) {
            (Some(name), Some(pointer)) => {
                format!("use an atomic, as in `{name}({}, …)`", pointer.trim())
            }
            (Some(name), None) => format!("use an atomic, as in `{name}(&{}, …)`", self.place),
            (None, _) => "use an atomic, or a loop around `atomicCAS`".to_owned(),
        };
        format!(
            ": threads that do so at one address lose updates, and a barrier between the two does not help; {cure}"
        )
    }
}

impl fmt::Display for MissingBarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place(f)?;
        if let Some((after, head)) = self.again {
            let barrier = self.barrier.name();
            write!(
                f,
                "; and put `{barrier}` after {after}, before the loop comes back to line {head}"
            )?;
        }
        match self.fenced {
            true => f.write_str(": the fence there waits for no other thread"),
            false => Ok(()),
        }
    }
}

impl MissingBarrier {
    fn place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let barrier = self.barrier.name();
        let branch = match self.place {
            BarrierPlace::NextRound {
                after: Edge::Line(after),
                head,
            } if after == head => {
                return write!(
                    f,
                    "put `{barrier}` at the end of the loop's body in line {head}"
                );
            }
            BarrierPlace::NextRound { after, head } => {
                return write!(
                    f,
                    "put `{barrier}` after {after}, before the loop comes back to line {head}"
                );
            }
            BarrierPlace::WithinLine { line, outside } => {
                write!(
                    f,
                    "put `{barrier}` between the two accesses of line {line}: read into a variable first, write after the barrier"
                )?;
                outside
            }
            BarrierPlace::BehindTest {
                test,
                change,
                outside,
            } => {
                write!(
                    f,
                    "line {test} tests what line {change} changes: read it into a variable first, put `{barrier}` behind that, and test \
                     the variable"
                )?;
                outside
            }
            BarrierPlace::Between {
                after: Edge::Line(after),
                before: Edge::Line(before),
                outside,
            } => {
                write!(f, "put `{barrier}` between line {after} and line {before}")?;
                outside
            }
            BarrierPlace::Between {
                after,
                before,
                outside,
            } if after.line() == before.line() => {
                write!(f, "put `{barrier}` behind {after}, in the same line")?;
                outside
            }
            BarrierPlace::Between {
                after,
                before,
                outside,
            } => {
                write!(f, "put `{barrier}` after {after}, before {before}")?;
                outside
            }
        };
        match (branch, self.round) {
            (Some(line), Some(round)) => write!(
                f,
                ", outside of the `if` of line {line}, which not all threads enter: let all threads go round the loop of line {round}, and put \
                 what is before and behind the barrier into an `if` each"
            ),
            (Some(line), None) => write!(
                f,
                ", outside of the `if` of line {line}, which not all threads enter: close the `if` before the barrier and open it again after it"
            ),
            (None, _) => Ok(()),
        }
    }
}

impl Edge {
    fn line(self) -> u32 {
        match self {
            Edge::Line(line) | Edge::Loop(line) | Edge::If(line) => line,
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edge::Line(line) => write!(f, "line {line}"),
            Edge::Loop(line) => write!(f, "the loop of line {line}"),
            Edge::If(line) => write!(f, "the `if` of line {line}"),
        }
    }
}
