//! Draws one request of a warp: lanes over the banks of shared memory, with its passes side by side, or lanes over the pieces of global
//! memory that it moves.
//!
//! A picture is SVG without its own colours: the style sheet of the page or file gives them by class. Cells of one colour are one path, so
//! a picture takes only some KiB.

mod pieces;

use std::fmt::Write;

use interp::{
    Site,
    mask::LaneMask,
    report::Witness,
    rules::{
        RuleSet,
        bank::{SharedOp, passes, shared_cost},
        coalesce::SECTOR_BYTES,
    },
    trap::AccessOp,
};
use ir::Space;

use super::escape;
use pieces::{distinct_bytes, pieces, pieces_of};

/// Lanes of a warp, and banks.
const LANES: usize = 32;
/// The side of a cell in the whole request, and in a pass.
const CELL: f64 = 8.0;
const SMALL: f64 = 2.5;
/// Room for numbers left of the rows and above the columns.
const LEFT: f64 = 26.0;
const TOP: f64 = 16.0;
/// Passes in a row, and most that are drawn.
const ROW: usize = 8;
const MAX_PASSES: usize = 64;
/// Colours of passes, from the first to the last.
pub(crate) const COLORS: usize = 32;

/// The addresses that a warp requested in one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The memory.
    pub space: Space,
    /// The operation.
    pub op: AccessOp,
    /// Bytes per lane.
    pub width_bytes: u32,
    /// Active lanes.
    pub mask: LaneMask,
    /// By lane.
    pub addresses: &'a [u64; 32],
    /// Transactions or sectors beyond the ideal, as counted.
    pub waste: u32,
}

impl<'a> Request<'a> {
    /// The worst request of a site.
    pub fn of(site: &'a Site) -> Option<Request<'a>> {
        let witness: &Witness = site.witness.as_deref()?;
        Some(Request {
            space: site.space,
            op: site.op,
            width_bytes: site.width_bytes.max(1),
            mask: LaneMask(witness.mask),
            addresses: &witness.addresses,
            waste: witness.waste,
        })
    }

    /// The lanes of each pass over the banks; `None` where passes are not modelled, and for other memory.
    pub fn passes(&self, rules: &RuleSet) -> Option<Vec<LaneMask>> {
        if self.space != Space::Shared {
            return None;
        }
        let op = match self.op {
            AccessOp::Load => SharedOp::Load,
            AccessOp::Store => SharedOp::Store,
            AccessOp::Atomic => SharedOp::Atomic,
        };
        let offsets = self.addresses.map(|address| address as u32);
        let of = |op| passes(&rules.shared, op, self.width_bytes, self.mask, &offsets);
        let cost = shared_cost(&rules.shared, op, self.width_bytes, self.mask, &offsets)?;
        // A site does not record which atomic it is. A compare-and-swap takes each pass twice.
        match op == SharedOp::Atomic && cost.bank_conflicts() != self.waste {
            true => of(SharedOp::AtomicCas),
            false => of(op),
        }
    }

    /// The banks that a lane's access covers: the first, and how many.
    pub fn banks(&self, lane: usize, rules: &RuleSet) -> (usize, usize) {
        let wide = u64::from(rules.shared.bank_bytes);
        let banks = u64::from(rules.shared.banks);
        let first = self.addresses[lane] / wide % banks;
        let last = (self.addresses[lane] + u64::from(self.width_bytes) - 1) / wide % banks;
        let banks = (last + banks - first) % banks + 1;
        (first as usize, banks as usize)
    }
}

/// A drawing with its size.
pub(crate) struct Drawing {
    pub(crate) wide: f64,
    pub(crate) high: f64,
    pub(crate) body: String,
    /// A description for readers who cannot see it.
    pub(crate) label: String,
}

impl Drawing {
    /// As an element of a page.
    pub(crate) fn element(&self) -> String {
        format!(
            "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\">{3}</svg>",
            number(self.wide),
            number(self.high),
            escape(&self.label),
            self.body
        )
    }
}

/// The pictures of a request: the whole request, then its passes if it has any. Empty if nothing can be drawn.
pub(crate) fn drawings(request: &Request<'_>, rules: &RuleSet) -> Vec<Drawing> {
    if request.mask.is_empty() {
        return vec![];
    }
    match request.space {
        Space::Shared => match request.passes(rules) {
            Some(passes) => vec![
                banks(request, &passes, rules),
                small(request, &passes, rules),
            ],
            None => vec![],
        },
        Space::Global => vec![pieces(request, SECTOR_BYTES, "sector")],
        Space::Constant => vec![pieces(
            request,
            u64::from(request.width_bytes.max(4)),
            "word",
        )],
        _ => vec![],
    }
}

/// A picture's sentence: `32 passes, 1 would do`.
pub(crate) fn sentence(request: &Request<'_>, rules: &RuleSet) -> String {
    let lanes = request.mask.count();
    let lanes = format!("{lanes} lane{}", if lanes == 1 { "" } else { "s" });
    let what = format!(
        "{lanes} {} {} byte{} each",
        match request.op {
            AccessOp::Load => "load",
            AccessOp::Store => "store",
            AccessOp::Atomic => "update",
        },
        request.width_bytes,
        if request.width_bytes == 1 { "" } else { "s" }
    );
    let count = |count: usize, one: &str, more: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {more}"),
    };
    match request.space {
        Space::Shared => match request.passes(rules) {
            Some(passes) => format!(
                "{what}: {} over the banks",
                count(passes.len(), "pass", "passes")
            ),
            None => format!("{what}: passes are not modelled on {}", rules.title()),
        },
        Space::Global => {
            let (sectors, asked) = (pieces_of(request, SECTOR_BYTES), distinct_bytes(request));
            format!(
                "{what}: {} touched, {asked} of {} bytes asked for",
                count(sectors.len(), "sector", "sectors"),
                sectors.len() as u64 * SECTOR_BYTES
            )
        }
        Space::Constant => {
            let words = pieces_of(request, u64::from(request.width_bytes.max(4)));
            format!(
                "{what}: {}, one after another",
                count(words.len(), "word", "words")
            )
        }
        _ => what,
    }
}

