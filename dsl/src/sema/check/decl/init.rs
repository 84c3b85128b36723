//! Initialisers: lists with C's brace elision and designators, strings, `T x(a, b)`.
//!
//! A list becomes single assignments, each with the way to the member or element it is for, in order of evaluation.

use crate::sema::message::decl::DeclError;
use std::sync::Arc;

use crate::sema::check::{Checker, Reported, all, convert::Why, int};
use crate::{
    diagnostic::{Code, Diagnostic},
    sema::{
        classify::Classify,
        ty::{QualTy, Ty},
        typed::{Init, Step, Value, ValueKind},
    },
    span::Span,
    syntax::ast::{self, Designator, ExprKind, InitItem},
};

/// Zeros that are kept behind the text of a character array; the lowering writes no more of them one by one.
const MOST_ZEROS: u64 = 64;

/// A list being read, and what has been made of it.
struct Filling<'f> {
    /// The variable, for messages.
    name: &'f str,
    parts: Vec<(Vec<Step>, Value)>,
    path: Vec<Step>,
    /// The first item's value, where it was looked at already.
    first: Option<Result<Value, Reported>>,
    /// Something in it is wrong.
    wrong: Option<Reported>,
}

impl Filling<'_> {
    /// The value of the part that has been come to.
    fn fill(&mut self, value: Result<Value, Reported>) {
        match value {
            Ok(value) => self.parts.push((self.path.clone(), value)),
            Err(reported) => self.wrong = Some(reported),
        }
    }
}

/// The items of one pair of braces. A value that turned out to be for a whole member or for its first part is checked once
/// and kept until its place is known.
struct Items<'i> {
    items: &'i [InitItem],
    next: usize,
    value: Option<Result<Value, Reported>>,
}

impl<'i> Items<'i> {
    fn new(items: &'i [InitItem]) -> Items<'i> {
        Items {
            items,
            next: 0,
            value: None,
        }
    }

    fn peek(&self) -> Option<&'i InitItem> {
        self.items.get(self.next)
    }

    fn advance(&mut self) {
        self.next += 1;
        self.value = None;
    }
}

