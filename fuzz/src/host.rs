//! Host programs that call CUDA's runtime and C's library with any arguments: freed and wild pointers, unlimited sizes, invalid streams and
//! events. They end, with the same result each time, and every report can be made of them.
//!
//! There are two generators. `calls` writes IR, in which every call of the runtime may have any argument of its type. `text` writes C,
//! which tests the language's own library functions.

mod calls;
mod text;

use std::sync::Arc;

use interp::{BothOrders, Checks, MachineConfig, Program};
use ir::{source::NoFiles, verify};
use runtime::host::{Fault, find_main};

use crate::{
    choices::Choices,
    support::{has_errors, machine, map_of, reports, run},
};

/// The limit of instructions on the host, and of each launch.
const LIMIT: u64 = 50_000;

/// See the module.
pub fn target(data: &[u8]) {
    let mut choices = Choices::new(data);
    let how = choices.byte();
    let (module, map) = if how & 1 == 0 {
        let (map, _) = map_of(calls::SOURCE);
        (calls::module(&mut choices), map)
    } else {
        let source = text::program(&mut choices);
        let (mut map, file) = map_of(&source);
        let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
        match compiled.module {
            Some(module) => (module, map),
            // The compiler rejects some of the arguments.
            None => {
                assert!(has_errors(&compiled.diagnostics), "{source}");
                return;
            }
        }
    };
    verify::assert_verified(&module, "the generator");
    let module = Arc::new(module);
    let program = Program::new(module.clone());
    let main = find_main(&program).expect("main");
    let machine = MachineConfig {
        checks: if how & 2 == 0 {
            Checks::ALL
        } else {
            Checks::NONE
        },
        keep_going: how & 4 != 0,
        both_orders: if how & 8 == 0 {
            BothOrders::Never
        } else {
            BothOrders::Always
        },
        ..machine(LIMIT)
    };
    let (outcome, printed) = run(&program, main, machine.clone()).expect("it can be brought there");
    let ended = outcome
        .faults
        .iter()
        .any(|fault| matches!(fault, Fault::Trap { launch: None, .. }));
    if ended {
        assert!(
            matches!(outcome.exit_code, 134 | 139 | 152),
            "{}",
            outcome.exit_code
        );
    } else {
        // `main` returns 0 here; another value is from `exit`, which keeps a byte.
        assert!(
            (0..256).contains(&outcome.exit_code),
            "{}",
            outcome.exit_code
        );
    }
    reports(&module, &map, &outcome, &printed.stdout);
    let jobs = if how & 16 == 0 { 1 } else { 2 };
    let again = run(&program, main, MachineConfig { jobs, ..machine }).expect("again");
    assert_eq!(again.1, printed, "another run with {jobs} jobs");
    assert_eq!(again.0, outcome, "another run with {jobs} jobs");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::Random;

    #[test]
    fn most_texts_are_programs() {
        let mut random = Random::new(5);
        let mut messages = Vec::new();
        let accepted = (0..60).filter(|_| {
            let bytes: Vec<u8> = (0..100).map(|_| random.word() as u8).collect();
            let source = text::program(&mut Choices::new(&bytes));
            let (mut map, file) = map_of(&source);
            let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
            let errors = compiled
                .diagnostics
                .iter()
                .filter(|message| message.severity == ir::diagnostic::Severity::Error);
            messages.extend(errors.map(|message| {
                (
                    message.message.clone(),
                    map.snippet(map.use_site(message.primary.span)).to_string(),
                )
            }));
            compiled.module.is_some()
        });
        let accepted = accepted.count();
        assert!(accepted >= 54, "{accepted} of 60: {messages:#?}");
    }
}
