//! Keeps names of separate sources apart in programs of several sources, which are read as one text.
//!
//! A `static` function or variable, a constant or a type of one source is not visible in the others, which may have something else of that
//! name. In that case the name is replaced in all text of its source: `table` of `blur.cu` becomes `table__blur`. Types, functions and
//! constants with the same text stay the same.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::Arc,
};

use crate::{
    compile::Options,
    stack,
    syntax::{
        self,
        ast::{self, DeclaratorPart, Item, SpecifierWord},
        token::{Punct, Token, TokenKind},
    },
};
use ir::{
    source::{Loader, SourceMap},
    span::{FileId, Span},
};

/// A name of one source that means something else in another source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnName {
    /// The source.
    pub source: String,
    /// The name as written.
    pub name: Arc<str>,
    /// The name in the program.
    pub unique: Arc<str>,
}

/// The names that have to be replaced in a program whose first file includes these sources.
pub fn own_names(
    map: &mut SourceMap,
    file: FileId,
    options: &Options,
    loader: &dyn Loader,
    sources: &[String],
) -> Vec<OwnName> {
    if sources.len() < 2 {
        return Vec::new();
    }
    stack::whole(|| {
        let preprocessing = syntax::Options {
            defines: options.defines.clone(),
            cuda_arch: options.cuda_arch,
        };
        let tokenized = syntax::tokenize(map, file, &preprocessing, loader);
        let (unit, _) = syntax::parser::parse(&tokenized.tokens, tokenized.end);
        let program = Sources::new(map, sources, &tokenized.tokens);
        let mut found = Found {
            program: &program,
            declared: Vec::new(),
        };
        found.items(&unit.items, false);
        program.own(&found.declared)
    })
}

/// Replaces names of sources by their unique form.
pub(super) fn rename(tokens: &mut [Token], map: &SourceMap, own: &[OwnName]) {
    if own.is_empty() {
        return;
    }
    let names: HashMap<(&str, &str), &Arc<str>> = own
        .iter()
        .map(|one| ((&*one.source, &*one.name), &one.unique))
        .collect();
    for token in tokens {
        let (TokenKind::Ident(name) | TokenKind::TypeName(name)) = &mut token.kind else {
            continue;
        };
        let source = &map.file(map.use_site(token.span).file).name;
        if let Some(&unique) = names.get(&(&**source, &**name)) {
            *name = unique.clone();
        }
    }
}

/// Which sources mean a declaration by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// All sources.
    All,
    /// Only its source; declarations with the same text count as one.
    Alike,
    /// Only its source: it has separate memory.
    Own,
}

/// A name that a source declares.
struct Declared {
    source: usize,
    name: Arc<str>,
    sight: Sight,
    /// Where its declaration begins.
    start: u32,
}

/// The sources of a program and their tokens.
struct Sources<'a> {
    names: &'a [String],
    of_file: HashMap<FileId, usize>,
    map: &'a SourceMap,
    /// By source: its tokens, each with its offset.
    tokens: Vec<Vec<(u32, &'a Token)>>,
    /// The names in the program's headers.
    in_headers: HashSet<&'a str>,
}

fn name_of(token: &Token) -> Option<&Arc<str>> {
    match &token.kind {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => Some(name),
        _ => None,
    }
}

