//! Finds the array or allocation that an address belongs to.

use crate::observe::Scene;
use ir::Space;

use crate::fault::finding::FindingObject;
use crate::machine::explain::parameter;

impl Scene<'_> {
    /// The object at a place that an access touches, by its name. An allocation is named after the kernel's pointer, if
    /// the access comes from one. An allocation has no element type, so the access's is used.
    pub(super) fn object(
        &self,
        counter: u32,
        place: (Option<usize>, u64),
        width_bytes: u32,
    ) -> FindingObject {
        let space = self.counter(counter).space;
        let (region, offset) = place;
        if let Some(region) = region {
            let base = self.map.regions[region].base;
            if let Some((name, start)) = self.pointer(counter)
                && let Some(from) = (base + offset).checked_sub(start)
                && start >= base
            {
                return FindingObject {
                    name,
                    index: format!("[{}]", from / u64::from(width_bytes.max(1))),
                    offset_bytes: offset,
                };
            }
            let described = self
                .memory
                .region(base)
                .map(|region| region.describe(base + offset));
            let (name, element, size) = described.map_or_else(
                || ("memory".to_owned(), 1, 0),
                |object| (object.name, object.element_bytes, object.size_bytes),
            );
            let element = if element <= 1 {
                u64::from(width_bytes)
            } else {
                element
            };
            let index = if size <= element {
                String::new()
            } else {
                format!("[{}]", offset / element)
            };
            return FindingObject {
                name: name.replace('`', ""),
                index,
                offset_bytes: offset,
            };
        }
        if space == Space::Local {
            let vars = self
                .function
                .locals
                .iter()
                .zip(&self.code.memory.local_offsets);
            let held = vars
                .clone()
                .find(|&(var, &start)| (start..start + var.size_bytes).contains(&offset));
            if let Some((var, start)) = held {
                return named(&var.name, var.element_bytes, &var.dims, offset - start);
            }
        }
        let vars = self.function.shared.iter();
        let var = vars
            .filter(|_| space == Space::Shared)
            .filter(|var| offset >= var.offset_bytes)
            .find(|var| var.dynamic || offset < var.offset_bytes + var.size_bytes);
        let Some(var) = var else {
            return FindingObject {
                name: "shared memory".to_owned(),
                index: format!("[{offset}]"),
                offset_bytes: offset,
            };
        };
        named(
            &var.name,
            var.element_bytes,
            &var.dims,
            offset - var.offset_bytes,
        )
    }
}

impl Scene<'_> {
    /// The name of the kernel's pointer through which an access is made, and the address it points to.
    fn pointer(&self, counter: u32) -> Option<(String, u64)> {
        let site = self.counter(counter);
        let number = parameter(self.function, site.loc, site.op)?;
        let slot = self.function.params[number].slot;
        let name = self.function.slots[slot.index()].name.clone();
        Some((name, self.shape.args[number]))
    }
}

/// An element of an array, by its indices.
fn named(name: &str, element_bytes: u64, dims: &[u64], within: u64) -> FindingObject {
    let mut rest = within / element_bytes.max(1);
    let mut index = String::new();
    for k in 0..dims.len() {
        let stride: u64 = dims[k + 1..].iter().product::<u64>().max(1);
        index += &format!("[{}]", rest / stride);
        rest %= stride;
    }
    FindingObject {
        name: name.to_owned(),
        index,
        offset_bytes: within,
    }
}
