//! Inline PTX: `asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));`
//!
//! Each instruction becomes a call of the function of its name in the library's `ptx.k`, its result assigned to the output that it
//! names. What that file does not have, and what is more than instructions one after the other (registers, predicates, labels), is
//! an error that names it.

use crate::sema::check::{Checker, Reported, int};
use crate::sema::message::stmt::StmtError;
use crate::{
    sema::{
        ty::Ty,
        typed::{Value, ValueKind},
    },
    span::{Span, Spanned},
    syntax::{
        ast::{self, Expr, ExprKind},
        token::IntSuffix,
    },
};

/// An operand of an instruction.
enum Operand<'a> {
    /// `%0`, or `[%0]`.
    Numbered(usize),
    /// `%laneid`.
    Register(&'a str),
    /// `16`, `0xff`.
    Literal(u64),
}

impl Checker<'_> {
    /// An `asm` statement, for what it does.
    pub(crate) fn inline_ptx(&mut self, asm: &ast::Asm, span: Span) -> Result<Value, Reported> {
        let nothing = Value::new(
            ValueKind::Convert(Box::new(int(0, Ty::Int, span))),
            Ty::Void,
            span,
        );
        let text = without_comments(&String::from_utf8_lossy(&asm.text)).replace("%%", "%");
        let text = text.trim();
        let text = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'))
            .unwrap_or(text);
        let instructions = text.split([';', '\n']).map(str::trim);
        let instructions: Vec<&str> = instructions.filter(|text| !text.is_empty()).collect();
        let mut calls: Vec<Expr> = Vec::new();
        let n = instructions.len();
        for (index, instruction) in instructions.into_iter().enumerate() {
            let call = self.instruction(instruction, asm, span);
            // All inputs are read before any output is written: only the last instruction may write one.
            let call = call.filter(|call| {
                let writes = matches!(call.kind, ExprKind::Assign(..));
                operands_are_plain(asm, text) && (!writes || index + 1 == n)
            });
            match call {
                Some(call) => calls.push(call),
                None => {
                    let name = instruction.split_whitespace().next().unwrap_or_default();
                    let name = name.to_string();
                    let reported = self.error(span, StmtError::UnsupportedPtx { name });
                    for operand in asm.outputs.iter().chain(&asm.inputs) {
                        // Its messages are all that is wanted.
                        let _ = self.expr(&operand.1);
                    }
                    return Err(reported);
                }
            }
        }
        let all = calls.into_iter().reduce(|left, right| {
            Expr::new(ExprKind::Comma(Box::new(left), Box::new(right)), span)
        });
        match all {
            Some(all) => self.value(&all),
            None => Ok(nothing),
        }
    }

    /// An instruction as a call, or as an assignment of one.
    fn instruction(&mut self, text: &str, asm: &ast::Asm, span: Span) -> Option<Expr> {
        let (opcode, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let operands: Vec<Operand<'_>> = match operands.trim() {
            "" => Vec::new(),
            operands => operands
                .split(',')
                .map(|operand| parse_operand(operand.trim()))
                .collect::<Option<_>>()?,
        };
        // A barrier other than 0, or one that not all threads wait at, is another thing.
        let is_barrier = matches!(opcode, "bar.sync" | "barrier.sync");
        if is_barrier && !matches!(operands[..], [Operand::Literal(0)]) {
            return None;
        }
        let name: std::sync::Arc<str> = match (opcode.split('.').next()?, &operands[..]) {
            ("mov", [_, Operand::Register(register)]) => {
                format!("__dslc_ptx_{}", register.replace('.', "_"))
            }
            ("ld" | "st" | "ldu", _) => format!("__dslc_ptx_{}", access_name(opcode)?),
            _ => format!("__dslc_ptx_{}", opcode.replace('.', "_")),
        }
        .into();
        let id = self.prelude_function(&name)?;
        let gives_value = self.tables.functions[id].typed.result != Ty::Void;
        // A register that is moved is in the function's name.
        let is_argument = |operand: &Operand<'_>| {
            !matches!(operand, Operand::Register(_)) || !opcode.starts_with("mov.")
        };
        let mut operands = operands.into_iter().filter(is_argument);
        let out = match gives_value {
            true => match operands.next()? {
                Operand::Numbered(n) => Some(asm.outputs.get(n)?),
                _ => return None,
            },
            false => None,
        };
        let mut args = Vec::new();
        for operand in operands {
            args.push(match operand {
                Operand::Numbered(n) => {
                    let n_outputs = asm.outputs.len();
                    let (constraint, expr) = match n.checked_sub(n_outputs) {
                        Some(n) => asm.inputs.get(n)?,
                        None => asm.outputs.get(n)?,
                    };
                    // An output that is read is both.
                    if n < n_outputs && !constraint.contains(&b'+') {
                        return None;
                    }
                    expr.clone()
                }
                Operand::Literal(value) => Expr::new(
                    ExprKind::Int {
                        value,
                        unsigned: false,
                        suffix: IntSuffix::None,
                        decimal: false,
                    },
                    span,
                ),
                Operand::Register(_) => return None,
            });
        }
        if args.len() != self.tables.functions[id].facts.params.len() {
            return None;
        }
        let callee = Expr::new(ExprKind::Name(name), span);
        let call = Expr::new(ExprKind::Call(Box::new(callee), args), span);
        Some(match out {
            Some((_, target)) => Expr::new(
                ExprKind::Assign(
                    Spanned::new(None, span),
                    Box::new(target.clone()),
                    Box::new(call),
                ),
                span,
            ),
            None => call,
        })
    }
}

