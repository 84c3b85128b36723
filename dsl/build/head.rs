//! Reads the first lines of the library's files, and `headers.txt`, which says which headers bring which names.

use super::file::{File, TypeName};

/// The files in the order in which they are read: a file comes after those that it uses.
pub(crate) const ORDER: &[&str] = &[
    "math_double",
    "math_angle",
    "math_float",
    "math_float_angle",
    "math_float_gamma",
    "math_special",
    "simd",
    "rounding",
    "fp16",
    "bf16",
    "fp8",
    "cooperative_groups",
    "traits",
    "new",
    "vector",
    "clib",
    "device",
    "iostream",
    "string",
    "utility",
    "algorithm",
    "chrono",
    "random",
    "time",
    "stdexcept",
    "ptx",
    "graph",
    "nv_atomic",
    "cuda_atomic",
    "cuda_barrier",
    "curand",
    "cub",
    "cub_block",
    "math_bessel",
    "math_float_bessel",
    "getopt",
    "environ",
    "helper",
    "runtime",
    "cstring",
    "cucomplex",
    "cufft",
    "memory",
    "queue",
    "map",
    "tuple",
    "thrust",
];

/// The name of a type, and why it is one.
pub(crate) type Type = (&'static str, TypeName);

/// Parses the first lines of a text and the types that they name. Leaks what it returns.
pub(crate) fn read(name: &'static str, text: &'static str) -> (File, Vec<Type>) {
    let mut file = File {
        name,
        text,
        ..File::default()
    };
    let (mut needs, mut names, mut keywords) = (Vec::new(), Vec::new(), Vec::new());
    let mut classes = Vec::new();
    let mut std = Vec::new();
    let mut types = Vec::new();
    let head = text.lines().map_while(|line| line.strip_prefix("//!"));
    for line in head {
        let line = line.trim();
        let Some((key, words)) = line.split_once(": ") else {
            if !line.is_empty() {
                file.title = line;
            }
            continue;
        };
        let words: &[&str] = words.split(' ').collect::<Vec<_>>().leak();
        let mut are_types = |why: TypeName| types.extend(words.iter().map(|&word| (word, why)));
        let space = file.namespace.unwrap_or_default();
        match key {
            "needs" => needs.extend(words),
            "types" => {
                are_types(TypeName::Global);
                names.extend(words);
            }
            "names" => names.extend(words),
            "keywords" => keywords.extend(words),
            "namespace" => file.namespace = words.first().copied(),
            "classes" => {
                are_types(TypeName::Class(space));
                classes.extend(words);
            }
            "operations" => are_types(TypeName::Operation(space)),
            "std" => std.extend(words),
            "std types" | "std templates" | "std traits" => {
                are_types(match key {
                    "std types" => TypeName::Std,
                    "std templates" => TypeName::StdTemplate,
                    _ => TypeName::StdTrait,
                });
                std.extend(words);
            }
            "chrono types" => are_types(TypeName::Chrono),
            "functions" => file.of_host = words == ["host"],
            "read" => file.by_function = words == ["by", "function"],
            _ => panic!("{name}.k: there is no line `{key}`"),
        }
    }
    file.needs = needs.leak();
    file.classes = classes.leak();
    file.names = names.leak();
    file.keywords = keywords.leak();
    file.std = std.leak();
    (file, types)
}

/// The contents of `headers.txt`.
pub(crate) struct Headers<'a> {
    /// All headers that nvcc was asked about, sorted.
    pub(crate) known: Vec<&'a str>,
    /// Sets of headers, the one to recommend first in each.
    pub(crate) rows: Vec<Vec<&'a str>>,
    /// Names, each with the row of the headers that bring it.
    pub(crate) row_of: Vec<(&'a str, usize)>,
}

/// Reads `headers.txt`.
pub(crate) fn headers(text: &str) -> Headers<'_> {
    let mut read = Headers {
        known: Vec::new(),
        rows: Vec::new(),
        row_of: Vec::new(),
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    for (names, headers) in lines.filter_map(|line| line.split_once(": ")) {
        if names == "headers" {
            read.known.extend(headers.split(' '));
        } else {
            let row = read.rows.len();
            read.rows.push(headers.split(' ').collect());
            read.row_of.extend(names.split(' ').map(|name| (name, row)));
        }
    }
    read.known.sort_unstable();
    read
}
