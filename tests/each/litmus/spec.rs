//! A litmus test as its header describes it: threads of a few accesses, where they run, and the outcome in question.
//!
//!     // forbidden: a=1 b=0
//!     // MP, both fenced
//!     // blocks: 0 1
//!     // T0: x = 1; fence.device; y = volatile 1
//!     // T1: a = volatile y; fence.device; b = x
//!
//! `x`, `y` and `z` are memory, `a` to `d` a thread's variables. A load or store is plain, `volatile`, or an atomic with an order and a
//! scope; `a = add y 1` is an atomic addition. `// blocks: 0 0 1` gives the block of each thread; each thread is in a separate warp.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    Block,
    Device,
    System,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Plain,
    Volatile,
    Relaxed(Scope),
    /// A release for a store, an acquire for a load.
    Ordered(Scope),
    SeqCst(Scope),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    Number(i32),
    Variable(char),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Statement {
    Store(char, Mode, Value),
    Load(char, Mode, char),
    /// The variable receives the old value.
    Add(char, Scope, char, i32),
    Fence(Scope),
    /// `__syncthreads()`.
    Barrier,
    /// `__syncwarp()`.
    SyncWarp,
}

/// Where the threads run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Places {
    /// Each in a separate warp of the block with that number.
    Blocks(Vec<usize>),
    /// In one warp.
    Lanes,
}

#[derive(Clone, Debug)]
pub(super) struct Litmus {
    pub(super) is_allowed: bool,
    /// The final values of these variables and words of memory.
    pub(super) outcome: Vec<(char, i32)>,
    pub(super) title: String,
    pub(super) places: Places,
    pub(super) in_shared: bool,
    pub(super) threads: Vec<Vec<Statement>>,
    /// Why the machine does not show the outcome, though it is allowed.
    pub(super) not_shown: Option<String>,
    /// The header's lines.
    pub(super) header: String,
}

pub(super) fn is_memory(name: char) -> bool {
    matches!(name, 'x' | 'y' | 'z')
}

impl Litmus {
    pub(super) fn parse(source: &str) -> Result<Litmus, String> {
        let lines: Vec<&str> = source
            .lines()
            .take_while(|line| line.starts_with("// "))
            .collect();
        let header = lines.iter().map(|line| format!("{line}\n")).collect();
        let mut lines = lines.into_iter().map(|line| &line[3..]);
        let (label, outcome) = split(lines.next().unwrap_or_default(), ": ")?;
        let mut litmus = Litmus {
            is_allowed: match label {
                "allowed" => true,
                "forbidden" => false,
                _ => return Err(format!("`{label}` is neither allowed nor forbidden")),
            },
            outcome: Vec::new(),
            title: lines.next().unwrap_or_default().to_string(),
            places: Places::Lanes,
            in_shared: false,
            threads: Vec::new(),
            not_shown: None,
            header,
        };
        for part in outcome.split(' ') {
            let (name, value) = split(part, "=")?;
            litmus.outcome.push((letter(name)?, number(value)?));
        }
        for line in lines {
            match line.split_once(": ") {
                Some(("blocks", numbers)) => {
                    let numbers = numbers
                        .split(' ')
                        .map(|text| number(text).map(|n| n as usize));
                    litmus.places = Places::Blocks(numbers.collect::<Result<_, _>>()?);
                }
                Some(("not shown", why)) => litmus.not_shown = Some(why.to_string()),
                Some((_, thread)) => {
                    let statements = thread.split("; ").map(statement);
                    litmus.threads.push(statements.collect::<Result<_, _>>()?);
                }
                None if line == "lanes of one warp" => litmus.places = Places::Lanes,
                None if line == "shared memory" => litmus.in_shared = true,
                None => return Err(format!("what is `{line}`?")),
            }
        }
        Ok(litmus)
    }

    /// The family: `MP` for `MP, both fenced`.
    pub(super) fn family(&self) -> &str {
        self.title.split([',', ':', ' ']).next().unwrap_or_default()
    }

    /// The block of a thread.
    pub(super) fn block(&self, thread: usize) -> usize {
        match &self.places {
            Places::Blocks(blocks) => blocks[thread],
            Places::Lanes => 0,
        }
    }

    /// The names of memory that a thread uses.
    pub(super) fn memory(&self) -> Vec<char> {
        let mut names: Vec<char> = self
            .threads
            .iter()
            .flatten()
            .filter_map(Statement::memory)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The outcome as the program prints it.
    pub(super) fn outcome_text(&self) -> String {
        let parts = self
            .outcome
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        parts.collect::<Vec<_>>().join(" ")
    }
}

impl Statement {
    pub(super) fn memory(&self) -> Option<char> {
        match *self {
            Statement::Store(name, ..)
            | Statement::Load(_, _, name)
            | Statement::Add(_, _, name, _) => Some(name),
            Statement::Fence(_) | Statement::Barrier | Statement::SyncWarp => None,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Block => "block",
            Scope::Device => "device",
            Scope::System => "system",
        })
    }
}

fn statement(text: &str) -> Result<Statement, String> {
    if let Some(scope) = text.strip_prefix("fence.") {
        return Ok(Statement::Fence(self::scope(scope)?));
    }
    match text {
        "sync" => return Ok(Statement::Barrier),
        "syncwarp" => return Ok(Statement::SyncWarp),
        _ => {}
    }
    let (left, right) = split(text, " = ")?;
    let left = letter(left)?;
    let words: Vec<&str> = right.split(' ').collect();
    match *words.as_slice() {
        [add, place, by] if add.split('.').next() == Some("add") => {
            let scope = match add.split_once('.') {
                Some((_, scope)) => self::scope(scope)?,
                None => Scope::Device,
            };
            Ok(Statement::Add(left, scope, letter(place)?, number(by)?))
        }
        [value] => access(left, Mode::Plain, value),
        [mode, value] => access(left, self::mode(mode)?, value),
        _ => Err(format!("what is `{text}`?")),
    }
}

fn access(left: char, mode: Mode, right: &str) -> Result<Statement, String> {
    if !is_memory(left) {
        return Ok(Statement::Load(left, mode, letter(right)?));
    }
    let value = match number(right) {
        Ok(number) => Value::Number(number),
        Err(_) => Value::Variable(letter(right)?),
    };
    Ok(Statement::Store(left, mode, value))
}

fn mode(text: &str) -> Result<Mode, String> {
    if text == "volatile" {
        return Ok(Mode::Volatile);
    }
    let (order, scope) = split(text, ".")?;
    let scope = self::scope(scope)?;
    match order {
        "relaxed" => Ok(Mode::Relaxed(scope)),
        "release" | "acquire" => Ok(Mode::Ordered(scope)),
        "seq_cst" => Ok(Mode::SeqCst(scope)),
        _ => Err(format!("`{order}` is no order")),
    }
}

fn scope(text: &str) -> Result<Scope, String> {
    match text {
        "block" => Ok(Scope::Block),
        "device" => Ok(Scope::Device),
        "system" => Ok(Scope::System),
        _ => Err(format!("`{text}` is no scope")),
    }
}

fn letter(text: &str) -> Result<char, String> {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii_lowercase() => Ok(letter),
        _ => Err(format!("`{text}` is no name")),
    }
}

fn number(text: &str) -> Result<i32, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn split<'a>(text: &'a str, at: &str) -> Result<(&'a str, &'a str), String> {
    text.split_once(at)
        .ok_or_else(|| format!("no `{at}` in `{text}`"))
}
