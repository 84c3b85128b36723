//! Variables: the memory space their words give them, what may be initialised and how, constant values.
//!
//! A `const` variable of arithmetic type with a constant initialiser (C++'s "usable in constant expressions") keeps that
//! value in its facts; every read of it becomes the constant.

mod constant;

use crate::sema::check::{Checker, Reported, VarFacts, function::reference_part};
use crate::sema::message::decl::DeclError;
use crate::sema::path;
use crate::{
    sema::{
        classify::Classify,
        const_eval::{self, Const},
        scope::Entity,
        ty::{QualTy, Ty},
        typed::{
            Global, GlobalSpace, GlobalVarId, Init, Stmt, StmtKind, Storage, Value, ValueKind, Var,
            VarId,
        },
    },
    span::Span,
    syntax::ast::{self, DeclaratorPart, SpecifierWord},
};

/// Everything about a declared variable that both scopes need.
pub(crate) struct Declared<'d> {
    declaration: &'d ast::Declaration,
    declarator: &'d ast::InitDeclarator,
    name: &'d ast::Name,
    ty: QualTy,
    align_bytes: u64,
}

impl Checker<'_> {
    fn declared<'d>(
        &mut self,
        declaration: &'d ast::Declaration,
        base: Result<QualTy, Reported>,
        declarator: &'d ast::InitDeclarator,
    ) -> Option<Declared<'d>> {
        let name = declarator.declarator.name.as_ref()?;
        if !declarator.bindings.is_empty() {
            self.unsupported("a structured binding outside a function", name.span);
            return None;
        }
        // What `auto` is deduced from has its messages.
        let is_checked =
            base.is_err() && matches!(declaration.specifiers.ty.node, ast::TypeSpecifier::Auto);
        let ty = self.declared_type(base, &declarator.declarator.parts);
        let align_bytes = declaration
            .specifiers
            .align
            .as_ref()
            .map_or(1, |align| self.alignment(align));
        if let Some(span) = declaration.specifiers.word(SpecifierWord::Global) {
            self.error(span, DeclError::GlobalOnVariable);
        }
        let Ok(ty) = ty else {
            let init = declarator.init.as_ref().filter(|_| !is_checked);
            self.unknown_variable(name, init);
            return None;
        };
        Some(Declared {
            declaration,
            declarator,
            name,
            ty,
            align_bytes,
        })
    }

    /// A variable whose type is not understood: its uses are no further errors.
    fn unknown_variable(&mut self, name: &ast::Name, init: Option<&ast::Init>) {
        self.reported_before(name.span);
        self.body.is_incomplete = true;
        self.declare_name(name, Entity::Error);
        self.check_init_alone(init);
    }

    /// What is wrong with an initialiser, whatever it is for. A list says nothing without its type.
    pub(crate) fn check_init_alone(&mut self, init: Option<&ast::Init>) {
        match init {
            Some(ast::Init::Expr(expr)) => drop(self.value(expr)),
            Some(ast::Init::Construct(args)) => self.check_args_alone(&args.node),
            Some(ast::Init::List(_)) | None => {}
        }
    }

    /// `static` members and types in a class.
    pub(crate) fn static_members(&mut self, member: &ast::Declaration) {
        self.each_declarator(member, &mut |checker, base, declarator| {
            if let (Some((span, _)), _) = reference_part(&declarator.declarator.parts) {
                return checker.refuse_reference(
                    "a static member that is a reference",
                    declarator,
                    span,
                );
            }
            let Some(declared) = checker.declared(member, base, declarator) else {
                return;
            };
            checker.global_variable(declared, space_of_words(&member.specifiers), false);
        });
    }

    /// `int S::count = 0;`: the value of a static member.
    fn static_member_value(
        &mut self,
        declarator: &ast::InitDeclarator,
        base: Result<QualTy, Reported>,
    ) {
        let Some(name) = &declarator.declarator.name else {
            return;
        };
        let found = self
            .scopes
            .find(&name.node)
            .map(|binding| binding.entity.clone());
        let Some(Entity::Global(id)) = found else {
            self.error(
                name.span,
                DeclError::NoStaticMember {
                    name: name.node.to_string(),
                },
            );
            return;
        };
        let Ok(mut ty) = self.declared_type(base, &declarator.declarator.parts) else {
            self.tables.globals[id].facts.is_wrong = true;
            return self.check_init_alone(declarator.init.as_ref());
        };
        let declared = self.tables.globals[id].typed.ty.ty.clone();
        if ty.ty != declared && !matches!(ty.ty, Ty::Array(_, None)) {
            self.error(
                name.span,
                DeclError::StaticMemberType {
                    name: name.node.to_string(),
                    a: ty.ty.clone(),
                    b: declared.clone(),
                },
            );
            return;
        }
        let Some(init) = &declarator.init else {
            return;
        };
        let mut facts = VarFacts::default();
        let init = self.initialiser(&mut ty, init, name, false).ok();
        let init = init.map(|init| self.constant_init(init, name, &mut facts));
        if ty.is_const && !ty.is_volatile {
            facts.constant = init
                .as_ref()
                .and_then(constant_of)
                .filter(|_| ty.ty.is_arithmetic());
        }
        let global = &mut self.tables.globals[id].typed;
        global.init = init;
        if matches!(global.ty.ty, Ty::Array(_, None)) {
            global.ty.ty = ty.ty;
        }
        let old = &mut self.tables.globals[id].facts;
        old.constant = facts.constant;
        old.is_wrong |= facts.is_wrong;
    }

    /// A variable at file scope.
    pub(crate) fn file_variable(
        &mut self,
        declaration: &ast::Declaration,
        base: Result<QualTy, Reported>,
        declarator: &ast::InitDeclarator,
    ) {
        if let (Some((span, _)), _) = reference_part(&declarator.declarator.parts) {
            return self.refuse_reference("a reference at file scope", declarator, span);
        }
        if let Some(name) = &declarator.declarator.name
            && path::is_qualified(&name.node)
        {
            return self.static_member_value(declarator, base);
        }
        let Some(declared) = self.declared(declaration, base, declarator) else {
            return;
        };
        let specifiers = &declaration.specifiers;
        let space = if let Some(span) = specifiers.word(SpecifierWord::Shared) {
            match self.shared_form(&declared, span) {
                Storage::SharedDynamic => GlobalSpace::SharedDynamic,
                Storage::Shared | Storage::Auto => GlobalSpace::Shared,
            }
        } else {
            space_of_words(specifiers)
        };
        self.global_variable(declared, space, true);
    }

    /// An object at file scope is begun by code that runs before `main`.
    fn needs_beginning(&mut self, declarator: &ast::InitDeclarator, ty: &Ty, at: Span) -> bool {
        use crate::sema::check::construct::Beginning;
        let is_class = self.tables.has_constructors(ty);
        let begins = declarator.init.is_none()
            && match self.beginning(ty, at) {
                Beginning::Nothing => false,
                Beginning::Call(id) => !self.is_empty_constructor(id, ty),
                Beginning::Missing => true,
            };
        (is_class && declarator.init.is_some()) || begins
    }

    /// The initial value of a variable that outlives functions.
    fn global_init(
        &mut self,
        declarator: &ast::InitDeclarator,
        name: &ast::Name,
        ty: &mut QualTy,
        space: GlobalSpace,
        is_extern: bool,
    ) -> Option<Init> {
        let is_shared = matches!(space, GlobalSpace::Shared | GlobalSpace::SharedDynamic);
        match &declarator.init {
            Some(init) if is_shared => {
                self.refuse_shared_init(name, init);
                None
            }
            Some(_) if self.tables.has_constructors(&ty.ty) => {
                self.unsupported("a constructor that runs before `main`", name.span);
                None
            }
            Some(init) => {
                self.mode.device_init = space.is_device();
                let init = self.initialiser(ty, init, name, false);
                self.mode.device_init = false;
                init.ok()
            }
            None if self.tables.is_vector(&ty.ty, "dim3") => {
                Some(Init::Value(self.dim3_of(Vec::new(), name.span)))
            }
            None => {
                let ty = ty.ty.clone();
                if !is_extern && self.tables.size_of(&ty).is_some() {
                    self.check_static_object(&ty, name);
                }
                None
            }
        }
    }

    /// Makes a global of a declaration at file scope or of a `static` one.
    fn global_variable(&mut self, declared: Declared<'_>, space: GlobalSpace, at_file: bool) {
        let Declared {
            declarator,
            name,
            mut ty,
            declaration,
            align_bytes,
        } = declared;
        let is_extern = declaration.specifiers.word(SpecifierWord::Extern).is_some();
        let mut facts = VarFacts {
            is_only_declared: at_file && is_extern && declarator.init.is_none(),
            ..VarFacts::default()
        };
        if at_file && self.repeats_extern(name, &ty, facts.is_only_declared, space) {
            return;
        }
        let declared = match at_file {
            true => self.declared_before(name, &ty, space),
            false => None,
        };
        let begins_later = self.begins_at_start(&ty.ty, space, at_file)
            && self.needs_beginning(declarator, &ty.ty, name.span);
        let init = match begins_later {
            true => None,
            false => self.global_init(declarator, name, &mut ty, space, is_extern),
        };
        let init = init.map(|init| self.constant_init(init, name, &mut facts));
        if ty.is_const && !ty.is_volatile {
            facts.constant = init
                .as_ref()
                .and_then(constant_of)
                .filter(|_| ty.ty.is_arithmetic());
        }
        let span = name.span;
        let is_dynamic = space == GlobalSpace::SharedDynamic;
        if self.require_complete(&ty.ty, name, is_dynamic).is_err() {
            return self.unknown_variable(name, None);
        }
        let align_bytes = align_bytes.max(self.tables.align_of(&ty.ty));
        let global = Global {
            name: name.node.to_string(),
            namespace: self.scopes.namespace(),
            ty,
            space,
            init,
            align_bytes,
            span,
        };
        let id = match declared {
            Some(id) => {
                self.tables.globals[id].typed = global;
                self.tables.globals[id].facts = facts;
                id
            }
            None => {
                let id = self.tables.add_global(global, facts);
                self.declare_name(name, Entity::Global(id));
                id
            }
        };
        if begins_later {
            self.begin_at_start(id, declarator.init.as_ref(), name);
        }
    }

    /// `extern int x; int x = 1;`: the variable that the second declaration defines.
    fn declared_before(
        &self,
        name: &ast::Name,
        ty: &QualTy,
        space: GlobalSpace,
    ) -> Option<GlobalVarId> {
        let Entity::Global(id) = self.scopes.find_at_file(&name.node)?.entity else {
            return None;
        };
        let old = &self.tables.globals[id].typed;
        let is_open = self.tables.globals[id].facts.is_only_declared;
        (is_open && old.ty == *ty && old.space == space).then_some(id)
    }

    /// Declared again, without a definition.
    fn repeats_extern(
        &mut self,
        name: &ast::Name,
        ty: &QualTy,
        is_extern: bool,
        space: GlobalSpace,
    ) -> bool {
        let Some(Entity::Global(id)) = self
            .scopes
            .find_at_file(&name.node)
            .map(|binding| binding.entity.clone())
        else {
            return false;
        };
        let old = &self.tables.globals[id].typed;
        let compatible = old.ty.ty == ty.ty;
        if is_extern && compatible && old.space == space {
            return true;
        }
        if old.space == GlobalSpace::SharedDynamic && space == GlobalSpace::SharedDynamic {
            let first = old.span;
            self.error(
                name.span,
                DeclError::RedeclaredWithOtherType {
                    name: name.node.to_string(),
                    first,
                },
            );
            return true;
        }
        false
    }

    /// A variable in a function.
    pub(crate) fn local_variable(
        &mut self,
        declaration: &ast::Declaration,
        base: Result<QualTy, Reported>,
        declarator: &ast::InitDeclarator,
        out: &mut Vec<Stmt>,
    ) {
        if !declarator.bindings.is_empty() {
            return self.structured_binding(declaration, base, declarator, out);
        }
        if let (Some((span, is_rvalue)), _) = reference_part(&declarator.declarator.parts) {
            return self.local_reference(declaration, base, declarator, (span, is_rvalue), out);
        }
        let Some(declared) = self.declared(declaration, base, declarator) else {
            return;
        };
        let specifiers = &declaration.specifiers;
        for (word, text) in [
            (SpecifierWord::Constant, "__constant__"),
            (SpecifierWord::Device, "__device__"),
            (SpecifierWord::Managed, "__managed__"),
        ] {
            if let Some(span) = specifiers.word(word) {
                self.error(
                    span,
                    DeclError::SpaceInFunction {
                        text: text.to_string(),
                    },
                );
            }
        }
        let storage = match specifiers.word(SpecifierWord::Shared) {
            Some(span) => {
                if !self.may_be_device() {
                    self.error(span, DeclError::SharedInHost);
                }
                self.shared_form(&declared, span)
            }
            None => Storage::Auto,
        };
        if storage == Storage::Auto {
            if specifiers.word(SpecifierWord::Static).is_some()
                && !self.is_static_constant(&declared)
            {
                return self.static_variable(declared);
            }
            if let Some(span) = specifiers.word(SpecifierWord::Extern) {
                self.unsupported("an `extern` variable in a function", span);
            }
        }
        self.automatic_variable(declared, storage, out);
    }

    fn static_variable(&mut self, declared: Declared<'_>) {
        if self.may_be_device() {
            let diagnostic = self.diagnostic(
                declared.name.span,
                DeclError::StaticInDevice {
                    name: declared.name.node.to_string(),
                },
            );
            self.report(diagnostic);
            self.declare_name(declared.name, Entity::Error);
            return;
        }
        self.global_variable(declared, GlobalSpace::Host, false);
    }

    fn automatic_variable(
        &mut self,
        declared: Declared<'_>,
        storage: Storage,
        out: &mut Vec<Stmt>,
    ) {
        let Declared {
            declarator,
            name,
            mut ty,
            align_bytes,
            declaration,
        } = declared;
        let is_unsized = matches!(ty.ty, Ty::Array(_, None));
        let has_init = declarator.init.is_some();
        let is_dynamic = storage == Storage::SharedDynamic;
        if !(is_unsized && has_init) && self.require_complete(&ty.ty, name, is_dynamic).is_err() {
            return self.unknown_variable(name, declarator.init.as_ref());
        }
        let is_restrict = matches!(
            declarator.declarator.parts.first(),
            Some(DeclaratorPart::Pointer {
                is_restrict: true,
                ..
            })
        );
        let align_bytes = align_bytes.max(self.tables.align_of(&ty.ty));
        let id = self.add_var(Var {
            name: name.node.to_string(),
            ty: ty.clone(),
            storage,
            address_taken: false,
            is_reference: false,
            is_restrict,
            align_bytes,
            span: name.span,
        });
        // As in C, the name is known in its own initialiser.
        self.declare_name(name, Entity::Local(id));
        let mut init = match &declarator.init {
            Some(init) if storage != Storage::Auto => {
                self.refuse_shared_init(name, init);
                None
            }
            None if storage != Storage::Auto && self.tables.size_of(&ty.ty).is_some() => {
                self.check_shared_object(&ty.ty, name);
                None
            }
            Some(init) if self.begins_by_constructor(&ty.ty, init) => {
                out.push(Stmt::new(StmtKind::Declare(id, None), declarator.span));
                self.construct_variable(id, &ty, init, name, out);
                self.note_object(id);
                return;
            }
            Some(init) => {
                let typed = self.initialiser(&mut ty, init, name, true).ok();
                self.body.vars[id].facts.is_wrong = typed.is_none();
                typed
            }
            None if self.tables.is_vector(&ty.ty, "dim3") && storage == Storage::Auto => {
                Some(Init::Value(self.dim3_of(Vec::new(), name.span)))
            }
            None => None,
        };
        if is_unsized && has_init {
            let align = self.tables.align_of(&ty.ty);
            let var = &mut self.body.vars[id].typed;
            var.ty = ty.clone();
            var.align_bytes = var.align_bytes.max(align);
        }
        let begins = declarator.init.is_none() && storage == Storage::Auto;
        if !(begins && matches!(ty.ty, Ty::Record(_))) {
            self.note_constant(id, &ty, init.as_mut(), declaration, name);
        }
        let has_init = init.is_some();
        out.push(Stmt::new(StmtKind::Declare(id, init), declarator.span));
        if begins && !has_init {
            let ty = QualTy {
                is_const: false,
                ..ty
            };
            let place = crate::sema::check::construct::local(id, ty, name.span);
            self.begin_object(place, &name.node, name.span, out);
        }
        if storage == Storage::Auto {
            self.note_object(id);
        }
    }

    /// Every thread would run the constructor of a shared object.
    fn check_shared_object(&mut self, ty: &Ty, name: &ast::Name) {
        use crate::sema::check::construct::Beginning;
        let is_plain = match self.beginning(ty, name.span) {
            Beginning::Nothing => true,
            Beginning::Call(id) => self.is_empty_constructor(id, ty),
            Beginning::Missing => false,
        };
        if !is_plain || self.tables.has_destructor(ty) {
            self.error(
                name.span,
                DeclError::SharedWithConstructor { ty: ty.clone() },
            );
        }
    }

    /// The initialiser is for a constructor of the variable's class.
    fn begins_by_constructor(&self, ty: &Ty, init: &ast::Init) -> bool {
        if !self.tables.has_constructors(ty) {
            return false;
        }
        match init {
            ast::Init::Construct(_) | ast::Init::List(_) => true,
            ast::Init::Expr(_) => false,
        }
    }

    fn construct_variable(
        &mut self,
        id: VarId,
        ty: &QualTy,
        init: &ast::Init,
        name: &ast::Name,
        out: &mut Vec<Stmt>,
    ) {
        let args = self.init_arguments(&ty.ty, init);
        let ty = QualTy {
            is_const: false,
            ..ty.clone()
        };
        let place = crate::sema::check::construct::local(id, ty, name.span);
        let n_errors = self.reporter.diagnostics.len();
        self.construct_into(place, args, name.span, out);
        self.body.vars[id].facts.is_wrong = self.error_since(n_errors, |_| true).is_err();
    }

    /// Which kind of shared memory this is. The forms that nvcc refuses are reported with the one that was meant.
    fn shared_form(&mut self, declared: &Declared<'_>, span: Span) -> Storage {
        let name = &declared.name.node;
        let is_extern = declared.declaration.specifiers.word(SpecifierWord::Extern);
        match (&declared.ty.ty, is_extern) {
            (Ty::Array(_, None), Some(_)) => Storage::SharedDynamic,
            (Ty::Array(element, None), None) => {
                if declared.declarator.init.is_none() {
                    self.error(
                        declared.declarator.span,
                        DeclError::SharedArraySizeMissing {
                            name: name.to_string(),
                            place: span,
                            element: QualTy::clone(element),
                        },
                    );
                }
                Storage::SharedDynamic
            }
            (Ty::Pointer(pointee), Some(extern_span)) => {
                self.error(
                    declared.declarator.span,
                    DeclError::ExternSharedPointer {
                        name: name.to_string(),
                        pointee: QualTy::clone(pointee),
                        extern_span,
                    },
                );
                Storage::Shared
            }
            (Ty::Array(..), Some(extern_span)) => {
                // nvcc accepts a size here and ignores it, a trap for the reader.
                self.error(
                    declared.declarator.span,
                    DeclError::ExternSharedSize {
                        name: name.to_string(),
                        extern_span,
                    },
                );
                Storage::SharedDynamic
            }
            (_, Some(extern_span)) => {
                self.error(
                    declared.declarator.span,
                    DeclError::ExternSharedNoArray {
                        name: name.to_string(),
                        ty: declared.ty.clone(),
                        extern_span,
                    },
                );
                Storage::Shared
            }
            (_, None) => Storage::Shared,
        }
    }

    fn refuse_shared_init(&mut self, name: &ast::Name, init: &ast::Init) {
        self.error(
            crate::sema::check::record::init_span(init),
            DeclError::SharedInitialiser {
                name: name.node.to_string(),
            },
        );
    }

    fn require_complete(
        &mut self,
        ty: &Ty,
        name: &ast::Name,
        may_be_unsized: bool,
    ) -> Result<(), Reported> {
        let shown = name.node.to_string();
        let message = match ty {
            Ty::Array(_, None) if may_be_unsized => return Ok(()),
            Ty::Array(_, None) => DeclError::ArraySizeMissing { name: shown },
            Ty::Void => DeclError::VoidVariable { name: shown },
            other if self.tables.size_of(other).is_none() => DeclError::IncompleteVariable {
                name: shown,
                ty: other.clone(),
            },
            _ => return Ok(()),
        };
        Err(self.error(name.span, message))
    }
}

