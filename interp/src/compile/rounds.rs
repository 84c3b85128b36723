//! Finds loops of which many rounds can run at once ([`isa::rounds`](crate::isa::rounds)).
//!
//! One walk over the body, in order, tells of each register whether it is the same in every round, moves by the same distance every
//! round as the counter does, or holds data. The rounds that run at once do only what [`Rounds`] names, so a register that it
//! reads must have been written by what it names, or by nothing in the loop.

use crate::isa::bytecode::{Code, Inst, Place};
use crate::isa::flow::{Flow, flow};
use crate::isa::op::Op;
use crate::isa::operands::{Effect, Wide, effect, registers};
use crate::isa::rounds::{MOST_LOADS, Numbered, Rounds, Work};
use dsl::ir::MemType;

use super::Compiler;

/// Longer bodies take their time in what they compute.
const MOST_INSTS: usize = 24;

impl Compiler<'_> {
    /// Behind the end of a loop: what has to be known to run many of its rounds at once, if that can be done.
    pub(super) fn rounds(&mut self, head: u32, end: u32) {
        #[cfg(test)]
        if crate::tests::ONE_BY_ONE.get() {
            return;
        }
        let Some(rounds) = find(&self.code, head as usize, end as usize, self.checked) else {
            return;
        };
        let row = self.code.rounds.len() as u32;
        self.code.rounds.push(rounds);
        self.emit(Op::Rounds, 0, row, 0, 0);
    }
}

/// What is known of a register at a place of the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The same in every round.
    Fixed,
    /// Moves by the same distance every round.
    Moves,
    Data,
}

struct Finder<'a> {
    code: &'a Code,
    body: &'a [Inst],
    counter: u32,
    /// Its arithmetic can be checked.
    checked: bool,
    /// By instruction: what it reads, and what it writes.
    operands: Vec<(Vec<Wide>, Vec<Wide>)>,
    states: Vec<(Wide, State)>,
    /// By instruction: it is part of the work.
    works: Vec<bool>,
}

/// The loop whose head is the jump at `head`, and which the instruction at `end` closes.
fn find(code: &Code, head: usize, end: usize, checked: bool) -> Option<Rounds> {
    let (jump, step, body) = (
        &code.insts[head],
        &code.insts[end],
        &code.insts[head + 1..end],
    );
    if body.len() > MOST_INSTS || step.a != step.d {
        return None;
    }
    let mut operands = Vec::with_capacity(body.len());
    for inst in body {
        operands.push(operands_of(code, inst)?);
    }
    let mut finder = Finder {
        code,
        body,
        counter: step.d,
        checked,
        operands,
        states: Vec::new(),
        works: vec![false; body.len()],
    };
    let limit = match (jump.a == step.d, jump.c == step.d) {
        (true, false) => jump.c,
        (false, true) => jump.a,
        _ => return None,
    };
    if [step.d, step.c, limit]
        .into_iter()
        .any(|s| finder.writes(scalar(s)) > 0)
    {
        return None;
    }
    let mut rounds = Rounds {
        moving: Vec::new(),
        loads: Vec::new(),
        work: Vec::new(),
        factors: None,
        fixed: Vec::new(),
    };
    for at in 0..body.len() {
        finder.inst(at, (head + 1 + at) as u32, &mut rounds)?;
    }
    rounds.factors = factors(code, &rounds);
    let has_sum = rounds.work.iter().any(|work| matches!(work, Work::Sum(_)));
    (has_sum && !rounds.loads.is_empty() && finder.leaves_what_it_should()).then_some(rounds)
}

/// The two loads whose products are summed up, if there is no other work.
fn factors(code: &Code, rounds: &Rounds) -> Option<[u32; 2]> {
    let (last, before) = rounds.work.split_last()?;
    let Work::Sum(sum) = last else { return None };
    let site = |load: u32| &code.sites[rounds.loads[load as usize].c as usize];
    // Where a register comes from that holds what a load gave, in every lane or in each its own.
    let load_of = |register: u32| {
        before
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, work)| match work {
                Work::Load(load) if !site(*load).uniform_values => {
                    (site(*load).values[0] == register).then_some(*load)
                }
                Work::Spread(spread) if spread.d == register => {
                    let loads = before[..at].iter().rev();
                    let mut loads = loads.filter_map(|work| match work {
                        Work::Load(load) if site(*load).uniform_values => Some(*load),
                        _ => None,
                    });
                    loads.find(|&load| site(load).values[0] == spread.a)
                }
                _ => None,
            })
    };
    let is_sum = |work: &Work| matches!(work, Work::Sum(_));
    if before.iter().any(is_sum) || rounds.loads.len() != 2 {
        return None;
    }
    let factors = [load_of(sum.a)?, load_of(sum.b)?];
    (factors[0] != factors[1]).then_some(factors)
}

