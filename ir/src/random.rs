//! Generates random modules for tests, which are valid by construction.
//!
//! A module follows from a seed alone, so a failing case is a number. Kernels use every instruction they may (so that printer, reader and
//! verifier see all of them) unless [`Options::plain`] restricts them to what a small executor can run.

mod inst;

use super::builder::Builder;
use super::*;

/// A small generator of random numbers (splitmix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(super) fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What to generate.
#[derive(Clone, Copy)]
pub struct Options {
    /// Whether to use only what the executor of the uniformity tests runs, with small integers.
    pub plain: bool,
}

const GENERIC: Type = Type::Ptr(Space::Generic);
const TYPES: &[Type] = &[
    Type::I1,
    Type::I32,
    Type::I64,
    Type::F32,
    Type::F64,
    GENERIC,
];
const PLAIN_TYPES: &[Type] = &[Type::I1, Type::I32, Type::I32];
const MEM_TYPES: &[MemType] = &[
    MemType::Bool,
    MemType::S8,
    MemType::U8,
    MemType::S16,
    MemType::U16,
    MemType::I32,
    MemType::I64,
    MemType::F32,
    MemType::F64,
    MemType::Ptr,
];

/// A module: tables full of odd names, a kernel, and (unless plain) two host functions. All pointers are generic.
pub fn module(seed: u64, options: Options) -> Module {
    let mut random = Random::new(seed);
    let mut module = Module {
        name: name(&mut random),
        locs: vec![Loc::default()],
        ..Module::default()
    };
    tables(&mut random, &mut module);
    let kernel = Generator::new(&mut random, &module, FunctionKind::Kernel, options).function("k");
    module.functions.push(kernel);
    if !options.plain {
        for host_name in ["main", "operator<"] {
            let generator = Generator::new(&mut random, &module, FunctionKind::Host, options);
            let host = generator.function(host_name);
            module.functions.push(host);
        }
    }
    module
}

fn name(random: &mut Random) -> String {
    let names = [
        "x",
        "tile",
        "a.b",
        "",
        "ünï",
        "q\"\\\n\t\r\u{7f}\u{2028}",
        "two words",
        "// no",
    ];
    random.pick(&names).to_string()
}

fn tables(random: &mut Random, module: &mut Module) {
    module.files = (0..1 + random.below(2)).map(|_| name(random)).collect();
    for index in 1..2 + random.below(5) {
        module.locs.push(Loc {
            file: random.below(module.files.len()) as u32,
            line: random.below(100) as u32,
            column: random.next() as u32,
            text: name(random),
            via: random.chance(2).then(|| LocId(random.below(index) as u32)),
        });
    }
    for _ in 0..1 + random.below(3) {
        let bytes: Vec<u8> = (0..random.below(9)).map(|_| random.next() as u8).collect();
        module.strings.push(bytes.into());
    }
    for space in [
        GlobalSpace::Constant,
        GlobalSpace::Device,
        GlobalSpace::Managed,
        GlobalSpace::Host,
    ] {
        let elements = random.below(6) as u64;
        let init = random
            .chance(2)
            .then(|| (0..8 * elements).map(|_| random.next() as u8).collect());
        let relocations = match elements {
            0 => vec![],
            _ => vec![
                (0, Object::String(StringId(0)), i64::MIN),
                (
                    8 * (elements - 1),
                    Object::Global(GlobalId(0)),
                    random.next() as i64,
                ),
            ],
        };
        module.globals.push(GlobalVar {
            name: name(random),
            space,
            c_type: "int [n]".into(),
            element_bytes: 8,
            size_bytes: 8 * elements,
            align_bytes: 8,
            init,
            relocations,
            loc: loc(random, module),
        });
    }
}

fn loc(random: &mut Random, module: &Module) -> LocId {
    LocId(random.below(module.locs.len()) as u32)
}

/// An open label, and whether `continue` may name it here.
#[derive(Clone, Copy)]
struct OpenLabel {
    label: LabelId,
    may_continue: bool,
}

struct Generator<'a> {
    random: &'a mut Random,
    module: &'a Module,
    builder: Builder,
    options: Options,
    kernel: bool,
    /// Temporaries that are visible, with their types.
    visible: Vec<(Operand, Type)>,
    labels: Vec<OpenLabel>,
    /// A counter of loop rounds: every loop ends when it reaches 0. In plain kernels a variable that is never set.
    fuel: SlotId,
}

