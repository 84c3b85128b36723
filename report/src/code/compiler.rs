//! What a compiler makes of the accesses in straight-line code.

use interp::trap::AccessOp;

use super::address::Address;
use super::{Compiled, Key};
use crate::Input;

/// An access and the address it goes to.
pub(super) struct Placed {
    pub(super) key: Key,
    pub(super) address: Address,
    pub(super) width_bytes: u64,
    /// The alignment of the address without its constant part.
    pub(super) align_bytes: u64,
}

impl Placed {
    fn op(&self) -> AccessOp {
        self.key.3
    }

    /// Whether the two addresses differ only by a constant.
    fn is_beside(&self, other: &Placed) -> bool {
        self.key.4 == other.key.4
            && (self.address.root, &self.address.terms)
                == (other.address.root, &other.address.terms)
    }

    fn is_same(&self, other: &Placed) -> bool {
        self.is_beside(other)
            && (self.address.offset, self.width_bytes) == (other.address.offset, other.width_bytes)
    }
}

/// Limit of accesses that are compared with each other at a time.
const MOST_ACCESSES: usize = 256;

/// Accesses that a compiler may move past everything between them.
#[derive(Default)]
pub(super) struct Straight {
    accesses: Vec<Placed>,
}

impl Straight {
    /// Adds an access; gives what is now known of it and of those before.
    pub(super) fn access(&mut self, new: Placed) -> Vec<(Key, Compiled)> {
        let mut found = vec![];
        match new.op() {
            AccessOp::Store => {
                // The store may have changed what was loaded through another pointer.
                let may_change = |old: &Placed| old.key.4 == new.key.4 && !old.is_beside(&new);
                if self.accesses.iter().any(may_change) {
                    found = self.end();
                }
            }
            _ if self
                .accesses
                .iter()
                .any(|old| old.is_same(&new) && old.key != new.key) =>
            {
                found.push((new.key, Compiled::Again));
            }
            _ => {}
        }
        if self.accesses.len() == MOST_ACCESSES {
            found.extend(self.end());
        }
        self.accesses.push(new);
        found
    }

    /// Ends the straight-line code.
    pub(super) fn end(&mut self) -> Vec<(Key, Compiled)> {
        let all = std::mem::take(&mut self.accesses);
        let mut found = vec![];
        for op in [AccessOp::Load, AccessOp::Store] {
            let own: Vec<&Placed> = all.iter().filter(|placed| placed.op() == op).collect();
            for placed in &own {
                if let Some(compiled) = merged(placed, &own) {
                    found.push((placed.key, compiled));
                }
            }
        }
        found
    }
}

/// The widest aligned access that could replace this one: its neighbours are as wide, and all of its bytes are requested.
fn merged(placed: &Placed, all: &[&Placed]) -> Option<Compiled> {
    let width = placed.width_bytes;
    // Another access that needs more alignment shows that the address has it.
    let beside = || all.iter().filter(|other| other.is_beside(placed));
    let shown = beside().map(|other| {
        let wide = other.width_bytes;
        let is_multiple = other.address.offset.rem_euclid(wide as i64) == 0;
        let terms = other
            .address
            .terms
            .values()
            .map(|scale| scale.unsigned_abs());
        if is_multiple {
            terms.fold(wide, gcd)
        } else {
            1
        }
    });
    let align = shown.max().unwrap_or(1).max(placed.align_bytes);
    [16, 8].into_iter().find_map(|bytes: u64| {
        if bytes <= width || !align.is_multiple_of(bytes) {
            return None;
        }
        let first = placed.address.offset.div_euclid(bytes as i64) * bytes as i64;
        let accesses = bytes / width;
        let is_asked = |number: u64| {
            let offset = first + (number * width) as i64;
            beside().any(|other| other.address.offset == offset && other.width_bytes == width)
        };
        (0..accesses)
            .all(is_asked)
            .then_some(Compiled::Merged { bytes, accesses })
    })
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The alignment of a pointer of a declared type, as far as the type guarantees it: 8 or 16 for CUDA's vectors and for structs that are
/// declared so.
pub(super) fn declared_alignment(c_type: &str, input: &Input<'_>) -> u64 {
    let name = c_type
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .find(|word| !matches!(*word, "" | "const" | "volatile" | "struct" | "__restrict__"));
    let Some(name) = name.and_then(|name| name.rsplit("::").next()) else {
        return 1;
    };
    match name {
        "float2" | "int2" | "uint2" | "short4" | "ushort4" | "long1" | "double" | "long" => 8,
        "float4" | "int4" | "uint4" | "double2" | "longlong2" | "ulonglong2" | "long2" => 16,
        _ => {
            let files = input.map.files();
            let declared = files.map(|(_, file)| alignment_in(&file.text, name));
            declared.max().unwrap_or(1)
        }
    }
}

/// The alignment that a text declares for a struct: `struct __align__(16) Name`, `struct alignas(16) Name`, or after its closing brace.
fn alignment_in(text: &str, name: &str) -> u64 {
    let mut most = 1;
    for word in ["__align__", "alignas", "aligned"] {
        for (at, _) in text.match_indices(word) {
            let behind = text[at + word.len()..].trim_start();
            let Some((number, rest)) = behind
                .strip_prefix('(')
                .and_then(|behind| behind.split_once(')'))
            else {
                continue;
            };
            let bytes: u64 = number.trim().parse().unwrap_or(1);
            let rest = rest.trim_start_matches(|c: char| c == ')' || c.is_whitespace());
            let is_named = |text: &str| {
                let text = text.trim_start();
                let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                text[..end.unwrap_or(text.len())] == *name
            };
            // Without a name here, the name is a typedef's: after the closing brace.
            let is_it = match rest.strip_prefix('{') {
                Some(body) => body
                    .split_once('}')
                    .is_some_and(|(_, behind)| is_named(behind)),
                None => is_named(rest),
            };
            if is_it && bytes.is_power_of_two() && bytes <= 16 {
                most = most.max(bytes);
            }
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_alignments_are_found() {
        let text = "struct __align__(8) P { float x, y; };\ntypedef struct __align__(16) { int v[4]; } Q;\n\
                    struct alignas( 16 ) R { double d; };\nstruct S { float x, y; };\nstruct T { int a; } __attribute__((aligned(8))) T;";
        let found = ["P", "Q", "R", "S"].map(|name| alignment_in(text, name));
        assert_eq!(found, [8, 16, 16, 1]);
        assert_eq!(alignment_in(text, "T"), 8);
    }
}
