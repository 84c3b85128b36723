//! The array or allocation that a place in memory belongs to.

use dsl::ir::Space;

use super::Scene;
use crate::finding::FindingObject;

impl Scene<'_> {
    /// The object at a place, by its name; an allocation has no elements of its own: those of the access.
    pub(super) fn object(
        &self,
        space: Space,
        place: (Option<usize>, u64),
        width_bytes: u32,
    ) -> FindingObject {
        let (region, offset) = place;
        if let Some(region) = region {
            let base = self.map.regions[region].base;
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
            let vars = self.function.locals.iter().zip(&self.code.local_offsets);
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
