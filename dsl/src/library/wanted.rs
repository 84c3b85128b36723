//! Decides which files of the library a program needs.
//!
//! The build script (`dsl/build`) generates the tables from the files' texts when the crate is built.

use std::{collections::HashSet, sync::OnceLock};

use rustc_hash::FxHashMap;

use super::{File, Part, files};
use crate::{
    sema::builtin,
    syntax::token::{Keyword, Punct, Token, TokenKind},
};

/// All parts.
pub fn parts() -> impl Iterator<Item = Part> {
    files().iter().map(File::part)
}

/// By name of a function, the files that define it.
static FUNCTIONS: &[(&str, &[&str])] = include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// By name of a type or namespace, the files that it needs.
static NAMES: &[(&str, &[usize])] = include!(concat!(env!("OUT_DIR"), "/names.rs"));

/// By name in `std`, the files that it needs.
static STANDARD_NAMES: &[(&str, &[usize])] =
    include!(concat!(env!("OUT_DIR"), "/standard_names.rs"));

/// The file that a call of this function needs. If several files define the function, it is the first, provided that this one names the
/// others in `needs:`; otherwise `None`.
fn with_function(name: &str) -> Option<usize> {
    let row = FUNCTIONS.binary_search_by_key(&name, |(name, _)| name);
    let (_, names) = FUNCTIONS[row.ok()?];
    let mut known: Option<usize> = None;
    let mut all = files().iter().enumerate();
    while let Some((at, file)) = all.find(|(_, file)| names.contains(&file.name)) {
        match known {
            None => known = Some(at),
            Some(first) if files()[first].needs.contains(&file.name) => {}
            Some(_) => return None,
        }
    }
    known
}

/// Files by the names that need them.
struct Index {
    names: FxHashMap<&'static str, &'static [usize]>,
    std: FxHashMap<&'static str, &'static [usize]>,
}

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| Index {
        names: NAMES.iter().copied().collect(),
        std: STANDARD_NAMES.iter().copied().collect(),
    })
}

/// The names of all functions outside the mathematical files, for suggestions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let all = FUNCTIONS.iter().map(|(name, _)| *name);
    all.filter(|name| !builtin::is_math(name))
}

/// The names that the files declare in the namespace `std`.
pub(crate) fn standard_names() -> impl Iterator<Item = &'static str> {
    files().iter().flat_map(|file| file.std.iter().copied())
}

/// The names that the program declares itself: those directly after a type's keyword somewhere (in `int half`, `half` is not a type), and
/// those of its classes.
fn own(tokens: &[Token]) -> HashSet<&str> {
    let is_class = |three: &&[Token]| {
        matches!(
            three[0].kind,
            TokenKind::Keyword(Keyword::Struct | Keyword::Class)
        ) && matches!(
            three[2].kind,
            TokenKind::Punct(Punct::LBrace | Punct::Colon)
        )
    };
    let classes = tokens.windows(3).filter(is_class).map(|three| &three[1]);
    let names = classes.filter_map(|token| match &token.kind {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => Some(&**name),
        _ => None,
    });
    names.chain(variables(tokens)).collect()
}

fn variables(tokens: &[Token]) -> HashSet<&str> {
    let declared = |pair: &[Token]| {
        matches!(
            pair[0].kind,
            TokenKind::Keyword(
                Keyword::Bool
                    | Keyword::Char
                    | Keyword::Short
                    | Keyword::Int
                    | Keyword::Long
                    | Keyword::Unsigned
                    | Keyword::Float
                    | Keyword::Double
                    | Keyword::Auto
            )
        )
    };
    tokens
        .windows(2)
        .filter(|pair| declared(pair))
        .filter_map(|pair| match &pair[1].kind {
            TokenKind::Ident(name) | TokenKind::TypeName(name) => Some(&**name),
            _ => None,
        })
        .collect()
}

