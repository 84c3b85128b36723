//! The GPU generations that PTX can be made for, and the PTX version for each. They are in this crate and not in the PTX back end, because
//! callers that only name a target need no LLVM.

use std::{error, fmt, str::FromStr};

/// Processors, with the first PTX version (times ten) that supports them.
const PROCESSORS: &[(u32, u32)] = &[
    (50, 40),
    (52, 41),
    (53, 42),
    (60, 50),
    (61, 50),
    (62, 50),
    (70, 60),
    (72, 61),
    (75, 63),
    (80, 70),
    (86, 71),
    (87, 74),
    (88, 90),
    (89, 78),
    (90, 78),
    (100, 86),
    (101, 86),
    (103, 88),
    (110, 90),
    (120, 87),
    (121, 88),
];

/// The lowest PTX version (times ten) in use: warp functions with a mask need 6.0, `activemask` 6.2, initialisers with parts of addresses
/// 7.1. Drivers from CUDA 11.1 (2020) on support it.
const LEAST_PTX: u32 = 71;

/// A GPU generation, `sm_50` to `sm_121`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Target(u32);

/// A name that is not a [`Target`], with the known ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownTarget {
    /// The name.
    pub name: String,
    /// The known targets: `sm_50, sm_52, …`.
    pub list: String,
}

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownTarget { name, list } = self;
        write!(
            f,
            "there is no PTX for the architecture `{name}`; there is for {list}"
        )
    }
}

impl error::Error for UnknownTarget {}

impl Target {
    /// All of them, oldest first.
    pub fn all() -> impl Iterator<Item = Target> {
        PROCESSORS.iter().map(|&(number, _)| Target(number))
    }

    /// Reads `sm_90`; `compute_90` and `90` mean the same.
    pub fn parse(name: &str) -> Result<Target, UnknownTarget> {
        let digits = name
            .strip_prefix("sm_")
            .or_else(|| name.strip_prefix("compute_"))
            .unwrap_or(name);
        let known = Target::all().find(|target| target.0.to_string() == digits);
        known.ok_or_else(|| {
            let all: Vec<String> = Target::all().map(|target| target.to_string()).collect();
            UnknownTarget {
                name: name.to_string(),
                list: all.join(", "),
            }
        })
    }

    /// The newest target that a device of this compute capability runs: 9, 0 gives `sm_90`. `None` below 5.0.
    pub fn for_device(major: u32, minor: u32) -> Option<Target> {
        let device = major * 10 + minor;
        Target::all().filter(|target| target.0 <= device).last()
    }

    /// [`for_device`](Target::for_device) for a GPU of that name; the error is one sentence.
    pub fn for_gpu((name, major, minor): (&str, u32, u32)) -> Result<Target, String> {
        Target::for_device(major, minor).ok_or_else(|| {
            format!(
                "{name} is too old: its compute capability is {major}.{minor}, but the PTX back end needs 5.0 or later"
            )
        })
    }

    /// The compute capability times ten: 90 for `sm_90`.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The PTX version times ten.
    pub fn ptx_version(self) -> u32 {
        let first = PROCESSORS
            .iter()
            .find(|(number, _)| *number == self.0)
            .map_or(LEAST_PTX, |(_, version)| *version);
        first.max(LEAST_PTX)
    }
}

impl Default for Target {
    /// A target that runs on every GPU that current drivers support.
    fn default() -> Target {
        Target(75)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Target, UnknownTarget> {
        Target::parse(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_unknown_ones_refused_with_the_list() {
        assert_eq!(Target::parse("sm_90").map(Target::number), Ok(90));
        assert_eq!("compute_75".parse::<Target>().map(Target::number), Ok(75));
        let refused = Target::parse("sm_42").unwrap_err().to_string();
        assert!(refused.starts_with(
            "there is no PTX for the architecture `sm_42`; there is for sm_50, sm_52"
        ));
        assert!(refused.ends_with("sm_121"), "{refused}");
        for wrong in ["", "sm_", "sm_090", "sm_90a", "90.0"] {
            assert!(Target::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn devices_get_the_newest_target_they_run() {
        let name = |major, minor| Target::for_device(major, minor).map(|target| target.to_string());
        assert_eq!(name(9, 0).as_deref(), Some("sm_90"));
        assert_eq!(name(8, 2).as_deref(), Some("sm_80"));
        assert_eq!(name(3, 7), None);
        assert_eq!(name(99, 0).as_deref(), Some("sm_121"));
    }
}
