//! Why a kernel is not understood, where no other message says it.

use crate::message::messages;

messages! {
    ();
    /// Reasons of the survey's own.
    SurveyError {
        NoBody { name: String } => UndefinedFunction
            "`{name}` is declared but has no body";
        // `near`: what else is wrong in the file.
        NotChecked { name: String, near: Option<String> } => Unsupported
            "`{name}` could not be checked",
            note "{near}" if near;
        NotUnderstood { text: String } => Unsupported
            "`{text}` depends on a declaration that is not understood";
    }
}
