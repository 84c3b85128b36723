//! Any text as a program: the front end must answer, and what it accepts must run to an end.
//!
//! `cargo fuzz run program fuzz/corpus/program examples` starts from the examples.
#![no_main]

use std::sync::Arc;

use dsl::source::{NoFiles, SourceFile, SourceMap};
use interp::{
    MachineConfig, Program,
    rules::{Arch, RuleSet},
};
use libfuzzer_sys::fuzz_target;
use runtime::{
    device::simulator::Simulator,
    host::{HostOptions, Io, Note, find_main, run_main},
};

struct Nowhere;

impl Io for Nowhere {
    fn stdout(&mut self, _bytes: &[u8]) {}
    fn stderr(&mut self, _bytes: &[u8]) {}
    fn note(&mut self, _note: &Note) {}
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("fuzz.k", text));
    let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
    let _ = dsl::diagnostic::render::render(&compiled.diagnostics, &map, false, Some(80));
    let Some(module) = compiled.module else {
        assert!(!compiled.diagnostics.is_empty(), "refused without a word");
        return;
    };
    dsl::ir::verify::assert_verified(&module, "the front end");
    let program = Program::new(Arc::new(module));
    let Some(main) = find_main(&program) else { return };
    let rules = RuleSet::for_arch(Arch::SM_90);
    let mut device = Simulator::new(MachineConfig { rules, jobs: 1, limit: Some(20_000), checks: interp::Checks::ALL, order: interp::Order::Ascending });
    let options = HostOptions { args: Vec::new(), limit: Some(20_000), ..HostOptions::default() };
    run_main(&program, main, &options, &mut device, &mut Nowhere);
});
