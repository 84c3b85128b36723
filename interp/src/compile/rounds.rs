//! Finds loops whose iterations (*rounds*) can run many at a time ([`isa::rounds`](crate::isa::rounds)).
//!
//! One walk over the body, in order, determines for each register whether it is the same in every round, moves by the
//! same distance in every round as the counter does, or holds data. Rounds that run together do only what [`Rounds`]
//! names. A register that they read must therefore have been written by one of these instructions, or not in the loop
//! at all.

use crate::isa::bytecode::{Code, Inst, Place};
use crate::isa::family::form;
use crate::isa::fields::fields;
use crate::isa::op::Op;
use crate::isa::operands::{Effect, Wide, effect, registers};
use crate::isa::rounds::{MOST_LOADS, MOST_SUMS, Numbered, Products, Rounds, Row, Step, Work};
use ir::MemType;

use super::Compiler;
use crate::shortcut::Shortcut;

/// In longer bodies the computation dominates. A product of tiles in registers has 64 sums.
const MOST_INSTS: usize = 192;

impl Compiler<'_> {
    /// Called after the end of a loop: emits what is needed to run many of its rounds together, if that is possible.
    pub(super) fn rounds(&mut self, head: u32, end: u32) {
        if !self.code.shortcuts.has(Shortcut::Rounds) {
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

/// What is known of a register at a place in the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The same in every round.
    Fixed,
    /// Moves by the same distance in every round.
    Moves,
    Data,
}

/// What happens to an instruction when several rounds run together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// It does nothing more: the round before them has done its work.
    Done,
    Step,
    Work,
}

struct Finder<'a> {
    code: &'a Code,
    body: &'a [Inst],
    counter: u32,
    /// Whether its arithmetic can be checked.
    checked: bool,
    /// By instruction: what it reads, and what it writes.
    operands: Vec<(Vec<Wide>, Vec<Wide>)>,
    states: Vec<(Wide, State)>,
    /// By instruction, as far as the walk has come.
    parts: Vec<Part>,
}

/// The loop whose head is the jump at `head`, closed by the instruction at `end`.
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
        parts: Vec::with_capacity(body.len()),
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
        steps: Vec::new(),
        loads: Vec::new(),
        still: Vec::new(),
        work: Vec::new(),
        products: None,
        fixed: Vec::new(),
        tallies: Vec::new(),
        branches: 0,
    };
    for at in 0..body.len() {
        finder.inst(at, (head + 1 + at) as u32, &mut rounds)?;
    }
    let has_sum = rounds.work.iter().any(|work| matches!(work, Work::Sum(_)));
    rounds.products = finder.products(&rounds);
    let agrees = finder.agrees(rounds.products.is_some());
    (has_sum && !rounds.loads.is_empty() && agrees).then_some(rounds)
}

fn scalar(register: u32) -> Wide {
    Wide(Place::S(register), false)
}

