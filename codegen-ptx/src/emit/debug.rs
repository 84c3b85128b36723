//! Source lines: metadata from which LLVM prints only `.loc` directives (no types, no variables).
//!
//! A place in inlined code keeps its own line. Places in built-in declarations (whose file name is in angle brackets) have no line that a
//! user could open. They get the line of the call, which is at the end of the `via` chain.

use std::collections::HashMap;

use ir::{Loc, LocId, Module, locate::is_virtual};

use super::{Emitter, ty::quoted};

/// The numbers of the metadata nodes made so far.
pub(super) struct Lines {
    /// For each place, the place whose line is shown.
    shown: Vec<LocId>,
    /// Whether the column is the place's number.
    numbers_places: bool,
    /// By file.
    files: HashMap<u32, u32>,
    /// The compile unit.
    unit: Option<u32>,
    /// The current kernel's subprogram and its file.
    subprogram: Option<(u32, u32)>,
    /// The scope for a file, in the current kernel.
    scopes: HashMap<u32, u32>,
    /// The node of a file, line and column, in the current kernel.
    locations: HashMap<(u32, u32, u32), u32>,
}

impl Lines {
    /// `None` if there are to be no lines.
    pub(super) fn new(module: &Module, wanted: crate::Lines) -> Option<Lines> {
        if wanted == crate::Lines::None {
            return None;
        }
        let is_builtin = |loc: &Loc| {
            let file = module.files.get(loc.file as usize);
            file.is_none_or(|name| is_virtual(name))
        };
        let shown = (0..module.locs.len() as u32).map(LocId).map(|id| {
            let mut at = id;
            // A chain longer than the table would be a cycle.
            for _ in 0..module.locs.len() {
                let loc = module.loc(at);
                match loc.via {
                    Some(via) if is_builtin(loc) => at = via,
                    _ => break,
                }
            }
            if is_builtin(module.loc(at)) { id } else { at }
        });
        Some(Lines {
            shown: shown.collect(),
            numbers_places: wanted == crate::Lines::Places,
            files: HashMap::new(),
            unit: None,
            subprogram: None,
            scopes: HashMap::new(),
            locations: HashMap::new(),
        })
    }
}

impl Emitter<'_> {
    fn file_node(&mut self, file: u32) -> u32 {
        let known = self.lines.as_ref().and_then(|lines| lines.files.get(&file));
        if let Some(&known) = known {
            return known;
        }
        // LLVM drops all lines if a file has an empty name.
        let name = self.module.files.get(file as usize);
        let name = name.filter(|name| !name.is_empty());
        let name = quoted(file_name(name.map_or("?", String::as_str)).as_bytes());
        let node = self.metadata(|_| format!("!DIFile(filename: {name}, directory: \"\")"));
        if let Some(lines) = &mut self.lines {
            lines.files.insert(file, node);
        }
        node
    }

    /// Starts a kernel: returns `!dbg !7` for its definition, or an empty text.
    pub(super) fn subprogram(&mut self, name: &str, loc: LocId) -> String {
        let Some(lines) = &self.lines else {
            return String::new();
        };
        let unit = lines.unit;
        let loc = self.module.loc(lines.shown[loc.index()]);
        let (file, line) = (loc.file, loc.line);
        let file_node = self.file_node(file);
        let unit = unit.unwrap_or_else(|| {
            self.metadata(|_| {
                format!(
                    "distinct !DICompileUnit(language: DW_LANG_C, file: !{file_node}, producer: \"dslc\", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly)"
                )
            })
        });
        let name = quoted(name.as_bytes());
        let types = self.metadata(|_| "!DISubroutineType(types: !{})".to_string());
        let node = self.metadata(|_| {
            format!(
                "distinct !DISubprogram(name: {name}, scope: !{file_node}, file: !{file_node}, line: {line}, type: !{types}, scopeLine: {line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{unit})"
            )
        });
        if let Some(lines) = &mut self.lines {
            lines.unit = Some(unit);
            lines.subprogram = Some((node, file));
            lines.scopes = HashMap::from([(file, node)]);
            lines.locations.clear();
        }
        format!(" !dbg !{node}")
    }

    /// `, !dbg !9` for an instruction at that place, or an empty text.
    pub(super) fn dbg(&mut self, loc: LocId) -> String {
        match self.location(loc) {
            Some(node) => format!(", !dbg !{node}"),
            None => String::new(),
        }
    }

    fn location(&mut self, loc: LocId) -> Option<u32> {
        let lines = self.lines.as_ref()?;
        let (subprogram, _) = lines.subprogram?;
        let at = self.module.loc(*lines.shown.get(loc.index())?);
        // LLVM stores columns in 16 bits.
        let widest = u16::MAX as u32;
        let column = match lines.numbers_places {
            true if loc.0 <= widest => loc.0,
            true => 0,
            false => at.column.min(widest),
        };
        let key = (at.file, at.line, column);
        if let Some(&known) = lines.locations.get(&key) {
            return Some(known);
        }
        let (file, line, column) = key;
        let scope = lines.scopes.get(&file).copied();
        let scope = scope.unwrap_or_else(|| {
            let file_node = self.file_node(file);
            self.metadata(|_| {
                format!("!DILexicalBlockFile(scope: !{subprogram}, file: !{file_node}, discriminator: 0)")
            })
        });
        let node = self
            .metadata(|_| format!("!DILocation(line: {line}, column: {column}, scope: !{scope})"));
        let lines = self.lines.as_mut()?;
        lines.scopes.insert(file, scope);
        lines.locations.insert(key, node);
        Some(node)
    }
}

/// A file name that ptxas can parse: for ptxas a string ends at the first quote, even after a backslash, and there are no escapes.
fn file_name(name: &str) -> String {
    let readable = |c: char| match c {
        '"' => '\'',
        '\\' => '/',
        c if c.is_control() => '_',
        c => c,
    };
    name.chars().map(readable).collect()
}

/// The named metadata for the lines.
pub(super) fn finish(emitter: &mut Emitter<'_>) -> String {
    let Some(unit) = emitter.lines.as_ref().and_then(|lines| lines.unit) else {
        return String::new();
    };
    let version = emitter.metadata(|_| "!{i32 2, !\"Debug Info Version\", i32 3}".to_string());
    format!("!llvm.dbg.cu = !{{!{unit}}}\n!llvm.module.flags = !{{!{version}}}\n")
}
