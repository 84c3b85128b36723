//! The choice of rules: `--arch`, `--bank-width`, `--rules FILE`.
//!
//! [`runtime::rules`] describes the content of a file of rules.

use std::path::Path;

use interp::rules::{Arch, BankWidth, RuleSet};

use crate::{args::RulesArgs, failure::Failure, files};

/// The architecture whose counts are measured.
pub(crate) const DEFAULT_ARCH: &str = "sm_90";

/// Size limit of a file of rules.
const MAX_BYTES: u64 = 1 << 20;

/// The rule set that the options choose.
pub(crate) fn rules(arch: Option<&str>, args: &RulesArgs) -> Result<RuleSet, Failure> {
    match &args.rules {
        Some(path) => from_file(path, arch),
        None => of_arch(arch.unwrap_or(DEFAULT_ARCH), args.bank_width),
    }
}

/// The rule set of an architecture.
pub(crate) fn of_arch(arch: &str, bank_width: u32) -> Result<RuleSet, Failure> {
    let arch: Arch = arch.parse()?;
    let width = match bank_width {
        4 => BankWidth::Four,
        8 => BankWidth::Eight,
        other => {
            return Err(Failure::new(format!(
                "--bank-width {other}: banks are 4 or 8 bytes wide"
            )));
        }
    };
    Ok(RuleSet::new(arch, width)?)
}

fn from_file(path: &Path, arch: Option<&str>) -> Result<RuleSet, Failure> {
    let name = path.display().to_string();
    let wrong = |why: &dyn std::fmt::Display| Failure::new(format!("--rules `{name}`: {why}"));
    let bytes = files::read(path, true, MAX_BYTES).map_err(|why| wrong(&why))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong(&"it is not UTF-8 text"))?;
    runtime::rules::of_text(&name, &text, arch, DEFAULT_ARCH).map_err(|why| wrong(&why))
}
