//! Maps spans to [`Loc`]s, each place once.
//!
//! Line and column are where a profiler shows them: for a token from a macro, the outermost use. In that case `via` is the place where the
//! token is spelled; for inlined code the chain of `via` ends at the call. Only accesses have a text: the source of the place on one line,
//! as spelled.

use rustc_hash::FxHashMap;

use ir::{
    Loc, LocId,
    source::SourceMap,
    span::{ExpansionId, Span},
};

/// The longest text of an access, in characters.
const MAX_TEXT_CHARS: usize = 120;

/// The table of places of a module.
pub(super) struct Locs<'p> {
    pub(super) map: &'p SourceMap,
    n_files: u32,
    table: Vec<Loc>,
    /// By file, line, column and `via`: the first such place in the table.
    first: FxHashMap<(u32, u32, u32, Option<LocId>), LocId>,
    /// By place: the next one that differs only in its text.
    next: Vec<Option<LocId>>,
    known: FxHashMap<(Span, Option<LocId>, bool), LocId>,
}

impl<'p> Locs<'p> {
    pub(super) fn new(map: &'p SourceMap) -> Locs<'p> {
        Locs {
            map,
            n_files: map.files().count() as u32,
            table: vec![Loc::default()],
            first: FxHashMap::from_iter([((0, 0, 0, None), LocId(0))]),
            next: vec![None],
            known: FxHashMap::default(),
        }
    }

    /// The place of an expression or statement, reached through `via` (the call that inlined it).
    pub(super) fn plain(&mut self, span: Span, via: Option<LocId>) -> LocId {
        self.get(span, via, false)
    }

    /// The place of an access, with its text.
    pub(super) fn access(&mut self, span: Span, via: Option<LocId>) -> LocId {
        self.get(span, via, true)
    }

    /// The place of an access with a composed text.
    pub(super) fn named(&mut self, span: Span, via: Option<LocId>, text: &str) -> LocId {
        self.resolve(span, via, one_line(text))
    }

    pub(super) fn finish(self) -> Vec<Loc> {
        self.table
    }

    fn get(&mut self, span: Span, via: Option<LocId>, with_text: bool) -> LocId {
        if let Some(&id) = self.known.get(&(span, via, with_text)) {
            return id;
        }
        let text = if with_text && span.file.0 < self.n_files {
            one_line(self.map.snippet(span))
        } else {
            String::new()
        };
        let id = self.resolve(span, via, text);
        self.known.insert((span, via, with_text), id);
        id
    }

    fn resolve(&mut self, span: Span, via: Option<LocId>, text: String) -> LocId {
        if span.file.0 >= self.n_files {
            return LocId(0);
        }
        if span.expansion == ExpansionId::NONE {
            return self.intern(span, text, via);
        }
        let spelled = Span {
            expansion: ExpansionId::NONE,
            ..span
        };
        let via = Some(self.intern(spelled, String::new(), via));
        self.intern(self.map.use_site(span), text, via)
    }

    fn intern(&mut self, span: Span, text: String, via: Option<LocId>) -> LocId {
        let (line, column) = self.map.file(span.file).line_column(span.start);
        let file = span.file.0;
        let id = LocId(self.table.len() as u32);
        let mut known = *self.first.entry((file, line, column, via)).or_insert(id);
        while known != id {
            if self.table[known.index()].text == text {
                return known;
            }
            known = *self.next[known.index()].get_or_insert(id);
        }
        self.next.push(None);
        self.table.push(Loc {
            file,
            line,
            column,
            text,
            via,
        });
        id
    }
}

/// Collapses runs of white space to one space, and ends a text that is too long in an ellipsis.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.len() <= MAX_TEXT_CHARS || line.chars().count() <= MAX_TEXT_CHARS {
        return line;
    }
    let mut cut: String = line.chars().take(MAX_TEXT_CHARS - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{
        source::{Expansion, SourceFile},
        span::FileId,
    };

    #[test]
    fn a_macro_use_is_shown_at_its_use_with_the_definition_behind_it() {
        let mut map = SourceMap::new();
        let text = "#define S s[\n  t]\nint x = S;\n";
        let file = map.add(SourceFile::new("a.k", text));
        let expansion = map.add_expansion(Expansion {
            name: "S".into(),
            used_at: Span::new(file, 26, 27),
            defined_at: Span::new(file, 8, 9),
        });
        let span = Span {
            expansion,
            ..Span::new(file, 10, 17)
        };
        let mut locs = Locs::new(&map);
        let id = locs.access(span, None);
        assert_eq!(locs.access(span, None), id);
        let table = locs.finish();
        let loc = &table[id.index()];
        assert_eq!((loc.line, loc.column, loc.text.as_str()), (3, 9, "s[ t]"));
        let via = &table[loc.via.unwrap().index()];
        assert_eq!((via.line, via.column, via.via), (1, 11, None));
    }

    #[test]
    fn a_span_of_no_file_is_nowhere() {
        let map = SourceMap::new();
        let mut locs = Locs::new(&map);
        assert_eq!(locs.plain(Span::new(FileId(0), 0, 1), None), LocId(0));
    }

    #[test]
    fn long_texts_are_cut() {
        let text = one_line(&"a ".repeat(500));
        assert_eq!(text.chars().count(), MAX_TEXT_CHARS);
        assert!(text.ends_with('…'));
    }
}
