//! Finds the `<` that open template arguments: they become [`Punct::AngleOpen`], and the `>` that closes each [`Punct::AngleClose`].
//!
//! A `<` opens arguments after `template`, after a name that a `template <…>` declares which is visible there (`scopes`), and after a name
//! if the tokens that follow can only be arguments (`vector<float> v`). It opens none after the name of a variable. `>>` and `>>>` are cut
//! where they close several. This is one pass over the tokens; a program without templates is not copied.

use std::{borrow::Cow, ops::Range, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};

use super::ty::is_specifier;
use crate::{
    library::{TypeName, types_named},
    syntax::{
        classify::hide,
        scopes::{Declared, Owner, Scopes, add, end_of_declaration},
        token::{Keyword, Punct, Token, TokenKind},
    },
};

/// Marks the angle brackets of template arguments.
pub(super) fn mark(tokens: &[Token]) -> Cow<'_, [Token]> {
    let names = Names::new(tokens);
    let mut marker = Marker {
        tokens,
        depth: 0,
        open: Vec::new(),
        found: Vec::new(),
    };
    for (at, token) in tokens.iter().enumerate() {
        let TokenKind::Punct(punct) = token.kind else {
            continue;
        };
        match punct {
            Punct::LParen | Punct::LBracket => marker.depth += 1,
            Punct::RParen | Punct::RBracket => {
                marker.depth = marker.depth.saturating_sub(1);
                marker.forget(marker.depth);
            }
            Punct::Semi | Punct::LBrace | Punct::RBrace => {
                marker.open.clear();
                marker.depth = 0;
            }
            Punct::Lt if opens(tokens, at, names.as_ref()) => marker.open.push((at, marker.depth)),
            Punct::Gt => marker.close(at, 1),
            Punct::Shr => marker.close(at, 2),
            Punct::LaunchClose => marker.close(at, 3),
            _ => {}
        }
    }
    let mut found = marker.found;
    if found.is_empty() {
        return Cow::Borrowed(tokens);
    }
    found.sort_unstable();
    let mut out = Vec::with_capacity(tokens.len() + found.len());
    let mut found = found.into_iter().peekable();
    for (at, token) in tokens.iter().enumerate() {
        match found.next_if(|&(place, _)| place == at) {
            None => out.push(token.clone()),
            Some((_, 0)) => out.push(with(token, Punct::AngleOpen, 0, 1)),
            Some((_, n)) => cut(token, n, &mut out),
        }
    }
    Cow::Owned(out)
}

struct Marker<'t> {
    tokens: &'t [Token],
    /// The number of parentheses and brackets that are open in this statement.
    depth: u32,
    /// Each `<` that may open arguments, and its depth in parentheses.
    open: Vec<(usize, u32)>,
    /// Indices of tokens: with 0 for one that opens arguments, else with the number of arguments that it closes.
    found: Vec<(usize, u8)>,
}

impl Marker<'_> {
    /// Drops each `<` opened deeper than `depth`: it did not open arguments.
    fn forget(&mut self, depth: u32) {
        while self.open.pop_if(|(_, at)| *at > depth).is_some() {}
    }

    /// A token of `n` times `>`.
    fn close(&mut self, at: usize, n: u8) {
        let mut closed = 0;
        while closed < n
            && let Some((opener, _)) = self.open.pop_if(|(_, depth)| *depth == self.depth)
        {
            self.found.push((opener, 0));
            closed += 1;
        }
        debug_assert!(at < self.tokens.len());
        if closed > 0 {
            self.found.push((at, closed));
        }
    }
}

/// A piece of `token`, its characters `from..to`, with another meaning.
fn with(token: &Token, punct: Punct, from: u32, to: u32) -> Token {
    let mut span = token.span;
    if span.end - span.start >= to {
        span.end = span.start + to;
        span.start += from;
    }
    Token {
        kind: TokenKind::Punct(punct),
        span,
    }
}

