//! A program's variables and string literals in memory.

use ir::{GlobalId, GlobalSpace, GlobalVar, Module, Object, StringId};

use super::{AddressKind, Memory};

/// The addresses of a program's variables and string literals in a [`Memory`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Image {
    pub(super) symbols: Vec<u64>,
    strings: Vec<u64>,
}

impl Memory {
    /// Swaps the running program's image. Between two calls of the runtime, a program runs with its own image.
    pub fn exchange(&mut self, image: &mut Image) {
        std::mem::swap(&mut self.image, image);
    }

    /// Adds a program's variables and strings. The program can run while its image is the memory's:
    /// [`Memory::exchange`].
    pub fn load(&mut self, module: &Module) -> Image {
        let mut image = Image::default();
        self.exchange(&mut image);
        self.add_globals(module);
        self.exchange(&mut image);
        image
    }

    fn add_globals(&mut self, module: &Module) {
        for text in &module.strings {
            let region = self
                .areas
                .strings
                .add(text.len() as u64 + 1, 1, AddressKind::String)
                .expect("a literal");
            region.bytes.slice_mut()[..text.len()].copy_from_slice(text);
            region.name = Some("a string literal".to_owned());
            let base = region.base;
            self.image.strings.push(base);
        }
        self.add_variables(&module.globals);
        for (global, &base) in module.globals.iter().zip(&self.image.symbols.clone()) {
            for &(offset, object, addend) in &global.relocations {
                let Some(target) = self.object_address(object) else {
                    continue;
                };
                let bits = target.wrapping_add_signed(addend).to_le_bytes();
                if let Ok(bytes) = self.bytes_mut(base + offset, 8) {
                    bytes.copy_from_slice(&bits);
                }
            }
        }
    }

    /// Adds variables, without the addresses in their initial values.
    fn add_variables(&mut self, globals: &[GlobalVar]) {
        for global in globals {
            let (area, kind) = match global.space {
                GlobalSpace::Constant => (&mut self.areas.constants, AddressKind::Constant),
                GlobalSpace::Device => (&mut self.areas.device_statics, AddressKind::Device),
                // Next to the other variables, not with memory that `cudaFree` takes.
                GlobalSpace::Managed => (&mut self.areas.device_statics, AddressKind::Managed),
                GlobalSpace::Host => (&mut self.areas.statics, AddressKind::Host),
            };
            let region = match area.add(global.size_bytes, global.align_bytes.max(16), kind) {
                Ok(region) => region,
                // The variable is too large for any memory. It gets no bytes, so that each access traps.
                Err(_) => area.add(0, 16, kind).expect("no bytes"),
            };
            region.name = Some(format!("`{}`", global.name));
            region.element_bytes = global.element_bytes;
            if let Some(init) = &global.init
                && let Some(first) = region.bytes.slice_mut().get_mut(..init.len())
            {
                first.copy_from_slice(init);
            }
            let base = region.base;
            self.image.symbols.push(base);
        }
    }

    /// Adds the variables that a module has after those of the running program.
    pub(crate) fn extend(&mut self, module: &Module) {
        let known = self.image.symbols.len();
        if let Some(added) = module.globals.get(known..) {
            self.add_variables(added);
        }
    }

    /// The address of a variable.
    pub fn symbol_address(&self, id: GlobalId) -> u64 {
        self.image.symbols[id.index()]
    }

    /// Whether a variable of the program begins at the address.
    pub fn is_symbol(&self, address: u64) -> bool {
        self.image.symbols.contains(&address)
    }

    /// The address of an object that has one address for the whole program: a variable or a string literal.
    pub(crate) fn object_address(&self, object: Object) -> Option<u64> {
        match object {
            Object::Global(id) => Some(self.symbol_address(id)),
            Object::String(id) => Some(self.string_address(id)),
            Object::Shared(_) | Object::Local(_) => None,
        }
    }

    /// The address of a string literal.
    pub fn string_address(&self, id: StringId) -> u64 {
        self.image.strings[id.index()]
    }
}