impl<'a> Generator<'a> {
    fn new(
        random: &'a mut Random,
        module: &'a Module,
        kind: FunctionKind,
        options: Options,
    ) -> Generator<'a> {
        let mut builder = Builder::new("", kind, loc(random, module));
        let fuel = builder.param("fuel", Type::I32, "int", None, false, false);
        let kernel = kind == FunctionKind::Kernel;
        Generator {
            random,
            module,
            builder,
            options,
            kernel,
            visible: vec![],
            labels: vec![],
            fuel,
        }
    }

    fn function(mut self, name: &str) -> Function {
        self.variables();
        let statements = 4 + self.random.below(10);
        self.block(statements, 0);
        if self.kernel && !self.options.plain && self.random.chance(2) {
            self.routine();
        }
        let mut function = self.builder.finish();
        function.name = name.to_string();
        function
    }

    /// A routine that calls itself, and a call of it at the kernel's end. Nothing else names its variables.
    fn routine(&mut self) {
        let [given, more, result] = [(); 3].map(|()| self.random.pick(TYPES));
        let args = vec![self.operand(given), self.operand(more)];
        let [first, second, sum, own] = [given, more, result, result].map(|ty| {
            let slot_name = name(self.random);
            self.builder.slot(slot_name, ty)
        });
        let routine = self.builder.routine(Routine {
            name: name(self.random),
            params: vec![first, second],
            results: vec![sum],
            loc: loc(self.random, self.module),
        });
        self.builder.call_routine(routine, args);
        self.builder.open_routine(routine);
        let again = [first, second].map(|slot| self.builder.get(slot));
        let cond = self.constant(Type::I1);
        self.builder.open_if(cond);
        let given = self.builder.call_routine(routine, again.to_vec());
        self.builder.set(own, given[0]);
        self.builder.close();
        let kept = self.builder.get(own);
        self.builder.set(sum, kept);
        self.builder.close();
    }

    fn types(&self) -> &'static [Type] {
        if self.options.plain {
            PLAIN_TYPES
        } else {
            TYPES
        }
    }

    fn variables(&mut self) {
        for _ in 0..2 + self.random.below(3) {
            let ty = self.random.pick(self.types());
            let pointee = (ty == GENERIC).then_some(MemType::F32);
            let (is_const, is_restrict) = (self.random.chance(2), self.random.chance(2));
            let slot_name = name(self.random);
            self.builder
                .param(slot_name, ty, "T", pointee, is_const, is_restrict);
        }
        for _ in 0..3 + self.random.below(4) {
            let ty = self.random.pick(self.types());
            let slot_name = name(self.random);
            self.builder.slot(slot_name, ty);
        }
        if !self.kernel && self.random.chance(2) {
            let result = self.random.pick(TYPES);
            self.builder.set_result(Some(result));
        }
        if self.kernel && self.random.chance(2) {
            let blocks = self.random.chance(2).then_some(2);
            self.builder.set_launch_bounds(256, blocks);
        }
        if self.kernel && self.random.chance(4) {
            self.builder.set_compiled_by("clang 22");
        }
        for _ in 0..1 + self.random.below(2) {
            let dims = [vec![], vec![4], vec![8, 9]][self.random.below(3)].clone();
            let size_bytes = 4 * dims.iter().product::<u64>();
            let local = LocalVar {
                name: name(self.random),
                c_type: "int".into(),
                element_bytes: 4,
                dims: dims.clone(),
                size_bytes,
                align_bytes: 4,
                loc: loc(self.random, self.module),
            };
            if self.kernel {
                let dynamic = self.random.chance(2);
                self.builder.shared(SharedVar {
                    name: local.name.clone(),
                    c_type: local.c_type.clone(),
                    element_bytes: 4,
                    dims: if dynamic { vec![0] } else { dims },
                    size_bytes: if dynamic { 0 } else { size_bytes },
                    align_bytes: 16,
                    dynamic,
                    offset_bytes: 0,
                    loc: local.loc,
                });
            }
            self.builder.local(local);
        }
    }

    fn constant(&mut self, ty: Type) -> Operand {
        let bits = if self.options.plain || self.random.chance(2) {
            self.random.below(4) as u64
        } else {
            let odd = [
                u64::MAX,
                1 << 63,
                0x7ff0_0000_0000_0001,
                0x7f80_0000,
                0xff80_0001,
                0x3ff8 << 48,
            ];
            let any = self.random.next();
            let odd = self.random.pick(&odd);
            self.random.pick(&[odd, any])
        };
        let bits = match ty {
            Type::I1 => bits & 1,
            Type::I32 | Type::F32 => bits & u32::MAX as u64,
            Type::I64 | Type::F64 | Type::Ptr(_) => bits,
        };
        Const { ty, bits }.into()
    }

    fn slot_of(&mut self, ty: Type) -> Option<SlotId> {
        let slots = self.builder.function().slots.iter().enumerate();
        let fits = slots.filter(|(index, slot)| slot.ty == ty && *index != self.fuel.index());
        let fits: Vec<SlotId> = fits.map(|(index, _)| SlotId(index as u32)).collect();
        (!fits.is_empty()).then(|| self.random.pick(&fits))
    }

    /// A visible temporary of the type, a variable's value, or a constant.
    fn operand(&mut self, ty: Type) -> Operand {
        let fits = self.visible.iter().filter(|(_, found)| *found == ty);
        let fits: Vec<Operand> = fits.map(|(operand, _)| *operand).collect();
        match self.random.below(6) {
            0 => self.constant(ty),
            1 | 2 => match self.slot_of(ty) {
                Some(slot) => self.builder.get(slot),
                None => self.constant(ty),
            },
            _ if fits.is_empty() => self.constant(ty),
            _ => self.random.pick(&fits),
        }
    }

    fn keep(&mut self, operand: Operand) {
        let ty = self.builder.value_type(operand);
        self.visible.push((operand, ty));
    }

    fn block(&mut self, statements: usize, depth: usize) {
        let visible = self.visible.len();
        for _ in 0..statements {
            let place = loc(self.random, self.module);
            self.builder.set_loc(place);
            match self.random.below(10) {
                0 | 1 if depth < 4 => self.branch(depth),
                2 if depth < 4 => self.repeat(depth),
                3 if depth < 4 => self.scope(depth),
                4 if depth > 0 => self.jump(),
                5 if depth > 0 => self.guarded_jump(),
                6 | 7 => self.assignment(),
                _ => self.instruction(),
            }
        }
        self.visible.truncate(visible);
    }

    fn statements(&mut self) -> usize {
        1 + self.random.below(4)
    }

    fn branch(&mut self, depth: usize) {
        let cond = self.condition();
        self.builder.open_if(cond);
        let statements = self.statements();
        self.block(statements, depth + 1);
        if self.random.chance(2) {
            self.builder.open_else();
            let statements = self.statements();
            self.block(statements, depth + 1);
        }
        self.builder.close();
    }

    /// A loop that ends: by fuel, or by the executor in plain kernels (fuel would make all lanes differ).
    fn repeat(&mut self, depth: usize) {
        let unroll = self.random.chance(2).then(|| self.random.below(5) as u32);
        let label = self.builder.open_loop(unroll);
        if !self.options.plain {
            self.use_fuel(label);
        }
        self.labels.push(OpenLabel {
            label,
            may_continue: true,
        });
        let statements = self.statements();
        self.block(statements, depth + 1);
        self.builder.open_step();
        self.labels.last_mut().expect("just pushed").may_continue = false;
        if self.random.chance(2) {
            let statements = self.statements();
            self.block(statements, depth + 1);
        }
        self.labels.pop();
        self.builder.close();
    }

    /// `if fuel <= 0 { break }`, `fuel = fuel - 1`
    fn use_fuel(&mut self, label: LabelId) {
        let fuel = self.builder.get(self.fuel);
        let zero = Const::i32(0).into();
        let empty = self.builder.compare(CompareOp::Sle, fuel, zero);
        self.builder.open_if(empty);
        self.builder.break_to(label);
        self.builder.close();
        let less = self
            .builder
            .binary(BinaryOp::Sub, fuel, Const::i32(1).into());
        self.builder.set(self.fuel, less);
    }

    /// `if cond { … break L }`
    fn guarded_jump(&mut self) {
        let cond = self.condition();
        self.builder.open_if(cond);
        if self.random.chance(2) {
            self.assignment();
        }
        self.jump();
        self.builder.close();
    }

    /// A condition that is often of interest: different for the lanes, or the same for all.
    fn condition(&mut self) -> Operand {
        if !self.options.plain {
            return self.operand(Type::I1);
        }
        let a = match self.random.below(4) {
            0 => self.builder.special(SpecialReg::TidX),
            1 => self.builder.get(self.fuel),
            _ => self.operand(Type::I32),
        };
        let b = self.constant(Type::I32);
        let op = self
            .random
            .pick(&[CompareOp::Eq, CompareOp::Slt, CompareOp::Uge]);
        self.builder.compare(op, a, b)
    }

    fn assignment(&mut self) {
        let ty = self.random.pick(self.types());
        let Some(slot) = self.slot_of(ty) else {
            return;
        };
        let constant = self.options.plain && self.random.chance(2);
        let value = if constant {
            self.constant(ty)
        } else {
            self.operand(ty)
        };
        self.builder.set(slot, value);
    }

    fn scope(&mut self, depth: usize) {
        let label = self.builder.open_scope();
        self.labels.push(OpenLabel {
            label,
            may_continue: false,
        });
        let statements = self.statements();
        self.block(statements, depth + 1);
        self.labels.pop();
        self.builder.close();
    }

    fn jump(&mut self) {
        if self.labels.is_empty() || self.random.chance(8) {
            let result = self.builder.function().result;
            let value = result.map(|ty| self.operand(ty));
            self.builder.return_value(value);
            return;
        }
        let open = self.labels[self.random.below(self.labels.len())];
        if open.may_continue && self.random.chance(2) {
            self.builder.continue_to(open.label);
        } else {
            self.builder.break_to(open.label);
        }
    }
}
