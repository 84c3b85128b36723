//! Errors of the library.

use std::fmt;

use crate::{finding::Finding, run::Run};

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed: a missing device, a rejected launch, a thread that trapped.
///
/// `Display` and `Debug` are the text that the command line would print, with the kernel's lines, so that `?` in `main` and `unwrap` in a
/// test both show it.
#[derive(Clone)]
pub struct Error(Box<Kind>);

#[derive(Clone)]
enum Kind {
    /// One sentence.
    Said(String),
    /// A launch that was rejected or trapped: its partial report says why.
    Launch(Run),
}

impl Error {
    pub(crate) fn new(text: impl fmt::Display) -> Error {
        Error(Box::new(Kind::Said(text.to_string())))
    }

    pub(crate) fn of_launch(run: Run) -> Error {
        Error(Box::new(Kind::Launch(run)))
    }

    /// The launch that failed, with its counts up to the fault; `None` if the error is not about a launch.
    pub fn run(&self) -> Option<&Run> {
        match &*self.0 {
            Kind::Launch(run) => Some(run),
            Kind::Said(_) => None,
        }
    }

    /// The findings of the launch that failed, including the reason for its end.
    pub fn findings(&self) -> &[Finding] {
        self.run().map_or(&[], Run::findings)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Said(text) => f.write_str(text),
            Kind::Launch(run) => f.write_str(run.messages(false).trim_end()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

macro_rules! messages {
    ($($ty:ty)*) => { $(
        impl From<$ty> for Error {
            fn from(error: $ty) -> Error {
                Error::new(error)
            }
        }
    )* };
}

messages! {
    runtime::device::DeviceError
    runtime::device::gpu::GpuError
    interp::OutOfMemory
    std::io::Error
}
