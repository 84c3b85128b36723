//! The kernels that an object launches: their mangled names, and the words in which the front end is asked for them.

use cpp_demangle::{DemangleOptions, Symbol};
use object::{Object, ObjectSymbol};

/// What clang puts before the name of the host's function that launches a kernel.
const STUB: &str = "__device_stub__";

/// A kernel as the host's object names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    /// `_Z5scaleIfLi32EEvPT_S0_i`.
    pub(super) mangled: String,
    /// `A::scale<float, 32>`: without its parameters.
    pub(super) name: String,
    /// Its parameters' types: `float*, float, int`. Empty of a template.
    pub(super) params: String,
}

impl Wanted {
    pub(super) fn is_instance(&self) -> bool {
        self.name.ends_with('>')
    }

    /// The name without template arguments: `A::scale`.
    pub(super) fn template(&self) -> &str {
        let mut depth = 0usize;
        for (at, c) in self.name.char_indices().rev() {
            match c {
                '>' => depth += 1,
                '<' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return &self.name[..at];
                    }
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        &self.name
    }
}

/// The kernels of an object, in order of their names.
pub(super) fn kernels(object: &[u8]) -> Result<Vec<Wanted>, object::Error> {
    let file = object::File::parse(object)?;
    let names = file.symbols().filter(|symbol| symbol.is_definition());
    let mut mangled: Vec<String> = names
        .filter_map(|symbol| kernel_of_stub(symbol.name().ok()?))
        .collect();
    mangled.sort();
    mangled.dedup();
    Ok(mangled.into_iter().map(wanted).collect())
}

/// `_Z16__device_stub__kPf` launches `_Z1kPf`.
fn kernel_of_stub(symbol: &str) -> Option<String> {
    let at = symbol.find(STUB)?;
    let (before, after) = (&symbol[..at], &symbol[at + STUB.len()..]);
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (head, length) = before.split_at(before.len() - digits);
    match length.parse::<usize>() {
        Ok(length) => Some(format!("{head}{}{after}", length.checked_sub(STUB.len())?)),
        // A kernel with C's linkage.
        Err(_) => Some(after.to_string()),
    }
}

fn wanted(mangled: String) -> Wanted {
    let Ok(symbol) = Symbol::new(mangled.as_bytes()) else {
        return Wanted {
            name: mangled.clone(),
            params: String::new(),
            mangled,
        };
    };
    let without = DemangleOptions::default().no_params().no_return_type();
    let name = symbol.demangle(&without).unwrap_or_default();
    let whole = symbol
        .demangle(&DemangleOptions::default())
        .unwrap_or_default();
    let params = match whole.rfind(&name) {
        Some(at) => whole[at + name.len()..].trim(),
        None => "",
    };
    let params = params
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    Wanted {
        name: plain(&name),
        params: plain(params.unwrap_or_default()),
        mangled,
    }
}

/// Without what no source says.
fn plain(name: &str) -> String {
    name.replace("(anonymous namespace)::", "")
        .replace("[abi:cxx11]", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_tells_its_kernel() {
        assert_eq!(
            kernel_of_stub("_Z16__device_stub__kPf").as_deref(),
            Some("_Z1kPf")
        );
        assert_eq!(kernel_of_stub("__device_stub__k").as_deref(), Some("k"));
        assert_eq!(kernel_of_stub("main"), None);
    }

    #[test]
    fn names_are_as_in_the_source() {
        let one = wanted("_ZN1A5scaleIfNS_1FELi32EEEvPT_T0_i".to_string());
        assert_eq!(one.name, "A::scale<float, A::F, 32>");
        assert_eq!(one.template(), "A::scale");
        assert!(one.is_instance());
        let one = wanted("_Z1kPfi".to_string());
        assert_eq!(
            (one.name.as_str(), one.params.as_str()),
            ("k", "float*, int")
        );
        assert_eq!(one.template(), "k");
    }
}
