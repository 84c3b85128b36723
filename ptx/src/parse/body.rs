//! A function's code: declarations, labels and instructions. A block `{ … }` has its own names.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Result;
use super::cursor::Cursor;
use super::value::{self, Number};
use super::variable;
use crate::Error;
use crate::lexer::Token;
use crate::tree::{
    Base, Body, Instruction, Operand, Place, RegId, Register, ScalarType, Statement, Variable,
};

/// How deep blocks may be in one another.
const MAX_DEPTH: usize = 256;
/// The most registers of a declaration such as `%r<10>`, as PTX's assembler has it.
const MAX_RANGE: u32 = 1 << 24;

/// Reads `{ … }`.
pub(super) fn body<'t>(cursor: &mut Cursor<'t>) -> Result<Body<'t>> {
    let mut reader = Reader {
        cursor,
        body: Body {
            places: vec![Place::default()],
            ..Body::default()
        },
        scopes: Vec::new(),
        place: 0,
        places: FxHashMap::default(),
    };
    reader.block()?;
    Ok(reader.body)
}

/// Names the parameters that are read through a register: `mov.b64 %rd1, k_param_0; ld.param.b64 %rd2, [%rd1+24];`.
pub(super) fn name_params<'t>(body: &mut Body<'t>, params: &[Variable<'t>]) {
    let is_param = |name: &str| params.iter().any(|param| param.name == name);
    let addresses = body.addresses();
    if !addresses.values().any(|(name, _)| is_param(name)) {
        return;
    }
    for statement in &mut body.statements {
        let Statement::Inst(inst) = statement else {
            continue;
        };
        if inst.opcode != "ld" || !inst.modifiers.contains(&".param") {
            continue;
        }
        for operand in &mut inst.operands {
            if let Operand::Address(Base::Register(id), offset) = operand
                && let Some((name, more)) = addresses.get(id)
            {
                *operand = Operand::Address(Base::Symbol(name), *offset + more);
            }
        }
    }
    // A register that only those loads used goes with them.
    loop {
        let mut used: FxHashSet<RegId> = FxHashSet::default();
        for inst in body.instructions() {
            let first = usize::from(matches!(inst.opcode, "mov" | "add"));
            for operand in inst.operands.iter().skip(first) {
                mark(operand, &mut used);
            }
        }
        let before = body.statements.len();
        body.statements.retain(|statement| match statement {
            Statement::Inst(inst) => match inst.operands.first() {
                Some(Operand::Register(to)) if matches!(inst.opcode, "mov" | "add") => {
                    used.contains(to) || !addresses.get(to).is_some_and(|(name, _)| is_param(name))
                }
                _ => true,
            },
            _ => true,
        });
        if body.statements.len() == before {
            return;
        }
    }
}

/// Adds the registers of an operand.
fn mark(operand: &Operand<'_>, used: &mut FxHashSet<RegId>) {
    match operand {
        Operand::Register(id) | Operand::Not(id) | Operand::Address(Base::Register(id), _) => {
            used.insert(*id);
        }
        Operand::Pair(a, b) => used.extend([*a, *b]),
        Operand::Vector(parts) | Operand::Group(parts) => {
            parts.iter().for_each(|part| mark(part, used));
        }
        _ => {}
    }
}

/// The names of a block.
#[derive(Default)]
struct Scope<'t> {
    registers: FxHashMap<&'t str, RegId>,
    /// `%r<10>`: by what precedes the number, the type and the count.
    ranges: FxHashMap<&'t str, (ScalarType, u32)>,
    labels: FxHashMap<&'t str, u32>,
    /// Jumps to labels that were not yet met: the name, and where in the text.
    wanted: Vec<Wanted<'t>>,
}

/// A label that a jump names.
struct Wanted<'t> {
    name: &'t str,
    at: u32,
    statement: usize,
    /// The operand; in a list of targets, the element.
    operand: usize,
}

struct Reader<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    body: Body<'t>,
    /// Innermost last.
    scopes: Vec<Scope<'t>>,
    /// The place of the last `.loc`.
    place: u32,
    places: FxHashMap<Place, u32>,
}

