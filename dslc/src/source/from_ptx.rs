//! Kernels of PTX.

use std::{fs, sync::Arc};

use ir::{
    MemType, Type,
    source::{SourceFile, SourceMap},
};

use super::{Kernels, Number, Parameter, Passed, Source};
use crate::{
    embed::Module,
    error::{Error, Result},
};

impl Source {
    /// The kernels of a PTX text. Those that dslc cannot run are left out; a warning says why.
    pub(super) fn compile_ptx(&self) -> Result<Kernels> {
        let (module, made) = ptx::module(&self.text, &self.name)
            .map_err(|why| Error::new(format_args!("{}:{why}", self.name)))?;
        let left_out = |(kernel, why): &(String, ptx::Error)| {
            format!(
                "{}:{}:{}: the kernel `{kernel}` is left out: {}\n",
                self.name, why.line, why.column, why.message
            )
        };
        let mut warnings: String = made.refused.iter().map(left_out).collect();
        for (kernel, why) in &made.assumed {
            warnings += &format!(
                "{}:{}:{}: `{kernel}`: {}; where its lanes meet again is assumed\n",
                self.name, why.line, why.column, why.message
            );
        }
        for (kernel, why) in &made.unsupported {
            warnings += &format!(
                "{}:{}:{}: `{kernel}`: {}; a lane that executes this ends the run\n",
                self.name, why.line, why.column, why.message
            );
        }
        if module.functions.is_empty() {
            return Err(match warnings.is_empty() {
                true => Error::new(format_args!("`{}` has no kernel: no `.entry`", self.name)),
                false => Error::new(warnings.trim_end()),
            });
        }
        ir::verify::assert_verified(&module, "reading PTX");
        let mut map = SourceMap::new();
        map.add(SourceFile::new(&self.name, &self.text));
        // The sources that it was made from: messages show their lines.
        for name in module.files.iter().skip(1) {
            if let Ok(text) = fs::read_to_string(name) {
                map.add(SourceFile::new(name, text));
            }
        }
        let signatures = module.functions.iter().map(|kernel| {
            let params = kernel.params.iter().map(|param| {
                let slot = &kernel.slots[param.slot.index()];
                parameter(&slot.name, slot.ty, &param.c_type)
            });
            (kernel.name.clone(), params.collect::<Arc<[Parameter]>>())
        });
        let signatures: Vec<_> = signatures.collect();
        Ok(Kernels {
            module: Arc::new(Module {
                name: self.name.clone(),
                program: interp::Program::new(Arc::new(module)),
                map,
            }),
            signatures: signatures.into(),
            warnings: warnings.into(),
        })
    }
}

fn parameter(name: &str, ty: Type, c_type: &str) -> Parameter {
    let is_unsigned = c_type.starts_with("unsigned");
    let (memory, number) = match (ty, c_type) {
        (Type::Ptr(_), _) => (MemType::Ptr, None),
        (Type::F32, _) => (MemType::F32, Some(Number::Float)),
        (Type::F64, _) => (MemType::F64, Some(Number::Float)),
        (_, "unsigned short") => (MemType::U16, Some(Number::Unsigned)),
        (_, "unsigned char") => (MemType::U8, Some(Number::Unsigned)),
        (Type::I64, _) if is_unsigned => (MemType::I64, Some(Number::Unsigned)),
        (Type::I64, _) => (MemType::I64, Some(Number::Signed)),
        (_, _) if is_unsigned => (MemType::I32, Some(Number::Unsigned)),
        (_, _) => (MemType::I32, Some(Number::Signed)),
    };
    Parameter {
        name: name.to_string(),
        c_type: c_type.to_string(),
        passed: match ty {
            Type::Ptr(_) => Passed::Pointer {
                element: None,
                element_bytes: 1,
                is_const: false,
            },
            _ => Passed::Value {
                bytes: memory.bytes() as usize,
                number,
            },
        },
        scalars: vec![(0, memory)],
    }
}
