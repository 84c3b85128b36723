//! Statements. The first tokens choose the production; each statement recovers on its own, so one broken line costs one
//! message and the lines around it are read as if it were not there.

use chumsky::prelude::*;

use super::{
    cxx::{asm, foreign, foreign_statement},
    decl,
    depth::nested,
    expr::expression,
    kit::{
        Ahead, At, Ex, In, P, ahead, at, at_word, before, closing, custom_clone, either, fail,
        name, path, punct, repeat_while, rule, skip, stmt_node, when, whole, word,
    },
    loops, path,
    recover::{Failure, What, bracket_end, described, recovered, statement_end},
    template, ty,
};
use crate::{
    diagnostic::{Code, Diagnostic},
    syntax::{
        ast::{Block, Expr, ExprKind, Stmt, StmtKind},
        token::{Keyword, Punct, TokenKind},
    },
};

/// `{ … }` as a function's body.
pub(super) fn body<'t>() -> P<'t, Block> {
    rule(|rules| &rules.body)
}

/// What [`body`] refers to.
pub(super) fn body_rule<'t>() -> P<'t, Block> {
    block(statement())
}

/// Any statement.
fn statement<'t>() -> P<'t, Stmt> {
    let error = |span| Stmt {
        kind: StmtKind::Error,
        span,
    };
    let stmt = recursive(|stmt| dispatch(recovered(nested(stmt), statement_end, error).boxed()));
    recovered(stmt, statement_end, error).boxed()
}

/// `{ … }`.
fn block<'t>(stmt: P<'t, Stmt>) -> P<'t, Block> {
    repeat_while(
        |look: Ahead<'_>| look.kind(0).is_some() && !look.is(0, Punct::RBrace),
        stmt,
    )
    .delimited_by(punct(Punct::LBrace), punct(Punct::RBrace))
    .map_with(|stmts, extra| Block {
        stmts,
        span: whole(extra),
    })
    .boxed()
}

/// The table of statements.
fn dispatch<'t>(stmt: P<'t, Stmt>) -> P<'t, Stmt> {
    let block = block(stmt.clone()).map(StmtKind::Block).boxed();
    let if_ = if_(stmt.clone());
    let loops = loops::unrolled_loop(stmt.clone());
    let switch = switch(stmt);
    let jump = jump();
    let case = case();
    let declaration = decl::declaration().map(StmtKind::Declaration).boxed();
    let evaluation = expression()
        .then_ignore(semicolon())
        .map(StmtKind::Expr)
        .boxed();
    let foreign = foreign();
    let asm = asm(expression());
    let label = name().then_ignore(punct(Punct::Colon)).map(StmtKind::Label);
    let scoped = template::scoped_statement();
    custom_clone(move |inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        if let Some(punct) = look.punct(0) {
            match punct {
                Punct::LBrace => return inp.parse(&block),
                Punct::Semi => {
                    inp.skip();
                    return Ok(StmtKind::Empty);
                }
                _ => {}
            }
        }
        match look.keyword(0) {
            Some(Keyword::If) => inp.parse(&if_),
            Some(Keyword::Else) => stray_else(inp),
            Some(Keyword::For | Keyword::While | Keyword::Do | Keyword::Pragma) => {
                inp.parse(&loops)
            }
            Some(Keyword::Switch) => inp.parse(&switch),
            Some(Keyword::Case | Keyword::Default) => inp.parse(&case),
            Some(Keyword::Break | Keyword::Continue | Keyword::Goto | Keyword::Return) => {
                inp.parse(&jump)
            }
            _ if is_label(look) => inp.parse(label),
            _ if template::begins_statement(look) => inp.parse(&scoped),
            Some(Keyword::Asm) => inp.parse(&asm),
            _ if foreign_statement(look).is_some() => inp.parse(&foreign),
            _ if is_declaration(look) => inp.parse(&declaration),
            _ => inp.parse(&evaluation),
        }
    })
    .map_with(stmt_node)
    .boxed()
}