/// The colour of a pass: its place between the first and the last.
pub(crate) fn color(pass: usize, passes: usize) -> usize {
    match passes {
        0 | 1 => 0,
        _ => pass.min(passes - 1) * (COLORS - 1) / (passes - 1),
    }
}

/// All lanes over all banks, coloured by pass.
fn banks(request: &Request<'_>, passes: &[LaneMask], rules: &RuleSet) -> Drawing {
    let n_banks = rules.shared.banks;
    let (side, side_banks) = (LANES as f64 * CELL, f64::from(n_banks) * CELL);
    let mut body = String::new();
    let last = n_banks - 1;
    // With few banks only the first label fits.
    let named = (0..last).step_by(8).chain((n_banks > 8).then_some(last));
    for bank in named {
        let (x, anchor, name) = match bank {
            0 => (LEFT, "start", "bank 0".to_string()),
            bank if bank == last => (LEFT + side_banks, "end", bank.to_string()),
            _ => (
                LEFT + (f64::from(bank) + 0.5) * CELL,
                "middle",
                bank.to_string(),
            ),
        };
        let _ = write!(
            body,
            "<text x=\"{}\" y=\"11\" text-anchor=\"{anchor}\">{name}</text>",
            number(x)
        );
    }
    body += &lane_names();
    let _ = write!(
        body,
        "<rect class=\"g\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{side_banks}\" height=\"{side}\" />"
    );
    body += &grid((LEFT, TOP, CELL), n_banks);
    for (at, &lanes) in passes.iter().enumerate() {
        let path = cells(request, lanes, rules, (LEFT, TOP, CELL));
        if !path.is_empty() {
            let _ = write!(
                body,
                "<path class=\"p{}\" d=\"{path}\" />",
                color(at, passes.len())
            );
        }
    }
    body += &lane_titles(request, side_banks, &|lane| {
        let (first, count) = request.banks(lane, rules);
        let bank = match count {
            1 => format!("bank {first}"),
            _ => format!(
                "banks {first} to {}",
                (first + count - 1) % n_banks as usize
            ),
        };
        let served = passes.iter().position(|lanes| lanes.contains(lane));
        let pass = served.map_or(0, |pass| pass + 1);
        format!("byte {}, {bank}, pass {pass}", request.addresses[lane])
    });
    Drawing {
        wide: LEFT + side_banks + 1.0,
        high: TOP + side + 1.0,
        body,
        label: format!("Lanes over banks. {}", sentence(request, rules)),
    }
}

