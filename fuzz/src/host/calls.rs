//! A host function in IR that calls anything with any arguments.

use std::sync::Arc;

use ir::{
    Access, BinaryOp, CompareOp, Const, FuncId, FunctionKind, GlobalId, GlobalSpace, GlobalVar,
    HostFn, Launch, Loc, LocId, LocalId, LocalVar, MemType, Module, Object, Operand, Space,
    SpecialReg, StringId, Type, builder::Builder,
};

use crate::choices::Choices;

/// The source text for the IR's places.
pub(super) const SOURCE: &str = "__global__ void k(int *p, long n);\nint main() {\n    call(p, n);\n    k<<<1, 32>>>(p, n);\n}\n";

const P: Type = Type::Ptr(Space::Generic);
/// The number of words in which the program keeps pointers, streams and events.
const HANDLES: i64 = 8;
const STRINGS: &[&str] = &[
    "",
    "%d %s\n",
    "%f %5.2e %g %c",
    "%lld %llu %x %p %%",
    "%*d|%-8s|%.3s",
    "%n",
    "%",
    "%q %l",
    "12345678901234567890",
    "-7 apples",
    "1e5x",
    "\u{e9}\u{1f600}",
    "text",
];
const GLOBALS: [GlobalSpace; 4] = [
    GlobalSpace::Constant,
    GlobalSpace::Device,
    GlobalSpace::Managed,
    GlobalSpace::Host,
];

fn access(ty: MemType) -> Access {
    Access {
        ty,
        count: 1,
        space: Space::Generic,
        volatile: false,
        block_scope: false,
        object: None,
        row_len: 0,
        is_member: false,
        align_bytes: 0,
        merged: false,
        partial: false,
        read_only: false,
    }
}

/// A kernel, `main`, variables and strings.
pub(super) fn module(choices: &mut Choices<'_>) -> Module {
    let loc = |line, column, text: &str| Loc {
        file: 0,
        line,
        column,
        text: text.to_string(),
        via: None,
    };
    let mut module = Module {
        name: "fuzz.k".to_string(),
        files: vec!["fuzz.k".to_string()],
        locs: vec![
            Loc::default(),
            loc(1, 17, "k"),
            loc(2, 5, "main"),
            loc(3, 5, "call(p, n)"),
            loc(4, 5, "k<<<1, 32>>>(p, n)"),
        ],
        strings: STRINGS
            .iter()
            .map(|text| Arc::from(text.as_bytes()))
            .collect(),
        ..Module::default()
    };
    for space in GLOBALS {
        module.globals.push(GlobalVar {
            name: format!("{space:?}"),
            space,
            c_type: "int [16]".to_string(),
            element_bytes: 4,
            size_bytes: 64,
            align_bytes: 16,
            init: None,
            relocations: Vec::new(),
            loc: LocId(1),
        });
    }
    module.functions.push(kernel());
    let mut main = Main {
        builder: Builder::new("main", FunctionKind::Host, LocId(2)),
        choices,
        handles: LocalId(0),
        room: LocalId(0),
    };
    main.write();
    module.functions.push(main.builder.finish());
    module
}

/// `p[n & 31] = p[tid] + n`, at least in some blocks.
fn kernel() -> ir::Function {
    let mut builder = Builder::new("k", FunctionKind::Kernel, LocId(1));
    builder.set_loc(LocId(1));
    let p = builder.param("p", P, "int *", Some(MemType::I32), false, false);
    let n = builder.param("n", Type::I64, "long", None, false, false);
    let (base, tid) = (builder.get(p), builder.special(SpecialReg::TidX));
    let from = builder.ptr_add(base, tid, false, 4, 0);
    let value = builder.load(access(MemType::I32), from)[0];
    let n = builder.get(n);
    let at = builder.binary(BinaryOp::And, n, constant(Type::I64, 31));
    let to = builder.ptr_add(base, at, false, 4, 0);
    builder.store(access(MemType::I32), to, vec![value]);
    builder.finish()
}

fn constant(ty: Type, bits: u64) -> Operand {
    Const { ty, bits }.into()
}

/// The argument that is a kernel.
fn kernel_argument(function: HostFn) -> Option<usize> {
    match function {
        HostFn::CudaFuncSetAttribute
        | HostFn::CudaFuncSetCacheConfig
        | HostFn::CudaFuncSetSharedMemConfig => Some(0),
        HostFn::OccupancyBlocks | HostFn::KernelFact => Some(1),
        HostFn::OccupancyBlockSize => Some(2),
        _ => None,
    }
}

