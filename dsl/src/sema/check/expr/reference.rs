//! References: other names for places.
//!
//! A reference is bound to the address of a place. Whether the place is in memory is decided later, by the lowering: a variable whose
//! references can all be resolved stays in registers. A reference to `const` can also be bound to a value, which then lives as long as the
//! reference does.

use crate::sema::check::{
    Body, Checker, Mode, Reported, Tables, access, bits, cleanup,
    convert::{self, Why},
    decl, expr,
    function::reference_part,
    specifier,
};
use crate::sema::message::expr::ExprError;
use crate::{
    sema::{
        classify::pointer_to,
        scope::Entity,
        ty::{QualTy, Ty},
        typed::{Init, Place, PlaceKind, Stmt, StmtKind, Storage, Value, ValueKind, Var},
    },
    syntax::ast::{self, DeclaratorPart, SpecifierWord},
};
use ir::span::Span;

/// The place that a value was read from, if it can be named again.
pub(crate) fn place_of(value: &Value) -> Option<&Place> {
    match &value.kind {
        ValueKind::Load(place) | ValueKind::Decay(place) if !access::is_temporary(place) => {
            Some(place)
        }
        _ => None,
    }
}

/// `c ? a : b` of two places is a place: the one at the address that the condition selects.
pub(crate) fn as_place_value(body: &mut Body, mode: &Mode, value: Value) -> Value {
    let ValueKind::Conditional(cond, yes, no) = &value.kind else {
        return value;
    };
    let (Some(a), Some(b)) = (place_of(yes), place_of(no)) else {
        return value;
    };
    let is_bits = bits::of_place(a).is_some() || bits::of_place(b).is_some();
    if a.ty.ty != b.ty.ty || matches!(a.ty.ty, Ty::Array(..)) || is_bits {
        return value;
    }
    let (a, b, span) = (a.clone(), b.clone(), value.span);
    let ty = QualTy {
        ty: a.ty.ty.clone(),
        is_const: a.ty.is_const || b.ty.is_const,
        is_volatile: a.ty.is_volatile || b.ty.is_volatile,
    };
    access::take_address(body, mode, &a);
    access::take_address(body, mode, &b);
    let chosen = Value::new(
        ValueKind::Conditional(
            cond.clone(),
            Box::new(address(a, &ty, span)),
            Box::new(address(b, &ty, span)),
        ),
        pointer_to(ty.clone()),
        span,
    );
    crate::sema::check::method::place_value(Place::new(
        PlaceKind::Deref(Box::new(chosen)),
        ty,
        span,
    ))
}

/// The address of the place that a reference to `ty` is bound to.
pub(crate) fn bind(
    cx: &mut Checker<'_>,
    value: Value,
    ty: &QualTy,
    why: &Why<'_>,
) -> Result<Value, Reported> {
    let value = match ty.is_const {
        true => value,
        false => as_place_value(&mut cx.body, &cx.mode, value),
    };
    cx.body.known(&ty.ty, value.span)?;
    let span = value.span;
    let is_bits = |place: &&Place| bits::of_place(place).is_some();
    // A reference to `const` is bound to a copy of a bit-field.
    if let Some(place) = place_of(&value).filter(is_bits) {
        if !ty.is_const {
            return Err(no_reference(cx, place.span, why.parameter()));
        }
    } else if let Some(place) = place_of(&value) {
        let is_base = match (&place.ty.ty, &ty.ty) {
            (Ty::Record(from), Ty::Record(to)) => cx.tables.is_derived(*from, *to),
            _ => false,
        };
        if is_base || same_object(&place.ty.ty, &ty.ty) {
            let mut place = place.clone();
            if let Ty::Record(base) = ty.ty {
                place = cx.tables.base_place(place, base);
            }
            return bind_place(cx, place, ty, why);
        }
    }
    if !ty.is_const || ty.is_volatile || matches!(ty.ty, Ty::Array(..)) {
        return Err(not_bindable(cx, &value, ty, why));
    }
    let value = convert::implicit(cx, value, &ty.ty, why)?;
    Ok(address_of_value(cx, value, ty, span))
}

/// The address of a member function's object: a place, or a value that lives while the function runs.
pub(crate) fn bind_object(
    cx: &mut Checker<'_>,
    value: Value,
    ty: &QualTy,
    why: &Why<'_>,
) -> Result<Value, Reported> {
    if place_of(&value).is_some() || value.ty != ty.ty {
        return bind(cx, value, ty, why);
    }
    let span = value.span;
    Ok(address_of_value(cx, value, ty, span))
}

