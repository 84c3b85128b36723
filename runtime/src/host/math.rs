//! C's math library for host code: the calls that no IR instruction covers.

use dsl::ir::HostFn;

/// The result of a math call as bits, or `None` when `function` is none.
pub(super) fn call(function: HostFn, args: &[u64]) -> Option<u64> {
    let d = |i: usize| f64::from_bits(args[i]);
    let f = |i: usize| f32::from_bits(args[i] as u32);
    let double = |value: f64| Some(value.to_bits());
    let single = |value: f32| Some(u64::from(value.to_bits()));
    match function {
        HostFn::Exp => double(d(0).exp()),
        HostFn::Log => double(d(0).ln()),
        HostFn::Log2 => double(d(0).log2()),
        HostFn::Log10 => double(d(0).log10()),
        HostFn::Pow => double(d(0).powf(d(1))),
        HostFn::Sin => double(d(0).sin()),
        HostFn::Cos => double(d(0).cos()),
        HostFn::Tan => double(d(0).tan()),
        HostFn::Atan => double(d(0).atan()),
        HostFn::Atan2 => double(d(0).atan2(d(1))),
        HostFn::Tanh => double(d(0).tanh()),
        HostFn::Expf => single(f(0).exp()),
        HostFn::Logf => single(f(0).ln()),
        HostFn::Powf => single(f(0).powf(f(1))),
        HostFn::Sinf => single(f(0).sin()),
        HostFn::Cosf => single(f(0).cos()),
        HostFn::Tanhf => single(f(0).tanh()),
        _ => None,
    }
}
