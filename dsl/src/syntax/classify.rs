//! Finds the names that are types: C's grammar needs to know them before it can tell `(a) * b` from a cast.
//!
//! One pass over all tokens collects the names that the program declares as types (typedefs, tags, `using`), a second marks their uses
//! where the declaration is visible (`scopes`). A template's type parameters count only inside the template, and a type that is declared in
//! a function only up to the end of its block. A variable, parameter or enumerator of the same name hides a type (`hide`).

use rustc_hash::FxHashSet;
use std::sync::Arc;

use super::{
    scopes::{Declared, Kind, Scopes, add, end_of_declaration, ident, punct},
    token::{Keyword, Punct, Token, TokenKind},
};
use crate::library::{TypeName, types_named};

pub(super) mod hide;

/// The namespace of cooperative groups, for which programs often declare a short alias.
const GROUPS: &str = "cooperative_groups";

/// Turns the names of types from [`TokenKind::Ident`] into [`TokenKind::TypeName`]. `half` is only a type if the program includes its
/// header, or uses other names of it: many programs call the middle of something `half`.
pub(crate) fn classify(tokens: &mut [Token], includes_half: bool) {
    let includes_half = includes_half || means_half(tokens);
    let scopes = Scopes::new(tokens);
    let mut found = Found {
        scopes: &scopes,
        names: Declared::default(),
        mentioned: FxHashSet::default(),
        scoped: Vec::new(),
    };
    for at in 0..tokens.len() {
        let TokenKind::Keyword(word) = tokens[at].kind else {
            continue;
        };
        match word {
            Keyword::Typedef => found.typedef(&tokens[at + 1..], at),
            Keyword::Struct | Keyword::Union | Keyword::Enum | Keyword::Class => {
                found.tag(tokens, at)
            }
            Keyword::Using => found.using(&tokens[at + 1..], at),
            Keyword::Template => found.template(tokens, at),
            _ => {}
        }
    }
    let Found {
        mut names,
        mentioned,
        scoped,
        ..
    } = found;
    scopes.bring(&mut names);
    for at in 0..tokens.len() {
        let TokenKind::Ident(name) = &tokens[at].kind else {
            continue;
        };
        let is_type = match names.get(name) {
            Some(owners) => scopes.is_visible(tokens, at, owners),
            None => mentioned.contains(name),
        };
        mark(&mut tokens[at], |name| {
            is_type || is_builtin(name) || (includes_half && is_half(name))
        });
    }
    if mentions_groups(tokens) {
        for at in 0..tokens.len() {
            // `cg::plus<int>`, or `plus<int>` after `using namespace`.
            let after = tokens.get(at + 2).map(|token| &token.kind);
            let has_type = punct(tokens.get(at + 1)) == Some(Punct::Lt)
                && matches!(after, Some(TokenKind::Keyword(_) | TokenKind::TypeName(_)));
            let qualified = at > 0 && punct(tokens.get(at - 1)) == Some(Punct::ColonColon);
            mark(&mut tokens[at], |name| {
                types_named(name).iter().any(|why| match why {
                    TypeName::Class(GROUPS) => true,
                    TypeName::Operation(GROUPS) => qualified || has_type,
                    _ => false,
                })
            });
        }
    }
    for at in 2..tokens.len() {
        let space = match punct(tokens.get(at - 1)) {
            Some(Punct::ColonColon) => ident(tokens.get(at - 2)).cloned(),
            _ => None,
        };
        if let Some(space) = space {
            let of_space = |why: &TypeName| matches!(why, TypeName::Class(of) if **of == *space);
            mark(&mut tokens[at], |name| {
                types_named(name).iter().any(of_space)
            });
        }
    }
    mark_standard(tokens);
    for (name, start, end) in scoped {
        for token in &mut tokens[start..end] {
            mark(token, |other| *other == *name);
        }
    }
    hide::hide(tokens, &scopes, &names);
}