/// An operand that is read more than once, or never, must not do anything when it is.
fn operands_are_plain(asm: &ast::Asm, text: &str) -> bool {
    let operands = asm.outputs.iter().chain(&asm.inputs);
    operands.enumerate().all(|(n, (_, expr))| {
        let name = format!("%{n}");
        let ends = |at: &usize| !text[at + name.len()..].starts_with(|c: char| c.is_ascii_digit());
        let uses = text.match_indices(&name).map(|(at, _)| at).filter(ends);
        let is_plain = matches!(
            expr.kind,
            ExprKind::Name(_) | ExprKind::Int { .. } | ExprKind::Float { .. }
        );
        uses.count() == 1 || is_plain
    })
}

/// `%3`, `[%3]`, `%laneid`, `0x10`.
fn parse_operand(text: &str) -> Option<Operand<'_>> {
    let text = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text)
        .trim();
    if let Some(name) = text.strip_prefix('%') {
        return Some(match name.parse() {
            Ok(n) => Operand::Numbered(n),
            Err(_) => Operand::Register(name),
        });
    }
    let digits = text.trim_end_matches(['U', 'u']);
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    value.ok().map(Operand::Literal)
}

/// The function of a load or store of generic or global memory: what only says how to cache is left out.
fn access_name(opcode: &str) -> Option<String> {
    let mut parts = opcode.split('.');
    let what = match parts.next()? {
        "ldu" => "ld",
        other => other,
    };
    let mut ty = None;
    for part in parts {
        match part {
            "global" | "nc" | "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" => {}
            _ if part.starts_with("L1::") || part.starts_with("L2::") => {}
            _ if ty.is_none() => ty = Some(part),
            _ => return None,
        }
    }
    Some(format!("{what}_{}", ty?))
}

/// The text with `//` and `/* */` comments blanked.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        if after.starts_with("//") {
            rest = &after[after.find('\n').unwrap_or(after.len())..];
        } else if after.starts_with("/*") {
            out.push(' ');
            rest = after.find("*/").map_or("", |end| &after[end + 2..]);
        } else {
            out.push('/');
            rest = &after[1..];
        }
    }
    out.push_str(rest);
    out
}
