//! The scopes of a program, found from its tokens: where a name of a namespace or class is visible without a prefix.
//!
//! `classify` and `parser/angles` have to know, before anything is parsed, whether a name is a type or a template at one place. A name that
//! a namespace or class declares is visible in every body of that scope, in classes derived from it, in definitions of its members
//! outside, and where a using-directive or using-declaration brings it. In doubt a scope is taken for larger than it is.

use std::{ops::Range, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};

use super::token::{Keyword, Punct, Token, TokenKind};

mod head;

use head::{LONGEST_HEAD, declared_outside, head};
pub(super) use head::{end_of_declaration, ident, punct};

/// What a pair of braces encloses.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    /// The body of a namespace; the names of `namespace a::b`. Empty if it has no name.
    Namespace(Vec<Arc<str>>),
    /// `inline namespace`, whose names are those of the scope around it, too.
    Inline(Arc<str>),
    /// The body of a class, with the names in its list of bases. Without a name it is part of what is around it.
    Class(Option<Arc<str>>, Vec<Arc<str>>),
    /// The enumerators of an enumeration; whether they need its name as a prefix.
    Enum(Option<Arc<str>>, bool),
    /// `extern "C"`.
    Linkage,
    /// A function's body, a statement or an initialiser.
    Block,
}

/// A pair of braces, or the whole program.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// From the opening brace to the closing one.
    pub(super) tokens: Range<usize>,
    around: usize,
}

/// Where a declared name is visible without a prefix.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Owner {
    /// In the whole program.
    Program,
    /// Where the names of this namespace or class are.
    Scope(Arc<str>),
    /// Between these tokens.
    Block(Range<usize>),
}

/// Names and where each is declared.
pub(super) type Declared = FxHashMap<Arc<str>, Vec<Owner>>;

/// `using a::name;`
#[derive(Clone, Debug)]
struct Using {
    prefix: Arc<str>,
    name: Arc<str>,
    at: usize,
}

/// Parts of a text, in order and apart, by name.
type Ranges = FxHashMap<Arc<str>, Vec<Range<usize>>>;

/// The scopes of a text.
pub(super) struct Scopes {
    /// The first is the whole text.
    parts: Vec<Part>,
    /// By token, the innermost part that it is in. A brace is in its own part.
    inner: Vec<u32>,
    /// By name of a namespace or class, where its names are visible.
    visible: Ranges,
    /// The same without using-directives.
    inside: Ranges,
    /// By name of a class, its bases; by name of a namespace, those that it uses.
    bases: FxHashMap<Arc<str>, Vec<Arc<str>>>,
    /// The using-declarations.
    usings: Vec<Using>,
    /// `using namespace name;`, and where.
    directives: Vec<(Arc<str>, usize)>,
    /// `namespace name = other;`
    aliases: FxHashMap<Arc<str>, Arc<str>>,
    enums: FxHashSet<Arc<str>>,
    classes: FxHashSet<Arc<str>>,
}

impl Scopes {
    pub(super) fn new(tokens: &[Token]) -> Scopes {
        let mut scopes = Scopes {
            parts: vec![Part {
                kind: Kind::Linkage,
                tokens: 0..tokens.len(),
                around: 0,
            }],
            inner: Vec::with_capacity(tokens.len()),
            visible: Ranges::default(),
            inside: Ranges::default(),
            bases: FxHashMap::default(),
            usings: Vec::new(),
            directives: Vec::new(),
            aliases: FxHashMap::default(),
            enums: FxHashSet::default(),
            classes: FxHashSet::default(),
        };
        scopes.find(tokens);
        scopes.resolve(tokens);
        scopes
    }

