//! Selects, from the mathematical parts of the library, only the functions that a program may call.
//!
//! A program that calls `expf` needs a dozen of three hundred functions, and reading the others would take most of a small program's
//! compilation time. A function that is left out is replaced by its line ends, so that lines and columns of the rest stay the same. The
//! search looks at words: a function is needed if the program, or a part that is kept whole, or a needed function mentions its name in any
//! way.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::OnceLock,
};

use super::{PRELUDE, Part, files};
use crate::{
    sema::builtin,
    syntax::token::{Token, TokenKind},
};

/// The parts as a program with these tokens needs them; `asked` are the instances requested besides.
pub fn needed(
    tokens: &[Token],
    asked: &[String],
    parts: &[Part],
) -> Vec<(&'static str, Cow<'static, str>)> {
    let is_cut = |part: &Part| functions().contains_key(part.0);
    if !parts.iter().any(is_cut) {
        let whole = |&(name, text): &Part| (name, Cow::Borrowed(text));
        return parts.iter().map(whole).collect();
    }
    let mut needs = Needs::default();
    for token in tokens {
        if let TokenKind::Ident(name) | TokenKind::TypeName(name) = &token.kind {
            needs.mention(name);
        }
    }
    asked.iter().for_each(|text| needs.mention_all(text));
    needs.mention_all(PRELUDE);
    for part in parts {
        match functions().get(part.0) {
            None => needs.mention_all(part.1),
            Some(functions) => functions
                .outside
                .iter()
                .for_each(|text| needs.mention_all(text)),
        }
    }
    while let Some(body) = needs.open.pop() {
        needs.mention_all(body);
    }
    let read = |&(name, text): &Part| match functions().get(name) {
        None => (name, Cow::Borrowed(text)),
        Some(functions) => (name, Cow::Owned(functions.only(&needs.names))),
    };
    parts.iter().map(read).collect()
}

/// The prelude for a program of these tokens that needs no part of the library, with only those of its functions that the program may call.
/// Most programs call none of them, and reading them takes a fourth of a small program's compilation.
pub(crate) fn prelude(tokens: &[Token]) -> String {
    let functions = of_prelude();
    let named: HashSet<&str> = tokens
        .iter()
        .filter_map(|token| match &token.kind {
            TokenKind::Ident(name) | TokenKind::TypeName(name) => Some(&**name),
            _ => None,
        })
        .collect();
    let copies = named.iter().any(|name| name.starts_with("mem"));
    // The checker calls these where the program says `cudaFree` or `memcpy`.
    let is_called = |name: &str| match name.strip_prefix("__dslc_device_") {
        Some(name) => named.contains(name),
        None => named.contains(name) || (copies && name.starts_with("__dslc_mem")),
    };
    let all = functions.all.iter().map(|(_, _, name)| *name);
    functions.only(&all.filter(|name| is_called(name)).collect())
}

fn of_prelude() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| Functions::new(PRELUDE))
}

/// The prelude's functions, for suggestions: a program that misspells one has it cut out.
pub(crate) fn prelude_names() -> impl Iterator<Item = &'static str> {
    let all = of_prelude().all.iter().map(|(_, _, name)| *name);
    all.filter(|name| !name.starts_with("__dslc_"))
}

/// Names that are needed, and texts that are still to be searched because of them.
#[derive(Default)]
struct Needs {
    names: HashSet<&'static str>,
    open: Vec<&'static str>,
}

impl Needs {
    fn mention(&mut self, name: &str) {
        self.mention_one(name);
        // A call of a `double` function may mean its `float` version.
        if let Some(float) = builtin::float_version(name) {
            self.mention_one(&float);
        }
    }

    fn mention_one(&mut self, name: &str) {
        if let Some((&name, bodies)) = bodies().get_key_value(name)
            && self.names.insert(name)
        {
            self.open.extend(bodies);
            // Host code may call another form, which no text names.
            self.mention_one(&format!("__dslc_host_{name}"));
        }
    }

