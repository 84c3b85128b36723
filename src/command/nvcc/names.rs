//! The kernels that an object launches: their mangled names, and the names under which the front end knows them.

use cpp_demangle::{DemangleOptions, Symbol};
use dsl::survey::OwnName;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

/// Clang's prefix for the name of the host function that launches a kernel.
const STUB: &str = "__device_stub__";

/// A kernel as the host object names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    /// `_Z5scaleIfLi32EEvPT_S0_i`.
    pub(super) mangled: String,
    /// `A::scale<float, 32>`: without its parameters.
    pub(super) name: String,
    /// Its parameters' types: `float*, float, int`. Empty for a template.
    pub(super) params: String,
}

/// A lambda as an object's names describe it: `Physics::scale(float)::{lambda(int)#1}`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LambdaName {
    /// The function that contains it, as the object names it: `Physics::scale(float)`.
    pub(super) scope: String,
    /// The same without parameters: `Physics::scale`.
    pub(super) function: String,
    /// The types of its parameters: `int`.
    pub(super) params: String,
    /// Its number among the lambdas of this function with the same parameters.
    pub(super) number: u32,
}

/// The template argument at the end of the text: after the last comma or open bracket.
fn last_argument(text: &str) -> &str {
    let mut depth = 0usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | '>' | '}' => depth += 1,
            ',' | '<' | '(' if depth == 0 => return text[at + 1..].trim_start(),
            '(' | '<' | '{' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text
}

/// The text with one word replaced.
fn with_word(text: &str, old: &str, new: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut at = 0;
    for (found, _) in text.match_indices(old) {
        let end = found + old.len();
        if found >= at && !text[..found].ends_with(is_part) && !text[end..].starts_with(is_part) {
            out += &text[at..found];
            out += new;
            at = end;
        }
    }
    out + &text[at..]
}

/// A function's name without its parameters: `Physics::scale` of `Physics::scale(float) const`.
fn function_of(scope: &str) -> &str {
    scope.split('(').next().unwrap_or(scope)
}

impl Wanted {
    /// The kernel in a program in which these names are replaced by unique ones.
    pub(super) fn with_own_names(mut self, own: &[&OwnName]) -> Wanted {
        for one in own {
            self.name = with_word(&self.name, &one.name, &one.unique);
            self.params = with_word(&self.params, &one.name, &one.unique);
        }
        self
    }

    pub(super) fn is_instance(&self) -> bool {
        self.name.ends_with('>')
    }

    /// Whether a lambda is among its template arguments.
    pub(super) fn of_lambda(&self) -> bool {
        self.name.contains("{lambda")
    }

