//! Runs `constexpr` functions whose value is needed before the program runs.
//!
//! Each variable holds one number: functions on pointers, arrays and objects stop with a reason. The number of steps and the nesting are
//! bounded, so that every program is compiled or rejected in bounded time and stack.

use super::{Const, NotConst, arithmetic, compare, convert, is_true, truth};
use crate::arena::Arena;
use crate::sema::{
    classify::Classify,
    ty::Ty,
    typed::{
        Arith, Function, FunctionId, Init, LogicalOp, Place, PlaceKind, Stmt, StmtKind,
        SwitchSection, Value, ValueKind, VarId, VarRef,
    },
};
use ir::span::Span;

/// Statements, calls and rounds of loops until the machine gives up.
const MAX_STEPS: u32 = 100_000;

/// The largest depth of nested calls.
const MAX_CALLS: u32 = 512;

/// The largest depth of nested statements and expressions over all calls: bounds the compiler's stack.
const MAX_NESTING: u32 = 6_000;

/// The steps of all attempts at one value. Each attempt may end at a function that has to be instantiated first.
pub(crate) const MAX_REPEATED_STEPS: u32 = 100 * MAX_STEPS;

pub(crate) const TOO_MANY_STEPS: &str = "more than 100000 steps to compute this";
const TOO_DEEP: &str = "calls are nested too deep to compute this";
const UNSUPPORTED: &str = "this is not supported in a `constexpr` function yet";

/// A function that may be called where a constant is needed.
pub(crate) enum Constexpr<'p> {
    Function(&'p Function),
    /// Its body is invalid.
    Wrong,
}

/// Evaluates values and the calls in them.
pub(crate) struct Machine<'p> {
    /// The function of an id, if it is `constexpr`.
    constexpr: &'p dyn Fn(FunctionId) -> Option<Constexpr<'p>>,
    /// The variables of the function that runs; `None` outside of calls.
    frame: Option<Arena<VarId, Option<Const>>>,
    steps: u32,
    calls: u32,
    nesting: u32,
}

/// Where control goes after a statement.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Option<Const>),
}