impl<'a> Sources<'a> {
    fn new(map: &'a SourceMap, names: &'a [String], tokens: &'a [Token]) -> Sources<'a> {
        let number = |name: &String| names.iter().position(|source| source == name);
        let files = map.files();
        let of_file = files.filter_map(|(id, file)| Some((id, number(&file.name)?)));
        let mut program = Sources {
            names,
            of_file: of_file.collect(),
            map,
            tokens: vec![Vec::new(); names.len()],
            in_headers: HashSet::new(),
        };
        for token in tokens {
            let place = map.use_site(token.span);
            match program.of_file.get(&place.file) {
                Some(&source) => program.tokens[source].push((place.start, token)),
                None => program
                    .in_headers
                    .extend(name_of(token).map(|name| &**name)),
            }
        }
        program
    }

    fn own(&self, declared: &[Declared]) -> Vec<OwnName> {
        let mut by_name: HashMap<&str, Vec<&Declared>> = HashMap::new();
        for one in declared {
            by_name.entry(&one.name).or_default().push(one);
        }
        by_name.retain(|_, all| all.iter().any(|one| one.source != all[0].source));
        let starts = self.starts(declared);
        let mut renamed: HashSet<(usize, &str)> = HashSet::new();
        // Equal texts differ if a name in them does, so this repeats until nothing changes.
        loop {
            let before = renamed.len();
            for (name, all) in &by_name {
                let differing = self.differing(all, &starts, &renamed);
                renamed.extend(differing.into_iter().map(|source| (source, *name)));
            }
            if renamed.len() == before {
                break;
            }
        }
        let mut own: Vec<OwnName> = renamed
            .into_iter()
            .filter(|&(source, name)| !self.may_be_member(source, name))
            .map(|(source, name)| OwnName {
                source: self.names[source].clone(),
                name: name.into(),
                unique: format!("{name}__{}", self.suffix(source)).into(),
            })
            .collect();
        own.sort_by(|a, b| (&a.source, &a.name).cmp(&(&b.source, &b.name)));
        own
    }

    /// By source: the offsets of its declarations, in order.
    fn starts(&self, declared: &[Declared]) -> Vec<Vec<u32>> {
        let mut starts = vec![Vec::new(); self.names.len()];
        for one in declared {
            starts[one.source].push(one.start);
        }
        for list in &mut starts {
            list.sort_unstable();
        }
        starts
    }

    /// The sources in which a name has to be replaced.
    fn differing(
        &self,
        all: &[&Declared],
        starts: &[Vec<u32>],
        renamed: &HashSet<(usize, &str)>,
    ) -> Vec<usize> {
        let mut numbers: Vec<usize> = all.iter().map(|one| one.source).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let is_all = |source| {
            all.iter()
                .any(|one| one.source == source && one.sight == Sight::All)
        };
        // One source may keep the name: one whose declaration is visible to all sources, or the first.
        let kept = numbers.iter().copied().find(|&source| is_all(source));
        let first = kept.unwrap_or(numbers[0]);
        let text = |source: usize| -> Vec<&TokenKind> {
            let its = all.iter().filter(|one| one.source == source);
            let tokens = its.flat_map(|one| self.declaration(one, &starts[source]));
            tokens.map(|token| &token.kind).collect()
        };
        let is_other = |source: usize| {
            let mut its = all.iter().filter(|one| one.source == source);
            let has_memory = its.any(|one| one.sight == Sight::Own);
            let tokens = text(source);
            let names_other = tokens.iter().any(|kind| match kind {
                TokenKind::Ident(name) | TokenKind::TypeName(name) => {
                    renamed.contains(&(source, &**name)) || renamed.contains(&(first, &**name))
                }
                _ => false,
            });
            has_memory || kept.is_some() || names_other || tokens != text(first)
        };
        let others = numbers
            .iter()
            .copied()
            .filter(|&source| source != first && !is_all(source));
        others.filter(|&source| is_other(source)).collect()
    }

    /// The tokens of a declaration: up to the beginning of the next one.
    fn declaration(&self, one: &Declared, starts: &[u32]) -> impl Iterator<Item = &'a Token> {
        let tokens = &self.tokens[one.source];
        let end = starts.iter().copied().find(|&start| start > one.start);
        let from = tokens.partition_point(|&(at, _)| at < one.start);
        let to = end.map_or(tokens.len(), |end| {
            tokens.partition_point(|&(at, _)| at < end)
        });
        tokens[from..to.max(from)].iter().map(|&(_, token)| token)
    }

    /// Whether the source uses a member of that name, which may belong to a class in a header.
    fn may_be_member(&self, source: usize, name: &str) -> bool {
        let follows_object = |pair: &[(u32, &Token)]| {
            let is_access = matches!(pair[0].1.kind, TokenKind::Punct(Punct::Dot | Punct::Arrow));
            is_access && name_of(pair[1].1).is_some_and(|member| **member == *name)
        };
        self.in_headers.contains(name) && self.tokens[source].windows(2).any(follows_object)
    }

