//! Decides what the next tokens begin. One token is not enough to parse C: `(a) * b` is a cast or a product, `a < b` a comparison or
//! template arguments, `T (x)` a declaration or a call. This module answers each such question from tokens alone.

use std::sync::Arc;

use super::ty::{is_base, is_specifier};
use crate::syntax::{
    ast::MethodKind,
    token::{Keyword, Punct, Token, TokenKind},
};

/// The tokens from here on.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'t> {
    pub(super) tokens: &'t [Token],
    /// The index of the next token.
    pub(super) at: usize,
}

impl<'t> Ahead<'t> {
    /// The `n`th token from here; 0 is the next.
    pub(super) fn kind(self, n: usize) -> Option<&'t TokenKind> {
        self.tokens.get(self.at + n).map(|token| &token.kind)
    }

    /// The `n`th token if it is an operator or bracket.
    pub(super) fn punct(self, n: usize) -> Option<Punct> {
        match self.kind(n) {
            Some(&TokenKind::Punct(punct)) => Some(punct),
            _ => None,
        }
    }

    /// The `n`th token if it is a reserved word.
    pub(super) fn keyword(self, n: usize) -> Option<Keyword> {
        match self.kind(n) {
            Some(&TokenKind::Keyword(keyword)) => Some(keyword),
            _ => None,
        }
    }

    pub(super) fn is(self, n: usize, punct: Punct) -> bool {
        self.punct(n) == Some(punct)
    }

    pub(super) fn is_word(self, n: usize, keyword: Keyword) -> bool {
        self.keyword(n) == Some(keyword)
    }

    pub(super) fn is_ident(self, n: usize) -> bool {
        matches!(self.kind(n), Some(TokenKind::Ident(_)))
    }

    pub(super) fn is_type_name(self, n: usize) -> bool {
        matches!(self.kind(n), Some(TokenKind::TypeName(_)))
    }

    /// The `n`th token if it is a name, of a type or of anything else.
    pub(super) fn name(self, n: usize) -> Option<&'t Arc<str>> {
        match self.kind(n) {
            Some(TokenKind::Ident(name) | TokenKind::TypeName(name)) => Some(name),
            _ => None,
        }
    }

    pub(super) fn is_name(self, n: usize) -> bool {
        self.name(n).is_some()
    }

    /// Whether the `n`th token is the name `text`, which is only special in some places: `final`, `alignas`.
    pub(super) fn is_text(self, n: usize, text: &str) -> bool {
        matches!(self.kind(n), Some(TokenKind::Ident(name)) if **name == *text)
    }

    /// Whether a name may begin at `n`, with its scopes.
    pub(super) fn begins_path(self, n: usize) -> bool {
        self.is_name(n) || self.is(n, Punct::ColonColon)
    }

    /// Whether the preceding type has just ended with its body, and the next tokens cannot declare something of that type: `struct S { … }`
    /// without its `;`.
    pub(super) fn is_after_body(self) -> bool {
        let body = self.at > 0
            && matches!(
                self.tokens[self.at - 1].kind,
                TokenKind::Punct(Punct::RBrace)
            );
        body && !matches!(
            self.kind(0),
            Some(
                TokenKind::Ident(_)
                    | TokenKind::TypeName(_)
                    | TokenKind::Punct(Punct::Star | Punct::LParen | Punct::Amp)
            )
        )
    }

    /// The tokens from offset `n` on.
    pub(super) fn past(self, n: usize) -> Ahead<'t> {
        Ahead {
            at: self.at + n,
            ..self
        }
    }

    /// The offset just after the bracket that closes the one at offset `n`.
    pub(super) fn after_brackets(self, n: usize) -> usize {
        let mut depth = 0usize;
        let mut offset = n;
        while let Some(kind) = self.kind(offset) {
            offset += 1;
            match kind {
                TokenKind::Punct(punct) if opens(*punct) => depth += 1,
                TokenKind::Punct(punct) if closes(*punct) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return offset;
                    }
                }
                _ => {}
            }
        }
        offset
    }
}

/// `(`, `[`, `{`, `<<<`.
pub(super) fn opens(punct: Punct) -> bool {
    matches!(
        punct,
        Punct::LParen | Punct::LBracket | Punct::LBrace | Punct::LaunchOpen
    )
}

