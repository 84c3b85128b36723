//! IR to text: the test format, and what `dslc ir` shows. [`parse`](mod@super::parse) inverts it exactly.
//!
//! ```text
//! module "transpose.k"
//! file 0 "transpose.k"
//! string string0 "%d\n"
//! global global0 constant "coef" "float [16]" : 64 align 4 element 4 = zero !1
//!
//! kernel fn0 @transpose($0: ptr.global "a" "const float *" pointee f32 const, $1: i32 "n" "int") launch_bounds(256) !2 {
//!   shared shared0 "S" "float" [32][32] : 4096 align 4 element 4 at 0 !3
//!   slot $2 : i32 "bx"
//!   %0 = special.tid.x !4
//!   set $2, %0 !4
//! }
//!
//! loc !4 = 0:3:12 "threadIdx.x"
//! ```
//!
//! Everything that follows from the context is omitted: a constant's type where the instruction determines it (else `i64 5`), a result's
//! type unless it differs from the implied one or belongs to a call (`%0: i32 = call fn2()`), `!0`, an empty `else` or `step`. Constants
//! are decimal if that gives back the same bits, and `0x…` bits otherwise.

use std::fmt::{self, Display, Write};

use super::{
    Block, Const, Function, FunctionKind, GlobalSpace, GlobalVar, Inst, InstKind, Loc, LocId,
    LocalVar, Module, Node, Operand, SharedVar, SlotId, Type, ValueId,
};

/// The whole module.
pub fn print(module: &Module) -> String {
    let mut out = String::new();
    write_module(&mut out, module);
    out
}

impl Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

/// One instruction, without indentation or line end.
pub fn print_inst(module: &Module, function: &Function, inst: &Inst) -> String {
    let mut out = String::new();
    let printer = Printer { module, function };
    printer.inst(&mut out, inst);
    out
}

/// The first line of a node: an instruction, a jump, or `if %1 !3 {`.
pub fn print_node_head(module: &Module, function: &Function, node: &Node) -> String {
    let mut out = String::new();
    let printer = Printer { module, function };
    printer.node_head(&mut out, node);
    out
}

/// Writing to a `String` cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => { { let _ = write!($out, $($arg)*); } };
}
pub(super) use put;

fn write_module(out: &mut String, module: &Module) {
    put!(out, "module {}\n", Quoted(&module.name));
    for (index, file) in module.files.iter().enumerate() {
        put!(out, "file {index} {}\n", Quoted(file));
    }
    for (index, string) in module.strings.iter().enumerate() {
        put!(out, "string string{index} {}\n", QuotedBytes(string));
    }
    for (index, global) in module.globals.iter().enumerate() {
        put!(out, "global global{index} ");
        write_global(out, global);
    }
    for (index, function) in module.functions.iter().enumerate() {
        out.push('\n');
        let printer = Printer { module, function };
        printer.function(out, index);
    }
    write_locs(out, &module.locs);
}

/// Index 0 is omitted if it is the usual "nowhere".
fn write_locs(out: &mut String, locs: &[Loc]) {
    if locs.is_empty() {
        out.push_str("\nno locs\n");
        return;
    }
    let shown = |(index, loc): &(usize, &Loc)| *index > 0 || **loc != Loc::default();
    for (count, (index, loc)) in locs.iter().enumerate().filter(shown).enumerate() {
        if count == 0 {
            out.push('\n');
        }
        put!(
            out,
            "loc !{index} = {}:{}:{}",
            loc.file,
            loc.line,
            loc.column
        );
        if !loc.text.is_empty() {
            put!(out, " {}", Quoted(&loc.text));
        }
        if let Some(via) = loc.via {
            put!(out, " via {via}");
        }
        out.push('\n');
    }
}

