//! Writes into a named pipe, as long as it has a reader or may get one. Whatever ends a command from outside also ends the wait.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::{fs::OFlags, io::Errno};

use crate::stopping;

/// How often the pipe is tried.
const TRY_EVERY: Duration = Duration::from_millis(10);

/// How long a reader may take once the command should end.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// Whether a path is a named pipe.
pub(super) fn is_named(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.file_type().is_fifo())
}

/// A named pipe that has a reader.
pub(super) struct Pipe(File);

impl Pipe {
    /// Waits for a reader.
    pub(super) fn open(path: &Path) -> io::Result<Pipe> {
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
        patiently("no process reads this named pipe", || {
            File::options().write(true).custom_flags(flags).open(path)
        })
        .map(Pipe)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = &mut self.0;
        let why = "the process at the other end of this named pipe does not read on";
        patiently(why, || file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Tries again while the other end is not ready; gives up when the command should end.
fn patiently<R>(why: &str, mut attempt: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    let mut asked: Option<Instant> = None;
    loop {
        match attempt() {
            Err(error) if is_not_ready(&error) => {}
            result => return result,
        }
        if stopping::is_asked() && asked.get_or_insert_with(Instant::now).elapsed() >= GRACE_PERIOD
        {
            return Err(io::Error::new(ErrorKind::TimedOut, why));
        }
        thread::sleep(TRY_EVERY);
    }
}

fn is_not_ready(error: &io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock
        || error.raw_os_error() == Some(Errno::NXIO.raw_os_error())
}
