//! The costs and findings of a launch.

use std::{
    fmt, fs,
    io::{self, IsTerminal},
    panic::Location,
    path::{Path, PathBuf},
    sync::Arc,
};

use interp::{Counted, LaunchReport, Severity, metrics, rules::RuleSet, trap::AccessOp};
use report::{
    Input, Model, Tables, access,
    findings::{self, Found},
    html, json, text,
};
use runtime::host::Outcome;

use crate::{
    embed::Module,
    error::{Error, Result},
    finding::Finding,
};

pub use report::access::Access as Site;

/// The environment variable that names the folder for reports of failed assertions.
const REPORT_FOLDER: &str = "DSLC_REPORT_DIR";

/// A launch that ran: its counts, metrics and findings.
///
/// `Display` is the report that the command line prints. A copy refers to the same launch.
#[derive(Clone)]
pub struct Run(Arc<Data>);

/// Everything known at the end of a launch.
pub(crate) struct Ran {
    pub(crate) module: Arc<Module>,
    /// The GPU's name.
    pub(crate) gpu: Option<String>,
    pub(crate) rules: RuleSet,
    pub(crate) outcome: Outcome,
    pub(crate) printed: Vec<u8>,
    pub(crate) caller: &'static Location<'static>,
    /// The place of the launch if it is in a program of another language.
    pub(crate) from: Option<(String, u32)>,
    pub(crate) index: usize,
}

struct Data {
    ran: Ran,
    found: Vec<Found>,
    findings: Vec<Finding>,
}

/// Columns of a text: `COLUMNS`, else 80.
fn columns() -> usize {
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.and_then(|text| text.parse().ok());
    columns.unwrap_or(80).clamp(60, 400)
}

