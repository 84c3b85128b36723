//! Variables: `__device__`, `__constant__`, strings, shared memory.

use std::fmt::Write;

use ir::{FuncId, Function, GlobalSpace, GlobalVar, Object, SharedId, StringId};

use super::{Emitter, ty::quoted};
use ir::symbol::{global_symbol, kernel_symbol, mangle};

use crate::Error;

/// The only array for all `extern __shared__` names: they all start at the end of the static ones.
pub(super) const DYNAMIC_SHARED: &str = "$$dynamic_shared";

/// Fails if initial values point at each other in a cycle: in PTX a variable is known only after its definition.
pub(super) fn check(emitter: &Emitter<'_>) -> Result<(), Error> {
    let globals = &emitter.module.globals;
    // A variable is settled when all variables that it points to are.
    let mut settled = vec![false; globals.len()];
    let points_to = |global: &GlobalVar| {
        let objects = global.relocations.iter().map(|(_, object, _)| *object);
        let targets = objects.filter_map(|object| match object {
            Object::Global(id) => Some(id.index()),
            Object::Shared(_) | Object::Local(_) | Object::String(_) => None,
        });
        targets.collect::<Vec<_>>()
    };
    loop {
        let ready = globals.iter().enumerate().position(|(index, global)| {
            !settled[index] && points_to(global).into_iter().all(|target| settled[target])
        });
        match ready {
            Some(index) => settled[index] = true,
            None => break,
        }
    }
    let on_device = |global: &GlobalVar| global.space != GlobalSpace::Host;
    let before = |global: &&GlobalVar| global.relocations.iter().any(|(_, _, addend)| *addend < 0);
    if let Some(global) = globals
        .iter()
        .filter(|global| on_device(global))
        .find(before)
    {
        return Err(emitter.unsupported("an initial address before a variable", global.loc));
    }
    let stuck = globals
        .iter()
        .zip(settled)
        .find(|(global, settled)| on_device(global) && !settled);
    match stuck {
        Some((global, _)) => Err(emitter.unsupported(
            "a variable whose initial value leads back to itself",
            global.loc,
        )),
        None => Ok(()),
    }
}

/// Definitions of the variables that the host can name, and of the used strings.
pub(super) fn emit(emitter: &mut Emitter<'_>) -> String {
    let module = emitter.module;
    let mut out = String::new();
    let mut managed = Vec::new();
    for (index, global) in module.globals.iter().enumerate() {
        let (space, kind) = match global.space {
            GlobalSpace::Constant => (4, "global"),
            GlobalSpace::Device | GlobalSpace::Managed => (1, "global"),
            GlobalSpace::Host => continue,
        };
        let symbol = global_symbol(module, index);
        if global.space == GlobalSpace::Managed {
            let node = emitter
                .metadata(|_| format!("!{{ptr addrspace(1) @{symbol}, !\"managed\", i32 1}}"));
            managed.push(format!("!{node}"));
        }
        let (ty, init) = initializer(emitter, global);
        let _ = writeln!(
            out,
            "@{symbol} = addrspace({space}) externally_initialized {kind} {ty} {init}, align {}",
            global.align_bytes.max(1)
        );
    }
    if !managed.is_empty() {
        let _ = writeln!(out, "!nvvm.annotations = !{{{}}}", managed.join(", "));
    }
    for &id in &emitter.strings {
        let mut bytes = module.strings[id.index()].to_vec();
        bytes.push(0);
        let _ = writeln!(
            out,
            "@{} = internal addrspace(1) constant [{} x i8] c{}, align 1",
            string_symbol(id),
            bytes.len(),
            quoted(&bytes)
        );
    }
    for (index, text) in emitter.texts.iter().enumerate() {
        let mut bytes = text.clone().into_bytes();
        bytes.push(0);
        let _ = writeln!(
            out,
            "@{} = internal addrspace(1) constant [{} x i8] c{}, align 1",
            text_symbol(index),
            bytes.len(),
            quoted(&bytes)
        );
    }
    out
}

fn text_symbol(index: usize) -> String {
    format!("$$text{index}")
}

fn string_symbol(id: StringId) -> String {
    format!("$$string{}", id.0)
}

