//! GPU architectures by nvcc's names, `sm_20` to `sm_121`.
//!
//! ```
//! use interp::rules::Arch;
//! assert_eq!("sm_90a".parse::<Arch>().unwrap(), Arch::SM_90);
//! assert_eq!(Arch::SM_90.to_string(), "sm_90");
//! let error = "sm_91".parse::<Arch>().unwrap_err().to_string();
//! assert!(error.starts_with("unknown architecture `sm_91`; near it: sm_90"), "{error}");
//! ```

use std::fmt;
use std::str::FromStr;

/// A compute capability: ten times the major version plus the minor one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch(u16);

/// NVIDIA's name for the architectures of one major step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Generation {
    /// sm_20, sm_21.
    Fermi,
    /// sm_30 to sm_37.
    Kepler,
    /// sm_50 to sm_53.
    Maxwell,
    /// sm_60 to sm_62.
    Pascal,
    /// sm_70, sm_72.
    Volta,
    /// sm_75.
    Turing,
    /// sm_80 to sm_87.
    Ampere,
    /// sm_89.
    Ada,
    /// sm_90.
    Hopper,
    /// sm_100 to sm_121.
    Blackwell,
}

impl Arch {
    /// Fermi, the first with 32 banks.
    pub const SM_20: Self = Self(20);
    /// Fermi, compute capability 2.1.
    pub const SM_21: Self = Self(21);
    /// Kepler, compute capability 3.0.
    pub const SM_30: Self = Self(30);
    /// Kepler, compute capability 3.2.
    pub const SM_32: Self = Self(32);
    /// Kepler as in the Tesla K40, with two bank widths; most texts measure on it.
    pub const SM_35: Self = Self(35);
    /// Kepler, compute capability 3.7.
    pub const SM_37: Self = Self(37);
    /// Maxwell, the first with native shared atomics.
    pub const SM_50: Self = Self(50);
    /// Maxwell, compute capability 5.2.
    pub const SM_52: Self = Self(52);
    /// Maxwell, compute capability 5.3.
    pub const SM_53: Self = Self(53);
    /// Pascal, compute capability 6.0.
    pub const SM_60: Self = Self(60);
    /// Pascal, compute capability 6.1.
    pub const SM_61: Self = Self(61);
    /// Pascal, compute capability 6.2.
    pub const SM_62: Self = Self(62);
    /// Volta, compute capability 7.0.
    pub const SM_70: Self = Self(70);
    /// Volta, compute capability 7.2.
    pub const SM_72: Self = Self(72);
    /// Turing, compute capability 7.5.
    pub const SM_75: Self = Self(75);
    /// Ampere, compute capability 8.0.
    pub const SM_80: Self = Self(80);
    /// Ampere, compute capability 8.6.
    pub const SM_86: Self = Self(86);
    /// Ampere, compute capability 8.7.
    pub const SM_87: Self = Self(87);
    /// Ada, compute capability 8.9.
    pub const SM_89: Self = Self(89);
    /// Hopper, which was measured here.
    pub const SM_90: Self = Self(90);
    /// Blackwell, compute capability 10.0.
    pub const SM_100: Self = Self(100);
    /// Blackwell, compute capability 10.1; CUDA 13 calls it 11.0.
    pub const SM_101: Self = Self(101);
    /// Blackwell, compute capability 10.3.
    pub const SM_103: Self = Self(103);
    /// Blackwell, compute capability 11.0: Thor.
    pub const SM_110: Self = Self(110);
    /// Blackwell, compute capability 12.0.
    pub const SM_120: Self = Self(120);
    /// Blackwell, compute capability 12.1.
    pub const SM_121: Self = Self(121);

    /// All architectures with rules, oldest first.
    pub const ALL: [Self; 26] = [
        Self::SM_20,
        Self::SM_21,
        Self::SM_30,
        Self::SM_32,
        Self::SM_35,
        Self::SM_37,
        Self::SM_50,
        Self::SM_52,
        Self::SM_53,
        Self::SM_60,
        Self::SM_61,
        Self::SM_62,
        Self::SM_70,
        Self::SM_72,
        Self::SM_75,
        Self::SM_80,
        Self::SM_86,
        Self::SM_87,
        Self::SM_89,
        Self::SM_90,
        Self::SM_100,
        Self::SM_101,
        Self::SM_103,
        Self::SM_110,
        Self::SM_120,
        Self::SM_121,
    ];

    /// Major and minor version, as in "compute capability 8.6".
    pub const fn compute_capability(self) -> (u32, u32) {
        ((self.0 / 10) as u32, (self.0 % 10) as u32)
    }

    /// The number in the name: 86 for `sm_86`.
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    /// Whether a thread that can go on does, whatever the other lanes of its warp wait for: independent thread
    /// scheduling, since Volta (CUDA C++ Programming Guide, "Compute Capability 7.x").
    pub const fn has_independent_lanes(self) -> bool {
        self.0 >= 70
    }

