//! Writes and reads the fields of an instruction: the words of its mnemonic, and the operands after it.

use std::fmt::{self, Display, Write};

use crate::parse::{Cursor, Result, object, operand};
use crate::print::{As, put};
use crate::{
    Access, AtomicOp, BarrierReduce, BinaryOp, CompareOp, ConvertOp, FenceScope, Intrinsic,
    MemType, Object, Operand, ReduceOp, ShuffleMode, SlotId, Space, SpecialReg, StringId, Type,
    UnaryOp, VoteOp,
};

/// A word of a mnemonic: `add`, `slt`, `i32`. It is written by its `Display`.
pub(super) trait Word: Sized + Display {
    /// What was expected, if it cannot be read.
    const EXPECTED: &'static str;
    /// The value written like this.
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($expected:literal: $($word:ty),*) => { $(
        impl Word for $word {
            const EXPECTED: &'static str = $expected;
            fn from_word(word: &str) -> Option<Self> {
                <$word>::from_text(word)
            }
        }
    )* };
}

words! {
    "an instruction":
    UnaryOp, BinaryOp, CompareOp, ConvertOp, AtomicOp, FenceScope, BarrierReduce, SpecialReg, Intrinsic,
    ShuffleMode, VoteOp, ReduceOp
}
words! { "an instruction with its type": Type }
words! { "an access like `load.f32x2.shared.volatile`": Access }

/// The words after an instruction's first dot.
pub(super) struct Suffixes<'a>(std::str::SplitN<'a, char>);

/// Splits a suffix into this many words; the last one may contain dots.
pub(super) fn suffixes<'a, const COUNT: usize>(
    cursor: &mut Cursor<'_>,
    suffix: &'a str,
) -> Result<Suffixes<'a>> {
    if COUNT == 0 && !suffix.is_empty() {
        return cursor.fail_word("an instruction");
    }
    Ok(Suffixes(suffix.splitn(COUNT, '.')))
}

impl<'a> Suffixes<'a> {
    /// The next word, as written.
    pub(super) fn text(&mut self) -> &'a str {
        self.0.next().unwrap_or_default()
    }

    /// The next word.
    pub(super) fn word<W: Word>(&mut self, cursor: &mut Cursor<'_>) -> Result<W> {
        match W::from_word(self.text()) {
            Some(word) => Ok(word),
            None => cursor.fail_word(W::EXPECTED),
        }
    }
}

