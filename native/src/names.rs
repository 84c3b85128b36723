//! Names of variables in the IR and in objects, where they may be mangled.

/// Whether a variable of the IR is the one with the object's name, which may be mangled or without its namespaces.
pub(crate) fn same_name(known: &str, registered: &str) -> bool {
    let last = |name: &str| {
        let (name, args) = name.split_at(name.find('<').unwrap_or(name.len()));
        let name = name.rsplit("::").next().unwrap_or(name);
        format!("{name}{}", plain_arguments(args))
    };
    known == registered || last(known) == last(&demangled(registered))
}

/// Template arguments without the parts that have several spellings: spaces, and suffixes of numbers.
fn plain_arguments(args: &str) -> String {
    let mut out = String::new();
    let mut in_number = false;
    for c in args.chars().filter(|c| !c.is_whitespace()) {
        let is_suffix = in_number && matches!(c, 'u' | 'U' | 'l' | 'L');
        let continues_name = out.ends_with(|last: char| last.is_alphabetic() || last == '_');
        in_number = is_suffix || (c.is_ascii_digit() && (in_number || !continues_name));
        if !is_suffix {
            out.push(c);
        }
    }
    out
}

/// The last component of a mangled name of a variable (`_ZN1A3tabE`), or the name as it is.
fn demangled(name: &str) -> String {
    let Some(mut rest) = name.strip_prefix("_Z") else {
        return name.to_string();
    };
    rest = rest.strip_prefix(['N', 'L']).unwrap_or(rest);
    let mut last = String::new();
    loop {
        rest = rest.strip_prefix('L').unwrap_or(rest);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(length) = rest[..digits].parse::<usize>() else {
            break;
        };
        let Some(component) = rest.get(digits..digits + length) else {
            break;
        };
        last = component.to_string();
        rest = &rest[digits + length..];
    }
    if last.is_empty() {
        name.to_string()
    } else {
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables_are_compared_by_their_last_part() {
        assert!(same_name("tab", "tab"));
        assert!(same_name("mask<float, 8>", "n::mask<float, 8ul>"));
        assert!(!same_name("mask<float, 8>", "mask<int, 8>"));
        assert!(!same_name("mask<float>", "mask"));
        assert!(same_name("A::tab", "_ZN1A3tabE"));
        assert!(same_name("counter", "_ZL7counter"));
        assert!(same_name("counter", "_ZN12_GLOBAL__N_17counterE"));
        assert!(!same_name("counter", "_ZN12_GLOBAL__N_14tailE"));
    }
}
