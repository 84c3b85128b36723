//! Launches of a program without `main`, described on the command line: buffers, launches, and what to print and save.
//!
//! Everything is checked before anything runs: names, the number of arguments, that pointers get buffers and scalars get numbers, and that
//! a buffer's elements match the kernel's pointer.

use std::collections::BTreeMap;

use interp::{
    ChildLaunch, InvalidLaunch, LaunchConfig, LaunchFailure, LaunchQueue, LaunchReport, Memory,
    Program,
};
use ir::{FuncId, Function, LocId, MemType, SpecialReg, Type};

use crate::{
    budget::{Budget, Spent},
    buffer::{BufferSource, BufferSpec, Element, HostBuffer, NpyFile, Scalar},
    device::{Device, DeviceError, LaunchError},
    host::{Arrival, Fault, Io, Outcome},
    launch::{ArgSpec, LaunchSpec, SpecError},
};

/// The checked work.
#[derive(Debug)]
pub struct Plan {
    budget: Budget,
    buffers: BTreeMap<String, HostBuffer>,
    launches: Vec<(FuncId, LaunchSpec)>,
    print: Vec<(String, usize)>,
    save: Vec<(String, String)>,
}

/// The result.
#[derive(Debug)]
pub struct Run {
    /// Reports and faults.
    pub outcome: Outcome,
    /// Names and contents of the buffers to print.
    pub printed: Vec<(String, String)>,
    /// Paths and `.npy` files to save.
    pub saved: Vec<(String, Vec<u8>)>,
}

/// Whether a kernel has this name. Spaces in an instance's name, `k<float, 32>`, do not matter.
pub fn same_kernel(name: &str, wanted: &str) -> bool {
    let letters = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
    };
    name == wanted || (wanted.contains('<') && letters(name) == letters(wanted))
}

/// How to launch a kernel: `--launch 'scale<<<GRID, BLOCK>>>(x, n)'`.
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
const MAX_FILE_BYTES: u64 = 16 << 30;

/// Elements that `--print` prints without a number.
const DEFAULT_PRINTED: usize = 16;

impl Plan {
    /// Parses and checks the descriptions of launches within a budget. `open` opens a file.
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
        let mut left = most.unwrap_or(u64::MAX);
        let mut plan = Plan {
            budget,
            buffers: BTreeMap::new(),
            launches: Vec::new(),
            print: Vec::new(),
            save: Vec::new(),
        };
        for text in buffers {
            let spec = BufferSpec::parse(text)?;
            let wrong = |why: String| SpecError::new(format!("--buffer '{text}'"), why);
            let buffer = match spec.source {
                BufferSource::Made {
                    element,
                    shape,
                    fill,
                } => {
                    let bytes = shape.iter().product::<u64>() * element.bytes() as u64;
                    if bytes > left {
                        let why = match budget.memory.all_bytes {
                            Some(most) => format!("--memory allows {most}"),
                            None => format!("{left} are left of half of this machine's memory"),
                        };
                        return Err(wrong(format!("it has {bytes} bytes, and {why}")));
                    }
                    left -= bytes;
                    HostBuffer::make(element, &shape, &fill)
                }
                BufferSource::File(path) => {
                    HostBuffer::from_npy(&path, open(&path).map_err(wrong)?, MAX_FILE_BYTES)?
                }
            };
            if plan.buffers.insert(spec.name.clone(), buffer).is_some() {
                return Err(wrong(format!("there is already a buffer `{}`", spec.name)));
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
            let hint = match ir::suggest::nearest(name, names.iter().copied()) {
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
        let mut kernels = module.kernels();
        let found = kernels.find(|(_, kernel)| same_kernel(&kernel.name, &spec.kernel));
        let Some((id, kernel)) = found else {
            let names = module.kernels().map(|(_, kernel)| kernel.name.as_str());
            let names: Vec<&str> = names.collect();
            let hint = match ir::suggest::nearest(&spec.kernel, names.iter().copied()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None if names.is_empty() => "the program has no instance of a kernel".to_string(),
                None => format!("the kernels are: {}", names.join(", ")),
            };
            let why = format!("there is no kernel `{}`; {hint}", spec.kernel);
            return Err(SpecError::new(what, why));
        };
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
            let is_pointer = matches!(slot.ty, Type::Ptr(_));
            let c_type = &param.c_type;
            let wrong = match arg {
                ArgSpec::Buffer(name) if is_pointer => {
                    let element = self.check_buffer(&what, name)?.element;
                    let misfits = param.pointee.is_some_and(|pointee| !fits(element, pointee));
                    misfits.then(|| {
                        format!(
                            "the kernel wants `{c_type}`; buffer `{name}` holds {}-byte elements of another type",
                            element.bytes()
                        )
                    })
                }
                ArgSpec::Buffer(name) => Some(format!(
                    "`{name}` is a buffer, but the parameter is a `{c_type}`"
                )),
                ArgSpec::Int(0) => None,
                ArgSpec::Int(_) | ArgSpec::Float(_) if is_pointer => {
                    Some(format!("expected the name of a buffer for a `{c_type}`"))
                }
                ArgSpec::Float(_) if !slot.ty.is_float() => {
                    Some(format!("expected a whole number for a `{c_type}`"))
                }
                ArgSpec::Int(_) | ArgSpec::Float(_) => None,
            };
            if let Some(why) = wrong {
                let why = format!("argument {} (`{}`): {why}", i + 1, slot.name);
                return Err(SpecError::new(what, why));
            }
        }
        Ok(id)
    }

    /// Makes the buffers, launches the kernels, and reads the buffers back. It is an error if the device has not enough memory.
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
            let address = upload(name, buffer, device, &mut memory, io)
                .map_err(|error| SpecError::new(format!("buffer `{name}`"), error.to_string()))?;
            addresses.insert(name.as_str(), address);
        }
        let mut outcome = Outcome::default();
        let mut spent = Spent::new(self.budget);
        for (kernel, spec) in &self.launches {
            let function = program.module().function(*kernel);
            let config = LaunchConfig {
                grid: spec.grid,
                block: spec.block,
                shared_bytes: spec.shared_bytes,
                cooperative: function.reads(SpecialReg::CooperativeGrid),
                depth: 0,
                loc: LocId::default(),
            };
            let args = arguments(spec, function, &addresses);
            let mut queue = LaunchQueue::new(*kernel, config, args);
            let fault = loop {
                let Some(launch) = queue.next() else {
                    break None;
                };
                let mut out = |bytes: &[u8]| io.stdout(bytes);
                spent.bound(device, 0);
                let result = device.launch(
                    program,
                    &mut memory,
                    launch.kernel,
                    &launch.config,
                    &launch.args,
                    &mut out,
                );
                let place = (launch.kernel, function.loc);
                match add_launch(&mut outcome, &mut spent, result, place) {
                    Ok(_) if device.is_over() => break None,
                    Ok(children) => queue.add(children),
                    Err(fault) => break Some(fault),
                }
            };
            outcome.faults.extend(fault);
            if !outcome.faults.is_empty() || device.is_over() {
                break;
            }
        }
        // The command line asks for what the launches leave in memory, so all bytes count as read.
        for report in outcome.launches.reports_mut() {
            report.leave_out_unread(|_| true);
        }
        outcome.times_ms = device.finish().unwrap_or_else(|error| {
            if let DeviceError::Lost(fault) = error {
                outcome.faults.push(Fault::Device(fault));
            }
            device.finish().unwrap_or_default()
        });
        let contents = self.read_back(&addresses, device, &memory, io);
        let printed = self.print.iter();
        let saved = self.save.iter();
        Ok(Run {
            outcome,
            printed: printed
                .map(|(name, count)| (name.clone(), contents[name.as_str()].show(*count)))
                .collect(),
            saved: saved
                .map(|(name, path)| (path.clone(), contents[name.as_str()].to_npy()))
                .collect(),
        })
    }

    /// The buffers after the launches.
    fn read_back(
        &self,
        addresses: &BTreeMap<&str, u64>,
        device: &mut dyn Device,
        memory: &Memory,
        io: &mut dyn Io,
    ) -> BTreeMap<&str, HostBuffer> {
        let mut contents = BTreeMap::new();
        for (name, buffer) in &self.buffers {
            let size = buffer.bytes.len() as u64;
            // A lost device returns nothing.
            let bytes = device.read(memory, addresses[name.as_str()], size);
            let bytes = bytes.unwrap_or_default();
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
            contents.insert(name.as_str(), buffer);
        }
        contents
    }
}

