//! A module together with its bytecode.

use std::sync::Arc;

use dsl::ir::Module;

/// A program ready to run. The module must be verified.
#[derive(Debug)]
pub struct Program {
    module: Arc<Module>,
}

impl Program {
    /// Compiles every function.
    pub fn new(module: Arc<Module>) -> Program {
        Program { module }
    }

    /// What it was made from.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }
}
