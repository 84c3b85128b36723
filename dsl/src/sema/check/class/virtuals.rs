//! Virtual functions: overriding, how an object identifies its class, and which function a call finds by that.
//!
//! Where other compilers store the address of a virtual table, an object has its class's *mark* here: 8 bytes at the same offset, so that
//! sizes and offsets are the host compiler's. Constructors write it. A call through a reference or a pointer calls a dispatcher, which the
//! compiler writes for each virtual function that is called like this: it compares the mark with those of the class and of all classes
//! derived from it, and calls that class's version of the function. Any other mark traps: the object was never constructed, has ended, or
//! was constructed on the other side.
//!
//! A mark is computed from its class's text, so that kernels of separately compiled sources agree on it.

use std::collections::HashSet;

use crate::sema::check::{Checker, FunctionEntry, Tables, construct::assign_value, function};
use crate::sema::message::class::ClassError;
use crate::sema::path;
use crate::{
    sema::{
        layout,
        ty::{Field, RecordId, Ty},
        typed::{FunctionId, FunctionSpace, Place, PlaceKind, Stmt, StmtKind, Value, ValueKind},
    },
    syntax::ast::{self, MethodKind, Special, SpecifierWord},
};
use ir::{source::fingerprint, span::Span};

pub(crate) mod dispatch;

/// The member that holds the mark. No member of a program can have this name.
const MARK: &str = "virtual";

/// What only a class with virtual functions has.
#[derive(Clone, Default, Debug)]
pub(crate) struct Virtuals {
    /// For each virtual function, the base's first: the final overrider.
    pub(crate) table: Vec<FunctionId>,
    /// Whether its destructor is virtual.
    pub(crate) has_destructor: bool,
    /// The most derived destructor of it and its bases that the program writes; the compiler's code for a class is added at each call.
    destructor: Option<FunctionId>,
    /// Its own destructor, if it is `= 0`.
    pub(crate) pure_destructor: Option<FunctionId>,
    /// Its member that holds the mark, unless the base has it.
    pub(crate) field: Option<u32>,
    /// The mark of its objects.
    pub(crate) mark: u64,
}

/// Whether this is the name of such a member.
pub(crate) fn is_mark_name(name: &str) -> bool {
    name == MARK
}

/// Begins a class: it inherits its base's virtual functions, or gets a member for the mark if it declares the first ones.
pub(crate) fn open(
    cx: &mut Checker<'_>,
    specifier: &ast::RecordSpecifier,
    base: Option<RecordId>,
    fields: &mut Vec<Field>,
) -> Option<Virtuals> {
    let inherited = base.and_then(|base| cx.tables.virtuals(base).cloned());
    if let Some(inherited) = inherited {
        return Some(Virtuals {
            field: None,
            pure_destructor: None,
            ..inherited
        });
    }
    let members = specifier.members.iter().flatten();
    let first = members.filter_map(|member| match member {
        ast::Member::Function(function) => function.specifiers.word(SpecifierWord::Virtual),
        _ => None,
    });
    let at = first.min_by_key(|span| span.start)?;
    if let Some(base) = base
        && !layout::is_empty(&Ty::Record(base), &cx.tables.records)
    {
        let what =
            "a virtual function in a class whose base class has data but no virtual function";
        cx.unsupported(what, at);
        return None;
    }
    let field = fields.len() as u32;
    fields.push(Field {
        name: MARK.to_string(),
        ty: Ty::ULong.into(),
        offset_bytes: 0,
        bits: None,
    });
    Some(Virtuals {
        field: Some(field),
        ..Virtuals::default()
    })
}

/// Gives a class its mark, once its members are known.
pub(crate) fn finish_class(cx: &mut Checker<'_>, class: RecordId, members: &[ast::Member]) {
    if cx.tables.virtuals(class).is_none() {
        return;
    }
    let record = cx.tables.record(class);
    let mut text = record.name.clone();
    if let Some(span) = record.span {
        let name = &cx.map.file(cx.map.use_site(span).file).name;
        text += name.rsplit('/').next().unwrap_or_default();
    }
    for member in members {
        let span = match member {
            ast::Member::Function(function) => function.span,
            ast::Member::Declaration(declaration) => declaration.span,
            _ => continue,
        };
        text += cx.map.snippet(span);
    }
    // Two classes with equal text must still have different marks.
    let taken: HashSet<u64> = cx
        .tables
        .classes
        .values()
        .filter_map(|facts| facts.virtuals.as_ref())
        .map(|virtuals| virtuals.mark)
        .collect();
    let mut mark = fingerprint(text.as_bytes());
    while mark == 0 || taken.contains(&mark) {
        text.push('#');
        mark = fingerprint(text.as_bytes());
    }
    if let Some(virtuals) = virtuals_mut(&mut cx.tables, class) {
        virtuals.mark = mark;
    }
}

