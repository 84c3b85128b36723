//! Finds the functions that a file of the library defines. The build script includes this module, so it uses nothing else of the crate.

/// The functions that a file defines for device code, or for the host if its first lines say so. On a line that begins a `__device__`
/// function, the name precedes the first parenthesis. Names that begin with `__dslc_` are internal to the library.
pub(crate) fn defined(text: &str) -> impl Iterator<Item = &str> {
    let mut head = text.lines().take_while(|line| line.starts_with("//!"));
    let of_host = head.any(|line| line == "//! functions: host");
    text.lines()
        .filter(move |line| match of_host {
            true => line.starts_with(|c: char| c.is_ascii_lowercase()),
            false => line.starts_with("__") && line.contains("__device__ "),
        })
        .filter(|line| line.ends_with(['{', '}']))
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .filter(|name| !name.starts_with("__dslc_") && !name.starts_with("operator"))
}
