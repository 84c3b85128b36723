//! Operations of several threads, and calls of the driver: barriers, fences, `printf`, `assert`.

use std::fmt::Write;

use ir::{BarrierReduce, FenceScope, Intrinsic, Operand, StringId, Type, ValueId};

use super::super::kernel::Kernel;

impl Kernel<'_, '_> {
    pub(super) fn barrier(&mut self) {
        self.line("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)");
    }

    pub(super) fn barrier_reduce(
        &mut self,
        result: ValueId,
        reduce: BarrierReduce,
        predicate: Operand,
    ) {
        // Any value other than 0 is true; the predicate may be an `i1` or a number.
        let predicate = match self.type_of(predicate) {
            Type::I1 => self.operand(predicate),
            _ => {
                let typed = self.typed(predicate);
                self.fresh(format!("icmp ne {typed}, 0"))
            }
        };
        let call = |ty: &str, name: &str| {
            format!(
                "call {ty} @llvm.nvvm.barrier.cta.red.{name}.aligned.all(i32 0, i1 {predicate})"
            )
        };
        match reduce {
            BarrierReduce::Count => self.result(result, call("i32", "popc")),
            BarrierReduce::And | BarrierReduce::Or => {
                let all = self.fresh(call("i1", reduce.text()));
                self.result(result, format!("zext i1 {all} to i32"));
            }
        }
    }

    pub(super) fn fixed_form(
        &mut self,
        intrinsic: Intrinsic,
        args: &[Operand],
        result: Option<ValueId>,
    ) {
        let operands = args;
        let args: Vec<String> = args.iter().map(|&arg| self.typed(arg)).collect();
        let args = args.join(", ");
        let space = match intrinsic {
            Intrinsic::SyncWarp => {
                return self.line(format!("call void @llvm.nvvm.bar.warp.sync({args})"));
            }
            Intrinsic::BarSync
            | Intrinsic::BarArrive
            | Intrinsic::BarrierSync
            | Intrinsic::BarrierArrive => return self.numbered_barrier(intrinsic, operands),
            // A hint that older GPUs do not have.
            Intrinsic::Nanosleep if self.m.arch < 70 => return,
            Intrinsic::Nanosleep => {
                return self.line(format!("call void @llvm.nvvm.nanosleep({args})"));
            }
            Intrinsic::Trap | Intrinsic::BadCall | Intrinsic::BadObject => {
                return self.line("call void @llvm.trap()");
            }
            Intrinsic::HeapMalloc => {
                self.m
                    .declare("declare ptr @malloc(i64) nobuiltin nounwind");
                if let Some(result) = result {
                    self.result(result, format!("call ptr @malloc({args})"));
                }
                return;
            }
            Intrinsic::HeapFree => {
                self.m.declare("declare void @free(ptr) nobuiltin nounwind");
                return self.line(format!("call void @free({args})"));
            }
            Intrinsic::IsShared => "shared",
            Intrinsic::IsLocal => "local",
            Intrinsic::IsConstant => "const",
            Intrinsic::IsGlobal => "global",
        };
        let is_in = self.fresh(format!("call i1 @llvm.nvvm.isspacep.{space}({args})"));
        if let Some(result) = result {
            self.result(result, format!("zext i1 {is_in} to i32"));
        }
    }

    /// A barrier with a number, for a number of threads; 0 means all threads of the block.
    fn numbered_barrier(&mut self, intrinsic: Intrinsic, operands: &[Operand]) {
        let arrives = matches!(intrinsic, Intrinsic::BarArrive | Intrinsic::BarrierArrive);
        let step = if arrives { "arrive" } else { "sync" };
        // Before sm_70 a barrier counts whole warps.
        let is_aligned = matches!(intrinsic, Intrinsic::BarSync | Intrinsic::BarArrive);
        let aligned = match is_aligned || self.m.arch < 70 {
            true => ".aligned",
            false => "",
        };
        let [barrier, threads] = operands else {
            return;
        };
        let all = threads.constant().is_some_and(|threads| threads.bits == 0);
        let mut args = self.typed(*barrier);
        if !all {
            args = format!("{args}, {}", self.typed(*threads));
        }
        let who = if all { "all" } else { "count" };
        self.line(format!(
            "call void @llvm.nvvm.barrier.cta.{step}{aligned}.{who}({args})"
        ));
    }

    pub(super) fn fence(&mut self, scope: FenceScope) {
        let name = match scope {
            FenceScope::Block => "cta",
            FenceScope::Device => "gl",
            FenceScope::System => "sys",
        };
        self.line(format!("call void @llvm.nvvm.membar.{name}()"));
    }

    /// Calls the driver's `vprintf` with the format, and the arguments in memory as a C compiler passes variable arguments.
    pub(super) fn printf(&mut self, result: Option<ValueId>, format: StringId, args: &[Operand]) {
        self.m
            .declare("declare i32 @vprintf(ptr, ptr) convergent nounwind");
        let format = self.m.string_address(format);
        let mut size = 0u64;
        let mut places = Vec::new();
        for &arg in args {
            let bytes = match self.type_of(arg) {
                Type::I1 | Type::I32 | Type::F32 => 4,
                Type::I64 | Type::F64 | Type::Ptr(_) => 8,
            };
            size = size.next_multiple_of(bytes);
            places.push(size);
            size += bytes;
        }
        let mut buffer = "null".to_string();
        if !args.is_empty() {
            buffer = format!("%printf{}", self.new_block());
            let _ = writeln!(self.allocas, "  {buffer} = alloca [{size} x i8], align 8");
        }
        for (&arg, place) in args.iter().zip(places) {
            let value = match self.type_of(arg) {
                Type::I1 => {
                    let typed = self.typed(arg);
                    format!("i32 {}", self.fresh(format!("zext {typed} to i32")))
                }
                Type::Ptr(_) => self.generic(arg),
                Type::I32 | Type::I64 | Type::F32 | Type::F64 => self.typed(arg),
            };
            let at = self.fresh(format!(
                "getelementptr inbounds i8, ptr {buffer}, i64 {place}"
            ));
            self.line(format!("store {value}, ptr {at}"));
        }
        let text = format!("call i32 @vprintf(ptr {format}, ptr {buffer})");
        match result {
            Some(result) => self.result(result, text),
            None => {
                self.fresh(text);
            }
        }
    }

    /// Calls the driver's `__assertfail`: text of the condition, file, line, function, bytes per character.
    pub(super) fn assert(&mut self, condition: Operand, text: StringId) {
        self.m
            .declare("declare void @__assertfail(ptr, ptr, i32, ptr, i64) convergent nounwind");
        let (failed, holds) = (self.new_block(), self.new_block());
        let condition = self.operand(condition);
        self.branch(&condition, holds, failed);
        self.start_block(failed);
        let loc = self.m.module.loc(self.at);
        let (file, line) = (loc.file, loc.line);
        let file_name = self.m.module.files.get(file as usize).cloned();
        let text = self.m.string_address(text);
        let file = self.m.text_address(&file_name.unwrap_or_default());
        let function = self.m.text_address(&self.f.name);
        self.line(format!(
            "call void @__assertfail(ptr {text}, ptr {file}, i32 {line}, ptr {function}, i64 1)"
        ));
        self.line("call void @llvm.trap()");
        self.end("unreachable");
        self.start_block(holds);
    }
}
