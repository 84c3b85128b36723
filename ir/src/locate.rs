//! Maps places of the IR back to bytes of the source.

use super::{LocId, Module};
use crate::{
    source::{COMMAND_LINE, PREDEFINED, SourceFile, SourceMap},
    span::{FileId, Span},
};

/// How far to extend a place that has only a beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// One character.
    Character,
    /// A name with its members and call: `threadIdx.x`, `__syncthreads()`.
    Name,
    /// An expression: to the bracket, `;`, `,`, `?` or `{` that ends it.
    Expression,
}

/// Whether a file of this name is not the user's: the command line, or one of dslc's own texts. Those have names in angle brackets.
pub fn is_virtual(file: &str) -> bool {
    file.starts_with('<') && file.ends_with('>')
}

/// Whether a file of this name is one of dslc's own texts: the prelude, a part of the library.
pub fn is_library(file: &str) -> bool {
    is_virtual(file) && file != COMMAND_LINE && file != PREDEFINED
}

/// The innermost place in the program, among `loc` and its `via`s; `None` if all of them are in the library.
pub fn in_program(module: &Module, loc: LocId) -> Option<LocId> {
    std::iter::successors(Some(loc), |&place| module.loc(place).via)
        .find(|&place| !is_library(&module.files[module.loc(place).file as usize]))
}

/// The bytes of a place: the text of an access if it is known, else `extent`. `None` for nowhere and for places in files that `map` does
/// not have.
pub fn span(loc: LocId, extent: Extent, module: &Module, map: &SourceMap) -> Option<Span> {
    let loc = module.locs.get(loc.index())?;
    let name = module.files.get(loc.file as usize)?;
    let (file, source) = find(map, loc.file, name)?;
    if loc.line == 0 {
        return None;
    }
    let start = source.offset(loc.line, loc.column) as usize;
    let line = source.text.get(start..)?.lines().next().unwrap_or("");
    let length = if !loc.text.is_empty() && line.starts_with(&loc.text) {
        loc.text.len()
    } else {
        let first = line.chars().next().map_or(0, char::len_utf8);
        match extent {
            Extent::Character => first,
            Extent::Name => name_length(line).max(first),
            Extent::Expression => expression_length(line).max(first),
        }
    };
    Some(Span::new(file, start, start + length))
}

/// The file with that number, or else with that name.
fn find<'m>(map: &'m SourceMap, number: u32, name: &str) -> Option<(FileId, &'m SourceFile)> {
    let same_name = |(_, source): &(FileId, &SourceFile)| source.name == name;
    let numbered = map.files().nth(number as usize).filter(same_name);
    numbered.or_else(|| map.files().find(same_name))
}

fn name_length(line: &str) -> usize {
    let end = line.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
    let end = end.unwrap_or(line.len());
    if line[end..].starts_with("()") {
        end + 2
    } else {
        end
    }
}

fn expression_length(line: &str) -> usize {
    let mut depth = 0usize;
    let ends = |(_, c): &(usize, char)| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => return true,
            ')' | ']' => depth -= 1,
            ';' | ',' | '?' | '{' | '}' if depth == 0 => return true,
            _ => {}
        }
        false
    };
    let end = line
        .char_indices()
        .find(ends)
        .map_or(line.len(), |(at, _)| at);
    line[..end].trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::{expression_length, name_length};

    #[test]
    fn names_end_where_their_members_and_empty_call_end() {
        assert_eq!(name_length("threadIdx.x + 1"), "threadIdx.x".len());
        assert_eq!(name_length("__syncthreads();"), "__syncthreads()".len());
        assert_eq!(name_length("f(x)"), 1);
        assert_eq!(name_length("+"), 0);
    }

    #[test]
    fn expressions_end_at_what_closes_them() {
        assert_eq!(
            expression_length("(i < n) && b[i]) x;"),
            "(i < n) && b[i]".len()
        );
        assert_eq!(expression_length("i < n; i++)"), "i < n".len());
        assert_eq!(expression_length("i < n"), "i < n".len());
        assert_eq!(expression_length("a[i, j] + 1, c)"), "a[i, j] + 1".len());
    }
}
