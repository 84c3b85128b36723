//! Namespaces, and names with `::` in them.

use std::sync::Arc;

use super::{Binding, Entity, FILE, Scope, Scopes};
use crate::sema::{
    path,
    ty::{RecordId, Ty},
};
use ir::span::Span;

impl Scopes {
    /// The type that the scopes of a qualified name mean: `A::B` in `A::B::c`.
    pub(super) fn find_scope(&self, scopes: &str) -> Option<Ty> {
        let parts: Vec<&str> = path::parts(path::relative(scopes));
        let named = |name: &str| match self.find_tag_here_or_out(name) {
            Some((ty, _)) => Some(ty.clone()),
            None => match &self.find_out(name)?.entity {
                Entity::Typedef(ty) => Some(ty.ty.clone()),
                _ => None,
            },
        };
        // The first parts may be namespaces.
        let (n, mut ty) =
            (1..=parts.len()).find_map(|n| Some((n, named(&path::join(&parts[..n]))?)))?;
        for part in &parts[n..] {
            let Ty::Record(class) = ty else { return None };
            ty = match self.find_tag_in_class(class, part) {
                Some((ty, _)) => ty.clone(),
                None => match &self.find_in_class(class, part)?.1.entity {
                    Entity::Typedef(ty) => ty.ty.clone(),
                    _ => return None,
                },
            };
        }
        Some(ty)
    }

    /// The class that the scopes of a qualified name mean, and the name in it.
    pub(crate) fn split_path<'n>(&self, name: &'n str) -> Option<(RecordId, &'n str)> {
        let (scopes, last) = path::split(name)?;
        match self.find_scope(scopes)? {
            Ty::Record(class) => Some((class, last)),
            _ => None,
        }
    }

    /// The namespace in a function's qualified name, if the function has been declared in it.
    pub(crate) fn namespace_of_function(&self, name: &str) -> Option<Arc<str>> {
        let name = path::relative(name);
        if self.split_path(name).is_some() {
            return None;
        }
        let full = self.find_at(FILE, name, |scope, name| {
            let (key, found) = scope.names.get_key_value(name)?;
            matches!(found.entity, Entity::Functions(_)).then_some(key)
        });
        Some(path::split(full?)?.0.into())
    }

    pub(super) fn find_path(&self, name: &str) -> Option<&Binding> {
        let (scopes, last) = path::split(name)?;
        if scopes.is_empty() {
            return self.stack[FILE].names.get(last);
        }
        match self.find_scope(scopes) {
            Some(Ty::Record(class)) => self.find_in_class(class, last).map(|(_, found)| found),
            Some(Ty::Enum(id)) => self.enumerators.get(&id)?.get(last),
            Some(_) => None,
            None => self.find_out(name),
        }
    }

    /// Looks up a name that has only namespaces before it: in the blocks (if it has none) and at file scope.
    fn find_out(&self, name: &str) -> Option<&Binding> {
        if !path::is_qualified(name) {
            return self.find(name);
        }
        let get = |depth| self.find_at(depth, name, |scope, name| scope.names.get(name));
        get(FILE).or_else(|| get(0))
    }

    pub(super) fn find_tag_here_or_out(&self, name: &str) -> Option<&(Ty, Span)> {
        if !path::is_qualified(name) {
            return self.find_tag(name);
        }
        let get = |depth| self.find_at(depth, name, |scope, name| scope.tags.get(name));
        get(FILE).or_else(|| get(0))
    }

    /// Looks up a name in one scope; at file scope also in the enclosing namespaces and in those that `using namespace` names. A match of
    /// the prelude in an inner namespace comes before a match of the program further out.
    pub(super) fn find_at<'s, T>(
        &'s self,
        depth: usize,
        name: &str,
        get: impl Fn(&'s Scope, &str) -> Option<&'s T>,
    ) -> Option<&'s T> {
        let scope = &self.stack[depth];
        if depth > FILE || !self.has_namespaces {
            return get(scope, name);
        }
        let alias = path::split_first(name).and_then(|(first, rest)| {
            let of = self.aliases.get(first)?;
            Some(format!("{of}::{rest}"))
        });
        let name = alias.as_deref().unwrap_or(name);
        let prelude = (depth == FILE).then_some(&self.stack[0]);
        let get = |scope, name: &str| get(scope, name).or_else(|| get(prelude?, name));
        let mut namespace = &*self.namespace;
        loop {
            let found = match namespace {
                "" => get(scope, name),
                _ => get(scope, &format!("{namespace}::{name}")),
            };
            let used = || {
                let directives = self.directives.iter().filter(|(at, _)| **at == *namespace);
                directives
                    .filter_map(|(_, used)| get(scope, &format!("{used}::{name}")))
                    .next()
            };
            if let Some(found) = found.or_else(used) {
                return Some(found);
            }
            if namespace.is_empty() {
                return None;
            }
            namespace = path::outer(namespace);
        }
    }

    /// The full name of something declared here, with its namespaces.
    pub(super) fn qualified(&self, depth: usize, name: Arc<str>) -> Arc<str> {
        match depth <= FILE && !self.namespace.is_empty() {
            true => format!("{}::{name}", self.namespace).into(),
            false => name,
        }
    }

    /// The current namespace.
    pub(crate) fn namespace(&self) -> Arc<str> {
        self.namespace.clone()
    }

    /// Changes the current namespace; returns the previous one.
    pub(crate) fn set_namespace(&mut self, namespace: Arc<str>) -> Arc<str> {
        self.has_namespaces |= !namespace.is_empty();
        std::mem::replace(&mut self.namespace, namespace)
    }

    /// `using namespace used;`
    pub(crate) fn use_namespace(&mut self, used: Arc<str>) {
        let used = self.aliases.get(&used).cloned().unwrap_or(used);
        // Inside another namespace, that one's name may be omitted.
        if !self.namespace.is_empty() {
            let inner = format!("{}::{used}", self.namespace);
            self.directives.push((self.namespace.clone(), inner.into()));
        }
        self.directives.push((self.namespace.clone(), used));
    }

    /// `namespace alias = of;`
    pub(crate) fn alias_namespace(&mut self, alias: Arc<str>, of: Arc<str>) {
        self.has_namespaces = true;
        self.aliases.insert(alias, of);
    }

    /// `using a::b;`: `b` has the same meaning here as there. `false` if it has none.
    pub(crate) fn use_name(&mut self, name: &str) -> bool {
        let last: Arc<str> = path::last(name).into();
        let (binding, tag) = (self.find(name).cloned(), self.find_tag(name).cloned());
        let found = binding.is_some() || tag.is_some();
        let depth = self.stack.len() - 1;
        let last = self.qualified(depth, last);
        if let Some(binding) = binding {
            self.stack[depth].names.insert(last.clone(), binding);
        }
        if let Some(tag) = tag {
            self.stack[depth].tags.insert(last, tag);
        }
        found
    }
}

/// `cuda::std` has the contents of `std`, for device code as well: returns the name in `std` for one in `cuda::std`.
pub(super) fn of_std(name: &str) -> Option<&str> {
    let in_cuda = path::relative(name).strip_prefix("cuda::")?;
    in_cuda.starts_with("std::").then_some(in_cuda)
}
