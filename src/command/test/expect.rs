//! Parses a program's expectations: `//~ clean`, `//~ transactions tile[threadIdx.x][threadIdx.y] <= 128`, `//~ arch sm_35 sm_90`.

use std::ops::Range;

use ir::suggest;
use report::{access::COUNTS, require::Requirement};

use super::kinds;

/// All expectations of a program.
#[derive(Default)]
pub(super) struct Expected {
    pub(super) all: Vec<Expectation>,
    pub(super) archs: Vec<String>,
    /// The arguments of each run.
    pub(super) args: Vec<Vec<String>>,
    /// Options of `dslc run`.
    pub(super) options: Vec<String>,
    /// Comments that cannot be parsed: the line, and why.
    pub(super) wrong: Vec<(u32, String)>,
}

/// One thing that is expected.
pub(super) struct Expectation {
    /// The line of the comment.
    pub(super) line: u32,
    /// The range of the comment in the text, from `//~` on.
    pub(super) place: Range<usize>,
    /// The line it is about; `None` for the whole program.
    pub(super) about: Option<u32>,
    pub(super) what: What,
    /// Its words.
    pub(super) text: String,
}

pub(super) enum What {
    /// No finding, and exit code 0.
    Clean,
    /// No bank conflict.
    ConflictFree,
    /// A finding of this kind.
    Finding(String),
    Require(Box<Requirement>),
    /// The same, but also met by a program in which it looks at nothing.
    RequireIfAny(Box<Requirement>),
    Exit(i32),
    /// A message of the compiler.
    Error(String),
    /// A part of the program's output.
    Prints(String),
}

/// The first words of expectations, except kinds of findings and counts.
const WORDS: [&str; 10] = [
    "clean",
    "conflict-free",
    "require",
    "require-if-any",
    "arch",
    "args",
    "options",
    "exit",
    "error",
    "prints",
];

impl Expectation {
    /// Whether it is from a file for many programs.
    pub(super) fn is_common(&self) -> bool {
        self.place.is_empty()
    }
}

impl Expected {
    /// Whether there is any expectation.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.wrong.is_empty()
    }

    pub(super) fn read(source: &str) -> Expected {
        let mut expected = Expected::default();
        let mut start = 0;
        for (line, number) in source.split_inclusive('\n').zip(1..) {
            let mut marks = line.match_indices("//~").map(|(at, _)| at).peekable();
            let first = marks.peek().copied().unwrap_or_default();
            let is_alone = line[..first].trim().is_empty();
            while let Some(at) = marks.next() {
                let end = marks.peek().copied().unwrap_or(line.len());
                let text = line[at + 3..end].trim();
                let above = text.bytes().take_while(|byte| *byte == b'^').count();
                let about = match (above, is_alone) {
                    (0, true) => None,
                    (above, _) => Some(u32::saturating_sub(number, above as u32)),
                };
                let text = text[above..].trim();
                let length = line[at..end].trim_end().len();
                let place = start + at..start + at + length;
                if let Err(why) = expected.add(number, place, about, text) {
                    expected.wrong.push((number, why));
                }
            }
            start += line.len();
        }
        expected
    }

    /// Parses a file of expectations, each about a whole program: one in a line, with or without `//~`. Lines that begin with `#` are
    /// comments.
    pub(super) fn add_file(&mut self, text: &str, name: &str) -> Result<(), String> {
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            let line = line.strip_prefix("//~").unwrap_or(line).trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // It has no line in the program, and no place in its text that could be blessed.
            self.add(0, 0..0, None, line)
                .map_err(|why| format!("{name}:{number}: {why}"))?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        line: u32,
        place: Range<usize>,
        about: Option<u32>,
        text: &str,
    ) -> Result<(), String> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let words = || shlex::split(rest).ok_or("a quotation mark is not closed".to_string());
        let what = match word {
            "clean" => What::Clean,
            "conflict-free" => What::ConflictFree,
            "require" => What::Require(requirement(rest)?),
            "require-if-any" => What::RequireIfAny(requirement(rest)?),
            "arch" => {
                let names = rest.split([' ', ',']).filter(|name| !name.is_empty());
                self.archs.extend(names.map(str::to_string));
                return Ok(());
            }
            "args" => {
                self.args.push(words()?);
                return Ok(());
            }
            "options" => {
                self.options.extend(words()?);
                return Ok(());
            }
            "exit" => What::Exit(
                rest.parse()
                    .map_err(|_| format!("`exit {rest}`: expected the exit code, a number"))?,
            ),
            "error" | "prints" if rest.is_empty() => {
                return Err(format!("`{word}` needs a text behind it"));
            }
            "error" => What::Error(rest.to_string()),
            "prints" => What::Prints(rest.to_string()),
            count if COUNTS.contains(&count) => {
                let (access, compare) = access_and_comparison(rest)?;
                let access = match (access, about) {
                    ("", Some(line)) => format!("line {line}"),
                    ("", None) => return Err(no_access(rest)),
                    (access, _) => access.to_string(),
                };
                What::Require(requirement(&format!("{count}({access}) {compare}"))?)
            }
            _ if is_condition(text) => What::Require(requirement(text)?),
            kind if kinds::is_kind(kind) && rest.is_empty() => What::Finding(kind.to_string()),
            kind if kinds::is_kind(kind) => {
                return Err(format!("`{kind}` takes nothing behind it: remove `{rest}`"));
            }
            other => return Err(joined(text).unwrap_or_else(|| unknown(other))),
        };
        let is_bare = matches!(what, What::Clean | What::ConflictFree) && !rest.is_empty();
        if is_bare {
            return Err(format!("`{word}` takes nothing more: remove `{rest}`"));
        }
        self.all.push(Expectation {
            line,
            place,
            about,
            what,
            text: text.to_string(),
        });
        Ok(())
    }
}

