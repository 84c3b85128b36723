//! Random modules through the PTX back end: LLVM accepts its text, and each kernel is in the PTX.

use codegen_ptx::{Error, Options, Target, ptx};
use ir::{Module, Object, infer_spaces, random, simplify, symbol::kernel_symbol};

use crate::{choices::Choices, notice};

/// See the module.
pub fn target(data: &[u8]) {
    let mut choices = Choices::new(data);
    let plain = choices.one_in(4);
    let mut module = random::module(choices.word(), random::Options { plain });
    addresses_that_ptx_has(&mut module);
    if choices.one_in(2) {
        infer_spaces(&mut module);
    }
    if choices.one_in(2) {
        simplify(&mut module);
    }
    let arch = choices.pick(&["sm_90", "sm_50", "sm_60", "sm_75", "sm_80", "sm_100"]);
    let options = Options {
        arch: Target::parse(arch).expect("a target"),
        opt_level: choices.pick(&[3, 0, 1, 2]),
        lines: choices.one_in(2).into(),
    };
    match ptx(&module, &options) {
        Ok(text) => {
            for (id, kernel) in module.kernels() {
                assert!(
                    text.contains(&kernel_symbol(&module, id)),
                    "no `{}` in\n{text}",
                    kernel.name
                );
            }
        }
        // Older architectures do not have some instructions; newer ones have a translation for everything.
        Err(error @ Error::Unsupported { .. }) => {
            notice(&error.to_string());
            assert!(matches!(arch, "sm_50" | "sm_60"), "{arch}: {error}");
        }
        Err(error) => panic!("{arch}: {error}\n{}", ir::print(&module)),
    }
}

/// Of random initial addresses, keeps those of variables that are already defined, which PTX accepts.
fn addresses_that_ptx_has(module: &mut Module) {
    for (index, global) in module.globals.iter_mut().enumerate() {
        global.relocations.retain(|(_, object, _)| match object {
            Object::Global(id) => id.index() < index,
            Object::Shared(_) | Object::Local(_) | Object::String(_) => true,
        });
        for (_, _, addend) in &mut global.relocations {
            *addend = addend.rem_euclid(64);
        }
    }
}