impl Checker<'_> {
    /// A variable's initialiser; completes the type of an array without a size. `None` if it is wrong.
    pub(crate) fn initialiser(
        &mut self,
        ty: &mut QualTy,
        init: &ast::Init,
        name: &ast::Name,
        is_local: bool,
    ) -> Result<Init, Reported> {
        let n_errors = self.reporter.diagnostics.len();
        let typed = match init {
            ast::Init::Expr(expr) => self.init_expr(ty, expr, &name.node),
            ast::Init::List(items) => {
                let span = items.span;
                let items = self.expanded_items(&items.node);
                self.init_list(ty, &items, span, &name.node)
            }
            ast::Init::Construct(args) => {
                let to = ty.ty.clone();
                let value = match &args.node[..] {
                    [arg] if !matches!(arg.kind, ExprKind::List(_)) => {
                        self.implicit_value(arg, &to, &Why::Init(&name.node))
                    }
                    all => self.construct(&to, all, args.span),
                };
                value.map(Init::Value)
            }
        }?;
        self.known(&ty.ty, name.span)?;
        // A call for the other side may turn out to be a constant, which takes the message back.
        let is_for_other_side = |diagnostic: &Diagnostic| {
            is_local
                && matches!(
                    diagnostic.code,
                    Code::HostCallInDevice | Code::DeviceCallInHost
                )
        };
        self.error_since(n_errors, |diagnostic| !is_for_other_side(diagnostic))?;
        Ok(typed)
    }

    fn init_expr(
        &mut self,
        ty: &mut QualTy,
        expr: &ast::Expr,
        name: &str,
    ) -> Result<Init, Reported> {
        if let (Ty::Array(element, size), ExprKind::Str(bytes)) = (&ty.ty, &expr.kind)
            && is_character(&element.ty)
        {
            let (bytes, size) = self.string_bytes(bytes, *size, expr.span, name)?;
            ty.ty = Ty::Array(element.clone(), Some(size));
            return Ok(Init::Bytes(bytes));
        }
        let value = self.value(expr)?;
        self.known(&ty.ty, expr.span)?;
        if let Ty::Array(..) = ty.ty {
            let (name, ty) = (name.to_string(), ty.clone());
            return Err(self.error(expr.span, DeclError::ArrayFromSingleValue { name, ty }));
        }
        self.implicit(value, &ty.ty, &Why::Init(name))
            .map(Init::Value)
    }

    /// A literal's characters, NUL and padding as an array of this size has them.
    fn string_bytes(
        &mut self,
        bytes: &Arc<[u8]>,
        size: Option<u64>,
        span: Span,
        name: &str,
    ) -> Result<(Arc<[u8]>, u64), Reported> {
        let needed = bytes.len() as u64 + 1;
        let size = size.unwrap_or(needed);
        if needed > size {
            let name = name.to_string();
            return Err(self.error(span, DeclError::StringTooLong { needed, name, size }));
        }
        // Of a long array not all zeros are kept.
        let mut padded = bytes.to_vec();
        padded.resize(size.min(needed + MOST_ZEROS) as usize, 0);
        Ok((padded.into(), size))
    }

    pub(crate) fn init_list(
        &mut self,
        ty: &mut QualTy,
        items: &[InitItem],
        span: Span,
        name: &str,
    ) -> Result<Init, Reported> {
        self.known(&ty.ty, span)?;
        if self.tables.is_vector(&ty.ty, "dim3") {
            return self.dim3_list(items, span).map(Init::Value);
        }
        if ty.ty.is_scalar() {
            let value = self.scalar_list(&ty.ty, items, span, name);
            return value.map(Init::Value);
        }
        if let (
            Ty::Array(element, _),
            [
                InitItem {
                    designator: None,
                    value: ast::Init::Expr(expr),
                },
            ],
        ) = (&ty.ty, items)
            && matches!(expr.kind, ExprKind::Str(_))
            && is_character(&element.ty)
        {
            return self.init_expr(ty, expr, name);
        }
        let first = self.only_value(&ty.ty, items);
        if let Some(Ok(value)) = &first
            && value.ty == ty.ty
        {
            let whole = self.implicit(value.clone(), &ty.ty, &Why::Init(name))?;
            return Ok(Init::Value(whole));
        }
        let mut filling = Filling {
            name,
            parts: Vec::new(),
            path: Vec::new(),
            first,
            wrong: None,
        };
        let n = self.fill_braced(&ty.ty.clone(), items, span, &mut filling);
        if let Ty::Array(element, None) = &ty.ty {
            if n == 0 {
                let name = name.to_string();
                return Err(self.error(span, DeclError::ArrayWithoutElements { name }));
            }
            ty.ty = Ty::Array(element.clone(), Some(n));
        }
        match filling.wrong {
            Some(reported) => Err(reported),
            None => Ok(Init::Parts {
                zero_rest: true,
                parts: filling.parts,
            }),
        }
    }

    /// The value of a list's only item, if the list is for a class: `T x{y}` copies a `y` that is a `T`.
    fn only_value(&mut self, ty: &Ty, items: &[InitItem]) -> Option<Result<Value, Reported>> {
        let (Ty::Record(_), [item]) = (ty, items) else {
            return None;
        };
        match &item.value {
            ast::Init::Expr(expr) if item.designator.is_none() => match expr.kind {
                ExprKind::Str(_) | ExprKind::List(_) => None,
                _ => Some(self.value(expr)),
            },
            _ => None,
        }
    }

    fn dim3_list(&mut self, items: &[InitItem], span: Span) -> Result<Value, Reported> {
        if items.len() > 3 {
            return Err(self.error(span, DeclError::Dim3TooManySizes));
        }
        let mut sizes = Vec::new();
        for item in items {
            match &item.value {
                ast::Init::Expr(expr) if item.designator.is_none() => {
                    sizes.push(self.implicit_value(expr, &Ty::UInt, &Why::Init("dim3")));
                }
                _ => {
                    return Err(self.error(span, DeclError::Dim3PlainSizes));
                }
            }
        }
        Ok(self.dim3_of(all(sizes)?, span))
    }

    fn scalar_list(
        &mut self,
        ty: &Ty,
        items: &[InitItem],
        span: Span,
        name: &str,
    ) -> Result<Value, Reported> {
        match items {
            [] => {
                let zero = int(0, Ty::Int, span);
                self.cast(zero, ty, span)
            }
            [
                InitItem {
                    designator: None,
                    value: ast::Init::Expr(expr),
                },
            ] => self.implicit_value(expr, ty, &Why::Init(name)),
            _ => Err(self.error(
                span,
                DeclError::SingleValue {
                    name: name.to_string(),
                },
            )),
        }
    }

    /// Fills an aggregate from the items of its own braces; gives one more than the last position that was filled.
    fn fill_braced(
        &mut self,
        ty: &Ty,
        items: &[InitItem],
        span: Span,
        filling: &mut Filling<'_>,
    ) -> u64 {
        let mut items = Items::new(items);
        items.value = filling.first.take();
        let mut position = 0u64;
        let mut end = 0u64;
        let mut filled = Vec::new();
        while let Some(item) = items.peek() {
            let mut depth = 0;
            if let Some(designator) = &item.designator {
                match self.designated(ty, designator, span) {
                    Ok(path) => {
                        let Some((last, before)) = path.split_last() else {
                            break;
                        };
                        filling.path.extend_from_slice(before);
                        depth = before.len();
                        position = match last {
                            Step::Field(index) => u64::from(*index),
                            Step::Element(index) => *index,
                        };
                    }
                    Err(reported) => {
                        filling.wrong = Some(reported);
                        items.advance();
                        continue;
                    }
                }
            }
            let owner = self.type_at(ty, &filling.path[filling.path.len() - depth..]);
            let member = owner.and_then(|owner| self.member_at(&owner, position));
            let Some((step, member)) = member else {
                let name = filling.name.to_string();
                let message = DeclError::TooManyValues { name };
                filling.wrong = Some(self.error(item_span(item, span), message));
                break;
            };
            filling.path.push(step);
            self.fill_member(&member, &mut items, span, filling);
            let keep = filling.path.len() - 1 - depth;
            filled.extend(filling.path.get(keep).copied());
            filling.path.truncate(keep);
            position += 1;
            end = end.max(position);
        }
        self.fill_defaults(ty, &filled, span, filling);
        end
    }

    /// Members that a list leaves out and that have a value in their class.
    fn fill_defaults(&mut self, ty: &Ty, filled: &[Step], span: Span, filling: &mut Filling<'_>) {
        use crate::sema::check::construct::Beginning;
        if let Ty::Array(element, n) = ty
            && n.is_some_and(|n| filled.len() as u64 != n)
            && self.beginning(&element.ty.clone(), span) != Beginning::Nothing
        {
            let what = "a list that leaves out objects with constructors";
            filling.wrong = Some(self.unsupported(what, span));
            return;
        }
        let Ty::Record(class) = ty else { return };
        let fields = self.tables.record(*class).fields.clone();
        for (index, field) in (0u32..).zip(&fields) {
            let is_left_out = !filled.contains(&Step::Field(index))
                && !self.tables.record(*class).is_union
                && self
                    .tables
                    .classes
                    .get(class)
                    .is_none_or(|facts| !facts.defaults.contains_key(&index));
            if is_left_out && self.beginning(&field.ty.ty, span) != Beginning::Nothing {
                let what = "a list that leaves out objects with constructors";
                filling.wrong = Some(self.unsupported(what, span));
                return;
            }
        }
        let Some(facts) = self.tables.classes.get(class) else {
            return;
        };
        let mut defaults: Vec<(u32, Arc<ast::Init>)> = facts
            .defaults
            .iter()
            .map(|(index, init)| (*index, init.clone()))
            .collect();
        defaults.sort_by_key(|(index, _)| *index);
        for (index, init) in defaults {
            if filled.contains(&Step::Field(index)) {
                continue;
            }
            // A class that is wrong may have lost members.
            let Some(field) = self.tables.record(*class).fields.get(index as usize) else {
                continue;
            };
            let member = field.ty.ty.clone();
            let value = match &*init {
                ast::Init::Expr(expr) => {
                    self.implicit_value(expr, &member, &Why::Init(filling.name))
                }
                ast::Init::List(items) if !matches!(member, Ty::Array(..)) => {
                    self.list_value(&member, &items.node, items.span)
                }
                ast::Init::List(_) | ast::Init::Construct(_) => {
                    Err(self.unsupported("a list that leaves out this member", span))
                }
            };
            filling.path.push(Step::Field(index));
            filling.fill(value);
            filling.path.pop();
        }
    }

    /// Fills one member or element from the next item, or from the next few if its braces are left out.
    fn fill_member(
        &mut self,
        ty: &Ty,
        items: &mut Items<'_>,
        span: Span,
        filling: &mut Filling<'_>,
    ) {
        let Some(item) = items.peek() else { return };
        match &item.value {
            ast::Init::List(list) if self.tables.has_constructors(ty) => {
                let value = self.list_value(ty, &list.node, list.span);
                filling.fill(value);
                items.advance();
            }
            ast::Init::List(list) => {
                if ty.is_scalar() {
                    let value = self.scalar_list(ty, &list.node, list.span, filling.name);
                    filling.fill(value);
                } else if self.tables.is_vector(ty, "dim3") {
                    let value = self.dim3_list(&list.node, list.span);
                    filling.fill(value);
                } else {
                    self.fill_braced(ty, &list.node, list.span, filling);
                }
                items.advance();
            }
            ast::Init::Construct(_) => items.advance(),
            ast::Init::Expr(expr) => {
                if let (Ty::Array(element, size), ExprKind::Str(bytes)) = (ty, &expr.kind)
                    && is_character(&element.ty)
                {
                    match self.string_bytes(bytes, *size, expr.span, filling.name) {
                        Ok((bytes, _)) => fill_bytes(&bytes, &element.ty, expr.span, filling),
                        Err(reported) => filling.wrong = Some(reported),
                    }
                    return items.advance();
                }
                let value = match items.value.take() {
                    Some(value) => value,
                    None => self.value(expr),
                };
                let is_whole = match (ty, &value) {
                    (Ty::Array(..), _) => false,
                    (Ty::Record(_), Ok(value)) => {
                        value.ty == *ty
                            || self.tables.is_vector(ty, "dim3")
                            || self.tables.has_constructors(ty)
                            || self
                                .tables
                                .conversion_function(&value.ty, ty, false)
                                .is_some()
                    }
                    _ => true,
                };
                if is_whole {
                    let why = Why::Init(filling.name);
                    filling.fill(value.and_then(|value| self.implicit(value, ty, &why)));
                    return items.advance();
                }
                items.value = Some(value);
                self.fill_unbraced(ty, items, span, filling);
            }
        }
    }

    /// Fills an aggregate whose braces are left out: takes as many items as it has members.
    fn fill_unbraced(
        &mut self,
        ty: &Ty,
        items: &mut Items<'_>,
        span: Span,
        filling: &mut Filling<'_>,
    ) {
        let mut position = 0;
        let first = items.next;
        while let Some(item) = items.peek() {
            let is_designated = item.designator.is_some() && items.next > first;
            let Some((step, member)) = self.member_at(ty, position) else {
                return;
            };
            if is_designated {
                return;
            }
            filling.path.push(step);
            self.fill_member(&member, items, span, filling);
            filling.path.pop();
            position += 1;
        }
    }

    /// The member or element at a position. Of a union only the first one is initialised.
    fn member_at(&self, ty: &Ty, position: u64) -> Option<(Step, Ty)> {
        match ty {
            Ty::Array(element, size) => (size.is_none_or(|size| position < size))
                .then(|| (Step::Element(position), element.ty.clone())),
            Ty::Record(id) => {
                let record = self.tables.record(*id);
                let field = record.fields.get(usize::try_from(position).ok()?)?;
                Some((Step::Field(position as u32), field.ty.ty.clone()))
            }
            _ => None,
        }
    }

    fn type_at(&self, ty: &Ty, path: &[Step]) -> Option<Ty> {
        let mut ty = ty.clone();
        for step in path {
            let position = match step {
                Step::Field(index) => u64::from(*index),
                Step::Element(index) => *index,
            };
            match self.member_at(&ty, position) {
                Some((_, member)) => ty = member,
                None => return None,
            }
        }
        Some(ty)
    }

    fn designated(
        &mut self,
        ty: &Ty,
        designator: &Designator,
        span: Span,
    ) -> Result<Vec<Step>, Reported> {
        match (designator, ty) {
            (Designator::Member(name), Ty::Record(id)) => {
                let mut path = Vec::new();
                if self.tables.find_field(*id, &name.node, &mut path) {
                    return Ok(path.into_iter().map(Step::Field).collect());
                }
                let record = self.tables.record(*id);
                let members: Vec<_> = record
                    .fields
                    .iter()
                    .map(|field| field.name.clone())
                    .collect();
                let (of, declared) = (format!("`{}`", record.name), record.span);
                Err(self.unknown_member(&of, &name.node, name.span, &members, declared))
            }
            (Designator::Index(index), Ty::Array(_, size)) => {
                let n = self.constant_int(index, "the index in an initialiser")?;
                match u64::try_from(n) {
                    Ok(n) if size.is_none_or(|size| n < size) => Ok(vec![Step::Element(n)]),
                    _ => Err(self.error(index.span, DeclError::IndexOutside { n })),
                }
            }
            (Designator::Member(name), _) => {
                let at = name.span;
                let name = name.node.to_string();
                Err(self.error(at, DeclError::DesignatorOfNonStruct { name }))
            }
            (Designator::Index(_), _) => {
                Err(self.error(span, DeclError::IndexDesignatorOfNonArray))
            }
        }
    }

    /// `{ … }` where a value of a known type is wanted: an argument, `return { … }`, `x = { … }`.
    pub(crate) fn list_value(
        &mut self,
        ty: &Ty,
        items: &[InitItem],
        span: Span,
    ) -> Result<Value, Reported> {
        let items = self.expanded_items(items);
        let items = &items[..];
        self.known(ty, span)?;
        if self.tables.is_vector(ty, "dim3") {
            return self.dim3_list(items, span);
        }
        if ty.is_scalar() {
            return self.scalar_list(ty, items, span, "the value");
        }
        let Ty::Record(id) = ty else {
            return Err(self.reported_before(span));
        };
        if !items.is_empty()
            && self
                .tables
                .classes
                .get(id)
                .is_some_and(|facts| !facts.defaults.is_empty())
            && !self.tables.has_constructors(ty)
            && items.len() < self.tables.record(*id).fields.len()
        {
            return Err(self.unsupported(
                "a list that leaves out members with values of their own",
                span,
            ));
        }
        if self.tables.has_constructors(ty)
            || (items.is_empty() && self.tables.classes.contains_key(id))
        {
            let args = self.list_arguments(ty, items, span);
            if let [crate::sema::check::overload::Argument::Value(value)] = &args[..]
                && value.ty == *ty
            {
                let value = value.clone();
                return self.copied(value);
            }
            return self.construct_temporary(*id, args, span);
        }
        let mut only = self.only_value(ty, items);
        if let Some(Ok(value)) = only.take_if(|value| matches!(value, Ok(value) if value.ty == *ty))
        {
            return self.copied(value);
        }
        let plain = items
            .iter()
            .all(|item| item.designator.is_none() && matches!(item.value, ast::Init::Expr(_)));
        let field_types: Vec<Ty> = self
            .tables
            .record(*id)
            .fields
            .iter()
            .map(|field| field.ty.ty.clone())
            .collect();
        let simple =
            field_types.iter().all(Classify::is_scalar) && !self.tables.record(*id).is_union;
        if !plain || !simple || items.len() > field_types.len() {
            return self.list_in_variable(ty, items, span);
        }
        let mut members = Vec::new();
        for (item, field) in items.iter().zip(&field_types) {
            if let ast::Init::Expr(expr) = &item.value {
                let value = only.take().unwrap_or_else(|| self.value(expr));
                let member = value.and_then(|value| self.implicit(value, field, &Why::Operand));
                members.push(member);
            }
        }
        let kind = ValueKind::Aggregate(all(members)?);
        Ok(Value::new(kind, ty.clone(), span))
    }
}

/// The characters of a literal as the elements of a member that is an array.
fn fill_bytes(bytes: &[u8], element: &Ty, span: Span, filling: &mut Filling<'_>) {
    for (i, byte) in (0u64..).zip(bytes) {
        let bits = element.wrap(u64::from(*byte));
        filling.path.push(Step::Element(i));
        filling.fill(Ok(int(bits, element.clone(), span)));
        filling.path.pop();
    }
}

fn is_character(ty: &Ty) -> bool {
    matches!(ty, Ty::Char | Ty::SChar | Ty::UChar)
}

fn item_span(item: &InitItem, list: Span) -> Span {
    match &item.value {
        ast::Init::Expr(expr) => expr.span,
        ast::Init::List(items) => items.span,
        ast::Init::Construct(_) => list,
    }
}
