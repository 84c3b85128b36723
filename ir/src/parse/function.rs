//! Reads functions: the head, the tables, the structured statements.

use super::cursor::Cursor;
use super::inst::operand;
use super::{Result, at};
use crate::print::labels_named;
use crate::{
    Block, Function, FunctionKind, LabelId, LocalVar, MemType, Module, Node, Param, Routine,
    RoutineId, SharedVar, Slot, SlotId, Space, Type, ValueId,
};

/// Deeper than any program nests, and not too deep for the stack.
const MAX_NESTED: usize = 400;

/// One function being read; `module` has the parts before it.
pub(super) struct Reader<'m> {
    pub(super) module: &'m Module,
    pub(super) function: Function,
    depth: usize,
}

/// `fn0 @name($0: i32 "n" "int") { … }`
pub(super) fn function(cursor: &mut Cursor<'_>, module: &Module, kernel: bool) -> Result<Function> {
    cursor.index("fn", module.functions.len())?;
    cursor.expect("@")?;
    let name = if cursor.peek("\"") {
        cursor.string()?
    } else {
        cursor.word()?.to_string()
    };
    let kind = if kernel {
        FunctionKind::Kernel
    } else {
        FunctionKind::Host
    };
    let function = Function {
        name,
        kind,
        params: vec![],
        result: None,
        slots: vec![],
        values: vec![],
        shared: vec![],
        locals: vec![],
        routines: vec![],
        labels: 0,
        launch_bounds: None,
        compiled_by: None,
        body: Block::default(),
        loc: Default::default(),
    };
    let mut reader = Reader {
        module,
        function,
        depth: 0,
    };
    reader.head(cursor)?;
    let labels = reader.tables(cursor)?;
    let body = reader.block(cursor)?;
    reader.function.labels = labels.unwrap_or_else(|| labels_named(&body));
    reader.function.body = body;
    Ok(reader.function)
}

