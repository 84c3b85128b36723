//! Restrictions on a function's declaration: a kernel's parameters and result, defaults in the middle, the form of `main`, an end without a
//! `return`.

use super::reference_part;
use crate::sema::check::{Checker, ParamFacts, Reporter, Tables, class, pack};
use crate::sema::message::class::ClassError;
use crate::sema::message::decl::DeclError;
use crate::{
    sema::{
        layout,
        ty::{QualTy, Ty},
        typed::{FunctionId, FunctionSpace, Stmt, StmtKind},
    },
    syntax::ast::{self, SpecifierWord},
};
use ir::span::Span;

/// The largest size of a kernel's parameters, from sm_70 on.
const PARAMETER_BYTES: u64 = 32_764;

/// Reports functions that cannot be at file scope: an `operator new`, a function in a memory space.
pub(crate) fn refuse_misplaced(cx: &mut Checker<'_>, function: &ast::Function) {
    if class::allocates(&function.name.node) {
        let what = format!("`{}` outside of a class", function.name.node);
        cx.unsupported(&what, function.name.span);
    }
    let word = |word| function.specifiers.word(word);
    if let Some(span) = word(SpecifierWord::Shared).or(word(SpecifierWord::Constant)) {
        cx.error(span, DeclError::FunctionWithSpace);
    }
    if let Some(span) = word(SpecifierWord::Virtual) {
        let name = function.name.node.to_string();
        cx.error(span, ClassError::CannotBeVirtual { name });
    }
}

/// Reports reference parameters of a kernel: it runs elsewhere, and could not access what they refer to.
pub(crate) fn check_kernel_params(
    tables: &Tables,
    reporter: &mut Reporter,
    function: &ast::Function,
    params: &[ParamFacts],
) {
    let declared = pack::declared(params, &function.params);
    for (param, facts) in declared.into_iter().zip(params) {
        let (written, _) = reference_part(&param.declarator.parts);
        let span = written.map_or(facts.span, |(span, _)| span);
        if (facts.is_reference || facts.is_rvalue) && facts.ty.ty.is_understood() {
            let name = facts.name.as_deref().unwrap_or("this parameter");
            let name = name.to_string();
            // A reference to `const` may also be bound to a temporary.
            let message = match facts.is_rvalue || facts.ty.is_const {
                true => tables.diagnostic(span, DeclError::KernelRvalueReference { name }),
                false => {
                    let message = DeclError::KernelReference { name };
                    tables.diagnostic(span, message).as_warning()
                }
            };
            reporter.report(message);
        }
    }
    check_parameter_bytes(tables, reporter, params);
}

/// All parameters of a kernel are passed in one block of constant memory.
fn check_parameter_bytes(tables: &Tables, reporter: &mut Reporter, params: &[ParamFacts]) {
    let mut end = 0u64;
    for facts in params {
        // A type without a size has been reported.
        let Some(size) = tables.size_of(&facts.ty.ty) else {
            return;
        };
        let align = layout::align_of(&facts.ty.ty, &tables.records);
        end = end
            .checked_next_multiple_of(align)
            .and_then(|start| start.checked_add(size))
            .unwrap_or(u64::MAX);
    }
    let largest = params
        .iter()
        .max_by_key(|facts| tables.size_of(&facts.ty.ty));
    if let Some(largest) = largest.filter(|_| end > PARAMETER_BYTES) {
        let message = DeclError::TooManyParameterBytes {
            n_bytes: end,
            most: PARAMETER_BYTES,
        };
        reporter.error(tables, largest.span, message);
    }
}

pub(crate) fn check_result(
    cx: &mut Checker<'_>,
    function: &ast::Function,
    space: FunctionSpace,
    result: &QualTy,
) {
    let span = function.specifiers.ty.span;
    if space == FunctionSpace::Kernel && result.ty != Ty::Void {
        cx.error(
            span,
            DeclError::KernelWithResult {
                name: function.name.node.to_string(),
                ty: result.ty.clone(),
            },
        );
    } else if matches!(result.ty, Ty::Array(..) | Ty::Function(_))
        || matches!(result.ty, Ty::Record(id)
                if cx.tables.size_of(&result.ty).is_none() && !class::is_open(&cx.open_classes, id))
    {
        cx.error(
            span,
            DeclError::IncompleteResult {
                ty: result.ty.clone(),
            },
        );
    }
}

/// Only the last parameters can have defaults.
pub(crate) fn check_defaults(tables: &Tables, reporter: &mut Reporter, params: &[ParamFacts]) {
    let without = params.iter().rposition(|param| param.default.is_none());
    let early = params[..without.unwrap_or(0)]
        .iter()
        .find(|param| param.default.is_some());
    if let (Some(early), Some(without)) = (early, without) {
        let message = DeclError::DefaultMissing { early: early.span };
        reporter.error(tables, params[without].span, message);
    }
}

pub(crate) fn check_main(
    tables: &Tables,
    reporter: &mut Reporter,
    id: FunctionId,
    function: &ast::Function,
) {
    let entry = &tables.functions[id].typed;
    if entry.space != FunctionSpace::Host {
        reporter.error(
            tables,
            function.name.span,
            DeclError::MainOnDevice { space: entry.space },
        );
    } else if entry.result.is_understood() && entry.result != Ty::Int {
        reporter.error(
            tables,
            function.specifiers.ty.span,
            DeclError::MainResult {
                ty: entry.result.clone().clone(),
            },
        );
    }
    let n_params = tables.functions[id].facts.params.len();
    if n_params == 1 || n_params > 3 {
        reporter.error(tables, function.span, DeclError::MainParameters);
    }
}

/// What happens when control reaches the closing brace.
pub(crate) fn check_end(
    tables: &Tables,
    reporter: &mut Reporter,
    id: FunctionId,
    function: &ast::Function,
    body: &mut Vec<Stmt>,
) {
    let Some(block) = &function.body else { return };
    let typed = &tables.functions[id].typed;
    if typed.result == Ty::Void
        || !typed.result.is_understood()
        || !crate::sema::check::stmt::falls_through(body)
    {
        return;
    }
    let end = Span {
        start: block.span.end.saturating_sub(1),
        ..block.span
    };
    if typed.name == "main" {
        // C: reaching the end of `main` returns 0.
        let zero = crate::sema::check::int(0, Ty::Int, end);
        body.push(Stmt::new(StmtKind::Return(Some(zero)), end));
        return;
    }
    reporter.error(
        tables,
        function.name.span,
        DeclError::MissingReturn {
            name: function.name.node.to_string(),
            end,
            ty: typed.result.clone().clone(),
        },
    );
}
