//! Turns drafts into a list: removes unused results, and assigns registers to values.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Constant, Draft, Moved, Operand, Planner};
use crate::isa::bytecode::Inst;
use crate::isa::fields::{Field, fields};
use crate::isa::op::Op;
use crate::isa::registers::{Registers, Unit};
use crate::machine::replay::{EntryOrigin, List};
use crate::machine::{Record, Totals};

/// The registers of a list. Constants and values that depend on the block index keep their registers. The registers of
/// values that depend on data are reused after the last use, so that they stay in the CPU's first-level cache.
struct Files {
    registers: Registers,
    numbers: HashMap<Operand, u32>,
    constants: HashMap<Constant, u32>,
    /// Free registers: of one unit, and the first of two.
    narrow: Vec<u32>,
    wide: Vec<u32>,
}

impl Files {
    fn new() -> Files {
        Files {
            // The block index and its multiprocessor.
            registers: Registers::new(0, 4),
            numbers: (0..4).map(|n| (Operand::Value(n), n)).collect(),
            constants: HashMap::new(),
            narrow: Vec::new(),
            wide: Vec::new(),
        }
    }

    fn scalar(&mut self, bits: u64) -> u32 {
        self.registers.s.push(bits);
        self.registers.s.len() as u32 - 1
    }

    fn units(&mut self, units: &[Unit]) -> u32 {
        let first = self.registers.v.len() as u32;
        self.registers.v.extend_from_slice(units);
        first
    }

    /// Assigns a register to a value.
    fn take(&mut self, planner: &Planner<'_>, operand: Operand) {
        let Operand::Value(value) = operand else {
            return;
        };
        if self.numbers.contains_key(&operand) {
            return;
        }
        let number = match planner.values[value as usize].field {
            Field::Scalar | Field::Other => self.scalar(0),
            Field::Narrow => match self.narrow.pop() {
                Some(number) => number,
                None => self.units(&[Unit([0; 32])]),
            },
            Field::Wide => match self.wide.pop() {
                Some(number) => number,
                None => self.units(&[Unit([0; 32]); 2]),
            },
        };
        self.numbers.insert(operand, number);
    }

    /// Frees the register of a value after its last use.
    fn give_back(&mut self, planner: &Planner<'_>, operand: Operand) {
        let Operand::Value(value) = operand else {
            return;
        };
        let value = &planner.values[value as usize];
        if !value.is_late {
            return;
        }
        match (value.field, self.numbers.remove(&operand)) {
            (Field::Narrow, Some(number)) => self.narrow.push(number),
            (Field::Wide, Some(number)) => self.wide.push(number),
            _ => {}
        }
    }

    fn number(&mut self, planner: &Planner<'_>, operand: Operand) -> u32 {
        match operand {
            Operand::Raw(number) => number,
            Operand::Value(_) => self.numbers[&operand],
            Operand::Constant(at) => {
                let constant = &planner.constants[at as usize];
                if let Some(&number) = self.constants.get(constant) {
                    return number;
                }
                let number = match constant {
                    Constant::Scalar(bits) => self.scalar(*bits),
                    Constant::Narrow(lanes) => self.units(&[Unit(*lanes)]),
                    Constant::Wide(lanes) => {
                        let number = self.units(&[Unit([0; 32]); 2]);
                        *self.registers.view().v64_mut(number) = *lanes;
                        number
                    }
                };
                self.constants.insert(constant.clone(), number);
                number
            }
        }
    }

    fn inst(&mut self, planner: &Planner<'_>, draft: &Draft) -> Inst {
        Inst {
            op: draft.op,
            weight: 0,
            d: self.number(planner, draft.d),
            a: self.number(planner, draft.a),
            b: self.number(planner, draft.b),
            c: self.number(planner, draft.c),
        }
    }
}

impl List {
    /// Gives each pattern a version that differs from all others of the worker. The versions of sites count from 1.
    pub(in crate::machine::replay) fn number_patterns(&mut self, count: &mut u32) {
        for (_, pattern) in &mut self.patterns {
            *count += 1;
            pattern.version = u32::MAX - *count;
        }
    }
}