impl Reader<'_> {
    fn head(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.expect("(")?;
        cursor.list(")", |cursor| self.param(cursor))?;
        if cursor.eat("->") {
            self.function.result = Some(ty(cursor)?);
        }
        if cursor.eat_word("launch_bounds") {
            cursor.expect("(")?;
            let threads = cursor.number()?;
            let blocks = if cursor.eat(",") {
                Some(cursor.number()?)
            } else {
                None
            };
            cursor.expect(")")?;
            self.function.launch_bounds = Some((threads, blocks));
        }
        if cursor.eat_word("compiled_by") {
            self.function.compiled_by = Some(cursor.string()?);
        }
        self.function.loc = at(cursor)?;
        cursor.expect("{")
    }

    /// `$0: ptr.global "a" "const float *" pointee f32 const restrict`
    fn param(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let slot = SlotId(cursor.id("$")?);
        if cursor.eat(":") {
            let ty = ty(cursor)?;
            let name = cursor.string()?;
            self.put_slot(cursor, slot, Slot { name, ty })?;
        }
        let c_type = cursor.string()?;
        let pointee = if cursor.eat_word("pointee") {
            let word = cursor.word()?;
            match MemType::from_text(word) {
                Some(ty) => Some(ty),
                None => return cursor.fail_word("a type of memory"),
            }
        } else {
            None
        };
        let is_const = cursor.eat_word("const");
        let is_restrict = cursor.eat_word("restrict");
        self.function.params.push(Param {
            slot,
            c_type,
            pointee,
            is_const,
            is_restrict,
        });
        Ok(())
    }

    /// Slots come in any order; those in between are filled in later, or keep this default.
    fn put_slot(&mut self, cursor: &mut Cursor<'_>, id: SlotId, slot: Slot) -> Result<()> {
        self.limit(cursor, id.0)?;
        while self.function.slots.len() <= id.index() {
            let name = String::new();
            self.function.slots.push(Slot {
                name,
                ty: Type::I32,
            });
        }
        self.function.slots[id.index()] = slot;
        Ok(())
    }

    /// Sets the type of a temporary.
    pub(super) fn put_value(
        &mut self,
        cursor: &mut Cursor<'_>,
        id: ValueId,
        ty: Type,
    ) -> Result<()> {
        self.limit(cursor, id.0)?;
        if self.function.values.len() <= id.index() {
            self.function.values.resize(id.index() + 1, Type::I32);
        }
        self.function.values[id.index()] = ty;
        Ok(())
    }

    /// Invalid text must not allocate unlimited memory.
    fn limit(&self, cursor: &mut Cursor<'_>, id: u32) -> Result<()> {
        if id < 1 << 20 {
            Ok(())
        } else {
            cursor.fail("the number is too large")
        }
    }

    /// Reads variables and the other parts before the code. Returns the number of labels, if it is written.
    fn tables(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<u32>> {
        let mut labels = None;
        loop {
            if cursor.eat_word("shared") {
                cursor.index("shared", self.function.shared.len())?;
                self.function.shared.push(shared(cursor)?);
            } else if cursor.eat_word("local") {
                cursor.index("local", self.function.locals.len())?;
                self.function.locals.push(local(cursor)?);
            } else if cursor.eat_word("routine") {
                self.routine(cursor)?;
            } else if cursor.eat_word("slot") {
                let id = SlotId(cursor.id("$")?);
                cursor.expect(":")?;
                let ty = ty(cursor)?;
                let name = cursor.string()?;
                self.put_slot(cursor, id, Slot { name, ty })?;
            } else if cursor.eat_word("labels") {
                let count = cursor.number()?;
                self.limit(cursor, count)?;
                labels = Some(count);
            } else if cursor.eat_word("value") {
                let id = ValueId(cursor.id("%")?);
                cursor.expect(":")?;
                let ty = ty(cursor)?;
                self.put_value(cursor, id, ty)?;
            } else {
                return Ok(labels);
            }
        }
    }

    /// `routine R0 "walk" ($4, $5) -> ($6) !3`
    fn routine(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.index("R", self.function.routines.len())?;
        let name = cursor.string()?;
        let (mut params, mut results) = (vec![], vec![]);
        cursor.expect("(")?;
        cursor.list(")", |cursor| {
            params.push(SlotId(cursor.id("$")?));
            Ok(())
        })?;
        cursor.expect("->")?;
        cursor.expect("(")?;
        cursor.list(")", |cursor| {
            results.push(SlotId(cursor.id("$")?));
            Ok(())
        })?;
        let loc = at(cursor)?;
        self.function.routines.push(Routine {
            name,
            params,
            results,
            loc,
        });
        Ok(())
    }

    /// Nodes up to and including `}`.
    fn block(&mut self, cursor: &mut Cursor<'_>) -> Result<Block> {
        if self.depth == MAX_NESTED {
            return cursor.fail("the blocks are nested too deeply");
        }
        self.depth += 1;
        let mut nodes = vec![];
        while !cursor.eat("}") {
            nodes.push(self.node(cursor)?);
        }
        self.depth -= 1;
        Ok(Block(nodes))
    }

    fn node(&mut self, cursor: &mut Cursor<'_>) -> Result<Node> {
        if cursor.eat_word("if") {
            return self.if_node(cursor, false);
        }
        if cursor.eat_word("guard") {
            return self.if_node(cursor, true);
        }
        if cursor.eat_word("loop") {
            return self.loop_node(cursor);
        }
        if cursor.eat_word("scope") {
            let label = self.label(cursor)?;
            let loc = at(cursor)?;
            cursor.expect("{")?;
            let body = self.block(cursor)?;
            return Ok(Node::Scope { label, body, loc });
        }
        if cursor.eat_word("code") {
            let id = RoutineId(cursor.id("R")?);
            cursor.expect("{")?;
            let body = self.block(cursor)?;
            return Ok(Node::Routine { id, body });
        }
        if cursor.eat_word("break") {
            return Ok(Node::Break(self.label(cursor)?));
        }
        if cursor.eat_word("continue") {
            return Ok(Node::Continue(self.label(cursor)?));
        }
        if cursor.eat_word("return") {
            let result = self.function.result;
            let nothing = cursor.at_line_end();
            let value = if nothing {
                None
            } else {
                Some(operand(cursor, result)?)
            };
            return Ok(Node::Return(value));
        }
        Ok(Node::Inst(self.inst(cursor)?))
    }

    fn label(&self, cursor: &mut Cursor<'_>) -> Result<LabelId> {
        let label = cursor.id("L")?;
        self.limit(cursor, label)?;
        Ok(LabelId(label))
    }

    fn if_node(&mut self, cursor: &mut Cursor<'_>, is_guard: bool) -> Result<Node> {
        let cond = operand(cursor, Some(Type::I1))?;
        let loc = at(cursor)?;
        cursor.expect("{")?;
        let then = self.block(cursor)?;
        let otherwise = self.second_block(cursor, "else")?;
        Ok(Node::If {
            cond,
            then,
            otherwise,
            is_guard,
            loc,
        })
    }

    fn loop_node(&mut self, cursor: &mut Cursor<'_>) -> Result<Node> {
        let label = self.label(cursor)?;
        let mut unroll = None;
        if cursor.eat_word("unroll") {
            cursor.expect("(")?;
            unroll = Some(cursor.number()?);
            cursor.expect(")")?;
        }
        let loc = at(cursor)?;
        cursor.expect("{")?;
        let body = self.block(cursor)?;
        let step = self.second_block(cursor, "step")?;
        Ok(Node::Loop {
            label,
            body,
            step,
            unroll,
            loc,
        })
    }

    /// `else { … }`, `step { … }`, or nothing.
    fn second_block(&mut self, cursor: &mut Cursor<'_>, keyword: &str) -> Result<Block> {
        if !cursor.eat_word(keyword) {
            return Ok(Block::default());
        }
        cursor.expect("{")?;
        self.block(cursor)
    }
}

