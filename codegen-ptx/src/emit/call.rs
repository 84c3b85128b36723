//! Routines of a kernel, each a function that is never inlined, and calls of them. LLVM and `ptxas` manage the stack.
//!
//! Several results are returned as one struct. A truth value is passed as a byte, as for kernels.

use std::collections::HashSet;

use ir::{
    Block, FuncId, Function, Inst, InstKind, Node, Object, Operand, RoutineId, Type, ValueId,
};

use super::{Emitter, kernel::Kernel, ty};
use crate::Error;
use ir::symbol::kernel_symbol;

/// The variables that a part of a kernel uses.
pub(super) struct Named {
    pub(super) slots: HashSet<usize>,
    pub(super) locals: HashSet<usize>,
}

impl Named {
    /// The variables of the kernel itself; `None` means all, because it has no routines.
    pub(super) fn by_kernel(function: &Function) -> Option<Named> {
        if function.routines.is_empty() {
            return None;
        }
        let nodes = function.body.0.iter();
        let nodes = nodes.filter(|node| !matches!(node, Node::Routine { .. }));
        let mut named = Named::by(&Block(nodes.cloned().collect()));
        let params = function.params.iter().map(|param| param.slot.index());
        named.slots.extend(params);
        Some(named)
    }

    fn by(block: &Block) -> Named {
        let (mut slots, mut locals) = (HashSet::new(), HashSet::new());
        block.for_each_inst(&mut |inst| match inst.kind {
            InstKind::Get(slot) | InstKind::Set(slot, _) => _ = slots.insert(slot.index()),
            InstKind::AddrOf(Object::Local(local)) => _ = locals.insert(local.index()),
            _ => {}
        });
        Named { slots, locals }
    }
}

/// Writes the routines of a kernel into the module.
pub(super) fn routines(
    emitter: &mut Emitter<'_>,
    id: FuncId,
    function: &Function,
) -> Result<(), Error> {
    for node in &function.body.0 {
        let Node::Routine { id: routine, body } = node else {
            break;
        };
        one(emitter, id, function, (*routine, body))?;
    }
    Ok(())
}

fn one(
    emitter: &mut Emitter<'_>,
    id: FuncId,
    function: &Function,
    (routine, body): (RoutineId, &Block),
) -> Result<(), Error> {
    let declared = &function.routines[routine.index()];
    // A barrier inside must stay where all threads reach it.
    let attributes = "noinline convergent nounwind null_pointer_is_valid";
    let group = emitter.attribute_group(attributes.to_string());
    let dbg = emitter.subprogram(&declared.name, declared.loc);
    let symbol = symbol(emitter, id, routine);
    let mut named = Named::by(body);
    let passed = declared.params.iter().chain(&declared.results);
    named.slots.extend(passed.map(|slot| slot.index()));
    let mut kernel = Kernel::new(emitter, id, function, declared.loc);
    kernel.variables(Some(&named));
    kernel.arguments(&declared.params);
    kernel.block(body)?;
    kernel.stand(declared.loc);
    kernel.give(routine);
    let result = result_type(function, routine);
    let types = declared.params.iter().enumerate();
    let params: Vec<String> = types
        .map(|(index, slot)| format!("{} %p{index}", ty::param(function.slots[slot.index()].ty)))
        .collect();
    let head = format!(
        "define internal {result} @{symbol}({}) #{group}{dbg}",
        params.join(", ")
    );
    kernel.finish(&head);
    Ok(())
}

fn symbol(emitter: &Emitter<'_>, id: FuncId, routine: RoutineId) -> String {
    format!("{}$R{}", kernel_symbol(emitter.module, id), routine.0)
}

/// The return type of a routine.
fn result_type(function: &Function, routine: RoutineId) -> String {
    let results = &function.routines[routine.index()].results;
    let types: Vec<&str> = results
        .iter()
        .map(|slot| ty::param(function.slots[slot.index()].ty))
        .collect();
    match types.as_slice() {
        [] => "void".to_string(),
        [one] => (*one).to_string(),
        several => format!("{{ {} }}", several.join(", ")),
    }
}

impl Kernel<'_, '_> {
    /// Writes the end of a routine.
    fn give(&mut self, routine: RoutineId) {
        if !self.reachable {
            return;
        }
        let whole = result_type(self.f, routine);
        let results = self.f.routines[routine.index()].results.clone();
        let values: Vec<String> = results
            .iter()
            .map(|slot| {
                let of = self.f.slots[slot.index()].ty;
                let value = self.fresh(format!("load {}, ptr %s{}", ty::value(of), slot.0));
                self.passed(of, &value)
            })
            .collect();
        match values.as_slice() {
            [] => self.end("ret void"),
            [one] => self.end(&format!("ret {one}")),
            several => {
                let mut sum = "poison".to_string();
                for (index, value) in several.iter().enumerate() {
                    sum = self.fresh(format!("insertvalue {whole} {sum}, {value}, {index}"));
                }
                self.end(&format!("ret {whole} {sum}"));
            }
        }
    }

    /// A value in the form in which it is passed, with its type.
    fn passed(&mut self, of: Type, value: &str) -> String {
        match of {
            Type::I1 => format!("i8 {}", self.fresh(format!("zext i1 {value} to i8"))),
            Type::I32 | Type::I64 | Type::F32 | Type::F64 | Type::Ptr(_) => {
                format!("{} {value}", ty::value(of))
            }
        }
    }

    /// `call R0(…)`.
    pub(super) fn call_routine(&mut self, inst: &Inst, routine: RoutineId, args: &[Operand]) {
        let args: Vec<String> = args
            .iter()
            .map(|arg| {
                let value = self.operand(*arg);
                self.passed(self.type_of(*arg), &value)
            })
            .collect();
        let result = result_type(self.f, routine);
        let symbol = symbol(self.m, self.id, routine);
        let call = format!("call {result} @{symbol}({})", args.join(", "));
        match inst.results.as_slice() {
            [] => self.line(call),
            &[one] => match self.f.values[one.index()] {
                Type::I1 => {
                    let byte = self.fresh(call);
                    self.result(one, format!("icmp ne i8 {byte}, 0"));
                }
                Type::I32 | Type::I64 | Type::F32 | Type::F64 | Type::Ptr(_) => {
                    self.result(one, call);
                }
            },
            several => {
                let whole = self.fresh(call);
                for (index, &id) in several.iter().enumerate() {
                    self.extract(id, &result, &whole, index);
                }
            }
        }
    }

    fn extract(&mut self, id: ValueId, whole_type: &str, whole: &str, index: usize) {
        let part = format!("extractvalue {whole_type} {whole}, {index}");
        match self.f.values[id.index()] {
            Type::I1 => {
                let byte = self.fresh(part);
                self.result(id, format!("icmp ne i8 {byte}, 0"));
            }
            Type::I32 | Type::I64 | Type::F32 | Type::F64 | Type::Ptr(_) => self.result(id, part),
        }
    }
}