/// Marks the types of C++'s library: after `std::`, or anywhere after `using namespace std`.
fn mark_standard(tokens: &mut [Token]) {
    let is = |token: Option<&Token>, text: &str| ident(token).is_some_and(|name| &**name == text);
    let uses = |keyword: usize, tokens: &[Token]| {
        matches!(tokens[keyword].kind, TokenKind::Keyword(Keyword::Using))
            && is(tokens.get(keyword + 2), "std")
            && punct(tokens.get(keyword + 3)) == Some(Punct::Semi)
    };
    let uses_std = (0..tokens.len()).any(|at| uses(at, tokens));
    // `using std::vector;`
    let mut used: FxHashSet<Arc<str>> = FxHashSet::default();
    for at in 0..tokens.len() {
        if matches!(tokens[at].kind, TokenKind::Keyword(Keyword::Using))
            && is(tokens.get(at + 1), "std")
            && let Some(name) = ident(tokens.get(at + 3))
        {
            used.insert(name.clone());
        }
    }
    for at in 0..tokens.len() {
        let before = (at > 0).then(|| punct(tokens.get(at - 1))).flatten();
        let qualified = before == Some(Punct::ColonColon);
        let of_std = qualified && at > 1 && is(tokens.get(at - 2), "std");
        let of_chrono = qualified && at > 1 && is(tokens.get(at - 2), "chrono");
        let member = matches!(before, Some(Punct::Dot | Punct::Arrow));
        let has_args = punct(tokens.get(at + 1)) == Some(Punct::Lt);
        mark(&mut tokens[at], |name| {
            types_named(name).iter().any(|why| match why {
                TypeName::Chrono => of_chrono,
                // These names are too common to be types without arguments.
                TypeName::StdTemplate if !has_args => false,
                TypeName::Std | TypeName::StdTemplate | TypeName::StdTrait => {
                    of_std || (!qualified && !member && (uses_std || used.contains(name)))
                }
                TypeName::Global | TypeName::Class(_) | TypeName::Operation(_) => false,
            })
        });
    }
}

fn mark(token: &mut Token, is_type: impl FnOnce(&str) -> bool) {
    if let TokenKind::Ident(name) = &token.kind
        && is_type(name)
    {
        token.kind = TokenKind::TypeName(name.clone());
    }
}

struct Found<'s> {
    scopes: &'s Scopes,
    /// By name of a type, where it is declared.
    names: Declared,
    /// Names after `struct` and its like that need not be declared: `struct node *next`.
    mentioned: FxHashSet<Arc<str>>,
    /// Names that are types only between two tokens.
    scoped: Vec<(Arc<str>, usize, usize)>,
}

/// The largest number of types declared in functions: each is searched for up to the end of its block. Further ones are types everywhere.
const MAX_LOCAL_TYPES: usize = 256;

