//! Compares a run, or the compiler's messages, with the expectations.

use interp::{Severity as Grave, Site};
use ir::{
    Module, Space,
    diagnostic::{Diagnostic, Severity},
    span::FileId,
};
use report::{findings::Found, require::shown};

use super::{
    expect::{Expectation, Expected, What},
    kinds,
};
use crate::{batch::Ran, source::Loaded};

/// A difference from the expectations.
pub(super) struct Problem {
    /// The file that it is in, if that is not the program itself but one of its includes.
    pub(super) file: Option<String>,
    /// Its line, 0 for none.
    pub(super) line: u32,
    /// The comment that expected something else; empty for something unexpected.
    pub(super) expected: String,
    /// One sentence, possibly with more lines.
    pub(super) why: String,
    /// How `--bless` resolves it.
    pub(super) bless: Option<Bless>,
}

/// A change of comments that resolves a problem.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bless {
    /// The values of this expectation's only metric where it was not met.
    Number(usize, Vec<f64>),
    /// The program ends with an exit code other than this expectation's.
    Exit(usize, i32),
    /// There is nothing that this expectation matches.
    Missed(usize),
    /// A finding that no comment expects: its line and kind.
    Add(u32, String),
}

impl Problem {
    fn of(expectation: &Expectation, why: impl Into<String>) -> Problem {
        Problem {
            file: None,
            line: expectation.about.unwrap_or(expectation.line),
            expected: expectation.text.clone(),
            why: why.into(),
            bless: None,
        }
    }

    fn unexpected((file, line): Place, why: String) -> Problem {
        Problem {
            file,
            line,
            expected: String::new(),
            why,
            bless: None,
        }
    }

    fn bless(mut self, bless: Bless) -> Problem {
        self.bless = Some(bless);
        self
    }
}

/// An included file (`None` for the program itself), and a line. Line 0 means no line.
type Place = (Option<String>, u32);

/// Where a message of the compiler is.
fn place_of(diagnostic: &Diagnostic, loaded: &Loaded) -> Place {
    let span = loaded.map.use_site(diagnostic.primary.span);
    let file = loaded.map.file(span.file);
    let name = (span.file != PROGRAM).then(|| file.name.clone());
    (name, file.line_column(span.start).0)
}

/// The file of the test: the first one that is read.
const PROGRAM: FileId = FileId(0);

/// Compares the compiler's messages with the expectations.
pub(super) fn of_messages(expected: &Expected, loaded: &Loaded) -> Vec<Problem> {
    let is_meant = |one: &Expectation, diagnostic: &Diagnostic| {
        let is_at = |about| place_of(diagnostic, loaded) == (None, about);
        let is_there = one.about.is_none_or(is_at);
        is_there
            && match &one.what {
                What::Error(text) => {
                    diagnostic.severity == Severity::Error && diagnostic.message.contains(text)
                }
                What::Finding(word) => kinds::is_message(word, diagnostic.code),
                _ => false,
            }
    };
    let has_errors = loaded.has_errors();
    let errors = loaded.diagnostics.iter();
    let errors = errors.filter(|diagnostic| diagnostic.severity == Severity::Error);
    let unexpected = errors.filter(|error| !expected.all.iter().any(|one| is_meant(one, error)));
    let mut problems: Vec<Problem> = unexpected
        .map(|error| {
            let why = format!("error[{}]: {}", error.code.number(), error.message);
            Problem::unexpected(place_of(error, loaded), why)
        })
        .collect();
    let says_why = !problems.is_empty();
    for one in &expected.all {
        let is_met = loaded
            .diagnostics
            .iter()
            .any(|diagnostic| is_meant(one, diagnostic));
        let is_of_messages = matches!(one.what, What::Error(_));
        if is_of_messages && !is_met {
            problems.push(Problem::of(one, "the compiler does not say so"));
        } else if has_errors && !is_met && !says_why {
            problems.push(Problem::of(one, "the program does not compile"));
        }
    }
    problems
}

/// Compares a run with the expectations.
pub(super) fn of_run(
    expected: &Expected,
    ran: &Ran,
    loaded: &Loaded,
    module: &Module,
) -> Vec<Problem> {
    let judge = Judge {
        expected,
        ran,
        loaded,
        module,
    };
    // Errors of the program come first: some services show nothing else.
    let mut problems = judge.unexpected();
    let all = expected.all.iter().enumerate();
    problems.extend(all.flat_map(|(at, one)| judge.one(at, one)));
    problems
}

