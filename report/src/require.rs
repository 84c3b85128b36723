//! Requirements: `'transpose*: shared_load_bank_conflicts == 0 && gst_efficiency > 0.9'`.
//!
//! A requirement is a text: a pattern of kernel names before the colon, then a condition. Judging it against the launches of a run tells
//! whether each launch of such a kernel meets it, what it looked at, and the values of the launches that fail. A requirement that looked at
//! nothing is not met: there is no launch of such a kernel, or not one of the accesses that one of its metrics counts.

use std::fmt::Write;

use interp::{LaunchReport, rules::RuleSet};
use ir::{suggest, symbol::template_name};
use runtime::launches::{IdenticalLaunches, Launches, site_key};
use serde::{Serialize, Serializer};

use crate::{
    expr::{Expr, Names, NotModelled, Problem, Seen, Unknown},
    measure::Measure,
    text::{Paint, Style},
};

/// Most failing launches that are shown one by one.
const SHOWN: usize = 5;

/// A requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The requirement as written.
    pub text: String,
    kernels: Option<String>,
    expr: Expr,
    measures: Measures,
}

/// The measures that an expression names, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures(pub Vec<Measure>);

impl Names for Measures {
    fn number_of(&mut self, name: &str, access: Option<&str>) -> Result<usize, Unknown> {
        let measure = Measure::named(name, access)?;
        let known = self.0.iter().position(|known| *known == measure);
        Ok(known.unwrap_or_else(|| {
            self.0.push(measure);
            self.0.len() - 1
        }))
    }
}

/// The result of judging a requirement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The requirement as written.
    pub requirement: String,
    /// The architecture.
    pub arch: String,
    /// Whether it is met.
    pub met: bool,
    /// The number of launches for which the condition has a value.
    pub launches: u64,
    /// What each of its metrics looked at.
    pub looked: Vec<LookedAt>,
    /// The launches that do not meet it, equal ones once.
    pub failed: Vec<Failed>,
    /// Why it looked at nothing, if so.
    pub nothing: Option<String>,
}

/// What a metric looked at, in all launches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LookedAt {
    /// The metric.
    pub metric: String,
    /// Accesses of the source; `None` for a metric that is not about accesses.
    pub accesses: Option<usize>,
    /// How often warps executed them.
    pub executed: Option<u64>,
}

/// A launch that does not meet a requirement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failed {
    /// The kernel.
    pub kernel: String,
    /// The number of the first such launch.
    pub launch: usize,
    /// How many equal launches there are.
    pub launches: u64,
    /// The line of the launch; 0 if it is not in a source.
    pub line: u32,
    /// The value of each metric: `null` where there was nothing to look at.
    #[serde(serialize_with = "as_object")]
    pub values: Vec<(String, Option<f64>)>,
    /// The metric whose value is unknown, and why.
    pub unknown: Option<(String, String)>,
}

