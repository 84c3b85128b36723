//! Kernel launches: the callee, the configuration, the arguments.

use crate::sema::message::call::CallError;
use std::sync::Arc;

use crate::sema::check::{
    Checker, Reported, Side, convert::Why, overload::Resolved, pointer_call::pointed_function,
};
use crate::{
    sema::{
        classify::Classify,
        scope::{Callable, Entity},
        ty::{FunctionTy, Ty},
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
    ) -> Result<Value, Reported> {
        let args = &*self.expanded(args);
        if let Some(pointer) = self.launched_pointer(callee) {
            if self.may_be_device() {
                let diagnostic = self.diagnostic(span, CallError::LaunchInDevice);
                self.on_side(Side::Device, diagnostic);
                self.arguments(args);
                return Err(self.reported_before(span));
            }
            let configured = self.launch_config(config);
            let values = self.arguments(args);
            let ((pointer, ty), configured) = (pointer?, configured?);
            return self.launch_through(pointer, &ty, configured, values, callee.span, span);
        }
        let kernels = self.launched(callee);
        let configured = self.launch_config(config);
        let values = self.arguments(args);
        let (name, set, explicit) = kernels?;
        let found = self.candidates(&name, &set, explicit, &values, callee.span)?;
        let kernels = self.only_kernels(&name, found, callee.span)?;
        let Resolved::Function(kernel) = self.resolve(&name, &kernels, &values, callee.span)?
        else {
            return Err(self.reported_before(callee.span));
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
        let (grid, block, shared_bytes, stream) = configured?;
        let launch = typed::Launch {
            kernel,
            grid,
            block,
            shared_bytes,
            stream,
            cooperative: false,
            args: args?,
        };
        Ok(Value::new(
            ValueKind::Launch(Box::new(launch)),
            Ty::Void,
            span,
        ))
    }

    /// The pointer that is launched through; `None` if a kernel's name seems to stand there.
    fn launched_pointer(
        &mut self,
        callee: &ast::Expr,
    ) -> Option<Result<(Value, Arc<FunctionTy>), Reported>> {
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
        let value = match self.value(callee) {
            Ok(value) => value,
            Err(reported) => return Some(Err(reported)),
        };
        if let Some(ty) = pointed_function(&value.ty).cloned() {
            return Some(Ok((value, ty)));
        }
        self.reporter.diagnostics.truncate(n_diagnostics);
        None
    }

    /// The kernels that the name launched stands for: several if it is overloaded.
    fn launched<'e>(&mut self, callee: &'e ast::Expr) -> Result<Launched<'e>, Reported> {
        let (name, explicit) = match &callee.kind {
            ExprKind::Path(path) => self.path_name(path)?,
            ExprKind::Name(name) => (name.clone(), None),
            ExprKind::Unsupported(construct) => {
                return Err(self.unsupported(construct, callee.span));
            }
            ExprKind::Error => return Err(self.reported_before(callee.span)),
            _ => return Err(self.error(callee.span, CallError::LaunchOfValue)),
        };
        let found = self.scopes.find(&name);
        match found.map(|binding| (binding.entity.clone(), binding.span)) {
            Some((Entity::Functions(set), _)) => Ok((name, set, explicit)),
            None => Err(self.unknown_name(&name, callee.span, true)),
            Some((Entity::Error, _)) => Err(self.reported_before(callee.span)),
            Some((_, declared)) => {
                let name = name.to_string();
                let message = CallError::LaunchOfNonKernel { name, declared };
                Err(self.error(callee.span, message))
            }
        }
    }

    /// The kernels among some functions; if there are none, that is reported.
    fn only_kernels(
        &mut self,
        name: &str,
        mut ids: Vec<FunctionId>,
        at: Span,
    ) -> Result<Vec<FunctionId>, Reported> {
        let Some(first) = ids.first().copied() else {
            return Err(self.reported_before(at));
        };
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
            return Err(self.report(diagnostic));
        }
        Ok(ids)
    }

    fn launch_config(&mut self, config: &Spanned<Vec<ast::Expr>>) -> Result<Configured, Reported> {
        let exprs = &config.node;
        if exprs.len() < 2 || exprs.len() > 4 {
            let message = match exprs.len() {
                0 | 1 => CallError::LaunchTooFewValues,
                n => CallError::LaunchTooManyValues { n },
            };
            let reported = self.error(config.span, message);
            self.check_args_alone(exprs);
            return Err(reported);
        }
        let grid = self.extent(&exprs[0], "the number of blocks");
        let block = self.extent(&exprs[1], "the number of threads per block");
        let shared_bytes = exprs.get(2).map(|expr| self.shared_bytes(expr));
        let stream = exprs.get(3).map(|expr| self.stream(expr));
        Ok((
            grid?,
            block?,
            shared_bytes.transpose()?,
            stream.transpose()?,
        ))
    }

    /// A grid's or block's size as a `dim3`.
    pub(crate) fn extent(
        &mut self,
        expr: &ast::Expr,
        what: &'static str,
    ) -> Result<Value, Reported> {
        let dim3 = self.tables.dim3();
        if let ExprKind::List(items) = &expr.kind {
            return self.list_value(&dim3, items, expr.span);
        }
        let value = self.value(expr)?;
        let fits =
            value.ty.is_integral() || value.ty == dim3 || self.tables.is_vector(&value.ty, "uint3");
        if !fits {
            return Err(self.error(
                expr.span,
                CallError::LaunchSizeType {
                    what,
                    ty: value.ty.clone(),
                    is_floating: value.ty.is_floating(),
                },
            ));
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

    pub(crate) fn shared_bytes(&mut self, expr: &ast::Expr) -> Result<Value, Reported> {
        let value = self.value(expr)?;
        if !value.ty.is_integral() {
            return Err(self.error(
                expr.span,
                CallError::LaunchSharedBytesType {
                    ty: value.ty.clone(),
                },
            ));
        }
        Ok(self.convert(value, &Ty::ULong))
    }

    pub(crate) fn stream(&mut self, expr: &ast::Expr) -> Result<Value, Reported> {
        let value = self.value(expr)?;
        let fits = match &value.ty {
            Ty::Pointer(_) => true,
            ty => ty.is_integral() && matches!(value.kind, ValueKind::Int(0)),
        };
        if !fits {
            return Err(self.error(
                expr.span,
                CallError::LaunchStreamType {
                    ty: value.ty.clone(),
                },
            ));
        }
        Ok(self.convert(value, &Ty::ULong))
    }
}
