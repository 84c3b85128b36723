//! Structs, unions and enumerations: their tags, members and layout.

mod extent;

use crate::sema::message::decl::DeclError;
use crate::sema::message::{
    expr::{ExprError, Needed},
    with_article,
};
use ir::source::SourceMap;
use std::sync::Arc;

use crate::sema::check::{
    Checker, Reported, Reporter, Tables,
    class::{self, Pod},
    constant, decl, expr,
    function::reference_part,
    marked, specifier, template, variable, virtuals,
};
use crate::{
    sema::{
        classify::Classify,
        const_eval::{Const, NotConst},
        layout,
        scope::Entity,
        ty::{Bits, EnumId, Field, QualTy, Record, RecordId, Ty, Underlying, is_unnamed, unnamed},
    },
    syntax::ast::{self, SpecifierWord, TypeSpecifier},
};
use ir::{diagnostic::Severity, span::Span, suggest};

/// `struct S`, `struct S { … }`, `union { … }`. A class that is only mentioned, as in `struct S *next`, belongs to what is around the classes
/// that mention it.
pub(crate) fn check(
    cx: &mut Checker<'_>,
    specifier: &ast::RecordSpecifier,
    span: Span,
) -> Result<Ty, Reported> {
    let is_mentioned = specifier.members.is_none();
    checked(cx, specifier, span, is_mentioned)
}

fn checked(
    cx: &mut Checker<'_>,
    specifier: &ast::RecordSpecifier,
    span: Span,
    is_mentioned: bool,
) -> Result<Ty, Reported> {
    let word = match (specifier.is_union, specifier.is_class) {
        (true, _) => "union",
        (_, true) => "class",
        _ => "struct",
    };
    let in_prelude = cx.in_prelude(span);
    let name = specifier.name.as_ref();
    let found = name.and_then(|name| {
        if specifier.members.is_some() {
            cx.scopes.find_tag_here(&name.node, in_prelude).cloned()
        } else {
            cx.scopes.find_tag(&name.node).cloned()
        }
    });
    let id = match found {
        Some((Ty::Record(id), declared)) if cx.tables.record(id).is_union == specifier.is_union => {
            // An open class counts as defined: its name inside itself cannot name another class.
            let is_defined =
                layout::is_complete(cx.tables.record(id)) || class::is_open(&cx.open_classes, id);
            if specifier.members.is_some() && is_defined {
                let name = cx.tables.record(id).name.clone();
                let message = DeclError::RecordDefinedTwice {
                    word,
                    name,
                    declared,
                };
                return Err(cx.error(span, message));
            }
            id
        }
        Some((_, declared)) => {
            let name = name.map_or("", |name| &*name.node);
            let message = DeclError::OtherKindOfRecord {
                name: name.to_string(),
                word,
                declared,
            };
            return Err(cx.error(span, message));
        }
        None => {
            let id = cx.tables.records.push(Record {
                name: name.map_or_else(|| unnamed(word), |name| name.node.to_string()),
                is_union: specifier.is_union,
                // Vectors whose components are records: both components move in one access.
                is_vector: in_prelude
                    && name.is_some_and(|name| matches!(&*name.node, "__half2" | "__nv_bfloat162")),
                fields: Vec::new(),
                size_bytes: 0,
                data_bytes: 0,
                align_bytes: 0,
                units: Vec::new(),
                span: Some(name.map_or(span, |name| name.span)),
            });
            if let Some(name) = name {
                let (text, ty) = (name.node.clone(), Ty::Record(id));
                match is_mentioned {
                    true => cx.scopes.bind_tag_around(text, ty, name.span, in_prelude),
                    false => cx.scopes.bind_tag(text, ty, name.span, in_prelude),
                }
            }
            id
        }
    };
    if let Some(members) = &specifier.members {
        complete_record(cx, id, specifier, members, span);
    }
    Ok(Ty::Record(id))
}

