//! Types as written to types: specifiers, declarators and type names.
//!
//! `base_type` resolves what stands before a declarator (and declares the structs and enums in it), `declared_type` wraps
//! it in the declarator's pointers and arrays.

use crate::sema::message::decl::DeclError;
use crate::sema::message::expr::{ExprError, Needed};
use crate::sema::path;
use std::sync::Arc;

use crate::sema::check::{Checked, Checker, Reported, function::reference_part};
use crate::{
    sema::{
        classify::{Classify, pointer_to},
        const_eval::{Const, NotConst},
        scope::Entity,
        ty::{FunctionTy, QualTy, Ty},
    },
    span::Span,
    suggest,
    syntax::ast::{self, DeclaratorPart, Signedness, SpecifierWord, TypeSpecifier},
};

impl Checker<'_> {
    /// The type the specifiers name, with their qualifiers. `auto` gives `None`.
    pub(crate) fn base_type(&mut self, specifiers: &ast::Specifiers) -> Option<QualTy> {
        let span = specifiers.ty.span;
        let pick = |signedness: Signedness, signed: Ty, unsigned: Ty| match signedness {
            Signedness::Signed => signed,
            Signedness::Unsigned => unsigned,
        };
        let mut qualified: QualTy = match &specifiers.ty.node {
            TypeSpecifier::Void => Ty::Void.into(),
            TypeSpecifier::Bool => Ty::Bool.into(),
            TypeSpecifier::Char(None) => Ty::Char.into(),
            TypeSpecifier::Char(Some(sign)) => pick(*sign, Ty::SChar, Ty::UChar).into(),
            TypeSpecifier::Short(sign) => pick(*sign, Ty::Short, Ty::UShort).into(),
            TypeSpecifier::Int(sign) => pick(*sign, Ty::Int, Ty::UInt).into(),
            TypeSpecifier::Long(sign) => pick(*sign, Ty::Long, Ty::ULong).into(),
            TypeSpecifier::LongLong(sign) => pick(*sign, Ty::LongLong, Ty::ULongLong).into(),
            TypeSpecifier::Float => Ty::Float.into(),
            TypeSpecifier::Double => Ty::Double.into(),
            TypeSpecifier::Auto => return None,
            TypeSpecifier::Named(name) => self.named_type(name, span),
            TypeSpecifier::Path(path) => self.path_type(path),
            TypeSpecifier::Decltype(expr) => self.decltype(expr),
            TypeSpecifier::Record(record) => self.record_type(record, span).into(),
            TypeSpecifier::Enum(specifier) => self.enum_type(specifier, span).into(),
        };
        qualified.is_const |=
            specifiers.is_const || specifiers.word(SpecifierWord::Constexpr).is_some();
        qualified.is_volatile |= specifiers.is_volatile;
        Some(push_into_elements(qualified))
    }

    /// The same where `auto` makes no sense.
    pub(crate) fn base_type_not_auto(&mut self, specifiers: &ast::Specifiers) -> QualTy {
        self.base_type(specifiers).unwrap_or_else(|| {
            self.unsupported("`auto` here", specifiers.ty.span);
            Ty::Error.into()
        })
    }

    pub(crate) fn named_type(&mut self, name: &Arc<str>, span: Span) -> QualTy {
        match self.scopes.find(name).map(|binding| &binding.entity) {
            Some(Entity::Typedef(ty)) => return ty.clone(),
            Some(Entity::Error) => return Ty::Error.into(),
            Some(Entity::Reference(_)) => {
                self.unsupported(
                    "the use of a template parameter that stands for a reference",
                    span,
                );
                return Ty::Error.into();
            }
            Some(Entity::Pack(_)) => {
                self.error(
                    span,
                    DeclError::UnexpandedPack {
                        name: name.to_string(),
                    },
                );
                return Ty::Error.into();
            }
            _ => {}
        }
        if let Some((ty, _)) = self.scopes.find_tag(name) {
            return ty.clone().into();
        }
        if let Some(Entity::Template(id)) = self.scopes.find(name).map(|found| &found.entity) {
            let declared = self.instances.template_span(*id);
            self.error(
                span,
                DeclError::TemplateNeedsArguments {
                    name: name.to_string(),
                    declared,
                },
            );
            return Ty::Error.into();
        }
        let name = name.strip_prefix("std::").map_or(name.clone(), Arc::from);
        let name = &name;
        self.type_of_name(name).unwrap_or_else(|| {
            self.unknown_type(name, span);
            Ty::Error.into()
        })
    }

    /// The types that are there without a declaration.
    fn type_of_name(&mut self, name: &str) -> Option<QualTy> {
        let ty = match name {
            "size_t" | "uint64_t" | "uintptr_t" | "ulong" | "uintmax_t" => Ty::ULong,
            "ssize_t" | "ptrdiff_t" | "int64_t" | "intptr_t" | "clock_t" | "time_t"
            | "intmax_t" => Ty::Long,
            "int8_t" => Ty::SChar,
            "uint8_t" | "uchar" => Ty::UChar,
            "int16_t" => Ty::Short,
            "uint16_t" | "ushort" => Ty::UShort,
            "int32_t" => Ty::Int,
            "uint32_t" | "uint" => Ty::UInt,
            "float_t" => Ty::Float,
            "double_t" => Ty::Double,
            // Only ever behind a pointer, which is what `stdout` and `stderr` are.
            "FILE" => Ty::Void,
            _ => Ty::Record(self.tables.vector(name)?),
        };
        Some(ty.into())
    }

    fn unknown_type(&mut self, name: &str, span: Span) {
        if let Some(what) = crate::sema::builtin::unsupported_type(name) {
            if self.reporter.reported_once.insert((None, name.to_string())) {
                self.error(
                    span,
                    DeclError::UnsupportedType {
                        name: name.to_string(),
                        what,
                    },
                );
            }
            return;
        }
        if !self
            .reporter
            .reported_once
            .insert((None, format!("type {name}")))
        {
            return;
        }
        if path::is_qualified(name) && self.scopes.split_path(name).is_none() {
            self.unsupported_path(name, span);
            return;
        }
        let written = self.map.snippet(span);
        if written.starts_with("std::") {
            self.unsupported_path(&format!("std::{name}"), span);
            return;
        }
        let typedefs = self
            .scopes
            .names()
            .filter_map(|(name, entity)| match entity {
                Entity::Typedef(_) => Some(name),
                _ => None,
            });
        let known = [
            "size_t", "float4", "float2", "int4", "int2", "dim3", "uint32_t", "int32_t", "uint8_t",
        ];
        let near = suggest::nearest(name, typedefs.chain(self.scopes.tags()).chain(known));
        if let Some((class, _)) = self.scopes.split_path(name)
            && self.is_enable_if(class)
        {
            self.reporter.attempts.disabled.insert(span);
        }
        let message = DeclError::NoSuchType {
            name: name.to_string(),
            near: near.map(str::to_string),
        };
        self.error(span, message);
    }

    /// Wraps `base` in a declarator's parts.
    pub(crate) fn declared_type(
        &mut self,
        base: QualTy,
        parts: &[DeclaratorPart],
        at: Span,
    ) -> QualTy {
        let mut ty = base;
        for (i, part) in parts.iter().enumerate().rev() {
            ty = match part {
                DeclaratorPart::Pointer {
                    is_const,
                    is_volatile,
                    ..
                } => QualTy {
                    ty: if ty.ty == Ty::Error {
                        Ty::Error
                    } else {
                        pointer_to(ty)
                    },
                    is_const: *is_const,
                    is_volatile: *is_volatile,
                },
                DeclaratorPart::Reference(span) | DeclaratorPart::RvalueReference(span) => {
                    self.misplaced_reference(&parts[..i], *span);
                    Ty::Error.into()
                }
                DeclaratorPart::Array(size, span) => {
                    self.array_type(ty, size.as_deref(), *span, i == 0)
                }
                DeclaratorPart::Function(params, _) => self.function_type(ty.ty, params).into(),
            };
        }
        if matches!(&ty.ty, Ty::Pointer(pointee) if pointee.ty == Ty::Error) {
            return Ty::Error.into();
        }
        let _ = at;
        ty
    }

    fn function_type(&mut self, result: Ty, params: &[ast::Param]) -> Ty {
        let mut is_wrong = result == Ty::Error;
        let mut types = Vec::new();
        let mut references = Vec::new();
        let mut add = |checker: &mut Self, param: &ast::Param| {
            let reference = checker.param_reference(param);
            if let Some((span, true)) = reference {
                checker.unsupported("a pointer to a function with `&&`", span);
                is_wrong = true;
            }
            let ty = checker.param_type(param);
            is_wrong |= ty.ty == Ty::Error;
            types.push(match reference {
                Some(_) => ty,
                None => ty.ty.into(),
            });
            references.push(reference.is_some());
        };
        for param in params {
            if !param.is_pack {
                add(self, param);
                continue;
            }
            let n = self.count_elements(|checker| {
                checker.param_type(param);
            });
            let Some(n) = n else {
                self.no_pack(param.span);
                return Ty::Error;
            };
            for element in 0..n {
                self.at_element(element, |checker| add(checker, param));
            }
        }
        match is_wrong {
            true => Ty::Error,
            false => Ty::Function(Arc::new(FunctionTy {
                result,
                params: types,
                references,
            })),
        }
    }

    /// A parameter's type: arrays are pointers.
    pub(crate) fn param_type(&mut self, param: &ast::Param) -> QualTy {
        if let Some(ty) = self.collapsed(param) {
            return ty;
        }
        let base = self.base_type_not_auto(&param.specifiers);
        let (reference, parts) = reference_part(&param.declarator.parts);
        let ty = self.declared_type(base, parts, param.declarator.span);
        match &ty.ty {
            Ty::Array(..) if reference.is_some() => ty,
            Ty::Array(element, _) => pointer_to(element.as_ref().clone()).into(),
            Ty::Function(_) => pointer_to(ty).into(),
            _ => ty,
        }
    }

    fn array_type(
        &mut self,
        element: QualTy,
        size: Option<&ast::Expr>,
        span: Span,
        is_outermost: bool,
    ) -> QualTy {
        let count = match size {
            Some(size) => match self.array_size(size) {
                Ok(count) => Some(count),
                Err(_) => return Ty::Error.into(),
            },
            None if is_outermost => None,
            None => {
                self.error(span, DeclError::OpenInnerDimension);
                return Ty::Error.into();
            }
        };
        match &element.ty {
            Ty::Error => return Ty::Error.into(),
            Ty::Void | Ty::Function(_) => {
                self.error(
                    span,
                    DeclError::ArrayOf {
                        ty: element.ty.clone(),
                    },
                );
                return Ty::Error.into();
            }
            other => {
                if self.tables.size_of(other).is_none() && count.is_some() {
                    self.error(span, DeclError::ArrayOfIncomplete { ty: other.clone() });
                    return Ty::Error.into();
                }
            }
        }
        let (is_const, is_volatile) = (element.is_const, element.is_volatile);
        let ty = Ty::Array(Arc::new(element), count);
        if count.is_some() && self.tables.size_of(&ty).is_none_or(|bytes| bytes > 1 << 40) {
            self.error(span, DeclError::ArrayTooLarge);
            return Ty::Error.into();
        }
        QualTy {
            ty,
            is_const,
            is_volatile,
        }
    }

    fn array_size(&mut self, size: &ast::Expr) -> Result<u64, Reported> {
        let value = self.value(size)?;
        if !value.ty.is_integral() {
            let ty = value.ty.clone();
            return Err(self.error(size.span, DeclError::ArraySizeType { ty }));
        }
        let signed = value.ty.is_signed();
        let message = match self.constant(&value) {
            Ok(Const::Int(bits)) if signed && (bits as i64) < 0 => {
                DeclError::ArraySizeNegative { value: bits as i64 }
            }
            Ok(Const::Int(0)) => DeclError::ArraySizeZero,
            Ok(Const::Int(bits)) => return Ok(bits),
            Ok(Const::Float(_)) | Err(NotConst::Error) => {
                return Err(self.reported_before(size.span));
            }
            Err(NotConst::DivisionByZero(span)) => {
                let what = "the size of this array";
                let message = ExprError::ConstantDivision { what };
                return Err(self.report_constant_division(span, message));
            }
            Err(why @ (NotConst::Stopped(..) | NotConst::NoBody(..))) => {
                return Err(self.report_not_constant(size.span, Needed::ArraySize, why));
            }
            Err(NotConst::Variable(place)) => match self.may_be_device() {
                true => DeclError::VariableLengthInDevice { place },
                false => DeclError::VariableLength { place },
            },
        };
        Err(self.error(size.span, message))
    }

    /// The type in a cast or `sizeof`.
    pub(crate) fn type_name(&mut self, name: &ast::TypeName) -> Result<QualTy, Reported> {
        let base = self.base_type_not_auto(&name.specifiers);
        let ty = self.declared_type(base, &name.declarator.parts, name.span);
        self.known_type(ty, name.span)
    }

    /// `sizeof`'s and `_Alignof`'s operand type when it is written as an expression.
    pub(crate) fn type_of_unevaluated(&mut self, expr: &ast::Expr) -> Result<Ty, Reported> {
        self.mode.unevaluated += 1;
        let checked = self.expr(expr);
        self.mode.unevaluated -= 1;
        let ty = match (&expr.kind, checked?) {
            // A literal is an array, although it is only ever used as a pointer.
            (ast::ExprKind::Str(bytes), _) => {
                Ty::Array(Arc::new(Ty::Char.into()), Some(bytes.len() as u64 + 1))
            }
            (_, Checked::Place(place)) => place.ty.ty,
            (_, Checked::Value(value)) => value.ty,
        };
        self.known(&ty, expr.span)?;
        Ok(ty)
    }
}

/// Qualifiers on an array type belong to its elements too: `typedef int row[4]; const row r;`.
fn push_into_elements(ty: QualTy) -> QualTy {
    match &ty.ty {
        Ty::Array(element, n) if ty.is_const || ty.is_volatile => {
            let element = push_into_elements(QualTy {
                ty: element.ty.clone(),
                is_const: element.is_const || ty.is_const,
                is_volatile: element.is_volatile || ty.is_volatile,
            });
            QualTy {
                ty: Ty::Array(Arc::new(element), *n),
                ..ty
            }
        }
        _ => ty,
    }
}