/// The registers that an instruction reads and writes; `None` if a body may not have it.
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
        Op::Tally => Some((Vec::new(), Vec::new())),
        // An operation that keeps lanes of its result depends on the round before.
        op if fields(op).is_none_or(|fields| fields.keeps) => None,
        _ => match effect(code, inst, u32::MAX) {
            Effect::Computes(reads, writes) => {
                Some((reads, writes.into_iter().map(|(to, _)| to).collect()))
            }
            Effect::Copies(from, to, _) => Some((vec![Wide(from, false)], vec![Wide(to, false)])),
            Effect::Orders | Effect::BlockFence => None,
        },
    }
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
            // The value comes from the round before.
            None => State::Data,
        }
    }

    /// Whether a register has its value when several rounds begin and keeps it, or is computed for their addresses.
    fn is_at_hand(&self, register: Wide) -> bool {
        match self.state(register) {
            // Only the instruction that computed it may write it.
            State::Fixed => self.writes(register) <= 1,
            State::Moves => true,
            State::Data => false,
        }
    }

    /// Adds an instruction; `None` if the rounds of the loop cannot run together.
    fn inst(&mut self, at: usize, pc: u32, rounds: &mut Rounds) -> Option<()> {
        let inst = self.body[at];
        let (state, part) = match inst.op {
            Op::LoadShared | Op::LoadGlobal => {
                let still = self.load(&inst)?;
                if rounds.loads.len() == MOST_LOADS {
                    return None;
                }
                let number = rounds.loads.len() as u32;
                rounds.work.push(Work::Load(number));
                rounds.steps.push(Step::Load(number));
                rounds.loads.push(inst);
                rounds.still.push(still);
                (State::Data, Part::Work)
            }
            Op::Tally => {
                rounds.branches += u64::from(inst.c);
                let tallies = &self.code.tallies[inst.a as usize..inst.b as usize];
                rounds.tallies.extend(tallies);
                (State::Fixed, Part::Done)
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
                (State::Data, Part::Work)
            }
            Op::SMove | Op::VSplat32 | Op::VMove32
                if self.state(self.operands[at].0[0]) == State::Data =>
            {
                if !self.comes_from_work(self.operands[at].0[0], at) {
                    return None;
                }
                rounds.work.push(match inst.op {
                    Op::VSplat32 => Work::Spread(inst),
                    Op::SMove => Work::Copy(inst),
                    _ => Work::Move(inst),
                });
                (State::Data, Part::Work)
            }
            op => {
                let reads = &self.operands[at].0;
                let moves = reads
                    .iter()
                    .filter(|&&read| self.state(read) == State::Moves);
                let moves = moves.count();
                let at_hand = reads.iter().all(|&read| self.is_at_hand(read));
                let fixed = reads.iter().all(|&read| self.state(read) == State::Fixed);
                let numbered = Numbered { inst, pc };
                match moves {
                    0 if fixed => {
                        if self.checked && form(op).is_some() {
                            if !at_hand {
                                return None;
                            }
                            rounds.fixed.push(numbered);
                        }
                        (State::Fixed, Part::Done)
                    }
                    1.. if at_hand && is_linear(op, moves) => {
                        rounds.steps.push(Step::Moves(numbered));
                        (State::Moves, Part::Step)
                    }
                    _ => return None,
                }
            }
        };
        self.parts.push(part);
        for &to in &self.operands[at].1 {
            self.states.push((to, state));
        }
        Some(())
    }

    /// For a load of words whose addresses move by the same distance in every round: whether its innermost subscript
    /// does not move.
    fn load(&self, inst: &Inst) -> Option<bool> {
        let site = &self.code.sites[inst.c as usize];
        let is_word = matches!(site.access.ty, MemType::F32 | MemType::I32);
        let term = scalar(site.address.term);
        let reads = registers(site, inst, u32::MAX).0;
        let subscript = site.subscripts().into_iter().flatten();
        let is_long = site
            .subscript
            .as_ref()
            .is_some_and(|subscript| subscript.is_long);
        let still = subscript
            .clone()
            .all(|part| self.state(part) == State::Fixed);
        // A subscript that moves is checked in the later rounds.
        let is_known = still || subscript.clone().all(|part| self.is_at_hand(part));
        let is_scalar = |read: Wide| matches!(read.0, Place::S(_));
        let fits = is_word
            && !is_long
            && is_known
            && self.is_at_hand(term)
            && reads.iter().all(|&read| match self.state(read) {
                State::Fixed => true,
                State::Moves => is_scalar(read),
                State::Data => false,
            });
        fits.then_some(still)
    }

    /// Whether a register that the work at a place reads has the same value there as in a single round.
    fn comes_from_work(&self, register: Wide, at: usize) -> bool {
        let writes = |of: &usize| self.operands[*of].1.iter().any(|to| to.overlaps(register));
        if let Some(before) = (0..at).rev().find(writes) {
            return match self.parts[before] {
                Part::Work => true,
                Part::Done => self.writes(register) == 1,
                Part::Step => false,
            };
        }
        // The value is from the round before: all instructions that write it must be sums.
        let all = 0..self.body.len();
        all.filter(writes)
            .all(|of| self.body[of].op == Op::VFmaInto32)
    }

    /// Whether the registers have their values in and after the rounds. If one instruction that writes a register is
    /// already done, no other one may be a step, and only work may be left to the end. Where `products` determine the
    /// final values, work writes no other registers.
    fn agrees(&self, products: bool) -> bool {
        (0..self.body.len()).all(|at| {
            let part = self.parts[at];
            let shares = |with: usize| {
                let to = &self.operands[with].1;
                let mut own = self.operands[at].1.iter();
                own.any(|own| to.iter().any(|to| to.overlaps(*own)))
            };
            let mut before = (0..at).filter(|&of| shares(of));
            let mut behind = at + 1..self.body.len();
            before.all(|of| match (self.parts[of], part) {
                (Part::Done, Part::Step) | (Part::Step, Part::Done) => false,
                // Later work must then overwrite it.
                (Part::Work, Part::Done | Part::Step) => products || behind.any(shares),
                _ => true,
            })
        })
    }

    /// The sums of products of loaded words, if the body does nothing else.
    fn products(&self, rounds: &Rounds) -> Option<Products> {
        let mut products = Products {
            first: Vec::new(),
            words: 0,
            rows: Vec::new(),
            factors: None,
            ends: Vec::new(),
        };
        // By register written so far: the word that it holds.
        let mut held: Vec<(Wide, Option<u32>)> = Vec::new();
        let word_in = |held: &[(Wide, Option<u32>)], register: Wide| {
            let mut held = held.iter().rev();
            held.find(|(known, _)| known.overlaps(register))?.1
        };
        for (at, inst) in self.body.iter().enumerate() {
            let (reads, writes) = &self.operands[at];
            if self.parts[at] != Part::Work {
                held.extend(writes.iter().map(|&to| (to, None)));
                continue;
            }
            match inst.op {
                Op::LoadShared | Op::LoadGlobal => {
                    products.first.push(products.words);
                    let words = products.words..;
                    held.extend(writes.iter().copied().zip(words.map(Some)));
                    products.words += writes.len() as u32;
                }
                Op::VFmaInto32 => {
                    let (one, other) = (word_in(&held, reads[0])?, word_in(&held, reads[1])?);
                    // Another instruction that reads it finds no word there.
                    if self.writes(Wide(Place::V(inst.d), false)) > 1 {
                        return None;
                    }
                    products.add(inst.d, one, other);
                }
                _ => {
                    let word = word_in(&held, reads[0])?;
                    held.push((writes[0], Some(word)));
                }
            }
        }
        for (at, &(register, word)) in held.iter().enumerate() {
            let mut behind = held[at + 1..].iter();
            let is_last = !behind.any(|(other, _)| other.overlaps(register));
            products
                .ends
                .extend(word.filter(|_| is_last).map(|word| (register.0, word)));
        }
        products.factors = products.two_loads(rounds.loads.len());
        Some(products)
    }
}

