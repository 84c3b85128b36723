//! Further runs: the same program with other sizes and data in its launches.
//!
//! A variation changes a launch's sizes and arguments, and the buffers that it reads. Nothing else of the program changes, so the program
//! may be wrong then (a kernel for 256 threads gets 224). A comparison is only useful if the unchanged program is right with the same
//! variation.
//!
//! Data changes once for each buffer that the host has filled, when the first launch uses it. The new values depend only on the old ones,
//! so equal runs stay equal.

use std::collections::BTreeSet;

use interp::{LaunchConfig, Memory, Program};
use ir::{FuncId, Function, FunctionKind, GlobalSpace, MemType, Type};

/// Most threads of a block, on all architectures.
const MAX_THREADS: u32 = 1024;
/// Threads of a warp.
const WARP: u32 = 32;

/// What a further run changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Variation {
    /// The blocks of these kernels. With `scales_shared`, their dynamic shared memory grows with the number of threads.
    Block {
        /// The kernels' names.
        kernels: Vec<String>,
        /// The change.
        change: BlockChange,
        /// Whether dynamic shared memory is scaled.
        scales_shared: bool,
    },
    /// An integer argument of a kernel.
    Scalar {
        /// The kernel's name.
        kernel: String,
        /// The index of the parameter.
        param: usize,
        /// The change.
        change: ScalarChange,
    },
    /// The content of number buffers that the host has filled.
    Data(DataChange),
    /// Another kernel with parameters of the same types, for example an instance of the same template that the program launches in other
    /// runs.
    Kernel {
        /// The name of the kernel that the program launches.
        launched: String,
        /// The name of the other kernel.
        other: String,
    },
}

/// Other block sizes. The grid keeps its shape, but never has more threads than before because of larger blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockChange {
    /// One warp less: fewer rows by as many as make a warp, or 32 threads less if there is one row.
    WarpLess,
    /// One warp more.
    WarpMore,
    /// Rows whose length is not a power of two: slightly more than three quarters.
    Ragged,
}

/// Other integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarChange {
    /// One less.
    Less,
    /// One more.
    More,
    /// 0.
    Zero,
    /// 1.
    One,
    /// -1.
    MinusOne,
    /// A number from the kernel's code.
    To(i64),
}

/// Other data in the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataChange {
    /// The same elements in another order.
    Permuted,
    /// The first element everywhere.
    Equal,
    /// The least and the greatest element alternately.
    Extreme,
    /// Large numbers of both signs, and fractions.
    Large,
}

impl BlockChange {
    /// The changed block; `None` if there is none.
    pub fn of(self, block: [u32; 3]) -> Option<[u32; 3]> {
        let [x, y, z] = block;
        let has_rows = y > 1 && x > 0;
        let rows = WARP.div_ceil(x.max(1));
        let new = match (self, has_rows) {
            (BlockChange::WarpLess, true) if y > rows => [x, y - rows, z],
            (BlockChange::WarpLess, false) if x > WARP => [x - WARP, y, z],
            (BlockChange::WarpLess, _) => return None,
            (BlockChange::WarpMore, true) => [x, y + rows, z],
            (BlockChange::WarpMore, false) => [x + WARP, y, z],
            (BlockChange::Ragged, _) if x >= 4 => [x - x * 7 / 32 - u32::from(x < 16), y, z],
            (BlockChange::Ragged, _) => return None,
        };
        let threads = new.iter().map(|&n| u64::from(n)).product::<u64>();
        (new != block && threads <= MAX_THREADS.into()).then_some(new)
    }
}

impl ScalarChange {
    /// The changed value.
    fn of(self, value: u64) -> u64 {
        match self {
            ScalarChange::Less => value.wrapping_sub(1),
            ScalarChange::More => value.wrapping_add(1),
            ScalarChange::Zero => 0,
            ScalarChange::One => 1,
            ScalarChange::MinusOne => u64::MAX,
            ScalarChange::To(number) => number as u64,
        }
    }
}

/// A variation, and the buffers that the host has filled since they were last changed.
#[derive(Debug)]
pub(super) struct Varying {
    variation: Variation,
    filled: BTreeSet<u64>,
    /// Buffers with the same value in all bytes: they count as data if a kernel only reads them.
    cleared: BTreeSet<u64>,
    /// Whether the variables with an initial value were already counted as filled.
    knows_variables: bool,
    has_varied: bool,
}

impl Varying {
    /// Whether anything was changed.
    pub(super) fn has_varied(&self) -> bool {
        self.has_varied
    }

    pub(super) fn new(variation: Variation) -> Varying {
        Varying {
            variation,
            filled: BTreeSet::new(),
            cleared: BTreeSet::new(),
            knows_variables: false,
            has_varied: false,
        }
    }

    /// Notes that the host writes there.
    pub(super) fn filled(&mut self, memory: &Memory, address: u64) {
        if let Some((base, _)) = memory.bounds(address) {
            self.filled.insert(base);
        }
    }

