//! Lowers what only host code does: launches and calls of the runtime.

use crate::sema::typed::{self, Value};
use ir::{Const, FuncId, HostFn, Intrinsic, Launch, Operand, span::Span};

use super::{function::FunctionLowerer, layout};

impl FunctionLowerer<'_, '_> {
    /// A launch. It has no value; the returned operand is 0.
    pub(super) fn launch(&mut self, launch: &typed::Launch, span: Span) -> Operand {
        let grid = self.extent(&launch.grid);
        let block = self.extent(&launch.block);
        let zero: Operand = Const::i64(0).into();
        let mut option = |value: &Option<Value>| value.as_ref().map_or(zero, |v| self.value(v));
        let shared_bytes = option(&launch.shared_bytes);
        let stream = option(&launch.stream);
        let args = launch
            .args
            .iter()
            .flat_map(|arg| self.leaves(arg))
            .collect();
        self.at(span);
        let kernel = match self.m.function_ids.get(&launch.kernel) {
            Some(&id) => id,
            None => {
                self.m
                    .internal(span, "a launch of a kernel without a number");
                FuncId(0)
            }
        };
        self.b.launch(Launch {
            kernel,
            grid,
            block,
            shared_bytes,
            stream,
            cooperative: launch.cooperative,
            args,
        });
        Const::i32(0).into()
    }

    /// The x, y and z of an extent; missing ones are 1.
    fn extent(&mut self, value: &Value) -> [Operand; 3] {
        let leaves = self.leaves(value);
        std::array::from_fn(|i| leaves.get(i).copied().unwrap_or(Const::i32(1).into()))
    }

    pub(super) fn host_value(
        &mut self,
        function: HostFn,
        args: &[Value],
        value: &Value,
    ) -> Operand {
        let result = self.host_call(function, args, value.span);
        result.unwrap_or_else(|| Const::zero(layout::value_type(&value.ty)).into())
    }

    pub(super) fn host_call(
        &mut self,
        function: HostFn,
        args: &[Value],
        span: Span,
    ) -> Option<Operand> {
        let args = args.iter().map(|arg| self.value(arg)).collect();
        self.at(span);
        if self.is_device {
            // Kernels have a separate heap.
            let heap = match function {
                HostFn::Malloc => Some(Intrinsic::HeapMalloc),
                HostFn::Free => Some(Intrinsic::HeapFree),
                _ => None,
            };
            if let Some(heap) = heap {
                return self.b.intrinsic(heap, args);
            }
        }
        self.b.host_call(function, args)
    }
}
