//! The program's tables: records, functions, variables at file scope, classes. Data without the rules.

pub(crate) mod classes;
pub(crate) mod rank;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{body::Unknown, class, lambda};
use crate::arena::Arena;
use crate::{
    sema::{
        const_eval::Const,
        layout, show,
        ty::{EnumId, QualTy, Record, RecordId, Records, Ty},
        typed::{self, FunctionId, GenericLambda, GlobalVarId},
    },
    syntax::ast,
};
use ir::{diagnostic::Diagnostic, span::Span};

/// What the program declares.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) records: Records,
    /// Records of unknown layout, each with the error in its base or a member.
    pub(crate) broken_records: HashMap<RecordId, Diagnostic>,
    /// The records of vector types that are in use.
    pub(crate) vectors: HashMap<String, RecordId>,
    /// Names of the enumerations by id.
    pub(crate) enums: Vec<String>,
    /// The enumerations that are `enum class`.
    pub(crate) scoped_enums: HashSet<EnumId>,
    /// Classes by their record.
    pub(crate) classes: HashMap<RecordId, class::ClassFacts>,
    /// The classes of lambdas that have been checked, by their place.
    pub(crate) lambdas: HashMap<(Option<FunctionId>, Span), lambda::LambdaFacts>,
    /// The classes of generic lambdas, each with the class around it.
    pub(crate) generic_lambdas: HashMap<RecordId, Option<RecordId>>,
    /// The same with their names, for users of `Program`.
    pub(crate) named_generic_lambdas: Vec<GenericLambda>,
    /// The classes of lambdas, each with its function.
    pub(crate) lambda_functions: Vec<(RecordId, FunctionId)>,
    pub(crate) globals: Arena<GlobalVarId, GlobalEntry>,
    pub(crate) functions: Arena<FunctionId, FunctionEntry>,
    /// The instances of the library's `initializer_list`.
    pub(crate) initializer_lists: HashSet<RecordId>,
    /// Where each function of the program is first declared, for uses before its declaration.
    pub(crate) declared_later: HashMap<Arc<str>, Span>,
    /// The names of operators that the program declares for any type: `operator+`.
    pub(crate) operators: HashSet<Arc<str>>,
    /// Dynamic shared arrays by their full names: how each was first declared.
    pub(crate) dynamic_shared: HashMap<Arc<str>, DynamicShared>,
}

/// The first declaration of a dynamic shared array.
pub(crate) struct DynamicShared {
    pub(crate) ty: QualTy,
    /// 1 if it is not given.
    pub(crate) align_bytes: u64,
    pub(crate) span: Span,
}

/// A function: what the lowering uses, and what only the check uses.
pub(crate) struct FunctionEntry {
    pub(crate) typed: typed::Function,
    pub(crate) facts: FunctionFacts,
}

/// The same for a variable that outlives functions.
pub(crate) struct GlobalEntry {
    pub(crate) typed: typed::Global,
    pub(crate) facts: VarFacts,
}

/// The same for a variable of a function.
pub(crate) struct VarEntry {
    pub(crate) typed: typed::Var,
    pub(crate) facts: VarFacts,
}

/// Facts about a variable that only the check uses.
#[derive(Clone, Default, Debug)]
pub(crate) struct VarFacts {
    /// Its value, if it is `const` with a constant initialiser.
    pub(crate) constant: Option<Const>,
    /// Whether its initialiser is invalid, which has been reported.
    pub(crate) is_wrong: bool,
    /// `extern` without an initialiser: a definition may follow.
    pub(crate) is_only_declared: bool,
    /// An unnamed object, as of `S(a, b)`.
    pub(crate) is_temporary: bool,
}

/// Facts about a function that only the check uses.
#[derive(Clone, Default, Debug)]
pub(crate) struct FunctionFacts {
    pub(crate) params: Vec<ParamFacts>,
    /// Its name in the prototype or definition.
    pub(crate) declared: Span,
    /// The class it is a member of.
    pub(crate) class: Option<RecordId>,
    /// Whether its first parameter is the object.
    pub(crate) has_this: bool,
    /// The words in its declaration, if it is a member.
    pub(crate) words: MemberWords,
    /// From its first word to the end of its body.
    pub(crate) extent: Option<Span>,
    /// Whether a part of its body is invalid and left out: it cannot be evaluated as a constant.
    pub(crate) is_incomplete: bool,
    /// The first place in its body that depends on an invalid declaration.
    pub(crate) first_unknown: Option<Unknown>,
    /// `auto f()`: its type is that of its first `return`.
    pub(crate) deduces: bool,
    /// `constexpr`: it may be called where a constant is needed.
    pub(crate) is_constexpr: bool,
    /// Its body does nothing.
    pub(crate) is_empty: bool,
    pub(crate) is_defined: bool,
    /// Whether it is defined, but its body was not checked.
    pub(crate) is_skipped: bool,
    pub(crate) calls: Vec<(FunctionId, Span)>,
    /// The number of calls that have been followed to member functions that are checked on their first call.
    pub(crate) n_followed: usize,
}

