//! Names and their meanings, innermost block first.
//!
//! Scope 0 holds the prelude, scope 1 the program's file scope, the others are functions' blocks. Tags (`struct S`) have a separate table
//! in each scope; as in C++ a tag also names its type if nothing else has that name.

mod namespace;

use crate::arena::ids;
use crate::sema::path;
use std::{cell::Cell, sync::Arc};

use rustc_hash::FxHashMap;

use super::{
    ty::{EnumId, QualTy, RecordId, Ty},
    typed::{FunctionId, GlobalVarId, VarId},
};
use crate::sema::check::Captured;
use ir::span::Span;
use namespace::of_std;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// A variable of the function being checked.
    Local(VarId),
    /// A variable at file scope, or a `static` one.
    Global(GlobalVarId),
    /// The functions of this name: mostly one, several if it is overloaded.
    Functions(Arc<[Callable]>),
    /// A member of the class whose function is being checked: needs an object.
    Member(RecordId),
    /// A type's name.
    Typedef(QualTy),
    /// A template's parameter that stands for an lvalue reference to this type.
    Reference(QualTy),
    /// An enumerator.
    Enumerator(EnumId, i64),
    /// A class or alias template.
    Template(TemplateId),
    /// A constant template argument: its type and its bits.
    Constant(Ty, u64),
    /// In the instances of a generic lambda: a variable that the lambda has captured.
    Captured(Arc<Captured>),
    /// A parameter pack: the meaning of its name for each element.
    Pack(Arc<[Binding]>),
    /// Its declaration is invalid, which has been reported.
    Error,
}

/// One of the functions with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Callable {
    /// A declared function.
    Function(FunctionId),
    /// A function of the prelude that is not used yet, by its item's index.
    Unused(usize),
    /// A function template.
    Template(TemplateId),
}

ids! {
    /// A function, class or alias template.
    pub(crate) struct TemplateId;
}

impl Entity {
    /// The meaning of the name of a single function.
    pub(crate) fn function(callable: Callable) -> Entity {
        Entity::Functions(Arc::from([callable]))
    }
}

/// A name's meaning and the place that declares it.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) entity: Entity,
    pub(crate) span: Span,
}

/// A variable of an enclosing function.
pub(crate) struct OuterVar {
    /// The depth of its block in the stack.
    pub(crate) depth: usize,
    pub(crate) var: VarId,
    /// Which element of a parameter pack it is.
    pub(crate) element: Option<usize>,
}

/// One block's names.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    names: FxHashMap<Arc<str>, Binding>,
    tags: FxHashMap<Arc<str>, (Ty, Span)>,
    /// The members of this class are names here, too.
    class: Option<RecordId>,
}

/// The blocks around a generic lambda, kept for its instances. The innermost block is an additional one, for names of the instances.
#[derive(Clone, Debug)]
pub(crate) struct Blocks(Vec<Scope>);

impl Blocks {
    /// Removes the meanings of variables: when an instance is checked, their function has ended.
    pub(crate) fn hide_variables(&mut self) {
        let bindings = self.0.iter_mut().flat_map(|scope| scope.names.values_mut());
        for binding in bindings {
            let is_variable = match &binding.entity {
                Entity::Pack(elements) => elements
                    .iter()
                    .any(|element| matches!(element.entity, Entity::Local(_))),
                entity => matches!(entity, Entity::Local(_)),
            };
            if is_variable {
                binding.entity = Entity::Error;
            }
        }
    }

    /// Binds a name in the innermost block.
    pub(crate) fn bind(&mut self, name: &Arc<str>, entity: Entity, span: Span) {
        if let Some(scope) = self.0.last_mut() {
            scope.names.insert(name.clone(), Binding { entity, span });
        }
    }
}

/// The names that a class declares.
#[derive(Default, Debug)]
struct ClassNames {
    scope: Scope,
    base: Option<RecordId>,
}

/// The blocks around the place being checked.
#[derive(Debug)]
pub(crate) struct Scopes {
    stack: Vec<Scope>,
    classes: FxHashMap<RecordId, ClassNames>,
    /// The enumerators of each named enumeration, for `E::A`.
    enumerators: FxHashMap<EnumId, FxHashMap<Arc<str>, Binding>>,
    /// The depth where the names of the function being checked begin: variables in outer blocks are another function's.
    floor: usize,
    /// The namespace around the place being checked: `a::b`, or nothing.
    namespace: Arc<str>,
    /// The namespaces that contain a `using namespace`, and the namespaces that it uses.
    directives: Vec<(Arc<str>, Arc<str>)>,
    /// `namespace x = a::b;`
    aliases: FxHashMap<Arc<str>, Arc<str>>,
    /// The element that the names of parameter packs stand for here, and the number of elements of the pack that was named last.
    element: Option<usize>,
    n_elements: Cell<Option<usize>>,
    /// Whether any name is in a namespace: then names at file scope are stored with their namespaces.
    has_namespaces: bool,
}