/// Labels of some lanes, left of their rows.
fn lane_names() -> String {
    let name = |lane: u32| {
        let y = TOP + (f64::from(lane) + 0.5) * CELL + 3.5;
        format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{lane}</text>",
            number(LEFT - 5.0),
            number(y)
        )
    };
    [0, 8, 16, 24, 31].map(name).concat()
}

/// The tooltip of a lane's row.
fn lane_titles(request: &Request<'_>, wide: f64, title: &dyn Fn(usize) -> String) -> String {
    let row = |lane: usize| {
        format!(
            "<rect x=\"{LEFT}\" y=\"{}\" width=\"{}\" height=\"{CELL}\"><title>lane {lane}: {}</title></rect>",
            number(TOP + lane as f64 * CELL),
            number(wide),
            title(lane)
        )
    };
    let rows: String = request.mask.lanes().map(row).collect();
    format!("<g class=\"r\">{rows}</g>")
}

/// A grid line every eight cells.
fn grid((x, y, cell): (f64, f64, f64), banks: u32) -> String {
    let (high, wide) = (LANES as f64 * cell, f64::from(banks) * cell);
    let mut path = String::new();
    let every_eight = |last: u32| (8..last).step_by(8).map(move |at| f64::from(at) * cell);
    let (mut down, mut across) = (every_eight(LANES as u32), every_eight(banks));
    loop {
        let next = (down.next(), across.next());
        if let Some(at) = next.0 {
            let _ = write!(path, "M{} {}h{}", number(x), number(y + at), number(wide));
        }
        if let Some(at) = next.1 {
            let _ = write!(path, "M{} {}v{}", number(x + at), number(y), number(high));
        }
        if next == (None, None) {
            break;
        }
    }
    format!("<path class=\"l\" d=\"{path}\" />")
}

/// The cells of some lanes, as a path.
fn cells(
    request: &Request<'_>,
    lanes: LaneMask,
    rules: &RuleSet,
    (x, y, cell): (f64, f64, f64),
) -> String {
    // A few small cells are drawn larger, so that they are visible.
    let gap = match (cell >= CELL, lanes.count()) {
        (true, _) => 1.0,
        (false, ..=4) => -1.5,
        (false, _) => 0.0,
    };
    let mut path = String::new();
    for lane in lanes.lanes() {
        let (first, count) = request.banks(lane, rules);
        let y = y + lane as f64 * cell + gap / 2.0;
        // An access past the last bank continues at the first.
        let head = count.min(rules.shared.banks as usize - first);
        for (first, count) in [(first, head), (0, count - head)] {
            if count > 0 {
                let (wide, high) = (count as f64 * cell - gap, cell - gap);
                let x = x + first as f64 * cell + gap / 2.0;
                let _ = write!(
                    path,
                    "M{0} {1}h{2}v{3}h-{2}z",
                    number(x),
                    number(y),
                    number(wide),
                    number(high),
                );
            }
        }
    }
    path
}