/// The type and value of an initialiser. One with pointers is a packed struct of byte arrays and pointers.
fn initializer(emitter: &mut Emitter<'_>, global: &GlobalVar) -> (String, String) {
    let size = global.size_bytes;
    let Some(bytes) = &global.init else {
        return (format!("[{size} x i8]"), "zeroinitializer".to_string());
    };
    let zeros = size - bytes.len() as u64;
    if global.relocations.is_empty() && zeros == 0 {
        return (format!("[{size} x i8]"), format!("c{}", quoted(bytes)));
    }
    let mut relocations = global.relocations.clone();
    relocations.sort_by_key(|(offset, ..)| *offset);
    let (mut types, mut values) = (Vec::new(), Vec::new());
    let mut push = |ty: String, value: String| {
        values.push(format!("{ty} {value}"));
        types.push(ty);
    };
    // All bytes after the stored ones are zero.
    let chunk = |from: usize, to: usize, push: &mut dyn FnMut(String, String)| {
        if to <= from {
            return;
        }
        let held = bytes.len().clamp(from, to);
        if held > from {
            let value = format!("c{}", quoted(&bytes[from..held]));
            push(format!("[{} x i8]", held - from), value);
        }
        if to > held {
            let value = "zeroinitializer".to_string();
            push(format!("[{} x i8]", to - held), value);
        }
    };
    let mut at = 0;
    for (offset, object, addend) in relocations {
        chunk(at, offset as usize, &mut push);
        let address = match emitter.object_address(object) {
            Some(address) => format!("getelementptr (i8, ptr {address}, i64 {addend})"),
            None => "null".to_string(),
        };
        push("ptr".to_string(), address);
        at = offset as usize + 8;
    }
    chunk(at, size as usize, &mut push);
    (
        format!("<{{ {} }}>", types.join(", ")),
        format!("<{{ {} }}>", values.join(", ")),
    )
}

impl Emitter<'_> {
    /// The generic address of a variable or string, as a constant expression.
    fn object_address(&mut self, object: Object) -> Option<String> {
        match object {
            Object::Global(id) => {
                let space = match self.module.globals[id.index()].space {
                    GlobalSpace::Constant => 4,
                    GlobalSpace::Device | GlobalSpace::Managed => 1,
                    GlobalSpace::Host => return None,
                };
                let symbol = global_symbol(self.module, id.index());
                Some(format!(
                    "addrspacecast (ptr addrspace({space}) @{symbol} to ptr)"
                ))
            }
            Object::String(id) => Some(self.string_address(id)),
            Object::Shared(_) | Object::Local(_) => None,
        }
    }

    /// The generic address of a string literal, as a constant expression.
    pub(super) fn string_address(&mut self, id: StringId) -> String {
        self.strings.insert(id);
        format!(
            "addrspacecast (ptr addrspace(1) @{} to ptr)",
            string_symbol(id)
        )
    }

    /// The generic address of a string that is not in the program, as a constant expression.
    pub(super) fn text_address(&mut self, text: &str) -> String {
        let known = self.texts.iter().position(|known| known == text);
        let index = known.unwrap_or_else(|| {
            self.texts.push(text.to_string());
            self.texts.len() - 1
        });
        format!(
            "addrspacecast (ptr addrspace(1) @{} to ptr)",
            text_symbol(index)
        )
    }

    /// Defines the static shared variables of a kernel.
    pub(super) fn define_shared(&mut self, id: FuncId, function: &Function) {
        for (index, variable) in function.shared.iter().enumerate() {
            if variable.dynamic {
                self.has_dynamic_shared = true;
                continue;
            }
            let _ = writeln!(
                self.shared,
                "@{} = internal addrspace(3) global [{} x i8] undef, align {}",
                self.shared_symbol(id, function, SharedId(index as u32)),
                variable.size_bytes,
                alignment(variable.size_bytes, variable.align_bytes)
            );
        }
    }

    /// The symbol of a shared variable of a kernel.
    pub(super) fn shared_symbol(
        &self,
        id: FuncId,
        function: &Function,
        shared: SharedId,
    ) -> String {
        let variable = &function.shared[shared.index()];
        if variable.dynamic {
            return DYNAMIC_SHARED.to_string();
        }
        format!(
            "{}$${}$${}",
            kernel_symbol(self.module, id),
            mangle(&variable.name),
            shared.0
        )
    }
}

/// The alignment of a shared variable: the largest that leaves no gap after it. So neighbours can be loaded at once, even if ptxas cannot
/// see that they are aligned.
fn alignment(size_bytes: u64, least: u64) -> u64 {
    let by_size = 1 << size_bytes.trailing_zeros().min(4);
    match size_bytes {
        0 => least.max(1),
        _ => least.max(by_size),
    }
}