/// Index of the program's file scope.
const FILE: usize = 1;

impl Scopes {
    pub(crate) fn new() -> Scopes {
        Scopes {
            stack: vec![Scope::default(), Scope::default()],
            classes: FxHashMap::default(),
            enumerators: FxHashMap::default(),
            floor: 0,
            namespace: "".into(),
            directives: Vec::new(),
            aliases: FxHashMap::default(),
            element: None,
            n_elements: Cell::new(None),
            has_namespaces: false,
        }
    }

    pub(crate) fn enter(&mut self) {
        self.stack.push(Scope::default());
    }

    pub(crate) fn leave(&mut self) {
        self.stack.pop();
    }

    /// Enters a class, whose members are names until [`Scopes::leave`].
    pub(crate) fn enter_class(&mut self, class: RecordId) {
        self.stack.push(Scope {
            class: Some(class),
            ..Scope::default()
        });
    }

    /// Makes the innermost scope the names of a class, and leaves the scope.
    pub(crate) fn close_class(&mut self, class: RecordId, base: Option<RecordId>) {
        if let Some(scope) = self.stack.pop() {
            self.classes.insert(class, ClassNames { scope, base });
        }
    }

    /// Adds a function to a class whose body is open (the innermost scope).
    pub(crate) fn add_method(&mut self, name: Arc<str>, callable: Callable, span: Span) {
        let at = self.stack.len() - 1;
        add_callable(&mut self.stack[at], name, callable, span);
    }

    /// The meaning of a name as a member of a class or of its bases, and the class that has it.
    pub(crate) fn find_in_class(
        &self,
        class: RecordId,
        name: &str,
    ) -> Option<(RecordId, &Binding)> {
        let mut class = Some(class);
        while let Some(id) = class {
            let names = self.classes.get(&id)?;
            if let Some(binding) = names.scope.names.get(name) {
                return Some((id, binding));
            }
            class = names.base;
        }
        None
    }

    fn find_tag_in_class(&self, class: RecordId, name: &str) -> Option<&(Ty, Span)> {
        let mut class = Some(class);
        while let Some(id) = class {
            let names = self.classes.get(&id)?;
            if let Some(tag) = names.scope.tags.get(name) {
                return Some(tag);
            }
            class = names.base;
        }
        None
    }

    /// The functions of a name, even if a block declares it as something else.
    pub(crate) fn find_function(&self, name: &str) -> Option<&Binding> {
        self.stack.iter().rev().find_map(|scope| {
            let found = scope.names.get(name)?;
            matches!(found.entity, Entity::Functions(_)).then_some(found)
        })
    }

    /// Records an enumerator for `E::A`.
    pub(crate) fn add_enumerator(&mut self, id: EnumId, name: Arc<str>, value: i64, span: Span) {
        let entity = Entity::Enumerator(id, value);
        self.enumerators
            .entry(id)
            .or_default()
            .insert(name, Binding { entity, span });
    }

    /// From here on names belong to another function; returns the previous floor, for [`Scopes::set_floor`].
    pub(crate) fn raise_floor(&mut self) -> usize {
        std::mem::replace(&mut self.floor, self.stack.len())
    }

    pub(crate) fn set_floor(&mut self, floor: usize) {
        self.floor = floor;
    }

    pub(crate) fn floor(&self) -> usize {
        self.floor
    }

    /// The variable that a name means, if it belongs to an enclosing function.
    pub(crate) fn find_outer(&self, name: &str) -> Option<OuterVar> {
        if self.floor <= FILE + 1 {
            return None;
        }
        for (depth, scope) in self.stack.iter().enumerate().rev() {
            if let Some(binding) = scope.names.get(name) {
                let (entity, element) = match (&binding.entity, self.element) {
                    (Entity::Pack(elements), Some(element)) => {
                        self.n_elements.set(Some(elements.len()));
                        (&elements.get(element)?.entity, self.element)
                    }
                    (entity, _) => (entity, None),
                };
                return match *entity {
                    Entity::Local(var) if depth < self.floor => Some(OuterVar {
                        depth,
                        var,
                        element,
                    }),
                    _ => None,
                };
            }
            if scope
                .class
                .is_some_and(|class| self.find_in_class(class, name).is_some())
            {
                return None;
            }
        }
        None
    }

