//! Compares one launch line by line: the cost of the accesses in the simulator, next to the cost of the machine instructions of that line.
//!
//! The simulator counts the accesses of the compiled kernel, or of the source. The assembler, or then the compiler, may merge neighbours into
//! one wide access, move an access out of a loop, drop one whose value is known, or turn one into a loop. Then the figures of the line differ,
//! and the row says what was done. If the instructions are those that were counted and the figures still differ, the model is wrong: that is a
//! difference.

use std::collections::BTreeMap;

use interp::{LaunchReport, trap::AccessOp};
use ir::{Module, Space, locate};

use super::ncu::Instruction;

/// A kind of access: a row of the tables, and a column of the kernel's counters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    SharedLoad,
    SharedStore,
    SharedAtomic,
    GlobalLoad,
    GlobalStore,
    GlobalAtomic,
}

impl Kind {
    pub(super) const ALL: [Kind; 6] = [
        Kind::SharedLoad,
        Kind::SharedStore,
        Kind::SharedAtomic,
        Kind::GlobalLoad,
        Kind::GlobalStore,
        Kind::GlobalAtomic,
    ];

    pub(super) fn text(self) -> &'static str {
        match self {
            Kind::SharedLoad => "shared load",
            Kind::SharedStore => "shared store",
            Kind::SharedAtomic => "shared atomic",
            Kind::GlobalLoad => "global load",
            Kind::GlobalStore => "global store",
            Kind::GlobalAtomic => "global atomic",
        }
    }

    /// Whether wavefronts are compared; otherwise sectors.
    pub(super) fn is_shared(self) -> bool {
        matches!(
            self,
            Kind::SharedLoad | Kind::SharedStore | Kind::SharedAtomic
        )
    }

    /// The kind of an access in the source. `None`: no counter is about it.
    fn of_site(space: Space, op: AccessOp) -> Option<Kind> {
        Some(match (space, op) {
            (Space::Shared, AccessOp::Load) => Kind::SharedLoad,
            (Space::Shared, AccessOp::Store) => Kind::SharedStore,
            (Space::Shared, AccessOp::Atomic) => Kind::SharedAtomic,
            (Space::Global, AccessOp::Load) => Kind::GlobalLoad,
            (Space::Global, AccessOp::Store) => Kind::GlobalStore,
            (Space::Global, AccessOp::Atomic) => Kind::GlobalAtomic,
            _ => return None,
        })
    }

    /// The kind of a machine instruction.
    fn of_opcode(instruction: &Instruction) -> Option<Kind> {
        let name = instruction.opcode.split('.').next().unwrap_or_default();
        // Generic accesses determine their space at run time.
        let shared = instruction.space.contains("Shared");
        Some(match name {
            "LDS" | "LDSM" => Kind::SharedLoad,
            "STS" => Kind::SharedStore,
            "ATOMS" => Kind::SharedAtomic,
            "LDG" => Kind::GlobalLoad,
            "STG" => Kind::GlobalStore,
            "ATOMG" | "RED" | "REDG" => Kind::GlobalAtomic,
            "LD" if shared => Kind::SharedLoad,
            "LD" => Kind::GlobalLoad,
            "ST" if shared => Kind::SharedStore,
            "ST" => Kind::GlobalStore,
            "ATOM" if shared => Kind::SharedAtomic,
            "ATOM" => Kind::GlobalAtomic,
            _ => return None,
        })
    }
}

/// Bytes per lane of a machine instruction.
fn width(opcode: &str) -> u32 {
    let mut parts = opcode.split('.').skip(1);
    parts
        .find_map(|part| match part {
            "U8" | "S8" => Some(1),
            "U16" | "S16" => Some(2),
            "64" => Some(8),
            "128" => Some(16),
            _ => None,
        })
        .unwrap_or(4)
}

/// One side of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Side {
    /// Warp instructions: in the simulator those with at least one active lane, on the GPU all.
    pub(super) instructions: u64,
    /// Wavefronts or sectors.
    pub(super) cost: u64,
    /// The number of instructions, by their bytes per lane.
    pub(super) widths: BTreeMap<u32, u64>,
    /// Instructions times active lanes.
    pub(super) lanes: u64,
    /// Opcodes, on the GPU.
    pub(super) opcodes: Vec<String>,
}

