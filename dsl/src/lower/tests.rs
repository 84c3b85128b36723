//! Hand-made typed trees to IR. Tests from source text are in `tests/source.rs`.

use crate::{
    ir::SpecialReg,
    lower::{Options, lower},
    sema::{
        ty::{QualTy, Ty},
        typed::*,
    },
    source::{SourceFile, SourceMap},
    span::Span,
};
use std::sync::Arc;

fn v(ty: Ty, kind: ValueKind) -> Value {
    Value {
        kind,
        ty,
        span: Span::default(),
    }
}
fn int(n: i64) -> Value {
    v(Ty::Int, ValueKind::Int(n as u64))
}
fn tid() -> Value {
    let t = v(
        Ty::UInt,
        ValueKind::Builtin(Builtin::Special(SpecialReg::TidX), vec![]),
    );
    v(Ty::Int, ValueKind::Convert(Box::new(t)))
}
fn place(ty: Ty, kind: PlaceKind) -> Place {
    Place {
        kind,
        ty: ty.into(),
        span: Span::default(),
    }
}
fn local(ty: Ty, id: u32) -> Place {
    place(ty, PlaceKind::Var(VarRef::Local(VarId(id))))
}
fn load(p: Place) -> Value {
    let ty = p.ty.ty.clone();
    v(ty, ValueKind::Load(Box::new(p)))
}
fn bin(op: Arith, a: Value, b: Value) -> Value {
    let ty = a.ty.clone();
    v(ty, ValueKind::Binary(op, Box::new(a), Box::new(b)))
}
fn cmp(r: Relation, a: Value, b: Value) -> Value {
    v(Ty::Bool, ValueKind::Compare(r, Box::new(a), Box::new(b)))
}
fn stmt(kind: StmtKind) -> Stmt {
    Stmt {
        kind,
        span: Span::default(),
    }
}
fn expr(value: Value) -> Stmt {
    stmt(StmtKind::Expr(value))
}
fn assign(p: Place, value: Value) -> Stmt {
    let ty = p.ty.ty.clone();
    expr(v(ty, ValueKind::Assign(Box::new(p), Box::new(value))))
}
fn var(name: &str, ty: Ty, storage: Storage) -> Var {
    Var {
        name: name.into(),
        ty: QualTy::from(ty),
        storage,
        address_taken: false,
        is_restrict: false,
        align_bytes: 1,
        span: Span::default(),
    }
}
fn func(
    name: &str,
    space: FunctionSpace,
    result: Ty,
    n_params: u32,
    vars: Vec<Var>,
    body: Vec<Stmt>,
) -> Function {
    Function {
        name: name.into(),
        space,
        result,
        params: (0..n_params).map(VarId).collect(),
        vars,
        launch_bounds: None,
        body: Some(body),
        span: Span::default(),
    }
}
fn ptr(ty: Ty) -> Ty {
    Ty::Pointer(Arc::new(ty.into()))
}
fn array(ty: Ty, n: u64) -> Ty {
    Ty::Array(Arc::new(ty.into()), Some(n))
}
fn ir(functions: Vec<Function>) -> String {
    let mut map = SourceMap::new();
    map.add(SourceFile::new("a.k", "x"));
    let program = Program {
        functions,
        ..Program::default()
    };
    let (module, diagnostics) = lower(&program, &map, &Options::default());
    let text = module.to_string();
    assert_eq!(diagnostics, [], "{text}");
    text
}

#[test]
fn smoke() {
    let s = || place(array(Ty::Int, 64), PlaceKind::Var(VarRef::Local(VarId(2))));
    let s_at = |i: Value| place(Ty::Int, PlaceKind::ArrayIndex(Box::new(s()), Box::new(i)));
    let d_at = |i: Value| {
        place(
            Ty::Int,
            PlaceKind::PointerIndex(Box::new(load(local(ptr(Ty::Int), 0))), Box::new(i)),
        )
    };
    let t = || load(local(Ty::Int, 3));
    let early = func(
        "early",
        FunctionSpace::Device,
        Ty::Int,
        1,
        vec![var("x", Ty::Int, Storage::Auto)],
        vec![
            stmt(StmtKind::If {
                arms: vec![(
                    cmp(Relation::Lt, load(local(Ty::Int, 0)), int(0)),
                    vec![stmt(StmtKind::Return(Some(int(0))))],
                )],
                otherwise: vec![],
            }),
            stmt(StmtKind::Return(Some(bin(
                Arith::Mul,
                load(local(Ty::Int, 0)),
                int(3),
            )))),
        ],
    );
    let section = |cases: Vec<u64>, is_default, body| SwitchSection {
        cases,
        is_default,
        body,
    };
    let k = func(
        "k",
        FunctionSpace::Kernel,
        Ty::Void,
        2,
        vec![
            var("d", ptr(Ty::Int), Storage::Auto),
            var("n", Ty::Int, Storage::Auto),
            var("s", array(Ty::Int, 64), Storage::Shared),
            var("t", Ty::Int, Storage::Auto),
            var("i", Ty::Int, Storage::Auto),
        ],
        vec![
            stmt(StmtKind::Declare(VarId(2), None)),
            stmt(StmtKind::Declare(VarId(3), Some(Init::Value(tid())))),
            assign(s_at(t()), load(d_at(t()))),
            expr(v(
                Ty::Void,
                ValueKind::Builtin(Builtin::SyncThreads, vec![]),
            )),
            expr(v(
                Ty::Int,
                ValueKind::CompoundAssign {
                    op: Arith::Add,
                    place: Box::new(s_at(t())),
                    value: Box::new(load(s_at(bin(Arith::Add, t(), int(1))))),
                    compute: Ty::Int,
                },
            )),
            stmt(StmtKind::Declare(VarId(4), Some(Init::Value(int(0))))),
            stmt(StmtKind::Loop {
                cond: Some(cmp(
                    Relation::Lt,
                    load(local(Ty::Int, 4)),
                    load(local(Ty::Int, 1)),
                )),
                test_first: true,
                body: vec![stmt(StmtKind::Switch {
                    value: load(local(Ty::Int, 4)),
                    sections: vec![
                        section(vec![1, 2], false, vec![assign(d_at(int(0)), int(1))]),
                        section(
                            vec![],
                            true,
                            vec![assign(d_at(int(1)), int(1)), stmt(StmtKind::Break)],
                        ),
                        section(vec![3], false, vec![stmt(StmtKind::Continue)]),
                    ],
                })],
                step: Some(v(
                    Ty::Int,
                    ValueKind::IncDec {
                        place: Box::new(local(Ty::Int, 4)),
                        decrement: false,
                        prefix: false,
                    },
                )),
                unroll: None,
            }),
            assign(
                d_at(t()),
                v(
                    Ty::Int,
                    ValueKind::Call(FunctionId(0), vec![load(s_at(t()))]),
                ),
            ),
        ],
    );
    panic!("{}", ir(vec![early, k]));
}
