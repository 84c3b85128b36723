//! `dslc sweep SPEC`: many configurations of programs, each run once, what was measured in a file, and the best of them.

mod configuration;
mod measure;
mod page;
pub(super) mod row;
mod spec;
mod table;
mod work;

use std::{
    collections::HashMap,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::Instant,
};

use report::text::Style;

use self::{
    configuration::Configuration,
    row::{Row, Status},
    table::Table,
    work::Worker,
};
use crate::{
    args::{Color, SweepArgs},
    batch,
    failure::{Failure, reason},
    files, output, progress,
};

pub(crate) fn run(args: &SweepArgs, color: Color) -> Result<u8, Failure> {
    let spec = spec::read(&args.spec, output::use_color(color))?;
    let worker = Worker::new(&spec, args.timeout)?;
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
    let path = args.results.clone().unwrap_or_else(|| results_path(args));
    let (mut rows, others) = known(&path, &mine, args.retry)?;
    let before = rows.len();
    run_missing(&mine, &all, &worker, &path, &mut rows, args)?;
    let after = rows.len() - before;
    let rows = row::merged(vec![rows])?;
    let kept = row::merged(vec![rows.clone(), others])?;
    row::write(&path, &kept)?;
    let table = Table::new(&spec, &rows);
    let style = Style {
        columns: output::columns(),
        color: output::use_color_out(color),
    };
    output::out(table.text(args.top, style).as_bytes());
    if let Some(page) = &args.html {
        let title = args.spec.display().to_string();
        let failed = |why| Failure::new(format!("--html {}: {why}", page.display()));
        files::write(page, page::page(&title, &table).as_bytes()).map_err(failed)?;
    }
    let name = path.display();
    output::err(&format!(
        "{} configurations: {after} run now, {before} known before; all results are in {name}\n",
        mine.len()
    ));
    Ok(u8::from(table.good.is_empty()))
}

/// Beside the specification; a part has a file of its own.
fn results_path(args: &SweepArgs) -> PathBuf {
    let part = args.shard.map_or(String::new(), |shard| {
        format!(".{}-of-{}", shard.number, shard.of)
    });
    args.spec.with_extension(format!("results{part}.jsonl"))
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

/// What a file of results has of these configurations, and what else it has.
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
                // The sweep may have more axes or values since.
                row.n = n;
                rows.push(row);
            }
            None => others.push(row),
        }
    }
    Ok((rows, others))
}

/// Runs what is not known yet, and adds each result to the file as it comes.
fn run_missing(
    mine: &[(usize, String)],
    all: &[Configuration],
    worker: &Worker<'_>,
    path: &Path,
    rows: &mut Vec<Row>,
    args: &SweepArgs,
) -> Result<(), Failure> {
    let done: HashMap<&str, ()> = rows.iter().map(|row| (row.key.as_str(), ())).collect();
    let is_missing = |(_, key): &&(usize, String)| !done.contains_key(key.as_str());
    let missing: Vec<&(usize, String)> = mine.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    drop(done);
    let failed = |why: std::io::Error| {
        Failure::new(format!(
            "cannot write `{}`: {}",
            path.display(),
            reason(&why)
        ))
    };
    // Of a run that was cut off there may be half a line: the file is written whole first.
    if path.exists() {
        row::write(path, &row::merged(vec![row::read(path)?])?)?;
    }
    let mut file = File::options()
        .append(true)
        .create(true)
        .open(path)
        .map_err(failed)?;
    let (begin, workers) = (Instant::now(), batch::workers(args.jobs));
    let bar = progress::counted("sweep", missing.len() as u64, "runs");
    let (mut unwritten, mut bad) = (None, 0);
    let work = |at: usize| {
        let (n, key) = missing[at];
        let row = worker.row(*n, key.clone(), &all[*n]);
        worker.run(row, &all[*n])
    };
    batch::each(missing.len(), workers, work, |at, result| {
        let row = result.unwrap_or_else(|panic| {
            let (n, key) = missing[at];
            Row {
                status: Status::Internal,
                error: Some(panic),
                ..worker.row(*n, key.clone(), &all[*n])
            }
        });
        bad += usize::from(row.status != Status::Ok);
        if let Err(why) = file.write_all(row.line().as_bytes()) {
            unwritten.get_or_insert(why);
        }
        rows.push(row);
        bar.step(bad);
    })?;
    drop(bar);
    if let Some(why) = unwritten {
        return Err(failed(why));
    }
    let time = begin.elapsed().as_secs_f64();
    let share = |nanos: u64| 100.0 * nanos as f64 / 1e9 / time / workers.min(missing.len()) as f64;
    output::err(&format!(
        "{} runs in {time:.1} s on {workers} threads: {:.0} % of their time busy, {:.0} % in simulation\n",
        missing.len(),
        share(worker.spent.load(Ordering::Relaxed)),
        share(worker.simulated.load(Ordering::Relaxed)),
    ));
    Ok(())
}
