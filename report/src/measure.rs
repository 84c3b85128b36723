//! What can be asked of a launch by name: the report's metrics under the names of nvprof, ncu and the JSON report, a count of one access by
//! the access's text, and the launch's shape.
//!
//! Each measure also says what it looked at, so that a gate that looked at nothing does not count as passed.

use interp::{
    LaunchReport, Site,
    mask::LaneMask,
    metrics::{self, Metric, Unit, Value},
    rules::{RuleSet, bank::Cost, coalesce::GlobalCost},
    stats::{LaunchCounts, SiteCounts},
    trap::AccessOp,
};
use ir::suggest;

use crate::{
    access::{self, Access},
    expr::{Seen, Unknown},
    model::Occupancy,
    nvprof,
};
use ir::Space;
use runtime::launches::{IdenticalLaunches, add as add_launch};

/// A quantity of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The name as written.
    pub name: String,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// One of the JSON report's `metrics`.
    Total(&'static str),
    Metric(&'static Metric),
    Shape(&'static str),
    Access {
        count: &'static str,
        which: Which,
        op: Option<AccessOp>,
    },
}

/// Which accesses of the source.
#[derive(Clone, Debug, PartialEq)]
enum Which {
    /// Those with this text.
    Text(String),
    /// Those on this line of the program's own file.
    Line(u32),
}

impl Which {
    /// `line 7` is a line, anything else a text.
    fn of(text: &str) -> Which {
        let line = text.strip_prefix("line ");
        match line.and_then(|line| line.trim().parse().ok()) {
            Some(line) => Which::Line(line),
            None => Which::Text(text.to_string()),
        }
    }

    /// Whether a site is one of the accesses, and has a count of this name.
    fn means(&self, site: &Site, count: &str) -> bool {
        match self {
            Which::Text(text) => access::is_like(text, &site.text),
            Which::Line(line) => {
                let has_count = access::space_of(count).is_none_or(|space| space == site.space);
                has_count && (site.file, site.line) == (0, *line)
            }
        }
    }
}

impl PartialEq for What {
    fn eq(&self, other: &What) -> bool {
        match (self, other) {
            (What::Total(a), What::Total(b)) | (What::Shape(a), What::Shape(b)) => a == b,
            (What::Metric(a), What::Metric(b)) => a.name == b.name,
            (
                What::Access { count, which, op },
                What::Access {
                    count: c,
                    which: w,
                    op: o,
                },
            ) => (count, which, op) == (c, w, o),
            _ => false,
        }
    }
}

/// Quantities of a launch that need no access: see `shape`.
const SHAPES: &[&str] = &[
    "grid_blocks",
    "block_threads",
    "shared_bytes",
    "static_shared_bytes",
    "dynamic_shared_bytes",
    "occupancy",
];

/// The accesses of one space and operation, whose counts a launch has in one sum.
type Group = (Space, AccessOp, fn(&mut LaunchCounts) -> &mut SiteCounts);

const GROUPS: [Group; 6] = [
    (Space::Shared, AccessOp::Load, |c| &mut c.shared_load),
    (Space::Shared, AccessOp::Store, |c| &mut c.shared_store),
    (Space::Shared, AccessOp::Atomic, |c| &mut c.shared_atomic),
    (Space::Global, AccessOp::Load, |c| &mut c.global_load),
    (Space::Global, AccessOp::Store, |c| &mut c.global_store),
    (Space::Global, AccessOp::Atomic, |c| &mut c.global_atomic),
];

impl Measure {
    /// The measure of this name. With `access`, the count of this name of the access with that text, which may begin with `load`, `store`
    /// or `atomic`.
    pub fn named(name: &str, access: Option<&str>) -> Result<Measure, Unknown> {
        if let Some(text) = access {
            return Measure::of_access(name, text);
        }
        let totals = LaunchCounts::default().totals();
        let what = if let Some((total, _)) = totals.iter().find(|(total, _)| *total == name) {
            What::Total(total)
        } else if let Some(shape) = SHAPES.iter().find(|shape| **shape == name) {
            What::Shape(shape)
        } else {
            What::Metric(metrics::find(name).map_err(|_| unknown(name))?)
        };
        Ok(Measure {
            name: name.to_string(),
            what,
        })
    }

    /// A profiler's metric.
    pub fn of(metric: &'static Metric) -> Measure {
        Measure {
            name: metric.name.to_string(),
            what: What::Metric(metric),
        }
    }

    fn of_access(name: &str, text: &str) -> Result<Measure, Unknown> {
        let count = access::COUNTS.iter().find(|count| **count == name);
        let count = count.ok_or_else(|| Unknown {
            message: format!("an access has no count `{name}`"),
            help: Some(
                match suggest::nearest(name, access::COUNTS.iter().copied()) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("it has {}", access::COUNTS.join(", ")),
                },
            ),
        })?;
        if text.is_empty() {
            return Err(Unknown {
                message: "the access has no text".to_string(),
                help: Some(format!(
                    "name it as in the source: `{name}(tile[threadIdx.x])`"
                )),
            });
        }
        let ops = [AccessOp::Load, AccessOp::Store, AccessOp::Atomic];
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let op = ops
            .into_iter()
            .find(|op| op.to_string() == word && !rest.is_empty());
        Ok(Measure {
            name: format!("{name}({text})"),
            what: What::Access {
                count,
                which: Which::of(op.map_or(text, |_| rest.trim())),
                op,
            },
        })
    }

    /// The value for a launch. Efficiencies are fractions of 1, not of 100.
    pub fn value(&self, launch: &LaunchReport, rules: &RuleSet) -> Seen {
        let is_empty = || {
            let looked = self.looked(launch, rules);
            looked.is_some_and(|sites| sites.is_empty())
        };
        let modelled = |number: Option<f64>| number.map_or(Seen::NotModelled, Seen::Number);
        match &self.what {
            What::Total(name) => modelled(total(name, &launch.counts)),
            // An efficiency of nothing has no value.
            What::Metric(metric) if metric.unit != Unit::Count && is_empty() => Seen::Nothing,
            What::Metric(metric) => modelled(number_of(metric.value(&launch.counts, rules))),
            What::Shape(name) => Seen::Number(shape(name, launch, rules)),
            What::Access { count, .. } => {
                let sites = self.looked(launch, rules).unwrap_or_default();
                let all = sites.into_iter().map(Access::of);
                all.reduce(Access::plus)
                    .map_or(Seen::Nothing, |access| modelled(access.count(count)))
            }
        }
    }

    /// The value over several launches: their counts added, of their shapes the largest, of their occupancies the smallest.
    pub fn over(&self, launches: &[&IdenticalLaunches], rules: &RuleSet) -> Seen {
        let Some(first) = launches.first() else {
            return Seen::Nothing;
        };
        if let What::Shape(name) = &self.what {
            let all = launches.iter();
            let all = all.map(|kept| shape(name, &kept.report, rules));
            let found = match *name {
                "occupancy" => all.reduce(f64::min),
                _ => all.reduce(f64::max),
            };
            return found.map_or(Seen::Nothing, Seen::Number);
        }
        if launches.len() == 1 && first.times() == 1 {
            return self.value(&first.report, rules);
        }
        self.value(&sum(launches, &first.report), rules)
    }

    /// The accesses of a launch that it looks at; `None` if it is not about accesses.
    pub fn looked<'a>(&self, launch: &'a LaunchReport, rules: &RuleSet) -> Option<Vec<&'a Site>> {
        let of_groups = |value: &dyn Fn(&LaunchCounts) -> Option<f64>| {
            let groups = groups_of(value);
            let sites = launch.sites.iter();
            let seen = sites.filter(|site| groups.contains(&(site.space, site.op)));
            (!groups.is_empty()).then(|| seen.collect())
        };
        match &self.what {
            What::Total(name) => of_groups(&|counts| total(name, counts)),
            What::Metric(metric) => of_groups(&|counts| number_of(metric.value(counts, rules))),
            What::Shape(_) => None,
            What::Access { count, which, op } => {
                let is_meant =
                    |site: &&Site| which.means(site, count) && op.is_none_or(|op| op == site.op);
                Some(launch.sites.iter().filter(is_meant).collect())
            }
        }
    }

    /// Why a launch has no value for it.
    pub fn why_unknown(&self, launch: &LaunchReport, rules: &RuleSet) -> String {
        let looked = self.looked(launch, rules).unwrap_or_default();
        let other = match &self.what {
            What::Access { count, .. } => {
                let wanted = access::space_of(count);
                let is_other = |site: &&&Site| wanted.is_some_and(|space| site.space != space);
                looked.iter().find(is_other)
            }
            _ => None,
        };
        match other.map(|site| site.space) {
            Some(Space::Global) => "means nothing: global memory has sectors".to_string(),
            Some(Space::Shared) => "means nothing: shared memory has transactions".to_string(),
            Some(space) => format!("means nothing: it is in {space} memory"),
            None => format!(
                "is not modelled on {}: no rule says how much it is",
                rules.arch
            ),
        }
    }

    /// Whether it is about one access, given by its text.
    pub fn is_of_access(&self) -> bool {
        matches!(self.what, What::Access { .. })
    }
}

