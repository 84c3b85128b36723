//! Messages of `sema/check/template`.
use std::sync::Arc;

use crate::sema::{
    check::Tables,
    message::{Fact, messages},
    ty::Ty,
};
use ir::{diagnostic::Diagnostic, span::Span};

/// The label of a template about which nothing else is known.
pub(crate) const DECLARED_HERE: &str = "declared here";

/// Why a template does not fit a call.
#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// It takes this many template arguments.
    TakesTemplateArguments(usize),
    /// It takes this many arguments.
    Takes(usize),
    /// It needs this many arguments.
    Needs(usize),
    /// Its `enable_if` leaves it out.
    Disabled,
    /// Neither the call nor a default determines this parameter.
    NotDeduced {
        /// Empty if it has no name.
        parameter: String,
        template: String,
        /// Arguments that would work.
        example: String,
        is_launch: bool,
        /// All parameters before it are known without arguments `<…>`.
        is_first_missing: bool,
    },
    /// Two arguments contradict each other about a parameter.
    Disagree {
        parameter: Arc<str>,
        old: String,
        new: String,
        /// The number of the second of these arguments, from 1.
        n: usize,
        is_type: bool,
    },
    /// An argument does not have the parameter's form.
    CannotBeGiven {
        written: String,
        ty: Ty,
        n: usize,
        needs_pointer: bool,
    },
}

impl Reason {
    /// The reason as the text of a label.
    pub(crate) fn text(&self, tables: &Tables) -> String {
        let what = match self {
            Reason::TakesTemplateArguments(n) => {
                format!("it takes {}", some(*n, "template argument"))
            }
            Reason::Takes(n) => format!("it takes {}", some(*n, "argument")),
            Reason::Needs(n) => format!("it needs {}", some(*n, "argument")),
            Reason::Disabled => "its `enable_if` is false for these types".to_string(),
            Reason::NotDeduced { parameter, .. } => {
                format!("{} cannot be deduced", named(parameter))
            }
            Reason::Disagree {
                parameter,
                old,
                new,
                n,
                ..
            } => {
                format!("its `{parameter}` would be `{old}`, but `{new}` by argument {n}")
            }
            Reason::CannotBeGiven { written, ty, .. } => {
                format!("`{written}` cannot be given `{}`", ty.shown(tables))
            }
        };
        format!("does not fit: {what}")
    }

    /// The whole message, if the template is the only one of its name.
    pub(crate) fn message(&self, template: &str) -> Option<String> {
        match self {
            Reason::NotDeduced { parameter, .. } => Some(format!(
                "{} of the template `{template}` cannot be deduced from this call",
                named(parameter)
            )),
            _ => None,
        }
    }

    /// One thing to try.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Reason::NotDeduced {
                template,
                example,
                is_launch,
                is_first_missing,
                ..
            } => {
                let what = match is_first_missing {
                    true => "write it, for example",
                    false => "write all arguments up to it, for example",
                };
                let launch = if *is_launch { "<<<…>>>" } else { "" };
                Some(format!("{what} `{template}<{example}>{launch}(…)`"))
            }
            Reason::Disagree {
                old, is_type: true, ..
            } => Some(format!(
                "write the type (`<{old}>` after the name), or cast an argument"
            )),
            Reason::Disagree { .. } => Some("the arguments' types must agree".to_string()),
            Reason::CannotBeGiven {
                n,
                needs_pointer: true,
                ..
            } => Some(format!("argument {n} must be a pointer")),
            _ => None,
        }
    }
}

/// The error of an attempt to read a template's signature, as a label.
pub(crate) fn not_for(message: &str) -> String {
    format!("does not fit: for these arguments {message}")
}

/// An error about the arguments `<…>` of the only template of its name.
pub(crate) fn with_template(error: Diagnostic, name: &str, declared: Span) -> Diagnostic {
    error.label(declared, format!("the template `{name}`"))
}

fn some(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

fn named(parameter: &str) -> String {
    match parameter {
        "" => "a parameter without a name".to_string(),
        name => format!("`{name}`"),
    }
}

messages! {
    /// Templates.
    TemplateError {
        NoClass { shown: Ty } => WrongKindOfName
            "`{shown}` is not a class and has no members";
        InstanceIsNoValue { name: String } => WrongKindOfName
            "`{name}` with its arguments is not a value";
        ArgumentKind { what: &'static str } => TemplateArgument
            "the template's parameter is {what}, but this argument is not";
        TemplateDefinedTwice { name: String, first: Span, unnamed: bool } => Redefinition
            "the template `{name}` is defined twice",
            label first "first defined here",
            help "C++ treats templates that differ only in a default argument as the same; write `std::enable_if_t<condition, int> = 0` instead of `typename = std::enable_if_t<condition>`" if unnamed;
        VariableAsType { name: String } => WrongKindOfName
            "`{name}` is a variable, but a type is needed here";
        UnsupportedLibraryType { name: String, near: Option<String> } => Unsupported
            "`{name}` of C++'s libraries is not supported yet",
            help "did you mean `std::{near}`?" if near;
        NoClassTemplate { name: String } => UnknownType
            "there is no class template `{name}`";
        NotDeclaredThere { name: String, scope: String } => UnknownType
            "`{name}` is defined here, but not declared in `{scope}`",
            help "declare it in the class template or the namespace `{scope}` first";
        ClassInstanceDepth { most: u32, name: String, last: String, declared: Span } => TemplateDepth
            "more than {most} instances of `{name}` depend on each other; the last is `{last}`",
            label declared "the template",
            help "end the recursion with a specialisation";
        InstanceDepth { most: u32, last: String, declared: Span } => TemplateDepth
            "more than {most} template instances depend on each other; the last is `{last}`",
            label declared "the template",
            help "end the recursion with `if constexpr` or with a specialisation";
        TooManyInstances { most: u32, name: String, declared: Span } => TemplateDepth
            "the program needs more than {most} instances of templates; the last one is of `{name}`",
            label declared "the template",
            help "each instance here needs several others, and those need more: let them share instances, or end the recursion earlier";
        LongInstanceNames { last: String, declared: Span } => TemplateDepth
            "the names of the instances of templates take more than 32 MiB; the last one is `{last}`",
            label declared "the template",
            help "each level here names the level before more than once: use fewer levels, or a class that is derived from the instance";
        NoTemplateForInstance { name: String } => TemplateArgument
            "there is no template `{name}` for this instance";
        NothingToExpand => TemplateArgument
            "this contains no parameter pack to expand";
        EmptyFold => TemplateArgument
            "a fold over an empty parameter pack has no value with this operator";
        VariableArgumentCount { name: String, n_params: usize, n_written: usize, declared: Span } => TemplateArgument
            "`{name}` has {n_params} template parameters, but {n_written} arguments are given",
            label declared "declared here";
        VariableArgumentMissing { name: String, missing: String, declared: Span } => TemplateArgument
            "`{name}` needs an argument for `{missing}`",
            label declared "declared here";
        TooManyArguments { most: usize } => TemplateArgument
            "more than {most} template arguments are given";
        NoLikelyArguments { name: String } => TemplateArgument
            "the template `{name}` has no instance: no function that is compiled uses one, and none of the arguments that dslc tries fits",
            help "a launch in a template that nothing uses makes none; name the instance: `--kernel '{name}<…>'`";
    }
}