    /// Finds the parts.
    fn find(&mut self, tokens: &[Token]) {
        // By opening brace, what it opens.
        let mut heads: FxHashMap<usize, Kind> = FxHashMap::default();
        let mut open = 0;
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Keyword(word) => {
                    if let Some((brace, kind)) = head(tokens, at, word) {
                        heads.entry(brace).or_insert(kind);
                    }
                    if matches!(word, Keyword::Using | Keyword::Namespace) {
                        self.using(tokens, at, word);
                    }
                }
                TokenKind::Punct(Punct::LBrace) => {
                    self.parts.push(Part {
                        kind: heads.remove(&at).unwrap_or(Kind::Block),
                        tokens: at..tokens.len(),
                        around: open,
                    });
                    open = self.parts.len() - 1;
                }
                _ => {}
            }
            self.inner.push(u32::try_from(open).unwrap_or(u32::MAX));
            if token.kind == TokenKind::Punct(Punct::RBrace) && open > 0 {
                self.parts[open].tokens.end = at + 1;
                open = self.parts[open].around;
            }
        }
    }

    /// `using namespace a::b;`, `using a::name;`, `using typename B<T>::name;`, `namespace x = a::b;`.
    fn using(&mut self, tokens: &[Token], at: usize, word: Keyword) {
        let rest = tokens[at + 1..].iter().take(LONGEST_HEAD);
        let end = rest.take_while(|token| token.kind != TokenKind::Punct(Punct::Semi));
        let names: Vec<_> = end.filter_map(|token| ident(Some(token))).collect();
        let is_alias = punct(tokens.get(at + 2)) == Some(Punct::Eq);
        let is_directive = tokens.get(at + 1).map(|token| &token.kind)
            == Some(&TokenKind::Keyword(Keyword::Namespace));
        match (&names[..], word) {
            ([name, .., other], Keyword::Namespace) if is_alias => {
                self.aliases.insert(Arc::clone(name), Arc::clone(other));
            }
            (_, Keyword::Namespace) => {}
            ([.., name], _) if is_directive => self.directives.push((Arc::clone(name), at)),
            ([.., prefix, name], _) if !is_alias => self.usings.push(Using {
                prefix: Arc::clone(prefix),
                name: Arc::clone(name),
                at,
            }),
            _ => {}
        }
    }

    /// Finds where the names of each scope are visible.
    fn resolve(&mut self, tokens: &[Token]) {
        let mut own = Ranges::default();
        let mut derived: FxHashMap<Arc<str>, Vec<Arc<str>>> = FxHashMap::default();
        for part in &self.parts {
            let names = match &part.kind {
                Kind::Namespace(names) => &names[..],
                Kind::Inline(name) => std::slice::from_ref(name),
                Kind::Class(Some(name), bases) => {
                    for base in bases {
                        derived.entry(base.clone()).or_default().push(name.clone());
                    }
                    let known = self.bases.entry(name.clone()).or_default();
                    let room = MAX_CLASSES.saturating_sub(known.len());
                    known.extend(bases.iter().take(room).cloned());
                    self.classes.insert(name.clone());
                    std::slice::from_ref(name)
                }
                Kind::Enum(Some(name), _) => {
                    self.enums.insert(name.clone());
                    &[]
                }
                Kind::Class(None, _) | Kind::Enum(None, _) | Kind::Linkage | Kind::Block => &[],
            };
            for name in names {
                let all = own.entry(name.clone()).or_default();
                all.push(part.tokens.clone());
            }
        }
        // The end of the declaration that was searched last: a name inside it belongs to it.
        let mut end = 0;
        for at in 0..tokens.len().saturating_sub(1) {
            if punct(tokens.get(at + 1)) == Some(Punct::ColonColon)
                && let Some(name) = ident(tokens.get(at))
                && self.part(at).kind != Kind::Block
                && let Some(ranges) = own.get_mut(name)
                && let Some(after) = declared_outside(tokens, at)
            {
                if after >= end {
                    end = end_of_declaration(tokens, after);
                }
                ranges.push(after..end);
            }
        }
        self.inside = with_derived(&own, &derived, tokens.len());
        let mut bases = vec![];
        for (name, at) in &self.directives {
            let name = self.aliased(name);
            for owner in self.owners(*at) {
                match owner {
                    Owner::Program => own.entry(name.clone()).or_default().push(0..tokens.len()),
                    Owner::Block(range) => own.entry(name.clone()).or_default().push(range),
                    Owner::Scope(by) => {
                        bases.push((by.clone(), name.clone()));
                        derived.entry(name.clone()).or_default().push(by);
                    }
                }
            }
        }
        for (by, base) in bases {
            let known = self.bases.entry(by).or_default();
            if known.len() < MAX_CLASSES && !known.contains(&base) {
                known.push(base);
            }
        }
        self.visible = with_derived(&own, &derived, tokens.len());
    }

    /// The innermost part that a token is in.
    pub(super) fn part(&self, at: usize) -> &Part {
        self.inner
            .get(at)
            .map_or(&self.parts[0], |&part| &self.parts[part as usize])
    }

    /// The part around one.
    pub(super) fn around(&self, part: &Part) -> &Part {
        &self.parts[part.around]
    }

    /// The namespace that an alias means.
    fn aliased<'n>(&'n self, name: &'n Arc<str>) -> &'n Arc<str> {
        self.aliases.get(name).unwrap_or(name)
    }

    /// Where a name is visible that is declared at `at`.
    pub(super) fn owners(&self, at: usize) -> Vec<Owner> {
        let mut owners = Vec::new();
        let mut part = self.part(at);
        loop {
            match &part.kind {
                Kind::Namespace(names) if !names.is_empty() => {
                    owners.extend(names.last().map(|name| Owner::Scope(name.clone())));
                    return owners;
                }
                Kind::Class(Some(name), _) => {
                    owners.push(Owner::Scope(name.clone()));
                    return owners;
                }
                Kind::Block => {
                    owners.push(Owner::Block(at..part.tokens.end));
                    return owners;
                }
                Kind::Inline(name) => owners.push(Owner::Scope(name.clone())),
                _ => {}
            }
            if std::ptr::eq(part, &self.parts[0]) {
                owners.push(Owner::Program);
                return owners;
            }
            part = self.around(part);
        }
    }

    /// Adds what using-declarations declare again elsewhere.
    pub(super) fn bring(&self, names: &mut Declared) {
        for using in &self.usings {
            let Some(owners) = names.get_mut(&using.name) else {
                continue;
            };
            if self.may_lead_to(&using.prefix, owners) {
                add(owners, self.owners(using.at));
            }
        }
    }

    /// Whether a name of these owners is visible at `at`, where a prefix may precede it.
    pub(super) fn is_visible(&self, tokens: &[Token], at: usize, owners: &[Owner]) -> bool {
        if at == 0 || punct(tokens.get(at - 1)) != Some(Punct::ColonColon) {
            return owners.iter().any(|owner| match owner {
                Owner::Program => true,
                Owner::Scope(scope) => is_open(&self.visible, scope, at),
                Owner::Block(range) => range.contains(&at),
            });
        }
        match at.checked_sub(2).map(|at| &tokens[at].kind) {
            Some(TokenKind::Ident(prefix) | TokenKind::TypeName(prefix)) => {
                self.may_lead_to(prefix, owners)
            }
            Some(TokenKind::Punct(Punct::Gt | Punct::Shr | Punct::AngleClose)) => true,
            _ => owners.contains(&Owner::Program),
        }
    }

    /// Whether a class is among these owners.
    pub(super) fn is_member(&self, owners: &[Owner]) -> bool {
        let is_class =
            |owner: &Owner| matches!(owner, Owner::Scope(name) if self.classes.contains(name));
        owners.iter().any(is_class)
    }

    /// Whether a type of these owners is nearer to `at` than what is declared at `other`.
    pub(super) fn is_nearer(&self, owners: &[Owner], at: usize, other: usize) -> bool {
        owners.iter().any(|owner| match owner {
            Owner::Program => false,
            Owner::Scope(scope) => {
                is_open(&self.inside, scope, at) && !is_open(&self.inside, scope, other)
            }
            Owner::Block(range) => range.contains(&at) && !range.contains(&other),
        })
    }

    /// Whether `prefix::` may lead to a name of these owners: not if it is an enumeration, or a scope all of whose bases are known and
    /// that does not have it.
    fn may_lead_to(&self, prefix: &Arc<str>, owners: &[Owner]) -> bool {
        let prefix = self.aliased(prefix);
        if self.enums.contains(prefix) && !self.inside.contains_key(prefix) {
            return false;
        }
        let mut seen = FxHashSet::default();
        let mut left = vec![prefix];
        while let Some(scope) = left.pop() {
            let is_own = |owner: &Owner| matches!(owner, Owner::Scope(own) if own == scope);
            let is_known = self.inside.contains_key(scope) && seen.len() < MAX_CLASSES;
            if !is_known || owners.iter().any(is_own) {
                return true;
            }
            if seen.insert(scope) {
                let bases = self.bases.get(scope).map_or(&[][..], |bases| bases);
                // There may be more of them.
                if bases.len() == MAX_CLASSES {
                    return true;
                }
                left.extend(bases);
            }
        }
        false
    }

    /// Where a member is visible that the class around `at` declares there: in blocks of the class before, in derived classes, and in
    /// definitions outside. `None` if no class is directly around it, apart from anonymous ones.
    pub(super) fn of_member(&self, at: usize) -> Option<Vec<Range<usize>>> {
        let mut part = self.part(at);
        while let Kind::Class(None, _) = part.kind {
            part = self.around(part);
        }
        let Kind::Class(name, _) = &part.kind else {
            return None;
        };
        let start = part.tokens.start;
        let first = self
            .parts
            .partition_point(|inner| inner.tokens.start <= start);
        let before = self.parts[first..].iter();
        let before = before.take_while(|inner| inner.tokens.start < at);
        let blocks = before.filter(|inner| inner.kind == Kind::Block && inner.tokens.end <= at);
        let outside = name.as_ref().and_then(|name| self.inside.get(name));
        let outside = outside.into_iter().flatten();
        let outside = outside.filter(|range| !range.contains(&at));
        let blocks = blocks.map(|inner| inner.tokens.clone());
        Some(blocks.chain(outside.cloned()).collect())
    }
}

