//! Advice on shared memory: which lanes conflict in a bank, and which other layout of the array would avoid it.
//!
//! A worked case: lanes 0 to 31 load `S[lane][0]` of `float S[32][32]`, at byte offsets 0, 128, 256 …: one column, one bank. With rows of
//! 33 elements the offsets are 0, 132, 264 …: each in another bank.

mod layout;

use interp::{
    LaunchReport, Site,
    mask::LaneMask,
    report::Witness,
    rules::{
        Arch,
        bank::{Cost, SharedOp, shared_cost},
    },
    trap::AccessOp,
};
use ir::{Module, SharedVar, Space};

use super::{
    Advice, CLAIMS, TICKETS, Thought, WORD_BY_WORD,
    code::{Code, Joined, Purpose},
    distinct, halving, lanes, verb,
    written::Written,
};
use crate::Input;
use layout::Layout;

/// One request to an array, in element indices.
struct Request<'a> {
    site: &'a Site,
    var: &'a SharedVar,
    mask: LaneMask,
    offsets: [u32; 32],
    /// The cost of offsets by the machine's rule.
    cost: &'a dyn Fn(&[u32; 32]) -> Option<Cost>,
}

impl Request<'_> {
    fn element(&self) -> u64 {
        match self.var.element_bytes {
            // Bytes that are accessed as something wider: PTX knows no other arrays.
            0 | 1 => u64::from(self.site.width_bytes.max(1)),
            bytes => bytes,
        }
    }

    /// The element that a lane's access begins in.
    fn index(&self, lane: usize) -> u64 {
        (u64::from(self.offsets[lane]) - self.var.offset_bytes) / self.element()
    }

    /// The cost if `to` maps each index to another one.
    fn moved(&self, to: impl Fn(u64) -> u64) -> Option<Cost> {
        let mut offsets = [0; 32];
        for lane in self.mask.lanes() {
            let within = (u64::from(self.offsets[lane]) - self.var.offset_bytes) % self.element();
            let offset = self.var.offset_bytes + to(self.index(lane)) * self.element() + within;
            offsets[lane] = offset as u32;
        }
        (self.cost)(&offsets)
    }

    /// The distance in elements between neighbouring lanes, upwards or downwards, if it is the same for all pairs and not 0.
    fn stride(&self) -> Option<u64> {
        let lanes: Vec<usize> = self.mask.lanes().collect();
        let [first, second, ..] = lanes[..] else {
            return None;
        };
        let from_first = |lane: usize| self.index(lane) as i64 - self.index(first) as i64;
        let stride = from_first(second) / (second - first) as i64;
        let mut all = lanes.iter();
        let fits = all.all(|&lane| from_first(lane) == (lane - first) as i64 * stride);
        (stride != 0 && fits).then_some(stride.unsigned_abs())
    }
}

/// A site in its launch, and the kernel's code.
struct Run<'a> {
    site: &'a Site,
    launch: &'a LaunchReport,
    input: &'a Input<'a>,
    code: &'a Code<'a>,
}