impl<'t> Reader<'_, 't> {
    /// `{ … }` and the blocks in it.
    fn block(&mut self) -> Result<()> {
        loop {
            match self.cursor.peek() {
                Some(Token::LBrace) => {
                    if self.scopes.len() == MAX_DEPTH {
                        return self.cursor.fail("more than 256 blocks in one another");
                    }
                    self.cursor.next();
                    self.scopes.push(Scope::default());
                }
                Some(Token::RBrace) => {
                    self.cursor.next();
                    self.close()?;
                    if self.scopes.is_empty() {
                        return Ok(());
                    }
                }
                Some(Token::Semi) => self.cursor.next(),
                Some(_) => self.statement()?,
                None => return self.cursor.expected("`}`"),
            }
        }
    }

    fn scope(&mut self) -> &mut Scope<'t> {
        self.scopes.last_mut().expect("a block is open")
    }

    /// Ends a block: jumps to its labels get their numbers, the others are looked up further out.
    fn close(&mut self) -> Result<()> {
        let scope = self.scopes.pop().expect("a block is open");
        for wanted in scope.wanted {
            let Some(&label) = scope.labels.get(wanted.name) else {
                match self.scopes.last_mut() {
                    Some(outer) => outer.wanted.push(wanted),
                    None => {
                        let message = format!("no label `{}` in this function", wanted.name);
                        return Err(Error::at(self.cursor.text(), wanted.at as usize, &message));
                    }
                }
                continue;
            };
            match &mut self.body.statements[wanted.statement] {
                Statement::Inst(inst) => inst.operands[wanted.operand] = Operand::Label(label),
                Statement::Targets(_, labels) => labels[wanted.operand] = label,
                Statement::Label(_) => {}
            }
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        match self.cursor.peek() {
            Some(Token::Dotted) => return self.directive(),
            Some(Token::Name) if self.cursor.peek_at(1) == Some(Token::Colon) => {
                return self.label();
            }
            _ => {}
        }
        let at = self.cursor.at();
        let guard = self.guard()?;
        let opcode = self.cursor.name()?;
        let mut modifiers = Vec::new();
        while self.cursor.peek() == Some(Token::Dotted) {
            modifiers.push(self.cursor.next_text());
        }
        let mut operands = Vec::new();
        let statement = self.body.statements.len();
        while self.cursor.peek() != Some(Token::Semi) {
            if !operands.is_empty() {
                self.cursor.expect(Token::Comma, "`,` or `;`")?;
            }
            let operand_at = self.cursor.at();
            let operand = self.operand()?;
            if let (Operand::Symbol(name, 0), "bra" | "brx") = (&operand, opcode) {
                let (name, operand) = (*name, operands.len());
                self.scope().wanted.push(Wanted {
                    name,
                    at: operand_at,
                    statement,
                    operand,
                });
            }
            operands.push(operand);
        }
        self.cursor.next();
        self.body.statements.push(Statement::Inst(Instruction {
            guard,
            opcode,
            modifiers,
            operands,
            place: self.place,
            at,
        }));
        Ok(())
    }

    /// `@%p1`, `@!%p1`
    fn guard(&mut self) -> Result<Option<(RegId, bool)>> {
        if !self.cursor.eat(Token::At) {
            return Ok(None);
        }
        let negated = self.cursor.eat(Token::Bang);
        Ok(Some((self.register()?, negated)))
    }

    /// `name:`, or `name: .branchtargets a, b;`
    fn label(&mut self) -> Result<()> {
        let label = self.body.labels;
        let name = self.cursor.peek_text();
        if self.scope().labels.insert(name, label).is_some() {
            return self.cursor.fail(&format!("two labels are named `{name}`"));
        }
        self.cursor.next();
        self.cursor.next();
        self.body.labels += 1;
        match self.cursor.peek_text() {
            ".branchtargets" => {
                self.cursor.next();
                let statement = self.body.statements.len();
                let mut count = 0;
                loop {
                    let at = self.cursor.at();
                    let name = self.cursor.name()?;
                    self.scope().wanted.push(Wanted {
                        name,
                        at,
                        statement,
                        operand: count,
                    });
                    count += 1;
                    if !self.cursor.eat(Token::Comma) {
                        break;
                    }
                }
                self.cursor.expect(Token::Semi, "`;`")?;
                let targets = Statement::Targets(label, vec![0; count]);
                self.body.statements.push(targets);
            }
            ".callprototype" | ".calltargets" => self.cursor.skip_statement()?,
            _ => self.body.statements.push(Statement::Label(label)),
        }
        Ok(())
    }

    fn directive(&mut self) -> Result<()> {
        match self.cursor.peek_text() {
            ".loc" => self.loc(),
            ".reg" => self.registers(),
            ".pragma" => self.cursor.skip_statement(),
            _ => match variable::declaration(self.cursor, false)? {
                Some(variables) => {
                    self.body.variables.extend(variables);
                    Ok(())
                }
                None => self.cursor.fail("no directive of a function"),
            },
        }
    }

    /// `.loc 1 12 5`, `.loc 1 12 5, function_name $L, inlined_at 1 7 3`: the place of what follows.
    fn loc(&mut self) -> Result<()> {
        self.cursor.next();
        let file = self.cursor.small_int()?;
        let line = self.cursor.small_int()?;
        let column = self.cursor.small_int()?;
        while self.cursor.eat(Token::Comma) {
            match self.cursor.next_text() {
                "function_name" => {
                    self.cursor.name()?;
                    variable::offset(self.cursor)?;
                }
                "inlined_at" => {
                    for _ in 0..3 {
                        self.cursor.int()?;
                    }
                }
                _ => return self.cursor.fail("no part of a `.loc`"),
            }
        }
        let place = Place { file, line, column };
        let next = self.body.places.len() as u32;
        self.place = *self.places.entry(place).or_insert(next);
        if self.place == next {
            self.body.places.push(place);
        }
        Ok(())
    }

    /// `.reg .b32 %r<10>;`, `.reg .pred p, q;`
    fn registers(&mut self) -> Result<()> {
        self.cursor.next();
        let text = self.cursor.peek_text();
        let Some(ty) = ScalarType::of(text) else {
            return self.cursor.expected("a register's type");
        };
        self.cursor.next();
        loop {
            let name = self.cursor.name()?;
            if self.cursor.eat(Token::Less) {
                let count = self.cursor.small_int()?;
                if count > MAX_RANGE {
                    return self.cursor.fail("more than 2^24 registers at once");
                }
                self.cursor.expect(Token::Greater, "`>`")?;
                self.scope().ranges.insert(name, (ty, count));
            } else {
                let id = self.declare(name, ty);
                self.scope().registers.insert(name, id);
            }
            if self.cursor.eat(Token::Semi) {
                return Ok(());
            }
            self.cursor.expect(Token::Comma, "`,` or `;`")?;
        }
    }

    fn declare(&mut self, name: &'t str, ty: ScalarType) -> RegId {
        let id = RegId(self.body.registers.len() as u32);
        self.body.registers.push(Register { name, ty });
        id
    }

    /// The register of a name, from the innermost block outwards.
    fn find(&mut self, name: &'t str) -> Option<RegId> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (prefix, number) = name.split_at(name.len() - digits);
        // `%r01` is no element of `%r<10>`.
        let number = match number {
            "" => None,
            _ if number.len() > 1 && number.starts_with('0') => None,
            _ => number.parse::<u32>().ok(),
        };
        for scope in (0..self.scopes.len()).rev() {
            if let Some(&id) = self.scopes[scope].registers.get(name) {
                return Some(id);
            }
            let range = self.scopes[scope].ranges.get(prefix).copied();
            if let (Some((ty, count)), Some(number)) = (range, number)
                && number < count
            {
                let id = self.declare(name, ty);
                self.scopes[scope].registers.insert(name, id);
                return Some(id);
            }
        }
        None
    }

    fn register(&mut self) -> Result<RegId> {
        let name = self.cursor.peek_text();
        if self.cursor.peek() != Some(Token::Name) {
            return self.cursor.expected("a register");
        }
        match self.find(name) {
            Some(id) => {
                self.cursor.next();
                Ok(id)
            }
            None => self
                .cursor
                .fail(&format!("no register `{name}` is declared here")),
        }
    }

    fn operand(&mut self) -> Result<Operand<'t>> {
        if value::begins(self.cursor) {
            return Ok(match value::number(self.cursor)? {
                Number::Int(bits) => Operand::Int(bits),
                Number::Single(bits) => Operand::Single(bits),
                Number::Double(bits) => Operand::Double(bits),
            });
        }
        match self.cursor.peek() {
            Some(Token::Name) => self.named(),
            Some(Token::Bang) => {
                self.cursor.next();
                Ok(Operand::Not(self.register()?))
            }
            Some(Token::LBracket) => self.address(),
            Some(Token::LBrace) => Ok(Operand::Vector(self.list(Token::RBrace, "`,` or `}`")?)),
            Some(Token::LParen) => Ok(Operand::Group(self.list(Token::RParen, "`,` or `)`")?)),
            _ => self.cursor.expected("an operand"),
        }
    }

    /// The operands between two brackets. They are not lists themselves.
    fn list(&mut self, close: Token, what: &str) -> Result<Vec<Operand<'t>>> {
        self.cursor.next();
        let mut operands = Vec::new();
        if self.cursor.eat(close) {
            return Ok(operands);
        }
        loop {
            if matches!(self.cursor.peek(), Some(Token::LBrace | Token::LParen)) {
                return self.cursor.expected("an operand");
            }
            operands.push(self.operand()?);
            if self.cursor.eat(close) {
                return Ok(operands);
            }
            self.cursor.expect(Token::Comma, what)?;
        }
    }

    /// A register, with `|` two; a special register, a symbol, `_`.
    fn named(&mut self) -> Result<Operand<'t>> {
        let name = self.cursor.peek_text();
        if name == "_" {
            self.cursor.next();
            // `_|%p1`: the first of two results is not wanted.
            return match self.cursor.eat(Token::Bar) {
                true => Ok(Operand::Vector(vec![
                    Operand::Sink,
                    Operand::Register(self.register()?),
                ])),
                false => Ok(Operand::Sink),
            };
        }
        if let Some(first) = self.find(name) {
            self.cursor.next();
            if self.cursor.eat(Token::Bar) {
                return match self.cursor.peek_text() {
                    "_" => {
                        self.cursor.next();
                        Ok(Operand::Register(first))
                    }
                    _ => Ok(Operand::Pair(first, self.register()?)),
                };
            }
            return Ok(Operand::Register(first));
        }
        if name.starts_with('%') && !is_special(name) {
            return self
                .cursor
                .fail(&format!("no register `{name}` is declared here"));
        }
        self.cursor.next();
        if name.starts_with('%') || name == "WARP_SZ" {
            let part = self.cursor.peek() == Some(Token::Dotted);
            let part = part.then(|| self.cursor.next_text());
            return Ok(Operand::Special(name, part));
        }
        Ok(Operand::Symbol(name, variable::offset(self.cursor)?))
    }

    /// `[%rd1+4]`
    fn address(&mut self) -> Result<Operand<'t>> {
        self.cursor.next();
        let base = match self.cursor.peek() {
            Some(Token::Name) => {
                let name = self.cursor.peek_text();
                match self.find(name) {
                    Some(id) => {
                        self.cursor.next();
                        Base::Register(id)
                    }
                    None => Base::Symbol(self.cursor.next_text()),
                }
            }
            _ => Base::Absolute,
        };
        let offset = match base {
            Base::Absolute => match value::number(self.cursor)? {
                Number::Int(bits) => bits as i64,
                _ => return self.cursor.fail("an address is a whole number"),
            },
            _ => variable::offset(self.cursor)?,
        };
        // Coordinates of a tensor or an image.
        if self.cursor.eat(Token::Comma) {
            let mut parts = vec![Operand::Address(base, offset)];
            loop {
                parts.push(self.operand()?);
                if self.cursor.eat(Token::RBracket) {
                    return Ok(Operand::Group(parts));
                }
                self.cursor.expect(Token::Comma, "`,` or `]`")?;
            }
        }
        self.cursor.expect(Token::RBracket, "`]`")?;
        Ok(Operand::Address(base, offset))
    }
}

/// Beginnings of the names of PTX's special registers.
const SPECIAL: &[&str] = &[
    "tid",
    "ntid",
    "laneid",
    "warpid",
    "nwarpid",
    "ctaid",
    "nctaid",
    "smid",
    "nsmid",
    "gridid",
    "is_explicit_cluster",
    "cluster",
    "ncluster",
    "lanemask_",
    "clock",
    "pm",
    "envreg",
    "globaltimer",
    "reserved_smem",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
    "current_graph_exec",
];

fn is_special(name: &str) -> bool {
    let name = &name[1..];
    SPECIAL.iter().any(|special| name.starts_with(special))
}
