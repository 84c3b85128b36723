//! Calls of the runtime and of C's library, and the arguments only they have: symbols, kernels, addresses of pointers.

use crate::sema::message::call::CallError;
use std::sync::Arc;

use crate::sema::check::{Checker, Reported, Side, all, builtin_call::Called};
use crate::{
    ir::{HostFn, Type},
    sema::{
        builtin::{Row, Signature},
        classify::pointer_to,
        scope::Entity,
        ty::Ty,
        typed::{Builtin, FunctionId, FunctionSpace, Value, ValueKind},
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
    fn device_copy(
        &mut self,
        host: HostFn,
        called: &Called<'_>,
    ) -> Result<Option<Value>, Reported> {
        if called.args.len() != 3 {
            return Ok(None);
        }
        let values: Vec<_> = self.tentatively(|checker| {
            let args = called.args.iter();
            args.map(|arg| checker.value(arg)).collect()
        });
        let align = |value: &Result<Value, Reported>| match value {
            Ok(Value {
                ty: Ty::Pointer(pointee),
                ..
            }) => self.tables.align_of(&pointee.ty).max(1),
            _ => 16,
        };
        let unit = match &values[2] {
            Ok(Value {
                kind: ValueKind::Int(n),
                ..
            }) => {
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
        match self.prelude_functions(&name) {
            Some(set) => self.call_prelude(&name, &set, called).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn host_call(
        &mut self,
        row: &Row,
        host: HostFn,
        called: &Called<'_>,
    ) -> Result<Value, Reported> {
        if matches!(host, HostFn::Memcpy | HostFn::Memset)
            && self.may_be_device()
            && let Some(value) = self.device_copy(host, called)?
        {
            return Ok(value);
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
        let mut args = self.fixed_args(&signature, called)?;
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
        Ok(self.convert(value, &result))
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
    ) -> Result<Value, Reported> {
        let value = self.value(arg)?;
        let inner = match &value.ty {
            Ty::Pointer(pointee) => Some(pointee.ty.clone()),
            _ => None,
        };
        if matches!(inner, Some(Ty::Pointer(_) | Ty::Void)) {
            return Ok(self.convert(value, &pointer_to(Ty::Void.into())));
        }
        let snippet = self.map.snippet(arg.span).to_string();
        Err(self.error(
            arg.span,
            CallError::NotAddressOfPointer {
                position: index + 1,
                name: called.name.to_string(),
                ty: value.ty.clone(),
                pointer: inner.map(|_| snippet),
            },
        ))
    }

    /// A `__device__` or `__constant__` variable named as an argument.
    pub(crate) fn symbol(
        &mut self,
        arg: &ast::Expr,
        called: &Called<'_>,
    ) -> Result<Value, Reported> {
        let inner = stripped(arg);
        let called = called.name.to_string();
        let ExprKind::Name(name) = &inner.kind else {
            return Err(self.error(arg.span, CallError::SymbolMustBeNamed { called }));
        };
        let found = self.scopes.find(name);
        let message = match found.map(|binding| (binding.entity.clone(), binding.span)) {
            Some((Entity::Global(id), declared)) => {
                if self.tables.globals[id].typed.space.is_device() {
                    let ty = pointer_to(Ty::Void.into());
                    return Ok(Value::new(ValueKind::Symbol(id), ty, arg.span));
                }
                let name = name.to_string();
                CallError::NotDeviceVariable { name, declared }
            }
            Some((Entity::Local(_), declared)) => {
                let name = name.to_string();
                CallError::LocalAsSymbol { name, declared }
            }
            Some((Entity::Error, _)) => return Err(self.reported_before(arg.span)),
            Some(_) => {
                let name = name.to_string();
                CallError::NotASymbol { name, called }
            }
            None => return Err(self.unknown_name(name, arg.span, false)),
        };
        Err(self.error(arg.span, message))
    }

    /// A kernel named as an argument.
    pub(crate) fn kernel_arg(
        &mut self,
        arg: &ast::Expr,
        called: &Called<'_>,
    ) -> Result<Value, Reported> {
        let id = self.kernel_named(arg, called)?;
        Ok(Value::new(ValueKind::Kernel(id), Ty::Int, arg.span))
    }

    /// The kernel that an argument names.
    pub(crate) fn kernel_named(
        &mut self,
        arg: &ast::Expr,
        called: &Called<'_>,
    ) -> Result<FunctionId, Reported> {
        let inner = stripped(arg);
        let (name, explicit) = match &inner.kind {
            ExprKind::Path(path) => self.path_name(path)?,
            ExprKind::Name(name) => (name.clone(), None),
            _ => {
                let name = called.name.to_string();
                return Err(self.error(arg.span, CallError::KernelMustBeNamed { name }));
            }
        };
        let entity = self
            .scopes
            .find(&name)
            .map(|binding| binding.entity.clone());
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
        let id = match (&ids[..], entity) {
            (&[id], _) => id,
            ([], None) => return Err(self.unknown_name(&name, arg.span, true)),
            ([], Some(Entity::Error)) => return Err(self.reported_before(arg.span)),
            ([], Some(_)) => {
                let name = name.to_string();
                return Err(self.error(arg.span, CallError::NotAKernel { name }));
            }
            (several, _) => return Err(self.which_overload(&name, several, arg.span)),
        };
        let function = &self.tables.functions[id].typed;
        if function.space != FunctionSpace::Kernel {
            let message = CallError::FunctionIsNoKernel {
                name: name.to_string(),
                space: function.space,
                declared: function.span,
            };
            return Err(self.error(arg.span, message));
        }
        Ok(id)
    }

    /// `printf`, of the host or of the device.
    pub(crate) fn printf(&mut self, called: &Called<'_>) -> Result<Value, Reported> {
        let span = called.span;
        if called.args.is_empty() {
            return Err(self.wrong_count(called, 1, 1, true));
        }
        let format = pointer_to(crate::sema::classify::constant(Ty::Char));
        let why = crate::sema::check::convert::Why::Argument(1, called.name, None);
        let mut args = all(called.args.iter().enumerate().map(|(i, arg)| {
            let value = self.value(arg)?;
            match i {
                0 => self.implicit(value, &format, &why),
                _ => self.promote_variadic(value),
            }
        }))?;
        self.check_format(&args, 0, called.name_span);
        if !self.may_be_device() {
            let kind = ValueKind::Host(HostFn::Printf, args);
            return Ok(Value::new(kind, Ty::Int, span));
        }
        let format = args.remove(0);
        let ValueKind::Str(text) = format.kind else {
            return Err(self.unsupported(
                "a `printf` format in device code that is not a literal",
                format.span,
            ));
        };
        let kind = ValueKind::Builtin(Builtin::Printf(text), args);
        Ok(Value::new(kind, Ty::Int, span))
    }

    /// `assert(condition)`.
    pub(crate) fn assert(&mut self, called: &Called<'_>) -> Result<Value, Reported> {
        let span = called.span;
        let [arg] = called.args else {
            return Err(self.wrong_count(called, 1, 1, false));
        };
        let cond = self.condition(arg)?;
        let text = self.map.snippet(arg.span).as_bytes().into();
        let site = self.map.use_site(span);
        let line = self.map.file(site.file).line_column(site.start).0;
        if !self.may_be_device() {
            return Ok(host_assert(cond, text, line, span));
        }
        let kind = ValueKind::Builtin(Builtin::Assert(text, line), vec![cond]);
        Ok(Value::new(kind, Ty::Void, span))
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
