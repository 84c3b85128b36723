//! A module together with its bytecode.

use crate::isa::grid::Shape;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ir::{FuncId, Function, FunctionKind, InstKind, Module, SpecialReg};

use crate::compile::fuse::fuse;
use crate::compile::ranges::{self, Given};
use crate::compile::{Form, compile};
use crate::isa::bytecode::Code;
use crate::isa::host::HostCode;
use crate::machine::replay::kept::ReplayCache;
use crate::shortcut::{Shortcut, Shortcuts};

/// A program ready to run. The module must be verified.
#[derive(Debug)]
pub struct Program {
    module: Arc<Module>,
    codes: Vec<Code>,
    /// The second form of each host function that has run.
    host_codes: Vec<OnceLock<HostCode>>,
    /// The other forms of kernels, if they were needed.
    kernels: Vec<Kernel>,
    shortcuts: Shortcuts,
}

impl Program {
    /// Compiles every function, to be run with all shortcuts.
    pub fn new(module: Arc<Module>) -> Program {
        Program::with(module, Shortcuts::ALL)
    }

    /// Compiles every function, to be run with these shortcuts.
    pub fn with(module: Arc<Module>, shortcuts: Shortcuts) -> Program {
        let form = Form {
            shortcuts,
            ..Form::default()
        };
        let ids = (0..module.functions.len()).map(|index| FuncId(index as u32));
        let codes = ids.map(|id| compile(&module, id, form)).collect();
        let host_codes = module.functions.iter().map(|_| OnceLock::new()).collect();
        let kernels = module.functions.iter().map(Kernel::of).collect();
        Program {
            module,
            codes,
            host_codes,
            kernels,
            shortcuts,
        }
    }

    pub(crate) fn code(&self, id: FuncId) -> &Code {
        &self.codes[id.index()]
    }

    /// The second form of a host function.
    pub(crate) fn host_code(&self, id: FuncId) -> &HostCode {
        self.host_codes[id.index()].get_or_init(|| match self.shortcuts.has(Shortcut::Host) {
            true => fuse(self.code(id)),
            false => HostCode::none(self.code(id).insts.len()),
        })
    }

    /// The code that runs a launch of a kernel. If overflow is to be reported, the code checks for it, unless it is
    /// impossible.
    pub(crate) fn code_for(&self, id: FuncId, shape: &Shape<'_>, checked: bool) -> &Code {
        let kernel = &self.kernels[id.index()];
        let form = Form {
            row_warps: kernel.asks_for_rows && Shape::has_row_warps(shape.block),
            checked: checked
                && kernel.may_overflow
                && !(self.shortcuts.has(Shortcut::Ranges)
                    && kernel.stays(self.module.function(id), shape)),
            shortcuts: self.shortcuts,
        };
        let code = match (form.row_warps, form.checked) {
            (false, false) => return self.code(id),
            (true, false) => &kernel.rows,
            (false, true) => &kernel.checked,
            (true, true) => &kernel.checked_rows,
        };
        code.get_or_init(|| compile(&self.module, id, form))
    }

    /// The cache that launches of a kernel share.
    pub(crate) fn kept(&self, id: FuncId) -> &ReplayCache {
        &self.kernels[id.index()].kept
    }

    pub(crate) fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// The module that it was compiled from.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }
}

/// The most launches of a kernel for which it is known whether its arithmetic can overflow.
const MAX_LAUNCHES: usize = 64;

/// The codes of a kernel.
#[derive(Debug, Default)]
struct Kernel {
    /// Whether it reads `tid.y` or `tid.z`.
    asks_for_rows: bool,
    /// Whether it has arithmetic whose overflow is reported.
    may_overflow: bool,
    /// Whether overflow is provably impossible, for earlier launches: to prove it takes as long as to run a small
    /// launch.
    stays: Mutex<HashMap<Given, bool>>,
    rows: OnceLock<Code>,
    checked: OnceLock<Code>,
    checked_rows: OnceLock<Code>,
    kept: ReplayCache,
}

impl Kernel {
    fn of(function: &Function) -> Kernel {
        let mut kernel = Kernel::default();
        if function.kind != FunctionKind::Kernel {
            return kernel;
        }
        function.body.for_each_inst(&mut |inst| match inst.kind {
            InstKind::Special(SpecialReg::TidY | SpecialReg::TidZ) => kernel.asks_for_rows = true,
            InstKind::Unary(op, ..) => kernel.may_overflow |= op != op.wrapping(),
            InstKind::Binary(op, ..) => kernel.may_overflow |= op != op.wrapping(),
            _ => {}
        });
        kernel
    }

    /// Whether no signed arithmetic can overflow in this launch.
    fn stays(&self, function: &Function, shape: &Shape<'_>) -> bool {
        let given = Given::of(function, shape);
        let mut known = self.stays.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&stays) = known.get(&given) {
            return stays;
        }
        let stays = ranges::stay(function, &given);
        if known.len() >= MAX_LAUNCHES {
            known.clear();
        }
        known.insert(given, stays);
        stays
    }
}
