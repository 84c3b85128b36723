//! Launches by function call: `cudaLaunchKernel` and its cooperative form, which take the arguments as an array of their addresses.

use crate::sema::check::{
    Checker, Reported, all,
    builtin_call::{self, Called},
    call, convert, expr, host_call, int, launch,
};
use crate::{
    sema::{
        classify::{constant, pointer_to},
        ty::{QualTy, Ty},
        typed::{self, Place, PlaceKind, Value, ValueKind},
    },
    syntax::ast::ExprKind,
};
use ir::HostFn;

/// `cudaLaunchKernel((void *)kernel, grid, block, args, shared, stream)`: the launch, and its error as the value.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    called: &Called<'_>,
    cooperative: bool,
) -> Result<Value, Reported> {
    let span = called.span;
    let n = called.args.len();
    if !(4..=6).contains(&n) {
        return Err(builtin_call::wrong_count(cx, called, 4, 6, false));
    }
    let kernel = host_call::kernel_named(cx, &called.args[0], called);
    let grid = launch::extent(cx, &called.args[1], "the number of blocks");
    let block = launch::extent(cx, &called.args[2], "the number of threads per block");
    let shared_bytes = called.args.get(4).map(|arg| launch::shared_bytes(cx, arg));
    let stream = called.args.get(5).map(|arg| launch::stream(cx, arg));
    let kernel = match kernel {
        Ok(kernel) => kernel,
        Err(reported) => {
            call::check_args_alone(cx, &called.args[3..4]);
            return Err(reported);
        }
    };
    let params: Vec<Ty> = cx.tables.functions[kernel]
        .facts
        .params
        .iter()
        .map(|param| param.ty.ty.clone())
        .collect();
    let given = &called.args[3];
    let is_name = matches!(host_call::stripped(given).kind, ExprKind::Name(_));
    if !is_name && !params.is_empty() {
        // The array is read once per argument.
        let what = "an array of arguments that is not a variable's name";
        let reported = cx.unsupported(what, given.span);
        call::check_args_alone(cx, &called.args[3..4]);
        return Err(reported);
    }
    let array = expr::value(cx, given)?;
    let addresses = pointer_to(QualTy::from(pointer_to(Ty::Void.into())));
    let array = convert::cast(cx, array, &addresses, given.span)?;
    let args = params.iter().enumerate();
    let args = all(args.map(|(i, ty)| pointed_argument(cx, &array, i, ty)))?;
    if let Some(caller) = cx.body.id
        && !cx.body.may_be_device()
    {
        let calls = &mut cx.tables.functions[caller].facts.calls;
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
    let ty = builtin_call::prelude_type(&cx.scopes, "cudaError_t");
    let error = convert::to_type(error, &ty);
    let kind = ValueKind::Comma(Box::new(launch), Box::new(error));
    Ok(Value::new(kind, ty, span))
}

/// `*(T *)array[i]`.
fn pointed_argument(
    cx: &mut Checker<'_>,
    array: &Value,
    i: usize,
    ty: &Ty,
) -> Result<Value, Reported> {
    let span = array.span;
    cx.body.known(ty, span)?;
    let address = Place::new(
        PlaceKind::PointerIndex(
            Box::new(array.clone()),
            Box::new(int(i as u64, Ty::Long, span)),
        ),
        pointer_to(Ty::Void.into()).into(),
        span,
    );
    let address = expr::load(cx, address);
    let address = convert::cast(cx, address, &pointer_to(constant(ty.clone())), span)?;
    let argument = Place::new(PlaceKind::Deref(Box::new(address)), ty.clone().into(), span);
    Ok(expr::load(cx, argument))
}