/// `>>` of which the first `n` close arguments.
fn cut(token: &Token, n: u8, out: &mut Vec<Token>) {
    let n = u32::from(n);
    for i in 0..n {
        out.push(with(token, Punct::AngleClose, i, i + 1));
    }
    let whole = match token.kind {
        TokenKind::Punct(Punct::LaunchClose) => 3,
        TokenKind::Punct(Punct::Shr) => 2,
        _ => 1,
    };
    match whole - n {
        1 => out.push(with(token, Punct::Gt, n, n + 1)),
        2 => out.push(with(token, Punct::Shr, n, n + 2)),
        _ => {}
    }
}

fn punct(tokens: &[Token], at: usize) -> Option<Punct> {
    match tokens.get(at)?.kind {
        TokenKind::Punct(punct) => Some(punct),
        _ => None,
    }
}

fn name(tokens: &[Token], at: usize) -> Option<&Arc<str>> {
    match &tokens.get(at)?.kind {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => Some(name),
        _ => None,
    }
}

fn keyword(tokens: &[Token], at: usize) -> Option<Keyword> {
    match tokens.get(at)?.kind {
        TokenKind::Keyword(keyword) => Some(keyword),
        _ => None,
    }
}

/// Whether the `<` at `at` opens template arguments.
fn opens(tokens: &[Token], at: usize, names: Option<&Names>) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return false;
    };
    if keyword(tokens, before) == Some(Keyword::Template) {
        return true;
    }
    // `s.template f<N>()`.
    if before > 0 && keyword(tokens, before - 1) == Some(Keyword::Template) {
        return true;
    }
    let Some(name) = name(tokens, before) else {
        return false;
    };
    // No arguments: `kernel<>`.
    if punct(tokens, at + 1) == Some(Punct::Gt) {
        return true;
    }
    // A member may have the name of a template without being one.
    let is_member =
        before > 0 && matches!(punct(tokens, before - 1), Some(Punct::Dot | Punct::Arrow));
    // The templates of C++'s library, whose arguments may be any expressions.
    let is_library = before > 0
        && punct(tokens, before - 1) == Some(Punct::ColonColon)
        && (types_named(name).contains(&TypeName::StdTrait)
            || matches!(
                &**name,
                "numeric_limits"
                    | "unique_ptr"
                    | "shared_ptr"
                    | "make_unique"
                    | "make_shared"
                    | "function"
                    | "tuple"
                    | "map"
                    | "unordered_map"
            ));
    // A class in a library's namespace is not a variable.
    let is_class = |space: &Arc<str>| {
        let of_space = |why: &TypeName| matches!(why, TypeName::Class(of) if **of == **space);
        types_named(name).iter().any(of_space)
    };
    let space = before.checked_sub(2).and_then(|at| self::name(tokens, at));
    let is_library = is_library
        || (punct(tokens, before.wrapping_sub(1)) == Some(Punct::ColonColon)
            && space.is_some_and(is_class));
    // Cooperative groups, which programs also name without the namespace.
    let is_group = matches!(&**name, "thread_block_tile" | "tiled_partition");
    if is_library || is_group {
        return true;
    }
    let Some(names) = names else {
        return reads_as_arguments(tokens, at, is_member);
    };
    let is_qualified = before > 0 && punct(tokens, before - 1) == Some(Punct::ColonColon);
    let seems = (!is_member && names.is_template(tokens, before, name))
        || reads_as_arguments(tokens, at, is_member && !names.is_member_template(name));
    seems && (is_member || is_qualified || !names.is_variable(name, before))
}

/// How many tokens of arguments are read after a name that no template declares.
const LONGEST_ARGUMENTS: usize = 64;