/// The passes one by one.
fn small(request: &Request<'_>, passes: &[LaneMask], rules: &RuleSet) -> Drawing {
    let side = LANES as f64 * SMALL;
    let side_banks = f64::from(rules.shared.banks) * SMALL;
    // A label has to fit above each.
    let (step_x, step_y) = (side_banks.max(40.0) + 10.0, side + 20.0);
    let shown = passes.len().min(MAX_PASSES);
    let mut body = String::new();
    for (at, &lanes) in passes.iter().take(shown).enumerate() {
        let (x, y) = (
            (at % ROW) as f64 * step_x + 1.0,
            (at / ROW) as f64 * step_y + TOP,
        );
        let name = if at == 0 {
            "pass 1".to_string()
        } else {
            (at + 1).to_string()
        };
        let _ = write!(
            body,
            "<text x=\"{}\" y=\"{}\">{name}</text><rect class=\"g\" x=\"{0}\" y=\"{}\" width=\"{side_banks}\" height=\"{side}\" />",
            number(x),
            number(y - 5.0),
            number(y)
        );
        let path = cells(request, lanes, rules, (x, y, SMALL));
        if !path.is_empty() {
            let _ = write!(
                body,
                "<path class=\"p{}\" d=\"{path}\" />",
                color(at, passes.len())
            );
        }
    }
    let rows = shown.div_ceil(ROW).max(1);
    let mut high = (rows - 1) as f64 * step_y + TOP + side + 1.0;
    if passes.len() > shown {
        let more = passes.len() - shown;
        high += 18.0;
        let _ = write!(
            body,
            "<text x=\"1\" y=\"{}\">and {more} passes more</text>",
            number(high - 4.0)
        );
    }
    Drawing {
        wide: shown.clamp(1, ROW) as f64 * step_x - 8.0,
        high,
        body,
        label: format!("The passes one by one: {}", passes.len()),
    }
}

/// A coordinate without trailing zeros.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A picture as a separate file: requests below one another, each with a title.
pub fn svg(titled: &[(String, Request<'_>)], rules: &RuleSet) -> String {
    let (mut wide, mut high) = (0.0f64, 0.0);
    let mut body = String::new();
    for (title, request) in titled {
        let _ = write!(
            body,
            "<text class=\"t\" x=\"12\" y=\"{}\">{}</text><text class=\"s\" x=\"12\" y=\"{}\">{}</text>",
            number(high + 24.0),
            escape(title),
            number(high + 42.0),
            escape(&sentence(request, rules))
        );
        high += 52.0;
        let (mut x, mut tallest) = (12.0, 0.0f64);
        for drawing in drawings(request, rules) {
            let _ = write!(
                body,
                "<g transform=\"translate({} {})\">{}</g>",
                number(x),
                number(high),
                drawing.body
            );
            x += drawing.wide + 24.0;
            tallest = tallest.max(drawing.high);
        }
        wide = wide.max(x - 12.0).max(420.0);
        high += tallest + 12.0;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n<style>{2}</style>\n\
         <rect class=\"bg\" width=\"{0}\" height=\"{1}\" rx=\"8\" />\n{3}</svg>\n",
        number(wide + 12.0),
        number(high + 4.0),
        file_style(),
        body.replace("/><", "/>\n<").replace("</g><", "</g>\n<")
    )
}

/// The colours of a separate file, which adapts to light and dark itself.
fn file_style() -> String {
    let mut style = String::from(
        "text{font:11px system-ui,sans-serif;fill:#667085}.t{font:600 15px ui-monospace,monospace;fill:#1c2024}.s{font-size:13px}\
         .bg{fill:#fff}.g{fill:#f2f4f7;stroke:#e4e7ec}.l{stroke:#e4e7ec;fill:none}.k{fill:#f2f4f7}.w{fill:#fbc98a}.r rect{fill:transparent}",
    );
    style += &pass_colors("52%");
    style += "@media(prefers-color-scheme:dark){text{fill:#98a2b3}.t{fill:#e6e8eb}.bg{fill:#14161a}.g{fill:#1f232a;stroke:#2c313a}.l{stroke:#2c313a}.k{fill:#1f232a}.w{fill:#7a5522}}";
    style
}

/// From blue, for the first pass, which is always needed, to amber.
pub(crate) fn pass_colors(lightness: &str) -> String {
    let mut style = String::new();
    for at in 0..COLORS {
        let hue = (216 + 190 * at / (COLORS - 1)) % 360;
        let _ = write!(style, ".p{at}{{fill:hsl({hue} 68% {lightness})}}");
    }
    style
}