    /// Hides everything but the prelude; returns the rest for [`Scopes::restore`].
    pub(crate) fn only_prelude(&mut self) -> Vec<Scope> {
        let hidden = self.stack.split_off(FILE);
        self.stack.push(Scope::default());
        hidden
    }

    pub(crate) fn restore(&mut self, hidden: Vec<Scope>) {
        self.stack.truncate(FILE);
        self.stack.extend(hidden);
    }

    fn at(&mut self, in_prelude: bool) -> &mut Scope {
        let index = if in_prelude { 0 } else { self.stack.len() - 1 };
        &mut self.stack[index]
    }

    /// Binds a name in the innermost scope (the prelude's own when `in_prelude`).
    pub(crate) fn bind(&mut self, name: Arc<str>, entity: Entity, span: Span, in_prelude: bool) {
        let depth = if in_prelude { 0 } else { self.stack.len() - 1 };
        let name = self.qualified(depth, name);
        self.at(in_prelude)
            .names
            .insert(name, Binding { entity, span });
    }

    /// Adds a function to those of a name at file scope (the prelude's when `in_prelude`).
    pub(crate) fn add_function(
        &mut self,
        name: Arc<str>,
        callable: Callable,
        span: Span,
        in_prelude: bool,
    ) {
        let depth = if in_prelude { 0 } else { FILE };
        let name = self.qualified(depth, name);
        add_callable(&mut self.stack[depth], name, callable, span);
    }