struct Main<'a, 'b> {
    builder: Builder,
    choices: &'a mut Choices<'b>,
    handles: LocalId,
    room: LocalId,
}

impl Main<'_, '_> {
    fn write(&mut self) {
        self.builder.set_result(Some(Type::I32));
        self.builder.set_loc(LocId(2));
        let local = |name: &str, size_bytes: u64| LocalVar {
            name: name.to_string(),
            c_type: "long".to_string(),
            element_bytes: 8,
            dims: vec![size_bytes / 8],
            size_bytes,
            align_bytes: 16,
            loc: LocId(2),
        };
        self.handles = self.builder.local(local("handles", 8 * HANDLES as u64));
        self.room = self.builder.local(local("room", 256));
        let counter = self.builder.slot("i", Type::I32);
        self.builder.set(counter, constant(Type::I32, 0));
        let label = self.builder.open_loop(None);
        let rounds = self.choices.pick(&[1, 1, 2, 5]);
        let round = self.builder.get(counter);
        let over = self
            .builder
            .compare(CompareOp::Sge, round, constant(Type::I32, rounds));
        self.builder.open_if(over);
        self.builder.break_to(label);
        self.builder.close();
        for _ in 0..64 {
            if self.choices.is_empty() {
                break;
            }
            self.statement();
        }
        self.builder.open_step();
        let round = self.builder.get(counter);
        let next = self
            .builder
            .binary(BinaryOp::Add, round, constant(Type::I32, 1));
        self.builder.set(counter, next);
        self.builder.close();
        self.builder.return_value(Some(constant(Type::I32, 0)));
    }

    fn statement(&mut self) {
        self.builder.set_loc(LocId(3));
        match self.choices.below(16) {
            0 => self.launch(),
            1 => {
                let ptr = self.pointer();
                let value = self.builder.load(access(MemType::I64), ptr)[0];
                self.keep(value);
            }
            2 => {
                let (ptr, value) = (self.pointer(), self.number());
                self.builder.store(access(MemType::I64), ptr, vec![value]);
            }
            // The usual statements of programs.
            3..=7 => {
                let function = self.choices.pick(&[
                    HostFn::CudaMalloc,
                    HostFn::CudaMallocManaged,
                    HostFn::CudaMallocHost,
                    HostFn::CudaMemcpy,
                    HostFn::CudaMemset,
                    HostFn::CudaStreamCreate,
                    HostFn::CudaEventCreate,
                    HostFn::CudaEventRecord,
                    HostFn::CudaFree,
                    HostFn::Malloc,
                    HostFn::Free,
                ]);
                self.call(function);
            }
            _ => {
                let function = self.choices.pick(HostFn::ALL);
                let ends = matches!(function, HostFn::Exit | HostFn::Abort | HostFn::AssertFail);
                if !ends || self.choices.one_in(8) {
                    self.call(function);
                }
            }
        }
    }

    fn call(&mut self, function: HostFn) {
        let mut args: Vec<Operand> = Vec::new();
        for (index, &ty) in function.args().iter().enumerate() {
            // A result usually goes to where the program keeps such values.
            let puts =
                index == 0 && function.text().starts_with("cuda") && function.args().len() > 1;
            let arg = match ty {
                // A kernel is given by name, and never computed.
                _ if kernel_argument(function) == Some(index) => constant(ty, 0),
                Type::Ptr(_) if puts && !self.choices.one_in(8) => self.handle_address(),
                ty => self.argument(ty),
            };
            args.push(arg);
        }
        if function.is_variadic() {
            for _ in 0..self.choices.below(5) {
                let ty = self.choices.pick(&[Type::I32, Type::I64, Type::F64, P]);
                args.push(self.argument(ty));
            }
        }
        if let Some(result) = self.builder.host_call(function, args) {
            self.keep(result);
        }
    }

