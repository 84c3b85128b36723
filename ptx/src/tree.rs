//! PTX as it is written: directives, functions, statements. Names are slices of the text.

use rustc_hash::FxHashMap;

/// A PTX module.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ptx<'t> {
    /// `.version 8.7`: major and minor.
    pub version: (u32, u32),
    /// `.target sm_90, debug`: the first name.
    pub target: &'t str,
    /// `.file 1 "sum.cu"`: number and name.
    pub files: Vec<(u32, &'t str)>,
    /// Variables at module scope.
    pub variables: Vec<Variable<'t>>,
    /// Entries and functions, declarations included.
    pub functions: Vec<Function<'t>>,
}

/// A state space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StateSpace {
    /// `.global`
    Global,
    /// `.shared`, `.shared::cta`
    Shared,
    /// `.const`
    Const,
    /// `.local`
    Local,
    /// `.param`
    Param,
}

/// The size and kind of an untyped or typed element: `.b32`, `.f64`, `.pred`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// `.b`
    Bits,
    /// `.u`
    Unsigned,
    /// `.s`
    Signed,
    /// `.f`, `.bf`, `.tf32`
    Float,
    /// `.pred`
    Predicate,
}

/// `.b32`, `.u64`, `.f16x2`, `.pred`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScalarType {
    /// What it is.
    pub kind: Kind,
    /// Its width; 1 for `.pred`.
    pub bits: u32,
}

impl ScalarType {
    /// Its bytes in memory.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits.div_ceil(8))
    }
}

/// A variable, or a parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its space.
    pub space: StateSpace,
    /// Its element.
    pub ty: ScalarType,
    /// All its bytes; `None` for an array without a size.
    pub size_bytes: Option<u64>,
    /// Its alignment.
    pub align_bytes: u64,
    /// `.extern`
    pub is_extern: bool,
    /// `.ptr`: a parameter that is a pointer.
    pub is_pointer: bool,
    /// The values after `=`.
    pub init: Vec<Initial<'t>>,
    /// The byte of the text where it begins.
    pub at: u32,
}

/// A value of an initialiser.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Initial<'t> {
    /// The bits of a number.
    Number(u64),
    /// The address of a variable and an offset; `generic(x)` is a generic address.
    Address(&'t str, i64),
}

/// A register's number in its function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RegId(pub u32);

impl RegId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A declared register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register<'t> {
    /// `%r7`
    pub name: &'t str,
    /// Its declared type.
    pub ty: ScalarType,
}

/// An `.entry` or a `.func`.
#[derive(Clone, PartialEq, Debug)]
pub struct Function<'t> {
    /// Its name.
    pub name: &'t str,
    /// `.entry`
    pub is_entry: bool,
    /// What a `.func` returns.
    pub results: Vec<Variable<'t>>,
    /// Its parameters.
    pub params: Vec<Variable<'t>>,
    /// `.maxntid` or `.reqntid`: most threads of a block.
    pub max_threads: Option<u64>,
    /// `.minnctapersm`
    pub min_blocks: Option<u64>,
    /// `None` for a declaration.
    pub body: Option<Body<'t>>,
    /// The byte of the text where its name is.
    pub at: u32,
}

/// A function's code.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Body<'t> {
    /// Its registers, those of inner blocks included.
    pub registers: Vec<Register<'t>>,
    /// Its variables, those of inner blocks included.
    pub variables: Vec<Variable<'t>>,
    /// The places that `.loc` names; the first is "nowhere".
    pub places: Vec<Place>,
    /// How many labels it has.
    pub labels: u32,
    /// Its statements.
    pub statements: Vec<Statement<'t>>,
}

impl<'t> Body<'t> {
    /// Registers that always hold the address of one variable or parameter, and which: `mov.b64 %rd1, table`.
    pub(crate) fn addresses(&self) -> FxHashMap<RegId, (&'t str, i64)> {
        let mut writes: FxHashMap<RegId, u32> = FxHashMap::default();
        for inst in self.instructions() {
            if let Some(Operand::Register(id)) = inst.operands.first() {
                *writes.entry(*id).or_default() += 1;
            }
        }
        let mut known = FxHashMap::default();
        for inst in self.instructions() {
            let [Operand::Register(to), from, rest @ ..] = &inst.operands[..] else {
                continue;
            };
            let added = match (inst.opcode, rest) {
                ("mov" | "cvta", []) => 0,
                ("add", [Operand::Int(offset)]) => *offset as i64,
                _ => continue,
            };
            let base = match from {
                Operand::Symbol(name, offset) => Some((*name, *offset)),
                Operand::Register(id) => known.get(id).copied(),
                _ => None,
            };
            if let (Some((name, offset)), Some(1), None) = (base, writes.get(to), inst.guard) {
                known.insert(*to, (name, offset.wrapping_add(added)));
            }
        }
        known
    }

    /// Its instructions, in order.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = &Instruction<'t>> {
        self.statements
            .iter()
            .filter_map(|statement| match statement {
                Statement::Inst(inst) => Some(inst),
                _ => None,
            })
    }
}

/// `.loc 1 12 5`
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Place {
    /// The number of a `.file`.
    pub file: u32,
    /// From 1; 0 is "nowhere".
    pub line: u32,
    /// As written.
    pub column: u32,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement<'t> {
    /// `$L1:`
    Label(u32),
    /// `$T: .branchtargets $L1, $L2;`: a list of labels with a name.
    Targets(u32, Vec<u32>),
    /// An instruction.
    Inst(Instruction<'t>),
}

/// `@!%p1 ld.global.b32 %r1, [%rd1+4];`
#[derive(Clone, PartialEq, Debug)]
pub struct Instruction<'t> {
    /// The predicate that guards it, and whether it is negated.
    pub guard: Option<(RegId, bool)>,
    /// `ld`
    pub opcode: &'t str,
    /// `.global`, `.b32`, as written, with their dots.
    pub modifiers: Vec<&'t str>,
    /// The operands, in order.
    pub operands: Vec<Operand<'t>>,
    /// An index into [`Body::places`].
    pub place: u32,
    /// The byte of the text where it begins.
    pub at: u32,
}

/// An operand.
#[derive(Clone, PartialEq, Debug)]
pub enum Operand<'t> {
    /// `%r1`
    Register(RegId),
    /// `!%p1`
    Not(RegId),
    /// `%p1|%p2`: two results.
    Pair(RegId, RegId),
    /// `%tid.x`, `%laneid`, `WARP_SZ`: with its dot.
    Special(&'t str, Option<&'t str>),
    /// `7`, `-7`, as 64 bits.
    Int(u64),
    /// `0f3f800000`
    Single(u32),
    /// `0d3ff0000000000000`, `1.5`
    Double(u64),
    /// A variable, function or parameter, and an offset.
    Symbol(&'t str, i64),
    /// A label, of a jump.
    Label(u32),
    /// `[%rd1+4]`, `[tile+8]`, `[16]`
    Address(Base<'t>, i64),
    /// `{%r1, %r2}`
    Vector(Vec<Operand<'t>>),
    /// `(%r1, param0)`: of a call.
    Group(Vec<Operand<'t>>),
    /// `_`
    Sink,
}

/// What an address begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base<'t> {
    /// A register.
    Register(RegId),
    /// A variable or parameter.
    Symbol(&'t str),
    /// Nothing: the offset is the address.
    Absolute,
}