struct Judge<'a> {
    expected: &'a Expected,
    ran: &'a Ran,
    loaded: &'a Loaded,
    module: &'a Module,
}

impl Judge<'_> {
    /// The lines of the program's own file that a finding is about.
    fn lines<'a>(&'a self, found: &'a Found) -> impl Iterator<Item = u32> + 'a {
        let locs = found.sides.iter().map(|side| self.module.loc(side.loc));
        locs.filter(|loc| loc.file == 0 && loc.line > 0)
            .map(|loc| loc.line)
    }

    /// Where a finding is: in the program itself, if one of its accesses is.
    fn place(&self, found: &Found) -> Place {
        if let Some(line) = self.lines(found).next() {
            return (None, line);
        }
        let mut locs = found.sides.iter().map(|side| self.module.loc(side.loc));
        let loc = locs.find(|loc| loc.line > 0);
        loc.map_or((None, 0), |loc| self.named(loc.file, loc.line))
    }

    fn named(&self, file: u32, line: u32) -> Place {
        let name = self.module.files.get(file as usize).filter(|_| file != 0);
        (name.cloned(), line)
    }

    fn is_met_by(&self, one: &Expectation, found: &Found) -> bool {
        let is_there = one
            .about
            .is_none_or(|about| self.lines(found).any(|line| line == about));
        matches!(&one.what, What::Finding(word) if kinds::is_of(word, found)) && is_there
    }

    fn one(&self, at: usize, one: &Expectation) -> Vec<Problem> {
        let outcome = &self.ran.outcome;
        let problem = match &one.what {
            What::Clean if outcome.launches.is_empty() => Some(Problem::of(
                one,
                "it looked at nothing: no kernel was launched",
            )),
            What::Clean | What::Error(_) => None,
            What::ConflictFree => return self.conflicts(one),
            What::Finding(_) => self.finding(at, one),
            What::Require(requirement) | What::RequireIfAny(requirement) => {
                let judged = requirement.judge(&outcome.launches, &self.ran.rules);
                let judged = match one.what {
                    What::RequireIfAny(_) => judged.if_any(),
                    _ => judged,
                };
                (!judged.met).then(|| {
                    let problem = Problem::of(one, judged.why());
                    let values = judged.failed.iter().map(|failed| match &*failed.values {
                        [(_, Some(value))] => Some(*value),
                        _ => None,
                    });
                    match values.collect::<Option<Vec<f64>>>() {
                        Some(values) if judged.nothing.is_none() => {
                            problem.bless(Bless::Number(at, values))
                        }
                        _ => problem,
                    }
                })
            }
            What::Exit(code) => {
                let seen = outcome.exit_code;
                (seen != *code).then(|| {
                    Problem::of(one, format!("it ended with exit code {seen}"))
                        .bless(Bless::Exit(at, seen))
                })
            }
            What::Prints(text) => {
                let printed = String::from_utf8_lossy(&self.ran.stdout);
                (!printed.contains(text)).then(|| Problem::of(one, quoted(&printed)))
            }
        };
        problem.into_iter().collect()
    }

    fn finding(&self, at: usize, one: &Expectation) -> Option<Problem> {
        let What::Finding(word) = &one.what else {
            return None;
        };
        let mut found = self.ran.found.iter();
        let mut messages = self.loaded.diagnostics.iter();
        let is_said = |diagnostic: &Diagnostic| {
            let is_at = |about| place_of(diagnostic, self.loaded) == (None, about);
            one.about.is_none_or(is_at) && kinds::is_message(word, diagnostic.code)
        };
        if found.any(|found| self.is_met_by(one, found)) || messages.any(is_said) {
            return None;
        }
        let others = self
            .ran
            .found
            .iter()
            .filter(|found| kinds::is_of(word, found));
        let lines: Vec<String> = others
            .flat_map(|found| self.lines(found))
            .map(|line| line.to_string())
            .collect();
        let why = match (one.about, lines.is_empty()) {
            (None, _) | (_, true) => format!("no `{word}` was found"),
            (Some(_), false) => format!(
                "no `{word}` was found here, but at line {}",
                lines.join(", ")
            ),
        };
        Some(Problem::of(one, why).bless(Bless::Missed(at)))
    }

    /// Bank conflicts of the program, or of the expectation's line.
    fn conflicts(&self, one: &Expectation) -> Vec<Problem> {
        let is_meant = |site: &&Site| {
            site.space == Space::Shared
                && one
                    .about
                    .is_none_or(|about| site.file == 0 && site.line == about)
        };
        let kept = self.ran.outcome.launches.kept().iter();
        let sites = kept.flat_map(|kept| kept.report.sites.iter().filter(is_meant));
        let (mut problems, mut requests, mut told) = (vec![], 0, vec![]);
        for site in sites {
            let (counts, place) = (&site.counts, (site.file, site.line, site.column));
            requests += counts.requests;
            let is_free = counts.bank_conflicts() == 0 && !counts.not_modelled();
            if is_free || told.contains(&place) {
                continue;
            }
            told.push(place);
            let why = match counts.not_modelled() {
                true => format!(
                    "`{}`: {} has no rule for it",
                    site.text, self.ran.rules.arch
                ),
                false => format!(
                    "{} of `{}`: {} transactions, {} without conflicts",
                    site.op, site.text, counts.transactions, counts.ideal
                ),
            };
            problems.push(Problem {
                file: self.named(site.file, site.line).0,
                line: site.line,
                ..Problem::of(one, why)
            });
        }
        // Some of many programs may have no shared memory.
        if requests == 0 && !one.is_common() {
            let here = one.about.map_or("", |_| " at this line");
            let why =
                format!("it looked at nothing: no access to shared memory was executed{here}");
            problems.push(Problem::of(one, why));
        }
        problems
    }

    /// Unexpected errors and warnings, and an unexpected exit code other than 0.
    fn unexpected(&self) -> Vec<Problem> {
        let outcome = &self.ran.outcome;
        let (mut problems, mut has_fault) = (vec![], false);
        for found in &self.ran.found {
            let mut all = self.expected.all.iter();
            if all.any(|one| self.is_met_by(one, found)) {
                has_fault = true;
                continue;
            }
            if found.severity < Grave::Warning {
                continue;
            }
            // Most messages begin with their kind.
            let (kind, message) = (found.kind, found.message.as_str());
            let said = message.strip_prefix(kind);
            let said = said.and_then(|rest| rest.strip_prefix(": "));
            let why = format!(
                "unexpected {} {kind}: {}",
                found.severity,
                said.unwrap_or(message)
            );
            let place = self.place(found);
            let own_line = (place.0.is_none() && place.1 > 0).then_some(place.1);
            let problem = Problem::unexpected(place, why);
            problems.push(match own_line {
                Some(line) => problem.bless(Bless::Add(line, found.kind.to_string())),
                None => problem,
            });
        }
        let is_exit = |one: &Expectation| matches!(one.what, What::Exit(_));
        if self.expected.all.iter().any(is_exit) {
            return problems;
        }
        let notes = outcome.notes.iter();
        for note in notes.filter(|note| note.is_error && note.fault.is_none()) {
            let loc = self.module.loc(note.loc);
            problems.push(Problem::unexpected(
                self.named(loc.file, loc.line),
                format!("unexpected: {}", note.text),
            ));
        }
        if outcome.exit_code != 0 && !has_fault && problems.is_empty() {
            let printed = quoted(&String::from_utf8_lossy(&self.ran.stdout));
            let why = format!("it ended with exit code {}; {printed}", outcome.exit_code);
            problems.push(Problem::unexpected((None, 0), why));
        }
        problems
    }
}

/// The last lines of a program's output.
fn quoted(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().collect();
    let from = lines.len().saturating_sub(5);
    match lines.is_empty() {
        true => "it printed nothing".to_string(),
        false => format!("it printed:\n| {}", visible(&lines[from..].join("\n| "))),
    }
}

/// The text without characters that control a terminal.
fn visible(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' { '?' } else { c };
    text.chars().map(shown).collect()
}

/// A number as comments spell it.
pub(super) fn number(value: f64) -> String {
    shown(value)
}
