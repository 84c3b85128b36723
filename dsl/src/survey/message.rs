//! Reasons why a kernel is not understood, for cases without another message.

use crate::message::messages;

messages! {
    ();
    /// Reasons that only the survey reports.
    SurveyError {
        NoBody { name: String } => UndefinedFunction
            "`{name}` is declared but has no body";
        // `near`: another error in the file.
        NotChecked { name: String, near: Option<String> } => Unsupported
            "`{name}` could not be checked",
            note "{near}" if near;
        NotUnderstood { text: String } => Unsupported
            "`{text}` depends on a declaration that is not understood";
    }
}