    /// Notes that the host sets all bytes there.
    pub(super) fn cleared(&mut self, memory: &Memory, address: u64) {
        if let Some((base, _)) = memory.bounds(address) {
            self.cleared.insert(base);
        }
    }

    /// The launch's kernel, sizes and arguments, varied; also changes the data that it reads.
    pub(super) fn launch(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        (kernel, given, old): (FuncId, &LaunchConfig, &[u64]),
    ) -> (FuncId, LaunchConfig, Vec<u64>) {
        let module = program.module();
        let function = module.function(kernel);
        let (mut config, mut args) = (given.clone(), old.to_vec());
        match &self.variation {
            Variation::Block {
                kernels,
                change,
                scales_shared,
            } if kernels.contains(&function.name) => {
                resize(&mut config, *change, *scales_shared);
            }
            Variation::Scalar {
                kernel,
                param,
                change,
            } if *kernel == function.name => {
                if let (Some(arg), Some(ty)) = (args.get_mut(*param), scalar(function, *param)) {
                    let value = change.of(*arg);
                    *arg = match ty {
                        Type::I64 => value,
                        _ => value & u64::from(u32::MAX),
                    };
                }
            }
            Variation::Data(change) => {
                let change = *change;
                self.variables(program, memory, change);
                for (param, &address) in function.params.iter().zip(&args) {
                    if let Some(ty) = param.pointee {
                        let base = memory.bounds(address).map(|(base, _)| base);
                        if let Some(base) = base.filter(|_| param.is_const)
                            && self.cleared.remove(&base)
                        {
                            self.filled.insert(base);
                        }
                        self.data(memory, address, ty, change);
                    }
                }
            }
            Variation::Kernel { launched, other } if *launched == function.name => {
                if let Some(other) = module.find(other, FunctionKind::Kernel)
                    && takes_the_same(function, module.function(other))
                {
                    self.has_varied = true;
                    return (other, config, args);
                }
            }
            Variation::Block { .. } | Variation::Scalar { .. } | Variation::Kernel { .. } => {}
        }
        self.has_varied |= (&config, &args[..]) != (given, old);
        (kernel, config, args)
    }

    /// Changes a buffer if the host has filled it since the last change.
    fn data(&mut self, memory: &mut Memory, address: u64, ty: MemType, change: DataChange) {
        let Some((base, bytes)) = memory.bounds(address) else {
            return;
        };
        if !self.filled.remove(&base) {
            return;
        }
        // Bytes that the host has not initialised stay so: only the bytes before them are data.
        let bytes = match memory.first_unset(base, bytes) {
            Some((unset, _)) => unset - base,
            None => bytes,
        };
        let old = memory.read_bytes(base, bytes);
        if let Some(new) = old.ok().and_then(|old| changed(old, ty, change)) {
            self.has_varied |= memory.write_bytes(base, &new).is_ok();
        }
    }

    /// Changes the program's variables that kernels read.
    fn variables(&mut self, program: &Program, memory: &mut Memory, change: DataChange) {
        let is_first = !std::mem::replace(&mut self.knows_variables, true);
        for (index, global) in program.module().globals.iter().enumerate() {
            if !matches!(global.space, GlobalSpace::Constant | GlobalSpace::Device) {
                continue;
            }
            let Some(ty) = element(&global.c_type) else {
                continue;
            };
            let address = memory.symbol_address(ir::GlobalId(index as u32));
            if is_first && global.init.is_some() {
                self.filled(memory, address);
            }
            self.data(memory, address, ty, change);
        }
    }
}

/// Whether two kernels have parameters of the same types.
pub fn takes_the_same(one: &Function, other: &Function) -> bool {
    let types = |function: &Function| -> Vec<String> {
        let params = function.params.iter();
        params.map(|param| param.c_type.clone()).collect()
    };
    types(one) == types(other)
}

/// The type of a parameter, if it is an integer.
pub fn scalar(function: &Function, param: usize) -> Option<Type> {
    let param = function.params.get(param)?;
    let ty = function.slots[param.slot.index()].ty;
    let is_truth = param.c_type.contains("bool");
    (ty.is_int() && !is_truth && !param.c_type.contains('*')).then_some(ty)
}

/// The element type of a number variable, from its type as written.
fn element(c_type: &str) -> Option<MemType> {
    let name = c_type.split('[').next().unwrap_or_default();
    let name = name.trim().trim_start_matches("const ").trim();
    Some(match name {
        "int" | "unsigned" | "unsigned int" => MemType::I32,
        "long long" | "unsigned long long" | "long" | "unsigned long" => MemType::I64,
        "short" => MemType::S16,
        "unsigned short" => MemType::U16,
        "char" | "signed char" => MemType::S8,
        "unsigned char" => MemType::U8,
        "float" => MemType::F32,
        "double" => MemType::F64,
        _ => return None,
    })
}

