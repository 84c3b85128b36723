//! Options of a request.

use std::fmt;

use crate::names::identifier;

/// An instance of a kernel template: `fill<float, 2> as fill_float`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// `fill<float, 2>`.
    pub kernel: String,
    /// The method's name; if absent, it is made from the kernel's.
    pub method: Option<String>,
}

/// Options of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Instances of kernel templates to make.
    pub instances: Vec<Instance>,
    /// Macros, as with `-D`: a name, and its text if it has one.
    pub defines: Vec<(String, Option<String>)>,
    /// Folders to look for included files in.
    pub include: Vec<String>,
    /// Fuse `a * b + c`, as nvcc does by default.
    pub fmad: bool,
    /// The value of `__CUDA_ARCH__`: 900 is sm_90.
    pub cuda_arch: u32,
    /// The path of the library in generated code.
    pub library: String,
}

impl Default for Options {
    fn default() -> Options {
        let front_end = dsl::Options::default();
        Options {
            instances: Vec::new(),
            defines: Vec::new(),
            include: Vec::new(),
            fmad: front_end.fmad,
            cuda_arch: front_end.cuda_arch,
            library: "::dslc".to_string(),
        }
    }
}

/// Why a word is not an option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionsError(pub String);

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionsError {}

impl Options {
    /// The known options, for messages.
    pub const NAMES: [&str; 6] = ["instances", "defines", "include", "fmad", "arch", "library"];

    /// Adds one element of a list, as its text: `fill<float, 2> as f`, `TILE = 16`, `"include"`.
    pub fn add(&mut self, option: &str, text: &str) -> Result<(), OptionsError> {
        let text = text.trim();
        match option {
            "instances" => self.instances.push(instance(text)?),
            "defines" => self.defines.push(define(text)?),
            "include" => self.include.push(quoted(text)?),
            _ => return Err(unknown(option)),
        }
        Ok(())
    }

    /// Sets an option that has one value, as its text.
    pub fn set(&mut self, option: &str, text: &str) -> Result<(), OptionsError> {
        let text = text.trim();
        match option {
            "fmad" => {
                self.fmad = text.parse().map_err(|_| {
                    OptionsError(format!("`fmad` is `true` or `false`, not `{text}`"))
                })?;
            }
            "arch" => {
                let digits = text.trim_start_matches("sm_");
                let number: u32 = digits.parse().map_err(|_| {
                    OptionsError(format!(
                        "`arch` is an architecture such as `sm_90`, not `{text}`"
                    ))
                })?;
                self.cuda_arch = number * 10;
            }
            "library" => self.library = text.split_whitespace().collect(),
            _ => return Err(unknown(option)),
        }
        Ok(())
    }

    /// An error if there is no such option.
    pub fn known(option: &str) -> Result<(), OptionsError> {
        match Options::NAMES.contains(&option) {
            true => Ok(()),
            false => Err(unknown(option)),
        }
    }

    /// Whether the option's value is a list.
    pub fn is_list(option: &str) -> bool {
        matches!(option, "instances" | "defines" | "include")
    }

    pub(crate) fn front_end(&self) -> dsl::Options {
        let instances = self.instances.iter().map(|one| one.kernel.clone());
        dsl::Options {
            defines: self.defines.clone(),
            cuda_arch: self.cuda_arch,
            fmad: self.fmad,
            instances: instances.collect(),
            own_names: Vec::new(),
            // These kernels are not compiled by nvcc, so missing includes do not matter.
            warn_includes: false,
            forward_loads: true,
        }
    }
}

impl Instance {
    /// The name of its method.
    pub(crate) fn method(&self) -> String {
        identifier(self.method.as_deref().unwrap_or(&self.kernel))
    }
}

fn unknown(option: &str) -> OptionsError {
    let names = Options::NAMES;
    OptionsError(match ir::suggest::nearest(option, names) {
        Some(nearest) => format!("there is no option `{option}`; did you mean `{nearest}`?"),
        None => format!(
            "there is no option `{option}`; there are {}",
            names.join(", ")
        ),
    })
}

fn instance(text: &str) -> Result<Instance, OptionsError> {
    let (kernel, method) = match text.rsplit_once(" as ") {
        Some((kernel, method)) => (kernel.trim(), Some(method.trim().to_string())),
        None => (text, None),
    };
    if kernel.contains('<') && kernel.ends_with('>') {
        Ok(Instance {
            kernel: kernel.to_string(),
            method,
        })
    } else {
        Err(OptionsError(format!(
            "`{text}` is no instance of a template: write it as `name<float, 2>`, or `name<float, 2> as method`"
        )))
    }
}

fn define(text: &str) -> Result<(String, Option<String>), OptionsError> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim().to_string())),
        None => (text, None),
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name {
        Ok((name.to_string(), value))
    } else {
        Err(OptionsError(format!("`{name}` is not a macro name")))
    }
}

fn quoted(text: &str) -> Result<String, OptionsError> {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner
        .map(str::to_string)
        .ok_or_else(|| OptionsError(format!("`{text}` is no folder: write it in quotes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_may_have_a_name_of_their_own() {
        let mut options = Options::default();
        options
            .add("instances", "fill < float , 2 > as fill_f")
            .unwrap();
        options.add("instances", "copy<int>").unwrap();
        let methods: Vec<String> = options.instances.iter().map(Instance::method).collect();
        assert_eq!(methods, ["fill_f", "copy_int"]);
        let error = options.add("instances", "fill").unwrap_err().to_string();
        assert!(error.contains("name<float, 2>"), "{error}");
    }

    #[test]
    fn what_is_no_option_is_said() {
        let mut options = Options::default();
        assert!(
            options
                .set("fmda", "false")
                .unwrap_err()
                .to_string()
                .contains("did you mean `fmad`")
        );
        assert!(options.add("defines", "2X = 1").is_err());
        options.set("arch", "sm_80").unwrap();
        assert_eq!(options.cuda_arch, 800);
    }
}
