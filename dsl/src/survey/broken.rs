//! Classes of unknown layout, because they contain an error: a kernel that accesses one would access wrong bytes.

use std::collections::{HashMap, HashSet};

use crate::{
    sema::{
        ty::{RecordId, Ty},
        typed::Program,
    },
    syntax::token::{Punct, Token, TokenKind},
};
use ir::{
    diagnostic::{Diagnostic, Severity},
    source::SourceMap,
    span::Span,
};

/// Such classes, each with its error.
pub(super) struct Broken(HashMap<RecordId, Diagnostic>);

impl Broken {
    /// The classes that the checker found, and those with a syntax error among their members.
    pub(super) fn new(
        mut found: HashMap<RecordId, Diagnostic>,
        program: &Program,
        tokens: &[Token],
        syntax_errors: &[Diagnostic],
        map: &SourceMap,
    ) -> Broken {
        let site = |span: Span| {
            let span = map.use_site(span);
            (span.file, span.start)
        };
        let errors: Vec<&Diagnostic> = syntax_errors
            .iter()
            .filter(|message| message.severity == Severity::Error)
            .collect();
        if !errors.is_empty() {
            let classes = program.records.iter().enumerate();
            let by_name: HashMap<_, Vec<RecordId>> = classes
                .filter_map(|(index, record)| Some((site(record.span?), RecordId(index as u32))))
                .fold(HashMap::new(), |mut names, (place, id)| {
                    names.entry(place).or_default().push(id);
                    names
                });
            for (at, token) in tokens.iter().enumerate() {
                let Some(ids) = by_name.get(&site(token.span)) else {
                    continue;
                };
                if let Some(error) = error_among_members(&tokens[at..], &errors, map) {
                    for id in ids {
                        found.entry(*id).or_insert_with(|| error.clone());
                    }
                }
            }
        }
        Broken(found)
    }

    /// The error in a class that a type contains or points to, if there is one. `seen` are the classes known to lead to none.
    pub(super) fn why(
        &self,
        ty: &Ty,
        program: &Program,
        seen: &mut HashSet<RecordId>,
    ) -> Option<Diagnostic> {
        match ty {
            Ty::Pointer(to) | Ty::Array(to, _) => self.why(&to.ty, program, seen),
            Ty::Record(id) => {
                if let Some(why) = self.0.get(id) {
                    return Some(why.clone());
                }
                if !seen.insert(*id) {
                    return None;
                }
                let fields = &program.records[*id].fields;
                fields
                    .iter()
                    .filter(|field| !matches!(field.ty.ty, Ty::Pointer(_)))
                    .find_map(|field| self.why(&field.ty.ty, program, seen))
            }
            _ => None,
        }
    }
}

/// The first error between the braces of a class, but not in the body of one of its functions. `tokens` begin at its name.
fn error_among_members<'e>(
    tokens: &[Token],
    errors: &[&'e Diagnostic],
    map: &SourceMap,
) -> Option<&'e Diagnostic> {
    let mut depth = 0usize;
    for token in tokens {
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => depth += 1,
            TokenKind::Punct(Punct::RBrace) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return None;
                }
            }
            TokenKind::Punct(Punct::Semi) if depth == 0 => return None,
            _ => {}
        }
        if depth == 1 {
            let token = map.use_site(token.span);
            let is_in_token = |error: &&&Diagnostic| {
                let error = map.use_site(error.primary.span);
                error.file == token.file && error.start >= token.start && error.start < token.end
            };
            if let Some(error) = errors.iter().find(is_in_token) {
                return Some(error);
            }
        }
    }
    None
}