impl<'a> Run<'a> {
    fn layout(&self, var: &'a SharedVar) -> Layout<'a> {
        Layout::of(var, self.launch, self.input)
    }
}

pub(super) fn advice(
    site: &Site,
    witness: &Witness,
    launch: &LaunchReport,
    input: &Input<'_>,
) -> Option<Advice> {
    let mask = LaneMask(witness.mask);
    let offsets: [u32; 32] = witness.addresses.map(|address| address as u32);
    let op = shared_op(site.op);
    let cost =
        |offsets: &[u32; 32]| shared_cost(&input.rules.shared, op, site.width_bytes, mask, offsets);
    let now = cost(&offsets)?;
    if now.transactions <= now.ideal {
        return None;
    }
    let code = Code::of(input.module.function(launch.kernel));
    let run = Run {
        site,
        launch,
        input,
        code: &code,
    };
    let lanes_meet = mask.count() as usize - distinct(mask, |lane| offsets[lane]);
    if site.op == AccessOp::Atomic && lanes_meet > 0 {
        return Some(atomic(mask, &offsets, now, &run));
    }
    let head = format!(
        "{}-way bank conflict: {} {}",
        now.degree,
        lanes(mask),
        verb(site.op)
    );
    let var = var_of(witness, launch, input.module)?;
    let request = Request {
        site,
        var,
        mask,
        offsets,
        cost: &cost,
    };
    debug_assert_eq!(site.space, Space::Shared);
    Some(match var.dims[..] {
        _ if is_struct(&request, &code) => structs(&head, &request, &run),
        [.., _, columns] => matrix(&head, &request, columns.max(1), &run),
        _ => vector(&head, &request, &run),
    })
}

fn conflicts(site: &Site) -> bool {
    site.space == Space::Shared && site.counts.transactions > site.counts.ideal
}

/// Advice where lanes that update one address wait for one another.
fn atomic(mask: LaneMask, offsets: &[u32; 32], now: Cost, run: &Run<'_>) -> Advice {
    let addresses = distinct(mask, |lane| offsets[lane]);
    let fact = format!(
        "{} lanes of a warp update {addresses} address{}: {} passes, one after another",
        mask.count(),
        if addresses == 1 { "" } else { "es" },
        now.transactions
    );
    let thought: Thought = match run.code.purpose(run.site).unwrap_or(Purpose::Joins) {
        Purpose::Takes => {
            "let fewer lanes want one place at a time: one lane of each warp does it for the others"
                .into()
        }
        Purpose::Claims => CLAIMS.into(),
        Purpose::Tickets => TICKETS.into(),
        Purpose::Joins if addresses == 1 => {
            "reduce first: within the warp (`__shfl_down_sync`), then one lane updates".into()
        }
        Purpose::Joins => equal_keys(run),
    };
    Advice::new(fact, thought)
}

/// A copy for each warp would not help: the lanes that wait for one another are in the same warp.
fn equal_keys(run: &Run<'_>) -> Thought {
    let witness = run.site.witness.as_deref();
    let var = witness.and_then(|witness| var_of(witness, run.launch, run.input.module));
    let has_room = var.is_some_and(|var| run.layout(var).has_room_for_copies());
    let has_match = run.input.rules.arch >= Arch::SM_70;
    let copies = "give each lane of a warp a copy of the array, `copies[key][lane]`, and add the copies at the end";
    let joined = "add up equal keys within the warp first (`__match_any_sync`)";
    match (has_room, has_match) {
        (true, true) => Thought::with_other(copies, format!(", or {joined}")),
        (true, false) => copies.into(),
        (false, true) => joined.into(),
        (false, false) => {
            "let the lanes of a warp take elements with different keys: sort them, or read them in another order".into()
        }
    }
}

/// Whether the access takes a part of an element: a member of a struct, or a whole struct member by member.
fn is_struct(request: &Request<'_>, code: &Code<'_>) -> bool {
    request.element() > u64::from(request.site.width_bytes)
        && (Written::of(&request.site.text).is_member || code.parts(request.site) > 1)
}

fn structs(head: &str, request: &Request<'_>, run: &Run<'_>) -> Advice {
    let var = request.var;
    let of = format!(
        "{}, an array of structs of {} bytes",
        var.name, var.element_bytes
    );
    let other = match run.layout(var).grows_by_a_word() {
        true => ", or give the struct one word more",
        false => "",
    };
    let apart = "keep each member in a separate array (struct of arrays)";
    if !Written::of(&run.site.text).is_member {
        let fact = format!("{head} whole elements of {of}, member by member");
        let copied = run.launch.sites.iter().any(|from| {
            let place = |site: &Site| (site.file, site.line);
            let reads = from.op == AccessOp::Load && from.space == Space::Global;
            reads && place(from) == place(run.site) && run.code.parts(from) > 1
        });
        let thought = match copied && run.site.op == AccessOp::Store {
            true => Thought::with_other(&format!("let the block copy them {WORD_BY_WORD}"), other),
            false => Thought::with_other(apart, other),
        };
        return Advice::new(fact, thought);
    }
    Advice::new(
        format!("{head} a member of {of}"),
        Thought::with_other(apart, other),
    )
}

/// `[32][33]`, where the outermost dimension may be open.
fn dims(var: &SharedVar, last: u64) -> String {
    let outer = var.dims[..var.dims.len() - 1].iter();
    let all = outer.chain([&last]).map(|n| match n {
        0 => "[]".to_string(),
        n => format!("[{n}]"),
    });
    all.collect()
}

/// Advice on a conflict in a declared array of two or more dimensions: its rows may be padded.
fn matrix(head: &str, request: &Request<'_>, columns: u64, run: &Run<'_>) -> Advice {
    let (var, mask) = (request.var, request.mask);
    let column = |lane: usize| request.index(lane) % columns;
    let first = mask.lowest().unwrap_or(0);
    let whole = format!("{}{}", var.name, dims(var, columns));
    let rows = distinct(mask, |lane| request.index(lane) / columns);
    if rows == 1 {
        let row = request.index(first) / columns;
        return Advice::new(
            format!("{head} row {row} of {whole}, several of them different words of one bank"),
            within_a_row(request, columns),
        );
    }
    let what = match mask.lanes().all(|lane| column(lane) == column(first)) {
        true => format!("column {} of {whole}", column(first)),
        false => format!("{rows} rows of {whole}"),
    };
    Advice {
        fact: format!("{head} {what}"),
        thought: other_layout(request, columns, run).map(Thought::from),
    }
}

/// Other arrays with rows whose accesses on the same line conflict.
fn like<'a>(request: &Request<'_>, run: &Run<'a>) -> Vec<&'a SharedVar> {
    let mut all: Vec<&SharedVar> = vec![];
    let sites =
        run.launch.sites.iter().filter(|site| {
            conflicts(site) && (site.file, site.line) == (run.site.file, run.site.line)
        });
    for site in sites {
        let witness = site.witness.as_deref();
        let var = witness.and_then(|witness| var_of(witness, run.launch, run.input.module));
        let Some(var) = var.filter(|var| !var.dynamic && var.dims.len() > 1) else {
            continue;
        };
        if var.name != request.var.name && !all.iter().any(|known| known.name == var.name) {
            all.push(var);
        }
    }
    all
}

/// Other layouts, or other ways to access the array, that cost less in total.
fn other_layout(request: &Request<'_>, columns: u64, run: &Run<'_>) -> Option<String> {
    let var = request.var;
    let layout = run.layout(var);
    if let Some(pad) = layout.pads(columns).first() {
        let like = like(request, run).into_iter().filter_map(|var| {
            let columns = *var.dims.last()?;
            let pads = run.layout(var).pads(columns.max(1));
            Some(format!(
                " and `{}{}`",
                var.name,
                dims(var, columns + pads.first()?)
            ))
        });
        let wider = format!(
            "make the rows wider: `{}{}`{}",
            var.name,
            dims(var, columns + pad),
            like.collect::<String>()
        );
        let bytes = run.launch.shared.dynamic / columns * (columns + pad);
        return Some(match var.dynamic {
            true => format!("{wider}, and give the launch {bytes} bytes for it"),
            false => wider,
        });
    }
    if let [.., rows, _] = var.dims[..]
        && rows > 0
        && layout.swizzles((rows, columns))
    {
        let same = like(request, run).into_iter();
        let same = same.filter(|other| other.dims.last() == Some(&columns));
        let names: Vec<String> = std::iter::once(var)
            .chain(same)
            .map(|var| format!("`{}`", var.name))
            .collect();
        let row = match rows <= columns {
            true => "r".to_string(),
            false => format!("(r % {columns})"),
        };
        return Some(format!(
            "store the columns of each row in another order: the column `c` of row `r` at `c ^ {row}`, wherever {} accessed",
            match names.len() {
                1 => format!("{} is", names[0]),
                _ => format!("{} are", names.join(" and ")),
            }
        ));
    }
    let wide = layout.serves_wide(request)?;
    Some(format!(
        "take {} neighbouring columns at once, in an access of {wide} bytes",
        wide / request.element()
    ))
}

/// What the lanes that conflict in one row may access instead.
fn within_a_row(request: &Request<'_>, columns: u64) -> String {
    let all = "let neighbouring threads take neighbouring columns";
    let mut taken: Vec<u64> = request
        .mask
        .lanes()
        .map(|lane| request.index(lane) % columns)
        .collect();
    taken.sort_unstable();
    taken.dedup();
    let steps: Vec<u64> = taken.windows(2).map(|pair| pair[1] - pair[0]).collect();
    match steps[..] {
        [step, ..]
            if step > 1 && columns.is_multiple_of(step) && steps.iter().all(|&one| one == step) =>
        {
            format!(
                "{all}: `t + i * {}` in place of `t * {step} + i`",
                columns / step
            )
        }
        _ => all.to_string(),
    }
}

/// The shared array that a request accesses.
pub(super) fn var_of<'m>(
    witness: &Witness,
    launch: &LaunchReport,
    module: &'m Module,
) -> Option<&'m SharedVar> {
    let lanes = LaneMask(witness.mask).lanes();
    let first = lanes.map(|lane| witness.addresses[lane]).min()?;
    let inside = |var: &&SharedVar| {
        let bytes = if var.dynamic {
            launch.shared.dynamic
        } else {
            var.size_bytes
        };
        (var.offset_bytes..var.offset_bytes + bytes).contains(&first)
    };
    module.function(launch.kernel).shared.iter().find(inside)
}

