//! Any text as a program that runs: programs that the front end accepts run to an end, with the same result for any number of jobs, and
//! every report can be made of them.

use std::sync::Arc;

use interp::{BothOrders, Checks, MachineConfig, Program};
use runtime::host::find_main;

use crate::support::{Files, machine, map_of, reports, run};

/// The limit of instructions on the host, and of each launch.
const LIMIT: u64 = 20_000;

/// See the module. The text's length decides how it is run.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(&data[..data.len().min(32 << 10)]);
    let files = Files::split(&text);
    let (mut map, file) = map_of(files.main);
    let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &files);
    let Some(module) = compiled.module else {
        return;
    };
    let module = Arc::new(module);
    let program = Program::new(module.clone());
    let Some(main) = find_main(&program) else {
        return;
    };
    let base = MachineConfig {
        checks: Checks::ALL,
        keep_going: data.len().is_multiple_of(2),
        both_orders: match data.len() % 3 {
            0 => BothOrders::Always,
            _ => BothOrders::Never,
        },
        ..machine(LIMIT)
    };
    let Some((outcome, printed)) = run(&program, main, base.clone()) else {
        return;
    };
    reports(&module, &map, &outcome, &printed.stdout);
    let two = MachineConfig { jobs: 2, ..base };
    let again = run(&program, main, two).expect("it could be brought to the machine");
    assert_eq!(again.0.exit_code, outcome.exit_code, "with two jobs");
    assert_eq!(again.1, printed, "with two jobs");
    assert_eq!(again.0, outcome, "with two jobs");
}
