//! Joins several modules into one, for reports on a program whose sources were compiled separately.
//!
//! In: modules, one after another, each with its sources. Out: for each a [`Shift`], which maps its places, files and functions to those of
//! the joined module; and the joined module itself. Place 0 is "nowhere" in all modules. A file that two modules include is one file. The
//! joined module is for reading, not for running: variables, strings and kernels in its code are not renumbered.

use std::{borrow::Cow, sync::Arc};

use super::{Block, FuncId, Function, LocId, Module, Node};
use crate::source::{SourceFile, SourceMap};

/// Maps a module's places, files and functions to those of the joined module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shift {
    locs: u32,
    functions: u32,
    /// By the module's file number.
    files: Vec<u32>,
}

impl Shift {
    /// Maps a place; "nowhere" stays.
    pub fn loc(&self, loc: &mut LocId) {
        if loc.0 > 0 {
            loc.0 += self.locs;
        }
    }

    /// Maps a function.
    pub fn function(&self, function: &mut FuncId) {
        function.0 += self.functions;
    }

    /// Maps a file.
    pub fn file(&self, file: &mut u32) {
        if let Some(&known) = self.files.get(*file as usize) {
            *file = known;
        }
    }

    /// Whether everything stays the same, as for the first module.
    pub fn is_none(&self) -> bool {
        let mut files = self.files.iter().enumerate();
        self.locs == 0 && self.functions == 0 && files.all(|(at, &file)| at == file as usize)
    }

    /// Maps a function and its code.
    fn of_function(&self, function: &mut Function) {
        let shared = function.shared.iter_mut().map(|var| &mut var.loc);
        let locals = function.locals.iter_mut().map(|var| &mut var.loc);
        let routines = function.routines.iter_mut().map(|routine| &mut routine.loc);
        let all = shared.chain(locals).chain(routines);
        all.for_each(|loc| self.loc(loc));
        self.loc(&mut function.loc);
        self.block(&mut function.body);
    }

    fn block(&self, block: &mut Block) {
        for node in &mut block.0 {
            match node {
                Node::Inst(inst) => self.loc(&mut inst.loc),
                Node::If { loc, .. } | Node::Loop { loc, .. } | Node::Scope { loc, .. } => {
                    self.loc(loc);
                }
                Node::Routine { .. } | Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
            for block in node.blocks_mut() {
                self.block(block);
            }
        }
    }
}

/// The modules so far.
#[derive(Debug, Default)]
pub struct Join {
    parts: Vec<(Arc<Module>, Shift)>,
    /// Names of all files.
    files: Vec<String>,
    /// The sources of all.
    map: SourceMap,
    locs: u32,
    functions: u32,
}

impl Join {
    /// Adds a module with its sources, given by names and texts.
    pub fn add(&mut self, module: &Arc<Module>, sources: &[(String, String)]) -> Shift {
        let mut renamed: Vec<(&str, String)> = Vec::new();
        for (name, text) in sources {
            renamed.push((name, self.source(name, text)));
        }
        let files = module.files.iter().map(|file| {
            let known = renamed.iter().find(|(name, _)| name == file);
            let name = known.map_or(file, |(_, name)| name);
            let number = self.files.iter().position(|known| known == name);
            number.unwrap_or_else(|| {
                self.files.push(name.clone());
                self.files.len() - 1
            }) as u32
        });
        let shift = Shift {
            files: files.collect(),
            locs: self.locs,
            functions: self.functions,
        };
        self.locs += module.locs.len().saturating_sub(1) as u32;
        self.functions += module.functions.len() as u32;
        self.parts.push((module.clone(), shift.clone()));
        shift
    }

    /// Adds a source, unless it is there; returns its name. A different text with the same name, from another folder, gets a number.
    fn source(&mut self, name: &str, text: &str) -> String {
        let mut wanted = name.to_string();
        let mut number = 1;
        loop {
            let known = self.map.files().find(|(_, file)| file.name == wanted);
            match known {
                // The command line's macros are not in a file: the first ones stand for all.
                Some((_, file)) if *file.text == *text || name.starts_with('<') => return wanted,
                Some(_) => {
                    number += 1;
                    wanted = format!("{name} ({number})");
                }
                None => {
                    self.map.add(SourceFile::new(wanted.clone(), text));
                    return wanted;
                }
            }
        }
    }

    /// The sources of all modules.
    pub fn map(&self) -> &SourceMap {
        &self.map
    }

