//! From text to IR: the inverse of [`print`](mod@super::print). Any other text is an error with line, column and one sentence.
//!
//! The text is read once, left to right, without tokens: the grammar is the printer's output with free spacing (but the value of a `return`
//! is on its line), and `//` comments to the end of the line. Only the form is checked here (and that numbered things are in order). The
//! verifier checks the meaning, so that its tests can start from broken text.

mod cursor;
mod function;
mod inst;

use std::fmt;

use super::{GlobalId, GlobalSpace, GlobalVar, Loc, LocId, Module, Object, StringId};
pub(super) use cursor::Cursor;
pub(super) use inst::{operand, operand_list, operands};

/// Why a text is not valid IR.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// Reads the output of [`print`](super::print::print).
pub fn parse(text: &str) -> Result<Module> {
    let mut cursor = Cursor::new(text);
    let mut module = Module {
        locs: vec![Loc::default()],
        ..Module::default()
    };
    cursor.expect_word("module")?;
    module.name = cursor.string()?;
    while !cursor.at_end() {
        let word = cursor.word()?;
        match word {
            "file" => {
                cursor.index("", module.files.len())?;
                module.files.push(cursor.string()?);
            }
            "string" => {
                cursor.index("string", module.strings.len())?;
                module.strings.push(cursor.bytes()?.into());
            }
            "global" => {
                cursor.index("global", module.globals.len())?;
                module.globals.push(global(&mut cursor)?);
            }
            "kernel" | "host" => {
                let function = function::function(&mut cursor, &module, word == "kernel")?;
                module.functions.push(function);
            }
            "loc" => {
                let (id, loc) = loc(&mut cursor)?;
                if id == LocId(0) {
                    module.locs[0] = loc;
                } else if id.index() == module.locs.len() {
                    module.locs.push(loc);
                } else {
                    return cursor.fail("the places are not numbered in order");
                }
            }
            "no" => {
                cursor.expect_word("locs")?;
                module.locs.clear();
            }
            _ => {
                return cursor.fail_word("a `file`, `string`, `global`, `kernel`, `host` or `loc`");
            }
        }
        if module.locs.is_empty() && !cursor.at_end() {
            return cursor.fail("nothing follows `no locs`");
        }
    }
    Ok(module)
}

/// `!7 = 0:12:9 "S[i]" via !5`
fn loc(cursor: &mut Cursor<'_>) -> Result<(LocId, Loc)> {
    let id = LocId(cursor.id("!")?);
    cursor.expect("=")?;
    let file = cursor.number()?;
    cursor.expect(":")?;
    let line = cursor.number()?;
    cursor.expect(":")?;
    let column = cursor.number()?;
    let text = if cursor.peek("\"") {
        cursor.string()?
    } else {
        String::new()
    };
    let via = match cursor.eat_word("via") {
        true => Some(LocId(cursor.id("!")?)),
        false => None,
    };
    Ok((
        id,
        Loc {
            file,
            line,
            column,
            text,
            via,
        },
    ))
}

/// ` !3`, or nothing for `!0`.
fn at(cursor: &mut Cursor<'_>) -> Result<LocId> {
    if cursor.peek("!") {
        Ok(LocId(cursor.id("!")?))
    } else {
        Ok(LocId(0))
    }
}

/// `constant "coef" "float [16]" : 64 align 4 element 4 = zero !1`
fn global(cursor: &mut Cursor<'_>) -> Result<GlobalVar> {
    let spaces = [
        GlobalSpace::Constant,
        GlobalSpace::Device,
        GlobalSpace::Managed,
        GlobalSpace::Host,
    ];
    let word = cursor.word()?;
    let Some(space) = spaces.into_iter().find(|space| space.text() == word) else {
        return cursor.fail_word("`constant`, `device`, `managed` or `host`");
    };
    let name = cursor.string()?;
    let c_type = cursor.string()?;
    cursor.expect(":")?;
    let size_bytes = cursor.number()?;
    cursor.expect_word("align")?;
    let align_bytes = cursor.number()?;
    cursor.expect_word("element")?;
    let element_bytes = cursor.number()?;
    cursor.expect("=")?;
    let init = if cursor.eat_word("zero") {
        None
    } else {
        cursor.expect_word("bytes")?;
        Some(hex_bytes(cursor)?)
    };
    let mut relocations = vec![];
    if cursor.eat_word("reloc") {
        cursor.expect("(")?;
        cursor.list(")", |cursor| {
            let at = cursor.number()?;
            cursor.expect(":")?;
            let object = object(cursor)?;
            relocations.push((at, object, addend(cursor)?));
            Ok(())
        })?;
    }
    let loc = at(cursor)?;
    Ok(GlobalVar {
        name,
        space,
        c_type,
        element_bytes,
        size_bytes,
        align_bytes,
        init,
        relocations,
        loc,
    })
}

/// `(0a0b0c0d 01)`
fn hex_bytes(cursor: &mut Cursor<'_>) -> Result<Vec<u8>> {
    cursor.expect("(")?;
    let mut bytes = vec![];
    while !cursor.eat(")") {
        let word = cursor.word()?;
        let pairs = word.as_bytes().chunks(2);
        for pair in pairs {
            let digits = std::str::from_utf8(pair).unwrap_or_default();
            match u8::from_str_radix(digits, 16) {
                Ok(byte) if pair.len() == 2 => bytes.push(byte),
                _ => return cursor.fail_word("pairs of hexadecimal digits"),
            }
        }
    }
    Ok(bytes)
}

/// `shared0`, `local1`, `global2`, `string3`
pub(super) fn object(cursor: &mut Cursor<'_>) -> Result<Object> {
    let word = cursor.word()?;
    let start = word
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(word.len());
    let Ok(id) = word[start..].parse() else {
        return cursor.fail_word("an object");
    };
    match &word[..start] {
        "shared" => Ok(Object::Shared(super::SharedId(id))),
        "local" => Ok(Object::Local(super::LocalId(id))),
        "global" => Ok(Object::Global(GlobalId(id))),
        "string" => Ok(Object::String(StringId(id))),
        _ => cursor.fail_word("an object"),
    }
}

/// ` + 8`, ` - 8`, or nothing for 0.
pub(super) fn addend(cursor: &mut Cursor<'_>) -> Result<i64> {
    let negative = if cursor.eat("+") {
        false
    } else if cursor.eat("-") {
        true
    } else {
        return Ok(0);
    };
    let magnitude: u64 = cursor.number()?;
    let limit = i64::MAX as u64 + negative as u64;
    if magnitude > limit {
        return cursor.fail("the number is too large");
    }
    Ok(if negative {
        (magnitude as i64).wrapping_neg()
    } else {
        magnitude as i64
    })
}

#[cfg(test)]
mod tests;
