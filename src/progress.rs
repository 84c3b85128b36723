//! The progress of a long run: a line on stderr, if that is a terminal, after the first second.

use std::{
    io::{self, IsTerminal},
    sync::{Mutex, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use interp::{Progress, progress::Moment};

/// Shorter runs show no line.
const QUIET: Duration = Duration::from_secs(1);
/// Time between two looks at the machine.
const EACH: Duration = Duration::from_millis(100);

const TEMPLATE: &str = "launch {prefix}  {bar:24} {human_pos} of {human_len} blocks{msg}";

/// The line, while it is shown.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Shows the line until it is dropped.
pub(crate) struct Shown {
    over: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Shows the machine's progress; `None` if stderr is not a terminal.
pub(crate) fn show(progress: &Progress) -> Option<Shown> {
    if !io::stderr().is_terminal() {
        return None;
    }
    let (over, is_over) = mpsc::channel();
    let progress = progress.clone();
    let thread = thread::spawn(move || watch(&progress, &is_over));
    Some(Shown {
        over: Some(over),
        thread: Some(thread),
    })
}

fn watch(progress: &Progress, is_over: &mpsc::Receiver<()>) {
    let goes_on = |time| is_over.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
    if !goes_on(QUIET) {
        return;
    }
    let (mut launch, mut began, mut before) = (0, Instant::now(), QUIET);
    loop {
        let now = progress.now();
        // Before the first launch there is nothing to count.
        if now.launches > launch {
            // The first launch begins about when the run begins.
            if launch > 0 {
                (began, before) = (Instant::now(), Duration::ZERO);
            }
            launch = now.launches;
            set(Some(line(now.launches, now.blocks)));
        }
        if let Some(bar) = &*lock() {
            bar.set_position(now.blocks_done);
            bar.set_message(rate(now, began.elapsed() + before));
        }
        if !goes_on(EACH) {
            return set(None);
        }
    }
}

/// `  1520 a second, 12 s left`; empty before the first block.
fn rate(now: Moment, time: Duration) -> String {
    let rate = now.blocks_done as f64 / time.as_secs_f64();
    if now.blocks_done == 0 || rate <= 0.0 {
        return String::new();
    }
    let left = (now.blocks - now.blocks_done) as f64 / rate;
    format!("  {rate:.0} a second, {left:.0} s left")
}

/// Says what takes so long, and for how long already, until it is dropped: for work of unknown length.
pub(crate) fn busy(what: &'static str) -> Option<Shown> {
    if !io::stderr().is_terminal() {
        return None;
    }
    let (over, is_over) = mpsc::channel();
    let thread = thread::spawn(move || {
        if is_over.recv_timeout(QUIET) != Err(mpsc::RecvTimeoutError::Timeout) {
            return;
        }
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {elapsed}") {
            line.set_style(style);
        }
        line.set_elapsed(QUIET);
        line.set_message(what);
        line.enable_steady_tick(EACH);
        set(Some(line));
        // Returns when the sender is dropped.
        let _ = is_over.recv();
        set(None);
    });
    Some(Shown {
        over: Some(over),
        thread: Some(thread),
    })
}

/// The progress line of many runs, until it is dropped.
pub(crate) struct Counted {
    begin: Instant,
    is_seen: bool,
}

/// Shows how many of `total` runs have ended, if stderr is a terminal.
pub(crate) fn counted(what: &str, total: u64, things: &str) -> Counted {
    let is_seen = io::stderr().is_terminal();
    if is_seen {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let template = format!("{what}  {{bar:24}} {{human_pos}} of {{human_len}} {things}{{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        set(Some(bar));
    }
    Counted {
        begin: Instant::now(),
        is_seen,
    }
}

impl Counted {
    /// One more run has ended; `bad` is the number of failed ones so far.
    pub(crate) fn step(&self, bad: usize) {
        if let Some(bar) = &*lock() {
            bar.inc(1);
            let now = Moment {
                launches: 1,
                blocks: bar.length().unwrap_or(0),
                blocks_done: bar.position(),
            };
            let bad = match bad {
                0 => String::new(),
                bad => format!(", {bad} failed"),
            };
            bar.set_message(bad + &rate(now, self.begin.elapsed()));
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.is_seen {
            set(None);
        }
    }
}

fn line(launch: u64, blocks: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(blocks), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    bar.set_prefix(launch.to_string());
    bar
}

fn set(new: Option<ProgressBar>) {
    let mut line = lock();
    if let Some(old) = line.take() {
        old.finish_and_clear();
    }
    *line = new;
}

fn lock() -> std::sync::MutexGuard<'static, Option<ProgressBar>> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes other output while the line is hidden.
pub(crate) fn without_bar<T>(write: impl FnOnce() -> T) -> T {
    match &*lock() {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_what_has_ended() {
        let at = |blocks_done| Moment {
            launches: 1,
            blocks: 100,
            blocks_done,
        };
        assert_eq!(rate(at(0), Duration::from_secs(2)), "");
        assert_eq!(
            rate(at(50), Duration::from_secs(2)),
            "  25 a second, 2 s left"
        );
        assert_eq!(
            rate(at(100), Duration::from_secs(4)),
            "  25 a second, 0 s left"
        );
    }
}
