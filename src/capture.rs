//! Captures everything that the process writes to its standard output, not only Rust's output: a GPU's driver prints there itself what
//! kernels print.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, Write},
};

/// Standard output goes to a file from [`Capture::start`] to [`Capture::end`].
pub(crate) struct Capture {
    #[cfg(unix)]
    real: std::os::fd::OwnedFd,
    file: File,
}

impl Capture {
    /// Starts: nothing is shown from now on.
    pub(crate) fn start() -> io::Result<Capture> {
        let path = std::env::temp_dir().join(format!("dslc-stdout-{}", std::process::id()));
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        // The open file stays valid after its name is removed.
        fs::remove_file(&path)?;
        io::stdout().flush()?;
        #[cfg(unix)]
        {
            let real = rustix::io::dup(io::stdout())?;
            rustix::stdio::dup2_stdout(&file)?;
            Ok(Capture { real, file })
        }
        #[cfg(not(unix))]
        {
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "dslc cannot capture the output of a GPU's kernels on this system",
            ))
        }
    }

    /// Ends: returns what was written. From now on output is shown again.
    pub(crate) fn end(mut self) -> io::Result<Vec<u8>> {
        io::stdout().flush()?;
        #[cfg(unix)]
        rustix::stdio::dup2_stdout(&self.real)?;
        let mut bytes = Vec::new();
        self.file.rewind()?;
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
