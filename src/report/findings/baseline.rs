//! `--baseline FILE`: findings that are known and do not count. `--write-baseline FILE` makes the file from what a run finds.
//!
//! The file is JSON; what counts in it are the fingerprints, the rest tells people what was accepted.

use std::{collections::HashSet, path::Path};

use serde::{Deserialize, Serialize};

use super::Found;
use crate::failure::Failure;

const SCHEMA: &str = "dslc-baseline/1";

/// Known findings.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Baseline {
    schema: String,
    findings: Vec<Known>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Known {
    fingerprint: String,
    code: String,
    kind: String,
    kernel: Option<String>,
    message: String,
}

impl Baseline {
    /// What was found, as a baseline.
    pub(crate) fn of(found: &[Found]) -> Baseline {
        let known = |found: &Found| Known {
            fingerprint: found.fingerprint.clone(),
            code: found.code.number().to_string(),
            kind: found.kind.to_string(),
            kernel: found.kernel.clone(),
            message: found.message.clone(),
        };
        Baseline {
            schema: SCHEMA.to_string(),
            findings: found.iter().map(known).collect(),
        }
    }

    /// Reads a baseline.
    pub(crate) fn read(path: &Path) -> Result<Baseline, Failure> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::new(format!("--baseline {shown}: {error}")))?;
        let baseline: Baseline = serde_json::from_str(&text)
            .map_err(|error| Failure::new(format!("--baseline {shown}: {error}")))?;
        if baseline.schema != SCHEMA {
            return Err(Failure::new(format!(
                "--baseline {shown}: the schema is `{}`, not `{SCHEMA}`",
                baseline.schema
            )));
        }
        Ok(baseline)
    }

    /// Writes it.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        std::fs::write(path, text)
            .map_err(|error| Failure::new(format!("--write-baseline {}: {error}", path.display())))
    }

    /// Mutes what it has.
    pub(crate) fn mute(&self, found: &mut [Found]) {
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