/// `;`. Where it is only forgotten (what comes next can begin a statement) that is said, and parsing goes on.
pub(super) fn semicolon<'t>() -> P<'t, ()> {
    custom_clone(|inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        match look.kind(0) {
            Some(TokenKind::Punct(Punct::Semi)) => {
                inp.skip();
                return Ok(());
            }
            None | Some(TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Keyword(_)) => {}
            Some(TokenKind::Punct(Punct::RBrace | Punct::PlusPlus | Punct::MinusMinus)) => {}
            Some(_) => return fail(inp, What::Punct(Punct::Semi)),
        }
        let previous = look
            .at
            .checked_sub(1)
            .and_then(|previous| inp.state().token(previous));
        let message = previous.map_or_else(
            || "missing `;`".to_string(),
            |previous| format!("missing `;` after {}", described(previous, "the")),
        );
        let span = inp.state().before(look.at);
        // A bracket inserted just here has been reported, and stands for the same slip.
        if !inp.state().repaired(look.at.saturating_sub(1), look.at + 1) {
            inp.state()
                .diagnostics
                .push(Diagnostic::error(Code::MissingSemicolon, span, message));
        }
        Ok(())
    })
    .boxed()
}

/// `( expression )` after `if`, `while`, `switch`. A broken one is reported, and the body after it is still read.
pub(super) fn condition<'t>() -> P<'t, Expr> {
    let whole_expression = expression().then_ignore(closed());
    let declared = custom_clone(|inp: &mut At<'t, '_>| {
        let look = ahead(inp);
        let n = bracket_end(look, 0);
        skip(inp, n);
        let span = inp.state().span(look.at, look.at + n);
        Ok(Expr {
            kind: ExprKind::Unsupported("a declaration in a condition"),
            span,
        })
    });
    let inside = either(is_declaration, declared, whole_expression);
    recovered(inside, bracket_end, |span| Expr {
        kind: ExprKind::Error,
        span,
    })
    .delimited_by(opening(), punct(Punct::RParen))
    .boxed()
}

/// The `)` ahead.
pub(super) fn closed<'t>() -> impl Parser<'t, In<'t>, (), Ex<'t>> + Clone + 't {
    before(Punct::RParen, "`)`")
}

/// The `(` after `if`, `while`, `for`, `switch`.
pub(super) fn opening<'t>() -> impl Parser<'t, In<'t>, (), Ex<'t>> + Copy {
    closing(Punct::LParen, "`(`")
}

/// `int i = 0`, `i = 0` or nothing, before the `;` in the parentheses of a `for` or an `if`.
pub(super) fn declaration_or_expression<'t>() -> P<'t, StmtKind> {
    let declaration = decl::for_declaration().map(StmtKind::Declaration);
    let evaluation = expression().map(StmtKind::Expr);
    either(
        at(Punct::Semi),
        empty().to(StmtKind::Empty),
        either(is_declaration, declaration, evaluation),
    )
    .boxed()
}

/// `( T x = e )`, `( init; condition )` or `( condition )` after `if`: what is declared before it, and the condition.
fn declaring_condition<'t>() -> P<'t, (Option<Stmt>, Expr)> {
    let plain = condition().map(|cond| (None, cond)).boxed();
    let first = declaration_or_expression();
    let cond = expression();
    let declaring = custom_clone(move |inp: &mut At<'t, '_>| {
        inp.skip();
        let start = ahead(inp).at;
        let kind = inp.parse(&first)?;
        let stop = ahead(inp).at;
        let span = inp.state().span(start, stop);
        let cond = if ahead(inp).is(0, Punct::Semi) {
            inp.skip();
            inp.parse(&cond)?
        } else {
            // The variable itself is the condition.
            let name = match &kind {
                StmtKind::Declaration(declaration) => declaration
                    .declarators
                    .first()
                    .and_then(|first| first.declarator.name.clone()),
                _ => None,
            };
            let Some(name) = name else {
                return fail(inp, What::Punct(Punct::Semi));
            };
            Expr {
                kind: ExprKind::Name(name.node),
                span: name.span,
            }
        };
        inp.parse(closed())?;
        inp.skip();
        Ok((Some(Stmt { kind, span }), cond))
    });
    let declares = |look: Ahead<'_>| {
        look.is(0, Punct::LParen) && (is_declaration(look.past(1)) || has_semicolon(look))
    };
    either(declares, declaring.boxed(), plain).boxed()
}