/// The verdict on a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowVerdict {
    /// The figures are the same.
    Same,
    /// The compiler made other accesses, described by this text.
    Changed(String),
    /// The figures differ though the accesses are those of the source.
    Different,
    /// The source page differs from the simulator, but its lines do not sum up to the hardware's own counter of the kernel, which agrees
    /// with the simulator. (The page computes wavefronts from addresses, and is wrong on masked wide shared loads.)
    PageOnly,
    /// A counter of the hardware that the source page does not show.
    NotCompared,
}

/// A source line and a kind of access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Index into the module's files; `None` for instructions without a line.
    pub(super) file: Option<u32>,
    pub(super) line: u32,
    pub(super) kind: Kind,
    pub(super) simulated: Side,
    pub(super) measured: Side,
    pub(super) verdict: RowVerdict,
}

/// The rows of a launch, by line.
pub(super) fn rows(launch: &LaunchReport, measured: &[Instruction], module: &Module) -> Vec<Row> {
    type Key = (Option<u32>, u32, Kind);
    let mut sides: BTreeMap<Key, (Side, Side)> = BTreeMap::new();
    for site in &launch.sites {
        let Some(kind) = Kind::of_site(site.space, site.op) else {
            continue;
        };
        // An access within the library is at the call's line on the GPU. One of the compiled kernel may have no line.
        let (file, line) = match locate::in_program(module, site.loc) {
            Some(place) if site.line > 0 => {
                let loc = module.loc(place);
                (Some(loc.file), loc.line)
            }
            _ => ((site.line > 0).then_some(site.file), site.line),
        };
        let key = (file, line, kind);
        let side = &mut sides.entry(key).or_default().0;
        side.instructions += site.counts.instructions;
        side.cost += if kind.is_shared() {
            site.counts.transactions
        } else {
            site.counts.sectors
        };
        side.lanes += site.counts.active_lanes;
        *side.widths.entry(site.width_bytes).or_default() += site.counts.instructions;
    }
    for instruction in measured {
        let Some(kind) = Kind::of_opcode(instruction) else {
            continue;
        };
        // A warp whose lanes are all predicated off executes the instruction too, but accesses nothing.
        if instruction.threads == 0 {
            continue;
        }
        let place = instruction.place.as_ref();
        let file = place.and_then(|(path, _)| file_index(path, module));
        let line = place.map_or(0, |&(_, line)| line);
        let side = &mut sides.entry((file, line, kind)).or_default().1;
        side.instructions += instruction.executed;
        side.lanes += instruction.threads;
        side.cost += if kind.is_shared() {
            instruction.wavefronts
        } else {
            instruction.sectors
        };
        *side.widths.entry(width(&instruction.opcode)).or_default() += instruction.executed;
        if !side.opcodes.contains(&instruction.opcode) {
            side.opcodes.push(instruction.opcode.clone());
        }
    }
    sides
        .into_iter()
        // A generic access may be to local memory, which is not compared.
        .filter(|(_, (ours, theirs))| ours.instructions > 0 || theirs.cost > 0)
        .map(|((file, line, kind), (simulated, measured))| Row {
            verdict: verdict(kind, &simulated, &measured),
            file,
            line,
            kind,
            simulated,
            measured,
        })
        .collect()
}

/// The module's file for a path in the profiler's report.
fn file_index(path: &str, module: &Module) -> Option<u32> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    let exact = module
        .files
        .iter()
        .position(|file| path.ends_with(file.as_str()));
    let index = exact.or_else(|| {
        module
            .files
            .iter()
            .position(|file| name(file) == name(path))
    });
    index.map(|index| index as u32)
}

