//! `#if` and related directives: which lines are read, and the value of a condition.
//!
//! A condition is C's constant expression over 64-bit integers, signed unless an unsigned operand takes part. A part that is not evaluated
//! (the right side of `0 &&`, the unused branch of `?:`) may divide by zero, but has to be well formed.

use super::Preprocessor;
use crate::syntax::lexer::pp_token::{PpKind, PpToken};
use crate::syntax::literal;
use crate::syntax::message::preprocess::ConditionError;
use crate::syntax::token::{Punct, TokenKind};
use ir::span::Span;

/// How deep a condition may be nested.
const DEPTH_LIMIT: u32 = 200;

/// An `#if` that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditional {
    pub(super) opened_at: Span,
    /// Whether one of its branches was read, so that the others are skipped.
    pub(super) taken: bool,
    /// The `#else`, once met.
    pub(super) else_at: Option<Span>,
}

/// A value in a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn signed(value: i64) -> Value {
        Value {
            bits: value as u64,
            unsigned: false,
        }
    }

    fn truth(value: bool) -> Value {
        Value::signed(i64::from(value))
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }

    /// The value, if it is a valid count of an `unroll`.
    pub(super) fn count(self) -> Option<u32> {
        u32::try_from(self.bits).ok()
    }
}

impl Preprocessor<'_> {
    /// The condition of `#if` or `#elif`. One without a value counts as false, after an error.
    pub(super) fn condition(&mut self, directive: Span, line: &[PpToken]) -> bool {
        if line.is_empty() {
            self.report(directive.after(), ConditionError::Missing);
            return false;
        }
        match self.evaluate(line) {
            Ok(value) => value.is_true(),
            Err((span, error)) => {
                self.report(span, error);
                false
            }
        }
    }

    /// The value of a constant expression that is a whole line.
    pub(super) fn evaluate(&mut self, line: &[PpToken]) -> Evaluated {
        let line = self.without_defined(line)?;
        let end = line
            .last()
            .map_or(Span::default(), |last| last.span)
            .after();
        let tokens = self.expand_list(line);
        if self.stopped {
            return Ok(Value::truth(false));
        }
        let mut evaluator = Evaluator {
            preprocessor: self,
            tokens: &tokens,
            at: 0,
            end,
            depth: 0,
        };
        let value = evaluator.conditional(true)?;
        match tokens.get(evaluator.at) {
            None => Ok(value),
            Some(&before) => Err((before.span, ConditionError::NoOperator { before })),
        }
    }

    /// The line with `defined NAME` and `defined(NAME)` replaced by 1 or 0, before macros are expanded.
    fn without_defined(
        &mut self,
        line: &[PpToken],
    ) -> Result<Vec<PpToken>, (Span, ConditionError)> {
        let mut out = Vec::with_capacity(line.len());
        let mut rest = line;
        while let Some((&token, after)) = rest.split_first() {
            rest = after;
            if token.name() != Some(self.words.defined) {
                out.push(token);
                continue;
            }
            let (name, after) = match after {
                [open, name, close, after @ ..]
                    if open.is(Punct::LParen) && close.is(Punct::RParen) =>
                {
                    (name, after)
                }
                [open, ..] if open.is(Punct::LParen) => {
                    return Err((token.span, ConditionError::DefinedParentheses));
                }
                [name, after @ ..] => (name, after),
                [] => return Err((token.span, ConditionError::DefinedWithoutName)),
            };
            let Some(name) = name.name() else {
                return Err((name.span, ConditionError::DefinedWithoutName));
            };
            rest = after;
            let value = if self.macro_named(name).is_some() {
                self.words.one
            } else {
                self.words.zero
            };
            out.push(PpToken {
                kind: PpKind::Number(value),
                ..token
            });
        }
        Ok(out)
    }
}

struct Evaluator<'a, 'p> {
    preprocessor: &'a mut Preprocessor<'p>,
    tokens: &'a [PpToken],
    at: usize,
    /// The place for an error about a missing operand.
    end: Span,
    depth: u32,
}

