//! Statements. The first tokens select the production. Each statement recovers separately, so one broken line costs one message and does
//! not affect the lines around it.

use chumsky::{input::MapExtra, prelude::*};

use super::{
    cxx::{asm, foreign, foreign_statement},
    decl,
    depth::nested,
    expr::expression,
    kit::{
        self, Ex, In, P, Production, at, at_word, before, choose, either, expecting, expr_node,
        name, parens, punct, repeat_while, rule, skipped, stmt_node, when, whole, word,
    },
    lookahead::{Ahead, has_semicolon, is_declaration},
    loops,
    recover::{bracket_end, recovered, statement_end},
    template,
};
use crate::syntax::{
    ast::{Block, Declaration, Expr, ExprKind, Stmt, StmtKind},
    message::parse::{After, Expected, SyntaxError},
    token::{Keyword, Punct, TokenKind},
};
use ir::span::Span;

/// `{ … }` as a function's body.
pub(super) fn body<'t>() -> P<'t, Block> {
    rule(|rules| &rules.body)
}

/// The production that [`body`] refers to.
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
    kit::block(stmt)
        .map_with(|stmts, extra| Block {
            stmts,
            span: whole(extra),
        })
        .boxed()
}

/// The table of statements.
fn dispatch<'t>(stmt: P<'t, Stmt>) -> P<'t, Stmt> {
    use Keyword::*;
    choose!(|next| next.keyword(0);
        None if next.is(0, Punct::LBrace) => block: block(stmt.clone()).map(StmtKind::Block),
        None if next.is(0, Punct::Semi) => empty: punct(Punct::Semi).to(StmtKind::Empty),
        Some(If) => if_: if_(stmt.clone()),
        Some(Else) => stray_else: stray_else(),
        Some(For | While | Do | Pragma) => loops: loops::unrolled_loop(stmt.clone()),
        Some(Switch) => switch: switch(stmt),
        Some(Case | Default) => case: case(),
        Some(Break | Continue | Goto | Return) => jump: jump(),
        _ if is_label(next) => label: name().then_ignore(punct(Punct::Colon)).map(StmtKind::Label),
        _ if template::begins_statement(next) => scoped: template::scoped_statement(),
        Some(Asm) => asm: asm(expression()),
        _ if foreign_statement(next).is_some() => foreign: foreign(),
        _ if is_declaration(next) => declaration: decl::declaration().map(StmtKind::Declaration),
        _ => evaluation: expression().then_ignore(semicolon()).map(StmtKind::Expr),
    )
    .map_with(stmt_node)
    .boxed()
}

/// `;`. If it is only missing (the next token can begin a statement), that is reported, and parsing continues.
pub(super) fn semicolon<'t>() -> impl Production<'t, ()> {
    either(
        can_follow_semicolon,
        empty().map_with(forgotten),
        punct(Punct::Semi),
    )
}

/// Whether only the `;` is missing before the tokens ahead.
fn can_follow_semicolon(next: Ahead<'_>) -> bool {
    match next.kind(0) {
        None | Some(TokenKind::Ident(_) | TokenKind::TypeName(_) | TokenKind::Keyword(_)) => true,
        Some(TokenKind::Punct(punct)) => {
            matches!(punct, Punct::RBrace | Punct::PlusPlus | Punct::MinusMinus)
        }
        Some(_) => false,
    }
}

fn forgotten<'t>((): (), extra: &mut MapExtra<'t, '_, In<'t>, Ex<'t>>) {
    let at = extra.span().start;
    let state = extra.state();
    // A bracket that was inserted here has been reported for the same mistake.
    if !state.repaired(at.saturating_sub(1), at + 1) {
        let after = After(state.token_before(at).cloned());
        state.report(state.before(at), SyntaxError::MissingSemicolon { after });
    }
}

/// `( expression )` after `if`, `while`, `switch`. A broken one is reported, and the body after it is still read.
pub(super) fn condition<'t>() -> P<'t, Expr> {
    let whole_expression = expression().then_ignore(closed());
    let declared = skipped(|next| bracket_end(next, 0))
        .to(ExprKind::Unsupported("a declaration in a condition"))
        .map_with(expr_node);
    let inside = either(is_declaration, declared, whole_expression);
    parens(recovered(inside, bracket_end, error)).boxed()
}

