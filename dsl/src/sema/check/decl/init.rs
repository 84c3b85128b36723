//! Initialisers: lists with C's brace elision and designators, strings, `T x(a, b)`.
//!
//! A list becomes single assignments, each with the path to its member or element, in order of evaluation.

pub(crate) mod fill;

use crate::sema::message::class::ClassError;
use crate::sema::message::decl::DeclError;
use std::sync::Arc;

use crate::sema::check::{
    Checker, Reported, Reporter, Tables, all, construct,
    convert::{self, Why},
    expr, int, list, pack, temporary,
};
use crate::{
    sema::{
        classify::Classify,
        ty::{QualTy, Ty},
        typed::{Init, Step, Value, ValueKind},
    },
    syntax::ast::{self, ExprKind, InitItem},
};
use ir::{
    diagnostic::{Code, Diagnostic},
    span::Span,
};

/// How many zeros are kept after the text of a character array; the lowering writes at most this many one by one.
const MOST_ZEROS: u64 = 64;

/// A list being read, and the result so far.
struct Filling<'f> {
    /// The variable, for messages.
    name: &'f str,
    parts: Vec<(Vec<Step>, Value)>,
    path: Vec<Step>,
    /// The first item's value, if it has been checked already.
    first: Option<Result<Value, Reported>>,
    /// Set if something in it is invalid.
    wrong: Option<Reported>,
}

impl Filling<'_> {
    /// The value of the current part.
    fn fill(&mut self, value: Result<Value, Reported>) {
        match value {
            Ok(value) => self.parts.push((self.path.clone(), value)),
            Err(reported) => self.wrong = Some(reported),
        }
    }
}

/// The items of one pair of braces. A value may be for a whole member or for its first part: it is checked once and kept until that is
/// known.
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

/// A variable's initialiser; completes the type of an array without a size. Fails if it is invalid.
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
    // A call for the other side may turn out to be a constant; then the message is withdrawn.
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

/// A literal's characters, NUL and padding as in an array of this size.
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
    let n = fill::fill_braced(cx, &ty.ty.clone(), items, span, &mut filling);
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

/// The value of a list's only item, if the list is for a class: `T x{y}` copies a `y` of type `T`.
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

/// `{ … }` where a value of a known type is expected: an argument, `return { … }`, `x = { … }`.
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
    let is_object = matches!(&only, Some(Ok(value)) if value.ty == *ty);
    if cx.tables.is_polymorphic(ty) && !is_object {
        return Err(cx.error(span, ClassError::NotAList { ty: ty.clone() }));
    }
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

/// The characters of a literal as the elements of an array member.
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
