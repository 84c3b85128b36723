//! The program's tables: records, functions, variables at file scope, classes. Knowledge without procedure.

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
    /// Records whose layout is not known, because this is wrong with their base or a member.
    pub(crate) broken_records: HashMap<RecordId, Diagnostic>,
    /// The records of vector types that are in use.
    pub(crate) vectors: HashMap<String, RecordId>,
    /// Names of the enumerations by id.
    pub(crate) enums: Vec<String>,
    /// The enumerations that are `enum class`.
    pub(crate) scoped_enums: HashSet<EnumId>,
    /// Classes by their records.
    pub(crate) classes: HashMap<RecordId, class::ClassFacts>,
    /// The classes of lambdas that have been checked, by their place.
    pub(crate) lambdas: HashMap<(Option<FunctionId>, Span), lambda::LambdaFacts>,
    /// The classes of generic lambdas, and the class around each.
    pub(crate) generic_lambdas: HashMap<RecordId, Option<RecordId>>,
    /// The same with their names, for who reads the program.
    pub(crate) named_generic_lambdas: Vec<GenericLambda>,
    /// The classes of lambdas, and their functions.
    pub(crate) lambda_functions: Vec<(RecordId, FunctionId)>,
    pub(crate) globals: Arena<GlobalVarId, GlobalEntry>,
    pub(crate) functions: Arena<FunctionId, FunctionEntry>,
    /// The instances of the library's `initializer_list`.
    pub(crate) initializer_lists: HashSet<RecordId>,
    /// Where each function of the program is first declared, for uses before that.
    pub(crate) declared_later: HashMap<Arc<str>, Span>,
    /// The operators that the program gives to any type: `operator+`.
    pub(crate) operators: HashSet<Arc<str>>,
    /// Dynamic shared arrays by their full names: how each was declared first.
    pub(crate) dynamic_shared: HashMap<Arc<str>, DynamicShared>,
}

/// The first declaration of a dynamic shared array.
pub(crate) struct DynamicShared {
    pub(crate) ty: QualTy,
    /// 1 if it says none.
    pub(crate) align_bytes: u64,
    pub(crate) span: Span,
}

/// A function: what the lowering will see of it, and what the check knows besides.
pub(crate) struct FunctionEntry {
    pub(crate) typed: typed::Function,
    pub(crate) facts: FunctionFacts,
}

/// A variable that outlives functions, likewise.
pub(crate) struct GlobalEntry {
    pub(crate) typed: typed::Global,
    pub(crate) facts: VarFacts,
}

/// A variable of a function, likewise.
pub(crate) struct VarEntry {
    pub(crate) typed: typed::Var,
    pub(crate) facts: VarFacts,
}

/// What is known of a variable besides its typed form.
#[derive(Clone, Default, Debug)]
pub(crate) struct VarFacts {
    /// Its value, if it is `const` with a constant initialiser.
    pub(crate) constant: Option<Const>,
    /// Its initialiser was wrong and has been reported.
    pub(crate) is_wrong: bool,
    /// `extern`, without an initialiser: a definition may follow.
    pub(crate) is_only_declared: bool,
    /// An object without a name, as of `S(a, b)`.
    pub(crate) is_temporary: bool,
}

/// What is known of a function besides its typed form.
#[derive(Clone, Default, Debug)]
pub(crate) struct FunctionFacts {
    pub(crate) params: Vec<ParamFacts>,
    /// The prototype's or the definition's name.
    pub(crate) declared: Span,
    /// The class it is a member of.
    pub(crate) class: Option<RecordId>,
    /// Its first parameter is the object.
    pub(crate) has_this: bool,
    /// What its declaration says of a member.
    pub(crate) words: MemberWords,
    /// From its first word to the end of its body.
    pub(crate) extent: Option<Span>,
    /// A part of its body is wrong and left out: nothing can be computed by it.
    pub(crate) is_incomplete: bool,
    /// The first place in its body that depends on a declaration that is not understood.
    pub(crate) first_unknown: Option<Unknown>,
    /// `auto f()`: its type is that of its first `return`.
    pub(crate) deduces: bool,
    /// `constexpr`: it may be called where a constant is needed.
    pub(crate) is_constexpr: bool,
    /// Its body does nothing.
    pub(crate) is_empty: bool,
    pub(crate) is_defined: bool,
    /// Defined, but its body was not looked at.
    pub(crate) is_skipped: bool,
    pub(crate) calls: Vec<(FunctionId, Span)>,
    /// How many of them have been followed to member functions that are checked on their first call.
    pub(crate) n_followed: usize,
}

/// Words in the declaration of a member function.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct MemberWords {
    /// It has no object.
    pub(crate) is_static: bool,
    /// `explicit`.
    pub(crate) is_explicit: bool,
    /// `= delete`.
    pub(crate) is_deleted: bool,
    /// It is virtual: its place among the virtual functions of its class.
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
    /// Of a reference: what it refers to.
    pub(crate) ty: QualTy,
    pub(crate) span: Span,
    /// What it is if the call leaves it out.
    pub(crate) default: Option<Arc<ast::Expr>>,
    /// `T &`: another name for the argument.
    pub(crate) is_reference: bool,
    /// `T &&`: a value of its own, which no variable may be given for.
    pub(crate) is_rvalue: bool,
    /// The object of a member function: any value will do.
    pub(crate) is_this: bool,
    /// One of those that `Ts... rest` stands for.
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

    /// A name as the program has it: instances of classes go by a number inside, `#12::push`.
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

    /// The type of `threadIdx` and its like.
    pub(crate) fn uint3(&mut self) -> Ty {
        self.index_type("uint3")
    }

    fn index_type(&mut self, name: &str) -> Ty {
        let records = &mut self.records;
        let id = self.vectors.entry(name.to_string());
        Ty::Record(*id.or_insert_with(|| records.push(layout::index_record(name))))
    }

    /// It is this vector type.
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
