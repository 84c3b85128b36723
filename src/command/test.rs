//! `dslc test FOLDER`: runs the programs that have expectations in their comments, and compares.

mod bless;
mod expect;
mod judge;
mod junit;
mod kinds;
mod options;

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use interp::rules::RuleSet;
use report::require::plural;
use runtime::host::Outcome;

use self::{
    expect::Expected,
    judge::{Bless, Problem},
    junit::Case,
};
use super::fix::diff;
use crate::{
    args::{Color, TestArgs},
    batch::{self, Deadlines},
    failure::Failure,
    files::{self, Claims},
    output, progress,
    rules::{DEFAULT_ARCH, rules},
    source::{cuda_arch, load_for},
};

/// Folders that never contain the user's programs.
const SKIPPED: [&str; 3] = ["target", "build", "node_modules"];

/// A file with expectations.
struct Program {
    path: PathBuf,
    /// The name as the user types it.
    name: String,
    text: String,
    expected: Expected,
}

/// One run of a file.
struct Test<'a> {
    program: &'a Program,
    name: String,
    arch: String,
    args: &'a [String],
}

/// What the run of a test looked at.
#[derive(Clone, Copy, Default)]
struct Looked {
    launches: usize,
    /// Accesses of the source that were executed.
    accesses: usize,
}

/// The result of a test.
struct Done {
    problems: Vec<String>,
    looked: Looked,
    bless: Vec<Bless>,
    time: Duration,
}

pub(crate) fn run(args: &TestArgs, color: Color) -> Result<u8, Failure> {
    let begin = Instant::now();
    if let Some(path) = &args.junit {
        files::has_folder(path).map_err(|why| Failure::new(format!("--junit {why}")))?;
    }
    let mut suite = Suite::read(args)?;
    if args.bless {
        let tests = suite.tests(args);
        let line = progress::busy("testing what is to be blessed");
        let done = run_all(&tests, args, &mut |_, _| {});
        drop(line);
        let done = done?;
        bless_all(&tests, &done, color)?;
        suite = Suite::read(args)?;
    }
    let tests = suite.tests(args);
    let color_out = output::use_color_out(color);
    let done = run_all(&tests, args, &mut |test, done| show(test, done, color_out))?;
    let bare = &suite.bare;
    for name in bare {
        output::out(format!("test {name} ... no expectations\n").as_bytes());
    }
    let failed = show_failures(&tests, &done);
    if let Some(path) = &args.junit {
        let mut claims = Claims::default();
        for program in &suite.programs {
            claims.reads(&program.path, "a program that is tested");
        }
        claims.writes(path, "--junit")?;
        write_junit(path, &tests, &done, bare, begin.elapsed())?;
    }
    let passed = tests.len() - failed;
    let mut word = if failed == 0 { "ok" } else { "FAILED" }.to_string();
    if tests.is_empty() {
        word = format!(
            "FAILED: there was nothing to test: {}",
            suite.why_nothing(args)
        );
    }
    let summary = format!(
        "\ntest result: {word}. {passed} passed; {failed} failed; {} without expectations; finished in {:.2} s\n",
        bare.len(),
        begin.elapsed().as_secs_f64()
    );
    output::out(summary.as_bytes());
    Ok(u8::from(failed > 0 || tests.is_empty()))
}

/// The tests to run.
struct Suite {
    programs: Vec<Program>,
    /// Names of programs without expectations.
    bare: Vec<String>,
}