    /// Its generation.
    pub const fn generation(self) -> Generation {
        match self.0 {
            ..30 => Generation::Fermi,
            30..50 => Generation::Kepler,
            50..60 => Generation::Maxwell,
            60..70 => Generation::Pascal,
            70..75 => Generation::Volta,
            75..80 => Generation::Turing,
            80..89 => Generation::Ampere,
            89 => Generation::Ada,
            90..100 => Generation::Hopper,
            100.. => Generation::Blackwell,
        }
    }
}

/// The measured architecture.
impl Default for Arch {
    fn default() -> Self {
        Self::SM_90
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

impl fmt::Debug for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A name that is not an architecture, with similar names.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown architecture `{given}`; near it: {}; all: {}", list(.nearest), list(&Arch::ALL))]
pub struct UnknownArch {
    /// The name given.
    pub given: String,
    /// Up to three architectures with near numbers, nearest first.
    pub nearest: Vec<Arch>,
}

fn list(archs: &[Arch]) -> String {
    archs
        .iter()
        .map(Arch::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Generations and well-known devices by name. A generation stands for its first data-centre device; its other devices
/// may differ.
const NAMED: [(&str, Arch); 17] = [
    ("fermi", Arch::SM_20),
    ("kepler", Arch::SM_35),
    ("maxwell", Arch::SM_50),
    ("pascal", Arch::SM_60),
    ("volta", Arch::SM_70),
    ("turing", Arch::SM_75),
    ("ampere", Arch::SM_80),
    ("ada", Arch::SM_89),
    ("hopper", Arch::SM_90),
    ("blackwell", Arch::SM_100),
    ("p100", Arch::SM_60),
    ("v100", Arch::SM_70),
    ("t4", Arch::SM_75),
    ("a100", Arch::SM_80),
    ("l4", Arch::SM_89),
    ("h100", Arch::SM_90),
    ("h200", Arch::SM_90),
];

/// Parses `sm_90`, with nvcc's suffixes (`sm_90a`, `sm_100f`), `compute_90`, `9.0` and `90`; and names such as `hopper`
/// and `h100`.
impl FromStr for Arch {
    type Err = UnknownArch;

    fn from_str(text: &str) -> Result<Self, UnknownArch> {
        let lower = text.trim().to_ascii_lowercase();
        if let Some((_, arch)) = NAMED.iter().find(|(name, _)| *name == lower) {
            return Ok(*arch);
        }
        // `rtx4090`, `RTX 3060 Ti`: by series.
        let series = lower.strip_prefix("rtx").map(str::trim_start);
        match series.and_then(|series| series.get(..2)) {
            Some("20") => return Ok(Arch::SM_75),
            Some("30") => return Ok(Arch::SM_86),
            Some("40") => return Ok(Arch::SM_89),
            _ => {}
        }
        let name = lower
            .strip_prefix("sm")
            .or_else(|| lower.strip_prefix("compute"))
            .map(|rest| rest.strip_prefix('_').unwrap_or(rest))
            .unwrap_or(&lower);
        let name = name.strip_suffix(['a', 'f']).unwrap_or(name);
        let number = match name.split_once('.') {
            Some((major, minor)) if minor.len() == 1 => {
                format!("{major}{minor}").parse::<u16>().ok()
            }
            Some(_) => None,
            None => name.parse().ok(),
        };
        let known = number.and_then(|number| Self::ALL.into_iter().find(|arch| arch.0 == number));
        known.ok_or_else(|| UnknownArch {
            given: text.to_owned(),
            nearest: nearest(number),
        })
    }
}

fn nearest(number: Option<u16>) -> Vec<Arch> {
    let number = number.unwrap_or(Arch::SM_90.0);
    let mut archs = Arch::ALL.to_vec();
    archs.sort_by_key(|arch| arch.0.abs_diff(number));
    archs.truncate(3);
    archs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for arch in Arch::ALL {
            assert_eq!(arch.to_string().parse(), Ok(arch));
            assert_eq!(format!("compute_{}", arch.number()).parse(), Ok(arch));
        }
        assert_eq!("Hopper".parse(), Ok(Arch::SM_90));
        assert_eq!("a100".parse(), Ok(Arch::SM_80));
        assert_eq!("sm80".parse(), Ok(Arch::SM_80));
        assert_eq!("RTX 4090".parse(), Ok(Arch::SM_89));
        assert_eq!("9.0".parse(), Ok(Arch::SM_90));
        assert_eq!("12.1".parse(), Ok(Arch(121)));
        assert_eq!(Arch(121).compute_capability(), (12, 1));
    }

    #[test]
    fn unknown_names_are_errors_that_list_the_known_ones() {
        for text in [
            "",
            "sm_",
            "sm_91",
            "grace",
            "9.00",
            "sm_99999999",
            "sm_13",
            "sm_-90",
            "é",
        ] {
            let error = text.parse::<Arch>().unwrap_err();
            assert_eq!(error.given, text);
            assert!(error.to_string().contains("sm_121"), "{error}");
        }
    }
}