/// A `;` stands in the brackets ahead, not in further ones.
fn has_semicolon(look: Ahead<'_>) -> bool {
    let mut n = 1;
    loop {
        match look.punct(n) {
            Some(Punct::Semi) => return true,
            Some(punct) if super::kit::closes(punct) => return false,
            Some(punct) if super::kit::opens(punct) => n = look.after_brackets(n),
            _ if look.kind(n).is_none() => return false,
            _ => n += 1,
        }
    }
}

/// An `if` whose arms may declare something: an arm that does stands in a block with all that follows it.
fn if_of(
    mut arms: Vec<((Option<Stmt>, Expr), Stmt)>,
    mut otherwise: Option<Box<Stmt>>,
    span: crate::span::Span,
) -> StmtKind {
    while let Some(at) = arms
        .iter()
        .rposition(|((declared, _), _)| declared.is_some())
    {
        let mut rest = arms.split_off(at);
        let declared = rest
            .first_mut()
            .and_then(|((declared, _), _)| declared.take());
        let kind = StmtKind::If {
            arms: plain_arms(rest),
            otherwise: otherwise.take(),
            is_constexpr: false,
        };
        let stmts = declared.into_iter().chain([Stmt { kind, span }]).collect();
        let kind = StmtKind::Block(Block { stmts, span });
        if arms.is_empty() {
            return kind;
        }
        otherwise = Some(Box::new(Stmt { kind, span }));
    }
    StmtKind::If {
        arms: plain_arms(arms),
        otherwise,
        is_constexpr: false,
    }
}

fn plain_arms(arms: Vec<((Option<Stmt>, Expr), Stmt)>) -> Vec<(Expr, Stmt)> {
    arms.into_iter()
        .map(|((_, cond), body)| (cond, body))
        .collect()
}

/// `if (a) … else if (b) … else …`: a loop, so that a long chain is not deep.
fn if_<'t>(stmt: P<'t, Stmt>) -> P<'t, StmtKind> {
    let arm = word(Keyword::If)
        .ignore_then(declaring_condition())
        .then(stmt.clone());
    let is_else_if = |look: Ahead<'_>| {
        look.is_word(0, Keyword::Else)
            && look.is_word(1, Keyword::If)
            && !look.is_word(2, Keyword::Constexpr)
    };
    let otherwise = when(
        at_word(Keyword::Else),
        word(Keyword::Else).ignore_then(stmt.clone()),
    );
    let constant = word(Keyword::If)
        .ignore_then(word(Keyword::Constexpr))
        .ignore_then(condition())
        .then(stmt)
        .then(otherwise.clone())
        .map(|(arm, otherwise)| StmtKind::If {
            arms: vec![arm],
            otherwise: otherwise.map(Box::new),
            is_constexpr: true,
        })
        .boxed();
    let more = repeat_while(is_else_if, word(Keyword::Else).ignore_then(arm.clone()));
    let plain = arm
        .then(more)
        .then(otherwise)
        .map_with(|((first, mut arms), otherwise), extra| {
            arms.insert(0, first);
            let span = whole(extra);
            if_of(arms, otherwise.map(Box::new), span)
        })
        .boxed();
    either(|look| look.is_word(1, Keyword::Constexpr), constant, plain).boxed()
}

/// An `else` that belongs to nothing; the statement after it is read on its own.
fn stray_else(inp: &mut At<'_, '_>) -> Result<StmtKind, Failure> {
    let at = ahead(inp).at;
    let span = inp.state().place(at);
    inp.skip();
    let mut diagnostic = Diagnostic::error(Code::ElseWithoutIf, span, "`else` without `if`");
    if at > 0
        && matches!(
            inp.state().token(at - 1),
            Some(TokenKind::Punct(Punct::RBrace | Punct::Semi))
        )
    {
        diagnostic = diagnostic.help("an `if` takes one statement: put several in `{ }`, and no `;` after the condition or the `}`");
    }
    inp.state().diagnostics.push(diagnostic);
    Ok(StmtKind::Empty)
}

