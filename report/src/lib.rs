//! Reports of a run: the text report, the JSON object, SARIF, nvprof's table, and how findings and faults are shown.
//!
//! The renderers read a [`Model`], which is made once from an [`Input`]: a program's sources and IR, how it was counted and how it ended.
//! They return text, or values that serialise. Nothing in this crate prints or reads files, so the command line and the Rust library show
//! the same words.

pub mod access;
mod advice;
pub mod architectures;
pub mod blocks;
mod code;
pub mod compare;
mod compiled;
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
pub use compiled::as_compiled;
pub use error::ReportError;
pub use fold::LaunchGroup;
use interp::{LaunchReport, Site, rules::RuleSet};
use ir::{
    Module, Space,
    locate::{self, Extent},
    source::SourceMap,
};
pub use model::Model;
use runtime::{host::Outcome, launches::IdenticalLaunches};
pub use suggestion::{Cost, Edit, Holds, Place, Suggestion, SuggestionKind};

/// What a report is made from.
pub struct Input<'a> {
    /// The program's file as given.
    pub program: &'a str,
    /// Its sources, for the text of lines.
    pub map: &'a SourceMap,
    /// Its IR, for places and variables.
    pub module: &'a Module,
    /// The rules it was counted by.
    pub rules: &'a RuleSet,
    /// How it ended.
    pub outcome: &'a Outcome,
    /// The GPU it ran on; `None` for the simulator.
    pub gpu: Option<&'a str>,
    /// The findings of the run.
    pub findings: &'a [findings::Found],
    /// Show only launches of this kernel.
    pub kernel: Option<&'a str>,
    /// How launches are shown one by one.
    pub tables: Tables,
}

/// What the text report shows of each launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tables {
    /// A line: its total cost.
    #[default]
    None,
    /// Each access with its counts, equal launches once.
    Folded,
    /// The same, for each launch.
    Each,
}

impl Input<'_> {
    /// The launches to show, with their index among all launches.
    pub fn launches(&self) -> impl Iterator<Item = (usize, &LaunchReport)> {
        let all = self.outcome.launches.iter().enumerate();
        all.filter(|(_, launch)| self.kernel.is_none_or(|name| launch.kernel_name == name))
    }

    /// The different reports of the launches to show.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &IdenticalLaunches> {
        let all = self.outcome.launches.kept().iter();
        all.filter(|kept| {
            let name = &kept.report.kernel_name;
            self.kernel.is_none_or(|wanted| name == wanted)
        })
    }

    /// The different words of constant memory that each request of a launch reads, summed up. Each request is served separately.
    pub fn constant_words(launch: &LaunchReport) -> u64 {
        let of_constant = |site: &&Site| site.space == Space::Constant;
        let sites = launch.sites.iter().filter(of_constant);
        sites.map(|site| site.counts.transactions).sum()
    }

    /// The place of a launch: `line 7`, or `steps.h:7` in an included file; `None` if it is not in a source.
    pub fn launch_place(&self, launch: &LaunchReport) -> Option<String> {
        let line = launch.statement.line;
        let name = self.included(launch);
        (line > 0).then(|| name.map_or(format!("line {line}"), |name| format!("{name}:{line}")))
    }

    /// The name of a place: `line 7`, or `steps.h:7` in an included file; empty if it is not in a source.
    pub(crate) fn place(&self, loc: ir::LocId) -> String {
        let at = self.module.loc(loc);
        match (at.line, self.is_own(at.file)) {
            (0, _) => String::new(),
            (line, true) => format!("line {line}"),
            (line, false) => format!("{}:{line}", self.file_name(at.file)),
        }
    }

    /// The file of a launch, if that is not the program's own.
    pub fn included(&self, launch: &LaunchReport) -> Option<String> {
        let is_own = launch.statement.line == 0 || self.is_own(launch.statement.file);
        (!is_own).then(|| self.file_name(launch.statement.file))
    }

    /// Whether a file is the program's own. A program of several sources has no such file.
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