/// Marks a record's layout as invalid if there was an error since `n_diagnostics`.
fn note_broken(tables: &mut Tables, reporter: &Reporter, id: RecordId, n_diagnostics: usize) {
    let since = reporter
        .diagnostics
        .get(n_diagnostics..)
        .unwrap_or_default();
    let error = since
        .iter()
        .find(|message| message.severity == Severity::Error);
    if let Some(error) = error {
        let error = error.clone();
        tables.broken_records.entry(id).or_insert(error);
    }
}

/// Marks a record's layout as unknown if its base is, even if the error was reported for another declaration.
fn note_unknown_base(
    tables: &mut Tables,
    map: &SourceMap,
    id: RecordId,
    specifier: &ast::RecordSpecifier,
) {
    let classes = &tables.classes;
    let has_base = classes.get(&id).is_some_and(|facts| facts.base.is_some());
    if let Some(base) = specifier.bases.first().filter(|_| !has_base) {
        let span = base.ty.span;
        let name = map.snippet(span).to_string();
        let unknown = tables.diagnostic(span, DeclError::MemberNotUnderstood { name });
        tables.broken_records.entry(id).or_insert(unknown);
    }
}

/// Gives a record its members, and with them its layout.
pub(crate) fn complete_record(
    cx: &mut Checker<'_>,
    id: RecordId,
    specifier: &ast::RecordSpecifier,
    members: &[ast::Member],
    span: Span,
) {
    let mut fields = Vec::new();
    let mut gaps = Vec::new();
    let mut names: Vec<(Arc<str>, Span)> = Vec::new();
    let n_diagnostics = cx.reporter.diagnostics.len();
    class::open(cx, id, specifier, &mut fields);
    note_broken(&mut cx.tables, &cx.reporter, id, n_diagnostics);
    note_unknown_base(&mut cx.tables, cx.map, id, specifier);
    for member in members {
        match member {
            ast::Member::Declaration(member) => {
                let n_diagnostics = cx.reporter.diagnostics.len();
                let mut own = Own {
                    fields: &mut fields,
                    gaps: &mut gaps,
                    names: &mut names,
                };
                member_declaration(cx, id, member, &mut own);
                note_broken(&mut cx.tables, &cx.reporter, id, n_diagnostics);
            }
            ast::Member::Function(function) => class::member_function(cx, id, function),
            ast::Member::Template(template) => template::member(cx, id, template),
            ast::Member::FriendFunction(function) => class::friend_function(cx, id, function),
            ast::Member::FriendClass(name) => class::friend_class(&mut cx.tables, id, name),
            ast::Member::StaticAssert(assertion) => decl::static_assert(cx, assertion),
            ast::Member::Access(access) => {
                if let Some(open) = cx.open_classes.last_mut() {
                    open.access = *access;
                }
            }
        }
    }
    virtuals::finish_class(cx, id, members);
    extent::check_base_padding(cx, id, &fields, span);
    extent::lay_out(cx, id, specifier, (fields, &gaps), span);
    class::close(cx, id);
}

/// What the declarations of a record's members are collected in.
struct Own<'o> {
    fields: &'o mut Vec<Field>,
    gaps: &'o mut Vec<layout::Gap>,
    names: &'o mut Vec<(Arc<str>, Span)>,
}

/// The width of a bit-field, which may be 0 if it is unnamed.
fn bit_width(
    cx: &mut Checker<'_>,
    base: &Result<QualTy, Reported>,
    declarator: &ast::InitDeclarator,
    width: &ast::Expr,
) -> Result<(Ty, u32), Reported> {
    let ty = match declarator.declarator.parts.is_empty() {
        true => base.clone()?.ty,
        false => specifier::declared_type(cx, base.clone(), &declarator.declarator.parts)?.ty,
    };
    let n = constant_int(cx, width, "the width of a bit-field")?;
    if !ty.is_integral() {
        return Err(cx.error(width.span, DeclError::BitFieldType { ty }));
    }
    let most = match ty {
        Ty::Bool => 8,
        _ => ty.bits(),
    };
    let least = u32::from(declarator.declarator.name.is_some());
    match u32::try_from(n) {
        Ok(n) if (least..=most).contains(&n) => Ok((ty, n)),
        Ok(n) if n > most => Err(cx.unsupported("a bit-field wider than its type", width.span)),
        Ok(_) | Err(_) => Err(cx.error(width.span, DeclError::BitFieldWidth { n })),
    }
}

