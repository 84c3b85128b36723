//! What is known about a file of the library. The build script (`dsl/build`) generates tables of these types, so this module uses nothing
//! else of the crate.

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
    /// Whether its functions are the host's.
    pub(crate) of_host: bool,
    /// Whether only the functions that a program may call are read.
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
    /// In `std`, except for a name after the arguments: `value` in `is_same<T, U>::value` is not a type.
    StdTrait,
    /// In `std::chrono`.
    Chrono,
    /// In the namespace of this name.
    Class(&'static str),
    /// In the namespace of this name, but only after `::` or before the `<` of a type.
    Operation(&'static str),
}
