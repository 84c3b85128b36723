//! The user's files: they are read up to a size limit, written completely or not at all, and never over a file that the same run reads.

#[cfg(unix)]
mod pipe;

use std::{
    fs::{self, File, Metadata},
    io::{self, BufWriter, ErrorKind, IsTerminal, Read, Write},
    path::{Component, Path, PathBuf},
};

use crate::{
    failure::{Failure, reason},
    output,
};

/// Most bytes of text that are read: of a program with all its includes, or of a baseline. The largest real programs have some hundred KiB.
pub(crate) const TEXT_BYTES: u64 = 64 << 20;

/// Opens a file to read, and returns its size, 0 for a pipe. Devices and named pipes are refused, because they may never end or never
/// begin. A pipe that a shell made, `/dev/stdin` or `/dev/fd/63`, is read like a file if `pipes` is set.
pub(crate) fn open(path: &Path, pipes: bool) -> Result<(File, u64), String> {
    let facts = fs::metadata(path).map_err(|error| reason(&error))?;
    let is_pipe = pipes && is_of_shell(path) && is_pipe(&facts);
    if !facts.is_file() && !is_pipe {
        return Err(format!("it is {}, not a file", kind(&facts)));
    }
    let file = File::open(path).map_err(|error| reason(&error))?;
    Ok((file, facts.len()))
}

/// The bytes of a file, if there are no more than `most`.
pub(crate) fn read(path: &Path, pipes: bool, most: u64) -> Result<Vec<u8>, String> {
    let too_large = || {
        Err(format!(
            "it is larger than {}, the most that dslc reads",
            size(most)
        ))
    };
    let (file, bytes) = open(path, pipes)?;
    if bytes > most {
        return too_large();
    }
    let mut content = Vec::with_capacity(bytes as usize);
    let read = file.take(most + 1).read_to_end(&mut content);
    read.map_err(|error| reason(&error))?;
    if content.len() as u64 > most {
        return too_large();
    }
    Ok(content)
}

/// A number of bytes for a message: `64 MiB`.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.iter().find(|(shift, _)| bytes >> shift > 0);
    unit.map_or(format!("{bytes} bytes"), |(shift, name)| {
        format!("{} {name}", bytes >> shift)
    })
}

/// Whether a path means something that a shell connected.
pub(crate) fn is_of_shell(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd")
}

/// What a path is if it is not a file, in a word.
fn kind(facts: &Metadata) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let file_type = facts.file_type();
        if file_type.is_fifo() {
            return "a named pipe";
        } else if file_type.is_socket() {
            return "a socket";
        }
    }
    match facts.is_dir() {
        true => "a folder",
        false => "a device",
    }
}

#[cfg(unix)]
fn is_pipe(facts: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let file_type = facts.file_type();
    file_type.is_fifo()
        || file_type.is_socket()
        // The user types it.
        || file_type.is_char_device() && io::stdin().is_terminal()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

/// Checks that the folder of a file exists, before the long work that writes the file.
pub(crate) fn has_folder(path: &Path) -> Result<(), String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder.is_none_or(Path::is_dir) {
        true => Ok(()),
        false => Err(format!(
            "{}: there is no folder `{}`",
            path.display(),
            folder.unwrap_or(Path::new("")).display()
        )),
    }
}

/// Writes a file completely or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_with(path, |out| out.write_all(bytes))
}

/// Writes a file completely or not at all: into an unnamed file next to it, which then replaces it. Anything but a regular file (a device,
/// a pipe) is written in place, and so is a file whose folder does not allow new files.
pub(crate) fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), String> {
    let reason = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such folder".to_string(),
        _ => reason(&error),
    };
    if let Some(stream) = Stream::named(path) {
        let mut out = BufWriter::new(stream);
        return fill(&mut out).and_then(|()| out.flush()).map_err(reason);
    }
    match fs::metadata(path) {
        Ok(facts) if !facts.is_file() => directly(path, fill),
        Ok(facts) => in_place_of(&destination(path), Some(&facts), fill),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            in_place_of(&destination(path), None, fill)
        }
        Err(error) => Err(error),
    }
    .map_err(reason)
}