impl Found<'_> {
    /// Declares the name as a type; the declaration begins at the keyword.
    fn declare(&mut self, name: &Arc<str>, keyword: usize) {
        let part = self.scopes.part(keyword);
        if part.kind == Kind::Block && self.scoped.len() < MAX_LOCAL_TYPES {
            self.scoped.push((name.clone(), keyword, part.tokens.end));
            return;
        }
        let owners = self.scopes.owners(keyword);
        add(self.names.entry(name.clone()).or_default(), owners);
    }

    /// `struct Name`, possibly with attributes between, or `enum class Name`. `struct Name x` and `friend class Name` mention a type that
    /// may be declared around the scope.
    fn tag(&mut self, tokens: &[Token], keyword: usize) {
        let mut at = keyword + 1;
        loop {
            match tokens.get(at).map(|token| &token.kind) {
                Some(TokenKind::Keyword(Keyword::Class | Keyword::Struct)) => at += 1,
                Some(TokenKind::Keyword(Keyword::Align)) => at = after_parentheses(tokens, at + 1),
                _ => break,
            }
        }
        // `template <class T>` declares a parameter, which `template` handles.
        let parameter = keyword > 0
            && matches!(tokens[keyword].kind, TokenKind::Keyword(Keyword::Class))
            && matches!(
                punct(tokens.get(keyword - 1)),
                Some(Punct::Lt | Punct::Comma)
            );
        let Some(name) = ident(tokens.get(at)).filter(|_| !parameter) else {
            return;
        };
        let is_friend =
            keyword > 0 && tokens[keyword - 1].kind == TokenKind::Keyword(Keyword::Friend);
        let ends_head = matches!(
            punct(tokens.get(at + 1)),
            Some(Punct::LBrace | Punct::Colon | Punct::Semi | Punct::Lt)
        );
        let is_final = ident(tokens.get(at + 1)).is_some_and(|word| &**word == "final");
        let in_block = self.scopes.part(keyword).kind == Kind::Block;
        if in_block || !is_friend && (ends_head || is_final) {
            self.declare(name, keyword);
        } else {
            self.mentioned.insert(name.clone());
        }
    }

    /// `using Name =`.
    fn using(&mut self, after: &[Token], keyword: usize) {
        if let Some(name) = ident(after.first())
            && punct(after.get(1)) == Some(Punct::Eq)
        {
            self.declare(name, keyword);
        }
    }

    /// Every name that a typedef declares: the one before `;`, `,`, `[` or the parameters, or inside `(*…)`.
    fn typedef(&mut self, after: &[Token], keyword: usize) {
        let mut depth = 0_u32;
        let mut angle = 0_u32;
        let mut declared = false;
        for (at, token) in after.iter().enumerate() {
            let next = punct(after.get(at + 1));
            match &token.kind {
                TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace) => {
                    let Some(outer) = depth.checked_sub(1) else {
                        return;
                    };
                    depth = outer;
                }
                TokenKind::Punct(Punct::Lt) if depth == 0 => angle += 1,
                TokenKind::Punct(Punct::Gt) if depth == 0 => angle = angle.saturating_sub(1),
                TokenKind::Punct(Punct::Shr) if depth == 0 => angle = angle.saturating_sub(2),
                TokenKind::Punct(Punct::Semi) if depth == 0 => return,
                // The `;` is missing. The next typedef is searched separately, which keeps the pass linear.
                TokenKind::Keyword(Keyword::Typedef) => return,
                TokenKind::Punct(Punct::Comma) if depth == 0 && angle == 0 => declared = false,
                TokenKind::Ident(name) | TokenKind::TypeName(name) if !declared && angle == 0 => {
                    let plain = depth == 0
                        && match next {
                            Some(Punct::Semi | Punct::Comma | Punct::LBracket) => true,
                            // `typedef int f(int)`, but not the return type in `typedef T (*f)(int)`.
                            Some(Punct::LParen) => {
                                !matches!(punct(after.get(at + 2)), Some(Punct::Star | Punct::Amp))
                            }
                            _ => false,
                        };
                    let pointer = depth == 1
                        && at > 0
                        && punct(after.get(at - 1)) == Some(Punct::Star)
                        && matches!(next, Some(Punct::RParen | Punct::LBracket))
                        && in_declarator_parentheses(after, at);
                    // `typedef int (row)[4]`, but not `typedef __align__(N) T`.
                    let in_parentheses = depth == 1
                        && next == Some(Punct::RParen)
                        && at > 0
                        && punct(after.get(at - 1)) == Some(Punct::LParen)
                        && matches!(
                            punct(after.get(at + 2)),
                            Some(Punct::LBracket | Punct::LParen | Punct::Semi | Punct::Comma)
                        );
                    if plain || pointer || in_parentheses {
                        self.declare(name, keyword);
                        declared = true;
                    }
                }
                _ => {}
            }
        }
    }

    /// `template <typename T, class U = float, int N>`: `T` and `U` are types up to the end of the item that follows.
    fn template(&mut self, tokens: &[Token], keyword: usize) {
        if punct(tokens.get(keyword + 1)) != Some(Punct::Lt) {
            return;
        }
        let end = end_of_declaration(tokens, keyword + 1);
        let mut angle = 0_i32;
        for at in keyword + 1..end {
            match tokens[at].kind {
                TokenKind::Punct(Punct::Lt) => angle += 1,
                TokenKind::Punct(Punct::Gt) => angle -= 1,
                TokenKind::Punct(Punct::Shr) => angle -= 2,
                TokenKind::Keyword(Keyword::Typename | Keyword::Class) => {
                    let dots = usize::from(punct(tokens.get(at + 1)) == Some(Punct::Ellipsis));
                    if let Some(name) = ident(tokens.get(at + 1 + dots)) {
                        self.scoped.push((name.clone(), at, end));
                    }
                }
                _ => {}
            }
            if angle <= 0 {
                return;
            }
        }
    }
}