fn resize(config: &mut LaunchConfig, change: BlockChange, scales_shared: bool) {
    let Some(block) = change.of(config.block) else {
        return;
    };
    let (old, new) = (config.threads_per_block(), {
        let n = block.map(u64::from);
        n[0] * n[1] * n[2]
    });
    if scales_shared && old > 0 {
        config.shared_bytes = (config.shared_bytes * new).div_ceil(old);
    }
    let sizes = config.block.into_iter().zip(block);
    for (blocks, (was, is)) in config.grid.iter_mut().zip(sizes) {
        if is > was {
            let threads = u64::from(*blocks) * u64::from(was);
            *blocks = (threads / u64::from(is)).max(1) as u32;
        }
    }
    config.block = block;
}

/// The elements' bytes with other values; `None` if nothing changes.
fn changed(old: &[u8], ty: MemType, change: DataChange) -> Option<Vec<u8>> {
    let width = ty.bytes() as usize;
    let n = old.len() / width;
    if n < 2 || matches!(ty, MemType::Bool | MemType::Ptr) {
        return None;
    }
    let element = |at: usize| &old[at * width..(at + 1) * width];
    let mut new = old.to_vec();
    let mut put = |at: usize, bytes: &[u8]| {
        new[at * width..(at + 1) * width].copy_from_slice(bytes);
    };
    match change {
        DataChange::Permuted => {
            let order = permutation(n);
            (0..n).for_each(|at| put(at, element(order[at])));
        }
        DataChange::Equal => (0..n).for_each(|at| put(at, element(0))),
        DataChange::Extreme => {
            let key = |at: &usize| Ordered(number(element(*at), ty));
            let least = (0..n).min_by(|a, b| key(a).cmp(&key(b)))?;
            let greatest = (0..n).max_by(|a, b| key(a).cmp(&key(b)))?;
            (0..n).for_each(|at| put(at, element(if at % 2 == 0 { greatest } else { least })));
        }
        DataChange::Large => (0..n).for_each(|at| put(at, &large(at, ty)[..width])),
    }
    (new != old).then_some(new)
}

/// An element's value, for comparisons.
fn number(bytes: &[u8], ty: MemType) -> f64 {
    let mut all = [0u8; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(all);
    match ty {
        MemType::S8 => f64::from(bits as i8),
        MemType::S16 => f64::from(bits as i16),
        MemType::U8 | MemType::U16 | MemType::Bool => bits as f64,
        MemType::I32 => f64::from(bits as i32),
        MemType::I64 | MemType::Ptr => bits as i64 as f64,
        MemType::F32 => f64::from(f32::from_bits(bits as u32)),
        MemType::F64 => f64::from_bits(bits),
    }
}

struct Ordered(f64);

impl Ordered {
    fn cmp(&self, other: &Ordered) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Another order of `n` elements: always the same one, which separates neighbours.
fn permutation(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for at in (1..n).rev() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        order.swap(at, ((state >> 33) % (at as u64 + 1)) as usize);
    }
    order
}

/// A number near a limit of its type, or a fraction without a short form.
fn large(at: usize, ty: MemType) -> [u8; 8] {
    let spread = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = match ty {
        MemType::F32 => {
            let value = ((spread >> 40) as f32 / 7.0e3 - 1000.0) / 3.0;
            u64::from(value.to_bits())
        }
        MemType::F64 => (((spread >> 11) as f64 / 7.0e12 - 1000.0) / 3.0).to_bits(),
        _ => spread ^ spread >> 29,
    };
    bits.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lose_and_gain_a_warp_and_their_power_of_two() {
        use BlockChange::{Ragged, WarpLess, WarpMore};
        let all = |block| [WarpLess, WarpMore, Ragged].map(|change| change.of(block));
        assert_eq!(
            all([256, 1, 1]),
            [Some([224, 1, 1]), Some([288, 1, 1]), Some([200, 1, 1])]
        );
        assert_eq!(all([32, 1, 1]), [None, Some([64, 1, 1]), Some([25, 1, 1])]);
        assert_eq!(
            all([16, 16, 1]),
            [Some([16, 14, 1]), Some([16, 18, 1]), Some([13, 16, 1])]
        );
        assert_eq!(
            all([32, 32, 1]),
            [Some([32, 31, 1]), None, Some([25, 32, 1])]
        );
        assert_eq!(all([1, 1, 1]), [None, Some([33, 1, 1]), None]);
        assert_eq!(all([1024, 1, 1])[1], None);
    }

    #[test]
    fn data_keeps_its_elements_or_its_range() {
        let old: Vec<u8> = [3i32, -5, 8, 0]
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        let new = |change| -> Vec<i32> {
            let new = changed(&old, MemType::I32, change).expect("other data");
            new.chunks(4)
                .map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect()
        };
        let mut permuted = new(DataChange::Permuted);
        assert_ne!(permuted, [3, -5, 8, 0]);
        permuted.sort_unstable();
        assert_eq!(permuted, [-5, 0, 3, 8]);
        assert_eq!(new(DataChange::Equal), [3, 3, 3, 3]);
        assert_eq!(new(DataChange::Extreme), [8, -5, 8, -5]);
        assert_eq!(changed(&old[..4], MemType::I32, DataChange::Equal), None);
    }
}