fn directly(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    #[cfg(unix)]
    if pipe::is_named(path) {
        let mut out = BufWriter::new(pipe::Pipe::open(path)?);
        fill(&mut out)?;
        return out.flush();
    }
    let mut out = BufWriter::new(File::options().write(true).truncate(true).open(path)?);
    fill(&mut out)?;
    out.flush()
}

/// Makes a file that is renamed to `path` when it is complete.
fn in_place_of(
    path: &Path,
    there: Option<&Metadata>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if there.is_some() {
        // A read-only file is not replaced, though its folder would allow it.
        File::options().write(true).open(path)?;
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".dslc-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of any new file: reduced by the user's mask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut part = match builder.tempfile_in(folder) {
        Ok(part) => part,
        Err(_) if there.is_some() => return directly(path, fill),
        Err(error) => return Err(error),
    };
    let mut out = BufWriter::new(part.as_file_mut());
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    if let Some(facts) = there {
        part.as_file().set_permissions(facts.permissions())?;
    }
    match part.persist(path) {
        Ok(_) => Ok(()),
        // A file that is a mount point cannot be replaced.
        Err(refused) if there.is_some() => directly(path, |out| {
            let mut part = refused.file.reopen()?;
            io::copy(&mut part, out).map(drop)
        }),
        Err(refused) => Err(refused.error),
    }
}

/// The file that is meant: links are followed, including one to a file that does not exist yet.
fn destination(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    // Linux follows as many.
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&path) else {
            break;
        };
        path.pop();
        path.push(next);
    }
    path
}

/// Our own standard output or standard error, given as a file. Opening it again would overwrite what it already contains.
enum Stream {
    Out,
    Err,
}

impl Stream {
    fn named(path: &Path) -> Option<Stream> {
        match path.to_str()? {
            "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => Some(Stream::Out),
            "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => Some(Stream::Err),
            _ => None,
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Out => output::out(bytes),
            Stream::Err => output::err_bytes(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Identifies the file of a path, however the path is spelled. `None` if it is not a regular file.
#[derive(PartialEq)]
enum Identity {
    #[cfg(unix)]
    Numbers {
        device: u64,
        inode: u64,
    },
    Path(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        if Stream::named(path).is_some() {
            return None;
        }
        match fs::metadata(path) {
            Ok(facts) if !facts.is_file() => None,
            #[cfg(unix)]
            Ok(facts) => {
                use std::os::unix::fs::MetadataExt;
                Some(Identity::Numbers {
                    device: facts.dev(),
                    inode: facts.ino(),
                })
            }
            #[cfg(not(unix))]
            Ok(_) => fs::canonicalize(path).ok().map(Identity::Path),
            Err(_) => {
                let path = destination(path);
                let name = path.file_name()?;
                let folder = match path.parent() {
                    Some(folder) if !folder.as_os_str().is_empty() => folder,
                    _ => Path::new("."),
                };
                Some(Identity::Path(fs::canonicalize(folder).ok()?.join(name)))
            }
        }
    }
}

/// The files that a run reads and writes: no file is written that is also read, and none twice.
#[derive(Default)]
pub(crate) struct Claims(Vec<(String, Identity)>);

impl Claims {
    /// Records a file that is read, with its role.
    pub(crate) fn reads(&mut self, path: &Path, what: &str) {
        if let Some(identity) = Identity::of(path) {
            self.0.push((what.to_string(), identity));
        }
    }

    /// Records a program and its includes.
    pub(crate) fn reads_program(&mut self, read: &[PathBuf]) {
        for (index, path) in read.iter().enumerate() {
            let what = match index {
                0 => "the program itself",
                _ => "a file that the program includes",
            };
            self.reads(path, what);
        }
    }

    /// Records a file that an option writes, unless it is already read or written.
    pub(crate) fn writes(&mut self, path: &Path, option: &str) -> Result<(), Failure> {
        let Some(identity) = Identity::of(path) else {
            return Ok(());
        };
        if let Some((what, _)) = self.0.iter().find(|(_, other)| *other == identity) {
            return Err(Failure::new(format!(
                "{option}: `{}` is {what}, which would be lost: name another file",
                path.display()
            )));
        }
        let what = format!("written by {option} already");
        self.0.push((what, identity));
        Ok(())
    }
}

/// An absolute path without `.` and `..`, computed only from its text.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}
