//! The reason why a report cannot be made as requested: one sentence.

use thiserror::Error;

/// One sentence.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct ReportError(String);

impl ReportError {
    /// An error that says this.
    pub fn new(text: impl Into<String>) -> ReportError {
        ReportError(text.into())
    }
}
