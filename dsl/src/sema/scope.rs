//! Names and what they mean, innermost block first.
//!
//! Scope 0 holds the prelude, scope 1 the program's file scope, the others are functions' blocks. Tags (`struct S`) have
//! a table of their own in each scope; as in C++ a tag also names its type where nothing else has that name.

use std::{collections::HashMap, sync::Arc};

use super::{
    ty::{EnumId, QualTy, Ty},
    typed::{FunctionId, GlobalVarId, VarId},
};
use crate::span::Span;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// A variable of the function being checked.
    Local(VarId),
    /// A variable at file scope, or a `static` one.
    Global(GlobalVarId),
    /// The functions of this name: mostly one, several if it is overloaded.
    Functions(Arc<[Callable]>),
    /// A type's name.
    Typedef(QualTy),
    /// An enumerator.
    Enumerator(EnumId, i64),
    /// Its declaration was wrong and has been reported.
    Error,
}

/// One of the functions that a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Callable {
    /// One that is declared.
    Function(FunctionId),
    /// One of the prelude that nothing has used yet, by its item's index.
    Unused(usize),
}

impl Entity {
    /// The function alone.
    pub(super) fn function(callable: Callable) -> Entity {
        Entity::Functions(Arc::from([callable]))
    }
}

/// A name's meaning and the place that gave it.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) entity: Entity,
    pub(super) span: Span,
}

/// One block's names.
#[derive(Default, Debug)]
pub(super) struct Scope {
    names: HashMap<Arc<str>, Binding>,
    tags: HashMap<Arc<str>, (Ty, Span)>,
}

/// The blocks around the place being checked.
#[derive(Debug)]
pub(super) struct Scopes {
    stack: Vec<Scope>,
}

/// Index of the program's file scope.
const FILE: usize = 1;

impl Scopes {
    pub(super) fn new() -> Scopes {
        Scopes {
            stack: vec![Scope::default(), Scope::default()],
        }
    }

    pub(super) fn enter(&mut self) {
        self.stack.push(Scope::default());
    }

    pub(super) fn leave(&mut self) {
        self.stack.pop();
    }

    /// Hides everything but the prelude; gives it back to [`Scopes::restore`].
    pub(super) fn only_prelude(&mut self) -> Vec<Scope> {
        let hidden = self.stack.split_off(FILE);
        self.stack.push(Scope::default());
        hidden
    }

    pub(super) fn restore(&mut self, hidden: Vec<Scope>) {
        self.stack.truncate(FILE);
        self.stack.extend(hidden);
    }

    fn at(&mut self, in_prelude: bool) -> &mut Scope {
        let index = if in_prelude { 0 } else { self.stack.len() - 1 };
        &mut self.stack[index]
    }

    /// Binds a name in the innermost scope (the prelude's own when `in_prelude`).
    pub(super) fn bind(&mut self, name: Arc<str>, entity: Entity, span: Span, in_prelude: bool) {
        self.at(in_prelude)
            .names
            .insert(name, Binding { entity, span });
    }

    /// Adds a function to those that a name stands for at file scope (in the prelude's when `in_prelude`).
    pub(super) fn add_function(
        &mut self,
        name: Arc<str>,
        callable: Callable,
        span: Span,
        in_prelude: bool,
    ) {
        let scope = &mut self.stack[if in_prelude { 0 } else { FILE }];
        match scope
            .names
            .get_mut(&name)
            .map(|binding| &mut binding.entity)
        {
            Some(Entity::Functions(set)) => {
                *set = set.iter().copied().chain([callable]).collect();
            }
            _ => {
                let entity = Entity::function(callable);
                scope.names.insert(name, Binding { entity, span });
            }
        }
    }

    /// An unused prelude function has become one that is declared.
    pub(super) fn use_prelude(&mut self, name: &str, index: usize, id: FunctionId) {
        if let Some(Binding {
            entity: Entity::Functions(set),
            ..
        }) = self.stack[0].names.get_mut(name)
        {
            let swap = |callable: &Callable| match callable {
                Callable::Unused(i) if *i == index => Callable::Function(id),
                other => *other,
            };
            *set = set.iter().map(swap).collect();
        }
    }

    /// The prelude's meaning of a name.
    pub(super) fn find_in_prelude(&self, name: &str) -> Option<&Binding> {
        self.stack[0].names.get(name)
    }

    /// Hides the blocks' names; gives them back to [`Scopes::show`].
    pub(super) fn only_file(&mut self) -> Vec<Scope> {
        self.stack.split_off((FILE + 1).min(self.stack.len()))
    }

    pub(super) fn show(&mut self, hidden: Vec<Scope>) {
        self.stack.truncate(FILE + 1);
        self.stack.extend(hidden);
    }

    pub(super) fn bind_tag(&mut self, name: Arc<str>, ty: Ty, span: Span, in_prelude: bool) {
        self.at(in_prelude).tags.insert(name, (ty, span));
    }

    /// The meaning of a name here.
    pub(super) fn find(&self, name: &str) -> Option<&Binding> {
        self.stack
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name))
    }

    /// The meaning given in the innermost scope itself.
    pub(super) fn find_here(&self, name: &str, in_prelude: bool) -> Option<&Binding> {
        let index = if in_prelude { 0 } else { self.stack.len() - 1 };
        self.stack[index].names.get(name)
    }

    /// The meaning at file scope.
    pub(super) fn find_at_file(&self, name: &str) -> Option<&Binding> {
        self.stack[FILE].names.get(name)
    }

    pub(super) fn find_tag(&self, name: &str) -> Option<&(Ty, Span)> {
        self.stack
            .iter()
            .rev()
            .find_map(|scope| scope.tags.get(name))
    }

    pub(super) fn find_tag_here(&self, name: &str, in_prelude: bool) -> Option<&(Ty, Span)> {
        let index = if in_prelude { 0 } else { self.stack.len() - 1 };
        self.stack[index].tags.get(name)
    }

    /// Every name that can be seen, for suggestions.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &Entity)> {
        self.stack.iter().rev().flat_map(|scope| {
            scope
                .names
                .iter()
                .map(|(name, binding)| (&**name, &binding.entity))
        })
    }

    /// Every tag that can be seen, for suggestions.
    pub(super) fn tags(&self) -> impl Iterator<Item = &str> {
        self.stack
            .iter()
            .rev()
            .flat_map(|scope| scope.tags.keys().map(|name| &**name))
    }
}
