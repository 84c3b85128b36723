//! Files of rules for `--rules`, in TOML. Rules that a file does not give are those of the architecture, which is the file's own `arch`, or
//! the one that the caller names.

use interp::rules::{Arch, AtomicRule, BankWidth, RuleSet};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    arch: Option<String>,
    #[serde(default)]
    shared: Shared,
    #[serde(default)]
    global: Global,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    banks: Option<u32>,
    bank_bytes: Option<u32>,
    row_bytes: Option<u32>,
    lanes_4: Option<u32>,
    lanes_8: Option<u32>,
    /// 0 means not modelled.
    lanes_16: Option<u32>,
    extra_16: Option<u32>,
    merges_pairs: Option<bool>,
    atomics: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Global {
    loads_lines: Option<bool>,
    splits_wide: Option<bool>,
    atomics: Option<bool>,
}

/// The rule set in a file's text. `arch` wins over the file's own; `default` is used if neither is given.
pub fn of_text(
    name: &str,
    text: &str,
    arch: Option<&str>,
    default: &str,
) -> Result<RuleSet, String> {
    let file: File = toml::from_str(text).map_err(|why| why.to_string().trim_end().to_string())?;
    let arch = arch.or(file.arch.as_deref()).unwrap_or(default);
    let arch: Arch = arch.parse().map_err(|why| format!("{why}"))?;
    let base = RuleSet::new(arch, BankWidth::Four).map_err(|why| why.to_string())?;
    let (mut shared, mut global) = (base.shared, base.global);
    let from = &file.shared;
    shared.banks = from.banks.unwrap_or(shared.banks);
    shared.bank_bytes = from.bank_bytes.unwrap_or(shared.bank_bytes);
    if from.banks.is_some() || from.bank_bytes.is_some() {
        shared.row_bytes = shared.banks.saturating_mul(shared.bank_bytes);
    }
    shared.row_bytes = from.row_bytes.unwrap_or(shared.row_bytes);
    shared.lanes_4 = from.lanes_4.unwrap_or(shared.lanes_4);
    shared.lanes_8 = from.lanes_8.unwrap_or(shared.lanes_8);
    if let Some(lanes) = from.lanes_16 {
        shared.lanes_16 = Some(lanes).filter(|&lanes| lanes > 0);
    }
    shared.extra_16 = from.extra_16.unwrap_or(shared.extra_16);
    shared.merges_pairs = from.merges_pairs.unwrap_or(shared.merges_pairs);
    shared.atomics = match from.atomics {
        Some(true) => AtomicRule::LanesPerBank,
        Some(false) => AtomicRule::NotModelled,
        None => shared.atomics,
    };
    let from = &file.global;
    global.loads_lines = from.loads_lines.unwrap_or(global.loads_lines);
    global.splits_wide = from.splits_wide.unwrap_or(global.splits_wide);
    global.atomics = from.atomics.unwrap_or(global.atomics);
    // A rule set is copied often, so its name is leaked; that happens once per process.
    let by: &'static str = Box::leak(format!("`{name}`").into_boxed_str());
    base.given(by, shared, global)
        .map_err(|why| why.to_string())
}
