//! `dslc check FILE`: runs only the front end, and shows all of its messages at once.

use ir::diagnostic::{Diagnostic, Severity};
use report::{findings::baseline::Baseline, sarif};
use serde_json::{Value, json};

use crate::{
    args::{CheckArgs, Color, Format},
    baseline,
    failure::Failure,
    files::Claims,
    output, progress,
    source::{Loaded, OfClang, load},
};

pub(crate) fn run(args: &CheckArgs, color: Color) -> Result<u8, Failure> {
    let mut source = args.source.clone();
    if let Some(kernel) = &args.kernel {
        source.instantiate(kernel);
    }
    let line = progress::busy("compiling");
    let loaded = load(&source);
    drop(line);
    let mut loaded = loaded?;
    if let Some(path) = &args.known.write_baseline {
        let mut claims = Claims::default();
        claims.reads_program(&loaded.read);
        claims.writes(path, "--write-baseline")?;
    }
    // Both options may name one file, so the known messages are read before the new ones are written.
    let known = args
        .known
        .baseline
        .as_deref()
        .map(baseline::read)
        .transpose()?;
    if let Some(path) = &args.known.write_baseline {
        baseline::write(
            &Baseline::of_messages(&loaded.diagnostics, &loaded.map),
            path,
        )?;
    }
    if let Some(known) = known {
        known.mute_messages(&mut loaded.diagnostics, &loaded.map);
    }
    if args.source.kernels {
        if let Some(kernel) = &args.kernel {
            let name = kernel.split('<').next().unwrap_or(kernel).trim();
            loaded.kernels.retain(|verdict| verdict.name == name);
            if loaded.kernels.is_empty() {
                return Err(Failure::new(format!(
                    "--kernel {kernel}: the file has no kernel of this name"
                )));
            }
        }
        if loaded.report(color, Severity::Error) {
            loaded.report_clang();
            return Ok(1);
        }
        return kernels(&loaded, args);
    }
    match args.format {
        Format::Text => {
            loaded.report(color, Severity::Note);
            loaded.report_clang();
            output::err(&format!("{}\n", summary(&loaded)));
        }
        Format::Sarif => {
            let log = sarif::of_check(&loaded.diagnostics, &loaded.map);
            output::out(format!("{}\n", serde_json::to_string_pretty(&log)?).as_bytes());
        }
        Format::Json => {
            let messages = messages(&loaded);
            let object = json!({
                "schema": "dslc-check/1",
                "program": args.source.file.display().to_string(),
                "ok": !loaded.has_errors(),
                "diagnostics": messages,
            });
            output::out(format!("{}\n", serde_json::to_string_pretty(&object)?).as_bytes());
        }
    }
    Ok(u8::from(loaded.has_errors()))
}

/// Each kernel with the first reason why it is not understood.
fn kernels(loaded: &Loaded, args: &CheckArgs) -> Result<u8, Failure> {
    let line = |span| {
        let span = loaded.map.use_site(span);
        loaded.map.file(span.file).line_column(span.start).0
    };
    let file = |span| {
        let span = loaded.map.use_site(span);
        loaded.map.file(span.file).name.clone()
    };
    let is_ok = |verdict: &&dsl::KernelVerdict| verdict.reason.is_none();
    let n_ok = loaded.kernels.iter().filter(is_ok).count();
    let all = n_ok == loaded.kernels.len();
    if args.format == Format::Json {
        let list = loaded.kernels.iter().map(|verdict| {
            let reason = verdict.reason.as_ref();
            json!({
                "name": verdict.name, "file": file(verdict.span), "line": line(verdict.span),
                "ok": reason.is_none(), "shared": verdict.uses_shared,
                "reason": reason.map(|reason| reason.message.clone()),
                "reason_file": reason.map(|reason| file(reason.primary.span)),
                "reason_line": reason.map(|reason| line(reason.primary.span)), "with": verdict.with,
            })
        });
        let missing = loaded.missing.iter().map(|missing| missing.message.clone());
        let clang = loaded.clang.as_ref().map(|clang| {
            json!({
                "by": clang.by, "kernels": clang.kernels, "notes": clang.notes, "left_out": clang.left_out,
            })
        });
        let object = json!({
            "schema": "dslc-kernels/1",
            "program": args.source.file.display().to_string(),
            "kernels": list.collect::<Vec<Value>>(),
            "missing": missing.collect::<Vec<String>>(),
            "clang": clang,
        });
        output::out(format!("{}\n", serde_json::to_string_pretty(&object)?).as_bytes());
        return Ok(u8::from(!all));
    }
    let mut text = String::new();
    for line in loaded.clang.iter().flat_map(OfClang::lines) {
        text += &format!("note: {line}\n");
    }
    for missing in &loaded.missing {
        text += &format!("note: {}\n", missing.message);
    }
    for verdict in &loaded.kernels {
        let with = verdict.with.as_ref();
        let with = with.map_or(String::new(), |with| format!(" (tried with {with})"));
        let what = format!("{}:{}{with}", verdict.name, line(verdict.span));
        text += &match &verdict.reason {
            None => format!("ok   {what}\n"),
            Some(reason) => {
                let line = line(reason.primary.span);
                format!("no   {what}  line {line}: {}\n", reason.message)
            }
        };
    }
    text += &format!("{n_ok} of {} kernels understood\n", loaded.kernels.len());
    output::out_text(&text);
    Ok(u8::from(!all))
}

/// `2 errors, 1 warning in reduce.k`.
fn summary(loaded: &Loaded) -> String {
    let count = |severity| {
        loaded
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == severity)
            .count()
    };
    let name = loaded
        .map
        .files()
        .next()
        .map_or("", |(_, file)| file.name.as_str());
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    for (severity, what) in [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Note, "note"),
    ] {
        match count(severity) {
            0 => {}
            n => parts.push(counted(n, what)),
        }
    }
    if parts.is_empty() {
        format!("{}: ok", output::shown_name(name))
    } else {
        format!("{}: {}", output::shown_name(name), parts.join(", "))
    }
}

/// The front end's messages as objects.
pub(super) fn messages(loaded: &Loaded) -> Vec<Value> {
    let shown = loaded.diagnostics.iter();
    shown
        .map(|diagnostic| message(diagnostic, loaded))
        .collect()
}

fn message(diagnostic: &Diagnostic, loaded: &Loaded) -> Value {
    let place = |span| {
        let span = loaded.map.use_site(span);
        let file = loaded.map.file(span.file);
        let (line, column) = file.line_column(span.start);
        (file.name.clone(), line, column)
    };
    let (file, line, column) = place(diagnostic.primary.span);
    let labels = diagnostic.labels.iter().map(|label| {
        let (file, line, column) = place(label.span);
        json!({ "file": file, "line": line, "column": column, "message": label.message })
    });
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    json!({
        "code": diagnostic.code.number(), "slug": diagnostic.code.slug(), "severity": severity, "message": diagnostic.message,
        "file": file, "line": line, "column": column, "labels": labels.collect::<Vec<_>>(),
        "notes": diagnostic.notes, "help": diagnostic.help,
    })
}
