//! Inline PTX; statements of C++: recognised, measured and stepped over, each as one node that says what it is.

use std::sync::Arc;

use super::{
    kit::{At, P, ahead, fail, here, parens, production, punct, since, take},
    lookahead::Ahead,
    primary::skipped,
    recover::{Failure, construct_end},
};
use crate::syntax::{
    ast::{Asm, Expr, ExprKind, StmtKind},
    message::parse::Expected,
    token::{Keyword, Punct, TokenKind},
};

/// Statements of C++, and how many tokens each takes.
pub(super) fn foreign_statement(look: Ahead<'_>) -> Option<(&'static str, usize)> {
    let found = match look.kind(0)? {
        TokenKind::Keyword(Keyword::Namespace) => ("a namespace", construct_end(look)),
        TokenKind::Keyword(Keyword::Template) => ("a template", construct_end(look)),
        TokenKind::Keyword(Keyword::Try) => ("`try`", try_extent(look)),
        _ => return None,
    };
    Some(found)
}

fn try_extent(look: Ahead<'_>) -> usize {
    let mut n = if look.is(1, Punct::LBrace) {
        look.after_brackets(1)
    } else {
        1
    };
    while look.is_word(n, Keyword::Catch) && look.is(n + 1, Punct::LParen) {
        n = look.after_brackets(n + 1);
        if look.is(n, Punct::LBrace) {
            n = look.after_brackets(n);
        }
    }
    n
}

/// `asm volatile("…" : "=r"(a) : "r"(b) : "memory");`
pub(super) fn asm<'t>(expression: P<'t, Expr>) -> P<'t, StmtKind> {
    let operand = parens(expression);
    let semicolon = super::stmt::semicolon();
    production(move |inp| {
        let start = here(inp);
        inp.skip();
        while matches!(
            ahead(inp).keyword(0),
            Some(Keyword::Volatile | Keyword::Inline | Keyword::Goto)
        ) {
            inp.skip();
        }
        inp.parse(punct(Punct::LParen))?;
        let text = string(inp)?;
        let mut sections: [Vec<(Arc<[u8]>, Expr)>; 2] = [Vec::new(), Vec::new()];
        let mut section = 0;
        loop {
            // Which section begins: `::` leaves one out.
            section += match ahead(inp).punct(0) {
                Some(Punct::Colon) => 1,
                Some(Punct::ColonColon) => 2,
                _ => break,
            };
            inp.skip();
            while matches!(ahead(inp).kind(0), Some(TokenKind::Str(_))) {
                let constraint = string(inp)?;
                if section < 3 {
                    let expr = inp.parse(&operand)?;
                    sections[section - 1].push((constraint, expr));
                }
                if !take(inp, Punct::Comma) {
                    break;
                }
            }
        }
        inp.parse(punct(Punct::RParen))?;
        let span = since(inp, start);
        inp.parse(&semicolon)?;
        let [outputs, inputs] = sections;
        let asm = Asm {
            text,
            outputs,
            inputs,
        };
        Ok(StmtKind::Expr(Expr {
            kind: ExprKind::Asm(Box::new(asm)),
            span,
        }))
    })
}

pub(super) fn string(inp: &mut At<'_, '_>) -> Result<Arc<[u8]>, Failure> {
    let Some(TokenKind::Str(text)) = ahead(inp).kind(0) else {
        return fail(inp, Expected::String);
    };
    let text = text.clone();
    inp.skip();
    Ok(text)
}

/// A statement that is read far enough to be named.
pub(super) fn foreign<'t>() -> P<'t, StmtKind> {
    production(|inp| {
        let Some((construct, n)) = foreign_statement(ahead(inp)) else {
            return fail(inp, Expected::Statement);
        };
        inp.parse(skipped(construct, n)).map(StmtKind::Expr)
    })
}