fn write_global(out: &mut String, global: &GlobalVar) {
    let space = global.space.text();
    let GlobalVar { name, c_type, .. } = global;
    put!(
        out,
        "{space} {} {} : {}",
        Quoted(name),
        Quoted(c_type),
        global.size_bytes
    );
    put!(
        out,
        " align {} element {}",
        global.align_bytes,
        global.element_bytes
    );
    match &global.init {
        None => out.push_str(" = zero"),
        Some(bytes) => {
            out.push_str(" = bytes(");
            for (index, word) in bytes.chunks(4).enumerate() {
                out.push_str(if index == 0 { "" } else { " " });
                word.iter().for_each(|byte| put!(out, "{byte:02x}"));
            }
            out.push(')');
        }
    }
    if !global.relocations.is_empty() {
        out.push_str(" reloc(");
        for (index, (at, object, addend)) in global.relocations.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            put!(out, "{comma}{at}: {object}{}", Addend(*addend));
        }
        out.push(')');
    }
    put!(out, "{}\n", At(global.loc));
}

impl GlobalSpace {
    /// The word in the IR's text.
    pub fn text(self) -> &'static str {
        match self {
            GlobalSpace::Constant => "constant",
            GlobalSpace::Device => "device",
            GlobalSpace::Managed => "managed",
            GlobalSpace::Host => "host",
        }
    }
}

/// The labels that `loop` and `scope` name: one more than the largest.
pub(super) fn labels_named(body: &Block) -> u32 {
    let mut labels = 0;
    body.for_each_node(&mut |node| {
        if let Node::Loop { label, .. } | Node::Scope { label, .. } = node {
            labels = labels.max(label.0.saturating_add(1));
        }
    });
    labels
}

