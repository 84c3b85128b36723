//! Instructions whose operands are rows of a table of the code: prints, launches, calls of host code.

use ir::{Const, InstKind, Launch, Operand, StringId, ValueId};

use super::Compiler;
use crate::isa::bytecode::{CallRow, Class, LaunchRow, Place, PrintRow};
use crate::isa::op::Op;

impl Compiler<'_> {
    pub(super) fn print(&mut self, format: StringId, args: &[Operand], result: Option<ValueId>) {
        let args = args.iter().map(|arg| (self.type_of(arg), self.place(arg)));
        let args = args.collect();
        self.code.prints.push(PrintRow {
            format: format.0,
            args,
        });
        let row = self.code.prints.len() as u32 - 1;
        let d = match result.map(|id| self.define(id)) {
            Some(Place::V(d)) => d,
            Some(Place::S(_)) | None => self.temporary(Class::W32),
        };
        self.emit(Op::Print, d, row, 0, 0);
    }

    /// A launch from a kernel. Its stream does not matter, because launches from kernels run one after the other.
    pub(super) fn launch(&mut self, launch: &Launch) {
        let sizes = launch.grid.iter().chain(&launch.block);
        let operands = sizes.chain([&launch.shared_bytes]).chain(&launch.args);
        let args = operands.map(|arg| (self.type_of(arg), self.place(arg)));
        let args = args.collect();
        self.code.launches.push(LaunchRow {
            kernel: launch.kernel.0,
            args,
            loc: self.loc,
        });
        let row = self.code.launches.len() as u32 - 1;
        self.emit(Op::LaunchChild, 0, row, 0, 0);
    }

    pub(super) fn host_call(&mut self, kind: &InstKind, result: Option<ValueId>) {
        let row = |compiler: &mut Self, operands: &[Operand], target: u32, host| {
            let args = operands
                .iter()
                .map(|arg| (compiler.type_of(arg), compiler.scalar(arg)))
                .collect();
            compiler.code.calls.push(CallRow { target, args, host });
            compiler.code.calls.len() as u32 - 1
        };
        let (op, row) = match kind {
            InstKind::Call(target, args) => (Op::Call, row(self, args, target.0, None)),
            InstKind::HostCall(function, args) => {
                (Op::HostCall, row(self, args, 0, Some(*function)))
            }
            InstKind::Launch(launch) => {
                let mut operands: Vec<Operand> = launch.grid.to_vec();
                operands.extend(launch.block);
                let cooperative = Const::i32(launch.cooperative.into());
                operands.extend([launch.shared_bytes, launch.stream, cooperative.into()]);
                operands.extend(&launch.args);
                (Op::Launch, row(self, &operands, launch.kernel.0, None))
            }
            _ => return,
        };
        let (d, has) = match result.map(|id| self.define(id)) {
            Some(Place::S(d)) => (d, 1),
            Some(Place::V(_)) | None => (0, 0),
        };
        self.control(op, d, row, has);
    }
}
