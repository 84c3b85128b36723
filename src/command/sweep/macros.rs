//! Checks that the programs of a sweep read the macros that it sets. If they do not, all results are equal, and each would be the best.

use std::collections::BTreeSet;

use super::spec::{Axis, Kind, Spec};
use crate::{failure::Failure, source};

/// Refuses macros that no program reads, and those that a program itself defines.
pub(super) fn check(spec: &Spec) -> Result<(), Failure> {
    let macros: Vec<&Axis> = of_kind(spec, Kind::Macro).collect();
    if macros.is_empty() {
        return Ok(());
    }
    let programs = of_kind(spec, Kind::Program).flat_map(|axis| &axis.values);
    let mut uses = vec![Use::default(); macros.len()];
    for program in programs {
        let path = spec.folder.join(program.text());
        for (name, text) in source::texts(&path, &spec.include) {
            for (axis, found) in macros.iter().zip(&mut uses) {
                found.look(&axis.name, &name, &text);
            }
        }
    }
    for (axis, found) in macros.iter().zip(uses) {
        let name = &axis.name;
        if let Some((file, line)) = found.own_definition {
            return Err(Failure::new(format!(
                "`{name}` of [macros]: {file}:{line} defines it itself, so that the sweep's value is never used; put that line between \
                 `#ifndef {name}` and `#endif`"
            )));
        }
        if !found.is_read {
            return Err(Failure::new(format!(
                "`{name}` of [macros]: no program of the sweep reads it{}",
                found.near(name)
            )));
        }
    }
    Ok(())
}

fn of_kind(spec: &Spec, kind: Kind) -> impl Iterator<Item = &Axis> {
    spec.axes.iter().filter(move |axis| axis.kind == kind)
}

/// What comes after a line's `#`.
fn directive(line: &str) -> Option<&str> {
    Some(line.trim_start().strip_prefix('#')?.trim_start())
}

/// How programs use a macro.
#[derive(Clone, Debug, Default)]
struct Use {
    is_read: bool,
    /// A definition outside of all conditions.
    own_definition: Option<(String, usize)>,
    /// Words that look like macros.
    capitals: BTreeSet<String>,
}

impl Use {
    /// A name in capitals that the programs read and that may be meant.
    fn near(&self, name: &str) -> String {
        let names = self.capitals.iter().map(String::as_str);
        match ir::suggest::nearest(name, names) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        }
    }

    fn look(&mut self, name: &str, file: &str, text: &str) {
        let mut conditions = 0usize;
        let is_capital = |word: &&str| {
            word.starts_with(|c: char| c.is_ascii_uppercase())
                && !word.contains(|c: char| c.is_ascii_lowercase())
        };
        let capitals = text.split(|letter| !is_letter(letter)).filter(is_capital);
        self.capitals.extend(capitals.map(str::to_string));
        for (line, number) in text.lines().zip(1..) {
            let has_it = has_word(line, name);
            let Some(words) = directive(line) else {
                self.is_read |= has_it;
                continue;
            };
            if words.starts_with("if") {
                conditions += 1;
            } else if words.starts_with("endif") {
                conditions = conditions.saturating_sub(1);
            }
            let defined = words.strip_prefix("define").map(str::trim_start);
            let is_own = defined.is_some_and(|rest| has_word(first_word(rest), name));
            self.is_read |=
                has_it && !is_own && !words.starts_with("undef") && !words.starts_with("ifndef");
            if is_own && conditions == 0 && self.own_definition.is_none() {
                self.own_definition = Some((file.to_string(), number));
            }
        }
    }
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn first_word(text: &str) -> &str {
    text.split(|letter| !is_letter(letter)).next().unwrap_or("")
}

fn has_word(line: &str, name: &str) -> bool {
    line.split(|letter| !is_letter(letter))
        .any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (bool, Option<usize>) {
        let mut found = Use::default();
        found.look("TILE", "a.cu", text);
        (found.is_read, found.own_definition.map(|(_, line)| line))
    }

    #[test]
    fn what_a_program_does_with_a_macro() {
        assert_eq!(of("__shared__ float s[TILE];\n"), (true, None));
        assert_eq!(of("#define TILE 32\nint a[TILE];\n"), (true, Some(1)));
        assert_eq!(
            of("#ifndef TILE\n#define TILE 32\n#endif\nint a[TILE];\n"),
            (true, None)
        );
        assert_eq!(
            of("#if !defined(TILE)\n#  define TILE 32\n#endif\nint a[TILE];\n"),
            (true, None)
        );
        assert_eq!(
            of("#ifdef A\n#define TILE 32\n#endif\nint a[TILE];\n"),
            (true, None)
        );
        assert_eq!(of("#define SIZE (TILE * 2)\nint a[SIZE];\n"), (true, None));
        assert_eq!(of("#if TILE > 8\nint a;\n#endif\n"), (true, None));
        assert_eq!(of("int TILES[TILE_SIZE];\n"), (false, None));
        assert_eq!(of("#ifndef TILE\n#define TILE 1\n#endif\n"), (false, None));
    }
}