impl Run {
    pub(crate) fn new(mut ran: Ran) -> Run {
        let module = ran.module.program.module();
        let line = |loc| report::line(module, &ran.module.map, loc);
        let found = findings::all(&ran.outcome, module, &line);
        let findings = found
            .iter()
            .map(|found| Finding::new(found, module))
            .collect();
        // This is for the report's title only. Without a line in the kernel's source, advice about the launch statement has no place: the
        // report would take the line for one of the kernel's file.
        let line = if ran.from.is_some() {
            0
        } else {
            ran.caller.line()
        };
        for launch in ran.outcome.launches.reports_mut() {
            launch.statement.line = line;
        }
        Run(Arc::new(Data {
            ran,
            found,
            findings,
        }))
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &str {
        self.launch().map_or("", |launch| &launch.kernel_name)
    }

    /// Where the Rust program launched it.
    pub fn caller(&self) -> &'static Location<'static> {
        self.0.ran.caller
    }

    /// Its number among the launches of the device, from 0.
    pub fn index(&self) -> usize {
        self.0.ran.index
    }

    /// The number of blocks it was counted from, on a device that only counts ([`Builder::count_only`](crate::Builder::count_only)): 0 if
    /// it repeats an earlier launch. `None` if all blocks ran.
    pub fn counted_from(&self) -> Option<u64> {
        match self.launch()?.order.counted {
            Counted::From { blocks, .. } => Some(blocks),
            Counted::Run | Counted::InFull(_) | Counted::Part { .. } => None,
        }
    }

    /// The output of its threads, which also went to standard output. On a GPU the driver prints it, and this is empty.
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.0.ran.printed).into_owned()
    }

    /// All findings, in the order of the source.
    pub fn findings(&self) -> &[Finding] {
        &self.0.findings
    }

    /// Whether there is no finding that is an error or a warning.
    pub fn is_clean(&self) -> bool {
        let is_bad = |finding: &Finding| finding.severity() >= Severity::Warning;
        !self.findings().iter().any(is_bad)
    }

    /// Panics with the messages, in colour on a terminal, if there is a finding that is an error or a warning. If the variable
    /// `DSLC_REPORT_DIR` names a folder, the whole report is saved there first, as text and as JSON, under the name of the test.
    #[track_caller]
    pub fn assert_clean(&self) {
        if self.is_clean() {
            return;
        }
        let saved = self.leave_report();
        let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        panic!(
            "the launch of `{}` is not clean\n\n{}{saved}",
            self.kernel(),
            self.messages(color)
        );
    }

    /// Saves the report if the user wants that; returns a sentence with the place.
    fn leave_report(&self) -> String {
        let Some(folder) = std::env::var_os(REPORT_FOLDER).map(PathBuf::from) else {
            return String::new();
        };
        let thread = std::thread::current();
        let name: String = thread
            .name()
            .unwrap_or(self.kernel())
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '-' })
            .collect();
        let path = folder.join(format!("{name}.txt"));
        let saved = fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, self.report()))
            .and_then(|()| fs::write(path.with_extension("json"), self.json()));
        match saved {
            Ok(()) => format!("\nthe report is in {}\n", path.display()),
            Err(error) => format!(
                "\nthe report cannot be saved in {}: {error}\n",
                folder.display()
            ),
        }
    }

    /// The report as text: the messages, then each access with its costs, as `dslc run` prints them.
    pub fn report(&self) -> String {
        self.with_model(|model| {
            let messages = self.messages(false);
            let report = text::report(model, text::Style::plain(columns()));
            match (messages.is_empty(), report.is_empty()) {
                (true, _) => report,
                (false, true) => messages,
                (false, false) => format!("{messages}\n{report}"),
            }
        })
    }

    /// The report as JSON, schema `dslc-report/1`: what `dslc run --format json` prints.
    pub fn json(&self) -> String {
        self.with_model(|model| {
            let report = json::report(model, &self.0.ran.printed);
            serde_json::to_string_pretty(&report).unwrap_or_default()
        })
    }

    /// The report as a page, with the source, counts and pictures of the worst requests, as written by `dslc run --html`. A single text
    /// that needs no network. For a run on a GPU it has no counts.
    pub fn html(&self) -> String {
        self.with_model(|model| html::page(model, &self.0.ran.printed))
    }

    /// Writes the report to a file: JSON if its name ends in `.json`, a page if in `.html`, else text.
    pub fn save_report(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let report = match path.extension().and_then(|end| end.to_str()) {
            Some("json") => self.json(),
            Some("html") => self.html(),
            _ => self.report(),
        };
        fs::write(path, report)
            .map_err(|error| Error::new(format_args!("cannot write `{}`: {error}", path.display())))
    }

    /// The messages of the findings, as the command line prints them: with the source's lines, and in colour if `color`. Empty if there are
    /// none.
    pub fn messages(&self, color: bool) -> String {
        let Data { ran, found, .. } = &*self.0;
        let module = ran.module.program.module();
        let messages = findings::render::all(found, module, &ran.module.map, color, columns());
        if messages.is_empty() {
            messages
        } else {
            match &ran.from {
                Some((file, line)) => format!("{messages}  launched at {file}:{line}\n"),
                None => format!("{messages}  launched at {}\n", ran.caller),
            }
        }
    }

    /// A metric by nvprof's or ncu's name, as a number: `gst_efficiency` of 100 % is 1.0. `None` if the architecture's rules do not
    /// model it, and on a GPU.
    ///
    /// # Panics
    /// If there is no metric of that name; the message lists similar names.
    #[track_caller]
    pub fn metric(&self, name: &str) -> Option<f64> {
        let metric = match metrics::find(name) {
            Ok(metric) => metric,
            Err(error) => panic!("{error}"),
        };
        if self.0.ran.gpu.is_some() {
            return None;
        }
        let value = metric.value(&self.launch()?.counts, &self.0.ran.rules)?;
        Some(match value {
            metrics::Value::Percent(percent) => percent / 100.0,
            metrics::Value::Count(_) | metrics::Value::Ratio(_) => value.number(),
        })
    }

    /// The accesses with that source text: `tile[threadIdx.x][threadIdx.y]`. White space does not matter. If a text is both loaded and
    /// stored, or is on several lines, the counts are added; [`Run::load`], [`Run::store`] and [`Run::atomic`] separate them.
    ///
    /// # Panics
    /// If the kernel has no access with that text, or was not counted; the message lists its accesses.
    #[track_caller]
    pub fn site(&self, text: &str) -> Site {
        self.found_site(text, None)
    }

    /// The loads with that source text.
    ///
    /// # Panics
    /// As [`Run::site`].
    #[track_caller]
    pub fn load(&self, text: &str) -> Site {
        self.found_site(text, Some(AccessOp::Load))
    }

    /// The stores with that source text.
    ///
    /// # Panics
    /// As [`Run::site`].
    #[track_caller]
    pub fn store(&self, text: &str) -> Site {
        self.found_site(text, Some(AccessOp::Store))
    }

    /// The atomics with that source text.
    ///
    /// # Panics
    /// As [`Run::site`].
    #[track_caller]
    pub fn atomic(&self, text: &str) -> Site {
        self.found_site(text, Some(AccessOp::Atomic))
    }

    #[track_caller]
    fn found_site(&self, text: &str, op: Option<AccessOp>) -> Site {
        let found = self
            .launch()
            .and_then(|launch| access::find(launch, text, op));
        found.unwrap_or_else(|| panic!("{}", self.no_site(text, op)))
    }

    fn no_site(&self, text: &str, op: Option<AccessOp>) -> String {
        let what = op.map_or_else(|| "access".to_string(), |op| op.to_string());
        if let Some(gpu) = &self.0.ran.gpu {
            return format!("`{}` ran on {gpu}, which counts no accesses", self.kernel());
        }
        let sites = self.sites();
        let mut all = String::new();
        for site in &sites {
            all += &format!(
                "\n  line {:>4}  {} {}  {}",
                site.line(),
                site.space(),
                site.op(),
                site.text()
            );
        }
        let kernel = self.kernel();
        if sites.is_empty() {
            format!("there is no {what} `{text}` in `{kernel}`: it executed none")
        } else {
            format!("there is no {what} `{text}` in `{kernel}`; these were executed:{all}")
        }
    }

    /// Every access that was executed, in the order of the source. Empty on a GPU.
    pub fn sites(&self) -> Vec<Site> {
        let launch = self.launch();
        launch.into_iter().flat_map(access::all).collect()
    }

    pub(crate) fn launch(&self) -> Option<&LaunchReport> {
        self.0.ran.outcome.launches.first()
    }

    fn with_model<R>(&self, work: impl FnOnce(&Model<'_>) -> R) -> R {
        let Data { ran, found, .. } = &*self.0;
        work(&Model::new(&Input {
            program: &ran.module.name,
            map: &ran.module.map,
            module: ran.module.program.module(),
            rules: &ran.rules,
            outcome: &ran.outcome,
            gpu: ran.gpu.as_deref(),
            findings: found,
            kernel: None,
            tables: Tables::Each,
        }))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report())
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report())
    }
}
