//! What the names and places of a module mean.

use std::cell::RefCell;

use ir::symbol::global_symbol;
use ir::{GlobalId, GlobalSpace, GlobalVar, Loc, LocId, Module, Object, StringId};
use rustc_hash::FxHashMap;

use crate::tree::{Initial, Kind, Place, Ptx, ScalarType, StateSpace, Statement, Variable};

/// What the names of a module mean.
pub(crate) struct Environment<'a, 't> {
    /// Variables and strings.
    pub(super) objects: FxHashMap<String, Object>,
    pub(super) ptx: &'a Ptx<'t>,
    /// Variables at module scope.
    pub(super) variables: &'a [Variable<'t>],
    /// What instructions need that dslc cannot run: the strings after those of the written module.
    pub(super) texts: RefCell<Vec<Vec<u8>>>,
    strings: usize,
    /// How many places the written module has.
    locs: usize,
    /// The places of which only the line is known, by file number and line.
    lines: FxHashMap<(u32, u32), LocId>,
    /// Whether there is no written module.
    pub(super) is_alone: bool,
    /// The place of what has none.
    pub(super) nowhere: LocId,
    /// Then, the places of instructions, by where in the text they are.
    places: FxHashMap<u32, LocId>,
}

impl<'a, 't> Environment<'a, 't> {
    pub(super) fn of(module: &Module, ptx: &'a Ptx<'t>) -> Environment<'a, 't> {
        let mut objects = FxHashMap::default();
        for (index, global) in module.globals.iter().enumerate() {
            if global.space != GlobalSpace::Host {
                let object = Object::Global(GlobalId(index as u32));
                objects.insert(global_symbol(module, index), object);
            }
        }
        for index in 0..module.strings.len() {
            let object = Object::String(StringId(index as u32));
            objects.insert(format!("$$string{index}"), object);
        }
        Environment {
            objects,
            ptx,
            variables: &ptx.variables,
            texts: RefCell::default(),
            strings: module.strings.len(),
            locs: module.locs.len(),
            lines: FxHashMap::default(),
            is_alone: false,
            nowhere: LocId(0),
            places: FxHashMap::default(),
        }
    }

    /// For kernels that join those of a module: `variable` says which variables both have.
    pub(super) fn joining(
        module: &mut Module,
        ptx: &'a Ptx<'t>,
        variable: &dyn Fn(&str) -> Option<GlobalId>,
    ) -> Environment<'a, 't> {
        let shared = ptx.variables.iter().filter_map(|known| {
            let id = variable(known.name)?;
            Some((known.name.to_string(), Object::Global(id)))
        });
        module.locs.push(Loc::default());
        Environment {
            objects: shared.collect(),
            is_alone: true,
            nowhere: LocId(module.locs.len() as u32 - 1),
            ..Environment::of(module, ptx)
        }
    }

    /// Adds the places of which only the line is known: an instruction that was made from several of one line.
    pub(super) fn add_lines(&mut self, ptx: &Ptx<'t>, module: &mut Module) {
        let bodies = ptx
            .functions
            .iter()
            .filter_map(|function| function.body.as_ref());
        for place in bodies.flat_map(|body| &body.places) {
            if place.column > 0 || place.line == 0 {
                continue;
            }
            let file = ptx.files.iter().find(|(number, _)| *number == place.file);
            let file =
                file.and_then(|(_, name)| module.files.iter().position(|known| known == name));
            let Some(file) = file else {
                continue;
            };
            self.lines
                .entry((place.file, place.line))
                .or_insert_with(|| {
                    module.locs.push(Loc {
                        file: file as u32,
                        line: place.line,
                        ..Loc::default()
                    });
                    LocId(module.locs.len() as u32 - 1)
                });
        }
    }

    /// Adds the places of a text by itself: for an instruction what `.loc` says, or its line in the text. An access has its own text.
    pub(super) fn add_places(&mut self, text: &str, name: &str, module: &mut Module) {
        let own = file_index(module, name);
        let starts: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let bodies = self
            .ptx
            .functions
            .iter()
            .filter_map(|function| function.body.as_ref());
        for body in bodies {
            for statement in &body.statements {
                let Statement::Inst(inst) = statement else {
                    continue;
                };
                let place = body.places[inst.place as usize];
                let file = self
                    .ptx
                    .files
                    .iter()
                    .find(|(number, _)| *number == place.file);
                let (file, line, column) = match file.filter(|_| place.line > 0) {
                    Some((_, file)) => (file_index(module, file), place.line, place.column.max(1)),
                    None => {
                        let at = inst.at as usize;
                        let line = starts.partition_point(|&start| start <= at);
                        (own, line as u32, (at - starts[line - 1]) as u32 + 1)
                    }
                };
                let is_access = matches!(inst.opcode, "ld" | "st" | "atom" | "red");
                let rest = &text[inst.at as usize..];
                let end = rest.find(';').unwrap_or(rest.len());
                let words: Vec<&str> = rest[..end].split_whitespace().collect();
                let loc = Loc {
                    file,
                    line,
                    column,
                    text: if is_access {
                        words.join(" ")
                    } else {
                        String::new()
                    },
                    via: None,
                };
                let same = module.locs.last() == Some(&loc);
                if !same {
                    module.locs.push(loc);
                }
                self.places
                    .insert(inst.at, LocId(module.locs.len() as u32 - 1));
            }
        }
    }

