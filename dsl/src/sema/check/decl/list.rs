//! Lists as values whose members are lists themselves, or are named: `(Pair){.a = 1}`, `f({{1, 2}, 3})`.

use crate::sema::check::{
    Checker, Reported,
    construct::{assign_value, comma, local},
    int,
    method::place_value,
};
use crate::{
    sema::{
        ty::{QualTy, Ty},
        typed::{Init, Place, PlaceKind, Step, Value},
    },
    span::Span,
    syntax::ast::InitItem,
};

impl Checker<'_> {
    /// A variable that the list initialises, member by member, after zeros for those that it leaves out.
    pub(crate) fn list_in_variable(
        &mut self,
        ty: &Ty,
        items: &[InitItem],
        span: Span,
    ) -> Result<Value, Reported> {
        if self.body.space.is_none() {
            return Err(self.unsupported("this kind of list as a value", span));
        }
        let mut whole = QualTy::from(ty.clone());
        let parts = match self.init_list(&mut whole, items, span, "the list")? {
            Init::Parts { parts, .. } => parts,
            Init::Value(value) => return Ok(value),
            Init::Bytes(_) => return Err(self.unsupported("this kind of list as a value", span)),
        };
        let var = self.unnamed_variable(ty.clone(), "list", span);
        let place = local(var, whole, span);
        let mut out = Vec::new();
        self.zero(place.clone(), span, &mut out);
        let zeros = self.as_values(out, span);
        let sets = parts.into_iter().map(|(path, value)| {
            let member = self.part(place.clone(), &path, span);
            assign_value(member, value, span)
        });
        let sets: Vec<Value> = zeros.into_iter().chain(sets).collect();
        let sets = sets.into_iter().rev();
        Ok(sets.fold(place_value(place), |then, set| comma(set, then)))
    }

    /// What is at the end of the way.
    fn part(&self, place: Place, path: &[Step], span: Span) -> Place {
        path.iter().fold(place, |place, step| match *step {
            Step::Field(index) => self.tables.field_place(place, index, span),
            Step::Element(index) => {
                let Ty::Array(element, _) = &place.ty.ty else {
                    return place;
                };
                let element = element.as_ref().clone();
                let index = int(index, Ty::ULong, span);
                let kind = PlaceKind::ArrayIndex(Box::new(place), Box::new(index));
                Place::new(kind, element, span)
            }
        })
    }
}
