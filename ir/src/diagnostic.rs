//! Messages of the front end about the user's source, as values. Only `render` turns them into text.

use crate::span::Span;

pub mod code;
pub mod render;

pub use code::Code;

/// How serious a message is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// A fact that is worth knowing.
    Note,
    /// Compiles, but is likely not what was meant.
    Warning,
    /// Does not compile.
    Error,
}

/// A place and its role in the message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// One phrase; may be empty for the primary label.
    pub message: String,
}

/// One message about the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Which kind of problem; `dslc explain` tells more.
    pub code: Code,
    /// Severity.
    pub severity: Severity,
    /// What is wrong, in one phrase.
    pub message: String,
    /// The place the message is about.
    pub primary: Label,
    /// Other places that contribute.
    pub labels: Vec<Label>,
    /// Facts that have no place.
    pub notes: Vec<String>,
    /// How many of the notes name a template instance that contains the place.
    #[doc(hidden)]
    pub n_instances: usize,
    /// One thing to try.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A message of `code` at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: code.severity(),
            message: message.into(),
            primary: Label {
                span,
                message: String::new(),
            },
            labels: Vec::new(),
            notes: Vec::new(),
            n_instances: 0,
            help: None,
        }
    }

    /// An error of `code` at `span`, even if the code is normally a warning.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            ..Diagnostic::new(code, span, message)
        }
    }

    /// The same as a warning, even if the code is normally an error: the program compiles.
    #[must_use]
    pub fn as_warning(self) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..self
        }
    }

    /// The same as a note, whatever the code's normal severity is.
    #[must_use]
    pub fn as_note(self) -> Diagnostic {
        Diagnostic {
            severity: Severity::Note,
            ..self
        }
    }

    /// Sets the text at the primary place.
    #[must_use]
    pub fn at(mut self, message: impl Into<String>) -> Diagnostic {
        self.primary.message = message.into();
        self
    }

    /// Adds a place that contributes.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Adds a fact that has no place.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Adds one thing to try.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}
