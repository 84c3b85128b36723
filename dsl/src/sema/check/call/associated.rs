//! Argument-dependent lookup: `init(&barrier, n)` is `cuda::init`.
//!
//! C++ also looks for a plain name in the namespaces of the arguments' classes. Here this is only done for names that nothing else
//! declares.

use crate::sema::check::{Tables, specifier, template::Instances};
use std::sync::Arc;

use crate::{
    sema::{
        check::Checker,
        path,
        scope::{Callable, Entity},
        ty::Ty,
    },
    syntax::ast,
};

/// The functions of this name in the namespaces of the arguments' types, with their full name.
pub(crate) fn associated_functions(
    cx: &mut Checker<'_>,
    name: &str,
    args: &[ast::Expr],
) -> Option<(Arc<str>, Arc<[Callable]>)> {
    let is_this = |other: &str| path::is_qualified(other) && path::last(other) == name;
    if path::is_qualified(name) || !cx.scopes.names().any(|(other, _)| is_this(other)) {
        return None;
    }
    args.iter().find_map(|arg| {
        let ty = specifier::type_of_unevaluated(cx, arg).ok()?;
        let scope = namespace_of(&cx.tables, &cx.instances, &ty)?;
        let name: Arc<str> = format!("{scope}::{name}").into();
        match &cx.scopes.find(&name)?.entity {
            Entity::Functions(set) => {
                let set = set.iter().copied().collect();
                Some((name, set))
            }
            Entity::Local(_)
            | Entity::Global(_)
            | Entity::Member(_)
            | Entity::Captured(_)
            | Entity::Typedef(_)
            | Entity::Template(_)
            | Entity::Enumerator(..)
            | Entity::Constant(..)
            | Entity::Reference(_)
            | Entity::Pack(_)
            | Entity::Error => None,
        }
    })
}

/// The namespace of a class, also through pointers and arrays.
fn namespace_of(tables: &Tables, instances: &Instances<'_>, ty: &Ty) -> Option<String> {
    match ty {
        Ty::Record(id) => {
            if let Some(instance) = instances.classes.get(id) {
                let template = &instances.templates[instance.template];
                return Some(template.namespace().to_string());
            }
            let name = &tables.record(*id).name;
            path::split(name).map(|(scope, _)| scope.to_string())
        }
        Ty::Pointer(inner) => namespace_of(tables, instances, &inner.ty),
        Ty::Array(element, _) => namespace_of(tables, instances, &element.ty),
        Ty::Void
        | Ty::Bool
        | Ty::Char
        | Ty::SChar
        | Ty::UChar
        | Ty::Short
        | Ty::UShort
        | Ty::Int
        | Ty::UInt
        | Ty::Long
        | Ty::ULong
        | Ty::LongLong
        | Ty::ULongLong
        | Ty::Float
        | Ty::Double
        | Ty::Enum(_)
        | Ty::Function(_)
        | Ty::Error => None,
    }
}