/// The files that a program needs: those that define a function which it seems to call, or a type which it names.
pub fn wanted(tokens: &[Token]) -> Vec<Part> {
    let index = index();
    let mut needed = vec![false; files().len()];
    let own = own(tokens);
    let is_std = |token: &Token| matches!(&token.kind, TokenKind::Ident(name) if &**name == "std");
    let has_std = tokens.iter().any(is_std);
    for pair in tokens.windows(2) {
        match &pair[0].kind {
            TokenKind::Keyword(keyword) => {
                if let Some(word) = text_of(*keyword) {
                    mark(&mut needed, |file| file.keywords.contains(&word));
                }
            }
            TokenKind::Ident(name) if pair[1].kind == TokenKind::Punct(Punct::LParen) => {
                // A name that several files define (`__hadd` of either precision) selects none of them; the types in the program do.
                if let Some(at) = with_function(name) {
                    needed[at] = true;
                }
            }
            _ => {}
        }
        if let TokenKind::Ident(name) | TokenKind::TypeName(name) = &pair[0].kind {
            let name: &str = name;
            // `reduce(expf, x)`: a function as an argument.
            if matches!(pair[1].kind, TokenKind::Punct(Punct::Comma | Punct::RParen))
                && let Some(at) = with_function(name)
                && builtin::is_math(name)
                && !own.contains(name)
            {
                needed[at] = true;
            }
            let named = index.names.get(name).filter(|_| !own.contains(name));
            let standard = index.std.get(name).filter(|_| has_std);
            for &at in named.into_iter().chain(standard).copied().flatten() {
                needed[at] = true;
            }
        }
    }
    // `cuda::barrier`, whose namespace is not `std`.
    for three in tokens.windows(3) {
        if let (TokenKind::Ident(space), TokenKind::Punct(Punct::ColonColon)) =
            (&three[0].kind, &three[1].kind)
            && let TokenKind::Ident(name) | TokenKind::TypeName(name) = &three[2].kind
        {
            mark(&mut needed, |file| {
                file.namespace == Some(&**space) && file.classes.contains(&&**name)
            });
        }
    }
    // If a program brings a namespace's own files, or another name for it, it means those.
    for three in tokens.windows(3) {
        let opens = matches!(three[2].kind, TokenKind::Punct(Punct::LBrace | Punct::Eq));
        if opens
            && three[0].kind == TokenKind::Keyword(Keyword::Namespace)
            && let TokenKind::Ident(name) = &three[1].kind
        {
            for (file, needed) in files().iter().zip(&mut needed) {
                *needed &= file.namespace != Some(&**name);
            }
        }
    }
    loop {
        let before = needed.clone();
        for (file, _) in files().iter().zip(&before).filter(|(_, needed)| **needed) {
            mark(&mut needed, |other| file.needs.contains(&other.name));
        }
        if before == needed {
            break;
        }
    }
    let needed = files().iter().zip(needed).filter(|(_, needed)| *needed);
    needed.map(|(file, _)| file.part()).collect()
}

/// The text of a keyword, if a file is needed for it.
fn text_of(keyword: Keyword) -> Option<&'static str> {
    Some(match keyword {
        Keyword::New => "new",
        Keyword::Delete => "delete",
        Keyword::Throw => "throw",
        Keyword::Asm => "asm",
        _ => return None,
    })
}

fn mark(needed: &mut [bool], is_needed: impl Fn(&File) -> bool) {
    for (file, needed) in files().iter().zip(needed) {
        *needed |= is_needed(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::defined;

    #[test]
    fn the_table_has_what_the_files_define() {
        assert!(FUNCTIONS.is_sorted());
        let of = |name: &str| FUNCTIONS.iter().find(|row| row.0 == name);
        let mut count = 0;
        for file in files() {
            let names: HashSet<&str> = defined(file.text).collect();
            for name in &names {
                let row = of(name).unwrap_or_else(|| panic!("{name} is not in the table"));
                assert!(row.1.contains(&file.name), "{name} of {}", file.name);
            }
            count += names.len();
        }
        let rows = FUNCTIONS.iter().map(|(_, files)| files.len());
        assert_eq!(rows.sum::<usize>(), count);
    }
}
