//! Decides whether two declarations are of the same template, by comparing their tokens with the parameters renamed.

use super::super::Checker;
use crate::{
    sema::scope::{Callable, Entity, TemplateId},
    syntax::{
        ast::{self, TemplateParamKind},
        words_of,
    },
};
use ir::source::SourceMap;
use ir::span::Span;

/// The template that a declaration repeats: it has as many parameters, and the same text of its function's parameters and of everything
/// else that depends on the template's.
pub(crate) fn same_template(
    cx: &Checker<'_>,
    name: &str,
    params: &[ast::TemplateParam],
    function: &ast::Function,
) -> Option<TemplateId> {
    let Entity::Functions(set) = &cx.scopes.find_at_file(name)?.entity else {
        return None;
    };
    let text = canonical(cx.map, params, function);
    set.iter().find_map(|callable| match callable {
        Callable::Template(id) => {
            let facts = &cx.instances.templates[*id];
            let ast::Item::Function(old) = facts.item else {
                return None;
            };
            let same =
                facts.params.len() == params.len() && canonical(cx.map, facts.params, old) == text;
            same.then_some(*id)
        }
        _ => None,
    })
}

/// The text that distinguishes function templates of one name, with the template's parameters numbered: the parameters' kinds, the result
/// if it has template arguments (as `std::enable_if` has), the function's parameters.
fn canonical(map: &SourceMap, params: &[ast::TemplateParam], function: &ast::Function) -> String {
    let mut out = String::new();
    for param in params {
        match &param.kind {
            TemplateParamKind::Type(_) => out.push('T'),
            TemplateParamKind::Template => out.push('C'),
            TemplateParamKind::Value { ty, .. } => {
                canonical_text(map, params, ty.specifiers.ty.span, None, &mut out);
            }
        }
        out.push(if param.is_pack { '*' } else { ';' });
    }
    if let ast::TypeSpecifier::Path(path) = &function.specifiers.ty.node {
        canonical_text(map, params, path.span, None, &mut out);
    }
    for param in &function.params {
        out.push(';');
        let own = param.declarator.name.as_ref().map(|name| &*name.node);
        canonical_text(map, params, param.span, own, &mut out);
    }
    out
}

/// The tokens at a place up to a default argument, without the name `own`. Adjacent brackets (`>>`) are the same as separate ones.
fn canonical_text(
    map: &SourceMap,
    params: &[ast::TemplateParam],
    span: Span,
    own: Option<&str>,
    out: &mut String,
) {
    let text = map.snippet(span);
    let words = words_of(text)
        .into_iter()
        .map(|word| &text[word.range])
        .take_while(|&word| word != "=");
    for word in words.filter(|&word| Some(word) != own) {
        let index = params
            .iter()
            .position(|param| param.name.as_ref().is_some_and(|name| &*name.node == word));
        match index {
            Some(index) => out.push_str(&format!("${index}")),
            None if word.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                out.push(' ');
                out.push_str(word);
            }
            None => out.push_str(word),
        }
    }
}

/// Whether this is a request from the command line.
pub(crate) fn is_request(map: &SourceMap, span: Span) -> bool {
    map.file(span.file).name == ir::source::COMMAND_LINE
}
