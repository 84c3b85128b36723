//! Explains from the kernel's stores why memory of a thread or a block is uninitialised.

use crate::observe::Scene;
use ir::{InstKind, LocId, LocalId, Object, Space};

use super::Unset;
use super::advice::is_barrier;
use super::flow::Flow;
use crate::fault::finding::MissingWrite;
use crate::inspect::listing::{Around, At};

/// CUB's name for memory that the threads of a block share.
const SHARED_STORAGE: &str = "TempStorage";

impl Scene<'_> {
    /// For a read of thread-local memory: an element that other threads have written in their copies, or a byte between
    /// members.
    pub(super) fn missing_in_thread(&self, counter: u32, unset: &Unset) -> Option<MissingWrite> {
        let offset = unset.place.1;
        let starts = &self.code.memory.local_offsets;
        let mut locals = self.function.locals.iter().zip(starts).enumerate();
        let (number, (var, start)) = locals
            .find(|(_, (var, start))| (**start..**start + var.size_bytes).contains(&offset))?;
        let object = Object::Local(LocalId(number as u32));
        let flow = Flow::of(self.function);
        let stores = flow.stores_to(object);
        if !var.dims.is_empty() {
            let of_index = |&store: &At| flow.goes_by_thread(store) && !flow.goes_by_data(store);
            let meets = self.code.insts.iter().any(|inst| is_barrier(inst.op));
            return (meets && stores.iter().any(of_index)).then_some(MissingWrite::OwnArray);
        }
        let byte = offset - start;
        let is_byte = self.counter(counter).width_bytes == 1;
        let places = stores.iter().map(|&store| flow.bytes_of(store));
        let places: Option<Vec<(u64, u64)>> = places.collect();
        let is_written = |places: &[(u64, u64)]| {
            let mut all = places.iter();
            all.any(|&(from, to)| (from..to).contains(&byte))
        };
        places.filter(|places| !places.is_empty() && !is_written(places))?;
        is_byte.then_some(MissingWrite::NoMember { byte })
    }

    /// Why the source lane of a shuffle does not take part, if no branch is around it.
    pub(super) fn absent_lane(&self, loc: LocId, unset: &Unset) -> Option<MissingWrite> {
        let flow = Flow::of(self.function);
        let (at, _) = flow
            .insts()
            .find(|(_, inst)| inst.loc == loc && matches!(inst.kind, InstKind::Exchange(_)))?;
        let parts = |around: &Around| {
            let all = self.shape.threads();
            let of_warp = 32 * unset.warp..all.min(32 * unset.warp + 32);
            let threads = of_warp.map(|number| {
                self.shape
                    .identity(unset.block, (number / 32) as usize, number % 32)
            });
            flow.parts(*around, threads)
        };
        if flow.path(at).iter().any(parts) {
            return None;
        }
        let threads = self.shape.threads();
        let is_last = unset.warp == (threads - 1) / 32 && !threads.is_multiple_of(32);
        Some(match is_last {
            true => MissingWrite::NoThread { threads },
            false => MissingWrite::NotNamed,
        })
    }

    /// For a read of shared memory into a variable of each thread that the threads of a block have to share.
    pub(super) fn copied(&self, loc: LocId) -> Option<MissingWrite> {
        let flow = Flow::of(self.function);
        let copies = flow.copies_from(loc, Space::Shared);
        let mut locals = copies.into_iter().filter_map(|object| match object {
            Object::Local(id) => self.function.locals.get(id.index()),
            _ => None,
        });
        let storage = locals.find(|local| local.c_type.ends_with(SHARED_STORAGE))?;
        Some(MissingWrite::OwnCopy {
            variable: storage.name.clone(),
        })
    }
}

impl Flow<'_> {
    /// The stores to an object.
    fn stores_to(&self, object: Object) -> Vec<At> {
        let stores = self.insts().filter(|(_, inst)| {
            matches!(&inst.kind, InstKind::Store(access, ..) if access.object == Some(object))
        });
        stores.map(|(at, _)| at).collect()
    }

    /// The objects to which the value loaded at a place is stored.
    fn copies_from(&self, loc: LocId, space: Space) -> Vec<Object> {
        let stores = self.insts().filter_map(|(_, inst)| {
            let InstKind::Store(access, _, values) = &inst.kind else {
                return None;
            };
            let from = self.made_by(*values.first()?)?;
            let is_copy = matches!(from, InstKind::Load(from, _) if from.space == space);
            let is_here = self
                .def_of(*values.first()?)
                .is_some_and(|at| self.inst(at).loc == loc);
            access.object.filter(|_| is_copy && is_here)
        });
        stores.collect()
    }
}
