//! Launches of a program without `main`, described on the command line: buffers, launches, what to print and save.
//!
//! Everything is checked before anything runs: names, the number of arguments, that pointers get buffers and scalars get numbers, and that
//! a buffer's elements are what the kernel's pointer points to.

use std::collections::BTreeMap;

use dsl::ir::{FuncId, Function, LocId, MemType, SpecialReg, Type};
use interp::{InvalidLaunch, LaunchConfig, LaunchFailure, Memory, Program};

use crate::{
    budget::{Budget, Spent},
    buffer::{BufferSource, BufferSpec, Element, HostBuffer, NpyFile, Scalar},
    device::{Device, DeviceError, LaunchError},
    host::{Arrival, Fault, Io, Outcome},
    launch::{ArgSpec, LaunchSpec, SpecError},
};

/// What will be done.
#[derive(Debug)]
pub struct Plan {
    budget: Budget,
    buffers: BTreeMap<String, HostBuffer>,
    launches: Vec<(FuncId, LaunchSpec)>,
    print: Vec<(String, usize)>,
    save: Vec<(String, String)>,
}

/// What came of it.
#[derive(Debug)]
pub struct Run {
    /// Reports and faults.
    pub outcome: Outcome,
    /// Names and contents of the buffers to print.
    pub printed: Vec<(String, String)>,
    /// Paths and `.npy` files to save.
    pub saved: Vec<(String, Vec<u8>)>,
}

/// Whether a kernel has this name; spaces in an instance's, `k<float, 32>`, do not matter.
pub fn same_kernel(name: &str, wanted: &str) -> bool {
    let letters = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
    };
    name == wanted || (wanted.contains('<') && letters(name) == letters(wanted))
}

/// How a kernel is launched: `--launch 'scale<<<GRID, BLOCK>>>(x, n)'`.
pub fn usage(kernel: &Function) -> String {
    let names: Vec<&str> = kernel
        .params
        .iter()
        .map(|param| kernel.slots[param.slot.index()].name.as_str())
        .collect();
    format!(
        "--launch '{}<<<GRID, BLOCK>>>({})'",
        kernel.name,
        names.join(", ")
    )
}

/// Most bytes of a buffer that is read from a file.
const MOST_FILE_BYTES: u64 = 16 << 30;

/// Elements printed when `--print` gives no number.
const DEFAULT_PRINTED: usize = 16;

impl Plan {
    /// Reads and checks the descriptions of launches within a budget. `open` finds a file.
    pub fn resolve(
        program: &Program,
        budget: Budget,
        launches: &[String],
        buffers: &[String],
        print: &[String],
        save: &[String],
        open: &dyn Fn(&str) -> Result<NpyFile<'static>, String>,
    ) -> Result<Plan, SpecError> {
        let most = budget.memory.all_bytes.or(budget.memory.heap_bytes);
        let mut room = most.unwrap_or(u64::MAX);
        let mut plan = Plan {
            budget,
            buffers: BTreeMap::new(),
            launches: Vec::new(),
            print: Vec::new(),
            save: Vec::new(),
        };
        for text in buffers {
            let spec = BufferSpec::parse(text)?;
            let buffer = match spec.source {
                BufferSource::Made {
                    element,
                    shape,
                    fill,
                } => {
                    let bytes = shape.iter().product::<u64>() * element.bytes() as u64;
                    if bytes > room {
                        let why = match budget.memory.all_bytes {
                            Some(most) => format!("--memory allows {most}"),
                            None => format!("{room} are left of half of this machine's memory"),
                        };
                        return Err(SpecError::new(
                            format!("--buffer '{text}'"),
                            format!("it has {bytes} bytes, and {why}"),
                        ));
                    }
                    room -= bytes;
                    HostBuffer::make(element, &shape, &fill)
                }
                BufferSource::File(path) => {
                    let file = open(&path)
                        .map_err(|why| SpecError::new(format!("--buffer '{text}'"), why))?;
                    HostBuffer::from_npy(&path, file, MOST_FILE_BYTES)?
                }
            };
            if plan.buffers.insert(spec.name.clone(), buffer).is_some() {
                return Err(SpecError::new(
                    format!("--buffer '{text}'"),
                    format!("there is already a buffer `{}`", spec.name),
                ));
            }
        }
        for text in launches {
            let spec = LaunchSpec::parse(text)?;
            let kernel = plan.check_launch(program, text, &spec)?;
            plan.launches.push((kernel, spec));
        }
        for text in print {
            let (name, count) = match text.split_once(':') {
                Some((name, count)) => {
                    let count = count.parse().map_err(|_| {
                        SpecError::new(format!("--print {text}"), "expected NAME or NAME:COUNT")
                    })?;
                    (name, count)
                }
                None => (text.as_str(), DEFAULT_PRINTED),
            };
            plan.check_buffer(&format!("--print {text}"), name)?;
            plan.print.push((name.to_string(), count));
        }
        for text in save {
            let Some((name, path)) = text.split_once('=') else {
                return Err(SpecError::new(
                    format!("--save {text}"),
                    "expected NAME=FILE.npy",
                ));
            };
            plan.check_buffer(&format!("--save {text}"), name)?;
            plan.save.push((name.to_string(), path.to_string()));
        }
        Ok(plan)
    }

