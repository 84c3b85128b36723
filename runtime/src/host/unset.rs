//! Reports uses of uninitialised memory by the host, in words. The host's thread finds them. The runtime tells the thread what calls read,
//! and memory tells how bytes got to their place.

use interp::{
    AddressKind, Finding, FindingKind, FindingOp, HostThread, HostUnset, HostUse, LaunchReport,
    Severity, UnsetSource,
    memory::unset::{Setter, UnsetMemory},
};
use ir::{FuncId, HostFn, LocId, Node, diagnostic::Code};

use super::{Host, HostFinding, HostSide, names};

/// State that is kept between calls.
#[derive(Debug, Default)]
pub(super) struct Unset {
    /// Whether the check is on.
    pub(super) follows: bool,
    /// The variable that receives the current call's pointer.
    pub(super) pointer: Option<String>,
    /// The bytes that the current call reads: address, length, how, and the place.
    looks: Vec<(u64, u64, HostUse, LocId)>,
    /// The copies of the current call: destination and source.
    copies: Vec<(u64, u64, Setter)>,
}

impl Host<'_> {
    /// Notes that the call reads bytes.
    pub(super) fn looks_at(&mut self, address: u64, len: u64, what: HostUse, loc: LocId) {
        if self.unset.follows && len > 0 && !self.memory.is_set(address, len) {
            self.unset.looks.push((address, len, what, loc));
        }
    }

    /// Notes that the call reads a string and its end, at most `most` bytes.
    pub(super) fn looks_at_string(&mut self, address: u64, most: usize, what: HostUse, loc: LocId) {
        if !self.unset.follows {
            return;
        }
        if let Ok(text) = self.memory.c_string_within(address, most) {
            let len = text.len() + usize::from(text.len() < most);
            let len = len as u64;
            self.looks_at(address, len, what, loc);
        }
    }

    /// Finds the variable to which an allocating call writes the pointer.
    pub(super) fn name_pointer(&mut self, thread: &HostThread, function: HostFn, args: &[u64]) {
        let gives = matches!(
            function,
            HostFn::CudaMalloc
                | HostFn::CudaMallocAsync
                | HostFn::CudaMallocManaged
                | HostFn::CudaMallocHost
        );
        self.unset.pointer = match args.first() {
            Some(&address) if gives => thread
                .pointer_at(self.program, &self.memory, address)
                .filter(|name| !name.starts_with("__")),
            _ => None,
        };
    }

    /// Notes that a call wrote bytes, or copied them from somewhere.
    pub(super) fn set_by(
        &mut self,
        call: &'static str,
        to: u64,
        from: Option<u64>,
        bytes: u64,
        loc: LocId,
    ) {
        if !self.unset.follows || bytes == 0 {
            return;
        }
        let call = self.names.get(&loc).copied().unwrap_or(call);
        let setter = Setter { call, loc, bytes };
        match from {
            Some(from) => self.unset.copies.push((to, from, setter)),
            None => self.memory.note_set(to, setter),
        }
    }

    /// Passes the reads and copies of the call on to the thread.
    pub(super) fn pass_on_looks(&mut self, thread: &mut HostThread) {
        for (address, len, what, loc) in std::mem::take(&mut self.unset.looks) {
            thread.looked_at(self.program, &self.memory, loc, (address, len), what);
        }
        for (to, from, setter) in std::mem::take(&mut self.unset.copies) {
            thread.copied(self.program, &mut self.memory, (to, from), setter);
        }
    }

    /// Whether a launch or a call did not do what it should, so that results may be missing.
    pub(super) fn went_wrong(&mut self) -> bool {
        let outcome = &self.outcome;
        let stops = |finding: &Finding| {
            use FindingKind::{BarrierDivergence, Deadlock, Misaligned};
            use FindingKind::{NullPointer, OutOfBounds, UseAfterFree};
            let kinds = [
                BarrierDivergence,
                Deadlock,
                Misaligned,
                NullPointer,
                OutOfBounds,
                UseAfterFree,
            ];
            finding.is_error() && kinds.contains(&finding.kind)
        };
        let stopped =
            |launch: &LaunchReport| !launch.skipped.is_empty() || launch.findings.iter().any(stops);
        let mut launches = outcome.launches.kept().iter();
        !outcome.faults.is_empty()
            || outcome.notes.iter().any(|note| note.is_error)
            || launches.any(|kept| stopped(&kept.report))
    }

    /// Reports what the thread found, in words.
    pub(super) fn report_unset(&mut self, thread: &mut HostThread) {
        if self.device.counts_only() {
            return self.say_printed(&thread.take_unset());
        }
        for unset in thread.take_unset() {
            let finding = self.describe_unset(&unset);
            let places = |finding: &HostFinding| {
                let places = finding.sides.iter().map(|side| side.loc);
                (places.collect::<Vec<_>>(), finding.object.clone())
            };
            let mut known = self.outcome.findings.iter_mut();
            match known.find(|known| places(known) == places(&finding)) {
                Some(known) => known.count += finding.count,
                None => self.outcome.findings.push(finding),
            }
        }
    }

    pub(super) fn line_of(&self, loc: LocId) -> u32 {
        self.program.module().loc(loc).line
    }

    fn describe_unset(&self, unset: &HostUnset) -> HostFinding {
        let mut others = Vec::new();
        let (message, advice, object) = match &unset.source {
            UnsetSource::Variable(name) => {
                let (read, matters) = (self.line_of(unset.read), self.describe_use(unset));
                (
                    format!(
                        "uninitialized: `{name}` has no value when line {read} reads it; the value {matters}"
                    ),
                    format!("initialise `{name}` where it is declared"),
                    (name.clone(), String::new()),
                )
            }
            UnsetSource::Memory(memory) => self.describe_unset_memory(unset, memory, &mut others),
        };
        HostFinding {
            code: Code::UninitializedRead,
            kind: FindingKind::Uninitialized,
            severity: Severity::Error,
            launch: None,
            message,
            advice: Some(advice),
            object: Some(object),
            sides: vec![
                HostSide {
                    op: FindingOp::Read,
                    loc: unset.read,
                },
                HostSide {
                    op: FindingOp::Compute,
                    loc: unset.used,
                },
            ],
            others,
            count: unset.count,
        }
    }

    /// Why the use of the value matters.
    pub(super) fn describe_use(&self, unset: &HostUnset) -> String {
        let line = self.line_of(unset.used);
        match unset.what {
            HostUse::Branch => format!("decides a branch at line {line}"),
            HostUse::Address => format!("is part of an address at line {line}"),
            HostUse::Printed => format!("is printed at line {line}"),
            HostUse::Argument(function) => {
                format!("is an argument of {} at line {line}", function.text())
            }
            HostUse::Content(function) => {
                format!("decides what {} gives at line {line}", function.text())
            }
            HostUse::Launch => format!("decides the shape of the launch at line {line}"),
            HostUse::KernelArgument => {
                format!("is an argument of the kernel launched at line {line}")
            }
            HostUse::ExitCode => format!("is the program's exit code at line {line}"),
        }
    }

    /// A read of uninitialised memory: message, advice, the memory and the element, and the places where it was allocated and copied.
    fn describe_unset_memory(
        &self,
        unset: &HostUnset,
        memory: &UnsetMemory,
        others: &mut Vec<(LocId, String)>,
    ) -> (String, String, (String, String)) {
        let (read, matters) = (self.line_of(unset.read), self.describe_use(unset));
        let text = &self.program.module().loc(unset.read).text;
        let reads = match text.is_empty()
            || unset.what == HostUse::Printed && read == self.line_of(unset.used)
        {
            true => String::new(),
            false => format!(" line {read} reads {}, and", element_of(text)),
        };
        let element = memory.element_bytes;
        // From the uninitialised memory on, copy by copy.
        let (mut root, mut copies) = (memory, Vec::new());
        while let Some(transfer) = &root.transfer {
            copies.push((transfer, self.whole(root)));
            root = &transfer.from;
        }
        let member = root.size_bytes <= element && root.gap != (0, root.size_bytes);
        let mut what = match text {
            text if member && copies.is_empty() && !text.is_empty() => {
                format!("`{text}` has no value when line {read} reads it;")
            }
            _ => format!(
                "{} {} no value;",
                self.part(root, element),
                has_or_have(root, element)
            ),
        };
        let copied = copies.iter().rev().map(|(transfer, goal)| {
            others.push((transfer.loc, "copied here".to_owned()));
            let (call, line) = (transfer.call, self.line_of(transfer.loc));
            let it_or_them = it_or_them(root, element);
            format!("the {call} at line {line} copied {it_or_them} to {goal}")
        });
        let copied: Vec<String> = copied.collect();
        if !copied.is_empty() {
            what += &format!(" {}", copied.join(", "));
        }
        match (member && copies.is_empty(), copies.is_empty()) {
            (true, _) => {}
            (false, true) => what += &reads,
            (false, false) if reads.is_empty() => what += ", and",
            (false, false) => what += &format!(",{reads}"),
        }
        if let Some(allocation) = &root.allocation {
            others.push((allocation.loc, "allocated here".to_owned()));
        }
        let index = match memory.size_bytes > element {
            true => format!("[{}]", memory.gap.0 / element.max(1)),
            false => String::new(),
        };
        let object = (memory.name.replace('`', ""), index);
        let advice = self.unset_advice(root);
        (
            format!("uninitialized: {what} the value {matters}"),
            advice,
            object,
        )
    }

    /// `` `d_out` (cudaMalloc of line 12) ``, or the memory's name.
    fn whole(&self, memory: &UnsetMemory) -> String {
        match &memory.allocation {
            Some(allocation) => {
                let line = self.line_of(allocation.loc);
                match &allocation.variable {
                    Some(variable) => format!("`{variable}` ({} of line {line})", allocation.call),
                    None => memory.name.clone(),
                }
            }
            None => memory.name.clone(),
        }
    }

    /// `elements 32 to 63 of 64 of` the memory.
    fn part(&self, memory: &UnsetMemory, element_bytes: u64) -> String {
        let whole = self.whole(memory);
        let (first, last, count) = elements(memory, element_bytes);
        let unit = if element_bytes <= 1 {
            "byte"
        } else {
            "element"
        };
        match (count, first == last) {
            (0 | 1, _) => whole,
            (count, true) => format!("{unit} {first} of the {count} of {whole}"),
            (count, false) if last - first + 1 == count => {
                format!("all {count} {unit}s of {whole}")
            }
            (count, false) => format!("{unit}s {first} to {last} of the {count} of {whole}"),
        }
    }

    /// What to do about uninitialised memory.
    fn unset_advice(&self, memory: &UnsetMemory) -> String {
        let part = memory
            .setter
            .as_ref()
            .and_then(|setter| setter.part_written(memory.size_bytes, self.line_of(setter.loc)));
        if let Some(text) = part.or_else(|| self.rounded_down(memory)) {
            return text;
        }
        match (memory.kind, &memory.allocation) {
            (AddressKind::Device, Some(allocation)) if allocation.call == names::PITCH => {
                "its rows are a pitch apart, with unused bytes between them: copy them with `cudaMemcpy2D` and the pitch".to_owned()
            }
            (AddressKind::Device | AddressKind::Constant, _) => {
                "let the kernel write every element that is copied, or copy only those that it writes; cudaMemset clears memory, \
                 cudaMalloc does not"
                    .to_owned()
            }
            (AddressKind::Managed, Some(allocation)) => {
                format!("write it first, on the host or in a kernel: {} does not clear memory", allocation.call)
            }
            (_, Some(_)) => "write it first: `calloc` and `new T[n]()` clear memory, `malloc` and `new` do not".to_owned(),
            (_, None) => format!("initialise {} where it is declared", memory.name),
        }
    }
}