/// `)`, `]`, `}`, `>>>`.
pub(super) fn closes(punct: Punct) -> bool {
    matches!(
        punct,
        Punct::RParen | Punct::RBracket | Punct::RBrace | Punct::LaunchClose
    )
}

// Names.

/// A name with its scopes, `a::b::c`, without template arguments: its text, how many tokens it takes, and whether the last name in it is a
/// type. A plain name counts, too.
pub(super) fn scoped_name<'t>(next: Ahead<'t>) -> Option<(Arc<str>, usize, bool)> {
    let mut offset = usize::from(next.is(0, Punct::ColonColon));
    let first = match next.kind(offset)? {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => name,
        _ => return None,
    };
    let mut is_type = next.is_type_name(offset);
    offset += 1;
    if !next.is(offset, Punct::ColonColon) && offset == 1 {
        return Some((first.clone(), 1, is_type));
    }
    let mut text = first.to_string();
    while next.is(offset, Punct::ColonColon) {
        let Some(name) = next.name(offset + 1) else {
            break;
        };
        text.push_str("::");
        text.push_str(name);
        is_type = next.is_type_name(offset + 1);
        offset += 2;
    }
    Some((text.into(), offset, is_type))
}

/// Whether the tokens ahead are the name of a function without a result type: `S(`, `~S(`, `operator float(`, or outside the class `S::S(`.
pub(super) fn special_name(next: Ahead<'_>, classes: &[Arc<str>]) -> Option<MethodKind> {
    let mut n = 0;
    let mut class: Option<&Arc<str>> = classes.last();
    let mut is_qualified = false;
    while let Some(name) = next.name(n) {
        let end = template_arguments(next, n + 1).unwrap_or(n + 1);
        if !next.is(end, Punct::ColonColon) {
            break;
        }
        class = Some(name);
        is_qualified = true;
        n = end + 1;
    }
    let class = class?;
    match next.kind(n)? {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => {
            let is_constructor = name == class && next.is(n + 1, Punct::LParen);
            // `S (*f)(int)` and `S (x)` declare something of that type.
            let is_constructor = is_constructor && !next.is(n + 2, Punct::Star);
            is_constructor.then_some(MethodKind::Constructor)
        }
        TokenKind::Punct(Punct::Tilde) if !is_qualified || n > 0 => Some(MethodKind::Destructor),
        TokenKind::Keyword(Keyword::Operator) => match next.kind(n + 1)? {
            TokenKind::Punct(_) | TokenKind::Keyword(Keyword::New | Keyword::Delete) => None,
            _ => Some(MethodKind::Conversion),
        },
        _ => None,
    }
}

/// How many tokens a qualified name `a::b::c` and its template arguments take; `None` if there is no `::`.
pub(super) fn qualified(next: Ahead<'_>) -> Option<usize> {
    let mut is_qualified = false;
    let mut n = 0;
    loop {
        if next.is(n, Punct::ColonColon) {
            is_qualified = true;
            n += 1;
        }
        if !next.is_name(n) {
            break;
        }
        n = template_arguments(next, n + 1).unwrap_or(n + 1);
        if !next.is(n, Punct::ColonColon) {
            break;
        }
    }
    is_qualified.then_some(n)
}

/// The qualified name of the first `n` tokens, without its template arguments.
pub(super) fn qualified_text(next: Ahead<'_>, n: usize) -> Arc<str> {
    let mut text = String::new();
    let mut at = 0;
    while at < n {
        if next.is(at, Punct::ColonColon) {
            text.push_str("::");
        } else if let Some(name) = next.name(at) {
            text.push_str(name);
        }
        at = template_arguments(next, at + 1).unwrap_or(at + 1);
    }
    text.into()
}

/// The offset after the template arguments at offset `n`, if there are any.
pub(super) fn template_arguments(next: Ahead<'_>, n: usize) -> Option<usize> {
    if !next.is(n, Punct::AngleOpen) {
        return None;
    }
    let mut depth = 0usize;
    let mut offset = n;
    loop {
        match next.kind(offset)? {
            TokenKind::Punct(Punct::AngleOpen) => depth += 1,
            TokenKind::Punct(Punct::AngleClose) => depth -= 1,
            _ => {}
        }
        offset += 1;
        if depth == 0 {
            return Some(offset);
        }
    }
}