fn virtuals_mut(tables: &mut Tables, class: RecordId) -> Option<&mut Virtuals> {
    tables.classes.get_mut(&class)?.virtuals.as_mut()
}

/// A destructor that a class declares or defaults.
pub(crate) fn note_destructor(cx: &mut Checker<'_>, class: RecordId, function: &ast::Function) {
    if function.specifiers.word(SpecifierWord::Virtual).is_some()
        && let Some(virtuals) = virtuals_mut(&mut cx.tables, class)
    {
        virtuals.has_destructor = true;
    }
}

/// A destructor overrides the base's, if that is virtual.
fn declare_destructor(
    cx: &mut Checker<'_>,
    class: RecordId,
    function: &ast::Function,
    id: FunctionId,
) {
    note_destructor(cx, class, function);
    let special = function.method.special.as_ref().map(|special| special.node);
    if matches!(special, Some(Special::Default | Special::Delete)) {
        return;
    }
    let Some(virtuals) = virtuals_mut(&mut cx.tables, class).filter(|own| own.has_destructor)
    else {
        return;
    };
    virtuals.pure_destructor = (special == Some(Special::Pure)).then_some(id);
    if let Some(old) = virtuals.destructor.replace(id) {
        check_override(cx, id, old, function.name.span);
    }
}

/// Enters a member function among the virtual ones, if it is virtual.
pub(crate) fn declare(
    cx: &mut Checker<'_>,
    class: RecordId,
    function: &ast::Function,
    id: FunctionId,
) {
    let (name, at) = (function.name.node.to_string(), function.name.span);
    let says = function.specifiers.word(SpecifierWord::Virtual);
    let has_object = cx.tables.functions[id].facts.has_this;
    let is_pure =
        matches!(&function.method.special, Some(special) if special.node == Special::Pure);
    match function.method.kind {
        MethodKind::Destructor => {
            return declare_destructor(cx, class, function, id);
        }
        MethodKind::Conversion => {}
        MethodKind::Plain if has_object || says.is_none() => {}
        MethodKind::Plain | MethodKind::Constructor => {
            if let Some(word) = says {
                cx.error(word, ClassError::CannotBeVirtual { name });
            }
            return;
        }
    }
    if !has_object {
        let base = cx
            .tables
            .base(class)
            .and_then(|base| cx.tables.virtuals(base));
        if base.is_some_and(|base| base.has_destructor) && name.starts_with("operator delete") {
            // `delete` of a pointer to the base would have to find it through the object.
            cx.unsupported(
                "`operator delete` in a class whose base has a virtual destructor",
                at,
            );
        }
        return;
    }
    let overridden = overridden(&cx.tables, class, id);
    if let Some((_, old)) = overridden {
        check_override(cx, id, old, at);
    } else if function.method.is_override {
        let name = shown_name(&cx.tables, id);
        cx.error(at, ClassError::OverridesNothing { name });
    }
    let is_virtual = overridden.is_some() || says.is_some();
    if is_pure && !is_virtual {
        cx.error(at, ClassError::PureWithoutVirtual { name });
    }
    let Some(virtuals) = virtuals_mut(&mut cx.tables, class).filter(|_| is_virtual) else {
        return;
    };
    let slot = match overridden {
        Some((slot, _)) => slot,
        None => virtuals.table.len(),
    };
    match virtuals.table.get_mut(slot) {
        Some(place) => *place = id,
        None => virtuals.table.push(id),
    }
    let words = &mut cx.tables.functions[id].facts.words;
    words.slot = Some(slot as u32);
    words.is_pure = is_pure;
    words.is_final = function.method.is_final;
}

/// The virtual function of a base class that this one overrides, and its place.
fn overridden(tables: &Tables, class: RecordId, id: FunctionId) -> Option<(usize, FunctionId)> {
    let FunctionEntry { typed, facts } = &tables.functions[id];
    let table = &tables.virtuals(class)?.table;
    let is_conversion = tables
        .classes
        .get(&class)
        .is_some_and(|facts| facts.conversions.contains(&id));
    let same = |old: &FunctionId| {
        let FunctionEntry {
            typed: old_typed,
            facts: old,
        } = &tables.functions[*old];
        old.class != Some(class)
            && path::last(&old_typed.name) == path::last(&typed.name)
            && old.params[0].ty.is_const == facts.params[0].ty.is_const
            && old.params[0].ty.is_volatile == facts.params[0].ty.is_volatile
            && function::same_params(&old.params[1..], &facts.params[1..])
            // All conversions have one name: with another result it is another function.
            && (!is_conversion || old_typed.result == typed.result)
    };
    let slot = table.iter().position(same)?;
    Some((slot, table[slot]))
}

