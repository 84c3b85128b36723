//! Objects of classes: which constructor begins one, what it does to the members before its own code, copies.
//!
//! A constructor is a function on a place. An object that is only a value is made in a variable without a name.

mod convert;
mod members;

use crate::sema::check::{
    Body, Checked, Checker, FunctionEntry, FunctionFacts, Reported, convert::Why,
    overload::Argument,
};
use crate::sema::message::class::ClassError;
use crate::{
    sema::{
        ty::{QualTy, RecordId, Ty},
        typed::{
            Function, FunctionId, FunctionSpace, Init, Place, PlaceKind, Stmt, StmtKind, Value,
            ValueKind, VarRef,
        },
    },
    span::Span,
    syntax::ast::{self, ExprKind, InitItem},
};

/// How an object begins when nothing is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Beginning {
    /// Undefined, as C has it.
    Nothing,
    /// By this constructor.
    Call(FunctionId),
    /// The class wants arguments.
    Missing,
}

/// Elements of an array member that are set one by one.
const MAX_ELEMENTS: u64 = 256;

impl Checker<'_> {
    /// How an object of a type begins.
    pub(crate) fn beginning(&mut self, ty: &Ty, span: Span) -> Beginning {
        let id = match ty {
            Ty::Record(id) => *id,
            Ty::Array(element, _) => return self.beginning(&element.ty.clone(), span),
            _ => return Beginning::Nothing,
        };
        let Some(facts) = self.tables.classes.get(&id) else {
            return Beginning::Nothing;
        };
        if let Some(id) = facts.implicit_default {
            return Beginning::Call(id);
        }
        let without_arguments = facts.constructors.iter().copied().find(|ctor| {
            let params = &self.tables.functions[*ctor].facts.params;
            params[1..].iter().all(|param| param.default.is_some())
        });
        if let Some(ctor) = without_arguments {
            return Beginning::Call(ctor);
        }
        if !facts.constructors.is_empty() && !facts.is_defaulted {
            return Beginning::Missing;
        }
        let has_defaults = !facts.defaults.is_empty();
        let fields: Vec<Ty> = self
            .tables
            .record(id)
            .fields
            .iter()
            .map(|field| field.ty.ty.clone())
            .collect();
        let needed = has_defaults
            || fields
                .iter()
                .any(|ty| self.beginning(ty, span) != Beginning::Nothing);
        if !needed || self.tables.record(id).is_union {
            return Beginning::Nothing;
        }
        Beginning::Call(self.implicit_constructor(id, span))
    }

    /// Writes the constructor that sets members to their first values.
    fn implicit_constructor(&mut self, class: RecordId, span: Span) -> FunctionId {
        let record = self.tables.record(class);
        let declared = record.span.unwrap_or(span);
        let name = format!("{0}::{0}", record.name);
        let typed = Function {
            name,
            space: FunctionSpace::HostDevice,
            span: declared,
            ..Function::default()
        };
        let facts = FunctionFacts {
            params: vec![Self::this_param(class, false, declared)],
            declared,
            class: Some(class),
            has_this: true,
            is_defined: true,
            ..FunctionFacts::default()
        };
        let id = self.tables.functions.push(FunctionEntry { typed, facts });
        if let Some(facts) = self.tables.classes.get_mut(&class) {
            facts.implicit_default = Some(id);
        }
        let floor = self.begin_body(id);
        let depth = self.enter_class_scopes(Some(class));
        let this = self.hidden_param(id);
        let mut body = Vec::new();
        self.construct_members(class, &[], declared, &mut body);
        for _ in 0..depth {
            self.scopes.leave();
        }
        self.end_body(id, floor, this, body);
        id
    }

    /// A variable or member without a first value.
    pub(crate) fn begin_object(
        &mut self,
        place: Place,
        name: &str,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        match self.beginning(&place.ty.ty, span) {
            Beginning::Nothing => {}
            Beginning::Call(_) => match place.ty.ty.clone() {
                Ty::Array(_, n) => self.each_element(place, n.unwrap_or(0), span, out),
                _ => self.construct_into(place, Vec::new(), span, out),
            },
            Beginning::Missing => {
                self.error(
                    span,
                    ClassError::ConstructorNeedsArguments {
                        name: name.to_string(),
                        ty: place.ty.ty.clone(),
                    },
                );
            }
        }
    }

    /// `for (i = 0; i < n; i++) begin a[i]`
    fn each_element(&mut self, array: Place, n: u64, span: Span, out: &mut Vec<Stmt>) {
        let Ty::Array(element, _) = array.ty.ty.clone() else {
            return;
        };
        let index = self.unnamed_variable(Ty::Int, "i", span);
        let index_place = local(index, Ty::Int.into(), span);
        let load = |place: &Place| Value::load(place.clone(), span);
        let zero = crate::sema::check::int(0, Ty::Int, span);
        let count = crate::sema::check::int(n, Ty::Int, span);
        let cond = Value::new(
            ValueKind::Compare(
                crate::sema::typed::Relation::Lt,
                Box::new(load(&index_place)),
                Box::new(count),
            ),
            Ty::Bool,
            span,
        );
        let step = Value::new(
            ValueKind::IncDec {
                place: Box::new(index_place.clone()),
                decrement: false,
                prefix: true,
            },
            Ty::Int,
            span,
        );
        let place = Place::new(
            PlaceKind::ArrayIndex(Box::new(array), Box::new(load(&index_place))),
            element.as_ref().clone(),
            span,
        );
        let mut body = Vec::new();
        self.begin_object(place, "an element", span, &mut body);
        let stmts = vec![
            Stmt::new(StmtKind::Declare(index, Some(Init::Value(zero))), span),
            Stmt::new(
                StmtKind::Loop {
                    cond: Some(cond),
                    test_first: true,
                    body,
                    step: Some(step),
                    unroll: None,
                },
                span,
            ),
        ];
        out.push(Stmt::new(StmtKind::Block(stmts), span));
    }

    /// A member by `: x(…)` or by the value in its declaration.
    pub(crate) fn member_init(
        &mut self,
        place: Place,
        init: &ast::Init,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let ty = place.ty.ty.clone();
        if self.known(&ty, span).is_err() {
            return;
        }
        let value = match init {
            ast::Init::Expr(expr) => self.implicit_value(expr, &ty, &Why::Operand),
            ast::Init::Construct(_) | ast::Init::List(_) if self.tables.has_constructors(&ty) => {
                let args = self.init_arguments(&ty, init);
                return self.construct_into(place, args, span, out);
            }
            ast::Init::Construct(args) => match &args.node[..] {
                [] => return self.zero(place, span, out),
                [expr] if !matches!(expr.kind, ExprKind::List(_)) => {
                    self.implicit_value(expr, &ty, &Why::Operand)
                }
                all => self.construct(&ty, all, args.span),
            },
            ast::Init::List(items) if items.node.is_empty() => {
                return self.zero(place, span, out);
            }
            ast::Init::List(items) => match &ty {
                Ty::Array(element, n) => {
                    let n = n.unwrap_or(0);
                    return self.array_member(place, element, n, &items.node, span, out);
                }
                _ => self.list_value(&ty, &items.node, items.span),
            },
        };
        if let Some(value) = self.body_part(value) {
            out.push(assign(place, value, span));
        }
    }

    fn array_member(
        &mut self,
        place: Place,
        element: &QualTy,
        n: u64,
        items: &[InitItem],
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if items.len() as u64 > n || n > MAX_ELEMENTS {
            self.unsupported("this list for a member that is an array", span);
            return;
        }
        for i in 0..n {
            let at = Place::new(
                PlaceKind::ArrayIndex(
                    Box::new(place.clone()),
                    Box::new(crate::sema::check::int(i, Ty::Int, span)),
                ),
                element.clone(),
                span,
            );
            match items.get(i as usize) {
                Some(InitItem {
                    designator: None,
                    value,
                }) => self.member_init(at, value, span, out),
                Some(_) => {
                    self.unsupported("a designator in a member's list", span);
                    return;
                }
                None => self.zero(at, span, out),
            }
        }
    }

    /// `x()`, `x{}`.
    pub(crate) fn zero(&mut self, place: Place, span: Span, out: &mut Vec<Stmt>) {
        let ty = place.ty.ty.clone();
        if self.known(&ty, span).is_err() {
            return;
        }
        match &ty {
            Ty::Array(element, n) => {
                let n = n.unwrap_or(0);
                if n > MAX_ELEMENTS {
                    self.unsupported("clearing a member that is a long array", span);
                    return;
                }
                for i in 0..n {
                    let at = Place::new(
                        PlaceKind::ArrayIndex(
                            Box::new(place.clone()),
                            Box::new(crate::sema::check::int(i, Ty::Int, span)),
                        ),
                        element.as_ref().clone(),
                        span,
                    );
                    self.zero(at, span, out);
                }
            }
            Ty::Record(_) => {
                if self.tables.has_constructors(&ty) {
                    return self.begin_object(place, "the member", span, out);
                }
                let empty = Value::new(ValueKind::Aggregate(Vec::new()), ty.clone(), span);
                out.push(assign(place.clone(), empty, span));
                self.begin_object(place, "the member", span, out);
            }
            scalar => {
                let zero = crate::sema::check::int(0, Ty::Int, span);
                let zero = self.cast(zero, scalar, span);
                if let Some(zero) = self.body_part(zero) {
                    out.push(assign(place, zero, span));
                }
            }
        }
    }

    /// Begins an object by the constructor that these arguments choose.
    pub(crate) fn construct_into(
        &mut self,
        place: Place,
        args: Vec<Argument<'_>>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let value = self.construction(place, args, span);
        if let Some(value) = self.body_part(value).flatten() {
            out.push(Stmt::new(StmtKind::Expr(value), span));
        }
    }

    /// The call of the constructor that these arguments choose.
    fn construction(
        &mut self,
        place: Place,
        args: Vec<Argument<'_>>,
        span: Span,
    ) -> Result<Option<Value>, Reported> {
        let Ty::Record(class) = place.ty.ty else {
            return Ok(None);
        };
        let name = self.tables.record(class).name.clone();
        let facts = self.tables.classes.get(&class);
        let constructors = facts.map(|facts| facts.constructors.clone());
        let ids = if args.is_empty() {
            match self.beginning(&place.ty.ty, span) {
                Beginning::Call(id) => vec![id],
                Beginning::Nothing => return Ok(None),
                Beginning::Missing => constructors.unwrap_or_default(),
            }
        } else {
            match constructors {
                Some(constructors) => constructors,
                None => return Ok(None),
            }
        };
        if let [Argument::Value(value)] = &args[..]
            && self.tables.converts_to_class(&value.ty, class)
        {
            let value = value.clone();
            // A value begins its object itself; a copy that nobody wrote is an assignment.
            if crate::sema::check::cleanup::is_prvalue(&value)
                || !self.tables.needs_copy(&place.ty.ty)
            {
                let value = self.implicit(value, &Ty::Record(class), &Why::Operand)?;
                return Ok(Some(assign_value(place, value, span)));
            }
            let copy = self.tables.classes.get(&class).and_then(|facts| facts.copy);
            if copy.is_none() {
                let copy = self.implicit_copy(class, span);
                return self.construction_by(place, &[copy], &name, args, span);
            }
        }
        self.check_own_access(class, &name, span);
        self.construction_by(place, &ids, &name, args, span)
    }

    fn construction_by(
        &mut self,
        place: Place,
        ids: &[FunctionId],
        name: &str,
        args: Vec<Argument<'_>>,
        span: Span,
    ) -> Result<Option<Value>, Reported> {
        let object = Value {
            ty: place.ty.ty.clone(),
            kind: ValueKind::Load(Box::new(Place {
                // `const T x(1);` is not constant yet while it begins.
                ty: QualTy {
                    is_const: false,
                    ..place.ty.clone()
                },
                ..place
            })),
            span,
        };
        match self.call_member(Some(object), ids, name, span, args, span)? {
            Checked::Value(value) => Ok(Some(value)),
            Checked::Place(_) => Ok(None),
        }
    }

    /// Starts on a function's body: its variables, its scopes. Gives back what [`Checker::end_body`] needs.
    pub(crate) fn begin_body(&mut self, id: FunctionId) -> usize {
        let facts = &self.tables.functions[id].facts;
        let class = facts.class;
        let floor = self.scopes.raise_floor();
        let outer = std::mem::replace(
            &mut self.body,
            Body {
                id: Some(id),
                space: Some(self.tables.functions[id].typed.space),
                class,
                floor: self.scopes.floor(),
                ..Body::default()
            },
        );
        self.outer_bodies.push(outer);
        floor
    }

    /// The object's parameter, if the function has one.
    pub(crate) fn hidden_param(&mut self, id: FunctionId) -> Vec<crate::sema::typed::VarId> {
        let facts = &self.tables.functions[id].facts;
        if !facts.has_this {
            return Vec::new();
        }
        let (ty, span) = (facts.params[0].ty.clone(), facts.params[0].span);
        let this = self.reference_variable("this", ty, span);
        self.body.this = Some(this);
        vec![this]
    }

    /// Stores a function's body.
    pub(crate) fn end_body(
        &mut self,
        id: FunctionId,
        floor: usize,
        params: Vec<crate::sema::typed::VarId>,
        body: Vec<Stmt>,
    ) {
        self.scopes.set_floor(floor);
        if !self.body.flow.temporaries.is_empty() {
            let span = self.tables.functions[id].typed.span;
            self.unsupported(
                "a temporary object with a destructor in this function",
                span,
            );
        }
        let outer = self.outer_bodies.pop().unwrap_or_default();
        let done = std::mem::replace(&mut self.body, outer);
        let facts = &mut self.tables.functions[id].facts;
        facts.is_incomplete = done.is_incomplete;
        facts.first_unknown = done.first_unknown;
        let typed = &mut self.tables.functions[id].typed;
        typed.params = params;
        typed.vars = done.vars.into_iter().map(|var| var.typed).collect();
        typed.body = Some(body);
    }

    /// The arguments of an object's beginning.
    pub(crate) fn init_arguments<'e>(&mut self, ty: &Ty, init: &'e ast::Init) -> Vec<Argument<'e>> {
        match init {
            ast::Init::Expr(expr) => self.arguments(std::slice::from_ref(expr)),
            ast::Init::Construct(args) => self.arguments(&args.node),
            ast::Init::List(items) => self.list_arguments(ty, &items.node, items.span),
        }
    }

    /// `{ a, { b } }` as the arguments of a constructor of `ty`.
    pub(crate) fn list_arguments<'e>(
        &mut self,
        ty: &Ty,
        items: &'e [InitItem],
        span: Span,
    ) -> Vec<Argument<'e>> {
        match self.initializer_list(ty, items, span) {
            Ok(Some(list)) => return vec![Argument::Value(list)],
            Err(reported) => return vec![Argument::Wrong(reported)],
            Ok(None) => {}
        }
        items
            .iter()
            .map(|item| match &item.value {
                ast::Init::Expr(expr) => self
                    .value(expr)
                    .map_or_else(Argument::Wrong, Argument::Value),
                ast::Init::List(items) => Argument::List(&items.node, items.span),
                ast::Init::Construct(args) => Argument::List(&[], args.span),
            })
            .collect()
    }

    /// An object at file scope: no code runs before `main`, so only a constructor that does nothing will do.
    pub(crate) fn check_static_object(&mut self, ty: &Ty, name: &ast::Name) {
        if self.tables.has_destructor(ty) {
            self.unsupported(
                "an object with a destructor that outlives functions",
                name.span,
            );
            return;
        }
        match self.beginning(ty, name.span) {
            Beginning::Nothing => {}
            Beginning::Call(id) if self.is_empty_constructor(id, ty) => {}
            Beginning::Call(_) | Beginning::Missing => {
                self.unsupported("a constructor that runs before `main`", name.span);
            }
        }
    }

    /// The constructor does nothing, and neither do those of the members.
    pub(crate) fn is_empty_constructor(&mut self, id: FunctionId, ty: &Ty) -> bool {
        if !self.tables.functions[id].facts.is_empty {
            return false;
        }
        let mut ty = ty;
        while let Ty::Array(element, _) = ty {
            ty = &element.ty;
        }
        let Ty::Record(class) = ty else { return true };
        let has_defaults = self
            .tables
            .classes
            .get(class)
            .is_some_and(|facts| !facts.defaults.is_empty());
        let fields: Vec<Ty> = self
            .tables
            .record(*class)
            .fields
            .iter()
            .map(|field| field.ty.ty.clone())
            .collect();
        !has_defaults
            && fields
                .iter()
                .all(|ty| match self.beginning(ty, Span::default()) {
                    Beginning::Nothing => true,
                    Beginning::Call(id) => self.is_empty_constructor(id, ty),
                    Beginning::Missing => false,
                })
    }
}

/// A place that is a whole variable of the function.
pub(crate) fn local(var: crate::sema::typed::VarId, ty: QualTy, span: Span) -> Place {
    Place::new(PlaceKind::Var(VarRef::Local(var)), ty, span)
}

pub(crate) fn assign_value(place: Place, value: Value, span: Span) -> Value {
    let ty = place.ty.ty.clone();
    let kind = ValueKind::Assign(Box::new(place), Box::new(value));
    Value::new(kind, ty, span)
}

fn assign(place: Place, value: Value, span: Span) -> Stmt {
    Stmt::new(StmtKind::Expr(assign_value(place, value, span)), span)
}

/// `first, then`.
pub(crate) fn comma(first: Value, then: Value) -> Value {
    let (ty, span) = (then.ty.clone(), then.span);
    let kind = ValueKind::Comma(Box::new(first), Box::new(then));
    Value::new(kind, ty, span)
}
