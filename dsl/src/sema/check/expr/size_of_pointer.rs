//! Warns about the size of a pointer in place of the size of its target: `cudaMemcpy(d, h, sizeof(h), …)`.

use crate::sema::check::{Checker, builtin_call::Called, specifier};
use crate::sema::message::expr::ExprError;
use crate::{
    sema::ty::Ty,
    syntax::ast::{self, BinaryOp, ExprKind, UnaryOp},
};
use ir::HostFn;

/// The indices of the arguments that are pointers to memory, and of the one that is the number of bytes.
fn places(host: HostFn) -> Option<(&'static [usize], usize)> {
    Some(match host {
        HostFn::CudaMalloc
        | HostFn::CudaMallocAsync
        | HostFn::CudaMallocManaged
        | HostFn::CudaMallocHost => (&[0], 1),
        HostFn::CudaMemcpy
        | HostFn::CudaMemcpyAsync
        | HostFn::Memcpy
        | HostFn::Memmove
        | HostFn::Memcmp => (&[0, 1], 2),
        HostFn::CudaMemset | HostFn::CudaMemsetAsync | HostFn::Memset => (&[0], 2),
        HostFn::CudaMemcpyToSymbol => (&[1], 2),
        HostFn::CudaMemcpyFromSymbol => (&[0], 2),
        _ => return None,
    })
}

/// Warns about a size that is that of an argument's pointer.
pub(crate) fn check(cx: &mut Checker<'_>, host: HostFn, called: &Called<'_>) {
    let Some((pointers, size)) = places(host) else {
        return;
    };
    let Some(size) = called.args.get(size) else {
        return;
    };
    if cx.options.is_own(called.name_span) {
        return;
    }
    for &index in pointers {
        if let Some(pointer) = called.args.get(index) {
            check_size(cx, size, pointer, called.name);
        }
    }
}

/// `sizeof(p)`, or a multiple of it.
fn check_size(cx: &mut Checker<'_>, size: &ast::Expr, pointer: &ast::Expr, name: &str) {
    match &size.kind {
        ExprKind::Binary(op, a, b) if op.node == BinaryOp::Mul => {
            check_size(cx, a, pointer, name);
            check_size(cx, b, pointer, name);
        }
        ExprKind::SizeofExpr(inner) => {
            let text = cx.map.snippet(inner.span);
            let text = text.trim_start_matches('(').trim_end_matches(')').trim();
            let text = text.to_string();
            let mut place = pointer;
            while let ExprKind::Cast(_, inner) = &place.kind {
                place = inner;
            }
            let makes = name.starts_with("cudaMalloc") || name == "cudaHostAlloc";
            if let (ExprKind::Unary(UnaryOp::AddressOf, inner), true) = (&place.kind, makes) {
                place = inner;
            }
            if text != cx.map.snippet(place.span) {
                return;
            }
            let Ok(Ty::Pointer(pointee)) = specifier::type_of_unevaluated(cx, inner) else {
                return;
            };
            // The size of one element of an array of pointers may be intended.
            if matches!(pointee.ty, Ty::Pointer(_)) {
                return;
            }
            let name = name.to_string();
            let message = match pointee.ty {
                Ty::Void => ExprError::SizeOfVoidPointer { text, name },
                _ => ExprError::SizeOfPointer { text, name },
            };
            cx.error(size.span, message);
        }
        _ => {}
    }
}
