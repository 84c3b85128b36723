//! Members from inside: who may use one, `this`, and the way from a class to its base.

use super::super::{Checked, Checker, Reported};
use crate::sema::message::class::ClassError;
use crate::sema::path;
use crate::{
    sema::{
        classify::pointer_to,
        ty::{RecordId, Ty},
        typed::{Place, PlaceKind, Value, ValueKind, VarRef},
    },
    span::Span,
    syntax::ast::{self, Access},
};

impl Checker<'_> {
    /// Reports the use of a member that the code here may not use.
    pub(crate) fn check_access(&mut self, class: RecordId, name: &str, span: Span) {
        let Some((owner, _)) = self.scopes.find_in_class(class, name) else {
            return self.check_own_access(class, name, span);
        };
        self.check_own_access(owner, name, span);
    }

    /// The same for a name of this very class, such as its constructors'.
    pub(crate) fn check_own_access(&mut self, owner: RecordId, name: &str, span: Span) {
        let Some(access) = self
            .tables
            .classes
            .get(&owner)
            .and_then(|facts| facts.access.get(name))
            .copied()
        else {
            return;
        };
        let mut here = self
            .body
            .class
            .or(self.open_classes.last().map(|open| open.id));
        while let Some(class) = here {
            let is_derived = || self.tables.is_derived(class, owner);
            let is_friend = self.tables.classes[&owner]
                .friend_classes
                .iter()
                .any(|friend| **friend == *self.tables.record(class).name);
            if class == owner || is_friend || (access == Access::Protected && is_derived()) {
                return;
            }
            here = self
                .tables
                .classes
                .get(&class)
                .and_then(|facts| facts.outer);
        }
        let is_friend = self
            .body
            .id
            .is_some_and(|id| self.tables.classes[&owner].friends.contains(&id));
        if is_friend {
            return;
        }
        let word = match access {
            Access::Protected => "protected",
            Access::Private | Access::Public => "private",
        };
        let record = self.tables.record(owner);
        let (class, declared) = (record.name.clone(), record.span);
        let shown = name.strip_prefix("operator").unwrap_or(name);
        self.error(
            span,
            ClassError::NotAccessible {
                shown: shown.to_string(),
                word,
                class,
                declared,
            },
        );
    }

    /// The object whose function is being checked.
    pub(crate) fn this_place(&mut self, span: Span) -> Option<Place> {
        let this = self.body.this?;
        let ty = self.body.vars[this].typed.ty.clone();
        Some(Place::new(PlaceKind::Var(VarRef::Local(this)), ty, span))
    }

    /// `this` where its value is needed: a pointer.
    pub(crate) fn this_value(&mut self, span: Span) -> Result<Value, Reported> {
        let Some(place) = self.this_place(span) else {
            return Err(self.no_this("`this`", span));
        };
        self.take_address(&place);
        Ok(Value {
            ty: pointer_to(place.ty.clone()),
            kind: ValueKind::AddressOf(Box::new(place)),
            span,
        })
    }

    pub(crate) fn no_this(&mut self, what: &str, span: Span) -> Reported {
        if self.body.lambda.is_some() {
            return self.unsupported("`this` and members of a class in a lambda", span);
        }
        self.error(
            span,
            ClassError::NoObject {
                what: what.to_string(),
            },
        )
    }

    /// A member by its name alone, in a function of the class.
    pub(crate) fn member_of_this(
        &mut self,
        class: RecordId,
        name: &str,
        span: Span,
    ) -> Result<Checked, Reported> {
        let last = path::last(name);
        let Some(this) = self.this_place(span) else {
            if self.mode.unevaluated > 0 {
                // `sizeof(S::member)` needs none.
                let mut path = Vec::new();
                if self.tables.find_field(class, last, &mut path) {
                    let ty = Ty::Record(class);
                    let none = Value::new(ValueKind::Aggregate(Vec::new()), ty.clone(), span);
                    let kind = PlaceKind::Temporary(Box::new(none));
                    let mut place = Place::new(kind, ty.into(), span);
                    for index in path {
                        place = self.tables.field_place(place, index, span);
                    }
                    return Ok(Checked::Place(place));
                }
            }
            return Err(self.no_this(&format!("`{last}`"), span));
        };
        let this = match this.ty.ty {
            Ty::Record(id) if self.tables.is_derived(id, class) => {
                self.tables.base_place(this, class)
            }
            _ => this,
        };
        let name = ast::Name::new(last.into(), span);
        self.field(this, &name, span)
    }
}
