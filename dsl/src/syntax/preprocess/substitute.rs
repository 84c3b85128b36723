//! Builds a macro's replacement with its arguments inserted.
//!
//! Every token of the result records through which use of which macro it came. A token of the definition gets the expansion of the call. A
//! token of an argument is spelled at the call, and gets a separate expansion for each place where the parameter is used, so that two
//! copies of one argument can be told apart. Macros used inside the argument keep their chain, with the call added at its outer end.

use std::collections::HashMap;

use super::Preprocessor;
use super::macros::{Macro, Piece};
use crate::syntax::lexer;
use crate::syntax::lexer::intern::Sym;
use crate::syntax::lexer::pp_token::{PpKind, PpToken};
use crate::syntax::message::preprocess::MacroError;
use crate::syntax::token::Punct;
use ir::source::Expansion;
use ir::span::{ExpansionId, Span};

/// One use of a macro with arguments.
struct Call<'a> {
    found: &'a Macro,
    used_at: Span,
    expansion: ExpansionId,
    arguments: &'a [Vec<PpToken>],
    /// The arguments with their own macros replaced, computed on first use.
    expanded: Vec<Option<Vec<PpToken>>>,
}

impl Call<'_> {
    /// The index of the variadic parameter, if there is one.
    fn rest(&self) -> Option<usize> {
        let params = self.found.params.as_ref()?;
        params.variadic.then(|| params.names.len() - 1)
    }
}

/// The result so far, and the left operand of the next `##`.
#[derive(Default)]
struct Output {
    tokens: Vec<PpToken>,
    /// The `##` just read.
    paste: Option<Span>,
    /// Whether the operand just added, or a whole chain of `##`, was empty.
    left_is_empty: bool,
}