/// The counts of all launches together.
fn sum(launches: &[&IdenticalLaunches], first: &LaunchReport) -> LaunchReport {
    let mut sum = LaunchReport {
        counts: LaunchCounts::default(),
        sites: vec![],
        branches: vec![],
        barriers: vec![],
        findings: vec![],
        skipped: vec![],
        children: vec![],
        compiled: None,
        trace: vec![],
        ..first.clone()
    };
    for kept in launches {
        // Adds equal launches by doubling.
        let (mut times, mut part) = (kept.times(), kept.report.clone());
        while times > 0 {
            if times % 2 == 1 {
                add_launch(&mut sum, &part);
            }
            times /= 2;
            if times > 0 {
                let same = part.clone();
                add_launch(&mut part, &same);
            }
        }
    }
    sum
}

fn total(name: &str, counts: &LaunchCounts) -> Option<f64> {
    let totals = counts.totals();
    let total = totals.iter().find(|(total, _)| *total == name);
    total
        .and_then(|(_, count)| *count)
        .map(|count| count as f64)
}

fn number_of(value: Option<Value>) -> Option<f64> {
    Some(match value? {
        Value::Percent(percent) => percent / 100.0,
        value @ (Value::Count(_) | Value::Ratio(_)) => value.number(),
    })
}

