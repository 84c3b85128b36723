//! What the next tokens begin. C's grammar cannot be read from one token: `(a) * b` is a cast or a product, `a < b` a comparison
//! or template arguments, `T (x)` a declaration or a call. Each question is answered here, from tokens alone.

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

    /// Whether the `n`th token is `text`, a name that has a meaning only where this is asked: `final`, `alignas`.
    pub(super) fn is_text(self, n: usize, text: &str) -> bool {
        matches!(self.kind(n), Some(TokenKind::Ident(name)) if **name == *text)
    }

    /// Whether a name may begin at `n`, with its scopes.
    pub(super) fn begins_path(self, n: usize) -> bool {
        self.is_name(n) || self.is(n, Punct::ColonColon)
    }

    /// Whether the type before has just ended with its body, and what comes cannot declare something of that type:
    /// `struct S { … }` without its `;`.
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

/// A name with its scopes, `a::b::c`, without template arguments: its text, how many tokens it takes, and whether the last
/// name in it is a type. A plain name is one too.
pub(super) fn scoped_name<'t>(look: Ahead<'t>) -> Option<(Arc<str>, usize, bool)> {
    let mut offset = usize::from(look.is(0, Punct::ColonColon));
    let first = match look.kind(offset)? {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => name,
        _ => return None,
    };
    let mut is_type = look.is_type_name(offset);
    offset += 1;
    if !look.is(offset, Punct::ColonColon) && offset == 1 {
        return Some((first.clone(), 1, is_type));
    }
    let mut text = first.to_string();
    while look.is(offset, Punct::ColonColon) {
        let Some(name) = look.name(offset + 1) else {
            break;
        };
        text.push_str("::");
        text.push_str(name);
        is_type = look.is_type_name(offset + 1);
        offset += 2;
    }
    Some((text.into(), offset, is_type))
}

/// Whether the tokens ahead are the name of a function that has no result type before it: `S(`, `~S(`, `operator float(`, or
/// outside of the class `S::S(`.
pub(super) fn special_name(look: Ahead<'_>, classes: &[Arc<str>]) -> Option<MethodKind> {
    let mut n = 0;
    let mut class: Option<&Arc<str>> = classes.last();
    let mut is_qualified = false;
    while let Some(name) = look.name(n) {
        let end = template_arguments(look, n + 1).unwrap_or(n + 1);
        if !look.is(end, Punct::ColonColon) {
            break;
        }
        class = Some(name);
        is_qualified = true;
        n = end + 1;
    }
    let class = class?;
    match look.kind(n)? {
        TokenKind::Ident(name) | TokenKind::TypeName(name) => {
            let is_constructor = name == class && look.is(n + 1, Punct::LParen);
            // `S (*f)(int)` and `S (x)` declare something of that type.
            let is_constructor = is_constructor && !look.is(n + 2, Punct::Star);
            is_constructor.then_some(MethodKind::Constructor)
        }
        TokenKind::Punct(Punct::Tilde) if !is_qualified || n > 0 => Some(MethodKind::Destructor),
        TokenKind::Keyword(Keyword::Operator) => match look.kind(n + 1)? {
            TokenKind::Punct(_) | TokenKind::Keyword(Keyword::New | Keyword::Delete) => None,
            _ => Some(MethodKind::Conversion),
        },
        _ => None,
    }
}

/// How many tokens a qualified name `a::b::c` and its template arguments take; `None` if there is no `::`.
pub(super) fn qualified(look: Ahead<'_>) -> Option<usize> {
    let mut is_qualified = false;
    let mut n = 0;
    loop {
        if look.is(n, Punct::ColonColon) {
            is_qualified = true;
            n += 1;
        }
        if !look.is_name(n) {
            break;
        }
        n = template_arguments(look, n + 1).unwrap_or(n + 1);
        if !look.is(n, Punct::ColonColon) {
            break;
        }
    }
    is_qualified.then_some(n)
}

/// The name that is qualified by the first `n` tokens, without its template arguments.
pub(super) fn qualified_text(look: Ahead<'_>, n: usize) -> Arc<str> {
    let mut text = String::new();
    let mut at = 0;
    while at < n {
        if look.is(at, Punct::ColonColon) {
            text.push_str("::");
        } else if let Some(name) = look.name(at) {
            text.push_str(name);
        }
        at = template_arguments(look, at + 1).unwrap_or(at + 1);
    }
    text.into()
}