/// The numbers of elements by which rows may be widened so that all accesses to the array together cost less than now, the cheapest first.
/// Each access counts with its worst request.
pub(super) fn pads(
    var: &SharedVar,
    columns: u64,
    launch: &LaunchReport,
    input: &Input<'_>,
) -> Vec<u64> {
    Layout::of(var, launch, input).pads(columns)
}

fn shared_op(op: AccessOp) -> SharedOp {
    match op {
        AccessOp::Load => SharedOp::Load,
        AccessOp::Store => SharedOp::Store,
        AccessOp::Atomic => SharedOp::Atomic,
    }
}

/// The array's name in the source at an access: pointers into dynamic shared memory have other names.
fn name_of<'a>(request: &Request<'a>) -> &'a str {
    let text = &request.site.text;
    let base = text.split('[').next().unwrap_or_default().trim();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    match request.var.dynamic && text.contains('[') && !base.is_empty() && base.chars().all(is_name)
    {
        true => base,
        false => &request.var.name,
    }
}

/// Advice on a conflict in a one-dimensional (or dynamic) array: a stride, or an irregular pattern.
fn vector(head: &str, request: &Request<'_>, run: &Run<'_>) -> Advice {
    let name = name_of(request);
    let spread = run.layout(request.var).spreads();
    let unit = layout::spread_unit(request.element());
    let Some(stride) = request.stride() else {
        if let Some((rows, wider)) = row_pitch(request) {
            let end = match request.var.dynamic {
                true => ", and give the launch the bytes for it",
                false => "",
            };
            return Advice::new(
                format!("{head} {name}, in rows that are {rows} bytes apart and begin in one bank"),
                format!(
                    "let the rows of `{name}` be {wider} bytes apart wherever it is accessed{end}"
                ),
            );
        }
        let other = match spread {
            Some(_) => format!(", or spread the array: an unused element behind every {unit}"),
            None => String::new(),
        };
        return Advice::new(
            format!("{head} {name}, several of them different words of one bank"),
            Thought::with_other(
                "let the lanes of a warp take elements that lie side by side",
                other,
            ),
        );
    };
    let fact = format!("{head} {name} with a stride of {stride} elements");
    if let Some(joined) = is_tree(run) {
        return Advice::new(
            fact,
            format!(
                "the stride grows from round to round: begin with the largest distance and halve it, so that neighbouring threads take \
                 neighbouring elements: {}",
                halving(name, joined)
            ),
        );
    }
    let other = match spread {
        Some(Some(elements)) => format!(
            "; or leave an element unused behind every {unit}: `{name}[{elements}]`, and the index `i + i / {unit}` wherever it is accessed"
        ),
        Some(None) => format!(
            "; or leave an element unused behind every {unit}: the index `i + i / {unit}` wherever `{name}` is accessed, and room for \
             `n + n / {unit}` elements"
        ),
        None => String::new(),
    };
    Advice::new(
        fact,
        Thought::with_other("let neighbouring threads take neighbouring elements", other),
    )
}

