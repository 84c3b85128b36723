//! Programs without the simulator's shortcuts: the JSON report, the output and the messages equal those with them, byte for byte.
//!
//! A run takes a part of the programs, without all shortcuts at once. With `DSLC_EVERY_SHORTCUT=1` (`.ci/plain`, each night) it takes all
//! programs, and each shortcut by itself, too.

use interp::Shortcut;
use libtest_mimic::Trial;

use crate::{
    each,
    support::{Ran, dslc},
};

/// Of so many programs, a run takes one.
const ONE_IN: usize = 6;

/// Threads wait in a loop that is unrolled with the shortcut `arrays`: they look at their flag more or less often then.
const WAITING: &[&str] = &[
    "tests/features/10_cuda_barrier.k",
    "tests/features/10_cuda_latch.k",
    "tests/features/10_cuda_pipeline.k",
    "tests/features/3_hidden_template_names.k",
];

pub(crate) fn trials() -> Vec<Trial> {
    let every = std::env::var_os("DSLC_EVERY_SHORTCUT").is_some();
    let mut all = each("plain::examples", "examples", 20, plain);
    all.extend(each("plain::features", "tests/features", 60, plain));
    all.extend(each("plain::programs", "tests/programs", 20, plain));
    all.extend(each("plain::sound", "tests/findings/sound", 20, plain));
    all.extend(each("plain::faults", "tests/findings/faults", 20, plain));
    let taken = all.into_iter().enumerate();
    let taken = taken.filter(|(at, _)| every || at % ONE_IN == 0);
    taken.map(|(_, trial)| trial).collect()
}

fn plain(file: &str, _: &str) -> Result<(), String> {
    let run = |options: &[&str]| {
        let usual = ["run", "--format", "json", "--cures", "never"];
        dslc(&[&usual, options, &[file]].concat())
    };
    let usual = run(&[]);
    let mut names = Shortcut::ALL.map(Shortcut::name).to_vec();
    if WAITING.contains(&file) {
        names.retain(|&name| name != Shortcut::Arrays.name());
    }
    let mut ways = vec![format!("--plain={}", names.join(","))];
    if std::env::var_os("DSLC_EVERY_SHORTCUT").is_some() {
        ways.extend(names.iter().map(|name| format!("--plain={name}")));
    }
    for way in ways {
        let ran = run(&[&way]);
        let differs = |what: fn(&Ran) -> &str| {
            let (old, new) = (what(&usual).lines(), what(&ran).lines());
            let mut pairs = old.zip(new);
            let at = pairs.find(|(old, new)| old != new);
            let place = at.map(|(old, new)| format!("\n- {old}\n+ {new}"));
            (what(&usual) != what(&ran)).then(|| place.unwrap_or_default())
        };
        let found = differs(|ran| &ran.stdout).or_else(|| differs(|ran| &ran.stderr));
        if let Some(place) = found {
            return Err(format!("{way} makes a difference{place}"));
        }
        if ran.code != usual.code {
            return Err(format!(
                "{way}: exit code {:?} for {:?}",
                ran.code, usual.code
            ));
        }
    }
    Ok(())
}