impl<'p> Machine<'p> {
    pub(crate) fn new(constexpr: &'p dyn Fn(FunctionId) -> Option<Constexpr<'p>>) -> Machine<'p> {
        Machine {
            constexpr,
            frame: None,
            steps: 0,
            calls: 0,
            nesting: 0,
        }
    }

    /// The number of steps so far.
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// The value's constant.
    pub(crate) fn value(&mut self, value: &Value) -> Result<Const, NotConst> {
        self.nested(value.span, |machine| machine.any_value(value))
    }

    fn any_value(&mut self, value: &Value) -> Result<Const, NotConst> {
        match &value.kind {
            ValueKind::Int(bits) => Ok(Const::Int(*bits)),
            ValueKind::Float(number) => Ok(Const::Float(*number)),
            ValueKind::Null => Ok(Const::Int(0)),
            ValueKind::Convert(inner) if value.ty.is_scalar() && inner.ty.is_scalar() => {
                Ok(convert(self.value(inner)?, &inner.ty, &value.ty))
            }
            ValueKind::Neg(inner) => Ok(match self.value(inner)? {
                Const::Int(bits) => Const::Int(value.ty.wrap(bits.wrapping_neg())),
                Const::Float(number) => Const::Float(-number),
            }),
            ValueKind::BitNot(inner) => match self.value(inner)? {
                Const::Int(bits) => Ok(Const::Int(value.ty.wrap(!bits))),
                Const::Float(_) => Err(NotConst::Error),
            },
            ValueKind::Not(inner) => Ok(truth(!is_true(self.value(inner)?))),
            ValueKind::Binary(op, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                arithmetic(*op, &value.ty, left, right, value.span)
            }
            ValueKind::Compare(relation, left, right) => {
                let (a, b) = (self.value(left)?, self.value(right)?);
                Ok(truth(compare(*relation, &left.ty, a, b)))
            }
            ValueKind::Logical(op, left, right) => {
                let left = is_true(self.value(left)?);
                match op {
                    LogicalOp::And if !left => Ok(truth(false)),
                    LogicalOp::Or if left => Ok(truth(true)),
                    LogicalOp::And | LogicalOp::Or => Ok(truth(is_true(self.value(right)?))),
                }
            }
            ValueKind::Conditional(cond, yes, no) => {
                let taken = is_true(self.value(cond)?);
                self.value(if taken { yes } else { no })
            }
            ValueKind::Call(id, args) => self
                .call(*id, args, value.span)?
                .ok_or(NotConst::Stopped(value.span, UNSUPPORTED)),
            _ if self.frame.is_some() => self.in_function(value),
            _ => Err(NotConst::Variable(value.span)),
        }
    }

    /// Values that only occur in the body of a function: variables, and operators that change them.
    fn in_function(&mut self, value: &Value) -> Result<Const, NotConst> {
        match &value.kind {
            ValueKind::Load(place) => self.read(place),
            ValueKind::Comma(left, right) => {
                self.effect(left)?;
                self.value(right)
            }
            ValueKind::Assign(place, new) => {
                let new = self.value(new)?;
                self.write(place, new)
            }
            ValueKind::CompoundAssign {
                op,
                place,
                value: operand,
                compute,
            } if compute.is_arithmetic() => {
                let operand = self.value(operand)?;
                let old = convert(self.read(place)?, &place.ty.ty, compute);
                let new = arithmetic(*op, compute, old, operand, value.span)?;
                self.write(place, convert(new, compute, &place.ty.ty))
            }
            ValueKind::IncDec {
                place,
                decrement,
                prefix,
            } if place.ty.ty.is_arithmetic() => {
                let old = self.read(place)?;
                let one = convert(Const::Int(1), &Ty::Int, &place.ty.ty);
                let op = match decrement {
                    true => Arith::Sub,
                    false => Arith::Add,
                };
                let new = arithmetic(op, &place.ty.ty, old, one, value.span)?;
                self.write(place, new)?;
                Ok(if *prefix { new } else { old })
            }
            _ => Err(NotConst::Stopped(value.span, UNSUPPORTED)),
        }
    }

    /// Evaluates a value for its effects; it may be `void`.
    fn effect(&mut self, value: &Value) -> Result<(), NotConst> {
        match &value.kind {
            ValueKind::Convert(inner) if value.ty == Ty::Void => self.effect(inner),
            ValueKind::Call(id, args) => self.call(*id, args, value.span).map(drop),
            _ => self.value(value).map(drop),
        }
    }

    /// The result, unless the function returns nothing.
    fn call(
        &mut self,
        id: FunctionId,
        args: &[Value],
        span: Span,
    ) -> Result<Option<Const>, NotConst> {
        let function = match (self.constexpr)(id) {
            Some(Constexpr::Function(function)) => function,
            Some(Constexpr::Wrong) => return Err(NotConst::Error),
            None => {
                let why = "this calls a function that is not `constexpr`";
                return Err(match self.frame {
                    Some(_) => NotConst::Stopped(span, why),
                    None => NotConst::Variable(span),
                });
            }
        };
        let Some(body) = &function.body else {
            return Err(NotConst::NoBody(id, span));
        };
        self.step(span)?;
        let mut frame: Arena<VarId, _> = function.vars.iter().map(|_| None).collect();
        for (param, arg) in function.params.iter().zip(args) {
            let var = &function.vars[*param];
            let arg = match &arg.kind {
                // The target of a reference to `const` cannot change during the call, so its value is passed.
                ValueKind::AddressOf(place) if var.is_reference && var.ty.is_const => {
                    self.read(place)?
                }
                _ if var.is_reference => return Err(NotConst::Stopped(arg.span, UNSUPPORTED)),
                _ => self.value(arg)?,
            };
            frame[*param] = Some(arg);
        }
        if self.calls == MAX_CALLS {
            return Err(NotConst::Stopped(span, TOO_DEEP));
        }
        self.calls += 1;
        let caller = self.frame.replace(frame);
        let flow = self.block(body);
        self.frame = caller;
        self.calls -= 1;
        match flow? {
            Flow::Return(value) => Ok(value),
            Flow::Next if function.result == Ty::Void => Ok(None),
            Flow::Next | Flow::Break | Flow::Continue => Err(NotConst::Stopped(
                span,
                "this call ends without returning a value",
            )),
        }
    }

    fn block(&mut self, stmts: &[Stmt]) -> Result<Flow, NotConst> {
        for stmt in stmts {
            match self.nested(stmt.span, |machine| machine.stmt(stmt))? {
                Flow::Next => {}
                left => return Ok(left),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Flow, NotConst> {
        self.step(stmt.span)?;
        match &stmt.kind {
            StmtKind::Expr(value) => {
                self.effect(value)?;
                Ok(Flow::Next)
            }
            StmtKind::Declare(var, init) => self.declare(*var, init.as_ref(), stmt.span),
            StmtKind::Block(body) => self.block(body),
            StmtKind::If { arms, otherwise } => {
                for (cond, body) in arms {
                    if is_true(self.value(cond)?) {
                        return self.block(body);
                    }
                }
                self.block(otherwise)
            }
            StmtKind::Loop {
                cond,
                test_first,
                body,
                step,
                unroll: _,
            } => {
                let mut test = *test_first;
                loop {
                    self.step(stmt.span)?;
                    if let Some(cond) = cond
                        && test
                        && !is_true(self.value(cond)?)
                    {
                        return Ok(Flow::Next);
                    }
                    test = true;
                    match self.block(body)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => return Ok(Flow::Next),
                        Flow::Return(value) => return Ok(Flow::Return(value)),
                    }
                    if let Some(step) = step {
                        self.effect(step)?;
                    }
                }
            }
            StmtKind::Switch { value, sections } => self.switch(value, sections),
            StmtKind::Labelled { body, .. } => self.block(body),
            StmtKind::Goto(_) => Err(NotConst::Stopped(stmt.span, UNSUPPORTED)),
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::Return(None) => Ok(Flow::Return(None)),
            StmtKind::Return(Some(value)) if value.ty.is_arithmetic() => {
                Ok(Flow::Return(Some(self.value(value)?)))
            }
            StmtKind::Return(Some(value)) if value.ty == Ty::Void => {
                self.effect(value)?;
                Ok(Flow::Return(None))
            }
            StmtKind::Return(Some(value)) => Err(NotConst::Stopped(value.span, UNSUPPORTED)),
        }
    }

    fn declare(&mut self, var: VarId, init: Option<&Init>, span: Span) -> Result<Flow, NotConst> {
        let value = match init {
            None => None,
            Some(Init::Value(value)) if value.ty.is_arithmetic() => Some(self.value(value)?),
            Some(Init::Value(_) | Init::Parts { .. } | Init::Bytes(_)) => {
                return Err(NotConst::Stopped(span, UNSUPPORTED));
            }
        };
        match self.slot(var) {
            Some(slot) => *slot = value,
            None => return Err(NotConst::Stopped(span, UNSUPPORTED)),
        }
        Ok(Flow::Next)
    }

    fn switch(&mut self, value: &Value, sections: &[SwitchSection]) -> Result<Flow, NotConst> {
        let Const::Int(bits) = self.value(value)? else {
            return Err(NotConst::Error);
        };
        let entry = sections
            .iter()
            .position(|section| section.cases.contains(&bits))
            .or_else(|| sections.iter().position(|section| section.is_default));
        for section in &sections[entry.unwrap_or(sections.len())..] {
            match self.block(&section.body)? {
                Flow::Next => {}
                Flow::Break => break,
                left @ (Flow::Continue | Flow::Return(_)) => return Ok(left),
            }
        }
        Ok(Flow::Next)
    }

    fn read(&mut self, place: &Place) -> Result<Const, NotConst> {
        match &place.kind {
            PlaceKind::Temporary(value) if value.ty.is_arithmetic() => self.value(value),
            PlaceKind::Var(VarRef::Local(var)) if place.ty.ty.is_arithmetic() => {
                match self.slot(*var) {
                    Some(Some(value)) => Ok(*value),
                    Some(None) => Err(NotConst::Stopped(place.span, "this has no value yet")),
                    None => Err(NotConst::Variable(place.span)),
                }
            }
            PlaceKind::Var(VarRef::Global(_)) => Err(NotConst::Variable(place.span)),
            _ if self.frame.is_none() => Err(NotConst::Variable(place.span)),
            _ => Err(NotConst::Stopped(place.span, UNSUPPORTED)),
        }
    }

    fn write(&mut self, place: &Place, value: Const) -> Result<Const, NotConst> {
        match &place.kind {
            PlaceKind::Var(VarRef::Local(var)) if place.ty.ty.is_arithmetic() => {
                if let Some(slot) = self.slot(*var) {
                    *slot = Some(value);
                    return Ok(value);
                }
                Err(NotConst::Variable(place.span))
            }
            _ => Err(NotConst::Stopped(place.span, UNSUPPORTED)),
        }
    }

    fn slot(&mut self, var: VarId) -> Option<&mut Option<Const>> {
        self.frame.as_mut()?.get_mut(var.0 as usize)
    }

    fn step(&mut self, span: Span) -> Result<(), NotConst> {
        self.steps += 1;
        match self.steps > MAX_STEPS {
            true => Err(NotConst::Stopped(span, TOO_MANY_STEPS)),
            false => Ok(()),
        }
    }

    fn nested<R>(
        &mut self,
        span: Span,
        f: impl FnOnce(&mut Self) -> Result<R, NotConst>,
    ) -> Result<R, NotConst> {
        if self.nesting == MAX_NESTING {
            return Err(NotConst::Stopped(span, TOO_DEEP));
        }
        self.nesting += 1;
        let result = f(self);
        self.nesting -= 1;
        result
    }
}
