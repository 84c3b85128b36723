//! Inline PTX: `asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));`
//!
//! Each instruction becomes a call of the function of its name in the library's `ptx.k`. A single instruction is an assignment to the
//! output that it names. Several become a block: registers that the text declares are its variables, inputs are read into variables first,
//! outputs are written from variables last, and a guard (`@p`) is an `if`. Jumps, and instructions that `ptx.k` does not have, are errors
//! that name the instruction.

use std::sync::Arc;

use crate::sema::check::{Checker, Reported, Tables, expr, overload, stmt};
use crate::sema::message::stmt::StmtError;
use crate::{
    library,
    sema::{
        ty::Ty,
        typed::{self, FunctionId, Stmt},
    },
    syntax::ast::{self, Expr, ExprKind, Signedness, TypeSpecifier},
};
use ir::span::{Span, Spanned};

pub(crate) mod text;
pub(crate) mod tree;

use text::{Instruction, Operand, Ptx};
use tree::{
    assign, call_of, cast_to_pointer, expr_stmt, guarded, int_expr, name_expr, offset_address,
    variable,
};

/// The kind of value in a register or operand, from its declaration or constraint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Predicate,
    Half,
    Word,
    Wide,
    Float,
    Double,
}

/// An operand of the statement while its instructions are translated.
#[derive(Clone)]
struct Bound {
    expr: Expr,
    /// `None` for a constant, which takes the type that is needed.
    holds: Option<Holds>,
}

/// What the names in the instructions refer to.
struct Names {
    /// Outputs, then inputs.
    numbered: Vec<Bound>,
    /// Outputs that may be read from the start (`+r`), or that an earlier instruction has written.
    readable: Vec<bool>,
    registers: Vec<(String, Bound)>,
    span: Span,
}

/// An instruction as a call, and its targets.
struct Call {
    call: Expr,
    /// The function's result.
    result: Ty,
    /// One target, or one for each element of a vector.
    targets: Vec<Bound>,
}

/// An `asm` statement.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    asm: &ast::Asm,
    span: Span,
    out: &mut Vec<Stmt>,
) -> Result<(), Reported> {
    let text = text::without_comments(&String::from_utf8_lossy(&asm.text)).replace("%%", "%");
    let made = match text::read(&text) {
        Ok(ptx) => ptx_statements(cx, &ptx, asm, span),
        Err(name) => Err(name.to_string()),
    };
    match made {
        Ok(stmts) if stmts.len() == 1 => stmt::check(cx, &stmts[0], out),
        Ok(stmts) => {
            let body = stmt::block(cx, &stmts);
            out.push(Stmt::new(typed::StmtKind::Block(body), span));
        }
        Err(name) => {
            let message = match has_instruction(&name) {
                true => StmtError::UnsupportedPtx { name },
                false => StmtError::UnsupportedInstruction {
                    name: name.split('.').next().unwrap_or(&name).to_string(),
                },
            };
            let reported = cx.error(span, message);
            for operand in asm.outputs.iter().chain(&asm.inputs) {
                // Only for its messages.
                let _ = expr::check(cx, &operand.1);
            }
            return Err(reported);
        }
    }
    Ok(())
}

/// Whether the library has any form of an instruction.
fn has_instruction(opcode: &str) -> bool {
    let head = opcode.split('.').next().unwrap_or(opcode);
    let mut files = library::files().iter();
    let text = files.find(|file| file.name == "ptx").map(|file| file.text);
    let has_form = |text: &str| text.contains(&format!("__dslc_ptx_{head}_"));
    // Text that is not an instruction is shown as it is.
    let is_word = !head.is_empty() && head.chars().all(|c| c.is_ascii_alphanumeric());
    !is_word || text.is_some_and(has_form)
}

