//! `night TARGET`: runs a target for some seconds on some threads, without libFuzzer and with a stable compiler.
//!
//! Each thread has its own process ([`worker`]). So failures that `catch_unwind` cannot catch (a stack overflow, a lack of memory, an
//! endless loop) are findings too. Findings are written to a folder: the input, and next to it the message.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program of the command line"
)]

mod worker;

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use clap::Parser;

/// Runs a fuzz target.
#[derive(Parser, Debug, Clone)]
struct Args {
    /// The target's name.
    target: String,
    /// How long.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How many processes of one thread.
    #[arg(long, default_value_t = 1)]
    threads: u64,
    /// Where the random numbers begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where findings go.
    #[arg(long, default_value = "findings")]
    out: PathBuf,
    /// Inputs to begin with: files, or folders of them.
    #[arg(long)]
    corpus: Vec<PathBuf>,
    /// Most memory of a process, in MiB.
    #[arg(long, default_value_t = 4096)]
    memory: u64,
    /// An input that takes so many seconds hangs.
    #[arg(long, default_value_t = 120)]
    hang: u64,
    /// Runs these inputs, once each and in this process, instead.
    #[arg(long, num_args = 1..)]
    replay: Vec<PathBuf>,
    /// The number of this process among the workers.
    #[arg(long, hide = true)]
    worker: Option<u64>,
}

/// A message of a worker.
enum Event {
    /// The number of inputs in total, and the number of places that they reached.
    Count(u64, u64),
    /// A key, and the file.
    Finding(String, String),
    /// Its output ended.
    End,
}

struct Worker {
    number: u64,
    child: Child,
    starts: u64,
    /// The number of inputs of this process and of its predecessors.
    count: u64,
    before: u64,
    last_message: Instant,
    ended: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let Some(target) = fuzz::find(&args.target) else {
        let names: Vec<&str> = fuzz::TARGETS.iter().map(|target| target.name).collect();
        eprintln!(
            "night: there is no target `{}`; there are {}",
            args.target,
            names.join(", ")
        );
        return ExitCode::from(2);
    };
    if target.name == "cpu" && !fuzz::cpu::has_compiler() {
        eprintln!("night: the target `cpu` needs a C compiler: `cc` cannot be started");
        return ExitCode::from(2);
    }
    if !args.replay.is_empty() {
        return worker::replay(target, &args.replay);
    }
    if let Err(error) = fs::create_dir_all(&args.out) {
        eprintln!("night: cannot make `{}`: {error}", args.out.display());
        return ExitCode::from(2);
    }
    if let Some(number) = args.worker {
        return worker::work(target, &args, number);
    }
    watch(&args)
}

/// Starts the workers, reads their messages, and sums up.
fn watch(args: &Args) -> ExitCode {
    let start = Instant::now();
    let (sender, events) = mpsc::channel();
    let mut workers: Vec<Worker> = Vec::new();
    for number in 0..args.threads {
        let child = begin(args, number, 0, args.seconds, &sender);
        workers.push(Worker {
            number,
            child,
            starts: 1,
            count: 0,
            before: 0,
            last_message: Instant::now(),
            ended: false,
        });
    }
    let mut findings = BTreeSet::new();
    let mut places = 0;
    while workers.iter().any(|worker| !worker.ended) {
        match events.recv_timeout(Duration::from_secs(1)) {
            Ok((number, event)) => {
                let worker = &mut workers[number as usize];
                worker.last_message = Instant::now();
                match event {
                    Event::Count(count, led_to) => {
                        worker.count = count;
                        places = places.max(led_to);
                    }
                    Event::Finding(key, file) => {
                        if findings.insert(key) {
                            println!("{}: finding {file}", args.target);
                        }
                    }
                    Event::End => {
                        let status = worker.child.wait();
                        let ended_well = status.as_ref().is_ok_and(|status| status.success());
                        let how = status
                            .map_or_else(|error| error.to_string(), |status| status.to_string());
                        end(
                            args,
                            worker,
                            (!ended_well).then_some(how),
                            start,
                            &mut findings,
                            &sender,
                        );
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        for worker in &mut workers {
            if !worker.ended && worker.last_message.elapsed() > Duration::from_secs(args.hang) {
                worker.last_message = Instant::now();
                let _ = fs::write(
                    worker::state(args, worker.number).with_extension("hangs"),
                    "",
                );
                let _ = worker.child.kill();
            }
        }
    }
    let inputs: u64 = workers
        .iter()
        .map(|worker| worker.before + worker.count)
        .sum();
    println!(
        "{}: {inputs} inputs, {} findings, {} seconds ({places} places)",
        args.target,
        findings.len(),
        start.elapsed().as_secs()
    );
    ExitCode::from(u8::from(!findings.is_empty()))
}

/// Handles the end of a worker: keeps the input that ended it, and starts another worker for the remaining time.
fn end(
    args: &Args,
    worker: &mut Worker,
    died: Option<String>,
    start: Instant,
    findings: &mut BTreeSet<String>,
    sender: &mpsc::Sender<(u64, Event)>,
) {
    worker.before += worker.count;
    worker.count = 0;
    let state = worker::state(args, worker.number);
    let hangs = state.with_extension("hangs");
    if let Some(how) = died {
        let how = if fs::remove_file(&hangs).is_ok() {
            format!("hangs: no answer within {} seconds", args.hang)
        } else {
            format!("dies: {how}")
        };
        let last_words = worker::last_words(&state.with_extension("stderr"));
        let input = worker::read_state(&state).unwrap_or_default();
        if let Some((key, file)) = worker::keep(args, &how, &format!("{how}\n{last_words}"), &input)
            && findings.insert(key)
        {
            println!("{}: finding {file}", args.target);
        }
        let left = args.seconds.saturating_sub(start.elapsed().as_secs());
        // A worker that always dies at once finds nothing new.
        if left > 0 && worker.starts < 200 {
            worker.child = begin(args, worker.number, worker.starts, left, sender);
            worker.starts += 1;
            worker.last_message = Instant::now();
            return;
        }
    }
    let _ = fs::remove_file(&state);
    let _ = fs::remove_file(state.with_extension("stderr"));
    worker.ended = true;
}

fn begin(
    args: &Args,
    number: u64,
    starts: u64,
    seconds: u64,
    sender: &mpsc::Sender<(u64, Event)>,
) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    let seed = args
        .seed
        .wrapping_add(1000 * number)
        .wrapping_add(1_000_000 * starts);
    command.arg(&args.target);
    command.args(["--worker", &number.to_string(), "--seed", &seed.to_string()]);
    command.args([
        "--seconds",
        &seconds.to_string(),
        "--memory",
        &args.memory.to_string(),
    ]);
    command.arg("--out").arg(&args.out);
    for corpus in &args.corpus {
        command.arg("--corpus").arg(corpus);
    }
    // LLVM's warnings go there, and the last message of a process that dies.
    if let Ok(file) = fs::File::create(worker::state(args, number).with_extension("stderr")) {
        command.stderr(file);
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .expect("a worker starts");
    let stdout = child.stdout.take().expect("it is piped");
    let sender = sender.clone();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let mut words = line.splitn(3, ' ');
            let event = match (words.next(), words.next(), words.next()) {
                (Some("count"), Some(count), Some(places)) => {
                    Event::Count(count.parse().unwrap_or(0), places.parse().unwrap_or(0))
                }
                (Some("finding"), Some(key), Some(file)) => {
                    Event::Finding(key.to_string(), file.to_string())
                }
                _ => continue,
            };
            let _ = sender.send((number, event));
        }
        let _ = sender.send((number, Event::End));
    });
    child
}
