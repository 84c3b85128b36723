//! What the environment variable `DSLC` asks for: `DSLC="--arch sm_80 --html out.html"`.

use std::path::PathBuf;

use interp::{
    BothOrders, Checks, MachineConfig, Order,
    rules::{Arch, BankWidth, RuleSet},
};

/// Warp instructions of one launch, when nothing says how many: minutes of work.
const DEFAULT_LIMIT: u64 = 20_000_000_000;

/// What makes the process end with exit code 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum FailOn {
    /// Findings of severity error.
    #[default]
    Error,
    /// Warnings, too.
    Warning,
    /// Nothing.
    Never,
}

/// The options of a process.
#[derive(Debug)]
pub(crate) struct Options {
    /// Else that of the first source, else sm_90.
    pub(crate) arch: Option<Arch>,
    /// A GPU instead of the simulator.
    pub(crate) on_gpu: bool,
    pub(crate) jobs: usize,
    pub(crate) limit: u64,
    pub(crate) has_checks: bool,
    pub(crate) stops_at_first: bool,
    /// No report but of what was found.
    pub(crate) is_quiet: bool,
    pub(crate) fail_on: FailOn,
    pub(crate) html: Option<PathBuf>,
    pub(crate) json: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arch: None,
            on_gpu: false,
            jobs: std::thread::available_parallelism().map_or(1, |n| n.get()),
            limit: DEFAULT_LIMIT,
            has_checks: true,
            stops_at_first: false,
            is_quiet: false,
            fail_on: FailOn::default(),
            html: None,
            json: None,
        }
    }
}

impl Options {
    /// What the environment asks for: `DSLC`, and `DSLC_DEVICE`, which names the device alone.
    pub(crate) fn of_environment() -> Result<Options, String> {
        let mut options = Options::parse(&std::env::var("DSLC").unwrap_or_default())?;
        if let Ok(device) = std::env::var("DSLC_DEVICE") {
            options.on_gpu = is_gpu("DSLC_DEVICE", &device)?;
        }
        Ok(options)
    }

    /// Reads the variable's text. The error is one sentence.
    pub(crate) fn parse(text: &str) -> Result<Options, String> {
        let mut options = Options::default();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let (name, given) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            let mut value = || {
                given
                    .or_else(|| words.next())
                    .ok_or_else(|| format!("DSLC: {name} needs a value"))
            };
            match name {
                "--arch" => {
                    let arch: Arch = value()?.parse().map_err(|why| format!("DSLC: {why}"))?;
                    options.arch = Some(arch);
                }
                "--jobs" => {
                    let jobs = number(name, value()?)?;
                    options.jobs = if jobs == 0 {
                        options.jobs
                    } else {
                        jobs as usize
                    };
                }
                "--device" => options.on_gpu = is_gpu(name, value()?)?,
                "--limit" => options.limit = number(name, value()?)?,
                "--html" => options.html = Some(value()?.into()),
                "--json" => options.json = Some(value()?.into()),
                "--fail-on" => {
                    options.fail_on = match value()? {
                        "error" => FailOn::Error,
                        "warning" => FailOn::Warning,
                        "never" => FailOn::Never,
                        other => {
                            return Err(format!(
                                "DSLC: --fail-on {other}: expected error, warning or never"
                            ));
                        }
                    }
                }
                "--no-checks" => options.has_checks = false,
                "--stop-at-first" => options.stops_at_first = true,
                "--quiet" => options.is_quiet = true,
                _ => {
                    return Err(format!(
                        "DSLC: there is no option {name}; there are --arch, --device, --jobs, --limit, --no-checks, --stop-at-first, --quiet, \
                         --html, --json and --fail-on"
                    ));
                }
            }
        }
        Ok(options)
    }

    /// The architecture that is simulated.
    pub(crate) fn rules_arch(&self) -> Arch {
        self.arch.unwrap_or(Arch::SM_90)
    }

    /// The machine of these options.
    pub(crate) fn machine(&self) -> Result<MachineConfig, String> {
        let rules = RuleSet::new(self.rules_arch(), BankWidth::Four)
            .map_err(|why| format!("DSLC: {why}"))?;
        Ok(MachineConfig {
            rules,
            jobs: self.jobs,
            limit: Some(self.limit),
            checks: if self.has_checks {
                Checks::default()
            } else {
                Checks::NONE
            },
            order: Order::default(),
            both_orders: BothOrders::default(),
            keep_going: !self.stops_at_first,
            trace: false,
            stop: interp::StopFlag::default(),
            progress: interp::Progress::default(),
        })
    }
}

fn is_gpu(name: &str, device: &str) -> Result<bool, String> {
    match device {
        "gpu" => Ok(true),
        "sim" | "" => Ok(false),
        other => Err(format!("DSLC: {name} {other}: expected gpu or sim")),
    }
}

fn number(name: &str, text: &str) -> Result<u64, String> {
    text.replace('_', "")
        .parse()
        .map_err(|_| format!("DSLC: {name} {text}: expected a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_command_line() {
        let text = "--arch=sm_35 --html out.html --fail-on warning --no-checks --device gpu";
        let options = Options::parse(text).unwrap();
        assert!(options.on_gpu);
        assert_eq!(options.arch, Some(Arch::SM_35));
        assert_eq!(options.html, Some("out.html".into()));
        assert_eq!(options.fail_on, FailOn::Warning);
        assert!(!options.has_checks);
    }

    #[test]
    fn what_is_no_option_is_said() {
        assert!(Options::parse("--htm x").unwrap_err().contains("--html"));
        assert_eq!(
            Options::parse("--limit").unwrap_err(),
            "DSLC: --limit needs a value"
        );
        assert!(
            Options::parse("--limit ten")
                .unwrap_err()
                .contains("expected a number")
        );
    }
}