/// The statements of the instructions, or the first instruction that is not supported.
fn ptx_statements(
    cx: &mut Checker<'_>,
    ptx: &Ptx<'_>,
    asm: &ast::Asm,
    span: Span,
) -> Result<Vec<ast::Stmt>, String> {
    let operands = asm.outputs.iter().chain(&asm.inputs);
    let direct = operands.map(|(constraint, expr)| Bound {
        expr: expr.clone(),
        holds: Holds::of_constraint(constraint),
    });
    let mut names = Names {
        numbered: direct.collect(),
        readable: vec![true; asm.outputs.len() + asm.inputs.len()],
        registers: Vec::new(),
        span,
    };
    for (readable, (constraint, _)) in names.readable.iter_mut().zip(&asm.outputs) {
        *readable = constraint.contains(&b'+');
    }
    if let [instruction] = &ptx.instructions[..]
        && instruction.is_simple()
        && operands_are_plain(asm, instruction)
    {
        let call = ptx_call(cx, instruction, &names);
        let call = call.ok_or_else(|| instruction.opcode.to_string())?;
        return Ok(vec![expr_stmt(match &call.targets[..] {
            [target] => assign(target.expr.clone(), call.reinterpreted(target.holds)),
            _ => call.call,
        })]);
    }
    let mut stmts = names.bind(ptx, asm);
    for instruction in &ptx.instructions {
        let call = ptx_call(cx, instruction, &names);
        let call = call.ok_or_else(|| instruction.opcode.to_string())?;
        let effect = names.effect(call, stmts.len());
        let effect = match instruction.guard {
            None => effect,
            Some(guard) => {
                let predicate = names.register(guard.register);
                let predicate = predicate.ok_or_else(|| instruction.opcode.to_string())?;
                vec![guarded(predicate.expr, guard.is_negated, effect, span)]
            }
        };
        stmts.extend(effect);
        names.written(instruction);
    }
    for (n, (_, target)) in asm.outputs.iter().enumerate() {
        if names.readable[n] {
            stmts.push(expr_stmt(assign(
                target.clone(),
                names.numbered[n].expr.clone(),
            )));
        }
    }
    Ok(stmts)
}

/// An instruction as a call of the library's function; `None` if there is none for these operands.
fn ptx_call(cx: &mut Checker<'_>, instruction: &Instruction<'_>, names: &Names) -> Option<Call> {
    let name: Arc<str> = function_name(instruction, names)?.into();
    let id = overload::prelude_function(cx, &name)?;
    let result = cx.tables.functions[id].typed.result.clone();
    let mut operands = &instruction.operands[..];
    let mut targets = Vec::new();
    if result != Ty::Void {
        let (target, rest) = operands.split_first()?;
        operands = rest;
        match target {
            Operand::Vector(elements) => {
                for element in elements {
                    targets.push(names.target(element)?);
                }
            }
            target => targets.push(names.target(target)?),
        }
    }
    let mut args = Vec::new();
    // For `mov` from a special register, the register is part of the function's name.
    let moves_special = instruction.moves_special(names);
    for operand in operands.iter().filter(|_| !moves_special) {
        names.arguments(operand, &mut args)?;
    }
    let params = param_types(&cx.tables, id);
    let carries = instruction.uses_carry();
    if args.len() + usize::from(carries) != params.len() {
        return None;
    }
    let span = names.span;
    let mut args: Vec<Expr> = args
        .into_iter()
        .zip(&params)
        .map(|(arg, param)| as_argument(arg, param))
        .collect();
    if carries {
        args.push(name_expr(CARRY, span));
    }
    let callee = Box::new(Expr::new(ExprKind::Name(name), span));
    Some(Call {
        call: Expr::new(ExprKind::Call(callee, args), span),
        result,
        targets,
    })
}

fn param_types(tables: &Tables, id: FunctionId) -> Vec<Ty> {
    let params = tables.functions[id].facts.params.iter();
    params.map(|param| param.ty.ty.clone()).collect()
}

/// The block's variable for the condition code register `CC.CF`.
const CARRY: &str = "__ptx_carry";