/// Whether there are only types, names and numbers up to a `>`, and a token follows that cannot follow a comparison. If only types will do,
/// one of them has to be a type.
fn reads_as_arguments(tokens: &[Token], at: usize, only_types: bool) -> bool {
    let mut depth = 1usize;
    let mut next = at + 1;
    let mut has_type = false;
    while depth > 0 {
        if next > at + LONGEST_ARGUMENTS {
            return false;
        }
        let Some(token) = tokens.get(next) else {
            return false;
        };
        match &token.kind {
            TokenKind::Punct(Punct::Lt) => depth += 1,
            TokenKind::Punct(Punct::Gt) => depth -= 1,
            TokenKind::Punct(Punct::Shr) if depth >= 2 => depth -= 2,
            TokenKind::Punct(Punct::LaunchClose) if depth >= 3 => depth -= 3,
            // It closes outer arguments, too.
            TokenKind::Punct(Punct::Shr | Punct::LaunchClose) if has_type => return true,
            TokenKind::Punct(
                Punct::Comma
                | Punct::Star
                | Punct::Amp
                | Punct::ColonColon
                | Punct::Plus
                | Punct::Minus,
            ) => {}
            // `unique_ptr<float[]>`.
            TokenKind::Punct(Punct::LBracket | Punct::RBracket) if has_type => {}
            TokenKind::Keyword(keyword) if is_specifier(*keyword) => has_type = true,
            TokenKind::Keyword(Keyword::True | Keyword::False) => {}
            TokenKind::TypeName(_) => has_type = true,
            TokenKind::Ident(_) | TokenKind::Int { .. } => {}
            _ => return false,
        }
        next += 1;
    }
    has_type
        || !only_types
            && matches!(
                punct(tokens, next),
                Some(Punct::LParen | Punct::LaunchOpen | Punct::ColonColon)
            )
}

/// The largest number of variables that are looked at, so that the pass stays linear.
const MAX_VARIABLES: usize = 1024;

/// What a program declares under the names that precede a `<`.
struct Names {
    scopes: Scopes,
    templates: Declared,
    /// Where a name is that of a variable, a parameter or an enumerator.
    variables: FxHashMap<Arc<str>, Vec<Hidden>>,
}

/// A declaration of a variable, and where its name means it.
struct Hidden {
    at: usize,
    ranges: Vec<Range<usize>>,
}

impl Names {
    /// `None` if nothing in the text may be a template of the program.
    fn new(tokens: &[Token]) -> Option<Names> {
        let is_head = |&at: &usize| {
            keyword(tokens, at) == Some(Keyword::Template)
                && punct(tokens, at + 1) == Some(Punct::Lt)
        };
        let heads: Vec<usize> = (0..tokens.len()).filter(is_head).collect();
        let place_of = |&at: &usize| Some((at, declared(tokens, after_head(tokens, at + 1))?));
        let declared: Vec<(usize, usize)> = heads.iter().filter_map(place_of).collect();
        let names = declared
            .iter()
            .filter_map(|&(_, place)| name(tokens, place));
        let names: FxHashSet<&Arc<str>> = names.collect();
        let mut doubtful: FxHashSet<&Arc<str>> = FxHashSet::default();
        for at in 1..tokens.len() {
            if punct(tokens, at) == Some(Punct::Lt)
                && let TokenKind::Ident(name) = &tokens[at - 1].kind
                && (names.contains(name) || reads_as_arguments(tokens, at, false))
            {
                doubtful.insert(name);
            }
        }
        if names.is_empty() && doubtful.is_empty() {
            return None;
        }
        let scopes = Scopes::new(tokens);
        let mut templates = Declared::default();
        for &(at, place) in &declared {
            let Some(name) = name(tokens, place) else {
                continue;
            };
            let owners = match at.checked_sub(1).and_then(|at| punct(tokens, at)) {
                // The parameter of a template.
                Some(Punct::Lt | Punct::Comma) => {
                    vec![Owner::Block(at..end_of_declaration(tokens, at))]
                }
                _ => scopes.owners(at),
            };
            add(templates.entry(name.clone()).or_default(), owners);
        }
        scopes.bring(&mut templates);
        // A template's own name hides nothing.
        let own: FxHashSet<usize> = declared.iter().map(|&(_, place)| place).collect();
        let mut variables: FxHashMap<Arc<str>, Vec<Hidden>> = FxHashMap::default();
        let mut n_variables = 0;
        for at in 1..tokens.len() {
            if n_variables < MAX_VARIABLES
                && let TokenKind::Ident(name) = &tokens[at].kind
                && doubtful.contains(name)
                && !own.contains(&at)
            {
                let ranges = hide::ranges(tokens, &scopes, at, hide::By::Values);
                if !ranges.is_empty() {
                    n_variables += 1;
                    let known = variables.entry(name.clone()).or_default();
                    known.push(Hidden { at, ranges });
                }
            }
        }
        Some(Names {
            scopes,
            templates,
            variables,
        })
    }

