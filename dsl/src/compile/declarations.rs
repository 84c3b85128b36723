//! Reads the declarations before a program's first line: the prelude, and the parts of the library that the program needs.

use std::{borrow::Cow, cell::RefCell, rc::Rc};

use crate::{
    library, sema,
    syntax::{self, ast::Unit, parser, preprocess::Tokenized},
};
use ir::{
    diagnostic::Diagnostic,
    source::{Appended, Mark, NoFiles, SourceFile, SourceMap},
    span::FileId,
};

type Part = (&'static str, Cow<'static, str>);

/// Declarations, parsed.
pub(crate) struct Declarations {
    pub(crate) unit: Unit,
    /// The files they are in.
    pub(crate) files: Vec<FileId>,
}

/// The declarations that this thread read last. A program that is compiled again with an edit, as when a cure is tried, mostly needs the
/// same ones, and reading them takes half the time of a small compilation. Their spans are only valid in a map that had the same number of
/// files and expansions before.
struct LastRead {
    at: Mark,
    parts: Vec<Part>,
    appended: Appended,
    read: Rc<Declarations>,
}

thread_local! {
    static KEPT: RefCell<Option<LastRead>> = const { RefCell::new(None) };
}

/// A program, parsed.
pub(crate) struct Parsed {
    pub(crate) unit: Unit,
    pub(crate) errors: Vec<Diagnostic>,
    /// The declarations before its first line.
    pub(crate) declared: Rc<Declarations>,
}

/// Parses a program of these tokens, and the prelude with what it needs of the library. If it needs no part of the library, only those
/// functions of the prelude are read that it names.
pub(crate) fn parsed(map: &mut SourceMap, program: &Tokenized, instances: &[String]) -> Parsed {
    let tokens = &program.tokens;
    let needed = library::needed(tokens, instances, &library::wanted(tokens));
    let prelude = match needed.is_empty() {
        true => Cow::Owned(library::prelude(tokens)),
        false => Cow::Borrowed(library::PRELUDE),
    };
    let prelude = (sema::PRELUDE_NAME, prelude);
    let parts: Vec<Part> = std::iter::once(prelude).chain(needed).collect();
    let at = map.mark();
    KEPT.with_borrow_mut(|last| {
        if let Some(kept) = last
            && kept.at == at
            && kept.parts == parts
        {
            map.append(&kept.appended);
            let (unit, errors) = parser::parse(tokens, program.end);
            return Parsed {
                unit,
                errors,
                declared: kept.read.clone(),
            };
        }
        let (unit, errors, declared) = read(map, program, &parts);
        let declared = Rc::new(declared);
        *last = Some(LastRead {
            at,
            parts,
            appended: map.since(at),
            read: declared.clone(),
        });
        Parsed {
            unit,
            errors,
            declared,
        }
    })
}

fn read(
    map: &mut SourceMap,
    program: &Tokenized,
    parts: &[Part],
) -> (Unit, Vec<Diagnostic>, Declarations) {
    let mut files = Vec::new();
    let mut texts = Vec::new();
    for (name, text) in parts {
        let file = map.add(SourceFile::new(*name, &**text));
        let text = syntax::tokenize(map, file, &syntax::Options::default(), &NoFiles);
        debug_assert!(text.diagnostics.is_empty(), "{:?}", text.diagnostics);
        files.push(file);
        texts.push(text);
    }
    let all = std::iter::once(program).chain(&texts);
    let all = all.map(|text| (&*text.tokens, text.end)).collect();
    let mut all = parser::parse_all(all).into_iter();
    let (unit, errors) = all.next().unwrap_or_default();
    let mut declared = Unit::default();
    for (parsed, broken) in all {
        debug_assert!(broken.is_empty(), "{broken:?}");
        declared.items.extend(parsed.items);
    }
    let declared = Declarations {
        unit: declared,
        files,
    };
    (unit, errors, declared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Compiled, Options, compile};

    fn made(text: &str) -> (Compiled, Vec<(String, String)>) {
        let mut map = SourceMap::new();
        let file = map.add(SourceFile::new("k.k", text));
        let compiled = compile(&mut map, file, &Options::default(), &NoFiles);
        let files = map
            .files()
            .map(|(_, file)| (file.name.clone(), file.text.clone()));
        (compiled, files.collect())
    }

    fn kept() -> Option<Rc<Declarations>> {
        KEPT.with_borrow(|kept| kept.as_ref().map(|kept| kept.read.clone()))
    }

    /// Messages and the IR contain places in the library.
    #[test]
    fn what_is_kept_is_what_would_be_read() {
        let plain = "__global__ void k(int *p) { p[0] = 1; }\n";
        let edited = "__global__ void k(int *p) { p[0] = 2; }\n";
        let library = "#include <vector>\n#include <cstdio>\nint main() { std::vector<int> v(3); v[0] = 1; printf(\"%d\", v[0]); return 0; }\n";
        let macros = "#define N 3\n__global__ void k(int *p) { p[0] = N + N; }\n";
        let wrong = "int main() { return cudaMalloc(1); }\n";
        let texts = [plain, edited, library, library, macros, plain, wrong, wrong];
        let mut reused = 0;
        for text in texts {
            let before = kept();
            let with = made(text);
            let is_same = |after: &Rc<Declarations>| {
                before
                    .as_ref()
                    .is_some_and(|before| Rc::ptr_eq(before, after))
            };
            reused += usize::from(kept().as_ref().is_some_and(is_same));
            KEPT.set(None);
            assert_eq!(with, made(text), "{text}");
        }
        assert!(reused >= 2, "{reused}");
    }
}