impl Instruction<'_> {
    /// Whether a single call is enough.
    fn is_simple(&self) -> bool {
        let is_vector = |operand: &Operand<'_>| matches!(operand, Operand::Vector(_));
        self.guard.is_none() && !self.uses_carry() && !self.operands.iter().any(is_vector)
    }

    /// `add.cc`, `addc`, `madc.hi.cc`.
    fn uses_carry(&self) -> bool {
        let mut parts = self.opcode.split('.');
        matches!(parts.next(), Some("addc" | "subc" | "madc")) || parts.any(|part| part == "cc")
    }

    /// `mov.u32 %0, %laneid`.
    fn moves_special(&self, names: &Names) -> bool {
        let is_special =
            |name: &str| names.register(name).is_none() && !self.opcode.starts_with("mov.pred");
        self.opcode.starts_with("mov.")
            && matches!(&self.operands[..], [_, Operand::Register(name)] if is_special(name))
    }
}

impl Holds {
    fn of_constraint(constraint: &[u8]) -> Option<Holds> {
        match constraint.last()? {
            b'h' => Some(Holds::Half),
            b'r' => Some(Holds::Word),
            b'l' => Some(Holds::Wide),
            b'f' => Some(Holds::Float),
            b'd' => Some(Holds::Double),
            _ => None,
        }
    }

    /// The kind of a register's type, `None` for an unsupported type.
    fn of_register(ty: &str) -> Option<Holds> {
        match ty {
            "pred" => Some(Holds::Predicate),
            "b16" | "u16" | "s16" => Some(Holds::Half),
            "b32" | "u32" | "s32" => Some(Holds::Word),
            "b64" | "u64" | "s64" => Some(Holds::Wide),
            "f32" => Some(Holds::Float),
            "f64" => Some(Holds::Double),
            _ => None,
        }
    }

    fn specifier(self) -> TypeSpecifier {
        match self {
            Holds::Predicate => TypeSpecifier::Bool,
            Holds::Half => TypeSpecifier::Short(Signedness::Unsigned),
            Holds::Word => TypeSpecifier::Int(Signedness::Unsigned),
            Holds::Wide => TypeSpecifier::LongLong(Signedness::Unsigned),
            Holds::Float => TypeSpecifier::Float,
            Holds::Double => TypeSpecifier::Double,
        }
    }
}

impl Names {
    /// Declares the block's variables; from here on the names refer to them.
    fn bind(&mut self, ptx: &Ptx<'_>, asm: &ast::Asm) -> Vec<ast::Stmt> {
        let span = self.span;
        let mut stmts = Vec::new();
        let n_outputs = asm.outputs.len();
        for (n, bound) in self.numbered.iter_mut().enumerate() {
            // A constant stays one: some instructions require it.
            let is_constant = matches!(bound.expr.kind, ExprKind::Int { .. });
            if n >= n_outputs && (is_constant || bound.holds.is_none()) {
                continue;
            }
            let name = format!("__ptx_{n}");
            let init = self.readable[n].then(|| bound.expr.clone());
            let ty = match bound.holds {
                // An address keeps its type.
                Some(Holds::Wide) | None => TypeSpecifier::Auto,
                Some(holds) => holds.specifier(),
            };
            let ty = match &init {
                Some(_) => ty,
                None => bound.holds.unwrap_or(Holds::Wide).specifier(),
            };
            stmts.push(variable(&name, ty, init, span));
            bound.expr = name_expr(&name, span);
        }
        for register in &ptx.registers {
            let Some(holds) = Holds::of_register(register.ty) else {
                continue;
            };
            let name = format!("__ptx_{}", register.name);
            stmts.push(variable(&name, holds.specifier(), None, span));
            let expr = name_expr(&name, span);
            let bound = Bound {
                expr,
                holds: Some(holds),
            };
            self.registers.push((register.name.clone(), bound));
        }
        if ptx.instructions.iter().any(Instruction::uses_carry) {
            let no = Expr::new(ExprKind::Bool(false), span);
            stmts.push(variable(CARRY, TypeSpecifier::Bool, Some(no), span));
        }
        stmts
    }

    /// A register that the text declares.
    fn register(&self, name: &str) -> Option<Bound> {
        let mut registers = self.registers.iter();
        let found = registers.find(|(declared, _)| declared == name);
        found.map(|(_, bound)| bound.clone())
    }