/// `switch (value) body`.
fn switch<'t>(stmt: P<'t, Stmt>) -> P<'t, StmtKind> {
    word(Keyword::Switch)
        .ignore_then(condition())
        .then(stmt)
        .map(|(value, body)| StmtKind::Switch {
            value,
            body: Box::new(body),
        })
        .boxed()
}

/// `case value:` and `default:`; the statement after it is the next of its block.
fn case<'t>() -> P<'t, StmtKind> {
    let case = word(Keyword::Case)
        .ignore_then(expression())
        .map(StmtKind::Case);
    let default = word(Keyword::Default).map(|()| StmtKind::Default);
    either(at_word(Keyword::Case), case, default)
        .then_ignore(closing(Punct::Colon, "`:`"))
        .boxed()
}

/// `name:`
fn is_label(look: Ahead<'_>) -> bool {
    matches!(
        look.kind(0),
        Some(TokenKind::Ident(_) | TokenKind::TypeName(_))
    ) && look.is(1, Punct::Colon)
}

/// `break;`, `continue;`, `goto name;`, `return e;`.
fn jump<'t>() -> P<'t, StmtKind> {
    let value = when(
        |look: Ahead<'_>| !matches!(look.punct(0), Some(Punct::Semi | Punct::RBrace)),
        expression(),
    );
    let return_ = word(Keyword::Return)
        .ignore_then(value)
        .map(StmtKind::Return)
        .boxed();
    let goto = word(Keyword::Goto)
        .ignore_then(name())
        .map(StmtKind::Goto)
        .boxed();
    let break_ = word(Keyword::Break).map(|()| StmtKind::Break);
    let continue_ = word(Keyword::Continue).map(|()| StmtKind::Continue);
    custom_clone(move |inp: &mut At<'t, '_>| match ahead(inp).keyword(0) {
        Some(Keyword::Return) => inp.parse(&return_),
        Some(Keyword::Goto) => inp.parse(&goto),
        Some(Keyword::Break) => inp.parse(break_),
        _ => inp.parse(continue_),
    })
    .then_ignore(semicolon())
    .boxed()
}

/// Whether the tokens ahead begin a declaration.
pub(super) fn is_declaration(look: Ahead<'_>) -> bool {
    match look.kind(0) {
        Some(TokenKind::Keyword(keyword)) if ty::is_base(*keyword) => {
            !look.is(1, Punct::LParen) || look.is(2, Punct::Star)
        }
        Some(TokenKind::Keyword(keyword)) => ty::is_specifier(*keyword),
        Some(
            TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
        ) if path::path_ahead(look).is_some() => {
            let (n, is_type) = path::extent(look);
            match look.kind(n) {
                Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
                Some(TokenKind::Keyword(keyword)) => {
                    ty::is_specifier(*keyword) || *keyword == Keyword::Operator
                }
                Some(TokenKind::Punct(Punct::Star | Punct::Amp | Punct::AmpAmp)) => is_type,
                Some(TokenKind::Punct(Punct::LParen)) => is_type && look.is(n + 1, Punct::Star),
                _ => false,
            }
        }
        Some(
            TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Punct(Punct::ColonColon),
        ) if path(look).is_some_and(|(_, n, is_type)| n > 1 && (is_type || look.is_ident(n))) => {
            let (_, n, _) = path(look).unwrap_or_default();
            // The last name of the path is read as a type by itself.
            is_declaration(look.past(n - 1))
        }
        Some(TokenKind::TypeName(_)) => match look.kind(1) {
            Some(TokenKind::Ident(_) | TokenKind::TypeName(_)) => true,
            Some(TokenKind::Keyword(keyword)) => {
                ty::is_specifier(*keyword) || *keyword == Keyword::Operator
            }
            Some(TokenKind::Punct(Punct::Star | Punct::Amp | Punct::Semi)) => true,
            Some(TokenKind::Punct(Punct::LParen)) => look.is(2, Punct::Star),
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
