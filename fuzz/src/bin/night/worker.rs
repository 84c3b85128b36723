//! A process that runs inputs one after the other, and records those that panic or take too long.

use std::{
    cell::RefCell,
    fs::{self, File, OpenOptions},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write},
    os::unix::fs::FileExt,
    panic,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use fuzz::{STACK_BYTES, Target, mutate::Mutator};
use rustix::{
    process::{Resource, Rlimit, setrlimit},
    time::{ClockId, clock_gettime},
};

use super::Args;

/// Most inputs that are kept for one finding.
const KEPT: usize = 3;
/// The time to shorten an input.
const SHORTEN: Duration = Duration::from_secs(15);

thread_local! {
    /// The message of the last panic, and its place.
    static SAID: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// The result of an input.
enum Went {
    Well,
    /// The key that groups equal findings, and the full message.
    Badly {
        kind: String,
        text: String,
    },
}

/// The file to which a worker writes its current input, which is read when the worker has died.
pub(crate) fn state(args: &Args, number: u64) -> PathBuf {
    args.out.join(format!(".{}-{number}", args.target))
}

/// The current input of a worker that died.
pub(crate) fn read_state(path: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(path).ok()?;
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?) as usize;
    Some(bytes.get(8..8 + length)?.to_vec())
}

/// The end of its stderr.
pub(crate) fn last_words(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    let start = bytes.len().saturating_sub(2000);
    String::from_utf8_lossy(&bytes[start..]).into_owned()
}

/// Records a finding, unless there are enough with its key. Returns its key and file.
pub(crate) fn keep(args: &Args, kind: &str, text: &str, input: &[u8]) -> Option<(String, String)> {
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    let key = format!("{:016x}", hasher.finish());
    for number in 0..KEPT {
        let path = args.out.join(format!("{}-{key}-{number}", args.target));
        if let Ok(mut file) = OpenOptions::new().write(true).create_new(true).open(&path) {
            file.write_all(input).ok()?;
            fs::write(path.with_extension("txt"), format!("{text}\n")).ok()?;
            return Some((key, path.display().to_string()));
        }
    }
    // It still counts as a finding of this run.
    Some((
        key.clone(),
        args.out
            .join(format!("{}-{key}-0", args.target))
            .display()
            .to_string(),
    ))
}

/// Runs inputs until the time is up.
pub(crate) fn work(target: &'static Target, args: &Args, number: u64) -> ExitCode {
    let bytes = Some(args.memory << 20);
    let _ = setrlimit(
        Resource::As,
        Rlimit {
            current: bytes,
            maximum: bytes,
        },
    );
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    );
    let args = args.clone();
    on_our_stack(move || run(target, &args, number));
    ExitCode::SUCCESS
}

/// Runs files once each.
pub(crate) fn replay(target: &'static Target, files: &[PathBuf]) -> ExitCode {
    let files = files.to_vec();
    let findings = on_our_stack(move || {
        let mut findings = 0;
        for file in files {
            let went = match fs::read(&file) {
                Ok(input) => try_once(target, &input),
                Err(error) => {
                    eprintln!("night: cannot read `{}`: {error}", file.display());
                    continue;
                }
            };
            match went {
                Went::Well => println!("{}: nothing", file.display()),
                Went::Badly { text, .. } => {
                    findings += 1;
                    println!("{}: {text}", file.display());
                }
            }
        }
        findings
    });
    ExitCode::from(u8::from(findings > 0))
}

fn on_our_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let place = info.location().map_or(String::new(), ToString::to_string);
        // If another thread panicked, the message that arrives here is reported where that panic is caught.
        SAID.set(Some((place, text.unwrap_or("a panic").to_string())));
    }));
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    thread.expect("a thread").join().expect("it catches panics")
}

fn run(target: &Target, args: &Args, number: u64) {
    let start = Instant::now();
    let state = File::create(state(args, number)).expect("a file for the current input");
    let corpus = corpus(&args.corpus);
    let mut mutator = Mutator::new(target, args.seed, Vec::new());
    let mut last_report = Instant::now();
    let mut count = 0u64;
    let mut first = corpus.clone().into_iter();
    let mut all: Option<Vec<Vec<u8>>> = Some(corpus);
    while start.elapsed() < Duration::from_secs(args.seconds) {
        let input = match first.next() {
            Some(input) => input,
            None => {
                if let Some(corpus) = all.take() {
                    mutator.add(corpus);
                }
                mutator.input()
            }
        };
        write_state(&state, &input);
        let went = try_once(target, &input);
        mutator.learn(&input, &fuzz::take_noticed());
        count += 1;
        if let Went::Badly { kind, text } = went {
            let input = shorten(target, &state, &kind, input);
            if let Some((key, file)) = keep(args, &kind, &text, &input) {
                println!("finding {key} {file}");
            }
        }
        if last_report.elapsed() > Duration::from_secs(1) {
            last_report = Instant::now();
            println!("count {count} {}", mutator.places());
            let _ = io::stdout().flush();
        }
    }
    println!("count {count} {}", mutator.places());
}

fn write_state(state: &File, input: &[u8]) {
    let mut bytes = (input.len() as u64).to_le_bytes().to_vec();
    bytes.extend(input);
    let _ = state.write_all_at(&bytes, 0);
}

fn try_once(target: &Target, input: &[u8]) -> Went {
    let before = clock_gettime(ClockId::ThreadCPUTime);
    let result = panic::catch_unwind(|| (target.run)(input));
    let after = clock_gettime(ClockId::ThreadCPUTime);
    if result.is_err() {
        let (place, text) = SAID.take().unwrap_or_default();
        // Findings are equal if they have the same place and begin with the same words.
        let words = text.lines().next().unwrap_or_default();
        let words: String = words
            .chars()
            .filter(|c| !c.is_ascii_digit())
            .take(60)
            .collect();
        return Went::Badly {
            kind: format!("{place} {words}"),
            text: format!("panic at {place}: {text}"),
        };
    }
    let seconds =
        (after.tv_sec - before.tv_sec) as f64 + (after.tv_nsec - before.tv_nsec) as f64 * 1e-9;
    if seconds > target.seconds {
        return Went::Badly {
            kind: "slow".to_string(),
            text: format!(
                "slow: {seconds:.1} seconds, of {} that it may take",
                target.seconds
            ),
        };
    }
    Went::Well
}

/// Removes as much as possible from an input without changing its result.
fn shorten(target: &Target, state: &File, kind: &str, mut input: Vec<u8>) -> Vec<u8> {
    let start = Instant::now();
    let mut piece = input.len().next_power_of_two() / 2;
    while piece > 0 && kind != "slow" {
        let mut at = 0;
        while at < input.len() {
            if start.elapsed() > SHORTEN {
                return input;
            }
            let mut shorter = input.clone();
            shorter.drain(at..(at + piece).min(input.len()));
            write_state(state, &shorter);
            let same = matches!(try_once(target, &shorter), Went::Badly { kind: other, .. } if other == kind);
            fuzz::take_noticed();
            if same {
                input = shorter;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    input
}

/// The files, and all files in the folders.
fn corpus(paths: &[PathBuf]) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    let mut paths = paths.to_vec();
    while let Some(path) = paths.pop() {
        if let Ok(entries) = fs::read_dir(&path) {
            let mut inside: Vec<PathBuf> = entries
                .filter_map(Result::ok)
                .map(|entry| entry.path())
                .collect();
            inside.sort();
            paths.extend(inside);
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.len() <= 64 << 10
        {
            inputs.push(bytes);
        }
    }
    inputs
}