    fn mention_all(&mut self, text: &str) {
        for line in text.lines() {
            let code = line.split("//").next().unwrap_or(line);
            let mut rest = code.as_bytes();
            while let Some(start) = rest.iter().position(|&byte| is_word(byte)) {
                rest = &rest[start..];
                let end = rest.iter().position(|&byte| !is_word(byte));
                let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
                rest = after;
                if let Ok(word) = std::str::from_utf8(word) {
                    self.mention(word);
                }
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A mathematical part, split into functions.
#[derive(Default)]
struct Functions {
    text: &'static str,
    /// Where each begins and ends, and its name.
    all: Vec<(usize, usize, &'static str)>,
    /// The texts between them.
    outside: Vec<&'static str>,
}

/// Prefixes of a line that begins a function.
const BEGINS: &[&str] = &["__", "cudaError_t ", "template <typename T> __device__ "];

impl Functions {
    /// Cuts a text at its functions. A line that begins one is `… name(…) {`; the function ends on the same line, or on the next line that
    /// is `}`.
    fn new(text: &'static str) -> Functions {
        let mut functions = Functions {
            text,
            ..Functions::default()
        };
        let mut outside = 0;
        let mut begun: Option<(usize, &'static str)> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let end = at + line.len();
            let shown = line.trim_end();
            let is_first =
                BEGINS.iter().any(|text| line.starts_with(text)) && shown.ends_with(['{', '}']);
            if let (None, true) = (&begun, is_first)
                && let Some(name) = name_of(shown)
            {
                functions.outside.push(&text[outside..at]);
                begun = Some((at, name));
            }
            if let Some((start, name)) = begun
                && shown.ends_with('}')
                && (start == at || shown == "}")
            {
                functions.all.push((start, end, name));
                (begun, outside) = (None, end);
            }
            at = end;
        }
        functions.outside.push(&text[outside..]);
        functions
    }

    /// The text with the functions of these names.
    fn only(&self, names: &HashSet<&str>) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for &(start, end, name) in &self.all {
            out.push_str(&self.text[at..start]);
            let function = &self.text[start..end];
            if names.contains(name) {
                out.push_str(function);
            } else {
                out.extend(function.chars().filter(|&c| c == '\n'));
            }
            at = end;
        }
        out + &self.text[at..]
    }
}

/// `exp` of `__host__ __device__ double exp(double x) {`.
fn name_of(line: &'static str) -> Option<&'static str> {
    line.split_once('(')?.0.rsplit([' ', '*']).next()
}

/// The mathematical parts by name.
fn functions() -> &'static HashMap<&'static str, Functions> {
    static FUNCTIONS: OnceLock<HashMap<&'static str, Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let cut = files().iter().filter(|file| file.is_by_function());
        cut.map(|file| (file.title, Functions::new(file.text)))
            .collect()
    })
}

/// The texts of all functions of a name.
fn bodies() -> &'static HashMap<&'static str, Vec<&'static str>> {
    static BODIES: OnceLock<HashMap<&'static str, Vec<&'static str>>> = OnceLock::new();
    BODIES.get_or_init(|| {
        let mut bodies: HashMap<_, Vec<_>> = HashMap::new();
        for part in functions().values() {
            for &(start, end, name) in &part.all {
                bodies.entry(name).or_default().push(&part.text[start..end]);
            }
        }
        bodies
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax;
    use ir::source::{NoFiles, SourceFile, SourceMap};

    #[test]
    fn a_program_s_prelude_has_what_it_names() {
        let of = |text: &str| {
            let mut map = SourceMap::new();
            let file = map.add(SourceFile::new("k.k", text));
            prelude(&syntax::tokenize(&mut map, file, &syntax::Options::default(), &NoFiles).tokens)
        };
        let none = of("int main() { return 0; }");
        assert_eq!(none.lines().count(), PRELUDE.lines().count());
        assert!(none.contains("cudaErrorUnknown") && !none.contains("__dslc_"));
        assert!(!none.contains("__byte_perm") && !none.contains("cudaMemcpy2D"));
        for (text, name) in [
            (
                "__global__ void k(unsigned *p) { *p = __byte_perm(*p, 0, 1); }",
                "__byte_perm",
            ),
            (
                "#define F(x) __##x##_perm\n__global__ void k(unsigned *p) { *p = F(byte)(*p, 0, 1); }",
                "__byte_perm",
            ),
            (
                "__global__ void k(int *p) { memcpy(p, p + 8, 16); }",
                "__dslc_memcpy_4",
            ),
            (
                "__global__ void k(int *p) { cudaFree(p); }",
                "__dslc_device_cudaFree",
            ),
            (
                "__global__ void k(int **p) { cudaMalloc(p, 4); }",
                "__dslc_device_cudaMalloc",
            ),
            (
                "int main() { float *p; size_t n; cudaMallocPitch(&p, &n, 4, 4); }",
                "__dslc_malloc_pitch",
            ),
            (
                "int main() { cudaMemcpy2D(0, 1, 0, 1, 1, 1, cudaMemcpyDefault); }",
                "cudaMemcpy2D",
            ),
        ] {
            assert!(of(text).contains(&format!("{name}(")), "{text}");
        }
    }

    #[test]
    fn a_part_is_its_functions_and_what_stands_between_them() {
        for (name, part) in functions() {
            let pieces: usize = part.outside.iter().map(|text| text.len()).sum();
            let bodies: usize = part.all.iter().map(|(start, end, _)| end - start).sum();
            assert_eq!(pieces + bodies, part.text.len(), "{name}");
            // No definition of a function is left between them.
            for text in &part.outside {
                assert!(!text.contains(") {"), "{name}: {text}");
            }
            let all: HashSet<&str> = part.all.iter().map(|(_, _, name)| *name).collect();
            assert_eq!(part.only(&all), part.text, "{name}");
        }
    }

    #[test]
    fn lines_stay_where_they_are() {
        for part in functions().values() {
            let none = part.only(&HashSet::new());
            assert_eq!(none.lines().count(), part.text.lines().count());
            assert!(
                none.len() * 2 < part.text.len(),
                "most of a part is functions"
            );
        }
    }

    #[test]
    fn what_a_function_calls_is_needed_with_it() {
        let part = |name: &str| {
            let math = files().iter().filter(|file| file.name.starts_with("math"));
            let math: Vec<Part> = math.map(|file| file.part()).collect();
            let texts = needed(&[], &[name.to_string()], &math);
            texts
                .into_iter()
                .map(|(_, text)| text.into_owned())
                .collect::<String>()
        };
        let text = part("f<expf>");
        assert!(text.contains(" expf(float x)") && !text.contains(" sinf(float x)"));
        // The call may mean the version for `float`.
        assert!(part("exp").contains(" expf(float x)"));
        // No program writes the name of a function's host form.
        assert!(part("jn").contains("__dslc_host_jnf("));
    }
}
