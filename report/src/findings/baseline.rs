//! `--baseline FILE`: findings that are known and do not count. `--write-baseline FILE` makes the file from what a run finds.
//!
//! The file is JSON. Only its fingerprints count; the rest tells readers what was accepted.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use ir::{
    diagnostic::{Code, Diagnostic},
    source::SourceMap,
};

use super::{Found, numbered};
use crate::error::ReportError;

const SCHEMA: &str = "dslc-baseline/1";

/// BaselineFinding findings.
#[derive(Debug, Deserialize, Serialize)]
pub struct Baseline {
    schema: String,
    findings: Vec<BaselineFinding>,
}

#[derive(Debug, Deserialize, Serialize)]
struct BaselineFinding {
    fingerprint: String,
    code: String,
    kind: String,
    kernel: Option<String>,
    message: String,
}

impl Baseline {
    /// The findings as a baseline.
    pub fn of(found: &[Found]) -> Baseline {
        let known = |found: &Found| BaselineFinding {
            fingerprint: found.fingerprint.clone(),
            code: found.code.number().to_string(),
            kind: found.kind.to_string(),
            kernel: found.kernel.clone(),
            message: found.message.clone(),
        };
        Baseline {
            schema: SCHEMA.to_string(),
            // Where a run was stopped by its time limit is not a property of the program.
            findings: found
                .iter()
                .filter(|found| found.code != Code::Stopped)
                .map(known)
                .collect(),
        }
    }

    /// The front end's messages, as a baseline.
    pub fn of_messages(diagnostics: &[Diagnostic], map: &SourceMap) -> Baseline {
        let known = |(diagnostic, fingerprint): (&Diagnostic, String)| BaselineFinding {
            fingerprint,
            code: diagnostic.code.number().to_string(),
            kind: diagnostic.code.slug().to_string(),
            kernel: None,
            message: diagnostic.message.clone(),
        };
        let fingerprints = fingerprints(diagnostics, map);
        Baseline {
            schema: SCHEMA.to_string(),
            findings: diagnostics.iter().zip(fingerprints).map(known).collect(),
        }
    }

    /// Removes the messages that the baseline has.
    pub fn mute_messages(&self, diagnostics: &mut Vec<Diagnostic>, map: &SourceMap) {
        let known: HashSet<&str> = self
            .findings
            .iter()
            .map(|known| known.fingerprint.as_str())
            .collect();
        let mut fingerprints = fingerprints(diagnostics, map).into_iter();
        diagnostics.retain(|_| {
            let fingerprint = fingerprints.next().unwrap_or_default();
            !known.contains(fingerprint.as_str())
        });
    }

    /// Reads the text of a baseline.
    pub fn parse(text: &str) -> Result<Baseline, ReportError> {
        let baseline: Baseline =
            serde_json::from_str(text).map_err(|error| ReportError::new(error.to_string()))?;
        if baseline.schema != SCHEMA {
            return Err(ReportError::new(format!(
                "the schema is `{}`, not `{SCHEMA}`",
                baseline.schema
            )));
        }
        Ok(baseline)
    }

    /// Its text.
    pub fn text(&self) -> Result<String, ReportError> {
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .map_err(|error| ReportError::new(error.to_string()))
    }

    /// Mutes the findings that the baseline has.
    pub fn mute(&self, found: &mut [Found]) {
        let known: HashSet<&str> = self
            .findings
            .iter()
            .map(|known| known.fingerprint.as_str())
            .collect();
        for found in found {
            found.muted = known.contains(found.fingerprint.as_str());
        }
    }
}

/// Fingerprints of messages: of the code and the line's text, so that lines added elsewhere change nothing.
fn fingerprints(diagnostics: &[Diagnostic], map: &SourceMap) -> Vec<String> {
    let texts = diagnostics.iter().map(|diagnostic| {
        let span = map.use_site(diagnostic.primary.span);
        let file = map.file(span.file);
        let words: Vec<&str> = file
            .line(file.line_column(span.start).0)
            .split_whitespace()
            .collect();
        format!("{}\n{}\n", diagnostic.code.number(), words.join(" "))
    });
    numbered(texts)
}