/// Whether the name at `at` follows `(` and stars.
fn in_declarator_parentheses(after: &[Token], at: usize) -> bool {
    let stars = after[..at]
        .iter()
        .rev()
        .take_while(|token| token.kind == TokenKind::Punct(Punct::Star))
        .count();
    at > stars && punct(after.get(at - stars - 1)) == Some(Punct::LParen)
}

/// The index after the parentheses that open at `at`, or `at` if there are none.
fn after_parentheses(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_u32;
    for (offset, token) in tokens[at.min(tokens.len())..].iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LParen) => depth += 1,
            TokenKind::Punct(Punct::RParen) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return if offset == 0 { at } else { at + offset + 1 };
        }
    }
    tokens.len()
}

/// Whether CUDA, the C library or C++ declares the name as a type.
fn is_builtin(name: &str) -> bool {
    is_vector(name)
        || types_named(name).contains(&TypeName::Global)
        || matches!(
            name,
            "dim3"
                | "size_t"
                | "ssize_t"
                | "ptrdiff_t"
                | "intptr_t"
                | "uintptr_t"
                | "intmax_t"
                | "uintmax_t"
                | "int8_t"
                | "int16_t"
                | "int32_t"
                | "int64_t"
                | "uint8_t"
                | "uint16_t"
                | "uint32_t"
                | "uint64_t"
                | "uint"
                | "ushort"
                | "uchar"
                | "ulong"
                | "wchar_t"
                | "clock_t"
                | "time_t"
                | "FILE"
                | "va_list"
                | "cudaError_t"
                | "cudaError"
                | "cudaEvent_t"
                | "cudaStream_t"
                | "cudaSharedMemConfig"
                | "cudaFuncCache"
                | "cudaFuncAttribute"
                | "cudaMemcpyKind"
                | "cudaDeviceptr_t"
        )
}

/// Whether the program names the namespace of cooperative groups.
fn mentions_groups(tokens: &[Token]) -> bool {
    let is_named = |token: &Token| ident(Some(token)).is_some_and(|name| &**name == GROUPS);
    tokens.iter().any(is_named)
}

/// Whether the program names a vector type or a conversion of those headers, and has no number called `half`.
fn means_half(tokens: &[Token]) -> bool {
    let is_named = |token: &Token| {
        ident(Some(token)).is_some_and(|name| {
            matches!(
                &**name,
                "half2" | "nv_bfloat16" | "nv_bfloat162" | "__float2half" | "__half2float"
            )
        })
    };
    let is_number = |pair: &[Token]| {
        matches!(
            pair[0].kind,
            TokenKind::Keyword(
                Keyword::Int
                    | Keyword::Unsigned
                    | Keyword::Long
                    | Keyword::Short
                    | Keyword::Float
                    | Keyword::Double
                    | Keyword::Auto
            ) | TokenKind::TypeName(_)
        ) && ident(pair.get(1)).is_some_and(|name| is_half(name))
    };
    tokens.iter().any(is_named) && !tokens.windows(2).any(is_number)
}

/// The short names of the types of `cuda_fp16.h` and `cuda_bf16.h`.
fn is_half(name: &str) -> bool {
    matches!(name, "half" | "half2" | "nv_bfloat16" | "nv_bfloat162")
}

/// `char1` … `double4`.
fn is_vector(name: &str) -> bool {
    let Some(base) = name.strip_suffix(['1', '2', '3', '4']) else {
        return false;
    };
    matches!(
        base,
        "char"
            | "uchar"
            | "short"
            | "ushort"
            | "int"
            | "uint"
            | "long"
            | "ulong"
            | "longlong"
            | "ulonglong"
            | "float"
            | "double"
    )
}

#[cfg(test)]
mod tests;