/// The address of a value that lives as long as the reference.
fn address_of_value(cx: &mut Checker<'_>, value: Value, ty: &QualTy, span: Span) -> Value {
    let place = match cleanup::is_unowned(&cx.tables, &value) {
        true => cleanup::temporary_place(cx, value),
        false => Place::new(PlaceKind::Temporary(Box::new(value)), ty.clone(), span),
    };
    address(place, ty, span)
}

fn bind_place(
    cx: &mut Checker<'_>,
    place: Place,
    ty: &QualTy,
    why: &Why<'_>,
) -> Result<Value, Reported> {
    let span = place.span;
    let lost = if place.ty.is_const && !ty.is_const {
        Some("const")
    } else if place.ty.is_volatile && !ty.is_volatile {
        Some("volatile")
    } else {
        None
    };
    if let Some(word) = lost {
        let text = cx.map.snippet(span).to_string();
        let message = ExprError::ReferenceDropsQualifier {
            text,
            word,
            parameter: why.parameter(),
        };
        return Err(cx.error(span, message));
    }
    access::check_bounds(cx, &place);
    Ok(address(place, ty, span))
}

/// Reports a reference to a bit-field: only its name can refer to it.
fn no_reference(cx: &mut Checker<'_>, span: Span, parameter: Option<Span>) -> Reported {
    let text = cx.map.snippet(span).to_string();
    cx.error(span, ExprError::BitFieldReference { text, parameter })
}

fn not_bindable(cx: &mut Checker<'_>, value: &Value, ty: &QualTy, why: &Why<'_>) -> Reported {
    let span = value.span;
    let text = cx.map.snippet(span).to_string();
    let (wanted, parameter) = (ty.clone(), why.parameter());
    let not_array = !matches!(ty.ty, Ty::Array(..));
    let found = place_of(value).map(|place| place.ty.clone());
    let message = if found.is_some() || !not_array {
        ExprError::ReferenceToOtherType {
            wanted,
            text,
            found: found.unwrap_or_else(|| value.ty.clone().into()),
            parameter,
            not_array,
        }
    } else {
        ExprError::ReferenceToValue {
            wanted,
            text,
            parameter,
            not_array,
        }
    };
    cx.error(span, message)
}

/// The address that `return` yields in a function that returns a reference.
pub(crate) fn bind_result(
    cx: &mut Checker<'_>,
    value: Value,
    ty: &QualTy,
    name: &str,
) -> Result<Value, Reported> {
    let value = as_place_value(&mut cx.body, &cx.mode, value);
    let span = value.span;
    let found = place_of(&value).filter(|place| same_object(&place.ty.ty, &ty.ty));
    let Some(place) = found.cloned() else {
        let text = cx.map.snippet(span).to_string();
        return Err(cx.error(
            span,
            ExprError::ReturnsTemporary {
                name: name.to_string(),
                text: text.to_string(),
            },
        ));
    };
    if bits::of_place(&place).is_some() {
        return Err(no_reference(cx, span, None));
    }
    if let Some(crate::sema::typed::VarRef::Local(var)) = access::root(&place) {
        let var = &cx.body.vars[var].typed;
        if !var.is_reference && var.storage == Storage::Auto {
            let (text, declared) = (var.name.clone(), var.span);
            return Err(cx.error(
                span,
                ExprError::ReturnsLocal {
                    name: name.to_string(),
                    text: text.to_string(),
                    declared,
                },
            ));
        }
    }
    bind_place(cx, place, ty, &Why::Return(name))
}

