//! Records the registers in use where lanes synchronise: fragments of a warp must agree on them there.

use ir::Type;

use super::{Compiler, Owned};
use crate::isa::bytecode::{Class, Meet, Place, S_FREE};

impl Compiler<'_> {
    /// The registers in use before the current instruction gives a result.
    pub(super) fn meet(&self) -> Meet {
        let mut meet = Meet::default();
        let uniformity = &self.analyses.uniformity;
        for (index, slot) in self.function.slots.iter().enumerate() {
            match (self.slots.places[index], Class::of(slot.ty)) {
                (Place::S(at), Class::Mask) if uniformity.slots[index] => meet.masks.push(at),
                (Place::S(_), _) => {}
                (Place::V(at), Class::W64) => meet.wide.push(at),
                (Place::V(at), Class::W32 | Class::Mask) => meet.narrow.push(at),
            }
        }
        for (local, &first) in &self.arrays.units {
            let words = self.function.locals[local.index()].size_bytes as u32 / 4;
            meet.narrow.extend(first..first + words);
        }
        let is_mask =
            |index: usize| uniformity.values[index] && self.function.values[index] == Type::I1;
        let values = self.values.owned.iter().enumerate();
        let values = values.filter_map(|(index, owned)| owned.map(|owned| (owned, is_mask(index))));
        let temporaries = self.values.temporaries.iter().map(|&owned| (owned, false));
        for (owned, is_mask) in values.chain(temporaries) {
            match owned {
                Owned::S(at) if is_mask => meet.masks.push(at),
                Owned::S(_) => {}
                Owned::V(at, 2) => meet.wide.push(at),
                Owned::V(at, _) => meet.narrow.push(at),
            }
        }
        meet.scalars = self.allocator.scalars.taken(S_FREE);
        meet.scalars.retain(|at| !meet.masks.contains(at));
        meet
    }
}