impl Suite {
    fn read(args: &TestArgs) -> Result<Suite, Failure> {
        let text_of = |path: &Path, name: &str| {
            let bytes = files::read(path, false, files::TEXT_BYTES);
            let bytes = bytes.map_err(|why| {
                let hint = match args.options.is_empty() {
                    true => "",
                    false => "; options with values are quoted: `--options '--schedules 20'`",
                };
                Failure::new(format!("cannot read `{name}`: {why}{hint}"))
            })?;
            Ok::<_, Failure>(String::from_utf8_lossy(&bytes).into_owned())
        };
        let common = match &args.expect {
            Some(path) => {
                let name = output::shown_name(path.display());
                let text = text_of(path, &name)?;
                Some((name, text))
            }
            None => None,
        };
        let (mut programs, mut bare) = (vec![], vec![]);
        for path in files_of(&args.paths)? {
            // A name may contain characters that a terminal would take for commands.
            let name = output::shown_name(path.display());
            let text = text_of(&path, &name)?;
            let mut expected = Expected::read(&text);
            if let Some((from, text)) = &common {
                expected.add_file(text, from).map_err(Failure::new)?;
            }
            for words in &args.options {
                let words = shlex::split(words).ok_or_else(|| {
                    Failure::new(format!(
                        "--options `{words}`: a quotation mark is not closed"
                    ))
                })?;
                expected.options.extend(words);
            }
            match expected.is_empty() {
                true => bare.push(name),
                false => programs.push(Program {
                    path,
                    name,
                    text,
                    expected,
                }),
            }
        }
        bare.retain(|name| is_wanted(name, args));
        check_common(args, common)?;
        Ok(Suite { programs, bare })
    }

    /// Why there is no test to run, and what to do.
    fn why_nothing(&self, args: &TestArgs) -> String {
        let all: usize = self
            .programs
            .iter()
            .map(|program| tests_of(program).len())
            .sum();
        match (all, self.bare.is_empty()) {
            (1.., _) => format!(
                "no test of {all} has `{}` in its name",
                args.filter.join("` or `")
            ),
            (0, false) => {
                "no program says what is expected: write `//~ clean` into it, or give `--expect FILE`"
                    .to_string()
            }
            (0, true) => "there is no .cu or .k file".to_string(),
        }
    }

    fn tests(&self, args: &TestArgs) -> Vec<Test<'_>> {
        self.programs
            .iter()
            .flat_map(tests_of)
            .filter(|test| is_wanted(&test.name, args))
            .collect()
    }
}

/// Reports errors in the settings that the command line gives all tests: those are not a program's fault.
fn check_common(args: &TestArgs, expected: Option<(String, String)>) -> Result<(), Failure> {
    let Some(path) = args.paths.first() else {
        return Ok(());
    };
    let mut common = Expected::default();
    if let Some((from, text)) = &expected {
        common.add_file(text, from).map_err(Failure::new)?;
        for arch in &common.archs {
            crate::rules::of_arch(arch, 4)
                .map_err(|why| Failure::new(format!("{from}: arch: {why}")))?;
        }
    }
    for words in &args.options {
        common
            .options
            .extend(shlex::split(words).unwrap_or_default());
    }
    let program = Program {
        path: match path.is_dir() {
            true => path.join("any.cu"),
            false => path.clone(),
        },
        name: String::new(),
        text: String::new(),
        expected: common,
    };
    let test = Test {
        program: &program,
        name: String::new(),
        arch: DEFAULT_ARCH.to_string(),
        args: &[],
    };
    options::run_args(&test, args)
        .map(drop)
        .map_err(|why| Failure::new(why.to_string().replacen("//~ options", "--options", 1)))
}

/// Whether `--filter` selects a test.
fn is_wanted(name: &str, args: &TestArgs) -> bool {
    let mut filters = args.filter.iter();
    args.filter.is_empty() || filters.any(|filter| name.contains(filter))
}

/// The files that the arguments name, and those in their folders, sorted by name.
fn files_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = vec![];
    for path in paths {
        match path.is_dir() {
            // `here.cu` is easier to read than `./here.cu`.
            true if path.as_os_str() == "." => add_folder(Path::new(""), &mut all)?,
            true => add_folder(path, &mut all)?,
            false => all.push(path.clone()),
        }
    }
    let mut seen = HashSet::new();
    all.retain(|path| seen.insert(path.clone()));
    Ok(all)
}

fn add_folder(folder: &Path, all: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let why = crate::failure::reason(&error);
        Failure::new(format!(
            "cannot read the folder `{}`: {why}",
            folder.display()
        ))
    };
    let place = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let entries = std::fs::read_dir(place).map_err(failed)?;
    let mut entries: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| folder.join(entry.file_name()))
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_link = path.is_symlink();
        if path.is_dir() {
            if !is_link && !name.starts_with('.') && !SKIPPED.contains(&&*name) {
                add_folder(&path, all)?;
            }
        } else if name.ends_with(".cu") || name.ends_with(".k") {
            // A link that leads elsewhere is not a program of this folder.
            if !is_link || options::is_near(&path, &place.join("program")) {
                all.push(path);
            }
        }
    }
    Ok(())
}