/// Prints parts of one function.
struct Printer<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Printer<'_> {
    fn function(&self, out: &mut String, index: usize) {
        let function = self.function;
        let kind = match function.kind {
            FunctionKind::Kernel => "kernel",
            FunctionKind::Host => "host",
        };
        put!(out, "{kind} fn{index} @");
        if is_word(&function.name) {
            out.push_str(&function.name);
        } else {
            put!(out, "{}", Quoted(&function.name));
        }
        out.push('(');
        for (index, param) in function.params.iter().enumerate() {
            put!(out, "{}{}", if index == 0 { "" } else { ", " }, param.slot);
            if let Some(slot) = function.slots.get(param.slot.index()) {
                put!(out, ": {} {}", slot.ty, Quoted(&slot.name));
            }
            put!(out, " {}", Quoted(&param.c_type));
            if let Some(pointee) = param.pointee {
                put!(out, " pointee {pointee}");
            }
            out.push_str(if param.is_const { " const" } else { "" });
            out.push_str(if param.is_restrict { " restrict" } else { "" });
        }
        out.push(')');
        if let Some(result) = function.result {
            put!(out, " -> {result}");
        }
        match function.launch_bounds {
            None => {}
            Some((threads, None)) => put!(out, " launch_bounds({threads})"),
            Some((threads, Some(blocks))) => put!(out, " launch_bounds({threads}, {blocks})"),
        }
        if let Some(by) = &function.compiled_by {
            put!(out, " compiled_by {}", Quoted(by));
        }
        put!(out, "{} {{\n", At(function.loc));
        self.tables(out);
        self.block(out, &function.body, 1);
        out.push_str("}\n");
    }

    fn tables(&self, out: &mut String) {
        let function = self.function;
        for (index, var) in function.shared.iter().enumerate() {
            put!(out, "  shared shared{index} ");
            write_shared(out, var);
        }
        for (index, var) in function.locals.iter().enumerate() {
            put!(out, "  local local{index} ");
            write_local(out, var);
        }
        for (index, routine) in function.routines.iter().enumerate() {
            put!(out, "  routine R{index} {} (", Quoted(&routine.name));
            put!(out, "{}) -> (", Slots(&routine.params));
            put!(out, "{}){}\n", Slots(&routine.results), At(routine.loc));
        }
        for (index, slot) in function.slots.iter().enumerate() {
            if !function
                .params
                .iter()
                .any(|param| param.slot.index() == index)
            {
                put!(
                    out,
                    "  slot ${index} : {} {}\n",
                    slot.ty,
                    Quoted(&slot.name)
                );
            }
        }
        if function.labels != labels_named(&function.body) {
            put!(out, "  labels {}\n", function.labels);
        }
        let mut assigned = vec![false; function.values.len()];
        function.body.for_each_inst(&mut |inst| {
            for id in &inst.results {
                if let Some(assigned) = assigned.get_mut(id.index()) {
                    *assigned = true;
                }
            }
        });
        for (index, ty) in function.values.iter().enumerate() {
            if !assigned[index] {
                put!(out, "  value %{index} : {ty}\n");
            }
        }
    }

    fn block(&self, out: &mut String, block: &Block, depth: usize) {
        let indent = "  ".repeat(depth);
        for node in &block.0 {
            out.push_str(&indent);
            self.node_head(out, node);
            let (first, second, between) = match node {
                Node::Inst(_) | Node::Break(_) | Node::Continue(_) | Node::Return(_) => {
                    out.push('\n');
                    continue;
                }
                Node::If {
                    then, otherwise, ..
                } => (then, Some(otherwise), "else"),
                Node::Loop { body, step, .. } => (body, Some(step), "step"),
                Node::Scope { body, .. } | Node::Routine { body, .. } => (body, None, ""),
            };
            out.push('\n');
            self.block(out, first, depth + 1);
            if let Some(second) = second.filter(|block| !block.0.is_empty()) {
                put!(out, "{indent}}} {between} {{\n");
                self.block(out, second, depth + 1);
            }
            put!(out, "{indent}}}\n");
        }
    }

    fn node_head(&self, out: &mut String, node: &Node) {
        match node {
            Node::Inst(inst) => self.inst(out, inst),
            Node::If {
                cond,
                is_guard,
                loc,
                ..
            } => {
                let word = if *is_guard { "guard" } else { "if" };
                let cond = As(*cond, Some(Type::I1));
                put!(out, "{word} {cond}{} {{", At(*loc));
            }
            Node::Loop {
                label, unroll, loc, ..
            } => {
                put!(out, "loop {label}");
                if let Some(unroll) = unroll {
                    put!(out, " unroll({unroll})");
                }
                put!(out, "{} {{", At(*loc));
            }
            Node::Scope { label, loc, .. } => put!(out, "scope {label}{} {{", At(*loc)),
            Node::Routine { id, .. } => put!(out, "code {id} {{"),
            Node::Break(label) => put!(out, "break {label}"),
            Node::Continue(label) => put!(out, "continue {label}"),
            Node::Return(None) => out.push_str("return"),
            Node::Return(Some(value)) => put!(out, "return {}", As(*value, self.function.result)),
        }
    }

    fn inst(&self, out: &mut String, inst: &Inst) {
        self.results(out, inst);
        inst.kind.write(out, self.function);
        put!(out, "{}", At(inst.loc));
    }

    /// `%1, %2 = `, with the types that do not follow from the instruction.
    fn results(&self, out: &mut String, inst: &Inst) {
        let implied = match &inst.kind {
            InstKind::Call(..) => None,
            kind => kind.result_types(self.module, self.function),
        };
        for (index, id) in inst.results.iter().enumerate() {
            put!(out, "{}{id}", if index == 0 { "" } else { ", " });
            let ty = self.function.values.get(id.index()).copied();
            let implied = implied.as_ref().and_then(|types| types.get(index)).copied();
            if let Some(ty) = ty.filter(|_| ty != implied) {
                put!(out, ": {ty}");
            }
        }
        out.push_str(if inst.results.is_empty() { "" } else { " = " });
    }
}

fn write_shared(out: &mut String, var: &SharedVar) {
    let dynamic = if var.dynamic { "dynamic " } else { "" };
    put!(
        out,
        "{dynamic}{} {}{}",
        Quoted(&var.name),
        Quoted(&var.c_type),
        Dims(&var.dims)
    );
    put!(out, " : {} align {}", var.size_bytes, var.align_bytes);
    put!(
        out,
        " element {} at {}{}\n",
        var.element_bytes,
        var.offset_bytes,
        At(var.loc)
    );
}

