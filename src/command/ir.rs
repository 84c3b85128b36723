//! `dslc ir FILE`: the verified IR as text.

use ir::diagnostic::Severity;

use crate::{
    args::{Color, IrArgs},
    failure::Failure,
    output,
    source::load,
};

pub(crate) fn run(args: &IrArgs, color: Color) -> Result<u8, Failure> {
    let loaded = load(&args.source)?;
    let failed = loaded.report(color, Severity::Warning);
    if let Some(module) = &loaded.module {
        output::out(ir::print::print(module).as_bytes());
    }
    Ok(u8::from(failed || loaded.module.is_none()))
}
