//! The accesses of a launch by their source text, and what each of them cost.
//!
//! A text names an access better than a line number, which moves with every edit. White space in the text does not matter. Several accesses
//! may have the same text: their counts are added up. A line number suits comments, which are on that line.

use interp::{LaunchReport, Site, stats::SiteCounts, trap::AccessOp};
use ir::Space;

/// What one access in the source cost in a launch.
///
/// A count is `None` where it has no meaning for the access (transactions of global memory, sectors of shared memory) and where the
/// architecture's rules do not model it.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    text: String,
    line: u32,
    column: u32,
    space: Space,
    op: AccessOp,
    counts: SiteCounts,
}

/// The names that [`Access::count`] accepts, in the order of the JSON report.
pub const COUNTS: &[&str] = &[
    "requests",
    "transactions",
    "ideal",
    "bank_conflicts",
    "max_degree",
    "sectors",
    "ideal_sectors",
    "bytes",
    "transactions_per_request",
    "sectors_per_request",
];

/// Every access that a launch executed, in source order.
pub fn all(launch: &LaunchReport) -> impl Iterator<Item = Access> + '_ {
    launch.sites.iter().map(Access::of)
}

/// The space whose accesses have this count; `None` if all accesses have it.
pub fn space_of(count: &str) -> Option<Space> {
    match count {
        "sectors" | "ideal_sectors" | "sectors_per_request" => Some(Space::Global),
        "requests" | "bytes" => None,
        _ => Some(Space::Shared),
    }
}

/// The accesses with this source text, their counts added; `None` if no access has it.
pub fn find(launch: &LaunchReport, text: &str, op: Option<AccessOp>) -> Option<Access> {
    let wanted = letters(text);
    all(launch)
        .filter(|access| letters(&access.text) == wanted)
        .filter(|access| op.is_none_or(|op| access.op == op))
        .reduce(Access::plus)
}

/// Whether two texts are the same apart from white space.
pub fn is_like(a: &str, b: &str) -> bool {
    letters(a) == letters(b)
}

/// The text without its white space.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

impl Access {
    /// The access of one site.
    pub fn of(site: &Site) -> Access {
        Access {
            text: site.text.clone(),
            line: site.line,
            column: site.column,
            space: site.space,
            op: site.op,
            counts: site.counts.clone(),
        }
    }

    /// The sum of two accesses' counts; the place is the first one's.
    #[must_use]
    pub fn plus(mut self, other: Access) -> Access {
        self.counts.merge(&other.counts);
        self
    }

    /// The source text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The source line, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The column, from 1.
    pub fn column(&self) -> u32 {
        self.column
    }

    /// `shared`, `global`, `local` or `constant`.
    pub fn space(&self) -> String {
        self.space.to_string()
    }

    /// `load`, `store` or `atomic`.
    pub fn op(&self) -> String {
        self.op.to_string()
    }

    /// Memory instructions that were executed with at least one active lane.
    pub fn requests(&self) -> u64 {
        self.counts.requests
    }

    /// Passes over the banks of shared memory (nvprof's transactions, ncu's wavefronts).
    pub fn transactions(&self) -> Option<u64> {
        self.shared(self.counts.transactions)
    }

    /// The transactions that the same requests would take without conflicts.
    pub fn ideal(&self) -> Option<u64> {
        self.shared(self.counts.ideal)
    }

    /// Transactions beyond the ideal.
    pub fn bank_conflicts(&self) -> Option<u64> {
        self.shared(self.counts.bank_conflicts())
    }

    /// Transactions for each request, on average: 1.0 without conflicts, 32.0 at worst.
    pub fn transactions_per_request(&self) -> Option<f64> {
        let transactions = self.transactions()? as f64;
        Some(transactions / self.counts.requests.max(1) as f64)
    }

    /// The most ways of any conflict in one request: 1 without conflicts.
    pub fn max_degree(&self) -> Option<u32> {
        self.shared(u64::from(self.counts.max_degree))
            .map(|degree| degree as u32)
    }

    /// Sectors of 32 bytes of global memory.
    pub fn sectors(&self) -> Option<u64> {
        self.global(self.counts.sectors)
    }

    /// Sectors that the requested bytes would fill.
    pub fn ideal_sectors(&self) -> Option<u64> {
        self.global(self.counts.ideal_sectors)
    }

    /// Sectors for each request, on average.
    pub fn sectors_per_request(&self) -> Option<f64> {
        let sectors = self.sectors()? as f64;
        Some(sectors / self.counts.requests.max(1) as f64)
    }

    /// Bytes that the lanes requested.
    pub fn bytes(&self) -> u64 {
        self.counts.bytes
    }

    /// A count by its name in [`COUNTS`]; `None` as in the functions above, and for an unknown name.
    pub fn count(&self, name: &str) -> Option<f64> {
        let count = match name {
            "requests" => Some(self.requests()),
            "transactions" => self.transactions(),
            "ideal" => self.ideal(),
            "bank_conflicts" => self.bank_conflicts(),
            "max_degree" => self.max_degree().map(u64::from),
            "sectors" => self.sectors(),
            "ideal_sectors" => self.ideal_sectors(),
            "bytes" => Some(self.bytes()),
            "transactions_per_request" => return self.transactions_per_request(),
            "sectors_per_request" => return self.sectors_per_request(),
            _ => None,
        };
        count.map(|count| count as f64)
    }

    fn shared(&self, count: u64) -> Option<u64> {
        (self.space == Space::Shared && !self.counts.not_modelled()).then_some(count)
    }

    fn global(&self, count: u64) -> Option<u64> {
        (self.space == Space::Global && !self.counts.not_modelled()).then_some(count)
    }
}