fn as_object<S: Serializer>(
    values: &[(String, Option<f64>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().map(|(name, value)| (name, value)))
}

impl Requirement {
    /// Parses a requirement.
    pub fn parse(text: &str) -> Result<Requirement, Problem> {
        let (kernels, start) = match colon(text) {
            Some(at) => (Some(text[..at].trim().to_string()), at + 1),
            None => (None, 0),
        };
        if kernels.as_deref() == Some("") {
            return Err(Problem {
                place: 0..start,
                message: "there is no kernel before the colon".to_string(),
                label: "expected a name or a pattern".to_string(),
                help: Some(
                    "`*` stands for any letters; without a colon, it is all kernels".to_string(),
                ),
                is_name: false,
            });
        }
        let mut measures = Measures::default();
        let expr = Expr::condition(&text[start..], &mut measures);
        Ok(Requirement {
            text: text.trim().to_string(),
            kernels,
            expr: expr.map_err(|problem| problem.moved(start))?,
            measures,
        })
    }

    /// Judges the launches of a run.
    pub fn judge(&self, launches: &Launches, rules: &RuleSet) -> Judged {
        let is_meant = |kept: &&IdenticalLaunches| {
            let name = &kept.report.kernel_name;
            let pattern = self.kernels.as_deref();
            pattern.is_none_or(|pattern| is_match(pattern, name))
        };
        let meant: Vec<&IdenticalLaunches> = launches.kept().iter().filter(is_meant).collect();
        let mut judged = Judged {
            requirement: self.text.clone(),
            arch: rules.arch.to_string(),
            met: true,
            launches: 0,
            looked: self.looked(&meant, rules),
            failed: vec![],
            nothing: None,
        };
        for kept in &meant {
            let values = self.values(&kept.report, rules);
            let holds = self.expr.holds(&|at| values[at]);
            judged.launches += if holds == Ok(None) { 0 } else { kept.count };
            if matches!(holds, Ok(None | Some(true))) {
                continue;
            }
            let why = |NotModelled(at): NotModelled| {
                let measure = &self.measures.0[at];
                (
                    measure.name.clone(),
                    measure.why_unknown(&kept.report, rules),
                )
            };
            judged.failed.push(Failed {
                kernel: kept.report.kernel_name.clone(),
                launch: kept.first,
                launches: kept.count,
                line: kept.report.statement.line,
                values: self.named(&values),
                unknown: holds.err().map(why),
            });
        }
        judged.nothing = self.nothing(&judged, meant.is_empty(), launches);
        judged.met = judged.failed.is_empty() && judged.nothing.is_none();
        judged
    }

    fn values(&self, launch: &LaunchReport, rules: &RuleSet) -> Vec<Seen> {
        let measures = self.measures.0.iter();
        measures
            .map(|measure| measure.value(launch, rules))
            .collect()
    }

    fn named(&self, values: &[Seen]) -> Vec<(String, Option<f64>)> {
        let named = self.measures.0.iter().zip(values);
        named
            .map(|(measure, value)| match value {
                Seen::Number(number) => (measure.name.clone(), Some(*number)),
                Seen::Nothing | Seen::NotModelled => (measure.name.clone(), None),
            })
            .collect()
    }

    fn looked(&self, meant: &[&IdenticalLaunches], rules: &RuleSet) -> Vec<LookedAt> {
        let of = |measure: &Measure| {
            let (mut seen, mut executed, mut is_of_accesses) = (vec![], 0u64, meant.is_empty());
            for kept in meant {
                let Some(sites) = measure.looked(&kept.report, rules) else {
                    continue;
                };
                is_of_accesses = true;
                for site in sites {
                    executed += site.counts.instructions.saturating_mul(kept.times());
                    let key = site_key(site);
                    if !seen.contains(&key) {
                        seen.push(key);
                    }
                }
            }
            LookedAt {
                metric: measure.name.clone(),
                accesses: is_of_accesses.then_some(seen.len()),
                executed: is_of_accesses.then_some(executed),
            }
        };
        self.measures.0.iter().map(of).collect()
    }

    /// Why it looked at nothing, if so.
    fn nothing(&self, judged: &Judged, is_none_meant: bool, launches: &Launches) -> Option<String> {
        if is_none_meant {
            return Some(self.no_launch(launches));
        }
        if self.measures.0.is_empty() {
            return Some("it names no metric".to_string());
        }
        let mut looked = judged.looked.iter();
        if let Some(empty) = looked.find(|looked| looked.executed == Some(0)) {
            let name = &empty.metric;
            let of_access = self
                .measures
                .0
                .iter()
                .any(|measure| measure.is_of_access() && measure.name == *name);
            return Some(match of_access {
                true => format!("no launch executed the access of `{name}`"),
                false => format!("no launch executed an access that `{name}` counts"),
            });
        }
        let is_silent = judged.launches == 0 && judged.failed.is_empty();
        is_silent.then(|| "it says nothing of any launch".to_string())
    }

    fn no_launch(&self, launches: &Launches) -> String {
        let Some(pattern) = &self.kernels else {
            return "the program launched no kernel".to_string();
        };
        let mut names: Vec<&str> = vec![];
        for kept in launches.kept() {
            let name = template_name(&kept.report.kernel_name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match suggest::nearest(pattern, names.iter().copied()) {
            _ if names.is_empty() => "the program launched no kernel".to_string(),
            Some(nearest) => {
                format!("no kernel `{pattern}` was launched; did you mean `{nearest}`?")
            }
            None => format!(
                "no kernel `{pattern}` was launched; there are {}",
                names.join(", ")
            ),
        }
    }
}

/// Where the pattern of kernels ends: at the first colon that is not part of `::` and not inside brackets.
fn colon(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let is_twin = at > 0 && bytes[at - 1] == b':' || bytes.get(at + 1) == Some(&b':');
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b':' if depth == 0 && !is_twin => return Some(at),
            _ => {}
        }
    }
    None
}

/// Whether a kernel's name, with or without its template arguments, matches one of a list of patterns. `*` matches any letters, `?` one
/// letter. White space does not matter.
pub fn is_match(pattern: &str, name: &str) -> bool {
    patterns(pattern).any(|pattern| is_one(pattern, name))
}

/// The patterns of a list. Commas between template arguments do not separate patterns.
fn patterns(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |c| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        c == ',' && depth == 0
    })
}

fn is_one(pattern: &str, name: &str) -> bool {
    let letters =
        |text: &str| -> Vec<char> { text.split_whitespace().flat_map(str::chars).collect() };
    let pattern = letters(pattern);
    glob(&pattern, &letters(name)) || glob(&pattern, &letters(template_name(name)))
}