    /// Replaces an unused prelude function by its declared function.
    pub(crate) fn use_prelude(&mut self, name: &str, index: usize, id: FunctionId) {
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
    pub(crate) fn find_in_prelude(&self, name: &str) -> Option<&Binding> {
        self.stack[0].names.get(name)
    }

    /// Hides the blocks' names; returns them for [`Scopes::show`].
    pub(crate) fn only_file(&mut self) -> Vec<Scope> {
        self.stack.split_off((FILE + 1).min(self.stack.len()))
    }

    pub(crate) fn show(&mut self, hidden: Vec<Scope>) {
        self.stack.truncate(FILE + 1);
        self.stack.extend(hidden);
    }

    /// A copy of the current blocks, with one more inside them.
    pub(crate) fn blocks(&self) -> Blocks {
        let around = self.stack.iter().skip(FILE + 1).cloned();
        Blocks(around.chain([Scope::default()]).collect())
    }

    /// Enters copied blocks; [`Scopes::show`] leaves them.
    pub(crate) fn enter_blocks(&mut self, blocks: &Blocks) {
        self.stack.extend(blocks.0.iter().cloned());
    }

    pub(crate) fn bind_tag(&mut self, name: Arc<str>, ty: Ty, span: Span, in_prelude: bool) {
        let depth = if in_prelude { 0 } else { self.stack.len() - 1 };
        let name = self.qualified(depth, name);
        self.at(in_prelude).tags.insert(name, (ty, span));
    }

    /// The same in the innermost scope that is no class.
    pub(crate) fn bind_tag_around(&mut self, name: Arc<str>, ty: Ty, span: Span, in_prelude: bool) {
        let is_class = |scope: &&Scope| scope.class.is_some();
        let n_classes = self.stack.iter().rev().take_while(is_class).count();
        let depth = match in_prelude {
            true => 0,
            false => self.stack.len() - 1 - n_classes,
        };
        let name = self.qualified(depth, name);
        self.stack[depth].tags.insert(name, (ty, span));
    }

    /// The meaning of a name here.
    pub(crate) fn find(&self, name: &str) -> Option<&Binding> {
        let found = match of_std(name) {
            Some(standard) => self.find_any(name).or_else(|| self.find_any(standard)),
            None => self.find_any(name),
        }?;
        match (&found.entity, self.element) {
            (Entity::Pack(elements), Some(element)) => {
                self.n_elements.set(Some(elements.len()));
                Some(elements.get(element).unwrap_or(found))
            }
            _ => Some(found),
        }
    }

    /// The index of the element that a name stands for, if it is a parameter pack.
    pub(crate) fn element_of(&self, name: &str) -> Option<usize> {
        self.element.filter(|_| self.find_pack(name).is_some())
    }

    /// The elements of the parameter pack of this name.
    pub(crate) fn find_pack(&self, name: &str) -> Option<&Arc<[Binding]>> {
        match &self.find_any(name)?.entity {
            Entity::Pack(elements) => Some(elements),
            _ => None,
        }
    }

    /// From here on the names of packs stand for this element; returns the previous state, for [`Scopes::leave_element`].
    pub(crate) fn at_element(&mut self, element: Option<usize>) -> (Option<usize>, Option<usize>) {
        let n = self.n_elements.take();
        (std::mem::replace(&mut self.element, element), n)
    }

    pub(crate) fn leave_element(&mut self, (element, n): (Option<usize>, Option<usize>)) {
        self.element = element;
        self.n_elements.set(n);
    }

    /// The number of elements of the pack that was named last since [`Scopes::at_element`].
    pub(crate) fn n_elements(&self) -> Option<usize> {
        self.n_elements.get()
    }

    fn find_any(&self, name: &str) -> Option<&Binding> {
        if path::is_qualified(name) {
            return self.find_path(name);
        }
        let stack = self.stack.iter().enumerate().rev();
        stack
            .filter_map(|(depth, scope)| {
                let class = || {
                    let found = self.find_in_class(scope.class?, name);
                    found.map(|(_, found)| found)
                };
                let own = self.find_at(depth, name, |scope, name| scope.names.get(name));
                own.or_else(class).filter(|found| {
                    depth >= self.floor || !matches!(found.entity, Entity::Local(_))
                })
            })
            .next()
    }

    /// The meaning in the innermost scope itself.
    pub(crate) fn find_here(&self, name: &str, in_prelude: bool) -> Option<&Binding> {
        let index = if in_prelude { 0 } else { self.stack.len() - 1 };
        match index <= FILE && !self.namespace.is_empty() {
            true => self.stack[index]
                .names
                .get(&*self.qualified(index, name.into())),
            false => self.stack[index].names.get(name),
        }
    }

    /// The meaning at file scope, in the current namespace.
    pub(crate) fn find_at_file(&self, name: &str) -> Option<&Binding> {
        match self.namespace.is_empty() {
            true => self.stack[FILE].names.get(name),
            false => self.stack[FILE]
                .names
                .get(&*self.qualified(FILE, name.into())),
        }
    }

    pub(crate) fn find_tag(&self, name: &str) -> Option<&(Ty, Span)> {
        let standard = || self.find_any_tag(of_std(name)?);
        self.find_any_tag(name).or_else(standard)
    }

    fn find_any_tag(&self, name: &str) -> Option<&(Ty, Span)> {
        if let Some((scopes, last)) = path::split(name) {
            if scopes.is_empty() {
                return self.stack[FILE].tags.get(last);
            }
            return match self.find_scope(scopes) {
                Some(Ty::Record(class)) => self.find_tag_in_class(class, last),
                Some(_) => None,
                None => self.find_tag_here_or_out(name),
            };
        }
        self.stack
            .iter()
            .enumerate()
            .rev()
            .find_map(|(depth, scope)| {
                let class = || self.find_tag_in_class(scope.class?, name);
                self.find_at(depth, name, |scope, name| scope.tags.get(name))
                    .or_else(class)
            })
    }

    pub(crate) fn find_tag_here(&self, name: &str, in_prelude: bool) -> Option<&(Ty, Span)> {
        let index = if in_prelude { 0 } else { self.stack.len() - 1 };
        match index <= FILE && !self.namespace.is_empty() {
            true => self.stack[index]
                .tags
                .get(&*self.qualified(index, name.into())),
            false => self.stack[index].tags.get(name),
        }
    }

    /// Gives a class its name at file scope, which paths through it are looked up by.
    pub(crate) fn bind_class(&mut self, name: Arc<str>, class: RecordId, span: Span) {
        self.stack[FILE]
            .tags
            .insert(name, (Ty::Record(class), span));
    }

    /// Every visible name, for suggestions.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &Entity)> {
        self.stack.iter().rev().flat_map(|scope| {
            scope
                .names
                .iter()
                .map(|(name, binding)| (&**name, &binding.entity))
        })
    }

    /// Every visible tag, for suggestions.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        self.stack
            .iter()
            .rev()
            .flat_map(|scope| scope.tags.keys().map(|name| &**name))
    }
}

fn add_callable(scope: &mut Scope, name: Arc<str>, callable: Callable, span: Span) {
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
