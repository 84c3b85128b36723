//! Initialisers: lists with C's brace elision and designators, strings, `T x(a, b)`.
//!
//! A list becomes single assignments, each with the way to the member or element it is for, in order of evaluation.

use crate::sema::message::decl::DeclError;
use std::sync::Arc;

use crate::sema::check::{
    Checker, Reported, Reporter, Tables, all, construct,
    convert::{self, Why},
    expr, int, list, pack, record, temporary, unknown,
};
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

/// A variable's initialiser; completes the type of an array without a size. `None` if it is wrong.
pub(crate) fn initialiser(
    cx: &mut Checker<'_>,
    ty: &mut QualTy,
    init: &ast::Init,
    name: &ast::Name,
    is_local: bool,
) -> Result<Init, Reported> {
    let n_errors = cx.reporter.diagnostics.len();
    let typed = match init {
        ast::Init::Expr(expr) => init_expr(cx, ty, expr, &name.node),
        ast::Init::List(items) => {
            let span = items.span;
            let items = pack::expanded_items(cx, &items.node);
            init_list(cx, ty, &items, span, &name.node)
        }
        ast::Init::Construct(args) => {
            let to = ty.ty.clone();
            let value = match &args.node[..] {
                [arg] if !matches!(arg.kind, ExprKind::List(_)) => {
                    convert::implicit_value(cx, arg, &to, &Why::Init(&name.node))
                }
                all => expr::construct(cx, &to, all, args.span),
            };
            value.map(Init::Value)
        }
    }?;
    cx.body.known(&ty.ty, name.span)?;
    // A call for the other side may turn out to be a constant, which takes the message back.
    let is_for_other_side = |diagnostic: &Diagnostic| {
        is_local
            && matches!(
                diagnostic.code,
                Code::HostCallInDevice | Code::DeviceCallInHost
            )
    };
    cx.reporter
        .error_since(n_errors, |diagnostic| !is_for_other_side(diagnostic))?;
    Ok(typed)
}

fn init_expr(
    cx: &mut Checker<'_>,
    ty: &mut QualTy,
    expr: &ast::Expr,
    name: &str,
) -> Result<Init, Reported> {
    if let (Ty::Array(element, size), ExprKind::Str(bytes)) = (&ty.ty, &expr.kind)
        && is_character(&element.ty)
    {
        let (bytes, size) =
            string_bytes(&cx.tables, &mut cx.reporter, bytes, *size, expr.span, name)?;
        ty.ty = Ty::Array(element.clone(), Some(size));
        return Ok(Init::Bytes(bytes));
    }
    let value = expr::value(cx, expr)?;
    cx.body.known(&ty.ty, expr.span)?;
    if let Ty::Array(..) = ty.ty {
        let (name, ty) = (name.to_string(), ty.clone());
        return Err(cx.error(expr.span, DeclError::ArrayFromSingleValue { name, ty }));
    }
    convert::implicit(cx, value, &ty.ty, &Why::Init(name)).map(Init::Value)
}

/// A literal's characters, NUL and padding as an array of this size has them.
fn string_bytes(
    tables: &Tables,
    reporter: &mut Reporter,
    bytes: &Arc<[u8]>,
    size: Option<u64>,
    span: Span,
    name: &str,
) -> Result<(Arc<[u8]>, u64), Reported> {
    let needed = bytes.len() as u64 + 1;
    let size = size.unwrap_or(needed);
    if needed > size {
        let name = name.to_string();
        return Err(reporter.error(
            tables,
            span,
            DeclError::StringTooLong { needed, name, size },
        ));
    }
    // Of a long array not all zeros are kept.
    let mut padded = bytes.to_vec();
    padded.resize(size.min(needed + MOST_ZEROS) as usize, 0);
    Ok((padded.into(), size))
}