/// The offset after the template arguments at offset `n`, if there are any.
pub(super) fn template_arguments(look: Ahead<'_>, n: usize) -> Option<usize> {
    if !look.is(n, Punct::AngleOpen) {
        return None;
    }
    let mut depth = 0usize;
    let mut offset = n;
    loop {
        match look.kind(offset)? {
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
pub(super) fn path_ahead(look: Ahead<'_>) -> Option<(usize, bool)> {
    let mut n = 0;
    let mut has_arguments = false;
    loop {
        if look.is(n, Punct::ColonColon) {
            n += 1;
        }
        if n > 0 && look.is_word(n, Keyword::Template) {
            n += 1;
        }
        let is_type = match look.kind(n)? {
            TokenKind::Ident(_) => false,
            TokenKind::TypeName(_) => true,
            _ => return None,
        };
        n += 1;
        if let Some(end) = template_arguments(look, n) {
            has_arguments = true;
            n = end;
        }
        let goes_on = look.is(n, Punct::ColonColon)
            && (look.is_name(n + 1) || look.is_word(n + 1, Keyword::Template));
        if !goes_on {
            return has_arguments.then_some((n, is_type));
        }
    }
}

/// Whether the argument ahead is a type.
pub(super) fn is_type_argument(look: Ahead<'_>) -> bool {
    match look.kind(0) {
        // `void(int)` is the type of a function, `int(x)` a value.
        Some(TokenKind::Keyword(keyword)) if is_base(*keyword) => {
            !look.is(1, Punct::LParen)
                || look.is(2, Punct::Star)
                || look.is(2, Punct::RParen)
                || look.is_type_name(2)
                || look.keyword(2).is_some_and(is_specifier)
        }
        Some(TokenKind::Keyword(keyword)) => is_specifier(*keyword),
        Some(
            TokenKind::TypeName(_) | TokenKind::Ident(_) | TokenKind::Punct(Punct::ColonColon),
        ) => {
            let (n, is_type) = extent(look);
            is_type && !look.is(n, Punct::LParen) && !look.is(n, Punct::LBrace)
        }
        _ => false,
    }
}

/// A name ahead, with or without scopes and arguments: how many tokens, and whether the last name is a type's.
pub(super) fn extent(look: Ahead<'_>) -> (usize, bool) {
    path_ahead(look).unwrap_or_else(|| plain(look))
}

/// `a::b::c` without arguments: how many tokens, and whether the last is a type.
fn plain(look: Ahead<'_>) -> (usize, bool) {
    let mut n = usize::from(look.is(0, Punct::ColonColon));
    loop {
        let is_type = look.is_type_name(n);
        if !is_type && !look.is_ident(n) {
            return (n, false);
        }
        n += 1;
        if !(look.is(n, Punct::ColonColon) && look.is_name(n + 1)) {
            return (n, is_type);
        }
        n += 1;
    }
}

// Types and declarations.

/// Whether the tokens ahead read as a type that nobody declared, before a declarator: `real x`, `real *x`, `real)`.
/// Reading it as a type lets the error be about the type.
pub(super) fn is_unknown_type(look: Ahead<'_>) -> bool {
    if let Some(n) = qualified(look) {
        return matches!(
            look.kind(n),
            Some(
                TokenKind::Ident(_)
                    | TokenKind::TypeName(_)
                    | TokenKind::Punct(Punct::Star | Punct::Amp)
            )
        );
    }
    if !look.is_ident(0) {
        return false;
    }
    match look.kind(template_arguments(look, 1).unwrap_or(1)) {
        Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
        Some(TokenKind::Punct(Punct::Star | Punct::Amp)) => true,
        Some(&TokenKind::Keyword(keyword)) => is_specifier(keyword),
        _ => false,
    }
}

/// Whether the tokens ahead begin a declaration.
pub(super) fn is_declaration(look: Ahead<'_>) -> bool {
    match look.kind(0) {
        Some(TokenKind::Keyword(keyword)) if is_base(*keyword) => {
            !look.is(1, Punct::LParen) || look.is(2, Punct::Star)
        }
        Some(TokenKind::Keyword(keyword)) => is_specifier(*keyword),
        Some(
            TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
        ) if path_ahead(look).is_some() => {
            let (n, is_type) = extent(look);
            match look.kind(n) {
                Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
                Some(TokenKind::Keyword(keyword)) => {
                    is_specifier(*keyword) || *keyword == Keyword::Operator
                }
                Some(TokenKind::Punct(Punct::Star | Punct::Amp | Punct::AmpAmp)) => is_type,
                Some(TokenKind::Punct(Punct::LParen)) => is_type && groups_pointer(look, n),
                _ => false,
            }
        }
        Some(
            TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
        ) if scoped_name(look)
            .is_some_and(|(_, n, is_type)| n > 1 && (is_type || look.is_ident(n))) =>
        {
            let (_, n, _) = scoped_name(look).unwrap_or_default();
            // The last name of the path is read as a type by itself.
            is_declaration(look.past(n - 1))
        }
        Some(TokenKind::TypeName(_)) => match look.kind(1) {
            Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
            Some(TokenKind::Keyword(keyword)) => {
                is_specifier(*keyword) || *keyword == Keyword::Operator
            }
            Some(TokenKind::Punct(Punct::Star | Punct::Amp | Punct::Semi)) => true,
            Some(TokenKind::Punct(Punct::LParen)) => groups_pointer(look, 1),
            _ => false,
        },
        Some(TokenKind::Ident(_)) => match look.kind(1) {
            Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
            // `real *x = …` of a type nobody declared: as an expression it would be a product thrown away.
            Some(TokenKind::Punct(Punct::Star)) => {
                look.is_word(2, Keyword::Restrict)
                    || (look.is_ident(2)
                        && matches!(look.punct(3), Some(Punct::Eq | Punct::Semi | Punct::Comma)))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether the `(` at offset `n`, after a type, groups the declarator of a pointer or of a reference to an array: `T (*p)[4]` and
/// `T (&a)[4]`, but not `T(*p).f()` and `T(&a)`, which make values.
fn groups_pointer(look: Ahead<'_>, n: usize) -> bool {
    let after = look.punct(look.after_brackets(n));
    match look.punct(n + 1) {
        Some(Punct::Star) => !matches!(after, Some(Punct::Dot | Punct::Arrow)),
        Some(Punct::Amp) => {
            look.is_ident(n + 2) && look.is(n + 3, Punct::RParen) && after == Some(Punct::LBracket)
        }
        _ => false,
    }
}

/// Whether the `(` ahead groups a declarator, `(*f)`, rather than opening parameters.
pub(super) fn is_inner_declarator(look: Ahead<'_>) -> bool {
    match look.kind(1) {
        Some(TokenKind::Punct(Punct::Star | Punct::Amp | Punct::LParen)) => true,
        Some(TokenKind::Ident(_)) => matches!(
            look.punct(2),
            Some(Punct::RParen | Punct::LBracket | Punct::LParen)
        ),
        // `typedef int (row)[4]`: the name is a type already.
        Some(TokenKind::TypeName(_)) => {
            look.is(2, Punct::RParen) && (look.is(3, Punct::LBracket) || look.is(3, Punct::LParen))
        }
        _ => false,
    }
}

/// Whether a name ahead, with its scopes and arguments, is a type's.
fn is_type_ahead(look: Ahead<'_>) -> bool {
    let (n, is_type) = extent(look);
    is_type || (path_ahead(look).is_some() && look.is_name(n))
}

/// Whether the `(` ahead opens parameters; `dim3 b(32, 8)` opens arguments.
pub(super) fn begins_params(look: Ahead<'_>) -> bool {
    match look.kind(1) {
        Some(TokenKind::Punct(Punct::RParen | Punct::Ellipsis)) => true,
        Some(TokenKind::Keyword(keyword)) if is_specifier(*keyword) => {
            !look.is(2, Punct::LParen) || groups(look.past(2))
        }
        Some(
            TokenKind::TypeName(_) | TokenKind::Ident(_) | TokenKind::Punct(Punct::ColonColon),
        ) if is_type_ahead(look.past(1)) => {
            let n = 1 + extent(look.past(1)).0;
            match look.punct(n) {
                Some(Punct::LParen) => groups(look.past(n)),
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
        Some(TokenKind::Ident(_)) if look.is_name(2) => true,
        Some(TokenKind::Ident(_)) if is_unknown_type(look.past(1)) => {
            look.is(look.after_brackets(0), Punct::LBrace)
        }
        _ => false,
    }
}

/// `(*`, `(&`: after a type, a parameter's pointer or reference to an array or a function.
fn groups(look: Ahead<'_>) -> bool {
    look.is(1, Punct::Star) || look.is(1, Punct::Amp) || look.is(1, Punct::AmpAmp)
}

/// Whether a type stands in the parentheses at offset `n`. `(float(x))` and `(dim3(1, 2))` are expressions.
pub(super) fn is_type_in_parentheses(look: Ahead<'_>, n: usize) -> bool {
    if !look.is(n, Punct::LParen) {
        return false;
    }
    match look.kind(n + 1) {
        Some(
            TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
        ) if extent(look.past(n + 1)).0 > 1 => {
            let (m, is_type) = extent(look.past(n + 1));
            is_type
                && matches!(
                    look.punct(n + 1 + m),
                    Some(Punct::RParen | Punct::Star | Punct::Amp | Punct::LBracket)
                )
        }
        Some(TokenKind::TypeName(_)) => match look.punct(n + 2) {
            Some(Punct::RParen | Punct::Star | Punct::Amp | Punct::LBracket) => true,
            Some(Punct::LParen) => look.is(n + 3, Punct::Star),
            Some(_) => false,
            None => look.keyword(n + 2).is_some_and(is_specifier),
        },
        Some(TokenKind::Keyword(keyword)) if is_specifier(*keyword) => {
            !look.is(n + 2, Punct::LParen) || look.is(n + 3, Punct::Star)
        }
        _ => false,
    }
}

/// `sizeof(T)` and not `sizeof x`.
pub(super) fn is_sizeof_type(look: Ahead<'_>) -> bool {
    is_type_in_parentheses(look, 1) && !look.is(look.after_brackets(1), Punct::LBrace)
}

/// Whether the `(` ahead opens a cast: a type stands in it, and not a compound literal follows.
pub(super) fn begins_cast(look: Ahead<'_>) -> bool {
    if is_type_in_parentheses(look, 0) {
        return !look.is(look.after_brackets(0), Punct::LBrace);
    }
    // `(real)x` with a type that nobody declared: read it as the cast it must be, so that the type is what is reported.
    look.is_ident(1)
        && look.is(2, Punct::RParen)
        && matches!(
            look.kind(3),
            Some(
                TokenKind::Ident(_)
                    | TokenKind::TypeName(_)
                    | TokenKind::Int { .. }
                    | TokenKind::Float { .. }
            )
        )
}

// What brackets hold.

/// Whether the `[` ahead begins a lambda; it cannot begin anything else that is an operand.
pub(super) fn is_lambda(look: Ahead<'_>) -> bool {
    let n = look.after_brackets(0);
    matches!(look.punct(n), Some(Punct::LParen | Punct::LBrace))
        || look.keyword(n).is_some_and(is_specifier)
        || look.is_ident(n)
}

/// Whether the parentheses ahead have `...` among their operators: `(args + ...)`.
pub(super) fn is_fold(look: Ahead<'_>) -> bool {
    let end = look.after_brackets(0);
    let mut n = 1;
    while n + 1 < end {
        match look.punct(n) {
            Some(Punct::Ellipsis) => return true,
            Some(punct) if opens(punct) => n = look.after_brackets(n),
            _ => n += 1,
        }
    }
    false
}

/// A `;` stands in the brackets ahead, not in further ones.
pub(super) fn has_semicolon(look: Ahead<'_>) -> bool {
    let mut n = 1;
    loop {
        match look.punct(n) {
            Some(Punct::Semi) => return true,
            Some(punct) if closes(punct) => return false,
            Some(punct) if opens(punct) => n = look.after_brackets(n),
            _ if look.kind(n).is_none() => return false,
            _ => n += 1,
        }
    }
}

/// `for (int x : values)`.
pub(super) fn is_range_for(look: Ahead<'_>) -> bool {
    if !look.is(1, Punct::LParen) {
        return false;
    }
    let mut n = 2;
    let mut questions = 0usize;
    loop {
        match look.punct(n) {
            Some(Punct::Colon) if questions == 0 => return true,
            Some(Punct::Colon) => questions -= 1,
            Some(Punct::Question) => questions += 1,
            Some(Punct::Semi | Punct::RParen | Punct::RBrace | Punct::RBracket) => return false,
            Some(Punct::LParen | Punct::LBracket | Punct::LBrace) => {
                n = look.after_brackets(n);
                continue;
            }
            _ if look.kind(n).is_none() => return false,
            _ => {}
        }
        n += 1;
    }
}