impl Products {
    /// Adds a sum to the row of its factor.
    fn add(&mut self, sum: u32, one: u32, other: u32) {
        let fits = |row: &&mut Row| row.factor == one && row.sums.len() < MOST_SUMS;
        if let Some(row) = self.rows.last_mut().filter(fits) {
            return row.sums.push((sum, other));
        }
        // In a row with one sum, either operand can be the factor.
        if let Some(row) = self.rows.last_mut()
            && let [(sum_before, word)] = row.sums[..]
            && word == one
        {
            (row.factor, row.sums[0]) = (one, (sum_before, row.factor));
            return row.sums.push((sum, other));
        }
        self.rows.push(Row {
            factor: one,
            sums: vec![(sum, other)],
        });
    }

    /// The two loads of a single sum, if there are no others.
    fn two_loads(&self, loads: usize) -> Option<[u32; 2]> {
        let [row] = &self.rows[..] else { return None };
        let [(_, other)] = row.sums[..] else {
            return None;
        };
        let is_one = loads == 2 && self.words == 2 && row.factor != other;
        // Each loads one word, so words and loads have the same numbers.
        is_one.then_some([row.factor, other])
    }
}

/// Whether the result moves by the same distance in every round if `moving` operands do and the others do not.
fn is_linear(op: Op, moving: usize) -> bool {
    match op {
        Op::SMove | Op::SAdd32 | Op::SAddS32 | Op::SSub32 | Op::SSubS32 => true,
        Op::SMul32 | Op::SMulS32 => moving == 1,
        // Base and index. Whether the index wraps around is checked at run time.
        Op::SPtrS | Op::SPtrU | Op::SPtrL | Op::SPtr32 => moving == 1,
        _ => false,
    }
}
