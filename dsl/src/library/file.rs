//! What is known of a file of the library. The build script (`dsl/build`) makes the tables of it, and so this uses nothing else of the
//! crate.

/// A file and what its first lines say: [`library`](super) has the table of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct File {
    /// Without `.k`.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    pub(crate) needs: &'static [&'static str],
    pub(crate) names: &'static [&'static str],
    pub(crate) keywords: &'static [&'static str],
    /// Classes of its namespace.
    pub(crate) classes: &'static [&'static str],
    pub(crate) namespace: Option<&'static str>,
    pub(crate) std: &'static [&'static str],
    /// Its functions are the host's.
    pub(crate) of_host: bool,
    /// Only the functions that a program may call are read of it.
    pub(crate) by_function: bool,
}

/// Why a name of the library is a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TypeName {
    /// Everywhere.
    Global,
    /// In `std`.
    Std,
    /// In `std`, before its arguments.
    StdTemplate,
    /// In `std`; in `is_same<T, U>::value` the last name tells that it is none.
    StdTrait,
    /// In `std::chrono`.
    Chrono,
    /// In a namespace of its own.
    Class(&'static str),
    /// Likewise, where the name of a type follows or its namespace stands before it.
    Operation(&'static str),
}
