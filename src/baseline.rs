//! `--baseline` and `--write-baseline`: reads and writes the files of a [`Baseline`].

use std::path::Path;

use report::findings::baseline::Baseline;

use crate::{failure::Failure, files};

/// Reads a baseline.
pub(crate) fn read(path: &Path) -> Result<Baseline, Failure> {
    let failed = |error: String| Failure::new(format!("--baseline {}: {error}", path.display()));
    let bytes = files::read(path, true, files::TEXT_BYTES).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
    Baseline::parse(&text).map_err(|error| failed(error.to_string()))
}

/// Writes a baseline.
pub(crate) fn write(baseline: &Baseline, path: &Path) -> Result<(), Failure> {
    let text = baseline.text()?;
    files::write(path, text.as_bytes())
        .map_err(|error| Failure::new(format!("--write-baseline {}: {error}", path.display())))
}