    fn check_buffer(&self, what: &str, name: &str) -> Result<&HostBuffer, SpecError> {
        self.buffers.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.buffers.keys().map(String::as_str).collect();
            let hint = match dsl::suggest::nearest(name, names.iter().copied()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("describe it: --buffer {name}=float[1024]:iota"),
            };
            SpecError::new(
                what.to_string(),
                format!("there is no buffer `{name}`; {hint}"),
            )
        })
    }

    fn check_launch(
        &self,
        program: &Program,
        text: &str,
        spec: &LaunchSpec,
    ) -> Result<FuncId, SpecError> {
        let what = format!("--launch '{text}'");
        let module = program.module();
        let named = |wanted: &str| {
            let mut kernels = module.kernels();
            let found = kernels.find(|(_, kernel)| same_kernel(&kernel.name, wanted));
            found.map(|(id, _)| id)
        };
        let Some(id) = named(&spec.kernel) else {
            let names: Vec<&str> = module
                .kernels()
                .map(|(_, kernel)| kernel.name.as_str())
                .collect();
            let why = match dsl::suggest::nearest(&spec.kernel, names.iter().copied()) {
                Some(nearest) => format!(
                    "there is no kernel `{}`; did you mean `{nearest}`?",
                    spec.kernel
                ),
                None => format!(
                    "there is no kernel `{}`; there are: {}",
                    spec.kernel,
                    names.join(", ")
                ),
            };
            return Err(SpecError::new(what, why));
        };
        let kernel = module.function(id);
        if spec.args.len() != kernel.params.len() {
            let why = format!(
                "`{}` takes {} arguments, got {}: {}",
                kernel.name,
                kernel.params.len(),
                spec.args.len(),
                usage(kernel)
            );
            return Err(SpecError::new(what, why));
        }
        for (i, (arg, param)) in spec.args.iter().zip(&kernel.params).enumerate() {
            let slot = &kernel.slots[param.slot.index()];
            let wrong = |why: String| {
                SpecError::new(
                    what.clone(),
                    format!("argument {} (`{}`): {why}", i + 1, slot.name),
                )
            };
            let is_pointer = matches!(slot.ty, Type::Ptr(_));
            match arg {
                ArgSpec::Buffer(name) if is_pointer => {
                    let buffer = self.check_buffer(&what, name)?;
                    if let Some(pointee) = param.pointee
                        && !fits(buffer.element, pointee)
                    {
                        return Err(wrong(format!(
                            "the kernel wants `{}`; buffer `{name}` holds {}-byte elements of another type",
                            param.c_type,
                            buffer.element.bytes()
                        )));
                    }
                }
                ArgSpec::Buffer(name) => {
                    return Err(wrong(format!(
                        "`{name}` is a buffer, but the parameter is a `{}`",
                        param.c_type
                    )));
                }
                ArgSpec::Int(0) => {}
                _ if is_pointer => {
                    return Err(wrong(format!(
                        "expected the name of a buffer for a `{}`",
                        param.c_type
                    )));
                }
                ArgSpec::Float(_) if !slot.ty.is_float() => {
                    return Err(wrong(format!(
                        "expected a whole number for a `{}`",
                        param.c_type
                    )));
                }
                ArgSpec::Int(_) | ArgSpec::Float(_) => {}
            }
        }
        Ok(id)
    }

    /// Does it all. An error is a device without room for the buffers.
    pub fn run(
        &self,
        program: &Program,
        device: &mut dyn Device,
        io: &mut dyn Io,
    ) -> Result<Run, SpecError> {
        let mut memory = Memory::new(program.module());
        self.budget
            .bound(program, &mut memory)
            .map_err(|why| SpecError::new(program.module().name.clone(), why))?;
        device
            .prepare(program, &mut memory, &[])
            .map_err(|why| SpecError::new(device.info().name.clone(), why))?;
        let mut addresses = BTreeMap::new();
        for (name, buffer) in &self.buffers {
            let bytes = buffer.bytes.len() as u64;
            // On the simulator managed, as it was always told of.
            let address = device.malloc(&mut memory, bytes.max(1), device.is_simulator());
            let address = address
                .map_err(|error| SpecError::new(format!("buffer `{name}`"), error.to_string()))?;
            memory.set_name(address, &format!("buffer `{name}`"));
            io.allocated(address, bytes.max(1));
            let written = device.write(&mut memory, address, &buffer.bytes);
            written
                .map_err(|error| SpecError::new(format!("buffer `{name}`"), error.to_string()))?;
            addresses.insert(name.as_str(), address);
        }
        let mut outcome = Outcome::default();
        let mut spent = Spent::new(self.budget);
        for (kernel, spec) in &self.launches {
            let function = program.module().function(*kernel);
            let args: Vec<u64> = spec
                .args
                .iter()
                .zip(&function.params)
                .map(|(arg, param)| match arg {
                    ArgSpec::Buffer(name) => addresses.get(name.as_str()).copied().unwrap_or(0),
                    ArgSpec::Int(value) => int_bits(*value, function.slots[param.slot.index()].ty),
                    ArgSpec::Float(value) => {
                        float_bits(*value, function.slots[param.slot.index()].ty)
                    }
                })
                .collect();
            let config = LaunchConfig {
                grid: spec.grid,
                block: spec.block,
                shared_bytes: spec.shared_bytes,
                cooperative: function.reads(SpecialReg::CooperativeGrid),
                loc: LocId::default(),
            };
            let mut out = |bytes: &[u8]| io.stdout(bytes);
            spent.bound(device, 0);
            let mut result = device.launch(program, &mut memory, *kernel, &config, &args, &mut out);
            spent.count(&mut result, 0);
            match result {
                Ok(report) => {
                    outcome.launches.push(report);
                }
                Err(LaunchError::Device(DeviceError::Lost(fault))) => {
                    outcome.faults.push(Fault::Device(fault));
                    break;
                }
                Err(LaunchError::Device(error)) => {
                    outcome.faults.push(Fault::Invalid {
                        kernel: *kernel,
                        loc: function.loc,
                        why: InvalidLaunch::Device(error.to_string()),
                    });
                    break;
                }
                Err(LaunchError::Failed(LaunchFailure::Invalid(why))) => {
                    outcome.faults.push(Fault::Invalid {
                        kernel: *kernel,
                        loc: function.loc,
                        why,
                    });
                    break;
                }
                Err(LaunchError::Failed(LaunchFailure::Trap { trap, report })) => {
                    let launch = Some(outcome.launches.push(*report));
                    outcome.faults.push(Fault::Trap { launch, trap });
                    break;
                }
            }
        }
        outcome.times_ms = match device.finish() {
            Ok(times) => times,
            Err(error) => {
                if let DeviceError::Lost(fault) = error {
                    outcome.faults.push(Fault::Device(fault));
                }
                device.finish().unwrap_or_default()
            }
        };
        let mut finished = BTreeMap::new();
        for (name, buffer) in &self.buffers {
            let size = buffer.bytes.len() as u64;
            // Of a device that is lost nothing can be read.
            let bytes = device
                .read(&memory, addresses[name.as_str()], size)
                .unwrap_or_default();
            if io.wants_arrivals() {
                io.arrived(&Arrival {
                    loc: LocId::default(),
                    how: "buffer",
                    bytes: &bytes,
                });
            }
            let buffer = HostBuffer {
                bytes,
                ..buffer.clone()
            };
            finished.insert(name.as_str(), buffer);
        }
        let contents = |name: &str| &finished[name];
        let printed = self
            .print
            .iter()
            .map(|(name, count)| (name.clone(), contents(name).show(*count)))
            .collect();
        let saved = self
            .save
            .iter()
            .map(|(name, path)| (path.clone(), contents(name).to_npy()))
            .collect();
        Ok(Run {
            outcome,
            printed,
            saved,
        })
    }
}

/// Whether a buffer's elements are what a pointer points to, signedness aside.
fn fits(element: Element, pointee: MemType) -> bool {
    match pointee {
        MemType::F32 => element.scalar == Scalar::F32,
        MemType::F64 => element.scalar == Scalar::F64,
        MemType::Ptr => element.scalar.bytes() == 8,
        _ => {
            !matches!(element.scalar, Scalar::F32 | Scalar::F64)
                && element.scalar.bytes() == pointee.bytes() as usize
        }
    }
}

fn int_bits(value: i128, ty: Type) -> u64 {
    match ty {
        Type::F32 => u64::from((value as f32).to_bits()),
        Type::F64 => (value as f64).to_bits(),
        Type::I1 => u64::from(value != 0),
        Type::I32 => u64::from(value as u32),
        Type::I64 | Type::Ptr(_) => value as u64,
    }
}

fn float_bits(value: f64, ty: Type) -> u64 {
    match ty {
        Type::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}