/// The `)` ahead.
pub(super) fn closed<'t>() -> impl Production<'t, ()> + Copy {
    before(Punct::RParen, Expected::Punct(Punct::RParen))
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

/// `( T x = e )`, `( init; condition )` or `( condition )` after `if`: the declaration before it, if any, and the condition.
fn declaring_condition<'t>() -> P<'t, (Option<Stmt>, Expr)> {
    let init = declaration_or_expression()
        .map_with(stmt_node)
        .then_ignore(punct(Punct::Semi))
        .then(expression());
    let variable = expecting(
        decl::for_declaration(),
        |declared| variable_of(declared).is_some(),
        Expected::Punct(Punct::Semi),
    )
    .map_with(|declared, extra| {
        let variable = variable_of(&declared).unwrap_or_else(|| error(whole(extra)));
        (stmt_node(StmtKind::Declaration(declared), extra), variable)
    });
    choose!(|next| next.is(0, Punct::LParen);
        true if has_semicolon(next) => init: parens(init).map(|(first, cond)| (Some(first), cond)),
        true if is_declaration(next.past(1)) => variable:
            parens(variable).map(|(declared, cond)| (Some(declared), cond)),
        _ => plain: condition().map(|cond| (None, cond)),
    )
    .boxed()
}

/// The declared variable, as an expression.
fn variable_of(declared: &Declaration) -> Option<Expr> {
    let name = declared.declarators.first()?.declarator.name.clone()?;
    Some(Expr {
        kind: ExprKind::Name(name.node),
        span: name.span,
    })
}

/// The node of an expression that did not parse.
fn error(span: Span) -> Expr {
    let kind = ExprKind::Error;
    Expr { kind, span }
}

/// An `if` whose arms may declare something: an arm that does is in a block with all the arms that follow it.
fn if_of(
    mut arms: Vec<((Option<Stmt>, Expr), Stmt)>,
    mut otherwise: Option<Box<Stmt>>,
    span: Span,
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

/// `if (a) … else if (b) … else …`: read in a loop, so that a long chain does not nest.
fn if_<'t>(stmt: P<'t, Stmt>) -> P<'t, StmtKind> {
    let arm = word(Keyword::If)
        .ignore_then(declaring_condition())
        .then(stmt.clone());
    let is_else_if = |next: Ahead<'_>| {
        next.is_word(0, Keyword::Else)
            && next.is_word(1, Keyword::If)
            && !next.is_word(2, Keyword::Constexpr)
    };
    let otherwise = when(
        at_word(Keyword::Else),
        word(Keyword::Else).ignore_then(stmt.clone()).map(Box::new),
    )
    .boxed();
    let constant = word(Keyword::If)
        .ignore_then(word(Keyword::Constexpr))
        .ignore_then(condition())
        .then(stmt)
        .then(otherwise.clone())
        .map(|(arm, otherwise)| StmtKind::If {
            arms: vec![arm],
            otherwise,
            is_constexpr: true,
        });
    let more = repeat_while(is_else_if, word(Keyword::Else).ignore_then(arm.clone()));
    let plain = arm
        .then(more)
        .then(otherwise)
        .map_with(|((first, mut arms), otherwise), extra| {
            arms.insert(0, first);
            if_of(arms, otherwise, whole(extra))
        });
    either(|next| next.is_word(1, Keyword::Constexpr), constant, plain).boxed()
}

/// An `else` without an `if`; the statement after it is read separately.
fn stray_else<'t>() -> impl Production<'t, StmtKind> {
    word(Keyword::Else).map_with(|(), extra| {
        let (span, place) = (whole(extra), extra.span().start);
        let state = extra.state();
        let ends_statement = matches!(
            state.token_before(place),
            Some(TokenKind::Punct(Punct::RBrace | Punct::Semi))
        );
        state.report(span, SyntaxError::ElseWithoutIf { ends_statement });
        StmtKind::Empty
    })
}

/// `switch (value) body`.
fn switch<'t>(stmt: P<'t, Stmt>) -> impl Production<'t, StmtKind> {
    word(Keyword::Switch)
        .ignore_then(condition())
        .then(stmt)
        .map(|(value, body)| StmtKind::Switch {
            value,
            body: Box::new(body),
        })
}

/// `case value:` and `default:`; the statement after it is the next of its block.
fn case<'t>() -> impl Production<'t, StmtKind> {
    let case = word(Keyword::Case)
        .ignore_then(expression())
        .map(StmtKind::Case);
    let default = word(Keyword::Default).to(StmtKind::Default);
    either(at_word(Keyword::Case), case, default).then_ignore(punct(Punct::Colon))
}

/// `name:`
fn is_label(next: Ahead<'_>) -> bool {
    next.is_name(0) && next.is(1, Punct::Colon)
}

/// `break;`, `continue;`, `goto name;`, `return e;`.
fn jump<'t>() -> impl Production<'t, StmtKind> {
    use Keyword::*;
    let ends = |next: Ahead<'_>| matches!(next.punct(0), Some(Punct::Semi | Punct::RBrace));
    let value = when(move |next| !ends(next), expression());
    choose!(|next| next.keyword(0);
        Some(Return) => return_: word(Return).ignore_then(value).map(StmtKind::Return),
        Some(Goto) => goto: word(Goto).ignore_then(name()).map(StmtKind::Goto),
        Some(Break) => break_: word(Break).to(StmtKind::Break),
        _ => continue_: word(Continue).to(StmtKind::Continue),
    )
    .then_ignore(semicolon())
}
