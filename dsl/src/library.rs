//! The part of CUDA's, C's and C++'s library that is written in the language itself: the files of `dsl/library`.
//!
//! The first lines of a file, which begin with `//!`, say what it is and when a program needs it. This information is nowhere else; the
//! build script (`dsl/build`) generates tables from it.
//!
//! | line | says |
//! |---|---|
//! | `<vector>` | what the file is called in messages |
//! | `needs:` | files that it uses: they are read, too |
//! | `types:` | types that every program has without including anything: a program that uses their names needs the file |
//! | `names:` | other names that need the file |
//! | `keywords:` | keywords that need it |
//! | `namespace:` | a namespace that needs it, unless the program has one of that name itself |
//! | `classes:`, `operations:` | types in that namespace; an operation is one after `::` or before the `<` of a type only |
//! | `std:` | names in the namespace `std` that need it if the program names that namespace, too |
//! | `std types:`, `std templates:`, `std traits:` | those that are types; a template before a `<`; a trait except as the last name |
//! | `chrono types:` | types in `std::chrono` |
//! | `functions: host` | its functions run on the host; otherwise on the device |
//! | `read: by function` | only the functions that a program may call are read |
//!
//! A program also needs a file if it calls a function that only this file defines.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

pub mod cpp;
#[cfg(test)]
mod defined;
mod file;
mod headers;
mod needed;
mod wanted;

#[cfg(test)]
pub(crate) use defined::defined;
pub(crate) use file::{File, TypeName};
pub(crate) use headers::missing;
pub use needed::needed;
pub(crate) use needed::{prelude, prelude_names};
pub(crate) use wanted::{names, standard_names};
pub use wanted::{parts, wanted};

/// A file of the library as it is read: its name in messages, and its text.
pub type Part = (&'static str, &'static str);

/// What is declared before every program.
pub const PRELUDE: &str = include_str!("../library/prelude.k");

static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// By name, why it is a type. A name such as `array` may have several reasons.
static TYPES: &[(&str, &[TypeName])] = include!(concat!(env!("OUT_DIR"), "/types.rs"));

/// The files, in the order in which they are read.
pub(crate) fn files() -> &'static [File] {
    FILES
}

/// The types of the library with that name.
pub(crate) fn types_named(name: &str) -> &'static [TypeName] {
    static BY_NAME: OnceLock<FxHashMap<&str, &[TypeName]>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| TYPES.iter().copied().collect());
    by_name.get(name).copied().unwrap_or_default()
}

impl File {
    pub(crate) fn part(&self) -> Part {
        (self.title, self.text)
    }

    /// Whether only the functions that a program may call are read from it.
    pub(crate) fn is_by_function(&self) -> bool {
        self.by_function
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Options, compile,
        syntax::{
            self,
            token::{Punct, TokenKind},
        },
    };
    use ir::source::{NoFiles, SourceFile, SourceMap};

    #[test]
    fn the_first_lines_say_what_a_file_is() {
        for file in files() {
            assert!(!file.title.is_empty(), "{}.k has no title", file.name);
            for need in file.needs {
                assert!(
                    files().iter().any(|other| other.name == *need),
                    "{}.k needs {need}, which is no file",
                    file.name
                );
            }
        }
        let vector = files().iter().find(|file| file.name == "vector");
        let vector = vector.expect("vector.k");
        assert_eq!((vector.title, vector.needs), ("<vector>", &["new"][..]));
        assert_eq!(types_named("vector"), [TypeName::Std]);
        assert_eq!(types_named("is_same"), [TypeName::StdTrait]);
        assert_eq!(types_named("BlockReduce"), [TypeName::Class("cub")]);
        assert!(types_named("no_such_thing").is_empty());
    }

    /// A library function is only checked when a program uses it. No program spells the names of instructions, so this test lists them all.
    #[test]
    fn every_instruction_of_inline_ptx_checks() {
        let file = files().iter().find(|file| file.name == "ptx");
        let mut map = SourceMap::new();
        let id = map.add(SourceFile::new("ptx.k", file.expect("ptx.k").text));
        let tokens = syntax::tokenize(&mut map, id, &syntax::Options::default(), &NoFiles).tokens;
        let mut names = std::collections::BTreeSet::new();
        for pair in tokens.windows(2) {
            if let TokenKind::Ident(name) = &pair[0].kind
                && pair[1].kind == TokenKind::Punct(Punct::LParen)
                && name.starts_with("__dslc_ptx_")
            {
                names.insert(name.to_string());
            }
        }
        assert!(names.len() > 300, "{}", names.len());
        let uses = names.iter().enumerate();
        let uses: String = uses
            .map(|(at, name)| format!("auto f{at} = &{name};\n"))
            .collect();
        let program = format!("__global__ void k() {{\nasm(\"\");\n{uses}}}\n");
        let mut map = SourceMap::new();
        let id = map.add(SourceFile::new("uses.k", program));
        let (_, messages) = compile::check(&mut map, id, &Options::default(), &NoFiles);
        let messages: Vec<&str> = messages.iter().map(|one| &*one.message).collect();
        assert_eq!(messages, [""; 0]);
    }

    #[test]
    fn every_file_of_the_folder_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/library");
        let entries = std::fs::read_dir(folder).expect("the folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").path())
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()))
            .filter(|name| !["prelude", "headers"].contains(&&**name))
            .collect();
        names.sort();
        let mut listed: Vec<&str> = files().iter().map(|file| file.name).collect();
        listed.sort_unstable();
        assert_eq!(names, listed);
    }
}
