//! Shortcuts: ways to the same results, counts and findings that take less time, each with a switch.
//!
//! A shortcut changes nothing but the time, so a count that is wrong with one of them on and right with it off is a bug of that
//! shortcut: `--plain NAME` finds out. Tests compare launches with and without each, and `fuzz` compares whole programs.

use std::str::FromStr;

/// A shortcut. The crate's README says what each one skips, when it must not, and what it saves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shortcut {
    /// A thread's small arrays are registers, and loops that index them are unrolled (`compile/array`, `compile/unroll`).
    Arrays,
    /// Many rounds of a loop of loads and sums run at once (`compile/rounds`, `machine/ops/rounds`).
    Rounds,
    /// A warp that has nothing to do between two barriers is taken to the next one (`compile/idle`, `machine/idle`, `machine/idle_tail`).
    Idle,
    /// A request that has its site's last shape is charged as that one was (`count/pattern`, `machine/hits`).
    Patterns,
    /// A block that does what an earlier one did runs from a list of it (`machine/replay`).
    Replay,
    /// Whole groups of lanes are noted in the shadow at once, reads of what no thread writes later, a block like an earlier one as
    /// such (`race/shadow`, `race/deferred`, `race/repeats`).
    Races,
    /// Arithmetic that cannot overflow in a launch is not looked at (`compile/ranges`).
    Ranges,
    /// Host functions run in a second form, with several instructions in one (`compile/fuse`, `launch/host/fused`).
    Host,
    /// Lanes are computed with the CPU's vector instructions (`machine/engine/levels`).
    Vectors,
}

impl Shortcut {
    /// All of them.
    pub const ALL: [Shortcut; 9] = [
        Shortcut::Arrays,
        Shortcut::Rounds,
        Shortcut::Idle,
        Shortcut::Patterns,
        Shortcut::Replay,
        Shortcut::Races,
        Shortcut::Ranges,
        Shortcut::Host,
        Shortcut::Vectors,
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Shortcut::Arrays => "arrays",
            Shortcut::Rounds => "rounds",
            Shortcut::Idle => "idle",
            Shortcut::Patterns => "patterns",
            Shortcut::Replay => "replay",
            Shortcut::Races => "races",
            Shortcut::Ranges => "ranges",
            Shortcut::Host => "host",
            Shortcut::Vectors => "vectors",
        }
    }
}

impl FromStr for Shortcut {
    type Err = String;

    fn from_str(text: &str) -> Result<Shortcut, String> {
        let found = Self::ALL.into_iter().find(|known| known.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Shortcut::name);
            match ir::suggest::nearest(text, names) {
                Some(nearest) => format!("there is no such shortcut; did you mean `{nearest}`?"),
                None => format!("there is no such shortcut; there are {}", names.join(", ")),
            }
        })
    }
}

/// Which shortcuts a program takes.
///
/// ```
/// use interp::{Shortcut, Shortcuts};
/// let most = Shortcuts::ALL.without(Shortcut::Replay);
/// assert!(most.has(Shortcut::Rounds) && !most.has(Shortcut::Replay));
/// assert_eq!(Shortcuts::default(), Shortcuts::ALL);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shortcuts(u16);

impl Shortcuts {
    /// All.
    pub const ALL: Shortcuts = Shortcuts((1 << Shortcut::ALL.len()) - 1);
    /// None: everything the long way.
    pub const NONE: Shortcuts = Shortcuts(0);

    /// These but one.
    #[must_use]
    pub const fn without(self, shortcut: Shortcut) -> Shortcuts {
        Shortcuts(self.0 & !(1 << shortcut as u16))
    }

    /// Whether it is among them.
    pub const fn has(self, shortcut: Shortcut) -> bool {
        self.0 & 1 << shortcut as u16 != 0
    }
}

impl Default for Shortcuts {
    fn default() -> Shortcuts {
        Shortcuts::ALL
    }
}
