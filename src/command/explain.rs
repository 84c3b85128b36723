//! `dslc explain CODE`: what a message means, why it matters, a bad and a good example.

use std::fmt::Write;

use ir::diagnostic::Code;
use report::text::Style;

mod topics;

use crate::{args::ExplainArgs, failure::Failure, output};

/// Most columns of prose.
const MOST_COLUMNS: usize = 90;

pub(crate) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let Some(wanted) = &args.code else {
        let mut text = String::new();
        for code in Code::ALL {
            let _ = writeln!(text, "{}  {}", code.number(), code.slug());
        }
        let names: Vec<&str> = topics::names().collect();
        text += &format!(
            "\n{}\n",
            wrap(&format!("and, in words: {}", names.join(", ")))
        );
        output::out(text.as_bytes());
        return Ok(0);
    };
    let matches = |code: &&Code| {
        code.number().eq_ignore_ascii_case(wanted) || code.slug() == wanted.to_lowercase()
    };
    let Some(&code) = Code::ALL.iter().find(matches) else {
        if let Some(topic) = topics::find(wanted) {
            output::out(topic.text().as_bytes());
            return Ok(0);
        }
        let names = Code::ALL
            .iter()
            .flat_map(|code| [code.number(), code.slug()])
            .chain(topics::names());
        let nearest = ir::suggest::nearest(wanted, names);
        let hint = nearest.map_or_else(
            || "`dslc explain` lists them".to_string(),
            |name| format!("did you mean `{name}`?"),
        );
        return Err(Failure::new(format!(
            "there is no code or word `{wanted}`: {hint}"
        )));
    };
    let mut text = format!(
        "{} {}\n\n{}\n",
        code.number(),
        code.slug(),
        wrap(code.why())
    );
    for (title, example) in [
        ("Wrong", code.bad_example()),
        ("Right", code.good_example()),
    ] {
        if !example.is_empty() {
            let _ = write!(text, "\n{title}:\n\n");
            for line in example.lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    output::out(text.as_bytes());
    Ok(0)
}

/// The codes that belong to a word such as `race`; empty for an unknown word.
pub(super) fn codes_of(word: &str) -> &'static [Code] {
    topics::codes(word)
}

/// Breaks lines at spaces so that no line is wider than the terminal, or too wide to read. A single long word may be.
fn wrap(text: &str) -> String {
    let columns = output::columns().min(MOST_COLUMNS);
    let style = Style {
        columns,
        color: false,
    };
    style.paragraph("", text, None).trim_end().to_string()
}