    /// The index of the module that a function of the joined module comes from.
    pub fn part_of(&self, function: FuncId) -> Option<usize> {
        let begins = |(_, shift): &(Arc<Module>, Shift)| shift.functions <= function.0;
        self.parts.iter().rposition(begins)
    }

    /// The joined module, named after the modules with these indices.
    pub fn whole(&self, named: &[usize]) -> Arc<Module> {
        if let [(module, _)] = self.parts.as_slice() {
            return module.clone();
        }
        let mut whole = Module {
            name: self.name(named),
            files: self.files.clone(),
            ..Module::default()
        };
        for (module, shift) in &self.parts {
            let skipped = usize::from(!whole.locs.is_empty());
            whole
                .locs
                .extend(module.locs.iter().skip(skipped).map(|loc| {
                    let mut loc = loc.clone();
                    shift.file(&mut loc.file);
                    loc.via.iter_mut().for_each(|via| shift.loc(via));
                    loc
                }));
            whole
                .functions
                .extend(module.functions.iter().map(|function| {
                    let mut function = function.clone();
                    shift.of_function(&mut function);
                    function
                }));
        }
        Arc::new(whole)
    }

    /// `a.cu, b.cu and 3 more`.
    fn name(&self, named: &[usize]) -> String {
        /// The largest number of names.
        const MOST: usize = 3;
        let mut names: Vec<Cow<'_, str>> = Vec::new();
        for &at in named {
            let name = self.parts.get(at).map(|(module, _)| module.name.as_str());
            let name = Cow::Borrowed(name.unwrap_or_default());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let more = names.len().saturating_sub(MOST);
        names.truncate(MOST);
        match more {
            0 => names.join(", "),
            _ => format!("{} and {more} more", names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FunctionKind, Loc};

    fn module(name: &str, kernel: &str) -> Arc<Module> {
        let loc = |file, line| Loc {
            file,
            line,
            ..Loc::default()
        };
        Arc::new(Module {
            name: name.to_string(),
            files: vec![name.to_string(), "common.h".to_string()],
            locs: vec![Loc::default(), loc(0, 3), loc(1, 7)],
            functions: vec![Function {
                name: kernel.to_string(),
                kind: FunctionKind::Kernel,
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
                loc: LocId(2),
            }],
            ..Module::default()
        })
    }

    fn sources(name: &str, text: &str) -> Vec<(String, String)> {
        let source = |name: &str, text: &str| (name.to_string(), text.to_string());
        vec![source(name, text), source("common.h", "// both\n")]
    }

    #[test]
    fn places_and_functions_of_both_are_in_the_whole() {
        let mut join = Join::default();
        let first = join.add(&module("a.cu", "one"), &sources("a.cu", "// a\n"));
        let second = join.add(&module("b.cu", "two"), &sources("b.cu", "// b\n"));
        assert!(first.is_none() && !second.is_none());
        let whole = join.whole(&[0, 1]);
        assert_eq!(whole.name, "a.cu, b.cu");
        assert_eq!(whole.files, ["a.cu", "common.h", "b.cu"]);
        let (mut function, mut loc) = (FuncId(0), LocId(1));
        second.function(&mut function);
        second.loc(&mut loc);
        assert_eq!(whole.function(function).name, "two");
        assert_eq!(whole.files[whole.loc(loc).file as usize], "b.cu");
        assert_eq!(whole.loc(whole.function(function).loc).line, 7);
        let mut nowhere = LocId(0);
        second.loc(&mut nowhere);
        assert_eq!(nowhere, LocId(0));
        assert_eq!(
            (join.part_of(FuncId(0)), join.part_of(function)),
            (Some(0), Some(1))
        );
    }

    #[test]
    fn two_files_of_one_name_stay_two() {
        let mut join = Join::default();
        join.add(&module("main.cu", "one"), &sources("main.cu", "// a\n"));
        join.add(&module("main.cu", "two"), &sources("main.cu", "// b\n"));
        let whole = join.whole(&[0, 1]);
        assert_eq!(whole.name, "main.cu");
        assert_eq!(whole.files, ["main.cu", "common.h", "main.cu (2)"]);
        let texts = join.map().files().map(|(_, file)| file.text.to_string());
        assert_eq!(texts.collect::<Vec<_>>(), ["// a\n", "// both\n", "// b\n"]);
    }
}
