//! Results as JUnit's XML, which services for continuous integration read.

use std::{fmt::Write, time::Duration};

/// A test and how it ended.
pub(super) struct Case<'a> {
    pub(super) file: &'a str,
    pub(super) name: &'a str,
    pub(super) time: Duration,
    /// What is wrong: empty if it passed.
    pub(super) problems: &'a [String],
}

/// The whole XML text. `bare`: files without expectations.
pub(super) fn xml(cases: &[Case<'_>], bare: &[String], time: Duration) -> String {
    let failures = cases
        .iter()
        .filter(|case| !case.problems.is_empty())
        .count();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" skipped=\"{}\" time=\"{:.3}\"",
        cases.len() + bare.len(),
        bare.len(),
        time.as_secs_f64()
    );
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"dslc\" {counts}>\n"
    );
    for case in cases {
        let _ = write!(
            text,
            "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" time=\"{:.3}\"",
            escape(case.file),
            escape(case.name),
            escape(case.file),
            case.time.as_secs_f64()
        );
        text += match case.problems {
            [] => "/>\n".to_string(),
            [first, ..] => format!(
                ">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                escape(first.lines().next().unwrap_or_default()),
                escape(&case.problems.join("\n"))
            ),
        }
        .as_str();
    }
    for file in bare {
        let file = escape(file);
        let _ = writeln!(
            text,
            "    <testcase classname=\"{file}\" name=\"{file}\" file=\"{file}\">\n      <skipped message=\"no expectations\"/>\n    </testcase>"
        );
    }
    text + "  </testsuite>\n</testsuites>\n"
}

/// Escapes text. Characters that XML does not allow become a question mark.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}
