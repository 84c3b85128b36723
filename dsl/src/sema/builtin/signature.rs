//! Signatures as text: `int(uint, float*)`, `cudaError_t(T**, size_t)`, `void(uint=4294967295)`, `int(const char*, ...)`.
//!
//! Besides C's words (`uint`, `ll`, `ull`, `ulong` for the unsigned and long ones) a parameter can be `T**` (the address of
//! any pointer), `symbol` (a `__device__` or `__constant__` variable by name) or `kernel` (a kernel by name).
//! Other words are types of the prelude.

/// A parsed signature.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) result: ParamType,
    pub(crate) params: Vec<Param>,
    pub(crate) variadic: bool,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) ty: ParamType,
    /// Its value if the argument is left out.
    pub(crate) default: Option<u64>,
}

/// A parameter's type.
#[derive(Debug, PartialEq)]
pub(crate) enum ParamType {
    Plain {
        base: TypeWord,
        is_const: bool,
        stars: usize,
    },
    AnyPointerPointer,
    Symbol,
    Kernel,
}

/// A type's name.
#[derive(Debug, PartialEq)]
pub(crate) enum TypeWord {
    Void,
    Bool,
    Char,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Float,
    Double,
    /// Of the prelude.
    Named(&'static str),
}

impl ParamType {
    fn cpp(&self) -> String {
        let (base, is_const, stars) = match self {
            ParamType::Plain {
                base,
                is_const,
                stars,
            } => (base, *is_const, *stars),
            ParamType::AnyPointerPointer => return "void **".to_string(),
            ParamType::Symbol | ParamType::Kernel => return "const void *".to_string(),
        };
        let word = match base {
            TypeWord::Void => "void",
            TypeWord::Bool => "int",
            TypeWord::Char => "char",
            TypeWord::Int => "int",
            TypeWord::UInt => "unsigned int",
            TypeWord::Long => "long",
            TypeWord::ULong => "unsigned long",
            TypeWord::LongLong => "long long",
            TypeWord::ULongLong => "unsigned long long",
            TypeWord::Float => "float",
            TypeWord::Double => "double",
            TypeWord::Named(name) => name,
        };
        let space = if stars > 0 { " " } else { "" };
        let qualifier = if is_const { "const " } else { "" };
        format!("{qualifier}{word}{space}{}", "*".repeat(stars))
    }
}

impl Signature {
    /// A device function of this signature as C++ declares it.
    pub(crate) fn declaration(&self, name: &str) -> String {
        let params = self.params.iter().map(|param| match param.default {
            Some(default) => format!("{} = {default}", param.ty.cpp()),
            None => param.ty.cpp(),
        });
        let mut params: Vec<String> = params.collect();
        if self.variadic {
            params.push("...".to_string());
        }
        format!(
            "__device__ {} {name}({});",
            self.result.cpp(),
            params.join(", ")
        )
    }

    /// Reads a signature of the table; the table is ours, so mistakes in it are caught by a test over all of it.
    pub(crate) fn parse(text: &'static str) -> Signature {
        let (result, rest) = text.split_once('(').unwrap_or((text, ""));
        let mut variadic = false;
        let mut params = Vec::new();
        for param in rest.trim_end_matches(')').split(',').map(str::trim) {
            match param {
                "" => {}
                "..." => variadic = true,
                _ => {
                    let (ty, default) = match param.split_once('=') {
                        Some((ty, default)) => (ty.trim(), default.trim().parse().ok()),
                        None => (param, None),
                    };
                    params.push(Param {
                        ty: parse_type(ty),
                        default,
                    });
                }
            }
        }
        Signature {
            result: parse_type(result),
            params,
            variadic,
        }
    }
}

fn parse_type(text: &'static str) -> ParamType {
    match text {
        "T**" => return ParamType::AnyPointerPointer,
        "symbol" => return ParamType::Symbol,
        "kernel" => return ParamType::Kernel,
        _ => {}
    }
    let stars = text.len() - text.trim_end_matches('*').len();
    let word = text.trim_end_matches('*').trim();
    let (is_const, word) = match word.strip_prefix("const ") {
        Some(word) => (true, word),
        None => (false, word),
    };
    let base = match word {
        "void" => TypeWord::Void,
        "bool" => TypeWord::Bool,
        "char" => TypeWord::Char,
        "int" => TypeWord::Int,
        "uint" => TypeWord::UInt,
        "long" => TypeWord::Long,
        "ulong" | "size_t" => TypeWord::ULong,
        "ll" => TypeWord::LongLong,
        "ull" => TypeWord::ULongLong,
        "float" => TypeWord::Float,
        "double" => TypeWord::Double,
        other => TypeWord::Named(other),
    };
    ParamType::Plain {
        base,
        is_const,
        stars,
    }
}
