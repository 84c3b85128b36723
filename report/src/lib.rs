//! Reports of a run: the text report, the JSON object, SARIF, nvprof's table, and how findings and faults are shown.
//!
//! In: an [`Input`], which is a program's sources and IR, how it was counted and how it went. A [`Model`] is made from it once, which the
//! renderers read. Out: text, or values that serialise. Nothing here prints or reads files; the command line and the Rust library show the same words.

pub mod access;
mod advice;
pub mod architectures;
pub mod blocks;
mod code;
pub mod compare;
pub mod error;
pub mod expr;
pub mod fault;
pub mod findings;
mod fold;
pub mod gpu;
pub mod html;
pub mod json;
pub mod measure;
pub mod model;
pub mod nvprof;
pub mod require;
pub mod sarif;
mod suggestion;
pub mod text;
mod total;

pub use advice::{Thought, pads, shared_var};
pub use error::ReportError;
pub use fold::LaunchGroup;
use interp::{LaunchReport, Site, rules::RuleSet};
use ir::{
    Module, Space,
    locate::{self, Extent},
    source::SourceMap,
};
pub use model::Model;
use runtime::{host::Outcome, launches::Kept};
pub use suggestion::{Cost, Edit, Holds, Place, Suggestion, SuggestionKind};

/// Everything a report is made from.
pub struct Input<'a> {
    /// The program's file as given.
    pub program: &'a str,
    /// Its sources, for the lines.
    pub map: &'a SourceMap,
    /// Its IR, for places and variables.
    pub module: &'a Module,
    /// How it was counted.
    pub rules: &'a RuleSet,
    /// How it went.
    pub outcome: &'a Outcome,
    /// The GPU it ran on; `None` for the simulator.
    pub gpu: Option<&'a str>,
    /// What was found on the way.
    pub findings: &'a [findings::Found],
    /// Only launches of this kernel.
    pub kernel: Option<&'a str>,
    /// What is shown of the launches one by one.
    pub tables: Tables,
}

/// What the text report shows of each launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tables {
    /// A line: what it cost in all.
    #[default]
    None,
    /// Each access with its counts, like launches once.
    Folded,
    /// The same of each launch.
    Each,
}

impl Input<'_> {
    /// The launches to show one by one, with their index among all.
    pub fn launches(&self) -> impl Iterator<Item = (usize, &LaunchReport)> {
        let all = self.outcome.launches.iter().enumerate();
        all.filter(|(_, launch)| self.kernel.is_none_or(|name| launch.kernel_name == name))
    }

    /// The different reports of the launches to show.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Kept> {
        let all = self.outcome.launches.kept().iter();
        all.filter(|kept| {
            let name = &kept.report.kernel_name;
            self.kernel.is_none_or(|wanted| name == wanted)
        })
    }

    /// Different words of constant memory that a launch's requests read, summed: each is served on its own.
    pub fn constant_words(launch: &LaunchReport) -> u64 {
        let of_constant = |site: &&Site| site.space == Space::Constant;
        let sites = launch.sites.iter().filter(of_constant);
        sites.map(|site| site.counts.transactions).sum()
    }

    /// Where a launch stands: `line 7`, `steps.h:7` of an included file; `None` if no source says it.
    pub fn launch_place(&self, launch: &LaunchReport) -> Option<String> {
        let line = launch.statement.line;
        let name = self.included(launch);
        (line > 0).then(|| name.map_or(format!("line {line}"), |name| format!("{name}:{line}")))
    }

    /// The name of a place: `line 7`, `steps.h:7` of an included file, nothing of what no source says.
    pub(crate) fn place(&self, loc: ir::LocId) -> String {
        let at = self.module.loc(loc);
        match (at.line, self.is_own(at.file)) {
            (0, _) => String::new(),
            (line, true) => format!("line {line}"),
            (line, false) => format!("{}:{line}", self.file_name(at.file)),
        }
    }

    /// The file a launch stands in, where that is not the program's own.
    pub fn included(&self, launch: &LaunchReport) -> Option<String> {
        let is_own = launch.statement.line == 0 || self.is_own(launch.statement.file);
        (!is_own).then(|| self.file_name(launch.statement.file))
    }

    /// Whether a file is the program's own: a program of several sources has none.
    pub(crate) fn is_own(&self, file: u32) -> bool {
        file == 0 && self.module.files.first() == Some(&self.module.name)
    }

    /// The name of a source file.
    pub fn file_name(&self, file: u32) -> String {
        let name = self.module.files.get(file as usize);
        name.cloned().unwrap_or_default()
    }

    /// The text of a source line, without its indentation.
    pub fn line(&self, file: u32, line: u32) -> &str {
        let Some(name) = self.module.files.get(file as usize) else {
            return "";
        };
        let found = self.map.files().find(|(_, source)| source.name == *name);
        found.map_or("", |(_, source)| source.line(line).trim())
    }
}

/// The text of the source line of a place, without its indentation.
pub fn line(module: &Module, map: &SourceMap, loc: ir::LocId) -> String {
    let found = locate::span(loc, Extent::Character, module, map);
    found.map_or(String::new(), |span| {
        let line = module.loc(loc).line;
        map.file(span.file).line(line).trim().to_string()
    })
}