/// A field after the mnemonic. `Types` determines an operand's type; it is empty for other fields.
pub(super) trait Arg<Types>: Sized {
    /// Writes it with its separator from the text before: a comma, unless it is the first.
    fn write(&self, out: &mut String, first: bool, types: Types);
    /// The inverse.
    fn read(cursor: &mut Cursor<'_>, first: bool, types: Types) -> Result<Self>;
}

fn write_separator(out: &mut String, first: bool) {
    out.push_str(if first { " " } else { ", " });
}

fn read_separator(cursor: &mut Cursor<'_>, first: bool) -> Result<()> {
    if first { Ok(()) } else { cursor.expect(",") }
}

macro_rules! names {
    ($($name:ty: $cursor:ident => $read:expr;)*) => { $(
        impl Arg<()> for $name {
            fn write(&self, out: &mut String, first: bool, (): ()) {
                write_separator(out, first);
                put!(out, "{self}");
            }
            fn read($cursor: &mut Cursor<'_>, first: bool, (): ()) -> Result<Self> {
                read_separator($cursor, first)?;
                $read
            }
        }
    )* };
}

names! {
    SlotId: cursor => Ok(SlotId(cursor.id("$")?));
    StringId: cursor => Ok(StringId(cursor.id("string")?));
    Object: cursor => object(cursor);
}

impl Arg<Option<Type>> for Operand {
    fn write(&self, out: &mut String, first: bool, ty: Option<Type>) {
        write_separator(out, first);
        put!(out, "{}", As(*self, ty));
    }
    fn read(cursor: &mut Cursor<'_>, first: bool, ty: Option<Type>) -> Result<Self> {
        read_separator(cursor, first)?;
        operand(cursor, ty)
    }
}

/// `when %2`, or nothing.
impl Arg<Option<Type>> for Option<Operand> {
    fn write(&self, out: &mut String, _: bool, ty: Option<Type>) {
        if let Some(operand) = self {
            put!(out, " when {}", As(*operand, ty));
        }
    }
    fn read(cursor: &mut Cursor<'_>, _: bool, ty: Option<Type>) -> Result<Self> {
        let is_there = cursor.eat_word("when");
        is_there.then(|| operand(cursor, ty)).transpose()
    }
}

/// All remaining operands, after other fields.
impl Arg<Option<Type>> for Vec<Operand> {
    fn write(&self, out: &mut String, _: bool, ty: Option<Type>) {
        for operand in self {
            operand.write(out, false, ty);
        }
    }
    fn read(cursor: &mut Cursor<'_>, _: bool, ty: Option<Type>) -> Result<Self> {
        let mut operands = vec![];
        while cursor.eat(",") {
            operands.push(operand(cursor, ty)?);
        }
        Ok(operands)
    }
}

/// One for each type.
impl Arg<&[Type]> for Vec<Operand> {
    fn write(&self, out: &mut String, first: bool, types: &[Type]) {
        for (n, (operand, &ty)) in self.iter().zip(types).enumerate() {
            operand.write(out, first && n == 0, Some(ty));
        }
    }
    fn read(cursor: &mut Cursor<'_>, first: bool, types: &[Type]) -> Result<Self> {
        let read = |(n, &ty)| Operand::read(cursor, first && n == 0, Some(ty));
        types.iter().enumerate().map(read).collect()
    }
}

/// `f32x2.shared.volatile`
impl Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ty)?;
        if self.count != 1 {
            write!(f, "x{}", self.count)?;
        }
        write!(f, ".{}", self.space)?;
        f.write_str(if self.volatile { ".volatile" } else { "" })?;
        f.write_str(if self.block_scope { ".block" } else { "" })?;
        f.write_str(if self.read_only { ".readonly" } else { "" })?;
        f.write_str(if self.partial { ".partial" } else { "" })?;
        f.write_str(if self.merged { ".merged" } else { "" })?;
        match self.align_bytes {
            0 => Ok(()),
            align_bytes => write!(f, ".align{align_bytes}"),
        }
    }
}

impl Access {
    /// The access written like this, without an object.
    pub fn from_text(text: &str) -> Option<Access> {
        let mut parts = text.split('.');
        let shape = parts.next().unwrap_or_default();
        let (ty, count) = match shape.split_once('x') {
            Some((ty, count)) => (ty, count.parse().ok()?),
            None => (shape, 1),
        };
        let ty = MemType::from_text(ty)?;
        let space = Space::from_text(parts.next()?)?;
        let mut rest = parts.peekable();
        let mut has = |word| rest.next_if_eq(&word).is_some();
        let (volatile, block_scope) = (has("volatile"), has("block"));
        let (read_only, partial) = (has("readonly"), has("partial"));
        let merged = has("merged");
        let align = rest.next_if(|word| word.starts_with("align"));
        let align_bytes = match align {
            Some(word) => word.strip_prefix("align")?.parse().ok()?,
            None => 0,
        };
        rest.next().is_none().then_some(Access {
            ty,
            count,
            space,
            volatile,
            block_scope,
            read_only,
            partial,
            merged,
            align_bytes,
            object: None,
            row_len: 0,
            is_member: false,
        })
    }
}

/// ` of shared0 within 33`, ` within member 4`, or nothing.
pub(super) fn write_object(out: &mut String, access: &Access) {
    if let Some(object) = access.object {
        put!(out, " of {object}");
    }
    if access.row_len != 0 {
        let member = if access.is_member { "member " } else { "" };
        put!(out, " within {member}{}", access.row_len);
    }
}

/// The inverse of [`write_object`].
pub(super) fn read_object(cursor: &mut Cursor<'_>, mut access: Access) -> Result<Access> {
    if cursor.eat_word("of") {
        access.object = Some(object(cursor)?);
    }
    if cursor.eat_word("within") {
        access.is_member = cursor.eat_word("member");
        access.row_len = cursor.number()?;
    }
    Ok(access)
}
