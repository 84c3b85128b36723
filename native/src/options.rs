//! Parses the environment variable `DSLC`: `DSLC="--arch sm_80 --html out.html"`.

use std::{path::PathBuf, time::Duration};

use interp::{
    BothOrders, Checks, MachineConfig, MemoryOrder, Order, Schedule, Severity, StopFlag,
    rules::{Arch, BankWidth, RuleSet},
};
use report::{Tables, require::Requirement};
use runtime::words;

/// The default limit of warp instructions in one launch: minutes of work.
const DEFAULT_LIMIT: u64 = 20_000_000_000;

/// The names of all options, for the message about an unknown one.
const NAMES: &str = "--arch, --bank-width, --rules, --device, --jobs, --limit, --timeout, --memory, --checks, --no-checks, --count-only, --order, --stop-at-first, --fail-on, \
    --require, --baseline, --write-baseline, --quiet, --kernel, --launches, --metrics, --html, --json and --sarif";

/// The options of a process.
#[derive(Debug)]
pub(crate) struct Options {
    /// `None`: that of the first source, or sm_90.
    pub(crate) arch: Option<Arch>,
    bank_width: BankWidth,
    /// Whether to use a GPU instead of the simulator.
    pub(crate) on_gpu: bool,
    pub(crate) jobs: usize,
    limit: u64,
    /// The time limit of the process, and what stops running launches.
    pub(crate) timeout: Option<Duration>,
    pub(crate) stop: StopFlag,
    /// A file of rules: its name and text.
    rules: Option<(String, String)>,
    /// The most memory that the device allocates.
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) checking: Checking,
    pub(crate) output: Output,
}

/// What is checked, and with which consequences.
#[derive(Debug)]
pub(crate) struct Checking {
    checks: Checks,
    order: Order,
    both_orders: BothOrders,
    schedule: Option<Schedule>,
    /// The number of random schedules in which each launch also runs, and their seed.
    schedules: (u32, u64),
    memory_order: MemoryOrder,
    /// Whether launches are counted from some of their blocks.
    pub(crate) counts_only: bool,
    pub(crate) stops_at_first: bool,
    /// The mildest finding that makes the exit code 1.
    pub(crate) fail_on: Option<Severity>,
    /// A file of known findings.
    pub(crate) baseline: Option<PathBuf>,
    pub(crate) write_baseline: Option<PathBuf>,
    /// The requirements for each launch.
    pub(crate) requirements: Vec<Requirement>,
}

/// The reports at the end.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// Whether to report only findings.
    pub(crate) is_quiet: bool,
    pub(crate) kernel: Option<String>,
    pub(crate) tables: Tables,
    /// Show nvprof's table of these metrics instead of the report.
    pub(crate) metrics: Vec<String>,
    pub(crate) html: Option<PathBuf>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) sarif: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arch: None,
            bank_width: BankWidth::Four,
            on_gpu: false,
            jobs: std::thread::available_parallelism().map_or(1, |n| n.get()),
            limit: DEFAULT_LIMIT,
            timeout: None,
            stop: StopFlag::default(),
            rules: None,
            memory_bytes: None,
            checking: Checking {
                checks: Checks::default(),
                order: Order::default(),
                both_orders: BothOrders::default(),
                schedule: None,
                schedules: (0, 1),
                memory_order: MemoryOrder::Strong,
                counts_only: false,
                stops_at_first: false,
                fail_on: Some(Severity::Error),
                baseline: None,
                write_baseline: None,
                requirements: vec![],
            },
            output: Output::default(),
        }
    }
}

impl Options {
    /// The options in the environment: `DSLC`, and `DSLC_DEVICE`, which gives only the device.
    pub(crate) fn of_environment() -> Result<Options, String> {
        let mut options = Options::parse(&std::env::var("DSLC").unwrap_or_default())?;
        if let Ok(device) = std::env::var("DSLC_DEVICE") {
            options.on_gpu = is_gpu(&device).map_err(|why| format!("DSLC_DEVICE: {why}"))?;
        }
        let checking = &options.checking;
        let name = match (checking.counts_only, checking.requirements.is_empty()) {
            (true, _) if options.on_gpu => "--count-only",
            (_, false) if options.on_gpu => "--require",
            _ => return Ok(options),
        };
        Err(format!(
            "DSLC: a GPU run has no counts: {name} needs the simulator"
        ))
    }

