//! Expressions over named quantities: `shared_load_bank_conflicts == 0 && gst_efficiency > 0.9`.
//!
//! The parser takes a text and a resolver of its names. It returns an [`Expr`], whose names are numbers, or the first [`Problem`] with its
//! place. The caller that evaluates the expression provides the values. A quantity without a value (the efficiency of stores in a launch
//! that stores nothing) is neither equal nor unequal to anything: `false && nothing` is false, `true && nothing` is nothing.

mod parse;

use std::{fmt, ops::Range};

use ir::{
    diagnostic::{Code, Diagnostic, render},
    source::{SourceFile, SourceMap},
    span::Span,
};

/// Resolves names to quantities.
pub trait Names {
    /// The number of a quantity. `access`: the text in brackets after the name, as in `transactions(tile[threadIdx.x])`.
    fn number_of(&mut self, name: &str, access: Option<&str>) -> Result<usize, Unknown>;
}

/// Why a name has no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What is wrong, in one phrase.
    pub message: String,
    /// One thing to try.
    pub help: Option<String>,
}

/// What is wrong with the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, in bytes.
    pub place: Range<usize>,
    /// In one phrase.
    pub message: String,
    /// What is at the place.
    pub label: String,
    /// One thing to try.
    pub help: Option<String>,
    /// The name is unknown.
    pub is_name: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, ": {help}"),
            None => Ok(()),
        }
    }
}

impl Problem {
    fn new(place: Range<usize>, message: impl Into<String>) -> Problem {
        Problem {
            place,
            message: message.into(),
            label: String::new(),
            help: None,
            is_name: false,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    fn at(mut self, label: impl Into<String>) -> Problem {
        self.label = label.into();
        self
    }

    /// The same problem in a text that contains the expression from byte `start` on.
    #[must_use]
    pub fn moved(mut self, start: usize) -> Problem {
        self.place = self.place.start + start..self.place.end + start;
        self
    }

    /// The message with the text it is about, which is called `name`.
    pub fn render(&self, name: &str, text: &str, color: bool, columns: usize) -> String {
        let mut map = SourceMap::new();
        let file = map.add(SourceFile::new(name, text));
        let span = Span::new(file, self.place.start, self.place.end);
        let code = match self.is_name {
            true => Code::UnknownName,
            false => Code::Syntax,
        };
        let mut diagnostic =
            Diagnostic::error(code, span, self.message.clone()).at(self.label.clone());
        diagnostic.help = self.help.clone();
        render::render(&[diagnostic], &map, color, Some(columns))
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(Node);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Quantity(usize),
    Negative(Box<Node>),
    Round(Round, Box<Node>),
    Arith(Arith, Box<Node>, Box<Node>),
    Compare(Compare, Box<Node>, Box<Node>),
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Arith {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Ways to make a whole number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Round {
    Up,
    Down,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Compare {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// What is known of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// Its value.
    Number(f64),
    /// It has no value: there was nothing to look at.
    Nothing,
    /// No rule models it.
    NotModelled,
}

/// No rule models the quantity of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotModelled(pub usize);

impl Expr {
    /// A condition: an expression that is true or false.
    pub fn condition(text: &str, names: &mut dyn Names) -> Result<Expr, Problem> {
        parse::condition(text, names).map(Expr)
    }

    /// An expression that is a number.
    pub fn number(text: &str, names: &mut dyn Names) -> Result<Expr, Problem> {
        parse::number(text, names).map(Expr)
    }

    /// Whether a condition holds; `None` if it has no value.
    pub fn holds(&self, value: &dyn Fn(usize) -> Seen) -> Result<Option<bool>, NotModelled> {
        truth(&self.0, value)
    }

    /// The value of a number; `None` if it has none.
    pub fn value(&self, value: &dyn Fn(usize) -> Seen) -> Result<Option<f64>, NotModelled> {
        number(&self.0, value)
    }
}

fn truth(node: &Node, value: &dyn Fn(usize) -> Seen) -> Result<Option<bool>, NotModelled> {
    match node {
        Node::Compare(compare, a, b) => {
            let (a, b) = (number(a, value)?, number(b, value)?);
            Ok(a.zip(b).map(|(a, b)| compare.of(a, b)))
        }
        Node::Not(inner) => Ok(truth(inner, value)?.map(|is| !is)),
        Node::And(a, b) => either(a, b, value, false),
        Node::Or(a, b) => either(a, b, value, true),
        // The parser never makes one of these.
        Node::Number(_)
        | Node::Quantity(_)
        | Node::Negative(_)
        | Node::Round(..)
        | Node::Arith(..) => Ok(None),
    }
}

/// Evaluates two conditions of which one that is `strong` decides: false for `&&`, true for `||`.
fn either(
    a: &Node,
    b: &Node,
    value: &dyn Fn(usize) -> Seen,
    strong: bool,
) -> Result<Option<bool>, NotModelled> {
    let a = truth(a, value)?;
    if a == Some(strong) {
        return Ok(a);
    }
    let b = truth(b, value)?;
    Ok(match (a, b) {
        (_, Some(is)) if is == strong => Some(strong),
        (Some(_), Some(_)) => Some(!strong),
        _ => None,
    })
}

fn number(node: &Node, value: &dyn Fn(usize) -> Seen) -> Result<Option<f64>, NotModelled> {
    match node {
        Node::Number(number) => Ok(Some(*number)),
        Node::Quantity(at) => match value(*at) {
            Seen::Number(number) => Ok(Some(number)),
            Seen::Nothing => Ok(None),
            Seen::NotModelled => Err(NotModelled(*at)),
        },
        Node::Negative(inner) => Ok(number(inner, value)?.map(|number| -number)),
        Node::Round(round, inner) => Ok(number(inner, value)?.map(|number| match round {
            Round::Up => number.ceil(),
            Round::Down => number.floor(),
        })),
        Node::Arith(arith, a, b) => {
            let (a, b) = (number(a, value)?, number(b, value)?);
            Ok(a.zip(b).and_then(|(a, b)| arith.of(a, b)))
        }
        Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) => Ok(None),
    }
}

impl Arith {
    /// `None` for a division by zero: there is nothing to compare with.
    fn of(self, a: f64, b: f64) -> Option<f64> {
        let result = match self {
            Arith::Add => a + b,
            Arith::Subtract => a - b,
            Arith::Multiply => a * b,
            Arith::Divide => a / b,
            Arith::Remainder => a % b,
        };
        result.is_finite().then_some(result)
    }
}

impl Compare {
    fn of(self, a: f64, b: f64) -> bool {
        match self {
            Compare::Equal => a == b,
            Compare::Unequal => a != b,
            Compare::Less => a < b,
            Compare::LessEqual => a <= b,
            Compare::Greater => a > b,
            Compare::GreaterEqual => a >= b,
        }
    }
}

#[cfg(test)]
mod tests;
