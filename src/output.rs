//! The only code that writes to stdout and stderr.
//!
//! A write error never ends the run. After one, output to that stream is dropped, requested files are still made, and the exit code
//! ([`exit_code`]) tells the state of the streams. A closed pipe is the reader's wish and not an error; a full disk is an error.

use std::{
    borrow::Cow,
    fmt::Display,
    io::{self, IsTerminal, Write},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    sync::{Mutex, PoisonError},
};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::{args::Color, failure, progress};

/// The state of a stream.
struct Stream {
    /// Whether its reader is gone, or writing failed.
    ended: AtomicBool,
    /// Why writing failed.
    failure: Mutex<Option<String>>,
}

/// Whether anything is written in colour.
static IS_COLORED: AtomicBool = AtomicBool::new(false);

static STDOUT: Stream = Stream::new();
static STDERR: Stream = Stream::new();

impl Stream {
    const fn new() -> Stream {
        Stream {
            ended: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Locks the stream: the progress line locks it, too.
    fn write<W: Write>(&self, open: impl FnOnce() -> W, bytes: &[u8]) {
        if self.ended.load(Ordering::Relaxed) {
            return;
        }
        let written = progress::without_bar(|| {
            let mut stream = open();
            stream.write_all(bytes).and_then(|()| stream.flush())
        });
        if let Err(error) = written {
            self.ended.store(true, Ordering::Relaxed);
            if error.kind() != io::ErrorKind::BrokenPipe {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                *failure = Some(failure::reason(&error));
            }
        }
    }

    fn failure(&self) -> Option<String> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone()
    }
}

/// Writes to stdout.
pub(crate) fn out(bytes: &[u8]) {
    STDOUT.write(|| io::stdout().lock(), bytes);
}

/// Stdout, for writing piece by piece.
pub(crate) struct Product;

impl Write for Product {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        out(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a text for people to stdout.
pub(crate) fn out_text(text: &str) {
    out(without_control(text).as_bytes());
}

/// Writes the text of a file, for a program to read: a pipe gets each byte unchanged.
pub(crate) fn out_of_file(text: &str) {
    match io::stdout().is_terminal() {
        true => out_text(text),
        false => out(text.as_bytes()),
    }
}

/// Writes why dslc could not work; on a terminal, in lines that fit it.
pub(crate) fn err_failure(why: &str) {
    let style = report::text::Style {
        columns: message_columns(),
        color: false,
    };
    match io::stderr().is_terminal() && !why.contains('\n') {
        true => err(&style.paragraph("dslc: ", why, None)),
        false => err(&format!("dslc: {why}\n")),
    }
}

/// Writes messages, one sentence per line; on a terminal, in lines that fit it.
pub(crate) fn err_sentences(text: &str) {
    if !io::stderr().is_terminal() {
        return err(text);
    }
    let style = report::text::Style {
        columns: message_columns(),
        color: false,
    };
    let lines = text.lines().map(|line| style.paragraph("", line, None));
    err(&lines.collect::<String>());
}

/// Writes a message to stderr.
pub(crate) fn err(text: &str) {
    err_bytes(without_control(text).as_bytes());
}

/// The text without control characters, which a terminal would take for commands: file names and a program's own words may contain
/// anything. Line breaks, tabs and our colours stay.
fn without_control(text: &str) -> Cow<'_, str> {
    let is_command = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let is_colored = IS_COLORED.load(Ordering::Relaxed);
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_command) {
        clean += &rest[..at];
        rest = &rest[at..];
        let kept = color_bytes(rest).filter(|_| is_colored).unwrap_or(0);
        clean += &rest[..kept];
        rest = &rest[kept..];
        if kept == 0 {
            let mut chars = rest.chars();
            chars.next();
            clean.push('?');
            rest = chars.as_str();
        }
    }
    clean += rest;
    Cow::Owned(clean)
}

/// The length of the colour escape at the beginning of a text: `ESC [ 1 ; 31 m`.
fn color_bytes(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some(2 + end + 1)
}

/// A name as shown in a line of text.
pub(crate) fn shown_name(name: impl Display) -> String {
    name.to_string().replace(|c: char| c.is_control(), "?")
}

/// Writes a program's stderr.
pub(crate) fn err_bytes(bytes: &[u8]) {
    STDERR.write(|| io::stderr().lock(), bytes);
}

/// The exit code of a command that wanted `wanted`: 2 if its output or its messages could not be written.
pub(crate) fn exit_code(wanted: u8) -> u8 {
    if let Some(why) = STDOUT.failure() {
        err(&format!("dslc: cannot write to standard output: {why}\n"));
        return 2;
    }
    match STDERR.failure() {
        Some(_) => 2,
        None => wanted,
    }
}

/// Whether messages on stderr are coloured.
pub(crate) fn use_color(choice: Color) -> bool {
    colored(choice, &io::stderr())
}

/// Whether the product on stdout is coloured.
pub(crate) fn use_color_out(choice: Color) -> bool {
    colored(choice, &io::stdout())
}

/// Prints clap's output: help and the version to stdout, errors to stderr. Returns the exit code.
pub(crate) fn of_command_line(error: &clap::Error) -> u8 {
    if let Some(file) = file_for_command(error) {
        err(&format!(
            "dslc: `{file}` is a file: `dslc run {file}` runs it, `dslc --help` lists the commands\n"
        ));
        return 2;
    }
    if let Some(hint) = hint(error) {
        err(&format!("dslc: {hint}\n"));
        return 2;
    }
    let text = error.render();
    let shown = |color| match color {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    if error.use_stderr() {
        err(&shown(use_color(Color::Auto)));
        2
    } else {
        out(shown(colored(Color::Auto, &io::stdout())).as_bytes());
        0
    }
}

/// What to write instead of an option of nvcc or of `dslc run`.
fn hint(error: &clap::Error) -> Option<&'static str> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let command = std::env::args().nth(1).unwrap_or_default();
    Some(match (command.as_str(), option.as_str()) {
        ("run" | "check", "-o") => {
            "`-o` names an executable, and `dslc run` runs the source: `dslc nvcc -o FILE SOURCE` makes one"
        }
        ("test", "--arch" | "--schedules" | "--order" | "--memory" | "--checks") => {
            "a test has its options in quotation marks: `--options '--arch sm_80'`, or in the program: `//~ options …`"
        }
        (first, _) if first.starts_with('-') => {
            "a command comes first: `dslc run FILE`; `dslc --help` lists them"
        }
        _ => return None,
    })
}

/// The file that is written where a command should be.
fn file_for_command(error: &clap::Error) -> Option<&str> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let path = Path::new(given);
    let is_source = path
        .extension()
        .is_some_and(|end| ["k", "cu", "cpp", "c"].iter().any(|known| end == *known));
    (is_source || path.is_file()).then_some(given)
}

fn colored(choice: Color, stream: &impl IsTerminal) -> bool {
    let is_colored = match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => stream.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    };
    IS_COLORED.fetch_or(is_colored, Ordering::Relaxed);
    is_colored
}

/// Columns of the report: `COLUMNS`, else those of the terminal, else 80.
pub(crate) fn columns() -> usize {
    columns_of(terminal_size::terminal_size_of(io::stdout()))
}

/// Columns of the messages on stderr, likewise.
pub(crate) fn message_columns() -> usize {
    columns_of(terminal_size::terminal_size_of(io::stderr()))
}

fn columns_of(terminal: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.and_then(|text| text.parse().ok());
    let terminal = terminal.map(|(width, _)| usize::from(width.0));
    columns.or(terminal).unwrap_or(80).clamp(60, 400)
}
