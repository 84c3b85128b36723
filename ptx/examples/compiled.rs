//! The IR of a kernel as compiled: `compiled IR PTX`, where the PTX was made from the IR with the numbers of its places.

#![allow(clippy::disallowed_methods, reason = "an example reads files")]

use std::{env, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(ir), Some(ptx)) = (args.next(), args.next()) else {
        return Err("compiled IR PTX".into());
    };
    let written = ir::parse(&fs::read_to_string(ir)?)?;
    let (module, refused) = ptx::compiled(&fs::read_to_string(ptx)?, &written)?;
    for (kernel, why) in refused {
        eprintln!("{}: {why}", module.function(kernel).name);
    }
    if let Err(violations) = ir::verify(&module) {
        for violation in violations.iter().take(5) {
            eprintln!("{violation}");
        }
        return Err("the IR is broken".into());
    }
    println!("{}", ir::print(&module));
    Ok(())
}
