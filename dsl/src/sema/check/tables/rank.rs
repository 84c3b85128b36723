//! How well arguments fit parameters: C++'s ranks, as far as the tables decide them.

use crate::sema::check::reference;
use crate::sema::{
    check::{
        ParamFacts, Tables,
        overload::{Argument, Rank},
    },
    classify::{Classify, promoted},
    ty::{QualTy, Ty},
    typed::{FunctionId, Value, ValueKind},
};

impl Tables {
    /// How well an argument fits a parameter; `None` if it does not.
    pub(crate) fn rank(&self, arg: &Argument<'_>, param: &ParamFacts) -> Option<Rank> {
        match arg {
            Argument::Wrong(_) => Some(Rank::Exact),
            Argument::Value(_) | Argument::List(..) if !param.ty.ty.is_understood() => {
                Some(Rank::Exact)
            }
            Argument::List(items, _) => match &param.ty.ty {
                Ty::Record(_) => Some(Rank::User),
                ty if ty.is_scalar() && items.len() < 2 => Some(Rank::Conversion),
                _ => None,
            },
            Argument::Value(value) if param.is_this && reference::place_of(value).is_none() => {
                Some(Rank::Exact)
            }
            Argument::Value(value) if param.is_reference => self.rank_reference(value, &param.ty),
            Argument::Value(value) => {
                let is_place = param.is_rvalue && reference::place_of(value).is_some();
                self.rank_type(value, &param.ty).filter(|_| !is_place)
            }
        }
    }

    /// How well a value fits a reference to `to`: a reference to non-`const` needs a place of exactly that type.
    pub(crate) fn rank_reference(&self, value: &Value, to: &QualTy) -> Option<Rank> {
        let is_base = match (&value.ty, &to.ty) {
            (Ty::Record(from), Ty::Record(to)) => from != to && self.is_derived(*from, *to),
            _ => false,
        };
        let place = reference::place_of(value)
            .filter(|place| is_base || reference::same_object(&place.ty.ty, &to.ty));
        let Some(place) = place else {
            return match to.is_const && !to.is_volatile && !matches!(to.ty, Ty::Array(..)) {
                true => self
                    .rank_type(value, to)
                    .map(|rank| rank.max(Rank::Qualified)),
                false => None,
            };
        };
        let drops = place.ty.is_const && !to.is_const || place.ty.is_volatile && !to.is_volatile;
        let (adds_const, adds_volatile) = (
            to.is_const && !place.ty.is_const,
            to.is_volatile && !place.ty.is_volatile,
        );
        match (drops, adds_const, adds_volatile) {
            (true, ..) => None,
            _ if is_base => Some(Rank::Conversion),
            (false, false, false) => Some(Rank::Exact),
            (false, true, true) => Some(Rank::QualifiedTwice),
            (false, ..) => Some(Rank::Qualified),
        }
    }

    /// How well a value fits a parameter without conversions by its class or the parameter's.
    pub(crate) fn rank_standard(&self, value: &Value, param: &ParamFacts) -> Option<Rank> {
        let is_class = |ty: &Ty| matches!(ty, Ty::Record(id) if self.classes.contains_key(id));
        if value.ty != param.ty.ty && (is_class(&value.ty) || is_class(&param.ty.ty)) {
            return match (&value.ty, &param.ty.ty) {
                (Ty::Record(from), Ty::Record(to)) if self.is_derived(*from, *to) => {
                    Some(Rank::Conversion)
                }
                _ => None,
            };
        }
        self.rank(&Argument::Value(value.clone()), param)
    }