    /// The target that an instruction writes.
    fn target(&self, operand: &Operand<'_>) -> Option<Bound> {
        match operand {
            Operand::Numbered(n) => self.numbered.get(*n).cloned(),
            Operand::Register(name) => self.register(name),
            Operand::Int(_) | Operand::Float { .. } => None,
            Operand::Address { .. } | Operand::Vector(_) => None,
        }
    }

    /// Adds the values that an instruction reads: a vector is one argument for each element.
    fn arguments(&self, operand: &Operand<'_>, out: &mut Vec<Bound>) -> Option<()> {
        let span = self.span;
        out.push(match operand {
            Operand::Numbered(n) => {
                // A register that no instruction has written has no value.
                let bound = self.numbered.get(*n)?;
                self.readable[*n].then(|| bound.clone())?
            }
            Operand::Register(name) => self.register(name)?,
            Operand::Int(value) => Bound {
                expr: int_expr(*value, span),
                holds: None,
            },
            Operand::Float { value, single } => Bound {
                expr: Expr::new(
                    ExprKind::Float {
                        value: *value,
                        single: *single,
                    },
                    span,
                ),
                holds: None,
            },
            Operand::Address { base, offset } => {
                let mut inner = Vec::new();
                self.arguments(base, &mut inner)?;
                let mut base = inner.pop()?;
                if *offset != 0 {
                    base.expr = offset_address(base.expr, *offset, span);
                }
                base
            }
            Operand::Vector(elements) => {
                for element in elements {
                    self.arguments(element, out)?;
                }
                return Some(());
            }
        });
        Some(())
    }

    /// The outputs that `instruction` writes can be read from now on.
    fn written(&mut self, instruction: &Instruction<'_>) {
        let elements = match instruction.operands.first() {
            Some(Operand::Vector(elements)) => &elements[..],
            Some(operand) => std::slice::from_ref(operand),
            None => return,
        };
        for element in elements {
            if let Operand::Numbered(n) = element {
                self.readable[*n] = true;
            }
        }
    }

    /// The call as statements that write its targets.
    fn effect(&self, call: Call, unique: usize) -> Vec<ast::Stmt> {
        let span = self.span;
        match &call.targets[..] {
            [] => vec![expr_stmt(call.call)],
            [target] => {
                let target_expr = target.expr.clone();
                vec![expr_stmt(assign(
                    target_expr,
                    call.reinterpreted(target.holds),
                ))]
            }
            targets => {
                let name = format!("__ptx_vector_{unique}");
                let mut stmts = vec![variable(&name, TypeSpecifier::Auto, Some(call.call), span)];
                for (target, member) in targets.iter().zip(["x", "y", "z", "w"]) {
                    let vector = Box::new(name_expr(&name, span));
                    let member = Spanned::new(Arc::from(member), span);
                    let element = Expr::new(ExprKind::Member(vector, member), span);
                    stmts.push(expr_stmt(assign(target.expr.clone(), element)));
                }
                stmts
            }
        }
    }
}

impl Call {
    /// The bits of its value as a register of the kind `holds`.
    fn reinterpreted(&self, holds: Option<Holds>) -> Expr {
        let function = match (&self.result, holds) {
            (Ty::UInt | Ty::Int, Some(Holds::Float)) => "__uint_as_float",
            (Ty::ULongLong | Ty::LongLong, Some(Holds::Double)) => "__longlong_as_double",
            (Ty::Float, Some(Holds::Word)) => "__float_as_uint",
            (Ty::Double, Some(Holds::Wide)) => "__double_as_longlong",
            _ => return self.call.clone(),
        };
        call_of(function, self.call.clone())
    }
}

/// The bits of a register as an argument for a parameter of type `param`.
fn as_argument(arg: Bound, param: &Ty) -> Expr {
    let function = match (arg.holds, param) {
        (Some(Holds::Float), Ty::UInt | Ty::Int) => "__float_as_uint",
        (Some(Holds::Double), Ty::ULongLong | Ty::LongLong) => "__double_as_longlong",
        (Some(Holds::Word), Ty::Float) => "__uint_as_float",
        (Some(Holds::Wide), Ty::Double) => "__longlong_as_double",
        (Some(Holds::Wide), Ty::Pointer(_)) => {
            return cast_to_pointer(arg.expr, TypeSpecifier::Void);
        }
        _ => return arg.expr,
    };
    call_of(function, arg.expr)
}