fn scalar(register: u32) -> Wide {
    Wide(Place::S(register), false)
}

/// What an instruction reads and writes; `None` if it is none that a body may have.
fn operands_of(code: &Code, inst: &Inst) -> Option<(Vec<Wide>, Vec<Wide>)> {
    let varying = |register| Wide(Place::V(register), false);
    match inst.op {
        Op::VFmaInto32 => {
            let reads = [inst.a, inst.b, inst.d].map(varying);
            Some((reads.to_vec(), vec![varying(inst.d)]))
        }
        Op::LoadShared | Op::LoadGlobal => {
            let (reads, writes) = registers(&code.sites[inst.c as usize], inst, u32::MAX);
            Some((reads, writes.into_iter().map(|(to, _)| to).collect()))
        }
        op if flow(op) == Flow::Other && !is_plain(op) => None,
        _ => match effect(code, inst, u32::MAX) {
            Effect::Computes(reads, writes) => {
                Some((reads, writes.into_iter().map(|(to, _)| to).collect()))
            }
            Effect::Copies(from, to, _) => Some((vec![Wide(from, false)], vec![Wide(to, false)])),
            Effect::Orders | Effect::BlockFence => None,
        },
    }
}

/// Whether an operation that is none of the table's does no more than to compute its result, in all lanes.
fn is_plain(op: Op) -> bool {
    matches!(
        op,
        Op::SMove
            | Op::VMove32
            | Op::VMove64
            | Op::VSplat32
            | Op::VSplat64
            | Op::SPtrS
            | Op::SPtrU
            | Op::SPtrL
            | Op::SPtr32
            | Op::VPtrVS
            | Op::VPtrVU
            | Op::VPtrVL
            | Op::VPtr32V
            | Op::VPtrSS
            | Op::VPtrSU
            | Op::VPtr32S
    )
}