/// One name of a member's declaration.
fn member_declarator(
    cx: &mut Checker<'_>,
    class: RecordId,
    base: Result<QualTy, Reported>,
    declarator: &ast::InitDeclarator,
    own: &mut Own<'_>,
) {
    let Own {
        fields,
        gaps,
        names,
    } = own;
    let width = declarator.width.as_ref();
    let width = width.map(|width| bit_width(cx, &base, declarator, width));
    let bits = match (&declarator.declarator.name, width) {
        (_, None) => None,
        (Some(_), Some(Ok((_, width)))) => Some(Bits {
            first: 0,
            width,
            run: 0,
        }),
        (None, Some(Ok((ty, width)))) => {
            gaps.push(layout::Gap {
                before: fields.len(),
                ty,
                width,
            });
            None
        }
        (_, Some(Err(_))) => None,
    };
    let Some(name) = &declarator.declarator.name else {
        return;
    };
    if let (Some((span, _)), _) = reference_part(&declarator.declarator.parts) {
        cx.unsupported("a member that is a reference", span);
        decl::declare_name(cx, name, Entity::Error);
        return;
    }
    let ty = specifier::declared_type(cx, base, &declarator.declarator.parts);
    let ty = ty.and_then(|ty| match cx.tables.size_of(&ty.ty) {
        Some(_) => Ok(ty),
        None => {
            let message = DeclError::IncompleteMember {
                name: name.node.to_string(),
                is_record: matches!(ty.ty, Ty::Record(_)),
                ty: ty.ty,
            };
            Err(cx.error(name.span, message))
        }
    });
    if let Some(init) = &declarator.init
        && let Some(facts) = cx.tables.classes.get_mut(&class)
    {
        let index = fields.len() as u32;
        facts.defaults.insert(index, Arc::new(init.clone()));
    }
    if let Some((_, first)) = names.iter().find(|(other, _)| *other == name.node) {
        let diagnostic = cx.tables.diagnostic(
            name.span,
            DeclError::MemberTwice {
                name: name.node.to_string(),
                first: *first,
            },
        );
        cx.reporter.report(diagnostic);
        return;
    }
    names.push((name.node.clone(), name.span));
    class::note_access(&mut cx.tables, &cx.open_classes, &name.node);
    let is_public = cx
        .open_classes
        .last()
        .is_none_or(|open| open.access == ast::Access::Public);
    if (!is_public || declarator.init.is_some())
        && let Some(facts) = cx.tables.classes.get_mut(&class)
    {
        facts.pod = Pod::No;
    }
    cx.scopes
        .bind(name.node.clone(), Entity::Member(class), name.span, false);
    fields.push(Field {
        name: name.node.to_string(),
        ty: marked(ty),
        offset_bytes: 0,
        bits,
    });
}

fn member_declaration(
    cx: &mut Checker<'_>,
    class: RecordId,
    member: &ast::Declaration,
    own: &mut Own<'_>,
) {
    let has = |word| member.specifiers.word(word);
    if has(SpecifierWord::Typedef).is_some() || has(SpecifierWord::Static).is_some() {
        for declarator in &member.declarators {
            if let Some(name) = &declarator.declarator.name {
                class::note_access(&mut cx.tables, &cx.open_classes, &name.node);
            }
        }
        return variable::global::static_members(cx, member);
    }
    if let TypeSpecifier::Record(record) = &member.specifiers.ty.node
        && member.declarators.is_empty()
        && record.members.is_none()
        && record.args.is_none()
    {
        // `struct S;` declares a class inside this one. What is wrong with it is reported.
        let _ = checked(cx, record, member.specifiers.ty.span, false);
        return;
    }
    let base = specifier::base_type_not_auto(cx, &member.specifiers);
    if let Some(word) = member.specifiers.words.first() {
        let what = match word.node {
            SpecifierWord::Mutable => "`mutable`",
            _ => "a storage or memory-space word on a member",
        };
        cx.unsupported(what, word.span);
    }
    if member.declarators.is_empty() {
        let unnamed = matches!(&member.specifiers.ty.node,
                TypeSpecifier::Record(record) if record.name.is_none() && record.members.is_some());
        if unnamed {
            if let Ok(QualTy { ty, .. }) = &base {
                bind_unnamed(cx, class, ty, member.specifiers.ty.span);
            }
            own.fields.push(Field {
                name: String::new(),
                ty: marked(base),
                offset_bytes: 0,
                bits: None,
            });
        }
        return;
    }
    for declarator in &member.declarators {
        member_declarator(cx, class, base.clone(), declarator, own);
    }
}