    fn launch(&mut self) {
        self.builder.set_loc(LocId(4));
        // The limit of instructions bounds loops in threads, but not the number of threads.
        let most = u64::from(u32::MAX);
        let sizes = [1, 2, 3, 0, 33, 64, 1024, 1025, most];
        let few = [1, 2, 3, 0, 65_536, most];
        let mut size = |rare: usize, sizes: &[u64]| {
            let bits = if self.choices.one_in(rare) {
                self.choices.pick(sizes)
            } else {
                1
            };
            constant(Type::I32, bits)
        };
        let grid = [size(2, &sizes), size(6, &few), size(8, &few)];
        let block = [size(2, &sizes), size(6, &few), size(8, &few)];
        let bytes = self.choices.pick(&[0, 0, 16, 49_152, 300_000, u64::MAX]);
        let cooperative = self.choices.one_in(8);
        let (pointer, number) = (self.pointer(), self.number());
        let stream = self.stream();
        self.builder.launch(Launch {
            kernel: FuncId(0),
            grid,
            block,
            shared_bytes: constant(Type::I64, bytes),
            stream,
            cooperative,
            args: vec![pointer, number],
        });
    }

    fn argument(&mut self, ty: Type) -> Operand {
        match ty {
            Type::Ptr(_) => self.pointer(),
            Type::I64 => match self.choices.below(3) {
                0 => self.stream(),
                _ => self.number(),
            },
            Type::I32 | Type::I1 => {
                let bits = [
                    0,
                    1,
                    2,
                    3,
                    4,
                    5,
                    37,
                    100,
                    255,
                    700,
                    0x7fff_ffff,
                    0x8000_0000,
                    0xffff_ffff,
                ];
                constant(
                    ty,
                    self.choices.pick(&bits) & if ty == Type::I1 { 1 } else { u64::MAX },
                )
            }
            Type::F32 => {
                let values = [0.0f32, 1.0, -1.5, 1e30, f32::NAN, f32::INFINITY];
                constant(ty, self.choices.pick(&values).to_bits().into())
            }
            Type::F64 => {
                let values = [0.0f64, 1.0, -1.5, 1e300, f64::NAN, -f64::INFINITY, 5e-324];
                constant(ty, self.choices.pick(&values).to_bits())
            }
        }
    }

    fn handle_address(&mut self) -> Operand {
        let base = self.builder.addr_of(Object::Local(self.handles));
        let offset = 8 * self.choices.below(HANDLES as usize) as i64;
        self.builder.ptr_offset(base, offset)
    }

    fn handle(&mut self, ty: MemType) -> Operand {
        let from = self.handle_address();
        self.builder.load(access(ty), from)[0]
    }

    fn stream(&mut self) -> Operand {
        match self.choices.below(4) {
            0 => constant(Type::I64, self.choices.pick(&[0, 1, 2, 3, 77, u64::MAX])),
            _ => self.handle(MemType::I64),
        }
    }

    /// A size, usually small: sizes between a mebibyte and the memory limit take long.
    fn number(&mut self) -> Operand {
        let sizes = [
            0,
            1,
            4,
            16,
            64,
            100,
            256,
            4096,
            65_536,
            1 << 20,
            1 << 37,
            1 << 63,
            u64::MAX,
            u64::MAX - 7,
        ];
        match self.choices.below(8) {
            0 => self.handle(MemType::I64),
            _ => constant(Type::I64, self.choices.pick(&sizes)),
        }
    }

    fn pointer(&mut self) -> Operand {
        let pointer = match self.choices.below(10) {
            0..=3 => self.handle(MemType::Ptr),
            4 => self.handle_address(),
            5 => self.builder.addr_of(Object::Local(self.room)),
            6 => {
                let global = self.choices.below(GLOBALS.len()) as u32;
                self.builder.addr_of(Object::Global(GlobalId(global)))
            }
            7 | 8 => {
                let string = self.choices.below(STRINGS.len()) as u32;
                self.builder.addr_of(Object::String(StringId(string)))
            }
            _ => {
                let wild = self.choices.word();
                let bits = self
                    .choices
                    .pick(&[0, 8, 1 << 40, 0x7f00_0000_0000, u64::MAX, wild]);
                constant(P, bits)
            }
        };
        let offset = match self.choices.below(6) {
            5 => self.choices.pick(&[1, 4, 60, 64, 256, -1, -8, 1 << 20]),
            _ => 0,
        };
        self.builder.ptr_offset(pointer, offset)
    }

    /// Sometimes keeps a call's result where pointers and streams are.
    fn keep(&mut self, value: Operand) {
        let ty = match self.builder.value_type(value) {
            Type::I64 => MemType::I64,
            Type::Ptr(_) => MemType::Ptr,
            _ => return,
        };
        let to = self.handle_address();
        self.builder.store(access(ty), to, vec![value]);
    }
}
