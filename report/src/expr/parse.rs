//! Parses a text to a tree, by recursive descent: a function for each level of precedence, the loosest first.

use std::ops::Range;

use super::{Arith, Compare, Names, Node, Problem, Round};

/// No expression that a person wrote is deeper.
const MAX_DEPTH: usize = 100;

/// What kind of value a node has.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Truth,
}

/// A node, its kind, and its place in the text.
type Typed = (Node, Kind, Range<usize>);

pub(super) fn condition(text: &str, names: &mut dyn Names) -> Result<Node, Problem> {
    whole(text, names, Kind::Truth)
}

pub(super) fn number(text: &str, names: &mut dyn Names) -> Result<Node, Problem> {
    whole(text, names, Kind::Number)
}

fn whole(text: &str, names: &mut dyn Names, kind: Kind) -> Result<Node, Problem> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        names,
    };
    let parsed = parser.or()?;
    parser.skip_space();
    if parser.at < text.len() {
        let rest = parser.at..text.len();
        let problem = Problem::new(rest, "the expression ends before this").at("not expected");
        let begins = |word: &str| text[parser.at..].starts_with(word);
        let words = [
            ("=", "write `==` to compare"),
            ("and", "write `&&`"),
            ("or", "write `||`"),
            ("%", "efficiencies are parts of 1: 0.9 is 90 %"),
        ];
        return Err(match words.iter().find(|(word, _)| begins(word)) {
            Some((_, help)) => problem.help(*help),
            None => problem,
        });
    }
    wanted(parsed, kind)
}

fn wanted((node, is, place): Typed, kind: Kind) -> Result<Node, Problem> {
    match (kind, is) {
        (Kind::Truth, Kind::Number) => {
            Err(Problem::new(place, "this is a number, not a condition")
                .at("neither true nor false")
                .help("compare it with something: `… == 0`"))
        }
        (Kind::Number, Kind::Truth) => {
            Err(Problem::new(place, "this is a condition, not a number").at("true or false"))
        }
        _ => Ok(node),
    }
}