impl Finder<'_> {
    /// How many instructions of the body write to a register.
    fn writes(&self, register: Wide) -> usize {
        let writes = |(_, to): &&(Vec<Wide>, Vec<Wide>)| to.iter().any(|to| to.overlaps(register));
        self.operands.iter().filter(writes).count()
    }

    fn state(&self, register: Wide) -> State {
        let known = self.states.iter().rev();
        match known.clone().find(|(known, _)| known.overlaps(register)) {
            Some((_, state)) => *state,
            None if register.0 == Place::S(self.counter) => State::Moves,
            None if self.writes(register) == 0 => State::Fixed,
            // It comes from the round before.
            None => State::Data,
        }
    }

    /// Whether a register still has its value of the last round when several rounds begin, and keeps it.
    fn stays(&self, register: Wide) -> bool {
        match self.state(register) {
            State::Fixed => self.writes(register) == 0,
            State::Moves => self.writes(register) <= 1,
            State::Data => false,
        }
    }

    /// Adds an instruction; `None` if the loop cannot run so.
    fn inst(&mut self, at: usize, pc: u32, rounds: &mut Rounds) -> Option<()> {
        let inst = self.body[at];
        let state = match inst.op {
            Op::LoadShared | Op::LoadGlobal => {
                self.load(&inst)?;
                if rounds.loads.len() == MOST_LOADS {
                    return None;
                }
                rounds.work.push(Work::Load(rounds.loads.len() as u32));
                rounds.loads.push(inst);
                self.works[at] = true;
                State::Data
            }
            Op::VFmaInto32 => {
                let reads = &self.operands[at].0;
                if !reads
                    .iter()
                    .all(|&register| self.comes_from_work(register, at))
                {
                    return None;
                }
                rounds.work.push(Work::Sum(inst));
                self.works[at] = true;
                State::Data
            }
            Op::VSplat32 if self.state(self.operands[at].0[0]) == State::Data => {
                if !self.comes_from_work(self.operands[at].0[0], at) {
                    return None;
                }
                rounds.work.push(Work::Spread(inst));
                self.works[at] = true;
                State::Data
            }
            op => {
                let reads = &self.operands[at].0;
                let moves = reads
                    .iter()
                    .filter(|&&read| self.state(read) == State::Moves);
                let (moves, stay) = (moves.count(), reads.iter().all(|&read| self.stays(read)));
                let fixed = reads.iter().all(|&read| self.state(read) == State::Fixed);
                let moving = Numbered { inst, pc };
                match moves {
                    0 if fixed => {
                        if self.checked && flow(op) != Flow::Other {
                            if !stay {
                                return None;
                            }
                            rounds.fixed.push(moving);
                        }
                        State::Fixed
                    }
                    1.. if stay && is_linear(op, moves) && self.writes(scalar(inst.d)) == 1 => {
                        rounds.moving.push(moving);
                        State::Moves
                    }
                    _ => return None,
                }
            }
        };
        for &to in &self.operands[at].1.clone() {
            self.states.push((to, state));
        }
        Some(())
    }

    /// A load of words whose addresses move by the same distance every round.
    fn load(&self, inst: &Inst) -> Option<()> {
        let site = &self.code.sites[inst.c as usize];
        let is_word = matches!(site.access.ty, MemType::F32 | MemType::I32);
        let one = is_word && site.access.count == 1;
        let term = scalar(site.address.term);
        let reads = registers(site, inst, u32::MAX).0;
        let subscript = site.subscript.as_ref();
        let at_hand = subscript.is_none_or(|subscript| {
            let varying = subscript.varying.map(|at| Wide(Place::V(at), false));
            let uniform = subscript.uniform.map(scalar);
            let mut parts = varying.into_iter().chain(uniform);
            !subscript.is_long && parts.all(|part| self.stays(part))
        });
        let fits = one
            && !site.access.volatile
            && at_hand
            && self.stays(term)
            && reads.iter().all(|&read| match read.0 {
                // What moves must be at hand; what does not has done its part.
                Place::S(_) if self.state(read) == State::Moves => self.stays(read),
                _ => self.state(read) == State::Fixed,
            });
        fits.then_some(())
    }

    /// Whether a register that the work at a place reads has what it has in a round by itself.
    fn comes_from_work(&self, register: Wide, at: usize) -> bool {
        let writes = |of: &usize| self.operands[*of].1.iter().any(|to| to.overlaps(register));
        if let Some(before) = (0..at).rev().find(writes) {
            return self.works[before];
        }
        // From the round before: all that writes to it must be a sum.
        let all = 0..self.body.len();
        all.filter(writes)
            .all(|of| self.body[of].op == Op::VFmaInto32)
    }

    /// Whether the registers hold behind the last round what they should: what is left out leaves nothing that the work overwrites.
    fn leaves_what_it_should(&self) -> bool {
        (0..self.body.len()).all(|at| {
            let is_last = |to: &Wide| {
                let behind = at + 1..self.body.len();
                let later = |of: usize| self.operands[of].1.iter().any(|later| later.overlaps(*to));
                !behind.into_iter().any(later)
            };
            let earlier = |to: &Wide| {
                let writes = |of: usize| self.operands[of].1.iter().any(|of| of.overlaps(*to));
                (0..at).any(|of| self.works[of] && writes(of))
            };
            let to = &self.operands[at].1;
            self.works[at] || !to.iter().any(|to| is_last(to) && earlier(to))
        })
    }
}

/// Whether the result moves by the same distance every round if so many of the operands do, and the others stay.
fn is_linear(op: Op, moving: usize) -> bool {
    match op {
        Op::SMove | Op::SAdd32 | Op::SAddS32 | Op::SSub32 | Op::SSubS32 => true,
        Op::SMul32 | Op::SMulS32 => moving == 1,
        // Base and index; whether the index wraps around is seen when it runs.
        Op::SPtrS | Op::SPtrU | Op::SPtrL | Op::SPtr32 => moving == 1,
        _ => false,
    }
}