/// `int &x = a[i];`, `const auto &x = …`.
pub(crate) fn local_reference(
    cx: &mut Checker<'_>,
    declaration: &ast::Declaration,
    base: Result<QualTy, Reported>,
    declarator: &ast::InitDeclarator,
    (span, is_rvalue): (Span, bool),
    out: &mut Vec<Stmt>,
) {
    let Some(name) = &declarator.declarator.name else {
        return;
    };
    for word in [
        SpecifierWord::Static,
        SpecifierWord::Extern,
        SpecifierWord::Shared,
        SpecifierWord::Constant,
        SpecifierWord::Device,
    ] {
        if let Some(place) = declaration.specifiers.word(word) {
            return refuse_reference(
                cx,
                "a reference that outlives its function",
                declarator,
                place,
            );
        }
    }
    let (_, parts) = reference_part(&declarator.declarator.parts);
    let is_auto = matches!(declaration.specifiers.ty.node, ast::TypeSpecifier::Auto);
    // The initialiser that `auto` is deduced from has been checked.
    let is_checked = is_auto && base.is_err();
    let ty = specifier::declared_type(cx, base, parts);
    if is_checked {
        return decl::declare_name(cx, name, Entity::Error);
    }
    let init = declarator.init.as_ref().and_then(ast::Init::single);
    let value = init.map(|expr| expr::value(cx, expr));
    let Some(value) = value else {
        cx.error(
            name.span,
            ExprError::ReferenceWithoutInitialiser {
                name: name.node.to_string(),
            },
        );
        decl::declare_name(cx, name, Entity::Error);
        return;
    };
    let (Ok(value), Ok(mut ty)) = (value, ty) else {
        return decl::declare_name(cx, name, Entity::Error);
    };
    if is_rvalue {
        // `auto &&x = place` is an ordinary reference; a value bound to `T &&` is a separate variable.
        if !(is_auto && place_of(&value).is_some()) {
            if place_of(&value).is_some() {
                return refuse_reference(cx, "an rvalue reference to a variable", declarator, span);
            }
            ty.is_const = true;
        }
    }
    let n_temporaries = cx.body.flow.temporaries.len();
    let is_unowned = cleanup::is_unowned(&cx.tables, &value);
    let bound = bind(cx, value, &ty, &Why::Init(&name.node));
    // The object lives as long as the reference does.
    if cx.body.flow.temporaries.len() > n_temporaries
        && (is_unowned || cx.tables.has_destructor(&ty.ty))
        && let Some(var) = cx.body.flow.temporaries.pop()
        && let Some(block) = cx.body.flow.cleanups.last_mut()
    {
        block.push(var);
    }
    let Ok(bound) = bound else {
        return decl::declare_name(cx, name, Entity::Error);
    };
    let id = variable(&cx.tables, &mut cx.body, &name.node, ty, name.span);
    decl::declare_name(cx, name, Entity::Local(id));
    out.push(Stmt::new(
        StmtKind::Declare(id, Some(Init::Value(bound))),
        declarator.span,
    ));
}

/// A new reference in the function being checked; it must be declared with the address that it is bound to.
pub(crate) fn variable(
    tables: &Tables,
    body: &mut Body,
    name: &str,
    ty: QualTy,
    span: Span,
) -> crate::sema::typed::VarId {
    body.add_var(Var {
        name: name.to_string(),
        align_bytes: tables.align_of(&ty.ty),
        ty,
        storage: Storage::Auto,
        address_taken: false,
        is_reference: true,
        is_restrict: false,
        span,
    })
}

/// Reports a form of reference that is not supported; binds the name so that its uses are no further errors.
pub(crate) fn refuse_reference(
    cx: &mut Checker<'_>,
    what: &str,
    declarator: &ast::InitDeclarator,
    span: Span,
) {
    cx.unsupported(what, span);
    if let Some(name) = &declarator.declarator.name {
        decl::declare_name(cx, name, Entity::Error);
    }
}

/// Reports `&` where a declarator cannot have one, below the parts before it.
pub(crate) fn misplaced_reference(
    cx: &mut Checker<'_>,
    around: &[DeclaratorPart],
    span: Span,
) -> Reported {
    let what = match around.last() {
        Some(DeclaratorPart::Pointer { .. }) => "there are no pointers to references",
        Some(DeclaratorPart::Array(..)) => "there are no arrays of references",
        Some(DeclaratorPart::Reference(_) | DeclaratorPart::RvalueReference(_)) => {
            "there are no references to references"
        }
        Some(DeclaratorPart::Function(..)) | None => {
            return cx.unsupported("a reference here", span);
        }
    };
    cx.error(span, ExprError::ReferenceMisplaced { what })
}

/// Whether a reference to `to` can name an object of type `from`: the types are equal except for qualifiers of elements.
pub(crate) fn same_object(from: &Ty, to: &Ty) -> bool {
    convert::bare_elements(from) == convert::bare_elements(to)
}

fn address(place: Place, ty: &QualTy, span: Span) -> Value {
    Value::new(
        ValueKind::AddressOf(Box::new(place)),
        pointer_to(ty.clone()),
        span,
    )
}
