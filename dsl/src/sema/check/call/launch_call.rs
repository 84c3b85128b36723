//! Launches by name: `cudaLaunchKernel` and its cooperative form, where arguments come as an array of their addresses.

use crate::sema::check::{Checker, Reported, all, builtin_call::Called, int};
use crate::{
    ir::HostFn,
    sema::{
        classify::{constant, pointer_to},
        ty::{QualTy, Ty},
        typed::{self, Place, PlaceKind, Value, ValueKind},
    },
    syntax::ast::ExprKind,
};

impl Checker<'_> {
    /// `cudaLaunchKernel((void *)kernel, grid, block, args, shared, stream)`: the launch, then what it left as an error.
    pub(crate) fn launch_call(
        &mut self,
        called: &Called<'_>,
        cooperative: bool,
    ) -> Result<Value, Reported> {
        let span = called.span;
        let n = called.args.len();
        if !(4..=6).contains(&n) {
            return Err(self.wrong_count(called, 4, 6, false));
        }
        let kernel = self.kernel_named(&called.args[0], called);
        let grid = self.extent(&called.args[1], "the number of blocks");
        let block = self.extent(&called.args[2], "the number of threads per block");
        let shared_bytes = called.args.get(4).map(|arg| self.shared_bytes(arg));
        let stream = called.args.get(5).map(|arg| self.stream(arg));
        let kernel = match kernel {
            Ok(kernel) => kernel,
            Err(reported) => {
                self.check_args_alone(&called.args[3..4]);
                return Err(reported);
            }
        };
        let params: Vec<Ty> = self.tables.functions[kernel]
            .facts
            .params
            .iter()
            .map(|param| param.ty.ty.clone())
            .collect();
        let given = &called.args[3];
        let is_name = matches!(
            crate::sema::check::host_call::stripped(given).kind,
            ExprKind::Name(_)
        );
        if !is_name && !params.is_empty() {
            // It is read once per argument.
            let what = "an array of arguments that is not a variable's name";
            let reported = self.unsupported(what, given.span);
            self.check_args_alone(&called.args[3..4]);
            return Err(reported);
        }
        let array = self.value(given)?;
        let addresses = pointer_to(QualTy::from(pointer_to(Ty::Void.into())));
        let array = self.cast(array, &addresses, given.span)?;
        let args = params.iter().enumerate();
        let args = all(args.map(|(i, ty)| self.pointed_argument(&array, i, ty)))?;
        if let Some(caller) = self.body.id
            && !self.may_be_device()
        {
            let calls = &mut self.tables.functions[caller].facts.calls;
            calls.push((kernel, called.name_span));
        }
        let launch = Value::new(
            ValueKind::Launch(Box::new(typed::Launch {
                kernel,
                grid: grid?,
                block: block?,
                shared_bytes: shared_bytes.transpose()?,
                stream: stream.transpose()?,
                cooperative,
                args,
            })),
            Ty::Void,
            span,
        );
        let error = Value::new(
            ValueKind::Host(HostFn::CudaPeekAtLastError, Vec::new()),
            Ty::Int,
            span,
        );
        let ty = self.prelude_type("cudaError_t");
        let error = self.convert(error, &ty);
        let kind = ValueKind::Comma(Box::new(launch), Box::new(error));
        Ok(Value::new(kind, ty, span))
    }

    /// `*(T *)array[i]`.
    fn pointed_argument(&mut self, array: &Value, i: usize, ty: &Ty) -> Result<Value, Reported> {
        let span = array.span;
        self.known(ty, span)?;
        let address = Place::new(
            PlaceKind::PointerIndex(
                Box::new(array.clone()),
                Box::new(int(i as u64, Ty::Long, span)),
            ),
            pointer_to(Ty::Void.into()).into(),
            span,
        );
        let address = self.load(address);
        let address = self.cast(address, &pointer_to(constant(ty.clone())), span)?;
        let argument = Place::new(PlaceKind::Deref(Box::new(address)), ty.clone().into(), span);
        Ok(self.load(argument))
    }
}