    /// The string with this text.
    pub(super) fn string(&self, text: &[u8]) -> StringId {
        let mut all = self.texts.borrow_mut();
        let known = all.iter().position(|known| known == text);
        let index = known.unwrap_or_else(|| {
            all.push(text.to_vec());
            all.len() - 1
        });
        StringId((self.strings + index) as u32)
    }

    /// Adds the strings of [`string`](Environment::string).
    pub(super) fn add_strings(&self, module: &mut Module) {
        let texts = self.texts.take().into_iter();
        module.strings.extend(texts.map(Into::into));
    }

    /// The place of an instruction.
    pub(super) fn place(&self, place: Place, at: u32) -> LocId {
        if self.is_alone {
            return self.places.get(&at).copied().unwrap_or(self.nowhere);
        }
        match place.column {
            0 => self
                .lines
                .get(&(place.file, place.line))
                .copied()
                .unwrap_or(LocId(0)),
            // The column is the number of a place.
            column if (column as usize) < self.locs => LocId(column),
            _ => LocId(0),
        }
    }

    /// Adds the variables that are defined here and are not the written module's: of a text by itself all, else the tables of constants that the
    /// compiler made.
    pub(super) fn add_variables(&mut self, module: &mut Module) {
        let mut added = Vec::new();
        for variable in self.variables {
            let space = match variable.space {
                StateSpace::Global => GlobalSpace::Device,
                StateSpace::Const => GlobalSpace::Constant,
                StateSpace::Shared | StateSpace::Local | StateSpace::Param => continue,
            };
            let (Some(size_bytes), false) = (variable.size_bytes, variable.is_extern) else {
                continue;
            };
            let is_plain = |value: &Initial<'_>| matches!(value, Initial::Number(_));
            let is_table = !variable.init.is_empty() && variable.init.iter().all(is_plain);
            if self.objects.contains_key(variable.name) || !(self.is_alone || is_table) {
                continue;
            }
            let index = module.globals.len();
            let object = Object::Global(GlobalId(index as u32));
            self.objects.insert(variable.name.to_string(), object);
            added.push((index, variable));
            let element_bytes = variable.ty.bytes().max(1);
            let element = element_type(variable.ty);
            module.globals.push(GlobalVar {
                name: variable.name.to_string(),
                space,
                c_type: match size_bytes / element_bytes {
                    1 => element.to_string(),
                    count => format!("{element} [{count}]"),
                },
                element_bytes,
                size_bytes,
                align_bytes: variable.align_bytes,
                init: None,
                relocations: Vec::new(),
                loc: LocId(0),
            });
        }
        // Their initial values may name one another.
        for (index, variable) in added {
            let global = &mut module.globals[index];
            (global.init, global.relocations) = self.initial(variable, global.size_bytes);
        }
    }

    /// A variable's initial bytes and the addresses in them.
    fn initial(&self, variable: &Variable<'_>, size_bytes: u64) -> (Option<Vec<u8>>, Relocations) {
        let width = variable.ty.bytes() as usize;
        let (mut bytes, mut relocations) = (Vec::new(), Vec::new());
        for value in &variable.init {
            let bits = match value {
                Initial::Number(bits) => *bits,
                Initial::Address(name, offset) => {
                    if let Some(&object) = self.objects.get(*name) {
                        relocations.push((bytes.len() as u64, object, *offset));
                    }
                    0
                }
            };
            let mut element = bits.to_le_bytes().to_vec();
            element.resize(width, 0);
            bytes.extend_from_slice(&element);
        }
        bytes.truncate(usize::try_from(size_bytes).unwrap_or(0));
        relocations.retain(|(at, ..)| at + 8 <= size_bytes);
        ((!bytes.is_empty()).then_some(bytes), relocations)
    }
}

/// Addresses in initial bytes: see [`GlobalVar::relocations`].
type Relocations = Vec<(u64, Object, i64)>;

/// C's name of an element.
fn element_type(ty: ScalarType) -> &'static str {
    match (ty.kind, ty.bits) {
        (Kind::Float, 32) => "float",
        (Kind::Float, 64) => "double",
        (Kind::Unsigned, 16) => "unsigned short",
        (_, 16) => "short",
        (Kind::Unsigned, 32) => "unsigned",
        (_, 32) => "int",
        (Kind::Unsigned, 64) => "unsigned long long",
        (_, 64) => "long long",
        (Kind::Unsigned, _) => "unsigned char",
        _ => "char",
    }
}

/// The number of a file of a module, which is added if it is new.
fn file_index(module: &mut Module, name: &str) -> u32 {
    let known = module.files.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        module.files.push(name.to_string());
        module.files.len() - 1
    }) as u32
}