fn glob(pattern: &[char], name: &[char]) -> bool {
    // The place of the last `*`, and how much of the name it matches.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

impl Judged {
    /// A paragraph: what the requirement looked at, and which launches fail it.
    pub fn text(&self, style: Style, names_arch: bool) -> String {
        let (paint, word) = match (self.met, &self.nothing) {
            (true, Some(_)) => (Paint::Dim, "not of this program"),
            (true, None) => (Paint::Green, "met"),
            (false, _) => (Paint::Red, "not met"),
        };
        let on = match names_arch {
            true => format!(" on {}", self.arch),
            false => String::new(),
        };
        let heading = style.paint(paint, &format!("requirement {word}{on}"));
        let mut text = format!("{heading}: {}\n", self.requirement);
        match &self.nothing {
            Some(why) => {
                let _ = writeln!(text, "  it looked at nothing: {why}");
            }
            None => {
                let _ = writeln!(text, "  looked at {}", self.seen());
            }
        }
        for failed in self.failed.iter().take(SHOWN) {
            text += &failed.text();
        }
        let more = self.failed.iter().skip(SHOWN);
        match more.map(|failed| failed.launches).sum::<u64>() {
            0 => {}
            more => {
                let _ = writeln!(
                    text,
                    "  and {}",
                    plural(more, "more launch", "more launches")
                );
            }
        }
        text
    }

    /// For a requirement that several programs share: it is also met by a program in which it looks at nothing.
    pub fn if_any(mut self) -> Judged {
        self.met = self.failed.is_empty();
        self
    }

    /// Why it is not met, without what it looked at.
    pub fn why(&self) -> String {
        match &self.nothing {
            Some(why) => format!("it looked at nothing: {why}"),
            None => {
                let shown = self.failed.iter().take(SHOWN);
                let text: String = shown.map(Failed::text).collect();
                text.trim().replace("\n  ", "\n")
            }
        }
    }

    /// `3 launches; 1 access, executed 96 times, for gst_efficiency`.
    fn seen(&self) -> String {
        let mut seen = plural(self.launches, "launch", "launches");
        for looked in &self.looked {
            if let (Some(accesses), Some(executed)) = (looked.accesses, looked.executed) {
                let accesses = plural(accesses as u64, "access", "accesses");
                let times = plural(executed, "time", "times");
                let _ = write!(
                    seen,
                    "; for {}: {accesses}, executed {times}",
                    looked.metric
                );
            }
        }
        seen
    }
}

impl Failed {
    fn text(&self) -> String {
        let place = match self.line {
            0 => String::new(),
            line => format!(", line {line}"),
        };
        let more = match self.launches {
            1 => String::new(),
            n => format!(", and {} like it", n - 1),
        };
        let mut text = format!("  launch {} `{}`{place}{more}:\n", self.launch, self.kernel);
        for (name, value) in &self.values {
            let value = match (value, &self.unknown) {
                (_, Some((unknown, why))) if unknown == name => why.clone(),
                (Some(value), _) => format!("is {}", shown(*value)),
                (None, _) => "has nothing to look at".to_string(),
            };
            let _ = writeln!(text, "    {name} {value}");
        }
        text
    }
}

/// `1 launch`, `3 launches`.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// `128`, `0.9375`.
pub fn shown(number: f64) -> String {
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_of_names() {
        let cases = [
            ("transpose*", "transpose_tile", true),
            ("transpose*", "my_transpose", false),
            ("*tile*", "transpose_tile_padded", true),
            ("k", "k<float, 32>", true),
            ("k<float,32>", "k<float, 32>", true),
            ("k<int, *>", "k<float, 32>", false),
            ("a, k<float, *>", "k<float, 32>", true),
            ("a, b", "b", true),
            ("a, b", "c", false),
            ("ns::k?", "ns::k1", true),
            ("*", "", true),
            ("a*b*c", "axxbyybc", true),
            ("a*b*c", "axxbyyb", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(is_match(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn the_colon_ends_the_pattern_and_no_other_does() {
        let cases = [
            ("k*: a > 1", Some("k*")),
            ("ns::k<float>: a > 1", Some("ns::k<float>")),
            ("transactions(x ? a : b) > 1", None),
            ("sectors(ns::x) > 1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(colon(text).map(|at| &text[..at]), expected, "{text}");
        }
    }

    #[test]
    fn places_are_those_of_the_whole_text() {
        let text = "k*: shared_load_bank_conflict == 0";
        let problem = Requirement::parse(text).expect_err(text);
        assert_eq!(&text[problem.place.clone()], "shared_load_bank_conflict");
        assert_eq!(
            problem.to_string(),
            "there is no metric `shared_load_bank_conflict`: did you mean `shared_load_bank_conflicts`?"
        );
        assert!(Requirement::parse(": branches > 0").is_err());
    }
}