type Evaluated = Result<Value, (Span, ConditionError)>;

impl Evaluator<'_, '_> {
    fn punct(&self) -> Option<Punct> {
        match self.tokens.get(self.at)?.kind {
            PpKind::Punct(punct) => Some(punct),
            PpKind::Name(_)
            | PpKind::Number(_)
            | PpKind::Char(_)
            | PpKind::Str(_)
            | PpKind::Unroll(_) => None,
        }
    }

    fn eat(&mut self, punct: Punct) -> bool {
        let eaten = self.punct() == Some(punct);
        self.at += usize::from(eaten);
        eaten
    }

    fn place(&self) -> Span {
        self.tokens
            .get(self.at)
            .map_or(self.end, |token| token.span)
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Evaluated) -> Evaluated {
        if self.depth >= DEPTH_LIMIT {
            return Err((self.place(), ConditionError::TooDeep));
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    /// `a ? b : c`. `live` says whether the value matters.
    fn conditional(&mut self, live: bool) -> Evaluated {
        self.nested(|this| {
            let condition = this.binary(0, live)?;
            if !this.eat(Punct::Question) {
                return Ok(condition);
            }
            let yes = this.conditional(live && condition.is_true())?;
            if !this.eat(Punct::Colon) {
                return Err((this.place(), ConditionError::NoColon));
            }
            let no = this.conditional(live && !condition.is_true())?;
            let chosen = if condition.is_true() { yes } else { no };
            Ok(Value {
                unsigned: yes.unsigned || no.unsigned,
                ..chosen
            })
        })
    }

    /// Operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8, live: bool) -> Evaluated {
        let mut left = self.unary(live)?;
        while let Some(operator) = self.punct() {
            let Some(level) = precedence(operator) else {
                break;
            };
            if level < least {
                break;
            }
            let place = self.place();
            self.at += 1;
            let right_matters = match operator {
                Punct::AmpAmp => left.is_true(),
                Punct::PipePipe => !left.is_true(),
                _ => true,
            };
            let right = self.nested(|this| this.binary(level + 1, live && right_matters))?;
            left = match apply(operator, left, right) {
                Some(value) => value,
                None if live => return Err((place, ConditionError::DividesByZero)),
                None => Value::truth(false),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Evaluated {
        let operator = match self.punct() {
            Some(operator @ (Punct::Plus | Punct::Minus | Punct::Tilde | Punct::Bang)) => operator,
            _ => return self.operand(live),
        };
        self.at += 1;
        let value = self.nested(|this| this.unary(live))?;
        Ok(match operator {
            Punct::Minus => Value {
                bits: value.bits.wrapping_neg(),
                ..value
            },
            Punct::Tilde => Value {
                bits: !value.bits,
                ..value
            },
            Punct::Bang => Value::truth(!value.is_true()),
            _ => value,
        })
    }

    fn operand(&mut self, live: bool) -> Evaluated {
        let Some(token) = self.tokens.get(self.at) else {
            return Err((self.end, ConditionError::NoOperand));
        };
        self.at += 1;
        let names = &self.preprocessor.names;
        match token.kind {
            PpKind::Number(sym) => match literal::number(names.text(sym)) {
                Ok(TokenKind::Int {
                    value, unsigned, ..
                }) => Ok(Value {
                    bits: value,
                    unsigned: unsigned || value > i64::MAX as u64,
                }),
                Ok(_) => Err((token.span, ConditionError::Float)),
                Err(error) => Err((token.span, ConditionError::Literal { error })),
            },
            PpKind::Char(sym) => match literal::character(names.text(sym), &mut None) {
                Ok(value) => Ok(Value::signed(i64::from(value))),
                Err(error) => Err((token.span, ConditionError::Literal { error })),
            },
            PpKind::Name(sym) if sym == self.preprocessor.words.defined => {
                self.late_defined(token.span)
            }
            PpKind::Name(sym) => match names.text(sym) {
                "true" => Ok(Value::truth(true)),
                "sizeof" => Err((token.span, ConditionError::Sizeof)),
                _ => match self.punct() {
                    Some(Punct::LParen) => {
                        Err((token.span, ConditionError::NotAMacro { name: sym }))
                    }
                    _ => Ok(Value::truth(false)),
                },
            },
            PpKind::Punct(Punct::LParen) => {
                let value = self.conditional(live)?;
                match self.eat(Punct::RParen) {
                    true => Ok(value),
                    false => Err((self.place(), ConditionError::NoParenthesis)),
                }
            }
            PpKind::Str(_) => Err((token.span, ConditionError::String)),
            PpKind::Punct(_) | PpKind::Unroll(_) => {
                Err((token.span, ConditionError::NoValue { before: *token }))
            }
        }
    }

    /// A `defined` that came from a macro: its operand may have been replaced as well, and was then defined.
    fn late_defined(&mut self, span: Span) -> Evaluated {
        let parenthesised = self.eat(Punct::LParen);
        let Some(token) = self.tokens.get(self.at) else {
            return Err((span, ConditionError::DefinedWithoutName));
        };
        self.at += 1;
        if parenthesised && !self.eat(Punct::RParen) {
            return Err((span, ConditionError::DefinedParentheses));
        }
        let is_defined = token
            .name()
            .is_none_or(|name| self.preprocessor.macro_named(name).is_some());
        Ok(Value::truth(is_defined))
    }
}

fn precedence(operator: Punct) -> Option<u8> {
    Some(match operator {
        Punct::Comma => 0,
        Punct::PipePipe => 1,
        Punct::AmpAmp => 2,
        Punct::Pipe => 3,
        Punct::Caret => 4,
        Punct::Amp => 5,
        Punct::EqEq | Punct::Ne => 6,
        Punct::Lt | Punct::Gt | Punct::Le | Punct::Ge => 7,
        Punct::Shl | Punct::Shr => 8,
        Punct::Plus | Punct::Minus => 9,
        Punct::Star | Punct::Slash | Punct::Percent => 10,
        _ => return None,
    })
}

/// `left operator right`; `None` for a division by zero.
fn apply(operator: Punct, left: Value, right: Value) -> Option<Value> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (x, y) = (a as i64, b as i64);
    let number = |bits: u64| Value { bits, unsigned };
    Some(match operator {
        Punct::Comma => right,
        Punct::PipePipe => Value::truth(left.is_true() || right.is_true()),
        Punct::AmpAmp => Value::truth(left.is_true() && right.is_true()),
        Punct::Pipe => number(a | b),
        Punct::Caret => number(a ^ b),
        Punct::Amp => number(a & b),
        Punct::EqEq => Value::truth(a == b),
        Punct::Ne => Value::truth(a != b),
        Punct::Lt => Value::truth(if unsigned { a < b } else { x < y }),
        Punct::Gt => Value::truth(if unsigned { a > b } else { x > y }),
        Punct::Le => Value::truth(if unsigned { a <= b } else { x <= y }),
        Punct::Ge => Value::truth(if unsigned { a >= b } else { x >= y }),
        Punct::Shl => Value {
            bits: if b < 64 { a << b } else { 0 },
            ..left
        },
        Punct::Shr if left.unsigned => Value {
            bits: if b < 64 { a >> b } else { 0 },
            ..left
        },
        Punct::Shr => Value {
            bits: (x >> b.min(63)) as u64,
            ..left
        },
        Punct::Plus => number(a.wrapping_add(b)),
        Punct::Minus => number(a.wrapping_sub(b)),
        Punct::Star => number(a.wrapping_mul(b)),
        Punct::Slash if unsigned => number(a.checked_div(b)?),
        Punct::Slash if b == 0 => return None,
        Punct::Slash => number(x.wrapping_div(y) as u64),
        Punct::Percent if unsigned => number(a.checked_rem(b)?),
        Punct::Percent if b == 0 => return None,
        Punct::Percent => number(x.wrapping_rem(y) as u64),
        _ => return None,
    })
}
