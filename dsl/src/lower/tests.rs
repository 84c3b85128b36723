//! Tests of the lowering: how many accesses a statement makes, where a branch or an `fma` appears, what the layout is.
//!
//! Most tests compare a few lines of the printed body; `body` leaves out places and tables so that these stay readable. Each module is also
//! verified, printed and read back.

mod accesses;
mod calls;
mod control;
mod data;
mod numbers;
mod programs;
mod references;

use super::{Options, lower};
use crate::{
    compile::{Parsed, parsed},
    sema,
    syntax::preprocess,
};
use ir::{
    Block, Function, FunctionKind, Inst, InstKind, Module, Node,
    source::{NoFiles, SourceFile, SourceMap},
};

/// The module of a program without mistakes.
fn compile(text: &str) -> Module {
    compile_with(text, &Options::default())
}

fn compile_with(text: &str, options: &Options) -> Module {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("test.k", text));
    let tokenized = preprocess::tokenize(&mut map, file, &preprocess::Options::default(), &NoFiles);
    assert_eq!(tokenized.diagnostics, []);
    let Parsed {
        unit,
        errors,
        declared,
    } = parsed(&mut map, &tokenized, &[]);
    assert_eq!(errors, []);
    let sema_options = sema::Options {
        prelude: declared.files.clone(),
        ..sema::Options::default()
    };
    let (program, diagnostics) = sema::check(&[&declared.unit, &unit], &map, sema_options);
    let errors: Vec<_> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == ir::diagnostic::Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    let program = program.expect("a program without errors");
    let (module, diagnostics) = lower(&program, &map, options);
    assert_eq!(diagnostics, [], "{module}");
    module
}

/// The only kernel of a program.
fn kernel(text: &str) -> Function {
    let module = compile(text);
    let (_, function) = module.kernels().next().expect("there is a kernel");
    function.clone()
}

fn host(text: &str, name: &str) -> Function {
    let module = compile(text);
    let id = module
        .find(name, FunctionKind::Host)
        .expect("it is reached");
    module.function(id).clone()
}

/// The body of the kernel, without places.
fn body(text: &str) -> String {
    body_of(&compile(text), FunctionKind::Kernel)
}

fn body_of(module: &Module, kind: FunctionKind) -> String {
    let text = module.to_string();
    let word = if kind == FunctionKind::Kernel {
        "kernel "
    } else {
        "host "
    };
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with(word))
        .skip(1);
    let lines = lines.take_while(|line| *line != "}");
    let without_place = lines.map(|line| {
        let line = line.strip_prefix("  ").unwrap_or(line);
        match line.rsplit_once(" !") {
            Some((before, after)) if line.ends_with('{') => {
                let _ = after;
                format!("{before} {{")
            }
            Some((before, _)) => before.to_string(),
            None => line.to_string(),
        }
    });
    let without_tables =
        without_place.filter(|line| !line.starts_with("slot") && !line.starts_with("shared"));
    without_tables.collect::<Vec<_>>().join("\n")
}

/// Every instruction of a function, in the order of the text.
fn insts(function: &Function) -> Vec<Inst> {
    fn add(block: &Block, all: &mut Vec<Inst>) {
        for node in &block.0 {
            match node {
                Node::Inst(inst) => all.push(inst.clone()),
                Node::If {
                    then, otherwise, ..
                } => {
                    add(then, all);
                    add(otherwise, all);
                }
                Node::Loop { body, step, .. } => {
                    add(body, all);
                    add(step, all);
                }
                Node::Scope { body, .. } | Node::Routine { body, .. } => add(body, all),
                Node::Break(_) | Node::Continue(_) | Node::Return(_) => {}
            }
        }
    }
    let mut all = vec![];
    add(&function.body, &mut all);
    all
}

/// `load.f32`, `store.i32x4` … of a function, in order; atomics as `atomic.add.i32`.
fn accesses(function: &Function) -> Vec<String> {
    let name = |op: &str, access: &ir::Access| {
        let count = match access.count {
            1 => String::new(),
            n => format!("x{n}"),
        };
        let volatile = if access.volatile { ".volatile" } else { "" };
        format!("{op}.{}{count}.{}{volatile}", access.ty, access.space)
    };
    let of_inst = |inst: Inst| match inst.kind {
        InstKind::Load(access, _) => Some(name("load", &access)),
        InstKind::Store(access, ..) => Some(name("store", &access)),
        InstKind::Atomic { op, access, .. } => Some(name(&format!("atomic.{op}"), &access)),
        _ => None,
    };
    insts(function).into_iter().filter_map(of_inst).collect()
}