/// A name with template arguments ahead: how many tokens it takes, and whether its last name is a type's.
pub(super) fn path_ahead(next: Ahead<'_>) -> Option<(usize, bool)> {
    let mut n = 0;
    let mut has_arguments = false;
    loop {
        if next.is(n, Punct::ColonColon) {
            n += 1;
        }
        if n > 0 && next.is_word(n, Keyword::Template) {
            n += 1;
        }
        let is_type = match next.kind(n)? {
            TokenKind::Ident(_) => false,
            TokenKind::TypeName(_) => true,
            _ => return None,
        };
        n += 1;
        if let Some(end) = template_arguments(next, n) {
            has_arguments = true;
            n = end;
        }
        let goes_on = next.is(n, Punct::ColonColon)
            && (next.is_name(n + 1) || next.is_word(n + 1, Keyword::Template));
        if !goes_on {
            return has_arguments.then_some((n, is_type));
        }
    }
}

/// Whether the argument ahead is a type.
pub(super) fn is_type_argument(next: Ahead<'_>) -> bool {
    match next.kind(0) {
        // `void(int)` is the type of a function, `int(x)` a value.
        Some(TokenKind::Keyword(keyword)) if is_base(*keyword) => {
            !next.is(1, Punct::LParen)
                || next.is(2, Punct::Star)
                || next.is(2, Punct::RParen)
                || next.is_type_name(2)
                || next.keyword(2).is_some_and(is_specifier)
        }
        Some(TokenKind::Keyword(keyword)) => is_specifier(*keyword),
        Some(
            TokenKind::TypeName(_) | TokenKind::Ident(_) | TokenKind::Punct(Punct::ColonColon),
        ) => {
            let (n, is_type) = extent(next);
            is_type && !next.is(n, Punct::LParen) && !next.is(n, Punct::LBrace)
        }
        _ => false,
    }
}

/// A name ahead, with or without scopes and arguments: how many tokens, and whether the last name is a type's.
pub(super) fn extent(next: Ahead<'_>) -> (usize, bool) {
    path_ahead(next).unwrap_or_else(|| plain(next))
}

/// `a::b::c` without arguments: how many tokens, and whether the last is a type.
fn plain(next: Ahead<'_>) -> (usize, bool) {
    let mut n = usize::from(next.is(0, Punct::ColonColon));
    loop {
        let is_type = next.is_type_name(n);
        if !is_type && !next.is_ident(n) {
            return (n, false);
        }
        n += 1;
        if !(next.is(n, Punct::ColonColon) && next.is_name(n + 1)) {
            return (n, is_type);
        }
        n += 1;
    }
}

// Types and declarations.

/// Whether the tokens ahead read as an undeclared type before a declarator: `real x`, `real *x`, `real)`. Reading it as a type makes the
/// error be about the type.
pub(super) fn is_unknown_type(next: Ahead<'_>) -> bool {
    if let Some(n) = qualified(next) {
        return matches!(
            next.kind(n),
            Some(
                TokenKind::Ident(_)
                    | TokenKind::TypeName(_)
                    | TokenKind::Punct(Punct::Star | Punct::Amp)
            )
        );
    }
    if !next.is_ident(0) {
        return false;
    }
    match next.kind(template_arguments(next, 1).unwrap_or(1)) {
        Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
        Some(TokenKind::Punct(Punct::Star | Punct::Amp)) => true,
        Some(&TokenKind::Keyword(keyword)) => is_specifier(keyword),
        _ => false,
    }
}