/// A function's name in a message: that of a conversion includes its type.
fn shown_name(tables: &Tables, id: FunctionId) -> String {
    let FunctionEntry { typed, facts } = &tables.functions[id];
    let class = facts.class.and_then(|class| tables.classes.get(&class));
    match class.is_some_and(|class| class.conversions.contains(&id)) {
        true => format!("operator {}", tables.show(&typed.result.clone().into())),
        false => path::last(&typed.name).to_string(),
    }
}

/// Checks that an overrider agrees with the function it overrides.
fn check_override(cx: &mut Checker<'_>, id: FunctionId, old: FunctionId, at: Span) {
    let FunctionEntry { typed, facts: _ } = &cx.tables.functions[id];
    let FunctionEntry {
        typed: old_typed,
        facts: old,
    } = &cx.tables.functions[old];
    let name = shown_name(&cx.tables, id);
    let declared = old.declared;
    let runs = |space: FunctionSpace| match space {
        FunctionSpace::Device | FunctionSpace::Kernel => (false, true),
        FunctionSpace::Host => (true, false),
        FunctionSpace::HostDevice => (true, true),
    };
    let (host, device) = runs(typed.space);
    let (old_host, old_device) = runs(old_typed.space);
    let is_covariant = match (&typed.result, &old_typed.result) {
        (Ty::Pointer(new), Ty::Pointer(old)) => match (&new.ty, &old.ty) {
            (Ty::Record(new), Ty::Record(old)) => cx.tables.is_derived(*new, *old),
            _ => false,
        },
        _ => false,
    };
    let is_understood = typed.result.is_understood() && old_typed.result.is_understood();
    let same_result = typed.result == old_typed.result || is_covariant || !is_understood;
    let message = if old.words.is_final {
        ClassError::OverridesFinal { name, declared }
    } else if !same_result || typed.returns_reference != old_typed.returns_reference {
        ClassError::OverrideResult { name, declared }
    } else if (old_host && !host) || (old_device && !device) {
        let (space, before) = (typed.space, old_typed.space);
        ClassError::OverrideSpace {
            name,
            space,
            before,
            declared,
        }
    } else {
        return;
    };
    cx.error(at, message);
}

/// Reports the construction of an object of an abstract class.
pub(crate) fn check_not_abstract(cx: &mut Checker<'_>, ty: &Ty, at: Span) {
    let mut ty = ty;
    while let Ty::Array(element, _) = ty {
        ty = &element.ty;
    }
    let Ty::Record(class) = ty else { return };
    let Some(virtuals) = cx.tables.virtuals(*class) else {
        return;
    };
    let is_pure = |id: &&FunctionId| cx.tables.functions[**id].facts.words.is_pure;
    let pure = virtuals.table.iter().find(is_pure).copied();
    let Some(function) = pure.or(virtuals.pure_destructor) else {
        return;
    };
    let FunctionEntry { typed, facts } = &cx.tables.functions[function];
    let message = ClassError::Abstract {
        ty: ty.clone(),
        name: typed.name.clone(),
        declared: facts.declared,
    };
    cx.error(at, message);
}

/// Whether the value is an object of a derived class that is used as this base: its mark is that of the derived class.
pub(crate) fn is_part(tables: &Tables, value: &Value, class: RecordId) -> bool {
    let whole = match &value.kind {
        ValueKind::Load(place) => match &place.kind {
            PlaceKind::Field(whole, 0) => &whole.ty.ty,
            _ => &value.ty,
        },
        _ => &value.ty,
    };
    tables.virtuals(class).is_some()
        && matches!(whole, Ty::Record(whole) if *whole != class && tables.is_derived(*whole, class))
}

/// `object = its class's mark`, where an object begins or ends.
pub(crate) fn set_mark(
    tables: &Tables,
    object: Place,
    class: RecordId,
    span: Span,
    out: &mut Vec<Stmt>,
) {
    let Some(virtuals) = tables.virtuals(class) else {
        return;
    };
    let mark = Value::new(ValueKind::Mark(virtuals.mark), Ty::ULong, span);
    let place = mark_place(tables, object, span);
    let set = assign_value(place, mark, span);
    out.push(Stmt::new(StmtKind::Expr(set), span));
}

/// Whether the class has the mark among its own members, not in its base.
pub(crate) fn has_own_mark(tables: &Tables, class: RecordId) -> bool {
    tables
        .virtuals(class)
        .is_some_and(|virtuals| virtuals.field.is_some())
}

/// Whether this member of the class holds the mark.
pub(crate) fn is_mark(tables: &Tables, class: RecordId, index: u32) -> bool {
    tables
        .virtuals(class)
        .is_some_and(|virtuals| virtuals.field == Some(index))
}

/// The place of an object's mark.
fn mark_place(tables: &Tables, mut object: Place, span: Span) -> Place {
    while let Ty::Record(class) = object.ty.ty {
        match tables.virtuals(class).and_then(|virtuals| virtuals.field) {
            Some(field) => return tables.field_place(object, field, span),
            None => object = tables.field_place(object, 0, span),
        }
    }
    object
}