/// Words in the declaration of a member function.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct MemberWords {
    /// `static`.
    pub(crate) is_static: bool,
    /// `explicit`.
    pub(crate) is_explicit: bool,
    /// `= delete`.
    pub(crate) is_deleted: bool,
    /// Its index among the virtual functions of its class, if it is virtual.
    pub(crate) slot: Option<u32>,
    /// `= 0`.
    pub(crate) is_pure: bool,
    /// `final`.
    pub(crate) is_final: bool,
}

/// A parameter as declared.
#[derive(Clone, Debug)]
pub(crate) struct ParamFacts {
    pub(crate) name: Option<Arc<str>>,
    /// For a reference: the type that it refers to.
    pub(crate) ty: QualTy,
    pub(crate) span: Span,
    /// Its value if a call omits it.
    pub(crate) default: Option<Arc<ast::Expr>>,
    /// `T &`: another name for the argument.
    pub(crate) is_reference: bool,
    /// `T &&`: a separate value, which cannot be bound to a variable.
    pub(crate) is_rvalue: bool,
    /// The object of a member function, which accepts any value.
    pub(crate) is_this: bool,
    /// An element of the pack `Ts... rest`.
    pub(crate) is_of_pack: bool,
}

impl Tables {
    /// A type's text, as a C programmer would declare it.
    pub(crate) fn show(&self, ty: &QualTy) -> String {
        show::show(ty, &self.records, &self.enums)
    }

    /// The same for a type without qualifiers.
    pub(crate) fn show_type(&self, ty: &Ty) -> String {
        self.show(&ty.clone().into())
    }

    /// A name as the program spells it: instances of classes have a number internally, `#12::push`.
    pub(crate) fn readable(&self, name: &str) -> String {
        let mut parts = name.split('#');
        let mut out = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let n = part
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(part.len());
            match part[..n]
                .parse::<usize>()
                .ok()
                .and_then(|id| self.records.get(id))
            {
                Some(record) => out.push_str(&record.name),
                None => {
                    out.push('#');
                    out.push_str(&part[..n]);
                }
            }
            out.push_str(&part[n..]);
        }
        out
    }

    pub(crate) fn size_of(&self, ty: &Ty) -> Option<u64> {
        layout::size_of(ty, &self.records)
    }

    pub(crate) fn align_of(&self, ty: &Ty) -> u64 {
        layout::align_of(ty, &self.records)
    }

    pub(crate) fn record(&self, id: RecordId) -> &Record {
        &self.records[id]
    }

    /// The record of a vector type or `dim3`, made when first used.
    pub(crate) fn vector(&mut self, name: &str) -> Option<RecordId> {
        if let Some(&id) = self.vectors.get(name) {
            return Some(id);
        }
        let record = layout::vector_record(name)?;
        let id = self.records.push(record);
        self.vectors.insert(name.to_string(), id);
        Some(id)
    }

    /// `dim3`.
    pub(crate) fn dim3(&mut self) -> Ty {
        self.index_type("dim3")
    }

    /// The type of `threadIdx` and similar.
    pub(crate) fn uint3(&mut self) -> Ty {
        self.index_type("uint3")
    }

    fn index_type(&mut self, name: &str) -> Ty {
        let records = &mut self.records;
        let id = self.vectors.entry(name.to_string());
        Ty::Record(*id.or_insert_with(|| records.push(layout::index_record(name))))
    }

    /// Whether it is this vector type.
    pub(crate) fn is_vector(&self, ty: &Ty, name: &str) -> bool {
        matches!(ty, Ty::Record(id) if self.vectors.get(name) == Some(id))
    }

    pub(crate) fn add_global(&mut self, global: typed::Global, facts: VarFacts) -> GlobalVarId {
        self.globals.push(GlobalEntry {
            typed: global,
            facts,
        })
    }
}