fn write_local(out: &mut String, var: &LocalVar) {
    put!(
        out,
        "{} {}{}",
        Quoted(&var.name),
        Quoted(&var.c_type),
        Dims(&var.dims)
    );
    put!(out, " : {} align {}", var.size_bytes, var.align_bytes);
    put!(out, " element {}{}\n", var.element_bytes, At(var.loc));
}

/// Whether a name needs no quotes.
fn is_word(name: &str) -> bool {
    let start = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(start) && name.chars().all(|c| start(c) || c.is_ascii_digit())
}

/// An operand whose type the context determines.
pub(super) fn of(ty: &Type, operand: &Operand) -> As {
    As(*operand, Some(*ty))
}

/// ` !3`; nothing for `!0`.
struct At(LocId);

impl Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == LocId(0) {
            Ok(())
        } else {
            write!(f, " {}", self.0)
        }
    }
}

/// An operand; a constant with its type if that is not the expected one.
pub(super) struct As(pub(super) Operand, pub(super) Option<Type>);

impl Display for As {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Operand::Value(ValueId(id)) => write!(f, "%{id}"),
            Operand::Const(constant) if Some(constant.ty) == self.1 => constant.fmt(f),
            Operand::Const(constant) => write!(f, "{} {constant}", constant.ty),
        }
    }
}

impl Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Const { ty, bits } = *self;
        match ty {
            Type::I1 if bits <= 1 => write!(f, "{}", bits == 1),
            Type::I32 if bits <= u32::MAX as u64 => write!(f, "{}", bits as i32),
            Type::I64 => write!(f, "{}", bits as i64),
            Type::F32 if bits <= u32::MAX as u64 && !f32::from_bits(bits as u32).is_nan() => {
                write!(f, "{:?}", f32::from_bits(bits as u32))
            }
            Type::F64 if !f64::from_bits(bits).is_nan() => write!(f, "{:?}", f64::from_bits(bits)),
            Type::Ptr(_) if bits == 0 => f.write_str("null"),
            Type::I1 | Type::I32 | Type::F32 | Type::F64 | Type::Ptr(_) => write!(f, "{bits:#x}"),
        }
    }
}

/// Operands separated by commas.
pub(super) struct List<'a>(pub(super) &'a [Operand], pub(super) &'a [Type]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, operand) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            As(*operand, self.1.get(index).copied()).fmt(f)?;
        }
        Ok(())
    }
}

/// Variables separated by commas.
struct Slots<'a>(&'a [SlotId]);

impl Display for Slots<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, slot) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            slot.fmt(f)?;
        }
        Ok(())
    }
}

/// ` + 8`, ` - 8`; nothing for 0.
pub(super) struct Addend(pub(super) i64);

impl Addend {
    /// `+ 8`, `- 8`, `+ 0`.
    pub(super) fn always(&self) -> String {
        let sign = if self.0 < 0 { '-' } else { '+' };
        format!("{sign} {}", self.0.unsigned_abs())
    }
}

impl Display for Addend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            Ok(())
        } else {
            write!(f, " {}", self.always())
        }
    }
}

/// ` [32][33]`
struct Dims<'a>(&'a [u64]);

impl Display for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "" } else { " " })?;
        self.0.iter().try_for_each(|dim| write!(f, "[{dim}]"))
    }
}

/// A name in quotes, on one line.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                c if c.is_control() => write!(f, "\\u{{{:x}}}", c as u32)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// Bytes in quotes; printable ASCII is unchanged.
struct QuotedBytes<'a>(&'a [u8]);

impl Display for QuotedBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for &byte in self.0 {
            match byte {
                b'"' => f.write_str("\\\"")?,
                b'\\' => f.write_str("\\\\")?,
                b'\n' => f.write_str("\\n")?,
                b'\t' => f.write_str("\\t")?,
                b' '..=b'~' => f.write_char(byte as char)?,
                byte => write!(f, "\\x{byte:02x}")?,
            }
        }
        f.write_char('"')
    }
}
