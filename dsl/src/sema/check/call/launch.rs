//! Kernel launches: the callee, the configuration, the arguments.

use crate::sema::message::call::CallError;
use std::sync::Arc;

use crate::sema::check::{
    Checker, Side, convert::Why, overload::Resolved, pointer_call::pointed_function, wrong,
};
use crate::{
    sema::{
        classify::Classify,
        scope::{Callable, Entity},
        ty::Ty,
        typed::{self, FunctionId, FunctionSpace, Value, ValueKind},
    },
    span::{Span, Spanned},
    syntax::ast::{self, ExprKind},
};

/// The name of what is launched, what it stands for, and its template arguments.
type Launched<'e> = (Arc<str>, Arc<[Callable]>, Option<&'e [ast::TemplateArg]>);

/// The numbers of blocks and threads, bytes of dynamic shared memory, the stream.
pub(crate) type Configured = (Value, Value, Option<Value>, Option<Value>);

impl Checker<'_> {
    /// `kernel<<<grid, block, shared, stream>>>(args)`.
    pub(crate) fn launch(
        &mut self,
        callee: &ast::Expr,
        config: &Spanned<Vec<ast::Expr>>,
        args: &[ast::Expr],
        span: Span,
    ) -> Value {
        let args = &*self.expanded(args);
        if let Some(pointer) = self.launched_pointer(callee) {
            if self.may_be_device() {
                let diagnostic = self.diagnostic(span, CallError::LaunchInDevice);
                self.on_side(Side::Device, diagnostic);
                self.arguments(args);
                return wrong(span);
            }
            let configured = self.launch_config(config);
            let values = self.arguments(args);
            return match (pointed_function(&pointer.ty).cloned(), configured) {
                (Some(ty), Some(configured)) => {
                    self.launch_through(pointer, &ty, configured, values, callee.span, span)
                }
                _ => wrong(span),
            };
        }
        let kernels = self.launched(callee);
        let configured = self.launch_config(config);
        let values = self.arguments(args);
        let Some((name, set, explicit)) = kernels else {
            return wrong(span);
        };
        let found = self.candidates(&name, &set, explicit, &values, callee.span);
        let Some(kernels) = found.and_then(|ids| self.only_kernels(&name, ids, callee.span)) else {
            return wrong(span);
        };
        let Resolved::Function(kernel) = self.resolve(&name, &kernels, &values, callee.span) else {
            return wrong(span);
        };
        self.need(kernel);
        if let Some(caller) = self.body.id
            && !self.may_be_device()
        {
            self.tables.functions[caller]
                .facts
                .calls
                .push((kernel, callee.span));
        }
        let args = self.args(kernel, args, values, callee.span, span);
        let Some((grid, block, shared_bytes, stream)) = configured else {
            return wrong(span);
        };
        let launch = typed::Launch {
            kernel,
            grid,
            block,
            shared_bytes,
            stream,
            cooperative: false,
            args,
        };
        Value::new(ValueKind::Launch(Box::new(launch)), Ty::Void, span)
    }

    /// The pointer that is launched through; `None` if a kernel's name seems to stand there.
    fn launched_pointer(&mut self, callee: &ast::Expr) -> Option<Value> {
        match &callee.kind {
            ExprKind::Unsupported(_) | ExprKind::Error => return None,
            ExprKind::Path(path) if path.segments.len() > 1 || path.segments[0].args.is_some() => {
                return None;
            }
            ExprKind::Name(name) => match &self.scopes.find(name)?.entity {
                Entity::Functions(_) | Entity::Template(_) | Entity::Error => return None,
                _ => {}
            },
            _ => {}
        }
        let n_diagnostics = self.reporter.diagnostics.len();
        let value = self.value(callee);
        if value.ty == Ty::Error || pointed_function(&value.ty).is_some() {
            return Some(value);
        }
        self.reporter.diagnostics.truncate(n_diagnostics);
        None
    }

    /// The kernels that the name launched stands for: several if it is overloaded.
    fn launched<'e>(&mut self, callee: &'e ast::Expr) -> Option<Launched<'e>> {
        let mut explicit = None;
        let name = match &callee.kind {
            ExprKind::Path(path) => {
                let (name, args) = self.path_name(path)?;
                explicit = args;
                Some(name)
            }
            ExprKind::Name(name) => Some(name.clone()),
            _ => None,
        };
        let Some(name) = &name else {
            match &callee.kind {
                ExprKind::Unsupported(construct) => self.unsupported(construct, callee.span),
                ExprKind::Error => {}
                _ => self.error(callee.span, CallError::LaunchOfValue),
            }
            return None;
        };
        let binding = self.scopes.find(name);
        let Some(Entity::Functions(set)) = binding.map(|binding| binding.entity.clone()) else {
            match self.scopes.find(name) {
                None => self.unknown_name(name, callee.span, true),
                Some(binding) if !matches!(binding.entity, Entity::Error) => {
                    let declared = binding.span;
                    self.error(
                        callee.span,
                        CallError::LaunchOfNonKernel {
                            name: name.to_string(),
                            declared,
                        },
                    );
                }
                Some(_) => {}
            }
            return None;
        };
        Some((name.clone(), set, explicit))
    }

    /// The kernels among some functions; if there are none, that is reported.
    fn only_kernels(
        &mut self,
        name: &str,
        mut ids: Vec<FunctionId>,
        at: Span,
    ) -> Option<Vec<FunctionId>> {
        let first = ids.first().copied()?;
        ids.retain(|id| self.tables.functions[*id].typed.space == FunctionSpace::Kernel);
        if ids.is_empty() {
            let function = &self.tables.functions[first].typed;
            let diagnostic = self.diagnostic(
                at,
                CallError::LaunchOfFunction {
                    name: name.to_string(),
                    space: function.space,
                    declared: function.span,
                },
            );
            self.report(diagnostic);
            return None;
        }
        Some(ids)
    }

    fn launch_config(&mut self, config: &Spanned<Vec<ast::Expr>>) -> Option<Configured> {
        let exprs = &config.node;
        if exprs.len() < 2 || exprs.len() > 4 {
            let message = match exprs.len() {
                0 | 1 => CallError::LaunchTooFewValues,
                n => CallError::LaunchTooManyValues { n },
            };
            self.error(config.span, message);
            self.check_args_alone(exprs);
            return None;
        }
        let grid = self.extent(&exprs[0], "the number of blocks");
        let block = self.extent(&exprs[1], "the number of threads per block");
        let shared_bytes = exprs.get(2).map(|expr| self.shared_bytes(expr));
        let stream = exprs.get(3).map(|expr| self.stream(expr));
        Some((grid, block, shared_bytes, stream))
    }

    /// A grid's or block's size as a `dim3`.
    pub(crate) fn extent(&mut self, expr: &ast::Expr, what: &'static str) -> Value {
        let dim3 = self.dim3();
        if let ExprKind::List(items) = &expr.kind {
            return self.list_value(&dim3, items, expr.span);
        }
        let value = self.value(expr);
        let fits = value.ty.is_integral()
            || value.ty == dim3
            || value.ty == Ty::Error
            || self.is_vector(&value.ty, "uint3");
        if !fits {
            self.error(
                expr.span,
                CallError::LaunchSizeType {
                    what,
                    ty: value.ty.clone(),
                    is_floating: value.ty.is_floating(),
                },
            );
            return wrong(expr.span);
        }
        if let ValueKind::Int(bits) = value.kind
            && (bits == 0 || (value.ty.is_signed() && (bits as i64) < 0))
        {
            // It compiles; the launch fails when it is reached, and a program may want to show that.
            let message = self.diagnostic(
                expr.span,
                CallError::LaunchSizeTooSmall {
                    what,
                    value: bits as i64,
                },
            );
            self.report(message.as_warning());
        }
        self.implicit(value, &dim3, &Why::Operand)
    }

    pub(crate) fn shared_bytes(&mut self, expr: &ast::Expr) -> Value {
        let value = self.value(expr);
        if value.ty != Ty::Error && !value.ty.is_integral() {
            self.error(
                expr.span,
                CallError::LaunchSharedBytesType {
                    ty: value.ty.clone(),
                },
            );
            return wrong(expr.span);
        }
        self.convert(value, &Ty::ULong)
    }

    pub(crate) fn stream(&mut self, expr: &ast::Expr) -> Value {
        let value = self.value(expr);
        let fits = match &value.ty {
            Ty::Error => return value,
            Ty::Pointer(_) => true,
            ty => ty.is_integral() && matches!(value.kind, ValueKind::Int(0)),
        };
        if !fits {
            self.error(
                expr.span,
                CallError::LaunchStreamType {
                    ty: value.ty.clone(),
                },
            );
            return wrong(expr.span);
        }
        self.convert(value, &Ty::ULong)
    }
}
