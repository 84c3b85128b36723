//! Why dslc could not work: exit code 2 and one sentence.

use std::{fmt, io};

/// One sentence.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Failure {
        Failure(text.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name may contain several lines, but the sentence is one line.
        for (at, part) in self.0.split('`').enumerate() {
            let quote = if at > 0 { "`" } else { "" };
            match at % 2 {
                1 => write!(f, "{quote}{}", part.replace('\n', "?"))?,
                _ => write!(f, "{quote}{part}")?,
            }
        }
        Ok(())
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

/// The message of a system error, as the end of a sentence: `no space left on device`.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        io::ErrorKind::IsADirectory => "it is a folder".to_string(),
        io::ErrorKind::NotADirectory => "a part of the path is not a folder".to_string(),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let mut letters = text.chars();
            let first = letters.next().map(|letter| letter.to_ascii_lowercase());
            first.into_iter().chain(letters).collect()
        }
    }
}
