//! Parses the text of an `asm` statement: `{ .reg .pred p; setp.lt.s32 p, %1, 4; @p add.u32 %0, %1, 1; }`.
//!
//! This is only the syntax. The library's `ptx.k` decides which instructions there are and which operands they take.

/// The contents of an `asm` statement.
#[derive(Default)]
pub(super) struct Ptx<'a> {
    pub(super) registers: Vec<Register<'a>>,
    pub(super) instructions: Vec<Instruction<'a>>,
}

/// A register that the text declares.
pub(super) struct Register<'a> {
    pub(super) name: String,
    /// `.u32` without its point.
    pub(super) ty: &'a str,
}

/// `@!p add.u32 %0, %1, 1`.
pub(super) struct Instruction<'a> {
    pub(super) guard: Option<Guard<'a>>,
    pub(super) opcode: &'a str,
    pub(super) operands: Vec<Operand<'a>>,
}

/// `@p` or `@!p`: the instruction is executed where the predicate is true, or false.
#[derive(Clone, Copy)]
pub(super) struct Guard<'a> {
    pub(super) register: &'a str,
    pub(super) is_negated: bool,
}

/// An operand of an instruction.
pub(super) enum Operand<'a> {
    /// `%0`.
    Numbered(usize),
    /// `t1`, `%laneid`: a register that the text declares, or a special one. Stored without its `%`.
    Register(&'a str),
    /// `16`, `0xff`, `-1`.
    Int(u64),
    /// `0f3F800000`, `0d3FF0000000000000`.
    Float { value: f64, single: bool },
    /// `[%1+16]`.
    Address { base: Box<Operand<'a>>, offset: i64 },
    /// `{%0, %1}`.
    Vector(Vec<Operand<'a>>),
}

/// The instructions of `text`, or the first word that cannot be parsed.
pub(super) fn read(text: &str) -> Result<Ptx<'_>, &str> {
    let mut ptx = Ptx::default();
    for line in text.split(';') {
        // A block's braces only limit its registers' names.
        let mut line = line.trim().trim_start_matches(['{', '}']).trim();
        if line.is_empty() {
            continue;
        }
        if let Some(declared) = line.strip_prefix(".reg") {
            registers(declared.trim(), &mut ptx.registers).ok_or(".reg")?;
            continue;
        }
        // Cuts a jump's label off, so that the error is about the jump.
        if let Some((label, rest)) = line.split_once(':')
            && !label.contains(|c: char| !c.is_ascii_alphanumeric() && !"_$".contains(c))
        {
            ptx.instructions.push(Instruction {
                guard: None,
                opcode: &line[..=label.len()],
                operands: Vec::new(),
            });
            line = rest.trim();
            if line.is_empty() {
                continue;
            }
        }
        let mut guard = None;
        if let Some(rest) = line.strip_prefix('@') {
            let (register, rest) = rest.split_once(char::is_whitespace).ok_or(line)?;
            let plain = register.trim_start_matches('!');
            guard = Some(Guard {
                register: plain.trim_start_matches('%'),
                is_negated: plain != register,
            });
            line = rest.trim();
        }
        let (opcode, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        ptx.instructions.push(Instruction {
            guard,
            opcode,
            operands: list(operands).ok_or(opcode)?,
        });
    }
    Ok(ptx)
}

/// `.u32 a, b` or `.b32 t<4>`.
fn registers<'a>(declared: &'a str, out: &mut Vec<Register<'a>>) -> Option<()> {
    let (ty, names) = declared.split_once(char::is_whitespace)?;
    let ty = ty.strip_prefix('.')?;
    for name in names.split(',') {
        let name = name.trim().trim_start_matches('%');
        match name.split_once('<') {
            None => out.push(Register {
                name: name.to_string(),
                ty,
            }),
            Some((name, count)) => {
                let count: usize = count.strip_suffix('>')?.trim().parse().ok()?;
                // More than anyone writes by hand.
                out.extend((0..count.min(4096)).map(|n| Register {
                    name: format!("{name}{n}"),
                    ty,
                }));
            }
        }
    }
    Some(())
}

/// Operands separated by commas; a group in brackets or braces is one.
fn list(text: &str) -> Option<Vec<Operand<'_>>> {
    let mut operands = Vec::new();
    let (mut depth, mut from) = (0i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' | '|' if depth == 0 => {
                operands.push(operand(text[from..at].trim())?);
                from = at + 1;
            }
            _ => {}
        }
    }
    match text[from..].trim() {
        "" if operands.is_empty() => {}
        last => operands.push(operand(last)?),
    }
    Some(operands)
}

fn operand(text: &str) -> Option<Operand<'_>> {
    if let Some(parts) = text.strip_prefix('{') {
        return list(parts.strip_suffix('}')?.trim()).map(Operand::Vector);
    }
    if let Some(address) = text.strip_prefix('[') {
        let address = address.strip_suffix(']')?.trim();
        let (base, offset) = match address.split_once('+') {
            Some((base, offset)) => (base, integer(offset.trim())? as i64),
            None => (address, 0),
        };
        let base = Box::new(operand(base.trim())?);
        return Some(Operand::Address { base, offset });
    }
    if let Some(name) = text.strip_prefix('%') {
        return Some(match name.parse() {
            Ok(n) => Operand::Numbered(n),
            Err(_) => Operand::Register(name),
        });
    }
    if let Some(bits) = text.strip_prefix("0f").or(text.strip_prefix("0F")) {
        let value = f32::from_bits(u32::from_str_radix(bits, 16).ok()?).into();
        return Some(Operand::Float {
            value,
            single: true,
        });
    }
    if let Some(bits) = text.strip_prefix("0d").or(text.strip_prefix("0D")) {
        let value = f64::from_bits(u64::from_str_radix(bits, 16).ok()?);
        return Some(Operand::Float {
            value,
            single: false,
        });
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return integer(text).map(Operand::Int);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_$.".contains(c);
    (!text.is_empty() && text.chars().all(is_name)).then_some(Operand::Register(text))
}

/// `0xffU`, `-1`.
fn integer(text: &str) -> Option<u64> {
    let (digits, is_negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let digits = digits.trim_end_matches(['U', 'u']);
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(match is_negative {
        true => value.wrapping_neg(),
        false => value,
    })
}

/// The text with `//` and `/* */` comments blanked.
pub(super) fn without_comments(text: &str) -> String {
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