/// `i32`, `ptr.shared`
pub(super) fn ty(cursor: &mut Cursor<'_>) -> Result<Type> {
    let word = cursor.word()?;
    match Type::from_text(word) {
        Some(ty) => Ok(ty),
        None => cursor.fail_word("a type"),
    }
}

/// `dynamic "S" "float" [32][32] : 4096 align 4 element 4 at 0 !3`
fn shared(cursor: &mut Cursor<'_>) -> Result<SharedVar> {
    let dynamic = cursor.eat_word("dynamic");
    let LocalVar {
        name,
        c_type,
        element_bytes,
        dims,
        size_bytes,
        align_bytes,
        ..
    } = variable(cursor)?;
    cursor.expect_word("at")?;
    let offset_bytes = cursor.number()?;
    let loc = at(cursor)?;
    Ok(SharedVar {
        name,
        c_type,
        element_bytes,
        dims,
        size_bytes,
        align_bytes,
        dynamic,
        offset_bytes,
        loc,
    })
}

/// `"a" "int" [4] : 16 align 4 element 4 !3`
fn local(cursor: &mut Cursor<'_>) -> Result<LocalVar> {
    let mut local = variable(cursor)?;
    local.loc = at(cursor)?;
    Ok(local)
}

/// The common part of shared and local variables.
fn variable(cursor: &mut Cursor<'_>) -> Result<LocalVar> {
    let name = cursor.string()?;
    let c_type = cursor.string()?;
    let mut dims = vec![];
    while cursor.eat("[") {
        dims.push(cursor.number()?);
        cursor.expect("]")?;
    }
    cursor.expect(":")?;
    let size_bytes = cursor.number()?;
    cursor.expect_word("align")?;
    let align_bytes = cursor.number()?;
    cursor.expect_word("element")?;
    let element_bytes = cursor.number()?;
    Ok(LocalVar {
        name,
        c_type,
        element_bytes,
        dims,
        size_bytes,
        align_bytes,
        loc: Default::default(),
    })
}

impl Space {
    /// The space written like this.
    pub fn from_text(text: &str) -> Option<Space> {
        let spaces = [
            Space::Generic,
            Space::Global,
            Space::Shared,
            Space::Constant,
            Space::Local,
        ];
        spaces.into_iter().find(|space| space.to_string() == text)
    }
}

impl Type {
    /// The type written like this.
    pub fn from_text(text: &str) -> Option<Type> {
        match text {
            "i1" => Some(Type::I1),
            "i32" => Some(Type::I32),
            "i64" => Some(Type::I64),
            "f32" => Some(Type::F32),
            "f64" => Some(Type::F64),
            "ptr" => Some(Type::Ptr(Space::Generic)),
            text => {
                let space = Space::from_text(text.strip_prefix("ptr.")?)?;
                (space != Space::Generic).then_some(Type::Ptr(space))
            }
        }
    }
}

impl MemType {
    /// The type written like this.
    pub fn from_text(text: &str) -> Option<MemType> {
        let types = [
            MemType::Bool,
            MemType::S8,
            MemType::U8,
            MemType::S16,
            MemType::U16,
            MemType::I32,
            MemType::I64,
            MemType::F32,
            MemType::F64,
            MemType::Ptr,
        ];
        types.into_iter().find(|ty| ty.to_string() == text)
    }
}