const COMPARES: [(&str, Compare); 6] = [
    ("==", Compare::Equal),
    ("!=", Compare::Unequal),
    ("<=", Compare::LessEqual),
    (">=", Compare::GreaterEqual),
    ("<", Compare::Less),
    (">", Compare::Greater),
];

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    names: &'a mut dyn Names,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes an operator if it comes next.
    fn take(&mut self, operator: &str) -> bool {
        self.skip_space();
        let is_next = self.rest().starts_with(operator);
        self.at += if is_next { operator.len() } else { 0 };
        is_next
    }

    fn or(&mut self) -> Result<Typed, Problem> {
        let mut left = self.and()?;
        while self.take("||") {
            let right = self.and()?;
            left = joined(left, right, Kind::Truth, Kind::Truth, Node::Or)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Typed, Problem> {
        let mut left = self.compare()?;
        while self.take("&&") {
            let right = self.compare()?;
            left = joined(left, right, Kind::Truth, Kind::Truth, Node::And)?;
        }
        Ok(left)
    }

    fn compare(&mut self) -> Result<Typed, Problem> {
        let left = self.sum()?;
        let Some(compare) = self.operator(&COMPARES) else {
            return Ok(left);
        };
        let right = self.sum()?;
        let make = |a, b| Node::Compare(compare, a, b);
        let compared = joined(left, right, Kind::Number, Kind::Truth, make)?;
        let start = self.at;
        match self.operator(&COMPARES) {
            Some(_) => Err(
                Problem::new(start..self.at, "two comparisons in one have no meaning")
                    .help("write `0 < x && x < 1`"),
            ),
            None => Ok(compared),
        }
    }

    fn operator<T: Copy>(&mut self, all: &[(&str, T)]) -> Option<T> {
        let found = all.iter().find(|(text, _)| self.take(text));
        found.map(|(_, operator)| *operator)
    }

    fn sum(&mut self) -> Result<Typed, Problem> {
        let mut left = self.product()?;
        let all = [("+", Arith::Add), ("-", Arith::Subtract)];
        while let Some(arith) = self.operator(&all) {
            let right = self.product()?;
            let make = |a, b| Node::Arith(arith, a, b);
            left = joined(left, right, Kind::Number, Kind::Number, make)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Typed, Problem> {
        let mut left = self.unary()?;
        let all = [
            ("*", Arith::Multiply),
            ("/", Arith::Divide),
            ("%", Arith::Remainder),
        ];
        while let Some(arith) = self.operator(&all) {
            let right = self.unary()?;
            let make = |a, b| Node::Arith(arith, a, b);
            left = joined(left, right, Kind::Number, Kind::Number, make)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Typed, Problem> {
        self.skip_space();
        let start = self.at;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Problem::new(
                start..self.text.len(),
                "the expression is too deep",
            ));
        }
        let parsed = if self.take("-") {
            let inner = Box::new(wanted(self.unary()?, Kind::Number)?);
            (Node::Negative(inner), Kind::Number, start..self.at)
        } else if self.take("!") {
            let inner = Box::new(wanted(self.unary()?, Kind::Truth)?);
            (Node::Not(inner), Kind::Truth, start..self.at)
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(parsed)
    }

    fn primary(&mut self) -> Result<Typed, Problem> {
        let start = self.at;
        if self.take("(") {
            let (node, kind, _) = self.or()?;
            if !self.take(")") {
                let open = Problem::new(start..start + 1, "this bracket is not closed");
                return Err(open.at("opened here"));
            }
            return Ok((node, kind, start..self.at));
        }
        // The names of ncu's metrics have dots.
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        match self.rest().chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let place = start..self.end_of(is_of_word);
                self.at = place.end;
                let digits = self.text[place.clone()].replace('_', "");
                let number: Option<f64> = digits.parse().ok();
                let number =
                    number.ok_or_else(|| Problem::new(place.clone(), "this is no number"))?;
                Ok((Node::Number(number), Kind::Number, place))
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.at = self.end_of(is_of_word);
                self.quantity(start..self.at)
            }
            Some(c) => {
                let place = start..start + c.len_utf8();
                let problem = Problem::new(place, format!("`{c}` cannot stand here"));
                Err(problem.at("expected a name, a number or `(`"))
            }
            None => {
                let end = self.text.trim_end().len();
                let problem = Problem::new(end..end, "the expression is not complete")
                    .at("expected a name, a number or `(`");
                Err(match self.text.trim_end().ends_with('%') {
                    true => problem.help("a share is a part of 1: write 0.9 for 90 %"),
                    false => problem,
                })
            }
        }
    }

    fn end_of(&self, is_of_it: impl Fn(char) -> bool) -> usize {
        let length = self.rest().find(|c| !is_of_it(c));
        length.map_or(self.text.len(), |length| self.at + length)
    }

    /// A quantity by its name, with the text of an access in brackets after it.
    fn quantity(&mut self, name: Range<usize>) -> Result<Typed, Problem> {
        let round = match &self.text[name.clone()] {
            "ceil" => Some(Round::Up),
            "floor" => Some(Round::Down),
            _ => None,
        };
        if let Some(round) = round.filter(|_| self.rest().starts_with('(')) {
            let inner = Box::new(wanted(self.primary()?, Kind::Number)?);
            return Ok((Node::Round(round, inner), Kind::Number, name.start..self.at));
        }
        let access = match self.rest().starts_with('(') {
            true => Some(self.bracketed()?),
            false => None,
        };
        let access = access.map(|place| self.text[place].trim());
        let found = self.names.number_of(&self.text[name.clone()], access);
        let place = name.start..self.at;
        let number = found.map_err(|unknown| Problem {
            help: unknown.help,
            is_name: true,
            ..Problem::new(place.clone(), unknown.message)
        })?;
        Ok((Node::Quantity(number), Kind::Number, place))
    }

    /// The text between this bracket and the one that closes it.
    fn bracketed(&mut self) -> Result<Range<usize>, Problem> {
        let (open, mut depth) = (self.at, 0);
        for (at, c) in self.text[open..].char_indices() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at = open + at + 1;
                return Ok(open + 1..open + at);
            }
        }
        let problem = Problem::new(open..open + 1, "this bracket is not closed");
        Err(problem.at("opened here"))
    }
}

/// Two operands of one kind under an operator.
fn joined(
    left: Typed,
    right: Typed,
    operands: Kind,
    kind: Kind,
    make: impl FnOnce(Box<Node>, Box<Node>) -> Node,
) -> Result<Typed, Problem> {
    let place = left.2.start..right.2.end;
    let (left, right) = (wanted(left, operands)?, wanted(right, operands)?);
    Ok((make(Box::new(left), Box::new(right)), kind, place))
}