/// The library's name of an instruction, without its cache hints.
fn function_name(instruction: &Instruction<'_>, names: &Names) -> Option<String> {
    let opcode = instruction.opcode;
    let head = opcode.split('.').next()?;
    if let Some(name) = barrier_name(instruction) {
        return Some(name);
    }
    if instruction.moves_special(names)
        && let [_, Operand::Register(register)] = &instruction.operands[..]
    {
        return Some(format!("__dslc_ptx_{}", register.replace('.', "_")));
    }
    let name = match head {
        "ld" | "st" | "ldu" | "atom" | "red" => access_name(opcode)?,
        _ => opcode.replace('.', "_"),
    };
    let vector = |operand: Option<&Operand<'_>>| match operand {
        Some(Operand::Vector(elements)) => Some(elements.len()),
        _ => None,
    };
    let suffix = match (head, &instruction.operands[..]) {
        ("mov", [target, source]) => match (vector(Some(target)), vector(Some(source))) {
            (Some(n), None) => format!("_to_v{n}"),
            (None, Some(n)) => format!("_from_v{n}"),
            (None, None) => String::new(),
            (Some(_), Some(_)) => return None,
        },
        _ => String::new(),
    };
    Some(format!("__dslc_ptx_{name}{suffix}"))
}

/// The function of a barrier: `bar` takes whole warps, and so does `barrier` if it is `aligned`. Barrier 0 for all threads is
/// `__syncthreads()`.
fn barrier_name(instruction: &Instruction<'_>) -> Option<String> {
    let mut parts = instruction.opcode.split('.').filter(|&part| part != "cta");
    let head = parts
        .next()
        .filter(|head| matches!(*head, "bar" | "barrier"))?;
    let step = parts
        .next()
        .filter(|step| matches!(*step, "sync" | "arrive"))?;
    let head = match (parts.next(), parts.next()) {
        (None, _) => head,
        (Some("aligned"), None) => "bar",
        _ => return None,
    };
    let threads = match instruction.operands[..] {
        [Operand::Int(0)] => "_0",
        [_] => "",
        _ => "_count",
    };
    Some(format!("__dslc_ptx_{head}_{step}{threads}"))
}

/// The function of a load, store or atomic operation of generic or global memory.
fn access_name(opcode: &str) -> Option<String> {
    let mut parts = opcode.split('.');
    let head = parts.next()?;
    let is_atomic = matches!(head, "atom" | "red");
    let mut name = match head {
        "ldu" => "ld".to_string(),
        head => head.to_string(),
    };
    for part in parts {
        match part {
            "global" | "nc" | "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "weak" => {}
            _ if part.starts_with("L1::") || part.starts_with("L2::") => {}
            // Atomics are relaxed and of device scope by default.
            "relaxed" | "gpu" if is_atomic => {}
            part => {
                name.push('_');
                name.push_str(part);
            }
        }
    }
    Some(name)
}

/// Whether operands that are read more than once, or never, are free of side effects.
fn operands_are_plain(asm: &ast::Asm, instruction: &Instruction<'_>) -> bool {
    fn uses(operand: &Operand<'_>, number: usize) -> usize {
        match operand {
            Operand::Numbered(n) => usize::from(*n == number),
            Operand::Address { base, .. } => uses(base, number),
            Operand::Vector(elements) => elements.iter().map(|element| uses(element, number)).sum(),
            Operand::Register(_) | Operand::Int(_) | Operand::Float { .. } => 0,
        }
    }
    let operands = asm.outputs.iter().chain(&asm.inputs);
    operands.enumerate().all(|(number, (_, expr))| {
        let n_uses: usize = instruction
            .operands
            .iter()
            .map(|one| uses(one, number))
            .sum();
        let is_plain = matches!(
            expr.kind,
            ExprKind::Name(_) | ExprKind::Int { .. } | ExprKind::Float { .. }
        );
        n_uses == 1 || is_plain
    })
}
