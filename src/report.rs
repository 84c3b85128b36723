//! What is told of a run: the text report, the JSON object, nvprof's table, and how a fault is shown.

pub(crate) mod advice;
pub(crate) mod fault;
pub(crate) mod findings;
pub(crate) mod fold;
pub(crate) mod gpu;
pub(crate) mod json;
pub(crate) mod nvprof;
pub(crate) mod sarif;
pub(crate) mod text;

use dsl::{
    ir::{
        Module,
        locate::{self, Extent},
    },
    source::SourceMap,
};
use interp::rules::RuleSet;
use runtime::host::Outcome;

/// Everything a report is made from.
pub(crate) struct Input<'a> {
    /// The program's file as given.
    pub(crate) program: &'a str,
    /// Its sources, for the lines.
    pub(crate) map: &'a SourceMap,
    /// Its IR, for places and variables.
    pub(crate) module: &'a Module,
    /// How it was counted.
    pub(crate) rules: &'a RuleSet,
    /// How it went.
    pub(crate) outcome: &'a Outcome,
    /// The GPU it ran on; `None` for the simulator.
    pub(crate) gpu: Option<&'a str>,
    /// What was found on the way.
    pub(crate) findings: &'a [findings::Found],
    /// Only launches of this kernel.
    pub(crate) kernel: Option<&'a str>,
    /// Show each launch, not one of like ones.
    pub(crate) all_launches: bool,
}

impl Input<'_> {
    /// The launches to show, with their index among all.
    pub(crate) fn launches(&self) -> impl Iterator<Item = (usize, &interp::LaunchReport)> {
        let all = self.outcome.launches.iter().enumerate();
        all.filter(|(_, launch)| self.kernel.is_none_or(|name| launch.kernel_name == name))
    }

    /// The text of a source line, without its indentation.
    pub(crate) fn line(&self, file: u32, line: u32) -> &str {
        let Some(name) = self.module.files.get(file as usize) else {
            return "";
        };
        let found = self.map.files().find(|(_, source)| source.name == *name);
        found.map_or("", |(_, source)| source.line(line).trim())
    }
}

/// The text of the source line of a place, without its indentation.
pub(crate) fn line(module: &Module, map: &SourceMap, loc: dsl::ir::LocId) -> String {
    let found = locate::span(loc, Extent::Character, module, map);
    found.map_or(String::new(), |span| {
        let line = module.loc(loc).line;
        map.file(span.file).line(line).trim().to_string()
    })
}
