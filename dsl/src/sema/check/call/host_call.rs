//! Calls of the runtime and of C's library, and the arguments only they have: symbols, kernels, addresses of pointers.

use crate::sema::message::call::CallError;
use std::sync::Arc;

use crate::sema::check::{Checker, Side, builtin_call::Called, wrong};
use crate::{
    ir::{HostFn, Type},
    sema::{
        builtin::{Row, Signature},
        classify::pointer_to,
        scope::Entity,
        ty::Ty,
        typed::{Builtin, FunctionSpace, Value, ValueKind},
    },
    span::Span,
    syntax::ast::{self, ExprKind, UnaryOp},
};

/// What CUDA also has in device code; everything else exists on the host only.
fn device_family(host: HostFn) -> Option<&'static str> {
    match host {
        HostFn::Memcpy | HostFn::Memset => Some("memory functions"),
        HostFn::Expf
        | HostFn::Logf
        | HostFn::Powf
        | HostFn::Sinf
        | HostFn::Cosf
        | HostFn::Tanhf
        | HostFn::Log2
        | HostFn::Log10
        | HostFn::Tan
        | HostFn::Atan
        | HostFn::Atan2 => Some("math functions"),
        _ => None,
    }
}

impl Checker<'_> {
    /// `memcpy` and `memset` in device code: loops over units that both sides are aligned to, if a constant number of them is moved,
    /// else over bytes.
    fn device_copy(&mut self, host: HostFn, called: &Called<'_>) -> Option<Value> {
        if called.args.len() != 3 {
            return None;
        }
        let values: Vec<Value> = self.tentatively(|checker| {
            let args = called.args.iter();
            args.map(|arg| checker.value(arg)).collect()
        });
        let align = |value: &Value| match &value.ty {
            Ty::Pointer(pointee) => self.align_of(&pointee.ty).max(1),
            _ => 16,
        };
        let unit = match values[2].kind {
            ValueKind::Int(n) => {
                let n = 1u64 << n.trailing_zeros().min(4);
                let unit = n.min(align(&values[0])).min(16);
                match host {
                    HostFn::Memset => unit.min(8),
                    _ => unit.min(align(&values[1])),
                }
            }
            _ => 1,
        };
        let what = match host {
            HostFn::Memset => "memset",
            _ => "memcpy",
        };
        let name: Arc<str> = format!("__dslc_{what}_{unit}").into();
        let set = self.prelude_functions(&name)?;
        Some(self.call_prelude(&name, &set, called))
    }

    pub(crate) fn host_call(&mut self, row: &Row, host: HostFn, called: &Called<'_>) -> Value {
        if matches!(host, HostFn::Memcpy | HostFn::Memset)
            && self.may_be_device()
            && let Some(value) = self.device_copy(host, called)
        {
            return value;
        }
        // Some of the runtime's functions are there in kernels, too.
        if self.may_be_device() {
            let name: Arc<str> = format!("__dslc_device_{}", called.name).into();
            if let Some(set) = self.prelude_functions(&name) {
                return self.call_prelude(&name, &set, called);
            }
        }
        match device_family(host) {
            None if matches!(host, HostFn::Malloc | HostFn::Free) => {}
            Some(what) => self.not_on_device(called.name, what, called.name_span),
            None => {
                let diagnostic = self.diagnostic(
                    called.name_span,
                    CallError::HostCallInDevice {
                        name: called.name.to_string(),
                        waits: host == HostFn::CudaDeviceSynchronize,
                    },
                );
                self.on_side(Side::Device, diagnostic);
            }
        }
        self.check_sizes(host, called);
        let signature = Signature::parse(row.signature);
        let result = self.word_type(&signature.result);
        let Some(mut args) = self.fixed_args(&signature, called) else {
            return wrong(called.span);
        };
        if let (true, Some(format)) = (signature.variadic, signature.params.len().checked_sub(1)) {
            self.check_format(&args, format, called.name_span);
        } else {
            args.truncate(host.args().len());
        }
        let args = args
            .into_iter()
            .enumerate()
            .map(|(i, arg)| self.as_runtime_wants(arg, host.args().get(i)))
            .collect();
        // `log2f` is done in double precision.
        let given = match host.result() {
            Some(Type::F64) => Ty::Double,
            Some(Type::F32) => Ty::Float,
            _ => result.clone(),
        };
        let value = Value::new(ValueKind::Host(host, args), given, called.span);
        self.convert(value, &result)
    }

    /// Streams and events are 64-bit numbers to the runtime.
    fn as_runtime_wants(&mut self, arg: Value, want: Option<&Type>) -> Value {
        match (want, &arg.ty) {
            (Some(Type::I64), Ty::Pointer(_)) => self.convert(arg, &Ty::ULong),
            _ => arg,
        }
    }

    /// The address of a pointer variable: `cudaMalloc(&p, n)`, whatever `p` points to.
    pub(crate) fn pointer_pointer(
        &mut self,
        arg: &ast::Expr,
        index: usize,
        called: &Called<'_>,
    ) -> Value {
        let value = self.value(arg);
        let inner = match &value.ty {
            Ty::Error => return value,
            Ty::Pointer(pointee) => Some(pointee.ty.clone()),
            _ => None,
        };
        if matches!(inner, Some(Ty::Pointer(_) | Ty::Void)) {
            return self.convert(value, &pointer_to(Ty::Void.into()));
        }
        let snippet = self.map.snippet(arg.span).to_string();
        self.error(
            arg.span,
            CallError::NotAddressOfPointer {
                position: index + 1,
                name: called.name.to_string(),
                ty: value.ty.clone(),
                pointer: inner.map(|_| snippet),
            },
        );
        wrong(arg.span)
    }

    /// A `__device__` or `__constant__` variable named as an argument.
    pub(crate) fn symbol(&mut self, arg: &ast::Expr, called: &Called<'_>) -> Value {
        let inner = stripped(arg);
        let called = called.name.to_string();
        if let ExprKind::Name(name) = &inner.kind {
            match self
                .scopes
                .find(name)
                .map(|binding| (binding.entity.clone(), binding.span))
            {
                Some((Entity::Global(id), declared)) => {
                    let global = &self.tables.globals[id].typed;
                    if global.space.is_device() {
                        return Value::new(
                            ValueKind::Symbol(id),
                            pointer_to(Ty::Void.into()),
                            arg.span,
                        );
                    }
                    self.error(
                        arg.span,
                        CallError::NotDeviceVariable {
                            name: name.to_string(),
                            declared,
                        },
                    );
                }
                Some((Entity::Local(_), declared)) => {
                    let name = name.to_string();
                    self.error(arg.span, CallError::LocalAsSymbol { name, declared });
                }
                Some((Entity::Error, _)) => {}
                Some(_) => {
                    let name = name.to_string();
                    self.error(arg.span, CallError::NotASymbol { name, called });
                }
                None => self.unknown_name(name, arg.span, false),
            }
            return wrong(arg.span);
        }
        self.error(arg.span, CallError::SymbolMustBeNamed { called });
        wrong(arg.span)
    }

    /// A kernel named as an argument.
    pub(crate) fn kernel_arg(&mut self, arg: &ast::Expr, called: &Called<'_>) -> Value {
        let inner = stripped(arg);
        let mut explicit = None;
        let path = match &inner.kind {
            ExprKind::Path(path) => {
                let Some((name, args)) = self.path_name(path) else {
                    return wrong(arg.span);
                };
                explicit = args;
                Some(name)
            }
            ExprKind::Name(name) => Some(name.clone()),
            _ => None,
        };
        let Some(name) = &path else {
            self.error(
                arg.span,
                CallError::KernelMustBeNamed {
                    name: called.name.to_string(),
                },
            );
            return wrong(arg.span);
        };
        let entity = self.scopes.find(name).map(|binding| binding.entity.clone());
        let ids = match &entity {
            Some(Entity::Functions(set)) => {
                let mut ids = match explicit {
                    None => self.functions_of(set),
                    Some(_) => Vec::new(),
                };
                ids.extend(self.instances(set, explicit, &[], arg.span));
                ids
            }
            _ => Vec::new(),
        };
        for &id in &ids {
            self.need(id);
        }
        let &[id, ref others @ ..] = &ids[..] else {
            match entity {
                None => self.unknown_name(name, arg.span, true),
                Some(Entity::Error) => {}
                Some(_) => self.error(
                    arg.span,
                    CallError::NotAKernel {
                        name: name.to_string(),
                    },
                ),
            }
            return wrong(arg.span);
        };
        if !others.is_empty() {
            self.which_overload(name, &ids, arg.span);
            return wrong(arg.span);
        }
        let function = &self.tables.functions[id].typed;
        if function.space != FunctionSpace::Kernel {
            let diagnostic = self.diagnostic(
                arg.span,
                CallError::FunctionIsNoKernel {
                    name: name.to_string(),
                    space: function.space,
                    declared: function.span,
                },
            );
            self.report(diagnostic);
            return wrong(arg.span);
        }
        Value::new(ValueKind::Kernel(id), Ty::Int, arg.span)
    }

    /// `printf`, of the host or of the device.
    pub(crate) fn printf(&mut self, called: &Called<'_>) -> Value {
        let span = called.span;
        if called.args.is_empty() {
            self.wrong_count(called, 1, 1, true);
            return wrong(span);
        }
        let mut args = Vec::new();
        for (i, arg) in called.args.iter().enumerate() {
            let value = self.value(arg);
            args.push(if i == 0 {
                let ty = pointer_to(crate::sema::classify::constant(Ty::Char));
                self.implicit(
                    value,
                    &ty,
                    &crate::sema::check::convert::Why::Argument(1, called.name, None),
                )
            } else {
                self.promote_variadic(value)
            });
        }
        if args.iter().any(|arg| arg.ty == Ty::Error) {
            return wrong(span);
        }
        self.check_format(&args, 0, called.name_span);
        if !self.may_be_device() {
            return Value::new(ValueKind::Host(HostFn::Printf, args), Ty::Int, span);
        }
        let format = args.remove(0);
        let ValueKind::Str(text) = format.kind else {
            self.unsupported(
                "a `printf` format in device code that is not a literal",
                format.span,
            );
            return wrong(span);
        };
        Value::new(
            ValueKind::Builtin(Builtin::Printf(text), args),
            Ty::Int,
            span,
        )
    }

    /// `assert(condition)`.
    pub(crate) fn assert(&mut self, called: &Called<'_>) -> Value {
        let span = called.span;
        let [arg] = called.args else {
            self.wrong_count(called, 1, 1, false);
            return wrong(span);
        };
        let cond = self.condition(arg);
        if cond.ty == Ty::Error {
            return cond;
        }
        let text = self.map.snippet(arg.span).as_bytes().into();
        let site = self.map.use_site(span);
        let line = self.map.file(site.file).line_column(site.start).0;
        if !self.may_be_device() {
            return host_assert(cond, text, line, span);
        }
        Value::new(
            ValueKind::Builtin(Builtin::Assert(text, line), vec![cond]),
            Ty::Void,
            span,
        )
    }
}

