//! Words of command lines that `dslc` and the programs of `dslc nvcc` share: sizes and names of checks.
//!
//! Each function parses one word and returns its value, or one phrase that says what was expected.

use interp::{Check, Checks, Shortcut, Shortcuts};

/// A number of bytes: `1000000`, `512M`, `4GiB`. Each unit is 1024 times the one before.
///
/// # Errors
///
/// A phrase that says what was expected.
pub fn bytes_of(text: &str) -> Result<u64, String> {
    let expected = || "expected a number of bytes: 1000000, 512M, 4GiB".to_string();
    let text = text.trim().to_ascii_lowercase();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit.trim() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(expected()),
    };
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(expected)
}

/// The shortcuts that are left without those named, `replay,rounds`; without any for `all`.
pub fn without(text: &str) -> Result<Shortcuts, String> {
    if text == "all" {
        return Ok(Shortcuts::NONE);
    }
    let parsed = text.split(',').map(|word| word.trim().parse::<Shortcut>());
    let mut left = Shortcuts::ALL;
    for shortcut in parsed {
        left = left.without(shortcut?);
    }
    Ok(left)
}

/// A word of `--checks`: a check's name, the `kind` of its findings, `all` or `none`.
///
/// # Errors
///
/// The nearest name, or all names.
pub fn checks_of(word: &str) -> Result<Checks, String> {
    let name = word.trim().to_lowercase().replace('-', "_");
    let check = match name.as_str() {
        "all" => return Ok(Checks::ALL),
        "none" => return Ok(Checks::NONE),
        "uninitialized" => Some(Check::Uninit),
        "barrier_divergence" => Some(Check::Barrier),
        "invalid_mask" => Some(Check::Mask),
        "division_by_zero" => Some(Check::Arithmetic),
        name => Check::from_name(name),
    };
    let names = Check::ALL.map(Check::name);
    check.map(|check| Checks::NONE.with(check)).ok_or_else(|| {
        match ir::suggest::nearest(&name, names) {
            Some(nearest) => format!("there is no such check; did you mean `{nearest}`?"),
            None => format!("there is no such check; there are {}", names.join(", ")),
        }
    })
}

/// The checks that any of several words names.
#[must_use]
pub fn any_of(words: &[Checks]) -> Checks {
    let is_named = |check: &Check| words.iter().any(|word| word.has(*check));
    Check::ALL.into_iter().filter(is_named).collect()
}