/// Whether a text is a condition on an access, in the syntax of `require`: `sectors(x[i]) <= 4`.
fn is_condition(text: &str) -> bool {
    let name = text.split_once('(').map(|(name, _)| name);
    name.is_some_and(|name| COUNTS.contains(&name))
}

/// `data race` for `data-race`, `conflict free` for `conflict-free`.
fn joined(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().take(4).collect();
    let found = (2..=words.len()).find_map(|n| {
        let joined = words[..n].join("-");
        (WORDS.contains(&joined.as_str()) || kinds::is_kind(&joined)).then_some(joined)
    })?;
    Some(format!(
        "there is no expectation `{}`: did you mean `{found}`?",
        words[0]
    ))
}

fn unknown(word: &str) -> String {
    let words = WORDS.iter().chain(COUNTS).copied();
    let nearest = suggest::nearest(word, words.chain(kinds::names()));
    let hint = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!(
            "expected {}, a count of an access, or a kind of finding",
            WORDS.join(", ")
        ),
    };
    format!("there is no expectation `{word}`: {hint}")
}

fn requirement(text: &str) -> Result<Box<Requirement>, String> {
    Requirement::parse(text)
        .map(Box::new)
        .map_err(|problem| format!("`{text}`: {problem}"))
}

fn no_access(text: &str) -> String {
    format!(
        "`{text}`: expected the text of an access before the comparison, `tile[threadIdx.x] <= 128`; only at a line's end it may be left out"
    )
}

/// The text of an access, and the comparison after it: the last one outside of brackets. The first part is empty if there is no text.
fn access_and_comparison(text: &str) -> Result<(&str, &str), String> {
    let (mut depth, mut found) = (0, None);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'<' | b'>' | b'=' | b'!' if depth == 0 => {
                let is_second = at > 0 && matches!(bytes[at - 1], b'<' | b'>' | b'=' | b'!');
                if !is_second {
                    found = Some(at);
                }
            }
            _ => {}
        }
    }
    found
        .map(|at| (text[..at].trim(), &text[at..]))
        .ok_or_else(|| {
            format!("`{text}`: expected a comparison behind the access: `tile[threadIdx.x] <= 128`")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_about_their_line_the_ones_above_or_the_program() {
        let source = "//~ clean\nx = 1; //~ race //~ exit 3\n//~^ race\n//~ arch sm_35, sm_90\n//~ args 64 \"a b\"\n";
        let expected = Expected::read(source);
        let about = expected.all.iter().map(|one| (one.line, one.about));
        assert_eq!(
            about.collect::<Vec<_>>(),
            [(1, None), (2, Some(2)), (2, Some(2)), (3, Some(2))]
        );
        assert_eq!(expected.archs, ["sm_35", "sm_90"]);
        assert_eq!(expected.args, [["64", "a b"]]);
        assert!(expected.wrong.is_empty());
        assert_eq!(&source[expected.all[1].place.clone()], "//~ race");
    }

    #[test]
    fn an_access_ends_before_the_last_comparison() {
        let cases = [
            ("x[i] <= 4", Some(("x[i]", "<= 4"))),
            ("x[i < n ? i : 0]==4", Some(("x[i < n ? i : 0]", "==4"))),
            ("load t[a][b] != 3", Some(("load t[a][b]", "!= 3"))),
            ("x[i]", None),
            ("<= 3", Some(("", "<= 3"))),
        ];
        for (text, expected) in cases {
            assert_eq!(access_and_comparison(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn what_means_nothing_is_told() {
        let cases = [
            (
                "//~ claen",
                "there is no expectation `claen`: did you mean `clean`?",
            ),
            ("//~ clean now", "`clean` takes nothing more: remove `now`"),
            (
                "//~ exit one",
                "`exit one`: expected the exit code, a number",
            ),
            (
                "//~ sectors(x[i] <= 4",
                "`sectors(x[i] <= 4`: this bracket is not closed",
            ),
            ("//~ error", "`error` needs a text behind it"),
        ];
        for (source, why) in cases {
            assert_eq!(Expected::read(source).wrong, [(1, why.to_string())]);
        }
    }
}
