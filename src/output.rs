//! The only code that writes to stdout and stderr. A closed pipe is the reader's wish and no error.

use std::io::{self, IsTerminal, Write};

use crate::args::Color;

/// Writes the product.
pub(crate) fn out(bytes: &[u8]) {
    write(io::stdout().lock(), bytes);
}

/// Writes talk.
pub(crate) fn err(text: &str) {
    write(io::stderr().lock(), text.as_bytes());
}

fn write(mut stream: impl Write, bytes: &[u8]) {
    if let Err(error) = stream.write_all(bytes).and_then(|()| stream.flush()) {
        // Nobody is reading any more, or the disk is full: there is nobody to tell.
        let code = if error.kind() == io::ErrorKind::BrokenPipe {
            0
        } else {
            2
        };
        std::process::exit(code);
    }
}

/// Whether messages on stderr are coloured.
pub(crate) fn use_color(choice: Color) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// Columns of the report: `COLUMNS`, else 100.
pub(crate) fn columns() -> usize {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    columns.unwrap_or(100).clamp(60, 400)
}