/// The constant a variable's initialiser gives it.
fn constant_of(init: &Init) -> Option<Const> {
    match init {
        Init::Value(value) if value.ty.is_arithmetic() => const_eval::evaluate(value).ok(),
        Init::Value(_) | Init::Parts { .. } | Init::Bytes(_) => None,
    }
}

/// Where a variable lives that is not shared memory's.
fn space_of_words(specifiers: &ast::Specifiers) -> GlobalSpace {
    let has = |word| specifiers.word(word).is_some();
    if has(SpecifierWord::Constant) {
        GlobalSpace::Constant
    } else if has(SpecifierWord::Managed) {
        GlobalSpace::Managed
    } else if has(SpecifierWord::Device) {
        GlobalSpace::Device
    } else {
        GlobalSpace::Host
    }
}

/// An address that is known before the program runs.
fn is_address(value: &Value) -> bool {
    use crate::sema::typed::PlaceKind;
    fn is_static(place: &crate::sema::typed::Place) -> bool {
        match &place.kind {
            PlaceKind::Var(var) => matches!(var, crate::sema::typed::VarRef::Global(_)),
            PlaceKind::Field(base, _) => is_static(base),
            PlaceKind::ArrayIndex(base, index) => {
                is_static(base) && const_eval::evaluate(index).is_ok()
            }
            PlaceKind::Deref(_)
            | PlaceKind::ReadOnly(_)
            | PlaceKind::PointerIndex(..)
            | PlaceKind::Temporary(_) => false,
        }
    }
    match &value.kind {
        ValueKind::Null | ValueKind::Str(_) => true,
        ValueKind::AddressOf(place) | ValueKind::Decay(place) => is_static(place),
        ValueKind::Convert(inner) => is_address(inner) || const_eval::evaluate(inner).is_ok(),
        ValueKind::PointerAdd(base, index) => {
            is_address(base) && const_eval::evaluate(index).is_ok()
        }
        _ => false,
    }
}