/// The members of an anonymous struct or union are members of the class around it.
fn bind_unnamed(cx: &mut Checker<'_>, class: RecordId, ty: &Ty, span: Span) {
    let Ty::Record(inner) = ty else {
        return;
    };
    for field in cx.tables.record(*inner).fields.clone() {
        match field.name.as_str() {
            "" => bind_unnamed(cx, class, &field.ty.ty, span),
            name => {
                cx.scopes
                    .bind(name.into(), Entity::Member(class), span, false);
            }
        }
    }
}

/// The largest alignment in bytes, which exceeds any shared memory.
const MOST_ALIGNMENT: i64 = 1 << 16;

/// The value of `__align__(n)`.
pub(crate) fn alignment(cx: &mut Checker<'_>, expr: &ast::Expr) -> u64 {
    match constant_int(cx, expr, "an alignment") {
        Ok(n) if n > 0 && (n as u64).is_power_of_two() && n <= MOST_ALIGNMENT => n as u64,
        Ok(n) => {
            cx.error(expr.span, DeclError::BadAlignment { n });
            1
        }
        Err(_) => 1,
    }
}

/// An integer constant expression; reports anything else.
pub(crate) fn constant_int(
    cx: &mut Checker<'_>,
    expr: &ast::Expr,
    what: &'static str,
) -> Result<i64, Reported> {
    let value = expr::value(cx, expr)?;
    if !value.ty.is_integral() {
        let ty = value.ty.clone();
        return Err(cx.error(expr.span, DeclError::NotIntegerConstant { what, ty }));
    }
    match constant::of(cx, &value) {
        Ok(Const::Int(bits)) => Ok(bits as i64),
        Ok(Const::Float(_)) | Err(NotConst::Error) => Err(cx.body.reported_before(expr.span)),
        Err(NotConst::DivisionByZero(span)) => {
            let message = ExprError::ConstantDivision { what };
            Err(cx.reporter.constant_division(&cx.tables, span, message))
        }
        Err(why) => Err(constant::report_not_constant(
            &cx.tables,
            &mut cx.reporter,
            expr.span,
            Needed::Of(what),
            why,
        )),
    }
}