    /// Whether the name at `at` is that of a variable, and no template is declared nearer.
    fn is_variable(&self, name: &Arc<str>, at: usize) -> bool {
        let owners = self.templates.get(name).map_or(&[][..], |owners| owners);
        let variables = self.variables.get(name).into_iter().flatten();
        variables.into_iter().any(|hidden| {
            hidden.ranges.iter().any(|range| range.contains(&at))
                && !self.scopes.is_nearer(owners, at, hidden.at)
        })
    }

    fn is_member_template(&self, name: &Arc<str>) -> bool {
        let owners = self.templates.get(name);
        owners.is_some_and(|owners| self.scopes.is_member(owners))
    }

    fn is_template(&self, tokens: &[Token], at: usize, name: &Arc<str>) -> bool {
        let owners = self.templates.get(name);
        owners.is_some_and(|owners| self.scopes.is_visible(tokens, at, owners))
    }
}

/// How many tokens of a template's parameters are read.
const LONGEST_HEAD: usize = 512;

/// The index after the template parameters that open at `at`.
fn after_head(tokens: &[Token], at: usize) -> usize {
    let (mut angle, mut round) = (0i32, 0i32);
    let end = tokens.len().min(at + LONGEST_HEAD);
    for next in at..end {
        match punct(tokens, next) {
            Some(Punct::LParen) => round += 1,
            Some(Punct::RParen) => round -= 1,
            Some(Punct::Lt) if round == 0 => angle += 1,
            Some(Punct::Gt) if round == 0 => angle -= 1,
            Some(Punct::Shr) if round == 0 => angle -= 2,
            Some(Punct::LaunchClose) if round == 0 => angle -= 3,
            Some(Punct::Semi | Punct::LBrace | Punct::RBrace) => return next,
            _ => {}
        }
        if angle <= 0 {
            return next + 1;
        }
    }
    end
}

/// Where the item at `at` has the name that it declares: that of a class, of an alias, of a function before its parameters, of a variable.
fn declared(tokens: &[Token], mut at: usize) -> Option<usize> {
    const LONGEST_DECLARATION: usize = 256;
    let end = at + LONGEST_DECLARATION;
    while at < end {
        match &tokens.get(at)?.kind {
            TokenKind::Keyword(Keyword::Struct | Keyword::Class | Keyword::Union) => {
                let mut next = at + 1;
                if keyword(tokens, next) == Some(Keyword::Align) {
                    next = after_parentheses(tokens, next + 1);
                }
                return name(tokens, next).map(|_| next);
            }
            TokenKind::Keyword(Keyword::Using) => return name(tokens, at + 1).map(|_| at + 1),
            TokenKind::Keyword(Keyword::Template) if punct(tokens, at + 1) == Some(Punct::Lt) => {
                at = after_head(tokens, at + 1);
                continue;
            }
            TokenKind::Keyword(Keyword::LaunchBounds | Keyword::Align | Keyword::Decltype) => {
                at = after_parentheses(tokens, at + 1);
                continue;
            }
            TokenKind::Ident(_) | TokenKind::TypeName(_) => match punct(tokens, at + 1) {
                Some(Punct::LParen | Punct::Eq | Punct::Semi | Punct::LBrace | Punct::LBracket) => {
                    return Some(at);
                }
                // `Foo<T> f(…)`, and `f<float>(…)` of a specialisation.
                Some(Punct::Lt) => {
                    let next = after_head(tokens, at + 1);
                    if punct(tokens, next) == Some(Punct::LParen) {
                        return Some(at);
                    }
                    at = next;
                    continue;
                }
                _ => {}
            },
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace) => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

fn after_parentheses(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0usize;
    let mut next = at;
    while next < tokens.len().min(at + LONGEST_HEAD) {
        match punct(tokens, next) {
            Some(Punct::LParen) => depth += 1,
            Some(Punct::RParen) => depth = depth.saturating_sub(1),
            Some(Punct::Semi | Punct::LBrace | Punct::RBrace) => return next,
            _ => {}
        }
        next += 1;
        if depth == 0 {
            return next;
        }
    }
    next
}
