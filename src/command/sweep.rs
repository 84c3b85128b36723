//! `dslc sweep SPEC`: runs many configurations of programs once each, writes the measurements to a file, and shows the best.

mod configuration;
mod engine;
mod macros;
mod measure;
mod page;
pub(super) mod row;
mod spec;
mod table;
mod work;

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Instant,
};

use interp::StopReason;
use report::{require::plural, text::Style};

use self::{
    configuration::Configuration,
    row::{Row, Status},
    spec::{Kind, Spec},
    table::Table,
    work::Worker,
};
use crate::{
    args::{Color, SweepArgs},
    batch,
    failure::{Failure, reason},
    files::{self, Claims},
    output, progress, stopping,
};

pub(crate) fn run(args: &SweepArgs, color: Color) -> Result<u8, Failure> {
    let spec = spec::read(&args.spec, output::use_color(color))?;
    for (option, path) in [("--html", &args.html), ("--results", &args.results)] {
        if let Some(path) = path {
            files::has_folder(path).map_err(|why| Failure::new(format!("{option} {why}")))?;
        }
    }
    let interrupted = stopping::interrupted()?;
    let worker = Worker::new(&spec, args.timeout, interrupted.clone())?;
    macros::check(&spec)?;
    let all = configuration::all(&spec)?;
    if all.is_empty() {
        let name = args.spec.display();
        return Err(Failure::new(format!(
            "{name}: `where` allows no configuration"
        )));
    }
    let parts = args.shard.map_or(1, |shard| shard.of);
    let units = configuration::units(&spec, &all, parts);
    let is_mine = |n: &usize| args.shard.is_none_or(|shard| shard.has(units[*n]));
    let mine: Vec<(usize, String)> = (0..all.len())
        .filter(is_mine)
        .map(|n| (n, worker.key(&all[n])))
        .collect();
    if args.dry_run {
        return Ok(list(&mine, &all, &worker));
    }
    let path = results_path(args)?;
    claim(&spec, &path, args)?;
    if let Some(engine) = &args.engine {
        engine::run(&args.spec, &path, engine)?;
    }
    let (mut rows, others) = known(&path, &mine, args.retry)?;
    let before = rows.len();
    let missing = Missing {
        all: &all,
        worker: &worker,
        interrupted: &interrupted,
    };
    missing.run(&mine, &path, &mut rows, args.jobs)?;
    let after = rows.len() - before;
    let rows = row::merged(vec![rows])?;
    let kept = row::merged(vec![rows.clone(), others])?;
    row::write(&path, &kept)?;
    let table = Table::new(&spec, &rows);
    let style = Style {
        columns: output::columns(),
        color: output::use_color_out(color),
    };
    output::out_text(&table.text(args.top, style));
    if let Some(page) = &args.html {
        let title = args.spec.display().to_string();
        let failed = |why| Failure::new(format!("--html {}: {why}", page.display()));
        files::write(page, page::page(&title, &table).as_bytes()).map_err(failed)?;
    }
    let name = path.display();
    output::err(&format!(
        "{}: {after} run now, {before} known before; all results are in {name}\n",
        plural(mine.len() as u64, "configuration", "configurations")
    ));
    if interrupted.load(Ordering::Relaxed) {
        output::err("the sweep was interrupted: start it again, and it goes on where it was\n");
        return Ok(StopReason::Interrupted.exit_code());
    }
    Ok(u8::from(table.good.is_empty()))
}

/// Next to the specification by default; each part has its own file.
fn results_path(args: &SweepArgs) -> Result<PathBuf, Failure> {
    if let Some(path) = &args.results {
        return Ok(path.clone());
    }
    if files::is_of_shell(&args.spec) {
        return Err(Failure::new(
            "the specification comes through a pipe: name the file of results with --results",
        ));
    }
    let part = args.shard.map_or(String::new(), |shard| {
        format!(".{}-of-{}", shard.number, shard.of)
    });
    Ok(args.spec.with_extension(format!("results{part}.jsonl")))
}

/// Checks that the sweep writes no file that it reads, and no file twice.
fn claim(spec: &Spec, results: &Path, args: &SweepArgs) -> Result<(), Failure> {
    let mut claims = Claims::default();
    claims.reads(&args.spec, "the specification");
    let programs = spec.axes.iter().filter(|axis| axis.kind == Kind::Program);
    for program in programs.flat_map(|axis| &axis.values) {
        claims.reads(&spec.folder.join(program.text()), "a program of the sweep");
    }
    claims.writes(results, "--results")?;
    match &args.html {
        Some(page) => claims.writes(page, "--html"),
        None => Ok(()),
    }
}