/// Whether the tokens ahead begin a declaration.
pub(super) fn is_declaration(next: Ahead<'_>) -> bool {
    match next.kind(0) {
        Some(TokenKind::Keyword(keyword)) if is_base(*keyword) => {
            !next.is(1, Punct::LParen) || next.is(2, Punct::Star)
        }
        Some(TokenKind::Keyword(keyword)) => is_specifier(*keyword),
        Some(
            TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
        ) if path_ahead(next).is_some() => {
            let (n, is_type) = extent(next);
            match next.kind(n) {
                Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
                Some(TokenKind::Keyword(keyword)) => {
                    is_specifier(*keyword) || *keyword == Keyword::Operator
                }
                Some(TokenKind::Punct(Punct::Star | Punct::Amp | Punct::AmpAmp)) => is_type,
                Some(TokenKind::Punct(Punct::LParen)) => is_type && groups_pointer(next, n),
                _ => false,
            }
        }
        Some(
            TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
        ) if scoped_name(next)
            .is_some_and(|(_, n, is_type)| n > 1 && (is_type || next.is_ident(n))) =>
        {
            let (_, n, _) = scoped_name(next).unwrap_or_default();
            // The last name of the path is read as a type by itself.
            is_declaration(next.past(n - 1))
        }
        Some(TokenKind::TypeName(_)) => match next.kind(1) {
            Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
            Some(TokenKind::Keyword(keyword)) => {
                is_specifier(*keyword) || *keyword == Keyword::Operator
            }
            Some(TokenKind::Punct(Punct::Star | Punct::Amp | Punct::Semi)) => true,
            Some(TokenKind::Punct(Punct::LParen)) => groups_pointer(next, 1),
            _ => false,
        },
        Some(TokenKind::Ident(_)) => match next.kind(1) {
            Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
            // `real *x = …` with an undeclared type: as an expression it would be a product that is discarded.
            Some(TokenKind::Punct(Punct::Star)) => {
                next.is_word(2, Keyword::Restrict)
                    || (next.is_ident(2)
                        && matches!(next.punct(3), Some(Punct::Eq | Punct::Semi | Punct::Comma)))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether the `(` at offset `n`, after a type, groups the declarator of a pointer or of a reference to an array: `T (*p)[4]` and
/// `T (&a)[4]`, but not `T(*p).f()` and `T(&a)`, which make values.
fn groups_pointer(next: Ahead<'_>, n: usize) -> bool {
    let after = next.punct(next.after_brackets(n));
    match next.punct(n + 1) {
        Some(Punct::Star) => !matches!(after, Some(Punct::Dot | Punct::Arrow)),
        Some(Punct::Amp) => {
            next.is_ident(n + 2) && next.is(n + 3, Punct::RParen) && after == Some(Punct::LBracket)
        }
        _ => false,
    }
}

/// Whether the `(` ahead groups a declarator, `(*f)`, rather than opening parameters.
pub(super) fn is_inner_declarator(next: Ahead<'_>) -> bool {
    match next.kind(1) {
        Some(TokenKind::Punct(Punct::Star | Punct::Amp | Punct::LParen)) => true,
        Some(TokenKind::Ident(_)) => matches!(
            next.punct(2),
            Some(Punct::RParen | Punct::LBracket | Punct::LParen)
        ),
        // `typedef int (row)[4]`: the name has already been classified as a type.
        Some(TokenKind::TypeName(_)) => {
            next.is(2, Punct::RParen) && (next.is(3, Punct::LBracket) || next.is(3, Punct::LParen))
        }
        _ => false,
    }
}

/// Whether a name ahead, with its scopes and arguments, is a type's.
fn is_type_ahead(next: Ahead<'_>) -> bool {
    let (n, is_type) = extent(next);
    is_type || (path_ahead(next).is_some() && next.is_name(n))
}

/// Whether the `(` ahead opens parameters; `dim3 b(32, 8)` opens arguments.
pub(super) fn begins_params(next: Ahead<'_>) -> bool {
    match next.kind(1) {
        Some(TokenKind::Punct(Punct::RParen | Punct::Ellipsis)) => true,
        Some(TokenKind::Keyword(keyword)) if is_specifier(*keyword) => {
            !next.is(2, Punct::LParen) || groups(next.past(2))
        }
        Some(
            TokenKind::TypeName(_) | TokenKind::Ident(_) | TokenKind::Punct(Punct::ColonColon),
        ) if is_type_ahead(next.past(1)) => {
            let n = 1 + extent(next.past(1)).0;
            match next.punct(n) {
                Some(Punct::LParen) => groups(next.past(n)),
                Some(
                    Punct::Star
                    | Punct::Amp
                    | Punct::Comma
                    | Punct::RParen
                    | Punct::AmpAmp
                    | Punct::LBracket
                    | Punct::Ellipsis,
                )
                | None => true,
                Some(_) => false,
            }
        }
        Some(TokenKind::Ident(_)) if next.is_name(2) => true,
        Some(TokenKind::Ident(_)) if is_unknown_type(next.past(1)) => {
            next.is(next.after_brackets(0), Punct::LBrace)
        }
        _ => false,
    }
}

/// `(*`, `(&`: after a type, a parameter's pointer or reference to an array or a function.
fn groups(next: Ahead<'_>) -> bool {
    next.is(1, Punct::Star) || next.is(1, Punct::Amp) || next.is(1, Punct::AmpAmp)
}

/// Whether the parentheses at offset `n` contain a type. `(float(x))` and `(dim3(1, 2))` are expressions.
pub(super) fn is_type_in_parentheses(next: Ahead<'_>, n: usize) -> bool {
    if !next.is(n, Punct::LParen) {
        return false;
    }
    match next.kind(n + 1) {
        Some(
            TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
        ) if extent(next.past(n + 1)).0 > 1 => {
            let (m, is_type) = extent(next.past(n + 1));
            is_type
                && matches!(
                    next.punct(n + 1 + m),
                    Some(Punct::RParen | Punct::Star | Punct::Amp | Punct::LBracket)
                )
        }
        Some(TokenKind::TypeName(_)) => match next.punct(n + 2) {
            Some(Punct::RParen | Punct::Star | Punct::Amp | Punct::LBracket) => true,
            Some(Punct::LParen) => next.is(n + 3, Punct::Star),
            Some(_) => false,
            None => next.keyword(n + 2).is_some_and(is_specifier),
        },
        Some(TokenKind::Keyword(keyword)) if is_specifier(*keyword) => {
            !next.is(n + 2, Punct::LParen) || next.is(n + 3, Punct::Star)
        }
        _ => false,
    }
}

/// `sizeof(T)` and not `sizeof x`.
pub(super) fn is_sizeof_type(next: Ahead<'_>) -> bool {
    is_type_in_parentheses(next, 1) && !next.is(next.after_brackets(1), Punct::LBrace)
}

/// Whether the `(` ahead opens a cast: it contains a type, and no compound literal follows.
pub(super) fn begins_cast(next: Ahead<'_>) -> bool {
    if is_type_in_parentheses(next, 0) {
        return !next.is(next.after_brackets(0), Punct::LBrace);
    }
    // `(real)x` with an undeclared type: reading it as a cast makes the error be about the type.
    next.is_ident(1)
        && next.is(2, Punct::RParen)
        && matches!(
            next.kind(3),
            Some(
                TokenKind::Ident(_)
                    | TokenKind::TypeName(_)
                    | TokenKind::Int { .. }
                    | TokenKind::Float { .. }
            )
        )
}

// What brackets hold.

/// Whether the `[` ahead begins a lambda; no other operand begins with `[`.
pub(super) fn is_lambda(next: Ahead<'_>) -> bool {
    let n = next.after_brackets(0);
    matches!(next.punct(n), Some(Punct::LParen | Punct::LBrace))
        || next.keyword(n).is_some_and(is_specifier)
        || next.is_ident(n)
}

/// Whether the parentheses ahead have `...` among their operators: `(args + ...)`.
pub(super) fn is_fold(next: Ahead<'_>) -> bool {
    let end = next.after_brackets(0);
    let mut n = 1;
    while n + 1 < end {
        match next.punct(n) {
            Some(Punct::Ellipsis) => return true,
            Some(punct) if opens(punct) => n = next.after_brackets(n),
            _ => n += 1,
        }
    }
    false
}

/// Whether the brackets ahead contain a `;`, outside of inner brackets.
pub(super) fn has_semicolon(next: Ahead<'_>) -> bool {
    let mut n = 1;
    loop {
        match next.punct(n) {
            Some(Punct::Semi) => return true,
            Some(punct) if closes(punct) => return false,
            Some(punct) if opens(punct) => n = next.after_brackets(n),
            _ if next.kind(n).is_none() => return false,
            _ => n += 1,
        }
    }
}

/// `for (int x : values)`.
pub(super) fn is_range_for(next: Ahead<'_>) -> bool {
    if !next.is(1, Punct::LParen) {
        return false;
    }
    let mut n = 2;
    let mut questions = 0usize;
    loop {
        match next.punct(n) {
            Some(Punct::Colon) if questions == 0 => return true,
            Some(Punct::Colon) => questions -= 1,
            Some(Punct::Question) => questions += 1,
            Some(Punct::Semi | Punct::RParen | Punct::RBrace | Punct::RBracket) => return false,
            Some(Punct::LParen | Punct::LBracket | Punct::LBrace) => {
                n = next.after_brackets(n);
                continue;
            }
            _ if next.kind(n).is_none() => return false,
            _ => {}
        }
        n += 1;
    }
}
