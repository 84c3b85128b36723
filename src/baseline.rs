//! `--baseline` and `--write-baseline`: the files behind [`Baseline`].

use std::{fs, path::Path};

use report::findings::baseline::Baseline;

use crate::failure::Failure;

/// Reads a baseline.
pub(crate) fn read(path: &Path) -> Result<Baseline, Failure> {
    let failed = |error: String| Failure::new(format!("--baseline {}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    Baseline::parse(&text).map_err(|error| failed(error.to_string()))
}

/// Writes a baseline.
pub(crate) fn write(baseline: &Baseline, path: &Path) -> Result<(), Failure> {
    let text = baseline.text()?;
    fs::write(path, text)
        .map_err(|error| Failure::new(format!("--write-baseline {}: {error}", path.display())))
}
