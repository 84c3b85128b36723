//! Numbers temporaries in the order of the text, without gaps, after passes have added and removed some.

use super::{Block, Function, Node, Operand, Type, ValueId};

/// Renumbers a function's temporaries. Removes those that nothing assigns.
pub fn renumber(function: &mut Function) {
    let mut renumbering = Renumbering {
        new_ids: vec![None; function.values.len()],
        old_types: std::mem::take(&mut function.values),
        types: vec![],
    };
    renumbering.block(&mut function.body);
    function.values = renumbering.types;
}

struct Renumbering {
    new_ids: Vec<Option<ValueId>>,
    old_types: Vec<Type>,
    types: Vec<Type>,
}

impl Renumbering {
    fn block(&mut self, block: &mut Block) {
        for node in &mut block.0 {
            if let Some(operand) = node.operand_mut() {
                self.operand(operand);
            }
            if let Node::Inst(inst) = node {
                for operand in inst.kind.operands_mut() {
                    self.operand(operand);
                }
                for id in &mut inst.results {
                    self.types.push(self.old_types[id.index()]);
                    let new_id = ValueId(self.types.len() as u32 - 1);
                    self.new_ids[id.index()] = Some(new_id);
                    *id = new_id;
                }
            }
            for block in node.blocks_mut() {
                self.block(block);
            }
        }
    }

    fn operand(&self, operand: &mut Operand) {
        if let Operand::Value(id) = operand {
            *id = self.new_ids[id.index()].expect("temporaries are assigned before their uses");
        }
    }
}