impl Planner<'_> {
    /// The request of an instruction.
    fn request(&self, draft: &Draft) -> Option<&Moved> {
        let Operand::Raw(at) = draft.a else {
            return None;
        };
        match draft.op {
            Op::ReplayTest | Op::ReplayLoad | Op::ReplayStore => Some(&self.reaches[at as usize].1),
            Op::ReplayLoadWindow | Op::ReplayStoreWindow => Some(&self.windows[at as usize].1),
            _ => None,
        }
    }

    /// The results of an instruction.
    fn gives(&self, draft: &Draft) -> Vec<Operand> {
        let loads = matches!(draft.op, Op::ReplayLoad | Op::ReplayLoadWindow);
        let mut all = match self.request(draft).filter(|_| loads) {
            Some(moved) => moved.values.clone(),
            None => vec![draft.d],
        };
        all.retain(|operand| matches!(operand, Operand::Value(_)));
        all
    }

    /// The operands of an instruction.
    fn takes(&self, draft: &Draft) -> Vec<Operand> {
        let mut all = vec![draft.a, draft.b, draft.c];
        if fields(draft.op).is_some_and(|fields| fields.keeps) {
            all.push(draft.d);
        }
        if let Some(moved) = self.request(draft) {
            let address = moved.address.iter().chain(&moved.subscript);
            all.extend(address.chain([&moved.term]).flatten());
            if matches!(draft.op, Op::ReplayStore | Op::ReplayStoreWindow) {
                all.extend(&moved.values);
            }
        }
        all.retain(|operand| matches!(operand, Operand::Value(_)));
        all
    }

    /// Removes instructions without effect whose results are unused.
    fn drop_unused(&self, early: &mut Vec<Draft>, late: &mut Vec<Draft>) {
        let mut needed = vec![false; self.values.len()];
        for list in [late, early] {
            let mut kept = Vec::new();
            for draft in list.iter().rev() {
                let gives = self.gives(draft);
                let is_wanted = |operand: &Operand| match operand {
                    Operand::Value(value) => needed[*value as usize],
                    Operand::Raw(_) | Operand::Constant(_) => false,
                };
                let acts = matches!(draft.op, Op::ReplayLoad) || gives.is_empty();
                if acts || draft.is_risky || gives.iter().any(is_wanted) {
                    for operand in self.takes(draft) {
                        if let Operand::Value(value) = operand {
                            needed[value as usize] = true;
                        }
                    }
                    kept.push(*draft);
                }
            }
            kept.reverse();
            *list = kept;
        }
    }

    /// Puts register numbers into the request of an instruction.
    fn place(&mut self, files: &mut Files, draft: &Draft) {
        let Operand::Raw(at) = draft.a else {
            return;
        };
        let at = at as usize;
        match draft.op {
            Op::ReplayTest => {
                let moved = std::mem::take(&mut self.reaches[at].1);
                let [a, b] = moved
                    .address
                    .map(|operand| operand.map_or(0, |operand| files.number(self, operand)));
                let term = moved.term.map_or(0, |operand| files.number(self, operand));
                let [varying, uniform] = moved
                    .subscript
                    .map(|operand| operand.map(|operand| files.number(self, operand)));
                let (reach, kept) = &mut self.reaches[at];
                *kept = moved;
                (reach.inst.a, reach.inst.b) = (a, b);
                reach.site.address.term = term;
                if let Some(subscript) = &mut reach.site.subscript {
                    (subscript.varying, subscript.uniform) = (varying, uniform);
                }
            }
            Op::ReplayLoad | Op::ReplayStore => {
                let values = self.reaches[at].1.values.clone();
                for (k, operand) in values.into_iter().enumerate() {
                    self.reaches[at].0.site.values[k] = files.number(self, operand);
                }
            }
            Op::ReplayLoadWindow | Op::ReplayStoreWindow => {
                let values = self.windows[at].1.values.clone();
                for (k, operand) in values.into_iter().enumerate() {
                    self.windows[at].0.site.values[k] = files.number(self, operand);
                }
            }
            _ => {}
        }
    }

    /// The list of a block with these counts.
    pub(in crate::machine::replay) fn finish(mut self, totals: Totals, record: Record) -> List {
        let mut early = std::mem::take(&mut self.early);
        let mut late = std::mem::take(&mut self.late);
        self.drop_unused(&mut early, &mut late);
        let mut files = Files::new();
        let mut insts = Vec::with_capacity(early.len() + late.len() + 2);
        let mut whence = Vec::with_capacity(insts.capacity());
        for draft in &early {
            for operand in self.gives(draft) {
                files.take(&self, operand);
            }
            self.place(&mut files, draft);
            insts.push(files.inst(&self, draft));
            whence.push(draft.whence);
        }
        insts.push(files.inst(&self, &Draft::new(Op::ReplayBegin, EntryOrigin::default())));
        whence.push(EntryOrigin::default());
        let mut last = HashMap::new();
        for (at, draft) in late.iter().enumerate() {
            for operand in self.takes(draft).into_iter().chain(self.gives(draft)) {
                last.insert(operand, at);
            }
        }
        for (at, draft) in late.iter().enumerate() {
            for operand in self.gives(draft) {
                files.take(&self, operand);
            }
            self.place(&mut files, draft);
            insts.push(files.inst(&self, draft));
            whence.push(draft.whence);
            for operand in self.takes(draft).into_iter().chain(self.gives(draft)) {
                if last.get(&operand) == Some(&at) {
                    last.remove(&operand);
                    files.give_back(&self, operand);
                }
            }
        }
        insts.push(files.inst(&self, &Draft::new(Op::ReplayEnd, EntryOrigin::default())));
        whence.push(EntryOrigin::default());
        List {
            insts,
            whence,
            registers: files.registers,
            reaches: self.reaches.into_iter().map(|(reach, _)| reach).collect(),
            patterns: self.patterns,
            windows: self.windows.into_iter().map(|(window, _)| window).collect(),
            layouts: self.layouts.into_iter().map(|(_, layout)| layout).collect(),
            totals,
            record: Arc::new(record),
            costs: self.costs,
            blocks: 0,
            is_witnessed: false,
        }
    }
}