/// `enum E`, `enum { A, B = 4 }`.
pub(crate) fn enum_type(
    cx: &mut Checker<'_>,
    specifier: &ast::EnumSpecifier,
    span: Span,
) -> Result<Ty, Reported> {
    let in_prelude = cx.in_prelude(span);
    let Some(enumerators) = &specifier.enumerators else {
        let Some(name) = &specifier.name else {
            return Err(cx.body.reported_before(span));
        };
        if let Some((ty, _)) = cx.scopes.find_tag(&name.node) {
            return Ok(ty.clone());
        }
        let near = suggest::nearest(&name.node, cx.scopes.tags()).map(str::to_string);
        let message = DeclError::NoSuchEnum {
            name: name.node.to_string(),
            near,
        };
        return Err(cx.error(name.span, message));
    };
    let fixed = specifier.underlying.as_ref().and_then(|underlying| {
        let ty = specifier::base_type_not_auto(cx, underlying).ok()?.ty;
        let kept = Underlying::of(&ty);
        if kept.is_none() {
            let text = cx.tables.show_type(&ty);
            cx.unsupported(
                &format!("an enumeration kept in {}", with_article(&text)),
                underlying.span,
            );
        }
        kept
    });
    let fixed = fixed.or(specifier.is_scoped.then_some(Underlying::Int));
    let values = enumerator_values(cx, enumerators, fixed);
    let fits = |ty: &Ty| values.iter().all(|&value| fits(value, ty));
    let underlying = fixed.unwrap_or(match () {
        () if fits(&Ty::Int) => Underlying::Int,
        () if fits(&Ty::UInt) => Underlying::UInt,
        () => Underlying::Long,
    });
    let id = EnumId(cx.tables.enums.len() as u32, underlying);
    if specifier.is_scoped {
        cx.tables.scoped_enums.insert(id);
    }
    let name = specifier.name.as_ref();
    cx.tables
        .enums
        .push(name.map_or_else(|| unnamed("enum"), |name| name.node.to_string()));
    if let Some(name) = name {
        if let Some((_, declared)) = cx.scopes.find_tag_here(&name.node, in_prelude).cloned() {
            cx.error(
                name.span,
                DeclError::EnumDefinedTwice {
                    name: name.node.to_string(),
                    declared,
                },
            );
        }
        cx.scopes
            .bind_tag(name.node.clone(), Ty::Enum(id), name.span, in_prelude);
    }
    for ((name, _), value) in enumerators.iter().zip(values) {
        cx.scopes
            .add_enumerator(id, name.node.clone(), value, name.span);
        if !specifier.is_scoped {
            class::note_access(&mut cx.tables, &cx.open_classes, &name.node);
            decl::declare_name(cx, name, Entity::Enumerator(id, value));
        }
    }
    Ok(Ty::Enum(id))
}

/// The values of enumerators; each is visible to those after it.
fn enumerator_values(
    cx: &mut Checker<'_>,
    enumerators: &[(ast::Name, Option<ast::Expr>)],
    fixed: Option<Underlying>,
) -> Vec<i64> {
    let mut values = Vec::new();
    let mut next = 0i64;
    cx.scopes.enter();
    for (name, value) in enumerators {
        if let Some(value) = value {
            next = constant_int(cx, value, "the value of an enumerator").unwrap_or(next);
        }
        if let Some(fixed) = fixed
            && !fits(next, fixed.ty())
        {
            let message = DeclError::EnumeratorTooLarge {
                value: next,
                ty: fixed.ty().clone(),
            };
            cx.error(name.span, message);
            next = 0;
        }
        let ty = fixed.map(|fixed| fixed.ty().clone());
        let ty = ty.unwrap_or_else(|| match next {
            next if fits(next, &Ty::Int) => Ty::Int,
            next if fits(next, &Ty::UInt) => Ty::UInt,
            _ => Ty::Long,
        });
        let constant = Entity::Constant(ty, next as u64);
        cx.scopes
            .bind(name.node.clone(), constant, name.span, false);
        values.push(next);
        next = next.wrapping_add(1);
    }
    cx.scopes.leave();
    values
}

/// Gives an unnamed struct or enum the name of its typedef.
pub(crate) fn name_after_typedef(tables: &mut Tables, ty: &Ty, name: &str) {
    let slot = match ty {
        Ty::Record(id) => &mut tables.records[*id].name,
        Ty::Enum(id) => &mut tables.enums[id.index()],
        _ => return,
    };
    if is_unnamed(slot) {
        *slot = name.to_string();
    }
}

/// The place of an initialiser.
pub(crate) fn init_span(init: &ast::Init) -> Span {
    match init {
        ast::Init::Expr(expr) => expr.span,
        ast::Init::List(items) => items.span,
        ast::Init::Construct(args) => args.span,
    }
}

/// Whether the type can hold the value; 64 bits hold all.
fn fits(value: i64, ty: &Ty) -> bool {
    ty.bits() == 64 || ty.wrap(value as u64) == value as u64
}