fn list(mine: &[(usize, String)], all: &[Configuration], worker: &Worker<'_>) -> u8 {
    for (n, key) in mine {
        let row = worker.row(*n, key.clone(), &all[*n]);
        let at = serde_json::Value::Object(row.at);
        output::out(format!("{n} {key} {at}\n").as_bytes());
    }
    output::err(&format!(
        "{} configurations, of which none was run\n",
        mine.len()
    ));
    0
}

/// The results in a file that belong to these configurations, and the other ones.
fn known(
    path: &Path,
    mine: &[(usize, String)],
    retry: bool,
) -> Result<(Vec<Row>, Vec<Row>), Failure> {
    if !path.exists() {
        return Ok((vec![], vec![]));
    }
    let places: HashMap<&str, usize> = mine.iter().map(|(n, key)| (key.as_str(), *n)).collect();
    let (mut rows, mut others) = (vec![], vec![]);
    for mut row in row::merged(vec![row::read(path)?])? {
        match places.get(row.key.as_str()) {
            Some(_) if retry && row.status != Status::Ok => {}
            Some(&n) => {
                // The sweep may have got more axes or values since.
                row.n = n;
                rows.push(row);
            }
            None => others.push(row),
        }
    }
    Ok((rows, others))
}

/// Runs the configurations that have no result yet.
struct Missing<'a> {
    all: &'a [Configuration],
    worker: &'a Worker<'a>,
    interrupted: &'a AtomicBool,
}

impl Missing<'_> {
    /// Runs the missing configurations, and appends each result to the file as soon as it is there.
    fn run(
        &self,
        mine: &[(usize, String)],
        path: &Path,
        rows: &mut Vec<Row>,
        jobs: usize,
    ) -> Result<(), Failure> {
        let done: HashSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
        let is_missing = |(_, key): &&(usize, String)| !done.contains(key.as_str());
        let missing: Vec<&(usize, String)> = mine.iter().filter(is_missing).collect();
        drop(done);
        if missing.is_empty() {
            return Ok(());
        }
        let failed = |why: std::io::Error| {
            let name = path.display();
            Failure::new(format!("cannot write `{name}`: {}", reason(&why)))
        };
        // An interrupted run may have left half a line, so the file is rewritten first.
        if path.exists() {
            row::write(path, &row::merged(vec![row::read(path)?])?)?;
        }
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed)?;
        let (begin, workers) = (Instant::now(), batch::workers(jobs).min(missing.len()));
        let bar = progress::counted("sweep", missing.len() as u64, "runs");
        let (mut unwritten, mut bad, mut count) = (None, 0, 0u64);
        let row = |at: usize| {
            let (n, key) = missing[at];
            self.worker.row(*n, key.clone(), &self.all[*n])
        };
        let work = |at: usize| self.worker.run(row(at), &self.all[missing[at].0]);
        batch::each(
            missing.len(),
            workers,
            self.interrupted,
            work,
            |at, result| {
                // The run may have been stopped in the middle.
                if self.interrupted.load(Ordering::Relaxed) {
                    return;
                }
                let row = result.unwrap_or_else(|panic| Row {
                    status: Status::Internal,
                    error: Some(panic),
                    ..row(at)
                });
                bad += usize::from(row.status != Status::Ok);
                count += 1;
                if let Err(why) = file.write_all(row.line().as_bytes()) {
                    unwritten.get_or_insert(why);
                }
                rows.push(row);
                bar.step(bad);
            },
        )?;
        drop(bar);
        if let Some(why) = unwritten {
            return Err(failed(why));
        }
        let time = begin.elapsed().as_secs_f64();
        let share = |nanos: &AtomicU64| {
            100.0 * nanos.load(Ordering::Relaxed) as f64 / 1e9 / time / workers as f64
        };
        output::err(&format!(
            "{} in {time:.1} s on {}: {:.0} % of their time busy, {:.0} % in simulation\n",
            plural(count, "run", "runs"),
            plural(workers as u64, "thread", "threads"),
            share(&self.worker.spent),
            share(&self.worker.simulated),
        ));
        Ok(())
    }
}
