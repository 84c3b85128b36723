//! Qualified names: `a::b::c`. They are stored as text; only this module splits them.

/// The text between the parts.
const SEPARATOR: &str = "::";

/// Whether it has scopes before its last part.
pub(crate) fn is_qualified(name: &str) -> bool {
    name.contains(SEPARATOR)
}

/// The scopes and the last part; `None` for a plain name. The scopes of `::f` are empty.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once(SEPARATOR)
}

/// The first part and the rest; `None` for a plain name.
pub(crate) fn split_first(name: &str) -> Option<(&str, &str)> {
    name.split_once(SEPARATOR)
}

/// The last part, which is all of a plain name.
pub(crate) fn last(name: &str) -> &str {
    split(name).map_or(name, |(_, last)| last)
}

/// The name without `::` at its beginning.
pub(crate) fn relative(name: &str) -> &str {
    name.strip_prefix(SEPARATOR).unwrap_or(name)
}

/// What follows the first part, if that is `first`.
pub(crate) fn after<'n>(name: &'n str, first: &str) -> Option<&'n str> {
    split_first(name).and_then(|(part, rest)| (part == first).then_some(rest))
}

/// The scope around a scope; empty for the outermost.
pub(crate) fn outer(scope: &str) -> &str {
    split(scope).map_or("", |(outer, _)| outer)
}

/// The parts in order.
pub(crate) fn parts(name: &str) -> Vec<&str> {
    name.split(SEPARATOR).collect()
}

/// The name that these parts make.
pub(crate) fn join<S: AsRef<str>>(parts: &[S]) -> String {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    parts.join(SEPARATOR)
}

/// Whether `name` is in the scope, or in one inside it.
pub(crate) fn is_inside(name: &str, scope: &str) -> bool {
    let rest = name.strip_prefix(scope);
    rest.is_some_and(|rest| rest.starts_with(SEPARATOR))
}