/// `assert` on the host: `condition ? 0 : fail(text, line)`.
pub(crate) fn host_assert(cond: Value, text: Arc<[u8]>, line: u32, span: Span) -> Value {
    let fail = vec![
        Value::new(
            ValueKind::Str(text),
            pointer_to(crate::sema::classify::constant(Ty::Char)),
            span,
        ),
        crate::sema::check::int(u64::from(line), Ty::Int, span),
    ];
    let fail = Value::new(ValueKind::Host(HostFn::AssertFail, fail), Ty::Int, span);
    let nothing = |value: Value| Value::new(ValueKind::Convert(Box::new(value)), Ty::Void, span);
    let (passed, failed) = (
        nothing(crate::sema::check::int(0, Ty::Int, span)),
        nothing(fail),
    );
    Value::new(
        ValueKind::Conditional(Box::new(cond), Box::new(passed), Box::new(failed)),
        Ty::Void,
        span,
    )
}

/// Without the casts and `&` that people put around symbols and kernels.
pub(crate) fn stripped(mut arg: &ast::Expr) -> &ast::Expr {
    loop {
        arg = match &arg.kind {
            ExprKind::Cast(_, inner) | ExprKind::Unary(UnaryOp::AddressOf, inner) => inner,
            _ => return arg,
        };
    }
}