    /// How well a value fits a type.
    pub(crate) fn rank_type(&self, value: &Value, to: &QualTy) -> Option<Rank> {
        let from = &value.ty;
        let to = &to.ty;
        if from == to {
            return Some(Rank::Exact);
        }
        if self.is_scoped(from) || self.is_scoped(to) {
            return None;
        }
        match (from, to) {
            (Ty::Record(a), Ty::Record(b)) if self.is_derived(*a, *b) => {
                return Some(Rank::Conversion);
            }
            (Ty::Pointer(a), Ty::Pointer(b)) => {
                if let (Ty::Record(x), Ty::Record(y)) = (&a.ty, &b.ty)
                    && x != y
                    && self.is_derived(*x, *y)
                {
                    return (!a.is_const || b.is_const).then_some(Rank::Conversion);
                }
            }
            (_, Ty::Record(class))
                if self.converting_constructor(value, *class, false).is_some() =>
            {
                return Some(Rank::User);
            }
            (Ty::Record(_), _) if self.conversion_function(from, to, false).is_some() => {
                return Some(Rank::User);
            }
            _ => {}
        }
        match to {
            Ty::Pointer(pointee) => rank_pointer(value, pointee),
            Ty::Bool if matches!(from, Ty::Pointer(_)) => Some(Rank::ToBool),
            Ty::Enum(_) => from.is_integral().then_some(Rank::Lax),
            Ty::Record(_) => {
                let converts = self.is_vector(to, "dim3")
                    && (from.is_arithmetic() || self.is_vector(from, "uint3"))
                    || self.is_vector(to, "uint3") && self.is_vector(from, "dim3");
                converts.then_some(Rank::User)
            }
            _ if from.is_arithmetic() && to.is_arithmetic() => Some(rank_numbers(from, to)),
            _ => None,
        }
    }

    /// The ranks of a call's arguments for one function; `None` if it cannot be called with them.
    pub(crate) fn ranks(&self, id: FunctionId, args: &[Argument<'_>]) -> Option<Vec<Rank>> {
        let params = &self.functions[id].facts.params;
        let required = params
            .iter()
            .take_while(|param| param.default.is_none())
            .count();
        if args.len() > params.len() || args.len() < required {
            return None;
        }
        args.iter()
            .zip(params)
            .map(|(arg, param)| self.rank(arg, param))
            .collect()
    }

    /// Whether the types of its parameters are known.
    pub(crate) fn is_understood(&self, id: FunctionId) -> bool {
        let params = &self.functions[id].facts.params;
        params.iter().all(|param| param.ty.ty.is_understood())
    }

    /// `name(int *, float)`.
    pub(crate) fn signature(&self, id: FunctionId) -> String {
        let params: Vec<String> = self.functions[id]
            .facts
            .params
            .iter()
            .map(|param| {
                let text = self.show(&param.ty);
                match (param.is_reference, param.is_rvalue) {
                    (true, _) => format!("{text} &"),
                    (_, true) => format!("{text} &&"),
                    _ => text,
                }
            })
            .collect();
        let name = &self.functions[id].typed.name;
        format!("{name}({})", params.join(", "))
    }
}

fn rank_numbers(from: &Ty, to: &Ty) -> Rank {
    let promotes = match to {
        Ty::Double => *from == Ty::Float,
        Ty::Int => promoted(from) == Ty::Int,
        to if matches!(from, Ty::Enum(_)) => promoted(from) == *to,
        _ => false,
    };
    if promotes {
        Rank::Promotion
    } else {
        Rank::Conversion
    }
}

fn rank_pointer(value: &Value, pointee: &QualTy) -> Option<Rank> {
    let is_zero = matches!(value.kind, ValueKind::Int(0) | ValueKind::Null)
        && !matches!(value.ty, Ty::Bool | Ty::Enum(_));
    if is_zero && (value.ty.is_integral() || matches!(value.kind, ValueKind::Null)) {
        return Some(Rank::Conversion);
    }
    let Ty::Pointer(from) = &value.ty else {
        return None;
    };
    let is_literal = matches!(value.kind, ValueKind::Str(_)) && pointee.ty == Ty::Char;
    let drops = (from.is_const && !pointee.is_const) || (from.is_volatile && !pointee.is_volatile);
    if drops {
        return is_literal.then_some(Rank::Lax);
    }
    if crate::sema::check::convert::same_pointee(from, pointee) {
        return Some(Rank::Qualified);
    }
    match (&from.ty, &pointee.ty) {
        (_, Ty::Void) => Some(Rank::Conversion),
        (Ty::Void, _) => Some(Rank::Lax),
        _ => None,
    }
}