/// For lanes that access neighbouring words of several rows which all start in the same bank: the distance of the rows in bytes, and the
/// distance at which they would start in different banks.
fn row_pitch(request: &Request<'_>) -> Option<(u64, u64)> {
    let mut offsets: Vec<u64> = request
        .mask
        .lanes()
        .map(|lane| request.offsets[lane].into())
        .collect();
    offsets.sort_unstable();
    offsets.dedup();
    let width = u64::from(request.site.width_bytes);
    let mut begins = vec![*offsets.first()?];
    begins.extend(
        offsets
            .windows(2)
            .filter(|pair| pair[1] - pair[0] != width)
            .map(|pair| pair[1]),
    );
    let pitch = begins.get(1)? - begins[0];
    let taken = width * (offsets.len() / begins.len()) as u64;
    let is_even = begins.windows(2).all(|pair| pair[1] - pair[0] == pitch);
    if !is_even || begins.len() < 2 || taken <= width || !pitch.is_multiple_of(128) {
        return None;
    }
    // Rows of the widest accesses stay aligned.
    let wider = pitch + taken.next_multiple_of(16);
    let moved = request.offsets.map(|offset| {
        let from = u64::from(offset).wrapping_sub(begins[0]);
        (begins[0] + from / pitch * wider + from % pitch) as u32
    });
    let (now, then) = ((request.cost)(&request.offsets)?, (request.cost)(&moved)?);
    (then.transactions < now.transactions).then_some((pitch, wider))
}

/// Whether the line is a step of a reduction whose stride grows from round to round. A scan does the same on several lines, down a tree and
/// up again; it needs its order.
fn is_tree(run: &Run<'_>) -> Option<Joined> {
    let histogram = run.site.counts.degree_histogram.iter().enumerate();
    let ways = histogram.filter(|&(degree, &count)| degree > 1 && count > 0);
    let sites = run.launch.sites.iter().filter(|site| conflicts(site));
    let mut lines: Vec<u32> = sites.map(|site| site.line).collect();
    lines.dedup();
    if ways.count() < 2 || lines.len() > 1 {
        return None;
    }
    run.code.joins_elements(run.site, run.input.module)
}