/// Copies a buffer to device memory; returns its address.
fn upload(
    name: &str,
    buffer: &HostBuffer,
    device: &mut dyn Device,
    memory: &mut Memory,
    io: &mut dyn Io,
) -> Result<u64, DeviceError> {
    let bytes = (buffer.bytes.len() as u64).max(1);
    // Managed memory on the simulator, so that messages call it that.
    let is_managed = device.is_simulator() && !device.counts_only();
    let address = device.malloc(memory, bytes, is_managed)?;
    memory.set_name(address, &format!("buffer `{name}`"));
    io.allocated(address, bytes);
    device.write(memory, address, &buffer.bytes)?;
    Ok(address)
}

/// Adds a launch of a kernel at a place to the outcome. Returns the launches of its threads, or the fault that ended the program.
fn add_launch(
    outcome: &mut Outcome,
    spent: &mut Spent,
    mut result: Result<LaunchReport, LaunchError>,
    (kernel, loc): (FuncId, LocId),
) -> Result<Vec<ChildLaunch>, Fault> {
    spent.count(&mut result, 0);
    let invalid = |why| Fault::Invalid { kernel, loc, why };
    match result {
        Ok(mut report) => {
            let children = std::mem::take(&mut report.children);
            outcome.launches.push(report);
            Ok(children)
        }
        Err(LaunchError::Device(DeviceError::Lost(fault))) => Err(Fault::Device(fault)),
        Err(LaunchError::Device(error)) => Err(invalid(InvalidLaunch::Device(error.to_string()))),
        Err(LaunchError::NotComputed(why)) => Err(invalid(InvalidLaunch::Device(why.to_string()))),
        Err(LaunchError::Failed(LaunchFailure::Invalid(why))) => Err(invalid(why)),
        Err(LaunchError::Failed(LaunchFailure::Trap { trap, report })) => {
            let launch = Some(outcome.launches.push(*report));
            Err(Fault::Trap { launch, trap })
        }
    }
}

/// The bits of a launch's arguments.
fn arguments(spec: &LaunchSpec, kernel: &Function, buffers: &BTreeMap<&str, u64>) -> Vec<u64> {
    let params = kernel.params.iter();
    let types = params.map(|param| kernel.slots[param.slot.index()].ty);
    let bits = spec.args.iter().zip(types).map(|(arg, ty)| match arg {
        ArgSpec::Buffer(name) => buffers.get(name.as_str()).copied().unwrap_or(0),
        ArgSpec::Int(value) => int_bits(*value, ty),
        ArgSpec::Float(value) => float_bits(*value, ty),
    });
    bits.collect()
}

/// Whether a buffer's elements match a pointer's type, apart from signedness.
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
