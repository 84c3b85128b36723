//! Questions about classes: their bases and members, construction and destruction, conversions.

use crate::sema::{
    check::{Tables, expr::with_qualifiers, virtuals::Virtuals},
    classify::Classify,
    ty::{RecordId, Ty},
    typed::{BitField, FunctionId, Place, PlaceKind, Value},
};
use ir::span::Span;

impl Tables {
    /// Whether `class` is `base` or has it among its bases.
    pub(crate) fn is_derived(&self, class: RecordId, base: RecordId) -> bool {
        let mut next = Some(class);
        while let Some(id) = next {
            if id == base {
                return true;
            }
            next = self.classes.get(&id).and_then(|facts| facts.base);
        }
        false
    }

    /// The base of a class.
    pub(crate) fn base(&self, class: RecordId) -> Option<RecordId> {
        self.classes.get(&class)?.base
    }

    /// What only a class with virtual functions has.
    pub(crate) fn virtuals(&self, class: RecordId) -> Option<&Virtuals> {
        self.classes.get(&class)?.virtuals.as_ref()
    }

    /// Whether its objects have a mark.
    pub(crate) fn is_polymorphic(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Record(class) if self.virtuals(*class).is_some())
    }

    /// A place of a class as one of its base.
    pub(crate) fn base_place(&self, mut place: Place, base: RecordId) -> Place {
        while let Ty::Record(id) = place.ty.ty {
            if id == base || self.classes.get(&id).and_then(|facts| facts.base).is_none() {
                break;
            }
            let span = place.span;
            place = self.field_place(place, 0, span);
        }
        place
    }

    /// Whether the class declares constructors.
    pub(crate) fn has_constructors(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Record(id) if self.classes.get(id).is_some_and(|facts| !facts.constructors.is_empty()))
    }

    /// Whether objects of this type have a destructor to run.
    pub(crate) fn has_destructor(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Record(id) => {
                let is_virtual = self
                    .virtuals(*id)
                    .is_some_and(|virtuals| virtuals.has_destructor);
                is_virtual
                    || self
                        .classes
                        .get(id)
                        .is_some_and(|facts| facts.destructor.is_some())
                    || self
                        .record(*id)
                        .fields
                        .iter()
                        .any(|field| self.has_destructor(&field.ty.ty))
            }
            Ty::Array(element, _) => self.has_destructor(&element.ty),
            _ => false,
        }
    }

    pub(crate) fn has_member_destructors(&self, class: Option<RecordId>) -> bool {
        class.is_some_and(|class| {
            self.record(class)
                .fields
                .iter()
                .any(|field| self.has_destructor(&field.ty.ty))
        })
    }

    /// Whether a value of this type is of the class, or of one derived from it.
    pub(crate) fn converts_to_class(&self, ty: &Ty, class: RecordId) -> bool {
        matches!(ty, Ty::Record(id) if self.is_derived(*id, class))
    }

    /// The conversion functions of a class and of its bases. A derived class's conversion hides one to the same type.
    pub(crate) fn conversions(&self, class: RecordId) -> Vec<FunctionId> {
        let result = |id: &FunctionId| &self.functions[*id].typed.result;
        let mut all: Vec<FunctionId> = Vec::new();
        let mut next = Some(class);
        while let Some(facts) = next.and_then(|class| self.classes.get(&class)) {
            let is_hidden = |id: &FunctionId| all.iter().any(|known| result(known) == result(id));
            let own = facts.conversions.iter().copied();
            let own: Vec<FunctionId> = own.filter(|id| !is_hidden(id)).collect();
            all.extend(own);
            next = facts.base;
        }
        all
    }

    /// The conversion function of a class for type `to`.
    pub(crate) fn conversion_function(
        &self,
        from: &Ty,
        to: &Ty,
        explicit: bool,
    ) -> Option<FunctionId> {
        let Ty::Record(class) = from else { return None };
        let all = self.conversions(*class);
        let usable = |id: &&FunctionId| {
            let is_explicit = self.functions[**id].facts.words.is_explicit;
            explicit || !is_explicit
        };
        let result = |id: &FunctionId| self.functions[*id].typed.result.clone();
        let exact = all.iter().filter(usable).find(|id| result(id) == *to);
        if let Some(id) = exact {
            return Some(*id);
        }
        let mut converts = all.iter().filter(usable).filter(|id| {
            let ty = result(id);
            (ty.is_arithmetic() && to.is_arithmetic())
                || (matches!(ty, Ty::Pointer(_)) && *to == Ty::Bool)
        });
        match (converts.next(), converts.next()) {
            (Some(id), None) => Some(*id),
            _ => None,
        }
    }

    /// The constructor that implicitly converts a value of another type to `class`.
    pub(crate) fn converting_constructor(
        &self,
        value: &Value,
        class: RecordId,
        explicit: bool,
    ) -> Option<FunctionId> {
        let facts = self.classes.get(&class)?;
        if matches!(value.ty, Ty::Record(id) if id == class) {
            return None;
        }
        let fits = |id: &&FunctionId| {
            let facts = &self.functions[**id].facts;
            let params = &facts.params;
            let takes_one =
                params.len() >= 2 && params[2..].iter().all(|param| param.default.is_some());
            let is_own = params
                .get(1)
                .is_some_and(|param| param.ty.ty == Ty::Record(class));
            takes_one
                && !is_own
                && (explicit || !facts.words.is_explicit)
                && self
                    .rank_standard(value, &params[1])
                    .is_some_and(|rank| rank < crate::sema::check::overload::Rank::User)
        };
        facts.constructors.iter().find(fits).copied()
    }

    /// Whether the class, or a member of it, has a copy constructor.
    pub(crate) fn needs_copy(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Record(id) => self.classes.get(id).is_some_and(|facts| {
                facts.copy.is_some()
                    || facts.virtuals.is_some()
                    || self
                        .record(*id)
                        .fields
                        .iter()
                        .any(|field| self.needs_copy(&field.ty.ty))
            }),
            Ty::Array(element, _) => self.needs_copy(&element.ty),
            _ => false,
        }
    }

    /// The `initializer_list` that a constructor of the class takes, and the type of its elements.
    pub(crate) fn list_constructor(&self, class: RecordId) -> Option<(RecordId, Ty)> {
        let constructors = &self.classes.get(&class)?.constructors;
        constructors.iter().find_map(|id| {
            let params = &self.functions[*id].facts.params;
            let [_, param] = &params[..] else { return None };
            let Ty::Record(list) = param.ty.ty else {
                return None;
            };
            if !self.initializer_lists.contains(&list) {
                return None;
            }
            match &self.record(list).fields.first()?.ty.ty {
                Ty::Pointer(element) => Some((list, element.ty.clone())),
                _ => None,
            }
        })
    }

    /// Whether it is an `enum class`, which does not count as a number.
    pub(crate) fn is_scoped(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Enum(id) if self.scoped_enums.contains(id))
    }

    /// Whether the program declares an operator of this name for any type.
    pub(crate) fn may_have_operator(&self, name: &str) -> bool {
        self.operators.contains(name)
    }

    /// The member of a place by index.
    pub(crate) fn field_place(&self, place: Place, index: u32, span: Span) -> Place {
        let Ty::Record(id) = &place.ty.ty else {
            return place;
        };
        let field = &self.record(*id).fields[index as usize];
        let ty = with_qualifiers(&field.ty, &place.ty);
        let kind = match field.bits {
            None => PlaceKind::Field(Box::new(place), index),
            Some(bits) => {
                let width = bits.width;
                PlaceKind::BitField(Box::new(place), BitField { index, width })
            }
        };
        Place::new(kind, ty, span)
    }

    /// The path to a member; members of unnamed members count as the record's own.
    pub(crate) fn find_field(&self, id: RecordId, name: &str, path: &mut Vec<u32>) -> bool {
        let fields = &self.record(id).fields;
        if let Some(i) = fields
            .iter()
            .position(|field| field.name == name && !name.is_empty())
        {
            path.push(i as u32);
            return true;
        }
        for (i, field) in fields.iter().enumerate() {
            path.push(i as u32);
            if let (true, Ty::Record(inner)) = (field.name.is_empty(), &field.ty.ty)
                && self.find_field(*inner, name, path)
            {
                return true;
            }
            path.pop();
        }
        false
    }
}
