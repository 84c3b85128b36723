//! Member functions that are defined outside of their class.

use super::{enter_scopes, method_body, method_result};
use crate::sema::{
    check::{
        Checker, FunctionEntry, ParamFacts,
        function::{self, space_of},
        overload,
    },
    message::class::ClassError,
    scope::Entity,
    ty::{RecordId, Ty},
    typed::{FunctionId, FunctionSpace},
};
use crate::syntax::ast::{self, MethodKind};

/// The class's functions that a definition outside of it can mean.
fn methods_named(
    cx: &mut Checker<'_>,
    class: RecordId,
    kind: MethodKind,
    name: &str,
) -> Vec<FunctionId> {
    // A class that is only declared has no functions.
    let Some(facts) = cx.tables.classes.get(&class) else {
        return Vec::new();
    };
    match kind {
        MethodKind::Constructor => facts.constructors.clone(),
        MethodKind::Destructor => facts.destructor.into_iter().collect(),
        MethodKind::Conversion => facts.conversions.clone(),
        MethodKind::Plain => match cx.scopes.find_in_class(class, name) {
            Some((owner, binding)) if owner == class => match binding.entity.clone() {
                Entity::Functions(set) => overload::functions_of(cx, &set),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        },
    }
}

/// A definition's parameters and a conversion's type, with the class's names in scope.
fn signature_in_class(
    cx: &mut Checker<'_>,
    class: RecordId,
    function: &ast::Function,
) -> (Vec<ParamFacts>, Option<Ty>) {
    let floor = cx.scopes.raise_floor();
    let depth = enter_scopes(&cx.tables, &mut cx.scopes, Some(class));
    let params = function
        .params
        .iter()
        .map(|param| function::param(cx, param))
        .collect();
    let result =
        (function.method.kind == MethodKind::Conversion).then(|| method_result(cx, function).0);
    for _ in 0..depth {
        cx.scopes.leave();
    }
    cx.scopes.set_floor(floor);
    (params, result)
}

/// `int S::f(int x) { … }` outside of the class.
pub(crate) fn method_definition(cx: &mut Checker<'_>, function: &ast::Function) {
    let name = &function.name;
    let found = cx.scopes.split_path(&name.node);
    let Some((class, last)) = found.map(|(class, last)| (class, last.to_string())) else {
        cx.error(
            name.span,
            ClassError::NotOfAClass {
                name: name.node.to_string(),
            },
        );
        return;
    };
    let candidates = methods_named(cx, class, function.method.kind, &last);
    let (params, result) = signature_in_class(cx, class, function);
    let found = candidates.iter().copied().find(|id| {
        let FunctionEntry { typed, facts } = &cx.tables.functions[*id];
        let hidden = usize::from(facts.has_this);
        let same_words = !facts.has_this
            || function.method.kind != MethodKind::Plain
            || facts.params[0].ty.is_const == function.method.is_const
                && facts.params[0].ty.is_volatile == function.method.is_volatile;
        same_words
            && result.as_ref().is_none_or(|ty| typed.result == *ty)
            && function::same_params(&facts.params[hidden..], &params)
    });
    let Some(id) = found else {
        let owner = cx.tables.record(class).name.clone();
        let other = candidates
            .first()
            .map(|&first| cx.tables.functions[first].facts.declared);
        cx.error(
            name.span,
            ClassError::NoSuchMemberFunction {
                owner,
                last: last.to_string(),
                other,
            },
        );
        return;
    };
    let facts = &mut cx.tables.functions[id].facts;
    if facts.is_defined {
        let first = cx.tables.functions[id].typed.span;
        cx.error(
            name.span,
            ClassError::DefinedTwice {
                name: name.node.to_string(),
                first,
            },
        );
        return;
    }
    if function.body.is_none() {
        return;
    }
    // Defaults come from the class, names from the definition.
    let hidden = usize::from(facts.has_this);
    for (old, new) in facts.params[hidden..].iter_mut().zip(params) {
        old.name = new.name;
        old.span = new.span;
    }
    facts.is_defined = true;
    facts.is_empty = false;
    let declared_space = cx.tables.functions[id].typed.space;
    let space = space_of(&function.specifiers);
    if space != FunctionSpace::Host && space != declared_space {
        let declared = cx.tables.functions[id].facts.declared;
        cx.error(
            name.span,
            ClassError::SpaceDiffers {
                name: name.node.to_string(),
                space,
                declared_space,
                declared,
            },
        );
        return;
    }
    cx.tables.functions[id].typed.span = name.span;
    method_body(cx, id, function);
}
