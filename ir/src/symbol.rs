//! Symbols: maps names of the source to unique names that PTX allows.
//!
//! Letters, digits and `_` stay. Every other byte of the UTF-8 text becomes `$` and two hexadecimal digits, so different names stay
//! different. Additions by the compiler start with `$$`, which no mangled name contains.

use super::{FuncId, FunctionKind, GlobalSpace, Module};

/// Words with a meaning in PTX where a name is allowed, and functions that the driver provides.
const RESERVED: &[&str] = &["WARP_SZ", "vprintf", "__assertfail", "malloc", "free"];

/// A name in characters that PTX allows.
pub fn mangle(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    // A lone underscore is "no register" in PTX, and a name must not start with a digit.
    if name.is_empty() || name == "_" || name.starts_with(|c: char| c.is_ascii_digit()) {
        out.push_str("$$n");
    }
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            out.push(byte as char);
        } else {
            out.push_str(&format!("${byte:02x}"));
        }
    }
    if RESERVED.contains(&name) {
        out.push_str("$$r");
    }
    out
}

/// The name of the template that `name` is an instance of: `scale` for `scale<float>`. Other names are unchanged.
pub fn template_name(name: &str) -> &str {
    name.split_once('<').map_or(name, |(template, _)| template)
}

/// The PTX `.entry` of a kernel.
pub fn kernel_symbol(module: &Module, id: FuncId) -> String {
    let name = &module.function(id).name;
    let earlier = &module.functions[..id.index()];
    let twins = earlier
        .iter()
        .filter(|function| function.kind == FunctionKind::Kernel && function.name == *name)
        .count();
    numbered(mangle(name), twins)
}

/// The PTX variable of a `__device__` or `__constant__` variable, by its index in [`Module::globals`].
pub fn global_symbol(module: &Module, index: usize) -> String {
    let name = &module.globals[index].name;
    let on_device = |space| space != GlobalSpace::Host;
    let twins = module.globals[..index]
        .iter()
        .filter(|global| on_device(global.space) && global.name == *name)
        .count();
    let is_kernel = module.kernels().any(|(_, kernel)| kernel.name == *name);
    let symbol = mangle(name);
    let symbol = if is_kernel { symbol + "$$g" } else { symbol };
    numbered(symbol, twins)
}

fn numbered(symbol: String, twins: usize) -> String {
    match twins {
        0 => symbol,
        n => format!("{symbol}$${n}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_letters_and_stay_apart() {
        assert_eq!(mangle("transpose_tile2"), "transpose_tile2");
        assert_eq!(mangle("scale<float, 4>"), "scale$3cfloat$2c$204$3e");
        assert_eq!(mangle("größe"), "gr$c3$b6$c3$9fe");
        assert_eq!(mangle("a$24"), "a$2424");
        assert_ne!(mangle("a$"), mangle("a$24"));
        assert_eq!(mangle("WARP_SZ"), "WARP_SZ$$r");
        assert_eq!(mangle("_"), "$$n_");
    }
}