impl Host<'_> {
    /// Whether a kernel compares something with a number of elements before it stores anything.
    fn tests_an_index(&self, kernel: FuncId) -> bool {
        let is_test = |node: &Node| matches!(node, Node::If { .. } | Node::Loop { .. });
        self.program
            .module()
            .function(kernel)
            .body
            .0
            .iter()
            .any(is_test)
    }

    /// If the last elements are missing, and a launch had exactly as many threads as there are other elements: its number of blocks was
    /// rounded down.
    fn rounded_down(&self, memory: &UnsetMemory) -> Option<String> {
        let on_device = matches!(memory.kind, AddressKind::Device | AddressKind::Managed);
        // Taken as an array of the type that a thread may have written.
        let (from, to) = memory.gap;
        if !on_device || from == 0 || to != memory.size_bytes {
            return None;
        }
        let mut launches = self.outcome.launches.kept().iter().rev();
        launches.find_map(|kept| {
            let LaunchReport { grid, block, .. } = &kept.report;
            let is_flat = grid[1..] == [1, 1] && block[1..] == [1, 1];
            let threads = u64::from(grid[0]) * u64::from(block[0]);
            let element = from.checked_div(threads)?;
            let is_all = element * threads == from && matches!(element, 1 | 2 | 4 | 8 | 16);
            let count = memory.size_bytes / element.max(1);
            (is_flat && is_all && count - threads < u64::from(block[0])).then(|| {
                let (line, blocks, size) = (kept.report.statement.line, grid[0], block[0]);
                let test = match self.tests_an_index(kept.report.kernel) {
                    true => "",
                    false => ", and let the kernel test `if (i < n)`",
                };
                format!(
                    "the launch at line {line} has {blocks} blocks of {size} threads, {threads} in all for {count} elements: round the number of \
                     blocks up, `(n + {size} - 1) / {size}`{test}"
                )
            })
        })
    }
}

/// The expression that a read belongs to: a range-based loop has no subscript in the source.
fn element_of(text: &str) -> String {
    match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((name, index)) if name == index => format!("an element of `{name}`"),
        _ => format!("`{text}`"),
    }
}

/// The first and the last affected element, and the number of elements.
fn elements(memory: &UnsetMemory, element_bytes: u64) -> (u64, u64, u64) {
    let element = element_bytes.max(1);
    let (first, end) = memory.gap;
    let last = end.saturating_sub(1) / element;
    (first / element, last, memory.size_bytes.div_ceil(element))
}

fn is_one(memory: &UnsetMemory, element_bytes: u64) -> bool {
    let (first, last, count) = elements(memory, element_bytes);
    count <= 1 || first == last
}

fn has_or_have(memory: &UnsetMemory, element_bytes: u64) -> &'static str {
    match is_one(memory, element_bytes) {
        true => "has",
        false => "have",
    }
}

fn it_or_them(memory: &UnsetMemory, element_bytes: u64) -> &'static str {
    match is_one(memory, element_bytes) {
        true => "it",
        false => "them",
    }
}