pub(crate) fn init_list(
    cx: &mut Checker<'_>,
    ty: &mut QualTy,
    items: &[InitItem],
    span: Span,
    name: &str,
) -> Result<Init, Reported> {
    cx.body.known(&ty.ty, span)?;
    if cx.tables.is_vector(&ty.ty, "dim3") {
        return dim3_list(cx, items, span).map(Init::Value);
    }
    if ty.ty.is_scalar() {
        let value = scalar_list(cx, &ty.ty, items, span, name);
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
        return init_expr(cx, ty, expr, name);
    }
    let first = only_value(cx, &ty.ty, items);
    if let Some(Ok(value)) = &first
        && value.ty == ty.ty
    {
        let whole = convert::implicit(cx, value.clone(), &ty.ty, &Why::Init(name))?;
        return Ok(Init::Value(whole));
    }
    let mut filling = Filling {
        name,
        parts: Vec::new(),
        path: Vec::new(),
        first,
        wrong: None,
    };
    let n = fill_braced(cx, &ty.ty.clone(), items, span, &mut filling);
    if let Ty::Array(element, None) = &ty.ty {
        if n == 0 {
            let name = name.to_string();
            return Err(cx.error(span, DeclError::ArrayWithoutElements { name }));
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
fn only_value(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &[InitItem],
) -> Option<Result<Value, Reported>> {
    let (Ty::Record(_), [item]) = (ty, items) else {
        return None;
    };
    match &item.value {
        ast::Init::Expr(expr) if item.designator.is_none() => match expr.kind {
            ExprKind::Str(_) | ExprKind::List(_) => None,
            _ => Some(expr::value(cx, expr)),
        },
        _ => None,
    }
}

fn dim3_list(cx: &mut Checker<'_>, items: &[InitItem], span: Span) -> Result<Value, Reported> {
    if items.len() > 3 {
        return Err(cx.error(span, DeclError::Dim3TooManySizes));
    }
    let mut sizes = Vec::new();
    for item in items {
        match &item.value {
            ast::Init::Expr(expr) if item.designator.is_none() => {
                sizes.push(convert::implicit_value(
                    cx,
                    expr,
                    &Ty::UInt,
                    &Why::Init("dim3"),
                ));
            }
            _ => {
                return Err(cx.error(span, DeclError::Dim3PlainSizes));
            }
        }
    }
    Ok(convert::dim3_of(&mut cx.tables, all(sizes)?, span))
}

fn scalar_list(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &[InitItem],
    span: Span,
    name: &str,
) -> Result<Value, Reported> {
    match items {
        [] => {
            let zero = int(0, Ty::Int, span);
            convert::cast(cx, zero, ty, span)
        }
        [
            InitItem {
                designator: None,
                value: ast::Init::Expr(expr),
            },
        ] => convert::implicit_value(cx, expr, ty, &Why::Init(name)),
        _ => Err(cx.error(
            span,
            DeclError::SingleValue {
                name: name.to_string(),
            },
        )),
    }
}

/// Fills an aggregate from the items of its own braces; gives one more than the last position that was filled.
fn fill_braced(
    cx: &mut Checker<'_>,
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
            match designated(cx, ty, designator, span) {
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
        let owner = type_at(&cx.tables, ty, &filling.path[filling.path.len() - depth..]);
        let member = owner.and_then(|owner| member_at(&cx.tables, &owner, position));
        let Some((step, member)) = member else {
            let name = filling.name.to_string();
            let message = DeclError::TooManyValues { name };
            filling.wrong = Some(cx.error(item_span(item, span), message));
            break;
        };
        filling.path.push(step);
        fill_member(cx, &member, &mut items, span, filling);
        let keep = filling.path.len() - 1 - depth;
        filled.extend(filling.path.get(keep).copied());
        filling.path.truncate(keep);
        position += 1;
        end = end.max(position);
    }
    fill_defaults(cx, ty, &filled, span, filling);
    end
}

/// Members that a list leaves out and that have a value in their class.
fn fill_defaults(
    cx: &mut Checker<'_>,
    ty: &Ty,
    filled: &[Step],
    span: Span,
    filling: &mut Filling<'_>,
) {
    use crate::sema::check::construct::Beginning;
    if let Ty::Array(element, n) = ty
        && n.is_some_and(|n| filled.len() as u64 != n)
        && construct::beginning(cx, &element.ty.clone(), span) != Beginning::Nothing
    {
        let what = "a list that leaves out objects with constructors";
        filling.wrong = Some(cx.unsupported(what, span));
        return;
    }
    let Ty::Record(class) = ty else { return };
    let fields = cx.tables.record(*class).fields.clone();
    for (index, field) in (0u32..).zip(&fields) {
        let is_left_out = !filled.contains(&Step::Field(index))
            && !cx.tables.record(*class).is_union
            && cx
                .tables
                .classes
                .get(class)
                .is_none_or(|facts| !facts.defaults.contains_key(&index));
        if is_left_out && construct::beginning(cx, &field.ty.ty, span) != Beginning::Nothing {
            let what = "a list that leaves out objects with constructors";
            filling.wrong = Some(cx.unsupported(what, span));
            return;
        }
    }
    let Some(facts) = cx.tables.classes.get(class) else {
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
        let Some(field) = cx.tables.record(*class).fields.get(index as usize) else {
            continue;
        };
        let member = field.ty.ty.clone();
        let value = match &*init {
            ast::Init::Expr(expr) => {
                convert::implicit_value(cx, expr, &member, &Why::Init(filling.name))
            }
            ast::Init::List(items) if !matches!(member, Ty::Array(..)) => {
                list_value(cx, &member, &items.node, items.span)
            }
            ast::Init::List(_) | ast::Init::Construct(_) => {
                Err(cx.unsupported("a list that leaves out this member", span))
            }
        };
        filling.path.push(Step::Field(index));
        filling.fill(value);
        filling.path.pop();
    }
}

/// Fills one member or element from the next item, or from the next few if its braces are left out.
fn fill_member(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &mut Items<'_>,
    span: Span,
    filling: &mut Filling<'_>,
) {
    let Some(item) = items.peek() else { return };
    match &item.value {
        ast::Init::List(list) if cx.tables.has_constructors(ty) => {
            let value = list_value(cx, ty, &list.node, list.span);
            filling.fill(value);
            items.advance();
        }
        ast::Init::List(list) => {
            if ty.is_scalar() {
                let value = scalar_list(cx, ty, &list.node, list.span, filling.name);
                filling.fill(value);
            } else if cx.tables.is_vector(ty, "dim3") {
                let value = dim3_list(cx, &list.node, list.span);
                filling.fill(value);
            } else {
                fill_braced(cx, ty, &list.node, list.span, filling);
            }
            items.advance();
        }
        ast::Init::Construct(_) => items.advance(),
        ast::Init::Expr(expr) => {
            if let (Ty::Array(element, size), ExprKind::Str(bytes)) = (ty, &expr.kind)
                && is_character(&element.ty)
            {
                match string_bytes(
                    &cx.tables,
                    &mut cx.reporter,
                    bytes,
                    *size,
                    expr.span,
                    filling.name,
                ) {
                    Ok((bytes, _)) => fill_bytes(&bytes, &element.ty, expr.span, filling),
                    Err(reported) => filling.wrong = Some(reported),
                }
                return items.advance();
            }
            let value = match items.value.take() {
                Some(value) => value,
                None => expr::value(cx, expr),
            };
            let is_whole = match (ty, &value) {
                (Ty::Array(..), _) => false,
                (Ty::Record(_), Ok(value)) => {
                    value.ty == *ty
                        || cx.tables.is_vector(ty, "dim3")
                        || cx.tables.has_constructors(ty)
                        || cx
                            .tables
                            .conversion_function(&value.ty, ty, false)
                            .is_some()
                }
                _ => true,
            };
            if is_whole {
                let why = Why::Init(filling.name);
                filling.fill(value.and_then(|value| convert::implicit(cx, value, ty, &why)));
                return items.advance();
            }
            items.value = Some(value);
            fill_unbraced(cx, ty, items, span, filling);
        }
    }
}

/// Fills an aggregate whose braces are left out: takes as many items as it has members.
fn fill_unbraced(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &mut Items<'_>,
    span: Span,
    filling: &mut Filling<'_>,
) {
    let mut position = 0;
    let first = items.next;
    while let Some(item) = items.peek() {
        let is_designated = item.designator.is_some() && items.next > first;
        let Some((step, member)) = member_at(&cx.tables, ty, position) else {
            return;
        };
        if is_designated {
            return;
        }
        filling.path.push(step);
        fill_member(cx, &member, items, span, filling);
        filling.path.pop();
        position += 1;
    }
}

/// The member or element at a position. Of a union only the first one is initialised.
fn member_at(tables: &Tables, ty: &Ty, position: u64) -> Option<(Step, Ty)> {
    match ty {
        Ty::Array(element, size) => (size.is_none_or(|size| position < size))
            .then(|| (Step::Element(position), element.ty.clone())),
        Ty::Record(id) => {
            let record = tables.record(*id);
            let field = record.fields.get(usize::try_from(position).ok()?)?;
            Some((Step::Field(position as u32), field.ty.ty.clone()))
        }
        _ => None,
    }
}

fn type_at(tables: &Tables, ty: &Ty, path: &[Step]) -> Option<Ty> {
    let mut ty = ty.clone();
    for step in path {
        let position = match step {
            Step::Field(index) => u64::from(*index),
            Step::Element(index) => *index,
        };
        match member_at(tables, &ty, position) {
            Some((_, member)) => ty = member,
            None => return None,
        }
    }
    Some(ty)
}

fn designated(
    cx: &mut Checker<'_>,
    ty: &Ty,
    designator: &Designator,
    span: Span,
) -> Result<Vec<Step>, Reported> {
    match (designator, ty) {
        (Designator::Member(name), Ty::Record(id)) => {
            let mut path = Vec::new();
            if cx.tables.find_field(*id, &name.node, &mut path) {
                return Ok(path.into_iter().map(Step::Field).collect());
            }
            let record = cx.tables.record(*id);
            let members: Vec<_> = record
                .fields
                .iter()
                .map(|field| field.name.clone())
                .collect();
            let (of, declared) = (format!("`{}`", record.name), record.span);
            Err(unknown::member(
                &cx.tables,
                &mut cx.reporter,
                &of,
                &name.node,
                name.span,
                &members,
                declared,
            ))
        }
        (Designator::Index(index), Ty::Array(_, size)) => {
            let n = record::constant_int(cx, index, "the index in an initialiser")?;
            match u64::try_from(n) {
                Ok(n) if size.is_none_or(|size| n < size) => Ok(vec![Step::Element(n)]),
                _ => Err(cx.error(index.span, DeclError::IndexOutside { n })),
            }
        }
        (Designator::Member(name), _) => {
            let at = name.span;
            let name = name.node.to_string();
            Err(cx.error(at, DeclError::DesignatorOfNonStruct { name }))
        }
        (Designator::Index(_), _) => Err(cx.error(span, DeclError::IndexDesignatorOfNonArray)),
    }
}

/// `{ … }` where a value of a known type is wanted: an argument, `return { … }`, `x = { … }`.
pub(crate) fn list_value(
    cx: &mut Checker<'_>,
    ty: &Ty,
    items: &[InitItem],
    span: Span,
) -> Result<Value, Reported> {
    let items = pack::expanded_items(cx, items);
    let items = &items[..];
    cx.body.known(ty, span)?;
    if cx.tables.is_vector(ty, "dim3") {
        return dim3_list(cx, items, span);
    }
    if ty.is_scalar() {
        return scalar_list(cx, ty, items, span, "the value");
    }
    let Ty::Record(id) = ty else {
        return Err(cx.body.reported_before(span));
    };
    if !items.is_empty()
        && cx
            .tables
            .classes
            .get(id)
            .is_some_and(|facts| !facts.defaults.is_empty())
        && !cx.tables.has_constructors(ty)
        && items.len() < cx.tables.record(*id).fields.len()
    {
        return Err(cx.unsupported(
            "a list that leaves out members with values of their own",
            span,
        ));
    }
    if cx.tables.has_constructors(ty) || (items.is_empty() && cx.tables.classes.contains_key(id)) {
        let args = construct::list_arguments(cx, ty, items, span);
        if let [crate::sema::check::overload::Argument::Value(value)] = &args[..]
            && value.ty == *ty
        {
            let value = value.clone();
            return temporary::copied(cx, value);
        }
        return temporary::construct(cx, *id, args, span);
    }
    let mut only = only_value(cx, ty, items);
    if let Some(Ok(value)) = only.take_if(|value| matches!(value, Ok(value) if value.ty == *ty)) {
        return temporary::copied(cx, value);
    }
    let plain = items
        .iter()
        .all(|item| item.designator.is_none() && matches!(item.value, ast::Init::Expr(_)));
    let field_types: Vec<Ty> = cx
        .tables
        .record(*id)
        .fields
        .iter()
        .map(|field| field.ty.ty.clone())
        .collect();
    let simple = field_types.iter().all(Classify::is_scalar) && !cx.tables.record(*id).is_union;
    if !plain || !simple || items.len() > field_types.len() {
        return list::in_variable(cx, ty, items, span);
    }
    let mut members = Vec::new();
    for (item, field) in items.iter().zip(&field_types) {
        if let ast::Init::Expr(expr) = &item.value {
            let value = only.take().unwrap_or_else(|| expr::value(cx, expr));
            let member = value.and_then(|value| convert::implicit(cx, value, field, &Why::Operand));
            members.push(member);
        }
    }
    let kind = ValueKind::Aggregate(all(members)?);
    Ok(Value::new(kind, ty.clone(), span))
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
