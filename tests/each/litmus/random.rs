//! Random litmus tests: every outcome that the machine shows has to be allowed by the model's axioms.

use std::{env, fmt::Write};

use super::{model, runs, spec::Litmus, text};

/// The number of programs in an ordinary run, and of schedules for each. `DSLC_LITMUS=5000` sets the number of programs.
const PROGRAMS: u64 = 200;
const SCHEDULES: u64 = 60;
/// Most fences of a program: the checker tries all orders.
const FENCES: usize = 5;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

pub(super) fn only_what_the_model_allows() -> Result<(), String> {
    let programs = env::var("DSLC_LITMUS").map_or(Ok(PROGRAMS), |count| count.parse());
    let programs = programs.map_err(|_| "DSLC_LITMUS is no number".to_string())?;
    for number in 0..programs {
        let header = header(number);
        let litmus = Litmus::parse(&header)?;
        let source = text::program(&litmus);
        let mut known: Vec<String> = Vec::new();
        let mut wrong = None;
        runs("random.cu", &source, SCHEDULES, &mut |seed, printed| {
            for line in printed.lines() {
                let Some((outcome, _)) = line.split_once(": ") else {
                    continue;
                };
                if known.iter().any(|known| known == outcome) {
                    continue;
                }
                known.push(outcome.to_string());
                if !is_allowed(&litmus, outcome) {
                    wrong = Some(format!(
                        "forbidden: {outcome}, under adversarial:{seed}, by\n{header}"
                    ));
                    return false;
                }
            }
            true
        })?;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
    }
    Ok(())
}

/// Whether the axioms allow a program's output.
fn is_allowed(litmus: &Litmus, printed: &str) -> bool {
    let outcome = printed.split(' ').filter_map(|part| {
        let (name, value) = part.split_once('=')?;
        Some((name.chars().next()?, value.parse().ok()?))
    });
    model::allows(&Litmus {
        outcome: outcome.collect(),
        ..litmus.clone()
    })
}

/// A program of two or three threads. At most six values, each from 0 to 3, describe its outcome.
fn header(number: u64) -> String {
    let mut random = Random(number);
    let threads = 2 + random.below(2);
    let places = &["x", "y", "z"][..2 + random.below(2)];
    let mut names = ["a", "b", "c", "d"][..6 - places.len()].iter();
    // At most the numbers 1 and 2 are stored to each place, and 1 is added, so 3 is the maximum. A value that was read may be as large.
    let mut stored = [0; 3];
    let mut added = [0; 3];
    let mut copied = [false; 3];
    // Most tests with one kind of access are more informative than those with all kinds.
    let kinds: Vec<&str> = (0..1 + random.below(3))
        .map(|_| random.pick(KINDS))
        .collect();
    let fences: Vec<&str> = (0..1 + random.below(2))
        .map(|_| random.pick(&["device", "block", "system"]))
        .collect();
    let mut fenced = 0;
    let mut lines = Vec::new();
    for _ in 0..threads {
        let mut statements: Vec<String> = Vec::new();
        let mut has_read = None;
        for _ in 0..2 + random.below(2) {
            let at = random.below(places.len());
            let (place, mut kind) = (places[at], random.pick(&kinds));
            if kind.starts_with("seq_cst") && fenced == FENCES {
                kind = "volatile";
            }
            fenced += usize::from(kind.starts_with("seq_cst"));
            let [load, store] = [mode(kind, "acquire"), mode(kind, "release")];
            match random.below(8) {
                0 if stored[at] + added[at] < 3 && !copied[at] => {
                    let Some(name) = names.next() else {
                        continue;
                    };
                    added[at] += 1;
                    let scope = random.pick(&["", ".block"]);
                    statements.push(format!("{name} = add{scope} {place} 1"));
                }
                1 if has_read.is_some() && added[at] == 0 && stored[at] < 2 => {
                    copied[at] = true;
                    stored[at] += 1;
                    statements.push(format!("{place} = {store}{}", has_read.unwrap_or("1")));
                }
                2..5 if stored[at] < 2 && stored[at] + added[at] < 3 => {
                    stored[at] += 1;
                    statements.push(format!("{place} = {store}{}", stored[at]));
                }
                _ => {
                    let Some(name) = names.next() else {
                        continue;
                    };
                    has_read = Some(name);
                    statements.push(format!("{name} = {load}{place}"));
                }
            }
            if random.below(3) == 0 && fenced < FENCES {
                fenced += 1;
                statements.push(format!("fence.{}", random.pick(&fences)));
            }
        }
        if statements.is_empty() {
            statements.push("fence.block".to_string());
        }
        lines.push(statements.join("; "));
    }
    let used = |name: &&str| {
        let mut words = lines.iter().flat_map(|line| line.split([' ', ';']));
        words.any(|word| word == *name)
    };
    let read = ["a", "b", "c", "d"].into_iter();
    let observed = read.chain(places.iter().copied()).filter(used);
    let outcome: Vec<String> = observed.map(|name| format!("{name}=0")).collect();
    let mut header = format!("// allowed: {}\n// Random, {number}\n", outcome.join(" "));
    let (blocks, meet) = match random.below(6) {
        0 if threads == 2 => (None, Some("syncwarp")),
        1 => (Some(vec!["0"; threads]), Some("sync")),
        2 => (Some(["0", "0", "1"][3 - threads..].to_vec()), None),
        _ => (Some(["0", "1", "2"][..threads].to_vec()), None),
    };
    let _ = match blocks {
        None => writeln!(header, "// lanes of one warp"),
        Some(blocks) => writeln!(header, "// blocks: {}", blocks.join(" ")),
    };
    let meet = meet.filter(|_| random.below(3) == 0);
    for (thread, line) in lines.iter().enumerate() {
        let mut line: Vec<&str> = line.split("; ").collect();
        if let Some(meet) = meet {
            line.insert(random.below(line.len() + 1), meet);
        }
        let line = line.join("; ");
        let _ = writeln!(header, "// T{thread}: {line}");
    }
    header
}

/// How accesses are made: one mode for loads and one for stores.
const KINDS: &[&str] = &[
    "volatile",
    "volatile",
    "volatile",
    "plain",
    "relaxed.device",
    "relaxed.block",
    "ordered.device",
    "ordered.block",
    "seq_cst.device",
];

fn mode(kind: &str, ordered: &str) -> String {
    match kind.split_once('.') {
        Some(("ordered", scope)) => format!("{ordered}.{scope} "),
        _ if kind == "plain" => String::new(),
        _ => format!("{kind} "),
    }
}
