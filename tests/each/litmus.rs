//! Litmus tests of weak memory: `tests/litmus`. The header of each says threads, an outcome, and whether the PTX memory model allows it
//! (`litmus/spec`). `litmus/model` has the model's axioms and checks that label; the program below the header is written from it
//! (`litmus/render`). Under many schedules with weak memory, a forbidden outcome never appears, and an allowed one does, unless the header
//! says why not. `tests/litmus/README.md` is the table, written from the headers.
//!
//! The header is what a person writes. `INSTA_UPDATE=always` writes the rest of the file, and the table.

mod model;
mod render;
mod spec;

use std::{collections::BTreeMap, env, fmt::Write, fs};

use libtest_mimic::Trial;
use spec::{Litmus, Places};

use crate::{
    each, one,
    support::{programs_in, root},
};

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = each("litmus", "tests/litmus", 80, |file, source| {
        let litmus = Litmus::parse(source)?;
        let written = render::program(&litmus);
        if written != source {
            write(file, &written)?;
        }
        match (model::allows(&litmus), litmus.is_allowed) {
            (true, false) => return Err("the model allows it".to_string()),
            (false, true) => return Err("the model forbids it".to_string()),
            (true, true) | (false, false) => {}
        }
        Ok(())
    });
    all.push(one("litmus::table", the_table_is_what_the_programs_say));
    all
}

fn write(file: &str, text: &str) -> Result<(), String> {
    if env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        return fs::write(root().join(file), text).map_err(|why| why.to_string());
    }
    Err(format!(
        "{file} is not what its header says: run this test with INSTA_UPDATE=always"
    ))
}

fn the_table_is_what_the_programs_say() -> Result<(), String> {
    let mut families: BTreeMap<String, String> = BTreeMap::new();
    for path in programs_in("tests/litmus") {
        let source = fs::read_to_string(&path).map_err(|why| why.to_string())?;
        let litmus = Litmus::parse(&source)?;
        let label = if litmus.is_allowed {
            "allowed"
        } else {
            "forbidden"
        };
        let shown = match (litmus.is_allowed, &litmus.not_shown) {
            (true, None) => "shown".to_string(),
            (true, Some(why)) => format!("not shown: {why}"),
            (false, _) => "never".to_string(),
        };
        let places = match &litmus.places {
            Places::Lanes => "one warp".to_string(),
            Places::Blocks(blocks) => match blocks.iter().max() {
                Some(0) => "one block".to_string(),
                most => format!("{} blocks", most.map_or(1, |most| most + 1)),
            },
        };
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_string();
        let rows = families.entry(litmus.family().to_string()).or_default();
        let _ = writeln!(
            rows,
            "| [{}]({name}) | {places} | {} | {label} | {shown} |",
            litmus.title,
            litmus.outcome_text()
        );
    }
    let mut text = TABLE.to_string();
    for rows in families.values() {
        text.push_str(rows);
    }
    match fs::read_to_string(root().join("tests/litmus/README.md")) {
        Ok(known) if known == text => Ok(()),
        _ => write("tests/litmus/README.md", &text),
    }
}

const TABLE: &str = "# Litmus tests of weak memory

Written from the programs' headers by `cargo test --test each -- litmus`; [docs/weak-memory.md](../../docs/weak-memory.md) says how to read it.
*allowed* and *forbidden* are what the PTX memory model says of the outcome; the test checks them against the model's axioms. *shown* is an outcome
that `dslc run --memory weak` shows, *never* one that it does not show under any of the schedules tried.

| test | where | outcome | by the model | here |
|---|---|---|---|---|
";
