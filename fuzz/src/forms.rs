//! Host loops in both forms of their bytecode: the fused form, which executes the usual case, and the plain form, which detects every
//! finding. The program's output, the findings, the place where it stops and the counted instructions have to be the same. In a third run,
//! memory is read at every load of the source (`ir::forward_loads`): the output and the kinds of findings have to be the same.
//!
//! The generated programs (`text`) access arrays of every type with every kind of index. They may access out of bounds, read uninitialised
//! memory, divide by zero or reach the limit: in these cases one form hands over to the other.

mod text;

use std::{collections::BTreeSet, sync::Arc};

use interp::{Checks, MachineConfig, Program, Shortcut, Shortcuts};
use ir::{Module, source::NoFiles};
use runtime::host::{Outcome, find_main};

use crate::{
    choices::Choices,
    notice,
    support::{has_errors, machine, map_of, run},
};

/// See the module.
pub fn target(data: &[u8]) {
    let mut choices = Choices::new(data);
    let how = choices.byte();
    // Usually enough; otherwise the program may stop anywhere.
    let limit = match choices.below(4) {
        3 => 100 + choices.word() % 6000,
        _ => 150_000,
    };
    let source = text::program(&mut choices);
    let module = module_of(&source, true);
    let machine = MachineConfig {
        checks: match how & 3 {
            0 => Checks::NONE,
            _ => Checks::ALL,
        },
        keep_going: how & 4 != 0,
        ..machine(limit)
    };
    let in_form = |program: Program| {
        let main = find_main(&program).expect("main");
        run(&program, main, machine.clone()).expect("it can be brought there")
    };
    let (outcome, printed) = in_form(Program::new(module.clone()));
    let (plain, plain_printed) = in_form(Program::with(
        module,
        Shortcuts::ALL.without(Shortcut::Host),
    ));
    for finding in &outcome.findings {
        notice(&format!("{finding:?}"));
    }
    assert_eq!(printed, plain_printed, "what is printed\n{source}");
    assert_eq!(outcome, plain, "what is found\n{source}");

    // With forwarded loads, findings only occur less often.
    let (every, every_printed) = in_form(Program::new(module_of(&source, false)));
    if outcome.faults.is_empty() && every.faults.is_empty() {
        assert_eq!(printed, every_printed, "with every load\n{source}");
        assert_eq!(outcome.exit_code, every.exit_code, "with every load");
        let kinds = |outcome: &Outcome| {
            let findings = outcome.findings.iter();
            findings.map(|it| it.code).collect::<BTreeSet<_>>()
        };
        assert_eq!(kinds(&outcome), kinds(&every), "with every load\n{source}");
    }
}

fn module_of(source: &str, forward_loads: bool) -> Arc<Module> {
    let (mut map, file) = map_of(source);
    let options = dsl::Options {
        forward_loads,
        ..dsl::Options::default()
    };
    let compiled = dsl::compile(&mut map, file, &options, &NoFiles);
    assert!(
        !has_errors(&compiled.diagnostics),
        "{source}\n{:#?}",
        compiled.diagnostics
    );
    Arc::new(compiled.module.expect("no error"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::Random;

    /// Long programs, which a mutator would take long to find.
    #[test]
    fn both_forms_agree() {
        let mut random = Random::new(7);
        for _ in 0..300 {
            let bytes: Vec<u8> = (0..700).map(|_| random.word() as u8).collect();
            target(&bytes);
        }
    }

    /// Errors are rare enough that most programs run to the end, and frequent enough that each kind occurs.
    #[test]
    fn programs_end_in_every_way() {
        let mut random = Random::new(11);
        let (mut ended, mut faults, mut findings) = (0, 0, 0);
        for _ in 0..60 {
            let bytes: Vec<u8> = (0..500).map(|_| random.word() as u8).collect();
            let source = text::program(&mut Choices::new(&bytes));
            let (mut map, file) = map_of(&source);
            let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
            let program = Program::new(Arc::new(compiled.module.expect("no error")));
            let main = find_main(&program).expect("main");
            let machine = MachineConfig {
                checks: Checks::ALL,
                ..machine(150_000)
            };
            let (outcome, printed) = run(&program, main, machine).expect("it runs");
            ended += usize::from(printed.stdout.ends_with(b"end\n"));
            faults += usize::from(!outcome.faults.is_empty());
            findings += usize::from(!outcome.findings.is_empty());
        }
        let all = (ended, faults, findings);
        assert!(ended >= 25 && faults >= 5 && findings >= 5, "{all:?}");
    }
}