/// The runs of a file: one for each architecture and each line of arguments.
fn tests_of(program: &Program) -> Vec<Test<'_>> {
    let expected = &program.expected;
    let archs = match expected.archs.as_slice() {
        [] => vec![DEFAULT_ARCH.to_string()],
        several => several.to_vec(),
    };
    let none: &[String] = &[];
    let args: Vec<&[String]> = match expected.args.as_slice() {
        [] => vec![none],
        several => several.iter().map(Vec::as_slice).collect(),
    };
    let mut tests = vec![];
    for arch in &archs {
        for args in &args {
            let mut name = program.name.clone();
            if archs.len() > 1 {
                name += &format!(" {arch}");
            }
            if expected.args.len() > 1 {
                name += &format!(" -- {}", args.join(" "));
            }
            tests.push(Test {
                program,
                name,
                arch: arch.clone(),
                args,
            });
        }
    }
    tests
}

/// Runs the tests, and shows each as soon as all before it have ended.
fn run_all(
    tests: &[Test<'_>],
    args: &TestArgs,
    show: &mut dyn FnMut(&Test<'_>, &Done),
) -> Result<Vec<Done>, Failure> {
    let workers = batch::workers(args.jobs);
    let interrupted = Arc::new(AtomicBool::new(false));
    let deadlines = Deadlines::start(interrupted.clone());
    let mut done: Vec<Option<Done>> = tests.iter().map(|_| None).collect();
    let mut shown = 0;
    let work = |at: usize| {
        let begin = Instant::now();
        let (problems, looked) = run_one(&tests[at], args, &deadlines);
        (problems, looked, begin.elapsed())
    };
    batch::each(tests.len(), workers, &interrupted, work, |at, result| {
        let test = &tests[at];
        let (problems, looked, time) = result.unwrap_or_else(|panic| {
            let why = format!("internal error of dslc: {panic}");
            (vec![failure(why)], Looked::default(), Duration::ZERO)
        });
        done[at] = Some(Done {
            bless: problems
                .iter()
                .filter_map(|one| one.bless.clone())
                .collect(),
            problems: problems
                .iter()
                .map(|problem| message(test, problem))
                .collect(),
            looked,
            time,
        });
        while let Some(Some(next)) = done.get(shown) {
            show(&tests[shown], next);
            shown += 1;
        }
    })?;
    Ok(done.into_iter().flatten().collect())
}

/// A line for a test that has ended.
fn show(test: &Test<'_>, done: &Done, color: bool) {
    let (word, code) = match done.problems.is_empty() {
        true => ("ok", "32"),
        false => ("FAILED", "1;31"),
    };
    let word = match color {
        true => format!("\x1b[{code}m{word}\x1b[0m"),
        false => word.to_string(),
    };
    let Looked { launches, accesses } = done.looked;
    let count = [
        plural(
            test.program.expected.all.len() as u64,
            "expectation",
            "expectations",
        ),
        plural(launches as u64, "launch", "launches"),
        plural(accesses as u64, "access", "accesses"),
    ];
    let line = format!("test {} ... {word} ({})\n", test.name, count.join(", "));
    output::out(line.as_bytes());
}

fn failure(why: String) -> Problem {
    Problem {
        file: None,
        line: 0,
        expected: String::new(),
        why,
        bless: None,
    }
}

/// `tile.cu:14: expected conflict-free: …`
fn message(test: &Test<'_>, problem: &Problem) -> String {
    let name = match &problem.file {
        Some(file) => output::shown_name(file),
        None => test.program.name.clone(),
    };
    let place = match problem.line {
        0 => name,
        line => format!("{name}:{line}"),
    };
    let why = problem.why.replace('\n', "\n    ");
    match problem.expected.as_str() {
        "" => format!("{place}: {why}"),
        expected => format!("{place}: expected `{expected}`: {why}"),
    }
}

/// Runs one test; returns what is not as expected.
fn run_one(test: &Test<'_>, limits: &TestArgs, deadlines: &Deadlines) -> (Vec<Problem>, Looked) {
    let expected = &test.program.expected;
    let wrong = expected.wrong.iter();
    let mut problems: Vec<Problem> = wrong
        .map(|(line, why)| Problem {
            line: *line,
            ..failure(why.clone())
        })
        .collect();
    let mut looked = Looked::default();
    match judged(test, limits, deadlines, &mut looked) {
        Ok(judged) => problems.extend(judged),
        Err(why) => problems.push(failure(why.to_string())),
    }
    (problems, looked)
}

fn judged(
    test: &Test<'_>,
    limits: &TestArgs,
    deadlines: &Deadlines,
    looked: &mut Looked,
) -> Result<Vec<Problem>, Failure> {
    let args = options::run_args(test, limits)?;
    let rules: RuleSet = rules(Some(&test.arch), &args.rules)?;
    let loaded = load_for(&args.source, cuda_arch(&rules))?;
    let expected = &test.program.expected;
    let mut problems = judge::of_messages(expected, &loaded);
    if loaded.has_errors() {
        return Ok(problems);
    }
    let program = loaded.program()?;
    let time = args.program.timeout.unwrap_or(limits.timeout);
    let stop = deadlines.flag(time);
    let ran = batch::run(&program, &loaded.map, &args, rules, &stop);
    deadlines.ended(&stop);
    let ran = ran?;
    *looked = seen(&ran.outcome);
    if let Some(why) = ran.outcome.stopped() {
        problems.push(failure(why.to_string()));
        return Ok(problems);
    }
    problems.extend(judge::of_run(expected, &ran, &loaded, program.module()));
    Ok(problems)
}

fn seen(outcome: &Outcome) -> Looked {
    let kept = outcome.launches.kept().iter();
    let sites = kept.flat_map(|kept| &kept.report.sites);
    let places: HashSet<_> = sites
        .map(|site| (site.file, site.line, site.column, site.op as u8))
        .collect();
    Looked {
        launches: outcome.launches.len(),
        accesses: places.len(),
    }
}

/// Prints the failures; returns the number of failed tests.
fn show_failures(tests: &[Test<'_>], done: &[Done]) -> usize {
    let failed: Vec<_> = tests
        .iter()
        .zip(done)
        .filter(|(_, done)| !done.problems.is_empty())
        .collect();
    if !failed.is_empty() {
        output::out(b"\nfailures:\n");
    }
    for (test, done) in &failed {
        let problems = done.problems.join("\n");
        output::out(format!("\n---- {} ----\n{problems}\n", test.name).as_bytes());
    }
    failed.len()
}

fn write_junit(
    path: &Path,
    tests: &[Test<'_>],
    done: &[Done],
    bare: &[String],
    time: Duration,
) -> Result<(), Failure> {
    let cases: Vec<Case<'_>> = tests
        .iter()
        .zip(done)
        .map(|(test, done)| Case {
            file: &test.program.name,
            name: &test.name,
            time: done.time,
            problems: &done.problems,
        })
        .collect();
    files::write(path, junit::xml(&cases, bare, time).as_bytes())
        .map_err(|why| Failure::new(format!("--junit {}: {why}", path.display())))
}

/// Writes the results into the comments, and prints the diff.
fn bless_all(tests: &[Test<'_>], done: &[Done], color: Color) -> Result<(), Failure> {
    let mut seen: BTreeMap<&Path, (&Program, Vec<Vec<Bless>>)> = BTreeMap::new();
    for (test, done) in tests.iter().zip(done) {
        let path = test.program.path.as_path();
        let of_file = seen.entry(path).or_insert((test.program, vec![]));
        of_file.1.push(done.bless.clone());
    }
    let color = output::use_color_out(color);
    for (path, (program, seen)) in seen {
        let text = bless::blessed(&program.text, &program.expected, &seen);
        if text == program.text {
            continue;
        }
        files::write(path, text.as_bytes())
            .map_err(|why| Failure::new(format!("cannot write `{}`: {why}", program.name)))?;
        let diff = diff(&program.name, &program.text, &text, color);
        output::out(format!("\n{diff}").as_bytes());
    }
    Ok(())
}
