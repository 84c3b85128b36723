//! Any text as IR: the reader must answer, and what it accepts prints and reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(module) = dsl::ir::parse::parse(text) {
        let printed = dsl::ir::print::print(&module);
        let again = dsl::ir::parse::parse(&printed).expect("what is printed reads back");
        assert_eq!(dsl::ir::print::print(&again), printed);
        let _ = dsl::ir::verify::verify(&module);
    }
});
