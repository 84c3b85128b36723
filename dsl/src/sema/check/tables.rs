//! The program's tables: records, functions, variables at file scope, classes. Knowledge without procedure.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{Checker, class, lambda};
use crate::{
    arena::Arena,
    diagnostic::Diagnostic,
    sema::{
        const_eval::Const,
        layout,
        ty::{EnumId, QualTy, Record, RecordId, Records, Ty},
        typed::{self, FunctionId, GlobalVarId, VarId},
    },
    span::Span,
    syntax::ast,
};

/// What the program declares.
#[derive(Default)]
pub(in crate::sema) struct Tables {
    pub(super) records: Records,
    /// Records whose layout is not known, because this is wrong with their base or a member.
    pub(in crate::sema) broken_records: HashMap<RecordId, Diagnostic>,
    /// The records of vector types that are in use.
    pub(super) vectors: HashMap<String, RecordId>,
    /// Names of the enumerations by id.
    pub(super) enums: Vec<String>,
    /// The enumerations that are `enum class`.
    pub(super) scoped_enums: HashSet<EnumId>,
    /// Classes by their records.
    pub(super) classes: HashMap<RecordId, class::ClassFacts>,
    /// The classes of lambdas that have been checked, by their place.
    pub(super) lambdas: HashMap<(Option<FunctionId>, Span), lambda::LambdaFacts>,
    pub(super) globals: Arena<GlobalVarId, GlobalEntry>,
    pub(super) functions: Arena<FunctionId, FunctionEntry>,
    /// Where each function of the program is first declared, for uses before that.
    pub(super) declared_later: HashMap<Arc<str>, Span>,
    /// The operators that the program gives to any type: `operator+`.
    pub(super) operators: HashSet<Arc<str>>,
}

/// A function: what the lowering will see of it, and what the check knows besides.
pub(super) struct FunctionEntry {
    pub(super) typed: typed::Function,
    pub(super) facts: FunctionFacts,
}

/// A variable that outlives functions, likewise.
pub(super) struct GlobalEntry {
    pub(super) typed: typed::Global,
    pub(super) facts: VarFacts,
}

/// A variable of a function, likewise.
pub(super) struct VarEntry {
    pub(super) typed: typed::Var,
    pub(super) facts: VarFacts,
}

/// What is known of a variable besides its typed form.
#[derive(Clone, Default, Debug)]
pub(super) struct VarFacts {
    /// Its value, if it is `const` with a constant initialiser.
    pub(super) constant: Option<Const>,
    /// Its initialiser was wrong and has been reported.
    pub(super) is_wrong: bool,
    /// `extern`, without an initialiser: a definition may follow.
    pub(super) is_only_declared: bool,
}

/// What is known of a function besides its typed form.
#[derive(Clone, Default, Debug)]
pub(super) struct FunctionFacts {
    pub(super) params: Vec<ParamFacts>,
    /// The prototype's or the definition's name.
    pub(super) declared: Span,
    /// The class it is a member of.
    pub(super) class: Option<RecordId>,
    /// Its first parameter is the object.
    pub(super) has_this: bool,
    /// A member function without an object.
    pub(super) is_static: bool,
    /// `explicit`.
    pub(super) is_explicit: bool,
    /// From its first word to the end of its body.
    pub(super) extent: Option<Span>,
    /// `= delete`.
    pub(super) is_deleted: bool,
    /// `auto f()`: its type is that of its first `return`.
    pub(super) deduces: bool,
    /// `constexpr`: it may be called where a constant is needed.
    pub(super) is_constexpr: bool,
    /// Its body does nothing.
    pub(super) is_empty: bool,
    pub(super) is_defined: bool,
    /// Defined, but its body was not looked at.
    pub(super) is_skipped: bool,
    pub(super) calls: Vec<(FunctionId, Span)>,
    /// How many of them have been followed to member functions that are checked on their first call.
    pub(super) n_followed: usize,
}

/// A parameter as declared.
#[derive(Clone, Debug)]
pub(super) struct ParamFacts {
    pub(super) name: Option<Arc<str>>,
    /// Of a reference: what it refers to.
    pub(super) ty: QualTy,
    pub(super) span: Span,
    /// What it is if the call leaves it out.
    pub(super) default: Option<Arc<ast::Expr>>,
    /// `T &`: another name for the argument.
    pub(super) is_reference: bool,
    /// `T &&`: a value of its own, which no variable may be given for.
    pub(super) is_rvalue: bool,
    /// The object of a member function: any value will do.
    pub(super) is_this: bool,
    /// One of those that `Ts... rest` stands for.
    pub(super) is_of_pack: bool,
}

impl Checker<'_> {
    pub(super) fn size_of(&self, ty: &Ty) -> Option<u64> {
        layout::size_of(ty, &self.tables.records)
    }

    pub(super) fn align_of(&self, ty: &Ty) -> u64 {
        layout::align_of(ty, &self.tables.records)
    }

    pub(super) fn record(&self, id: RecordId) -> &Record {
        &self.tables.records[id]
    }

    /// The record of a vector type or `dim3`, made when first used.
    pub(super) fn vector(&mut self, name: &str) -> Option<RecordId> {
        if let Some(&id) = self.tables.vectors.get(name) {
            return Some(id);
        }
        let record = layout::vector_record(name)?;
        let id = self.tables.records.push(record);
        self.tables.vectors.insert(name.to_string(), id);
        Some(id)
    }

    pub(super) fn dim3(&mut self) -> Ty {
        self.vector("dim3").map_or(Ty::Error, Ty::Record)
    }

    /// It is this vector type.
    pub(super) fn is_vector(&self, ty: &Ty, name: &str) -> bool {
        matches!(ty, Ty::Record(id) if self.tables.vectors.get(name) == Some(id))
    }

    pub(super) fn add_var(&mut self, var: typed::Var) -> VarId {
        self.body.vars.push(VarEntry {
            typed: var,
            facts: VarFacts::default(),
        })
    }

    pub(super) fn add_global(&mut self, global: typed::Global, facts: VarFacts) -> GlobalVarId {
        self.tables.globals.push(GlobalEntry {
            typed: global,
            facts,
        })
    }
}