/// The largest number of classes that are followed from a base or to one; beyond, a name may be anywhere.
const MAX_CLASSES: usize = 256;

/// The largest number of places where one name is declared; with more, it is visible everywhere.
const MAX_OWNERS: usize = 64;

/// The largest number of ranges of all scopes, for each token of the text; beyond, a scope's names are visible everywhere.
const MAX_RANGES_PER_TOKEN: usize = 4;

/// Adds places where a name is declared.
pub(super) fn add(known: &mut Vec<Owner>, more: Vec<Owner>) {
    for owner in more {
        if known.len() < MAX_OWNERS && !known.contains(&owner) {
            known.push(owner);
        }
    }
    if known.len() == MAX_OWNERS {
        known[0] = Owner::Program;
    }
}

/// Whether the ranges of the scope have `at`.
fn is_open(ranges: &Ranges, scope: &Arc<str>, at: usize) -> bool {
    let ranges = ranges.get(scope).map_or(&[][..], |ranges| ranges);
    let after = ranges.partition_point(|range| range.start <= at);
    after > 0 && ranges[after - 1].contains(&at)
}

/// Adds to the ranges of each scope those of the classes derived from it, and of the namespaces that use it.
fn with_derived(
    own: &Ranges,
    derived: &FxHashMap<Arc<str>, Vec<Arc<str>>>,
    n_tokens: usize,
) -> Ranges {
    let mut room = n_tokens * MAX_RANGES_PER_TOKEN;
    let mut all = Ranges::default();
    for name in own.keys() {
        let ranges = ranges_of(name, own, derived, room);
        room = room.saturating_sub(ranges.as_ref().map_or(0, Vec::len));
        let ranges = ranges.unwrap_or_else(|| std::iter::once(0..n_tokens).collect());
        all.insert(name.clone(), ranges);
    }
    all
}

/// `None` if there are too many.
fn ranges_of(
    name: &Arc<str>,
    own: &Ranges,
    derived: &FxHashMap<Arc<str>, Vec<Arc<str>>>,
    room: usize,
) -> Option<Vec<Range<usize>>> {
    let mut seen = FxHashSet::default();
    let mut left = vec![name];
    let mut ranges = vec![];
    while let Some(scope) = left.pop() {
        if seen.insert(scope) {
            let own = own.get(scope).map_or(&[][..], |ranges| ranges);
            let derived = derived.get(scope).map_or(&[][..], |classes| classes);
            let is_too_much = seen.len() + derived.len() > MAX_CLASSES;
            if is_too_much || ranges.len() + own.len() > room {
                return None;
            }
            ranges.extend_from_slice(own);
            left.extend(derived);
        }
    }
    ranges.sort_unstable_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    Some(apart)
}