fn shape(name: &str, launch: &LaunchReport, rules: &RuleSet) -> f64 {
    let product = |dims: [u32; 3]| dims.iter().map(|&n| f64::from(n)).product();
    match name {
        "grid_blocks" => product(launch.grid),
        "block_threads" => product(launch.block),
        "shared_bytes" => launch.shared.all() as f64,
        "static_shared_bytes" => launch.shared.fixed as f64,
        "dynamic_shared_bytes" => launch.shared.dynamic as f64,
        _ => {
            let held = Occupancy::of(launch, rules.arch);
            held.warps as f64 / held.most_warps.max(1) as f64
        }
    }
}

/// The accesses that a value depends on: those whose counts change it.
fn groups_of(value: &dyn Fn(&LaunchCounts) -> Option<f64>) -> Vec<(Space, AccessOp)> {
    let mut base = LaunchCounts::default();
    for (space, _, counts) in &GROUPS {
        add(counts(&mut base), *space, 3);
    }
    let before = value(&base);
    let changes = |(space, _, counts): &&Group| {
        let mut other = base.clone();
        add(counts(&mut other), *space, 17);
        value(&other) != before
    };
    let groups = GROUPS.iter().filter(changes);
    groups.map(|(space, op, _)| (*space, *op)).collect()
}

/// Adds one access that takes `transactions` transactions.
fn add(counts: &mut SiteCounts, space: Space, transactions: u32) {
    if space == Space::Shared {
        let cost = Cost {
            transactions,
            ideal: 1,
            degree: transactions,
        };
        return counts.add_shared(Some(cost), 4, LaneMask::FULL);
    }
    let cost = GlobalCost {
        requests: 1,
        transactions,
        sectors: transactions,
        ideal_sectors: 4,
        distinct_bytes: 128,
    };
    counts.add_global(Some(cost), 4, LaneMask::FULL);
}

/// All names of measures that are not about a single access.
pub fn names() -> Vec<&'static str> {
    let totals = LaunchCounts::default().totals();
    let mut names: Vec<&str> = totals.iter().map(|(name, _)| *name).collect();
    names.extend(SHAPES);
    names.extend(metrics::all_metrics().map(|metric| metric.name));
    names
}

fn unknown(name: &str) -> Unknown {
    let message = format!("there is no metric `{name}`");
    let help = if let Some(why) = nvprof::why_not(name) {
        format!("it {why}")
    } else if access::COUNTS.contains(&name) {
        format!("of which access? `{name}(tile[threadIdx.x])`")
    } else {
        match suggest::nearest(name, names()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "`dslc run --metrics list` lists them".to_string(),
        }
    };
    Unknown {
        message,
        help: Some(help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interp::rules::Arch;

    #[test]
    fn a_measure_knows_what_it_is_made_of() {
        let rules = RuleSet::for_arch(Arch::SM_90);
        let groups = |name: &str| {
            let metric = metrics::find(name).expect(name);
            let all = groups_of(&|counts| number_of(metric.value(counts, &rules)));
            let all = all.iter().map(|(space, op)| format!("{space} {op}"));
            all.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(groups("gst_efficiency"), "global store");
        assert_eq!(groups("shared_efficiency"), "shared load, shared store");
        assert_eq!(groups("shared_ld_bank_conflict"), "shared load");
        assert_eq!(groups("branch_efficiency"), "");
    }

    #[test]
    fn each_name_is_known_and_a_near_one_is_proposed() {
        for name in names() {
            assert!(Measure::named(name, None).is_ok(), "{name}");
        }
        let help = |name, access| Measure::named(name, access).expect_err(name).help;
        let said = |text: &str| Some(text.to_string());
        assert_eq!(
            help("shared_load_bank_conflict", None),
            said("did you mean `shared_load_bank_conflicts`?")
        );
        assert_eq!(
            help("transactions", None),
            said("of which access? `transactions(tile[threadIdx.x])`")
        );
        assert_eq!(
            help("transaction", Some("x")),
            said("did you mean `transactions`?")
        );
    }
}