    /// Parses the variable's text: words as in a shell, including quotes. The error is one sentence.
    pub(crate) fn parse(text: &str) -> Result<Options, String> {
        let words =
            shlex::split(text).ok_or_else(|| "DSLC: a quotation mark is not closed".to_string())?;
        let mut options = Options::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (name, given) = match word.split_once('=') {
                Some((name, value)) => (name.to_string(), Some(value.to_string())),
                None => (word, None),
            };
            if options.flag(&name, given.as_deref())? {
                continue;
            }
            let mut value = || {
                let given = given.clone().or_else(|| words.next());
                given.ok_or_else(|| "expected a value".to_string())
            };
            let is_known = options.set(&name, &mut value);
            if !is_known.map_err(|why| format!("DSLC: {name}: {why}"))? {
                return Err(format!(
                    "DSLC: unknown option {name}; the options are {NAMES}"
                ));
            }
        }
        Ok(options)
    }

    /// Parses an option without a value; returns whether `name` is one.
    fn flag(&mut self, name: &str, given: Option<&str>) -> Result<bool, String> {
        match (name, given) {
            ("--no-checks", None) => self.checking.checks = Checks::NONE,
            ("--count-only", None) => self.checking.counts_only = true,
            ("--stop-at-first", None) => self.checking.stops_at_first = true,
            ("--quiet", None) => self.output.is_quiet = true,
            ("--launches", None | Some("folded")) => self.output.tables = Tables::Folded,
            ("--launches", Some("all")) => self.output.tables = Tables::Each,
            ("--no-checks" | "--count-only" | "--stop-at-first" | "--quiet", Some(_)) => {
                return Err(format!("DSLC: {name} takes no value"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Parses an option with a value; returns whether `name` is one.
    fn set(
        &mut self,
        name: &str,
        value: &mut dyn FnMut() -> Result<String, String>,
    ) -> Result<bool, String> {
        let (checking, output) = (&mut self.checking, &mut self.output);
        match name {
            "--arch" => {
                let arch: Result<Arch, _> = value()?.parse();
                self.arch = Some(arch.map_err(|why| why.to_string())?);
            }
            "--bank-width" => {
                self.bank_width = match &*value()? {
                    "4" => BankWidth::Four,
                    "8" => BankWidth::Eight,
                    other => return Err(format!("{other}: banks are 4 or 8 bytes wide")),
                }
            }
            "--device" => self.on_gpu = is_gpu(&value()?)?,
            // 0: one per core, which is the default.
            "--jobs" => match number(&value()?)? {
                0 => {}
                jobs => self.jobs = usize::try_from(jobs).unwrap_or(usize::MAX),
            },
            "--limit" => self.limit = number(&value()?)?,
            "--timeout" => {
                let time = seconds(&value()?)?;
                (self.timeout, self.stop) = (Some(time), StopFlag::with_time(time));
            }
            "--rules" => {
                let name = value()?;
                let text =
                    std::fs::read_to_string(&name).map_err(|why| format!("`{name}`: {why}"))?;
                self.rules = Some((name, text));
            }
            "--memory" => {
                let value = value()?;
                match MemoryOrder::from_name(&value) {
                    Some(order) => checking.memory_order = order,
                    None => self.memory_bytes = Some(words::bytes_of(&value)?),
                }
            }
            "--checks" => {
                let text = value()?;
                let checks: Result<Vec<Checks>, String> =
                    text.split(',').map(words::checks_of).collect();
                checking.checks = words::any_of(&checks?);
            }
            "--order" => {
                (checking.order, checking.both_orders) = match &*value()? {
                    "ascending" => (Order::Ascending, BothOrders::Never),
                    "descending" => (Order::Descending, BothOrders::Never),
                    "both" => (Order::Ascending, BothOrders::Always),
                    other => {
                        return Err(format!("{other}: expected ascending, descending or both"));
                    }
                }
            }
            "--schedule" => checking.schedule = Some(value()?.parse()?),
            "--schedules" => {
                checking.schedules.0 = number(&value()?)?.try_into().unwrap_or(u32::MAX)
            }
            "--seed" => checking.schedules.1 = number(&value()?)?,
            "--fail-on" => {
                checking.fail_on = match &*value()? {
                    "error" => Some(Severity::Error),
                    "warning" => Some(Severity::Warning),
                    "note" => Some(Severity::Note),
                    "never" => None,
                    other => {
                        return Err(format!("{other}: expected error, warning, note or never"));
                    }
                }
            }
            "--require" => {
                let text = value()?;
                let requirement = Requirement::parse(&text);
                checking
                    .requirements
                    .push(requirement.map_err(|why| format!("`{text}`: {why}"))?);
            }
            "--baseline" => checking.baseline = Some(value()?.into()),
            "--write-baseline" => checking.write_baseline = Some(value()?.into()),
            "--kernel" => output.kernel = Some(value()?),
            "--metrics" => output.metrics = value()?.split(',').map(str::to_string).collect(),
            "--html" => output.html = Some(value()?.into()),
            "--json" => output.json = Some(value()?.into()),
            "--sarif" => output.sarif = Some(value()?.into()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The simulated architecture.
    pub(crate) fn rules_arch(&self) -> Arch {
        self.arch.unwrap_or(Arch::SM_90)
    }

    /// The rules for banks of this width.
    pub(crate) fn rule_set(&self, width: BankWidth) -> Result<RuleSet, String> {
        let Some((name, text)) = &self.rules else {
            return RuleSet::new(self.rules_arch(), width).map_err(|why| format!("DSLC: {why}"));
        };
        let arch = self.arch.map(|arch| arch.to_string());
        let default = Arch::SM_90.to_string();
        let rules = runtime::rules::of_text(name, text, arch.as_deref(), &default);
        rules.map_err(|why| format!("DSLC: --rules `{name}`: {why}"))
    }

    /// The machine that these options describe.
    pub(crate) fn machine(&self) -> Result<MachineConfig, String> {
        let rules = self.rule_set(self.bank_width)?;
        let checking = &self.checking;
        let (asked, schedule) = (checking.schedules.0, checking.schedule);
        let schedules = checking.memory_order.schedules(asked, schedule);
        Ok(MachineConfig {
            rules,
            jobs: self.jobs,
            limit: Some(self.limit),
            checks: match checking.counts_only {
                true => Checks::NONE,
                false => checking.checks,
            },
            order: checking.order,
            both_orders: match checking.counts_only {
                true => BothOrders::Never,
                false => checking.both_orders,
            },
            schedule: checking.schedule.unwrap_or_default(),
            schedules: (schedules, checking.schedules.1),
            memory: checking.memory_order,
            keep_going: !checking.stops_at_first,
            trace: false,
            count_only: checking.counts_only,
            reuse: true,
            stop: self.stop.clone(),
            progress: interp::Progress::default(),
        })
    }
}

fn is_gpu(device: &str) -> Result<bool, String> {
    match device {
        "gpu" => Ok(true),
        "sim" | "simulator" | "" => Ok(false),
        other => Err(format!("{other}: expected gpu or simulator")),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.trim().parse().ok();
    seconds
        .filter(|&seconds| seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("{text}: expected a number of seconds above 0: 5, 0.5"))
}

fn number(text: &str) -> Result<u64, String> {
    text.replace('_', "")
        .parse()
        .map_err(|_| format!("{text}: expected a number"))
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
        assert_eq!(options.output.html, Some("out.html".into()));
        assert_eq!(options.checking.fail_on, Some(Severity::Warning));
        assert_eq!(options.checking.checks, Checks::NONE);
    }

    #[test]
    fn words_are_a_shells() {
        let text =
            r#"--html "my report.html" --launches --kernel 'k<float, 32>' --checks race,uninit"#;
        let options = Options::parse(text).unwrap();
        assert_eq!(options.output.html, Some("my report.html".into()));
        assert_eq!(options.output.kernel.as_deref(), Some("k<float, 32>"));
        assert_eq!(options.output.tables, Tables::Folded);
        assert!(options.checking.checks.has(interp::Check::Race));
        assert!(!options.checking.checks.has(interp::Check::Barrier));
        assert!(
            Options::parse("--html 'x")
                .unwrap_err()
                .contains("quotation")
        );
    }

    #[test]
    fn what_is_no_option_is_said() {
        assert!(Options::parse("--htm x").unwrap_err().contains("--html"));
        assert_eq!(
            Options::parse("--limit").unwrap_err(),
            "DSLC: --limit: expected a value"
        );
        assert!(
            Options::parse("--limit ten")
                .unwrap_err()
                .contains("expected a number")
        );
    }
}
