//! The examples of `dslc explain` for the codes of this stage: the bad one has its error, the good one does not.

use super::*;
use ir::diagnostic::Code;

/// The files that the examples include.
struct Example(&'static str);

impl Loader for Example {
    fn load(&self, name: &str, _from: &str) -> Option<Result<Included, String>> {
        let text = match name {
            "a.h" => self.0,
            "tiles.h" => "",
            _ => return None,
        };
        Some(Ok(Included {
            full_name: name.into(),
            text: text.into(),
        }))
    }
}

fn codes(text: &'static str) -> Vec<Code> {
    let (_, tokenized) = run_with(text, &Options::default(), &Example(text));
    tokenized
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect()
}

#[test]
fn examples_show_their_code() {
    for &code in Code::ALL {
        if !["E01", "E02", "W01", "W02"]
            .iter()
            .any(|stage| code.number().starts_with(stage))
        {
            continue;
        }
        if !code.bad_example().is_empty() {
            let found = codes(code.bad_example());
            assert!(
                !found.is_empty() && found.iter().all(|&other| other == code),
                "{}: {found:?}",
                code.bad_example()
            );
        }
        assert_eq!(codes(code.good_example()), [], "{}", code.good_example());
    }
}

#[test]
fn numbers_and_slugs_are_unique() {
    for (at, a) in Code::ALL.iter().enumerate() {
        for b in &Code::ALL[at + 1..] {
            assert!(
                a.number() != b.number() && a.slug() != b.slug(),
                "{a:?} {b:?}"
            );
        }
    }
}