fn verdict(kind: Kind, ours: &Side, theirs: &Side) -> RowVerdict {
    // The page counts an atomic's sectors once, the hardware once per colliding lane: the kernel's counter is compared instead.
    let comparable = kind != Kind::GlobalAtomic;
    if ours.cost == theirs.cost && ours.cost > 0 {
        return RowVerdict::Same;
    }
    if !comparable && ours.lanes == theirs.lanes {
        return RowVerdict::NotCompared;
    }
    let changed = |text: String| RowVerdict::Changed(text);
    if theirs.instructions == 0 {
        return changed("not executed here: dropped, or made at another line".to_string());
    }
    if ours.instructions == 0 {
        return changed(
            "made here by the compiler: moved from another line, or its own".to_string(),
        );
    }
    let loops = theirs.opcodes.iter().any(|opcode| opcode.contains(".CAS"));
    if kind == Kind::SharedAtomic && loops {
        return changed("a loop of compare-and-swap: one round per lane on an address".to_string());
    }
    if let Some(popc) = theirs.opcodes.iter().find(|opcode| opcode.contains("POPC")) {
        return changed(format!(
            "equal addresses are counted and added at once ({popc})"
        ));
    }
    let widest = |side: &Side| side.widths.keys().next_back().copied().unwrap_or(0);
    if widest(theirs) > widest(ours) && theirs.instructions < ours.instructions {
        return changed(format!(
            "merged: accesses of {} bytes instead of {}",
            widths(theirs),
            widths(ours)
        ));
    }
    if widest(theirs) < widest(ours) {
        return changed(format!(
            "split: accesses of {} bytes instead of {}",
            widths(theirs),
            widths(ours)
        ));
    }
    if theirs.lanes < ours.lanes {
        return changed(format!(
            "{} accesses by threads instead of {}: moved out of a loop, or a value kept",
            theirs.lanes, ours.lanes
        ));
    }
    if theirs.lanes > ours.lanes {
        return changed(format!(
            "{} accesses by threads instead of {}: moved here, or made before a condition is known",
            theirs.lanes, ours.lanes
        ));
    }
    if ours.cost == theirs.cost {
        return RowVerdict::Same;
    }
    if theirs.instructions != ours.instructions && theirs.widths.len() == ours.widths.len() {
        return changed(format!(
            "{} warp instructions instead of {}: diverged lanes run together, or separately",
            theirs.instructions, ours.instructions
        ));
    }
    RowVerdict::Different
}

fn widths(side: &Side) -> String {
    let all: Vec<String> = side.widths.keys().map(u32::to_string).collect();
    all.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(instructions: u64, width: u32, cost: u64, opcode: &str) -> Side {
        Side {
            instructions,
            cost,
            widths: BTreeMap::from([(width, instructions)]),
            lanes: instructions * 32,
            opcodes: vec![opcode.to_string()],
        }
    }

    #[test]
    fn the_same_figures_are_the_same_whatever_was_executed() {
        let predicated = Side {
            instructions: 64,
            ..side(32, 4, 32, "LDS")
        };
        assert_eq!(
            verdict(Kind::SharedLoad, &side(32, 4, 32, ""), &predicated),
            RowVerdict::Same
        );
    }

    #[test]
    fn what_the_compiler_did_is_said() {
        let of = |ours: Side, theirs: Side| match verdict(Kind::SharedLoad, &ours, &theirs) {
            RowVerdict::Changed(how) => how,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            of(side(64, 4, 64, ""), side(16, 16, 64 + 1, "LDS.128")),
            "merged: accesses of 16 bytes instead of 4"
        );
        assert!(of(side(64, 4, 64, ""), side(8, 4, 8, "LDS")).contains("out of a loop"));
        assert!(of(side(64, 4, 64, ""), Side::default()).starts_with("not executed here"));
    }

    #[test]
    fn the_same_accesses_with_other_figures_are_a_difference() {
        assert_eq!(
            verdict(
                Kind::SharedLoad,
                &side(32, 4, 32, ""),
                &side(32, 4, 64, "LDS")
            ),
            RowVerdict::Different
        );
    }

    #[test]
    fn widths_are_read_from_opcodes() {
        for (opcode, bytes) in [
            ("LDS", 4),
            ("LDG.E.128.CONSTANT", 16),
            ("STS.U8", 1),
            ("STG.E.64", 8),
        ] {
            assert_eq!(width(opcode), bytes);
        }
    }
}