impl Preprocessor<'_> {
    /// The replacement of `found` for these arguments, not yet rescanned.
    pub(super) fn substitute(
        &mut self,
        found: &Macro,
        expansion: ExpansionId,
        used_at: Span,
        arguments: &[Vec<PpToken>],
    ) -> Vec<PpToken> {
        let mut call = Call {
            found,
            used_at,
            expansion,
            arguments,
            expanded: vec![None; arguments.len()],
        };
        self.follow(&found.pieces, &mut call)
    }

    fn follow(&mut self, pieces: &[Piece], call: &mut Call<'_>) -> Vec<PpToken> {
        let mut output = Output::default();
        for (at, piece) in pieces.iter().enumerate() {
            if self.stopped {
                break;
            }
            let pasted_next = matches!(pieces.get(at + 1), Some(Piece::Paste(_)));
            let operand = match piece {
                Piece::Paste(span) => {
                    output.paste = Some(in_expansion(*span, call.expansion));
                    continue;
                }
                Piece::Token(token) => vec![PpToken {
                    span: in_expansion(token.span, call.expansion),
                    ..*token
                }],
                Piece::Stringify(index, hash) => vec![self.stringify(*index, hash, call)],
                Piece::VaOpt(inner, token) => {
                    let rest = call.rest().unwrap_or(0);
                    let mut made = if self.expanded(rest, call).is_empty() {
                        Vec::new()
                    } else {
                        self.follow(inner, call)
                    };
                    if let Some(first) = made.first_mut() {
                        *first = first.spaced_like(token.flags);
                    }
                    made
                }
                // GNU: `, ## __VA_ARGS__` removes the comma if nothing follows it.
                Piece::Param(index, param)
                    if output.paste.is_some()
                        && call.rest() == Some(*index)
                        && output
                            .tokens
                            .last()
                            .is_some_and(|last| last.is(Punct::Comma))
                        && matches!(pieces.get(at.wrapping_sub(2)), Some(Piece::Token(_))) =>
                {
                    output.paste = None;
                    if call.arguments[*index].is_empty() {
                        output.tokens.pop();
                        output.left_is_empty = true;
                        continue;
                    }
                    self.argument(*index, param, !pasted_next, call)
                }
                Piece::Param(index, param) => {
                    let is_operand = pasted_next || output.paste.is_some();
                    self.argument(*index, param, !is_operand, call)
                }
            };
            self.add(operand, &mut output, call);
        }
        output.tokens
    }

    /// Adds an operand, joined to the previous one after a `##`.
    fn add(&mut self, operand: Vec<PpToken>, output: &mut Output, call: &Call<'_>) {
        let Some(paste) = output.paste.take() else {
            output.left_is_empty = operand.is_empty();
            output.tokens.extend(operand);
            return;
        };
        let mut operand = operand.into_iter();
        let Some(right) = operand.next() else { return };
        match output.tokens.pop() {
            Some(left) if !output.left_is_empty => {
                self.paste(left, right, paste, &mut output.tokens, call)
            }
            left => {
                output.tokens.extend(left);
                output.tokens.push(right);
            }
        }
        output.tokens.extend(operand);
        output.left_is_empty = false;
    }

    fn paste(
        &mut self,
        left: PpToken,
        right: PpToken,
        at: Span,
        out: &mut Vec<PpToken>,
        call: &Call<'_>,
    ) {
        let mut text = String::with_capacity(32);
        text.push_str(left.text(&self.names));
        text.push_str(right.text(&self.names));
        if let Some(kind) = lexer::single(&text, &mut self.names) {
            // The new name is not the one that was painted.
            out.push(PpToken {
                kind,
                flags: left.flags & PpToken::SPACE,
                span: at,
            });
            return;
        }
        let name = call.found.name;
        self.report(at, MacroError::BadPaste { left, right, name });
        out.extend([left, right]);
    }

    /// `#x`: the argument as spelled, in a string.
    fn stringify(&mut self, index: usize, hash: &PpToken, call: &Call<'_>) -> PpToken {
        let mut text = String::from("\"");
        for (at, token) in call.arguments[index].iter().enumerate() {
            if at > 0 && token.has(PpToken::SPACE) {
                text.push(' ');
            }
            let spelling = token.text(&self.names);
            match token.kind {
                PpKind::Str(_) | PpKind::Char(_) => {
                    for character in spelling.chars() {
                        if matches!(character, '"' | '\\') {
                            text.push('\\');
                        }
                        text.push(character);
                    }
                }
                PpKind::Name(_) | PpKind::Number(_) | PpKind::Punct(_) | PpKind::Unroll(_) => {
                    text.push_str(spelling)
                }
            }
        }
        text.push('"');
        self.spend(text.len() / 16, call.found.name, call.used_at);
        PpToken {
            kind: PpKind::Str(self.names.intern(&text)),
            flags: hash.flags,
            span: in_expansion(hash.span, call.expansion),
        }
    }

    /// An argument in place of its parameter.
    fn argument(
        &mut self,
        index: usize,
        param: &PpToken,
        expand: bool,
        call: &mut Call<'_>,
    ) -> Vec<PpToken> {
        if call.arguments[index].is_empty() {
            return Vec::new();
        }
        if expand {
            self.expanded(index, call);
        }
        let mut tokens = match &call.expanded[index] {
            Some(tokens) if expand => tokens.clone(),
            _ => call.arguments[index].clone(),
        };
        self.spend(tokens.len(), call.found.name, call.used_at);
        let occurrence = self.expansion(call.found, call.used_at);
        let context = call.used_at.expansion;
        let context_use = self
            .map
            .expansion(context)
            .map(|expansion| expansion.used_at);
        let mut chain = Chain {
            name: call.found.name,
            used_at: call.used_at,
            context,
            context_use,
            occurrence,
            moved: HashMap::new(),
        };
        for token in &mut tokens {
            token.span.expansion = self.moved(token.span.expansion, &mut chain);
        }
        if let Some(first) = tokens.first_mut() {
            *first = first.spaced_like(param.flags);
        }
        tokens
    }

    /// An argument with its own macros replaced.
    fn expanded<'c>(&mut self, index: usize, call: &'c mut Call<'_>) -> &'c [PpToken] {
        if call.expanded[index].is_none() {
            call.expanded[index] = Some(self.expand_list(call.arguments[index].clone()));
        }
        call.expanded[index].as_deref().unwrap_or_default()
    }

    /// The expansion of an argument's token once the argument is in the replacement: the call takes the place of its own context, and the
    /// macros used inside the argument stay in front of it.
    fn moved(&mut self, expansion: ExpansionId, chain: &mut Chain) -> ExpansionId {
        if expansion == chain.context {
            return chain.occurrence;
        }
        if let Some(&known) = chain.moved.get(&expansion) {
            return known;
        }
        let (mut inner, mut at) = (Vec::new(), expansion);
        while let Some(found) = self.map.expansion(at) {
            // The tokens of one replacement, from the definition or an argument, share the use.
            if Some(found.used_at) == chain.context_use {
                break;
            }
            inner.push(found.clone());
            at = found.used_at.expansion;
        }
        if at == ExpansionId::NONE && chain.context_use.is_some() {
            // The name came from a replacement that was used up and the arguments from outside: the call is enough.
            inner.clear();
        }
        let mut outer = chain.occurrence;
        self.spend(inner.len(), chain.name, chain.used_at);
        for found in inner.into_iter().rev() {
            let used_at = in_expansion(found.used_at, outer);
            outer = self.map.add_expansion(Expansion { used_at, ..found });
        }
        chain.moved.insert(expansion, outer);
        outer
    }
}

/// How the expansions of an argument's tokens change in one use of its parameter.
struct Chain {
    /// The macro, and its use.
    name: Sym,
    used_at: Span,
    /// The context of the call.
    context: ExpansionId,
    /// The use that the call came through, if any.
    context_use: Option<Span>,
    occurrence: ExpansionId,
    moved: HashMap<ExpansionId, ExpansionId>,
}

fn in_expansion(span: Span, expansion: ExpansionId) -> Span {
    Span { expansion, ..span }
}
