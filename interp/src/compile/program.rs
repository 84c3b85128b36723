//! A module together with its bytecode.

use crate::isa::grid::Shape;
use std::sync::{Arc, OnceLock};

use dsl::ir::{FuncId, Function, FunctionKind, InstKind, Module, SpecialReg};

use crate::compile::compile;
use crate::compile::fuse::fuse;
use crate::isa::bytecode::Code;
use crate::isa::host::HostCode;

/// A program ready to run. The module must be verified.
#[derive(Debug)]
pub struct Program {
    module: Arc<Module>,
    codes: Vec<Code>,
    /// Per host function that has run: its second form.
    host_codes: Vec<OnceLock<HostCode>>,
    /// Per kernel that asks for `tid.y` or `tid.z`: the code for blocks whose warps have one of each, once it was wanted.
    row_codes: Vec<Option<OnceLock<Code>>>,
    /// Host functions have no second form.
    is_plain: bool,
}

impl Program {
    /// Compiles every function.
    pub fn new(module: Arc<Module>) -> Program {
        let ids = (0..module.functions.len()).map(|index| FuncId(index as u32));
        let codes = ids.map(|id| compile(&module, id, false)).collect();
        let host_codes = module.functions.iter().map(|_| OnceLock::new()).collect();
        let row_codes = module
            .functions
            .iter()
            .map(|function| asks_for_rows(function).then(OnceLock::new))
            .collect();
        Program {
            module,
            codes,
            host_codes,
            row_codes,
            is_plain: false,
        }
    }

    /// The same, but host functions run in the first form of their bytecode alone. Nothing but the time differs: a test compares.
    #[must_use]
    pub fn in_plain_form(self) -> Program {
        Program {
            is_plain: true,
            ..self
        }
    }

    pub(crate) fn code(&self, id: FuncId) -> &Code {
        &self.codes[id.index()]
    }

    /// The second form of a host function.
    pub(crate) fn host_code(&self, id: FuncId) -> &HostCode {
        self.host_codes[id.index()].get_or_init(|| match self.is_plain {
            true => HostCode::none(self.code(id).insts.len()),
            false => fuse(self.code(id)),
        })
    }

    /// The code that runs a kernel in blocks of this size.
    pub(crate) fn code_for(&self, id: FuncId, block: [u32; 3]) -> &Code {
        match &self.row_codes[id.index()] {
            Some(code) if Shape::has_row_warps(block) => {
                code.get_or_init(|| compile(&self.module, id, true))
            }
            _ => self.code(id),
        }
    }

    pub(crate) fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// What it was made from.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }
}

fn asks_for_rows(function: &Function) -> bool {
    let mut asks = false;
    function.body.for_each_inst(&mut |inst| {
        let row = InstKind::Special(SpecialReg::TidY);
        let layer = InstKind::Special(SpecialReg::TidZ);
        asks |= inst.kind == row || inst.kind == layer;
    });
    asks && function.kind == FunctionKind::Kernel
}