    /// The suffix of a source's names: its file's name, with a number if several files have the same one.
    fn suffix(&self, source: usize) -> String {
        let stem = |name: &String| {
            let stem = Path::new(name).file_stem().unwrap_or_default();
            let stem = stem.to_string_lossy().into_owned();
            stem.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
        };
        let own = stem(&self.names[source]);
        let before = self.names[..source].iter();
        match before.filter(|name| stem(name) == own).count() {
            0 => own,
            n => format!("{own}_{}", n + 1),
        }
    }
}

/// The declarations of the sources.
struct Found<'p, 'a> {
    program: &'p Sources<'a>,
    declared: Vec<Declared>,
}

impl Found<'_, '_> {
    fn add(&mut self, name: &ast::Name, start: Span, sight: Sight) {
        let map = self.program.map;
        let place = map.use_site(name.span);
        // Members defined outside of their class, operators.
        let is_plain = name.node.chars().all(|c| c.is_alphanumeric() || c == '_');
        if let (Some(&source), true) = (self.program.of_file.get(&place.file), is_plain) {
            self.declared.push(Declared {
                source,
                name: name.node.clone(),
                sight,
                start: map.use_site(start).start,
            });
        }
    }

    fn items(&mut self, items: &[Item], is_hidden: bool) {
        for item in items {
            self.item(item, None, is_hidden);
        }
    }

    /// `template` is where the item's template begins.
    fn item(&mut self, item: &Item, template: Option<Span>, is_hidden: bool) {
        match item {
            Item::Function(function) => {
                let start = template.unwrap_or(function.span);
                let specifiers = &function.specifiers;
                // Kernels keep their names, by which the host's object file refers to them.
                let is_kernel = specifiers.word(SpecifierWord::Global).is_some();
                let is_own = is_hidden
                    || template.is_some()
                    || specifiers.word(SpecifierWord::Static).is_some();
                let sight = match is_own && !is_kernel {
                    true => Sight::Alike,
                    false => Sight::All,
                };
                self.add(&function.name, start, sight);
            }
            Item::Declaration(declaration) => self.declaration(declaration, template, is_hidden),
            Item::Template(inner) => {
                if matches!(inner.kind, ast::TemplateKind::Generic(_)) {
                    self.item(&inner.item, Some(template.unwrap_or(inner.span)), is_hidden);
                }
            }
            Item::Namespace(namespace) => {
                self.items(&namespace.items, is_hidden || namespace.name.is_none());
            }
            Item::Using(_) | Item::StaticAssert(_) | Item::Unsupported { .. } => {}
        }
    }

    fn declaration(
        &mut self,
        declaration: &ast::Declaration,
        template: Option<Span>,
        is_hidden: bool,
    ) {
        let start = template.unwrap_or(declaration.span);
        let specifiers = &declaration.specifiers;
        match &specifiers.ty.node {
            ast::TypeSpecifier::Record(record) if record.args.is_none() => {
                let names = record.name.iter().filter(|_| record.members.is_some());
                names.for_each(|name| self.add(name, start, Sight::Alike));
            }
            ast::TypeSpecifier::Enum(specifier) => {
                let inner = specifier.enumerators.iter().flatten();
                let inner = inner.map(|(name, _)| name);
                let names = specifier.name.iter().chain(inner);
                names.for_each(|name| self.add(name, start, Sight::Alike));
            }
            _ => {}
        }
        let has = |word| specifiers.word(word).is_some();
        for one in &declaration.declarators {
            let Some(name) = &one.declarator.name else {
                continue;
            };
            let is_pointer = one.declarator.parts.iter().any(|part| {
                matches!(
                    part,
                    DeclaratorPart::Pointer {
                        is_const: false,
                        ..
                    }
                )
            });
            let is_const = has(SpecifierWord::Constexpr) || specifiers.is_const && !is_pointer;
            let on_device = has(SpecifierWord::Device) || has(SpecifierWord::Constant);
            let sight = match () {
                () if has(SpecifierWord::Typedef) => Sight::Alike,
                () if has(SpecifierWord::Extern) || one.declarator.is_function() => Sight::All,
                () if is_const && !on_device || template.is_some() => Sight::Alike,
                () if is_const || is_hidden || has(SpecifierWord::Static) => Sight::Own,
                () => Sight::All,
            };
            self.add(name, start, sight);
        }
    }
}
