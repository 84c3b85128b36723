//! A module together with its bytecode.

use std::sync::Arc;

use dsl::ir::{FuncId, Module};

use crate::bytecode::Code;
use crate::compile::compile;

/// A program ready to run. The module must be verified.
#[derive(Debug)]
pub struct Program {
    module: Arc<Module>,
    codes: Vec<Code>,
}

impl Program {
    /// Compiles every function.
    pub fn new(module: Arc<Module>) -> Program {
        let ids = (0..module.functions.len()).map(|index| FuncId(index as u32));
        let codes = ids.map(|id| compile(&module, id)).collect();
        Program { module, codes }
    }

    pub(crate) fn code(&self, id: FuncId) -> &Code {
        &self.codes[id.index()]
    }

    pub(crate) fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// What it was made from.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }
}