    /// The lambdas among its template arguments, in order.
    pub(super) fn lambdas(&self) -> Vec<LambdaName> {
        let starts = self.name.match_indices("::{lambda");
        starts
            .filter_map(|(at, word)| {
                let behind = &self.name[at + word.len()..];
                let params = behind.get(1..closing(behind))?;
                let number = &behind[closing(behind)..];
                let number = number.strip_prefix(")#")?;
                let digits = number.len()
                    - number
                        .trim_start_matches(|c: char| c.is_ascii_digit())
                        .len();
                let scope = last_argument(&self.name[..at]);
                Some(LambdaName {
                    scope: scope.to_string(),
                    function: function_of(scope).to_string(),
                    params: params.to_string(),
                    number: number[..digits].parse().ok()?,
                })
            })
            .collect()
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

/// A source's own variables under the names that its object registers, and under their source names: `_ZL5table__static__bf39a87c` is
/// `table`.
pub(super) fn own_variables(object: &object::File<'_>) -> Vec<(String, String)> {
    const ENTRY: &str = ".offloading.entry.";
    const OWN: &str = "__static__";
    let symbols = object.symbols().filter_map(|symbol| symbol.name().ok());
    let entries = symbols.filter_map(|symbol| symbol.strip_prefix(ENTRY));
    let own = entries.filter_map(|registered| {
        let name = wanted(registered[..registered.rfind(OWN)?].to_string()).name;
        let name = name.rsplit("::").next().unwrap_or(&name).to_string();
        Some((registered.to_string(), name))
    });
    own.collect()
}

/// The kernels of an object, sorted by name.
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

/// The device variables that an object defines and that are visible to other objects, `managed` ones included. Clang registers the other
/// ones in a function, which refers to each.
pub(super) fn visible_variables(
    object: &[u8],
    managed: &[String],
) -> Result<Vec<String>, object::Error> {
    const REGISTERS: &str = "__cuda_register_globals";
    let file = object::File::parse(object)?;
    let is_visible = |symbol: &object::Symbol<'_, '_>| {
        symbol.is_definition()
            && symbol.is_global()
            && !symbol.is_weak()
            && symbol.kind() == SymbolKind::Data
    };
    let mut found = Vec::new();
    for function in file
        .symbols()
        .filter(|symbol| symbol.name() == Ok(REGISTERS))
    {
        let Some(section) = function.section_index() else {
            continue;
        };
        let within = function.address()..function.address() + function.size();
        let relocations = file.section_by_index(section)?.relocations();
        for (_, relocation) in relocations.filter(|(offset, _)| within.contains(offset)) {
            let object::RelocationTarget::Symbol(index) = relocation.target() else {
                continue;
            };
            let symbol = file.symbol_by_index(index)?;
            if is_visible(&symbol) {
                found.push(symbol.name()?.to_string());
            }
        }
    }
    for symbol in file.symbols().filter(is_visible) {
        let mangled = symbol.name()?;
        let name = wanted(mangled.to_string()).name;
        // dslc's headers define variables, too.
        let is_of_library = name
            .rsplit("::")
            .next()
            .unwrap_or(&name)
            .starts_with("__dslc_");
        if is_of_library || managed.contains(&name) {
            found.push(mangled.to_string());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The variables of an object that are instances of templates, mangled and as in the source: `_Z4maskIfE` is `mask<float>`.
pub(super) fn variables(object: &[u8]) -> Result<Vec<(String, String)>, object::Error> {
    let file = object::File::parse(object)?;
    let data = file
        .symbols()
        .filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Data);
    let instances = data.filter_map(|symbol| {
        let mangled = symbol.name().ok()?.to_string();
        let name = wanted(mangled.clone()).name;
        name.ends_with('>').then_some((mangled, name))
    });
    let mut found: Vec<(String, String)> = instances.collect();
    found.sort();
    Ok(found)
}

/// `_Z16__device_stub__kPf` launches `_Z1kPf`.
fn kernel_of_stub(symbol: &str) -> Option<String> {
    let at = symbol.find(STUB)?;
    let (before, after) = (&symbol[..at], &symbol[at + STUB.len()..]);
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    // An anonymous namespace is mangled to `_GLOBAL__N_1`: its digit is not part of the length.
    let of_namespace = before[..before.len() - digits].ends_with("_GLOBAL__N_");
    let digits = digits - usize::from(of_namespace && digits > 0);
    let (head, length) = before.split_at(before.len() - digits);
    match length.parse::<usize>() {
        Ok(length) => Some(format!("{head}{}{after}", length.checked_sub(STUB.len())?)),
        // A kernel with C linkage.
        Err(_) => Some(after.to_string()),
    }
}

/// A mangled name as a source spells it, without parameters: `scale<float, 32>` of `_Z5scaleIfLi32EEvPT_S0_i`.
pub(crate) fn source_name(mangled: &str) -> String {
    wanted(mangled.to_string()).name
}

fn wanted(mangled: String) -> Wanted {
    // `s` is a type as well: without its prefix a name is C's.
    let symbol = Symbol::new(mangled.as_bytes());
    let Some(symbol) = symbol.ok().filter(|_| mangled.starts_with("_Z")) else {
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

/// The name as a source spells it: without anonymous namespaces, and with constants as a programmer writes them.
fn plain(name: &str) -> String {
    let name = name
        .replace("(anonymous namespace)::", "")
        .replace("[abi:cxx11]", "")
        // An empty pack.
        .replace(", >", ">");
    let mut out = String::new();
    let mut rest = name.as_str();
    // A typed constant is `(unsigned int)128`, a function `&(sub(int, int))`.
    while let Some(at) = rest.find('(') {
        let (before, behind) = rest.split_at(at);
        let close = closing(behind);
        let (inside, after) = (&behind[1..close], &behind[close + 1..]);
        let digits = after.len() - after.trim_start_matches(is_of_number).len();
        if let Some(function) = before[..last_name(before)].strip_suffix('&') {
            // The parameters follow it, or are inside the bracket.
            out += function;
            out += &before[function.len() + 1..];
            if before.ends_with('&') {
                let named = inside.split('(').next().unwrap_or(inside);
                out += &named[last_name(named)..];
            }
            rest = after;
        } else if digits > 0 {
            out += before;
            out += &constant(inside, &after[..digits]);
            rest = &after[digits..];
        } else {
            out += before;
            out.push('(');
            rest = &behind[1..];
        }
    }
    out + rest
}

/// Where the name begins with which the text ends: `ns::f<int, 3>` of `k<float, &ns::f<int, 3>`.
fn last_name(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' if depth > 0 => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || "_:".contains(c) => {}
            _ => return at + c.len_utf8(),
        }
    }
    0
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '-'
}

/// The place of the bracket that closes the first one.
fn closing(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len() - 1
}

fn constant(ty: &str, digits: &str) -> String {
    let suffix = match ty {
        "bool" => return (digits != "0").to_string(),
        "unsigned int" => "u",
        "unsigned long" => "ul",
        "unsigned long long" => "ull",
        "long" => "l",
        "long long" => "ll",
        "char" | "signed char" | "unsigned char" | "short" | "unsigned short" | "int" => "",
        // An enumeration: the number is used for the enumerator, because a request does not know its type.
        _ => "",
    };
    format!("{digits}{suffix}")
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
        assert_eq!(
            kernel_of_stub("_ZN12_GLOBAL__N_120__device_stub__naiveEv").as_deref(),
            Some("_ZN12_GLOBAL__N_15naiveEv")
        );
    }

    #[test]
    fn lambdas_are_known_by_their_functions() {
        let one = Wanted {
            mangled: String::new(),
            name: "forall<Physics::scale(float)::{lambda(int, A<int>)#2}, main::{lambda()#1}>"
                .to_string(),
            params: String::new(),
        };
        let name = |scope: &str, function: &str, params: &str, number| LambdaName {
            scope: scope.to_string(),
            function: function.to_string(),
            params: params.to_string(),
            number,
        };
        assert_eq!(
            one.lambdas(),
            [
                name("Physics::scale(float)", "Physics::scale", "int, A<int>", 2),
                name("main", "main", "", 1)
            ]
        );
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
        let one = wanted("_Z6reduceILj256ELb1EL5Color2EEvPi".to_string());
        assert_eq!(one.name, "reduce<256u, true, 2>");
        let one = wanted("_Z1fIXadL_Z3subiiEEXadL_Z5twiceRiEEEvPi".to_string());
        assert_eq!(one.name, "f<sub, twice>");
    }

    #[test]
    fn own_names_are_whole_words() {
        assert_eq!(
            with_word("k<P, PP, a::P, P*>", "P", "P__b"),
            "k<P__b, PP, a::P__b, P__b*>"
        );
        assert_eq!(with_word("PP<p>", "P", "P__b"), "PP<p>");
    }

    #[test]
    fn functions_as_arguments_are_names() {
        assert_eq!(plain("k<float, &sq<float>(float)>"), "k<float, sq<float>>");
        assert_eq!(plain("k<&V::g<float>(float)>"), "k<V::g<float>>");
        assert_eq!(plain("k<&(float sq<float>(float))>"), "k<sq<float>>");
        assert_eq!(plain("k<&cube(float)>"), "k<cube>");
        assert_eq!(plain("k<(unsigned int)7, (bool)1>"), "k<7u, true>");
    }
}
